//! Which crate of the workspace may depend on which.

/// The crates whose dependencies are checked.
pub(super) const CRATES: [&str; 17] = [
    "ndp-numeric",
    "ndp-linalg",
    "ndp-graph",
    "ndp-dp",
    "ndp-certify",
    "ndp-account",
    "ndp-program",
    "ndp-algos",
    "ndp-refute",
    "ndp",
    "ndp-printed",
    "ndp-report",
    "ndp-experiments",
    "ndp-cli",
    "ndp-soundness",
    "ndp-fuzz",
    "xtask",
];

fn allowed(crate_name: &str) -> &'static [&'static str] {
    match crate_name {
        "ndp-graph" => &["ndp-numeric", "ndp-linalg"],
        "ndp-dp" => &["ndp-numeric"],
        // This crate does not know about grades or protocols.
        "ndp-certify" => &["ndp-numeric", "ndp-linalg", "ndp-graph"],
        "ndp-account" => &["ndp-numeric", "ndp-linalg", "ndp-graph", "ndp-dp", "ndp-certify"],
        "ndp-program" => &["ndp-numeric", "ndp-linalg", "ndp-graph", "ndp-dp", "ndp-certify", "ndp-account"],
        "ndp-algos" => {
            &["ndp-numeric", "ndp-linalg", "ndp-graph", "ndp-dp", "ndp-certify", "ndp-account", "ndp-program"]
        }
        // The search for counterexamples knows no printed formula: claims are given to it.
        "ndp-refute" => &[
            "ndp-numeric",
            "ndp-linalg",
            "ndp-graph",
            "ndp-dp",
            "ndp-certify",
            "ndp-account",
            "ndp-program",
            "ndp-algos",
        ],
        // The entry point: re-exports what users are meant to use.
        "ndp" => &["ndp-graph", "ndp-dp", "ndp-account", "ndp-program", "ndp-algos"],
        // Formulas that may be false: only the crates listed below may use them, no library and not the
        // command.
        "ndp-printed" => &[
            "ndp-numeric",
            "ndp-linalg",
            "ndp-graph",
            "ndp-dp",
            "ndp-certify",
            "ndp-account",
            "ndp-program",
            "ndp-algos",
        ],
        "ndp-report" => &["ndp-numeric", "ndp-graph", "ndp-dp", "ndp-account"],
        "ndp-experiments" => &[
            "ndp-numeric",
            "ndp-graph",
            "ndp-dp",
            "ndp-account",
            "ndp-program",
            "ndp-algos",
            "ndp-printed",
            "ndp-report",
        ],
        "ndp-cli" => &[
            "ndp-numeric",
            "ndp-linalg",
            "ndp-graph",
            "ndp-dp",
            "ndp-certify",
            "ndp-account",
            "ndp-program",
            "ndp-algos",
            "ndp-refute",
            "ndp-report",
        ],
        // The search tests the libraries and the checker of proofs, fuzzing calls all that is public, and no
        // library depends on either.
        "ndp-soundness" | "ndp-fuzz" => &[
            "ndp-numeric",
            "ndp-linalg",
            "ndp-graph",
            "ndp-dp",
            "ndp-certify",
            "ndp-check",
            "ndp-account",
            "ndp-program",
            "ndp-algos",
            "ndp-refute",
            "ndp-printed",
            "ndp-report",
        ],
        _ => &[],
    }
}

/// The forbidden edges in the output of `cargo tree`, which has one package per line, the crate itself first.
pub(super) fn problems(crate_name: &str, tree: &str) -> Vec<String> {
    tree.lines()
        .skip(1)
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| name.starts_with("ndp-") && !allowed(crate_name).contains(name))
        .map(|name| format!("{crate_name} depends on {name}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_upwards_and_across_are_found() {
        let tree = "ndp-dp v0.1.0 (dir)\nlibm v0.2.16\nndp-graph v0.1.0 (dir)\n[dev-dependencies]\n";
        assert_eq!(problems("ndp-dp", tree), ["ndp-dp depends on ndp-graph"]);
        let tree = "ndp-algos v0.1.0 (dir)\nndp-dp v0.1.0 (dir)\nndp-graph v0.1.0 (dir)\n";
        assert!(problems("ndp-algos", tree).is_empty());
        let tree = "ndp-certify v0.1.0 (dir)\nndp-graph v0.1.0 (dir)\nndp-dp v0.1.0 (dir)\n";
        assert_eq!(problems("ndp-certify", tree), ["ndp-certify depends on ndp-dp"]);
        for below in ["ndp-algos", "ndp-cli"] {
            let tree = format!("{below} v0.1.0 (dir)\nndp-printed v0.1.0 (dir)\n");
            assert_eq!(problems(below, &tree), [format!("{below} depends on ndp-printed")]);
        }
        let tree = "ndp-soundness v0.1.0 (dir)\nndp-algos v0.1.0 (dir)\nndp-experiments v0.1.0 (dir)\n";
        assert_eq!(problems("ndp-soundness", tree), ["ndp-soundness depends on ndp-experiments"]);
        let tree = "ndp-algos v0.1.0 (dir)\nndp-soundness v0.1.0 (dir)\n";
        assert_eq!(problems("ndp-algos", tree), ["ndp-algos depends on ndp-soundness"]);
    }
}
