//! Rounding in the safe direction: an upper bound stays one after floating-point arithmetic.
//!
//! One mechanism for the whole workspace:
//!
//! * A formula of a few operations is evaluated on an [`Interval`], which contains the true value even where
//!   terms cancel. The four operations and the root are rounded in both directions, exactly: a result that is
//!   a float stays one. Elementary functions are those of `libm`, widened by three units in the
//!   last place on each side.
//! * A special function, or a sum of many positive terms, is computed in plain floats and moved outward by
//!   [`up`] or [`down`] by its error; logarithms by [`up_log`] or [`down_log`]. Each special function has one
//!   error constant, in units of [`f64::EPSILON`], in the file of the function: either proven there, or the
//!   worst relative error seen at 10⁶ points against 60 digits, doubled. Its documentation says which.
//! * A probability that underflows becomes the smallest positive float, never 0: [`exp_up`].
//!
//! Integers that a float cannot represent go through [`count_up`] and [`count_down`].

/// Units in the last place by which an elementary function of `libm` is moved outward.
///
/// Measured: against 60 digits at 10⁶ points each, over their whole range, `exp`, `expm1`, `log` and `log1p`
/// err by at most 0.66 epsilons, relative. Doubled that is 1.32, and three units in the last place are at
/// least 1.5.
const ELEMENTARY_ULPS: u32 = 3;

/// As `ELEMENTARY_ULPS`, for `tanh`. Measured in the same way: 1.25 epsilons; doubled, that is 2.5, which
/// is five units.
pub(crate) const TANH_ULPS: u32 = 5;

/// A number known to lie between two floats, `low ≤ x ≤ high`.
///
/// Every operation returns an interval that contains the exact result for every pair of arguments; an
/// operation without a value (`∞ − ∞`, a root of a negative number) returns `[−∞, ∞]`. No end is ever NaN.
///
/// # Examples
/// ```
/// use ndp_numeric::rounding::Interval;
/// // 1 − e^{−x} at x = 1e-17, where plain floats give 0.
/// let lost = Interval::ONE - (-Interval::new(1e-17)).exp();
/// assert!(lost.low() <= 1e-17 && 1e-17 <= lost.high());
/// // Nothing is added to what is exact.
/// assert_eq!((Interval::new(3.0) / Interval::new(4.0)).high(), 0.75);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    low: f64,
    high: f64,
}

impl Interval {
    /// Exactly 0.
    pub const ZERO: Self = Self { low: 0.0, high: 0.0 };
    /// Exactly 1.
    pub const ONE: Self = Self { low: 1.0, high: 1.0 };

    /// The interval of one float; the whole line for NaN.
    #[must_use]
    pub const fn new(exact: f64) -> Self {
        Self::between(exact, exact)
    }

    /// All numbers between two bounds; a NaN counts as no bound.
    #[must_use]
    pub const fn between(low: f64, high: f64) -> Self {
        Self {
            low: if low.is_nan() { f64::NEG_INFINITY } else { low },
            high: if high.is_nan() { f64::INFINITY } else { high },
        }
    }

    /// An integer, even one that no float represents exactly.
    #[must_use]
    pub fn count(count: u64) -> Self {
        Self { low: count_down(count), high: count_up(count) }
    }

    /// `a b − c`, keeping every digit even if the product and `c` nearly cancel.
    ///
    /// # Examples
    /// ```
    /// use ndp_numeric::rounding::Interval;
    /// // 0.1 · 10 is a little above 1; a product that is rounded first is 1.
    /// let above = Interval::product_less(0.1, 10.0, 1.0);
    /// assert!(above.low() > 5.5e-17 && above.high() < 5.6e-17);
    /// assert_eq!(Interval::new(0.1 * 10.0) - Interval::ONE, Interval::ZERO);
    /// ```
    #[must_use]
    pub fn product_less(a: f64, b: f64, c: f64) -> Self {
        let product = a * b;
        if !product.is_finite() || (product != 0.0 && product.abs() < ERROR_UNDERFLOWS) {
            return Self::new(a) * Self::new(b) - Self::new(c);
        }
        // The rounding error of the product is a float, and so is the difference if the two cancel.
        Self::new(product) - Self::new(c) + Self::new(libm::fma(a, b, -product))
    }

