//! Two published claims, and the programs that refute them (`docs/findings.md`).

use super::reference::token;
use super::*;
use ndp_dp::Mechanism;
use ndp_graph::GossipMatrix;
use ndp_graph::generators::{path_graph, star_graph};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

type Outcome = Result<(), Box<dyn std::error::Error>>;

/// `m` uses between two sightings with `L` noises cost `m²/L` together. First-passage composition charges at
/// most `1 + 1/2 + ... + 1/m` for them.
#[test]
fn first_passage_composition_charges_too_little() -> Outcome {
    let same = SensitivitySet::SameDirection;
    let charged = |uses: usize| (1..=uses).map(|t| 1.0 / t as f64).sum::<f64>();
    for uses in 2..6 {
        let walk: Vec<usize> = (0..=uses).map(|t| usize::from(t == uses)).collect();
        let account = token(2, &walk)?.account(&Observer::node(1))?;
        // m uses, L = m noises.
        assert_loss(&account, 0, &same, uses as f64);
        assert!(account.loss(0, &same)?.lower > charged(uses));
    }
    // The whole protocol on two nodes: a sighting after every stay, so that each use costs exactly 1, while
    // ln 2 is charged.
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    let mut walk: Vec<usize> = (0..120).map(|_| rng.random_range(0..2)).collect();
    walk.push(1);
    let uses = walk.iter().filter(|&&u| u == 0).count();
    let account = token(2, &walk)?.account(&Observer::node(1))?;
    assert_loss(&account, 0, &same, uses as f64);
    let visits = 1.2 * 60.0 * std::f64::consts::LN_2;
    assert!(uses as f64 > visits);
    Ok(())
}

/// The same over 4000 steps with `ζ = 1/5` and `σ² = 2000`, at `ε = 1`: the true `δ` is at least 0.1251, and
/// the formula gives at most 0.0971. The number of visits that the formula allows for is exceeded only with
/// probability 2.7e-37.
#[test]
fn deltas_of_first_passage_composition() -> Outcome {
    use ndp_dp::Gdp;
    let (steps, variance, epsilon) = (4000_u64, 2000.0_f64, 1.0);
    let delta = |total: f64| -> Result<f64, ndp_dp::Error> {
        Ok(Gdp::new((total / variance).sqrt())?.delta(epsilon)?.into_value())
    };
    // The path is public, so that delta is the mean over paths. If the last stay has g uses, which nobody
    // sees, the number of uses before it is binomial, and each of them costs exactly 1.
    let binomial = |n: u64| -> Vec<f64> {
        let mut log = -(n as f64) * std::f64::consts::LN_2;
        let mut law = Vec::new();
        for k in 0..=n {
            law.push(log.exp());
            log += ((n - k) as f64).ln() - ((k + 1) as f64).ln();
        }
        law
    };
    let mut deltas = Vec::new();
    for k in 0..=steps {
        deltas.push(delta(k as f64)?);
    }
    let mut truth = 0.0;
    for unseen in 0..40 {
        let law = binomial(steps - unseen - 1);
        let mean: f64 = law.iter().zip(&deltas).map(|(p, d)| p * d).sum();
        truth += 0.5_f64.powi(unseen as i32 + 1) * mean;
    }
    assert!((0.1251..0.1272).contains(&truth), "{truth}");
    // The formula: 2400 visits, each of which is a first passage with the law 2^-t and costs 1/t. The mean
    // cost is 2400 ln 2; delta is a mean over passages, here over 4000 draws of all visits.
    let visits = 2400;
    let mut rng = ChaCha8Rng::seed_from_u64(8);
    let mut charged = Vec::new();
    for _ in 0..4000 {
        let total: f64 = (0..visits).map(|_| 1.0 / f64::from(rng.random::<u64>().leading_zeros() + 1)).sum();
        charged.push(delta(total)?);
    }
    let mean = charged.iter().sum::<f64>() / charged.len() as f64;
    let spread = charged.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / charged.len() as f64;
    let error = (spread / charged.len() as f64).sqrt();
    assert!(error < 3e-5 && (mean - 0.0970).abs() < 2e-4 && mean < truth - 100.0 * error, "{mean} {error}");
    // The probability of more visits than the formula allows for: the upper tail of the binomial law.
    let tail: f64 = binomial(steps)[visits + 1..].iter().sum();
    assert!((2e-37..4e-37).contains(&tail), "{tail}");
    Ok(())
}

/// Decentralized SGD in which nodes react to their hidden models with a slope. Slope 1 everywhere corresponds
/// to streams of gradients that depend on nothing.
fn with_slopes(matrix: &GossipMatrix, steps: usize, slopes: &[(i64, i64)]) -> Result<Program, ProgramError> {
    let mut program = Program::new(matrix.node_count())?;
    let mut h: Option<Vec<Value>> = None;
    for _ in 0..steps {
        let x = program.contribute_all(Reads::Nothing)?;
        let z = program.noise_all(1)?;
        let mut y = Vec::new();
        for (u, &slope) in slopes.iter().enumerate() {
            let own = h.iter().map(|h| (slope, h[u]));
            let terms: Vec<((i64, i64), Value)> = own.chain([((1, 1), x[u]), ((1, 1), z[u])]).collect();
            y.push(program.combine(terms)?);
        }
        program.send_to_neighbors(matrix.graph(), &y)?;
        h = Some(program.gossip(matrix, &y)?);
    }
    Ok(program)
}

/// Gradients that read local models are not streams that are fixed in advance: on a path of three nodes, a
/// slope `c` of the middle node gives the loss `c²/(c² + 9)`, and slope 1 gives 1/10. Contractive maps may
/// also lose more than slope 1.
#[test]
fn gradients_that_read_hidden_models_lose_more() -> Outcome {
    let path = GossipMatrix::metropolis(&path_graph(3)?);
    for (c, expected) in [(1, 0.1), (2, 4.0 / 13.0), (5, 25.0 / 34.0)] {
        let slopes = [(1, 1), (c, 1), (1, 1)];
        let account = with_slopes(&path, 2, &slopes)?.account(&Observer::node(0))?;
        assert_loss(&account, 2, &SensitivitySet::Along(vec![1.0, 0.0]), expected);
    }
    // A star of five nodes: hub 0, observer 1, exposed node 2.
    let star = GossipMatrix::metropolis(&star_graph(4)?);
    let fixed = with_slopes(&star, 4, &[(1, 1); 5])?.account(&Observer::node(1))?;
    let slopes = [(1, 1), (0, 1), (1, 1), (0, 1), (0, 1)];
    let contractive = with_slopes(&star, 4, &slopes)?.account(&Observer::node(1))?;
    let set = SensitivitySet::UseLevel;
    assert_loss(&fixed, 2, &set, 24.0 / 397.0);
    assert_loss(&contractive, 2, &set, 15466.0 / 226741.0);
    Ok(())
}
