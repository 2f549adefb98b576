//! `cargo xtask test`.

use crate::flags::Test;
use xshell::{Shell, cmd};

impl Test {
    pub(crate) fn run(self, sh: &Shell) -> anyhow::Result<()> {
        cmd!(sh, "cargo test --release --workspace").run()?;
        Ok(())
    }
}
