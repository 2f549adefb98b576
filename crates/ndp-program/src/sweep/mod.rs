//! Accounts of deep programs (with many steps of gossip, or noise over time) by sweeps through the program,
//! without writing out its rows.
//!
//! A row of what is seen may have millions of coefficients, each a ratio of integers with thousands of
//! digits. None of them is needed: one sweep from the rows back through the program gives the coefficients of
//! sixteen combinations of rows over all noises and uses, and one sweep forward from the noises gives their
//! covariance with all rows. The covariance `S` of the rows therefore takes two sweeps for each sixteen rows.
//! A factorisation `S ≈ L Lᵀ` gives combinations `M = L⁻¹` of rows that are nearly independent with variance
//! 1, and one more sweep gives `β_u = M B_u` for the uses of all nodes at once. With `‖M S Mᵀ - I‖ ≤ h < 1`,
//!
//! ```text
//! β_uᵀ β_u / (1 + h)  ≤  G_u  ≤  β_uᵀ β_u / (1 - h).
//! ```
//!
//! `M` is taken as exact. `h` and `β` are computed in `f64`, with bounds on their errors that count the
//! roundings along the longest path of the program. No rank is decided and no prime is drawn: `h < 1` proves
//! that the rows are independent, so that nothing is seen without noise.
//!
//! Values that the observer has seen have shift 0. They are left out of all sums, and only hidden values are
//! swept. For decentralized SGD these are the hidden parts of the other nodes' models, and `S` has `(degree ·
//! steps)²` entries.

mod absorb;
mod arithmetic;
mod dense;
mod tape;
mod uses;

use super::adaptivity::Dependence;
use super::build::{Program, Reads};
use super::columns::Direction;
use super::enclose::Ends;
use super::gram::{KnownDirection, NodeGram};
use super::observers::Seen;
use super::options::AccountOptions;
use super::question;
use crate::Engine;
pub(super) use absorb::Ready;
use dense::{Whitening, whitening};
use ndarray::Array2;
use ndp_account::Error;
use ndp_certify::account::WIDTH;
use ndp_certify::enclosure::width;
use ndp_linalg::gram_difference;
use ndp_numeric::stop::{Stop, Stopped, work};
use rayon::prelude::*;
use std::sync::{Mutex, PoisonError};
use tape::{Kind, LANES, Lane, Sign, Tape, ZERO};
use uses::Uses;

/// The results, node by node.
pub(super) struct Found {
    pub(super) grams: Vec<Option<NodeGram>>,
    pub(super) rank: usize,
    /// Whether some contribution is assumed to read only what was seen.
    pub(super) assumed: bool,
    /// Whether all enclosures are as narrow as those of an exact loss.
    pub(super) narrow: bool,
}

impl Found {
    /// The same, with what contributions depend on and the probability that a check of this passed wrongly.
    pub(super) fn with(self, adaptivity: Dependence, failure: f64) -> question::Found {
        let (grams, rank, engine) = (self.grams, self.rank, Engine::Sweeps);
        question::Found { grams, rank, bits: 53, failure, adaptivity, engine }
    }
}

/// What the observer learns about every node that was asked for. `None` if the program is not of this kind,
/// if its rows are not independent, or if `f64` cannot decide.
///
/// # Errors
/// [`ndp_graph::Error::TooLarge`] beyond the memory limit; [`Error::Stopped`].
pub(super) fn grams(
    program: &Program,
    seen: &Seen,
    directions: &[Direction],
    options: &AccountOptions,
) -> Result<Option<Found>, Error> {
    let n = seen.rows.len();
    if n == 0 || n > MAX_ROWS {
        return Ok(None);
    }
    let Some(tape) = Tape::new(program, seen) else { return Ok(None) };
    let mut assumed = false;
    for &k in &tape.uses {
        match program.contributions[k].reads {
            Reads::Nothing => {}
            Reads::Seen(None) => assumed = true,
            _ => return Ok(None),
        }
    }
    let uses = Uses::new(program, &tape, directions, options);
    memory(&tape, &uses, n, options.memory_limit)?;
    let stop = &options.stop;
    let first = covariance(&tape, &uses, n, stop)?;
    let relative = roundings(tape.back + tape.on + 8);
    // A factor, its inverse and four products of matrices, all computed by blocks.
    stop.spend(work([n, n, n]) / 2)?;
    let Some(white) =
        whitening(&first.covariance, first.sizes.as_ref().unwrap_or(&first.covariance), relative)?
    else {
        return Ok(None);
    };
    if white.rest >= MAX_REST {
        return Ok(None);
    }
    let second = combinations(&tape, &uses, &white, n, stop)?;
    let grams = enclose(program, seen, &tape, &uses, options, &first, second, &white)?;
    let near = |ends: &Ends| width(ends.low, ends.high) <= WIDTH;
    let narrow = grams
        .iter()
        .flatten()
        .all(|gram| gram.diagonal.iter().chain(gram.directions.iter().map(|known| &known.ends)).all(near));
    Ok(Some(Found { grams, rank: n, assumed, narrow }))
}

