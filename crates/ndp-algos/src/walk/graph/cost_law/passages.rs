//! The first visits of an exposed node and its observers, with bounds on their errors.

use ndp_account::Error;
use ndp_graph::hitting::{PairLaws, Start, Walk};

/// On which side of the truth a series is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// Not below the truth.
    Upper,
    /// Not above it.
    Lower,
}

/// The laws of first visits of `u` and the members of a coalition. Entry `t` of every series is for time `t`,
/// `0..=T`.
#[derive(Clone, Debug)]
pub(super) struct Passages {
    /// From `u` to `u`.
    pub(super) again: Vec<f64>,
    /// From `u` to each member.
    pub(super) seen: Vec<Vec<f64>>,
    /// From each member to `u`.
    pub(super) back: Vec<Vec<f64>>,
    /// From each member to each member.
    pub(super) among: Vec<Vec<Vec<f64>>>,
    /// From the start to `u`, time 0 included.
    pub(super) start: Vec<f64>,
    /// From the start to each member, time 0 included.
    pub(super) start_seen: Vec<Vec<f64>>,
    /// The relative error of all entries at time `t`.
    error: Vec<f64>,
    /// The relative amount by which the start law may be too large.
    start_error: f64,
}

impl Passages {
    /// For one observer.
    pub(super) fn of_pair(laws: &PairLaws, start_error: f64) -> Self {
        Self {
            again: laws.u_to_u.clone(),
            seen: vec![laws.u_to_v.clone()],
            back: vec![laws.v_to_u.clone()],
            among: vec![vec![laws.v_to_v.clone()]],
            start: laws.start_to_u.clone(),
            start_seen: vec![laws.start_to_v.clone()],
            error: laws.relative_error.clone(),
            start_error,
        }
    }

    /// The case in which every holder, including the first, is drawn uniformly of `n` nodes, towards
    /// `colluders` who are one observer. With `r = 1 − (c + 1)/n`, the first visit of `u` or a colluder, from
    /// anywhere, is after `t` steps with probability `r^{t−1} (c + 1)/n`, and it is one of `u` with
    /// probability `r^{t−1}/n`.
    pub(super) fn uniform(n: usize, colluders: usize, steps: usize) -> Self {
        let others = (n - colluders - 1) as f64 / n as f64;
        let powers = std::iter::successors(Some(1.0), |power| Some(power * others));
        let first = |nodes: usize| -> Vec<f64> {
            powers.clone().map(|power: f64| power * (nodes as f64 / n as f64)).take(steps + 1).collect()
        };
        let later = |nodes: usize| -> Vec<f64> {
            let mut law = first(nodes);
            law.rotate_right(1);
            law[0] = 0.0;
            law
        };
        Self {
            again: later(1),
            seen: vec![later(colluders)],
            back: vec![later(1)],
            among: vec![vec![later(colluders)]],
            start: first(1),
            start_seen: vec![first(colluders)],
            // Two roundings for each step, and three for the share.
            error: (0..=steps).map(|t| (t + 4) as f64 * f64::EPSILON).collect(),
            start_error: 0.0,
        }
    }

    /// The same for a walk that starts at `u`.
    pub(super) fn starting_at_u(mut self) -> Self {
        for law in self.start_seen.iter_mut().chain([&mut self.start]) {
            law.fill(0.0);
        }
        self.start[0] = 1.0;
        self
    }

    /// For several observers.
    ///
    /// # Errors
    /// Those of [`Walk::first_visits`].
    pub(super) fn of_coalition(
        walk: &Walk,
        u: usize,
        members: &[usize],
        start: &Start,
        horizon: usize,
        start_error: f64,
    ) -> Result<Self, Error> {
        let targets: Vec<usize> = [u].into_iter().chain(members.iter().copied()).collect();
        let mut law = start.law(walk.incoming().node_count())?;
        let mut from = targets
            .iter()
            .map(|&node| walk.first_visits(&Start::Node(node), &targets, horizon))
            .collect::<Result<Vec<_>, _>>()?;
        let inside: Vec<f64> = targets.iter().map(|&node| std::mem::take(&mut law[node])).collect();
        let mut outside = walk.first_visits_of_mass(&law, &targets, horizon)?;
        for (law, &inside) in outside.at.iter_mut().zip(&inside) {
            law[0] = inside;
        }
        let of_members = from.split_off(1);
        let mut of_u = std::mem::take(&mut from[0].at);
        let seen = of_u.split_off(1);
        let (mut back, mut among) = (Vec::new(), Vec::new());
        for mut visits in of_members {
            among.push(visits.at.split_off(1));
            back.append(&mut visits.at);
        }
        let start_seen = outside.at.split_off(1);
        Ok(Self {
            again: of_u.swap_remove(0),
            seen,
            back,
            among,
            start: outside.at.swap_remove(0),
            start_seen,
            error: outside.relative_error,
            start_error,
        })
    }

    /// Number of steps `T`.
    pub(super) fn steps(&self) -> usize {
        self.error.len() - 1
    }

    /// Number of observers.
    pub(super) fn members(&self) -> usize {
        self.seen.len()
    }

    /// A series as a bound from one side.
    pub(super) fn side(&self, law: &[f64], side: Side) -> Vec<f64> {
        let moved = |(&p, &error): (&f64, &f64)| match side {
            // The error may be relative to the computed value or to the true one.
            Side::Upper => p * (1.0 + 2.0 * error + 4.0 * f64::EPSILON),
            Side::Lower => p * (1.0 - 2.0 * error - 4.0 * f64::EPSILON).max(0.0),
        };
        law.iter().zip(&self.error).map(moved).collect()
    }

    /// A series from the start, as a bound from one side.
    pub(super) fn side_of_start(&self, law: &[f64], side: Side) -> Vec<f64> {
        let mut moved = self.side(law, side);
        if side == Side::Lower {
            moved.iter_mut().for_each(|p| *p *= (1.0 - self.start_error - 4.0 * f64::EPSILON).max(0.0));
        }
        moved
    }
}
