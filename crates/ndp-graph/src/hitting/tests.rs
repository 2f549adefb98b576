//! Hitting laws against enumeration and closed forms.

use super::*;
use crate::Weights;
use crate::generators::{complete_graph, cycle_graph, hypercube_graph, path_graph, star_graph};
use approx::assert_relative_eq;
use ndarray::{Array2, array};
use proptest::prelude::*;

/// A walk that is neither symmetric nor doubly stochastic.
fn crooked() -> TransitionMatrix {
    let rows = array![[0.1, 0.6, 0.3, 0.0], [0.2, 0.0, 0.5, 0.3], [0.7, 0.1, 0.1, 0.1], [0.0, 0.9, 0.0, 0.1]];
    TransitionMatrix::from_dense(rows.view()).unwrap()
}

/// The definition: sums over every path of `t` steps from `x` that meets a target at its last step and not
/// before.
fn by_enumeration(w: &Array2<f64>, x: usize, targets: &[usize], t: usize, y: usize) -> f64 {
    if t == 0 {
        return if x == y { 1.0 } else { 0.0 };
    }
    (0..w.nrows())
        .filter(|z| t == 1 || !targets.contains(z))
        .map(|z| w[(x, z)] * by_enumeration(w, z, targets, t - 1, y))
        .sum()
}

/// The probabilities up to a time do not depend on how long the walk is followed.
#[test]
fn a_longer_walk_begins_as_a_shorter_one() {
    let w = GossipMatrix::metropolis(&path_graph(5).unwrap());
    let walk = Walk::from(&w);
    let long = walk.pair_laws(0, 3, &Start::Uniform, 20).unwrap();
    for horizon in [1, 7, 20] {
        let short = walk.pair_laws(0, 3, &Start::Uniform, horizon).unwrap();
        assert_eq!(short.horizon(), horizon);
        assert_eq!(long.u_to_v[..=horizon], short.u_to_v);
        assert_eq!(long.start_to_u[..=horizon], short.start_to_u);
        assert_eq!(long.relative_error[..=horizon], short.relative_error);
    }
}

/// Section 4 of the specification of walks, whose values were computed with exact fractions.
#[test]
fn first_passage_matches_the_reference_table() {
    let star = GossipMatrix::new(&star_graph(5).unwrap(), Weights::MaxDegree).unwrap();
    let rows = [
        (
            GossipMatrix::metropolis(&path_graph(4).unwrap()),
            0,
            3,
            [0.0, 0.0, 1.0 / 27.0, 4.0 / 81.0, 13.0 / 243.0],
        ),
        (
            GossipMatrix::metropolis(&cycle_graph(6).unwrap()),
            0,
            5,
            [1.0 / 3.0, 1.0 / 9.0, 2.0 / 27.0, 4.0 / 81.0, 10.0 / 243.0],
        ),
        (star, 1, 0, [0.2, 0.16, 0.128, 0.1024, 0.08192]),
        (GossipMatrix::metropolis(&complete_graph(5).unwrap()), 0, 4, [0.2, 0.16, 0.128, 0.1024, 0.08192]),
        (
            GossipMatrix::new(&hypercube_graph(3).unwrap(), Weights::MaxDegree).unwrap(),
            0,
            7,
            [0.0, 0.0, 2.0 / 9.0, 0.0, 14.0 / 81.0],
        ),
    ];
    for (w, u, v, expected) in rows {
        let visits = Walk::from(&w).first_visits(&Start::Node(u), &[v], 10).unwrap();
        for (t, expected) in (1..).zip(expected) {
            assert_relative_eq!(visits.at[0][t], expected, max_relative = 1e-13);
        }
        // A walk that has not arrived is still on its way.
        let arrived: f64 = visits.at[0].iter().sum();
        assert_relative_eq!(visits.none[10], 1.0 - arrived, max_relative = 1e-13);
    }
}

#[test]
fn the_recursion_is_the_sum_over_paths() {
    let w = crooked();
    let dense = w.to_dense().unwrap();
    let targets = [3, 1];
    for x in 0..4 {
        let visits = Walk::from(&w).first_visits(&Start::Node(x), &targets, 6).unwrap();
        for t in 1..=6 {
            for (law, &y) in visits.at.iter().zip(&targets) {
                let expected = by_enumeration(&dense, x, &targets, t, y);
                assert_relative_eq!(law[t], expected, max_relative = 1e-14);
            }
        }
    }
}

