//! Laws, compared with all paths of small graphs.

use super::super::system::{Rounding, System};
use super::*;

/// On a grid that contains all charges nothing is rounded.
const EXACT: Rounding = Rounding::To(passages::Side::Upper);

/// All connected graphs on the nodes `0..n`.
fn connected_graphs(n: usize) -> Vec<Graph> {
    let pairs: Vec<(usize, usize)> = (0..n).flat_map(|a| (a + 1..n).map(move |b| (a, b))).collect();
    (0u32..1 << pairs.len())
        .filter_map(|mask| {
            let edges: Vec<(usize, usize)> =
                pairs.iter().enumerate().filter(|(i, _)| mask >> i & 1 == 1).map(|(_, &pair)| pair).collect();
            let graph = Graph::from_edges(n, edges.iter().copied()).unwrap();
            let mut reached = vec![false; n];
            reached[0] = true;
            for _ in 0..n {
                for &(a, b) in &edges {
                    let either = reached[a] || reached[b];
                    (reached[a], reached[b]) = (either, either);
                }
            }
            reached.iter().all(|&reached| reached).then_some(graph)
        })
        .collect()
}

/// Every path with its probability, as an integer over `60^T` times that of the start; costs are in units of
/// 1/840. The limits on contributions are applied to each path from scratch.
fn enumerated(walk: &TokenWalk, w: &TransitionMatrix, u: usize, members: &[usize]) -> BTreeMap<u64, f64> {
    let (n, steps, options) = (w.node_count(), walk.steps(), *walk.options());
    let weight = |a: usize, b: usize| -> u128 {
        let w = w.csr().get(a, b) * 60.0;
        assert!((w - w.round()).abs() < 1e-9);
        (0..=60).find(|&k| (f64::from(k) - w).abs() < 1e-6).map(|k| k as u128).unwrap()
    };
    let weights: Vec<Vec<u128>> = (0..n).map(|a| (0..n).map(|b| weight(a, b)).collect()).collect();
    let cost = |path: &[usize]| -> u64 {
        let mut uses = [[0usize; 5]; 5];
        let (mut count, mut last, mut arrived) = (0, None, false);
        let (mut pending, mut slots, mut cost) = (0u64, 0u64, 0u64);
        for (t, &x) in path.iter().enumerate() {
            if members.contains(&x) || (t == steps && options.final_token == FinalToken::Published) {
                if slots > 0 {
                    assert_eq!(pending * pending * 840 % slots, 0);
                    cost += pending * pending * 840 / slots;
                }
                (pending, slots) = (0, 0);
            }
            if t == steps {
                break;
            }
            let beyond = path[t + 1] != x && {
                let used = &mut uses[x][path[t + 1]];
                *used += 1;
                matches!(options.edges, EdgeRule::NoiseOnly(limit) if *used > limit)
            };
            let rested = last.is_none_or(|last: usize| t - last >= options.refractory);
            if x == u && rested && !beyond && !arrived && options.cap.is_none_or(|cap| count < cap) {
                (count, last, pending) = (count + 1, Some(t), pending + 1);
            }
            arrived = beyond;
            if !members.contains(&x) {
                slots += 1;
            }
        }
        cost
    };
    let mut start: Vec<f64> = match walk.law_at_0(&ndp_numeric::stop::Stop::never()).unwrap() {
        Start::Law(law) => law,
        start => start.law(n).unwrap(),
    };
    let sum: f64 = start.iter().sum();
    start.iter_mut().for_each(|p| *p /= sum);
    let mut law = BTreeMap::new();
    for (first, &p) in start.iter().enumerate().filter(|(_, p)| **p > 0.0) {
        let mut counts: BTreeMap<u64, u128> = BTreeMap::new();
        let mut path = vec![first];
        go_on(&weights, steps, &mut path, 1, &mut |path, weight| {
            *counts.entry(cost(path)).or_default() += weight;
        });
        let all = 60u128.pow(u32::try_from(steps).unwrap());
        for (cost, count) in counts {
            *law.entry(cost).or_insert(0.0) += p * (count as f64 / all as f64);
        }
    }
    law
}

