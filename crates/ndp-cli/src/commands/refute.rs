//! A claimed bound on gossip or a walk against exact fractions on small graphs.

mod page;

use crate::args::{Refute, TriedProtocol, TriedWeights};
use crate::errors::Failure;
use crate::output::{self, down, number, up};
use crate::show::{Part, print};
use ndp_numeric::decimal::{Round, percent};
use ndp_refute::{
    Attacked, Bounded, Counterexample, Expression, Finding, Graphs, Outcome, Protocol, Report, Search,
    WeightRule, attack, refute,
};
use ndp_report::words;

/// What the search found.
struct Tried {
    question: Question,
    report: Report,
    attacked: Option<Attacked>,
}

pub(crate) fn run(asked: &Refute) -> Result<(), Failure> {
    let tried = answer(asked)?;
    print(&tried.text())?;
    if let Some(path) = &asked.json {
        output::json(path, asked.seed, tried.data())?;
    }
    if asked.pictures.any() {
        let svg = match tried.found() {
            Some(found) => Some(output::pictures(&asked.pictures, asked.seed, &page::picture(found)?)?),
            None if asked.pictures.png.is_some() || asked.pictures.svg.is_some() => {
                return Err(Failure::Refused("there is no counterexample to draw".into()));
            }
            None => None,
        };
        if let Some(path) = &asked.pictures.report {
            output::page(path, &page::page(&tried, svg.as_deref()))?;
        }
    }
    Ok(())
}

fn answer(asked: &Refute) -> Result<Tried, Failure> {
    let refused = |error: ndp_refute::Error| Failure::Refused(error.to_string());
    let question = Question::new(asked)?;
    let claim = formula("--claim", &question.claim)?;
    let report = refute(&claim, &question.search).map_err(refused)?;
    let mut tried = Tried { question, report, attacked: None };
    if let Some(found) = tried.found() {
        tried.attacked = attack(found, asked.runs, asked.error_rate, asked.seed).map_err(refused)?;
    }
    Ok(tried)
}

impl Tried {
    fn found(&self) -> Option<&Counterexample> {
        if let Outcome::Refuted(found) = &self.report.outcome { Some(found) } else { None }
    }

    fn text(&self) -> Vec<Part<'_>> {
        let mut parts = vec![Part::Summary(title(&self.report).into(), searched(self))];
        if let Some(found) = self.found() {
            let title = "The smallest counterexample, by nodes, then rounds, then edges".into();
            parts
                .extend([Part::empty(), Part::Summary(title, counterexample(found, self.attacked.as_ref()))]);
            let script = format!("\nTo see it without this program, in Python:\n\n{}", found.python_script());
            parts.extend(script.lines().map(|line| Part::Line(line.to_owned())));
        }
        parts
    }

    fn data(&self) -> serde_json::Value {
        let scripts = self
            .found()
            .map(|found| serde_json::json!({ "python": found.python_script(), "rust": found.rust_test() }));
        serde_json::json!({ "source": self.question.source, "report": self.report, "attack": self.attacked,
            "truth": self.question.search.protocol.truth(), "scripts": scripts })
    }
}

/// A formula, or why it is none.
fn formula(option: &str, text: &str) -> Result<Expression, Failure> {
    Expression::parse(text).map_err(|error| Failure::Usage(format!("{option}: {error}")))
}

/// What is tried, and where.
struct Question {
    claim: String,
    source: Option<&'static str>,
    domain: String,
    search: Search,
}

