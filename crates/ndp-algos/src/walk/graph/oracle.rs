//! Slow definitions that the tests of this folder compare with: a sum over every path of a small walk, and
//! the renewal recursion term by term.

use super::LocalLoss;
use super::path_cost::{Interval, Odometer};
use ndarray::{Array2, array};
use ndp_dp::{NoiseMultiplier, Order};
use ndp_graph::Weights;
use ndp_graph::generators::{complete_graph, cycle_graph, hypercube_graph, path_graph, star_graph};
use ndp_graph::hitting::{Start, Walk};
use ndp_graph::{GossipMatrix, TransitionMatrix};

/// One contribution at an order and with a noise multiplier.
pub(super) fn local(alpha: f64, sigma: f64) -> LocalLoss {
    LocalLoss { order: Order::new(alpha).unwrap(), noise: NoiseMultiplier::new(sigma).unwrap() }
}

/// `Σ P(path) value(path)` over all paths of `steps` steps.
pub(super) fn expectation(
    w: &Array2<f64>,
    start: &[f64],
    steps: usize,
    value: &dyn Fn(&[usize]) -> f64,
) -> f64 {
    fn extend(w: &Array2<f64>, path: &mut Vec<usize>, steps: usize, value: &dyn Fn(&[usize]) -> f64) -> f64 {
        if path.len() > steps {
            return value(path);
        }
        let here = path[path.len() - 1];
        let mut sum = 0.0;
        for next in 0..w.nrows() {
            if w[(here, next)] > 0.0 {
                path.push(next);
                sum += w[(here, next)] * extend(w, path, steps, value);
                path.pop();
            }
        }
        sum
    }
    start
        .iter()
        .enumerate()
        .filter(|(_, p)| **p > 0.0)
        .map(|(node, p)| p * extend(w, &mut vec![node], steps, value))
        .sum()
}

/// The intervals between visits of the observers on a path. What no observer has seen at the end is left out.
pub(super) fn intervals(path: &[usize], u: usize, observers: &[usize]) -> Vec<Interval> {
    let mut intervals = Vec::new();
    let mut times = Vec::new();
    for (t, &holder) in path.iter().enumerate() {
        if holder == u {
            times.push(t);
        } else if observers.contains(&holder) {
            intervals.push(Interval::new(std::mem::take(&mut times), t).unwrap());
        }
    }
    intervals
}

/// The mixed cost of a path. The last holder does not contribute, and nobody would see its contribution
/// anyway.
pub(super) fn mixed_cost(path: &[usize], u: usize, observers: &[usize], depth: usize) -> f64 {
    intervals(path, u, observers).iter().map(|i| *i.mixed(depth).unwrap().value()).sum()
}

pub(super) fn odometer(path: &[usize], u: usize, observers: &[usize]) -> Odometer {
    let mut odometer = Odometer::new(u, observers).unwrap();
    let (&last, steps) = path.split_last().unwrap();
    for &holder in steps {
        odometer.record(holder, true);
    }
    odometer.arrive(last);
    odometer
}

