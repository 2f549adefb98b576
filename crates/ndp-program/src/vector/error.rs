//! The exact distance of the result from the mean of the inputs.

use super::run::{apply, check_values, each_few_columns};
use super::schedule::NoiseSchedule;
use super::{MessageNoise, Part, VectorProgram};
use ndarray::{Array2, ArrayView1, ArrayView2, Axis};
use ndp_account::Error;
use ndp_dp::{Exact, NoiseMultiplier, Sensitivity, Sigma};
use ndp_graph::{GossipMatrix, Step};
use ndp_linalg::memory::require_dense;
use ndp_numeric::stop::{Stop, work};

/// An upper bound on the root mean squared error of the output `P (x + η)` on the worst inputs from an
/// interval of length 1: `√(σ² ‖P‖_F²/n + b)` with the [worst bias](worst_bias) `b`.
fn worst_of_operator(operator: ArrayView2<'_, f64>, noise: NoiseMultiplier) -> f64 {
    let squares: f64 = operator.iter().map(|x| x * x).sum();
    let variance = noise.get() * noise.get() * squares / operator.nrows() as f64;
    (variance + worst_bias(operator)).sqrt()
}

/// `(1/n) Σ_v (Σ_u |P_vu - 1/n| / 2)²`: an upper bound on the mean squared error without noise, for inputs
/// from an interval of length 1. The entries of a row of `P` sum to 1, so that only the distances of the
/// inputs from the middle of the interval matter, each at most 1/2: a node is off by at most the inner sum,
/// and by that much on some inputs, which may be others for another node.
fn worst_bias(operator: ArrayView2<'_, f64>) -> f64 {
    let n = operator.nrows() as f64;
    let most = |row: ArrayView1<'_, f64>| row.iter().map(|x| (x - 1.0 / n).abs()).sum::<f64>() / 2.0;
    operator.rows().into_iter().map(|row| most(row).powi(2)).sum::<f64>() / n
}

/// The exact error of the linear operator `P` (`n` by `n`, each of whose columns sums to 1): `(1/n) (Σ_k ‖P
/// x_k - x̄_k 1‖² + d σ² ‖P‖_F²)`, where the sum is over the `d` columns of `values`.
fn operator_error(
    operator: ArrayView2<'_, f64>,
    values: ArrayView2<'_, f64>,
    sigma: Sigma,
) -> Result<f64, Error> {
    if let Some(&value) = operator.iter().find(|x| !x.is_finite()) {
        let (name, condition) = ("every entry of the operator", "be finite");
        return Err(Error::InvalidParameter { name, condition, value });
    }
    let squares: f64 = operator.iter().map(|x| x * x).sum();
    let n = values.nrows() as f64;
    let mean = values.mean_axis(Axis(0)).expect("there is a node");
    let bias: f64 = (&operator.dot(&values) - &mean).iter().map(|x| x * x).sum();
    let variance = values.ncols() as f64 * sigma.get() * sigma.get() * squares;
    Ok((bias + variance) / n)
}

/// Checks that an `n` by `n` operator is small enough to be written down for its error.
///
/// # Errors
/// [`Error::NotOffered`] otherwise.
pub fn require_operator(n: usize) -> Result<(), Error> {
    if n <= MAX_OPERATOR {
        return Ok(());
    }
    Err(Error::NotOffered("the error is computed from an operator on all nodes, for at most 2048 of them"))
}

/// Checks that this number of rounds, of this number of products each, takes at most minutes.
///
/// # Errors
/// [`Error::InvalidParameter`] otherwise.
pub fn require_rounds(rounds: usize, products: usize) -> Result<(), Error> {
    // A round takes some time even if the graph is small.
    if rounds as f64 * (products as f64).max(FEWEST_PRODUCTS) <= MAX_PRODUCTS {
        return Ok(());
    }
    let name = "the number of rounds that are gone through one by one";
    let condition = "be at most 4e11 over the products of a round, of which 100000 are counted at least";
    Err(Error::InvalidParameter { name, condition, value: rounds as f64 })
}

