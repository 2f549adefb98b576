//! No sentence says more than was computed: about samples, limits for observers who are not looked at, what
//! may change, and the noise.

use super::common::{self, run};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// More nodes than the default looks at one by one.
const MANY: usize = 600;

fn folder(name: &str) -> PathBuf {
    let folder = common::folder(&format!("statements-{name}"));
    let put = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
    // A ring with chords, where every node hears the sum of its twenty neighbors, and a leaf that hears only
    // its one neighbor.
    let chords = (0..MANY).flat_map(|u| (1..=10).map(move |d| format!("n{u} n{}\n", (u + d) % MANY)));
    put("many", &chords.chain(["n0 leaf\n".to_owned()]).collect::<String>());
    put("path", "1 2\n2 3\n3 4\n4 5\n5 6\n");
    // A square whose corners are twins of their opposites, and a tail.
    put("square", "a b\nb c\nc d\nd a\na tail\n");
    folder
}

fn json(folder: &Path) -> Value {
    let document: Value = serde_json::from_slice(&std::fs::read(folder.join("out.json")).unwrap()).unwrap();
    document["result"].clone()
}

fn page(folder: &Path) -> String {
    std::fs::read_to_string(folder.join("page.html")).unwrap()
}

/// The value of a row of a summary.
fn row(said: &str, name: &str) -> String {
    let line = said.lines().find(|line| line.trim_start().starts_with(&format!("{name}  ")));
    line.unwrap_or_else(|| panic!("no {name:?} in {said}")).trim_start()[name.len()..].trim().to_owned()
}

const SUMS: &str = "--protocol secure-neighbor-sums:rounds=1";

/// Sixteen sampled observers who keep a limit do not show it for all: the table, the page, the data and the
/// exit code say so.
#[test]
fn a_sample_is_not_everybody() {
    let folder = folder("sample");
    let files = "--json out.json --report page.html";
    let ask = |rest: &str| run(&folder, &format!("loss many {SUMS} {rest} {files}"));
    // The leaf learns mu = 1 about its neighbor, but the sample (seed 0) does not include the leaf. Only the
    // bound for the other observers shows it.
    let (code, said, problem) = ask("--noise 1 --mu 0.5 --sample 16");
    assert_eq!(code, 1, "{said}{problem}");
    assert!(problem.contains("not shown: 16 of 601 observers were looked at"), "{problem}");
    assert!(row(&said, "observed by").contains("16 drawn at random (seed 0)"), "{said}");
    assert_eq!(row(&said, "largest of all"), "1.00000 [upper-bound]");
    let found = json(&folder);
    assert_eq!(found["target"]["verdict"], "NotShown");
    let coverage = serde_json::json!({ "covers": "bounded", "looked_at": 16, "nodes": 601, "seed": 0 });
    assert_eq!(found["statement"]["coverage"], coverage);
    let shown = page(&folder);
    assert!(shown.contains("verdict bad") && shown.contains("not shown: 16 of 601 observers were looked at"));
    assert!(
        shown.contains("What any one of 601 nodes learns about any other node is at most 1.00000"),
        "{shown}"
    );
    // By default the bound covers every node, and the leaf is proven to learn as much as it says.
    let (code, said, problem) = ask("--noise 1 --mu 0.5");
    assert_eq!(code, 1, "{said}{problem}");
    assert!(problem.contains("violated by one of the pairs") && !problem.contains("--all"), "{problem}");
    assert_eq!(row(&said, "largest of all"), "1.00000 [exact: what leaf learns about n0]");
    let found = json(&folder);
    let coverage = serde_json::json!({ "covers": "bounded", "looked_at": 1, "nodes": 601, "seed": null });
    assert_eq!(found["statement"]["coverage"], coverage);
    assert_eq!(found["largest"]["loss"]["grade"], "exact");
    assert!(
        page(&folder).contains("is at most 1.00000 (Gaussian parameter mu): what leaf learns about n0"),
        "{}",
        page(&folder)
    );
    let (code, said, problem) = ask("--noise 1 --mu 0.5 --all");
    assert!(code == 1 && problem.contains("violated by one of the pairs"), "{said}{problem}");
    // At twice the noise, the bound alone shows that every node keeps the limit.
    let (code, said, problem) = ask("--noise 2 --mu 0.5");
    assert_eq!(code, 0, "{problem}");
    let met = said.lines().last().unwrap();
    let target = "at most 0.5 about any node, as Gaussian parameter mu";
    assert!(
        met.starts_with(&format!(
            "target: met: {target}; observed by every one of 601 nodes alone: 1 chosen"
        )),
        "{met}"
    );
    assert!(
        page(&folder).contains("The limit is kept: at most 0.5 about any node")
            && json(&folder)["target"]["verdict"] == "Met"
    );
    // An answer about named observers names them and claims nothing about others.
    let (code, said, _) = ask("--noise 1 --mu 0.5 --observer n5");
    assert!(code == 0 && said.ends_with(&format!("target: met: {target}; observed by n5\n")), "{said}");
    assert!(page(&folder).contains("What n5 learns about any other node is at most"));
    std::fs::remove_dir_all(folder).unwrap();
}

