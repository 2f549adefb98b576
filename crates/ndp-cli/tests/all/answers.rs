//! Training, studies, pages, formats: answers that agree with the library, and mistakes that are named.

use super::common::{self, run};
use ndp_account::{Observer, Protocol, Target, least_noise};
use ndp_algos::registry::{self, Parameters};
use ndp_algos::sgd::{DataBounds, Domain, Linear, LinearLoss, Objective, PrivateTraining};
use ndp_dp::{Delta, Measure};
use ndp_graph::{GossipMatrix, generators};
use std::io::Write;
use std::path::{Path, PathBuf};

fn folder(name: &str) -> PathBuf {
    let folder = common::folder(&format!("answers-{name}"));
    let put = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
    put("ring", "0 1\n1 2\n2 3\n3 4\n4 5\n5 0\n");
    // Two features; the label follows the first, and the third column is a copy of it.
    let rows: String = (0..240)
        .map(|i| {
            let (x, y) = (f64::from((i * 37) % 101) / 50.0 - 1.0, f64::from((i * 53) % 97) / 48.0 - 1.0);
            format!("{x},{y},{},{}\n", 2.0 * x, if x > 0.0 { "1" } else { "0" })
        })
        .collect();
    put("table.csv", &format!("x,y,double,class\n{rows}"));
    folder
}

fn answer(folder: &Path, arguments: &str) -> String {
    let (code, said, problem) = run(folder, arguments);
    assert_eq!(code, 0, "{arguments}: {said}{problem}");
    said
}

fn json(folder: &Path, file: &str) -> serde_json::Value {
    serde_json::from_slice(&std::fs::read(folder.join(file)).unwrap()).unwrap()
}