/// Refuses a computation that does not fit in memory.
fn memory(tape: &Tape, uses: &Uses<'_>, n: usize, limit: u64) -> Result<(), Error> {
    let lanes = (tape.slots + tape.variances.len() + uses.contributions.len()) as u128;
    let kept: usize = uses.nodes.iter().filter(|node| node.whole).map(|node| node.end - node.start).sum();
    let squares: u128 =
        uses.nodes.iter().filter(|x| x.whole).map(|x| ((x.end - x.start) as u128).pow(2)).sum();
    let bytes = 8
        * (6 * (n * n) as u128 + (LANES * TOGETHER) as u128 * lanes + (kept * n) as u128 + 2 * squares)
        + 40 * (tape.steps.len() as u128);
    if bytes > limit.into() {
        let (what, limit) = ("sweeps through a program", limit.into());
        return Err(ndp_graph::Error::TooLarge { what, bytes, limit }.into());
    }
    Ok(())
}

/// The covariance of the rows, and the sizes of its terms.
struct First {
    covariance: Array2<f64>,
    /// The sums of the absolute values of the terms; `None` if they equal the entries.
    sizes: Option<Array2<f64>>,
    /// For every use, the sum over rows of the squared sizes of its coefficients.
    uses: Vec<f64>,
    /// The same for every direction, node by node.
    directions: Vec<Vec<f64>>,
}

/// Sums over the lanes of blocks: for uses, and for directions.
type Partial = (Vec<f64>, Vec<Vec<f64>>);

/// The numbers of one sweep, in memory that the next one uses again.
struct Buffers {
    /// All 0 between sweeps.
    slots: Vec<Lane>,
    /// The noises times their variances. A sweep back fills in those that the sweep on reads.
    noises: Vec<Lane>,
    /// The coefficients of the uses.
    uses: Vec<Lane>,
}

/// Rows in blocks, several of which are computed together. The order of the sums does not depend on the
/// number of threads.
fn blocks<T: Send>(
    n: usize,
    (stop, cost): (&Stop, u64),
    new: impl Fn() -> Buffers + Sync,
    work: impl Fn(&mut Buffers, usize, usize) -> T + Sync,
    mut take: impl FnMut(usize, usize, T),
) -> Result<(), Stopped> {
    let starts: Vec<usize> = (0..n).step_by(LANES).collect();
    let pool: Mutex<Vec<Buffers>> = Mutex::new(Vec::new());
    let free = || pool.lock().unwrap_or_else(PoisonError::into_inner);
    let of = |&start: &usize| {
        let known = free().pop();
        let mut buffers = known.unwrap_or_else(&new);
        let found = work(&mut buffers, start, (start + LANES).min(n));
        free().push(buffers);
        found
    };
    for together in starts.chunks(TOGETHER) {
        stop.spend(cost.saturating_mul(together.len() as u64))?;
        let found: Vec<T> = together.par_iter().map(of).collect();
        for (&start, found) in together.iter().zip(found) {
            take(start, (start + LANES).min(n), found);
        }
    }
    Ok(())
}

