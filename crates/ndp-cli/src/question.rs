//! From arguments to observers, protocols and targets.

use crate::args::{Knowledge, MAX_FOR_ALL, Observers, ProtocolChoice, TargetChoice, Uses};
use crate::errors::Failure;
use crate::input::{Names, bytes, node};
use crate::output::{note, up};
use crate::patience::{self, Limit, Patient};
use ndp_account::{Allowed, Among, Audience, Observer, Target};
use ndp_algos::registry::{self, Parameters};
use ndp_dp::{Delta, Measure, NoiseMultiplier, Order, Sigma};
use ndp_graph::{GossipMatrix, Graph};
use ndp_linalg::memory::require_dense;
use ndp_program::{Declared, Program, SensitivitySet};
use ndp_report::words;
use rand::SeedableRng;
use rand::seq::index;
use rand_chacha::ChaCha8Rng;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The observers of a question.
pub(crate) struct Chosen {
    /// The observers whose accounts are computed.
    pub(crate) observers: Vec<Observer>,
    /// These observers, and all others that the question is about.
    pub(crate) audience: Audience,
    /// The observers whose accounts are computed, in words.
    pub(crate) description: String,
}

const SAMPLE: usize = 16;

/// Whose accounts are computed on a large graph if the user names no observers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OnLargeGraph {
    /// Nodes drawn at random.
    Sample,
    /// One node of small degree, so that its account takes no time. A bound covers the others; it may be what
    /// this node learns.
    OneNode,
}

impl Chosen {
    /// Whether a bound covers all observers but the one whose account is computed.
    pub(crate) fn by_bound(&self) -> bool {
        self.audience.looking_at_all().is_some()
    }
}

/// How far every node is from the nearest member of an observer; `None` for outsiders.
pub(crate) fn hops(graph: &Graph, observer: &Observer) -> Option<Vec<Option<u32>>> {
    let nearest = |a: Vec<Option<u32>>, b: Vec<Option<u32>>| {
        a.into_iter().zip(b).map(|(a, b)| a.into_iter().chain(b).min()).collect()
    };
    observer.members().iter().map(|&v| graph.distances(v)).reduce(nearest)
}

/// The observers. By default every node; on large graphs a random sample of them is looked at.
pub(crate) fn observers(graph: &Graph, chosen: &Observers, knowledge: &Knowledge) -> Result<Chosen, Failure> {
    asked_for(graph, chosen, knowledge, None, OnLargeGraph::Sample)
}

/// The observers for a target. By default, on large graphs, those for whom the target lists limits.
pub(crate) fn observers_of(
    graph: &Graph,
    chosen: &Observers,
    knowledge: &Knowledge,
    target: Option<&Target>,
) -> Result<Chosen, Failure> {
    asked_for(graph, chosen, knowledge, target, OnLargeGraph::Sample)
}

/// Every node by default; on large graphs one account is computed, and a bound covers all other nodes.
pub(crate) fn everybody(
    graph: &Graph,
    chosen: &Observers,
    knowledge: &Knowledge,
    target: Option<&Target>,
) -> Result<Chosen, Failure> {
    asked_for(graph, chosen, knowledge, target, OnLargeGraph::OneNode)
}

