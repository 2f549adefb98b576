//! `cargo xtask reproduce`.

use crate::{Arguments, flags::Reproduce};
use std::path::Path;
use xshell::Shell;

impl Reproduce {
    pub(crate) fn run(self, sh: &Shell, here: &Path) -> anyhow::Result<()> {
        Arguments::new(here, None)
            .figure(self.figure)
            .flag("quick", self.quick)
            .option("seed", self.seed)
            .path("out", self.out.as_deref())
            .path("data", self.data.as_deref())
            .option("threads", self.threads)
            .flag("resume", self.resume)
            .option("shards", self.shards)
            .option("shard", crate::shard::index(self.shards, self.shard)?)
            .flag("list", self.list)
            .run(sh)
    }
}
