//! The view of a linear Gaussian protocol: which combinations of inputs and noises an observer sees.

use crate::Error;
use ndarray::{Array2, ArrayView2};
use ndp_certify::Source;
use std::sync::Arc;

/// What a coalition of nodes (mostly one node) sees in a linear Gaussian protocol.
///
/// Row `k` of the view is the value `Σ_u inputs[k][u] · x_u + Σ_j noises[k][j] · z_j`, where `x_u`
/// is the input of node `u` and the `z_j` are independent noises with standard deviation `σ` per
/// coordinate, the same in all rows. A noise of another strength has its factor in its column.
/// Of the `known` noises the coalition knows the value, having drawn them itself.
///
/// The entries given to [`View::new`] are exact: each is the dyadic fraction that it stores. In a view made
/// by a protocol of this workspace, the entries are roundings, for attacks and simulations; the losses come
/// from the exact rows, which the view also holds.
///
/// # Examples
/// ```
/// use ndarray::arr2;
/// use ndp_account::{View, loss::exact_loss};
/// // Node 2 hears the mean of two noisy values.
/// let heard = arr2(&[[0.5, 0.5, 0.0]]);
/// let report = exact_loss(&View::new(&[2], heard.clone(), heard, &[])?)?;
/// assert!((report.unit(0)?.value().get() - 0.5).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct View {
    coalition: Vec<usize>,
    inputs: Array2<f64>,
    noises: Array2<f64>,
    known: Vec<usize>,
    source: Option<Arc<Source>>,
}

impl View {
    /// The view of `coalition` with the given rows over the `n` inputs (`rows` by `n`) and over the
    /// noises (`rows` by number of noises), and the noises it knows.
    ///
    /// # Errors
    /// [`Error::EmptyCoalition`], [`Error::NodeOutOfRange`], [`Error::RepeatedMember`];
    /// [`Error::Shape`] when the two blocks have different numbers of rows;
    /// [`Error::InvalidParameter`] for an entry that is not finite, or a known noise that is out of
    /// range or given twice.
    pub fn new(
        coalition: &[usize],
        inputs: Array2<f64>,
        noises: Array2<f64>,
        known: &[usize],
    ) -> Result<Self, Error> {
        let coalition = checked_coalition(coalition, inputs.ncols())?;
        if inputs.nrows() != noises.nrows() {
            return Err(Error::Shape {
                what: "rows of the view over the noises",
                expected: inputs.nrows(),
                got: noises.nrows(),
            });
        }
        if let Some(&value) = inputs.iter().chain(&noises).find(|x| !x.is_finite()) {
            return Err(Error::InvalidParameter {
                name: "every entry of a view",
                condition: "be finite",
                value,
            });
        }
        let mut known = known.to_vec();
        known.sort_unstable();
        let bad = known.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0]);
        if let Some(j) = bad.or(known.iter().copied().find(|&j| j >= noises.ncols())) {
            return Err(Error::InvalidParameter {
                name: "a known noise",
                condition: "be one of the view's noises, given once",
                value: j as f64,
            });
        }
        Ok(Self { coalition, inputs, noises, known, source: None })
    }

    /// The same view with its exact rows attached.
    #[doc(hidden)]
    #[must_use]
    pub fn with_source(mut self, source: Source) -> Self {
        self.source = Some(Arc::new(source));
        self
    }

    /// The exact rows, if the entries of the view are roundings of them.
    pub(crate) fn source(&self) -> Option<&Source> {
        self.source.as_deref()
    }

    /// The observing nodes, ascending.
    pub(crate) fn coalition(&self) -> &[usize] {
        &self.coalition
    }

    /// Coefficients of the inputs: one row per observed value, one column per node.
    #[must_use]
    pub fn inputs(&self) -> ArrayView2<'_, f64> {
        self.inputs.view()
    }

    /// Coefficients of the noises, in units of `σ`: one row per observed value.
    #[must_use]
    pub fn noises(&self) -> ArrayView2<'_, f64> {
        self.noises.view()
    }

    /// The noises whose values the coalition knows, ascending.
    #[must_use]
    #[doc(hidden)]
    pub fn known_noises(&self) -> &[usize] {
        &self.known
    }
}

/// `u`, if it is one of `nodes` nodes and not one of `members`.
///
/// # Errors
/// [`Error::NodeOutOfRange`]; [`Error::SourceIsObserver`].
pub(crate) fn checked_source(u: usize, members: &[usize], nodes: usize) -> Result<usize, Error> {
    if u >= nodes {
        return Err(Error::NodeOutOfRange { node: u, nodes });
    }
    if members.contains(&u) {
        return Err(Error::SourceIsObserver(u));
    }
    Ok(u)
}

/// The coalition in ascending order, checked.
///
/// # Errors
/// [`Error::EmptyCoalition`], [`Error::NodeOutOfRange`], [`Error::RepeatedMember`].
pub fn checked_coalition(coalition: &[usize], nodes: usize) -> Result<Vec<usize>, Error> {
    let mut members = coalition.to_vec();
    members.sort_unstable();
    if members.is_empty() {
        return Err(Error::EmptyCoalition);
    }
    if let Some(&node) = members.iter().find(|&&node| node >= nodes) {
        return Err(Error::NodeOutOfRange { node, nodes });
    }
    if let Some(twice) = members.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(Error::RepeatedMember(twice[0]));
    }
    Ok(members)
}
