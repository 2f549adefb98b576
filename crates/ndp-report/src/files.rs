//! Files that appear whole or not at all.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Why a figure could not be written.
///
/// # Examples
/// ```
/// use ndp_report::files::{OutputError, write};
/// let nowhere = std::path::Path::new("/dev/null/figure.csv");
/// assert!(matches!(write(nowhere, b""), Err(OutputError::Write { .. })));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OutputError {
    /// A file or folder cannot be written: no permission, no space left.
    #[error("cannot write {path}: {source}")]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The figure contradicts itself, see [`Figure::validate`](crate::figure::Figure::validate), or a check of it compared nothing.
    #[error("the figure is not well-formed: {0}")]
    Malformed(String),
}

/// Writes `bytes` to `path`, so that the file is there whole or not at all. Makes its folder.
///
/// # Errors
/// [`OutputError::Write`].
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), OutputError> {
    let attempt = || -> std::io::Result<()> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let mut part = path.as_os_str().to_owned();
        part.push(".part");
        let part = PathBuf::from(part);
        let written = fs::File::create(&part).and_then(|mut file| {
            file.write_all(bytes)?;
            file.sync_all()
        });
        if let Err(e) = written.and_then(|()| fs::rename(&part, path)) {
            let _ = fs::remove_file(&part);
            return Err(e);
        }
        Ok(())
    };
    attempt().map_err(|source| OutputError::Write { path: path.into(), source })
}
