//! A comparison, shown.

use super::{Compared, is_whole, needs_no_noise};
use crate::errors::Failure;
use crate::output::{self, count, up};
use crate::plain;
use crate::question;
use crate::show::{Answer, Drawn, Part, Sheet, columns};
use ndp_account::{Coverage, Error, Row, Statement};
use ndp_algos::registry::Parameters;
use ndp_dp::{Grade, NoiseMultiplier};
use ndp_numeric::rounding::any_of;
use ndp_report::figure::{Axis, Figure, Panel, Series};
use ndp_report::page::{Page, Tone};
use ndp_report::words;

const HEADER: [&str; 6] = ["protocol", "noise", "error", "messages", "grade", "observers"];

impl Answer for Compared<'_> {
    fn text(&self) -> Vec<Part<'_>> {
        let target = words::target(&self.study.target);
        let (observers, weights) = (&self.study.chosen.description, self.study.asked.gossip.weights);
        let range = plain::range(self.unit());
        let title = format!("Target: {target}; observed by {observers}; weights {weights}{range}");
        let table = Part::Table(columns(&HEADER), self.cells());
        let assumed = plain::assumed_by(self.statements());
        let below = self.remarks().into_iter().chain(assumed).chain(self.refusals()).map(Part::Line);
        [Part::Heading(title), Part::empty(), table].into_iter().chain(below).collect()
    }

    fn sheet(&self) -> Sheet {
        let digits = |x: &Result<f64, Error>, unit: f64| {
            x.as_ref().map_or_else(|_| String::new(), |x| (x * unit).to_string())
        };
        let unit = self.unit();
        let cells = |row: &Row| {
            let statement = row.statement.as_ref()?;
            let law = plain::law_of_noise(statement);
            Some(vec![
                row.name.clone(),
                question::in_unit(row.least.as_ref().ok()?.noise, unit).to_string(),
                digits(&row.error, unit),
                digits(&row.messages, 1.0),
                grade(row),
                observers(row),
                law,
                words::by(statement),
                words::target(&self.study.target),
            ])
        };
        Sheet {
            header: HEADER.into_iter().chain(["law", "by", "target"]).collect(),
            rows: self.answered().filter_map(cells).collect(),
        }
    }

    fn data(&self) -> Result<serde_json::Value, Failure> {
        let unit = self.unit();
        let mut rows =
            serde_json::to_value(&self.comparison).map_err(|error| Failure::Refused(error.to_string()))?;
        // The rows are in units of the sensitivity; what is written is in the unit of the values, as in the
        // table.
        let objects = rows.as_array_mut().into_iter().flatten().filter_map(serde_json::Value::as_object_mut);
        for (row, parameters) in objects.zip(&self.parameters) {
            row.insert("parameters".into(), output::parameters(parameters));
            row.insert("sensitivity".into(), unit.into());
            row.insert("target".into(), words::target(&self.study.target).into());
            row.insert("weights".into(), self.study.asked.gossip.weights.to_string().into());
            row.insert("observed_by".into(), self.study.chosen.description.clone().into());
            row.insert("multiplier".into(), row.get("noise").cloned().unwrap_or_default());
            for key in ["noise", "noise_of_looked_at"] {
                let multiplier = row.get(key).and_then(serde_json::Value::as_f64).map(NoiseMultiplier::new);
                if let Some(multiplier) = multiplier.transpose()? {
                    row.insert(key.into(), question::in_unit(multiplier, unit).into());
                }
            }
            if let Some(error) = row.get("error").and_then(serde_json::Value::as_f64) {
                row.insert("error".into(), (error * unit).into());
            }
        }
        Ok(rows)
    }
}