/// A user's own program has no bound for observers who are not looked at.
#[test]
fn without_a_bound_a_sample_shows_nothing() {
    let folder = folder("program");
    let program = format!(
        "{{\"ndp-program\": 1, \"nodes\": {}}}\n{{\"contribute\": \"x\", \"reads\": \"nothing\"}}\n{{\"noise\": \"z\", \"variance\": 1}}\n\
         {{\"let\": \"y\", \"sum\": {{\"x\": 1, \"z\": 1}}}}\n{{\"broadcast\": \"y\"}}\n",
        MANY + 1
    );
    std::fs::write(folder.join("mine.jsonl"), program).unwrap();
    let (code, said, problem) = run(
        &folder,
        "loss many --program mine.jsonl --uses use-level --noise 2 --mu 0.6 --sample 2 --report page.html --json out.json",
    );
    assert_eq!(code, 1, "{said}{problem}");
    assert!(
        problem
            .contains("2 of 601 observers were looked at, who keep it; what the others learn is not known"),
        "{problem}"
    );
    assert!(row(&said, "observed by").contains("nothing is shown about what the others learn"), "{said}");
    assert_eq!(json(&folder)["statement"]["coverage"]["covers"], "sample");
    assert!(page(&folder).contains("Nothing is shown about what the other 599 nodes learn."));
    let calibrate =
        "calibrate many --program mine.jsonl --uses use-level --mu 0.5 --sample 2 --json out.json";
    let (code, said, problem) = run(&folder, calibrate);
    assert!(code == 1 && problem.contains("2 of 601 nodes drawn at random"), "{said}{problem}");
    assert!(row(&said, "least noise").starts_with("2.0000"), "{said}");
    assert_eq!(json(&folder)["statement"]["coverage"]["covers"], "sample");
    std::fs::remove_dir_all(folder).unwrap();
}

/// The least noise is for all observers; the noise that would be enough for the sample is stated beside it.
#[test]
fn noise_is_found_for_everybody() {
    let folder = folder("noise");
    let (code, said, problem) =
        run(&folder, &format!("calibrate many {SUMS} --mu 0.5 --sample 16 --json out.json --csv out.csv"));
    assert_eq!(code, 0, "{problem}");
    assert!(row(&said, "least noise").starts_with("2.0000"), "{said}");
    assert!(row(&said, "for those looked at alone").contains("shows nothing about the others"), "{said}");
    assert!(row(&said, "tightest pair").contains("by the bound for those not looked at"), "{said}");
    let found = json(&folder);
    assert!(
        found["noise"].as_f64().unwrap() >= 2.0 && found["multiplier_of_looked_at"].as_f64().unwrap() < 1.0
    );
    let table = std::fs::read_to_string(folder.join("out.csv")).unwrap();
    assert!(table.contains("\"all 601, 585 by a bound\""), "{table}");
    for rest in ["", "--all"] {
        let everybody = run(&folder, &format!("calibrate many {SUMS} --mu 0.5 {rest}")).1;
        assert!(row(&everybody, "least noise").starts_with("2.0000"), "{everybody}");
        let pair = row(&everybody, "tightest pair");
        assert!(pair.starts_with("what leaf learns about n0") && pair.ends_with("[exact]"), "{everybody}");
        assert!(!everybody.contains("for those looked at alone"), "{everybody}");
    }
    let (code, said, problem) = run(
        &folder,
        "compare many --mu 0.5 --sample 16 --protocol secure-neighbor-sums:rounds=1 --protocol ring-sum-laplace --protocol local --report page.html \
         --json out.json",
    );
    // Laplace noise has no mu.
    assert_eq!(code, 0, "{said}{problem}");
    let line = |name: &str| said.lines().find(|line| line.starts_with(name)).unwrap().to_owned();
    assert!(line("secure-neighbor-sums").ends_with("all 601, 585 by a bound"), "{said}");
    assert!(said.contains("noise for those looked at alone"), "{said}");
    assert!(
        page(&folder).contains("2 of 3 protocols are shown to keep the limit: at most 0.5 about any node")
    );
    assert_eq!(json(&folder)[0]["coverage"]["covers"], "bounded");
    let (code, said, problem) =
        run(&folder, "plan many --mu 0.5 --protocol ring-sum --report page.html --json out.json");
    assert_eq!(code, 0, "{said}{problem}");
    assert!(
        page(&folder).contains("what any one of 601 nodes learns is at most 0.5 about any node"),
        "{}",
        page(&folder)
    );
    assert_eq!(json(&folder)["plans"][0]["statement"]["coverage"]["covers"], "bounded");
    std::fs::remove_dir_all(folder).unwrap();
}

