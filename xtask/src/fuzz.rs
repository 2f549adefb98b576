//! `cargo xtask fuzz`: calls parsers and numeric functions with random arguments of the types that they take.

use crate::flags::Fuzz;
use std::path::Path;
use xshell::{Shell, cmd};

impl Fuzz {
    pub(crate) fn run(self, sh: &Shell, here: &Path) -> anyhow::Result<()> {
        let mut list = Vec::new();
        let mut add = |name: &str, value: Option<String>| {
            list.extend(value.map(|value| [format!("--{name}"), value]).into_iter().flatten());
        };
        add("minutes", self.minutes.map(|x| x.to_string()));
        add("runs", self.runs.map(|x| x.to_string()));
        add("seed", self.seed.map(|x| x.to_string()));
        add("target", self.target);
        add("replay", self.replay.map(|x| x.to_string()));
        add("findings", self.findings.map(|path| here.join(path).display().to_string()));
        for (name, given) in [("short", self.short), ("list", self.list)] {
            list.extend(given.then(|| format!("--{name}")));
        }
        // The targets that call the command `ndp` expect its binary next to the program.
        if !self.list && std::env::var_os("NDP_ONE_BUILD").is_none() {
            cmd!(sh, "cargo build --release --quiet --package ndp-cli").quiet().run()?;
        }
        crate::run_program(sh, "ndp-fuzz", &list)
    }
}
