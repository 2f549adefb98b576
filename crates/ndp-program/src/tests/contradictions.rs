//! Texts that contradict themselves, that contain numbers which cannot be represented, or that let nodes send
//! what they do not have.

use super::*;
use crate::constructors::*;
use ndp_account::RestsOn;
use ndp_graph::GossipMatrix;
use ndp_graph::generators::{complete_graph, cycle_graph, path_graph, star_graph};

type Outcome = Result<(), Box<dyn std::error::Error>>;

/// Three nodes on a path, its matrix and the noisy values `y`: seven lines.
const START: &str = r#"{"ndp-program": 1, "nodes": 3}
{"graph": "g", "family": "path"}
{"matrix": "W", "of": "g", "weights": "metropolis"}
{"contribute": "x", "reads": "nothing"}
{"noise": "z", "variance": 1}
{"noise": "n", "over-time": [[1], [-1, 1]], "variance": 1}
{"let": "y", "sum": {"x": 1, "z": 1}}
"#;

/// The result of reading these lines after the start; or the problem, with the line that it is reported for.
pub(super) fn said(lines: &str) -> Result<Program, (usize, String)> {
    Program::read(format!("{START}{lines}").as_bytes()).map_err(|error| match error.carried() {
        Some(ProgramError::Line { line, problem }) => (*line, problem.to_string()),
        _ => panic!("no line: {error}"),
    })
}

#[track_caller]
fn refused(lines: &str, words: &str) {
    match said(lines) {
        Err((line, problem)) => {
            assert_eq!(line, 7 + lines.trim_end().lines().count(), "{lines}: {problem}");
            assert!(problem.contains(words), "{lines}: {problem}");
        }
        Ok(_) => panic!("taken: {lines}"),
    }
}

