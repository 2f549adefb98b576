//! What a view reveals: one report for every linear Gaussian protocol.
//!
//! With `R` the rows of the view over the noises that its owner does not know and `b_u` its column
//! over input `u`, two inputs of `u` at distance `Δ` give Gaussians of equal covariance `σ² R Rᵀ` and
//! mean difference `Δ b_u`, hence the Rényi loss `c₀ · b_uᵀ (R Rᵀ)⁺ b_u` with `c₀ = α Δ² / (2σ²)` at
//! every order `α`: the unit loss is `b_uᵀ (R Rᵀ)⁺ b_u`.
//!
//! Every loss comes as an enclosure that is a proof: entries are exact numbers, which rows are new is decided
//! modulo primes drawn from a hash of the view, and the error of the arithmetic is bounded by a recurrence
//! that is computed along with it (`docs/theory.md`, "Certified losses"). The lower end holds
//! unconditionally. The upper end holds except with probability [`failure`](LossReport::failure) over the
//! primes.
//!
//! # References
//! - Cyffers, Even, Bellet, Massoulié, *Muffliato*, NeurIPS 2022, arXiv:2206.05091: the protocols; its
//!   Theorem 1 adds up the losses of single messages instead, which is no bound.

use crate::view::checked_source;
use crate::{By, Error, View};
use ndp_certify::account::{self, Budget, Certificate, WIDTH};
use ndp_certify::enclosure::width;
use ndp_certify::rows::{Given, Rows};
use ndp_dp::{Exact, Grade, Guarantee, ObserverLoss, UnitLoss, UpperBound};
use ndp_numeric::rounding::Interval;
use ndp_numeric::stop::Stop;
use serde::Serialize;

/// What a coalition (often a single node) learns about every node, and how precisely that is known.
///
/// # Examples
/// ```
/// use ndp_account::LinearProtocol;
/// use ndp_account::example::Gossip;
/// use ndp_graph::{GossipMatrix, generators::cycle_graph};
/// let report = Gossip::new(GossipMatrix::metropolis(&cycle_graph(8)?), 2).coalition_loss(&[0])?;
/// let (low, high) = report.enclosure(2)?;
/// assert!(low <= report.unit(2)?.value().get() && high - low <= 1e-9 && report.failure < 1e-20);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LossReport {
    /// The nodes that pool their views, ascending; none for an outsider.
    pub coalition: Vec<usize>,
    /// Unit loss of every node towards the coalition, the upper end of its enclosure; `observer` is the
    /// coalition's first node (for an outsider `usize::MAX`). `Exact` where no enclosure is wider than
    /// `1e-9`, absolute up to a loss of 1 and relative above it. The entries of members whose noise is known
    /// are 1.
    pub loss: Guarantee<ObserverLoss>,
    /// The lower ends of the enclosures, in the same order: proven without any prime.
    pub lower: Vec<f64>,
    /// Dimension of the space that the coalition sees, its known noises included. For protocols
    /// with one noise per input the unit losses of all nodes, members included, add up to it.
    pub rank: usize,
    /// The number of bits of the arithmetic that the enclosures needed: 53 for `f64`, more for fixed point,
    /// and 0 if no arithmetic was needed.
    pub bits: u32,
    /// An upper bound on the probability, over primes drawn from a hash of the view, that an upper end or the
    /// rank is too small. 0 if the answer does not depend on primes. For several reports together, the sum.
    pub failure: f64,
    /// The engine that computed the losses, and its theorem; `None` if they follow from a formula of the
    /// protocol, whose [terms](crate::Terms) name it.
    #[serde(skip)]
    pub by: Option<By>,
    /// Both ends of the sum of the losses outside the coalition, if they are known more precisely than by
    /// adding up enclosures.
    #[serde(skip)]
    total: Option<(f64, f64)>,
}

