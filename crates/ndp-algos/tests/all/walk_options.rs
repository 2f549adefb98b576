//! Every account of a token walk against every option of the walk: start, burn-in, laziness, one-way steps,
//! cap, rest between contributions, worn edges, coalition, publication, length. The truth is the mean over
//! all paths, for an adversary who sees the path and for steps that are any affine contractions: an interval
//! between two visits then costs `(Σ_i A_i)² / Σ_j A_j²`, `A_j` the product of the slopes after slot `j`, the
//! upper sum over contributions.

use ndarray::{Array1, Array2};
use ndp_account::{Error, Protocol};
use ndp_algos::walk::graph::{EdgeRule, LocalLoss, TokenWalk, WalkOptions, pendant};
use ndp_algos::walk::{FinalToken, Path};
use ndp_dp::{NoiseMultiplier, Order};
use ndp_graph::generators::{self, path_graph};
use ndp_graph::hitting::{Start, Walk};
use ndp_graph::{GossipMatrix, TransitionMatrix, Weights};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// Limits on contributions.
#[derive(Clone, Copy, Debug)]
struct Rules {
    cap: usize,
    rest: usize,
    uses: usize,
}

/// Who contributes on a path, by the words of the documentation of [`TokenWalk`].
fn actions(path: &[usize], rules: Rules) -> Vec<bool> {
    let mut counts = std::collections::BTreeMap::new();
    let mut last = std::collections::BTreeMap::new();
    let mut uses = std::collections::BTreeMap::new();
    let mut arrived_beyond = false;
    let mut actions = Vec::new();
    for (t, pair) in path.windows(2).enumerate() {
        let (holder, next) = (pair[0], pair[1]);
        let used = uses.entry((holder, next)).or_insert(0);
        let beyond = holder != next && *used >= rules.uses;
        *used += usize::from(holder != next);
        let count = counts.entry(holder).or_insert(0);
        let rested = last.get(&holder).is_none_or(|last| t - last >= rules.rest);
        let contributes = *count < rules.cap && rested && !beyond && !arrived_beyond;
        if contributes {
            *count += 1;
            last.insert(holder, t);
        }
        actions.push(contributes);
        arrived_beyond = beyond;
    }
    actions
}

/// The cost of a path whose node `w` multiplies the token by `slopes[w]` before it adds its own part.
fn cost(path: &[usize], actions: &[bool], u: usize, observers: &[usize], slopes: &[f64], seen: bool) -> f64 {
    let (mut total, mut shift, mut variance) = (0.0, 0.0, 0.0);
    let mut observe = |shift: &mut f64, variance: &mut f64| {
        if *shift > 0.0 {
            total += *shift * *shift / *variance;
        }
        (*shift, *variance) = (0.0, 0.0);
    };
    for (&holder, action) in path.iter().zip(actions) {
        if observers.contains(&holder) {
            // It sees the token, and knows what it adds.
            observe(&mut shift, &mut variance);
            continue;
        }
        let slope = slopes[holder];
        shift = slope * shift + f64::from(u8::from(holder == u && *action));
        variance = slope * slope * variance + 1.0;
    }
    if seen || observers.contains(&path[path.len() - 1]) {
        observe(&mut shift, &mut variance);
    }
    total
}

/// All paths of some steps with their probabilities.
fn paths(w: &Array2<f64>, start: &[f64], steps: usize) -> Vec<(Vec<usize>, f64)> {
    let mut all: Vec<(Vec<usize>, f64)> =
        start.iter().enumerate().filter(|(_, p)| **p > 0.0).map(|(v, &p)| (vec![v], p)).collect();
    for _ in 0..steps {
        let mut longer = Vec::new();
        for (path, p) in &all {
            let here = path[path.len() - 1];
            for next in 0..w.nrows() {
                if w[(here, next)] > 0.0 {
                    let mut path = path.clone();
                    path.push(next);
                    longer.push((path, p * w[(here, next)]));
                }
            }
        }
        all = longer;
    }
    all
}

