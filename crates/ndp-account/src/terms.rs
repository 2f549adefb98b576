//! What a protocol's number is about: what may differ between the two worlds, and what the noise is.
//!
//! Without its terms an `ε` says little: noise may be a standard deviation or the reciprocal of an `ε₀`, and
//! a change of one gradient is less than a change of all data of a user. Terms are data; where numbers are
//! shown, they are put into words.

use crate::Error;
use crate::error::ensure;
use ndp_dp::{Gaussian, Laplace, Mechanism, Neighbors, NoiseMultiplier, Sensitivity, Stated};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;

/// What of one node's data differs between the two worlds that a guarantee compares.
///
/// # Examples
/// ```
/// use ndp_account::Changes;
/// // One use is less than all data of a node that uses them several times.
/// assert!(Changes::OneUse.is_less_than_all_data() && !Changes::Value.is_less_than_all_data());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Changes {
    /// The node's one value, anywhere within its range.
    Value,
    /// Every contribution of the node, each anywhere within its range.
    EveryContribution,
    /// Every label that it reports.
    EveryLabel,
    /// Its one label, the same in each of its reports.
    Label,
    /// All data of the node: every gradient moves by at most the sensitivity, in any direction.
    EveryGradient,
    /// All gradients of the node move by the same vector of at most the sensitivity, so the changes may
    /// cancel. This is less than all data of a node.
    GradientsAlike,
    /// One use of the node's data, while its other uses stay. This is less than all data of a node that uses
    /// them several times.
    OneUse,
    /// All uses of the node's data move by the same vector, so the changes may cancel. This is less than all
    /// data of a node that uses them several times.
    UsesAlike,
    /// All uses of the node's data; each use is a number that moves by at most the sensitivity.
    EveryNumber,
    /// The changes of a set that was declared: uses in patterns, within bounds of their own, or by given
    /// multiples of one vector. This may be less than all data of a node.
    Declared,
}

impl Changes {
    /// Whether a node's data may change in more ways than these. Then the guarantee is declared for some
    /// changes only.
    #[must_use]
    pub const fn is_less_than_all_data(self) -> bool {
        matches!(self, Self::GradientsAlike | Self::OneUse | Self::UsesAlike | Self::Declared)
    }
}

/// The family of a noise, which says what [`NoiseMultiplier`](ndp_dp::NoiseMultiplier) measures.
///
/// # Examples
/// ```
/// use ndp_account::{Law, Terms};
/// assert_eq!(Terms::VALUES.noise.law, Law::Gaussian);
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
    /// A user's own distribution; the noise is the standard deviation.
    Own,
}

impl Law {
    /// Whether a guarantee follows from the noise in units of the sensitivity. Whole numbers and labels have
    /// a unit of their own, and of a user's own distribution this is not known.
    const fn scales(self) -> bool {
        match self {
            Self::Gaussian | Self::Laplace => true,
            Self::DiscreteLaplace | Self::RandomizedResponse | Self::Own => false,
        }
    }
}

/// What the noise of a protocol measures, and where it is added.
///
/// # Examples
/// ```
/// use ndp_account::{Law, Noise};
/// let noise = Noise::of(Law::Gaussian, "every value, once");
/// assert_eq!((noise.law, noise.unit), (Law::Gaussian, "the range of a value"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Noise {
    /// The family of the noise.
    pub law: Law,
    /// The unit of the noise: `the range of a value`.
    pub unit: &'static str,
    /// Where it is added: `every value, once`.
    pub on: &'static str,
}

impl Noise {
    /// Normal noise on gradients, in units of their sensitivity.
    #[must_use]
    pub const fn on_gradients(on: &'static str) -> Self {
        Self { law: Law::Gaussian, unit: "the sensitivity of a gradient", on }
    }

    /// Noise of a family, on values or on labels.
    #[must_use]
    pub const fn of(law: Law, on: &'static str) -> Self {
        Self { law, unit: if matches!(law, Law::RandomizedResponse) { "1/epsilon0" } else { RANGE }, on }
    }
}

/// The unit of noise on values.
const RANGE: &str = "the range of a value";

