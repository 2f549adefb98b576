//! Changed questions: whether the wording of an answer changes with the question.
//!
//! A question is drawn and changed in one way: an observer is left out or replaced, or the size of a
//! coalition, a sample, a tap, the knowledge of observers, or the set of changes is another one. The command
//! answers both questions. The two statements must differ, and so must the lines of the table and the
//! paragraphs of the page. If theory says which loss is larger, the numbers must agree with it: an observer
//! who sees less learns no more (data processing), and a smaller set of changes has no larger loss. If the
//! nodes are renamed, the answer must be the same with the new names.

use super::process::{Said, run};
use crate::draw::graphs;
use crate::draw::numbers::pick;
use crate::part::{Outcome, Part, Stratum, Violation};
use ndp_graph::Graph;
use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use serde_json::Value;
use std::collections::BTreeMap;

pub(crate) struct Questions;

/// No name is part of another, so that names can be exchanged in a text.
const PEOPLE: [&str; 6] = ["ann", "bob", "carol", "dan", "eve", "frank"];

/// The largest allowed relative width of an enclosure.
const WIDTH: f64 = 1e-8;

/// The observers that a question asks about, by node number.
#[derive(Clone, PartialEq)]
enum Who {
    Everybody,
    Named(Vec<usize>),
    Together(Vec<usize>),
    OfSize(usize),
    Sample(usize, u64),
    Outside,
    Taps(Vec<(usize, usize)>),
}

/// A question to `ndp loss`.
#[derive(Clone)]
struct Question {
    edges: Vec<(usize, usize)>,
    names: Vec<&'static str>,
    /// A protocol of the registry, or a program with the set of changes after `@`.
    protocol: String,
    who: Who,
    own_noise: bool,
    senders: bool,
}

/// Which of the two answers must not be larger.
#[derive(Clone, Copy, PartialEq)]
enum Direction {
    /// That to the changed question: for every pair in both answers, and for the largest loss.
    Less,
    /// That to the original question.
    More,
    /// Neither.
    Unknown,
}

impl Part for Questions {
    fn name(&self) -> &'static str {
        "questions"
    }

    fn what(&self) -> &'static str {
        "questions to the command, changed in one way: other words in every register, numbers that move as they must"
    }

    fn case(&self, number: u64, rng: &mut ChaCha8Rng) -> Outcome {
        let question = draw(rng);
        if number.is_multiple_of(6) { renamed(&question, rng) } else { changed(&question, rng) }
    }

    fn short(&self) -> u64 {
        40
    }
}

fn draw(rng: &mut ChaCha8Rng) -> Question {
    let n = rng.random_range(4..=PEOPLE.len());
    let graph: Graph = graphs::random(rng, n);
    let edges: Vec<_> = graph.edges().collect();
    let rounds = rng.random_range(1..=3);
    let gossip = |name: &str| format!("{name}:rounds={rounds}");
    let mut nodes: Vec<usize> = (0..n).collect();
    nodes.shuffle(rng);
    let (protocol, all) = match rng.random_range(0..10) {
        0..=2 => (gossip("muffliato"), true),
        3 => (gossip("fresh-noise"), true),
        4 => (gossip("noisy-messages"), true),
        5 => (gossip("secure-neighbor-sums"), true),
        6 => (format!("walk:steps={}", rng.random_range(1..=9)), false),
        7 => ("ring-sum".to_owned(), false),
        _ => (pick(rng, &["@use-level", "@same-direction", "@signs"]).to_owned(), true),
    };
    let program = protocol.starts_with('@');
    let who = match rng.random_range(0..if all { 8 } else { 4 }) {
        0 => Who::Everybody,
        1 | 2 => {
            nodes.truncate(rng.random_range(1..n));
            Who::Named(nodes)
        }
        3 => Who::Together(nodes[..rng.random_range(2..n)].to_vec()),
        4 => Who::OfSize(rng.random_range(2..n)),
        5 if !program => Who::Sample(rng.random_range(1..n), rng.random_range(0..9)),
        6 => Who::Outside,
        _ => {
            let mut taps = edges.clone();
            taps.shuffle(rng);
            taps.truncate(rng.random_range(1..=edges.len()));
            Who::Taps(taps)
        }
    };
    Question { edges, names: PEOPLE[..n].to_vec(), protocol, who, own_noise: true, senders: true }
}

