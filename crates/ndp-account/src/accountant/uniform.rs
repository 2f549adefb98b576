//! Accounts with the same unit loss for every node: bounds that take no time, and the losses from what is
//! published.

use super::linear::{between, noise_of_unit};
use super::{Account, Observer};
use crate::{Error, Terms};
use ndp_dp::{Grade, Guarantee, Measure, NoiseMultiplier, Profile};

/// One unit loss for all nodes outside the observer, who may be an outsider.
pub(crate) struct Uniform {
    nodes: usize,
    unit: Guarantee<f64>,
    observer: Observer,
    terms: Terms,
}

impl Uniform {
    /// The account of the observer.
    ///
    /// # Errors
    /// As [`Observer::checked`], but for an outsider.
    pub(crate) fn account(
        nodes: usize,
        unit: Guarantee<f64>,
        observer: &Observer,
        terms: Terms,
    ) -> Result<Box<dyn Account>, Error> {
        if !observer.members().is_empty() {
            observer.checked(nodes)?;
        }
        Ok(Box::new(Self { nodes, unit, observer: observer.clone(), terms }))
    }
}

impl Account for Uniform {
    fn observer(&self) -> &Observer {
        &self.observer
    }

    fn node_count(&self) -> usize {
        self.nodes
    }

    fn terms(&self) -> Terms {
        self.terms
    }

    fn profile(&self, u: usize, noise: NoiseMultiplier) -> Result<Profile, Error> {
        self.observer.checked_source(u, self.nodes)?;
        let (unit, exact) = (*self.unit.value(), self.unit.grade() == Grade::Exact);
        between((if exact { unit } else { 0.0 }, unit), exact, noise, &self.observer.to_string())
    }

    /// The profile depends on nothing but the unit loss and its grade. No account has the address 0.
    fn class(&self) -> Option<(usize, usize)> {
        let exact = self.unit.grade() == Grade::Exact;
        let bits = usize::try_from(self.unit.value().to_bits()).ok()?;
        // Unit losses are not negative, so their sign bit can hold the grade.
        Some((0, bits | usize::from(exact).rotate_right(1)))
    }

    fn least_noise(
        &self,
        u: usize,
        measure: Measure,
        allowed: f64,
    ) -> Result<Option<NoiseMultiplier>, Error> {
        self.observer.checked_source(u, self.nodes)?;
        noise_of_unit(*self.unit.value(), measure, allowed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndp_dp::{Exact, UpperBound};

    /// The class consists of the number and the grade, for every observer.
    #[test]
    fn classes_tell_numbers_and_grades_apart() -> Result<(), Error> {
        let class = |unit: Guarantee<f64>, observer| {
            Uniform::account(4, unit, &observer, Terms::VALUES).map(|account| account.class())
        };
        let one: Guarantee<f64> = UpperBound::new(1.0).into();
        assert_eq!(class(one, Observer::node(0))?, class(one, Observer::node(3))?);
        assert_ne!(class(one, Observer::node(0))?, class(Exact::new(1.0).into(), Observer::node(0))?);
        assert_ne!(class(one, Observer::node(0))?, class(UpperBound::new(2.0).into(), Observer::node(0))?);
        Ok(())
    }

    /// The formula gives the noise that a search finds, and a loss of exactly 0 needs no noise.
    #[test]
    fn noise_by_formula_meets_the_limit() -> Result<(), Error> {
        let account = Uniform::account(3, UpperBound::new(4.0).into(), &Observer::node(1), Terms::VALUES)?;
        let noise = account.least_noise(0, Measure::Gaussian, 0.5)?.ok_or(Error::Cancelled)?;
        assert!((noise.get() - 4.0).abs() < 1e-12);
        assert!(account.profile(0, noise)?.mu().is_some_and(|mu| mu.value().mu() <= 0.5));
        assert!(matches!(account.profile(1, noise), Err(Error::SourceIsObserver(1))));
        let nothing = Uniform::account(3, Exact::new(0.0).into(), &Observer::outsider(), Terms::VALUES)?;
        assert_eq!(nothing.least_noise(0, Measure::Gaussian, 0.5)?, None);
        let mu = nothing.profile(2, noise)?.mu();
        assert!(mu.is_some_and(|mu| mu.value().mu() == 0.0 && mu.grade() == Grade::Exact));
        Ok(())
    }
}
