//! The certificate of gossip with a fixed matrix.

use super::{
    Attempt, Budget, Certificate, Combined, PRECISE, WIDTH, assemble, assemble_structural, enclose,
    enclose_combinations, require, search,
};
use crate::Error;
use crate::combinations::Lost;
use crate::decisions::{self, Decisions};
use crate::enclosure::Enclosure;
use crate::krylov::{Against, Kept, Krylov};
use crate::layout::Layout;
use crate::twins;
use ndp_graph::Graph;
use ndp_numeric::stop::{Stop, Stopped};
use std::cell::OnceCell;

/// The certificate of gossip with a fixed matrix.
pub fn of_krylov(view: &Krylov, graph: &Graph, budget: Budget<'_>) -> Result<Certificate, Error> {
    let layout = layout_of(view);
    let decisions = OnceCell::new();
    let decide = || decisions.get_or_init(|| decide_krylov(view, budget));
    let kept = || decide().as_ref().ok().map(|decisions| decisions.kept.as_slice());
    let told =
        || decide().as_ref().map(|decisions| (decisions.rank(), decisions.failure)).map_err(Error::clone);
    // Where there are far fewer rows than nodes, all are expected to be new. That needs no decision
    // beforehand:
    // the enclosure of their combinations proves that they are independent.
    if !view.seeds().is_empty() && 2 * view.rank_limit() < view.nodes() {
        let found = combine_krylov(view, Kept::Open(&kept), &layout, budget)?;
        let (rank, failure) = match &found {
            Some(found) => {
                (found.vectors.len(), decisions.get().map_or(Ok(0.0), |_| told().map(|told| told.1))?)
            }
            None => told()?,
        };
        return Ok(certificate_of(view, &layout, found, rank, failure));
    }
    let (rank, failure) = told()?;
    if let Some(certificate) = without_numerics(view, graph, &layout, rank) {
        return Ok(certificate);
    }
    let found = combine_krylov(view, Kept::Known(kept().unwrap_or_default()), &layout, budget)?;
    Ok(certificate_of(view, &layout, found, rank, failure))
}

fn certificate_of(
    view: &Krylov,
    layout: &Layout,
    found: Option<Combined>,
    rank: usize,
    failure: f64,
) -> Certificate {
    let (enclosure, bits) = found.map_or((None, 0), |found| (Some(found.enclosure), found.bits));
    assemble(layout, enclosure.as_ref(), rank - view.known().len(), failure, bits)
}

/// The certificate of gossip with a fixed matrix, and nearly orthonormal combinations of what is seen over
/// all nodes of the ball.
pub fn basis_of_krylov(
    view: &Krylov,
    graph: &Graph,
    budget: Budget<'_>,
) -> Result<(Certificate, Combined), Error> {
    let certificate = of_krylov(view, graph, budget)?;
    let layout = layout_of(view);
    let alike = seen_alike(view, graph, certificate.rank);
    if let Some(rows) = twins::basis(view.nodes(), certificate.rank, &alike) {
        let vectors: Vec<Vec<f64>> = rows.rows().into_iter().map(|row| row.to_vec()).collect();
        // Entries 1 and 1/√k, each rounded once.
        let errors = vec![f64::EPSILON; vectors.len()];
        let enclosure =
            Enclosure::new(&vectors, &errors, &layout).ok_or(Error::NotCertified { bits: budget.bits })?;
        return Ok((certificate, Combined { vectors, enclosure, bits: 53 }));
    }
    let decisions = decide_krylov(view, budget)?;
    let combined = combine_krylov(view, Kept::Known(&decisions.kept), &layout, budget)?;
    Ok((certificate, combined.ok_or(Error::NotCertified { bits: budget.bits })?))
}

fn decide_krylov(view: &Krylov, budget: Budget<'_>) -> Result<Decisions, Error> {
    require("the orthonormal basis of the view", view.bytes(2), budget)?;
    decisions::of_krylov(view, budget.stop)
}

/// The losses in the two cases where the rank alone determines them: nothing is hidden, or only what a
/// symmetry of the graph hides. The rank is proven from below modulo one prime and bounded from above by the
/// symmetry.
fn without_numerics(view: &Krylov, graph: &Graph, layout: &Layout, rank: usize) -> Option<Certificate> {
    let unit = twins::losses(view.nodes(), rank, &seen_alike(view, graph, rank))?;
    let mut certificate = assemble_structural(layout, rank - view.known().len());
    for input in &layout.inputs {
        (certificate.lower[input.node], certificate.upper[input.node]) = enclose(unit[input.coordinate]);
    }
    Some(certificate)
}

