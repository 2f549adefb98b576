//! What a question brings with it: who observes, noises, seeds, caps, what becomes of the last token.

use crate::errors::{Fault, one_of};
use ndp_account::Observer;
use ndp_account::parts::{Limit, Patient};
use ndp_algos::walk::FinalToken;
use ndp_dp::{NoiseMultiplier, Sensitivity, Sigma};
use ndp_graph::progress::Stop;
use ndp_report::words;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use std::time::Duration;

/// Who observes: members, whether they use their own noise, whether senders are hidden, which edges they overhear.
pub(crate) type Who = (Vec<usize>, bool, bool, Vec<(usize, usize)>);

pub(crate) fn observer((members, own_noise, hidden_senders, tapped): Who) -> Observer {
    let mut observer = Observer::coalition(&members);
    if !own_noise {
        observer = observer.without_own_noise();
    }
    if hidden_senders {
        observer = observer.with_hidden_senders();
    }
    observer.tapping(&tapped)
}

/// How long an answer may take that `stop` ends as well: so many seconds, counted work where none are told, and as long as it takes
/// where they are infinite.
pub(crate) fn limit(patience: Option<f64>, stop: &Stop) -> Result<Limit, Fault> {
    let limit = match patience {
        Some(f64::INFINITY) => Limit::never(),
        None => Limit::told(None),
        Some(seconds) => Limit::told(Some(
            Duration::try_from_secs_f64(seconds)
                .map_err(|_| Fault::new("patience is a number of seconds, 0 or more"))?,
        )),
    };
    Ok(limit.and(stop.clone()))
}

/// What is said of bounds in place of accounts.
pub(crate) fn notes(protocol: &Patient<'_>) -> Vec<String> {
    words::replaced(protocol, patience)
}

/// How one asks for so much patience.
pub(crate) fn patience(much: &str) -> String {
    format!("patience={much}")
}

/// `σ/Δ`, rounded down, so that no more noise is accounted for than there is.
pub(crate) fn noise(sigma: f64, sensitivity: f64) -> Result<NoiseMultiplier, Fault> {
    let (sigma, sensitivity) = (Sigma::new(sigma)?, Sensitivity::new(sensitivity)?);
    let ratio = sigma.multiplier(sensitivity)?.get();
    // The remainder of a rounded quotient is exact.
    let above = ratio.mul_add(sensitivity.get(), -sigma.get()) > 0.0;
    Ok(NoiseMultiplier::new(if above { ratio.next_down() } else { ratio })?)
}

/// `x y` of two nonnegative numbers, rounded up.
pub(crate) fn scaled_up(x: f64, y: f64) -> f64 {
    let product = x * y;
    // Exact where the product is normal; a denormal one may be too small unnoticed.
    let below = x.mul_add(y, -product) > 0.0 || (product < f64::MIN_POSITIVE && x > 0.0 && y > 0.0);
    if below { product.next_up() } else { product }
}

/// The noise of a multiplier, rounded up.
pub(crate) fn sigma(noise: NoiseMultiplier, sensitivity: f64) -> Result<f64, Fault> {
    let sigma = noise.sigma(Sensitivity::new(sensitivity)?)?.get();
    let below = noise.get().mul_add(sensitivity, -sigma) > 0.0;
    Ok(if below { sigma.next_up() } else { sigma })
}

pub(crate) fn final_token(word: &str) -> Result<FinalToken, Fault> {
    use FinalToken::{Masked, Published, Withheld};
    one_of("final", [("withheld", Withheld), ("published", Published), ("masked", Masked)], word)
}

/// A generator of the seed given: trial 0 of that seed.
pub(crate) fn generator(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}
