//! The other printed formulas of *Muffliato*: random graphs and coalitions.

use ndp_account::Error;
use ndp_account::parts::ensure;
use ndp_algos::gossip::random_graph::RandomGraph;
use ndp_algos::parts::positive_outside;
use ndp_dp::{Order, Printed, Sensitivity, Sigma};

/// Theorem 4 (9, and Corollary 5 with the `Δ²` that its print leaves out) for a node that is not adjacent
/// to the observers: `α Δ² T d / (σ² (n - d))` in nats.
///
/// For a neighbor the theorem gives the local loss. The print requires `σ² ≥ Δ² α (α - 1) / 2`, which is not
/// checked here; [`RandomGraph::loss`] is a sound version.
///
/// # Errors
/// [`Error::InvalidParameter`] unless `d < n`.
pub fn theorem4(
    setting: RandomGraph,
    order: Order,
    sensitivity: Sensitivity,
    sigma: Sigma,
) -> Result<Printed<f64>, Error> {
    let rest = positive_outside(setting.nodes, setting.degree)?;
    let ratio = sensitivity.get() / sigma.get();
    let messages = setting.rounds as f64 * setting.degree as f64;
    Ok(Printed::new(order.get() * ratio * ratio * messages / rest))
}

/// Corollary 4, the variance for a mean loss of `epsilon` towards a coalition with `degree` neighbors:
/// `d_V / (2 α ε)`.
///
/// False: it contains neither the number of rounds nor that of nodes, and has `α` on the wrong side. The mean
/// that the theorem behind it proves requires `α Δ² d_V T / (2 n ε)`, as in
/// [`MeanBudget`](ndp_algos::gossip::table1::MeanBudget).
///
/// # Errors
/// [`Error::InvalidParameter`] unless `epsilon` is positive and finite.
pub fn corollary4_variance(degree: usize, order: Order, epsilon: f64) -> Result<Printed<f64>, Error> {
    ensure(0.0 < epsilon && epsilon.is_finite(), "the mean loss allowed", "be positive and finite", epsilon)?;
    Ok(Printed::new(degree as f64 / (2.0 * order.get() * epsilon)))
}
