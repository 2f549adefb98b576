//! A graph of the user's own, from an edge list in a file.

use super::DataError;
use super::archive::read;
use ndp_graph::Graph;
use ndp_graph::edge_list::{EdgeListOptions, read_edge_list};
use std::path::Path;

/// The graph of the edge list in a file, compressed by gzip or not: one edge per line, two labels per edge,
/// separated by white space or commas. [`read_edge_list`] says what else is accepted, and what `options` add.
///
/// # Errors
/// [`DataError::Read`] when the file cannot be read; [`DataError::EdgeList`] when it is not an edge list.
pub fn read_graph(path: &Path, options: EdgeListOptions) -> Result<Graph, DataError> {
    edges(&read(path)?, options, path)
}

/// The graph of the edge list in `bytes`, which came from `path`.
pub(super) fn edges(bytes: &[u8], options: EdgeListOptions, path: &Path) -> Result<Graph, DataError> {
    read_edge_list(bytes, options)
        .map_err(|source| DataError::EdgeList { path: path.into(), source: Box::new(source) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use ndp_graph::edge_list::{ExtraFields, Header, SelfLoops};
    use std::io::Write;

    #[test]
    fn plain_and_compressed_files_give_the_same_graph() -> std::io::Result<()> {
        let folder = crate::testing::folder("edges");
        let text = "ann,bob\nbob,carol\n";
        std::fs::write(folder.join("plain.csv"), text)?;
        let mut gz = GzEncoder::new(Vec::new(), Compression::default());
        gz.write_all(text.as_bytes())?;
        std::fs::write(folder.join("packed.gz"), gz.finish()?)?;
        let plain = read_graph(&folder.join("plain.csv"), EdgeListOptions::default()).unwrap();
        assert_eq!(plain, read_graph(&folder.join("packed.gz"), EdgeListOptions::default()).unwrap());
        let table = format!("person,friend,since\nann,ann,2\n{}", text.replace('\n', ",2020\n"));
        std::fs::write(folder.join("table.csv"), table)?;
        let table = EdgeListOptions {
            header: Header::Present,
            self_loops: SelfLoops::Skip,
            extra_fields: ExtraFields::Skip,
            ..EdgeListOptions::default()
        };
        assert_eq!(plain, read_graph(&folder.join("table.csv"), table).unwrap());
        assert_eq!(plain.labels(), Some(&["ann", "bob", "carol"].map(String::from)[..]));
        Ok(())
    }

    #[test]
    fn errors_name_the_file_and_the_line() {
        let folder = crate::testing::folder("edges-bad");
        let path = folder.join("list");
        std::fs::write(&path, "1 2\n3\n").unwrap();
        let error = read_graph(&path, EdgeListOptions::default()).unwrap_err().to_string();
        assert!(error.contains("list: line 2 of the edge list has fewer than two fields"), "{error}");
        let error = read_graph(&folder.join("nothing"), EdgeListOptions::default()).unwrap_err();
        assert!(matches!(error, DataError::Read { .. }));
    }
}
