//! Odd questions: observers who are named twice, nobody left to ask about, noises with many digits, attacks
//! by outsiders, runs that one may stop.

use super::common::{self, run};
use std::path::PathBuf;

fn folder(name: &str) -> PathBuf {
    let folder = common::folder(&format!("odd-{name}"));
    std::fs::write(folder.join("path"), "a b\nb c\n").unwrap();
    std::fs::write(folder.join("ring"), (0..8).map(|u| format!("{u} {}\n", (u + 1) % 8)).collect::<String>())
        .unwrap();
    folder
}

#[test]
fn an_observer_that_is_named_twice_counts_once() {
    let folder = folder("twice");
    let ask = |observers: &str| run(&folder, &format!("loss ring --noise 2 {observers} --csv out.csv"));
    let once = ask("--observer 0 --observer 3");
    let twice = ask("--observer 0 --observer 3 --observer 0");
    assert_eq!((once.0, &once.1), (0, &twice.1));
    let (code, _, problem) =
        run(&folder, "prove ring --protocol muffliato:rounds=2 --observer 0 --observer 0 --into proof.jsonl");
    assert_eq!(code, 0, "{problem}");
    let proof = std::fs::read_to_string(folder.join("proof.jsonl")).unwrap();
    let pairs: Vec<&str> = proof.lines().filter(|line| line.contains("\"observer\"")).collect();
    assert!(!pairs.is_empty() && (1..pairs.len()).all(|k| !pairs[..k].contains(&pairs[k])), "{proof}");
    std::fs::remove_dir_all(folder).unwrap();
}

/// A proof about nobody would say that every loss is 0.
#[test]
fn a_proof_about_nobody_is_refused() {
    let folder = folder("nobody");
    for (who, says) in [
        ("--observer a --source a", "nothing to prove"),
        ("--coalition a,b,c", "nobody outside the observer"),
    ] {
        let (code, _, problem) =
            run(&folder, &format!("prove path --protocol muffliato:rounds=2 {who} --into proof.jsonl"));
        assert!(code == 1 && problem.contains(says), "{code} {problem}");
        assert!(!folder.join("proof.jsonl").exists());
    }
    std::fs::remove_dir_all(folder).unwrap();
}

/// With noise 1.00000 the loss is above 4.37717; the noise that was asked about is larger.
#[test]
fn a_noise_is_not_shown_below_itself() {
    let folder = folder("digits");
    let (code, said, _) = run(&folder, "loss path --protocol local --noise 1.0000049 --epsilon 4.37717");
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("1.00001 (1.00001 times") && !said.contains("1.00000"), "{said}");
    assert_eq!(run(&folder, "loss path --protocol local --noise 1.00000 --epsilon 4.37717").0, 1);
    std::fs::remove_dir_all(folder).unwrap();
}

/// Models that gossip stay with their users, for the account and for the attack; and this is said.
#[test]
fn an_outsider_gets_no_model_that_is_kept() {
    let folder = folder("kept");
    let (code, said, problem) =
        run(&folder, "audit ring --protocol gossip-sgd --noise 1 --source 0 --outsider --runs 2000 --seed 1");
    assert_eq!(code, 0, "{said}{problem}");
    for protocol in ["gossip-sgd", "walk:steps=20", "muffliato", "local"] {
        let (_, said, _) = run(&folder, &format!("loss ring --protocol {protocol} --noise 1 --outsider"));
        let assumes = said.contains("nobody hands out what it holds in the end, no result and no model");
        assert_eq!(assumes, protocol != "local", "{said}");
    }
    for who in ["--outsider", "--tap 0-1"] {
        let (code, _, problem) = run(&folder, &format!("audit ring --noise 1 --source 0 {who}"));
        assert!(code == 1 && problem.contains("there is no attack"), "{problem}");
    }
    let (code, _, problem) =
        run(&folder, "audit ring --noise 1 --source 0 --observer 1 --runs 1000000000000");
    assert!(code == 1 && problem.contains("at most 10^8"), "{problem}");
    std::fs::remove_dir_all(folder).unwrap();
}

