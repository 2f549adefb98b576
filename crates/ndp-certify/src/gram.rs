//! The whole Gram matrix `Bᵀ (R V Rᵀ)⁺ B` of the inputs of a view, entry by entry.
//!
//! With combinations `q_1, …, q_r` as in [`enclosure`](crate::enclosure), of Gram matrix `Γ`, `‖Γ - I‖ ≤ h <
//! 1`, and coefficients `β_i` over input `i`, the entry is `β_iᵀ Γ⁻¹ β_j`, and
//!
//! ```text
//! |β_iᵀ Γ⁻¹ β_j - β_iᵀ β_j| ≤ ‖β_i‖ ‖β_j‖ h / (1 - h),
//! ```
//!
//! since the eigenvalues of `Γ⁻¹ - I` lie in `[-h/(1+h), h/(1-h)]`. Computed `β̂` are off by at most `ε`
//! each.

use crate::Error;
use crate::account::{self, Budget, WIDTH, require};
use crate::decisions;
use crate::dense;
use crate::enclosure::Enclosure;
use crate::fixed;
use crate::layout::bytes;
use crate::magnitude::times_power;
use crate::rows::{Layout, Rows};

/// What is proven about the inputs of a view.
#[derive(Clone, Debug)]
pub struct Gram {
    /// Coefficients of nearly orthonormal combinations, one list for each input; `None` if no enclosure was
    /// found.
    coefficients: Option<Vec<Vec<f64>>>,
    /// The coefficients of each input are to be multiplied by `2^scale`.
    scales: Vec<i64>,
    /// `h` and `ε`.
    spread: f64,
    error: f64,
    /// Ends of the diagonal, one pair for each input.
    pub diagonal: Vec<(f64, f64)>,
    /// Inputs that some combination of rows reveals without noise.
    pub leaks: Vec<usize>,
    /// Which rows are new.
    pub kept: Vec<bool>,
    /// Bits of the arithmetic: 0 if none was needed, 53 for floating point.
    pub bits: u32,
    /// Probability, over the primes drawn, that a leak or the rank was missed.
    pub failure: f64,
}

impl Gram {
    /// Number of rows kept.
    pub fn rank(&self) -> usize {
        self.kept.iter().filter(|&&kept| kept).count()
    }

    /// Whether an enclosure was found.
    pub fn certified(&self) -> bool {
        self.coefficients.is_some()
    }

    /// The entry of inputs `i` and `j`, and a bound on its distance from the truth; `None` if nothing was
    /// certified. Off the diagonal the factors of inputs are left out: rows whose inputs have factors other
    /// than 1 are asked for the diagonal alone.
    pub fn entry(&self, i: usize, j: usize) -> Option<(f64, f64)> {
        let all = self.coefficients.as_ref()?;
        if i == j {
            let (low, high) = self.diagonal[i];
            let middle = low + (high - low) / 2.0;
            return Some((middle, ((high - middle).max(middle - low)) * UP));
        }
        let (a, b) = (&all[i], &all[j]);
        let product: f64 = a.iter().zip(b).map(|(x, y)| x * y).sum();
        let length = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>().sqrt() * UP + self.error;
        let (p, q) = (length(a), length(b));
        let roundings = (a.len() + 16) as f64 * f64::EPSILON;
        let radius = p * q * (self.spread / (1.0 - self.spread) * UP + roundings)
            + self.error * (p + q)
            + self.error * self.error;
        // The scale of an input is half the scale of its loss.
        let scale = (self.scales[i] + self.scales[j]) / 2;
        let tiny = if radius == 0.0 { 0.0 } else { f64::MIN_POSITIVE };
        Some((times_power(product, scale), times_power(radius * UP, scale) + tiny))
    }
}

