//! Dense linear algebra: the same tests for faer and, under feature `lapack`, for LAPACK.

use approx::assert_abs_diff_eq;
use ndarray::{Array2, ArrayView2, Axis, ShapeBuilder, arr2, s};
use ndp_linalg::{Error, add_lower_product, cholesky, gemm, gram_difference, sym_eigen, sym_eigenvalues};
use rand::RngExt;
use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};

fn random(rows: usize, columns: usize, seed: u64) -> Array2<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    Array2::from_shape_simple_fn((rows, columns), || rng.random::<f64>() - 0.5)
}

fn symmetric(n: usize, seed: u64) -> Array2<f64> {
    let a = random(n, n, seed);
    &a + &a.t()
}

fn max_abs(a: ArrayView2<'_, f64>) -> f64 {
    a.iter().fold(0.0, |max, x| max.max(x.abs()))
}

#[track_caller]
fn assert_close(a: ArrayView2<'_, f64>, b: ArrayView2<'_, f64>, epsilon: f64) {
    assert_eq!(a.dim(), b.dim());
    let difference = max_abs((&a - &b).view());
    assert!(difference <= epsilon, "differ by {difference}");
}

/// The definition, term by term.
fn slow_product(a: ArrayView2<'_, f64>, b: ArrayView2<'_, f64>) -> Array2<f64> {
    Array2::from_shape_fn((a.nrows(), b.ncols()), |(i, j)| {
        (0..a.ncols()).map(|k| a[(i, k)] * b[(k, j)]).sum()
    })
}

/// Eigenvectors and eigenvalues reproduce the matrix, and are orthonormal and ascending, at sizes on both
/// sides of the solver's switch to divide and conquer.
#[test]
fn eigenpairs_reproduce_the_matrix() -> Result<(), Error> {
    for n in [1, 2, 3, 5, 31, 32, 33, 64, 150, 301] {
        let a = symmetric(n, n as u64);
        let eigen = sym_eigen(a.view())?;
        let v = &eigen.vectors;
        let residual = slow_product(a.view(), v.view()) - v * &eigen.values.view().insert_axis(Axis(0));
        assert!(max_abs(residual.view()) < 1e-13 * (n as f64).max(3.0), "{n}");
        let gram = slow_product(v.t(), v.view()) - Array2::<f64>::eye(n);
        assert!(max_abs(gram.view()) < 1e-13, "{n}: {}", max_abs(gram.view()));
        assert!(eigen.values.windows(2).into_iter().all(|w| w[0] <= w[1]));
        let values = sym_eigenvalues(a.view())?;
        for (fast, full) in values.iter().zip(&eigen.values) {
            assert_abs_diff_eq!(fast, full, epsilon = 1e-13 * (n as f64).max(3.0));
        }
    }
    Ok(())
}

/// Eigenvalues of [[2, 1], [1, 2]] are 1 and 3; of the path's second difference `2 - 2 cos(k π / (n + 1))`.
#[test]
fn eigenvalues_match_closed_forms() -> Result<(), Error> {
    let small = sym_eigenvalues(arr2(&[[2.0, 1.0], [1.0, 2.0]]).view())?;
    assert_abs_diff_eq!(small[0], 1.0, epsilon = 1e-15);
    assert_abs_diff_eq!(small[1], 3.0, epsilon = 1e-15);
    let n = 200;
    let difference = Array2::from_shape_fn((n, n), |(i, j)| match i.abs_diff(j) {
        0 => 2.0,
        1 => -1.0,
        _ => 0.0,
    });
    for (k, value) in sym_eigenvalues(difference.view())?.iter().enumerate() {
        let angle = (k + 1) as f64 * std::f64::consts::PI / (n + 1) as f64;
        assert_abs_diff_eq!(*value, 2.0 - 2.0 * angle.cos(), epsilon = 1e-13);
    }
    Ok(())
}

/// Repeated eigenvalues, a zero matrix and a diagonal matrix.
#[test]
fn degenerate_matrices_are_decomposed() -> Result<(), Error> {
    for n in [1, 4, 40, 100] {
        let zero = sym_eigen(Array2::zeros((n, n)).view())?;
        assert!(zero.values.iter().all(|&x| x == 0.0));
        let ones = sym_eigenvalues(Array2::ones((n, n)).view())?;
        assert_abs_diff_eq!(ones[n - 1], n as f64, epsilon = 1e-13 * n as f64);
        assert!(ones.iter().take(n - 1).all(|x| x.abs() < 1e-13 * n as f64));
        let eye = sym_eigen(Array2::eye(n).view())?;
        assert!(eye.values.iter().all(|&x| x == 1.0));
    }
    let empty = sym_eigen(Array2::zeros((0, 0)).view())?;
    assert_eq!(empty.values.len(), 0);
    Ok(())
}

