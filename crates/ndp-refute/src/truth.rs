//! What an observer of gossip learns, as a fraction.

use crate::setting::Setting;
use num_rational::BigRational;
use num_traits::Zero;

/// The exact loss of node `u` towards node `v` after `rounds` rounds, in units of the local loss
/// `alpha / (2 sigma²)`.
///
/// Every node adds noise once and gossips: `x^0 = data + noise`, `x^(t+1) = W x^t`. The observer `v` receives
/// `x^0_w, ..., x^(rounds-1)_w` of its neighbors `w` and knows its own data and noise. With `R` the rows
/// `(W^t)_w` without column `v`, all noises are independent of variance 1, and the loss is
/// `max over y of (y·R e_u)² / |Rᵀ y|² = |P e_u|²`, where `P` projects onto the span of the rows. It is added
/// up along an orthogonal basis (Gram-Schmidt without roots), in fractions; nothing is rounded.
///
/// Whom it protects: node `u`'s one number, against the one node `v` that follows the protocol, with the
/// graph, the weights and the order of messages known. Grade: exact. Source: `docs/theory.md`, exact loss.
///
/// # Panics
/// If a node does not exist or the setting has fewer rounds.
#[must_use]
pub fn exact_unit_loss(setting: &Setting, rounds: usize, u: usize, v: usize) -> BigRational {
    losses(setting, rounds, v).swap_remove(u)
}

/// The losses of all nodes towards `v`; 0 for `v` itself, whose loss is not asked for.
pub(crate) fn losses(setting: &Setting, rounds: usize, v: usize) -> Vec<BigRational> {
    let n = setting.graph.node_count();
    let mut basis: Vec<(Vec<BigRational>, BigRational)> = Vec::new();
    let mut sums = vec![BigRational::zero(); n];
    for power in &setting.exact[..rounds] {
        for &w in setting.graph.neighbors(v) {
            if basis.len() + 1 == n {
                return sums;
            }
            let mut row = power[w as usize].clone();
            row[v] = BigRational::zero();
            for (before, square) in &basis {
                let factor = dot(&row, before) / square;
                if !factor.is_zero() {
                    row.iter_mut().zip(before).for_each(|(x, y)| *x -= &factor * y);
                }
            }
            let square = dot(&row, &row);
            if !square.is_zero() {
                sums.iter_mut().zip(&row).for_each(|(sum, x)| *sum += x * x / &square);
                basis.push((row, square));
            }
        }
    }
    sums
}

fn dot(x: &[BigRational], y: &[BigRational]) -> BigRational {
    let terms = x.iter().zip(y).filter(|(x, y)| !x.is_zero() && !y.is_zero());
    terms.map(|(x, y)| x * y).fold(BigRational::zero(), |sum, term| sum + term)
}
