//! `ndp meter`: logs and pipes, budgets, damaged lines.

use super::common;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Stdio};

const HEAD: &str = "{\"ndp-meter\": 1, \"nodes\": [\"ann\", \"bob\", \"cem\"], \"set\": \"same-direction\"}\n\
                    {\"graph\": \"g\", \"family\": \"path\"}\n\
                    {\"matrix\": \"W\", \"of\": \"g\", \"weights\": \"metropolis\"}\n";
const ROUND: &str = "{\"round\": \"W\", \"variance\": 4, \"reads\": \"nothing\"}\n";

/// Exit code, standard output and standard error of `ndp meter -` on these lines.
fn meter(options: &str, lines: &str) -> (i32, String, String) {
    let mut command = common::ndp();
    command.args(["meter", "-"]).args(options.split_whitespace());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

/// The output names the worst pair with its epsilon, what the numbers rest on, and the point of view.
#[test]
fn a_pipe_is_read_and_told() {
    let (code, out, _) = meter("", &format!("{HEAD}{ROUND}{ROUND}"));
    assert_eq!(code, 0, "{out}");
    // The unit loss of bob towards either end of the path is 19/40.
    for words in
        ["0.47501", "same vector", "told of every event", "ended because", "after 2 rounds", "[exact]"]
    {
        let words = words.trim_matches(['[', ']']);
        assert!(out.contains(words), "{words}\n{out}");
    }
    let line = out.lines().find(|line| line.starts_with("bob")).unwrap();
    assert!(line.contains("ann") && line.ends_with('-'), "{line}");
}

/// The first round that exceeds the budget ends with code 1, and the message names the pair and the line.
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

/// With `--json`, every line of the log that changes a loss gives one JSON line.
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

/// A damaged log is refused, with the number of the line. If the last line is cut off, the rest is read
/// without it.
#[test]
fn damage_is_said() {
    for (lines, words) in [
        ("", "no first line"),
        ("{\"ndp-meter\": 3, \"nodes\": 3, \"set\": \"signs\"}\n", "version 3"),
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
        let (code, out, err) = meter("", lines);
        assert!(code == 1 && err.contains(words), "{lines}: {code} {err}");
        assert!(out.is_empty(), "no number of a damaged log is shown: {out}");
    }
    let whole = "{\"n\":0,\"crc\":\"CRC\",\"step\":{\"ndp-meter\":1,\"nodes\":3,\"set\":\"signs\"}}\n{\"n\":1,\"crc\":\"1234";
    let crc = checksum("000000000:{\"ndp-meter\":1,\"nodes\":3,\"set\":\"signs\"}");
    let (code, out, err) = meter("", &whole.replace("CRC", &crc));
    assert!(code == 0 && err.contains("line 2 was cut off"), "{code} {out} {err}");
}

/// CRC-32 by a table, unlike the library's implementation.
fn checksum(text: &str) -> String {
    let table: Vec<u32> = (0..256u32)
        .map(|byte| (0..8).fold(byte, |x, _| if x & 1 == 1 { 0xEDB8_8320 ^ (x >> 1) } else { x >> 1 }))
        .collect();
    let crc =
        text.bytes().fold(u32::MAX, |crc, byte| table[((crc ^ u32::from(byte)) & 255) as usize] ^ (crc >> 8));
    format!("{:08x}", !crc)
}

/// A folder for one test, removed at its end.
struct Folder(std::path::PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        Self(common::folder(&format!("meters-{name}")))
    }

    fn file(&self, name: &str, text: &str) -> String {
        let path = self.0.join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Exit code, standard output and standard error.
fn ndp(arguments: &[&str]) -> (i32, String, String) {
    common::ended(common::ndp().args(arguments))
}

/// A command that runs until the test ends, however it ends.
struct Watching(Child);

impl Drop for Watching {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The command, watching a log.
fn watch(log: &str, page: &Path) -> Watching {
    let mut command = common::ndp();
    command.args(["meter", log, "--watch", "--page", page.to_str().unwrap()]);
    Watching(command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap())
}

/// Whether a page says this before long.
fn page_says(page: &Path, words: &str) -> bool {
    (0..300).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(50));
        std::fs::read_to_string(page).is_ok_and(|text| text.contains(words))
    })
}

