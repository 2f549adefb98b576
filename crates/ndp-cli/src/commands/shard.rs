//! A sweep in many processes. Only merging has an answer, which is shown as that of a sweep; the others work
//! for hours, or print a few lines for a person, a scheduler or a shell.

use super::sweep::{refuse_report, show};
use crate::args::{Pictures, Scheduler, Shard};
use crate::errors::Failure;
use crate::output::{self, line, print};
use crate::paths::Paths;
use crate::sweep::files::{self, State};
use crate::sweep::merge::Lines;
use crate::sweep::plan::{self, Plan};
use std::collections::BTreeSet;
use std::path::Path;

pub(crate) fn run(asked: Shard, quiet: bool) -> Result<(), Failure> {
    match asked {
        Shard::Plan { study, shards, into, replace } => {
            let (plan, study) = plan::make(&study, shards as usize, &into, replace)?;
            line(&format!(
                "{} observers and protocols of {} nodes in {shards} shards, in {}",
                plan.items,
                study.graph.node_count(),
                into.display()
            ))?;
            let all = study.bytes();
            line(&format!(
                "room on the disk: about {} for all shards, {} for each, and as much as all for what is merged",
                room(all),
                room(all.div_ceil(u64::from(shards)))
            ))
        }
        Shard::Run { folder, index, stride } => {
            let plan = Plan::read(&folder)?;
            let first = index.map_or_else(from_scheduler, Ok)?;
            let count = plan.starts.len();
            if first >= count {
                return Err(Failure::Usage(format!(
                    "there is no shard {first}: they are 0 to {}",
                    count - 1
                )));
            }
            let study = plan.study(&folder)?;
            let mine = (first..count).step_by(stride.map_or(count, |stride| stride as usize));
            mine.into_iter().try_for_each(|index| files::run(&plan, &study, &folder, index, quiet))
        }
        Shard::Status { folder, missing, stride } => {
            let plan = Plan::read(&folder)?;
            let states = states(&plan, &folder);
            match (missing, stride) {
                (false, _) => status(&plan, &states),
                (true, stride) => {
                    let jobs = stride.map_or(states.len(), |stride| stride as usize);
                    let jobs: BTreeSet<usize> = left(&states).into_iter().map(|index| index % jobs).collect();
                    let jobs: Vec<usize> = jobs.into_iter().collect();
                    if jobs.is_empty() { Ok(()) } else { line(&array(&jobs)) }
                }
            }
        }
        Shard::Merge { folder, into, pictures } => merge(&folder, &into, &pictures),
        Shard::Script { folder, scheduler } => script(&folder, scheduler),
    }
}

fn merge(folder: &Path, into: &Path, pictures: &Pictures) -> Result<(), Failure> {
    refuse_report(pictures)?;
    let plan = Plan::read(folder)?;
    let outputs = [Some(into), pictures.png.as_deref(), pictures.svg.as_deref()];
    let shards = (0..plan.starts.len()).map(|index| Plan::shard(folder, index));
    output::check(&Paths {
        inputs: shards.chain([Plan::path(folder), plan.graph(folder)]).collect(),
        outputs: outputs.into_iter().flatten().map(Path::to_owned).collect(),
        ..Paths::default()
    })?;
    let states = states(&plan, folder);
    if let Some(State::Damaged(why)) = states.iter().find(|state| matches!(state, State::Damaged(_))) {
        return Err(Failure::Refused(format!("{why}: run this shard again, and it is repaired")));
    }
    let left = left(&states);
    if !left.is_empty() {
        return Err(Failure::Refused(format!(
            "{} of {} shards are not done: {}",
            left.len(),
            states.len(),
            array(&left)
        )));
    }
    let study = plan.study(folder)?;
    let mut lines = Lines::create(&study, Some(into))?;
    for index in 0..plan.starts.len() {
        files::read(&plan, folder, index, |line| lines.take(line))?;
    }
    show(&study, &lines.finish()?, pictures, study.seed)
}

/// A number of bytes in the unit that reads best.
fn room(bytes: u64) -> String {
    match bytes {
        0..1_000_000 => format!("{} kB", bytes.div_ceil(1000)),
        1_000_000..1_000_000_000 => format!("{} MB", bytes.div_ceil(1_000_000)),
        _ => format!("{} GB", bytes.div_ceil(1_000_000_000)),
    }
}

/// The index that a scheduler gives to this process, counted from 0; some schedulers count from 1.
fn from_scheduler() -> Result<usize, Failure> {
    for (name, first) in [
        ("SLURM_ARRAY_TASK_ID", 0),
        ("PBS_ARRAY_INDEX", 0),
        ("PBS_ARRAYID", 0),
        ("OAR_ARRAY_INDEX", 1),
        ("SGE_TASK_ID", 1),
        ("LSB_JOBINDEX", 1),
    ] {
        let Ok(text) = std::env::var(name) else { continue };
        let index = text.parse::<usize>().ok().and_then(|index| index.checked_sub(first));
        return index.ok_or_else(|| Failure::Usage(format!("{name} is {text:?}, which is no index")));
    }
    Err(Failure::Usage("say which shard: --index I, or SLURM_ARRAY_TASK_ID and its kin".into()))
}

