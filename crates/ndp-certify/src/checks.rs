//! Compares rows of every kind with exact rationals: their entries in each arithmetic, and the proven
//! enclosures of their losses.

use crate::account::{self, Budget};
use crate::ball::Ball;
use crate::dyadic::Dyadic;
use crate::field::{Field, Fingerprint};
use crate::fixed;
use crate::gram;
use crate::krylov::Krylov;
use crate::matrix::{ExactMatrix, Laziness};
use crate::rows::{Input, Layout, Rows};
use crate::trace::{Message, Step, Trace};
use crate::whole::WholeRows;
use ndp_graph::{GossipMatrix, Graph};
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{Signed, ToPrimitive, Zero};
use std::sync::Arc;

type Row = Vec<BigRational>;

fn ratio(above: i64, below: i64) -> BigRational {
    BigRational::new(above.into(), below.into())
}

fn of(x: f64) -> BigRational {
    BigRational::from_float(x).expect("a finite number")
}

fn zeros(count: usize) -> Row {
    vec![BigRational::zero(); count]
}

/// `Bᵀ (R V Rᵀ)⁻¹ B` for independent rows `R` over the noises; `B` are the given columns.
fn gram_of(rows: &[Row], variances: &[BigRational], columns: &[usize]) -> Vec<Row> {
    let r = rows.len();
    let product = |a: &Row, b: &Row| -> BigRational {
        variances.iter().enumerate().map(|(j, v)| &a[j] * &b[j] * v).sum()
    };
    // Gauss-Jordan elimination on the matrix with the columns appended.
    let mut table: Vec<Row> = rows
        .iter()
        .map(|a| rows.iter().map(|b| product(a, b)).chain(columns.iter().map(|&j| a[j].clone())).collect())
        .collect();
    for k in 0..r {
        let pivot = (k..r).find(|&j| !table[j][k].is_zero()).expect("independent rows");
        table.swap(k, pivot);
        let first = table[k][k].clone();
        table[k].iter_mut().for_each(|x| *x /= &first);
        let row = table[k].clone();
        for (_, other) in table.iter_mut().enumerate().filter(|(j, _)| *j != k) {
            let factor = other[k].clone();
            other.iter_mut().zip(&row).for_each(|(x, y)| *x -= &factor * y);
        }
    }
    let entry = |i: usize, j: usize| (0..r).map(|k| &rows[k][columns[i]] * &table[k][r + j]).sum();
    (0..columns.len()).map(|i| (0..columns.len()).map(|j| entry(i, j)).collect()).collect()
}

/// Each entry of a row modulo a prime, by its numerator and denominator.
fn modulo(row: &Row, field: Field) -> Vec<u64> {
    let prime = BigInt::from(field.prime());
    let residue = |x: &BigInt| {
        let rest = ((x % &prime) + &prime) % &prime;
        field.integer(rest.to_u64().expect("below the prime"))
    };
    row.iter().map(|x| field.times(residue(x.numer()), field.inverse_of(residue(x.denom())))).collect()
}

/// Whether two rows are multiples of each other modulo a prime.
fn are_multiples(field: Field, a: &[u64], b: &[u64]) -> bool {
    let zero = field.integer(0);
    let Some(k) = b.iter().position(|&x| x != zero) else { return a.iter().all(|&x| x == zero) };
    a[k] != zero && a.iter().zip(b).all(|(&x, &y)| field.times(x, b[k]) == field.times(y, a[k]))
}

/// Asserts that the proven enclosures contain the true losses and are at most `1e-9` wide.
fn assert_proven(rows: &Rows, truth: &[Row], variances: &[BigRational]) {
    let columns: Vec<usize> = rows.layout().inputs.iter().map(|input| input.coordinate).collect();
    let expected = gram_of(truth, variances, &columns);
    let found = account::of_rows(rows, Budget::default()).expect("a certificate");
    assert_eq!((found.rank, found.certified), (truth.len(), true));
    for (k, input) in rows.layout().inputs.iter().enumerate() {
        let (low, high) = (found.lower[input.node], found.upper[input.node]);
        assert!(
            of(low) <= expected[k][k] && expected[k][k] <= of(high),
            "{} in [{low}, {high}]",
            expected[k][k]
        );
        assert!(high - low <= 1e-9 * low.max(1.0));
    }
    let found = gram::of_rows(rows, Budget::default()).expect("a Gram matrix");
    assert_eq!(found.rank(), truth.len());
    for (i, row) in expected.iter().enumerate() {
        for (j, truth) in row.iter().enumerate() {
            let (middle, radius) = found.entry(i, j).expect("certified");
            assert!((of(middle) - truth).abs() <= of(radius), "{truth} is not {middle} ± {radius}");
            assert!(radius <= 1e-8 * (1.0 + middle.abs()), "{middle} ± {radius}");
        }
    }
}

