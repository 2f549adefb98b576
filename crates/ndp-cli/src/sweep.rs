//! Sweeps: one summary per observer. One process and many processes give the same bytes.
//!
//! An item is a protocol with an observer. Items are numbered, all observers of the first protocol first. The
//! line of an item depends only on the study and on the item's number.

pub(crate) mod files;
pub(crate) mod merge;
pub(crate) mod plan;

use crate::args::{Sweep, Weights};
use crate::errors::Failure;
use crate::output::{finite, hex, parameters};
use crate::patience::{self, Limit, Patient};
use crate::{input, plain, question};
use ndp_account::Protocol as _;
use ndp_account::{Assumption, Changes, Coverage, Observer, RestsOn, Said, Statement};
use ndp_algos::registry::Parameters;
use ndp_dp::{Delta, Grade, Measure, NoiseMultiplier, Order};
use ndp_graph::{GossipMatrix, Graph};
use ndp_numeric::stop::Stop;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};

/// The hash of this build, which tells apart builds of the same version.
pub(crate) const BUILD: &str = env!("NDP_BUILD");

/// A sweep, ready to be asked for its items.
pub(crate) struct Study {
    pub(crate) graph: Graph,
    pub(crate) observers: Vec<Observer>,
    /// The observers, in words.
    pub(crate) description: String,
    /// Whether the observers are a random sample of all nodes.
    pub(crate) sampled: bool,
    /// The seed of the sample.
    pub(crate) seed: u64,
    coverage: Coverage,
    pub(crate) protocols: Vec<(String, Patient<'static>)>,
    /// The values of all parameters of each protocol.
    pub(crate) parameters: Vec<Parameters>,
    pub(crate) noises: Vec<(f64, NoiseMultiplier)>,
    /// How far a value may move.
    pub(crate) sensitivity: f64,
    /// The weights of gossip, in words.
    pub(crate) weights: String,
    pub(crate) measure: Measure,
    top: usize,
    rows: Vec<usize>,
    /// A hash of everything that the lines depend on.
    pub(crate) hash: String,
}

/// What the numbers of one observer rest on.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Granted {
    /// What of one node's data may differ.
    changes: BTreeSet<Changes>,
    /// What is taken for granted.
    assumes: BTreeSet<Assumption>,
    /// What was declared, and what else they rest on.
    rests_on: BTreeSet<RestsOn>,
}

/// What one observer learns at one noise.
#[derive(Serialize)]
struct Summary {
    noise: f64,
    grade: Grade,
    max: Value,
    mean: Value,
    /// For each distance in hops: the number of nodes, and their largest loss.
    by_hops: Vec<(Option<u32>, usize, Value)>,
    /// A histogram: the number of nodes whose loss is 0 (an epsilon may be 0 at its delta although something
    /// is learned), then the number in each class between [`edges`], and last the number above all of them.
    by_loss: Vec<usize>,
    top: Vec<(String, Option<u32>, Value)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    row: Option<Vec<Value>>,
}

/// Edges of the histogram by loss: halves of decades from 1e-6 to 1e3.
pub(crate) fn edges() -> Vec<f64> {
    (-12..=6)
        .map(|half| if half % 2 == 0 { 10f64.powi(half / 2) } else { 10f64.powi((half - 1) / 2) * 3.0 })
        .collect()
}

