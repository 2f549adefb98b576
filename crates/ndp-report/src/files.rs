//! The one way to write an output: it appears whole or not at all, and never destroys another file.
//!
//! | the path names | what happens |
//! |---|---|
//! | `-`, or the file or pipe that standard output goes to | standard output |
//! | a regular file, or nothing yet | written beside its place under a name of its own, synced, renamed |
//! | a symbolic link | the same to the file at its end; the link stays |
//! | a device, a pipe, a socket | written to directly, never replaced |
//! | a folder, a file without any right to write | refused |
//!
//! [`check`] refuses, before anything is computed, outputs that would destroy an input or one another.

mod check;
#[cfg_attr(unix, path = "files/unix.rs")]
#[cfg_attr(not(unix), path = "files/elsewhere.rs")]
mod system;

pub use check::check;

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use system::{is_stream, keep_owner, node, open_as_it_is, standard_output};

/// Why an output could not be written.
///
/// # Examples
/// ```
/// use ndp_report::files::{OutputError, write};
/// assert!(matches!(write(std::env::temp_dir().as_path(), b""), Err(OutputError::IsFolder(_))));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OutputError {
    /// A file or folder cannot be written: no permission, no space left.
    #[error("cannot write {path}: {source}")]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// The error that the system reported.
        source: io::Error,
    },
    /// There is a folder where a file was to be written.
    #[error("cannot write {0}: it is a folder")]
    IsFolder(PathBuf),
    /// The output is a file that is also read.
    #[error("the output {output} is an input, too ({input}), and would destroy it")]
    IsInput {
        /// The file to be written.
        output: PathBuf,
        /// The same file, under the name by which it is read.
        input: PathBuf,
    },
    /// Two outputs go to the same place.
    #[error("the outputs {first} and {second} are the same file")]
    SamePlace {
        /// One of them.
        first: PathBuf,
        /// The other.
        second: PathBuf,
    },
    /// The figure contradicts itself, see [`Figure::validate`](crate::figure::Figure::validate), or one of
    /// its checks compared nothing.
    #[error("the figure is not well-formed: {0}")]
    Malformed(String),
}

/// Writes `bytes` to `path` as an [`Output`].
///
/// # Errors
/// [`OutputError::Write`], [`OutputError::IsFolder`].
///
/// # Examples
/// ```
/// let path = std::env::temp_dir().join(format!("ndp-example-{}.csv", std::process::id()));
/// ndp_report::files::write(&path, b"a,b\n")?;
/// assert_eq!(std::fs::read(&path)?, b"a,b\n");
/// std::fs::remove_file(path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), OutputError> {
    let mut output = Output::create(path)?;
    output.write_all(bytes).map_err(|error| refused(path, error))?;
    output.finish()
}

/// An output that is being written. Without [`finish`](Self::finish) no file appears, and an older file in
/// its place stays.
///
/// # Examples
/// ```
/// use std::io::Write;
/// let path = std::env::temp_dir().join(format!("ndp-output-{}.txt", std::process::id()));
/// let mut output = ndp_report::files::Output::create(&path)?;
/// writeln!(output, "one line")?;
/// assert!(!path.exists());
/// output.finish()?;
/// assert_eq!(std::fs::read_to_string(&path)?, "one line\n");
/// std::fs::remove_file(path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Output {
    path: PathBuf,
    writer: BufWriter<Sink>,
    /// `None` for an output that is written directly.
    part: Option<Part>,
}

#[derive(Debug)]
enum Sink {
    Standard(io::Stdout),
    File(File),
}

impl Output {
    /// Begins an output; its folder is created if it is missing.
    ///
    /// # Errors
    /// [`OutputError::Write`], [`OutputError::IsFolder`].
    pub fn create(path: &Path) -> Result<Self, OutputError> {
        let begin = || match place(path)? {
            Place::Standard => Ok((Sink::Standard(io::stdout()), None)),
            Place::Direct => Ok((Sink::File(open_as_it_is(path)?), None)),
            Place::File(target) => {
                if let Some(folder) = path.parent() {
                    fs::create_dir_all(folder)?;
                }
                let (file, part) = Part::begin(target)?;
                Ok((Sink::File(file), Some(part)))
            }
        };
        let (sink, part) = begin().map_err(|error| refused(path, error))?;
        Ok(Self { path: path.into(), writer: BufWriter::new(sink), part })
    }

