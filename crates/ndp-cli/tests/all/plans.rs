//! Sweeps in shards: a wrong request is refused, damaged shards are repaired, and files of different plans
//! are never mixed.

use super::common::{self, command, text};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

/// A cycle of eight nodes with a chord, and a study of it.
fn folder(name: &str, study: &str) -> PathBuf {
    let folder = common::folder(&format!("plans-{name}"));
    fs::create_dir_all(folder.join("study")).unwrap();
    let edges: String = (0..8).map(|v| format!("{v} {}\n", (v + 1) % 8)).collect();
    fs::write(folder.join("study/g"), edges + "0 3\n").unwrap();
    let study = format!("command = \"sweep\"\nfile = \"g\"\nnoise = 1\n{study}\n");
    fs::write(folder.join("study/study.toml"), study).unwrap();
    folder.join("study")
}

fn run(folder: &Path, arguments: &str) -> Output {
    command(folder, arguments).output().unwrap()
}

/// What the command prints on standard output and standard error.
fn done(folder: &Path, arguments: &str) -> String {
    let output = run(folder, arguments);
    assert!(output.status.success(), "{arguments}: {}", text(&output.stderr));
    text(&output.stdout) + &text(&output.stderr)
}

fn refused(folder: &Path, arguments: &str, code: i32, words: &str) {
    let output = run(folder, arguments);
    let said = text(&output.stderr);
    assert_eq!((output.status.code(), said.lines().count()), (Some(code), 1), "{arguments}: {said}");
    assert!(said.contains(words), "{arguments}: {said}");
}

fn merged(folder: &Path, parts: &str) -> Vec<u8> {
    done(folder, &format!("shard merge {parts} --into all.jsonl"));
    fs::read(folder.join("all.jsonl")).unwrap()
}

#[test]
fn a_row_is_an_observer() {
    let folder = folder("row", "observer = [\"1\", \"2\"]\nrow = [\"2\", \"5\"]");
    for arguments in ["run study.toml", "shard plan study.toml --shards 2 --into parts"] {
        refused(&folder, arguments, 1, "row \"5\" is no observer of this sweep, who are 1, 2");
    }
    refused(&folder, "sweep g --noise 1 --outsider --protocol ring-sum --row 1", 1, "is no observer");
    done(&folder, "sweep g --noise 1 --coalition 1,5 --row 5 --into all.jsonl");
    let lines = fs::read_to_string(folder.join("all.jsonl")).unwrap();
    assert!(lines.contains("\"row\":[") && !folder.join("parts").exists(), "{lines}");
    fs::remove_dir_all(folder.parent().unwrap()).unwrap();
}

/// A damaged shard is repaired when it is run again, and a note says so.
#[test]
fn what_is_damaged_heals() {
    let folder = folder("heals", "all = true");
    done(&folder, "shard plan study.toml --shards 2 --into parts");
    for index in [0, 1] {
        done(&folder, &format!("shard run parts --index {index}"));
    }
    let whole = merged(&folder, "parts");
    let path = folder.join("parts/shard-00001.jsonl");
    let good = fs::read(&path).unwrap();
    let lines: Vec<&[u8]> = good.split_inclusive(|&byte| byte == b'\n').collect();
    assert_eq!(lines.len(), 6);
    let mut flipped = good.clone();
    flipped[good.len() / 2] ^= 1;
    for bad in [
        flipped,
        good[..good.len() - 3].to_vec(),
        lines[..4].concat(),
        [lines[0], lines[2], lines[1], &lines[3..].concat()].concat(),
        [&good[..], b"more\n"].concat(),
        fs::read(folder.join("parts/shard-00000.jsonl")).unwrap(),
        b"\xff\xfe\n".to_vec(),
        Vec::new(),
    ] {
        fs::write(&path, bad).unwrap();
        refused(&folder, "shard merge parts --into bad.jsonl", 1, "run this shard again");
        assert_eq!(done(&folder, "shard status parts --missing").trim(), "1");
        let said = done(&folder, "shard run parts --index 1");
        assert!(said.contains("shard-00001.jsonl") && said.contains("computed again"), "{said}");
        assert_eq!(fs::read(&path).unwrap(), good);
    }
    // In an unfinished shard, the lines before the damage are kept.
    let part = folder.join("parts/shard-00001.jsonl.part");
    fs::remove_file(&path).unwrap();
    let mut bad = lines[..5].concat();
    bad[lines[..3].concat().len() + 20] ^= 1;
    fs::write(&part, bad).unwrap();
    let said = done(&folder, "shard run parts --index 1");
    assert!(said.contains("damaged after 2 observers"), "{said}");
    assert_eq!(fs::read(&path).unwrap(), good);
    assert!(!part.exists() && !folder.join("parts/shard-00001.lock").exists());
    assert_eq!(merged(&folder, "parts"), whole);
    fs::remove_dir_all(folder.parent().unwrap()).unwrap();
}

