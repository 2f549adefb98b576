//! Every protocol by name, with its parameters as data.
//!
//! The command, comparisons, audits and the search for false guarantees take their protocols from here. To
//! add one, write a file with an [`Entry`] next to the others, its `mod` line, and a line in `LINES`.
//!
//! # Examples
//! ```
//! use ndp_account::{Observer, Target, compare};
//! use ndp_algos::registry::{self, Parameters};
//! use ndp_dp::{Delta, Measure};
//! use ndp_graph::{GossipMatrix, generators::cycle_graph};
//! let matrix = GossipMatrix::metropolis(&cycle_graph(8)?);
//! let gossip = registry::find("muffliato")?.build(&matrix, &"rounds=4".parse()?)?;
//! let sums = registry::find("ring-sum")?.build(&matrix, &Parameters::default())?;
//! let target = Target::worst(Measure::Approx(Delta::new(1e-5)?), 1.0);
//! let table = compare(&[("gossip", Ok(gossip.as_ref())), ("ring", Ok(sums.as_ref()))], &[Observer::node(0)], &target);
//! assert!(table.rows.iter().all(|row| row.least.is_ok()));
//! println!("{table}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod baselines;
mod combinations;
mod dsgd;
mod gossip;
mod parameters;
mod programs;
mod push_sum;
mod tokens;
mod training;

pub use combinations::{Combination, Combinations};
pub use parameters::Parameters;
pub use training::training;

use crate::walk::{GaussianLaw, NoiseLaw, TokenNoise, other_laws};
use ndp_account::{Comparison, Error, Observer, Protocol, Target, compare};
use ndp_dp::Sigma;
use ndp_graph::{GossipMatrix, Graph};
use ndp_numeric::stop::Stop;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Every protocol; sums carried by a token once more for each law of noise but the normal one.
///
/// # Examples
/// ```
/// use ndp_algos::registry::PROTOCOLS;
/// let sums: Vec<&str> = PROTOCOLS.iter().map(|entry| entry.name).filter(|name| name.starts_with("ring-sum")).collect();
/// assert_eq!(sums[..3], ["ring-sum", "ring-sum-laplace", "ring-sum-discrete-laplace"]);
/// ```
pub static PROTOCOLS: LazyLock<Vec<Entry>> = LazyLock::new(|| {
    let of = |line: &'static Line| match line {
        Line::One(entry) => vec![*entry],
        Line::EachLaw(entry) => BEHIND
            .iter()
            .filter(|behind| behind.entry.name == entry.name)
            .map(|behind| Entry { name: &behind.name, about: &behind.about, ..*entry })
            .collect(),
    };
    LINES.iter().flat_map(of).collect()
});

/// A line of the registry.
enum Line {
    One(Entry),
    /// A protocol for each law of noise but the normal one, which is described by what it is put behind.
    EachLaw(Entry),
}

/// A protocol behind a law of noise, with the texts that its [`Entry`] refers to.
struct Behind {
    entry: &'static Entry,
    law: &'static dyn NoiseLaw,
    name: String,
    about: String,
}

static BEHIND: LazyLock<Vec<Behind>> = LazyLock::new(|| {
    let of = |line: &'static Line| match line {
        Line::One(_) => None,
        Line::EachLaw(entry) => Some(entry),
    };
    LINES
        .iter()
        .filter_map(of)
        .flat_map(|entry| {
            other_laws().map(|law| Behind {
                entry,
                law,
                name: format!("{}-{}", entry.name, law.name()),
                about: format!(
                    "{}, behind {}; every contribution counts by itself",
                    entry.about,
                    law.about()
                ),
            })
        })
        .collect()
});

