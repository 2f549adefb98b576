//! Vectors modulo a prime `2^31 - C`: panels of them, sketches, and ranks by elimination.

use crate::kernel::{self, LANES, Residues};
use crate::tasks::{for_tasks, map_tasks};

/// Up to 16 columns of residues, interleaved.
pub(super) struct Panel {
    pub(super) rows: Vec<Residues>,
    pub(super) width: usize,
}

impl Panel {
    pub(super) fn units(n: usize, nodes: &[usize]) -> Self {
        let mut rows = vec![Residues::ZERO; n];
        nodes.iter().enumerate().for_each(|(lane, &node)| rows[node].0[lane] = 1);
        Self { rows, width: nodes.len() }
    }
}

/// Packs the kept columns of `panels` into `packed`, which keeps nothing of what it held.
pub(super) fn select(n: usize, panels: &[Panel], kept: &[bool], packed: &mut Vec<Panel>) {
    let columns = panels.iter().flat_map(|panel| (0..panel.width).map(move |lane| (panel, lane)));
    let kept: Vec<(&Panel, usize)> = columns.zip(kept).filter(|(_, keep)| **keep).map(|(at, _)| at).collect();
    resize(packed, kept.len().div_ceil(LANES), n);
    for (columns, packed) in kept.chunks(LANES).zip(packed) {
        packed.width = columns.len();
        for_tasks(&mut packed.rows, |first, rows| {
            rows.fill(Residues::ZERO);
            for (slot, (panel, lane)) in columns.iter().enumerate() {
                let from = &panel.rows[first..];
                rows.iter_mut().zip(from).for_each(|(row, from)| row.0[slot] = from.0[*lane]);
            }
        });
    }
}

/// Makes it `count` panels of `n` rows, keeping the memory of those it has.
pub(super) fn resize(panels: &mut Vec<Panel>, count: usize, n: usize) {
    panels.resize_with(count, || Panel { rows: vec![Residues::ZERO; n], width: 0 });
}

/// A linear map of vectors of length `n` to few coordinates, which keeps ranks with high probability
/// and never raises them.
pub(super) enum Sketch {
    /// All coordinates.
    Whole,
    /// Every coordinate is added, times three random factors, to three random places of `width`.
    Sparse { width: usize, places: Vec<[(u32, u32); 3]> },
}

impl Sketch {
    pub(super) fn new(n: usize, rank_limit: usize, seed: u64, prime: u64) -> Self {
        // Twice the rank: three places per coordinate fail to keep full rank only above 0.91 of it.
        let width = 2 * rank_limit + 16;
        if 4 * width > 3 * n {
            return Self::Whole;
        }
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d;
        let mut draw = |below: u64| (split_mix(&mut state) % below) as u32;
        let places = (0..n).map(|_| [(); 3].map(|()| (draw(width as u64), 1 + draw(prime - 1)))).collect();
        Self::Sparse { width, places }
    }

    /// The sketches of the columns of a panel.
    pub(super) fn apply<const C: u64>(&self, panel: &Panel) -> Vec<Vec<u64>> {
        match self {
            Self::Whole => {
                let column = |lane: usize| panel.rows.iter().map(|row| u64::from(row.0[lane])).collect();
                (0..panel.width).map(column).collect()
            }
            Self::Sparse { width, places } => {
                // Sums of residues are exact, so the order of tasks does not matter.
                let tasks = map_tasks(&panel.rows, |first, rows| {
                    let mut sums = vec![[0u64; LANES]; *width];
                    kernel::modular_scatter::<C>(&places[first..first + rows.len()], rows, &mut sums);
                    sums
                });
                let sum = |place: usize, lane: usize| {
                    tasks.iter().fold(0, |sum, task| reduce::<C>(sum + task[place][lane]))
                };
                let column = |lane: usize| (0..*width).map(|place| sum(place, lane)).collect();
                (0..panel.width).map(column).collect()
            }
        }
    }
}

/// Independent vectors in echelon form, modulo the prime `2^31 - C`.
#[derive(Default)]
pub(super) struct Table<const C: u64> {
    rows: Vec<Vec<u32>>,
    pivots: Vec<usize>,
}