impl Study {
    /// Reads the graph and builds the protocols.
    pub(crate) fn new(asked: &Sweep) -> Result<Self, Failure> {
        let (graph, matrix) = input::network(&asked.graph, asked.gossip.weights)?;
        let chosen = question::observers(&graph, &asked.observers, &asked.knowledge)?;
        let sampled = asked.observers.is_sample(graph.node_count());
        let measure = match asked.order {
            Some(order) => Measure::Renyi(Order::new(order)?),
            None => Measure::Approx(Delta::new(asked.delta)?),
        };
        let mut noises = Vec::new();
        for &noise in &asked.noises {
            noises.push((noise, question::noise(noise, asked.unit.sensitivity)?));
        }
        let mut rows = Vec::new();
        for label in &asked.rows {
            let v = input::node(&graph, label)?;
            if !chosen.observers.iter().any(|observer| observer.contains(v)) {
                return Err(Failure::Refused(format!(
                    "row {label:?} is no observer of this sweep, who are {}: name it as an observer, too",
                    chosen.description
                )));
            }
            rows.push(v);
        }
        let hash = hash(asked, &graph, &matrix, &chosen.observers, measure, &rows);
        // There is no patience here: a bound in place of a slow account would make the lines depend on the
        // speed of the machine.
        let sensitivity = asked.unit.sensitivity;
        let build = |name: &String| {
            let (protocol, parameters) = question::protocol(name, &matrix, Limit::never())?;
            Ok(((name.clone(), protocol.on_values_of(sensitivity)), parameters))
        };
        let protocols = asked.protocols.iter().map(build).collect::<Result<Vec<_>, Failure>>()?;
        let (protocols, parameters) = protocols.into_iter().unzip();
        Ok(Self {
            graph,
            coverage: chosen.audience.coverage_of_looked_at(),
            observers: chosen.observers,
            description: chosen.description,
            sampled,
            seed: asked.knowledge.seed,
            protocols,
            parameters,
            noises,
            sensitivity,
            weights: asked.gossip.weights.to_string(),
            measure,
            top: asked.top,
            rows,
            hash,
        })
    }

    /// How many items there are.
    pub(crate) fn items(&self) -> usize {
        self.protocols.len() * self.observers.len()
    }

    fn item(&self, item: usize) -> (&(String, Patient<'static>), &Observer) {
        let count = self.observers.len();
        (&self.protocols[item / count], &self.observers[item % count])
    }

    /// Rough costs of the items, in arbitrary units: the number of edges near the observer times the messages
    /// per node.
    pub(crate) fn costs(&self) -> impl Iterator<Item = u64> + '_ {
        let n = self.graph.node_count() as f64;
        let messages: Vec<f64> = self
            .protocols
            .iter()
            .map(|(_, protocol)| protocol.message_count().map_or(1.0, |count| (count / n).clamp(1.0, 1e6)))
            .collect();
        let degree = |v: usize| self.graph.degree(v) as u64;
        let around = move |v: usize| {
            degree(v) + self.graph.neighbors(v).iter().map(|&w| degree(w as usize)).sum::<u64>()
        };
        let observers = self.observers.len().max(1);
        (0..self.items()).map(move |item| {
            let (_, observer) = self.item(item);
            let seen: u64 = observer.members().iter().map(|&v| around(v)).sum();
            50 + saturated(seen as f64 * messages[item / observers])
        })
    }

