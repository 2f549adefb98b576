//! Whether `docs/theory.md` has a row for every numbered statement of the papers, and every row of
//! `docs/findings.md` names a test that shows what it says.

use super::File;
use std::collections::BTreeSet;

/// For each section of the document: kinds of statements, and the largest number of each kind.
const PAPERS: [(&str, &[(&str, u32)]); 4] = [
    (
        "Muffliato",
        &[
            ("Definition", 6),
            ("Assumption", 2),
            ("Algorithm", 3),
            ("Theorem", 12),
            ("Corollary", 5),
            ("Lemma", 2),
            ("Proposition", 1),
            ("Remark", 1),
            ("Table", 1),
        ],
    ),
    (
        "Privacy amplification by decentralization",
        &[
            ("Definition", 8),
            ("Algorithm", 5),
            ("Theorem", 8),
            ("Lemma", 2),
            ("Proposition", 4),
            ("Remark", 5),
        ],
    ),
    (
        "Random walks",
        &[
            ("Definition", 8),
            ("Assumption", 4),
            ("Algorithm", 1),
            ("Theorem", 5),
            ("Proposition", 2),
            ("Remark", 5),
            ("Table", 1),
        ],
    ),
    ("Federated learning by contraction", &[("Algorithm", 1), ("Theorem", 2), ("Lemma", 2)]),
];

/// Numbers that a paper itself skips.
const SKIPPED: [(&str, &str, u32); 1] = [("Random walks", "Remark", 4)];

pub(super) fn problems(files: &[File]) -> Vec<String> {
    let Some(theory) = files.iter().find(|file| file.path == "docs/theory.md") else { return Vec::new() };
    let mut problems = Vec::new();
    for (title, kinds) in PAPERS {
        let section = theory.text.split("\n## ").find(|section| section.starts_with(title)).unwrap_or("");
        let found: BTreeSet<(&str, u32)> = section.lines().flat_map(statements).collect();
        for &(kind, last) in kinds {
            let skipped = |number| SKIPPED.contains(&(title, kind, number));
            for number in (1..=last).filter(|&number| !found.contains(&(kind, number)) && !skipped(number)) {
                problems.push(format!("docs/theory.md, {title}: no row for {kind} {number}"));
            }
        }
    }
    problems
}

/// Theorems that accounts and figures name, `.by("path::of::function", "Section")`, for which the theory has
/// no such section, or whose function does not exist.
pub(super) fn named_theorems(files: &[File]) -> Vec<String> {
    let Some(theory) = files.iter().find(|file| file.path == "docs/theory.md") else { return Vec::new() };
    let sources =
        || files.iter().filter(|file| file.path.starts_with("crates/") && file.path.ends_with(".rs"));
    let mut problems = Vec::new();
    for file in sources() {
        // rustfmt may break a call into several lines, so join them.
        let text = file.text.split_whitespace().collect::<Vec<_>>().join(" ");
        let calls = text.split(".by(").skip(1).chain(text.split(".by_named(").skip(1));
        for call in calls {
            // For a figure, the first string says which series the call is about.
            let strings: Vec<&str> = call.split('"').skip(1).step_by(2).take(3).collect();
            let first = strings.iter().take(2).position(|string| string.starts_with("ndp_"));
            let Some((function, section)) = first.and_then(|i| Some((strings[i], strings.get(i + 1)?)))
            else {
                continue;
            };
            if !theory.text.lines().any(|line| line == format!("## {section}")) {
                problems.push(format!("{}: docs/theory.md has no section {section:?}", file.path));
            }
            let last = function.rsplit("::").next().unwrap_or(function);
            let item = ["fn", "struct", "enum", "trait"].map(|kind| format!("{kind} {last}"));
            if !sources().any(|file| item.iter().any(|item| file.text.contains(item.as_str()))) {
                problems.push(format!("{}: there is no {function}", file.path));
            }
        }
    }
    problems
}

