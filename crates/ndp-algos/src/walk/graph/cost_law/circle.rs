//! The law of the cost from its generating function on two circles: powers of `z` stand for the cost and
//! powers of `x` for time.
//!
//! For each root of unity `ω`, the series in time at `z = ρω` are transformed to points `|x| = r < 1`. The
//! renewal equation is solved at each of these points, and the coefficient of `x^T` follows. One more
//! transform, over `ω`, gives the probabilities of the cells.
//!
//! *Error.* `E` denotes the mean of absolute values over the points of the circle, `‖·‖` the root of the mean
//! of squares, and hats denote computed values.
//!
//! * A transform of `N` points errs by at most `e √N` times the 2-norm of its input
//!   ([`ndp_numeric::fourier`]), so that `‖Î − I‖ ≤ e_I`, `e` times the 2-norm of the series at `(r, ρ)`, and
//!   by Parseval the values `y = (1 − I)^{−1} G`, whose coefficients are probabilities, have `‖y‖ ≤ (1 −
//!   r²)^{−1/2}`.
//! * `|(1 − I(x, z))^{−1}| ≤ (1 − I(r, ρ))^{−1}` entry by entry. With the row `Z = F (1 − I)^{−1}` at `(r,
//!   ρ)`, therefore, `E|F ŷ − F y| ≤ Σ Z_w (e_G + 2 Σ e_I ‖y‖)` if `√N Σ e_I` is less than half of `1 − I`.
//!   The error of `F` itself adds `e_F ‖y‖`.
//! * The coefficient of `x^T` is a mean over the circle divided by `r^T`: its error is at most that of the
//!   mean. The coefficients `T + N, T + 2N, …` are folded into it. They are not negative, and add at most
//!   `r^N / (1 − r^N)` in all.
//! * A sum of neighboring cells is the mean over `ω` of the values times a Dirichlet kernel, whose absolute
//!   mean is at most `2 + ln N`.
//!
//! *Transforms.* With `N = mM` points for at most `M` coefficients, the frequencies `mq + j` are those of a
//! transform of `M` points after the coefficient `t` is multiplied by `e^{−2πi jt/N}`, which has a relative
//! error of at most `8u`.

mod points;

use super::system::{Charges, System, solve};
use ndp_graph::kernel;
use ndp_numeric::casts::id;
use ndp_numeric::fourier::{Complex, Scrambled, TESTED, Transform, root};
use ndp_numeric::stop::{Stop, work};
use points::{Spectrum, coefficient};
use rayon::prelude::*;

/// The probabilities of the cells `0..N`; larger costs are counted modulo `N`.
#[derive(Clone, Debug)]
pub(super) struct Cells {
    /// `Σ_i P(cell j + iN) ρ^{iN}`.
    pub(super) masses: Vec<f64>,
    /// Any sum of neighboring cells, the last of which is `Y`, errs by at most this times `ρ^{−Y}`, …
    error: f64,
    /// … and is too large by at most this, because of paths of other lengths.
    pub(super) folded: f64,
    log_damping: f64,
}

impl Cells {
    /// A bound on the error of a sum of cells up to `last`.
    pub(super) fn error(&self, last: usize) -> f64 {
        if self.log_damping == 0.0 {
            return self.error;
        }
        2.0 * self.error * (-self.log_damping * last as f64).exp()
    }

    /// A bound on the weight of a cost that is counted `N` cells too low, as a multiple of its probability.
    pub(super) fn wrapped(&self) -> f64 {
        (self.log_damping * self.masses.len() as f64).exp()
    }
}

/// The transforms for one system.
pub(super) struct Circle<'a> {
    system: &'a System,
    /// A transform of `M` points.
    transform: Scrambled,
    /// The roots of unity of order `N`, and the ratio `m = N/M`.
    roots: Vec<Complex>,
    parts: usize,
    /// `x_p^{−T} r^T` at all points, part by part.
    turns: Vec<Complex>,
    /// `ln r < 0`.
    log_radius: f64,
    stop: &'a Stop,
}

/// The real or imaginary parts at all `z` of a block.
type Lanes = [f64; LANES];

