//! What may change between two neighboring inputs, and the loss that follows from a Gram matrix.
//!
//! Only the uses of one node's data change, use `i` by `δ_i`. If `G` is the node's Gram matrix, the loss is
//! the largest `Q(δ) = Σ_ij G_ij ⟨δ_i, δ_j⟩` over the set of changes that is *declared*: there is no default.
//!
//! | set | loss | grade |
//! |---|---|---|
//! | [`UseLevel`](SensitivitySet::UseLevel): one use changes | `max_i G_ii` | exact |
//! | [`SameDirection`](SensitivitySet::SameDirection), [`Along`](SensitivitySet::Along) | `1ᵀ G 1`, `cᵀ G c` | exact |
//! | [`Signs`](SensitivitySet::Signs): numbers of size at most 1 | `max sᵀ G s` over signs | exact where balanced, up to 24 uses, or where branch and bound ends |
//! | [`Vectors`](SensitivitySet::Vectors): of length at most 1 | `max tr(H G)`, `H` psd of rank at most `d`, diagonal at most 1 | exact where both ends of the semidefinite program meet |
//! | [`Patterns`](SensitivitySet::Patterns): only some uses take part | the largest over patterns | as within; separation: upper bound |
//!
//! Always same direction ≤ signs ≤ vectors ≤ `Σ |G_ij|`. The sets differ: for `G = I - J/3` of size 3 they
//! give 0, 8/3, 3 and 4.

use crate::adaptivity::Dependence;
use crate::enclose::Ends;
use crate::gram::{Decided, NodeGram};
use crate::{ProgramError, semidefinite, signs};
use ndp_account::Error;
use ndp_certify::account::WIDTH;
use ndp_dp::{Exact, Guarantee, UpperBound};
use num_rational::BigRational;
use serde::Serialize;

/// # Examples
/// ```
/// use ndp_account::Observer;
/// use ndp_program::{Patterns, SensitivitySet, constructors::dsgd};
/// use ndp_graph::{GossipMatrix, generators::complete_graph};
/// // Four steps over data in two batches: an example is used in every second step.
/// let program = dsgd(&GossipMatrix::metropolis(&complete_graph(3)?), 4)?;
/// let account = program.account(&Observer::node(0))?;
/// let loss = |set: &SensitivitySet| account.loss(1, set).map(|loss| loss.value());
/// let (patterns, within) = (Patterns::Cyclic { period: 2 }, Box::new(SensitivitySet::SameDirection));
/// let batches = SensitivitySet::Patterns { patterns, within };
/// assert!(loss(&SensitivitySet::UseLevel)? < loss(&batches)?);
/// assert!(loss(&batches)? < loss(&SensitivitySet::Signs)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub use ndp_account::Patterns;

/// # Examples
/// ```
/// use ndp_account::Observer;
/// use ndp_program::{Program, Reads, SensitivitySet};
/// // Two uses with one noise each, both sent.
/// let mut program = Program::new(2)?;
/// for _ in 0..2 {
///     let (x, z) = (program.contribute(0, Reads::Nothing)?, program.noise([0], 1)?);
///     let y = program.add(&[x, z])?;
///     program.send(0, 1, y)?;
/// }
/// let account = program.account(&Observer::node(1))?;
/// let loss = |set: SensitivitySet| account.loss(0, &set).map(|loss| loss.value());
/// assert_eq!(loss(SensitivitySet::UseLevel)?, 1.0);
/// assert!((loss(SensitivitySet::SameDirection)? - 2.0).abs() < 1e-9);
/// let bounds = vec![1.0, 3.0];
/// let scaled = SensitivitySet::Bounded { bounds, within: Box::new(SensitivitySet::UseLevel) };
/// assert!((loss(scaled)? - 9.0).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub use ndp_account::SensitivitySet;

/// A loss: the largest `Q` over the declared set, in units in which sensitivity and noise are 1.
///
/// # Examples
/// ```
/// use ndp_account::Observer;
/// use ndp_program::{Dependence, SensitivitySet, constructors::muffliato};
/// use ndp_dp::Grade;
/// use ndp_graph::{GossipMatrix, generators::path_graph};
/// let program = muffliato(&GossipMatrix::metropolis(&path_graph(4)?), 2)?;
/// let loss = program.account(&Observer::node(0))?.loss(1, &SensitivitySet::UseLevel)?;
/// assert!(loss.value.grade() == Grade::Exact && loss.lower <= loss.value());
/// // It comes with its assumptions.
/// assert_eq!((loss.set, loss.reads), (SensitivitySet::UseLevel, Dependence::Fixed));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Loss {
    /// The upper end, with its grade.
    pub value: Guarantee<f64>,
    /// The lower end; for an upper bound, a value that is attained. It is 0 where the loss is that of an
    /// observer who sees more than there may be to see: all messages where some may be lost, or what
    /// contributions depend on.
    pub lower: f64,
    /// The set of changes that was declared.
    pub set: SensitivitySet,
    /// What contributions were taken to depend on. If it [is assumed](Dependence::is_assumed),
    /// the loss rests on an assumption.
    pub reads: Dependence,
}

