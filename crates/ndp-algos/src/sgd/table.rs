//! Examples from a text with separated columns, as spreadsheets and databases write it.

use super::dataset::Dataset;
use csv::{ReaderBuilder, StringRecord, Trim};
use ndarray::Array2;
use ndp_account::Error;
use ndp_numeric::rounding::index;
use std::io::{BufRead, Read};
use std::str::FromStr;

/// The separator of the columns of a table.
///
/// # Examples
/// ```
/// use ndp_algos::sgd::table::Separator;
/// assert_eq!(";".parse(), Ok(Separator::Semicolon));
/// assert_eq!("tab".parse(), Ok(Separator::Tab));
/// assert!("|".parse::<Separator>().is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Separator {
    /// `,`
    Comma,
    /// `;`
    Semicolon,
    /// A tab.
    Tab,
}

impl Separator {
    const ALL: [Self; 3] = [Self::Comma, Self::Semicolon, Self::Tab];

    const fn byte(self) -> u8 {
        match self {
            Self::Comma => b',',
            Self::Semicolon => b';',
            Self::Tab => b'\t',
        }
    }
}

impl FromStr for Separator {
    type Err = String;

    /// Reads the sign itself, or its name.
    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "," | "comma" => Ok(Self::Comma),
            ";" | "semicolon" => Ok(Self::Semicolon),
            "\t" | "\\t" | "tab" => Ok(Self::Tab),
            _ => Err(format!("a separator is comma, semicolon or tab, not {text:?}")),
        }
    }
}

/// How a table is read.
///
/// # Examples
/// ```
/// use ndp_algos::sgd::{Table, TableOptions};
/// let text = "name;age;bought\n\"Ray; Ann\";20;no\nBob;50;yes\n";
/// let options = TableOptions { without: vec!["name".into()], ..TableOptions::new("bought") };
/// let table = Table::read(text.as_bytes(), &options)?;
/// assert_eq!(table.data.labels(), [-1.0, 1.0]);
/// assert_eq!(table.classes, Some(["no".into(), "yes".into()]));
/// # Ok::<(), ndp_account::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableOptions {
    /// The name of the column with the label.
    pub label: String,
    /// The names of columns that are not features.
    pub without: Vec<String>,
    /// The separator of columns. `None` takes the one that occurs most often in the first line, among those
    /// with which this line names the label.
    pub separator: Option<Separator>,
}

impl TableOptions {
    /// Options with which all columns but the label are features.
    #[must_use]
    pub fn new(label: &str) -> Self {
        Self { label: label.into(), without: Vec::new(), separator: None }
    }
}

/// Examples as read from a text.
///
/// # Examples
/// ```
/// use ndp_algos::sgd::{Table, TableOptions};
/// let table = Table::read("a,b,y\n1,2,0\n3,4,1\n".as_bytes(), &TableOptions::new("y"))?;
/// assert_eq!((table.data.labels(), table.classes), (&[0.0, 1.0][..], None));
/// # Ok::<(), ndp_account::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// The examples.
    pub data: Dataset,
    /// The two texts of the label that became `-1` and `1`, in alphabetical order; `None` if labels are
    /// numbers.
    pub classes: Option<[String; 2]>,
}

