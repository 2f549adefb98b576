//! Gossip matrices with exact entries, cut to a ball: applied modulo primes, in fixed point and in floating
//! point.
//!
//! Named weights are the rationals `1 / D`, and each diagonal entry is what they leave of 1; given weights
//! are the dyadic numbers that are stored. Rows keep the entries of the whole graph: where a row reaches past
//! the ball, the node outside counts as 0, because its coordinate is 0 in every row of the view.

mod modular;
mod product;

pub(crate) use modular::ModularMatrix;

use crate::ball::Ball;
use crate::dyadic::Dyadic;
use crate::field::{Field, Fingerprint};
use crate::fixed::{self, Divisor, Fixed};
use crate::lanes::Group;
use crate::magnitude::Magnitude;
use ndp_graph::GossipMatrix;
use ndp_numeric::casts::id;
use ndp_numeric::stop::work;
use std::sync::OnceLock;

/// What to do with the share of the identity in a named matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Laziness {
    /// Leave it out: the powers of the matrix without the share span the same space as those of the lazy
    /// matrix.
    TakenOff,
    /// Keep it, as the dyadic numbers that were given.
    Kept,
}

/// A gossip matrix on the nodes of a ball.
#[derive(Clone, Debug, PartialEq)]
pub struct ExactMatrix {
    entries: Entries,
    /// The shares of the identity that are kept, in the order in which they were taken, each in `(0, 1)`.
    shares: Vec<f64>,
    /// An upper bound on the spectral norm.
    norm: Magnitude,
    /// Binary logarithm of a common denominator of all entries.
    denominator: f64,
    /// Whether the matrix equals its transpose, exactly.
    symmetric: bool,
}

#[derive(Clone, Debug, PartialEq)]
enum Entries {
    /// `y_u = x_u + Σ_g (Σ_{v ∈ g} x_v - |g| x_u) / D_g`.
    Named { starts: Vec<usize>, groups: Vec<Group>, neighbors: Vec<u32>, divisors: Vec<(u64, Divisor)> },
    /// `y_u = Σ_v w_uv x_v`, zeros left out.
    Given { starts: Vec<usize>, columns: Vec<u32>, weights: Vec<Dyadic> },
}

/// The place of an entry: among the divisors of named weights, or among the given weights.
enum Entry {
    Divisor(usize),
    Weight(usize),
}

impl ExactMatrix {
    /// The rows and columns of `matrix` within `ball`.
    pub fn new(matrix: &GossipMatrix, ball: &Ball, laziness: Laziness) -> Self {
        let (graph, weights) = (matrix.graph(), matrix.weights());
        let denominator = |u: usize, v: u32| {
            weights
                .denominator(graph.degree(u), graph.degree(v as usize))
                .map(|denominator| denominator as u64)
        };
        if weights.denominator(0, 0).is_none() {
            // Given weights include the laziness as they stand.
            return Self::given(matrix, ball);
        }
        let mut sizes: Vec<u64> = Vec::new();
        let (mut starts, mut groups, mut neighbors) = (vec![0], Vec::<Group>::new(), Vec::new());
        let mut row: Vec<(u64, u32)> = Vec::new();
        // There are few different denominators, so bisection finds a known one; their places are sorted at
        // the end.
        for &u in ball.nodes() {
            row.clear();
            row.extend(graph.neighbors(u).iter().filter_map(|&v| {
                let local = ball.local(v as usize).map_or(u32::MAX, id);
                Some((denominator(u, v)?, local))
            }));
            row.sort_unstable();
            for group in row.chunk_by(|a, b| a.0 == b.0) {
                let first = id(neighbors.len());
                neighbors.extend(group.iter().map(|&(_, v)| v).filter(|&v| v != u32::MAX));
                sizes.push(group[0].0);
                let inside = (first, id(neighbors.len()));
                groups.push(Group { divisor: 0, count: id(group.len()), inside });
            }
            starts.push(groups.len());
        }
        let mut distinct = sizes.clone();
        distinct.sort_unstable();
        distinct.dedup();
        for (group, size) in groups.iter_mut().zip(&sizes) {
            group.divisor = id(distinct.partition_point(|d| d < size));
        }
        let shares = if laziness == Laziness::Kept { matrix.shares().to_vec() } else { Vec::new() };
        let denominator =
            log2_lcm(&distinct) + shares.iter().map(|&l| f64::from(Dyadic::of(l).places())).sum::<f64>();
        let divisors = distinct.into_iter().map(|d| (d, Divisor::new(d))).collect();
        let entries = Entries::Named { starts, groups, neighbors, divisors };
        // Every named denominator is symmetric in the two degrees.
        Self { entries, shares, norm: Magnitude::power(0), denominator, symmetric: true }
    }

