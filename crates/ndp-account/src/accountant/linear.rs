//! Linear Gaussian protocols: their account is a loss report, their attack the likelihood ratio.

use super::uniform::Uniform;
use super::{Account, Attacker, Observer, Protocol, Senders};
use crate::attack::Attack;
use crate::error::ensure;
use crate::{Assumption, Error, LinearProtocol, LossReport, OwnNoise, Terms};
use ndarray::Array2;
use ndp_dp::{Exact, Gdp, Grade, Measure, NoiseMultiplier, Profile, Sensitivity, UpperBound};
use ndp_graph::progress::Stop;
use ndp_numeric::rounding::Interval;
use rand::Rng;

impl<P: LinearProtocol> Protocol for P {
    fn node_count(&self) -> usize {
        LinearProtocol::node_count(self)
    }

    fn account_until<'a>(&'a self, observer: &Observer, stop: &Stop) -> Result<Box<dyn Account + 'a>, Error> {
        if observer.members().is_empty() && !observer.tapped.is_empty() {
            let report = self.overheard_loss_until(&observer.tapped, stop)?;
            // Whoever handed out what it holds in the end would show more than the edges do.
            let terms = self.terms().trusting(Assumption::NothingPublished);
            return Ok(Box::new(Reported::new(report, observer, terms)));
        }
        if observer.members().is_empty() {
            let (nodes, outside, terms) = (LinearProtocol::node_count(self), self.outside()?, self.terms());
            let is_silent = *outside.value() == 0.0;
            let terms = if is_silent { terms.trusting(Assumption::NothingPublished) } else { terms };
            return Uniform::account(nodes, outside, observer, terms);
        }
        Ok(Box::new(reported(self, observer, stop)?))
    }

    fn glimpse<'a>(&'a self, observer: &Observer, stop: &Stop) -> Result<Box<dyn Account + 'a>, Error> {
        let first = self.first_round().ok_or(Error::NotOffered("its first round is not told apart"))?;
        Ok(Box::new(reported(&first, observer, stop)?))
    }

    fn local_bound<'a>(&'a self, observer: &Observer) -> Result<Box<dyn Account + 'a>, Error> {
        let (nodes, terms) = (LinearProtocol::node_count(self), self.terms().by_local_bound());
        match self.unit_towards_one() {
            Some(unit) if self.own_variance().is_none() && observer.members().len() == 1 => {
                observer.require_no_taps()?;
                Ok(Uniform::account(nodes, UpperBound::new(unit).into(), observer, terms)?)
            }
            _ => local_bound(nodes, self.own_variance(), observer, terms),
        }
    }

    fn symmetries(&self) -> Vec<Vec<u32>> {
        LinearProtocol::symmetries(self)
    }

    fn is_formula(&self) -> bool {
        self.unit_towards_one().is_some()
    }

    fn error_until(&self, noise: NoiseMultiplier, stop: &Stop) -> Result<f64, Error> {
        self.error_bound_until(noise, stop)
    }

    fn message_count(&self) -> Result<f64, Error> {
        LinearProtocol::message_count(self)
    }

    fn program_text(&self) -> Result<Vec<u8>, Error> {
        LinearProtocol::program_text(self)
    }

    fn attack<'a>(
        &'a self,
        u: usize,
        observer: &Observer,
        noise: NoiseMultiplier,
    ) -> Result<Box<dyn Attacker + 'a>, Error> {
        let protocol = seen_by(self, observer)?;
        let attack = Attack::optimal(&protocol.as_dyn(self).coalition_view(observer.members())?, u)?;
        let members = observer.members().to_vec();
        Ok(Box::new(LikelihoodRatio { protocol, this: self, attack, members, u, noise }))
    }
}

