//! What observers learn at a given noise.

mod show;
mod walk;

use super::covered;
use super::losses::{Entry, Losses, all, of_others, right_guesses};
use super::prove::Proof;
use crate::args::Loss;
use crate::errors::Failure;
use crate::output::{line, note, npy};
use crate::patience;
use crate::question::{self, Chosen, ChosenProtocol};
use crate::{input, plain, show as showing};
use ndp_account::{
    Allowed, Check, Coverage, Covered, Observer, Rest, Statement, Target, Worst, check, largest,
};
use ndp_dp::{Exact, Grade, Measure, NoiseMultiplier, UpperBound, Verdict};
use ndp_graph::Graph;
use ndp_report::words;

/// What is asked: of which network and protocol, at which noise, with which limit.
struct Study<'a> {
    asked: &'a Loss,
    graph: Graph,
    measure: Measure,
    target: Option<Target>,
    chosen: Chosen,
    protocol: ChosenProtocol,
    noise: NoiseMultiplier,
    proof: Option<Proof>,
}

/// What was found, ready to be shown in any form.
struct Found<'a> {
    study: &'a Study<'a>,
    /// The observers whose accounts were computed.
    observers: Vec<Observer>,
    /// The labels of the nodes.
    names: Vec<String>,
    /// The names of the observers.
    of_observer: Vec<String>,
    entries: Vec<Entry>,
    /// The number of pairs whose loss was not known before `--patience` ran out.
    not_known: usize,
    /// An upper bound on the loss of each of these pairs.
    not_known_at_most: Option<f64>,
    statement: Statement,
    grade: Grade,
    /// The largest loss of all pairs the question is about, if every pair is covered and known.
    worst: Option<Worst>,
    /// An upper bound for the pairs without a loss of their own: those not known in time, and those of
    /// observers who were not looked at.
    bound: Option<f64>,
    /// An upper bound on the probability of a right guess about the pair that loses most; computed only for a
    /// page.
    right: Option<f64>,
    /// Upper ends of the unit losses, per observer; present only for a page, and only if every pair has one.
    units: Option<Vec<Vec<Option<f64>>>>,
    judged: Option<Judged>,
    notes: Vec<String>,
}

/// Whether a target is met, in words and as data.
struct Judged {
    verdict: Verdict,
    /// Pairs (for a mean observers) that are looked at and not shown to keep it, and of these those that are
    /// proven not to.
    exceeding: usize,
    violating: usize,
    target: String,
    why: String,
}

pub(crate) fn run(asked: &Loss, quiet: bool) -> Result<(), Failure> {
    let study = Study::of(asked)?;
    let found = study.answer(quiet)?;
    let seed = asked.knowledge.seed;
    showing::show(&found, &asked.files, seed)?;
    if let Some(path) = &asked.npy {
        npy(path, seed, found.matrix().view())?;
    }
    showing::draw(&found, &asked.pictures, seed)?;
    if let Some(proof) = &study.proof {
        proof.beside(&study.graph, &study.chosen, &[], quiet)?;
    }
    found.verdict()
}

impl<'a> Study<'a> {
    fn of(asked: &'a Loss) -> Result<Self, Failure> {
        let (graph, matrix) = input::network(&asked.graph, asked.protocol.gossip.weights)?;
        let (measure, target) = (asked.target.measure()?, asked.target.target(&graph)?);
        let chosen = question::everybody(&graph, &asked.observers, &asked.knowledge, target.as_ref())?;
        let mut protocol = question::chosen(&asked.protocol, &matrix, patience::told(asked.effort.patience))?;
        protocol.protocol = protocol.protocol.where_it_wins(&chosen.audience);
        let proof = asked.proof.as_deref();
        let proof = proof.map(|into| Proof::of(into, &asked.protocol, &protocol, &chosen, &asked.knowledge));
        let proof = proof.transpose()?;
        let noise = question::noise(asked.noise, asked.unit.sensitivity)?;
        protocol.protocol = protocol.protocol.on_values_of(asked.unit.sensitivity);
        Ok(Self { asked, graph, measure, target, chosen, protocol, noise, proof })
    }

