//! The loops for processors with AVX-512 IFMA: eight products of 52 bits by 52 at a time, whose lower and
//! upper halves are added to lanes of 64 bits.
//!
//! This is the only module of the crate with `unsafe` code, one line of it: the call that fetches these loops
//! once the instructions they need were found. Within functions that enable them the instructions are safe.
#![allow(unsafe_code)]

use super::{
    Combination, Early, Eight, GROUP, Kernels, Modular, Named, RESIDUES, Residues, Row, Shape, Terms, Window,
    pieces, sizes,
};
use std::arch::x86_64::{
    __m512i, _mm_cvtsi128_si64, _mm_extract_epi64, _mm512_add_epi64, _mm512_and_si512,
    _mm512_extracti64x2_epi64, _mm512_madd52hi_epu64, _mm512_madd52lo_epu64, _mm512_set_epi64,
    _mm512_set1_epi64, _mm512_setzero_si512, _mm512_shrdv_epi64, _mm512_srli_epi64, _mm512_srlv_epi64,
};

/// These loops, if this machine can run them.
pub(super) fn kernels() -> Option<Kernels> {
    loops().map(|(kernels, _)| kernels)
}

/// Those for residues.
pub(super) fn residues() -> Option<Residues> {
    loops().map(|(_, residues)| residues)
}

fn loops() -> Option<(Kernels, Residues)> {
    let found = is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512ifma")
        && is_x86_feature_detected!("avx512vbmi2");
    // SAFETY: the function and the loops that it returns need these four features, and the lines above found
    // all of them; a processor does not lose them while it runs.
    found.then(|| unsafe { table() })
}

/// The loops as plain function pointers, which only code that may call them can make.
#[target_feature(enable = "avx512f,avx512dq,avx512ifma,avx512vbmi2")]
fn table() -> (Kernels, Residues) {
    let residues = Residues {
        inner: products_of_residues,
        combine: combination_of_residues,
        products: matrix_times_residues,
    };
    (Kernels { combine, columns, sizes: union, window, products, quotients }, residues)
}

#[target_feature(enable = "avx512f,avx512dq,avx512ifma,avx512vbmi2")]
fn union(rows: &[Row], to: &mut [u64]) {
    sizes(rows, to);
}

#[target_feature(enable = "avx512f,avx512dq,avx512ifma,avx512vbmi2")]
fn window(rows: &[Row], to: &mut [f64], window: Window) {
    window.read(rows, to);
}

#[target_feature(enable = "avx512f,avx512dq,avx512ifma,avx512vbmi2")]
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

#[target_feature(enable = "avx512f,avx512dq,avx512ifma,avx512vbmi2")]
fn quotients(matrix: Named<'_>, limbs: usize, first: usize, x: &[Row], own: &[u32], to: &mut [Row]) {
    matrix.quotients(limbs, first, x, own, to);
}

/// Sums are kept in columns of 52 bits, modulo `2^64`: those of the terms with factors below 0 first, which
/// then change their sign.
#[target_feature(enable = "avx512f,avx512dq,avx512ifma,avx512vbmi2")]
fn combine(y: &mut [Row], first: usize, what: &Combination<'_>) {
    let used = what.used();
    let pieces = pieces(used);
    // Column `pieces` takes the upper halves of the highest products; two more take carries.
    let stride = pieces + 3;
    let mut sums = vec![Row::ZERO; y.len() / what.limbs * stride];
    for negative in [true, false] {
        let side = what.side(negative);
        for group in side.chunks(GROUP) {
            for tile in (0..used).step_by(TILE) {
                let at = At { stride, column: tile / TILE * 16, first: first + what.drop + tile };
                add(TILE.min(used - tile), &mut sums, group, what.limbs, at);
            }
        }
        if negative && !side.is_empty() {
            sums.iter_mut().for_each(|sum| *sum = Row(sum.0.map(|x| x.wrapping_neg())));
        }
    }
    // What was added to the highest limbs, in two columns.
    let (column, bits) = ((64 * used - 1) / 52, (64 * used - 1) % 52);
    let bias = i128::from(what.sum()) << bits;
    let bias = [(column, bias as u64 & PIECE), (column + 1, (bias >> 52) as u64)];
    let mut words = vec![Row::ZERO; used + 1];
    for (y, sums) in y.chunks_exact_mut(what.limbs).zip(sums.chunks_exact_mut(stride)) {
        for (column, bias) in bias {
            sums[column] = Row(sums[column].0.map(|x| x.wrapping_sub(bias)));
        }
        carry(sums);
        for (k, word) in words.iter_mut().enumerate() {
            let (piece, bits) = (64 * k / 52, (64 * k % 52) as u32);
            let (a, b, c) = (&sums[piece].0, &sums[piece + 1].0, &sums[piece + 2].0);
            // A third piece is needed where the limb begins high in the first.
            let third = |x: u64| if bits > 40 { x << (104 - bits) } else { 0 };
            *word = Row(std::array::from_fn(|lane| {
                (a[lane] >> bits) | (b[lane] << (52 - bits)) | third(c[lane])
            }));
        }
        what.write(y, &words);
    }
}

