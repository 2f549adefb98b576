//! The sources of a view's rows, with exact entries: numbers given by the user, or the steps of a protocol,
//! followed back in time from each message.
//!
//! A row is one vector of coordinates. The first are the noises that the observer does not know, each with
//! its variance; the rest are inputs that have no noise coordinate of their own. If a noise and an input have
//! the same coefficient in every row, one coordinate stands for both.

use crate::dyadic::Dyadic;
use crate::field::{Field, Fingerprint};
use crate::fixed::{self, Fixed, with_limbs};
use crate::layout::room;
pub use crate::layout::{FloatRows, Input, Layout};
use crate::magnitude::{Magnitude, times_power};
use crate::packed::Packed;
use crate::trace::Trace;
use crate::whole::WholeRows;
use ndarray::{Array2, ArrayView2};
use ndp_numeric::casts::id;
use ndp_numeric::stop::work;

/// Rows with exact entries.
#[derive(Clone, Debug, PartialEq)]
pub enum Rows {
    /// Rows of given numbers.
    Given(Given),
    /// Rows that follow from the steps of a protocol and its noises.
    Traced(Trace),
    /// Rows of ratios of integers.
    Whole(WholeRows),
}

impl Rows {
    /// The meaning of the coordinates.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        match self {
            Self::Given(given) => &given.layout,
            Self::Traced(trace) => trace.layout(),
            Self::Whole(whole) => whole.layout(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Given(given) => given.entries.len(),
            Self::Traced(trace) => trace.len(),
            Self::Whole(whole) => whole.len(),
        }
    }

    /// Everything that determines the rows.
    pub(crate) fn fingerprint(&self) -> Fingerprint {
        let mut to = Fingerprint::new("rows");
        self.layout().fingerprint(&mut to);
        match self {
            Self::Given(given) => given.fingerprint(&mut to),
            Self::Traced(trace) => trace.fingerprint(&mut to),
            Self::Whole(whole) => whole.fingerprint(&mut to),
        }
        to
    }

    /// An upper bound on `log₂(D |r|)` of every row `r`, where `D` is a common denominator of its entries.
    pub(crate) fn widths(&self) -> Vec<f64> {
        match self {
            Self::Given(given) => {
                given.entries.iter().map(|row| width(row, given.layout.coordinates)).collect()
            }
            Self::Traced(trace) => trace.widths(),
            Self::Whole(whole) => whole.widths(),
        }
    }

    /// Work of finding row `k`, about, in numbers of one limb.
    pub(crate) fn cost(&self, k: usize) -> u64 {
        match self {
            Self::Given(given) => work([given.layout.coordinates + given.entries[k].len()]),
            Self::Traced(trace) => trace.cost(k),
            Self::Whole(whole) => whole.cost(k),
        }
    }

    /// Row `k` modulo a prime.
    pub(crate) fn modular<'a>(&'a self, field: Field) -> Box<dyn FnMut(usize) -> Vec<u64> + Send + 'a> {
        match self {
            Self::Given(given) => Box::new(move |k| {
                let mut row = vec![0; given.layout.coordinates];
                given.entries[k].iter().for_each(|&(j, x)| row[j as usize] = field.dyadic(x));
                row
            }),
            Self::Traced(trace) => trace.modular(field),
            Self::Whole(whole) => Box::new(move |k| whole.modular(field, k)),
        }
    }

    /// Row `k` in fixed point with so many limbs, and a bound on its distance from the exact row, in units.
    pub(crate) fn packed(&self, k: usize, scales: &[i64], limbs: usize) -> (Packed, Magnitude) {
        with_limbs!(limbs, self.packed_row(k, scales))
    }

    fn packed_row<const L: usize>(&self, k: usize, scales: &[i64]) -> (Packed, Magnitude) {
        let (row, error) = self.fixed::<L>(k, scales);
        (Packed::of(&row), error)
    }

    /// Row `k` in fixed point, and a bound on its distance from the exact row, in units.
    fn fixed<const L: usize>(&self, k: usize, scales: &[i64]) -> (Vec<Fixed<L>>, Magnitude) {
        match self {
            Self::Given(given) => {
                let mut row = vec![[0; L]; given.layout.coordinates];
                for &(j, x) in &given.entries[k] {
                    let shift = given.row_scales[k] - scales.get(j as usize).copied().unwrap_or(0);
                    row[j as usize] = fixed::of_dyadic(x, shift);
                }
                (row, Magnitude::new(given.entries[k].len() as f64, 0).root())
            }
            Self::Traced(trace) => trace.fixed(k, scales),
            Self::Whole(whole) => whole.fixed(k, scales),
        }
    }

    /// All rows in floating point; `None` if some number leaves the range.
    pub fn float(&self) -> Option<FloatRows> {
        match self {
            Self::Given(given) => {
                let mut rows = Array2::zeros((given.entries.len(), given.layout.coordinates));
                for (k, row) in given.entries.iter().enumerate() {
                    for &(j, x) in row {
                        let shift = given.row_scales[k] - given.column_scales[j as usize];
                        let exponent = i64::from(x.exponent) + shift;
                        // Below 2^-900, intermediate results may lose digits.
                        if exponent < -900 {
                            return None;
                        }
                        rows[(k, j as usize)] = times_power(x.mantissa as f64, exponent);
                    }
                }
                Some(FloatRows { errors: vec![0.0; rows.nrows()], rows })
            }
            Self::Traced(trace) => trace.float(),
            Self::Whole(whole) => Some(whole.float()),
        }
    }

    /// Scales `c` of the coordinates: coordinate `j` is stored times `2^-c_j`. Noises have none.
    pub(crate) fn column_scales(&self) -> Vec<i64> {
        match self {
            Self::Given(given) => given.column_scales.clone(),
            Self::Traced(trace) => vec![0; trace.layout().coordinates],
            Self::Whole(whole) => whole.column_scales().to_vec(),
        }
    }
}

