//! Design of noise: the strengths of a program's noises for which its error is smallest under limits on what
//! observers learn.
//!
//! Noises come in groups, each with a strength `v_k ≥ 0` that multiplies the variances of its members: rounds
//! of a schedule, own noise and masks, or noise shared between two steps. The covariance of what is seen is
//! `S(v) = Σ_k v_k S_k`, the error is `Σ_k e_k v_k`, and the loss of a pair, `bᵀ S(v)⁺ b`, is convex in `v`.
//! The problem
//!
//! ```text
//! minimise Σ_k e_k v_k   such that   the losses of all pairs, or their mean, are at most q,   v ≥ floors
//! ```
//!
//! is therefore convex. Any attacks `y` give a cut, which excludes strengths that are not allowed: a loss of
//! at most `q` needs `yᵀ S(v) y ≥ (yᵀ b)² / q`, and a mean of at most `q` over pairs needs `mean yᵀ S(v) y ≥
//! Q² / q` if the `y = S⁻¹ b` were found at a mean of `Q`. Both conditions are linear in `v`, so that the
//! best strengths under the cuts found so far are the solution of a linear program. Its dual is a
//! *certificate*: up to rounding, no strengths have a smaller error. New cuts are computed at points between
//! this solution and the best strengths known so far. In the end the account of the program with these
//! strengths is made, and they are scaled until it meets the limit: losses scale as `1/v`.

mod cuts;
mod packing;

use crate::build::{Program, Value};
use crate::observers::Seen;
use crate::options::AccountOptions;
use crate::registers::Primitive;
use crate::sensitivity::SensitivitySet;
use crate::weight::float;
use crate::{Dependence, NodeVerdict, ProgramError};
use cuts::{Cut, Seeing};
use ndarray::{Array1, Array2};
use ndp_account::{Error, Observer};
use ndp_dp::UpperBound;
use ndp_numeric::stop::Stop;
use num_rational::BigRational;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What may be learned, in units of `μ²` (twice the Rényi loss over its order).
///
/// # Examples
/// ```
/// use ndp_program::design::{Design, DesignStopping, Limit};
/// use ndp_account::Observer;
/// use ndp_program::{Program, Reads, SensitivitySet};
/// // Both nodes publish their values, in order to compute the mean.
/// let mut program = Program::new(2)?;
/// let (x, z) = (program.contribute_all(Reads::Nothing)?, program.noise_all(1)?);
/// let y = program.add_all(&x, &z)?;
/// program.broadcast_all(&y)?;
/// let mean = program.combine([((1, 2), y[0]), ((1, 2), y[1])])?;
/// program.result([(0, mean), (1, mean)])?;
/// let design = Design::new(&program, &[vec![z[0]], vec![z[1]]])?;
/// let pairs = [(Observer::node(0), vec![1]), (Observer::node(1), vec![0])];
/// let strengths = |limit| {
///     let found = design.solve(&pairs, &SensitivitySet::UseLevel, limit, DesignStopping::default());
///     found.map(|found| found.strengths)
/// };
/// // A loss of 1/4 is a variance of 4.
/// assert!(strengths(Limit::Worst(0.25))?.iter().all(|strength| (strength - 4.0).abs() < 0.01));
/// assert!(strengths(Limit::Mean(0.25))?.iter().all(|strength| (strength - 4.0).abs() < 0.1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Limit {
    /// By every observer, about each of its sources.
    Worst(f64),
    /// On average, over all observers and their sources.
    Mean(f64),
}

/// When a search for strengths stops.
///
/// # Examples
/// ```
/// use ndp_program::design::DesignStopping;
/// let quick = DesignStopping { tolerance: 0.05, ..DesignStopping::default() };
/// assert_eq!((quick.tolerance, quick.steps), (0.05, 300));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DesignStopping {
    /// When the error is within this factor (minus 1) of its lower bound.
    pub tolerance: f64,
    /// After this many steps in any case.
    pub steps: usize,
}

impl Default for DesignStopping {
    /// Within a thousandth, or 300 steps.
    fn default() -> Self {
        Self { tolerance: 1e-3, steps: 300 }
    }
}