/// Of several processes that run the same shard, one writes at a time, and none damages what another has
/// finished.
#[test]
fn a_shard_that_is_run_many_times_at_once_is_whole() {
    let folder = folder("at-once", "all = true");
    done(&folder, "shard plan study.toml --shards 1 --into parts");
    let path = folder.join("parts/shard-00000.jsonl");
    // A process without the lock changes nothing, not even a finished part that has not been renamed yet.
    let lock = fs::File::create(folder.join("parts/shard-00000.lock")).unwrap();
    if lock.try_lock().is_ok() {
        let part = folder.join("parts/shard-00000.jsonl.part");
        fs::write(&part, "what another process has just written\n").unwrap();
        refused(&folder, "shard run parts --index 0", 1, "being run by another process");
        assert_eq!(fs::read(&part).unwrap(), b"what another process has just written\n");
        fs::remove_file(&part).unwrap();
    }
    drop(lock);
    let mut first = None;
    for _ in 0..12 {
        let runs: Vec<_> = (0..6)
            .map(|_| {
                let mut run = command(&folder, "shard run parts --index 0 --threads 1");
                run.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
            })
            .collect();
        for run in runs {
            let output = run.wait_with_output().unwrap();
            let said = text(&output.stderr);
            let fine = output.status.success() || said.contains("being run by another process");
            assert!(fine && !said.contains("computed again"), "{said}");
        }
        let found = fs::read(&path).unwrap();
        assert_eq!(&found, first.get_or_insert_with(|| found.clone()));
        fs::remove_file(&path).unwrap();
    }
    fs::remove_dir_all(folder.parent().unwrap()).unwrap();
}

#[test]
fn a_plan_and_its_shards_are_no_place_for_an_output() {
    let folder = folder("into", "all = true");
    done(&folder, "shard plan study.toml --shards 2 --into parts");
    for index in [0, 1] {
        done(&folder, &format!("shard run parts --index {index}"));
    }
    let before = |name: &str| fs::read(folder.join(name)).unwrap();
    let kept = ["parts/plan.json", "parts/shard-00000.jsonl", "g"].map(|name| (name, before(name)));
    for (name, _) in &kept {
        refused(&folder, &format!("shard merge parts --into {name}"), 2, "is an input, too");
        refused(&folder, &format!("shard merge parts --into all --png {name}"), 2, "is an input, too");
    }
    // A folder that holds anything but a plan and its shards is not replaced.
    fs::write(folder.join("parts/letter"), "dear").unwrap();
    fs::write(folder.join("study.toml"), "command = \"sweep\"\nfile = \"g\"\nnoise = 2\nall = true\n")
        .unwrap();
    refused(&folder, "shard plan study.toml --shards 2 --into parts --replace", 1, "letter");
    for (name, bytes) in &kept {
        assert_eq!(&before(name), bytes);
    }
    fs::remove_file(folder.join("parts/letter")).unwrap();
    done(&folder, "shard plan study.toml --shards 2 --into parts --replace");
    assert!(!folder.join("parts/shard-00000.jsonl").exists());
    // A study that is called `plan.json` is no plan, so its folder is not replaced either.
    fs::create_dir(folder.join("own")).unwrap();
    fs::copy(folder.join("study.toml"), folder.join("own/plan.json")).unwrap();
    fs::copy(folder.join("g"), folder.join("own/g")).unwrap();
    refused(&folder, "shard plan own/plan.json --shards 2 --into own --replace", 1, "holds no plan");
    assert!(folder.join("own/plan.json").exists());
    fs::remove_dir_all(folder.parent().unwrap()).unwrap();
}

#[test]
fn a_plan_is_moved_together_with_its_graph() {
    let study = folder("moved", "all = true");
    let above = study.parent().unwrap();
    done(&study, "shard plan study.toml --shards 2 --into parts");
    done(&study, "shard run parts --index 0");
    let there = above.join("there");
    fs::rename(&study, &there).unwrap();
    done(&there, "shard run parts --index 1");
    assert_eq!(done(above, "shard status there/parts --missing"), "");
    merged(&there, "parts");
    // A plan that was moved without its graph names the file that it looks for.
    fs::create_dir(above.join("alone")).unwrap();
    fs::rename(there.join("parts"), above.join("alone/parts")).unwrap();
    refused(above, "shard merge alone/parts --into all.jsonl", 1, "moved together with its graph");
    // Another graph with the same file name is refused.
    fs::write(above.join("alone/g"), "0 1\n1 2\n").unwrap();
    refused(above, "shard merge alone/parts --into all.jsonl", 1, "another graph");
    fs::copy(there.join("g"), above.join("alone/g")).unwrap();
    merged(above, "alone/parts");
    fs::remove_dir_all(above).unwrap();
}