/// Entries near the ends of the floating-point range neither overflow nor vanish.
#[test]
fn extreme_scales_are_decomposed() -> Result<(), Error> {
    for scale in [1e-300, 1e-160, 1e160, 1e300] {
        for n in [2, 20, 60] {
            let a = symmetric(n, 9);
            let plain = sym_eigen(a.view())?;
            let scaled = sym_eigen((&a * scale).view())?;
            for (x, y) in plain.values.iter().zip(&scaled.values) {
                assert_abs_diff_eq!(*x, y / scale, epsilon = 1e-12);
            }
            let gram = slow_product(scaled.vectors.t(), scaled.vectors.view()) - Array2::<f64>::eye(n);
            assert!(max_abs(gram.view()) < 1e-13);
        }
    }
    Ok(())
}

#[test]
fn products_match_the_definition() -> Result<(), Error> {
    for (m, k, n) in [(1, 1, 1), (3, 5, 2), (17, 33, 65), (100, 1, 100), (4, 0, 3), (0, 2, 3)] {
        let (a, b) = (random(m, k, 1), random(k, n, 2));
        let product = gemm(a.view(), b.view())?;
        assert_eq!(product.dim(), (m, n));
        assert_close(product.view(), slow_product(a.view(), b.view()).view(), 1e-13);
    }
    Ok(())
}

/// Inputs may have any layout: by rows, by columns, transposed, reversed, strided.
#[test]
fn every_layout_is_accepted() -> Result<(), Error> {
    let a = random(40, 30, 3);
    let columns = {
        let mut copy = Array2::zeros((40, 30).f());
        copy.assign(&a);
        copy
    };
    let b = random(30, 20, 4);
    let expected = gemm(a.view(), b.view())?;
    assert_close(gemm(columns.view(), b.view())?.view(), expected.view(), 1e-14);
    assert_close(gemm(b.t(), a.t())?.view(), expected.t(), 1e-14);
    let reversed = a.slice(s![..;-1, ..]);
    assert_close(gemm(reversed, b.view())?.view(), expected.slice(s![..;-1, ..]), 1e-14);
    let strided = a.slice(s![..;3, ..;2]);
    let expected = slow_product(strided, b.slice(s![..;2, 1..4]));
    assert_close(gemm(strided, b.slice(s![..;2, 1..4]))?.view(), expected.view(), 1e-13);
    let big = symmetric(60, 5);
    let window = big.slice(s![10..30, 10..30]);
    let expected = sym_eigenvalues(window.to_owned().view())?;
    assert_close(
        sym_eigenvalues(window)?.insert_axis(Axis(0)).view(),
        expected.insert_axis(Axis(0)).view(),
        1e-13,
    );
    Ok(())
}

#[test]
fn systems_are_solved() -> Result<(), Error> {
    for n in [1, 2, 10, 33, 120] {
        let a = random(n, n, 6) + Array2::<f64>::eye(n) * 3.0;
        let x = random(n, 4, 7);
        let spd = slow_product(a.view(), a.t());
        let b = slow_product(spd.view(), x.view());
        let factor = cholesky(spd.view())?;
        assert_close(factor.solve(b.view())?.view(), x.view(), 1e-10);
        let lower = factor.lower();
        assert!(lower.indexed_iter().all(|((i, j), &l)| i >= j || l == 0.0));
        assert!(lower.diag().iter().all(|&l| l > 0.0));
        assert_close(slow_product(lower.view(), lower.t()).view(), spd.view(), 1e-11);
    }
    Ok(())
}

#[test]
fn bad_input_is_named() {
    let rectangle = Array2::<f64>::zeros((2, 3));
    let shape = Error::Shape { what: "columns of a square matrix", expected: 2, got: 3 };
    assert_eq!(sym_eigen(rectangle.view()), Err(shape.clone()));
    assert_eq!(cholesky(rectangle.view()), Err(shape));
    assert!(matches!(gemm(rectangle.view(), rectangle.view()), Err(Error::Shape { .. })));

    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let a = arr2(&[[1.0, bad], [bad, 1.0]]);
        assert!(matches!(sym_eigen(a.view()), Err(Error::NotFinite { row: 0, column: 1, .. })));
        assert!(matches!(sym_eigenvalues(a.view()), Err(Error::NotFinite { .. })));
        assert!(matches!(cholesky(a.view()), Err(Error::NotFinite { .. })));
    }
    let skew = arr2(&[[1.0, 2.0], [2.5, 1.0]]);
    assert_eq!(sym_eigen(skew.view()), Err(Error::NotSymmetric { row: 1, column: 0, difference: 0.5 }));

    let indefinite = arr2(&[[1.0, 2.0], [2.0, 1.0]]);
    assert_eq!(cholesky(indefinite.view()), Err(Error::NotPositiveDefinite { row: 1 }));
    for n in [2, 5, 50] {
        let rank_one = Array2::<f64>::ones((n, n));
        assert!(matches!(cholesky(rank_one.view()), Err(Error::NotPositiveDefinite { row: 1 })));
    }
    let tiny = arr2(&[[1.0, 0.0], [0.0, 1e-300]]);
    let overflow = cholesky(tiny.view()).and_then(|factor| factor.solve(arr2(&[[1.0], [1e300]]).view()));
    assert!(matches!(overflow, Err(Error::NotFinite { column: 0, .. })));
    let factor = cholesky(Array2::eye(3).view()).unwrap();
    assert!(matches!(factor.solve(Array2::zeros((2, 1)).view()), Err(Error::Shape { .. })));
}