/// A series with the weights `r^t ρ^cell` included.
struct Weighed<'a> {
    charges: &'a Charges,
    masses: Vec<f64>,
    /// The value at `(r, ρ)`.
    sum: f64,
    /// A bound on the error of a transform, as the root of the mean of squares.
    error: f64,
    /// The spectra of all parts, if they do not depend on `z`.
    free: Option<Vec<Planes>>,
}

/// Real and imaginary parts of a spectrum.
type Planes = (Vec<[f64; 1]>, Vec<[f64; 1]>);

impl<'a> Circle<'a> {
    /// `None` if the walk is too long.
    pub(super) fn new(system: &'a System, stop: &'a Stop) -> Option<Self> {
        // Long walks get the least number of points that is possible, which makes their errors count more.
        let least = if system.steps > LONG { 9 * (system.steps + 1) / 2 } else { 6 * (system.steps + 1) };
        let transform = Scrambled::power_of_two((system.steps + 1).max(16))?;
        let parts = least.div_ceil(transform.size());
        // Six times a power of two is three times another power of two, so that these are roots of the same
        // order.
        let parts = if parts > 6 { return None } else { parts.max(3) };
        let points = parts * transform.size();
        if points > 3 * TESTED / 64 {
            return None;
        }
        let roots: Vec<Complex> = (0..points).map(|k| root(k, points)).collect();
        let frequencies = transform.frequencies();
        let turns = (0..parts)
            .flat_map(|part| frequencies.iter().map(move |q| parts * q + part))
            .map(|p| roots[p * system.steps % points].conjugate())
            .collect();
        Some(Self { system, transform, roots, parts, turns, log_radius: FOLDED.ln() / points as f64, stop })
    }

    /// `N`.
    fn points(&self) -> usize {
        self.roots.len()
    }

    /// The probabilities of `count` cells, a power of two, with `ρ = e^{log_damping} ≤ 1`. `None` if no error
    /// bound is known, or the computation is stopped.
    pub(super) fn cells(&self, count: usize, log_damping: f64) -> Option<Cells> {
        let (values, error) = self.values(count, log_damping)?;
        let (masses, last) = invert(&values, count, log_damping)?;
        Some(Cells { masses, error: dirichlet(count) * error + last, folded: 1.01 * FOLDED, log_damping })
    }

    /// An upper bound on the total mass of all cells.
    pub(super) fn total(&self) -> Option<f64> {
        let (values, error) = self.values(1, 0.0)?;
        Some(values[0].re + error)
    }