/// With `--watch`, new lines of a growing log are read, a half-written line is left until it is complete, and
/// the page is rewritten and reloads itself.
#[test]
fn a_log_that_grows_is_watched() {
    let folder = Folder::new("watch");
    let log = folder.file("log", &format!("{HEAD}{ROUND}"));
    let page = folder.0.join("page.html");
    let mut child = watch(&log, &page);
    let shows = |words: &str| page_says(&page, words);
    assert!(shows("after 1 round"));
    let mut file = std::fs::OpenOptions::new().append(true).open(&log).unwrap();
    let (first, second) = ROUND.split_at(20);
    file.write_all(first.as_bytes()).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(500));
    assert!(shows("after 1 round"), "half a line is no round");
    file.write_all(second.as_bytes()).unwrap();
    assert!(shows("after 2 rounds"));
    let text = std::fs::read_to_string(&page).unwrap();
    assert!(
        text.contains("http-equiv=\"refresh\"") && text.contains("0.47501") && text.contains("same vector")
    );
    // Of a plain log the last line counts without its end, here before that comes.
    file.write_all(ROUND.trim_end().as_bytes()).unwrap();
    assert!(shows("after 3 rounds"));
    file.write_all(format!("\n{ROUND}").as_bytes()).unwrap();
    assert!(shows("after 4 rounds"));
    // Half a line at the end of the watch is no error; that it does not count is said.
    file.write_all(&ROUND.as_bytes()[..20]).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(500));
    let id = child.0.id().to_string();
    assert!(std::process::Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    let mut said = String::new();
    child.0.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert!(child.0.wait().unwrap().success() && said.contains("is half a line"), "{said}");
    file.set_len(file.metadata().unwrap().len() - 20).unwrap();
    // Without `--watch`, the page does not reload itself.
    let (code, _, _) = ndp(&["meter", &log, "--page", page.to_str().unwrap()]);
    let text = std::fs::read_to_string(&page).unwrap();
    assert!(code == 0 && !text.contains("refresh") && text.contains("after 4 rounds"));
}

/// A log that is replaced by another file, that is deleted, or that becomes shorter is not watched on as
/// if it were the old one.
#[test]
fn a_log_that_is_replaced_is_not_watched_on() {
    let change: [fn(&str); 3] = [
        |log| std::fs::rename(format!("{log}.other"), log).unwrap(),
        |log| std::fs::remove_file(log).unwrap(),
        |log| std::fs::OpenOptions::new().write(true).open(log).unwrap().set_len(20).unwrap(),
    ];
    for (k, change) in change.into_iter().enumerate() {
        let folder = Folder::new(&format!("replaced-{k}"));
        let log = folder.file("log", &format!("{HEAD}{ROUND}"));
        folder.file("log.other", &format!("{HEAD}{ROUND}{ROUND}"));
        let page = folder.0.join("page.html");
        let mut child = watch(&log, &page);
        assert!(page_says(&page, "after 1 round"));
        change(&log);
        let ended = (0..300).find_map(|_| {
            std::thread::sleep(std::time::Duration::from_millis(50));
            child.0.try_wait().unwrap()
        });
        assert!(ended.is_some_and(|status| !status.success()), "{k}: {ended:?}");
        let mut said = String::new();
        child.0.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert!(said.contains("was deleted, replaced or became shorter"), "{k}: {said}");
    }
}