    /// Writes what is left and moves the finished file to its place.
    ///
    /// # Errors
    /// [`OutputError::Write`]; then the older file in its place stays.
    pub fn finish(self) -> Result<(), OutputError> {
        let Self { path, mut writer, part } = self;
        let close = || {
            writer.flush()?;
            match (writer.get_ref(), part) {
                (Sink::File(file), Some(part)) => file.sync_all().and_then(|()| part.put_in_place()),
                _ => Ok(()),
            }
        };
        close().map_err(|error| refused(&path, error))
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Standard(output) => output.write(bytes),
            Self::File(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Standard(output) => output.flush(),
            Self::File(file) => file.flush(),
        }
    }
}

/// An unfinished file next to its final place; it is deleted unless it gets there.
#[derive(Debug)]
struct Part {
    at: PathBuf,
    target: PathBuf,
}

/// The unfinished files of this process, for [`abandon`].
static PARTS: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn parts() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    PARTS.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Part {
    /// A new file in the folder of `target`, with the permissions of the file that is already there.
    fn begin(target: PathBuf) -> io::Result<(File, Self)> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        // Not based on the name of the target, which may already have the maximal length.
        let (file, at) = loop {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let at = target.with_file_name(format!(".ndp-{}-{number}.part", std::process::id()));
            let mut parts = parts();
            // A process on another machine may have the same number.
            match OpenOptions::new().write(true).create_new(true).open(&at) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
                Ok(file) => {
                    parts.insert(at.clone());
                    break (file, at);
                }
            }
        };
        let part = Self { at, target };
        if let Ok(before) = fs::metadata(&part.target) {
            keep_owner(&file, &before);
            file.set_permissions(before.permissions())?;
        }
        Ok((file, part))
    }

    fn put_in_place(self) -> io::Result<()> {
        let mut parts = parts();
        fs::rename(&self.at, &self.target)?;
        parts.remove(&self.at);
        // The new name, too, should survive a power cut; some file systems cannot promise this.
        let folder = self.target.parent().filter(|folder| !folder.as_os_str().is_empty());
        let _ = File::open(folder.unwrap_or(Path::new("."))).and_then(|folder| folder.sync_all());
        Ok(())
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        if parts().remove(&self.at) {
            let _ = fs::remove_file(&self.at);
        }
    }
}

/// Deletes all unfinished files, for the end of a program that was interrupted: from now on no file is begun
/// or moved to its place.
pub fn abandon() {
    let parts = parts();
    for part in parts.iter() {
        let _ = fs::remove_file(part);
    }
    // The lock is held until the process ends.
    std::mem::forget(parts);
}

/// Whether `path` is standard output, or the file or pipe that standard output goes to.
///
/// # Examples
/// ```
/// use ndp_report::files::is_standard_output;
/// assert!(is_standard_output("-".as_ref()) && !is_standard_output("losses.csv".as_ref()));
/// ```
#[must_use]
pub fn is_standard_output(path: &Path) -> bool {
    matches!(place(path), Ok(Place::Standard))
}

/// The path of a file next to an output: its name with `suffix`; `None` if the output is not a file.
///
/// # Examples
/// ```
/// use ndp_report::files::beside;
/// assert_eq!(beside("out/a.csv".as_ref(), ".run.json"), Some("out/a.csv.run.json".into()));
/// assert_eq!(beside("-".as_ref(), ".run.json"), None);
/// ```
#[must_use]
pub fn beside(path: &Path, suffix: &str) -> Option<PathBuf> {
    matches!(place(path), Ok(Place::File(_))).then(|| {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        name.into()
    })
}

