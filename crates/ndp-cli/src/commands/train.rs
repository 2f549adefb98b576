//! Private training on a table.

mod problem;

use self::problem::{Problem, problem};
use super::losses::{all, of_others};
use super::{covered, summary, worst};
use crate::args::Train;
use crate::errors::Failure;
use crate::output::{csv, json, line, note, number, page, pictures, up};
use crate::patience::Patient;
use crate::plain::{self, Subject};
use crate::progress::Progress;
use crate::{input, question};
use ndp_account::{Audience, Covered, Observer, Protocol, Target};
use ndp_algos::sgd::privacy::DataBounds;
use ndp_algos::sgd::{Evaluation, History, Objective, PrivateTraining, Training};
use ndp_dp::{Delta, Grade, Measure, NoiseMultiplier, Sensitivity, Sigma};
use ndp_graph::Graph;
use ndp_report::figure::{Axis, Figure, Panel, Series};
use ndp_report::page::{Page, Tone};
use ndp_report::words;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde_json::json;

/// Points of a curve.
const POINTS: usize = 100;

/// What observers are told in the end.
struct Accounted {
    noise: NoiseMultiplier,
    /// What would be enough for those who were looked at, where the others need more.
    of_looked_at: Option<NoiseMultiplier>,
    /// What any observer who is covered learns about a user, at most.
    largest: f64,
    tightest: Option<(String, String, f64)>,
    rows: Vec<(String, String, Option<u32>, f64)>,
    grades: Vec<Grade>,
    failure: f64,
    odds: Option<String>,
}

pub(crate) fn run(asked: &Train, quiet: bool) -> Result<(), Failure> {
    let delta = Delta::new(asked.delta)?;
    let measure = Measure::Approx(delta);
    let (graph, problem) = problem(asked)?;
    let count = problem.count;
    let bounds = DataBounds::default();
    let constants = problem.objective.constants(bounds.feature_norm, bounds.label_size, problem.domain);
    let protocol = PrivateTraining::new(count, constants, problem.training.clone())?;
    let messages = protocol.message_count();
    let protocol = Patient::new(Box::new(protocol), Some(asked.effort.seconds(1, false))).for_every_pair();
    let knowledge =
        crate::args::Knowledge { hidden_senders: false, without_own_noise: false, seed: asked.seed };
    let mut chosen = question::observers(&graph, &asked.observers, &knowledge)?;
    if matches!(problem.training, Training::Federated(_)) && asked.observers.is_default() {
        chosen.audience = Audience::named(vec![Observer::outsider()]);
        chosen.observers = chosen.audience.looked_at().to_vec();
        chosen.description = "somebody outside the network".into();
    }
    let covered = covered(&protocol, &chosen, quiet)?;
    let found = accounted(asked, &graph, &protocol, &covered, measure, quiet)?;
    let statement = covered.statement()?;
    let observed = plain::observed_by(&statement, &graph);
    let sigma = found.noise.sigma(Sensitivity::new(problem.sensitivity)?)?;
    let progress = Progress::new(2 * u64::from(asked.runs), "trainings", quiet);
    let private = histories(&problem, Some(sigma), asked, &progress)?;
    let plain_runs = histories(&problem, None, asked, &progress)?;
    drop(progress);
    let last = |histories: &[History]| -> Vec<f64> {
        histories.iter().filter_map(|history| history.last_accuracy).collect()
    };
    let (accuracies, without) = (last(&private), last(&plain_runs));
    let constant = best_constant(problem.test.labels());
    let mut rows = vec![
        ("protocol", asked.protocol.clone()),
        (
            "examples",
            format!("{} for training, {} for testing", problem.per_user * count, problem.test.labels().len()),
        ),
        ("users", format!("{count}, {} examples each", problem.per_user)),
        ("label", format!("{}: {}", asked.label, problem.classes)),
        ("observed by", observed.clone()),
        (
            "noise on a gradient",
            format!("{} ({} times its sensitivity)", up(sigma.get()), up(found.noise.get())),
        ),
        (
            "epsilon of a user, at most",
            format!("{} at delta {} [{}]", up(found.largest), asked.delta, grade(&found.grades)),
        ),
        ("the account fails", question::probability(found.failure)),
        ("messages", messages.map_or_else(|error| error.to_string(), crate::output::count)),
        (
            "accuracy on the test examples",
            format!("{} (without noise {})", spread(&accuracies), spread(&without)),
        ),
        ("of the best constant answer", number(constant)),
    ];
    if let Some(less) = found.of_looked_at {
        let shown = up(less.sigma(Sensitivity::new(problem.sensitivity)?)?.get());
        rows.push(("noise for those looked at alone", words::less_for_those(&shown)));
    }
    summary("Private training", &rows)?;
    if problem.training.has_places() {
        line("")?;
        worst(&found.rows, "epsilon", 5)?;
    }
    if let Some(warning) = worse_than_a_constant(asked, (&accuracies, &without), constant) {
        note(&warning);
    }
    let unpublished = "note: the curve is for whoever runs the study; to publish what is measured along a run is not covered by the account";
    line(unpublished)?;
    let figure = figure(&private, &plain_runs);
    write(asked, &private, &plain_runs, &found, &covered, &observed)?;
    if asked.pictures.any() {
        let svg = pictures(&asked.pictures, asked.seed, &figure)?;
        if let Some(path) = &asked.pictures.report {
            let whom = plain::whom(&statement, &graph);
            let report = report(
                asked,
                &graph,
                &rows,
                &found,
                (&covered, &observed, &whom),
                (measure, &protocol.notes()),
                &svg,
            );
            page(path, &report)?;
        }
    }
    if covered.coverage.is_whole() || asked.epsilon.is_none() {
        return Ok(());
    }
    Err(Failure::NotMet(format!(
        "the epsilon asked for is not shown at this noise: {}{}",
        words::coverage(&covered.coverage),
        words::LOOK_AT_ALL
    )))
}