/// The account of an observer of every node's noisy value, with noise of this variance, see
/// [`Protocol::local_bound`].
pub fn local_bound(
    nodes: usize,
    variance: Option<f64>,
    observer: &Observer,
    terms: Terms,
) -> Result<Box<dyn Account>, Error> {
    let Some(variance) = variance.filter(|&variance| 0.0 < variance) else {
        return Err(Error::NotOffered(
            "values do not leave their nodes with a noise of their own, so that there is no bound at no cost",
        ));
    };
    let unit = (Interval::new(1.0) / Interval::new(variance)).high();
    Uniform::account(nodes, UpperBound::new(unit).into(), observer, terms.by_local_bound())
}

/// An upper bound on what is learned from at most `k` releases of every node's data, each with independent
/// noise of variance 1: `k` local losses, because releases with Gaussian parameters `μ_i` compose to `√(Σ
/// μ_i²)`, and each may depend on the earlier ones. Whatever else a release depends on (paths, graphs) must
/// not depend on the data.
pub fn bound_of_releases(
    nodes: usize,
    releases: usize,
    observer: &Observer,
    terms: Terms,
) -> Result<Box<dyn Account>, Error> {
    let unit = Interval::count(releases as u64).high();
    Uniform::account(nodes, UpperBound::new(unit).into(), observer, terms.by_local_bound())
}

/// The protocol as seen by observers who use their own noise, or do not.
enum Seen<'a> {
    AsIs,
    Changed(Box<dyn LinearProtocol + 'a>),
}

impl Seen<'_> {
    fn as_dyn<'b, P: LinearProtocol>(&'b self, this: &'b P) -> &'b dyn LinearProtocol {
        match self {
            Self::AsIs => this,
            Self::Changed(other) => other.as_ref(),
        }
    }
}

fn seen_by<'a, P: LinearProtocol>(protocol: &'a P, observer: &Observer) -> Result<Seen<'a>, Error> {
    observer.require_no_taps()?;
    observer.checked(LinearProtocol::node_count(protocol))?;
    if observer.senders == Senders::Hidden {
        return Err(Error::NotOffered("the view of this protocol names the senders"));
    }
    match (protocol.seen_with(observer.own_noise), observer.own_noise) {
        (Some(other), _) => Ok(Seen::Changed(other)),
        (None, OwnNoise::Known) => Ok(Seen::AsIs),
        (None, OwnNoise::Unknown) => {
            Err(Error::NotOffered("the view of this protocol says which noises its members use"))
        }
    }
}

/// The account of a coalition.
fn reported<P: LinearProtocol>(protocol: &P, observer: &Observer, stop: &Stop) -> Result<Reported, Error> {
    let seen = seen_by(protocol, observer)?;
    let report = seen.as_dyn(protocol).coalition_loss_until(observer.members(), stop)?;
    Ok(Reported::new(report, observer, protocol.terms()))
}

/// A loss report as an account.
struct Reported {
    report: LossReport,
    observer: Observer,
    terms: Terms,
}

impl Reported {
    /// The terms are those of the protocol, but that they name the engine that answered.
    fn new(report: LossReport, observer: &Observer, terms: Terms) -> Self {
        let by = report.by.unwrap_or(terms.by);
        Self { report, observer: observer.clone(), terms: Terms { by, ..terms } }
    }
}

impl From<LossReport> for Box<dyn Account> {
    /// The account of an observer with the knowledge for which the report was computed.
    fn from(report: LossReport) -> Self {
        let observer = Observer::coalition(&report.coalition);
        Box::new(Reported::new(report, &observer, Terms::VALUES))
    }
}

impl Account for Reported {
    fn observer(&self) -> &Observer {
        &self.observer
    }

    fn node_count(&self) -> usize {
        self.report.loss.value().unit.len()
    }

    fn profile(&self, u: usize, noise: NoiseMultiplier) -> Result<Profile, Error> {
        profile_of_unit(
            &self.report,
            self.observer.checked_source(u, self.node_count())?,
            noise,
            &self.observer.to_string(),
        )
    }

    fn terms(&self) -> Terms {
        self.terms
    }

    fn failure(&self) -> f64 {
        self.report.failure
    }

    fn unit_losses(&self) -> Option<&LossReport> {
        Some(&self.report)
    }

