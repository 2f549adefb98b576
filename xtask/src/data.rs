//! `cargo xtask data`.

use crate::{Arguments, flags::Data};
use std::path::Path;
use xshell::Shell;

impl Data {
    pub(crate) fn run(self, sh: &Shell, here: &Path) -> anyhow::Result<()> {
        Arguments::new(here, Some("data")).path("to", self.to.as_deref()).run(sh)
    }
}
