//! Program files that contradict themselves: a key that occurs twice, keys that exclude each other, numbers
//! that no reader can represent.
//!
//! The truth is that such a text has no meaning: the reader may not choose one of the two meanings. Each text
//! is first read without its contradiction, so that a refusal is due to the contradiction.

use crate::draw::numbers::pick;
use crate::part::{Outcome, Part, Stratum, Violation};
use ndp_program::Program;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

pub(crate) struct Contradictions;

impl Part for Contradictions {
    fn name(&self) -> &'static str {
        "contradictions"
    }

    fn what(&self) -> &'static str {
        "program files with a key twice, keys that exclude each other, numbers beyond 2^63; all must be refused"
    }

    fn case(&self, number: u64, rng: &mut ChaCha8Rng) -> Outcome {
        let (column, kind, base, wrong) = match number % 3 {
            0 => repeated(rng),
            1 => excluding(rng),
            _ => too_large(rng),
        };
        let mut outcome = Outcome::new(Stratum::named("program", column));
        let size = [wrong.lines().count() as u64, wrong.len() as u64, number % 3];
        let violation = |kind: &'static str, what: String, text: &str, must: &str| Violation {
            kind,
            size,
            what,
            test: format!(
                "#[test]\nfn found_by_the_search() {{\n    let text = r#\"{text}\"#;\n    \
                 assert!(ndp_program::Program::read(text.as_bytes()).{must}());\n}}"
            ),
        };
        let read = |text: &str| Program::read(text.as_bytes()).map(|_| ());
        let plain = read(&base);
        outcome.check(plain.is_ok(), || {
            violation("a plain program is refused", format!("{plain:?}"), &base, "is_ok")
        });
        outcome.check(read(&wrong).is_err(), || {
            let line = base.lines().zip(wrong.lines()).find(|(a, b)| a != b).map_or("", |(_, line)| line);
            violation(kind, format!("accepted: {line}"), &wrong, "is_err")
        });
        outcome
    }

    fn short(&self) -> u64 {
        3000
    }
}

type Drawn = (&'static str, &'static str, String, String);

/// A program for four nodes: lines that define what `line` needs, the line itself, and perhaps lines that use
/// it.
fn program(rng: &mut ChaCha8Rng, line: &str) -> String {
    let mut text = String::from("{\"ndp-program\": 1, \"nodes\": 4}\n");
    for needed in [
        "{\"graph\": \"g\", \"family\": \"cycle\"}",
        "{\"matrix\": \"w\", \"of\": \"g\", \"weights\": \"metropolis\"}",
        "{\"contribute\": \"x\", \"reads\": \"nothing\"}",
        "{\"noise\": \"z\", \"variance\": 1}",
        "{\"let\": \"y\", \"sum\": {\"x\": 1, \"z\": 1}}",
    ] {
        text.push_str(needed);
        text.push('\n');
    }
    // A value must be sent before it is mixed.
    if rng.random_range(0..2) == 0 || line.contains("gossip") {
        text.push_str("{\"send\": \"y\", \"along\": \"g\"}\n");
    }
    text.push_str(line);
    text.push('\n');
    if rng.random_range(0..3) == 0 && !line.contains("result") {
        text.push_str("{\"result\": \"y\"}\n");
    }
    text
}