impl Loss {
    pub(super) fn new(ends: Ends, may_be_exact: bool, set: &SensitivitySet, reads: Dependence) -> Self {
        let revealed = reads.is_revealed();
        // An absolute width would say little of a loss far below 1.
        let near = ends.high.is_finite() && ends.high - ends.low <= WIDTH * ends.high;
        let exact = may_be_exact && !revealed && near;
        let value = if exact { Exact::new(ends.high).into() } else { UpperBound::new(ends.high).into() };
        let lower = if revealed { 0.0 } else { ends.low.min(ends.high) };
        Self { value, lower, set: set.clone(), reads }
    }

    /// A change may be seen without noise.
    pub(super) fn unbounded(set: &SensitivitySet, reads: Dependence) -> Self {
        let value = UpperBound::new(f64::INFINITY).into();
        Self { value, lower: 0.0, set: set.clone(), reads }
    }

    /// The upper end.
    #[must_use]
    pub fn value(&self) -> f64 {
        *self.value.value()
    }
}

/// The result of a set for a Gram matrix.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    /// Both ends.
    Ends(Ends),
    /// Some change in the set is seen without noise: the uses, with the weights of the direction.
    Noiseless(Vec<f64>),
}

/// The loss of a node under a set.
pub(super) fn evaluate(gram: &NodeGram, set: &SensitivitySet) -> Result<Value, Error> {
    let all: Vec<usize> = (0..gram.uses).collect();
    within(gram, set, &all, &vec![1.0; gram.uses])
}

/// The loss over changes of the given uses, each multiplied by its bound.
fn within(gram: &NodeGram, set: &SensitivitySet, uses: &[usize], bounds: &[f64]) -> Result<Value, Error> {
    let refuse = |problem: String| {
        Err(Error::from(ProgramError::SensitivitySet { node: gram.node, uses: gram.uses, problem }))
    };
    let on = |weights: &[f64]| -> Result<Vec<f64>, Error> {
        let mut along = vec![0.0; gram.uses];
        for &i in uses {
            along[i] = exact_product(gram, weights[i], bounds[i])?;
        }
        Ok(along)
    };
    match set {
        SensitivitySet::UseLevel => {
            let mut largest = Ends::ZERO;
            for &i in uses.iter().filter(|&&i| bounds[i] != 0.0) {
                if gram.leaks(i) {
                    return Ok(Value::Noiseless(unit(gram.uses, i)));
                }
                largest = largest.max(gram.diagonal(i).scaled(bounds[i]).scaled(bounds[i]));
            }
            Ok(Value::Ends(largest))
        }
        SensitivitySet::SameDirection => along(gram, &on(&vec![1.0; gram.uses])?),
        SensitivitySet::Along(weights) => {
            check_weights(gram, weights)?;
            along(gram, &on(weights)?)
        }
        SensitivitySet::Signs => free(gram, uses, bounds, 1),
        SensitivitySet::Vectors { dimension } => {
            if *dimension == 0 {
                return refuse("the dimension is 0".to_owned());
            }
            free(gram, uses, bounds, *dimension)
        }
        SensitivitySet::Bounded { bounds: more, within: set } => {
            within(gram, set, uses, &bounded(gram, bounds, more)?)
        }
        SensitivitySet::Patterns { patterns, within: set } => {
            if matches!(**set, SensitivitySet::Patterns { .. }) {
                return refuse("patterns within patterns".to_owned());
            }
            if uses.len() != gram.uses {
                return refuse("patterns stand outside everything else".to_owned());
            }
            of_patterns(gram, patterns, set, bounds)
        }
    }
}

fn check_weights(gram: &NodeGram, weights: &[f64]) -> Result<(), Error> {
    let problem = match weights.iter().find(|x| !x.is_finite()) {
        _ if weights.len() != gram.uses => format!("the number of weights is {}", weights.len()),
        Some(bad) => format!("the weight {bad} is not finite"),
        None => return Ok(()),
    };
    Err(ProgramError::SensitivitySet { node: gram.node, uses: gram.uses, problem }.into())
}