/// The noise that was asked for or found, and what it costs every user.
fn accounted(
    asked: &Train,
    graph: &Graph,
    protocol: &Patient,
    covered: &Covered<'_>,
    measure: Measure,
    quiet: bool,
) -> Result<Accounted, Failure> {
    let accounts = covered.looked_at();
    let mut of_looked_at = None;
    let least = match asked.epsilon {
        Some(epsilon) if 0.0 < epsilon && epsilon.is_finite() => {
            let _progress = Progress::new(1, "least noise", quiet);
            let target = Target::worst(measure, epsilon);
            let least = covered.least_noise(&target)?;
            of_looked_at = covered.of_looked_at(&target, &least);
            Some(least)
        }
        Some(epsilon) => {
            return Err(Failure::Usage(format!("--epsilon must be positive and finite, got {epsilon}")));
        }
        None => None,
    };
    let noise = match (&least, asked.noise) {
        (Some(least), _) => least.noise,
        (None, noise) => question::noise(noise.unwrap_or(0.0), 1.0)?,
    };
    let losses = all(graph, protocol, accounts, noise, measure, (asked.seed, quiet))?;
    if let Some(text) = losses.note() {
        return Err(Failure::Refused(text));
    }
    let entries = losses.entries;
    let names: Vec<String> = (0..graph.node_count()).map(|v| input::label(graph, v)).collect();
    let of = |at: usize| plain::name(graph, accounts[at].observer());
    let most = entries.iter().reduce(|a, b| if b.loss > a.loss { b } else { a });
    let others = of_others(covered, noise, measure)?;
    let mut grades: Vec<Grade> = entries.iter().map(|entry| entry.grade).collect();
    let of_most = most.map(|entry| (entry.loss, accounts[entry.observer].as_ref(), entry.u));
    let most_of_all = match (of_most, others) {
        (Some(seen), Some(bound)) if bound.0 > seen.0 => {
            grades.push(Grade::UpperBound);
            Some(bound)
        }
        (seen, bound) => seen.or(bound),
    };
    Ok(Accounted {
        noise,
        of_looked_at,
        largest: most_of_all.map_or(0.0, |(loss, ..)| loss),
        tightest: most.map(|entry| (names[entry.u].clone(), of(entry.observer), entry.loss)),
        odds: most_of_all.and_then(|(_, account, u)| plain::odds(account, u, noise)),
        grades,
        failure: covered.failure(),
        rows: entries
            .iter()
            .map(|entry| {
                // Without a network there are no distances.
                let hops = entry.hops.filter(|_| asked.graph.is_some());
                (names[entry.u].clone(), of(entry.observer), hops, entry.loss)
            })
            .collect(),
    })
}