    /// The coefficients of `x^T` at `z = ρω^k` for `k ≤ count/2`, and a bound on the error of each.
    fn values(&self, count: usize, log_damping: f64) -> Option<(Vec<Complex>, f64)> {
        let between: Vec<Vec<Weighed<'_>>> =
            self.system.between.iter().map(|row| self.weighed(row, log_damping)).collect();
        let first = self.weighed(&self.system.first, log_damping);
        let tail = self.weighed(&self.system.tail, log_damping);
        let error = self.error(&between, &first, &tail)?;
        let members = first.len();
        let series: Vec<&Weighed<'_>> = between.iter().flatten().chain(&first).chain(&tail).collect();
        let (used, places) = used_cells(&series, count);
        let roots: Vec<Complex> = (0..count).map(|k| root(k, count)).collect();
        let unseen: Vec<(usize, f64)> = self
            .system
            .unseen
            .iter()
            .map(|&(cell, mass)| (cell % count, mass * (log_damping * cell as f64).exp()))
            .collect();
        let scale = (-self.log_radius * self.system.steps as f64).exp() / self.points() as f64;
        let of_block = self.work_of_block(&series, members, used.len());
        let block = |buffers: &mut Buffers, k: usize| -> Option<Vec<Complex>> {
            self.stop.spend(of_block).ok()?;
            let Buffers { phases, values, spectra, row } = buffers;
            // The powers z^cell for all z of the block.
            phases.clear();
            phases.extend(used.iter().map(|&cell| {
                let at = |lane: usize| roots[(k + lane).wrapping_mul(cell) & (count - 1)];
                kernel::Lanes(std::array::from_fn(|i| if i < LANES { at(i).re } else { at(i - LANES).im }))
            }));
            for ((values, series), places) in values.iter_mut().zip(&series).zip(&places) {
                if series.free.is_none() {
                    let (starts, masses) = (&series.charges.starts, &series.masses);
                    kernel::combine::<PAIRS, PAIRS>(starts, places, masses, phases, values);
                }
            }
            let mut sum = [Complex::ZERO; LANES];
            for part in 0..self.parts {
                for ((spectrum, values), series) in spectra.iter_mut().zip(values.iter()).zip(&series) {
                    if series.free.is_none() {
                        self.transform_part(part, values.iter().map(parts), spectrum);
                    }
                }
                let all: Vec<Spectrum<'_>> = spectra
                    .iter()
                    .zip(&series)
                    .map(|((re, im), series)| match &series.free {
                        Some(free) => Spectrum::Free(&free[part].0, &free[part].1),
                        None => Spectrum::Charged(re, im),
                    })
                    .collect();
                let size = self.transform.size();
                let own = coefficient(&all, members, &self.turns[part * size..][..size], row);
                sum.iter_mut().zip(own).for_each(|(sum, own)| *sum = sum.plus(own));
            }
            let lanes = LANES.min(count / 2 + 1 - k);
            let mean = |lane: usize| {
                let mut value = Complex { re: sum[lane].re * scale, im: sum[lane].im * scale };
                for &(cell, mass) in &unseen {
                    let root = roots[(k + lane).wrapping_mul(cell) & (count - 1)];
                    value = value.plus(Complex { re: root.re * mass, im: root.im * mass });
                }
                value
            };
            Some((0..lanes).map(mean).collect())
        };
        let starts: Vec<usize> = (0..=count / 2).step_by(LANES).collect();
        let blocks: Option<Vec<Vec<Complex>>> = starts
            .into_par_iter()
            .map_init(|| Buffers::new(self.transform.size(), &series), |buffers, k| block(buffers, k))
            .collect();
        let blocks = blocks?;
        Some((blocks.concat(), error))
    }