/// A program whose noises have free strengths.
///
/// # Examples
/// ```
/// use ndp_program::design::{Design, DesignStopping, Limit};
/// use ndp_account::Observer;
/// use ndp_program::{Program, Reads, SensitivitySet};
/// // Both nodes publish their values, in order to compute the mean.
/// let mut program = Program::new(2)?;
/// let (x, z) = (program.contribute_all(Reads::Nothing)?, program.noise_all(1)?);
/// let y = program.add_all(&x, &z)?;
/// program.broadcast_all(&y)?;
/// let mean = program.combine([((1, 2), y[0]), ((1, 2), y[1])])?;
/// program.result([(0, mean), (1, mean)])?;
/// let mut design = Design::new(&program, &[vec![z[0]], vec![z[1]]])?;
/// let pairs = [(Observer::node(0), vec![1]), (Observer::node(1), vec![0])];
/// design.floors = vec![9.0, 0.0];
/// let stopping = DesignStopping::default();
/// let found = design.solve(&pairs, &SensitivitySet::UseLevel, Limit::Worst(0.25), stopping)?;
/// assert!((found.strengths[0] - 9.0).abs() < 0.01 && (found.strengths[1] - 4.0).abs() < 0.01);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Design {
    program: Program,
    /// The group of every noise.
    of_noise: Vec<usize>,
    /// What a unit of each strength adds to the mean squared error.
    shares: Vec<f64>,
    /// A price for a unit of each strength, in addition to its share of the mean squared error; 0 by default.
    /// Masks that cancel add nothing to the error, and without a price they would grow without limit.
    pub prices: Vec<f64>,
    /// A least value for each strength; 0 by default.
    pub floors: Vec<f64>,
}

/// The strengths found, and how good they are.
///
/// # Examples
/// ```
/// use ndp_program::design::{Design, DesignStopping, Limit};
/// use ndp_account::Observer;
/// use ndp_program::{Program, Reads, SensitivitySet};
/// // Both nodes publish their values, in order to compute the mean.
/// let mut program = Program::new(2)?;
/// let (x, z) = (program.contribute_all(Reads::Nothing)?, program.noise_all(1)?);
/// let y = program.add_all(&x, &z)?;
/// program.broadcast_all(&y)?;
/// let mean = program.combine([((1, 2), y[0]), ((1, 2), y[1])])?;
/// program.result([(0, mean), (1, mean)])?;
/// let design = Design::new(&program, &[vec![z[0]], vec![z[1]]])?;
/// let pairs = [(Observer::node(0), vec![1]), (Observer::node(1), vec![0])];
/// let stopping = DesignStopping::default();
/// let found = design.solve(&pairs, &SensitivitySet::UseLevel, Limit::Worst(0.25), stopping)?;
/// // The program has these strengths, its account has this loss, and no strengths cost much less.
/// let loss = found.program.account(&Observer::node(0))?.loss(1, &SensitivitySet::UseLevel)?;
/// assert!((loss.value() - found.loss.value()).abs() < 1e-9 && *found.loss.value() <= 0.25);
/// assert!(found.lower_bound <= found.cost && found.cost <= 1.01 * found.lower_bound);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Designed {
    /// The program with these strengths.
    pub program: Program,
    /// One strength for every group.
    pub strengths: Vec<f64>,
    /// Their cost: the share of the noise in the mean squared error, plus prices.
    pub cost: f64,
    /// A lower bound on the cost of all strengths that meet the limit and the floors, in floating point.
    pub lower_bound: f64,
    /// The worst or the mean loss, by the accounts.
    pub loss: UpperBound<f64>,
    /// What contributions were taken to depend on, by the account that rests on the weakest assumption.
    pub reads: Dependence,
    /// An upper bound on the probability that one of the accounts is too small.
    pub failure: f64,
    /// The number of steps taken.
    pub steps: usize,
}

/// The losses of an account, what contributions were taken to depend on, and the failure probability.
type Found = (Vec<f64>, Dependence, f64);