/// Makes every column of a sum one of 52 bits, and the number one in two's complement.
#[inline(always)]
fn carry(columns: &mut [Row]) {
    let mut carry = [0i64; 8];
    for column in columns {
        for (x, carry) in column.0.iter_mut().zip(&mut carry) {
            let sum = (*x as i64).wrapping_add(*carry);
            (*x, *carry) = (sum as u64 & PIECE, sum >> 52);
        }
    }
}

/// Where some limbs of a strip are added.
#[derive(Clone, Copy)]
struct At {
    /// Rows from the sums of one block to those of the next.
    stride: usize,
    /// The first column of the sums.
    column: usize,
    /// The first row of the terms.
    first: usize,
}

/// Adds a few terms to the sums of a strip: `limbs` limbs of them, whose vectors have `all`.
#[target_feature(enable = "avx512f,avx512dq,avx512ifma,avx512vbmi2")]
fn add(limbs: usize, sums: &mut [Row], terms: &[(&[Row], u64)], all: usize, at: At) {
    match limbs {
        1 => add_limbs::<1, 3>(sums, terms, all, at),
        2 => add_limbs::<2, 4>(sums, terms, all, at),
        3 => add_limbs::<3, 5>(sums, terms, all, at),
        4 => add_limbs::<4, 6>(sums, terms, all, at),
        5 => add_limbs::<5, 8>(sums, terms, all, at),
        6 => add_limbs::<6, 9>(sums, terms, all, at),
        7 => add_limbs::<7, 10>(sums, terms, all, at),
        8 => add_limbs::<8, 11>(sums, terms, all, at),
        9 => add_limbs::<9, 13>(sums, terms, all, at),
        10 => add_limbs::<10, 14>(sums, terms, all, at),
        11 => add_limbs::<11, 15>(sums, terms, all, at),
        12 => add_limbs::<12, 16>(sums, terms, all, at),
        _ => add_limbs::<TILE, 17>(sums, terms, all, at),
    }
}

/// Repeats a block for `j` from 0 on, as long as `j` is below a constant of at most 16.
macro_rules! unrolled {
    ($j:ident < $end:expr, $body:block) => {
        unrolled!(@ $j, $end, $body, 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15)
    };
    (@ $j:ident, $end:expr, $body:block, $($value:literal)*) => {
        $(if $value < $end {
            let $j: usize = $value;
            $body
        })*
    };
}

/// Adds `K` limbs of a few terms to `A` columns.
#[target_feature(enable = "avx512f,avx512dq,avx512ifma,avx512vbmi2")]
fn add_limbs<const K: usize, const A: usize>(
    sums: &mut [Row],
    terms: &[(&[Row], u64)],
    all: usize,
    At { stride, column, first }: At,
) {
    const { assert!(A == pieces(K) + 1) };
    for (block, sums) in sums.chunks_exact_mut(stride).enumerate() {
        let Some(sums) = sums[column..].first_chunk_mut::<A>() else { return };
        let mut columns = [_mm512_setzero_si512(); A];
        unrolled!(j < A - 1, { columns[j] = load(&sums[j].0) });
        columns[A - 1] = load(&sums[A - 1].0);
        for (x, factor) in terms {
            let Some(x) = x[first + block * all..].first_chunk::<K>() else { return };
            let factor = _mm512_set1_epi64(*factor as i64);
            unrolled!(j < A - 1, {
                let piece = piece(x, j);
                columns[j] = _mm512_madd52lo_epu64(columns[j], piece, factor);
                columns[j + 1] = _mm512_madd52hi_epu64(columns[j + 1], piece, factor);
            });
        }
        unrolled!(j < A - 1, { sums[j] = store(columns[j]) });
        sums[A - 1] = store(columns[A - 1]);
    }
}

