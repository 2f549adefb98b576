//! What numbers rest on goes with them.

use super::contradictions::said;
use super::*;
use ndp_account::{Protocol as _, RestsOn};
use ndp_dp::NoiseMultiplier;

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
        assert_eq!(rests_on[1], RestsOn::Reads(dependence));
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

/// Who does not know another node's result would learn more if it were handed out; who knows it would not,
/// and of a program without results nothing is assumed about them.
#[test]
fn results_that_the_observer_does_not_know_are_not_handed_out() -> Outcome {
    use ndp_account::Assumption::NothingPublished;
    let assumed = |make: &dyn Fn(&mut Program, Value) -> Result<(), ProgramError>, observer: &Observer| {
        let mut program = Program::new(3)?;
        let (x, z) = (program.contribute_all(Reads::Nothing)?, program.noise_all(1)?);
        let y = program.add_all(&x, &z)?;
        program.send(1, 0, y[1])?;
        let mean = program.combine([(Weight::from((1, 2)), y[0]), (Weight::from((1, 2)), y[1])])?;
        make(&mut program, mean)?;
        Ok::<_, ndp_account::Error>(program.account(observer)?.assumptions().contains(&NothingPublished))
    };
    let (kept, sent) = (
        |program: &mut Program, mean| program.result([(0, mean)]),
        |program: &mut Program, mean| {
            program.broadcast(0, mean)?;
            program.result([(0, mean)])
        },
    );
    let node = Observer::node;
    assert!(assumed(&kept, &node(1))? && assumed(&kept, &node(2))? && !assumed(&kept, &node(0))?);
    assert!(!assumed(&sent, &node(1))? && !assumed(&sent, &node(2))?);
    assert!(!assumed(&|_, _| Ok(()), &node(1))? && assumed(&|_, _| Ok(()), &Observer::outsider())?);
    Ok(())
}

/// A contribution reads another one of its owner that was not sent, and that one reads a value that the
/// observer does not see. The second may repeat the first, which may be any function of that value: the loss
/// is what it is if the second reads the value itself.
#[test]
fn what_an_earlier_contribution_reads_counts_although_it_is_not_sent() -> Outcome {
    let (set, observer) = (SensitivitySet::Signs, Observer::node(2));
    let program = |first: Reads, second: &dyn Fn(Value, Value) -> Reads| -> Result<Program, ProgramError> {
        let mut program = Program::new(3)?;
        let (x, z) = (program.contribute(0, Reads::Nothing)?, program.noise([0], 1)?);
        let hidden = program.add(&[x, z])?;
        program.send(0, 1, hidden)?;
        let first = match first {
            Reads::Seen(Some(_)) => Reads::Seen(Some(vec![hidden])),
            Reads::Hidden(Some(_)) => Reads::Hidden(Some(vec![hidden])),
            bare => bare,
        };
        let first = program.contribute(1, first)?;
        let (second, z) = (program.contribute(1, second(first, hidden))?, program.noise([1], 1)?);
        let reaction = program.add(&[second, z])?;
        program.send(1, 2, reaction)?;
        Ok(program)
    };
    let through = |first: Value, _: Value| Reads::Seen(Some(vec![first]));
    let direct = |_: Value, hidden: Value| Reads::Hidden(Some(vec![hidden]));
    let expected = program(Reads::Nothing, &direct)?.account(&observer)?.loss(0, &set)?;
    assert!((1.0..1.0 + 1e-12).contains(&expected.value()) && expected.reads == Dependence::Revealed);
    // What the observer was shown for the account, it does not see: no attack on it is one.
    let declared = Declared::new(program(Reads::Nothing, &direct)?, set.clone());
    let attack = declared.attack(0, &observer, NoiseMultiplier::new(1.0)?).map(|_| ());
    assert_refused(attack, "contributions read values that this observer does not see");
    let found = program(Reads::Hidden(Some(Vec::new())), &through)?.account(&observer)?;
    assert_eq!(found.loss(0, &set)?, expected);
    let assumed = program(Reads::Seen(None), &through)?.account(&observer)?;
    assert_eq!((assumed.adaptivity, assumed.loss(0, &set)?.value()), (Dependence::Assumed, 0.0));
    for first in [Reads::Seen(Some(Vec::new())), Reads::Hidden(None)] {
        assert_refused(program(first, &through)?.account(&observer), "use 0 of node 1");
    }
    // A meter that is told of it says the same after every step.
    let mut feed = crate::meter::Feed::default();
    for line in [
        r#"{"ndp-meter": 1, "nodes": 3, "set": "signs"}"#,
        r#"{"contribute": "x", "node": 0, "reads": "nothing"}"#,
        r#"{"noise": "zz", "node": 0, "variance": 1}"#,
        r#"{"let": "h", "sum": {"x": 1, "zz": 1}}"#,
        r#"{"send": "h", "from": 0, "to": 1}"#,
        r#"{"contribute": "a", "node": 1, "reads": {"hidden": ["h"]}}"#,
        r#"{"contribute": "b", "node": 1, "reads": {"seen": ["a"]}}"#,
        r#"{"noise": "z", "node": 1, "variance": 1}"#,
        r#"{"let": "y", "sum": {"b": 1, "z": 1}}"#,
        r#"{"send": "y", "from": 1, "to": 2}"#,
    ] {
        feed.line(line)?;
    }
    let meter = feed.meter().ok_or("a meter")?;
    let reading = meter.reading(2)?;
    assert!(reading.upper(0).is_some_and(|upper| (1.0..1.0 + 1e-12).contains(&upper)), "{reading:?}");
    assert!(meter.rests_on().contains(&RestsOn::Reads(Dependence::Revealed)));
    Ok(())
}

/// A node that took part has left: no further round like the last one is possible, and what was lost stays
/// known.
#[test]
fn a_log_whose_node_has_left_counts_no_rounds() -> Outcome {
    let mut feed = crate::meter::Feed::default();
    for line in [
        r#"{"ndp-meter": 1, "nodes": 3, "set": "same-direction", "limit": 0.5}"#,
        r#"{"matrix": "W", "entries": [{"0":"1/2","1":"1/2"},{"0":"1/2","1":"1/2"},{"2":1}]}"#,
        r#"{"round": "W", "variance": 40, "reads": "nothing"}"#,
    ] {
        feed.line(line)?;
    }
    assert!(feed.remaining(99)?.is_some());
    feed.line(r#"{"leave": 0}"#)?;
    assert_eq!(feed.remaining(99)?, None);
    Ok(())
}
