//! Closed forms, walk sums, log matrices, mixing times and stationary laws against values computed
//! elsewhere and against their definitions.

use crate::closed_form::{ClosedForm, Family};
use crate::generators::{
    complete_graph, cycle_graph, grid_2d_graph, hypercube_graph, path_graph, star_graph,
};
use crate::gossip_matrix::Weights;
use crate::log_matrix::{log_matrix, log_matrix_row};
use crate::walk_sums::{harmonic_number, power_sum, walk_sum_row, walk_sums};
use crate::{Error, GossipMatrix, Graph, Spectrum};
use approx::{assert_abs_diff_eq, assert_relative_eq};
use ndarray::{Array2, array};

/// `Σ_{t=1}^T W^t / t` by the definition.
fn sums_by_definition(w: &Array2<f64>, steps: usize) -> Array2<f64> {
    let mut power = Array2::eye(w.nrows());
    let mut sums = Array2::zeros(w.raw_dim());
    for t in 1..=steps {
        power = power.dot(w);
        sums = sums + &power / t as f64;
    }
    sums
}

fn assert_close(a: &Array2<f64>, b: &Array2<f64>, epsilon: f64) {
    assert_eq!(a.dim(), b.dim());
    for (at, &x) in a.indexed_iter() {
        assert!((x - b[at]).abs() <= epsilon, "{at:?}: {x} and {}", b[at]);
    }
}

/// Reference rows: graph, u, v, `-ln(I - W + 11ᵀ/n)_uv`, `(S_10)_uv`.
#[test]
fn log_matrix_and_ten_steps() -> Result<(), Error> {
    let rows = [
        (GossipMatrix::metropolis(&path_graph(4)?), 0, 3, -0.5862656922371426, 0.1601517383867636),
        (GossipMatrix::metropolis(&cycle_graph(6)?), 0, 5, 0.2310490601866482, 0.7187531904495782),
        (
            GossipMatrix::new(&star_graph(5)?, Weights::MaxDegree)?,
            1,
            0,
            0.03038692613232578,
            0.5185483015314287,
        ),
        (GossipMatrix::metropolis(&complete_graph(5)?), 0, 4, 0.0, 0.5857936507936508),
        (
            GossipMatrix::new(&hypercube_graph(3)?, Weights::MaxDegree)?,
            0,
            7,
            -0.1732867951399859,
            0.1868956290538366,
        ),
    ];
    let known_sender =
        [0.3251350573252723, 0.8055041656283847, 1.745183723885714, 0.5857936507936509, 0.2706938305475114];
    for ((w, u, v, log, ten), known) in rows.iter().zip(known_sender) {
        let spectrum = Spectrum::new(w)?;
        assert_abs_diff_eq!(log_matrix(&spectrum)?[(*u, *v)], log, epsilon = 1e-14);
        assert_abs_diff_eq!(log_matrix_row(w, *u)?[*v], log, epsilon = 1e-14);
        assert_abs_diff_eq!(walk_sums(&spectrum, 10)?[(*u, *v)], ten, epsilon = 1e-14);
        assert_abs_diff_eq!(walk_sum_row(w, *u, 10)?[*v], ten, epsilon = 1e-14);
        assert_abs_diff_eq!(sums_by_definition(&w.to_dense()?, 10)[(*u, *v)], ten, epsilon = 1e-14);
        // The largest entry over the neighbors of v.
        let row = walk_sum_row(w, *u, 10)?;
        let largest = w.graph().neighbors(*v).iter().map(|&x| row[x as usize]).fold(0.0, f64::max);
        assert_abs_diff_eq!(largest, known, epsilon = 1e-14);
    }
    Ok(())
}

/// Ring n = 9, nodes 3 and 4; with the printed constant, and with the printed index as well, the numbers
/// differ.
#[test]
fn ring_of_nine() -> Result<(), Error> {
    let ring = ClosedForm::new(&Family::Cycle(9), Weights::Metropolis)?;
    assert_abs_diff_eq!(ring.log_matrix_entry(3, 4)?, 0.3929932115841744, epsilon = 1e-14);
    let w = GossipMatrix::metropolis(&cycle_graph(9)?);
    assert_abs_diff_eq!(log_matrix(&Spectrum::new(&w)?)?[(3, 4)], 0.3929932115841744, epsilon = 1e-14);
    let cosecant = |factor: f64, turns: usize| {
        (1..9)
            .map(|k| {
                let angle = std::f64::consts::PI * k as f64 / 9.0;
                (2.0 * angle * turns as f64).cos() * (factor / angle.sin().powi(2)).ln() / 9.0
            })
            .sum::<f64>()
    };
    assert_abs_diff_eq!(cosecant(0.75, 1), 0.3929932115841744, epsilon = 1e-14);
    assert_abs_diff_eq!(cosecant(3.0, 1), 0.2389605047930761, epsilon = 1e-14);
    assert_abs_diff_eq!(cosecant(3.0, 3 + 4 - 2), -0.4504673673734, epsilon = 1e-12);
    Ok(())
}

