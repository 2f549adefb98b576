//! The command never destroys a file, and its outputs are complete or absent, wherever they go and whatever
//! happens.
#![cfg(unix)]

use super::common::{self, command, text};
use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

const GRAPH: &str = "0 1\n1 2\n2 3\n3 0\n";

fn folder(name: &str) -> PathBuf {
    let folder = common::folder(&format!("files-{name}"));
    fs::write(folder.join("g"), GRAPH).unwrap();
    folder
}

fn run(folder: &Path, arguments: &str) -> Output {
    command(folder, arguments).output().unwrap()
}

fn done(folder: &Path, arguments: &str) -> String {
    let output = run(folder, arguments);
    assert!(output.status.success(), "{arguments}: {}", text(&output.stderr));
    text(&output.stdout)
}

/// The command ends with this exit code and one line of error, without a panic.
fn refused(folder: &Path, arguments: &str, code: i32, words: &str) {
    let output = run(folder, arguments);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{arguments}: {said}");
    assert!(said.contains(words) && said.lines().count() == 1, "{arguments}: {said}");
}

fn names(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        names.map(|file| file.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// `/dev/full`, to which nothing can be written, if the system has it.
fn full_device() -> Option<File> {
    let device = OpenOptions::new().write(true).open("/dev/full").ok();
    if device.is_none() {
        eprintln!("skipped: there is no /dev/full");
    }
    device
}

#[test]
fn an_output_is_neither_an_input_nor_another_output() {
    let folder = folder("clash");
    symlink("g", folder.join("link")).unwrap();
    fs::hard_link(folder.join("g"), folder.join("twin")).unwrap();
    fs::write(folder.join("limits"), "0 1 9\n").unwrap();
    fs::write(folder.join("values"), "0,1\n1,2\n2,3\n3,4\n").unwrap();
    let study = "command = \"loss\"\nfile = \"g\"\nnoise = 1\njson = \"study.toml\"\n";
    fs::write(folder.join("study.toml"), study).unwrap();
    let kept =
        ["g", "limits", "values", "study.toml"].map(|name| (name, fs::read(folder.join(name)).unwrap()));
    for arguments in [
        "loss g --noise 1 --json g",
        "loss g --noise 1 --csv ./g",
        "loss g --noise 1 --report link",
        "loss g --noise 1 --png twin",
        "loss link --noise 1 --npy g",
        "graph g --csv link",
        "calibrate g --mu 1 --pairs limits --json limits",
        "compare g --mu 1 --protocol ring-sum --svg g",
        "simulate g --values values --noise 1 --csv values",
        "sweep g --noise 1 --into g",
        "run study.toml",
    ] {
        refused(&folder, arguments, 2, "is an input, too");
    }
    for arguments in [
        "loss g --noise 1 --json out --csv out",
        "loss g --noise 1 --json out --csv ./new/../out --report other",
        "loss g --noise 1 --csv out --json out.run.json",
        "loss g --noise 1 --json - --csv -",
        "sweep g --noise 1 --into out --png out",
    ] {
        fs::create_dir_all(folder.join("new")).unwrap();
        refused(&folder, arguments, 2, "the same file");
    }
    refused(&folder, "loss g --noise 1 --json new", 3, "cannot use new");
    refused(&folder, "loss - --noise 1 --mu 1 --pairs -", 2, "can be read once");
    // Standard input counts, too.
    let output =
        command(&folder, "loss - --noise 1 --json g").stdin(File::open(folder.join("g")).unwrap()).output();
    assert_eq!(output.unwrap().status.code(), Some(2));
    for (name, bytes) in kept {
        assert_eq!(fs::read(folder.join(name)).unwrap(), bytes, "{name}");
    }
    let there = ["g", "limits", "link", "new", "study.toml", "twin", "values"];
    assert_eq!(names(&folder), there);
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn links_are_followed_and_what_stands_beside_stays() {
    let folder = folder("links");
    fs::create_dir(folder.join("far")).unwrap();
    fs::write(folder.join("far/a.json"), "an earlier answer").unwrap();
    symlink("far/a.json", folder.join("a.json")).unwrap();
    symlink("far/b.csv", folder.join("b.csv")).unwrap();
    for name in ["a.json.part", "b.csv.part", "c.jsonl.part"] {
        fs::write(folder.join(name), "mine").unwrap();
    }
    done(&folder, "loss g --noise 1 --json a.json --csv b.csv");
    done(&folder, "sweep g --noise 1 --into c.jsonl");
    for name in ["a.json", "b.csv"] {
        assert!(fs::symlink_metadata(folder.join(name)).unwrap().is_symlink(), "{name}");
    }
    assert!(fs::read_to_string(folder.join("far/a.json")).unwrap().starts_with('{'));
    assert!(fs::read_to_string(folder.join("far/b.csv")).unwrap().starts_with("source,"));
    for name in ["a.json.part", "b.csv.part", "c.jsonl.part"] {
        assert_eq!(fs::read_to_string(folder.join(name)).unwrap(), "mine");
    }
    assert_eq!(names(&folder.join("far")), ["a.json", "b.csv"]);
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn devices_and_pipes_are_written_to_and_stay() {
    let folder = folder("devices");
    done(&folder, "loss g --noise 1 --json /dev/null --csv /dev/null --npy /dev/null");
    assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
    assert!(!Path::new("/dev/null.run.json").exists());
    if full_device().is_some() {
        refused(&folder, "loss g --noise 1 --quiet --json /dev/full", 3, "cannot use /dev/full");
        refused(&folder, "sweep g --noise 1 --quiet --into /dev/full", 3, "cannot use /dev/full");
        assert!(fs::metadata("/dev/full").unwrap().file_type().is_char_device());
    }
    let fifo = folder.join("fifo");
    if !Command::new("mkfifo").arg(&fifo).status().is_ok_and(|status| status.success()) {
        eprintln!("skipped: there is no mkfifo");
        return;
    }
    let reader = std::thread::spawn({
        let fifo = fifo.clone();
        move || fs::read_to_string(fifo).unwrap()
    });
    done(&folder, "loss g --noise 1 --csv fifo");
    assert!(reader.join().unwrap().starts_with("source,observer"));
    // The reader of this pipe stops early. That is no error, and the other output is written.
    let reader = std::thread::spawn({
        let fifo = fifo.clone();
        move || drop(File::open(fifo).unwrap())
    });
    done(&folder, "loss g --noise 1 --csv fifo --json a.json");
    reader.join().unwrap();
    assert!(fs::metadata(&fifo).unwrap().file_type().is_fifo());
    assert_eq!(names(&folder), ["a.json", "fifo", "g"]);
    fs::remove_dir_all(folder).unwrap();
}

/// If an output is `-`, it has standard output for itself; text for a person goes to standard error.
#[test]
fn a_hyphen_is_standard_output_which_the_output_has_for_itself() {
    let folder = folder("hyphen");
    for path in ["-", "/dev/stdout"] {
        let output = run(&folder, &format!("loss g --noise 1 --observer 0 --json {path}"));
        let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(found["result"]["pairs"].as_array().unwrap().len(), 3, "{path}");
        assert!(text(&output.stderr).contains("observed by"), "{}", text(&output.stderr));
        let output = run(&folder, &format!("loss g --noise 1 --observer 0 --quiet --csv {path}"));
        assert_eq!(
            (text(&output.stdout).lines().count(), text(&output.stderr)),
            (4, String::new()),
            "{path}"
        );
        let lines = text(&run(&folder, &format!("sweep g --noise 1 --into {path}")).stdout);
        assert!(lines.lines().all(|line| line.starts_with('{')) && lines.lines().count() == 6, "{lines}");
    }
    // Here the file behind standard output is given by its name.
    let out = File::create(folder.join("out")).unwrap();
    assert!(command(&folder, "loss g --noise 1 --json out").stdout(out).status().unwrap().success());
    assert!(serde_json::from_slice::<serde_json::Value>(&fs::read(folder.join("out")).unwrap()).is_ok());
    assert_eq!(names(&folder), ["g", "out"]);
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn several_runs_into_one_path_all_succeed() {
    let folder = folder("six");
    for arguments in ["loss g --noise 1 --csv out --json all.json", "sweep g --noise 1 --all --into lines"] {
        for _ in 0..3 {
            let runs: Vec<_> = (0..6)
                .map(|_| {
                    command(&folder, arguments).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
                })
                .collect();
            for run in runs {
                let output = run.wait_with_output().unwrap();
                assert!(output.status.success(), "{}", text(&output.stderr));
            }
        }
    }
    assert_eq!(names(&folder), ["all.json", "g", "lines", "out", "out.run.json"]);
    assert_eq!(fs::read_to_string(folder.join("out")).unwrap().lines().count(), 13);
    assert!(fs::read_to_string(folder.join("lines")).unwrap().lines().last().unwrap().contains("\"end\":4"));
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn what_may_not_be_written_is_kept() {
    let folder = folder("protected");
    fs::write(folder.join("kept"), "kept").unwrap();
    fs::set_permissions(folder.join("kept"), fs::Permissions::from_mode(0o444)).unwrap();
    refused(&folder, "loss g --noise 1 --json kept", 3, "write-protected");
    assert_eq!(fs::read_to_string(folder.join("kept")).unwrap(), "kept");
    fs::create_dir(folder.join("closed")).unwrap();
    fs::set_permissions(folder.join("closed"), fs::Permissions::from_mode(0o555)).unwrap();
    if File::create(folder.join("closed/probe")).is_ok() {
        eprintln!("skipped: whoever runs this may write everywhere");
    } else {
        refused(&folder, "loss g --noise 1 --quiet --json closed/a", 3, "cannot use closed/a");
    }
    fs::set_permissions(folder.join("closed"), fs::Permissions::from_mode(0o755)).unwrap();
    // An output that is replaced keeps its permissions.
    fs::write(folder.join("private"), "").unwrap();
    fs::set_permissions(folder.join("private"), fs::Permissions::from_mode(0o600)).unwrap();
    done(&folder, "loss g --noise 1 --json private");
    assert_eq!(fs::metadata(folder.join("private")).unwrap().permissions().mode() & 0o777, 0o600);
    fs::remove_dir_all(folder).unwrap();
}

/// A command killed at any moment leaves the earlier output complete. If it is asked to end, it also leaves
/// no temporary files.
#[test]
fn what_ends_in_the_middle_leaves_the_earlier_answer() {
    let folder = folder("killed");
    let edges: String = (0..512_usize)
        .flat_map(|v| (0..9).map(move |bit| (v, v ^ (1 << bit))))
        .filter(|(u, v)| u < v)
        .map(|(u, v)| format!("{u} {v}\n"))
        .collect();
    fs::write(folder.join("cube"), edges).unwrap();
    fs::write(folder.join("out"), "earlier").unwrap();
    let arguments = "sweep cube --protocol muffliato:rounds=12 --noise 1 --all --quiet --into out";
    for signal in ["-TERM", "-INT", "-KILL"] {
        let mut process = command(&folder, arguments).stdout(Stdio::null()).spawn().unwrap();
        let begun = || names(&folder).iter().any(|name| name.ends_with(".part"));
        while !begun() {
            assert!(process.try_wait().unwrap().is_none(), "it was too fast");
            std::thread::sleep(Duration::from_millis(2));
        }
        let id = process.id().to_string();
        assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
        process.wait().unwrap();
        assert_eq!(fs::read_to_string(folder.join("out")).unwrap(), "earlier");
        if signal != "-KILL" {
            assert_eq!(names(&folder), ["cube", "g", "out"], "{signal}");
        }
    }
    done(&folder, "sweep g --noise 1 --into out");
    assert!(fs::read_to_string(folder.join("out")).unwrap().contains("\"end\":4"));
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_path_need_not_be_text() {
    let folder = folder("names");
    let odd = folder.join(OsStr::from_bytes(b"odd \xff\xfe"));
    fs::create_dir(&odd).unwrap();
    let path = |name: &[u8]| odd.join(OsStr::from_bytes(name));
    if fs::write(path(b"g\xff"), GRAPH).is_err() {
        eprintln!("skipped: this file system takes no such names");
        return;
    }
    let ndp = |arguments: &[&OsStr]| {
        let output = common::ndp().args(arguments).current_dir(&folder).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
        text(&output.stdout)
    };
    let word = OsStr::new;
    let graph = path(b"g\xff");
    let (json, csv, page) = (path(b"a\xff.json"), path(b"a\xff.csv"), path(b"a\xff.html"));
    ndp(&[
        word("loss"),
        graph.as_os_str(),
        word("--noise=1"),
        word("--json"),
        json.as_os_str(),
        word("--csv"),
        csv.as_os_str(),
        word("--report"),
        page.as_os_str(),
    ]);
    assert!(json.exists() && csv.exists() && page.exists() && path(b"a\xff.csv.run.json").exists());
    // A study in a folder whose name is not UTF-8; its paths are relative to that folder.
    fs::write(path(b"g"), GRAPH).unwrap();
    fs::write(path(b"study.toml"), "command = \"sweep\"\nfile = \"g\"\nnoise = 1\nall = true\n").unwrap();
    let study = path(b"study.toml");
    assert!(ndp(&[word("run"), study.as_os_str()]).contains("muffliato"));
    let parts = path(b"parts\xff");
    let shard = |rest: &[&OsStr]| ndp(&[&[word("shard")], rest].concat());
    shard(&[word("plan"), study.as_os_str(), word("--shards=2"), word("--into"), parts.as_os_str()]);
    for index in ["--index=0", "--index=1"] {
        shard(&[word("run"), parts.as_os_str(), word(index), word("--quiet")]);
    }
    let script = common::ndp()
        .args([word("shard"), word("script"), parts.as_os_str(), word("--for=sh")])
        .output()
        .unwrap();
    assert!(script.stdout.windows(8).any(|bytes| bytes == b"/parts\xff'"));
    let merged = path(b"all\xff");
    shard(&[word("merge"), parts.as_os_str(), word("--into"), merged.as_os_str()]);
    assert!(merged.exists());
    // Arguments that are not paths must be UTF-8.
    let output = common::ndp()
        .args([word("loss"), graph.as_os_str(), word("--noise"), OsStr::from_bytes(b"\xff")])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    fs::remove_dir_all(folder).unwrap();
}

/// If standard output or standard error cannot be written, an exit code says so and nothing panics.
#[test]
fn standard_streams_that_are_full_or_closed() {
    let folder = folder("streams");
    fs::write(folder.join("pieces"), "1 2\n3 4\n").unwrap();
    fs::write(folder.join("weighted"), "1 2 0.5\n").unwrap();
    if full_device().is_some() {
        let full = || full_device().unwrap();
        for (arguments, code) in [
            ("graph g", 3),
            ("--help", 3),
            ("--version", 3),
            ("protocols", 3),
            ("completions bash", 3),
            ("man", 3),
            ("sweep g --noise 1", 3),
            ("graph missing", 3),
            ("loss pieces --noise 1", 1),
        ] {
            let output = command(&folder, arguments).stdout(full()).output().unwrap();
            assert_eq!(output.status.code(), Some(code), "{arguments}: {}", text(&output.stderr));
            assert!(!text(&output.stderr).contains("panicked"), "{arguments}");
        }
        // An answer may depend on a note, so a note that is lost is an error.
        for (arguments, code) in [
            ("graph weighted --skip-columns", 3),
            ("graph g", 0),
            ("graph missing", 3),
            ("loss pieces --noise 1", 1),
            ("loss g", 2),
            ("loss g --noise 1 --json -", 3),
        ] {
            let output = command(&folder, arguments).stderr(full()).output().unwrap();
            assert_eq!(output.status.code(), Some(code), "{arguments}");
        }
    }
    // A reader closes the pipe: the files are written, and the exit code is that of the answer.
    for (arguments, code) in [
        ("loss g --noise 1 --csv a.csv", 0),
        ("loss g --noise 0.1 --epsilon 1 --csv a.csv", 1),
        ("sweep g --noise 1 --into a.csv", 0),
        ("sweep g --noise 1 --into -", 0),
        ("loss g --noise 1 --json -", 0),
        ("--help", 0),
    ] {
        let _ = fs::remove_file(folder.join("a.csv"));
        let mut child =
            command(&folder, arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{arguments}: {}", text(&output.stderr));
        assert!(!text(&output.stderr).contains("roken pipe"), "{arguments}: {}", text(&output.stderr));
        assert_eq!(folder.join("a.csv").exists(), arguments.contains("a.csv"), "{arguments}");
    }
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn any_number_of_threads_gives_the_same() {
    let folder = folder("threads");
    let arguments = "loss g --noise 1 --protocol muffliato:rounds=4 --quiet --threads";
    let one = done(&folder, &format!("{arguments} 1"));
    assert_eq!(done(&folder, &format!("{arguments} 1024")), one);
    let many = command(&folder, "graph g").env("RAYON_NUM_THREADS", "100000").output().unwrap();
    assert!(many.status.success(), "{}", text(&many.stderr));
    assert!(text(&many.stderr).contains("threads are used"), "{}", text(&many.stderr));
    fs::remove_dir_all(folder).unwrap();
}

/// Labels from a file cannot control the terminal, whichever command prints them.
#[test]
fn labels_are_shown_and_do_nothing() {
    let folder = folder("labels");
    fs::write(folder.join("evil"), "a\u{1b}[31m b\nb c\u{202e}d\nc\u{202e}d a\u{1b}[31m\n").unwrap();
    let graphml = "<graphml><graph><node id=\"a&#27;[2J\"/><node id=\"b&#10;b&#7;\"/><node id=\"c\"/>\
                   <edge source=\"a&#27;[2J\" target=\"b&#10;b&#7;\"/><edge source=\"c\" target=\"b&#10;b&#7;\"/></graph></graphml>";
    fs::write(folder.join("evil.graphml"), graphml).unwrap();
    fs::write(folder.join("limits"), "a\u{1b}[31m z\u{1b}[0m 1\n").unwrap();
    let all = "--png p.png --svg p.svg --report p.html --csv p.csv --json p.json";
    for graph in ["evil", "evil.graphml"] {
        for arguments in [
            format!("loss {graph} --noise 1 --protocol muffliato:rounds=2 {all}"),
            format!("loss {graph} --noise 1 --epsilon 1 --delta 1e-5"),
            format!("loss {graph} --noise 1 --observer z\u{1b}[5m"),
            format!("graph {graph}"),
            format!("calibrate {graph} --epsilon 1"),
            format!("ledger {graph} --run ring-sum@3 --epsilon 9"),
            format!("sweep {graph} --noise 1 --all --into lines"),
            format!("calibrate {graph} --mu 1 --pairs limits"),
            format!("nonsense\u{1b}[31m {graph}"),
        ] {
            let output = run(&folder, &arguments);
            let mut shown = vec![output.stdout, output.stderr];
            for name in ["p.svg", "p.html"] {
                shown.extend(fs::read(folder.join(name)).ok());
            }
            for shown in shown {
                let shown = text(&shown);
                let bad = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
                assert!(
                    !shown.contains(bad),
                    "{arguments}: {:?}",
                    shown.lines().find(|line| line.contains(bad))
                );
                assert!(!shown.contains("panicked"), "{arguments}: {shown}");
            }
        }
    }
    let said = done(&folder, "loss evil --noise 1 --protocol muffliato:rounds=2");
    assert!(said.contains("a\\u{1b}[31m"), "{said}");
    // Data files keep the labels unchanged.
    let mut csv = String::new();
    done(&folder, "loss evil --noise 1 --protocol muffliato:rounds=2 --csv p.csv");
    File::open(folder.join("p.csv")).unwrap().read_to_string(&mut csv).unwrap();
    assert!(csv.contains("a\u{1b}[31m"));
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_study_is_answered_wherever_one_stands_and_the_manual_is_made() {
    let folder = folder("manual");
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    for (from, study) in [(here, "examples/karate.toml"), (&here.join("examples"), "karate.toml")] {
        let said = done(from, &format!("run {study}"));
        assert!(said.contains("muffliato:rounds=5") && said.contains("every one of 34 nodes"), "{said}");
    }
    let said = done(&folder, "man --into pages/man1");
    let pages = names(&folder.join("pages/man1"));
    for name in ["ndp.1", "ndp-loss.1", "ndp-train.1", "ndp-shard.1", "ndp-shard-merge.1", "ndp-man.1"] {
        assert!(pages.iter().any(|page| page == name), "{pages:?}");
        let page = fs::read_to_string(folder.join("pages/man1").join(name)).unwrap();
        assert!(
            page.contains(".TH") && page.contains(".SH SYNOPSIS") && page.contains("\\-\\-"),
            "{name}: {page}"
        );
    }
    assert!(said.starts_with(&format!("{} pages", pages.len())), "{said}");
    assert_eq!(done(&folder, "man"), fs::read_to_string(folder.join("pages/man1/ndp.1")).unwrap());
    let mut stdin = command(&folder, "graph -").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    stdin.stdin.take().unwrap().write_all(GRAPH.as_bytes()).unwrap();
    assert!(stdin.wait().unwrap().success());
    fs::remove_dir_all(folder).unwrap();
}