/// Every limit needs an observer who is looked at, or the question is refused. A coalition must keep the
/// limits of all its members.
#[test]
fn limits_that_nobody_looks_at_are_refused() {
    let folder = folder("limits");
    let put = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
    put("far", "3 6 0.01\n3 1 5\n");
    put("hops", "1 0.2\n");
    put("leaf", "n0 leaf 0.4\n");
    let ask = |rest: &str| {
        run(&folder, &format!("loss path --protocol muffliato:rounds=3 --noise 1 --mu 9 {rest}"))
    };
    for who in ["--observer 1", "--coalition 1,2", "--coalition 3,6", "--sample 1"] {
        let (code, said, problem) = ask(&format!("--pairs far {who}"));
        assert!(
            code == 1 && problem.contains("nobody looks at that: add --observer"),
            "{who}: {said}{problem}"
        );
    }
    // This limit is that of the coalition's second member.
    let (code, _, problem) = ask("--pairs far --coalition 1,6");
    assert!(code == 1 && problem.contains("violated by one of the pairs"), "{problem}");
    let (code, _, problem) = ask("--pairs far");
    assert!(code == 1 && problem.contains("violated by one of the pairs"), "{problem}");
    for limits in ["far", "hops"] {
        let (code, _, problem) = ask(&format!("--pairs {limits} --outsider"));
        assert!(code == 2 && problem.contains("an outsider has none") || code == 1, "{code}{problem}");
        assert!(!problem.contains("panicked"), "{problem}");
    }
    // On a large graph, the observers for whom limits are listed are looked at.
    let (code, said, problem) = run(&folder, &format!("loss many {SUMS} --noise 1 --mu 9 --pairs leaf"));
    assert!(code == 1 && problem.contains("violated by one of the pairs"), "{said}{problem}");
    assert_eq!(row(&said, "observed by"), "leaf");
    let (code, said, problem) = run(&folder, &format!("calibrate many {SUMS} --mu 9 --pairs leaf"));
    assert!(code == 0 && row(&said, "least noise").starts_with("2.5000"), "{said}{problem}");
    // A limit by distance is about all observers; a bound decides for those who are not looked at.
    let (code, _, problem) = run(&folder, &format!("loss many {SUMS} --noise 1 --mu 9 --pairs hops"));
    assert!(code == 1 && problem.contains("violated"), "{problem}");
    std::fs::remove_dir_all(folder).unwrap();
}

/// An outsider hears what is published and nothing else.
#[test]
fn outsiders_have_an_answer() {
    let folder = folder("outsider");
    let ask = |protocol: &str| {
        let (code, said, problem) =
            run(&folder, &format!("loss path --noise 2 --outsider --protocol {protocol} --report page.html"));
        assert_eq!(code, 0, "{protocol}: {problem}");
        (row(&said, "median, 90 %, largest"), row(&said, "grade"))
    };
    let nothing = ("0, 0, 0".to_owned(), "exact".to_owned());
    for protocol in ["muffliato:rounds=3", "fresh-noise:rounds=3", "noisy-messages:rounds=3", "walk:steps=20"]
    {
        assert_eq!(ask(protocol), nothing, "{protocol}");
    }
    assert!(
        page(&folder).contains("What somebody outside the network learns about any other node is at most 0")
    );
    for protocol in ["local", "central"] {
        assert_eq!(ask(protocol), ("1.99310, 1.99310, 1.99310".to_owned(), "exact".to_owned()), "{protocol}");
    }
    assert_eq!(ask("ring-sum").1, "upper-bound");
    std::fs::remove_dir_all(folder).unwrap();
}

