//! The one question of every protocol: what an observer learns about a node at a noise, and what is written once on it.

use crate::errors::{Fault, one_of};
use crate::grades::{Number, class};
use crate::kind::Kind;
use crate::losses::{measure, verdict};
use crate::question::{noise, patience};
use crate::worker::run;
use ndp_account::parts::Replaced;
use ndp_account::{Error, LossReport, NodeNames, Observer, PairLedgers, Target, account_or_bound};
use ndp_dp::{Adaptivity, Delta, Measure, NoiseMultiplier, Odometer, Order};
use ndp_graph::progress::Stop;
use ndp_report::words;
use numpy::PyArray1;
use pyo3::prelude::*;
use self_cell::self_cell;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

type Held<'a> = Box<dyn ndp_account::Account + 'a>;

self_cell!(
    /// What an observer sees, with the protocol that it borrows from.
    struct Cell {
        owner: Arc<Kind>,
        #[covariant]
        dependent: Held,
    }
);

/// What one observer sees of a protocol, ready to be asked about nodes and noises.
#[pyclass(frozen, module = "ndp._ndp")]
pub(crate) struct Account {
    cell: Arc<Cell>,
    /// What a bound stands for, where there is a limit.
    replaced: Replaced,
}

impl Account {
    /// Answers that it works out later do not end with the call that made it.
    pub(crate) fn new(kind: Arc<Kind>, observer: &Observer, stop: &Stop) -> Result<Self, Fault> {
        Self::of(
            Cell::try_new(kind, |kind| kind.protocol().account_until(observer, stop)),
            Replaced::default(),
        )
    }

    fn of(cell: Result<Cell, Error>, replaced: Replaced) -> Result<Self, Fault> {
        Ok(Self { cell: Arc::new(cell?), replaced })
    }

    /// The account; or the bound that is known at once, where this call or a later question is not answered within
    /// so many seconds.
    pub(crate) fn within(
        kind: Arc<Kind>,
        observer: &Observer,
        stop: &Stop,
        seconds: Duration,
    ) -> Result<Self, Fault> {
        let mut replaced = Replaced::default();
        let cell = Cell::try_new(kind, |kind| {
            let (account, by_bound) = account_or_bound(kind.protocol(), observer, stop, seconds)?;
            replaced = by_bound;
            Ok(account)
        });
        Self::of(cell, replaced)
    }

    /// The bound that holds at no cost.
    pub(crate) fn bound(kind: Arc<Kind>, observer: &Observer) -> Result<Self, Fault> {
        Self::of(Cell::try_new(kind, |kind| kind.protocol().local_bound(observer)), Replaced::default())
    }

    fn held(&self) -> &Held<'_> {
        self.cell.borrow_dependent()
    }
}

#[pymethods]
impl Account {
    /// What the observer, by the labels that Python knows, can tell about node `u`.
    fn profile(
        &self,
        py: Python<'_>,
        u: usize,
        sigma: f64,
        sensitivity: f64,
        against: &str,
    ) -> Result<Profile, Fault> {
        let (cell, noise) = (Arc::clone(&self.cell), noise(sigma, sensitivity)?);
        self.held().terms().check_sensitivity(sensitivity)?;
        let mut found = run(py, move || Ok(cell.borrow_dependent().profile(u, noise)?))?;
        found.against = against.into();
        Ok(Profile(found))
    }

