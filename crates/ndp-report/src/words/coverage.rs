//! Coverages in words.

use ndp_account::{Among, Check, Coverage, Rest};
use ndp_dp::{Grade, Verdict};

/// Which observers are covered, and how.
///
/// # Examples
/// ```
/// use ndp_account::Coverage;
/// use ndp_report::words::coverage;
/// let sample = coverage(&Coverage::Sample { looked_at: 16, nodes: 744, seed: Some(0) });
/// assert!(sample.starts_with("16 of 744 nodes drawn at random") && sample.contains("nothing is shown about what the others learn"));
/// ```
#[must_use]
pub fn coverage(coverage: &Coverage) -> String {
    let drawn = |seed: Option<u64>| {
        seed.map_or_else(|| "chosen".into(), |seed| format!("drawn at random (seed {seed})"))
    };
    match coverage {
        Coverage::Named { observers: 1 } => "the observer named".into(),
        Coverage::Named { observers } => format!("the {observers} observers named"),
        Coverage::All { nodes } => format!("every one of {nodes} nodes alone"),
        Coverage::Alike { nodes } => {
            format!("every one of {nodes} nodes alone, by a result that is the same whoever observes")
        }
        Coverage::Symmetric { looked_at, nodes } => format!(
            "every one of {nodes} nodes alone: {looked_at} looked at, the others by symmetries of the protocol, each checked exactly"
        ),
        Coverage::Grouped { looked_at, groups, nodes } => format!(
            "every one of {nodes} nodes alone: {looked_at} chosen and looked at, the others bounded by what groups of them would learn \
             together ({groups} looked at)"
        ),
        Coverage::Bounded { looked_at: 0, nodes, .. } => format!(
            "every one of {nodes} nodes alone, by a bound that holds whoever observes and that one of them is proven to reach"
        ),
        Coverage::Bounded { looked_at, nodes, seed } => format!(
            "every one of {nodes} nodes alone: {looked_at} {} and looked at, the others by a bound that holds whoever observes",
            drawn(*seed)
        ),
        Coverage::Sample { looked_at, nodes, seed } => format!(
            "{looked_at} of {nodes} nodes {}, each alone; nothing is shown about what the others learn",
            drawn(*seed)
        ),
        Coverage::Coalitions { size, among: among @ Among::Neighbors, nodes, looked_at, rest } => {
            let who = coalition(*size, *among, *nodes);
            match rest {
                Rest::None | Rest::Symmetric => format!(
                    "every coalition of at most {who}: {looked_at} looked at, of which all others are a part"
                ),
                Rest::Bounded => format!(
                    "every coalition of at most {who}: {looked_at} chosen and looked at, all others by a bound that holds whoever observes"
                ),
                Rest::Unknown => format!(
                    "{looked_at} coalitions of {who}, chosen; nothing is shown about what the others learn"
                ),
            }
        }
        Coverage::Coalitions { size, nodes, looked_at, rest, .. } => match rest {
            Rest::None => format!(
                "every coalition of at most {size} of {nodes} nodes: each of the {looked_at} of exactly {size} looked at, of which \
                 smaller ones are a part"
            ),
            Rest::Symmetric => format!(
                "every coalition of at most {size} of {nodes} nodes: {looked_at} of exactly {size} looked at, the others of that size \
                 by symmetries of the protocol, each checked exactly; smaller ones are a part of one of them"
            ),
            Rest::Bounded => format!(
                "every coalition of at most {size} of {nodes} nodes: {looked_at} of exactly {size} chosen and looked at, all others by a \
                 bound that holds whoever observes"
            ),
            Rest::Unknown => format!(
                "{looked_at} coalitions of {size} of {nodes} nodes, chosen; nothing is shown about what the others learn"
            ),
        },
        other => other.in_short(),
    }
}

/// The hint to add if looking at more nodes could show more.
pub const LOOK_AT_ALL: &str = "; --all looks at everybody";

/// What a limit is shown for where this is less than was asked, and what could show more.
///
/// # Examples
/// ```
/// use ndp_account::Coverage;
/// use ndp_report::words::shown_for;
/// assert_eq!(
///     shown_for(&Coverage::Sample { looked_at: 16, nodes: 744, seed: Some(0) }),
///     "16 of 744 nodes drawn at random (seed 0), each alone; nothing is shown about what the others learn; --all looks at everybody"
/// );
/// ```
#[must_use]
pub fn shown_for(covered: &Coverage) -> String {
    let more = if matches!(covered, Coverage::Sample { .. }) { LOOK_AT_ALL } else { "" };
    coverage(covered) + more
}