fn covariance(tape: &Tape, uses: &Uses<'_>, n: usize, stop: &Stop) -> Result<First, Stopped> {
    let size = uses.contributions.len();
    let mut first = First {
        covariance: Array2::zeros((n, n)),
        sizes: (!tape.positive).then(|| Array2::zeros((n, n))),
        uses: vec![0.0; size],
        directions: uses.nodes.iter().map(|node| vec![0.0; node.directions.len()]).collect(),
    };
    let sweep = |buffers: &mut Buffers, start: usize, end: usize, sign: Sign| -> (Vec<Lane>, Partial) {
        let from = tape.rows[end - 1].1;
        let Buffers { slots, noises, uses: buffer } = buffers;
        if sign == Sign::Positive {
            // An earlier sweep may have kept uses that have no part in this one.
            buffer.fill(ZERO);
        }
        let unit = |row: usize| {
            let mut lane = ZERO;
            if (start..end).contains(&row) {
                lane[row - start] = 1.0;
            }
            lane
        };
        tape.back(from, sign, slots, unit, |kind, number, lane| match kind {
            Kind::Noise => {
                let variance = tape.variances[number];
                noises[number] = lane.map(|x| x * variance);
            }
            _ if sign == Sign::Positive => uses.keep(buffer, number, *lane),
            _ => {}
        });
        let mut rows = vec![ZERO; end];
        tape.on(from, sign, slots, |number| noises[number], |row, lane| rows[row] = lane);
        let mut partial: Partial = (Vec::new(), Vec::new());
        if sign == Sign::Positive {
            partial.0 = buffer.iter().map(|lane| lane.iter().map(|x| x * x).sum()).collect();
            uses.each(buffer, |_, node, lanes| {
                let along = |(_, weights): &(&Direction, Vec<f64>)| -> f64 {
                    along(lanes, weights, true).iter().map(|x| x * x).sum()
                };
                partial.1.push(node.directions.iter().map(along).collect());
            });
        }
        (rows, partial)
    };
    let work = |buffers: &mut Buffers, start: usize, end: usize| {
        let positive = sweep(buffers, start, end, Sign::Positive);
        let given = (!tape.positive).then(|| sweep(buffers, start, end, Sign::Given).0);
        (positive, given)
    };
    let sweeps = if tape.positive { 2 } else { 4 };
    let cost = (stop, tape.cost().saturating_mul(sweeps));
    let new = || Buffers {
        slots: vec![ZERO; tape.slots],
        noises: vec![ZERO; tape.variances.len()],
        uses: vec![ZERO; size],
    };
    blocks(n, cost, new, work, |start, end, ((positive, partial), given)| {
        let fill = |matrix: &mut Array2<f64>, rows: &[Lane]| {
            for (i, lane) in rows.iter().enumerate() {
                for j in start.max(i)..end {
                    (matrix[(i, j)], matrix[(j, i)]) = (lane[j - start], lane[j - start]);
                }
            }
        };
        match (given, &mut first.sizes) {
            (Some(given), Some(sizes)) => {
                fill(&mut first.covariance, &given);
                fill(sizes, &positive);
            }
            _ => fill(&mut first.covariance, &positive),
        }
        add(&mut first.uses, &mut first.directions, &partial);
    })?;
    Ok(first)
}

/// Adds partial sums.
fn add(uses: &mut [f64], directions: &mut [Vec<f64>], partial: &Partial) {
    uses.iter_mut().zip(&partial.0).for_each(|(sum, x)| *sum += x);
    for (sums, more) in directions.iter_mut().zip(&partial.1) {
        sums.iter_mut().zip(more).for_each(|(sum, x)| *sum += x);
    }
}

/// The sums over uses with these weights, or with the absolute values of both.
fn along(lanes: &[Lane], weights: &[f64], sizes: bool) -> Lane {
    let mut sums = ZERO;
    for (lane, &weight) in lanes.iter().zip(weights) {
        for (sum, &x) in sums.iter_mut().zip(lane) {
            *sum += if sizes { (weight * x).abs() } else { weight * x };
        }
    }
    sums
}

/// What the nearly independent combinations of rows give for the uses.
struct Second {
    /// For every use, the sum of its squares.
    uses: Vec<f64>,
    /// For every direction, the sum of squares and the sum of the squared sums of sizes; node by node.
    directions: Vec<Vec<f64>>,
    /// For every use a number `d`, such that the diagonal matrix of these numbers is at least `βᵀ β`.
    majorant: Vec<f64>,
    /// `β` of the nodes whose entries are kept, as a matrix of uses by rows.
    kept: Vec<Option<Array2<f64>>>,
}