impl LossReport {
    /// A report on losses that follow from a formula, without a view. `rank` is the dimension of the space
    /// that the observer sees.
    #[must_use]
    pub fn of_formula(coalition: Vec<usize>, loss: Guarantee<ObserverLoss>, rank: usize) -> Self {
        let lower = match &loss {
            Guarantee::Exact(loss) => loss.value().unit.clone(),
            Guarantee::UpperBound(loss) => vec![0.0; loss.value().unit.len()],
        };
        Self { coalition, loss, lower, rank, bits: 0, failure: 0.0, by: None, total: None }
    }

    /// A report on `coalition` (ascending) from a certificate that an engine computed; the entries of members
    /// are 1 if `members_known`.
    #[doc(hidden)]
    #[must_use]
    pub fn new(coalition: Vec<usize>, certificate: Certificate, members_known: bool, by: By) -> Self {
        let Certificate { mut lower, mut upper, rank, bits, failure, total, certified } = certificate;
        let exact = certified && lower.iter().zip(&upper).all(|(&low, &high)| width(low, high) <= WIDTH);
        // All losses add up to the rank. The members' losses to themselves are enclosed and subtracted. The
        // difference may be much smaller than both numbers, so every operation is rounded outward.
        let members = |ends: &[f64]| coalition.iter().map(|&v| Interval::new(ends[v])).sum::<Interval>();
        let total = total.map(|total| Interval::count(total as u64)).map(|total| match members_known {
            true => (total.low(), total.high()),
            false => ((total - members(&upper)).low().max(0.0), (total - members(&lower)).high().max(0.0)),
        });
        if members_known {
            coalition.iter().for_each(|&v| (lower[v], upper[v]) = (1.0, 1.0));
        }
        let observer = coalition.first().copied().unwrap_or(usize::MAX);
        let loss = ObserverLoss { observer, unit: upper };
        let loss = if exact { Exact::new(loss).into() } else { UpperBound::new(loss).into() };
        Self { coalition, loss, lower, rank, bits, failure, by: Some(by), total }
    }

    /// What the loss of node `source` is worth alone: `Exact` if both ends agree to a relative `1e-9`. An
    /// absolute width says little of a loss far below 1, of which small noise makes a large `ε`.
    fn grade_of(&self, source: usize) -> Grade {
        let (low, high) = (self.lower[source], self.loss.value().unit[source]);
        if high - low <= WIDTH * high { self.loss.grade() } else { Grade::UpperBound }
    }

    /// What all losses outside the coalition are worth: `Exact` if each is, to a relative `1e-9`.
    #[must_use]
    pub fn grade(&self) -> Grade {
        let outside = (0..self.lower.len()).filter(|u| self.coalition.binary_search(u).is_err());
        outside.map(|u| self.grade_of(u)).max().unwrap_or(self.loss.grade())
    }

    /// The upper end of the enclosure of the unit loss of node `source`, `Exact` if both ends agree to a
    /// relative `1e-9`. It is above 1 if the view reveals more than one noisy value does.
    ///
    /// # Errors
    /// [`Error::NodeOutOfRange`]; [`Error::SourceIsObserver`] for a member of the coalition.
    pub fn unit(&self, source: usize) -> Result<Guarantee<UnitLoss>, Error> {
        let (_, upper) = self.enclosure(source)?;
        let unit = UnitLoss::of_releases(upper)?;
        Ok(match self.grade_of(source) {
            Grade::Exact => Exact::new(unit).into(),
            _ => UpperBound::new(unit).into(),
        })
    }

    /// Both proven ends of the unit loss of node `source`.
    ///
    /// # Errors
    /// [`Error::NodeOutOfRange`]; [`Error::SourceIsObserver`] for a member of the coalition.
    pub fn enclosure(&self, source: usize) -> Result<(f64, f64), Error> {
        let units = &self.loss.value().unit;
        checked_source(source, &self.coalition, units.len())?;
        Ok((self.lower[source], units[source]))
    }

