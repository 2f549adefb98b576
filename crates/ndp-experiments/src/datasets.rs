//! The data sets of the papers: found, parsed and checked, or replaced by a marked stand-in. The only part of
//! the crate that reads data files.
//!
//! A data set is looked up in `--data DIR`, then in `$NDP_DATA`, then in `data/` (which `cargo xtask data`
//! fills from the official sources). Its *parsed content* is hashed and compared with a constant, so that the
//! same data in another file format are accepted and altered data are not. If no folder has it, a generated
//! stand-in of the same shape takes its place; its [`Provenance`] says so, and so does everything made from
//! it.

mod archive;
pub mod download;
mod edges;
mod facebook;
mod houses;
mod lastfm;
mod network;
mod set;

pub use archive::read_text;
pub use edges::read_graph;
pub use facebook::EGOS;
pub use houses::{FEATURES, Houses};
pub use set::{Content, DataSet, Download};

use ndp_graph::Graph;
use ndp_report::figure::Provenance;
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};

/// Every data set, by name. To add one, write a file with a [`DataSet`] in it, its `mod` line, and a line
/// here.
pub const SETS: &[DataSet] = &[houses::SET, facebook::EGO_SET, facebook::COMBINED_SET, lastfm::SET];

/// Why a data set could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DataError {
    /// The folder that was named does not exist.
    #[error("the data folder {0} does not exist")]
    NoFolder(PathBuf),
    /// A file cannot be read.
    #[error("cannot read {path}: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// The error that the system reported.
        source: std::io::Error,
    },
    /// A line that violates the format.
    #[error("{path}, line {line}: {problem}")]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        problem: String,
    },
    /// The content is not that of the data set.
    #[error(
        "{path} is not the data set {name}: its parsed content has SHA-256 {got}, expected {expected}; \
         remove the file, or fetch it again with `cargo xtask data`"
    )]
    WrongContent {
        /// The data set.
        name: String,
        /// The file.
        path: PathBuf,
        /// The hash it has.
        got: String,
        /// The hash it should have.
        expected: String,
    },
    /// A file that is not an edge list, or contains no graph.
    #[error("{path}: {source}")]
    EdgeList {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: Box<ndp_graph::Error>,
    },
    /// No data set of that name.
    #[error("there is no Facebook ego network {0}")]
    NoSuchEgo(u32),
    /// No data set of that name, or one that is not a single graph.
    #[error("there is no data set {0} of that kind")]
    NoSuchSet(String),
    /// A graph that cannot be built.
    #[error(transparent)]
    Graph(#[from] ndp_graph::Error),
}

/// A data set with its origin.
#[derive(Clone, Debug, PartialEq)]
pub struct Loaded<T> {
    /// The data.
    pub value: T,
    /// Where the data came from: pass it to
    /// [`Figure::computed_from`](ndp_report::figure::Figure::computed_from).
    pub source: Provenance,
}

impl<T> Loaded<T> {
    /// Converts the data and keeps their origin.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Loaded<U> {
        Loaded { value: f(self.value), source: self.source }
    }
}

/// The folders in which data sets are looked up.
#[derive(Clone, Debug, Default)]
pub struct Data {
    folders: Vec<PathBuf>,
}

impl Data {
    /// Looks in `explicit`, then in `$NDP_DATA`, then in `data/`.
    ///
    /// # Errors
    /// [`DataError::NoFolder`] when `explicit` or `$NDP_DATA` is given but is not a folder.
    pub fn locate(explicit: Option<&Path>) -> Result<Self, DataError> {
        let named = explicit.map(Path::to_path_buf);
        let variable = std::env::var_os("NDP_DATA").filter(|value| !value.is_empty()).map(PathBuf::from);
        let mut folders = Vec::new();
        for folder in [named, variable].into_iter().flatten() {
            if !folder.is_dir() {
                return Err(DataError::NoFolder(folder));
            }
            folders.push(folder);
        }
        folders.push(PathBuf::from("data"));
        Ok(Self { folders })
    }

    /// Looks in no folder: every data set is a stand-in.
    #[must_use]
    pub fn stand_ins() -> Self {
        Self::default()
    }

    /// Looks in one folder only.
    #[must_use]
    pub fn only(folder: &Path) -> Self {
        Self { folders: vec![folder.to_path_buf()] }
    }

    /// OpenML 823: 20640 census blocks, 8 features and a label, in file order.
    ///
    /// # Errors
    /// [`DataError`] when a file is there but is unreadable, malformed or not the data set.
    pub fn houses(&self) -> Result<Loaded<Houses>, DataError> {
        houses::load(self)
    }

    /// The Facebook network of one of the [`EGOS`]: the friends and their friendships, the ego
    /// left out, labelled by their original ids. It may be disconnected.
    ///
    /// # Errors
    /// [`DataError::NoSuchEgo`]; otherwise as [`Data::houses`].
    pub fn ego(&self, ego: u32) -> Result<Loaded<Graph>, DataError> {
        facebook::load_ego(self, ego)
    }

    /// The ten ego networks merged, egos included: 4039 nodes, 88234 edges, connected.
    ///
    /// # Errors
    /// As [`Data::houses`].
    pub fn facebook_combined(&self) -> Result<Loaded<Graph>, DataError> {
        facebook::load_combined(self)
    }

    /// A data set of [`SETS`] that is one graph.
    ///
    /// # Errors
    /// [`DataError::NoSuchSet`]; otherwise as [`Data::houses`].
    pub fn graph(&self, name: &str) -> Result<Loaded<Graph>, DataError> {
        let mut parts = DataSet::named(name)?.load(self)?;
        match (parts.pop(), parts.is_empty()) {
            (Some(Loaded { value: Content::Graph(value), source }), true) => Ok(Loaded { value, source }),
            _ => Err(DataError::NoSuchSet(name.to_owned())),
        }
    }

    /// Whether some folder has the data set of that name; its content is not checked.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        DataSet::named(name).is_ok_and(|set| self.find(&set.files()).is_some())
    }

    /// The first of `names` that exists in the first folder that has one.
    fn find(&self, names: &[String]) -> Option<PathBuf> {
        self.folders.iter().flat_map(|f| names.iter().map(move |n| f.join(n))).find(|path| path.is_file())
    }
}

/// The provenance of content with this hash, or an error if a real data set should have another hash.
fn provenance(name: &str, path: Option<&Path>, got: String, expected: &str) -> Result<Provenance, DataError> {
    if let Some(path) = path
        && got != expected
    {
        return Err(DataError::WrongContent {
            name: name.into(),
            path: path.into(),
            got,
            expected: expected.into(),
        });
    }
    Ok(Provenance { name: name.into(), real: path.is_some(), sha256: got })
}

/// SHA-256 of the lines, each followed by a line feed, in hexadecimal.
fn hash_lines(lines: impl Iterator<Item = String>) -> String {
    let mut hash = Sha256::new();
    for line in lines {
        hash.update(line.as_bytes());
        hash.update(b"\n");
    }
    hex(&hash.finalize())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