/// Piece `j` of the numbers, in the lowest 52 bits; the products do not read the others.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512ifma,avx512vbmi2")]
fn piece(rows: &[Row], j: usize) -> __m512i {
    let (limb, bits) = (52 * j / 64, 52 * j % 64);
    let by = _mm512_set1_epi64(bits as i64);
    match rows.get(limb + 1) {
        _ if bits == 0 => load(&rows[limb].0),
        Some(next) if bits > 12 => _mm512_shrdv_epi64(load(&rows[limb].0), load(&next.0), by),
        _ => _mm512_srlv_epi64(load(&rows[limb].0), by),
    }
}

#[target_feature(enable = "avx512f,avx512dq,avx512ifma,avx512vbmi2")]
fn columns(x: &[Row], y: &[Row], shape: Shape) -> Vec<u128> {
    let pieces = shape.pieces();
    let mut totals = vec![0; 2 * pieces - shape.first];
    // A block adds at most two products of every piece of `x` to a column, each below 2^52.
    let blocks = FULL / (2 * pieces);
    let chunks = x.chunks(blocks * shape.limbs).zip(y.chunks(blocks * shape.limbs));
    for (x, y) in chunks {
        let mut columns = vec![Row::ZERO; totals.len()];
        match shape.used() {
            1 => multiply::<1, 2, 4, 0>(x, y, shape, &mut columns),
            2 => multiply::<2, 3, 5, 1>(x, y, shape, &mut columns),
            3 => multiply::<3, 4, 6, 2>(x, y, shape, &mut columns),
            4 => multiply::<4, 5, 7, 3>(x, y, shape, &mut columns),
            5 => multiply::<5, 7, 10, 4>(x, y, shape, &mut columns),
            6 => multiply::<6, 8, 10, 6>(x, y, shape, &mut columns),
            7 => multiply::<7, 9, 11, 7>(x, y, shape, &mut columns),
            8 => multiply::<8, 10, 12, 8>(x, y, shape, &mut columns),
            _ => multiply_long(x, y, shape, &mut columns),
        }
        for (total, column) in totals.iter_mut().zip(columns) {
            *total += column.0.iter().map(|&x| u128::from(x)).sum::<u128>();
        }
    }
    totals
}

/// The products of numbers of `K` limbs in `W` pieces: `C` columns from `FIRST` on.
#[target_feature(enable = "avx512f,avx512dq,avx512ifma,avx512vbmi2")]
fn multiply<const K: usize, const W: usize, const C: usize, const FIRST: usize>(
    x: &[Row],
    y: &[Row],
    shape: Shape,
    to: &mut [Row],
) {
    const { assert!(W == pieces(K) && C == 2 * W - FIRST) };
    debug_assert_eq!(shape.first, FIRST);
    let mut columns = [_mm512_setzero_si512(); C];
    for (x, y) in x.chunks_exact(shape.limbs).zip(y.chunks_exact(shape.limbs)) {
        let (Some(x), Some(y)) = (x[shape.drop..].first_chunk::<K>(), y[shape.drop..].first_chunk::<K>())
        else {
            return;
        };
        let mut left = [_mm512_setzero_si512(); W];
        unrolled!(a < W, { left[a] = piece(x, a) });
        unrolled!(b < W, {
            let right = piece(y, b);
            unrolled!(a < W, {
                if a + b >= FIRST {
                    let low = a + b - FIRST;
                    columns[low] = _mm512_madd52lo_epu64(columns[low], left[a], right);
                    columns[low + 1] = _mm512_madd52hi_epu64(columns[low + 1], left[a], right);
                }
            });
        });
    }
    to.iter_mut().zip(columns).for_each(|(to, column)| *to = store(column));
}