#[test]
fn pair_laws_are_first_visits_for_any_matrix() {
    let crooked = crooked();
    let path = GossipMatrix::metropolis(&path_graph(4).unwrap());
    let law = Start::Law(vec![0.4, 0.1, 0.3, 0.2]);
    for walk in [Walk::from(&crooked), Walk::from(&path)] {
        for horizon in [1, 2, 3, 8, 9] {
            let laws = walk.pair_laws(2, 0, &law, horizon).unwrap();
            let from = |x| walk.first_visits(&Start::Node(x), &[2, 0], horizon).unwrap().at;
            let mut start = walk.first_visits_of_mass(&[0.0, 0.1, 0.0, 0.2], &[2, 0], horizon).unwrap().at;
            (start[0][0], start[1][0]) = (0.3, 0.4);
            let pairs = [
                (&laws.u_to_u, &from(2)[0]),
                (&laws.u_to_v, &from(2)[1]),
                (&laws.v_to_u, &from(0)[0]),
                (&laws.v_to_v, &from(0)[1]),
                (&laws.start_to_u, &start[0]),
                (&laws.start_to_v, &start[1]),
            ];
            for (fast, slow) in pairs {
                assert_eq!(fast.len(), horizon + 1);
                for (t, (a, b)) in fast.iter().zip(slow).enumerate() {
                    assert!((a - b).abs() <= b * laws.relative_error[t], "{a} {b} at {t}");
                }
            }
        }
    }
}

/// Rows whose sums are as far below 1 as is accepted, compared with the same walk with row sums of exactly 1.
/// The bound covers the probability that is lost in every step, and is not much larger than that.
#[test]
fn short_rows_are_within_the_error() {
    let exact = array![[0.25, 0.75], [0.5, 0.5]];
    let short = &exact * (1.0 - 0.9e-12);
    let [exact, short] = [exact, short].map(|rows| TransitionMatrix::from_dense(rows.view()).unwrap());
    let horizon = 200_000;
    let start = Start::Node(0);
    let follow = |w: &TransitionMatrix| {
        let walk = Walk::from(w);
        let mut law = start.law(2).unwrap();
        let mut next = law.clone();
        for _ in 0..horizon {
            walk.incoming().multiply(&law, &mut next);
            std::mem::swap(&mut law, &mut next);
        }
        law[0]
    };
    let error = Walk::from(&short).first_visits(&start, &[1], horizon).unwrap().relative_error[horizon];
    let (true_law, found) = (follow(&exact), follow(&short));
    let missing = true_law / found - 1.0;
    assert!(0.5 * error < missing && missing <= error, "{missing} {error}");
}

#[test]
fn reversal_exchanges_the_ends() {
    // Doubly stochastic, not symmetric.
    let rows = array![[0.1, 0.6, 0.3], [0.2, 0.3, 0.5], [0.7, 0.1, 0.2]];
    let w = TransitionMatrix::from_dense(rows.view()).unwrap();
    let transposed = TransitionMatrix::from_dense(rows.t()).unwrap();
    let (walk, reversed) = (Walk::from(&w), Walk::from(&transposed));
    assert_eq!((walk.incoming(), reversed.incoming()), (transposed.csr(), w.csr()));
    for (x, y) in [(0, 1), (1, 0), (0, 0)] {
        let index = |node| [0, 1].iter().position(|&z| z == node).unwrap();
        let forward = &walk.first_visits(&Start::Node(x), &[0, 1], 12).unwrap().at[index(y)];
        let backward = &reversed.first_visits(&Start::Node(y), &[0, 1], 12).unwrap().at[index(x)];
        for (a, b) in forward.iter().zip(backward) {
            assert_relative_eq!(a, b, max_relative = 1e-14);
        }
    }
}

#[test]
fn a_uniform_start_meets_the_target_as_kac_says() {
    // P_uniform(no visit of v at 0..=T) = 1 − Σ_{L ≤ T} P_v(no visit at 1..=L) / n.
    let w = GossipMatrix::metropolis(&cycle_graph(7).unwrap());
    let walk = Walk::from(&w);
    let none = walk.first_visits(&Start::Node(3), &[3], 40).unwrap().none;
    let elsewhere: Vec<f64> = (0..7).map(|x| if x == 3 { 0.0 } else { 1.0 / 7.0 }).collect();
    let never = walk.first_visits_of_mass(&elsewhere, &[3], 40).unwrap().none[40];
    assert_relative_eq!(never, 1.0 - none.iter().sum::<f64>() / 7.0, max_relative = 1e-11);
}

