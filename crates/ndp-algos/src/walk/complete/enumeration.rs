//! Costs of all walks, for tests: nothing here is shared with what they test.

use super::CompleteWalk;

/// The cost `Σ k²/m` of each of the `n^T` walks. Node 0 is exposed, the last `c` nodes observe.
pub(super) fn costs_of_all_walks(walk: &CompleteWalk) -> Vec<f64> {
    let (n, steps, c) = (walk.node_count(), walk.step_count(), walk.colluders);
    let cost = |k: usize, m: usize| if m == 0 { 0.0 } else { (k * k) as f64 / m as f64 };
    let of = |mut code: usize| {
        let (mut k, mut m, mut total) = (0, 0, 0.0);
        for _ in 0..steps {
            let holder = code % n;
            code /= n;
            if holder >= n - c {
                total += cost(k, m);
                (k, m) = (0, 0);
            } else {
                k += usize::from(holder == 0);
                m += 1;
            }
        }
        if walk.is_published() { total + cost(k, m) } else { total }
    };
    (0..n.pow(steps as u32)).map(of).collect()
}
