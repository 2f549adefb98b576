//! The parts of what a number is about.

use super::{down, up};
use ndp_account::{Allowed, Assumption, Changes, Law, Noise, OwnNoise, Senders, Statement, Target};
use ndp_dp::{Measure, Moves, Stated};

/// A target.
#[must_use]
pub fn target(target: &Target) -> String {
    target_for(target, None)
}

/// A target; where the limits are those of pairs, with the number of pairs that have one, and of all.
///
/// # Examples
/// ```
/// use ndp_account::Target;
/// use ndp_dp::Measure;
/// use ndp_report::words::{target, target_for};
/// let limits = Target::listed(Measure::Gaussian, [((3, 0), 0.5)]);
/// assert_eq!(target(&limits), "the limits of the file, as Gaussian parameter mu, for the pairs that have a limit");
/// assert!(target_for(&limits, Some((1, 6))).ends_with(", for the 1 of 6 pairs that have a limit"));
/// ```
#[must_use]
pub fn target_for(target: &Target, limited: Option<(usize, usize)>) -> String {
    match &target.allowed {
        Allowed::Worst(loss) => format!("at most {loss} about any node, as {}", target.measure),
        Allowed::Mean(loss) => format!(
            "at most {loss} on average over all nodes, those who observe counted as 0, as {}",
            target.measure
        ),
        _ => {
            let count = limited.map_or_else(String::new, |(limited, all)| format!("{limited} of {all} "));
            format!("the limits of the file, as {}, for the {count}pairs that have a limit", target.measure)
        }
    }
}

/// What may differ in the data of one node; if there are several possibilities, each of them. In several runs
/// together each may allow other differences.
#[must_use]
pub fn changes(statement: &Statement) -> String {
    let each = || statement.changes.iter().map(|&change| change_of(change));
    if statement.runs == 1 || statement.changes.len() < 2 {
        return each().collect::<Vec<_>>().join("; ");
    }
    let which = |(i, change): (usize, &str)| {
        format!("{change}, in {}", if i == 0 { "some of the runs" } else { "others of them" })
    };
    each().enumerate().map(which).collect::<Vec<_>>().join("; ")
}

/// The same for one possibility.
const fn change_of(changes: Changes) -> &'static str {
    match changes {
        Changes::Value => "the value of one node, anywhere in its range",
        Changes::EveryContribution => "everything that one node contributes, each time anywhere in the range",
        Changes::EveryLabel => "every label that one node reports",
        Changes::Label => "the label of one node, the same in each of its reports",
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
        Changes::Declared => {
            "what was declared of one node's data, and no more: some of its uses, or all within bounds or by given multiples"
        }
    }
}

/// The quantity that the number called noise measures.
#[must_use]
pub const fn law(law: Law) -> &'static str {
    match law {
        Law::Gaussian => "standard deviation of Gaussian noise",
        Law::Laplace => "standard deviation of Laplace noise (its scale times the root of 2)",
        Law::DiscreteLaplace => {
            "standard deviation of discrete Laplace noise, on values that are whole numbers (others are not protected)"
        }
        Law::RandomizedResponse => "reciprocal of the epsilon0 of randomized response",
        Law::Own => "standard deviation of the noise",
    }
}

/// The same, with where the noise is added.
#[must_use]
pub fn noise_is(statement: &Statement) -> String {
    let of_one = |noise: &Noise| format!("{}, on {}", law(noise.law), noise.on);
    statement.noise.iter().map(of_one).collect::<Vec<_>>().join("; ")
}

/// A noise in the unit of the values and in its own unit.
#[must_use]
pub fn noise_in_units(sigma: &str, multiplier: &str, statement: &Statement) -> String {
    match statement.noise.first() {
        Some(noise) if noise.law != Law::RandomizedResponse => {
            format!("{sigma} ({multiplier} times {})", noise.unit)
        }
        _ => multiplier.to_owned(),
    }
}

/// What the noise is, as a sentence.
#[must_use]
pub fn noise_in_a_sentence(statement: &Statement) -> String {
    match statement.noise.first() {
        Some(noise) if noise.law != Law::RandomizedResponse => format!(
            "The number called noise is the {}; it is given in the unit of the values and as a multiple of {}.",
            noise_is(statement),
            noise.unit
        ),
        _ => format!("The number called noise is the {}.", noise_is(statement)),
    }
}