fn combinations(
    tape: &Tape,
    uses: &Uses<'_>,
    white: &Whitening,
    n: usize,
    stop: &Stop,
) -> Result<Second, Stopped> {
    let size = uses.contributions.len();
    let mut second = Second {
        uses: vec![0.0; size],
        directions: uses.nodes.iter().map(|node| vec![0.0; 2 * node.directions.len()]).collect(),
        majorant: vec![0.0; size],
        kept: uses
            .nodes
            .iter()
            .map(|node| node.whole.then(|| Array2::zeros((node.end - node.start, n))))
            .collect(),
    };
    let work = |buffers: &mut Buffers, start: usize, end: usize| {
        let Buffers { slots, uses: buffer, .. } = buffers;
        buffer.fill(ZERO);
        let seed = |row: usize| {
            let mut lane = ZERO;
            (start..end).zip(&mut lane).for_each(|(i, x)| *x = white.matrix[(i, row)]);
            lane
        };
        tape.back(tape.rows[end - 1].1, Sign::Given, slots, seed, |kind, number, lane| {
            if kind == Kind::Use {
                uses.keep(buffer, number, *lane);
            }
        });
        let mut partial: Partial = (Vec::with_capacity(size), Vec::with_capacity(uses.nodes.len()));
        let mut majorant = Vec::with_capacity(size);
        let mut kept: Vec<Option<Vec<Lane>>> = Vec::with_capacity(uses.nodes.len());
        uses.each(buffer, |_, node, lanes| {
            partial.0.extend(lanes.iter().map(|lane| lane.iter().map(|x| x * x).sum::<f64>()));
            let of = |(_, weights): &(&Direction, Vec<f64>)| {
                let squares = |lane: Lane| lane.iter().map(|x| x * x).sum::<f64>();
                [squares(along(lanes, weights, false)), squares(along(lanes, weights, true))]
            };
            partial.1.push(node.directions.iter().flat_map(of).collect());
            let mut sizes = ZERO;
            for lane in lanes {
                sizes.iter_mut().zip(lane).for_each(|(sum, x)| *sum += x.abs());
            }
            majorant.extend(
                lanes.iter().map(|lane| lane.iter().zip(&sizes).map(|(x, sum)| x.abs() * sum).sum::<f64>()),
            );
            kept.push(node.whole.then(|| lanes.to_vec()));
        });
        (partial, majorant, kept)
    };
    let new = || Buffers { slots: vec![ZERO; tape.slots], noises: Vec::new(), uses: vec![ZERO; size] };
    blocks(n, (stop, tape.cost()), new, work, |start, end, (partial, majorant, kept)| {
        add(&mut second.uses, &mut second.directions, &partial);
        second.majorant.iter_mut().zip(&majorant).for_each(|(sum, x)| *sum += x);
        for (to, lanes) in second.kept.iter_mut().zip(kept) {
            if let (Some(to), Some(lanes)) = (to, lanes) {
                for (mut row, lane) in to.rows_mut().into_iter().zip(lanes) {
                    (start..end).zip(lane).for_each(|(j, x)| row[j] = x);
                }
            }
        }
    })?;
    Ok(second)
}

/// The enclosures of all results, node by node.
#[allow(clippy::too_many_arguments, reason = "all of it was computed before, once")]
fn enclose(
    program: &Program,
    seen: &Seen,
    tape: &Tape,
    uses: &Uses<'_>,
    options: &AccountOptions,
    first: &First,
    second: Second,
    white: &Whitening,
) -> Result<Vec<Option<NodeGram>>, Error> {
    let (h, n, members) = (white.rest, seen.rows.len(), &seen.members);
    let sum = roundings(n + 16);
    // The coefficients of combinations err by at most this times the norm of the sizes of those of the rows.
    // The sizes were rounded as well, by far less than a thousandth.
    let relative = roundings(tape.back + 8) * white.norm * 1.001;
    let wrong = |squares: f64| relative * squares.sqrt() * UP + TINY;
    let ends = |squares: f64, wrong: f64| {
        let length = squares.sqrt();
        let low = (length * (1.0 - sum) - wrong).max(0.0);
        let high = length * (1.0 + sum) + wrong;
        Ends {
            low: (low * low / (1.0 + h) * DOWN).next_down().max(0.0),
            high: (high * high / (1.0 - h) * UP).next_up(),
        }
    };
    let asked = options.asked(program);
    let mut grams: Vec<Option<NodeGram>> = (0..program.node_count())
        .map(|node| (asked[node] && !members[node]).then(|| NodeGram::empty(node, program.uses(node))))
        .collect();
    for ((at, node), kept) in uses.nodes.iter().enumerate().zip(second.kept) {
        let Some(gram) = &mut grams[node.node] else { continue };
        let range = node.start..node.end;
        let errors: Vec<f64> = first.uses[range.clone()].iter().map(|&x| wrong(x)).collect();
        for (place, k) in range.clone().enumerate() {
            gram.places[program.contributions[uses.contributions[k]].index] = Some(place);
            gram.diagonal.push(ends(second.uses[k], errors[place]));
            gram.leaks.push(false);
        }
        // (β + E)ᵀ (β + E) ≤ (1 + θ) βᵀ β + (1 + 1/θ) Eᵀ E, and Eᵀ E is at most diag(e) times the sum of all
        // e.
        let total: f64 = errors.iter().sum::<f64>() * UP;
        let trace: f64 = second.majorant[range.clone()].iter().sum();
        let theta = (total / trace.max(TINY).sqrt()).max(TINY);
        for (k, error) in range.zip(&errors) {
            let bound =
                second.majorant[k] * (1.0 + sum) * (1.0 + theta) + (1.0 + 1.0 / theta) * error * total;
            gram.structural.push((bound / (1.0 - h) * UP).next_up());
        }
        if let Some(beta) = kept {
            gram.entries = Some(entries(&beta, &errors, sum, h)?);
        }
        let numbers = first.directions[at].iter().zip(second.directions[at].chunks(2));
        for ((direction, weights), (&sizes, found)) in node.directions.iter().zip(numbers) {
            // Weights, products and sums over the uses are rounded as well.
            let more = roundings(weights.len() + 8) * found[1].sqrt() * UP;
            let ends = ends(found[0], wrong(sizes) * (1.0 + roundings(weights.len() + 8)) + more);
            gram.directions.push(KnownDirection { direction: (*direction).clone(), ends, leaks: false });
        }
    }
    Ok(grams)
}

