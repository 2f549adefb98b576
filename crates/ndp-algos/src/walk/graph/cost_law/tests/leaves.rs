//! Leaves lose much on rare walks: `docs/theory.md`, "Random walks".

use super::*;
use ndp_numeric::gaussian_profile::log_theta_down;

/// A lower bound on the `δ` at `ε` of a leaf of a node of degree `d` among `n` nodes, towards that node,
/// which knows the path of `T` steps: with probability `(q^{k−1} − q^{T−1})/n`, `q = 1 − 1/(1 + d)`, the leaf
/// starts the walk and keeps the token for at least `k` steps before the walk ends, and then `μ ≥ √k/σ`.
fn of_leaf(d: f64, n: f64, steps: f64, sigma: f64, epsilon: f64) -> f64 {
    let q: f64 = 1.0 - 1.0 / (1.0 + d);
    let at = |k: f64| {
        (q.powf(k - 1.0) - q.powf(steps - 1.0)) / n * log_theta_down(epsilon, k.sqrt() / sigma).exp()
    };
    (1..50_000).map(f64::from).take_while(|&k| k < steps).map(at).fold(0.0, f64::max)
}

/// The bound is below the law of a leaf of small stars. On the combined Facebook graph it is more than `δ =
/// 1e-5` at epsilon 350, for any accountant.
#[test]
fn no_bound_for_a_leaf_is_small() -> Result<(), Error> {
    for leaves in [3, 5, 9] {
        let w = metropolis(&star_graph(leaves)?);
        let steps = 30;
        let law = TokenWalk::new(&w, Start::Uniform, steps)?.cost_law(1, &[0])?;
        for (sigma, epsilon) in [(1.0, 1.0), (1.0, 8.0), (2.0, 5.0)] {
            let least = of_leaf(leaves as f64, leaves as f64 + 1.0, steps as f64, sigma, epsilon);
            let found = law.delta(noise(sigma), epsilon)?;
            assert!(0.0 < least && least <= found.upper(), "{leaves} {sigma} {epsilon}: {least} {found:?}");
        }
    }
    let of_combined = |epsilon| of_leaf(1045.0, 4039.0, 40_390.0, 2.0, epsilon);
    assert!(of_combined(350.0) > 1e-5 && of_combined(1000.0) < 1e-5);
    Ok(())
}
