//! The lengths of the intervals between sightings, and the number of contributions of `u` in them.
//!
//! With the laws of first visits as power series in time (`f_vu` from `v` to `u` and so on), an interval of
//! length `L` between two sightings holds `k ≥ 1` contributions with probability `(f_vu f_uu^{k−1} f_uv)(L)`,
//! and none with `f_vv(L)`. It costs `k²/(L − 1)`: the observers know the noise that they drew themselves.
//! The first interval, from a start elsewhere, costs `k²/L`.

use super::super::series::{Factor, Products};
use super::adaptive::Groups;
use super::passages::{Passages, Side};
use super::system::{Charge, solve};
use ndp_account::Error;
use ndp_numeric::stop::Stop;

/// Series in the length of an interval, one for each number of contributions or for each kind of charge. The
/// first series is free of charge.
pub(super) type ByCount = Vec<Vec<f64>>;

/// How an interval is charged.
#[derive(Clone, Debug)]
pub(super) enum Charging {
    /// `k²` over the number of noises that the observer who begins the interval did not draw.
    Values,
    /// The cost of groups of contributions that may depend on the token.
    Groups(Groups),
}

impl Charging {
    /// The charge of entry `index` in an interval of length `t`. `at_sighting` says whether the interval
    /// began at a sighting, whose noise is known, or at the start.
    pub(super) fn charge(&self, index: usize, t: usize, at_sighting: bool) -> Charge {
        match (self, index) {
            (_, 0) => Charge::FREE,
            (Self::Values, count) => Charge::of_count(count, t.saturating_sub(usize::from(at_sighting))),
            (Self::Groups(groups), kind) => groups.charge(kind - 1, t),
        }
    }
}

/// The laws of all kinds of intervals, none of them below the truth (for an upper law) or none above it (for
/// a lower one).
#[derive(Clone, Debug)]
pub(super) struct Intervals {
    /// `between[w][w']`: from a sighting by `w` to the next one, by `w'`.
    pub(super) between: Vec<Vec<ByCount>>,
    /// From the start to the first sighting, by `w`.
    pub(super) first: Vec<ByCount>,
    /// `tail[w]`: the time from a sighting by `w` to the end of the walk without another sighting.
    pub(super) tail: Vec<ByCount>,
    /// From the start to the end of the walk without a sighting, by the number of contributions.
    pub(super) unseen: Vec<f64>,
    /// An upper bound on the mean number of sightings.
    pub(super) sightings: f64,
    pub(super) charging: Charging,
    /// An upper bound on the probability of a path on which an interval has more contributions than are
    /// followed.
    pub(super) lost: f64,
}

impl Intervals {
    /// The upper laws. If the token is `published`, the end of the walk is one more sighting.
    ///
    /// # Errors
    /// [`Error::NotOffered`] if an interval may have too many contributions to follow.
    pub(super) fn above(passages: &Passages, published: bool, stop: &Stop) -> Result<Self, Error> {
        let steps = passages.steps();
        let (counts, lost) = counts(passages)?;
        let products = Products::new(steps + 1);
        let mut upper = Self::without_ends(passages, Side::Upper, (counts, lost), &products, stop)?;
        upper.sightings = sightings(&upper, steps);
        if published {
            upper.show_ends(passages, Side::Upper, counts, &products, stop)?;
        } else {
            upper.tail = unseen_tails(passages, stop)?.into_iter().map(|tail| vec![tail]).collect();
        }
        Ok(upper)
    }

    /// The upper and the lower laws.
    ///
    /// # Errors
    /// As [`Self::above`].
    pub(super) fn both(passages: &Passages, published: bool, stop: &Stop) -> Result<[Self; 2], Error> {
        let upper = Self::above(passages, published, stop)?;
        let (counts, lost) = counts(passages)?;
        let products = Products::new(passages.steps() + 1);
        let mut lower = Self::without_ends(passages, Side::Lower, (counts, lost), &products, stop)?;
        lower.sightings = upper.sightings;
        if published {
            lower.show_ends(passages, Side::Lower, counts, &products, stop)?;
        } else {
            let none = |row: &Vec<ByCount>| {
                vec![left(row.iter().flatten().map(Vec::as_slice).collect(), Side::Lower, lost)]
            };
            lower.tail = upper.between.iter().map(none).collect();
        }
        Ok([upper, lower])
    }

