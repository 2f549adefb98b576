//! Writes what was seen as exact rows for the certified engine. The columns are the unknown noises with their
//! variances, then the uses of nodes outside the coalition, then the directions of these uses that are asked
//! for.

use crate::build::Program;
use crate::enclose::product_of_three;
use crate::observers::Seen;
use crate::registers::{Form, Primitive, column};
use crate::weight::float;
use ndp_account::Error;
use ndp_certify::divisor::least_common_multiple;
use ndp_certify::rows::{Input, Layout, Rows};
use ndp_certify::whole::WholeRows;
use num_bigint::{BigInt, BigUint};
use num_rational::BigRational;
use num_traits::{One, Signed, ToPrimitive, Zero};
use std::borrow::{Borrow, Cow};
use std::collections::BTreeMap;

/// A direction of the uses of a node: a weight for each of its uses.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Direction {
    pub(super) node: usize,
    pub(super) weights: Vec<BigRational>,
}

/// The places of the columns of the inputs.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Columns {
    /// The index among the inputs of every contribution that occurs in a row.
    pub(super) of_use: BTreeMap<usize, usize>,
    /// The index among the inputs of every direction that was asked for; `None` if its column is 0 in all
    /// rows.
    pub(super) of_direction: Vec<Option<usize>>,
    /// For every contribution in `of_use`: a noise whose column is a multiple of it, and the upper bound on
    /// its loss that follows.
    pub(super) structural: BTreeMap<usize, (usize, f64)>,
}

/// The coefficients of a row, as integers.
type IntegerRow<'a> = Vec<(Primitive, Cow<'a, BigInt>)>;

/// For every noise or contribution, places with a number for each.
type ByPrimitive<P, X> = BTreeMap<usize, Vec<(P, X)>>;

/// The rows of what was seen, for the engine.
///
/// # Errors
/// [`ProgramError::TooManyValues`] for more columns than an index of 32 bits can name.
pub(super) fn rows(
    program: &Program,
    seen: &Seen,
    directions: &[Direction],
    asked: &[bool],
) -> Result<(Rows, Columns), Error> {
    let mut contributions = seen.contributions();
    contributions.retain(|&k| asked[program.contributions[k].node]);
    let of_use: BTreeMap<usize, usize> = contributions.iter().enumerate().map(|(k, &c)| (c, k)).collect();
    let structural = structural(program, seen, asked);
    let (noises, variances) = noise_columns(program, seen)?;
    let m = noises.values().map(Vec::len).sum::<usize>();
    let mut by_node: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (k, contribution) in program.contributions.iter().enumerate() {
        by_node.entry(contribution.node).or_default().push(k);
    }
    let along = weights_by_use(directions, &by_node);
    // A common denominator of all factors and weights. Rows are multiplied by it, and by their own
    // denominators.
    let factors = noises.values().flatten().map(|(_, factor)| factor);
    let weights = along.values().flatten().map(|(_, weight)| *weight);
    let common =
        factors.chain(weights).fold(BigInt::one(), |common, x| least_common_multiple(common, x.denom()));
    let noises = multiples_of_unit(noises, &common);
    let along = multiples_of_unit(along, &common);
    let whole: Vec<IntegerRow<'_>> = seen.rows.iter().map(|row| whole(&row.form)).collect();
    let sums: Vec<BTreeMap<usize, BigInt>> = whole.iter().map(|row| along_directions(row, &along)).collect();
    let mut of_direction = vec![None; directions.len()];
    let mut inputs = of_use.len();
    for (d, place) in of_direction.iter_mut().enumerate() {
        if sums.iter().any(|sums| sums.contains_key(&d)) {
            *place = Some(inputs);
            inputs += 1;
        }
    }
    column(m + inputs)?;
    let entries = whole
        .into_iter()
        .zip(sums)
        .map(|(row, sums)| {
            let mut entries: Vec<(u32, BigInt)> = Vec::new();
            for (primitive, x) in row {
                match primitive {
                    Primitive::Noise(k) => {
                        entries
                            .extend(noises[&k].iter().map(|(column, factor)| (*column, product(&x, factor))));
                    }
                    Primitive::Contribution(k) => {
                        if let Some(&at) = of_use.get(&k) {
                            entries.push((column(m + at)?, product(&x, &common)));
                        }
                    }
                }
            }
            for (d, x) in sums {
                if let Some(at) = of_direction[d] {
                    entries.push((column(m + at)?, x));
                }
            }
            entries.sort_unstable_by_key(|(column, _)| *column);
            Ok(entries)
        })
        .collect::<Result<_, Error>>()?;
    let mut bounds: Vec<Option<f64>> = vec![None; inputs];
    for (contribution, &at) in &of_use {
        bounds[at] = structural.get(contribution).map(|(_, bound)| *bound);
    }
    for (d, at) in of_direction.iter().enumerate() {
        if let (Some(at), Some(uses)) = (at, by_node.get(&directions[d].node)) {
            let seen = uses.iter().zip(&directions[d].weights).filter(|(k, _)| of_use.contains_key(k));
            bounds[*at] = bound_along(seen, &structural);
        }
    }
    let input = |(k, structural)| Input { node: k, coordinate: m + k, factor: 1.0, scale: 0, structural };
    let layout = Layout {
        nodes: inputs,
        coordinates: m + inputs,
        noises: m,
        variances,
        inputs: bounds.into_iter().enumerate().map(input).collect(),
        members: Vec::new(),
        known: 0,
        adds_up: false,
    };
    Ok((Rows::Whole(WholeRows::of_integers(layout, entries)), Columns { of_use, of_direction, structural }))
}

