//! Amplification by shuffling: what the multiset of `m` local reports reveals about one of them.
//!
//! Each report is `ε₀`-DP on its own, and all users have the same randomizer: among others who always give
//! the same answer a report is not hidden. An observer who sees only the multiset (a histogram, a sum) learns
//! less. Neighbors differ in the data of one user, who makes one report; the reports of the others may be
//! known.
//!
//! [`Reports`] describes what is shuffled and computes the best bound, or a given one:
//!
//! | bound | for | form | preconditions |
//! |---|---|---|---|
//! | [`Bound::Local`] | any randomizer | `ε₀` | |
//! | [`Bound::Efmrtt`] | any randomizer | closed `ε` | `m ≥ 1000`, `ε₀ < 1/2`, `δ < 1/100` |
//! | [`Bound::ClonesClosed`] | any randomizer | closed `ε` | `ε₀ ≤ ln(m/(16 ln(2/δ)))` |
//! | [`Bound::Hoeffding`], [`Bound::Bennett`] | any randomizer, tighter for randomized response | closed `δ` | `ε > 0` |
//! | [`Bound::Clones`] | any randomizer | sum | `m ≤ 10⁸`, by blocks beyond 10⁵ |
//! | [`Bound::Blanket`] | randomized response | sum | `m ≤ 10⁸`, by blocks beyond 10⁵ |
//!
//! The closed forms of the blanket, with `g` the probability of an answer that does not depend on the input,
//! `a = e^ε − 1`, values of the loss in an interval of length `b`, at most `b₊`, and second moment at most
//! `c`, are `b²/(4 a g m) · (1 − g(1 − e^{−2a²/b²}))^m` (Hoeffding) and `b₊/ln(1 + β) · [(1 − g(1 − r))^m −
//! (1 − g)^m]/(g m)`, `β = a b₊/c`, `r = e^{−(c/b₊²)((1+β)ln(1+β) − β)}` (Bennett). For one report among
//! uniform elements instead of a shuffled crowd see [`fixed_blanket_delta`].
//!
//! All are upper bounds, and from `ε ≥ ε₀` on `δ = 0`.
//!
//! # References
//! - Erlingsson, Feldman, Mironov, Raghunathan, Talwar and Thakurta, *Amplification by shuffling*, 2019,
//!   arXiv:1811.12469.
//! - Balle, Bell, Gascón and Nissim, *The privacy blanket of the shuffle model*, 2019, arXiv:1903.02837.
//! - Feldman, McMillan and Talwar, *Hiding among the clones*, 2020, arXiv:2012.12803.

mod best;
mod blanket;
mod closed;
mod exact;
mod trinomial;

pub use best::{Bound, Reports, Shuffled};
pub use exact::{MAX_REPORTS, MOST_REPORTS, fixed_blanket_delta};
#[cfg(test)]
pub(crate) use {
    best::{generic_epsilon, rr_epsilon},
    blanket::{bennett_delta, hoeffding_delta},
    closed::{clones_closed, efmrtt, efmrtt_gamma, efmrtt_local_epsilon},
    exact::{clones_delta, rr_blanket_delta},
};
