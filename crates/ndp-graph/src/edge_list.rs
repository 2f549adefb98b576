//! Graphs from the text of an edge list: one edge per line, two labels per edge.
//!
//! Reads the files of SNAP (each edge once or in both directions, comments after `#`), KONECT (comments after
//! `%`), tables with commas or tabs and perhaps a header, and lists of arbitrary labels. An edge that is
//! repeated, in either direction, is merged. A line that is not an edge is refused with its line number,
//! unless an option allows it.

mod fields;
mod foreign;

use crate::{Error, Graph};
use fields::{More, NO_NUMBER, detected, fields};
use foreign::foreign;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hasher};
use std::io::{BufRead, Read};

/// What to accept besides plain edges; the default accepts nothing that could be a mistake.
///
/// # Examples
/// ```
/// use ndp_graph::edge_list::{EdgeListOptions, SelfLoops, read_edge_list};
/// let options = EdgeListOptions { self_loops: SelfLoops::Skip, ..EdgeListOptions::default() };
/// assert_eq!(read_edge_list("a b\nb b\n".as_bytes(), options)?.edge_count(), 1);
/// # Ok::<(), ndp_graph::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EdgeListOptions {
    /// Whether the first line is a header.
    pub header: Header,
    /// What separates the fields.
    pub separator: Separator,
    /// How to handle an edge from a node to itself.
    pub self_loops: SelfLoops,
    /// How to handle fields after the second.
    pub extra_fields: ExtraFields,
}

/// Whether the first line that is neither empty nor a comment is a header.
///
/// # Examples
/// ```
/// use ndp_graph::edge_list::{EdgeListOptions, Header, read_edge_list};
/// let options = EdgeListOptions { header: Header::Present, ..EdgeListOptions::default() };
/// assert_eq!(read_edge_list("from to\na b\n".as_bytes(), options)?.node_count(), 2);
/// # Ok::<(), ndp_graph::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Header {
    /// The line is a header if neither of its two fields is an integer and every label below it is.
    #[default]
    Detect,
    /// The line is an edge.
    Absent,
    /// The line is a header and is skipped.
    Present,
}

/// What separates the fields of a line. White space around a field is never part of it.
///
/// # Examples
/// ```
/// use ndp_graph::edge_list::{EdgeListOptions, Separator, read_edge_list};
/// let options = EdgeListOptions { separator: Separator::Comma, ..EdgeListOptions::default() };
/// let graph = read_edge_list("Ann Lee,Bob Ray\n".as_bytes(), options)?;
/// assert_eq!(graph.labels().map(|labels| labels[0].as_str()), Some("Ann Lee"));
/// # Ok::<(), ndp_graph::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Separator {
    /// Commas if the first line has one outside quotation marks; else semicolons if it has one; else tabs if
    /// it has one and a field with a space in it; else white space.
    #[default]
    Detect,
    /// Commas; labels may contain spaces. A field in quotation marks may contain commas, and writes `""` for
    /// a quotation mark.
    Comma,
    /// Semicolons, with quotation marks as for commas.
    Semicolon,
    /// Tabs; labels may contain spaces. Quotation marks as for commas.
    Tab,
    /// Any number of spaces and tabs.
    Whitespace,
}

/// How to handle an edge from a node to itself.
///
/// # Examples
/// ```
/// use ndp_graph::edge_list::{EdgeListOptions, SelfLoops, read_edge_list};
/// assert!(read_edge_list("a a\na b\n".as_bytes(), EdgeListOptions::default()).is_err());
/// let options = EdgeListOptions { self_loops: SelfLoops::Skip, ..EdgeListOptions::default() };
/// assert!(read_edge_list("a a\na b\n".as_bytes(), options).is_ok());
/// # Ok::<(), ndp_graph::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SelfLoops {
    /// It is an error.
    #[default]
    Refuse,
    /// The edge is left out; its node stays.
    Skip,
}

