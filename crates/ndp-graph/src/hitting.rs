//! Laws of the first visits of a random walk, by taboo recursion.
//!
//! A walk with transition matrix `W` starts from a law `p` at time 0. Pushing the law forward
//! and deleting what lands on a set of *targets*,
//!
//! ```text
//! p ← p W,    h_t(i) = p(targets[i]),    p(targets) ← 0,        t = 1, 2, …, T
//! ```
//!
//! gives the law of the first visit of the set after time 0, in `O(T · nonzeros)` for all `t`
//! at once and without cancellation: every term is nonnegative.
//!
//! For a symmetric `W` half of the steps are enough. Let `Q` be the matrix restricted to the other nodes and
//! `r_x` the column of target `x` restricted to them. Then the probability of going from `x` to `y` in `t`
//! steps without meeting a target in between is `⟨Q^j r_x, Q^k r_y⟩` for any `j + k = t − 2`.
//!
//! # References
//! - Levin, Peres, *Markov Chains and Mixing Times*, second edition, chapter 10 (hitting times).

mod pair_laws;

pub use pair_laws::PairLaws;

use crate::error::ensure;
use crate::kernel::multiply_rows_of;
use crate::{Csr, Error, GossipMatrix, TransitionMatrix};
use ndp_linalg::memory::require_dense;
use ndp_numeric::stop::{Stop, work};
use serde::{Deserialize, Serialize};

/// Where a walk starts, at time 0.
///
/// # Examples
/// ```
/// use ndp_graph::hitting::Start;
/// assert_eq!(Start::Node(1).law(3)?, [0.0, 1.0, 0.0]);
/// assert_eq!(Start::Uniform.law(4)?, [0.25; 4]);
/// # Ok::<(), ndp_graph::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Start {
    /// At one node.
    Node(usize),
    /// At a node drawn uniformly.
    Uniform,
    /// At a node drawn from a given law: one probability per node.
    Law(Vec<f64>),
}

impl Start {
    /// The probability of every one of `n` nodes.
    ///
    /// # Errors
    /// [`Error::TooLarge`] for more nodes than memory has room for; [`Error::NodeOutOfRange`] for a walk
    /// started outside the graph; for a given law
    /// [`Error::Shape`] unless it has `n` entries, [`Error::InvalidParameter`] unless they are
    /// nonnegative and sum to 1 within `1e-9`.
    pub fn law(&self, n: usize) -> Result<Vec<f64>, Error> {
        require_dense("the law of the start", n, 1)?;
        match self {
            &Self::Node(node) => {
                require_node(node, n)?;
                let mut law = vec![0.0; n];
                law[node] = 1.0;
                Ok(law)
            }
            Self::Uniform if n == 0 => Err(Error::EmptyGraph),
            Self::Uniform => Ok(vec![1.0 / n as f64; n]),
            Self::Law(law) => {
                if law.len() != n {
                    return Err(Error::Shape { what: "start law", expected: n, got: law.len() });
                }
                require_masses("every start probability", law)?;
                let (name, sum) = ("the sum of the start probabilities", law.iter().sum::<f64>());
                ensure((sum - 1.0).abs() <= 1e-9, name, "be 1 within 1e-9", sum)?;
                Ok(law.clone())
            }
        }
    }
}

/// The first visits of a walk to a set of targets, at the times `0..=T`: every vector of numbers has `T + 1`
/// entries.
///
/// # Examples
/// ```
/// use ndp_graph::hitting::{Start, Walk};
/// use ndp_graph::{TransitionMatrix, generators::path_graph};
/// let walk = TransitionMatrix::simple_random_walk(&path_graph(3)?)?;
/// let visits = Walk::from(&walk).first_visits(&Start::Node(0), &[2], 4)?;
/// assert_eq!((visits.at[0][2], visits.at[0][4], visits.none[4]), (0.5, 0.25, 0.25));
/// assert!(visits.relative_error[4] < 1e-14);
/// # Ok::<(), ndp_graph::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct FirstVisits {
    /// `at[i][t]`: probability that the first visit after time 0 is at time `t`, at `targets[i]`.
    /// Entry 0 is 0.
    pub at: Vec<Vec<f64>>,
    /// `none[t]`: probability of no visit at the times `1..=t`. Entry 0 is the mass of the start.
    pub none: Vec<f64>,
    /// A bound on the relative error of every entry at time `t` that is above 1e-290: rounding, and rows of
    /// the matrix whose sum is not exactly 1. Smaller entries have fewer digits, and may be 0.
    pub relative_error: Vec<f64>,
}

