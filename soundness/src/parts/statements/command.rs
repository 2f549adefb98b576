//! The command as a process: its exit code, its verdict and its sentences.

use super::signs;
use crate::draw::graphs;
use crate::draw::numbers::pick;
use crate::oracle::gossip::{self, Ears, Matrix};
use crate::oracle::linear::{Linear, Loss};
use crate::oracle::rational::Quotient;
use crate::part::{Outcome, Stratum, Violation};
use crate::parts::process::{Said, run};
use ndp_algos::gossip::MessageNoise;
use ndp_graph::Graph;
use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use std::cmp::Ordering;

const PEOPLE: [&str; 7] = ["ann", "bob", "carol", "dan", "eve", "frank", "gina"];

/// The observers that a question is about.
enum Who {
    All,
    Sample(usize),
    Named(Vec<usize>),
    Coalition(Vec<usize>),
}

/// The limits, as Rényi losses of order 2.
enum Allowed {
    Worst(f64),
    Mean(f64),
    /// Limits for pairs: what the second node may learn about the first.
    Pairs(Vec<(usize, usize, f64)>),
    /// A limit on what anybody may learn about nodes at least this many hops away.
    Hops(u32, f64),
}

/// A network of people, and the protocol that they run.
struct Setting {
    graph: Graph,
    matrix: Matrix,
    protocol: String,
    rounds: usize,
    /// Noise of messages relative to that of values.
    ratio: f64,
}

impl Setting {
    fn view(&self, members: &[usize]) -> Linear {
        if self.ratio == 0.0 {
            gossip::fixed(&self.matrix, self.rounds, members, true)
        } else {
            gossip::noisy_messages(
                &self.matrix,
                self.rounds,
                self.ratio,
                MessageNoise::PerLink,
                Ears::Of(members),
                true,
            )
        }
    }

    /// Unit losses of all nodes; 0 for members, `None` if some loss is not known.
    fn units(&self, members: &[usize]) -> Option<Vec<Quotient>> {
        let losses = self.view(members).truth().losses.into_iter();
        let unit = |loss| match loss {
            Loss::Finite(x) => Some(x),
            Loss::Member => Some(Quotient::zero()),
            Loss::Infinite | Loss::Unknown => None,
        };
        losses.map(unit).collect()
    }
}