/// What a number of a protocol is about.
///
/// # Examples
/// ```
/// use ndp_account::example::Gossip;
/// use ndp_account::{Changes, Observer, Protocol};
/// use ndp_graph::{GossipMatrix, generators::path_graph};
/// let gossip = Gossip::new(GossipMatrix::metropolis(&path_graph(3)?), 2);
/// let terms = gossip.account(&Observer::node(0))?.terms();
/// assert_eq!((terms.changes, terms.by.theorem), (Changes::Value, "Certified losses"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Terms {
    /// What may differ between the two worlds.
    pub changes: Changes,
    /// Which data sets are neighbors; the same relation as in the profiles.
    pub neighbors: Neighbors,
    /// What the noise measures.
    pub noise: Noise,
    /// The theorem by which the number holds.
    pub by: By,
    /// What is assumed about contributions, trusted parts and results: the first entries, then `None`.
    pub trusts: [Option<Assumption>; Assumption::KINDS],
}

impl Terms {
    /// The terms of a linear Gaussian view: every node has one value, and the rows of the view state the
    /// noise added to it.
    pub const VALUES: Self = Self {
        changes: Changes::Value,
        neighbors: Neighbors::ReplaceOne,
        noise: Noise::of(Law::Gaussian, "every value, as the view says"),
        by: By { function: "ndp_account::LinearProtocol::coalition_loss", theorem: "Certified losses" },
        trusts: [None; Assumption::KINDS],
    };

    /// The same terms, with noise added where `on` says.
    #[must_use]
    pub const fn on(self, on: &'static str) -> Self {
        let noise = Noise { on, ..self.noise };
        Self { noise, ..self }
    }

    /// The same terms, computed by this function according to a section of `docs/theory.md`.
    #[must_use]
    pub const fn by(self, function: &'static str, theorem: &'static str) -> Self {
        Self { by: By { function, theorem }, ..self }
    }

    /// The same terms with this assumption as well.
    #[must_use]
    pub const fn trusting(self, assumption: Assumption) -> Self {
        let mut trusts = self.trusts;
        let mut at = 0;
        while at < trusts.len() && trusts[at].is_some() {
            if is(trusts[at], assumption) {
                return self;
            }
            at += 1;
        }
        trusts[at] = Some(assumption);
        Self { trusts, ..self }
    }

    /// Refuses a sensitivity other than 1 where the noise does not scale with it.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`].
    pub fn check_sensitivity(&self, sensitivity: f64) -> Result<(), Error> {
        let condition = "be 1 where the noise is on whole numbers or on labels, or of a law of one's own";
        ensure(sensitivity == 1.0 || self.noise.law.scales(), "the sensitivity", condition, sensitivity)
    }

    /// What one release of the mechanism that adds the noise guarantees, in units of the sensitivity. The run
    /// consists of such releases, and observers see functions of them. `None` if the terms do not determine
    /// it: for noise on whole numbers, for labels and for a user's own distribution.
    ///
    /// # Examples
    /// ```
    /// use ndp_account::Terms;
    /// use ndp_dp::{Moves, Neighbors, NoiseMultiplier};
    /// let stated = Terms::VALUES.of_one_release(NoiseMultiplier::new(2.0)?).ok_or("Gaussian")?;
    /// assert_eq!((stated.function, stated.moves), ("ndp_dp::Gaussian", Moves::Vector { by: 1.0 }));
    /// assert_eq!(stated.neighbors, Some(Neighbors::ReplaceOne));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn of_one_release(&self, noise: NoiseMultiplier) -> Option<Stated> {
        let sensitivity = Sensitivity::new(1.0).ok()?;
        let stated = match self.noise.law {
            Law::Gaussian => Gaussian { sensitivity, sigma: noise.sigma(sensitivity).ok()? }.stated()?,
            // The noise is the standard deviation, √2 times the scale.
            Law::Laplace => {
                Laplace::new(sensitivity, noise.get() / std::f64::consts::SQRT_2).ok()?.stated()?
            }
            Law::DiscreteLaplace | Law::RandomizedResponse | Law::Own => return None,
        };
        Some(Stated { neighbors: Some(self.neighbors), ..stated })
    }

    /// The same terms for the bound that holds for every observer, who sees the noisy values themselves.
    #[must_use]
    pub const fn by_local_bound(self) -> Self {
        self.by("ndp_account::Protocol::local_bound", "Accounting")
    }
}

