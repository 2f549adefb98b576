//! What shifts of noises cost, what an attack tells, and whether a diagonal covers the costs.

use crate::observer::Observer;
use crate::program::{Definition, Program, Short};
use crate::rational::{common_multiple, is_zero, shown, times, zero};
use crate::semidefinite::is_semidefinite;
use crate::{Rejected, need, rejected};
use num_bigint::{BigInt, Sign};
use num_rational::BigRational;
use std::collections::{BTreeMap, BTreeSet};

/// Weights of values.
type Terms = [(usize, BigRational)];

/// Moves of multiples of values; kept from shift to shift, so that a short one costs no look at every value.
#[derive(Clone, Debug, Default)]
pub(crate) struct Moves {
    of: Vec<Option<BigInt>>,
    touched: Vec<usize>,
    /// Moves of values in machine numbers, and 0 between shifts.
    short: Vec<i128>,
}

impl Moves {
    /// No value moves.
    fn clear(&mut self, values: usize) {
        for value in self.touched.drain(..) {
            self.of[value] = None;
        }
        self.of.resize(values, None);
    }

    fn set(&mut self, value: usize, by: BigInt) {
        self.touched.push(value);
        self.of[value] = Some(by);
    }
}

/// Shifts `X` of noises that the observer cannot tell from changes of the uses of a node, and their costs
/// `P = X' V^-1 X` for variances `V`.
#[derive(Clone, Debug)]
pub(crate) struct Shifts {
    moves: Rows,
    /// Columns up to which noises have the same variance, and `1/V` of these in multiples.
    prices: Vec<(usize, BigInt)>,
    /// The denominator of all costs.
    below: BigInt,
}

/// How far noises move in multiples: a row for each shift, a column for each noise.
#[derive(Clone, Debug)]
enum Rows {
    /// Machine numbers.
    Short(Vec<Vec<i64>>),
    Long(Vec<Vec<BigInt>>),
}

impl Rows {
    fn new(rows: Vec<Vec<BigInt>>) -> Self {
        if rows.iter().flatten().any(|x| i64::try_from(x).is_err()) {
            return Self::Long(rows);
        }
        let short = |row: &Vec<BigInt>| row.iter().map(|x| i64::try_from(x).unwrap_or_default()).collect();
        Self::Short(rows.iter().map(short).collect())
    }

    /// The product of two rows, over some columns.
    fn product(&self, (i, j): (usize, usize), columns: std::ops::Range<usize>) -> BigInt {
        match self {
            Self::Short(rows) => {
                let pairs = rows[i][columns.clone()].iter().zip(&rows[j][columns]);
                // The low and the high halves of products by themselves, of which there is room for 2^63.
                let (mut low, mut high) = (0_u128, 0_i128);
                for (x, y) in pairs {
                    let product = i128::from(*x) * i128::from(*y);
                    low += u128::from(product as u64);
                    high += product >> 64;
                }
                (BigInt::from(high) << 64) + low
            }
            Self::Long(rows) => {
                let pairs = rows[i][columns.clone()].iter().zip(&rows[j][columns]);
                let both = |(x, y): &(&BigInt, &BigInt)| x.sign() != Sign::NoSign && y.sign() != Sign::NoSign;
                pairs.filter(both).map(|(x, y)| x * y).sum()
            }
        }
    }
}

