//! The noise that a node adds to a real token, and the interval of its contributions.
//!
//! A [`NoiseLaw`] says how to draw the noise, and what one contribution with one draw costs. Every walk takes
//! its noise as a [`TokenNoise`], a law with a standard deviation. To add a law, write a file that implements
//! the trait, and a line in `LAWS`. A law of another crate is used in the same way, as a [`TokenNoise`].

mod continuous;
mod discrete_laplace;

pub(crate) use continuous::GaussianLaw;
use continuous::LaplaceLaw;
use discrete_laplace::DiscreteLaplaceLaw;

use ndp_account::parts::ensure;
use ndp_account::{Error, Law};
use ndp_dp::{LossLaw, Mechanism, Sensitivity, Sigma};
use rand::Rng;
use serde::{Deserialize, Serialize};
use std::any::Any;
use std::fmt;
use std::str::FromStr;

/// Every law of this crate; laws are found by their names.
pub(crate) const LAWS: &[&dyn NoiseLaw] = &[&GaussianLaw, &LaplaceLaw, &DiscreteLaplaceLaw];

/// Every law but the normal one.
pub(crate) fn other_laws() -> impl Iterator<Item = &'static dyn NoiseLaw> {
    LAWS.iter().copied().filter(|law| !same_type(*law, &GaussianLaw))
}

/// A family of additive noises that do not depend on the data, one for each standard deviation.
///
/// # Examples
/// A law of one's own, uniform noise, reaches every walk; it gives no guarantee, and every account says so.
/// ```
/// use ndp_account::{Error, Observer, Protocol};
/// use ndp_algos::walk::complete::{CompleteSum, CompleteWalk};
/// use ndp_algos::walk::{Bounds, NoiseLaw, ReleasedSum, TokenNoise};
/// use ndp_dp::{Delta, Mechanism, NoiseMultiplier, Sensitivity, Sigma};
/// use rand::{Rng, RngExt};
/// #[derive(Debug)]
/// struct Uniform;
/// impl NoiseLaw for Uniform {
///     fn name(&self) -> &'static str {
///         "uniform"
///     }
///     fn sample(&self, sigma: Sigma, rng: &mut dyn Rng) -> Result<f64, Error> {
///         Ok(12f64.sqrt() * sigma.get() * (rng.random::<f64>() - 0.5))
///     }
///     fn release(&self, _: Sigma, _: Sensitivity) -> Result<Box<dyn Mechanism + Send + Sync>, Error> {
///         Err(Error::NoGuarantee("uniform noise shows when data are at an end of their range"))
///     }
/// }
/// let noise = TokenNoise { law: &Uniform, sigma: Sigma::new(1.0)? };
/// let sum = ReleasedSum::from(CompleteSum { walk: CompleteWalk::new(5, 20)?, bounds: Bounds::new(0.0, 1.0)?, noise, constant_data: false });
/// let account = sum.account(&Observer::node(0))?;
/// assert!(matches!(account.profile(1, NoiseMultiplier::new(2.0)?), Err(Error::NoGuarantee(_))));
/// # Ok::<(), Error>(())
/// ```
pub trait NoiseLaw: Any + fmt::Debug + Send + Sync {
    /// Its name, unique among the laws: lower case, words joined by hyphens.
    fn name(&self) -> &'static str;

    /// The noise in a sentence; its name if nothing else is said.
    fn about(&self) -> &'static str {
        self.name()
    }

    /// The family of which a statement speaks: a distribution of the user's own, unless something else is
    /// said.
    fn family(&self) -> Law {
        Law::Own
    }

    /// One draw of standard deviation `sigma`.
    ///
    /// # Errors
    /// When there is no such law with that standard deviation; then every draw fails.
    fn sample(&self, sigma: Sigma, rng: &mut dyn Rng) -> Result<f64, Error>;

    /// The guarantee of a contribution of sensitivity `sensitivity` that is released with one draw.
    ///
    /// # Errors
    /// If this law gives no guarantee for that sensitivity or standard deviation.
    fn release(
        &self,
        sigma: Sigma,
        sensitivity: Sensitivity,
    ) -> Result<Box<dyn Mechanism + Send + Sync>, Error>;

    /// The law of the privacy loss of such a contribution, for replace-one neighbors, with which many of them
    /// compose. `None`, the default, if it is not known.
    ///
    /// # Errors
    /// As [`Self::release`].
    fn loss_law(&self, sigma: Sigma, sensitivity: Sensitivity) -> Result<Option<LossLaw>, Error> {
        let _ = (sigma, sensitivity);
        Ok(None)
    }

    /// The condition that a contribution `x` fails, as the end of a sentence: `be a whole number` for a law
    /// that does not hide fractions. `None`, the default, if a node may contribute `x`.
    fn refuses(&self, x: f64) -> Option<&'static str> {
        let _ = x;
        None
    }
}