/// The Gram matrix of rows whose inputs are the coordinates after their noises.
pub fn of_rows(rows: &Rows, budget: Budget<'_>) -> Result<Gram, Error> {
    let layout = rows.layout();
    let (r, n) = (rows.len(), layout.coordinates);
    require("the rows of the view", bytes(r.min(layout.noises), n, 8), budget)?;
    if r == 0 || layout.inputs.is_empty() {
        let (kept, failure) = match r {
            0 => (Vec::new(), 0.0),
            _ => decisions::of_rows(rows, budget.stop).map(|decided| (decided.kept, decided.failure))?,
        };
        return Ok(assemble(layout, Some((Vec::new(), None)), Vec::new(), kept, 0, failure));
    }
    if let Some((vectors, enclosure)) =
        dense::orthonormal(rows, budget.memory, budget.stop)?.filter(|(_, found)| found.width() <= WIDTH)
    {
        return Ok(assemble(layout, Some((vectors, Some(enclosure))), Vec::new(), vec![true; r], 53, 0.0));
    }
    account::require_room(rows, budget)?;
    let decisions = decisions::of_rows(rows, budget.stop)?;
    let kept: Vec<usize> = (0..r).filter(|&k| decisions.kept[k]).collect();
    let (found, scales) = if kept.is_empty() {
        (Some((Vec::new(), None, 0)), rows.column_scales())
    } else {
        let rank = kept.len() as f64;
        let mut scales = rows.column_scales();
        // Inputs may be scaled down during the search, so record which scales belong to which precision.
        let mut history: Vec<(u32, Vec<i64>)> = Vec::new();
        let found = account::search(budget, rank * rank * n as f64, |limbs| {
            if account::held(kept.len(), n, limbs) > budget.memory {
                return account::Attempt::Stop;
            }
            let found = account::attempt_rows(rows, &kept, &mut scales, limbs, budget.stop);
            history.push((fixed::bits(limbs), scales.clone()));
            found
        })?;
        let used =
            found.as_ref().and_then(|found| history.into_iter().rfind(|(bits, _)| *bits == found.bits));
        let scales = used.map_or_else(|| rows.column_scales(), |(_, scales)| scales);
        (found.map(|found| (found.vectors, Some(found.enclosure), found.bits)), scales)
    };
    let bits = found.as_ref().map_or(0, |found| found.2);
    let found = found.map(|(vectors, enclosure, _)| (vectors, enclosure));
    let mut gram = assemble(layout, found, decisions.leaks, decisions.kept, bits, decisions.failure);
    for (scale, input) in gram.scales.iter_mut().zip(&layout.inputs) {
        *scale = 2 * scales[input.coordinate];
    }
    Ok(gram)
}

fn assemble(
    layout: &Layout,
    found: Option<(Vec<Vec<f64>>, Option<Enclosure>)>,
    leaks: Vec<usize>,
    kept: Vec<bool>,
    bits: u32,
    failure: f64,
) -> Gram {
    let enclosure = found.as_ref().and_then(|(_, enclosure)| enclosure.as_ref());
    let diagonal = layout.inputs.iter().enumerate().map(|(k, input)| match (enclosure, &found) {
        (Some(enclosure), _) => (enclosure.lower[k], enclosure.upper[k]),
        // No row carries noise: the observer learns nothing but the leaks.
        (None, Some(_)) => (0.0, 0.0),
        (None, None) => (0.0, input.structural.unwrap_or(f64::INFINITY)),
    });
    let diagonal = diagonal.collect();
    let (spread, error) = enclosure.map_or((0.0, 0.0), |enclosure| (enclosure.spread, enclosure.error));
    let coefficients = found.as_ref().map(|(vectors, _)| {
        let column = |at: usize| vectors.iter().map(|q| q[at]).collect();
        layout.inputs.iter().map(|input| column(input.coordinate)).collect()
    });
    let number = |coordinate: &usize| layout.inputs.iter().position(|input| input.coordinate == *coordinate);
    Gram {
        coefficients,
        scales: layout.inputs.iter().map(|input| input.scale).collect(),
        spread,
        error,
        diagonal,
        leaks: leaks.iter().filter_map(number).collect(),
        kept,
        bits,
        failure,
    }
}

