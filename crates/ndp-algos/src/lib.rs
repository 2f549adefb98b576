//! Decentralized protocols, what each node sees of them, and what that costs in privacy.
//!
//! This page is a tutorial: from one observer of one protocol to a protocol of your own, in the order in
//! which you need it. Graphs and matrices come from [`ndp_graph`], accounting for single releases and the
//! grades of numbers from [`ndp_dp`], whose first pages are tutorials, too.
//!
//! # 1. The question
//!
//! Nodes of a network compute something together, a mean or a model, by messages and with noise. What does an
//! *observer* `v` (one node, a coalition, an outsider) learn about the data of an *exposed* node `u`? A
//! [`Protocol`](ndp_account::Protocol) is asked in two steps: [`account`](ndp_account::Protocol::account)
//! looks at what the observer sees, which is the expensive part; [`profile`](ndp_account::Account::profile)
//! says what follows for one node at one noise, with a grade, in the privacy notion of your choice:
//!
//! ```
//! use ndp_account::{Observer, Protocol};
//! use ndp_algos::gossip::SynchronousGossip;
//! use ndp_dp::{Delta, Grade, NoiseMultiplier};
//! use ndp_graph::{GossipMatrix, generators::karate_club_graph};
//! // Every member adds noise to its value once, then averages with its friends for eight rounds.
//! let gossip = SynchronousGossip::new(GossipMatrix::metropolis(&karate_club_graph()?), 8);
//! let account = gossip.account(&Observer::node(11))?;
//! let profile = account.profile(33, NoiseMultiplier::new(4.0)?)?;
//! let epsilon = profile.epsilon(Delta::new(1e-5)?)?;
//! assert_eq!(epsilon.grade(), Grade::Exact);
//! assert!((epsilon.value().epsilon() - 0.5874).abs() < 1e-4);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Noise is a [`NoiseMultiplier`](ndp_dp::NoiseMultiplier): its standard deviation in units of the distance
//! by which the data of one node may change. An [`Observer`](ndp_account::Observer) is as strong as an
//! honest-but-curious node can be, unless it is told otherwise: `Observer::coalition(&[3, 5])`,
//! `Observer::outsider().tapping(&[(0, 1)])`, `.without_own_noise()`.
//!
//! If the view is linear and Gaussian, everything follows from a *unit loss* for each node: the part of the
//! local loss (the loss if the noisy value were published) that the observer gets. It comes as a proven
//! enclosure:
//!
//! ```
//! # use ndp_account::{Observer, Protocol};
//! # use ndp_algos::gossip::SynchronousGossip;
//! # use ndp_graph::{GossipMatrix, generators::karate_club_graph};
//! # let gossip = SynchronousGossip::new(GossipMatrix::metropolis(&karate_club_graph()?), 8);
//! # let account = gossip.account(&Observer::node(11))?;
//! let losses = account.unit_losses().ok_or("gossip has unit losses")?;
//! let (low, high) = losses.enclosure(33)?;
//! assert!(low <= 0.434_764_607_615_463_4 && 0.434_764_607_615_463 <= high && high - low < 1e-9);
//! assert!(losses.failure < 1e-20); // of the upper ends, over primes drawn from a hash of the view
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # 2. How much noise
//!
//! A [`Target`](ndp_account::Target) says how much may be lost, in which privacy notion, and by which nodes.
//! [`least_noise`](ndp_account::least_noise) finds the noise and [`check`](ndp_account::check) verifies one:
//!
//! ```
//! use ndp_account::{Observer, Protocol, Target, check, least_noise};
//! use ndp_algos::gossip::SynchronousGossip;
//! use ndp_dp::{Delta, Measure, Verdict};
//! use ndp_graph::{GossipMatrix, generators::cycle_graph};
//! let graph = cycle_graph(12)?;
//! let gossip = SynchronousGossip::new(GossipMatrix::metropolis(&graph), 4);
//! let accounts: Vec<_> =
//!     (0..12).map(|v| gossip.account(&Observer::node(v))).collect::<Result<_, _>>()?;
//! let terms = Measure::Approx(Delta::new(1e-5)?);
//! let everybody = Target::worst(terms, 1.0);
//! let least = least_noise(&accounts, &everybody)?;
//! assert_eq!(check(&accounts, least.noise, &everybody)?.verdict, Verdict::Met);
//! // Neighbors are trusted with more: the noise may be smaller.
//! let by_distance = Target::pairs(terms, move |u, v| if graph.has_edge(u, v) { 3.0 } else { 1.0 });
//! assert!(least_noise(&accounts, &by_distance)?.noise.get() <= least.noise.get());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # 3. Which protocol
//!
//! All protocols are asked in the same way, so that they can be compared at the same guarantee: the noise
//! that each needs, the error that remains, and the messages that it sends. [`registry`] has every protocol
//! by name, its parameters as data:
//!
//! ```
//! use ndp_account::{Observer, Target};
//! use ndp_algos::registry;
//! use ndp_dp::{Delta, Measure};
//! use ndp_graph::{GossipMatrix, generators::cycle_graph};
//! let matrix = GossipMatrix::metropolis(&cycle_graph(8)?);
//! let target = Target::worst(Measure::Approx(Delta::new(1e-5)?), 1.0);
//! let table = registry::compare_all(&matrix, &[Observer::node(0)], &target);
//! assert!(table.rows.iter().filter(|row| row.least.is_ok()).count() >= 12);
//! println!("{table}"); // one that has no answer keeps its row, with the reason
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | protocol | type | names in the registry |
//! |---|---|---|
//! | noise once, then gossip (*Muffliato*), plain or accelerated | [`SynchronousGossip`](gossip::SynchronousGossip) | `muffliato`, `muffliato-accelerated` |
//! | gossip over pairs, or over changing graphs | [`SequenceGossip`](gossip::SequenceGossip) | `randomized-gossip`, `one-peer` |
//! | pairs with momentum | [`AcceleratedGossip`](gossip::AcceleratedGossip) | `randomized-accelerated` |
//! | noise in every round, or on messages | [`FreshNoiseGossip`](gossip::FreshNoiseGossip), [`NoisyMessageGossip`](gossip::NoisyMessageGossip) | `fresh-noise`, `noisy-messages` |
//! | correlated noise, secure sums, D-SGD: ten published programs | [`ndp_program::constructors`] | `decor`, `zip-dl`, `gopa`, `corn-dsgd`, `dsgd`, `secure-neighbor-sums`, `hierarchical` |
//! | gossip on directed edges | [`Program`](ndp_program::Program) | `push-sum` |
//! | a token on a ring: sums and histograms | [`RingSum`](walk::ring::RingSum), [`RingHistogram`](walk::ring::RingHistogram) | `ring-sum`, `ring-histogram` |
//! | ... behind noise of another law | [`ReleasedSum`](walk::ReleasedSum) | `ring-sum-laplace`, `complete-sum-discrete-laplace`, ...: each sum, each law |
//! | a token on the complete graph | [`CompleteSum`](walk::complete::CompleteSum), [`CompleteHistogram`](walk::complete::CompleteHistogram) | `complete-sum`, `complete-histogram` |
//! | a token on any graph | [`TokenWalk`](walk::graph::TokenWalk), [`TokenAveraging`](walk::graph::TokenAveraging) | `walk` |
//! | training: local, central, federated, by a walk, by gossip | [`PrivateTraining`](sgd::PrivateTraining) | `local-sgd`, `central-sgd`, `federated-sgd`, `walk-sgd-complete`, `walk-sgd`, `gossip-sgd` |
//! | no network: everybody publishes, or a curator does | by name only | `local`, `central` |
//!
//! # 4. Your own matrix, your own view
//!
//! Weights of your own are a [`GossipMatrix`](ndp_graph::GossipMatrix) from an `ndarray`. For a protocol that
//! this crate does not have at all, what is seen can be written down: a [`View`](ndp_account::View) is a row
//! for each message, over the inputs and over the noises.
//!
//! ```
//! use ndarray::arr2;
//! use ndp_algos::gossip::SynchronousGossip;
//! use ndp_account::{LinearProtocol, View, loss::exact_loss};
//! use ndp_graph::{GossipMatrix, generators::path_graph};
//! let path = path_graph(3)?;
//! let own = arr2(&[[0.5, 0.5, 0.0], [0.5, 0.25, 0.25], [0.0, 0.25, 0.75]]);
//! let gossip = SynchronousGossip::new(GossipMatrix::from_dense(&path, own.view())?, 2);
//! let losses = gossip.coalition_loss(&[2])?;
//! // The same by hand: node 2 hears y1 and then half y0, a quarter of y1, a quarter of its own y2.
//! let heard = arr2(&[[0.0, 1.0, 0.0], [0.5, 0.25, 0.25]]);
//! let by_hand = exact_loss(&View::new(&[2], heard.clone(), heard, &[2])?)?;
//! assert!((losses.unit(0)?.value().get() - by_hand.unit(0)?.value().get()).abs() < 1e-9);
//! assert!((by_hand.unit(0)?.value().get() - 1.0).abs() < 1e-9); // all of node 0, two steps away
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # 5. Your own protocol
//!
//! The shortest way is a [`Program`](ndp_program::Program): who contributes what, which noises are added,
//! which sums are formed, who sees what. One account covers correlated noise, noise over time, secure sums,
//! repeated use, drop-outs and coalitions.
//!
//! ```
//! use ndp_account::{Observer, Protocol, Target, least_noise};
//! use ndp_program::{Declared, Program, Reads, SensitivitySet};
//! use ndp_dp::{Delta, Measure};
//! use ndp_graph::generators::cycle_graph;
//! // Everybody broadcasts its value with noise of its own, and masks that cancel between neighbors.
//! let graph = cycle_graph(6)?;
//! let mut program = Program::new(6)?;
//! let (x, z) = (program.contribute_all(Reads::Nothing)?, program.noise_all(1)?);
//! let mut y = program.add_all(&x, &z)?;
//! for (a, b) in graph.edges() {
//!     let (plus, minus) = program.pairwise(a, b, 100)?;
//!     (y[a], y[b]) = (program.add(&[y[a], plus])?, program.add(&[y[b], minus])?);
//! }
//! program.broadcast_all(&y)?;
//! // What neighboring inputs are is always said; then it is a protocol like all others.
//! let masked = Declared::new(program, SensitivitySet::UseLevel);
//! let accounts = [Protocol::account(&masked, &Observer::node(0))?];
//! let target = Target::worst(Measure::Approx(Delta::new(1e-5)?), 1.0);
//! assert!(least_noise(&accounts, &target)?.noise.get() < 2.5); // 3.73 without masks
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! If the view is easier to write down than the steps, implement
//! [`LinearProtocol`](ndp_account::LinearProtocol) (two methods). For everything else implement
//! [`Protocol`](ndp_account::Protocol), whose account gives a profile for each node and noise.
//! [`check`](ndp_account::check), [`least_noise`](ndp_account::least_noise),
//! [`compare`](ndp_account::compare) and [`audit`](ndp_account::audit::audit) take all of them.
//!
//! # 6. Tokens
//!
//! A token that goes from node to node hides where it has been: what the next holder sees contains the noise
//! of all earlier holders. On a [ring](walk::ring) the loss is exact, on the [complete graph](walk::complete)
//! and on [any graph](walk::graph) an upper bound.
//!
//! ```
//! use ndp_account::{LinearProtocol, Observer, Protocol, Target, least_noise};
//! use ndp_algos::walk::graph::{LocalLoss, TokenWalk};
//! use ndp_algos::walk::ring::{Placement, RingSum};
//! use ndp_algos::walk::{Bounds, TokenNoise};
//! use ndp_dp::{Delta, Measure, NoiseMultiplier, Order, Sigma};
//! use ndp_graph::{TransitionMatrix, generators::hypercube_graph, hitting::Start};
//! // The sum of numbers between 0 and 1, three times around a ring of a hundred.
//! let delta = Delta::new(1e-6)?;
//! let noise = TokenNoise::gaussian(Sigma::new(10.0)?);
//! let ring = RingSum::new(100, 3, Bounds::new(0.0, 1.0)?, noise, Placement::Counter)?;
//! // Two releases, whatever the length of the ring: the last token does not come back to node 0.
//! assert!((ring.coalition_loss(&[0])?.unit(5)?.value().get() - 2.0).abs() < 1e-9);
//! let target = Target::worst(Measure::Approx(delta), 1.0);
//! assert!(least_noise(&[ring.account(&Observer::node(0))?], &target)?.noise.get() < 8.0);
//! // A walk on a hypercube: who is far away learns less.
//! let walk = TokenWalk::new(&TransitionMatrix::simple_random_walk(&hypercube_graph(5)?)?, Start::Uniform, 300)?;
//! let local = LocalLoss { order: Order::new(2.0)?, noise: NoiseMultiplier::new(10.0)? };
//! assert!(walk.loss(0, &[31], local)?.value() < walk.loss(0, &[1], local)?.value());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # 7. Training
//!
//! [`sgd`] trains by a walking model, by gossip, by a server, on any [`Dataset`](sgd::Dataset).
//! [`PrivateTraining`](sgd::PrivateTraining), a protocol like all others, says what this costs.
//!
//! ```
//! use ndp_account::{Observer, Protocol};
//! use ndp_algos::sgd::walk::{Route, WalkSgd};
//! use ndp_algos::sgd::{Domain, MeanEstimation, Objective, PrivateTraining, Training};
//! use ndp_dp::{Delta, NoiseMultiplier};
//! // The mean of numbers from an interval of length 1 around 0.
//! let constants = MeanEstimation.constants(0.5, 0.0, Domain::Unbounded);
//! let walk = Training::walk(WalkSgd::new(Route::Complete, 1000, 0.1, Some(20)));
//! let epsilon = |training| -> Result<f64, Box<dyn std::error::Error>> {
//!     let training = PrivateTraining::new(100, constants, training)?;
//!     let account = training.account(&Observer::node(0))?;
//!     let profile = account.profile(1, NoiseMultiplier::new(30.0)?)?;
//!     Ok(profile.epsilon(Delta::new(1e-6)?)?.value().epsilon())
//! };
//! // Twenty gradients of a user, seen by everybody, or carried along by the model.
//! assert!(epsilon(walk)? < 0.7 * epsilon(Training::Local { contributions: 20 })?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # 8. Several runs
//!
//! [`PairLedgers`](ndp_account::PairLedgers) adds up, for every pair, what several runs have cost, and says
//! before a run whether its cost still fits. What a run may depend on has to be declared; a run that reacts
//! to something hidden cannot be added, and is refused.
//!
//! # 9. Is it true?
//!
//! [`audit`](ndp_account::audit::audit) runs a protocol and attacks what the observer really receives. Its
//! lower bound exceeds a true guarantee only with a probability that you choose.
//!
//! ```
//! use ndp_account::Observer;
//! use ndp_account::audit::{AuditPlan, audit};
//! use ndp_algos::gossip::SynchronousGossip;
//! use ndp_dp::NoiseMultiplier;
//! use ndp_graph::progress::Silent;
//! use ndp_graph::{GossipMatrix, generators::path_graph};
//! use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
//! let gossip = SynchronousGossip::new(GossipMatrix::metropolis(&path_graph(3)?), 2);
//! let plan = AuditPlan { runs: 10_000, error_rate: 1e-3 };
//! let rng = &mut ChaCha8Rng::seed_from_u64(1);
//! let found = audit(&gossip, 0, &Observer::node(2), NoiseMultiplier::new(1.0)?, plan, rng, &Silent)?;
//! assert!(!found.is_refuted() && *found.measured_mu.value() > 0.8); // of 1
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # 10. Printed formulas
//!
//! This crate contains no formula that may be false. The formulas of the papers as they are printed, for
//! reproducing figures, are in `ndp-printed`. Several of them are false, and their type prevents their use as
//! guarantees.
//!
//! # What is where
//!
//! | question | module |
//! |---|---|
//! | what does an observer learn, how much noise, which protocol, several runs | [`ndp_account`], [`registry`] |
//! | averaging by gossip | [`gossip`]: [`fresh`](gossip::fresh), [`noisy_messages`](gossip::noisy_messages), [`sequence`](gossip::sequence), [`accelerated`](gossip::accelerated), [`calibrate`](gossip::calibrate()), [`utility`](gossip::utility) |
//! | a protocol stated step by step | [`ndp_program`], [`ndp_program::constructors`] |
//! | tokens | [`walk`]: [`ring`](walk::ring), [`complete`](walk::complete), [`graph`](walk::graph) |
//! | training | [`sgd`], [`sgd::privacy`] |
//! | losses of a view | [`ndp_account::View`], [`ndp_account::loss`] |
//! | attacks | [`ndp_account::audit`] |
//! | accountants of single releases, composition, amplification | [`ndp_dp`] |
//! | graphs and matrices | [`ndp_graph`] |
//!
//! Bad input is an [`Error`](ndp_account::Error) that names the condition and the value. Everything random
//! takes a generator, and no result depends on the number of threads.

#![cfg_attr(
    not(test),
    deny(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss)
)]

mod baselines;
pub mod error;
pub mod gossip;
#[doc(hidden)]
pub mod parts;
pub mod registry;
pub mod sgd;
pub mod walk;

pub use error::Error;