/// A law of noise with a standard deviation.
///
/// # Examples
/// ```
/// use ndp_algos::walk::TokenNoise;
/// use ndp_dp::Sigma;
/// let noise = TokenNoise::named("discrete-laplace", Sigma::new(2.0)?)?;
/// assert_eq!(noise.to_string(), "discrete-laplace(2)");
/// assert_eq!("discrete-laplace(2)".parse::<TokenNoise>()?, noise);
/// # Ok::<(), ndp_account::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "String")]
pub struct TokenNoise {
    /// The law, which may come from another crate.
    pub law: &'static dyn NoiseLaw,
    /// The standard deviation `σ`, in the unit of the contributions.
    pub sigma: Sigma,
}

impl TokenNoise {
    /// Normal noise of standard deviation `σ`.
    #[must_use]
    pub const fn gaussian(sigma: Sigma) -> Self {
        Self { law: &GaussianLaw, sigma }
    }

    /// Noise of the law of that name: `gaussian`, `laplace` (of scale `σ/√2`), `discrete-laplace`.
    ///
    /// # Errors
    /// [`ndp_dp::Error::UnknownName`].
    pub fn named(name: &str, sigma: Sigma) -> Result<Self, Error> {
        let law = LAWS.iter().find(|law| law.name() == name);
        let unknown = || ndp_dp::Error::UnknownName { what: "law of noise", name: name.to_owned() };
        Ok(Self { law: *law.ok_or_else(unknown)?, sigma })
    }

    /// The standard deviation `σ`, in the unit of the contributions.
    pub(crate) const fn std(self) -> f64 {
        self.sigma.get()
    }

    /// The standard deviation, for [`Self::gaussian`] noise only: exact accounts of Gaussian views need it.
    /// No other law can claim to be normal, whatever its name is.
    pub(crate) fn gaussian_sigma(self) -> Option<Sigma> {
        let law: &dyn Any = self.law;
        law.is::<GaussianLaw>().then_some(self.sigma)
    }

    /// One draw.
    ///
    /// # Errors
    /// As [`NoiseLaw::sample`].
    pub(crate) fn sample(self, rng: &mut impl Rng) -> Result<f64, Error> {
        self.law.sample(self.sigma, rng)
    }

    /// The guarantee of one contribution of sensitivity `sensitivity` that is released with one draw.
    ///
    /// # Errors
    /// As [`NoiseLaw::release`].
    pub(crate) fn release(self, sensitivity: Sensitivity) -> Result<Box<dyn Mechanism + Send + Sync>, Error> {
        self.law.release(self.sigma, sensitivity)
    }

    /// The law of the privacy loss of that contribution.
    ///
    /// # Errors
    /// As [`NoiseLaw::loss_law`].
    pub(crate) fn loss_law(self, sensitivity: Sensitivity) -> Result<Option<LossLaw>, Error> {
        self.law.loss_law(self.sigma, sensitivity)
    }

    /// Returns `x` if it lies in `bounds` and this noise hides it.
    ///
    /// # Errors
    /// As [`Bounds::check`]; [`Error::InvalidParameter`] if the law refuses it.
    pub(crate) fn check(self, bounds: Bounds, node: usize, x: f64) -> Result<f64, Error> {
        let x = bounds.check(node, x)?;
        match self.law.refuses(x) {
            None => Ok(x),
            Some(condition) => {
                Err(Error::InvalidParameter { name: "a contribution behind this noise", condition, value: x })
            }
        }
    }
}

/// Laws are compared by type and name, as a law of another crate may have the name of one of ours.
impl PartialEq for TokenNoise {
    fn eq(&self, other: &Self) -> bool {
        same_type(self.law, other.law) && self.law.name() == other.law.name() && self.sigma == other.sigma
    }
}

fn same_type(a: &dyn NoiseLaw, b: &dyn NoiseLaw) -> bool {
    let (a, b): (&dyn Any, &dyn Any) = (a, b);
    a.type_id() == b.type_id()
}

/// Written as text. Laws of other crates are refused: their names would be read back as other laws, or not at
/// all.
impl Serialize for TokenNoise {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if LAWS.iter().any(|law| same_type(*law, self.law)) {
            return serializer.collect_str(self);
        }
        Err(serde::ser::Error::custom("a law of noise of another crate cannot be written"))
    }
}

