//! The rows of gossip protocols, from their definitions, in integers.

use super::linear::Linear;
use super::rational::{dyadic, integers as integers_of};
use ndp_algos::gossip::{MessageNoise, accelerated::ActiveEdge};
use ndp_graph::gossip_matrix::Weights;
use ndp_graph::{GossipMatrix, Graph};
use num_bigint::BigInt;
use num_integer::Integer;
use num_rational::BigRational;
use num_traits::{One, Zero};

/// Integers times a common power of two: `entries · 2^-bits`.
#[derive(Clone, Debug)]
struct Dyadics {
    entries: Vec<BigInt>,
    bits: u64,
}

/// A matrix with rational entries, as the user asked for it: `rows[u]` has pairs of column and integer, over
/// one denominator.
///
/// A named rule gives a rational matrix `W`, computed from the degrees. Then each laziness `l` replaces the
/// matrix by `(1 - l) W + l I`, in the order in which the user asked for them. Nothing that the library
/// stores is used for this. Weights given by the user are the stored entries.
#[derive(Clone, Debug)]
pub(crate) struct Matrix {
    graph: Graph,
    rows: Vec<Vec<(usize, BigInt)>>,
    denominator: BigInt,
}

impl Matrix {
    /// The weights of a rule, with the lazinesses applied one after the other.
    pub(crate) fn named(graph: &Graph, rule: Weights, lazinesses: &[f64]) -> Self {
        let one = BigRational::one;
        let degree = |v: usize| graph.degree(v);
        // The share of the weights that is left, (1 - l)(1 - l')...
        let kept = lazinesses.iter().fold(one(), |kept, &l| kept * (one() - exact(l)));
        let rational = (0..graph.node_count()).map(|u| {
            let weight = |v: usize| {
                let denominator = match rule {
                    Weights::Metropolis => degree(u).max(degree(v)) + 1,
                    Weights::MaxDegree => degree(u).max(degree(v)),
                    Weights::SumDegree => degree(u) + degree(v) + 1,
                    // The same weights as those of a walk on a regular graph.
                    _ => degree(u),
                };
                &kept / BigRational::from_integer(denominator.into())
            };
            let mut row: Vec<(usize, BigRational)> =
                graph.neighbors(u).iter().map(|&v| (v as usize, weight(v as usize))).collect();
            let rest = one() - row.iter().map(|(_, w)| w).sum::<BigRational>();
            row.push((u, rest));
            row
        });
        Self::of_rationals(graph, rational.collect())
    }

    pub(crate) fn metropolis(graph: &Graph) -> Self {
        Self::named(graph, Weights::Metropolis, &[])
    }

    /// The given weights, as they are stored.
    pub(crate) fn stored(matrix: &GossipMatrix) -> Self {
        let row = |u: usize| {
            let (columns, weights) = matrix.csr().row(u);
            columns.iter().zip(weights).map(|(&v, &w)| (v as usize, exact(w))).collect()
        };
        Self::of_rationals(matrix.graph(), (0..matrix.node_count()).map(row).collect())
    }

    fn of_rationals(graph: &Graph, rational: Vec<Vec<(usize, BigRational)>>) -> Self {
        let denominator = rational.iter().flatten().fold(BigInt::one(), |acc, (_, w)| acc.lcm(w.denom()));
        let integer = |w: BigRational| w.numer() * (&denominator / w.denom());
        let rows = rational.into_iter();
        let rows = rows.map(|row| row.into_iter().map(|(v, w)| (v, integer(w))).collect()).collect();
        Self { graph: graph.clone(), rows, denominator }
    }

    pub(crate) fn node_count(&self) -> usize {
        self.rows.len()
    }

    /// `x W` for a row `x`, up to the denominator.
    fn row_times(&self, x: &[BigInt]) -> Vec<BigInt> {
        let mut result = vec![BigInt::zero(); x.len()];
        for (x, row) in x.iter().zip(&self.rows).filter(|(x, _)| !x.is_zero()) {
            for (v, w) in row {
                result[*v] += x * w;
            }
        }
        result
    }
}

fn exact(x: f64) -> BigRational {
    let (mantissa, exponent) = dyadic(x);
    if exponent >= 0 {
        BigRational::from_integer(mantissa << exponent)
    } else {
        BigRational::new(mantissa, BigInt::one() << -exponent)
    }
}

