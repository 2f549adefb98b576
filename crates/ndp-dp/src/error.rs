//! The errors of this crate: the condition that failed, and the value that failed it.

/// Why an accountant refused its input.
///
/// # Examples
/// ```
/// use ndp_dp::{Error, Sigma};
/// assert!(matches!(Sigma::new(-1.0), Err(Error::InvalidSigma(_))));
/// assert_eq!(Sigma::new(-1.0).map_err(|error| error.to_string()), Err("sigma must be positive and finite, got -1".into()));
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Sigma is zero, negative, infinite or NaN.
    #[error("sigma must be positive and finite, got {0}")]
    InvalidSigma(f64),
    /// The noise multiplier is zero, negative, infinite or NaN.
    #[error("the noise multiplier must be positive and finite, got {0}")]
    InvalidNoiseMultiplier(f64),
    /// The sensitivity is zero, negative, infinite or NaN.
    #[error("the sensitivity must be positive and finite, got {0}")]
    InvalidSensitivity(f64),
    /// The Rényi order is not a finite number above 1.
    #[error("the Rényi order alpha must be finite and above 1, got {0}")]
    InvalidOrder(f64),
    /// Delta is outside the open interval (0, 1), or NaN.
    #[error("delta must lie strictly between 0 and 1, got {0}")]
    InvalidDelta(f64),
    /// Epsilon is negative, infinite or NaN.
    #[error("epsilon must be nonnegative and finite, got {0}")]
    InvalidEpsilon(f64),
    /// A Gaussian parameter mu is negative or NaN.
    #[error("the Gaussian parameter mu must be nonnegative, got {0}")]
    InvalidMu(f64),
    /// A unit loss is outside [0, 1], or NaN.
    #[error("a unit loss must lie in [0, 1], got {0}")]
    InvalidUnitLoss(f64),
    /// A text that should be a number is not one.
    #[error("{0:?} is not a number")]
    NotANumber(String),
    /// A name that is not known here.
    #[error("there is no {what} named {name:?}")]
    UnknownName {
        /// What the name should stand for.
        what: &'static str,
        /// The name given.
        name: String,
    },
    /// A number read from a file is not a guarantee, since recomputing it did not confirm it.
    #[error(
        "a recorded number must be confirmed by recomputing it: recorded {recorded}, recomputed {recomputed}"
    )]
    Unconfirmed {
        /// Grade and value that the file states.
        recorded: String,
        /// Grade and value that were computed.
        recomputed: String,
    },
    /// A list of numbers is not a probability law: an entry is not a probability, or the sum is not 1 within
    /// `1e-9`.
    #[error("a law needs nonnegative entries that sum to 1, got a {what} of {value} at {index}")]
    InvalidLaw {
        /// What is wrong: `probability` or `sum`.
        what: &'static str,
        /// The entry, or the length for a sum.
        index: usize,
        /// The value found.
        value: f64,
    },
    /// A target lies beyond the best value that can be reached.
    #[error("a {what} of {target} cannot be reached: the least is {best}")]
    NotAchievable {
        /// The quantity, such as `total delta`.
        what: &'static str,
        /// The value asked for.
        target: f64,
        /// The best value that can be reached.
        best: f64,
    },
    /// A Rényi loss was requested from an accountant that knows only `(ε, δ)`.
    #[error("this accountant has no Rényi bound: ask for epsilon at a delta")]
    NoRenyiBound,
    /// The Gaussian parameter of a view that is not Gaussian was requested.
    #[error("this view is not Gaussian and has no mu: ask for epsilon at a delta or for a Rényi loss")]
    NotGaussian,
    /// Guarantees about different neighboring relations were to be composed, which is not possible.
    #[error("guarantees about different neighboring relations do not compose")]
    MixedNeighbors,
    /// A run depended on something that the observer did not see.
    #[error(
        "runs that depend on what the observer did not see do not compose: declare them fixed or on seen values"
    )]
    HiddenAdaptivity,
    /// A ledger with a limit on `(ε, δ)` has runs that were chosen adaptively and are not all Gaussian.
    #[error(
        "runs chosen adaptively that are not all Gaussian need a limit at one Rényi order, not one on epsilon and delta"
    )]
    AdaptiveOrder,
    /// The cost of adaptively chosen runs was requested from a ledger with neither a limit nor an odometer.
    #[error(
        "what runs chosen by earlier outputs have cost is not their sum: fix a limit before the first run, or an odometer"
    )]
    AdaptiveSum,
    /// The cost of adaptively chosen runs was requested from a ledger whose limit they exceeded.
    #[error(
        "runs chosen by earlier outputs went beyond the limit, so that nothing is guaranteed for all of them together"
    )]
    LimitBroken,
    /// A ledger without a limit was asked whether its limit is kept.
    #[error("the ledger has no limit")]
    NoLimit,
    /// An accountant outside this crate failed; the text is its message.
    #[error("{0}")]
    Accountant(String),
    /// The computation was to end before its answer.
    #[error(transparent)]
    Stopped(#[from] ndp_numeric::stop::Stopped),
    /// A named parameter is outside its domain.
    #[error("{name} must {condition}, got {value}")]
    InvalidParameter {
        /// The parameter's name.
        name: &'static str,
        /// What it must satisfy, as the end of a sentence: `be at least 1`.
        condition: &'static str,
        /// The value given.
        value: f64,
    },
}

/// Refuses a parameter that does not meet its condition, which must be written so that NaN fails it.
#[doc(hidden)]
pub fn ensure(met: bool, name: &'static str, condition: &'static str, value: f64) -> Result<(), Error> {
    if met { Ok(()) } else { Err(Error::InvalidParameter { name, condition, value }) }
}

/// Refuses a parameter that is not positive and finite.
#[doc(hidden)]
pub fn ensure_positive(name: &'static str, value: f64) -> Result<(), Error> {
    ensure(0.0 < value && value.is_finite(), name, "be positive and finite", value)
}

/// Refuses a number that is not a probability.
pub(crate) fn check_probability(p: f64) -> Result<(), Error> {
    ensure((0.0..=1.0).contains(&p), "a probability", "lie between 0 and 1", p)
}

/// For tests: the name of the parameter that was refused; `None` if something else was refused, or nothing.
#[cfg(test)]
pub(crate) fn refused<T>(found: Result<T, Error>) -> Option<&'static str> {
    if let Err(Error::InvalidParameter { name, .. }) = found { Some(name) } else { None }
}

impl From<ndp_numeric::OutOfRange> for Error {
    fn from(ndp_numeric::OutOfRange { name, condition, value }: ndp_numeric::OutOfRange) -> Self {
        Self::InvalidParameter { name, condition, value }
    }
}
