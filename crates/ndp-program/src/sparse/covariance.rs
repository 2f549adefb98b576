//! The covariance of the rows, as a sparse matrix with bounds on the errors of its entries.

use crate::build::Program;
use crate::observers::{Seen, SeenRow};
use crate::registers::Primitive;
use crate::weight::float;
use ndp_account::Error;
use ndp_numeric::stop::{Stop, work};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// The number of right sides that are solved together.
pub(super) const LANES: usize = 8;
/// One number for each of these.
pub(super) type Lane = [f64; LANES];

/// The sparse, symmetric covariance of the rows, with bounds on the errors of its entries.
pub(super) struct Covariance {
    pub(super) starts: Vec<usize>,
    pub(super) columns: Vec<u32>,
    pub(super) entries: Vec<f64>,
    /// The sums of the absolute values of the terms of each entry; empty if they are the absolute values of
    /// the entries.
    pub(super) sizes: Vec<f64>,
    /// A lower bound on what a row's own noise adds to the diagonal.
    pub(super) own: Vec<f64>,
    pub(super) diagonal: Vec<f64>,
    /// The largest number of terms of an entry.
    pub(super) terms: usize,
}

impl Covariance {
    pub(super) fn row(&self, r: usize) -> impl Iterator<Item = (usize, f64)> {
        let range = self.starts[r]..self.starts[r + 1];
        self.columns[range.clone()].iter().zip(&self.entries[range]).map(|(&j, &x)| (j as usize, x))
    }

    /// The sums of the absolute values of the terms of a row's entries.
    pub(super) fn sizes(&self, r: usize) -> impl Iterator<Item = f64> {
        let range = self.starts[r]..self.starts[r + 1];
        let known = if self.sizes.is_empty() { &self.entries } else { &self.sizes };
        known[range].iter().map(|x| x.abs())
    }

    /// The approximate work of a product with vectors that are 0 in all other rows. Beyond the cache, most of
    /// it is waiting for the numbers of the columns.
    pub(super) fn cost(&self, rows: &[u32]) -> u64 {
        let of_entry = if self.len() * size_of::<Lane>() > CACHE { 14 } else { 2 };
        let entries = if rows.len() == self.len() {
            self.columns.len()
        } else {
            rows.iter().map(|&r| self.starts[r as usize + 1] - self.starts[r as usize]).sum()
        };
        work([of_entry * entries + 8 * rows.len()])
    }

    pub(super) fn len(&self) -> usize {
        self.own.len()
    }

