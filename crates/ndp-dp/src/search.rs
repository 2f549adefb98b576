//! Searches that end at a verified point.
//!
//! They bisect the *bit patterns* of nonnegative floats instead of their values. For any interval, even
//! `[0, f64::MAX]`, this takes at most 64 steps and ends with the two neighboring floats between which the
//! predicate changes. The predicate was seen to hold at the float that is returned.

/// The smallest `x` in `[low, high]` with `holds(x)`, for a predicate that stays true once true;
/// `None` when it fails at `high`. Both ends nonnegative.
pub fn smallest(low: f64, high: f64, mut holds: impl FnMut(f64) -> bool) -> Option<f64> {
    if !holds(high) {
        return None;
    }
    if holds(low) {
        return Some(low);
    }
    let (mut fails, mut verified) = (low.to_bits(), high.to_bits());
    while verified - fails > 1 {
        let middle = fails + (verified - fails) / 2;
        if holds(f64::from_bits(middle)) { verified = middle } else { fails = middle }
    }
    Some(f64::from_bits(verified))
}

/// The largest `x` in `[low, high]` with `holds(x)`, for a predicate that stays false once false;
/// `None` when it fails at `low`. Both ends nonnegative.
pub fn largest(low: f64, high: f64, mut holds: impl FnMut(f64) -> bool) -> Option<f64> {
    if !holds(low) {
        return None;
    }
    if holds(high) {
        return Some(high);
    }
    let (mut verified, mut fails) = (low.to_bits(), high.to_bits());
    while fails - verified > 1 {
        let middle = verified + (fails - verified) / 2;
        if holds(f64::from_bits(middle)) { verified = middle } else { fails = middle }
    }
    Some(f64::from_bits(verified))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn searches_end_on_the_boundary() {
        let root = smallest(0.0, f64::MAX, |x| x * x >= 2.0).unwrap();
        assert!(root * root >= 2.0 && root.next_down() * root.next_down() < 2.0);
        let root = largest(0.0, f64::MAX, |x| x * x <= 2.0).unwrap();
        assert!(root * root <= 2.0 && root.next_up() * root.next_up() > 2.0);
        assert_eq!(smallest(0.0, 1.0, |_| true), Some(0.0));
        assert_eq!(smallest(0.0, 1.0, |_| false), None);
        assert_eq!(largest(0.0, 1.0, |_| true), Some(1.0));
        assert_eq!(largest(0.0, 1.0, |_| false), None);
    }

    #[test]
    fn searches_take_at_most_64_steps() {
        let mut steps = 0;
        smallest(0.0, f64::MAX, |x| {
            steps += 1;
            x >= 1e-310
        });
        assert!(steps <= 66);
    }
}
