//! The checks of a report that all parts about linear Gaussian views share.

use crate::losses::{self, Mean, Reported};
use crate::oracle::linear::{Linear, Loss, Truth};
use crate::oracle::rational::Quotient;
use crate::part::{Outcome, Violation};
use ndp_account::Error;
use std::cmp::Ordering;

/// A case as text and code.
pub(crate) struct Case<'a> {
    pub(crate) size: [u64; 3],
    /// Statements that end with `let report = ...;`, for a test.
    pub(crate) code: &'a str,
}

impl Case<'_> {
    /// A violation whose test ends with `assertion`.
    pub(crate) fn violation(&self, kind: &'static str, what: String, assertion: &str) -> Violation {
        let lines = self.code.lines().chain(assertion.lines()).map(|line| format!("    {line}\n"));
        let test = format!(
            "#[test]\nfn found_by_the_search() -> Result<(), Box<dyn std::error::Error>> {{\n{}    Ok(())\n}}",
            lines.collect::<String>()
        );
        Violation { kind, size: self.size, what, test }
    }
}

/// Compares a report with the truth. `known` is the number of noises that the coalition knows; it is `None`
/// if the rank is not to be compared.
pub(crate) fn compare(
    outcome: &mut Outcome,
    case: &Case<'_>,
    view: &Linear,
    reported: &Result<Reported, Error>,
    known: Option<usize>,
) -> Truth {
    let truth = view.truth();
    let leaks = truth.leaks();
    match reported {
        Err(Error::Certify(ndp_certify::Error::NoiselessView(u))) => outcome.check(leaks.contains(u), || {
            let what = format!("NoiselessView({u}), but the leaks are {leaks:?}");
            case.violation("invented leak", what, &format!("// node {u} does not leak"))
        }),
        Err(error) if losses::may_refuse(error) => {}
        // The upper end is beyond the range of `f64`.
        Err(_) if truth.losses.iter().any(|loss| matches!(loss, Loss::Finite(x) if x.to_f64() > 1e290)) => {}
        Err(error) => {
            outcome.check(false, || case.violation("refused", error.to_string(), "// this is refused"))
        }
        Ok(_) if !leaks.is_empty() => outcome.check(false, || {
            let what = format!("no error, but nodes {leaks:?} are seen without noise");
            let code = case.code.strip_suffix("?;").map(|code| format!("{code};"));
            let case = Case { code: code.as_deref().unwrap_or(case.code), ..*case };
            case.violation("missed leak", what, &format!("assert!(report.is_err(), \"{leaks:?} leak\");"))
        }),
        Ok(reported) => finite(outcome, case, &truth, reported, known),
    }
    truth
}

fn finite(outcome: &mut Outcome, case: &Case<'_>, truth: &Truth, reported: &Reported, known: Option<usize>) {
    let mut sum = Some(Quotient::zero());
    for (u, loss) in truth.losses.iter().enumerate() {
        let exact = match loss {
            Loss::Finite(exact) => exact,
            Loss::Member => continue,
            Loss::Infinite | Loss::Unknown => {
                sum = None;
                continue;
            }
        };
        sum = sum.map(|sum| sum.plus(exact));
        let upper = reported.upper[u];
        let lower = reported.lower.as_ref().map(|lower| lower[u]);
        check_upper(outcome, case, exact, &Claim { upper, exact: reported.exact, of: &format!("unit[{u}]") });
        if let Some(lower) = lower {
            outcome.check(exact.compare(lower) != Ordering::Less, || {
                let what = format!("lower end {lower:e} of node {u}, true {:e}", exact.to_f64());
                case.violation(
                    "lower end above the truth",
                    what,
                    &format!("assert!(report.lower[{u}] <= {:?});", exact.to_f64()),
                )
            });
            outcome.check(!reported.exact || upper - lower <= 1e-9 * upper.max(1.0), || {
                let what = format!("Exact between {lower:e} and {upper:e} about node {u}");
                case.violation(
                    "exact, but wide",
                    what,
                    &format!("assert!(report.loss.value().unit[{u}] - report.lower[{u}] <= 1e-9);"),
                )
            });
        }
    }
    if let Some(known) = known {
        let rank = truth.rank + known;
        outcome.check(reported.rank == rank, || {
            let what = format!("rank {}, true {rank}", reported.rank);
            case.violation("wrong rank", what, &format!("assert_eq!(report.rank, {rank});"))
        });
    }
    if let Some(sum) = sum {
        let mean = sum.over(truth.losses.len());
        let Mean { value, exact } = reported.mean;
        check_upper(outcome, case, &mean, &Claim { upper: value, exact, of: "mean" });
    }
}

/// A number that claims to be at least the truth, or to be within 1e-9 of it.
pub(crate) struct Claim<'a> {
    pub(crate) upper: f64,
    pub(crate) exact: bool,
    /// `unit[3]`, or `mean`.
    pub(crate) of: &'a str,
}

pub(crate) fn check_upper(outcome: &mut Outcome, case: &Case<'_>, truth: &Quotient, claim: &Claim<'_>) {
    let &Claim { upper, exact, of } = claim;
    let near = truth.to_f64();
    let grade = if exact { "Exact" } else { "UpperBound" };
    let what = || format!("{of}: {grade} {upper:e}, true {near:e}");
    let get = match of {
        "mean" => "*report.mean().value()".to_owned(),
        _ if of.starts_with("unit") => format!("report.loss.value().{of}"),
        _ => of.to_owned(),
    };
    let far = 1e-9 * near.max(1.0);
    let holds = !upper.is_nan() && truth.compare(upper) != Ordering::Greater;
    outcome.check(holds, || {
        let kind = match (near - upper > far, exact) {
            (true, true) => "exact below the truth",
            (true, false) => "upper bound below the truth",
            // A difference below 1e-9 is not mere rounding if the loss itself is that small.
            (false, _) if near - upper > 1e-9 * near => "below a small truth by more than rounding",
            (false, _) => "below the truth by rounding",
        };
        case.violation(kind, what(), &format!("assert!({get} >= {:?});", truth.below()))
    });
    if holds && exact {
        outcome.check(upper - near <= far * (1.0 + 1e-6), || {
            case.violation(
                "exact above the truth",
                what(),
                &format!("assert!({get} <= {:?} + {far:e});", near),
            )
        });
    }
}