impl Question {
    fn words(&self) -> Vec<String> {
        let mut words: Vec<String> = "loss g --noise 2 --renyi 1e9 --json answer.json --report page.html"
            .split(' ')
            .map(str::to_owned)
            .collect();
        match self.protocol.strip_prefix('@') {
            Some(uses) => words.extend(["--program", "p.jsonl", "--uses", uses].map(str::to_owned)),
            None => words.extend(["--protocol".to_owned(), self.protocol.clone()]),
        }
        let name = |&v: &usize| self.names[v].to_owned();
        let mut add = |option: &str, value: String| words.extend([option.to_owned(), value]);
        match &self.who {
            Who::Everybody => {}
            Who::Named(nodes) => nodes.iter().for_each(|v| add("--observer", name(v))),
            Who::Together(nodes) => {
                add("--coalition", nodes.iter().map(name).collect::<Vec<_>>().join(","));
            }
            Who::OfSize(size) => add("--coalition-size", size.to_string()),
            Who::Sample(count, seed) => {
                add("--sample", count.to_string());
                add("--seed", seed.to_string());
            }
            Who::Outside => words.push("--outsider".to_owned()),
            Who::Taps(taps) => {
                taps.iter().for_each(|(a, b)| add("--tap", format!("{}-{}", name(a), name(b))));
            }
        }
        words.extend((!self.own_noise).then(|| "--without-own-noise".to_owned()));
        words.extend((!self.senders).then(|| "--hidden-senders".to_owned()));
        words
    }

    fn graph(&self) -> String {
        self.edges.iter().map(|&(u, v)| format!("{} {}\n", self.names[u], self.names[v])).collect()
    }

    /// Every node contributes twice and broadcasts two noisy sums.
    fn program(&self) -> String {
        format!(
            "{{\"ndp-program\": 1, \"nodes\": {}}}\n{{\"contribute\": \"x\", \"reads\": \"nothing\"}}\n{{\"noise\": \"z\", \"variance\": 1}}\n\
             {{\"let\": \"a\", \"sum\": {{\"x\": 1, \"z\": 1}}}}\n{{\"broadcast\": \"a\"}}\n{{\"contribute\": \"w\", \"reads\": \"nothing\"}}\n\
             {{\"noise\": \"t\", \"variance\": 1}}\n{{\"let\": \"y\", \"sum\": {{\"x\": 1, \"w\": -0.5, \"z\": 0.5, \"t\": 1}}}}\n{{\"broadcast\": \"y\"}}\n",
            self.names.len()
        )
    }

    fn ask(&self, outcome: &mut Outcome) -> Option<Answer> {
        let (graph, program, words) = (self.graph(), self.program(), self.words());
        let files = [("g", graph.as_str()), ("p.jsonl", program.as_str())];
        let problem = match run(&files, &words) {
            Ok(Some(said)) if said.code == Some(0) => match Answer::of(&said) {
                Some(answer) => return Some(answer),
                None => said.out,
            },
            // The command may refuse questions that are not offered, and losses that are infinite.
            Ok(Some(said))
                if said.code == Some(1)
                    && ["not offered", "its loss is infinite"]
                        .iter()
                        .any(|why| said.problem.contains(why)) =>
            {
                return None;
            }
            Ok(Some(said)) => said.problem,
            Ok(None) => "the command is not built".to_owned(),
            Err(error) => error.to_string(),
        };
        outcome.check(false, || self.violation(self, "no answer", problem));
        None
    }

    fn violation(&self, other: &Self, kind: &'static str, what: String) -> Violation {
        let size = [self.names.len() as u64, self.words().len() as u64, self.edges.len() as u64];
        let made = |question: &Self| {
            format!(
                "printf '{}' > g\nprintf '{}' > p.jsonl\nndp {}\n",
                question.graph().replace('\n', "\\n"),
                question.program().replace('\n', "\\n"),
                question.words().join(" ")
            )
        };
        Violation { kind, size, what, test: made(self) + &made(other) }
    }
}

/// The answer in its three forms, with its numbers.
struct Answer {
    /// The lines of the table that describe the question.
    line: Vec<String>,
    /// The sections of the page that describe the question.
    paragraph: String,
    statement: Value,
    /// The loss by the names of the observer and of the exposed node.
    pairs: BTreeMap<(String, String), f64>,
    /// An upper bound on the loss of every pair of the question; `exact` if it has the grade exact.
    most: f64,
    exact: bool,
}

