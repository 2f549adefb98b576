//! The command that fetches the data sets.

use crate::flags::Data;
use crate::print_line;
use anyhow::{Context, bail};
use ndp_experiments::datasets::SETS;
use ndp_experiments::datasets::download::fetch;
use std::path::PathBuf;
use std::time::Duration;

/// Time without progress after which a server is considered unreachable.
const PATIENCE: Duration = Duration::from_secs(30);

impl Data {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let folder = self.to.unwrap_or_else(|| PathBuf::from("data"));
        std::fs::create_dir_all(&folder).with_context(|| format!("cannot write {}", folder.display()))?;
        if let Err(errors) = fetch(&folder, |_, download| download.address.to_owned(), PATIENCE, print_line) {
            let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
            bail!("{} of {} data sets were not fetched:\n  {}", errors.len(), SETS.len(), lines.join("\n  "));
        }
        Ok(())
    }
}
