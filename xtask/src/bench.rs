//! `cargo xtask bench`.

use crate::flags::Bench;
use xshell::{Shell, cmd};

impl Bench {
    pub(crate) fn run(self, sh: &Shell) -> anyhow::Result<()> {
        let filter = self.filter;
        cmd!(sh, "cargo bench --package ndp-benches -- {filter...}").run()?;
        Ok(())
    }
}
