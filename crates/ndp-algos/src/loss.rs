//! What a view reveals: one routine for every linear Gaussian protocol.
//!
//! With `R` the rows of the view over the noises that its owner does not know and `b_u` its column
//! over input `u`, two inputs of `u` at distance `Δ` give Gaussians of equal covariance `σ² R Rᵀ` and
//! mean difference `Δ b_u`, hence the Rényi loss `c₀ · b_uᵀ (R Rᵀ)⁺ b_u` with `c₀ = α Δ² / (2σ²)` at
//! every order `α`: the unit loss is `b_uᵀ (R Rᵀ)⁺ b_u`.
//!
//! Rows are orthogonalised one by one; each adds the square of what is left of it over input `u`,
//! divided by the square of what is left of it over the noises (the chain rule).
//!
//! Whether a row is new is decided here by a tolerance, because a view given as numbers has no
//! exact entries. Views of fixed-matrix gossip have a better routine, which decides ranks without
//! a tolerance and never writes the view down: [`gossip::exact`](crate::gossip::exact).
//!
//! # References
//! - Cyffers, Even, Bellet, Massoulié, *Muffliato*, NeurIPS 2022, arXiv:2206.05091: the protocols; its
//!   Theorem 1 adds up the losses of single messages instead, which is no bound.

use crate::{Error, Protocol, View};
use ndarray::{Array1, Array2, ArrayView1, Axis, concatenate};
use ndp_dp::{Exact, Guarantee, ObserverLoss, UnitLoss, UpperBound};
use ndp_graph::memory::require_dense;
use rayon::prelude::*;
use serde::Serialize;

/// What a coalition (mostly one node) learns about every node, and how well that is known.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LossReport {
    /// The nodes that pool their views, ascending.
    pub coalition: Vec<usize>,
    /// Unit loss of every node towards the coalition; `observer` is the coalition's first node.
    /// The entries of members are their losses to themselves.
    pub loss: Guarantee<ObserverLoss>,
    /// Dimension of the space that the coalition sees, its known noises included. For protocols
    /// with one noise per input the unit losses of all nodes, members included, add up to it.
    pub rank: usize,
    /// How far numerical error may have moved any unit loss; already added where the grade is
    /// [`UpperBound`].
    pub margin: f64,
}

impl LossReport {
    /// The unit loss of node `source`.
    ///
    /// # Errors
    /// [`Error::NodeOutOfRange`]; [`Error::SourceIsObserver`] for a member of the coalition;
    /// [`ndp_dp::Error::InvalidUnitLoss`] for a protocol that leaks more than its local loss.
    pub fn unit(&self, source: usize) -> Result<UnitLoss, Error> {
        let units = &self.loss.value().unit;
        if source >= units.len() {
            return Err(Error::NodeOutOfRange { node: source, nodes: units.len() });
        }
        if self.coalition.contains(&source) {
            return Err(Error::SourceIsObserver(source));
        }
        Ok(UnitLoss::new(units[source])?)
    }

    /// Mean unit loss `(1/n) Σ_{u outside} unit(u)` over the nodes outside the coalition, divided,
    /// as in the papers, by the number `n` of all nodes.
    #[must_use]
    pub fn mean(&self) -> Guarantee<f64> {
        self.loss.clone().map(|loss| {
            let outside = loss.unit.iter().enumerate().filter(|(u, _)| !self.coalition.contains(u));
            outside.map(|(_, unit)| unit).sum::<f64>() / loss.unit.len() as f64
        })
    }
}

