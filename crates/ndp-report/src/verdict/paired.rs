//! Comparisons of runs, pair by pair, with a stated error rate.
//!
//! Let `d_1, …, d_n` be independent with the same law and median `m`. In increasing order, `d_(k) ≤ m` except
//! with probability at most `P(Bin(n, 1/2) < k)`, and likewise `d_(n+1-k) ≥ m`, for every law: this is the
//! sign test, read as an interval. Nothing is assumed about the law. The error rate is exact if no two values
//! are equal, and at most that otherwise.

use super::evidence::{Verdict, above};
use crate::figure::{Check, Kind, Sample};
use ndp_dp::Grade;
use std::collections::BTreeMap;

/// Probability with which one comparison may say that something holds although it does not, and with which
/// all comparisons of a claim together may say that something does not hold although it does.
pub const ERROR_RATE: f64 = 0.05;

/// What the paired runs of a comparison show.
///
/// # Examples
/// ```
/// use ndp_report::figure::{Check, Kind, Sample};
/// use ndp_report::verdict::evaluate;
/// use std::collections::BTreeMap;
/// let runs = |shift: f64| Sample { kind: Kind::Data, values: (0..20).map(|k| shift + f64::from(k % 3)).collect() };
/// let samples = BTreeMap::from([("long".to_owned(), runs(2.0)), ("short".to_owned(), runs(0.0))]);
/// let check = Check::exceeds("longer runs cost more", "long", "short");
/// let paired = evaluate(&[check], &[], &samples)?.remove(0).paired.ok_or("runs are paired")?;
/// assert!(paired.verdict.holds() && (paired.runs, paired.median) == (20, 2.0));
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Paired {
    /// Number of pairs.
    pub runs: usize,
    /// The middle of the differences.
    pub median: f64,
    /// Lower confidence bound on the median, if there are enough runs.
    pub low: Option<f64>,
    /// Upper confidence bound.
    pub high: Option<f64>,
    /// Whether the runs alone would show something that the grades of the samples leave open.
    pub open: bool,
    /// The verdict.
    pub verdict: Verdict,
}

/// Evaluates [`Check::Exceeds`], one of `of` comparisons on which a claim rests.
///
/// The claim holds only if all comparisons hold, so each may err with [`ERROR_RATE`] when it says "holds".
/// The claim fails if one of them fails, so for "does not hold" each gets an equal share of that rate.
pub(super) fn compare(
    (terms, least): (&[(f64, String)], f64),
    samples: &BTreeMap<String, Sample>,
    of: usize,
) -> Result<Paired, String> {
    let find = |name: &String| samples.get(name).ok_or_else(|| format!("there are no runs {name:?}"));
    let found =
        terms.iter().map(|(factor, name)| Ok((*factor, find(name)?))).collect::<Result<Vec<_>, String>>()?;
    let runs = found.first().map_or(0, |(_, sample)| sample.values.len());
    if runs == 0 || found.iter().any(|(_, sample)| sample.values.len() != runs) {
        return Err("runs that are compared must be there, and as many of each".into());
    }
    let mut differences: Vec<f64> =
        (0..runs).map(|i| found.iter().map(|(factor, sample)| factor * sample.values[i]).sum()).collect();
    if differences.iter().any(|d| d.is_nan()) {
        return Err("a difference of two runs is not a number".into());
    }
    differences.sort_by(f64::total_cmp);
    let low = order(runs, ERROR_RATE).map(|k| differences[k - 1]);
    let high = order(runs, ERROR_RATE / of.max(1) as f64).map(|k| differences[runs - k]);
    // A run with noise that is proven to be enough learns no better than the budget allows. A subtracted
    // sample must not be able to do better than it did; an added sample may.
    let known = |kind: Kind| matches!(kind, Kind::Data | Kind::Graded(Grade::Exact));
    let proven = |kind: Kind| known(kind) || kind == Kind::Graded(Grade::UpperBound);
    let shows = found.iter().all(|(f, s)| if *f > 0.0 { proven(s.kind) } else { known(s.kind) });
    let refutes = found.iter().all(|(f, s)| if *f > 0.0 { known(s.kind) } else { proven(s.kind) });
    let verdict = above(low.filter(|_| shows), high.filter(|_| refutes), least);
    let open = verdict != above(low, high, least);
    let median = f64::midpoint(differences[(runs - 1) / 2], differences[runs / 2]);
    Ok(Paired { runs, median, low, high, open, verdict })
}

/// The number of comparisons of runs among `checks`.
pub(super) fn count(checks: &[Check]) -> usize {
    checks.iter().filter(|check| matches!(check, Check::Exceeds { .. })).count()
}

