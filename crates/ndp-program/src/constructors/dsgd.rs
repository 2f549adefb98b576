//! Decentralized SGD with a noise matrix over time.

use crate::{MixingMatrix, Program, Reads, Value, Weight, toeplitz};
use ndp_account::Error;
use ndp_graph::GossipMatrix;

/// Options of [`dsgd`].
///
/// # Examples
/// ```
/// use ndp_account::Observer;
/// use ndp_program::{SensitivitySet, Weight, inverse_of_lower, toeplitz};
/// use ndp_program::constructors::{Dsgd, dsgd};
/// use ndp_graph::{GossipMatrix, generators::complete_graph};
/// let matrix = GossipMatrix::metropolis(&complete_graph(3)?);
/// // Noise of which the next step's noise takes back a half.
/// let noise = inverse_of_lower(&toeplitz(3, &[Weight::from(1), Weight::from((1, 2))]))?;
/// let correlated = dsgd(&matrix, Dsgd { noise, ..Dsgd::from(3) })?;
/// let loss = |program: &ndp_program::Program| {
///     program.account(&Observer::node(0))?.loss(1, &SensitivitySet::UseLevel).map(|loss| loss.value())
/// };
/// assert!(loss(&correlated)? > loss(&dsgd(&matrix, 3)?)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Dsgd {
    /// Number of steps, each with a contribution of every node.
    pub steps: usize,
    /// The number of times that a step sends and mixes.
    pub sends: usize,
    /// The noise of step `t` is `Σ_s noise[t][s] ζ_s` of independent noises of variance 1, lower triangular:
    /// the rows of `C⁻¹` for a noise matrix `C` ([`inverse_of_lower`](crate::inverse_of_lower)).
    pub noise: Vec<Vec<Weight>>,
    /// What contributions may depend on.
    pub reads: ModelReads,
}

/// What the contributions of [`dsgd`] may depend on, besides the data of the node: the model that the node
/// has before the step.
///
/// In the first step there is no model yet, and nothing is read.
///
/// # Examples
/// ```
/// use ndp_program::constructors::{Dsgd, ModelReads, dsgd};
/// use ndp_account::Observer;
/// use ndp_program::{Dependence, SensitivitySet};
/// use ndp_dp::Grade;
/// use ndp_graph::{GossipMatrix, generators::path_graph};
/// let matrix = GossipMatrix::metropolis(&path_graph(3)?);
/// let account = |reads| dsgd(&matrix, Dsgd { reads, ..Dsgd::from(2) })?.account(&Observer::node(2));
/// // Real gradients depend on models. Node 2 is shown the models of nodes 0 and 1, which it does not see.
/// let shown = account(ModelReads::Hidden)?;
/// assert_eq!(shown.adaptivity, Dependence::Revealed);
/// let (set, fixed) = (SensitivitySet::UseLevel, account(ModelReads::Nothing)?);
/// assert_eq!(shown.loss(1, &set)?.value.grade(), Grade::UpperBound);
/// assert!(fixed.loss(1, &set)?.value() <= shown.loss(1, &set)?.value());
/// // Declaring that it sees them is refused.
/// assert!(account(ModelReads::Seen).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ModelReads {
    /// On nothing that was received: contributions that are fixed before the run.
    #[default]
    Nothing,
    /// On the model, which is declared to be seen by the observer; this is checked for every observer.
    Seen,
    /// On the model, which the observer need not see: it is shown the model, which gives an upper bound.
    Hidden,
    /// On something that the observer has seen, which is not named: an assumption, which the account reports.
    Assumed,
}

impl ModelReads {
    /// The reads of the contribution of a node with this model.
    pub(crate) fn of(self, model: Option<Value>) -> Reads {
        let named = |reads: fn(Option<Vec<Value>>) -> Reads| {
            model.map_or(Reads::Nothing, |model| reads(Some(vec![model])))
        };
        match self {
            Self::Nothing => Reads::Nothing,
            Self::Seen => named(Reads::Seen),
            Self::Hidden => named(Reads::Hidden),
            Self::Assumed => Reads::Seen(None),
        }
    }
}

/// This number of steps with independent noise, one send per step, and contributions that depend on nothing
/// that was received.
impl From<usize> for Dsgd {
    fn from(steps: usize) -> Self {
        Self { steps, sends: 1, noise: toeplitz(steps, &[Weight::from(1)]), reads: ModelReads::Nothing }
    }
}

/// In every step each node adds a contribution (a gradient, in units of its sensitivity) and a noise to its
/// model, then sends the model to its neighbors and takes the mean with the matrix.
///
/// Step sizes are part of the unit of the contribution. Gradients that depend on local models which the
/// observer does not see are *not* covered by [`ModelReads::Nothing`]: declare what they read.
///
/// # Errors
/// [`ProgramError::Shape`](crate::ProgramError::Shape) for fewer rows of noise than steps.
///
/// # References
/// - Bellet, Cyffers, Frey, Gaudel, Lerévérend, Taïani, *Unified privacy guarantees for decentralized
///   learning via matrix factorization*, 2025, arXiv:2510.17480.
/// - Denisov et al., *Improved differential privacy for SGD via optimal private linear operators*, 2022.
///
/// # Examples
/// ```
/// use ndp_account::Observer;
/// use ndp_program::{SensitivitySet, constructors::dsgd};
/// use ndp_graph::{GossipMatrix, generators::path_graph};
/// let program = dsgd(&GossipMatrix::metropolis(&path_graph(3)?), 3)?;
/// let account = program.account(&Observer::node(2))?;
/// assert!((account.loss(0, &SensitivitySet::SameDirection)?.value() - 9.0 / 26.0).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn dsgd(matrix: &GossipMatrix, options: impl Into<Dsgd>) -> Result<Program, Error> {
    let options = options.into();
    let nodes = matrix.node_count();
    let mut program = Program::new(nodes)?;
    if options.noise.len() < options.steps {
        let (expected, got) = (options.steps, options.noise.len());
        return Err(crate::ProgramError::Shape { what: "rows of noise", expected, got }.into());
    }
    let mixing = MixingMatrix::from(matrix);
    let rows = &options.noise[..options.steps];
    let noise: Vec<_> = (0..nodes).map(|u| program.noise_over_time(u, rows, 1)).collect::<Result<_, _>>()?;
    let mut model: Option<Vec<Value>> = None;
    for t in 0..options.steps {
        let before = |u: usize| model.as_ref().map(|model| model[u]);
        let x = (0..nodes)
            .map(|u| program.contribute(u, options.reads.of(before(u))))
            .collect::<Result<Vec<_>, _>>()?;
        let z: Vec<_> = noise.iter().map(|noise| noise[t]).collect();
        let mut y = program.add_all(&x, &z)?;
        if let Some(model) = &model {
            y = program.add_all(model, &y)?;
        }
        for _ in 0..options.sends {
            program.send_to_neighbors(matrix.graph(), &y)?;
            y = program.gossip(&mixing, &y)?;
        }
        model = Some(y);
    }
    if let Some(model) = model {
        program.result(model.into_iter().enumerate())?;
    }
    Ok(program)
}
