//! Random regular graphs.

use crate::error::{ensure, require_ids};
use crate::generators::check_edges;
use crate::{Error, Graph};
use ndp_numeric::casts::id;
use rand::{Rng, RngExt};

/// A random `d`-regular graph on `n` nodes (networkx's order of arguments).
///
/// With `k = min(d, n-1-d)`: exactly uniform over all labelled `d`-regular graphs for `k ≤ 4`
/// (the pairing model, redrawn until simple); for larger `k` the law of Steger and Wormald, which
/// is uniform in the limit `k = o(n^{1/3})`. For `d > n-1-d` the complement is drawn.
///
/// # Errors
/// [`Error::InvalidParameter`] unless `d < n` and `n d` is even; [`Error::EmptyGraph`],
/// [`Error::TooManyNodes`]; [`Error::TooLarge`]; [`Error::NeverBuilt`] when
/// every attempt got stuck, which has negligible probability.
///
/// # References
/// - Bollobás, *A probabilistic proof of an asymptotic formula for the number of labelled regular
///   graphs*, European Journal of Combinatorics 1, 1980 (the pairing model).
/// - Steger, Wormald, *Generating random regular graphs quickly*, Combinatorics, Probability and
///   Computing 8, 1999; Kim, Vu, *Generating random regular graphs*, STOC 2003, Theorem 1.1.
pub fn random_regular_graph(d: usize, n: usize, rng: &mut impl Rng) -> Result<Graph, Error> {
    if n == 0 {
        return Err(Error::EmptyGraph);
    }
    require_ids(n)?;
    ensure(d < n, "the degree of a regular graph", "be below the number of nodes", d as f64)?;
    ensure(
        d.is_multiple_of(2) || n.is_multiple_of(2),
        "the number of nodes times the degree of a regular graph",
        "be even",
        n as f64 * d as f64,
    )?;
    check_edges("the regular graph", 0.5 * n as f64 * d as f64)?;
    let sparse = d.min(n - 1 - d);
    let attempt = if sparse <= 4 { pairing } else { steger_wormald };
    let graph = (0..TRIES)
        .find_map(|_| attempt(sparse, n, rng))
        .ok_or(Error::NeverBuilt { family: "the regular graph", tries: TRIES })?;
    let mut edges = Vec::new();
    for u in 0..n {
        if sparse == d {
            let later = graph.neighbors(u).iter().map(|&v| v as usize).filter(|&v| u < v);
            edges.extend(later.map(|v| (u, v)));
        } else {
            edges.extend((u + 1..n).filter(|&v| !graph.has_edge(u, v)).map(|v| (u, v)));
        }
    }
    Graph::from_edges(n, edges)
}

/// A graph of degrees at most `d` that grows edge by edge: row `u` has `degrees[u]` neighbors.
struct Growing {
    d: usize,
    degrees: Vec<usize>,
    neighbors: Vec<u32>,
}

impl Growing {
    fn new(d: usize, n: usize) -> Self {
        Self { d, degrees: vec![0; n], neighbors: vec![0; n * d] }
    }

    fn neighbors(&self, u: usize) -> &[u32] {
        &self.neighbors[u * self.d..u * self.d + self.degrees[u]]
    }

    fn has_edge(&self, u: usize, v: usize) -> bool {
        self.neighbors(u).contains(&id(v))
    }

    /// Whether the edge keeps the graph simple.
    fn fits(&self, u: usize, v: usize) -> bool {
        u != v && !self.has_edge(u, v)
    }

    fn add(&mut self, u: usize, v: usize) {
        for (from, to) in [(u, v), (v, u)] {
            self.neighbors[from * self.d + self.degrees[from]] = id(to);
            self.degrees[from] += 1;
        }
    }
}

/// Attempts before giving up. The pairing model succeeds with probability about
/// `exp(-(d² - 1) / 4)`, which is 1/43 for `d = 4` (0.012 at worst, for `n = 9`).
const TRIES: usize = 10_000;

/// A uniform perfect matching of the `n d` half-edges, if it makes a simple graph.
fn pairing<R: Rng>(d: usize, n: usize, rng: &mut R) -> Option<Growing> {
    let mut graph = Growing::new(d, n);
    let mut halves: Vec<u32> = (0..n * d).map(|half| id(half / d)).collect();
    while let Some(u) = halves.pop() {
        // The last half-edge is matched with a uniform one of the others, which gives a uniform matching.
        // Stopping at the first clash rejects the same matchings as checking the complete matching would.
        let v = halves.swap_remove(rng.random_range(0..halves.len()));
        if !graph.fits(u as usize, v as usize) {
            return None;
        }
        graph.add(u as usize, v as usize);
    }
    Some(graph)
}

