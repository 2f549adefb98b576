//! How much does a node of a decentralized protocol learn about the data of another node?
//!
//! This crate is the front door: it holds no code of its own, it names what is meant to be used, and it is
//! the only crate of the project that promises stability. [`prelude`] has what nearly every program needs.
//!
//! | you want to | start at |
//! |---|---|
//! | know what a node learns from averaging on your graph | [section 1](#1-what-does-a-node-learn) |
//! | know how much noise a target needs | [section 2](#2-how-much-noise) |
//! | choose a protocol | [section 3](#3-which-protocol) |
//! | state a protocol of your own | [section 4](#4-a-protocol-of-your-own) |
//! | train a model | [section 5](#5-training) |
//! | account for one mechanism, without a network | [section 6](#6-one-mechanism) |
//! | check a claim by an attack | [section 7](#7-is-it-true) |
//!
//! # 1. What does a node learn?
//!
//! A *protocol* is run by the nodes of a graph. An *observer* is a node, a coalition, or somebody outside who
//! taps edges. An account says what the observer learns about each node at a given noise, and the type of the
//! answer says what it is worth: [`Exact`](dp::Exact) and [`UpperBound`](dp::UpperBound) are guarantees,
//! [`Printed`](dp::Printed) and [`Estimate`](dp::Estimate) are not, and nothing turns one of the latter into
//! one of the former.
//!
//! ```
//! use ndp::prelude::*;
//! // Every member of a karate club adds noise to its value once, then averages with its friends for eight rounds.
//! let gossip = SynchronousGossip::new(GossipMatrix::metropolis(&generators::karate_club_graph()?), 8);
//! let account = gossip.account(&Observer::node(11))?;
//! // Noise of four times the range of a value: what does member 11 learn about member 33?
//! let epsilon = account.profile(33, NoiseMultiplier::new(4.0)?)?.epsilon(Delta::new(1e-5)?)?;
//! assert_eq!(epsilon.grade(), Grade::Exact);
//! assert!((epsilon.value().epsilon() - 0.5874).abs() < 1e-4);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A number alone is no guarantee. [`Account::terms`](account::Account::terms) says what may differ between
//! the two worlds that are compared, what the noise is, and by which theorem the number holds;
//! [`Account::assumptions`](account::Account::assumptions) says what is taken for granted.
//!
//! # 2. How much noise?
//!
//! A [`Target`](account::Target) says how much may be learned, in which terms, and by whom. `least_noise`
//! gives a bare number; a [`Covered`](account::Covered) has the [`Statement`](account::Statement) beside it:
//! who is protected, from whom, and what is taken for granted.
//!
//! ```
//! use ndp::prelude::*;
//! let gossip = SynchronousGossip::new(GossipMatrix::metropolis(&generators::cycle_graph(12)?), 4);
//! let accounts: Vec<_> =
//!     (0..12).map(|v| gossip.account(&Observer::node(v))).collect::<Result<_, _>>()?;
//! let target = Target::worst(Measure::Approx(Delta::new(1e-5)?), 1.0);
//! let least = least_noise(&accounts, &target)?;
//! assert_eq!(check(&accounts, least.noise, &target)?.verdict, Verdict::Met);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # 3. Which protocol?
//!
//! All protocols answer the same question, so they can be compared at the same guarantee: the noise that each
//! needs, the error that is left, the messages it sends. [`registry`] knows every protocol by its name.
//!
//! ```
//! use ndp::prelude::*;
//! let ring = GossipMatrix::metropolis(&generators::cycle_graph(8)?);
//! let target = Target::worst(Measure::Approx(Delta::new(1e-5)?), 1.0);
//! let table = registry::compare_all(&ring, &[Observer::node(0)], &target);
//! println!("{table}"); // a protocol without an answer keeps its row, with the reason
//! # assert!(table.rows.iter().filter(|row| row.least.is_ok()).count() >= 12);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # 4. A protocol of your own
//!
//! A linear protocol with Gaussian noise is stated step by step as a [`Program`](program::Program): who
//! contributes, which noises are drawn, which sums are formed, who sees what. The account, a simulator and an
//! attack follow from it.
//!
//! ```
//! use ndp::prelude::*;
//! // Everybody broadcasts its value with noise of its own, and with masks that cancel between neighbors.
//! let graph = generators::cycle_graph(6)?;
//! let mut program = Program::new(6)?;
//! let (x, z) = (program.contribute_all(Reads::Nothing)?, program.noise_all(1)?);
//! let mut y = program.add_all(&x, &z)?;
//! for (a, b) in graph.edges() {
//!     let (plus, minus) = program.pairwise(a, b, 100)?;
//!     (y[a], y[b]) = (program.add(&[y[a], plus])?, program.add(&[y[b], minus])?);
//! }
//! program.broadcast_all(&y)?;
//! let masked = Declared::new(program, SensitivitySet::UseLevel);
//! let accounts = [masked.account(&Observer::node(0))?];
//! let target = Target::worst(Measure::Approx(Delta::new(1e-5)?), 1.0);
//! assert!(least_noise(&accounts, &target)?.noise.get() < 2.5); // 3.73 without masks
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # 5. Training
//!
//! A model that walks from user to user hides where it has been.
//!
//! ```
//! use ndp::algos::sgd::walk::{Route, WalkSgd};
//! use ndp::algos::sgd::{Domain, MeanEstimation, Objective};
//! use ndp::prelude::*;
//! let constants = MeanEstimation.constants(0.5, 0.0, Domain::Unbounded);
//! let training = Training::walk(WalkSgd::new(Route::Complete, 1000, 0.1, Some(20)));
//! let training = PrivateTraining::new(100, constants, training)?;
//! let account = training.account(&Observer::node(0))?;
//! let epsilon = account.profile(1, NoiseMultiplier::new(30.0)?)?.epsilon(Delta::new(1e-6)?)?;
//! assert!(epsilon.grade() == Grade::UpperBound && epsilon.value().epsilon() < 2.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # 6. One mechanism
//!
//! Without a network, [`dp`] accounts for single mechanisms and their composition. The law of the privacy
//! loss encloses the truth:
//!
//! ```
//! use ndp::dp::{Gaussian, Sensitivity, Sigma};
//! use ndp::prelude::*;
//! let step = Gaussian { sensitivity: Sensitivity::new(1.0)?, sigma: Sigma::new(1.0)? };
//! // A thousand steps on a sample of one per cent each.
//! let epsilon = LossLaw::sampled_gaussian(step, 0.01)?.times(1000)?.epsilon(Delta::new(1e-5)?);
//! assert!(epsilon.lower() <= 1.828_237 && 1.828_237 <= epsilon.upper() && epsilon.upper() < 1.8284);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # 7. Is it true?
//!
//! [`audit`](account::audit::audit) attacks what an observer of real runs receives. Its lower bound is above
//! a true guarantee only with a probability that one chooses.
//!
//! ```
//! use ndp::account::audit::{AuditPlan, audit};
//! use ndp::graph::progress::Silent;
//! use ndp::prelude::*;
//! use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
//! let gossip = SynchronousGossip::new(GossipMatrix::metropolis(&generators::path_graph(3)?), 2);
//! let plan = AuditPlan { runs: 10_000, error_rate: 1e-3 };
//! let rng = &mut ChaCha8Rng::seed_from_u64(1);
//! let found = audit(&gossip, 0, &Observer::node(2), NoiseMultiplier::new(1.0)?, plan, rng, &Silent)?;
//! assert!(!found.is_refuted() && *found.measured_mu.value() > 0.8); // of 1
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # The crates behind the door
//!
//! Each can be used alone, and the first page of each is a tutorial: [`graph`] (graphs, matrices, spectra; no
//! privacy), [`dp`] (mechanisms, loss laws, composition; no graphs), [`account`] (observers, accounts,
//! targets, ledgers, audits), [`program`] (protocols stated step by step), [`algos`] (gossip, token walks,
//! private SGD, the registry). Formulas of papers that may be false are in `ndp-printed`, which no library
//! depends on.
//! Where to change what is the table at the top of `docs/architecture.md`.

pub mod prelude;

pub use ndp_account as account;
pub use ndp_algos as algos;
pub use ndp_algos::registry;
pub use ndp_dp as dp;
pub use ndp_graph as graph;
pub use ndp_program as program;

/// The Rust code of the README and of the book runs.
#[cfg(doctest)]
mod book {
    #[doc = include_str!("../../../README.md")]
    struct Readme;
    #[doc = include_str!("../../../docs/start/five-minutes.md")]
    struct FiveMinutes;
    #[doc = include_str!("../../../docs/how-to/how-much-noise.md")]
    struct HowMuchNoise;
    #[doc = include_str!("../../../docs/program.md")]
    struct OwnProtocol;
    #[doc = include_str!("../../../docs/reference/rust.md")]
    struct Reference;
}