/// The trainings of all runs, with this noise.
fn histories(
    problem: &Problem,
    noise: Option<Sigma>,
    asked: &Train,
    progress: &Progress,
) -> Result<Vec<History>, Failure> {
    let one = |run: u16| -> Result<History, Failure> {
        // The same walks with noise and without.
        let mut rng = ChaCha8Rng::seed_from_u64(asked.seed);
        rng.set_stream(u64::from(run) + 1);
        let history = history(problem, noise, &mut rng)?;
        progress.one();
        Ok(history)
    };
    (0..asked.runs).map(one).collect()
}

fn history(problem: &Problem, noise: Option<Sigma>, rng: &mut ChaCha8Rng) -> Result<History, Failure> {
    let Problem { objective, users, test, training, .. } = problem;
    let every = |steps: usize| Evaluation::new(steps.div_ceil(POINTS).max(1), test);
    match training {
        Training::Central(run) | Training::Walk { run, .. } => {
            Ok(run.run(objective, users, noise, Some(&every(run.steps)?), rng)?.history)
        }
        Training::Federated(run) => {
            let rounds = problem.count / run.batch.max(1);
            Ok(run.run(objective, users, noise, Some(&every(rounds)?), rng)?.history)
        }
        Training::Gossip { sgd, mixings } => {
            let mix =
                |round: usize, _: &mut ChaCha8Rng| Ok(mixings.get(round).unwrap_or(&mixings[0]).clone());
            Ok(sgd.run(objective, users, noise, mix, Some(&every(sgd.rounds)?), rng)?.history)
        }
        _ => Err(Failure::Usage("this training cannot be run here".into())),
    }
}

fn curve(name: &str, histories: &[History]) -> Series {
    let Some(first) = histories.first() else { return Series::data(name) };
    let points = first.steps.iter().enumerate().map(|(at, &step)| {
        let values: Vec<f64> =
            histories.iter().filter_map(|history| history.accuracy.get(at).copied()).collect();
        (step as f64, values)
    });
    points.fold(Series::data(name), |series, (step, values)| {
        let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if values.len() > 1 { series.ranged(step, mean, low, high) } else { series.points([(step, mean)]) }
    })
}

fn figure(private: &[History], plain: &[History]) -> Figure {
    let panel = Panel::curves("on the test examples", Axis::linear("step"), Axis::linear("accuracy"))
        .with(curve("private", private))
        .with(curve("without noise, not private", plain));
    Figure::new("Accuracy along the training").panel(panel)
}

fn write(
    asked: &Train,
    private: &[History],
    plain: &[History],
    found: &Accounted,
    covered: &Covered<'_>,
    observers: &str,
) -> Result<(), Failure> {
    if let Some(path) = &asked.files.csv {
        let rows =
            [("private", private), ("without noise", plain)].into_iter().flat_map(|(name, histories)| {
                let curve = curve(name, histories);
                curve.points.into_iter().map(move |point| {
                    let end = |end: Option<f64>| end.map_or_else(String::new, |x| x.to_string());
                    vec![
                        name.to_owned(),
                        point.x.to_string(),
                        point.y.to_string(),
                        end(point.low),
                        end(point.high),
                    ]
                })
            });
        csv(path, asked.seed, &["series", "step", "accuracy", "low", "high"], &rows.collect::<Vec<_>>())?;
    }
    if let Some(path) = &asked.files.json {
        let tightest = found.tightest.as_ref().map(|(u, v, loss)| {
            json!({ "user": u, "observer": v, "epsilon": { "grade": grade(&found.grades), "value": crate::output::finite(*loss) } })
        });
        let body = json!({ "protocol": asked.protocol, "noise": found.noise.get(), "delta": asked.delta,
            "observers": observers, "coverage": covered.coverage, "statement": covered.statement().ok(), "epsilon": crate::output::finite(found.largest), "failure": found.failure, "tightest": tightest, "private": private, "without_noise": plain });
        json(path, asked.seed, body)?;
    }
    Ok(())
}

