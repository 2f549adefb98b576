//! A summary of every observer. The summaries are written as they are computed, because together they need
//! not fit into memory; the answer is what they say together.

use crate::args::{Pictures, Sweep};
use crate::errors::Failure;
use crate::output::{noise, pictures, up};
use crate::plain;
use crate::progress::Progress;
use crate::question::probability;
use crate::show::{Part, print};
use crate::sweep::Study;
use crate::sweep::merge::{Lines, Together, figure};
use ndp_report::words;
use rayon::prelude::*;

pub(crate) fn run(asked: &Sweep, quiet: bool) -> Result<(), Failure> {
    refuse_report(&asked.pictures)?;
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
    show(&study, &lines.finish()?, &asked.pictures, asked.knowledge.seed)
}

pub(super) fn refuse_report(asked: &Pictures) -> Result<(), Failure> {
    if asked.report.is_none() {
        return Ok(());
    }
    Err(Failure::Usage("a sweep has no --report: `ndp loss` has, for an observer that matters".into()))
}

/// Shows what all observers learn, on the terminal and as a picture.
pub(super) fn show(study: &Study, together: &[Together], asked: &Pictures, seed: u64) -> Result<(), Failure> {
    print(&text(study, together))?;
    if asked.any() {
        pictures(asked, seed, &figure(study, together))?;
    }
    Ok(())
}

fn text(study: &Study, together: &[Together]) -> Vec<Part<'static>> {
    let row = |found: &Together| {
        vec![
            found.protocol.clone(),
            noise(found.noise),
            up(found.max),
            found.worst.clone(),
            up(found.mean),
            found.grade.to_string(),
            probability(found.statement.failure),
        ]
    };
    let header = vec!["protocol", "noise", "largest", "towards", "mean", "grade", "fails"];
    let mut parts = vec![
        Part::Heading(format!(
            "What is learned by {}, as {}; weights {}{}",
            study.description,
            study.measure,
            study.weights,
            plain::range(study.sensitivity)
        )),
        Part::empty(),
        Part::Table(header, together.iter().map(row).collect()),
    ];
    parts.extend(together.iter().filter_map(|found| {
        let words = found.confidence()?;
        Some(Part::Line(format!("{}, noise {}: {words}", found.protocol, noise(found.noise))))
    }));
    if together.is_empty() {
        parts.push(Part::Line(format!("{}.", words::capital(words::NOBODY_OUTSIDE))));
    }
    let said = together.iter().map(|found| (found.protocol.as_str(), &found.statement));
    let parameters = study.protocols.iter().zip(&study.parameters);
    let parameters = parameters.map(|((name, _), parameters)| (name.as_str(), parameters));
    parts.extend(plain::parameters_of(parameters).map(Part::Line));
    let lines =
        [plain::noises_of(said.clone()), plain::assumed_by(said.clone()).collect(), plain::changes_of(said)]
            .concat();
    parts.extend(lines.into_iter().map(Part::Line));
    parts
}
