//! The Facebook ego networks of SNAP.
//!
//! McAuley, Leskovec, *Learning to Discover Social Circles in Ego Networks*, NIPS 2012.

use super::archive::{read, tar_member};
use super::edges::edges;
use super::{Data, DataError, Loaded, hash_lines, provenance};
use ndp_graph::Graph;
use ndp_graph::edge_list::{EdgeListOptions, Header, SelfLoops, Separator};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use std::collections::BTreeSet;
use std::path::Path;

/// The ten egos, in the order of the data set's page.
pub const EGOS: [u32; 10] = [0, 107, 348, 414, 686, 698, 1684, 1912, 3437, 3980];

/// The official archive.
pub(super) const ARCHIVES: [&str; 3] = ["facebook.tar.gz", "facebook/facebook.tar.gz", "facebook.tar"];

/// Where the unpacked network of an ego may be.
pub(super) fn ego_names(ego: u32) -> [String; 2] {
    [format!("facebook/{ego}.edges"), format!("{ego}.edges")]
}

/// Shape and content hash of a network.
struct Network {
    nodes: usize,
    edges: usize,
    sha256: &'static str,
}

pub(super) fn load_ego(data: &Data, ego: u32) -> Result<Loaded<Graph>, DataError> {
    let network =
        EGOS.iter().position(|&e| e == ego).map(|i| &NETWORKS[i]).ok_or(DataError::NoSuchEgo(ego))?;
    let file = format!("{ego}.edges");
    let name = format!("facebook ego {ego}");
    if let Some(path) = data.find(&ego_names(ego)) {
        return real(&name, &path, &read(&path)?, network);
    }
    if let Some(path) = data.find(&ARCHIVES.map(String::from)) {
        let archive = read(&path)?;
        let member = tar_member(&archive, &file).ok_or_else(|| DataError::Read {
            path: path.clone(),
            source: std::io::Error::new(std::io::ErrorKind::NotFound, format!("no member {file}")),
        })?;
        return real(&name, &path, member, network);
    }
    stand_in(&name, network, u64::from(ego))
}

pub(super) fn load_combined(data: &Data) -> Result<Loaded<Graph>, DataError> {
    let name = "facebook combined";
    let names = ["facebook/facebook_combined.txt.gz", "facebook_combined.txt.gz", "facebook_combined.txt"]
        .map(String::from);
    match data.find(&names) {
        Some(path) => real(name, &path, &read(&path)?, &COMBINED),
        None => stand_in(name, &COMBINED, u64::MAX),
    }
}

fn real(name: &str, path: &Path, text: &[u8], network: &Network) -> Result<Loaded<Graph>, DataError> {
    let value = parse(text, path)?;
    let source = provenance(name, Some(path), hash(&value), network.sha256)?;
    Ok(Loaded { value, source })
}

/// The graph of a list that gives each edge in both directions or in one, its nodes in the order of their ids.
fn parse(text: &[u8], path: &Path) -> Result<Graph, DataError> {
    let options = EdgeListOptions {
        header: Header::Absent,
        separator: Separator::Whitespace,
        self_loops: SelfLoops::Skip,
        ..EdgeListOptions::default()
    };
    edges(text, options, path)
}

/// The hash of the edges `u v` by their ids, the smaller id first, ascending.
fn hash(graph: &Graph) -> String {
    let id = |v: usize| graph.labels().map_or_else(|| v.to_string(), |labels| labels[v].clone());
    hash_lines(graph.edges().map(|(u, v)| format!("{} {}", id(u), id(v))))
}

/// A connected graph with as many nodes and edges, in loose groups, always the same.
fn stand_in(name: &str, network: &Network, number: u64) -> Result<Loaded<Graph>, DataError> {
    let mut rng = ChaCha8Rng::seed_from_u64(number);
    let n = network.nodes as u64;
    let mut pairs: BTreeSet<(u64, u64)> = (1..n).map(|v| (rng.random_range(0..v), v)).collect();
    let group = (n / 12).max(2);
    while pairs.len() < network.edges {
        let u = rng.random_range(0..n);
        // Most friendships stay in the group; a group alone could not hold all the edges.
        let v = if rng.random_bool(0.7) {
            u / group * group + rng.random_range(0..group)
        } else {
            rng.random_range(0..n)
        };
        if v < n && u != v {
            pairs.insert((u.min(v), u.max(v)));
        }
    }
    let edges = pairs.iter().map(|&(u, v)| (u as usize, v as usize));
    let labels = (0..network.nodes).map(|v| v.to_string()).collect();
    let value = Graph::from_edges(network.nodes, edges)?.with_labels(labels)?;
    let source = provenance(name, None, hash(&value), network.sha256)?;
    Ok(Loaded { value, source })
}

