//! One question, one way to ask it: what does this observer learn about each node, at this noise?
//!
//! Every [`Protocol`] answers it, those of `ndp-algos` (gossips of all kinds, sums and histograms carried by
//! a token, private training, local and central baselines) and one of your own. The question has three steps,
//! because they cost differently:
//!
//! 1. [`Protocol::account`] with an [`Observer`] looks at what the observer sees. This is the expensive step.
//! 2. [`Account::profile`] of a node at a noise is a graded [`Profile`](ndp_dp::Profile): Rényi loss at any
//!    order, `μ` where the view is Gaussian, `ε(δ)` and `δ(ε)`.
//! 3. Everything else is written once, on the first two:
//!
//! | question | function |
//! |---|---|
//! | is the target met at this noise? | [`check`] |
//! | ... by everybody, though not everybody is looked at? | [`Covered::check`] |
//! | how much noise does the target need? | [`least_noise`] |
//! | which protocol is best at the same guarantee? | [`compare`] |
//! | what of a protocol is taken for granted? | [`Account::assumptions`] |
//! | does a real run keep what the accountant says? | [`audit`](audit::audit) |
//! | what have several runs cost together? | [`PairLedgers`] |
//!
//! Noise is a [`NoiseMultiplier`](ndp_dp::NoiseMultiplier), the noise in units of the sensitivity `Δ` of one
//! node's data: the standard deviation of the Gaussian noise on a value (for fresh noise, of the first
//! round), and `1/ε₀` for reports by randomized response.
//!
//! # Examples
//! ```
//! use ndp_account::{Observer, Protocol, Target, check, least_noise};
//! use ndp_account::example::Gossip;
//! use ndp_dp::{Delta, Measure, Verdict};
//! use ndp_graph::{GossipMatrix, generators};
//! let graph = generators::hypercube_graph(4)?;
//! let gossip = Gossip::new(GossipMatrix::metropolis(&graph), 6);
//! // What node 0 learns; on a hypercube all observers are alike.
//! let accounts = [gossip.account(&Observer::node(0))?];
//! let target = Target::worst(Measure::Approx(Delta::new(1e-5)?), 1.0);
//! let least = least_noise(&accounts, &target)?;
//! assert_eq!(check(&accounts, least.noise, &target)?.verdict, Verdict::Met);
//! // A node at distance 2 loses less than a neighbor.
//! let far = accounts[0].profile(3, least.noise)?.epsilon(Delta::new(1e-5)?)?;
//! assert!(far.value().epsilon() < 0.9);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Where a view is linear and Gaussian, a protocol says what is seen: a [`View`] by [`LinearProtocol`]. Its
//! losses are enclosures with proof, a [`LossReport`], computed by `ndp-certify`.

#![cfg_attr(
    not(test),
    deny(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss)
)]

mod accountant;
mod attack;
pub mod audit;
mod counter;
pub mod error;
#[doc(hidden)]
pub mod example;
mod forward;
pub mod loss;
mod ordered;
#[doc(hidden)]
pub mod parts;
mod protocol;
mod rests_on;
mod terms;
mod view;

pub use accountant::{
    Account, Allowed, Among, Attacker, Audience, Check, Comparison, Coverage, Covered, LeastNoise,
    MOST_COALITIONS, NodeNames, Observer, Pair, PairLedgers, Protocol, Rest, Row, Said, Senders, Statement,
    Target, Worst, account_or_bound, accounts, bound_is_attained, check, compare, largest, least_noise,
    named, number_of_coalitions,
};
pub use error::Error;
pub use loss::LossReport;
pub use protocol::{LinearProtocol, Observation, OwnNoise};
pub use rests_on::{ComparedWith, Dependence, Norm, Patterns, RestsOn, SensitivitySet};
pub use terms::{Assumption, By, Changes, Law, Noise, Terms};
pub use view::View;
