//! What shifts of noises cost, what an attack tells, and whether a diagonal covers the costs.

use crate::observer::Observer;
use crate::program::{Definition, Program};
use crate::rational::{common_multiple, is_zero, times, zero};
use crate::{Rejected, need, rejected};
use num_bigint::{BigInt, Sign};
use num_rational::BigRational;
use std::collections::BTreeMap;

/// Weights of values.
type Terms = [(usize, BigRational)];

/// Moves of multiples of values; kept from shift to shift, so that a short one costs no look at every value.
#[derive(Clone, Debug, Default)]
pub(crate) struct Moves {
    of: Vec<Option<BigInt>>,
    touched: Vec<usize>,
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
    /// `P` in multiples.
    costs: Vec<Vec<BigInt>>,
    /// The denominator of all costs.
    below: BigInt,
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
        let variance = |value: usize| match &program.values[value] {
            Definition::Noise(variance) => variance.clone(),
            _ => zero(),
        };
        let variances: BTreeMap<usize, BigRational> =
            whole.iter().flat_map(BTreeMap::keys).map(|&value| (value, variance(value))).collect();
        let tops = common_multiple(variances.values().map(BigRational::numer));
        // 1/V in multiples of 1/tops.
        let prices: BTreeMap<usize, BigInt> =
            variances.into_iter().map(|(value, of)| (value, of.denom() * (&tops / of.numer()))).collect();
        let row = |shift: &BTreeMap<usize, BigInt>| {
            let priced: Vec<(&usize, BigInt)> = shift.iter().map(|(v, by)| (v, by * &prices[v])).collect();
            let cost = |other: &BTreeMap<usize, BigInt>| {
                priced.iter().filter_map(|(v, price)| Some(price * other.get(v)?)).sum()
            };
            whole.iter().map(cost).collect()
        };
        Ok(Self { costs: whole.iter().map(row).collect(), below: tops * &common * &common })
    }

    /// How many shifts there are.
    pub(crate) fn len(&self) -> usize {
        self.costs.len()
    }

    /// `max P_ii`.
    pub(crate) fn largest(&self) -> BigRational {
        let all = self.costs.iter().enumerate().map(|(i, row)| &row[i]);
        BigRational::new_raw(all.max().cloned().unwrap_or_default(), self.below.clone())
    }

    /// `Σ |P_ij|`.
    pub(crate) fn sum_of_sizes(&self) -> BigRational {
        let sizes = self.costs.iter().flatten().map(|x| if x.sign() == Sign::Minus { -x } else { x.clone() });
        BigRational::new_raw(sizes.sum(), self.below.clone())
    }

    /// Whether `D - P` is positive semidefinite, for a diagonal `D`.
    pub(crate) fn are_covered_by(&self, diagonal: &[BigRational]) -> bool {
        let common = common_multiple(diagonal.iter().map(BigRational::denom).chain([&self.below]));
        let factor = &common / &self.below;
        let mut rows: Vec<Vec<BigInt>> =
            self.costs.iter().map(|row| row.iter().map(|x| -(x * &factor)).collect()).collect();
        for (i, x) in diagonal.iter().enumerate() {
            rows[i][i] += times(x, &common);
        }
        is_semidefinite(rows)
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

/// Follows the moves through the program: no value that is seen may move.
fn hide(
    program: &Program,
    observer: &Observer,
    (source, change): (usize, &[BigInt]),
    noises: &BTreeMap<usize, BigInt>,
    moves: &mut Moves,
) -> Result<(), Rejected> {
    moves.clear(program.values.len());
    let changed = program.uses[source].iter().zip(change).filter(|(_, by)| **by != BigInt::ZERO);
    let Some(first) = changed.map(|(&value, _)| value).chain(noises.keys().copied()).min() else {
        return Ok(());
    };
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
            need(!observer.seen[value], || {
                "the observer sees a value that moves: the shift does not hide the change".into()
            })?;
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

/// Whether a symmetric matrix is positive semidefinite, by elimination without fractions: a pivot below 0, or
/// a pivot 0 whose row is not 0, refutes it. Entries stay determinants of the rows and columns of pivots, so
/// that the division by the pivot before has no rest.
fn is_semidefinite(mut rows: Vec<Vec<BigInt>>) -> bool {
    let mut before = BigInt::from(1);
    for i in 0..rows.len() {
        let (done, rest) = rows.split_at_mut(i + 1);
        let pivot = &done[i];
        match pivot[i].sign() {
            Sign::Minus => return false,
            Sign::NoSign if pivot[i + 1..].iter().any(|x| *x != BigInt::ZERO) => return false,
            Sign::NoSign => continue,
            Sign::Plus => {}
        }
        for row in rest {
            let factor = row[i].clone();
            for (x, p) in row.iter_mut().zip(pivot).skip(i) {
                *x = (&*x * &pivot[i] - &factor * p) / &before;
            }
        }
        before = pivot[i].clone();
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn semidefinite(rows: &[&[i64]]) -> bool {
        is_semidefinite(rows.iter().map(|row| row.iter().map(|&x| x.into()).collect()).collect())
    }

    /// Signs of eigenvalues by hand.
    #[test]
    fn semidefinite_matrices() {
        assert!(semidefinite(&[]));
        assert!(semidefinite(&[&[1, -1], &[-1, 1]]));
        assert!(!semidefinite(&[&[1, -2], &[-2, 1]]));
        assert!(!semidefinite(&[&[0, 1], &[1, 5]]));
        assert!(semidefinite(&[&[0, 0], &[0, 5]]));
        // A pivot 0 in the middle: the sum of two squares in three unknowns.
        assert!(semidefinite(&[&[1, 1, 1], &[1, 1, 1], &[1, 1, 2]]));
        assert!(!semidefinite(&[&[1, 1, 1], &[1, 1, 2], &[1, 2, 2]]));
        assert!(semidefinite(&[&[2, -1, 0], &[-1, 2, -1], &[0, -1, 2]]));
        assert!(!semidefinite(&[&[2, -1, 0], &[-1, 2, -3], &[0, -3, 2]]));
    }
}