/// `E exp(θ cost)` of the renewal recursion as it is stated, for the chain backwards in time, by plain loops.
/// It takes a symmetric matrix, whose backward chain is the walk itself.
pub(super) fn plain_recursion(
    walk: &Walk,
    [u, v]: [usize; 2],
    start: &Start,
    horizon: usize,
    theta: f64,
    depth: usize,
) -> f64 {
    let n = walk.incoming().node_count();
    let from_u = walk.first_visits(&Start::Node(u), &[u, v], horizon).unwrap();
    let from_v = walk.first_visits(&Start::Node(v), &[u, v], horizon).unwrap();
    let never_u = walk.first_visits(&Start::Node(u), &[v], horizon).unwrap().none;
    let never_v = walk.first_visits(&Start::Node(v), &[v], horizon).unwrap().none;
    let e = |m: usize, t: usize| (theta * (2 * m - 1) as f64 / t as f64).exp();
    let convolve = |a: &[f64], b: &[f64]| -> Vec<f64> {
        (0..=horizon).map(|t| (0..=t).map(|s| a[s] * b[t - s]).sum()).collect()
    };
    let charged = |a: &[f64], m: usize| -> Vec<f64> {
        a.iter().enumerate().map(|(t, x)| if t == 0 { 0.0 } else { x * e(m, t) }).collect()
    };
    let mut d = charged(&from_v.at[0], 1);
    let mut s = d.clone();
    for m in 2..=depth {
        d = charged(&convolve(&d, &from_u.at[0]), m);
        s.iter_mut().zip(&d).for_each(|(s, d)| *s += d);
    }
    let c = charged(&from_u.at[0], 1);
    let mut r = convolve(&d, &c);
    for t in 0..=horizon {
        r[t] += (1..t).map(|j| r[j] * c[t - j]).sum::<f64>();
    }
    s.iter_mut().zip(&r).for_each(|(s, r)| *s += r);
    let mut interval = convolve(&s, &from_u.at[1]);
    interval.iter_mut().zip(&from_v.at[1]).for_each(|(i, f)| *i += f);
    let mut b = vec![1.0];
    for j in 1..=horizon {
        b.push((1..=j).map(|l| interval[l] * b[j - l]).sum::<f64>() + never_v[j]);
    }
    match *start {
        Start::Node(node) if node == v => b[horizon],
        Start::Node(node) if node == u => {
            (0..=horizon).map(|l| s[l] * b[horizon - l]).sum::<f64>() + never_u[horizon]
        }
        Start::Uniform => {
            let mut first = convolve(&s, &from_u.none);
            first.iter_mut().zip(&from_v.none).for_each(|(f, a)| *f = (*f + a) / n as f64);
            let sum: f64 = (0..=horizon).map(|l| first[l] * b[horizon - l]).sum();
            sum + 1.0 - never_v.iter().sum::<f64>() / n as f64
        }
        _ => panic!("the recursion is stated for three starts"),
    }
}

/// The rows of the reference tables: matrix, exposed node, observer.
pub(super) fn reference_rows() -> Vec<(&'static str, GossipMatrix, usize, usize)> {
    vec![
        ("path-4", GossipMatrix::metropolis(&path_graph(4).unwrap()), 0, 3),
        ("ring-6", GossipMatrix::metropolis(&cycle_graph(6).unwrap()), 0, 5),
        ("star-6", GossipMatrix::new(&star_graph(5).unwrap(), Weights::MaxDegree).unwrap(), 1, 0),
        ("complete-5", GossipMatrix::metropolis(&complete_graph(5).unwrap()), 0, 4),
        ("cube-3", GossipMatrix::new(&hypercube_graph(3).unwrap(), Weights::MaxDegree).unwrap(), 0, 7),
    ]
}

/// Small walks of every kind: symmetric, doubly stochastic only, and neither.
pub(super) fn small_walks() -> Vec<TransitionMatrix> {
    let gossip = [
        GossipMatrix::metropolis(&path_graph(3).unwrap()),
        GossipMatrix::new(&path_graph(3).unwrap(), Weights::MaxDegree).unwrap(),
        GossipMatrix::metropolis(&cycle_graph(3).unwrap()),
        GossipMatrix::metropolis(&path_graph(4).unwrap()),
        GossipMatrix::new(&star_graph(3).unwrap(), Weights::MaxDegree).unwrap(),
        GossipMatrix::new(&cycle_graph(4).unwrap(), Weights::MaxDegree).unwrap(),
    ];
    let rows = [
        array![[0.1, 0.6, 0.3], [0.2, 0.3, 0.5], [0.7, 0.1, 0.2]],
        array![[0.0, 1.0, 0.0], [0.25, 0.0, 0.75], [0.5, 0.5, 0.0]],
    ];
    let given = rows.iter().map(|rows| TransitionMatrix::from_dense(rows.view()).unwrap());
    gossip.iter().map(TransitionMatrix::from).chain(given).collect()
}
