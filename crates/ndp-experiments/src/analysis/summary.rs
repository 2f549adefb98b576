//! An analysis in plain words.

use super::{Analysis, Pair, Protocol, Target};
use ndp_dp::Grade;
use ndp_graph::Graph;
use ndp_report::verdict::round;

/// What is counted: rounds or steps.
pub(super) fn steps(protocol: Protocol) -> &'static str {
    if protocol == Protocol::Walk { "steps" } else { "rounds" }
}

/// The summary: one sentence or two on each point, one point a paragraph. `source` names the edge list.
#[must_use]
pub fn text(analysis: &Analysis, source: &str) -> String {
    let Analysis { request, graph, account } = analysis;
    let n = graph.node_count();
    let mut points = vec![
        format!("Graph. {source}: {n} nodes, {} edges, connected.", graph.edge_count()),
        format!("Protocol. {}", protocol(analysis)),
        format!("Target. {}", target(analysis)),
        format!(
            "Noise. Standard deviation {} for values of which one may move by {}.{} Publishing one such noisy value \
             would cost its owner {} nats, the local loss.",
            round(account.sigma.get()),
            round(request.sensitivity.get()),
            if account.fresh > 0.0 {
                format!(
                    " In each later round every node adds fresh noise of standard deviation {}.",
                    round(account.fresh)
                )
            } else {
                String::new()
            },
            round(account.local),
        ),
        format!("Losses. {}", losses(analysis)),
        format!("Accuracy. {}", accuracy(analysis)),
        format!(
            "What this means. Losses are Rényi divergences of order {} in nats: how well a node could tell, from all \
             that it receives, one value of another node from a different one. They hold against a single node that \
             follows the protocol, knows the graph and its own noise, and not against nodes that pool what they \
             know.{}",
            round(request.order.get()),
            if request.protocol == Protocol::Walk {
                " The last token must be handed to nobody else."
            } else {
                ""
            }
        ),
    ];
    points.extend(warnings(analysis));
    points.join("\n") + "\n"
}

fn protocol(analysis: &Analysis) -> String {
    let rounds = analysis.account.rounds;
    match analysis.request.protocol {
        Protocol::Muffliato => format!(
            "Muffliato: every node adds noise to its value once, then averages with its neighbors for {rounds} rounds \
             (accelerated or not: the losses are the same)."
        ),
        Protocol::FreshNoise => format!(
            "Gossip with fresh noise: every node adds noise to its value, averages with its neighbors for {rounds} \
             rounds, and adds a little noise again before each message."
        ),
        Protocol::OnePeer => format!(
            "One-peer hypercube: in round k, node number v averages with node number v xor 2^k; {rounds} rounds give \
             everybody the exact mean of the noisy values."
        ),
        Protocol::Walk => format!(
            "Walk: a token starts anywhere and goes from neighbor to neighbor for {rounds} steps; whoever holds it adds \
             its value with fresh noise to the running mean, {} times on average.",
            round(rounds as f64 / analysis.graph.node_count() as f64)
        ),
    }
}

fn target(analysis: &Analysis) -> String {
    let n = analysis.graph.node_count();
    match &analysis.request.target {
        Target::Mean(loss) => {
            let towards = analysis.account.losses.iter().map(|observed| {
                let others =
                    observed.loss.value().iter().enumerate().filter(|&(u, _)| u != observed.observer);
                others.map(|(_, loss)| loss).sum::<f64>() / n as f64
            });
            format!(
                "Towards every observer the mean loss (of all others, divided by the number of nodes) is at most {} \
                 nats. Met with the least noise: the largest mean is {}.",
                round(*loss),
                round(towards.fold(0.0, f64::max))
            )
        }
        Target::Worst(loss) => format!(
            "Nobody learns more than {} nats about anybody. Met with the least noise: the largest loss is {}.",
            round(*loss),
            round(analysis.largest().map_or(0.0, |pair| pair.loss))
        ),
        Target::Limits(limits) => {
            let exceeding =
                analysis.pairs().filter(|p| p.loss > analysis.request.target.allowed(p.source, p.observer));
            format!(
                "The {} limits of the file; pairs without a limit may lose anything. Met with the least noise: {} \
                 losses exceed their limit.",
                limits.count(),
                exceeding.count()
            )
        }
    }
}

/// How many hops apart, or that they are no neighbors at all.
fn apart(graph: &Graph, pair: Pair) -> String {
    match graph.distances(pair.observer)[pair.source] {
        Some(1) => "a neighbor".into(),
        Some(hops) => format!("{hops} hops away"),
        None => "unreachable".into(),
    }
}

