//! What the registry knows about a data set.

use super::{Data, DataError, Houses, Loaded, SETS};
use ndp_graph::Graph;

/// A data set: where it comes from, in which files it is looked up, how it is read and checked.
#[derive(Clone, Copy, Debug)]
pub struct DataSet {
    /// Its name in lists and in the field `needs` of figures.
    pub name: &'static str,
    /// What it is, in a few words.
    pub about: &'static str,
    /// The page that describes it.
    pub page: &'static str,
    /// Where it is fetched from; `None` if the user must put it into the folder by hand.
    pub download: Option<Download>,
    pub(super) files: fn() -> Vec<String>,
    pub(super) load: fn(&Data) -> Result<Vec<Loaded<Content>>, DataError>,
}

/// Where a data set is fetched from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Download {
    /// The address of the file, or of a JSON text that names it.
    pub address: &'static str,
    /// The name under which the file is stored.
    pub file: &'static str,
}

/// The content of a data set.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// A graph.
    Graph(Graph),
    /// Rows of features with a label.
    Table(Houses),
}

impl DataSet {
    /// The data set of that name.
    ///
    /// # Errors
    /// [`DataError::NoSuchSet`].
    pub fn named(name: &str) -> Result<&'static Self, DataError> {
        SETS.iter().find(|set| set.name == name).ok_or_else(|| DataError::NoSuchSet(name.to_owned()))
    }

    /// The files in which it is looked up, in order of preference.
    #[must_use]
    pub fn files(&self) -> Vec<String> {
        (self.files)()
    }

    /// Its parts, read and checked, or their stand-ins.
    ///
    /// # Errors
    /// [`DataError`] when a file is there but unreadable, malformed or not the data set.
    pub fn load(&self, data: &Data) -> Result<Vec<Loaded<Content>>, DataError> {
        (self.load)(data)
    }

    /// Whether all its parts are there and are the real ones.
    ///
    /// # Errors
    /// As [`Self::load`].
    pub fn is_real(&self, data: &Data) -> Result<bool, DataError> {
        Ok(self.load(data)?.iter().all(|part| part.source.real))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What figures and lists rely on, for every present and future data set.
    #[test]
    fn sets_are_well_formed() -> Result<(), DataError> {
        for (i, set) in SETS.iter().enumerate() {
            assert!(SETS[..i].iter().all(|other| other.name != set.name), "{}", set.name);
            assert!(set.page.starts_with("https://") && !set.files().is_empty());
            let parts = set.load(&Data::stand_ins())?;
            assert!(!parts.is_empty() && parts.iter().all(|part| !part.source.real), "{}", set.name);
            assert_eq!(parts, DataSet::named(set.name)?.load(&Data::stand_ins())?);
            for part in &parts {
                assert!(part.source.sha256.len() == 64 && !part.source.name.is_empty());
                if let Content::Graph(graph) = &part.value {
                    assert!(graph.is_connected(), "{}", part.source.name);
                }
            }
        }
        assert!(matches!(DataSet::named("nothing"), Err(DataError::NoSuchSet(_))));
        assert!(matches!(Data::stand_ins().graph("houses"), Err(DataError::NoSuchSet(_))));
        assert_eq!(Data::stand_ins().graph("lastfm-asia")?.value.node_count(), 7624);
        Ok(())
    }

    #[test]
    fn figures_need_sets_that_exist() {
        for entry in crate::registry::PAPERS.iter().flat_map(|paper| paper.figures) {
            assert!(entry.needs.iter().all(|name| DataSet::named(name).is_ok()), "{}", entry.id);
        }
    }
}