pub(super) fn case(number: u64, rng: &mut ChaCha8Rng) -> Outcome {
    match number % 8 {
        3 => training(rng),
        4 => question(Question::Calibrate, rng),
        5 => question(Question::Ledger, rng),
        _ => question(Question::Loss, rng),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Question {
    Loss,
    Calibrate,
    Ledger,
}

fn edges(graph: &Graph) -> String {
    graph.edges().map(|(u, v)| format!("{} {}\n", PEOPLE[u], PEOPLE[v])).collect()
}

fn setting(rng: &mut ChaCha8Rng) -> Setting {
    let n = rng.random_range(3..=6);
    let graph = graphs::random(rng, n);
    let rounds = rng.random_range(1..=3);
    let ratio = pick(rng, &[0.0, 0.0, 0.5, 1.0, 2.0]);
    let protocol = if ratio == 0.0 {
        format!("muffliato:rounds={rounds}")
    } else {
        format!("noisy-messages:rounds={rounds},ratio={ratio}")
    };
    Setting { matrix: Matrix::metropolis(&graph), graph, protocol, rounds, ratio }
}

fn observers(rng: &mut ChaCha8Rng, n: usize) -> Who {
    let mut nodes: Vec<usize> = (0..n).collect();
    nodes.shuffle(rng);
    match rng.random_range(0..6) {
        0 => Who::All,
        1 | 2 => Who::Sample(rng.random_range(1..n)),
        3 | 4 => {
            nodes.truncate(rng.random_range(1..n));
            Who::Named(nodes)
        }
        _ => {
            nodes.truncate(rng.random_range(2..n.max(3)));
            Who::Coalition(nodes)
        }
    }
}

/// Losses in units of `1 / σ²`: of each node `u` towards each single node `v`, at `[v][u]`, and of each node
/// towards a coalition.
struct Losses {
    alone: Vec<Vec<Quotient>>,
    together: Vec<Quotient>,
    hops: Vec<Vec<Option<u32>>>,
}

impl Losses {
    /// Whether losses times `factor` exceed `allowed`, towards any observer if `all`, else towards those that
    /// the question is about.
    fn exceeded(&self, who: &Who, all: bool, allowed: &Allowed, factor: &Quotient) -> bool {
        let n = self.alone.len();
        let above = |unit: &Quotient, limit: f64| unit.times(factor).compare(limit) == Ordering::Greater;
        let mean_above = |units: &[Quotient], limit: f64| {
            let sum = units.iter().fold(Quotient::zero(), |sum, x| sum.plus(x));
            above(&sum.over(n), limit)
        };
        let looked: Vec<&Vec<Quotient>> = match who {
            Who::Named(nodes) if !all => nodes.iter().map(|&v| &self.alone[v]).collect(),
            Who::Coalition(_) if !all => vec![&self.together],
            _ => self.alone.iter().collect(),
        };
        match allowed {
            Allowed::Worst(limit) => looked.iter().any(|units| units.iter().any(|x| above(x, *limit))),
            Allowed::Mean(limit) => looked.iter().any(|units| mean_above(units, *limit)),
            // Limits by name hold for the named pairs, whatever observers the question is about.
            Allowed::Pairs(limits) => limits.iter().any(|&(u, v, limit)| above(&self.alone[v][u], limit)),
            // A limit by distance holds for each observer of the question, and each member of a coalition is
            // one.
            Allowed::Hops(from, limit) => {
                let asked = |v: &usize| match who {
                    Who::Named(nodes) | Who::Coalition(nodes) => nodes.contains(v),
                    Who::All | Who::Sample(_) => true,
                };
                // The question is not about the members of a coalition.
                let about = |u: &usize| !matches!(who, Who::Coalition(nodes) if nodes.contains(u));
                (0..n).filter(asked).any(|v| {
                    (0..n).filter(about).any(|u| {
                        self.hops[v][u].is_some_and(|hops| hops >= *from) && above(&self.alone[v][u], *limit)
                    })
                })
            }
        }
    }

    /// The largest loss towards the observers that were looked at, or towards any observer.
    fn largest(&self, who: &Who, all: bool) -> Quotient {
        let looked: Vec<&Vec<Quotient>> = match who {
            Who::Named(nodes) if !all => nodes.iter().map(|&v| &self.alone[v]).collect(),
            Who::Coalition(_) if !all => vec![&self.together],
            _ => self.alone.iter().collect(),
        };
        looked.into_iter().flatten().fold(Quotient::zero(), |most, x| {
            if x.cmp(&most) == Ordering::Greater { x.clone() } else { most }
        })
    }
}

fn allowed(rng: &mut ChaCha8Rng, losses: &Losses, factor: &Quotient) -> Allowed {
    let n = losses.alone.len();
    let near = |rng: &mut ChaCha8Rng, unit: &Quotient| {
        (unit.times(factor).to_f64() * pick(rng, &[0.5, 0.9, 1.1])).max(0.001)
    };
    let pair = |rng: &mut ChaCha8Rng| {
        let v = rng.random_range(0..n);
        (v, (v + rng.random_range(1..n)) % n)
    };
    match rng.random_range(0..5) {
        0 => {
            let (v, u) = pair(rng);
            Allowed::Worst(near(rng, &losses.alone[v][u]))
        }
        1 => {
            let v = rng.random_range(0..n);
            let sum = losses.alone[v].iter().fold(Quotient::zero(), |sum, x| sum.plus(x));
            Allowed::Mean(near(rng, &sum.over(n)))
        }
        2 | 3 => {
            let mut limits: Vec<(usize, usize, f64)> = Vec::new();
            for _ in 0..rng.random_range(1..=3) {
                let (v, u) = pair(rng);
                if !limits.iter().any(|&(a, b, _)| (a, b) == (u, v)) {
                    limits.push((u, v, near(rng, &losses.alone[v][u])));
                }
            }
            Allowed::Pairs(limits)
        }
        _ => {
            let (v, u) = pair(rng);
            let hops = losses.hops[v][u].unwrap_or(1).max(1);
            Allowed::Hops(hops, near(rng, &losses.alone[v][u]))
        }
    }
}

fn question(asked: Question, rng: &mut ChaCha8Rng) -> Outcome {
    let setting = setting(rng);
    let n = setting.graph.node_count();
    let who = observers(rng, n);
    let column = match who {
        Who::All => "all",
        Who::Sample(_) => "a sample",
        Who::Named(_) => "named",
        Who::Coalition(_) => "a coalition",
    };
    let mut outcome = Outcome::new(Stratum::named(
        match asked {
            Question::Loss => "ndp loss",
            Question::Calibrate => "ndp calibrate",
            Question::Ledger => "ndp ledger",
        },
        column,
    ));
    let together = match &who {
        Who::Coalition(members) => {
            let mut members = members.clone();
            members.sort_unstable();
            setting.units(&members)
        }
        _ => Some(Vec::new()),
    };
    let alone: Option<Vec<_>> = (0..n).map(|v| setting.units(&[v])).collect();
    let (Some(alone), Some(together)) = (alone, together) else { return outcome };
    let hops = (0..n).map(|v| setting.graph.distances(v)).collect();
    let losses = Losses { alone, together, hops };
    let noise = pick(rng, &[1.0, 2.0, 4.0, 0.5]);
    let runs = if asked == Question::Ledger { rng.random_range(1..=2) } else { 1 };
    // α / (2 σ²) for α = 2, added up over the runs.
    let factor = Quotient::from_f64(f64::from(runs)).by(&Quotient::from_f64(noise * noise));
    let allowed = allowed(rng, &losses, &factor);
    let graph = edges(&setting.graph);
    let limits: String = match &allowed {
        Allowed::Pairs(limits) => {
            limits.iter().map(|(u, v, limit)| format!("{} {} {limit}\n", PEOPLE[*u], PEOPLE[*v])).collect()
        }
        Allowed::Hops(from, limit) => format!("{from} {limit}\n"),
        _ => String::new(),
    };
    let mut words: Vec<String> = match asked {
        Question::Loss => [
            "loss",
            "g",
            "--report",
            "page.html",
            "--protocol",
            &setting.protocol,
            "--noise",
            &noise.to_string(),
        ]
        .map(str::to_owned)
        .to_vec(),
        Question::Calibrate => {
            ["calibrate", "g", "--protocol", &setting.protocol].map(str::to_owned).to_vec()
        }
        Question::Ledger => {
            let mut words = vec!["ledger".to_owned(), "g".to_owned()];
            for _ in 0..runs {
                words.extend(["--run".to_owned(), format!("{}@{noise}", setting.protocol)]);
            }
            words
        }
    };
    words.extend(["--json", "answer.json", "--order", "2"].map(str::to_owned));
    match &allowed {
        Allowed::Worst(limit) => words.extend(["--renyi".to_owned(), limit.to_string()]),
        Allowed::Mean(limit) => words.extend(["--renyi".to_owned(), limit.to_string(), "--mean".to_owned()]),
        // The file has the limits; the number after `--renyi` only says that they are Rényi losses.
        _ => words.extend(["--renyi", "1e9", "--pairs", "limits"].map(str::to_owned)),
    }
    let join = |nodes: &[usize]| nodes.iter().map(|&v| PEOPLE[v]).collect::<Vec<_>>().join(",");
    match &who {
        Who::All => {}
        Who::Sample(count) => {
            let seed = rng.random_range(0..100_u32);
            words.extend(["--sample".to_owned(), count.to_string(), "--seed".to_owned(), seed.to_string()]);
        }
        Who::Named(nodes) => {
            nodes.iter().for_each(|&v| words.extend(["--observer".to_owned(), PEOPLE[v].to_owned()]))
        }
        Who::Coalition(nodes) => words.extend(["--coalition".to_owned(), join(nodes)]),
    }
    let files = [("g", graph.as_str()), ("limits", limits.as_str())];
    let refusable = asked == Question::Ledger && !matches!(allowed, Allowed::Worst(_));
    let Some(said) = answered(&mut outcome, n, &setting.graph, &files, &words, refusable) else {
        return outcome;
    };
    let violation = |kind: &'static str, what: String| {
        report(kind, [n as u64, words.len() as u64, setting.graph.edge_count() as u64], what, &files, &words)
    };
    let factor = if asked == Question::Calibrate {
        let Some(noise) = said.json["result"]["noise"].as_f64() else { return outcome };
        let noise = Quotient::from_f64(noise);
        Quotient::from_f64(1.0).by(&noise.times(&noise))
    } else {
        factor
    };
    // If the command says that limits are met, they must be. For a sample they must be met for all observers,
    // and limits by name for all named pairs.
    let all = matches!(who, Who::Sample(_) | Who::All);
    let met = said.code == Some(0);
    let exceeded = losses.exceeded(&who, all, &allowed, &factor);
    let by_pair = matches!(allowed, Allowed::Pairs(_) | Allowed::Hops(..));
    outcome.check(!met || !exceeded, || {
        let kind = match (asked, &who) {
            (Question::Ledger, _) if by_pair => "ndp ledger: limits for pairs count as met",
            (Question::Ledger, _) if matches!(allowed, Allowed::Mean(_)) => {
                "ndp ledger: a mean counts as met"
            }
            (Question::Ledger, Who::Sample(_)) => "ndp ledger: a sample counts as everybody",
            (_, Who::Coalition(_)) if by_pair => "limits of a coalition's members count as met",
            (_, Who::Named(_)) if by_pair => "limits of those who were not looked at count as met",
            (Question::Calibrate, Who::Sample(_)) => {
                "the least noise of a sample counts as that of everybody"
            }
            (_, Who::Sample(_)) => "a sample counts as everybody",
            _ => "met, but not so",
        };
        violation(kind, "exit code 0, but a limit is exceeded".into())
    });
    if asked == Question::Loss && matches!(who, Who::All) {
        outcome.check(met || exceeded, || violation("not met, but so", said.problem.clone()));
    }
    let largest = losses.largest(&who, true).times(&factor);
    // Without an answer of the command there is no page.
    if asked == Question::Loss && (met || !said.page.is_empty()) {
        sentence(&mut outcome, &said.page, (&losses, &who), &factor, &violation);
    }
    if let Allowed::Worst(limit) = allowed {
        // Phrases that claim something for everybody, anywhere on the page.
        let everybody = ["for every pair", "about anybody"].iter().any(|words| said.page.contains(words));
        let kept = said.page.contains("The limit is kept") && everybody;
        let holds = largest.compare(limit) != Ordering::Greater;
        outcome.check(!kept || holds, || {
            let what =
                format!("\"The limit is kept: at most {limit} for every pair\", true {:e}", largest.to_f64());
            violation("kept for every pair, by some", what)
        });
        if let Some(left) = number_before(&said.out, "left for every pair: at least ", "\n") {
            let true_left = Quotient::from_f64(limit).minus(&largest);
            outcome.check(left == 0.0 || true_left.compare(left) != Ordering::Less, || {
                let what = format!("\"left for every pair: at least {left}\", true {:e}", true_left.to_f64());
                violation("left for every pair, by some", what)
            });
        }
    }
    outcome
}

/// The sentence of a page that says what is learned at most must be true of the observers it names.
fn sentence(
    outcome: &mut Outcome,
    page: &str,
    (losses, who): (&Losses, &Who),
    factor: &Quotient,
    violation: &impl Fn(&'static str, String) -> Violation,
) {
    const SAYS: &str = " learns about any other node is at most ";
    let Some((before, after)) = page.split_once(SAYS) else {
        outcome.check(false, || {
            violation("no sentence that the search knows", page.chars().take(2000).collect())
        });
        return;
    };
    let whom = before.rsplit_once("What ").map_or("", |(_, whom)| whom);
    let claimed = number_before(&format!("{after} "), "", " ").unwrap_or(f64::NAN);
    // For a sample, the search does not know which observers were drawn.
    let of_sample = whom.contains("that were looked at");
    let everybody = whom.starts_with("any one of ") && whom.ends_with(" nodes");
    let largest = losses.largest(who, everybody).times(factor);
    outcome.check(!of_sample || matches!(who, Who::Sample(_)), || {
        violation("a sample that nobody asked for", format!("\"{whom}\""))
    });
    outcome.check(of_sample || (!claimed.is_nan() && largest.compare(claimed) != Ordering::Greater), || {
        let what = format!("\"What {whom}{SAYS}{claimed}\", true {:e}", largest.to_f64());
        violation("a sentence that is not true", what)
    });
}

/// The number between two given texts.
fn number_before(text: &str, before: &str, after: &str) -> Option<f64> {
    let rest = &text[text.find(before)? + before.len()..];
    rest[..rest.find(after)?].trim().parse().ok()
}

fn report(
    kind: &'static str,
    size: [u64; 3],
    what: String,
    files: &[(&str, &str)],
    words: &[String],
) -> Violation {
    let made: String = files
        .iter()
        .filter(|(_, text)| !text.is_empty())
        .map(|(name, text)| format!("printf '{}' > {name}\n", text.replace('\n', "\\n")))
        .collect();
    Violation { kind, size, what, test: format!("{made}ndp {}", words.join(" ")) }
}

/// The answer of the command. Reports a violation if the command was not built or refused a meaningful
/// question.
fn answered(
    outcome: &mut Outcome,
    n: usize,
    graph: &Graph,
    files: &[(&str, &str)],
    words: &[String],
    refusable: bool,
) -> Option<Said> {
    let size = [n as u64, words.len() as u64, graph.edge_count() as u64];
    let (kind, problem) = match run(files, words) {
        Ok(Some(said)) if matches!(said.code, Some(0 | 1)) => return Some(said),
        // The command may refuse a question without meaning.
        Ok(Some(said)) if said.code == Some(2) && refusable => return None,
        Ok(Some(said)) => ("the command does not understand", said.problem),
        Ok(None) => ("the command is not built", "cargo build --release -p ndp-cli".to_owned()),
        Err(error) => ("the command cannot be run", error.to_string()),
    };
    outcome.check(false, || report(kind, size, problem, files, words));
    None
}

/// The noise for training must cover every change that its steps may make, unless a smaller set of changes
/// was declared. Then the answer must say so.
fn training(rng: &mut ChaCha8Rng) -> Outcome {
    let n = rng.random_range(2..=5);
    let graph = graphs::random(rng, n);
    let steps = rng.random_range(2..=5);
    let observer = rng.random_range(0..n);
    let (protocol, alike) = super::training_of(rng, steps);
    let mut outcome = Outcome::new(Stratum::named("ndp calibrate", "changes of training"));
    let protocol = format!("dsgd:{protocol}");
    let words = ["calibrate", "g", "--protocol", &protocol, "--mu", "1", "--observer", PEOPLE[observer]];
    let words: Vec<String> =
        words.iter().chain(&["--json", "answer.json"]).map(|&word| word.to_owned()).collect();
    let text = edges(&graph);
    let files = [("g", text.as_str())];
    let Some(said) = answered(&mut outcome, n, &graph, &files, &words, false) else { return outcome };
    let size = [n as u64, steps as u64, graph.edge_count() as u64];
    let violation = |kind: &'static str, what: String| report(kind, size, what, &files, &words);
    let (Some(0), Some(noise)) = (said.code, said.json["result"]["noise"].as_f64()) else {
        outcome.check(false, || violation("no noise for training", said.problem.clone()));
        return outcome;
    };
    outcome.check(!alike || said.out.contains("by the same vector"), || {
        violation("a declaration that the answer does not name", said.out.clone())
    });
    let matrix = Matrix::metropolis(&graph);
    let square = Quotient::from_f64(noise).times(&Quotient::from_f64(noise));
    for source in (0..n).filter(|&u| u != observer) {
        let Some((same, any)) = signs(&gossip::sgd(&matrix, steps, observer, source)) else { continue };
        let truth = if alike { same } else { any };
        outcome.check(truth.cmp(&square) != Ordering::Greater, || {
            let mu = truth.by(&square).to_f64().sqrt();
            let (observer, source) = (PEOPLE[observer], PEOPLE[source]);
            violation(
                "noise for less than may change",
                format!("mu 1 for {observer} about {source}, true {mu}"),
            )
        });
    }
    outcome
}