/// Gossip in which each node adds one noise of variance 1 to its input at the start. If `known`, the members
/// know their own noises.
fn at_the_start(n: usize, rows: Vec<Vec<BigInt>>, coalition: &[usize], known: bool) -> Linear {
    let unknown = (0..n).filter(|v| !(known && coalition.contains(v)));
    Linear {
        rows,
        noises: unknown.map(|v| (v, BigInt::one())).collect(),
        unit: BigInt::one(),
        inputs: (0..n).collect(),
        members: coalition.to_vec(),
    }
}

/// Whether a message of `w` tells the coalition something: members who know their noises compute what they
/// send each other.
fn tells(w: usize, coalition: &[usize], known: bool) -> bool {
    !(known && coalition.contains(&w))
}

/// The neighbors of members whose messages tell the coalition something.
fn senders(graph: &Graph, coalition: &[usize], known: bool) -> Vec<usize> {
    let hears = |w: &usize| graph.neighbors(*w).iter().any(|&v| coalition.contains(&(v as usize)));
    (0..graph.node_count()).filter(|&w| tells(w, coalition, known)).filter(hears).collect()
}

fn unit_vector(n: usize, v: usize) -> Vec<BigInt> {
    (0..n).map(|u| BigInt::from(u8::from(u == v))).collect()
}

/// `(W^t)_w` for all rounds `t` and all senders `w`.
pub(crate) fn fixed(matrix: &Matrix, rounds: usize, coalition: &[usize], known: bool) -> Linear {
    let n = matrix.node_count();
    let mut level: Vec<Vec<BigInt>> =
        senders(&matrix.graph, coalition, known).into_iter().map(|w| unit_vector(n, w)).collect();
    let mut rows = Vec::new();
    for _ in 0..rounds {
        let next = level.iter().map(|row| matrix.row_times(row)).collect();
        rows.append(&mut level);
        level = next;
    }
    at_the_start(n, rows, coalition, known)
}

/// A step of gossip over changing connections.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Idle,
    Pair(usize, usize),
    Matrix(Matrix),
}

impl Step {
    /// The nodes from which `v` receives.
    fn peers(&self, v: usize) -> Vec<usize> {
        match self {
            Self::Idle => Vec::new(),
            &Self::Pair(a, b) if a == v => vec![b],
            &Self::Pair(a, b) if b == v => vec![a],
            Self::Pair(..) => Vec::new(),
            Self::Matrix(matrix) => matrix.graph.neighbors(v).iter().map(|&w| w as usize).collect(),
        }
    }
}

/// `(W_{t-1} ⋯ W_0)_w` for every message that tells the coalition something.
pub(crate) fn sequence(n: usize, steps: &[Step], coalition: &[usize], known: bool) -> Linear {
    // The state as rows over the inputs, all over one denominator.
    let mut state: Vec<Vec<BigInt>> = (0..n).map(|v| unit_vector(n, v)).collect();
    let mut rows = Vec::new();
    for step in steps {
        let mut peers: Vec<usize> = coalition.iter().flat_map(|&v| step.peers(v)).collect();
        peers.sort_unstable();
        peers.dedup();
        rows.extend(peers.iter().filter(|&&w| tells(w, coalition, known)).map(|&w| state[w].clone()));
        match step {
            Step::Idle => {}
            &Step::Pair(a, b) => {
                let sum: Vec<BigInt> = state[a].iter().zip(&state[b]).map(|(x, y)| x + y).collect();
                state.iter_mut().flatten().for_each(|x| *x <<= 1);
                (state[a], state[b]) = (sum.clone(), sum);
            }
            Step::Matrix(matrix) => {
                state = matrix
                    .rows
                    .iter()
                    .map(|row| {
                        let mut sum = vec![BigInt::zero(); n];
                        for (u, w) in row.iter().filter(|(_, w)| !w.is_zero()) {
                            sum.iter_mut().zip(&state[*u]).for_each(|(sum, x)| *sum += w * x);
                        }
                        sum
                    })
                    .collect();
            }
        }
    }
    at_the_start(n, rows, coalition, known)
}

