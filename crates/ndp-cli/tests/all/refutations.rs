//! `ndp refute`: false claims get a counterexample, true ones are not called proven, and invalid formulas are
//! refused.

use super::common;
use std::process::Command;

fn refute(arguments: &[&str]) -> (i32, String, String) {
    common::ended(common::ndp().arg("refute").args(arguments))
}

/// Theorem 1 of the Muffliato paper, whose bound is 1/3 on a path of three nodes.
const THEOREM_1: &str =
    "alpha / (2 * sigma^2) * sum(t, 0, T - 1, neighbors(w, v, W[t][w,u]^2 / sum(x, 0, n - 1, W[t][w,x]^2)))";

#[test]
fn a_published_theorem_is_refuted_by_its_script_as_well() {
    let (code, said, _) = refute(&["--claim", THEOREM_1]);
    assert_eq!(code, 0);
    assert!(
        said.starts_with("The claim is false\n") && said.contains("  the true loss         1\n"),
        "{said}"
    );
    let script = said.split("in Python:\n\n").nth(1).unwrap();
    if let Ok(output) = Command::new("python3").args(["-c", script]).output() {
        let printed = String::from_utf8(output.stdout).unwrap();
        assert!(printed.starts_with("the true loss 1 claimed at most 0.33333"), "{printed}");
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

/// A finding can be asked for by its number; source, attack, picture and page come with it.
#[test]
fn a_finding_is_found_by_its_number() {
    let folder = common::folder("refute");
    let (page, svg) = (folder.join("page.html"), folder.join("picture.svg"));
    let (code, said, complaint) =
        refute(&["--finding", "1", "--report", page.to_str().unwrap(), "--svg", svg.to_str().unwrap()]);
    assert_eq!(code, 0, "{complaint}");
    assert!(said.contains("printed by") && said.contains("shown by an attack    0.7"), "{said}");
    let written = std::fs::read_to_string(&page).unwrap();
    for part in
        ["The claim is false.", "<svg", "wrong with probability 0.001 at most", "from fractions import"]
    {
        assert!(written.contains(part), "{part}");
    }
    assert!(std::fs::read_to_string(&svg).unwrap().contains("<svg"));
    let none = folder.join("none.html");
    let (code, _, _) =
        refute(&["--claim", "alpha / (2 * sigma^2)", "--nodes", "3", "--report", none.to_str().unwrap()]);
    let written = std::fs::read_to_string(&none).unwrap();
    assert!(code == 0 && written.contains("of up to 3 nodes, up to 6 rounds") && !written.contains("<svg"));
    std::fs::remove_dir_all(&folder).unwrap();
    let (code, _, complaint) = refute(&["--finding", "9"]);
    assert!(code == 2 && complaint.contains("row 9 states no bound"), "{complaint}");
}

#[test]
fn walks_coalitions_and_domains_are_searched() {
    let walk = ["--claim", "alpha / (2 * sigma^2)", "--protocol", "walk", "--where", "3 / 2 - deg(u) * hops"];
    let (code, said, _) = refute(&walk);
    assert!(
        code == 0
            && said.starts_with("The claim is false of observers who know the path of the token\n")
            && said.contains("the loss if the path is known, at least")
            && said.contains("print('the loss if the path is known, at least'"),
        "{said}"
    );
    let nothing = refute(&["--claim", "1 / 0", "--nodes", "3"]);
    assert!(nothing.1.starts_with("Nothing was compared: in none of the cases"), "{}", nothing.1);
    let two = ["--claim", "alpha / (2 * sigma^2)", "--observers", "2", "--nodes", "4"];
    let (code, said, _) = refute(&two);
    assert!(
        code == 0 && said.starts_with("No counterexample") && said.contains("2 nodes learn together"),
        "{said}"
    );
    let (code, _, complaint) = refute(&["--claim", "1", "--weights", "simple"]);
    assert!(code == 1 && complaint.contains("the weights must be symmetric"), "{complaint}");
}
