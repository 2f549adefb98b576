use super::*;
use crate::dyadic::Dyadic;
use num_bigint::BigInt;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Both sets of loops, where this machine has both.
fn all_kernels() -> Vec<(&'static str, Kernels)> {
    let mut kernels = vec![("plain", Kernels::plain())];
    #[cfg(target_arch = "x86_64")]
    kernels.extend(ifma::kernels().map(|kernels| ("ifma", kernels)));
    kernels
}

fn integer(limbs: &[u64]) -> BigInt {
    let bytes: Vec<u8> = limbs.iter().flat_map(|limb| limb.to_le_bytes()).collect();
    BigInt::from_signed_bytes_le(&bytes)
}

/// A number without its `drop` lowest limbs.
fn without<const L: usize>(x: &Fixed<L>, drop: usize) -> BigInt {
    integer(&x[drop..]) << (64 * drop)
}

/// `⌊x 2^by⌋` modulo `2^(64 L)`, in two's complement.
fn shifted<const L: usize>(x: &BigInt, by: i64) -> BigInt {
    let x = if by >= 0 { x << by.cast_unsigned() } else { x >> by.unsigned_abs() };
    wrapped::<L>(x)
}

fn wrapped<const L: usize>(x: BigInt) -> BigInt {
    let (half, all) = (BigInt::from(1) << (64 * L - 1), BigInt::from(1) << (64 * L));
    let rest = ((x + &half) % &all + &all) % &all;
    rest - half
}

/// Numbers of all sizes and signs, and now and then the largest, the least, -1 and 0.
fn draw<const L: usize>(rng: &mut ChaCha8Rng) -> Fixed<L> {
    let mut x = match rng.random_range(0..12) {
        0 => return extreme(rng),
        _ => std::array::from_fn(|_| rng.random()),
    };
    let sign = if rng.random() { u64::MAX } else { 0 };
    let size = rng.random_range(0..64 * L);
    for (j, limb) in x.iter_mut().enumerate() {
        let kept = size.saturating_sub(64 * j).min(64);
        let mask = if kept == 64 { u64::MAX } else { (1 << kept) - 1 };
        *limb = (*limb & mask) | (sign & !mask);
    }
    x
}

fn extreme<const L: usize>(rng: &mut ChaCha8Rng) -> Fixed<L> {
    let mut x = [if rng.random() { u64::MAX } else { 0 }; L];
    if rng.random() {
        x[L - 1] ^= BIAS;
    }
    x
}

fn vector<const L: usize>(length: usize, rng: &mut ChaCha8Rng) -> Vec<Fixed<L>> {
    (0..length).map(|_| draw(rng)).collect()
}

fn draw_factor(rng: &mut ChaCha8Rng) -> i64 {
    let most = FACTOR.cast_signed() - 1;
    match rng.random_range(0..8) {
        0 => most,
        1 => -most,
        _ => rng.random_range(-most..=most) >> rng.random_range(0..52),
    }
}

/// Calls a function with every number of limbs of the ladder, and a few between.
macro_rules! for_limbs {
    ($name:ident, $rng:expr, $($limbs:literal)*) => {
        $($name::<$limbs>($rng);)*
    };
}

#[test]
fn numbers_come_back() {
    fn check<const L: usize>(rng: &mut ChaCha8Rng) {
        for length in [0, 1, 7, 8, 9, 100] {
            let x = vector::<L>(length, rng);
            let packed = Packed::of(&x);
            assert_eq!((packed.limbs(), packed.len()), (L, length));
            assert_eq!(packed.unpacked(), x);
            assert_eq!(Packed::zeros(L, length).unpacked::<L>(), vec![[0; L]; length]);
            for (at, x) in x.iter().enumerate() {
                assert_eq!(packed.digits(at), fixed::digits(x));
                let mut unit = vec![[0; L]; length];
                unit[at] = fixed::of_dyadic(Dyadic::of(1.0), 0);
                assert_eq!(Packed::unit(L, length, at).unpacked(), unit);
            }
            for bits in [0, 1, 63, 64, 64 * L as u32 - 1] {
                let mut cut = packed.clone();
                cut.cut(bits);
                for (at, x) in x.iter().enumerate() {
                    assert_eq!(integer(&cut.get::<L>(at)), integer(x) >> bits << bits);
                }
            }
        }
    }
    for_limbs!(check, &mut ChaCha8Rng::seed_from_u64(1), 2 3 66);
}

