//! The law of the cost, compared with references in rational numbers and with every path of small walks.

mod answers;
mod gradients;
mod leaves;
mod paths;
mod spread;

use super::super::WalkOptions;
use super::rounded_tables::Level;
use super::spread_tables::Sided;
use super::system::Grid;
use super::*;
use crate::walk::FinalToken;
use approx::assert_relative_eq;
use ndp_dp::{Grade, Order};
use ndp_graph::generators::{complete_graph, cycle_graph, hypercube_graph, path_graph, star_graph};
use ndp_graph::hitting::{Start, Walk};
use ndp_graph::{GossipMatrix, Graph, TransitionMatrix};
use ndp_numeric::stop::Stop;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use std::collections::BTreeMap;

fn metropolis(graph: &Graph) -> TransitionMatrix {
    TransitionMatrix::from(&GossipMatrix::metropolis(graph))
}

fn noise(sigma: f64) -> NoiseMultiplier {
    NoiseMultiplier::new(sigma).unwrap()
}

fn intervals(walk: &TokenWalk, u: usize, members: &[usize]) -> Vec<Intervals> {
    let law = walk.cost_law(u, members).unwrap();
    law.intervals().unwrap().unwrap().to_vec()
}

/// Both laws on a grid that contains all charges, so that nothing is rounded.
fn on_exact_grid(walk: &TokenWalk, u: usize, members: &[usize], denominator: u64) -> (Level, [Mixture; 2]) {
    let intervals = intervals(walk, u, members);
    let cells = (walk.steps() * usize::try_from(denominator).unwrap() + 1).next_power_of_two();
    let grid = Grid { numerator: 1, denominator };
    let level = Level::on_grid(&intervals, grid, cells, 0.0, &Stop::never()).unwrap();
    let mixture = |at_least: &[f64], upper: bool| {
        let points: Vec<(Interval, f64)> = (1..cells)
            .map(|cell| (Interval::new(cell as f64) / Interval::count(denominator), at_least[cell]))
            .collect();
        Mixture::new(&points, upper)
    };
    let both = [mixture(&level.upper, true), mixture(&level.lower, false)];
    (level, both)
}

/// Graph, exposed node, observer, steps, start, cap, noise; then P(C = 0), E C, δ(1/2), ε at 1e-5, and ε by
/// Rényi divergences.
type Row = (Graph, [usize; 2], usize, Start, Option<usize>, f64, [f64; 5]);

/// The laws in the specification, computed there in rational numbers.
fn reference_rows() -> Vec<Row> {
    let path = || path_graph(4).unwrap();
    let cube = || hypercube_graph(3).unwrap();
    let star = || star_graph(5).unwrap();
    let cube_law = [0.726_268_678_903_58, 0.128_127_265_192_601];
    let star_law = 0.706_607_016_035_617;
    let uniform = Start::Uniform;
    let u = || uniform.clone();
    vec![
        (
            path(),
            [0, 3],
            10,
            u(),
            None,
            2.0,
            [
                0.831_233_382_445_088,
                0.193_171_787_716_255,
                0.010_455_559_275_886_44,
                3.456_710_103_464_001,
                4.06616,
            ],
        ),
        (
            path(),
            [0, 3],
            10,
            Start::Node(0),
            None,
            2.0,
            [
                0.616_233_975_173_161,
                0.537_908_710_199_52,
                0.029_954_577_270_549_98,
                3.930_971_755_474_894,
                4.49076,
            ],
        ),
        (
            cycle_graph(6).unwrap(),
            [0, 3],
            12,
            u(),
            None,
            2.0,
            [
                0.704_356_018_197_066,
                0.195_111_019_085_458,
                0.009_160_703_461_116_946,
                2.834_722_884_185_533,
                3.55722,
            ],
        ),
        (
            star(),
            [1, 0],
            12,
            u(),
            None,
            2.0,
            [star_law, 1.260_130_545_653_85, 0.067_588_622_022_658_33, 6.311_382_748_971_695, 7.0301],
        ),
        (
            star(),
            [1, 0],
            12,
            u(),
            Some(2),
            2.0,
            [star_law, 0.325_712_758_016_984, 0.017_674_557_983_103_2, 2.424_994_886_143_306, 2.69828],
        ),
        (
            complete_graph(5).unwrap(),
            [0, 4],
            12,
            u(),
            None,
            2.0,
            [
                0.233_646_220_902_4,
                0.773_743_895_347_2,
                0.041_022_846_029_068_01,
                3.426_108_408_009_131,
                4.12717,
            ],
        ),
        (
            cube(),
            [0, 7],
            12,
            u(),
            None,
            2.0,
            [cube_law[0], cube_law[1], 0.005_144_065_827_663_399, 2.385_783_374_794_269, 3.14873],
        ),
        (
            cube(),
            [0, 7],
            12,
            u(),
            None,
            4.0,
            [cube_law[0], cube_law[1], 0.000_378_258_508_526_308_6, 1.017_971_212_225_749, 1.38012],
        ),
    ]
}