/// The same for numbers of any length, column by column.
#[target_feature(enable = "avx512f,avx512dq,avx512ifma,avx512vbmi2")]
fn multiply_long(x: &[Row], y: &[Row], shape: Shape, to: &mut [Row]) {
    let pieces = shape.pieces();
    let (mut left, mut right) = (vec![Row::ZERO; pieces], vec![Row::ZERO; pieces]);
    for (x, y) in x.chunks_exact(shape.limbs).zip(y.chunks_exact(shape.limbs)) {
        for j in 0..pieces {
            left[j] = store(piece(&x[shape.drop..], j));
            // From the highest down, so that the products of a column are side by side.
            right[pieces - 1 - j] = store(piece(&y[shape.drop..], j));
        }
        for column in shape.first..2 * pieces - 1 {
            let (from, end) = ((column + 1).saturating_sub(pieces), pieces.min(column + 1));
            let right = &right[pieces - 1 - column + from..];
            let (mut low, mut high) = ([_mm512_setzero_si512(); 2], [_mm512_setzero_si512(); 2]);
            let (pairs, rest) = left[from..end].as_chunks::<2>();
            let (others, last) = right[..end - from].as_chunks::<2>();
            for (x, y) in pairs.iter().zip(others) {
                for k in 0..2 {
                    let (x, y) = (load(&x[k].0), load(&y[k].0));
                    low[k] = _mm512_madd52lo_epu64(low[k], x, y);
                    high[k] = _mm512_madd52hi_epu64(high[k], x, y);
                }
            }
            for (x, y) in rest.iter().zip(last) {
                low[0] = _mm512_madd52lo_epu64(low[0], load(&x.0), load(&y.0));
                high[0] = _mm512_madd52hi_epu64(high[0], load(&x.0), load(&y.0));
            }
            let at = column - shape.first;
            for (to, parts) in to[at..].iter_mut().zip([low, high]) {
                let parts = parts.map(|part| store(part).0);
                *to = Row(std::array::from_fn(|lane| to.0[lane] + parts[0][lane] + parts[1][lane]));
            }
        }
    }
}

/// The three columns of a sum of products of residues in two pieces, of 52 bits and of 9. No addition waits
/// for the one before.
#[derive(Clone, Copy)]
struct Products {
    low: __m512i,
    middle: [__m512i; 3],
    high: [__m512i; 3],
}

impl Products {
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq,avx512ifma,avx512vbmi2")]
    fn none() -> Self {
        let zero = _mm512_setzero_si512();
        Self { low: zero, middle: [zero; 3], high: [zero; 3] }
    }