impl Question {
    fn new(asked: &Refute) -> Result<Self, Failure> {
        let common = Search { alpha: asked.order, budget: asked.cases, ..Search::default() };
        if let Some(number) = asked.finding {
            let Some(finding) = Finding::numbered(number) else {
                let known: Vec<String> =
                    ndp_refute::FINDINGS.iter().map(|finding| finding.number.to_string()).collect();
                return Err(Failure::Usage(format!(
                    "--finding: row {number} states no bound on a loss that is searched; those that do: {}",
                    known.join(", ")
                )));
            };
            let search = finding.search().map_err(|error| Failure::Refused(error.to_string()))?;
            // What the theorems on walks ask of the noise, and of 2 at order 2.
            let least = (2.0 * common.alpha * (common.alpha - 1.0)).sqrt();
            let least = if least.fract() == 0.0 { least } else { least.next_up() };
            let default = if search.protocol.is_walk() { search.sigma.max(least) } else { search.sigma };
            let (alpha, sigma, budget) = (common.alpha, asked.noise.unwrap_or(default), common.budget);
            return Ok(Self {
                claim: finding.claim.into(),
                source: Some(finding.source),
                domain: finding.domain.into(),
                search: Search { alpha, sigma, budget, ..search },
            });
        }
        let parameter = asked.parameter.unwrap_or(1.0);
        let with_parameter =
            [TriedProtocol::Accelerated, TriedProtocol::FreshNoise, TriedProtocol::NoisyMessages];
        if asked.parameter.is_some() && !with_parameter.contains(&asked.protocol) {
            return Err(Failure::Usage(
                "--parameter is for accelerated, fresh-noise and noisy-messages: other protocols have none"
                    .into(),
            ));
        }
        let domain = asked.domain.as_deref().map(|text| formula("--where", text)).transpose()?;
        Ok(Self {
            claim: asked.claim.clone().unwrap_or_default(),
            source: None,
            domain: asked.domain.clone().unwrap_or_default(),
            search: Search {
                protocol: match asked.protocol {
                    TriedProtocol::Muffliato => Protocol::Muffliato,
                    TriedProtocol::Accelerated => Protocol::Accelerated(parameter),
                    TriedProtocol::FreshNoise => Protocol::FreshNoise(parameter),
                    TriedProtocol::NoisyMessages => Protocol::NoisyMessages(parameter),
                    TriedProtocol::Pairs => Protocol::Pairs,
                    TriedProtocol::Walk => Protocol::Walk,
                },
                observers: asked.watching,
                bounded: if asked.mean { Bounded::Mean } else { Bounded::Each },
                domain,
                max_nodes: asked.nodes,
                max_thin_nodes: asked.thin_nodes,
                max_rounds: asked.rounds,
                weights: asked.weights.iter().map(rule).collect(),
                sigma: asked.noise.unwrap_or(common.sigma),
                ..common
            },
        })
    }
}

fn rule(weights: &TriedWeights) -> WeightRule {
    match weights {
        TriedWeights::Metropolis => WeightRule::Metropolis,
        TriedWeights::MaxDegree => WeightRule::MaxDegree,
        TriedWeights::Lazy => WeightRule::Lazy,
        TriedWeights::Simple => WeightRule::Simple,
    }
}

fn title(report: &Report) -> &'static str {
    match &report.outcome {
        Outcome::Refuted(found) if found.protocol.is_walk() => {
            "The claim is false of observers who know the path of the token"
        }
        Outcome::Refuted(_) => "The claim is false",
        Outcome::NotRefuted if report.cases == report.without_value => {
            "Nothing was compared: in none of the cases that were asked for does the claim apply and have a value"
        }
        Outcome::NotRefuted if report.cases == report.without_value + report.undecided => {
            "Nothing was decided: rounding leaves open, in all cases that have a value, which is larger or whether they are meant"
        }
        Outcome::NotRefuted if report.undecided > 0 => {
            "No counterexample among the cases that could be decided, which proves nothing; rounding leaves others open"
        }
        Outcome::NotRefuted => "No counterexample among all cases that were asked for, which proves nothing",
        Outcome::OutOfBudget => "No counterexample before the cases ran out, which proves nothing",
    }
}

fn named(protocol: Protocol) -> String {
    match protocol {
        Protocol::Muffliato => "muffliato".into(),
        Protocol::Accelerated(g) => format!("accelerated gossip with parameter {g}"),
        Protocol::FreshNoise(ratio) => format!("gossip with fresh noise, {ratio} times the first"),
        Protocol::NoisyMessages(ratio) => {
            format!("gossip with noise on messages, {ratio} times that of values")
        }
        Protocol::Pairs => "gossip of one edge a round".into(),
        Protocol::Walk => "a token walk".into(),
    }
}

fn worded(weights: WeightRule) -> &'static str {
    match weights {
        WeightRule::Metropolis => "1 / (1 + the larger degree)",
        WeightRule::MaxDegree => "1 / the larger degree",
        WeightRule::Lazy => "1 / (2 + twice the larger degree)",
        WeightRule::Simple => "1 / the degree of the sender",
    }
}