/// How to handle fields after the second, such as weights and times.
///
/// # Examples
/// ```
/// use ndp_graph::edge_list::{EdgeListOptions, ExtraFields, read_edge_list};
/// let options = EdgeListOptions { extra_fields: ExtraFields::Skip, ..EdgeListOptions::default() };
/// assert_eq!(read_edge_list("a b 0.5\n".as_bytes(), options)?.edge_count(), 1);
/// # Ok::<(), ndp_graph::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExtraFields {
    /// They are an error.
    #[default]
    Refuse,
    /// They are left out.
    Skip,
    /// The third field is the weight of the edge, a finite number; further fields are an error. If headers
    /// are detected, a first line whose third field is not a number is a header when the edges below join
    /// integers.
    Weight,
}

/// The graph of an edge list. Its nodes carry the labels of the text, and are in numerical order when every
/// label is an integer, else in the order of their first appearance.
///
/// Empty lines and lines that begin with `#` or `%` are skipped. A byte slice can serve as the reader.
///
/// # Errors
/// [`Error::EdgeListLine`] naming the first line that is not an edge, has more than two fields, is a
/// self-loop, is not UTF-8, has a NUL byte, is longer than 64 KiB or begins a file of DOT, GML or Pajek;
/// [`Error::EdgeListRead`] when the reader fails; [`Error::EmptyGraph`] when there is no edge;
/// [`Error::TooManyNodes`].
///
/// # Examples
/// ```
/// use ndp_graph::edge_list::{EdgeListOptions, read_edge_list};
/// let graph = read_edge_list("# friends\n10 7\n7 10\n7 9\n".as_bytes(), EdgeListOptions::default())?;
/// assert_eq!(graph.labels(), Some(&["7".to_string(), "9".to_string(), "10".to_string()][..]));
/// assert_eq!(graph.edges().collect::<Vec<_>>(), [(0, 1), (0, 2)]);
/// # Ok::<(), ndp_graph::Error>(())
/// ```
pub fn read_edge_list(reader: impl BufRead, options: EdgeListOptions) -> Result<Graph, Error> {
    let Arcs { labels, arcs, .. } = read_arcs(reader, options)?;
    build(labels, arcs)
}

/// The lines of an edge list: labels in order of first appearance, pairs in the order and direction given.
pub(crate) struct Arcs {
    pub(crate) labels: Vec<Box<str>>,
    pub(crate) arcs: Vec<(usize, usize)>,
    /// Whether fields after the second were left out.
    pub(crate) extra: bool,
    /// One weight for each pair, if weights were read.
    pub(crate) weights: Option<Vec<f64>>,
}

pub(crate) fn read_arcs(mut reader: impl BufRead, options: EdgeListOptions) -> Result<Arcs, Error> {
    let mut extra = false;
    let mut numbers = Numbers::default();
    let mut edges: Vec<(usize, usize)> = Vec::new();
    let mut weights = (options.extra_fields == ExtraFields::Weight).then(Vec::new);
    let mut separator = options.separator;
    let mut header: Option<Error> = None;
    let mut header_to_come = options.header == Header::Present;
    let mut first = true;
    let mut buffer = Vec::new();
    for line in 1.. {
        let Some(text) = next_line(&mut reader, &mut buffer, line)? else { break };
        if text.is_empty() || text.starts_with(['#', '%']) {
            continue;
        }
        let refused = |problem| {
            let problem = foreign(text).unwrap_or(problem);
            Error::EdgeListLine { line, problem, text: beginning(text) }
        };
        if std::mem::take(&mut first) && foreign(text).is_some() {
            return Err(refused(""));
        }
        if separator == Separator::Detect {
            separator = detected(text);
        }
        if std::mem::take(&mut header_to_come) {
            continue;
        }
        let (ends, more) = match fields(text, separator, options.extra_fields) {
            Err(NO_NUMBER) if edges.is_empty() && header.is_none() && options.header == Header::Detect => {
                header = Some(refused(NO_NUMBER));
                continue;
            }
            found => found.map_err(refused)?,
        };
        match (&mut weights, more) {
            (Some(weights), More::Weight(weight)) => weights.push(weight),
            _ => extra |= more != More::Nothing,
        }
        if ends[0] == ends[1] && options.self_loops == SelfLoops::Refuse {
            return Err(refused("is an edge from a node to itself"));
        }
        let [u, v] = ends.map(|label| numbers.of(&label));
        edges.push((u, v));
    }
    let mut labels = numbers.labels;
    if let Some(error) = header.filter(|_| labels.iter().any(|label| integer(label).is_none())) {
        return Err(error);
    }
    if options.header == Header::Detect && begins_with_header(&labels, &edges) {
        labels.drain(..2);
        edges.remove(0);
        weights.as_mut().map(|weights| weights.remove(0));
        edges.iter_mut().for_each(|(u, v)| (*u, *v) = (*u - 2, *v - 2));
    }
    Ok(Arcs { labels, arcs: edges, extra, weights })
}

