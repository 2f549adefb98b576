//! Values found by hand, those that the tests of the checker in Python use.

use crate::{Failure, check};

/// A path of three nodes, two rounds of gossip, each node with a noise of its own.
fn path(rounds: usize) -> Vec<String> {
    let third = r#"{"matrix":"W0","entries":[{"0":"2/3","1":"1/3"},{"0":"1/3","1":"1/3","2":"1/3"},{"1":"1/3","2":"2/3"}]}"#;
    let mut lines = vec![r#"{"ndp-program":1,"nodes":3}"#.to_owned(), third.to_owned()];
    for v in 0..3 {
        lines.push(format!(r#"{{"contribute":"x{v}","node":{v},"reads":"nothing"}}"#));
        lines.push(format!(r#"{{"noise":"z{v}","shared":[],"variance":"1"}}"#));
        lines.push(format!(r#"{{"hold":"z{v}","by":{v}}}"#));
        lines.push(format!(r#"{{"let":"y{v}","sum":{{"x{v}":"1","z{v}":"1"}}}}"#));
    }
    let mut names = ["y0", "y1", "y2"].map(str::to_owned);
    for t in 0..rounds {
        for (a, b) in [(0, 1), (1, 0), (1, 2), (2, 1)] {
            lines.push(format!(r#"{{"send":"{}","from":{a},"to":{b}}}"#, names[a]));
        }
        let new = [0, 1, 2].map(|v| format!("y{v}_{t}"));
        lines.push(format!(r#"{{"let":{new:?},"gossip":"W0","of":{names:?}}}"#));
        names = new;
    }
    lines.push(r#"{"end":"program"}"#.into());
    lines
}

fn file(set: &str, program: &[String], pair: &str, largest: &str) -> String {
    let mut lines = vec![format!(r#"{{"ndp-proof":1,"set":{set}}}"#)];
    lines.extend_from_slice(program);
    lines.push(pair.to_owned());
    lines.push(format!(r#"{{"end":"proof","pairs":1,"largest":"{largest}","covers":"these-pairs"}}"#));
    lines.join("\n")
}

fn verdict(text: &str) -> Result<(), String> {
    check(text.as_bytes()).map(|_| ()).map_err(|error| error.to_string())
}

/// What node 2 learns about node 0 on the path: with two rounds everything.
const END_OF_PATH: &str = r#"{"observer":{"members":[2],"taps":[]},"source":0,"upper":"1","lower":"1","shifts":[{"z0":"1"}],"attack":{"change":["1"],"sum":{"y1_0":"3","y1":"-1","y2":"-1"}}}"#;

#[test]
fn a_path_reveals_its_end() {
    let whole = file(r#""use-level""#, &path(2), END_OF_PATH, "1");
    assert_eq!(verdict(&whole), Ok(()));
    let lines: Vec<&str> = whole.lines().collect();
    for cut in 1..=3 {
        assert!(matches!(
            check(lines[..lines.len() - cut].join("\n").as_bytes()),
            Err(Failure::Unfinished(_))
        ));
    }
    let less = whole.replace(r#""upper":"1""#, r#""upper":"99/100""#);
    assert!(verdict(&less).is_err_and(|why| why.contains("more than the upper end 99/100")));
    let more = whole.replace(r#""lower":"1""#, r#""lower":"1001/1000""#);
    assert!(verdict(&more).is_err_and(|why| why.contains("less than the lower end 1001/1000")));
    let largest = whole.replace(r#""largest":"1""#, r#""largest":"999/1000""#);
    assert!(verdict(&largest).is_err_and(|why| why.contains("the largest loss is 1")));
    let every = whole.replace("these-pairs", "every-pair");
    assert!(verdict(&every).is_err_and(|why| why.contains("5 pairs are missing")));
    let moved = whole.replace(r#"[{"z0":"1"}]"#, r#"[{"z0":"1/2"}]"#);
    assert!(verdict(&moved).is_err_and(|why| why.contains("sees a value that moves")));
    let quiet = whole
        .replace(r#""noise":"z0","shared":[],"variance":"1""#, r#""noise":"z0","shared":[],"variance":"0""#);
    assert!(verdict(&quiet).is_err_and(|why| why.contains("variance 0")));
    let held = whole.replace(r#"{"hold":"z0","by":0}"#, r#"{"hold":"z0","by":2}"#);
    assert!(verdict(&held).is_err_and(|why| why.contains("sees a value that moves")));
    let unseen = whole.replace(r#""sum":{"y1_0":"3""#, r#""sum":{"y0":"3""#);
    assert!(verdict(&unseen).is_err_and(|why| why.contains("does not see")));
}

/// Two uses of node 0 with a noise each, of which node 1 sees the difference: costs `[[1, -1], [-1, 1]] / 2`.
#[test]
fn signs_and_diagonals() {
    let mut program = vec![r#"{"ndp-program":1,"nodes":2}"#.to_owned()];
    for i in 0..2 {
        program.push(format!(r#"{{"contribute":"x{i}","node":0,"reads":"nothing"}}"#));
        program.push(format!(r#"{{"noise":"z{i}","shared":[],"variance":"1"}}"#));
    }
    program.push(r#"{"let":"y","sum":{"x0":"1","z0":"1","x1":"-1","z1":"-1"}}"#.into());
    program.push(r#"{"send":"y","from":0,"to":1}"#.into());
    program.push(r#"{"end":"program"}"#.into());
    let pair = |upper: &str, lower: &str, more: &str| {
        format!(
            r#"{{"observer":{{"members":[1],"taps":[]}},"source":0,"upper":"{upper}","lower":"{lower}","shifts":[{{"z0":"1/2","z1":"-1/2"}},{{"z0":"-1/2","z1":"1/2"}}],"attack":{{"change":["1","-1"],"sum":{{"y":"1"}}}}{more}}}"#
        )
    };
    let verdict = |set: &str, pair: &str| verdict(&file(set, &program, pair, "2"));
    assert_eq!(verdict(r#""signs""#, &pair("2", "2", "")), Ok(()));
    assert_eq!(verdict(r#""signs""#, &pair("2", "2", r#","diagonal":["1","1"]"#)), Ok(()));
    assert_eq!(verdict(r#"{"vectors":{"dimension":3}}"#, &pair("2", "2", "")), Ok(()));
    let why = verdict(r#""signs""#, &pair("1", "1", ""));
    assert!(why.is_err_and(|why| why.contains("prove 2, more than the upper end 1")));
    let why = verdict(r#""signs""#, &pair("9/5", "0", r#","diagonal":["9/10","9/10"]"#));
    assert!(why.is_err_and(|why| why.contains("does not cover")));
    let why = verdict(r#""use-level""#, &pair("2", "0", r#","diagonal":["1","1"]"#));
    assert!(why.is_err_and(|why| why.contains("belongs to signs and vectors")));
    let long = pair("2", "2", "").replace(r#"["1","-1"]"#, r#"["2","0"]"#);
    assert!(verdict(r#""signs""#, &long).is_err_and(|why| why.contains("not in the set")));
    let none = r#"{"observer":{"members":[1],"taps":[]},"source":0,"upper":"0","lower":"0","shifts":[{}],"attack":{"change":["1","1"],"sum":{}}}"#;
    assert_eq!(verdict(r#""same-direction""#, none), Ok(()));
}

#[test]
fn what_is_read_must_be_seen() {
    let lines = [
        r#"{"ndp-program":1,"nodes":2}"#,
        r#"{"contribute":"a","node":0,"reads":"nothing"}"#,
        r#"{"noise":"z","shared":[],"variance":"1"}"#,
        r#"{"let":"y","sum":{"a":"1","z":"1"}}"#,
        r#"{"send":"y","from":0,"to":1}"#,
        r#"{"contribute":"b","node":0,"reads":{"seen":["y"]}}"#,
        r#"{"end":"program"}"#,
    ]
    .map(str::to_owned);
    let pair = r#"{"observer":{"members":[1],"taps":[]},"source":0,"upper":"1","lower":"1","shifts":[{"z":"1"},{}],"attack":{"change":["1","0"],"sum":{"y":"1"}}}"#;
    let of = |lines: &[String]| verdict(&file(r#""use-level""#, lines, pair, "1"));
    assert_eq!(of(&lines), Ok(()));
    let mut late = lines.clone();
    late.swap(4, 5);
    assert!(of(&late).is_err_and(|why| why.contains("need not have seen")));
    // What those who look read they must have seen themselves.
    let mut unsent = lines.clone();
    unsent[4] = r#"{"contribute":"c","node":1,"reads":{"seen":["y"]}}"#.into();
    unsent[5] = r#"{"contribute":"b","node":0,"reads":"nothing"}"#.into();
    let quiet = r#"{"observer":{"members":[1],"taps":[]},"source":0,"upper":"0","lower":"0","shifts":[{},{}],"attack":{"change":["0","0"],"sum":{}}}"#;
    let why = verdict(&file(r#""use-level""#, &unsent, quiet, "1"));
    assert!(why.is_err_and(|why| why.contains("need not have seen")));
    unsent[5] = r#"{"send":"y","from":0,"to":1}"#.into();
    unsent.swap(4, 5);
    let heard = quiet.replace(r#"[{},{}]"#, r#"[{"z":"1"}]"#).replace(r#"["0","0"]"#, r#"["0"]"#);
    let heard = heard.replace(r#""upper":"0""#, r#""upper":"1""#);
    assert_eq!(verdict(&file(r#""use-level""#, &unsent, &heard, "1")), Ok(()));
    for reads in [r#""hidden""#, r#"{"hidden":["y"]}"#, r#"{"seen":["y"],"hidden":["y"]}"#] {
        let mut other = lines.clone();
        other[5] = other[5].replace(r#"{"seen":["y"]}"#, reads);
        assert!(of(&other).is_err_and(|why| why.contains("hidden")));
    }
}

#[test]
fn hostile_lines_are_rejected_with_their_number() {
    let whole = file(r#""use-level""#, &path(2), END_OF_PATH, "1");
    let deep = "[".repeat(100_000);
    for (at, line) in [
        (0, r#"{"ndp-proof":1,"ndp-proof":1,"set":"use-level"}"#),
        (0, r#"{"ndp-proof":true,"set":"use-level"}"#),
        (3, &deep),
        (5, r#"{"noise":"q","shared":[],"variance":0.1}"#),
        (5, r#"{"noise":"q","shared":[],"variance":"-1"}"#),
        (5, r#"{"noise":"q","shared":[],"variance":"1/0"}"#),
        (5, r#"{"noise":"q","shared":[],"variance":"+1"}"#),
        (5, r#"{"shuffle":"x0"}"#),
        (6, "NaN"),
        (7, r#"{"hold":"z0","by":7}"#),
        (7, r#"{"hold":"z0","by":true}"#),
    ] {
        let mut lines: Vec<&str> = whole.lines().collect();
        lines[at] = line;
        assert!(
            verdict(&lines.join("\n")).is_err_and(|why| why.starts_with(&format!("line {}:", at + 1))),
            "{line}"
        );
    }
    let twice = whole
        .replace(END_OF_PATH, &format!("{END_OF_PATH}\n{END_OF_PATH}"))
        .replace(r#""pairs":1"#, r#""pairs":2"#);
    assert!(verdict(&twice).is_err_and(|why| why.contains("there before")));
    assert!(verdict(&format!("{whole}\n{{}}")).is_err());
}

/// Taps that show an observer nothing more make no other pair of it.
#[test]
fn a_view_is_no_other_pair_under_other_taps() {
    let whole = file(r#""use-level""#, &path(2), END_OF_PATH, "1");
    let with = |taps: &str| {
        let other = END_OF_PATH.replace(r#""taps":[]"#, &format!(r#""taps":{taps}"#));
        let both = whole.replace(END_OF_PATH, &format!("{END_OF_PATH}\n{other}"));
        verdict(&both.replace(r#""pairs":1"#, r#""pairs":2"#))
    };
    for taps in ["[[1,2]]", "[[2,1]]", "[[1,2],[2,1]]"] {
        assert!(with(taps).is_err_and(|why| why.contains("there before")), "{taps}");
    }
    for taps in ["[[1,2],[1,2]]", "[[0,1],[1,0],[0,1]]"] {
        assert!(with(taps).is_err_and(|why| why.contains("named twice")), "{taps}");
    }
    for taps in ["[[0,0]]", "[[2,2]]"] {
        assert!(with(taps).is_err_and(|why| why.contains("a pair of two nodes")), "{taps}");
    }
    assert_eq!(with("[[1,0]]"), Ok(()));
}

#[test]
fn a_file_without_pairs_proves_nothing() {
    let whole = file(r#""use-level""#, &path(2), END_OF_PATH, "1");
    for covers in ["these-pairs", "every-pair"] {
        let none = whole.replace(&format!("{END_OF_PATH}\n"), "").replace(r#""pairs":1"#, r#""pairs":0"#);
        let none = none.replace("these-pairs", covers);
        assert!(verdict(&none).is_err_and(|why| why.contains("no pair is proved")), "{covers}");
    }
}

/// Half of the change shows a quarter of the loss.
#[test]
fn an_attack_on_a_part_of_a_change_tells_less() {
    let whole = file(r#""use-level""#, &path(2), END_OF_PATH, "1");
    let half = whole.replace(r#""change":["1"]"#, r#""change":["1/2"]"#);
    let lower = |end: &str| verdict(&half.replace(r#""lower":"1""#, &format!(r#""lower":"{end}""#)));
    assert_eq!(lower("1/4"), Ok(()));
    assert!(lower("26/100").is_err_and(|why| why.contains("tells 1/4, less than the lower end 13/50")));
}

#[test]
fn long_numbers_are_exact() {
    let big = "1".repeat(200);
    let whole = file(r#""use-level""#, &path(2), END_OF_PATH, "1");
    let scaled = whole.replace(r#""y1":"-1","y2":"-1""#, &format!(r#""y1":"-{big}/{big}","y2":"-1""#));
    assert_eq!(verdict(&scaled), Ok(()));
    let off = whole.replace(r#"[{"z0":"1"}]"#, &format!(r#"[{{"z0":"{big}0/{big}1"}}]"#));
    assert!(verdict(&off).is_err_and(|why| why.contains("sees a value that moves")));
}