fn walk_of(row: &Row) -> TokenWalk {
    let options = WalkOptions { cap: row.4, ..WalkOptions::default() };
    TokenWalk::new(&metropolis(&row.0), row.3.clone(), row.2).unwrap().with_options(options).unwrap()
}

#[test]
fn exact_grids_give_the_reference_values() {
    for row in &reference_rows() {
        let [free, mean, delta, epsilon, _] = row.6;
        let [u, v] = row.1;
        let (level, [upper, lower]) = on_exact_grid(&walk_of(row), u, &[v], 27_720);
        let between = |low: f64, value: f64, high: f64| {
            // The references have 15 digits.
            let digits = 2e-15 * value;
            assert!(low <= value + digits && value <= high + digits, "{low} {value} {high}");
            assert!(high - low <= 1e-8, "{low} {value} {high}");
        };
        between(1.0 - level.upper[1], free, 1.0 - level.lower[1]);
        between(lower.delta(0.5, row.5, 0.0), delta, upper.delta(0.5, row.5, 0.0));
        // Probability that the law gives up is counted at the largest cost.
        assert_relative_eq!(upper.mean(), mean, epsilon = 3e-7);
        assert_relative_eq!(lower.mean(), mean, epsilon = 3e-7);
        let high = search::epsilon_up(&Sided::new(&upper, 0.0), row.5, 1e-5);
        let low = search::epsilon_down(&Sided::new(&lower, 0.0), row.5, 1e-5, high);
        assert!(low <= epsilon && epsilon <= high && high - low < 1e-3, "{low} {epsilon} {high}");
    }
}

#[test]
fn default_grids_enclose_the_reference_values() -> Result<(), Error> {
    let small = ndp_dp::Delta::new(1e-5)?;
    for row in reference_rows() {
        let [free, mean, delta, epsilon, renyi] = row.6;
        let [u, v] = row.1;
        let law = walk_of(&row).cost_law(u, &[v])?;
        let encloses = |found: Enclosed, value: f64, width: f64| {
            assert!(found.lower() <= value && value <= found.upper(), "{found:?} {value}");
            assert!(found.upper() - found.lower() <= width * value, "{found:?} {value}");
        };
        encloses(law.delta(noise(row.5), 0.5)?, delta, 0.02);
        let found = law.epsilon(noise(row.5), small)?;
        encloses(found, epsilon, 0.01);
        assert!(found.upper() < renyi);
        encloses(law.mean()?, mean, 0.03);
        encloses(law.at_least(1e-9)?, 1.0 - free, 0.02);
        let least = law.least_noise(epsilon, small)?;
        encloses(least, row.5, 0.01);
        assert!(law.delta(noise(least.upper()), epsilon)?.upper() <= 1e-5);
        // The Rényi loss is that of the mixture, and below that of the recursion, which charges for arbitrary
        // non-expansive steps.
        let local = LocalLoss { order: Order::new(2.0)?, noise: noise(row.5) };
        let by_law = law.rdp(local)?;
        let by_recursion = walk_of(&row).loss(u, &[v], local)?.into_value();
        assert!(by_law.lower() <= by_recursion && by_law.upper() < 1.02 * by_recursion);
        assert_eq!(by_law.guarantee().grade(), Grade::UpperBound);
    }
    Ok(())
}