    fn answer(&self, quiet: bool) -> Result<Found<'_>, Failure> {
        let (graph, noise, measure) = (&self.graph, self.noise, self.measure);
        let protocol = &self.protocol.protocol;
        let meanwhile = patience::meanwhile(protocol, &self.chosen.audience, quiet, move |bounds| {
            let most = largest(bounds, noise, measure).ok()??;
            Some(words::every_pair_at_most(most.loss.into_value(), measure))
        });
        let covered = covered(protocol, &self.chosen, quiet)?;
        let seed = self.asked.knowledge.seed;
        let losses = all(graph, protocol, covered.looked_at(), noise, measure, (seed, quiet))?;
        drop(meanwhile);
        let mut notes = patience::notes(protocol);
        notes.extend(losses.note().inspect(|text| note(text)));
        // Computed after the losses: if a bound replaced one of them, the statement must name the bound's
        // theorem.
        let statement = covered.statement()?;
        let Losses { entries, not_known, bound: not_known_at_most, .. } = losses;
        let worst = worst_of(&covered, &entries, not_known, noise, measure)?;
        let others = of_others(&covered, noise, measure)?;
        let bound = match (not_known_at_most, others) {
            (Some(a), Some(b)) => Some(a.max(b)),
            // The bound for the observers not looked at says nothing about pairs that were not known in time.
            (None, _) if not_known > 0 => None,
            (a, b) => a.or(b),
        };
        let exact = not_known == 0 && entries.iter().all(|entry| entry.grade == Grade::Exact);
        let observers: Vec<Observer> =
            covered.looked_at().iter().map(|account| account.observer().clone()).collect();
        let mut found = Found {
            study: self,
            names: (0..graph.node_count()).map(|v| input::label(graph, v)).collect(),
            of_observer: observers.iter().map(|observer| plain::name(graph, observer)).collect(),
            observers,
            entries,
            not_known,
            not_known_at_most,
            statement,
            grade: if exact { Grade::Exact } else { Grade::UpperBound },
            worst,
            bound,
            right: None,
            units: None,
            judged: None,
            notes,
        };
        if self.asked.pictures.report.is_some() {
            found.units = walk::units(covered.looked_at(), &found.entries, graph.node_count());
            found.right = if not_known == 0 { right_guesses(&covered, &found.entries, noise) } else { None };
        }
        found.judged = self.target.as_ref().map(|target| found.judged(&covered, target)).transpose()?;
        if let (
            Some(Judged { verdict: Verdict::Met, .. }),
            Some(Target { allowed: Allowed::Worst(limit), .. }),
        ) = (&found.judged, &self.target)
            && not_known > 0
        {
            // Now the limit is proven for each pair whose loss is not known.
            let least = |bound: Option<f64>| Some(bound.map_or(*limit, |bound| bound.min(*limit)));
            (found.bound, found.not_known_at_most) = (least(found.bound), least(found.not_known_at_most));
        }
        Ok(found)
    }

    /// Whether a little more work shows that the target is met. Most pairs keep a limit by bounds that take
    /// less work than their losses.
    fn is_met_by_quick_bounds(&self, target: &Target) -> Result<bool, Failure> {
        let Some(again) = self.protocol.protocol.a_little_more() else { return Ok(false) };
        let covered = covered(&again, &self.chosen, true)?;
        Ok(again.steady(|| covered.check(self.noise, target))?.verdict == Verdict::Met)
    }
}

/// The largest loss over everything the question is about; `None` if it is not known, for instance of a
/// sample.
fn worst_of(
    covered: &Covered<'_>,
    entries: &[Entry],
    not_known: usize,
    noise: NoiseMultiplier,
    measure: Measure,
) -> Result<Option<Worst>, Failure> {
    match covered.coverage {
        Coverage::Alike { .. } | Coverage::Grouped { .. } => Ok(covered.worst(noise, measure)?),
        Coverage::Symmetric { .. } | Coverage::Coalitions { rest: Rest::Symmetric, .. } if not_known == 0 => {
            Ok(covered.worst(noise, measure)?)
        }
        _ if covered.coverage.is_by_bound() => Ok(covered.worst(noise, measure)?),
        Coverage::All { .. } | Coverage::Coalitions { rest: Rest::None, .. } if not_known == 0 => {
            let key = |entry: &Entry| (entry.loss, entry.grade == Grade::Exact);
            let worst = entries.iter().reduce(|a, b| if key(b) > key(a) { b } else { a });
            Ok(worst.map(|entry| Worst {
                loss: match entry.grade {
                    Grade::Exact => Exact::new(entry.loss).into(),
                    _ => UpperBound::new(entry.loss).into(),
                },
                observer: covered.looked_at()[entry.observer].observer().clone(),
                source: entry.u,
            }))
        }
        _ => Ok(None),
    }
}

