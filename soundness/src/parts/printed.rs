//! False claims of papers about gossip: for each, the search finds the smallest counterexample again.

use super::formula::Stated;
use super::losses::Case;
use super::searched;
use crate::draw::graphs;
use crate::draw::numbers::coalition;
use crate::oracle::gossip;
use crate::oracle::linear::{Linear, Loss};
use crate::oracle::rational::Quotient;
use crate::part::{Outcome, Part, Stratum};
use ndp_account::Error;
use ndp_dp::{ObserverLoss, Order, Printed};
use ndp_graph::{GossipMatrix, GossipSequence, Graph, Step};
use ndp_printed::gossip::{Powers, corollary1_towards, corollary4_variance, theorem1_towards};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use std::cmp::Ordering;

pub(crate) struct PrintedGossip;

const THEOREM_1: &str = "Muffliato, Theorem 1";
const THEOREM_1_UNKNOWN: &str = "Muffliato, Theorem 1, own noise unknown";
const THEOREM_12: &str = "Muffliato, Theorem 12";
const COROLLARY_1: &str = "Muffliato, Corollary 1";
const COROLLARY_2: &str = "Muffliato, Corollary 2";
const COROLLARY_4: &str = "Muffliato, Corollary 4";
const PROPOSITION_1: &str = "Muffliato, Proposition 1, number of neighbors";

/// Findings whose printed function the refuter searches; the first cases search one each.
const SEARCHED: [(usize, &str); 5] =
    [(1, THEOREM_1), (4, COROLLARY_1), (7, THEOREM_12), (8, COROLLARY_4), (11, COROLLARY_2)];

impl Part for PrintedGossip {
    fn name(&self) -> &'static str {
        "printed"
    }

    fn what(&self) -> &'static str {
        "printed claims about gossip, each to be refuted, beside the refuter; rationals"
    }

    fn refutes(&self) -> &'static [&'static str] {
        &[THEOREM_1, THEOREM_1_UNKNOWN, THEOREM_12, COROLLARY_1, COROLLARY_2, COROLLARY_4, PROPOSITION_1]
    }

    fn case(&self, number: u64, rng: &mut ChaCha8Rng) -> Outcome {
        let n = rng.random_range(2..=7);
        let graph = graphs::any(rng, n);
        let n = graph.node_count();
        let rounds = rng.random_range(0..=n);
        let matrix = GossipMatrix::metropolis(&graph);
        let members = coalition(rng, n);
        let mut outcome = Outcome::new(Stratum::new(n, rounds));
        let code = format!(
            "use ndp_graph::{{GossipMatrix, Graph}};\nlet graph = {};\nlet matrix = GossipMatrix::metropolis(&graph);",
            graphs::code(&graph)
        );
        let case = Case { size: [n as u64, rounds as u64, graph.edge_count() as u64], code: &code };
        if let Some(&(finding, claim)) = usize::try_from(number).ok().and_then(|number| SEARCHED.get(number))
        {
            searched::refuted(&mut outcome, claim, finding);
        }
        match number % 5 {
            0 => proposition_1(&mut outcome, rng),
            1 => pairs(&mut outcome, &graph, members[0], rng),
            2 => corollary_4(&mut outcome, &case, &matrix, &members, rounds),
            3 if members.len() == 1 => {
                let known = gossip::fixed(&gossip::Matrix::metropolis(&graph), rounds, &members, true);
                let printed = corollary1_towards(&matrix, &[members[0]], rounds);
                let call = format!("corollary1_towards(&matrix, &[{}], {rounds})", members[0]);
                // The formula of Corollary 1 names the first round, so it is not compared if there is no
                // round.
                let stated =
                    Stated::gossip(&graph, rounds, &members).filter(|_| rounds > 0).map(|stated| (stated, 4));
                refute(&mut outcome, COROLLARY_1, &case, (&known, stated.as_ref()), &printed, &call);
                let unknown = gossip::fixed(&gossip::Matrix::metropolis(&graph), rounds, &members, false);
                let printed = theorem1_towards((&matrix, rounds), &[members[0]], Powers::FromZero);
                let call =
                    format!("theorem1_towards((&matrix, {rounds}), &[{}], Powers::FromZero)", members[0]);
                refute(&mut outcome, THEOREM_1_UNKNOWN, &case, (&unknown, None), &printed, &call);
            }
            _ => {
                let view = gossip::fixed(&gossip::Matrix::metropolis(&graph), rounds, &members, true);
                let (claim, number) = if members.len() == 1 { (THEOREM_1, 1) } else { (THEOREM_12, 7) };
                let stated = Stated::gossip(&graph, rounds, &members).map(|stated| (stated, number));
                let printed = theorem1_towards((&matrix, rounds), &members, Powers::FromZero);
                let call = format!("theorem1_towards((&matrix, {rounds}), &{members:?}, Powers::FromZero)");
                refute(&mut outcome, claim, &case, (&view, stated.as_ref()), &printed, &call);
            }
        }
        outcome
    }

    fn short(&self) -> u64 {
        5000
    }
}

