//! Matrices with exact entries, applied to one value of every node.

use crate::{ProgramError, Weight};
use ndp_certify::divisor::least_common_multiple;
use ndp_graph::GossipMatrix;
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Signed, Zero};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A square matrix with exact entries, one row for every node: row `u` says how node `u` combines the values
/// of all nodes.
///
/// It need not be symmetric or stochastic: a program is linear for any weights. Copies share the entries.
///
/// # Examples
/// ```
/// use ndp_program::{MixingMatrix, Program, Reads, Weight};
/// // Push-sum on a ring of three: everybody keeps half, and gives half to the next.
/// let half = Weight::from((1, 2));
/// let rows: Vec<_> = (0..3).map(|u| vec![(u, half.clone()), ((u + 2) % 3, half.clone())]).collect();
/// let mut program = Program::new(3)?;
/// let x = program.contribute_all(Reads::Nothing)?;
/// assert_eq!(program.gossip(&MixingMatrix::try_from(rows.as_slice())?, &x)?.len(), 3);
/// # Ok::<(), ndp_program::ProgramError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct MixingMatrix(Arc<Entries>);

#[derive(Debug, PartialEq)]
struct Entries {
    rows: Vec<Vec<(u32, BigRational)>>,
    /// A common denominator of all entries, unless it is long, and the entries times it.
    whole: Option<(BigInt, Vec<Vec<BigInt>>)>,
}

impl MixingMatrix {
    /// The matrix with the given entries.
    ///
    /// # Errors
    /// [`ProgramError::Shape`] unless it is square; [`ProgramError::NotFinite`].
    pub(super) fn from_dense(rows: &[Vec<Weight>]) -> Result<Self, ProgramError> {
        let expected = rows.len();
        if let Some(row) = rows.iter().find(|row| row.len() != expected) {
            let what = "entries of a row of a matrix";
            return Err(ProgramError::Shape { what, expected, got: row.len() });
        }
        let rows: Vec<Vec<(usize, Weight)>> =
            rows.iter().map(|row| row.iter().cloned().enumerate().collect()).collect();
        Self::try_from(rows.as_slice())
    }

    /// Whether two matrices have the same entries; quick for copies.
    pub(super) fn same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self == other
    }

    fn of(rows: Vec<Vec<(u32, BigRational)>>) -> Self {
        let mut common = BigInt::one();
        for (_, x) in rows.iter().flatten() {
            common = least_common_multiple(common, x.denom());
            if common.bits() > LONGEST {
                return Self(Arc::new(Entries { rows, whole: None }));
            }
        }
        let times = |(_, x): &(u32, BigRational)| x.numer() * (&common / x.denom());
        let whole = rows.iter().map(|row| row.iter().map(times).collect()).collect();
        Self(Arc::new(Entries { rows, whole: Some((common, whole)) }))
    }

    /// A common denominator of all entries, and row `u` times it; `None` if it is long.
    pub(super) fn whole_row(&self, u: usize) -> Option<(&BigInt, &[BigInt])> {
        self.0.whole.as_ref().map(|(common, rows)| (common, rows[u].as_slice()))
    }

    /// `(1 - l) W + l I` for the share `l` that every node keeps, exactly.
    ///
    /// # Errors
    /// [`ProgramError::NotFinite`]; [`ProgramError::Laziness`] unless `0 <= l < 1`.
    pub(super) fn lazy(self, share: &Weight) -> Result<Self, ProgramError> {
        let kept = share.exact("the share that everybody keeps")?;
        if kept.is_negative() || *kept >= BigRational::one() {
            return Err(ProgramError::Laziness(share.to_string()));
        }
        if kept.is_zero() {
            return Ok(self);
        }
        let moving = BigRational::one() - kept;
        let row = |u: usize| {
            let mut entries: BTreeMap<u32, BigRational> =
                self.row(u).iter().map(|(v, weight)| (*v, weight * &moving)).collect();
            // Rows have numbers of 32 bits, as columns do.
            *entries.entry(u32::try_from(u).unwrap_or(u32::MAX)).or_insert_with(BigRational::zero) += kept;
            entries.into_iter().filter(|(_, weight)| !weight.is_zero()).collect()
        };
        Ok(Self::of((0..self.node_count()).map(row).collect()))
    }

    /// Number of rows, and of columns.
    pub(super) fn node_count(&self) -> usize {
        self.0.rows.len()
    }

    /// The nonzero entries of row `u`: columns, ascending, and weights; empty for a node that does not exist.
    #[doc(hidden)]
    #[must_use]
    pub fn entries(&self, u: usize) -> Vec<(usize, Weight)> {
        let row = self.0.rows.get(u).map_or(&[][..], Vec::as_slice);
        row.iter().map(|(v, weight)| (*v as usize, Weight::of(weight.clone()))).collect()
    }

    /// Row `u`: columns and weights, ascending, all of them nonzero.
    pub(super) fn row(&self, u: usize) -> &[(u32, BigRational)] {
        &self.0.rows[u]
    }
}

