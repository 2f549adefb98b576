//! The command that analyses a graph of the user's own.

use crate::flags::Analyze;
use crate::print_line;
use anyhow::{Context, ensure};
use ndp_dp::{Delta, Order, Sensitivity};
use ndp_experiments::analysis::{AnalysisError, Request, TargetText, analyse, output, summary};
use ndp_experiments::datasets::read_graph;
use ndp_experiments::run::require_writable;
use ndp_graph::edge_list::{EdgeListOptions, ExtraFields, Header, SelfLoops};
use std::path::PathBuf;

impl Analyze {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let protocol = self.protocol.parse()?;
        let target: TargetText = self.target.parse()?;
        crate::start_threads(self.threads)?;
        let options = EdgeListOptions {
            header: if self.header { Header::Present } else { Header::Detect },
            self_loops: if self.skip_self_loops { SelfLoops::Skip } else { SelfLoops::Refuse },
            extra_fields: if self.skip_columns { ExtraFields::Skip } else { ExtraFields::Refuse },
            ..EdgeListOptions::default()
        };
        let mut graph = read_graph(&self.edges, options)?;
        if self.largest_component {
            graph = graph.largest_component().0;
        }
        let target = target.resolve(&graph)?;
        let mut request = Request::new(protocol, target);
        request.rounds = self.rounds;
        if let Some(order) = self.order {
            request.order = Order::new(order).context("--order")?;
        }
        if let Some(sensitivity) = self.sensitivity {
            request.sensitivity = Sensitivity::new(sensitivity).context("--sensitivity")?;
        }
        if let Some(delta) = self.delta {
            request.delta = Delta::new(delta).context("--delta")?;
        }
        if let Some(rho) = self.rho {
            ensure!(rho >= 0.0 && rho.is_finite(), "--rho must be nonnegative and finite, got {rho}");
            request.rho = rho;
        }
        if let Some(label) = self.observer {
            let found = graph.labels().and_then(|labels| labels.iter().position(|other| *other == label));
            request.observer = Some(found.ok_or(AnalysisError::NoSuchNode(label))?);
        }
        let out = self.out.unwrap_or_else(|| PathBuf::from("out/analysis"));
        require_writable(&out)?;
        // To standard error: large graphs take minutes.
        eprintln!(
            "computing what {} of {} nodes learn",
            request.observers(graph.node_count()).len(),
            graph.node_count()
        );
        let analysis = analyse(&graph, &request)?;
        let source = self.edges.display().to_string();
        let files = output::write(&analysis, &source, &out)?;
        print_line(summary::text(&analysis, &source).trim_end());
        print_line(&format!("Files. In {}: {}.", out.display(), files.join(", ")));
        Ok(())
    }
}