/// `m_t = ‖W^{T-t}‖_F² / n`: what a unit of variance in round `t` adds to the mean squared error of the
/// output. It tends to `1/n` for early rounds; noise in late rounds costs most.
///
/// # Errors
/// A matrix too large to be dense.
pub fn error_weights(matrix: &GossipMatrix, rounds: usize) -> Result<Vec<f64>, Error> {
    let n = matrix.node_count();
    let mut weights = squares_of_powers(matrix, &matrix.to_dense()?, rounds);
    weights.iter_mut().for_each(|sum| *sum /= n as f64);
    weights.reverse();
    Ok(weights)
}

/// `‖W^k X‖_F²` for `k` from 0 to `count - 1`.
fn squares_of_powers(matrix: &GossipMatrix, x: &Array2<f64>, count: usize) -> Vec<f64> {
    let parts = each_few_columns(x, |mut power| {
        let squares = |k: usize| {
            if k > 0 {
                power = apply(matrix.csr(), power.view());
            }
            power.iter().map(|x| x * x).sum()
        };
        (0..count).map(squares).collect::<Vec<f64>>()
    });
    let mut sums = vec![0.0; count];
    // In the order of the columns, whichever is known first.
    for part in parts {
        sums.iter_mut().zip(part).for_each(|(sum, square)| *sum += square);
    }
    sums
}