/// A transition matrix laid out for pushing laws forward: it stores, for every node, the nodes from which the
/// walk may come.
///
/// # Examples
/// ```
/// use ndp_graph::{GossipMatrix, generators, hitting::{Start, Walk}};
/// let w = GossipMatrix::metropolis(&generators::cycle_graph(6)?);
/// let law = Walk::from(&w).first_visits(&Start::Node(0), &[5], 10)?;
/// assert!((law.at[0][1] - 1.0 / 3.0).abs() < 1e-15); // one step to the neighbor
/// # Ok::<(), ndp_graph::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Walk {
    incoming: Csr,
    symmetric: bool,
    error_per_step: f64,
    stop: Stop,
}

impl From<&GossipMatrix> for Walk {
    fn from(matrix: &GossipMatrix) -> Self {
        Self::new(matrix.csr())
    }
}

impl From<&TransitionMatrix> for Walk {
    fn from(matrix: &TransitionMatrix) -> Self {
        Self::new(matrix.csr())
    }
}

impl Walk {
    /// Takes rows that sum to 1; a symmetric matrix (equal bit by bit to its transpose) is shared.
    fn new(outgoing: &Csr) -> Self {
        let transpose = outgoing.transpose();
        let widest = |m: &Csr| (0..m.node_count()).map(|i| m.row(i).0.len()).max().unwrap_or(0);
        let defect = (0..outgoing.node_count())
            .map(|i| (outgoing.row(i).1.iter().sum::<f64>() - 1.0).abs())
            .fold(0.0, f64::max);
        // A dot product of k nonnegative terms is off by at most k units of the last place, and the sum of a
        // row is known to the same accuracy.
        let roundings = widest(outgoing) + widest(&transpose) + 2;
        let error_per_step = defect + roundings as f64 * f64::EPSILON;
        let symmetric = *outgoing == transpose;
        let incoming = if symmetric { outgoing.clone() } else { transpose };
        Self { incoming, symmetric, error_per_step, stop: Stop::never() }
    }

    /// The same walk, whose laws end in [`Error::Stopped`] when `stop` says so.
    ///
    /// # Examples
    /// ```
    /// use ndp_graph::hitting::{Start, Walk};
    /// use ndp_graph::{Error, generators::directed_cycle, progress::{Stop, Stopped}};
    /// let ring = directed_cycle(5)?;
    /// let walk = Walk::from(&ring).until(&Stop::after_work(50));
    /// let short = walk.first_visits(&Start::Node(0), &[3], 3)?;
    /// assert_eq!(short.at[0][3], 1.0);
    /// let long = walk.first_visits(&Start::Node(0), &[3], 1000);
    /// assert_eq!(long, Err(Error::Stopped(Stopped::OutOfWork)));
    /// # Ok::<(), Error>(())
    /// ```
    #[must_use]
    pub fn until(self, stop: &Stop) -> Self {
        Self { stop: stop.clone(), ..self }
    }

    /// What ends its laws.
    #[must_use]
    pub fn stop(&self) -> &Stop {
        &self.stop
    }

    /// The transposed matrix: row `j` holds the `W[i][j]` of the nodes `i` from which the walk may come to
    /// `j`. A law is pushed one step by `incoming().multiply(&law, &mut next)`.
    ///
    /// # Examples
    /// ```
    /// use ndp_graph::{generators::directed_cycle, hitting::Walk};
    /// let ring = directed_cycle(5)?;
    /// assert_eq!(Walk::from(&ring).incoming().row(0), (&[4][..], &[1.0][..]));
    /// # Ok::<(), ndp_graph::Error>(())
    /// ```
    #[must_use]
    pub fn incoming(&self) -> &Csr {
        &self.incoming
    }

    /// Whether the matrix is equal, bit by bit, to its transpose.
    #[must_use]
    pub fn is_symmetric(&self) -> bool {
        self.symmetric
    }

    /// Relative error of a probability per step of the walk: rounding, and rows of the matrix
    /// whose sum is not exactly 1.
    #[must_use]
    pub fn error_per_step(&self) -> f64 {
        self.error_per_step
    }

    /// The first visits to a set of distinct `targets` at the times `1..=horizon`.
    ///
    /// # Errors
    /// As [`Start::law`]; [`Error::NodeOutOfRange`]; [`Error::InvalidParameter`] for no target, a
    /// target given twice, or a horizon of 0; [`Error::TooLarge`] for a horizon whose laws do not
    /// fit in memory.
    ///
    /// # Complexity
    /// `O(horizon · nonzeros)`.
    pub fn first_visits(
        &self,
        start: &Start,
        targets: &[usize],
        horizon: usize,
    ) -> Result<FirstVisits, Error> {
        self.first_visits_of_mass(&start.law(self.incoming.node_count())?, targets, horizon)
    }