/// Lines of every kind: their keys with values, as they are written.
const LINES: &[&[(&str, &str)]] = &[
    &[("graph", "\"h\""), ("family", "\"path\"")],
    &[("graph", "\"h\""), ("edges", "[[0, 1], [1, 2]]")],
    &[("matrix", "\"v\""), ("of", "\"g\""), ("weights", "\"metropolis\""), ("lazy", "0.5")],
    &[("matrix", "\"v\""), ("rows", "[[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]")],
    &[("matrix", "\"v\""), ("entries", "[{\"0\": 1}, {\"1\": 1}, {\"2\": 1}, {\"3\": 1}]")],
    &[("contribute", "\"q\""), ("reads", "\"nothing\""), ("nodes", "[0, 1]")],
    &[("contribute", "\"q\""), ("reads", "{\"seen\": [\"y\"]}"), ("node", "0")],
    &[("noise", "\"q\""), ("variance", "2")],
    &[("noise", "\"q\""), ("variance", "2"), ("nodes", "[0, 1]")],
    &[("noise", "\"q\""), ("variance", "2"), ("shared", "[0, 1]")],
    &[("noise", "\"q\""), ("variance", "2"), ("zero-sum", "[0, 1]")],
    &[("noise", "\"q\""), ("variance", "2"), ("pairwise", "\"g\"")],
    &[("noise", "\"q\""), ("covariance", "[[2, 1], [1, 2]]"), ("nodes", "[0, 1]")],
    &[("noise", "\"q\""), ("variance", "1"), ("over-time", "[[1], [1, 1]]")],
    &[("noise", "\"q\""), ("variance", "1"), ("band", "[1, 1]"), ("steps", "3")],
    &[("noise", "\"q\""), ("variance", "1"), ("inverse-of-band", "[1, 1]"), ("steps", "3")],
    &[("let", "\"q\""), ("sum", "{\"x\": 1, \"z\": 3}")],
    &[("let", "\"q\""), ("sum", "{\"x\": 1, \"z\": 3}"), ("nodes", "[0, 1]")],
    &[("set", "\"y\""), ("sum", "{\"x\": 1, \"z\": 3}")],
    &[("let", "\"q\""), ("gossip", "\"w\""), ("of", "\"y\"")],
    &[("send", "\"y\""), ("from", "0"), ("to", "[1]")],
    &[("send", "\"y\""), ("along", "\"g\"")],
    &[("send", "\"y\""), ("along", "\"g\""), ("nodes", "[0]")],
    &[("broadcast", "\"y\"")],
    &[("broadcast", "\"y\""), ("from", "0")],
    &[("broadcast", "\"y\""), ("nodes", "[1]")],
    &[("publish", "\"y@0\"")],
    &[("secure-sum", "\"q\""), ("of", "\"y\""), ("nodes", "[0, 1]"), ("to", "2")],
    &[("secure-sum", "\"q\""), ("of", "\"y\""), ("nodes", "[0, 1]"), ("to", "2"), ("weights", "[1, 2]")],
    &[("secure-sum", "\"q\""), ("of", "\"y\""), ("along", "\"w\"")],
    &[("deliver", "\"y@0\""), ("to", "2"), ("group", "[0, 1]")],
    &[("hold", "\"y@0\""), ("by", "1")],
    &[("result", "\"y\""), ("nodes", "[0]")],
    &[("leave", "[3]")],
    &[("repeat", "2")],
];

/// A line with these keys; for a repeated block, its content and its end are added.
fn written(keys: &[(&str, &str)]) -> String {
    let pairs: Vec<String> = keys.iter().map(|(key, value)| format!("\"{key}\": {value}")).collect();
    let line = format!("{{{}}}", pairs.join(", "));
    if keys[0].0 == "repeat" { line + "\n{\"broadcast\": \"y\"}\n{\"end\": \"repeat\"}" } else { line }
}

/// Two programs that differ in one line.
fn both(rng: &mut ChaCha8Rng, base: &str, wrong: &str) -> (String, String) {
    let mut again = rng.clone();
    (program(rng, base), program(&mut again, wrong))
}