/// Checks that files can be created in a folder; creates the folder if it is missing.
///
/// # Errors
/// [`OutputError::Write`].
///
/// # Examples
/// ```
/// assert!(ndp_report::files::require_writable(&std::env::temp_dir()).is_ok());
/// ```
pub fn require_writable(folder: &Path) -> Result<(), OutputError> {
    let attempt = || fs::create_dir_all(folder).and_then(|()| Part::begin(folder.join("a file")));
    attempt().map(drop).map_err(|error| refused(folder, error))
}

/// Where an output goes.
enum Place {
    Standard,
    /// The file at the end of all links; it may not exist yet.
    File(PathBuf),
    /// A device, a pipe, a socket.
    Direct,
}

fn place(path: &Path) -> io::Result<Place> {
    if path.as_os_str() == "-" {
        return Ok(Place::Standard);
    }
    let there = match fs::metadata(path) {
        Ok(there) => there,
        Err(error) if error.kind() == ErrorKind::NotFound => return end_of_links(path).map(Place::File),
        Err(error) => return Err(error),
    };
    let standard =
        || standard_output().is_some_and(|output| node(&output).is_some() && node(&output) == node(&there));
    if there.is_dir() {
        Err(ErrorKind::IsADirectory.into())
    } else if !is_stream(&there) && standard() {
        Ok(Place::Standard)
    } else if !there.is_file() {
        Ok(Place::Direct)
    } else if there.permissions().readonly() {
        Err(io::Error::new(ErrorKind::PermissionDenied, "it is write-protected"))
    } else {
        fs::canonicalize(path).map(Place::File)
    }
}

/// The target of a path that leads to no file: the name at the end of its links.
fn end_of_links(path: &Path) -> io::Result<PathBuf> {
    let mut end = path.to_owned();
    // The number of links that the system follows.
    for _ in 0..40 {
        let Ok(next) = fs::read_link(&end) else {
            let folder = end.as_os_str().as_encoded_bytes().last().is_none_or(|&byte| byte == b'/');
            let named = end.file_name().is_some() && !folder;
            return if named { Ok(end) } else { Err(ErrorKind::IsADirectory.into()) };
        };
        end = end.parent().unwrap_or(Path::new("")).join(next);
    }
    Err(io::Error::other("too many symbolic links"))
}