    /// The lower end: the largest float known not to exceed the number.
    #[must_use]
    pub const fn low(self) -> f64 {
        self.low
    }

    /// The upper end: the smallest float known not to be below the number.
    #[must_use]
    pub const fn high(self) -> f64 {
        self.high
    }

    /// `√x`.
    #[must_use]
    pub fn sqrt(self) -> Self {
        Self::between(root(self.low, Direction::Down), root(self.high, Direction::Up))
    }

    /// `e^x`; positive unless `x = −∞`.
    #[must_use]
    pub fn exp(self) -> Self {
        let wide = self.monotone(libm::exp, ELEMENTARY_ULPS, 0.0, |x| x == 0.0 || x == f64::NEG_INFINITY);
        // e^{−745.2} is below the smallest positive float, so that float is an upper end.
        let underflows = f64::NEG_INFINITY < self.high && self.high < -745.2;
        Self { low: wide.low, high: if underflows { 5e-324 } else { wide.high } }
    }

    /// `e^x − 1`.
    #[must_use]
    pub fn expm1(self) -> Self {
        self.monotone(libm::expm1, ELEMENTARY_ULPS, -1.0, |x| x == 0.0 || x == f64::NEG_INFINITY)
    }

    /// `ln x`, for `x ≥ 0`.
    #[must_use]
    pub fn ln(self) -> Self {
        // A lower end that rounding made negative is replaced by 0.
        let domain = Self { low: self.low.max(0.0), high: self.high };
        domain.monotone(libm::log, ELEMENTARY_ULPS, f64::NEG_INFINITY, |x| x == 1.0 || x == 0.0)
    }

    /// `ln(1 + x)`, for `x ≥ −1`.
    #[must_use]
    pub fn ln_1p(self) -> Self {
        let domain = Self { low: self.low.max(-1.0), high: self.high };
        domain.monotone(libm::log1p, ELEMENTARY_ULPS, f64::NEG_INFINITY, |x| x == 0.0 || x == -1.0)
    }

    /// `tanh x`.
    #[must_use]
    pub fn tanh(self) -> Self {
        let wide = self.monotone(libm::tanh, TANH_ULPS, -1.0, |x| x == 0.0 || x.is_infinite());
        Self { low: wide.low, high: wide.high.min(1.0) }
    }

    /// `ln(e^x − 1)`, for `x ≥ 0`.
    #[must_use]
    pub fn log_expm1(self) -> Self {
        // Beyond 37, e^{−x} is less than the last bit of 1, but the sum still includes it.
        if self.low > 37.0 { self + (-(-self).exp()).ln_1p() } else { self.expm1().ln() }
    }

    /// `ln(1 − e^x)`, for `x ≤ 0`.
    #[must_use]
    pub fn log1m_exp(self) -> Self {
        if self.low > -std::f64::consts::LN_2 { (-self.expm1()).ln() } else { (-self.exp()).ln_1p() }
    }

    /// `ln(e^x + e^y)`.
    #[must_use]
    pub fn log_add_exp(self, other: Self) -> Self {
        let (small, large) = if self.high < other.high { (self, other) } else { (other, self) };
        if large.low.is_infinite() { large } else { large + (small - large).exp().ln_1p() }
    }

    /// The smaller of the two.
    #[must_use]
    pub const fn min(self, other: Self) -> Self {
        Self { low: self.low.min(other.low), high: self.high.min(other.high) }
    }

    /// The larger of the two.
    #[must_use]
    pub const fn max(self, other: Self) -> Self {
        Self { low: self.low.max(other.low), high: self.high.max(other.high) }
    }

