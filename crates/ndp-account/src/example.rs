//! A small gossip protocol for the examples of this documentation; in other code use
//! `ndp_algos::gossip::SynchronousGossip`.

use crate::view::checked_coalition;
use crate::{Error, LinearProtocol, OwnNoise, View};
use ndarray::Array2;
use ndp_certify::Source;
use ndp_certify::krylov::Krylov;
use ndp_dp::{Exact, Guarantee};
use ndp_graph::GossipMatrix;

/// Every node adds noise to its value once, then averages with its neighbors in every round.
#[derive(Clone, Debug)]
pub struct Gossip {
    matrix: GossipMatrix,
    rounds: usize,
    own_noise: OwnNoise,
}

impl Gossip {
    /// Gossip of this many rounds.
    #[must_use]
    pub const fn new(matrix: GossipMatrix, rounds: usize) -> Self {
        Self { matrix, rounds, own_noise: OwnNoise::Known }
    }
}

impl LinearProtocol for Gossip {
    fn node_count(&self) -> usize {
        self.matrix.node_count()
    }

    fn own_variance(&self) -> Option<f64> {
        Some(1.0)
    }

    fn outside(&self) -> Result<Guarantee<f64>, Error> {
        Ok(Exact::new(0.0).into())
    }

    fn symmetries(&self) -> Vec<Vec<u32>> {
        self.matrix.symmetries()
    }

    fn message_count(&self) -> Result<f64, Error> {
        Ok(2.0 * self.matrix.graph().edge_count() as f64 * self.rounds as f64)
    }

    fn seen_with(&self, own_noise: OwnNoise) -> Option<Box<dyn LinearProtocol + '_>> {
        Some(Box::new(Self { own_noise, ..self.clone() }))
    }

    fn coalition_view(&self, coalition: &[usize]) -> Result<View, Error> {
        let n = self.matrix.node_count();
        let coalition = checked_coalition(coalition, n)?;
        let graph = self.matrix.graph();
        let heard = |w: &usize| coalition.iter().any(|&v| v != *w && graph.has_edge(v, *w));
        let senders: Vec<usize> = (0..n).filter(|w| !coalition.contains(w) && heard(w)).collect();
        let (step, mut power) = (self.matrix.to_dense()?, Array2::eye(n));
        let mut rows = Array2::zeros((0, n));
        for _ in 0..self.rounds {
            senders.iter().for_each(|&w| rows.push_row(power.row(w)).expect("a row has n entries"));
            power = power.dot(&step);
        }
        let known = if self.own_noise == OwnNoise::Known { coalition.clone() } else { Vec::new() };
        let exact = Krylov::new(&self.matrix, &coalition, &senders, &known, self.rounds);
        let view = View::new(&coalition, rows.clone(), rows, &known)?;
        Ok(view.with_source(Source::FixedMatrix(exact, graph.clone())))
    }
}