impl TryFrom<&[Vec<(usize, Weight)>]> for MixingMatrix {
    type Error = ProgramError;

    /// The matrix with the given rows, each a list of columns and weights.
    ///
    /// # Errors
    /// [`ProgramError::NodeOutOfRange`] for a column that is not below the number of rows;
    /// [`ProgramError::Repeated`] for a column that occurs twice in a row; [`ProgramError::NotFinite`].
    fn try_from(rows: &[Vec<(usize, Weight)>]) -> Result<Self, ProgramError> {
        let nodes = rows.len();
        let one = |row: &Vec<(usize, Weight)>| {
            let mut entries: Vec<(u32, BigRational)> = Vec::with_capacity(row.len());
            for (node, weight) in row {
                let column = u32::try_from(*node).ok().filter(|_| *node < nodes);
                let column = column.ok_or(ProgramError::NodeOutOfRange { node: *node, nodes })?;
                let weight = weight.exact("a weight")?;
                if !weight.is_zero() {
                    entries.push((column, weight.clone()));
                }
            }
            entries.sort_by_key(|(column, _)| *column);
            match entries.windows(2).find(|pair| pair[0].0 == pair[1].0) {
                Some(pair) => {
                    Err(ProgramError::Repeated { node: pair[0].0 as usize, what: "a row of a matrix" })
                }
                None => Ok(entries),
            }
        };
        Ok(Self::of(rows.iter().map(one).collect::<Result<_, _>>()?))
    }
}

impl From<&GossipMatrix> for MixingMatrix {
    /// The exact matrix behind a gossip matrix. Named weights are ratios of integers, and given ones are the
    /// dyadic fractions that are stored.
    fn from(matrix: &GossipMatrix) -> Self {
        let graph = matrix.graph();
        let integer = |x: usize| BigRational::from_integer(x.into());
        // Stored weights are finite: the matrix checked them.
        let dyadic = |x: f64| BigRational::from_float(x).unwrap_or_else(BigRational::zero);
        let weights = matrix.weights();
        if weights.denominator(0, 0).is_none() {
            let row = |u: usize| {
                let (columns, weights) = matrix.csr().row(u);
                let entries = columns.iter().zip(weights).filter(|(_, w)| **w != 0.0);
                entries.map(|(&v, &w)| (v, dyadic(w))).collect()
            };
            return Self::of((0..matrix.node_count()).map(row).collect());
        }
        let moving = matrix
            .shares()
            .iter()
            .fold(BigRational::one(), |left, &l| left * (BigRational::one() - dyadic(l)));
        let row = |u: usize| {
            let mut own = BigRational::one();
            let mut entries: Vec<(u32, BigRational)> = Vec::new();
            for &v in graph.neighbors(u) {
                let denominator = weights.denominator(graph.degree(u), graph.degree(v as usize));
                let weight = &moving / integer(denominator.unwrap_or(usize::MAX));
                own -= &weight;
                entries.push((v, weight));
            }
            if !own.is_zero() {
                // Nodes of a graph have numbers of 32 bits.
                entries.push((u32::try_from(u).unwrap_or(u32::MAX), own));
            }
            entries.retain(|(_, weight)| !weight.is_zero());
            entries.sort_by_key(|(column, _)| *column);
            entries
        };
        Self::of((0..matrix.node_count()).map(row).collect())
    }
}

impl From<&MixingMatrix> for MixingMatrix {
    fn from(mixing: &MixingMatrix) -> Self {
        mixing.clone()
    }
}

/// The largest number of bits of a common denominator.
const LONGEST: u64 = 256;
