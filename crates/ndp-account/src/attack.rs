//! The likelihood ratio of a linear Gaussian view.

use crate::error::ensure;
use crate::protocol::Observation;
use crate::view::checked_source;
use crate::{Error, View};
use ndarray::{Array1, Array2, ArrayView2, Axis, s};

/// The best linear statistic for telling one node's inputs apart.
#[derive(Clone, Debug, PartialEq)]
pub struct Attack {
    source: usize,
    /// Weights of the received values in the statistic.
    weights: Array1<f64>,
    /// The weights of the known noises in the weighted sum of the received values.
    known_weights: Array1<f64>,
    /// The weights of the inputs in the weighted sum of the received values.
    input_weights: Array1<f64>,
    /// The unit loss of the statistic, `bᵀ (R Rᵀ)⁺ b`; no attack on this view achieves more.
    pub unit: f64,
}

impl Attack {
    /// The likelihood-ratio statistic of `view` about node `source`.
    ///
    /// Messages are floating-point numbers, so each is taken to carry rounding noise of `1e-13` besides its
    /// own. If the loss depends on smaller differences, the attack is weaker than the view in exact
    /// arithmetic, never stronger.
    ///
    /// # Errors
    /// [`Error::NodeOutOfRange`]; [`Error::SourceIsObserver`]; [`ndp_certify::Error::NoiselessView`] when the
    /// view reveals an input without noise.
    ///
    /// # Complexity
    /// `O(r² m)` for `r` rows over `m` noises.
    pub fn optimal(view: &View, source: usize) -> Result<Self, Error> {
        let nodes = view.inputs().ncols();
        checked_source(source, view.coalition(), nodes)?;
        let unknown: Vec<usize> =
            (0..view.noises().ncols()).filter(|j| view.known_noises().binary_search(j).is_err()).collect();
        let rows = view.noises().select(Axis(1), &unknown);
        let (count, width) = rows.dim();
        // [R, ρ I]ᵀ = Q T with T upper triangular: every row carries a little independent noise, the rounding
        // of its message, so no rank has to be decided. The weights (R Rᵀ + ρ² I)⁻¹ b are computed from T
        // alone, which is as accurate as the rows. Updating combinations of rows instead would lose all
        // digits on long chains.
        let mut basis: Vec<Array1<f64>> = Vec::with_capacity(count);
        let mut factor = Array2::<f64>::zeros((count, count));
        for k in 0..count {
            let mut rest = Array1::zeros(width + count);
            rest.slice_mut(s![..width]).assign(&rows.row(k));
            rest[width + k] = ROUNDING;
            for _ in 0..3 {
                for (j, q) in basis.iter().enumerate() {
                    let overlap = q.dot(&rest);
                    rest.scaled_add(-overlap, q);
                    factor[(j, k)] += overlap;
                }
            }
            factor[(k, k)] = rest.dot(&rest).sqrt();
            basis.push(rest / factor[(k, k)]);
        }
        let mut weights = view.inputs().column(source).to_owned();
        for k in 0..count {
            let known = factor.slice(s![..k, k]).dot(&weights.slice(s![..k]));
            weights[k] = (weights[k] - known) / factor[(k, k)];
            if weights[k].abs() > LEAK {
                return Err(Error::Certify(ndp_certify::Error::NoiselessView(source)));
            }
        }
        for k in (0..count).rev() {
            let known = factor.slice(s![k, k + 1..]).dot(&weights.slice(s![k + 1..]));
            weights[k] = (weights[k] - known) / factor[(k, k)];
        }
        // The loss that these weights attain. Whatever rounding did to the weights, it is at most the loss of
        // the view.
        let shift = weights.dot(&view.inputs().column(source));
        let noise = rows.t().dot(&weights);
        let unit = match noise.dot(&noise) + ROUNDING * ROUNDING * weights.dot(&weights) {
            variance if variance > 0.0 => shift * shift / variance,
            _ => 0.0,
        };
        // Scaled so that the shift is the unit loss.
        if shift != 0.0 {
            weights *= unit / shift;
        }
        let known_weights = view.noises().select(Axis(1), view.known_noises()).t().dot(&weights);
        let input_weights = view.inputs().t().dot(&weights);
        Ok(Self { source, weights, known_weights, input_weights, unit })
    }

