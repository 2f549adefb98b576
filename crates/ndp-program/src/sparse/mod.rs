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

mod covariance;
mod dense;
mod solve;
mod witness;

use super::adaptivity::Dependence;
use super::build::{Program, Reads};
use super::columns::Direction;
use super::enclose::Ends;
use super::gram::{KnownDirection, NodeGram};
use super::observers::Seen;
use super::options::AccountOptions;
use super::question::{self, Question};
use super::registers::Primitive;
use super::weight::float;
use crate::Engine;
use covariance::{Covariance, LANES, in_range};
use ndarray::Array2;
use ndp_account::Error;
use ndp_certify::account::WIDTH;
use ndp_certify::enclosure::width;
use ndp_numeric::stop::{Stop, Stopped};
use num_rational::BigRational;
use num_traits::Zero;
use rayon::prelude::*;
use solve::{Scratch, Solved};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
pub(super) use witness::{APART, GRIDS, Ready, grid, or_none, short};

/// The results, node by node.
pub(super) struct Found {
    pub(super) grams: Vec<Option<NodeGram>>,
    pub(super) rank: usize,
    /// Whether all enclosures are as narrow as those of an exact loss.
    pub(super) narrow: bool,
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
    let (stop, scratches) = (&options.stop, Mutex::new(Vec::new()));
    let prepared = Prepared { program, of_use, of_node, by_node, most, covariance, inverse, scratches, stop };
    let of = |nodes: &[usize]| prepared.grams(nodes);
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
    Ok(Some(Found { grams, rank: prepared.covariance.len(), narrow }))
}

/// What is seen, prepared for the nodes that are asked for.
struct Prepared<'a> {
    program: &'a Program,
    /// The rows of every contribution, with its coefficients.
    of_use: BTreeMap<usize, Vec<(u32, &'a BigRational)>>,
    /// The contributions of every node.
    of_node: Vec<Vec<usize>>,
    /// The directions of every node.
    by_node: Vec<Vec<&'a Direction>>,
    /// The largest number of contributions of a node.
    most: usize,
    covariance: Covariance,
    inverse: Option<Array2<f64>>,
    /// Those that no thread uses at the moment.
    scratches: Mutex<Vec<Scratch>>,
    stop: &'a Stop,
}

impl Prepared<'_> {
    /// The results for some nodes, which are solved together; `None` if the view does not have the required
    /// structure.
    fn grams(&self, nodes: &[usize]) -> Result<Option<Vec<NodeGram>>, Stopped> {
        let asked = nodes.iter().map(|&node| self.asked(node)).collect::<Option<Vec<_>>>();
        let Some(asked) = asked else { return Ok(None) };
        let kept = || self.scratches.lock().unwrap_or_else(PoisonError::into_inner);
        let known = kept().pop();
        let mut scratch = known.unwrap_or_else(|| Scratch::new(self.covariance.len()));
        // The error of a loss that adds up k² entries is that of as many entries.
        let enough = ENOUGH / (self.most * self.most).max(1) as f64;
        let uses = self.solve(&mut scratch, &asked, |asked, place| asked.shifts.get(place), enough)?;
        let along =
            self.solve(&mut scratch, &asked, |asked, place| Some(&asked.along.get(place)?.1), ENOUGH)?;
        kept().push(scratch);
        let all = asked.iter().zip(uses.iter().zip(&along));
        Ok(all
            .map(|(asked, (uses, along))| {
                asked.gram(self.program, &self.covariance, &self.of_node, uses, along)
            })
            .collect())
    }

    /// The changes of a node in the rows; `None` if a number is out of range.
    fn asked(&self, node: usize) -> Option<Asked<'_>> {
        let exact = |k: &usize| rounded(&self.of_use[k]);
        let shifts = self.of_node[node].iter().map(exact).collect::<Option<Vec<Shift>>>()?;
        let mut along: Vec<(&Direction, Shift)> = Vec::new();
        for direction in &self.by_node[node] {
            let mut sums: BTreeMap<u32, BigRational> = BTreeMap::new();
            for &k in &self.of_node[node] {
                let weight = &direction.weights[self.program.contributions[k].index];
                for (r, x) in self.of_use[&k].iter().filter(|_| !weight.is_zero()) {
                    *sums.entry(*r).or_insert_with(BigRational::zero) += weight * *x;
                }
            }
            let sums: Vec<(u32, &BigRational)> = sums.iter().map(|(&r, x)| (r, x)).collect();
            along.push((direction, rounded(&sums)?));
        }
        Some(Asked { node, shifts, along })
    }

    /// For every node, the solutions for its right sides that `of` chooses.
    fn solve(
        &self,
        scratch: &mut Scratch,
        asked: &[Asked<'_>],
        of: Choose,
        enough: f64,
    ) -> Result<Vec<Vec<Solved>>, Stopped> {
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
            let found = match &self.inverse {
                Some(inverse) => scratch.by_inverse(&self.covariance, &batch, inverse, self.stop)?,
                None => scratch.solve(&self.covariance, &batch, enough, self.stop)?,
            };
            jobs.iter().zip(found).for_each(|(job, found)| solved[job.0].push(found));
        }
        Ok(solved)
    }
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

/// The average number of values in a row up to which rows are written out to look whether they are sparse.
const SHALLOW: usize = 1024;
/// How many times less work than the first nodes the others may take in the mean.
const UNLIKE: u64 = 4;
/// The residual that a solve may leave: less than half the width of an exact loss.
const ENOUGH: f64 = 4e-10;
/// The largest number of uses with which nodes are solved together.
const MAX_TOGETHER: usize = 16;
