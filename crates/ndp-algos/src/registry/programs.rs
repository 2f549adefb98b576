//! Published protocols with correlated noise and secure sums, stated as programs in which every node's data
//! are used once.

use super::{Connections, Entry, Kind, Parameter, ROUNDS, Setting};
use ndp_account::parts::ensure;
use ndp_account::{
    Account, Attacker, Observer, Terms,
    parts::{local_bound, locked},
};
use ndp_account::{Error, Protocol};
use ndp_dp::NoiseMultiplier;
use ndp_graph::GossipMatrix;
use ndp_linalg::memory::require_memory;
use ndp_numeric::stop::Stop;
use ndp_program::{Declared, Program, SensitivitySet, constructors};
use std::sync::{Mutex, OnceLock};

/// A protocol in which every node first adds a noise of its own to its value.
///
/// On large graphs the program is made only when somebody asks what is seen. Making it takes long, and
/// [`Protocol::local_bound`] does not need it.
struct Masked {
    nodes: usize,
    /// The variance of the noise on a value, in units of the noise of a question.
    variance: f64,
    terms: Terms,
    /// The number of messages if all nodes send to all their neighbors in every round; 0 if it is not known.
    messages: u128,
    /// How far the mean of all values, in units of their interval, may be from the mean of those that enter.
    left_out: f64,
    make: Make,
    made: Made,
    /// The same protocol up to its first round. Its messages are also messages of the whole protocol, so that
    /// nobody learns more from it.
    first: Option<Make>,
    glimpsed: Made,
}

type Make = Box<dyn Fn(&Stop) -> Result<Box<dyn Protocol>, Error> + Send + Sync>;

/// A protocol that is made once, when it is first needed.
#[derive(Default)]
struct Made {
    made: OnceLock<Result<Box<dyn Protocol>, Error>>,
    /// Locked while the protocol is made; the work that this took.
    work: Mutex<u64>,
}

impl Made {
    /// The protocol that was made before, or that `make` gives now; a computation that was stopped is not
    /// stored. The work is charged to everybody who asks, so that it does not depend on who asks first.
    fn or_make(&self, make: &Make, stop: &Stop) -> Result<&dyn Protocol, Error> {
        let mut work = locked(&self.work);
        if self.made.get().is_some() {
            stop.spend(*work)?;
            return self.if_made();
        }
        let counted = stop.within(u64::MAX);
        match make(&counted) {
            Err(Error::Stopped(stopped)) => return Err(stopped.into()),
            made => self.made.get_or_init(|| made),
        };
        *work = counted.spent();
        self.if_made()
    }

    /// The protocol, if it has been made.
    fn if_made(&self) -> Result<&dyn Protocol, Error> {
        let made = self.made.get().ok_or(Error::NotOffered("known once it is known what is seen"))?;
        made.as_deref().map_err(Error::clone)
    }
}

/// The protocol that `make` gives, with a noise of the given variance on every value.
pub(super) fn later(
    setting: &Setting<'_>,
    variance: f64,
    terms: Terms,
    make: impl Fn(&Stop) -> Result<Box<dyn Protocol>, Error> + Send + Sync + 'static,
) -> Result<Box<dyn Protocol>, Error> {
    Ok(Box::new(Masked::new(setting, variance, terms, (0, Box::new(make)))?))
}