    fn given(matrix: &GossipMatrix, ball: &Ball) -> Self {
        let (mut starts, mut columns, mut weights) = (vec![0], Vec::new(), Vec::new());
        let (mut norm, mut places) = (Magnitude::ZERO, 0);
        for &u in ball.nodes() {
            let (all, values) = matrix.csr().row(u);
            let mut sum = Magnitude::ZERO;
            for (&v, &weight) in all.iter().zip(values) {
                let Some(v) = ball.local(v as usize).filter(|_| weight != 0.0) else { continue };
                let weight = Dyadic::of(weight);
                sum = sum.plus(Magnitude::new(weight.mantissa as f64, weight.exponent.into()));
                places = places.max(weight.places());
                columns.push(id(v));
                weights.push(weight);
            }
            starts.push(columns.len());
            if norm < sum {
                norm = sum;
            }
        }
        let mirrored = |u: usize, k: usize| {
            let row = starts[columns[k] as usize]..starts[columns[k] as usize + 1];
            let at = columns[row.clone()].binary_search(&id(u));
            at.is_ok_and(|at| weights[row.start + at] == weights[k])
        };
        let nodes = 0..starts.len() - 1;
        let symmetric = nodes.into_iter().all(|u| (starts[u]..starts[u + 1]).all(|k| mirrored(u, k)));
        let entries = Entries::Given { starts, columns, weights };
        Self { entries, shares: Vec::new(), norm, denominator: places.into(), symmetric }
    }

    /// Number of nodes in the ball.
    pub(crate) fn nodes(&self) -> usize {
        match &self.entries {
            Entries::Named { starts, .. } | Entries::Given { starts, .. } => starts.len() - 1,
        }
    }

    /// An upper bound on the spectral norm: 1 for named weights, whose rows sum to 1; the largest row sum for
    /// given weights.
    pub(crate) fn norm(&self) -> Magnitude {
        self.norm
    }

    /// Whether the matrix equals its transpose, exactly.
    pub(crate) fn is_symmetric(&self) -> bool {
        self.symmetric
    }

    /// The nodes of the ball with a nonzero entry in row `u`, except the diagonal of named weights.
    pub(crate) fn columns(&self, u: usize) -> Vec<usize> {
        let columns = match &self.entries {
            Entries::Named { starts, groups, neighbors, .. } => match &groups[starts[u]..starts[u + 1]] {
                [] => &[],
                // The groups of a node are consecutive.
                [first, ..] => {
                    &neighbors[first.inside.0 as usize..groups[starts[u + 1] - 1].inside.1 as usize]
                }
            },
            Entries::Given { starts, columns, .. } => &columns[starts[u]..starts[u + 1]],
        };
        columns.iter().map(|&v| v as usize).collect()
    }

    /// Binary logarithm of a common denominator of the entries.
    pub(crate) fn denominator(&self) -> f64 {
        self.denominator
    }

    /// Bytes that the matrix takes.
    pub(crate) fn bytes(&self) -> u64 {
        match &self.entries {
            Entries::Named { groups, neighbors, .. } => 20 * groups.len() as u64 + 4 * neighbors.len() as u64,
            Entries::Given { columns, .. } => 20 * columns.len() as u64,
        }
    }