impl Table {
    /// Reads a text whose first line names the columns. Fields may be in quotation marks, which are doubled
    /// inside them. White space around fields is ignored, and empty lines are skipped. Features are numbers.
    /// Labels are numbers, too, or one of two texts.
    ///
    /// # Errors
    /// [`Error::Csv`](crate::Error::Csv) naming the line: no column, or more than one, with a name that is
    /// asked for; a line with another number of columns than the first; a feature that is not a number;
    /// labels of which only some are numbers, or that are more than two different texts, or only one;
    /// [`Error::NotANumber`](crate::Error::NotANumber) naming row and column *of the text* (without the
    /// header) for a NaN or infinite cell, and those of [`Dataset::new`].
    pub fn read(mut text: impl BufRead, options: &TableOptions) -> Result<Self, Error> {
        let at = |line: usize, problem: String| -> Error { crate::Error::Csv { line, problem }.into() };
        let mut first = Vec::new();
        text.read_until(b'\n', &mut first).map_err(|error| at(1, error.to_string()))?;
        let first = first.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&first);
        let separator = options.separator.unwrap_or_else(|| detected(first, &options.label));
        let mut reader = ReaderBuilder::new()
            .delimiter(separator.byte())
            .has_headers(false)
            .flexible(true)
            .trim(Trim::All)
            .from_reader(first.chain(text));
        let mut record = StringRecord::new();
        let mut next = |record: &mut StringRecord| -> Result<Option<usize>, Error> {
            loop {
                let more = reader.read_record(record).map_err(|error| refused(&error))?;
                let line = line_of(record.position());
                // A line with white space only is skipped.
                if !more || record.len() > 1 || record.get(0).is_some_and(|cell| !cell.is_empty()) {
                    return Ok(more.then_some(line));
                }
            }
        };
        let header = next(&mut record)?.ok_or_else(|| at(1, "the file is empty".to_owned()))?;
        let names: Vec<String> = record.iter().map(str::to_owned).collect();
        let column = |name: &str| {
            let mut found = (0..names.len()).filter(|&column| names[column] == name);
            match (found.next(), found.next()) {
                (Some(column), None) => Ok(column),
                (None, _) => {
                    Err(at(header, format!("no column is named '{name}'; there are: {}", names.join(", "))))
                }
                (Some(_), Some(_)) => Err(at(header, format!("more than one column is named '{name}'"))),
            }
        };
        let label = column(&options.label)?;
        let without = options.without.iter().map(|name| column(name)).collect::<Result<Vec<_>, _>>()?;
        let is_feature = |column: usize| column != label && !without.contains(&column);
        let (mut features, mut labels) = (Vec::new(), Labels::default());
        while let Some(line) = next(&mut record)? {
            if record.len() != names.len() {
                return Err(at(line, format!("{} cells where the header has {}", record.len(), names.len())));
            }
            let row = labels.numbers.len();
            for (column, cell) in record.iter().enumerate() {
                if column == label {
                    labels.add(cell, (row, column), line)?;
                } else if is_feature(column) {
                    features.push(number(cell, (row, column)).unwrap_or_else(|| {
                        let point = cell.replace(',', ".").parse::<f64>().is_ok();
                        let hint = if point { ": write decimals with a point" } else { "" };
                        Err(at(
                            line,
                            format!(
                                "column {} ('{}') is no number: '{cell}'{hint}",
                                column + 1,
                                names[column]
                            ),
                        ))
                    })?);
                }
            }
        }
        let rows = labels.numbers.len();
        let columns = (0..names.len()).filter(|&column| is_feature(column)).count();
        let features = Array2::from_shape_vec((rows, columns), features)
            .map_err(|_| at(header, "rows of unequal length".to_owned()))?;
        let (labels, classes) = labels.finish()?;
        Ok(Self { data: Dataset::new(features, labels)?, classes })
    }
}

/// The number in a cell, or `None` if it does not contain one;
/// [`Error::NotANumber`](crate::Error::NotANumber) if it is not finite.
fn number(cell: &str, (row, column): (usize, usize)) -> Option<Result<f64, Error>> {
    let value: f64 = cell.parse().ok()?;
    Some(if value.is_finite() { Ok(value) } else { Err(crate::Error::NotANumber { row, column }.into()) })
}

/// The labels so far: numbers, or the indices of two texts in the order in which they first occurred.
#[derive(Default)]
struct Labels {
    numbers: Vec<f64>,
    /// The texts, each with the line of its first occurrence; empty if labels are numbers.
    texts: Vec<(String, usize)>,
}

