//! Numbers as people read them, rounded to the cautious side.

use ndp_numeric::decimal::{Round, fixed, scientific};

/// A number in five digits, rounded to nearest: for numbers that are no guarantee.
#[must_use]
pub fn number(x: f64) -> String {
    rounded(x, Round::Nearest)
}

/// A number in as many digits, rounded up: for losses, noises and errors, which must not look smaller than
/// they are.
///
/// # Examples
/// ```
/// use ndp_report::words::{down, number, up};
/// assert_eq!((up(1.0f64.next_up()), down(0.123456), number(1e-7)), ("1.00001".into(), "0.12345".into(), "1.0000e-7".into()));
/// ```
#[must_use]
pub fn up(x: f64) -> String {
    rounded(x, Round::Up)
}

/// A noise beside what it guarantees: rounded up unless [`number`] writes the noise itself, since more noise
/// guarantees no less.
///
/// # Examples
/// ```
/// use ndp_report::words::noise;
/// assert_eq!((noise(0.1), noise(1.000_004_9), noise(2.0)), ("0.10000".into(), "1.00001".into(), "2.00000".into()));
/// ```
#[must_use]
pub fn noise(x: f64) -> String {
    let near = number(x);
    if near.parse() == Ok(x) { near } else { up(x) }
}

/// A number in as many digits, rounded down: for what is left of a limit.
#[must_use]
pub fn down(x: f64) -> String {
    rounded(x, Round::Down)
}

/// A count, without decimals if it is whole, since counts may be averages.
#[must_use]
pub fn count(x: f64) -> String {
    if x.fract() == 0.0 && x.abs() < 1e15 { format!("{x:.0}") } else { number(x) }
}

fn rounded(x: f64, round: Round) -> String {
    match x {
        0.0 => "0".into(),
        _ if (1e-3..1e5).contains(&x.abs()) => fixed(x, 5, round),
        _ => scientific(x, 4, round),
    }
}