/// Every path of this number of steps that begins like this one, with the product of its weights.
fn go_on(
    weights: &[Vec<u128>],
    steps: usize,
    path: &mut Vec<usize>,
    weight: u128,
    each: &mut impl FnMut(&[usize], u128),
) {
    if path.len() > steps {
        return each(path, weight);
    }
    let last = path[path.len() - 1];
    for (next, &w) in weights[last].iter().enumerate().filter(|(_, w)| **w > 0) {
        path.push(next);
        go_on(weights, steps, path, weight * w, each);
        path.pop();
    }
}

/// The upper law is never below the law of all paths, and the lower law never above it. Both are close to it
/// if only the grid was given up.
fn check_against_paths(walk: &TokenWalk, w: &TransitionMatrix, u: usize, members: &[usize]) {
    let law = enumerated(walk, w, u, members);
    let (level, _) = on_exact_grid(walk, u, members, 840);
    let attained = walk.cost_law(u, members).unwrap().attained;
    let intervals = intervals(walk, u, members);
    let system = System::new(&intervals[0], Grid { numerator: 1, denominator: 840 }, EXACT, 0.0);
    let mut at_least = 0.0;
    let what = format!("{:?} {u} {members:?} {:?}", w.to_dense().unwrap(), walk.options());
    for cell in (1..=840 * walk.steps()).rev() {
        at_least += law.get(&(cell as u64)).copied().unwrap_or(0.0);
        assert!(at_least <= level.upper[cell] + 1e-15, "{at_least} {} at {cell}: {what}", level.upper[cell]);
        if cell % 60 == 0 {
            let beyond = Interval::new(system.log_beyond(cell)).exp().high() + system.lost;
            // The sum over paths is rounded, too.
            assert!(at_least <= beyond + 1e-15, "{at_least} {beyond} beyond {cell}: {what}");
        }
        if attained {
            assert!(
                level.lower[cell] <= at_least + 1e-15,
                "{} {at_least} at {cell}: {what}",
                level.lower[cell]
            );
            // The rounding of transforms grows with the number of series.
            assert!(
                level.upper[cell] - level.lower[cell] < 1e-8 * members.len() as f64,
                "{} at {cell}: {what}",
                level.upper[cell] - level.lower[cell]
            );
        }
    }
    // The law as it is used: the truth lies between its ends, at every noise and ε.
    let used = walk.cost_law(u, members).unwrap();
    for sigma in [0.7, 3.0] {
        for epsilon in [0.0, 0.4, 2.0] {
            let truth: f64 = law
                .iter()
                .map(|(&cost, p)| {
                    let mu = (cost as f64 / 840.0).sqrt() / sigma;
                    p * ndp_numeric::gaussian_profile::theta(epsilon, mu)
                })
                .sum();
            let found = used.delta(noise(sigma), epsilon).unwrap();
            assert!(
                found.lower() <= truth * (1.0 + 1e-12) && truth <= found.upper() * (1.0 + 1e-12),
                "{found:?} {truth}: {what}"
            );
        }
    }
}

fn random_options(rng: &mut ChaCha8Rng, which: usize) -> WalkOptions {
    let plain = WalkOptions::default();
    let all = which == 6;
    let mut options = plain;
    if all && rng.random() || which == 1 {
        options.cap = Some(rng.random_range(1..4));
    }
    if all && rng.random() || which == 2 {
        options.refractory = rng.random_range(2..4);
    }
    if all && rng.random() || which == 3 {
        options.edges = EdgeRule::NoiseOnly(rng.random_range(1..3));
    }
    if all && rng.random() || which == 4 {
        options.final_token = FinalToken::Published;
    }
    if all && rng.random() || which == 5 {
        options.burn_in = rng.random_range(1..4);
    }
    options
}