/// The exact unit loss of every node towards the owner of `view`.
///
/// Graded `Exact` when the answer does not hinge on a doubtful rank decision and a second run with
/// the rows in reverse order agrees to `1e-9`; otherwise `UpperBound`, with the difference added.
/// Where the noise column of an input equals its input column (every input has a noise of its own)
/// the unit loss is at most 1 and is cut there.
///
/// # Errors
/// [`Error::NoiselessView`] when some combination of rows reveals an input without noise.
///
/// # Complexity
/// `O(r² (m + n))` for `r` rows over `m` noises and `n` inputs.
pub fn exact_loss(view: &View) -> Result<LossReport, Error> {
    let forward = orthogonalise(view, RowOrder::AsGiven)?;
    let backward = orthogonalise(view, RowOrder::Reversed)?;
    let outside = (0..view.node_count()).filter(|u| view.coalition().binary_search(u).is_err());
    let difference = outside.fold(0.0, |m: f64, u| m.max((forward.unit[u] - backward.unit[u]).abs()));
    let margin = difference.max(forward.dropped).max(backward.dropped).max(1e-13);
    let doubtful = forward.kept.min(backward.kept) < DOUBTFUL || forward.rank != backward.rank;
    let exact = margin <= 1e-9 && !doubtful;

    let mut unit = Vec::with_capacity(view.node_count());
    for u in 0..view.node_count() {
        let member = view.coalition().binary_search(&u).is_ok();
        let raised = if exact {
            forward.unit[u]
        } else {
            // A row kept by rounding only adds; the larger of the two runs plus the margin is safe.
            forward.unit[u].max(backward.unit[u]) + if doubtful { forward.dropped } else { margin }
        };
        let own_noise = u < view.noises().ncols() && view.noises().column(u) == view.inputs().column(u);
        unit.push(match (member && !view.known_noises().is_empty(), own_noise) {
            (true, _) => 1.0,
            (false, true) => raised.clamp(0.0, 1.0),
            (false, false) => raised.max(0.0),
        });
    }
    let loss = ObserverLoss { observer: view.coalition()[0], unit };
    Ok(LossReport {
        coalition: view.coalition().to_vec(),
        loss: if exact { Exact::new(loss).into() } else { UpperBound::new(loss).into() },
        rank: forward.rank.max(backward.rank) + view.known_noises().len(),
        margin,
    })
}

/// What each of `observers` alone learns, in their order; observers are independent and run in parallel.
///
/// # Errors
/// Those of [`Protocol::coalition_loss`].
pub fn observer_losses(
    protocol: &(impl Protocol + Sync + ?Sized),
    observers: &[usize],
) -> Result<Vec<LossReport>, Error> {
    require_dense("the losses towards all observers", observers.len(), protocol.node_count())?;
    observers.par_iter().map(|&v| protocol.coalition_loss(&[v])).collect()
}

#[derive(Clone, Copy)]
enum RowOrder {
    AsGiven,
    Reversed,
}

struct Orthogonalised {
    unit: Array1<f64>,
    rank: usize,
    /// Smallest relative residual of a row that was kept.
    kept: f64,
    /// Largest relative residual of a row that was dropped.
    dropped: f64,
}

fn orthogonalise(view: &View, order: RowOrder) -> Result<Orthogonalised, Error> {
    let unknown: Vec<usize> =
        (0..view.noises().ncols()).filter(|j| view.known_noises().binary_search(j).is_err()).collect();
    let m = unknown.len();
    let rows: Array2<f64> =
        concatenate(Axis(1), &[view.noises().select(Axis(1), &unknown).view(), view.inputs()])
            .expect("a view has as many rows over its noises as over its inputs");
    let indices: Vec<usize> = match order {
        RowOrder::AsGiven => (0..rows.nrows()).collect(),
        RowOrder::Reversed => (0..rows.nrows()).rev().collect(),
    };
    let noise_norm = |row: ArrayView1<'_, f64>| row.iter().take(m).map(|x| x * x).sum::<f64>().sqrt();

    let mut basis: Vec<Array1<f64>> = Vec::new();
    let mut result =
        Orthogonalised { unit: Array1::zeros(view.node_count()), rank: 0, kept: f64::INFINITY, dropped: 0.0 };
    for k in indices {
        let mut row = rows.row(k).to_owned();
        let scale = row.iter().fold(0.0, |largest: f64, x| largest.max(x.abs()));
        if scale == 0.0 {
            continue;
        }
        row /= scale;
        let before = noise_norm(row.view());
        // Once removes almost everything, twice is enough, thrice costs little.
        for _ in 0..3 {
            for q in &basis {
                let overlap: f64 = row.iter().zip(q).take(m).map(|(a, b)| a * b).sum();
                row.scaled_add(-overlap, q);
            }
        }
        let left = noise_norm(row.view());
        let relative = if before > 0.0 { left / before } else { 0.0 };
        if relative > KEPT {
            row /= left;
            result.kept = result.kept.min(relative);
            result.unit.iter_mut().zip(row.iter().skip(m)).for_each(|(unit, x)| *unit += x * x);
            result.rank += 1;
            basis.push(row);
        } else {
            result.dropped = result.dropped.max(relative);
            let leak = |u: usize| row[m + u].abs() > LEAK && view.coalition().binary_search(&u).is_err();
            if let Some(u) = (0..view.node_count()).find(|&u| leak(u)) {
                return Err(Error::NoiselessView(u));
            }
        }
    }
    Ok(result)
}