/// A factor that covers the rounding errors of a few operations on nonnegative numbers.
const UP: f64 = 1.0 + 1e-12;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::Given;
    use ndarray::array;

    fn told(coefficients: [f64; 2], spread: f64, error: f64) -> Gram {
        Gram {
            coefficients: Some(coefficients.map(|x| vec![x]).to_vec()),
            scales: vec![0, 0],
            spread,
            error,
            diagonal: vec![(1.0, 3.0); 2],
            leaks: Vec::new(),
            kept: vec![true],
            bits: 53,
            failure: 0.0,
        }
    }

    /// Coefficients 3 and 5 of one combination. With a Gram matrix of `1 - h` the entry is `15 / (1 - h)`;
    /// with errors of `e` in both coefficients it is `(3 + e)(5 + e)`. The radius covers both cases and is
    /// not much larger than needed.
    #[test]
    fn the_radius_reaches_the_worst_case() {
        for (spread, error, worst) in [(0.2, 0.0, 15.0 / 0.8), (0.0, 0.1, 3.1 * 5.1), (0.0, 0.0, 15.0)] {
            let gram = told([3.0, 5.0], spread, error);
            let (middle, radius) = gram.entry(0, 1).expect("certified");
            assert_eq!(middle, 15.0);
            let needed = worst - 15.0;
            assert!(
                needed - 1e-14 <= radius && radius <= needed * (1.0 + error) + 1e-10,
                "{radius} {needed}"
            );
        }
        // Both at once: errors of `e` in both coefficients, and `h`.
        let (_, radius) = told([3.0, 5.0], 0.2, 0.1).entry(0, 1).expect("certified");
        assert!(15.0 + radius >= 3.1 * 5.1 / 0.8);
        let (middle, radius) = told([3.0, 5.0], 0.2, 0.1).entry(1, 1).expect("certified");
        assert!(middle == 2.0 && (1.0..1.0 + 1e-9).contains(&radius));
    }

    /// Rows in matrix form need no primes. If the rows are dependent or too many for that, primes decide
    /// which are new.
    #[test]
    fn primes_are_drawn_only_where_they_are_needed() -> Result<(), Error> {
        let rows = array![[1.0, 0.5], [0.25, 1.0]];
        let given = |rows: &ndarray::Array2<f64>| Rows::Given(Given::new(rows.view(), rows.view(), &[], &[]));
        let found = of_rows(&given(&rows), Budget::default())?;
        assert_eq!((found.bits, found.failure, found.rank()), (53, 0.0, 2));
        let small = Budget { memory: 150, ..Budget::default() };
        // Four coordinates of two rows take 64 bytes, and 256 in matrix form.
        assert_ne!(of_rows(&given(&rows), small)?.bits, 53);
        let twice = array![[1.0, 0.5], [2.0, 1.0], [0.25, 1.0]];
        let found = of_rows(&given(&twice), Budget::default())?;
        assert_eq!(found.kept, [true, false, true]);
        Ok(())
    }

    /// The noises are (1, 0) and (1, e), the inputs (1, 0) and (0, 1). The inverse of the noises maps the
    /// inputs to (1, -1/e) and (0, 1/e), so the entries are 1 + 1/e², -1/e² and 1/e². Both inputs exceed the
    /// format and are scaled down.
    #[test]
    fn inputs_that_are_scaled_down_keep_their_entries() -> Result<(), Error> {
        let square = 2f64.powi(80);
        let (inputs, noises) = (array![[1.0, 0.0], [0.0, 1.0]], array![[1.0, 0.0], [1.0, 2f64.powi(-40)]]);
        let rows = Rows::Given(Given::new(inputs.view(), noises.view(), &[], &[]));
        let found = of_rows(&rows, Budget { memory: 200, ..Budget::default() })?;
        assert!(found.bits > 53);
        for (i, j, truth) in [(0, 0, square), (0, 1, -square), (1, 0, -square), (1, 1, square)] {
            let (middle, radius) = found.entry(i, j).expect("certified");
            assert!((middle - truth).abs() <= radius && radius <= 1e-8 * square, "{middle} ± {radius}");
        }
        Ok(())
    }
}
