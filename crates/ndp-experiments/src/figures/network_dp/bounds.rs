//! Bounds for real summation against the number of users: what `fig1a` and the poster's figure share.

use super::realised::{DELTA, LAW, LAW_USERS, OF_LAW, averaged_epsilon, classic_mu, composed, law_epsilon};
use crate::datasets::Data;
use crate::figures::count;
use crate::seed::Seed;
use anyhow::Result;
use ndp_algos::walk::complete::CompleteWalk;
use ndp_dp::{Delta, Gdp, Grade, Mechanism, tails};
use ndp_printed::network::{Theorem3, contributions, poster_theorem4};
use ndp_report::figure::{Axis, Basis, Check, Figure, Panel, Scale, Series};
use rayon::prelude::*;

const EPSILON: f64 = 0.1;
/// Steps per user.
const VISITS: f64 = 100.0;
/// The least number of users of which the paper says that it amplifies.
const CLAIMED_FROM: f64 = 10.0;
/// Beyond this many users no certified curve is drawn.
const CERTIFIED_USERS: f64 = 1e4;

const LOCAL: &str = "local, N by the binomial tail";
const EXACT_LOCAL: &str = "local, averaged over N";
const CERTIFIED: &str = "network, averaged over the walk";
const THEOREM_3: &str = "Theorem 3 as printed, best c";
/// The printed curves use fractional numbers of users, as the program does. At those no sound curve exists,
/// so this curve uses whole numbers.
const WHOLE_USERS: &str = "Theorem 3 as printed, whole numbers of users";

/// Log-spaced numbers of users without those below 2, because the theorems need two users.
fn users(largest_exponent: f64, count: usize) -> Vec<f64> {
    (0..count)
        .map(|k| 10f64.powf(largest_exponent * k as f64 / (count - 1) as f64))
        .filter(|&n| n >= 2.0)
        .collect()
}

/// Composition as in the program: the plain sum or the advanced theorem, for a real number of terms.
fn as_released(epsilon: f64, k: f64) -> f64 {
    let advanced = composed(epsilon, k);
    if k < 1e5 { advanced.min(k * epsilon) } else { advanced }
}

fn theorem3(n: f64) -> Result<Theorem3> {
    let delta = Delta::new(DELTA)?;
    Ok(Theorem3 {
        users: n,
        steps: VISITS * n,
        epsilon: EPSILON,
        c: None,
        delta_prime: delta,
        delta_hat: delta,
    })
}

/// The δ that Theorem 3 spends at `n` users, at which the sound curves are converted.
fn total_delta(n: f64) -> Result<Delta> {
    let count = contributions(VISITS * n, n, Delta::new(DELTA)?)?.into_value();
    Ok(Delta::new(count * DELTA + DELTA + DELTA)?)
}

/// The sound curve: Rényi loss averaged over the walk, any number of steps.
fn certified(n: f64) -> Result<f64> {
    let n = n.round();
    let walk = CompleteWalk::new(count(n), count(VISITS * n))?;
    averaged_epsilon(walk, classic_mu(EPSILON), total_delta(n)?)
}

/// The same walk accounted by the law of its cost, without Rényi losses.
fn by_law(users: &[f64]) -> Result<Series> {
    let ends = |&n: &f64| law_epsilon(count(n.round()), classic_mu(EPSILON), total_delta(n.round())?);
    let ends = users.par_iter().map(ends).collect::<Result<Vec<_>>>()?;
    let series = Series::new(LAW, Grade::UpperBound);
    Ok(users.iter().zip(ends).fold(series, |series, (&n, [low, high])| series.ranged(n, high, low, high)))
}

/// The numbers of users for which the law is computed.
fn few(small: &[f64], scale: Scale) -> Vec<f64> {
    let most = scale.pick(LAW_USERS, 12.0);
    small.iter().copied().filter(|&n| n <= most).collect()
}

/// The exact local loss of as many Gaussian releases as a user makes, except with probability `δ̂`.
fn local(n: f64) -> Result<f64> {
    let steps = count(VISITS * n.round()) as u64;
    let count = tails::n_exact(steps, 1.0 / n.round(), Delta::new(DELTA)?)?.into_value();
    let delta = Delta::new(total_delta(n)?.get() - DELTA)?;
    Ok(Gdp::new((count as f64).sqrt() * classic_mu(EPSILON))?.epsilon(delta).into_value())
}