const LINES: &[Line] = &[
    Line::One(gossip::MUFFLIATO),
    Line::One(gossip::ACCELERATED),
    Line::One(gossip::RANDOMIZED),
    Line::One(gossip::ACCELERATED_RANDOMIZED),
    Line::One(gossip::ONE_PEER),
    Line::One(gossip::FRESH_NOISE),
    Line::One(gossip::NOISY_MESSAGES),
    Line::One(programs::DECOR),
    Line::One(programs::ZIP_DL),
    Line::One(programs::SECURE_NEIGHBOR_SUMS),
    Line::One(programs::GOPA),
    Line::One(programs::CORN_DSGD),
    Line::One(programs::HIERARCHICAL),
    Line::One(dsgd::DSGD),
    Line::One(push_sum::PUSH_SUM),
    Line::One(tokens::RING_SUM),
    Line::EachLaw(tokens::RING_SUM_BEHIND),
    Line::One(tokens::RING_HISTOGRAM),
    Line::One(tokens::COMPLETE_SUM),
    Line::EachLaw(tokens::COMPLETE_SUM_BEHIND),
    Line::One(tokens::COMPLETE_HISTOGRAM),
    Line::One(tokens::WALK),
    Line::One(training::LOCAL),
    Line::One(training::CENTRAL),
    Line::One(training::FEDERATED),
    Line::One(training::WALK_COMPLETE),
    Line::One(training::WALK_GRAPH),
    Line::One(training::GOSSIP),
    Line::One(baselines::LOCAL),
    Line::One(baselines::CENTRAL),
];

/// A number that a protocol takes.
///
/// # Examples
/// ```
/// use ndp_algos::registry;
/// use ndp_graph::{GossipMatrix, generators::hypercube_graph, progress::Stop};
/// let muffliato = registry::find("muffliato")?;
/// let rounds = muffliato.parameters.iter().find(|taken| taken.name == "rounds").ok_or("gossip has rounds")?;
/// // Chosen by the spectral gap of the matrix where it is not given.
/// assert!((rounds.default)(&GossipMatrix::metropolis(&hypercube_graph(3)?), &Stop::never())? >= 1.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// Its name: `rounds`.
    pub name: &'static str,
    /// What it is, with its default.
    pub about: &'static str,
    /// Its value if none is given. For rounds of gossip it fails if the spectral gap is not found.
    pub default: fn(&GossipMatrix, &Stop) -> Result<f64, Error>,
}

/// A matrix and the values of all parameters of a protocol.
struct Setting<'a> {
    matrix: &'a GossipMatrix,
    values: BTreeMap<&'static str, f64>,
    law: &'static dyn NoiseLaw,
    /// Stops the computations that are made at once.
    stop: &'a Stop,
}

impl Setting<'_> {
    fn graph(&self) -> &Graph {
        self.matrix.graph()
    }

    fn nodes(&self) -> usize {
        self.matrix.node_count()
    }

    fn number(&self, name: &'static str) -> f64 {
        self.values.get(name).copied().unwrap_or(f64::NAN)
    }

    /// A count: an integer, at least 1.
    fn count(&self, name: &'static str) -> Result<usize, Error> {
        let value = self.number(name);
        // Counts above 2^32 are refused before the cast.
        if 1.0 <= value && value <= f64::from(u32::MAX) && value.fract() == 0.0 {
            return Ok(ndp_numeric::casts::floor(value));
        }
        Err(Error::InvalidParameter {
            name,
            condition: "be a whole number, at least 1 and below 2^32",
            value,
        })
    }

    /// 0 or 1.
    fn flag(&self, name: &'static str) -> Result<bool, Error> {
        match self.number(name) {
            0.0 => Ok(false),
            1.0 => Ok(true),
            value => Err(Error::InvalidParameter { name, condition: "be 0 or 1", value }),
        }
    }

    /// Noise of 1, which a question replaces by its own.
    fn noise(&self) -> Result<TokenNoise, Error> {
        Ok(TokenNoise { law: self.law, sigma: Sigma::new(1.0)? })
    }

    fn seed(&self) -> Result<u64, Error> {
        let value = self.number("seed");
        if 0.0 <= value && value <= f64::from(u32::MAX) && value.fract() == 0.0 {
            return Ok(ndp_numeric::casts::floor(value) as u64);
        }
        Err(Error::InvalidParameter { name: "seed", condition: "be a whole number below 2^32", value })
    }
}

/// What a protocol computes, so that only comparable protocols are compared.
///
/// # Examples
/// ```
/// use ndp_algos::registry::{self, Kind};
/// assert_eq!(registry::find("muffliato")?.kind, Kind::Mean);
/// assert_eq!(registry::find("walk-sgd")?.kind, Kind::Training);
/// # Ok::<(), ndp_account::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Kind {
    /// The mean of one value of every node, computed over the network.
    Mean,
    /// The number of nodes with each label.
    Histogram,
    /// A model, trained in steps that use the data again and again.
    Training,
    /// The mean without a network, by publishing or by a curator, with which the others are compared.
    Baseline,
}

