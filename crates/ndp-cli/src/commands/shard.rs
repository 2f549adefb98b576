//! A sweep in many processes.

use super::sweep::told;
use crate::args::{Scheduler, Shard};
use crate::errors::Failure;
use crate::output::line;
use crate::sweep::files::{self, State};
use crate::sweep::merge::Lines;
use crate::sweep::plan::{self, Plan};
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
            ))
        }
        Shard::Run { folder, index } => {
            let plan = Plan::read(&folder)?;
            let index = index.map_or_else(from_scheduler, Ok)?;
            if index >= plan.starts.len() {
                return Err(Failure::Usage(format!(
                    "there is no shard {index}: they are 0 to {}",
                    plan.starts.len() - 1
                )));
            }
            files::run(&plan, &plan.study()?, &folder, index, quiet)
        }
        Shard::Status { folder, missing } => status(&folder, missing),
        Shard::Merge { folder, into, pictures } => {
            if pictures.report.is_some() {
                return Err(Failure::Usage(
                    "a sweep has no --report: `ndp loss` has, for an observer that matters".into(),
                ));
            }
            let plan = Plan::read(&folder)?;
            let states: Vec<State> =
                (0..plan.starts.len()).map(|index| files::state(&plan, &folder, index)).collect();
            if let Some(State::Damaged(why)) = states.iter().find(|state| matches!(state, State::Damaged(_)))
            {
                return Err(Failure::Refused(why.clone()));
            }
            let left: Vec<usize> =
                (0..states.len()).filter(|&at| !matches!(states[at], State::Done)).collect();
            if !left.is_empty() {
                return Err(Failure::Refused(format!(
                    "{} of {} shards are not done: {}",
                    left.len(),
                    states.len(),
                    array(&left)
                )));
            }
            let study = plan.study()?;
            let mut lines = Lines::create(&study, &into)?;
            for index in 0..plan.starts.len() {
                files::read(&plan, &folder, index, |line| lines.take(line))?;
            }
            told(&study, &lines.finish()?, &pictures, 0)
        }
        Shard::Script { folder, scheduler } => script(&folder, scheduler),
    }
}

/// The index that a scheduler gives to a process; those that count from 1 are counted from 0 here.
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

fn status(folder: &Path, missing: bool) -> Result<(), Failure> {
    let plan = Plan::read(folder)?;
    let states: Vec<State> = (0..plan.starts.len()).map(|index| files::state(&plan, folder, index)).collect();
    let of = |kind: fn(&State) -> bool| -> Vec<usize> {
        (0..states.len()).filter(|&at| kind(&states[at])).collect()
    };
    let left = of(|state| !matches!(state, State::Done));
    if missing {
        return if left.is_empty() { Ok(()) } else { line(&array(&left)) };
    }
    line(&format!("{} of {} shards are done", states.len() - left.len(), states.len()))?;
    let begun = of(|state| matches!(state, State::Begun(_)));
    for &at in &begun {
        if let State::Begun(items) = states[at] {
            line(&format!("  shard {at}: {items} of {}", plan.range(at).len()))?;
        }
    }
    for state in &states {
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

fn script(folder: &Path, scheduler: Scheduler) -> Result<(), Failure> {
    let plan = Plan::read(folder)?;
    let full = folder.canonicalize().map_err(Failure::file(folder))?;
    // Within single quotes of a shell.
    let folder = full.display().to_string().replace('\'', "'\\''");
    let last = plan.starts.len() - 1;
    let text = match scheduler {
        Scheduler::Slurm => format!(
            "#!/bin/bash\n#SBATCH --job-name=ndp\n#SBATCH --array=0-{last}\n#SBATCH --cpus-per-task=1\n#SBATCH --mem=4G\n\
             #SBATCH --time=04:00:00\n#SBATCH --signal=B:TERM@60\n#SBATCH --requeue\n\
             # Those that are left: sbatch --array=$(ndp shard status '{folder}' --missing) THIS\n\
             exec ndp shard run '{folder}' --threads \"${{SLURM_CPUS_PER_TASK:-1}}\"\n"
        ),
        Scheduler::Oar => format!(
            "#!/bin/bash\n#OAR -n ndp\n#OAR --array {}\n#OAR -l /core=1,walltime=4:00:00\n#OAR --checkpoint 60\n#OAR --signal 15\n\
             exec ndp shard run '{folder}' --threads 1\n",
            last + 1
        ),
        Scheduler::Pbs => format!(
            "#!/bin/bash\n#PBS -N ndp\n#PBS -J 0-{last}\n#PBS -l select=1:ncpus=1:mem=4gb\n#PBS -l walltime=04:00:00\n#PBS -r y\n\
             exec ndp shard run '{folder}' --threads 1\n"
        ),
        Scheduler::Sh => format!(
            "#!/bin/sh\n# Two at a time; those that are done are skipped.\n\
             seq 0 {last} | xargs -P 2 -I {{}} ndp shard run '{folder}' --index {{}} --threads 1\n"
        ),
    };
    line(text.trim_end())
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
