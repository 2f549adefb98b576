//! Answers in plain words, for whoever answers for the data.

use crate::output::{command_line, number, up};
use ndp_algos::accountant::{Account, Observer};
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
    /// What is protected: the value of a node, the examples of a user.
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

/// What is protected, against whom, under which assumptions.
pub(crate) fn opening(page: Page, subject: &Subject<'_>) -> Page {
    let mut against = vec![
        format!("Looked at: what is learnt by {}.", subject.observers),
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
    page.section("What is protected")
        .text(&format!(
            "{} in {}. Two worlds are compared that differ in this alone: {}. What is promised is how hard they are to tell apart.",
            capital(subject.protected),
            subject.network,
            if subject.sensitivity == 1.0 {
                "it is replaced by any other that is allowed".to_owned()
            } else {
                format!("it moves by at most {}", number(subject.sensitivity))
            }
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
pub(crate) fn sureness(page: Page, grades: &[Grade], failure: f64, notes: &[String]) -> Page {
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
