//! What losses mean for somebody who guesses.

use ndp_account::Account;
use ndp_dp::{NoiseMultiplier, Profile};
use ndp_numeric::decimal::{Round, percent};

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
    for (account, u) in pairs {
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
