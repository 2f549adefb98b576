//! Every figure: its id, its paper, its function.
//!
//! # How to add a figure
//!
//! 1. Write `src/figures/<paper>/<id>.rs`: parameters as constants on top, `pub const ENTRY`, one
//!    pure function. It opens no file, prints nothing, and all its randomness comes from the seed.
//! 2. Add two lines to `src/figures/<paper>.rs`: `pub mod <id>;` and `<id>::ENTRY,`.
//! 3. `cargo xtask reproduce --quick --figure <paper>/<id>`, open the picture, then
//!    `cargo xtask bless --quick --figure <paper>/<id>` commits its reference.
//!
//! ```
//! use ndp_dp::Grade;
//! use ndp_experiments::datasets::Data;
//! use ndp_report::figure::{Axis, Check, Figure, Panel, Scale, Series};
//! use ndp_experiments::registry::{Entry, Tolerance};
//! use ndp_experiments::seed::Seed;
//!
//! const STEPS: usize = 19;
//!
//! /// `muffliato/example`: loss against distance.
//! pub const ENTRY: Entry = Entry {
//!     id: "muffliato/example",
//!     what: "loss against distance on the path with 3 nodes",
//!     needs: &[],
//!     minutes: 0.1,
//!     tolerance: Tolerance::DETERMINISTIC,
//!     findings: &["F1"],
//!     test: None,
//!     measures: false,
//!     figure,
//! };
//!
//! fn figure(scale: Scale, seed: Seed, _data: &Data) -> anyhow::Result<Figure> {
//!     let steps = scale.pick(STEPS, 2);
//!     let _graph_rng = seed.fork("graph").trial(0);
//!     let exact = Series::new("exact, towards node 0", Grade::Exact).by_class([(1.0, 1.0), (2.0, 1.0)]);
//!     let printed = Series::new("printed, towards node 0", Grade::Printed).by_class([(1.0, 1.3), (2.0, 0.3)]);
//!     let panel = Panel::curves("path of 3", Axis::linear("distance"), Axis::log("unit loss"))
//!         .with_all([exact, printed]);
//!     Ok(Figure::new("Loss against distance")
//!         .by(Grade::Exact, "ndp_algos::gossip::exact_loss", "Certified losses")
//!         .by(Grade::Printed, "ndp_printed::gossip::theorem1_towards", "Muffliato")
//!         .parameter("T", steps)
//!         .claim("The loss decays with the distance.")
//!         .finding("It does not: the end of the path learns everything.")
//!         .check(Check::covers("printed, towards node 0", "exact, towards node 0"))
//!         .panel(panel))
//! }
//! # let figure = figure(Scale::Quick, Seed::DEFAULT, &Data::stand_ins())?;
//! # assert_eq!(figure.validate(), Ok(()));
//! # Ok::<(), anyhow::Error>(())
//! ```
//!
//! A figure that uses a data set calls [`Data`](crate::datasets::Data) and names the source by
//! [`Figure::computed_from`](ndp_report::figure::Figure::computed_from); all outputs then say if a stand-in
//! was used.

pub use crate::entry::{Entry, Tolerance};
use crate::figures;

/// A paper with its figures.
#[derive(Clone, Copy, Debug)]
pub struct Paper {
    /// First part of the ids, and name of the folder.
    pub id: &'static str,
    /// Its title.
    pub title: &'static str,
    /// Its figures, in the order of the report.
    pub figures: &'static [Entry],
}

/// The papers, in the order of the report.
pub const PAPERS: [Paper; 5] = [
    Paper {
        id: "network-dp",
        title: "Privacy Amplification by Decentralization",
        figures: figures::network_dp::FIGURES,
    },
    Paper {
        id: "contraction-fl",
        title: "Differentially Private Federated Learning: An Information-Theoretic Perspective",
        figures: figures::contraction_fl::FIGURES,
    },
    Paper {
        id: "muffliato",
        title: "Muffliato: Peer-to-Peer Privacy Amplification for Decentralized Optimization and Averaging",
        figures: figures::muffliato::FIGURES,
    },
    Paper {
        id: "random-walk",
        title: "Differentially Private Decentralized Learning with Random Walks",
        figures: figures::random_walk::FIGURES,
    },
    Paper { id: "beyond", title: "Beyond the papers", figures: figures::beyond::FIGURES },
];

/// All figures, in the order of the report.
pub fn all() -> impl Iterator<Item = &'static Entry> {
    PAPERS.iter().flat_map(|paper| paper.figures)
}

/// The figures that `name` selects: all, those of one paper, or the one with this id.
#[must_use]
pub fn select(name: &str) -> Vec<&'static Entry> {
    all().filter(|entry| name == "all" || name == entry.id || name == entry.paper()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn ids_are_unique_and_in_the_folder_of_their_paper() {
        let mut seen = BTreeSet::new();
        for paper in &PAPERS {
            for entry in paper.figures {
                assert_eq!(entry.paper(), paper.id, "{}", entry.id);
                assert!(seen.insert(entry.id), "{} is registered twice", entry.id);
                assert!(entry.minutes > 0.0 && !entry.what.is_empty(), "{}", entry.id);
            }
        }
    }

    /// The number of figures of the papers, and of our own.
    #[test]
    fn every_figure_and_table_of_the_papers_is_there() {
        let papers: [(&str, &[&str]); 5] = [
            ("network-dp", &["fig1a", "fig1b", "fig2", "fig3", "poster"]),
            ("contraction-fl", &["fig2"]),
            ("muffliato", &["fig1a", "fig1b", "fig1c", "fig2", "fig3", "fig4", "fig5", "table1", "dropout"]),
            ("random-walk", &["fig1", "fig2", "fig3", "fig4", "fig5", "fig6", "fig7", "fig8", "table1"]),
            (
                "beyond",
                &["exact-view", "audit", "fresh-noise", "protocols", "correlated", "scale", "laws", "meter"],
            ),
        ];
        for (paper, names) in papers {
            for name in names {
                let id = format!("{paper}/{name}");
                assert_eq!(select(&id).len(), 1, "{id}");
            }
        }
    }

    #[test]
    fn figures_that_measure_are_computed_alone() {
        let measuring: Vec<&str> = all().filter(|entry| entry.measures).map(|entry| entry.id).collect();
        assert_eq!(measuring, ["beyond/scale"]);
    }

    #[test]
    fn a_name_selects_all_a_paper_or_one() {
        assert_eq!(select("all").len(), all().count());
        assert!(select("muffliato").iter().all(|entry| entry.paper() == "muffliato"));
        assert!(select("muffliato/nothing").is_empty());
    }
}