    /// Adds everything that determines the entries to the hash.
    pub(crate) fn fingerprint(&self, to: &mut Fingerprint) {
        match &self.entries {
            Entries::Named { starts, groups, neighbors, divisors } => {
                to.number(0);
                to.numbers(starts.iter().map(|&s| s as u64));
                to.numbers(groups.iter().map(|g| divisors[g.divisor as usize].0 << 32 | u64::from(g.count)));
                to.numbers(groups.iter().map(|g| u64::from(g.inside.1)));
                to.numbers(neighbors.iter().map(|&v| v.into()));
                to.number(self.shares.first().map_or(0, |share| share.to_bits()));
                if self.shares.len() > 1 {
                    to.numbers(self.shares[1..].iter().map(|share| share.to_bits()));
                }
            }
            Entries::Given { starts, columns, weights } => {
                to.number(1);
                to.numbers(starts.iter().map(|&s| s as u64));
                to.numbers(columns.iter().map(|&v| v.into()));
                to.numbers(weights.iter().map(|w| w.mantissa.cast_unsigned()));
                to.numbers(weights.iter().map(|w| i64::from(w.exponent).cast_unsigned()));
            }
        }
    }

    /// Work of a product with a vector, about, for numbers of one limb.
    pub(crate) fn cost(&self) -> u64 {
        let entries = match &self.entries {
            Entries::Named { neighbors, .. } => neighbors.len(),
            Entries::Given { columns, .. } => columns.len(),
        };
        work([2, entries + self.nodes()])
    }