impl Design {
    /// The program with one strength for each group, which consists of the noises in the values of the group.
    /// Every noise must belong to exactly one group. The results of nodes must be [stated](Program::result).
    ///
    /// # Errors
    /// [`ProgramError::Design`] for a value that contains a contribution, and for a noise in no group or in
    /// two; [`ProgramError::UnknownValue`]; [`Error::NotOffered`] if the program has no result.
    pub fn new(program: &Program, groups: &[Vec<Value>]) -> Result<Self, Error> {
        let refuse = |problem: String| Error::from(ProgramError::Design(problem));
        let mut of_noise: Vec<Option<usize>> = vec![None; program.noises.len()];
        for (k, group) in groups.iter().enumerate() {
            for &value in group {
                for (primitive, _) in program.form(program.check(value)?) {
                    let Primitive::Noise(z) = primitive else {
                        return Err(refuse(format!("value {} of group {k} is no noise", value.index())));
                    };
                    if of_noise[z].is_some_and(|known| known != k) {
                        return Err(refuse(format!("noise {z} belongs to two groups")));
                    }
                    of_noise[z] = Some(k);
                }
            }
        }
        if let Some(z) = of_noise.iter().position(Option::is_none) {
            return Err(refuse(format!("noise {z} belongs to no group")));
        }
        let of_noise: Vec<usize> = of_noise.into_iter().flatten().collect();
        let mut shares = vec![0.0; groups.len()];
        for (&k, weight) in of_noise.iter().zip(program.noise_shares()?) {
            shares[k] += weight;
        }
        let none = vec![0.0; groups.len()];
        let (prices, floors) = (none.clone(), none);
        Ok(Self { program: program.clone(), of_noise, shares, prices, floors })
    }

    /// The strengths of least cost, up to the tolerance, for which what the observers learn about their
    /// sources is within the limit. The problem is convex, and the answer comes with a lower bound on the
    /// cost of all strengths.
    ///
    /// # Errors
    /// [`ProgramError::Design`] for a wrong number of prices or floors, or one that is negative or not
    /// finite, if a strength costs nothing, if the limit is not positive and finite, or if the set is neither
    /// [`SensitivitySet::UseLevel`] nor [`SensitivitySet::SameDirection`];
    /// [`ndp_certify::Error::NoiselessView`] if no strengths help; those of the account.
    pub fn solve(
        &self,
        pairs: &[(Observer, Vec<usize>)],
        set: &SensitivitySet,
        limit: Limit,
        stopping: DesignStopping,
    ) -> Result<Designed, Error> {
        let refuse = |problem: &str| Error::from(ProgramError::Design(problem.to_owned()));
        let (Limit::Worst(allowed) | Limit::Mean(allowed)) = limit;
        if !(0.0 < allowed && allowed.is_finite()) {
            return Err(refuse("the limit must be positive and finite"));
        }
        let prices = self.program.checked(&self.prices, self.shares.len())?;
        let floors = self.program.checked(&self.floors, self.shares.len())?;
        let costs: Vec<f64> = self.shares.iter().zip(prices).map(|(share, price)| share + price).collect();
        if let Some(k) = costs.iter().position(|cost| *cost <= 0.0) {
            return Err(refuse(&format!("strength {k} costs nothing: give it a price")));
        }
        let seen = pairs
            .par_iter()
            .map(|(observer, sources)| self.seeing(observer, sources, set))
            .collect::<Result<Vec<_>, Error>>()?;
        // A source that is not seen at all is a pair with loss 0.
        let count: usize = pairs.iter().map(|(_, sources)| sources.len()).sum();
        let changes: usize = seen.iter().map(|seen| seen.changes.ncols()).sum();
        if matches!(limit, Limit::Mean(_)) && changes > count {
            return Err(refuse("a mean is designed for one use of a node, or all in the same direction"));
        }
        if changes == 0 {
            return Err(refuse("there is no pair to protect"));
        }
        let mut program = packing::Packing::new(costs.clone());
        for (k, &floor) in floors.iter().enumerate().filter(|(_, floor)| **floor > 0.0) {
            let mut unit = vec![0.0; floors.len()];
            unit[k] = 1.0 / floor;
            program.require(unit);
        }
        let cost = |v: &[f64]| v.iter().zip(&costs).map(|(v, c)| v * c).sum::<f64>();
        // The best strengths found so far, scaled to the limit.
        let mut best: Vec<f64> = floors.iter().map(|&floor| floor.max(1.0)).collect();
        let mut known = f64::INFINITY;
        let (mut lower, mut steps) = (0.0_f64, 0);
        let mut at = best.clone();
        for step in 0..=stopping.steps {
            steps = step;
            let cuts: Vec<Cut> =
                seen.par_iter().map(|seen| seen.cuts(&at)).collect::<Result<Vec<_>, Error>>()?.concat();
            let loss = limit.loss(&cuts, count);
            if !loss.is_finite() {
                return Err(refuse("losses are too large for these strengths"));
            }
            let scaled = self.scaled(&at, loss / allowed);
            if cost(&scaled) < known {
                (known, best) = (cost(&scaled), scaled);
            }
            limit.requirements(&cuts, loss, count).into_iter().for_each(|a| program.require(a));
            let (strengths, bound) = program.solve();
            lower = lower.max(bound);
            if known <= lower * (1.0 + stopping.tolerance) || known == 0.0 {
                break;
            }
            // The next point is between the two, where no strength vanishes.
            at = best.iter().zip(&strengths).map(|(a, b)| 0.5 * (a + b)).collect();
        }
        self.certified(pairs, set, limit, (best, lower, steps))
    }

