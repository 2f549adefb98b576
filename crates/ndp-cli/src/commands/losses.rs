//! Losses of all pairs that are known before `--patience`, or the work that the command counts for an answer,
//! runs out.

use crate::errors::Failure;
use crate::patience::{Patient, was_out};
use crate::progress::Progress;
use crate::question;
use ndp_account::Protocol as _;
use ndp_account::parts::ByMu;
use ndp_account::{Account, Coverage, Covered, largest};
use ndp_dp::{Grade, Measure, NoiseMultiplier};
use ndp_graph::Graph;
use ndp_report::words;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use std::collections::BTreeMap;

/// What one pair loses.
#[derive(Clone, Copy)]
pub(super) struct Entry {
    pub(super) u: usize,
    /// Index of the observer.
    pub(super) observer: usize,
    pub(super) loss: f64,
    pub(super) grade: Grade,
    pub(super) hops: Option<u32>,
}

/// The loss of every pair at this noise. Nodes are taken in random order, so that for each observer the nodes
/// that are done in time are a random sample.
pub(super) fn all(
    graph: &Graph,
    protocol: &Patient<'_>,
    accounts: &[Box<dyn Account + '_>],
    noise: NoiseMultiplier,
    measure: Measure,
    (seed, quiet): (u64, bool),
) -> Result<Losses, Failure> {
    let n = graph.node_count();
    let losses = ByMu::new(measure);
    let progress = Progress::new((accounts.len() * n) as u64, "pairs", quiet);
    let mut order: Vec<usize> = (0..n).collect();
    order.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
    let one = |observer: usize, u: usize| -> Result<Option<(f64, Grade)>, Failure> {
        let found = accounts[observer].profile(u, noise).and_then(|profile| losses.loss(&profile));
        progress.one();
        match found {
            Ok(loss) => Ok(Some((*loss.value(), loss.grade()))),
            Err(error) if was_out(&error) => Ok(None),
            Err(error) => Err(error.into()),
        }
    };
    let outside =
        |observer: usize| order.iter().copied().filter(move |&u| !accounts[observer].observer().contains(u));
    // All pairs of the accounts of a class have the same loss.
    let mut firsts = BTreeMap::new();
    for (observer, account) in accounts.iter().enumerate() {
        if let (Some(class), Some(u)) = (account.class(), outside(observer).next()) {
            firsts.entry(class).or_insert((observer, u));
        }
    }
    let of_class = |(&class, &(observer, u))| Ok((class, one(observer, u)?));
    let of_classes = firsts.par_iter().map(of_class).collect::<Result<BTreeMap<_, _>, Failure>>()?;
    let of_observer = |observer: usize| -> Result<Losses, Failure> {
        let account = &accounts[observer];
        let hops = question::hops(graph, account.observer());
        let entry = |u: usize, (loss, grade): (f64, Grade)| {
            let hops = hops.as_ref().and_then(|hops| hops[u]);
            Entry { u, observer, loss, grade, hops }
        };
        let outside: Vec<usize> = outside(observer).collect();
        let mut entries: Vec<Entry> = if let Some(class) = account.class() {
            let same = of_classes.get(&class).copied().flatten();
            same.map_or_else(Vec::new, |same| outside.iter().map(|&u| entry(u, same)).collect())
        } else {
            let stop = protocol.stop_of(account.observer());
            let mut entries = Vec::new();
            for nodes in outside.chunks(AT_ONCE.div_ceil(accounts.len())) {
                let found = nodes.par_iter().map(|&u| Ok(one(observer, u)?.map(|found| entry(u, found))));
                let found = found.collect::<Result<Vec<_>, Failure>>()?;
                // With counted work these are known all or none: which of them came first depends on threads.
                if protocol.counts_work() && stop.check().is_err() {
                    break;
                }
                entries.extend(found.into_iter().flatten());
            }
            entries
        };
        entries.sort_by_key(|entry| entry.u);
        Ok(Losses { not_known: outside.len() - entries.len(), entries, bound: None, by_work: false })
    };
    let all = (0..accounts.len()).into_par_iter().map(of_observer).collect::<Result<Vec<_>, Failure>>()?;
    let not_known = all.iter().map(|found| found.not_known).sum();
    let entries: Vec<Entry> = all.into_iter().flat_map(|found| found.entries).collect();
    let mut bound = None;
    if not_known > 0 {
        // These bounds take no time.
        let bounds = accounts.iter().map(|account| protocol.local_bound(account.observer()));
        let most = bounds.collect::<Result<Vec<_>, _>>().and_then(|bounds| largest(&bounds, noise, measure));
        bound = most.ok().map(|worst| worst.map_or(0.0, |worst| *worst.loss.value()));
    }
    if entries.is_empty() && not_known > 0 && bound.is_none() {
        return Err(Failure::Refused(if protocol.counts_work() {
            "every loss takes more work than the default allows: --patience SECONDS gives it more, or take fewer \
             observers, rounds or steps"
                .into()
        } else {
            "no loss was known in time: more --patience, fewer observers, rounds or steps".into()
        }));
    }
    Ok(Losses { entries, not_known, bound, by_work: protocol.counts_work() })
}

/// The losses that were computed, and the number of pairs that were not known in time.
pub(super) struct Losses {
    pub(super) entries: Vec<Entry>,
    pub(super) not_known: usize,
    /// An upper bound on the loss of each pair that is not known.
    pub(super) bound: Option<f64>,
    /// Whether counted work was the limit, and not time.
    by_work: bool,
}

impl Losses {
    /// A note about the pairs that are not known, if there are any.
    pub(super) fn note(&self) -> Option<String> {
        (self.not_known > 0).then(|| {
            let (known, all) = (self.entries.len(), self.entries.len() + self.not_known);
            let said = if self.by_work { words::out_of_work } else { words::out_of_time };
            said(known, all, self.bound)
        })
    }
}

/// The largest upper bound on what an observer who was not looked at learns about a node.
pub(super) fn of_others(
    covered: &Covered<'_>,
    noise: NoiseMultiplier,
    measure: Measure,
) -> Result<Option<f64>, Failure> {
    Ok(largest(others(covered), noise, measure)?.map(|worst| *worst.loss.value()))
}

/// The share of right guesses about all pairs of the question: those that were computed, and those that a
/// bound covers.
pub(super) fn right_guesses(covered: &Covered<'_>, entries: &[Entry], noise: NoiseMultiplier) -> Option<f64> {
    let of_entry = |entry: &Entry| (covered.looked_at()[entry.observer].as_ref(), entry.u);
    let of_other = |account: &dyn Account| {
        let outside = (0..account.node_count()).filter(|&u| !account.observer().contains(u));
        // All nodes of a class are alike.
        outside.take(if account.class().is_some() { 1 } else { usize::MAX }).collect::<Vec<_>>()
    };
    let of_others = others(covered)
        .iter()
        .flat_map(|account| of_other(account.as_ref()).into_iter().map(move |u| (account.as_ref(), u)));
    words::right_guesses(entries.iter().map(of_entry).chain(of_others), noise)
}

/// The accounts of those who were not looked at; none where by symmetry they learn what those learn who were.
fn others<'c, 'a>(covered: &'c Covered<'a>) -> &'c [Box<dyn Account + 'a>] {
    if matches!(covered.coverage, Coverage::Symmetric { .. }) { &[] } else { covered.others() }
}

/// Pairs whose losses are computed beside one another.
const AT_ONCE: usize = 16;
