//! `ndp-experiments <figure|all> [--quick]`: computes figures and writes them to a folder.

mod flags;

use anyhow::{Context, ensure};
use ndp_experiments::datasets::Data;
use ndp_experiments::figure::Scale;
use ndp_experiments::registry;
use ndp_experiments::run::{self, Options};
use ndp_experiments::seed::Seed;
use std::path::PathBuf;

fn main() -> anyhow::Result<()> {
    let flags = flags::NdpExperiments::from_env_or_exit();
    let name = flags.figure.as_deref().unwrap_or("all");
    let entries = registry::select(name);
    ensure!(!entries.is_empty(), "there is no figure {name}: see --list");
    if flags.list {
        for entry in entries {
            let needs: Vec<&str> = entry.needs.iter().map(|need| need.as_str()).collect();
            print_line(&format!(
                "{:24} {:4} min  {:16} {}",
                entry.id,
                entry.minutes,
                needs.join(","),
                entry.what
            ));
        }
        return Ok(());
    }
    if let Some(threads) = flags.threads {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build_global().context("no threads")?;
    }
    let options = Options {
        scale: if flags.quick { Scale::Quick } else { Scale::Paper },
        seed: flags.seed.map_or(Seed::DEFAULT, Seed),
        out: flags.out.unwrap_or_else(|| PathBuf::from("out")),
        data: Data::locate(flags.data.as_deref())?,
        resume: flags.resume,
    };
    for entry in entries {
        let record = run::one(entry, &options)?;
        print_line(&format!("{:24} {:6.2} s", record.id, record.run.seconds));
    }
    Ok(())
}

#[expect(clippy::print_stdout, reason = "this is the command line")]
fn print_line(line: &str) {
    println!("{line}");
}
