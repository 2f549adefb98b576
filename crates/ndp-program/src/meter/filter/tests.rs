//! The state of the filter, compared with the same state in rationals with the same gains: `-B ≤ P - P* ≤ B`,
//! and roundings of `M` are below `κ B`.

use super::*;
use num_traits::{One, Signed};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

type Exact = BigRational;

fn exact(x: f64) -> Exact {
    BigRational::from_float(x).expect("finite")
}

fn ratio(a: i64, b: i64) -> Exact {
    BigRational::new(a.into(), b.into())
}

/// The filter, and its state without rounding, by register.
struct Both {
    filter: Filter,
    covariance: BTreeMap<(usize, usize), Exact>,
    moves: BTreeMap<(usize, usize), Exact>,
}

impl Both {
    /// All contributions are those of node 0, and node 1 observes.
    fn new() -> Self {
        let filter = Filter::new(Observer::node(1), 2, Followed::Uses);
        Self { filter, covariance: BTreeMap::new(), moves: BTreeMap::new() }
    }

    fn at(&self, a: usize, b: usize) -> Exact {
        self.covariance.get(&(a, b)).cloned().unwrap_or_else(Exact::zero)
    }

    fn moved(&self, register: usize, direction: usize) -> Exact {
        self.moves.get(&(register, direction)).cloned().unwrap_or_else(Exact::zero)
    }

    fn contribute(&mut self, register: usize) {
        self.filter.contribute(register, 0, &Reads::Nothing);
        self.moves.insert((register, self.filter.directions.len() - 1), Exact::one());
    }

    fn noise(&mut self, register: usize, variance: &Exact) {
        self.filter.noise(register, variance);
        self.covariance.insert((register, register), variance.clone());
    }

    /// A noise whose variance is only known up to `off`, and is off by all of it.
    fn vague_noise(&mut self, register: usize, variance: f64, off: f64) {
        self.filter.noise(register, &exact(variance));
        let row = self.filter.registers.len() - 1;
        self.filter.error.set(row, row, off.abs());
        self.covariance.insert((register, register), exact(variance) - exact(off));
    }

    fn combine(&mut self, register: usize, terms: &[(usize, Exact)]) {
        let terms: Vec<_> = terms.iter().filter(|(term, _)| !self.filter.knows(*term)).collect();
        let others = self.filter.registers.clone();
        for &other in &others {
            let sum = terms.iter().fold(Exact::zero(), |sum, (term, by)| sum + by * self.at(*term, other));
            self.covariance.insert((register, other), sum.clone());
            self.covariance.insert((other, register), sum);
        }
        let own = terms.iter().fold(Exact::zero(), |sum, (term, by)| sum + by * self.at(*term, register));
        self.covariance.insert((register, register), own);
        for direction in 0..self.filter.directions.len() {
            let sum =
                terms.iter().fold(Exact::zero(), |sum, (term, by)| sum + by * self.moved(*term, direction));
            self.moves.insert((register, direction), sum);
        }
        self.filter.combine(register, terms.iter().map(|(term, by)| (*term, by)));
    }

    /// The gains are public constants, exactly as computed.
    fn see(&mut self, register: usize) {
        let Some(Place::Row(seen)) = self.filter.place.get(&register).copied() else { return };
        let size = self.filter.covariance.at(seen, seen);
        let others: Vec<usize> = self.filter.registers.iter().copied().filter(|&x| x != register).collect();
        let gain = |other: usize| match self.filter.place[&other] {
            // A row without noise reveals nothing about the noises of the others.
            _ if size == 0.0 => Exact::zero(),
            Place::Row(row) if self.filter.covariance.at(seen, row).abs() > LEAST_GAIN * size => {
                exact(self.filter.covariance.at(seen, row) / size)
            }
            _ => Exact::zero(),
        };
        let gains: Vec<Exact> = others.iter().map(|&other| gain(other)).collect();
        let column: Vec<Exact> = others.iter().map(|&other| self.at(other, register)).collect();
        let own = self.at(register, register);
        for (i, &a) in others.iter().enumerate() {
            for (j, &b) in others.iter().enumerate() {
                let next = self.at(a, b) - &gains[i] * &column[j] - &column[i] * &gains[j]
                    + &gains[i] * &gains[j] * &own;
                self.covariance.insert((a, b), next);
            }
            for direction in 0..self.filter.directions.len() {
                let next = self.moved(a, direction) - &gains[i] * self.moved(register, direction);
                self.moves.insert((a, direction), next);
            }
        }
        self.filter.see(register);
    }