impl Answer {
    fn of(said: &Said) -> Option<Self> {
        let found = &said.json["result"];
        let number = |value: &Value| value.as_f64().or_else(|| value.as_str().map(|_| f64::INFINITY));
        let mut pairs = BTreeMap::new();
        for pair in found["pairs"].as_array()? {
            let names = (pair["observer"].as_str()?.to_owned(), pair["source"].as_str()?.to_owned());
            pairs.insert(names, number(&pair["loss"]["value"])?);
        }
        let largest = &found["largest"]["loss"];
        let seen = pairs.values().fold(0.0, |most: f64, &loss| most.max(loss));
        let (most, exact) = match number(&largest["value"]) {
            Some(most) => (most, largest["grade"] == "exact"),
            None => (number(&found["other_pairs_at_most"]).map_or(seen, |bound| seen.max(bound)), false),
        };
        let kept = [
            "what may change",
            "observed by",
            "observers",
            "own noise",
            "which is the",
            "assumed",
            "target:",
        ];
        let line =
            said.out.lines().map(str::trim).filter(|line| kept.iter().any(|word| line.starts_with(word)));
        let page = said.page.replace("&#39;", "'");
        let (_, after) = page.split_once("What is protected")?;
        let (before, _) = after.split_once("How sure this is")?;
        // Only the words are compared. The numbers may be the same for both questions.
        let line: Vec<String> = line.map(str::to_owned).collect();
        let statement = found["statement"].clone();
        (!line.is_empty() && statement.is_object()).then(|| Self {
            line,
            paragraph: words_only(before),
            statement,
            pairs,
            most,
            exact,
        })
    }
}

/// The sections on what is protected, from whom and under which assumptions, without the section on possible
/// conclusions.
fn words_only(page: &str) -> String {
    let (before, rest) = page.split_once("What one could conclude at most").unwrap_or((page, ""));
    let (_, after) = rest.split_once("Under which assumptions").unwrap_or(("", rest));
    format!("{before}{after}")
}

/// Changes the question in one way; returns which answer must not be larger.
fn change(asked: &Question, rng: &mut ChaCha8Rng) -> Option<(&'static str, Question, Direction)> {
    use Direction::{Less, More, Unknown};
    let n = asked.names.len();
    let mut other = asked.clone();
    let who = |other: &mut Question, who| other.who = who;
    let walk = asked.protocol.starts_with("walk");
    if asked.protocol.starts_with('@') && rng.random_range(0..2) == 0 {
        // `signs` contains the changes of one use and those of all uses alike as special cases.
        let (set, direction) = match asked.protocol.as_str() {
            "@signs" => (pick(rng, &["@use-level", "@same-direction"]), Less),
            "@use-level" => ("@signs", More),
            _ => pick(rng, &[("@signs", More), ("@use-level", Unknown)]),
        };
        set.clone_into(&mut other.protocol);
        return Some(("another set of changes", other, direction));
    }
    let gossip = !walk && !asked.protocol.starts_with('@') && !asked.protocol.starts_with("ring");
    if gossip && !matches!(asked.who, Who::Outside | Who::Taps(_)) && rng.random_range(0..4) == 0 {
        other.own_noise = false;
        return Some(("observers without their noise", other, Less));
    }
    if walk && rng.random_range(0..3) == 0 {
        other.senders = false;
        return Some(("hidden senders", other, Less));
    }
    Some(match &asked.who {
        Who::Everybody => {
            let v = rng.random_range(0..n);
            who(&mut other, Who::Named(vec![v]));
            ("one instead of everybody", other, Less)
        }
        Who::Named(nodes) if nodes.len() > 1 => {
            who(&mut other, Who::Named(nodes[1..].to_vec()));
            ("an observer less", other, Less)
        }
        Who::Named(nodes) => {
            let next = (nodes[0] + rng.random_range(1..n)) % n;
            if rng.random_range(0..2) == 0 || walk || !gossip {
                who(&mut other, Who::Named(vec![next]));
                ("another observer", other, Unknown)
            } else {
                who(&mut other, Who::Together(vec![nodes[0], next]));
                ("one more in the coalition", other, Unknown)
            }
        }
        Who::Together(nodes) if rng.random_range(0..2) == 0 => {
            who(&mut other, Who::Named(nodes.clone()));
            ("each alone instead of together", other, Unknown)
        }
        Who::Together(nodes) => {
            who(&mut other, Who::Together(nodes[1..].to_vec()));
            ("one less in the coalition", other, Unknown)
        }
        Who::OfSize(size) => {
            who(&mut other, Who::OfSize(size - 1));
            ("smaller coalitions", other, Less)
        }
        Who::Sample(count, seed) if rng.random_range(0..2) == 0 => {
            who(&mut other, Who::Sample(*count, seed + 1));
            ("another sample", other, Unknown)
        }
        Who::Sample(..) => {
            who(&mut other, Who::Everybody);
            ("everybody instead of a sample", other, Unknown)
        }
        Who::Outside => {
            let (a, b) = pick(rng, &asked.edges);
            who(&mut other, Who::Taps(vec![(a, b)]));
            ("a tap more", other, More)
        }
        Who::Taps(taps) if taps.len() > 1 => {
            who(&mut other, Who::Taps(taps[1..].to_vec()));
            ("a tap less", other, Less)
        }
        Who::Taps(_) => {
            who(&mut other, Who::Outside);
            ("a tap less", other, Less)
        }
    })
}