/// Where a protocol sends.
#[derive(Clone, Copy, Debug)]
enum Connections {
    /// Along edges of the graph, with the weights of the matrix.
    Weighted,
    /// Along edges of the graph, whatever their weights; or everything is published to all.
    Edges,
    /// Along connections of its own, whatever the graph.
    Own,
}

/// A protocol by name.
///
/// # Examples
/// ```
/// use ndp_algos::registry;
/// use ndp_graph::{GossipMatrix, generators::star_graph};
/// let matrix = GossipMatrix::metropolis(&star_graph(4)?);
/// for entry in registry::PROTOCOLS.iter() {
///     match entry.build(&matrix, &"".parse()?) {
///         Ok(protocol) => assert_eq!(protocol.node_count(), matrix.node_count(), "{}", entry.name),
///         Err(reason) => println!("{}: {reason}", entry.name), // one-peer gossip needs a hypercube
///     }
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Its name: `muffliato`.
    pub name: &'static str,
    /// What it is, in a sentence.
    pub about: &'static str,
    /// What it computes.
    pub kind: Kind,
    /// What it takes.
    pub parameters: &'static [Parameter],
    connections: Connections,
    build: fn(&Setting<'_>) -> Result<Box<dyn Protocol>, Error>,
}

impl Entry {
    /// The protocol on the graph of `matrix`; protocols that gossip use its weights.
    ///
    /// # Errors
    /// [`Error::NoSuchName`] for a parameter that the protocol does not take; those of the protocol's
    /// constructor.
    pub fn build(&self, matrix: &GossipMatrix, parameters: &Parameters) -> Result<Box<dyn Protocol>, Error> {
        self.build_until(matrix, parameters, &Stop::never())
    }

    /// The same, stopped when `stop` says so.
    ///
    /// # Errors
    /// Those of [`Self::build`]; [`Error::Stopped`].
    pub fn build_until(
        &self,
        matrix: &GossipMatrix,
        parameters: &Parameters,
        stop: &Stop,
    ) -> Result<Box<dyn Protocol>, Error> {
        (self.build)(&self.setting(matrix, parameters, stop)?)
    }

    /// The values of all parameters: those that are given, and defaults for this graph.
    ///
    /// # Errors
    /// [`Error::NoSuchName`] for a parameter that the protocol does not take; those of the spectral gap, by
    /// which rounds are chosen.
    ///
    /// # Examples
    /// ```
    /// use ndp_algos::registry;
    /// use ndp_graph::{GossipMatrix, generators::cycle_graph, progress::Stop};
    /// let ring = GossipMatrix::metropolis(&cycle_graph(8)?);
    /// let all = registry::find("walk")?.parameters_on(&ring, &"cap=3".parse()?, &Stop::never())?;
    /// assert_eq!((all.0["cap"], all.0["steps"]), (3.0, 80.0));
    /// # Ok::<(), ndp_account::Error>(())
    /// ```
    pub fn parameters_on(
        &self,
        matrix: &GossipMatrix,
        given: &Parameters,
        stop: &Stop,
    ) -> Result<Parameters, Error> {
        let values = self.setting(matrix, given, stop)?.values;
        Ok(Parameters(values.into_iter().map(|(name, value)| (name.into(), value)).collect()))
    }

    /// Whether everything that is sent goes along edges of the graph, or is published to all. Other protocols
    /// have connections of their own (a ring, all pairs, groups, a server), for any graph.
    ///
    /// # Examples
    /// ```
    /// use ndp_algos::registry;
    /// assert!(registry::find("walk")?.is_on_the_graph());
    /// assert!(!registry::find("ring-sum")?.is_on_the_graph());
    /// # Ok::<(), ndp_account::Error>(())
    /// ```
    #[must_use]
    pub const fn is_on_the_graph(&self) -> bool {
        !matches!(self.connections, Connections::Own)
    }

    /// Whether the weights of the matrix matter, and not its graph alone.
    #[must_use]
    pub const fn uses_weights(&self) -> bool {
        matches!(self.connections, Connections::Weighted)
    }

