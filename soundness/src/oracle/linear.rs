//! The unit losses `bᵀ (R V Rᵀ)⁺ b` of a linear Gaussian view with exact entries.
//!
//! Rows are integers (scaling a row does not change the losses). Elimination modulo three primes of 62 bits
//! decides which rows are new and what leaks. The numerator and the denominator of every loss are integers
//! that Hadamard's inequality bounds; they are computed modulo enough primes to determine them.

use super::modular::{Prime, from_residues, primes};
use super::rational::Quotient;
use num_bigint::BigInt;
use num_traits::{One, Zero};

/// What an observer sees: `rows` over all columns. Some columns are noises that the observer does not know,
/// and one column belongs to each input.
#[derive(Clone, Debug)]
pub(crate) struct Linear {
    pub(crate) rows: Vec<Vec<BigInt>>,
    /// The columns of the noises that are not known to the observer and have positive variance, with the
    /// variance in units of `1 / unit`.
    pub(crate) noises: Vec<(usize, BigInt)>,
    pub(crate) unit: BigInt,
    /// The column of every input.
    pub(crate) inputs: Vec<usize>,
    /// Inputs of the observers themselves, whose losses are not computed.
    pub(crate) members: Vec<usize>,
}

/// The true loss of one input.
#[derive(Clone, Debug)]
pub(crate) enum Loss {
    /// It is an observer, so its loss is not wanted.
    Member,
    /// Some combination of rows reveals it without noise.
    Infinite,
    Finite(Quotient),
    /// The integers would be too long to compute; the loss is between 0 and infinity.
    Unknown,
}

#[derive(Clone, Debug)]
pub(crate) struct Truth {
    /// The rank over the noises that the observer does not know.
    pub(crate) rank: usize,
    pub(crate) losses: Vec<Loss>,
}

impl Truth {
    /// Whether some node outside the coalition has no noise at all.
    pub(crate) fn leaks(&self) -> Vec<usize> {
        let infinite = self.losses.iter().enumerate().filter(|(_, loss)| matches!(loss, Loss::Infinite));
        infinite.map(|(u, _)| u).collect()
    }
}

impl Linear {
    pub(crate) fn truth(&self) -> Truth {
        let kept = self.kept();
        let rank = kept.rows.len();
        let own: Vec<Option<usize>> = self.inputs.iter().map(|&c| self.own_noise(c)).collect();
        let losses = (0..self.inputs.len()).map(|u| {
            if self.members.contains(&u) {
                Loss::Member
            } else if kept.leaks[u] {
                Loss::Infinite
            } else if self.rows.iter().all(|row| row[self.inputs[u]].is_zero()) {
                Loss::Finite(Quotient::new(BigInt::zero(), BigInt::one()))
            } else if let Some(j) = own[u].filter(|_| rank == self.noises.len()) {
                // The observer sees every combination of the noises, and so each noise itself, together with
                // its input.
                Loss::Finite(Quotient::new(self.unit.clone(), self.noises[j].1.clone()))
            } else {
                Loss::Unknown
            }
        });
        let mut losses: Vec<Loss> = losses.collect();
        let open: Vec<usize> = (0..losses.len()).filter(|&u| matches!(losses[u], Loss::Unknown)).collect();
        if !open.is_empty() {
            for (u, loss) in open.iter().zip(self.quotients(&kept.rows, &open)) {
                losses[*u] = loss;
            }
        }
        Truth { rank, losses }
    }

    /// Finds independent rows and leaks modulo three primes of 62 bits; the rank is never above the true one.
    pub(crate) fn kept(&self) -> Kept {
        // At the first row where two primes differ, the one that says "new" is right: a minor that is not 0
        // modulo a prime is not 0.
        let mut best: Option<Kept> = None;
        for field in primes(3) {
            let found = self.eliminate(field);
            match &mut best {
                None => best = Some(found),
                Some(best) if best.rows == found.rows => {
                    best.leaks.iter_mut().zip(found.leaks).for_each(|(a, b)| *a |= b);
                }
                Some(best) => {
                    let other = found.rows.iter().zip(&best.rows).find(|(a, b)| a != b);
                    if other.map_or(found.rows.len() > best.rows.len(), |(a, b)| a < b) {
                        *best = found;
                    }
                }
            }
        }
        best.expect("there are three primes")
    }