/// Classes of nodes within the ball that the view cannot tell apart. Empty if such classes could not explain
/// the rank, and for given weights, which need not follow the symmetries of the graph.
fn seen_alike(view: &Krylov, graph: &Graph, rank: usize) -> Vec<Vec<usize>> {
    let n = view.nodes();
    if !view.is_named() || rank == n || 2 * rank < n || view.seeds().is_empty() {
        return Vec::new();
    }
    let ball = view.ball();
    let mut apart = vec![false; n];
    view.known().iter().chain(view.seeds()).for_each(|&u| apart[u] = true);
    let classes = twins::classes(graph, |u| ball.local(u).is_none_or(|k| apart[k]));
    classes.into_iter().map(|class| ball.locals(&class)).collect()
}

/// Every node of the ball outside the known ones is an input with a noise of its own.
fn layout_of(view: &Krylov) -> Layout {
    let mut layout = Layout::of_equal_columns(view.ball().graph_size(), view.ball().nodes());
    layout.inputs.retain(|input| !view.known().contains(&input.coordinate));
    layout.known = view.known().len();
    layout
}

fn combine_krylov(
    view: &Krylov,
    mut kept: Kept<'_>,
    layout: &Layout,
    budget: Budget<'_>,
) -> Result<Option<Combined>, Stopped> {
    let rank = kept.count().unwrap_or_else(|| view.rank_limit()) as f64;
    let recent = (3 * view.seeds().len()) as f64;
    let mut against = Against::Recent;
    let work = rank * recent.min(rank) * view.nodes() as f64;
    search(budget, work, |limbs| {
        if view.bytes(limbs) > budget.memory {
            return Attempt::Stop;
        }
        loop {
            let found = attempt_krylov(view, kept, against, layout, limbs, budget.stop);
            // The digits suffice, but the vectors are not orthonormal enough. Compute the coefficients with
            // more digits, or make each vector orthogonal to all its predecessors.
            let skewed = match &found {
                Attempt::Found(_, enclosure) => enclosure.width() > WIDTH && enclosure.error <= PRECISE,
                Attempt::Skewed { error } => *error <= PRECISE,
                Attempt::Lost { .. } | Attempt::Stop | Attempt::Stopped(_) => false,
            };
            // Or an old row was taken for a new one.
            if skewed && kept.settle().is_some() && kept.has_old() {
                continue;
            }
            against = match (against, &found) {
                // A run that is so long that its digits ran out would become skewed, too.
                (Against::Recent, Attempt::Lost { .. }) => Against::Precisely,
                (Against::Recent, _) if skewed => Against::Precisely,
                (Against::Precisely, _) if skewed => Against::All,
                _ => return found,
            };
            if !skewed {
                return found;
            }
        }
    })
}

fn attempt_krylov(
    view: &Krylov,
    kept: Kept<'_>,
    against: Against,
    layout: &Layout,
    limbs: usize,
    stop: &Stop,
) -> Attempt {
    match view.combinations(limbs, kept, against, stop) {
        Err((Lost::Stopped(stopped), _)) => Attempt::Stopped(stopped),
        Err((Lost::Digits(growth), progress)) => Attempt::Lost { growth, progress },
        // Every coordinate has its noise.
        Err((Lost::Range { .. }, _)) => Attempt::Stop,
        Ok(found) => enclose_combinations(found.into_rounded(), layout),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndp_graph::{GossipMatrix, generators, random};
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;
    use std::cell::Cell;

    /// Without a decision beforehand the combinations are the same, bit by bit. Which rows are new is asked
    /// only where some are not, as on a hypercube, which has few eigenvalues.
    #[test]
    fn nothing_is_decided_where_all_rows_are_new() -> Result<(), Box<dyn std::error::Error>> {
        let random = random::connected_erdos_renyi(300, 0.03, 100, &mut ChaCha8Rng::seed_from_u64(5))?;
        let mut kinds = Vec::new();
        for (graph, v, rounds) in [
            (random, 7, 12),
            (generators::hypercube_graph(8)?, 3, 12),
            (generators::grid_2d_graph(20, 20)?, 190, 9),
        ] {
            let seeds: Vec<usize> = graph.neighbors(v).iter().map(|&w| w as usize).collect();
            let view = Krylov::new(&GossipMatrix::metropolis(&graph), &[v], &seeds, &[v], rounds);
            let (layout, budget) = (layout_of(&view), Budget::default());
            let decisions = decisions::of_krylov(&view, budget.stop)?;
            let asked = Cell::new(false);
            let kept = || {
                asked.set(true);
                Some(decisions.kept.as_slice())
            };
            let open = combine_krylov(&view, Kept::Open(&kept), &layout, budget)?.ok_or("combinations")?;
            let known = combine_krylov(&view, Kept::Known(&decisions.kept), &layout, budget)?
                .ok_or("combinations")?;
            assert_eq!(asked.get(), decisions.kept.contains(&false));
            kinds.push(asked.get());
            assert_eq!((open.vectors.len(), open.bits), (decisions.rank(), known.bits));
            assert!(open.vectors == known.vectors && open.enclosure == known.enclosure);
            let certificate = of_krylov(&view, &graph, budget)?;
            assert_eq!(certificate.failure > 0.0, asked.get());
        }
        assert_eq!(kinds[..2], [false, true]);
        Ok(())
    }
}