impl Shifts {
    /// The costs of a shift for each change.
    ///
    /// # Errors
    /// [`Rejected`] where a value that is seen moves when the uses move by a change and the noises by minus its
    /// shift, or where what is shifted is no noise of positive variance.
    pub(crate) fn new(
        program: &Program,
        observer: &Observer,
        (source, changes): (usize, &[Vec<BigRational>]),
        shifts: &[Vec<(usize, BigRational)>],
        moves: &mut Moves,
    ) -> Result<Self, Rejected> {
        // Everything in multiples of one number.
        let of_shifts = shifts.iter().flatten().map(|(_, by)| by.denom());
        let common = common_multiple(changes.iter().flatten().map(BigRational::denom).chain(of_shifts));
        let mut whole = Vec::with_capacity(shifts.len());
        for (change, shift) in changes.iter().zip(shifts) {
            let change: Vec<BigInt> = change.iter().map(|by| times(by, &common)).collect();
            let noises = noises(program, shift, &common)?;
            hide(program, observer, (source, &change), &noises, moves)?;
            whole.push(noises);
        }
        // Columns in order of variances, as fractions in lowest terms.
        let mut variances: BTreeMap<BigRational, Vec<usize>> = BTreeMap::new();
        for value in whole.iter().flat_map(BTreeMap::keys).copied().collect::<BTreeSet<usize>>() {
            if let Definition::Noise(variance) = &program.values[value] {
                variances.entry(shown(variance)).or_default().push(value);
            }
        }
        let tops = common_multiple(variances.keys().map(BigRational::numer));
        let (mut places, mut prices) = (BTreeMap::new(), Vec::new());
        for (variance, values) in &variances {
            places.extend(values.iter().copied().zip(places.len()..));
            prices.push((places.len(), variance.denom() * (&tops / variance.numer())));
        }
        let row = |shift: BTreeMap<usize, BigInt>| {
            let mut row = vec![BigInt::ZERO; places.len()];
            shift.into_iter().for_each(|(value, by)| row[places[&value]] = by);
            row
        };
        let moves = Rows::new(whole.into_iter().map(row).collect());
        Ok(Self { moves, prices, below: tops * &common * &common })
    }

    /// `P_ij` in multiples.
    fn cost(&self, i: usize, j: usize) -> BigInt {
        let starts = std::iter::once(0).chain(self.prices.iter().map(|(end, _)| *end));
        starts
            .zip(&self.prices)
            .map(|(start, (end, price))| price * self.moves.product((i, j), start..*end))
            .sum()
    }

    /// `P` in multiples.
    fn costs(&self) -> Vec<Vec<BigInt>> {
        let mut costs: Vec<Vec<BigInt>> =
            (0..self.len()).map(|i| (0..=i).map(|j| self.cost(i, j)).collect()).collect();
        // The other half is the same.
        for i in 0..costs.len() {
            let above: Vec<BigInt> = costs[i + 1..].iter().map(|row| row[i].clone()).collect();
            costs[i].extend(above);
        }
        costs
    }

    /// How many shifts there are.
    pub(crate) fn len(&self) -> usize {
        match &self.moves {
            Rows::Short(rows) => rows.len(),
            Rows::Long(rows) => rows.len(),
        }
    }

    /// `max P_ii`.
    pub(crate) fn largest(&self) -> BigRational {
        let all = (0..self.len()).map(|i| self.cost(i, i));
        BigRational::new_raw(all.max().unwrap_or_default(), self.below.clone())
    }

    /// `Σ |P_ij|`.
    pub(crate) fn sum_of_sizes(&self) -> BigRational {
        let size = |x: BigInt| if x.sign() == Sign::Minus { -x } else { x };
        let sizes = self.costs().into_iter().flatten().map(size);
        BigRational::new_raw(sizes.sum(), self.below.clone())
    }

    /// Whether `D - P` is positive semidefinite, for a diagonal `D`.
    pub(crate) fn are_covered_by(&self, diagonal: &[BigRational]) -> bool {
        let common = common_multiple(diagonal.iter().map(BigRational::denom).chain([&self.below]));
        let factor = &common / &self.below;
        let mut rows: Vec<Vec<BigInt>> =
            self.costs().iter().map(|row| row.iter().map(|x| -(x * &factor)).collect()).collect();
        for (i, x) in diagonal.iter().enumerate() {
            rows[i][i] += times(x, &common);
        }
        is_semidefinite(rows, &common)
    }
}

/// The noises that a shift moves, in multiples of one over `common`.
fn noises(program: &Program, shift: &Terms, common: &BigInt) -> Result<BTreeMap<usize, BigInt>, Rejected> {
    let mut found = BTreeMap::new();
    for (value, by) in shift {
        let Definition::Noise(variance) = &program.values[*value] else {
            return rejected("what is shifted is no noise");
        };
        if !is_zero(by) {
            need(!is_zero(variance), || "a noise of variance 0 is shifted".into())?;
            found.insert(*value, times(by, common));
        }
    }
    Ok(found)
}

/// The first use or noise that moves.
fn first_moved(
    program: &Program,
    (source, change): (usize, &[BigInt]),
    noises: &BTreeMap<usize, BigInt>,
) -> Option<usize> {
    let changed = program.uses[source].iter().zip(change).filter(|(_, by)| **by != BigInt::ZERO);
    changed.map(|(&value, _)| value).chain(noises.keys().copied()).min()
}