/// For federated training, the account and the bound of `--patience 0` give the same answer.
#[test]
fn federated_training_answers_users_by_one_gradient() {
    let folder = folder("federated");
    let ask = |rest: &str| {
        let asked = format!("loss path --protocol federated-sgd --noise 2 --observer 3 {rest}");
        let (code, said, problem) = run(&folder, &asked);
        assert_eq!(code, 0, "{problem}");
        (row(&said, "median, 90 %, largest"), row(&said, "grade"))
    };
    assert_eq!(ask(""), ask("--patience 0"));
    assert_eq!(ask(""), ("1.99310, 1.99310, 1.99310".to_owned(), "upper-bound".to_owned()));
    std::fs::remove_dir_all(folder).unwrap();
}

/// Beside the numbers, the answer states what the noise is and what may change.
#[test]
fn numbers_say_what_they_are_about() {
    let folder = folder("terms");
    for (protocol, law, changes) in [
        (
            "muffliato:rounds=2",
            "standard deviation of Gaussian noise, on every value, once",
            "the value of one node",
        ),
        (
            "ring-sum-laplace",
            "standard deviation of Laplace noise (its scale times the root of 2)",
            "everything that one node contributes",
        ),
        ("ring-histogram", "reciprocal of the epsilon0 of randomized response", "every label"),
        (
            "walk-sgd-complete:steps=9",
            "standard deviation of Gaussian noise, on every gradient",
            "all data of one node",
        ),
    ] {
        let asked = format!(
            "loss path --protocol {protocol} --noise 2 --observer 3 --json out.json --report page.html"
        );
        let (code, said, problem) = run(&folder, &asked);
        assert_eq!(code, 0, "{problem}");
        assert!(row(&said, "which is the").starts_with(law), "{said}");
        assert!(row(&said, "what may change").starts_with(changes), "{said}");
        let page = page(&folder);
        assert!(page.contains(law) && page.to_lowercase().contains(changes), "{protocol}");
        let stated = json(&folder)["statement"].clone();
        assert!(
            stated["noise"][0]["law"].is_string()
                && stated["changes"][0].is_string()
                && stated["by"][0]["theorem"].is_string()
        );
    }
    let (code, said, problem) = run(
        &folder,
        "compare path --epsilon 1 --protocol ring-sum-laplace --protocol local --protocol ring-histogram --json out.json",
    );
    assert_eq!(code, 0, "{problem}");
    assert!(said.contains("reciprocal of the epsilon0 of randomized response (ring-histogram)"), "{said}");
    assert_eq!(json(&folder)[0]["statement"]["noise"][0]["law"], "laplace");
    std::fs::remove_dir_all(folder).unwrap();
}

