//! Files with programs, through the command.

use super::common;

/// The exit code and all output of `ndp loss` for a program on a path of three nodes.
fn loss(name: &str, program: &str) -> (i32, String) {
    let folder = common::folder(&format!("programs-{name}"));
    std::fs::write(folder.join("path"), "0 1\n1 2\n").unwrap();
    std::fs::write(folder.join("mine.jsonl"), program).unwrap();
    let arguments = "loss path --program mine.jsonl --uses use-level --noise 2 --quiet";
    let (code, said, problem) = common::run(&folder, arguments);
    std::fs::remove_dir_all(folder).unwrap();
    (code, said + &problem)
}

const START: &str = "{\"ndp-program\": 1, \"nodes\": 3}\n{\"graph\": \"g\", \"family\": \"path\"}\n\
                     {\"matrix\": \"W\", \"of\": \"g\", \"weights\": \"metropolis\"}\n";

/// A program that contradicts itself is refused with its line, before any number.
#[test]
fn contradictions_are_refused_with_their_line() {
    let noisy = "{\"contribute\": \"x\", \"reads\": \"nothing\"}\n{\"noise\": \"z\", \"variance\": 1}\n\
                 {\"let\": \"y\", \"sum\": {\"x\": 1, \"z\": 1}}\n";
    for (k, (lines, words)) in [
        (
            "{\"noise\": \"z\", \"variance\": 1, \"variance\": 100}",
            "line 4: the key \"variance\" is given twice",
        ),
        (
            "{\"noise\": \"z\", \"variance\": 18446744073709551617}",
            "line 4: 18446744073709551617 is beyond 64 bits",
        ),
        (
            "{\"noise\": \"z\", \"nodes\": [0, 1], \"variance\": 1, \"covariance\": [[1, 0], [0, 1]]}",
            "line 4: \"variance\" does not go with \"covariance\"",
        ),
        (
            &format!("{noisy}{{\"broadcast\": \"y\", \"from\": 0, \"nodes\": [1]}}"),
            "line 7: \"from\" and \"nodes\" exclude",
        ),
        (
            &format!("{noisy}{{\"set\": \"y\", \"gossip\": \"W\", \"of\": \"y\"}}\n{{\"result\": \"y\"}}"),
            "line 7: what comes of gossip cannot be formed from what node 0 holds",
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let (code, text) = loss(&format!("refused-{k}"), &format!("{START}{lines}\n"));
        assert!(code != 0 && text.contains(words), "{lines}: {code}\n{text}");
    }
}

/// The output names each assumption beside the number.
#[test]
fn what_is_assumed_is_said() {
    let program = |reads: &str| {
        format!(
            "{START}{{\"contribute\": \"x\", \"reads\": {reads}}}\n{{\"noise\": \"z\", \"variance\": 1}}\n\
             {{\"let\": \"y\", \"sum\": {{\"x\": 1, \"z\": 1}}}}\n{{\"broadcast\": \"y\"}}\n"
        )
    };
    let (code, text) = loss("assumed", &program("\"seen\""));
    assert!(code == 0 && text.contains("what the observer has seen: assumed"), "{code}\n{text}");
    assert!(text.contains("one use of one node's data changes"), "{text}");
    // What node 0 contributes second may carry on its first value, which nobody sees without noise.
    let carried = "{\"contribute\": \"w\", \"node\": 0, \"reads\": {\"seen\": [\"x@0\"]}}\n\
                   {\"noise\": \"u\", \"node\": 0, \"variance\": 1}\n\
                   {\"let\": \"v\", \"sum\": {\"w\": 1, \"u\": 1}}\n{\"send\": \"v\", \"from\": 0, \"to\": 1}\n";
    let (code, text) = loss("carried", &(program("\"nothing\"") + carried));
    assert!(code == 0 && text.contains("except earlier contributions of the same node"), "{code}\n{text}");
    let (code, text) = loss("fixed", &program("\"nothing\""));
    assert!(code == 0 && !text.contains("assumed"), "{code}\n{text}");
}
