//! Mechanisms whose observers see only a part: sampled users, the last model, a walk.

use super::common::{delta_of, epsilon_of, mechanism, rdp_of};
use crate::errors::Fault;
use crate::grades::{Noise, Number, a_delta, a_mu, an_epsilon, count, plain};
use crate::worker::run;
use ndp_dp::baselines;
use ndp_dp::federated::{self, ContractionFactor, FederatedParameters};
use ndp_dp::iteration::{self, NoisyStep, UncappedWalk};
use ndp_dp::subsampling;
use ndp_dp::{Delta, Mechanism, Neighbors, Sensitivity, Sigma};
use pyo3::prelude::*;

mechanism! {
    /// Gaussian noise on users who each take part with probability `rate`, when one user may be added or removed.
    ///
    /// Parameters
    /// ----------
    /// sigma : float
    ///     Standard deviation of the noise.
    /// rate : float
    ///     Sampling rate.
    /// sensitivity : float, optional
    ///
    /// Examples
    /// --------
    /// >>> import ndp
    /// >>> step = ndp.accountants.PoissonGaussian(sigma=1.0, rate=0.01)
    /// >>> spent = ndp.accountants.RdpAccountant().compose(step, 1000)
    /// >>> bool(spent.epsilon(delta=1e-5) < 2.2)
    /// True
    PoissonGaussian(subsampling::PoissonGaussian), "PoissonGaussian",
    (sigma: Noise, #[pyo3(from_py_with = plain)] rate: f64, #[pyo3(from_py_with = plain)] sensitivity: f64 = 1.0) => {
        let sigma = Sigma::new(sigma.0)?;
        let release = ndp_dp::Gaussian { sensitivity: Sensitivity::new(sensitivity)?, sigma };
        subsampling::PoissonGaussian::new(release, rate)?
    },
    neighbors: Some(Neighbors::AddOrRemove),
    epsilon: |inner, delta| epsilon_of(&inner, delta),
    delta: |inner, epsilon| delta_of(&inner, epsilon),
}

