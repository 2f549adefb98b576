//! Which rows are new, decided by two primes that must agree, and a bound on the probability of a wrong
//! decision.
//!
//! A row that is new modulo a prime is new, so that one prime is enough where all are. The converse fails
//! only where the prime divides a certain nonzero minor of the rows; so where two primes disagree, the one
//! that says "old" is proven unlucky and is drawn again.

use crate::Error;
use crate::elimination::{Newness, Table, Verdicts};
use crate::field::{Field, Primes};
use crate::krylov::Krylov;
use crate::rows::Rows;
use ndp_numeric::stop::{Stop, Stopped};

/// The decisions about the rows of a view.
#[derive(Clone, Debug, PartialEq)]
pub struct Decisions {
    /// For every candidate, in order, whether it is new.
    pub kept: Vec<bool>,
    /// Coordinates of the inputs that some combination of rows reveals without noise, ascending.
    pub leaks: Vec<usize>,
    /// An upper bound on the probability, over the primes, that a new row was called old or a leak was
    /// missed.
    pub failure: f64,
}

impl Decisions {
    /// Number of rows kept.
    pub fn rank(&self) -> usize {
        self.kept.iter().filter(|&&kept| kept).count()
    }
}

/// The quantities on which the failure probability of a decision depends.
pub(crate) struct Stakes<'a> {
    /// `log₂(D |r|)` of every candidate, given which candidates are new.
    pub(crate) widths: &'a dyn Fn(&[bool]) -> Vec<f64>,
    /// Inputs that may leak.
    pub(crate) leaking: usize,
    /// Largest possible rank: if it is reached, no new row was overlooked.
    pub(crate) full: usize,
}

/// Decides about written or traced rows.
pub fn of_rows(rows: &Rows, stop: &Stop) -> Result<Decisions, Error> {
    let layout = rows.layout();
    let leaking = layout.inputs.iter().filter(|input| input.coordinate >= layout.noises).count();
    let stakes = Stakes { widths: &|_| rows.widths(), leaking, full: layout.noises };
    let run = |field: Field| {
        let mut table = Table::new(field, layout.noises);
        let mut row = rows.modular(field);
        let mut verdicts = Verdicts::default();
        for k in 0..rows.len() {
            // Once every noise is known, a row is new only if it leaks.
            let full = leaking == 0 && table.rank() == layout.noises;
            if !full {
                stop.spend(rows.cost(k).saturating_add(table.cost()))?;
            }
            match if full { Newness::Old } else { table.add(row(k)) } {
                Newness::New => verdicts.kept.push(true),
                Newness::Old => verdicts.kept.push(false),
                Newness::Leak(inputs) => {
                    verdicts.kept.push(false);
                    verdicts.leaks.extend(inputs);
                }
            }
        }
        Ok(verdicts)
    };
    decide(&mut rows.fingerprint().finish(), &stakes, run)
}

/// Decides about gossip with a fixed matrix, whose candidates are products with the directions kept before.
pub(crate) fn of_krylov(view: &Krylov, stop: &Stop) -> Result<Decisions, Error> {
    // The widths follow from the levels, and the levels from the decisions.
    let stakes = Stakes { widths: &|kept| view.widths(kept), leaking: 0, full: view.nodes() };
    decide(&mut view.fingerprint().finish(), &stakes, |field| view.verdicts(field, stop))
}

/// Runs primes until two of them agree on every candidate (three, where two leave too large a failure).
pub(crate) fn decide(
    primes: &mut Primes,
    stakes: &Stakes<'_>,
    run: impl Fn(Field) -> Result<Verdicts, Stopped> + Sync,
) -> Result<Decisions, Error> {
    let mut drawn: Vec<u64> = Vec::new();
    let mut draw = |drawn: &mut Vec<u64>| {
        let prime = primes.draw(drawn);
        drawn.push(prime);
        Field::new(prime)
    };
    let (first, second) = (draw(&mut drawn), draw(&mut drawn));
    agree(first, second, stakes, &run, || (drawn.len() < MAX_DRAWS).then(|| draw(&mut drawn)))
}

/// Like [`decide`], starting with two given primes; `next` draws further ones.
fn agree(
    first: Field,
    second: Field,
    stakes: &Stakes<'_>,
    run: &(impl Fn(Field) -> Result<Verdicts, Stopped> + Sync),
    mut next: impl FnMut() -> Option<Field>,
) -> Result<Decisions, Error> {
    let mut a = run(first)?;
    if stakes.leaking == 0 && a.kept.iter().all(|&kept| kept) {
        return Ok(Decisions { kept: a.kept, leaks: Vec::new(), failure: 0.0 });
    }
    let mut b = run(second)?;
    // The rank modulo a prime is never too large: if it reaches the largest possible rank, no row was
    // overlooked.
    let complete =
        |v: &Verdicts| stakes.leaking == 0 && v.kept.iter().filter(|&&kept| kept).count() == stakes.full;
    let mut draws = 2;
    while a.kept != b.kept {
        let Some(field) = next() else {
            return Err(Error::UnluckyPrimes(
                "four primes drawn for a view do not agree on which of its rows are new",
            ));
        };
        draws += 1;
        // At the first candidate where they differ, the row is new and the prime that calls it old is
        // unlucky: that prime is replaced.
        if a.kept > b.kept { b = run(field)? } else { a = run(field)? }
    }
    let pairs = draws * (draws - 1) / 2;
    let mut probability = if complete(&a) { 0.0 } else { failure(stakes, &a.kept, TWO, pairs) };
    let mut leaks: Vec<usize> = a.leaks.iter().chain(&b.leaks).copied().collect();
    if probability > FAILURE
        && let Some(field) = next()
    {
        let c = run(field)?;
        if c.kept == a.kept {
            probability = failure(stakes, &a.kept, TWO + 1, pairs * draws);
            leaks.extend(c.leaks);
        } else if c.kept > a.kept {
            return Err(Error::UnluckyPrimes("two primes drawn for a view are proven unlucky by a third"));
        }
    }
    leaks.sort_unstable();
    leaks.dedup();
    Ok(Decisions { kept: a.kept, leaks, failure: probability })
}