    /// Checks the claims of the module about `P`, `M` and `B`, for all rows together.
    #[track_caller]
    fn check(&self) {
        let rows = &self.filter.registers;
        let entries = |of: &dyn Fn(usize, usize) -> Exact| -> Vec<Vec<Exact>> {
            (0..rows.len()).map(|i| (0..rows.len()).map(|j| of(i, j)).collect()).collect()
        };
        let error = |i: usize, j: usize| exact(self.filter.error.at(i, j));
        let off = |i: usize, j: usize| exact(self.filter.covariance.at(i, j)) - self.at(rows[i], rows[j]);
        assert!(is_psd(entries(&|i, j| error(i, j) - off(i, j))), "P is too large: {:?}", self.filter);
        assert!(is_psd(entries(&|i, j| error(i, j) + off(i, j))), "P is too small: {:?}", self.filter);
        for (d, direction) in self.filter.directions.iter().enumerate() {
            let mut bordered = entries(&error);
            let rounding: Vec<Exact> =
                (0..rows.len()).map(|i| exact(self.filter.moves[i][d]) - self.moved(rows[i], d)).collect();
            bordered.iter_mut().zip(&rounding).for_each(|(row, x)| row.push(x.clone()));
            bordered.push(rounding.into_iter().chain([exact(direction.kappa)]).collect());
            assert!(is_psd(bordered), "M is off by more than kappa: {:?}", self.filter);
        }
    }
}

/// By elimination; if a pivot is 0, its row must be 0.
fn is_psd(mut a: Vec<Vec<Exact>>) -> bool {
    for k in 0..a.len() {
        if a[k][k].is_negative() || (a[k][k].is_zero() && a[k][k + 1..].iter().any(|x| !x.is_zero())) {
            return false;
        }
        if a[k][k].is_zero() {
            continue;
        }
        let pivot = a[k].clone();
        for row in &mut a[k + 1..] {
            let factor = &row[k] / &pivot[k];
            row.iter_mut().zip(&pivot).skip(k).for_each(|(x, y)| *x -= &factor * y);
        }
    }
    true
}

fn weight(rng: &mut impl Rng) -> Exact {
    match rng.random_range(0..4) {
        0 => Exact::one(),
        1 => -Exact::one(),
        _ => ratio([-7, -1, 1, 2, 5][rng.random_range(0..5)], [3, 7, 10, 999][rng.random_range(0..4)]),
    }
}

/// Sums of sums, some of which are seen, in any order.
#[test]
fn errors_of_rounding_stay_within_their_bounds() {
    let mut rng = ChaCha8Rng::seed_from_u64(20);
    for _ in 0..300 {
        let mut both = Both::new();
        let mut alive: Vec<usize> = Vec::new();
        for register in 0..rng.random_range(6..12) {
            match if alive.is_empty() { 0 } else { rng.random_range(0..8) } {
                0 | 1 => both.noise(register, &ratio(rng.random_range(1..9), [1, 3, 10][register % 3])),
                2 => both.contribute(register),
                3 => {
                    // The last row takes the place of the one that is removed.
                    let gone = alive.swap_remove(rng.random_range(0..alive.len()));
                    both.filter.forget(gone);
                    both.check();
                    continue;
                }
                kind => {
                    let mut terms: BTreeMap<usize, Exact> = BTreeMap::new();
                    for _ in 0..rng.random_range(1..4) {
                        terms.insert(alive[rng.random_range(0..alive.len())], weight(&mut rng));
                    }
                    both.combine(register, &terms.into_iter().collect::<Vec<_>>());
                    if kind > 5 {
                        both.check();
                        both.see(register);
                    }
                }
            }
            if both.filter.doubt.is_some() {
                break;
            }
            alive.push(register);
            both.check();
        }
    }
}

