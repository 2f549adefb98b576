//! Private training, here for the mean of one number per user; the noise is the noise on a gradient.

use super::{Connections, Entry, Kind, Parameter, Parameters, ROUNDS, Setting};
use crate::sgd::federated::FederatedSgd;
use crate::sgd::gossip::{Mixing, MuffliatoSgd};
use crate::sgd::walk::{Route, Update, WalkSgd};
use crate::sgd::{Domain, PrivateTraining, Training};
use ndp_account::{Error, Protocol};
use ndp_graph::{GossipMatrix, TransitionMatrix};
use ndp_numeric::stop::Stop;

const STEP_SIZE: Parameter =
    Parameter { name: "step-size", about: "of a gradient step; 0.1 by default", default: |_, _| Ok(0.1) };

const STEPS: Parameter = Parameter {
    name: "steps",
    about: "gradient steps; by default 10 n",
    default: |matrix, _| Ok(10.0 * matrix.node_count() as f64),
};

const CAP: Parameter = Parameter {
    name: "cap",
    about: "gradients of one user, at most; 20 by default",
    default: |_, _| Ok(20.0),
};

pub(super) const LOCAL: Entry = Entry {
    name: "local-sgd",
    connections: Connections::Edges,
    kind: Kind::Training,
    about: "private training in the local model: every noisy gradient is seen by everybody",
    parameters: &[Parameter {
        name: "contributions",
        about: "gradients of one user; 10 by default",
        default: |_, _| Ok(10.0),
    }],
    build: |setting| of_mean(setting, local),
};

pub(super) const CENTRAL: Entry = Entry {
    name: "central-sgd",
    connections: Connections::Own,
    kind: Kind::Training,
    about: "private training by a trusted curator who publishes every noisy gradient",
    parameters: &[STEPS, STEP_SIZE],
    build: |setting| of_mean(setting, central),
};

pub(super) const FEDERATED: Entry = Entry {
    name: "federated-sgd",
    connections: Connections::Own,
    kind: Kind::Training,
    about: "federated training of which only the last model is published; protects against outsiders",
    parameters: &[
        Parameter { name: "batch", about: "users of a round; 1 by default", default: |_, _| Ok(1.0) },
        STEP_SIZE,
        Parameter {
            name: "radius",
            about: "of the ball of models, in the unit in which the sensitivity is given (1 unless it is; 2 in `ndp train`); 1 by default",
            default: |_, _| Ok(1.0),
        },
    ],
    build: |setting| of_mean(setting, federated),
};

pub(super) const WALK_COMPLETE: Entry = Entry {
    name: "walk-sgd-complete",
    connections: Connections::Own,
    kind: Kind::Training,
    about: "private training by a model that walks uniformly over all nodes, whatever the graph; the last model is published",
    parameters: &[STEPS, STEP_SIZE, CAP],
    build: |setting| of_mean(setting, walk_complete),
};

pub(super) const WALK_GRAPH: Entry = Entry {
    name: "walk-sgd",
    connections: Connections::Weighted,
    kind: Kind::Training,
    about: "private training by a model that walks on the graph; the last model is published",
    parameters: &[STEPS, STEP_SIZE, CAP],
    build: |setting| of_mean(setting, walk_graph),
};

pub(super) const GOSSIP: Entry = Entry {
    name: "gossip-sgd",
    connections: Connections::Weighted,
    kind: Kind::Training,
    about: "private training by gradient steps and rounds of gossip in turn",
    parameters: &[
        Parameter {
            name: "epochs",
            about: "gradient steps of a node; 10 by default",
            default: |_, _| Ok(10.0),
        },
        ROUNDS,
        STEP_SIZE,
    ],
    build: |setting| of_mean(setting, gossip),
};

fn local(setting: &Setting<'_>) -> Result<Training, Error> {
    Ok(Training::Local { contributions: setting.count("contributions")? })
}

fn central(setting: &Setting<'_>) -> Result<Training, Error> {
    Ok(Training::Central(walk(setting, Route::Complete, None)?))
}

fn federated(setting: &Setting<'_>) -> Result<Training, Error> {
    let domain = Domain::Ball(setting.number("radius"));
    domain.check()?;
    Ok(Training::Federated(FederatedSgd {
        batch: setting.count("batch")?,
        step_size: setting.number("step-size"),
        domain,
        initial: None,
    }))
}

fn walk_complete(setting: &Setting<'_>) -> Result<Training, Error> {
    let cap = setting.count("cap")?;
    Ok(Training::walk(walk(setting, Route::Complete, Some(cap))?))
}

fn walk_graph(setting: &Setting<'_>) -> Result<Training, Error> {
    let cap = setting.count("cap")?;
    Ok(Training::walk(walk(setting, TransitionMatrix::from(setting.matrix).into(), Some(cap))?))
}

fn walk(setting: &Setting<'_>, route: Route, cap: Option<usize>) -> Result<WalkSgd, Error> {
    Ok(WalkSgd::new(route, setting.count("steps")?, setting.number("step-size"), cap))
}

fn gossip(setting: &Setting<'_>) -> Result<Training, Error> {
    let sgd = MuffliatoSgd {
        rounds: setting.count("epochs")?,
        step_size: setting.number("step-size"),
        batch: None,
        domain: Domain::Unbounded,
        update: Update::Sound,
    };
    let mixings = vec![Mixing::Plain { matrix: setting.matrix.clone(), steps: setting.count("rounds")? }];
    Ok(Training::Gossip { sgd, mixings })
}

fn of_mean(
    setting: &Setting<'_>,
    training: fn(&Setting<'_>) -> Result<Training, Error>,
) -> Result<Box<dyn Protocol>, Error> {
    Ok(Box::new(PrivateTraining::of_mean(setting.nodes(), training(setting)?)?))
}

/// The training with this name, for data of one's own: [`PrivateTraining::new`] takes it with the constants
/// of an objective.
///
/// # Errors
/// [`Error::NoSuchName`] for a protocol that does not train, or a parameter that it does not take;
/// [`Error::InvalidParameter`].
pub fn training(name: &str, matrix: &GossipMatrix, parameters: &Parameters) -> Result<Training, Error> {
    let found = TRAININGS.iter().find(|(entry, _)| entry.name == name);
    let (entry, build) = found.ok_or_else(|| Error::NoSuchName {
        what: "training",
        name: name.into(),
        known: TRAININGS.iter().map(|(entry, _)| entry.name).collect::<Vec<_>>().join(", "),
    })?;
    build(&entry.setting(matrix, parameters, &Stop::never())?)
}

/// Makes a training from its parameters.
type Build = fn(&Setting<'_>) -> Result<Training, Error>;

const TRAININGS: [(Entry, Build); 6] = [
    (LOCAL, local),
    (CENTRAL, central),
    (FEDERATED, federated),
    (WALK_COMPLETE, walk_complete),
    (WALK_GRAPH, walk_graph),
    (GOSSIP, gossip),
];
