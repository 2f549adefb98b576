//! What an observer learns over several rounds of gradient steps and gossip.
//!
//! All losses are in units of `c₀ = α Δ_φ² / (2σ²)`, the local loss of one round. After a round the models of
//! *other* nodes still contain a node's gradient in directions that the observer has not seen, and the next
//! round releases functions of them. Charging each round by itself is therefore false (see the printed
//! formula `T f_K` and its counterexamples in the tests). There are three sound ways:
//!
//! * local loss: `T`, for any mixing;
//! * [`shift_loss`]: follows the part that was not seen from round to round, as a shift;
//! * [`consensus_loss`]: if every round ends in exact consensus, no unseen part is left.

use crate::gossip::{ExactOptions, SynchronousGossip, ViewBasis, sequence_basis, view_basis};
use ndarray::{Array1, Array2};
use ndp_account::Error;
use ndp_account::parts::ensure;
use ndp_dp::{UnitLoss, UpperBound};
use ndp_graph::GossipSequence;
use ndp_program::VectorProgram;

/// One round as an observer sees it: it receives `A ψ`, and `C ψ` are the next models.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Round {
    /// At least `|P|`, entrywise, where `P` is the projector on the rows of `A`.
    seen: Array2<f64>,
    /// At least `N = |C (I - P)|`, entrywise: how unseen shifts spread to the next models.
    carried: Array2<f64>,
    failure: f64,
}

impl Round {
    /// The round in which an observer that knows its own noise sees the span of `view`, and models are mixed
    /// by `C`, which is `n` by `n`. No entry of `mixing` differs from `C` by more than `mixing_error`.
    ///
    /// With the approximation `P^ = QᵀQ` of the projector and the error `δ` of the basis, no entry of `P` is
    /// larger than that of `|P^|` plus `δ`, and none of `C (I - P)` is larger than that of `|C (I - P^)|`
    /// plus `δ` times the length of the row of `C`. Roundings are added.
    ///
    /// # Errors
    /// [`Error::Shape`]; [`Error::InvalidParameter`] for an error that is negative, infinite or NaN.
    pub(crate) fn new(view: &ViewBasis, mixing: &Array2<f64>, mixing_error: f64) -> Result<Self, Error> {
        let n = view.rows.ncols();
        for got in [mixing.nrows(), mixing.ncols()] {
            if got != n {
                return Err(Error::Shape { what: "side of the mixing matrix", expected: n, got });
            }
        }
        let errors = [("the error of a basis", view.error), ("the error of a mixing matrix", mixing_error)];
        for (name, value) in errors {
            // Written so that NaN fails.
            ensure((0.0..f64::INFINITY).contains(&value), name, "be nonnegative and finite", value)?;
        }
        let finite = |m: &Array2<f64>| m.iter().find(|x| !x.is_finite()).copied();
        if let Some(value) = finite(&view.rows).or(finite(mixing)) {
            let (name, condition) = ("every entry of a round", "be finite");
            return Err(Error::InvalidParameter { name, condition, value });
        }
        let projector = view.rows.t().dot(&view.rows);
        // A product of `k` terms errs by at most k 2^-53 times the lengths of the vectors, here at most 2 and
        // |C_i|.
        let rounding = |terms: usize, lengths: f64| (terms + 4) as f64 * f64::EPSILON * lengths;
        let seen_error = view.error + rounding(view.rows.nrows(), 4.0);
        let mut carried = mixing.dot(&(Array2::eye(n) - &projector)).mapv(f64::abs);
        for (mut row, weights) in carried.rows_mut().into_iter().zip(mixing.rows()) {
            let length = weights.dot(&weights).sqrt() * (1.0 + 1e-12);
            // The rows of I - P have length at most 1, those of its approximation at most 2.
            let error =
                seen_error * length + rounding(n, 2.0 * length) + mixing_error * (n as f64).sqrt() * 2.0;
            row.mapv_inplace(|x| x + error);
        }
        Ok(Self { seen: projector.mapv(|x| x.abs() + seen_error), carried, failure: view.failure })
    }

    /// A round of `protocol`, plain or accelerated gossip, as seen by `observer`, which knows its own noise.
    ///
    /// # Errors
    /// Those of [`exact_loss`](crate::gossip::exact_loss); [`Error::Shape`].
    pub(crate) fn of_gossip(protocol: &SynchronousGossip, observer: usize) -> Result<Self, Error> {
        let options = ExactOptions::default();
        let view = view_basis(&protocol.matrix, &[observer], protocol.rounds, options)?;
        let graph = protocol.matrix.graph();
        let widest = (0..graph.node_count()).map(|u| graph.degree(u)).max().unwrap_or(0);
        // Each step rounds states of length at most √n by (degree + 8) units. A rounding is multiplied by at
        // most the number of later steps (the fundamental solution of the accelerated recursion; 1 for plain
        // steps).
        let steps = protocol.rounds as f64 + 1.0;
        let units = 4.0 * (widest as f64 + 8.0) * f64::EPSILON;
        let error = steps * steps * units * (graph.node_count() as f64).sqrt();
        Self::new(&view, &protocol.stated().operator()?, error)
    }

