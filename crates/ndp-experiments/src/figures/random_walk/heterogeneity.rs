//! What figures 7 and 8 share: a geometric graph whose data vary with the position, what a walking token
//! makes of them, and the distance classes of pairs.

use crate::figures::families::geometric;
use crate::seed::Seed;
use anyhow::Result;
use ndp_graph::Graph;
use ndp_report::figure::Scale;
use rand::seq::SliceRandom;

const NODES: usize = 200;
const RADIUS: f64 = 0.2;
/// Labels are sums of two coordinates of the unit square.
pub(super) const LABEL_RANGE: f64 = 2.0;
/// Classes of pairs by distance.
pub(super) const CLASSES: usize = 10;

/// The graph, and its labels in two orders.
pub(super) struct Labelled {
    pub(super) graph: Graph,
    /// The sum of the coordinates of every node.
    pub(super) original: Vec<f64>,
    /// The same numbers, shuffled.
    pub(super) shuffled: Vec<f64>,
}

pub(super) fn labelled(scale: Scale, seed: Seed) -> Result<Labelled> {
    let graph = geometric(scale.pick(NODES, 40), scale.pick(RADIUS, 0.4), seed)?;
    let original: Vec<f64> = graph.positions().unwrap_or_default().iter().map(|[x, y]| x + y).collect();
    let mut shuffled = original.clone();
    shuffled.shuffle(&mut seed.fork("shuffled labels").trial(0));
    Ok(Labelled { graph, original, shuffled })
}

/// All pairs `u < v` by Euclidean distance, in [`CLASSES`] classes of equal size (the first ones hold one
/// more if need be).
pub(super) fn classes(positions: &[[f64; 2]]) -> Vec<Vec<(usize, usize)>> {
    let distance = |(u, v): (usize, usize)| {
        let ([a, b], [c, d]) = (positions[u], positions[v]);
        (a - c).hypot(b - d)
    };
    let n = positions.len();
    let mut pairs: Vec<(usize, usize)> = (0..n).flat_map(|u| (u + 1..n).map(move |v| (u, v))).collect();
    // The sort is stable: pairs at the same distance stay in order.
    pairs.sort_by(|&a, &b| distance(a).total_cmp(&distance(b)));
    let (size, longer) = (pairs.len() / CLASSES, pairs.len() % CLASSES);
    let mut rest = pairs.as_slice();
    (0..CLASSES)
        .map(|class| {
            let (these, others) = rest.split_at(size + usize::from(class < longer));
            rest = others;
            these.to_vec()
        })
        .collect()
}

/// The mean of a quantity of pairs, over every class.
pub(super) fn means(classes: &[Vec<(usize, usize)>], of: impl Fn(usize, usize) -> f64) -> Vec<f64> {
    let mean =
        |pairs: &Vec<(usize, usize)>| pairs.iter().map(|&(u, v)| of(u, v)).sum::<f64>() / pairs.len() as f64;
    classes.iter().map(mean).collect()
}

/// Averages along a path without noise, as the authors' program does: returns what all nodes hold after the
/// steps `0, every, 2 every, …`.
///
/// The token starts with the value of its first holder. Every holder adds the value it holds (only at its
/// first visit is that its own data), then keeps the sum divided by `step + 1`, one less than the number of
/// values in it.
pub(super) fn as_released(holders: &[usize], labels: &[f64], every: usize) -> Vec<Vec<f64>> {
    let mut held = labels.to_vec();
    let mut sum = holders.first().map_or(0.0, |&first| held[first]);
    let mut snapshots = Vec::new();
    for (step, &holder) in holders.iter().enumerate() {
        sum += held[holder];
        held[holder] = sum / (step + 1) as f64;
        if step % every == 0 {
            snapshots.push(held.clone());
        }
    }
    snapshots
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_sorted_and_even() {
        let positions: Vec<[f64; 2]> = (0..7).map(|k| [f64::from(k * k), 0.0]).collect();
        let classes = classes(&positions);
        // 21 pairs.
        assert_eq!(classes.iter().map(Vec::len).collect::<Vec<_>>(), [3, 2, 2, 2, 2, 2, 2, 2, 2, 2]);
        assert_eq!(classes[0], [(0, 1), (1, 2), (0, 2)]);
        assert_eq!(classes[9], [(1, 6), (0, 6)]);
        let means = means(&classes, |u, v| (v * v - u * u) as f64);
        assert_eq!((means[0], means[9]), (8.0 / 3.0, 35.5));
        assert!(means.windows(2).all(|pair| pair[0] <= pair[1]));
    }

    /// The first value counts twice, and a revisited node adds the mean that it holds, so the result is not a
    /// mean.
    #[test]
    fn the_released_mean_is_none() {
        let snapshots = as_released(&[0, 1, 0], &[1.0, 2.0], 1);
        assert_eq!(snapshots, [vec![2.0, 2.0], vec![2.0, 2.0], vec![2.0, 2.0]]);
        let snapshots = as_released(&[1, 0, 0, 0], &[1.0, 4.0], 2);
        // 4 + 4 = 8, then 9/2, then (9 + 4.5)/3.
        assert_eq!(snapshots, [vec![1.0, 8.0], vec![4.5, 8.0]]);
    }

    #[test]
    fn shuffling_keeps_the_labels() -> Result<()> {
        let Labelled { original, mut shuffled, .. } = labelled(Scale::Quick, Seed::DEFAULT)?;
        assert_ne!(original, shuffled);
        let mut sorted = original;
        sorted.sort_by(f64::total_cmp);
        shuffled.sort_by(f64::total_cmp);
        assert_eq!(sorted, shuffled);
        assert!(sorted.iter().all(|label| (0.0..=LABEL_RANGE).contains(label)));
        Ok(())
    }
}
