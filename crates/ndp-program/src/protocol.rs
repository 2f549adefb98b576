//! A program with a declared sensitivity set is a protocol like all others, for `check`, `least_noise`,
//! `compare` and `audit`.

use crate::account::{NodeVerdict, ProgramAccount};
use crate::adaptivity::Dependence;
use crate::build::Program;
use crate::options::AccountOptions;
use crate::sensitivity::SensitivitySet;
use crate::simulate::Statistic;
use ndp_account::parts::profile_between;
use ndp_account::{
    Account, Assumption, Attacker, By, Changes, Error, Law, Noise, Observer, Protocol, RestsOn, Terms,
};
use ndp_dp::{Exact, Gdp, Grade, NoiseMultiplier, Profile, UpperBound};
use ndp_numeric::stop::Stop;
use rand::Rng;

/// A program with its neighboring inputs.
///
/// All variances of the program are in units of the square of a common noise: at [`NoiseMultiplier`] `s`, a
/// view with loss `Q` is `√Q / s`-GDP. A change that is seen without noise gives the profile of data that are
/// revealed.
///
/// # Examples
/// ```
/// use ndp_account::{Account as _, Observer, Protocol};
/// use ndp_program::{Declared, SensitivitySet, constructors::decor};
/// use ndp_dp::NoiseMultiplier;
/// use ndp_graph::generators::cycle_graph;
/// let decor = Declared::new(decor(&cycle_graph(5)?, 1, 1, 1)?, SensitivitySet::UseLevel);
/// let account = Protocol::account(&decor, &Observer::outsider())?;
/// let mu = account.profile(0, NoiseMultiplier::new(1.0)?)?.mu().map(|mu| mu.value().mu());
/// assert!((mu.unwrap_or(0.0) - (5.0_f64 / 11.0).sqrt()).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Declared {
    /// The program.
    pub program: Program,
    /// The neighboring inputs.
    pub sensitivity: SensitivitySet,
    /// The options of its accounts.
    pub options: AccountOptions,
    /// A description of the common noise.
    pub noise: Noise,
    /// What may change, if there is a better name for it than the set gives: gradients instead of uses.
    pub changes: Option<Changes>,
}

impl Declared {
    /// The program with this sensitivity set and the default options.
    #[must_use]
    pub fn new(program: Program, sensitivity: SensitivitySet) -> Self {
        let options = AccountOptions::default();
        Self { program, sensitivity, options, noise: Self::TERMS.noise, changes: None }
    }

    /// What numbers of programs mean if every node's data are used once.
    pub const TERMS: Terms = Terms {
        changes: Changes::Value,
        neighbors: Terms::VALUES.neighbors,
        noise: Noise {
            law: Law::Gaussian,
            unit: "the sensitivity of a use",
            on: "the values of the program, whose variances are in units of its square",
        },
        by: By { function: "ndp_program::Program::account", theorem: "Programs" },
        trusts: Terms::VALUES.trusts,
    };

    /// What its numbers mean. If data are used only once, sets that treat all uses alike are the same.
    pub(crate) fn terms(&self) -> Terms {
        let nodes = self.program.node_count();
        let once = (0..nodes).all(|u| self.program.uses(u) <= 1);
        let changes = match of_set(&self.sensitivity) {
            Changes::Declared => Changes::Declared,
            _ if once => Changes::Value,
            other => other,
        };
        let changes = self.changes.unwrap_or(changes);
        Terms { changes, noise: self.noise, ..Self::TERMS }
    }
}

/// What may change under a set.
fn of_set(set: &SensitivitySet) -> Changes {
    match set {
        SensitivitySet::UseLevel => Changes::OneUse,
        SensitivitySet::SameDirection => Changes::UsesAlike,
        SensitivitySet::Signs => Changes::EveryNumber,
        SensitivitySet::Vectors { .. } => Changes::EveryGradient,
        SensitivitySet::Along(_) | SensitivitySet::Patterns { .. } | SensitivitySet::Bounded { .. } => {
            Changes::Declared
        }
    }
}

impl Protocol for Declared {
    fn node_count(&self) -> usize {
        self.program.node_count()
    }

    fn account_until<'a>(&'a self, observer: &Observer, stop: &Stop) -> Result<Box<dyn Account + 'a>, Error> {
        let options = AccountOptions {
            memory_limit: self.options.memory_limit.min(stop.memory()),
            stop: stop.clone(),
            ..self.options.clone()
        };
        let account = self.program.account_with(observer, &options)?;
        let terms = self.terms();
        let terms = Terms { by: account.engine.by(terms.by.theorem), ..terms };
        Ok(Box::new(Accounted { account, sensitivity: &self.sensitivity, terms }))
    }

    /// The symmetries of the program, if the set and the options treat all nodes alike.
    fn symmetries(&self) -> Vec<Vec<u32>> {
        let alike = match self.sensitivity {
            SensitivitySet::UseLevel
            | SensitivitySet::SameDirection
            | SensitivitySet::Signs
            | SensitivitySet::Vectors { .. } => self.options == AccountOptions::default(),
            SensitivitySet::Along(_) | SensitivitySet::Patterns { .. } | SensitivitySet::Bounded { .. } => {
                false
            }
        };
        if alike { self.program.symmetries() } else { Vec::new() }
    }

    fn error_until(&self, noise: NoiseMultiplier, stop: &Stop) -> Result<f64, Error> {
        stop.check()?;
        self.program.error(noise)
    }

    fn message_count(&self) -> Result<f64, Error> {
        Ok(self.program.sent() as f64)
    }

    fn program_text(&self) -> Result<Vec<u8>, Error> {
        Ok(self.program.text())
    }

    fn attack<'a>(
        &'a self,
        u: usize,
        observer: &Observer,
        noise: NoiseMultiplier,
    ) -> Result<Box<dyn Attacker + 'a>, Error> {
        let account = self.program.account_with(observer, &self.options)?;
        let change = account.worst_change(u, &self.sensitivity)?;
        let statistic = Statistic::new(&account, u, &change)?;
        Ok(Box::new(InRuns { program: &self.program, statistic, noise }))
    }
}

