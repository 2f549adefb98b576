//! Gossip with a fixed matrix: the rows `e_wᵀ Wᵗ` grow level by level out of the directions kept before.
//!
//! The rows are nearly dependent, exponentially so in the number of rounds, so the next level is computed
//! from directions that are already orthonormal. Whether a row is new does not depend on which combination of
//! the kept rows is propagated, so each prime may propagate its own. If members know their own noises, these
//! are unit vectors that the observer sees, but they are not propagated: members hear all their neighbors, so
//! `W e_c` lies in the span of the first level.

use crate::ball::Ball;
use crate::combinations::{Combinations, Lost};
use crate::elimination::Verdicts;
use crate::elimination::{Basis, Newness, Table};
use crate::field::{Field, Fingerprint};
use crate::magnitude::Magnitude;
use crate::matrix::{ExactMatrix, Laziness};
use crate::packed::Packed;
use ndp_graph::GossipMatrix;
use ndp_graph::gossip_matrix::Weights;
use ndp_numeric::stop::{Stop, Stopped};

/// Everything that the messages of fixed-matrix gossip reveal to a coalition.
#[derive(Clone, Debug, PartialEq)]
pub struct Krylov {
    matrix: ExactMatrix,
    ball: Ball,
    /// Members whose noise is known, as numbers within the ball.
    known: Vec<usize>,
    /// Neighbors outside the coalition.
    seeds: Vec<usize>,
    rounds: usize,
    /// Whether weights follow from degrees, so that every symmetry of the graph is a symmetry of the matrix.
    named: bool,
}

/// The earlier combinations to which a candidate is made orthogonal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Against {
    /// The combinations of the two levels before it; in exact arithmetic a candidate is orthogonal to all
    /// earlier ones. The coefficients have the precision of floating point.
    Recent,
    /// The same two levels, with coefficients of as many digits as the vectors have. The remaining overlaps
    /// grow from level to level as the errors do, so in long runs they must be small.
    Precisely,
    /// All earlier combinations.
    All,
}

impl Krylov {
    /// What `coalition` (ascending) hears from the neighbors `seeds` in `rounds` rounds; it knows the noises
    /// of `known`.
    pub fn new(
        matrix: &GossipMatrix,
        coalition: &[usize],
        seeds: &[usize],
        known: &[usize],
        rounds: usize,
    ) -> Self {
        let ball = Ball::around(matrix.graph(), coalition, rounds);
        Self {
            matrix: ExactMatrix::new(matrix, &ball, Laziness::TakenOff),
            known: ball.locals(known),
            seeds: if rounds == 0 { Vec::new() } else { ball.locals(seeds) },
            ball,
            rounds,
            named: matrix.weights() != Weights::Given,
        }
    }

    /// Whether weights follow from degrees, so that every symmetry of the graph is a symmetry of the matrix.
    pub(crate) fn is_named(&self) -> bool {
        self.named
    }

    /// The number of nodes within reach.
    pub(crate) fn nodes(&self) -> usize {
        self.ball.len()
    }

    /// The nodes within reach.
    #[must_use]
    pub fn ball(&self) -> &Ball {
        &self.ball
    }

    pub(crate) fn known(&self) -> &[usize] {
        &self.known
    }

    pub(crate) fn seeds(&self) -> &[usize] {
        &self.seeds
    }

    /// The largest rank that the view can have.
    pub fn rank_limit(&self) -> usize {
        self.known.len().saturating_add(self.seeds.len().saturating_mul(self.rounds)).min(self.nodes())
    }

    /// Bytes for everything that is held at the same time, with `limbs` limbs a number.
    pub(crate) fn bytes(&self, limbs: usize) -> u64 {
        let (n, r) = (self.nodes() as u64, self.rank_limit() as u64);
        let levels = (3 * self.seeds.len() as u64 + self.known.len() as u64).min(r);
        // Eight vectors side by side, their quotients and their products.
        let beside = 3 * 64 * limbs as u64;
        let combinations = n.saturating_mul(8 * r + 8 * limbs as u64 * levels + beside);
        let table = n.saturating_mul(8 * r);
        combinations.max(table).saturating_add(self.matrix.bytes() + 64 * n)
    }