    /// A rough estimate of the size of all lines in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        let labels =
            self.graph.labels().map_or(0, |labels| labels.iter().map(|label| label.len() as u64).sum());
        let label = labels / (self.graph.node_count() as u64).max(1) + 6;
        let nodes = self.graph.node_count() as u64;
        let per_noise =
            150 + 8 * edges().len() as u64 + HOPS * (NUMBER + 12) + self.top as u64 * (NUMBER + label + 8);
        let row = nodes * NUMBER;
        let of_protocol: u64 = self
            .observers
            .iter()
            .map(|observer| {
                let full = observer.members().iter().any(|v| self.rows.contains(v));
                1000 + self.noises.len() as u64 * (per_noise + if full { row } else { 0 })
            })
            .sum();
        of_protocol * self.protocols.len() as u64
    }

    /// The first line; it says what the other lines depend on, and what the numbers of each protocol are
    /// about.
    pub(crate) fn header(&self) -> Result<String, Failure> {
        let protocols: Vec<&String> = self.protocols.iter().map(|(name, _)| name).collect();
        let noises: Vec<f64> = self.noises.iter().map(|(noise, _)| *noise).collect();
        let statements: BTreeMap<&str, Value> = self.statements()?;
        Ok(json!({ "ndp-sweep": 1, "ndp": env!("CARGO_PKG_VERSION"), "build": BUILD, "hash": self.hash, "nodes": self.graph.node_count(),
            "edges": self.graph.edge_count(), "observers": self.description, "items": self.items(), "protocols": protocols,
            "parameters": self.parameters.iter().map(parameters).collect::<Vec<_>>(),
            "noises": noises, "sensitivity": self.sensitivity, "weights": self.weights, "measure": self.measure.to_string(), "loss_edges": edges(),
            "statements": statements })
        .to_string())
    }

    /// What the numbers of each protocol are about. What they rest on besides stands in the lines.
    fn statements(&self) -> Result<BTreeMap<&str, Value>, Failure> {
        let common = |at: usize| {
            let mut statement = json!(self.statement(at, &BTreeSet::new())?);
            for of_account in ["assumes", "rests_on", "failure", "by", "changes"] {
                statement.as_object_mut().and_then(|statement| statement.remove(of_account));
            }
            Ok::<_, Failure>(statement)
        };
        (0..self.protocols.len()).map(|at| Ok((self.protocols[at].0.as_str(), common(at)?))).collect()
    }

    /// The statement of the protocol at this place, with all that its accounts rest on.
    pub(crate) fn statement(&self, at: usize, granted: &BTreeSet<Granted>) -> Result<Statement, Failure> {
        let first = self.observers.first().ok_or_else(|| Failure::Refused("nobody is looked at".into()))?;
        let protocol = &self.protocols[at].1;
        let account = protocol.local_bound(first).or_else(|_| protocol.account(first))?;
        let mut statement = Statement::of(&[Said::by(account.as_ref())], &self.coverage)?;
        if matches!(self.coverage, Coverage::Named { .. }) {
            statement.observers = self.observers.iter().cloned().collect();
        }
        let rests_on = RestsOn::together(granted.iter().flat_map(|one| one.rests_on.iter().cloned()));
        Ok(Statement {
            changes: granted.iter().flat_map(|one| one.changes.iter().copied()).collect(),
            assumes: Assumption::of_one_protocol(granted.iter().flat_map(|one| one.assumes.iter().copied())),
            rests_on,
            ..statement
        })
    }

    /// The line of an item.
    pub(crate) fn line(&self, item: usize) -> Result<String, Failure> {
        let ((name, protocol), observer) = self.item(item);
        let named = plain::name(&self.graph, observer);
        let in_vain =
            |error: ndp_account::Error| Failure::Refused(format!("{name}, observer {named}: {error}"));
        let (account, bound) = protocol.look(observer, Stop::never()).map_err(in_vain)?;
        let account = protocol.scaled(account).map_err(in_vain)?;
        let hops = question::hops(&self.graph, observer);
        let hops = hops.unwrap_or_else(|| vec![None; self.graph.node_count()]);
        let outside: Vec<usize> = (0..self.graph.node_count()).filter(|&u| !observer.contains(u)).collect();
        let mut summaries = Vec::new();
        for &(noise, multiplier) in &self.noises {
            let mut losses: Vec<(f64, Grade)> = Vec::with_capacity(outside.len());
            for (at, &u) in outside.iter().enumerate() {
                if at > 0 && account.class().is_some() {
                    losses.push(losses[0]);
                    continue;
                }
                let loss = account.profile(u, multiplier).and_then(|profile| Ok(profile.loss(self.measure)?));
                let loss = loss.map_err(in_vain)?;
                losses.push((*loss.value(), loss.grade()));
            }
            let full = observer.members().iter().any(|v| self.rows.contains(v));
            summaries.push(self.summary(noise, &outside, &losses, &hops, full));
        }
        let rank = account.unit_losses().map(|report| report.rank);
        let granted = Granted {
            changes: BTreeSet::from([account.terms().changes]),
            assumes: account.assumptions().into_iter().collect(),
            rests_on: RestsOn::together(account.rests_on()),
        };
        let by: BTreeSet<String> = account.theorems().iter().map(ToString::to_string).collect();
        Ok(json!({ "item": item, "protocol": name, "observer": named, "rank": rank, "failure": account.failure(),
            "bound": bound.as_ref().map(patience::reason), "granted": granted, "by": by, "at": summaries })
        .to_string())
    }

    fn summary(
        &self,
        noise: f64,
        outside: &[usize],
        losses: &[(f64, Grade)],
        hops: &[Option<u32>],
        full: bool,
    ) -> Summary {
        let edges = edges();
        let mut by_loss = vec![0; edges.len() + 2];
        let mut classes: BTreeMap<Option<u32>, (usize, f64)> = BTreeMap::new();
        let (mut sum, mut max) = (0.0_f64, 0.0_f64);
        for (&u, &(loss, _)) in outside.iter().zip(losses) {
            let class = if loss == 0.0 { 0 } else { 1 + edges.partition_point(|&edge| edge <= loss) };
            by_loss[class] += 1;
            let class = classes.entry(hops[u]).or_insert((0, 0.0));
            *class = (class.0 + 1, class.1.max(loss));
            sum += loss;
            max = max.max(loss);
        }
        let count = outside.len().max(1) as f64;
        let mut worst: Vec<usize> = (0..losses.len()).collect();
        // The sort is stable: nodes with equal losses stay in their order.
        worst.sort_by(|&a, &b| losses[b].0.total_cmp(&losses[a].0));
        worst.truncate(self.top);
        let top = worst.iter().map(|&at| {
            let u = outside[at];
            (input::label(&self.graph, u), hops[u], finite(losses[at].0))
        });
        let exact = losses.iter().all(|(_, grade)| *grade == Grade::Exact);
        let known = |loss: f64| if outside.is_empty() { Value::Null } else { finite(loss) };
        let row = full.then(|| {
            let mut row = vec![Value::Null; self.graph.node_count()];
            outside.iter().zip(losses).for_each(|(&u, &(loss, _))| row[u] = finite(loss));
            row
        });
        Summary {
            noise,
            grade: if exact { Grade::Exact } else { Grade::UpperBound },
            max: known(max),
            // The factor covers the rounding errors of a sum of nonnegative terms and of the quotient.
            mean: known(sum / count * (1.0 + (count + 2.0) * f64::EPSILON)),
            by_hops: classes.into_iter().map(|(hops, (count, max))| (hops, count, finite(max))).collect(),
            by_loss,
            top: top.collect(),
            row,
        }
    }
}

