//! Values computed elsewhere: closed forms and the reference values of the sources.

use approx::assert_abs_diff_eq;
use ndp_graph::Weights;
use ndp_graph::generators::{
    complete_graph, cycle_graph, hypercube_graph, path_graph, star_graph, torus_graph,
};
use ndp_graph::log_matrix::log_matrix;
use ndp_graph::spectrum::{self, Spectrum, extremes};
use ndp_graph::{Error, GossipMatrix};
use std::f64::consts::TAU;

fn assert_spectrum(matrix: &GossipMatrix, mut expected: Vec<f64>) -> Result<(), Error> {
    expected.sort_by(f64::total_cmp);
    let spectrum = Spectrum::new(matrix)?;
    assert_eq!(spectrum.values().len(), expected.len());
    for (value, expected) in spectrum.values().iter().zip(expected) {
        assert_abs_diff_eq!(*value, expected, epsilon = 1e-13);
    }
    Ok(())
}

#[test]
fn path_of_four() -> Result<(), Error> {
    let w = GossipMatrix::metropolis(&path_graph(4)?);
    assert_spectrum(&w, vec![-0.138071187457698, 1.0 / 3.0, 0.804737854124365, 1.0])?;
    assert_abs_diff_eq!(extremes(&w)?.gap_abs()?, 0.195262145875635, epsilon = 1e-13);
    assert_abs_diff_eq!(extremes(&w)?.gap_signed()?, 0.195262145875635, epsilon = 1e-13);
    Ok(())
}

#[test]
fn cube_of_eight() -> Result<(), Error> {
    let w = GossipMatrix::metropolis(&hypercube_graph(3)?);
    assert_spectrum(&w, vec![1.0, 0.5, 0.5, 0.5, 0.0, 0.0, 0.0, -0.5])?;
    assert_abs_diff_eq!(extremes(&w)?.gap_abs()?, 0.5, epsilon = 1e-14);
    Ok(())
}

#[test]
fn path_of_three_with_max_degree_weights() -> Result<(), Error> {
    assert_spectrum(&GossipMatrix::new(&path_graph(3)?, Weights::MaxDegree)?, vec![1.0, 0.5, -0.5])
}

/// `(1 + 2 cos(2 π k / n)) / 3`.
#[test]
fn rings_with_metropolis_weights() -> Result<(), Error> {
    for n in [3, 4, 7, 8, 64, 129] {
        let expected = (0..n).map(|k| (1.0 + 2.0 * (TAU * k as f64 / n as f64).cos()) / 3.0).collect();
        assert_spectrum(&GossipMatrix::metropolis(&cycle_graph(n)?), expected)?;
    }
    Ok(())
}

/// `1 - 2 j / (m + 1)` with multiplicity `C(m, j)`.
#[test]
fn hypercubes_with_metropolis_weights() -> Result<(), Error> {
    for m in 1..=7u32 {
        let expected =
            (0..1u32 << m).map(|k| 1.0 - 2.0 * f64::from(k.count_ones()) / f64::from(m + 1)).collect();
        assert_spectrum(&GossipMatrix::metropolis(&hypercube_graph(m)?), expected)?;
    }
    Ok(())
}

/// `maxdeg`: 1, `1 - 1/(n-1)` (`n - 2` times), `-1/(n-1)`; `metropolis`: 1, `1 - 1/n` (`n - 2` times), 0.
#[test]
fn stars() -> Result<(), Error> {
    for n in [3, 4, 10, 50] {
        let star = star_graph(n - 1)?;
        let with_ends = |middle: f64, last: f64| {
            let mut values = vec![middle; n];
            (values[0], values[1]) = (1.0, last);
            values
        };
        let leaves = (n - 1) as f64;
        assert_spectrum(
            &GossipMatrix::new(&star, Weights::MaxDegree)?,
            with_ends(1.0 - 1.0 / leaves, -1.0 / leaves),
        )?;
        assert_spectrum(&GossipMatrix::metropolis(&star), with_ends(1.0 - 1.0 / n as f64, 0.0))?;
    }
    Ok(())
}

