//! `cargo xtask finding`: finds the counterexample to a false claim again, from the printed formula alone.

use crate::flags::Finding;
use std::path::Path;
use xshell::{Shell, cmd};

impl Finding {
    /// Calls the command, which searches and writes a page and a picture.
    ///
    /// # Errors
    /// If the row states no bound on a loss that is searched, or files cannot be written.
    pub(crate) fn run(self, sh: &Shell, here: &Path) -> anyhow::Result<()> {
        let number = self.number.to_string();
        let folder = self.out.map_or_else(|| sh.current_dir().join("out/findings"), |out| here.join(out));
        sh.create_dir(&folder)?;
        let (page, picture) = (folder.join(format!("{number}.html")), folder.join(format!("{number}.svg")));
        eprintln!("building the command, a few minutes the first time");
        cmd!(
            sh,
            "cargo run --release --quiet --package ndp-cli -- refute --finding {number} --report {page} --svg {picture}"
        )
        .quiet()
        .run()?;
        eprintln!("written: {}, {}", page.display(), picture.display());
        Ok(())
    }
}