    fn eliminate(&self, field: Prime) -> Kept {
        let m = self.noises.len();
        let columns: Vec<usize> =
            self.noises.iter().map(|(c, _)| *c).chain(self.inputs.iter().copied()).collect();
        let powers = field.powers(self.digits());
        let mut kept = Kept { rows: Vec::new(), leaks: vec![false; self.inputs.len()] };
        let mut basis: Vec<(usize, Vec<u64>)> = Vec::new();
        for (k, row) in self.rows.iter().enumerate() {
            let mut x: Vec<u64> = columns.iter().map(|&c| field.residue(&row[c], &powers)).collect();
            for (pivot, q) in &basis {
                let factor = x[*pivot];
                if factor != 0 {
                    x.iter_mut()
                        .zip(q)
                        .for_each(|(x, &q)| *x = field.subtract(*x, field.multiply(factor, q)));
                }
            }
            match x[..m].iter().position(|&x| x != 0) {
                Some(pivot) => {
                    let inverse = field.inverse(x[pivot]);
                    x.iter_mut().for_each(|x| *x = field.multiply(*x, inverse));
                    basis.push((pivot, x));
                    kept.rows.push(k);
                }
                None => kept.leaks.iter_mut().zip(&x[m..]).for_each(|(leak, &x)| *leak |= x != 0),
            }
        }
        kept
    }

    /// The number of 64-bit digits of the longest integer.
    fn digits(&self) -> usize {
        let all = self.rows.iter().flatten().chain(self.noises.iter().map(|(_, v)| v));
        all.map(|x| x.bits() as usize / 64 + 1).max().unwrap_or(1)
    }

    /// The noise that has the same column as an input, if there is one that the observer does not know.
    fn own_noise(&self, input: usize) -> Option<usize> {
        let equal = |c: usize| c == input || self.rows.iter().all(|row| row[c] == row[input]);
        self.noises.iter().position(|&(c, _)| equal(c))
    }

    /// The losses of the inputs `open`, from independent rows.
    fn quotients(&self, kept: &[usize], open: &[usize]) -> Vec<Loss> {
        let rows: Vec<&Vec<BigInt>> = kept.iter().map(|&k| &self.rows[k]).collect();
        let squares: Vec<u64> = rows
            .iter()
            .map(|row| {
                let terms = self.noises.iter().map(|(c, v)| &row[*c] * &row[*c] * v);
                terms.sum::<BigInt>().bits()
            })
            .collect();
        // det G <= prod G_ii, and b' adj(G) b <= e prod G_ii sum b_i^2 / G_ii.
        let shift = open.iter().flat_map(|&u| {
            rows.iter()
                .zip(&squares)
                .map(move |(row, g)| 2 * row[self.inputs[u]].bits() as i64 - *g as i64 + 1)
        });
        let shift = shift.max().unwrap_or(0).max(0) as u64;
        let bits = squares.iter().sum::<u64>() + shift + kept.len() as u64 + 4;
        let count = bits as usize / 61 + 1;
        let (r, width) = (kept.len() as u64, (self.noises.len() + open.len()) as u64);
        let reduction = rows.iter().flat_map(|row| row.iter()).map(|x| x.bits() / 64 + 1).sum::<u64>();
        let products = count as u64 * (r * r * (width / 8 + r / 6) + reduction + count as u64);
        if products > MAX_PRODUCTS {
            return vec![Loss::Unknown; open.len()];
        }
        let (mut used, mut residues) = (Vec::new(), Vec::new());
        // Take a few more primes, because one that divides a leading minor is left out.
        for field in primes(count + 8) {
            if used.len() < count
                && let Some(values) = self.forms(field, &rows, open)
            {
                used.push(field);
                residues.push(values);
            }
        }
        if used.len() < count {
            return vec![Loss::Unknown; open.len()];
        }
        let mut integers = from_residues(&used, &residues).into_iter().map(BigInt::from);
        let determinant = integers.next().unwrap_or_else(BigInt::one);
        integers.map(|x| Loss::Finite(Quotient::new(x * &self.unit, determinant.clone()))).collect()
    }

