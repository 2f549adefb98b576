//! Claims that are known to be false and true, the truth against the accountant, and bad input.

use ndp_account::LinearProtocol;
use ndp_algos::gossip::SynchronousGossip;
use ndp_graph::GossipMatrix;
use ndp_numeric::rounding::Interval;
use ndp_refute::{
    Bounded, Case, Claim, Counterexample, Error, Expression, Graphs, Outcome, Protocol, Report, Search,
    Setting, WeightRule, connected_graphs, exact_unit_loss, refute,
};
use num_traits::ToPrimitive;

/// Muffliato, Theorem 1, as printed.
const THEOREM_1: &str =
    "alpha / (2 * sigma^2) * sum(t, 0, T - 1, neighbors(w, v, W[t][w,u]^2 / sum(x, 0, n - 1, W[t][w,x]^2)))";

fn found(claim: &str, search: &Search) -> Result<Counterexample, Error> {
    match refute(&Expression::parse(claim)?, search)?.outcome {
        Outcome::Refuted(found) => Ok(found),
        other => panic!("{claim}: {other:?}"),
    }
}

/// As in the findings: path 0-1-2, two rounds, printed 1/3, true 1.
#[test]
fn theorem_1_is_refuted_by_the_path_with_three_nodes() -> Result<(), Error> {
    let found = found(THEOREM_1, &Search::default())?;
    assert_eq!((found.nodes, found.rounds, found.edges.len()), (3, 2, 2));
    assert_eq!(found.true_loss, "1");
    assert!((found.claimed - 1.0 / 3.0).abs() < 1e-12);
    assert!(found.rust_test().contains("// Exactly: 1."));
    Ok(())
}

#[test]
fn losses_that_fade_with_the_distance_are_refuted() -> Result<(), Error> {
    let found = found("alpha / (2 * sigma^2 * hops)", &Search::default())?;
    assert_eq!((found.nodes, found.rounds, found.edges.len()), (3, 2, 2));
    Ok(())
}

/// The local loss bounds every loss (one noise hides each number), and is met: at 1 on the path.
#[test]
fn the_local_loss_is_not_refuted() -> Result<(), Error> {
    let search = Search { weights: vec![WeightRule::Metropolis, WeightRule::Lazy], ..Search::default() };
    let report = refute(&Expression::parse("alpha / (2 * sigma^2)")?, &search)?;
    assert_eq!((&report.outcome, report.complete_to, report.undecided), (&Outcome::NotRefuted, 5, 0));
    // 1, 2, 6 and 21 graphs of 2 to 5 nodes, two weights, six rounds, ordered pairs.
    assert_eq!(report.cases, 12 * (2 + 2 * 6 + 6 * 12 + 21 * 20));
    found("999999999999999 / 1000000000000000 * alpha / (2 * sigma^2)", &search)?;
    let short = refute(&Expression::parse("alpha")?, &Search { budget: 9, ..search })?;
    assert_eq!((short.outcome, short.cases), (Outcome::OutOfBudget, 9));
    Ok(())
}

/// An interval around the truth, as rounding leaves it.
struct Blurred;

impl Claim for Blurred {
    fn bound(&self, _: &Case<'_>) -> Result<Interval, Error> {
        Ok(Interval::between(1.0_f64.next_down(), 1.0))
    }

    fn text(&self) -> &str {
        "nearly 1"
    }
}

#[test]
fn rounding_refutes_nothing() -> Result<(), Error> {
    let report = refute(&Blurred, &Search { max_nodes: 3, ..Search::default() })?;
    assert_eq!(report.outcome, Outcome::NotRefuted);
    assert!(report.undecided > 0);
    Ok(())
}

/// The accountant finds the same by other means (projections certified in intervals).
#[test]
fn the_truth_is_that_of_the_accountant() -> Result<(), Box<dyn std::error::Error>> {
    let mut between = 0;
    for graph in connected_graphs(4)?.iter().chain(connected_graphs(5)?.iter().step_by(4)) {
        for (rule, matrix) in [
            (WeightRule::Metropolis, GossipMatrix::metropolis(graph)),
            (WeightRule::Lazy, GossipMatrix::metropolis(graph).lazy(0.5)?),
        ] {
            let setting = Setting::new(graph, rule, Protocol::Muffliato, 3)?;
            for rounds in 1..=3 {
                let gossip = SynchronousGossip::new(matrix.clone(), rounds);
                for v in 0..graph.node_count() {
                    let account = gossip.coalition_loss(&[v])?;
                    for u in (0..graph.node_count()).filter(|&u| u != v) {
                        let exact = exact_unit_loss(&setting, rounds, u, &[v])
                            .parse::<num_rational::BigRational>()?
                            .to_f64()
                            .unwrap_or(f64::NAN);
                        let accounted = account.unit(u)?.value().get();
                        assert!((exact - accounted).abs() < 1e-9, "{graph:?} {rounds} {u} {v}");
                        between += usize::from(0.01 < exact && exact < 0.99);
                    }
                }
            }
        }
    }
    assert!(between > 50, "{between}");
    Ok(())
}

