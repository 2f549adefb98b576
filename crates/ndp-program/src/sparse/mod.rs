//! Accounts of large views in which each row has a noise of its own, by sparse linear systems, as an
//! enclosure between two witnesses.
//!
//! If `D` is the part of the covariance `S = R V Rᵀ` of the rows that is due to these noises, `S - D` is
//! positive semidefinite. For any `ŷ_i` in place of `S⁻¹ b_i`, with the residual `r_i = b_i - S ŷ_i`,
//!
//! ```text
//! G_ij = b_iᵀ S⁻¹ b_j = ŷ_iᵀ b_j + ŷ_jᵀ r_i + r_iᵀ S⁻¹ r_j,    |r_iᵀ S⁻¹ r_j| ≤ |D^(-1/2) r_i| |D^(-1/2) r_j|.
//! ```
//!
//! `ŷ_i` is an attack. Absorbing `r_i` by the rows' own noises turns it into a shift of the noises. The `ŷ`
//! come from conjugate gradients and are then taken as exact numbers: only the residuals are rounded, and
//! their error is bounded entry by entry. No rank is decided and no prime is drawn, and nothing can be seen
//! without noise. Rows that are far from a node's rows have no part in its system: a solve starts at these
//! rows and adds the rows that they reach.

mod dense;
mod solve;
mod witness;

use super::adaptivity::Dependence;
use super::build::{Program, Reads};
use super::columns::Direction;
use super::enclose::Ends;
use super::gram::{KnownDirection, NodeGram};
use super::observers::{Seen, SeenRow};
use super::options::AccountOptions;
use super::question::{self, Question};
use super::registers::Primitive;
use super::weight::float;
use crate::Engine;
use ndarray::Array2;
use ndp_account::Error;
use ndp_certify::account::WIDTH;
use ndp_certify::enclosure::width;
use ndp_numeric::stop::{Stop, Stopped, work};
use num_rational::BigRational;
use num_traits::Zero;
use rayon::prelude::*;
use solve::{LANES, Lane, Scratch, Solved};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
pub(super) use witness::{APART, GRIDS, Ready, grid, or_none, short};

/// The sparse, symmetric covariance of the rows, with bounds on the errors of its entries.
pub(super) struct Covariance {
    starts: Vec<usize>,
    columns: Vec<u32>,
    entries: Vec<f64>,
    /// The sums of the absolute values of the terms of each entry; empty if they are the absolute values of
    /// the entries.
    sizes: Vec<f64>,
    /// A lower bound on what a row's own noise adds to the diagonal.
    own: Vec<f64>,
    diagonal: Vec<f64>,
    /// The largest number of terms of an entry.
    terms: usize,
}

/// The results, node by node.
pub(super) struct Found {
    pub(super) grams: Vec<Option<NodeGram>>,
    pub(super) rank: usize,
    /// Whether all enclosures are as narrow as those of an exact loss.
    pub(super) narrow: bool,
}

impl Covariance {
    fn row(&self, r: usize) -> impl Iterator<Item = (usize, f64)> {
        let range = self.starts[r]..self.starts[r + 1];
        self.columns[range.clone()].iter().zip(&self.entries[range]).map(|(&j, &x)| (j as usize, x))
    }

    /// The sums of the absolute values of the terms of a row's entries.
    fn sizes(&self, r: usize) -> impl Iterator<Item = f64> {
        let range = self.starts[r]..self.starts[r + 1];
        let known = if self.sizes.is_empty() { &self.entries } else { &self.sizes };
        known[range].iter().map(|x| x.abs())
    }

    /// The approximate work of a product with vectors that are 0 in all other rows. Beyond the cache, most of
    /// it is waiting for the numbers of the columns.
    fn cost(&self, rows: &[u32]) -> u64 {
        let of_entry = if self.len() * size_of::<Lane>() > CACHE { 14 } else { 2 };
        let entries = if rows.len() == self.len() {
            self.columns.len()
        } else {
            rows.iter().map(|&r| self.starts[r as usize + 1] - self.starts[r as usize]).sum()
        };
        work([of_entry * entries + 8 * rows.len()])
    }