/// An assumption that the user did not declare is never made, and a declared one is shown with the answer.
#[test]
fn declarations_are_shown() {
    let folder = folder("declared");
    let least = |protocol: &str| {
        let (code, said, problem) =
            run(&folder, &format!("calibrate path --protocol {protocol} --mu 1 --json out.json"));
        assert_eq!(code, 0, "{problem}");
        said
    };
    // Without a declaration, all gradients of a node may change and may depend on what it received. So mu
    // grows with the root of the number of steps.
    let said = least("dsgd:steps=9");
    assert!(row(&said, "least noise").starts_with("3.0000") && said.contains("upper-bound"), "{said}");
    assert!(row(&said, "what may change").starts_with("all data of one node"), "{said}");
    let said = least("dsgd:steps=9,alike=1,fixed=1");
    assert!(row(&said, "what may change").contains("less than all its data"), "{said}");
    assert!(row(&said, "assumed").contains("depends on nothing that they received"), "{said}");
    assert_eq!(json(&folder)["statement"]["assumes"], serde_json::json!(["fixed", "nothing-published"]));
    // A program with ten uses of a node's data, when one use may change; and contributions whose reads cannot
    // be checked.
    let uses = |reads: &str, text: &str| {
        let step = format!(
            "{{\"contribute\": \"x\", \"reads\": {reads}}}\n{{\"noise\": \"z\", \"variance\": 1}}\n\
             {{\"let\": \"y\", \"sum\": {{\"x\": 1, \"z\": 1}}}}\n{{\"broadcast\": \"y\"}}\n"
        );
        let program: String = (0..10)
            .map(|t| {
                step.replace("\"x\"", &format!("\"x{t}\""))
                    .replace("\"z\"", &format!("\"z{t}\""))
                    .replace("\"y\"", &format!("\"y{t}\""))
            })
            .collect();
        std::fs::write(folder.join("ten.jsonl"), format!("{{\"ndp-program\": 1, \"nodes\": 6}}\n{program}"))
            .unwrap();
        let (code, said, problem) = run(
            &folder,
            &format!(
                "loss path --program ten.jsonl --uses {text} --noise 1 --mu 1 --observer 3 --json out.json --report page.html"
            ),
        );
        (code, said + &problem)
    };
    let (code, said) = uses("\"seen\"", "use-level");
    assert_eq!(code, 0, "{said}");
    assert!(
        row(&said, "what may change").starts_with("one use of one node's data, its other uses unchanged"),
        "{said}"
    );
    assert!(row(&said, "assumed").contains("declared without a list, not checked"), "{said}");
    let page = page(&folder);
    assert!(
        page.contains("One use of one node&#39;s data") || page.contains("One use of one node's data"),
        "{page}"
    );
    assert!(page.contains("declared without a list, not checked") && !page.contains("any one node"));
    let (code, said) = uses("\"nothing\"", "signs");
    assert!(code == 1 && row(&said, "assumed").contains("depends on nothing that they received"), "{said}");
    assert!(row(&said, "what may change").starts_with("all uses of one node's data"), "{said}");
    std::fs::remove_dir_all(folder).unwrap();
}

/// In every protocol, a broadcast counts as one message to each other node.
#[test]
fn messages_have_receivers() {
    let folder = folder("messages");
    let (_, said, problem) = run(
        &folder,
        "compare path --epsilon 1 --observer 1 --protocol local --protocol decor --protocol gopa",
    );
    let messages = |name: &str| {
        let line = said.lines().find(|line| line.starts_with(name));
        line.unwrap_or_else(|| panic!("{said}{problem}")).split_whitespace().nth(3).unwrap().to_owned()
    };
    for name in ["local", "decor", "gopa"] {
        assert_eq!(messages(name), "30", "{name}: {said}");
    }
    std::fs::remove_dir_all(folder).unwrap();
}

/// Nodes with the same neighbors (twins) hide each other from observers that are neither twins nor their
/// neighbors.
#[test]
fn twins_are_hidden_from_some() {
    let folder = folder("twins");
    let (_, said, _) = run(&folder, "graph square");
    assert!(said.contains("neither one of k twins nor a neighbor of theirs learns at most 1/k"), "{said}");
    // b and d are twins: what the tail learns about them, and what their neighbor learns.
    let (_, said, _) = run(
        &folder,
        "loss square --protocol muffliato:rounds=9 --noise 1 --renyi 9 --observer tail --observer a",
    );
    let loss = |u: &str, v: &str| -> f64 {
        let found = said.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        let mut found = found.filter(|cells| cells.len() == 4 && cells[0] == u && cells[1] == v);
        found.next().unwrap()[3].parse().unwrap()
    };
    // Order 2 at noise 1: the local loss is 1.
    assert!((loss("b", "a") - 1.0).abs() < 1e-4 && loss("b", "tail") <= 0.5 + 1e-4, "{said}");
    std::fs::remove_dir_all(folder).unwrap();
}