/// The path graph of 3 nodes, from 0 to 2, four steps: all probabilities are multiples of 1/243.
#[test]
fn the_smallest_law_is_exact() {
    let w = metropolis(&path_graph(3).unwrap());
    let expected = [(0, 209), (3, 3), (4, 7), (6, 9), (12, 5), (16, 6), (27, 4)];
    let (level, _) = on_exact_grid(&TokenWalk::new(&w, Start::Uniform, 4).unwrap(), 0, &[2], 12);
    for cell in 1..=48 {
        let count: u32 = expected.iter().filter(|(at, _)| *at >= cell).map(|(_, count)| count).sum();
        let true_value = f64::from(count) / 243.0;
        assert!(level.lower[cell] <= true_value && true_value <= level.upper[cell]);
        assert!(level.upper[cell] - level.lower[cell] < 5e-9);
    }
    let (level, _) = on_exact_grid(&TokenWalk::new(&w, Start::Node(2), 4).unwrap(), 0, &[2], 12);
    assert_relative_eq!(level.upper[4], 3.0 / 243.0, epsilon = 5e-9);
    assert!(level.upper[5] < 5e-9);
}

/// Coarse and fine tables agree on a walk that is too long to enumerate.
#[test]
fn coarser_tables_enclose_finer_ones() -> Result<(), Error> {
    let w = metropolis(&hypercube_graph(6)?);
    let walk = TokenWalk::new(&w, Start::Uniform, 640)?;
    let small = ndp_dp::Delta::new(1e-5)?;
    for (v, by_paths) in [(63, 1.076), (1, 2.23)] {
        let fine = walk
            .cost_law_in_cells(0, &[v], None, (4096, Ends::Both), &Stop::never())?
            .epsilon(noise(3.0), small)?;
        let coarse = walk
            .cost_law_in_cells(0, &[v], None, (512, Ends::Both), &Stop::never())?
            .epsilon(noise(3.0), small)?;
        assert!(coarse.lower() <= fine.upper() && fine.lower() <= coarse.upper(), "{coarse:?} {fine:?}");
        assert!(
            fine.upper() <= 1.005 * fine.lower() && coarse.upper() <= 1.02 * coarse.lower(),
            "{fine:?} {coarse:?}"
        );
        // The reference is the mean over 20000 simulated paths.
        assert_relative_eq!(fine.upper(), by_paths, max_relative = 0.05);
    }
    Ok(())
}

#[test]
fn bad_input_is_named() -> Result<(), Error> {
    let w = metropolis(&cycle_graph(5)?);
    let walk = TokenWalk::new(&w, Start::Uniform, 6)?;
    assert!(matches!(walk.cost_law(0, &[0]), Err(Error::SourceIsObserver(0))));
    assert!(matches!(walk.cost_law(7, &[0]), Err(Error::NodeOutOfRange { .. })));
    assert!(matches!(walk.cost_law(0, &[]), Err(Error::EmptyCoalition)));
    let law = walk.cost_law(0, &[2])?;
    for epsilon in [f64::NAN, -1.0] {
        let found = law.delta(noise(1.0), epsilon);
        assert!(matches!(found, Err(Error::InvalidParameter { name: "epsilon", .. })));
    }
    let lossless = law.least_noise(0.0, ndp_dp::Delta::new(0.1)?);
    assert!(matches!(lossless, Err(Error::InvalidParameter { name: "epsilon", .. })));
    assert!(matches!(law.at_least(0.0), Err(Error::InvalidParameter { name: "the cost", .. })));
    let long = TokenWalk::new(&w, Start::Uniform, 30_000)?;
    assert!(matches!(long.cost_law(0, &[1]), Err(Error::NotOffered(_))));
    Ok(())
}

