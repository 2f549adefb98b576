//! Programs whose steps are one noise and then powers of one matrix, whoever wrote them. The structure is
//! found in the steps alone, in whatever order they stand, and such programs are accounted for by the powers.

use crate::account::{Found, ProgramAccount};
use crate::adaptivity::Dependence;
use crate::build::{Event, Program, Reads, Seeing};
use crate::enclose::Ends;
use crate::gram::NodeGram;
use crate::mixing::MixingMatrix;
use crate::observers::Seen;
use crate::options::AccountOptions;
use crate::registers::Definition;
use crate::{Engine, VectorProgram};
use ndarray::Array2;
use ndp_account::{Error, Observer};
use ndp_certify::account::Budget;
use ndp_graph::gossip_matrix::Weights;
use ndp_graph::{GossipMatrix, Graph};
use ndp_numeric::rounding::Interval;
use num_rational::BigRational;
use num_traits::{One, ToPrimitive, Zero};
use std::collections::{BTreeMap, BTreeSet};

/// What a program does, if it adds noise of one variance to the value of every node once, and then nothing
/// but rounds in which every node sends its value to its neighbors and takes the mean `x ← W x`.
#[derive(Debug)]
pub(super) struct Powers {
    pub(super) matrix: GossipMatrix,
    pub(super) rounds: usize,
    variance: f64,
}

/// The row of a matrix: weights by node.
type Row = BTreeMap<usize, BigRational>;

impl Program {
    /// The account of a program of one noise and powers of one matrix; `None` for other programs.
    pub(super) fn by_powers(
        &self,
        observer: &Observer,
        options: &AccountOptions,
        asked: &[bool],
    ) -> Result<Option<ProgramAccount>, Error> {
        if !options.directions.is_empty() || self.events.len() < options.powers_from {
            return Ok(None);
        }
        let seen = Seen::outline(self, observer, &BTreeMap::new())?;
        if seen.rows.len() < options.powers_from {
            return Ok(None);
        }
        let Some(powers) = self.powers() else { return Ok(None) };
        let found = powers.account(observer, &seen, asked, options)?;
        Ok(found.map(|found| self.report(observer, options, (seen, Dependence::Fixed), found)))
    }

    /// The matrix and the number of rounds, if these are all the steps; `None` for other programs, and if the
    /// matrix is none whose exact entries a [`GossipMatrix`] stands for.
    pub(super) fn powers(&self) -> Option<Powers> {
        let variance = self.one_noise()?;
        let senders = self.senders()?;
        let mut steps = Steps {
            program: self,
            senders,
            at: vec![None; self.values.len()],
            layers: Vec::new(),
            rows: Vec::new(),
        };
        (0..self.values.len()).try_for_each(|value| steps.place(value))?;
        let graph = steps.graph()?;
        let rounds = steps.layers.len();
        let matrix = matrix(&graph, &steps.rows)?;
        self.all_is_sent(&steps, &graph).then_some(Powers { matrix, rounds, variance })
    }

    /// The variance of the noise, if every node has a value and a noise of its own, of one variance for all.
    fn one_noise(&self) -> Option<f64> {
        let n = self.nodes;
        let once = |list: &mut dyn Iterator<Item = usize>| list.collect::<BTreeSet<usize>>().len() == n;
        let alike = self.changes.is_empty()
            && self.contributions.len() == n
            && self.contributions.iter().all(|use_| use_.reads == Reads::Nothing)
            && once(&mut self.contributions.iter().map(|use_| use_.node))
            && self.noises.len() == n;
        let variance = self.noises.first().filter(|_| alike)?.variance.clone();
        let same = self.noises.iter().all(|noise| noise.variance == variance);
        let near = variance.to_f64().filter(|x| same && *x > 0.0 && x.is_finite())?;
        (BigRational::from_float(near)? == variance).then_some(near)
    }

    /// For every value the node that sends it, or that draws it in the case of a noise. `None` if a value has
    /// several of them, or somebody learns a value in another way.
    fn senders(&self) -> Option<Vec<Option<usize>>> {
        let mut senders: Vec<Option<usize>> = vec![None; self.values.len()];
        for Event { value, seeing, .. } in self.events.iter() {
            let sender = match (seeing, &self.values[*value]) {
                (Seeing::Held { by }, Definition::Noise(_)) => by,
                (Seeing::Message { from, .. }, Definition::Sum(_) | Definition::Mixed { .. }) => from,
                _ => return None,
            };
            let held = matches!(seeing, Seeing::Held { .. });
            if senders[*value].is_some_and(|other| held || other != *sender) {
                return None;
            }
            senders[*value] = Some(*sender);
        }
        Some(senders)
    }

    /// Whether the messages are those of every node to every neighbor in every round, and no others.
    fn all_is_sent(&self, steps: &Steps<'_>, graph: &Graph) -> bool {
        let mut sent: BTreeSet<(usize, usize)> = BTreeSet::new();
        for Event { value, seeing, .. } in self.events.iter() {
            if let Seeing::Message { from, to } = seeing
                && !(graph.has_edge(*from, *to) && sent.insert((*value, *to)))
            {
                return false;
            }
        }
        sent.len() == 2 * graph.edge_count() * steps.layers.len()
    }
}

/// The rounds of a program, as far as its values were looked at.
struct Steps<'p> {
    program: &'p Program,
    senders: Vec<Option<usize>>,
    /// For every value that is sent, its round; its node is the sender.
    at: Vec<Option<usize>>,
    /// For every round the number of values that are sent in it.
    layers: Vec<usize>,
    /// The rows of the matrix that are known.
    rows: Vec<Option<Row>>,
}

