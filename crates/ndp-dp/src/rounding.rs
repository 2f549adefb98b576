//! Rounding in the safe direction: an upper bound stays one after floating-point arithmetic.
//!
//! A formula of some operations on positive terms has a relative error of a few [`f64::EPSILON`]; a sum of terms of both
//! signs one of a few epsilons of its largest term. Sixteen are charged, 3.6e-15.

/// What a formula may lose, relative to its largest term.
const CHARGE: f64 = 16.0 * f64::EPSILON;

/// A nonnegative bound computed from positive terms, rounded up; 0 and `∞` stay what they are.
pub(crate) fn up(value: f64) -> f64 {
    value * (1.0 + CHARGE)
}

/// A bound computed from terms of both signs, none larger than `scale`, rounded up.
pub(crate) fn up_by(value: f64, scale: f64) -> f64 {
    value + CHARGE * scale
}

/// A logarithm of a bound, itself a sum of terms of about its size, rounded up; `−∞` stays.
pub(crate) fn up_log(log: f64) -> f64 {
    if log.is_infinite() { log } else { up_by(log, 1.0 + log.abs()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_is_outward_and_small() {
        assert!(up(1.0) > 1.0 && up(1.0) < 1.0 + 4e-15);
        assert_eq!((up(0.0), up(f64::INFINITY)), (0.0, f64::INFINITY));
        assert!(up_by(-1e-3, 2.0) > -1e-3 && up_by(-1e-3, 2.0) < -1e-3 + 8e-15);
        assert!(up_log(-700.0) > -700.0);
        assert_eq!(up_log(f64::NEG_INFINITY), f64::NEG_INFINITY);
    }
}