/// Two noises, the second with variance 1/2, and two inputs without noise of their own. Entries are ratios
/// with large numerators and denominators, of both signs.
#[test]
fn rows_of_ratios_are_what_was_written() {
    let large = BigRational::new((BigInt::from(1) << 90) + 7, (BigInt::from(1) << 70) + 3);
    let truth = vec![
        vec![ratio(1, 3), ratio(-2, 7), ratio(5, 11), large.clone()],
        vec![ratio(4, 1), ratio(1, 6), -large, ratio(-1, 13)],
    ];
    let input = |node, coordinate| Input { node, coordinate, factor: 1.0, scale: 0, structural: None };
    let layout = Layout {
        nodes: 2,
        coordinates: 4,
        noises: 2,
        variances: vec![1.0, 0.5],
        inputs: vec![input(0, 2), input(1, 3)],
        members: Vec::new(),
        known: 0,
        adds_up: false,
    };
    let sparse = |row: &Row| row.iter().cloned().enumerate().map(|(j, x)| (j as u32, x)).collect();
    let rows = Rows::Whole(WholeRows::new(layout.clone(), truth.iter().map(sparse).collect()));
    let field = Field::new((1 << 61) - 1);
    let mut modular = rows.modular(field);
    for (k, row) in truth.iter().enumerate() {
        assert!(are_multiples(field, &modular(k), &modulo(row, field)), "row {k}");
    }
    // In floating point each row is a multiple of the truth, columns scaled by powers of two.
    let floats = rows.float().expect("in range");
    for (k, row) in truth.iter().enumerate() {
        let scaled: Row = floats
            .rows
            .row(k)
            .iter()
            .zip(rows.column_scales())
            .map(|(&x, scale)| {
                let power = BigRational::from(BigInt::from(1) << scale.unsigned_abs());
                of(x) * if scale < 0 { power.recip() } else { power }
            })
            .collect();
        let factor = &scaled[0] / &row[0];
        for (x, y) in scaled.iter().zip(row) {
            assert!((x / (y * &factor) - ratio(1, 1)).abs() < ratio(1, 1 << 50), "{x} {y}");
        }
        // The error covers half a unit in the last place of the longest entry, and hardly more.
        let longest = floats.rows.row(k).iter().fold(0.0, |m: f64, x| m.max(x.abs()));
        assert!(
            floats.errors[k] >= longest * f64::EPSILON / 2.0
                && floats.errors[k] <= 4.0 * longest * f64::EPSILON
        );
    }
    assert_proven(&rows, &truth, &[ratio(1, 1), ratio(1, 2)]);
    // The rows, weighted by the variances, are well conditioned, so no primes are needed.
    assert_eq!(gram::of_rows(&rows, Budget::default()).expect("a Gram matrix").bits, 53);
    // The primes depend on every entry of the rows.
    let mut other = truth.clone();
    other[1][3] = ratio(-2, 13);
    let changed = Rows::Whole(WholeRows::new(layout, other.iter().map(sparse).collect()));
    let prime = |rows: &Rows| rows.fingerprint().finish().draw(&[]);
    assert_ne!(prime(&rows), prime(&changed));
}

