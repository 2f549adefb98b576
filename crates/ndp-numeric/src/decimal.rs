//! Numbers as text, rounded in a stated direction.
//!
//! A guarantee must not look smaller than it is when it is shown, and the remaining budget must not look
//! larger. Every number written for a reader goes through one of four functions, each with the direction in
//! which it is rounded:
//!
//! | function | writes | example, `Up` |
//! |---|---|---|
//! | [`fixed`] | `n` decimals | `0.4507` with 2: `0.46` |
//! | [`scientific`] | `n` decimals and an exponent | `1.21e-7` with 1: `1.3e-7` |
//! | [`significant`] | at most `n` digits, as few as possible | `1` with 6: `1`; `0.30001` with 3: `0.301` |
//! | [`percent`] | a share in per cent, `n` decimals | `0.450720` with 2: `45.08` |
//!
//! | what is shown | direction |
//! |---|---|
//! | guarantees, and the noise that they need | [`Round::Up`] |
//! | lower ends, and what is left of a budget | [`Round::Down`] |
//! | estimates, values of printed formulas, parameters | [`Round::Nearest`] |
//!
//! The decision rests on the full decimal expansion of the binary number, and no floating-point operation
//! takes part: the float that is written 0.1 is larger than a tenth by `5.6e-18`, and rounded up to one
//! decimal it is 0.2. A number with no more digits than asked for is written exactly. For the shortest text
//! that reads back as the same float, write `{}`.
//!
//! Infinities are `inf` and `-inf`. NaN has no finite bound: it is `inf` rounded up, `-inf` rounded down, and
//! `undefined` rounded to nearest.

/// The direction in which a number is rounded when it is written.
///
/// # Examples
/// ```
/// use ndp_numeric::decimal::{Round, fixed};
/// let third = 1.0 / 3.0;
/// let shown = [Round::Up, Round::Down, Round::Nearest].map(|round| fixed(third, 2, round));
/// assert_eq!(shown, ["0.34", "0.33", "0.33"]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Round {
    /// Never below the number: for a guarantee, and for the noise that it needs.
    Up,
    /// Never above the number: for a lower end, and for what is left of a budget.
    Down,
    /// To the nearest, halves to the even digit: for numbers that are no guarantee.
    Nearest,
}

/// `x` with exactly `decimals` decimals.
///
/// # Examples
/// ```
/// use ndp_numeric::decimal::{Round, fixed};
/// assert_eq!(fixed(2.0, 2, Round::Up), "2.00");
/// assert_eq!(fixed(1e-9, 3, Round::Up), "0.001");
/// assert_eq!(fixed(-0.05, 1, Round::Up), "0.0");
/// assert_eq!(fixed(99.96, 1, Round::Up), "100.0");
/// ```
#[must_use]
pub fn fixed(x: f64, decimals: usize, round: Round) -> String {
    shifted(x, decimals, 0, round)
}

/// The share `x` in per cent, with exactly `decimals` decimals and without the per cent sign.
///
/// # Examples
/// ```
/// use ndp_numeric::decimal::{Round, percent};
/// assert_eq!(percent(0.450_720, 2, Round::Up), "45.08");
/// assert_eq!(percent(0.5, 0, Round::Up), "50");
/// ```
#[must_use]
pub fn percent(x: f64, decimals: usize, round: Round) -> String {
    shifted(x, decimals, 2, round)
}

/// `x` in scientific notation with exactly `decimals` decimals.
///
/// # Examples
/// ```
/// use ndp_numeric::decimal::{Round, scientific};
/// assert_eq!(scientific(1.21e-7, 1, Round::Up), "1.3e-7");
/// assert_eq!(scientific(9.99, 1, Round::Up), "1.0e1");
/// assert_eq!(scientific(9.99, 1, Round::Down), "9.9e0");
/// ```
#[must_use]
pub fn scientific(x: f64, decimals: usize, round: Round) -> String {
    let decimals = decimals.min(MOST_WRITTEN);
    match Decimal::of(x) {
        Ok(Some(exact)) => {
            let (digits, exponent) = exact.to_digits(decimals + 1, round);
            format!("{}{}e{exponent}", exact.sign(), pointed(&digits, decimals))
        }
        Ok(None) => format!("{}e0", pointed(&[], decimals)),
        Err(special) => special.text(round),
    }
}

