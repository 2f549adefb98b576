//! Orthonormal bases of what is seen, on which accountants of several rounds rest.

use super::ExactOptions;
use ndarray::Array2;
use ndp_account::Error;
use ndp_account::parts::checked_coalition;
use ndp_certify::account;
use ndp_graph::{GossipMatrix, GossipSequence};
use ndp_linalg::memory::require_dense;
use ndp_program::VectorProgram;

/// Nearly orthonormal rows that span what an observer sees, with a proven bound on their distance from this
/// space.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ViewBasis {
    /// The rows, `rank` by `n`.
    pub rows: Array2<f64>,
    /// An upper bound on the spectral norm of the difference between the projector on what is seen and `QᵀQ`,
    /// where `Q` are these rows in exact arithmetic.
    pub error: f64,
    /// The probability, over primes drawn from a hash of the view, that the observer sees something that
    /// these rows do not span.
    pub failure: f64,
}

impl ViewBasis {
    /// Rows `Q^` at distance `ε` (in Frobenius norm) from exact combinations `Q` with `‖Q Qᵀ - I‖ ≤ h`.
    ///
    /// The projector is `Qᵀ (Q Qᵀ)⁻¹ Q`. It differs from `QᵀQ` by at most `h`, and `QᵀQ` differs from `Q^ᵀQ^`
    /// by at most `2 ε √(1 + h) + ε²`.
    pub(crate) fn new(rows: Array2<f64>, (h, epsilon): (f64, f64), failure: f64) -> Self {
        let error = (h + 2.0 * epsilon * (1.0 + h).sqrt() + epsilon * epsilon) * (1.0 + 1e-12);
        Self { rows, error, failure }
    }
}

/// A basis of what a coalition sees that knows its own noises.
///
/// The rows span the same space for plain and accelerated gossip. With the basis `Q`, `Qᵀ Q` is nearly the
/// projector whose diagonal holds the unit losses. Accountants that follow what was *not* seen over several
/// rounds start from this basis.
///
/// # Errors
/// Those of [`exact_loss`](super::exact_loss), and [`ndp_certify::Error::NotCertified`].
pub(crate) fn view_basis(
    matrix: &GossipMatrix,
    coalition: &[usize],
    rounds: usize,
    options: ExactOptions,
) -> Result<ViewBasis, Error> {
    let n = matrix.node_count();
    let coalition = checked_coalition(coalition, n)?;
    let program = VectorProgram::new(n).noise(1.0).rounds(matrix, rounds);
    let view = program.exact_powers(&coalition, &coalition)?;
    require_dense("an orthonormal basis", view.rank_limit(), n)?;
    let (certificate, combined) = account::basis_of_krylov(&view, matrix.graph(), options.budget())?;
    let mut rows = Array2::zeros((combined.vectors.len(), n));
    for (mut row, vector) in rows.rows_mut().into_iter().zip(&combined.vectors) {
        view.ball().nodes().iter().zip(vector).for_each(|(&u, &x)| row[u] = x);
    }
    let distance = (combined.enclosure.spread, combined.enclosure.error);
    Ok(ViewBasis::new(rows, distance, certificate.failure))
}

/// A basis of what an observer that knows its own noise sees, for given steps.
pub(crate) fn sequence_basis(sequence: &GossipSequence, observer: usize) -> Result<ViewBasis, Error> {
    let n = sequence.node_count();
    let known = checked_coalition(&[observer], n)?;
    // At the start the observer holds its own input with its own noise, which gives the unit vector of a node
    // that knows its noise.
    let rows = VectorProgram::new(n).noise(1.0).changing(sequence).exact_rows(&known, &[], true)?;
    let (failure, combined) = account::basis_of_rows(&rows, ExactOptions::default().budget())?;
    let mut found = Array2::zeros((combined.vectors.len(), n));
    for (mut row, vector) in found.rows_mut().into_iter().zip(&combined.vectors) {
        rows.layout().inputs.iter().for_each(|input| row[input.node] = vector[input.coordinate]);
    }
    Ok(ViewBasis::new(found, (combined.enclosure.spread, combined.enclosure.error), failure))
}