/// The products of two lists of bounds.
fn bounded(gram: &NodeGram, bounds: &[f64], more: &[f64]) -> Result<Vec<f64>, Error> {
    let problem = match more.iter().find(|x| !(0.0 <= **x && x.is_finite())) {
        _ if more.len() != gram.uses => format!("the number of bounds is {}", more.len()),
        Some(bad) => format!("the bound {bad} is negative or not finite"),
        None => return bounds.iter().zip(more).map(|(&a, &b)| exact_product(gram, a, b)).collect(),
    };
    Err(ProgramError::SensitivitySet { node: gram.node, uses: gram.uses, problem }.into())
}

/// How far each use may move under a set: the largest size of its change, which a change of that use alone
/// attains.
fn sizes(gram: &NodeGram, set: &SensitivitySet, bounds: &[f64]) -> Result<Vec<f64>, Error> {
    match set {
        SensitivitySet::Along(weights) => {
            check_weights(gram, weights)?;
            bounds.iter().zip(weights).map(|(&a, w)| exact_product(gram, a, w.abs())).collect()
        }
        SensitivitySet::Bounded { bounds: more, within } => {
            sizes(gram, within, &bounded(gram, bounds, more)?)
        }
        SensitivitySet::Vectors { dimension: 0 } | SensitivitySet::Patterns { .. } => {
            let problem = "patterns of patterns, or of vectors of dimension 0".to_owned();
            Err(ProgramError::SensitivitySet { node: gram.node, uses: gram.uses, problem }.into())
        }
        SensitivitySet::UseLevel
        | SensitivitySet::SameDirection
        | SensitivitySet::Signs
        | SensitivitySet::Vectors { .. } => Ok(bounds.to_vec()),
    }
}

/// `a b`, refused if it is not an `f64`: a rounded direction is another direction.
fn exact_product(gram: &NodeGram, a: f64, b: f64) -> Result<f64, Error> {
    let product = a * b;
    let exact = BigRational::from_float(a).zip(BigRational::from_float(b)).map(|(a, b)| a * b);
    if exact.is_some() && exact == BigRational::from_float(product) {
        return Ok(product);
    }
    let problem = format!("the product of {a} and {b} is no 64-bit number: give it as one weight");
    Err(ProgramError::SensitivitySet { node: gram.node, uses: gram.uses, problem }.into())
}

fn of_patterns(
    gram: &NodeGram,
    patterns: &Patterns,
    set: &SensitivitySet,
    bounds: &[f64],
) -> Result<Value, Error> {
    let k = gram.uses;
    let refuse = |problem: &str| {
        let problem = problem.to_owned();
        Err(Error::from(ProgramError::SensitivitySet { node: gram.node, uses: k, problem }))
    };
    let listed: Vec<Vec<usize>> = match patterns {
        Patterns::Cyclic { period: 0 } | Patterns::Separated { gap: 0 } => {
            return refuse("a period or a gap of 0");
        }
        Patterns::Cyclic { period } => {
            (0..(*period).min(k)).map(|first| (first..k).step_by(*period).collect()).collect()
        }
        Patterns::Listed(listed) => {
            for pattern in listed {
                let mut sorted = pattern.clone();
                sorted.sort_unstable();
                if sorted.iter().any(|&i| i >= k) || sorted.windows(2).any(|pair| pair[0] == pair[1]) {
                    return refuse("a pattern names a use that is not there, or names it twice");
                }
            }
            listed.clone()
        }
        Patterns::Separated { gap } => return separated(gram, *gap, &sizes(gram, set, bounds)?),
    };
    let mut largest = Ends::ZERO;
    for pattern in listed {
        match within(gram, set, &pattern, bounds)? {
            Value::Ends(ends) => largest = largest.max(ends),
            noiseless @ Value::Noiseless(_) => return Ok(noiseless),
        }
    }
    Ok(Value::Ends(largest))
}

