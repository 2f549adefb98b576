//! Time and memory of a piece of work. They are written to the field `run` of the JSON, never to the CSV.

use std::fs;
use std::time::Instant;

/// What a piece of work took.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// Wall time, in seconds.
    pub seconds: f64,
    /// Peak memory of the whole process during the work, in bytes, if the system reports it.
    pub peak_memory: Option<u64>,
}

/// Does `work` and returns what it took.
pub fn measured<T>(work: impl FnOnce() -> T) -> (T, Cost) {
    // Linux resets the recorded peak when 5 is written here; on other systems the file does not exist.
    let _ = fs::write("/proc/self/clear_refs", "5");
    let start = Instant::now();
    let result = work();
    (result, Cost { seconds: start.elapsed().as_secs_f64(), peak_memory: peak_memory() })
}

/// The memory that the process holds now, in bytes, if the system reports it.
pub fn resident_memory() -> Option<u64> {
    of_status("VmRSS:")
}

fn peak_memory() -> Option<u64> {
    of_status("VmHWM:")
}

/// A line such as `VmHWM:  1234 kB` of the process's status, in bytes.
fn of_status(name: &str) -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().strip_suffix(" kB")?.parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_work_is_seen() {
        let work = || vec![1u8; 64 << 20].iter().map(|&byte| u64::from(byte)).sum::<u64>();
        let (sum, cost) = measured(work);
        assert_eq!(sum, 64 << 20);
        assert!(cost.seconds > 0.0);
        if cfg!(target_os = "linux") {
            assert!(cost.peak_memory.is_some_and(|bytes| bytes >= 64 << 20));
            assert!(resident_memory() < cost.peak_memory);
        }
    }
}
