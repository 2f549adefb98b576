//! Private training on a table.

mod problem;
mod show;

use self::problem::{Problem, problem};
use super::covered;
use super::losses::{all, of_others, right_guesses};
use crate::args::{Knowledge, Train};
use crate::errors::Failure;
use crate::output::{note, number};
use crate::patience::{self, Patient};
use crate::progress::Progress;
use crate::question::Chosen;
use crate::show::Exposed;
use crate::{input, plain, question, show as showing};
use ndp_account::{Audience, Covered, Error, Observer, Protocol, Statement, Target};
use ndp_algos::sgd::privacy::DataBounds;
use ndp_algos::sgd::{Evaluation, History, Objective, PrivateTraining, Training};
use ndp_dp::{Delta, Grade, Measure, NoiseMultiplier, Sensitivity, Sigma};
use ndp_graph::Graph;
use ndp_report::words;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// The number of points of a curve of accuracies.
const POINTS: usize = 100;

/// What is asked: a training on a table, with a noise or an epsilon.
struct Study<'a> {
    asked: &'a Train,
    graph: Graph,
    problem: Problem,
    measure: Measure,
    chosen: Chosen,
    protocol: Patient<'static>,
}

/// What was found.
struct Trained<'a> {
    study: &'a Study<'a>,
    accounted: Accounted,
    statement: Statement,
    messages: Result<f64, Error>,
    /// The noise on a gradient.
    sigma: Sigma,
    /// The same runs, trained with noise and without.
    private: Vec<History>,
    plain: Vec<History>,
    notes: Vec<String>,
}

/// The noise of a training, and the losses that it causes.
struct Accounted {
    noise: NoiseMultiplier,
    /// The noise that is enough for the observers who were looked at, if the others need more.
    of_looked_at: Option<NoiseMultiplier>,
    /// An upper bound on what any covered observer learns about a user.
    largest: f64,
    tightest: Option<(String, String, f64)>,
    rows: Vec<Exposed>,
    grades: Vec<Grade>,
    odds: Option<String>,
}

pub(crate) fn run(asked: &Train, quiet: bool) -> Result<(), Failure> {
    let study = Study::of(asked)?;
    let found = study.answer(quiet)?;
    if let Some(warning) = found.worse_than_a_constant() {
        note(&warning);
    }
    showing::show(&found, &asked.files, asked.seed)?;
    showing::draw(&found, &asked.pictures, asked.seed)?;
    found.verdict()
}

impl<'a> Study<'a> {
    fn of(asked: &'a Train) -> Result<Self, Failure> {
        let measure = Measure::Approx(Delta::new(asked.delta)?);
        let (graph, problem) = problem(asked)?;
        let bounds = DataBounds::default();
        let constants = problem.objective.constants(bounds.feature_norm, bounds.label_size, problem.domain);
        let protocol = PrivateTraining::new(problem.count, constants, problem.training.clone())?;
        let protocol =
            Patient::new(Box::new(protocol), patience::told(asked.effort.patience)).for_every_pair();
        let knowledge = Knowledge { hidden_senders: false, without_own_noise: false, seed: asked.seed };
        let mut chosen = question::observers(&graph, &asked.observers, &knowledge)?;
        if matches!(problem.training, Training::Federated(_)) && asked.observers.is_default() {
            chosen.audience = Audience::named(vec![Observer::outsider()]);
            chosen.observers = chosen.audience.looked_at().to_vec();
            chosen.description = "somebody outside the network".into();
        }
        Ok(Self { asked, graph, problem, measure, chosen, protocol })
    }