    /// As [`first_visits`](Self::first_visits) from nonnegative weights that need not sum to 1.
    ///
    /// # Errors
    /// As [`first_visits`](Self::first_visits), without the condition on the sum.
    pub fn first_visits_of_mass(
        &self,
        mass: &[f64],
        targets: &[usize],
        horizon: usize,
    ) -> Result<FirstVisits, Error> {
        let n = self.incoming.node_count();
        if mass.len() != n {
            return Err(Error::Shape { what: "start weights", expected: n, got: mass.len() });
        }
        require_masses("every start weight", mass)?;
        require_targets(targets, n)?;
        require_horizon(horizon, targets.len() + 2)?;
        let mut lanes = Lanes::new(mass.iter().map(|&p| [p]).collect());
        // The rounding error of the sum over all nodes does not accumulate over the steps.
        let at_once = n as f64 * f64::EPSILON;
        let mut visits = FirstVisits {
            at: vec![vec![0.0; horizon + 1]; targets.len()],
            none: Vec::with_capacity(horizon + 1),
            relative_error: relative_errors(horizon, at_once, self.error_per_step),
        };
        visits.none.push(mass.iter().sum());
        for t in 1..=horizon {
            lanes.step(&self.incoming, &self.stop)?;
            for (law, &target) in visits.at.iter_mut().zip(targets) {
                law[t] = lanes.take(target)[0];
            }
            visits.none.push(lanes.law.iter().map(|p| p[0]).sum());
        }
        Ok(visits)
    }

    /// The first visits to the pair `{u, v}` from `u`, from `v` and from the start.
    ///
    /// # Errors
    /// As [`first_visits`](Self::first_visits) with the targets `u` and `v`.
    ///
    /// # Complexity
    /// `O(horizon · nonzeros)`, with half the steps for a symmetric matrix.
    pub fn pair_laws(&self, u: usize, v: usize, start: &Start, horizon: usize) -> Result<PairLaws, Error> {
        let n = self.incoming.node_count();
        require_targets(&[u, v], n)?;
        require_horizon(horizon, 7)?;
        let start = start.law(n)?;
        if self.symmetric {
            self.pair_laws_by_halves(u, v, &start, horizon)
        } else {
            self.pair_laws_step_by_step(u, v, &start, horizon)
        }
    }

    fn pair_laws_step_by_step(
        &self,
        u: usize,
        v: usize,
        start: &[f64],
        horizon: usize,
    ) -> Result<PairLaws, Error> {
        let errors = relative_errors(horizon, 0.0, self.error_per_step);
        let mut laws = PairLaws::at_time_0(u, v, start, errors);
        let mut lanes = Lanes::new(start.iter().map(|&p| [0.0, 0.0, p, 0.0]).collect());
        lanes.law[u] = [1.0, 0.0, 0.0, 0.0];
        lanes.law[v] = [0.0, 1.0, 0.0, 0.0];
        for t in 1..=horizon {
            lanes.step(&self.incoming, &self.stop)?;
            [laws.u_to_u[t], laws.v_to_u[t], laws.start_to_u[t], _] = lanes.take(u);
            [laws.u_to_v[t], laws.v_to_v[t], laws.start_to_v[t], _] = lanes.take(v);
        }
        Ok(laws)
    }

    /// `P_x(first visit of {u, v} at t, at y) = ⟨Q^j r_x, Q^k r_y⟩`, `j + k = t − 2`, and the same
    /// from the start with `⟨Q^j s, Q^k r_y⟩`, `j + k = t − 1`, where `s` is the start without `u`, `v`.
    fn pair_laws_by_halves(
        &self,
        u: usize,
        v: usize,
        start: &[f64],
        horizon: usize,
    ) -> Result<PairLaws, Error> {
        // The inner products add one rounding per node.
        let at_once = self.incoming.node_count() as f64 * f64::EPSILON;
        let errors = relative_errors(horizon, at_once, self.error_per_step);
        let mut laws = PairLaws::at_time_0(u, v, start, errors);
        // Lanes: W e_u and W e_v restricted to the other nodes, and the restricted start.
        let mut lanes = Lanes::new(start.iter().map(|&p| [0.0, 0.0, p, 0.0]).collect());
        for (lane, x) in [u, v].into_iter().enumerate() {
            let (columns, weights) = self.incoming.row(x);
            for (&y, &w) in columns.iter().zip(weights) {
                lanes.law[y as usize][lane] = w;
            }
        }
        let [uu, uv, ..] = lanes.take(u);
        let [vu, vv, ..] = lanes.take(v);
        [laws.u_to_u[1], laws.u_to_v[1], laws.v_to_u[1], laws.v_to_v[1]] = [uu, uv, vu, vv];
        for k in (0..=horizon).step_by(2) {
            laws.put(k, products(&lanes.law, &lanes.law));
            lanes.step(&self.incoming, &self.stop)?;
            lanes.take(u);
            lanes.take(v);
            laws.put(k + 1, products(&lanes.previous, &lanes.law));
        }
        Ok(laws)
    }
}