impl Labels {
    fn add(&mut self, cell: &str, place: (usize, usize), line: usize) -> Result<(), Error> {
        let refused = |problem: String| Err(crate::Error::Csv { line, problem }.into());
        let found = number(cell, place).transpose()?;
        let (are_texts, are_numbers) =
            (!self.texts.is_empty(), self.texts.is_empty() && !self.numbers.is_empty());
        let value = match found {
            Some(_) if are_texts => {
                return refused(format!("the label '{cell}' is a number, and those above are none"));
            }
            Some(value) => value,
            None if are_numbers => {
                return refused(format!("the label '{cell}' is no number, and those above are"));
            }
            None if cell.is_empty() => return refused("the label is empty".into()),
            None => match self.texts.iter().position(|(text, _)| text == cell) {
                Some(class) => class as f64,
                None if self.texts.len() == 2 => {
                    let [a, b] = [&self.texts[0].0, &self.texts[1].0];
                    return refused(format!(
                        "the label '{cell}' is the third, after '{a}' and '{b}': there can be two"
                    ));
                }
                None => {
                    self.texts.push((cell.to_owned(), line));
                    (self.texts.len() - 1) as f64
                }
            },
        };
        self.numbers.push(value);
        Ok(())
    }

    fn finish(self) -> Result<(Vec<f64>, Option<[String; 2]>), Error> {
        let Self { numbers, texts } = self;
        let [(first, line), rest @ ..] = &texts[..] else { return Ok((numbers, None)) };
        let [(second, _)] = rest else {
            return Err(crate::Error::Csv {
                line: *line,
                problem: format!("all labels are '{first}': there must be two"),
            }
            .into());
        };
        let (first_is, classes) =
            if first < second { (-1.0, [first, second]) } else { (1.0, [second, first]) };
        let labels =
            numbers.into_iter().map(|class| if class == 0.0 { first_is } else { -first_is }).collect();
        Ok((labels, Some(classes.map(Clone::clone))))
    }
}

/// The separator that occurs most often in a first line, among those with which the line names the label or,
/// if there is none, among all.
fn detected(line: &[u8], label: &str) -> Separator {
    let fields = |separator: Separator| -> StringRecord {
        let mut reader = ReaderBuilder::new()
            .delimiter(separator.byte())
            .has_headers(false)
            .trim(Trim::All)
            .from_reader(line);
        reader.records().next().and_then(Result::ok).unwrap_or_default()
    };
    let mut best = (false, 0, Separator::Comma);
    for separator in Separator::ALL {
        let found = fields(separator);
        let (named, count) = (found.iter().any(|name| name == label), found.len());
        if (named, count) > (best.0, best.1) {
            best = (named, count, separator);
        }
    }
    best.2
}

/// The number of a line; the first where the place is not known.
fn line_of(position: Option<&csv::Position>) -> usize {
    position.map_or(1, |position| index(position.line()))
}

