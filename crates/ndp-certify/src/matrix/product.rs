//! Products of an exact matrix with vectors in fixed point.

use super::{Entries, ExactMatrix};
use crate::dyadic::Dyadic;
use crate::fixed::{self, Fixed, with_limbs};
use crate::lanes::Named;
use crate::packed::{Kernels, Packed};
use ndp_graph::tasks::for_tasks;

impl ExactMatrix {
    /// The [products](Self::apply) with up to eight vectors.
    pub(crate) fn products(&self, x: &[&Packed], kernels: Kernels) -> Vec<Packed> {
        match &self.entries {
            Entries::Named { starts, groups, neighbors, divisors }
                if self.shares.is_empty() && x.len() > 1 =>
            {
                kernels.matrix_times(Named { starts, groups, neighbors, divisors }, x)
            }
            _ => x.iter().map(|x| with_limbs!(x.limbs(), self.product(x))).collect(),
        }
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

    /// One to eight vectors side by side have the products that each has alone, bit by bit, by all loops; the
    /// same for residues. Some groups of the graphs have more neighbors than are added up at a time.
    #[test]
    fn vectors_side_by_side_have_the_products_of_each() -> Result<(), Box<dyn std::error::Error>> {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let field = Field::new((1 << 61) - 1);
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
                    for kernels in [Kernels::plain(), Kernels::best()] {
                        let found = exact.products(&packed, kernels);
                        assert_eq!(found.len(), count);
                        for (found, x) in found.iter().zip(&vectors) {
                            assert_eq!(found.unpacked::<3>(), exact.apply(x));
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
        Ok(())
    }
}