/// Star of 6 nodes, 50 steps, both weights; and the simple random walk, which is not symmetric.
#[test]
fn star_of_six() -> Result<(), Error> {
    let references = [
        (Weights::MaxDegree, 0.780254482520563, 0.421902797482376),
        (Weights::Metropolis, 0.749867556388237, 0.391517640978777),
    ];
    for (weights, leaf_hub, leaf_leaf) in references {
        let star = ClosedForm::new(&Family::Star(5), weights)?;
        assert_abs_diff_eq!(star.walk_sum(1, 0, 50)?, leaf_hub, epsilon = 1e-13);
        assert_abs_diff_eq!(star.walk_sum(1, 2, 50)?, leaf_leaf, epsilon = 1e-13);
        let sums = walk_sums(&Spectrum::new(&GossipMatrix::new(&star_graph(5)?, weights)?)?, 50)?;
        assert_abs_diff_eq!(sums[(1, 0)], leaf_hub, epsilon = 1e-13);
        assert_abs_diff_eq!(sums[(1, 2)], leaf_leaf, epsilon = 1e-13);
    }
    // Checks the powers themselves.
    let (n, m) = (6.0, 5.0);
    for t in 1..20 {
        let power = |weights, u, v| {
            ClosedForm::new(&Family::Star(5), weights)?.entry(u, v, 1.0, |gap| (1.0 - gap).powi(t))
        };
        let (mid, last) = (f64::powi(1.0 - 1.0 / m, t), f64::powi(-1.0 / m, t));
        assert_abs_diff_eq!(power(Weights::MaxDegree, 1, 0)?, (1.0 - last) / n, epsilon = 1e-15);
        let leaves = 1.0 / n + last / (n * m) - mid / m;
        assert_abs_diff_eq!(power(Weights::MaxDegree, 1, 2)?, leaves, epsilon = 1e-15);
        assert_abs_diff_eq!(power(Weights::Metropolis, 1, 0)?, 1.0 / n, epsilon = 1e-15);
        let leaves = 1.0 / n - f64::powi(1.0 - 1.0 / n, t) / m;
        assert_abs_diff_eq!(power(Weights::Metropolis, 1, 2)?, leaves, epsilon = 1e-15);
    }
    Ok(())
}

fn families() -> Vec<Family> {
    let mut all = vec![Family::Torus(vec![3, 4]), Family::Torus(vec![4, 3, 5])];
    all.extend([3, 4, 5, 8, 17].map(Family::Cycle));
    all.extend([1, 2, 3, 4, 9].map(Family::Path));
    all.extend([0, 1, 2, 3, 8].map(Family::Star));
    all.extend([1, 2, 3, 7].map(Family::Complete));
    all.extend([0, 1, 2, 5].map(Family::Hypercube));
    all
}

