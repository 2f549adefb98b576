//! Decides from the lines of a file alone whether its claims are true, with dense rows over all primitives in
//! rationals.

use super::super::twin::{Primitive, Row, Sight, Truth, Twin, truth, unseen};
use ndp_account::Observer;
use num_rational::BigRational;
use num_traits::{One, Zero};
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet};

/// The program in a file, as dense rows.
pub(super) struct Text {
    twin: Twin,
}

/// Whether all claims of a file hold; `None` if it claims nothing, because it is malformed or because a
/// contribution reads a value that the observer had not seen.
pub(super) fn judged(lines: &[Json]) -> Option<bool> {
    let set = lines.first()?.get("set")?;
    let over = lines.iter().position(|line| line.get("end").and_then(Json::as_str) == Some("program"))?;
    let text = Text::read(&lines[..=over])?;
    let (last, pairs) = lines[over + 1..].split_last()?;
    if last.get("end")?.as_str()? != "proof" || pairs.is_empty() {
        return None;
    }
    let (mut holds, mut largest, mut places) = (true, BigRational::zero(), BTreeSet::new());
    for pair in pairs {
        let (observer, source) =
            (observer(pair.get("observer")?, text.twin.nodes)?, index(pair.get("source")?)?);
        if source >= text.twin.nodes || observer.contains(source) || text.is_hidden(&observer) {
            return None;
        }
        let (upper, lower) = (number(pair.get("upper")?)?, number(pair.get("lower")?)?);
        let truth = text.loss(set, &observer, source)?;
        holds &= truth.is_some_and(|truth| lower <= truth && truth <= upper);
        holds &= places.insert((observer.members().to_vec(), observer.tapped.clone(), source));
        largest = largest.max(upper);
    }
    holds &= index(last.get("pairs")?)? == places.len() && largest <= number(last.get("largest")?)?;
    if last.get("covers")?.as_str()? == "every-pair" {
        let n = text.twin.nodes;
        let all = (0..n).flat_map(|v| (0..n).filter(move |&u| u != v).map(move |u| (vec![v], Vec::new(), u)));
        holds &= all.into_iter().all(|place| places.contains(&place));
    }
    Some(holds)
}

impl Text {
    /// Reads a program from the lines up to its end, the first of which names the set of changes. `None` if a
    /// line does not follow the format.
    pub(super) fn read(lines: &[Json]) -> Option<Self> {
        let nodes = index(lines.get(1)?.get("nodes")?)?;
        let mut reader =
            Reader { twin: Twin::new(nodes).ok()?, names: BTreeMap::new(), matrices: BTreeMap::new() };
        let (_, steps) = lines.get(2..)?.split_last()?;
        steps.iter().try_for_each(|step| reader.step(step))?;
        Some(Self { twin: reader.twin })
    }

    /// Whether some contribution reads a value that the observer had not seen before.
    pub(super) fn is_hidden(&self, observer: &Observer) -> bool {
        unseen(&self.twin, observer)
    }

    /// Whether the loss is finite, so that the observer sees no change of the set without noise.
    pub(super) fn is_finite(&self, set: &Json, observer: &Observer, source: usize) -> bool {
        matches!(self.loss(set, observer, source), Some(Some(_)))
    }

    /// The loss under a set of changes; `Some(None)` if it is infinite, `None` if the set is for another
    /// number of uses. For vectors this is the loss for signs, which is not larger.
    fn loss(&self, set: &Json, observer: &Observer, source: usize) -> Option<Option<BigRational>> {
        let truth = truth(&self.twin, observer, source);
        let k = truth.gram.len();
        let along = |change: &[BigRational]| (!truth.leaking(change)).then(|| truth.along(change));
        if let Some(weights) = set.get("along") {
            let change: Row = weights.as_array()?.iter().map(number).collect::<Option<_>>()?;
            return (change.len() == k).then(|| along(&change));
        }
        let joint = set.get("vectors").is_some();
        Some(match set.as_str() {
            Some("same-direction") => along(&vec![BigRational::one(); k]),
            Some("use-level") if truth.leaks.is_empty() => {
                Some((0..k).map(|i| truth.gram[i][i].clone()).fold(BigRational::zero(), BigRational::max))
            }
            Some("signs") if truth.leaks.is_empty() => Some(of_signs(&truth, k)),
            None if joint && truth.leaks.is_empty() => Some(of_signs(&truth, k)),
            Some("use-level" | "signs") => None,
            None if joint => None,
            _ => return None,
        })
    }
}

/// The largest loss over all changes by 1 or -1 in each use.
fn of_signs(truth: &Truth, k: usize) -> BigRational {
    let sign =
        |mask: u64, i: usize| BigRational::from_integer(if mask >> i & 1 == 1 { 1 } else { -1 }.into());
    let change = |mask: u64| (0..k).map(|i| sign(mask, i)).collect::<Row>();
    // The last sign is fixed, because s and -s have the same loss.
    (0..1_u64 << k.saturating_sub(1))
        .map(|mask| truth.along(&change(mask)))
        .fold(BigRational::zero(), BigRational::max)
}

struct Reader {
    twin: Twin,
    names: BTreeMap<String, usize>,
    matrices: BTreeMap<String, Vec<Vec<(usize, BigRational)>>>,
}

