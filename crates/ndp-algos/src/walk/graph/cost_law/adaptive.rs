//! Contributions that depend on the token: gradients, with steps that never move two tokens further apart.
//!
//! By amplification by iteration a contribution that waits `t` steps for the next one, or for a sighting,
//! costs at most `1/t`, and costs add up: the path costs at most the sum over its contributions, whatever the
//! gradients ([`PathCost`](crate::walk::graph::PathCost), the cost of gaps). This is a renewal at the visits
//! of `u` and the observers, up to the last sighting.

use super::intervals::{ByCount, Intervals, sightings};
use super::passages::{Passages, Side};
use ndp_account::Error;

/// Visits of `u`, then of each member, as a renewal whose charges belong to what begins at `u`.
pub(super) fn visits(passages: &Passages, published: bool) -> Result<[Intervals; 2], Error> {
    // The ends of the walk without another sighting are those of contributions that are fixed.
    let [above, below] = Intervals::both(passages, false)?.map(|side| side.tail);
    let mut sides = [(Side::Upper, above), (Side::Lower, below)]
        .map(|(side, ends)| of_side(passages, published, side, ends));
    let sightings = sightings(&sides[0], passages.steps());
    sides.iter_mut().for_each(|side| side.sightings = sightings);
    Ok(sides)
}

fn of_side(passages: &Passages, published: bool, side: Side, ends: Vec<ByCount>) -> Intervals {
    let steps = passages.steps();
    let law = |law: &Vec<f64>| passages.side(law, side);
    let charged = |law: Vec<f64>| -> ByCount { vec![vec![0.0; steps + 1], law] };
    let free = |law: Vec<f64>| -> ByCount { vec![law] };
    let of_u = [&passages.again].into_iter().chain(&passages.seen).map(|p| charged(law(p))).collect();
    let of_members = passages
        .back
        .iter()
        .zip(&passages.among)
        .map(|(back, among)| [back].into_iter().chain(among).map(|p| free(law(p))).collect());
    let between: Vec<Vec<ByCount>> = [of_u].into_iter().chain(of_members).collect();
    let starts = [&passages.start].into_iter().chain(&passages.start_seen);
    let first = starts.map(|p| free(passages.side_of_start(p, side))).collect();
    // From below what was taken away is known from above, and the other way around.
    let other = if side == Side::Upper { Side::Lower } else { Side::Upper };
    let none = |laws: Vec<&Vec<f64>>| -> Vec<f64> {
        let taken: Vec<Vec<f64>> = laws.into_iter().map(|law| passages.side(law, other)).collect();
        let mut sum = 0.0;
        (0..=steps)
            .map(|t| {
                sum += taken.iter().map(|law| law[t]).sum::<f64>();
                let margin = ((t + 1) * (taken.len() + 2)) as f64 * f64::EPSILON;
                if side == Side::Upper { 1.0 - sum + margin } else { 1.0 - sum - margin }.clamp(0.0, 1.0)
            })
            .collect()
    };
    let mut tail = Vec::new();
    if published {
        // What is pending is seen at the end; nothing is contributed after the last step.
        let mut shown = none([&passages.again].into_iter().chain(&passages.seen).collect());
        let mut now = vec![0.0; steps + 1];
        now[0] = shown[0];
        shown[0] = 0.0;
        tail.push(vec![now, shown]);
        for (back, among) in passages.back.iter().zip(&passages.among) {
            tail.push(free(none([back].into_iter().chain(among).collect())));
        }
    } else {
        // Nobody sees what is pending: the last sighting is the end, whether u is visited after it or not.
        tail.push(free(vec![0.0; steps + 1]));
        tail.extend(ends);
    }
    let sightings = (steps + 1) as f64;
    Intervals { between, first, tail, unseen: Vec::new(), sightings, whole: true, lost: 0.0 }
}