    /// `√unit / μ(allowed)`, rounded up; no search is needed.
    fn least_noise(
        &self,
        u: usize,
        measure: Measure,
        allowed: f64,
    ) -> Result<Option<NoiseMultiplier>, Error> {
        let (_, unit) = self.report.enclosure(self.observer.checked_source(u, self.node_count())?)?;
        noise_of_unit(unit, measure, allowed)
    }
}

/// `√unit / μ(allowed)`, rounded up; `None` where no noise is needed.
pub(super) fn noise_of_unit(
    unit: f64,
    measure: Measure,
    allowed: f64,
) -> Result<Option<NoiseMultiplier>, Error> {
    let mu = measure.largest_mu(allowed)?.mu();
    if unit == 0.0 || mu == f64::INFINITY {
        return Ok(None);
    }
    if unit == f64::INFINITY {
        return Err(Error::NoNoiseIsEnough);
    }
    ensure(mu != 0.0, "the loss allowed to a pair that has one", "be positive", allowed)?;
    // The factor covers the rounding errors of a square root and two quotients.
    Ok(Some(NoiseMultiplier::new(unit.sqrt() / mu * (1.0 + 16.0 * f64::EPSILON))?))
}

/// A view with unit loss `unit` is exactly `μ`-GDP with `μ = √unit / noise`.
fn profile_of_unit(
    report: &LossReport,
    u: usize,
    noise: NoiseMultiplier,
    against: &str,
) -> Result<Profile, Error> {
    between(report.enclosure(u)?, report.unit(u)?.grade() == Grade::Exact, noise, against)
}

/// The profile of a view whose unit loss lies between these ends.
///
/// # Errors
/// For ends that are negative or NaN.
pub fn between(
    (low, high): (f64, f64),
    exact: bool,
    noise: NoiseMultiplier,
    against: &str,
) -> Result<Profile, Error> {
    let mu = |unit: f64| Interval::new(unit).sqrt() / Interval::new(noise.get());
    let upper = Gdp::new(if high == 0.0 { 0.0 } else { mu(high).high() })?;
    // A finite loss may be above the largest float.
    let exact = exact && (upper.mu().is_finite() || high == f64::INFINITY);
    let upper = if exact { Exact::new(upper).into() } else { UpperBound::new(upper).into() };
    let lower = if low > 0.0 { mu(low).low().max(0.0) } else { 0.0 };
    Ok(Profile::gaussian_between(lower, upper, against)?)
}

/// The likelihood ratio of a linear Gaussian view, which is the best attack.
struct LikelihoodRatio<'a, P> {
    protocol: Seen<'a>,
    this: &'a P,
    attack: Attack,
    members: Vec<usize>,
    u: usize,
    noise: NoiseMultiplier,
}

impl<P: LinearProtocol> Attacker for LikelihoodRatio<'_, P> {
    fn scores(&self, higher: bool, runs: usize, rng: &mut dyn Rng) -> Result<Vec<f64>, Error> {
        let nodes = LinearProtocol::node_count(self.this);
        let sigma = self.noise.sigma(Sensitivity::new(1.0)?)?;
        let input = f64::from(u8::from(higher));
        let mut scores = Vec::with_capacity(runs);
        // Coordinates are independent runs, simulated many at a time.
        while scores.len() < runs {
            let width = AT_ONCE.min(runs - scores.len());
            let mut values = Array2::zeros((nodes, width));
            values.row_mut(self.u).fill(input);
            let seen = self.protocol.as_dyn(self.this).observe(values.view(), sigma, &self.members, rng)?;
            scores.extend(self.attack.estimate(&seen, Array2::zeros((nodes, width)).view())?);
        }
        Ok(scores)
    }

    fn shown_mu(&self) -> Option<f64> {
        Some(self.attack.unit.sqrt() / self.noise.get())
    }
}

/// Runs simulated at a time, as coordinates of one vector.
const AT_ONCE: usize = 64;