    /// Adds the ends of a walk whose last token is seen.
    fn show_ends(
        &mut self,
        passages: &Passages,
        side: Side,
        counts: usize,
        products: &Products,
        stop: &Stop,
    ) -> Result<(), Error> {
        let other = if side == Side::Upper { Side::Lower } else { Side::Upper };
        let left = |taken: Vec<&[f64]>| left(taken, side, self.lost);
        // From a contribution to the end, unseen: neither u nor a member is visited, or u only at the very
        // end.
        let again = passages.side(&passages.again, other);
        let seen: Vec<Vec<f64>> = passages.seen.iter().map(|law| passages.side(law, other)).collect();
        let mut last = left(seen.iter().chain([&again]).map(Vec::as_slice).collect());
        let own = passages.side(&passages.again, side);
        last.iter_mut().zip(&own).for_each(|(last, own)| *last += own);
        last[0] = 0.0;
        let chain = Chain { products, again: products.factor(own), side, stop };
        let last = products.factor(last);
        let start = products.factor(passages.side_of_start(&passages.start, side));
        let unseen = chain.closed(&start, &last, counts)?;
        let steps = passages.steps();
        let tail = (0..passages.members())
            .map(|w| {
                let back = passages.side(&passages.back[w], other);
                let among: Vec<Vec<f64>> =
                    passages.among[w].iter().map(|law| passages.side(law, other)).collect();
                let mut none = left(among.iter().chain([&back]).map(Vec::as_slice).collect());
                let back = passages.side(&passages.back[w], side);
                none.iter_mut().zip(&back).for_each(|(none, back)| *none += back);
                let charged = chain.closed(&products.factor(back), &last, counts)?;
                Ok([none].into_iter().chain(charged).collect())
            })
            .collect::<Result<_, Error>>()?;
        self.unseen = [0.0].into_iter().chain(unseen.iter().map(|law| law[steps])).collect();
        self.tail = tail;
        Ok(())
    }

    /// The same laws if only the first `cap` contributions of a path count. Every member has one copy for
    /// each number of contributions so far; the last copy stands for `cap` or more.
    pub(super) fn capped(self, cap: usize, side: Side) -> Self {
        let members = self.first.len();
        let length = self.tail[0][0].len();
        let states = || (0..=cap).flat_map(|so_far| (0..members).map(move |w| (so_far, w)));
        // The law of an interval that begins after `so_far` contributions and in which `count` contributions
        // count.
        let counted = |laws: &ByCount, so_far: usize, count: usize| -> Vec<f64> {
            let all = if so_far + count < cap { count + 1 } else { laws.len() };
            sum(laws.get(count..all.min(laws.len())).unwrap_or_default(), length, side)
        };
        let alone = |laws: &ByCount, so_far: usize, count: usize| -> ByCount {
            let mut series = vec![vec![0.0; length]; count];
            series.push(counted(laws, so_far, count));
            series
        };
        let nothing = || vec![vec![0.0; length]];
        let between = states().map(|(so_far, w)| {
            let row = states().map(|(then, to)| match then.checked_sub(so_far) {
                Some(count) => alone(&self.between[w][to], so_far, count),
                None => nothing(),
            });
            row.collect()
        });
        let tail = states().map(|(so_far, w)| {
            let laws = &self.tail[w];
            (0..=(cap - so_far).min(laws.len() - 1)).map(|count| counted(laws, so_far, count)).collect()
        });
        let first = states().map(|(then, w)| alone(&self.first[w], 0, then));
        let unseen: ByCount = self.unseen.iter().map(|&mass| vec![mass]).collect();
        let of_unseen = |count: usize| {
            let all = if count < cap { count + 1 } else { unseen.len() };
            sum(&unseen[count..all], 1, side)[0]
        };
        let counts = unseen.len().min(cap + 1);
        Self {
            between: between.collect(),
            first: first.collect(),
            tail: tail.collect(),
            unseen: (0..counts).map(of_unseen).collect(),
            ..self
        }
    }