/// A coalition of this size, and the nodes of which it is made.
#[must_use]
pub fn coalition(size: usize, among: Among, nodes: usize) -> String {
    match among {
        Among::Everybody => format!("{size} of {nodes} nodes"),
        Among::Neighbors => format!("{size} of {nodes} nodes that are neighbors of one node"),
    }
}

/// What is not known about observers that are not covered; `None` if all are covered.
#[must_use]
pub fn unknown(coverage: &Coverage) -> Option<String> {
    match coverage {
        Coverage::Sample { looked_at, nodes, .. } => Some(format!(
            "Nothing is shown about what the other {} nodes learn.",
            nodes.saturating_sub(*looked_at)
        )),
        Coverage::Coalitions { rest: Rest::Unknown, .. } => {
            Some("Nothing is shown about what the other coalitions learn.".to_owned())
        }
        _ => None,
    }
}

/// The grade of the result for the observers looked at, and of the bound that covers the others.
#[must_use]
pub fn grade(grade: Grade, coverage: &Coverage) -> String {
    match coverage {
        Coverage::Coalitions { looked_at: 0, .. } => Grade::UpperBound.to_string(),
        Coverage::Bounded { looked_at: 0, .. } if grade == Grade::Exact => {
            format!("{grade} for the largest loss, {} for the others", Grade::UpperBound)
        }
        Coverage::Bounded { .. }
        | Coverage::Grouped { .. }
        | Coverage::Coalitions { rest: Rest::Bounded, .. }
            if grade == Grade::Exact =>
        {
            format!("{grade} for those looked at, {} for the others", Grade::UpperBound)
        }
        _ => grade.to_string(),
    }
}

/// Why a limit is not met: of the pairs or observers looked at, as `what` says, the bounds of
/// `check.exceeding` exceed it, and `check.violating` are proven to.
#[must_use]
pub fn not_met(check: &Check, what: &str, coverage: &Coverage) -> String {
    let of = match coverage {
        Coverage::Sample { looked_at, nodes, .. }
        | Coverage::Bounded { looked_at, nodes, .. }
        | Coverage::Grouped { looked_at, nodes, .. }
        | Coverage::Symmetric { looked_at, nodes } => {
            format!(" with {looked_at} of {nodes} observers looked at")
        }
        Coverage::Coalitions { rest: Rest::None, .. } => String::new(),
        Coverage::Coalitions { size, among, nodes, looked_at, .. } => {
            format!(" with {looked_at} coalitions of {} looked at", coalition(*size, *among, *nodes))
        }
        _ => String::new(),
    };
    let number = |count: usize| if count == 1 { "one".to_owned() } else { count.to_string() };
    let (exceeding, open) = (check.exceeding, check.exceeding.saturating_sub(check.violating));
    match (check.verdict == Verdict::Violated, exceeding, coverage) {
        (true, ..) if check.violating == 0 => format!("violated{of}"),
        (true, ..) if open == 0 => format!("violated by {} of the {what}{of}", number(check.violating)),
        (true, ..) => format!(
            "violated by {} of the {what}, and {open} more not shown to keep it{of}",
            number(check.violating)
        ),
        (_, 0, Coverage::Sample { looked_at, nodes, .. }) => format!(
            "not shown: {looked_at} of {nodes} observers were looked at, who keep it; what the others learn is not known"
        ),
        (_, 0, Coverage::Bounded { looked_at, nodes, .. }) => format!(
            "not shown: {looked_at} of {nodes} observers were looked at, who keep it; the bound for the others exceeds it"
        ),
        (_, 0, Coverage::Grouped { looked_at, nodes, groups }) => format!(
            "not shown: {looked_at} of {nodes} observers were looked at, who keep it; the bound for the others, by {groups} groups of them, \
             exceeds it"
        ),
        (_, 0, Coverage::Coalitions { size, among, nodes, rest: Rest::Bounded, .. }) => {
            let who = coalition(*size, *among, *nodes);
            format!("not shown: the bound for all coalitions of {who} exceeds it")
        }
        (_, 0, Coverage::Coalitions { size, among, nodes, looked_at, rest: Rest::Unknown }) => {
            let who = coalition(*size, *among, *nodes);
            format!(
                "not shown: {looked_at} coalitions of {who} were looked at, who keep it; what the others learn is not known"
            )
        }
        (_, 1, _) => format!("not shown: the bound of one of the {what} exceeds it{of}"),
        _ => format!("not shown: the bounds of {exceeding} {what} exceed it{of}"),
    }
}
