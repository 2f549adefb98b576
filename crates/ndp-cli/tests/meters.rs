//! `ndp meter`: logs and pipes, budgets, damaged lines.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::io::Write;
use std::process::{Command, Stdio};

const HEAD: &str = "{\"ndp-meter\": 1, \"nodes\": [\"ann\", \"bob\", \"cem\"], \"set\": \"same-direction\"}\n\
                    {\"graph\": \"g\", \"family\": \"path\"}\n\
                    {\"matrix\": \"W\", \"of\": \"g\", \"weights\": \"metropolis\"}\n";
const ROUND: &str = "{\"round\": \"W\", \"variance\": 4, \"reads\": \"nothing\"}\n";

/// Exit code, standard output and standard error of `ndp meter -` on these lines.
fn meter(options: &str, lines: &str) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ndp"));
    command.args(["meter", "-"]).args(options.split_whitespace());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

/// The worst pair with its epsilon, what the numbers rest on, and the point of view.
#[test]
fn a_pipe_is_read_and_told() {
    let (code, out, _) = meter("", &format!("{HEAD}{ROUND}{ROUND}"));
    assert_eq!(code, 0, "{out}");
    // 19/40 of bob towards both ends of the path.
    for words in
        ["0.47501", "same vector", "told of every event", "ended because", "after 2 rounds", "[exact]"]
    {
        let words = words.trim_matches(['[', ']']);
        assert!(out.contains(words), "{words}\n{out}");
    }
    let line = out.lines().find(|line| line.starts_with("bob")).unwrap();
    assert!(line.contains("ann") && line.ends_with('-'), "{line}");
}

/// The first round beyond the budget is refused, with the pair and the line, and code 1.
#[test]
fn a_budget_that_is_exceeded_is_said() {
    let (code, out, _) = meter("--budget-epsilon 4", &format!("{HEAD}{ROUND}{ROUND}"));
    assert!(code == 0 && out.contains("rounds left") && out.contains("[######"), "{code}\n{out}");
    let rounds = ROUND.repeat(9);
    let (code, out, err) = meter("--budget-epsilon 4", &format!("{HEAD}{rounds}"));
    assert_eq!(code, 1, "{out}{err}");
    assert!(err.contains("the budget is exceeded by line") && err.contains("about ann"), "{err}");
    let (code, _, err) = meter("--budget-epsilon=-1", HEAD);
    assert!(code == 1 && err.contains("epsilon"), "{err}");
}

/// JSON lines, one for every line that changed a loss.
#[test]
fn json_lines_follow_the_log() {
    let (code, out, _) = meter("--json - --budget-epsilon 9", &format!("{HEAD}{ROUND}{ROUND}"));
    assert_eq!(code, 0);
    let lines: Vec<serde_json::Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    // Before the first round all losses are 0.
    assert_eq!(lines.iter().map(|line| line["line"].as_u64().unwrap()).collect::<Vec<_>>(), [1, 4, 5]);
    let of_bob = |line: &serde_json::Value| {
        let pairs = line["pairs"].as_array().unwrap();
        let pair = pairs.iter().find(|pair| pair["source"] == "bob" && pair["observer"] == "ann").unwrap();
        assert_eq!(pair["grade"], "exact");
        (pair["loss"].as_f64().unwrap(), pair["used"].as_f64().unwrap())
    };
    assert!((of_bob(&lines[1]).0 - 0.25).abs() < 1e-9 && (of_bob(&lines[2]).0 - 0.475).abs() < 1e-9);
    assert!(of_bob(&lines[2]).1 > 0.0 && lines[2]["rests_on"].as_array().unwrap().len() == 3);
}

/// A log that is damaged is refused with its line; one that is cut off is read without its last line.
#[test]
fn damage_is_said() {
    for (lines, words) in [
        ("", "no first line"),
        ("{\"ndp-meter\": 2, \"nodes\": 3, \"set\": \"signs\"}\n", "version 2"),
        ("{\"ndp-meter\": 1, \"nodes\": 3, \"set\": \"along\"}\n", "a meter follows"),
        (
            "{\"ndp-meter\": 1, \"nodes\": 3, \"set\": \"signs\"}\n{\"forget\": [\"x\"]}\n",
            "line 2 of the log: the name x",
        ),
        (
            "{\"n\":0,\"crc\":\"00000000\",\"step\":{\"ndp-meter\":1,\"nodes\":3,\"set\":\"signs\"}}\n",
            "checksum",
        ),
    ] {
        let (code, _, err) = meter("", lines);
        assert!(code == 1 && err.contains(words), "{lines}: {code} {err}");
    }
    let whole = "{\"n\":0,\"crc\":\"CRC\",\"step\":{\"ndp-meter\":1,\"nodes\":3,\"set\":\"signs\"}}\n{\"n\":1,\"crc\":\"1234";
    let crc = checksum("000000000:{\"ndp-meter\":1,\"nodes\":3,\"set\":\"signs\"}");
    let (code, out, err) = meter("", &whole.replace("CRC", &crc));
    assert!(code == 0 && err.contains("line 2 was cut off"), "{code} {out} {err}");
}

/// CRC-32 with a table, another way than the library's.
fn checksum(text: &str) -> String {
    let table: Vec<u32> = (0..256u32)
        .map(|byte| (0..8).fold(byte, |x, _| if x & 1 == 1 { 0xEDB8_8320 ^ (x >> 1) } else { x >> 1 }))
        .collect();
    let crc =
        text.bytes().fold(u32::MAX, |crc, byte| table[((crc ^ u32::from(byte)) & 255) as usize] ^ (crc >> 8));
    format!("{:08x}", !crc)
}