    fn without_ends(
        passages: &Passages,
        side: Side,
        (counts, lost): (usize, f64),
        products: &Products,
        stop: &Stop,
    ) -> Result<Self, Error> {
        let factor = |law: &[f64]| products.factor(passages.side(law, side));
        let chain = Chain { products, again: factor(&passages.again), side, stop };
        let seen: Vec<Factor> = passages.seen.iter().map(|law| factor(law)).collect();
        let start = products.factor(passages.side_of_start(&passages.start, side));
        let from = |source: &Factor, free: Vec<f64>, w: usize| -> Result<ByCount, Error> {
            Ok([free].into_iter().chain(chain.closed(source, &seen[w], counts)?).collect())
        };
        let (members, steps) = (passages.members(), passages.steps());
        let between = (0..members)
            .map(|w| {
                let back = factor(&passages.back[w]);
                (0..members).map(|to| from(&back, passages.side(&passages.among[w][to], side), to)).collect()
            })
            .collect::<Result<_, Error>>()?;
        let first = (0..members)
            .map(|w| from(&start, passages.side_of_start(&passages.start_seen[w], side), w))
            .collect::<Result<_, Error>>()?;
        Ok(Self {
            between,
            first,
            tail: Vec::new(),
            unseen: Vec::new(),
            sightings: (steps + 1) as f64,
            charging: Charging::Values,
            lost,
        })
    }
}

/// What remains of 1 after each time when the laws are subtracted. An upper bound if `taken` are lower
/// bounds, and the other way around. A lower bound also gives up the probability `lost`.
pub(super) fn left(taken: Vec<&[f64]>, side: Side, lost: f64) -> Vec<f64> {
    let mut sum = 0.0;
    let length = taken.first().map_or(0, |law| law.len());
    (0..length)
        .map(|t| {
            sum += taken.iter().map(|law| law[t]).sum::<f64>();
            let margin = ((t + 1) * (taken.len() + 2)) as f64 * f64::EPSILON;
            match side {
                Side::Upper => (1.0 - sum + margin).clamp(0.0, 1.0),
                Side::Lower => (1.0 - sum - margin - lost).max(0.0),
            }
        })
        .collect()
}

/// For each member, an upper bound on the probability that nobody sees the token for this number of steps
/// after the member did.
pub(super) fn unseen_tails(passages: &Passages, stop: &Stop) -> Result<Vec<Vec<f64>>, Error> {
    let side = Side::Lower;
    let (steps, products) = (passages.steps(), Products::new(passages.steps() + 1));
    let lower = |law: &Vec<f64>| passages.side(law, side);
    let chain = Chain { products: &products, again: products.factor(lower(&passages.again)), side, stop };
    let seen: Vec<Vec<f64>> = passages.seen.iter().map(lower).collect();
    let seen = products.factor(sum(&seen, steps + 1, side));
    let tail = |(back, among): (&Vec<f64>, &Vec<Vec<f64>>)| {
        let through = chain.any(&products.factor(lower(back)), &seen, steps)?;
        let among: Vec<Vec<f64>> = among.iter().map(lower).collect();
        Ok(left(among.iter().chain([&through]).map(Vec::as_slice).collect(), Side::Upper, 0.0))
    };
    passages.back.iter().zip(&passages.among).map(tail).collect()
}

/// The sum of series, rounded to its side.
fn sum(series: &[Vec<f64>], length: usize, side: Side) -> Vec<f64> {
    let error = series.len() as f64 * f64::EPSILON;
    let moved = if side == Side::Upper { 1.0 + error } else { 1.0 - error };
    (0..length).map(|t| series.iter().map(|law| law[t]).sum::<f64>() * moved).collect()
}

/// Repeated contributions, which follow one another by returns to `u`.
struct Chain<'a> {
    products: &'a Products,
    again: Factor,
    side: Side,
    stop: &'a Stop,
}