/// A key that occurs twice, on the line or within one of its values; the second value differs or is the same.
fn repeated(rng: &mut ChaCha8Rng) -> Drawn {
    let keys = pick(rng, LINES);
    let within: &[(&str, &str, &str)] = &[
        ("{\"x\": 1, \"z\": 3}", "{\"x\": 1, \"z\": 3, \"x\": 0}", "sum"),
        ("{\"x\": 1, \"z\": 3}", "{\"z\": 3, \"x\": 1, \"z\": 3}", "sum"),
        ("{\"seen\": [\"y\"]}", "{\"seen\": [], \"seen\": [\"y\"]}", "reads"),
        ("{\"0\": 1}", "{\"0\": 2, \"0\": 1}", "entries"),
    ];
    let line = written(keys);
    if rng.random_range(0..3) == 0
        && let Some((plain, twice, _)) = within.iter().find(|(plain, ..)| line.contains(plain))
    {
        let (base, wrong) = both(rng, &line, &line.replacen(plain, twice, 1));
        return ("a key twice", "a key twice within a value", base, wrong);
    }
    if rng.random_range(0..8) == 0 {
        // The repeated key is in the first line.
        let base = program(rng, &line);
        let wrong = base.replacen(
            "\"nodes\": 4}",
            pick(rng, &["\"nodes\": 9, \"nodes\": 4}", "\"nodes\": 4, \"nodes\": 4}"]),
            1,
        );
        return ("a key twice", "a key twice on the first line", base, wrong);
    }
    let (key, value) = keys[rng.random_range(0..keys.len())];
    let other = match value {
        "2" | "1" | "0.5" | "3" => pick(rng, &["100", "1e6", value]),
        "\"metropolis\"" => "\"max-degree\"",
        "\"path\"" => "\"star\"",
        "[0, 1]" => pick(rng, &["[1, 2]", value]),
        "\"nothing\"" => pick(rng, &["\"hidden\"", "\"seen\"", value]),
        _ => value,
    };
    // Put the second occurrence of the key at a random place, since a reader might take the first or the
    // last.
    let mut twice = keys.to_vec();
    twice.insert(rng.random_range(0..=keys.len()), (key, other));
    let (base, wrong) = both(rng, &line, &written(&twice));
    ("a key twice", "a key twice", base, wrong)
}

/// A line, and a key that contradicts it or that nothing on the line needs.
#[allow(
    clippy::type_complexity,
    reason = "a table: keys and values of a line, and the pair that contradicts them"
)]
const EXCLUDING: &[(&[(&str, &str)], (&str, &str))] = &[
    (&[("graph", "\"h\""), ("family", "\"path\"")], ("edges", "[[0, 3]]")),
    (
        &[("matrix", "\"v\""), ("of", "\"g\""), ("weights", "\"metropolis\"")],
        ("rows", "[[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]"),
    ),
    (
        &[("matrix", "\"v\""), ("of", "\"g\""), ("weights", "\"metropolis\"")],
        ("entries", "[{\"0\": 1}, {\"1\": 1}, {\"2\": 1}, {\"3\": 1}]"),
    ),
    (
        &[("matrix", "\"v\""), ("rows", "[[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]")],
        ("lazy", "0.5"),
    ),
    (
        &[("matrix", "\"v\""), ("rows", "[[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]")],
        ("entries", "[{\"0\": 1}, {\"1\": 1}, {\"2\": 1}, {\"3\": 1}]"),
    ),
    (
        &[("matrix", "\"v\""), ("entries", "[{\"0\": 1}, {\"1\": 1}, {\"2\": 1}, {\"3\": 1}]")],
        ("weights", "\"metropolis\""),
    ),
    (&[("contribute", "\"q\""), ("reads", "\"nothing\""), ("node", "0")], ("nodes", "[0, 1]")),
    (&[("noise", "\"q\""), ("variance", "2"), ("node", "0")], ("nodes", "[0, 1]")),
    (&[("noise", "\"q\""), ("covariance", "[[2, 1], [1, 2]]"), ("nodes", "[0, 1]")], ("variance", "100")),
    (&[("noise", "\"q\""), ("variance", "2"), ("shared", "[0, 1]")], ("nodes", "[2, 3]")),
    (&[("noise", "\"q\""), ("variance", "2"), ("shared", "[0, 1]")], ("zero-sum", "[0, 1]")),
    (&[("noise", "\"q\""), ("variance", "2"), ("shared", "[0, 1]")], ("band", "[1, 1]")),
    (&[("noise", "\"q\""), ("variance", "2"), ("zero-sum", "[0, 1]")], ("nodes", "[2, 3]")),
    (&[("noise", "\"q\""), ("variance", "2"), ("zero-sum", "[0, 1]")], ("pairwise", "\"g\"")),
    (&[("noise", "\"q\""), ("variance", "2"), ("pairwise", "\"g\"")], ("nodes", "[0, 1]")),
    (&[("noise", "\"q\""), ("variance", "1"), ("over-time", "[[1], [1, 1]]")], ("band", "[1, 1]")),
    (
        &[("noise", "\"q\""), ("variance", "1"), ("band", "[1, 1]"), ("steps", "3")],
        ("inverse-of-band", "[1, 1]"),
    ),
    (&[("noise", "\"q\""), ("variance", "1"), ("over-time", "[[1], [1, 1]]")], ("steps", "5")),
    (&[("noise", "\"q\""), ("variance", "2")], ("steps", "5")),
    (&[("let", "\"q\""), ("sum", "{\"x\": 1, \"z\": 3}")], ("set", "\"y\"")),
    (&[("let", "\"q\""), ("sum", "{\"x\": 1, \"z\": 3}")], ("of", "\"y\"")),
    (&[("let", "\"q\""), ("gossip", "\"w\""), ("of", "\"y\"")], ("sum", "{\"x\": 1}")),
    (&[("let", "\"q\""), ("gossip", "\"w\""), ("of", "\"y\"")], ("nodes", "[0, 1]")),
    (&[("let", "\"q\""), ("sum", "{\"x\": 1, \"z\": 3}"), ("node", "0")], ("nodes", "[0, 1]")),
    (&[("send", "\"y\""), ("along", "\"g\"")], ("to", "[1]")),
    (&[("send", "\"y\""), ("along", "\"g\"")], ("from", "0")),
    (&[("send", "\"y\""), ("from", "0"), ("to", "[1]")], ("nodes", "[2]")),
    (&[("broadcast", "\"y\""), ("from", "0")], ("nodes", "[1]")),
    (&[("secure-sum", "\"q\""), ("of", "\"y\""), ("along", "\"w\"")], ("nodes", "[0, 1]")),
    (&[("secure-sum", "\"q\""), ("of", "\"y\""), ("along", "\"w\"")], ("to", "2")),
    (&[("secure-sum", "\"q\""), ("of", "\"y\""), ("along", "\"w\"")], ("weights", "[1, 2]")),
];