/// Every family under every scheme against the gossip matrix of the graph that its generator builds: the
/// matrix itself, its eigenvalues, its gaps, its walk sums and its log matrix.
#[test]
fn closed_forms_are_those_of_the_generated_matrices() -> Result<(), Error> {
    let mut refused = 0;
    for family in families() {
        let graph = family.graph()?;
        for weights in [Weights::Metropolis, Weights::MaxDegree, Weights::SumDegree, Weights::Regular] {
            let matrix = match GossipMatrix::new(&graph, weights) {
                Ok(matrix) => matrix,
                Err(_) if graph.node_count() == 1 => continue,
                Err(_) => {
                    let form = ClosedForm::new(&family, weights);
                    assert_eq!(form, Err(Error::NoClosedForm { weights }), "{family:?}");
                    continue;
                }
            };
            let form = match ClosedForm::new(&family, weights) {
                Err(Error::NoClosedForm { .. }) => {
                    refused += 1;
                    continue;
                }
                form => form?,
            };
            for (form, matrix) in [(form.clone(), matrix.clone()), (form.lazy(0.3)?, matrix.lazy(0.3)?)] {
                let context = format!("{family:?} {weights:?}");
                let (n, dense) = (matrix.node_count(), matrix.to_dense()?);
                let spectrum = Spectrum::new(&matrix)?;
                for (a, b) in form.eigenvalues().iter().zip(spectrum.values()) {
                    assert!((a - b).abs() < 1e-13, "{context}: {a} {b}");
                }
                if n > 1 {
                    assert_abs_diff_eq!(
                        form.extremes()?.second,
                        spectrum.extremes()?.second,
                        epsilon = 1e-13
                    );
                    assert_abs_diff_eq!(form.extremes()?.last, spectrum.extremes()?.last, epsilon = 1e-13);
                }
                let definition = sums_by_definition(&dense, 12);
                let log = log_matrix(&spectrum)?;
                assert_close(&walk_sums(&spectrum, 12)?, &definition, 1e-13);
                for u in 0..n {
                    let row = walk_sum_row(&matrix, u, 12)?;
                    let log_row = log_matrix_row(&matrix, u)?;
                    for v in 0..n {
                        assert!((form.walk_sum(u, v, 12)? - definition[(u, v)]).abs() < 1e-14, "{context}");
                        assert!((row[v] - definition[(u, v)]).abs() < 1e-14, "{context}");
                        assert!((form.log_matrix_entry(u, v)? - log[(u, v)]).abs() < 2e-13, "{context}");
                        assert!((log_row[v] - log[(u, v)]).abs() < 2e-13, "{context}");
                    }
                    assert!(log.row(u).sum().abs() < 1e-13, "{context}");
                }
            }
        }
    }
    // On paths of 4 and 9 nodes the sum-of-degrees weights are not all equal.
    assert_eq!(refused, 2);
    Ok(())
}

/// Larger sizes: Krawtchouk and Fourier sums against sums over the powers of the matrix.
#[test]
fn large_hypercube_and_torus() -> Result<(), Error> {
    let cube = ClosedForm::new(&Family::Hypercube(9), Weights::Metropolis)?;
    assert_abs_diff_eq!(cube.extremes()?.gap_abs()?, 0.2, epsilon = 1e-15);
    let row = log_matrix_row(&GossipMatrix::metropolis(&hypercube_graph(9)?), 0)?;
    for distance in 0..=9u32 {
        let v = (1usize << distance) - 1;
        assert_abs_diff_eq!(cube.log_matrix_entry(0, v)?, row[v], epsilon = 1e-14);
    }
    let family = Family::Torus(vec![24, 24]);
    let torus = ClosedForm::new(&family, Weights::Metropolis)?;
    let matrix = GossipMatrix::metropolis(&family.graph()?);
    let (row, sums) = (log_matrix_row(&matrix, 0)?, walk_sum_row(&matrix, 0, 5000)?);
    for v in [0, 1, 25, 300, 575] {
        assert_abs_diff_eq!(torus.log_matrix_entry(0, v)?, row[v], epsilon = 1e-13);
        assert_abs_diff_eq!(torus.walk_sum(0, v, 5000)?, sums[v], epsilon = 1e-13);
    }
    assert_abs_diff_eq!(
        torus.walk_sum(0, 300, 5000)?,
        row[300] + harmonic_number(5000) / 576.0,
        epsilon = 1e-9
    );
    Ok(())
}

#[test]
fn closed_forms_refuse_what_they_do_not_know() {
    let new = |family: Family, weights| family.eigenvalues(weights).map(|_| ());
    assert_eq!(new(Family::Complete(0), Weights::Metropolis), Err(Error::EmptyGraph));
    assert_eq!(new(Family::Torus(vec![]), Weights::Metropolis), Err(Error::EmptyGraph));
    assert!(matches!(new(Family::Cycle(2), Weights::Metropolis), Err(Error::InvalidParameter { .. })));
    assert!(matches!(
        new(Family::Torus(vec![3, 2]), Weights::Metropolis),
        Err(Error::InvalidParameter { .. })
    ));
    assert!(matches!(new(Family::Hypercube(27), Weights::Metropolis), Err(Error::InvalidParameter { .. })));
    assert!(matches!(new(Family::Star(usize::MAX), Weights::Metropolis), Err(Error::TooManyNodes(_))));
    assert!(matches!(new(Family::Cycle(5), Weights::Given), Err(Error::NoClosedForm { .. })));
    assert!(matches!(new(Family::Path(4), Weights::SumDegree), Err(Error::NoClosedForm { .. })));
}