/// Whoever has an odometer may stop because of what was seen: the plain sum of two runs, 2.94323, would be
/// too little.
#[test]
fn an_odometer_is_never_the_sum() {
    let folder = folder("odometer");
    let runs = "--run muffliato:rounds=3@2 --run muffliato:rounds=3@2 --observer 0 --odometer 1";
    let ask = |rest: &str| run(&folder, &format!("ledger ring {runs} {rest}"));
    let (code, said, problem) = ask("");
    assert_eq!(code, 0, "{problem}");
    assert!(said.contains("6.17849") && said.contains("upper-bound") && !said.contains("2.943"), "{said}");
    assert_eq!(ask("--adaptive").1, said);
    let (code, _, problem) = run(&folder, "ledger ring --run ring-sum-laplace@20 --observer 0 --odometer 1");
    assert!(code == 1 && problem.contains("Gaussian"), "{problem}");
    std::fs::remove_dir_all(folder).unwrap();
}

/// More noise does not help where data are seen without any.
#[test]
fn an_infinite_loss_promises_nothing() {
    let folder = folder("infinite");
    let (_, said, _) = run(&folder, "loss ring --protocol decor:own=0 --noise 1e100");
    assert!(said.contains("seen without any noise") && !said.contains("as good as none"), "{said}");
    std::fs::remove_dir_all(folder).unwrap();
}

/// With little epsilon, delta alone covers what is learned at much noise; there is a least noise still.
#[test]
fn a_tiny_epsilon_has_a_least_noise() {
    let folder = folder("tiny");
    let ask = |rest: &str| run(&folder, &format!("{rest} ring --protocol walk:steps=20"));
    let (code, said, problem) = ask("calibrate --epsilon 1e-12");
    assert_eq!(code, 0, "{problem}");
    let noise = |said: &str| {
        let line = said.lines().find(|line| line.contains("least noise  ")).expect("a least noise");
        line.split_whitespace().nth(2).and_then(|word| word.parse::<f64>().ok()).expect("a number")
    };
    let least = noise(&said);
    assert!(least > noise(&ask("calibrate --epsilon 0.01").1), "{said}");
    let (code, said, _) = ask(&format!("loss --noise {least} --epsilon 1e-12"));
    assert_eq!(code, 0, "{said}");
    std::fs::remove_dir_all(folder).unwrap();
}

/// A sample of all nodes is all of them, and a number below 0 is refused by who reads it.
#[test]
fn a_sample_of_everybody_is_everybody() {
    let folder = folder("everybody");
    let (code, said, problem) = run(&folder, "sweep ring --noise 2 --sample 8");
    assert!(code == 0 && !said.contains("at random") && !said.contains("confidence"), "{said}{problem}");
    let (code, said, problem) = run(&folder, "sweep ring --noise 2 --sample 3");
    assert!(code == 0 && said.contains("at random") && said.contains("confidence"), "{said}{problem}");
    let (code, _, problem) = run(&folder, "loss ring --noise -1");
    assert!(code == 2 && problem.contains("a noise must be positive and finite"), "{problem}");
    std::fs::remove_dir_all(folder).unwrap();
}

