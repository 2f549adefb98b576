//! Published protocols with correlated noise and secure sums, stated as programs; every node's data are used once.

use super::{Entry, Parameter, ROUNDS, Setting};
use crate::accountant::{Account, Attacker, Observer, local_bound};
use crate::program::{Declared, Program, Sensitivity, constructors};
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