    /// Applies a nondecreasing function of `libm` whose values are at least `least`; `exact` says for which
    /// arguments the value is a float.
    fn monotone(self, f: impl Fn(f64) -> f64, ulps: u32, least: f64, exact: impl Fn(f64) -> bool) -> Self {
        let (mut low, mut high) = (f(self.low), f(self.high));
        if !exact(self.low) {
            for _ in 0..ulps {
                low = low.next_down();
            }
            low = low.max(least);
        }
        if !exact(self.high) {
            for _ in 0..ulps {
                high = high.next_up();
            }
        }
        Self::between(low, high)
    }
}

impl From<f64> for Interval {
    fn from(exact: f64) -> Self {
        Self::new(exact)
    }
}

impl std::ops::Neg for Interval {
    type Output = Self;

    fn neg(self) -> Self {
        Self { low: -self.high, high: -self.low }
    }
}

impl std::ops::Add for Interval {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self::between(sum(self.low, other.low, Direction::Down), sum(self.high, other.high, Direction::Up))
    }
}

impl std::ops::Sub for Interval {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl std::ops::Mul for Interval {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        self.extremes(other, product)
    }
}

impl std::ops::Div for Interval {
    type Output = Self;

    fn div(self, other: Self) -> Self {
        if other.low <= 0.0 && other.high >= 0.0 && !(other.low == 0.0 && self.low >= 0.0) {
            return Self { low: f64::NEG_INFINITY, high: f64::INFINITY };
        }
        self.extremes(other, quotient)
    }
}

impl Interval {
    /// The smallest interval that contains the operation's result on the four pairs of ends.
    fn extremes(self, other: Self, f: impl Fn(f64, f64, Direction) -> f64) -> Self {
        let ends =
            [(self.low, other.low), (self.low, other.high), (self.high, other.low), (self.high, other.high)];
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for (a, b) in ends {
            let (down, up) = (f(a, b, Direction::Down), f(a, b, Direction::Up));
            if down.is_nan() || up.is_nan() {
                return Self { low: f64::NEG_INFINITY, high: f64::INFINITY };
            }
            (low, high) = (low.min(down), high.max(up));
        }
        Self { low, high }
    }
}

impl std::iter::Sum for Interval {
    fn sum<I: Iterator<Item = Self>>(terms: I) -> Self {
        terms.fold(Self::ZERO, |sum, term| sum + term)
    }
}

/// An upper bound on the probability that any of several events happens: the sum of their probabilities
/// (union bound), rounded up, or 1 if that is less.
///
/// # Examples
/// ```
/// use ndp_numeric::rounding::any_of;
/// assert_eq!(any_of([0.0, 0.0]), 0.0);
/// assert_eq!(any_of([0.75, 0.5]), 1.0);
/// // To nearest the sum would be 1e-30, as if the second could not happen.
/// assert!(any_of([1e-30, 1e-60]) > 1e-30);
/// ```
#[must_use]
pub fn any_of(probabilities: impl IntoIterator<Item = f64>) -> f64 {
    probabilities.into_iter().map(Interval::new).sum::<Interval>().high().min(1.0)
}

/// Rounds up a nonnegative value of relative error at most `error` epsilons; 0 and `∞` are returned
/// unchanged.
#[must_use]
pub fn up(value: f64, error: f64) -> f64 {
    // The product rounds once, and a subnormal value may be off by one of its units.
    if value == 0.0 { value } else { (value * (1.0 + error * f64::EPSILON)).next_up() }
}

/// Rounds down a nonnegative value of relative error at most `error` epsilons.
#[must_use]
pub fn down(value: f64, error: f64) -> f64 {
    if value <= 0.0 { value } else { (value * (1.0 - error * f64::EPSILON)).next_down().max(0.0) }
}

/// Rounds up a logarithm of error at most `absolute + relative · |log|` epsilons; infinities are unchanged.
#[must_use]
pub fn up_log(log: f64, absolute: f64, relative: f64) -> f64 {
    if log.is_infinite() { log } else { log + f64::EPSILON * (absolute + (relative + 1.0) * log.abs()) }
}

