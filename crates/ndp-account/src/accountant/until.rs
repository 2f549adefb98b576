//! A protocol whose answers end when somebody says so.

use super::{Account, Attacker, Observer, Protocol};
use crate::Error;
use crate::forward::forward;
use ndp_dp::NoiseMultiplier;
use ndp_graph::progress::Stop;

/// The same protocol, all of whose accounts and errors end when a [`Stop`] says so: for questions that take a
/// protocol and look at its observers themselves.
///
/// # Examples
/// ```
/// use ndp_account::example::Gossip;
/// use ndp_account::{Error, Observer, Until, accounts};
/// use ndp_graph::progress::{Silent, Stop, Stopped};
/// use ndp_graph::{GossipMatrix, generators::path_graph};
/// let gossip = Gossip::new(GossipMatrix::metropolis(&path_graph(9)?), 3);
/// let short = Until::new(&gossip, Stop::after_work(1));
/// let refused = accounts(&short, &[Observer::node(0)], &Silent).err();
/// assert_eq!(refused, Some(Error::Stopped(Stopped::OutOfWork)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Until<'p> {
    protocol: &'p dyn Protocol,
    stop: Stop,
}

impl<'p> Until<'p> {
    /// The protocol, as long as `stop` lets it.
    #[must_use]
    pub const fn new(protocol: &'p dyn Protocol, stop: Stop) -> Self {
        Self { protocol, stop }
    }
}

impl Protocol for Until<'_> {
    forward! { self.protocol =>
        fn node_count(&self) -> usize;
        fn local_bound(&self, observer: &Observer) -> Result<Box<dyn Account + '_>, Error>;
        fn symmetries(&self) -> Vec<Vec<u32>>;
        fn is_formula(&self) -> bool;
        fn message_count(&self) -> Result<f64, Error>;
        fn program_text(&self) -> Result<Vec<u8>, Error>;
        fn attack(
            &self,
            u: usize,
            observer: &Observer,
            noise: NoiseMultiplier,
        ) -> Result<Box<dyn Attacker + '_>, Error>;
    }

    fn account_until<'a>(&'a self, observer: &Observer, _: &Stop) -> Result<Box<dyn Account + 'a>, Error> {
        self.protocol.account_until(observer, &self.stop)
    }

    fn glimpse<'a>(&'a self, observer: &Observer, _: &Stop) -> Result<Box<dyn Account + 'a>, Error> {
        self.protocol.glimpse(observer, &self.stop)
    }

    fn error_until(&self, noise: NoiseMultiplier, _: &Stop) -> Result<f64, Error> {
        self.protocol.error_until(noise, &self.stop)
    }
}