/// Metropolis weights on the complete graph average in one step; `maxdeg` has a signed gap above 1.
#[test]
fn complete_graphs() -> Result<(), Error> {
    for n in [2, 3, 8, 40] {
        let graph = complete_graph(n)?;
        let averaging = GossipMatrix::metropolis(&graph);
        assert!(averaging.to_dense()?.iter().all(|&w| (w - 1.0 / n as f64).abs() < 1e-16));
        assert_abs_diff_eq!(extremes(&averaging)?.gap_abs()?, 1.0, epsilon = 1e-14);
        let walk = GossipMatrix::new(&graph, Weights::MaxDegree)?;
        let small = -1.0 / (n - 1) as f64;
        let mut expected = vec![small; n];
        expected[0] = 1.0;
        assert_spectrum(&walk, expected)?;
        assert_abs_diff_eq!(extremes(&walk)?.gap_signed()?, 1.0 - small, epsilon = 1e-14);
        if n > 2 {
            assert_abs_diff_eq!(extremes(&walk)?.gap_abs()?, 1.0 + small, epsilon = 1e-14);
        }
    }
    Ok(())
}

/// `maxdeg` on a regular bipartite graph has the eigenvalue -1 and does not mix; made half lazy, it does.
#[test]
fn regular_bipartite_graphs_do_not_mix_without_a_diagonal() -> Result<(), Error> {
    for graph in [hypercube_graph(4)?, cycle_graph(10)?, path_graph(2)?] {
        for w in
            [GossipMatrix::new(&graph, Weights::MaxDegree)?, GossipMatrix::new(&graph, Weights::Regular)?]
        {
            assert_eq!(
                extremes(&w).and_then(|ends| ends.gap_abs()),
                Err(Error::DoesNotMix { eigenvalue: -1.0 })
            );
            let signed = extremes(&w)?.gap_signed()?;
            assert_abs_diff_eq!(extremes(&w.lazy(0.5)?)?.gap_abs()?, signed / 2.0, epsilon = 1e-13);
        }
        assert!(extremes(&GossipMatrix::metropolis(&graph))?.gap_abs()? > 0.0);
    }
    Ok(())
}

/// If the gap left out the value 1 as a set, a disconnected graph would have a positive gap; it is refused.
#[test]
fn disconnected_graphs_have_no_gap() -> Result<(), Error> {
    let two_edges = ndp_graph::Graph::from_edges(4, [(0, 1), (2, 3)])?;
    let w = GossipMatrix::metropolis(&two_edges);
    assert_eq!(extremes(&w).and_then(|ends| ends.gap_abs()), Err(Error::Disconnected(2)));
    assert_eq!(extremes(&w).and_then(|ends| ends.gap_signed()), Err(Error::Disconnected(2)));
    assert_eq!(log_matrix(&Spectrum::new(&w)?), Err(Error::Disconnected(2)));
    let one = GossipMatrix::metropolis(&path_graph(1)?);
    assert!(matches!(spectrum::extremes(&one), Err(Error::InvalidParameter { .. })));
    assert_spectrum(&one, vec![1.0])
}

/// `(1 + 2 cos(2 π k / r) + 2 cos(2 π l / c)) / 5`.
#[test]
fn tori_with_metropolis_weights() -> Result<(), Error> {
    for (r, c) in [(3, 3), (3, 8), (5, 7), (16, 12)] {
        let cosine = |k: usize, side: usize| (TAU * k as f64 / side as f64).cos();
        let expected = (0..r * c).map(|i| (1.0 + 2.0 * cosine(i / c, r) + 2.0 * cosine(i % c, c)) / 5.0);
        assert_spectrum(&GossipMatrix::metropolis(&torus_graph(&[r, c])?), expected.collect())?;
    }
    Ok(())
}

