//! Online algorithms as protocols of one round on a ring.
//!
//! Node `t` applies the update of an online algorithm to the state that it receives and its own data, and
//! forwards the state. The last node applies the output map. Receiving the token means seeing one internal
//! state, so that an `(ε, δ)`-pan-private algorithm (one breach, and the output) gives the same guarantee
//! towards each single node of the ring. The converse does not hold, and several colluders are several
//! breaches, which pan-privacy does not cover.
//!
//! # References
//! Cyffers and Bellet, arXiv:2012.05326: Appendix C; Dwork, Naor, Pitassi, Rothblum and Yekhanin,
//! *Pan-private streaming algorithms*, ICS 2010: Definition 4 of the former, one unannounced intrusion.

use ndp_account::Error;
use ndp_dp::{ApproxDp, UpperBound};

/// The guarantee towards each node of a ring on which the token goes around `rounds` times, observed by
/// `colluders` nodes, from the pan-privacy of the algorithm with one breach. It does not matter whether the
/// last node publishes the output, which pan-privacy covers.
///
/// # Errors
/// [`Error::NoGuarantee`] unless `rounds = 1` and `colluders = 1`.
///
/// # Examples
/// ```
/// use ndp_algos::walk::ring::pan_private::guarantee;
/// use ndp_dp::{ApproxDp, UpperBound};
/// let breached_once = UpperBound::new(ApproxDp::new(0.7, 1e-6)?);
/// assert_eq!(guarantee(breached_once, 1, 1)?, breached_once);
/// assert!(guarantee(breached_once, 2, 1).is_err() && guarantee(breached_once, 1, 2).is_err());
/// # Ok::<(), ndp_account::Error>(())
/// ```
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

    /// A counter of ones modulo 5 from a given start: the states that the nodes receive, and the last state.
    fn states(start: u8, data: &[bool]) -> Vec<u8> {
        let mut states = vec![start];
        for (t, &one) in data.iter().enumerate() {
            states.push((states[t] + u8::from(one)) % 5);
        }
        states
    }

    /// Over all starts, each with probability 1/5: one breach reveals nothing, and a second one reveals a
    /// contribution.
    #[test]
    fn a_node_sees_one_state_and_two_colluders_see_more() {
        let worlds = [[true, false, true, true], [true, true, true, true]];
        let seen = |data: &[bool], nodes: &[usize]| {
            let view = |start| nodes.iter().map(|&v| states(start, data)[v]).collect::<Vec<_>>();
            let mut views: Vec<_> = (0..5).map(view).collect();
            views.sort_unstable();
            views
        };
        for v in [0, 2, 3] {
            assert_eq!(seen(&worlds[0], &[v]), seen(&worlds[1], &[v]));
        }
        let together = worlds.map(|data| seen(&data, &[0, 3]));
        assert!(together[0].iter().all(|view| !together[1].contains(view)));
    }

    #[test]
    fn guarantee_is_for_one_breach_in_one_round() -> Result<(), Error> {
        let pan_private = UpperBound::new(ApproxDp::new(0.7, 1e-6)?);
        assert_eq!(guarantee(pan_private, 1, 1)?, pan_private);
        for (rounds, colluders) in [(1, 2), (2, 1), (0, 1), (1, 0)] {
            assert!(matches!(guarantee(pan_private, rounds, colluders), Err(Error::NoGuarantee(_))));
        }
        Ok(())
    }
}