/// `(1 + leaking) (B / M)^primes` times the number of pairs drawn, and 0 where no row was called old.
fn failure(stakes: &Stakes<'_>, kept: &[bool], primes: i32, pairs: usize) -> f64 {
    if kept.iter().all(|&kept| kept) {
        return 0.0;
    }
    let widths = (stakes.widths)(kept);
    let new = widths.iter().zip(kept).filter(|(_, kept)| **kept).map(|(width, _)| width.max(0.0));
    let other = widths.iter().fold(0.0, |m: f64, &width| m.max(width));
    // A minor of the kept rows and one more has at most this many prime factors of 60 bits (Hadamard).
    let factors = (new.sum::<f64>() + other) / 60.0 * (1.0 + 1e-12);
    let share = factors / PRIMES;
    (pairs as f64 * (1 + stakes.leaking) as f64 * share.powi(primes)).clamp(f64::MIN_POSITIVE, 1.0)
}

/// Primes that must agree.
const TWO: i32 = 2;
/// Primes drawn for one view before the attempt is given up.
const MAX_DRAWS: usize = 4;
/// If two primes leave a larger failure probability than this, a third one is drawn.
const FAILURE: f64 = 8.673_617_379_884_035e-19;
/// Primes in `[2^60, 2^61)`: more than `2^54.6`.
const PRIMES: f64 = 27_000_000_000_000_000.0;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::Given;
    use ndarray::{Array2, array};

    fn given(inputs: Array2<f64>, noises: Array2<f64>) -> Rows {
        Rows::Given(Given::new(inputs.view(), noises.view(), &[], &[]))
    }

    fn decisions(rows: &Rows) -> Decisions {
        of_rows(rows, &Stop::never()).expect("four primes agree")
    }

    /// The rows (1, 2^61), (1, 1) differ, although they agree modulo `2^61 - 1`.
    #[test]
    fn rows_equal_modulo_a_known_prime_are_told_apart() {
        let large = 2f64.powi(61);
        let rows = array![[1.0, large], [1.0, 1.0]];
        let found = decisions(&given(rows.clone(), rows.clone()));
        assert_eq!((found.kept, found.failure), (vec![true, true], 0.0));
        let leaking = decisions(&given(rows, array![[1.0], [1.0]]));
        assert_eq!(leaking.kept, [true, false]);
        assert_eq!(leaking.leaks, [2]);
        assert!(leaking.failure > 0.0 && leaking.failure < 1e-15);
    }

    /// Modulo 7 the second row (0, 7) is zero, and the third then looks new. The unlucky prime is discarded,
    /// whichever of the two it is.
    #[test]
    fn unlucky_primes_are_discarded() -> Result<(), Error> {
        let rows = array![[1.0, 0.0], [1.0, 7.0], [0.0, 1.0]];
        let rows = given(rows.clone(), rows);
        let stakes = Stakes { widths: &|_| rows.widths(), leaking: 0, full: 2 };
        let run = |field: Field| {
            let mut table = Table::new(field, 2);
            let mut row = rows.modular(field);
            let kept = (0..3).map(|k| table.add(row(k)) == Newness::New).collect();
            Ok(Verdicts { kept, leaks: Vec::new() })
        };
        for (first, second) in [(7, 11), (11, 7)] {
            let mut further = [13].into_iter().map(Field::new);
            let found = agree(Field::new(first), Field::new(second), &stakes, &run, || further.next())?;
            assert_eq!(found.kept, [true, true, false]);
            assert_eq!(further.next(), None);
        }
        let none = agree(Field::new(7), Field::new(11), &stakes, &run, || None);
        assert!(matches!(none, Err(Error::UnluckyPrimes(_))));
        Ok(())
    }

    /// Where one prime calls every row new, no other is asked; where a row may leak it is.
    #[test]
    fn one_prime_proves_that_all_rows_are_new() -> Result<(), Error> {
        for (leaking, last, asked) in [(0, true, 1), (1, true, 2), (0, false, 2)] {
            let runs = std::sync::atomic::AtomicUsize::new(0);
            let run = |_: Field| {
                runs.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                Ok(Verdicts { kept: vec![true, last], leaks: Vec::new() })
            };
            let stakes = Stakes { widths: &|_| vec![60.0; 2], leaking, full: 9 };
            let found = agree(Field::new(7), Field::new(11), &stakes, &run, || None)?;
            assert_eq!((found.kept, runs.into_inner()), (vec![true, last], asked));
        }
        Ok(())
    }

    /// If a third prime had to be drawn there are three pairs, any of which might have agreed by mistake; a
    /// large failure probability asks for one more prime. The same holds for gossip with a fixed matrix as
    /// for written rows.
    #[test]
    fn every_pair_of_primes_that_was_drawn_counts() -> Result<(), Box<dyn std::error::Error>> {
        // More rounds than the rank: a star of four leaves, seen from one of them.
        let graph = ndp_graph::generators::star_graph(4)?;
        let matrix = ndp_graph::GossipMatrix::metropolis(&graph);
        let view = Krylov::new(&matrix, &[1], &[0], &[1], 5);
        let run = |field: Field| view.verdicts(field, &Stop::never());
        let stakes = |widths| Stakes { widths, leaking: 0, full: view.nodes() };
        let of_view = |kept: &[bool]| view.widths(kept);
        // In the second round the hub sends a weighted sum over its leaves: modulo 5, apart from the
        // denominator, that row is old.
        let [first, second, third] =
            [1_152_921_504_606_847_009, 1_152_921_504_606_847_067, 1_152_921_504_606_847_081].map(Field::new);
        let kept = run(first)?.kept;
        assert_eq!((run(second)?.kept == kept, kept.iter().all(|&kept| kept)), (true, false));
        // A prime that calls every row after the known noise old is proven unlucky.
        let unlucky = |field: Field| {
            if field.prime() == first.prime() {
                Ok(Verdicts { kept: vec![true, false], leaks: Vec::new() })
            } else {
                run(field)
            }
        };
        let one = agree(second, third, &stakes(&of_view), &run, || None)?;
        let mut further = [third].into_iter();
        let three = agree(first, second, &stakes(&of_view), &unlucky, || further.next())?;
        assert_eq!(one.kept, three.kept);
        assert!(one.failure > 0.0 && three.failure == 3.0 * one.failure, "{} {}", one.failure, three.failure);
        assert_eq!(of_krylov(&view, &Stop::never())?.failure, one.failure);
        // Rows of a billion bits: two primes leave a failure probability of about 2^-40, a third makes it
        // smaller.
        let long = |kept: &[bool]| vec![1e9; kept.len()];
        let two = agree(first, second, &stakes(&long), &run, || None)?.failure;
        let mut further = [third].into_iter();
        let less = agree(first, second, &stakes(&long), &run, || further.next())?.failure;
        assert!(FAILURE < two && less < two * 1e-6 && further.next().is_none(), "{two} {less}");
        Ok(())
    }

    #[test]
    fn primes_are_counted() {
        // Dusart 2010: x / (ln x - 1) < π(x) < x / (ln x - 1.1) for these x.
        let (large, small) = (2f64.powi(61), 2f64.powi(60));
        let count = large / (large.ln() - 1.0) - small / (small.ln() - 1.1);
        assert!(PRIMES < count && 2f64.powf(54.5) < PRIMES, "{count}");
    }

    /// A minor of 60 + 120 bits has at most three prime factors of 60 bits, and each prime drawn is one of
    /// them with a probability of three in all primes.
    #[test]
    fn failures_count_the_factors_of_minors() {
        for (widths, factors) in [([60.0, 120.0], 3.0), ([120.0, 60.0], 4.0)] {
            let widths = |_: &[bool]| widths.to_vec();
            let stakes = Stakes { widths: &widths, leaking: 0, full: 9 };
            let expected = (factors / PRIMES).powi(2);
            let found = failure(&stakes, &[true, false], TWO, 1);
            assert!(expected <= found && found <= expected * (1.0 + 1e-9), "{found} {expected}");
            let leaking = Stakes { leaking: 2, ..stakes };
            assert!(failure(&leaking, &[true, false], TWO, 1) >= 3.0 * expected);
        }
    }

    /// Two primes that leave half as much again as is wanted ask for a third; a little less does not.
    #[test]
    fn a_third_prime_is_drawn_when_two_leave_too_much() -> Result<(), Error> {
        let run = |_: Field| Ok(Verdicts { kept: vec![true, false], leaks: Vec::new() });
        for (share, drawn) in [(1.5, true), (0.9, false)] {
            // (2 W / 60 / PRIMES)^2 is this share of the limit.
            let width = 30.0 * PRIMES * (share * FAILURE).sqrt();
            let widths = |_: &[bool]| vec![width, width];
            let stakes = Stakes { widths: &widths, leaking: 0, full: 9 };
            let mut further = [Field::new(13)].into_iter();
            let found = agree(Field::new(7), Field::new(11), &stakes, &run, || further.next())?;
            assert_eq!(further.next().is_none(), drawn, "{share}");
            assert!(found.failure <= FAILURE && found.failure > 0.0);
        }
        Ok(())
    }
}
