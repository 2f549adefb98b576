//! Answers of a law whose tables exist already: from a guess and a few of its costs.

use super::*;
use crate::walk::graph::cost_law::blocks::Blocks;
use ndp_account::{Observer, Protocol as _};
use ndp_dp::ApproxDp;
use std::sync::Arc;

/// A random law with about a hundred costs over several powers of ten.
fn random(rng: &mut ChaCha8Rng, upper: bool) -> Mixture {
    let (mut cost, mut at_least) = (10f64.powf(rng.random_range(-4.0..-1.0)), rng.random::<f64>());
    let mut points = Vec::new();
    for _ in 0..rng.random_range(1..600) {
        cost *= 1.0 + rng.random_range(1e-4..0.03);
        points.push((Interval::new(cost), at_least));
        at_least *= 1.0 - rng.random_range(0.0..0.02);
    }
    Mixture::new(&points, upper)
}

/// Reduced to a few costs, a law remains a bound for every ε that it covers, and hardly changes.
#[test]
fn blocks_keep_their_side() {
    let mut rng = ChaCha8Rng::seed_from_u64(30);
    let (mut chords, mut fewer) = (0, 0);
    for round in 0..400 {
        let upper = round % 2 == 0;
        let law = random(&mut rng, upper);
        let (sigma, epsilon) =
            (10f64.powf(rng.random_range(-1.5..1.0)), 10f64.powf(rng.random_range(-2.0..1.5)));
        let ends = (0.91 * epsilon, 1.09 * epsilon);
        let center = sigma;
        for share in [1e-7, 1e-3] {
            let blocks = Blocks::new(&law, epsilon, sigma, 0.2, share * law.whole(epsilon, sigma));
            assert!(!blocks.covers(0.8 * epsilon, sigma) && !blocks.covers(1.25 * epsilon, sigma));
            assert!(!blocks.covers(epsilon, 0.88 * sigma) && !blocks.covers(epsilon, 1.1 * sigma));
            fewer += usize::from(2 * blocks.parts.len() < law.roots().len());
            for (at, sigma) in [(ends.0, sigma), (epsilon, 0.91 * sigma), (epsilon, sigma), (ends.1, sigma)] {
                assert!(blocks.covers(at, sigma));
                let (whole, found) = (law.whole(at, sigma), law.delta_by(&blocks, at, sigma));
                let (above, below) = if upper { (found, whole) } else { (whole, found) };
                // Below the normal floats either sum is moved by a few of the smallest floats for each of its
                // terms.
                let room = 1e-12 * below + 1e-300;
                assert!(above >= below - room, "{round} {share} {at}: {found:e} {whole:e}");
                if at == epsilon && sigma == center && whole > 1e-280 {
                    let most = share * blocks.parts.len() as f64 + 1e-9;
                    assert!(above <= below * (1.0 + most), "{round} {share}: {found:e} {whole:e}");
                    chords += usize::from(above > below * (1.0 + 1e-11));
                }
            }
        }
    }
    assert!(chords > 300 && fewer > 300, "{chords} {fewer}");
}

/// Adding entry by entry and combining small entries give the same to twelve digits, rounded to the side of
/// the law.
#[test]
fn sums_leave_nothing_out() {
    let mut rng = ChaCha8Rng::seed_from_u64(31);
    for round in 0..200 {
        let upper = round % 2 == 0;
        let law = random(&mut rng, upper);
        let (sigma, epsilon) =
            (10f64.powf(rng.random_range(-1.5..1.0)), 10f64.powf(rng.random_range(-2.0..1.5)));
        let (all, found) = (law.delta(epsilon, sigma, 0.0), law.whole(epsilon, sigma));
        if all < 1e-290 {
            // Subnormal terms do not have twelve digits.
            continue;
        }
        assert!((found - all).abs() <= 1e-12 * all, "{found:e} {all:e}");
        let sums = law.sums(epsilon, sigma);
        assert!((sums[law.roots().len()] - all).abs() <= 1e-6 * all);
        let half = law.roots().len() / 2;
        assert!((sums[half] - law.delta_of(half, epsilon, sigma, 0.0)).abs() <= 1e-6 * all);
    }
}

