//! The loops for any machine: products of 64 bits by 64.

use super::{Combination, Early, GROUP, Kernels, Named, Row, STRIP, Shape, Window, sizes};

pub(super) const KERNELS: Kernels = Kernels { combine, columns, sizes, window, products, quotients };

fn window(rows: &[Row], to: &mut [f64], window: Window) {
    window.read(rows, to);
}

fn products(
    matrix: Named<'_>,
    limbs: usize,
    first: usize,
    x: &[Row],
    early: Option<Early<'_>>,
    y: &mut [Row],
) {
    matrix.products(limbs, first, x, early, y);
}

fn quotients(matrix: Named<'_>, limbs: usize, first: usize, x: &[Row], own: &[u32], to: &mut [Row]) {
    matrix.quotients(limbs, first, x, own, to);
}

/// The same limb of eight sums.
type Sums = [u128; 8];

fn combine(y: &mut [Row], first: usize, what: &Combination<'_>) {
    let used = what.used();
    let blocks = y.len() / what.limbs;
    let [minus, plus] = [true, false].map(|negative| {
        let mut sums: Vec<Sums> = vec![[0; 8]; blocks * used];
        let side = what.side(negative);
        let (groups, rest) = side.as_chunks::<GROUP>();
        groups.iter().for_each(|group| add(&mut sums, first, group, what));
        rest.iter().for_each(|&term| add(&mut sums, first, &[term], what));
        sums
    });
    // What was added to the highest limbs.
    let bias = i128::from(what.sum()) << 63;
    let mut words = vec![Row::ZERO; used + 1];
    let sums = plus.chunks_exact(used).zip(minus.chunks_exact(used));
    for (y, (plus, minus)) in y.chunks_exact_mut(what.limbs).zip(sums) {
        let mut carry = [0i128; 8];
        for (j, (plus, minus)) in plus.iter().zip(minus).enumerate() {
            let bias = if j + 1 == used { bias } else { 0 };
            for lane in 0..8 {
                let sum = plus[lane].wrapping_sub(minus[lane]) as i128 - bias + carry[lane];
                words[j].0[lane] = sum as u64;
                carry[lane] = sum >> 64;
            }
        }
        words[used] = Row(carry.map(|carry| carry as u64));
        what.write(y, &words);
    }
}

/// Adds a few terms to the sums of a strip, limb by limb.
#[inline]
fn add<const G: usize>(sums: &mut [Sums], first: usize, terms: &[(&[Row], u64); G], what: &Combination<'_>) {
    let blocks = sums.len() / what.used();
    let terms = terms.map(|(x, factor)| (&x[first..first + blocks * what.limbs], factor));
    for j in 0..what.used() {
        for block in 0..blocks {
            let sum = &mut sums[block * what.used() + j];
            let rows = terms.map(|(x, factor)| (&x[block * what.limbs + what.drop + j].0, factor));
            for lane in 0..8 {
                let mut total = sum[lane];
                for (x, factor) in &rows {
                    total += u128::from(x[lane]) * u128::from(*factor);
                }
                sum[lane] = total;
            }
        }
    }
}

fn columns(x: &[Row], y: &[Row], shape: Shape) -> Vec<u128> {
    let pieces = shape.pieces();
    let mut columns = vec![0; 2 * pieces - shape.first + 2];
    let strip = STRIP * shape.limbs;
    let (mut left, mut right) = (vec![Row::ZERO; STRIP * pieces], vec![Row::ZERO; STRIP * pieces]);
    for (x, y) in x.chunks(strip).zip(y.chunks(strip)) {
        let blocks = x.len() / shape.limbs;
        cut(x, shape, &mut left);
        cut(y, shape, &mut right);
        for column in shape.first..2 * pieces - 1 {
            let mut sum = 0;
            for a in (column + 1).saturating_sub(pieces)..pieces.min(column + 1) {
                let (left, right) = (&left[a * STRIP..], &right[(column - a) * STRIP..]);
                for (x, y) in left[..blocks].iter().zip(&right[..blocks]) {
                    for (x, y) in x.0.iter().zip(&y.0) {
                        sum += u128::from(*x) * u128::from(*y);
                    }
                }
            }
            // At most 128 · 82 products below 2^104 were added.
            for (to, down) in columns[column - shape.first..].iter_mut().zip([0, 52, 104]) {
                *to += (sum >> down) & u128::from(PIECE);
            }
        }
    }
    columns
}

/// Cuts the numbers of a strip into pieces of 52 bits: piece `a` of block `b` goes to `a · STRIP + b`.
fn cut(rows: &[Row], shape: Shape, to: &mut [Row]) {
    for (piece, to) in to.chunks_exact_mut(STRIP).enumerate() {
        let (limb, bits) = (52 * piece / 64, (52 * piece % 64) as u32);
        // The last piece may end with the highest limb.
        let next = (limb + 1).min(shape.used() - 1);
        let mask = if bits > 12 && next > limb { PIECE } else { PIECE & (u64::MAX >> bits) };
        for (to, rows) in to.iter_mut().zip(rows.chunks_exact(shape.limbs)) {
            let (low, high) = (&rows[shape.drop + limb].0, &rows[shape.drop + next].0);
            for (lane, to) in to.0.iter_mut().enumerate() {
                *to = ((low[lane] >> bits) | ((high[lane] << 1) << (63 - bits))) & mask;
            }
        }
    }
}

/// The lowest 52 bits.
const PIECE: u64 = (1 << 52) - 1;
