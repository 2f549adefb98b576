//! LastFM Asia: users of a music service in Asian countries, and who follows whom in both directions.
//!
//! Rozemberczki, Sarkar, *Characteristic Functions on Graphs: Birds of a Feather, from Statistical
//! Descriptors to Parametric Models*, CIKM 2020.

use super::network::{Network, PAIRS};
use super::{Content, DataSet};
use ndp_graph::edge_list::{EdgeListOptions, Header, Separator};

/// The network. It must be fetched by hand, because its page offers an archive of another kind.
pub(super) const SET: DataSet = DataSet {
    name: "lastfm-asia",
    about: "mutual followers among users of LastFM in Asia, one graph",
    page: "https://snap.stanford.edu/data/feather-lastfm-social.html",
    download: None,
    files: || FILES.map(String::from).into(),
    load: |data| {
        let loaded = NETWORK.load(data, "LastFM Asia", &FILES.map(String::from), 7624)?;
        Ok(vec![loaded.map(Content::Graph)])
    },
};

const FILES: [&str; 3] =
    ["graphs/lastfm_asia_edges.csv.gz", "lastfm_asia_edges.csv.gz", "lastfm_asia_edges.csv"];

const NETWORK: Network = Network {
    nodes: 7624,
    edges: 27806,
    sha256: "0bbcf1a040b683ecbeaa1c369a4962571fdade1984baece4ab6eab1c79b905d9",
    options: EdgeListOptions { header: Header::Present, separator: Separator::Comma, ..PAIRS },
};