/// The observers that the arguments name, or those of the default on large graphs, and what they know.
fn asked_for(
    graph: &Graph,
    chosen: &Observers,
    knowledge: &Knowledge,
    target: Option<&Target>,
    on_large: OnLargeGraph,
) -> Result<Chosen, Failure> {
    let n = graph.node_count();
    let (audience, description) = if chosen.outsider {
        (Audience::named(vec![Observer::outsider()]), "somebody outside the network".into())
    } else if !chosen.tap.is_empty() {
        let edges = chosen.tap.iter().map(|text| edge(graph, text)).collect::<Result<Vec<_>, _>>()?;
        let both: Vec<_> = edges.iter().flat_map(|&(a, b)| [(a, b), (b, a)]).collect();
        let description = format!("somebody outside the network who overhears {}", chosen.tap.join(", "));
        (Audience::named(vec![Observer::outsider().tapping(&both)]), description)
    } else if let Some(size) = chosen.coalition_size.or(chosen.neighbors) {
        if on_large != OnLargeGraph::OneNode {
            return Err(Failure::Usage(
                "--coalition-size and --neighbors are for loss, calibrate, compare and plan; elsewhere name a coalition: --coalition A,B"
                    .into(),
            ));
        }
        let among = if chosen.neighbors.is_some() { Among::Neighbors } else { Among::Everybody };
        coalitions(graph, size, among)?
    } else if let Some(labels) = &chosen.coalition {
        let members =
            labels.split(',').map(|label| node(graph, label.trim())).collect::<Result<Vec<_>, _>>()?;
        let observer = Observer::coalition(&members);
        if observer.checked(n)?.len() == n {
            return Err(Failure::Refused(format!(
                "{}: leave a node out of --coalition",
                words::NOBODY_OUTSIDE
            )));
        }
        let names: Vec<String> = members.iter().map(|&v| crate::input::label(graph, v)).collect();
        (Audience::named(vec![observer]), names.join(", ") + " together")
    } else if !chosen.observer.is_empty() {
        let found = chosen.observer.iter().map(|label| node(graph, label));
        named(graph, found.collect::<Result<Vec<_>, Failure>>()?)
    } else if chosen.all || chosen.sample.map_or(n <= MAX_FOR_ALL, |count| count >= n) {
        (Audience::every_node(n), format!("every one of {n} nodes alone"))
    } else if let (None, Some(limited)) = (chosen.sample, target.and_then(listed)) {
        named(graph, limited)
    } else if chosen.sample.is_none() && on_large == OnLargeGraph::OneNode {
        let audience = by_one_of_least_degree(graph)?;
        (audience, format!("every one of {n} nodes alone"))
    } else {
        let count = chosen.sample.unwrap_or(SAMPLE).clamp(1, n);
        let rng = &mut ChaCha8Rng::seed_from_u64(knowledge.seed);
        let drawn = index::sample(rng, n, count).into_vec();
        let description =
            format!("{count} of {n} nodes drawn at random (seed {}), each alone", knowledge.seed);
        (Audience::drawn(n, &drawn, knowledge.seed)?, description)
    };
    let known = |observer: Observer| {
        let observer = if knowledge.hidden_senders { observer.with_hidden_senders() } else { observer };
        if knowledge.without_own_noise { observer.without_own_noise() } else { observer }
    };
    let audience = audience.map(known);
    let (senders, own_noise) = crate::plain::knows(knowledge);
    let description = description + words::not_known(own_noise, senders);
    if let Some((u, v)) = target.and_then(|target| target.unanswered(audience.looked_at())) {
        let (u, v) = (crate::input::label(graph, u), crate::input::label(graph, v));
        return Err(Failure::Refused(format!(
            "there is a limit on what {v} learns about {u}, and nobody looks at that: add --observer {v}, or take --all"
        )));
    }
    let outsider = chosen.outsider || !chosen.tap.is_empty();
    let by_nodes = matches!(target, Some(Target { allowed: Allowed::Pairs(_) | Allowed::Listed(_), .. }));
    if by_nodes && outsider {
        return Err(Failure::Usage(
            "limits for pairs are for nodes that observe: an outsider has none".into(),
        ));
    }
    Ok(Chosen { observers: audience.looked_at().to_vec(), audience, description })
}

/// These nodes, each alone, in the order in which they are first named; and in words.
fn named(graph: &Graph, mut nodes: Vec<usize>) -> (Audience, String) {
    let mut seen = BTreeSet::new();
    nodes.retain(|&v| seen.insert(v));
    let labels: Vec<String> = nodes.iter().map(|&v| crate::input::label(graph, v)).collect();
    let each = if labels.len() > 1 { ", each alone" } else { "" };
    let nodes = nodes.into_iter().map(Observer::node).collect();
    (Audience::named(nodes), labels.join(", ") + each)
}