/// The steps in order of time, on rationals: every register as a combination of the coordinates.
fn forward(steps: &[Step], weights: &[Row], registers: usize, coordinates: usize) -> Vec<Row> {
    let mut state = vec![zeros(coordinates); registers];
    let add = |to: &mut Row, from: &Row, by: &BigRational| {
        to.iter_mut().zip(from).for_each(|(x, y)| *x += by * y);
    };
    for step in steps {
        match step {
            Step::Mix(_) => {
                let before = state.clone();
                for (u, row) in weights.iter().enumerate() {
                    state[u] = zeros(coordinates);
                    row.iter().zip(&before).for_each(|(w, x)| add(&mut state[u], x, w));
                }
            }
            &Step::Average(a, b) => {
                let mean: Row = state[a].iter().zip(&state[b]).map(|(x, y)| (x + y) * ratio(1, 2)).collect();
                (state[a], state[b]) = (mean.clone(), mean);
            }
            Step::Idle => {}
            &Step::Scale(register, factor) => state[register].iter_mut().for_each(|x| *x *= of(factor)),
            &Step::Share(a, b, share) => {
                let apart: Row = state[b].iter().zip(&state[a]).map(|(y, x)| y - x).collect();
                add(&mut state[a], &apart, &of(share));
                add(&mut state[b], &apart, &-of(share));
            }
            &Step::Ring { x: (xa, xb), z: (za, zb), push } => {
                let apart: Row = state[xa].iter().zip(&state[xb]).map(|(x, y)| x - y).collect();
                add(&mut state[za], &apart, &-of(push));
                add(&mut state[zb], &apart, &of(push));
                let mean: Row =
                    state[xa].iter().zip(&state[xb]).map(|(x, y)| (x + y) * ratio(1, 2)).collect();
                (state[xa], state[xb]) = (mean.clone(), mean);
            }
            Step::Add { entries, first, factor } => {
                for &(register, at) in entries.iter() {
                    state[register as usize][first + at as usize] += of(*factor);
                }
            }
            Step::AddAround { entries, first, factor, .. } => {
                for &(sender, at) in entries.iter() {
                    for (v, row) in weights.iter().enumerate().filter(|(v, _)| *v != sender as usize) {
                        state[v][first + at as usize] += of(*factor) * &row[sender as usize];
                    }
                }
            }
            Step::AddLinks { entries, first, factor, .. } => {
                for &(to, from, at) in entries.iter() {
                    let weight = &weights[to as usize][from as usize];
                    state[to as usize][first + at as usize] += of(*factor) * weight;
                }
            }
        }
    }
    state
}

/// For every kind of step, with named and with given weights, the walk back gives in each arithmetic the row
/// that the steps give in order of time.
#[test]
fn traced_rows_are_what_the_steps_do() -> Result<(), Box<dyn std::error::Error>> {
    let graph = Graph::from_edges(4, [(0, 1), (1, 2), (1, 3), (2, 3)])?;
    let degrees = [1, 3, 2, 2];
    let mut named = vec![zeros(4); 4];
    for (u, v) in [(0, 1), (1, 2), (1, 3), (2, 3)] {
        let weight = ratio(1, 1 + degrees[u].max(degrees[v]));
        (named[u][v], named[v][u]) = (weight.clone(), weight);
    }
    for (u, row) in named.iter_mut().enumerate() {
        row[u] = ratio(1, 1) - row.iter().sum::<BigRational>();
    }
    let given = [
        vec![0.75, 0.25, 0.0, 0.0],
        vec![0.25, 0.25, 0.375, 0.125],
        vec![0.0, 0.375, 0.5, 0.125],
        vec![0.0, 0.125, 0.125, 0.75],
    ];
    let exact: Vec<Row> = given.iter().map(|row| row.iter().map(|&x| of(x)).collect()).collect();
    let ball = Ball::around(&graph, &[0], 4);
    for (matrix, weights) in [
        (GossipMatrix::metropolis(&graph), named),
        (GossipMatrix::from_edge_weights(&graph, |u, v| given[u][v])?, exact),
    ] {
        let w = Arc::new(ExactMatrix::new(&matrix, &ball, Laziness::Kept));
        let other = Arc::new(ExactMatrix::new(&matrix, &ball, Laziness::Kept));
        let noisy =
            |first, factor| Step::Add { entries: Arc::new((0..4).map(|v| (v, v)).collect()), first, factor };
        let around = Step::AddAround {
            matrix: w.clone(),
            entries: Arc::new(vec![(0, 0), (1, 1), (3, 2)]),
            first: 4,
            factor: 0.75,
        };
        let links = Step::AddLinks {
            entries: Arc::new(vec![(2, 1, 0), (1, 3, 1), (0, 1, 2)]),
            matrix: other.clone(),
            first: 7,
            factor: 1.5,
        };
        let positive = vec![
            noisy(0, 1.0),
            Step::Mix(w.clone()),
            around,
            Step::Average(0, 2),
            Step::Idle,
            Step::Mix(other),
            Step::Scale(1, 3.0),
            links,
            Step::Mix(w),
            noisy(6, 0.5),
        ];
        let mut signed = positive.clone();
        signed.insert(4, Step::Share(1, 3, 0.3));
        signed.insert(6, Step::Ring { x: (0, 1), z: (2, 3), push: 0.7 });
        for (steps, own) in [(positive, 0.25), (signed, -0.25)] {
            let (before, after) = (steps.len() - 2, steps.len());
            let messages = vec![
                Message { after: before, register: 1, beside: vec![(9, 2.0)] },
                Message { after, register: 2, beside: Vec::new() },
                Message { after, register: 0, beside: vec![(8, own)] },
            ];
            let at = |steps: &[Step]| forward(steps, &weights, 4, 10);
            let mut truth =
                vec![at(&steps[..before])[1].clone(), at(&steps)[2].clone(), at(&steps)[0].clone()];
            truth[0][9] += of(2.0);
            truth[2][8] += of(own);
            let layout =
                Layout { adds_up: false, ..Layout::of_equal_columns(10, &(0..10).collect::<Vec<_>>()) };
            let rows = Rows::Traced(Trace::new(layout, 4, steps, messages));
            let field = Field::new((1 << 61) - 1);
            let mut modular = rows.modular(field);
            for (k, row) in truth.iter().enumerate() {
                assert_eq!(modular(k), modulo(row, field), "row {k}");
            }
            let floats = rows.float();
            assert_eq!(floats.is_some(), own > 0.0);
            if let Some(floats) = floats {
                for (k, row) in truth.iter().enumerate() {
                    let apart =
                        |(&x, y): (&f64, &BigRational)| (of(x) - y).to_f64().unwrap_or(f64::NAN).powi(2);
                    let distance = floats.rows.row(k).iter().zip(row).map(apart).sum::<f64>().sqrt();
                    assert!(distance <= floats.errors[k] && floats.errors[k] < 1e-13, "row {k}: {distance}");
                }
            }
            // The logarithm of a row's common denominator times its length is at most the stated width.
            for (width, row) in rows.widths().iter().zip(&truth) {
                let common = row
                    .iter()
                    .fold(BigInt::from(1), |d, x| crate::divisor::least_common_multiple(d, x.denom()));
                let squares: BigRational = row.iter().map(|x| x * x * ratio(1, 1)).sum();
                let length = squares.to_f64().unwrap_or(f64::NAN).sqrt().log2();
                assert!(common.to_f64().unwrap_or(f64::NAN).log2() + length <= width + 1e-9);
            }
            assert_proven(&rows, &truth, &vec![ratio(1, 1); 10]);
        }
    }
    Ok(())
}