/// Labels, numbered in the order of their first appearance.
#[derive(Default)]
struct Numbers {
    labels: Vec<Box<str>>,
    /// Labels of up to 15 bytes and their numbers, each at the first free slot from its hash on; at most half
    /// of the slots are taken.
    slots: Vec<Option<(u128, usize)>>,
    short: usize,
    long: BTreeMap<Box<str>, usize>,
}

impl Numbers {
    fn of(&mut self, label: &str) -> usize {
        let Some(key) = packed(label) else {
            if let Some(&number) = self.long.get(label) {
                return number;
            }
            let number = self.push(label);
            self.long.insert(label.into(), number);
            return number;
        };
        if 2 * self.short >= self.slots.len() {
            let taken = std::mem::take(&mut self.slots);
            self.slots = vec![None; (2 * taken.len()).max(64)];
            for (key, number) in taken.into_iter().flatten() {
                let slot = self.slot(key);
                self.slots[slot] = Some((key, number));
            }
        }
        let slot = self.slot(key);
        if let Some((_, number)) = self.slots[slot] {
            return number;
        }
        let number = self.push(label);
        self.slots[slot] = Some((key, number));
        self.short += 1;
        number
    }

    fn push(&mut self, label: &str) -> usize {
        self.labels.push(label.into());
        self.labels.len() - 1
    }

    /// The slot of a key, or the free slot where it would go. Half of the slots are free, so the search ends.
    fn slot(&self, key: u128) -> usize {
        let last = self.slots.len() - 1;
        let mut hasher = DefaultHasher::new();
        hasher.write_u128(key);
        // The number of slots is a power of two.
        let mut slot = usize::try_from(hasher.finish() & last as u64).unwrap_or(0);
        while self.slots[slot].is_some_and(|(other, _)| other != key) {
            slot = (slot + 1) & last;
        }
        slot
    }
}

/// A label of up to 15 bytes and its length as one number.
fn packed(label: &str) -> Option<u128> {
    let mut bytes = [0; 16];
    bytes[..15].get_mut(..label.len())?.copy_from_slice(label.as_bytes());
    bytes[15] = u8::try_from(label.len()).ok()?;
    Some(u128::from_le_bytes(bytes))
}

/// The graph of labels in the order of their first appearance, from edges that may repeat or be self-loops.
pub(crate) fn build(labels: Vec<Box<str>>, edges: Vec<(usize, usize)>) -> Result<Graph, Error> {
    Ok(build_ranked(labels, edges)?.0)
}

/// The graph, and the node of every label.
pub(crate) fn build_ranked(
    labels: Vec<Box<str>>,
    mut edges: Vec<(usize, usize)>,
) -> Result<(Graph, Vec<usize>), Error> {
    let values: Option<Vec<i128>> = labels.iter().map(|label| integer(label)).collect();
    let mut order: Vec<usize> = (0..labels.len()).collect();
    if let Some(values) = values {
        order.sort_by_key(|&number| values[number]);
    }
    let mut rank = vec![0; labels.len()];
    for (node, &number) in order.iter().enumerate() {
        rank[number] = node;
    }
    for (u, v) in &mut edges {
        let (a, b) = (rank[*u], rank[*v]);
        (*u, *v) = (a.min(b), a.max(b));
    }
    edges.retain(|(u, v)| u != v);
    edges.sort_unstable();
    edges.dedup();
    let labels = order.iter().map(|&number| String::from(&*labels[number])).collect();
    Ok((Graph::from_edges(order.len(), edges)?.with_labels(labels)?, rank))
}