impl Found<'_> {
    fn largest(&self) -> Option<&Entry> {
        self.entries.iter().reduce(|a, b| if b.loss > a.loss { b } else { a })
    }

    /// The bound for the pairs without a loss of their own, if it exceeds the largest loss that was computed.
    fn largest_bound(&self) -> Option<f64> {
        self.bound.filter(|bound| self.largest().is_none_or(|entry| *bound > entry.loss))
    }

    /// Whether every observer that the question is about keeps the target.
    fn judged(&self, covered: &Covered<'_>, target: &Target) -> Result<Judged, Failure> {
        let noise = self.study.noise;
        let (words, met) = match target.allowed {
            Allowed::Pairs(_) | Allowed::Listed(_) => {
                let limited = target.limited(covered.looked_at())?;
                // Pairs of observers who are covered by a bound are not counted.
                if covered.others().is_empty() {
                    let met = format!("met for the {} of {} pairs that have a limit", limited.0, limited.1);
                    (words::target_for(target, Some(limited)), met)
                } else {
                    (words::target_for(target, None), "met for the pairs that have a limit".into())
                }
            }
            _ => (words::target(target), "met".into()),
        };
        let judged =
            |verdict, exceeding, why: String| Judged { verdict, exceeding, violating: 0, target: words, why };
        if self.not_known > 0 {
            // Some pairs are not known. The target is met only if one limit holds for all pairs and bounds
            // both the known losses and the bound for the unknown ones.
            let largest = self.largest().map_or(0.0, |entry| entry.loss);
            let most = self.bound.map(|bound| bound.max(largest));
            let all = covered.coverage.is_whole()
                && matches!((most, &target.allowed), (Some(most), Allowed::Worst(limit)) if most <= *limit);
            return Ok(if all {
                judged(Verdict::Met, 0, met)
            } else if self.study.is_met_by_quick_bounds(target)? {
                judged(Verdict::Met, 0, met + ", by quick bounds where losses are not known")
            } else {
                judged(Verdict::NotShown, 0, format!("not shown, {} pairs are not known", self.not_known))
            });
        }
        let found = covered.check(noise, target)?;
        if found.verdict == Verdict::Met {
            return Ok(judged(Verdict::Met, 0, met));
        }
        let seen = if covered.others().is_empty() {
            found.clone()
        } else {
            check(covered.looked_at(), noise, target)?
        };
        // A bound alone cannot violate a target, but here one pair is proven to lose as much as the bound
        // says.
        if let (Some(worst), Allowed::Worst(limit)) = (&self.worst, &target.allowed)
            && worst.loss.grade() == Grade::Exact
            && worst.loss.value() * (1.0 - 1e-8) > *limit
            && found.verdict != Verdict::Violated
        {
            let pair = plain::in_words(&self.statement, &self.study.graph, |words| words.pair(worst));
            let why = format!("violated, {pair} exceeds it");
            return Ok(Judged { violating: 1, ..judged(Verdict::Violated, seen.exceeding.max(1), why) });
        }
        let what = if matches!(target.allowed, Allowed::Mean(_)) { "observers" } else { "pairs" };
        let seen = Check { verdict: found.verdict, ..seen };
        let why = words::not_met(&seen, what, &covered.coverage);
        Ok(Judged { violating: seen.violating, ..judged(seen.verdict, seen.exceeding, why) })
    }

    /// Prints that the target is met, or fails with the reason; does nothing if there is no target.
    fn verdict(&self) -> Result<(), Failure> {
        match &self.judged {
            Some(Judged { verdict: Verdict::Met, target, .. }) => {
                let observed = plain::observed_by(&self.statement, &self.study.graph);
                line(&format!("target: met: {target}; observed by {observed}"))
            }
            Some(judged) => {
                let exact = self.worst.as_ref().is_some_and(|worst| worst.loss.grade() == Grade::Exact);
                let all = match self.statement.coverage {
                    Coverage::Sample { .. } => true,
                    Coverage::Bounded { .. } | Coverage::Grouped { .. } => !exact,
                    _ => false,
                };
                let next = if all { words::LOOK_AT_ALL } else { "" };
                // Where a loss is infinite, perhaps no noise is enough.
                let losses = self.entries.iter().map(|entry| entry.loss).chain(self.bound);
                let least = if losses.chain(self.not_known_at_most).all(f64::is_finite) {
                    "; `ndp calibrate` finds the least noise, with the same options but --noise"
                } else {
                    ""
                };
                Err(Failure::NotMet(format!("target: {}: {}{least}{next}", judged.why, judged.target)))
            }
            None => Ok(()),
        }
    }
}