    pub(crate) fn fingerprint(&self) -> Fingerprint {
        let mut to = Fingerprint::new("fixed matrix");
        self.matrix.fingerprint(&mut to);
        to.numbers(self.ball.nodes().iter().map(|&u| u as u64));
        to.number(self.ball.graph_size() as u64);
        to.numbers(self.known.iter().map(|&u| u as u64));
        to.numbers(self.seeds.iter().map(|&u| u as u64));
        to.number(self.rounds as u64);
        to
    }

    /// What one prime says about the candidates: known noises, then level by level.
    pub(crate) fn verdicts(&self, field: Field, stop: &Stop) -> Result<Verdicts, Stopped> {
        let short = self.is_short() && 6 * self.seeds.len() < self.rank_limit();
        match short.then(|| self.verdicts_by_levels(field, stop)).transpose()?.flatten() {
            Some(verdicts) => Ok(verdicts),
            None => self.verdicts_by_table(field, stop),
        }
    }

    /// Whether a product of the matrix with a row of one level is orthogonal to all but three levels: the
    /// matrix is symmetric, and its product with a known noise is a combination of the first level.
    fn is_short(&self) -> bool {
        let first = |v: &usize| self.known.contains(v) || self.seeds.contains(v);
        self.matrix.is_symmetric() && self.known.iter().all(|&u| self.matrix.columns(u).iter().all(first))
    }

    /// The decisions by elimination against all earlier rows.
    fn verdicts_by_table(&self, field: Field, stop: &Stop) -> Result<Verdicts, Stopped> {
        let n = self.nodes();
        let matrix = self.matrix.modulo(field);
        let mut table = Table::new(field, n);
        let mut kept = Vec::new();
        let mut add = |row: Vec<u64>| {
            stop.spend(self.matrix.cost().saturating_add(table.cost()))?;
            let new = table.rank() < n && table.add(row) == Newness::New;
            kept.push(new);
            Ok(new)
        };
        for &u in &self.known {
            add(self.unit(u, field))?;
        }
        let mut level: Vec<Vec<u64>> = self.seeds.iter().map(|&u| self.unit(u, field)).collect();
        for row in &level {
            add(row.clone())?;
        }
        for _ in 1..self.rounds {
            let mut next = Vec::new();
            for product in level.chunks(TOGETHER).flat_map(|rows| matrix.products(rows)) {
                if add(product.clone())? {
                    next.push(product);
                }
            }
            level = next;
            if level.is_empty() {
                break;
            }
        }
        Ok(Verdicts { kept, leaks: Vec::new() })
    }

    fn unit(&self, u: usize, field: Field) -> Vec<u64> {
        let mut row = vec![0; self.nodes()];
        row[u] = field.integer(1);
        row
    }

