//! `ndp-graph`: families of graphs, matrices, spectra, walks; JSON of graphs and matrices.

use crate::input::{Ending, Input, Stop};
use crate::sound::{Sound, answered, require, returned, sound};
use crate::target::{Target, functions};
use ndarray::Array2;
use ndp_graph::chebyshev::Chebyshev;
use ndp_graph::hitting::{FirstVisits, Start, Walk};
use ndp_graph::sequences::EdgeActivations;
use ndp_graph::{
    GossipMatrix, GossipSequence, Graph, Spectrum, Step, TransitionMatrix, Weights, centrality, generators,
    lanczos, log_matrix, mixing_time, random, symmetries, walk_sums,
};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

pub(super) fn rng() -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(1)
}

/// A graph of at most seven nodes, connected or not.
pub(super) fn graph(i: &mut Input<'_>) -> Result<Graph, Stop> {
    let n = 1 + i.choice(7);
    let edges: Vec<(usize, usize)> = (0..i.choice(15)).map(|_| (i.choice(n), i.choice(n))).collect();
    Ok(match i.choice(4) {
        0 => generators::path_graph(n)?,
        1 => generators::complete_graph(n)?,
        _ => Graph::from_edges(n, edges.into_iter().filter(|(u, v)| u != v))?,
    })
}

/// Weights that fit the graph.
pub(super) fn matrix(i: &mut Input<'_>) -> Result<GossipMatrix, Stop> {
    let graph = graph(i)?;
    let weights = i.pick(&[Weights::Metropolis, Weights::MaxDegree, Weights::SumDegree, Weights::Regular]);
    Ok(match i.choice(6) {
        0 => {
            let weight = i.chance();
            GossipMatrix::from_edge_weights(&graph, |_, _| weight)?
        }
        1 => GossipMatrix::new(&graph, weights)?.lazy(i.chance())?,
        _ => GossipMatrix::new(&graph, weights)?,
    })
}

pub(super) fn transition(i: &mut Input<'_>) -> Result<TransitionMatrix, Stop> {
    if i.choice(3) == 0 {
        let n = 1 + i.choice(4);
        let rows: Vec<f64> = (0..n).flat_map(|_| i.law(n)).collect();
        return Ok(TransitionMatrix::from_dense(Array2::from_shape_vec((n, n), rows)?.view())?);
    }
    Ok(TransitionMatrix::simple_random_walk(&graph(i)?)?)
}

pub(super) fn start(i: &mut Input<'_>) -> Start {
    match i.choice(3) {
        0 => Start::Uniform,
        1 => Start::Node(i.place(7)),
        _ => Start::Law(i.law(7)),
    }
}

fn dense(i: &mut Input<'_>) -> Array2<f64> {
    let (rows, columns) = (i.choice(5), i.choice(5));
    Array2::from_shape_simple_fn((rows, columns), || i.chance())
}

impl Sound for FirstVisits {
    fn sound(&self) -> Ending {
        let all = self.at.iter().flatten().chain(&self.none);
        all.copied().try_for_each(|p| {
            require((0.0..=1.0 + 1e-9).contains(&p), || format!("a probability of {p:e}"))
        })?;
        self.relative_error.sound()
    }
}

impl Sound for TransitionMatrix {
    fn sound(&self) -> Ending {
        self.csr().parts().2.to_vec().sound()
    }
}

impl Sound for GossipMatrix {
    fn sound(&self) -> Ending {
        for u in 0..self.node_count() {
            let sum: f64 = self.csr().row(u).1.iter().sum();
            require((sum - 1.0).abs() < 1e-9, || format!("row {u} sums to {sum}"))?;
        }
        Ok(())
    }
}

impl Sound for GossipSequence {
    fn sound(&self) -> Ending {
        returned(self.steps().len())
    }
}

impl Sound for Spectrum {
    fn sound(&self) -> Ending {
        self.values().to_owned().sound()
    }
}

/// What is read from JSON is written and read again alike.
fn json<T: serde::Serialize + serde::de::DeserializeOwned + PartialEq>(i: &mut Input<'_>) -> Ending {
    let read: T = serde_json::from_slice(i.rest())?;
    let text = serde_json::to_string(&read)?;
    require(serde_json::from_str::<T>(&text).is_ok_and(|again| again == read), || {
        format!("{text} does not read back")
    })
}

