//! Tables for the terminal, and files.

use crate::args::Pictures;
use crate::errors::Failure;
use crate::paths::Paths;
use ndp_account::Observer;
use ndp_algos::registry::Parameters;
use ndp_dp::Grade;
use ndp_graph::Graph;
use ndp_report::figure::{Axis, Drawing, Figure, Matrix, Panel, Series};
use ndp_report::files::OutputError;
pub(crate) use ndp_report::harmless::harmless;
use ndp_report::page::Page;
pub(crate) use ndp_report::words::{count, down, noise, number, up};
use ndp_report::{files, layout, plot, stamp};
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::io::{ErrorKind, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether a file output is standard output. Then text for a person goes to standard error.
static TAKEN: AtomicBool = AtomicBool::new(false);
static QUIET: AtomicBool = AtomicBool::new(false);
/// Whether text for a person could not be written.
static UNSAID: AtomicBool = AtomicBool::new(false);

/// Refuses outputs that would destroy an input or one another, before anything is computed.
pub(crate) fn check(paths: &Paths) -> Result<(), Failure> {
    let records: Vec<PathBuf> = paths.recorded.iter().filter_map(|path| record_of(path)).collect();
    let outputs: Vec<&Path> = paths.outputs.iter().chain(&records).map(PathBuf::as_path).collect();
    let inputs: Vec<&Path> = paths.inputs.iter().map(PathBuf::as_path).collect();
    if inputs.iter().filter(|path| path.as_os_str() == "-").count() > 1 {
        return Err(Failure::Usage(
            "standard input can be read once: name one input - and the others by their files".into(),
        ));
    }
    files::check(&inputs, &outputs)?;
    if outputs.iter().any(|path| files::is_standard_output(path)) {
        TAKEN.store(true, Ordering::Relaxed);
    }
    Ok(())
}

/// Prints one line.
pub(crate) fn line(text: &str) -> Result<(), Failure> {
    print(format!("{}\n", harmless(text)).as_bytes())
}

/// Prints text as it is. If the reader closed the pipe, nothing more is printed and the command goes on.
pub(crate) fn print(text: &[u8]) -> Result<(), Failure> {
    if TAKEN.load(Ordering::Relaxed) {
        if !QUIET.load(Ordering::Relaxed) {
            say(text);
        }
        return Ok(());
    }
    let mut output = std::io::stdout().lock();
    match output.write_all(text).and_then(|()| output.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::File("standard output".into(), error))
        }
        _ => Ok(()),
    }
}

/// The same as [`line()`], bold on terminals.
pub(crate) fn heading(text: &str) -> Result<(), Failure> {
    static COLOURS: OnceLock<bool> = OnceLock::new();
    let colours = COLOURS.get_or_init(|| {
        let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        !plain && !TAKEN.load(Ordering::Relaxed) && std::io::stdout().is_terminal()
    });
    if *colours { print(format!("\u{1b}[1m{}\u{1b}[0m\n", harmless(text)).as_bytes()) } else { line(text) }
}

/// Sets whether notes are suppressed.
pub(crate) fn be_quiet(quiet: bool) {
    QUIET.store(quiet, Ordering::Relaxed);
}

/// Prints a note to standard error, unless `--quiet` was given.
pub(crate) fn note(text: &str) {
    if !QUIET.load(Ordering::Relaxed) {
        complain(&format!("note: {text}"));
    }
}

/// Prints one line to standard error.
pub(crate) fn complain(text: &str) {
    say(format!("{}\n", harmless(text)).as_bytes());
}

fn say(text: &[u8]) {
    let written = std::io::stderr().lock().write_all(text);
    if written.is_err_and(|error| error.kind() != ErrorKind::BrokenPipe) {
        UNSAID.store(true, Ordering::Relaxed);
    }
}

/// Whether a note or an answer was lost because standard error could not be written.
pub(crate) fn is_unsaid() -> bool {
    UNSAID.load(Ordering::Relaxed)
}

/// The command that made the answer; if the question was a study, the command line it stands for.
static COMMAND: OnceLock<Vec<String>> = OnceLock::new();

/// Records the command, without the program's name, for every file that is written; only the first call
/// counts.
pub(crate) fn made_by(command: Vec<String>) {
    let _ = COMMAND.set(command);
}