/// Every coalition of at most `size` nodes, or of so many neighbors of a node; and in words. Notes how many
/// of them are looked at.
fn coalitions(graph: &Graph, size: usize, among: Among) -> Result<(Audience, String), Failure> {
    let n = graph.node_count();
    let audience = match among {
        Among::Neighbors => Audience::neighbors(graph, size)?,
        Among::Everybody => Audience::coalitions(n, size, &hearing_little(graph, size))?,
    };
    let all = audience.others().is_empty();
    match among {
        Among::Neighbors => {
            let looked_at = all.then(|| audience.looked_at().len());
            note(&words::coalitions_of_neighbors(n, size, looked_at));
        }
        Among::Everybody if 1 < size => note(&words::coalitions(n, size, all)),
        Among::Everybody => {}
    }
    Ok((audience, format!("every coalition of at most {}", words::coalition(size, among, n))))
}

/// Every node, of which one with the least degree is looked at. The hint is, among the neighbors of all nodes
/// with the least degree, the one with the fewest neighbors.
fn by_one_of_least_degree(graph: &Graph) -> Result<Audience, Failure> {
    let n = graph.node_count();
    let degree = |&v: &usize| graph.degree(v);
    let least = (0..n).filter(|v| degree(v) > 0).min_by_key(degree);
    let few = (0..n).filter(|v| least.is_some_and(|least| graph.degree(*v) == graph.degree(least)));
    let beside = few.flat_map(|v| graph.neighbors(v).iter().map(|&w| w as usize)).min_by_key(degree);
    let one = Audience::chosen(n, &[least.unwrap_or(0)])?;
    Ok(beside.map_or_else(|| Ok(one.clone()), |beside| one.clone().hinting(beside))?)
}

/// An edge written `a-b`; labels may contain `-` themselves.
fn edge(graph: &Graph, text: &str) -> Result<(usize, usize), Failure> {
    let ends = text.match_indices('-').map(|(at, _)| (&text[..at], &text[at + 1..]));
    let known = |(a, b): (&str, &str)| Some((node(graph, a.trim()).ok()?, node(graph, b.trim()).ok()?));
    let mut found: Vec<(usize, usize)> = ends.filter_map(known).collect();
    let refused = |why: &str| Failure::Refused(format!("--tap {text}: {why}"));
    let (a, b) = match (found.pop(), found.is_empty()) {
        (Some(edge), true) => edge,
        (Some(_), false) => return Err(refused("this may be read as more than one pair of nodes")),
        (None, _) => {
            return Err(refused("say two nodes of the graph with a `-` between them, such as ann-bob"));
        }
    };
    if graph.has_edge(a, b) {
        Ok((a, b))
    } else {
        Err(refused("the two are not neighbors in the graph, and a tap is on one of its edges"))
    }
}

/// A coalition of the `size` nodes with the smallest degrees; nodes without neighbors come last.
fn hearing_little(graph: &Graph, size: usize) -> Observer {
    let mut nodes: Vec<usize> = (0..graph.node_count()).collect();
    nodes.sort_by_key(|&v| (graph.degree(v) == 0, graph.degree(v)));
    Observer::coalition(&nodes[..size.min(nodes.len())])
}

/// The observers for whom limits are listed, in ascending order.
fn listed(target: &Target) -> Option<Vec<usize>> {
    let Allowed::Listed(limits) = &target.allowed else { return None };
    let mut observers: Vec<usize> = limits.keys().map(|(_, v)| *v).collect();
    observers.sort_unstable();
    observers.dedup();
    Some(observers)
}