const SEEN_MOVES: &str = "the observer sees a value that moves: the shift does not hide the change";

/// The walk of [`hide`] in machine numbers: whether all that is seen stays where it is. None where that takes
/// moves that are no whole multiples, or too long.
fn hides(
    program: &Program,
    observer: &Observer,
    (source, change): (usize, &[BigInt]),
    noises: &BTreeMap<usize, BigInt>,
    moves: &mut [i128],
    touched: &mut Vec<usize>,
) -> Option<bool> {
    let Some(first) = first_moved(program, (source, change), noises) else { return Some(true) };
    let mut shifted = noises.iter().peekable();
    for (value, definition) in program.values.iter().enumerate().skip(first) {
        let by = match definition {
            Definition::Use { node, number } if *node == source => short(&change[*number]),
            Definition::Use { .. } => continue,
            Definition::Noise(_) => match shifted.next_if(|(noise, _)| **noise == value) {
                Some((_, by)) => short(by).map(|by| -by),
                None => continue,
            },
            Definition::Sum(_) => program.short[value].as_ref().and_then(|sum| sum.moved(moves)),
        };
        if by == Some(0) {
            continue;
        }
        if observer.seen[value] {
            // What is not known may be 0.
            return by.map(|_| false);
        }
        touched.push(value);
        moves[value] = by.unwrap_or(UNKNOWN);
    }
    Some(true)
}

/// Stands for a move that is not known: most are of values that the observer never hears of.
const UNKNOWN: i128 = i128::MIN;

fn short(x: &BigInt) -> Option<i128> {
    i128::try_from(x).ok().filter(|x| *x != UNKNOWN)
}

impl Short {
    /// How far the sum moves, if all its terms are known and it moves by a whole multiple.
    fn moved(&self, moves: &[i128]) -> Option<i128> {
        let mut total = 0_i128;
        for &(term, weight) in &self.terms {
            match moves[term] {
                0 => {}
                UNKNOWN => return None,
                by => total = total.checked_add(by.checked_mul(weight.into())?)?,
            }
        }
        // Most fit into 64 bits, whose division is quicker.
        let (rest, by) = match i64::try_from(total) {
            Ok(total) => ((total % self.below).into(), (total / self.below).into()),
            Err(_) => (total % i128::from(self.below), total / i128::from(self.below)),
        };
        (rest == 0 && by != UNKNOWN).then_some(by)
    }
}

/// Follows the moves through the program: no value that is seen may move.
fn hide(
    program: &Program,
    observer: &Observer,
    (source, change): (usize, &[BigInt]),
    noises: &BTreeMap<usize, BigInt>,
    moves: &mut Moves,
) -> Result<(), Rejected> {
    moves.short.resize(program.values.len(), 0);
    let mut touched = Vec::new();
    let short = hides(program, observer, (source, change), noises, &mut moves.short, &mut touched);
    touched.into_iter().for_each(|value| moves.short[value] = 0);
    match short {
        Some(hidden) => need(hidden, || SEEN_MOVES.into()),
        None => hide_long(program, observer, (source, change), noises, moves),
    }
}

/// The same in numbers of any length.
fn hide_long(
    program: &Program,
    observer: &Observer,
    (source, change): (usize, &[BigInt]),
    noises: &BTreeMap<usize, BigInt>,
    moves: &mut Moves,
) -> Result<(), Rejected> {
    moves.clear(program.values.len());
    let Some(first) = first_moved(program, (source, change), noises) else { return Ok(()) };
    for (value, definition) in program.values.iter().enumerate().skip(first) {
        let by = match definition {
            Definition::Use { node, number } if *node == source => change[*number].clone(),
            Definition::Use { .. } => continue,
            Definition::Noise(_) => match noises.get(&value) {
                Some(by) => -by,
                None => continue,
            },
            Definition::Sum(terms) => {
                terms.iter().filter_map(|(term, weight)| Some(weight * moves.of[*term].as_ref()?)).sum()
            }
        };
        if by != BigInt::ZERO {
            need(!observer.seen[value], || SEEN_MOVES.into())?;
            moves.set(value, by);
        }
    }
    Ok(())
}

