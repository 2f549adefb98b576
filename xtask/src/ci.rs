//! `cargo xtask ci`: runs the script of the merge gate, and nothing else.

use crate::flags::Ci;
use xshell::{Shell, cmd};

impl Ci {
    pub(crate) fn run(self, sh: &Shell) -> anyhow::Result<()> {
        cmd!(sh, "bash .ci/run").run()?;
        Ok(())
    }
}
