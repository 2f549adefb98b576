//! Answers by exact rows, whose Gram matrix the certified core encloses.

use crate::Engine;
use crate::columns::{self, Columns};
use crate::enclose::Ends;
use crate::gram::{KnownDirection, NodeGram};
use crate::question::{Found, Question};
use ndarray::Array2;
use ndp_account::Error;
use ndp_certify::account::Budget;
use ndp_certify::gram::{self, Gram};
use ndp_numeric::rounding::any_of;

/// What the observer learns. `None` if no enclosure is found within the precision limit and some use has no
/// noise of its own.
///
/// # Errors
/// Those of reads that are refused; [`ndp_certify::Error::TooLarge`] above the memory limit;
/// [`Error::Stopped`].
pub(super) fn answer(question: &mut Question<'_>) -> Result<Option<Found>, Error> {
    let (adaptivity, probability) = question.resolve()?;
    let Question { program, options, asked, seen, directions, .. } = question;
    let (rows, columns) = columns::rows(program, seen, directions, asked)?;
    let (memory, bits) = (options.memory_limit, options.precision_limit);
    let gram = gram::of_rows(&rows, Budget { memory, bits, stop: &options.stop })?;
    if !gram.certified() && columns.of_use.keys().any(|use_| !columns.structural.contains_key(use_)) {
        return Ok(None);
    }
    Ok(Some(Found {
        grams: grams(question, &columns, &gram),
        rank: gram.rank(),
        bits: gram.bits,
        failure: any_of([gram.failure, probability]),
        adaptivity,
        engine: Engine::Rows,
    }))
}

/// The part of every node that is asked about.
fn grams(question: &Question<'_>, columns: &Columns, found: &Gram) -> Vec<Option<NodeGram>> {
    let program = question.program;
    let open = |node: usize| !question.seen.members[node] && question.asked[node];
    let empty = |node: usize| open(node).then(|| NodeGram::empty(node, program.uses(node)));
    let mut grams: Vec<Option<NodeGram>> = (0..program.node_count()).map(empty).collect();
    let mut leaks = vec![false; found.diagonal.len()];
    found.leaks.iter().for_each(|&k| leaks[k] = true);
    let ends = |input: usize| {
        let (low, high) = found.diagonal[input];
        Ends { low, high }
    };
    // The uses of every node that occur in a row, in order.
    let mut of_node: Vec<Vec<(usize, usize)>> = vec![Vec::new(); program.node_count()];
    for (&contribution, &input) in &columns.of_use {
        of_node[program.contributions[contribution].node].push((contribution, input));
    }
    for gram in grams.iter_mut().flatten() {
        let uses = &of_node[gram.node];
        for (place, &(contribution, input)) in uses.iter().enumerate() {
            gram.places[program.contributions[contribution].index] = Some(place);
            gram.diagonal.push(ends(input));
            gram.leaks.push(leaks[input]);
            gram.structural.push(bound_of_use(columns, uses, contribution));
        }
        gram.entries = entries(found, uses);
    }
    for (direction, input) in question.directions.iter().zip(&columns.of_direction) {
        let (ends, leaks) = input.map_or((Ends::ZERO, false), |k| (ends(k), leaks[k]));
        if let Some(gram) = &mut grams[direction.node] {
            gram.directions.push(KnownDirection { direction: direction.clone(), ends, leaks });
        }
    }
    grams
}

/// The bound from a noise of its own on one of a node's uses; infinite if there is none, or if another use
/// has the same noise: the two have no such bound together.
fn bound_of_use(columns: &Columns, uses: &[(usize, usize)], contribution: usize) -> f64 {
    let Some((noise, bound)) = columns.structural.get(&contribution) else { return f64::INFINITY };
    let same =
        |(other, _): &&(usize, usize)| columns.structural.get(other).is_some_and(|(known, _)| known == noise);
    if uses.iter().filter(same).count() > 1 { f64::INFINITY } else { *bound }
}

/// All entries of a node's Gram matrix, with a bound on the error of each.
fn entries(found: &Gram, uses: &[(usize, usize)]) -> Option<(Array2<f64>, Array2<f64>)> {
    let k = uses.len();
    let (mut center, mut radius) = (Array2::zeros((k, k)), Array2::zeros((k, k)));
    for i in 0..k {
        for j in 0..=i {
            let (middle, apart) = found.entry(uses[i].1, uses[j].1)?;
            if !(middle.is_finite() && apart.is_finite()) {
                return None;
            }
            (center[(i, j)], center[(j, i)]) = (middle, middle);
            (radius[(i, j)], radius[(j, i)]) = (apart, apart);
        }
    }
    Some((center, radius))
}