#[test]
fn a_key_is_given_once_at_any_depth() {
    for line in [
        r#"{"noise": "m", "variance": 1, "variance": 100}"#,
        r#"{"noise": "m", "variance": 1, "\u0076ariance": 100}"#,
        r#"{"let": "s", "sum": {"y": 1, "y": 5}}"#,
        r#"{"matrix": "V", "entries": [{"0": 1, "0": 2}, {"1": 1}, {"2": 1}]}"#,
        r#"{"contribute": "c", "reads": {"seen": ["y"], "seen": []}}"#,
        r#"{"send": "y", "from": 0, "to": 1, "to": 2}"#,
    ] {
        refused(line, "is given twice");
    }
    // The same column, written differently.
    refused(r#"{"matrix": "V", "entries": [{"0": 1, "00": 2}, {"1": 1}, {"2": 1}]}"#, "\"00\" is no column");
    refused(r#"{"matrix": "V", "entries": [{"0": 0, "+0": 2}, {"1": 1}, {"2": 1}]}"#, "\"+0\" is no column");
    for name in ["y@00", "y@+1", "n[00]@0", "n[+1]@0"] {
        refused(&format!(r#"{{"publish": "{name}"}}"#), "is not known");
    }
    let twice = "{\"ndp-program\": 1, \"nodes\": 3, \"nodes\": 4}";
    let error = Program::read(twice.as_bytes()).map(|_| ()).map_err(|error| error.to_string());
    assert_eq!(error, Err("line 1: the key \"nodes\" is given twice, column 42".to_owned()));
}

#[test]
fn keys_that_exclude_each_other_are_refused() {
    let exclude = "exclude each other";
    let not_with = "does not go with";
    for (line, words) in [
        (r#"{"broadcast": "y", "from": 0, "nodes": [1]}"#, exclude),
        (r#"{"noise": "m", "nodes": [0, 1], "variance": 1, "covariance": [[1, 0], [0, 1]]}"#, not_with),
        (r#"{"noise": "m", "node": 0, "covariance": [[1]]}"#, not_with),
        (r#"{"noise": "m", "shared": [0, 1], "zero-sum": [0, 1], "variance": 1}"#, exclude),
        (r#"{"noise": "m", "shared": [0, 1], "nodes": [0, 1], "variance": 1}"#, not_with),
        (r#"{"noise": "m", "zero-sum": [0, 1], "node": 0, "variance": 1}"#, not_with),
        (r#"{"noise": "m", "pairwise": "g", "nodes": [0, 1], "variance": 1}"#, not_with),
        (r#"{"noise": "m", "band": [1], "inverse-of-band": [1], "steps": 2, "variance": 1}"#, exclude),
        (r#"{"noise": "m", "over-time": [[1]], "steps": 2, "variance": 1}"#, not_with),
        (r#"{"noise": "m", "steps": 2, "variance": 1}"#, not_with),
        (r#"{"noise": "m", "node": 0, "nodes": [0, 1], "variance": 1}"#, exclude),
        (r#"{"contribute": "c", "node": 0, "nodes": [0, 1], "reads": "nothing"}"#, exclude),
        (r#"{"contribute": "c", "reads": {"seen": [], "hidden": []}}"#, "must be"),
        (r#"{"graph": "h", "family": "path", "edges": [[0, 1]]}"#, exclude),
        (r#"{"matrix": "V", "of": "g", "weights": "metropolis", "rows": [[1]]}"#, exclude),
        (r#"{"matrix": "V", "rows": [[1, 0, 0], [0, 1, 0], [0, 0, 1]], "lazy": 0.5}"#, not_with),
        (r#"{"matrix": "V", "entries": [{"0": 1}, {"1": 1}, {"2": 1}], "weights": "metropolis"}"#, not_with),
        (r#"{"let": "a", "set": "y", "sum": {"y": 1}}"#, exclude),
        (r#"{"let": "a", "sum": {"y": 1}, "gossip": "W", "of": "y"}"#, exclude),
        (r#"{"let": "a", "gossip": "W", "of": "y", "nodes": [0]}"#, not_with),
        (r#"{"let": "a", "sum": {"y": 1}, "of": "y"}"#, not_with),
        (r#"{"send": "y", "along": "g", "from": 0, "to": 1}"#, exclude),
        (r#"{"send": "y", "along": "g", "to": 1}"#, not_with),
        (r#"{"send": "y", "from": 0, "to": 1, "nodes": [0]}"#, not_with),
        (r#"{"send": "y", "broadcast": "y"}"#, "does not belong here"),
        (r#"{"secure-sum": "s", "of": "y", "along": "W", "to": 0}"#, exclude),
        (r#"{"secure-sum": "s", "of": "y", "along": "W", "weights": [1, 1, 1]}"#, not_with),
        (r#"{"repeat": 2, "let": "a", "sum": {"y": 1}}"#, "does not belong here"),
    ] {
        refused(line, words);
    }
}

#[test]
fn blocks_say_what_they_mean() {
    refused(
        "{\"repeat\": 2}\n{\"publish\": \"y@0\"}\n{\"end\": \"repeat\", \"noise\": \"m\"}",
        "does not belong here",
    );
    refused("{\"repeat\": 2}\n{\"publish\": \"y@0\"}\n{\"end\": 5}", "must be a text");
    refused(
        "{\"repeat\": 2}\n{\"publish\": \"y@0\"}\n{\"end\": \"block\"}",
        "only a repeated block has an end",
    );
    refused("{\"repeat\": 0}", "at least once");
    refused("{\"repeat\": -1}", "must be a whole number");
    // A block that is repeated more often than is possible is refused, and not cut short.
    for (often, step) in [("100000000", ""), ("4294967296", "{\"publish\": \"y@0\"}\n")] {
        let absurd = said(&format!("{{\"repeat\": {often}}}\n{step}{{\"end\": \"repeat\"}}"));
        assert_refused(absurd.map_err(|(_, problem)| problem), "more than 10000000 steps");
    }
    let deep = |depth: usize| "{\"repeat\": 1}\n".repeat(depth) + &"{\"end\": \"repeat\"}\n".repeat(depth);
    assert!(said(&deep(10)).is_ok());
    let (line, problem) = said(&deep(200_000)).expect_err("too deep");
    assert_eq!((line, problem.as_str()), (72, "blocks lie in each other more than 64 times"));
}

/// Numbers are exactly what is written, or refused.
#[test]
fn numbers_are_kept_or_refused() -> Outcome {
    for variance in
        ["9223372036854775808", "-9223372036854775809", "18446744073709551617", "1000000000000000000000000"]
    {
        refused(&format!(r#"{{"noise": "m", "variance": {variance}}}"#), "beyond 64 bits");
    }
    for variance in ["1e-400", "0.00000000000001e-330", "-1.5e-324000"] {
        refused(&format!(r#"{{"noise": "m", "variance": {variance}}}"#), "would be read as 0");
    }
    let variance = |variance: &str, words: &str| {
        refused(&format!(r#"{{"noise": "m", "variance": {variance}}}"#), words);
    };
    for no_number in ["NaN", "inf"] {
        variance(no_number, "no JSON");
    }
    for no_ratio in [
        "\"NaN\"", "\"inf\"", "\"1e5\"", "\"0.1\"", "\"1_0\"", "\"+1\"", "\"1/0\"", "\"\"", "\"-\"", "true",
        "null", "[]",
    ] {
        variance(no_ratio, "is neither an integer nor a ratio of integers");
    }
    variance("-1", "a variance must be at least 0, got -1");
    for node in ["1.0", "-1", "\"1\"", "1e0"] {
        let line = format!(r#"{{"noise": "m", "node": {node}, "variance": 1}}"#);
        refused(&line, "\"node\" must be a whole number");
    }
    refused(r#"{"noise": "m", "node": 18446744073709551615, "variance": 1}"#, "is beyond 64 bits");
    variance(&format!("\"{}\"", "9".repeat(200_000)), "is neither an integer nor a ratio of integers");
    let of = |variance: &str| -> Result<Vec<num_rational::BigRational>, Box<dyn std::error::Error>> {
        let program = said(&format!(r#"{{"noise": "m", "node": 0, "variance": {variance}}}"#));
        Ok(program
            .map_err(|(_, problem)| problem)?
            .noises
            .iter()
            .rev()
            .take(1)
            .map(|z| z.variance.clone())
            .collect())
    };
    let whole = |text: &str| -> Result<_, num_bigint::ParseBigIntError> {
        Ok(vec![num_rational::BigRational::from_integer(text.parse()?)])
    };
    assert_eq!(of("9223372036854775807")?, whole("9223372036854775807")?);
    assert_eq!(of("\"18446744073709551617\"")?, whole("18446744073709551617")?);
    assert_eq!(of("1e3")?, whole("1000")?);
    assert_eq!(of("0e-400")?, whole("0")?);
    // A tenth as text is exactly a tenth; with a decimal point it is the nearest float.
    assert_eq!(of("\"1/10\"")?, vec![num_rational::BigRational::new(1.into(), 10.into())]);
    assert_eq!(of("0.1")?, vec![num_rational::BigRational::from_float(0.1).ok_or("finite")?]);
    assert_ne!(of("0.1")?, of("\"1/10\"")?);
    // Digits in names and texts are not numbers.
    refused(r#"{"let": "a-99999999999999999999-\"1e-400", "sum": {"y": 1}}"#, "is no name");
    assert!(said(r#"{"let": "a-99999999999999999999", "sum": {"y": 1}}"#).is_ok());
    Ok(())
}

/// The share that every node keeps is exact as well: a third is a third.
#[test]
fn laziness_is_exact() -> Outcome {
    let lazy = |share: &str| {
        said(&format!(
            r#"{{"matrix": "V", "of": "g", "weights": "metropolis", "lazy": {share}}}
{{"send": "y", "along": "g"}}
{{"let": "a", "gossip": "V", "of": "y"}}"#
        ))
    };
    let program = lazy("\"1/3\"").map_err(|(_, problem)| problem)?;
    let Some(last) = program.values().last() else { panic!("there are values") };
    let form = program.form(usize::from(last) - 2);
    // Node 0 keeps 1/3 + 2/3 · 2/3 of its value.
    assert_eq!(form[0].1, num_rational::BigRational::new(7.into(), 9.into()));
    for share in ["1", "-0.5", "\"3/2\""] {
        assert_refused(lazy(share).map_err(|(_, problem)| problem), "must be at least 0 and below 1");
    }
    // The entries of a given matrix are the same.
    let by_hand = said(
        r#"{"matrix": "V", "rows": [["7/9", "2/9", 0], ["2/9", "5/9", "2/9"], [0, "2/9", "7/9"]]}
{"send": "y", "along": "g"}
{"let": "a", "gossip": "V", "of": "y"}"#,
    );
    assert_eq!(by_hand, Ok(program));
    Ok(())
}

#[test]
fn lists_name_nodes_and_names_once() {
    for line in [
        r#"{"broadcast": "y", "from": [0, 0]}"#,
        r#"{"broadcast": "y", "nodes": [1, 1]}"#,
        r#"{"send": "y", "from": 0, "to": [1, 1]}"#,
        r#"{"send": "y", "along": "g", "nodes": [1, 1]}"#,
        r#"{"let": "a", "sum": {"y": 1}, "nodes": [1, 1]}"#,
        r#"{"noise": "m", "nodes": [1, 1], "variance": 1}"#,
        r#"{"result": "y", "nodes": [1, 1]}"#,
        r#"{"let": ["a", "b", "a"], "gossip": "W", "of": "y"}"#,
    ] {
        refused(line, "is given twice");
    }
    // A node that is named for a sum of single values is not ignored.
    refused(
        "{\"let\": \"a\", \"sum\": {\"y@0\": 1}, \"node\": 0}\n{\"publish\": \"a\"}",
        "one value for every node",
    );
}

/// What was sent to nobody cannot be mixed, sent on, or be a result.
#[test]
fn nodes_hold_what_they_use() {
    refused(
        r#"{"let": "a", "gossip": "W", "of": "y"}"#,
        "what comes of gossip cannot be formed from what node 0 holds",
    );
    refused(r#"{"send": "y@1", "from": 0, "to": 2}"#, "a message cannot be formed from what node 0 holds");
    refused(r#"{"broadcast": "x@1", "from": 0}"#, "a message cannot be formed from what node 0 holds");
    refused(
        "{\"let\": \"a\", \"sum\": {\"y@0\": 1, \"y@1\": 1}}\n{\"result\": \"a\"}",
        "a result cannot be formed from what node 0",
    );
    refused(
        r#"{"secure-sum": "s", "of": "z@0", "nodes": [1, 2], "to": 0}"#,
        "a secure sum cannot be formed from what the group [1, 2]",
    );
    // Only half of the neighbors have sent.
    refused(
        "{\"send\": \"y\", \"along\": \"g\", \"nodes\": [0, 1]}\n{\"let\": \"a\", \"gossip\": \"W\", \"of\": \"y\"}",
        "node 1 holds",
    );
    // Once the noise of another node is public, it can be used.
    for lines in [
        "{\"publish\": \"y@1\"}\n{\"send\": \"y@1\", \"from\": 0, \"to\": 2}",
        "{\"hold\": \"y@1\", \"by\": 0}\n{\"send\": \"y@1\", \"from\": 0, \"to\": 2}",
        // A value minus a noise that the node knows.
        "{\"noise\": \"m\", \"shared\": [0, 1], \"variance\": 1}\n{\"let\": \"a\", \"sum\": {\"y@0\": 1, \"m\": 1}}\n\
         {\"send\": \"a\", \"from\": 0, \"to\": 1}\n{\"send\": \"y@0\", \"from\": 1, \"to\": 2}",
        // Sums of neighbors are enough for the mean with them.
        "{\"secure-sum\": \"s\", \"of\": \"y\", \"along\": \"W\"}\n{\"let\": \"a\", \"gossip\": \"W\", \"of\": \"y\"}",
        // Two combinations determine two values: only the rank shows this.
        "{\"let\": \"a\", \"sum\": {\"y@0\": 1, \"y@1\": 1}}\n{\"let\": \"b\", \"sum\": {\"y@0\": 1, \"y@1\": -1}}\n\
         {\"hold\": \"a\", \"by\": 2}\n{\"hold\": \"b\", \"by\": 2}\n{\"broadcast\": \"y@0\", \"from\": 2}",
    ] {
        assert!(said(lines).is_ok(), "{lines}: {:?}", said(lines).map(|_| ()));
    }
    // One combination does not.
    refused(
        "{\"let\": \"a\", \"sum\": {\"y@0\": 1, \"y@1\": 1}}\n{\"hold\": \"a\", \"by\": 2}\n{\"broadcast\": \"y@0\", \"from\": 2}",
        "node 2 holds",
    );
    // The writer may declare this as assumed, which is part of the text and of every account.
    let assumed = "{\"ndp-program\": 1, \"nodes\": 2, \"holdings\": \"assumed\"}\n{\"contribute\": \"x\", \"reads\": \"nothing\"}\n\
                   {\"noise\": \"z\", \"variance\": 1}\n{\"let\": \"y\", \"sum\": {\"x\": 1, \"z\": 1}}\n{\"send\": \"y@1\", \"from\": 0, \"to\": 1}";
    assert!(Program::read(assumed.as_bytes()).is_ok());
    let read = |old: &str, new: &str| Program::read(assumed.replace(old, new).as_bytes());
    assert_refused(read(", \"holdings\": \"assumed\"", ""), "cannot be formed from what node 0 holds");
    assert_refused(read("\"assumed\"", "\"checked\""), "\"holdings\" can only be \"assumed\"");
}

/// What is written declares it, and can be read again.
#[test]
fn programs_beyond_what_nodes_hold_are_written_and_read() -> Outcome {
    let mut program = Program::new(2)?;
    let x = program.contribute_all(Reads::Nothing)?;
    program.send(0, 1, x[1])?;
    assert_refused(program.check_holdings(), "cannot be formed from what node 0 holds");
    let mut text = Vec::new();
    program.write(&mut text)?;
    assert!(String::from_utf8(text.clone())?.contains("\"holdings\":\"assumed\""));
    assert_eq!(Program::read(text.as_slice())?, program);
    let said = program.account(&Observer::outsider())?.rests_on(&SensitivitySet::UseLevel);
    assert!(said.contains(&RestsOn::Holdings), "{said:?}");
    Ok(())
}

/// In published protocols nodes can send what they send.
#[test]
fn nodes_of_published_protocols_hold_what_they_use() -> Outcome {
    let matrix = GossipMatrix::metropolis(&path_graph(5)?).lazy(0.25)?;
    let covariance = vec![vec![Weight::from(2), Weight::from(-1)], vec![Weight::from(-1), Weight::from(2)]];
    let pair = GossipMatrix::metropolis(&path_graph(2)?);
    for program in [
        muffliato(&matrix, 4)?,
        randomized_gossip(4, &[(0, 1), (2, 3), (1, 2), (0, 1)])?,
        fresh_noise(&matrix, &[Weight::from(1), Weight::from((1, 10)), Weight::from((1, 10))])?,
        decor(&cycle_graph(5)?, (1, 3), 2, 2)?,
        gopa(&path_graph(4)?, 1, 1, &[1])?,
        zip_dl(&star_graph(4)?, 0, 1)?,
        corn_dsgd(&pair, &covariance, 2)?,
        corn_dsgd_along(&matrix, 1, 1, 3)?,
        secure_neighbor_sums(&GossipMatrix::metropolis(&complete_graph(4)?), 3)?,
        secure_neighbor_sums(&matrix, 4)?,
        hierarchical(5, &[vec![1, 2], vec![3, 4]], 1, 1)?,
        dsgd(&matrix, Dsgd { sends: 2, reads: ModelReads::Hidden, ..Dsgd::from(3) })?,
    ] {
        program.check_holdings()?;
    }
    Ok(())
}

/// A leaf gets its neighbor's value as a message, which a tap hears. Other nodes get sums, which no tap
/// hears.
#[test]
fn secure_sums_on_graphs_with_leaves() -> Outcome {
    let round = "{\"secure-sum\": \"s\", \"of\": \"y\", \"along\": \"W\"}\n{\"set\": \"y\", \"gossip\": \"W\", \"of\": \"y\"}\n";
    let program = said(&round.replace("\"s\"", "\"s0\"")).map_err(|(_, problem)| problem)?;
    let built = secure_neighbor_sums(&GossipMatrix::metropolis(&path_graph(3)?), 1)?;
    let set = SensitivitySet::UseLevel;
    let observers = [
        Observer::node(0),
        Observer::node(1),
        Observer::outsider().tapping(&[(1, 0)]),
        Observer::outsider().tapping(&[(0, 1)]),
    ];
    for observer in observers {
        let (read, built) = (program.account(&observer)?, built.account(&observer)?);
        for u in (0..3).filter(|&u| !observer.contains(u)) {
            let (a, b) = (read.loss(u, &set)?.value(), built.loss(u, &set)?.value());
            assert!((a - b).abs() < 1e-9, "{observer}: {a} {b}");
        }
    }
    // The middle node gets the sum of two values, with loss 1/2 each; an end gets the value of the middle
    // node.
    assert_loss(&program.account(&Observer::node(1))?, 0, &set, 0.5);
    assert_loss(&program.account(&Observer::node(0))?, 1, &set, 1.0);
    assert_loss(&program.account(&Observer::outsider().tapping(&[(1, 0)]))?, 1, &set, 1.0);
    assert_loss(&program.account(&Observer::outsider().tapping(&[(0, 1)]))?, 0, &set, 0.0);
    // Without neighbors nothing is received, and the sum is 0.
    let alone = said(
        "{\"graph\": \"h\", \"edges\": [[0, 1]]}\n{\"matrix\": \"V\", \"of\": \"h\", \"weights\": \"metropolis\"}\n\
                      {\"secure-sum\": \"s\", \"of\": \"y\", \"along\": \"V\"}\n{\"broadcast\": \"s\", \"from\": 2}",
    );
    let alone = alone.map_err(|(_, problem)| problem)?;
    assert_loss(&alone.account(&Observer::node(2))?, 0, &set, 0.0);
    refused(
        "{\"matrix\": \"V\", \"rows\": [[1]]}\n{\"secure-sum\": \"s\", \"of\": \"y\", \"along\": \"V\"}",
        "expected 3, got 1",
    );
    // A group that is named has at least two members.
    refused(r#"{"secure-sum": "s", "of": "y", "nodes": [1], "to": 0}"#, "at least two nodes");
    Ok(())
}

/// A program with one node is read as it was written.
#[test]
fn gossip_of_one_node_is_written_and_read() -> Outcome {
    let mut program = Program::new(1)?;
    let x = program.contribute_all(Reads::Nothing)?;
    let one = MixingMatrix::from_dense(&[vec![Weight::from(1)]])?;
    let y = program.gossip(&one, &x)?;
    program.broadcast(0, y[0])?;
    let mut text = Vec::new();
    program.write(&mut text)?;
    assert_eq!(Program::read(text.as_slice())?, program);
    Ok(())
}

/// Long inverses of a band are computed from their first column. What would not fit in memory is refused
/// before it is computed.
#[test]
fn bands_of_many_steps() -> Outcome {
    let short = said(r#"{"noise": "m", "inverse-of-band": [2, 1, "1/3"], "steps": 6, "variance": 1}"#);
    let rows = inverse_of_lower(&toeplitz(6, &[Weight::from(2), Weight::from(1), Weight::from((1, 3))]))?;
    let mut by_hand = said("").map_err(|(_, problem)| problem)?;
    for node in 0..3 {
        by_hand.noise_over_time(node, &rows, 1)?;
    }
    assert_eq!(short, Ok(by_hand));
    let long = format!("1/1{}", "0".repeat(1000));
    for x in ["1/1000003", long.as_str()] {
        refused(
            &format!(r#"{{"noise": "m", "inverse-of-band": [1, "{x}"], "steps": 4096, "variance": 1}}"#),
            "more than the limit",
        );
    }
    refused(
        r#"{"noise": "m", "inverse-of-band": [0, 1], "steps": 4, "variance": 1}"#,
        "is 0: it has no inverse",
    );
    refused(r#"{"noise": "m", "inverse-of-band": [], "steps": 4, "variance": 1}"#, "is 0: it has no inverse");
    refused(r#"{"noise": "m", "band": [], "steps": 4, "variance": 1}"#, "is 0: it has no inverse");
    refused(r#"{"noise": "m", "band": [1], "steps": 5000, "variance": 1}"#, "at most 4096 steps");
    Ok(())
}

/// What would not fit in memory is refused with its line before it is begun.
#[test]
fn sizes_are_refused_before_they_are_made() {
    let large = "{\"ndp-program\": 1, \"nodes\": 134217728}\n{\"contribute\": \"x\", \"reads\": \"nothing\"}";
    let error = Program::read(large.as_bytes()).map(|_| ()).map_err(|error| error.to_string());
    assert!(
        error.as_ref().is_err_and(|error| error.starts_with("line 2: ") && error.contains("limit")),
        "{error:?}"
    );
}

/// So are masks for each of 22 million edges, no single one of which exceeds what a line may add.
#[test]
fn masks_of_many_edges_are_refused_before_they_are_made() {
    let text = "{\"ndp-program\": 1, \"nodes\": 6600}\n{\"graph\": \"g\", \"family\": \"complete\"}\n\
                {\"noise\": \"m\", \"pairwise\": \"g\", \"variance\": 1}";
    let error = Program::read(text.as_bytes()).map(|_| ()).map_err(|error| error.to_string());
    assert!(
        error.as_ref().is_err_and(|error| error.starts_with("line 3: ") && error.contains("limit")),
        "{error:?}"
    );
}

/// The memory of a noise over time, by hand: 48 bytes for every pair of steps; and for the rows and each of
/// 5000 nodes, a weight in each of 4096 steps, with 64 bytes and its digits, twice 3322, in bytes.
#[test]
fn the_memory_of_a_band_is_that_of_its_weights() {
    let large = format!("1{}", "0".repeat(1000));
    let text = format!(
        "{{\"ndp-program\": 1, \"nodes\": 5000}}\n{{\"noise\": \"m\", \"band\": [\"{large}/{}1\"], \
         \"steps\": 4096, \"variance\": 1}}",
        &large[..1000]
    );
    let error = Program::read(text.as_bytes()).map(|_| ()).map_err(|error| error.to_string());
    let bytes = 4096_u64 * 4096 * 48 + 5001 * 4096 * (64 + 2 * 3322 / 8);
    let said = format!("the noise over time would take {bytes} bytes");
    assert!(error.as_ref().is_err_and(|error| error.contains(&said)), "{error:?} is not {said}");
}

/// From a sum that a node was told, it knows the remainder after subtracting what it has, without ranks: with
/// so many messages, ranks would take too long.
#[test]
fn what_is_left_of_a_sum_is_held_in_long_programs() -> Outcome {
    let matrix = GossipMatrix::metropolis(&cycle_graph(30)?);
    let mut program = dsgd(&matrix, 150)?;
    let (own, other) = (program.noise([0], 1)?, program.noise([1], 1)?);
    program.send(0, 1, own)?;
    let sum = program.add(&[own, other])?;
    program.send(1, 0, sum)?;
    program.send(0, 2, other)?;
    program.check_holdings()?;
    // If ranks are needed, this is reported.
    let third = program.noise([1], 1)?;
    program.send(0, 2, third)?;
    assert_refused(program.check_holdings(), "more than the limit");
    Ok(())
}
