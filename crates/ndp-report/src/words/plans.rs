//! Which plan comes first, and why.

use super::{count, up};
use std::cmp::Ordering;

/// What is said of a plan: a protocol with its parameters that keeps a limit.
#[derive(Clone, Debug, PartialEq)]
pub struct Planned {
    /// The name of the protocol.
    pub protocol: String,
    /// `rounds=20`, or nothing.
    pub parameters: String,
    /// How far the result is from the mean, at most; `None` where it is not known, as on large graphs.
    pub error: Option<f64>,
    /// The number of messages, where it is known.
    pub messages: Option<f64>,
    /// Whether it is shown for every observer who was asked about, and not for some of them alone.
    pub is_whole: bool,
    /// Whether it sends along the edges of the graph alone, or publishes to all.
    pub is_on_the_graph: bool,
}

impl Planned {
    /// Orders plans: those that are shown for some observers alone come last, before them those whose error
    /// is not known; otherwise the smaller bound on the error comes first.
    #[must_use]
    pub fn order(&self, other: &Self) -> Ordering {
        let error = |plan: &Self| plan.error.unwrap_or(f64::INFINITY);
        other.is_whole.cmp(&self.is_whole).then(error(self).total_cmp(&error(other)))
    }

    fn named(&self) -> String {
        let Self { protocol, parameters, .. } = self;
        if parameters.is_empty() { protocol.clone() } else { format!("{protocol} with {parameters}") }
    }
}

/// Why the first of ordered plans is first, and what the next protocol costs; which protocols were not tried
/// (`elsewhere`), or that the first does not run on the given edges alone. `option` asks for those that bring
/// connections of their own: `--any-topology`.
///
/// # Examples
/// ```
/// use ndp_report::words::{Planned, advice};
/// let plan = |protocol: &str, error, messages| Planned {
///     protocol: protocol.into(), parameters: String::new(), error: Some(error), messages: Some(messages),
///     is_whole: true, is_on_the_graph: true,
/// };
/// assert_eq!(
///     advice(&[plan("gopa", 0.5, 10.0), plan("decor", 0.75, 12.0)], &[], "--any-topology"),
///     ["gopa is first because its error is at most 0.50000, the smallest bound found. \
///       Next is decor, at most 0.75000 (50.0 % more), with 12 messages in place of 10."]
/// );
/// ```
#[must_use]
pub fn advice(plans: &[Planned], elsewhere: &[&str], option: &str) -> Vec<String> {
    let Some((best, others)) = plans.split_first() else { return Vec::new() };
    first_and_second(best, others).into_iter().chain(connections(best, others, elsewhere, option)).collect()
}

fn first_and_second(best: &Planned, others: &[Planned]) -> Option<String> {
    let error = best.error?;
    let among = if best.is_whole && !others.iter().all(|plan| plan.is_whole) {
        " of those that are shown for everybody"
    } else {
        ""
    };
    let first = format!(
        "{} is first because its error is at most {}, the smallest bound found{among}.",
        best.named(),
        up(error)
    );
    let other = |other: &&Planned| other.protocol != best.protocol && other.is_whole == best.is_whole;
    let Some((next, its_error)) = others.iter().find(other).and_then(|next| Some((next, next.error?))) else {
        return Some(format!("{first} No other protocol was found whose error is known."));
    };
    let more = 100.0 * (its_error / error - 1.0);
    let more = if more < 0.05 { "the same but for 0.05 %".into() } else { format!("{more:.1} % more") };
    let messages = match (next.messages, best.messages) {
        (Some(next), Some(best)) if next == best => ", with as many messages".into(),
        (Some(next), Some(best)) => format!(", with {} messages in place of {}", count(next), count(best)),
        _ => String::new(),
    };
    Some(format!("{first} Next is {}, at most {} ({more}){messages}.", next.named(), up(its_error)))
}

/// Which protocols were not tried because they bring connections of their own, or that the best one does not
/// run on the given edges alone.
fn connections(best: &Planned, others: &[Planned], elsewhere: &[&str], option: &str) -> Option<String> {
    if !elsewhere.is_empty() {
        return Some(format!(
            "Not tried, because they bring connections of their own, whatever the edges ({option} tries them): {}.",
            elsewhere.join(", ")
        ));
    }
    if best.is_on_the_graph {
        return None;
    }
    let on = others.iter().find(|plan| plan.is_on_the_graph).map_or_else(String::new, |on| {
        let name = &on.protocol;
        format!(" The first without connections of its own is {name}, which sends along edges or publishes to all.")
    });
    Some(format!("{} brings connections of its own, whatever the edges.{on}", best.protocol))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(protocol: &str, error: Option<f64>, is_whole: bool) -> Planned {
        let (parameters, protocol) = (String::from("rounds=2"), protocol.into());
        Planned { protocol, parameters, error, messages: Some(3.0), is_whole, is_on_the_graph: false }
    }

    /// A plan that is not shown for everybody is behind all that are, however small its error is.
    #[test]
    fn what_is_shown_for_some_comes_last() {
        let mut plans = [plan("a", Some(0.1), false), plan("b", None, true), plan("c", Some(2.0), true)];
        plans.sort_by(Planned::order);
        assert_eq!(plans.each_ref().map(|plan| plan.protocol.as_str()), ["c", "b", "a"]);
        let said = advice(&plans, &[], "--all");
        assert!(
            said[0].contains("the smallest bound found of those that are shown for everybody"),
            "{said:?}"
        );
        assert!(said[0].ends_with("No other protocol was found whose error is known."), "{said:?}");
        assert_eq!(said[1], "c brings connections of its own, whatever the edges.");
    }

    #[test]
    fn the_next_is_another_protocol() {
        let mut plans =
            vec![plan("a", Some(1.0), true), plan("a", Some(1.1), true), plan("b", Some(1.25), true)];
        let said = advice(&plans, &["ring-sum"], "--all");
        let next = "Next is b with rounds=2, at most 1.25000 (25.0 % more), with as many messages.";
        assert!(said[0].ends_with(next), "{said:?}");
        assert!(said[1].contains("(--all tries them): ring-sum."), "{said:?}");
        plans[0].error = None;
        assert_eq!(advice(&plans, &["ring-sum"], "--all").len(), 1);
        assert_eq!(advice(&[], &["ring-sum"], "--all"), Vec::<String>::new());
    }
}