/// Rounds down a logarithm of error at most `absolute + relative · |log|` epsilons; infinities are unchanged.
#[must_use]
pub fn down_log(log: f64, absolute: f64, relative: f64) -> f64 {
    -up_log(-log, absolute, relative)
}

/// Rounds up a value that is a sum of terms of both signs, none larger than `scale`, each with a relative
/// error of at most `error` epsilons.
#[must_use]
pub fn up_by(value: f64, scale: f64, error: f64) -> f64 {
    (value + (error + 1.0) * f64::EPSILON * scale).next_up()
}

/// `e^log` rounded up: a probability that underflows becomes the smallest positive float, and only `−∞` gives
/// 0.
#[must_use]
pub fn exp_up(log: f64) -> f64 {
    Interval::new(log).exp().high()
}

/// `ln x` rounded down: a logarithm that does not exceed it belongs to a value that does not exceed `x`.
#[must_use]
pub fn log_down(x: f64) -> f64 {
    Interval::new(x).ln().low()
}

/// `ln x` rounded up.
#[must_use]
pub fn log_up(x: f64) -> f64 {
    Interval::new(x).ln().high()
}

/// The smallest float that is at least `count`.
#[must_use]
pub fn count_up(count: u64) -> f64 {
    let nearest = count as f64;
    if whole_wide(nearest) < u128::from(count) { nearest.next_up() } else { nearest }
}

/// The largest float that is at most `count`.
#[must_use]
pub fn count_down(count: u64) -> f64 {
    let nearest = count as f64;
    if whole_wide(nearest) > u128::from(count) { nearest.next_down() } else { nearest }
}

/// A nonnegative float without a fractional part, at most `2^64`, as an integer.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "2^64 fits, and nothing is negative"
)]
const fn whole_wide(x: f64) -> u128 {
    x as u128
}

/// The whole part of a number: 0 for NaN or below 1, the largest integer for larger numbers. Only this
/// function and those of `casts` truncate floats.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the cast saturates, which is what is asked for"
)]
#[must_use]
#[inline]
pub const fn whole(x: f64) -> u64 {
    x as u64
}