    /// The parameters, with defaults for those that are not given.
    fn setting<'a>(
        &self,
        matrix: &'a GossipMatrix,
        parameters: &Parameters,
        stop: &'a Stop,
    ) -> Result<Setting<'a>, Error> {
        self.require_known(parameters)?;
        let mut values = BTreeMap::new();
        for parameter in self.parameters {
            let given = parameters.0.get(parameter.name).copied();
            values.insert(parameter.name, given.map_or_else(|| (parameter.default)(matrix, stop), Ok)?);
        }
        let behind = BEHIND.iter().find(|behind| behind.name == self.name);
        Ok(Setting { matrix, values, law: behind.map_or(&GaussianLaw, |behind| behind.law), stop })
    }

    fn require_known(&self, parameters: &Parameters) -> Result<(), Error> {
        let known = || self.parameters.iter().map(|parameter| parameter.name);
        if let Some(name) = parameters.0.keys().find(|name| !known().any(|known| known == *name)) {
            let known = if self.parameters.is_empty() {
                "none".into()
            } else {
                known().collect::<Vec<_>>().join(", ")
            };
            return Err(Error::NoSuchName { what: "parameter", name: name.into(), known });
        }
        Ok(())
    }
}

/// The protocol of this name.
///
/// # Errors
/// [`Error::NoSuchName`], which lists all names.
pub fn find(name: &str) -> Result<&'static Entry, Error> {
    PROTOCOLS.iter().find(|entry| entry.name == name).ok_or_else(|| Error::NoSuchName {
        what: "protocol",
        name: name.into(),
        known: PROTOCOLS.iter().map(|entry| entry.name).collect::<Vec<_>>().join(", "),
    })
}

/// Every protocol on the graph of `matrix`, with its default parameters, at the same target: see
/// [`compare`].
#[must_use]
pub fn compare_all(matrix: &GossipMatrix, observers: &[Observer], target: &Target) -> Comparison {
    let built: Vec<_> = PROTOCOLS.iter().map(|entry| entry.build(matrix, &Parameters::default())).collect();
    let protocols: Vec<(&str, Result<&dyn Protocol, Error>)> = PROTOCOLS
        .iter()
        .zip(&built)
        .map(|(entry, built)| (entry.name, built.as_ref().map(AsRef::as_ref).map_err(Error::clone)))
        .collect();
    compare(&protocols, observers, target)
}

/// The number of rounds after which the remaining disagreement of the nodes adds less to the error than noise
/// does, by the stopping rule of *Muffliato* for a large noise.
fn stopping_rounds(matrix: &GossipMatrix, stop: &Stop) -> Result<f64, Error> {
    use crate::gossip::utility::{Convergence, stopping_rounds};
    let rate = Convergence::Accelerated(gap(matrix, stop)?);
    let rounds = stopping_rounds(matrix.node_count(), rate, Sigma::new(f64::MAX.sqrt())?, 0.25)?;
    Ok(rounds as f64)
}

/// The spectral gap by which parameters are chosen. On large graphs, for which it may take hours, it is
/// estimated by some steps of Lanczos iteration. The estimate is at least the gap, so that gossip may be
/// slower than the choice expects.
fn gap(matrix: &GossipMatrix, stop: &Stop) -> Result<f64, Error> {
    if matrix.node_count() <= MAX_SPECTRUM {
        return Ok(ndp_graph::spectrum::extremes_until(matrix, stop)?.gap_abs()?);
    }
    if !matrix.graph().is_connected() {
        return Err(ndp_graph::Error::Disconnected(matrix.graph().component_count()).into());
    }
    Ok(ndp_graph::lanczos::lanczos_extremes_until(matrix, 1e-3, stop)?.extremes.gap_abs()?)
}

/// Up to this number of nodes, parameters are chosen by the spectral gap itself.
const MAX_SPECTRUM: usize = 10_000;

const ROUNDS: Parameter = Parameter {
    name: "rounds",
    about: "rounds of gossip; by default those of the stopping rule of Muffliato",
    default: stopping_rounds,
};

const SEED: Parameter =
    Parameter { name: "seed", about: "of the public random choices; 0 by default", default: |_, _| Ok(0.0) };
