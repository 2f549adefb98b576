//! Published protocols with correlated noise and secure sums, stated as programs; every node's data are used once.

use super::{Entry, Parameter, ROUNDS, Setting};
use crate::program::{Declared, Sensitivity, constructors};

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
        let program =
            constructors::decor(setting.graph(), setting.number("own"), setting.number("shared"), 1)?;
        Ok(Box::new(Declared::new(program, Sensitivity::UseLevel)))
    },
};

pub(super) const ZIP_DL: Entry = Entry {
    name: "zip-dl",
    about: "Zip-DL, one round: own noise and masks that cancel over a node's own messages",
    parameters: &[OWN, SHARED],
    build: |setting| {
        let program = constructors::zip_dl(setting.graph(), setting.number("own"), setting.number("shared"))?;
        Ok(Box::new(Declared::new(program, Sensitivity::UseLevel)))
    },
};

pub(super) const SECURE_NEIGHBOR_SUMS: Entry = Entry {
    name: "secure-neighbor-sums",
    about: "noise once, then gossip in which nodes learn the weighted sum of their neighbors alone",
    parameters: &[ROUNDS],
    build: |setting: &Setting<'_>| {
        let program = constructors::secure_neighbor_sums(setting.matrix, setting.count("rounds")?)?;
        Ok(Box::new(Declared::new(program, Sensitivity::UseLevel)))
    },
};