/// A report says how far its search went; nothing is looked at twice.
#[test]
fn searches_go_as_far_as_they_say() -> Result<(), Error> {
    let tried =
        |search: &Search| -> Result<Report, Error> { refute(&Expression::parse("99 * alpha")?, search) };
    // One edge: a sequence for each number of rounds, seen from both sides.
    let pairs = Search { protocol: Protocol::Pairs, max_nodes: 2, max_rounds: 3, ..Search::default() };
    assert_eq!(tried(&pairs)?.cases, 6);
    // Thin graphs of six nodes are among all graphs of six nodes.
    let thin = |max_nodes| Search { max_nodes, max_thin_nodes: 6, max_rounds: 1, ..Search::default() };
    let ends = |search: &Search| tried(search).map(|report| (report.complete_to, report.thin_to));
    assert_eq!((ends(&thin(2))?, ends(&thin(6))?), ((2, 6), (6, 0)));
    let (few, more) = (Search { max_thin_nodes: 0, ..thin(2) }, thin(2));
    assert!(tried(&few)?.cases < tried(&more)?.cases);
    let refused = |search: Search| match tried(&search) {
        Err(Error::Parameter { what, value, .. }) => Some((what, value)),
        _ => None,
    };
    let rounds = Search { max_nodes: 2, max_rounds: 201, ..Search::default() };
    assert_eq!(refused(rounds), Some(("the number of rounds", 201.0)));
    let nodes = Search { max_nodes: 2, max_thin_nodes: 65, max_rounds: 1, ..Search::default() };
    assert_eq!(refused(nodes), Some(("the number of nodes", 65.0)));
    Ok(())
}

/// The largest of the neighbors is one of them, and their sum is all of them: the center of a star has three.
#[test]
fn neighbors_are_compared_or_added_up() -> Result<(), Error> {
    let outside = |domain: &str| -> Result<u64, Error> {
        let domain = Some(Expression::parse(domain)?);
        let graphs = Graphs::Stars;
        let search = Search { graphs, domain, max_nodes: 4, max_rounds: 1, ..Search::default() };
        Ok(refute(&Expression::parse("99 * alpha")?, &search)?.outside)
    };
    assert_eq!(outside("3 / 2 - largest(w, u, 1)")?, 0);
    assert!(outside("3 / 2 - neighbors(w, u, 1)")? > 0);
    Ok(())
}

/// A condition that rounding or a missing value leaves open takes no case out of what was asked for.
#[test]
fn a_condition_that_is_open_is_not_unmet() -> Result<(), Error> {
    let of = |domain: &str| -> Result<_, Error> {
        let domain = Some(Expression::parse(domain)?);
        let search = Search { domain, max_nodes: 3, max_rounds: 1, ..Search::default() };
        let report = refute(&Expression::parse("99 * alpha")?, &search)?;
        Ok((
            report.cases > 0,
            report.outside > 0,
            report.cases == report.undecided,
            report.cases == report.without_value,
        ))
    };
    assert_eq!(of("1")?, (true, false, false, false));
    assert_eq!(of("0 - 1")?, (false, true, true, true));
    // Positive, by less than rounding.
    assert_eq!(of("sqrt(3)^2 - 3 + (1 / 100000000)^2")?, (true, false, true, false));
    assert_eq!(of("sqrt(-1)")?, (true, false, false, true));
    Ok(())
}

/// A claim about the mean over all nodes names none of them, even if its value is that of all others.
#[test]
fn claims_about_means_name_no_node() -> Result<(), Error> {
    let mean = Search { bounded: Bounded::Mean, max_nodes: 3, ..Search::default() };
    let refused = refute(&Expression::parse("99 * alpha + 0 * deg(u)")?, &mean).map(|report| report.outcome);
    assert_eq!(refused, Err(Error::DependsOnSource));
    // The simple walk has no symmetric weights, and pairs have no whole round.
    let (graph, simple) = (&connected_graphs(3)?[0], WeightRule::Simple);
    for (weights, protocol) in [(simple, Protocol::Muffliato), (WeightRule::Metropolis, Protocol::Pairs)] {
        let refused = Setting::new(graph, weights, protocol, 1).map(|_| ());
        assert!(matches!(refused, Err(Error::Parameter { what: "the weights", .. })), "{refused:?}");
    }
    Ok(())
}

#[test]
fn bad_claims_are_refused_at_their_place() {
    let of = |text: &str| Expression::parse(text).map(|_| ());
    assert!(matches!(of("alpha +"), Err(Error::Syntax { position: 8, .. })));
    assert!(matches!(of("1 2"), Err(Error::Syntax { position: 3, .. })));
    assert_eq!(of("1 + w"), Err(Error::UnknownName { position: 5, name: "w".into() }));
    assert!(matches!(of("sum(t, 0, t, t)"), Err(Error::UnknownName { position: 11, .. })));
    assert!(matches!(of(&"(".repeat(1000)), Err(Error::TooDeep { .. })));
    assert!(matches!(of(&"-".repeat(1000)), Err(Error::TooDeep { .. })));
    assert!(matches!(of(&"1".repeat(3000)), Err(Error::TooLong { .. })));
    // What stands side by side is not deep, and a number is no name.
    assert_eq!(of(&["-1"; 400].join(" + ")), Ok(()));
    assert!(matches!(of("neighbors(1, u, 1)"), Err(Error::Syntax { position: 11, .. })));
    assert!(matches!(of("1..2"), Err(Error::Syntax { .. })));
    let value = |text: &str| refute(&Expression::parse(text)?, &Search { max_nodes: 2, ..Search::default() });
    assert!(matches!(value("W[T + 1][u,v]"), Err(Error::Index { what: "a round", .. })));
    assert!(matches!(value("deg(1 / 2)"), Err(Error::Index { what: "a node", .. })));
    assert!(matches!(value("sum(a, 0, 999999, sum(b, 0, 999999, 1))"), Err(Error::Work { .. })));
    let nowhere = value("ln(-1)").map(|report| (report.outcome, report.without_value));
    assert_eq!(nowhere, Ok((Outcome::NotRefuted, 12)));
    let order = Search { alpha: f64::NAN, ..Search::default() };
    let found = Expression::parse("1").and_then(|claim| refute(&claim, &order));
    assert!(matches!(found, Err(Error::Parameter { what: "alpha", .. })));
}