/// An upper bound on `max Σ_(i in π) b_i² D_ii` over patterns `π` whose uses are at least `gap` apart and
/// move by at most `b_i`, for one diagonal `D` with `D - G` psd.
fn separated(gram: &NodeGram, gap: usize, bounds: &[f64]) -> Result<Value, Error> {
    let uses: Vec<usize> = (0..gram.uses).filter(|&i| bounds[i] != 0.0 && gram.relevant(i)).collect();
    if let Some(&i) = uses.iter().find(|&&i| gram.leaks(i)) {
        return Ok(Value::Noiseless(unit(gram.uses, i)));
    }
    let sub = gram.part(&uses, bounds);
    let majorant = semidefinite::majorant(&sub);
    let mut diagonal = vec![0.0; gram.uses];
    uses.iter().zip(majorant).for_each(|(&i, d)| diagonal[i] = d);
    let mut best = vec![0.0; gram.uses + 1];
    for i in 0..gram.uses {
        let before: f64 = if i + 1 >= gap { best[i + 1 - gap] } else { 0.0 };
        // Sums of nonnegative terms, rounded up.
        best[i + 1] = f64::max(best[i], (before + diagonal[i]).next_up());
    }
    let lowest = uses.iter().map(|&i| gram.diagonal(i).scaled(bounds[i]).scaled(bounds[i]));
    let low = lowest.fold(0.0, |m: f64, ends| m.max(ends.low));
    Ok(Value::Ends(Ends { low, high: best[gram.uses] }))
}

/// All uses along one direction.
fn along(gram: &NodeGram, weights: &[f64]) -> Result<Value, Error> {
    match gram.along(weights) {
        Decided::Ends(ends) => Ok(Value::Ends(ends)),
        Decided::Noiseless => Ok(Value::Noiseless(weights.to_vec())),
        Decided::Open => Err(ProgramError::Undecided(gram.node).into()),
    }
}

/// Changes that are independent of each other, in this dimension.
fn free(gram: &NodeGram, uses: &[usize], bounds: &[f64], dimension: usize) -> Result<Value, Error> {
    let uses: Vec<usize> = uses.iter().copied().filter(|&i| bounds[i] != 0.0 && gram.relevant(i)).collect();
    if let Some(&i) = uses.iter().find(|&&i| gram.leaks(i)) {
        return Ok(Value::Noiseless(unit(gram.uses, i)));
    }
    if uses.is_empty() {
        return Ok(Value::Ends(Ends::ZERO));
    }
    let sub = gram.part(&uses, bounds);
    if sub.center.is_none() {
        // Only the structural bound is known: a diagonal D with D - G psd.
        let high = sub.structural.iter().fold(0.0, |sum: f64, d| (sum + d).next_up());
        // A change of a single use, and a change of all uses in the same direction, are among the changes.
        let alone = uses.iter().map(|&i| gram.diagonal(i).scaled(bounds[i]).scaled(bounds[i]).low);
        let mut weights = vec![0.0; gram.uses];
        uses.iter().for_each(|&i| weights[i] = bounds[i]);
        let together = match gram.along(&weights) {
            Decided::Ends(ends) => ends.low,
            _ => 0.0,
        };
        return Ok(Value::Ends(Ends { low: alone.fold(together, f64::max), high }));
    }
    if let Some(ends) = signs::balanced(&sub) {
        return Ok(Value::Ends(ends));
    }
    if dimension == 1 && uses.len() <= signs::MOST {
        return Ok(Value::Ends(signs::enumerate(&sub)));
    }
    let mut ends = semidefinite::bounds(&sub, dimension);
    if dimension == 1 {
        ends.low = ends.low.max(signs::climb(&sub));
        if ends.high - ends.low > WIDTH * ends.high
            && uses.len() <= signs::MAX_BRANCHED
            && let Some(found) = signs::branch(&sub, ends.low)
        {
            ends = Ends { low: ends.low.max(found.low), high: ends.high.min(found.high) };
        }
    }
    Ok(Value::Ends(ends))
}