    fn len(&self) -> usize {
        self.own.len()
    }

    /// The number of a row in 32 bits, as all columns have.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "rows are numbered by 32 bits when the covariance is made"
    )]
    fn number(&self, r: usize) -> u32 {
        r as u32
    }

    /// The covariance of what was seen. `None` if some row has no noise of its own, or the covariance is not
    /// sparse.
    fn new(program: &Program, seen: &Seen, memory: u64, stop: &Stop) -> Result<Option<Self>, Error> {
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

/// The coefficients of a change in the rows, ascending, with a bound on the error of each.
type Shift = Vec<(u32, f64, f64)>;

/// What the observer learns about every node that was asked for. `None` if the view does not have the
/// required structure.
///
/// # Errors
/// [`ndp_graph::Error::TooLarge`] beyond the memory limit; [`Error::Stopped`].
pub(super) fn grams(
    program: &Program,
    seen: &Seen,
    directions: &[Direction],
    options: &AccountOptions,
) -> Result<Option<Found>, Error> {
    let Some(covariance) = Covariance::new(program, seen, options.memory_limit, &options.stop)? else {
        return Ok(None);
    };
    // The rows of every contribution of a node that was asked for.
    let asked = options.asked(program);
    let mut of_use: BTreeMap<usize, Vec<(u32, &BigRational)>> = BTreeMap::new();
    for (r, row) in (0u32..).zip(&seen.rows) {
        for (primitive, x) in &row.form {
            if let Primitive::Contribution(k) = primitive
                && asked[program.contributions[*k].node]
            {
                of_use.entry(*k).or_default().push((r, x));
            }
        }
    }
    let mut of_node: Vec<Vec<usize>> = vec![Vec::new(); program.node_count()];
    of_use.keys().for_each(|&k| of_node[program.contributions[k].node].push(k));
    let mut by_node: Vec<Vec<&Direction>> = vec![Vec::new(); program.node_count()];
    directions.iter().for_each(|direction| by_node[direction.node].push(direction));
    let open: Vec<usize> = (0..program.node_count()).filter(|&u| !seen.members[u] && asked[u]).collect();
    // Nodes with many uses have batches of their own.
    let most = open.iter().map(|&u| of_node[u].len()).max().unwrap_or(0);
    let together = if most <= MAX_TOGETHER { LANES } else { 1 };
    let solves = open.iter().map(|&u| of_node[u].len() + by_node[u].len()).sum();
    let inverse = dense::inverse(&covariance, solves, options.memory_limit, &options.stop)?;
    let pool: Mutex<Vec<Scratch>> = Mutex::new(Vec::new());
    // `None` if the view does not have the required structure.
    let of = |nodes: &[usize]| -> Result<Option<Vec<NodeGram>>, Stopped> {
        let mut asked: Vec<Asked<'_>> = Vec::with_capacity(nodes.len());
        for &node in nodes {
            let exact = |k: &usize| rounded(&of_use[k]);
            let shifts = of_node[node].iter().map(exact).collect::<Option<Vec<Shift>>>();
            let Some(shifts) = shifts else { return Ok(None) };
            let mut along: Vec<(&Direction, Shift)> = Vec::new();
            for direction in &by_node[node] {
                let mut sums: BTreeMap<u32, BigRational> = BTreeMap::new();
                for &k in &of_node[node] {
                    let weight = &direction.weights[program.contributions[k].index];
                    for (r, x) in of_use[&k].iter().filter(|_| !weight.is_zero()) {
                        *sums.entry(*r).or_insert_with(BigRational::zero) += weight * *x;
                    }
                }
                let sums: Vec<(u32, &BigRational)> = sums.iter().map(|(&r, x)| (r, x)).collect();
                let Some(sums) = rounded(&sums) else { return Ok(None) };
                along.push((direction, sums));
            }
            asked.push(Asked { node, shifts, along });
        }
        let kept = || pool.lock().unwrap_or_else(PoisonError::into_inner);
        let known = kept().pop();
        let mut scratch = known.unwrap_or_else(|| Scratch::new(covariance.len()));
        let mut solve = |of: Choose, enough: f64| -> Result<Vec<Vec<Solved>>, Stopped> {
            // Place by place, so that nodes that are close to each other are solved together.
            let mut jobs: Vec<(usize, &Shift)> = Vec::new();
            for place in 0.. {
                let before = jobs.len();
                let here = asked.iter().enumerate().filter_map(|(at, asked)| Some((at, of(asked, place)?)));
                jobs.extend(here);
                if jobs.len() == before {
                    break;
                }
            }
            let mut solved: Vec<Vec<Solved>> = asked.iter().map(|_| Vec::new()).collect();
            for jobs in jobs.chunks(LANES) {
                let batch: Vec<&Shift> = jobs.iter().map(|job| job.1).collect();
                let found = match &inverse {
                    Some(inverse) => scratch.by_inverse(&covariance, &batch, inverse, &options.stop)?,
                    None => scratch.solve(&covariance, &batch, enough, &options.stop)?,
                };
                jobs.iter().zip(found).for_each(|(job, found)| solved[job.0].push(found));
            }
            Ok(solved)
        };
        // The error of a loss that adds up k² entries is that of as many entries.
        let uses = solve(|asked, place| asked.shifts.get(place), ENOUGH / (most * most).max(1) as f64)?;
        let along = solve(|asked, place| Some(&asked.along.get(place)?.1), ENOUGH)?;
        kept().push(scratch);
        let all = asked.iter().zip(uses.iter().zip(&along));
        Ok(all
            .map(|(asked, (uses, along))| asked.gram(program, &covariance, &of_node, uses, along))
            .collect())
    };
    // The first nodes tell what the others will take.
    let (first, others) = open.split_at(together.min(open.len()));
    let before = options.stop.left();
    let first = of(first)?;
    if let (Some(before), Some(left)) = (before, options.stop.left()) {
        let batches = u64::try_from(others.len().div_ceil(together)).unwrap_or(u64::MAX);
        if before.saturating_sub(left).saturating_mul(batches) / UNLIKE > left {
            return Err(Stopped::OutOfWork.into());
        }
    }
    let others = others.par_chunks(together).map(of).collect::<Result<Vec<_>, _>>()?;
    let found: Option<Vec<Vec<NodeGram>>> = std::iter::once(first).chain(others).collect();
    let Some(found) = found else { return Ok(None) };
    let mut grams: Vec<Option<NodeGram>> = vec![None; program.node_count()];
    let mut narrow = true;
    for gram in found.into_iter().flatten() {
        let ends = gram.diagonal.iter().chain(gram.directions.iter().map(|known| &known.ends));
        narrow &= ends.clone().all(|ends| width(ends.low, ends.high) <= WIDTH);
        let node = gram.node;
        grams[node] = Some(gram);
    }
    Ok(Some(Found { grams, rank: covariance.len(), narrow }))
}

impl Found {
    /// The same, with what contributions depend on and the probability that a check of this passed wrongly.
    pub(super) fn with(self, adaptivity: Dependence, failure: f64) -> question::Found {
        let (grams, rank, engine) = (self.grams, self.rank, Engine::Sparse);
        question::Found { grams, rank, bits: 53, failure, adaptivity, engine }
    }
}

/// What sparse systems prove of a program in which nothing is read, if all rows are short and have noises of
/// their own, as those of masks on a graph of many edges have. `None` otherwise, or if enclosures are wide.
///
/// # Errors
/// Those of [`grams`].
pub(super) fn short_rows(question: &mut Question<'_>) -> Result<Option<question::Found>, Error> {
    let Question { program, options, seen, directions, .. } = question;
    let rows = seen.rows.len();
    let nothing_is_read = program.contributions.iter().all(|c| c.reads == Reads::Nothing);
    if rows < options.sparse_from || !nothing_is_read || seen.deeper_than(program, SHALLOW * rows) {
        return Ok(None);
    }
    let mut written = seen.clone();
    written.complete(program, &options.stop)?;
    let Some(found) = grams(program, &written, directions, options)?.filter(|found| found.narrow) else {
        return Ok(None);
    };
    *seen = written;
    Ok(Some(found.with(Dependence::Fixed, 0.0)))
}

/// Selects one of a node's right sides.
type Choose = for<'a, 'b> fn(&'a Asked<'b>, usize) -> Option<&'a Shift>;

/// A node and the changes of its uses in the rows.
struct Asked<'a> {
    node: usize,
    shifts: Vec<Shift>,
    along: Vec<(&'a Direction, Shift)>,
}

impl Asked<'_> {
    /// The result for the node; `None` if a number is not finite.
    fn gram(
        &self,
        program: &Program,
        covariance: &Covariance,
        of_node: &[Vec<usize>],
        solved: &[Solved],
        along: &[Solved],
    ) -> Option<NodeGram> {
        let mut gram = NodeGram::empty(self.node, program.uses(self.node));
        for (place, &k) in of_node[self.node].iter().enumerate() {
            gram.places[program.contributions[k].index] = Some(place);
        }
        let k = self.shifts.len();
        let (mut center, mut radius) = (Array2::zeros((k, k)), Array2::zeros((k, k)));
        for i in 0..k {
            let ends = solved[i].ends(covariance, &self.shifts[i]);
            gram.diagonal.push(ends);
            gram.leaks.push(false);
            gram.structural.push(f64::INFINITY);
            center[(i, i)] = ends.low + (ends.high - ends.low) / 2.0;
            radius[(i, i)] = (ends.high - ends.low) * 0.75;
            for j in 0..i {
                let (middle, apart) = solve::entry(&solved[i], &solved[j], &self.shifts[j]);
                (center[(i, j)], center[(j, i)]) = (middle, middle);
                (radius[(i, j)], radius[(j, i)]) = (apart, apart);
            }
        }
        for ((direction, shift), solved) in self.along.iter().zip(along) {
            let ends = if shift.is_empty() { Ends::ZERO } else { solved.ends(covariance, shift) };
            gram.directions.push(KnownDirection { direction: (*direction).clone(), ends, leaks: false });
        }
        let mut finite = gram.diagonal.iter().chain(gram.directions.iter().map(|known| &known.ends));
        let fine = finite.all(|ends| ends.high.is_finite()) && radius.iter().all(|x| x.is_finite());
        gram.entries = Some((center, radius));
        fine.then_some(gram)
    }
}

