//! What an observer learns over several rounds of gradient steps and gossip.
//!
//! All losses are in units of `c₀ = α Δ_φ² / (2σ²)`, the local loss of one round. After a round the
//! models of *other* nodes still hold a node's gradient in directions the observer has not seen,
//! and the next round releases functions of them: charging each round alone is false (see the
//! printed formula `T f_K` and its counterexamples in the tests). Three sound ways:
//!
//! * local loss: `T`, whatever the mixing;
//! * [`shift_loss`]: follows the unseen part from round to round as a shift;
//! * [`consensus_loss`]: when every round ends in exact consensus nothing unseen is left.

use crate::Error;
use crate::Protocol;
use crate::gossip::{ExactOptions, SequenceGossip, SynchronousGossip, view_basis};
use ndarray::{Array1, Array2};
use ndp_dp::{Grade, UnitLoss, UpperBound};
use ndp_graph::GossipSequence;

/// One round as an observer sees it: `ψ ↦ A ψ` is what it receives, `C ψ` the next models.
#[derive(Clone, Debug, PartialEq)]
pub struct Round {
    /// `|P|`, entrywise, `P` the projector on the rows of `A`.
    seen: Array2<f64>,
    /// `N = |C (I - P)|`, entrywise: how unseen shifts spread to the next models.
    carried: Array2<f64>,
}

impl Round {
    /// Takes the projector `P` on the rows of the view, the observer's own noise known, and the
    /// mixing matrix `C` of the round, both `n` by `n`.
    ///
    /// # Errors
    /// [`Error::Shape`]; [`Error::InvalidParameter`] unless `P` is symmetric and `P² = P` within `1e-9`.
    pub fn new(projector: &Array2<f64>, mixing: &Array2<f64>) -> Result<Self, Error> {
        let n = projector.nrows();
        for got in [projector.ncols(), mixing.nrows(), mixing.ncols()] {
            if got != n {
                return Err(Error::Shape { what: "side of projector and mixing matrix", expected: n, got });
            }
        }
        let excess =
            |m: Array2<f64>| m.iter().fold(0.0, |most: f64, x| if x.abs() <= most { most } else { x.abs() });
        let error = excess(projector.dot(projector) - projector).max(excess(projector - &projector.t()));
        if error > 1e-9 || error.is_nan() {
            return Err(Error::InvalidParameter {
                name: "the error of the projector",
                condition: "be at most 1e-9",
                value: error,
            });
        }
        let unseen = Array2::eye(n) - projector;
        Ok(Self { seen: projector.mapv(f64::abs), carried: mixing.dot(&unseen).mapv(f64::abs) })
    }

    /// The round in which `view` has orthonormal rows spanning what the observer sees.
    ///
    /// # Errors
    /// Those of [`new`](Self::new).
    pub fn from_basis(view: &Array2<f64>, mixing: &Array2<f64>) -> Result<Self, Error> {
        Self::new(&view.t().dot(view), mixing)
    }

    /// A round whose gossip is `protocol`, plain or accelerated, as `observer` sees it, its own noise known.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] when the space of what it sees is not known to `1e-9`; those of
    /// [`view_basis`] and of [`new`](Self::new).
    pub fn of_gossip(protocol: &SynchronousGossip, observer: usize) -> Result<Self, Error> {
        let options = ExactOptions::default();
        let (view, report) = view_basis(protocol.matrix(), &[observer], protocol.rounds(), options)?;
        if report.loss.grade() != Grade::Exact {
            return Err(Error::InvalidParameter {
                name: "the error of the projector",
                condition: "be at most 1e-9",
                value: report.margin,
            });
        }
        Self::from_basis(&view, &protocol.operator()?)
    }