/// The theorems by which numbers hold, and where they are computed.
#[must_use]
pub fn by(statement: &Statement) -> String {
    statement.by.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

/// What an account assumes.
#[must_use]
pub const fn assumed(assumption: Assumption) -> &'static str {
    match assumption {
        Assumption::Fixed => {
            "what nodes contribute depends on nothing that they received (declared, not checked)"
        }
        Assumption::ReadsSeen => {
            "what nodes contribute depends only on what the observer has seen (declared without a list, not checked)"
        }
        Assumption::ReadsDeclared => {
            "what nodes contribute depends on nothing that they received except what the protocol says that it reads (declared, not checked)"
        }
        Assumption::ReadsDeclaredOrSeen => {
            "what nodes contribute depends only on what the protocol says that it reads or, where it does not say that, on what the observer has seen (declared, not checked)"
        }
        Assumption::Curator => {
            "the curator or server is trusted: it sees what every node sends to it, without noise unless the node adds its own, keeps to itself whose data it draws, and no number is about what it learns"
        }
        Assumption::SecureSums => "a secure sum shows its receiver the sum, and nobody anything else",
        Assumption::SharedNoise => {
            "a noise that several nodes share, or that is dealt to them, is known to nobody else"
        }
        Assumption::NothingPublished => {
            "nobody hands out what it holds in the end, no result and no model, beyond what the protocol sends"
        }
        Assumption::TheseMeetings => {
            "who meets whom at what time was drawn or given beforehand, whatever the data, and everybody knows it: other draws have other numbers"
        }
        Assumption::RunsFixed => {
            "which runs there are, and how much noise they have, is fixed before the first of them is seen: other runs need a limit that holds for runs chosen by what was seen, or an odometer"
        }
        Assumption::ChosenBySeen => {
            "runs are chosen, and ended, by what the same observer has seen of the earlier ones, and by nothing else that depends on the data; the limit, or what an odometer is tuned to, is fixed before the first run"
        }
        Assumption::ConstantData => {
            "each node contributes a value of its own that stays the same, whatever it received (declared, not checked)"
        }
        Assumption::CommonRange => {
            "the values of all nodes lie in one interval as long as the sensitivity, so that each is hidden among the others (declared, not checked)"
        }
        Assumption::CommonGradients => {
            "at one model the gradients of all nodes are at most the sensitivity apart, as all are whose norm is at most half of it: \
             each is hidden among the others"
        }
    }
}

/// A clause about what observers are assumed not to use or know; empty if they use and know everything.
///
/// # Examples
/// ```
/// use ndp_account::{OwnNoise, Senders};
/// use ndp_report::words::not_known;
/// assert_eq!(not_known(OwnNoise::Known, Senders::Known), "");
/// assert_eq!(not_known(OwnNoise::Unknown, Senders::Known), ", leaving their own noise unused");
/// ```
#[must_use]
pub const fn not_known(own_noise: OwnNoise, senders: Senders) -> &'static str {
    match (own_noise, senders) {
        (OwnNoise::Known, Senders::Known) => "",
        (OwnNoise::Unknown, Senders::Known) => ", leaving their own noise unused",
        (OwnNoise::Known, Senders::Hidden) => ", not knowing from whom messages come",
        (OwnNoise::Unknown, Senders::Hidden) => {
            ", leaving their own noise unused and not knowing from whom messages come"
        }
    }
}

/// What a guarantee of a mechanism alone is about, as a sentence.
///
/// # Examples
/// ```
/// use ndp_dp::{Laplace, Mechanism, Sensitivity};
/// use ndp_report::words::mechanism;
/// let stated = Laplace::new(Sensitivity::new(2.0)?, 3.0)?.stated().ok_or("a mechanism")?;
/// assert_eq!(
///     mechanism(&stated),
///     "Two data sets are compared (those under which the sensitivity was taken) between which a number moves by at most 2; \
///      observed by whoever sees the output of one release. By ndp_dp::Laplace (theory: Accounting)."
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn mechanism(stated: &Stated) -> String {
    let neighbors = stated.neighbors.map_or_else(
        || "those under which the sensitivity was taken".to_owned(),
        |neighbors| neighbors.to_string(),
    );
    // The number as it is stored. Rounded up it would claim more than was proven, and rounded down less.
    let moves = match stated.moves {
        Moves::Vector { by: most } => {
            format!("a vector moves by at most {most} in the Euclidean norm")
        }
        Moves::VectorInUnits => {
            "a vector moves by at most the sensitivity, of which the noise is a multiple, in the Euclidean norm"
                .to_owned()
        }
        Moves::Number { by: most } => format!("a number moves by at most {most}"),
        Moves::Whole { by: most } => format!("a whole number moves by at most {most}"),
        Moves::Label { of } => format!("one of {of} labels is replaced by any other"),
    };
    format!(
        "Two data sets are compared ({neighbors}) between which {moves}; observed by whoever sees the output of one release. By {} \
         (theory: {}).",
        stated.function, stated.theorem
    )
}

/// What the guarantee of one release of a run is about, for a table.
#[must_use]
pub fn one_release(stated: Option<&Stated>) -> String {
    stated.map_or_else(|| "by a mechanism that states nothing by itself".to_owned(), mechanism)
}

/// What is learned at most from a training, as `epsilon` at `delta`.
#[must_use]
pub fn of_training(whom: &str, epsilon: f64, delta: f64) -> String {
    let epsilon = up(epsilon);
    format!(
        "What {whom} learns from one training about any other user is at most epsilon {epsilon} at delta {delta}."
    )
}

/// What is left of a limit in these terms, rounded down. An `ε` that is left is that of a Gaussian release:
/// the epsilons of other releases add up to more.
#[must_use]
pub fn left(least: f64, measure: Measure) -> String {
    let whose = if matches!(measure, Measure::Approx(_)) { ", by a Gaussian release" } else { "" };
    format!("left for every pair that was looked at: at least {}{whose}", down(least))
}
