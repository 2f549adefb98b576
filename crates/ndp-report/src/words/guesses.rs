//! What losses mean for somebody who guesses.

use ndp_account::Account;
use ndp_dp::{NoiseMultiplier, Profile};
use ndp_numeric::decimal::{Round, percent};
use std::collections::BTreeSet;

/// An upper bound on the share of cases in which somebody who sees all that an observer sees guesses right
/// between two equally likely worlds, for the pair of an observer and a node where it is largest. That need
/// not be the pair with the largest epsilon. `None` if nothing can be said of some pair, or if there are too
/// many that are not Gaussian.
#[must_use]
pub fn right_guesses<'a>(
    pairs: impl IntoIterator<Item = (&'a dyn Account, usize)>,
    noise: NoiseMultiplier,
) -> Option<f64> {
    // At ε = 0, δ is the total variation TV, and the best guess between two worlds is right with probability
    // (1 + TV)/2.
    let apart = |profile: &Profile| Some(profile.delta(0.0).ok()?.into_value().delta());
    let (mut largest, mut most, mut laws) = (None::<(f64, Profile)>, None, 0);
    let mut classes = BTreeSet::new();
    for (account, u) in pairs {
        // All pairs of a class have one profile.
        if account.class().is_some_and(|class| !classes.insert(class)) {
            continue;
        }
        let profile = account.profile(u, noise).ok()?;
        if let Some(mu) = profile.mu() {
            let mu = mu.into_value().mu();
            if largest.as_ref().is_none_or(|(other, _)| *other < mu) {
                largest = Some((mu, profile));
            }
            continue;
        }
        laws += 1;
        let found = Some(laws).filter(|laws| *laws <= MOST_GUESSES).and(apart(&profile))?;
        most = Some(found.max(most.unwrap_or(0.0)));
    }
    if let Some((_, profile)) = largest {
        most = Some(apart(&profile)?.max(most.unwrap_or(0.0)));
    }
    most.map(|apart| (0.5 + 0.5 * apart).next_up().min(1.0))
}

/// Laws that are not Gaussian and whose total variation is computed for one sentence.
const MOST_GUESSES: usize = 20_000;

/// What a loss means for somebody who guesses, from the share of right guesses.
#[must_use]
pub fn guesses(right: f64) -> String {
    format!(
        "somebody who thinks two worlds equally likely, and sees all that the observer sees, guesses the right one in at most \
         {} % of cases; guessing blindly is right in 50 %",
        percent(right, 1, Round::Up)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndp_account::{Error, Observer, Terms};
    use ndp_dp::{ApproxDp, Delta, UpperBound};
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// All pairs of one class, and how often their profile was asked for.
    struct Alike(Observer, AtomicUsize);

    impl Account for Alike {
        fn observer(&self) -> &Observer {
            &self.0
        }

        fn node_count(&self) -> usize {
            9
        }

        fn terms(&self) -> Terms {
            Terms::VALUES
        }

        fn class(&self) -> Option<(usize, usize)> {
            Some((std::ptr::from_ref(self).addr(), 0))
        }

        fn profile(&self, _: usize, _: NoiseMultiplier) -> Result<Profile, Error> {
            self.1.fetch_add(1, Ordering::Relaxed);
            let curve = |delta: Delta| Ok(UpperBound::new(ApproxDp::new(1.0, delta.get())?).into());
            Ok(Profile::of_curve(curve, "an observer"))
        }
    }

    /// A curve may take long, and all pairs of a class have the same.
    #[test]
    fn a_class_is_asked_once() -> Result<(), Error> {
        let account = Alike(Observer::node(0), AtomicUsize::new(0));
        let pairs = (1..9).map(|u| (&account as &dyn Account, u));
        let right = right_guesses(pairs, NoiseMultiplier::new(1.0)?);
        assert!(right.is_some_and(|right| (0.5..=1.0).contains(&right)), "{right:?}");
        assert_eq!(account.1.load(Ordering::Relaxed), 1);
        Ok(())
    }
}
