//! Whether outputs destroy an input or one another.

use super::system::{is_stream, node, standard_input, standard_output};
use super::{OutputError, Place, place, refused};
use std::fs::{self, File, Metadata};
use std::path::{Path, PathBuf};

/// Refuses outputs that would destroy an input or one another; `-` is standard input and standard output.
///
/// Two paths name the same file if they are equal after resolving links, or if device and inode number are
/// equal. A missing input is left to the code that reads it. Devices that take everything, such as a
/// terminal, may be named several times.
///
/// # Errors
/// [`OutputError::IsInput`], [`OutputError::SamePlace`]; those of [`Output::create`](super::Output::create)
/// that can be detected in advance.
///
/// # Examples
/// ```
/// use ndp_report::files::check;
/// let (table, csv) = ("table.csv".as_ref(), "losses.csv".as_ref());
/// assert!(check(&[table], &[csv]).is_ok());
/// assert!(check(&[table], &[csv, csv]).is_err());
/// ```
pub fn check(inputs: &[&Path], outputs: &[&Path]) -> Result<(), OutputError> {
    let read: Vec<(&Path, Identity)> =
        inputs.iter().filter_map(|&input| Some((input, Identity::of_input(input)?))).collect();
    let mut written: Vec<(&Path, Identity)> = Vec::new();
    for &output in outputs {
        let there = place(output).map_err(|error| refused(output, error))?;
        let Some(identity) = Identity::of_output(output, &there) else { continue };
        if let Some((input, _)) = read.iter().find(|(_, input)| input.is(&identity)) {
            return Err(OutputError::IsInput { output: output.into(), input: (*input).into() });
        }
        if let Some((first, _)) = written.iter().find(|(_, first)| first.is(&identity)) {
            return Err(OutputError::SamePlace { first: (*first).into(), second: output.into() });
        }
        written.push((output, identity));
    }
    Ok(())
}

/// What makes two names belong to the same file.
struct Identity {
    path: Option<PathBuf>,
    node: Option<(u64, u64)>,
    /// Kept open, so that the system gives its inode number to no other file if it is replaced meanwhile.
    _held: Option<File>,
}

impl Identity {
    fn is(&self, other: &Self) -> bool {
        (self.path.is_some() && self.path == other.path) || (self.node.is_some() && self.node == other.node)
    }

    fn of_input(path: &Path) -> Option<Self> {
        if path.as_os_str() == "-" {
            return Self::of_stream(&standard_input()?);
        }
        let there = fs::metadata(path).ok()?;
        (!is_stream(&there)).then(|| Self::of_file(path, fs::canonicalize(path).ok()))
    }

    fn of_output(path: &Path, place: &Place) -> Option<Self> {
        match place {
            Place::Standard => {
                let node = standard_output().as_ref().and_then(node);
                Some(Self { path: Some("-".into()), node, _held: None })
            }
            Place::Direct => Self::of_stream(&fs::metadata(path).ok()?),
            Place::File(target) => Some(Self::of_file(target, Some(full(target)))),
        }
    }

    /// The identity of a file that is no stream, if it exists.
    fn of_file(there: &Path, path: Option<PathBuf>) -> Self {
        let held = File::open(there).ok();
        let found = held.as_ref().map_or_else(|| fs::metadata(there), File::metadata);
        Self { path, node: found.ok().as_ref().and_then(node), _held: held }
    }

    fn of_stream(there: &Metadata) -> Option<Self> {
        (!is_stream(there)).then(|| Self { path: None, node: node(there), _held: None })
    }
}

/// The full path of a file that may not exist yet.
fn full(path: &Path) -> PathBuf {
    let mut rest = Vec::new();
    let mut there = path;
    loop {
        let found = if there.as_os_str().is_empty() { Path::new(".") } else { there };
        if let Ok(found) = fs::canonicalize(found) {
            return rest.iter().rev().fold(found, |path, name| path.join(name));
        }
        let (Some(name), Some(parent)) = (there.file_name(), there.parent()) else { return path.to_owned() };
        rest.push(name);
        there = parent;
    }
}
