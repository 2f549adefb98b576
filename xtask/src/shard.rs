//! Determines which shard a process is, in the same way as `ndp shard run`.

use anyhow::Context;

/// The given index, or that of the scheduler if only the number of shards is given; `None` if nothing is
/// split.
pub(crate) fn index(shards: Option<usize>, given: Option<usize>) -> anyhow::Result<Option<usize>> {
    if shards.is_none() || given.is_some() {
        return Ok(given);
    }
    from_scheduler(|name| std::env::var(name).ok()).map(Some)
}

/// Indices of schedulers that count from 1 are converted to count from 0.
fn from_scheduler(variable: impl Fn(&str) -> Option<String>) -> anyhow::Result<usize> {
    for (name, first) in [
        ("SLURM_ARRAY_TASK_ID", 0),
        ("PBS_ARRAY_INDEX", 0),
        ("PBS_ARRAYID", 0),
        ("OAR_ARRAY_INDEX", 1),
        ("SGE_TASK_ID", 1),
        ("LSB_JOBINDEX", 1),
    ] {
        let Some(text) = variable(name) else { continue };
        let index = text.parse::<usize>().ok().and_then(|index| index.checked_sub(first));
        return index.with_context(|| format!("{name} is {text:?}, which is no index"));
    }
    anyhow::bail!("say which shard: --shard I, or SLURM_ARRAY_TASK_ID and its kin")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedulers_count_from_zero_or_one() {
        let of = |name: &'static str, text: &'static str| {
            from_scheduler(move |asked| (asked == name).then(|| text.to_owned()))
        };
        assert_eq!(of("SLURM_ARRAY_TASK_ID", "7").ok(), Some(7));
        assert_eq!(of("OAR_ARRAY_INDEX", "7").ok(), Some(6));
        for (name, text, said) in [
            ("OAR_ARRAY_INDEX", "0", "OAR_ARRAY_INDEX is \"0\", which is no index"),
            ("SLURM_ARRAY_TASK_ID", "many", "SLURM_ARRAY_TASK_ID is \"many\", which is no index"),
            ("HOME", "3", "say which shard: --shard I, or SLURM_ARRAY_TASK_ID and its kin"),
        ] {
            assert_eq!(of(name, text).unwrap_err().to_string(), said);
        }
        assert_eq!(index(None, None).ok(), Some(None));
        assert_eq!(index(Some(8), Some(3)).ok(), Some(Some(3)));
    }
}