/// Variances of any size that differ from the truth by the whole bound, all to the same side. Every
/// combination and every sighting then attains `B`, and a rounding of `P` or `B` that is not counted becomes
/// visible.
#[test]
fn bounds_that_are_attained_stay_bounds() {
    let mut rng = ChaCha8Rng::seed_from_u64(21);
    let mut checked = 0;
    for case in 0..400 {
        let (mut both, mut alive): (_, Vec<usize>) = (Both::new(), Vec::new());
        let (scale, side) = (2f64.powi([0, 20, 40, 60][case % 4]), if case % 8 < 4 { 1.0 } else { -1.0 });
        for register in 0..rng.random_range(6..12) {
            let kind = if alive.len() < 3 { 0 } else { rng.random_range(1..4) };
            if kind == 0 {
                let variance = scale * f64::from(rng.random_range(1..999)) / 7.0;
                both.vague_noise(register, variance, side * variance * rng.random_range(1e-7..1e-6));
            } else {
                let mut terms: BTreeMap<usize, Exact> = BTreeMap::new();
                for _ in 0..rng.random_range(1..4) {
                    terms.insert(alive[rng.random_range(0..alive.len())], weight(&mut rng));
                }
                both.combine(register, &terms.into_iter().collect::<Vec<_>>());
                if kind == 3 {
                    both.see(register);
                }
            }
            if both.filter.doubt.is_some() {
                break;
            }
            alive.push(register);
            both.check();
            checked += 1;
        }
    }
    assert!(checked > 2000, "{checked}");
}

/// Numbers that nearly underflow still leave a positive bound.
#[test]
fn roundings_of_tiny_moves_count() {
    let mut both = Both::new();
    both.noise(0, &ratio(1, 3));
    both.contribute(1);
    both.contribute(2);
    let filter = &mut both.filter;
    filter.rounded(0, &[1e-10, 1e-190]);
    assert!(filter.directions.iter().all(|direction| direction.kappa > 0.0), "{filter:?}");
    // Also if the bound on `P` itself would be 0.
    let before = filter.error.at(0, 0);
    filter.error.set(0, 0, 0.0);
    filter.rounded(0, &[1e-180, 0.0]);
    assert!(filter.error.at(0, 0) >= TINY && before > 0.0);
    // A rounding whose square underflows.
    let kappa = exact(filter.directions[0].kappa);
    assert!(kappa >= exact(1e-180) * exact(1e-180) / exact(filter.error.at(0, 0)), "{filter:?}");
}

/// An addition to a much larger bound counts, although rounding would lose single additions.
#[test]
fn what_is_small_beside_a_bound_is_added_outward() {
    let mut both = Both::new();
    both.noise(0, &Exact::one());
    both.contribute(1);
    both.contribute(2);
    let filter = &mut both.filter;
    filter.directions.iter_mut().for_each(|direction| {
        (direction.kappa, direction.high, direction.low) = (1.0, 1.0, 1.0);
    });
    let before = filter.error.at(0, 0);
    filter.rounded(0, &[1.0, 1e-3]);
    let added = exact(filter.error.at(0, 0)) - exact(before);
    for (direction, size) in filter.directions.iter().zip([1.0, 1e-3]) {
        let more = exact(size) * exact(size) / &added;
        assert!(exact(direction.kappa) >= Exact::one() + more, "{direction:?}");
    }
    let x = 2f64.powi(-30);
    filter.moves[0] = vec![x, -x];
    filter.charge(0, 1.0, 1.0);
    for direction in &filter.directions {
        let sum = Exact::one() + exact(x) * exact(x);
        assert!(exact(direction.high) >= sum && exact(direction.low) <= sum, "{direction:?}");
    }
}

/// Squares that underflow, divided by a variance for which the quotient is an ordinary number, or is as
/// small.
#[test]
fn charges_of_tiny_moves_are_outward() {
    for (k, size) in (0..60).flat_map(|k| [1e-186, 1.0, 3.0].map(|size| (k, size))) {
        let x = 10f64.powf(-161.0 - 0.03 * f64::from(k));
        let mut both = Both::new();
        both.noise(0, &Exact::one());
        both.contribute(1);
        both.filter.moves[0][0] = x;
        both.filter.charge(0, size, size);
        let (direction, truth) = (&both.filter.directions[0], exact(x) * exact(x) / exact(size));
        assert!(exact(direction.high) >= truth && exact(direction.low) <= truth, "{x}: {direction:?}");
    }
}

