//! Decentralized SGD with noise over time, 2,000 nodes of degree 4 and 500 steps: what one node learns about
//! every other.
#![allow(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "an example shows something, here also a time"
)]

use ndp_account::{Error, Observer};
use ndp_graph::{GossipMatrix, random::random_regular_graph};
use ndp_program::constructors::{Dsgd, dsgd};
use ndp_program::{SensitivitySet, Weight, toeplitz};
use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
use std::time::Instant;

fn main() -> Result<(), Error> {
    let start = Instant::now();
    let matrix = GossipMatrix::metropolis(&random_regular_graph(4, 2000, &mut ChaCha8Rng::seed_from_u64(1))?);
    // Half of the noise of a step is taken back in the next.
    let noise = toeplitz(500, &[Weight::from(1), Weight::from((-1, 2))]);
    let program = dsgd(&matrix, Dsgd { noise, ..Dsgd::from(500) })?;
    println!("written after {:.1} s", start.elapsed().as_secs_f64());
    let account = program.account(&Observer::node(0))?;
    println!("what node 0 sees, after {:.1} s", start.elapsed().as_secs_f64());
    for set in
        [SensitivitySet::UseLevel, SensitivitySet::SameDirection, SensitivitySet::Vectors { dimension: 10 }]
    {
        let (mut exact, mut most): (usize, f64) = (0, 0.0);
        for u in 1..2000 {
            let loss = account.loss(u, &set)?;
            exact += usize::from(loss.value.grade() == ndp_dp::Grade::Exact);
            most = most.max(loss.value());
        }
        println!(
            "{set:?}: at most {most:.6}, {exact} of 1999 exact, after {:.1} s",
            start.elapsed().as_secs_f64()
        );
    }
    Ok(())
}
