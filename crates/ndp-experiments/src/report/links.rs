//! The links of a figure on the page: theorem, function, test, finding, numbers.
//!
//! Links lead from the output folder to files of the repository. If the folder is outside the repository, the
//! page names the files instead.

use super::{escape, module};
use crate::output::Record;
use ndp_report::table::Row;
use std::collections::BTreeSet;
use std::path::{Component, Path};

/// The findings of `docs/findings-summary.md` that a figure shows, and a test of what it says: its file and
/// name.
type Told = (&'static str, &'static [&'static str], Option<(&'static str, &'static str)>);

const REFERENCE: &str = "crates/ndp-printed/tests/all/gossip_reference.rs";
const CLAIMS: &str = "crates/ndp-printed/tests/all/gossip_claims.rs";
const WALK: &str = "crates/ndp-printed/src/walk.rs";
const BOUNDS: &str = "crates/ndp-experiments/src/figures/network_dp/bounds.rs";

const TOLD: &[Told] = &[
    ("network-dp/fig1a", &["F6", "F7"], Some((BOUNDS, "released_curves_have_their_recorded_values"))),
    (
        "network-dp/fig1b",
        &["F6", "F7"],
        Some((
            "crates/ndp-experiments/src/figures/network_dp/fig1b.rs",
            "released_losses_are_those_of_the_program",
        )),
    ),
    (
        "network-dp/fig2",
        &["F6", "F7"],
        Some(("crates/ndp-dp/src/checks/printed_claims.rs", "theorem_3_counts_one_noise_too_many")),
    ),
    ("network-dp/poster", &[], Some((BOUNDS, "released_curves_have_their_recorded_values"))),
    (
        "contraction-fl/fig2",
        &[],
        Some(("crates/ndp-dp/src/federated/tests.rs", "larger_batches_are_not_always_more_private")),
    ),
    ("muffliato/fig1a", &["F1", "F2"], Some((REFERENCE, "hypercube_of_figure_1a"))),
    ("muffliato/fig1b", &["F1"], Some((REFERENCE, "theorem_1_is_false_on_the_path_with_three_nodes"))),
    (
        "muffliato/fig1c",
        &["F4"],
        Some((
            "crates/ndp-algos/tests/all/sgd.rs",
            "gossip_keeps_the_mean_and_the_released_recursion_does_not",
        )),
    ),
    ("muffliato/fig2", &["F1", "F2"], Some((REFERENCE, "grid_of_figure_1a"))),
    (
        "muffliato/fig3",
        &["F2"],
        Some((
            "crates/ndp-experiments/src/figures/muffliato/fig3.rs",
            "exact_values_follow_the_law_of_the_hypercube",
        )),
    ),
    ("muffliato/fig4", &["F2"], Some((CLAIMS, "on_geometric_graphs_only_twins_are_hidden"))),
    ("muffliato/fig5", &["F1"], Some((REFERENCE, "theorem_1_is_false_on_the_path_with_three_nodes"))),
    (
        "muffliato/table1",
        &[],
        Some(("crates/ndp-algos/src/gossip/utility.rs", "randomized_gossip_is_half_as_fast_as_printed")),
    ),
    ("random-walk/fig1", &["F8"], Some((WALK, "the_star_refutes_theorem_3"))),
    (
        "random-walk/fig2",
        &[],
        Some(("crates/ndp-algos/src/sgd/privacy/tests.rs", "noise_on_a_graph_meets_its_targets")),
    ),
    (
        "random-walk/fig3",
        &[],
        Some((
            "crates/ndp-experiments/src/figures/random_walk/fig3.rs",
            "southern_women_agree_with_the_authors_program",
        )),
    ),
    ("random-walk/fig4", &["F8"], Some((WALK, "remark_3_leaves_out_the_hop_itself"))),
    (
        "random-walk/fig5",
        &["F8"],
        Some((
            "crates/ndp-experiments/src/figures/random_walk/fig5.rs",
            "losses_are_larger_within_communities",
        )),
    ),
    ("random-walk/fig6", &["F8"], Some((WALK, "the_star_refutes_theorem_3"))),
    (
        "random-walk/fig8",
        &["F8"],
        Some(("crates/ndp-experiments/src/figures/random_walk/fig8.rs", "what_the_paper_shows_is_seen")),
    ),
    ("random-walk/table1", &[], Some(("crates/ndp-printed/src/training.rs", "noises_are_those_published"))),
    ("beyond/exact-view", &["F1", "F2"], Some((REFERENCE, "hypercube_of_figure_1a"))),
    (
        "beyond/audit",
        &["F1"],
        Some(("crates/ndp-printed/tests/all/audit.rs", "printed_bounds_are_violated_by_attacks")),
    ),
    ("beyond/scale", &["F1", "F2"], Some((REFERENCE, "hypercube_of_figure_1a"))),
    (
        "network-dp/fig3",
        &["F6", "F7"],
        Some((
            "crates/ndp-printed/src/network/realised.rs",
            "as_released_histogram_matches_the_authors_program",
        )),
    ),
    (
        "muffliato/dropout",
        &["F1"],
        Some(("crates/ndp-printed/tests/all/gossip_sequences.rs", "random_sequences_agree_with_fractions")),
    ),
    (
        "random-walk/fig7",
        &[],
        Some((
            "crates/ndp-experiments/src/figures/random_walk/fig7.rs",
            "shuffling_destroys_the_dependence_on_the_place",
        )),
    ),
    ("beyond/laws", &["F8"], Some(("crates/ndp-algos/src/walk/graph/attack.rs", "hidden_paths_tell_less"))),
    (
        "beyond/meter",
        &["F4"],
        Some((
            "crates/ndp-program/src/meter/tests/mod.rs",
            "the_first_message_that_would_exceed_a_limit_is_refused",
        )),
    ),
    (
        "beyond/fresh-noise",
        &[],
        Some(("crates/ndp-program/src/tests/reference.rs", "fresh_noise_in_every_round")),
    ),
    ("beyond/correlated", &[], Some(("crates/ndp-program/src/tests/reference.rs", "decor_by_coalition"))),
    ("beyond/protocols", &[], Some(("crates/ndp-program/src/tests/designs.rs", "masks_take_over"))),
];

/// The links of a figure, as one paragraph.
pub(super) fn paragraph(out: &Path, record: &Record, rows: &[Row]) -> String {
    let up = root(out);
    let told = TOLD.iter().find(|(id, ..)| *id == record.id);
    let mut parts = Vec::new();
    let sections: BTreeSet<&str> = rows.iter().filter_map(|row| Some(split(&row.by)?.1)).collect();
    let sections: Vec<String> =
        sections.iter().map(|name| section(up.as_deref(), "theory", name, name)).collect();
    if !sections.is_empty() {
        parts.push(format!("theorems: {}", sections.join(", ")));
    }
    parts.push(format!("function: {}", module(out, &record.id)));
    if let Some((_, _, Some((file, name)))) = told {
        parts.push(format!("test: {}", linked(up.as_deref(), file, name)));
    }
    let findings = told.map_or(&[][..], |(_, findings, _)| findings);
    let findings: Vec<String> =
        findings.iter().map(|name| page(up.as_deref(), "findings-summary", "", name)).collect();
    if !findings.is_empty() {
        parts.push(format!("findings: {}", findings.join(", ")));
    }
    let tables = record.files.iter().filter(|file| file.ends_with(".csv"));
    let tables: Vec<String> = tables
        .map(|file| format!("<a href=\"{file}\">{}</a>", file.rsplit('/').next().unwrap_or(file)))
        .collect();
    parts.push(format!("numbers: {}", tables.join(", ")));
    format!("<p class=\"links\">{}</p>\n", parts.join(" · "))
}

/// The function and the section in a text that names the source of a number.
fn split(by: &str) -> Option<(&str, &str)> {
    by.strip_suffix(')')?.split_once(" (")
}

/// The path from the output folder to the root of the repository; `None` if the folder is not below it.
fn root(out: &Path) -> Option<String> {
    let below = out.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    let depth = out.components().filter(|part| matches!(part, Component::Normal(_))).count();
    (below && Path::new("docs/theory.md").is_file()).then(|| "../".repeat(depth))
}

/// A heading of a page of the book.
fn section(up: Option<&str>, name: &str, heading: &str, text: &str) -> String {
    page(up, name, &anchor_of(heading), text)
}

/// The anchor of a heading, as GitHub and the book make it.
fn anchor_of(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// A page of the book: the built page if it exists, otherwise its source.
fn page(up: Option<&str>, name: &str, anchor: &str, text: &str) -> String {
    let built = format!("target/book/book/docs/{name}.html");
    let file = if Path::new(&built).is_file() { built } else { format!("docs/{name}.md") };
    let anchor = if anchor.is_empty() { String::new() } else { format!("#{anchor}") };
    match up {
        Some(up) => format!("<a href=\"{up}{file}{anchor}\">{}</a>", escape(text)),
        None => format!("{} (<code>docs/{name}.md{anchor}</code>)", escape(text)),
    }
}

/// A file of the repository.
fn linked(up: Option<&str>, file: &str, text: &str) -> String {
    match up {
        Some(up) => format!("<a href=\"{up}{file}\"><code>{}</code></a>", escape(text)),
        None => format!("<code>{}</code> in <code>{file}</code>", escape(text)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry;

    /// Every figure, test, finding and section that is named here exists.
    #[test]
    fn what_is_named_is_there() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let read = |file: &str| std::fs::read_to_string(root.join(file)).unwrap();
        let summary = read("docs/findings-summary.md");
        for entry in registry::all() {
            let told = TOLD.iter().find(|(id, ..)| *id == entry.id);
            assert!(
                told.is_some_and(|(_, findings, test)| !findings.is_empty() || test.is_some()),
                "{}",
                entry.id
            );
        }
        for (id, findings, test) in TOLD {
            assert!(registry::all().any(|entry| entry.id == *id), "{id}");
            for finding in *findings {
                assert!(summary.contains(&format!("| {finding} |")), "{id}: {finding}");
            }
            if let Some((file, name)) = test {
                assert!(read(file).contains(&format!("fn {name}(")), "{id}: {name} is not in {file}");
            }
        }
    }

    #[test]
    fn headings_have_the_anchors_of_the_book() {
        assert_eq!(
            anchor_of("Privacy amplification by decentralization"),
            "privacy-amplification-by-decentralization"
        );
        assert_eq!(anchor_of("The law of a walk's cost"), "the-law-of-a-walks-cost");
        assert_eq!(split("ndp_algos::g (Certified losses)"), Some(("ndp_algos::g", "Certified losses")));
        assert_eq!(page(None, "theory", "x", "a & b"), "a &amp; b (<code>docs/theory.md#x</code>)");
    }
}
