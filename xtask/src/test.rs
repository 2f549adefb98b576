//! `cargo xtask test`.

use crate::flags::Test;
use xshell::{Shell, cmd};

impl Test {
    pub(crate) fn run(self, sh: &Shell) -> anyhow::Result<()> {
        if self.python {
            return crate::wheel::test(sh);
        }
        cmd!(sh, "cargo test --release --workspace").run()?;
        Ok(())
    }
}