impl Reader {
    fn value(&self, name: &Json) -> Option<usize> {
        self.names.get(name.as_str()?).copied()
    }

    fn node(&self, node: &Json) -> Option<usize> {
        index(node).filter(|&node| node < self.twin.nodes)
    }

    fn push(&mut self, name: &Json, form: Row) -> Option<()> {
        self.twin.forms.push(form);
        let taken = self.names.insert(name.as_str()?.to_owned(), self.twin.forms.len() - 1);
        taken.is_none().then_some(())
    }

    fn see(&mut self, value: &Json, by: Option<Vec<usize>>, edge: Option<(usize, usize)>) -> Option<()> {
        let (value, moment) = (self.value(value)?, self.twin.moment);
        self.twin.sights.push(Sight { value, moment, by, edge });
        Some(())
    }

    fn step(&mut self, step: &Json) -> Option<()> {
        self.twin.moment += 1;
        if let Some(name) = step.get("matrix") {
            let entry = |(column, x): (&String, &Json)| Some((column.parse().ok()?, number(x)?));
            let row = |row: &Json| row.as_object()?.iter().map(entry).collect::<Option<Vec<_>>>();
            let rows = step.get("entries")?.as_array()?.iter().map(row).collect::<Option<Vec<_>>>()?;
            self.matrices.insert(name.as_str()?.to_owned(), rows);
        } else if let Some(name) = step.get("contribute") {
            let node = self.node(step.get("node")?)?;
            let (at, form) = self.twin.unit(Primitive::Use(node));
            match step.get("reads")? {
                Json::String(text) if text == "nothing" || text == "seen" => {}
                reads => {
                    let list = reads.get("seen")?.as_array()?.iter().map(|name| self.value(name));
                    let list = list.collect::<Option<Vec<usize>>>()?;
                    self.twin.readers.push((node, at, self.twin.moment, list));
                }
            }
            self.push(name, form)?;
        } else if let Some(name) = step.get("noise") {
            let variance = number(step.get("variance")?)?;
            if variance < BigRational::zero() {
                return None;
            }
            let (at, form) = self.twin.unit(Primitive::Noise);
            self.twin.covariance.push((at, at, variance));
            self.push(name, form)?;
        } else if let Some(sum) = step.get("sum") {
            let term = |(name, x): (&String, &Json)| Some((*self.names.get(name)?, number(x)?));
            let terms = sum.as_object()?.iter().map(term).collect::<Option<Vec<_>>>()?;
            let form = self.twin.sum(terms.iter().map(|(value, x)| (x, *value)));
            self.push(step.get("let")?, form)?;
        } else if let Some(matrix) = step.get("gossip") {
            let rows = self.matrices.get(matrix.as_str()?)?.clone();
            let old = step.get("of")?.as_array()?.iter().map(|name| self.value(name));
            let old = old.collect::<Option<Vec<usize>>>()?;
            for (name, row) in step.get("let")?.as_array()?.iter().zip(&rows) {
                let form = self.twin.sum(row.iter().map(|(column, x)| (x, old[*column])));
                self.push(name, form)?;
            }
        } else if let Some(value) = step.get("send") {
            let (from, to) = (self.node(step.get("from")?)?, self.node(step.get("to")?)?);
            self.see(value, Some(vec![from, to]), Some((from, to)))?;
        } else if let Some(value) = step.get("broadcast").or_else(|| step.get("publish")) {
            self.see(value, None, None)?;
        } else if let Some(value) = step.get("deliver") {
            let to = self.node(step.get("to")?)?;
            self.see(value, Some(vec![to]), None)?;
        } else if let Some(value) = step.get("hold") {
            let by = self.node(step.get("by")?)?;
            self.see(value, Some(vec![by]), None)?;
        } else if step.get("join").or_else(|| step.get("leave")).or_else(|| step.get("result")).is_none() {
            return None;
        }
        Some(())
    }
}

/// An exact number that is written as text.
pub(super) fn number(x: &Json) -> Option<BigRational> {
    let (top, bottom) = x.as_str()?.split_once('/').unwrap_or((x.as_str()?, "1"));
    let (top, bottom) = (top.parse().ok()?, bottom.parse::<num_bigint::BigInt>().ok()?);
    (!bottom.is_zero()).then(|| BigRational::new(top, bottom))
}

fn index(x: &Json) -> Option<usize> {
    usize::try_from(x.as_u64()?).ok()
}

/// The observer of a pair. Members see what goes over their edges, so that taps on these are left out.
fn observer(said: &Json, nodes: usize) -> Option<Observer> {
    let members = said.get("members")?.as_array()?.iter().map(index).collect::<Option<Vec<_>>>()?;
    let tap = |pair: &Json| Some((index(pair.get(0)?)?, index(pair.get(1)?)?));
    let mut taps = said.get("taps")?.as_array()?.iter().map(tap).collect::<Option<Vec<_>>>()?;
    let known = members.iter().chain(taps.iter().flat_map(|(a, b)| [a, b])).all(|&v| v < nodes);
    let edges = taps.iter().all(|(a, b)| a != b) && taps.iter().collect::<BTreeSet<_>>().len() == taps.len();
    taps.retain(|(a, b)| !members.contains(a) && !members.contains(b));
    taps.sort_unstable();
    (known && edges).then(|| Observer::coalition(&members).tapping(&taps))
}
