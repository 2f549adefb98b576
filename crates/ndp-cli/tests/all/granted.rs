//! What a number takes for granted stands beside it, whichever command prints it; and a limit that nobody has
//! is not kept by anybody.

use super::common::{self, run};
use std::path::PathBuf;

fn folder(name: &str) -> PathBuf {
    let folder = common::folder(&format!("granted-{name}"));
    std::fs::write(folder.join("path"), "a b\nb c\n").unwrap();
    std::fs::write(folder.join("ring"), (0..8).map(|u| format!("{u} {}\n", (u + 1) % 8)).collect::<String>())
        .unwrap();
    folder
}

/// A walk's view is not Gaussian: the number beside an attack on it holds for tests with the same share of
/// false alarms, and for no others.
#[test]
fn a_mu_that_holds_at_one_rate_says_so() {
    let folder = folder("rate");
    let ask = |protocol: &str| {
        let (code, said, problem) = run(
            &folder,
            &format!(
                "audit path --protocol {protocol} --noise 1 --source b --observer a --runs 400 --json out.json"
            ),
        );
        assert_eq!(code, 0, "{problem}");
        let json = std::fs::read_to_string(folder.join("out.json")).unwrap();
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        (said, json["result"].clone())
    };
    let (said, json) = ask("walk:steps=6");
    assert!(said.contains("[upper-bound], of tests that take 0."), "{said}");
    assert!(said.contains("assumed") && json["statement"]["assumes"][0] == "fixed", "{said}");
    assert!(json["allowed_at"].as_f64().is_some_and(|rate| 0.0 < rate && rate < 1.0), "{json}");
    let (said, json) = ask("muffliato:rounds=2");
    assert!(!said.contains("of tests that take"), "{said}");
    assert!(json["allowed_at"].is_null(), "{json}");
    let (said, _) = ask("decor");
    assert!(said.contains("a noise that several nodes share"), "{said}");
    std::fs::remove_dir_all(folder).unwrap();
}

/// A number holds for so many rounds or steps, also where a default chose them: whoever reads it must know.
#[test]
fn parameters_that_nobody_gave_are_said() {
    let folder = folder("parameters");
    let json = || std::fs::read_to_string(folder.join("out.json")).unwrap();
    let walk = "ring --protocol walk";
    for ask in [
        format!("loss {walk} --noise 10 --report page.html --json out.json"),
        format!("calibrate {walk} --epsilon 1 --json out.json"),
        format!("compare {walk} --epsilon 1 --report page.html --json out.json"),
        format!("plan {walk} --epsilon 1 --report page.html --json out.json"),
        format!("audit {walk} --noise 10 --source 1 --observer 0 --runs 100 --json out.json"),
        "ledger ring --run walk@10 --json out.json".into(),
    ] {
        let (code, said, problem) = run(&folder, &ask);
        assert!(code == 0 && said.contains("steps=80"), "{ask}: {said}{problem}");
        let json = json();
        assert!(json.contains("\"steps\": 80.0") || json.contains("steps=80"), "{ask}: {json}");
        if ask.contains("--report") {
            assert!(std::fs::read_to_string(folder.join("page.html")).unwrap().contains("steps=80"), "{ask}");
        }
    }
    let (code, said, problem) = run(&folder, "sweep ring --protocol walk --noise 10");
    assert!(code == 0 && said.contains("parameters: walk cap=inf,steps=80"), "{said}{problem}");
    // What is drawn beforehand is a parameter, too, and said beside a proof.
    let (code, said, problem) =
        run(&folder, "prove ring --protocol randomized-gossip --observer 2 --into proof.jsonl");
    assert!(code == 0 && said.contains("activations=24,seed=0"), "{said}{problem}");
    assert!(said.contains("who meets whom at what time was drawn or given beforehand"), "{said}");
    std::fs::remove_dir_all(folder).unwrap();
}

/// Options that the answer would not depend on are refused, also beside others that exclude what they need.
#[test]
fn options_without_use_are_refused() {
    let folder = folder("without-use");
    for ask in [
        "loss ring --noise 2 --order 3 --delta 1e-4",
        "sweep ring --protocol walk --noise 2 --order 3 --delta 1e-4",
        "loss ring --noise 2 --protocol dsgd:fixed=1 --uses signs",
        "ledger ring --run walk@10 --odometer 1 --order 3",
        "train ring --label x --users 5 --largest-component --noise 1",
        "refute --claim 1 --parameter 3",
    ] {
        let (code, said, problem) = run(&folder, ask);
        assert!(code == 2, "{ask}: {said}{problem}");
    }
    std::fs::remove_dir_all(folder).unwrap();
}

