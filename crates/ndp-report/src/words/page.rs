//! The parts of a page for the person responsible for the data: what is protected, against whom, under which
//! assumptions, and how certain it is.

use super::{Words, by, capital, changes, guesses, number, up};
use crate::page::Page;
use ndp_account::{OwnNoise, Senders, Statement};
use ndp_dp::Grade;
use ndp_numeric::decimal::{Round, percent};

/// The subject of a page.
#[derive(Clone, Debug)]
pub struct Subject<'a> {
    /// Where the graph was read from, and its size in words.
    pub network: String,
    /// Who observes, in a sentence.
    pub observers: &'a str,
    /// Whether the observers know who sent each message.
    pub senders: Senders,
    /// Whether the observers use the noise that they drew themselves.
    pub own_noise: OwnNoise,
    /// How far one node's value may move.
    pub sensitivity: f64,
    /// What may differ: the value of a node, the examples of a user.
    pub protected: &'a str,
    /// The seed of the public random choices.
    pub seed: u64,
}

impl Words<'_> {
    /// What may differ, in words for a [`Subject`].
    #[must_use]
    pub fn protected(self) -> String {
        changes(self.statement)
    }
}

/// What is protected, what is not, and against whom.
#[must_use]
pub fn opening(page: Page, subject: &Subject<'_>) -> Page {
    let mut against = vec![
        format!("What is learnt by {}.", subject.observers),
        "Observers follow the protocol and are curious: they keep all that they receive and combine it in any way, with any computing power."
            .to_owned(),
        "They know the network, the protocol, its public random choices and the amount of noise.".to_owned(),
        "Observers who put together what they see learn more than each of them alone; only those named here are covered.".to_owned(),
    ];
    against.push(match subject.own_noise {
        OwnNoise::Unknown => {
            "They do not use the noise that they drew themselves. A real observer does: this is weaker than what a node could do.".into()
        }
        OwnNoise::Known => "They know the noise that they drew themselves.".into(),
    });
    if subject.senders == Senders::Hidden {
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
        .section("What is not")
        .list(&[
            "The result itself: whoever knows the data of all others may work out the rest from an exact result; the noise that is left in it is all that hides it.",
            "Who takes part and who is connected with whom: both are public.",
            "Several releases together: each run adds to what is known. The command “ndp ledger” adds runs up.",
        ])
        .section("Against whom")
        .list(&against)
}

/// What somebody could conclude at most, in words and as a picture of two bars: blind guesses, and guesses
/// that are right in a share `right` of cases.
#[must_use]
pub fn conclusions(page: Page, right: f64) -> Page {
    let shown = percent(right, 1, Round::Up);
    let width = 300.0 * right.clamp(0.0, 1.0);
    let bar = |y: f64, width: f64, fill: &str, text: &str| {
        format!(
            "<rect x=\"150\" y=\"{y}\" width=\"300\" height=\"18\" fill=\"#eee\"/>\
             <rect x=\"150\" y=\"{y}\" width=\"{width:.1}\" height=\"18\" fill=\"{fill}\"/>\
             <text x=\"456\" y=\"{}\" font-size=\"13\">{text}</text>",
            y + 14.0
        )
    };
    let svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"530\" height=\"60\" viewBox=\"0 0 530 60\">\
         <text x=\"0\" y=\"20\" font-size=\"13\">guessing blindly</text><text x=\"0\" y=\"48\" font-size=\"13\">having seen it all</text>\
         {}{}</svg>",
        bar(6.0, 150.0, "#888", "50 %"),
        bar(34.0, width, "#3b6ea8", &format!("{shown} %"))
    );
    page.section("What one could conclude at most").text(&format!("{}.", capital(&guesses(right)))).picture(
        &svg,
        &format!("Right guesses between two worlds: 50 % blindly, at most {shown} % after the run."),
    )
}

/// The assumptions on which the promise rests.
#[must_use]
pub fn assumptions(page: Page, particular: &[String]) -> Page {
    let mut all: Vec<String> = particular.to_vec();
    all.extend([
        "Every participant carries out the protocol as it is written, and draws its noise from a good source of randomness, anew in every run."
            .to_owned(),
        "Values are kept within the range that the noise was chosen for, before noise is added.".to_owned(),
        "The protocol is run once on these data. Several runs add up: the command “ndp ledger” adds them.".to_owned(),
        "Nothing is said about attacks on computers and networks.".to_owned(),
    ]);
    page.section("Under which assumptions").list(&all)
}

/// What the grade and the failure probability mean.
#[must_use]
pub fn sureness(
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
