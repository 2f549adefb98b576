//! What a Unix system knows about a file.

use std::fs::{File, Metadata, OpenOptions};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt, fchown};
use std::os::unix::net::UnixStream;
use std::path::Path;

/// Device and inode number of a file.
#[allow(clippy::unnecessary_wraps, reason = "other systems do not say")]
pub(in crate::files) fn node(there: &Metadata) -> Option<(u64, u64)> {
    Some((there.dev(), there.ino()))
}

/// Whether the file is a device that keeps nothing, so that writing destroys nothing.
pub(in crate::files) fn is_stream(there: &Metadata) -> bool {
    there.file_type().is_char_device()
}

pub(in crate::files) fn standard_input() -> Option<Metadata> {
    opened(std::io::stdin().as_fd())
}

pub(in crate::files) fn standard_output() -> Option<Metadata> {
    opened(std::io::stdout().as_fd())
}

fn opened(file: BorrowedFd<'_>) -> Option<Metadata> {
    File::from(file.try_clone_to_owned().ok()?).metadata().ok()
}

/// Opens a device, a pipe or a socket for writing.
pub(in crate::files) fn open_as_it_is(path: &Path) -> std::io::Result<File> {
    if std::fs::metadata(path)?.file_type().is_socket() {
        return Ok(File::from(OwnedFd::from(UnixStream::connect(path)?)));
    }
    OpenOptions::new().write(true).open(path)
}

/// Restores the owner, as far as the system allows: only the administrator may give a file away.
pub(in crate::files) fn keep_owner(file: &File, before: &Metadata) {
    if file.metadata().is_ok_and(|now| (now.uid(), now.gid()) != (before.uid(), before.gid())) {
        let _ = fchown(file, Some(before.uid()), Some(before.gid()));
    }
}