/// A walk on `n` nodes: any, doubly stochastic, symmetric, one-way, or lazy.
fn walk(n: usize, rng: &mut ChaCha8Rng) -> Array2<f64> {
    let mut w = Array2::zeros((n, n));
    match rng.random_range(0..4) {
        // Mixtures of permutations are doubly stochastic.
        0 | 1 => {
            let symmetric = rng.random::<bool>();
            for _ in 0..3 {
                let mut order: Vec<usize> = (0..n).collect();
                (1..n).for_each(|i| order.swap(i, rng.random_range(0..=i)));
                let p = 1.0 + rng.random::<f64>();
                for (v, &x) in order.iter().enumerate() {
                    w[(v, x)] += p;
                    if symmetric {
                        w[(x, v)] += p;
                    }
                }
            }
        }
        2 => {
            // One way round, with some shortcuts.
            for v in 0..n {
                w[(v, (v + 1) % n)] = 1.0;
            }
            w[(rng.random_range(0..n), rng.random_range(0..n))] += rng.random::<f64>();
        }
        _ => w.iter_mut().for_each(|x| *x = if rng.random::<f64>() < 0.6 { rng.random() } else { 0.0 }),
    }
    let laziness = if rng.random::<bool>() { rng.random::<f64>() } else { 0.0 };
    for v in 0..n {
        w[(v, v)] += laziness * w.row(v).sum();
        if w.row(v).sum() == 0.0 {
            w[(v, (v + 1) % n)] = 1.0;
        }
        let sum = w.row(v).sum();
        w.row_mut(v).mapv_inplace(|x| x / sum);
    }
    w
}

#[test]
fn no_account_is_below_the_mean_over_all_paths() -> Result<(), Error> {
    let rng = &mut ChaCha8Rng::seed_from_u64(12);
    let (mut compared, mut exact) = (0, 0);
    for case in 0..400 {
        let n = rng.random_range(2..5);
        let dense = walk(n, rng);
        let w = TransitionMatrix::from_dense(dense.view())?;
        let steps = rng.random_range(1..if n < 4 { 8 } else { 7 });
        let start = match rng.random_range(0..3) {
            0 => Start::Uniform,
            1 => Start::Node(rng.random_range(0..n)),
            _ => {
                let law: Vec<f64> = (0..n).map(|_| rng.random::<f64>()).collect();
                let sum: f64 = law.iter().sum();
                Start::Law(law.iter().map(|p| p / sum).collect())
            }
        };
        let alpha = [1.01, 1.5, 2.0, 8.0][rng.random_range(0..4)];
        let sigma = [0.4, 1.0, 4.0][rng.random_range(0..3)];
        let local = LocalLoss { order: Order::new(alpha)?, noise: NoiseMultiplier::new(sigma)? };
        let none = usize::MAX;
        let pick = |rng: &mut ChaCha8Rng| if rng.random::<bool>() { rng.random_range(1..4) } else { none };
        let rules = Rules { cap: pick(rng), rest: pick(rng).min(4), uses: pick(rng) };
        let rules = Rules { rest: if rules.rest == 4 { 1 } else { rules.rest }, ..rules };
        let burn_in = rng.random_range(0..3);
        let edges = if rules.uses < none { EdgeRule::NoiseOnly(rules.uses) } else { EdgeRule::Unlimited };
        let cap = Some(rules.cap).filter(|&cap| cap < none);
        let options = WalkOptions { burn_in, cap, refractory: rules.rest, edges, ..WalkOptions::default() };
        let token = TokenWalk::new(&w, start.clone(), steps)?.with_options(options)?;
        let mut law = start.law(n)?;
        for _ in 0..burn_in {
            law = (0..n).map(|x| (0..n).map(|v| law[v] * dense[(v, x)]).sum()).collect();
        }
        let u = rng.random_range(0..n);
        let mut coalition: Vec<usize> = (0..n).filter(|&v| v != u).collect();
        while coalition.len() > 1 && rng.random::<bool>() {
            coalition.remove(rng.random_range(0..coalition.len()));
        }
        let v = coalition[0];
        let all: Vec<_> = paths(&dense, &law, steps)
            .into_iter()
            .map(|(path, p)| (actions(&path, rules), path, p))
            .collect();
        // Constant gradients, steps that overwrite, and some of both.
        let mut slopes = vec![vec![1.0; n], vec![0.0; n]];
        slopes.extend((0..3).map(|_| (0..n).map(|_| rng.random::<f64>()).collect()));
        let mean = |observers: &[usize], slopes: &[f64], seen: bool| {
            let theta = (local.order.get() - 1.0) * local.cost();
            let charges: Vec<(f64, f64)> = all
                .iter()
                .map(|(actions, path, p)| (*p, theta * cost(path, actions, u, observers, slopes, seen)))
                .collect();
            let largest = charges.iter().fold(0.0, |most: f64, (_, charge)| most.max(*charge));
            let log = if largest < 1.0 {
                charges.iter().map(|(p, charge)| p * charge.exp_m1()).sum::<f64>().ln_1p()
            } else {
                charges.iter().map(|(p, charge)| p * (charge - largest).exp()).sum::<f64>().ln() + largest
            };
            log / (alpha - 1.0)
        };
        for slopes in &slopes {
            let says = |account: &str, value: f64, truth: f64| {
                assert!(
                    truth <= value * (1.0 + 1e-11) + 1e-15,
                    "case {case}: {account} says {value}, true {truth}: {dense}, {start:?}, {rules:?}, {steps} \
                     steps, {u} to {coalition:?}, slopes {slopes:?}, alpha {alpha}, sigma {sigma}"
                );
            };
            let alone = mean(&[v], slopes, false);
            says("the pair", *token.loss(u, &[v], local)?.value(), alone);
            for (seen, final_token) in [(false, FinalToken::Withheld), (true, FinalToken::Published)] {
                let truth = mean(&coalition, slopes, seen);
                let shown = WalkOptions { final_token, ..options };
                let found = token.clone().with_options(shown)?.loss(u, &coalition, local)?;
                says("the coalition", *found.value(), truth);
                for horizon in [1, 3, 20] {
                    let cut = WalkOptions { final_token, horizon: Some(horizon), ..options };
                    if rules.cap < none && rules.uses == none {
                        let cut = token.clone().with_options(cut)?.loss(u, &coalition, local)?;
                        says("the cut law", *cut.value(), truth);
                    }
                }
            }
            if rules.rest == 1
                && rules.uses == none
                && rules.cap == none
                && let Ok(loss) = pendant::loss(&Walk::from(&w), u, &Start::Law(law.clone()), steps, local)
            {
                let only =
                    (0..n).find(|&x| x != u && dense[(u, x)] + dense[(x, u)] > 0.0).expect("a neighbor");
                says("the only neighbor", *loss.value(), mean(&[only], slopes, false));
                exact += 1;
            }
            compared += 1;
        }
    }
    assert!(compared == 2000 && exact > 20, "{compared}, {exact}");
    Ok(())
}