#[test]
fn training_takes_the_noise_of_the_library() {
    let folder = folder("train");
    let command =
        "train table.csv --label class --without double --users 24 --epsilon 3 --delta 1e-6 --runs 2";
    let said = answer(
        &folder,
        &format!("{command} --csv curve.csv --json curve.json --png curve.png --report page.html"),
    );
    assert!(said.contains("upper-bound") && said.contains("accuracy"), "{said}");
    // The same question, asked of the library.
    let matrix = GossipMatrix::metropolis(&generators::path_graph(24).unwrap());
    let training = registry::training("walk-sgd-complete", &matrix, &Parameters::default()).unwrap();
    let objective = Linear::from(LinearLoss::Logistic);
    let constants = objective.constants(
        DataBounds::default().feature_norm,
        DataBounds::default().label_size,
        Domain::Unbounded,
    );
    let protocol = PrivateTraining::new(24, constants, training).unwrap();
    let accounts = [protocol.account(&Observer::node(0)).unwrap()];
    let target = Target::worst(Measure::Approx(Delta::new(1e-6).unwrap()), 3.0);
    let noise = least_noise(&accounts, &target).unwrap().noise.get();
    let found = &json(&folder, "curve.json")["result"];
    assert_eq!(found["multiplier"].as_f64(), Some(noise));
    assert_eq!(found["noise"].as_f64(), Some(noise * found["sensitivity"].as_f64().unwrap()));
    assert!(found["tightest"]["epsilon"]["value"].as_f64().unwrap() <= 3.0);
    assert_eq!(found["private"].as_array().unwrap().len(), 2);
    let table = std::fs::read_to_string(folder.join("curve.csv")).unwrap();
    assert_eq!(table.lines().next(), Some("series,step,accuracy,low,high"));
    // A class that follows a feature is learned without noise, and the same seed gives the same run.
    let last = found["without_noise"][0]["last_accuracy"].as_f64().unwrap();
    assert!(last > 0.9, "{last}");
    let first = std::fs::read(folder.join("curve.csv")).unwrap();
    answer(&folder, &format!("{command} --csv curve.csv"));
    assert_eq!(std::fs::read(folder.join("curve.csv")).unwrap(), first);
    let page = std::fs::read_to_string(folder.join("page.html")).unwrap();
    assert!(page.contains("all examples of any one user") || page.contains("All examples of any one user"));
    for protocol in
        ["gossip-sgd:epochs=3,rounds=2", "walk-sgd:steps=40", "federated-sgd:batch=2", "central-sgd:steps=50"]
    {
        let graph = if protocol.contains("federated") { "" } else { "--graph ring" };
        let said = answer(
            &folder,
            &format!("train table.csv --label class --noise 3 --protocol {protocol} {graph}"),
        );
        assert!(said.contains("epsilon of a user"), "{protocol}: {said}");
    }
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_study_gives_the_answer_of_its_command_line() {
    let folder = folder("study");
    std::fs::create_dir(folder.join("deep")).unwrap();
    let study = "command = \"loss\"\nfile = \"../ring\"\nprotocol = \"muffliato:rounds=3\"\nnoise = 2\nobserver = [\"0\", \"3\"]\n\
                 json = \"../study.json\"\n";
    std::fs::write(folder.join("deep/study.toml"), study).unwrap();
    let said = answer(&folder, "run deep/study.toml");
    let direct = answer(
        &folder,
        "loss ring --protocol muffliato:rounds=3 --noise 2 --observer 0 --observer 3 --json direct.json",
    );
    assert_eq!(said, direct);
    let (study, direct) = (json(&folder, "study.json"), json(&folder, "direct.json"));
    assert_eq!(study["result"], direct["result"]);
    // The file records the command line for which the study stands.
    assert_eq!(study["command"][0], "loss");
    assert_eq!(study["ndp"], env!("CARGO_PKG_VERSION"));
    for (text, code, words) in [
        ("command = \"loss\"\nfile = \"ring\"\n", 2, "--noise"),
        ("command = \"loss\"\nfile = \"ring\"\nnoise = 1\nnoize = 2\n", 1, "noize"),
        ("command = \"lose\"\n", 1, "lose"),
        ("command = loss\n", 1, "line 1"),
        ("", 1, "which question"),
        ("command = \"loss\"\nfile = \"no\"\nnoise = 1\n", 3, "cannot use"),
    ] {
        std::fs::write(folder.join("bad.toml"), text).unwrap();
        let (found, said, problem) = run(&folder, "run bad.toml");
        assert_eq!(found, code, "{text}: {said}{problem}");
        assert!(problem.contains(words) && (code == 2 || problem.lines().count() == 1), "{problem}");
    }
    assert_eq!(run(&folder, "run no.toml").0, 3);
    std::fs::remove_dir_all(folder).unwrap();
}

/// On a large network without symmetries, groups give an upper bound, and it is stated for single nodes, not
/// for groups.
#[test]
fn who_is_covered_by_groups_has_a_bound() {
    let folder = folder("groups");
    let edges = (0..700_u32).map(|v| format!("{v} {}\n{v} {}\n", (v + 1) % 700, (v * v + 3) % 700));
    std::fs::write(folder.join("chords"), edges.collect::<String>()).unwrap();
    let question = "loss chords --skip-self-loops --protocol hierarchical --noise 2 --patience 200";
    let said = answer(&folder, &format!("{question} --report page.html --json out.json"));
    assert!(said.contains("bounded by what groups of them would learn together"), "{said}");
    assert!(said.contains("exact for those looked at, upper-bound for the others"), "{said}");
    let found = &json(&folder, "out.json")["result"];
    assert_eq!(found["statement"]["coverage"]["covers"], "grouped");
    let page = std::fs::read_to_string(folder.join("page.html")).unwrap();
    assert!(page.contains("What any one of 700 nodes learns about any other node is at most"), "{page}");
    assert!(page.contains("is proven not to be exceeded"), "{page}");
    // Other questions use the same groups: they need less noise than the bound for an observer of the noisy
    // values.
    for (question, noise, coverage) in [
        ("compare", "/0/noise", "/0/statement/coverage"),
        ("plan", "/plans/0/noise", "/plans/0/statement/coverage"),
    ] {
        let question = format!("{question} chords --skip-self-loops --protocol hierarchical --epsilon 1");
        let noise_and_coverage = |patience: u32| {
            answer(&folder, &format!("{question} --patience {patience} --json out.json"));
            let found = &json(&folder, "out.json")["result"];
            let at = |pointer: &str| found.pointer(pointer).unwrap_or_else(|| panic!("{found:#}")).clone();
            let noise = at(noise).as_f64().unwrap();
            (noise, at(coverage)["covers"].clone())
        };
        let (by_groups, by_bound) = (noise_and_coverage(200), noise_and_coverage(0));
        assert_eq!((&by_groups.1, &by_bound.1), (&"grouped".into(), &"alike".into()));
        assert!(by_groups.0 < 0.5 * by_bound.0, "{by_groups:?} {by_bound:?}");
    }
    std::fs::remove_dir_all(folder).unwrap();
}

/// During a long computation the command prints what it knows so far; with `--patience 0` or `--quiet` it
/// prints nothing.
#[test]
fn what_is_known_at_no_cost_is_said_while_the_answer_is_computed() {
    let folder = folder("meanwhile");
    let karate = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/karate.txt");
    let loss = format!("loss {karate} --protocol walk --noise 0.2 --observer 33");
    let (code, said, problem) = run(&folder, &format!("{loss} --patience 3"));
    assert_eq!(code, 0, "{problem}");
    assert!(!said.contains("so far"), "{said}");
    let so_far = problem.lines().find(|line| line.starts_with("so far: ")).expect(&problem);
    assert!(so_far.contains("every pair that was asked about loses at most "), "{so_far}");
    let (_, _, problem) = run(&folder, &format!("{loss} --patience 3 --quiet"));
    assert_eq!(problem, "");
    let (_, _, problem) = run(&folder, &format!("{loss} --patience 0"));
    assert!(!problem.contains("so far"), "{problem}");
    std::fs::remove_dir_all(folder).unwrap();
}

/// A page needs no other file, names what was asked, and contains the sentences that every page must have.
#[test]
fn pages_are_complete() {
    let folder = folder("pages");
    for (command, words) in [
        ("loss ring --protocol muffliato:rounds=3 --noise 2 --epsilon 3", "The limit is kept"),
        ("loss ring --protocol muffliato:rounds=3 --noise 2", "learns about any other node is at most"),
        (
            "compare ring --epsilon 1 --protocol muffliato --protocol ring-sum --protocol one-peer",
            "2 of 3 protocols are shown to keep",
        ),
        ("plan ring --epsilon 1 --observer 0", "With "),
    ] {
        answer(&folder, &format!("{command} --report page.html"));
        let page = std::fs::read_to_string(folder.join("page.html")).unwrap();
        for words in [
            words,
            "What is protected",
            "Against whom",
            "Under which assumptions",
            "How sure this is",
            "<svg",
            command,
        ] {
            assert!(page.contains(words), "{command}: no {words:?} in {page}");
        }
        // A page loads nothing from elsewhere. The only address in it is that of the SVG namespace.
        let rest = page.replace("http://www.w3.org", "");
        assert!(!rest.contains("http:") && !rest.contains("https:") && !rest.contains("src="), "{command}");
        assert!(!page.contains("NaN"), "{command}");
    }
    // If a limit is not kept, the page and the exit code say so.
    let (code, ..) = run(&folder, "loss ring --noise 0.5 --epsilon 1 --report page.html");
    let page = std::fs::read_to_string(folder.join("page.html")).unwrap();
    assert!(code == 1 && page.contains("The limit is not kept"));
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn every_output_says_what_made_it() {
    let folder = folder("records");
    answer(
        &folder,
        "loss ring --protocol muffliato:rounds=2 --noise 2 --seed 5 --csv a.csv --npy a.npy --png a.png --svg a.svg --json a.json",
    );
    for file in ["a.csv.run.json", "a.npy.run.json", "a.json"] {
        let record = json(&folder, file);
        assert_eq!(
            (&record["seed"], &record["command"][0]),
            (&serde_json::json!(5), &serde_json::json!("loss")),
            "{file}"
        );
    }
    for file in ["a.csv", "a.npy"] {
        let bytes = std::fs::read(folder.join(file)).unwrap();
        let hash: String =
            <sha2::Sha256 as sha2::Digest>::digest(&bytes).iter().map(|x| format!("{x:02x}")).collect();
        assert_eq!(json(&folder, &format!("{file}.run.json"))["sha256"], hash, "{file}");
    }
    for file in ["a.png", "a.svg"] {
        let bytes = std::fs::read(folder.join(file)).unwrap();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        assert!(text.contains("muffliato:rounds=2") && text.contains("seed"), "{file}");
    }
    // The array holds the losses of the table: 8 bytes per number after the header, and NaN for the observer
    // itself.
    let array = std::fs::read(folder.join("a.npy")).unwrap();
    let numbers: Vec<f64> =
        array[array.len() - 8 * 36..].chunks(8).map(|x| f64::from_le_bytes(x.try_into().unwrap())).collect();
    let table = std::fs::read_to_string(folder.join("a.csv")).unwrap();
    for row in table.lines().skip(1) {
        let cells: Vec<&str> = row.split(',').collect();
        let (u, v): (usize, usize) = (cells[0].parse().unwrap(), cells[1].parse().unwrap());
        assert_eq!(numbers[6 * u + v], cells[4].parse::<f64>().unwrap());
    }
    assert!((0..6).all(|v| numbers[7 * v].is_nan()));
    assert!(!folder.join("a.csv.part").exists());
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn all_formats_give_the_same_answer() {
    let folder = folder("formats");
    let edges = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0)];
    let expected = answer(&folder, "loss ring --protocol muffliato:rounds=3 --noise 2");
    let nodes: String = (0..6).map(|u| format!("<node id=\"{u}\"/>")).collect();
    let edges_of_it: String =
        edges.iter().map(|(u, v)| format!("<edge source=\"{u}\" target=\"{v}\"/>")).collect();
    std::fs::write(
        folder.join("g.graphml"),
        format!("<graphml><graph edgedefault=\"undirected\">{nodes}{edges_of_it}</graph></graphml>"),
    )
    .unwrap();
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packed.write_all(&std::fs::read(folder.join("ring")).unwrap()).unwrap();
    std::fs::write(folder.join("ring.gz"), packed.finish().unwrap()).unwrap();
    let semicolons: String = edges.iter().map(|(u, v)| format!("\"{u}\";{v}\n")).collect();
    std::fs::write(folder.join("semicolons"), semicolons).unwrap();
    let mut npy =
        b"\x93NUMPY\x01\x00\x45\x00{'descr': '<i8', 'fortran_order': False, 'shape': (6, 2), }         \n"
            .to_vec();
    edges.iter().for_each(|(u, v)| [*u as i64, *v as i64].iter().for_each(|x| npy.extend(x.to_le_bytes())));
    std::fs::write(folder.join("edges.npy"), npy).unwrap();
    for file in ["g.graphml", "ring.gz", "semicolons", "edges.npy"] {
        assert_eq!(
            answer(&folder, &format!("loss {file} --protocol muffliato:rounds=3 --noise 2")),
            expected,
            "{file}"
        );
    }
    // Edges in one direction only are refused. With `--symmetric` a note says so; with `--quiet` it does not.
    std::fs::write(folder.join("oneway"), "0 1\n1 0\n1 2\n").unwrap();
    let (code, _, problem) = run(&folder, "graph oneway");
    assert!(code == 1 && problem.contains("--symmetric"), "{problem}");
    let (code, _, told) = run(&folder, "graph oneway --symmetric");
    assert!(code == 0 && told.contains("one way only: the opposite direction was added"), "{told}");
    assert_eq!(run(&folder, "graph oneway --symmetric --quiet").2, "");
    std::fs::write(folder.join("weights"), "0 1 0.5\n1 2 7\n").unwrap();
    assert!(run(&folder, "graph weights --skip-columns").2.contains("weights"));
    std::fs::remove_dir_all(folder).unwrap();
}

/// With `--patience 0` the answer is an upper bound, never below the exact loss, and it says so.
#[test]
fn without_patience_there_are_bounds() {
    let folder = folder("patience");
    let (code, said, note) =
        run(&folder, "loss ring --protocol muffliato:rounds=3 --noise 2 --patience 0 --observer 0");
    assert_eq!(code, 0, "{note}");
    assert!(
        note.contains("--patience 0") && said.contains("upper-bound") && !said.contains("exact"),
        "{said}{note}"
    );
    // epsilon of mu = 1/2 at delta 1e-5 for everybody, rounded up.
    assert!(said.contains("one bound holds for all 5 pairs: each loses at most 1.99310"), "{said}");
    assert!(!said.contains("exposed"), "{said}");
    // A protocol with a formula needs no patience.
    let (code, said, problem) =
        run(&folder, "loss ring --protocol ring-sum --noise 2 --patience 0 --observer 0");
    assert!(code == 0 && said.contains("exact"), "{said}{problem}");
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn edges_are_suggested() {
    let folder = folder("rewire");
    std::fs::write(folder.join("path"), (0..11).map(|v| format!("{v} {}\n", v + 1)).collect::<String>())
        .unwrap();
    let said = answer(&folder, "plan path --epsilon 1 --observer 0 --rewire 2 --json plan.json");
    assert!(
        said.contains("Edges that lower the bound on the error") && said.contains("one after the other"),
        "{said}"
    );
    let plan = json(&folder, "plan.json");
    assert!(plan["result"]["edges_of"]["plan"].as_str().unwrap().contains(" and weights "), "{plan}");
    let edges = plan["result"]["edges"].as_array().unwrap().clone();
    assert!(!edges.is_empty());
    // Each suggested edge lowers the error further, and the path does not have it yet.
    let errors: Vec<f64> = edges.iter().map(|edge| edge["error"].as_f64().unwrap()).collect();
    assert!(errors.windows(2).all(|pair| pair[1] < pair[0]), "{errors:?}");
    for edge in &edges {
        let end = |key: &str| edge[key].as_str().unwrap().parse::<i64>().unwrap();
        assert!((end("from") - end("to")).abs() > 1);
    }
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn help_fits_a_screen_and_has_an_example() {
    let folder = folder("help");
    for question in [
        "graph",
        "loss",
        "calibrate",
        "compare",
        "audit",
        "plan",
        "ledger",
        "simulate",
        "train",
        "run",
        "sweep",
        "shard plan",
        "shard run",
    ] {
        let help = answer(&folder, &format!("{question} --help"));
        assert!(help.contains("Example: ndp "), "{question}");
        assert!(help.lines().count() <= 55, "{question}: {} lines", help.lines().count());
    }
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn mistakes_in_tables_are_named() {
    let folder = folder("tables");
    let put = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
    put("words.csv", "a,label\nx,1\n2,0\n");
    put("three.csv", "a,label\n1,1\n2,0\n3,2\n4,1\n");
    put("ragged.csv", "a,label\n1,1\n2\n");
    put("nan.csv", "a,label\nNaN,1\n2,0\n");
    put("constant.csv", "a,label\n1,1\n1,0\n1,1\n1,0\n1,1\n1,0\n");
    put("tiny.csv", "a,label\n1,1\n2,0\n");
    put("empty.csv", "");
    for (arguments, code, words) in [
        ("train words.csv --noise 1", 1, "no number"),
        ("train three.csv --noise 1", 1, "two values"),
        ("train ragged.csv --noise 1", 1, "line 3"),
        ("train nan.csv --noise 1", 1, "not a finite number"),
        ("train constant.csv --noise 1 --standardize", 1, "same value"),
        ("train tiny.csv --noise 1", 1, "tiny.csv"),
        ("train empty.csv --noise 1", 1, "empty"),
        ("train no.csv --noise 1", 3, "cannot use no.csv"),
        ("train table.csv --noise 1", 1, "no column is named 'label'"),
        ("train table.csv --label class --without z --noise 1", 1, "no column is named 'z'"),
        ("train table.csv --label class", 2, "--noise"),
        ("train table.csv --label class --noise 1 --epsilon 1", 2, "cannot be used"),
        ("train table.csv --label class --noise 0", 1, "sigma"),
        ("train table.csv --label class --epsilon 0", 2, "positive"),
        ("train table.csv --label class --noise 1 --test 1", 2, "--test"),
        ("train table.csv --label class --noise 1 --protocol gossip-sgd", 2, "--graph"),
        ("train table.csv --label class --noise 1 --protocol muffliato", 2, "walk-sgd"),
        ("train table.csv --label class --noise 1 --protocol local-sgd", 2, "no training"),
        ("train table.csv --label class --noise 1 --users 100000", 1, "cannot be dealt"),
        ("train table.csv --label class --noise 1 --runs 0", 2, "--runs"),
        ("train table.csv --label class --noise 1 --protocol walk-sgd-complete:step-size=99", 1, "step size"),
        ("shard plan no.toml --shards 2 --into parts", 3, "cannot use no.toml"),
        ("shard run nowhere --index 0", 3, "cannot use nowhere"),
        ("shard run nowhere", 3, "cannot use nowhere"),
    ] {
        let (found, said, problem) = run(&folder, arguments);
        assert_eq!(found, code, "{arguments}: {said}{problem}");
        assert!(
            problem.contains(words) && (code == 2 || problem.lines().count() == 1),
            "{arguments}: {problem}"
        );
        assert!(!problem.contains("panicked"), "{arguments}: {problem}");
    }
    std::fs::remove_dir_all(folder).unwrap();
}
