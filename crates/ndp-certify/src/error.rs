//! The errors of this crate: a view reveals an input without noise, or certifying its losses would take too
//! much.

/// Why the losses of a view were not certified.
///
/// # Examples
/// ```
/// use ndarray::arr2;
/// use ndp_certify::Error;
/// use ndp_certify::account::{Budget, of_rows};
/// use ndp_certify::rows::{Given, Rows};
/// // An input that is seen without noise.
/// let rows = Rows::Given(Given::new(arr2(&[[1.0]]).view(), arr2(&[[0.0]]).view(), &[], &[]));
/// assert_eq!(of_rows(&rows, Budget::default()), Err(Error::NoiselessView(0)));
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The computation was to end before its answer.
    #[error(transparent)]
    Stopped(#[from] ndp_numeric::stop::Stopped),
    /// The observer sees a combination of inputs that carries no noise at all.
    #[error(
        "the observer sees a combination of inputs without noise that reveals node {0}: its loss is infinite"
    )]
    NoiselessView(usize),
    /// A loss beyond the range of `f64`.
    #[error("what the observer learns about node {0} is larger than any number: it sees almost no noise")]
    LossTooLarge(usize),
    /// No enclosure of the losses was found within the precision allowed, and the loss of some input cannot
    /// be bounded otherwise, because that input has no noise of its own.
    #[error("the losses of the view cannot be certified with numbers of at most {bits} bits")]
    NotCertified {
        /// The precision allowed.
        bits: u32,
    },
    /// Work that would not fit in the memory allowed; refused before it starts.
    #[error("{what} would take {bytes} bytes, more than the limit of {limit}")]
    TooLarge {
        /// What would not fit.
        what: &'static str,
        /// The memory it would take.
        bytes: u64,
        /// The memory allowed.
        limit: u64,
    },
    /// The primes drawn for a view contradicted each other too often.
    #[error("no guarantee: {0}")]
    UnluckyPrimes(&'static str),
}
