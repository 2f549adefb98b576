//! Bounds of others, as formulas that stand in a paper's text or in the programs published with it
//! (`docs/how-to/refute.md`, "Claims of others, tried").

use ndp_account::Observer;
use ndp_graph::{GossipMatrix, Graph};
use ndp_program::constructors::{Dsgd, ModelReads, corn_dsgd_along, decor, dsgd};
use ndp_program::{Program, Reads, SensitivitySet, Weight};
use ndp_refute::{Expression, Graphs, Outcome, Search, WeightRule, connected_graphs, refute};
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Zero};

type Checked = Result<(), Box<dyn std::error::Error>>;

fn ratio(a: i64, b: i64) -> BigRational {
    BigRational::new(BigInt::from(a), BigInt::from(b))
}

/// The diagonal of the inverse of a matrix of fractions, by elimination.
fn inverse_diagonal(mut rows: Vec<Vec<BigRational>>) -> Vec<BigRational> {
    let n = rows.len();
    for (i, row) in rows.iter_mut().enumerate() {
        row.extend((0..n).map(|j| if i == j { BigRational::one() } else { BigRational::zero() }));
    }
    for i in 0..n {
        let pivot = rows[i][i].clone();
        rows[i].iter_mut().for_each(|x| *x = &*x / &pivot);
        let row = rows[i].clone();
        for (_, other) in rows.iter_mut().enumerate().filter(|(k, _)| *k != i) {
            let factor = other[i].clone();
            if !factor.is_zero() {
                other.iter_mut().zip(&row).for_each(|(x, y)| *x -= &factor * y);
            }
        }
    }
    (0..n).map(|i| rows[i][n + i].clone()).collect()
}

/// `own I + shared L` for a Laplacian with these weights on edges.
fn covariance(
    graph: &Graph,
    own: &BigRational,
    weight: impl Fn(usize, usize) -> BigRational,
) -> Vec<Vec<BigRational>> {
    let n = graph.node_count();
    let mut rows = vec![vec![BigRational::zero(); n]; n];
    (0..n).for_each(|i| rows[i][i] = own.clone());
    for (a, b) in graph.edges() {
        let w = weight(a, b);
        rows[a][a] += &w;
        rows[b][b] += &w;
        rows[a][b] -= &w;
        rows[b][a] -= &w;
    }
    rows
}

/// Whether what the observer learns about every other node is what is claimed: both ends enclose it.
fn meets(
    program: &Program,
    observer: &Observer,
    claimed: &[BigRational],
) -> Result<usize, Box<dyn std::error::Error>> {
    let account = program.account(observer)?;
    let mut compared = 0;
    for (u, claimed) in claimed.iter().enumerate().filter(|(u, _)| !observer.contains(*u)) {
        let loss = account.loss(u, &SensitivitySet::UseLevel)?;
        let low = BigRational::from_float(loss.lower).ok_or("not finite")?;
        let high = BigRational::from_float(loss.value()).ok_or("not finite")?;
        assert!(low <= *claimed && *claimed <= high, "{observer:?} about {u}: {loss:?}, claimed {claimed}");
        compared += 1;
    }
    Ok(compared)
}

/// Li et al. 2025, arXiv:2510.19934, Lemma 4.3 with K = 1: what is first seen after `t` steps is
/// `1 / (sqrt(t + 1) sigma)`-GDP. A token that is handed on `t` steps after a contribution carries `t`
/// noises: the loss is `1 / t`.
#[test]
fn a_lemma_counts_one_noise_too_many() -> Checked {
    for t in 1..=6 {
        let mut program = Program::new(t + 1)?;
        let x = program.contribute(0, Reads::Nothing)?;
        let mut token = x;
        for holder in 0..t {
            let z = program.noise([holder], 1)?;
            token = program.add(&[token, z])?;
            program.send(holder, holder + 1, token)?;
        }
        let loss = program.account(&Observer::node(t))?.loss(0, &SensitivitySet::UseLevel)?;
        assert!((loss.value() - 1.0 / t as f64).abs() < 1e-9);
        assert!(loss.lower > 1.0 / (t as f64 + 1.0), "{loss:?}");
    }
    Ok(())
}

