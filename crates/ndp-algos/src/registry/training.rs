//! Private training, here for the mean of one number per user; the noise is that on a gradient.

use super::{Entry, Parameter, ROUNDS};
use crate::sgd::federated::FederatedSgd;
use crate::sgd::gossip::{Batch, Mixing, MuffliatoSgd};
use crate::sgd::walk::Update;
use crate::sgd::{Domain, PrivateTraining, Training};
use ndp_graph::TransitionMatrix;

const STEP_SIZE: Parameter =
    Parameter { name: "step-size", about: "of a gradient step; 0.1 by default", default: |_| Ok(0.1) };

const STEPS: Parameter = Parameter {
    name: "steps",
    about: "gradient steps; by default 10 n",
    default: |matrix| Ok(10.0 * matrix.node_count() as f64),
};

const CAP: Parameter =
    Parameter { name: "cap", about: "gradients of one user, at most; 20 by default", default: |_| Ok(20.0) };

pub(super) const LOCAL: Entry = Entry {
    name: "local-sgd",
    about: "private training in the local model: every noisy gradient is seen by everybody",
    parameters: &[Parameter {
        name: "contributions",
        about: "gradients of one user; 10 by default",
        default: |_| Ok(10.0),
    }],
    build: |setting| {
        let training = Training::Local { contributions: setting.count("contributions")? };
        Ok(Box::new(PrivateTraining::of_mean(setting.nodes(), training)?))
    },
};

pub(super) const CENTRAL: Entry = Entry {
    name: "central-sgd",
    about: "private training by a trusted curator who publishes every noisy gradient",
    parameters: &[STEPS, STEP_SIZE],
    build: |setting| {
        let training =
            Training::Central { steps: setting.count("steps")?, step_size: setting.number("step-size") };
        Ok(Box::new(PrivateTraining::of_mean(setting.nodes(), training)?))
    },
};

pub(super) const FEDERATED: Entry = Entry {
    name: "federated-sgd",
    about: "federated training of which only the last model is published; protects against outsiders",
    parameters: &[
        Parameter { name: "batch", about: "users of a round; 1 by default", default: |_| Ok(1.0) },
        STEP_SIZE,
        Parameter { name: "radius", about: "of the ball of models; 1 by default", default: |_| Ok(1.0) },
    ],
    build: |setting| {
        let run = FederatedSgd {
            batch: setting.count("batch")?,
            step_size: setting.number("step-size"),
            domain: Domain::ball(setting.number("radius"))?,
            initial: None,
        };
        Ok(Box::new(PrivateTraining::of_mean(setting.nodes(), Training::Federated(run))?))
    },
};

pub(super) const WALK_COMPLETE: Entry = Entry {
    name: "walk-sgd-complete",
    about: "private training by a model that walks uniformly over all nodes, whatever the graph; the last model is published",
    parameters: &[STEPS, STEP_SIZE, CAP],
    build: |setting| {
        let (steps, cap) = (setting.count("steps")?, setting.count("cap")?);
        let training = Training::Walk { steps, step_size: setting.number("step-size"), cap };
        Ok(Box::new(PrivateTraining::of_mean(setting.nodes(), training)?))
    },
};

pub(super) const WALK_GRAPH: Entry = Entry {
    name: "walk-sgd",
    about: "private training by a model that walks on the graph; the last model is published",
    parameters: &[STEPS, STEP_SIZE, CAP],
    build: |setting| {
        let training = Training::WalkOnGraph {
            matrix: Box::new(TransitionMatrix::from(setting.matrix)),
            steps: setting.count("steps")?,
            step_size: setting.number("step-size"),
            cap: setting.count("cap")?,
        };
        Ok(Box::new(PrivateTraining::of_mean(setting.nodes(), training)?))
    },
};

pub(super) const GOSSIP: Entry = Entry {
    name: "gossip-sgd",
    about: "private training by gradient steps and rounds of gossip in turn",
    parameters: &[
        Parameter { name: "epochs", about: "gradient steps of a node; 10 by default", default: |_| Ok(10.0) },
        ROUNDS,
        STEP_SIZE,
    ],
    build: |setting| {
        let sgd = MuffliatoSgd {
            rounds: setting.count("epochs")?,
            step_size: setting.number("step-size"),
            batch: Batch::Full,
            domain: Domain::Unbounded,
            update: Update::Sound,
        };
        let mixing =
            Box::new(Mixing::Plain { matrix: setting.matrix.clone(), steps: setting.count("rounds")? });
        Ok(Box::new(PrivateTraining::of_mean(setting.nodes(), Training::Gossip { sgd, mixing })?))
    },
};
