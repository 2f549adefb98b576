//! The loss `N ε_gap` of at most `N` contributions on walks that are too long to follow first visits step by
//! step.
//!
//! Let `h_t` be the law of the first visit, from `u`, to the set of `u` and its observers, and `g_t = e^{θ/t}
//! − 1`. The loss of a gap is `ε_gap = ln(1 + x)/(α − 1)`,
//!
//! ```text
//! x = Σ_{t ≤ cut} h_t g_t + P(no visit up to the cut) g_{cut+1} = g_{cut+1} + Σ_{t ≤ cut} h_t (g_t − g_{cut+1}).
//! ```
//!
//! For a symmetric `W` the law is `h_t = ⟨r_u, Q^{t−2} r⟩` for `t ≥ 2`, where `Q` is `W` without the set,
//! `r_u` the column of `u` and `r` the sum of the columns of the set. So `x` is a quadratic form `⟨r_u, F(Q)
//! r⟩` of the polynomial `F(x) = Σ_t w_t x^{t−2}`, `w_t = g_t − g_{cut+1} ≥ 0`. In Chebyshev polynomials,
//! `F = Σ_j f_j T_j` with `f_j = Σ_t w_t P(|S_{t−2}| = j) ≥ 0`, where `S` is the simple random walk on the
//! integers. After `cut` steps it has a spread of `√cut`, so that about `√cut` terms are enough, and the rest
//! is at most the sum of the other `f_j`. Since `T_{j+k} + T_{|j−k|} = 2 T_j T_k`, one product with the
//! matrix gives two terms. The coefficients are the same for all pairs of a walk.
//!
//! # References
//! - Varopoulos, *Long range estimates for Markov chains*, 1985, and Carne, *A transmutation formula for
//!   Markov chains*, 1985: powers in Chebyshev polynomials by the simple random walk.

use super::contribution::require_positive;
use super::local::{LocalLoss, MAX_EXPONENT};
use super::series::up;
use ndp_account::Error;
use ndp_account::parts::ensure;
use ndp_graph::Csr;
use ndp_graph::hitting::Walk;
use ndp_numeric::stop::{Stop, work};

/// The coefficients that all pairs of a long walk share, for one order and noise.
#[derive(Clone, Debug)]
pub(super) struct LongWalk {
    moves: Walk,
    local: LocalLoss,
    /// `g_{cut+1}`, 0 when the whole walk is followed.
    beyond: f64,
    /// `w_1`, the weight of a first visit at time 1.
    at_once: f64,
    /// The coefficients `f_j`, and the sum of those that are left out.
    coefficients: Vec<f64>,
    left_out: f64,
}

impl LongWalk {
    /// For a walk of `steps` steps, of which first visits are followed up to time `cut`. A later visit is
    /// charged as if it came at the first time beyond it.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for 0 steps, or a cut of 0 or one that leaves more than `10^6` steps to
    /// follow; [`Error::NoGuarantee`] for a matrix that is not exactly symmetric.
    ///
    /// # Complexity
    /// `O(cut^{3/2})`.
    pub(super) fn new(moves: Walk, local: LocalLoss, steps: usize, cut: usize) -> Result<Self, Error> {
        require_positive("the number of steps", steps)?;
        require_positive("the horizon", cut)?;
        let cut = cut.min(steps);
        let condition = "be at most 10^6 for a symmetric matrix: what is left is charged at once";
        ensure(cut <= MAX_CUT, "the horizon", condition, cut as f64)?;
        if !moves.is_symmetric() {
            return Err(Error::NoGuarantee("first visits by halves need a symmetric matrix"));
        }
        // For a larger θ the local loss is reported, and none of these coefficients is used.
        let theta = local.exponent().min(MAX_EXPONENT);
        let charge = |t: usize| (theta / t as f64).exp_m1();
        let beyond = if cut < steps { charge(cut + 1) } else { 0.0 };
        let weights: Vec<f64> = (2..=cut).map(|t| charge(t) - beyond).collect();
        let (coefficients, left_out) = chebyshev(&weights, moves.stop())?;
        let at_once = charge(1) - beyond;
        Ok(Self { moves, local, beyond, at_once, coefficients, left_out })
    }

