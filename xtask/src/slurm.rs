//! A sweep under a real scheduler: a Slurm of one node runs an array of jobs, one of which is killed and put
//! back into the queue.
#![expect(clippy::print_stdout, reason = "this is the command line")]

use crate::flags::Slurm;
use anyhow::{Context, bail, ensure};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use xshell::{Shell, cmd};

/// Number of shards, which is the number of jobs in the array.
const SHARDS: usize = 6;

impl Slurm {
    /// Runs the sweep, or says why it is skipped.
    ///
    /// # Errors
    /// When the scheduler does not start, a job fails, or the merged bytes are not those of one process.
    pub(crate) fn run(self, sh: &Shell) -> anyhow::Result<()> {
        if let Some(why) = install(sh) {
            println!("skipped: {why}");
            return Ok(());
        }
        cmd!(sh, "cargo build --release --package ndp-cli").run()?;
        let folder = sh.current_dir().join("target/slurm");
        sh.remove_path(&folder)?;
        let programs = sh.current_dir().join("target/release");
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::join_paths(std::iter::once(programs).chain(std::env::split_paths(&path)))?;
        sh.set_var("PATH", path);
        let scheduler = Scheduler::start(sh, &folder)?;
        let outcome = sweep(sh, &folder);
        drop(scheduler);
        outcome
    }
}

/// The reason why no scheduler can be used here.
fn install(sh: &Shell) -> Option<String> {
    let there = || ["sbatch", "slurmctld", "slurmd", "munged"].iter().all(|name| which(name));
    if there() {
        return None;
    }
    let root = cmd!(sh, "id -u").quiet().read().is_ok_and(|id| id.trim() == "0");
    if !root || !which("apt-get") {
        return Some("no Slurm here, and no right to install Debian's slurm-wlm and munge".into());
    }
    let packages = ["slurm-wlm", "munge"];
    let installed =
        cmd!(sh, "apt-get install -y -qq --no-install-recommends {packages...}").quiet().ignore_stdout();
    match installed.ignore_stderr().run() {
        Ok(()) if there() => None,
        _ => Some("Debian's slurm-wlm and munge could not be installed".into()),
    }
}

fn which(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let system = ["/usr/sbin", "/sbin"].map(PathBuf::from);
    std::env::split_paths(&path).chain(system).any(|folder| folder.join(program).is_file())
}

/// A Slurm of one node, which is stopped when this value is dropped.
struct Scheduler {
    pids: Vec<PathBuf>,
}

impl Scheduler {
    fn start(sh: &Shell, folder: &Path) -> anyhow::Result<Self> {
        for name in ["state", "spool", "log", "munge"] {
            sh.create_dir(folder.join(name))?;
        }
        let host = cmd!(sh, "hostname -s").quiet().read()?;
        let at = folder.display();
        let configuration = format!(
            "ClusterName=ndp\nSlurmctldHost={host}(127.0.0.1)\nAuthType=auth/munge\nAuthInfo=socket={at}/munge/socket\n\
             CredType=cred/munge\nSlurmUser=root\nSlurmdUser=root\nStateSaveLocation={at}/state\nSlurmdSpoolDir={at}/spool\n\
             SlurmctldPidFile={at}/ctld.pid\nSlurmdPidFile={at}/d.pid\nSlurmctldLogFile={at}/log/ctld\nSlurmdLogFile={at}/log/d\n\
             SlurmctldPort=26817\nSlurmdPort=26818\nProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nMpiDefault=none\n\
             ReturnToService=2\nSelectType=select/cons_tres\nSelectTypeParameters=CR_CPU\nSwitchType=switch/none\nJobRequeue=1\n\
             NodeName={host} NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN\n\
             PartitionName=all Nodes={host} Default=YES MaxTime=INFINITE State=UP\n"
        );
        sh.write_file(folder.join("slurm.conf"), configuration)?;
        sh.set_var("SLURM_CONF", folder.join("slurm.conf"));
        let (key, munge) = (folder.join("munge/key"), folder.join("munge"));
        cmd!(sh, "dd if=/dev/urandom of={key} bs=1024 count=1 status=none").quiet().run()?;
        cmd!(sh, "chmod 400 {key}").quiet().run()?;
        // Unless forced, the daemon requires folders that nobody else can write to.
        cmd!(
            sh,
            "/usr/sbin/munged --force --socket {munge}/socket --key-file {key} --pid-file {munge}/pid --log-file {munge}/log
             --seed-file {munge}/seed"
        )
        .quiet()
        .ignore_stderr()
        .run()?;
        let scheduler = Self { pids: vec![folder.join("d.pid"), folder.join("ctld.pid"), munge.join("pid")] };
        cmd!(sh, "/usr/sbin/slurmctld").quiet().run()?;
        cmd!(sh, "/usr/sbin/slurmd").quiet().run()?;
        wait(60, || {
            Ok(cmd!(sh, "sinfo -h -o %T")
                .quiet()
                .ignore_stderr()
                .read()
                .is_ok_and(|state| state.trim() == "idle"))
        })
        .context("the scheduler did not start, see target/slurm/log")?;
        Ok(scheduler)
    }
}

