//! What data sets that are one graph have in common: shape and hash, parsing, the stand-in.

use super::archive::read;
use super::edges::edges;
use super::{Data, DataError, Loaded, hash_lines, provenance};
use ndp_graph::Graph;
use ndp_graph::edge_list::{EdgeListOptions, Header, SelfLoops, Separator};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use std::collections::BTreeSet;
use std::path::Path;

/// Shape and content hash of a network, and how its file lists the edges.
pub(super) struct Network {
    pub(super) nodes: usize,
    pub(super) edges: usize,
    /// Hash of the lines `u v` of the edges by their ids, with the smaller id first, in ascending order.
    pub(super) sha256: &'static str,
    pub(super) options: EdgeListOptions,
}

impl Network {
    /// A list of pairs of ids, each edge in both directions or in one.
    pub(super) const fn of_pairs(nodes: usize, edges: usize, sha256: &'static str) -> Self {
        Self { nodes, edges, sha256, options: PAIRS }
    }

    /// The network from the first of `files` that some folder has, or its stand-in, drawn from `seed`.
    pub(super) fn load(
        &self,
        data: &Data,
        name: &str,
        files: &[String],
        seed: u64,
    ) -> Result<Loaded<Graph>, DataError> {
        match data.find(files) {
            Some(path) => self.real(name, &path, &read(&path)?),
            None => self.stand_in(name, seed),
        }
    }

    /// The network in `text`, which came from `path`, if its content is that of this network.
    pub(super) fn real(&self, name: &str, path: &Path, text: &[u8]) -> Result<Loaded<Graph>, DataError> {
        let value = edges(text, self.options, path)?;
        let source = provenance(name, Some(path), hash(&value), self.sha256)?;
        Ok(Loaded { value, source })
    }

    /// A connected graph with the same numbers of nodes and edges, in loose groups; it is always the same.
    pub(super) fn stand_in(&self, name: &str, seed: u64) -> Result<Loaded<Graph>, DataError> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let n = self.nodes as u64;
        let mut pairs: BTreeSet<(u64, u64)> = (1..n).map(|v| (rng.random_range(0..v), v)).collect();
        let group = (n / 12).max(2);
        while pairs.len() < self.edges {
            let u = rng.random_range(0..n);
            // Most friendships are within a group; groups alone could not contain all the edges.
            let v = if rng.random_bool(0.7) {
                u / group * group + rng.random_range(0..group)
            } else {
                rng.random_range(0..n)
            };
            if v < n && u != v {
                pairs.insert((u.min(v), u.max(v)));
            }
        }
        let node = |u| usize::try_from(u).unwrap_or(usize::MAX);
        let edges = pairs.iter().map(|&(u, v)| (node(u), node(v)));
        let labels = (0..self.nodes).map(|v| v.to_string()).collect();
        let value = Graph::from_edges(self.nodes, edges)?.with_labels(labels)?;
        let source = provenance(name, None, hash(&value), self.sha256)?;
        Ok(Loaded { value, source })
    }
}

/// The hash of the edges `u v` by their ids, the smaller id first, ascending.
pub(super) fn hash(graph: &Graph) -> String {
    let id = |v: usize| graph.labels().map_or_else(|| v.to_string(), |labels| labels[v].clone());
    hash_lines(graph.edges().map(|(u, v)| format!("{} {}", id(u), id(v))))
}

/// Pairs of ids separated by white space; repeats and loops are left out.
pub(super) const PAIRS: EdgeListOptions = EdgeListOptions {
    header: Header::Absent,
    separator: Separator::Whitespace,
    self_loops: SelfLoops::Skip,
    extra_fields: ndp_graph::edge_list::ExtraFields::Refuse,
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_directions_repeats_and_loops_give_one_edge() -> Result<(), DataError> {
        let text = "# comment\n10 2\n2 10\n\n3 3\n2 3\r\n";
        let graph = edges(text.as_bytes(), PAIRS, Path::new("t"))?;
        assert_eq!(graph.labels(), Some(&["2", "3", "10"].map(String::from)[..]));
        assert_eq!(graph.edges().collect::<Vec<_>>(), [(0, 1), (0, 2)]);
        assert_eq!(hash(&graph), hash_lines(["2 3", "2 10"].into_iter().map(String::from)));
        Ok(())
    }

    #[test]
    fn junk_is_named_with_its_line() {
        for (text, line) in [("1 2\n1 2 3\n", 2), ("1\n", 1), ("1 2\n\n4\n", 3)] {
            let error = edges(text.as_bytes(), PAIRS, Path::new("t")).unwrap_err().to_string();
            assert!(error.starts_with(&format!("t: line {line} of the edge list")), "{error}");
        }
    }
}
