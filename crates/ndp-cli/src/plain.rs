//! Answers in plain words, for whoever answers for the data.

use crate::output::{command_line, number, up};
use crate::question::Chosen;
use ndp_account::{Account, Assumption, Changes, Coverage, Law, Noise, Observer, Statement};
use ndp_algos::registry;
use ndp_dp::{Grade, Measure, NoiseMultiplier};
use ndp_graph::Graph;
use ndp_report::page::Page;

/// What a page is about.
pub(crate) struct Subject<'a> {
    /// Where the graph was read from, and its size in words.
    pub(crate) network: String,
    /// Who observes, in a sentence.
    pub(crate) observers: &'a str,
    pub(crate) hidden_senders: bool,
    pub(crate) without_own_noise: bool,
    /// How far one node's value may move.
    pub(crate) sensitivity: f64,
    /// What may differ: the value of a node, the examples of a user.
    pub(crate) protected: &'a str,
    pub(crate) seed: u64,
}

/// The size of a network.
pub(crate) fn network(file: &std::path::Path, graph: &Graph) -> String {
    let name =
        file.file_name().map_or_else(|| "standard input".into(), |name| name.to_string_lossy().into_owned());
    let name = if name == "-" { "standard input".into() } else { name };
    format!("the network of {name} with {} nodes and {} edges", graph.node_count(), graph.edge_count())
}

/// What of one node's data may differ; of several, each.
pub(crate) fn changes(statement: &Statement) -> String {
    statement.changes.iter().map(|&change| change_of(change)).collect::<Vec<_>>().join("; ")
}

/// The same of one.
pub(crate) const fn change_of(changes: Changes) -> &'static str {
    match changes {
        Changes::Value => "the value of one node, anywhere in its range",
        Changes::EveryContribution => "everything that one node contributes, each time anywhere in the range",
        Changes::EveryLabel => "every label that one node reports",
        Changes::EveryGradient => {
            "all data of one node: each of its gradients moves by at most the sensitivity, in any direction"
        }
        Changes::GradientsAlike => {
            "all gradients of one node by the same vector: as declared, and less than all its data, which may move them differently"
        }
        Changes::OneUse => {
            "one use of one node's data, its other uses unchanged: as declared, and less than all its data"
        }
        Changes::UsesAlike => {
            "all uses of one node's data by the same vector: as declared, and less than all its data, which may move them differently"
        }
        Changes::EveryNumber => {
            "all uses of one node's data, each a number that moves by at most the sensitivity"
        }
    }
}

/// What the number that is called noise measures.
pub(crate) const fn law(law: Law) -> &'static str {
    match law {
        Law::Gaussian => "standard deviation of Gaussian noise",
        Law::Laplace => "standard deviation of Laplace noise (its scale times the root of 2)",
        Law::DiscreteLaplace => "standard deviation of discrete Laplace noise, of whole numbers",
        Law::RandomizedResponse => "reciprocal of the epsilon0 of randomized response",
        Law::Own => "standard deviation of the noise",
    }
}

/// The same, with where the noise is added.
pub(crate) fn noise_is(statement: &Statement) -> String {
    let of_one = |noise: &Noise| format!("{}, on {}", law(noise.law), noise.on);
    statement.noise.iter().map(of_one).collect::<Vec<_>>().join("; ")
}

/// A noise in the unit of the values and in its own unit.
pub(crate) fn noise_in_units(sigma: &str, multiplier: &str, statement: &Statement) -> String {
    match statement.noise.first() {
        Some(noise) if noise.law != Law::RandomizedResponse => {
            format!("{sigma} ({multiplier} times {})", noise.unit)
        }
        _ => multiplier.to_owned(),
    }
}

