//! The command that replaces the committed references.

use crate::flags::Bless;
use crate::print_line;
use crate::reproduce::{REFERENCES, selected};
use ndp_experiments::datasets::Data;
use ndp_experiments::reference;
use ndp_experiments::run::{self, Options};
use ndp_experiments::seed::Seed;
use ndp_report::figure::Scale;
use std::path::PathBuf;

/// The number of changes that are shown for each figure.
const SHOWN: usize = 40;

impl Bless {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let options = Options {
            scale: if self.quick { Scale::Quick } else { Scale::Paper },
            seed: Seed::DEFAULT,
            out: self.out.unwrap_or_else(|| PathBuf::from("out")),
            data: Data::locate(self.data.as_deref())?,
            references: self.references.unwrap_or_else(|| PathBuf::from(REFERENCES)),
            resume: false,
        };
        ndp_report::files::require_writable(&options.out)?;
        for entry in selected(self.figure.as_deref())? {
            let done = run::one(entry, &options)?;
            if !done.is_comparable() {
                print_line(&format!("{}: skipped, its data set was not found", entry.id));
                continue;
            }
            let file = reference::path(&options.references, options.scale, entry.id);
            let changes = reference::bless(&file, &done.rows).map_err(anyhow::Error::msg)?;
            print_line(&format!("{}: {} changes", entry.id, changes.len()));
            for change in changes.iter().take(SHOWN) {
                print_line(&format!("    {change}"));
            }
            if changes.len() > SHOWN {
                print_line(&format!("    and {} more", changes.len() - SHOWN));
            }
        }
        Ok(())
    }
}
