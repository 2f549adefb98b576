//! What accounts rest on, in words.

use super::assumed;
use ndp_account::{ComparedWith, Dependence, Patterns, RestsOn, SensitivitySet};

/// One thing that numbers rest on, as a sentence without its period.
///
/// # Examples
/// ```
/// use ndp_account::{Dependence, RestsOn};
/// use ndp_report::words::rests_on;
/// assert!(rests_on(&RestsOn::Reads(Dependence::Assumed)).contains("assumed"));
/// ```
#[must_use]
pub fn rests_on(what: &RestsOn) -> String {
    match what {
        RestsOn::Set(set) => changes_in(set),
        RestsOn::Reads(reads) => dependence(*reads).to_owned(),
        RestsOn::Losses => {
            "messages may not reach the observer, and which do depends neither on the data nor on the noises; what the other nodes \
             compute and send is as if all had arrived"
                .to_owned()
        }
        RestsOn::ToldOfAll => "the meter was told of every event".to_owned(),
        RestsOn::Schedule => {
            "the other nodes keep to the public schedule and draw the noises that it says: the node that ran the \
             meter did not check it"
                .to_owned()
        }
        RestsOn::OthersTogether => {
            "all that the node sent and received counts as seen by all other nodes together, whatever the others do; a noise that it \
             does not hold alone counts as known to them"
                .to_owned()
        }
        RestsOn::OwnMessages => {
            "what the node contributes depends on nothing else but what it sent and received".to_owned()
        }
        RestsOn::Norm { most, compared } => {
            let (compared, one) = match compared {
                ComparedWith::Another => ("another of the same kind", 2.0 * most.get()),
                ComparedWith::Zero => ("0", most.get()),
            };
            format!(
                "no contribution has a norm above {}, each is compared with {compared} (length 1 is {one}), and noises are \
                 Gaussian and as large as stated",
                most.get()
            )
        }
        RestsOn::Objective { smoothness, strong_convexity } => {
            let (most, least) = (smoothness.get(), strong_convexity.get());
            let range = if least == most { most.to_string() } else { format!("between {least} and {most}") };
            format!(
                "the loss of every user is convex in the model, with curvature {range} in every direction wherever the model goes"
            )
        }
        RestsOn::DealtOnce { batch, step_size, radius } => {
            format!(
                "users are dealt once, at random, into batches of {batch}, each batch takes part in one round, and nobody learns who was \
                 in which; each step moves the model by {} times the mean gradient and then projects it on a ball of radius {} times the \
                 sensitivity",
                step_size.get(),
                radius.get()
            )
        }
        RestsOn::Holdings => {
            "nodes have what they send, mix, give to a secure sum or end with: assumed, as it does not follow from what they were sent; of these values only those that they send count as known to them".to_owned()
        }
        RestsOn::Assumed(assumption) => assumed(*assumption).to_owned(),
        RestsOn::SameRun => "both logs tell of the same run: said by who merged them".to_owned(),
        RestsOn::SeparateRuns => {
            "the logs tell of separate runs, each with its own noises, and none reads a hidden value of the other: \
             said by who merged them"
                .to_owned()
        }
        RestsOn::PartsOfOneRun => {
            "each of the logs tells every step of its nodes, and what they received before it was used: said by who \
             merged them"
                .to_owned()
        }
        // A variant that this version does not know is shown in its debug form.
        other => format!("{other:?}"),
    }
}

/// What may differ between neighboring inputs, as a sentence without its period.
fn changes_in(set: &SensitivitySet) -> String {
    match set {
        SensitivitySet::UseLevel => {
            "one use of one node's data changes, by a vector of length at most 1 times the sensitivity; its other uses do not change"
                .to_owned()
        }
        SensitivitySet::SameDirection => {
            "all uses of one node's data change by the same vector of length at most 1 times the sensitivity"
                .to_owned()
        }
        SensitivitySet::Along(weights) => {
            format!(
                "the uses of one node's data change by one vector of length at most 1 times the sensitivity, each times its factor of {weights:?}"
            )
        }
        SensitivitySet::Signs => {
            "every use of one node's data changes by a number of size at most 1 times the sensitivity"
                .to_owned()
        }
        SensitivitySet::Vectors { dimension } => {
            format!(
                "every use of one node's data changes by a vector of length at most 1 times the sensitivity in dimension {dimension}"
            )
        }
        SensitivitySet::Patterns { patterns, within } => {
            let which = match patterns {
                Patterns::Cyclic { period } => format!("only every {period}-th use changes"),
                Patterns::Separated { gap } => format!("only uses at least {gap} apart change"),
                Patterns::Listed(listed) => format!("only the uses of one of {listed:?} change"),
            };
            format!("{which}: {}", changes_in(within))
        }
        SensitivitySet::Bounded { bounds, within } => {
            format!("{}; every use times its bound of {bounds:?}", changes_in(within))
        }
    }
}

/// The same about a program in which nodes use their data up to `uses` times: whether that is less than all
/// their data.
///
/// # Examples
/// ```
/// use ndp_account::SensitivitySet;
/// use ndp_report::words::changes_of_uses;
/// let less = |uses| changes_of_uses(&SensitivitySet::SameDirection, uses).ends_with("less than all its data");
/// assert!(less(2) && !less(1));
/// assert!(!changes_of_uses(&SensitivitySet::Signs, 2).contains("less"));
/// ```
#[must_use]
pub fn changes_of_uses(set: &SensitivitySet, uses: usize) -> String {
    let less = match set {
        SensitivitySet::UseLevel | SensitivitySet::SameDirection | SensitivitySet::Along(_) => uses > 1,
        SensitivitySet::Patterns { .. } => true,
        _ => false,
    };
    let what = changes_in(set);
    if less { format!("{what}: as declared, and less than all its data") } else { what }
}

/// What contributions were taken to depend on, as a sentence without its period.
const fn dependence(reads: Dependence) -> &'static str {
    match reads {
        Dependence::Fixed => {
            "contributions depend on nothing but their owners' data, as the program declares"
        }
        Dependence::Checked => {
            "contributions depend only on what the program says that they read; it was checked that the observer has seen all of it, except earlier contributions of the same node"
        }
        Dependence::Assumed => {
            "contributions depend on nothing else but what the observer has seen: assumed, as the program does not \
             say what they read"
        }
        Dependence::Revealed => {
            "contributions depend on values that the observer does not see; the account shows it these values"
        }
        Dependence::RevealedAndAssumed => {
            "contributions depend on values that the observer does not see, and the account shows it these values; those \
             of which the program does not say what they read depend on nothing else but what the observer has seen, \
             which is assumed"
        }
    }
}
