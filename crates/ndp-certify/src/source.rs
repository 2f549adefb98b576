//! The source of a view's exact rows.

use crate::Error;
use crate::account::{self, Budget, Certificate};
use crate::krylov::Krylov;
use crate::rows::Rows;
use ndp_graph::Graph;

/// The source of a view's exact rows.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// Gossip with a fixed matrix on a graph.
    FixedMatrix(Krylov, Graph),
    /// Rows, one by one.
    Rows(Rows),
}

impl Source {
    /// The certificate of the losses.
    ///
    /// # Errors
    /// Those of [`account::of_krylov`] and [`account::of_rows`].
    pub fn certificate(&self, budget: Budget<'_>) -> Result<Certificate, Error> {
        match self {
            Self::FixedMatrix(krylov, graph) => account::of_krylov(krylov, graph, budget),
            Self::Rows(rows) => account::of_rows(rows, budget),
        }
    }
}