fn refused(error: &csv::Error) -> Error {
    let line = line_of(error.position());
    let problem = match error.kind() {
        csv::ErrorKind::Utf8 { .. } => "is not UTF-8 text".to_owned(),
        csv::ErrorKind::Io(error) => error.to_string(),
        _ => error.to_string(),
    };
    crate::Error::Csv { line, problem }.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    fn read(text: &str) -> Result<Table, Error> {
        Table::read(text.as_bytes(), &TableOptions::new("y"))
    }

    #[test]
    fn columns_are_found_by_name_whatever_separates_them() -> Result<(), Error> {
        let expected = array![[1.0, 2.0], [3.0, 4.0]];
        for text in [
            "a,y,b\n1,1,2\r\n\n3,-1,4\n",
            "\u{feff}a;y;b\n1;1;2\n  \n3;-1;4",
            "a\ty\tb\n1\t1\t2\n3\t-1\t4\n",
            "\"a\",\"y\",\"b\"\n\"1\",1,2\n 3 ,\"-1\",4\n",
            // A name may contain a separator.
            "\"income, net\";y;\"b\"\"c\"\n1;1;2\n3;-1;4\n",
            "a,x;y;b,c\n1;1;2\n3;-1;4\n",
        ] {
            let table = read(text)?;
            assert_eq!(
                (table.data.features(), table.data.labels()),
                (expected.view(), &[1.0, -1.0][..]),
                "{text}"
            );
            assert_eq!(table.classes, None);
        }
        let semicolon = TableOptions { separator: Some(Separator::Semicolon), ..TableOptions::new("y") };
        let found = Table::read("a,y\n1,2\n".as_bytes(), &semicolon).unwrap_err().to_string();
        assert!(found.contains("no column is named 'y'; there are: a,y"), "{found}");
        Ok(())
    }

    #[test]
    fn two_texts_are_classes_in_the_order_of_the_alphabet() -> Result<(), Error> {
        for text in ["y,a\nyes,1\nno,2\nyes,3\n", "\"y\";\"a\"\n\"yes\";1\n\"no\";2\n\"yes\";3\n"] {
            let table = read(text)?;
            assert_eq!(table.classes, Some(["no".into(), "yes".into()]));
            assert_eq!(table.data.labels(), [1.0, -1.0, 1.0]);
        }
        let options = TableOptions { without: vec!["name".into()], ..TableOptions::new("y") };
        let table = Table::read("name,y,a\n\"Ray, Ann\",no,1\n\"two\nlines\",yes,2\n".as_bytes(), &options)?;
        assert_eq!(
            (table.data.features(), table.data.labels()),
            (array![[1.0], [2.0]].view(), &[-1.0, 1.0][..])
        );
        Ok(())
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        let csv = |text: &str, line: usize, words: &str| match read(text).unwrap_err().carried() {
            Some(crate::Error::Csv { line: found, problem }) => {
                assert!(*found == line && problem.contains(words), "{text}: line {found}: {problem}");
            }
            _ => panic!("{text}: refused otherwise"),
        };
        csv("", 1, "empty");
        csv("a,b\n1,2\n", 1, "no column is named 'y'; there are: a, b");
        csv("y,y\n1,2\n", 1, "more than one");
        csv("a,y\n1,2\n1,x\n", 3, "no number, and those above are");
        csv("a,y\n1,x\n1,2\n", 3, "is a number, and those above are none");
        csv("a,y\n1,x\n1,y\n1,x\n1,z\n", 5, "'z' is the third, after 'x' and 'y'");
        csv("a,y\n\"1\",x\n", 2, "all labels are 'x'");
        csv("a,y\n1,\n", 2, "the label is empty");
        csv("a,y\nx,1\n", 2, "column 1 ('a') is no number: 'x'");
        csv("a;y\n1,5;1\n", 2, "'1,5': write decimals with a point");
        csv("a,y\n1,2,3\n", 2, "3 cells where the header has 2");
        csv("a,y\n1,2\n\"1,2\n3,4\n", 3, "cells");
        let error = |text: &str| read(text).unwrap_err();
        assert_eq!(error("a,y\n1,2\nNaN,1\n"), crate::Error::NotANumber { row: 1, column: 0 }.into());
        assert_eq!(error("a,y,b\n1,2,3\n4,5,inf\n"), crate::Error::NotANumber { row: 1, column: 2 }.into());
        assert_eq!(error("a,y,b\n1,nan,3\n"), crate::Error::NotANumber { row: 0, column: 1 }.into());
        assert!(error("a,y\n").to_string().contains("at least 1"));
        assert!(error("y\n1\n").to_string().contains("at least 1"));
        let latin = Table::read(&b"a,y\n1,2\n\xe9,1\n"[..], &TableOptions::new("y")).unwrap_err();
        assert!(latin.to_string().starts_with("line 3: is not UTF-8"), "{latin}");
        let options = TableOptions { without: vec!["z".into()], ..TableOptions::new("y") };
        assert!(Table::read("a,y\n1,2\n".as_bytes(), &options).unwrap_err().to_string().contains("'z'"));
    }
}
