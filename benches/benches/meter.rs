//! A round of decentralized SGD of 100 nodes: goals 2 ms for one observer, 200 ms for all.

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use ndp_account::Observer;
use ndp_graph::GossipMatrix;
use ndp_graph::generators::cycle_graph;
use ndp_program::constructors::ModelReads;
use ndp_program::meter::Meter;
use ndp_program::{MixingMatrix, SensitivitySet};

fn rounds(c: &mut Criterion) {
    let graph = cycle_graph(100).expect("a ring");
    let mixing = MixingMatrix::from(&GossipMatrix::metropolis(&graph));
    for (name, watched) in [("one", 1), ("all", 100)] {
        let observers = (0..watched).map(Observer::node);
        let meter = Meter::new(100, observers, SensitivitySet::SameDirection).expect("observers of the ring");
        let mut meter = meter.without_record().expect("a new meter");
        for _ in 0..50 {
            meter.round(&mixing, 1, ModelReads::Nothing).expect("a round");
        }
        c.bench_function(&format!("meter/ring_100_a_round_{name}"), |b| {
            b.iter_batched_ref(
                || meter.clone(),
                |meter| meter.round(&mixing, 1, ModelReads::Nothing).expect("a round"),
                BatchSize::LargeInput,
            );
        });
    }
}

criterion_group!(benches, rounds);
criterion_main!(benches);
