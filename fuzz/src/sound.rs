//! What every answer must satisfy: no NaN, and the ends of a bound in order.

use crate::input::{Ending, Stop};
use ndp_account::LossReport;
use ndp_dp::loss_law::Enclosed;
use ndp_dp::{
    ApproxDp, Delta, Gdp, Guarantee, NoiseMultiplier, ObserverLoss, PairwiseLoss, Rdp, Sigma, UnitLoss, Zcdp,
};
use ndp_numeric::rounding::Interval;

/// An answer that can be checked without the question.
pub(crate) trait Sound {
    fn sound(&self) -> Ending;
}

/// Ends the run as wrong unless `holds`.
pub(crate) fn require(holds: bool, what: impl FnOnce() -> String) -> Ending {
    if holds { Ok(()) } else { Err(Stop::Wrong(what())) }
}

/// Checks what a function that cannot refuse returned.
pub(crate) fn sound<T: Sound>(answer: T) -> Ending {
    answer.sound()
}

/// Checks what a function that may refuse returned.
pub(crate) fn answered<T: Sound, E>(answer: Result<T, E>) -> Ending
where
    Stop: From<E>,
{
    answer?.sound()
}

/// Lets any number pass, where the arguments do not say what it must be: only ends of another kind than
/// returning are looked for.
pub(crate) fn returned<T>(answer: T) -> Ending {
    std::hint::black_box(&answer);
    Ok(())
}

impl Sound for f64 {
    fn sound(&self) -> Ending {
        require(!self.is_nan(), || "NaN".to_owned())
    }
}

impl Sound for () {
    fn sound(&self) -> Ending {
        Ok(())
    }
}

macro_rules! always {
    ($($kind:ty),*) => {$(
        impl Sound for $kind {
            fn sound(&self) -> Ending {
                Ok(())
            }
        }
    )*};
}

always!(bool, u8, u32, u64, i64, usize, String, ndp_dp::Verdict, ndp_graph::Graph);

impl<T: Sound> Sound for Vec<T> {
    fn sound(&self) -> Ending {
        self.iter().try_for_each(Sound::sound)
    }
}

impl<T: Sound> Sound for Option<T> {
    fn sound(&self) -> Ending {
        self.iter().try_for_each(Sound::sound)
    }
}

impl<T: Sound, U: Sound> Sound for (T, U) {
    fn sound(&self) -> Ending {
        self.0.sound()?;
        self.1.sound()
    }
}

macro_rules! graded {
    ($($kind:ident),*) => {$(
        impl<T: Sound> Sound for ndp_dp::$kind<T> {
            fn sound(&self) -> Ending {
                self.value().sound()
            }
        }
    )*};
}

graded!(Exact, UpperBound, Printed, Estimate);

impl<T: Sound> Sound for Guarantee<T> {
    fn sound(&self) -> Ending {
        self.value().sound()
    }
}

impl<T: Sound> Sound for ndp_dp::calibration::Calibrated<T> {
    fn sound(&self) -> Ending {
        self.parameter.sound()?;
        self.reached.sound()
    }
}

macro_rules! number {
    ($($kind:ty: $get:ident),*) => {$(
        impl Sound for $kind {
            fn sound(&self) -> Ending {
                self.$get().sound()
            }
        }
    )*};
}

number!(Sigma: get, NoiseMultiplier: get, Delta: get, UnitLoss: get, Gdp: mu, Zcdp: rho);

impl Sound for ApproxDp {
    fn sound(&self) -> Ending {
        let (epsilon, delta) = (self.epsilon(), self.delta());
        require(epsilon >= 0.0 && (0.0..=1.0).contains(&delta), || {
            format!("epsilon {epsilon}, delta {delta}")
        })
    }
}

impl Sound for Rdp {
    fn sound(&self) -> Ending {
        require(self.epsilon >= 0.0, || format!("a Rényi loss of {}", self.epsilon))
    }
}

impl Sound for Enclosed {
    fn sound(&self) -> Ending {
        let (low, high) = (self.lower(), self.upper());
        require(low <= high, || format!("ends {low} and {high}"))
    }
}

impl Sound for Interval {
    fn sound(&self) -> Ending {
        let (low, high) = (self.low(), self.high());
        require(low <= high, || format!("ends {low} and {high}"))
    }
}

impl Sound for ObserverLoss {
    fn sound(&self) -> Ending {
        self.unit.iter().try_for_each(Sound::sound)
    }
}

impl Sound for PairwiseLoss {
    fn sound(&self) -> Ending {
        returned(self)
    }
}

impl Sound for LossReport {
    fn sound(&self) -> Ending {
        self.mean().sound()
    }
}