    /// The same decisions by orthogonality. If no kept row is orthogonal to itself, the product of a
    /// symmetric matrix with a row of one level is orthogonal to all levels but that level, the one before it
    /// and its own level. It is new if something remains after it was made orthogonal to those three. `None`
    /// if a row is orthogonal to itself, which happens for about one prime in `2^60 / r`.
    fn verdicts_by_levels(&self, field: Field, stop: &Stop) -> Result<Option<Verdicts>, Stopped> {
        let n = self.nodes();
        let matrix = self.matrix.modulo(field);
        let first: Vec<usize> = self.known.iter().chain(&self.seeds).copied().collect();
        let mut distinct = first.clone();
        distinct.sort_unstable();
        distinct.dedup();
        if distinct.len() < first.len() {
            return Ok(None);
        }
        let mut kept = vec![true; first.len()];
        let mut rank = first.len();
        // Known noises are not propagated: the product of the matrix with one of them is a combination of the
        // first level.
        let mut basis = Basis {
            field,
            rows: first.into_iter().map(|u| self.unit(u, field)).collect(),
            inverses: vec![field.minus(0, field.integer(1)); rank],
        };
        let mut sources = self.known.len()..rank;
        // The products of the matrix times a row with the rows, of rows for which they were taken.
        let mut taken: Vec<Option<Vec<u64>>> = vec![None; rank];
        for _ in 1..self.rounds {
            let end = basis.rows.len();
            let mut next = Vec::new().into_iter();
            for k in sources.clone() {
                stop.spend(self.matrix.cost().saturating_add(basis.cost()))?;
                if rank == n {
                    kept.push(false);
                    continue;
                }
                // ⟨W a, b⟩ = ⟨W b, a⟩. If that was taken before `a` was there, then `a` is orthogonal to all
                // that `W b` is made of.
                let known = |i: usize| Some(taken.get(i)?.as_ref()?.get(k).copied().unwrap_or(0));
                if next.len() == 0 {
                    let last = sources.end.min(k + TOGETHER);
                    next = matrix.products(&basis.rows[k..last]).into_iter();
                }
                let Some(row) = next.next() else { return Ok(None) };
                let Some(absorbed) = basis.absorb(row, known) else { return Ok(None) };
                taken[k] = Some(absorbed.products);
                rank += usize::from(absorbed.new);
                kept.push(absorbed.new);
            }
            taken.resize(basis.rows.len(), None);
            if basis.rows.len() == end {
                break;
            }
            basis.rows.drain(..sources.start);
            basis.inverses.drain(..sources.start);
            taken.drain(..sources.start);
            for products in taken.iter_mut().flatten() {
                products.drain(..sources.start);
            }
            sources = end - sources.start..basis.rows.len();
        }
        Ok(Some(Verdicts { kept, leaks: Vec::new() }))
    }

    /// The level of every candidate, given the decisions.
    fn levels(&self, kept: &[bool]) -> Vec<usize> {
        let mut levels = vec![0; self.known.len() + self.seeds.len()];
        let mut from = self.known.len();
        let mut level = 0;
        while levels.len() < kept.len() {
            let width = kept[from..levels.len()].iter().filter(|&&new| new).count();
            from = levels.len();
            level += 1;
            levels.resize(levels.len() + width, level);
        }
        levels
    }

    /// `log₂(D |r|)` of every candidate, which is a power of the matrix applied to a unit vector.
    pub(crate) fn widths(&self, kept: &[bool]) -> Vec<f64> {
        let width = self.matrix.denominator() + self.matrix.norm().log2().max(0.0);
        self.levels(kept).into_iter().map(|level| level as f64 * width).collect()
    }

