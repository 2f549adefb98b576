//! The other printed formulas of *Muffliato*: random graphs, randomized gossip, Table 1.

use crate::Error;
use crate::error::ensure;
use crate::gossip::random_graph::positive_outside;
use ndp_dp::{Order, Printed, Sensitivity, Sigma};

/// The setting of Theorems 4 and 9 and Corollary 5: `n` nodes, a coalition of `|V|` of them with `d_V`
/// neighbors outside, `T` rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RandomGraph {
    /// Number of nodes `n`.
    pub nodes: usize,
    /// Number of observers `|V|`, 1 for a single node.
    pub observers: usize,
    /// Neighbors of the observers outside the coalition, `d_V`.
    pub degree: usize,
    /// Number of rounds `T`.
    pub rounds: usize,
}

/// Theorem 4 (9, and Corollary 5 with the `Δ²` that its print leaves out) for a node that is not adjacent
/// to the observers: `α Δ² T d / (σ² (n - d))` in nats.
///
/// For a neighbor the theorem has the local loss. The print needs `σ² ≥ Δ² α (α - 1) / 2`, which is not
/// checked here; a sound version is [`random_graph`](crate::gossip::random_graph).
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

/// Proposition 1, gradient descent over graphs drawn anew each round, in nats:
/// `(α Δ² / σ²) Σ_t (β_t + (1 - β_t) K |N_t(V)| / (n - |N_t(V)|))`.
///
/// One entry of `rounds` per round: whether `u` was adjacent to the observers (`β_t`), and the number of
/// their neighbors outside. `steps` is the number `K` of gossip steps per round. The print sums one
/// round too many and composes over hidden states, which nothing justifies.
///
/// # Errors
/// [`Error::InvalidParameter`] unless every number of neighbors is below `nodes`.
pub fn proposition1(
    rounds: &[(bool, usize)],
    nodes: usize,
    steps: usize,
    order: Order,
    sensitivity: Sensitivity,
    sigma: Sigma,
) -> Result<Printed<f64>, Error> {
    let ratio = sensitivity.get() / sigma.get();
    let mut sum = 0.0;
    for &(adjacent, neighbors) in rounds {
        let rest = positive_outside(nodes, neighbors)?;
        sum += if adjacent { 1.0 } else { steps as f64 * neighbors as f64 / rest };
    }
    Ok(Printed::new(order.get() * ratio * ratio * sum))
}

/// Number of neighbors of `observers` nodes outside themselves in a random graph, as Proposition 1 prints it:
/// "of order" `c |V| ln n / n`, with `c ln n / n` the probability `q` of an edge.
///
/// Too small by a factor of about `n`:
/// [`expected_outside_neighbors`](crate::gossip::random_graph::expected_outside_neighbors).
#[must_use]
pub fn proposition1_neighbors(observers: usize, q: f64) -> Printed<f64> {
    Printed::new(observers as f64 * q)
}

/// Corollary 4, the variance for a mean loss of `epsilon` towards a coalition with `degree` neighbors:
/// `d_V / (2 α ε)`.
///
/// False: it has neither the number of rounds nor that of nodes, and `α` on the wrong side. The mean that the theorem
/// behind it proves asks for `α Δ² d_V T / (2 n ε)`, as
/// [`MeanBudget::coalition`](crate::gossip::table1::MeanBudget::coalition) does.
///
/// # Errors
/// [`Error::InvalidParameter`] unless `epsilon` is positive and finite.
pub fn corollary4_variance(degree: usize, order: Order, epsilon: f64) -> Result<Printed<f64>, Error> {
    ensure(0.0 < epsilon && epsilon.is_finite(), "the mean loss allowed", "be positive and finite", epsilon)?;
    Ok(Printed::new(degree as f64 / (2.0 * order.get() * epsilon)))
}

/// Theorem 8, the error of randomized gossip: `2 ((D + σ²) e^{-T λ₂} + σ²/n)`, twice the print, which bounds half of the
/// mean squared error.
///
/// False: the rate is half of it. On the triangle with probabilities 1/3, values 1, -1, 0 and hardly any noise
/// the error after 4 steps is `2⁻⁴ · 2/3 = 0.0417`, printed 0.0244.
#[must_use]
pub fn randomized_error(
    rounds: usize,
    second_eigenvalue: f64,
    nodes: usize,
    sigma: Sigma,
    spread: f64,
) -> Printed<f64> {
    let variance = sigma.get() * sigma.get();
    let decay = (-(rounds as f64) * second_eigenvalue).exp();
    Printed::new(2.0 * ((spread + variance) * decay + variance / nodes as f64))
}

/// The expected mean loss of randomized gossip with `p = 2W/n` as a fraction of `c₀`: `T/n²`.
///
/// False by a factor of about 2: with `π_v = (2/n)(1 - W_vv)` it is `2 T (1 - W_vv) / n²`.
#[must_use]
pub fn randomized_mean_loss(rounds: usize, nodes: usize) -> Printed<f64> {
    Printed::new(rounds as f64 / (nodes as f64 * nodes as f64))
}

/// The graph families of Table 1.
///
/// # Examples
/// ```
/// use ndp_algos::gossip::printed::{Table1Family, table1_exponent};
/// println!("{:?}", table1_exponent(Table1Family::Torus(2)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Table1Family {
    /// Constant gap and degree (up to logarithms), such as the hypercube.
    Expander,
    /// The torus of this dimension.
    Torus(u32),
    /// All nodes joined.
    Complete,
    /// The ring.
    Ring,
}

/// Exponent of `n` in the entry of Table 1 (constants and logarithms are hidden there): for Algorithm 1,
/// synchronous, and Algorithm 2, randomized.
#[must_use]
pub fn table1_exponent(family: Table1Family) -> [Printed<f64>; 2] {
    let [synchronous, randomized] = match family {
        Table1Family::Expander => [-2.0, -2.0],
        Table1Family::Torus(dimension) => {
            let d = f64::from(dimension);
            [-(2.0 - 1.0 / d), -(2.0 - 2.0 / d)]
        }
        Table1Family::Complete => [-1.0, -2.0],
        Table1Family::Ring => [-1.0, -1.0],
    };
    [Printed::new(synchronous), Printed::new(randomized)]
}