/// A limit that `keeps` accepts does hold: it is never below the lower end of the law, and limits well above
/// the upper end are accepted.
#[test]
fn limits_that_are_kept_are_recognized() -> Result<(), Error> {
    let small = Delta::new(1e-5)?;
    for (graph, v, steps) in [(cycle_graph(6)?, 3, 12), (star_graph(8)?, 0, 90)] {
        let w = metropolis(&graph);
        let walk = TokenWalk::new(&w, Start::Uniform, steps)?;
        for sigma in [2.0, 9.0] {
            let truth = walk.cost_law(1, &[v])?.epsilon(noise(sigma), small)?;
            for (share, kept) in [(0.5, false), (0.99, false), (1.02, true), (1.5, true)] {
                // Tables that were never asked before, with the upper end only and with both.
                for ends in [Ends::Upper, Ends::Both] {
                    let law = walk.cost_law_in_cells(1, &[v], None, (512, ends), &Stop::never())?;
                    let limit = ApproxDp::new(share * truth.upper(), small.get())?;
                    assert_eq!(law.keeps(noise(sigma), limit), kept, "{steps} {sigma} {share} {truth:?}");
                }
            }
        }
    }
    Ok(())
}

/// The account gives the bound of the law where it is the smaller one, for every question but Rényi losses,
/// and the least noise of the account meets the target.
#[test]
fn accounts_take_the_smaller_bound() -> Result<(), Error> {
    use ndp_account::{Observer, Protocol};
    let w = metropolis(&cycle_graph(6)?);
    let (plain, sigma, small) = (WalkOptions::default(), noise(2.0), Delta::new(1e-5)?);
    for options in [
        plain,
        WalkOptions { cap: Some(2), ..plain },
        WalkOptions { final_token: FinalToken::Published, ..plain },
    ] {
        let walk = TokenWalk::new(&w, Start::Uniform, 12)?.with_options(options)?;
        for members in [vec![3], vec![2, 4]] {
            let account = walk.account(&Observer::coalition(&members))?;
            let profile = account.profile(0, sigma)?;
            let law = walk.cost_law(0, &members)?;
            let epsilon = profile.epsilon(small)?.value().epsilon();
            let by_law = law.epsilon(sigma, small)?;
            // Above the lower end, and hardly above the finer law.
            assert!(by_law.lower() <= epsilon && epsilon <= 1.05 * by_law.upper(), "{epsilon} {by_law:?}");
            let local = LocalLoss { order: Order::new(2.0)?, noise: sigma };
            assert_eq!(
                profile.renyi(local.order)?.value().epsilon,
                walk.loss(0, &members, local)?.into_value()
            );
            let delta = profile.delta(0.5)?.value().delta();
            let by_law = law.delta(sigma, 0.5)?;
            assert!(by_law.lower() <= delta && delta <= 1.05 * by_law.upper(), "{delta} {by_law:?}");
            let measure = ndp_dp::Measure::Approx(small);
            let least = account.least_noise(0, measure, 1.0)?.unwrap();
            assert!(account.profile(0, least)?.epsilon(small)?.value().epsilon() <= 1.0);
            let by_law = law.least_noise(1.0, small)?;
            assert!(
                by_law.lower() <= least.get() && least.get() <= 1.03 * by_law.upper(),
                "{least:?} {by_law:?}"
            );
        }
    }
    Ok(())
}

