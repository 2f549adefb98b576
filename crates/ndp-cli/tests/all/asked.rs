//! What is asked is what is answered: parameters mean what they say, commands agree, and nothing is ignored.

use super::common::run;
use super::rests::{in_folder, result, row};
use std::path::Path;

/// Activations are counted, not waited for: after one of the only edge, its other end has heard the noisy
/// value.
#[test]
fn activations_are_as_many_as_asked_for() {
    let folder = in_folder("activations");
    std::fs::write(folder.join("edge"), "a b\n").unwrap();
    for (seed, count) in [(0, 1), (1, 1), (2, 1), (3, 7)] {
        let loss = |protocol: &str| {
            let asked = format!("{protocol}:activations={count},seed={seed}");
            let (code, said, problem) =
                run(&folder, &format!("loss edge --protocol {asked} --noise 2 --json out.json"));
            assert_eq!(code, 0, "{said}{problem}");
            result(&folder)["pairs"][0]["loss"]["value"].as_f64().unwrap()
        };
        let (plain, accelerated) = (loss("randomized-gossip"), loss("randomized-accelerated"));
        assert!(plain > 1.8 && (plain - accelerated).abs() < 1e-9, "{plain} {accelerated}");
    }
    std::fs::remove_dir_all(folder).unwrap();
}

/// A walk whose last holder keeps the token sends one message less than it has contributions; without any,
/// nothing is learned, and no noise is needed.
#[test]
fn a_kept_contribution_is_no_message() {
    let folder = in_folder("kept");
    for (protocol, messages, law) in [
        ("walk:steps=5", 5.0, "gaussian"),
        ("complete-sum:steps=5", 4.0, "gaussian"),
        ("complete-sum-laplace:steps=5", 4.0, "laplace"),
        ("complete-histogram:steps=5", 4.0, "randomized-response"),
    ] {
        let ask = format!("calibrate path --protocol {protocol} --epsilon 1 --json out.json --csv out.csv");
        let (code, said, problem) = run(&folder, &ask);
        assert_eq!(code, 0, "{said}{problem}");
        assert_eq!(result(&folder)["messages"].as_f64(), Some(messages), "{protocol}");
        assert!(result(&folder)["error"].as_f64().is_some_and(|error| error > 0.0));
        assert_eq!((row(&folder, "messages"), row(&folder, "law")), (messages.to_string(), law.into()));
    }
    for protocol in ["complete-sum:steps=1", "complete-sum:steps=1,constant=1"] {
        let (code, _, problem) = run(&folder, &format!("calibrate path --protocol {protocol} --epsilon 1"));
        assert!(code == 1 && problem.contains("no noise is needed"), "{protocol}: {problem}");
    }
    std::fs::remove_dir_all(folder).unwrap();
}

/// Options that would do nothing are refused, and so are limits on what a node learns about itself.
#[test]
fn what_would_be_ignored_is_refused() {
    let folder = in_folder("ignored");
    std::fs::write(folder.join("own"), "a a 1\n").unwrap();
    for (ask, says) in [
        ("loss path --noise 2 --renyi 1 --delta 1e-3", "--delta"),
        ("loss path --noise 2 --mu 1 --delta 1e-3", "--delta"),
        ("calibrate path --epsilon 1 --order 7", "--order"),
        ("loss path --noise 2 --pairs own", "line 1: what a node learns about itself is no loss"),
    ] {
        let (code, _, problem) = run(&folder, ask);
        assert!(code > 0 && problem.contains(says), "{ask}: {problem}");
    }
    // Infinity is a text in JSON, not nothing.
    std::fs::write(folder.join("long"), "a b\nb c\nc d\nd e\n").unwrap();
    let ask = "audit long --protocol central-sgd:steps=9,step-size=0.755 --noise 2.28 --source c --outsider --runs 600";
    let (code, _, problem) = run(&folder, &format!("{ask} --json out.json"));
    assert_eq!(code, 0, "{problem}");
    assert_eq!(result(&folder)["allowed_mu"]["value"], "inf");
    std::fs::remove_dir_all(folder).unwrap();
}

/// At the noise that `calibrate` finds, `loss` says that the target is met, although it has no time for the
/// losses of all pairs of such a walk.
#[test]
fn what_is_calibrated_is_met() {
    let folder = in_folder("calibrated");
    let karate = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/karate.txt");
    std::fs::copy(karate, folder.join("karate")).unwrap();
    let walk = "karate --protocol walk --epsilon 1 --json out.json";
    let (code, _, problem) = run(&folder, &format!("calibrate {walk}"));
    assert_eq!(code, 0, "{problem}");
    let noise = result(&folder)["noise"].as_f64().unwrap();
    let (code, said, problem) = run(&folder, &format!("loss {walk} --noise {noise}"));
    assert!(code == 0 && said.contains("each at most 1.00000\n"), "{said}{problem}");
    assert!(said.contains("target: met: at most 1 about any node"), "{said}");
    assert_eq!(result(&folder)["target"]["why"], "met, by quick bounds where losses are not known");
    let (code, _, problem) = run(&folder, &format!("loss {walk} --noise {}", noise / 1.001));
    assert!(code == 1 && problem.contains("target: not shown"), "{problem}");
    // Limits by hops are looked at in the same way.
    for (limits, expected) in [("1 1\n2 1\n", 0), ("1 0.01\n", 1)] {
        std::fs::write(folder.join("limits"), limits).unwrap();
        let (code, said, problem) =
            run(&folder, &format!("loss karate --protocol walk --pairs limits --noise {noise}"));
        assert_eq!(code, expected, "{said}{problem}");
    }
    std::fs::remove_dir_all(folder).unwrap();
}
