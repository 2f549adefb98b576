//! Permutations of the nodes that preserve a program, each of which is checked step by step.

use crate::build::{Program, Reads, Seeing};
use crate::registers::Definition;
use ndp_graph::Graph;
use ndp_graph::symmetries::{is_permutation, symmetries};
use num_rational::BigRational;
use num_traits::{One, Signed as _, Zero};
use std::collections::{BTreeMap, BTreeSet};

/// The nonzero weights of values, in ascending order of values.
type Form = Vec<(usize, BigRational)>;

/// A value, or its negative.
type Signed = (usize, bool);

/// How a value is seen: the kind of event and its nodes in order; a group is ascending.
type Sight = (u8, Vec<usize>);

/// The kind of a noise: its holders and its variance. Noises of the same kind are numbered.
type Kind<'a> = (Vec<usize>, &'a BigRational);

/// The parts of a program, independently of the order in which they were added.
struct Parts<'a> {
    program: &'a Program,
    /// The contributions by node and index of the use.
    contributions: BTreeMap<(usize, usize), usize>,
    noises: BTreeMap<Kind<'a>, Vec<usize>>,
    /// For every noise, its kind, its index among those of this kind, and its first holder.
    kinds: Vec<(Kind<'a>, usize, Option<usize>)>,
    /// The first holder of a noise, by the value of the noise.
    first: BTreeMap<usize, usize>,
    sums: BTreeMap<Form, usize>,
    /// Which values are seen, and how; seeing a value is the same as seeing its negative.
    sights: BTreeSet<(usize, Sight)>,
}

impl Program {
    /// The largest number of terms of sums, and of events, of a program for which
    /// [`symmetries`](Self::symmetries) are looked for.
    pub const SEARCHED_FOR_SYMMETRIES: usize = 1_000_000;

    /// Permutations of the nodes that preserve the program, with `π(u)` at place `u`: if node `π(u)` has the
    /// data that `u` had, then what `π(S)` sees has the law of what `S` saw, for every set `S` of nodes.
    /// Those that are found are exact; some may be missed. None is looked for in large programs, if nodes
    /// join or leave, or if something is contributed after something was seen.
    ///
    /// Contributions are mapped to those with the same index. Noises are mapped to noises of the same
    /// variance that the images of their holders hold, with the other sign if two holders are exchanged (a
    /// Gaussian noise has the law of its negative). Sums are mapped to sums of the images with the same
    /// weights, and events to events. The program is then the same up to names.
    ///
    /// # Examples
    /// ```
    /// use ndp_graph::{GossipMatrix, generators::path_graph};
    /// use ndp_program::constructors;
    /// let gossip = constructors::muffliato(&GossipMatrix::metropolis(&path_graph(3)?), 2)?;
    /// assert_eq!(gossip.symmetries(), [[2, 1, 0]]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn symmetries(&self) -> Vec<Vec<u32>> {
        let terms: usize = self.values.iter().map(|definition| definition.terms().len()).sum();
        let reads = self.contributions.iter().any(|one| one.reads != Reads::Nothing);
        if reads
            || !self.changes.is_empty()
            || self.trusted().contributes_late
            || terms.saturating_add(self.events.len()) > Self::SEARCHED_FOR_SYMMETRIES
        {
            return Vec::new();
        }
        let Some(graph) = self.who_meets_whom() else { return Vec::new() };
        let candidates = symmetries(&graph);
        if candidates.is_empty() {
            return candidates;
        }
        let parts = Parts::of(self);
        candidates.into_iter().filter(|permutation| parts.are_kept_by(permutation)).collect()
    }

    /// The graph of nodes that hear of one another, or hold the same noise.
    fn who_meets_whom(&self) -> Option<Graph> {
        let mut edges: BTreeSet<(usize, usize)> = BTreeSet::new();
        let mut meet = |u: usize, v: usize| {
            if u != v {
                edges.insert((u.min(v), u.max(v)));
            }
        };
        let mut holders: BTreeMap<usize, usize> = BTreeMap::new();
        for event in self.events.iter() {
            match &event.seeing {
                Seeing::Message { from, to } => meet(*from, *to),
                Seeing::Broadcast { .. } => {}
                Seeing::SecureSum { to, group } => group.iter().for_each(|&from| meet(from, *to)),
                Seeing::Held { by } => {
                    let first = *holders.entry(event.value).or_insert(*by);
                    meet(first, *by);
                }
            }
        }
        Graph::from_edges(self.nodes, edges).ok()
    }
}