#[test]
fn all_paths_of_small_graphs() {
    let rng = &mut ChaCha8Rng::seed_from_u64(30);
    let mut tried = 0;
    for n in 2..=4 {
        for (index, graph) in connected_graphs(n).iter().enumerate() {
            let w = metropolis(graph);
            // Every option alone, and all of them together.
            let which = index % 7;
            let u = rng.random_range(0..n);
            let mut members: Vec<usize> = (0..n).filter(|&v| v != u).collect();
            while members.len() > 1 && rng.random::<f64>() < 0.7 {
                members.remove(rng.random_range(0..members.len()));
            }
            let start = match rng.random_range(0..3) {
                0 => Start::Uniform,
                1 => Start::Node(rng.random_range(0..n)),
                _ => Start::Law((0..n).map(|node| (node + 1) as f64 / (n * (n + 1) / 2) as f64).collect()),
            };
            let steps = rng.random_range(1..=if n == 4 { 7 } else { 8 });
            let options = random_options(rng, which);
            let walk = TokenWalk::new(&w, start, steps).unwrap().with_options(options).unwrap();
            check_against_paths(&walk, &w, u, &members);
            tried += 1;
        }
    }
    assert_eq!(tried, 1 + 4 + 38);
}

/// The first of each set of graphs that differ only in the names of nodes.
fn up_to_names(graphs: Vec<Graph>) -> Vec<Graph> {
    let permutations = |n: usize| {
        let mut all = vec![vec![]];
        for _ in 0..n {
            let longer = |names: Vec<usize>| {
                (0..n).filter(|x| !names.contains(x)).map(|x| [names.clone(), vec![x]].concat()).collect()
            };
            all = all.into_iter().flat_map::<Vec<Vec<usize>>, _>(longer).collect();
        }
        all
    };
    let mut known = std::collections::BTreeSet::new();
    let mut kept = Vec::new();
    for graph in graphs {
        let names = permutations(graph.node_count());
        let renamed = names.iter().map(|names| {
            let edges = graph.edges().map(|(a, b)| (names[a].min(names[b]), names[a].max(names[b])));
            edges.collect::<std::collections::BTreeSet<_>>()
        });
        if known.insert(renamed.min()) {
            kept.push(graph);
        }
    }
    kept
}

/// All graphs of five nodes up to the names of nodes, each with one of the options.
#[test]
fn all_paths_of_graphs_of_five_nodes() {
    let rng = &mut ChaCha8Rng::seed_from_u64(5);
    let graphs = up_to_names(connected_graphs(5));
    assert_eq!(graphs.len(), 21);
    for (index, graph) in graphs.iter().enumerate() {
        let w = metropolis(graph);
        let options = random_options(rng, index % 7);
        let walk = TokenWalk::new(&w, Start::Uniform, 6).unwrap().with_options(options).unwrap();
        let u = rng.random_range(0..5);
        check_against_paths(&walk, &w, u, &[(u + rng.random_range(1..5)) % 5]);
        if index % 3 == 0 {
            check_against_paths(&walk, &w, 4, &[1, 3]);
        }
    }
    // One walk of eight steps with a counted cap; the next test has the other options.
    let options = WalkOptions { cap: Some(2), ..WalkOptions::default() };
    let w = metropolis(&graphs[0]);
    let walk = TokenWalk::new(&w, Start::Uniform, 8).unwrap().with_options(options).unwrap();
    check_against_paths(&walk, &w, 0, &[3]);
}

/// Whether the whole test is to be run, which takes minutes, instead of a part of it that is drawn with a
/// fixed seed.
fn is_long() -> bool {
    std::env::var_os("NDP_LONG").is_some()
}

/// All options alone, none of them and several together, on all graphs of up to five nodes, each with its
/// longest walk.
#[test]
fn all_options_on_all_graphs_with_eight_steps() {
    let rng = &mut ChaCha8Rng::seed_from_u64(8);
    let (mut tried, mut drawn) = (0, 0);
    for n in 2..=5 {
        for graph in up_to_names(connected_graphs(n)) {
            let w = metropolis(&graph);
            for which in 0..8 {
                let options = random_options(rng, which.min(6));
                let start = if rng.random() { Start::Uniform } else { Start::Node(rng.random_range(0..n)) };
                let walk = TokenWalk::new(&w, start, 8).unwrap().with_options(options).unwrap();
                let u = rng.random_range(0..n);
                let mut members: Vec<usize> = (0..n).filter(|&v| v != u).collect();
                while members.len() > 1 && rng.random::<f64>() < 0.7 {
                    members.remove(rng.random_range(0..members.len()));
                }
                drawn += 1;
                if is_long() || drawn % 29 == 0 {
                    check_against_paths(&walk, &w, u, &members);
                    tried += 1;
                }
            }
        }
    }
    assert_eq!(drawn, 8 * (1 + 2 + 6 + 21));
    assert_eq!(tried, if is_long() { drawn } else { drawn / 29 });
}