/// The nearest floats of a shift; `None` if one is out of range.
fn rounded(exact: &[(u32, &BigRational)]) -> Option<Shift> {
    let mut shift = Vec::with_capacity(exact.len());
    for (r, x) in exact.iter().filter(|(_, x)| !x.is_zero()) {
        let near = float(x);
        if !in_range(near) {
            return None;
        }
        // Integers and dyadic numbers are represented exactly.
        let exact = BigRational::from_float(near).as_ref() == Some(*x);
        shift.push((*r, near, if exact { 0.0 } else { near.abs() * f64::EPSILON }));
    }
    Some(shift)
}

/// Numbers whose products neither overflow nor underflow.
fn in_range(x: f64) -> bool {
    (1e-60..1e60).contains(&x.abs())
}

/// The average number of values in a row up to which rows are written out to look whether they are sparse.
const SHALLOW: usize = 1024;
/// How many times less work than the first nodes the others may take in the mean.
const UNLIKE: u64 = 4;
/// Bytes of a vector that stays in a fast cache beside a few others.
const CACHE: usize = 1 << 19;
/// The residual that a solve may leave: less than half the width of an exact loss.
const ENOUGH: f64 = 4e-10;
/// The largest number of uses with which nodes are solved together.
const MAX_TOGETHER: usize = 16;
/// Smaller than 1 by more than eight roundings.
const DOWN: f64 = 1.0 - 8.0 * f64::EPSILON;
/// The largest number of products from which the covariance is computed.
const MAX_PRODUCTS: usize = 200_000_000;
