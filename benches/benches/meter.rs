//! A round of decentralized SGD: of 100 nodes with four neighbors each, goals 2 ms for one observer, 200 ms
//! for all; of 16 nodes and every use of a participant after 200 rounds, goal 50 ms for all.

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use ndp_account::Observer;
use ndp_graph::{GossipMatrix, Graph};
use ndp_program::constructors::ModelReads;
use ndp_program::meter::Meter;
use ndp_program::{MixingMatrix, SensitivitySet};

fn rounds(c: &mut Criterion) {
    let circle = |n: usize| (0..n).flat_map(move |u| [(u, (u + 1) % n), (u, (u + 2) % n)]);
    for (name, nodes, watched, set, before) in [
        ("100_nodes_one_observer", 100, 1, SensitivitySet::SameDirection, 50),
        ("100_nodes_all_observers", 100, 100, SensitivitySet::SameDirection, 50),
        ("16_nodes_participants", 16, 16, SensitivitySet::Signs, 200),
    ] {
        let graph = Graph::from_edges(nodes, circle(nodes)).expect("a circle with chords");
        let mixing = MixingMatrix::from(&GossipMatrix::metropolis(&graph));
        let observers = (0..watched).map(Observer::node);
        let meter = Meter::new(nodes, observers, set).expect("observers of the graph");
        let mut meter = meter.without_record().expect("a new meter");
        for _ in 0..before {
            meter.round(&mixing, 1, ModelReads::Nothing).expect("a round");
        }
        c.bench_function(&format!("meter/a_round_{name}"), |b| {
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