    /// Adds the products of eight residues with eight others, whose upper pieces are given beside them.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq,avx512ifma,avx512vbmi2")]
    fn add(&mut self, (a, a_high): (__m512i, __m512i), (b, b_high): (__m512i, __m512i)) {
        // The instructions read the lowest 52 bits only.
        self.low = _mm512_madd52lo_epu64(self.low, a, b);
        self.middle[0] = _mm512_madd52hi_epu64(self.middle[0], a, b);
        self.middle[1] = _mm512_madd52lo_epu64(self.middle[1], a, b_high);
        self.middle[2] = _mm512_madd52lo_epu64(self.middle[2], a_high, b);
        self.high[0] = _mm512_madd52hi_epu64(self.high[0], a, b_high);
        self.high[1] = _mm512_madd52hi_epu64(self.high[1], a_high, b);
        self.high[2] = _mm512_madd52lo_epu64(self.high[2], a_high, b_high);
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512dq,avx512ifma,avx512vbmi2")]
    fn columns(self) -> [Eight; 3] {
        let sum = |[a, b, c]: [__m512i; 3]| store(_mm512_add_epi64(a, _mm512_add_epi64(b, c))).0;
        [store(self.low).0, sum(self.middle), sum(self.high)]
    }
}

#[target_feature(enable = "avx512f,avx512dq,avx512ifma,avx512vbmi2")]
fn products_of_residues(a: &[Eight], b: &[Eight]) -> [u64; 3] {
    debug_assert!(8 * a.len() <= RESIDUES && a.len() == b.len());
    let mut sum = Products::none();
    for (a, b) in a.iter().zip(b) {
        let (a, b) = (load(a), load(b));
        sum.add((a, _mm512_srli_epi64::<52>(a)), (b, _mm512_srli_epi64::<52>(b)));
    }
    sum.columns().map(|lanes| lanes.into_iter().sum())
}

#[target_feature(enable = "avx512f,avx512dq,avx512ifma,avx512vbmi2")]
fn combination_of_residues(rows: &Terms<'_>, first: usize, to: &mut [[Eight; 3]]) {
    debug_assert!(rows.len() <= RESIDUES);
    for (block, to) in (first..).zip(to) {
        let mut sum = Products::none();
        for (factor, row) in rows {
            let (factor, x) = (_mm512_set1_epi64(*factor as i64), load(&row[block]));
            sum.add((factor, _mm512_srli_epi64::<52>(factor)), (x, _mm512_srli_epi64::<52>(x)));
        }
        *to = sum.columns();
    }
}

#[target_feature(enable = "avx512f,avx512dq,avx512ifma,avx512vbmi2")]
fn matrix_times_residues(matrix: Modular<'_>, first: usize, x: &[Eight], to: &mut [[Eight; 3]]) {
    let Modular { rows, inverses, own } = matrix;
    let factor = |x: u64| (_mm512_set1_epi64(x as i64), _mm512_set1_epi64((x >> 52) as i64));
    for (u, to) in (first..).zip(to) {
        let mut sum = Products::none();
        let x_own = load(&x[u]);
        sum.add((x_own, _mm512_srli_epi64::<52>(x_own)), factor(own[u]));
        for group in &rows.groups[rows.starts[u]..rows.starts[u + 1]] {
            let inside = group.of(rows.neighbors);
            let mut high = _mm512_setzero_si512();
            let mut low = high;
            for part in inside.chunks(FULL) {
                // Numbers of 52 bits, and what of them is above: fewer than 2^43, so that the product of the
                // upper parts stays below 2^52.
                for &v in part {
                    let x = load(&x[v as usize]);
                    low = _mm512_add_epi64(low, _mm512_and_si512(x, _mm512_set1_epi64(PIECE as i64)));
                    high = _mm512_add_epi64(high, _mm512_srli_epi64::<52>(x));
                }
                high = _mm512_add_epi64(high, _mm512_srli_epi64::<52>(low));
                low = _mm512_and_si512(low, _mm512_set1_epi64(PIECE as i64));
            }
            sum.add((low, high), factor(inverses[group.divisor as usize]));
        }
        *to = sum.columns();
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512ifma,avx512vbmi2")]
fn load(row: &Eight) -> __m512i {
    let [a, b, c, d, e, f, g, h] = row.map(|x| x as i64);
    _mm512_set_epi64(h, g, f, e, d, c, b, a)
}

#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512ifma,avx512vbmi2")]
fn store(lanes: __m512i) -> Row {
    let pairs = [
        _mm512_extracti64x2_epi64::<0>(lanes),
        _mm512_extracti64x2_epi64::<1>(lanes),
        _mm512_extracti64x2_epi64::<2>(lanes),
        _mm512_extracti64x2_epi64::<3>(lanes),
    ];
    let [a, c, e, g] = pairs.map(|pair| _mm_cvtsi128_si64(pair) as u64);
    let [b, d, f, h] = pairs.map(|pair| _mm_extract_epi64::<1>(pair) as u64);
    Row([a, b, c, d, e, f, g, h])
}

/// The lowest 52 bits.
const PIECE: u64 = (1 << 52) - 1;
/// Limbs that are added at a time: 13 limbs of 64 bits are 16 pieces of 52.
const TILE: usize = 13;
/// Numbers below `2^52` whose sum is below `2^64`.
const FULL: usize = 1 << 12;