/// Combinations are those of integers, rounded down once, whatever the loops: for every number of limbs that
/// one call of an inner loop takes and several calls, every number of dropped limbs, lengths that do not fill
/// blocks or strips, and shifts in both directions, beyond the number too.
#[test]
fn combinations_agree_with_integers() {
    fn check<const L: usize>(rng: &mut ChaCha8Rng) {
        let lengths = if L > 16 { vec![3] } else { vec![0, 1, 8, 13, 150] };
        for length in lengths {
            for drop in 0..L {
                let terms = rng.random_range(0..20);
                let vectors: Vec<Vec<Fixed<L>>> = (0..terms).map(|_| vector(length, rng)).collect();
                let factors: Vec<i64> = vectors.iter().map(|_| draw_factor(rng)).collect();
                let y = vector::<L>(length, rng);
                let packed: Vec<Packed> = vectors.iter().map(|x| Packed::of(x)).collect();
                let terms: Vec<(&Packed, i64)> = packed.iter().zip(factors.iter().copied()).collect();
                let by = rng.random_range(-70 * L as i64..100);
                for (name, kernels) in all_kernels() {
                    let mut found = Packed::of(&y);
                    kernels.subtract(&mut found, &terms, by, drop);
                    let first = packed.first().map(|x| kernels.scaled(x, factors[0], by));
                    for (at, y) in y.iter().enumerate() {
                        let products = vectors.iter().zip(&factors).map(|(x, m)| without(&x[at], drop) * m);
                        let sum: BigInt = products.sum();
                        let exact = wrapped::<L>(integer(y) - shifted::<L>(&sum, by));
                        assert_eq!(
                            integer(&found.get::<L>(at)),
                            exact,
                            "{name}, {L} limbs without {drop}, {by}"
                        );
                        if let Some(first) = &first {
                            let exact = shifted::<L>(&(integer(&vectors[0][at]) * factors[0]), by);
                            assert_eq!(integer(&first.get::<L>(at)), exact, "{name}, {L} limbs, {by}");
                        }
                    }
                    // What is beyond the last coordinate stays 0.
                    let zeros = |x: &Packed| (x.len()..8 * x.rows.len() / L).all(|at| x.get(at) == [0; L]);
                    assert!(zeros(&found) && first.is_none_or(|x| zeros(&x)));
                }
            }
        }
    }
    for_limbs!(check, &mut ChaCha8Rng::seed_from_u64(2), 2 3 4 5 6 7 8 9 10 11 12 13 14 16 32 66);
}

/// The most terms with the largest factors and the numbers of the largest size, of one sign and of both: no
/// column overflows.
#[test]
fn the_largest_sums_fit() {
    fn check<const L: usize>(_: &mut ChaCha8Rng) {
        let most = FACTOR.cast_signed() - 1;
        let least: Fixed<L> = std::array::from_fn(|j| if j + 1 == L { BIAS } else { 0 });
        let largest = least.map(|limb| !limb);
        for x in [least, largest, [u64::MAX; L], [0; L]] {
            let packed = Packed::of(&[x; 9]);
            for negative in [0, 1, TERMS / 2, TERMS - 1, TERMS] {
                let factor = |k| if k < negative { -most } else { most };
                let terms: Vec<(&Packed, i64)> = (0..TERMS).map(|k| (&packed, factor(k))).collect();
                let sum = integer(&x) * (TERMS as i64 - 2 * negative as i64) * most;
                for by in [0, -61, -64, -100] {
                    let exact = wrapped::<L>(-shifted::<L>(&sum, by));
                    for (name, kernels) in all_kernels() {
                        let mut found = Packed::zeros(L, 9);
                        kernels.subtract(&mut found, &terms, by, 0);
                        for at in 0..9 {
                            assert_eq!(integer(&found.get::<L>(at)), exact, "{name}, {L} limbs, {negative}");
                        }
                    }
                }
            }
        }
    }
    for_limbs!(check, &mut ChaCha8Rng::seed_from_u64(3), 2 3 8 13 14 66);
}