/// The protocol of a text `name` or `name:parameter=value,...`, within this limit.
pub(crate) fn protocol(
    text: &str,
    matrix: &GossipMatrix,
    limit: Limit,
) -> Result<(Patient<'static>, Parameters), Failure> {
    let (name, parameters) = text.split_once(':').unwrap_or((text, ""));
    let parameters: Parameters = parameters.parse()?;
    Ok(patience::built(registry::find(name)?, matrix, &parameters, limit)?)
}

/// The protocol that the user chose.
pub(crate) struct ChosenProtocol {
    /// The protocol, with the patience that the user gave.
    pub(crate) protocol: Patient<'static>,
    pub(crate) name: String,
    /// The values of all its parameters.
    pub(crate) parameters: Parameters,
}

impl ChosenProtocol {
    /// The protocol and its parameters, for a table.
    pub(crate) fn rows(&self) -> Vec<(&'static str, String)> {
        if self.parameters.0.is_empty() {
            return vec![("protocol", self.name.clone())];
        }
        let name = self.name.split(':').next().unwrap_or(&self.name);
        vec![("protocol", name.to_owned()), ("parameters", self.parameters.to_string())]
    }
}

/// The protocol that the user chose, within this limit.
pub(crate) fn chosen(
    choice: &ProtocolChoice,
    matrix: &GossipMatrix,
    limit: Limit,
) -> Result<ChosenProtocol, Failure> {
    let (Some(path), Some(uses)) = (&choice.program, choice.uses) else {
        let (protocol, parameters) = protocol(&choice.protocol, matrix, limit)?;
        return Ok(ChosenProtocol { protocol, name: choice.protocol.clone(), parameters });
    };
    let refused = |why: String| Failure::Refused(format!("{}: {why}", path.display()));
    let program = Program::read(&bytes(path)?[..]).map_err(|error| refused(error.to_string()))?;
    let nodes = program.node_count();
    if nodes != matrix.node_count() {
        return Err(refused(format!("the program has {nodes} nodes, the graph {}", matrix.node_count())));
    }
    let set = match uses {
        Uses::UseLevel => SensitivitySet::UseLevel,
        Uses::SameDirection => SensitivitySet::SameDirection,
        Uses::Signs => SensitivitySet::Signs,
    };
    let protocol = Patient::new(Box::new(Declared::new(program, set)), limit);
    Ok(ChosenProtocol { protocol, name: path.display().to_string(), parameters: Parameters::default() })
}

/// The noise in units of the sensitivity.
pub(crate) fn noise(sigma: f64, sensitivity: f64) -> Result<NoiseMultiplier, Failure> {
    Ok(Sigma::new(sigma)?.multiplier(ndp_dp::Sensitivity::new(sensitivity)?)?)
}

/// A noise in the unit of the values, rounded up.
pub(crate) fn in_unit(noise: NoiseMultiplier, sensitivity: f64) -> f64 {
    let product = noise.get() * sensitivity;
    if sensitivity == 1.0 { product } else { product.next_up() }
}

impl TargetChoice {
    /// The measure of losses, also if there is no limit.
    pub(crate) fn measure(&self) -> Result<Measure, Failure> {
        Ok(if self.renyi.is_some() {
            Measure::Renyi(Order::new(self.order)?)
        } else if self.mu.is_some() {
            Measure::Gaussian
        } else {
            Measure::Approx(Delta::new(self.delta)?)
        })
    }

    fn limit(&self) -> Option<f64> {
        self.epsilon.or(self.renyi).or(self.mu)
    }

    /// The target; `None` where no limit was given.
    pub(crate) fn target(&self, graph: &Graph) -> Result<Option<Target>, Failure> {
        let measure = self.measure()?;
        if let Some(path) = &self.pairs {
            return pairs(path, graph, measure).map(Some);
        }
        let Some(loss) = self.limit() else {
            return if self.mean {
                Err(Failure::Usage("--mean says which limit is meant: add --epsilon, --renyi or --mu".into()))
            } else {
                Ok(None)
            };
        };
        if !(0.0 < loss && loss.is_finite()) {
            return Err(Failure::Usage(format!("the loss allowed must be positive and finite, got {loss}")));
        }
        Ok(Some(if self.mean { Target::mean(measure, loss) } else { Target::worst(measure, loss) }))
    }