proptest! {
    /// First-visit probabilities are at most visit probabilities, and no probability is lost.
    #[test]
    fn first_passage_is_below_occupation(
        weights in proptest::collection::vec(0.01..1.0f64, 25), u in 0usize..5, v in 0usize..5
    ) {
        let mut rows = Array2::from_shape_vec((5, 5), weights).unwrap();
        for mut row in rows.rows_mut() {
            let sum = row.sum();
            row /= sum;
        }
        let w = TransitionMatrix::from_dense(rows.view()).unwrap();
        let walk = Walk::from(&w);
        let visits = walk.first_visits(&Start::Node(u), &[v], 12).unwrap();
        let mut law = Start::Node(u).law(5).unwrap();
        let mut next = law.clone();
        let mut arrived = 0.0;
        for t in 1..=12 {
            walk.incoming().multiply(&law, &mut next);
            std::mem::swap(&mut law, &mut next);
            prop_assert!(visits.at[0][t] <= law[v] * (1.0 + 1e-13));
            arrived += visits.at[0][t];
            prop_assert!((arrived + visits.none[t] - 1.0).abs() < 1e-13);
        }
    }
}

#[test]
fn bad_input_is_named() {
    let w = GossipMatrix::metropolis(&cycle_graph(5).unwrap());
    let walk = Walk::from(&w);
    let out = Error::NodeOutOfRange { node: 5, nodes: 5 };
    assert_eq!(walk.first_visits(&Start::Node(5), &[1], 3), Err(out.clone()));
    assert_eq!(walk.first_visits(&Start::Node(0), &[1, 5], 3), Err(out.clone()));
    assert_eq!(walk.pair_laws(0, 5, &Start::Uniform, 3), Err(out));
    assert!(matches!(walk.first_visits(&Start::Uniform, &[], 3), Err(Error::InvalidParameter { .. })));
    assert!(matches!(walk.pair_laws(1, 1, &Start::Uniform, 3), Err(Error::InvalidParameter { .. })));
    assert!(matches!(walk.pair_laws(0, 1, &Start::Uniform, 0), Err(Error::InvalidParameter { .. })));
    let huge = walk.pair_laws(0, 1, &Start::Uniform, usize::MAX);
    assert!(matches!(huge, Err(Error::TooLarge { .. })));
    for (law, refused) in [
        (vec![0.5; 5], "the sum of the start probabilities"),
        (vec![f64::NAN; 5], "every start probability"),
        (vec![-0.5, 1.5, 0.0, 0.0, 0.0], "every start probability"),
    ] {
        let found = Start::Law(law).law(5);
        assert!(matches!(found, Err(Error::InvalidParameter { name, .. }) if name == refused), "{found:?}");
    }
    let short = Start::Law(vec![1.0; 4]).law(5);
    assert_eq!(short, Err(Error::Shape { what: "start law", expected: 5, got: 4 }));
    let infinite = walk.first_visits_of_mass(&[f64::INFINITY; 5], &[0], 3);
    assert!(matches!(infinite, Err(Error::InvalidParameter { name: "every start weight", .. })));
}

/// A start on more nodes than fit in memory is refused before any work.
#[test]
fn a_start_on_absurdly_many_nodes_is_refused() {
    for start in [Start::Uniform, Start::Node(3)] {
        assert!(matches!(start.law(1 << 50), Err(Error::TooLarge { .. })));
    }
}

#[test]
fn laws_that_are_none_and_absurd_horizons_are_refused() {
    for law in [[0.5, 0.5 - 1e-8], [0.5, 0.5 + 1e-8]] {
        assert!(matches!(Start::Law(law.to_vec()).law(2), Err(Error::InvalidParameter { .. })), "{law:?}");
    }
    let walk = crooked();
    let visits = |horizon| Walk::from(&walk).first_visits_of_mass(&[0.25; 4], &[1], horizon);
    assert!(matches!(visits(0), Err(Error::InvalidParameter { .. })));
    assert!(matches!(visits(usize::MAX >> 8), Err(Error::TooLarge { .. })));
}
