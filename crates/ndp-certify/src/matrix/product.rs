//! Products of an exact matrix with vectors in fixed point.

use super::{Entries, ExactMatrix};
use crate::dyadic::Dyadic;
use crate::fixed::{self, Fixed, with_limbs};
use crate::lanes::{Early, Group, Named};
use crate::packed::{Kernels, Packed, Room};
use ndp_graph::tasks::for_tasks;

/// An [`ExactMatrix`] prepared for products with several vectors of some limbs.
pub(crate) struct FixedMatrix<'a> {
    matrix: &'a ExactMatrix,
    kernels: Kernels,
    early: Option<Prepared>,
    units: u32,
    room: Room,
}

/// What [`Early`] refers to.
struct Prepared {
    groups: Vec<bool>,
    own: Vec<u32>,
    shares: Vec<u64>,
}

impl FixedMatrix<'_> {
    /// The [products](ExactMatrix::apply) with up to eight vectors. Every coordinate is off by less than
    /// `‖W‖` times the error of `x` plus [`units`](Self::units).
    pub(crate) fn products(&mut self, x: &[&Packed]) -> Vec<Packed> {
        match &self.matrix.entries {
            Entries::Named { starts, groups, neighbors, divisors }
                if self.matrix.shares.is_empty() && x.len() > 1 =>
            {
                let early = self.early.as_ref().map(|Prepared { groups, own, shares }| Early {
                    groups,
                    own,
                    shares,
                    quotients: &[],
                });
                let rows = Named { starts, groups, neighbors, divisors };
                self.kernels.matrix_times(rows, early, x, &mut self.room)
            }
            _ => x.iter().map(|x| with_limbs!(x.limbs(), self.matrix.product(x))).collect(),
        }
    }

    /// Units by which a coordinate of the products may be off.
    pub(crate) fn units(&self) -> u32 {
        self.units
    }
}

impl Prepared {
    /// Which quotients are taken early, and the units by which a product may then be off: at each node where
    /// that saves more divisions than its share costs, if that is worth dividing every node's number.
    fn new(rows: Named<'_>, limbs: usize) -> Option<(Self, u32)> {
        // The smallest divisor of a node comes first.
        let groups_of = |u: usize| &rows.groups[rows.starts[u]..rows.starts[u + 1]];
        let nodes = rows.starts.len() - 1;
        let own: Vec<u32> =
            (0..nodes).map(|u| groups_of(u).first().map_or(u32::MAX, |first| first.divisor)).collect();
        let is_early = |u: usize, group: &Group| {
            let inside = group.of(rows.neighbors);
            group.divisor != own[u] && inside.iter().all(|&v| own[v as usize] == group.divisor)
        };
        let price = limbs / 2 + 1;
        let reciprocals: Vec<Vec<u64>> =
            rows.divisors.iter().map(|&(divisor, _)| fixed::reciprocal(divisor, limbs + 1)).collect();
        let (mut groups, mut shares) = (vec![false; rows.groups.len()], vec![0; nodes * limbs]);
        let mut share = vec![0; limbs + 1];
        let (mut saved, mut units) = (0, 0);
        for u in 0..nodes {
            let gain = groups_of(u).iter().filter(|group| is_early(u, group)).count().saturating_sub(price);
            if gain == 0 {
                continue;
            }
            share.fill(0);
            let mut of_node = 2;
            for (early, group) in groups[rows.starts[u]..].iter_mut().zip(groups_of(u)) {
                *early = is_early(u, group);
                if *early {
                    fixed::add_multiple(&mut share, &reciprocals[group.divisor as usize], group.count);
                    of_node += group.inside.1 - group.inside.0;
                } else {
                    of_node += group.parts_count();
                }
            }
            shares[u * limbs..][..limbs].copy_from_slice(&share[1..]);
            saved += gain;
            units = units.max(of_node);
        }
        (saved > nodes).then_some((Self { groups, own, shares }, units))
    }
}