    /// Nearly orthonormal combinations that span what the kept rows span.
    pub(crate) fn combinations(
        &self,
        limbs: usize,
        kept: Kept<'_>,
        against: Against,
        stop: &Stop,
    ) -> Result<Combinations, (Lost, f64)> {
        let (n, mut kept) = (self.nodes(), kept);
        let rank = kept.count().unwrap_or_else(|| self.rank_limit()).max(1);
        let mut found = Combinations::new(limbs, n, n, &[]);
        for &u in self.known.iter().chain(&self.seeds) {
            found.push_unit(u);
        }
        let mut matrix = self.matrix.in_limbs(limbs, found.kernels());
        let rounding = Magnitude::new(n as f64, 0).root().times(Magnitude::new(matrix.units().into(), 0));
        // The level before the sources, and the sources; the number of the first candidate that they make.
        let (mut before, mut sources) = (0, self.known.len()..found.len());
        let mut candidates = found.len();
        for _ in 1..self.rounds {
            let first = found.len();
            let from = if against == Against::All { 0 } else { before };
            let of_level: Vec<(usize, usize)> = (candidates..)
                .zip(sources.clone())
                .filter(|&(candidate, _)| kept.may_be_new(candidate))
                .collect();
            for part in of_level.chunks(TOGETHER) {
                let rows: Vec<&Packed> = part.iter().map(|&(_, source)| found.fixed(source)).collect();
                let products = matrix.products(&rows);
                for (&(candidate, source), row) in part.iter().zip(products) {
                    if !kept.may_be_new(candidate) {
                        continue;
                    }
                    let cost =
                        self.matrix.cost().saturating_mul(limbs as u64).saturating_add(found.cost(from));
                    stop.spend(cost).map_err(|stopped| (Lost::Stopped(stopped), 0.0))?;
                    let gamma = self.matrix.norm().times(found.error(source)).plus(rounding);
                    let progress = found.len() as f64 / rank as f64;
                    let absorbed = match against {
                        Against::Precisely => found.absorb_precisely(row, gamma, from),
                        Against::Recent | Against::All => found.absorb(row, gamma, from),
                    };
                    // Of an old candidate nothing is left but what its predecessors are not orthogonal to.
                    let bits_lost = match &absorbed {
                        Ok(()) => found.error(found.len() - 1).log2(),
                        Err(Lost::Digits(growth)) => *growth,
                        Err(_) => f64::NEG_INFINITY,
                    };
                    let lost = bits_lost > gamma.log2() + LITTLE_LEFT;
                    match if lost { kept.settle() } else { None } {
                        Some(first) if first < candidate => return Err((Lost::Digits(0.0), progress)),
                        Some(first) if first == candidate && absorbed.is_ok() => found.pop(),
                        Some(first) if first == candidate => {}
                        _ => absorbed.map_err(|lost| (lost, progress))?,
                    }
                }
            }
            if against != Against::All {
                found.forget_before(before);
            }
            candidates += sources.len();
            (before, sources) = (sources.start, first..found.len());
            if sources.is_empty() {
                break;
            }
        }
        Ok(found)
    }
}

/// Which candidates are new.
#[derive(Clone, Copy)]
pub(crate) enum Kept<'a> {
    /// What was decided.
    Known(&'a [bool]),
    /// All are taken for new until one leaves nothing; only then is it decided. `None` if that fails.
    Open(&'a dyn Fn() -> Option<&'a [bool]>),
}

impl Kept<'_> {
    /// How many are new, if that is decided.
    pub(crate) fn count(self) -> Option<usize> {
        match self {
            Self::Known(kept) => Some(kept.iter().filter(|&&new| new).count()),
            Self::Open(_) => None,
        }
    }

    fn may_be_new(self, candidate: usize) -> bool {
        match self {
            Self::Known(kept) => kept.get(candidate).copied().unwrap_or(false),
            Self::Open(_) => true,
        }
    }

    /// Whether it is decided that some candidate is old.
    pub(crate) fn has_old(self) -> bool {
        matches!(self, Self::Known(kept) if kept.contains(&false))
    }

    /// Decides which candidates are new if that was open, and returns the first old one.
    pub(crate) fn settle(&mut self) -> Option<usize> {
        let Self::Open(decide) = *self else { return None };
        let kept = decide()?;
        *self = Self::Known(kept);
        Some(kept.iter().position(|&new| !new).unwrap_or(kept.len()))
    }
}