impl PairLaws {
    fn at_time_0(u: usize, v: usize, start: &[f64], relative_error: Vec<f64>) -> Self {
        let zeros = || vec![0.0; relative_error.len()];
        let mut laws = Self {
            u,
            v,
            u_to_u: zeros(),
            u_to_v: zeros(),
            v_to_u: zeros(),
            v_to_v: zeros(),
            start_to_u: zeros(),
            start_to_v: zeros(),
            relative_error,
        };
        laws.start_to_u[0] = start[u];
        laws.start_to_v[0] = start[v];
        laws
    }

    /// Stores the inner products of `Q^j` and `Q^k` columns, `steps = j + k`, under their times.
    fn put(&mut self, steps: usize, [uu, uv, vv, su, sv]: [f64; 5]) {
        if let Some(entry) = self.start_to_u.get_mut(steps + 1) {
            *entry = su;
            self.start_to_v[steps + 1] = sv;
        }
        if let Some(entry) = self.u_to_u.get_mut(steps + 2) {
            *entry = uu;
            self.u_to_v[steps + 2] = uv;
            self.v_to_u[steps + 2] = uv;
            self.v_to_v[steps + 2] = vv;
        }
    }
}

/// `K` laws pushed forward together: the graph is read once for all of them. Three laws take four lanes, one
/// of which stays 0, because four numbers are a vector register.
struct Lanes<const K: usize> {
    law: Vec<[f64; K]>,
    previous: Vec<[f64; K]>,
}

impl<const K: usize> Lanes<K> {
    fn new(law: Vec<[f64; K]>) -> Self {
        Self { previous: law.clone(), law }
    }

    /// `law ← law · W`, keeping the law before the step in `previous`.
    fn step(&mut self, incoming: &Csr, stop: &Stop) -> Result<(), Error> {
        // A lane that stays 0 costs nothing.
        stop.spend(work([K.min(3), incoming.parts().1.len() + self.law.len()]))?;
        std::mem::swap(&mut self.law, &mut self.previous);
        multiply_rows_of(incoming, 0, K, self.previous.as_flattened(), self.law.as_flattened_mut());
        Ok(())
    }

    /// Removes and returns what has landed on a node.
    fn take(&mut self, node: usize) -> [f64; K] {
        std::mem::replace(&mut self.law[node], [0.0; K])
    }
}

/// Inner products of the lanes `(u, v, s)` of two laws: `uu, uv, vv, su, sv`.
fn products(a: &[[f64; 4]], b: &[[f64; 4]]) -> [f64; 5] {
    a.iter().zip(b).fold([0.0; 5], |[uu, uv, vv, su, sv], (&[u, v, s, _], &[x, y, ..])| {
        [uu + u * x, uv + u * y, vv + v * y, su + s * x, sv + s * y]
    })
}

/// The errors at the times `0..=horizon`. Those of the steps multiply: `(1 - d)^-t ≤ e^{t d / (1 - d)}`. The
/// term `d²` is far below the slack in the error per step, which counts a whole unit of the last place where
/// half a unit suffices.
fn relative_errors(horizon: usize, at_once: f64, per_step: f64) -> Vec<f64> {
    (0..=horizon).map(|t| (at_once + t as f64 * per_step).exp_m1()).collect()
}

fn require_node(node: usize, nodes: usize) -> Result<(), Error> {
    if node < nodes { Ok(()) } else { Err(Error::NodeOutOfRange { node, nodes }) }
}

fn require_masses(name: &'static str, masses: &[f64]) -> Result<(), Error> {
    let is_mass = |p: &f64| 0.0 <= *p && p.is_finite();
    masses.iter().try_for_each(|p| ensure(is_mass(p), name, "be finite and nonnegative", *p))
}

fn require_targets(targets: &[usize], n: usize) -> Result<(), Error> {
    ensure(!targets.is_empty(), "the number of targets", "be at least 1", 0.0)?;
    let mut sorted = targets.to_vec();
    sorted.sort_unstable();
    for &target in targets {
        require_node(target, n)?;
    }
    match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        None => Ok(()),
        Some(pair) => Err(Error::InvalidParameter {
            name: "every target",
            condition: "be given once",
            value: pair[0] as f64,
        }),
    }
}

/// Checks that the horizon is at least 1 and that `laws` vectors fit in memory together.
fn require_horizon(horizon: usize, laws: usize) -> Result<(), Error> {
    ensure(horizon > 0, "the number of steps", "be at least 1", 0.0)?;
    Ok(require_dense("the laws of first visits", laws, horizon)?)
}

#[cfg(test)]
mod tests;
