//! Walks on a graph: laws of first visits, the renewal accountant at all depths, and both together.
//!
//! Goals on two cores, for one pair at n = 2048, degree 11, T = 10^4: 50 ms from given laws, 150 ms with
//! them. Everything here runs on one thread.

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use ndp_account::{Error, Observer, Protocol};
use ndp_algos::walk::graph::{LocalLoss, TokenWalk, WalkOptions};
use ndp_dp::{NoiseMultiplier, Order};
use ndp_graph::generators::{grid_2d_graph, hypercube_graph};
use ndp_graph::hitting::{PairLaws, Start, Walk};
use ndp_graph::{GossipMatrix, TransitionMatrix};
use std::hint::black_box;

/// Dimension of the hypercube, and steps.
const SIZES: [(u32, usize); 3] = [(8, 1000), (11, 1150), (11, 10_000)];

fn hypercube(dimension: u32) -> Result<GossipMatrix, Error> {
    Ok(GossipMatrix::metropolis(&hypercube_graph(dimension)?))
}

fn local(alpha: f64, sigma: f64) -> Result<LocalLoss, Error> {
    Ok(LocalLoss { order: Order::new(alpha)?, noise: NoiseMultiplier::new(sigma)? })
}

/// Noises that are all different: an account keeps its answers, and gives one again at no cost.
struct Questions {
    noise: f64,
    asked: u32,
}

impl Questions {
    fn about(noise: NoiseMultiplier) -> Self {
        Self { noise: noise.get(), asked: 0 }
    }

    fn another(&mut self) -> Result<NoiseMultiplier, Error> {
        self.asked += 1;
        Ok(NoiseMultiplier::new(self.noise * (1.0 + 1e-9 * f64::from(self.asked)))?)
    }
}

fn laws(w: &GossipMatrix, steps: usize) -> Result<PairLaws, Error> {
    Ok(Walk::from(w).pair_laws(0, 3, &Start::Uniform, steps)?)
}

fn first_visits(c: &mut Criterion) {
    let mut group = c.benchmark_group("first_visits");
    group.sample_size(10);
    for (dimension, steps) in SIZES {
        let Ok(w) = hypercube(dimension) else { continue };
        let size = format!("n{}_t{steps}", 1 << dimension);
        group.bench_function(BenchmarkId::new("pair_laws_by_halves", &size), |b| b.iter(|| laws(&w, steps)));
        group.bench_function(BenchmarkId::new("one_law", &size), |b| {
            b.iter(|| Walk::from(&w).first_visits(&Start::Node(0), &[3], black_box(steps)));
        });
    }
    group.finish();
}

fn accountant(c: &mut Criterion) {
    let mut group = c.benchmark_group("renewal");
    group.sample_size(10);
    for (dimension, steps) in SIZES {
        let Ok(w) = hypercube(dimension) else { continue };
        let Ok(walk) = TokenWalk::new(&TransitionMatrix::from(&w), Start::Uniform, steps) else { continue };
        let Ok(account) = walk.account(&Observer::node(3)) else { continue };
        for (alpha, sigma) in [(2.0, 2.0), (2.0, 1.0), (16.0, 2.0)] {
            let Ok(local) = local(alpha, sigma) else { continue };
            let size = format!("n{}_t{steps}_alpha{alpha}_sigma{sigma}", 1 << dimension);
            // Questions go on where the warm-up ended.
            let mut asked = Questions::about(local.noise);
            group.bench_function(BenchmarkId::new("all_depths_from_laws", &size), |b| {
                // The laws are those that the account keeps from the first question.
                b.iter(|| -> Result<f64, Error> {
                    Ok(account.profile(black_box(0), asked.another()?)?.renyi(local.order)?.value().epsilon)
                });
            });
        }
        let Ok(local) = local(2.0, 2.0) else { continue };
        let size = format!("n{}_t{steps}", 1 << dimension);
        group.bench_function(BenchmarkId::new("all_depths_with_laws", &size), |b| {
            b.iter(|| walk.loss(0, &[black_box(3)], local));
        });
    }
    group.finish();
}

/// From laws that the account keeps.
fn coalitions(c: &mut Criterion) {
    let mut group = c.benchmark_group("coalition");
    group.sample_size(10);
    let walk = || -> Result<TokenWalk, Error> {
        TokenWalk::new(&TransitionMatrix::from(&hypercube(8)?), Start::Uniform, 2000)
    };
    let (Ok(walk), Ok(order), Ok(noise)) = (walk(), Order::new(2.0), NoiseMultiplier::new(2.0)) else {
        return;
    };
    for members in [vec![3], vec![3, 5, 6]] {
        let Ok(account) = walk.account(&Observer::coalition(&members)) else { continue };
        let mut asked = Questions::about(noise);
        let mut loss = || -> Result<f64, Error> {
            Ok(account.profile(0, asked.another()?)?.renyi(order)?.value().epsilon)
        };
        if loss().is_ok() {
            group
                .bench_function(BenchmarkId::new("n256_t2000_members", members.len()), |b| b.iter(&mut loss));
        }
    }
    group.finish();
}

/// A capped loss on a walk of 193225 steps, first visits followed for 10^4.
fn long_walks(c: &mut Criterion) {
    let mut group = c.benchmark_group("long_walk");
    group.sample_size(10);
    let walk = || -> Result<TokenWalk, Error> {
        let w = GossipMatrix::metropolis(&grid_2d_graph(45, 45)?);
        let options = WalkOptions { cap: Some(120), horizon: Some(10_000), ..WalkOptions::default() };
        TokenWalk::new(&TransitionMatrix::from(&w), Start::Uniform, 193_225)?.with_options(options)
    };
    let (Ok(walk), Ok(local)) = (walk(), local(2.0, 1.0)) else { return };
    group.bench_function("n2025_one_pair", |b| b.iter(|| walk.loss(0, &[black_box(1000)], local)));
    group.finish();
}

criterion_group!(benches, first_visits, accountant, coalitions, long_walks);
criterion_main!(benches);