/// A guess is close to the truth, and the answer that follows from it is proven: `δ` at the upper end is at
/// most that of the question, by every finer law, and a search without a guess finds no less.
#[test]
fn answers_from_a_guess_are_those_of_the_search() {
    let walk = TokenWalk::new(&metropolis(&hypercube_graph(5).unwrap()), Start::Uniform, 200).unwrap();
    for v in [1, 31] {
        let law = walk.cost_law(0, &[v]).unwrap();
        for (sigma, delta) in [(0.5, 1e-3), (2.0, 1e-5), (3.0, 1e-8), (20.0, 1e-6), (3.0, 0.3), (1e-3, 1e-5)]
        {
            let found = law.epsilon(noise(sigma), Delta::new(delta).unwrap()).unwrap();
            let (tables, _) = law.settled(Question::Epsilon { sigma }, delta).unwrap();
            let near = search::guess(&tables, Question::Epsilon { sigma }, delta);
            if sigma >= 0.5 {
                let guess = near.clone().unwrap().x;
                assert!((guess - found.upper()).abs() <= 2e-3 * found.upper(), "{guess} {found:?}");
            }
            let (low, high) = search::epsilon(&tables, sigma, delta, None);
            assert!(found.upper() <= high * (1.0 + 1e-9) && low <= found.lower() * (1.0 + 1e-6));
            assert!(found.upper() >= high * (1.0 - 1e-3), "{found:?} {high}");
            // Proven by the law, entry by entry.
            let upper = search::delta(&tables, true, sigma, found.upper());
            assert!(upper <= delta * (1.0 + 1e-9), "{sigma} {delta}: {upper:e}");
            if found.lower() > 0.1 {
                // The reverse question.
                let least = law.least_noise(found.upper(), Delta::new(delta).unwrap()).unwrap();
                assert_relative_eq!(least.upper(), sigma, max_relative = 1e-3);
                let question = Question::Noise { epsilon: found.upper() };
                let (tables, _) = law.settled(question, delta).unwrap();
                let by_search = search::noise(&tables, found.upper(), delta, None).unwrap();
                assert!(least.upper() <= by_search.1 * (1.0 + 1e-9), "{least:?} {by_search:?}");
                assert!(least.lower() >= by_search.0 * (1.0 - 1e-6), "{least:?} {by_search:?}");
                let upper = search::delta(&tables, true, least.upper(), found.upper());
                let lower = search::delta(&tables, false, least.lower(), found.upper());
                assert!(upper <= delta * (1.0 + 1e-9) && delta * (1.0 - 1e-9) <= lower);
            }
            if found.lower() > 0.0 {
                let lower = search::delta(&tables, false, sigma, found.lower());
                assert!(lower >= delta * (1.0 - 1e-9), "{sigma} {delta}: {lower:e}");
                assert!(lower <= delta * (1.0 + 1e-4) && upper >= delta * (1.0 - 1e-4));
            }
        }
    }
}

/// Where a Rényi bound may be smaller than the law, the few orders that are tried give nearly the smallest
/// `δ` of all orders.
#[test]
fn few_orders_are_nearly_enough() -> Result<(), Error> {
    use ndp_account::{Observer, Protocol};
    let w = metropolis(&cycle_graph(6)?);
    let (plain, mut by_orders) = (WalkOptions::default(), 0);
    for options in [WalkOptions { refractory: 3, ..plain }, WalkOptions { cap: Some(1), ..plain }] {
        let walk = TokenWalk::new(&w, Start::Uniform, 40)?.with_options(options)?;
        let law = walk.cost_law(0, &[3])?;
        for sigma in [0.7, 3.0, 40.0] {
            let profile = walk.account(&Observer::node(3))?.profile(0, noise(sigma))?;
            for epsilon in [0.0, 0.1, 1.0, 4.0, 12.0] {
                let found = profile.delta(epsilon)?.value().delta();
                let curve = |order| ndp_dp::UpperBound::new(profile.renyi(order).unwrap().value().epsilon);
                let by_renyi = ndp_dp::conversion::best_delta(curve, epsilon)?.into_value().approx_dp.delta();
                let by_law = law.delta(noise(sigma), epsilon)?.upper();
                // The law of an account has fewer cells than this one.
                let most = f64::min(1.02 * by_renyi, 1.05 * by_law).max(f64::MIN_POSITIVE);
                assert!(found <= most, "{sigma} {epsilon}: {found} {by_renyi} {by_law}");
                by_orders += usize::from(by_renyi < by_law);
            }
        }
    }
    assert!(by_orders > 0);
    Ok(())
}