impl Steps<'_> {
    /// Finds the round of a value; `None` if the program has another structure.
    fn place(&mut self, value: usize) -> Option<()> {
        let definition = &self.program.values[value];
        if matches!(definition, Definition::Contribution(_) | Definition::Noise(_)) {
            return Some(());
        }
        let Some(node) = self.senders[value] else {
            // A value that nobody sends may be a result. If another one is made of it, that one has no round.
            return Some(());
        };
        let terms = definition.terms();
        let round = if self.is_first(node, &terms) {
            0
        } else {
            let mut row = Row::new();
            let before = self.at[terms.first()?.0]?;
            for (term, weight) in terms {
                let sender = self.senders[term].filter(|_| self.at[term] == Some(before))?;
                if row.insert(sender, weight.clone()).is_some() {
                    return None;
                }
            }
            self.rows.resize(self.program.nodes, None);
            match &mut self.rows[node] {
                Some(known) if *known != row => return None,
                Some(_) => {}
                unknown => *unknown = Some(row),
            }
            before + 1
        };
        self.at[value] = Some(round);
        if self.layers.len() <= round {
            self.layers.resize(round + 1, 0);
        }
        self.layers[round] += 1;
        Some(())
    }

    /// Whether these are the value of the node and its noise.
    fn is_first(&self, node: usize, terms: &[(usize, &BigRational)]) -> bool {
        let (mut values, mut noises) = (0, 0);
        for (term, weight) in terms {
            match self.program.values[*term] {
                Definition::Contribution(k) if self.program.contributions[k].node == node => values += 1,
                Definition::Noise(_) if self.senders[*term] == Some(node) => noises += 1,
                _ => return false,
            }
            if !weight.is_one() {
                return false;
            }
        }
        (values, noises) == (1, 1)
    }

    /// The graph of the matrix, if every node sends one value in every round and has a row.
    fn graph(&self) -> Option<Graph> {
        let n = self.program.nodes;
        if self.layers.len() < 2 || self.layers.iter().any(|&count| count != n) || self.rows.len() != n {
            return None;
        }
        let mut edges: BTreeSet<(usize, usize)> = BTreeSet::new();
        for (u, row) in self.rows.iter().enumerate() {
            edges.extend(row.as_ref()?.keys().filter(|&&v| v != u).map(|&v| (u.min(v), u.max(v))));
        }
        Graph::from_edges(n, edges).ok()
    }
}

/// The gossip matrix with exactly these entries: by a rule, or with entries that are floats.
fn matrix(graph: &Graph, rows: &[Option<Row>]) -> Option<GossipMatrix> {
    let rules = [Weights::Metropolis, Weights::MaxDegree, Weights::SumDegree, Weights::Regular];
    let by_rule = rules.into_iter().map(|rule| GossipMatrix::new(graph, rule).ok());
    let entry =
        |u: usize, v: usize| rows[u].as_ref().and_then(|row| row.get(&v)?.to_f64()).unwrap_or(f64::NAN);
    let given = std::iter::once_with(|| GossipMatrix::from_edge_weights(graph, entry).ok());
    by_rule.chain(given).flatten().find(|matrix| {
        let exact = MixingMatrix::from(matrix);
        let known = |(u, row): (usize, &Option<Row>)| {
            let (row, mine) = (row.as_ref(), exact.row(u));
            row.is_some_and(|row| {
                let nonzero = row.iter().filter(|(_, x)| !x.is_zero());
                nonzero.clone().count() == mine.len()
                    && nonzero.zip(mine).all(|((v, x), (w, y))| *v == *w as usize && x == y)
            })
        };
        rows.iter().enumerate().all(known)
    })
}

impl Powers {
    /// What the observer learns about every node that was asked for. `None` for an observer who sees
    /// something else than what its members hear, and where nothing is certified.
    ///
    /// # Errors
    /// Those of the engine.
    pub(super) fn account(
        &self,
        observer: &Observer,
        seen: &Seen,
        asked: &[bool],
        options: &AccountOptions,
    ) -> Result<Option<Found>, Error> {
        let nodes = self.matrix.node_count();
        let mut members = observer.members().to_vec();
        members.sort_unstable();
        if members.is_empty() || !observer.tapped.is_empty() {
            return Ok(None);
        }
        let budget =
            Budget { memory: options.memory_limit, bits: options.precision_limit, stop: &options.stop };
        let stated = VectorProgram::new(nodes).noise(1.0).rounds(&self.matrix, self.rounds);
        let found = stated.certificate(&members, budget)?;
        if !found.certified {
            return Ok(None);
        }
        let gram = |node: usize| -> Option<NodeGram> {
            if seen.members[node] || !asked[node] {
                return None;
            }
            let mut gram = NodeGram::empty(node, 1);
            let ends = Interval::between(found.lower[node], found.upper[node]) / Interval::new(self.variance);
            let (low, high) = (ends.low().max(0.0), ends.high());
            // A value that is not heard of in time occurs in no row.
            if found.upper[node] > 0.0 {
                gram.places[0] = Some(0);
                gram.diagonal.push(Ends { low, high });
                gram.leaks.push(false);
                gram.structural.push(f64::INFINITY);
                let middle = low + (high - low) / 2.0;
                let apart = (high - low) * 0.75;
                gram.entries = Some((Array2::from_elem((1, 1), middle), Array2::from_elem((1, 1), apart)));
            }
            Some(gram)
        };
        let grams = (0..nodes).map(gram).collect();
        let (rank, bits, failure) = (found.rank - members.len(), found.bits, found.failure);
        Ok(Some(Found { grams, rank, bits, failure, engine: Engine::Powers }))
    }
}