/// Whole numbers and labels have a unit of their own: noise on them is not found for another sensitivity by
/// scaling.
#[test]
fn noise_that_does_not_scale_is_found_for_a_sensitivity_of_one() {
    let folder = folder("scale");
    for protocol in ["ring-sum-discrete-laplace", "complete-sum-discrete-laplace", "ring-histogram"] {
        for ask in ["loss ring --noise 2", "calibrate ring --epsilon 1", "sweep ring --noise 2"] {
            let asked = |sensitivity: &str| {
                run(&folder, &format!("{ask} --protocol {protocol} --observer 5 --sensitivity {sensitivity}"))
            };
            assert_eq!(asked("1").0, 0, "{protocol} {ask}: {}", asked("1").2);
            for sensitivity in ["2", "0.01"] {
                let (code, said, problem) = asked(sensitivity);
                assert!(code == 1 && problem.contains("the sensitivity must be 1"), "{said}{problem}");
            }
        }
        let (_, said, _) = run(
            &folder,
            &format!(
                "compare ring --epsilon 1 --observer 5 --sensitivity 100 --protocol {protocol} --protocol local"
            ),
        );
        assert!(said.contains("the sensitivity must be 1"), "{said}");
    }
    std::fs::remove_dir_all(folder).unwrap();
}

/// Whoever reacts to a token breaks what tokens promise; every answer about tokens says that nobody does, and
/// tables of several protocols say what each of them takes for granted.
#[test]
fn what_is_taken_for_granted_is_said() {
    let folder = folder("granted");
    let fixed = "what nodes contribute depends on nothing that they received";
    for protocol in ["walk:steps=20", "ring-sum", "complete-sum", "ring-histogram", "complete-sum-laplace"] {
        let (_, said, problem) =
            run(&folder, &format!("loss ring --protocol {protocol} --noise 2 --observer 3"));
        assert!(said.contains("  assumed ") && said.contains(fixed), "{said}{problem}");
    }
    let several = "--protocol walk:steps=20 --protocol central";
    for ask in ["sweep ring --noise 2 --observer 3", "compare ring --epsilon 1"] {
        let (code, said, problem) = run(&folder, &format!("{ask} {several}"));
        assert_eq!(code, 0, "{problem}");
        for part in ["assumed of walk:steps=20: what nodes contribute", "assumed of central: the curator"] {
            assert!(said.contains(part), "{part}\n{said}");
        }
        assert!(said.contains("what may change: ") && said.contains("noise: standard deviation"), "{said}");
    }
    // The first line of a sweep's file says what the noise is, and each line what its numbers rest on.
    let (code, _, problem) =
        run(&folder, &format!("sweep ring --noise 2 --observer 3 {several} --into lines.jsonl"));
    assert_eq!(code, 0, "{problem}");
    let lines = std::fs::read_to_string(folder.join("lines.jsonl")).unwrap();
    let first: serde_json::Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
    for (k, (protocol, assumes)) in
        [("walk:steps=20", "fixed"), ("central", "curator")].into_iter().enumerate()
    {
        assert!(first["statements"][protocol]["noise"][0]["law"].is_string(), "{first}");
        let line: serde_json::Value = serde_json::from_str(lines.lines().nth(k + 1).unwrap()).unwrap();
        let granted = &line["granted"];
        assert!(granted["assumes"].as_array().unwrap().contains(&serde_json::json!(assumes)), "{line}");
        assert!(granted["changes"][0].is_string() && line["by"][0].is_string(), "{line}");
    }
    let (_, said, problem) = run(&folder, "plan ring --epsilon 1");
    assert!(
        said.contains("assumed of") && said.contains("a noise that several nodes share"),
        "{said}{problem}"
    );
    let table: String = (0..60).map(|i| format!("{},{},{}\n", i % 7, i * i % 11, i % 2)).collect();
    std::fs::write(folder.join("table.csv"), format!("a,b,label\n{table}")).unwrap();
    let (code, said, problem) = run(
        &folder,
        "train table.csv --protocol federated-sgd --noise 2 --standardize --report page.html --users 6",
    );
    assert_eq!(code, 0, "{problem}");
    for part in ["what may change", "the curator or server is trusted", "means and variances of the features"]
    {
        assert!(said.contains(part), "{part}\n{said}");
    }
    let page = std::fs::read_to_string(folder.join("page.html")).unwrap();
    assert!(
        page.contains("The curator or server is trusted") && page.contains("moves by at most 2"),
        "{page}"
    );
    std::fs::remove_dir_all(folder).unwrap();
}