    /// The losses of all nodes in the same terms, infinite for members, and whether all are exact.
    #[pyo3(signature = (sigma, sensitivity, order=None, delta=None))]
    fn table<'py>(
        &self,
        py: Python<'py>,
        sigma: f64,
        sensitivity: f64,
        order: Option<f64>,
        delta: Option<f64>,
    ) -> Result<(Bound<'py, PyArray1<f64>>, &'static str), Fault> {
        let (cell, noise, measure) =
            (Arc::clone(&self.cell), noise(sigma, sensitivity)?, measure(order, delta)?);
        self.held().terms().check_sensitivity(sensitivity)?;
        let (losses, grade) = run(py, move || {
            let account = cell.borrow_dependent();
            let mut grade = ndp_dp::Grade::Exact;
            let losses = (0..account.node_count()).map(|u| {
                if account.observer().contains(u) {
                    return Ok(f64::INFINITY);
                }
                let loss = account.profile(u, noise)?.loss(measure)?;
                grade = grade.max(loss.grade());
                Ok(loss.into_value())
            });
            Ok((losses.collect::<Result<Vec<f64>, Error>>()?, grade))
        })?;
        Ok((PyArray1::from_vec(py, losses), class(grade)))
    }

    /// Where a bound stands for what is really seen, and why.
    fn notes(&self) -> Vec<String> {
        words::replaced_for_one(&self.replaced, patience)
    }

    /// Probability that the account is too small, at most.
    fn failure(&self) -> f64 {
        self.held().failure()
    }
}

/// An account that somebody else holds.
struct Borrowed(Arc<Cell>);

impl ndp_account::Account for Borrowed {
    // The class may hold an address inside the protocol, which the cell keeps in use.
    ndp_account::forward! { self.0.borrow_dependent() =>
        fn observer(&self) -> &Observer;
        fn node_count(&self) -> usize;
        fn names(&self) -> NodeNames;
        fn profile(&self, u: usize, noise: NoiseMultiplier) -> Result<ndp_dp::Profile, Error>;
        fn failure(&self) -> f64;
        fn terms(&self) -> ndp_account::Terms;
        fn theorems(&self) -> Vec<ndp_account::By>;
        fn rests_on(&self) -> Vec<ndp_account::RestsOn>;
        fn class(&self) -> Option<(usize, usize)>;
        fn mirror_of(&self) -> Option<usize>;
        fn is_by_bound(&self) -> bool;
        fn assumptions(&self) -> Vec<ndp_account::Assumption>;
        fn unit_losses(&self) -> Option<&LossReport>;
        fn unit(&self, u: usize) -> Result<Option<(f64, f64)>, Error>;
        fn least_noise(&self, u: usize, measure: Measure, allowed: f64) -> Result<Option<NoiseMultiplier>, Error>;
    }
}