    /// `ε_gap` from `u` to a coalition of other nodes, at most `c₀`. It gives the same as following first
    /// visits, but faster.
    ///
    /// # Complexity
    /// `O(√cut · nonzeros)`.
    ///
    /// # Errors
    /// [`Error::Stopped`].
    pub(super) fn gap(&self, u: usize, members: &[usize]) -> Result<f64, Error> {
        let set: Vec<usize> = members.iter().copied().chain([u]).collect();
        let cost = self.local.cost();
        Ok(match self.excess(u, &set)? {
            Some(excess) => self.local.loss_of_log_excess(excess.ln()).min(cost),
            None => cost,
        })
    }

    /// `x` of the module documentation, rounded up; `None` if the bound says no more than the local loss.
    fn excess(&self, u: usize, set: &[usize]) -> Result<Option<f64>, Error> {
        if self.local.exponent() > MAX_EXPONENT {
            return Ok(None);
        }
        let csr = self.moves.incoming();
        let n = csr.node_count();
        let once: f64 = set.iter().map(|&y| csr.get(u, y)).sum();
        // The columns r_u and r without the set, to which T_j will be applied.
        let mut first = vec![[0.0; 2]; n];
        for &y in set {
            let (columns, weights) = csr.row(y);
            for (&x, &w) in columns.iter().zip(weights) {
                let entry = &mut first[x as usize];
                entry[1] += w;
                if y == u {
                    entry[0] += w;
                }
            }
        }
        clear(&mut first, set);
        let mut moments = Moments::new(first, csr, set);
        let terms = self.coefficients.len() as f64;
        // The error of T_i r satisfies the recursion of T_i, and is at most Σ (i − k + 1) |e_k|, where each
        // |e_k| is at most three units.
        let unit = self.moves.error_per_step() + 8.0 * f64::EPSILON;
        let of_moment = 2.1 * unit * (terms + 2.0) * (terms + 4.0) + 4.0 * (n + 4) as f64 * f64::EPSILON;
        if of_moment > 0.01 {
            return Ok(None);
        }
        let (mut sum, mut size) = (0.0, 0.0);
        for &coefficient in &self.coefficients {
            // Only every other term needs a product with the matrix.
            self.moves.stop().spend(work([1, csr.parts().1.len() + 2 * n]))?;
            let term = coefficient * moments.next();
            sum += term;
            size += coefficient;
        }
        // A moment is at most the product of the norms; the coefficients have a relative error of `cut`
        // roundings.
        let norms = moments.norms() * (1.0 + 2.0 * n as f64 * f64::EPSILON);
        let rounding = size * norms * (terms + 8.0) * f64::EPSILON;
        let error = norms * (1.01 * size * of_moment + self.left_out) + rounding;
        let known = self.beyond + once * (1.0 + n as f64 * f64::EPSILON) * self.at_once;
        Ok(Some(up((sum + error).max(0.0) + known, 8)))
    }
}

/// `⟨r_u, T_j(Q) r⟩` for `j = 0, 1, …`.
struct Moments<'a> {
    csr: &'a Csr,
    set: &'a [usize],
    /// `T_{i−1}` and `T_i`, applied to `r_u` and `r`.
    previous: Vec<[f64; 2]>,
    current: Vec<[f64; 2]>,
    /// The first two moments, and the squared norms of `r_u` and `r`.
    start: [f64; 2],
    squares: [f64; 2],
    order: usize,
}

impl<'a> Moments<'a> {
    fn new(first: Vec<[f64; 2]>, csr: &'a Csr, set: &'a [usize]) -> Self {
        let square = |lane: usize| first.iter().map(|x| x[lane] * x[lane]).sum();
        let squares = [square(0), square(1)];
        let zero = cross(&first, &first);
        let previous = vec![[0.0; 2]; first.len()];
        Self { csr, set, previous, current: first, start: [zero, 0.0], squares, order: 0 }
    }

    fn norms(&self) -> f64 {
        (self.squares[0] * self.squares[1]).sqrt()
    }