/// What an account assumes about contributions and trusted parties, without checking it.
///
/// # Examples
/// ```
/// use ndp_account::example::Gossip;
/// use ndp_account::{Assumption, Observer, Protocol};
/// use ndp_graph::{GossipMatrix, generators::cycle_graph};
/// // Values are contributed before anything is received; a training says whether its gradients depend on what was.
/// let gossip = Gossip::new(GossipMatrix::metropolis(&cycle_graph(5)?), 2);
/// assert!(!gossip.account(&Observer::node(0))?.assumptions().contains(&Assumption::Fixed));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Assumption {
    /// What nodes contribute does not depend on anything they received.
    Fixed,
    /// What nodes contribute depends only on what the observer has seen. This was declared without a list of
    /// reads that could be checked.
    ReadsSeen,
    /// What nodes contribute depends only on what the protocol says that it reads.
    ReadsDeclared,
    /// What nodes contribute depends only on what the protocol says that it reads or, where it does not say
    /// that, on what the observer has seen.
    ReadsDeclaredOrSeen,
    /// The curator, or the server, sees everything without noise and is trusted. No number is about what it
    /// learns.
    Curator,
    /// A secure sum shows its receiver the sum, and shows nothing to anybody else.
    SecureSums,
    /// A noise that several nodes share, or that is dealt to them, is known to no other node.
    SharedNoise,
    /// Every node contributes the same data each time, whatever it received and however often it was asked.
    ConstantData,
    /// The values of all nodes lie in one interval, as long as the sensitivity: a contribution of one node is
    /// hidden among those of the others.
    CommonRange,
    /// At one model the gradients of all nodes are at most the sensitivity apart, as all are whose norm is at
    /// most half of it: the gradient of one node is hidden among those of the others.
    CommonGradients,
    /// Nobody hands out what it holds in the end, no result and no model, beyond what the protocol sends.
    NothingPublished,
    /// Who meets whom at what time does not depend on the data and is known to everybody: it was drawn, or
    /// given, before the first message. Other draws have other numbers.
    TheseMeetings,
    /// Which runs there are, and how much noise they have, was fixed before the first of them.
    RunsFixed,
    /// Runs were chosen, and ended, by what the observer itself had seen of the earlier ones, and by nothing
    /// else that depends on the data. The limit, or what an odometer is tuned to, was fixed before the first
    /// run.
    ChosenBySeen,
}

impl Assumption {
    /// How many there are; [`ChosenBySeen`](Self::ChosenBySeen) is the last.
    pub const KINDS: usize = Self::ChosenBySeen as usize + 1;

    /// What the accounts of one protocol assume together. Of what nodes contribute there is one assumption,
    /// which covers what every account says of it.
    ///
    /// # Examples
    /// ```
    /// use ndp_account::Assumption::{self, Fixed, ReadsDeclared, ReadsDeclaredOrSeen, ReadsSeen};
    /// // One observer sees only what depends on nothing, another one also answers to what it has seen.
    /// assert_eq!(Assumption::of_one_protocol([Fixed, ReadsSeen]), [ReadsSeen].into());
    /// assert_eq!(Assumption::of_one_protocol([ReadsDeclared, ReadsSeen]), [ReadsDeclaredOrSeen].into());
    /// ```
    #[must_use]
    pub fn of_one_protocol(all: impl IntoIterator<Item = Self>) -> BTreeSet<Self> {
        let mut all: BTreeSet<Self> = all.into_iter().collect();
        if all.contains(&Self::ReadsSeen) && all.contains(&Self::ReadsDeclared) {
            all.insert(Self::ReadsDeclaredOrSeen);
        }
        let wider = [Self::ReadsDeclaredOrSeen, Self::ReadsDeclared, Self::ReadsSeen, Self::Fixed];
        let mut said = wider.into_iter().filter(|one| all.contains(one));
        if let Some(widest) = said.next() {
            all.retain(|one| *one == widest || !wider.contains(one));
        }
        all
    }
}

const fn is(one: Option<Assumption>, other: Assumption) -> bool {
    matches!(one, Some(one) if one as u8 == other as u8)
}

/// The theorem on which a number rests, and the function that computes the number.
///
/// # Examples
/// ```
/// use ndp_account::Terms;
/// assert_eq!(Terms::VALUES.by_local_bound().by.to_string(), "ndp_account::Protocol::local_bound (theory: Accounting)");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct By {
    /// The path of the function that computes the number, documented and tested there.
    pub function: &'static str,
    /// A section of `docs/theory.md`.
    pub theorem: &'static str,
}

impl fmt::Display for By {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (theory: {})", self.function, self.theorem)
    }
}