/// Limits that no pair has are refused, and a kept limit counts the pairs that have one.
#[test]
fn a_limit_that_nobody_has_is_not_kept() {
    let folder = folder("limits");
    std::fs::write(folder.join("far"), "5 0.1\n").unwrap();
    std::fs::write(folder.join("one"), "a c 9\n").unwrap();
    std::fs::write(folder.join("none"), "a c inf\n").unwrap();
    for ask in ["loss path --noise 0.001 --protocol local", "calibrate path --protocol local", "plan path"] {
        for limits in ["far", "none"] {
            let (code, said, problem) = run(&folder, &format!("{ask} --pairs {limits}"));
            assert!(code != 0 && !said.contains("met"), "{said}");
            assert!(problem.contains("a limit") && problem.contains("at least 1"), "{problem}");
        }
    }
    let (code, said, problem) =
        run(&folder, "loss path --noise 1 --protocol local --pairs one --report r.html");
    assert_eq!(code, 0, "{problem}");
    assert!(said.contains(", for the 1 of 6 pairs that have a limit; observed by"), "{said}");
    let page = std::fs::read_to_string(folder.join("r.html")).unwrap();
    assert!(page.contains("for the 1 of 6 pairs that have a limit"));
    let (_, said, _) = run(&folder, "loss path --protocol local --noise 2 --mu 0.4 --mean");
    assert!(said.contains("target: met"), "{said}");
    let (_, said, _) = run(&folder, "calibrate path --protocol local --mu 0.4 --mean");
    assert!(said.contains("those who observe counted as 0"), "{said}");
    std::fs::remove_dir_all(folder).unwrap();
}

/// Amplification by iteration holds for convex losses with the curvature of the objective alone.
#[test]
fn trainings_rest_on_their_objective() {
    let folder = folder("objective");
    let curvature = "the loss of every user is convex in the model, with curvature 1 in every direction";
    for (protocol, rests) in [
        ("federated-sgd:step-size=0.001 --outsider", true),
        ("walk-sgd-complete:steps=20 --observer 0", true),
        ("walk-sgd:steps=20 --observer 0", true),
        ("gossip-sgd:epochs=2 --observer 0", true),
        ("local-sgd --observer 0", false),
    ] {
        let (code, said, problem) =
            run(&folder, &format!("loss ring --noise 3 --json out.json --protocol {protocol}"));
        assert_eq!(code, 0, "{protocol}: {problem}");
        assert_eq!(said.contains(curvature), rests, "{protocol}: {said}");
    }
    let (_, said, _) = run(&folder, "compare ring --epsilon 1 --protocol walk-sgd-complete:steps=20");
    assert!(said.contains(curvature), "{said}");
    std::fs::remove_dir_all(folder).unwrap();
}

/// Whoever chooses runs by what another node saw breaks the sum.
#[test]
fn adaptive_ledgers_say_who_chooses() {
    let folder = folder("ledger");
    let by_whom = "runs are chosen, and ended, by what the same observer has seen of the earlier ones";
    let runs = "ledger path --run muffliato:rounds=1@4 --run muffliato:rounds=1@4 --observer c";
    for (options, says) in [("--adaptive --mu 9", true), ("--odometer 0.5", true), ("--mu 9", false)] {
        let (code, said, problem) = run(&folder, &format!("{runs} {options} --json out.json"));
        assert_eq!(code, 0, "{problem}");
        assert_eq!(said.contains(by_whom), says, "{options}: {said}");
        let json = std::fs::read_to_string(folder.join("out.json")).unwrap();
        assert_eq!(json.contains("chosen-by-seen"), says, "{json}");
        // The limit is no cost.
        assert_eq!(json.contains("\"at_most\":"), options.contains("adaptive"), "{json}");
    }
    std::fs::remove_dir_all(folder).unwrap();
}

/// A page says that there is no finite bound, in these words.
#[test]
fn pages_say_that_there_is_no_bound() {
    let folder = folder("unbounded");
    let asked = "loss path --noise 1e-200 --protocol muffliato:rounds=2 --report page.html";
    let (code, _, problem) = run(&folder, asked);
    let page = std::fs::read_to_string(folder.join("page.html")).unwrap();
    assert!(code == 0 && page.contains("has no finite bound") && !page.contains("at most inf"), "{problem}");
    std::fs::remove_dir_all(folder).unwrap();
}

/// Somebody outside learns nothing from messages; what nodes hold in the end is another matter.
#[test]
fn outsiders_get_no_result() {
    let folder = folder("outside");
    for protocol in ["muffliato", "zip-dl", "secure-neighbor-sums", "push-sum", "hierarchical"] {
        let (code, said, problem) =
            run(&folder, &format!("loss ring --noise 2 --protocol {protocol} --outsider --report r.html"));
        assert_eq!(code, 0, "{protocol}: {problem}");
        assert!(said.contains("nobody hands out what it holds in the end"), "{protocol}: {said}");
    }
    // Too few nodes for groups.
    let (code, _, problem) = run(&folder, "loss path --noise 2 --protocol hierarchical --outsider");
    assert!(code != 0 && problem.contains("2 for each of two or more groups"), "{problem}");
    std::fs::remove_dir_all(folder).unwrap();
}

/// A claim about the mean over all nodes that names one of them has no truth to be compared with.
#[test]
fn claims_about_means_do_not_name_a_node() {
    let folder = folder("mean");
    let ask = |claim: &str| run(&folder, &format!("refute --mean --nodes 3 --rounds 2 --claim {claim}"));
    let (code, _, problem) = ask("W[T][u,v]/1000");
    assert!(code != 0 && problem.contains("must not depend on the exposed node u"), "{problem}");
    let (_, said, problem) = ask("1/100000");
    assert!(said.contains("false"), "{said}{problem}");
    std::fs::remove_dir_all(folder).unwrap();
}
