//! What a page says beside the words of its statement: the network, the protocol, the command. Words about
//! privacy are those of `ndp_report::words`.

use crate::args::Knowledge;
use crate::output::command_line;
use ndp_account::{Law, Observer, OwnNoise, Senders, Statement};
use ndp_algos::registry::{self, Parameters};
use ndp_graph::Graph;
use ndp_report::page::Page;
use ndp_report::words::{Words, capital};
pub(crate) use ndp_report::words::{
    assumed, by, changes, law, measure, noise_in_a_sentence, noise_in_units, noise_is,
    page::{Gives, Subject, assumptions, opening, sureness},
    rests_on, unknown,
};
use std::collections::{BTreeMap, BTreeSet};

/// The size of a network.
pub(crate) fn network(file: &std::path::Path, graph: &Graph) -> String {
    let name =
        file.file_name().map_or_else(|| "standard input".into(), |name| name.to_string_lossy().into_owned());
    let name = if name == "-" { "standard input".into() } else { name };
    format!("the network of {name} with {} nodes and {} edges", graph.node_count(), graph.edge_count())
}

/// What a statement rests on and assumes, as rows of a summary.
pub(crate) fn granted(statement: &Statement) -> Vec<(&'static str, String)> {
    let rests_on = statement.rests_on.iter().map(|what| ("rests on", rests_on(what)));
    rests_on.chain(statement.assumes.iter().map(|&what| ("assumed", assumed(what).into()))).collect()
}

/// The same in sentences.
pub(crate) fn granted_in_sentences(statement: &Statement) -> impl Iterator<Item = String> {
    granted(statement).into_iter().map(|(_, what)| format!("{}.", capital(&what)))
}

/// Which noises several statements mean, each with the name of its protocol; with the names where not all say
/// the same.
pub(crate) fn noises_of<'a>(statements: impl IntoIterator<Item = (&'a str, &'a Statement)>) -> Vec<String> {
    let mut noises = BTreeMap::<String, BTreeSet<&str>>::new();
    for (name, statement) in statements {
        for noise in &statement.noise {
            noises.entry(law(noise.law).into()).or_default().insert(name);
        }
    }
    several("noise", &noises)
}

/// What several statements take for granted, with the names likewise.
pub(crate) fn assumed_by<'a>(
    statements: impl IntoIterator<Item = (&'a str, &'a Statement)>,
) -> impl Iterator<Item = String> {
    let mut assumes = BTreeMap::<String, BTreeSet<&str>>::new();
    for (name, statement) in statements {
        for (_, what) in granted(statement) {
            assumes.entry(what).or_default().insert(name);
        }
    }
    assumes.into_iter().map(|(text, of)| format!("assumed of {}: {text}", joined(&of)))
}

/// What may change, with the names likewise.
pub(crate) fn changes_of<'a>(statements: impl IntoIterator<Item = (&'a str, &'a Statement)>) -> Vec<String> {
    let mut changes = BTreeMap::<String, BTreeSet<&str>>::new();
    for (name, statement) in statements {
        changes.entry(self::changes(statement)).or_default().insert(name);
    }
    several("what may change", &changes)
}

fn several(what: &str, said: &BTreeMap<String, BTreeSet<&str>>) -> Vec<String> {
    let named = |of| if said.len() == 1 { String::new() } else { format!(" ({})", joined(of)) };
    said.iter().map(|(text, of)| format!("{what}: {text}{}", named(of))).collect()
}

fn joined(names: &BTreeSet<&str>) -> String {
    names.iter().copied().collect::<Vec<_>>().join(", ")
}