/// Two rows besides the one that is seen, one of them so weakly related to it that its gain is taken as 0.
/// The remaining covariance `rho` with the innovation counts with the sum of the gains, and `2 rho rho' / S`
/// stays below `r` times what is counted, where `r` is eight units (step 2 in `docs/theory.md`).
#[test]
fn gains_that_are_left_out_count() {
    for (related, floor) in [(1e-50, 0.0), (1e-250, 3e-200)] {
        let mut both = Both::new();
        for register in 0..3 {
            both.noise(register, &Exact::one());
        }
        let filter = &mut both.filter;
        for (i, j, x) in [(0, 1, 0.5), (0, 2, related)] {
            filter.covariance.set(i, j, x);
            filter.covariance.set(j, i, x);
        }
        filter.see(0);
        let Some(Place::Row(row)) = filter.place.get(&2).copied() else { panic!("it is a row") };
        // `rho` is one unit of 1/2 in the other row, besides the covariance of this one.
        let (gains, residual) = (0.5, 2.0 * UNIT * 0.5 / (8.0 * UNIT));
        let expected = related * (gains + residual) + floor;
        let found = filter.error.at(row, row);
        assert!(expected <= found && found <= 1.02 * expected + 2.0 * TINY, "{found} is not {expected}");
    }
}

/// A row that is related to the one that is seen only through the uncertainty: `B` is recomputed for it, with
/// at least six roundings for each entry of its row, of the entry and of the products in it.
#[test]
fn roundings_of_what_is_not_known_count() {
    let mut both = Both::new();
    for register in 0..3 {
        both.noise(register, &exact(2f64.powi(80)));
    }
    let filter = &mut both.filter;
    filter.covariance.set(0, 1, 2f64.powi(79));
    filter.covariance.set(1, 0, 2f64.powi(79));
    for row in 0..3 {
        filter.error.set(row, row, 2f64.powi(60));
    }
    filter.error.set(0, 2, 2f64.powi(59));
    filter.error.set(2, 0, 2f64.powi(59));
    filter.see(0);
    let Some(Place::Row(row)) = filter.place.get(&2).copied() else { panic!("it is a row") };
    // Half of 2^59 is moved from the row that is seen to the entry between the other two.
    let sizes = 2f64.powi(60) + 2.0 * 2f64.powi(58);
    let added = filter.error.at(row, row) - 2f64.powi(60);
    assert!((6.0 * UNIT * sizes..40.0 * UNIT * sizes).contains(&added), "{added}");
}

/// A row of which nothing is left once another one is seen. Its gain of 1/2 and the product with the column
/// were rounded nevertheless, each by one unit of half of the column.
#[test]
fn roundings_of_gains_count_where_nothing_is_left() {
    let mut both = Both::new();
    both.noise(0, &exact(2f64.powi(80)));
    both.noise(1, &exact(2f64.powi(78)));
    let filter = &mut both.filter;
    filter.covariance.set(0, 1, 2f64.powi(79));
    filter.covariance.set(1, 0, 2f64.powi(79));
    filter.see(0);
    let Some(Place::Row(row)) = filter.place.get(&1).copied() else { panic!("it is a row") };
    assert_eq!(filter.covariance.at(row, row), 0.0);
    assert!(filter.error.at(row, row) >= 2.0 * UNIT * 0.5 * 2f64.powi(79), "{filter:?}");
}

