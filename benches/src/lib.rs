//! Benchmarks live in `benches/`; here is what measures work too long to be repeated.

use std::hint::black_box;
use std::path::PathBuf;
use std::time::Instant;

/// Does long work once, if `NDP_BENCH_ONCE` names a folder for the result, as `cargo xtask bench --large`
/// does.
///
/// The result has the form of criterion's estimates, and the most memory the process has used so far, where
/// the system tells.
pub fn once<T>(name: &str, work: impl FnOnce() -> T) {
    let Some(results) = std::env::var_os("NDP_BENCH_ONCE").map(PathBuf::from) else { return };
    let start = Instant::now();
    black_box(work());
    let elapsed = start.elapsed();
    let peak = peak_memory()
        .map_or(String::new(), |bytes| format!(r#", "peak": {{"gigabytes": {}}}"#, bytes as f64 * 1e-9));
    let json = format!(r#"{{"median": {{"point_estimate": {}}}{peak}}}"#, elapsed.as_nanos());
    eprintln!("once/{name}: {:.2} s{peak}", elapsed.as_secs_f64());
    let folder = results.join(name).join("new");
    let written =
        std::fs::create_dir_all(&folder).and_then(|()| std::fs::write(folder.join("estimates.json"), json));
    if let Err(error) = written {
        eprintln!("cannot write to {}: {error}", folder.display());
    }
}

/// Bytes, on Linux.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix(" kB")?.parse::<u64>().ok()? * 1024)
}