    /// `det G`, then `det G · bᵀ G⁻¹ b` for each input, modulo a prime; `None` if a leading minor vanishes.
    fn forms(&self, field: Prime, rows: &[&Vec<BigInt>], open: &[usize]) -> Option<Vec<u64>> {
        let r = rows.len();
        let powers = field.powers(self.digits());
        let variances: Vec<u64> = self.noises.iter().map(|(_, v)| field.residue(v, &powers)).collect();
        // Inputs often share the columns of noises, so reduce every column only once.
        let reduced: Vec<Vec<u64>> =
            rows.iter().map(|row| row.iter().map(|x| field.residue(x, &powers)).collect()).collect();
        let noises: Vec<Vec<u64>> =
            reduced.iter().map(|row| self.noises.iter().map(|(c, _)| row[*c]).collect()).collect();
        let weighted: Vec<Vec<u64>> = noises
            .iter()
            .map(|row| row.iter().zip(&variances).map(|(&x, &v)| field.multiply(x, v)).collect())
            .collect();
        // The upper half of G, row i from column i on, followed by the inputs.
        let mut matrix: Vec<Vec<u64>> = (0..r)
            .map(|i| {
                let products = (i..r).map(|j| field.dot(&noises[i], &weighted[j]));
                products.chain(open.iter().map(|&u| reduced[i][self.inputs[u]])).collect()
            })
            .collect();
        let mut values = vec![0; 1 + open.len()];
        let mut determinant = field.enter(1);
        for k in 0..r {
            let pivot_row = std::mem::take(&mut matrix[k]);
            let pivot = pivot_row[0];
            if pivot == 0 {
                return None;
            }
            determinant = field.multiply(determinant, pivot);
            let inverse = field.inverse(pivot);
            for (value, &c) in values[1..].iter_mut().zip(&pivot_row[r - k..]) {
                *value = field.add(*value, field.multiply(inverse, field.multiply(c, c)));
            }
            for (i, row) in matrix.iter_mut().enumerate().skip(k + 1) {
                let factor = field.multiply(pivot_row[i - k], inverse);
                if factor != 0 {
                    for (x, &q) in row.iter_mut().zip(&pivot_row[i - k..]) {
                        *x = field.subtract(*x, field.multiply(factor, q));
                    }
                }
            }
        }
        values[0] = field.enter(1);
        Some(values.into_iter().map(|x| field.leave(field.multiply(x, determinant))).collect())
    }
}

/// Independent rows, and the inputs that leak.
#[derive(Clone, Debug)]
pub(crate) struct Kept {
    pub(crate) rows: Vec<usize>,
    pub(crate) leaks: Vec<bool>,
}

/// A limit of about one or two seconds of work.
const MAX_PRODUCTS: u64 = 300_000_000;

#[cfg(test)]
mod tests {
    use super::*;
    use num_rational::BigRational;
    use num_traits::Signed;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// By the definition, in rationals: orthogonalise the rows over the noises, one after the other.
    fn by_hand(view: &Linear) -> (usize, Vec<Option<BigRational>>) {
        let rational = |x: &BigInt| BigRational::from_integer(x.clone());
        let mut basis: Vec<(Vec<BigRational>, BigRational)> = Vec::new();
        let mut units = vec![Some(BigRational::zero()); view.inputs.len()];
        let dot = |x: &[BigRational], y: &[BigRational]| {
            view.noises.iter().map(|(c, v)| &x[*c] * &y[*c] * rational(v)).sum::<BigRational>()
        };
        for row in &view.rows {
            let mut x: Vec<BigRational> = row.iter().map(rational).collect();
            for (q, square) in &basis {
                let factor = dot(&x, q) / square;
                x.iter_mut().zip(q).for_each(|(x, q)| *x = &*x - &factor * q);
            }
            let square = dot(&x, &x);
            for (unit, c) in units.iter_mut().zip(&view.inputs) {
                match unit {
                    Some(sum) if square.is_positive() => {
                        *sum = &*sum + &x[*c] * &x[*c] / &square * rational(&view.unit);
                    }
                    Some(_) if x[*c].is_zero() => {}
                    _ => *unit = None,
                }
            }
            if square.is_positive() {
                basis.push((x, square));
            }
        }
        (basis.len(), units)
    }

    #[test]
    fn losses_are_those_of_the_definition() {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let (mut infinite, mut deficient) = (0, 0);
        for _ in 0..300 {
            let (rows, inputs, noises) =
                (rng.random_range(1..6), rng.random_range(1..4), rng.random_range(1..6));
            let mut entry = || {
                let wide = rng.random_range(0..20) == 0;
                BigInt::from(rng.random_range(-2..=2)) << if wide { 90 } else { 0 }
            };
            let view = Linear {
                rows: (0..rows).map(|_| (0..inputs + noises).map(|_| entry()).collect()).collect(),
                noises: (0..noises).map(|j| (inputs + j, BigInt::from(1 + j * j))).collect(),
                unit: BigInt::from(6),
                inputs: (0..inputs).collect(),
                members: Vec::new(),
            };
            let (rank, units) = by_hand(&view);
            let truth = view.truth();
            assert_eq!(truth.rank, rank);
            deficient += usize::from(rank < rows);
            for (loss, unit) in truth.losses.iter().zip(units) {
                match (loss, unit) {
                    (Loss::Infinite, None) => infinite += 1,
                    (Loss::Finite(x), Some(y)) => {
                        assert_eq!(x.numerator() * y.denom(), y.numer() * x.denominator());
                    }
                    other => panic!("{other:?}"),
                }
            }
        }
        assert!(infinite > 20 && deficient > 20);
    }
}