/// Nodes of two logs are matched by name. The losses of separate runs add up; two logs of the same run count
/// once, or are refused.
#[test]
fn two_logs_are_merged_by_names() {
    let folder = Folder::new("merge");
    let first = folder.file("first", &format!("{HEAD}{ROUND}"));
    let longer = folder.file("longer", &format!("{HEAD}{ROUND}{ROUND}"));
    let turned = folder.file(
        "turned",
        &format!("{HEAD}{ROUND}").replace("\"ann\", \"bob\", \"cem\"", "\"bob\", \"ann\", \"cem\""),
    );
    let (code, out, _) = ndp(&["meter", &first, &longer, "--runs", "same"]);
    assert!(code == 0 && out.contains("0.47501"), "{out}");
    // bob is an end of the other path, ann its middle: a quarter from each run.
    let (code, out, _) = ndp(&["meter", &first, &turned, "--runs", "separate"]);
    let line = out.lines().find(|line| line.starts_with("bob") && line.contains("ann")).unwrap();
    assert!(code == 0 && line.contains("0.50001") && out.contains("said by who merged"), "{out}");
    let (code, out, err) = ndp(&["meter", &first, &turned, "--runs", "separate", "--budget-epsilon", "2.9"]);
    assert!(code == 1 && err.contains("together the logs exceed the budget"), "{out}{err}");
    let (code, _, err) = ndp(&["meter", &first, &turned, "--runs", "same"]);
    assert!(code == 1 && err.contains("told in two ways"), "{err}");
    let (code, _, err) = ndp(&["meter", &first, &turned]);
    assert!(code == 2 && err.contains("--runs"), "{err}");
}

/// Logs of parts of one run can be put together; otherwise the error says why they do not fit.
#[test]
fn parts_of_a_run_are_put_together() {
    let folder = Folder::new("parts");
    let head = |names: &str, tells: &str| {
        format!("{{\"ndp-meter\": 2, \"nodes\": [{names}], \"set\": \"use-level\", \"tells\": [{tells}]}}\n")
    };
    let own = "{\"contribute\": \"x\", \"node\": 0, \"reads\": \"nothing\"}\n\
               {\"noise\": \"z\", \"shared\": [0], \"variance\": 4}\n\
               {\"let\": \"y\", \"sum\": {\"x\": 1, \"z\": 1}}\n\
               {\"send\": \"y\", \"from\": 0, \"to\": 1, \"id\": \"m\"}\n";
    let ann = folder.file("ann", &(head("\"ann\", \"bob\", \"cem\"", "0") + own));
    let bob = folder.file(
        "bob",
        &(head("\"bob\", \"cem\", \"ann\"", "0")
            + "{\"receive\": \"a\", \"id\": \"m\", \"by\": 0}\n{\"send\": \"a\", \"from\": 0, \"to\": 1}\n"),
    );
    let cem = folder.file("cem", &head("\"cem\", \"ann\", \"bob\"", "0"));
    for logs in [[&ann, &bob, &cem], [&cem, &bob, &ann]] {
        let (code, out, err) = ndp(&["meter", logs[0], logs[1], logs[2], "--runs", "parts"]);
        let about = |observer: &str| {
            out.lines()
                .any(|line| line.starts_with("ann") && line.contains(observer) && line.contains("0.25"))
        };
        assert!(
            code == 0 && about("bob") && about("cem") && out.contains("said by who merged them"),
            "{out}{err}"
        );
    }
    let (code, _, err) = ndp(&["meter", &ann, &bob, &cem, "--runs", "parts", "--budget-epsilon", "0.5"]);
    assert!(code == 1 && err.contains("together the logs exceed the budget"), "{err}");
    let (code, _, err) = ndp(&["meter", &ann, &cem, "--runs", "parts"]);
    assert!(code == 1 && err.contains("no log tells of the steps of bob"), "{err}");
    let (code, _, err) = ndp(&["meter", &bob]);
    assert!(code == 1 && err.contains("a part of a run"), "{err}");
    let (code, _, err) = ndp(&["meter", &ann, &bob, &cem, "--runs", "same"]);
    assert!(code == 2 && err.contains("two logs are merged this way"), "{err}");
}

/// The log of a coordinator, read from the point of view of one node.
#[test]
fn a_log_is_read_as_a_node_would_tell_it() {
    let (code, out, _) = meter("--view own:bob", &format!("{HEAD}{ROUND}{ROUND}"));
    let line = out.lines().find(|line| line.starts_with("bob")).unwrap();
    assert!(code == 0 && line.contains("ann+cem") && line.contains("0.50001"), "{out}");
    assert!(out.contains("whatever the others do") && !out.contains("told of every event"), "{out}");
    let (code, out, _) = meter("--view schedule:ann", &format!("{HEAD}{ROUND}"));
    assert!(code == 0 && out.contains("keep to the public schedule"), "{out}");
    let (code, _, err) = meter("--view own:dil", HEAD);
    assert!(code == 1 && err.contains("no node dil"), "{err}");
}