/// The programs published with the same paper: Theorem 3 about random walks with first passages in the place
/// of powers.
#[test]
fn first_passages_in_theorem_3() -> Checked {
    let claim = Expression::parse("alpha / sigma^2 * T / n * sum(t, 1, T, F[t][u,v] / t)")?;
    let search = Search {
        protocol: ndp_refute::Protocol::Walk,
        weights: vec![WeightRule::MaxDegree],
        graphs: Graphs::Stars,
        domain: Some(Expression::parse("1 / 2 - (u - 1)^2 - v^2")?),
        max_nodes: 0,
        max_thin_nodes: 12,
        max_rounds: 29,
        ..Search::default()
    };
    let report = refute(&claim, &search)?;
    let Outcome::Refuted(found) = report.outcome else { return Err(format!("{report:?}").into()) };
    assert_eq!((found.nodes, found.rounds), (6, 21), "{found:?}");
    Ok(())
}

/// The programs published with DECOR (Allouah et al. 2024, arXiv:2405.01031): per step `2 C² max_i (Σ^-1)_ii`
/// nats for each unit of the order, that is `mu^2 = (Σ^-1)_ii` in units of the sensitivity `2 C`, for whoever
/// hears all.
#[test]
fn decor_towards_whoever_hears_all() -> Checked {
    let mut compared = 0;
    for n in 2..=5 {
        for graph in connected_graphs(n)? {
            for (own, shared) in [((1, 1), (1, 1)), ((1, 5), (20, 1)), ((3, 1), (1, 7))] {
                let (a, b) = (ratio(own.0, own.1), ratio(shared.0, shared.1));
                let claimed = inverse_diagonal(covariance(&graph, &a, |_, _| b.clone()));
                let program = decor(&graph, Weight::from(own), Weight::from(shared), 1)?;
                compared += meets(&program, &Observer::outsider(), &claimed)?;
            }
        }
    }
    assert!(compared > 300, "{compared}");
    Ok(())
}

/// CorN-DSGD (Rodio, Chen, Larsson 2025, arXiv:2501.14644), the constraint of the published programs:
/// `(K^-1)_ii` at most the bound. Towards whoever taps all edges, and towards every node.
#[test]
fn corn_dsgd_towards_everybody() -> Checked {
    let mut compared = 0;
    for n in 2..=5 {
        for graph in connected_graphs(n)? {
            let matrix = GossipMatrix::metropolis(&graph);
            let weight = |a: usize, b: usize| ratio(1, 1 + graph.degree(a).max(graph.degree(b)) as i64);
            let claimed = inverse_diagonal(covariance(&graph, &ratio(1, 4), weight));
            let program = corn_dsgd_along(&matrix, (1, 4), 1, 2)?;
            let taps: Vec<(usize, usize)> = graph.edges().flat_map(|(a, b)| [(a, b), (b, a)]).collect();
            compared += meets(&program, &Observer::outsider().tapping(&taps), &claimed)?;
            for v in 0..n {
                let account = program.account(&Observer::node(v))?;
                for u in (0..n).filter(|&u| u != v) {
                    let low = account.loss(u, &SensitivitySet::UseLevel)?.lower;
                    assert!(BigRational::from_float(low).ok_or("not finite")? <= claimed[u]);
                    compared += 1;
                }
            }
        }
    }
    assert!(compared > 400, "{compared}");
    Ok(())
}

/// A public calculator after arXiv:2510.17480 offers a noise for the mean over nodes towards the worst
/// observer; its page says that this is no guarantee for every pair. The smallest graph where it is none.
#[test]
fn a_mean_over_nodes_covers_no_pair() -> Checked {
    let mut first = None;
    for n in 2..=4 {
        for graph in connected_graphs(n)? {
            let options = Dsgd { reads: ModelReads::Nothing, ..Dsgd::from(1) };
            let program = dsgd(&GossipMatrix::metropolis(&graph), options)?;
            let mut worst = BigRational::zero();
            let mut mean = BigRational::zero();
            for v in 0..n {
                let account = program.account(&Observer::node(v))?;
                let mut sum = BigRational::zero();
                for u in (0..n).filter(|&u| u != v) {
                    // Neighbors show one noise, others nothing.
                    let seen = if graph.has_edge(u, v) { ratio(1, 1) } else { BigRational::zero() };
                    let loss = account.loss(u, &SensitivitySet::UseLevel)?;
                    assert!(BigRational::from_float(loss.lower).ok_or("not finite")? <= seen);
                    assert!(seen <= BigRational::from_float(loss.value()).ok_or("not finite")?);
                    worst = worst.max(seen.clone());
                    sum += seen;
                }
                mean = mean.max(sum / BigInt::from(n - 1));
            }
            if mean < worst && first.is_none() {
                first = Some((n, graph.edge_count(), mean, worst));
            }
        }
    }
    assert_eq!(first, Some((4, 3, ratio(2, 3), ratio(1, 1))));
    Ok(())
}