/// The primes depend on everything that determines a view: the known noises, and every entry of a matrix.
#[test]
fn primes_are_drawn_from_the_whole_view() -> Result<(), Box<dyn std::error::Error>> {
    let ring = |order: [usize; 6]| Graph::from_edges(6, (0..6).map(|k| (order[k], order[(k + 1) % 6])));
    let (one, other) = (ring([0, 1, 2, 3, 4, 5])?, ring([0, 2, 4, 1, 3, 5])?);
    let given = |graph: &Graph| GossipMatrix::from_edge_weights(graph, |_, _| 0.25);
    let view = |matrix: &GossipMatrix, known: &[usize]| {
        Krylov::new(matrix, &[0], &[1], known, 3).fingerprint().finish().draw(&[])
    };
    let (a, b) = (given(&one)?, given(&other)?);
    assert_eq!(view(&a, &[0]), view(&a, &[0]));
    assert_ne!(view(&a, &[0]), view(&a, &[]));
    assert_ne!(view(&a, &[0]), view(&b, &[0]));
    let traced = |matrix: &GossipMatrix| {
        let w = Arc::new(ExactMatrix::new(matrix, &Ball::around(matrix.graph(), &[0], 6), Laziness::Kept));
        // Three entries in every row, and eight roundings for weights, diagonal and laziness.
        assert_eq!(w.relative(), 11.0);
        let layout = Layout::of_equal_columns(6, &(0..6).collect::<Vec<_>>());
        let steps = vec![Step::Mix(w)];
        let message = Message { after: 1, register: 0, beside: Vec::new() };
        Rows::Traced(Trace::new(layout, 6, steps, vec![message])).fingerprint().finish().draw(&[])
    };
    assert_ne!(traced(&a), traced(&b));
    Ok(())
}

/// A matrix on all nodes of its graph.
fn exact(matrix: &GossipMatrix) -> ExactMatrix {
    let all = Ball::around(matrix.graph(), &[0], matrix.graph().node_count());
    ExactMatrix::new(matrix, &all, Laziness::Kept)
}

