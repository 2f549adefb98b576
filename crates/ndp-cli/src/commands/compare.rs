//! All protocols at the same target.

mod show;

use crate::args::Compare;
use crate::errors::Failure;
use crate::output::note;
use crate::patience::{self, sharing};
use crate::progress::Progress;
use crate::question::Chosen;
use crate::{input, question, show as showing};
use ndp_account::{Comparison, Coverage, Error, Row, Target};
use ndp_algos::registry::{self, PROTOCOLS, Parameters};
use ndp_graph::{GossipMatrix, Graph};
use ndp_report::words;

/// What is asked, of which network, at which target.
struct Study<'a> {
    asked: &'a Compare,
    graph: Graph,
    matrix: GossipMatrix,
    target: Target,
    chosen: Chosen,
    /// The protocols, each `name` or `name:parameters`.
    names: Vec<String>,
}

/// What was found, protocol by protocol.
struct Compared<'a> {
    study: &'a Study<'a>,
    comparison: Comparison,
    /// The values of all parameters of each protocol.
    parameters: Vec<Parameters>,
    /// Notes that say for which observers a bound was used, and why.
    notes: Vec<String>,
}

pub(crate) fn run(asked: &Compare, quiet: bool) -> Result<(), Failure> {
    let study = Study::of(asked)?;
    let found = study.answer(quiet)?;
    found.notes.iter().for_each(|text| note(text));
    showing::show(&found, &asked.files, asked.knowledge.seed)?;
    showing::draw(&found, &asked.pictures, asked.knowledge.seed)?;
    found.verdict()
}

impl<'a> Study<'a> {
    fn of(asked: &'a Compare) -> Result<Self, Failure> {
        let (graph, matrix) = input::network(&asked.graph, asked.gossip.weights)?;
        let target = asked.target.required(&graph)?;
        let chosen = question::everybody(&graph, &asked.observers, &asked.knowledge, Some(&target))?;
        let names = if asked.protocols.is_empty() {
            PROTOCOLS.iter().map(|entry| entry.name.to_owned()).collect()
        } else {
            asked.protocols.clone()
        };
        Ok(Self { asked, graph, matrix, target, chosen, names })
    }

    fn answer(&self, quiet: bool) -> Result<Compared<'_>, Failure> {
        let names = &self.names;
        let progress = Progress::new(names.len() as u64, "protocols", quiet);
        let mut done = 0;
        let found = sharing(patience::told(self.asked.effort.patience), names.len(), |at, limit| {
            let name = &names[at];
            let (entry, parameters) = name.split_once(':').unwrap_or((name, ""));
            // A name that does not exist is a mistake; a protocol that refuses this graph has a row.
            let (entry, parameters) = (registry::find(entry)?, parameters.parse()?);
            let built = patience::built(entry, &self.matrix, &parameters, limit);
            let (built, parameters) = match built {
                Ok((built, parameters)) => {
                    (Ok(built.for_every_pair().on_values_of(self.asked.unit.sensitivity)), parameters)
                }
                Err(error) => (Err(error), Parameters::default()),
            };
            if let Err(error @ Error::NoSuchName { .. }) = built {
                return Err(Failure::from(error));
            }
            let protocol = built.as_ref().map_err(Error::clone);
            let row = super::row(name, protocol, &self.chosen.audience, &self.target);
            let notes: Vec<String> =
                built.iter().flat_map(patience::notes).map(|note| format!("{name}: {note}")).collect();
            // A question that is asked again was counted.
            if at == done {
                done += 1;
                progress.one();
            }
            Ok((((row, parameters), notes), built.is_ok_and(|protocol| protocol.is_cut_by_work())))
        })?;
        let (found, notes): (Vec<(Row, Parameters)>, Vec<Vec<String>>) = found.into_iter().unzip();
        let (rows, parameters) = found.into_iter().unzip();
        Ok(Compared { study: self, comparison: Comparison { rows }, parameters, notes: notes.concat() })
    }
}

impl Compared<'_> {
    fn answered(&self) -> impl Iterator<Item = &Row> {
        self.comparison.rows.iter().filter(|row| row.least.is_ok())
    }

    /// The protocols that need no noise towards those who are looked at.
    fn noiseless(&self) -> Vec<String> {
        self.comparison.rows.iter().filter(|row| needs_no_noise(row)).map(|row| row.name.clone()).collect()
    }

    /// Fails if, at some protocol's noise, the target is not shown for every observer.
    fn verdict(&self) -> Result<(), Failure> {
        let partly: Vec<&str> =
            self.answered().filter(|row| !is_whole(row)).map(|row| row.name.as_str()).collect();
        if self.answered().next().is_none() {
            let noiseless = self.noiseless();
            if !noiseless.is_empty() {
                return Err(Failure::Refused(words::no_noise_needed(&noiseless)));
            }
            return Err(Failure::Refused("no protocol answers this question: the reasons are above".into()));
        }
        if partly.is_empty() {
            return Ok(());
        }
        Err(Failure::NotMet(format!(
            "the target is not shown for {}: {}",
            partly.join(", "),
            words::shown_for(&self.study.chosen.audience.coverage_of_looked_at())
        )))
    }
}

/// Whether the row has a noise, and the target is shown at it for every observer.
fn needs_no_noise(row: &Row) -> bool {
    matches!(row.least, Err(Error::NoNoiseNeeded))
}

fn is_whole(row: &Row) -> bool {
    row.least.is_ok() && row.coverage.as_ref().is_some_and(Coverage::is_whole)
}