/// An account for a sensitivity set.
struct Accounted<'a> {
    account: ProgramAccount,
    sensitivity: &'a SensitivitySet,
    terms: Terms,
}

impl Accounted<'_> {
    /// Whether what is accounted for is what the observer sees, and not more: some messages may be lost, and
    /// what contributions depend on may be revealed to the account alone.
    fn is_attained(&self) -> bool {
        let lost = self.rests_on().contains(&RestsOn::Losses);
        !lost && !self.account.adaptivity.is_revealed()
    }
}

impl Account for Accounted<'_> {
    fn observer(&self) -> &Observer {
        self.account.observer()
    }

    fn node_count(&self) -> usize {
        self.account.node_count()
    }

    fn profile(&self, u: usize, noise: NoiseMultiplier) -> Result<Profile, Error> {
        let u = self.observer().checked_source(u, self.node_count())?;
        let against = self.observer().to_string();
        let loss = match self.account.verdict(u, self.sensitivity)? {
            NodeVerdict::Bounded(loss) => loss,
            NodeVerdict::Noiseless { .. } => {
                let endless = Gdp::new(f64::INFINITY)?;
                let attained = self.is_attained();
                let mu = if attained { Exact::new(endless).into() } else { UpperBound::new(endless).into() };
                return Ok(Profile::gaussian(mu, &against));
            }
        };
        let exact = loss.value.grade() == Grade::Exact;
        profile_between((loss.lower, loss.value()), exact, noise, &against)
    }

    fn unit(&self, u: usize) -> Result<Option<(f64, f64)>, Error> {
        let u = self.observer().checked_source(u, self.node_count())?;
        Ok(Some(match self.account.verdict(u, self.sensitivity)? {
            NodeVerdict::Bounded(loss) => (loss.lower, loss.value()),
            NodeVerdict::Noiseless { .. } if self.is_attained() => (f64::INFINITY, f64::INFINITY),
            NodeVerdict::Noiseless { .. } => (0.0, f64::INFINITY),
        }))
    }

    fn terms(&self) -> Terms {
        self.terms
    }

    fn failure(&self) -> f64 {
        self.account.failure
    }

    fn rests_on(&self) -> Vec<RestsOn> {
        self.account.rests_on(self.sensitivity)
    }

    fn assumptions(&self) -> Vec<Assumption> {
        self.account.assumptions()
    }
}

impl ProgramAccount {
    /// What every loss of this account takes for granted.
    #[must_use]
    pub fn assumptions(&self) -> Vec<Assumption> {
        let trusted = self.program.trusted();
        let reads = match self.adaptivity {
            Dependence::Fixed => trusted.contributes_late.then_some(Assumption::Fixed),
            Dependence::Assumed => Some(Assumption::ReadsSeen),
            Dependence::Checked | Dependence::Revealed => Some(Assumption::ReadsDeclared),
            Dependence::RevealedAndAssumed => Some(Assumption::ReadsDeclaredOrSeen),
        };
        let sums = trusted.secure_sums.then_some(Assumption::SecureSums);
        let noises = trusted.shared_noises.then_some(Assumption::SharedNoise);
        // Another node's result that does not follow from what the observer sees would tell it more.
        let (members, known) = (&self.seen.members, &self.seen.known_from);
        let hidden = self.program.results.iter().any(|(&v, &value)| !members[v] && known[value].is_none());
        let kept = (hidden || self.observer.members().is_empty()).then_some(Assumption::NothingPublished);
        [reads, sums, noises, kept].into_iter().flatten().collect()
    }
}

/// The best linear statistic, evaluated in real runs.
struct InRuns<'a> {
    program: &'a Program,
    statistic: Statistic,
    noise: NoiseMultiplier,
}

impl Attacker for InRuns<'_> {
    fn scores(&self, higher: bool, runs: usize, rng: &mut dyn Rng) -> Result<Vec<f64>, Error> {
        let mut scores = Vec::with_capacity(runs);
        // The coordinates of a vector are independent runs.
        while scores.len() < runs {
            let width = AT_ONCE.min(runs - scores.len());
            scores.extend(self.statistic.scores(self.program, higher, width, self.noise, rng)?);
        }
        Ok(scores)
    }

    fn shown_mu(&self) -> Option<f64> {
        Some(self.statistic.shown_mu(self.noise))
    }
}

/// The number of runs that are simulated at a time.
const AT_ONCE: usize = 64;