    /// The mean unit loss `(1/n) Σ_{u outside} unit(u)` over the nodes outside the coalition, divided, as in
    /// the papers, by the number `n` of all nodes. It is the upper end of an enclosure.
    ///
    /// `Exact` if both ends agree to a relative `1e-9`. If every input has one noise and the coalition knows
    /// its own noises, the mean is `(rank - |C|) / n`, without floating-point errors.
    #[must_use]
    pub fn mean(&self) -> Guarantee<f64> {
        let units = &self.loss.value().unit;
        let n = units.len() as f64;
        let (low, high) = self.total.unwrap_or_else(|| {
            let outside = |u: &usize| self.coalition.binary_search(u).is_err();
            let sum = |ends: &[f64]| (0..ends.len()).filter(outside).map(|u| ends[u]).sum::<f64>();
            // All terms are nonnegative.
            let room = units.len() as f64 * f64::EPSILON;
            (sum(&self.lower) * (1.0 - room), sum(units) * (1.0 + room))
        });
        let (low, high) = if low == high {
            (low / n * (1.0 - SUM), quotient_up(high, n))
        } else {
            // A quotient below the normal range may have lost digits, so a relative factor does not round it
            // up.
            (low / n * (1.0 - SUM), (high / n * (1.0 + SUM)).max(f64::MIN_POSITIVE))
        };
        if high - low <= WIDTH * high { Exact::new(high).into() } else { UpperBound::new(high).into() }
    }
}

/// The unit loss of every node towards the owner of `view`, as a proven enclosure.
///
/// The entries of a [`View`] made by [`View::new`] are exact: each is the dyadic fraction that it stores. In
/// a view made by a protocol of this workspace the entries are roundings, and the losses come from the
/// protocol's exact steps. The losses are `Exact` if the enclosures are at most `1e-9` wide, otherwise the
/// proven upper ends as `UpperBound`. If the noise column of an input equals its input column (every input
/// has a noise of its own), the unit loss is at most 1, and larger upper ends are cut to 1.
///
/// # Errors
/// [`ndp_certify::Error::NoiselessView`] if some combination of rows reveals an input outside the coalition
/// without noise; [`ndp_certify::Error::TooLarge`] beyond the memory limit;
/// [`ndp_certify::Error::NotCertified`] if no enclosure is found within the precision limit and some input
/// has no noise of its own that bounds its loss.
///
/// # Complexity
/// `O(r² (m + n))` for `r` rows over `m` noises and `n` inputs, times the limbs of the precision that the
/// view needs.
pub fn exact_loss(view: &View) -> Result<LossReport, Error> {
    exact_loss_until(view, &Stop::never())
}

/// The same, no longer than `stop` says.
///
/// # Errors
/// Those of [`exact_loss`]; [`Error::Stopped`].
pub(crate) fn exact_loss_until(view: &View, stop: &Stop) -> Result<LossReport, Error> {
    let budget = Budget::until(stop);
    let known = !view.known_noises().is_empty();
    let certificate = match view.source() {
        Some(source) => source.certificate(budget)?,
        None => {
            let rows = Given::new(view.inputs(), view.noises(), view.known_noises(), view.coalition());
            let rows = Rows::Given(rows);
            account::of_rows(&rows, budget)?
        }
    };
    let by = By { function: "ndp_account::loss::exact_loss", theorem: "Certified losses" };
    Ok(LossReport::new(view.coalition().to_vec(), certificate, known, by))
}

/// `a / b` of two whole numbers, rounded up.
pub fn quotient_up(a: f64, b: f64) -> f64 {
    let quotient = a / b;
    // The remainder of a correctly rounded quotient is exact.
    if quotient.mul_add(b, -a) < 0.0 { quotient.next_up() } else { quotient }
}