impl Chain<'_> {
    /// `source · again^{k−1} · last` for `k = 1..=counts`.
    fn closed(&self, source: &Factor, last: &Factor, counts: usize) -> Result<ByCount, Error> {
        let mut laws: ByCount = Vec::with_capacity(counts);
        let mut law = self.product(source, last);
        while laws.len() < counts {
            self.stop.spend(self.products.cost())?;
            let next = self.products.factor(law);
            laws.push(next.values().to_vec());
            if next.values().iter().all(|&p| p == 0.0) {
                break;
            }
            law = self.product(&next, &self.again);
        }
        Ok(laws)
    }

    /// The sum of `source · again^{k−1} · last` over `k = 1..=most`, or over more `k`: each squaring of
    /// `again` doubles the number of terms.
    fn any(&self, source: &Factor, last: &Factor, most: usize) -> Result<Vec<f64>, Error> {
        let mut law = self.product(source, last);
        let mut power = self.products.factor(self.again.values().to_vec());
        let mut terms = 1;
        while terms < most && power.values().iter().any(|&p| p > 0.0) {
            self.stop.spend(self.products.cost().saturating_mul(2))?;
            let more = self.product(&self.products.factor(law.clone()), &power);
            law = sum(&[law, more], self.again.values().len(), self.side);
            let square = self.product(&power, &power);
            power = self.products.factor(square);
            terms *= 2;
        }
        Ok(law)
    }

    fn product(&self, a: &Factor, b: &Factor) -> Vec<f64> {
        match self.side {
            Side::Upper => self.products.product(a, b),
            Side::Lower => self.products.product_down(a, b),
        }
    }
}

/// An upper bound on the mean number of sightings up to `T`: `e (F (1 − I)^{−1})(e^{−1/T})`, and at most `T +
/// 1`.
pub(super) fn sightings(upper: &Intervals, steps: usize) -> f64 {
    let most = (steps + 1) as f64;
    let at = |laws: &ByCount| -> f64 {
        let sum =
            |law: &Vec<f64>| law.iter().enumerate().map(|(t, p)| p * (-(t as f64) / most).exp()).sum::<f64>();
        laws.iter().map(sum).sum()
    };
    let members = upper.first.len();
    let transposed = (0..members).map(|w| upper.between.iter().map(|row| at(&row[w])).collect()).collect();
    let means = solve(transposed, upper.first.iter().map(at).collect());
    // Roundings: e to 1e-16, weights to 4e-16 each, and sums of T + 1 of them.
    let bound = means.map_or(f64::INFINITY, |means| 1.0001 * std::f64::consts::E * means.iter().sum::<f64>());
    if bound >= 0.0 { (bound + upper.lost * most).min(most) } else { most }
}

/// The number of contributions in an interval that are followed, and the probability that some interval has
/// more.
fn counts(passages: &Passages) -> Result<(usize, f64), Error> {
    let steps = passages.steps();
    let sum = |law: &[f64], all: bool| -> f64 {
        let law =
            if all { passages.side_of_start(law, Side::Upper) } else { passages.side(law, Side::Upper) };
        law.iter().sum::<f64>() * (1.0 + (steps + 4) as f64 * f64::EPSILON)
    };
    let again = sum(&passages.again, false);
    let back = passages.back.iter().map(|law| sum(law, false)).fold(0.0, f64::max);
    // There are at most T + 1 intervals, each with more than k contributions with probability back · again^k.
    let mut lost = (steps + 1) as f64 * back + sum(&passages.start, true);
    let most = (MOST_ENTRIES / ((steps + 1) * (passages.members() + 1).pow(2))).max(1);
    let mut counts = 0;
    while counts < steps && lost > NEGLIGIBLE {
        if counts == most {
            return Err(Error::NotOffered(
                "a node contributes too often between two visits of the observers for the law of the cost to be followed",
            ));
        }
        counts += 1;
        lost *= again * (1.0 + f64::EPSILON);
    }
    // There are no more contributions than steps.
    Ok((counts.max(1), if counts >= steps { 0.0 } else { lost }))
}

/// The probability that may be given up.
const NEGLIGIBLE: f64 = 1e-15;
/// The largest number of entries of all series together.
const MOST_ENTRIES: usize = 1 << 24;