    /// A round whose connections change from step to step, as seen by `observer`, which knows its own noise.
    ///
    /// # Errors
    /// Those of [`exact_loss`](crate::gossip::exact_loss), [`ndp_certify::Error::NotCertified`] and
    /// [`Error::Shape`].
    pub(crate) fn of_sequence(sequence: &GossipSequence, observer: usize) -> Result<Self, Error> {
        let view = sequence_basis(sequence, observer)?;
        let n = sequence.node_count();
        // The steps are products of nonnegative matrices of norm 1, each of which rounds by at most (n + 8)
        // units.
        let error = sequence.steps().len() as f64 * (n as f64 + 8.0) * f64::EPSILON * (n as f64).sqrt();
        Self::new(&view, &VectorProgram::new(n).noise(1.0).changing(sequence).operator()?, error)
    }

    /// An upper bound on the probability, over primes drawn from a hash of the view, that the observer sees
    /// more than this round accounts for.
    #[must_use]
    pub(crate) fn failure(&self) -> f64 {
        self.failure
    }

    /// Number of nodes.
    #[must_use]
    pub(crate) fn node_count(&self) -> usize {
        self.seen.nrows()
    }
}

/// Bound on what the observer learns about node `u` over the given rounds, in units of `c₀`: the
/// shift accountant.
///
/// `contraction[w]` is the Lipschitz constant of node `w`'s gradient step, for both neighboring data sets:
/// `1` for convex `L`-smooth losses and steps up to `2/L`, and
/// [`Constants::contraction`](crate::sgd::Constants::contraction) in general. Starting with `β = e_u`, each
/// round is charged `min(βᵀ|P|β, ‖β‖²)` and passes on `β ← diag(q) N β + e_u`, where `q` is `contraction`.
/// The sum is at most the local loss, which is the number of rounds.
///
/// Holds for linear gossip with data-independent matrices, Gaussian noise independent of everything else,
/// equal public first models, gradients at `u` that differ by at most `Δ_φ` at every model, and sampled
/// examples that are drawn independently of the data. It does not hold for momentum, nor for clipping of a
/// node's average gradient unless `contraction` accounts for it. The last models of other nodes are not part
/// of the view.
///
/// # Errors
/// [`Error::InvalidParameter`] for no rounds or a negative or NaN contraction, [`Error::Shape`],
/// [`Error::NodeOutOfRange`].
pub(crate) fn shift_loss(
    rounds: &[&Round],
    u: usize,
    contraction: &[f64],
) -> Result<UpperBound<UnitLoss>, Error> {
    let charges = shift_charges(rounds, u, contraction)?;
    let total = charges.iter().sum::<f64>().min(rounds.len() as f64);
    Ok(UpperBound::new(UnitLoss::of_releases(total)?))
}

/// The charge of each round in [`shift_loss`], before the cap.
///
/// # Errors
/// Those of [`shift_loss`].
pub(crate) fn shift_charges(rounds: &[&Round], u: usize, contraction: &[f64]) -> Result<Vec<f64>, Error> {
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
        // Sums of nonnegative terms, rounded up.
        let up = 1.0 + (2 * n + 8) as f64 * f64::EPSILON;
        charges.push(shift.dot(&round.seen.dot(&shift)).min(shift.dot(&shift)) * up);
        shift = round.carried.dot(&shift);
        shift.iter_mut().zip(contraction).for_each(|(s, q)| *s *= q * up);
        shift[u] += 1.0;
    }
    Ok(charges)
}