/// `x` with at most `digits` significant digits (at least one), without trailing zeros; written with an
/// exponent if it is below `1e-4` or if the digits end before the decimal point.
///
/// # Examples
/// ```
/// use ndp_numeric::decimal::{Round, significant};
/// let up = |x| significant(x, 3, Round::Up);
/// assert_eq!([up(1.0), up(0.30001), up(120.0), up(1234.5), up(2e-9)], ["1", "0.301", "120", "1.24e3", "2.01e-9"]);
/// ```
#[must_use]
pub fn significant(x: f64, digits: usize, round: Round) -> String {
    let digits = digits.clamp(1, MOST_WRITTEN);
    match Decimal::of(x) {
        Ok(Some(exact)) => {
            let (kept, exponent) = exact.to_digits(digits, round);
            let reach = i32::try_from(digits).unwrap_or(i32::MAX);
            let shown = kept.iter().rposition(|&digit| digit != 0).map_or(1, |last| last + 1);
            let kept = &kept[..shown];
            let text = match usize::try_from(exponent) {
                Ok(whole) if exponent < reach => {
                    // Fill up with zeros to the decimal point.
                    let mut all = kept.to_vec();
                    all.resize(shown.max(whole + 1), 0);
                    pointed(&all, all.len() - whole - 1)
                }
                Err(_) if exponent >= -4 => {
                    let decimals = shown + usize::try_from(-exponent).unwrap_or(0) - 1;
                    pointed(kept, decimals)
                }
                _ => format!("{}e{exponent}", pointed(kept, shown - 1)),
            };
            format!("{}{text}", exact.sign())
        }
        Ok(None) => "0".into(),
        Err(special) => special.text(round),
    }
}

/// `x · 10^shift` with `decimals` decimals.
fn shifted(x: f64, decimals: usize, shift: i32, round: Round) -> String {
    let decimals = decimals.min(MOST_WRITTEN);
    match Decimal::of(x) {
        Ok(Some(mut exact)) => {
            exact.exponent += shift;
            let digits = exact.to_decimals(decimals, round);
            let sign = if digits.iter().all(|&digit| digit == 0) { "" } else { exact.sign() };
            format!("{sign}{}", pointed(&digits, decimals))
        }
        Ok(None) => pointed(&[], decimals),
        Err(special) => special.text(round),
    }
}

/// Values without a decimal expansion.
enum Special {
    Infinite { negative: bool },
    Undefined,
}

impl Special {
    fn text(&self, round: Round) -> String {
        match (self, round) {
            (Self::Infinite { negative: false }, _) | (Self::Undefined, Round::Up) => "inf",
            (Self::Infinite { negative: true }, _) | (Self::Undefined, Round::Down) => "-inf",
            (Self::Undefined, Round::Nearest) => "undefined",
        }
        .into()
    }
}

/// A finite number other than 0 with all its digits: `d₀.d₁d₂… · 10^exponent`, `d₀` not 0.
struct Decimal {
    negative: bool,
    digits: Vec<u8>,
    exponent: i32,
}

impl Decimal {
    /// `None` for 0.
    fn of(x: f64) -> Result<Option<Self>, Special> {
        if x.is_nan() {
            return Err(Special::Undefined);
        }
        if x.is_infinite() {
            return Err(Special::Infinite { negative: x < 0.0 });
        }
        if x == 0.0 {
            return Ok(None);
        }
        // With this many digits the text is the number itself.
        let text = format!("{:.*e}", MOST_DIGITS - 1, x.abs());
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let digits = mantissa.bytes().filter(u8::is_ascii_digit).map(|digit| digit - b'0').collect();
        Ok(Some(Self { negative: x < 0.0, digits, exponent: exponent.parse().unwrap_or(0) }))
    }