/// In floating point, a connection of weight 1e-14 cannot be told from none: the graph is refused, and no gap
/// made of rounding errors is reported.
#[test]
fn gaps_below_the_resolution_are_refused() -> Result<(), Error> {
    let path = path_graph(4)?;
    let weak = GossipMatrix::from_edge_weights(&path, |u, _| if u == 1 { 1e-14 } else { 0.5 })?;
    assert!(matches!(extremes(&weak).and_then(|ends| ends.gap_abs()), Err(Error::DoesNotMix { .. })));
    assert!(matches!(extremes(&weak).and_then(|ends| ends.gap_signed()), Err(Error::DoesNotMix { .. })));
    let none = GossipMatrix::from_edge_weights(&path, |u, _| if u == 1 { 0.0 } else { 0.5 })?;
    assert_eq!(extremes(&none).and_then(|ends| ends.gap_abs()), Err(Error::Disconnected(2)));
    Ok(())
}

/// The extremes of the torus: `(1 + 2 Σ_i cos(2 π k_i / side_i)) / (1 + 2 dimensions)`, smallest `k ≠ 0` and
/// `k_i = side_i / 2`.
fn torus_extremes(sides: &[usize]) -> (f64, f64) {
    let total = (1 + 2 * sides.len()) as f64;
    let slowest = sides.iter().max().map_or(0.0, |&side| TAU / side as f64);
    let second = 1.0 - 4.0 * (slowest / 2.0).sin().powi(2) / total;
    let fastest: f64 = sides.iter().map(|&side| (TAU * (side / 2) as f64 / side as f64).cos()).sum();
    (second, (1.0 + 2.0 * fastest) / total)
}

/// Lanczos, stopping on its own residual bound, at n = 10^5.
#[test]
fn lanczos_matches_closed_forms_at_a_hundred_thousand_nodes() -> Result<(), Error> {
    for sides in [&[316, 316][..], &[10, 10, 10, 10, 10]] {
        let (second, last) = torus_extremes(sides);
        let found = spectrum::extremes(&GossipMatrix::metropolis(&torus_graph(sides)?))?;
        assert_abs_diff_eq!(found.second, second, epsilon = 1e-12);
        assert_abs_diff_eq!(found.last, last, epsilon = 1e-12);
    }
    let found = spectrum::extremes(&GossipMatrix::metropolis(&hypercube_graph(17)?))?;
    assert_abs_diff_eq!(found.second, 1.0 - 2.0 / 18.0, epsilon = 1e-12);
    assert_abs_diff_eq!(found.last, -1.0 + 2.0 / 18.0, epsilon = 1e-12);
    Ok(())
}

/// A gap of 1.5e-6, an eigenvalue of exactly -1, and stars: just above the dense sizes.
#[test]
fn lanczos_matches_closed_forms_on_slow_and_degenerate_graphs() -> Result<(), Error> {
    let n = 3000;
    let ring = spectrum::extremes(&GossipMatrix::metropolis(&cycle_graph(n)?))?;
    assert_abs_diff_eq!(ring.second, 1.0 - 4.0 / 3.0 * (TAU / 2.0 / n as f64).sin().powi(2), epsilon = 1e-12);
    assert_abs_diff_eq!(ring.last, -1.0 / 3.0, epsilon = 1e-12);
    let walk = spectrum::extremes(&GossipMatrix::new(&hypercube_graph(12)?, Weights::MaxDegree)?)?;
    assert_eq!(walk.last, -1.0);
    assert_abs_diff_eq!(walk.second, 1.0 - 2.0 / 12.0, epsilon = 1e-12);
    let star = GossipMatrix::new(&star_graph(99_999)?, Weights::MaxDegree)?;
    assert_abs_diff_eq!(extremes(&star)?.gap_signed()?, 1.0 / 99_999.0, epsilon = 1e-12);
    assert_abs_diff_eq!(spectrum::extremes(&star)?.last, -1.0 / 99_999.0, epsilon = 1e-12);
    Ok(())
}
