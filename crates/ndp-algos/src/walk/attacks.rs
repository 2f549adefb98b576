//! The attacks that audit the accounts of walks: scores of single runs, with the whole path drawn anew for
//! each of them.

use ndarray::Array2;
use ndp_account::parts::Attack;
use ndp_account::{Attacker, Error, LinearProtocol, Observer};
use ndp_dp::{NoiseMultiplier, Sensitivity};
use rand::Rng;

/// The members of the coalition, after checking that `u` is not one of them.
pub(super) fn observed(u: usize, observer: &Observer, nodes: usize) -> Result<Vec<usize>, Error> {
    observer.require_no_taps()?;
    observer.checked_source(u, nodes)?;
    Ok(observer.checked(nodes)?.to_vec())
}

/// An attack that scores one run after the other. `score` runs the protocol in one of the two worlds, the
/// higher one if its first argument says so.
pub(super) fn by_run<'a>(
    score: impl Fn(bool, &mut dyn Rng) -> Result<f64, Error> + 'a,
) -> Box<dyn Attacker + 'a> {
    Box::new(ByRun(score))
}

struct ByRun<F>(F);

impl<F: Fn(bool, &mut dyn Rng) -> Result<f64, Error>> Attacker for ByRun<F> {
    fn scores(&self, higher: bool, runs: usize, rng: &mut dyn Rng) -> Result<Vec<f64>, Error> {
        (0..runs).map(|_| (self.0)(higher, rng)).collect()
    }
}

/// An attack by an observer who knows the path, which `drawn` draws anew for every run, with the protocol
/// along it. Its score is the logarithm of the likelihood ratio.
pub(super) fn on_paths<'a, P: LinearProtocol>(
    drawn: impl Fn(&mut dyn Rng) -> Result<P, Error> + 'a,
    members: Vec<usize>,
    u: usize,
    noise: NoiseMultiplier,
) -> Box<dyn Attacker + 'a> {
    by_run(move |higher, rng| log_likelihood_ratio(&drawn(rng)?, &members, u, noise, higher, rng))
}

/// Runs a linear Gaussian protocol once and returns the logarithm of the likelihood ratio of the two worlds,
/// in which `u` has different data.
fn log_likelihood_ratio(
    protocol: &impl LinearProtocol,
    members: &[usize],
    u: usize,
    noise: NoiseMultiplier,
    higher: bool,
    rng: &mut dyn Rng,
) -> Result<f64, Error> {
    let view = protocol.coalition_view(members)?;
    if view.inputs().column(u).iter().all(|&x| x == 0.0) {
        return Ok(0.0);
    }
    let attack = Attack::optimal(&view, u)?;
    let mut values = Array2::zeros((protocol.node_count(), 1));
    values[(u, 0)] = f64::from(u8::from(higher));
    let sigma = noise.sigma(Sensitivity::new(1.0)?)?;
    let seen = protocol.observe(values.view(), sigma, members, rng)?;
    let estimate = attack.estimate(&seen, Array2::zeros(values.raw_dim()).view())?[0];
    Ok((estimate - 0.5) * attack.unit / noise.get() / noise.get())
}
