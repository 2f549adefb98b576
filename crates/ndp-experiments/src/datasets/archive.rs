//! Reading a file that may be compressed, or a member of a tar archive.

use super::DataError;
use flate2::read::MultiGzDecoder;
use std::io::Read;
use std::path::Path;

/// The bytes of the file, decompressed if they begin like a gzip file: a server may have unpacked a file
/// without changing its name.
pub(super) fn read(path: &Path) -> Result<Vec<u8>, DataError> {
    let attempt = || -> std::io::Result<Vec<u8>> {
        let bytes = std::fs::read(path)?;
        if !bytes.starts_with(&[0x1f, 0x8b]) {
            return Ok(bytes);
        }
        let mut unpacked = Vec::new();
        MultiGzDecoder::new(&bytes[..]).read_to_end(&mut unpacked)?;
        Ok(unpacked)
    };
    attempt().map_err(|source| DataError::Read { path: path.into(), source })
}

/// The text of the file, decompressed where needed.
///
/// # Errors
/// [`DataError::Read`]; [`DataError::Malformed`] for a file that is not UTF-8.
pub fn read_text(path: &Path) -> Result<String, DataError> {
    text(read(path)?, path)
}

/// Bytes as text.
fn text(bytes: Vec<u8>, path: &Path) -> Result<String, DataError> {
    String::from_utf8(bytes).map_err(|e| DataError::Malformed {
        path: path.into(),
        line: e.as_bytes()[..e.utf8_error().valid_up_to()].iter().filter(|&&b| b == b'\n').count() + 1,
        problem: "not UTF-8 text".into(),
    })
}

/// The member of a tar archive whose path ends in `/name` or is `name`.
///
/// A tar archive is a sequence of 512-byte blocks: a header (name in bytes 0..100, size in octal
/// in bytes 124..136), then the content, padded to whole blocks.
pub(super) fn tar_member<'a>(archive: &'a [u8], name: &str) -> Option<&'a [u8]> {
    let mut rest = archive;
    while rest.len() >= 512 {
        let (header, after) = rest.split_at(512);
        let field = |range: std::ops::Range<usize>| {
            let bytes = &header[range];
            let end = bytes.iter().position(|&b| b == 0).unwrap_or(bytes.len());
            std::str::from_utf8(&bytes[..end]).unwrap_or("").trim()
        };
        let member = field(0..100);
        if member.is_empty() {
            return None;
        }
        let size = usize::from_str_radix(field(124..136), 8).ok()?;
        let content = after.get(..size)?;
        if member == name || member.strip_suffix(name).is_some_and(|folder| folder.ends_with('/')) {
            return Some(content);
        }
        rest = after.get(size.div_ceil(512) * 512..)?;
    }
    None
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A tar archive with the given members.
    pub(in crate::datasets) fn tar(members: &[(&str, &[u8])]) -> Vec<u8> {
        let mut archive = Vec::new();
        for (name, content) in members {
            let mut header = [0u8; 512];
            header[..name.len()].copy_from_slice(name.as_bytes());
            header[124..136].copy_from_slice(format!("{:011o}\0", content.len()).as_bytes());
            archive.extend(header);
            archive.extend(*content);
            archive.resize(archive.len().div_ceil(512) * 512, 0);
        }
        archive.resize(archive.len() + 1024, 0);
        archive
    }

    #[test]
    fn members_are_found_by_their_file_name() {
        let archive = tar(&[("facebook/10.edges", b"ten"), ("facebook/0.edges", &[7; 600]), ("x", b"")]);
        assert_eq!(tar_member(&archive, "10.edges"), Some(&b"ten"[..]));
        assert_eq!(tar_member(&archive, "0.edges"), Some(&[7; 600][..]));
        assert_eq!(tar_member(&archive, "x"), Some(&b""[..]));
        assert_eq!(tar_member(&archive, "y"), None);
        // Cut in the middle of a member, and junk: not found, no panic.
        assert_eq!(tar_member(&archive[..1600], "0.edges"), None);
        assert_eq!(tar_member(&[b'z'; 2000], "0.edges"), None);
    }
}