/// An answer is the same float whichever questions came before. (Finer tables that other questions had made
/// changed the answer by up to the distance of its two ends, so that calibrated noise missed its target when
/// another account was asked.)
#[test]
fn questions_in_any_order_agree() -> Result<(), Error> {
    let w = metropolis(&path_graph(5)?);
    let walk = TokenWalk::new(&w, Start::Uniform, 50)?;
    let laws: [&dyn Fn() -> Result<CostLaw, Error>; 3] = [
        &|| walk.cost_law(0, &[3]),
        &|| CostLaw::of_uniform_gradients((5, 1), 50, Some(20), false, true),
        &|| CostLaw::of_uniform_gradients((5, 1), 50, None, false, true),
    ];
    let questions = [(0.05, 1e-5), (1.0, 1e-3), (4.0, 1e-6), (13.0, 1e-5), (13.4, 1e-5), (20.0, 1e-2)];
    for law in laws {
        let answers = |law: &CostLaw, (sigma, delta): (f64, f64)| {
            let (sigma, small) = (noise(sigma), Delta::new(delta)?);
            let epsilon = law.epsilon(sigma, small)?;
            let about = epsilon.upper().clamp(1e-3, 50.0);
            let answers = [epsilon, law.delta(sigma, about)?, law.least_noise(about, small)?];
            let ends = answers.map(|found| [found.lower().to_bits(), found.upper().to_bits()]);
            Ok::<_, Error>((ends, law.is_tight(sigma, about)))
        };
        let alone: Vec<_> =
            questions.iter().map(|&asked| answers(&law()?, asked)).collect::<Result<_, Error>>()?;
        let (forward, backward) = (law()?, law()?);
        for (at, &asked) in questions.iter().enumerate() {
            assert_eq!(answers(&forward, asked)?, alone[at], "{asked:?}");
        }
        for (at, &asked) in questions.iter().enumerate().rev() {
            assert_eq!(answers(&backward, asked)?, alone[at], "{asked:?}");
        }
    }
    Ok(())
}

/// The law of a number of gaps, compared with their sums one by one, and with the Rényi bound `N ε_gap`.
#[test]
fn laws_of_gaps_are_those_of_sums() -> Result<(), Error> {
    let w = metropolis(&cycle_graph(7)?);
    let walk = Walk::from(&w);
    let (steps, horizon) = (40, 4);
    let visits = walk.first_visits(&Start::Node(0), &[0, 3], horizon)?;
    let one: Vec<(f64, f64)> = (1..=horizon)
        .map(|t| (1.0 / t as f64, visits.at[0][t] + visits.at[1][t]))
        .chain([(1.0 / (horizon + 1) as f64, visits.none[horizon])])
        .collect();
    for published in [false, true] {
        let law = CostLaw::of_gaps(&visits, steps, 3, published);
        let draws = if published { 2 } else { 3 };
        let mut sums = vec![(if published { 1.0 } else { 0.0 }, 1.0)];
        for _ in 0..draws {
            sums = sums.iter().flat_map(|&(c, p)| one.iter().map(move |&(d, q)| (c + d, p * q))).collect();
        }
        for (sigma, epsilon) in [(1.0, 0.5), (3.0, 0.2), (10.0, 0.1)] {
            let theta = |c: f64| ndp_numeric::gaussian_profile::theta(epsilon, c.sqrt() / sigma);
            let truth: f64 = sums.iter().map(|&(c, p)| p * theta(c)).sum();
            let found = law.delta(noise(sigma), epsilon)?.upper();
            // If two tables differ by less than a thousandth, either may answer: here 1e-4, which is 2e-8
            // off.
            assert!(truth <= found * (1.0 + 1e-12) && found <= 1.000_2 * truth, "{truth} {found}");
        }
    }
    Ok(())
}

