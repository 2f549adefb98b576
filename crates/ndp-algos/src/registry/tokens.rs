//! Sums, averages and histograms carried by a token.

use super::{Connections, Entry, Kind, Parameter, Setting};
use crate::walk::complete::{CompleteHistogram, CompleteSum, CompleteWalk};
use crate::walk::graph::{TokenWalk, WalkOptions};
use crate::walk::ring::{Placement, RingHistogram, RingSum};
use crate::walk::{Bounds, FinalToken, ReleasedSum};
use ndp_account::Error;
use ndp_dp::RandomizedResponse;
use ndp_graph::TransitionMatrix;
use ndp_graph::hitting::Start;

const PASSES: Parameter =
    Parameter { name: "passes", about: "rounds around the ring; 1 by default", default: |_, _| Ok(1.0) };

const STEPS: Parameter = Parameter {
    name: "steps",
    about: "contributions to the token, each of which is handed on; by default 10 n",
    default: |matrix, _| Ok(10.0 * matrix.node_count() as f64),
};

/// The same where the last holder keeps the token.
const KEPT_STEPS: Parameter = Parameter {
    about: "contributions to the token, the last of which is not handed on; by default 10 n",
    ..STEPS
};

const CAP: Parameter = Parameter {
    name: "cap",
    about: "contributions of one node, at most; later visits only add noise; inf, the default, for no limit",
    default: |_, _| Ok(f64::INFINITY),
};

const CONSTANT: Parameter = Parameter {
    name: "constant",
    about: "1 where each node contributes a value of its own that stays the same, whatever it received, and all lie in one interval as long as the sensitivity; 0, the default, where it may be another one at each visit, fixed before the walk",
    default: |_, _| Ok(0.0),
};

const LABELS: Parameter =
    Parameter { name: "labels", about: "labels of the histogram; 2 by default", default: |_, _| Ok(2.0) };

pub(super) const RING_SUM: Entry = Entry {
    name: "ring-sum",
    connections: Connections::Own,
    kind: Kind::Mean,
    about: "a token goes around a ring of all nodes, whatever the graph, noise on every (n-1)-th step; the total is published, masked",
    parameters: &[PASSES],
    build: |setting| Ok(Box::new(ring_sum(setting)?)),
};

/// The same behind noise of another law.
pub(super) const RING_SUM_BEHIND: Entry = Entry {
    about: "as ring-sum",
    build: |setting| Ok(Box::new(ReleasedSum::from(ring_sum(setting)?))),
    ..RING_SUM
};

fn ring_sum(setting: &Setting<'_>) -> Result<RingSum, Error> {
    let (bounds, passes) = (Bounds::new(0.0, 1.0)?, setting.count("passes")?);
    let ring = RingSum::new(setting.nodes(), passes, bounds, setting.noise()?, Placement::Counter)?;
    ring.with_final_token(FinalToken::Masked)
}

/// The response that a histogram is built with, of `ε₀ = 1`; a question replaces it by its own noise.
fn response(labels: usize) -> Result<RandomizedResponse, ndp_account::Error> {
    let labels = u32::try_from(labels).map_err(|_| ndp_account::Error::InvalidParameter {
        name: "labels",
        condition: "be below 2^32",
        value: labels as f64,
    })?;
    Ok(RandomizedResponse::with_epsilon(labels, 1.0)?)
}

pub(super) const RING_HISTOGRAM: Entry = Entry {
    name: "ring-histogram",
    connections: Connections::Own,
    kind: Kind::Histogram,
    about: "a token goes around a ring of all nodes, every node adds its label by randomized response, the first and the last holder uniform labels as well; the total is published, masked",
    parameters: &[PASSES, LABELS],
    build: |setting| {
        let response = response(setting.count("labels")?)?;
        Ok(Box::new(RingHistogram::new(
            setting.nodes(),
            setting.count("passes")?,
            response,
            FinalToken::Masked,
        )?))
    },
};

pub(super) const COMPLETE_SUM: Entry = Entry {
    name: "complete-sum",
    connections: Connections::Own,
    kind: Kind::Mean,
    about: "a token walks uniformly over all nodes, whatever the graph; every holder adds its value and noise",
    parameters: &[KEPT_STEPS, CONSTANT],
    build: |setting| Ok(Box::new(complete_sum(setting, setting.flag("constant")?)?)),
};

/// The same behind noise of another law.
pub(super) const COMPLETE_SUM_BEHIND: Entry = Entry {
    about: "as complete-sum",
    parameters: &[KEPT_STEPS],
    build: |setting| Ok(Box::new(ReleasedSum::from(complete_sum(setting, false)?))),
    ..COMPLETE_SUM
};

fn complete_sum(setting: &Setting<'_>, constant_data: bool) -> Result<CompleteSum, Error> {
    let walk = CompleteWalk::new(setting.nodes(), setting.count("steps")?)?;
    Ok(CompleteSum { walk, bounds: Bounds::new(0.0, 1.0)?, noise: setting.noise()?, constant_data })
}

pub(super) const COMPLETE_HISTOGRAM: Entry = Entry {
    name: "complete-histogram",
    connections: Connections::Own,
    kind: Kind::Histogram,
    about: "a token walks uniformly over all nodes, whatever the graph; every holder adds its label by randomized response",
    parameters: &[KEPT_STEPS, LABELS],
    build: |setting| {
        let walk = CompleteWalk::new(setting.nodes(), setting.count("steps")?)?;
        Ok(Box::new(CompleteHistogram { walk, response: response(setting.count("labels")?)? }))
    },
};

pub(super) const WALK: Entry = Entry {
    name: "walk",
    connections: Connections::Weighted,
    kind: Kind::Mean,
    about: "a token walks on the graph by the weights of the matrix; every holder adds its value and noise to a running average",
    parameters: &[STEPS, CAP],
    build: |setting| {
        let matrix = TransitionMatrix::from(setting.matrix);
        let walk = TokenWalk::new(&matrix, Start::Uniform, setting.count("steps")?)?;
        let capped = setting.number("cap") != f64::INFINITY;
        let cap = if capped { Some(setting.count("cap")?) } else { None };
        Ok(Box::new(walk.with_options(WalkOptions { cap, ..WalkOptions::default() })?))
    },
};
