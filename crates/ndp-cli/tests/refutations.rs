//! `ndp refute`: what is false is shown, what is true is not called so, and formulas that are none are
//! refused.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::process::Command;

fn refute(arguments: &[&str]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_ndp")).arg("refute").args(arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

/// Theorem 1 of the Muffliato paper says a third on a path of three nodes.
const THEOREM_1: &str =
    "alpha / (2 * sigma^2) * sum(t, 0, T - 1, neighbors(w, v, W[t][w,u]^2 / sum(x, 0, n - 1, W[t][w,x]^2)))";

#[test]
fn a_published_theorem_is_refuted_by_its_script_as_well() {
    let (code, said, _) = refute(&["--claim", THEOREM_1]);
    assert_eq!(code, 0);
    assert!(said.starts_with("The claim is false\n") && said.contains("  true, exactly      1\n"), "{said}");
    let script = said.split("in Python:\n\n").nth(1).unwrap();
    if let Ok(output) = Command::new("python3").args(["-c", script]).output() {
        let printed = String::from_utf8(output.stdout).unwrap();
        assert!(printed.starts_with("true loss 1 claimed at most 0.33333"), "{printed}");
    }
}

#[test]
fn a_true_bound_is_not_refuted_and_not_called_true() {
    let (code, said, _) =
        refute(&["--claim", "alpha / (2 * sigma^2)", "--nodes", "4", "--weights", "metropolis,lazy"]);
    assert_eq!(code, 0);
    assert!(
        said.starts_with("No counterexample among all cases that were asked for, which proves nothing\n"),
        "{said}"
    );
    let (_, said, _) = refute(&["--claim", "1", "--cases", "3"]);
    assert!(said.starts_with("No counterexample before the cases ran out"), "{said}");
}

#[test]
fn what_is_no_formula_is_refused_with_its_place() {
    for (claim, why) in [
        ("alpha / (2", "at character 11"),
        ("beta", "the name beta is not known"),
        ("W[t][u,v]", "the name t"),
    ] {
        let (code, _, complaint) = refute(&["--claim", claim]);
        assert!(code == 2 && complaint.contains(why), "{complaint}");
    }
    let (code, _, complaint) = refute(&["--claim", "1", "--order", "1"]);
    assert!(code == 1 && complaint.contains("alpha must be finite and above 1, got 1"), "{complaint}");
}
