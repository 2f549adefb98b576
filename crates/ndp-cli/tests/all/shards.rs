//! A sweep in many processes gives the same bytes as one process, even if processes are killed; wrong or
//! damaged files are named.

use super::common::{self, command};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

fn folder(name: &str) -> PathBuf {
    common::folder(&format!("shards-{name}"))
}

/// A hypercube with a few more edges, and a study of it.
fn study(folder: &Path, bits: usize, rounds: usize) {
    let n = 1 << bits;
    let mut edges: String = (0..n)
        .flat_map(|v| (0..bits).map(move |bit| (v, v ^ (1 << bit))))
        .filter(|(u, v)| u < v)
        .map(|(u, v)| format!("{u} {v}\n"))
        .collect();
    edges.push_str("0 3\n1 6\n");
    std::fs::write(folder.join("cube"), edges).unwrap();
    let study = format!(
        "command = \"sweep\"\nfile = \"cube\"\nprotocol = [\"muffliato:rounds={rounds}\", \"ring-sum\"]\n\
         noise = [1, 2.5]\nall = true\ntop = 3\nrow = [\"5\"]\n"
    );
    std::fs::write(folder.join("study.toml"), study).unwrap();
}

fn ndp(folder: &Path, arguments: &str) -> Output {
    command(folder, arguments).output().unwrap()
}

fn done(folder: &Path, arguments: &str) -> String {
    let output = ndp(folder, arguments);
    let problem = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{arguments}: {problem}");
    String::from_utf8(output.stdout).unwrap()
}

/// The command ends with exit code 1 and one line of error.
fn refused(folder: &Path, arguments: &str) -> String {
    let output = ndp(folder, arguments);
    let problem = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), problem.lines().count()), (Some(1), 1), "{arguments}: {problem}");
    problem
}

/// The output of one process for the same sweep.
fn whole(folder: &Path, rounds: usize) -> Vec<u8> {
    done(
        folder,
        &format!(
            "sweep cube --protocol muffliato:rounds={rounds} --protocol ring-sum --noise 1 --noise 2.5 --all --top 3 --row 5 \
             --into whole.jsonl"
        ),
    );
    std::fs::read(folder.join("whole.jsonl")).unwrap()
}

#[test]
fn any_number_of_shards_gives_the_bytes_of_one_process() {
    let folder = folder("bytes");
    study(&folder, 4, 5);
    let whole = whole(&folder, 5);
    for shards in [1, 3, 50] {
        done(&folder, &format!("shard plan study.toml --shards {shards} --into parts-{shards}"));
        for index in 0..shards {
            done(&folder, &format!("shard run parts-{shards} --index {index} --quiet"));
        }
        let said = done(&folder, &format!("shard merge parts-{shards} --into merged.jsonl --png worst.png"));
        assert!(said.contains("muffliato:rounds=5") && said.contains("exact"), "{said}");
        assert_eq!(std::fs::read(folder.join("merged.jsonl")).unwrap(), whole, "{shards} shards");
    }
    assert!(std::fs::read(folder.join("worst.png")).unwrap().starts_with(b"\x89PNG"));
    let text = String::from_utf8(whole).unwrap();
    let lines: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 2 + 2 * 16);
    assert_eq!(lines[0]["items"], 32);
    // Both histograms count every other node once. Only node 5, for which `--row` was given, has its full
    // row.
    let at = &lines[1 + 5]["at"][0];
    let count = |value: &serde_json::Value| -> u64 {
        value.as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).sum()
    };
    assert_eq!(count(&at["by_loss"]), 15);
    let hops: u64 = at["by_hops"].as_array().unwrap().iter().map(|class| class[1].as_u64().unwrap()).sum();
    assert_eq!((hops, at["row"].as_array().unwrap().len()), (15, 16));
    assert!(lines[1]["at"][0]["row"].is_null());
    // The same numbers as `ndp loss` prints for this observer.
    done(&folder, "loss cube --protocol muffliato:rounds=5 --noise 1 --observer 5 --json five.json");
    let five: serde_json::Value =
        serde_json::from_slice(&std::fs::read(folder.join("five.json")).unwrap()).unwrap();
    let pairs = five["result"]["pairs"].as_array().unwrap();
    assert_eq!(pairs.len(), 15);
    for pair in pairs {
        let u: usize = pair["source"].as_str().unwrap().parse().unwrap();
        assert_eq!(pair["loss"]["value"], at["row"][u]);
    }
    let largest = pairs.iter().map(|pair| pair["loss"]["value"].as_f64().unwrap()).fold(0.0, f64::max);
    assert_eq!(at["max"].as_f64(), Some(largest));
    std::fs::remove_dir_all(folder).unwrap();
}

