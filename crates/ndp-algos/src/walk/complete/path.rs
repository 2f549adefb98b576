//! The uniform walk: its parameters, and one realised path.

use crate::Error;
use rand::{Rng, RngExt};

/// A uniform walk of `T` steps on `n` nodes, observed by `c` colluding ones.
///
/// With [`Self::published`], the final token is handed to every node: one more observation.
///
/// # Examples
/// ```
/// use ndp_algos::walk::complete::CompleteWalk;
/// let walk = CompleteWalk::new(100, 1000)?;
/// assert_eq!((walk.node_count(), walk.step_count()), (100, 1000));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompleteWalk {
    n: usize,
    steps: usize,
    colluders: usize,
    published: bool,
}

impl CompleteWalk {
    /// A walk of `steps` steps on `n` nodes, one observer, the final token withheld.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless `n ≥ 2` and `steps ≥ 1`, both below `2^32`.
    pub fn new(n: usize, steps: usize) -> Result<Self, Error> {
        let refuse = |name, condition, value: usize| {
            Err(Error::InvalidParameter { name, condition, value: value as f64 })
        };
        if !(2..=MOST).contains(&n) {
            return refuse("the number of nodes of a complete graph", "be at least 2 and below 2^32", n);
        }
        if !(1..=MOST).contains(&steps) {
            return refuse("the number of steps", "be at least 1 and below 2^32", steps);
        }
        Ok(Self { n, steps, colluders: 1, published: false })
    }

    /// The same walk observed by `colluders` nodes that share what they see.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless `1 ≤ colluders ≤ n − 1`: somebody must observe, and somebody else
    /// be exposed.
    pub fn with_colluders(self, colluders: usize) -> Result<Self, Error> {
        if 1 <= colluders && colluders < self.n {
            Ok(Self { colluders, ..self })
        } else {
            Err(Error::InvalidParameter {
                name: "the number of colluders",
                condition: "be at least 1 and below the number of nodes",
                value: colluders as f64,
            })
        }
    }

    /// The same walk, its final token handed to every node.
    #[must_use]
    pub const fn published(self) -> Self {
        Self { published: true, ..self }
    }

    /// Number of nodes `n`.
    #[must_use]
    pub const fn node_count(&self) -> usize {
        self.n
    }

    /// Number of steps `T`.
    #[must_use]
    pub const fn step_count(&self) -> usize {
        self.steps
    }

    /// Number of colluding observers `c`.
    #[must_use]
    pub const fn colluders(&self) -> usize {
        self.colluders
    }

    /// Whether every node learns the final token.
    #[must_use]
    pub const fn is_published(&self) -> bool {
        self.published
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

    /// `ln` of the share of `part` among the nodes, from the smaller of it and the rest.
    fn ln_share(&self, part: usize) -> f64 {
        let n = self.n as f64;
        if 2 * part < self.n { (part as f64 / n).ln() } else { (-((self.n - part) as f64) / n).ln_1p() }
    }

    /// A path of this walk: on as many nodes, of as many steps.
    pub(crate) fn check_path(&self, path: &Path) -> Result<(), Error> {
        if path.n != self.n {
            return Err(Error::Shape { what: "nodes of the path", expected: self.n, got: path.n });
        }
        if path.step_count() != self.steps {
            let got = path.step_count();
            return Err(Error::Shape { what: "steps of the path", expected: self.steps, got });
        }
        Ok(())
    }

    /// Draws a path.
    pub fn sample(&self, rng: &mut impl Rng) -> Path {
        let n = id(self.n);
        Path { n: self.n, holders: (0..self.steps).map(|_| rng.random_range(0..n)).collect() }
    }
}

/// A realised path: which node holds the token at each step.
///
/// # Examples
/// ```
/// use ndp_algos::walk::complete::Path;
/// let path = Path::from_holders(3, &[0, 2, 1, 2])?;
/// assert!(Path::from_holders(3, &[0, 7]).is_err());
/// # let _ = path;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    n: usize,
    holders: Vec<u32>,
}

impl Path {
    /// Takes the holders of the token, step by step.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless `2 ≤ n < 2^32` and there is a step, [`Error::NodeOutOfRange`] for a
    /// holder outside `0..n`.
    pub fn from_holders(n: usize, holders: &[usize]) -> Result<Self, Error> {
        CompleteWalk::new(n, holders.len())?;
        if let Some(&node) = holders.iter().find(|&&holder| holder >= n) {
            return Err(Error::NodeOutOfRange { node, nodes: n });
        }
        Ok(Self { n, holders: holders.iter().map(|&holder| id(holder)).collect() })
    }

    /// Number of nodes `n`.
    #[must_use]
    pub const fn node_count(&self) -> usize {
        self.n
    }

    /// Number of steps `T`.
    #[must_use]
    pub fn step_count(&self) -> usize {
        self.holders.len()
    }

    /// The holder of the token at step `step` (from 0).
    ///
    /// # Panics
    /// When the step is out of range.
    #[must_use]
    pub fn holder(&self, step: usize) -> usize {
        self.holders[step] as usize
    }

    /// The holders, step by step.
    #[must_use]
    pub fn holders(&self) -> &[u32] {
        &self.holders
    }

    /// The steps at which each node holds the token: entry `v` is a list of steps from 0.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for more than ten million nodes.
    pub fn receptions(&self) -> Result<Vec<Vec<usize>>, Error> {
        self.check_nodes("be at most 10000000 for a list per node", 10_000_000)?;
        let mut steps = vec![Vec::new(); self.n];
        for (step, &holder) in self.holders.iter().enumerate() {
            steps[holder as usize].push(step);
        }
        Ok(steps)
    }

    /// At most `most` nodes, so that tables over nodes or pairs fit in memory.
    pub(crate) fn check_nodes(&self, condition: &'static str, most: usize) -> Result<(), Error> {
        if self.n <= most {
            Ok(())
        } else {
            Err(Error::InvalidParameter { name: "the number of nodes", condition, value: self.n as f64 })
        }
    }
}

/// A node id in 32 bits: walks on [`MOST`] nodes and more are refused.
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

    /// Pearson's statistic of the holders and of pairs of successive holders: at most 6 standard deviations
    /// above its mean.
    #[test]
    fn holders_are_uniform_and_independent() -> Result<(), Error> {
        let rng = &mut ChaCha8Rng::seed_from_u64(8);
        let n = 7;
        let path = CompleteWalk::new(n, 70_000)?.sample(rng);
        let mut single = vec![0.0; n];
        let mut pairs = vec![0.0; n * n];
        for step in 1..path.step_count() {
            single[path.holder(step)] += 1.0;
            pairs[path.holder(step - 1) * n + path.holder(step)] += 1.0;
        }
        for counts in [single, pairs] {
            let expected = (path.step_count() - 1) as f64 / counts.len() as f64;
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
        assert!(Path::from_holders(3, &[]).is_err());
        assert!(Path::from_holders(1 << 31, &[0])?.receptions().is_err());
        assert_eq!(Path::from_holders(3, &[0, 3]), Err(Error::NodeOutOfRange { node: 3, nodes: 3 }));
        assert_eq!(Path::from_holders(3, &[2, 0, 2])?.receptions()?, [vec![1], vec![], vec![0, 2]]);
        Ok(())
    }
}