/// Matches two uniform half-edges among those that fit, until none is left or none fits.
fn steger_wormald<R: Rng>(d: usize, n: usize, rng: &mut R) -> Option<Growing> {
    let mut graph = Growing::new(d, n);
    let mut halves: Vec<u32> = (0..n * d).map(|half| id(half / d)).collect();
    while !halves.is_empty() {
        let (i, j) = fitting_pair(&halves, &graph, rng)?;
        graph.add(halves[i] as usize, halves[j] as usize);
        halves.swap_remove(i.max(j));
        halves.swap_remove(i.min(j));
    }
    Some(graph)
}

/// A uniform pair of positions `i ≠ j` whose nodes fit, or nothing if none does.
fn fitting_pair<R: Rng>(halves: &[u32], graph: &Growing, rng: &mut R) -> Option<(usize, usize)> {
    let count = halves.len();
    let fits = |i: usize, j: usize| graph.fits(halves[i] as usize, halves[j] as usize);
    // Rejection first; if it fails this often, few half-edges are left and listing the pairs is cheap.
    for _ in 0..count + 20 {
        let (i, j) = (rng.random_range(0..count), rng.random_range(0..count));
        if i != j && fits(i, j) {
            return Some((i, j));
        }
    }
    let listed: Vec<(usize, usize)> =
        (0..count).flat_map(|i| (0..i).map(move |j| (i, j))).filter(|&(i, j)| fits(i, j)).collect();
    if listed.is_empty() { None } else { Some(listed[rng.random_range(0..listed.len())]) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::SeedableRng;

    /// The law of Steger and Wormald on the 2-regular graphs of 6 nodes, computed over all
    /// partial graphs: it is not uniform, and the sampler follows it.
    #[test]
    fn steger_wormald_follows_its_law() {
        let (n, d) = (6, 2);
        let bit = |u: usize, v: usize| 1usize << (u.max(v) * (u.max(v) - 1) / 2 + u.min(v));
        let mut reach = vec![0.0; 1 << 15];
        reach[0] = 1.0;
        // Adding an edge makes the mask larger, so in ascending order every mask is complete when it is
        // reached.
        for mask in 0..reach.len() {
            if reach[mask] == 0.0 {
                continue;
            }
            let left: Vec<usize> =
                (0..n).map(|u| d - (0..n).filter(|&v| u != v && mask & bit(u, v) != 0).count()).collect();
            let choices: Vec<(usize, f64)> = (0..n)
                .flat_map(|v| (0..v).map(move |u| (u, v)))
                .filter(|&(u, v)| mask & bit(u, v) == 0 && left[u] * left[v] > 0)
                .map(|(u, v)| (mask | bit(u, v), (left[u] * left[v]) as f64))
                .collect();
            let total: f64 = choices.iter().map(|c| c.1).sum();
            for (next, weight) in choices {
                reach[next] += reach[mask] * weight / total;
            }
        }
        let complete = |mask: usize| mask.count_ones() == 6;
        let success: f64 = (0..reach.len()).filter(|&mask| complete(mask)).map(|mask| reach[mask]).sum();
        let triangles = bit(0, 1) | bit(0, 2) | bit(1, 2) | bit(3, 4) | bit(3, 5) | bit(4, 5);
        let share = 70.0 * reach[triangles] / success;
        assert!((share - 1.0301).abs() < 1e-4, "two triangles are 3 % too likely, got {share}");

        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let mut counts = vec![0.0; reach.len()];
        let mut draws = 0.0;
        for _ in 0..30_000 {
            if let Some(graph) = steger_wormald(d, n, &mut rng) {
                let edges = (0..n).flat_map(|u| graph.neighbors(u).iter().map(move |&v| bit(u, v as usize)));
                let mask = edges.fold(0, |a, b| a | b);
                counts[mask] += 1.0;
                draws += 1.0;
            }
        }
        let mut statistic = 0.0;
        for mask in (0..reach.len()).filter(|&mask| complete(mask) && reach[mask] > 0.0) {
            let expected = draws * reach[mask] / success;
            statistic += (counts[mask] - expected) * (counts[mask] - expected) / expected;
        }
        // The quantile of chi-square with 69 degrees of freedom at an error rate of 1e-6.
        assert!(statistic < 136.2, "{statistic}");
        // Attempts succeed with the computed probability, within 4.75 standard deviations.
        let deviation = (30_000.0 * success * (1.0 - success)).sqrt();
        assert!((draws - 30_000.0 * success).abs() < 4.75 * deviation + 1e-9, "{draws} {success}");
    }
}