/// The command as one would type it.
pub(crate) fn command_line() -> String {
    let quoted = COMMAND.get().into_iter().flatten().map(|word| {
        let plain = |c: char| c.is_alphanumeric() || "-_./:=,@+%".contains(c);
        if !word.is_empty() && word.chars().all(plain) {
            word.clone()
        } else {
            format!("'{}'", word.replace('\'', "'\\''"))
        }
    });
    std::iter::once("ndp".to_owned()).chain(quoted).collect::<Vec<_>>().join(" ")
}

/// The version, command and seed, as outputs record them.
fn made(seed: u64) -> serde_json::Value {
    serde_json::json!({ "ndp": env!("CARGO_PKG_VERSION"), "command": COMMAND.get(), "seed": seed })
}

/// Writes a file completely or not at all; `-` and devices are written directly.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    unless_unread(files::write(path, bytes))
}

/// Turns a closed pipe into success: its reader has read enough.
pub(crate) fn unless_unread(written: Result<(), OutputError>) -> Result<(), Failure> {
    match written {
        Err(OutputError::Write { source, .. }) if source.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => Ok(written?),
    }
}

/// The file beside an output that records what made it; `None` if the output is no file.
fn record_of(path: &Path) -> Option<PathBuf> {
    files::beside(path, ".run.json")
}

/// Bytes as hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Writes a file, and beside it a record of what made it, with the hash of the file: where several processes
/// write to one path, the two may be of different ones.
fn write_with_record(path: &Path, bytes: &[u8], seed: u64) -> Result<(), Failure> {
    write(path, bytes)?;
    let Some(record) = record_of(path) else { return Ok(()) };
    let mut made = made(seed);
    made["sha256"] = hex(&Sha256::digest(bytes)).into();
    write(&record, format!("{made:#}\n").as_bytes())
}

/// Columns of text, the first left-aligned, the others right.
pub(crate) fn table(header: &[&str], rows: &[Vec<String>]) -> Result<(), Failure> {
    let mut widths: Vec<usize> = header.iter().map(|cell| cell.chars().count()).collect();
    let rows: Vec<Vec<Cow<'_, str>>> =
        rows.iter().map(|row| row.iter().map(|cell| harmless(cell)).collect()).collect();
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let print = |cells: &mut dyn Iterator<Item = &str>| {
        let cells: Vec<String> = cells
            .zip(&widths)
            .enumerate()
            .map(
                |(i, (cell, &width))| {
                    if i == 0 { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
                },
            )
            .collect();
        line(cells.join("  ").trim_end())
    };
    print(&mut header.iter().copied())?;
    for row in &rows {
        print(&mut row.iter().map(Cow::as_ref))?;
    }
    Ok(())
}

/// Writes rows as CSV.
pub(crate) fn csv(path: &Path, seed: u64, header: &[&str], rows: &[Vec<String>]) -> Result<(), Failure> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let failed = |error: csv::Error| Failure::Refused(error.to_string());
    writer.write_record(header).map_err(failed)?;
    for row in rows {
        writer.write_record(row).map_err(failed)?;
    }
    let bytes = writer.into_inner().map_err(|error| Failure::Refused(error.to_string()))?;
    write_with_record(path, &bytes, seed)
}

/// The array as a file of NumPy: 64-bit floats, little-endian, row after row.
fn npy_bytes(array: ndarray::ArrayView2<'_, f64>) -> Vec<u8> {
    let (rows, columns) = array.dim();
    let mut header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({rows}, {columns}), }}");
    // Magic, version and length take 10 bytes; the whole is a multiple of 64 and ends with a line feed.
    while (10 + header.len() + 1) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let mut bytes = b"\x93NUMPY".to_vec();
    bytes.extend([1, 0]);
    bytes.extend(u16::try_from(header.len()).unwrap_or(u16::MAX).to_le_bytes());
    bytes.extend(header.as_bytes());
    for value in array {
        bytes.extend(value.to_le_bytes());
    }
    bytes
}

/// Writes an array as a file of NumPy.
pub(crate) fn npy(path: &Path, seed: u64, values: ndarray::ArrayView2<'_, f64>) -> Result<(), Failure> {
    write_with_record(path, &npy_bytes(values), seed)
}

/// Writes a page.
pub(crate) fn page(path: &Path, page: &Page) -> Result<(), Failure> {
    write(path, page.finish().as_bytes())
}

