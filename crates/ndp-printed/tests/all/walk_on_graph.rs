//! Attacks on the transcripts of a token that walks on a graph, including its path.

use ndarray::{Array1, Array2};
use ndp_account::Protocol;
use ndp_algos::walk::FinalToken;
use ndp_algos::walk::graph::{
    AveragingRun, LocalLoss, Steps, TokenAveraging, TokenWalk, WalkOptions, pendant,
};
use ndp_dp::{NoiseMultiplier, Order, Sigma};
use ndp_graph::Weights;
use ndp_graph::generators::{cycle_graph, star_graph};
use ndp_graph::hitting::{Start, Walk};
use ndp_graph::walk_sums::walk_sum_row;
use ndp_graph::{GossipMatrix, TransitionMatrix};
use ndp_numeric::binomial::clopper_pearson_upper;
use ndp_printed::walk::{self as printed, VisitSum};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

fn local(sigma: f64) -> Outcome<LocalLoss> {
    Ok(LocalLoss { order: Order::new(2.0)?, noise: NoiseMultiplier::new(sigma)? })
}

/// The log-likelihood ratio between `y_u = 1` and `y_u = 0`, with all other values 0, of what an observer who
/// knows the path saw of a running average.
fn log_ratio(run: &AveragingRun, [u, v]: [usize; 2], sigma: f64) -> Outcome<f64> {
    let path = &run.path;
    let count = |from: usize, to: usize, who: &dyn Fn(usize) -> bool| {
        let contributes = |&t: &usize| path.contributes[t] && who(path.holders[t]);
        (from..to).filter(contributes).count() as f64
    };
    // The token times the number of contributions is a sum, in which every step adds one noise.
    let sum = |token: f64, t: usize| token * count(0, t, &|_| true).max(1.0);
    let (mut known, mut since) = (0.0, 0);
    let mut ratio = 0.0;
    for t in (0..path.holders.len()).filter(|&t| path.holders[t] == v) {
        if t > since {
            let k = count(since, t, &|holder| holder == u);
            let shift = sum(run.tokens[(t, 0)], t) - known;
            ratio += k * (shift - k / 2.0) / (sigma * sigma * (t - since) as f64);
        }
        // The observer knows what it passed on, including its own noise.
        if t < path.contributes.len() {
            (known, since) = (sum(run.tokens[(t + 1, 0)], t + 1), t + 1);
        }
    }
    Ok(ratio)
}

/// A lower bound, with probability `1 − error`, on the Rényi divergence of order 2 between two worlds in
/// which `hits` and `false_hits` of `runs` runs fell into an event: the divergence of the event alone.
fn measured_loss(hits: usize, false_hits: usize, runs: usize, error: f64) -> Outcome<f64> {
    let least = 1.0 - clopper_pearson_upper((runs - hits) as u64, runs as u64, error / 2.0)?;
    let most = clopper_pearson_upper(false_hits as u64, runs as u64, error / 2.0)?;
    if least <= most {
        return Ok(0.0);
    }
    Ok((least * least / most + (1.0 - least) * (1.0 - least) / (1.0 - most)).ln())
}

/// Runs a running average on fresh paths and counts, in both worlds, the log-likelihood ratios above each
/// threshold.
fn attack(
    walk: &TokenWalk,
    (u, v): (usize, usize),
    sigma: f64,
    runs: usize,
    thresholds: &[f64],
    rng: &mut ChaCha8Rng,
) -> Outcome<Vec<[usize; 2]>> {
    let (steps_of, final_token) = (Steps::RunningAverage, FinalToken::Withheld);
    let averaging = TokenAveraging { steps: steps_of, initial: Array1::zeros(1), final_token };
    let mut counts = vec![[0; 2]; thresholds.len()];
    let nodes = Protocol::node_count(walk);
    for world in [0, 1] {
        let mut values = Array2::zeros((nodes, 1));
        values[(u, 0)] = f64::from(world as u8);
        for _ in 0..runs {
            let path = walk.sample(rng);
            let run = averaging.run(&path, values.view(), Sigma::new(sigma)?, rng)?;
            let ratio = log_ratio(&run, [u, v], sigma)?;
            for (count, threshold) in counts.iter_mut().zip(thresholds) {
                count[world] += usize::from(ratio > *threshold);
            }
        }
    }
    Ok(counts)
}

/// On a star the hub's view of real transcripts violates the printed guarantee for a leaf, at a stated
/// error rate, and stays below the exact loss.
#[test]
fn an_attack_on_transcripts_refutes_theorem_3() -> Outcome<()> {
    // The noise satisfies the theorem's condition sigma^2 >= 2 alpha (alpha - 1) = 4.
    let (n, steps, sigma) = (50, 500, 3.0);
    let gossip = GossipMatrix::new(&star_graph(n - 1)?, Weights::MaxDegree).unwrap();
    let w = TransitionMatrix::from(&gossip);
    let walk = TokenWalk::new(&w, Start::Node(0), steps)?;
    let mut rng = ChaCha8Rng::seed_from_u64(21);
    let runs = 6000;
    let [[false_hits, hits]] = attack(&walk, (1, 0), sigma, runs, &[1.5], &mut rng)?[..] else {
        return Err("one threshold".into());
    };
    let measured = measured_loss(hits, false_hits, runs, 1e-4)?;
    let exact = *pendant::loss(&Walk::from(&w), 1, &Start::Node(0), steps, local(sigma)?)?.value();
    let published =
        *printed::user_level(VisitSum::Powers(walk_sum_row(&gossip, 1, steps)?[0]), n, steps, local(sigma)?)?
            .value();
    assert!(measured > published, "measured {measured}, printed {published}");
    assert!(measured <= exact, "measured {measured}, exact {exact}");
    Ok(())
}

/// Hidden or visible path, adjacent or distant nodes: no threshold beats the renewal accountant.
#[test]
fn no_attack_on_transcripts_beats_the_renewal_accountant() -> Outcome<()> {
    let w = TransitionMatrix::from(&GossipMatrix::metropolis(&cycle_graph(6)?));
    let mut rng = ChaCha8Rng::seed_from_u64(22);
    for (u, v, cap) in [(0, 1, None), (0, 3, None), (0, 2, Some(2))] {
        let options = WalkOptions { cap, ..WalkOptions::default() };
        let walk = TokenWalk::new(&w, Start::Uniform, 12)?.with_options(options)?;
        let loss = *walk.loss(u, &[v], local(1.0)?)?.value();
        let thresholds = [0.0, 0.1, 0.3, 1.0, 2.0];
        let runs = 20_000;
        let mut best: f64 = 0.0;
        for [false_hits, hits] in attack(&walk, (u, v), 1.0, runs, &thresholds, &mut rng)? {
            best = best.max(measured_loss(hits, false_hits, runs, 1e-5)?);
        }
        assert!(best <= loss, "measured {best}, guaranteed {loss}");
        assert!(best > 0.02 * loss, "the attack measured only {best} of {loss}");
    }
    Ok(())
}