impl<'a> Parts<'a> {
    fn of(program: &'a Program) -> Self {
        let contributions =
            program.contributions.iter().map(|one| ((one.node, one.index), one.value)).collect();
        let mut holders: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        let mut first: BTreeMap<usize, usize> = BTreeMap::new();
        for event in program.events.iter() {
            if let Seeing::Held { by } = event.seeing {
                holders.entry(event.value).or_default().insert(by);
                first.entry(event.value).or_insert(by);
            }
        }
        let mut noises: BTreeMap<Kind<'a>, Vec<usize>> = BTreeMap::new();
        let mut kinds = Vec::with_capacity(program.noises.len());
        for noise in program.noises.iter() {
            let held = holders.get(&noise.value).into_iter().flatten().copied().collect();
            let kind: Kind<'a> = (held, &noise.variance);
            let alike = noises.entry(kind.clone()).or_default();
            kinds.push((kind, alike.len(), first.get(&noise.value).copied()));
            alike.push(noise.value);
        }
        let (mut sums, mut same) = (BTreeMap::new(), Vec::with_capacity(program.values.len()));
        for (value, definition) in program.values.iter().enumerate() {
            same.push(match definition {
                Definition::Contribution(_) | Definition::Noise(_) => (value, false),
                Definition::Sum(_) | Definition::Mixed { .. } => {
                    let form = combined(definition, &same);
                    resolved(&sums, &form).unwrap_or_else(|| {
                        sums.insert(form, value);
                        (value, false)
                    })
                }
            });
        }
        let seen = program.events.iter().map(|event| (same[event.value].0, sight(&event.seeing, |v| v)));
        let sights = seen.collect();
        Self { program, contributions, noises, kinds, first, sums, sights }
    }

    /// Whether a permutation of the nodes leaves the program unchanged, up to names.
    fn are_kept_by(&self, permutation: &[u32]) -> bool {
        if !is_permutation(permutation, self.program.nodes) {
            return false;
        }
        let to = |v: usize| permutation[v] as usize;
        let mut image: Vec<Signed> = Vec::with_capacity(self.program.values.len());
        for definition in self.program.values.iter() {
            let found = match definition {
                Definition::Contribution(k) => {
                    let one = &self.program.contributions[*k];
                    self.contributions.get(&(to(one.node), one.index)).map(|&value| (value, false))
                }
                Definition::Noise(k) => self.noise(*k, to),
                Definition::Sum(_) | Definition::Mixed { .. } => {
                    resolved(&self.sums, &combined(definition, &image))
                }
            };
            let Some(found) = found else { return false };
            image.push(found);
        }
        let moved = self.program.events.iter().map(|event| (image[event.value].0, sight(&event.seeing, to)));
        moved.collect::<BTreeSet<_>>() == self.sights
            && (0..self.program.nodes).all(|v| self.program.uses(v) == self.program.uses(to(v)))
    }

    /// The image of a noise.
    fn noise(&self, k: usize, to: impl Fn(usize) -> usize) -> Option<Signed> {
        let ((held, variance), place, first) = &self.kinds[k];
        let mut held: Vec<usize> = held.iter().map(|&v| to(v)).collect();
        held.sort_unstable();
        let pair = held.len() == 2;
        let value = *self.noises.get(&(held, *variance))?.get(*place)?;
        Some((value, pair && self.first.get(&value).copied() != first.map(to)))
    }
}

/// A sum in terms of the images of its values.
fn combined(definition: &Definition, stands: &[Signed]) -> Form {
    let mut form: BTreeMap<usize, BigRational> = BTreeMap::new();
    for (value, weight) in definition.terms() {
        let (value, negative) = stands[value];
        let sum = form.entry(value).or_insert_with(BigRational::zero);
        if negative { *sum -= weight } else { *sum += weight }
    }
    form.into_iter().filter(|(_, weight)| !weight.is_zero()).collect()
}

