//! Attacks at given strengths, and the linear requirements on strengths that follow from them.

use super::Limit;
use ndarray::Array2;
use ndp_account::Error;
use ndp_linalg::{cholesky, gemm};

/// What the losses of one observer are computed from.
pub(super) struct Seeing {
    /// The rows over the noises, times the roots of their variances.
    pub(super) noises: Array2<f64>,
    /// The group of every column.
    pub(super) groups: Vec<usize>,
    /// One column for each change of a source.
    pub(super) changes: Array2<f64>,
}

/// A loss, and the share of each strength in `yᵀ S y`.
pub(super) type Cut = (f64, Vec<f64>);

impl Seeing {
    /// The loss of every change at these strengths, and the share of every strength in `yᵀ S y`.
    pub(super) fn cuts(&self, strengths: &[f64]) -> Result<Vec<Cut>, Error> {
        if self.changes.ncols() == 0 {
            return Ok(Vec::new());
        }
        let mut weighted = self.noises.clone();
        for (mut column, &k) in weighted.columns_mut().into_iter().zip(&self.groups) {
            column *= strengths[k];
        }
        let mut covariance: Array2<f64> = gemm(weighted.view(), self.noises.t())?;
        // If rows repeat others, the covariance has no inverse. A little noise gives an attack that is nearly
        // the best one, and every attack gives a cut.
        let ridge = covariance.diag().iter().fold(0.0, |m: f64, &x| m.max(x)) * 1e-13;
        covariance.diag_mut().iter_mut().for_each(|x| *x += ridge);
        let attacks = cholesky(covariance.view())?.solve(self.changes.view())?;
        let images: Array2<f64> = gemm(self.noises.t(), attacks.view())?;
        let cut = |(j, attack): (usize, ndarray::ArrayView1<'_, f64>)| {
            let mut share = vec![0.0; strengths.len()];
            for (x, &k) in images.column(j).iter().zip(&self.groups) {
                share[k] += x * x;
            }
            (attack.dot(&self.changes.column(j)), share)
        };
        Ok(attacks.columns().into_iter().enumerate().map(cut).collect())
    }
}

impl Limit {
    /// The loss that is limited, from the losses of cuts that stand for `pairs` pairs.
    pub(super) fn loss(self, cuts: &[Cut], pairs: usize) -> f64 {
        match self {
            Self::Worst(_) => cuts.iter().fold(0.0, |m: f64, cut| m.max(cut.0)),
            Self::Mean(_) => cuts.iter().map(|cut| cut.0).sum::<f64>() / pairs as f64,
        }
    }

    /// For each requirement `aᵀ v ≥ 1` on allowed strengths `v` that follows from cuts with this loss, the
    /// `a`.
    pub(super) fn requirements(self, cuts: &[Cut], loss: f64, pairs: usize) -> Vec<Vec<f64>> {
        match self {
            Self::Worst(allowed) => {
                let mut order: Vec<usize> = (0..cuts.len()).collect();
                order.sort_by(|&a, &b| cuts[b].0.total_cmp(&cuts[a].0));
                let largest = order.iter().take(MAX_CUTS).map(|&k| &cuts[k]);
                largest
                    .filter(|(q, _)| *q > 0.5 * loss)
                    .map(|(q, share)| share.iter().map(|x| x * allowed / (q * q)).collect())
                    .collect()
            }
            Self::Mean(allowed) if loss > 0.0 => {
                let mut sum = vec![0.0; cuts.first().map_or(0, |(_, share)| share.len())];
                for (_, share) in cuts {
                    sum.iter_mut().zip(share).for_each(|(to, x)| *to += x / pairs as f64);
                }
                vec![sum.iter().map(|x| x * allowed / (loss * loss)).collect()]
            }
            Self::Mean(_) => Vec::new(),
        }
    }
}

/// The largest number of cuts in one step.
const MAX_CUTS: usize = 24;