/// Constant gradients cost what is said of their path, and the taut string is never below any slopes.
#[test]
fn the_cost_of_a_path_covers_all_slopes() -> Result<(), Error> {
    let rng = &mut ChaCha8Rng::seed_from_u64(13);
    for _ in 0..500 {
        let (n, steps) = (rng.random_range(2..5), rng.random_range(1..12));
        let path: Vec<usize> = (0..=steps).map(|_| rng.random_range(0..n)).collect();
        let rules =
            Rules { cap: rng.random_range(1..6), rest: rng.random_range(1..4), uses: rng.random_range(1..4) };
        let actions = actions(&path, rules);
        let taken = Path { nodes: n, holders: path.clone(), contributes: actions.clone() };
        let found = taken.cost(0, &[1], FinalToken::Withheld)?;
        let constant = cost(&path, &actions, 0, &[1], &vec![1.0; n], false);
        assert!((found.constant.value() - constant).abs() <= 1e-12 * constant);
        let shown = taken.cost(0, &[1], FinalToken::Published)?;
        let constant = cost(&path, &actions, 0, &[1], &vec![1.0; n], true);
        assert!((shown.constant.value() - constant).abs() <= 1e-12 * constant);
        for _ in 0..10 {
            let slopes: Vec<f64> = (0..n).map(|_| rng.random::<f64>()).collect();
            assert!(cost(&path, &actions, 0, &[1], &slopes, false) <= found.adaptive.value() * (1.0 + 1e-12));
        }
    }
    Ok(())
}

