//! The parts of a page for the person responsible for the data: what is protected, against whom, under which
//! assumptions, and how certain it is.

use super::{by, capital, guesses, not_known, up};
use crate::page::Page;
use ndp_account::{Changes, OwnNoise, Senders, Statement};
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
    /// How far a number that a node gives may move.
    pub sensitivity: f64,
    /// What a node may give: values and gradients, labels, or either.
    pub gives: Gives,
    /// What may differ: the value of a node, the examples of a user.
    pub protected: &'a str,
    /// Whether that is everything that a node contributes.
    pub is_all_data: bool,
    /// The seed of the public random choices.
    pub seed: u64,
}

/// What a node gives to a protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gives {
    /// Values or gradients, which move by at most the sensitivity.
    Numbers,
    /// Labels, each of which may become any other.
    Labels,
    /// Numbers to one protocol, labels to another.
    Either,
}

impl Gives {
    /// What is given where this may change.
    #[must_use]
    pub fn of(changes: impl IntoIterator<Item = Changes>) -> Self {
        let is_label = |changes| matches!(changes, Changes::Label | Changes::EveryLabel);
        let all: Vec<bool> = changes.into_iter().map(is_label).collect();
        match (all.contains(&true), all.contains(&false)) {
            (true, true) => Self::Either,
            (true, false) => Self::Labels,
            (false, _) => Self::Numbers,
        }
    }
}

/// What is protected, what is not, and against whom.
#[must_use]
pub fn opening(page: Page, subject: &Subject<'_>) -> Page {
    // What observers do not use or know is said in separate sentences below.
    let observers = without_knowledge(subject.observers, subject.own_noise, subject.senders);
    let mut against = vec![
        format!("The numbers are about what is learned by {observers}."),
        "Whoever observes follows the protocol, keeps everything that is received and combines it in any way, with unlimited computing power.".to_owned(),
        "Whoever observes knows the network, the protocol, its public random choices and the amount of noise.".to_owned(),
    ];
    against.push(match subject.own_noise {
        OwnNoise::Unknown => {
            "The noise that an observer drew itself is not used. Real observers use it: this is weaker than what nodes could do.".into()
        }
        OwnNoise::Known => "Each knows the noise that it drew itself; that is counted.".into(),
    });
    if subject.senders == Senders::Hidden {
        against.push("Whoever observes does not know from whom messages come.".into());
    }
    against.push(NOT_COVERED.into());
    against.push(
        "Not covered: whoever sees more than the observers named above, such as the messages of others, or breaks the rules of the protocol."
            .into(),
    );
    let most = subject.sensitivity;
    let moves = match subject.gives {
        Gives::Numbers => format!("what the node gives moves by at most {most}"),
        Gives::Labels => "each label that the node gives may be any other".into(),
        Gives::Either => {
            format!("a number that the node gives moves by at most {most}, and a label may be any other")
        }
    };
    let moves = format!(" Between them, {moves}.");
    let whole = if subject.is_all_data {
        "the data of one participant count as a whole, not the people that they may be about"
    } else {
        "no more of the data of one participant is protected than what is named here"
    };
    page.section("What is protected")
        .text(&format!(
            "Protected is, in {}: {}. Imagine two worlds in which everything else is the same.{moves} What is promised is how hard it is to tell from what is \
             seen which of the two is the real one. The names on this page are those of participants; {whole}.",
            subject.network, subject.protected,
        ))
        .section("What is not")
        .list(&[
            "The result itself is not hidden: whoever knows the data of all others may work out the rest from it, and only the noise that is left in it stands in the way.",
            "Who takes part and who is connected with whom count as known to everybody.",
            "Several runs on the same data together reveal more than this page says. The command “ndp ledger” adds them up.",
        ])
        .section("Against whom")
        .list(&against)
}

/// Whom no number of a page is about.
pub const NOT_COVERED: &str = "Not covered: observers who share with each other what they see, unless they are named as a group above. They can learn more, and no number here says how much.";

/// The observers without the clause of [`not_known`], for pages that say in a separate sentence what
/// observers do not use or know.
///
/// # Examples
/// ```
/// use ndp_account::{OwnNoise, Senders};
/// use ndp_report::words::{not_known, page::without_knowledge};
/// let clause = not_known(OwnNoise::Unknown, Senders::Known);
/// assert_eq!(without_knowledge(&format!("ann{clause}"), OwnNoise::Unknown, Senders::Known), "ann");
/// ```
#[must_use]
pub fn without_knowledge(observers: &str, own_noise: OwnNoise, senders: Senders) -> &str {
    observers.strip_suffix(not_known(own_noise, senders)).unwrap_or(observers)
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
    let average = "This is an average over what may be seen: in a single case more may show, and somebody who knew more beforehand may end up surer.";
    page.section("What one could conclude at most")
        .text(&format!("{}. {average}", capital(&guesses(right))))
        .picture(
            &svg,
            &format!("Right guesses between two worlds that seemed equally likely: 50 % blindly, at most {shown} % after all is seen."),
        )
}

/// The assumptions on which the promise rests.
#[must_use]
pub fn assumptions(page: Page, gives: Gives, particular: &[String]) -> Page {
    let mut all: Vec<String> = particular.to_vec();
    all.push(
        "Every participant carries out the protocol as it is written, and draws its noise from a good source of randomness, anew in every run."
            .to_owned(),
    );
    if gives != Gives::Labels {
        all.push(
            "Values are kept within the range that the noise was chosen for, before noise is added."
                .to_owned(),
        );
    }
    all.extend([
        "The protocol is run once on these data.".to_owned(),
        "Nobody breaks into a computer.".to_owned(),
    ]);
    page.section("Under which assumptions")
        .list(&all)
        .text("Where one of these does not hold, the numbers on this page do not hold.")
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
            "An “exact” number is what its observer can learn under the assumptions above, not less and not more, rounded to the cautious side."
                .to_owned(),
        );
    }
    if grades.contains(&Grade::UpperBound) {
        words.push(
            "An “upper-bound” is proven not to be exceeded under the assumptions above; the truth may be smaller.".to_owned(),
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