    /// Strengths times a factor, but not below the floors.
    fn scaled(&self, strengths: &[f64], by: f64) -> Vec<f64> {
        let least =
            strengths.iter().zip(&self.floors).map(|(v, floor)| if *floor > 0.0 { floor / v } else { 0.0 });
        let by = least.fold(by, f64::max);
        strengths.iter().map(|v| v * by).collect()
    }

    /// The answer, by the account of the program with these strengths, which are scaled until it meets the
    /// limit.
    fn certified(
        &self,
        pairs: &[(Observer, Vec<usize>)],
        set: &SensitivitySet,
        limit: Limit,
        (mut strengths, lower_bound, steps): (Vec<f64>, f64, usize),
    ) -> Result<Designed, Error> {
        let (Limit::Worst(allowed) | Limit::Mean(allowed)) = limit;
        for _ in 0..4 {
            let program = self.with(&strengths)?;
            let of = |(observer, sources): &(Observer, Vec<usize>)| -> Result<Found, Error> {
                let options = AccountOptions { nodes: Some(sources.clone()), ..AccountOptions::default() };
                let account = program.account_with(observer, &options)?;
                let loss = |&u: &usize| match account.verdict(u, set)? {
                    NodeVerdict::Bounded(loss) if loss.value() < f64::INFINITY => Ok(loss.value()),
                    _ => Err(Error::Certify(ndp_certify::Error::NoiselessView(u))),
                };
                let losses = sources.iter().map(loss).collect::<Result<_, _>>()?;
                Ok((losses, account.adaptivity, account.failure))
            };
            let found: Vec<Found> = pairs.par_iter().map(of).collect::<Result<_, _>>()?;
            let reads = found.iter().map(|(_, reads, _)| *reads).fold(Dependence::Fixed, Dependence::with);
            // Rounded up, as the mean is.
            let failure = found.iter().fold(0.0_f64, |sum, (.., failure)| (sum + failure).next_up()).min(1.0);
            let failure = if found.iter().all(|(.., failure)| *failure == 0.0) { 0.0 } else { failure };
            let losses: Vec<f64> = found.into_iter().flat_map(|(losses, ..)| losses).collect();
            let loss = match limit {
                Limit::Worst(_) => losses.iter().fold(0.0, |m: f64, &x| m.max(x)),
                // Rounded up.
                Limit::Mean(_) => {
                    let sum: f64 = losses.iter().sum();
                    sum * (1.0 + (losses.len() + 4) as f64 * f64::EPSILON) / losses.len() as f64
                }
            };
            if loss <= allowed {
                let costs = self.shares.iter().zip(&self.prices);
                let cost = strengths.iter().zip(costs).map(|(v, (share, price))| v * (share + price)).sum();
                let loss = UpperBound::new(loss);
                return Ok(Designed { program, strengths, cost, lower_bound, loss, reads, failure, steps });
            }
            strengths = self.scaled(&strengths, loss / allowed * (1.0 + 1e-12));
        }
        Err(ProgramError::Design("no strengths were found that the account confirms".to_owned()).into())
    }