/// All entries of a node's Gram matrix, and a bound on the error of each.
fn entries(
    beta: &Array2<f64>,
    errors: &[f64],
    sum: f64,
    h: f64,
) -> Result<(Array2<f64>, Array2<f64>), Error> {
    let none = Array2::zeros((beta.nrows(), 0));
    let center = gram_difference(beta.view(), none.view())?;
    let lengths: Vec<f64> =
        beta.rows().into_iter().map(|row| row.dot(&row).sqrt() * (1.0 + sum) * UP).collect();
    let radius = Array2::from_shape_fn(center.dim(), |(i, j)| {
        let (a, b) = (lengths[i] + errors[i], lengths[j] + errors[j]);
        let wrong = errors[i] * b + lengths[i] * errors[j];
        ((wrong + sum * lengths[i] * lengths[j] + h / (1.0 - h) * a * b) * UP).next_up()
    });
    Ok((center.as_standard_layout().to_owned(), radius))
}

/// `γ_k`: a bound on the effect of `k` roundings on a number, relative to the sizes of its terms.
fn roundings(k: usize) -> f64 {
    let x = k as f64 * (f64::EPSILON / 2.0);
    x / (1.0 - x)
}

/// The largest number of rows whose covariance is factorised.
const MAX_ROWS: usize = 9000;
/// If the distance from the identity is larger than this, there is no result.
const MAX_REST: f64 = 0.1;
/// The number of blocks of rows that are swept together.
const TOGETHER: usize = 4;
/// Covers a few roundings, and sums of 10^4 nonnegative numbers.
const UP: f64 = 1.0 + 4e-12;
const DOWN: f64 = 1.0 - 4e-12;
/// Larger than everything that underflows.
const TINY: f64 = 1e-100;

#[cfg(test)]
mod tests {
    use super::*;
    use ndp_account::Observer;
    use std::collections::BTreeMap;

    /// A use is sent once as it is and once three times as large, each time with a noise of its own. The
    /// squares of the sizes of its coefficients, on which the allowance for their roundings rests, sum to 10.
    #[test]
    fn sizes_of_coefficients_add_up() -> Result<(), Error> {
        let mut program = Program::new(2)?;
        let x = program.contribute(0, Reads::Nothing)?;
        for factor in [1, -3] {
            let z = program.noise([0], 1)?;
            let y = program.combine([(factor, x), (1, z)])?;
            program.send(0, 1, y)?;
        }
        let seen = Seen::outline(&program, &Observer::node(1), &BTreeMap::new())?;
        let tape = Tape::new(&program, &seen).expect("a tape");
        let uses = Uses::new(&program, &tape, &[], &AccountOptions::default());
        assert_eq!(covariance(&tape, &uses, 2, &Stop::never())?.uses, [10.0]);
        Ok(())
    }
}
