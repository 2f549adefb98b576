//! The two ends of an enclosure.

/// Both ends of a nonnegative number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Ends {
    pub(super) low: f64,
    pub(super) high: f64,
}

impl Ends {
    pub(super) const ZERO: Self = Self { low: 0.0, high: 0.0 };

    /// The larger of two numbers.
    pub(super) fn max(self, other: Self) -> Self {
        Self { low: self.low.max(other.low), high: self.high.max(other.high) }
    }

    /// The sum of two numbers, rounded outwards; adding 0 changes nothing.
    pub(super) fn plus(self, other: Self) -> Self {
        let none = |a: f64, b: f64| a == 0.0 || b == 0.0;
        Self {
            low: if none(self.low, other.low) {
                self.low.max(other.low)
            } else {
                (self.low + other.low).next_down()
            },
            high: if none(self.high, other.high) {
                self.high.max(other.high)
            } else {
                (self.high + other.high).next_up()
            },
        }
    }

    /// Times a nonnegative number, rounded outwards.
    pub(super) fn scaled(self, by: f64) -> Self {
        if by == 1.0 {
            return self;
        }
        let high = if self.high == 0.0 || by == 0.0 { 0.0 } else { (self.high * by).next_up() };
        Self { low: (self.low * by).next_down().max(0.0), high }
    }
}

/// `x a b` up to two roundings and the least normal number. The largest factor is multiplied with the
/// smallest one first, so that no intermediate result underflows unless the product is small.
pub(super) fn product_of_three(x: f64, a: f64, b: f64) -> f64 {
    let mut factors = [x, a, b];
    factors.sort_by(|x, y| x.abs().total_cmp(&y.abs()));
    let [small, middle, large] = factors;
    large * small * middle
}