/// A row is new when more than this share of it is left.
const KEPT: f64 = 1e-10;
/// Below this share, a kept row may be a product of rounding: it can only raise the loss.
const DOUBTFUL: f64 = 1e-6;
/// A row without noise of its own reveals an input when that input's share is above this.
const LEAK: f64 = 1e-6;

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_abs_diff_eq;
    use ndarray::array;

    /// Path 0-1-2, weights 1/(max degree + 1), two rounds: node 2 receives x₁ and the mean of all.
    fn path_rows() -> Array2<f64> {
        array![[0.0, 1.0, 0.0], [1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0]]
    }

    #[test]
    fn own_noise_decides_the_loss_on_a_path() -> Result<(), Error> {
        let unknown = exact_loss(&View::new(&[2], path_rows(), path_rows(), &[])?)?;
        assert_eq!(unknown.rank, 2);
        for (unit, expected) in unknown.loss.value().unit.iter().zip([0.5, 1.0, 0.5]) {
            assert_abs_diff_eq!(*unit, expected, epsilon = 1e-15);
        }
        let known = exact_loss(&View::new(&[2], path_rows(), path_rows(), &[2])?)?;
        assert_eq!(known.rank, 3);
        assert_eq!(known.loss.grade(), ndp_dp::Grade::Exact);
        for unit in &known.loss.value().unit {
            assert_abs_diff_eq!(*unit, 1.0, epsilon = 1e-15);
        }
        Ok(())
    }

    /// A message with noise of half the strength costs four times as much.
    #[test]
    fn weaker_noise_costs_more() -> Result<(), Error> {
        let report = exact_loss(&View::new(&[1], array![[1.0, 0.0]], array![[0.5]], &[])?)?;
        assert_abs_diff_eq!(report.loss.value().unit[0], 4.0, epsilon = 1e-14);
        assert!(matches!(report.unit(0), Err(Error::Privacy(_))));
        assert_eq!(report.unit(1), Err(Error::SourceIsObserver(1)));
        Ok(())
    }

    #[test]
    fn an_input_without_noise_is_an_error() -> Result<(), Error> {
        // The difference of the rows is x₀ alone.
        let view = View::new(&[1], array![[1.0, 1.0], [0.0, 1.0]], array![[1.0], [1.0]], &[])?;
        assert_eq!(exact_loss(&view), Err(Error::NoiselessView(0)));
        Ok(())
    }

    #[test]
    fn a_repeated_row_adds_nothing() -> Result<(), Error> {
        let rows = array![[0.5, 0.5, 0.0], [0.5, 0.5, 0.0]];
        let report = exact_loss(&View::new(&[2], rows.clone(), rows, &[])?)?;
        assert_eq!(report.rank, 1);
        assert_abs_diff_eq!(report.loss.value().unit[0], 0.5, epsilon = 1e-15);
        assert_abs_diff_eq!(*report.mean().value(), 1.0 / 3.0, epsilon = 1e-15);
        Ok(())
    }

    #[test]
    fn bad_views_are_refused() {
        let one = array![[1.0, 0.0]];
        assert_eq!(View::new(&[], one.clone(), one.clone(), &[]), Err(Error::EmptyCoalition));
        assert_eq!(View::new(&[0, 0], one.clone(), one.clone(), &[]), Err(Error::RepeatedMember(0)));
        assert!(matches!(View::new(&[2], one.clone(), one.clone(), &[]), Err(Error::NodeOutOfRange { .. })));
        assert!(matches!(View::new(&[0], one.clone(), array![[1.0], [2.0]], &[]), Err(Error::Shape { .. })));
        assert!(matches!(
            View::new(&[0], one.clone(), array![[f64::NAN]], &[]),
            Err(Error::InvalidParameter { .. })
        ));
        assert!(matches!(View::new(&[0], one.clone(), one, &[2]), Err(Error::InvalidParameter { .. })));
    }
}