/// Nothing to solve for is no error; what is not finite is named where it stands, not where it spreads to.
#[test]
fn right_hand_sides_are_empty_or_finite() -> Result<(), Error> {
    let a = arr2(&[[2.0, 1.0], [1.0, 2.0]]);
    let factor = cholesky(a.view())?;
    let none = Array2::<f64>::zeros((2, 0));
    assert_eq!(factor.solve(none.view())?, none);
    let bad = arr2(&[[1.0], [f64::INFINITY]]);
    let named = Error::NotFinite { row: 1, column: 0, value: f64::INFINITY };
    assert_eq!(factor.solve(bad.view()), Err(named));
    let empty = Array2::<f64>::zeros((0, 0));
    assert_eq!(cholesky(empty.view())?.lower(), &empty);
    assert_eq!(sym_eigenvalues(empty.view())?.len(), 0);
    Ok(())
}

/// How far a matrix is from being symmetric is measured by its largest entry, not by its last.
#[test]
fn symmetry_is_relative_to_the_largest_entry() {
    let nearly = arr2(&[[1e6, 1.0], [1.0 + 1e-8, 1e-6]]);
    assert!(sym_eigen(nearly.view()).is_ok());
}

/// Factors without columns have a product as large as their rows say.
#[test]
fn products_that_do_not_fit_are_refused() {
    let (a, b) = (Array2::<f64>::zeros((10_000_000, 0)), Array2::<f64>::zeros((0, 10_000_000)));
    assert!(matches!(gemm(a.view(), b.view()), Err(Error::TooLarge { .. })));
}

/// The lower triangle of a product is added, whatever the layouts; shapes that do not fit are named.
#[test]
fn lower_products_are_added() -> Result<(), Error> {
    let (a, wide) = (random(5, 3, 64), random(5, 6, 65));
    let b = wide.slice(s![.., ..;2]);
    let mut sum = Array2::from_elem((5, 5), 2.0);
    add_lower_product(&mut sum, a.view(), b)?;
    let expected = slow_product(a.view(), b.t());
    for ((i, j), &entry) in sum.indexed_iter() {
        let added = if j <= i { expected[(i, j)] } else { 0.0 };
        assert_abs_diff_eq!(entry, 2.0 + added, epsilon = 1e-14);
    }
    let named = |what, expected, got| Err(Error::Shape { what, expected, got });
    let (other, mut small) = (random(5, 2, 66), Array2::zeros((4, 5)));
    assert_eq!(
        add_lower_product(&mut sum, a.view(), other.view()),
        named("columns of the second factor", 3, 2)
    );
    assert_eq!(add_lower_product(&mut small, a.view(), b), named("rows of the sum", 5, 4));
    Ok(())
}

/// The result has the same bits for every pool, and inside one of its tasks. With the pool's own parallelism
/// faer's eigenvectors would differ between 1 and 2 threads at this size.
#[test]
fn bits_do_not_depend_on_the_number_of_threads() {
    let a = symmetric(300, 8);
    let spd = slow_product(a.view(), a.t()) + Array2::<f64>::eye(300);
    let all = || {
        let eigen = sym_eigen(a.view()).unwrap();
        let values = sym_eigenvalues(a.view()).unwrap();
        let product = gemm(a.view(), spd.view()).unwrap();
        let factor = cholesky(spd.view()).unwrap();
        let solution = factor.solve(a.view()).unwrap();
        (eigen, values, product, factor, solution)
    };
    let results: Vec<_> = [1, 2, 3]
        .map(|threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(all))
        .into();
    assert!(results[0] == results[1], "1 and 2 threads");
    assert!(results[0] == results[2], "1 and 3 threads");
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    let (left, right) = pool.install(|| rayon::join(all, all));
    assert!(left == results[0] && right == results[0], "inside tasks");
}

/// Sizes on both sides of the tiles in which the triangle is mirrored; empty factors; both memory orders.
#[test]
fn gram_difference_is_two_products() -> Result<(), Error> {
    for (n, left, right) in
        [(1, 1, 1), (2, 3, 0), (5, 0, 2), (31, 7, 40), (33, 0, 0), (64, 64, 1), (100, 30, 20)]
    {
        let (a, b) = (random(n, left, 60), random(n, right, 61));
        let expected = slow_product(a.view(), a.t()) - slow_product(b.view(), b.t());
        let found = gram_difference(a.view(), b.view())?;
        assert_close(found.view(), expected.view(), 1e-13);
        assert_eq!(found, found.t(), "mirrored bit by bit");
        let mut column_major = Array2::zeros((n, left).f());
        column_major.assign(&a);
        assert_close(gram_difference(column_major.view(), b.view())?.view(), expected.view(), 1e-13);
    }
    let (a, b) = (random(3, 2, 62), random(4, 2, 63));
    assert!(matches!(gram_difference(a.view(), b.view()), Err(Error::Shape { expected: 3, got: 4, .. })));
    Ok(())
}