/// Never below the solution in rational numbers, hardly above it, and not 0 if products underflow.
#[test]
fn solutions_are_rounded_up() {
    use num_bigint::BigInt;
    use num_rational::BigRational;
    let rng = &mut ChaCha8Rng::seed_from_u64(500);
    let ratio = |k: u32, of: u32| BigRational::new(BigInt::from(k), BigInt::from(of));
    for case in 0..300 {
        let n = 1 + case % 3;
        let entry = |rng: &mut ChaCha8Rng| rng.random_range(0..128 / u32::try_from(n).unwrap());
        let matrix: Vec<Vec<u32>> = (0..n).map(|_| (0..n).map(|_| entry(rng)).collect()).collect();
        let values: Vec<u32> = (0..n).map(|_| rng.random_range(1..128)).collect();
        let floats = |row: &Vec<u32>| row.iter().map(|&k| f64::from(k) / 128.0).collect::<Vec<f64>>();
        let found = system::solve(matrix.iter().map(floats).collect(), floats(&values)).unwrap();
        // Cramer's rule, row by row.
        let unit = |i: usize, j: usize| ratio(u32::from(i == j), 1);
        let mut rows: Vec<Vec<BigRational>> = (0..n)
            .map(|i| {
                let left = (0..n).map(|j| unit(i, j) - ratio(matrix[i][j], 128));
                left.chain([ratio(values[i], 128)]).collect()
            })
            .collect();
        for i in 0..n {
            let pivot = rows[i][i].clone();
            rows[i].iter_mut().for_each(|x| *x /= &pivot);
            let own = rows[i].clone();
            for (_, row) in rows.iter_mut().enumerate().filter(|(j, _)| *j != i) {
                let factor = row[i].clone();
                row.iter_mut().zip(&own).for_each(|(x, y)| *x -= &factor * y);
            }
        }
        for (found, row) in found.iter().zip(&rows) {
            let (found, truth) = (BigRational::from_float(*found).unwrap(), &row[n]);
            let most = truth * ratio(1_000_000_001, 1_000_000_000);
            assert!(*truth <= found && found <= most, "{found} {truth}");
        }
    }
    let tiny = vec![vec![0.0, 1e-200, 0.0], vec![0.0, 0.0, 1e-200], vec![0.0; 3]];
    assert!(system::solve(tiny, vec![0.0, 0.0, 1.0]).unwrap()[0] > 0.0);
    assert!(system::solve(vec![vec![1.0]], vec![1.0]).is_none());
    assert!(system::solve(vec![vec![f64::NAN]], vec![1.0]).is_none());
}

/// A published token that nobody saw on its way, when no more contributions are possible: the path graph of 4
/// nodes without loops, two steps, node 0 towards node 3. Three starts of eight end with one contribution
/// behind two noises. (A charge that is impossible, at an infinite weight, was NaN, so that all unseen paths
/// were left out.)
#[test]
fn a_published_token_that_nobody_saw_is_charged() -> Result<(), Box<dyn std::error::Error>> {
    let w = TransitionMatrix::simple_random_walk(&path_graph(4)?)?;
    let options = WalkOptions { final_token: FinalToken::Published, ..WalkOptions::default() };
    for (start, truth) in [(Start::Uniform, 3.0 / 8.0), (Start::Node(1), 0.5), (Start::Node(0), 1.0)] {
        let law = TokenWalk::new(&w, start, 2)?.with_options(options)?.cost_law(0, &[3])?;
        for cost in [1e-6, 0.01, 0.1, 0.3, 0.499] {
            let found = law.at_least(cost)?;
            assert!(found.lower() <= truth && truth <= found.upper(), "{cost}: {found:?}, {truth}");
        }
        let (mean, sigma) = (law.mean()?, noise(2.0));
        assert!(mean.lower() <= 0.5 * truth && 0.5 * truth <= mean.upper(), "{mean:?}");
        let delta = truth * *ndp_dp::Mechanism::delta(&ndp_dp::Gdp::new(0.5_f64.sqrt() / 2.0)?, 0.3)?.value();
        let found = law.delta(sigma, 0.3)?;
        assert!(found.lower() <= delta * (1.0 + 1e-9) && delta <= found.upper() * (1.0 + 1e-9));
        // From node 0 nobody ever sees the token. There are then no tables, and everything is charged at the
        // end of the window.
        assert!(found.upper() < if truth < 1.0 { 1.1 } else { 2.2 } * delta, "{found:?}, {delta}");
    }
    Ok(())
}
