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

use super::sum::check_node;
use crate::Error;
use crate::walk::FinalToken;
use ndp_dp::{ApproxDp, UpperBound};
use rand::Rng;

/// An algorithm that reads a stream once and keeps only a state.
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

/// A run of an online algorithm around a ring.
#[derive(Clone, Debug, PartialEq)]
pub struct PanPrivateRun<State, Output> {
    states: Vec<State>,
    output: Output,
    final_token: FinalToken,
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
    Ok(PanPrivateRun { states, output, final_token })
}

impl<State: Clone, Output: Clone> PanPrivateRun<State, Output> {
    /// What node `v` sees: the state it receives, and the output if it is published.
    ///
    /// # Errors
    /// [`Error::NodeOutOfRange`].
    pub fn view(&self, v: usize) -> Result<(State, Option<Output>), Error> {
        check_node(v, self.states.len() - 1)?;
        let published = (self.final_token == FinalToken::Published).then(|| self.output.clone());
        Ok((self.states[v].clone(), published))
    }

    /// The output, which only the last node knows unless it is published.
    #[must_use]
    pub const fn output(&self) -> &Output {
        &self.output
    }
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
        let counter = Counter { noise: TokenNoise::laplace(Sigma::new(0.5)?) };
        let data = [true, false, true, true];
        let run = simulate(&counter, &data, FinalToken::Published, rng)?;
        let (first, published) = run.view(0)?;
        let (last, _) = run.view(3)?;
        assert_eq!((last - first, published), (2.0, Some(*run.output())));
        let hidden = simulate(&counter, &data, FinalToken::Withheld, rng)?;
        assert_eq!(hidden.view(2)?.1, None);
        assert!(matches!(hidden.view(4), Err(Error::NodeOutOfRange { .. })));
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
        let counter = Counter { noise: TokenNoise::laplace(Sigma::new(0.5)?) };
        assert!(simulate(&counter, &[true], FinalToken::Withheld, rng).is_err());
        assert!(simulate(&counter, &[true, true], FinalToken::Masked, rng).is_err());
        Ok(())
    }
}
