//! `cargo xtask bless`.

use crate::{Arguments, flags::Bless};
use std::path::Path;
use xshell::Shell;

impl Bless {
    pub(crate) fn run(self, sh: &Shell, here: &Path) -> anyhow::Result<()> {
        Arguments::new(here, Some("bless"))
            .figure(self.figure)
            .flag("quick", self.quick)
            .path("data", self.data.as_deref())
            .run(sh)
    }
}
