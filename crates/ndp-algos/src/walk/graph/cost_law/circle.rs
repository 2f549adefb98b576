//! The law of the cost from its generating function on two circles: powers of `z` for the cost, powers of `x` for time.
//!
//! For each root of unity `ω` the series in time at `z = ρω` are transformed to `|x| = r < 1`, the renewal equation is solved there number by number,
//! and the coefficient of `x^T` is read off; one more transform gives the probabilities of the cells.
//!
//! *Error.* Write `E` for means of absolute values and `‖·‖` for roots of means of squares over the points of the circle, and let hats be computed.
//!
//! * A transform of `N` points errs by at most `e √N` times the 2-norm of its input (`e`: [`transform_error`]), so that `‖Î − I‖ ≤ e_I`, `e` times the
//!   2-norm of the series at `(r, ρ)`, and by Parseval the values `y = (1 − I)^{−1} G`, whose coefficients are probabilities, have
//!   `‖y‖ ≤ (1 − r²)^{−1/2}`.
//! * `|(1 − I(x, z))^{−1}| ≤ (1 − I(r, ρ))^{−1}` entry by entry. So with the row `Z = F (1 − I)^{−1}` at `(r, ρ)`:
//!   `E|F ŷ − F y| ≤ Σ Z_w (e_G + 2 Σ e_I ‖y‖)` once `√N Σ e_I` is below half the gap `1 − I`, and `F` itself adds `e_F ‖y‖`.
//! * The coefficient of `x^T` is a mean over the circle divided by `r^T`: its error is at most that of the mean. What is folded from the coefficients
//!   `T + N, T + 2N, …` is not negative and at most `r^N / (1 − r^N)` in all.
//! * A sum of neighboring cells is the mean over `ω` of the values against a Dirichlet kernel, of mean at most `2 + ln N`.

use super::system::{Charges, System, solve};
use ndp_linalg::stop::checkpoint;
use ndp_numeric::casts::id;
use rayon::prelude::*;
use realfft::num_complex::Complex;
use realfft::{ComplexToReal, RealFftPlanner, RealToComplex};
use std::f64::consts::TAU;
use std::sync::Arc;

/// Probabilities of cells `0..N`, counted modulo `N`.
#[derive(Clone, Debug)]
pub(super) struct Cells {
    /// `Σ_i P(cell j + iN) ρ^{iN}`.
    pub(super) masses: Vec<f64>,
    /// Any sum of neighboring cells, the last one at `Y`, errs by at most so much times `ρ^{−Y}`, …
    error: f64,
    /// … and is too large by at most this, from paths of other lengths.
    pub(super) folded: f64,
    log_damping: f64,
}

impl Cells {
    /// Error of a sum of cells up to `last`.
    pub(super) fn error(&self, last: usize) -> f64 {
        if self.log_damping == 0.0 {
            return self.error;
        }
        2.0 * self.error * (-self.log_damping * last as f64).exp()
    }

    /// What is counted in cells that are `N` too low, at most.
    pub(super) fn wrapped(&self) -> f64 {
        (self.log_damping * self.masses.len() as f64).exp()
    }
}

/// The transforms of one system.
pub(super) struct Circle<'a> {
    system: &'a System,
    /// Points in time.
    points: usize,
    /// `ln r < 0`.
    log_radius: f64,
    forward: Arc<dyn RealToComplex<f64>>,
}

/// A series in time at one `z`, transformed: the spectra of its real and its imaginary part.
struct Spectrum {
    re: Vec<Complex<f64>>,
    im: Vec<Complex<f64>>,
}

impl Spectrum {
    /// At the points `p` and `−p`.
    #[inline]
    fn at(&self, p: usize) -> [Complex<f64>; 2] {
        let a = self.re[p];
        match self.im.get(p) {
            Some(&b) => [Complex::new(a.re - b.im, a.im + b.re), Complex::new(a.re + b.im, b.re - a.im)],
            None => [a, a.conj()],
        }
    }
}