/// A bound on what an observer learns over `rounds` rounds that each end in exact consensus, in units of
/// `c₀`: `rounds` times the loss of one round.
///
/// Holds for any losses, convex or not: if the first models are public, the observer knows every node's model
/// at the start of each round, so that the rounds compose. Attained if the gradients differ by `Δ_φ` in every
/// round.
#[must_use]
pub(crate) fn consensus_loss(one_round: UnitLoss, rounds: u32) -> UpperBound<UnitLoss> {
    UpperBound::new(one_round * rounds.into())
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

    /// A round with the given rows, whose error is taken to be 0.
    fn round(rows: Array2<f64>, mixing: &Array2<f64>) -> Result<Round, Error> {
        Round::new(&ViewBasis { rows, error: 0.0, failure: 0.0 }, mixing, 0.0)
    }

    fn power(matrix: &GossipMatrix, steps: usize) -> Result<Array2<f64>, Error> {
        let dense = matrix.to_dense()?;
        Ok((0..steps).fold(Array2::eye(matrix.node_count()), |m, _| m.dot(&dense)))
    }

    /// The basis that the gossip accountant finds spans the rows that are written down here.
    #[test]
    fn rounds_of_gossip_are_those_of_their_rows() -> Result<(), Error> {
        for (graph, v) in [(generators::path_graph(6)?, 2), (generators::cycle_graph(6)?, 0)] {
            let matrix = GossipMatrix::metropolis(&graph);
            for steps in 1..4 {
                let by_rows = round(basis(&matrix, v, steps)?, &power(&matrix, steps)?)?;
                let found = Round::of_gossip(&SynchronousGossip::new(matrix.clone(), steps), v)?;
                let repeated = GossipSequence::new(6, vec![Step::Matrix(matrix.clone()); steps])?;
                for round in [found, Round::of_sequence(&repeated, v)?] {
                    for (a, b) in [(&round.seen, &by_rows.seen), (&round.carried, &by_rows.carried)] {
                        // Rounded outward by proven errors, which are 0 for the rows written down here.
                        assert!((a - b).iter().all(|x| (-1e-14..1e-11).contains(x)));
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

    /// The exact loss if every step is `θ_w ↦ slope_w θ_w`, from the stacked Gaussian system over all rounds:
    /// Gram-Schmidt on the rows of the view, to which mean shifts are appended.
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
        // ψ as rows over the noises of all rounds, with the mean shift as a last column.
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
        let round = round(basis(&matrix, v, steps)?, &power(&matrix, steps)?)?;
        let rounds = vec![&round; rounds];
        let q = vec![q; graph.node_count()];
        Ok((shift_charges(&rounds, u, &q)?, shift_loss(&rounds, u, &q)?.into_value().get()))
    }

    /// Bounds are rounded outward by a few units in the last place of 1.
    fn close(a: f64, b: f64) {
        assert!((a - b).abs() <= 1e-12, "{a} is not {b}");
    }

    /// Values of the specification. The printed sum over rounds, `T f_K`, gives 0 for the first two.
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

    /// The exact loss of every instance with slopes in `[-q, q]` is below the bound.
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
            let bound = shift_loss(&vec![&round; rounds], u, &vec![q; n])?.into_value().get();
            let exact = exact_accelerated(&matrix, u, v, (steps, parameter), rounds, &slope)?;
            assert!(bound >= exact - 1e-9, "trial {trial}, accelerated: {exact} exceeds {bound}");
        }
        Ok(())
    }

    /// With exact consensus no shift is carried over, and the two accountants agree.
    #[test]
    fn consensus_leaves_nothing_behind() -> Result<(), Error> {
        let graph = generators::complete_graph(5)?;
        let (charges, total) = bound(&graph, 0, 2, 1, 4, 1.0)?;
        for charge in charges {
            close(charge, 1.0);
        }
        close(total, consensus_loss(UnitLoss::new(1.0)?, 4).value().get());
        Ok(())
    }

    #[test]
    fn bad_input_is_named() -> Result<(), Error> {
        let eye = Array2::<f64>::eye(3);
        let basis = |error: f64| ViewBasis { rows: eye.clone(), error, failure: 0.0 };
        let round = Round::new(&basis(0.0), &eye, 0.0)?;
        for bad in [-1.0, f64::NAN, f64::INFINITY] {
            assert!(matches!(Round::new(&basis(bad), &eye, 0.0), Err(Error::InvalidParameter { .. })));
            assert!(matches!(Round::new(&basis(0.0), &eye, bad), Err(Error::InvalidParameter { .. })));
        }
        let no_number = Round::new(&basis(0.0), &(&eye * f64::NAN), 0.0);
        assert!(matches!(no_number, Err(Error::InvalidParameter { name: "every entry of a round", .. })));
        let small = Round::new(&basis(0.0), &Array2::eye(2), 0.0);
        assert!(matches!(small, Err(Error::Shape { expected: 3, got: 2, .. })));
        let found = shift_loss(&[], 0, &[1.0; 3]);
        assert!(matches!(found, Err(Error::InvalidParameter { name: "the number of rounds", .. })));
        let found = shift_loss(&[&round], 3, &[1.0; 3]);
        assert!(matches!(found, Err(Error::NodeOutOfRange { node: 3, nodes: 3 })));
        assert!(matches!(shift_loss(&[&round], 0, &[1.0; 2]), Err(Error::Shape { expected: 3, got: 2, .. })));
        let no_number = shift_loss(&[&round], 0, &[f64::NAN; 3]);
        assert!(matches!(no_number, Err(Error::InvalidParameter { name: "a contraction constant", .. })));
        Ok(())
    }
}
