//! Accounts that do not fit, or take too long, give way to bounds that cost nothing.

use ndp_algos::accountant::{Account, Attacker, Observer};
use ndp_algos::{Error, Protocol};
use ndp_dp::NoiseMultiplier;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// A protocol whose accounts are not waited for beyond a time, all observers together.
pub(crate) struct Patient {
    /// Kept for ever: an account that nobody waits for any more still uses it. Every question ends with the program.
    protocol: &'static dyn Protocol,
    until: Option<Instant>,
    seconds: u64,
    given_up: Mutex<Vec<String>>,
}

impl Patient {
    /// Waits for so many seconds; 0 asks for the bounds at once, `None` waits for ever.
    pub(crate) fn new(protocol: Box<dyn Protocol>, seconds: Option<u64>) -> Self {
        let until = seconds.and_then(|seconds| Instant::now().checked_add(Duration::from_secs(seconds)));
        Self {
            protocol: Box::leak(protocol),
            until,
            seconds: seconds.unwrap_or(u64::MAX),
            given_up: Mutex::new(Vec::new()),
        }
    }

    /// For how many observers a bound stands in, and why: of each reason once.
    pub(crate) fn notes(&self) -> Vec<String> {
        let given_up = self.given_up.lock().unwrap_or_else(PoisonError::into_inner);
        let mut reasons: Vec<&String> = given_up.iter().collect();
        reasons.sort_unstable();
        reasons
            .chunk_by(|a, b| a == b)
            .map(|same| {
                format!(
                    "for {} observers the bound of whoever hears the noisy values themselves is given: {}",
                    same.len(),
                    same[0]
                )
            })
            .collect()
    }

    /// The bound, and a note why; the error where there is none.
    fn bound(&self, observer: &Observer, why: Error) -> Result<Box<dyn Account>, Error> {
        let bound = self.protocol.local_bound(observer);
        match bound {
            Ok(bound) => {
                let mut given_up = self.given_up.lock().unwrap_or_else(PoisonError::into_inner);
                given_up.push(if matches!(why, Error::Cancelled) { self.waited() } else { why.to_string() });
                Ok(bound)
            }
            Err(_) if matches!(why, Error::Cancelled) => Err(Error::NotOffered(OUT_OF_PATIENCE)),
            Err(_) => Err(why),
        }
    }

    fn waited(&self) -> String {
        match self.seconds {
            0 => "--patience 0 asks for it".into(),
            seconds => format!("what is seen was not known within {seconds} s"),
        }
    }
}

const OUT_OF_PATIENCE: &str = "what observers see was not known in time, and there is no bound that costs nothing: more --patience, \
     fewer observers, rounds or steps";

impl Protocol for Patient {
    fn node_count(&self) -> usize {
        self.protocol.node_count()
    }

    fn account<'a>(&'a self, observer: &Observer) -> Result<Box<dyn Account + 'a>, Error> {
        let found = match self.until {
            None => self.protocol.account(observer),
            Some(_) if self.seconds == 0 => return self.bound(observer, Error::Cancelled),
            Some(until) => {
                let (send, receive) = channel();
                let (protocol, asked) = (self.protocol, observer.clone());
                let work = move || {
                    // Nobody may wait for it any more.
                    let _ = send.send(protocol.account(&asked));
                };
                match workers() {
                    Some(pool) => pool.spawn(work),
                    None => work(),
                }
                match receive.recv_timeout(until.saturating_duration_since(Instant::now())) {
                    Ok(found) => found,
                    Err(RecvTimeoutError::Timeout) => return self.bound(observer, Error::Cancelled),
                    Err(RecvTimeoutError::Disconnected) => {
                        return Err(Error::NotOffered("the account ended without an answer"));
                    }
                }
            }
        };
        match found {
            Err(error) if is_too_large(&error) => self.bound(observer, error),
            found => Ok(found?),
        }
    }

    fn local_bound<'a>(&'a self, observer: &Observer) -> Result<Box<dyn Account + 'a>, Error> {
        self.protocol.local_bound(observer)
    }

    fn error(&self, noise: NoiseMultiplier) -> Result<f64, Error> {
        self.protocol.error(noise)
    }

    fn message_count(&self) -> Result<f64, Error> {
        self.protocol.message_count()
    }

    fn attack<'a>(
        &'a self,
        u: usize,
        observer: &Observer,
        noise: NoiseMultiplier,
    ) -> Result<Box<dyn Attacker + 'a>, Error> {
        self.protocol.attack(u, observer, noise)
    }
}

fn is_too_large(error: &Error) -> bool {
    matches!(
        error,
        Error::TooLarge { .. } | Error::Graph(ndp_graph::Error::TooLarge { .. }) | Error::NotCertified { .. }
    )
}

/// Threads for accounts that may be abandoned: the others must not wait for them.
fn workers() -> Option<&'static ThreadPool> {
    static WORKERS: OnceLock<Option<ThreadPool>> = OnceLock::new();
    let build = || ThreadPoolBuilder::new().num_threads(rayon::current_num_threads()).build().ok();
    WORKERS.get_or_init(build).as_ref()
}