/// `(y' B change)^2 / (y' R V R' y)`: what the weights `y` of seen values tell at least.
///
/// # Errors
/// [`Rejected`] where a value is not seen, or the change shows without noise.
pub(crate) fn told(
    program: &Program,
    observer: &Observer,
    (source, change): (usize, &[BigRational]),
    sums: &Terms,
) -> Result<BigRational, Rejected> {
    need(sums.iter().all(|(value, _)| observer.seen[*value]), || {
        "an attack uses a value that the observer does not see".into()
    })?;
    // A common factor of all weights cancels.
    let below = |(value, weight): &(usize, BigRational)| weight.denom() * &program.multiples[*value];
    let below: Vec<BigInt> = sums.iter().map(below).collect();
    let common = common_multiple(below.iter());
    let whole =
        sums.iter().zip(&below).map(|((value, weight), below)| (*value, weight.numer() * (&common / below)));
    let mut open: BTreeMap<usize, BigInt> = whole.collect();
    let (mut uses, mut noises) = (Vec::new(), Vec::new());
    while let Some((value, weight)) = open.pop_last() {
        if weight == BigInt::ZERO {
            continue;
        }
        match &program.values[value] {
            Definition::Sum(terms) => {
                for (term, share) in terms {
                    *open.entry(*term).or_default() += &weight * share;
                }
            }
            Definition::Use { node, number } if *node == source => uses.push((weight, &change[*number])),
            Definition::Noise(variance) if !observer.seen[value] => {
                noises.push((&weight * &weight, variance))
            }
            Definition::Use { .. } | Definition::Noise(_) => {}
        }
    }
    let total = |terms: Vec<(BigInt, &BigRational)>| -> (BigInt, BigInt) {
        let below = common_multiple(terms.iter().map(|(_, x)| x.denom()));
        (terms.into_iter().map(|(weight, x)| weight * times(x, &below)).sum(), below)
    };
    let ((shown, by), (variance, of)) = (total(uses), total(noises));
    if shown == BigInt::ZERO {
        return Ok(zero());
    }
    need(variance != BigInt::ZERO, || {
        "an attack shows the change without noise: there is no upper end".into()
    })?;
    Ok(BigRational::new_raw(&shown * &shown * of, &by * &by * variance))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Products of short and of long rows.
    #[test]
    fn products_of_rows() {
        let rows: [&[i64]; 2] =
            [&[i64::MAX, i64::MIN, -1, 3, i64::MIN], &[i64::MAX, i64::MIN, 5, -7, i64::MAX]];
        let long = |extra: i64| -> Vec<Vec<BigInt>> {
            rows.iter().map(|row| row.iter().map(|&x| BigInt::from(x) * extra).collect()).collect()
        };
        let (short, long) = (Rows::new(long(1)), Rows::new(long(4)));
        assert!(matches!((&short, &long), (Rows::Short(_), Rows::Long(_))));
        for (i, j) in [(0, 0), (0, 1), (1, 1)] {
            for columns in [0..5, 2..4, 0..2, 3..3] {
                let exact: BigInt =
                    columns.clone().map(|k| BigInt::from(rows[i][k]) * BigInt::from(rows[j][k])).sum();
                assert_eq!(short.product((i, j), columns.clone()), exact);
                assert_eq!(long.product((i, j), columns), exact * 16);
            }
        }
    }

    /// Moves of a third of one value and two fifths of another.
    #[test]
    fn short_sums_move() {
        let sum = Short { below: 15, terms: vec![(0, 5), (2, 6)] };
        assert_eq!(sum.moved(&[9, 100, 5]), Some(5));
        assert_eq!(sum.moved(&[0, 100, 0]), Some(0));
        assert_eq!(sum.moved(&[9, 100, 6]), None);
        assert_eq!(sum.moved(&[UNKNOWN, 0, 5]), None);
        assert_eq!(sum.moved(&[0, UNKNOWN, 5]), Some(2));
        assert_eq!(sum.moved(&[i128::MAX / 2, 0, 0]), None);
        let large = 3 * i128::from(i64::MAX);
        assert_eq!(sum.moved(&[large, 0, 0]), Some(i128::from(i64::MAX)));
        assert_eq!(sum.moved(&[large + 1, 0, 0]), None);
        assert_eq!(Short { below: 1, terms: vec![(0, 1)] }.moved(&[i128::MIN + 1]), Some(i128::MIN + 1));
    }
}
