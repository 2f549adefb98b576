//! Inputs in the forms in which people have them: tables with any separator, and graph files that are no edge
//! lists.

use super::common;
use std::fs;
use std::path::{Path, PathBuf};

fn folder(name: &str) -> PathBuf {
    common::folder(&format!("inputs-{name}"))
}

/// Exit code, standard output and standard error.
fn run(folder: &Path, arguments: &[&str]) -> (i32, String, String) {
    common::ended(common::ndp().current_dir(folder).args(arguments))
}

const TRAIN: [&str; 7] = ["--label", "bought", "--users", "10", "--noise", "2", "--quiet"];

/// Lines of a table with these cells.
fn table(separator: &str, header: &str, row: impl Fn(usize) -> Vec<String>) -> String {
    let rows = (0..60).map(|i| row(i).join(separator) + "\n");
    format!("{header}\n{}", rows.collect::<String>())
}

#[test]
fn tables_of_any_making_train_the_same() {
    let folder = folder("tables");
    let number = |i: usize, k: usize| ((i * k) % 17).to_string();
    let class =
        |i: usize, no: &str, yes: &str| if i.is_multiple_of(3) { yes.to_owned() } else { no.to_owned() };
    let tables = [
        (
            "plain",
            table(",", "age,visits,bought", |i| vec![number(i, 5), number(i, 7), class(i, "-1", "1")]),
            None,
        ),
        (
            "semicolons",
            table(";", "age;visits;bought", |i| vec![number(i, 5), number(i, 7), class(i, "0", "1")]),
            Some("0 (as -1) against 1 (as 1)"),
        ),
        (
            "tabs",
            table("\t", "age\tvisits\tbought", |i| vec![number(i, 5), number(i, 7), class(i, "no", "yes")]),
            Some("no (as -1) against yes (as 1)"),
        ),
        (
            "quotes",
            table(",", "\"age, in years\",\"visits\",\"bought\"", |i| {
                vec![
                    format!("\"{}\"", number(i, 5)),
                    number(i, 7),
                    format!("\"{}\"", class(i, "a, no", "yes \"\"so\"\"")),
                ]
            }),
            Some("a, no (as -1) against yes \"so\" (as 1)"),
        ),
    ];
    let mut accuracies = Vec::new();
    for (name, table, said) in &tables {
        fs::write(folder.join(name), table).unwrap();
        let (code, answer, problem) = run(&folder, &[&["train", name], &TRAIN[..]].concat());
        assert_eq!(code, 0, "{name}: {problem}");
        assert!(answer.contains(said.unwrap_or("-1 against 1")), "{name}: {answer}");
        accuracies.push(answer.lines().find(|line| line.contains("accuracy")).unwrap().to_owned());
    }
    assert!(accuracies.iter().all(|accuracy| accuracy == &accuracies[0]), "{accuracies:?}");
    // Columns that are not numeric can be left out by name, and the separator can be stated.
    let named = table(";", "name;age;visits;bought", |i| {
        vec![format!("\"Ray; {i}\""), number(i, 5), number(i, 7), class(i, "no", "yes")]
    });
    fs::write(folder.join("named"), named).unwrap();
    for more in [&["--without", "name"][..], &["--without", "name", "--separator", ";"]] {
        let (code, answer, problem) = run(&folder, &[&["train", "named"], &TRAIN[..], more].concat());
        assert!(code == 0 && answer.contains(&accuracies[0]), "{problem}{answer}");
    }
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn what_is_wrong_with_a_table_is_named_with_its_line() {
    let folder = folder("bad-tables");
    for (table, words) in [
        ("age,bought\n1,yes\n2,no\n3,maybe\n", "line 4: the label 'maybe' is the third"),
        ("age,bought\n1,yes\n2,yes\n", "line 2: all labels are 'yes'"),
        ("age,bought\n1,1\n2,?\n", "line 3: the label '?' is no number"),
        ("age,bought\nyoung,1\n2,0\n", "line 2: column 1 ('age') is no number: 'young'; --without"),
        ("age;bought\n1,5;1\n", "write decimals with a point"),
        ("age,paid\n1,1\n", "no column is named 'bought'; there are: age, paid; --label"),
        ("age,bought\n\"1,1\n2,0\n", "line 2"),
        ("age,bought\n1,1,1\n", "line 2: 3 cells"),
        ("", "line 1: the file is empty"),
    ] {
        fs::write(folder.join("t"), table).unwrap();
        let (code, _, problem) = run(&folder, &[&["train", "t"], &TRAIN[..]].concat());
        assert_eq!((code, problem.lines().count()), (1, 1), "{table}: {problem}");
        assert!(problem.contains(words), "{table}: {problem}");
    }
    let (code, _, problem) = run(&folder, &[&["train", "t"], &TRAIN[..], &["--separator", "|"]].concat());
    assert!(code == 2 && problem.contains("comma, semicolon or tab"), "{problem}");
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn other_formats_are_not_taken_for_edges() {
    let folder = folder("formats");
    let graphml =
        "<graphml><graph>\n<node id=\"a\"/>\n<edge source=\"a\" target=\"zoe\"/>\n</graph></graphml>\n";
    for (graph, words) in [
        ("graph {\na -- b\nb -- c\n}\n", "line 1 of the edge list begins a DOT file"),
        ("strict digraph G {\na -> b\n}\n", "line 1 of the edge list begins a DOT file"),
        ("graph [\n directed 0\n", "begins a GML file"),
        ("a b\nb c\0d\n", "line 2 of the edge list has a NUL byte"),
        (graphml, "line 3 of the GraphML file has an edge of \"zoe\", and no such node"),
    ] {
        fs::write(folder.join("g"), graph).unwrap();
        let (code, _, problem) = run(&folder, &["graph", "g"]);
        assert_eq!((code, problem.lines().count()), (1, 1), "{graph}: {problem}");
        assert!(problem.contains(words), "{graph}: {problem}");
    }
    fs::remove_dir_all(folder).unwrap();
}