/// The value with this form, or the value whose negative has it.
fn resolved(sums: &BTreeMap<Form, usize>, form: &Form) -> Option<Signed> {
    if let [(value, weight)] = form.as_slice()
        && weight.abs().is_one()
    {
        return Some((*value, weight.is_negative()));
    }
    if let Some(&value) = sums.get(form) {
        return Some((value, false));
    }
    let negative: Form = form.iter().map(|(value, weight)| (*value, -weight)).collect();
    sums.get(&negative).map(|&value| (value, true))
}

fn sight(seeing: &Seeing, to: impl Fn(usize) -> usize) -> Sight {
    match seeing {
        Seeing::Message { from, to: receiver } => (0, vec![to(*from), to(*receiver)]),
        Seeing::Broadcast { from } => (1, from.iter().map(|&v| to(v)).collect()),
        Seeing::SecureSum { to: receiver, group } => {
            let mut group: Vec<usize> = group.iter().map(|&v| to(v)).collect();
            group.sort_unstable();
            (2, std::iter::once(to(*receiver)).chain(group).collect())
        }
        Seeing::Held { by } => (3, vec![to(*by)]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Declared, ProgramError, Reads, SensitivitySet, constructors};
    use ndp_account::{Audience, Coverage, Covered, Error, Observer, Protocol, accounts};
    use ndp_dp::NoiseMultiplier;
    use ndp_graph::{GossipMatrix, generators, progress::Silent};

    /// Every node's own account gives what that of the first node gives in its place.
    #[test]
    fn programs_on_a_ring_need_one_account() -> Result<(), Error> {
        let (ring, noise) = (generators::cycle_graph(7)?, NoiseMultiplier::new(1.5)?);
        let matrix = GossipMatrix::metropolis(&ring);
        for program in [constructors::muffliato(&matrix, 3)?, constructors::decor(&ring, 2, 1, 1)?] {
            let protocol = Declared::new(program, SensitivitySet::UseLevel);
            let look = |observers: &[Observer]| accounts(&protocol, observers, &Silent);
            let covered = Covered::of(&protocol, &Audience::chosen(7, &[3])?, look)?;
            assert_eq!(covered.coverage, Coverage::Symmetric { looked_at: 1, nodes: 7 });
            for account in &covered.accounts {
                let own = protocol.account(account.observer())?;
                for u in (0..7).filter(|&u| !account.observer().contains(u)) {
                    let mu = |account: &dyn ndp_account::Account| -> Result<f64, Error> {
                        Ok(account.profile(u, noise)?.mu().map_or(f64::NAN, |mu| mu.value().mu()))
                    };
                    let (mirrored, own) = (mu(account.as_ref())?, mu(own.as_ref())?);
                    assert!((mirrored - own).abs() < 1e-9, "{mirrored} {own}");
                }
            }
        }
        Ok(())
    }

    /// On a ring of four nodes, with one difference: in a weight, a variance, a message, a use, or a holder
    /// of a noise.
    #[test]
    fn whatever_differs_is_seen() -> Result<(), ProgramError> {
        let program = |weight: i64, variance: i64, message: bool, twice: bool, holder: usize| {
            let mut program = Program::new(4)?;
            let x = program.contribute_all(Reads::Nothing)?;
            if twice {
                program.contribute(1, Reads::Nothing)?;
            }
            for (v, &value) in x.iter().enumerate() {
                let z =
                    program.noise([if v == 0 { holder } else { v }], if v == 0 { variance } else { 2 })?;
                let masked = program.combine([(1, value), (if v == 0 { weight } else { 1 }, z)])?;
                program.send(v, (v + 1) % 4, masked)?;
                if v != 2 || message {
                    program.send(v, (v + 3) % 4, masked)?;
                }
            }
            Ok::<_, ProgramError>(program.symmetries().len())
        };
        assert!(program(1, 2, true, false, 0)? >= 2);
        // Nodes 1 and 3 are still alike.
        assert_eq!(program(3, 2, true, false, 0)?, 1);
        assert_eq!(program(1, 3, true, false, 0)?, 1);
        // At most one pair of nodes is alike.
        assert!(program(1, 2, false, false, 0)? <= 1);
        assert!(program(1, 2, true, true, 0)? <= 1);
        assert!(program(1, 2, true, false, 2)? <= 1);
        Ok(())
    }
}