impl ExactMatrix {
    /// The matrix prepared for products with vectors of so many limbs.
    pub(crate) fn in_limbs(&self, limbs: usize, kernels: Kernels) -> FixedMatrix<'_> {
        let early = match &self.entries {
            Entries::Named { starts, groups, neighbors, divisors } if self.shares.is_empty() => {
                Prepared::new(Named { starts, groups, neighbors, divisors }, limbs)
            }
            _ => None,
        };
        let (early, units) = early.unzip();
        // A single vector is multiplied by the definition.
        let units = units.unwrap_or(0).max(self.units());
        FixedMatrix { matrix: self, kernels, early, units, room: Room::default() }
    }

    fn product<const L: usize>(&self, x: &Packed) -> Packed {
        Packed::of(&self.apply(&x.unpacked::<L>()))
    }

    /// `W x` in fixed point; every coordinate is off by less than `‖W‖` times the error of `x` plus
    /// [`units`](Self::units).
    pub(crate) fn apply<const L: usize>(&self, x: &[Fixed<L>]) -> Vec<Fixed<L>> {
        let mut y = vec![[0; L]; x.len()];
        for_tasks(&mut y, |first, y| match &self.entries {
            Entries::Named { starts, groups, neighbors, divisors } => {
                for (u, y) in (first..).zip(y) {
                    *y = x[u];
                    for group in &groups[starts[u]..starts[u + 1]] {
                        let divisor = divisors[group.divisor as usize].1;
                        for (inside, count) in group.parts(group.of(neighbors)) {
                            let own = fixed::minus(&[0; L], &fixed::times_integer(&x[u], count));
                            let sum = inside.iter().fold(own, |sum, &v| fixed::plus(&sum, &x[v as usize]));
                            *y = fixed::plus(y, &divisor.divide(&sum));
                        }
                    }
                    *y = self.lazy(&x[u], *y);
                }
            }
            Entries::Given { starts, columns, weights } => {
                for (u, y) in (first..).zip(y) {
                    for k in starts[u]..starts[u + 1] {
                        *y = fixed::plus(y, &fixed::times(&x[columns[k] as usize], weights[k]));
                    }
                }
            }
        });
        y
    }

    /// Applies laziness to `y = S x` at a node: `y + l (x - y)` for one share after the other, each off by
    /// less than one unit.
    pub(super) fn lazy<const L: usize>(&self, x: &Fixed<L>, y: Fixed<L>) -> Fixed<L> {
        let share =
            |y: Fixed<L>, &l: &f64| fixed::plus(&y, &fixed::times(&fixed::minus(x, &y), Dyadic::of(l)));
        self.shares.iter().fold(y, share)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ball::Ball;
    use crate::field::Field;
    use crate::matrix::Laziness;
    use ndp_graph::{GossipMatrix, Graph, generators, random};
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    fn graphs(rng: &mut ChaCha8Rng) -> Result<Vec<Graph>, ndp_graph::Error> {
        Ok(vec![
            generators::star_graph(70)?,
            generators::path_graph(9)?,
            random::erdos_renyi_graph(75, 0.2, rng)?,
            random::barabasi_albert_graph(64, 3, rng)?,
        ])
    }

    /// One to eight vectors side by side have the same products by all loops, within the stated units of
    /// those that each has alone with more limbs; the same for residues, which are exact. Some groups of
    /// the graphs have more neighbors than are added up at a time, and some quotients are taken early.
    #[test]
    fn vectors_side_by_side_have_the_products_of_each() -> Result<(), Box<dyn std::error::Error>> {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let field = Field::new((1 << 61) - 1);
        let (mut early, mut worst) = (0, 0);
        for graph in graphs(&mut rng)? {
            for reach in [1, graph.node_count()] {
                let ball = Ball::around(&graph, &[0], reach);
                let exact = ExactMatrix::new(&GossipMatrix::metropolis(&graph), &ball, Laziness::TakenOff);
                let (n, modular) = (ball.len(), exact.modulo(field));
                for count in 1..=8 {
                    let number = |rng: &mut ChaCha8Rng| {
                        fixed::of_dyadic::<3>(Dyadic::of(rng.random_range(-1.5..1.5)), 0)
                    };
                    let vectors: Vec<Vec<Fixed<3>>> =
                        (0..count).map(|_| (0..n).map(|_| number(&mut rng)).collect()).collect();
                    let packed: Vec<Packed> = vectors.iter().map(|x| Packed::of(x)).collect();
                    let packed: Vec<&Packed> = packed.iter().collect();
                    let mut prepared =
                        [Kernels::plain(), Kernels::best()].map(|kernels| exact.in_limbs(3, kernels));
                    let [found, again] = prepared.each_mut().map(|prepared| prepared.products(&packed));
                    assert_eq!(found.len(), count);
                    early += usize::from(prepared[0].early.is_some());
                    for ((found, again), x) in found.iter().zip(&again).zip(&vectors) {
                        let (found, again) = (found.unpacked::<3>(), again.unpacked::<3>());
                        assert_eq!(found, again);
                        // Three more limbs after the point.
                        let longer: Vec<Fixed<6>> = x
                            .iter()
                            .map(|x| std::array::from_fn(|j| if j < 3 { 0 } else { x[j - 3] }))
                            .collect();
                        for (found, expected) in found.iter().zip(exact.apply(&longer)) {
                            let off = fixed::minus(found, &std::array::from_fn(|j| expected[j + 3]));
                            let off =
                                if fixed::is_negative(&off) { fixed::minus(&[0; 3], &off) } else { off };
                            assert_eq!(off[1..], [0, 0]);
                            assert!(off[0] <= u64::from(prepared[0].units()), "{} units", off[0]);
                            worst = worst.max(off[0]);
                        }
                    }
                    let most = field.prime() - 1;
                    let residue =
                        |rng: &mut ChaCha8Rng| if rng.random() { most } else { rng.random_range(0..=most) };
                    let residues: Vec<Vec<u64>> =
                        (0..count).map(|_| (0..n).map(|_| residue(&mut rng)).collect()).collect();
                    let expected: Vec<Vec<u64>> = residues.iter().map(|x| modular.apply(x)).collect();
                    assert_eq!(modular.products(&residues), expected, "{count} of {n} nodes");
                }
            }
        }
        assert!(early > 10 && worst > 2, "{early} with early quotients, off by {worst} units");
        Ok(())
    }
}