/// By which theorems numbers hold, and where they are computed.
pub(crate) fn by(statement: &Statement) -> String {
    statement.by.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

/// What an account takes for granted.
pub(crate) const fn assumed(assumption: Assumption) -> &'static str {
    match assumption {
        Assumption::Fixed => {
            "what nodes contribute depends on nothing that they received (declared, not checked)"
        }
        Assumption::ReadsSeen => {
            "what nodes contribute depends only on what the observer has seen (declared without a list, not checked)"
        }
    }
}

/// The same as a sentence.
pub(crate) fn assumed_in_a_sentence(assumption: Assumption) -> String {
    format!("{}.", capital(assumed(assumption)))
}

/// What the noise is, as a sentence.
pub(crate) fn noise_in_a_sentence(statement: &Statement) -> String {
    match statement.noise.first() {
        Some(noise) if noise.law != Law::RandomizedResponse => format!(
            "The number called noise is the {}; it is given in the unit of the values and as a multiple of {}.",
            noise_is(statement),
            noise.unit
        ),
        _ => format!("The number called noise is the {}.", noise_is(statement)),
    }
}

/// By whom it was observed, for a table.
pub(crate) fn observed_by(coverage: &Coverage, chosen: &Chosen) -> String {
    match coverage {
        Coverage::Named { .. } => chosen.description.clone(),
        other => other.to_string(),
    }
}

/// Who learns no more than a sentence says.
pub(crate) fn whom(coverage: &Coverage, chosen: &Chosen) -> String {
    match coverage {
        Coverage::Named { observers: 1 } => chosen.description.clone(),
        Coverage::Named { observers } => format!("any one of the {observers} observers named"),
        Coverage::Sample { looked_at, nodes, .. } => {
            format!("any one of the {looked_at} nodes that were looked at, of {nodes},")
        }
        Coverage::All { nodes } | Coverage::Alike { nodes } | Coverage::Bounded { nodes, .. } => {
            format!("any one of {nodes} nodes")
        }
        other => other.to_string(),
    }
}

/// What is not known of those who are not covered; nothing to say where everybody is.
pub(crate) fn unknown(coverage: &Coverage) -> Option<String> {
    match coverage {
        Coverage::Sample { looked_at, nodes, .. } => Some(format!(
            "Nothing is shown about what the other {} nodes learn.",
            nodes.saturating_sub(*looked_at)
        )),
        _ => None,
    }
}

/// What is protected, against whom, under which assumptions.
pub(crate) fn opening(page: Page, subject: &Subject<'_>) -> Page {
    let mut against = vec![
        format!("What is learnt by {}.", subject.observers),
        "Observers follow the protocol and are curious: they keep all that they receive and combine it in any way, with any computing power."
            .to_owned(),
        "They know the network, the protocol, its public random choices and the amount of noise.".to_owned(),
        "Observers who put together what they see learn more than each of them alone; only those named here are covered.".to_owned(),
    ];
    against.push(if subject.without_own_noise {
        "They do not use the noise that they drew themselves. A real observer does: this is weaker than what a node could do.".into()
    } else {
        "They know the noise that they drew themselves.".into()
    });
    if subject.hidden_senders {
        against.push("They do not know from whom messages come.".into());
    }
    let moves = if subject.sensitivity == 1.0 {
        String::new()
    } else {
        format!(" A value moves by at most {}.", number(subject.sensitivity))
    };
    page.section("What is protected")
        .text(&format!(
            "{} in {}. Two worlds are compared that differ in this alone.{moves} What is promised is how hard they are to tell apart.",
            capital(subject.protected),
            subject.network,
        ))
        .section("Against whom")
        .list(&against)
}

/// What must be so for the promise to hold.
pub(crate) fn assumptions(page: Page, particular: &[String]) -> Page {
    let mut all: Vec<String> = particular.to_vec();
    all.extend([
        "Every participant carries out the protocol as it is written, and draws its noise from a good source of randomness, anew in every run."
            .to_owned(),
        "Values are kept within the range that the noise was chosen for, before noise is added.".to_owned(),
        "The protocol is run once on these data. Several runs add up: the command “ndp ledger” adds them.".to_owned(),
        "Who takes part and who is connected with whom is public, and is not protected.".to_owned(),
        "Nothing is said about what the result itself tells people who know the rest of the data, nor about attacks on computers and networks."
            .to_owned(),
    ]);
    page.section("Under which assumptions").list(&all)
}