    fn sign(&self) -> &'static str {
        if self.negative { "-" } else { "" }
    }

    /// The digits down to `10^-decimals`, as those of a whole number.
    fn to_decimals(&self, decimals: usize, round: Round) -> Vec<u8> {
        let last = i64::try_from(decimals).unwrap_or(i64::MAX);
        self.cut(last.saturating_add(i64::from(self.exponent)).saturating_add(1), round)
    }

    /// The first `count` digits, and the exponent of the first one.
    fn to_digits(&self, count: usize, round: Round) -> (Vec<u8>, i32) {
        let mut digits = self.cut(i64::try_from(count).unwrap_or(i64::MAX), round);
        // 9.99 may have become 10.0.
        let carried = digits.len() > count;
        digits.truncate(count);
        (digits, self.exponent + i32::from(carried))
    }

    /// The first `keep` digits, rounded, as those of a whole number; one digit more if rounding carries.
    fn cut(&self, keep: i64, round: Round) -> Vec<u8> {
        let at = usize::try_from(keep.max(0)).unwrap_or(usize::MAX);
        let rest = self.digits.get(at..).unwrap_or(&[]);
        // Beyond its last digit the number continues with zeros.
        let mut kept: Vec<u8> = self.digits.iter().copied().chain(std::iter::repeat(0)).take(at).collect();
        let beyond = rest.iter().any(|&digit| digit != 0);
        let away = match round {
            Round::Up => beyond && !self.negative,
            Round::Down => beyond && self.negative,
            Round::Nearest if keep < 0 => false,
            Round::Nearest => {
                let odd = kept.last().is_some_and(|digit| digit % 2 == 1);
                let above = rest.get(1..).is_some_and(|rest| rest.iter().any(|&digit| digit != 0));
                rest.first().is_some_and(|&digit| digit > 5 || (digit == 5 && (above || odd)))
            }
        };
        if away {
            increment(&mut kept);
        }
        kept
    }
}

/// The next whole number.
fn increment(digits: &mut Vec<u8>) {
    for digit in digits.iter_mut().rev() {
        if *digit < 9 {
            *digit += 1;
            return;
        }
        *digit = 0;
    }
    digits.insert(0, 1);
}

/// A whole number over `10^decimals`, as text.
fn pointed(digits: &[u8], decimals: usize) -> String {
    let missing = (decimals + 1).saturating_sub(digits.len());
    let zeros = std::iter::repeat_n(0, missing);
    let mut text: String =
        zeros.chain(digits.iter().copied()).map(|digit| char::from(b'0' + digit)).collect();
    if decimals > 0 {
        text.insert(text.len() - decimals, '.');
    }
    text
}

/// The most digits that a float has.
const MOST_DIGITS: usize = 767;
/// The largest number of decimals that is written; no float has more.
const MOST_WRITTEN: usize = 1100;

#[cfg(test)]
mod tests {
    use super::*;

    const SIDES: [Round; 3] = [Round::Up, Round::Down, Round::Nearest];

    /// Compares `x = m 2^-k` with `N 10^-d` in whole numbers: no float takes part in the comparison.
    #[test]
    fn texts_lie_on_the_stated_side_and_within_a_unit() {
        let mut m: u64 = 1;
        for i in 0..4000_u32 {
            m = m.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let (odd, k) = ((m >> 24) | 1, 20 + i % 41);
            let x = odd as f64 / (1_u64 << k) as f64; // at most 40 bits: exact
            for d in 0..=4_usize {
                let exact = u128::from(odd) * 10_u128.pow(d as u32);
                for (round, negative) in SIDES.into_iter().flat_map(|side| [(side, false), (side, true)]) {
                    let text = fixed(if negative { -x } else { x }, d, round);
                    let shown: u128 = text.replace(['.', '-'], "").parse().unwrap();
                    let shown = shown << k;
                    let unit = 1_u128 << k;
                    let (low, high) = match (round, negative) {
                        (Round::Up, false) | (Round::Down, true) => (exact, exact + unit - 1),
                        (Round::Down, false) | (Round::Up, true) => ((exact + 1).saturating_sub(unit), exact),
                        (Round::Nearest, _) => (exact.saturating_sub(unit / 2), exact + unit / 2),
                    };
                    assert!((low..=high).contains(&shown), "{x:?} with {d} decimals, {round:?}: {text}");
                    assert_eq!(text.starts_with('-'), negative && shown > 0, "{text}");
                }
            }
        }
    }

