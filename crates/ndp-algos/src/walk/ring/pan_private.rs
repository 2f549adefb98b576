//! Online algorithms as protocols of one round on a ring.
//!
//! Node `t` applies the update of an online algorithm to the state it receives and its own data, and forwards
//! the state; the last node applies the output map. Receiving the token is seeing one internal state, so an
//! `(ε, δ)`-pan-private algorithm (one breach, and the output) yields the same guarantee towards each single
//! node of the ring. There is no converse, and several colluders are several breaches, which pan-privacy does
//! not cover.
//!
//! # References
//! Cyffers and Bellet, arXiv:2012.05326: Appendix C; Dwork, Naor, Pitassi, Rothblum and Yekhanin,
//! *Pan-private streaming algorithms*, ICS 2010: Definition 4 of the former, one unannounced intrusion.

use crate::Error;
use crate::walk::FinalToken;
use ndp_dp::{ApproxDp, UpperBound};
use rand::Rng;

/// An algorithm that reads a stream once and keeps only a state.
///
/// # Examples
/// ```
/// use ndp_algos::walk::FinalToken;
/// use ndp_algos::walk::ring::pan_private::{OnlineAlgorithm, guarantee, simulate};
/// use ndp_dp::{ApproxDp, UpperBound};
/// use rand::{Rng, RngExt};
/// /// Counts ones, from a uniform number modulo 1000: the state shows nothing, and so does the output without it.
/// struct Blinded;
/// impl OnlineAlgorithm for Blinded {
///     type Input = bool;
///     type State = u64;
///     type Output = u64;
///     fn start(&self, rng: &mut impl Rng) -> u64 {
///         rng.random_range(0..1000)
///     }
///     fn update(&self, state: u64, input: &bool, _rng: &mut impl Rng) -> u64 {
///         (state + u64::from(*input)) % 1000
///     }
///     fn output(&self, state: &u64, _rng: &mut impl Rng) -> u64 {
///         *state
///     }
/// }
/// use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
/// let rng = &mut ChaCha8Rng::seed_from_u64(1);
/// let run = simulate(&Blinded, &[true, false, true], FinalToken::Withheld, rng)?;
/// assert_eq!((run.states[3] + 1000 - run.states[0]) % 1000, 2);
/// // One breach and no output: nothing is learnt, in one round by one observer.
/// let nothing = UpperBound::new(ApproxDp::new(0.0, 0.0)?);
/// assert!(guarantee(nothing, 1, 1).is_ok() && guarantee(nothing, 2, 1).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait OnlineAlgorithm {
    /// One element of the stream: the data of one user.
    type Input;
    /// What is kept between elements.
    type State: Clone;
    /// The result.
    type Output: Clone;

    /// The state before the first element.
    fn start(&self, rng: &mut impl Rng) -> Self::State;
    /// The state after one more element.
    fn update(&self, state: Self::State, input: &Self::Input, rng: &mut impl Rng) -> Self::State;
    /// The output from the last state.
    fn output(&self, state: &Self::State, rng: &mut impl Rng) -> Self::Output;
}

/// A run of an online algorithm around a ring of `n` nodes, by [`simulate`]; there is an example at [`OnlineAlgorithm`].
#[derive(Clone, Debug, PartialEq)]
pub struct PanPrivateRun<State, Output> {
    /// The state before each of the `n` steps, and after the last one. What node `v` sees is `states[v]`.
    pub states: Vec<State>,
    /// The output, which only the last node knows unless it is published.
    pub output: Output,
    /// Whether every node learns the output.
    pub published: bool,
}

/// Runs `algorithm` around a ring, node `t` holding `data[t]`.
///
/// # Errors
/// [`Error::InvalidParameter`] for fewer than 2 nodes; [`Error::NoGuarantee`] for a masked output, which this
/// simulation does not know how to mask: publish it, and let the output map do what it must.
pub fn simulate<A: OnlineAlgorithm>(
    algorithm: &A,
    data: &[A::Input],
    final_token: FinalToken,
    rng: &mut impl Rng,
) -> Result<PanPrivateRun<A::State, A::Output>, Error> {
    super::sum::check_ring(data.len(), 1)?;
    if final_token == FinalToken::Masked {
        return Err(Error::NoGuarantee("an online algorithm publishes its output or withholds it"));
    }
    let mut state = algorithm.start(rng);
    let mut states = vec![state.clone()];
    for input in data {
        state = algorithm.update(state, input, rng);
        states.push(state.clone());
    }
    let output = algorithm.output(&state, rng);
    Ok(PanPrivateRun { states, output, published: final_token == FinalToken::Published })
}

/// The guarantee towards each node of a ring passed `rounds` times, observed by `colluders` nodes, from the
/// pan-privacy of the algorithm with one breach.
///
/// # Errors
/// [`Error::NoGuarantee`] unless `rounds = 1` and `colluders = 1`.
pub fn guarantee(
    pan_private: UpperBound<ApproxDp>,
    rounds: usize,
    colluders: usize,
) -> Result<UpperBound<ApproxDp>, Error> {
    if colluders != 1 {
        return Err(Error::NoGuarantee("colluding nodes are several breaches; pan-privacy covers one"));
    }
    if rounds != 1 {
        return Err(Error::NoGuarantee("pan-privacy covers one round of the ring; compose runs instead"));
    }
    Ok(pan_private)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::walk::TokenNoise;
    use ndp_dp::Sigma;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    /// A noisy counter: noise in the first state hides a breach, noise in the output hides the total.
    struct Counter {
        noise: TokenNoise,
    }

    impl OnlineAlgorithm for Counter {
        type Input = bool;
        type State = f64;
        type Output = f64;

        fn start(&self, rng: &mut impl Rng) -> f64 {
            self.noise.sample(rng).unwrap()
        }
        fn update(&self, state: f64, input: &bool, _rng: &mut impl Rng) -> f64 {
            state + f64::from(u8::from(*input))
        }
        fn output(&self, state: &f64, rng: &mut impl Rng) -> f64 {
            state + self.noise.sample(rng).unwrap()
        }
    }

    #[test]
    fn nodes_see_one_state_and_the_output() -> Result<(), Error> {
        let rng = &mut ChaCha8Rng::seed_from_u64(1);
        let counter = Counter { noise: TokenNoise::named("laplace", Sigma::new(0.5)?)? };
        let data = [true, false, true, true];
        let run = simulate(&counter, &data, FinalToken::Published, rng)?;
        assert_eq!((run.states[3] - run.states[0], run.states.len()), (2.0, 5));
        assert!(run.published && run.output != run.states[4]);
        assert!(!simulate(&counter, &data, FinalToken::Withheld, rng)?.published);
        Ok(())
    }

    #[test]
    fn guarantee_is_for_one_breach_in_one_round() -> Result<(), Error> {
        let pan_private = UpperBound::new(ApproxDp::new(0.7, 1e-6)?);
        assert_eq!(guarantee(pan_private, 1, 1)?, pan_private);
        for (rounds, colluders) in [(1, 2), (2, 1), (0, 1), (1, 0)] {
            assert!(matches!(guarantee(pan_private, rounds, colluders), Err(Error::NoGuarantee(_))));
        }
        let rng = &mut ChaCha8Rng::seed_from_u64(1);
        let counter = Counter { noise: TokenNoise::named("laplace", Sigma::new(0.5)?)? };
        assert!(simulate(&counter, &[true], FinalToken::Withheld, rng).is_err());
        assert!(simulate(&counter, &[true, true], FinalToken::Masked, rng).is_err());
        Ok(())
    }
}
