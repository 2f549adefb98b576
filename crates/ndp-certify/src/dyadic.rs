//! Floating-point numbers as the exact fractions that they are, with a power of two as denominator.

/// `mantissa · 2^exponent`, the value of a finite `f64` exactly; the mantissa is odd or 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dyadic {
    /// `m`, odd or 0.
    pub mantissa: i64,
    /// `e`.
    pub exponent: i32,
}

impl Dyadic {
    /// The value of a finite number.
    pub fn of(x: f64) -> Self {
        debug_assert!(x.is_finite());
        if x == 0.0 {
            return Self { mantissa: 0, exponent: 0 };
        }
        let bits = x.to_bits();
        let field = ((bits >> 52) & 0x7ff) as i32;
        let fraction = (bits & ((1 << 52) - 1)).cast_signed();
        let (mantissa, exponent) =
            if field == 0 { (fraction, -1074) } else { (fraction | (1 << 52), field - 1075) };
        let zeros = mantissa.trailing_zeros();
        let mantissa = mantissa >> zeros;
        Self {
            mantissa: if x < 0.0 { -mantissa } else { mantissa },
            exponent: exponent + zeros.cast_signed(),
        }
    }

    /// Binary places after the point: the logarithm of the denominator.
    pub fn places(self) -> u32 {
        self.exponent.min(0).unsigned_abs()
    }

    /// Position of the leading binary digit: `|x| < 2^top`; 0 for the number 0.
    pub fn top(self) -> i32 {
        if self.mantissa == 0 {
            0
        } else {
            self.exponent + 64 - self.mantissa.unsigned_abs().leading_zeros().cast_signed()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_fractions() {
        assert_eq!(Dyadic::of(0.75), Dyadic { mantissa: 3, exponent: -2 });
        assert_eq!(Dyadic::of(-6.0), Dyadic { mantissa: -3, exponent: 1 });
        assert_eq!(Dyadic::of(5e-324), Dyadic { mantissa: 1, exponent: -1074 });
        assert_eq!(Dyadic::of(0.1), Dyadic { mantissa: 3_602_879_701_896_397, exponent: -55 });
        assert_eq!((Dyadic::of(0.75).top(), Dyadic::of(1.0).top(), Dyadic::of(0.0).top()), (0, 1, 0));
        assert_eq!((Dyadic::of(0.75).places(), Dyadic::of(6.0).places()), (2, 0));
    }
}