    fn next(&mut self) -> f64 {
        let order = self.order;
        self.order += 1;
        match order {
            0 => self.start[0],
            1 => {
                let mut next = vec![[0.0; 2]; self.current.len()];
                self.csr.multiply_panel(&self.current, &mut next);
                clear(&mut next, self.set);
                self.previous = std::mem::replace(&mut self.current, next);
                self.start[1] = cross(&self.current, &self.previous);
                self.start[1]
            }
            // T_{2i} = 2 T_i T_i − T_0.
            even if even % 2 == 0 => 2.0 * cross(&self.current, &self.current) - self.start[0],
            // T_{2i+1} = 2 T_{i+1} T_i − T_1.
            _ => {
                let mut next = vec![[0.0; 2]; self.current.len()];
                self.csr.multiply_panel(&self.current, &mut next);
                for (next, old) in next.iter_mut().zip(&self.previous) {
                    *next = [2.0 * next[0] - old[0], 2.0 * next[1] - old[1]];
                }
                clear(&mut next, self.set);
                self.previous = std::mem::replace(&mut self.current, next);
                2.0 * cross(&self.current, &self.previous) - self.start[1]
            }
        }
    }
}

/// `⟨a_u, b⟩`.
fn cross(a: &[[f64; 2]], b: &[[f64; 2]]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a[0] * b[1]).sum()
}

fn clear(lanes: &mut [[f64; 2]], set: &[usize]) {
    for &node in set {
        lanes[node] = [0.0; 2];
    }
}

/// The coefficients of `Σ_k weights[k] x^k` in Chebyshev polynomials up to some degree, and a bound on the
/// sum of all others.
///
/// All terms are positive, so that each coefficient has a relative error of at most `weights.len()`
/// roundings. The bound covers these as well.
///
/// # Errors
/// [`Error::Stopped`].
fn chebyshev(weights: &[f64], stop: &Stop) -> Result<(Vec<f64>, f64), Error> {
    let steps = weights.len();
    // P(|S_k| > J) ≤ 2 exp(−J²/2k).
    let degree =
        ndp_numeric::casts::floor((2.0 * steps as f64 * (2.0 / LEFT_OUT).ln()).sqrt().ceil()).min(steps);
    let mut coefficients = vec![0.0; degree + 1];
    let mut law = vec![0.0; degree + 2];
    let mut next = law.clone();
    law[0] = 1.0;
    for (k, &weight) in weights.iter().enumerate() {
        stop.spend(work([degree + 1]))?;
        // After an even or odd number of steps, only places of the same parity can be reached.
        let reached = k.min(degree);
        for j in (k % 2..=reached).step_by(2) {
            coefficients[j] += weight * law[j];
        }
        next[..=degree].fill(0.0);
        for j in (k % 2..=reached).step_by(2) {
            if j == 0 {
                next[1] += law[0];
            } else {
                next[j - 1] += 0.5 * law[j];
                next[j + 1] += 0.5 * law[j];
            }
        }
        // What leaves the range is left out for good; the bound on the rest covers it.
        next[degree + 1] = 0.0;
        std::mem::swap(&mut law, &mut next);
    }
    let all: f64 = weights.iter().sum();
    let rounding = (4 * steps + 16) as f64 * f64::EPSILON * all;
    // Leaves out further coefficients that are negligible because the weights are smooth.
    let mut kept = coefficients.len();
    let mut dropped = 0.0;
    while kept > 1 && dropped + coefficients[kept - 1] <= LEFT_OUT * all {
        kept -= 1;
        dropped += coefficients[kept];
    }
    coefficients.truncate(kept);
    let found: f64 = coefficients.iter().sum();
    Ok((coefficients, (all - found).max(0.0) + rounding))
}

/// The share of the coefficients that may be left out.
const LEFT_OUT: f64 = 1e-11;

/// For a larger cut, the coefficients alone would take seconds.
const MAX_CUT: usize = 1_000_000;

#[cfg(test)]
mod tests {
    use super::super::contribution;
    use super::super::oracle::local;
    use super::*;
    use approx::assert_relative_eq;
    use ndp_graph::GossipMatrix;
    use ndp_graph::Weights;
    use ndp_graph::generators::{complete_graph, cycle_graph, grid_2d_graph, hypercube_graph, star_graph};
    use ndp_graph::hitting::Start;

    static NEVER: Stop = Stop::never();