impl Drop for Scheduler {
    /// Stops the daemons that were started, by their process ids.
    fn drop(&mut self) {
        for path in &self.pids {
            if let Ok(pid) = std::fs::read_to_string(path) {
                let _ = std::process::Command::new("kill").arg(pid.trim()).status();
            }
        }
    }
}

/// Plans, submits, kills one job, puts it back into the queue, merges and compares.
fn sweep(sh: &Shell, folder: &Path) -> anyhow::Result<()> {
    sh.change_dir(folder);
    let edges: String = (0..512)
        .flat_map(|v| (0..9).map(move |bit| (v, v ^ (1 << bit))))
        .filter(|(u, v)| u < v)
        .map(|(u, v)| format!("{u} {v}\n"))
        .collect();
    sh.write_file("cube", edges)?;
    let study =
        "command = \"sweep\"\nfile = \"cube\"\nprotocol = \"muffliato:rounds=14\"\nnoise = 2\nall = true\n";
    sh.write_file("study.toml", study)?;
    cmd!(sh, "ndp sweep cube --protocol muffliato:rounds=14 --noise 2 --all --into whole.jsonl").run()?;
    let shards = SHARDS.to_string();
    cmd!(sh, "ndp shard plan study.toml --shards {shards} --into parts").run()?;
    let script = cmd!(sh, "ndp shard script parts --for slurm").read()?;
    // The node does not report its memory, so the script must not ask for any.
    let script: Vec<&str> = script.lines().filter(|line| !line.contains("--mem=")).collect();
    sh.write_file("job.sh", script.join("\n") + "\n")?;
    let job = cmd!(sh, "sbatch --parsable job.sh").read()?;
    let lines = |index: usize| {
        let text = std::fs::read_to_string(folder.join(format!("parts/shard-{index:05}.jsonl.part")));
        text.map_or(0, |text| text.lines().count())
    };
    wait(120, || Ok(lines(1) > 3)).context("job 1 of the array did not begin")?;
    cmd!(sh, "scancel --signal=KILL --batch {job}_1").run()?;
    let there = || {
        cmd!(sh, "squeue -h -j {job}_1")
            .quiet()
            .ignore_stderr()
            .read()
            .is_ok_and(|text| !text.trim().is_empty())
    };
    wait(60, || Ok(!there()))?;
    let left = lines(1);
    ensure!(
        left > 1 && !folder.join("parts/shard-00001.jsonl").exists(),
        "job 1 was not killed in the middle"
    );
    println!("job 1 was killed after {} observers; back into the queue", left - 1);
    cmd!(sh, "scontrol requeue {job}_1").run()?;
    let queued = || Ok(cmd!(sh, "squeue -h").quiet().read()?.trim().is_empty());
    wait(600, queued).context("the jobs did not end")?;
    let missing = cmd!(sh, "ndp shard status parts --missing").read()?;
    if !missing.is_empty() {
        bail!("shards {missing} are not done, see target/slurm");
    }
    cmd!(sh, "ndp shard merge parts --into merged.jsonl").run()?;
    ensure!(
        std::fs::read(folder.join("whole.jsonl"))? == std::fs::read(folder.join("merged.jsonl"))?,
        "the merged bytes are not those of one process"
    );
    println!("the merged bytes are those of one process");
    many(sh)
}

/// With more shards than an array may have jobs, each job runs several shards.
fn many(sh: &Shell) -> anyhow::Result<()> {
    let limit = cmd!(sh, "scontrol show config").quiet().read()?;
    let limit =
        limit.lines().find_map(|line| line.strip_prefix("MaxArraySize")?.trim_start().strip_prefix("= "));
    ensure!(limit == Some("1001"), "this scheduler has another limit than most: {limit:?}");
    cmd!(sh, "ndp shard plan study.toml --shards 1500 --into many").run()?;
    let script = cmd!(sh, "ndp shard script many --for slurm").read()?;
    let script: Vec<&str> = script.lines().filter(|line| !line.contains("--mem=")).collect();
    sh.write_file("many.sh", script.join("\n") + "\n")?;
    // The jobs are held, because a thousand jobs on one node show nothing that six did not: it is enough that
    // the array is accepted and one of its jobs runs.
    let job = cmd!(sh, "sbatch --parsable --hold many.sh").read()?;
    cmd!(sh, "scancel {job}").run()?;
    cmd!(sh, "sbatch --wait --array=400 many.sh").run()?;
    let there = cmd!(sh, "ndp shard status many").read()?;
    ensure!(there.starts_with("2 of 1500"), "job 400 ran other shards than 400 and 1401: {there}");
    println!("an array of 1,001 jobs ran two shards in one of them");
    Ok(())
}

/// Checks the condition twice a second until it holds.
fn wait(seconds: u64, so: impl Fn() -> anyhow::Result<bool>) -> anyhow::Result<()> {
    let start = Instant::now();
    while !so()? {
        ensure!(start.elapsed() < Duration::from_secs(seconds), "not so within {seconds} s");
        std::thread::sleep(Duration::from_millis(500));
    }
    Ok(())
}