/// Whether the first two labels, and no others, are not integers, and occur in the first edge only.
fn begins_with_header(labels: &[Box<str>], edges: &[(usize, usize)]) -> bool {
    let odd: Vec<usize> =
        (0..labels.len()).filter(|&number| integer(&labels[number]).is_none()).take(3).collect();
    labels.len() > 2
        && odd == [0, 1]
        && edges.first() == Some(&(0, 1))
        && edges[1..].iter().all(|&(u, v)| u > 1 && v > 1)
}

/// The value of a label that is an integer, however it is written.
fn integer(label: &str) -> Option<i128> {
    label.parse().ok()
}

/// The next line without the white space around it, or `None` at the end.
fn next_line<'a>(
    reader: &mut impl BufRead,
    buffer: &'a mut Vec<u8>,
    line: usize,
) -> Result<Option<&'a str>, Error> {
    buffer.clear();
    let read = reader
        .by_ref()
        .take(MAX_LINE)
        .read_until(b'\n', buffer)
        .map_err(|error| Error::EdgeListRead { line, message: error.to_string() })?;
    if read == 0 {
        return Ok(None);
    }
    let refused = |problem, bytes: &[u8]| {
        let text = beginning(&String::from_utf8_lossy(&bytes[..bytes.len().min(4 * SHOWN)]));
        Error::EdgeListLine { line, problem, text }
    };
    if buffer.contains(&0) {
        return Err(refused("has a NUL byte", buffer));
    }
    if read as u64 == MAX_LINE {
        return Err(refused("is too long", buffer));
    }
    let text = std::str::from_utf8(buffer).map_err(|_| refused("is not UTF-8", buffer))?;
    let text = if line == 1 { text.trim_start_matches('\u{feff}') } else { text };
    Ok(Some(text.trim()))
}

