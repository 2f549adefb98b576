//! What a number of a protocol is about: what may change between the two worlds, and what its noise is.
//!
//! An `ε` without them says little: noise may be a standard deviation or the reciprocal of an `ε₀`, and one gradient that changes is not
//! all data of a user. They are data; words are made of them where numbers are shown.

use serde::{Deserialize, Serialize};

/// What of one node's data differs between the two worlds that a guarantee compares.
///
/// # Examples
/// ```
/// use ndp_algos::registry::{self, Changes, Parameters};
/// let changes = |name: &str, text: &str| {
///     registry::find(name)?.terms(&text.parse()?).map(|terms| terms.changes)
/// };
/// assert_eq!(changes("muffliato", "")?, Changes::Value);
/// // All data of a user, unless its gradients are known to change alike.
/// assert_eq!(changes("dsgd", "")?, Changes::EveryGradient);
/// assert_eq!(changes("dsgd", "alike=1")?, Changes::GradientsAlike);
/// # Ok::<(), ndp_account::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Changes {
    /// Its one value, anywhere within the range.
    Value,
    /// Everything that it contributes, each time anywhere within the range.
    EveryContribution,
    /// Every label that it reports.
    EveryLabel,
    /// All its data: every gradient moves by at most the sensitivity, in any direction.
    EveryGradient,
    /// All its gradients by the same vector of at most the sensitivity: changes may cancel. Not all data of a node.
    GradientsAlike,
    /// One use of its data, the others stay: not all data of a node that uses them several times.
    OneUse,
    /// All uses of its data by the same vector: changes may cancel. Not all data of a node that uses them several times.
    UsesAlike,
    /// All uses of its data, each a number that moves by at most the sensitivity.
    EveryNumber,
}

/// The family of a noise: what [`NoiseMultiplier`](ndp_dp::NoiseMultiplier) measures.
///
/// # Examples
/// ```
/// use ndp_algos::registry::{self, Law};
/// assert_eq!(registry::find("muffliato")?.noise.law, Law::Gaussian);
/// assert_eq!(registry::find("ring-histogram")?.noise.law, Law::RandomizedResponse);
/// # Ok::<(), ndp_account::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Law {
    /// Normal; the noise is the standard deviation.
    Gaussian,
    /// Laplace; the noise is the standard deviation, which is `√2` times the scale.
    Laplace,
    /// Laplace on whole numbers; the noise is the standard deviation.
    DiscreteLaplace,
    /// A label is replaced by a random one: a report is `ε₀`-DP, and the noise is `1/ε₀`.
    RandomizedResponse,
}

/// What the noise of a protocol is.
///
/// # Examples
/// ```
/// use ndp_algos::registry;
/// let noise = registry::find("fresh-noise")?.noise;
/// assert!(noise.on.contains("first round"));
/// # Ok::<(), ndp_account::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Noise {
    /// Its family, and what of it the number is.
    pub law: Law,
    /// In units of what it is: `the range of a value`.
    pub unit: &'static str,
    /// Where it is added: `every value, once`.
    pub on: &'static str,
}

impl Noise {
    /// Normal noise in units of the range of a value.
    #[must_use]
    pub(super) const fn on_values(on: &'static str) -> Self {
        Self { law: Law::Gaussian, unit: RANGE, on }
    }

    /// Normal noise on gradients, in units of their sensitivity.
    #[must_use]
    pub(super) const fn on_gradients(on: &'static str) -> Self {
        Self { law: Law::Gaussian, unit: "the sensitivity of a gradient", on }
    }

    /// Noise of another family.
    #[must_use]
    pub(super) const fn of(law: Law, on: &'static str) -> Self {
        Self { law, unit: if matches!(law, Law::RandomizedResponse) { "1/epsilon0" } else { RANGE }, on }
    }
}

/// The unit of noise on values.
const RANGE: &str = "the range of a value";

/// What a number of a protocol is about.
///
/// # Examples
/// ```
/// use ndp_algos::registry::{self, Changes, Law};
/// let terms = registry::find("ring-sum-laplace")?.terms(&"passes=2".parse()?)?;
/// assert_eq!((terms.changes, terms.noise.law), (Changes::EveryContribution, Law::Laplace));
/// # Ok::<(), ndp_account::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Terms {
    /// What may differ.
    pub changes: Changes,
    /// What the noise is.
    pub noise: Noise,
}
