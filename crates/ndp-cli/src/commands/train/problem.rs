//! What a training is about: a table, dealt to users.

use crate::args::{GraphInput, Train, Weights};
use crate::errors::Failure;
use crate::input;
use ndp_algos::registry::{self, Parameters};
use ndp_algos::sgd::privacy::DataBounds;
use ndp_algos::sgd::{
    Dataset, Deal, Domain, Linear, LinearLoss, Objective, Table, TableOptions, Training, Users,
};
use ndp_graph::{GossipMatrix, Graph, generators};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// What is trained, on what, and how.
pub(super) struct Problem {
    pub(super) objective: Linear,
    pub(super) users: Users,
    /// Number of users.
    pub(super) count: usize,
    /// Examples of every user.
    pub(super) per_user: usize,
    pub(super) test: Dataset,
    pub(super) training: Training,
    pub(super) domain: Domain,
    /// An upper bound on the distance between the gradients of two users.
    pub(super) sensitivity: f64,
    /// The two values of the label, and which numbers replace them if they were not -1 and 1.
    pub(super) classes: String,
}

/// The examples, dealt to users, and how they are trained on.
pub(super) fn problem(asked: &Train) -> Result<(Graph, Problem), Failure> {
    let bytes = input::bytes(&asked.table)?;
    let refused = |error: ndp_account::Error| {
        let hint = match error.carried() {
            Some(ndp_algos::Error::Csv { problem, .. }) if problem.contains("') is no number") => {
                "; --without leaves a column out"
            }
            Some(ndp_algos::Error::Csv { problem, .. }) if problem.contains("no column is named") => {
                "; --label names that of the label, --separator what stands between columns"
            }
            _ => "",
        };
        Failure::Refused(format!("{}: {error}{hint}", asked.table.display()))
    };
    let options = TableOptions {
        label: asked.label.clone(),
        without: asked.without.clone(),
        separator: asked.separator,
    };
    let table = Table::read(&bytes[..], &options).map_err(refused)?;
    let (data, classes) =
        two_classes(table).map_err(|why| Failure::Refused(format!("{}: {why}", asked.table.display())))?;
    let data = if asked.standardize { data.standardized().map_err(refused)? } else { data };
    let data = data.with_unit_rows();
    if !(0.0 < asked.test && asked.test < 1.0) {
        return Err(Failure::Usage(format!("--test must lie strictly between 0 and 1, got {}", asked.test)));
    }
    let rng = &mut ChaCha8Rng::seed_from_u64(asked.seed);
    let (train, test) = data
        .stratified_split(super::super::count((asked.test * data.labels().len() as f64).round()), rng)
        .map_err(refused)?;
    let graph = match &asked.graph {
        Some(file) => {
            let of_file = GraphInput::of(file.clone());
            input::graph(&GraphInput { largest_component: asked.largest_component, ..of_file })?
        }
        // Without `--graph` only the number of users matters; a path stands for them.
        None => generators::path_graph(asked.users.unwrap_or((train.labels().len() / 10).clamp(2, 1000)))?,
    };
    let count = graph.node_count();
    let users = Users::deal(&train, count, Deal::Random, rng).map_err(refused)?;
    let per_user = train.labels().len() / count;
    let (name, parameters) = asked.protocol.split_once(':').unwrap_or((&asked.protocol, ""));
    let parameters: Parameters = parameters.parse()?;
    let matrix: GossipMatrix = input::matrix(&graph, Weights::Metropolis)?;
    let training = registry::training(name, &matrix, &parameters)?;
    if asked.graph.is_none() && training.has_places() {
        return Err(Failure::Usage(format!("{name} trains on a network: --graph FILE")));
    }
    if matches!(training, Training::Local { .. }) {
        return Err(Failure::Usage("local-sgd has an account but no training here".into()));
    }
    let domain = match &training {
        Training::Federated(run) => run.domain,
        _ => Domain::Unbounded,
    };
    let objective =
        Linear { l2: asked.ridge, intercept: asked.intercept, ..Linear::from(LinearLoss::Logistic) };
    objective.check(&train)?;
    let bounds = DataBounds::default();
    let sensitivity = objective.constants(bounds.feature_norm, bounds.label_size, domain).sensitivity;
    bounds.check(&train)?;
    Ok((graph, Problem { objective, users, count, per_user, test, training, domain, sensitivity, classes }))
}

/// The same examples with labels -1 and 1, and the meaning of these labels.
fn two_classes(table: Table) -> Result<(Dataset, String), String> {
    let data = table.data;
    if let Some([low, high]) = table.classes {
        return Ok((data, format!("{low} (as -1) against {high} (as 1)")));
    }
    let mut values: Vec<f64> = data.labels().to_vec();
    values.sort_by(f64::total_cmp);
    values.dedup();
    let [low, high] = values[..] else {
        return Err(format!("the label must have two values, it has {}", values.len()));
    };
    let labels = data.labels().iter().map(|&y| if y == low { -1.0 } else { 1.0 }).collect();
    let data = Dataset::new(data.features().to_owned(), labels).map_err(|error| error.to_string())?;
    let classes = if (low, high) == (-1.0, 1.0) {
        "-1 against 1".into()
    } else {
        format!("{low} (as -1) against {high} (as 1)")
    };
    Ok((data, classes))
}