impl Dyadics {
    /// `self + factor · other`, where `factor` has exactly the value that the `f64` stores.
    fn add_times(&mut self, factor: f64, other: &Self) {
        let (mantissa, exponent) = dyadic(factor);
        // other · factor = entries · mantissa · 2^(exponent - bits)
        let finest = (self.bits as i64).max(other.bits as i64 - i64::from(exponent)).max(0);
        let shift = finest - self.bits as i64;
        let other_shift = finest - other.bits as i64 + i64::from(exponent);
        for (x, y) in self.entries.iter_mut().zip(&other.entries) {
            *x = (&*x << shift) + ((y * &mantissa) << other_shift);
        }
        self.bits = finest as u64;
    }
}

/// Accelerated gossip. The coalition sees a row for each activation of an edge at a member: the value `x` of
/// the other end just before it. The shares of the mixing are the numbers that the run stores.
pub(crate) fn accelerated(
    n: usize,
    rings: &[ActiveEdge],
    mixing: f64,
    push: f64,
    coalition: &[usize],
    known: bool,
) -> Linear {
    let start = |v| Dyadics { entries: unit_vector(n, v), bits: 0 };
    let mut x: Vec<Dyadics> = (0..n).map(start).collect();
    let mut z = x.clone();
    let (mut clock, mut now) = (vec![0.0; n], 0.0);
    let mut rows = Vec::new();
    for ring in rings {
        now += ring.wait;
        let (a, b) = ring.edge;
        for v in [a, b] {
            let share: f64 = -0.5 * (-2.0 * mixing * (now - clock[v])).exp_m1();
            clock[v] = now;
            if share > 0.0 {
                // x + share (z - x) and z - share (z - x)
                let mut difference = z[v].clone();
                difference.add_times(-1.0, &x[v]);
                x[v].add_times(share, &difference);
                z[v].add_times(-share, &difference);
            }
        }
        for (to, from) in [(a, b), (b, a)] {
            if coalition.contains(&to) && tells(from, coalition, known) {
                rows.push(x[from].entries.clone());
            }
        }
        let mut difference = x[a].clone();
        difference.add_times(-1.0, &x[b]);
        x[a].add_times(-0.5, &difference);
        x[b].add_times(0.5, &difference);
        z[a].add_times(-push, &difference);
        z[b].add_times(push, &difference);
    }
    at_the_start(n, rows, coalition, known)
}

/// Gossip with fresh noise of the given variances in every round. Losses are in units of the first variance.
pub(crate) fn fresh(matrix: &Matrix, variances: &[f64], coalition: &[usize], known: bool) -> Linear {
    let n = matrix.node_count();
    let rounds = variances.len();
    // Columns: the inputs, then the noises of round 0, of round 1, ...
    let mut rows = Vec::new();
    for w in senders(&matrix.graph, coalition, known) {
        // The powers W^0..W^t, each with its own denominator L^k; a row of age t needs all of them over L^t.
        let mut powers = vec![unit_vector(n, w)];
        let denominator = &matrix.denominator;
        for t in 0..rounds {
            if t > 0 {
                powers.push(matrix.row_times(&powers[t - 1]));
            }
            let mut row = vec![BigInt::zero(); n * (rounds + 1)];
            row[..n].clone_from_slice(&powers[t]);
            let mut scale = BigInt::one();
            for r in 0..=t {
                // The noise of round r went through t - r steps, so multiply by L^r.
                for v in 0..n {
                    row[n + r * n + v] = &powers[t - r][v] * &scale;
                }
                scale *= denominator;
            }
            rows.push(row);
        }
    }
    let scaled = integers_of(variances.iter().copied());
    let unknown = (0..rounds * n).filter(|j| !(known && coalition.contains(&(j % n))));
    let unknown = unknown.filter(|j| !scaled[j / n].is_zero());
    Linear {
        rows,
        noises: unknown.map(|j| (n + j, scaled[j / n].clone())).collect(),
        unit: scaled[0].clone(),
        inputs: (0..n).collect(),
        members: coalition.to_vec(),
    }
}

