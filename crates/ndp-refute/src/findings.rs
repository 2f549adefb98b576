//! The printed bounds on a loss that are known to be false, as formulas: each is found again from its formula
//! alone.

use crate::error::Error;
use crate::expression::Expression;
use crate::protocol::Protocol;
use crate::search::{Graphs, Search};
use crate::setting::{Bounded, WeightRule};

/// A claim of `docs/findings.md` as a formula, and where it is searched.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Finding {
    /// Which row of `docs/findings.md` it is, counted from 1 through all its tables.
    pub number: usize,
    /// How that row begins.
    pub row: &'static str,
    /// Who printed it, and where; for readings of figures and for repairs, that nobody did.
    pub source: &'static str,
    /// The printed bound in nats.
    pub claim: &'static str,
    /// Only cases in which this is positive; empty for all.
    pub domain: &'static str,
    /// The protocol.
    pub protocol: Protocol,
    /// The weights.
    pub weights: WeightRule,
    /// How many nodes look together.
    pub observers: usize,
    /// Which losses are bounded.
    pub bounded: Bounded,
    /// Which graphs are tried, up to how many nodes and rounds.
    pub within: (Graphs, usize, usize),
    /// Nodes, rounds and edges of the counterexample that was known before; those found are no larger.
    pub known: (usize, usize, usize),
}

impl Finding {
    /// The finding of this number, if it states a bound on a loss that the language of claims can say.
    #[must_use]
    pub fn numbered(number: usize) -> Option<&'static Self> {
        FINDINGS.iter().find(|finding| finding.number == number)
    }

    /// The search that finds it.
    ///
    /// # Errors
    /// None for those of the list.
    pub fn search(&self) -> Result<Search, Error> {
        let (graphs, nodes, rounds) = self.within;
        let domain = (!self.domain.is_empty()).then(|| Expression::parse(self.domain)).transpose()?;
        Ok(Search {
            protocol: self.protocol,
            observers: self.observers,
            bounded: self.bounded,
            domain,
            graphs,
            max_nodes: if graphs == Graphs::All { nodes } else { 0 },
            max_thin_nodes: if graphs == Graphs::All { 0 } else { nodes },
            max_rounds: rounds,
            weights: vec![self.weights],
            // The theorems on walks ask for σ² ≥ 2α(α − 1), which is 4 at order 2.
            sigma: if self.protocol.is_walk() { 2.0 } else { 1.0 },
            ..Search::default()
        })
    }
}

/// Muffliato, Theorem 1; summed over the messages that a coalition gets from outside, Theorem 12.
const MESSAGES: &str =
    "alpha / (2 * sigma^2) * sum(t, 0, T - 1, heard(w, t, W[t][w,u]^2 / sum(x, 0, n - 1, W[t][w,x]^2)))";
const MUFFLIATO: &str = "Cyffers, Even, Bellet, Massoulié, Muffliato, NeurIPS 2022";
const WALKS: &str =
    "Cyffers, Bellet, Upadhyay, Differentially private decentralized learning with random walks, ICML 2024";

const NOT_PRINTED: &str = "nobody: our reading of figures in which the loss fades with the distance";
const LOCAL: &str = "nobody: our reading of figures in which no loss is above one local loss";
const REPAIR: &str = "nobody: Theorem 3 of random walks, repaired as one might";

/// One observer of plain gossip on all graphs.
const GOSSIP: Finding = Finding {
    number: 0,
    row: "",
    source: MUFFLIATO,
    claim: MESSAGES,
    domain: "",
    protocol: Protocol::Muffliato,
    weights: WeightRule::Metropolis,
    observers: 1,
    bounded: Bounded::Each,
    within: (Graphs::All, 5, 6),
    known: (3, 2, 2),
};

/// A token on stars: leaf 1 towards the hub, its only neighbor.
const TOKEN: Finding = Finding {
    source: WALKS,
    protocol: Protocol::Walk,
    weights: WeightRule::MaxDegree,
    domain: "1 / 2 - (u - 1)^2 - v^2",
    within: (Graphs::Stars, 20, 40),
    ..GOSSIP
};