    /// A round whose connections change from step to step, as `observer` sees it, its own noise known.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] when the space of what it sees is not known to `1e-9`; those of
    /// [`exact_sequence_loss`](crate::gossip::exact_sequence_loss) and of [`new`](Self::new).
    pub fn of_sequence(sequence: &GossipSequence, observer: usize) -> Result<Self, Error> {
        let protocol = SequenceGossip::new(sequence.clone());
        let report = protocol.loss(observer)?;
        let view = protocol.coalition_view(&[observer])?;
        let mut own = Array1::zeros(sequence.node_count());
        own[observer] = 1.0;
        let mut basis = vec![own];
        for row in view.inputs().rows() {
            let mut rest = row.to_owned();
            // Once more for what rounding left of the first pass.
            for _ in 0..2 {
                for known in &basis {
                    let along = known.dot(&rest);
                    rest.scaled_add(-along, known);
                }
            }
            let norm = rest.dot(&rest).sqrt();
            if norm > 1e-9 * row.dot(&row).sqrt() {
                basis.push(rest / norm);
            }
        }
        // The rank is decided with a margin by the accountant of single runs: the basis must confirm it.
        if report.loss.grade() != Grade::Exact || basis.len() != report.rank {
            return Err(Error::InvalidParameter {
                name: "the error of the projector",
                condition: "be at most 1e-9",
                value: report.margin,
            });
        }
        let rows = Array2::from_shape_fn((basis.len(), sequence.node_count()), |(i, j)| basis[i][j]);
        Self::from_basis(&rows, &protocol.operator()?)
    }

    /// Number of nodes.
    #[must_use]
    pub fn node_count(&self) -> usize {
        self.seen.nrows()
    }
}

/// Bound on what the observer learns about node `u` over the given rounds, in units of `c₀`: the
/// shift accountant.
///
/// `contraction[w]` is the Lipschitz constant of node `w`'s gradient step, for both neighboring
/// data sets: `1` for convex `L`-smooth losses and steps up to `2/L`,
/// [`Constants::contraction`](crate::sgd::Constants::contraction) in general. With `β = e_u`
/// at first, each round is charged `min(βᵀ|P|β, ‖β‖²)` and hands on `β ← diag(q) N β + e_u`. The sum is
/// capped by the local loss, the number of rounds.
///
/// Holds for linear gossip of data-independent matrices, Gaussian noise independent of
/// everything, equal public first models, gradients at `u` that differ by at most `Δ_φ` at every
/// model, sampled examples drawn independently of the data. Not for momentum, nor for clipping of
/// a node's average gradient unless `contraction` accounts for it. The last models of other nodes
/// are not part of the view.
///
/// # Errors
/// [`Error::InvalidParameter`] for no rounds or a negative or NaN contraction, [`Error::Shape`],
/// [`Error::NodeOutOfRange`].
pub fn shift_loss(rounds: &[&Round], u: usize, contraction: &[f64]) -> Result<UpperBound<f64>, Error> {
    let charges = shift_charges(rounds, u, contraction)?;
    Ok(UpperBound::new(charges.iter().sum::<f64>().min(rounds.len() as f64)))
}

/// The charge of each round in [`shift_loss`], before the cap.
///
/// # Errors
/// Those of [`shift_loss`].
pub fn shift_charges(rounds: &[&Round], u: usize, contraction: &[f64]) -> Result<Vec<f64>, Error> {
    let Some(first) = rounds.first() else {
        return Err(Error::InvalidParameter {
            name: "the number of rounds",
            condition: "be at least 1",
            value: 0.0,
        });
    };
    let n = first.node_count();
    if u >= n {
        return Err(Error::NodeOutOfRange { node: u, nodes: n });
    }
    let sizes = rounds.iter().map(|round| round.node_count()).chain([contraction.len()]);
    for got in sizes {
        if got != n {
            return Err(Error::Shape {
                what: "nodes of a round, or contraction constants",
                expected: n,
                got,
            });
        }
    }
    // Written so that NaN fails.
    if let Some(&value) = contraction.iter().find(|&&q| !(0.0 <= q && q.is_finite())) {
        return Err(Error::InvalidParameter {
            name: "a contraction constant",
            condition: "be nonnegative and finite",
            value,
        });
    }
    let mut shift = Array1::zeros(n);
    shift[u] = 1.0;
    let mut charges = Vec::with_capacity(rounds.len());
    for round in rounds {
        charges.push(shift.dot(&round.seen.dot(&shift)).min(shift.dot(&shift)));
        shift = round.carried.dot(&shift);
        shift.iter_mut().zip(contraction).for_each(|(s, q)| *s *= q);
        shift[u] += 1.0;
    }
    Ok(charges)
}