/// The picture of a sample says that it is one. It is the same from one process and from many, and both
/// record the seed. Observers who see data in the clear are in the picture.
#[test]
fn pictures_say_who_was_drawn_and_what_has_no_bound() {
    let folder = folder("pictures");
    let ring: String = (1..=30).map(|v| format!("{v} {}\n", v % 30 + 1)).collect();
    std::fs::write(folder.join("ring"), ring).unwrap();
    let study =
        "command = \"sweep\"\nfile = \"ring\"\nprotocol = [\"hierarchical:own=0,leaders=1\"]\nnoise = [2]\n";
    std::fs::write(folder.join("study.toml"), format!("{study}sample = 4\nseed = 7\n")).unwrap();
    let of = |file: &str| {
        let svg = std::fs::read_to_string(folder.join(file)).unwrap();
        let (made, picture) = svg.split_once("</metadata>").unwrap();
        (made.to_owned(), picture.to_owned())
    };
    let sweep = "sweep ring --protocol hierarchical:own=0,leaders=1 --noise 2";
    done(&folder, &format!("{sweep} --sample 4 --seed 7 --svg whole.svg"));
    done(&folder, "shard plan study.toml --shards 2 --into parts");
    (0..2).for_each(|index| drop(done(&folder, &format!("shard run parts --index {index} --quiet"))));
    done(&folder, "shard merge parts --into merged.jsonl --svg merged.svg");
    let ((by_one, whole), (by_many, merged)) = (of("whole.svg"), of("merged.svg"));
    assert_eq!(whole, merged);
    for made in [by_one, by_many] {
        assert!(made.contains("&quot;seed&quot;:7"), "{made}");
    }
    for text in [">What 4 of 30 nodes drawn at random learn<", ">share of 4 of 30 nodes drawn at random<"] {
        assert!(whole.contains(text), "{text}");
    }
    done(&folder, &format!("{sweep} --all --svg all.svg"));
    let (_, all) = of("all.svg");
    for text in [">What observers learn<", ">share of observers<", ">no bound<"] {
        assert!(all.contains(text), "{text}");
    }
    // The nodes 2 to 6 see data of others without any noise.
    assert!(all.contains("noise 2; 5 of 30 observers: no bound") && !all.contains(">-"));
    std::fs::remove_dir_all(folder).unwrap();
}

/// A killed process loses at most the observers at hand. `NDP_KILLS` sets a larger number of kills.
#[test]
#[cfg(target_os = "linux")]
fn killed_shards_go_on_where_they_were() {
    let kills: usize = std::env::var("NDP_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(5);
    let shards = if kills > 20 { 64 } else { 6 };
    let folder = folder("kills");
    let rounds = 14;
    study(&folder, if kills > 20 { 9 } else { 8 }, rounds);
    let whole = whole(&folder, rounds);
    done(&folder, &format!("shard plan study.toml --shards {shards} --into parts"));
    let start = |index: usize| {
        let arguments = ["shard", "run", "parts", "--quiet", "--threads", "1", "--index"];
        common::ndp()
            .current_dir(&folder)
            .args(arguments)
            .arg(index.to_string())
            .stderr(Stdio::null())
            .spawn()
            .unwrap()
    };
    // The moments come from a seeded generator, so that a failure can be repeated as far as the clock allows.
    let mut state = 7_u64;
    let mut moment = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        Duration::from_millis(15 + (state >> 33) % 120)
    };
    let (mut inside, mut log) = (0, String::new());
    for pair in (0..shards).collect::<Vec<_>>().chunks(2) {
        // Each pair of shards gets an equal share of the kills.
        let enough = inside + kills.div_ceil(shards / 2) + 1;
        let mut left: Vec<usize> = pair.to_vec();
        while !left.is_empty() {
            let mut running: Vec<_> = left.iter().map(|&index| (index, start(index))).collect();
            if inside >= enough {
                for (_, process) in &mut running {
                    assert!(process.wait().unwrap().success());
                }
            } else {
                std::thread::sleep(moment());
                for (index, process) in &mut running {
                    if process.try_wait().unwrap().is_none() {
                        process.kill().unwrap();
                        process.wait().unwrap();
                        let part = folder.join(format!("parts/shard-{index:05}.jsonl.part"));
                        // Items are still missing, so the kill fell while an observer was computed.
                        let lines = std::fs::read(&part)
                            .map_or(0, |bytes| bytes.iter().filter(|&&b| b == b'\n').count());
                        if lines > 0 && part.exists() {
                            inside += 1;
                            log += &format!("kill {inside}: shard {index} after {} observers\n", lines - 1);
                        }
                    }
                }
            }
            left.retain(|index| !folder.join(format!("parts/shard-{index:05}.jsonl")).exists());
        }
    }
    eprintln!("{log}{inside} kills inside an unfinished observer");
    assert!(inside >= kills, "{inside} kills inside an observer");
    done(&folder, "shard merge parts --into merged.jsonl");
    assert_eq!(std::fs::read(folder.join("merged.jsonl")).unwrap(), whole);
    std::fs::remove_dir_all(folder).unwrap();
}