    /// The number of a row in 32 bits, as all columns have.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "rows are numbered by 32 bits when the covariance is made"
    )]
    pub(super) fn number(&self, r: usize) -> u32 {
        r as u32
    }

    /// The covariance of what was seen. `None` if some row has no noise of its own, or the covariance is not
    /// sparse.
    pub(super) fn new(
        program: &Program,
        seen: &Seen,
        memory: u64,
        stop: &Stop,
    ) -> Result<Option<Self>, Error> {
        let n = seen.rows.len();
        // For every noise, the number of rows in which it occurs.
        let mut occurs: BTreeMap<usize, u32> = BTreeMap::new();
        let noises = |row: &SeenRow| {
            let noise = |(primitive, _): &(Primitive, _)| match primitive {
                Primitive::Noise(k) => Some(*k),
                Primitive::Contribution(_) => None,
            };
            row.form.iter().filter_map(noise).collect::<Vec<_>>()
        };
        seen.rows.iter().flat_map(noises).for_each(|k| *occurs.entry(k).or_insert(0) += 1);
        if !seen.rows.iter().all(|row| noises(row).iter().any(|k| occurs[k] == 1)) {
            return Ok(None);
        }
        let mut of_noise: BTreeMap<usize, Vec<(u32, f64)>> = BTreeMap::new();
        let mut mine: Vec<Vec<(usize, f64)>> = Vec::with_capacity(n);
        for (r, row) in seen.rows.iter().enumerate() {
            let Ok(number) = u32::try_from(r) else { return Ok(None) };
            let mut noises = Vec::new();
            for (primitive, x) in &row.form {
                if let Primitive::Noise(k) = primitive {
                    let x = float(x);
                    if !in_range(x) {
                        return Ok(None);
                    }
                    of_noise.entry(*k).or_default().push((number, x));
                    noises.push((*k, x));
                }
            }
            mine.push(noises);
        }
        let mut variances: BTreeMap<usize, f64> = BTreeMap::new();
        let mut products = 0usize;
        for (&k, rows) in &of_noise {
            let variance = float(&program.noises[k].variance);
            if !in_range(variance) {
                return Ok(None);
            }
            variances.insert(k, variance);
            products = products.saturating_add(rows.len().saturating_mul(rows.len()));
        }
        if products > MAX_PRODUCTS {
            return Ok(None);
        }
        let threads = rayon::current_num_threads();
        let bytes = products as u128 * 40 + (n * (threads + 1)) as u128 * (40 * LANES) as u128;
        if bytes > memory.into() {
            let what = "the covariance of what is seen";
            return Err(ndp_graph::Error::TooLarge { what, bytes, limit: memory.into() }.into());
        }
        stop.spend(work([products, 10]))?;
        let row = |noises: &Vec<(usize, f64)>| CovarianceRow::new(noises, &of_noise, &variances);
        let rows = mine.par_iter().map(row).collect::<Option<Vec<CovarianceRow>>>();
        let Some(rows) = rows else { return Ok(None) };
        let mut found = Self {
            starts: vec![0],
            columns: Vec::new(),
            entries: Vec::new(),
            sizes: Vec::new(),
            own: Vec::with_capacity(n),
            diagonal: Vec::with_capacity(n),
            terms: 0,
        };
        for (r, CovarianceRow { entries, own, terms }) in rows.into_iter().enumerate() {
            found.diagonal.push(entries.iter().find(|x| x.0 as usize == r).map_or(own, |x| x.1));
            found.columns.extend(entries.iter().map(|x| x.0));
            found.entries.extend(entries.iter().map(|x| x.1));
            found.sizes.extend(entries.iter().map(|x| x.2));
            found.starts.push(found.columns.len());
            found.own.push(own);
            found.terms = found.terms.max(terms);
        }
        if found.entries.iter().zip(&found.sizes).all(|(x, size)| x.abs() == *size) {
            found.sizes = Vec::new();
        }
        Ok(Some(found))
    }
}

/// One row of the covariance.
struct CovarianceRow {
    /// For each row with which it shares a noise, ascending: that row, the entry, and the sum of the absolute
    /// values of its terms.
    entries: Vec<(u32, f64, f64)>,
    /// A lower bound on what the row's own noise adds to the diagonal.
    own: f64,
    /// The largest number of terms of an entry.
    terms: usize,
}

impl CovarianceRow {
    /// The row with these noises and their coefficients, from the rows and the variance of every noise.
    /// `None` if the lower bound on its own noise is 0.
    fn new(
        noises: &[(usize, f64)],
        of_noise: &BTreeMap<usize, Vec<(u32, f64)>>,
        variances: &BTreeMap<usize, f64>,
    ) -> Option<Self> {
        let mut products: Vec<(u32, f64)> = Vec::new();
        let mut own: f64 = 0.0;
        for (k, x) in noises {
            let (rows, variance) = (&of_noise[k], variances[k]);
            if rows.len() == 1 {
                // Rounded down: three roundings of a unit, and two conversions.
                own = own.max(x * x * variance * DOWN);
            }
            products.extend(rows.iter().map(|&(other, y)| (other, x * y * variance)));
        }
        products.sort_by_key(|&(other, _)| other);
        let mut entries: Vec<(u32, f64, f64)> = Vec::new();
        let (mut most, mut count) = (0, 0);
        for (other, product) in products {
            match entries.last_mut() {
                Some(last) if last.0 == other => {
                    last.1 += product;
                    last.2 += product.abs();
                    count += 1;
                }
                _ => {
                    entries.push((other, product, product.abs()));
                    count = 1;
                }
            }
            most = most.max(count);
        }
        (own > 0.0).then_some(Self { entries, own, terms: most })
    }
}

/// Numbers whose products neither overflow nor underflow.
pub(super) fn in_range(x: f64) -> bool {
    (1e-60..1e60).contains(&x.abs())
}

/// Bytes of a vector that stays in a fast cache beside a few others.
const CACHE: usize = 1 << 19;
/// Smaller than 1 by more than eight roundings.
const DOWN: f64 = 1.0 - 8.0 * f64::EPSILON;
/// The largest number of products from which the covariance is computed.
const MAX_PRODUCTS: usize = 200_000_000;