fn excluding(rng: &mut ChaCha8Rng) -> Drawn {
    if rng.random_range(0..EXCLUDING.len()) == 0 {
        // A second key beside the end of a block.
        let block = |end: &str| format!("{{\"repeat\": 2}}\n{{\"broadcast\": \"y\"}}\n{end}");
        let beside = pick(
            rng,
            &["{\"end\": \"repeat\", \"broadcast\": \"z\"}", "{\"end\": \"repeat\", \"leave\": [3]}"],
        );
        let (base, wrong) = both(rng, &block("{\"end\": \"repeat\"}"), &block(beside));
        return ("excluding keys", "keys beside an end", base, wrong);
    }
    let (keys, extra) = pick(rng, EXCLUDING);
    let mut more = keys.to_vec();
    more.insert(rng.random_range(0..=keys.len()), extra);
    let (base, wrong) = both(rng, &written(keys), &written(&more));
    ("excluding keys", "keys that exclude each other", base, wrong)
}

/// Integers that fit neither into 64 bits nor into an `f64`.
fn too_large(rng: &mut ChaCha8Rng) -> Drawn {
    let number = pick(
        rng,
        &[
            "9223372036854775809",
            "9223372036854777000",
            "10000000000000000001",
            "18446744073709551617",
            "100000000000000000000000000000000000001",
        ],
    );
    let signed = if rng.random_range(0..3) == 0 { format!("-{number}") } else { number.to_owned() };
    let (plain, line) = match rng.random_range(0..5) {
        0 => ("{\"noise\": \"q\", \"variance\": #}", number),
        1 => ("{\"let\": \"q\", \"sum\": {\"x\": 1, \"z\": #}}", signed.as_str()),
        2 => ("{\"noise\": \"q\", \"covariance\": [[#, 0], [0, 1]], \"nodes\": [0, 1]}", number),
        3 => ("{\"noise\": \"q\", \"variance\": 1, \"over-time\": [[1], [#, 1]]}", signed.as_str()),
        _ => (
            "{\"secure-sum\": \"q\", \"of\": \"y\", \"nodes\": [0, 1], \"to\": 2, \"weights\": [1, #]}",
            signed.as_str(),
        ),
    };
    let (base, wrong) = both(rng, &plain.replace('#', "3"), &plain.replace('#', line));
    ("numbers beyond 2^63", "a number that is not what is written", base, wrong)
}