/// If so many bits are lost with a candidate, it may be old.
const LITTLE_LEFT: f64 = 16.0;
/// Vectors that are multiplied by the matrix at a time.
const TOGETHER: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decisions;
    use ndp_graph::{Graph, generators, random};
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    /// `log₂` of the largest error in units, when every candidate is made orthogonal to all before it.
    fn growth(
        graph: &Graph,
        observer: usize,
        rounds: usize,
    ) -> Result<(usize, f64), Box<dyn std::error::Error>> {
        let seeds: Vec<usize> = graph.neighbors(observer).iter().map(|&w| w as usize).collect();
        let view = Krylov::new(&GossipMatrix::metropolis(graph), &[observer], &seeds, &[observer], rounds);
        let decisions = decisions::of_krylov(&view, &Stop::never())?;
        let found = view
            .combinations(6, Kept::Known(&decisions.kept), Against::All, &Stop::never())
            .map_err(|_| "digits are lost")?;
        let largest = (0..found.len()).map(|k| found.error(k).log2()).fold(f64::NEG_INFINITY, f64::max);
        Ok((found.len(), largest))
    }

    /// The growths of errors that the specification measured, in bits. Those of this code are up to a few
    /// bits lower: a pass of subtractions rounds once, not once for every coefficient, and coefficients below
    /// the rounding unit are not subtracted again.
    #[test]
    fn errors_grow_as_measured() -> Result<(), Box<dyn std::error::Error>> {
        let ring = generators::cycle_graph(64)?;
        let path = |n| generators::path_graph(n);
        let grid = generators::grid_2d_graph(12, 12)?;
        let (small, large) = (generators::hypercube_graph(7)?, generators::hypercube_graph(9)?);
        let cases = [
            (&small, 0, 9, 44, 19.0),
            (&large, 0, 14, 74, 24.0),
            (&path(40)?, 0, 40, 40, 84.0),
            (&path(80)?, 0, 80, 80, 168.0),
            (&ring, 0, 64, 64, 70.0),
            (&grid, 0, 40, 81, 87.0),
        ];
        for (graph, observer, rounds, rank, bits) in cases {
            let (found, growth) = growth(graph, observer, rounds)?;
            assert_eq!(found, rank);
            assert!((bits - 12.0..bits + 3.0).contains(&growth), "{growth} bits, expected {bits}");
        }
        Ok(())
    }

    /// Orthogonality and elimination give the same decision for every candidate, modulo large primes and, if
    /// no row is orthogonal to itself, modulo small ones.
    #[test]
    fn levels_and_tables_agree() -> Result<(), Box<dyn std::error::Error>> {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let (mut compared, mut refused) = (0, 0);
        for k in 0..60 {
            let graph = match k % 3 {
                0 => random::erdos_renyi_graph(24, 0.15, &mut rng)?,
                1 => random::random_geometric_graph(30, 0.3, &mut rng)?,
                _ => generators::grid_2d_graph(4, 3 + k % 5)?,
            };
            let matrix = GossipMatrix::metropolis(&graph);
            let coalition: Vec<usize> = (0..1 + k % 2).collect();
            let known = if k % 5 == 0 { Vec::new() } else { coalition.clone() };
            let mut seeds: Vec<usize> =
                coalition.iter().flat_map(|&c| graph.neighbors(c)).map(|&w| w as usize).collect();
            seeds.sort_unstable();
            seeds.dedup();
            seeds.retain(|w| !coalition.contains(w));
            let view = Krylov::new(&matrix, &coalition, &seeds, &known, 12);
            if !view.is_short() {
                continue;
            }
            for prime in [2_147_483_647, 2_305_843_009_213_693_951 - 30, 101, 31, 13] {
                let field = Field::new(prime);
                match view.verdicts_by_levels(field, &Stop::never())? {
                    Some(found) => {
                        assert_eq!(found, view.verdicts_by_table(field, &Stop::never())?);
                        compared += 1;
                    }
                    None => {
                        assert!(prime < 1000);
                        refused += 1;
                    }
                }
            }
        }
        assert!(compared > 150 && refused > 10, "{compared} compared, {refused} refused");
        Ok(())
    }

    /// If products reach beyond the first level, or weights are not symmetric, three levels are not enough.
    #[test]
    fn short_recurrences_are_not_presumed() -> Result<(), Box<dyn std::error::Error>> {
        let path = generators::path_graph(5)?;
        let matrix = GossipMatrix::metropolis(&path);
        assert!(Krylov::new(&matrix, &[0], &[1], &[0], 4).is_short());
        // Node 2 knows its noise, but the coalition does not hear all its neighbors.
        assert!(!Krylov::new(&matrix, &[0], &[1], &[0, 2], 4).is_short());
        Ok(())
    }

    /// If coefficients have all digits, three levels keep a long run as orthonormal as all predecessors do,
    /// with smaller errors.
    #[test]
    fn three_levels_are_enough() -> Result<(), Box<dyn std::error::Error>> {
        let mut rng = ChaCha8Rng::seed_from_u64(7);
        let graph = random::random_geometric_graph(150, 0.16, &mut rng)?;
        let seeds: Vec<usize> = graph.neighbors(0).iter().map(|&w| w as usize).collect();
        let view = Krylov::new(&GossipMatrix::metropolis(&graph), &[0], &seeds, &[0], 40);
        let decisions = decisions::of_krylov(&view, &Stop::never())?;
        let combine = |against| {
            let found = view.combinations(6, Kept::Known(&decisions.kept), against, &Stop::never());
            found.map(crate::combinations::Combinations::into_rounded).map_err(|_| "digits are lost")
        };
        let farthest = |vectors: &[Vec<f64>]| {
            let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
            let pairs = (0..vectors.len()).flat_map(|j| (0..=j).map(move |k| (j, k)));
            let off = |(j, k): (usize, usize)| {
                (product(&vectors[j], &vectors[k]) - f64::from(u8::from(j == k))).abs()
            };
            pairs.map(off).fold(0.0, f64::max)
        };
        let (recent, _) = combine(Against::Recent)?;
        let (precise, errors) = combine(Against::Precisely)?;
        let (all, _) = combine(Against::All)?;
        assert!(decisions.rank() > 60 && all.len() == precise.len());
        assert!(farthest(&recent) > 1e-3, "long enough to lose orthogonality: {}", farthest(&recent));
        assert!(farthest(&precise) < 1e-13 && farthest(&all) < 1e-12);
        assert!(errors.iter().all(|&e| e < 1e-14));
        // The same vectors, up to the rounding errors of `all`.
        for (one, other) in precise.iter().zip(&all) {
            assert!(one.iter().zip(other).all(|(a, b)| (a - b).abs() < 1e-9));
        }
        Ok(())
    }

    /// The recurrence on a path of three nodes, by hand: `q_1 = e_0`, `q_2 = e_1` are exact; `W q_2` costs
    /// one division per row, the subtraction one rounding, the scaling another.
    #[test]
    fn the_recurrence_is_its_formula() -> Result<(), Box<dyn std::error::Error>> {
        let path = generators::path_graph(3)?;
        let view = Krylov::new(&GossipMatrix::metropolis(&path), &[0], &[1], &[0], 2);
        let found = view
            .combinations(2, Kept::Known(&[true, true, true]), Against::All, &Stop::never())
            .map_err(|_| "digits are lost")?;
        assert_eq!((found.error(0), found.error(1)), (Magnitude::ZERO, Magnitude::ZERO));
        // W e_1 = (1, 1, 1)/3; what is left of it is e_2/3: s = 3, γ = √3 (one divisor), ρ = √3, ρ' = √3.
        let expected = 3.0 * (3f64.sqrt() + 3f64.sqrt()) + 3f64.sqrt();
        let error = found.error(2).to_f64();
        assert!(error >= expected && error < expected * (1.0 + 1e-9), "{error} is not {expected}");
        Ok(())
    }

    /// A path of three nodes, seen from its end for two rounds. With two limbs, three combinations take 3
    /// · 8 bytes in floats and 3 · 16 in fixed point for each node, and three times eight vectors side by
    /// side take 384. Three groups of neighbors take 20 bytes each and four neighbors 4 each, and 64
    /// bytes more are counted for each node.
    #[test]
    fn bytes_are_counted() -> Result<(), ndp_graph::Error> {
        let matrix = GossipMatrix::metropolis(&generators::path_graph(3)?);
        let view = Krylov::new(&matrix, &[0], &[1], &[0], 2);
        assert_eq!(view.bytes(2), 3 * (24 + 48 + 384) + 3 * 20 + 4 * 4 + 3 * 64);
        Ok(())
    }
}
