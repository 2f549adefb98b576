//! Messages of which only some coordinates are seen: one account for every kind of coordinate.
//!
//! Coordinates are independent. If parts of vectors are sent (for example, blocks of a model in turn), state
//! one program for every kind of coordinate, with the messages that carry it, and make an account of each.
//! With the Gram matrices `G^c`, a change `δ` has loss `Σ_c Σ_ij G^c_ij δ_ic δ_jc`.
//!
//! | set | loss | grade |
//! |---|---|---|
//! | one use, or all along one vector | the largest over `c`: the vector lies in that coordinate | exact |
//! | [`Vectors`](SensitivitySet::Vectors) | `Σ_i max_c D^c_ii`, each `D^c - G^c` positive semidefinite | upper bound |

use crate::ProgramError;
use crate::account::ProgramAccount;
use crate::adaptivity::Dependence;
use crate::enclose::Ends;
use crate::semidefinite;
use crate::sensitivity::{self, Loss, SensitivitySet, Value};
use ndp_account::Error;
use ndp_dp::Grade;

/// What an observer learns about node `source`, whose uses are vectors, from one account for every kind of
/// coordinate.
///
/// Protects against the observer of the accounts, who is the same in all of them. Exact for
/// [`SensitivitySet::UseLevel`], [`SensitivitySet::SameDirection`] and [`SensitivitySet::Along`], for which
/// it is the largest loss over the accounts. An upper bound for [`SensitivitySet::Vectors`]: `Σ_i max_c
/// D^c_ii`, each `D^c - G^c` positive semidefinite.
///
/// # Errors
/// [`ProgramError::SensitivitySet`] for no account, accounts of different observers or of programs with other
/// uses, and other sets; [`ndp_certify::Error::NoiselessView`] if a change is seen without noise in some
/// coordinate; those of [`ProgramAccount::verdict`].
pub fn loss_by_coordinates(
    accounts: &[ProgramAccount],
    source: usize,
    set: &SensitivitySet,
) -> Result<Loss, Error> {
    let refuse = |uses: usize, problem: &str| {
        let problem = problem.to_owned();
        Err(Error::from(ProgramError::SensitivitySet { node: source, uses, problem }))
    };
    let Some(first) = accounts.first() else { return refuse(0, "there is no account") };
    let uses = first.node(source)?.uses;
    for account in accounts {
        if account.observer() != first.observer() || account.node(source)?.uses != uses {
            return refuse(uses, "the accounts are of different observers, or of different uses");
        }
    }
    // Together they rest on the weakest assumption of any account.
    let reads = accounts.iter().map(|account| account.adaptivity).fold(first.adaptivity, Dependence::with);
    match set {
        SensitivitySet::UseLevel | SensitivitySet::SameDirection | SensitivitySet::Along(_) => {
            let mut found = Ends::ZERO;
            let mut exact = true;
            for account in accounts {
                let loss = account.loss(source, set)?;
                exact &= loss.value.grade() == Grade::Exact;
                found = found.max(Ends { low: loss.lower, high: loss.value() });
            }
            Ok(Loss::new(found, exact, set, reads))
        }
        SensitivitySet::Vectors { .. } => {
            let mut diagonal = vec![0.0; uses];
            let mut low: f64 = 0.0;
            for account in accounts {
                let gram = account.node(source)?;
                let ends = match sensitivity::evaluate(gram, &SensitivitySet::Signs)? {
                    Value::Ends(ends) => ends,
                    Value::Noiseless(_) => {
                        return Err(Error::Certify(ndp_certify::Error::NoiselessView(source)));
                    }
                };
                low = low.max(ends.low);
                let relevant: Vec<usize> = (0..uses).filter(|&i| gram.relevant(i)).collect();
                let part = gram.part(&relevant, &vec![1.0; uses]);
                for (&i, d) in relevant.iter().zip(semidefinite::majorant(&part)) {
                    diagonal[i] = f64::max(diagonal[i], d);
                }
            }
            let high = diagonal.iter().fold(0.0, |sum: f64, d| (sum + d).next_up());
            Ok(Loss::new(Ends { low, high }, false, set, reads))
        }
        _ => refuse(uses, "by coordinates only one use, one direction and vectors are accounted for"),
    }
}
