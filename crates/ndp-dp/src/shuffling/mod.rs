//! Amplification by shuffling: what the multiset of `m` local reports reveals about one of them.
//!
//! Each report is `ε₀`-DP on its own; whoever sees only the multiset (a histogram, a sum) learns less. Neighbors
//! differ in the data of one user, who makes one report; the reports of the others may be known.
//!
//! | function | for | form | preconditions |
//! |---|---|---|---|
//! | [`efmrtt`] | any randomizer | `ε = 12 ε₀ √(ln(1/δ)/m)` | `m ≥ 1000`, `ε₀ < 1/2`, `δ < 1/100` |
//! | [`clones_closed`] | any randomizer | closed `ε` | `ε₀ ≤ ln(m/(16 ln(2/δ)))` |
//! | [`hoeffding_delta`], [`bennett_delta`] | any randomizer | closed `δ` | `ε > 0` |
//! | [`rr_hoeffding_delta`], [`rr_bennett_delta`] | `L`-ary randomized response | closed `δ` | `ε > 0` |
//! | [`clones_delta`] | any randomizer | sum | `m ≤ 10⁵` |
//! | [`rr_blanket_delta`] | `L`-ary randomized response | sum | `m ≤ 10⁵` |
//! | [`fixed_blanket_delta`] | one report among uniform elements | sum | below 10⁵ elements |
//! | [`generic_epsilon`], [`rr_epsilon`] | both | the smallest of all that apply | none |
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

pub use best::{Rule, Shuffled, generic_epsilon, rr_epsilon};
pub use blanket::{bennett_delta, hoeffding_delta, rr_bennett_delta, rr_hoeffding_delta};
pub use closed::{clones_closed, clones_closed_holds, efmrtt, efmrtt_gamma, efmrtt_local_epsilon};
pub use exact::{MOST_REPORTS, clones_delta, fixed_blanket_delta, rr_blanket_delta};