impl Drawn for Compared<'_> {
    /// A figure of the least noise of every protocol that has one, and of the error that this noise causes.
    fn figure(&self) -> Figure {
        let unit = self.unit();
        let answered = || self.answered().filter_map(|row| Some((row, row.least.as_ref().ok()?)));
        let names: Vec<String> = answered().map(|(row, _)| row.name.clone()).collect();
        let noise = answered().map(|(_, least)| Some(least.noise.get() * unit));
        let error = answered().map(|(row, _)| row.error.as_ref().ok().map(|error| error * unit));
        let at_rows = |values: Vec<Option<f64>>| -> Vec<(f64, f64)> {
            values.into_iter().enumerate().filter_map(|(at, value)| Some((at as f64, value?))).collect()
        };
        let columns = [("noise", at_rows(noise.collect())), ("error of the mean", at_rows(error.collect()))];
        let dots = columns.clone().map(|(name, values)| {
            Series::data(name).points(values.into_iter().map(|(at, value)| (value, at))).scattered()
        });
        let table = columns.map(|(name, values)| Series::data(name).points(values));
        let mut rows = Panel::table("in numbers", "protocol").with_all(table);
        for (at, name) in names.iter().enumerate() {
            rows = rows.row_name(at as f64, name.clone());
        }
        let dots =
            Panel::curves("at the same limit", Axis::log("noise, error"), Axis::named(names)).with_all(dots);
        Figure::new("What the limit costs").panel(dots).panel(rows).columns(1)
    }

    fn page(&self, svg: &str) -> Page {
        let (study, rows) = (self.study, &self.comparison.rows);
        let (asked, knowledge) = (study.asked, &study.asked.knowledge);
        let network = plain::network(&asked.graph.file, &study.graph);
        let is_all = rows.iter().filter_map(|row| row.statement.as_ref()).all(Statement::is_of_all_data);
        let observed = (study.chosen.description.as_str(), knowledge);
        let gives =
            plain::Gives::of(self.statements().flat_map(|(_, statement)| statement.changes.iter().copied()));
        let subject =
            plain::subject(network, observed, (plain::OF_EACH_PROTOCOL, is_all), (self.unit(), gives));
        let whole = rows.iter().filter(|row| is_whole(row)).count();
        let target = words::target(&study.target);
        let noiseless = self.noiseless();
        let mut sentence =
            format!("{whole} of {} protocols are shown to keep the limit: {target}.", rows.len());
        if !noiseless.is_empty() {
            let by_noise = format!("{whole} of {} protocols keep the limit by noise: {target}.", rows.len());
            sentence = format!("{by_noise} {}.", words::no_noise_needed(&noiseless));
        }
        let tone = if whole == 0 && noiseless.is_empty() { Tone::Bad } else { Tone::Plain };
        let mut page = Page::new("Protocols at the same limit").verdict(tone, &sentence);
        page = plain::opening(page, &subject);
        let particular =
            plain::assumed_by(self.statements()).map(|what| format!("{}.", words::capital(&what)));
        page = plain::assumptions(page, gives, &particular.collect::<Vec<_>>());
        let grades: Vec<Grade> = rows.iter().filter_map(|row| row.grade).collect();
        let failure = any_of(rows.iter().map(|row| row.failure));
        page = plain::sureness(page, &grades, (failure, None), &self.notes);
        let meant = |row: &Row| {
            let statement = row.statement.as_ref()?;
            let (changes, noise) = (plain::changes(statement), plain::noise_is(statement));
            let by = plain::by(statement);
            Some(format!("{}: {changes}; noise is the {noise}. By {by}.", row.name))
        };
        let meant: Vec<String> = self.answered().filter_map(meant).collect();
        page = page
            .section("What each needs")
            .text(&plain::measure(study.target.measure))
            .table("The least noise, and what it costs", &columns(&HEADER), &self.cells())
            .picture(svg, "The least noise of each protocol; more noise means less use of the result.")
            .list(&self.remarks())
            .section("What may change, and what noise is")
            .list(&meant);
        let refusals: Vec<String> = self.refusals().collect();
        if !refusals.is_empty() {
            page = page.section("Without an answer").list(&refusals);
        }
        let abouts = study.names.iter().zip(&self.parameters);
        let abouts: Vec<String> = abouts.filter_map(|(name, of)| plain::about(name, of)).collect();
        plain::provenance(page.section("The protocols").list(&abouts), knowledge.seed)
    }
}

impl Compared<'_> {
    fn unit(&self) -> f64 {
        self.study.asked.unit.sensitivity
    }

    fn cells(&self) -> Vec<Vec<String>> {
        let unit = self.unit();
        let cell = |x: &Result<f64, Error>, shown: &dyn Fn(f64) -> String| {
            x.as_ref().map_or_else(|_| "-".into(), |&x| shown(x))
        };
        let row = |row: &Row| {
            let least = row.least.as_ref().ok()?;
            Some(vec![
                row.name.clone(),
                up(question::in_unit(least.noise, unit)),
                cell(&row.error, &|error| up(error * unit)),
                cell(&row.messages, &count),
                grade(row),
                observers(row),
            ])
        };
        self.answered().filter_map(row).collect()
    }

    /// Protocols without an answer, with the reason.
    fn refusals(&self) -> impl Iterator<Item = String> {
        let reason = |row: &Row| Some(format!("{}: {}", row.name, row.least.as_ref().err()?));
        self.comparison.rows.iter().filter_map(reason)
    }

    /// Remarks below the table: what the noise is (protocol by protocol where it differs), and how much less
    /// noise would be enough for the observers who were looked at.
    fn remarks(&self) -> Vec<String> {
        let unit = self.unit();
        let mut remarks = Vec::new();
        for row in self.answered() {
            if let Some(less) = row.looked_at {
                let less = up(question::in_unit(less, unit));
                remarks.push(format!(
                    "{}: noise for those looked at alone: {}",
                    row.name,
                    words::less_for_those(&less)
                ));
            }
        }
        if self.answered().any(|row| row.coverage.as_ref().is_some_and(Coverage::is_reached)) {
            remarks.push(words::BOUND_REACHED.to_owned());
        }
        remarks.extend(plain::parameters_of(self.with_parameters()));
        remarks.extend(plain::noises_of(self.statements()));
        remarks.extend(plain::changes_of(self.statements()));
        remarks
    }

    /// The protocols that have an answer, with the values of all their parameters.
    fn with_parameters(&self) -> impl Iterator<Item = (&str, &Parameters)> {
        let rows = self.comparison.rows.iter().zip(&self.parameters);
        rows.filter(|(row, _)| row.least.is_ok()).map(|(row, of)| (row.name.as_str(), of))
    }

    /// The statements, each with the name of its protocol: of those that have an answer, or need no noise.
    fn statements(&self) -> impl Iterator<Item = (&str, &Statement)> {
        let rows = self.comparison.rows.iter().filter(|row| row.least.is_ok() || needs_no_noise(row));
        rows.filter_map(|row| Some((row.name.as_str(), row.statement.as_ref()?)))
    }
}

fn grade(row: &Row) -> String {
    row.grade.map_or_else(String::new, |grade| grade.to_string())
}

/// The observers whom a row covers, in a few words.
fn observers(row: &Row) -> String {
    row.coverage.as_ref().map_or_else(String::new, Coverage::in_short)
}