/// Lets `say` put a statement into words, with the labels of this graph.
pub(crate) fn in_words<T>(statement: &Statement, graph: &Graph, say: impl FnOnce(Words<'_>) -> T) -> T {
    say(Words::new(statement, &|v| crate::input::label(graph, v)))
}

/// Who observes, as a cell of a table.
pub(crate) fn observed_by(statement: &Statement, graph: &Graph) -> String {
    in_words(statement, graph, |words| words.observed_by())
}

/// The observers whom a statement covers, as the subject of a sentence.
pub(crate) fn whom(statement: &Statement, graph: &Graph) -> String {
    in_words(statement, graph, |words| words.whom())
}

/// What observers know of senders and of their own noise.
pub(crate) const fn knows(knowledge: &Knowledge) -> (Senders, OwnNoise) {
    let senders = if knowledge.hidden_senders { Senders::Hidden } else { Senders::Known };
    (senders, if knowledge.without_own_noise { OwnNoise::Unknown } else { OwnNoise::Known })
}

/// What is protected where several protocols are given different things.
pub(crate) const OF_EACH_PROTOCOL: &str = "what one node gives to each protocol, as the list below says";

/// The subject of a page: the network, who observes and what they know, what is protected, the unit of the
/// noise.
pub(crate) fn subject<'a>(
    network: String,
    (observers, knowledge): (&'a str, &Knowledge),
    (protected, is_all_data): (&'a str, bool),
    (sensitivity, gives): (f64, Gives),
) -> Subject<'a> {
    let (senders, own_noise) = knows(knowledge);
    Subject {
        network,
        observers,
        senders,
        own_noise,
        sensitivity,
        gives,
        protected,
        is_all_data,
        seed: knowledge.seed,
    }
}

/// Whether the numbers of a meter remain valid when the run is stopped because of what was seen.
pub(crate) const fn stopping(limited: bool) -> &'static str {
    if limited {
        "a limit that was fixed before the run holds whenever the run ends, and for steps that are chosen by what the \
         same observer saw; a number below it holds for a run whose length and steps were fixed in advance"
    } else {
        "the numbers hold for a run whose length and steps were fixed in advance, not for one that is ended because \
         of what was seen: that takes a limit"
    }
}

/// Adds the section about how to check the page.
pub(crate) fn provenance(page: Page, seed: u64) -> Page {
    page.section("How to check this")
        .text(&format!(
            "The program ndp {} and the files that the command below names give these numbers again (seed {seed}). That shows where they \
             come from; it does not show that a system follows the protocol. As a further check, “ndp audit” attacks simulated runs of the \
             protocol and compares what it finds with what is promised; an attack that finds nothing proves nothing. For gossip, \
             masks, secure sums and D-SGD with fixed=1 (no walks, no other trainings), “ndp prove” writes a file with which a short program that \
             shares nothing with ndp checks the losses.",
            env!("CARGO_PKG_VERSION")
        ))
        .code(&command_line())
}

/// The sentence of the registry about a protocol given as `name` or `name:parameters`, with the values of all
/// its parameters where they are known.
pub(crate) fn about(protocol: &str, parameters: &Parameters) -> Option<String> {
    let name = protocol.split(':').next().unwrap_or(protocol);
    let with = if parameters.0.is_empty() { String::new() } else { format!("; {parameters}") };
    registry::find(name).ok().map(|entry| format!("{} ({name}{with}).", capital(entry.about)))
}

/// The values of all parameters of several protocols.
pub(crate) fn parameters_of<'a>(
    protocols: impl IntoIterator<Item = (&'a str, &'a Parameters)>,
) -> Option<String> {
    let with = |(name, parameters): (&str, &Parameters)| {
        (!parameters.0.is_empty()).then(|| format!("{} {parameters}", name.split(':').next().unwrap_or(name)))
    };
    let all: Vec<String> = protocols.into_iter().filter_map(with).collect();
    (!all.is_empty()).then(|| format!("parameters: {}", all.join("; ")))
}

/// The name of one observer, or the names of a coalition.
pub(crate) fn name(graph: &Graph, observer: &Observer) -> String {
    let label = |v: usize| crate::input::label(graph, v);
    let who = match observer.members() {
        [] => "outsider".into(),
        members => members.iter().map(|&v| label(v)).collect::<Vec<_>>().join("+"),
    };
    let both = |&(a, b): &(usize, usize)| (a.min(b), a.max(b));
    let tapped: BTreeSet<_> = observer.tapped.iter().map(both).collect();
    if tapped.is_empty() {
        return who;
    }
    let edges: Vec<String> = tapped.into_iter().map(|(a, b)| format!("{}-{}", label(a), label(b))).collect();
    format!("{who} hearing {}", edges.join(", "))
}

/// What the number in a run `protocol@number` of a ledger measures.
pub(crate) fn noise_after_at(statement: &Statement) -> String {
    match statement.noise.first() {
        Some(noise) if noise.law != Law::RandomizedResponse => {
            format!("in units of {}: {}", noise.unit, noise_is(statement))
        }
        _ => noise_is(statement),
    }
}

/// How far a value may move, after a heading, where it is not by 1.
pub(crate) fn range(sensitivity: f64) -> String {
    if sensitivity == 1.0 { String::new() } else { format!("; a value moves by at most {sensitivity}") }
}

/// The name of the law of the noise; empty where there is none.
pub(crate) fn law_of_noise(statement: &Statement) -> String {
    let name = |law| Some(serde_json::to_value(law).ok()?.as_str()?.to_owned());
    statement.noise.first().and_then(|noise| name(noise.law)).unwrap_or_default()
}