/// A series with the weights `r^t ρ^cell` put in.
struct Weighed<'a> {
    charges: &'a Charges,
    masses: Vec<f64>,
    /// The value at `(r, ρ)`.
    sum: f64,
    /// Bound on the error of a transform, in the mean square.
    error: f64,
    /// The spectrum, where it does not depend on `z`.
    free: Option<Spectrum>,
}

impl<'a> Circle<'a> {
    pub(super) fn new(system: &'a System) -> Self {
        // Of longer walks no more than must be: then errors count more.
        let least = if system.steps > LONG { 9 * (system.steps + 1) / 2 } else { 6 * (system.steps + 1) };
        let power = least.next_power_of_two().max(64);
        let points = if 3 * power / 4 >= least { 3 * power / 4 } else { power };
        let log_radius = FOLDED.ln() / points as f64;
        let forward = RealFftPlanner::new().plan_fft_forward(points);
        Self { system, points, log_radius, forward }
    }

    /// The probabilities of `count` cells, a power of two, with `ρ = e^{log_damping} ≤ 1`. `None` where no error bound is known.
    pub(super) fn cells(&self, count: usize, log_damping: f64) -> Option<Cells> {
        let between: Vec<Vec<Weighed<'_>>> =
            self.system.between.iter().map(|row| self.weighed(row, log_damping)).collect();
        let first = self.weighed(&self.system.first, log_damping);
        let tail = self.weighed(&self.system.tail, log_damping);
        let error = self.error(&between, &first, &tail)?;
        let members = first.len();
        let series: Vec<&Weighed<'_>> = between.iter().flatten().chain(&first).chain(&tail).collect();
        // The cells that occur, and where each entry finds its own among them.
        let charged =
            || series.iter().filter(|series| series.free.is_none()).flat_map(|series| &series.charges.cells);
        let mut used: Vec<usize> = charged().map(|&cell| cell as usize & (count - 1)).collect();
        used.sort_unstable();
        used.dedup();
        let place = |&cell: &u32| id(used.partition_point(|&other| other < (cell as usize & (count - 1))));
        let places: Vec<Vec<u32>> = series
            .iter()
            .map(|series| match series.free {
                Some(_) => Vec::new(),
                None => series.charges.cells.iter().map(place).collect(),
            })
            .collect();
        let roots = roots(count);
        let turns = roots_at(self.points, self.system.steps);
        let unseen: Vec<(usize, f64)> = self
            .system
            .unseen
            .iter()
            .map(|&(cell, mass)| (cell % count, mass * (log_damping * cell as f64).exp()))
            .collect();
        let scale = (-self.log_radius * self.system.steps as f64).exp() / self.points as f64;
        let block = |buffers: &mut Buffers, k: usize| -> Vec<Complex<f64>> {
            checkpoint();
            let Buffers { phases, values, spectra, padded, scratch, row } = buffers;
            // The powers z^cell of all z of the block.
            phases.clear();
            phases.extend(used.iter().map(|&cell| {
                let at = |lane: usize| roots[(k + lane).wrapping_mul(cell) & (count - 1)];
                Phases {
                    re: std::array::from_fn(|lane| at(lane).re),
                    im: std::array::from_fn(|lane| at(lane).im),
                }
            }));
            for ((values, series), places) in values.iter_mut().zip(&series).zip(&places) {
                if series.free.is_none() {
                    series.evaluate(phases, places, values);
                }
            }
            let lanes = LANES.min(count / 2 + 1 - k);
            let mean = |lane: usize| {
                for ((spectrum, values), series) in spectra.iter_mut().zip(values.iter()).zip(&series) {
                    if series.free.is_none() {
                        self.transform(
                            values.iter().map(|value| value.re[lane]),
                            padded,
                            &mut spectrum.re,
                            scratch,
                        );
                        self.transform(
                            values.iter().map(|value| value.im[lane]),
                            padded,
                            &mut spectrum.im,
                            scratch,
                        );
                    }
                }
                let all =
                    spectra.iter().zip(&series).map(|(own, series)| series.free.as_ref().unwrap_or(own));
                let mean = coefficient(&all.collect::<Vec<_>>(), members, &turns, row);
                let unseen = unseen
                    .iter()
                    .map(|&(cell, mass)| roots[(k + lane).wrapping_mul(cell) & (count - 1)] * mass);
                mean * scale + unseen.sum::<Complex<f64>>()
            };
            (0..lanes).map(mean).collect()
        };
        let starts: Vec<usize> = (0..=count / 2).step_by(LANES).collect();
        let blocks: Vec<Vec<Complex<f64>>> = starts
            .into_par_iter()
            .map_init(|| Buffers::new(&*self.forward, &series), |buffers, k| block(buffers, k))
            .collect();
        let (masses, last) = invert(blocks.concat(), count, log_damping)?;
        Some(Cells { masses, error: kernel(count) * error + last, folded: 1.01 * FOLDED, log_damping })
    }