fn losses(analysis: &Analysis) -> String {
    let Some(most) = analysis.largest() else { return "There is no pair.".into() };
    let account = &analysis.account;
    let mut all: Vec<f64> = analysis.pairs().map(|pair| pair.loss).collect();
    all.sort_by(f64::total_cmp);
    let exact = account.losses.iter().filter(|observed| observed.loss.grade() == Grade::Exact).count();
    let count = account.losses.len();
    let graded = if exact == count {
        "These numbers are exact.".to_owned()
    } else if exact == 0 {
        "These numbers are upper bounds.".to_owned()
    } else {
        format!("These numbers are exact for {exact} of {count} observers, and upper bounds for the others.")
    };
    let epsilon =
        format!("({}, {:e})-differential privacy", round(account.epsilon), analysis.request.delta.get());
    let share = |count: usize| format!("{} %", round(100.0 * count as f64 / all.len() as f64));
    let whole = all.iter().filter(|&&loss| loss >= account.local * (1.0 - 1e-9)).count();
    let tenth = all.iter().filter(|&&loss| 0.0 < loss && loss < account.local / 10.0).count();
    let none = all.iter().filter(|&&loss| loss == 0.0).count();
    format!(
        "The largest is {} nats ({} times the local loss), of node {} towards node {}, {}: {epsilon}. The median \
         is {}. Of all {} pairs, {} lose the whole local loss or more, {} less than a tenth of it, {} nothing at all. \
         {graded}",
        round(most.loss),
        round(most.loss / account.local),
        analysis.label(most.source),
        analysis.label(most.observer),
        apart(&analysis.graph, most),
        round(all[all.len() / 2]),
        all.len(),
        share(whole),
        share(tenth),
        share(none),
    )
}

fn accuracy(analysis: &Analysis) -> String {
    let Analysis { request, graph, account } = analysis;
    let n = graph.node_count() as f64;
    let own = match request.protocol {
        Protocol::Muffliato | Protocol::FreshNoise => format!(
            "If values lie in an interval of length {}, the mean that a node ends with is off by at most {} (root mean \
             square).",
            round(request.sensitivity.get()),
            round(account.error)
        ),
        Protocol::OnePeer => {
            format!(
                "The mean that every node ends with is off by {} (root mean square).",
                round(account.error)
            )
        }
        Protocol::Walk => format!(
            "The noise in the final mean is {} (root mean square); that a walk does not visit all nodes equally often \
             comes on top.",
            round(account.error)
        ),
    };
    let (Target::Mean(loss) | Target::Worst(loss)) = request.target else { return own };
    let local = request.sensitivity.get() * (request.order.get() / (2.0 * loss)).sqrt();
    format!(
        "{own} If every pair lost exactly {} nats: noisy values in public {}, a trusted center {}.",
        round(loss),
        round(local / n.sqrt()),
        round(local / n)
    )
}

/// What a user should know before relying on the numbers.
fn warnings(analysis: &Analysis) -> Vec<String> {
    let Analysis { request, graph, account } = analysis;
    let n = graph.node_count();
    let mut all = Vec::new();
    let far = |pair: &Pair| !graph.neighbors(pair.observer).contains(&(pair.source as u32));
    let (mut whole, mut count) = (0usize, 0usize);
    for pair in analysis.pairs().filter(far) {
        count += 1;
        whole += usize::from(pair.loss >= account.local * (1.0 - 1e-9));
    }
    if request.protocol == Protocol::Muffliato && 2 * whole > count && count > 0 {
        all.push(format!(
            "Warning. {} % of the pairs that are no neighbors lose their whole local loss: on this graph noise that is \
             added once hides nothing. Try --protocol fresh-noise.",
            round(100.0 * whole as f64 / count as f64)
        ));
    }
    if request.protocol == Protocol::OnePeer {
        let needed =
            (0..n).flat_map(|v| (0..n.ilog2()).map(move |k| (v, v ^ (1 << k)))).filter(|&(v, w)| v < w);
        let (missing, total) = needed.fold((0, 0), |(missing, total), (v, w)| {
            (missing + usize::from(!graph.has_edge(v, w)), total + 1)
        });
        if missing > 0 {
            all.push(format!(
                "Warning. {missing} of the {total} connections that the one-peer hypercube uses are no edges of the \
                 graph: these nodes must be able to talk to each other directly."
            ));
        }
    }
    if request.observer.is_some() {
        all.push(
            "Note. Only what this one node learns was accounted for; the noise may be too little for others."
                .into(),
        );
    }
    if matches!(request.target, Target::Mean(_)) && request.protocol != Protocol::Walk {
        all.push(
            "Note. A mean promises nothing to a single pair: neighbors lose their whole local loss.".into(),
        );
    }
    all
}