/// The largest `k` with `P(Bin(runs, 1/2) < k) ≤ rate`; `None` if `k` is 0, and for more than 1,000 runs,
/// where `2^-runs` may underflow.
fn order(runs: usize, rate: f64) -> Option<usize> {
    if runs > 1000 {
        return None;
    }
    // Sums from the smallest terms up.
    let mut term = f64::exp2(-(runs as f64));
    let (mut below, mut k) = (0.0, 0);
    while k < runs {
        below += term;
        if below > rate {
            break;
        }
        term *= (runs - k) as f64 / (k + 1) as f64;
        k += 1;
    }
    (k > 0).then_some(k)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(pairs: &[(&str, Kind, &[f64])]) -> BTreeMap<String, Sample> {
        let sample = |(name, kind, values): &(&str, Kind, &[f64])| {
            ((*name).to_owned(), Sample { kind: *kind, values: values.to_vec() })
        };
        pairs.iter().map(sample).collect()
    }

    fn difference(a: &str, b: &str) -> Vec<(f64, String)> {
        vec![(1.0, a.to_owned()), (-1.0, b.to_owned())]
    }

    /// Against tables of the sign test: 1/32 at 5, 1/16 at 4, 9/256 at 8, 2.07 % at 20 runs.
    #[test]
    fn orders_are_those_of_the_sign_test() {
        let found: Vec<_> = [1, 4, 5, 8, 10, 20].iter().map(|&n| order(n, 0.05)).collect();
        assert_eq!(found, [None, None, Some(1), Some(2), Some(2), Some(6)]);
        assert_eq!((order(8, 0.05 / 12.0), order(8, 0.05 / 13.0)), (Some(1), None));
    }

    /// The bound misses the median of a very asymmetric law as often as it may, and not more often.
    #[test]
    fn the_rate_of_errors_is_as_stated() {
        use rand::RngExt;
        let trials = 20_000;
        use rand::SeedableRng;
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(1);
        let median = 2f64.ln();
        let mut missed = 0u32;
        for _ in 0..trials {
            let draws: Vec<f64> = (0..8).map(|_| -f64::ln(1.0 - rng.random::<f64>())).collect();
            let zeros = [0.0; 8];
            let samples = samples(&[("a", Kind::Data, &draws), ("b", Kind::Data, &zeros)]);
            let found = compare((&difference("a", "b"), median), &samples, 1).unwrap();
            missed += u32::from(found.verdict.holds());
        }
        // 9/256 = 3.5 %.
        let rate = f64::from(missed) / f64::from(trials);
        assert!((rate - 9.0 / 256.0).abs() < 4.5 * (0.035 * 0.965 / f64::from(trials)).sqrt(), "{rate}");
    }

    #[test]
    fn the_grades_of_the_noise_decide_what_a_comparison_shows() {
        let (low, high) = ([0.1; 8], [0.2, 0.21, 0.22, 0.23, 0.24, 0.25, 0.26, 0.27]);
        let word = |better: Kind, worse: Kind, swap: bool| {
            let (a, b): (&[f64], &[f64]) = if swap { (&low, &high) } else { (&high, &low) };
            let samples = samples(&[("a", better, a), ("b", worse, b)]);
            compare((&difference("a", "b"), 0.0), &samples, 1).unwrap().verdict.as_str()
        };
        let [exact, bound, printed, estimate] =
            [Grade::Exact, Grade::UpperBound, Grade::Printed, Grade::Estimate].map(Kind::from);
        assert_eq!(word(exact, exact, false), "holds");
        assert_eq!(word(exact, exact, true), "does not hold");
        assert_eq!(word(bound, exact, false), "holds");
        assert_eq!(word(bound, exact, true), "not shown");
        assert_eq!(word(exact, bound, false), "not shown");
        assert_eq!(word(exact, bound, true), "does not hold");
        for grade in [printed, estimate] {
            for swap in [false, true] {
                assert_eq!(word(grade, exact, swap), "not shown");
                assert_eq!(word(exact, grade, swap), "not shown");
            }
        }
    }

    #[test]
    fn few_runs_and_missing_ones() {
        let samples = samples(&[
            ("a", Kind::Data, &[1.0, 2.0]),
            ("b", Kind::Data, &[0.0, 0.0]),
            ("c", Kind::Data, &[0.0]),
        ]);
        let found = compare((&difference("a", "b"), 0.0), &samples, 1).unwrap();
        assert_eq!((found.runs, found.low, found.verdict), (2, None, Verdict::NOT_SHOWN));
        let refused = |terms: &[(f64, String)]| compare((terms, 0.0), &samples, 1).unwrap_err();
        let uneven = "runs that are compared must be there, and as many of each";
        assert_eq!(refused(&difference("a", "c")), uneven);
        assert_eq!(refused(&[]), uneven);
        assert_eq!(refused(&difference("a", "d")), "there are no runs \"d\"");
    }
}