/// Bound on what an observer learns over `rounds` rounds that each end in exact consensus, in
/// units of `c₀`: `rounds` times the loss of one round.
///
/// Holds for any losses, convex or not: with public first models the observer knows every
/// node's model at the start of each round, so the rounds compose. Attained when the gradients
/// differ by `Δ_φ` in every round.
#[must_use]
pub fn consensus_loss(one_round: UnitLoss, rounds: u32) -> UpperBound<f64> {
    UpperBound::new(one_round.get() * f64::from(rounds))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndp_graph::{GossipMatrix, Graph, Step, generators};

    /// Orthonormal rows spanning `e_v` and the messages `e_w W^t`, `t < steps`, of `v`'s neighbors.
    fn basis(matrix: &GossipMatrix, v: usize, steps: usize) -> Result<Array2<f64>, Error> {
        let n = matrix.node_count();
        let dense = matrix.to_dense()?;
        let mut power = Array2::eye(n);
        let mut rows: Vec<Array1<f64>> = Vec::new();
        let mut add = |row: Array1<f64>| {
            let mut rest = row;
            for _ in 0..3 {
                for q in &rows {
                    rest = &rest - &(q * q.dot(&rest));
                }
            }
            let norm = rest.dot(&rest).sqrt();
            if norm > 1e-9 {
                rows.push(rest / norm);
            }
        };
        let mut own = Array1::zeros(n);
        own[v] = 1.0;
        add(own);
        for _ in 0..steps {
            for &w in matrix.graph().neighbors(v) {
                add(power.row(w as usize).to_owned());
            }
            power = power.dot(&dense);
        }
        Ok(Array2::from_shape_fn((rows.len(), n), |(i, j)| rows[i][j]))
    }

    fn power(matrix: &GossipMatrix, steps: usize) -> Result<Array2<f64>, Error> {
        let dense = matrix.to_dense()?;
        Ok((0..steps).fold(Array2::eye(matrix.node_count()), |m, _| m.dot(&dense)))
    }

    /// The basis that the gossip accountant finds spans the rows written down here.
    #[test]
    fn rounds_of_gossip_are_those_of_their_rows() -> Result<(), Error> {
        for (graph, v) in [(generators::path_graph(6)?, 2), (generators::cycle_graph(6)?, 0)] {
            let matrix = GossipMatrix::metropolis(&graph);
            for steps in 1..4 {
                let by_rows = Round::from_basis(&basis(&matrix, v, steps)?, &power(&matrix, steps)?)?;
                let found = Round::of_gossip(&SynchronousGossip::new(matrix.clone(), steps), v)?;
                let repeated = GossipSequence::new(6, vec![Step::Matrix(matrix.clone()); steps])?;
                for round in [found, Round::of_sequence(&repeated, v)?] {
                    for (a, b) in [(&round.seen, &by_rows.seen), (&round.carried, &by_rows.carried)] {
                        assert!((a - b).iter().all(|x| x.abs() < 1e-12));
                    }
                }
            }
        }
        Ok(())
    }

    /// Plain gossip is the recursion with parameter 1.
    fn exact_instance(
        matrix: &GossipMatrix,
        u: usize,
        v: usize,
        steps: usize,
        rounds: usize,
        slope: &[f64],
    ) -> Result<f64, Error> {
        exact_accelerated(matrix, u, v, (steps, 1.0), rounds, slope)
    }

    /// The exact loss when every step is `θ_w ↦ slope_w θ_w`, from the stacked Gaussian system
    /// over all rounds: Gram-Schmidt on the rows of the view, mean shifts carried along.
    fn exact_accelerated(
        matrix: &GossipMatrix,
        u: usize,
        v: usize,
        (steps, parameter): (usize, f64),
        rounds: usize,
        slope: &[f64],
    ) -> Result<f64, Error> {
        let n = matrix.node_count();
        let dense = matrix.to_dense()?;
        let columns = n * rounds;
        // ψ as rows over the noises of all rounds, then the mean shift as a last column.
        let mut psi = Array2::<f64>::zeros((n, columns + 1));
        let mut view: Vec<Array1<f64>> = Vec::new();
        for t in 0..rounds {
            if t > 0 {
                for (mut row, a) in psi.rows_mut().into_iter().zip(slope) {
                    row.mapv_inplace(|x| a * x);
                }
            }
            for w in 0..n {
                psi[(w, t * n + w)] += 1.0;
            }
            psi[(u, columns)] += 1.0;
            let mut own = Array1::zeros(columns + 1);
            own[t * n + v] = 1.0;
            view.push(own);
            let (mut before, mut state) = (psi.clone(), psi);
            for step in 0..steps {
                for &w in matrix.graph().neighbors(v) {
                    view.push(state.row(w as usize).to_owned());
                }
                let mixed = dense.dot(&state);
                let next = if step == 0 { mixed } else { mixed * parameter + &before * (1.0 - parameter) };
                before = std::mem::replace(&mut state, next);
            }
            psi = state;
        }
        let mut kept: Vec<Array1<f64>> = Vec::new();
        let mut loss = 0.0;
        for row in view {
            let mut rest = row;
            for _ in 0..3 {
                for q in &kept {
                    let along: f64 = (0..columns).map(|j| q[j] * rest[j]).sum();
                    rest = &rest - &(q * along);
                }
            }
            let norm = (0..columns).map(|j| rest[j] * rest[j]).sum::<f64>().sqrt();
            if norm > 1e-9 {
                rest /= norm;
                loss += rest[columns] * rest[columns];
                kept.push(rest);
            }
        }
        Ok(loss)
    }

    fn bound(
        graph: &Graph,
        u: usize,
        v: usize,
        steps: usize,
        rounds: usize,
        q: f64,
    ) -> Result<(Vec<f64>, f64), Error> {
        let matrix = GossipMatrix::metropolis(graph);
        let round = Round::from_basis(&basis(&matrix, v, steps)?, &power(&matrix, steps)?)?;
        let rounds = vec![&round; rounds];
        let q = vec![q; graph.node_count()];
        Ok((shift_charges(&rounds, u, &q)?, shift_loss(&rounds, u, &q)?.into_value()))
    }

    fn close(a: f64, b: f64) {
        assert!((a - b).abs() <= 1e-12 * b.abs().max(1e-3), "{a} is not {b}");
    }

    /// Spec values; the printed sum over rounds, `T f_K`, gives 0 for the first two.
    #[test]
    fn hidden_models_leak_over_rounds() -> Result<(), Error> {
        let path = generators::path_graph(3)?;
        let matrix = GossipMatrix::metropolis(&path);
        close(bound(&path, 0, 2, 1, 2, 1.0)?.1, 1.0 / 9.0);
        close(exact_instance(&matrix, 0, 2, 1, 2, &[1.0; 3])?, 0.1);

        let ring = generators::cycle_graph(6)?;
        let (charges, total) = bound(&ring, 0, 3, 2, 3, 0.5)?;
        close(total, 0.072_873_799_725_651_6);
        for (charge, expected) in
            charges.into_iter().zip([0.0, 0.030_864_197_530_864_2, 0.042_009_602_194_787_4])
        {
            close(charge, expected);
        }
        let exact = exact_instance(&GossipMatrix::metropolis(&ring), 0, 3, 2, 3, &[0.5; 6])?;
        close(exact, 0.070_311_520_341_078_1);

        let path = generators::path_graph(6)?;
        let (charges, total) = bound(&path, 0, 2, 1, 3, 1.0)?;
        close(total, 0.419_753_086_419_753);
        for (charge, expected) in charges.into_iter().zip([0.0, 1.0 / 9.0, 0.308_641_975_308_642]) {
            close(charge, expected);
        }
        close(
            exact_instance(&GossipMatrix::metropolis(&path), 0, 2, 1, 3, &[1.0; 6])?,
            0.346_153_846_153_846,
        );
        Ok(())
    }

    /// Every instance with slopes in `[-q, q]` stays below the bound.
    #[test]
    fn no_instance_exceeds_the_bound() -> Result<(), Error> {
        use rand::{RngExt, SeedableRng};
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(11);
        for trial in 0..200 {
            let n = rng.random_range(3..7);
            let extra: Vec<(usize, usize)> = (0..n)
                .flat_map(|a| (a + 2..n).map(move |b| (a, b)))
                .filter(|_| rng.random_bool(0.3))
                .collect();
            let graph = Graph::from_edges(n, (1..n).map(|b| (b - 1, b)).chain(extra))?;
            let u = rng.random_range(0..n);
            let v = (u + rng.random_range(1..n)) % n;
            let (steps, rounds) = (rng.random_range(1..4), rng.random_range(2..6));
            let q = rng.random_range(0.0..1.5);
            let slope: Vec<f64> = (0..n).map(|_| rng.random_range(-q..=q)).collect();
            let exact = exact_instance(&GossipMatrix::metropolis(&graph), u, v, steps, rounds, &slope)?;
            let (_, bound) = bound(&graph, u, v, steps, rounds, q)?;
            let local = exact.min(rounds as f64);
            assert!(bound >= local - 1e-9, "trial {trial}: {exact} exceeds {bound}");

            let parameter = rng.random_range(1.0..1.9);
            let matrix = GossipMatrix::metropolis(&graph);
            let gossip = SynchronousGossip::new(matrix.clone(), steps).accelerated(parameter)?;
            let round = Round::of_gossip(&gossip, v)?;
            let bound = shift_loss(&vec![&round; rounds], u, &vec![q; n])?.into_value();
            let exact = exact_accelerated(&matrix, u, v, (steps, parameter), rounds, &slope)?;
            assert!(bound >= exact - 1e-9, "trial {trial}, accelerated: {exact} exceeds {bound}");
        }
        Ok(())
    }

    /// With exact consensus nothing is carried over, and the two accountants agree.
    #[test]
    fn consensus_leaves_nothing_behind() -> Result<(), Error> {
        let graph = generators::complete_graph(5)?;
        let (charges, total) = bound(&graph, 0, 2, 1, 4, 1.0)?;
        for charge in charges {
            close(charge, 1.0);
        }
        close(total, *consensus_loss(UnitLoss::new(1.0)?, 4).value());
        Ok(())
    }

    #[test]
    fn bad_input_is_named() -> Result<(), Error> {
        let eye = Array2::<f64>::eye(3);
        let round = Round::new(&eye, &eye)?;
        assert!(matches!(Round::new(&(&eye * 0.5), &eye), Err(Error::InvalidParameter { .. })));
        assert!(Round::new(&(&eye * f64::NAN), &eye).is_err());
        assert!(Round::new(&eye, &Array2::eye(2)).is_err());
        assert!(shift_loss(&[], 0, &[1.0; 3]).is_err());
        assert!(shift_loss(&[&round], 3, &[1.0; 3]).is_err());
        assert!(shift_loss(&[&round], 0, &[1.0; 2]).is_err());
        assert!(shift_loss(&[&round], 0, &[f64::NAN; 3]).is_err());
        Ok(())
    }
}