fn report(
    asked: &Train,
    graph: &Graph,
    rows: &[(&str, String)],
    found: &Accounted,
    (covered, observers, whom): (&Covered<'_>, &str, &str),
    (measure, notes): (Measure, &[String]),
    svg: &str,
) -> Page {
    let network = match &asked.graph {
        Some(file) => plain::network(file, graph),
        None => format!("a group of {} users", graph.node_count()),
    };
    let subject = Subject {
        network,
        observers,
        senders: ndp_account::Senders::Known,
        own_noise: ndp_account::OwnNoise::Known,
        sensitivity: 1.0,
        protected: "all examples of any one user",
        seed: asked.seed,
    };
    let odds = found.odds.as_ref().map_or_else(String::new, |odds| format!(" In other words: {odds}."));
    let unknown = plain::unknown(&covered.coverage).map_or_else(String::new, |unknown| format!(" {unknown}"));
    let sentence = format!("{}{odds}{unknown}", words::of_training(whom, found.largest, asked.delta));
    let tone = match (asked.epsilon, covered.coverage.is_whole()) {
        (Some(_), true) => Tone::Good,
        (Some(_), false) => Tone::Bad,
        (None, _) => Tone::Plain,
    };
    let mut page = Page::new("Private training").verdict(tone, &sentence);
    page = plain::opening(page, &subject);
    let mut particular: Vec<String> = plain::about(&asked.protocol).into_iter().collect();
    particular.push(
        "Every example is scaled to length 1 by its user before training, which bounds its gradient.".into(),
    );
    if asked.standardize {
        particular.push(
            "Means and variances of the features were computed from all examples and count as public; they are not protected.".into(),
        );
    }
    particular.push("The test examples belong to no user.".into());
    particular.push(
        "Accuracies along the training are shown here to judge the method. Publishing them for the real data is not covered.".into(),
    );
    page = plain::assumptions(page, &particular);
    page = plain::sureness(page, &found.grades, (found.failure, covered.statement().ok().as_ref()), notes);
    let rows: Vec<Vec<String>> =
        rows.iter().map(|(name, value)| vec![(*name).to_owned(), value.clone()]).collect();
    page = page
        .section("The training")
        .text(&plain::measure(measure))
        .table("In short", &["", ""], &rows)
        .picture(svg, "Accuracy on the test examples along the training, with noise and without.");
    plain::provenance(page, asked.seed)
}

/// The accuracy of whoever always gives the same answer, the better of the two.
fn best_constant(labels: &[f64]) -> f64 {
    let positive = labels.iter().filter(|label| **label > 0.0).count() as f64 / labels.len().max(1) as f64;
    positive.max(1.0 - positive)
}

/// What to say of a model that is of no use, and what may help.
fn worse_than_a_constant(
    asked: &Train,
    (private, without): (&[f64], &[f64]),
    constant: f64,
) -> Option<String> {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len().max(1) as f64;
    if private.is_empty() || mean(private) > constant {
        return None;
    }
    let standardize = if asked.standardize { "" } else { "--standardize, " };
    let help = if mean(without) > constant {
        format!("{standardize}a larger epsilon, fewer steps, more users")
    } else {
        format!("it is no better without noise: {standardize}another step size, more steps, other columns")
    };
    Some(format!(
        "the private model answers no better than always giving the more frequent label ({}); what may help: {help}",
        number(constant)
    ))
}

fn grade(grades: &[Grade]) -> Grade {
    if grades.iter().all(|&grade| grade == Grade::Exact) { Grade::Exact } else { Grade::UpperBound }
}

/// One number, or the mean of several with their range.
fn spread(values: &[f64]) -> String {
    match values {
        [] => "-".into(),
        [one] => number(*one),
        many => {
            let low = many.iter().copied().fold(f64::INFINITY, f64::min);
            let high = many.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            format!(
                "{}, {} to {}",
                number(many.iter().sum::<f64>() / many.len() as f64),
                number(low),
                number(high)
            )
        }
    }
}
