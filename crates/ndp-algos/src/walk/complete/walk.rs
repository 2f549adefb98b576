//! The uniform walk: its parameters, and its paths.

use super::CompleteOptions;
use crate::walk::{FinalToken, Path, require_honest};
use ndp_account::Error;
use ndp_account::parts::ensure;
use rand::{Rng, RngExt};

/// A uniform walk of `T` steps on `n` nodes.
///
/// # Examples
/// ```
/// use ndp_algos::walk::complete::CompleteWalk;
/// use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
/// let path = CompleteWalk::new(100, 1000)?.sample(&mut ChaCha8Rng::seed_from_u64(1));
/// assert_eq!((path.nodes, path.holders.len()), (100, 1000));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompleteWalk {
    n: usize,
    steps: usize,
    pub(super) colluders: usize,
    options: CompleteOptions,
}

impl CompleteWalk {
    /// A walk of `steps` steps on `n` nodes, on which contributions are not capped and the final token is
    /// withheld.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless `n ≥ 2` and `steps ≥ 1`, both below `2^32`.
    pub fn new(n: usize, steps: usize) -> Result<Self, Error> {
        let name = "the number of nodes of a complete graph";
        ensure((2..=MOST).contains(&n), name, "be at least 2 and below 2^32", n as f64)?;
        let condition = "be at least 1 and below 2^32";
        ensure((1..=MOST).contains(&steps), "the number of steps", condition, steps as f64)?;
        Ok(Self { n, steps, colluders: 1, options: CompleteOptions::default() })
    }

    /// The same walk as seen by `colluders` nodes that share what they see; without this call, one node
    /// observes.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless `1 ≤ colluders ≤ n − 1`: somebody must observe, and somebody else
    /// be exposed.
    pub(crate) fn with_colluders(self, colluders: usize) -> Result<Self, Error> {
        require_honest(colluders, self.n)?;
        Ok(Self { colluders, ..self })
    }

    /// The same walk under these options. A step beyond a cap adds noise alone, or a uniform label.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for a cap of 0, [`Error::NoGuarantee`] for [`FinalToken::Masked`].
    pub fn with_options(self, options: CompleteOptions) -> Result<Self, Error> {
        Ok(Self { options: options.checked()?, ..self })
    }

    /// The same walk, its final token handed to every node: one more observation.
    #[cfg(test)]
    pub(crate) const fn published(self) -> Self {
        let options = CompleteOptions { final_token: FinalToken::Published, ..self.options };
        Self { options, ..self }
    }

    /// Number of nodes `n`.
    pub(crate) const fn node_count(&self) -> usize {
        self.n
    }

    /// Number of steps `T`.
    pub(crate) const fn step_count(&self) -> usize {
        self.steps
    }

    /// Whether every node learns the final token.
    pub(crate) const fn is_published(&self) -> bool {
        matches!(self.options.final_token, FinalToken::Published)
    }

    /// The options.
    pub(crate) const fn options(&self) -> CompleteOptions {
        self.options
    }

    /// `c/n`: the probability that a step is a reception by the coalition.
    #[must_use]
    pub(crate) fn reception_probability(&self) -> f64 {
        self.colluders as f64 / self.n as f64
    }

    /// `1/(n − c)`: the probability that a foreign step belongs to the exposed node.
    #[must_use]
    pub(crate) fn exposure_probability(&self) -> f64 {
        1.0 / (self.n - self.colluders) as f64
    }

    /// `ln(c/n)`.
    pub(crate) fn ln_received(&self) -> f64 {
        self.ln_share(self.colluders)
    }

    /// `ln(1 − c/n)`.
    pub(crate) fn ln_foreign(&self) -> f64 {
        self.ln_share(self.n - self.colluders)
    }

    /// The logarithm of the share of `part` among the nodes, computed from the smaller of this share and the
    /// rest.
    fn ln_share(&self, part: usize) -> f64 {
        let n = self.n as f64;
        if 2 * part < self.n { (part as f64 / n).ln() } else { (-((self.n - part) as f64) / n).ln_1p() }
    }

    /// Checks that a path has the nodes and the steps of this walk.
    pub(crate) fn check_path(&self, path: &Path) -> Result<(), Error> {
        if path.nodes != self.n {
            return Err(Error::Shape { what: "nodes of the path", expected: self.n, got: path.nodes });
        }
        for got in [path.steps(), path.holders.len()] {
            if got != self.steps {
                return Err(Error::Shape { what: "steps of the path", expected: self.steps, got });
            }
        }
        path.check_holders()
    }

    /// Draws a path.
    pub fn sample(&self, rng: &mut impl Rng) -> Path {
        let n = id(self.n);
        self.capped((0..self.steps).map(|_| rng.random_range(0..n) as usize).collect())
    }

    /// The path with the given holders, step by step. The caps determine who contributes.
    ///
    /// # Errors
    /// [`Error::Shape`] for another number of steps than that of the walk, [`Error::NodeOutOfRange`] for a
    /// holder outside `0..n`.
    pub fn path(&self, holders: &[usize]) -> Result<Path, Error> {
        let path = Path { nodes: self.n, holders: holders.to_vec(), contributes: vec![true; holders.len()] };
        self.check_path(&path)?;
        Ok(self.capped(path.holders))
    }

    fn capped(&self, holders: Vec<usize>) -> Path {
        let contributes = self.options.contributions(&holders);
        Path { nodes: self.n, holders, contributes }
    }
}

/// A node id in 32 bits; walks on more than `MOST` nodes are refused.
fn id(node: usize) -> u32 {
    u32::try_from(node).unwrap_or(u32::MAX)
}

/// Node ids and step numbers are held in 32 bits.
const MOST: usize = u32::MAX as usize;

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    /// Pearson's statistic of the holders, and of pairs of successive holders, is at most 6 standard
    /// deviations above its mean.
    #[test]
    fn holders_are_uniform_and_independent() -> Result<(), Error> {
        let rng = &mut ChaCha8Rng::seed_from_u64(8);
        let n = 7;
        let path = CompleteWalk::new(n, 70_000)?.sample(rng);
        let mut single = vec![0.0; n];
        let mut pairs = vec![0.0; n * n];
        for step in 1..path.steps() {
            single[path.holders[step]] += 1.0;
            pairs[path.holders[step - 1] * n + path.holders[step]] += 1.0;
        }
        for counts in [single, pairs] {
            let expected = (path.steps() - 1) as f64 / counts.len() as f64;
            let statistic: f64 = counts.iter().map(|c| (c - expected).powi(2) / expected).sum();
            let freedom = (counts.len() - 1) as f64;
            assert!(statistic < freedom + 6.0 * (2.0 * freedom).sqrt(), "{statistic}");
        }
        Ok(())
    }

    #[test]
    fn bad_input_is_refused() -> Result<(), Error> {
        for (n, steps) in [(1, 5), (0, 5), (5, 0), (usize::MAX, 5), (5, usize::MAX)] {
            assert!(matches!(CompleteWalk::new(n, steps), Err(Error::InvalidParameter { .. })));
        }
        let walk = CompleteWalk::new(4, 3)?;
        for colluders in [0, 4, 9] {
            assert!(matches!(walk.with_colluders(colluders), Err(Error::InvalidParameter { .. })));
        }
        assert!(walk.with_colluders(3).is_ok());
        assert!(matches!(walk.path(&[]), Err(Error::Shape { .. })));
        assert!(matches!(walk.path(&[0, 1]), Err(Error::Shape { .. })));
        assert_eq!(walk.path(&[0, 4, 1]), Err(Error::NodeOutOfRange { node: 4, nodes: 4 }));
        Ok(())
    }
}