/// The columns of every noise that occurs in a row, each with the factor of the noise in it, and the
/// variances of all columns; no variances if all of them are 1. A variance that is not a product of 53 bits
/// and a power of two is a sum of several such numbers, so that the noise has several columns.
fn noise_columns(program: &Program, seen: &Seen) -> Result<(ByPrimitive<u32, BigRational>, Vec<f64>), Error> {
    let mut noises: ByPrimitive<u32, BigRational> = BTreeMap::new();
    for (primitive, _) in seen.rows.iter().flat_map(|row| &row.form) {
        if let Primitive::Noise(k) = primitive {
            noises.entry(*k).or_default();
        }
    }
    let mut variances: Vec<f64> = Vec::new();
    for (k, columns) in &mut noises {
        for (factor, variance) in scaled(&program.noises[*k].variance) {
            columns.push((column(variances.len())?, factor));
            variances.push(variance);
        }
    }
    if variances.iter().all(|&v| v == 1.0) {
        variances.clear();
    }
    Ok((noises, variances))
}

/// For every contribution, the directions in which it has a weight, with this weight. `by_node` lists the
/// contributions of each node.
fn weights_by_use<'a>(
    directions: &'a [Direction],
    by_node: &BTreeMap<usize, Vec<usize>>,
) -> ByPrimitive<usize, &'a BigRational> {
    let mut along: ByPrimitive<usize, &BigRational> = BTreeMap::new();
    for (d, direction) in directions.iter().enumerate() {
        let uses = by_node.get(&direction.node).map_or(&[][..], Vec::as_slice);
        for (&k, weight) in uses.iter().zip(&direction.weights).filter(|(_, weight)| !weight.is_zero()) {
            along.entry(k).or_default().push((d, weight));
        }
    }
    along
}

/// The same numbers as multiples of `1 / common`; `common` is a multiple of all their denominators.
fn multiples_of_unit<P, X: Borrow<BigRational>>(
    numbers: ByPrimitive<P, X>,
    common: &BigInt,
) -> ByPrimitive<P, BigInt> {
    let multiple = |(place, x): (P, X)| (place, x.borrow().numer() * (common / x.borrow().denom()));
    numbers.into_iter().map(|(k, list)| (k, list.into_iter().map(multiple).collect())).collect()
}

/// The coefficients of a row along the directions in which it has one. `along` has for every contribution its
/// weights in the directions.
fn along_directions(row: &IntegerRow<'_>, along: &ByPrimitive<usize, BigInt>) -> BTreeMap<usize, BigInt> {
    let mut sums: BTreeMap<usize, BigInt> = BTreeMap::new();
    for (primitive, x) in row {
        let Primitive::Contribution(k) = primitive else { continue };
        for (d, weight) in along.get(k).into_iter().flatten() {
            *sums.entry(*d).or_default() += &**x * weight;
        }
    }
    sums.retain(|_, x| !x.is_zero());
    sums
}

