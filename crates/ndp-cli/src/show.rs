//! The last of three steps: a study says what is asked, an answer what was found, and this module shows the
//! answer. An answer is plain data, and showing it computes nothing more.

use crate::args::{Files, Pictures};
use crate::errors::Failure;
use crate::output::{self, csv, finite, harmless, heading, line, page, pictures, table, up};
use ndp_account::Statement;
use ndp_dp::Grade;
use ndp_report::figure::Figure;
use ndp_report::page::Page;
use ndp_report::words;
use serde_json::{Value, json};

/// A piece of what the terminal shows.
pub(crate) enum Part<'a> {
    Heading(String),
    Line(String),
    /// A title, and rows of a name and a value.
    Summary(String, Vec<(&'a str, String)>),
    Table(Vec<&'a str>, Vec<Vec<String>>),
}

/// The names of columns as tables show them; the error of a result is a bound.
pub(crate) fn columns<'a>(header: &[&'a str]) -> Vec<&'a str> {
    header.iter().map(|name| if *name == "error" { "error at most" } else { name }).collect()
}

impl Part<'_> {
    pub(crate) fn empty() -> Self {
        Self::Line(String::new())
    }

    /// The worst pairs of a list: exposed node, observer, hops between them, loss.
    pub(crate) fn worst(pairs: &[Exposed], what: &'static str, count: usize) -> Self {
        Self::Table(vec!["exposed", "observer", "hops", what], worst(pairs, count))
    }

    /// Prints this part on the terminal.
    pub(crate) fn print(&self) -> Result<(), Failure> {
        match self {
            Self::Heading(text) => heading(text),
            Self::Line(text) => line(text),
            Self::Summary(title, rows) => summary(title, rows),
            Self::Table(header, rows) => table(header, rows),
        }
    }
}

/// All numbers, as the CSV writes them.
pub(crate) struct Sheet {
    pub(crate) header: Vec<&'static str>,
    pub(crate) rows: Vec<Vec<String>>,
}

/// An answer, in every form in which it can be shown.
pub(crate) trait Answer {
    /// What the terminal shows.
    fn text(&self) -> Vec<Part<'_>>;

    /// All numbers, as a table.
    fn sheet(&self) -> Sheet;

    /// All numbers, as data.
    fn data(&self) -> Result<serde_json::Value, Failure>;
}

/// An answer with a figure, and with a page for the person who answers for the data.
pub(crate) trait Drawn: Answer {
    /// The picture.
    fn figure(&self) -> Figure;

    /// The page, with the picture in it.
    fn page(&self, svg: &str) -> Page;
}

/// Prints the answer and writes its numbers into the files that were asked for.
pub(crate) fn show(answer: &impl Answer, files: &Files, seed: u64) -> Result<(), Failure> {
    print(&answer.text())?;
    if let Some(path) = &files.csv {
        let Sheet { header, rows } = answer.sheet();
        csv(path, seed, &header, &rows)?;
    }
    if let Some(path) = &files.json {
        output::json(path, seed, answer.data()?)?;
    }
    Ok(())
}

/// Prints the parts on the terminal.
pub(crate) fn print(parts: &[Part<'_>]) -> Result<(), Failure> {
    parts.iter().try_for_each(Part::print)
}

/// Draws the answer into the files that were asked for, and writes its page.
pub(crate) fn draw(answer: &impl Drawn, asked: &Pictures, seed: u64) -> Result<(), Failure> {
    if !asked.any() {
        return Ok(());
    }
    let svg = pictures(asked, seed, &answer.figure())?;
    asked.report.as_ref().map_or(Ok(()), |path| page(path, &answer.page(&svg)))
}

/// A node, who observes it, the hops between them, and the loss.
pub(crate) type Exposed = (String, String, Option<u32>, f64);

/// The worst pairs of a list, row by row.
pub(crate) fn worst(pairs: &[Exposed], count: usize) -> Vec<Vec<String>> {
    let mut sorted: Vec<&Exposed> = pairs.iter().collect();
    sorted.sort_by(|a, b| b.3.total_cmp(&a.3));
    let row = |(u, v, hops, loss): &&Exposed| {
        let hops = hops.map_or_else(|| "-".into(), |hops| hops.to_string());
        vec![u.clone(), v.clone(), hops, up(*loss)]
    };
    sorted.iter().take(count).map(row).collect()
}

/// The table of all pairs, each with its grade; `what` is the name of the loss.
pub(crate) fn sheet_of_pairs(
    what: &'static str,
    pairs: impl Iterator<Item = (Exposed, Grade)>,
    statement: Option<&Statement>,
) -> Sheet {
    let coverage = statement.map(|about| about.coverage.in_short()).unwrap_or_default();
    let by = statement.map(words::by).unwrap_or_default();
    let row = |((u, v, hops, loss), grade): (Exposed, Grade)| {
        let hops = hops.map_or_else(String::new, |hops| hops.to_string());
        vec![u, v, hops, grade.to_string(), loss.to_string(), coverage.clone(), by.clone()]
    };
    Sheet {
        header: vec!["source", "observer", "hops", "grade", what, "observers", "by"],
        rows: pairs.map(row).collect(),
    }
}

/// The same pairs as JSON.
pub(crate) fn data_of_pairs(what: &str, pairs: impl Iterator<Item = (Exposed, Grade)>) -> Vec<Value> {
    let pair = |((u, v, hops, loss), grade): (Exposed, Grade)| {
        let loss = json!({ "grade": grade, "value": finite(loss) });
        json!({ "source": u, "observer": v, "hops": hops, what: loss })
    };
    pairs.map(pair).collect()
}

/// Names and values below a title.
fn summary(title: &str, rows: &[(&str, String)]) -> Result<(), Failure> {
    heading(title)?;
    let rows: Vec<Vec<String>> =
        rows.iter().map(|(name, value)| vec![format!("  {name}"), harmless(value).into_owned()]).collect();
    let width = rows.iter().map(|row| row[0].chars().count()).max().unwrap_or(0);
    for row in rows {
        line(&format!("{:<width$}  {}", row[0], row[1]))?;
    }
    Ok(())
}