/// `name(σ)`.
impl fmt::Display for TokenNoise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({})", self.law.name(), self.sigma)
    }
}

impl TryFrom<String> for TokenNoise {
    type Error = Error;

    fn try_from(text: String) -> Result<Self, Error> {
        text.parse()
    }
}

impl FromStr for TokenNoise {
    type Err = Error;

    /// Reads `name(σ)`.
    fn from_str(text: &str) -> Result<Self, Error> {
        let unknown = || ndp_dp::Error::UnknownName { what: "noise", name: text.to_owned() };
        let (name, sigma) =
            text.strip_suffix(')').and_then(|text| text.split_once('(')).ok_or_else(unknown)?;
        Self::named(name.trim(), sigma.parse()?)
    }
}

/// The interval `[low, high]` of the contributions; their sensitivity is its length.
///
/// # Examples
/// ```
/// use ndp_algos::walk::Bounds;
/// assert_eq!(<(f64, f64)>::from(Bounds::new(-1.0, 1.0)?), (-1.0, 1.0));
/// assert!(Bounds::new(1.0, -1.0).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(into = "(f64, f64)", try_from = "(f64, f64)")]
pub struct Bounds {
    low: f64,
    high: f64,
}

impl From<Bounds> for (f64, f64) {
    fn from(bounds: Bounds) -> Self {
        (bounds.low, bounds.high)
    }
}

impl TryFrom<(f64, f64)> for Bounds {
    type Error = Error;

    fn try_from((low, high): (f64, f64)) -> Result<Self, Error> {
        Self::new(low, high)
    }
}

impl Bounds {
    /// Takes two finite ends, `low < high`.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] otherwise, NaN included.
    pub fn new(low: f64, high: f64) -> Result<Self, Error> {
        let (name, length) = ("the length of the interval of contributions", high - low);
        ensure(low < high && length.is_finite(), name, "be positive and finite", length)?;
        Ok(Self { low, high })
    }

    /// The lower end.
    pub(crate) const fn low(self) -> f64 {
        self.low
    }

    /// The upper end.
    pub(crate) const fn high(self) -> f64 {
        self.high
    }

    /// `Δ = high − low`: the largest change of one contribution when its node's data change (replace-one
    /// relation).
    ///
    /// # Errors
    /// None in practice: the length was checked at construction.
    pub(crate) fn sensitivity(self) -> Result<Sensitivity, Error> {
        Ok(Sensitivity::new(self.high - self.low)?)
    }