/// The local loss when every contribution and their number are seen: `δ = E δ_N`, `N` binomial.
fn exact_local(n: f64) -> Result<f64> {
    let n = n.round();
    let (steps, delta) = (count(VISITS * n) as u64, total_delta(n)?.get());
    // More than twelve standard deviations from the mean, the remaining probability is negligible.
    let mean = VISITS;
    let ends = [mean - 12.0 * mean.sqrt(), mean + 12.0 * mean.sqrt() + 40.0];
    let counts = count(ends[0].max(1.0)) as u64..=(count(ends[1]) as u64).min(steps);
    let law = counts
        .map(|k| {
            Ok((
                (k as f64).sqrt() * classic_mu(EPSILON),
                ndp_numeric::binomial::log_pmf_up(k, steps, 1.0 / n)?.exp(),
            ))
        })
        .collect::<Result<Vec<_>>>()?;
    let at = |epsilon: f64| -> Result<f64> {
        law.iter().try_fold(0.0, |sum, &(mu, p)| Ok(sum + p * Gdp::new(mu)?.delta(epsilon)?.into_value()))
    };
    let (mut low, mut high) = (0.0, 1.0);
    while at(high)? > delta {
        (low, high) = (high, 2.0 * high);
    }
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if at(middle)? > delta { low = middle } else { high = middle }
    }
    // Take the lower end: leaving out visits may only make this loss too small, never too large.
    Ok(low)
}

fn curve(name: &str, grade: Grade, users: &[f64], f: impl Fn(f64) -> Result<f64> + Sync) -> Result<Series> {
    let points = users.par_iter().map(|&n| Ok((n, f(n)?))).collect::<Result<Vec<_>>>()?;
    Ok(Series::new(name, grade).points(points))
}

/// The description that both figures share.
fn described(title: &str) -> Figure {
    Figure::new(title)
        .by_named("by the law", Grade::UpperBound, "ndp_algos::walk::graph::TokenWalk::cost_law", "Random walks")
        .by(Grade::Printed, "ndp_printed::network::Theorem3", "Privacy amplification by decentralization")
        .by_named("as released", Grade::Printed, "ndp_experiments::figures::network_dp::bounds::as_released", "Privacy amplification by decentralization")
        .by_named("poster", Grade::Printed, "ndp_printed::network::poster_theorem4", "Privacy amplification by decentralization")
        .by(Grade::UpperBound, "ndp_algos::walk::complete::CompleteSum", "Privacy amplification by decentralization")
        .by_named("local, N by", Grade::UpperBound, "ndp_dp::tails::n_exact", "Accounting")
        .by(Grade::Exact, "ndp_dp::Gdp", "Accounting")
        .parameter("epsilon of one contribution", EPSILON)
        .parameter("delta, delta', delta^", DELTA)
        .parameter("T", "100 n")
        .parameter("noise of the sound curves", "classic Gaussian noise for (0.1, 1e-7)")
        .parameter("delta of the sound curves", "what Theorem 3 spends: N delta + delta' + delta^, about 1.7e-5")
        .finding(OF_LAW)
        .finding("Theorem 3 is false as printed (cycle lengths off by one, contributions composed as if separate, count outside its range); the loss averaged over the walk is proved, and smaller at every number of users at which both are drawn.")
}