/// The upper bound on the loss along a direction that follows from bounds on the losses of single uses.
/// `uses` are those that are seen, with their weights. `None` if one of them has no such bound, or two have
/// it by the same noise.
fn bound_along<'a>(
    uses: impl Iterator<Item = (&'a usize, &'a BigRational)>,
    structural: &BTreeMap<usize, (usize, f64)>,
) -> Option<f64> {
    let mut used = Vec::new();
    let mut sum = 0.0;
    for (k, weight) in uses.filter(|(_, weight)| !weight.is_zero()) {
        let (noise, bound) = structural.get(k)?;
        used.push(*noise);
        let weight = float(weight);
        // A product that underflows counts as the least normal number.
        sum += product_of_three(*bound, weight, weight) * UP + f64::MIN_POSITIVE;
    }
    used.sort_unstable();
    // Two uses with the same noise have no such bound together.
    used.windows(2).all(|pair| pair[0] != pair[1]).then_some(sum * UP)
}

/// Bounds that need no numerical computation: if the column of a use is `λ` times that of an unknown noise of
/// variance `v`, its loss is at most `λ² / v`, rounded up. For every such contribution, the noise and the
/// bound.
fn structural(program: &Program, seen: &Seen, asked: &[bool]) -> BTreeMap<usize, (usize, f64)> {
    let mut columns: BTreeMap<Primitive, Vec<(usize, &BigRational)>> = BTreeMap::new();
    for (r, row) in seen.rows.iter().enumerate() {
        for (primitive, x) in &row.form {
            columns.entry(*primitive).or_default().push((r, x));
        }
    }
    // Noises by the rows in which they occur. Only columns with the same first and last row are compared.
    let ends = |column: &[(usize, &BigRational)]| {
        (column.len(), column.first().map(|x| x.0), column.last().map(|x| x.0))
    };
    let mut candidates: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    for (primitive, column) in &columns {
        if let Primitive::Noise(k) = primitive {
            candidates.entry(ends(column)).or_default().push(*k);
        }
    }
    let mut found = BTreeMap::new();
    for (primitive, column) in &columns {
        let Primitive::Contribution(k) = primitive else { continue };
        if !asked[program.contributions[*k].node] {
            continue;
        }
        let mut best: Option<(usize, BigRational)> = None;
        for &noise in candidates.get(&ends(column)).into_iter().flatten() {
            let other = &columns[&Primitive::Noise(noise)];
            let same = column
                .iter()
                .zip(other)
                .all(|(a, b)| a.0 == b.0 && is_equal_product((a.1, other[0].1), (b.1, column[0].1)));
            if same {
                let factor = column[0].1 / other[0].1;
                let bound = &factor * &factor / &program.noises[noise].variance;
                if best.as_ref().is_none_or(|(_, known)| bound < *known) {
                    best = Some((noise, bound));
                }
            }
        }
        if let Some((noise, bound)) = best {
            found.insert(*k, (noise, above(&bound)));
        }
    }
    found
}

/// Coefficients times the least number for which all of them are integers.
fn whole(form: &Form) -> IntegerRow<'_> {
    let common = form.iter().fold(BigInt::one(), |common, (_, x)| least_common_multiple(common, x.denom()));
    let mut whole = Vec::with_capacity(form.len());
    for (primitive, x) in form {
        let is_common = *x.denom() == common;
        let times = || x.numer() * (&common / x.denom());
        whole.push((*primitive, if is_common { Cow::Borrowed(x.numer()) } else { Cow::Owned(times()) }));
    }
    whole
}

/// Whether `a · b = c · d`, without the greatest common divisors that products of fractions need.
fn is_equal_product(ab: (&BigRational, &BigRational), cd: (&BigRational, &BigRational)) -> bool {
    // Coefficients of one row have one denominator.
    if ab.0.denom() == cd.0.denom() && ab.1.denom() == cd.1.denom() {
        return ab.0.numer() * ab.1.numer() == cd.0.numer() * cd.1.numer();
    }
    let cross = |(a, b): (&BigRational, &BigRational), (c, d): (&BigRational, &BigRational)| {
        (a.numer() * c.denom()) * (b.numer() * d.denom())
    };
    cross(ab, cd) == cross(cd, ab)
}

/// `a · b`, without any work if `b` is 1.
fn product(a: &BigInt, b: &BigInt) -> BigInt {
    if b.is_one() { a.clone() } else { a * b }
}

/// An `f64` that is at least the nonnegative number `x`, and equal to it if `x` is an `f64`.
pub(super) fn above(x: &BigRational) -> f64 {
    let near = float(x);
    match BigRational::from_float(near) {
        Some(exact) if exact >= *x => near,
        _ => near.next_up(),
    }
}

/// An `f64` that is at most the nonnegative number `x`.
pub(super) fn below(x: &BigRational) -> f64 {
    let near = float(x);
    match BigRational::from_float(near) {
        Some(exact) if exact <= *x => near,
        Some(_) => near.next_down().max(0.0),
        None => f64::MAX,
    }
}

