//! Graphs, gossip and transition matrices, and their spectra. Nothing here is about privacy.
//!
//! This page is a tutorial, from a list of edges to how quickly a network forgets, in the order in which a
//! user needs the parts. `ndp-algos` computes what protocols on these graphs cost in privacy.
//!
//! # 1. A graph
//!
//! A [`Graph`] is simple and undirected, with nodes `0..n`, and perhaps labels and positions. Generators have
//! the names and the argument order of networkx; a random generator takes the random number generator as its
//! last argument:
//!
//! ```
//! use ndp_graph::{generators, random};
//! use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
//! let cube = generators::hypercube_graph(4)?;
//! assert_eq!((cube.node_count(), cube.edge_count(), cube.diameter()?), (16, 32, 4));
//! let rng = &mut ChaCha8Rng::seed_from_u64(1);
//! let friends = random::watts_strogatz_graph(100, 6, 0.1, rng)?;
//! assert_eq!(friends.edge_count(), 300);
//! # Ok::<(), ndp_graph::Error>(())
//! ```
//!
//! | fixed | random |
//! |---|---|
//! | [`path_graph`](generators::path_graph), [`cycle_graph`](generators::cycle_graph), [`star_graph`](generators::star_graph), [`complete_graph`](generators::complete_graph) | [`erdos_renyi_graph`](random::erdos_renyi_graph), [`connected_erdos_renyi`](random::connected_erdos_renyi) |
//! | [`grid_2d_graph`](generators::grid_2d_graph), [`torus_graph`](generators::torus_graph), [`hypercube_graph`](generators::hypercube_graph) | [`random_regular_graph`](random::random_regular_graph) |
//! | [`ring_of_cliques`](generators::ring_of_cliques), [`kneser_graph`](generators::kneser_graph) | [`barabasi_albert_graph`](random::barabasi_albert_graph), [`watts_strogatz_graph`](random::watts_strogatz_graph) |
//! | [`karate_club_graph`](generators::karate_club_graph), [`davis_southern_women_graph`](generators::davis_southern_women_graph) | [`random_geometric_graph`](random::random_geometric_graph), [`connected_random_geometric`](random::connected_random_geometric) |
//! | one way only: [`directed_cycle`](generators::directed_cycle), a walk | [`stochastic_block_model`](random::stochastic_block_model) |
//!
//! [`draw_index`](random::draw_index) draws from any list of probabilities.
//!
//! A network of your own comes from the lines of an [edge list](edge_list), which may be a file of SNAP or
//! KONECT, from [GraphML, MatrixMarket or NumPy](graph_file), from edges, from an adjacency matrix, or from
//! petgraph. GraphML and petgraph are features, on by default. Input that is not a simple graph is refused,
//! with the number of the line or the entry:
//!
//! ```
//! use ndp_graph::Graph;
//! use ndp_graph::edge_list::{EdgeListOptions, read_edge_list};
//! let text = "# who talks to whom\nann bob\nbob cy\ncy ann\ndan eve\n";
//! let graph = read_edge_list(text.as_bytes(), EdgeListOptions::default())?;
//! let (largest, kept) = graph.largest_component();
//! assert_eq!((largest.node_count(), graph.component_count(), kept), (3, 2, vec![0, 1, 2]));
//! assert_eq!(largest.labels().map(|labels| labels[2].as_str()), Some("cy"));
//! assert_eq!(Graph::from_edges(2, [(0, 1), (1, 1)]), Err(ndp_graph::Error::SelfLoop(1)));
//! let other: petgraph::graph::UnGraph<String, ()> = (&largest).into();
//! assert_eq!(Graph::try_from(&other)?.edge_count(), 3);
//! # Ok::<(), ndp_graph::Error>(())
//! ```
//!
//! # 2. A matrix on it
//!
//! Nodes average with a [`GossipMatrix`]: symmetric, rows summing to 1, supported on the edges and the
//! diagonal. A walking token follows a [`TransitionMatrix`], for which only the rows must sum to 1. Both are
//! checked when they are made and are stored sparsely; your own `ndarray` works as well as a named rule:
//!
//! ```
//! use ndarray::arr2;
//! use ndp_graph::{Error, GossipMatrix, TransitionMatrix, generators::path_graph};
//! let path = path_graph(3)?;
//! let by_rule = GossipMatrix::metropolis(&path);
//! let own = arr2(&[[0.5, 0.5, 0.0], [0.5, 0.25, 0.25], [0.0, 0.25, 0.75]]);
//! let given = GossipMatrix::from_dense(&path, own.view())?;
//! assert_eq!((by_rule.get(0, 1), given.get(1, 2)), (1.0 / 3.0, 0.25));
//! let leaky = arr2(&[[0.5, 0.4, 0.0], [0.4, 0.6, 0.0], [0.0, 0.0, 1.0]]);
//! assert!(matches!(GossipMatrix::from_dense(&path, leaky.view()), Err(Error::NotStochastic { row: 0, .. })));
//! let token = TransitionMatrix::simple_random_walk(&path)?;
//! assert_eq!(token.stationary_distribution()?, [0.25, 0.5, 0.25]);
//! # Ok::<(), Error>(())
//! ```
//!
//! # 3. How quickly it mixes
//!
//! The distance to the mean shrinks by `1 - gap` in a round. Choose the function by the eigenvalues that you
//! need: the extreme ones come from [`spectrum::extremes`] (dense, or [`lanczos`] for large graphs), all of
//! them from [`Spectrum`], and those of families that can be diagonalised by hand from a
//! [`Family`](closed_form::Family), at any size:
//!
//! ```
//! use ndp_graph::closed_form::Family;
//! use ndp_graph::{GossipMatrix, Spectrum, Weights, generators::cycle_graph, spectrum::extremes};
//! let ring = GossipMatrix::metropolis(&cycle_graph(12)?);
//! let on_paper = Family::Cycle(12).extremes(Weights::Metropolis)?;
//! assert!((extremes(&ring)?.gap_abs()? - on_paper.gap_abs()?).abs() < 1e-12);
//! assert!((Spectrum::new(&ring)?.values().sum() - 4.0).abs() < 1e-12); // the trace
//! // A million nodes on a ring: after how many rounds is a tenth of the deviation left?
//! let gap = Family::Cycle(1_000_000).extremes(Weights::Metropolis)?.gap_abs()?;
//! assert!((0.1_f64.ln() / (-gap).ln_1p()).round() > 1e11);
//! # Ok::<(), ndp_graph::Error>(())
//! ```
//!
//! # 4. Averaging
//!
//! [`Chebyshev`](chebyshev::Chebyshev) polynomials of the matrix reach the mean in about the square root of
//! the rounds. A [`GossipSequence`] is gossip whose matrix changes: pairs that meet at random, a new graph in
//! every round, nodes that drop out, the one-peer hypercube.
//!
//! ```
//! use ndp_graph::chebyshev::Chebyshev;
//! use ndp_graph::generators::{grid_2d_graph, hypercube_graph};
//! use ndp_graph::{GossipMatrix, GossipSequence, spectrum::extremes};
//!
//! // How much slower than a hypercube is a grid of as many nodes, and what does acceleration save?
//! let grid = GossipMatrix::metropolis(&grid_2d_graph(16, 16)?);
//! let cube = GossipMatrix::metropolis(&hypercube_graph(8)?);
//! assert!((extremes(&cube)?.gap_abs()? - 2.0 / 9.0).abs() < 1e-12);
//! assert!(extremes(&cube)?.gap_abs()? > 25.0 * extremes(&grid)?.gap_abs()?);
//!
//! // A thousand on one node, averaged: plain gossip against Chebyshev polynomials of the same degree.
//! let mut x = vec![0.0; 256];
//! x[0] = 1000.0;
//! let farthest = |x: &[f64]| x.iter().map(|value| (value - 1000.0 / 256.0).abs()).fold(0.0, f64::max);
//! let accelerated = Chebyshev::published(extremes(&grid)?.gap_abs()?)?.apply_vector(&grid, &x, 100)?;
//! let mut next = x.clone();
//! for _ in 0..100 {
//!     grid.csr().multiply(&x, &mut next);
//!     std::mem::swap(&mut x, &mut next);
//! }
//! assert!(farthest(&x) > 10.0 && farthest(&accelerated) < 0.02);
//!
//! // On a hypercube, eight steps in which everybody meets one peer give the mean to everybody.
//! let mut x = vec![0.0; 256];
//! x[0] = 1000.0;
//! GossipSequence::one_peer_hypercube(8)?.steps().iter().for_each(|step| step.apply(&mut x));
//! assert!(farthest(&x) < 1e-12);
//! # Ok::<(), ndp_graph::Error>(())
//! ```
//!
//! # 5. Walks
//!
//! When does a token first visit a node? [`hitting`] answers with laws, without cancellation and with the
//! error of every entry; [`walk_sums`] and [`log_matrix`] count visits, [`mixing_time`] says when the start
//! is forgotten.
//!
//! ```
//! use ndp_graph::hitting::{Start, Walk};
//! use ndp_graph::mixing_time::mixing_time;
//! use ndp_graph::{GossipMatrix, TransitionMatrix, generators::karate_club_graph};
//! let matrix = GossipMatrix::metropolis(&karate_club_graph()?);
//! // From the instructor (0) to the administrator (33) of the club.
//! let visits = Walk::from(&matrix).first_visits(&Start::Node(0), &[33], 200)?;
//! let within: f64 = visits.at[0][..=50].iter().sum();
//! assert!((within + visits.none[50] - 1.0).abs() < 1e-12 && 0.5 < within && within < 1.0);
//! assert_eq!(visits.at[0][1], 0.0); // they are not friends
//! assert!(mixing_time(&TransitionMatrix::from(&matrix), 0.25)? > 5);
//! # Ok::<(), ndp_graph::Error>(())
//! ```
//!
//! # 6. Who matters, and who is near
//!
//! ```
//! use ndp_graph::centrality::{eigenvector_centrality, katz_centrality};
//! use ndp_graph::generators::karate_club_graph;
//! let club = karate_club_graph()?;
//! let central = eigenvector_centrality(&club)?;
//! let most = (0..34).max_by(|&u, &v| central[u].total_cmp(&central[v]));
//! assert_eq!(most, Some(33));
//! assert!(katz_centrality(&club, 0.1, 1.0)?[33] > 2.0 * katz_centrality(&club, 0.1, 1.0)?[11]);
//! assert_eq!(club.distances(11)[33], Some(3));
//! # Ok::<(), ndp_graph::Error>(())
//! ```
//!
//! # What is where
//! * Graphs: [`generators`], [`random`], [`edge_list`], [`Graph`] (distances, components, petgraph, adjacency
//!   matrices).
//! * Matrices: [`gossip_matrix`], [`transition_matrix`], [`sequences`].
//! * Spectra: [`spectrum`] (both gaps, dense or by [`lanczos`]), [`closed_form`], [`mixing_time`],
//!   [`log_matrix`].
//! * Walks: [`hitting`] (laws of first passage), [`walk_sums`].
//! * Nodes that matter: [`centrality`], [`communicability`].
//! * Long calls: [`progress`] and cancellation.
//! * Files: [`edge_list`], other formats by their first bytes in [`graph_file`], and everything by serde in
//!   [`files`].
//! * Inside: [`csr`], the compressed rows of every matrix here.
//!
//! No input panics: for graphs that are empty, disconnected or not simple, for matrices that are not
//! stochastic, and for sizes that do not fit in memory, calls return an [`Error`] naming condition and value.
//! The documented exception is an index out of range. Results never depend on the number of threads.
//!
//! # Features
//! * `lapack`, off by default: dense decompositions by LAPACK instead of faer; the binary chooses and links
//!   it.

#![cfg_attr(
    not(test),
    deny(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss)
)]

pub mod centrality;
pub mod chebyshev;
#[cfg(test)]
mod checks;
pub mod closed_form;
pub mod communicability;
mod conversions;
pub mod csr;
mod davis;
mod distances;
mod draw;
pub mod edge_list;
pub mod error;
mod extremes;
pub mod files;
pub mod generators;
pub mod gossip_matrix;
pub mod graph;
pub mod graph_file;
pub mod hitting;
mod karate;
#[doc(hidden)]
pub mod kernel;
pub mod lanczos;
pub mod log_matrix;
pub mod mixing_time;
#[cfg(feature = "petgraph")]
mod petgraphs;
pub mod progress;
pub mod random;
pub mod sequences;
mod spectral_function;
pub mod spectrum;
mod stationary;
pub mod symmetries;
#[doc(hidden)]
pub mod tasks;
pub mod transition_matrix;
pub mod walk_sums;
mod weights;

pub use csr::Csr;
pub use error::Error;
pub use gossip_matrix::{GossipMatrix, Weights};
pub use graph::Graph;
pub use sequences::{GossipSequence, Step};
pub use spectrum::Spectrum;
pub use transition_matrix::TransitionMatrix;
