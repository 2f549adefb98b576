//! A question about a program, and what an engine finds: what the table of engines and all engines share.

use crate::adaptivity::{self, Dependence};
use crate::build::Program;
use crate::columns::Direction;
use crate::gram::NodeGram;
use crate::observers::Seen;
use crate::options::AccountOptions;
use crate::{Engine, ProgramError};
use ndp_account::{Error, Observer};
use num_rational::BigRational;
use num_traits::One;
use std::collections::BTreeMap;

/// What does the observer learn about these nodes?
pub(super) struct Question<'a> {
    pub(super) program: &'a Program,
    pub(super) observer: &'a Observer,
    pub(super) options: &'a AccountOptions,
    /// For each node, whether it is asked about.
    pub(super) asked: Vec<bool>,
    /// What is seen; its rows have coefficients as soon as an engine has written them out.
    pub(super) seen: Seen,
    /// The sums of all uses of each node, and the directions that the options name.
    pub(super) directions: Vec<Direction>,
    /// What contributions depend on, and the probability that a check of this passed wrongly, once it is
    /// known.
    resolved: Option<(Dependence, f64)>,
}

/// What an engine proves about an observer.
pub(super) struct Found {
    pub(super) grams: Vec<Option<NodeGram>>,
    pub(super) rank: usize,
    pub(super) bits: u32,
    pub(super) failure: f64,
    pub(super) adaptivity: Dependence,
    pub(super) engine: Engine,
}

impl<'a> Question<'a> {
    /// # Errors
    /// A bad observer; [`ProgramError::NodeOutOfRange`], [`ProgramError::NotAsked`] or
    /// [`ProgramError::SensitivitySet`] for what the options name.
    pub(super) fn new(
        program: &'a Program,
        observer: &'a Observer,
        options: &'a AccountOptions,
    ) -> Result<Self, Error> {
        let nodes = program.node_count();
        if let Some(&node) = options.nodes.iter().flatten().find(|&&node| node >= nodes) {
            return Err(ProgramError::NodeOutOfRange { node, nodes }.into());
        }
        let asked = options.asked(program);
        let seen = Seen::outline(program, observer, &BTreeMap::new())?;
        let directions = directions(program, &seen, &asked, options)?;
        options.stop.check()?;
        Ok(Self { program, observer, options, asked, seen, directions, resolved: None })
    }

    /// What contributions depend on, and the probability that a check of this passed wrongly. What is seen
    /// then has what is shown because of it, with the coefficients of all rows.
    ///
    /// # Errors
    /// Those of reads that are refused; [`Error::Stopped`].
    pub(super) fn resolve(&mut self) -> Result<(Dependence, f64), Error> {
        if let Some(resolved) = self.resolved {
            return Ok(resolved);
        }
        let (hidden, stop) = (self.options.hidden, &self.options.stop);
        let (seen, adaptivity, probability) =
            adaptivity::resolve(self.program, self.observer, &self.seen, hidden, stop)?;
        self.seen = seen;
        self.resolved = Some((adaptivity, probability));
        Ok((adaptivity, probability))
    }
}

fn directions(
    program: &Program,
    seen: &Seen,
    asked: &[bool],
    options: &AccountOptions,
) -> Result<Vec<Direction>, Error> {
    let nodes = program.node_count();
    let open = |node: &usize| !seen.members[*node] && asked[*node] && program.uses(*node) > 1;
    let sum = |node: usize| Direction { node, weights: vec![BigRational::one(); program.uses(node)] };
    let mut directions: Vec<Direction> = (0..nodes).filter(open).map(sum).collect();
    for (node, weights) in &options.directions {
        let node = *node;
        if node >= nodes {
            return Err(ProgramError::NodeOutOfRange { node, nodes }.into());
        }
        let uses = program.uses(node);
        if weights.len() != uses {
            let problem = format!("the number of weights is {}", weights.len());
            return Err(ProgramError::SensitivitySet { node, uses, problem }.into());
        }
        if !asked[node] {
            return Err(ProgramError::NotAsked(node).into());
        }
        let weights = weights.iter().map(|w| w.exact("a weight").cloned()).collect::<Result<_, _>>()?;
        directions.push(Direction { node, weights });
    }
    Ok(directions)
}