/// The digits of a loss with its separator, for the estimate of the size.
const NUMBER: u64 = 20;

/// The assumed number of distance classes; a network of some thousands of nodes has about as many.
const HOPS: u64 = 12;

/// `⌊x⌋`, or the largest `u64` if `x` is too large.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "such casts saturate, which is what is promised"
)]
fn saturated(x: f64) -> u64 {
    x as u64
}

/// A hash of everything that the lines depend on: version, graph and options. Paths do not enter.
fn hash(
    asked: &Sweep,
    graph: &Graph,
    matrix: &GossipMatrix,
    observers: &[Observer],
    measure: Measure,
    rows: &[usize],
) -> String {
    let mut hash = Sha256::new();
    let observers: Vec<String> = observers.iter().map(ToString::to_string).collect();
    let options = json!({ "ndp": env!("CARGO_PKG_VERSION"), "protocols": asked.protocols, "noises": asked.noises,
        "sensitivity": asked.unit.sensitivity, "weights": format!("{:?}", asked.gossip.weights), "measure": measure.to_string(),
        "top": asked.top, "rows": rows, "nodes": graph.node_count(), "labels": graph.labels(), "observers": observers,
        "hidden_senders": asked.knowledge.hidden_senders, "without_own_noise": asked.knowledge.without_own_noise });
    hash.update(options.to_string());
    for (u, v) in graph.edges() {
        hash.update((u as u64).to_le_bytes());
        hash.update((v as u64).to_le_bytes());
        if asked.gossip.weights == Weights::File {
            hash.update(matrix.get(u, v).to_le_bytes());
        }
    }
    hex(&hash.finalize())
}
