//! What a question brings with it: who observes, noises, seeds, caps, what becomes of the last token.

use crate::errors::Fault;
use ndp_account::Observer;
use ndp_algos::walk::FinalToken;
use ndp_dp::{NoiseMultiplier, Sensitivity, Sigma};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

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
    match word {
        "withheld" => Ok(FinalToken::Withheld),
        "published" => Ok(FinalToken::Published),
        "masked" => Ok(FinalToken::Masked),
        _ => Err(Fault::new(format!("final must be one of withheld, published, masked, got {word:?}"))),
    }
}

/// A generator of the seed given: trial 0 of that seed.
pub(crate) fn generator(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}