/// What the grade and the failure probability mean.
pub(crate) fn sureness(
    page: Page,
    grades: &[Grade],
    (failure, statement): (f64, Option<&Statement>),
    notes: &[String],
) -> Page {
    let mut words = Vec::new();
    if grades.contains(&Grade::Exact) {
        words.push(
            "“exact” numbers equal what the observer can learn, up to rounding that goes against the protocol: nobody can learn more, \
             and somebody can learn as much."
                .to_owned(),
        );
    }
    if grades.contains(&Grade::UpperBound) {
        words.push(
            "“upper-bound” numbers are proven not to be exceeded; the truth may be smaller.".to_owned(),
        );
    }
    words.push(if failure == 0.0 {
        "The calculation itself uses no random numbers that could make it wrong.".to_owned()
    } else {
        format!(
            "The calculation draws random numbers of its own; the probability that one of its results is too small is at most {}.",
            up(failure)
        )
    });
    words.extend(notes.iter().map(|note| format!("{}.", capital(note))));
    if let Some(statement) = statement {
        words.push(format!(
            "The theorems behind the numbers, and the functions that compute them: {}.",
            by(statement)
        ));
    }
    page.section("How sure this is").list(&words)
}

/// How one could check the page.
pub(crate) fn provenance(page: Page, seed: u64) -> Page {
    page.section("How to check this")
        .text(&format!(
            "Everything on this page was computed by ndp {} with the command below and the seed {seed}; the same command gives the same \
             numbers. `ndp audit` attacks real runs of the protocol and compares what it finds with what is promised.",
            env!("CARGO_PKG_VERSION")
        ))
        .code(&command_line())
}

/// What a loss means for somebody who guesses; `None` where nothing can be said.
pub(crate) fn odds(account: &dyn Account, u: usize, noise: NoiseMultiplier) -> Option<String> {
    // At ε = 0 what is left is the total variation, and (1 + TV)/2 the best guess between two worlds.
    let apart =
        account.profile(u, noise).and_then(|profile| Ok(profile.delta(0.0)?)).ok()?.into_value().delta();
    // Up to the next tenth of a percent.
    let percent = (500.0 * (1.0 + apart)).ceil() / 10.0;
    Some(format!(
        "somebody who thinks two worlds equally likely, and sees all that the observer sees, guesses the right one in at most \
         {percent:.1} % of cases; guessing blindly is right in 50 %"
    ))
}

/// A measure in plain words.
pub(crate) fn measure(measure: Measure) -> String {
    match measure {
        Measure::Approx(delta) => format!(
            "Losses are stated as epsilon at delta {}: whatever is seen, and whatever is made of it, is at most e^epsilon times as likely in \
             one world as in the other, plus {0}.",
            delta.get()
        ),
        Measure::Gaussian => {
            "Losses are stated as mu: the two worlds are as hard to tell apart as two normal laws of variance 1 whose means are mu apart."
                .into()
        }
        other => format!("Losses are stated as {other}, in nats; 0 means that nothing is learnt."),
    }
}

/// The sentence of the registry about a protocol given as `name` or `name:parameters`.
pub(crate) fn about(protocol: &str) -> Option<String> {
    let name = protocol.split(':').next().unwrap_or(protocol);
    registry::find(name).ok().map(|entry| format!("{} ({name}).", capital(entry.about)))
}

/// One observer as one names it.
pub(crate) fn name(graph: &Graph, observer: &Observer) -> String {
    match observer.members() {
        [] => "outsider".into(),
        members => members.iter().map(|&v| crate::input::label(graph, v)).collect::<Vec<_>>().join("+"),
    }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