    /// Returns `x` if it lies inside.
    ///
    /// # Errors
    /// [`Error::ContributionOutOfBounds`](crate::Error::ContributionOutOfBounds) otherwise, NaN included.
    pub(crate) fn check(self, node: usize, x: f64) -> Result<f64, Error> {
        if self.low <= x && x <= self.high {
            Ok(x)
        } else {
            Err(crate::Error::ContributionOutOfBounds { node, value: x, low: self.low, high: self.high }
                .into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndp_dp::Order;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    /// The mean, the variance and the fourth moment (3σ⁴ and 6σ⁴), each to about five standard errors.
    #[test]
    fn noises_have_their_moments() -> Result<(), Error> {
        let sigma = Sigma::new(1.5)?;
        let rng = &mut ChaCha8Rng::seed_from_u64(11);
        for (noise, kurtosis) in
            [(TokenNoise::gaussian(sigma), 3.0), (TokenNoise::named("laplace", sigma)?, 6.0)]
        {
            let draws: Vec<f64> =
                (0..200_000).map(|_| Ok(noise.sample(rng)? / noise.std())).collect::<Result<_, Error>>()?;
            let moment = |p: i32| draws.iter().map(|x| x.powi(p)).sum::<f64>() / draws.len() as f64;
            assert!(moment(1).abs() < 5.0 / (draws.len() as f64).sqrt());
            assert!((moment(2) - 1.0).abs() < 0.03);
            assert!((moment(4) - kurtosis).abs() < 0.6, "{}", moment(4));
        }
        Ok(())
    }

    /// For every law in the list: names are unique and found, and draws have the stated deviation and may be
    /// contributed.
    #[test]
    fn laws_keep_their_promises() -> Result<(), Error> {
        let rng = &mut ChaCha8Rng::seed_from_u64(12);
        let sigma = Sigma::new(1.5)?;
        for (i, law) in LAWS.iter().enumerate() {
            assert!(LAWS[..i].iter().all(|other| other.name() != law.name()));
            let noise = TokenNoise::named(law.name(), sigma)?;
            assert_eq!(noise.to_string().parse::<TokenNoise>()?, noise);
            let draws: Vec<f64> = (0..100_000).map(|_| noise.sample(rng)).collect::<Result<_, Error>>()?;
            assert!(draws.iter().all(|&x| law.refuses(x).is_none()), "{noise}");
            let square = draws.iter().map(|x| x * x).sum::<f64>() / draws.len() as f64;
            assert!((square.sqrt() / noise.std() - 1.0).abs() < 0.02, "{noise}: {square}");
            let release = noise.release(Sensitivity::new(1.0)?)?;
            let pure = release.pure_epsilon().into_value();
            if pure.is_finite() {
                assert_eq!(release.delta(pure)?.into_value(), 0.0);
            }
            assert!(
                release.delta(0.0)?.into_value() < 1.0 && release.rdp(Order::new(2.0)?).into_value() <= pure
            );
        }
        let unknown = |what, name: &str| Err(ndp_dp::Error::UnknownName { what, name: name.into() }.into());
        assert_eq!(TokenNoise::named("cauchy", sigma), unknown("law of noise", "cauchy"));
        assert_eq!("gaussian".parse::<TokenNoise>(), unknown("noise", "gaussian"));
        let negative = Err(ndp_dp::Error::InvalidSigma(-1.0).into());
        assert_eq!("gaussian(-1)".parse::<TokenNoise>(), negative);
        Ok(())
    }

    /// A law of another crate is not taken for normal noise, whatever its name is.
    #[test]
    fn names_do_not_make_noise_normal() -> Result<(), Error> {
        #[derive(Debug)]
        struct Impostor;
        impl NoiseLaw for Impostor {
            fn name(&self) -> &'static str {
                "gaussian"
            }
            fn sample(&self, _: Sigma, _: &mut dyn Rng) -> Result<f64, Error> {
                Ok(0.0)
            }
            fn release(&self, _: Sigma, _: Sensitivity) -> Result<Box<dyn Mechanism + Send + Sync>, Error> {
                Err(Error::NoGuarantee("it adds nothing"))
            }
        }
        let sigma = Sigma::new(1.0)?;
        assert_eq!(TokenNoise { law: &Impostor, sigma }.gaussian_sigma(), None);
        assert_eq!(TokenNoise::gaussian(sigma).gaussian_sigma(), Some(sigma));
        Ok(())
    }

    #[test]
    fn noises_and_bounds_come_back_from_files() -> Result<(), Box<dyn std::error::Error>> {
        let noise = TokenNoise::named("laplace", Sigma::new(0.1)?)?;
        assert_eq!(serde_json::to_string(&noise)?, "\"laplace(0.1)\"");
        assert_eq!(serde_json::from_str::<TokenNoise>("\"laplace(0.1)\"")?, noise);
        let bounds = Bounds::new(-0.1, 1.0)?;
        assert_eq!(serde_json::to_string(&bounds)?, "[-0.1,1.0]");
        assert_eq!(serde_json::from_str::<Bounds>("[-0.1,1.0]")?, bounds);
        for (bad, said) in [
            ("\"laplace(0)\"", "sigma must be positive and finite, got 0"),
            ("\"laplace\"", "there is no noise named \"laplace\""),
            ("\"own(1)\"", "there is no law of noise named \"own\""),
        ] {
            assert_eq!(serde_json::from_str::<TokenNoise>(bad).unwrap_err().to_string(), said);
        }
        let empty = serde_json::from_str::<Bounds>("[1.0,1.0]").unwrap_err().to_string();
        assert_eq!(empty, "the length of the interval of contributions must be positive and finite, got 0");
        Ok(())
    }

    #[test]
    fn bounds_reject_what_is_no_interval() -> Result<(), Error> {
        for (low, high) in [(1.0, 1.0), (1.0, 0.0), (f64::NAN, 1.0), (0.0, f64::INFINITY), (-1e308, 1e308)] {
            assert!(matches!(Bounds::new(low, high), Err(Error::InvalidParameter { .. })));
        }
        let bounds = Bounds::new(-1.0, 2.0)?;
        assert_eq!(bounds.sensitivity()?.get(), 3.0);
        assert!(bounds.check(0, 2.0).is_ok());
        let no_number = bounds.check(0, f64::NAN).map_err(|e| e.to_string());
        assert_eq!(no_number, Err("node 0 contributes NaN, outside [-1, 2]".to_owned()));
        let refused = bounds.check(4, 2.5);
        assert_eq!(
            refused.map_err(|e| e.to_string()),
            Err("node 4 contributes 2.5, outside [-1, 2]".to_owned())
        );
        Ok(())
    }
}