/// The accounts that Python holds, and the number of their nodes.
pub(crate) fn boxed(accounts: Vec<PyRef<'_, Account>>) -> Result<(Vec<Held<'static>>, usize), Fault> {
    let nodes = accounts.first().map(|account| account.held().node_count());
    let nodes = nodes.ok_or_else(|| Fault::new("the number of observers must be at least 1, got 0"))?;
    Ok((
        accounts.iter().map(|account| Box::new(Borrowed(Arc::clone(&account.cell))) as Held<'_>).collect(),
        nodes,
    ))
}

/// What can be told about one node: a graded privacy profile.
#[pyclass(frozen, module = "ndp._ndp")]
pub(crate) struct Profile(pub(crate) ndp_dp::Profile);

#[pymethods]
impl Profile {
    /// The Gaussian parameter, where the profile is Gaussian.
    fn mu(&self) -> Option<Number> {
        self.0.mu().map(|mu| Number::new(mu.map(ndp_dp::Gdp::mu), "mu"))
    }

    fn rdp(&self, py: Python<'_>, order: f64) -> Result<Number, Fault> {
        let (profile, at) = (self.0.clone(), Order::new(order)?);
        run(py, move || {
            let loss = profile.renyi(at)?.map(|rdp| rdp.epsilon);
            Ok(Number::new(loss, "Rényi loss").with("order", order).between(Some(profile.neighbors)))
        })
    }

    fn epsilon(&self, py: Python<'_>, delta: f64) -> Result<Number, Fault> {
        let (profile, at) = (self.0.clone(), Delta::new(delta)?);
        run(py, move || {
            let dp = profile.epsilon(at)?;
            let met = dp.value().delta();
            let epsilon = dp.map(|dp| dp.epsilon());
            Ok(Number::epsilon(epsilon, met).between(Some(profile.neighbors)))
        })
    }

    fn delta(&self, py: Python<'_>, epsilon: f64) -> Result<Number, Fault> {
        let profile = self.0.clone();
        run(py, move || {
            let dp = profile.delta(epsilon)?;
            let delta = dp.map(|dp| dp.delta());
            Ok(Number::delta(delta, epsilon).between(Some(profile.neighbors)))
        })
    }

    /// Against whom it holds.
    fn against(&self) -> String {
        self.0.against.to_string()
    }

    /// The neighboring relation.
    fn neighbors(&self) -> String {
        self.0.neighbors.to_string()
    }

    fn words(&self) -> String {
        self.0.to_string()
    }
}

/// The profile of several releases together.
#[pyfunction]
pub(crate) fn compose_profiles(py: Python<'_>, parts: Vec<PyRef<'_, Profile>>) -> Result<Profile, Fault> {
    let parts: Vec<ndp_dp::Profile> = parts.iter().map(|part| part.0.clone()).collect();
    Ok(Profile(run(py, move || Ok(ndp_dp::Profile::compose(&parts)?))?))
}

/// What several runs have cost every pair together.
#[pyclass(frozen, module = "ndp._ndp")]
pub(crate) struct Ledger(Arc<Mutex<Runs>>);

/// The ledgers of all pairs, once it is known of how many nodes.
struct Runs {
    budget: Budget,
    ledgers: Option<PairLedgers>,
}

/// What was fixed before the first run.
#[derive(Clone, Copy)]
enum Budget {
    Nothing,
    Limit(Measure, f64),
    Odometer(Odometer),
}

impl Runs {
    /// Before the first run, of so many nodes.
    fn empty(&self, nodes: usize) -> Result<PairLedgers, Error> {
        let names = NodeNames::numbered(nodes);
        match self.budget {
            Budget::Nothing => Ok(PairLedgers::new(names)),
            Budget::Limit(measure, allowed) => {
                PairLedgers::with_limits(names, Target::worst(measure, allowed))
            }
            Budget::Odometer(odometer) => Ok(PairLedgers::with_odometer(names, odometer)),
        }
    }
}

fn adaptivity(word: &str) -> Result<Adaptivity, Fault> {
    use Adaptivity::{Fixed, OnHidden, OnSeen};
    one_of("adaptivity", [("fixed", Fixed), ("on_seen", OnSeen), ("on_hidden", OnHidden)], word)
}

fn locked(runs: &Mutex<Runs>) -> Result<MutexGuard<'_, Runs>, Fault> {
    runs.lock().map_err(|_| Fault::Panicked)
}

/// The accounts, their nodes named by where they are in the ledger.
fn placed(
    accounts: Vec<PyRef<'_, Account>>,
    places: Option<Vec<usize>>,
) -> Result<(Vec<Held<'static>>, usize), Fault> {
    let (accounts, nodes) = boxed(accounts)?;
    let Some(places) = places else { return Ok((accounts, nodes)) };
    let names = NodeNames::new(places.iter().map(ToString::to_string))?;
    let named = accounts.into_iter().map(|account| ndp_account::named(account, names.clone()));
    Ok((named.collect::<Result<_, _>>()?, nodes))
}

impl Ledger {
    fn lock(&self) -> Result<MutexGuard<'_, Runs>, Fault> {
        locked(&self.0)
    }

    fn pair(&self, u: usize, members: &[usize]) -> Result<ndp_dp::Ledger, Fault> {
        let runs = self.lock()?;
        let found =
            runs.ledgers.as_ref().and_then(|ledgers| ledgers.pair(u, &Observer::coalition(members)).cloned());
        found.ok_or_else(|| Fault::new("no run was recorded for this node and this observer"))
    }
}