mechanism! {
    /// The noisy gradient of a random part of the users, drawn without replacement, when one user's data may be replaced.
    ///
    /// Parameters
    /// ----------
    /// rate : float
    ///     Share of the users that is drawn; 1/n for one of n.
    /// mu : float
    ///     Gaussian parameter of a release: twice the Lipschitz constant over sigma for a gradient.
    ///
    /// References
    /// ----------
    /// Wang, Balle and Kasiviswanathan, *Subsampled Rényi differential privacy and analytical moments accountant*,
    /// arXiv:1808.00087, Theorem 9.
    ///
    /// Examples
    /// --------
    /// >>> import ndp
    /// >>> step = ndp.accountants.SampledGaussian(rate=0.01, mu=1.0)
    /// >>> bool(step.rdp(2.0) < 0.001)
    /// True
    SampledGaussian(baselines::SampledGaussian), "SampledGaussian",
    (#[pyo3(from_py_with = plain)] rate: f64, #[pyo3(from_py_with = a_mu)] mu: f64) => baselines::SampledGaussian::new(rate, mu)?,
    neighbors: Some(Neighbors::ReplaceOne),
    epsilon: |inner, delta| epsilon_of(&inner, delta),
    delta: |inner, epsilon| delta_of(&inner, epsilon),
}

mechanism! {
    /// Federated SGD of which only the last model is released: against a reader of that model only.
    ///
    /// Users are split at random into batches; round t steps with the noisy mean gradient of batch t.
    ///
    /// Parameters
    /// ----------
    /// users, batch : int
    ///     Number of users, and of those in a round.
    /// lipschitz, smoothness : float
    ///     Of the convex loss of every user, on the ball.
    /// radius : float
    ///     Of the ball that models are projected on.
    /// step : float
    ///     Step size, at most 2/smoothness.
    /// sigma : float
    ///     Noise of every gradient.
    /// convexity : float, optional
    ///     Strong convexity.
    ///
    /// Examples
    /// --------
    /// >>> import ndp
    /// >>> run = ndp.accountants.FederatedRun(
    /// ...     users=100, batch=20, lipschitz=1.0, smoothness=4.0, radius=1.0, step=0.5, sigma=1.5
    /// ... )
    /// >>> bool(run.delta(1.0) < 1.1e-5), bool(run.all_models_delta(1.0) > 4e-5)
    /// (True, True)
    FederatedRun(federated::FederatedDescent), "FederatedRun",
    (#[pyo3(from_py_with = count)] users: u64, #[pyo3(from_py_with = count)] batch: u64, #[pyo3(from_py_with = plain)] lipschitz: f64, #[pyo3(from_py_with = plain)] smoothness: f64, #[pyo3(from_py_with = plain)] radius: f64, #[pyo3(from_py_with = plain)] step: f64, sigma: Noise,
        #[pyo3(from_py_with = plain)] convexity: f64 = 0.0) => {
        let factor = ContractionFactor::strongly_convex(step, convexity, smoothness)?;
        let parameters = FederatedParameters { users, batch, lipschitz, radius, step, sigma: sigma.0 };
        federated::FederatedDescent::new(parameters, factor)?
    },
    neighbors: Some(Neighbors::ReplaceOne),
    epsilon: |inner, delta| Ok(Number::epsilon(inner.epsilon(Delta::new(delta)?), delta)),
    delta: |inner, epsilon| Ok(Number::delta(inner.delta(epsilon)?, epsilon)),
    {
        /// The delta at an epsilon of Theorem 2 of the paper.
        ///
        /// Parameters
        /// ----------
        /// epsilon : float
        ///
        /// Returns
        /// -------
        /// UpperBound
        fn theorem2_delta(&self, #[pyo3(from_py_with = an_epsilon)] epsilon: f64) -> Result<Number, Fault> {
            let delta = self.inner.theorem2_delta(epsilon)?;
            Ok(Number::delta(delta, epsilon).between(Some(Neighbors::ReplaceOne)))
        }

        /// The delta at an epsilon when every model is seen.
        ///
        /// Parameters
        /// ----------
        /// epsilon : float
        ///
        /// Returns
        /// -------
        /// UpperBound
        fn all_models_delta(&self, #[pyo3(from_py_with = an_epsilon)] epsilon: f64) -> Result<Number, Fault> {
            let delta = self.inner.all_models_delta(epsilon)?;
            Ok(Number::delta(delta, epsilon).between(Some(Neighbors::ReplaceOne)))
        }

        /// The curve that Figure 2 of the paper prints.
        ///
        /// Parameters
        /// ----------
        /// epsilon : float
        ///
        /// Returns
        /// -------
        /// Printed
        fn printed_delta(&self, #[pyo3(from_py_with = an_epsilon)] epsilon: f64) -> Result<Number, Fault> {
            let printed = ndp_printed::contraction::figure_delta(&self.inner, epsilon)?;
            Ok(Number::delta(printed, epsilon))
        }

        /// Number of rounds.
        #[getter]
        fn rounds(&self) -> u64 {
            self.inner.rounds()
        }
    }
}

mechanism! {
    /// Private descent by a walk on the complete graph: what colluders learn about a user with capped contributions.
    ///
    /// It holds where the loss of every user is convex, Lipschitz and smooth, steps are all of one size, at most 2 over the
    /// smoothness, the first model does not depend on the data, the first holder is drawn uniformly and not known, and visits beyond
    /// the cap still add noise. Clipped gradients are in general not of this kind.
    ///
    /// Parameters
    /// ----------
    /// contributions : int
    ///     The cap.
    /// lipschitz : float
    ///     Lipschitz constant of the losses.
    /// sigma : float
    ///     Noise of every step.
    /// users, colluders : int
    ///
    /// Examples
    /// --------
    /// >>> import ndp
    /// >>> walk = ndp.accountants.CappedWalk(contributions=100, lipschitz=1.0, sigma=40.0, users=1000)
    /// >>> bool(walk.epsilon(delta=1e-6) < 0.33)
    /// True
    CappedWalk(iteration::CappedWalk), "CappedWalk",
    (#[pyo3(from_py_with = count)] contributions: u64, #[pyo3(from_py_with = plain)] lipschitz: f64, sigma: Noise, #[pyo3(from_py_with = count)] users: u64, #[pyo3(from_py_with = count)] colluders: u64 = 1) => {
        let step = NoisyStep::new(lipschitz, Sigma::new(sigma.0)?)?;
        iteration::CappedWalk::new(contributions, step, users, colluders)?
    },
    neighbors: Some(Neighbors::ReplaceOne),
    epsilon: |inner, delta| epsilon_of(&inner, delta),
    delta: |inner, epsilon| delta_of(&inner, epsilon),
}

mechanism! {
    /// Private descent by a walk of given length on the complete graph, exact in the number of steps: no cap.
    ///
    /// It holds where the loss of every user is convex, Lipschitz and smooth, steps are all of one size, at most 2 over the
    /// smoothness, and the start does not depend on the data. Clipped gradients are in general not of this kind.
    ///
    /// Parameters
    /// ----------
    /// steps, users, colluders : int
    /// lipschitz : float
    ///     Lipschitz constant of the losses.
    /// sigma : float
    ///     Noise of every step.
    /// published : bool, optional
    ///     Whether the colluders see the last token too.
    /// given_first : bool, optional
    ///     Whether the first holder is known beforehand; the loss is then that of the holder.
    /// longest : int, optional
    ///     Gaps above it count as hidden after that many steps, which costs more and computes faster.
    ///
    /// Examples
    /// --------
    /// >>> import ndp
    /// >>> walk = ndp.accountants.WalkDescent(steps=1000, users=100, lipschitz=1.0, sigma=40.0)
    /// >>> bool(walk.epsilon(delta=1e-6) < 0.5)
    /// True
    WalkDescent(iteration::WalkDescent), "WalkDescent",
    (#[pyo3(from_py_with = count)] steps: u64, #[pyo3(from_py_with = count)] users: u64, #[pyo3(from_py_with = plain)] lipschitz: f64, sigma: Noise, #[pyo3(from_py_with = count)] colluders: u64 = 1, published: bool = false,
        given_first: bool = false, longest: u64 = 1000) => {
        let last_iterate = if published { iteration::LastIterate::Published } else { iteration::LastIterate::Withheld };
        let first_holder = if given_first { iteration::FirstHolder::Given } else { iteration::FirstHolder::Uniform };
        let step = NoisyStep::new(lipschitz, Sigma::new(sigma.0)?)?;
        UncappedWalk { steps, users, colluders, last_iterate, first_holder }.descent(step, longest)?
    },
    neighbors: Some(Neighbors::ReplaceOne),
    epsilon: |inner, delta| epsilon_of(&inner, delta),
    delta: |inner, epsilon| delta_of(&inner, epsilon),
}
