//! A claimed bound on gossip against exact fractions on small graphs.

use super::summary;
use crate::args::{Refute, TriedWeights};
use crate::errors::Failure;
use crate::output::{self, number, print};
use ndp_refute::{Expression, Outcome, Search, WeightRule, refute};

pub(crate) fn run(asked: &Refute) -> Result<(), Failure> {
    let claim =
        Expression::parse(&asked.claim).map_err(|error| Failure::Usage(format!("--claim: {error}")))?;
    let rule = |weights: &TriedWeights| match weights {
        TriedWeights::Metropolis => WeightRule::Metropolis,
        TriedWeights::MaxDegree => WeightRule::MaxDegree,
        TriedWeights::Lazy => WeightRule::Lazy,
    };
    let search = Search {
        max_nodes: asked.nodes,
        max_thin_nodes: asked.thin_nodes,
        max_rounds: asked.rounds,
        weights: asked.weights.iter().map(rule).collect(),
        alpha: asked.order,
        sigma: asked.noise,
        budget: asked.cases,
    };
    let report = refute(&claim, &search).map_err(|error| Failure::Refused(error.to_string()))?;
    if let Some(path) = &asked.json {
        let found = match &report.outcome {
            Outcome::Refuted(found) => {
                serde_json::json!({ "python": found.python_script(), "rust": found.rust_test() })
            }
            Outcome::NotRefuted | Outcome::OutOfBudget => serde_json::Value::Null,
        };
        output::json(path, 0, serde_json::json!({ "report": report, "scripts": found }))?;
    }
    let thin = if report.thin_to == 0 {
        "none".to_owned()
    } else {
        format!("paths, rings, stars, lollipops, barbells and combs of up to {} nodes", report.thin_to)
    };
    let looked = [
        ("claim, in nats", report.claim.clone()),
        ("about", format!("muffliato, order {}, noise {}", number(search.alpha), number(search.sigma))),
        ("cases compared", report.cases.to_string()),
        ("left open by rounding", report.undecided.to_string()),
        ("without a value", report.without_value.to_string()),
        (
            "all connected graphs",
            format!("of up to {} nodes, up to {} rounds", report.complete_to, report.rounds),
        ),
        ("long thin graphs", thin),
    ];
    let title = match &report.outcome {
        Outcome::Refuted(_) => "The claim is false",
        Outcome::NotRefuted => "No counterexample among all cases that were asked for, which proves nothing",
        Outcome::OutOfBudget => "No counterexample before the cases ran out, which proves nothing",
    };
    summary(title, &looked)?;
    let Outcome::Refuted(found) = &report.outcome else { return Ok(()) };
    let edges: Vec<String> = found.edges.iter().map(|(a, b)| format!("{a}-{b}")).collect();
    print(b"\n")?;
    summary(
        "The smallest counterexample, by nodes, then rounds, then edges",
        &[
            ("edges", edges.join(" ")),
            ("rounds", found.rounds.to_string()),
            ("exposed, observer", format!("{}, {}", found.exposed, found.observer)),
            ("claimed at most", found.claimed.to_string()),
            ("true, exactly", found.true_loss.clone()),
        ],
    )?;
    print(format!("\nTo see it without this program, in Python:\n\n{}", found.python_script()).as_bytes())
}
