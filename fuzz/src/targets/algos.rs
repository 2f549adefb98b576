//! `ndp-algos` and `ndp-printed`: tables, protocols by name, walks, rates, printed formulas.

use super::graphs::{graph, matrix, rng, start, transition};
use crate::input::{Ending, Input, Stop};
use crate::sound::{answered, require, returned, sound};
use crate::target::{Target, functions};
use ndarray::Array2;
use ndp_account::{Account, Observer};
use ndp_algos::gossip::random_graph::RandomGraph;
use ndp_algos::gossip::utility::{self, Convergence};
use ndp_algos::gossip::{
    self, AcceleratedGossip, FreshNoiseGossip, MessageNoise, NoisyMessageGossip, SynchronousGossip,
};
use ndp_algos::registry::{self, Parameters};
use ndp_algos::sgd::{Dataset, Table, TableOptions};
use ndp_algos::walk::complete::CompleteWalk;
use ndp_algos::walk::graph::{HiddenLosses, LocalLoss, TokenWalk};
use ndp_algos::walk::ring::{Placement, RingHistogram, RingSum};
use ndp_algos::walk::{Bounds, FinalToken, TokenNoise, ring};
use ndp_dp::{RandomizedResponse, UpperBound};
use ndp_printed as printed;
use ndp_program::ActiveEdge;
use std::collections::BTreeMap;

fn convergence(i: &mut Input<'_>) -> Convergence {
    let rate = i.chance();
    match i.choice(4) {
        0 => Convergence::Plain(rate),
        1 => Convergence::Accelerated(rate),
        2 => Convergence::Randomized(rate),
        _ => Convergence::AcceleratedRandomized(rate),
    }
}

fn token(i: &mut Input<'_>) -> FinalToken {
    i.pick(&[FinalToken::Masked, FinalToken::Published, FinalToken::Withheld])
}

fn local(i: &mut Input<'_>) -> Result<LocalLoss, Stop> {
    Ok(LocalLoss { order: i.order()?, noise: i.noise()? })
}

fn token_walk(i: &mut Input<'_>) -> Result<TokenWalk, Stop> {
    let (transition, start) = (transition(i)?, start(i));
    Ok(TokenWalk::new(&transition, start, i.size(12))?)
}

/// The loss of one node at one noise, where there is an account.
fn loss(account: &dyn Account, i: &mut Input<'_>) -> Ending {
    let profile = account.profile(i.place(account.node_count()), i.noise()?)?;
    let loss = *profile.epsilon(i.delta()?)?.value();
    require(loss.epsilon() >= 0.0, || format!("an epsilon of {}", loss.epsilon()))
}

/// A protocol by its name, with parameters that its entry names and others, as the command builds it.
fn named(i: &mut Input<'_>) -> Ending {
    let entry = i.choice(registry::PROTOCOLS.len());
    let entry = &registry::PROTOCOLS[entry];
    let matrix = matrix(i)?;
    let mut parameters = Parameters(BTreeMap::new());
    for parameter in entry.parameters {
        match i.choice(4) {
            0 => drop(parameters.0.insert(parameter.name.to_owned(), i.real())),
            1 => drop(parameters.0.insert(parameter.name.to_owned(), i.choice(4) as f64)),
            _ => {}
        }
    }
    // A default may be large, too: gossip on a matrix with a small spectral gap takes millions of rounds.
    for parameter in entry.parameters {
        let never = ndp_numeric::stop::Stop::never();
        if !parameters.0.contains_key(parameter.name) && (parameter.default)(&matrix, &never)? > 16.0 {
            return Ok(());
        }
    }
    let protocol = entry.build(&matrix, &parameters)?;
    // Large runs are refused or take long; those here have few steps.
    if protocol.node_count() > 8 || parameters.0.values().any(|&x| x.abs() > 16.0) {
        return Ok(());
    }
    let observer = Observer::node(i.place(protocol.node_count()));
    let account = protocol.account(&observer)?;
    loss(&*account, i)
}

fn table(i: &mut Input<'_>) -> Ending {
    let text = i.rest();
    let label = ["label", "bought", "x1", ""][text.len() % 4];
    let read = Table::read(text, &TableOptions::new(label))?;
    require(read.data.labels().iter().all(|x| x.is_finite()), || "a label that is no number".to_owned())?;
    require(read.data.features().iter().all(|x| x.is_finite()), || "a feature that is no number".to_owned())
}