/// Columns that together have a given variance: factors, and variances in `(1/4, 1]` that are exact in `f64`.
fn scaled(variance: &BigRational) -> Vec<(BigRational, f64)> {
    let denominator = variance.denom().magnitude();
    let twos = denominator.trailing_zeros().unwrap_or(0);
    let dyadic = (denominator >> twos).is_one();
    let numerator = variance.numer().magnitude();
    let zeros = numerator.trailing_zeros().unwrap_or(0);
    // v = whole · 2^exponent · outside².
    let (whole, exponent, outside) = if dyadic {
        (numerator >> zeros, zeros.cast_signed() - twos.cast_signed(), BigRational::one())
    } else {
        let whole = numerator * denominator;
        (whole, 0, BigRational::new(BigInt::one(), variance.denom().abs()))
    };
    let mut columns = Vec::new();
    let mask = (BigUint::one() << 53u32) - BigUint::one();
    let (mut rest, mut shift) = (whole, exponent);
    while !rest.is_zero() {
        let part = &rest & &mask;
        if let Some(mantissa) = part.to_u64().filter(|&x| x > 0) {
            // part · 2^shift = variance' · 4^s with variance' in (1/4, 1].
            let digits = 64 - i64::from(mantissa.leading_zeros());
            let power_of_two = i64::from(mantissa.is_power_of_two());
            let top = digits + shift - power_of_two;
            let s = top.div_euclid(2) + top.rem_euclid(2);
            let variance = ndp_certify::magnitude::times_power(mantissa as f64, shift - 2 * s);
            columns.push((&outside * power(s), variance));
        }
        rest >>= 53u32;
        shift += 53;
    }
    columns
}

fn power(s: i64) -> BigRational {
    let size = BigInt::one() << s.unsigned_abs();
    if s >= 0 { BigRational::from_integer(size) } else { BigRational::new(BigInt::one(), size) }
}

/// Covers the roundings of a few operations on nonnegative numbers.
const UP: f64 = 1.0 + 16.0 * f64::EPSILON;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Reads;
    use ndp_account::Observer;
    use ndp_numeric::stop::Stop;

    /// Floats on the right side of fractions that are not floats; and fractions that are floats stay the
    /// same.
    #[test]
    fn fractions_lie_between_their_floats() {
        for (a, b) in (1..40_i64).flat_map(|a| (1..40_i64).map(move |b| (a, b))) {
            let x = BigRational::new(a.into(), b.into());
            let [low, high] = [below(&x), above(&x)];
            let exact = |x: f64| BigRational::from_float(x).expect("finite");
            assert!(exact(low) <= x && x <= exact(high) && high <= low.next_up(), "{a}/{b}: {low} {high}");
            assert_eq!(low == high, exact(low) == x, "{a}/{b}");
        }
    }

    /// Two uses with the same noise, and one with another noise. The structural bound along a direction is
    /// the sum of those of single uses, unless two of them have the same noise.
    #[test]
    fn uses_behind_one_noise_have_no_bound_together() -> Result<(), Error> {
        let mut program = Program::new(2)?;
        let mut contribute = || program.contribute(0, Reads::Nothing);
        let (a, b, c) = (contribute()?, contribute()?, contribute()?);
        let (near, far) = (program.noise([0], 1)?, program.noise([0], 2)?);
        let both = program.add(&[a, b, near])?;
        program.send(0, 1, both)?;
        let other = program.add(&[c, far])?;
        program.send(0, 1, other)?;
        let mut seen = Seen::new(&program, &Observer::node(1), &BTreeMap::new(), &Stop::never())?;
        seen.complete(&program, &Stop::never())?;
        let along = |weights: [i64; 3]| Direction {
            node: 0,
            weights: weights.map(|x| BigRational::from_integer(x.into())).to_vec(),
        };
        let directions = [along([1, 1, 1]), along([3, 0, 1]), along([0, 2, 0]), along([1, 0, 2])];
        let (rows, columns) = rows(&program, &seen, &directions, &[true; 2])?;
        let inputs = &rows.layout().inputs;
        let bound = |d: usize| inputs[columns.of_direction[d].expect("it is seen")].structural;
        assert_eq!(bound(0), None);
        for (d, expected) in [(1, 9.5), (2, 4.0), (3, 3.0)] {
            let found = bound(d).expect("a bound");
            assert!(expected <= found && found < expected * (1.0 + 1e-9), "{d}: {found}");
        }
        Ok(())
    }
}
