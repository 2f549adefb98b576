//! What numbers rest on goes with them.

use super::contradictions::said;
use super::*;
use ndp_account::RestsOn;

type Outcome = Result<(), Box<dyn std::error::Error>>;

/// A loss comes with its assumptions.
#[test]
fn assumptions_travel_with_losses() -> Outcome {
    let text = |reads: &str| {
        format!(
            r#"{{"contribute": "c", "node": 0, "reads": {reads}}}
{{"noise": "m", "node": 0, "variance": 1}}
{{"let": "a", "sum": {{"c": 1, "m": 1}}}}
{{"send": "a", "from": 0, "to": 1}}"#
        )
    };
    let account = |reads: &str| -> Result<ProgramAccount, Box<dyn std::error::Error>> {
        Ok(said(&text(reads)).map_err(|(_, problem)| problem)?.account(&Observer::node(1))?)
    };
    let set = SensitivitySet::UseLevel;
    for (reads, dependence) in [
        ("\"nothing\"", Dependence::Fixed),
        ("\"seen\"", Dependence::Assumed),
        ("{\"seen\": [\"z@1\"]}", Dependence::Checked),
        ("{\"hidden\": [\"y@2\"]}", Dependence::Revealed),
    ] {
        let loss = account(reads)?.loss(0, &set)?;
        assert_eq!((loss.set, loss.reads), (set.clone(), dependence), "{reads}");
        let rests_on = account(reads)?.rests_on(&set);
        assert_eq!(rests_on, [RestsOn::Set(set.clone()), RestsOn::Reads(dependence)], "{reads}");
        assert_eq!(rests_on[1].is_assumption(), dependence == Dependence::Assumed);
    }
    // The same together with what `check` and the command are given.
    let declared = Declared::new(said(&text("\"seen\"")).map_err(|(_, problem)| problem)?, set.clone());
    let account = ndp_account::Protocol::account(&declared, &Observer::node(1))?;
    assert_eq!(account.rests_on(), [RestsOn::Set(set), RestsOn::Reads(Dependence::Assumed)]);
    Ok(())
}

/// A contribution that is assumed to depend on what the observer has seen stays an assumption beside one
/// whose reads are revealed or checked.
#[test]
fn an_assumption_is_not_hidden_by_what_is_revealed() -> Outcome {
    use ndp_account::Assumption::{Fixed, ReadsDeclared, ReadsDeclaredOrSeen, ReadsSeen};
    let set = SensitivitySet::SameDirection;
    for (reads, dependence, assumptions) in [
        (["\"nothing\"", "\"nothing\""], Dependence::Fixed, vec![Fixed]),
        (["{\"hidden\": [\"y@2\"]}", "\"nothing\""], Dependence::Revealed, vec![ReadsDeclared]),
        (["{\"seen\": [\"z@1\"]}", "\"nothing\""], Dependence::Checked, vec![ReadsDeclared]),
        (["\"seen\"", "{\"seen\": [\"z@1\"]}"], Dependence::Assumed, vec![ReadsSeen]),
        (["{\"hidden\": [\"y@2\"]}", "\"seen\""], Dependence::RevealedAndAssumed, vec![ReadsDeclaredOrSeen]),
        (["\"seen\"", "{\"hidden\": [\"y@2\"]}"], Dependence::RevealedAndAssumed, vec![ReadsDeclaredOrSeen]),
    ] {
        let step = |k: usize, reads: &str| {
            format!(
                r#"{{"contribute": "c{k}", "node": 0, "reads": {reads}}}
{{"noise": "m{k}", "node": 0, "variance": 1}}
{{"let": "a{k}", "sum": {{"c{k}": 1, "m{k}": 1}}}}
{{"send": "a{k}", "from": 0, "to": 1}}
"#
            )
        };
        let text = step(0, reads[0]) + &step(1, reads[1]);
        let program = said(text.trim_end()).map_err(|(_, problem)| problem)?;
        let declared = Declared::new(program, set.clone());
        let account = ndp_account::Protocol::account(&declared, &Observer::node(1))?;
        assert_eq!(account.rests_on(), [RestsOn::Set(set.clone()), RestsOn::Reads(dependence)], "{reads:?}");
        assert_eq!(account.assumptions(), assumptions, "{reads:?}");
    }
    Ok(())
}