/// Compares a printed loss with the true one, node by node. If the refuter has the setting, also compares its
/// formula with the printed loss and its exact loss with the truth.
fn refute(
    outcome: &mut Outcome,
    claim: &'static str,
    case: &Case<'_>,
    (view, stated): (&Linear, Option<&(Stated, usize)>),
    printed: &Result<Printed<ObserverLoss>, Error>,
    call: &str,
) {
    let Ok(printed) = printed else { return };
    for (u, (loss, &printed)) in view.truth().losses.iter().zip(&printed.value().unit).enumerate() {
        let Loss::Finite(exact) = loss else { continue };
        if let Some((stated, number)) = stated {
            stated.formula(outcome, case, *number, u, printed);
            stated.truth(outcome, case, u, exact);
        }
        let near = exact.to_f64();
        let holds = exact.compare(printed) != Ordering::Greater || printed >= near * (1.0 - 1e-9);
        outcome.claim(holds, || {
            let assertion = format!(
                "use ndp_printed::gossip::*;\nlet printed = {call}?;\n\
                 assert!(printed.value().unit[{u}] < {:?});",
                exact.below()
            );
            case.violation(claim, format!("about node {u}: printed {printed:e}, true {near:e}"), &assertion)
        });
    }
}

/// One edge per step: the paper charges the entry `(u, w)` instead of `(w, u)`.
fn pairs(outcome: &mut Outcome, graph: &Graph, observer: usize, rng: &mut ChaCha8Rng) {
    let n = graph.node_count();
    let edges: Vec<(usize, usize)> = graph.edges().collect();
    if edges.is_empty() {
        return;
    }
    let rings: Vec<(usize, usize)> =
        (0..rng.random_range(0..=n + 1)).map(|_| edges[rng.random_range(0..edges.len())]).collect();
    let steps = rings.iter().map(|&(a, b)| Step::Pair(a, b)).collect();
    let meant: Vec<gossip::Step> = rings.iter().map(|&(a, b)| gossip::Step::Pair(a, b)).collect();
    let Ok(sequence) = GossipSequence::new(n, steps) else { return };
    outcome.stratum = Stratum::new(n, rings.len());
    let code = format!(
        "use ndp_graph::{{GossipSequence, Graph}};\nlet graph = {};\n\
         let sequence = GossipSequence::given_activations(&graph, &{rings:?})?;",
        graphs::code(graph)
    );
    let case = Case { size: [n as u64, rings.len() as u64, edges.len() as u64], code: &code };
    let view = gossip::sequence(n, &meant, &[observer], true);
    let printed = theorem1_towards(&sequence, &[observer], Powers::Transposed);
    let call = format!("theorem1_towards(&sequence, &[{observer}], Powers::Transposed)");
    let stated = Stated::pairs(graph, &rings, &[observer]).map(|stated| (stated, 11));
    refute(outcome, COROLLARY_2, &case, (&view, stated.as_ref()), &printed, &call);
}

/// The printed variance, compared with the mean loss that results from it: `α Δ² / (2 σ²)` times the mean
/// unit loss, at `α = 2`, `Δ = 1` and an allowed mean loss of 1.
fn corollary_4(
    outcome: &mut Outcome,
    case: &Case<'_>,
    matrix: &GossipMatrix,
    members: &[usize],
    rounds: usize,
) {
    let n = matrix.node_count();
    let inside = |v: u32| members.contains(&(v as usize));
    let outside = (0..n).filter(|w| !members.contains(w));
    let degree = outside.filter(|&w| matrix.graph().neighbors(w).iter().any(|&v| inside(v))).count();
    let Ok(order) = Order::new(2.0) else { return };
    let Ok(variance) = corollary4_variance(degree, order, 1.0) else { return };
    if let (&[_], Some(stated)) = (members, Stated::gossip(matrix.graph(), rounds, members)) {
        stated.formula(outcome, case, 8, 0, *variance.value());
    }
    let truth = gossip::fixed(&gossip::Matrix::metropolis(matrix.graph()), rounds, members, true).truth();
    let sum = truth.losses.iter().fold(Quotient::zero(), |sum, loss| match loss {
        Loss::Finite(exact) => sum.plus(exact),
        _ => sum,
    });
    let unit = sum.over(n).to_f64();
    let mean = unit / variance.value();
    outcome.claim(degree == 0 || mean <= 1.0 + 1e-9, || {
        let what = format!("coalition {members:?}, {rounds} rounds: allowed 1, true mean {mean}");
        let assertion = format!(
            "let printed = ndp_printed::gossip::corollary4_variance({degree}, ndp_dp::Order::new(2.0)?, 1.0)?;\n\
             // The mean unit loss of coalition {members:?} after {rounds} rounds, in nats.\n\
             assert!({unit:?} / printed.value() > 1.0);"
        );
        case.violation(COROLLARY_4, what, &assertion)
    });
}

/// The number of neighbors outside that a coalition has in a random graph: `(n - k)(1 - (1 - q)^k)`, printed
/// as `k q`.
fn proposition_1(outcome: &mut Outcome, rng: &mut ChaCha8Rng) {
    let n = rng.random_range(2..=50_usize);
    let k = rng.random_range(1..n);
    let q = f64::from(rng.random_range(1..=9)) / 10.0;
    let printed = k as f64 * q;
    let truth = (n - k) as f64 * (1.0 - (1.0 - q).powi(k as i32));
    outcome.stratum = Stratum::new(n, 1);
    outcome.claim(truth <= printed * (1.0 + 1e-9), || {
        let case = Case { size: [n as u64, k as u64, (q * 10.0) as u64], code: "" };
        let what = format!("{k} of {n} nodes, q = {q}: printed {printed}, true {truth}");
        let assertion = format!("assert!({k:?} as f64 * {q:?} < {truth:?});");
        case.violation(PROPOSITION_1, what, &assertion)
    });
}