/// Writes a value as JSON, together with a record of what made it.
pub(crate) fn json(path: &Path, seed: u64, body: serde_json::Value) -> Result<(), Failure> {
    let mut document = made(seed);
    document["version"] = 1.into();
    document["result"] = body;
    let text =
        serde_json::to_string_pretty(&document).map_err(|error| Failure::Refused(error.to_string()))?;
    write(path, format!("{text}\n").as_bytes())
}

impl Pictures {
    /// Whether any picture was asked for.
    pub(crate) const fn any(&self) -> bool {
        self.png.is_some() || self.svg.is_some() || self.report.is_some()
    }
}

/// A number as JSON; infinity becomes the text "inf", because JSON has no infinity.
pub(crate) fn finite(x: f64) -> serde_json::Value {
    if x.is_finite() { serde_json::json!(x) } else { serde_json::json!("inf") }
}

/// The values of parameters as JSON.
pub(crate) fn parameters(all: &Parameters) -> serde_json::Value {
    all.0.iter().map(|(name, &value)| (name.clone(), finite(value))).collect()
}

/// Draws a figure into the files that were asked for, and returns its SVG for the page.
pub(crate) fn pictures(asked: &Pictures, seed: u64, figure: &Figure) -> Result<String, Failure> {
    figure.validate().map_err(OutputError::Malformed)?;
    let picture = plot::draw(figure).map_err(OutputError::Malformed)?;
    let made = made(seed).to_string();
    if let Some(path) = &asked.png {
        write(path, &stamp::png(&picture.png, "Comment", &made))?;
    }
    if let Some(path) = &asked.svg {
        write(path, stamp::svg(&picture.svg, &made).as_bytes())?;
    }
    Ok(picture.svg)
}

/// The curve of values in descending order over the share of them that is reached, in at most about 400
/// points. Infinite values count like all others; the last of them and the largest finite one are always
/// points.
pub(crate) fn largest_first(sorted: &[f64]) -> Vec<(f64, f64)> {
    let infinite = sorted.partition_point(|&value| value == f64::INFINITY);
    let stride = sorted.len().div_ceil(400).max(1);
    let mut shown: Vec<usize> = (0..infinite).step_by(stride).collect();
    shown.extend(infinite.checked_sub(1));
    shown.dedup();
    shown.extend((infinite..sorted.len()).step_by(stride));
    shown.into_iter().map(|at| ((at + 1) as f64 / sorted.len() as f64, sorted[at])).collect()
}

/// The `title` of a picture, which also says how many of the known values are infinite, if any: "5 of 58
/// pairs: no bound".
pub(crate) fn with_infinite(title: &str, values: impl Iterator<Item = f64>, what: &str) -> String {
    let known: Vec<f64> = values.filter(|value| !value.is_nan()).collect();
    match known.iter().filter(|&&value| value == f64::INFINITY).count() {
        0 => title.to_owned(),
        infinite => format!("{title}; {infinite} of {} {what}: no bound", known.len()),
    }
}

/// A heat map, or curves of sorted losses where there are too many nodes or observers for one.
pub(crate) fn losses(
    title: &str,
    what: &str,
    grade: Grade,
    names: &[String],
    values: ndarray::Array2<f64>,
) -> Figure {
    let figure = Figure::new(title);
    if values.nrows() == values.ncols() && values.nrows() <= MAX_MAP {
        let names: Vec<String> = names.iter().map(|name| short(name)).collect();
        let title = with_infinite("row: whose data, column: who learns", values.iter().copied(), "pairs");
        let matrix = Matrix::new(what, grade, values).named(&names);
        return figure.panel(Panel::heat_map(title, Axis::linear(what), matrix));
    }
    let mut sorted: Vec<f64> = values.iter().copied().filter(|x| !x.is_nan()).collect();
    sorted.sort_by(|a, b| b.total_cmp(a));
    let title = with_infinite("largest first", sorted.iter().copied(), "pairs");
    let series = Series::new("pairs", grade).points(largest_first(&sorted));
    figure.panel(Panel::curves(title, Axis::linear("share of pairs"), Axis::linear(what)).with(series))
}