fn refused(path: &Path, source: io::Error) -> OutputError {
    if source.kind() == ErrorKind::IsADirectory {
        OutputError::IsFolder(path.into())
    } else {
        OutputError::Write { path: path.into(), source }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::folder;

    fn names(folder: &Path) -> Vec<String> {
        let names = fs::read_dir(folder).unwrap();
        let mut names: Vec<String> =
            names.map(|file| file.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_is_there_whole_or_not_at_all() {
        let folder = folder("files-whole");
        let path = folder.join("new/a.csv");
        let mut output = Output::create(&path).unwrap();
        output.write_all(b"half").unwrap();
        drop(output);
        assert!(names(&folder.join("new")).is_empty());
        write(&path, b"one").unwrap();
        let mut output = Output::create(&path).unwrap();
        output.write_all(b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"one");
        output.finish().unwrap();
        assert_eq!(
            (fs::read(&path).unwrap(), names(&folder.join("new"))),
            (b"two".to_vec(), vec!["a.csv".into()])
        );
        // A name of maximal length.
        write(&folder.join("n".repeat(255)), b"").unwrap();
        assert!(matches!(write(&folder, b""), Err(OutputError::IsFolder(_))));
        assert!(matches!(write(&folder.join("no/"), b""), Err(OutputError::IsFolder(_))));
        assert!(matches!(write(&path.join("below"), b""), Err(OutputError::Write { .. })));
        assert!(matches!(write(Path::new(""), b""), Err(OutputError::IsFolder(_))));
        fs::remove_dir_all(folder).unwrap();
    }

    /// Many writers of one path at once: every file that a reader sees is complete and from one writer.
    #[test]
    fn writers_do_not_disturb_each_other() {
        let folder = folder("files-at-once");
        let path = folder.join("a");
        let texts: Vec<Vec<u8>> = (b'a'..b'i').map(|letter| vec![letter; 100_000]).collect();
        std::thread::scope(|scope| {
            for text in &texts {
                scope.spawn(|| (0..10).for_each(|_| write(&path, text).unwrap()));
            }
        });
        assert!(texts.contains(&fs::read(&path).unwrap()));
        assert_eq!(names(&folder), ["a"]);
        fs::remove_dir_all(folder).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn links_stay_and_rights_are_kept() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = folder("files-links");
        let at = |name: &str| folder.join(name);
        fs::create_dir(at("far")).unwrap();
        write(&at("far/a"), b"before").unwrap();
        fs::set_permissions(at("far/a"), fs::Permissions::from_mode(0o640)).unwrap();
        symlink("far/a", at("link")).unwrap();
        symlink("link", at("link-to-link")).unwrap();
        symlink("far/new", at("to-nothing")).unwrap();
        symlink("ring", at("ring")).unwrap();
        write(&at("link-to-link"), b"after").unwrap();
        write(&at("to-nothing"), b"new").unwrap();
        let read = |name: &str| fs::read(at(name)).unwrap();
        assert_eq!((read("far/a"), read("far/new")), (b"after".to_vec(), b"new".to_vec()));
        assert!(fs::symlink_metadata(at("link")).unwrap().is_symlink());
        assert!(fs::symlink_metadata(at("to-nothing")).unwrap().is_symlink());
        assert_eq!(fs::metadata(at("far/a")).unwrap().permissions().mode() & 0o777, 0o640);
        assert!(matches!(write(&at("ring"), b""), Err(OutputError::Write { .. })));
        // The file is write-protected, so even root does not overwrite it.
        fs::set_permissions(at("far/a"), fs::Permissions::from_mode(0o440)).unwrap();
        assert!(write(&at("link"), b"").unwrap_err().to_string().contains("write-protected"));
        assert_eq!((read("far/a"), names(&at("far"))), (b"after".to_vec(), vec!["a".into(), "new".into()]));
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn the_same_file_is_found_by_any_name() {
        let folder = folder("files-same");
        let at = |name: &str| folder.join(name);
        write(&at("graph"), b"0 1").unwrap();
        let clash = |inputs: &[&str], outputs: &[&str]| {
            let [inputs, outputs] =
                [inputs, outputs].map(|names| names.iter().map(|name| at(name)).collect::<Vec<PathBuf>>());
            fn refer(paths: &[PathBuf]) -> Vec<&Path> {
                paths.iter().map(PathBuf::as_path).collect()
            }
            check(&refer(&inputs), &refer(&outputs))
        };
        assert!(clash(&["graph"], &["a", "b", "new/a"]).is_ok());
        assert!(clash(&["missing"], &["missing"]).is_ok());
        assert!(matches!(clash(&["graph"], &["a", "./graph"]), Err(OutputError::IsInput { .. })));
        assert!(matches!(clash(&[], &["new/../b", "b"]), Ok(())));
        fs::create_dir(at("new")).unwrap();
        assert!(matches!(clash(&[], &["new/../b", "b"]), Err(OutputError::SamePlace { .. })));
        assert!(matches!(clash(&[], &["x/y/b", "x/y/b"]), Err(OutputError::SamePlace { .. })));
        assert!(matches!(clash(&[], &["new"]), Err(OutputError::IsFolder(_))));
        let twice = check(&[], &["-".as_ref(), "-".as_ref()]);
        assert!(matches!(twice, Err(OutputError::SamePlace { .. })));
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("graph", at("link")).unwrap();
            std::os::unix::fs::symlink("later", at("to-nothing")).unwrap();
            fs::hard_link(at("graph"), at("twin")).unwrap();
            for name in ["link", "twin"] {
                assert!(matches!(clash(&["graph"], &[name]), Err(OutputError::IsInput { .. })), "{name}");
                assert!(matches!(clash(&[name], &["graph"]), Err(OutputError::IsInput { .. })), "{name}");
            }
            assert!(matches!(clash(&[], &["to-nothing", "later"]), Err(OutputError::SamePlace { .. })));
            let null: &Path = "/dev/null".as_ref();
            assert!(check(&[null], &[null, null]).is_ok());
        }
        fs::remove_dir_all(folder).unwrap();
    }
}