impl<const C: u64> Table<C> {
    /// Number of independent vectors.
    pub(super) fn rank(&self) -> usize {
        self.rows.len()
    }

    /// Adds a vector and says whether it was independent of the earlier ones. Entries below `2^39`.
    pub(super) fn add(&mut self, mut vector: Vec<u64>) -> bool {
        for (rows, pivots) in self.rows.chunks(2).zip(self.pivots.chunks(2)) {
            let first = minus::<C>(vector[pivots[0]]);
            // A row without a partner is paired with itself, times 0.
            let (second, partner) = match (rows, pivots) {
                ([row, partner], [_, pivot]) => {
                    (minus::<C>(fold::<C>(vector[*pivot] + first * u64::from(row[*pivot]))), partner)
                }
                _ => (0, &rows[0]),
            };
            if (first, second) != (0, 0) {
                kernel::modular_add::<C>([first, second], [&rows[0], partner], &mut vector);
            }
        }
        vector.iter_mut().for_each(|x| *x = reduce::<C>(*x));
        let Some(pivot) = vector.iter().position(|&x| x != 0) else { return false };
        let scale = u64::from(inverse::<C>(vector[pivot]));
        self.rows.push(vector.iter().map(|&x| reduce::<C>(fold::<C>(x * scale)) as u32).collect());
        self.pivots.push(pivot);
        true
    }
}

pub(crate) const fn prime<const C: u64>() -> u64 {
    (1 << 31) - C
}

/// The same residue below `2^39`, for `C < 64`.
pub(crate) const fn fold<const C: u64>(x: u64) -> u64 {
    (x & 0x7fff_ffff) + (x >> 31) * C
}

/// The residue itself, for `C < 64`.
pub(crate) const fn reduce<const C: u64>(x: u64) -> u64 {
    let x = fold::<C>(fold::<C>(x));
    // Now x < 2^31 + 2^14.
    let x = if x >= prime::<C>() { x - prime::<C>() } else { x };
    if x >= prime::<C>() { x - prime::<C>() } else { x }
}

/// The residue of `-x`.
pub(super) const fn minus<const C: u64>(x: u64) -> u64 {
    let x = reduce::<C>(x);
    if x == 0 { 0 } else { prime::<C>() - x }
}

/// The inverse modulo `2^31 - C` by Fermat's theorem; 0 for 0.
pub(super) fn inverse<const C: u64>(x: u64) -> u32 {
    let mut base = reduce::<C>(x);
    let mut exponent = prime::<C>() - 2;
    let mut power = 1u64;
    while exponent > 0 {
        if exponent & 1 == 1 {
            power = reduce::<C>(power * base);
        }
        base = reduce::<C>(base * base);
        exponent >>= 1;
    }
    power as u32
}

/// The next number of Steele, Lea and Flood's generator: sketches need only be fixed and unrelated to
/// the data, not random in the sense of the protocols.
fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moduli_are_prime() {
        for p in [prime::<1>(), prime::<19>(), prime::<61>()] {
            assert!((2..).take_while(|d| d * d <= p).all(|d| p % d != 0), "{p}");
        }
    }

    #[test]
    fn folded_arithmetic_is_modular() {
        fn check<const C: u64>() {
            let mut state = C;
            for _ in 0..10_000 {
                let x = split_mix(&mut state);
                assert_eq!(reduce::<C>(x), x % prime::<C>());
                assert!(fold::<C>(x) < 1 << 39);
                assert_eq!(fold::<C>(x) % prime::<C>(), x % prime::<C>());
                let y = x % prime::<C>();
                assert_eq!(y * u64::from(inverse::<C>(y)) % prime::<C>(), u64::from(y != 0));
            }
            for edge in [0, 1, prime::<C>() - 1, prime::<C>(), prime::<C>() + 1, u64::MAX] {
                assert_eq!(reduce::<C>(edge), edge % prime::<C>());
            }
        }
        check::<1>();
        check::<19>();
        check::<61>();
    }
}
