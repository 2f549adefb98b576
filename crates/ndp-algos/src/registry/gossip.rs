//! Averaging by gossip.

use super::programs::later;
use super::{Connections, Entry, Kind, Parameter, ROUNDS, SEED, Setting};
use crate::gossip::accelerated::{AcceleratedGossip, Momentum};
use crate::gossip::fresh::flat_variances;
use crate::gossip::{FreshNoiseGossip, MessageNoise, NoisyMessageGossip, SequenceGossip, SynchronousGossip};
use ndp_account::parts::ensure;
use ndp_account::{Assumption, Terms};
use ndp_graph::chebyshev::Chebyshev;
use ndp_graph::sequences::EdgeActivations;
use ndp_graph::{GossipSequence, Step};
use ndp_linalg::memory::require_dense;
use ndp_numeric::stop::work;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

pub(super) const MUFFLIATO: Entry = Entry {
    name: "muffliato",
    connections: Connections::Weighted,
    kind: Kind::Mean,
    about: "noise once, then synchronous gossip",
    parameters: &[ROUNDS],
    build: |setting| Ok(Box::new(SynchronousGossip::new(setting.matrix.clone(), setting.count("rounds")?))),
};

pub(super) const ACCELERATED: Entry = Entry {
    name: "muffliato-accelerated",
    connections: Connections::Weighted,
    kind: Kind::Mean,
    about: "noise once, then Chebyshev-accelerated gossip; everybody learns what plain gossip shows",
    parameters: &[ROUNDS],
    build: |setting| {
        let chebyshev = Chebyshev::published(super::gap(setting.matrix, setting.stop)?)?;
        let gossip = SynchronousGossip::new(setting.matrix.clone(), setting.count("rounds")?);
        Ok(Box::new(gossip.accelerated(chebyshev.g())?))
    },
};

const ACTIVATIONS: Parameter = Parameter {
    name: "activations",
    about: "edges that are activated, one after the other; by default 3 n",
    default: |matrix, _| Ok(3.0 * matrix.node_count() as f64),
};

/// The number of activations, after checking that they fit in memory.
fn activations(setting: &Setting<'_>) -> Result<usize, ndp_account::Error> {
    let count = setting.count("activations")?;
    require_dense("the activations", count, size_of::<Step>() / 4)?;
    Ok(count)
}

pub(super) const RANDOMIZED: Entry = Entry {
    name: "randomized-gossip",
    connections: Connections::Edges,
    kind: Kind::Mean,
    about: "noise once, then edges drawn at random, one at a time, average their ends",
    parameters: &[ACTIVATIONS, SEED],
    build: |setting| {
        let law = EdgeActivations::uniform(setting.graph())?;
        let rng = &mut ChaCha8Rng::seed_from_u64(setting.seed()?);
        let sequence = GossipSequence::activations(&law, activations(setting)?, rng);
        Ok(Box::new(SequenceGossip::from(sequence)))
    },
};

pub(super) const ACCELERATED_RANDOMIZED: Entry = Entry {
    name: "randomized-accelerated",
    connections: Connections::Edges,
    kind: Kind::Mean,
    about: "noise once, then randomly activated edges with momentum",
    parameters: &[ACTIVATIONS, SEED],
    build: |setting| {
        let law = EdgeActivations::uniform(setting.graph())?;
        let (nodes, seed) = (setting.nodes(), setting.seed()?);
        let count = activations(setting)?;
        // The momentum depends on a spectrum, which takes long on large graphs.
        let terms = Terms::VALUES.on("every value, once").trusting(Assumption::TheseMeetings);
        later(setting, 1.0, terms, move |stop| {
            stop.spend(work([nodes, nodes, nodes]))?;
            let rng = &mut ChaCha8Rng::seed_from_u64(seed);
            Ok(Box::new(AcceleratedGossip::of_events(&law, nodes, count, Momentum::of(&law)?, rng)?))
        })
    },
};

pub(super) const ONE_PEER: Entry = Entry {
    name: "one-peer",
    connections: Connections::Own,
    kind: Kind::Mean,
    about: "noise once, then log2 n rounds over the one-peer hypercube, whatever the graph; needs a power of two nodes",
    parameters: &[],
    build: |setting| {
        let nodes = setting.nodes();
        let name = "the number of nodes of a one-peer hypercube";
        ensure(nodes.is_power_of_two(), name, "be a power of 2", nodes as f64)?;
        Ok(Box::new(SequenceGossip::from(GossipSequence::one_peer_hypercube(nodes.ilog2())?)))
    },
};

pub(super) const FRESH_NOISE: Entry = Entry {
    name: "fresh-noise",
    connections: Connections::Weighted,
    kind: Kind::Mean,
    about: "noise in every round of gossip",
    parameters: &[
        ROUNDS,
        Parameter {
            name: "rho",
            about: "how much the later noise adds to the variance of the average; 0.1 by default",
            default: |_, _| Ok(0.1),
        },
    ],
    build: |setting| {
        let variances = flat_variances(setting.count("rounds")?, setting.number("rho"))?;
        Ok(Box::new(FreshNoiseGossip::new(setting.matrix.clone(), variances)?))
    },
};

pub(super) const NOISY_MESSAGES: Entry = Entry {
    name: "noisy-messages",
    connections: Connections::Weighted,
    kind: Kind::Mean,
    about: "noise once and on every message",
    parameters: &[
        ROUNDS,
        Parameter {
            name: "ratio",
            about: "noise of a message over that of a value; 0.1 by default",
            default: |_, _| Ok(0.1),
        },
    ],
    build: |setting| {
        let (rounds, ratio) = (setting.count("rounds")?, setting.number("ratio"));
        let matrix = setting.matrix.clone();
        Ok(Box::new(NoisyMessageGossip::new(matrix, rounds, ratio, MessageNoise::PerLink)?))
    },
};
