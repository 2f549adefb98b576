//! What a plan tries on a graph.

use super::{Kind, PROTOCOLS, Parameters, find, stopping_rounds};
use ndp_account::Error;
use ndp_graph::{GossipMatrix, Graph, Weights};
use ndp_numeric::stop::Stop;

/// Rounds that are tried, as multiples of those of the stopping rule.
const FACTORS: [f64; 4] = [0.25, 0.5, 1.0, 2.0];

/// The weights that are tried; the first alone for protocols that do not use weights.
const WEIGHTS: [Weights; 2] = [Weights::Metropolis, Weights::MaxDegree];

/// A protocol with weights and parameters.
///
/// # Examples
/// See [`Combinations`].
#[derive(Clone, Debug, PartialEq)]
pub struct Combination {
    /// The name of the protocol.
    pub protocol: &'static str,
    /// The weights of the gossip matrix; those of Metropolis where they do not matter.
    pub weights: Weights,
    /// Rounds, or nothing for a protocol without rounds.
    pub parameters: Parameters,
}

/// What a plan tries.
///
/// # Examples
/// ```
/// use ndp_algos::registry::Combinations;
/// use ndp_graph::{Weights, generators::cycle_graph, progress::Stop};
/// let found = Combinations::of(&cycle_graph(8)?, &["muffliato".into()], false, &Stop::never())?;
/// assert_eq!(found.tried.len(), 8); // four numbers of rounds with two kinds of weights
/// assert!(found.tried.iter().any(|one| one.weights == Weights::MaxDegree));
/// let all = Combinations::of(&cycle_graph(8)?, &[], false, &Stop::never())?;
/// assert!(all.elsewhere.contains(&"ring-sum"));
/// # Ok::<(), ndp_account::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Combinations {
    /// Those with few rounds, which are fast, come first.
    pub tried: Vec<Combination>,
    /// Protocols that find a mean and are left out, because they bring connections of their own.
    pub elsewhere: Vec<&'static str>,
}

impl Combinations {
    /// Every protocol that finds a mean, with a few numbers of rounds and weights: means are compared with
    /// means, and a baseline needs a trusted party or gives none. If `only` names protocols, these alone are
    /// tried, whatever connections they need; otherwise those that run on the edges of the graph, or
    /// everything if `any_topology` is set.
    ///
    /// # Errors
    /// [`Error::NoSuchName`] for a name that no protocol has, [`Error::InvalidText`] for that of a protocol
    /// that finds no mean; those of the spectral gap, by which rounds are chosen.
    pub fn of(graph: &Graph, only: &[String], any_topology: bool, stop: &Stop) -> Result<Self, Error> {
        for name in only {
            if find(name)?.kind != Kind::Mean {
                return Err(Error::InvalidText {
                    what: "a protocol of a plan",
                    expected: "one that finds a mean (trainings, histograms and baselines can be compared)",
                    got: name.clone(),
                });
            }
        }
        let base = stopping_rounds(&GossipMatrix::metropolis(graph), stop)?;
        let mut all = Self { tried: Vec::new(), elsewhere: Vec::new() };
        for entry in PROTOCOLS.iter().filter(|entry| entry.kind == Kind::Mean) {
            let named = only.iter().any(|name| name == entry.name);
            if !only.is_empty() && !named {
                continue;
            }
            if !named && !any_topology && !entry.is_on_the_graph() {
                all.elsewhere.push(entry.name);
                continue;
            }
            let has_rounds = entry.parameters.iter().any(|parameter| parameter.name == "rounds");
            let factors: &[f64] = if has_rounds { &FACTORS } else { &[0.0] };
            let weights = if has_rounds && entry.uses_weights() { &WEIGHTS[..] } else { &WEIGHTS[..1] };
            for &weights in weights {
                for factor in factors {
                    let rounds = Parameters::from([("rounds", (base * factor).ceil().max(1.0))]);
                    let parameters = if has_rounds { rounds } else { Parameters::default() };
                    let one = Combination { protocol: entry.name, weights, parameters };
                    // Where few rounds are enough, half of them may be as many.
                    if all.tried.last() != Some(&one) {
                        all.tried.push(one);
                    }
                }
            }
        }
        let rounds = |one: &Combination| one.parameters.0.get("rounds").copied().unwrap_or(0.0);
        all.tried.sort_by(|a, b| rounds(a).total_cmp(&rounds(b)));
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndp_graph::generators::{complete_graph, cycle_graph};

    /// On a complete graph one round is enough, so that all numbers of rounds are 1 or 2.
    #[test]
    fn nothing_is_tried_twice() -> Result<(), Error> {
        for graph in [complete_graph(6)?, cycle_graph(9)?] {
            for any in [false, true] {
                let found = Combinations::of(&graph, &[], any, &Stop::never())?;
                for (i, one) in found.tried.iter().enumerate() {
                    assert!(!found.tried[..i].contains(one), "{one:?}");
                }
                assert_eq!(found.elsewhere.is_empty(), any);
            }
        }
        Ok(())
    }

    /// A protocol that is named is tried wherever it sends; one that finds no mean is refused, not ignored.
    #[test]
    fn what_is_named_is_tried_or_refused() -> Result<(), Error> {
        let graph = cycle_graph(5)?;
        let of =
            |name: &str| Combinations::of(&graph, &["muffliato".into(), name.into()], false, &Stop::never());
        assert!(of("ring-sum")?.tried.iter().any(|one| one.protocol == "ring-sum"));
        assert!(matches!(of("walk-sgd"), Err(Error::InvalidText { got, .. }) if got == "walk-sgd"));
        assert!(matches!(of("nobody"), Err(Error::NoSuchName { .. })));
        Ok(())
    }

    /// Weights of a second kind only where weights matter; few rounds first.
    #[test]
    fn weights_that_do_not_matter_are_not_tried() -> Result<(), Error> {
        let found = Combinations::of(&cycle_graph(6)?, &[], true, &Stop::never())?;
        for one in &found.tried {
            assert!(one.weights == Weights::Metropolis || find(one.protocol)?.uses_weights(), "{one:?}");
        }
        let rounds: Vec<f64> =
            found.tried.iter().map(|one| one.parameters.0.get("rounds").copied().unwrap_or(0.0)).collect();
        assert!(rounds.is_sorted() && rounds.len() > FACTORS.len());
        Ok(())
    }
}
