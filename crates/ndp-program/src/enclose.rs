//! Ends of enclosures.

/// Both ends of a number that is not negative.
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

    /// Times a nonnegative number, rounded outwards.
    pub(super) fn scaled(self, by: f64) -> Self {
        if by == 1.0 {
            return self;
        }
        let high = if self.high == 0.0 || by == 0.0 { 0.0 } else { (self.high * by).next_up() };
        Self { low: (self.low * by).next_down().max(0.0), high }
    }
}