#[test]
fn sums_handle_every_eigenvalue() {
    // H_T from exact rationals and H_T from its asymptotic series agree where one method takes over from the
    // other.
    assert_relative_eq!(harmonic_number(10), 7381.0 / 2520.0, max_relative = 1e-16);
    for steps in [257usize, 300, 1000, 100_000] {
        let sum: f64 = (1..=steps).rev().map(|t| 1.0 / t as f64).sum();
        // The sum of 10^5 terms has rounding errors of its own.
        assert_relative_eq!(harmonic_number(steps), sum, max_relative = 4e-15);
    }
    assert_eq!((harmonic_number(0), power_sum(0.7, 0)), (0.0, 0.0));
    // Auxiliary Proposition 1, with the factors 1/2 that the print leaves out.
    for x in [0.1, 0.5, 0.9, 0.999] {
        let (plus, minus) = (power_sum(x, 100_000), power_sum(-x, 100_000));
        let odd = 0.5 * ((1.0 + x) / (1.0 - x)).ln();
        assert_relative_eq!(0.5 * (plus - minus), odd, max_relative = 1e-12);
        assert_relative_eq!(0.5 * (plus + minus), -0.5 * (1.0 - x * x).ln(), max_relative = 1e-12);
    }
    // Both sides of the switch to the logarithm.
    for lambda in [0.3f64, 0.95, -0.95, 0.9999] {
        let switch = (45.0 / (1.0 - lambda.abs())) as usize;
        assert_relative_eq!(
            power_sum(lambda, switch - 2),
            power_sum(lambda, switch + 2),
            max_relative = 1e-13
        );
    }
    assert_relative_eq!(power_sum(1.0, 1000), harmonic_number(1000), max_relative = 1e-13);
    let alternating: f64 = (1..=1000).map(|t| f64::powi(-1.0, t) / f64::from(t)).sum();
    assert_relative_eq!(power_sum(-1.0, 1000), alternating, max_relative = 1e-13);
}

/// Theorem 3 prints `ln T`, which is below `H_T`: the printed value understates the sum.
#[test]
fn logarithm_understates_the_harmonic_number() {
    for steps in [1, 10, 1150, 1_000_000] {
        let deficit = harmonic_number(steps) - (steps as f64).ln();
        assert!(0.577 < deficit && deficit <= 1.0, "{deficit}");
    }
}

#[test]
fn mistakes_are_named() -> Result<(), Error> {
    let apart = Graph::from_edges(4, [(0, 1), (2, 3)])?;
    let w = GossipMatrix::metropolis(&apart);
    let spectrum = Spectrum::new(&w)?;
    assert_eq!(log_matrix(&spectrum), Err(Error::Disconnected(2)));
    assert_eq!(log_matrix_row(&w, 0), Err(Error::Disconnected(2)));
    assert_eq!(walk_sums(&spectrum, 5), Err(Error::Disconnected(2)));
    // A single row is well defined even then.
    let sums = sums_by_definition(&w.to_dense()?, 5);
    assert_abs_diff_eq!(walk_sum_row(&w, 0, 5)?[1], sums[(0, 1)], epsilon = 1e-15);
    let w = GossipMatrix::metropolis(&grid_2d_graph(2, 3)?);
    let missing = Error::NodeOutOfRange { node: 6, nodes: 6 };
    assert_eq!(walk_sum_row(&w, 6, 5), Err(missing.clone()));
    assert_eq!(log_matrix_row(&w, 6), Err(missing));
    assert!(matches!(walk_sum_row(&w, 0, usize::MAX), Err(Error::InvalidParameter { .. })));
    assert!(matches!(walk_sums(&Spectrum::new(&w)?, usize::MAX), Err(Error::InvalidParameter { .. })));
    let ring = ClosedForm::new(&Family::Cycle(5), Weights::Metropolis)?;
    assert!(matches!(ring.walk_sum(0, 1, usize::MAX), Err(Error::InvalidParameter { .. })));
    assert_eq!(ring.log_matrix_entry(0, 5), Err(Error::NodeOutOfRange { node: 5, nodes: 5 }));
    assert!(matches!(ring.lazy(1.0), Err(Error::InvalidParameter { .. })));
    let single = GossipMatrix::metropolis(&path_graph(1)?);
    assert_eq!(log_matrix(&Spectrum::new(&single)?)?, array![[0.0]]);
    assert_eq!(log_matrix_row(&single, 0)?, [0.0]);
    assert_relative_eq!(walk_sums(&Spectrum::new(&single)?, 3)?[(0, 0)], 11.0 / 6.0);
    Ok(())
}