/// The rows of the findings whose third cell does not name a test.
pub(super) fn findings_without_test(files: &[File]) -> Vec<String> {
    let Some(findings) = files.iter().find(|file| file.path == "docs/findings.md") else { return Vec::new() };
    let rows = findings.text.lines().enumerate().filter(|(_, line)| line.starts_with("| "));
    let claims = rows.filter(|(_, line)| !line.starts_with("| claim |"));
    let bare = claims.filter(|(_, line)| {
        !line.split(" | ").nth(2).is_some_and(|cell| cell.contains("tests::") || cell.contains("checks::"))
    });
    bare.map(|(i, _)| format!("docs/findings.md:{}: the finding names no test", i + 1)).collect()
}

/// The statements that the first cell of a row names: `Theorems 2 and 7, Lemma 1`.
fn statements(line: &str) -> Vec<(&'static str, u32)> {
    const KINDS: [(&str, &str); 9] = [
        ("Definition", "Definitions"),
        ("Assumption", "Assumptions"),
        ("Algorithm", "Algorithms"),
        ("Theorem", "Theorems"),
        ("Corollary", "Corollaries"),
        ("Lemma", "Lemmas"),
        ("Proposition", "Propositions"),
        ("Remark", "Remarks"),
        ("Table", "Tables"),
    ];
    let mut found = Vec::new();
    let mut kind = None;
    let cell = line.strip_prefix("| ").and_then(|rest| rest.split('|').next()).unwrap_or("");
    for word in cell.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        if let Some((one, _)) = KINDS.into_iter().find(|&(one, many)| word == one || word == many) {
            kind = Some(one);
        } else if let (Some(kind), Ok(number)) = (kind, word.parse()) {
            found.push((kind, number));
        } else if word != "and" {
            kind = None;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_belong_to_the_kind_before_them() {
        let found = statements("| Theorems 2 and 7, Lemma 1, after 3 rounds; Corollaries 4, 5 | Remark 9 |");
        let expected = [("Theorem", 2), ("Theorem", 7), ("Lemma", 1), ("Corollary", 4), ("Corollary", 5)];
        assert_eq!(found, expected);
        assert!(statements("Theorem 1 is no row").is_empty());
    }

    #[test]
    fn a_statement_without_row_is_found() {
        let section = "x\n## Federated learning by contraction\n| Algorithm 1 | |\n| Theorems 1 and 2 | |\n| Lemma 2 | |\n## y\n| Lemma 1 | |\n";
        let file = File { path: "docs/theory.md".into(), text: section.into() };
        let of_this = problems(&[file]).into_iter().filter(|problem| problem.contains("Federated"));
        assert_eq!(
            of_this.collect::<Vec<_>>(),
            ["docs/theory.md, Federated learning by contraction: no row for Lemma 1"]
        );
    }

    #[test]
    fn theorems_that_do_not_exist_are_found() {
        let file = |path: &str, text: &str| File { path: path.into(), text: text.into() };
        let theory = file("docs/theory.md", "# Theory\n## Programs\n");
        let source = file(
            "crates/x/src/lib.rs",
            "fn known() {} T.by(\n \"ndp_x::known\",\n \"Programs\",\n); T.by(\"ndp_x::lost\", \"Riddles\")",
        );
        assert_eq!(
            named_theorems(&[theory, source]),
            [
                "crates/x/src/lib.rs: docs/theory.md has no section \"Riddles\"",
                "crates/x/src/lib.rs: there is no ndp_x::lost"
            ]
        );
    }

    #[test]
    fn a_finding_without_test_is_found() {
        let text = "| claim | counterexample | test | what is true |\n|---|---|---|---|\n\
                    | a | 1 | `ndp_dp::tests::x::y` | b |\n| c | 2 | none | d |\n";
        let file = File { path: "docs/findings.md".into(), text: text.into() };
        assert_eq!(findings_without_test(&[file]), ["docs/findings.md:4: the finding names no test"]);
    }
}