#[test]
fn builds_of_one_version_are_not_mixed() {
    let folder = folder("builds", "all = true");
    done(&folder, "shard plan study.toml --shards 2 --into parts");
    for index in [0, 1] {
        done(&folder, &format!("shard run parts --index {index}"));
    }
    let plan = fs::read_to_string(folder.join("parts/plan.json")).unwrap();
    let build =
        serde_json::from_str::<serde_json::Value>(&plan).unwrap()["build"].as_str().unwrap().to_owned();
    assert_eq!(build.len(), 16);
    let path = folder.join("parts/shard-00001.jsonl");
    let shard = fs::read_to_string(&path).unwrap();
    assert!(shard.lines().next().unwrap().contains(&build));
    fs::write(&path, shard.replace(&build, "0123456789abcdef")).unwrap();
    refused(&folder, "shard merge parts --into all.jsonl", 1, "made by build \"0123456789abcdef\"");
    let said = done(&folder, "shard run parts --index 1");
    assert!(said.contains("computed again"), "{said}");
    assert_eq!(fs::read_to_string(&path).unwrap(), shard);
    fs::write(folder.join("parts/plan.json"), plan.replace(&build, "0123456789abcdef")).unwrap();
    for question in ["shard merge parts --into all.jsonl", "shard run parts --index 0", "shard status parts"]
    {
        refused(&folder, question, 1, "build 0123456789abcdef");
    }
    fs::remove_dir_all(folder.parent().unwrap()).unwrap();
}

/// Shards are cut by cost: a cheap protocol does not get as many shards as an expensive one.
#[test]
fn shards_are_cut_by_what_protocols_cost() {
    let folder = folder("costs", "all = true\nprotocol = [\"ring-sum\", \"muffliato:rounds=50\"]");
    done(&folder, "shard plan study.toml --shards 2 --into parts");
    let plan = fs::read_to_string(folder.join("parts/plan.json")).unwrap();
    let plan: serde_json::Value = serde_json::from_str(&plan).unwrap();
    // Items 0 to 7 are those of ring-sum.
    let second = plan["starts"][1].as_u64().unwrap();
    assert!((10..=13).contains(&second), "{plan}");
    fs::remove_dir_all(folder.parent().unwrap()).unwrap();
}

#[test]
fn the_room_on_the_disk_is_announced() {
    for rest in ["all = true", "all = true\ntop = 0", "all = true\nrow = [\"0\", \"1\", \"2\"]"] {
        let folder = folder("room", rest);
        let said = done(&folder, "shard plan study.toml --shards 2 --into parts");
        let (_, room) = said.split_once("about ").unwrap();
        let announced: u64 = room.split_once(" kB").unwrap().0.parse().unwrap();
        for index in [0, 1] {
            done(&folder, &format!("shard run parts --index {index}"));
        }
        let bytes = merged(&folder, "parts").len() as u64;
        assert!(
            (bytes / 1000..=4 * bytes / 1000 + 1).contains(&announced),
            "{announced} kB for {bytes}: {said}"
        );
        fs::remove_dir_all(folder.parent().unwrap()).unwrap();
    }
}

/// Schedulers limit the size of arrays, so for a larger plan each job runs several shards.
#[test]
fn scripts_keep_within_the_limits_of_schedulers() {
    let folder = folder("limits", "all = true\nprotocol = [\"ring-sum\", \"local\"]");
    done(&folder, "shard plan study.toml --shards 1500 --into many");
    let script =
        |parts: &str, scheduler: &str| done(&folder, &format!("shard script {parts} --for {scheduler}"));
    let slurm = script("many", "slurm");
    assert!(slurm.contains("--array=0-1000\n") && slurm.contains(" --stride 1001 --threads"), "{slurm}");
    assert!(slurm.contains("--missing --stride 1001)"), "{slurm}");
    assert!(script("many", "pbs").contains("-J 0-1499\n"));
    // With a stride of 1001, job 400 runs shards 400 and 1401.
    let job = command(&folder, "shard run many --stride 1001").env("SLURM_ARRAY_TASK_ID", "400").status();
    assert!(job.unwrap().success());
    let is_done = |index: usize| folder.join(format!("many/shard-{index:05}.jsonl")).exists();
    let there: Vec<usize> = (0..1500).filter(|&index| is_done(index)).collect();
    assert_eq!(there, [400, 1401]);
    assert_eq!(done(&folder, "shard status many --missing --stride 1001").trim(), "0-399,401-1000");
    assert_eq!(done(&folder, "shard status many --missing").trim(), "0-399,401-1400,1402-1499");
    // PBS refuses an array of one job.
    done(&folder, "shard plan study.toml --shards 1 --into one");
    let pbs = script("one", "pbs");
    assert!(!pbs.contains("-J") && pbs.contains("--index 0"), "{pbs}");
    assert!(script("one", "slurm").contains("--array=0-0\n"));
    fs::remove_dir_all(folder.parent().unwrap()).unwrap();
}