/// Where `δ` is the same over a wide range of `ε`, a limit that is proven to hold is not below the answer:
/// the probability that nothing is seen decides, whatever the noise. More tables never lose what fewer know.
#[test]
fn near_a_plateau_the_answer_is_no_larger_than_what_is_proven() -> Result<(), Error> {
    let graph = Graph::from_edges(4, [(0, 1), (1, 2), (2, 3), (3, 0), (1, 3)])?;
    let w = TransitionMatrix::from(&GossipMatrix::metropolis(&graph));
    let mut proven = 0;
    for (steps, sigma) in [(12, 1e-3), (40, 1e-3), (40, 0.02), (20, 1e-3)] {
        let (walk, noise) = (TokenWalk::new(&w, Start::Uniform, steps)?, NoiseMultiplier::new(sigma)?);
        let account = walk.account(&Observer::node(0))?;
        let law = walk.cost_law_in_cells(1, &[0], None, (512, Ends::Upper), &Stop::never())?;
        for epsilon in [0.0, 1.0, 1e3, 1e5] {
            let by = |tables: Arc<Tables>| tables.above(epsilon, sigma).whole(epsilon, sigma);
            let [one, two, three] = [1, 2, 3].map(|levels| law.tables_of(levels).map(by));
            let (one, two, three) = (one?, two?, three?);
            assert!(three <= two * (1.0 + 1e-12) && two <= one * (1.0 + 1e-12), "{one} {two} {three}");
        }
        for u in 1..4 {
            let profile = account.profile(u, noise)?;
            for delta in [0.55, 0.8, 0.9, 0.93, 0.97, 0.99, 0.995, 0.997, 0.999, 0.9999] {
                let delta = Delta::new(delta)?;
                let found = profile.epsilon(delta)?.into_value().epsilon();
                for epsilon in [0.1, 1.0, 10.0, 1e3, 1e5] {
                    if profile.keeps(ApproxDp::new(epsilon, delta.get())?) {
                        assert!(found <= epsilon, "{steps} {u} {delta:?}: {found}, {epsilon}");
                        proven += 1;
                    }
                }
            }
        }
    }
    assert!(proven > 100, "{proven}");
    Ok(())
}

/// On two nodes with weights 1/2 the holders are fair coins, and an interval with `k` contributions costs
/// `k²/k`: the cost is the number of visits of node 0 before the last one of node 1. Long walks have more
/// intervals with a contribution than a small table has cells.
#[test]
fn walks_of_many_intervals_cost_what_coins_say() -> Result<(), Error> {
    let w = metropolis(&path_graph(2)?);
    for steps in [150, 1000, 1100, 1500, 2200, 6000] {
        let sigma = (2.0 * steps as f64).sqrt();
        let law = TokenWalk::new(&w, Start::Uniform, steps)?.cost_law(0, &[1])?;
        // The last visit of node 1 is at time `t` with probability `2^-(T - t + 1)`; before it are `t` coins.
        let mut truth = [0.0; 3];
        for t in steps - 45..=steps {
            let mut log = -((t + steps - t + 1) as f64) * 2f64.ln();
            for cost in 0..=t {
                let mu = (cost as f64).sqrt() / sigma;
                for (truth, epsilon) in truth.iter_mut().zip([0.25, 0.5, 1.0]) {
                    *truth += log.exp() * ndp_numeric::gaussian_profile::theta(epsilon, mu);
                }
                log += ((t - cost) as f64 / (cost + 1) as f64).ln();
            }
        }
        for (truth, epsilon) in truth.into_iter().zip([0.25, 0.5, 1.0]) {
            let found = law.delta(noise(sigma), epsilon)?;
            let what = format!("{steps} steps, {epsilon}: {found:?}, {truth}");
            let most = if steps <= 2200 { 1.01 * truth } else { 6.0 * truth };
            assert!(truth * (1.0 - 1e-6) <= found.upper() && found.upper() <= most, "{what}");
            assert!(found.lower() <= truth * (1.0 + 1e-6), "{what}");
        }
    }
    Ok(())
}