/// All of them, by number.
pub const FINDINGS: &[Finding] = &[
    Finding { number: 1, row: "Theorem 1: the sum over messages", ..GOSSIP },
    Finding { number: 2, row: "The same, by attack on simulated transcripts", known: (4, 4, 3), ..GOSSIP },
    Finding {
        number: 3,
        row: "Figures 1a, 2, 3: the loss fades with the distance",
        source: NOT_PRINTED,
        claim: "alpha / (2 * sigma^2) / hops",
        known: (10, 10, 9),
        ..GOSSIP
    },
    Finding {
        number: 4,
        row: "Corollary 1: a relaxation of Theorem 1",
        claim: "alpha / (2 * sigma^2) * n * largest(w, v, 1 / W[1][v,w]^2) * sum(t, 1, T, W[t][v,u]^2)",
        ..GOSSIP
    },
    Finding { number: 5, row: "Figure 1a on the grid: the loss fades", known: (2025, 243, 3960), ..GOSSIP },
    Finding {
        number: 6,
        row: "Figures 1a, 2, 4 on geometric graphs: the loss fades",
        known: (300, 110, 2000),
        ..GOSSIP
    },
    Finding {
        number: 7,
        row: "Theorem 12: the sum over messages bounds what a coalition",
        observers: 2,
        known: (6, 4, 5),
        ..GOSSIP
    },
    Finding {
        number: 8,
        row: "Corollary 4: the variance",
        claim: "deg(v) / (2 * alpha * sigma^2)",
        bounded: Bounded::Mean,
        known: (8, 5, 8),
        ..GOSSIP
    },
    Finding {
        number: 11,
        row: "Corollary 2: the entry",
        claim: "alpha / (2 * sigma^2) * sum(t, 0, T - 1, heard(w, t, W[t][u,w]^2 / sum(x, 0, n - 1, W[t][w,x]^2)))",
        protocol: Protocol::Pairs,
        within: (Graphs::All, 4, 5),
        known: (4, 5, 3),
        ..GOSSIP
    },
    Finding {
        number: 34,
        row: "Theorem 3: the losses of single contributions add up",
        claim: "alpha / sigma^2 * T / n * sum(t, 1, T, W[t][u,v] / t)",
        known: (20, 200, 19),
        ..TOKEN
    },
    Finding {
        number: 35,
        row: "First passage in the place of occupation",
        source: REPAIR,
        claim: "alpha / (2 * sigma^2) / n * sum(s, 0, T - 1, sum(t, 1, T - s, F[t][u,v] / t))",
        known: (6, 30, 5),
        ..TOKEN
    },
    Finding {
        number: 37,
        row: "Equation (18): losses to members add up",
        claim: "members(w, alpha / sigma^2 * T / n * sum(t, 1, T, W[t][u,w] / t))",
        // The hub and leaf 2.
        domain: "1 / 2 - (u - 1)^2 - (members(w, w) - 2)^2 - v^2",
        observers: 2,
        within: (Graphs::Stars, 40, 80),
        known: (100, 1000, 99),
        ..TOKEN
    },
    Finding {
        number: 39,
        row: "Figures 1, 4: the loss is at most one local loss",
        source: LOCAL,
        claim: "alpha / (2 * sigma^2)",
        domain: "3 / 2 - deg(u) * hops",
        within: (Graphs::All, 4, 12),
        known: (10, 100, 9),
        ..TOKEN
    },
    Finding {
        number: 40,
        row: "Theorem 4: on a star a contribution costs the hub",
        claim: "alpha / sigma^2 * T / n / (2 * sqrt(n - 1)) * ln((sqrt(n - 1) + 1) / (sqrt(n - 1) - 1))",
        weights: WeightRule::Simple,
        known: (100, 1000, 99),
        ..TOKEN
    },
    Finding {
        number: 50,
        row: "arXiv 2510.19934, Theorem 4.1, as a formula",
        source: "Li, Su, Wang, Long, Su, Mitigating privacy-utility trade-off in decentralized federated learning via f-differential privacy, NeurIPS 2025, arXiv:2510.19934, Theorem 4.1 read as a formula",
        claim: "alpha / (2 * sigma^2) / n * sum(s, 0, T - 1, sum(t, 1, T - s, F[t][u,v] / t))",
        domain: "3 / 2 - deg(u) * hops",
        weights: WeightRule::Metropolis,
        within: (Graphs::All, 4, 8),
        known: (2, 3, 1),
        ..TOKEN
    },
];
