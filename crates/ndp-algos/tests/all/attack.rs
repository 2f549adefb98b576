//! The best linear attack on real transcripts.

use ndarray::Array2;
use ndp_account::parts::Attack;
use ndp_account::{Error, LinearProtocol};
use ndp_algos::gossip::{GossipProtocol, SynchronousGossip};
use ndp_dp::Sigma;
use ndp_graph::{GossipMatrix, generators};
use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};

/// Where the loss is 1, the estimate is what the source sent first, to rounding.
#[test]
fn a_loss_of_one_is_exact_reconstruction() -> Result<(), Error> {
    let sigma = Sigma::new(0.7)?;
    for (graph, v, u, rounds) in [
        (generators::path_graph(5)?, 4, 0, 4),
        (generators::hypercube_graph(4)?, 0, 15, 5),
        (generators::cycle_graph(7)?, 0, 3, 4),
    ] {
        let protocol = SynchronousGossip::new(GossipMatrix::metropolis(&graph), rounds);
        let attack = Attack::optimal(&protocol.coalition_view(&[v])?, u)?;
        assert!((attack.unit - 1.0).abs() < 1e-9);
        let values = Array2::from_shape_fn((graph.node_count(), 3), |(w, j)| (w + j) as f64);
        let sent = &values + &protocol.run(values.view(), sigma, &mut ChaCha8Rng::seed_from_u64(5))?.noise;
        let seen = protocol.observe(values.view(), sigma, &[v], &mut ChaCha8Rng::seed_from_u64(5))?;
        // The observer need know no input but its own: the others cancel.
        let mut own = Array2::zeros(values.raw_dim());
        own.row_mut(v).assign(&values.row(v));
        let estimate = attack.estimate(&seen, own.view())?;
        for (guess, truth) in estimate.iter().zip(sent.row(u)) {
            assert!((guess - truth).abs() < 1e-6, "{guess} is not {truth}");
        }
    }
    Ok(())
}