/// The cost of a path if every visit contributes, up to a cap.
fn cost_of(path: &[usize], (u, v): (usize, usize), cap: usize, published: bool) -> f64 {
    let steps = path.len() - 1;
    let (mut count, mut pending, mut slots, mut cost) = (0, 0.0, 0.0, 0.0);
    for (t, &x) in path.iter().enumerate() {
        if x == v || published && t == steps {
            cost += if slots > 0.0 { pending * pending / slots } else { 0.0 };
            (pending, slots) = (0.0, 0.0);
        }
        if t < steps {
            slots += f64::from(u8::from(x != v));
            if x == u && count < cap {
                (count, pending) = (count + 1, pending + 1.0);
            }
        }
    }
    cost
}

/// A million simulated paths: the probabilities that the cost is at least as large, and `δ`, each within the
/// margin of Bernstein's inequality, which fails with probability 1e-9.
#[test]
fn a_million_simulated_paths_of_large_graphs() {
    let paths: usize = if is_long() { 1_000_000 } else { 20_000 };
    let within = |mean: f64, most: f64| {
        let log = (2e9f64).ln();
        (2.0 * most * log / paths as f64).sqrt() + log / (3.0 * paths as f64) + 1e-12 * mean
    };
    let rng = &mut ChaCha8Rng::seed_from_u64(1_000_000);
    let cube = metropolis(&hypercube_graph(6).unwrap());
    let star = metropolis(&star_graph(30).unwrap());
    let published = FinalToken::Published;
    for (w, steps, (u, v), cap, final_token) in [
        (&cube, 640, (0, 63), usize::MAX, FinalToken::Withheld),
        (&cube, 640, (0, 1), usize::MAX, FinalToken::Withheld),
        (&star, 300, (1, 0), 3, FinalToken::Withheld),
        (&star, 300, (1, 2), usize::MAX, published),
    ] {
        let capped = (cap < usize::MAX).then_some(cap);
        let options = WalkOptions { cap: capped, final_token, ..WalkOptions::default() };
        let walk = TokenWalk::new(w, Start::Uniform, steps).unwrap().with_options(options).unwrap();
        let law = walk.cost_law(u, &[v]).unwrap();
        let mut costs: Vec<f64> = (0..paths)
            .map(|_| {
                let path = walk.sample(rng);
                cost_of(&path.holders, (u, v), cap, final_token == published)
            })
            .collect();
        costs.sort_by(f64::total_cmp);
        for share in [0.3, 0.5, 0.9, 0.99, 0.999, 0.9999] {
            let at = costs[ndp_numeric::casts::floor(share * paths as f64)];
            if at == 0.0 {
                continue;
            }
            let found =
                (paths - costs.partition_point(|&cost| cost < at * (1.0 - 1e-12))) as f64 / paths as f64;
            let truth = law.at_least(at).unwrap();
            let margin = within(found, truth.upper());
            assert!(
                truth.lower() - margin <= found && found <= truth.upper() + margin,
                "{u} {v} {at}: {found} {truth:?}"
            );
        }
        for (sigma, epsilon) in [(2.0, 0.5), (3.0, 1.0), (3.0, 2.0)] {
            let theta = |cost: &f64| ndp_numeric::gaussian_profile::theta(epsilon, cost.sqrt() / sigma);
            let found = costs.iter().map(theta).sum::<f64>() / paths as f64;
            let truth = law.delta(noise(sigma), epsilon).unwrap();
            let margin = within(found, truth.upper());
            assert!(
                truth.lower() - margin <= found && found <= truth.upper() + margin,
                "{u} {v} {sigma} {epsilon}: {found} {truth:?}"
            );
            // For questions that are likely to be asked, the two ends are close to each other: within a
            // hundredth for `ε`.
            let narrow = truth.upper() - truth.lower() <= 0.1 * truth.upper();
            assert!(narrow || truth.upper() < 1e-6, "{truth:?}");
        }
    }
}
