//! A summary of every observer.

use crate::args::{Pictures, Sweep};
use crate::errors::Failure;
use crate::output::{heading, line, number, pictures, table, up};
use crate::progress::Progress;
use crate::question::probability;
use crate::sweep::Study;
use crate::sweep::merge::{Lines, Together, figure};
use rayon::prelude::*;

pub(crate) fn run(asked: &Sweep, quiet: bool) -> Result<(), Failure> {
    if asked.pictures.report.is_some() {
        return Err(Failure::Usage(
            "a sweep has no --report: `ndp loss` has, for an observer that matters".into(),
        ));
    }
    let study = Study::new(asked)?;
    let mut lines = Lines::create(&study, asked.into.as_deref())?;
    let items: Vec<usize> = (0..study.items()).collect();
    let progress = Progress::new(items.len() as u64, "observers", quiet);
    for chunk in items.chunks(rayon::current_num_threads()) {
        for line in chunk.par_iter().map(|&item| study.line(item)).collect::<Vec<_>>() {
            lines.take(&line?)?;
            progress.one();
        }
        // The reader of the pipe is gone, so nobody would see further lines.
        if lines.unread && !asked.pictures.any() {
            return Ok(());
        }
    }
    drop(progress);
    told(&study, &lines.finish()?, &asked.pictures, asked.knowledge.seed)
}

/// Shows what all observers learn, on the terminal and as a picture.
pub(super) fn told(study: &Study, together: &[Together], asked: &Pictures, seed: u64) -> Result<(), Failure> {
    heading(&format!("What is learned by {}, as {}", study.description, study.measure))?;
    line("")?;
    let row = |found: &Together| {
        let grade = if found.exact { "exact" } else { "upper-bound" };
        vec![
            found.protocol.clone(),
            number(found.noise),
            up(found.max),
            found.worst.clone(),
            up(found.mean),
            grade.into(),
            probability(found.failure),
        ]
    };
    let rows: Vec<Vec<String>> = together.iter().map(row).collect();
    table(&["protocol", "noise", "largest", "towards", "mean", "grade", "fails"], &rows)?;
    for found in together {
        if let Some(words) = found.confidence() {
            line(&format!("{}, noise {}: {words}", found.protocol, number(found.noise)))?;
        }
    }
    if asked.png.is_some() || asked.svg.is_some() {
        pictures(asked, seed, &figure(study, together))?;
    }
    Ok(())
}