/// Rows of given numbers, which are taken as exact.
#[derive(Clone, Debug, PartialEq)]
pub struct Given {
    layout: Layout,
    /// The nonzero coordinates of every row.
    entries: Vec<Vec<(u32, Dyadic)>>,
    /// Powers of two by which rows are multiplied, so that their noise parts have norm about 1.
    row_scales: Vec<i64>,
    /// Powers of two by which inputs are divided, so that their largest entry is at most 1.
    column_scales: Vec<i64>,
}

impl Given {
    /// The rows of a view over the inputs of `nodes` nodes and over its noises, all of variance 1, some of
    /// which the observers know. The input of a member that knows a noise is not accounted for, and may leak.
    pub fn new(
        inputs: ArrayView2<'_, f64>,
        noises: ArrayView2<'_, f64>,
        known: &[usize],
        members: &[usize],
    ) -> Self {
        let nodes = inputs.ncols();
        let unknown: Vec<usize> = (0..noises.ncols()).filter(|j| known.binary_search(j).is_err()).collect();
        // A noise that occurs in no row is left out.
        let unknown: Vec<usize> =
            unknown.into_iter().filter(|&j| noises.column(j).iter().any(|&x| x != 0.0)).collect();
        let m = unknown.len();
        let sources: Vec<usize> = (0..nodes)
            .filter(|&u| {
                (known.is_empty() || !members.contains(&u)) && inputs.column(u).iter().any(|&x| x != 0.0)
            })
            .collect();
        let mut entries: Vec<Vec<(u32, Dyadic)>> = Vec::with_capacity(inputs.nrows());
        for (over_noises, over_inputs) in noises.rows().into_iter().zip(inputs.rows()) {
            let first = unknown.iter().map(|&j| over_noises[j]);
            let second = sources.iter().map(|&u| over_inputs[u]);
            let row = first.chain(second).enumerate().filter(|(_, x)| *x != 0.0);
            entries.push(row.map(|(j, x)| (id(j), Dyadic::of(x))).collect());
        }
        let row_scales: Vec<i64> = entries
            .iter()
            .map(|row| {
                let noise =
                    row.iter().filter(|(j, _)| (*j as usize) < m).map(|(_, x)| i64::from(x.top())).max();
                -noise.unwrap_or(0) - room(row.len())
            })
            .collect();
        let mut column_scales = vec![i64::MIN; m + sources.len()];
        column_scales[..m].fill(0);
        for (row, scale) in entries.iter().zip(&row_scales) {
            for (j, x) in row.iter().filter(|(j, _)| *j as usize >= m) {
                let at = &mut column_scales[*j as usize];
                *at = (*at).max(i64::from(x.top()) + scale);
            }
        }
        let structural = |u: usize| {
            let same = |j: usize| noises.column(j) == inputs.column(u);
            (u < noises.ncols() && same(u) && known.binary_search(&u).is_err())
                || unknown.iter().any(|&j| same(j))
        };
        let layout = Layout {
            nodes,
            coordinates: m + sources.len(),
            noises: m,
            variances: Vec::new(),
            inputs: sources
                .iter()
                .enumerate()
                .map(|(k, &u)| Input {
                    node: u,
                    coordinate: m + k,
                    factor: 1.0,
                    scale: 2 * column_scales[m + k],
                    structural: structural(u).then_some(1.0),
                })
                .collect(),
            members: members.to_vec(),
            known: known.len(),
            adds_up: false,
        };
        Self { layout, entries, row_scales, column_scales }
    }