/// Rows whose variances are each known up to a share. The sums that bound rounding are at least those in
/// rationals, after every row.
#[test]
fn shares_are_added_up_outward() {
    for k in 1..60_u32 {
        let mut both = Both::new();
        let (mut shares, mut correlation) = (Exact::zero(), Exact::zero());
        let mut factor = exact(8.0 * UNIT);
        for register in 0..4 {
            let (size, off) = (1.0 / f64::from(k), 1e-9 / f64::from(k + 7 * register));
            both.vague_noise(register as usize, size, off);
            both.see(register as usize);
            let share = exact(off) / (exact(size) - exact(off));
            correlation += ratio(2, 1) * &factor * &share;
            factor += ratio(2, 1) * &share;
            shares += share;
            let filter = &both.filter;
            assert!(exact(filter.shares) >= shares, "{k}: {filter:?}");
            assert!(exact(filter.factor) >= factor && exact(filter.correlation) >= correlation, "{k}");
        }
    }
}

/// Squares of at least 4 and 1, moves that are off by an eighth, and innovations that are correlated up to a
/// quarter: `(2 + 1/8)² / (1 - 1/4)` and `(1 - 1/8)² / (1 + 1/4)`.
#[test]
fn ends_are_those_of_the_theorem() {
    let mut both = Both::new();
    both.contribute(0);
    both.contribute(1);
    let filter = &mut both.filter;
    (filter.shares, filter.correlation) = (1.0, 1.0 / 16.0);
    let told = |direction: &mut Direction, high: f64, low: f64| {
        (direction.high, direction.low, direction.kappa, direction.seen) = (high, low, 1.0 / 64.0, true);
    };
    told(&mut filter.directions[0], 4.0, 1.0);
    told(&mut filter.directions[1], 1.0, 0.0);
    let (high, low) = (ratio(289, 48), ratio(49, 80));
    let ends = filter.ends(0).expect("nothing was seen without noise");
    assert!(exact(ends.high) >= high && exact(ends.low) <= low);
    assert!(ends.high < 289.0 / 48.0 + 1e-12 && ends.low > 49.0 / 80.0 - 1e-12, "{ends:?}");
    // A number smaller than the rounding may be 0.
    filter.directions[0].low = 1.0 / 128.0;
    assert_eq!(filter.ends(0).map(|ends| ends.low), Some(0.0));
    filter.directions[0].low = 1.0;
    // For all uses of the node, the roots of both bounds count: (3 + 1/4)² / (1 - 1/4).
    (filter.followed, filter.nodes[0].whole) = (Followed::Whole, 9.0);
    let ends = filter.ends(0).expect("nothing was seen without noise");
    assert!(exact(ends.high) >= ratio(169, 12) && ends.high < 169.0 / 12.0 + 1e-12, "{ends:?}");
    assert!(exact(ends.low) <= low && ends.low > 49.0 / 80.0 - 1e-12, "{ends:?}");
}

/// A row whose variance is known up to a share: the enclosure of its cost contains the quotient for every
/// variance in between, however often it is added.
#[test]
fn charges_are_rounded_outward() {
    for k in 1..400_u32 {
        let (x, least) = (1.0 / f64::from(k), f64::from(k % 7 + 1) / 3.0);
        let most = least * (1.0 + 1e-9);
        let mut both = Both::new();
        both.noise(0, &Exact::one());
        both.contribute(1);
        both.filter.moves[0][0] = x;
        let (mut high, mut low) = (Exact::zero(), Exact::zero());
        for _ in 0..3 {
            both.filter.charge(0, least, most);
            high += exact(x) * exact(x) / exact(least);
            low += exact(x) * exact(x) / exact(most);
            let direction = &both.filter.directions[0];
            assert!(exact(direction.high) >= high && exact(direction.low) <= low, "{k}: {direction:?}");
        }
    }
}

/// The bound on the correlation of the innovations grows with every row that is seen.
#[test]
fn a_variance_that_is_not_known_is_shared() {
    let mut both = Both::new();
    both.noise(0, &ratio(1, 3));
    let error = both.filter.error.at(0, 0);
    let size = both.filter.covariance.at(0, 0);
    both.see(0);
    let share = exact(error) / (exact(size) - exact(error));
    assert!(exact(both.filter.shares) >= share, "{:?}", both.filter);
    assert!(exact(both.filter.factor) >= exact(8.0 * UNIT) + ratio(2, 1) * &share);
    assert!(exact(both.filter.correlation) >= ratio(2, 1) * exact(8.0 * UNIT) * &share);
}
