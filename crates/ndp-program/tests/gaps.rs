//! What a reader of programs, an account of what contributions read, and a meter must tell apart.

use ndp_account::{Observer, RestsOn};
use ndp_program::meter::{Feed, Merged, Meter, Runs};
use ndp_program::{
    AccountOptions, Dependence, HiddenReads, Program, ProgramError, Reads, SensitivitySet, Value,
};

type Tested = Result<(), Box<dyn std::error::Error>>;

fn read(lines: &[&str]) -> Result<Program, String> {
    Program::read(lines.join("\n").as_bytes()).map_err(|error| error.to_string())
}

fn loss(program: &Program, observer: usize, source: usize) -> Result<f64, Box<dyn std::error::Error>> {
    let account = program.account(&Observer::node(observer))?;
    Ok(account.loss(source, &SensitivitySet::SameDirection)?.value())
}

/// A message costs 1/4, and as all uses move alike and noises are independent, three cost 3/4: two of them
/// in a block, one after it.
#[test]
fn steps_after_a_block_are_read_and_the_block_is_read_so_often() -> Tested {
    let message = [
        r#"{"contribute": "x", "node": 0, "reads": "nothing"}"#,
        r#"{"noise": "z", "shared": [0], "variance": 4}"#,
        r#"{"let": "y", "sum": {"x": 1, "z": 1}}"#,
        r#"{"send": "y", "from": 0, "to": 1}"#,
    ];
    let mut lines = vec![r#"{"ndp-program": 1, "nodes": 2}"#, r#"{"repeat": 2}"#];
    lines.extend(message);
    lines.push(r#"{"end": "repeat"}"#);
    lines.extend([
        r#"{"contribute": "v", "node": 0, "reads": "nothing"}"#,
        r#"{"noise": "w", "shared": [0], "variance": 4}"#,
        r#"{"let": "u", "sum": {"v": 1, "w": 1}}"#,
        r#"{"send": "u", "from": 0, "to": 1}"#,
    ]);
    let program = read(&lines)?;
    assert!((loss(&program, 1, 0)? - 0.75).abs() < 1e-12);
    Ok(())
}

#[test]
fn blocks_lie_in_each_other_64_times_and_not_65_times() {
    let nested = |depth: usize| {
        let mut lines = vec![r#"{"ndp-program": 1, "nodes": 2}"#];
        lines.extend(vec![r#"{"repeat": 1}"#; depth]);
        lines.push(r#"{"noise": "z", "variance": 1}"#);
        lines.extend(vec![r#"{"end": "repeat"}"#; depth]);
        read(&lines).map(|program| program.values().count())
    };
    assert_eq!(nested(64), Ok(2));
    assert_eq!(nested(65), Err("line 66: blocks lie in each other more than 64 times".to_owned()));
}

/// Who broadcasts is said by `from`, by `nodes`, or is everybody.
#[test]
fn those_who_broadcast_are_those_who_are_named() -> Tested {
    for (who, heard) in [(r#", "nodes": [0]"#, 0.0), (r#", "from": [0]"#, 0.0), ("", 1.0)] {
        let broadcast = format!(r#"{{"broadcast": "y"{who}}}"#);
        let program = read(&[
            r#"{"ndp-program": 1, "nodes": 3}"#,
            r#"{"contribute": "x", "reads": "nothing"}"#,
            r#"{"noise": "z", "variance": 1}"#,
            r#"{"let": "y", "sum": {"x": 1, "z": 1}}"#,
            &broadcast,
        ])?;
        assert!((loss(&program, 1, 0)? - 1.0).abs() < 1e-12, "{who}");
        assert!((loss(&program, 1, 2)? - heard).abs() < 1e-12, "{who}");
    }
    Ok(())
}

#[test]
fn a_secure_sum_is_of_different_nodes_who_are_there() {
    let delivered = |line: &str| {
        read(&[
            r#"{"ndp-program": 1, "nodes": 3}"#,
            r#"{"contribute": "x", "node": 0, "reads": "nothing"}"#,
            r#"{"noise": "z", "shared": [0], "variance": 1}"#,
            r#"{"let": "y", "sum": {"x": 1, "z": 1}}"#,
            r#"{"leave": [2]}"#,
            line,
        ])
        .map(|_| ())
    };
    assert_eq!(delivered(r#"{"deliver": "y", "to": 1, "group": [0, 1]}"#), Ok(()));
    let absent = Err("line 6: node 2 is absent: it cannot take part in a secure sum".to_owned());
    assert_eq!(delivered(r#"{"deliver": "y", "to": 2, "group": [0, 1]}"#), absent);
    assert_eq!(delivered(r#"{"deliver": "y", "to": 1, "group": [0, 2]}"#), absent);
    let twice = ProgramError::Repeated { node: 0, what: "a secure sum" };
    assert_eq!(delivered(r#"{"deliver": "y", "to": 1, "group": [0, 0]}"#), Err(format!("line 6: {twice}")));
}

/// A contribution and a noise of variance 1, sent.
fn message(program: &mut Program, from: usize, to: usize, reads: Reads) -> Result<Value, ProgramError> {
    let (x, z) = (program.contribute(from, reads)?, program.noise([from], 1)?);
    let sum = program.add(&[x, z])?;
    program.send(from, to, sum)?;
    Ok(x)
}

/// To read one's own earlier contribution, or one of a member of those who look, tells the observer nothing
/// that is not in the account; to read what a stranger contributed does.
#[test]
fn what_the_owner_or_the_observer_knows_is_no_hidden_value() -> Tested {
    let mut own = Program::new(3)?;
    let first = message(&mut own, 1, 2, Reads::Nothing)?;
    message(&mut own, 1, 2, Reads::Seen(Some(vec![first])))?;
    assert_eq!(own.account(&Observer::node(2))?.adaptivity, Dependence::Checked);

    let mut of_a_member = Program::new(3)?;
    let first = message(&mut of_a_member, 0, 1, Reads::Nothing)?;
    message(&mut of_a_member, 1, 0, Reads::Seen(Some(vec![first])))?;
    assert_eq!(of_a_member.account(&Observer::node(0))?.adaptivity, Dependence::Checked);

    let mut of_a_stranger = Program::new(3)?;
    let first = message(&mut of_a_stranger, 2, 1, Reads::Nothing)?;
    message(&mut of_a_stranger, 1, 0, Reads::Seen(Some(vec![first])))?;
    let refused = of_a_stranger.account(&Observer::node(0)).map(|_| ()).map_err(|error| error.to_string());
    assert_eq!(refused, Err(ProgramError::NotSeen { node: 1, index: 0 }.to_string()));
    Ok(())
}

/// What a member itself reads is seen by the observer, so that an exact answer exists; for all others it is
/// refused where hidden values are.
#[test]
fn a_member_may_read_what_is_hidden_from_others() -> Tested {
    let mut program = Program::new(3)?;
    let (x, z) = (program.contribute(0, Reads::Nothing)?, program.noise([0], 1)?);
    let secret = program.add(&[x, z])?;
    program.send(0, 1, secret)?;
    message(&mut program, 1, 2, Reads::Hidden(Some(vec![secret])))?;
    let exact = AccountOptions { hidden: HiddenReads::Refuse, ..AccountOptions::default() };
    assert_eq!(program.account_with(&Observer::node(1), &exact)?.adaptivity, Dependence::Checked);
    let refused = program.account_with(&Observer::node(2), &exact).map(|_| ()).map_err(|e| e.to_string());
    assert_eq!(refused, Err(ProgramError::HiddenNotExact { node: 1, index: 0 }.to_string()));
    Ok(())
}

/// What a meter rests on is the weakest of what its observers, and their epochs, rest on.
#[test]
fn a_meter_rests_on_the_weakest_of_all() -> Tested {
    let [fixed, assumed] = [Dependence::Fixed, Dependence::Assumed].map(RestsOn::Reads);
    // Only the first observer sees the contribution that is assumed to read what it sees.
    let mut meter = Meter::new(3, [1, 2].map(Observer::node), SensitivitySet::SameDirection)?;
    meter.step(|program| message(program, 0, 1, Reads::Nothing))?;
    assert!(meter.rests_on().contains(&fixed) && !meter.rests_on().contains(&assumed));
    meter.step(|program| message(program, 0, 1, Reads::Seen(None)))?;
    assert!(meter.rests_on().contains(&assumed) && !meter.rests_on().contains(&fixed));

    for assumed_first in [true, false] {
        let mut meter = Meter::new(2, [Observer::node(1)], SensitivitySet::SameDirection)?;
        for assumes in [assumed_first, !assumed_first] {
            let reads = if assumes { Reads::Seen(None) } else { Reads::Nothing };
            meter.step(|program| message(program, 0, 1, reads))?;
            // Nothing is alive any more, so that an epoch ends.
            let all: Vec<Value> = meter.program().values().collect();
            for value in all {
                match meter.forget(&[value]) {
                    Ok(()) | Err(ProgramError::Forgotten(_)) => {}
                    Err(other) => return Err(other.into()),
                }
            }
        }
        assert!(meter.rests_on().contains(&assumed), "assumed first: {assumed_first}");
        assert!(!meter.rests_on().contains(&fixed), "assumed first: {assumed_first}");
        assert!((meter.reading(0)?.loss(0)?.value() - 2.0).abs() < 1e-9);
    }
    Ok(())
}

fn log(names: &str, messages: usize) -> Result<Feed, ndp_account::Error> {
    let mut feed = Feed::default();
    feed.line(&format!(r#"{{"ndp-meter": 1, "nodes": {names}, "set": "signs"}}"#))?;
    for k in 0..messages {
        feed.line(&format!(r#"{{"contribute": "x{k}", "node": 0, "reads": "nothing"}}"#))?;
        feed.line(&format!(r#"{{"noise": "z{k}", "shared": [0], "variance": 4}}"#))?;
        feed.line(&format!(r#"{{"let": "y{k}", "sum": {{"x{k}": 1, "z{k}": 1}}}}"#))?;
        feed.line(&format!(r#"{{"send": "y{k}", "from": 0, "to": 1}}"#))?;
    }
    Ok(feed)
}

/// Of one run told twice the longer log counts, whichever comes first.
#[test]
fn the_longer_log_of_a_run_counts() -> Tested {
    let names = r#"["ann", "bob"]"#;
    let (short, long) = (log(names, 1)?, log(names, 2)?);
    for both in [Merged::new(&short, &long, Runs::Same)?, Merged::new(&long, &short, Runs::Same)?] {
        assert!((both.readings()[1].loss(0)?.value() - 0.5).abs() < 1e-9);
    }
    Ok(())
}

/// Whichever node one of two logs does not know, the first one too.
#[test]
fn logs_are_about_the_same_nodes() -> Tested {
    let all = log(r#"["ann", "bob", "cy"]"#, 1)?;
    for (some, missing) in
        [(r#"["bob", "cy"]"#, "ann"), (r#"["ann", "cy"]"#, "bob"), (r#"["ann", "bob"]"#, "cy")]
    {
        let refused = Merged::new(&all, &log(some, 1)?, Runs::Separate).map(|_| ());
        let words = ProgramError::Merge(format!("{missing} is a node of one log alone")).to_string();
        assert_eq!(refused.map_err(|error| error.to_string()), Err(words));
    }
    Ok(())
}