/// A factor that covers the rounding errors of a few operations.
const SUM: f64 = 16.0 * f64::EPSILON;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Terms;
    use approx::assert_abs_diff_eq;
    use ndarray::{Array2, array};

    /// Path 0-1-2, weights 1/(max degree + 1), two rounds: node 2 receives x₁ and the mean of all.
    fn path_rows() -> Array2<f64> {
        array![[0.0, 1.0, 0.0], [1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0]]
    }

    #[test]
    fn own_noise_decides_the_loss_on_a_path() -> Result<(), Error> {
        let unknown = exact_loss(&View::new(&[2], path_rows(), path_rows(), &[])?)?;
        assert_eq!(unknown.rank, 2);
        for (unit, expected) in unknown.loss.value().unit.iter().zip([0.5, 1.0, 0.5]) {
            assert_abs_diff_eq!(*unit, expected, epsilon = 1e-13);
        }
        let known = exact_loss(&View::new(&[2], path_rows(), path_rows(), &[2])?)?;
        assert_eq!(known.rank, 3);
        assert_eq!(known.loss.grade(), ndp_dp::Grade::Exact);
        for unit in &known.loss.value().unit {
            assert_abs_diff_eq!(*unit, 1.0, epsilon = 1e-13);
        }
        Ok(())
    }

    /// A message with noise of half the strength costs four times as much.
    #[test]
    fn weaker_noise_costs_more() -> Result<(), Error> {
        let report = exact_loss(&View::new(&[1], array![[1.0, 0.0]], array![[0.5]], &[])?)?;
        assert_abs_diff_eq!(report.loss.value().unit[0], 4.0, epsilon = 1e-12);
        assert_abs_diff_eq!(report.unit(0)?.value().get(), 4.0, epsilon = 1e-12);
        assert_eq!(report.unit(1), Err(Error::SourceIsObserver(1)));
        Ok(())
    }

    #[test]
    fn an_input_without_noise_is_an_error() -> Result<(), Error> {
        // The difference of the rows is x₀ alone.
        let view = View::new(&[1], array![[1.0, 1.0], [0.0, 1.0]], array![[1.0], [1.0]], &[])?;
        assert_eq!(exact_loss(&view), Err(Error::Certify(ndp_certify::Error::NoiselessView(0))));
        Ok(())
    }

    #[test]
    fn a_repeated_row_adds_nothing() -> Result<(), Error> {
        let rows = array![[0.5, 0.5, 0.0], [0.5, 0.5, 0.0]];
        let report = exact_loss(&View::new(&[2], rows.clone(), rows, &[])?)?;
        assert_eq!(report.rank, 1);
        assert_abs_diff_eq!(report.loss.value().unit[0], 0.5, epsilon = 1e-13);
        assert_abs_diff_eq!(*report.mean().value(), 1.0 / 3.0, epsilon = 1e-13);
        Ok(())
    }

    #[test]
    fn bad_views_are_refused() {
        let one = array![[1.0, 0.0]];
        assert_eq!(View::new(&[], one.clone(), one.clone(), &[]), Err(Error::EmptyCoalition));
        assert_eq!(View::new(&[0, 0], one.clone(), one.clone(), &[]), Err(Error::RepeatedMember(0)));
        assert!(matches!(View::new(&[2], one.clone(), one.clone(), &[]), Err(Error::NodeOutOfRange { .. })));
        assert!(matches!(View::new(&[0], one.clone(), array![[1.0], [2.0]], &[]), Err(Error::Shape { .. })));
        assert!(matches!(
            View::new(&[0], one.clone(), array![[f64::NAN]], &[]),
            Err(Error::InvalidParameter { .. })
        ));
        assert!(matches!(View::new(&[0], one.clone(), one, &[2]), Err(Error::InvalidParameter { .. })));
    }

    fn certificate(lower: [f64; 3], upper: [f64; 3], total: Option<usize>) -> Certificate {
        let (lower, upper) = (lower.to_vec(), upper.to_vec());
        Certificate { lower, upper, rank: 3, bits: 53, failure: 0.0, total, certified: true }
    }

    /// All losses add up to 3, and node 0 has between .25 and .5 of it. So the others have between 2.5 and
    /// 2.75.
    #[test]
    fn what_members_lose_is_taken_off_the_rank() {
        let wide = certificate([0.25, 0.0, 0.0], [0.5, 3.0, 3.0], Some(3));
        let mean = LossReport::new(vec![0], wide, false, Terms::VALUES.by).mean();
        assert_eq!(mean.grade(), ndp_dp::Grade::UpperBound);
        assert!((2.75 / 3.0..2.75 / 3.0 + 1e-12).contains(mean.value()));
        // The amount to subtract is less than an epsilon of the rank; rounding must not subtract more.
        let tiny = certificate([1e-17, 0.0, 0.0], [1e-17, 3.0, 3.0], Some(3));
        assert!(*LossReport::new(vec![0], tiny, false, Terms::VALUES.by).mean().value() >= 1.0);
        let known = certificate([1.0; 3], [1.0; 3], Some(2));
        let mean = LossReport::new(vec![0], known, true, Terms::VALUES.by).mean();
        assert_eq!((mean.grade(), mean.value().mul_add(3.0, -2.0) >= 0.0), (ndp_dp::Grade::Exact, true));
    }

    /// Grades follow from the widths of the enclosures, and a node that does not exist has no loss.
    #[test]
    fn grades_are_those_of_the_enclosures() -> Result<(), Error> {
        for (width, exact) in [(1e-10, true), (1e-3, false)] {
            let found = certificate([1.0, 0.5, 0.5], [1.0, 0.5 + width, 0.5], None);
            let report = LossReport::new(vec![0], found, true, Terms::VALUES.by);
            assert_eq!(report.unit(1)?.grade() == ndp_dp::Grade::Exact, exact);
            assert_eq!(report.grade(), report.unit(1)?.grade());
            assert_eq!(report.loss.grade() == ndp_dp::Grade::Exact, exact);
            assert_eq!(report.mean().grade() == ndp_dp::Grade::Exact, exact);
            assert_eq!(report.unit(3), Err(Error::NodeOutOfRange { node: 3, nodes: 3 }));
        }
        Ok(())
    }

    /// Between 0 and `10^-23` nothing is known exactly, however narrow that is beside a loss of 1.
    #[test]
    fn a_tiny_loss_is_exact_to_nine_digits_or_a_bound() -> Result<(), Error> {
        let found = certificate([1.0, 0.5, 0.0], [1.0, 0.5, 1e-23], None);
        let report = LossReport::new(vec![0], found, true, Terms::VALUES.by);
        assert_eq!([report.unit(1)?.grade(), report.unit(2)?.grade()], [Grade::Exact, Grade::UpperBound]);
        assert_eq!((report.loss.grade(), report.grade()), (Grade::Exact, Grade::UpperBound));
        Ok(())
    }

    /// The sum of 1 and a hundred halves of an epsilon, which is 1 if it is added up in floats.
    #[test]
    fn sums_of_many_terms_are_rounded_up() {
        let mut unit = vec![f64::EPSILON / 2.0; 101];
        unit[0] = 1.0;
        let loss = ObserverLoss { observer: usize::MAX, unit };
        let exact = LossReport::of_formula(Vec::new(), Exact::new(loss.clone()).into(), 101);
        let mean = exact.mean();
        assert_eq!((exact.bits, mean.grade()), (0, ndp_dp::Grade::Exact));
        assert!(mean.value() * 101.0 >= 1.0 + 50.0 * f64::EPSILON);
        let bound = LossReport::of_formula(Vec::new(), UpperBound::new(loss).into(), 101);
        assert_eq!((bound.lower[0], bound.mean().grade()), (0.0, ndp_dp::Grade::UpperBound));
    }

    #[test]
    fn quotients_are_the_next_float_above() {
        assert_eq!(quotient_up(6.0, 3.0), 2.0);
        for (a, b) in [(1.0, 3.0), (2.0, 3.0), (1.0, 10.0), (7.0, 11.0)] {
            let up = quotient_up(a, b);
            assert!(up.mul_add(b, -a) > 0.0 && up.next_down().mul_add(b, -a) < 0.0, "{a}/{b}");
        }
    }
}