    /// The target, or an error if no limit was given.
    pub(crate) fn required(&self, graph: &Graph) -> Result<Target, Failure> {
        self.target(graph)?.ok_or_else(|| {
            Failure::Usage(
                "say what is allowed: --epsilon E (with --delta D), --renyi LOSS (with --order A), --mu M, or --pairs FILE"
                    .into(),
            )
        })
    }
}

/// A probability in words, rounded up.
pub(crate) fn probability(p: f64) -> String {
    if p == 0.0 { "never".into() } else { format!("with probability {} at most", up(p)) }
}

/// Limits from a file: `source observer loss` or `hops loss`, one a line.
fn pairs(path: &Path, graph: &Graph, measure: Measure) -> Result<Target, Failure> {
    let text = String::from_utf8(bytes(path)?)
        .map_err(|_| Failure::Refused(format!("{}: the file is not UTF-8 text", path.display())))?;
    let names = Names::of(graph);
    let mut by_pair: BTreeMap<(usize, usize), f64> = BTreeMap::new();
    let mut by_hops: BTreeMap<u32, f64> = BTreeMap::new();
    for (i, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let fail =
            |problem: String| Failure::Refused(format!("{}, line {}: {problem}", path.display(), i + 1));
        let fields: Vec<&str> = line.split([',', ' ', '\t', ';']).filter(|field| !field.is_empty()).collect();
        let loss = |text: &str| match text.parse::<f64>() {
            Ok(loss) if 0.0 < loss => Ok(loss),
            _ => Err(fail(format!("the loss must be a positive number, got {text:?}"))),
        };
        let repeated = match fields[..] {
            [hops, limit] => {
                let hops = hops.parse::<u32>().ok().filter(|&hops| hops > 0);
                let hops =
                    hops.ok_or_else(|| fail("the first of two fields must be a number of hops".into()))?;
                by_hops.insert(hops, loss(limit)?).is_some()
            }
            [u, v, limit] => {
                let of = |label: &str| names.node(label).map_err(|error| fail(error.to_string()));
                let (u, v) = (of(u)?, of(v)?);
                if u == v {
                    return Err(fail("what a node learns about itself is no loss".into()));
                }
                by_pair.insert((u, v), loss(limit)?).is_some()
            }
            _ => return Err(fail(format!("expected `source observer loss` or `hops loss`, got {line:?}"))),
        };
        if repeated {
            return Err(fail("this limit is given twice".into()));
        }
    }
    let limited = |any: bool| {
        let problem = "the number of pairs that have a limit must be at least 1, got 0";
        if any { Ok(()) } else { Err(Failure::Refused(format!("{}: {problem}", path.display()))) }
    };
    match (by_pair.is_empty(), by_hops.is_empty()) {
        (true, true) => Err(Failure::Refused(format!("{}: there is no limit in the file", path.display()))),
        (false, false) => {
            Err(Failure::Refused(format!("{}: limits for pairs and by hops cannot be mixed", path.display())))
        }
        (false, true) => {
            limited(by_pair.values().any(|limit| limit.is_finite()))?;
            Ok(Target::listed(measure, by_pair))
        }
        (true, false) => {
            let n = graph.node_count();
            require_dense("the distances of all pairs", n, n)?;
            let hops: Vec<_> = (0..n).map(|u| graph.distances(u)).collect();
            let limit = move |u: usize, v: usize| {
                let below = hops[u][v].and_then(|hops| by_hops.range(..=hops).next_back());
                below.map_or(f64::INFINITY, |(_, &loss)| loss)
            };
            limited((0..n).any(|u| (0..n).any(|v| u != v && limit(u, v).is_finite())))?;
            Ok(Target::pairs(measure, limit))
        }
    }
}