    /// The entries modulo a prime.
    pub(crate) fn modulo(&self, field: Field) -> ModularMatrix<'_> {
        let (inverses, weights): (Vec<u64>, Vec<u64>) = match &self.entries {
            Entries::Named { divisors, .. } => {
                (divisors.iter().map(|&(d, _)| field.inverse_of(field.integer(d))).collect(), Vec::new())
            }
            Entries::Given { weights, .. } => {
                (Vec::new(), weights.iter().map(|&weight| field.dyadic(weight)).collect())
            }
        };
        let lifted = inverses.iter().map(|&x| field.lift(x)).collect();
        let shares = self.shares.iter().map(|&share| field.dyadic(Dyadic::of(share))).collect();
        ModularMatrix { matrix: self, field, inverses, lifted, weights, shares, own: OnceLock::new() }
    }

    /// `Π (1 - l)`, every factor and every product rounded once.
    fn moving(&self) -> f64 {
        self.shares.iter().map(|l| 1.0 - l).product()
    }

    /// Units by which a coordinate of [`apply`](Self::apply) may be off: one for every quotient of a row,
    /// every product with a weight, and every share.
    pub(crate) fn units(&self) -> u32 {
        match &self.entries {
            Entries::Named { starts, groups, .. } => {
                let quotients = |s: &[usize]| groups[s[0]..s[1]].iter().map(|g| g.parts_count()).sum();
                starts.windows(2).map(quotients).max().unwrap_or(0) + id(self.shares.len())
            }
            Entries::Given { starts, .. } => id(starts.windows(2).map(|s| s[1] - s[0]).max().unwrap_or(0)),
        }
    }

    /// `W x` in floating point for nonnegative `x`: sums of nonnegative terms, so that every coordinate has a
    /// relative error below [`relative`](Self::relative) on top of that of `x`.
    pub(crate) fn apply_f64(&self, x: &[f64]) -> Vec<f64> {
        let mut y = vec![0.0; x.len()];
        for (u, y) in y.iter_mut().enumerate() {
            let off = self.off_diagonal_f64(u, x);
            *y = off + self.diagonal_f64(u) * x[u];
        }
        y
    }

    /// `Σ_{v ≠ u} w_uv x_v` in floating point, for nonnegative `x`.
    pub(crate) fn off_diagonal_f64(&self, u: usize, x: &[f64]) -> f64 {
        match &self.entries {
            Entries::Named { starts, groups, neighbors, divisors } => {
                let sum: f64 = groups[starts[u]..starts[u + 1]]
                    .iter()
                    .map(|group| {
                        let inside = group.of(neighbors);
                        inside.iter().map(|&v| x[v as usize]).sum::<f64>()
                            / divisors[group.divisor as usize].0 as f64
                    })
                    .sum();
                sum * self.moving()
            }
            Entries::Given { starts, columns, weights } => (starts[u]..starts[u + 1])
                .filter(|&k| columns[k] as usize != u)
                .map(|k| float(weights[k]) * x[columns[k] as usize])
                .sum(),
        }
    }

    /// `w_uv` of two different nodes in floating point.
    pub(crate) fn weight_f64(&self, u: usize, v: usize) -> f64 {
        match self.find(u, v) {
            None => 0.0,
            Some(Entry::Divisor(at)) => self.moving() / self.divisors()[at].0 as f64,
            Some(Entry::Weight(at)) => float(self.weights()[at]),
        }
    }

    /// `w_uv x` of two different nodes in fixed point, off by at most [`units`](Self::units) plus one.
    pub(crate) fn weighted<const L: usize>(&self, u: usize, v: usize, x: &Fixed<L>) -> Fixed<L> {
        match self.find(u, v) {
            None => [0; L],
            Some(Entry::Divisor(at)) => self.lazy(&[0; L], self.divisors()[at].1.divide(x)),
            Some(Entry::Weight(at)) => fixed::times(x, self.weights()[at]),
        }
    }

    /// The place of the entry of two different nodes.
    fn find(&self, u: usize, v: usize) -> Option<Entry> {
        match &self.entries {
            Entries::Named { starts, groups, neighbors, .. } => {
                let group = groups[starts[u]..starts[u + 1]].iter().find(|group| {
                    let inside = group.of(neighbors);
                    inside.binary_search(&id(v)).is_ok()
                })?;
                Some(Entry::Divisor(group.divisor as usize))
            }
            Entries::Given { starts, columns, .. } => {
                let row = &columns[starts[u]..starts[u + 1]];
                Some(Entry::Weight(starts[u] + row.binary_search(&id(v)).ok()?))
            }
        }
    }

    fn divisors(&self) -> &[(u64, Divisor)] {
        match &self.entries {
            Entries::Named { divisors, .. } => divisors,
            Entries::Given { .. } => &[],
        }
    }

    fn weights(&self) -> &[Dyadic] {
        match &self.entries {
            Entries::Named { .. } => &[],
            Entries::Given { weights, .. } => weights,
        }
    }

    fn diagonal_f64(&self, u: usize) -> f64 {
        match &self.entries {
            Entries::Named { starts, groups, neighbors, divisors } => {
                // 1 - Σ c/D as a sum of nonnegative terms would need a common denominator; the exact rational
                // is rounded once instead, from 120 binary places.
                let one = fixed::of_dyadic::<2>(Dyadic { mantissa: 1, exponent: 0 }, 0);
                let mut rest = one;
                for group in &groups[starts[u]..starts[u + 1]] {
                    let divisor = divisors[group.divisor as usize].1;
                    for (_, count) in group.parts(group.of(neighbors)) {
                        rest = fixed::minus(&rest, &divisor.divide(&fixed::times_integer(&one, count)));
                    }
                }
                let rest = fixed::rounded(&rest, fixed::digits(&rest) + 1)
                    * crate::magnitude::times_power(1.0, fixed::digits(&rest) + 1 - fixed::places(2));
                // A remainder below 2^-80 is a rounding error: denominators below 2^33 leave more than that,
                // or nothing.
                let rest = if rest < 1e-24 { 0.0 } else { rest };
                self.shares.iter().fold(rest, |rest, l| l + (1.0 - l) * rest)
            }
            Entries::Given { starts, columns, weights } => {
                let mut own = (starts[u]..starts[u + 1]).filter(|&k| columns[k] as usize == u);
                own.next().map_or(0.0, |k| float(weights[k]))
            }
        }
    }

    /// Relative error of a coordinate of [`apply_f64`](Self::apply_f64), in units of `2^-53`: one rounding
    /// for every entry of a row, eight for weights, diagonal and laziness, and two for every share of the
    /// identity.
    pub(crate) fn relative(&self) -> f64 {
        let widest = match &self.entries {
            Entries::Named { starts, groups, .. } => starts
                .windows(2)
                .map(|s| {
                    groups[s[0]..s[1]].iter().map(|g| (g.inside.1 - g.inside.0 + 1) as usize).sum::<usize>()
                })
                .max(),
            Entries::Given { starts, .. } => starts.windows(2).map(|s| s[1] - s[0]).max(),
        };
        widest.unwrap_or(0) as f64 + 8.0 + 2.0 * self.shares.len().saturating_sub(1) as f64
    }

    /// `Σ_{v ≠ u} w_uv x_v` in fixed point, off by at most [`units`](Self::units) plus one.
    pub(crate) fn off_diagonal<const L: usize>(&self, u: usize, x: &[Fixed<L>]) -> Fixed<L> {
        let mut sum = [0; L];
        match &self.entries {
            Entries::Named { starts, groups, neighbors, divisors } => {
                for group in &groups[starts[u]..starts[u + 1]] {
                    let divisor = divisors[group.divisor as usize].1;
                    for (inside, _) in group.parts(group.of(neighbors)) {
                        let total = inside.iter().fold([0; L], |sum, &v| fixed::plus(&sum, &x[v as usize]));
                        sum = fixed::plus(&sum, &divisor.divide(&total));
                    }
                }
                self.lazy(&[0; L], sum)
            }
            Entries::Given { starts, columns, weights } => {
                for k in (starts[u]..starts[u + 1]).filter(|&k| columns[k] as usize != u) {
                    sum = fixed::plus(&sum, &fixed::times(&x[columns[k] as usize], weights[k]));
                }
                sum
            }
        }
    }
}