const fn network(nodes: usize, edges: usize, sha256: &'static str) -> Network {
    Network { nodes, edges, sha256 }
}

/// In the order of [`EGOS`].
const NETWORKS: [Network; 10] = [
    network(333, 2519, "2b9ca24e03600a0cb199ffe6680b9c19829237f70d4411985e1b226403299d29"),
    network(1034, 26749, "e2cdd068c7e559c2cad775de188d2b8f65fd2a892e34a89442944eb0f505f76d"),
    network(224, 3192, "ba4ac14b1b7c6e5321a7b5ba9d98fc7cf2e7d86dcdb6286c9b9ce223308a5822"),
    network(150, 1693, "de93806b5aff2ad6dcee7158aab6fa16393bc190f2442d9c75528a77e74be7da"),
    network(168, 1656, "057ceef4eec08209bbc1aab0f3735bcca2331cbe69ffa12107926fd16611d63c"),
    network(61, 270, "9bda7429cc6495cb1e774c064efe43241162adc72a75d35fbbb51236e0ccd76f"),
    network(786, 14024, "8c7d19775f0f16f38ad7e36e10f4acc13a9b2d14fc929705a36451ac6a92690f"),
    network(747, 30025, "8536a1fe9cafa58c0ed7a9ec2522080c0b65f3cda40f3fa099f33d446e65c05b"),
    network(534, 4813, "7753a773d46a52fcb54c98e0f2edcab14f45b6b2ff75fa6aa213f407fc742d05"),
    network(52, 146, "45dd882b9baebca7338444e730e84770fec78db21d5540ff30b1628ffde0536e"),
];

const COMBINED: Network =
    network(4039, 88234, "f41c026ed8af3cc3359f1ca5573d0605fb09ae0eefa34544b820fd8c6e2ef296");

#[cfg(test)]
mod tests {
    use super::super::archive::tests::tar;
    use super::*;

    #[test]
    fn both_directions_repeats_and_loops_give_one_edge() -> Result<(), DataError> {
        let text = "# comment\n10 2\n2 10\n\n3 3\n2 3\r\n";
        let graph = parse(text.as_bytes(), Path::new("t"))?;
        assert_eq!(graph.labels(), Some(&["2", "3", "10"].map(String::from)[..]));
        assert_eq!(graph.edges().collect::<Vec<_>>(), [(0, 1), (0, 2)]);
        assert_eq!(hash(&graph), hash_lines(["2 3", "2 10"].into_iter().map(String::from)));
        Ok(())
    }

    #[test]
    fn junk_is_named_with_its_line() {
        for (text, line) in [("1 2\n1 2 3\n", 2), ("1\n", 1), ("1 2\n\n4\n", 3)] {
            let error = parse(text.as_bytes(), Path::new("t")).unwrap_err().to_string();
            assert!(error.starts_with(&format!("t: line {line} of the edge list")), "{error}");
        }
    }

    #[test]
    fn stand_ins_have_the_shape_of_the_data_and_say_so() -> Result<(), DataError> {
        for (ego, network) in EGOS.into_iter().zip(&NETWORKS) {
            let loaded = Data::stand_ins().ego(ego)?;
            assert_eq!(loaded.value.node_count(), network.nodes);
            assert_eq!(loaded.value.edge_count(), network.edges);
            assert!(loaded.value.is_connected());
            assert!(!loaded.source.real);
            assert_eq!(loaded, Data::stand_ins().ego(ego)?);
        }
        assert!(matches!(Data::stand_ins().ego(1), Err(DataError::NoSuchEgo(1))));
        Ok(())
    }

    #[test]
    fn other_content_is_refused_from_a_file_and_from_the_archive() -> Result<(), std::io::Error> {
        let folder = crate::testing::folder("facebook-wrong");
        std::fs::write(folder.join("0.edges"), "1 2\n2 1\n")?;
        assert!(matches!(Data::only(&folder).ego(0), Err(DataError::WrongContent { .. })));
        std::fs::write(folder.join("facebook.tar"), tar(&[("facebook/107.edges", b"1 2\n")]))?;
        assert!(matches!(Data::only(&folder).ego(107), Err(DataError::WrongContent { .. })));
        assert!(matches!(Data::only(&folder).ego(348), Err(DataError::Read { .. })));
        std::fs::write(folder.join("facebook_combined.txt.gz"), b"\x1f\x8bnot compressed")?;
        assert!(matches!(Data::only(&folder).facebook_combined(), Err(DataError::Read { .. })));
        Ok(())
    }
}
