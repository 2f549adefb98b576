//! GraphML: the nodes and edges of the first graph of a file.

use super::{Format, Found, malformed};
use crate::Error;
use crate::edge_list::Arcs;
use quick_xml::Reader;
use quick_xml::XmlVersion;
use quick_xml::events::{BytesStart, Event};
use std::collections::BTreeMap;
use std::io::{BufRead, Read};

pub(super) fn read(reader: impl BufRead) -> Result<Found, Error> {
    let mut reader = Reader::from_reader(Counted { reader, ends: 0 });
    let mut buffer = Vec::new();
    let mut graph = Graph::default();
    let (mut in_graph, mut in_edge, mut seen) = (false, false, false);
    // The numbers of graphs, and of elements of any kind, that are not closed.
    let (mut graphs, mut open) = (0usize, 0usize);
    loop {
        buffer.clear();
        let event = reader
            .read_event_into(&mut buffer)
            .map_err(|error| malformed(Format::GraphMl, None, format!("is no XML: {error}")))?;
        let line = reader.get_ref().ends + 1;
        let (tag, empty) = match &event {
            Event::Start(tag) => {
                open += 1;
                (tag, false)
            }
            Event::Empty(tag) => (tag, true),
            Event::End(tag) => {
                open = open.saturating_sub(1);
                match tag.local_name().as_ref() {
                    "graph" => {
                        in_graph = false;
                        graphs = graphs.saturating_sub(1);
                    }
                    "edge" => in_edge = false,
                    _ => {}
                }
                continue;
            }
            Event::Eof if 0 < open => {
                return Err(malformed(Format::GraphMl, Some(line), "ends before its last element does"));
            }
            Event::Eof => break,
            _ => continue,
        };
        match tag.local_name().as_ref() {
            "graph" if in_graph => {
                return Err(malformed(Format::GraphMl, None, "has a graph within a graph"));
            }
            "graph" if !seen => {
                (in_graph, seen) = (!empty, true);
                graphs += usize::from(!empty);
                graph.directed = match attribute(tag, "edgedefault")?.as_deref() {
                    Some("directed") => true,
                    Some("undirected") | None => false,
                    Some(other) => {
                        let problem =
                            format!("has edgedefault {other:?}, which is neither directed nor undirected");
                        return Err(malformed(Format::GraphMl, Some(line), problem));
                    }
                };
            }
            "graph" => graphs += usize::from(!empty),
            name @ ("node" | "edge") if graphs == 0 => {
                let problem = format!("has a <{name}> outside of a graph");
                return Err(malformed(Format::GraphMl, Some(line), problem));
            }
            "node" if in_graph => graph.add_node(tag, line)?,
            "edge" if in_graph => {
                graph.add_edge(tag, line)?;
                in_edge = !empty;
            }
            "data" if in_edge => graph.extra = true,
            "hyperedge" if in_graph => {
                return Err(malformed(Format::GraphMl, None, "has an edge of more than two nodes"));
            }
            _ => {}
        }
    }
    if !seen {
        return Err(malformed(Format::GraphMl, None, "has no graph"));
    }
    graph.found()
}

/// The graph as far as it has been read.
#[derive(Default)]
struct Graph {
    /// The nodes by their labels, numbered as they are met.
    numbers: BTreeMap<Box<str>, usize>,
    /// Nodes may come after their edges. For every node that so far only an edge has named: the line of that
    /// edge.
    undeclared: BTreeMap<usize, usize>,
    /// Whether edges are directed that do not say it themselves.
    directed: bool,
    arcs: Vec<(usize, usize)>,
    /// The arcs back of edges that are undirected.
    undirected_arcs: Vec<(usize, usize)>,
    /// Whether edges have data.
    extra: bool,
}

impl Graph {
    fn add_node(&mut self, tag: &BytesStart<'_>, line: usize) -> Result<(), Error> {
        let id = required(tag, "id", line)?;
        let next = self.numbers.len();
        self.undeclared.remove(self.numbers.entry(id).or_insert(next));
        Ok(())
    }

    fn add_edge(&mut self, tag: &BytesStart<'_>, line: usize) -> Result<(), Error> {
        let ends = [required(tag, "source", line)?, required(tag, "target", line)?];
        let [u, v] = ends.map(|id| {
            let next = self.numbers.len();
            *self.numbers.entry(id).or_insert_with(|| {
                self.undeclared.insert(next, line);
                next
            })
        });
        // An edge may say that it is undirected, or directed, whatever the graph says.
        let directed = match attribute(tag, "directed")?.as_deref() {
            None => self.directed,
            Some("true" | "1") => true,
            Some("false" | "0") => false,
            Some(other) => {
                let problem = format!("has an edge with directed {other:?}, which is neither true nor false");
                return Err(malformed(Format::GraphMl, Some(line), problem));
            }
        };
        if !directed {
            self.undirected_arcs.push((v, u));
        }
        self.arcs.push((u, v));
        Ok(())
    }

    /// The arcs and labels, if every node of an edge is a node of the graph.
    fn found(self) -> Result<Found, Error> {
        let Self { numbers, undeclared, mut arcs, undirected_arcs, extra, .. } = self;
        if let Some((&number, &line)) = undeclared.first_key_value() {
            let name = numbers.iter().find_map(|(label, &other)| (other == number).then_some(label));
            let problem = format!("has an edge of {:?}, and no such node", name.map_or("", |name| name));
            return Err(malformed(Format::GraphMl, Some(line), problem));
        }
        arcs.extend(undirected_arcs);
        let mut labels = vec![Box::default(); numbers.len()];
        for (label, number) in numbers {
            labels[number] = label;
        }
        Ok(Found { arcs: Arcs { labels, arcs, extra, weights: None }, directed: Some(true) })
    }
}

fn attribute(tag: &BytesStart<'_>, name: &str) -> Result<Option<String>, Error> {
    let fail =
        |error: &dyn std::fmt::Display| malformed(Format::GraphMl, None, format!("is no XML: {error}"));
    let mut found = None;
    // All of them are read, because one that is given twice is no XML.
    for one in tag.attributes() {
        let one = one.map_err(|error| fail(&error))?;
        if one.key.as_ref() == name {
            let value = one.normalized_value(XmlVersion::Implicit1_0).map_err(|error| fail(&error))?;
            found = Some(value.into_owned());
        }
    }
    Ok(found)
}

fn required(tag: &BytesStart<'_>, name: &str, line: usize) -> Result<Box<str>, Error> {
    let problem = match attribute(tag, name)? {
        Some(value) if value.contains('\0') => "with a NUL byte in its",
        Some(value) if !value.is_empty() => return Ok(value.into()),
        _ => "without",
    };
    let tag = tag.name();
    let tag: &str = tag.as_ref();
    Err(malformed(Format::GraphMl, Some(line), format!("has a <{tag}> {problem} {name}")))
}

/// A reader that counts the line ends in the bytes consumed from it.
struct Counted<R> {
    reader: R,
    ends: usize,
}

impl<R: BufRead> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = self.reader.read(buffer)?;
        self.ends += ends(&buffer[..read]);
        Ok(read)
    }
}

impl<R: BufRead> BufRead for Counted<R> {
    fn fill_buf(&mut self) -> std::io::Result<&[u8]> {
        self.reader.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        // This returns the bytes already in the buffer again, and cannot fail.
        self.ends += self.reader.fill_buf().map_or(0, |buffer| ends(&buffer[..amount.min(buffer.len())]));
        self.reader.consume(amount);
    }
}

fn ends(bytes: &[u8]) -> usize {
    bytes.iter().filter(|&&byte| byte == b'\n').count()
}