fn unit(uses: usize, at: usize) -> Vec<f64> {
    (0..uses).map(|i| f64::from(u8::from(i == at))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gram::tests::told;

    /// Uses that are not correlated, with losses 1, 5, 4, 3: the best of those that are far enough apart, by
    /// hand.
    #[test]
    fn separated_uses_are_the_best_pattern() -> Result<(), Error> {
        let rows: [&[f64]; 4] =
            [&[1.0, 0.0, 0.0, 0.0], &[0.0, 5.0, 0.0, 0.0], &[0.0, 0.0, 4.0, 0.0], &[0.0, 0.0, 0.0, 3.0]];
        let gram = told(&rows, 0.0);
        for (gap, expected) in [(1, 13.0), (2, 8.0), (3, 5.0), (4, 5.0), (9, 5.0)] {
            let Value::Ends(ends) = separated(&gram, gap, &[1.0; 4])? else { panic!("nothing leaks") };
            assert!(expected < ends.high && ends.high < expected + 1e-6, "{gap}: {ends:?}");
            assert_eq!(ends.low, 5.0);
        }
        let mut leaking = gram;
        leaking.leaks[2] = true;
        let found = separated(&leaking, 2, &[1.0; 4])?;
        assert!(matches!(found, Value::Noiseless(weights) if weights == [0.0, 0.0, 1.0, 0.0]));
        // A use that cannot change is not seen without noise.
        assert!(matches!(separated(&leaking, 2, &[1.0, 1.0, 0.0, 1.0])?, Value::Ends(_)));
        Ok(())
    }

    /// Nine groups of three uses that cannot all agree: 4 each, whereas semidefinite bounds alone give 4.5.
    #[test]
    fn signs_that_cannot_agree_are_enclosed() -> Result<(), Error> {
        let entry = |i: usize, j: usize| match (i == j, i / 3 == j / 3) {
            (true, _) => 1.0,
            (false, true) => -0.5,
            _ => 0.0,
        };
        let rows: Vec<Vec<f64>> = (0..27).map(|i| (0..27).map(|j| entry(i, j)).collect()).collect();
        let rows: Vec<&[f64]> = rows.iter().map(Vec::as_slice).collect();
        let all: Vec<usize> = (0..27).collect();
        let Value::Ends(ends) = free(&told(&rows, 0.0), &all, &[1.0; 27], 1)? else {
            panic!("nothing leaks")
        };
        assert!(ends.low <= 36.0 && 36.0 <= ends.high, "{ends:?}");
        assert!(ends.low > 35.9, "{ends:?}");
        // Vectors in two dimensions can agree better: three at 120 degrees.
        let Value::Ends(ends) = free(&told(&rows, 0.0), &all, &[1.0; 27], 2)? else {
            panic!("nothing leaks")
        };
        assert!(ends.low <= 40.5 && 40.5 <= ends.high && ends.high < 40.6, "{ends:?}");
        Ok(())
    }

    /// Three uses that cannot all agree, with 4 by any signs and 4.5 by vectors, and further single uses,
    /// more than all signs can be tried for: the upper end is that of the signs.
    #[test]
    fn a_tree_of_signs_lowers_the_upper_end() -> Result<(), Error> {
        let entry = |i: usize, j: usize| match (i == j, i.max(j) < 3) {
            (true, _) => 1.0,
            (false, true) => -0.5,
            _ => 0.0,
        };
        let rows: Vec<Vec<f64>> = (0..25).map(|i| (0..25).map(|j| entry(i, j)).collect()).collect();
        let rows: Vec<&[f64]> = rows.iter().map(Vec::as_slice).collect();
        let all: Vec<usize> = (0..25).collect();
        let Value::Ends(ends) = free(&told(&rows, 0.0), &all, &[1.0; 25], 1)? else {
            panic!("nothing leaks")
        };
        assert!(ends.low <= 26.0 && 26.0 <= ends.high && ends.high < 26.0 + 1e-6, "{ends:?}");
        Ok(())
    }

    /// Without entries, the structural bounds of uses that are far enough apart are added, and rounded up.
    #[test]
    fn bounds_of_separated_uses_are_added_outward() -> Result<(), Error> {
        let mut gram = told(&[&[0.1, 0.0], &[0.0, 0.7]], 0.0);
        (gram.entries, gram.structural) = (None, vec![0.1, 0.7]);
        let Value::Ends(ends) = separated(&gram, 1, &[1.0; 2])? else { panic!("nothing leaks") };
        let exact = |x: f64| BigRational::from_float(x).expect("finite");
        assert!(exact(ends.high) >= exact(0.1) + exact(0.7) && ends.high < 0.8 + 1e-12, "{ends:?}");
        Ok(())
    }

    /// Without entries, the structural bounds are added, and rounded up.
    #[test]
    fn structural_bounds_are_added_outward() -> Result<(), Error> {
        let mut gram = told(&[&[0.1, 0.0], &[0.0, 0.7]], 0.0);
        (gram.entries, gram.structural) = (None, vec![0.1, 0.7]);
        let Value::Ends(ends) = free(&gram, &[0, 1], &[1.0; 2], 2)? else { panic!("nothing leaks") };
        // In floats, .1 + .7 is below the exact sum of these two floats.
        assert!(ends.high > 0.1 + 0.7 && ends.high < 0.8 + 1e-12, "{ends:?}");
        assert!(ends.low <= 0.8 + 1e-15 && ends.low >= 0.7);
        Ok(())
    }
}
