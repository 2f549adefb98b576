//! Bytes that are read as arguments: the same bytes are always the same arguments.

use ndp_dp::{ApproxDp, Delta, Gdp, NoiseMultiplier, Order, Sensitivity, Sigma};
use std::fmt::Debug;

/// What a run ends with when it does not end well.
#[derive(Debug)]
pub(crate) enum Stop {
    /// The arguments were refused, so that there is nothing to look at.
    Refused,
    /// An invariant is broken; what it is.
    Wrong(String),
}

/// How a run ends.
pub(crate) type Ending = Result<(), Stop>;

impl<E: std::error::Error> From<E> for Stop {
    fn from(error: E) -> Self {
        // An error is printed sooner or later, and printing must not fail either.
        let text = error.to_string();
        if text.is_empty() { Self::Wrong("an error without a text".to_owned()) } else { Self::Refused }
    }
}

/// Numbers at which functions break: ends of ranges, of digits, of exponents.
const SPECIAL: [f64; 40] = [
    0.0,
    1.0,
    -1.0,
    0.5,
    2.0,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
    f64::MAX,
    f64::MIN,
    f64::MIN_POSITIVE,
    5e-324,
    -5e-324,
    -0.0,
    f64::EPSILON,
    1.0 + f64::EPSILON,
    1.0 - f64::EPSILON / 2.0,
    1e-300,
    1e300,
    1e-160,
    1e160,
    9_007_199_254_740_992.0,
    9_223_372_036_854_775_808.0,
    18_446_744_073_709_551_616.0,
    4_294_967_296.0,
    709.782_712_893_384,
    709.79,
    -745.133_219_101_941_1,
    -745.2,
    -708.4,
    1e-16,
    1e-10,
    1e10,
    3.0,
    10.0,
    100.0,
    0.1,
    0.9,
    std::f64::consts::LN_2,
    std::f64::consts::PI,
];

/// Arguments, drawn from bytes; where these end, zeros follow.
pub(crate) struct Input<'a> {
    bytes: &'a [u8],
    at: usize,
    /// The arguments so far as text, where somebody wants to read them.
    pub(crate) told: Option<Vec<String>>,
    /// Whether each argument is printed at once: the call may not end.
    live: bool,
}

impl<'a> Input<'a> {
    pub(crate) fn new(bytes: &'a [u8], tell: bool) -> Self {
        Self { bytes, at: 0, told: tell.then(Vec::new), live: false }
    }

    /// Arguments that are printed as they are read.
    pub(crate) fn live(bytes: &'a [u8]) -> Self {
        Self { live: true, ..Self::new(bytes, true) }
    }