impl VectorProgram<'_> {
    /// The operator `P` of the output `P (x + η)`, without noise in later rounds and on messages: `n` by `n`.
    ///
    /// # Errors
    /// [`ndp_graph::Error::TooLarge`]; [`Error::InvalidParameter`] for more rounds than can be followed.
    #[doc(hidden)]
    pub fn operator(&self) -> Result<Array2<f64>, Error> {
        self.checked()?;
        let (n, what) = (self.nodes, "the operator of a gossip protocol");
        match self.same_matrix() {
            Some((matrix, rounds)) => {
                require_dense(what, n, 4 * n)?;
                require_rounds(rounds, n.saturating_mul(matrix.csr().parts().1.len()))?;
            }
            None => require_dense(what, n, 2 * n)?,
        }
        Ok(self.followed())
    }

    /// The exact error `(1/n) Σ_v E ‖x_v^T - x̄‖²` on these values (`n` by `d`), given the connections.
    ///
    /// # Errors
    /// Those of [`run`](Self::run); [`ndp_graph::Error::TooLarge`] for a matrix too large to be dense;
    /// [`Error::InvalidParameter`] for more rounds than can be followed; [`Error::NotOffered`] for noise in
    /// several rounds with changing connections.
    pub fn mean_squared_error(&self, values: ArrayView2<'_, f64>, sigma: Sigma) -> Result<Exact<f64>, Error> {
        self.checked()?;
        check_values(values, self.nodes)?;
        if self.variances() != [1.0] {
            let n = values.nrows() as f64;
            let mean = values.sum_axis(Axis(0)) / n;
            let (matrix, rounds) = self.matrix_of_schedule()?;
            let mut state = values.to_owned();
            for _ in 0..rounds {
                state = apply(matrix.csr(), state.view());
            }
            let bias: f64 = (state - &mean).iter().map(|x| x * x).sum::<f64>() / n;
            return Ok(Exact::new(bias + values.ncols() as f64 * self.noise_error(sigma)?));
        }
        let clean = operator_error(self.operator()?.view(), values, sigma)?;
        Ok(Exact::new(self.with_message_noise(clean, values.ncols(), sigma)?))
    }

    /// An upper bound on the root mean squared error on the worst inputs from an interval of length 1.
    ///
    /// # Errors
    /// [`Error::NotOffered`] if there are too many nodes to write down an operator.
    pub(super) fn worst_error(&self, noise: NoiseMultiplier, stop: &Stop) -> Result<f64, Error> {
        self.checked()?;
        require_operator(self.nodes)?;
        // The operator is followed through all rounds, for sixteen columns together.
        stop.spend(self.entries().saturating_mul(work([self.nodes]) / 4 + 1))?;
        if self.variances() == [1.0] && !self.has_noisy_messages() {
            return Ok(worst_of_operator(self.operator()?.view(), noise));
        }
        let sigma = noise.sigma(Sensitivity::new(1.0)?)?;
        let noisy = if self.variances() == [1.0] {
            self.mean_squared_error(Array2::zeros((self.nodes, 1)).view(), sigma)?.into_value()
        } else {
            self.noise_error(sigma)?
        };
        Ok((noisy + worst_bias(self.operator()?.view())).sqrt())
    }

    /// The entries of the matrices of all rounds.
    pub(super) fn entries(&self) -> u64 {
        let entries = |part: &Part<'_>| match part {
            Part::Noise(_) => 0,
            Part::Rounds { mixing, times } => work([mixing.matrix.csr().parts().1.len(), *times]),
            Part::Changing(sequence) => {
                let of_step = |step: &Step| match step {
                    Step::Matrix(matrix) => work([matrix.csr().parts().1.len()]),
                    Step::Pair(..) => 2,
                    Step::Idle => 0,
                };
                sequence.steps().iter().map(of_step).sum()
            }
            Part::Rings { rings, .. } => work([2, rings.len()]),
        };
        self.parts.iter().map(entries).fold(0, u64::saturating_add)
    }

    /// The matrix and the rounds of a program with noise in several of them.
    fn matrix_of_schedule(&self) -> Result<(&GossipMatrix, usize), Error> {
        self.same_matrix().ok_or(Error::NotOffered(
            "the error of noise in several rounds is known for plain rounds with one matrix: state it as a program",
        ))
    }

    /// The share of the noise in the mean squared error `(1/n) Σ_v E (x_v^T - x̄)²` per coordinate:
    /// `Σ_t s_t m_t`, exact.
    fn noise_error(&self, sigma: Sigma) -> Result<f64, Error> {
        let (matrix, rounds) = self.matrix_of_schedule()?;
        let schedule = NoiseSchedule::new(self.variances())?.scaled_to(sigma)?;
        let weights = error_weights(matrix, rounds)?;
        // A noise after the last round stays with the node that drew it.
        let weight = |at: &usize| weights.get(*at).copied().unwrap_or(1.0);
        let starts = self.starts_of_noises();
        Ok(starts.iter().map(weight).zip(schedule.variances()).map(|(m, s)| m * s).sum())
    }

    /// An error, plus what the noise on messages adds to it.
    fn with_message_noise(&self, clean: f64, columns: usize, sigma: Sigma) -> Result<f64, Error> {
        let Some(mixing) = self.mixing().filter(|mixing| mixing.noise.is_some()) else { return Ok(clean) };
        let (Some((matrix, rounds)), Some((kind, ratio))) = (self.same_matrix(), mixing.noise) else {
            return Err(Error::NotOffered(
                "the error of noise on messages of changing connections is not known",
            ));
        };
        let n = self.nodes;
        // The columns of W^k O or, with a noise per link, of W^k scaled by the links at their receiver.
        let spread = match kind {
            MessageNoise::Overheard => return Ok(clean),
            MessageNoise::PerLink => {
                let mut squares = vec![0.0; n];
                mixing.links().for_each(|(a, _, weight, _)| squares[a] += weight * weight);
                Array2::from_shape_fn((n, n), |(i, j)| if i == j { f64::sqrt(squares[i]) } else { 0.0 })
            }
            MessageNoise::Broadcast => {
                let mut off = matrix.to_dense()?;
                off.diag_mut().fill(0.0);
                off
            }
        };
        let sum: f64 = squares_of_powers(matrix, &spread, rounds).into_iter().sum();
        let variance = (ratio * sigma.get()).powi(2) * columns as f64;
        Ok(clean + variance * sum / n as f64)
    }
}

/// The least number of products that a round is counted as.
const FEWEST_PRODUCTS: f64 = 1e5;
/// The number of products that one answer may take, which is some minutes of work.
const MAX_PRODUCTS: f64 = 4e11;
/// The largest number of nodes for which the error is computed from the operator.
const MAX_OPERATOR: usize = 2048;