    fn fingerprint(&self, to: &mut Fingerprint) {
        to.number(self.entries.len() as u64);
        for row in &self.entries {
            to.numbers(row.iter().map(|&(j, _)| j.into()));
            to.numbers(row.iter().map(|(_, x)| x.mantissa.cast_unsigned()));
            to.numbers(row.iter().map(|(_, x)| i64::from(x.exponent).cast_unsigned()));
        }
    }
}

/// The width of a row of dyadic numbers in bits, and half the logarithm of its length.
fn width(row: &[(u32, Dyadic)], length: usize) -> f64 {
    let top = row.iter().map(|(_, x)| x.top()).max().unwrap_or(0);
    let bottom = row.iter().map(|(_, x)| x.exponent).min().unwrap_or(0);
    f64::from(top - bottom) + 0.5 * (length.max(1) as f64).log2()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn given_rows_are_scaled_and_slim() {
        let noises = array![[1e-100, 0.0, 3e-100, 0.0], [0.0, 5.0, 1.0, 0.0]];
        let inputs = array![[0.0, 1.0, 1e-100], [0.0, 8.0, 0.0]];
        let given = Given::new(inputs.view(), noises.view(), &[1], &[]);
        // Noise 1 is known; noise 3 and input 0 occur nowhere.
        assert_eq!(given.layout.coordinates, 4);
        assert_eq!(given.layout.noises, 2);
        assert_eq!(given.layout.inputs.iter().map(|i| i.node).collect::<Vec<_>>(), [1, 2]);
        let rows = Rows::Given(given);
        let floats = rows.float().expect("in range").rows;
        for row in floats.rows() {
            let largest = row.iter().take(2).fold(0.0, |m: f64, x| m.max(x.abs()));
            assert!((0.5..1.0).contains(&largest), "{floats}");
        }
        for column in [2, 3] {
            let largest = floats.column(column).iter().fold(0.0, |m: f64, x| m.max(x.abs()));
            assert!((0.5..1.0).contains(&largest), "{floats}");
        }
        let (row, error) = rows.fixed::<2>(0, &rows.column_scales());
        for (x, y) in row.iter().zip(floats.row(0)) {
            assert!((fixed::rounded(x, fixed::places(2) + 1) * 2.0 - y).abs() < 1e-16);
        }
        assert!(error.to_f64() < 2.1);
    }

    /// The noise of an input is found in any column, also in the last one.
    #[test]
    fn a_noise_of_ones_own_is_found_in_any_column() {
        let inputs = array![[1.0, 2.0], [3.0, 0.0]];
        let noises = array![[5.0, 7.0, 1.0], [1.0, 0.0, 3.0]];
        let given = Given::new(inputs.view(), noises.view(), &[], &[]);
        let bounds: Vec<_> = given.layout.inputs.iter().map(|input| input.structural).collect();
        assert_eq!(bounds, [Some(1.0), None]);
    }

    /// The width of an empty row is half the logarithm of its length; the primes depend on every row.
    #[test]
    fn widths_and_primes_are_those_of_all_rows() {
        assert_eq!(width(&[], 4), 1.0);
        assert_eq!(width(&[(0, Dyadic::of(3.0))], 1), 2.0);
        let prime = |last: f64| {
            let rows = array![[1.0, 0.0], [0.0, last]];
            Rows::Given(Given::new(rows.view(), rows.view(), &[], &[])).fingerprint().finish().draw(&[])
        };
        assert_ne!(prime(3.0), prime(5.0));
    }
}