    /// The work for a block of values of `z`: all charges, and the transforms of all series that have
    /// charges, for all `z` of the block together.
    fn work_of_block(&self, series: &[&Weighed<'_>], members: usize, cells: usize) -> u64 {
        let entries: usize = series.iter().map(|series| series.masses.len()).sum();
        let transforms = series.iter().filter(|series| series.free.is_none()).count() + members * members;
        let of_transform = work([self.points(), self.transform.size().ilog2() as usize]) / 2;
        work([LANES, entries + cells]).saturating_add(work([LANES, transforms]).saturating_mul(of_transform))
    }

    fn weighed(&self, charges: &'a [Charges], log_damping: f64) -> Vec<Weighed<'a>> {
        charges.iter().map(|charges| self.weigh(charges, log_damping)).collect()
    }

    fn weigh(&self, charges: &'a Charges, log_damping: f64) -> Weighed<'a> {
        let mut masses = Vec::with_capacity(charges.masses.len());
        let (mut sum, mut square, mut rounded) = (0.0, 0.0, 0.0);
        let unit = 0.5 * f64::EPSILON;
        for (t, pair) in charges.starts.windows(2).enumerate() {
            let entries = pair[0]..pair[1];
            let (mut at_time, mut error) = (0.0, 0.0);
            // The relative error of a root of unity is 5u, of a product with it 1u, and of the sum 1u for
            // each term.
            let terms = (pair[1] - pair[0] + 9) as f64;
            for (&cell, &mass) in charges.cells[entries.clone()].iter().zip(&charges.masses[entries]) {
                let exponent = self.log_radius * t as f64 + log_damping * f64::from(cell);
                let weighed = mass * exponent.exp();
                masses.push(weighed);
                at_time += weighed;
                // Each part of the exponent errs by 2u of its size; the weight and the product add a few
                // units.
                error += weighed * (terms - 3.0 * exponent + 4.0) * unit;
            }
            sum += at_time;
            square += at_time * at_time;
            rounded += error * error;
        }
        // This includes the multiplication before the transform.
        let transform = 1.001 * (self.transform.error() + 8.0 * unit);
        let error = (transform * square.sqrt() + rounded.sqrt()) * (1.0 + 1e-9);
        let free = charges.is_free().then(|| {
            let at_time = charges.starts.windows(2).map(|pair| [masses[pair[0]..pair[1]].iter().sum()]);
            let values: Vec<[f64; 1]> = at_time.collect();
            let spectra = (0..self.parts).map(|part| {
                let mut spectrum =
                    (vec![[0.0; 1]; self.transform.size()], vec![[0.0; 1]; self.transform.size()]);
                self.transform_part(part, values.iter().map(|&value| (value, [0.0])), &mut spectrum);
                spectrum
            });
            spectra.collect()
        });
        Weighed { charges, masses, sum: sum * (1.0 + 1e-9), error, free }
    }

    /// The spectrum at the points `mq + part` of a series whose real and imaginary parts are `values`.
    fn transform_part<const L: usize>(
        &self,
        part: usize,
        values: impl ExactSizeIterator<Item = ([f64; L], [f64; L])>,
        spectrum: &mut (Vec<[f64; L]>, Vec<[f64; L]>),
    ) {
        let (re, im) = spectrum;
        let (points, length) = (self.points(), values.len());
        let mut at = 0;
        for (t, (x, y)) in values.enumerate() {
            let turn = self.roots[at];
            for l in 0..L {
                re[t][l] = x[l] * turn.re - y[l] * turn.im;
                im[t][l] = x[l] * turn.im + y[l] * turn.re;
            }
            at += part;
            if at >= points {
                at -= points;
            }
        }
        re[length..].fill([0.0; L]);
        im[length..].fill([0.0; L]);
        self.transform.run(re, im);
    }

    /// A bound on the error of the coefficient of `x^T`, at every `z`, times the factor by which a sum of
    /// cells increases it. `None` if the equation is too close to having no solution.
    fn error(
        &self,
        between: &[Vec<Weighed<'_>>],
        first: &[Weighed<'_>],
        tail: &[Weighed<'_>],
    ) -> Option<f64> {
        let members = first.len();
        let unit = f64::EPSILON;
        // The row Z solves Z = F + Z I.
        let transposed =
            (0..members).map(|w| (0..members).map(|from| between[from][w].sum).collect()).collect();
        let reach = solve(transposed, first.iter().map(|first| first.sum).collect())?;
        if reach.iter().any(|&z| z.is_nan() || z < 0.0) {
            return None;
        }
        let gap = between.iter().map(|row| 1.0 - row.iter().map(|entry| entry.sum).sum::<f64>());
        let gap = gap.fold(f64::INFINITY, f64::min);
        // Elimination in a row-dominant system of a few equations has the error of a change of its entries.
        // The solution of a single equation errs by a few units.
        let solving = if members == 1 { 0.0 } else { 64.0 * (members * members) as f64 * unit };
        let row = |row: &Vec<Weighed<'_>>| row.iter().map(|entry| entry.error).sum::<f64>() + solving;
        let worst = between.iter().map(row).fold(0.0, f64::max);
        let largest = worst * (self.points() as f64).sqrt();
        if largest.is_nan() || gap.is_nan() || largest > 0.5 * gap {
            return None;
        }
        let size = 1.01 / (-(2.0 * self.log_radius).exp_m1()).sqrt();
        let entering: f64 = first.iter().map(|first| first.error + 32.0 * unit * first.sum).sum();
        // The mean over the circle is a sum in three levels, of at most 32, 32 and 128 terms, and a last one
        // of at most six.
        let adding: f64 = 110.0 * unit * first.iter().map(|first| first.sum).sum::<f64>();
        let on_the_way: f64 = reach
            .iter()
            .zip(between)
            .zip(tail)
            .map(|((z, between), tail)| z * (tail.error + 2.0 * row(between) * size))
            .sum();
        let mean = on_the_way + (entering + adding) * size;
        let at_end: f64 = self.system.unseen.iter().map(|&(_, mass)| 64.0 * unit * mass).sum();
        Some(1.01 * (mean * (-self.log_radius * self.system.steps as f64).exp() + at_end))
    }
}

/// The cells modulo `count` in which some series has a charge, ascending, and for every series the place
/// among them of each of its charges.
fn used_cells(series: &[&Weighed<'_>], count: usize) -> (Vec<usize>, Vec<Vec<u32>>) {
    let charged = series.iter().filter(|series| series.free.is_none());
    let mut used: Vec<usize> =
        charged.flat_map(|series| &series.charges.cells).map(|&cell| cell as usize & (count - 1)).collect();
    used.sort_unstable();
    used.dedup();
    let place = |&cell: &u32| id(used.partition_point(|&other| other < (cell as usize & (count - 1))));
    let places = series
        .iter()
        .map(|series| match series.free {
            Some(_) => Vec::new(),
            None => series.charges.cells.iter().map(place).collect(),
        })
        .collect();
    (used, places)
}

/// The cells from the values at `ρ ω^k`, and the error that this transform adds to a sum of some of them,
/// before the damping is undone.
fn invert(values: &[Complex], count: usize, log_damping: f64) -> Option<(Vec<f64>, f64)> {
    let largest = values.iter().map(|value| value.square_norm().sqrt()).fold(0.0, f64::max);
    if !largest.is_finite() {
        return None;
    }
    let transform = Transform::new(count);
    let mut all = vec![Complex::ZERO; transform.size()];
    for (k, &value) in values.iter().enumerate() {
        all[k] = value;
        // The cells are real, and so are the values at these two points.
        if k == 0 || 2 * k == count {
            all[k].im = 0.0;
        } else {
            all[count - k] = value.conjugate();
        }
    }
    transform.invert(&mut all);
    let undone = |(cell, z): (usize, &Complex)| z.re * (-log_damping * cell as f64).exp();
    let masses = all.iter().enumerate().take(count).map(undone).collect();
    // The error is bounded in the 2-norm, so that a sum of all N cells has √N times as much. Undoing the
    // damping errs by a few units of the cells themselves.
    let error = 1.001 * (transform.error() + 64.0 * f64::EPSILON) * largest * (count as f64).sqrt();
    Some((masses, error + count as f64 * f64::EPSILON))
}

/// The factor by which a sum of neighboring cells increases an error of the values on the circle: the
/// absolute mean of a Dirichlet kernel of `count` points.
fn dirichlet(count: usize) -> f64 {
    2.0 + (count as f64).ln()
}

/// Real parts, and imaginary parts.
fn parts(pairs: &kernel::Lanes<PAIRS>) -> (Lanes, Lanes) {
    let (re, im) = pairs.0.split_at(LANES);
    (std::array::from_fn(|lane| re[lane]), std::array::from_fn(|lane| im[lane]))
}

/// The working memory for a block of values of `z`.
struct Buffers {
    phases: Vec<kernel::Lanes<PAIRS>>,
    values: Vec<Vec<kernel::Lanes<PAIRS>>>,
    spectra: Vec<(Vec<Lanes>, Vec<Lanes>)>,
    row: Vec<Complex>,
}

impl Buffers {
    fn new(size: usize, series: &[&Weighed<'_>]) -> Self {
        let charged = |series: &&Weighed<'_>, length: usize| if series.free.is_some() { 0 } else { length };
        let of_values = |series| vec![kernel::Lanes::ZERO; charged(series, series.charges.starts.len() - 1)];
        let of_spectrum = |series| vec![[0.0; LANES]; charged(series, size)];
        let values = series.iter().map(of_values).collect();
        let spectra = series.iter().map(|series| (of_spectrum(series), of_spectrum(series))).collect();
        Self { phases: Vec::new(), values, spectra, row: Vec::new() }
    }
}

/// The number of values of `z` that are computed together.
const LANES: usize = 4;
/// The real parts of that many, then the imaginary parts.
const PAIRS: usize = 2 * LANES;
/// Walks of more steps are long.
const LONG: usize = 2000;
/// `r^N`, the share of longer walks that is folded in.
const FOLDED: f64 = 1e-9;