    /// The estimate of the source's input, one per coordinate, by an observer who knows the inputs `others`
    /// of all other nodes (`n` by `d`; the source's row is ignored). It is the true input plus noise of
    /// variance `σ² / unit`. If the unit loss is 1, it is exactly the noisy value that the source sent.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] if the view reveals nothing about the source; [`Error::Shape`].
    pub fn estimate(&self, seen: &Observation, others: ArrayView2<'_, f64>) -> Result<Array1<f64>, Error> {
        let condition = "be positive for an estimate: this observer learns nothing about this node";
        ensure(self.unit > 0.0, "the loss towards the observer", condition, self.unit)?;
        for (what, expected, got) in [
            ("received values", self.weights.len(), seen.received.nrows()),
            ("known noises", self.known_weights.len(), seen.known_noises.nrows()),
            ("rows of the inputs", self.input_weights.len(), others.nrows()),
            ("coordinates of the inputs", seen.received.ncols(), others.ncols()),
        ] {
            if expected != got {
                return Err(Error::Shape { what, expected, got });
            }
        }
        let mut inputs = self.input_weights.clone();
        inputs[self.source] = 0.0;
        let sum = self.weights.dot(&seen.received)
            - self.known_weights.dot(&seen.known_noises)
            - inputs.dot(&others);
        Ok(sum / self.unit)
    }
}

/// Standard deviation of the rounding of a message, in units of the noise.
const ROUNDING: f64 = 1e-13;
/// A combination of rows with a larger ratio of input to noise counts as noiseless.
const LEAK: f64 = 1e6;

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{arr2, array};

    /// Path 0-1-2, two rounds: node 2 receives `x₁` and the mean of all; over noises of variance 1 the losses
    /// are 1/2 and 1 by hand.
    #[test]
    fn the_best_attack_attains_the_loss_and_takes_off_what_is_known() -> Result<(), Error> {
        let rows = array![[0.0, 1.0, 0.0], [1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0]];
        let view = View::new(&[2], rows.clone(), rows.clone(), &[])?;
        for (source, unit) in [(0, 0.5), (1, 1.0)] {
            let attack = Attack::optimal(&view, source)?;
            assert!((attack.unit - unit).abs() < 1e-9);
            // Without noise the estimate is the truth, whatever the others sent.
            let values = arr2(&[[3.0, -1.0], [5.0, 0.5], [-2.0, 7.0]]);
            let seen = Observation { received: rows.dot(&values), known_noises: Array2::zeros((0, 2)) };
            let found = attack.estimate(&seen, values.view())?;
            for (found, truth) in found.iter().zip(values.row(source)) {
                assert!((found - truth).abs() < 1e-9, "{found} {truth}");
            }
        }
        // The contribution of a known noise is subtracted, too.
        let view = View::new(&[1], array![[1.0, 0.0]], array![[1.0, 2.0]], &[1])?;
        let attack = Attack::optimal(&view, 0)?;
        assert!((attack.unit - 1.0).abs() < 1e-9);
        let seen = Observation { received: arr2(&[[4.0 + 2.0 * 3.0]]), known_noises: arr2(&[[3.0]]) };
        assert!((attack.estimate(&seen, arr2(&[[0.0], [0.0]]).view())?[0] - 4.0).abs() < 1e-9);
        Ok(())
    }

    #[test]
    fn an_input_without_noise_needs_no_attack() -> Result<(), Error> {
        let view = View::new(&[1], array![[1.0, 1.0], [0.0, 1.0]], array![[1.0], [1.0]], &[])?;
        let noiseless = Error::Certify(ndp_certify::Error::NoiselessView(0));
        assert_eq!(Attack::optimal(&view, 0).err(), Some(noiseless));
        assert_eq!(Attack::optimal(&view, 1).err(), Some(Error::SourceIsObserver(1)));
        assert_eq!(Attack::optimal(&view, 2).err(), Some(Error::NodeOutOfRange { node: 2, nodes: 2 }));
        Ok(())
    }

    /// The same input in several noises: the inverse variances add up, and the weights are proportional to
    /// them.
    #[test]
    fn noisy_copies_are_weighted_by_their_variances() -> Result<(), Error> {
        let scales = [1.0, 2.0, 0.5, 4.0];
        let inputs = Array2::from_shape_fn((4, 2), |(_, j)| if j == 0 { 1.0 } else { 0.0 });
        let noises = Array2::from_shape_fn((4, 4), |(k, j)| if k == j { scales[k] } else { 0.0 });
        let attack = Attack::optimal(&View::new(&[1], inputs, noises, &[])?, 0)?;
        let all: f64 = scales.iter().map(|scale| 1.0 / (scale * scale)).sum();
        assert!((attack.unit - all).abs() < 1e-9 * all, "{}", attack.unit);
        for (weight, scale) in attack.weights.iter().zip(scales) {
            assert!((weight * scale * scale - 1.0).abs() < 1e-6, "{weight} at {scale}");
        }
        Ok(())
    }
}