/// Long thin graphs: a path end to end, with hardly more steps than nodes. Only few paths arrive, and they
/// are followed.
#[test]
fn long_thin_graphs() -> Result<(), Error> {
    for (n, more) in [(3, 3), (10, 4), (40, 3), (120, 2), (300, 1), (500, 0)] {
        let graph = path_graph(n)?;
        let gossip = GossipMatrix::metropolis(&graph);
        let w = TransitionMatrix::from(&gossip);
        let steps = n - 1 + more;
        for (alpha, sigma) in [(2.0, 0.5), (1.5, 3.0)] {
            let local = LocalLoss { order: Order::new(alpha)?, noise: NoiseMultiplier::new(sigma)? };
            let theta = (local.order.get() - 1.0) * local.cost();
            // Node 0 contributes whenever it holds the token; the last node sees it. Logarithms of
            // probabilities, as they are small.
            let mut log_terms = Vec::new();
            let mut stack = vec![(vec![0usize], 0.0)];
            while let Some((path, log_p)) = stack.pop() {
                let here = path[path.len() - 1];
                if here == n - 1 {
                    // What follows the first arrival is left out: it does not lower the loss.
                    let actions = vec![true; path.len() - 1];
                    let constant = cost(&path, &actions, 0, &[n - 1], &vec![1.0; n], false);
                    log_terms.push(log_p + (theta * constant).exp_m1().ln());
                    continue;
                }
                for next in [here.wrapping_sub(1), here, here + 1] {
                    // Steps left after this one must be enough to arrive.
                    if next < n && n - 1 - next <= steps - path.len() {
                        let p = w.csr().get(here, next);
                        if p > 0.0 {
                            let mut longer = path.clone();
                            longer.push(next);
                            stack.push((longer, log_p + p.ln()));
                        }
                    }
                }
            }
            let largest = log_terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let sum: f64 = log_terms.iter().map(|x| (x - largest).exp()).sum();
            let truth = (largest.exp() * sum).ln_1p() / (alpha - 1.0);
            assert!(truth > 0.0);
            let token = TokenWalk::new(&w, Start::Node(0), steps)?;
            let found = *token.loss(0, &[n - 1], local)?.value();
            assert!(truth <= found * (1.0 + 1e-11), "{n} nodes, {steps} steps: {found} below {truth}");
            // Beyond, what is added for numbers that may have vanished is larger than the truth.
            assert!(
                n > 120 || found <= truth * 4.0 * (1.0 + theta),
                "{n} nodes, {steps} steps: {found} far above {truth}"
            );
            let shown = WalkOptions { final_token: FinalToken::Published, ..WalkOptions::default() };
            let found = *token.clone().with_options(shown)?.loss(0, &[n - 1], local)?.value();
            assert!(
                truth <= found * (1.0 + 1e-11),
                "{n} nodes, {steps} steps, published: {found} below {truth}"
            );
            if n > 3 {
                let found = *token.loss(0, &[n - 2, n - 1], local)?.value();
                assert!(
                    truth <= found * (1.0 + 1e-11),
                    "{n} nodes, {steps} steps, coalition: {found} below {truth}"
                );
            }
            let cap = 2;
            let capped = WalkOptions { cap: Some(cap), ..WalkOptions::default() };
            let best = *token.clone().with_options(capped)?.loss(0, &[n - 1], local)?.value();
            let cut = WalkOptions { horizon: Some(steps), ..capped };
            let long = *token.with_options(cut)?.loss(0, &[n - 1], local)?.value();
            assert!(best <= long * (1.0 + 1e-9) && long <= cap as f64 * local.cost() * (1.0 + 1e-12));
        }
    }
    Ok(())
}

/// The mean of `T` visits of a stationary walk is off by a mean square of `1/T² Σ_{s,t} ỹᵀ W^|s-t| ỹ / n`
/// with the values less their mean; it is convex in the values, and thus largest where each is 0 or 1.
/// Eigenvalues below 0 make it smaller than independent draws, but not as small as a formula for positive
/// ones says.
#[test]
fn errors_of_walks_cover_the_worst_values() -> Result<(), Box<dyn std::error::Error>> {
    let noise = NoiseMultiplier::new(1e-6)?;
    for graph in [
        generators::complete_graph(2)?,
        generators::complete_graph(3)?,
        generators::complete_graph(4)?,
        generators::cycle_graph(5)?,
        generators::star_graph(4)?,
        generators::path_graph(5)?,
    ] {
        let n = graph.node_count();
        for matrix in [GossipMatrix::metropolis(&graph), GossipMatrix::new(&graph, Weights::MaxDegree)?] {
            let walk = TransitionMatrix::from(&matrix);
            let dense = matrix.to_dense()?;
            for steps in 1..=6 {
                let mut worst: f64 = 0.0;
                for chosen in 0..1_u32 << n {
                    let mean = f64::from(chosen.count_ones()) / n as f64;
                    let values = Array1::from_shape_fn(n, |u| f64::from(chosen >> u & 1) - mean);
                    let (mut moved, mut sum) = (values.clone(), 0.0);
                    for apart in 0..steps {
                        let times = if apart == 0 { steps } else { 2 * (steps - apart) };
                        sum += times as f64 * values.dot(&moved);
                        moved = dense.dot(&moved);
                    }
                    worst = worst.max(sum / (steps * steps * n) as f64);
                }
                let found = TokenWalk::new(&walk, Start::Uniform, steps)?.error(noise)?;
                let square = found * found * (1.0 + 1e-9);
                assert!(worst <= square, "{n} nodes, {steps} steps: {worst} above {square}");
            }
        }
    }
    Ok(())
}