#[pymethods]
impl Ledger {
    #[new]
    #[pyo3(signature = (allowed=None, order=None, delta=None, rho=None))]
    fn new(
        allowed: Option<f64>,
        order: Option<f64>,
        delta: Option<f64>,
        rho: Option<f64>,
    ) -> Result<Self, Fault> {
        let budget = match (allowed, rho, delta) {
            (Some(allowed), None, _) => Budget::Limit(measure(order, delta)?, allowed),
            (None, Some(rho), Some(delta)) => Budget::Odometer(Odometer::new(rho, Delta::new(delta)?)?),
            (None, None, _) => Budget::Nothing,
            _ => return Err(Fault::new("a ledger has a limit, or an odometer with its delta, not both")),
        };
        let runs = Runs { budget, ledgers: None };
        runs.empty(0)?;
        Ok(Self(Arc::new(Mutex::new(runs))))
    }

    /// `places` says where the nodes of these accounts are among those of the first run, if not where they are here.
    #[pyo3(signature = (name, accounts, sigma, sensitivity, adaptivity, places=None))]
    fn record(
        &self,
        py: Python<'_>,
        name: String,
        accounts: Vec<PyRef<'_, Account>>,
        sigma: f64,
        sensitivity: f64,
        adaptivity: &str,
        places: Option<Vec<usize>>,
    ) -> Result<(), Fault> {
        let (noise, adaptivity) = (noise(sigma, sensitivity)?, self::adaptivity(adaptivity)?);
        let (runs, (accounts, nodes)) = (Arc::clone(&self.0), placed(accounts, places)?);
        accounts.iter().try_for_each(|account| account.terms().check_sensitivity(sensitivity))?;
        run(py, move || {
            let mut runs = locked(&runs)?;
            if let Some(ledgers) = &mut runs.ledgers {
                return Ok(ledgers.record(&name, &accounts, noise, adaptivity)?);
            }
            let mut first = runs.empty(nodes)?;
            first.record(&name, &accounts, noise, adaptivity)?;
            runs.ledgers = Some(first);
            Ok(())
        })
    }

    #[pyo3(signature = (accounts, sigma, sensitivity, adaptivity, places=None))]
    fn fits(
        &self,
        py: Python<'_>,
        accounts: Vec<PyRef<'_, Account>>,
        sigma: f64,
        sensitivity: f64,
        adaptivity: &str,
        places: Option<Vec<usize>>,
    ) -> Result<bool, Fault> {
        let (noise, adaptivity) = (noise(sigma, sensitivity)?, self::adaptivity(adaptivity)?);
        let (runs, (accounts, nodes)) = (Arc::clone(&self.0), placed(accounts, places)?);
        accounts.iter().try_for_each(|account| account.terms().check_sensitivity(sensitivity))?;
        run(py, move || {
            let runs = locked(&runs)?;
            Ok(match &runs.ledgers {
                Some(ledgers) => ledgers.fits(&accounts, noise, adaptivity)?,
                None => runs.empty(nodes)?.fits(&accounts, noise, adaptivity)?,
            })
        })
    }

    fn verdict(&self) -> Result<&'static str, Fault> {
        let runs = self.lock()?;
        Ok(verdict(match &runs.ledgers {
            Some(ledgers) => ledgers.verdict()?,
            None => runs.empty(0)?.verdict()?,
        }))
    }

    /// Probability that any of the accounts is too small, all runs and observers together.
    fn failure(&self) -> Result<f64, Fault> {
        Ok(self.lock()?.ledgers.as_ref().map_or(0.0, PairLedgers::failure))
    }

    fn spent(&self, u: usize, members: Vec<usize>, against: &str) -> Result<Profile, Fault> {
        let mut spent = self.pair(u, &members)?.spent()?;
        spent.against = against.into();
        Ok(Profile(spent))
    }

    fn remaining(&self, u: usize, members: Vec<usize>) -> Result<Number, Fault> {
        Ok(Number::new(self.pair(u, &members)?.remaining()?, "what is left"))
    }

    /// The pairs that have a ledger: exposed node, members of the observer.
    fn pairs(&self) -> Result<Vec<(usize, Vec<usize>)>, Fault> {
        let runs = self.lock()?;
        let pairs = runs.ledgers.iter().flat_map(PairLedgers::pairs);
        Ok(pairs.map(|(u, observer, _)| (u, observer.members().to_vec())).collect())
    }
}