/// The graph with every node coloured by what one observer learns about it; members of the observer have no
/// colour.
pub(crate) fn drawing(
    title: &str,
    what: &str,
    grade: Grade,
    graph: &Graph,
    observer: &Observer,
    values: Vec<f64>,
) -> Figure {
    let positions = layout::positions(graph);
    let marked = with_infinite("the observer is marked", values.iter().copied(), "nodes");
    let mut drawing = Drawing::new(what, grade, graph, positions, values);
    for &v in observer.members() {
        drawing = drawing.mark(v);
    }
    Figure::new(title).panel(Panel::drawing(marked, Axis::linear(what), drawing))
}

/// Graphs up to this size are drawn.
pub(crate) const MAX_DRAWING: usize = 600;

const MAX_MAP: usize = 400;

/// Names that fit beside a map.
fn short(name: &str) -> String {
    let name = harmless(name);
    if name.chars().count() <= 9 { name.into_owned() } else { name.chars().take(8).chain(['…']).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Shares are of all known pairs, of which infinite losses are the first, and the panel says how many
    /// there are.
    #[test]
    fn infinite_losses_are_in_the_pictures() {
        let (inf, nan) = (f64::INFINITY, f64::NAN);
        let names: Vec<String> = ["a", "b", "c"].map(str::to_owned).to_vec();
        let values = ndarray::arr2(&[[nan, 0.5], [inf, nan], [0.0, inf]]);
        let curve = losses("t", "loss", Grade::Exact, &names, values.clone());
        assert_eq!(curve.panels[0].title, "largest first; 2 of 4 pairs: no bound");
        let points: Vec<(f64, f64)> =
            curve.panels[0].series()[0].points.iter().map(|point| (point.x, point.y)).collect();
        assert_eq!(points, [(0.25, inf), (0.5, inf), (0.75, 0.5), (1.0, 0.0)]);
        let square =
            losses("t", "loss", Grade::Exact, &names[..2], values.slice(ndarray::s![..2, ..]).into_owned());
        assert_eq!(square.panels[0].title, "row: whose data, column: who learns; 1 of 2 pairs: no bound");
        let graph = ndp_graph::generators::path_graph(3).unwrap();
        let of = |values: [f64; 3]| {
            let figure = drawing("t", "loss", Grade::Exact, &graph, &Observer::node(0), values.to_vec());
            figure.panels[0].title.clone()
        };
        assert_eq!(of([nan, inf, 0.0]), "the observer is marked; 1 of 2 nodes: no bound");
        assert_eq!(of([nan, 1.0, 0.0]), "the observer is marked");
    }

    /// However many losses there are, the first and the last infinite one and the largest finite one are
    /// points of the curve.
    #[test]
    fn long_curves_keep_their_largest_losses() {
        for infinite in [0, 1, 2, 7, 1000, 3000] {
            let sorted: Vec<f64> =
                (0..3000).map(|k| if k < infinite { f64::INFINITY } else { f64::from(4000 - k) }).collect();
            let shown = largest_first(&sorted);
            assert!(shown.len() <= 402 && shown.is_sorted_by(|p, q| p.0 < q.0), "{infinite}");
            for at in [0, infinite - 1, infinite].into_iter().filter(|&at| (0..3000).contains(&at)) {
                let expected = (f64::from(at + 1) / 3000.0, sorted[at as usize]);
                assert!(shown.contains(&expected), "{infinite} infinite: {expected:?}");
            }
        }
    }

    /// Losses are shown rounded up and remaining budgets rounded down, by at most one unit of the last digit.
    #[test]
    fn numbers_are_rounded_outward() {
        let mut x = 1.234_567_891e-9;
        while x < 1e9 {
            for x in [x, x * (1.0 + f64::EPSILON), 1.0 - x.min(0.5)] {
                let (high, low) = (up(x).parse::<f64>().unwrap(), down(x).parse::<f64>().unwrap());
                assert!(low <= x && x <= high, "{low} {x} {high}");
                assert!(high - low <= (1.1e-5_f64).max(1.1e-4 * x).min(2e-2 * x), "{low} {x} {high}");
            }
            x *= 1.7;
        }
        for exact in ["0", "1.00000", "0.50000", "-0.25000", "1.2500e5", "inf"] {
            let x: f64 = exact.parse().unwrap();
            assert_eq!((up(x), down(x)), (exact.to_owned(), exact.to_owned()));
        }
        assert_eq!(up(1.0f64.next_up()), "1.00001");
        assert_eq!(
            (count(37700.0), count(1.4213e9), count(0.5)),
            ("37700".into(), "1421300000".into(), "0.50000".into())
        );
    }
}