    fn step_by_step(
        w: &GossipMatrix,
        u: usize,
        members: &[usize],
        local: LocalLoss,
        [steps, cut, cap]: [usize; 3],
    ) -> f64 {
        let set: Vec<usize> = [u].into_iter().chain(members.iter().copied()).collect();
        let visits = Walk::from(w).first_visits(&Start::Node(u), &set, cut.min(steps)).unwrap();
        contribution::capped(&visits, local, steps, cap, false).unwrap().into_value()
    }

    /// The fast form is never below the definition, and agrees with it up to the rounding that it claims.
    #[test]
    fn agrees_with_following_first_visits_step_by_step() -> Result<(), Error> {
        let walks = [
            GossipMatrix::metropolis(&grid_2d_graph(7, 8)?),
            GossipMatrix::new(&hypercube_graph(5)?, Weights::MaxDegree)?,
            GossipMatrix::new(&star_graph(9)?, Weights::MaxDegree)?,
            GossipMatrix::metropolis(&cycle_graph(31)?),
            GossipMatrix::metropolis(&complete_graph(5)?),
        ];
        for w in &walks {
            for sizes in
                [[1, 1, 1], [2, 1, 3], [2, 5, 1], [3, 3, 2], [40, 40, 2], [900, 300, 7], [5000, 3000, 4]]
            {
                for local in [local(2.0, 1.0), local(8.0, 3.0), local(3.0, 0.4)] {
                    let walk = LongWalk::new(Walk::from(w), local, sizes[0], sizes[1])?;
                    for (u, members) in [(0, vec![1]), (1, vec![0]), (2, vec![4]), (0, vec![1, 3, 4])] {
                        let fast = contribution::of_gaps(walk.gap(u, &members)?, local, sizes[2], false)
                            .into_value();
                        let slow = step_by_step(w, u, &members, local, sizes);
                        // The definition is rounded up as well, by a few units per step.
                        assert!(fast >= slow * (1.0 - 1e-10) - 1e-300, "{fast} is below {slow}");
                        assert_relative_eq!(fast, slow, max_relative = 2e-6, epsilon = 1e-300);
                    }
                }
            }
        }
        Ok(())
    }

    /// `x^k` itself: weight 1 on a single power.
    #[test]
    fn chebyshev_coefficients_of_powers() -> Result<(), Error> {
        let (coefficients, left_out) = chebyshev(&[0.0, 0.0, 0.0, 1.0], &NEVER)?;
        // x³ = (3 T_1 + T_3)/4.
        assert_eq!(coefficients, [0.0, 0.75, 0.0, 0.25]);
        assert!(left_out < 1e-13);
        let weights: Vec<f64> = (2..=2000).map(|t| 1.0 / f64::from(t)).collect();
        let (coefficients, left_out) = chebyshev(&weights, &NEVER)?;
        assert!(coefficients.len() < 450 && left_out < 1e-9);
        for x in [-1.0, -0.3, 0.9, 0.9999, 1.0f64] {
            let power: f64 = weights.iter().zip(0..).map(|(w, k)| w * x.powi(k)).sum();
            let angle = x.acos();
            let found: f64 =
                coefficients.iter().zip(0..).map(|(c, j)| c * (f64::from(j) * angle).cos()).sum();
            assert!((power - found).abs() <= left_out + 1e-12);
        }
        Ok(())
    }

    #[test]
    fn bad_input_is_named() -> Result<(), Error> {
        let w = Walk::from(&GossipMatrix::metropolis(&cycle_graph(6)?));
        let invalid = |result: Result<LongWalk, Error>| matches!(result, Err(Error::InvalidParameter { .. }));
        assert!(invalid(LongWalk::new(w.clone(), local(2.0, 1.0), 0, 5)));
        assert!(invalid(LongWalk::new(w.clone(), local(2.0, 1.0), 5, 0)));
        assert!(invalid(LongWalk::new(w.clone(), local(2.0, 1.0), usize::MAX, 1_000_001)));
        // Absurd noise gives the local loss of a contribution.
        let loud = LongWalk::new(w, local(2.0, 1e-5), 50, 50)?;
        assert_relative_eq!(loud.gap(0, &[2])?, 1e10, max_relative = 1e-12);
        Ok(())
    }
}