pub(super) fn fig1a(scale: Scale, _seed: Seed, _data: &Data) -> Result<Figure> {
    let n = users(10.0, scale.pick(30, 11));
    let small: Vec<f64> =
        n.iter().copied().filter(|&n| n <= scale.pick(CERTIFIED_USERS, 200.0)).map(f64::round).collect();
    let random = |n: f64| VISITS + (1.5 * VISITS * n * (1.0 / DELTA).ln()).sqrt();
    let network = |n: f64, count: f64| as_released(3.0 * EPSILON / n.sqrt(), count + VISITS);
    let printed = Grade::Printed;
    let compared: Vec<f64> = small.iter().copied().filter(|&n| n >= CLAIMED_FROM).collect();
    let [least, most] = [compared.first(), compared.last()].map(|n| n.copied().unwrap_or(f64::NAN));
    let places = format!("{} numbers of users from {least} to {most}", compared.len());
    Ok(described(&format!("Network DP, figure 1(a): at {places}, what is proved is below both Theorem 3 and the exact local loss"))
        .titled_by([
            Basis::Shown(Check::covers(WHOLE_USERS, CERTIFIED)),
            Basis::Shown(Check::below_from(CERTIFIED, EXACT_LOCAL, CLAIMED_FROM)),
        ])
        .claim("Network DP amplifies privacy over local DP as soon as n >= 10.")
        .finding(format!("The claim is for every n >= 10; compared are {places}, at one epsilon of a contribution and at T = 100 n."))
        .finding("The released curves are not Theorem 3: 3/sqrt(n) in place of its amplification, the poster's count of contributions.")
        .check(Check::covers(WHOLE_USERS, CERTIFIED))
        .check(Check::below_from(CERTIFIED, EXACT_LOCAL, CLAIMED_FROM))
        .finding("What all contributions of a user cost that are seen one by one is exact, averaged over their number.")
        .columns(2)
        .panel(
            Panel::curves("as released and as printed", Axis::log("users n"), Axis::log("epsilon"))
                .with(curve("as released: local, random N", printed, &n, |n| Ok(as_released(EPSILON, random(n))))?)
                .with(curve("as released: network, random N", printed, &n, |n| Ok(network(n, random(n))))?)
                .with(curve("as released: local, N = 100", printed, &n, |_| Ok(as_released(EPSILON, VISITS)))?)
                .with(curve("as released: network, N = 100", printed, &n, |n| Ok(network(n, VISITS)))?)
                .with(curve(THEOREM_3, printed, &n, |n| Ok(theorem3(n)?.total_epsilon()?.into_value()))?)
                .with(curve("Theorem 3, composed by DRV, best c", printed, &n, |n| {
                    Ok(theorem3(n)?.total_epsilon_composed()?.into_value())
                })?),
        )
        .panel(
            Panel::curves("as printed and as proved", Axis::log("users n"), Axis::log("epsilon"))
                .with(curve(CERTIFIED, Grade::UpperBound, &small, certified)?)
                .with(curve(LOCAL, Grade::UpperBound, &small, local)?)
                .with(curve(EXACT_LOCAL, Grade::Exact, &small, exact_local)?)
                .with(curve(WHOLE_USERS, printed, &small, |n| Ok(theorem3(n)?.total_epsilon()?.into_value()))?)
                .with(by_law(&few(&small, scale))?),
        ))
}

pub(super) fn poster(scale: Scale, _seed: Seed, _data: &Data) -> Result<Figure> {
    let n = users(6.0, scale.pick(19, 7));
    let small: Vec<f64> =
        n.iter().copied().filter(|&n| n <= scale.pick(CERTIFIED_USERS, 200.0)).map(f64::round).collect();
    let delta = Delta::new(DELTA)?;
    Ok(described(
        "Wherever both are drawn, Theorem 3 is below the poster's bound, and what is proved for the same walk is below Theorem 3",
    )
    .titled_by([
        Basis::Drawn(Check::below(THEOREM_3, "poster, Theorem 4")),
        Basis::Shown(Check::covers(THEOREM_3, CERTIFIED)),
    ])
    .claim("The final theorem improves on the poster's n^(1/4) amplification.")
    .check(Check::below(THEOREM_3, "poster, Theorem 4"))
    .panel(
        Panel::curves("epsilon against n", Axis::log("users n"), Axis::log("epsilon"))
            .with(curve("poster, Theorem 4", Grade::Printed, &n, |n| {
                Ok(poster_theorem4(n, VISITS * n, EPSILON, delta)?.into_value())
            })?)
            .with(curve(THEOREM_3, Grade::Printed, &n, |n| Ok(theorem3(n)?.total_epsilon()?.into_value()))?)
            .with(curve(CERTIFIED, Grade::UpperBound, &small, certified)?)
            .with(curve(LOCAL, Grade::UpperBound, &small, local)?)
            .with(by_law(&few(&small, scale))?),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the program plots at n = 1 and n = 1269: the local loss with a random number of contributions.
    #[test]
    fn released_curves_have_their_recorded_values() {
        let random = |n: f64| VISITS + (1.5 * VISITS * n * (1.0 / DELTA).ln()).sqrt();
        for (n, value) in [(1.0, 8.503_302_677_565_28), (1_268.961_003_167_923, 43.904_110_479_730_02)] {
            assert!((as_released(EPSILON, random(n)) / value - 1.0).abs() < 1e-9);
        }
        let network = as_released(3.0 * EPSILON, random(1.0) + VISITS);
        assert!((network / 53.039_253_010_491_97 - 1.0).abs() < 1e-9, "{network}");
    }
}
