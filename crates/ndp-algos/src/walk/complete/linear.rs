//! A sum along a given path as a linear Gaussian protocol: what an observer who knows the path faces.

use super::CompleteSum;
use crate::protocol::Observation;
use crate::view::checked_coalition;

use crate::walk::{Path, TokenNoise};
use crate::{Error, LinearProtocol, View};
use ndarray::{Array2, ArrayView2};
use ndp_dp::Sigma;
use rand::Rng;

/// A [`CompleteSum`] along a realised path.
///
/// Its exact loss towards `v` is the sum over segments of `k²/m`, see
/// [`path_units`](super::realised::path_units) for all pairs at once.
///
/// # Examples
/// ```
/// use ndp_algos::LinearProtocol;
/// use ndp_algos::walk::complete::{CompleteSum, CompleteWalk, SumOnPath};
/// use ndp_algos::walk::{Bounds, TokenNoise};
/// let walk = CompleteWalk::new(3, 3)?;
/// let noise = TokenNoise::gaussian(ndp_dp::Sigma::new(1.0)?);
/// let sum = CompleteSum::new(walk, Bounds::new(0.0, 1.0)?, noise);
/// // Two contributions of node 0 behind two noises, before node 1 sees the token: 2²/2.
/// let losses = SumOnPath::new(sum, walk.path(&[0, 0, 1])?)?.coalition_loss(&[1])?;
/// assert!((losses.loss.value().unit[0] - 2.0).abs() < 1e-9);
/// # Ok::<(), ndp_algos::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct SumOnPath {
    sum: CompleteSum,
    path: Path,
}

impl SumOnPath {
    /// The protocol `sum` once its token took `path`.
    ///
    /// # Errors
    /// [`Error::Shape`] for a path on another number of nodes or steps, [`Error::NodeOutOfRange`]; [`Error::NoGuarantee`]
    /// unless the noise is Gaussian.
    pub fn new(sum: CompleteSum, path: Path) -> Result<Self, Error> {
        sum.walk().check_path(&path)?;
        sum.mu()?;
        Ok(Self { sum, path })
    }

    /// The number of steps behind every token the members see: at their receptions, then at publication.
    fn observed_after(&self, members: &[usize]) -> Vec<usize> {
        let steps = self.path.steps();
        let received = (0..steps).filter(|&step| members.contains(&self.path.holders[step]));
        received.chain(self.sum.walk().is_published().then_some(steps)).collect()
    }
}

/// Input `u` is the data of node `u`, which moves all its contributions alike; noise `j` is that of step `j`.
impl LinearProtocol for SumOnPath {
    fn node_count(&self) -> usize {
        self.path.nodes
    }

    fn coalition_view(&self, coalition: &[usize]) -> Result<View, Error> {
        let members = checked_coalition(coalition, self.node_count())?;
        let rows = self.observed_after(&members);
        let mut inputs = Array2::zeros((rows.len(), self.node_count()));
        for (row, &seen) in rows.iter().enumerate() {
            for step in (0..seen).filter(|&step| self.path.contributes[step]) {
                inputs[(row, self.path.holders[step])] += 1.0;
            }
        }
        let steps = self.path.steps();
        let noises =
            Array2::from_shape_fn((rows.len(), steps), |(row, step)| f64::from(u8::from(step < rows[row])));
        let known: Vec<usize> =
            (0..steps).filter(|&step| members.contains(&self.path.holders[step])).collect();
        View::new(&members, inputs, noises, &known)
    }

    /// Each coordinate of the values is a run of its own, in which a node contributes its value on every visit.
    fn observe(
        &self,
        values: ArrayView2<'_, f64>,
        sigma: Sigma,
        coalition: &[usize],
        rng: &mut dyn Rng,
    ) -> Result<Observation, Error> {
        let members = checked_coalition(coalition, self.node_count())?;
        let sum = self.sum.with_noise(TokenNoise::gaussian(sigma));
        let rows = self.observed_after(&members);
        let known: Vec<usize> =
            (0..self.path.steps()).filter(|&step| members.contains(&self.path.holders[step])).collect();
        let runs = values.ncols();
        let mut seen = Observation {
            received: Array2::zeros((rows.len(), runs)),
            known_noises: Array2::zeros((known.len(), runs)),
        };
        for (column, values) in values.columns().into_iter().enumerate() {
            let run = sum.run_along(self.path.clone(), |u, _| values[u], &mut &mut *rng)?;
            for (row, &steps) in rows.iter().enumerate() {
                seen.received[(row, column)] = if steps == 0 { 0.0 } else { run.tokens[steps - 1] };
            }
            for (row, &step) in known.iter().enumerate() {
                seen.known_noises[(row, column)] = run.noises[step];
            }
        }
        Ok(seen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::exact_loss;
    use crate::walk::Bounds;
    use crate::walk::complete::realised::path_units;
    use crate::walk::complete::{Caps, CompleteWalk};
    use approx::assert_relative_eq;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    /// The projection routine on the linear view against the sum of `k²/m`, every pair, published or not.
    #[test]
    fn path_units_match_the_linear_view() -> Result<(), Error> {
        let rng = &mut ChaCha8Rng::seed_from_u64(10);
        let noise = TokenNoise::gaussian(Sigma::new(3.0)?);
        for published in [false, true] {
            for (n, steps) in [(2, 9), (4, 20), (5, 30)] {
                let walk = CompleteWalk::new(n, steps)?;
                let walk = if published { walk.published() } else { walk };
                let sum = CompleteSum::new(walk, Bounds::new(0.0, 1.0)?, noise);
                let protocol = SumOnPath::new(sum, walk.sample(rng))?;
                let units = path_units(&protocol.path, published)?.into_value();
                for v in 0..n {
                    let report = exact_loss(&protocol.view(v)?)?;
                    for u in (0..n).filter(|&u| u != v) {
                        let exact = report.loss.value().unit[u];
                        assert_relative_eq!(units[(u, v)], exact, max_relative = 1e-9, epsilon = 1e-9);
                    }
                }
            }
        }
        Ok(())
    }

    #[test]
    fn capped_steps_hide_and_do_not_show() -> Result<(), Error> {
        let noise = TokenNoise::gaussian(Sigma::new(3.0)?);
        let walk = CompleteWalk::new(3, 4)?.with_caps(Caps { visits: Some(1), edge_uses: None })?;
        let sum = CompleteSum::new(walk, Bounds::new(0.0, 1.0)?, noise);
        // Node 0 contributes once; its second visit only adds noise.
        let protocol = SumOnPath::new(sum, walk.path(&[0, 0, 1, 2])?)?;
        assert_relative_eq!(path_units(&protocol.path, false)?.value()[(0, 1)], 0.5, max_relative = 1e-12);
        let report = exact_loss(&protocol.view(1)?)?;
        assert_relative_eq!(report.loss.value().unit[0], 0.5, max_relative = 1e-12);
        assert!(SumOnPath::new(sum, CompleteWalk::new(3, 3)?.path(&[0, 0, 1])?).is_err());
        Ok(())
    }
}