fn csv(i: &mut Input<'_>) -> Ending {
    let text = i.rest();
    let read = Dataset::from_csv(text, ["label", "x1", "bought"][text.len() % 3])?;
    require(read.features().iter().all(|x| x.is_finite()), || "a feature that is no number".to_owned())?;
    returned(read.standardized()?)?;
    returned(read.with_unit_rows())
}

pub(super) const PARSERS: &[Target] = &[
    Target::parser(
        "csv",
        &["ndp-algos sgd::table::Table::read", "ndp-algos sgd::table::TableOptions::new"],
        table,
    ),
    Target::parser("csv", &["ndp-algos sgd::dataset::Dataset::from_csv"], csv),
];

fn ring_histogram(i: &mut Input<'_>) -> Ending {
    let response = RandomizedResponse::new(i.short(), i.chance())?;
    let made = RingHistogram::new(i.size(9), i.size(9), response, token(i))?;
    let account = ndp_account::Protocol::account(&made, &Observer::node(i.place(9)))?;
    loss(&*account, i)
}

/// Those that compose laws of several kinds on the largest grid, which takes a little more than others may.
pub(super) const NAMED: &[Target] = &[
    Target::function(&["ndp-algos registry::find"], named).holding(512),
    Target::function(&["ndp-algos walk::ring::histogram::RingHistogram::new"], ring_histogram).holding(512),
];

fn setting(i: &mut Input<'_>) -> RandomGraph {
    RandomGraph {
        nodes: i.count() as usize,
        degree: i.count() as usize,
        rounds: i.choice(20),
        observers: i.count() as usize,
    }
}