    /// All bytes that are left.
    pub(crate) fn rest(&mut self) -> &'a [u8] {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        self.at = self.bytes.len();
        rest
    }

    fn tell<T: Debug>(&mut self, value: T) -> T {
        if let Some(told) = &mut self.told {
            told.push(format!("{value:?}"));
            if self.live {
                eprintln!("{value:?}");
            }
        }
        value
    }

    fn byte(&mut self) -> u8 {
        let byte = self.bytes.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        byte
    }

    fn word(&mut self) -> u64 {
        u64::from_le_bytes([(); 8].map(|()| self.byte()))
    }

    /// One of `count` choices, from 0.
    pub(crate) fn choice(&mut self, count: usize) -> usize {
        let chosen = usize::from(self.byte()) % count.max(1);
        self.tell(chosen)
    }

    /// One of these.
    pub(crate) fn pick<T: Clone + Debug>(&mut self, of: &[T]) -> T {
        let chosen = of[usize::from(self.byte()) % of.len()].clone();
        self.tell(chosen)
    }

    /// Any number of 64 bits, those more often at which functions break.
    pub(crate) fn real(&mut self) -> f64 {
        let value = self.any();
        self.tell(value)
    }

    fn any(&mut self) -> f64 {
        let kind = self.byte();
        match kind {
            0..=79 => SPECIAL[usize::from(kind) % SPECIAL.len()],
            80..=111 => f64::from_bits(self.word()),
            112..=159 => self.unit(),
            160..=207 => {
                let size = 10.0f64.powf(14.0 * self.unit() - 8.0);
                if self.byte() < 64 { -size } else { size }
            }
            208..=223 => f64::from(self.byte()),
            224..=239 => SPECIAL[usize::from(self.byte()) % SPECIAL.len()].next_up(),
            _ => SPECIAL[usize::from(self.byte()) % SPECIAL.len()].next_down(),
        }
    }

    /// A number of the unit interval.
    fn unit(&mut self) -> f64 {
        let bits = [(); 4].map(|()| self.byte());
        f64::from(u32::from_le_bytes(bits)) / f64::from(u32::MAX)
    }

    /// A number that is mostly a probability, and sometimes anything.
    pub(crate) fn chance(&mut self) -> f64 {
        let value = match self.byte() {
            0..=31 => self.any(),
            32..=127 => self.unit(),
            128..=191 => 10.0f64.powf(-20.0 * self.unit()),
            192..=223 => 1.0 - 10.0f64.powf(-16.0 * self.unit()),
            224..=239 => 10.0f64.powf(-320.0 * self.unit()),
            _ => 0.5,
        };
        self.tell(value)
    }

    /// A number that is mostly positive and neither tiny nor huge, and sometimes anything.
    pub(crate) fn positive(&mut self) -> f64 {
        let value = match self.byte() {
            0..=47 => self.any(),
            48..=95 => f64::from(self.byte()),
            96..=127 => 10.0f64.powf(600.0 * self.unit() - 300.0),
            _ => 10.0f64.powf(8.0 * self.unit() - 4.0),
        };
        self.tell(value)
    }

    /// Any number of 64 bits without a sign.
    pub(crate) fn count(&mut self) -> u64 {
        let value = match self.byte() {
            0..=127 => u64::from(self.byte()),
            128..=159 => u64::from(self.byte()) << 8 | u64::from(self.byte()),
            160..=191 => 1u64 << (self.byte() % 64),
            192..=215 => (1u64 << (self.byte() % 64)).wrapping_sub(1),
            216..=231 => u64::MAX - u64::from(self.byte()),
            _ => self.word(),
        };
        self.tell(value)
    }

    /// A number of 32 bits without a sign.
    pub(crate) fn short(&mut self) -> u32 {
        let value = match self.byte() {
            0..=159 => u32::from(self.byte()),
            160..=207 => 1u32 << (self.byte() % 32),
            208..=223 => u32::MAX - u32::from(self.byte()),
            _ => (self.word() & u64::from(u32::MAX)) as u32,
        };
        self.tell(value)
    }

    /// A size: at most `most`, or far beyond what any memory holds. What lies between takes long and is no
    /// mistake.
    pub(crate) fn size(&mut self, most: usize) -> usize {
        let kind = self.byte();
        let value = match kind {
            0..=223 => usize::from(self.byte()) % (most + 1),
            224..=239 => usize::MAX >> (self.byte() % 20),
            _ => 1usize << (44 + self.byte() % 20),
        };
        self.tell(value)
    }

    /// A place: mostly below `end`, and sometimes anything.
    pub(crate) fn place(&mut self, end: usize) -> usize {
        let value = match self.byte() {
            0..=239 => usize::from(self.byte()) % end.max(1),
            _ => usize::MAX - usize::from(self.byte()),
        };
        self.tell(value)
    }

    /// At most `most` numbers.
    pub(crate) fn reals(&mut self, most: usize) -> Vec<f64> {
        let count = usize::from(self.byte()) % (most + 1);
        (0..count).map(|_| self.real()).collect()
    }

    /// A law: mostly nonnegative numbers that sum to 1.
    pub(crate) fn law(&mut self, most: usize) -> Vec<f64> {
        let mut law: Vec<f64> = (0..usize::from(self.byte()) % (most + 1)).map(|_| self.unit()).collect();
        let total: f64 = law.iter().sum();
        if self.byte() < 230 {
            law.iter_mut().for_each(|p| *p /= total);
        }
        self.tell(law)
    }

    /// A text of at most 24 characters, many of them troublesome.
    pub(crate) fn text(&mut self) -> String {
        let letters: Vec<char> =
            "ab01.,-+e\"'\\ \n\t<&;\u{0}\u{7f}\u{e9}\u{202e}\u{10ffff}NaNinf:@/()[]".chars().collect();
        let count = usize::from(self.byte()) % 25;
        let text: String = (0..count).map(|_| letters[usize::from(self.byte()) % letters.len()]).collect();
        self.tell(text)
    }

    pub(crate) fn delta(&mut self) -> Result<Delta, Stop> {
        Ok(Delta::new(self.chance())?)
    }

    pub(crate) fn order(&mut self) -> Result<Order, Stop> {
        Ok(Order::new(1.0 + self.positive())?)
    }

    pub(crate) fn sigma(&mut self) -> Result<Sigma, Stop> {
        Ok(Sigma::new(self.positive())?)
    }

    pub(crate) fn sensitivity(&mut self) -> Result<Sensitivity, Stop> {
        Ok(Sensitivity::new(self.positive())?)
    }

    pub(crate) fn noise(&mut self) -> Result<NoiseMultiplier, Stop> {
        Ok(NoiseMultiplier::new(self.positive())?)
    }

    pub(crate) fn gdp(&mut self) -> Result<Gdp, Stop> {
        Ok(Gdp::new(self.positive())?)
    }

    pub(crate) fn approx(&mut self) -> Result<ApproxDp, Stop> {
        let epsilon = self.positive();
        Ok(ApproxDp::new(epsilon, self.chance())?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_bytes_are_the_same_arguments_and_no_byte_is_missed() {
        let bytes: Vec<u8> = (0..=255).collect();
        let mut told = Vec::new();
        for _ in 0..2 {
            let mut input = Input::new(&bytes, true);
            let _ = (input.real(), input.count(), input.size(9), input.law(5), input.text());
            told.push(input.told.clone());
            assert!(!input.rest().is_empty());
        }
        assert_eq!(told[0], told[1]);
        // Where the bytes end, zeros follow.
        assert_eq!((Input::new(&[], false).real(), Input::new(&[], false).count()), (0.0, 0));
    }

    #[test]
    fn every_kind_of_number_is_drawn() {
        let seen: Vec<f64> =
            (0..=255u8).map(|kind| Input::new(&[kind, 7, 9, 200, 1], false).real()).collect();
        for kind in [f64::is_nan, f64::is_infinite, f64::is_subnormal, f64::is_normal] as [fn(f64) -> bool; 4]
        {
            assert!(seen.iter().any(|&x| kind(x)));
        }
    }
}
