//! Tests of the choices that make answers tight within the memory available.

use super::*;
use crate::loss_law::gaussian::GaussianPair;

fn normal(mu: f64, count: u64) -> Outline {
    Outline::new(&[(Arc::new(GaussianPair { mu: Interval::new(mu) }) as Arc<dyn Pair>, count)])
}

/// An outline with one part, whose masses are at multiples of 2^-10.
fn of_masses(masses: &[(i64, f64)]) -> Outline {
    let unit = 1_i64 << 30;
    let masses = masses.iter().map(|&(index, mass)| (index * unit, mass)).collect();
    let law = GridLaw { step: FINEST, masses, infinite: 0.0 };
    let farthest = law.range().1 as f64 * FINEST;
    Outline { parts: vec![(law, 1.0)], largest_tilt: 1.0, extremes: (0.0, farthest) }
}

const STEP: f64 = 1.0 / 1024.0;

/// The window begins one point below the lowest loss.
#[test]
fn windows_begin_below_the_lowest_loss() {
    let (range, aside) = ((-1.3, 4.0), (0.5, 0.7));
    let aim = Aim { tilt: 2.0, epsilon: 1.0, log_delta: -9.0, range, aside };
    let window = aim.window(1.0, 0.5, 0.1);
    // (−1.3 − 0.1)/0.5 = −2.8, and (1 − 0.1)/0.5 = 1.8.
    assert_eq!(window, Window { tilt: 2.0, first: -4, reference: 2, aside });
}

/// The exponentials of tilts up to twice the largest tilt are below `e^600`.
#[test]
fn tilts_are_as_large_as_exponentials_allow() {
    for (mu, count) in [(0.1, 3), (2.0, 100)] {
        let outline = normal(mu, count);
        let (law, _) = &outline.parts[0];
        let (first, last) = law.range();
        let farthest = (last as f64 * FINEST).max(-first as f64 * FINEST);
        assert!((2.0 * outline.largest_tilt * farthest - 600.0).abs() < 1e-9);
    }
}

/// A hundred releases with a loss of `1` or `−1`, and a `δ` that only the largest sums reach. The tilt stops
/// where the distance of the mean from the largest loss is a fiftieth of what it is without a tilt.
#[test]
fn tilts_stop_next_to_the_largest_loss() {
    let atom = |loss: f64, mass: f64| super::super::pair::Atom {
        loss: Interval::new(loss),
        mass: Interval::new(mass),
    };
    // The masses e/(1 + e) and 1/(1 + e) of randomized response, whose mean loss is tanh(1/2).
    let atoms = vec![atom(1.0, 0.731_058_578_630_004_9), atom(-1.0, 0.268_941_421_369_995_1)];
    let pair = super::super::atoms::Atoms::new(atoms, Interval::ZERO, Some(2.0));
    let outline = Outline::new(&[(Arc::new(pair) as Arc<dyn Pair>, 100)]);
    let aim = outline.aim(Question::Delta(1e-250));
    let start = 100.0 * 0.5_f64.tanh();
    assert!((aim.epsilon - (100.0 - 0.02 * (100.0 - start))).abs() < 1e-3, "{aim:?}");
}

/// A law that is dense up to 100 steps and almost empty beyond. All points are used where it is dense and for
/// one cell and its neighbor beyond, which may be partly dense; after that as few as allowed.
#[test]
fn points_are_dense_where_the_law_is() {
    let masses: Vec<(i64, f64)> = (0..=10).map(|k| (100 * k, if k < 2 { 0.5 } else { 1e-12 })).collect();
    let points = of_masses(&masses).points(0, Some(1e-9), STEP, (0.0, 1000.0 * STEP));
    let mut wanted: Vec<i64> = (-1..300).collect();
    wanted.extend([300, 364, 428, 492, 556, 620, 684, 748, 812, 876, 940, 1001]);
    assert_eq!(points, wanted);
}

/// With a tilt the masses no longer sum to 1. The cost of left-out points is measured relative to the total
/// tilted mass, so that a law with all masses a thousand times smaller or larger has the same points.
#[test]
fn points_do_not_depend_on_the_size_of_masses() {
    let points = |size: f64| {
        let masses: Vec<(i64, f64)> =
            (0..=40).map(|k| (25 * k, size * (-0.01 * (k * k) as f64).exp())).collect();
        of_masses(&masses).points(0, Some(1e-9), STEP, (0.0, 1000.0 * STEP))
    };
    let one = points(1.0);
    assert!(one.len() > 100 && one.len() < 900, "{}", one.len());
    assert!(points(1e-3) == one && points(1e3) == one);
}

/// Without a tilt every point of the grid is taken, up to a limit beyond which every second, third, ... is;
/// both ends are always among them. However fine the step is, there are at most two more than the limit.
#[test]
fn the_points_of_a_law_have_a_limit() {
    let outline = normal(1.0, 1);
    let all = outline.points(0, None, STEP, (-1.0, 1.0));
    assert_eq!((all.len(), all[0], all[all.len() - 1]), (2051, -1025, 1025));
    for (step, stride) in [(2f64.powi(-24), 3), (2f64.powi(-40), (1 << 17) + 1)] {
        let points = outline.points(0, None, step, (-1.0, 1.0));
        let end = whole(1.0 / step) + 1;
        assert_eq!((points[0], points[1], points[points.len() - 1]), (-end, stride - end, end));
        assert!(points.len() as i64 <= MOST_DENSE + 2, "{} points", points.len());
    }
}