pub(super) const ALL: &[Target] = functions! {
    "ndp-algos gossip::closed_form::one_peer_hypercube" => |i| {
        let dimension = i.short();
        let dimension = if dimension < 40 { dimension % 10 } else { dimension };
        answered(gossip::closed_form::one_peer_hypercube(dimension, i.place(64)))
    },
    "ndp-algos gossip::fresh::schedule::flat_variances" => |i| answered(gossip::fresh::flat_variances(i.size(20), i.real())),
    "ndp-algos gossip::random_graph::positive_outside" => |i| {
        let setting = setting(i);
        returned(setting.loss(i.order()?, i.sensitivity()?, i.sigma()?)?)
    },
    "ndp-algos gossip::utility::error_bound" => |i| {
        answered(utility::error_bound(i.size(50), i.count() as usize, convergence(i), i.sigma()?, i.positive()))
    },
    "ndp-algos gossip::utility::stopping_rounds" => |i| {
        answered(utility::stopping_rounds(i.count() as usize, convergence(i), i.sigma()?, i.positive()))
    },
    "ndp-algos gossip::utility::worst_error" => |i| {
        let values = i.reals(6);
        answered(utility::worst_error(&values, |x| x * x, i.sigma()?, i.positive()))
    },
    "ndp-algos gossip::fresh::protocol::FreshNoiseGossip::new" => |i| {
        let made = FreshNoiseGossip::new(matrix(i)?, i.reals(4))?;
        returned(made.stated().program()?)
    },
    "ndp-algos gossip::noisy_messages::NoisyMessageGossip::new" => |i| {
        let kind = i.pick(&[MessageNoise::Broadcast, MessageNoise::PerLink, MessageNoise::Overheard]);
        let made = NoisyMessageGossip::new(matrix(i)?, i.choice(4), i.real(), kind)?;
        returned(made.stated().engine())
    },
    "ndp-algos gossip::synchronous::SynchronousGossip::accelerated" => |i| {
        let made = SynchronousGossip::new(matrix(i)?, i.choice(4)).accelerated(i.real())?;
        returned(made.stated().program()?)
    },
    "ndp-algos gossip::accelerated::AcceleratedGossip::given" => |i| {
        let rings = (0..i.choice(4)).map(|_| ActiveEdge { wait: i.positive(), edge: (i.place(7), i.place(7)) }).collect();
        let momentum = gossip::accelerated::Momentum { mixing: i.chance(), push: i.chance() };
        let made = AcceleratedGossip::given(&graph(i)?, rings, i.positive(), momentum)?;
        returned(made.rings().len())
    },
    "ndp-algos registry::training::training" => |i| {
        let names = ["walk-sgd", "gossip-sgd", "federated", "local", "central", ""];
        let (name, matrix) = (i.pick(&names), matrix(i)?);
        let parameters = Parameters(BTreeMap::from([(i.pick(&["steps", "rounds", "cap"]).to_owned(), i.real())]));
        returned(registry::training(name, &matrix, &parameters)?)
    },
    "ndp-algos walk::ring::pan_private::guarantee" => |i| {
        answered(ring::pan_private::guarantee(UpperBound::new(i.approx()?), i.count() as usize, i.count() as usize))
    },
    "ndp-algos walk::ring::sum::RingSum::new" => |i| {
        let bounds = Bounds::new(i.real(), i.real())?;
        let noise = TokenNoise::gaussian(i.sigma()?);
        let placement = i.pick(&[Placement::Counter, Placement::Distributed]);
        let sum = RingSum::new(i.size(9), i.size(9), bounds, noise, placement)?.with_final_token(token(i))?;
        let account = ndp_account::Protocol::account(&sum, &Observer::node(i.place(9)))?;
        loss(&*account, i)
    },
    "ndp-algos walk::noise::Bounds::new" => |i| returned(Bounds::new(i.real(), i.real())?),
    "ndp-algos walk::noise::TokenNoise::named" => |i| {
        let name = i.pick(&["gaussian", "laplace", "discrete-laplace", "discrete-gaussian", "", "x"]);
        let noise = TokenNoise::named(name, i.sigma()?)?;
        returned(noise.law.refuses(i.real()))?;
        returned(noise.law.sample(i.sigma()?, &mut rng())?)?;
        let release = noise.law.release(i.sigma()?, i.sensitivity()?)?;
        let loss = *release.rdp(i.order()?).value();
        require(loss >= 0.0, || format!("a loss of {loss}"))
    },
    "ndp-algos walk::complete::walk::CompleteWalk::new" => |i| {
        let walk = CompleteWalk::new(i.size(9), i.size(20))?;
        returned(walk.sample(&mut rng()))
    },
    "ndp-algos walk::complete::walk::CompleteWalk::path" => |i| {
        let holders: Vec<usize> = (0..i.choice(9)).map(|_| i.place(9)).collect();
        returned(CompleteWalk::new(i.size(9), i.size(9))?.path(&holders)?)
    },
    "ndp-algos walk::graph::attack::HiddenLosses::delta" => |i| {
        let losses = HiddenLosses { with: i.reals(6), without: i.reals(6) };
        let found = losses.delta(i.positive(), i.chance())?;
        require(found.low <= found.high, || format!("ends {} and {}", found.low, found.high))
    },
    "ndp-algos walk::graph::attack::HiddenLosses::epsilon" => |i| {
        let losses = HiddenLosses { with: i.reals(6), without: i.reals(6) };
        let found = losses.epsilon(i.delta()?, i.chance())?;
        require(found.low <= found.high, || format!("ends {} and {}", found.low, found.high))
    },
    "ndp-algos walk::graph::cost_law::TokenWalk::cost_law" => |i| {
        let law = token_walk(i)?.cost_law(i.place(7), &[i.place(7)])?;
        answered(law.mean())?;
        answered(law.delta(i.noise()?, i.positive()))?;
        answered(law.at_least(i.real()))
    },
    "ndp-algos walk::graph::cost_law::CostLaw::at_least" => |i| {
        answered(token_walk(i)?.cost_law(i.place(7), &[i.place(7)])?.at_least(i.real()))
    },
    "ndp-algos walk::graph::cost_law::CostLaw::delta" => |i| {
        answered(token_walk(i)?.cost_law(i.place(7), &[i.place(7)])?.delta(i.noise()?, i.real()))
    },
    "ndp-algos walk::graph::cost_law::CostLaw::least_noise" => |i| {
        answered(token_walk(i)?.cost_law(i.place(7), &[i.place(7)])?.least_noise(i.positive(), i.delta()?))
    },
    "ndp-algos walk::graph::laws::TokenWalk::loss" => |i| {
        answered(token_walk(i)?.loss(i.place(7), &[i.place(7)], local(i)?))
    },
    "ndp-algos walk::graph::path::TokenWalk::new" => |i| returned(token_walk(i)?),
    "ndp-algos sgd::dataset::Dataset::new" => |i| {
        let features = Array2::from_shape_simple_fn((i.choice(4), i.choice(4)), || i.real());
        returned(Dataset::new(features, i.reals(4))?.standardized()?)
    },
    "ndp-printed contraction::figure_delta" => |i| {
        let parameters = ndp_dp::federated::FederatedParameters {
            lipschitz: i.positive(),
            radius: i.positive(),
            step: i.positive(),
            sigma: i.positive(),
            users: i.count(),
            batch: i.count(),
        };
        let factor = ndp_dp::federated::ContractionFactor::new(i.chance())?;
        let run = ndp_dp::federated::FederatedDescent::new(parameters, factor)?;
        answered(printed::contraction::figure_delta(&run, i.positive()))
    },
    "ndp-printed gossip::corollary1_towards" => |i| {
        answered(printed::gossip::corollary1_towards(&matrix(i)?, &[i.place(7)], i.choice(20)))
    },
    "ndp-printed gossip::formulas::corollary4_variance" => |i| {
        answered(printed::gossip::corollary4_variance(i.count() as usize, i.order()?, i.positive()))
    },
    "ndp-printed network::descent::central_sigma" => |i| {
        answered(printed::network::central_sigma(i.positive(), i.positive(), i.positive(), (i.positive(), i.delta()?)))
    },
    "ndp-printed network::descent::network_sigma" => |i| {
        answered(printed::network::network_sigma(i.positive(), i.positive(), i.positive(), (i.positive(), i.delta()?)))
    },
    "ndp-printed network::descent::lemma1_rdp" => |i| {
        let step = ndp_dp::iteration::NoisyStep::new(i.positive(), i.sigma()?)?;
        answered(printed::network::lemma1_rdp(i.order()?, i.positive(), &step, i.positive()))
    },
    "ndp-printed network::descent::theorem4" => |i| {
        let found = printed::network::theorem4(i.positive(), i.positive(), i.positive(), (i.delta()?, i.delta()?))?;
        sound(found.value().epsilon)
    },
    "ndp-printed network::spotted::spotted" => |i| {
        let found = printed::network::spotted(i.positive(), i.positive(), i.positive(), i.delta()?)?;
        sound((found.value().epsilon, found.value().count))
    },
    "ndp-printed network::sum::contributions" => |i| {
        answered(printed::network::contributions(i.positive(), i.positive(), i.delta()?))
    },
    "ndp-printed network::sum::poster_theorem4" => |i| {
        answered(printed::network::poster_theorem4(i.positive(), i.positive(), i.positive(), i.delta()?))
    },
    "ndp-printed ring::debiased" => |i| answered(printed::ring::debiased(i.count(), i.short(), i.chance())),
    "ndp-printed ring::theorem1" => |i| {
        let found = printed::ring::theorem1(i.count() as usize, i.count() as usize, i.positive())?;
        returned(found.value().share)
    },
    "ndp-printed training::gossip_noise_for_mean_loss" => |i| {
        let (target, order) = (i.positive(), i.order()?);
        let (users, rounds) = (i.count() as usize, i.count() as usize);
        answered(printed::training::gossip_noise_for_mean_loss(target, order, users, rounds, i.positive()))
    },
    "ndp-printed training::walk_noise_for_mean_loss" => |i| {
        let (target, order) = (i.positive(), i.order()?);
        answered(printed::training::walk_noise_for_mean_loss(target, order, i.count() as usize, i.count() as usize))
    },
    "ndp-printed walk::user_level" => |i| {
        let visits = visits(i);
        answered(printed::walk::user_level(visits, i.size(99), i.count() as usize, local(i)?))
    },
    "ndp-printed walk::single_contribution" => |i| {
        let visits = visits(i);
        answered(printed::walk::single_contribution(visits, i.size(99), i.count() as usize, local(i)?))
    },
    "ndp-printed walk::worst_sender" => |i| answered(printed::walk::worst_sender(&i.reals(7), &graph(i)?, i.place(7))),
};

fn visits(i: &mut Input<'_>) -> printed::walk::VisitSum {
    match i.choice(5) {
        0 => printed::walk::VisitSum::Powers(i.real()),
        1 => printed::walk::VisitSum::LogMatrix(i.real()),
        2 => printed::walk::VisitSum::HubAndLeaf { kappa: i.chance() },
        3 => printed::walk::VisitSum::TwoLeaves { kappa: i.chance() },
        _ => printed::walk::VisitSum::Ring { u: i.place(99), v: i.place(99) },
    }
}