/// What [`Kernels::product`] promises, in units `2^-2p`: all products of pieces from `first` on of what was
/// stored, and exactly what storing adds to them.
fn product_of_pieces<const L: usize>(x: &[Fixed<L>], y: &[Fixed<L>], drop: usize) -> BigInt {
    let shape = Shape::new(L, drop);
    let bias = BigInt::from(1) << (64 * shape.used() - 1);
    let stored = |x: &Fixed<L>| integer(&x[drop..]) + &bias;
    let piece = |x: &BigInt, a: usize| (x >> (52 * a)) % (BigInt::from(1) << 52);
    let mut sum = BigInt::ZERO;
    for (x, y) in x.iter().zip(y) {
        let (x, y) = (stored(x), stored(y));
        for a in 0..shape.pieces() {
            for b in shape.first.saturating_sub(a)..shape.pieces() {
                sum += (piece(&x, a) * piece(&y, b)) << (52 * (a + b));
            }
        }
        sum -= &bias * (x + y);
        sum += &bias * &bias;
    }
    sum << (128 * drop)
}

/// Both sets of loops find the same product to the last bit, that of its pieces, which is below the exact one
/// of what remains of the numbers by what was left out: less than `first` pairs with `a + b < first` in each
/// diagonal.
#[test]
fn products_agree_with_integers() {
    fn check<const L: usize>(rng: &mut ChaCha8Rng) {
        for length in [0, 1, 7, 8, 100, 300] {
            if L > 16 && length > 100 {
                continue;
            }
            let (x, y) = (vector::<L>(length, rng), vector::<L>(length, rng));
            check_product(&x, &y);
            let all: [Fixed<L>; 2] = [extreme(rng), extreme(rng)];
            check_product(&vec![all[0]; length], &vec![all[1]; length]);
        }
    }
    for_limbs!(check, &mut ChaCha8Rng::seed_from_u64(4), 2 3 4 5 6 7 8 9 12 16 66);
}

fn check_product<const L: usize>(x: &[Fixed<L>], y: &[Fixed<L>]) {
    let (left, right) = (Packed::of(x), Packed::of(y));
    for drop in 0..L {
        let shape = Shape::new(L, drop);
        let expected = product_of_pieces(x, y, drop);
        let exact: BigInt = x.iter().zip(y).map(|(x, y)| without(x, drop) * without(y, drop)).sum();
        let missing = exact - &expected;
        let first = shape.first;
        let bound = BigInt::from((x.len() + 1) * (first + 1)) << (52 * (first + 1) + 128 * drop);
        assert!(BigInt::ZERO <= missing && missing <= bound, "{missing} of {bound}");
        for (name, kernels) in all_kernels() {
            let found = kernels.product(&left, &right, drop);
            let shift = found.bottom() + 2 * places(L);
            let found = found.integer() << shift.cast_unsigned();
            assert_eq!(found, expected, "{name}, {L} limbs without {drop}, {} coordinates", x.len());
        }
    }
}

/// A column of the longest stretch between two readings holds the sums of the largest pieces.
#[test]
fn the_largest_products_fit() {
    fn check<const L: usize>(_: &mut ChaCha8Rng) {
        // Stored, all bits are set.
        let largest: Fixed<L> = std::array::from_fn(|j| if j + 1 == L { !BIAS } else { u64::MAX });
        let all = vec![largest; 1 << 14];
        check_product(&all, &all);
    }
    for_limbs!(check, &mut ChaCha8Rng::seed_from_u64(5), 2 9);
}

/// Conversion to floats and the place it reports are those of the numbers one by one.
#[test]
fn conversions_agree_with_those_of_single_numbers() {
    fn check<const L: usize>(rng: &mut ChaCha8Rng) {
        for length in [1, 8, 21, 3000] {
            let down = rng.random_range(1..64 * L as i64);
            let numbers: Vec<Fixed<L>> =
                vector::<L>(length, rng).iter().map(|x| fixed::times_power(x, 1, -down)).collect();
            let packed = Packed::of(&numbers);
            for used in [0, length / 2, length] {
                let most = numbers[..used].iter().map(|x| fixed::digits(x)).max().unwrap_or(0);
                for (name, kernels) in all_kernels() {
                    let mut found = vec![0.0; used];
                    let top = kernels.convert(&packed, &mut found);
                    assert_eq!(top, (most > 0).then_some(most + 1), "{name}");
                    let expected = numbers[..used].iter().map(|x| fixed::rounded(x, most + 1));
                    assert!(found.into_iter().eq(expected), "{name}, {L} limbs, {down} down");
                }
            }
        }
    }
    for_limbs!(check, &mut ChaCha8Rng::seed_from_u64(6), 2 3 8 66);
}