/// An integer as an index; a number beyond the largest index gives that index.
#[must_use]
#[inline]
pub fn index(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

#[derive(Clone, Copy, PartialEq)]
enum Direction {
    Down,
    Up,
}

impl Direction {
    /// Rounds `nearest + error` to a float in this direction, where only the sign of `error` needs to be
    /// exact.
    fn correct(self, nearest: f64, error: f64) -> f64 {
        match self {
            Self::Up if error > 0.0 => nearest.next_up(),
            Self::Down if error < 0.0 => nearest.next_down(),
            _ => nearest,
        }
    }

    /// The next float in this direction, without changing sign; for results whose rounding error cannot be
    /// computed.
    fn outward(self, nearest: f64, negative: bool) -> f64 {
        match (self, negative) {
            (Self::Up, false) => nearest.next_up(),
            (Self::Up, true) => nearest.next_up().min(0.0),
            (Self::Down, false) => nearest.next_down().max(0.0),
            (Self::Down, true) => nearest.next_down(),
        }
    }
}

/// Below this size, the error term of a product or quotient may itself underflow.
const ERROR_UNDERFLOWS: f64 = 1e-280;

fn sum(a: f64, b: f64, direction: Direction) -> f64 {
    let sum = a + b;
    if sum.is_infinite() {
        return overflow(sum, a.is_finite() && b.is_finite(), direction);
    }
    let part = sum - a;
    direction.correct(sum, (a - (sum - part)) + (b - part))
}

fn product(a: f64, b: f64, direction: Direction) -> f64 {
    let product = a * b;
    if product.is_infinite() {
        return overflow(product, a.is_finite() && b.is_finite(), direction);
    }
    if a == 0.0 || b == 0.0 {
        return product;
    }
    if product.abs() < ERROR_UNDERFLOWS {
        return direction.outward(product, (a < 0.0) != (b < 0.0));
    }
    direction.correct(product, libm::fma(a, b, -product))
}

fn quotient(a: f64, b: f64, direction: Direction) -> f64 {
    let quotient = a / b;
    if quotient.is_infinite() {
        return overflow(quotient, a.is_finite() && b != 0.0, direction);
    }
    if a == 0.0 || b.is_infinite() {
        return quotient;
    }
    if quotient.abs() < ERROR_UNDERFLOWS || a.abs() < ERROR_UNDERFLOWS {
        return direction.outward(quotient, (a < 0.0) != (b < 0.0));
    }
    let rest = libm::fma(-quotient, b, a);
    direction.correct(quotient, if b < 0.0 { -rest } else { rest })
}

fn root(x: f64, direction: Direction) -> f64 {
    let root = x.sqrt();
    if x == 0.0 || x.is_infinite() || root.is_nan() {
        return root;
    }
    if x < ERROR_UNDERFLOWS {
        return direction.outward(root, false);
    }
    direction.correct(root, libm::fma(-root, root, x))
}

/// Replaces an infinite result of finite numbers, which is only too large for a float, by the right bound.
fn overflow(infinite: f64, finite: bool, direction: Direction) -> f64 {
    match (finite, direction) {
        (true, Direction::Down) if infinite > 0.0 => f64::MAX,
        (true, Direction::Up) if infinite < 0.0 => f64::MIN,
        _ => infinite,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_is_outward_and_small() {
        assert!(up(1.0, 4.0) > 1.0 && up(1.0, 4.0) < 1.0 + 2e-15);
        assert_eq!((up(0.0, 4.0), up(f64::INFINITY, 4.0)), (0.0, f64::INFINITY));
        assert_eq!((up(5e-324, 1.0), down(5e-324, 1.0), down(0.0, 1.0)), (1e-323, 0.0, 0.0));
        assert!(up_log(-700.0, 1.0, 1.0) > -700.0 && down_log(-700.0, 1.0, 1.0) < -700.0);
        assert_eq!(up_log(f64::NEG_INFINITY, 1.0, 1.0), f64::NEG_INFINITY);
        assert_eq!((exp_up(f64::NEG_INFINITY), exp_up(0.0), exp_up(f64::MIN)), (0.0, 1.0, 5e-324));
        assert!(up_by(-1e-3, 2.0, 1.0) > -1e-3 && up_by(-1e-3, 2.0, 1.0) < -1e-3 + 2e-15);
    }

    #[test]
    fn counts_are_rounded_outward() {
        for count in [0, 1, (1 << 53) + 1, u64::MAX, u64::MAX - 1, (1 << 63) + 1025] {
            assert!(count_down(count) as u128 <= u128::from(count));
            assert!(count_up(count) as u128 >= u128::from(count));
            assert!(count_up(count) <= count_down(count).next_up());
        }
        assert_eq!(count_up(u64::MAX), 18_446_744_073_709_551_616.0);
        assert_eq!(count_down(u64::MAX), 18_446_744_073_709_549_568.0);
    }

    /// Compared with integers, for which products, quotients and roots are known exactly.
    #[test]
    fn operations_are_directed_and_exact_ones_stay() {
        let thin = |x: Interval| x.low() == x.high();
        for a in (1_u64 << 52)..(1 << 52) + 40 {
            for b in (1_u64 << 52) + 3..(1 << 52) + 20 {
                let (x, y) = (Interval::count(a), Interval::count(b));
                let product = x * y;
                let exact = u128::from(a) * u128::from(b);
                assert!(product.low() as u128 <= exact && exact <= product.high() as u128);
                assert_eq!(thin(product), product.high() as u128 == exact);
                let quotient = x / y;
                assert!((quotient * y).low() <= x.low() && x.high() <= (quotient * y).high());
                assert_eq!(thin(quotient), a == b);
            }
            let root = Interval::count(a).sqrt();
            assert!((root * root).low() <= a as f64 && a as f64 <= (root * root).high());
        }
        // Products that are rounded to either side, of both signs.
        for a in (1_i128 << 52..1 << 53).step_by(409_600_000_000_411) {
            let b = 3 * (1_i128 << 52) - a;
            for sign in [1, -1] {
                let product = Interval::new(sign as f64 * a as f64) * Interval::new(b as f64);
                let (low, high) = (product.low() as i128, product.high() as i128);
                let exact = sign * a * b;
                assert!(low <= exact && exact <= high && high - low <= 1 << 54, "{a} {b}");
            }
        }
        assert!(thin(Interval::new(3.0) / Interval::new(8.0)));
        assert!(thin(Interval::new(1.0) - Interval::new(1e-16).min(Interval::ZERO)));
        assert!(!thin(Interval::new(1.0) - Interval::new(1e-17)));
        assert_eq!((Interval::new(1.0) - Interval::new(1e-17)).low(), 1.0_f64.next_down());
    }

    #[test]
    fn extremes_stay_enclosed() {
        let tiny = Interval::new(5e-324) * Interval::new(0.5);
        assert_eq!((tiny.low(), tiny.high()), (0.0, 5e-324));
        let huge = Interval::new(f64::MAX) * Interval::new(2.0);
        assert_eq!((huge.low(), huge.high()), (f64::MAX, f64::INFINITY));
        let lost = Interval::new(f64::INFINITY) - Interval::new(f64::INFINITY);
        assert_eq!((lost.low(), lost.high()), (f64::NEG_INFINITY, f64::INFINITY));
        let zero = Interval::ONE / Interval::ZERO;
        assert_eq!(zero.high(), f64::INFINITY);
        assert_eq!((Interval::ONE / Interval::between(-1.0, 1.0)).low(), f64::NEG_INFINITY);
        assert_eq!(Interval::new(f64::NAN), Interval::between(f64::NEG_INFINITY, f64::INFINITY));
        assert_eq!(Interval::new(-1.0).sqrt().high(), f64::INFINITY);
        assert_eq!(Interval::ZERO.exp(), Interval::ONE);
        assert_eq!(Interval::new(-800.0).exp().low(), 0.0);
        assert!(Interval::new(-800.0).exp().high() > 0.0);
        assert_eq!(Interval::new(50.0).tanh().high(), 1.0);
        assert_eq!(Interval::new(-50.0).expm1().low(), -1.0);
    }

    /// Compared with whole numbers: in units of `2^-52`, where `m` is a float and `m e` an integer, nothing
    /// is rounded.
    #[test]
    fn what_is_added_covers_the_error_exactly() {
        for m in (1_i128 << 52..1 << 53).step_by(40_960_000_000_411) {
            let value = m as f64;
            for e in [0_i128, 1, 4, 33] {
                let error = e as f64;
                let units = |x: f64| (x as i128) << 52;
                let unit = 1_i128 << 52;
                let (most, least) = (m * (unit + e), m * (unit - e));
                assert!((most..most + 4 * unit).contains(&units(up(value, error))), "{m} {e}");
                assert!((least - 4 * unit..=least).contains(&units(down(value, error))), "{m} {e}");
                for (log, sign) in [(value, 1), (-value, -1)] {
                    let (most, least) = (sign * m * unit + e + e * m, sign * m * unit - e - e * m);
                    let (above, below) = (up_log(log, error, error), down_log(log, error, error));
                    assert!((most..most + 4 * unit).contains(&units(above)), "{log} {e}");
                    assert!((least - 4 * unit..=least).contains(&units(below)), "{log} {e}");
                    let most = sign * m * unit + e * m;
                    assert!((most..most + 4 * unit).contains(&units(up_by(log, value, error))), "{log} {e}");
                }
            }
        }
        // An error of the size of the scale is covered where nothing else is.
        assert!(up_by(0.0, 1.0, 1.0) >= f64::EPSILON);
        // A number that is off by twice its size may be 0, but is not negative.
        assert_eq!(down(1.0, 2.0 / f64::EPSILON), 0.0);
    }

    /// The functions of `libm` are widened on each side by what is said, and an end belongs to its own side.
    #[test]
    fn elementary_functions_are_widened_on_both_sides() {
        let check = |f: fn(f64) -> f64, wide: fn(Interval) -> Interval, ulps: u32, x: f64| {
            let (mut low, mut high) = (f(x), f(x));
            for _ in 0..ulps {
                (low, high) = (low.next_down(), high.next_up());
            }
            let alone = wide(Interval::new(x));
            assert!(alone.low() <= low && high <= alone.high(), "{x}: {alone:?}");
            let both = wide(Interval::between(x, 1.5 * x));
            assert!(both.low() <= f(x) && f(1.5 * x) <= both.high(), "{x}: {both:?}");
        };
        for x in [1e-3, 0.3, 0.7, 2.0, 5.5] {
            check(libm::exp, Interval::exp, ELEMENTARY_ULPS, x);
            check(libm::expm1, Interval::expm1, ELEMENTARY_ULPS, x);
            check(libm::log, Interval::ln, ELEMENTARY_ULPS, x);
            check(libm::log1p, Interval::ln_1p, ELEMENTARY_ULPS, x);
            check(libm::tanh, Interval::tanh, TANH_ULPS, x);
        }
        // That one end is exact says nothing about the other.
        let above = (0..ELEMENTARY_ULPS).fold(libm::exp(1.0), |x, _| x.next_up());
        assert!(Interval::between(0.0, 1.0).exp().high() >= above);
        assert_eq!(Interval::between(4.0, 9.0).sqrt(), Interval::between(2.0, 3.0));
        assert_eq!(Interval::between(-3.0, 0.0).ln_1p(), Interval::between(f64::NEG_INFINITY, 0.0));
        // The exponential of ln 2 is 2: both branches of the differences enclose it.
        for x in [1e-9, 0.5, 20.0, 36.0, 38.0, 700.0] {
            let log = Interval::new(x).log_expm1();
            let back = log.exp() + Interval::ONE - Interval::new(x).exp();
            assert!(back.low() <= 0.0 && 0.0 <= back.high(), "{x}: {log:?}");
        }
    }

    /// Products and quotients below the normal numbers, in units of the smallest float: those of whole
    /// numbers.
    #[test]
    fn subnormal_results_are_enclosed_on_both_sides_of_zero() {
        let units = |count: f64| Interval::new(count * 5e-324);
        for (x, y, exact) in [(3.0, 0.5, 1.5), (-3.0, 0.5, -1.5), (1.0, 0.25, 0.25), (-1.0, 0.25, -0.25)] {
            for found in [units(x) * Interval::new(y), units(x) / Interval::new(1.0 / y)] {
                let [low, high] = [found.low(), found.high()].map(|end| end / 5e-324);
                assert!(low < exact && exact < high && high - low <= 2.0, "{exact}: {low} {high}");
                // No end crosses 0.
                assert!(low * exact >= 0.0 && high * exact >= 0.0, "{exact}: {low} {high}");
            }
        }
    }

    #[test]
    fn quotients_by_intervals_that_touch_zero() {
        let two = Interval::new(2.0);
        assert_eq!(two / Interval::between(0.0, 4.0), Interval::between(0.5, f64::INFINITY));
        let line = Interval::between(f64::NEG_INFINITY, f64::INFINITY);
        for divisor in [Interval::between(-4.0, 0.0), Interval::between(-1.0, 4.0), Interval::ZERO] {
            let whole = (two / divisor, (-two) / divisor);
            assert_eq!(whole.1, line, "{divisor:?}");
            assert!(whole.0 == line || divisor == Interval::ZERO, "{divisor:?}");
        }
        assert_eq!(two / Interval::between(-4.0, -1.0), Interval::between(-2.0, -0.5));
    }
}
