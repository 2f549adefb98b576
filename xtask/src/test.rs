//! `cargo xtask test`.

use crate::flags::Test;
use xshell::{Shell, cmd};

impl Test {
    pub(crate) fn run(self, sh: &Shell) -> anyhow::Result<()> {
        match (self.python, self.one_build) {
            (true, true) => return crate::wheel::test_one_build(sh),
            (true, false) => return crate::wheel::test(sh),
            (false, true) => anyhow::bail!("--one-build goes with --python"),
            (false, false) => {}
        }
        cmd!(sh, "cargo test --release --workspace").run()?;
        Ok(())
    }
}
