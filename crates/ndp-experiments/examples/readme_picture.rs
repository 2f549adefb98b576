//! Draws the picture of the README: two panels of `beyond/exact-view` at paper scale, into `docs/`.

use anyhow::Context;
use ndp_experiments::datasets::Data;
use ndp_experiments::registry;
use ndp_experiments::seed::Seed;
use ndp_report::figure::{Content, Figure, Scale};
use ndp_report::files::write;
use ndp_report::plot;
use std::path::Path;

/// The panels to show, given by the beginning of their titles.
const PANELS: [&str; 2] = ["ring 32", "grid 8x8"];

fn main() -> anyhow::Result<()> {
    let entry = *registry::select("beyond/exact-view").first().context("there is no such figure")?;
    let all = (entry.figure)(Scale::Paper, Seed::DEFAULT, &Data::stand_ins())?;
    let mut figure = Figure { panels: Vec::new(), ..all.clone() };
    figure.panels.extend(PANELS.iter().flat_map(|name| {
        let found = all.panels.iter().filter(move |panel| panel.title.starts_with(name));
        found.cloned()
    }));
    for panel in &mut figure.panels {
        // Leave out one curve: the attacked sources lie near the mean over all sources.
        if let Content::Curves { series, .. } = &mut panel.content {
            series.retain(|series| series.name != "true loss of the attacked source");
        }
    }
    figure.title = "What node 0 learns about another node by gossip (Muffliato)".into();
    let picture = plot::draw(&figure).map_err(anyhow::Error::msg)?;
    write(Path::new("docs/printed-exact-attacked.png"), &picture.png)?;
    Ok(())
}