fn changed(asked: &Question, rng: &mut ChaCha8Rng) -> Outcome {
    let Some((how, other, direction)) = change(asked, rng) else {
        return Outcome::new(Stratum::named("changed", "not"));
    };
    let mut outcome = Outcome::new(Stratum::named("changed", how));
    let Some(first) = asked.ask(&mut outcome) else { return outcome };
    let Some(second) = other.ask(&mut outcome) else { return outcome };
    let registers = [
        ("the same statement", first.statement == second.statement),
        ("the same line", first.line == second.line),
        ("the same paragraph", first.paragraph == second.paragraph),
    ];
    for (kind, same) in registers {
        outcome.check(!same, || asked.violation(&other, kind, format!("{how}: {:?}", first.line)));
    }
    let (less, more) = match direction {
        Direction::Less => (&second, &first),
        Direction::More => (&first, &second),
        Direction::Unknown => return outcome,
    };
    // An exact loss of the smaller question must not exceed the bound of the larger one.
    if less.exact {
        outcome.check(less.most <= more.most * (1.0 + WIDTH), || {
            let what = format!("{how}: {:e} above {:e}", less.most, more.most);
            asked.violation(&other, "the smaller question has the larger answer", what)
        });
    }
    for (pair, &loss) in &less.pairs {
        let Some(&of_more) = more.pairs.get(pair) else { continue };
        outcome.check(loss <= of_more * (1.0 + WIDTH), || {
            let what = format!("{how}: {} about {}: {loss:e} above {of_more:e}", pair.0, pair.1);
            asked.violation(&other, "who sees less learns more", what)
        });
    }
    outcome
}

/// The same question about the same network, with other names for the nodes.
fn renamed(asked: &Question, rng: &mut ChaCha8Rng) -> Outcome {
    let mut outcome = Outcome::new(Stratum::named("renamed", "all nodes"));
    // Samples, and the path of a ring, go by node numbers. These follow the order of names in the file, which
    // changes.
    if matches!(asked.who, Who::Sample(..)) || asked.protocol.starts_with("ring") {
        return outcome;
    }
    let mut other = asked.clone();
    other.names.shuffle(rng);
    let Some(first) = asked.ask(&mut outcome) else { return outcome };
    let Some(second) = other.ask(&mut outcome) else { return outcome };
    let new = |old: &str| {
        let place = asked.names.iter().position(|&name| name == old);
        place.map_or_else(|| old.to_owned(), |v| other.names[v].to_owned())
    };
    let of = |label: &str| ordered(label, new);
    let sorted = |label: &str| ordered(label, str::to_owned);
    let mut found: BTreeMap<(String, String), f64> = BTreeMap::new();
    for ((v, u), &loss) in &second.pairs {
        found.insert((sorted(v), sorted(u)), loss);
    }
    outcome.check(found.len() == first.pairs.len(), || {
        asked.violation(
            &other,
            "other pairs by other names",
            format!("{} {}", found.len(), first.pairs.len()),
        )
    });
    for ((v, u), &loss) in &first.pairs {
        let there = found.get(&(of(v), of(u))).copied();
        let same =
            there.is_some_and(|there| loss == there || (loss - there).abs() <= WIDTH * loss.max(there));
        outcome.check(same, || {
            let what = format!("{v} about {u}: {loss:e}; {} about {}: {there:?}", of(v), of(u));
            asked.violation(&other, "other numbers by other names", what)
        });
    }
    outcome
}

/// A label (`ann`, `ann+bob`, `outsider hearing ann-bob, bob-carol`) with each name replaced, members and
/// links in order.
fn ordered(label: &str, new: impl Fn(&str) -> String) -> String {
    let (before, links) = label.split_once(" hearing ").unwrap_or(("", label));
    let mut links: Vec<String> = links
        .split(", ")
        .map(|link| {
            let mut members: Vec<String> = link.split(['+', '-']).map(&new).collect();
            members.sort_unstable();
            members.join("+")
        })
        .collect();
    links.sort_unstable();
    format!("{before} {}", links.join(", "))
}