    /// The program with these strengths.
    fn with(&self, strengths: &[f64]) -> Result<Program, Error> {
        let mut program = self.program.clone();
        for (noise, &k) in Arc::make_mut(&mut program.noises).iter_mut().zip(&self.of_noise) {
            let factor = BigRational::from_float(strengths[k]);
            noise.variance *=
                factor.ok_or(ProgramError::NotFinite { what: "a strength", value: strengths[k] })?;
        }
        Ok(program)
    }

    fn seeing(&self, observer: &Observer, sources: &[usize], set: &SensitivitySet) -> Result<Seeing, Error> {
        let program = &self.program;
        let seen = Seen::new(program, observer, &BTreeMap::new(), &Stop::never())?;
        let (mut noises, mut uses) = (BTreeMap::new(), BTreeMap::new());
        for (primitive, _) in seen.rows.iter().flat_map(|row| &row.form) {
            let of_kind = match primitive {
                Primitive::Noise(_) => &mut noises,
                Primitive::Contribution(_) => &mut uses,
            };
            let next = of_kind.len();
            of_kind.entry(*primitive).or_insert(next);
        }
        let mut groups = vec![0; noises.len()];
        let mut rows = Array2::zeros((seen.rows.len(), noises.len()));
        let mut columns: BTreeMap<(usize, usize), Array1<f64>> = BTreeMap::new();
        for (r, row) in seen.rows.iter().enumerate() {
            for (primitive, x) in &row.form {
                match primitive {
                    Primitive::Noise(z) => {
                        let at = noises[primitive];
                        groups[at] = self.of_noise[*z];
                        rows[(r, at)] = float(x) * float(&program.noises[*z].variance).sqrt();
                    }
                    Primitive::Contribution(k) => {
                        let contribution = &program.contributions[*k];
                        if !sources.contains(&contribution.node) {
                            continue;
                        }
                        let column = match set {
                            SensitivitySet::UseLevel => contribution.index + 1,
                            SensitivitySet::SameDirection => 0,
                            _ => {
                                let problem =
                                    "strengths are designed for one use, or for all in the same direction";
                                return Err(ProgramError::Design(problem.to_owned()).into());
                            }
                        };
                        let change = columns.entry((contribution.node, column));
                        change.or_insert_with(|| Array1::zeros(seen.rows.len()))[r] += float(x);
                    }
                }
            }
        }
        let mut changes = Array2::zeros((seen.rows.len(), columns.len()));
        for (mut to, column) in changes.columns_mut().into_iter().zip(columns.values()) {
            to.assign(column);
        }
        Ok(Seeing { noises: rows, groups, changes })
    }
}

impl Program {
    /// Checks numbers that are given for the strengths of a design.
    fn checked<'a>(&self, numbers: &'a [f64], groups: usize) -> Result<&'a [f64], Error> {
        let problem = match numbers.iter().find(|x| !(0.0 <= **x && x.is_finite())) {
            Some(x) => format!("{x} is negative or not finite"),
            None if numbers.len() != groups => {
                format!("{} numbers are given, and the number of groups is {groups}", numbers.len())
            }
            None => return Ok(numbers),
        };
        Err(ProgramError::Design(problem).into())
    }

    /// The noises, in order of time.
    #[must_use]
    pub fn noises(&self) -> Vec<Value> {
        self.noises.iter().filter_map(|noise| u32::try_from(noise.value).ok().map(Value)).collect()
    }
}
