//! Runs the command `ndp` as a process on given files, and returns its exit code and its texts.

use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{self, AtomicU64};

/// A folder for one case, which is deleted when the value is dropped.
struct Folder(PathBuf);

impl Folder {
    fn new() -> std::io::Result<Self> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, atomic::Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("ndp-statements-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path)?;
        Ok(Self(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The answer of the command.
pub(super) struct Said {
    pub(super) code: Option<i32>,
    pub(super) out: String,
    pub(super) problem: String,
    pub(super) page: String,
    pub(super) json: serde_json::Value,
}

/// The command that was built next to this program.
fn binary() -> Option<PathBuf> {
    let path = std::env::current_exe().ok()?.with_file_name(format!("ndp{}", std::env::consts::EXE_SUFFIX));
    path.exists().then_some(path)
}

/// Runs the command with the arguments `words` in a folder that contains `files`; `None` if it was not built.
pub(super) fn run(files: &[(&str, &str)], words: &[String]) -> std::io::Result<Option<Said>> {
    let Some(binary) = binary() else { return Ok(None) };
    let folder = Folder::new()?;
    for (name, text) in files {
        std::fs::write(folder.0.join(name), text)?;
    }
    let output = Command::new(binary)
        .current_dir(&folder.0)
        .args(words)
        .args(["--threads", "1", "--quiet"])
        .output()?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let file = |name: &str| std::fs::read_to_string(folder.0.join(name)).unwrap_or_default();
    Ok(Some(Said {
        code: output.status.code(),
        out: text(&output.stdout),
        problem: text(&output.stderr),
        page: file("page.html"),
        json: serde_json::from_str(&file("answer.json")).unwrap_or_default(),
    }))
}