/// What was asked, and how far the search went.
fn searched(Tried { question, report, .. }: &Tried) -> Vec<(&'static str, String)> {
    let search = &question.search;
    let mut rows = vec![("claim, in nats", report.claim.clone())];
    rows.extend(question.source.map(|source| ("printed by", source.to_owned())));
    let looking = if search.observers == 1 {
        "one node learns".into()
    } else {
        format!("{} nodes learn together", search.observers)
    };
    let about = if search.bounded == Bounded::Mean {
        "each node, as the mean over all nodes, its own 0 included"
    } else {
        "each node"
    };
    rows.push((
        "about",
        format!(
            "{}, what {looking} about {about}, order {}, noise {}",
            named(search.protocol),
            number(search.alpha),
            number(search.sigma)
        ),
    ));
    if search.protocol.is_walk() {
        rows.push((
            "truth",
            "the mean over all paths, which the loss is not below if the path is known; an observer who does not know it may learn less".into(),
        ));
    }
    if !question.domain.is_empty() {
        rows.push(("only where positive", question.domain.clone()));
    }
    if search.protocol != Protocol::Pairs {
        let weights: Vec<&str> = search.weights.iter().map(|&rule| worded(rule)).collect();
        rows.push(("weights", weights.join("; ")));
    }
    rows.extend([
        ("cases compared", report.cases.saturating_sub(report.without_value).to_string()),
        ("left open by rounding", report.undecided.to_string()),
        ("without a value", report.without_value.to_string()),
    ]);
    if search.graphs == Graphs::Stars {
        rows.push((
            "stars",
            format!("of up to {} nodes, up to {}", report.thin_to, words::several(report.rounds, "round")),
        ));
        return rows;
    }
    let thin = if report.thin_to == 0 {
        "none".to_owned()
    } else {
        format!("paths, rings, stars, lollipops, barbells and combs of up to {} nodes", report.thin_to)
    };
    rows.extend([
        (
            "all connected graphs",
            format!(
                "of up to {}, up to {}",
                words::several(report.complete_to, "node"),
                words::several(report.rounds, "round")
            ),
        ),
        ("long thin graphs", thin),
    ]);
    rows
}

/// The claim, with so many digits that it is seen to be below the truth.
fn claimed(found: &Counterexample) -> String {
    let short = up(found.claimed);
    let is_below = short.parse::<f64>().is_ok_and(|shown| shown < found.true_loss_decimal);
    if is_below { short } else { found.claimed.to_string() }
}

fn counterexample(found: &Counterexample, attacked: Option<&Attacked>) -> Vec<(&'static str, String)> {
    let list = |edges: &[(usize, usize)]| {
        let edges: Vec<String> = edges.iter().map(|(a, b)| format!("{a}-{b}")).collect();
        edges.join(" ")
    };
    let observers: Vec<String> = found.observers.iter().map(usize::to_string).collect();
    let exposed = match found.bounded {
        Bounded::Each => found.exposed.to_string(),
        Bounded::Mean => "all".into(),
    };
    let mut rows = vec![("edges", list(&found.edges)), ("rounds", found.rounds.to_string())];
    if found.pairs.is_empty() {
        rows.push(("weights", worded(found.weights).into()));
    } else {
        rows.push(("one after the other", list(&found.pairs)));
    }
    rows.extend([
        ("exposed, observer", format!("{exposed}, {}", observers.join(" and "))),
        ("claimed at most", claimed(found)),
        (found.protocol.truth(), found.true_loss.clone()),
    ]);
    if let Some(attacked) = attacked {
        rows.extend([
            (
                "shown by an attack",
                format!(
                    "{} or more, wrong with probability {} at most: {} simulated runs in each of two worlds",
                    down(attacked.shown),
                    attacked.error_rate,
                    attacked.runs
                ),
            ),
            (
                "the attack's guesses",
                format!(
                    "a change is noticed in {} % of runs with it, and in {} % of runs without",
                    percent(attacked.true_positives, 1, Round::Nearest),
                    percent(attacked.false_positives, 1, Round::Nearest)
                ),
            ),
        ]);
    }
    rows
}
