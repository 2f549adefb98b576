//! Strengths of a program's noises that make its error least under a limit.

use crate::declaration::Declaration;
use crate::errors::Fault;
use crate::grades::Number;
use crate::program::Program;
use crate::question::{Who, observer};
use crate::worker::run;
use ndp_account::Observer;
use ndp_program::Dependence;
use ndp_program::design::{Design, DesignStopping, Limit};
use pyo3::prelude::*;

/// What is asked: groups of noises, a price and a least strength for each.
type Groups = (Vec<Vec<usize>>, Option<Vec<f64>>, Option<Vec<f64>>);

/// What is allowed in units of `mu^2`, whether on average, and when the search stops: tolerance and steps.
type Allowed = (f64, bool, f64, usize);

/// What was found: the program with its strengths, their cost and its lower bound, the loss, what contributions depend on, failure
/// probability, steps.
type Found = (Program, Vec<f64>, f64, f64, Number, &'static str, f64, usize);

/// The strengths of least cost for which what observers learn about their sources stays within a limit.
#[pyfunction]
pub(crate) fn design_noises(
    py: Python<'_>,
    program: &Program,
    groups: Groups,
    pairs: Vec<(Who, Vec<usize>)>,
    set: Declaration,
    allowed: Allowed,
) -> Result<Found, Fault> {
    let (groups, prices, floors) = groups;
    let (limit, on_average, tolerance, steps) = allowed;
    let (program, groups) = {
        let stated = program.lock()?;
        let groups = groups.iter().map(|group| stated.values(group)).collect::<Result<Vec<_>, Fault>>()?;
        (stated.program.clone(), groups)
    };
    let set = set.set()?;
    let pairs: Vec<(Observer, Vec<usize>)> =
        pairs.into_iter().map(|(who, sources)| (observer(who), sources)).collect();
    let found = run(py, move || {
        let mut design = Design::new(&program, &groups)?;
        if let Some(prices) = prices {
            design.prices = prices;
        }
        if let Some(floors) = floors {
            design.floors = floors;
        }
        let limit = if on_average { Limit::Mean(limit) } else { Limit::Worst(limit) };
        Ok(design.solve(&pairs, &set, limit, DesignStopping { tolerance, steps })?)
    })?;
    let reads = match found.reads {
        Dependence::Fixed => "fixed",
        Dependence::Checked => "checked",
        Dependence::Assumed => "assumed",
        Dependence::Revealed => "revealed",
        Dependence::RevealedAndAssumed => "revealed and assumed",
    };
    let loss = Number::new(found.loss, "squared mu");
    Ok((
        Program::of(found.program),
        found.strengths,
        found.cost,
        found.lower_bound,
        loss,
        reads,
        found.failure,
        found.steps,
    ))
}
