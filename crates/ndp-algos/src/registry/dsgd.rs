//! Decentralized SGD with noise that is correlated over time, stated as a program.
//!
//! Two declarations determine what its account means, and the user has to make both: whether all gradients of
//! a node change alike, and whether they depend on what was received. Without them all data of a node may
//! change, and gradients may react to anything that anybody has seen; the account is then that of an observer
//! who hears every noisy gradient.

use super::programs::later;
use super::{Connections, Entry, Kind, Parameter, Setting};
use ndp_account::{Account, Attacker, Changes, Error, Noise, Observer, Protocol, Terms};
use ndp_dp::NoiseMultiplier;
use ndp_linalg::memory::require_memory;
use ndp_numeric::rounding::Interval;
use ndp_numeric::stop::Stop;
use ndp_program::{Declared, SensitivitySet, Weight, constructors, toeplitz};

pub(super) const DSGD: Entry = Entry {
    name: "dsgd",
    connections: Connections::Weighted,
    kind: Kind::Training,
    about: "decentralized SGD with noise in every step that reacts to noise before it",
    parameters: &[
        Parameter {
            name: "steps",
            about: "gradient steps of every node; 8 by default",
            default: |_, _| Ok(8.0),
        },
        Parameter {
            name: "correlation",
            about: "how much of a step's noise is taken back in the next, below 1 in size; 0 by default",
            default: |_, _| Ok(0.0),
        },
        Parameter {
            name: "alike",
            about: "1 where all gradients of a node change by the same vector; 0, the default, where all its data may change",
            default: |_, _| Ok(0.0),
        },
        Parameter {
            name: "fixed",
            about: "1 where gradients depend on nothing that was received; 0, the default, where they may",
            default: |_, _| Ok(0.0),
        },
    ],
    build: |setting: &Setting<'_>| {
        let steps = setting.count("steps")?;
        let back = setting.number("correlation");
        if back.is_nan() || back.abs() >= 1.0 {
            let (name, condition) = ("correlation", "be below 1 in size");
            return Err(Error::InvalidParameter { name, condition, value: back });
        }
        let alike = setting.flag("alike")?;
        let fixed = setting.flag("fixed")?;
        // There is a weight for every pair of steps, and there are the values of every node in every step.
        let (pairs, values) = (steps as u128 * steps as u128, steps as u128 * setting.nodes() as u128);
        require_memory("the noise of all steps", 64 * pairs + 512 * values)?;
        let noise = toeplitz(steps, &[Weight::from(1), Weight::from(-back)]);
        let options = constructors::Dsgd { noise, ..constructors::Dsgd::from(steps) };
        let matrix = setting.matrix.clone();
        // Changes that need not be alike add up in the worst case, whatever the sign of the correlation.
        let variance = variance_of_steps(steps, if alike { back } else { back.abs() });
        // Gradients are vectors; with as many dimensions as steps, every set of changes is possible.
        let set =
            if alike { SensitivitySet::SameDirection } else { SensitivitySet::Vectors { dimension: steps } };
        let on = "every gradient; of the next step takes back what correlation says";
        let noise = Noise::on_gradients(on);
        let changes = if alike { Changes::GradientsAlike } else { Changes::EveryGradient };
        let terms = Terms { changes, noise, ..Declared::TERMS };
        later(setting, variance, terms, move |_| {
            let declared = Declared::new(constructors::dsgd(&matrix, options.clone())?, set.clone());
            let declared = Declared { noise, changes: Some(changes), ..declared };
            Ok(if fixed { Box::new(declared) } else { Box::new(Heard { declared, variance, terms }) })
        })
    },
};

/// A training whose gradients may depend on anything that was sent. It is accounted for as if every noisy
/// gradient were heard, so that a gradient depends on nothing that the observer does not see.
struct Heard {
    declared: Declared,
    /// The variance of a single noise that hides as much as all noises of a node do from an observer who
    /// hears each noisy gradient.
    variance: f64,
    terms: Terms,
}

impl Protocol for Heard {
    fn node_count(&self) -> usize {
        self.declared.node_count()
    }

    fn account_until<'a>(&'a self, observer: &Observer, _: &Stop) -> Result<Box<dyn Account + 'a>, Error> {
        self.local_bound(observer)
    }

    fn local_bound<'a>(&'a self, observer: &Observer) -> Result<Box<dyn Account + 'a>, Error> {
        ndp_account::parts::local_bound(self.node_count(), Some(self.variance), observer, self.terms)
    }

    fn error_until(&self, noise: NoiseMultiplier, stop: &Stop) -> Result<f64, Error> {
        self.declared.error_until(noise, stop)
    }

    fn message_count(&self) -> Result<f64, Error> {
        self.declared.message_count()
    }

    fn attack<'a>(
        &'a self,
        u: usize,
        observer: &Observer,
        noise: NoiseMultiplier,
    ) -> Result<Box<dyn Attacker + 'a>, Error> {
        self.declared.attack(u, observer, noise)
    }
}

/// The variance of a single noise that hides as much as the noises of all steps do from an observer who hears
/// each noisy gradient, if all steps change alike; rounded down.
///
/// The noises are `L ζ` with `L = I - b S`, where `S` is the shift. A change of 1 in every step therefore has
/// `μ² = ‖L⁻¹ 1‖²`, and entry `t` of `L⁻¹ 1` is `1 + b + … + b^t`. Entry `(t, s)` of `L⁻¹` is `b^(t-s)`:
/// changes of length at most 1 in any directions have `μ² = Σ_t ‖Σ_s b^(t-s) δ_s‖² ≤ Σ_t (Σ_s |b|^(t-s))²`,
/// which is the value for `|b|` and is attained by suitable signs.
fn variance_of_steps(steps: usize, back: f64) -> f64 {
    let (mut sum, mut power, mut squares) = (Interval::new(0.0), Interval::new(1.0), Interval::new(0.0));
    for _ in 0..steps {
        sum = sum + power;
        power = power * Interval::new(back);
        squares = squares + sum * sum;
    }
    (Interval::new(1.0) / squares).low()
}