/// The program that `write` gives for the matrix of the setting, with a noise of the given variance on every
/// value.
///
/// `rounds` is the number of rounds in which everybody sends to all neighbors. Programs whose messages do not
/// fit in memory are refused.
pub(super) fn masked(
    setting: &Setting<'_>,
    (variance, on): (f64, &'static str),
    rounds: usize,
    write: impl Fn(&GossipMatrix, &Stop) -> Result<Program, Error> + Send + Sync + 'static,
) -> Result<Box<dyn Protocol>, Error> {
    let terms = Declared::TERMS.on(on);
    Ok(Box::new(Masked::new(setting, variance, terms, made(setting, terms, rounds, write))?))
}

/// The same for gossip in rounds with a noise of variance 1 on every value, once. `write` states a given
/// number of rounds, which are the first rounds of every longer program.
pub(super) fn masked_once(
    setting: &Setting<'_>,
    rounds: usize,
    write: impl Fn(&GossipMatrix, usize, &Stop) -> Result<Program, Error> + Copy + Send + Sync + 'static,
) -> Result<Box<dyn Protocol>, Error> {
    let terms = Declared::TERMS.on("every value, once");
    let of = |rounds| made(setting, terms, rounds, move |matrix, stop| write(matrix, rounds, stop));
    Ok(Box::new(Masked { first: Some(of(1).1), ..Masked::new(setting, 1.0, terms, of(rounds))? }))
}

/// The number of messages of the program that `write` gives, and a function that makes the program if they
/// fit in memory.
fn made(
    setting: &Setting<'_>,
    terms: Terms,
    rounds: usize,
    write: impl Fn(&GossipMatrix, &Stop) -> Result<Program, Error> + Send + Sync + 'static,
) -> (u128, Make) {
    let matrix = setting.matrix.clone();
    let messages = 2 * matrix.graph().edge_count() as u128 * rounds as u128;
    let make: Make = Box::new(move |stop| {
        require_memory("the messages of the program", messages.saturating_mul(BYTES_OF_MESSAGE))?;
        let declared = Declared::new(write(&matrix, stop)?, SensitivitySet::UseLevel);
        Ok(Box::new(Declared { noise: terms.noise, ..declared }))
    });
    (messages, make)
}

/// The memory for a message in bytes, as measured.
const BYTES_OF_MESSAGE: u128 = 56;

/// Protocols with up to this number of nodes are made when they are built, so that wrong parameters are
/// refused then.
const MADE_AT_ONCE: usize = 2048;

impl Masked {
    fn new(
        setting: &Setting<'_>,
        variance: f64,
        terms: Terms,
        (messages, make): (u128, Make),
    ) -> Result<Self, Error> {
        let (nodes, made, glimpsed) = (setting.nodes(), Made::default(), Made::default());
        let left_out = 0.0;
        let masked = Self { nodes, variance, terms, messages, left_out, make, made, first: None, glimpsed };
        if nodes <= MADE_AT_ONCE {
            masked.protocol(setting.stop)?;
        }
        Ok(masked)
    }

    fn protocol(&self, stop: &Stop) -> Result<&dyn Protocol, Error> {
        self.made.or_make(&self.make, stop)
    }

    /// The protocol, if it has been made: the cost and the error of a run are not worth minutes of work.
    fn if_made(&self) -> Result<&dyn Protocol, Error> {
        self.made.if_made()
    }
}

impl Protocol for Masked {
    fn node_count(&self) -> usize {
        self.nodes
    }

    fn account_until<'a>(&'a self, observer: &Observer, stop: &Stop) -> Result<Box<dyn Account + 'a>, Error> {
        self.protocol(stop)?.account_until(observer, stop)
    }

    fn local_bound<'a>(&'a self, observer: &Observer) -> Result<Box<dyn Account + 'a>, Error> {
        local_bound(self.nodes, Some(self.variance), observer, self.terms)
    }

    fn symmetries(&self) -> Vec<Vec<u32>> {
        // The program itself may have fewer messages if it has been made: not all programs send along the
        // edges.
        if self.nodes > MADE_AT_ONCE && self.messages > Program::SEARCHED_FOR_SYMMETRIES as u128 {
            return Vec::new();
        }
        self.protocol(&Stop::never()).map_or_else(|_| Vec::new(), Protocol::symmetries)
    }

    fn glimpse<'a>(&'a self, observer: &Observer, stop: &Stop) -> Result<Box<dyn Account + 'a>, Error> {
        let first = self.first.as_ref().ok_or(Error::NotOffered("its first round is not told apart"))?;
        self.glimpsed.or_make(first, stop)?.account_until(observer, stop)
    }

    fn error_until(&self, noise: NoiseMultiplier, stop: &Stop) -> Result<f64, Error> {
        Ok(self.if_made()?.error_until(noise, stop)?.hypot(self.left_out))
    }

    fn message_count(&self) -> Result<f64, Error> {
        self.if_made()?.message_count()
    }

    fn program_text(&self) -> Result<Vec<u8>, Error> {
        self.protocol(&Stop::never())?.program_text()
    }

    fn attack<'a>(
        &'a self,
        u: usize,
        observer: &Observer,
        noise: NoiseMultiplier,
    ) -> Result<Box<dyn Attacker + 'a>, Error> {
        self.protocol(&Stop::never())?.attack(u, observer, noise)
    }
}

/// Where the noise is, for most of these protocols.
const LIKEWISE: &str =
    "every value, its variance multiplied by own, and on shared noise, multiplied by shared";
const OF_LEADERS: &str =
    "every value, its variance multiplied by own, and on the sums of leaders, multiplied by leaders";

const OWN: Parameter = Parameter {
    name: "own",
    about: "variance of a node's own noise, in units of the noise; 1 by default",
    default: |_, _| Ok(1.0),
};