/// SIGTERM ends a shard after the observers at hand.
#[test]
#[cfg(target_os = "linux")]
fn a_request_to_end_is_answered() {
    let folder = folder("end");
    study(&folder, 9, 16);
    done(&folder, "shard plan study.toml --shards 2 --into parts");
    let process = common::ndp()
        .current_dir(&folder)
        .args(["shard", "run", "parts", "--threads", "1"])
        .env("SLURM_ARRAY_TASK_ID", "0")
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let part = folder.join("parts/shard-00000.jsonl.part");
    // Once the first observer is written, the process handles SIGTERM.
    while std::fs::read(&part).map_or(0, |bytes| bytes.iter().filter(|&&b| b == b'\n').count()) < 2 {
        std::thread::sleep(Duration::from_millis(2));
    }
    let id = process.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    let output = process.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert!(said.contains("run it again to go on"), "{said}");
    let bytes = std::fs::read(&part).unwrap();
    assert!(bytes.ends_with(b"\n") && !folder.join("parts/shard-00000.jsonl").exists());
    let status = done(&folder, "shard status parts");
    assert!(status.contains("0 of 2") && status.contains("to run: 0-1"), "{status}");
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn what_is_wrong_with_shards_is_named() {
    let folder = folder("wrong");
    study(&folder, 3, 3);
    let make = |into: &str| {
        done(&folder, &format!("shard plan study.toml --shards 4 --into {into}"));
        (0..4).for_each(|index| drop(done(&folder, &format!("shard run {into} --index {index} --quiet"))));
    };
    make("good");
    done(&folder, "shard merge good --into good.jsonl");
    let shard = |into: &str, index: usize| folder.join(format!("{into}/shard-{index:05}.jsonl"));
    let good = |index: usize| std::fs::read(shard("good", index)).unwrap();
    // Another study of the same graph.
    let text = std::fs::read_to_string(folder.join("study.toml")).unwrap();
    std::fs::write(folder.join("study.toml"), text.replace("rounds=3", "rounds=4")).unwrap();
    make("other");
    let merge = |why: &str, bytes: Option<Vec<u8>>, words: &str| {
        match bytes {
            Some(bytes) => std::fs::write(shard("good", 1), bytes).unwrap(),
            None => std::fs::remove_file(shard("good", 1)).unwrap(),
        }
        let problem = refused(&folder, "shard merge good --into bad.jsonl");
        assert!(problem.contains(words), "{why}: {problem}");
        assert!(!folder.join("bad.jsonl").exists(), "{why}");
        problem
    };
    let kept = good(1);
    let mut corrupt = kept.clone();
    let middle = corrupt.len() / 2;
    corrupt[middle] ^= 1;
    assert!(merge("corrupt", Some(corrupt), "is damaged").contains("shard-00001.jsonl"));
    merge(
        "bytes that are no text",
        Some([&kept[..40], &[0xff, 0xfe], &kept[42..]].concat()),
        "line 1 is damaged",
    );
    let lines: Vec<&[u8]> = kept.split_inclusive(|&b| b == b'\n').collect();
    merge("truncated between lines", Some(lines[..3].concat()), "is truncated after line 3");
    merge("truncated within a line", Some(kept[..kept.len() - 5].to_vec()), "is damaged");
    merge("empty", Some(Vec::new()), "is empty");
    merge("longer", Some([&kept[..], b"more\n"].concat()), "goes on after its last line");
    merge(
        "two lines swapped",
        Some([lines[0], lines[2], lines[1], &lines[3..].concat()].concat()),
        "is not that of item",
    );
    merge("swapped", Some(good(2)), "holds shard 2");
    merge("foreign", Some(std::fs::read(shard("other", 1)).unwrap()), "belongs to another plan");
    let text = String::from_utf8(kept.clone()).unwrap();
    let version = format!("\"ndp\":\"{}\"", env!("CARGO_PKG_VERSION"));
    merge("another version", Some(text.replace(&version, "\"ndp\":\"9.9.9\"").into_bytes()), "9.9.9");
    merge("missing", None, "1 of 4 shards are not done: 1");
    assert_eq!(done(&folder, "shard status good --missing").trim(), "1");
    std::fs::write(shard("good", 1), &kept).unwrap();
    assert_eq!(done(&folder, "shard status good --missing"), "");
    // The plan itself.
    let plan = std::fs::read_to_string(folder.join("good/plan.json")).unwrap();
    for (from, to, words) in [
        ("\"ndp-plan\": 2", "\"ndp-plan\": 7", "format 7"),
        ("\"items\": 16", "\"items\": 3", "gaps or overlaps"),
        ("\"items\"", "\"itemz\"", "is no plan"),
        ("rounds=3", "rounds=5", "not those of the plan"),
    ] {
        assert!(plan.contains(from), "{plan}");
        std::fs::write(folder.join("good/plan.json"), plan.replace(from, to)).unwrap();
        let problem = refused(&folder, "shard merge good --into bad.jsonl");
        assert!(problem.contains(words), "{problem}");
    }
    std::fs::write(folder.join("good/plan.json"), &plan).unwrap();
    // Another plan, or anything else, in the folder.
    let problem = refused(&folder, "shard plan study.toml --shards 4 --into good");
    assert!(problem.contains("--replace"), "{problem}");
    done(&folder, "shard plan study.toml --shards 4 --into good --replace");
    assert!(!shard("good", 1).exists());
    std::fs::create_dir(folder.join("mine")).unwrap();
    std::fs::write(folder.join("mine/letter"), "dear").unwrap();
    refused(&folder, "shard plan study.toml --shards 4 --into mine --replace");
    assert!(folder.join("mine/letter").exists());
    // The graph has been replaced by another one.
    std::fs::write(folder.join("cube"), "0 1\n1 2\n2 5\n").unwrap();
    assert!(refused(&folder, "shard run good --index 0").contains("plan again"));
    assert_eq!(ndp(&folder, "shard run good --index 9").status.code(), Some(2));
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn scripts_name_the_plan_and_all_of_its_shards() {
    let folder = folder("scripts");
    study(&folder, 3, 2);
    done(&folder, "shard plan study.toml --shards 4 --into parts");
    for (scheduler, words) in
        [("slurm", "--array=0-3"), ("oar", "--array 4"), ("pbs", "-J 0-3"), ("sh", "seq 0 3")]
    {
        let script = done(&folder, &format!("shard script parts --for {scheduler}"));
        assert!(
            script.starts_with("#!/bin/") && script.contains(words) && script.contains("/parts'"),
            "{script}"
        );
    }
    // The script for a shell runs all shards.
    let script = done(&folder, "shard script parts --for sh");
    std::fs::write(folder.join("job.sh"), script).unwrap();
    let programs = Path::new(env!("CARGO_BIN_EXE_ndp")).parent().unwrap().to_owned();
    let path = std::env::join_paths(
        std::iter::once(programs).chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
    )
    .unwrap();
    assert!(
        Command::new("sh").arg("job.sh").current_dir(&folder).env("PATH", path).status().unwrap().success()
    );
    assert!(done(&folder, "shard status parts").starts_with("4 of 4"));
    // For a sample, the output states its confidence about the observers that were not drawn.
    let said = done(&folder, "sweep cube --noise 2 --sample 4 --into sample.jsonl");
    assert!(said.contains("with confidence 95 %") && said.contains("mean over all observers"), "{said}");
    std::fs::remove_dir_all(folder).unwrap();
}
