//! First visits of a walk to a pair of nodes.

/// The first visits of a walk to a pair of nodes `{u, v}`: everything that an accountant of the
/// loss from `u` to `v` needs to know about the graph.
///
/// All vectors have `horizon + 1` entries, entry `t` for time `t`.
///
/// # Examples
/// ```
/// use ndp_graph::hitting::{Start, Walk};
/// use ndp_graph::{TransitionMatrix, generators::cycle_graph};
/// let walk = TransitionMatrix::simple_random_walk(&cycle_graph(6)?)?;
/// let laws = Walk::from(&walk).pair_laws(0, 3, &Start::Uniform, 10)?;
/// assert_eq!((laws.u, laws.v, laws.horizon()), (0, 3, 10));
/// # Ok::<(), ndp_graph::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PairLaws {
    /// The exposed node.
    pub u: usize,
    /// The observer.
    pub v: usize,
    /// `P_u(the first visit of {u, v} after time 0 is at time t, at u)`.
    pub u_to_u: Vec<f64>,
    /// `P_u(the first visit of {u, v} after time 0 is at time t, at v)`.
    pub u_to_v: Vec<f64>,
    /// `P_v(the first visit of {u, v} after time 0 is at time t, at u)`.
    pub v_to_u: Vec<f64>,
    /// `P_v(the first visit of {u, v} after time 0 is at time t, at v)`.
    pub v_to_v: Vec<f64>,
    /// Probability that the walk, started from its start law, is in `{u, v}` for the first time at time `t`
    /// (time 0 counts), and is then at `u`.
    pub start_to_u: Vec<f64>,
    /// As [`Self::start_to_u`], at `v`.
    pub start_to_v: Vec<f64>,
    /// A bound on the relative error of every entry at time `t` that is above 1e-290: rounding, and rows of
    /// the matrix whose sum is not exactly 1. Smaller entries have fewer digits, and may be 0.
    pub relative_error: Vec<f64>,
}

impl PairLaws {
    /// Number of steps `T`.
    #[must_use]
    pub fn horizon(&self) -> usize {
        self.relative_error.len() - 1
    }
}