    fn answer(&self, quiet: bool) -> Result<Trained<'_>, Failure> {
        let (asked, problem) = (self.asked, &self.problem);
        let covered = covered(&self.protocol, &self.chosen, quiet)?;
        let accounted = self.protocol.steady(|| self.accounted(&covered, quiet))?;
        let sigma = accounted.noise.sigma(Sensitivity::new(problem.sensitivity)?)?;
        let progress = Progress::new(2 * u64::from(asked.runs), "trainings", quiet);
        let private = histories(problem, Some(sigma), asked, &progress)?;
        let plain = histories(problem, None, asked, &progress)?;
        Ok(Trained {
            study: self,
            statement: covered.statement()?,
            messages: self.protocol.message_count(),
            accounted,
            sigma,
            private,
            plain,
            notes: patience::notes(&self.protocol),
        })
    }

    /// The noise that the user asked for, or the least one for the target, and the losses at that noise.
    fn accounted(&self, covered: &Covered<'_>, quiet: bool) -> Result<Accounted, Failure> {
        let (asked, graph, measure) = (self.asked, &self.graph, self.measure);
        let accounts = covered.looked_at();
        let mut of_looked_at = None;
        let least = match asked.epsilon {
            Some(epsilon) if 0.0 < epsilon && epsilon.is_finite() => {
                let _progress = Progress::new(1, "least noise", quiet);
                let target = Target::worst(measure, epsilon);
                let least = super::least_noise(covered, &target)?;
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
        let losses = all(graph, &self.protocol, accounts, noise, measure, (asked.seed, quiet))?;
        if let Some(text) = losses.note() {
            return Err(Failure::Refused(text));
        }
        let entries = losses.entries;
        let names: Vec<String> = (0..graph.node_count()).map(|v| input::label(graph, v)).collect();
        let of = |at: usize| plain::name(graph, accounts[at].observer());
        let most = entries.iter().reduce(|a, b| if b.loss > a.loss { b } else { a });
        let others = of_others(covered, noise, measure)?;
        let mut grades: Vec<Grade> = entries.iter().map(|entry| entry.grade).collect();
        let most_of_all = match (most.map(|entry| entry.loss), others) {
            (Some(seen), Some(bound)) if bound > seen => {
                grades.push(Grade::UpperBound);
                Some(bound)
            }
            (seen, bound) => seen.or(bound),
        };
        let Some(largest) = most_of_all else {
            return Err(Failure::Refused(
                "all users observe together, so that there is nobody to protect".into(),
            ));
        };
        Ok(Accounted {
            noise,
            of_looked_at,
            largest,
            tightest: most.map(|entry| (names[entry.u].clone(), of(entry.observer), entry.loss)),
            odds: right_guesses(covered, &entries, noise).map(words::guesses),
            grades,
            rows: entries
                .iter()
                .map(|entry| {
                    // Without `--graph` the users are no network, so they have no distances.
                    let hops = entry.hops.filter(|_| asked.graph.is_some());
                    (names[entry.u].clone(), of(entry.observer), hops, entry.loss)
                })
                .collect(),
        })
    }
}

/// Trains all runs with this noise; `None` trains without noise.
fn histories(
    problem: &Problem,
    noise: Option<Sigma>,
    asked: &Train,
    progress: &Progress,
) -> Result<Vec<History>, Failure> {
    let one = |run: u16| -> Result<History, Failure> {
        // Each run uses the same random numbers for its walk with noise and without.
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

impl Trained<'_> {
    /// Accuracies in the end, with noise and without.
    fn accuracies(&self) -> (Vec<f64>, Vec<f64>) {
        let last = |histories: &[History]| -> Vec<f64> {
            histories.iter().filter_map(|history| history.last_accuracy).collect()
        };
        (last(&self.private), last(&self.plain))
    }

    /// The accuracy of a model that always gives the same answer.
    fn constant(&self) -> f64 {
        best_constant(self.study.problem.test.labels())
    }

    /// A warning if the trained model is worse than a constant answer, and what may help.
    fn worse_than_a_constant(&self) -> Option<String> {
        let ((private, without), constant) = (self.accuracies(), self.constant());
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len().max(1) as f64;
        if private.is_empty() || mean(&private) > constant {
            return None;
        }
        let standardize = if self.study.asked.standardize { "" } else { "--standardize, " };
        let help = if mean(&without) > constant {
            format!("{standardize}a larger epsilon, fewer steps, more users")
        } else {
            format!(
                "it is no better without noise: {standardize}another step size, more steps, other columns"
            )
        };
        Some(format!(
            "the private model answers no better than always giving the more frequent label ({}); what may help: {help}",
            number(constant)
        ))
    }

    /// Fails if the epsilon asked for is not shown for every observer the question is about.
    fn verdict(&self) -> Result<(), Failure> {
        if self.statement.coverage.is_whole() || self.study.asked.epsilon.is_none() {
            return Ok(());
        }
        Err(Failure::NotMet(format!(
            "the epsilon asked for is not shown at this noise: {}",
            words::shown_for(&self.statement.coverage)
        )))
    }
}

/// The accuracy of a model that gives the same answer to everybody: the better of the two such models.
fn best_constant(labels: &[f64]) -> f64 {
    let positive = labels.iter().filter(|label| **label > 0.0).count() as f64 / labels.len().max(1) as f64;
    positive.max(1.0 - positive)
}