/// The `f64` with the value of a dyadic number.
fn float(x: Dyadic) -> f64 {
    crate::magnitude::times_power(x.mantissa as f64, x.exponent.into())
}

/// Binary logarithm of the least common multiple of numbers, rounded up.
fn log2_lcm(numbers: &[u64]) -> f64 {
    let mut powers: Vec<(u64, u32)> = Vec::new();
    for &number in numbers {
        let mut left = number;
        let mut factor = 2;
        while left > 1 {
            if factor * factor > left {
                factor = left;
            }
            let mut power = 0;
            while left % factor == 0 {
                left /= factor;
                power += 1;
            }
            if power > 0 {
                match powers.binary_search_by_key(&factor, |&(q, _)| q) {
                    Ok(at) => powers[at].1 = powers[at].1.max(power),
                    Err(at) => powers.insert(at, (factor, power)),
                }
            }
            factor += 1;
        }
    }
    powers.iter().map(|&(q, power)| f64::from(power) * (q as f64).log2()).sum::<f64>() * (1.0 + 1e-12)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndp_graph::gossip_matrix::Weights;
    use ndp_graph::{Graph, generators};

    fn matrices() -> Result<Vec<GossipMatrix>, ndp_graph::Error> {
        let graph = Graph::from_edges(6, [(0, 1), (1, 2), (2, 3), (3, 4), (1, 4), (4, 5), (0, 4)])?;
        let given = GossipMatrix::from_edge_weights(&graph, |u, v| 0.01 * (1 + u + v) as f64)?;
        Ok(vec![
            GossipMatrix::metropolis(&graph),
            GossipMatrix::new(&graph, Weights::SumDegree)?,
            GossipMatrix::new(&graph, Weights::MaxDegree)?.lazy(0.3)?,
            GossipMatrix::metropolis(&graph).lazy(1.0 - 1e-10)?,
            GossipMatrix::metropolis(&graph).lazy(0.3)?.lazy(1.0 - 1e-10)?.lazy(1e-17)?,
            given,
        ])
    }

    /// All arithmetics agree with the stored entries, on the whole graph and restricted to a ball.
    #[test]
    fn products_agree() -> Result<(), ndp_graph::Error> {
        let field = Field::new((1 << 61) - 1);
        for matrix in matrices()? {
            for ball in [Ball::around(matrix.graph(), &[0], 6), Ball::around(matrix.graph(), &[0], 1)] {
                let exact = ExactMatrix::new(&matrix, &ball, Laziness::Kept);
                let modular = exact.modulo(field);
                for start in 0..ball.len() {
                    let mut x = vec![fixed::of_dyadic::<3>(Dyadic::of(0.0), 0); ball.len()];
                    x[start] = fixed::of_dyadic(Dyadic::of(1.0), 0);
                    let mut floats = vec![0.0; ball.len()];
                    floats[start] = 1.0;
                    let mut residues = vec![0; ball.len()];
                    residues[start] = field.integer(1);
                    let (y, rounded) = (exact.apply(&x), exact.apply_f64(&floats));
                    let again = modular.apply(&residues);
                    for k in 0..ball.len() {
                        let stored = matrix.get(ball.nodes()[k], ball.nodes()[start]);
                        let value = fixed::rounded(&y[k], fixed::places(3) + 1) * 2.0;
                        assert!((value - stored).abs() <= 1e-15, "{value} is not {stored}");
                        assert!(
                            (rounded[k] - stored).abs() <= 1e-15 * stored,
                            "{} is not {stored}",
                            rounded[k]
                        );
                        assert_eq!(again[k] == 0, stored == 0.0);
                        if k != start {
                            assert_eq!(modular.off_diagonal(k, &residues), again[k]);
                            assert_eq!(exact.off_diagonal_f64(k, &floats), rounded[k]);
                            let off = fixed::rounded(&exact.off_diagonal(k, &x), fixed::places(3) + 1) * 2.0;
                            assert!((off - stored).abs() <= 1e-15);
                        } else {
                            assert_eq!(modular.off_diagonal(k, &residues), 0);
                        }
                    }
                    // With named weights on the whole graph, the matrix is also symmetric and stochastic
                    // modulo the prime.
                    if ball.len() == 6 && matrix.weights() != Weights::Given {
                        assert_eq!(again.iter().fold(0, |sum, &x| field.plus(sum, x)), field.integer(1));
                    }
                }
            }
        }
        Ok(())
    }

    /// At a hub, sums of numbers near 1 exceed the format if they are not split, although the quotients are
    /// small again.
    #[test]
    fn hubs_fit_into_the_format() -> Result<(), ndp_graph::Error> {
        let graph = generators::star_graph(300)?;
        let matrix = GossipMatrix::metropolis(&graph);
        let exact = ExactMatrix::new(&matrix, &Ball::around(&graph, &[0], 2), Laziness::Kept);
        let mut x = vec![[0; 3]; 301];
        x[0] = fixed::of_dyadic(Dyadic::of(1.0), 0);
        let mut floats = vec![0.0; 301];
        floats[0] = 1.0;
        let (y, rounded) = (exact.apply(&x), exact.apply_f64(&floats));
        for k in 0..301 {
            let value = fixed::rounded(&y[k], fixed::places(3) + 1) * 2.0;
            assert!((value - 1.0 / 301.0).abs() <= 1e-15, "{value}");
            assert!((rounded[k] - 1.0 / 301.0).abs() <= 1e-15, "{}", rounded[k]);
        }
        Ok(())
    }

    #[test]
    fn denominators_have_few_bits() -> Result<(), ndp_graph::Error> {
        assert!((log2_lcm(&[4, 6, 7]) - 84f64.log2()).abs() < 1e-9);
        // The highest power of each prime counts, in any order.
        assert!((log2_lcm(&[2, 8, 4]) - 3.0).abs() < 1e-9);
        let path = generators::path_graph(4)?;
        let all = Ball::around(&path, &[0], 4);
        let metropolis = ExactMatrix::new(&GossipMatrix::metropolis(&path), &all, Laziness::TakenOff);
        assert!((metropolis.denominator() - 3f64.log2()).abs() < 1e-9);
        assert_eq!((metropolis.units(), metropolis.norm()), (1, Magnitude::power(0)));
        let lazy = ExactMatrix::new(&GossipMatrix::metropolis(&path).lazy(0.25)?, &all, Laziness::Kept);
        assert!((lazy.denominator() - 12f64.log2()).abs() < 1e-9);
        let given = GossipMatrix::from_edge_weights(&path, |_, _| 0.25)?;
        let given = ExactMatrix::new(&given, &all, Laziness::Kept);
        assert_eq!(given.denominator(), 2.0);
        assert!((1.0..1.0 + 1e-14).contains(&given.norm().to_f64()));
        Ok(())
    }
}
