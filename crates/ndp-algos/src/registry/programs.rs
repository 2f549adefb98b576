//! Published protocols with correlated noise and secure sums, stated as programs; every node's data are used once.

use super::{Entry, Parameter, ROUNDS, Setting};
use crate::accountant::{Account, Attacker, Observer, local_bound};
use crate::program::{Declared, Program, Sensitivity, Weight, constructors, toeplitz};
use crate::{Error, Protocol};
use ndp_dp::NoiseMultiplier;

/// A program in which every node adds a noise of its own to its value before anything else.
struct Masked {
    program: Declared,
    /// Of the noise, in units of the noise.
    variance: f64,
}

fn masked(program: Program, variance: f64) -> Box<dyn Protocol> {
    Box::new(Masked { program: Declared::new(program, Sensitivity::UseLevel), variance })
}

impl Protocol for Masked {
    fn node_count(&self) -> usize {
        self.program.node_count()
    }

    fn account<'a>(&'a self, observer: &Observer) -> Result<Box<dyn Account + 'a>, Error> {
        self.program.account(observer)
    }

    fn local_bound<'a>(&'a self, observer: &Observer) -> Result<Box<dyn Account + 'a>, Error> {
        local_bound(self.node_count(), Some(self.variance), observer)
    }

    fn error(&self, noise: NoiseMultiplier) -> Result<f64, Error> {
        self.program.error(noise)
    }

    fn message_count(&self) -> Result<f64, Error> {
        self.program.message_count()
    }

    fn attack<'a>(
        &'a self,
        u: usize,
        observer: &Observer,
        noise: NoiseMultiplier,
    ) -> Result<Box<dyn Attacker + 'a>, Error> {
        self.program.attack(u, observer, noise)
    }
}

const OWN: Parameter = Parameter {
    name: "own",
    about: "variance of a node's own noise, in units of the noise; 1 by default",
    default: |_| Ok(1.0),
};

const SHARED: Parameter = Parameter {
    name: "shared",
    about: "variance of the noise that cancels, in units of the noise; 1 by default",
    default: |_| Ok(1.0),
};

pub(super) const DECOR: Entry = Entry {
    name: "decor",
    about: "DECOR: own noise and noise that cancels between neighbors, everything public",
    parameters: &[OWN, SHARED],
    build: |setting| {
        let own = setting.number("own");
        Ok(masked(constructors::decor(setting.graph(), own, setting.number("shared"), 1)?, own))
    },
};

pub(super) const ZIP_DL: Entry = Entry {
    name: "zip-dl",
    about: "Zip-DL, one round: own noise and masks that cancel over a node's own messages",
    parameters: &[OWN, SHARED],
    build: |setting| {
        let own = setting.number("own");
        Ok(masked(constructors::zip_dl(setting.graph(), own, setting.number("shared"))?, own))
    },
};

pub(super) const SECURE_NEIGHBOR_SUMS: Entry = Entry {
    name: "secure-neighbor-sums",
    about: "noise once, then gossip in which nodes learn the weighted sum of their neighbors alone",
    parameters: &[ROUNDS],
    build: |setting: &Setting<'_>| {
        Ok(masked(constructors::secure_neighbor_sums(setting.matrix, setting.count("rounds")?)?, 1.0))
    },
};

pub(super) const GOPA: Entry = Entry {
    name: "gopa",
    about: "GOPA: own noise and masks between neighbors that cancel, published once, then averaged",
    parameters: &[OWN, SHARED],
    build: |setting| {
        let (own, masks) = (setting.number("own"), setting.number("shared"));
        let program = constructors::gopa(setting.graph(), own, masks, &[])?;
        Ok(Box::new(Declared::new(program, Sensitivity::UseLevel)))
    },
};

pub(super) const CORN_DSGD: Entry = Entry {
    name: "corn-dsgd",
    about: "CorN-DSGD: noise of covariance own I + shared (I - W), handed out by a dealer, then gossip",
    parameters: &[ROUNDS, OWN, SHARED],
    build: |setting| {
        let (own, shared) = (setting.number("own"), setting.number("shared"));
        let program = constructors::corn_dsgd_along(setting.matrix, own, shared, setting.count("rounds")?)?;
        Ok(Box::new(Declared::new(program, Sensitivity::UseLevel)))
    },
};

pub(super) const HIERARCHICAL: Entry = Entry {
    name: "hierarchical",
    about: "secure sums within groups of other nodes than 0, whatever the graph, then a secure sum of the sums for node 0",
    parameters: &[
        Parameter {
            name: "groups",
            about: "number of groups, at least 2; by default the root of the number of nodes, rounded down",
            default: |matrix| Ok((matrix.node_count() as f64).sqrt().floor()),
        },
        OWN,
        Parameter {
            name: "leaders",
            about: "variance of the noise of a group's leader, in units of the noise; 0 by default",
            default: |_| Ok(0.0),
        },
    ],
    build: |setting: &Setting<'_>| {
        let (nodes, count) = (setting.nodes(), setting.count("groups")?);
        let mut groups: Vec<Vec<usize>> = vec![Vec::new(); count.min(nodes)];
        for node in 1..nodes {
            groups[(node - 1) % count].push(node);
        }
        let (own, leaders) = (setting.number("own"), setting.number("leaders"));
        let program = constructors::hierarchical(nodes, &groups, own, leaders)?;
        Ok(Box::new(Declared::new(program, Sensitivity::UseLevel)))
    },
};

pub(super) const DSGD: Entry = Entry {
    name: "dsgd",
    about: "decentralized SGD with noise in every step that reacts to noise before it; all steps of a node change alike",
    parameters: &[
        Parameter {
            name: "steps",
            about: "gradient steps of every node; 8 by default",
            default: |_| Ok(8.0),
        },
        Parameter {
            name: "correlation",
            about: "how much of a step's noise is taken back in the next, below 1 in size; 0 by default",
            default: |_| Ok(0.0),
        },
    ],
    build: |setting: &Setting<'_>| {
        let steps = setting.count("steps")?;
        let back = setting.number("correlation");
        if back.is_nan() || back.abs() >= 1.0 {
            let (name, condition) = ("correlation", "be below 1 in size");
            return Err(Error::InvalidParameter { name, condition, value: back });
        }
        let noise = toeplitz(steps, &[Weight::from(1), Weight::from(-back)]);
        let options = constructors::Dsgd { noise, ..constructors::Dsgd::new(steps) };
        let program = constructors::dsgd(setting.matrix, &options)?;
        Ok(Box::new(Declared::new(program, Sensitivity::SameDirection)))
    },
};