fn any_json(i: &mut Input<'_>) -> Ending {
    let text = i.rest();
    let refused = |ending: &Ending| matches!(ending, Err(Stop::Refused));
    let kinds: [fn(&mut Input<'_>) -> Ending; 4] =
        [json::<Graph>, json::<GossipMatrix>, json::<TransitionMatrix>, json::<GossipSequence>];
    let endings = kinds.map(|kind| kind(&mut Input::new(text, false)));
    if endings.iter().all(refused) {
        return Err(Stop::Refused);
    }
    endings.into_iter().find(|ending| matches!(ending, Err(Stop::Wrong(_)))).unwrap_or(Ok(()))
}

pub(super) const PARSERS: &[Target] =
    &[Target::parser("graph-json", &["ndp-graph graph::Graph::with_labels"], any_json)];

pub(super) const ALL: &[Target] = functions! {
    "ndp-graph centrality::katz_centrality" => |i| answered(centrality::katz_centrality(&graph(i)?, i.real(), i.real())),
    "ndp-graph generators::complete_graph" => |i| answered(generators::complete_graph(i.size(30))),
    "ndp-graph generators::cycle_graph" => |i| answered(generators::cycle_graph(i.size(30))),
    "ndp-graph generators::directed_cycle" => |i| answered(generators::directed_cycle(i.size(30))),
    "ndp-graph generators::grid_2d_graph" => |i| answered(generators::grid_2d_graph(i.size(9), i.size(9))),
    "ndp-graph generators::hypercube_graph" => |i| {
        let n = i.short();
        answered(generators::hypercube_graph(if n < 40 { n % 10 } else { n }))
    },
    "ndp-graph generators::kneser::kneser_graph" => |i| answered(generators::kneser_graph(i.size(9), i.size(9))),
    "ndp-graph generators::path_graph" => |i| answered(generators::path_graph(i.size(30))),
    "ndp-graph generators::ring_of_cliques" => |i| answered(generators::ring_of_cliques(i.size(9), i.size(9))),
    "ndp-graph generators::star_graph" => |i| answered(generators::star_graph(i.size(30))),
    "ndp-graph generators::torus_graph" => |i| {
        let sides: Vec<usize> = (0..i.choice(4)).map(|_| i.size(7)).collect();
        answered(generators::torus_graph(&sides))
    },
    "ndp-graph graph::Graph::from_edges" => |i| {
        let n = i.size(9);
        let edges: Vec<(usize, usize)> = (0..i.choice(12)).map(|_| (i.place(n), i.place(n))).collect();
        let made = Graph::from_edges(n, edges)?;
        returned((made.component_count(), made.largest_component(), made.diameter().is_ok()))
    },
    "ndp-graph lanczos::lanczos_extremes" => |i| {
        let found = lanczos::lanczos_extremes(&matrix(i)?, i.real())?;
        sound((found.extremes.second, found.extremes.last))
    },
    "ndp-graph log_matrix::log_matrix_row" => |i| answered(log_matrix::log_matrix_row(&matrix(i)?, i.place(7))),
    "ndp-graph mixing_time::mixing_time" => |i| answered(mixing_time::mixing_time(&transition(i)?, i.chance().max(1e-6))),
    "ndp-graph mixing_time::mixing_time_bound" => |i| {
        answered(mixing_time::mixing_time_bound(i.chance(), i.chance(), i.chance()))
    },
    "ndp-graph random::attachment::barabasi_albert_graph" => |i| {
        answered(random::barabasi_albert_graph(i.size(20), i.size(9), &mut rng()))
    },
    "ndp-graph random::attachment::watts_strogatz_graph" => |i| {
        answered(random::watts_strogatz_graph(i.size(20), i.size(9), i.chance(), &mut rng()))
    },
    "ndp-graph random::erdos_renyi::connected_erdos_renyi" => |i| {
        answered(random::connected_erdos_renyi(i.size(20), i.chance(), i.choice(5), &mut rng()))
    },
    "ndp-graph random::erdos_renyi::erdos_renyi_graph" => |i| {
        answered(random::erdos_renyi_graph(i.size(20), i.chance(), &mut rng()))
    },
    "ndp-graph random::erdos_renyi::stochastic_block_model" => |i| {
        let sizes: Vec<usize> = (0..i.choice(4)).map(|_| i.size(6)).collect();
        answered(random::stochastic_block_model(&sizes, dense(i).view(), &mut rng()))
    },
    "ndp-graph random::geometric::connected_random_geometric" => |i| {
        answered(random::connected_random_geometric(i.size(20), i.chance(), i.choice(5), &mut rng()))
    },
    "ndp-graph random::geometric::random_geometric_graph" => |i| {
        answered(random::random_geometric_graph(i.size(20), i.real(), &mut rng()))
    },
    "ndp-graph random::regular::random_regular_graph" => |i| {
        answered(random::random_regular_graph(i.size(7), i.size(20), &mut rng()))
    },
    "ndp-graph symmetries::is_permutation" => |i| {
        let numbers: Vec<u32> = (0..i.choice(6)).map(|_| i.short()).collect();
        returned(symmetries::is_permutation(&numbers, i.place(7)))
    },
    "ndp-graph walk_sums::walk_sum_row" => |i| answered(walk_sums::walk_sum_row(&matrix(i)?, i.place(7), i.choice(40))),
    "ndp-graph walk_sums::walk_sums" => |i| answered(walk_sums::walk_sums(&Spectrum::new(&matrix(i)?)?, i.count() as usize)),
    "ndp-graph chebyshev::Chebyshev::optimal" => |i| {
        let made = Chebyshev::optimal(i.chance())?;
        require(made.g().is_finite(), || format!("g = {}", made.g()))
    },
    "ndp-graph chebyshev::Chebyshev::published" => |i| {
        let made = Chebyshev::published(i.chance())?;
        require(made.g().is_finite(), || format!("g = {}", made.g()))
    },
    "ndp-graph chebyshev::Chebyshev::bound" => |i| sound(Chebyshev::optimal(i.chance())?.bound(i.count() as usize)),
    "ndp-graph chebyshev::Chebyshev::evaluate" => |i| {
        let made = Chebyshev::optimal(i.chance())?;
        returned(made.evaluate(i.choice(100), i.real()))
    },
    "ndp-graph chebyshev::Chebyshev::apply_vector" => |i| {
        let (made, matrix) = (Chebyshev::optimal(i.chance())?, matrix(i)?);
        returned(made.apply_vector(&matrix, &i.reals(7), i.choice(20))?)
    },
    "ndp-graph gossip_matrix::GossipMatrix::from_dense" => |i| {
        answered(GossipMatrix::from_dense(&graph(i)?, dense(i).view()))
    },
    "ndp-graph gossip_matrix::GossipMatrix::from_edge_weights" => |i| {
        let (graph, a, b) = (graph(i)?, i.chance(), i.real());
        answered(GossipMatrix::from_edge_weights(&graph, |u, v| if (u + v) % 2 == 0 { a } else { b }))
    },
    "ndp-graph gossip_matrix::GossipMatrix::lazy" => |i| {
        let made = matrix(i)?.lazy(i.real())?.lazy(i.chance())?;
        sound(made.laziness())?;
        sound(made)
    },
    "ndp-graph hitting::Start::law" => |i| {
        let law = start(i).law(i.size(7))?;
        let sum: f64 = law.iter().sum();
        require((sum - 1.0).abs() < 1e-6, || format!("a law that sums to {sum}"))
    },
    "ndp-graph hitting::Walk::first_visits" => |i| {
        let (transition, start) = (transition(i)?, start(i));
        let targets: Vec<usize> = (0..i.choice(3)).map(|_| i.place(7)).collect();
        answered(Walk::from(&transition).first_visits(&start, &targets, i.choice(30)))
    },
    "ndp-graph hitting::Walk::first_visits_of_mass" => |i| {
        let (transition, mass) = (transition(i)?, i.law(7));
        // The mass is whatever it is, and so is what arrives.
        let found = Walk::from(&transition).first_visits_of_mass(&mass, &[i.place(7)], i.choice(30))?;
        found.at.iter().flatten().try_for_each(Sound::sound)
    },
    "ndp-graph hitting::Walk::pair_laws" => |i| {
        let (transition, start) = (transition(i)?, start(i));
        let laws = Walk::from(&transition).pair_laws(i.place(7), i.place(7), &start, i.choice(30))?;
        sound(laws.start_to_u)?;
        sound(laws.relative_error)
    },
    "ndp-graph sequences::EdgeActivations::new" => |i| {
        let graph = graph(i)?;
        let given: Vec<_> = graph.edges().map(|(u, v)| (u, v, i.chance())).collect();
        let law = EdgeActivations::new(&graph, &given)?;
        answered(law.mean_matrix())
    },
    "ndp-graph sequences::EdgeActivations::participation" => |i| {
        let p = EdgeActivations::uniform(&graph(i)?)?.participation(i.place(7))?;
        require((0.0..=1.0 + 1e-9).contains(&p), || format!("a probability of {p}"))
    },
    "ndp-graph sequences::GossipSequence::erdos_renyi" => |i| {
        answered(GossipSequence::erdos_renyi(i.size(9), i.chance(), i.choice(6), &mut rng()))
    },
    "ndp-graph sequences::GossipSequence::given_activations" => |i| {
        let edges: Vec<(usize, usize)> = (0..i.choice(5)).map(|_| (i.place(7), i.place(7))).collect();
        answered(GossipSequence::given_activations(&graph(i)?, &edges))
    },
    "ndp-graph sequences::GossipSequence::new" => |i| {
        let n = i.size(7);
        let steps = (0..i.choice(4)).map(|_| match i.choice(3) {
            0 => Ok(Step::Idle),
            1 => Ok(Step::Pair(i.place(n), i.place(n))),
            _ => matrix(i).map(Step::Matrix),
        });
        let steps = steps.collect::<Result<Vec<Step>, Stop>>()?;
        answered(GossipSequence::new(n, steps))
    },
    "ndp-graph sequences::GossipSequence::one_peer_hypercube" => |i| {
        let m = i.short();
        answered(GossipSequence::one_peer_hypercube(if m < 40 { m % 8 } else { m }))
    },
    "ndp-graph sequences::GossipSequence::with_node_dropout" => |i| {
        let sequence = GossipSequence::constant(&matrix(i)?, i.choice(4));
        answered(sequence.with_node_dropout(i.chance(), &mut rng()))
    },
    "ndp-graph transition_matrix::TransitionMatrix::from_dense" => |i| {
        answered(TransitionMatrix::from_dense(dense(i).view()).and_then(|made| made.stationary_distribution()))
    },
    "ndp-graph weights::Weights::denominator" => |i| {
        let weights = i.pick(&[Weights::Metropolis, Weights::MaxDegree, Weights::SumDegree, Weights::Regular]);
        returned(weights.denominator(i.place(100), i.place(100)))
    },
};