/// Two cubic graphs whose matrices have four entries of 1/4 in each row, but in different columns; the
/// matrices are used alone, and as the weights of noises.
#[test]
fn primes_are_drawn_from_the_places_of_entries() -> Result<(), Box<dyn std::error::Error>> {
    let bipartite = [(0, 3), (0, 4), (0, 5), (1, 3), (1, 4), (1, 5), (2, 3), (2, 4), (2, 5)];
    let prism = [(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5), (0, 3), (1, 4), (2, 5)];
    let mut primes = Vec::new();
    for edges in [bipartite, prism] {
        let graph = Graph::from_edges(6, edges)?;
        let matrix = Arc::new(exact(&GossipMatrix::from_edge_weights(&graph, |_, _| 0.25)?));
        let mut to = Fingerprint::new("a test");
        matrix.fingerprint(&mut to);
        let entries = Arc::new(vec![(0, 0)]);
        let around = Step::AddAround { matrix, entries, first: 0, factor: 1.0 };
        let message = Message { after: 1, register: 1, beside: Vec::new() };
        let rows =
            Rows::Traced(Trace::new(Layout::of_equal_columns(1, &[0]), 6, vec![around], vec![message]));
        primes.push([to.finish().draw(&[]), rows.fingerprint().finish().draw(&[])]);
    }
    assert_ne!(primes[0][0], primes[1][0]);
    assert_ne!(primes[0][1], primes[1][1]);
    Ok(())
}

/// On a path, the weight of two nodes that are no neighbors is 0, even if the node between them is a neighbor
/// of both.
#[test]
fn only_neighbors_have_weights() -> Result<(), Box<dyn std::error::Error>> {
    let graph = Graph::from_edges(4, [(0, 1), (1, 2), (2, 3)])?;
    let field = Field::new((1 << 61) - 1);
    let named = GossipMatrix::metropolis(&graph);
    let given = GossipMatrix::from_edge_weights(&graph, |u, _| if u == 1 { 0.25 } else { 0.5 })?;
    for matrix in [named, given] {
        let exact = exact(&matrix);
        for (u, v) in (0..4).flat_map(|u| (0..4).map(move |v| (u, v))).filter(|(u, v)| u != v) {
            let stored = matrix.get(u, v);
            assert_eq!(exact.weight_f64(u, v), stored);
            let weighted = exact.weighted(u, v, &fixed::of_dyadic::<2>(Dyadic::of(1.0), 0));
            assert!((fixed::rounded(&weighted, fixed::places(2)) - stored).abs() < 1e-16);
            assert_eq!(exact.modulo(field).weighted(u, v, field.integer(1)) == 0, stored == 0.0);
        }
    }
    Ok(())
}

/// The weight function is called twice for an edge and may return two different weights, so the code checks
/// whether the matrix is symmetric.
#[test]
fn symmetry_is_not_presumed() -> Result<(), Box<dyn std::error::Error>> {
    let graph = Graph::from_edges(2, [(0, 1)])?;
    let calls = std::cell::Cell::new(0.0);
    let told = |step: f64| {
        calls.set(0.25);
        GossipMatrix::from_edge_weights(&graph, |_, _| calls.replace(calls.get() + step))
    };
    assert!(exact(&told(0.0)?).is_symmetric());
    assert!(!exact(&told(0.25)?).is_symmetric());
    Ok(())
}

/// The largest numbers of the format, 128 less a unit and -128, against 2^128 and 2^129 units: beyond the
/// highest limb stands the sign.
#[test]
fn signs_go_on_beyond_the_format() {
    let (largest, least) = ([u64::MAX, u64::MAX >> 1], [0, 1 << 63]);
    assert_eq!((fixed::rounded(&largest, 128), fixed::rounded(&least, 128)), (0.5, -0.5));
    assert_eq!((fixed::rounded(&largest, 129), fixed::rounded(&least, 129)), (0.25, -0.25));
}

/// A row whose input is far longer than its noise, `(1000/3)^2`, in fixed point, where there is no memory for
/// floats.
#[test]
fn long_inputs_are_scaled_back() -> Result<(), crate::Error> {
    let layout = Layout {
        coordinates: 2,
        inputs: vec![Input { node: 0, coordinate: 1, factor: 1.0, scale: 0, structural: None }],
        adds_up: false,
        ..Layout::of_equal_columns(1, &[0])
    };
    let entries = vec![(0, BigInt::from(3)), (1, BigInt::from(1000))];
    let rows = Rows::Whole(WholeRows::of_integers(layout, vec![entries]));
    let found = account::of_rows(&rows, Budget { memory: 50, ..Budget::default() })?;
    let (low, high) = (found.lower[0], found.upper[0]);
    assert!(found.bits > 53 && of(low) <= ratio(1_000_000, 9) && ratio(1_000_000, 9) <= of(high));
    assert!(high - low <= 1e-9 * low, "[{low}, {high}]");
    Ok(())
}