    fn weighed(&self, charges: &'a [Charges], log_damping: f64) -> Vec<Weighed<'a>> {
        charges.iter().map(|charges| self.weigh(charges, log_damping)).collect()
    }

    fn weigh(&self, charges: &'a Charges, log_damping: f64) -> Weighed<'a> {
        let mut masses = Vec::with_capacity(charges.masses.len());
        let (mut sum, mut square) = (0.0, 0.0);
        for (t, pair) in charges.starts.windows(2).enumerate() {
            let entries = pair[0]..pair[1];
            let mut at_time = 0.0;
            for (&cell, &mass) in charges.cells[entries.clone()].iter().zip(&charges.masses[entries]) {
                let weighed = mass * (self.log_radius * t as f64 + log_damping * f64::from(cell)).exp();
                masses.push(weighed);
                at_time += weighed;
            }
            sum += at_time;
            square += at_time * at_time;
        }
        // Weights and roots err by a few units of what they stand for, sums by one for each term.
        let exponent = -self.log_radius * self.system.steps as f64 + 30.0;
        let rounding = (charges.widest() as f64 + 2.0 * exponent + 16.0) * f64::EPSILON;
        let error = (1.5 * transform_error(self.points) + rounding) * square.sqrt() * (1.0 + 1e-9);
        let mut weighed = Weighed { charges, masses, sum: sum * (1.0 + 1e-9), error, free: None };
        if charges.is_free() {
            let mut re = self.forward.make_output_vec();
            let (mut padded, mut scratch) = (self.forward.make_input_vec(), self.forward.make_scratch_vec());
            let at_time = charges.starts.windows(2).map(|pair| weighed.masses[pair[0]..pair[1]].iter().sum());
            self.transform(at_time, &mut padded, &mut re, &mut scratch);
            weighed.free = Some(Spectrum { re, im: Vec::new() });
        }
        weighed
    }

    fn transform(
        &self,
        values: impl Iterator<Item = f64>,
        padded: &mut [f64],
        spectrum: &mut [Complex<f64>],
        scratch: &mut [Complex<f64>],
    ) {
        padded.fill(0.0);
        padded.iter_mut().zip(values).for_each(|(to, from)| *to = from);
        let done = self.forward.process_with_scratch(padded, spectrum, scratch);
        done.expect("all buffers have the sizes of the plan");
    }

    /// Bound on the error of the coefficient of `x^T`, at every `z`, times what a sum of cells makes of it. `None` where the equation is too near to
    /// having no solution.
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
        // Solving a row-dominant system of a few equations errs by as much as a change of its entries.
        let solving = 64.0 * (members * members) as f64 * unit;
        let row = |row: &Vec<Weighed<'_>>| row.iter().map(|entry| entry.error).sum::<f64>() + solving;
        let worst = between.iter().map(row).fold(0.0, f64::max);
        let largest = worst * (self.points as f64).sqrt();
        if largest.is_nan() || gap.is_nan() || largest > 0.5 * gap {
            return None;
        }
        let size = 1.01 / (-(2.0 * self.log_radius).exp_m1()).sqrt();
        let entering: f64 = first.iter().map(|first| first.error + 64.0 * unit * first.sum).sum();
        // The mean over the circle is a sum in two levels.
        let adding: f64 = 1200.0 * unit * first.iter().map(|first| first.sum).sum::<f64>();
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

/// `Σ_p (F (1 − I)^{−1} G)(x_p) x_p^{−T} r^T`; the spectra are those of `I` row by row, of `F` and of `G`.
fn coefficient(
    spectra: &[&Spectrum],
    members: usize,
    turns: &[Complex<f64>],
    scratch: &mut Vec<Complex<f64>>,
) -> Complex<f64> {
    let half = turns.len() - 1;
    let mut sum = Complex::new(0.0, 0.0);
    let mut part = sum;
    for (p, turn) in turns.iter().enumerate() {
        let both: [Complex<f64>; 2] = if let [kernel, first, tail] = spectra {
            let (first, kernel, tail) = (first.at(p), kernel.at(p), tail.at(p));
            [0, 1].map(|side| {
                let gap = 1.0 - kernel[side];
                first[side] * tail[side] * gap.conj() * (1.0 / gap.norm_sqr())
            })
        } else {
            let first = &spectra[members * members..members * (members + 1)];
            [0, 1].map(|side| {
                eliminate(spectra, members, p, side, scratch);
                let last = |w: usize| scratch[w * (members + 1) + members];
                first.iter().enumerate().map(|(w, first)| first.at(p)[side] * last(w)).sum()
            })
        };
        part += both[0] * turn;
        // The first and the last point are their own mirror images.
        if p != 0 && p != half {
            part += both[1] * turn.conj();
        }
        if p % 256 == 255 {
            sum += part;
            part = Complex::new(0.0, 0.0);
        }
    }
    sum + part
}

/// Solves `(1 − I) y = G` at one point, by elimination without exchanges; `y` is then the last column of `scratch`, row by row.
fn eliminate(spectra: &[&Spectrum], m: usize, p: usize, side: usize, scratch: &mut Vec<Complex<f64>>) {
    let width = m + 1;
    let tail = &spectra[m * (m + 1)..];
    scratch.clear();
    for i in 0..m {
        for j in 0..m {
            let unit = if i == j { 1.0 } else { 0.0 };
            scratch.push(unit - spectra[i * m + j].at(p)[side]);
        }
        scratch.push(tail[i].at(p)[side]);
    }
    for i in 0..m {
        for j in i + 1..m {
            let factor = scratch[j * width + i] / scratch[i * width + i];
            for column in i + 1..width {
                let above = scratch[i * width + column];
                scratch[j * width + column] -= factor * above;
            }
        }
    }
    for i in (0..m).rev() {
        let mut value = scratch[i * width + m];
        for j in i + 1..m {
            value -= scratch[i * width + j] * scratch[j * width + m];
        }
        scratch[i * width + m] = value / scratch[i * width + i];
    }
}

/// The cells from the values at `ρ ω^k`, and the error of a sum of some of them that this transform makes, before the damping is undone.
fn invert(values: Vec<Complex<f64>>, count: usize, log_damping: f64) -> Option<(Vec<f64>, f64)> {
    let mut values = values;
    let largest = values.iter().map(|value| value.norm()).fold(0.0, f64::max);
    if !largest.is_finite() {
        return None;
    }
    values[0].im = 0.0;
    if let Some(last) = values.last_mut() {
        last.im = 0.0;
    }
    let backward: Arc<dyn ComplexToReal<f64>> = RealFftPlanner::new().plan_fft_inverse(count);
    let mut masses = backward.make_output_vec();
    backward.process(&mut values, &mut masses).ok()?;
    for (cell, mass) in masses.iter_mut().enumerate() {
        *mass *= (-log_damping * cell as f64).exp() / count as f64;
    }
    // In the 2-norm, so that a sum of all N cells has √N times as much; undoing the damping errs by units of the cells themselves.
    let error = (transform_error(count) + 64.0 * f64::EPSILON) * largest * (count as f64).sqrt();
    Some((masses, error + count as f64 * f64::EPSILON))
}

/// What a sum of neighboring cells makes of an error of the values on the circle: the mean of a Dirichlet kernel of `count` points.
fn kernel(count: usize) -> f64 {
    2.0 + (count as f64).ln()
}

/// `e^{−2πi k/N}` for `k < N`.
fn roots(count: usize) -> Vec<Complex<f64>> {
    (0..count).map(|k| root(k, count)).collect()
}

/// `e^{2πi pT/N}` for `p = 0..=N/2`.
fn roots_at(points: usize, steps: usize) -> Vec<Complex<f64>> {
    (0..=points / 2).map(|p| root(p * steps % points, points).conj()).collect()
}

/// `e^{−2πi k/N}`, a few units away at most: from an angle of at most an eighth of a turn.
fn root(k: usize, count: usize) -> Complex<f64> {
    // Exact for powers of two, and otherwise off by half a unit.
    let turn = k as f64 / count as f64;
    let quarters = (4.0 * turn).round();
    let angle = TAU * (turn - quarters / 4.0);
    let near = Complex::new(angle.cos(), -angle.sin());
    let back = Complex::new(0.0, -1.0);
    match ndp_numeric::casts::floor(quarters) % 4 {
        0 => near,
        1 => near * back,
        2 => -near,
        _ => -(near * back),
    }
}

/// `e` such that a transform of so many points errs by at most `e √N` times the 2-norm of its input: `(2 + √5)/2` epsilons for each doubling by
/// radix 2, and almost four times that for larger radices and the step from real to complex.
fn transform_error(points: usize) -> f64 {
    8.0 * f64::EPSILON * ((points as f64).log2() + 3.0)
}

/// Powers of the `z` of a block.
#[derive(Clone, Copy)]
struct Phases {
    re: [f64; LANES],
    im: [f64; LANES],
}

impl Weighed<'_> {
    /// The series at all `z` of a block.
    fn evaluate(&self, phases: &[Phases], places: &[u32], values: &mut [Phases]) {
        for (value, pair) in values.iter_mut().zip(self.charges.starts.windows(2)) {
            let entries = pair[0]..pair[1];
            let (mut re, mut im) = ([0.0; LANES], [0.0; LANES]);
            for (&place, &mass) in places[entries.clone()].iter().zip(&self.masses[entries]) {
                let phase = &phases[place as usize];
                for lane in 0..LANES {
                    re[lane] += mass * phase.re[lane];
                    im[lane] += mass * phase.im[lane];
                }
            }
            *value = Phases { re, im };
        }
    }
}

/// Working memory of a block.
struct Buffers {
    phases: Vec<Phases>,
    values: Vec<Vec<Phases>>,
    spectra: Vec<Spectrum>,
    padded: Vec<f64>,
    scratch: Vec<Complex<f64>>,
    row: Vec<Complex<f64>>,
}

impl Buffers {
    fn new(plan: &dyn RealToComplex<f64>, series: &[&Weighed<'_>]) -> Self {
        let nothing = Phases { re: [0.0; LANES], im: [0.0; LANES] };
        let times =
            |series: &&Weighed<'_>| if series.free.is_some() { 0 } else { series.charges.starts.len() - 1 };
        let spectrum = |series: &&Weighed<'_>| match series.free {
            Some(_) => Spectrum { re: Vec::new(), im: Vec::new() },
            None => Spectrum { re: plan.make_output_vec(), im: plan.make_output_vec() },
        };
        Self {
            phases: Vec::new(),
            values: series.iter().map(|series| vec![nothing; times(series)]).collect(),
            spectra: series.iter().map(spectrum).collect(),
            padded: plan.make_input_vec(),
            scratch: plan.make_scratch_vec(),
            row: Vec::new(),
        }
    }
}

/// Values of `z` that are taken together.
const LANES: usize = 8;
/// Steps from which on a walk is long.
const LONG: usize = 2000;
/// `r^N`, what is folded from longer walks.
const FOLDED: f64 = 1e-9;