    /// `significant` and `fixed` give the same text when they cut at the same place.
    #[test]
    fn all_notations_agree() {
        let mut x = 1.234e-7;
        while x < 1e9 {
            x *= 1.137;
            for round in SIDES {
                for digits in 1..9_usize {
                    let scientific = scientific(x, digits - 1, round);
                    let short = significant(x, digits, round);
                    assert_eq!(
                        scientific.parse::<f64>(),
                        short.parse(),
                        "{x:?} {round:?}: {scientific}, {short}"
                    );
                    let exponent = x.log10().floor() as i32;
                    if let Ok(decimals) = usize::try_from(digits as i32 - 1 - exponent) {
                        let fixed = fixed(x, decimals, round);
                        assert_eq!(fixed.parse::<f64>(), short.parse(), "{x:?} {round:?}: {fixed}, {short}");
                        if decimals >= 2 {
                            let percent: f64 = percent(x, decimals - 2, round).parse().unwrap();
                            let fixed: f64 = fixed.parse().unwrap();
                            assert!((percent - 100.0 * fixed).abs() <= 1e-12 * percent);
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn what_needs_no_rounding_stays() {
        for round in SIDES {
            assert_eq!([significant(1.0, 6, round), significant(0.25, 2, round)], ["1", "0.25"]);
            assert_eq!(
                [fixed(0.125, 3, round), fixed(2.0, 0, round), fixed(0.0, 2, round)],
                ["0.125", "2", "0.00"]
            );
            assert_eq!([scientific(0.0, 1, round), significant(-0.0, 3, round)], ["0.0e0", "0"]);
            assert_eq!([percent(0.25, 0, round), fixed(-3.5, 1, round)], ["25", "-3.5"]);
            assert_eq!(significant(65536.0, 5, round), "65536");
            assert_eq!(significant(0.000_122_070_312_5, 10, round), "0.0001220703125");
        }
    }

    /// The float written 0.1 is above a tenth, the one written 0.7 below seven tenths.
    #[test]
    fn the_binary_number_decides() {
        assert_eq!(SIDES.map(|side| fixed(0.1, 1, side)), ["0.2", "0.1", "0.1"]);
        assert_eq!(SIDES.map(|side| fixed(0.7, 1, side)), ["0.7", "0.6", "0.7"]);
        assert_eq!(SIDES.map(|side| fixed(-0.1, 1, side)), ["-0.1", "-0.2", "-0.1"]);
        assert_eq!(fixed(0.1, 55, Round::Up), "0.1000000000000000055511151231257827021181583404541015625");
        assert_eq!(fixed(0.1, 55, Round::Down), "0.1000000000000000055511151231257827021181583404541015625");
        // A parser reads both texts back as the same float, although neither is equal to it.
        assert_eq!(significant(0.1, 17, Round::Down), "0.1");
        assert_eq!(significant(0.1, 17, Round::Up), "0.10000000000000001");
    }

    #[test]
    fn halves_go_to_the_even_digit() {
        let nearest = |x| fixed(x, 0, Round::Nearest);
        assert_eq!([0.5, 1.5, 2.5, 0.5000001, 0.25, 9.5].map(nearest), ["0", "2", "2", "1", "0", "10"]);
        assert_eq!(fixed(0.04, 0, Round::Nearest), "0");
        assert_eq!(fixed(0.375, 2, Round::Nearest), "0.38");
    }

    #[test]
    fn extremes_are_written() {
        assert_eq!(scientific(5e-324, 2, Round::Up), "4.95e-324");
        assert_eq!(scientific(5e-324, 2, Round::Down), "4.94e-324");
        assert_eq!(scientific(f64::MAX, 1, Round::Up), "1.8e308");
        assert_eq!(significant(f64::MAX, 3, Round::Down), "1.79e308");
        assert_eq!(fixed(5e-324, 4, Round::Up), "0.0001");
        assert_eq!(fixed(-5e-324, 4, Round::Up), "0.0000");
        assert_eq!(fixed(-5e-324, 4, Round::Down), "-0.0001");
        assert_eq!(fixed(9.999, 2, Round::Up), "10.00");
        assert_eq!(significant(9.999e-5, 2, Round::Up), "0.0001");
        assert_eq!(significant(999.6, 3, Round::Up), "1e3");
        assert_eq!(fixed(5e-324, 1074, Round::Up).len(), 1076);
        assert_eq!(fixed(1.0, 2_000_000, Round::Up).len(), MOST_WRITTEN + 2);
        assert_eq!(significant(0.5, usize::MAX, Round::Up), "0.5");
        assert_eq!(significant(0.5, 0, Round::Up), "0.5");
        for write in [fixed, scientific, significant, percent] {
            assert_eq!(SIDES.map(|side| write(f64::INFINITY, 2, side)), ["inf"; 3]);
            assert_eq!(SIDES.map(|side| write(f64::NEG_INFINITY, 2, side)), ["-inf"; 3]);
            assert_eq!(SIDES.map(|side| write(f64::NAN, 2, side)), ["inf", "-inf", "undefined"]);
        }
    }
}