/// A ledger states its grade, and fails if the runs exceed the limit.
#[test]
fn ledgers_say_what_they_cover() {
    let folder = folder("ledger");
    std::fs::write(folder.join("limits"), "3 1 0.01\n").unwrap();
    std::fs::write(folder.join("wide"), "3 1 9\n").unwrap();
    let both = "--run muffliato:rounds=2@4 --run ring-sum@4";
    // Limits of pairs are judged by the listed pairs alone, and every listed observer must be looked at.
    let (code, _, problem) = run(&folder, &format!("ledger path {both} --pairs limits"));
    assert!(code == 1 && problem.contains("the limit is exceeded"), "{problem}");
    assert_eq!(run(&folder, &format!("ledger path {both} --pairs wide")).0, 0);
    let (code, _, problem) = run(&folder, &format!("ledger path {both} --pairs wide --observer 2"));
    assert!(code == 1 && problem.contains("nobody looks at that"), "{problem}");
    // `--mean` needs a limit, and does not go together with `--adaptive`.
    let (code, said, problem) = run(&folder, &format!("ledger path {both} --mu 3 --mean"));
    assert!(code == 0 && said.contains("mean over all nodes"), "{said}{problem}");
    assert_eq!(run(&folder, &format!("ledger path {both} --mu 0.01 --mean")).0, 1);
    assert_eq!(run(&folder, &format!("ledger path {both} --mean")).0, 2);
    assert_eq!(run(&folder, &format!("ledger path {both} --mu 3 --mean --adaptive")).0, 2);
    // An odometer also holds for a run that is stopped because of what was seen, and costs more than the
    // plain sum.
    let largest = |rest: &str| -> f64 {
        let (code, _, problem) = run(&folder, &format!("ledger path {both} --json out.json {rest}"));
        assert_eq!(code, 0, "{problem}");
        let pairs = json(&folder)["pairs"].as_array().unwrap().clone();
        pairs.iter().map(|pair| pair["spent"]["value"].as_f64().unwrap()).fold(0.0, f64::max)
    };
    assert!(largest("--adaptive --odometer 0.1") > largest(""));
    let runs = "--run muffliato:rounds=2@4 --run ring-sum@4 --mu 3";
    let (code, said, problem) = run(&folder, &format!("ledger path {runs} --observer 1 --json out.json"));
    assert!(code == 0 && said.contains("grade of what is spent: exact"), "{said}{problem}");
    assert!(!row(&said, "the account fails").is_empty(), "{said}");
    assert_eq!(json(&folder)["pairs"][0]["spent"]["grade"], "exact");
    // Hops count to the nearest member of the coalition, whichever is named first.
    let (code, _, problem) =
        run(&folder, "ledger path --run muffliato:rounds=2@4 --coalition 1,6 --json out.json");
    assert_eq!(code, 0, "{problem}");
    let hops: Vec<_> =
        json(&folder)["pairs"].as_array().unwrap().iter().map(|pair| pair["hops"].clone()).collect();
    assert_eq!(hops, [1, 2, 2, 1]);
    // What one release of each run's mechanism guarantees, in the table and as data.
    let each = "--run muffliato:rounds=2@4 --run ring-sum-laplace@4 --run ring-histogram@4";
    let (code, said, problem) = run(&folder, &format!("ledger path {each} --observer 1 --json out.json"));
    assert_eq!(code, 0, "{problem}");
    let releases: Vec<&str> =
        said.lines().filter(|line| line.trim_start().starts_with("one release")).collect();
    assert!(
        releases[0].contains(
            "(data of one node replaced) between which a vector moves by at most 1 in the Euclidean norm"
        ) && releases[0].ends_with("By ndp_dp::Gaussian (theory: Accounting)."),
        "{said}"
    );
    assert!(
        releases[1].contains("a number moves by at most 1") && releases[1].contains("ndp_dp::Laplace"),
        "{said}"
    );
    assert!(
        releases[2].ends_with("by a mechanism that states nothing by itself") && releases.len() == 3,
        "{said}"
    );
    let entries = json(&folder)["entries"].clone();
    let release = serde_json::json!({ "version": 1, "neighbors": "replace-one", "moves": { "what": "vector", "by": 1.0 },
        "function": "ndp_dp::Gaussian", "theorem": "Accounting" });
    assert_eq!(entries[0]["release"], release);
    assert_eq!(entries[1]["release"]["moves"]["what"], "number");
    assert_eq!(entries[2]["release"], Value::Null);
    for (entry, changes) in
        entries.as_array().unwrap().iter().zip(["value", "every-contribution", "every-label"])
    {
        assert_eq!(entry["statement"]["changes"], serde_json::json!([changes]));
    }
    let (code, _, problem) = run(&folder, "ledger many --run ring-sum@4 --mu 3 --sample 2");
    assert!(code == 1 && problem.contains("not shown to be kept: 2 of 601 nodes"), "{problem}");
    std::fs::remove_dir_all(folder).unwrap();
}