/// Who hears messages: a coalition hears messages to its members; an outsider hears messages
/// along tapped edges, from the first node of each to the second.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Ears<'a> {
    Of(&'a [usize]),
    On(&'a [(usize, usize)]),
}

/// Gossip with noise on every message, of `ratio` times the standard deviation of the noise on the values.
pub(crate) fn noisy_messages(
    matrix: &Matrix,
    rounds: usize,
    ratio: f64,
    kind: MessageNoise,
    ears: Ears<'_>,
    known: bool,
) -> Linear {
    let (coalition, taps): (&[usize], &[(usize, usize)]) = match ears {
        Ears::Of(coalition) => (coalition, &[]),
        Ears::On(taps) => (&[], taps),
    };
    let graph = &matrix.graph;
    let n = graph.node_count();
    // Directed links, sorted by receiver, then by sender.
    let links: Vec<(usize, usize)> =
        (0..n).flat_map(|a| graph.neighbors(a).iter().map(move |&w| (a, w as usize))).collect();
    let per_round = if kind == MessageNoise::PerLink { links.len() } else { n };
    let noise = |round: usize, k: usize| 2 * n + round * per_round + k;
    // Columns: the inputs, the noises of the values, the noises of the messages; all states over one
    // denominator L^t.
    let width = 2 * n + rounds * per_round;
    let mut state: Vec<Vec<BigInt>> = (0..n)
        .map(|v| {
            let mut row = vec![BigInt::zero(); width];
            (row[v], row[n + v]) = (BigInt::one(), BigInt::one());
            row
        })
        .collect();
    let mut scale = BigInt::one();
    let mut rows = Vec::new();
    for t in 0..rounds {
        let heard: Vec<(usize, usize)> = if kind == MessageNoise::PerLink {
            let into = links.iter().enumerate();
            let hears = |a: usize, w: usize| coalition.contains(&a) && tells(w, coalition, known);
            let into = into.filter(|&(_, &(a, w))| hears(a, w) || taps.contains(&(w, a)));
            into.map(|(k, &(_, w))| (w, k)).collect()
        } else {
            // Here a node sends the same message to all neighbors, so tapping any of its edges shows that
            // message.
            let tapped = (0..n).filter(|w| taps.iter().any(|(from, _)| from == w));
            senders(graph, coalition, known).into_iter().chain(tapped).map(|w| (w, w)).collect()
        };
        for (w, k) in heard {
            let mut row = state[w].clone();
            row[noise(t, k)] += &scale;
            rows.push(row);
        }
        let mut next: Vec<Vec<BigInt>> = matrix
            .rows
            .iter()
            .map(|row| {
                let mut sum = vec![BigInt::zero(); width];
                for (u, w) in row {
                    for (sum, x) in sum.iter_mut().zip(&state[*u]).filter(|(_, x)| !x.is_zero()) {
                        *sum += w * x;
                    }
                }
                sum
            })
            .collect();
        for (k, &(a, w)) in links.iter().enumerate() {
            let weight = matrix.rows[a].iter().find(|(u, _)| *u == w);
            let column = match kind {
                MessageNoise::Broadcast => noise(t, w),
                MessageNoise::PerLink => noise(t, k),
                MessageNoise::Overheard => continue,
            };
            if let Some((_, weight)) = weight {
                next[a][column] += weight * &scale;
            }
        }
        scale *= &matrix.denominator;
        state = next;
    }
    // Variances 1 and ratio², over one power of two.
    let (mantissa, exponent) = dyadic(ratio);
    let square = &mantissa * &mantissa;
    let (unit, square) = if exponent >= 0 {
        (BigInt::one(), square << (2 * exponent))
    } else {
        (BigInt::one() << (-2 * exponent), square)
    };
    let member = |v: usize| known && coalition.contains(&v);
    let drawn = |k: usize| match kind {
        MessageNoise::Broadcast => member(k),
        MessageNoise::PerLink => member(links[k].1),
        MessageNoise::Overheard => false,
    };
    let mut noises: Vec<(usize, BigInt)> =
        (0..n).filter(|&v| !member(v)).map(|v| (n + v, unit.clone())).collect();
    if !square.is_zero() {
        let columns = (0..rounds).flat_map(|t| (0..per_round).map(move |k| (t, k)));
        let unknown = columns.filter(|&(_, k)| !drawn(k));
        noises.extend(unknown.map(|(t, k)| (noise(t, k), square.clone())));
    }
    Linear { rows, noises, unit, inputs: (0..n).collect(), members: coalition.to_vec() }
}

/// Decentralized SGD as `observer` sees it. In every step each node adds a contribution and a noise of
/// variance 1 to its model, sends the model to its neighbors, and averages with the matrix. There is one
/// input for each pattern of signs in which the contributions of `source` change by 1, up to a common sign;
/// in the first pattern all increase.
pub(crate) fn sgd(matrix: &Matrix, steps: usize, observer: usize, source: usize) -> Linear {
    let n = matrix.node_count();
    let patterns = 1_usize << steps.saturating_sub(1);
    let mut rows = Vec::new();
    for &w in matrix.graph.neighbors(observer) {
        let mut powers = vec![unit_vector(n, w as usize)];
        for t in 0..steps {
            if t > 0 {
                powers.push(matrix.row_times(&powers[t - 1]));
            }
            // What was added in step s has been averaged t - s times. All entries are over the denominator to
            // the power t.
            let mut row = vec![BigInt::zero(); n * steps];
            let mut scale = BigInt::one();
            for s in 0..=t {
                for v in 0..n {
                    row[s * n + v] = &powers[t - s][v] * &scale;
                }
                scale *= &matrix.denominator;
            }
            for pattern in 0..patterns {
                let down = |s: usize| s > 0 && pattern >> (s - 1) & 1 == 1;
                let terms = (0..steps)
                    .map(|s| if down(s) { -&row[s * n + source] } else { row[s * n + source].clone() });
                let sum = terms.sum();
                row.push(sum);
            }
            rows.push(row);
        }
    }
    let unknown = (0..n * steps).filter(|j| j % n != observer);
    Linear {
        rows,
        noises: unknown.map(|j| (j, BigInt::one())).collect(),
        unit: BigInt::one(),
        inputs: (n * steps..n * steps + patterns).collect(),
        members: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::linear::Loss;

    /// Losses as floats; members are NaN.
    fn units(view: &Linear) -> (usize, Vec<f64>) {
        let truth = view.truth();
        let unit = |loss: &Loss| match loss {
            Loss::Finite(x) => x.to_f64(),
            Loss::Member => f64::NAN,
            other => panic!("{other:?}"),
        };
        (truth.rank, truth.losses.iter().map(unit).collect())
    }

    fn path(n: usize) -> Graph {
        Graph::from_edges(n, (1..n).map(|v| (v - 1, v))).unwrap()
    }

    /// Asserts that every node other than the member has loss 1.
    fn all_ones(view: &Linear) {
        let (_, unit) = units(view);
        assert!(unit.iter().all(|x| x.is_nan() || *x == 1.0), "{unit:?}");
    }

    /// Against truths that another program computed in rationals.
    #[test]
    fn losses_on_the_karate_club() {
        let club = crate::draw::graphs::karate();
        for (rule, expected) in
            [(Weights::Metropolis, 0.7359108800605532), (Weights::SumDegree, 0.472279147274113)]
        {
            let matrix = Matrix::named(&club, rule, &[]);
            let constant = vec![Step::Matrix(matrix.clone()); 24];
            for view in [fixed(&matrix, 24, &[11], true), sequence(34, &constant, &[11], true)] {
                let (rank, unit) = units(&view);
                assert_eq!(rank + 1, 25);
                assert!((unit[28] - expected).abs() < 1e-15, "{}", unit[28]);
            }
        }
    }

    #[test]
    fn deep_chains_and_lazy_ones_show_everything() {
        all_ones(&fixed(&Matrix::metropolis(&path(40)), 40, &[39], true));
        let third = GossipMatrix::from_edge_weights(&path(26), |_, _| 1.0 / 3.0).unwrap();
        all_ones(&sequence(26, &vec![Step::Matrix(Matrix::stored(&third)); 26], &[25], true));
        let sweep = (0..30).flat_map(|_| (1..30).map(|v| ActiveEdge { wait: 0.3, edge: (v - 1, v) }));
        all_ones(&accelerated(30, &sweep.collect::<Vec<_>>(), 0.05, 1.0, &[29], true));
        let lazy = Matrix::named(&path(3), Weights::Metropolis, &[1.0 - 1e-10]);
        all_ones(&fresh(&lazy, &[1.0, 0.0, 1.0], &[2], true));
        for kind in [MessageNoise::Broadcast, MessageNoise::PerLink, MessageNoise::Overheard] {
            all_ones(&noisy_messages(&lazy, 3, 0.0, kind, Ears::Of(&[2]), true));
        }
        let mut comb: Vec<(usize, usize)> = (1..10).map(|v| (v - 1, v)).collect();
        comb.extend((0..10).map(|v| (v, v + 10)));
        let comb = Matrix::named(&Graph::from_edges(20, comb).unwrap(), Weights::SumDegree, &[]);
        let mut variances = [0.0; 20];
        (variances[0], variances[19]) = (1.0, 0.25);
        all_ones(&fresh(&comb, &variances, &[19], true));
    }

    /// A path of three that is made lazy twice and so hardly moves: the weights of neighbors are multiplied
    /// by (1e-10)², and still the observer sees all of node 0.
    #[test]
    fn lazinesses_follow_each_other() {
        let hardly = 1.0 - 1e-10;
        let twice = Matrix::named(&path(3), Weights::Metropolis, &[hardly, hardly]);
        all_ones(&fixed(&twice, 3, &[2], true));
        // 1/3 times (1 - 1/4)(1 - 1/2).
        let lazy = Matrix::named(&path(3), Weights::Metropolis, &[0.25, 0.5]);
        let entry = lazy.rows[0].iter().find(|(v, _)| *v == 1).unwrap();
        assert_eq!(&entry.1 * 8, lazy.denominator);
    }

    #[test]
    fn own_noise_that_is_not_known_hides_a_leaf() {
        let star = Matrix::metropolis(&Graph::from_edges(3, [(0, 1), (0, 2)]).unwrap());
        let (_, unit) = units(&fresh(&star, &[1.0, 0.0, 0.0], &[2], false));
        assert!((unit[1] - 0.5).abs() < 1e-15);
    }

    #[test]
    fn a_sequence_that_meets_two_primes_has_full_rank() {
        let edges = |text: &str| -> Vec<(usize, usize)> {
            let digit = |byte: u8| usize::from(byte - b'0');
            text.split(' ').map(|pair| (digit(pair.as_bytes()[0]), digit(pair.as_bytes()[1]))).collect()
        };
        let all = [
            "45 01 02 04 13 23 24 34",
            "45 03 04 12 13 14 23 24",
            "45 01 04 12 13 23 24 34",
            "45 04 13 23 34",
        ];
        let lazy = all.map(|text| {
            let graph = Graph::from_edges(6, edges(text)).unwrap();
            Step::Matrix(Matrix::named(&graph, Weights::Metropolis, &[0.5536671124535972]))
        });
        let last = Step::Matrix(Matrix::metropolis(&Graph::from_edges(6, edges("45")).unwrap()));
        let steps: Vec<Step> = lazy.into_iter().chain([last]).collect();
        let view = sequence(6, &steps, &[5], true);
        assert_eq!(view.truth().rank + 1, 6);
        all_ones(&view);
    }

    /// What one end of a path of three learns about the other: 9/26 when all three steps change in the same
    /// direction, as in the account of programs.
    #[test]
    fn steps_that_move_apart_show_more() {
        let path = Matrix::metropolis(&path(3));
        let view = sgd(&path, 3, 2, 0);
        let (_, unit) = units(&view);
        assert!((unit[0] - 9.0 / 26.0).abs() < 1e-15, "{unit:?}");
        assert_eq!(unit.len(), 4);
        // The center of a star sees everything, so each of the three steps contributes 1 whatever their signs
        // are.
        let star = Matrix::metropolis(&Graph::from_edges(3, [(0, 1), (0, 2)]).unwrap());
        let (_, unit) = units(&sgd(&star, 3, 0, 1));
        assert!(unit.iter().all(|x| (x - 3.0).abs() < 1e-12), "{unit:?}");
    }

    /// By hand: one neighbor, one round, noise of half the strength on the message.
    #[test]
    fn noise_on_a_message_adds_to_that_of_the_value() {
        let pair = Matrix::metropolis(&path(2));
        let (_, unit) = units(&noisy_messages(&pair, 1, 0.5, MessageNoise::PerLink, Ears::Of(&[1]), true));
        assert!((unit[0] - 0.8).abs() < 1e-15);
        // The same for an outsider who taps the edge; each tapped direction contributes separately.
        let tapped = |taps: &[(usize, usize)]| {
            units(&noisy_messages(&pair, 1, 0.5, MessageNoise::PerLink, Ears::On(taps), true)).1
        };
        for (taps, expected) in
            [(&[(0, 1)][..], [0.8, 0.0]), (&[(1, 0)], [0.0, 0.8]), (&[(0, 1), (1, 0)], [0.8, 0.8])]
        {
            let unit = tapped(taps);
            assert!(unit.iter().zip(expected).all(|(x, y)| (x - y).abs() < 1e-15), "{taps:?}: {unit:?}");
        }
        let (_, unit) = units(&fresh(&pair, &[3.0], &[1], true));
        assert!((unit[0] - 1.0).abs() < 1e-15);
    }
}