const SHARED: Parameter = Parameter {
    name: "shared",
    about: "variance of the noise that cancels, in units of the noise; 1 by default",
    default: |_, _| Ok(1.0),
};

pub(super) const DECOR: Entry = Entry {
    name: "decor",
    connections: Connections::Edges,
    kind: Kind::Mean,
    about: "DECOR: own noise and noise that cancels between neighbors, everything public",
    parameters: &[OWN, SHARED],
    build: |setting| {
        let (own, shared) = (setting.number("own"), setting.number("shared"));
        masked(setting, (own, LIKEWISE), 1, move |matrix, _| {
            constructors::decor(matrix.graph(), own, shared, 1)
        })
    },
};

pub(super) const ZIP_DL: Entry = Entry {
    name: "zip-dl",
    connections: Connections::Edges,
    kind: Kind::Mean,
    about: "Zip-DL, one round: own noise and masks that cancel over a node's own messages",
    parameters: &[OWN, SHARED],
    build: |setting| {
        let (own, shared) = (setting.number("own"), setting.number("shared"));
        masked(setting, (own, LIKEWISE), 1, move |matrix, _| {
            constructors::zip_dl(matrix.graph(), own, shared)
        })
    },
};

pub(super) const SECURE_NEIGHBOR_SUMS: Entry = Entry {
    name: "secure-neighbor-sums",
    connections: Connections::Weighted,
    kind: Kind::Mean,
    about: "noise once, then gossip in which nodes learn the weighted sum of their neighbors alone",
    parameters: &[ROUNDS],
    build: |setting: &Setting<'_>| {
        masked_once(setting, setting.count("rounds")?, constructors::secure_neighbor_sums_until)
    },
};

pub(super) const GOPA: Entry = Entry {
    name: "gopa",
    connections: Connections::Edges,
    kind: Kind::Mean,
    about: "GOPA: own noise and masks between neighbors that cancel, published once, then averaged",
    parameters: &[OWN, SHARED],
    build: |setting| {
        let (own, masks) = (setting.number("own"), setting.number("shared"));
        masked(setting, (own, LIKEWISE), 1, move |matrix, _| {
            constructors::gopa(matrix.graph(), own, masks, &[])
        })
    },
};

pub(super) const CORN_DSGD: Entry = Entry {
    name: "corn-dsgd",
    connections: Connections::Weighted,
    kind: Kind::Mean,
    about: "CorN-DSGD: noise of covariance own I + shared (I - W), handed out by a dealer, then gossip",
    parameters: &[ROUNDS, OWN, SHARED],
    build: |setting| {
        let (own, shared) = (setting.number("own"), setting.number("shared"));
        let rounds = setting.count("rounds")?;
        masked(setting, (own, LIKEWISE), rounds, move |matrix, _| {
            constructors::corn_dsgd_along(matrix, own, shared, rounds)
        })
    },
};

pub(super) const HIERARCHICAL: Entry = Entry {
    name: "hierarchical",
    connections: Connections::Own,
    kind: Kind::Mean,
    about: "secure sums within groups, whatever the graph, then a secure sum of the sums for node 0, whose own value does not enter",
    parameters: &[
        Parameter {
            name: "groups",
            about: "number of groups, at least 2; by default the root of the number of nodes, rounded down",
            default: |matrix, _| Ok((matrix.node_count() as f64).sqrt().floor()),
        },
        OWN,
        Parameter {
            name: "leaders",
            about: "variance of the noise of a group's leader, in units of the noise; 0 by default",
            default: |_, _| Ok(0.0),
        },
    ],
    build: |setting: &Setting<'_>| {
        let (nodes, count) = (setting.nodes(), setting.count("groups")?);
        let (name, condition) =
            ("the number of nodes", "be at least 2 for each of two or more groups, and node 0");
        ensure(count >= 2 && nodes > 2 * count, name, condition, nodes as f64)?;
        let mut groups: Vec<Vec<usize>> = vec![Vec::new(); count.min(nodes)];
        for node in 1..nodes {
            groups[(node - 1) % count].push(node);
        }
        let (own, leaders) = (setting.number("own"), setting.number("leaders"));
        let terms = Declared::TERMS.on(OF_LEADERS);
        let program =
            made(setting, terms, 1, move |_, _| constructors::hierarchical(nodes, &groups, own, leaders));
        // The mean of all values differs from that of all but one by its share of a distance within the
        // interval.
        let left_out = 1.0 / nodes as f64;
        Ok(Box::new(Masked { left_out, ..Masked::new(setting, own, terms, program)? }))
    },
};