fn states(plan: &Plan, folder: &Path) -> Vec<State> {
    (0..plan.starts.len()).map(|index| files::state(plan, folder, index)).collect()
}

/// The shards that are not done.
fn left(states: &[State]) -> Vec<usize> {
    (0..states.len()).filter(|&at| !matches!(states[at], State::Done)).collect()
}

fn status(plan: &Plan, states: &[State]) -> Result<(), Failure> {
    let left = left(states);
    line(&format!("{} of {} shards are done", states.len() - left.len(), states.len()))?;
    for (at, state) in states.iter().enumerate() {
        if let State::Begun(items) = state {
            line(&format!("  shard {at}: {items} of {}", plan.range(at).len()))?;
        }
    }
    for state in states {
        if let State::Damaged(why) = state {
            line(&format!("  damaged: {why}"))?;
        }
    }
    if !left.is_empty() {
        line(&format!("to run: {}", array(&left)))?;
    }
    Ok(())
}

/// Ascending indices as ranges: `0-3,7`.
fn array(indices: &[usize]) -> String {
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for &index in indices {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == index => *last = index,
            _ => ranges.push((index, index)),
        }
    }
    let range = |&(first, last): &(usize, usize)| {
        if first == last { first.to_string() } else { format!("{first}-{last}") }
    };
    ranges.iter().map(range).collect::<Vec<_>>().join(",")
}

/// The most jobs in one array under each scheduler's default limit: Slurm's `MaxArraySize`, `max_array_size`
/// of PBS. OAR has no limit, and a shell has no arrays.
const fn most_jobs(scheduler: Scheduler) -> usize {
    match scheduler {
        Scheduler::Slurm => 1_001,
        Scheduler::Pbs => 10_000,
        Scheduler::Oar | Scheduler::Sh => usize::MAX,
    }
}

fn script(folder: &Path, scheduler: Scheduler) -> Result<(), Failure> {
    let plan = Plan::read(folder)?;
    let full = folder.canonicalize().map_err(Failure::file(folder))?;
    let bytes = full.as_os_str().as_encoded_bytes();
    if bytes.contains(&b'\n') {
        return Err(Failure::Refused(format!(
            "{}: a folder of several lines fits into no script",
            full.display()
        )));
    }
    let quoted = quoted(bytes);
    let shards = plan.starts.len();
    let jobs = shards.min(most_jobs(scheduler));
    let (last, stride) = (jobs - 1, if jobs < shards { format!(" --stride {jobs}") } else { String::new() });
    // A placeholder for the folder, whose path need not be valid text.
    const HERE: &str = "\0";
    let missing = format!("sbatch --array=$(ndp shard status {HERE} --missing{stride}) THIS");
    let text = match scheduler {
        Scheduler::Slurm => format!(
            "#!/bin/bash\n#SBATCH --job-name=ndp\n#SBATCH --array=0-{last}\n#SBATCH --cpus-per-task=1\n#SBATCH --mem=4G\n\
             #SBATCH --time=04:00:00\n#SBATCH --signal=B:TERM@60\n#SBATCH --requeue\n# Those that are left: {missing}\n\
             exec ndp shard run {HERE}{stride} --threads \"${{SLURM_CPUS_PER_TASK:-1}}\"\n"
        ),
        Scheduler::Oar => format!(
            "#!/bin/bash\n#OAR -n ndp\n#OAR --array {jobs}\n#OAR -l /core=1,walltime=4:00:00\n#OAR --checkpoint 60\n#OAR --signal 15\n\
             exec ndp shard run {HERE} --threads 1\n"
        ),
        Scheduler::Pbs => {
            // PBS refuses an array of one job.
            let (array, index) =
                if jobs > 1 { (format!("#PBS -J 0-{last}\n"), "") } else { (String::new(), " --index 0") };
            format!(
                "#!/bin/bash\n#PBS -N ndp\n{array}#PBS -l select=1:ncpus=1:mem=4gb\n#PBS -l walltime=04:00:00\n#PBS -r y\n\
                 exec ndp shard run {HERE}{index}{stride} --threads 1\n"
            )
        }
        Scheduler::Sh => format!(
            "#!/bin/sh\n# Two at a time; those that are done are skipped.\n\
             seq 0 {last} | xargs -P 2 -I {{}} ndp shard run {HERE} --index {{}} --threads 1\n"
        ),
    };
    let mut script = Vec::new();
    for (at, piece) in text.split(HERE).enumerate() {
        if at > 0 {
            script.extend(&quoted);
        }
        script.extend(piece.as_bytes());
    }
    print(&script)
}

/// A path as a word of a shell.
fn quoted(path: &[u8]) -> Vec<u8> {
    let mut word = vec![b'\''];
    for &byte in path {
        match byte {
            b'\'' => word.extend(b"'\\''"),
            byte => word.push(byte),
        }
    }
    word.push(b'\'');
    word
}

#[cfg(test)]
mod tests {
    use super::array;

    #[test]
    fn indices_are_ranges() {
        assert_eq!(array(&[]), "");
        assert_eq!(array(&[4]), "4");
        assert_eq!(array(&[0, 1, 2, 5, 7, 8]), "0-2,5,7-8");
    }
}