/// The beginning of a line, as an error shows it.
fn beginning(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        None => text.into(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

/// A line of this many bytes is refused: input without line breaks must not fill the memory.
const MAX_LINE: u64 = 1 << 16;

/// Number of characters of a line that an error shows.
const SHOWN: usize = 60;

#[cfg(test)]
mod tests {
    use super::*;

    /// Labels of every length, prefixes of each other, with and without zero bytes, many times over.
    #[test]
    fn labels_are_numbered_as_they_appear() {
        let all: Vec<String> = (0..40)
            .flat_map(|length| ["x".repeat(length), "\0".repeat(length), format!("{length}é")])
            .chain((0..3000).map(|k| (k * k).to_string()))
            .collect();
        let (mut numbers, mut first) = (Numbers::default(), BTreeMap::new());
        for label in all.iter().chain(all.iter().rev()) {
            let next = first.len();
            let expected = *first.entry(label.clone()).or_insert(next);
            assert_eq!(numbers.of(label), expected, "{label:?}");
        }
        assert_eq!(numbers.labels.len(), first.len());
        assert!(first.iter().all(|(label, &number)| *numbers.labels[number] == **label));
    }

    fn read(text: &str) -> Result<Graph, Error> {
        read_edge_list(text.as_bytes(), EdgeListOptions::default())
    }

    fn labels(graph: &Graph) -> Vec<&str> {
        graph.labels().into_iter().flatten().map(String::as_str).collect()
    }

    fn edges(graph: &Graph) -> Vec<(usize, usize)> {
        graph.edges().collect()
    }

    /// The number of the refused line, and the words of the problem.
    fn refusal(text: &str) -> (usize, &'static str, String) {
        match read(text) {
            Err(Error::EdgeListLine { line, problem, text }) => (line, problem, text),
            other => panic!("{other:?}"),
        }
    }

    /// The same triangle with a tail, in the dialects found in practice.
    #[test]
    fn every_dialect_gives_the_same_graph() -> Result<(), Error> {
        let expected = read("1 2\n2 3\n1 3\n3 10\n")?;
        assert_eq!(labels(&expected), ["1", "2", "3", "10"]);
        assert_eq!(edges(&expected), [(0, 1), (0, 2), (1, 2), (2, 3)]);
        for text in [
            "# Undirected graph\n# FromNodeId\tToNodeId\n1\t2\n2\t3\n1\t3\n3\t10\n",
            "1 2\n2 1\n2 3\n3 2\n1 3\n3 1\n3 10\n10 3\n",
            "% sym unweighted\n% 4 4\n1 2\n2 3\n3 1\n10 3",
            "node_1,node_2\n1,2\n2,3\n1,3\n3,10\n",
            "\u{feff}id_1,id_2\r\n1,2\r\n2,3\r\n1,3\r\n3,10\r\n",
            "source target\n10 3\n3 1\n\n2 1\n   \n3 2\n",
            "  1\t 2 \n2   3\n\t1 3\n3\t\t10\n",
            "1, 2\n2 ,3\n 1 , 3\n3,10",
        ] {
            assert_eq!(read(text)?, expected, "{text:?}");
        }
        Ok(())
    }

    #[test]
    fn quotation_marks_and_semicolons() -> Result<(), Error> {
        let quoted = read("\"Jefferson, Evelyn\", E1\n\"Laura \"\"L\"\" M.\",\"E1\"\n\" E2 \" , E1\n")?;
        assert_eq!(labels(&quoted), ["Jefferson, Evelyn", "E1", "Laura \"L\" M.", "E2"]);
        let semicolons = read("von Neumann; \"a;b\"\nx;von Neumann\n")?;
        assert_eq!(labels(&semicolons), ["von Neumann", "a;b", "x"]);
        assert_eq!(refusal("a,b\n\"c,d\n").1, "has a quotation mark that is not closed");
        assert_eq!(refusal("a,b\n\"c\"x,d\n").1, "has text after a closing quotation mark");
        assert_eq!(refusal("a,b\n\"\",d\n").1, "has an empty field");
        // Only a field that begins with a quotation mark is quoted.
        assert_eq!(labels(&read("5\" disk,b\n")?), ["5\" disk", "b"]);
        Ok(())
    }

    #[test]
    fn arbitrary_labels_keep_their_order_of_appearance() -> Result<(), Error> {
        let women = read("Evelyn Jefferson,E1\nLaura Mandeville,E1\nEvelyn Jefferson,E2\n")?;
        assert_eq!(labels(&women), ["Evelyn Jefferson", "E1", "Laura Mandeville", "E2"]);
        assert_eq!(edges(&women), [(0, 1), (0, 3), (1, 2)]);
        let tabs = read("Evelyn Jefferson\tE1\nLaura\tE1\n")?;
        assert_eq!(labels(&tabs), ["Evelyn Jefferson", "E1", "Laura"]);
        let mixed = read("b 7\n7 a\n")?;
        assert_eq!(labels(&mixed), ["b", "7", "a"]);
        Ok(())
    }

    /// Integers of any size and sign are ordered by value; different spellings stay different labels.
    #[test]
    fn integer_labels_are_ordered_by_value() -> Result<(), Error> {
        let huge = "170141183460469231731687303715884105727";
        let graph = read(&format!("{huge} 9\n-5 10\n9 10\n18446744073709551616 007\n7 9\n"))?;
        assert_eq!(labels(&graph), ["-5", "007", "7", "9", "10", "18446744073709551616", huge]);
        // With one digit more it is no longer an integer, and the order is that of first appearance.
        assert_eq!(labels(&read(&format!("{huge}0 9\n5 9\n"))?), [&format!("{huge}0"), "9", "5"]);
        Ok(())
    }

    #[test]
    fn headers_are_told_from_edges() -> Result<(), Error> {
        // Some labels further down are not integers, so the first line is an edge.
        assert_eq!(labels(&read("a b\nb c\n")?), ["a", "b", "c"]);
        assert_eq!(labels(&read("a b\na 5\n6 5\n")?), ["a", "b", "5", "6"]);
        assert_eq!(labels(&read("a 1\n1 2\n")?), ["a", "1", "2"]);
        let with = |header, text: &str| {
            read_edge_list(text.as_bytes(), EdgeListOptions { header, ..Default::default() })
        };
        assert_eq!(labels(&with(Header::Present, "woman,event\nEva,E1\n")?), ["Eva", "E1"]);
        assert_eq!(labels(&with(Header::Present, "# first\n1 2\n3 4\n")?), ["3", "4"]);
        assert_eq!(labels(&with(Header::Absent, "a b\n1 2\n")?), ["a", "b", "1", "2"]);
        assert_eq!(labels(&with(Header::Detect, "a b\n1 2\n")?), ["1", "2"]);
        assert_eq!(with(Header::Present, "a b\n"), Err(Error::EmptyGraph));
        // A header alone cannot be told from an edge.
        assert_eq!(labels(&read("a b\n")?), ["a", "b"]);
        Ok(())
    }

    #[test]
    fn junk_is_named_by_its_line() {
        assert_eq!(refusal("1 2\n\n# x\n3\n"), (4, "has fewer than two fields", "3".into()));
        assert_eq!(refusal("1 2 0.5\n"), (1, "has more than two fields", "1 2 0.5".into()));
        assert_eq!(refusal("1,2\nhello world\n"), (2, "has fewer than two fields", "hello world".into()));
        assert_eq!(refusal("1,2\n,3\n"), (2, "has an empty field", ",3".into()));
        assert_eq!(refusal("1,2\n3,\n"), (2, "has an empty field", "3,".into()));
        assert_eq!(refusal("1 2\n5 5\n"), (2, "is an edge from a node to itself", "5 5".into()));
        let error = read("1 2\n{\"json\": true, 3}\n").unwrap_err();
        assert_eq!(
            error.to_string(),
            "line 2 of the edge list begins a block, as in JSON or DOT, which are not read: write the edges as lines `a b`, or as \
             GraphML: \"{\\\"json\\\": true, 3}\""
        );
        let long = format!("1 2\n{}\n", "é ".repeat(1000));
        assert_eq!(refusal(&long), (2, "has more than two fields", format!("{}…", "é ".repeat(30))));
    }

    #[test]
    fn bytes_that_are_no_text_are_named() {
        let binary: &[u8] = b"1 2\n\xff\xfe 3\n";
        let error = read_edge_list(binary, EdgeListOptions::default()).unwrap_err();
        assert!(matches!(error, Error::EdgeListLine { line: 2, problem: "is not UTF-8", .. }), "{error}");
        // Input without line breaks does not fill the memory.
        let zeros = std::io::BufReader::new(std::io::repeat(b'0'));
        let error = read_edge_list(zeros, EdgeListOptions::default()).unwrap_err();
        assert!(matches!(error, Error::EdgeListLine { line: 1, problem: "is too long", .. }), "{error}");
        let gzip: &[u8] = b"\x1f\x8b\x08\x00\x00";
        let error = read_edge_list(gzip, EdgeListOptions::default()).unwrap_err();
        assert!(matches!(error, Error::EdgeListLine { line: 1, problem: "has a NUL byte", .. }), "{error}");
    }

    #[test]
    fn failing_readers_are_reported() {
        struct Broken;
        impl Read for Broken {
            fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
                Err(std::io::Error::other("disk on fire"))
            }
        }
        let reader = std::io::BufReader::new(b"1 2\n2 3\n".chain(Broken));
        let error = read_edge_list(reader, EdgeListOptions::default()).unwrap_err();
        assert_eq!(error, Error::EdgeListRead { line: 3, message: "disk on fire".into() });
    }

    #[test]
    fn options_allow_self_loops_and_extra_fields() -> Result<(), Error> {
        let options = EdgeListOptions {
            self_loops: SelfLoops::Skip,
            extra_fields: ExtraFields::Skip,
            ..Default::default()
        };
        let graph = read_edge_list("1 2 0.5\n2 2 1\n3 3 9 9\n2 1\n".as_bytes(), options)?;
        assert_eq!(labels(&graph), ["1", "2", "3"]);
        assert_eq!(edges(&graph), [(0, 1)]);
        assert_eq!(graph.component_count(), 2);
        Ok(())
    }

    #[test]
    fn lists_without_edges_are_empty_graphs() {
        for text in ["", "\n\n", "# nothing\n", "\u{feff}"] {
            assert_eq!(read(text), Err(Error::EmptyGraph), "{text:?}");
        }
    }
}
