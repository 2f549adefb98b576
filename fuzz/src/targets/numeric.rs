//! `ndp-numeric` and `ndp-linalg`: special functions, roundings, transforms, dense algebra.

use crate::input::{Ending, Input};
use crate::sound::{Sound, answered, require, returned, sound};
use crate::target::{Target, functions};
use ndarray::Array2;
use ndp_linalg as linalg;
use ndp_numeric::binomial_window::{self as window, BinomialWindow, Chance};
use ndp_numeric::decimal::{self, Round};
use ndp_numeric::fourier::{self, Complex, Scrambled, Transform};
use ndp_numeric::rounding::{self, Interval};
use ndp_numeric::{binomial, casts, gaussian_profile as profile, incomplete, logspace, special, sums};

/// Not NaN where the arguments are in the domain that the documentation names; elsewhere it only returns.
fn within(domain: bool, answer: f64) -> Ending {
    if domain { sound(answer) } else { returned(answer) }
}

fn interval(i: &mut Input<'_>) -> Interval {
    Interval::between(i.real(), i.real())
}

/// An interval of `of` a well-formed one is well-formed.
fn of_interval(i: &mut Input<'_>, of: fn(Interval) -> Interval) -> Ending {
    let (a, b) = (i.real(), i.real());
    sound(of(Interval::between(a.min(b), a.max(b))))
}

fn round(i: &mut Input<'_>) -> Round {
    i.pick(&[Round::Up, Round::Down, Round::Nearest])
}

/// A text of a finite number reads back as a number on the side asked for.
fn decimal(x: f64, round: Round, text: &str) -> Ending {
    if !x.is_finite() {
        return require(!text.is_empty(), || "no text".to_owned());
    }
    let read: Result<f64, _> = text.parse();
    let on_side = |y: f64| match round {
        Round::Up => y >= x,
        Round::Down => y <= x,
        Round::Nearest => true,
    };
    require(read.as_ref().is_ok_and(|&y| on_side(y)), || format!("{text} for {x:e}"))
}

fn complex(i: &mut Input<'_>) -> Complex {
    Complex { re: i.real(), im: i.real() }
}

fn matrix(i: &mut Input<'_>) -> Array2<f64> {
    let (rows, columns) = (i.choice(6), i.choice(6));
    Array2::from_shape_simple_fn((rows, columns), || i.real())
}

fn symmetric(i: &mut Input<'_>) -> Array2<f64> {
    let n = i.choice(6);
    let mut matrix = Array2::from_shape_simple_fn((n, n), || i.real());
    for a in 0..n {
        for b in 0..a {
            matrix[(a, b)] = matrix[(b, a)];
        }
    }
    matrix
}

impl Sound for Array2<f64> {
    fn sound(&self) -> Ending {
        self.iter().try_for_each(Sound::sound)
    }
}

impl Sound for ndarray::Array1<f64> {
    fn sound(&self) -> Ending {
        self.iter().try_for_each(Sound::sound)
    }
}

fn all_within(xs: &[f64], low: f64) -> bool {
    xs.iter().all(|&x| x >= low)
}

/// Whether a number is outside the domain of those that are not negative.
fn negative(x: f64) -> bool {
    x.is_nan() || x < 0.0
}

/// A window's probabilities, and what lies beside them, are probabilities.
fn of_window(window: &BinomialWindow) -> Ending {
    let all = window.probabilities().iter().copied().chain([window.below(), window.above()]);
    for p in all {
        require((0.0..=1.0 + 1e-9).contains(&p), || format!("a probability of {p:e}"))?;
    }
    returned(window.iter().count())
}

fn lanes(i: &mut Input<'_>, size: usize) -> Vec<[f64; 2]> {
    let some: Vec<[f64; 2]> = (0..8).map(|_| [i.real(), i.real()]).collect();
    (0..size).map(|k| some[k % 8]).collect()
}

pub(super) const ALL: &[Target] = functions! {
    "ndp-numeric binomial::check" => |i| answered(binomial::check(i.count(), i.chance())),
    "ndp-numeric binomial::clopper_pearson_upper" =>
        |i| answered(binomial::clopper_pearson_upper(i.count(), i.count(), i.chance())),
    "ndp-numeric binomial::log_cdf_up" => |i| answered(binomial::log_cdf_up(i.count(), i.count(), i.chance())),
    "ndp-numeric binomial::log_pmf_up" => |i| answered(binomial::log_pmf_up(i.count(), i.count(), i.chance())),
    "ndp-numeric binomial::log_tail_up" => |i| answered(binomial::log_tail_up(i.count(), i.count(), i.chance())),
    "ndp-numeric binomial::log_pmf" => |i| {
        let (k, trials, p) = (i.count(), i.count(), i.chance());
        within(binomial::check(trials, p).is_ok(), binomial::log_pmf(k, trials, p))
    },
    "ndp-numeric binomial::log_tail" => |i| {
        let (k, trials, p) = (i.count(), i.count(), i.chance());
        within(binomial::check(trials, p).is_ok(), binomial::log_tail(k, trials, p))
    },
    "ndp-numeric binomial_window::geometric_tail" => |i| sound(window::geometric_tail(i.real(), i.real())),
    "ndp-numeric binomial_window::mode" => |i| {
        let (trials, p) = (i.count(), i.chance());
        let (mode, _) = window::mode(trials, Chance { p, q: 1.0 - p });
        require(mode <= trials, || format!("a mode of {mode}"))
    },
    "ndp-numeric binomial_window::probability" => |i| {
        let (trials, k, p) = (i.count(), i.count(), i.chance());
        within(binomial::check(trials, p).is_ok(), window::probability(trials, k, Chance { p, q: 1.0 - p }))
    },
    "ndp-numeric binomial_window::BinomialWindow::new" => |i| {
        of_window(&BinomialWindow::new(i.count(), i.chance(), i.chance())?)
    },
    "ndp-numeric binomial_window::BinomialWindow::fill" => |i| {
        let (trials, p, cut) = (i.count() % 100_000, i.chance(), i.chance());
        binomial::check(trials, p)?;
        let mut window = BinomialWindow::default();
        window.fill(trials, Chance { p, q: 1.0 - p }, cut.clamp(1e-30, 1.0));
        of_window(&window)
    },
    "ndp-numeric casts::floor" => |i| returned(casts::floor(i.real())),
    "ndp-numeric casts::id" => |i| returned(casts::id(i.short() as usize)),
    "ndp-numeric casts::integer" => |i| returned(casts::integer(i.real())),
    "ndp-numeric casts::low" => |i| returned(casts::low(u128::from(i.count()) << (i.choice(64)))),
    "ndp-numeric decimal::fixed" => |i| {
        let (x, decimals, round) = (i.real(), i.choice(30), round(i));
        decimal(x, round, &decimal::fixed(x, decimals, round))
    },
    "ndp-numeric decimal::percent" => |i| {
        let (x, decimals, round) = (i.real(), i.choice(30), round(i));
        require(!decimal::percent(x, decimals, round).is_empty(), || "no text".to_owned())
    },
    "ndp-numeric decimal::scientific" => |i| {
        let (x, decimals, round) = (i.real(), i.choice(30), round(i));
        decimal(x, round, &decimal::scientific(x, decimals, round))
    },
    "ndp-numeric decimal::significant" => |i| {
        let (x, digits, round) = (i.real(), i.choice(30), round(i));
        decimal(x, round, &decimal::significant(x, digits, round))
    },
    "ndp-numeric error::ensure" => |i| {
        answered(ndp_numeric::ensure(i.choice(2) == 0, "a number", "be good", i.real()))
    },
    "ndp-numeric fourier::root" => |i| {
        let (k, size) = (i.count() as usize, 1 + i.size(1 << 16).min(1 << 40));
        let root = fourier::root(k, size);
        sound((root.re, root.im))
    },
    "ndp-numeric fourier::Transform::new" => |i| returned(Transform::new(i.choice(1 << 8) << i.choice(8)).error()),
    "ndp-numeric fourier::Transform::run" => |i| {
        let transform = Transform::new(i.choice(64));
        let mut data: Vec<Complex> = (0..transform.size()).map(|_| complex(i)).collect();
        transform.run(&mut data);
        returned(data)
    },
    "ndp-numeric fourier::Transform::invert" => |i| {
        let transform = Transform::new(i.choice(64));
        let mut data: Vec<Complex> = (0..transform.size()).map(|_| complex(i)).collect();
        transform.invert(&mut data);
        returned(data)
    },
    "ndp-numeric fourier::Complex::minus" => |i| returned(complex(i).minus(complex(i))),
    "ndp-numeric fourier::Complex::plus" => |i| returned(complex(i).plus(complex(i))),
    "ndp-numeric fourier::Complex::times" => |i| returned(complex(i).times(complex(i))),
    "ndp-numeric fourier::Complex::power" => |i| returned(complex(i).power(i.count())),
    "ndp-numeric fourier::scrambled::Scrambled::new" => |i| returned(Scrambled::new(i.size(4096)).map(|s| s.size())),
    "ndp-numeric fourier::scrambled::Scrambled::power_of_two" => |i| {
        returned(Scrambled::power_of_two(i.size(4096)).map(|s| s.size()))
    },
    "ndp-numeric fourier::scrambled::Scrambled::size_for" => |i| {
        let asked = i.size(1 << 16);
        match Scrambled::size_for(asked) {
            Some(size) => require(size >= asked, || format!("{size} for {asked}")),
            None => Ok(()),
        }
    },
    "ndp-numeric fourier::scrambled::Scrambled::run" => |i| {
        let Some(transform) = Scrambled::new(i.choice(200)) else { return Ok(()) };
        let (mut re, mut im) = (lanes(i, transform.size()), lanes(i, transform.size()));
        transform.run(&mut re, &mut im);
        returned((re, im))
    },
    "ndp-numeric fourier::scrambled::Scrambled::invert" => |i| {
        let Some(transform) = Scrambled::new(i.choice(200)) else { return Ok(()) };
        let (mut re, mut im) = (lanes(i, transform.size()), lanes(i, transform.size()));
        transform.invert(&mut re, &mut im);
        returned((re, im))
    },
    "ndp-numeric gaussian_profile::log_theta" => |i| sound(profile::log_theta(i.positive(), i.positive())),
    "ndp-numeric gaussian_profile::log_theta_down" => |i| {
        let (epsilon, mu) = (i.positive(), i.positive());
        let (low, high) = (profile::log_theta_down(epsilon, mu), profile::log_theta(epsilon, mu));
        require(low <= high, || format!("ends {low} and {high}"))
    },
    "ndp-numeric gaussian_profile::log_theta_with_slope" => |i| {
        let (epsilon, mu) = (i.positive(), i.positive());
        let found = profile::log_theta_with_slope(epsilon, mu);
        if (0.0..1e100).contains(&epsilon) && (1e-100..1e100).contains(&mu) { sound(found) } else { returned(found) }
    },
    "ndp-numeric gaussian_profile::one_minus_theta" => |i| sound(profile::one_minus_theta(i.positive(), i.positive())),
    "ndp-numeric gaussian_profile::theta" => |i| {
        let theta = profile::theta(i.positive(), i.positive());
        require((0.0..=1.0).contains(&theta), || format!("theta {theta:e}"))
    },
    "ndp-numeric incomplete::log_beta_i" => |i| {
        let (a, b, x) = (i.positive(), i.positive(), i.chance());
        let good = |a: f64| 0.0 < a && a <= incomplete::MAX_PARAMETER;
        within(good(a) && good(b) && (0.0..=1.0).contains(&x), incomplete::log_beta_i(a, b, x))
    },
    "ndp-numeric incomplete::log_beta_i_complement" => |i| {
        let (a, b, x) = (i.positive(), i.positive(), i.chance());
        let good = |a: f64| 0.0 < a && a <= incomplete::MAX_PARAMETER;
        within(good(a) && good(b) && (0.0..=1.0).contains(&x), incomplete::log_beta_i_complement(a, b, x))
    },
    "ndp-numeric incomplete::two_product" => |i| returned(incomplete::two_product(i.real(), i.real())),
    "ndp-numeric incomplete::two_sum" => |i| returned(incomplete::two_sum(i.real(), i.real())),
    "ndp-numeric logspace::log1m_exp" => |i| {
        let x = i.real();
        within(x <= 0.0, logspace::log1m_exp(x))
    },
    "ndp-numeric logspace::log_add_exp" => |i| {
        let (a, b) = (i.real(), i.real());
        within(!a.is_nan() && !b.is_nan(), logspace::log_add_exp(a, b))
    },
    "ndp-numeric logspace::log_expm1" => |i| {
        let x = i.real();
        within(x >= 0.0, logspace::log_expm1(x))
    },
    "ndp-numeric logspace::log_sum_exp" => |i| {
        let terms = i.reals(8);
        within(all_within(&terms, f64::NEG_INFINITY), logspace::log_sum_exp(&terms))
    },
    "ndp-numeric rounding::any_of" => |i| {
        let parts = i.reals(8);
        within(all_within(&parts, 0.0), rounding::any_of(parts.clone()))
    },
    "ndp-numeric rounding::count_down" => |i| {
        let count = i.count();
        require((rounding::count_down(count) as u128) <= u128::from(count), || format!("above {count}"))
    },
    "ndp-numeric rounding::count_up" => |i| {
        let count = i.count();
        require((rounding::count_up(count) as u128) >= u128::from(count), || format!("below {count}"))
    },
    "ndp-numeric rounding::down" => |i| {
        let (value, error) = (i.positive(), f64::from(i.short() % 1000));
        let down = rounding::down(value, error);
        require(negative(value) || down <= value, || format!("{down:e} above {value:e}"))
    },
    "ndp-numeric rounding::up" => |i| {
        let (value, error) = (i.positive(), f64::from(i.short() % 1000));
        let up = rounding::up(value, error);
        require(negative(value) || up >= value, || format!("{up:e} below {value:e}"))
    },
    "ndp-numeric rounding::up_by" => |i| {
        let (value, scale, error) = (i.real(), i.positive(), f64::from(i.short() % 1000));
        let up = rounding::up_by(value, scale, error);
        require(!(scale >= 0.0 && value.is_finite()) || up >= value, || format!("{up:e} below {value:e}"))
    },
    "ndp-numeric rounding::down_log" => |i| {
        let (log, error) = (i.real(), f64::from(i.short() % 1000));
        let down = rounding::down_log(log, error, error);
        require(log.is_nan() || down <= log, || format!("{down:e} above {log:e}"))
    },
    "ndp-numeric rounding::up_log" => |i| {
        let (log, error) = (i.real(), f64::from(i.short() % 1000));
        let up = rounding::up_log(log, error, error);
        require(log.is_nan() || up >= log, || format!("{up:e} below {log:e}"))
    },
    "ndp-numeric rounding::exp_up" => |i| {
        let log = i.real();
        let up = rounding::exp_up(log);
        require(log.is_nan() || up > 0.0 || log == f64::NEG_INFINITY, || format!("{up:e} for {log:e}"))
    },
    "ndp-numeric rounding::index" => |i| returned(rounding::index(i.count())),
    "ndp-numeric rounding::log_down" => |i| {
        let x = i.positive();
        require(negative(x) || rounding::log_down(x) <= rounding::log_up(x), || format!("ends of ln {x:e}"))
    },
    "ndp-numeric rounding::log_up" => |i| sound(rounding::log_up(i.positive().abs().max(0.0))),
    "ndp-numeric rounding::whole" => |i| returned(rounding::whole(i.real())),
    "ndp-numeric rounding::Interval::between" => |i| {
        let (a, b) = (i.real(), i.real());
        let made = Interval::between(a, b);
        require(!made.low().is_nan() && !made.high().is_nan(), || "an end is NaN".to_owned())
    },
    "ndp-numeric rounding::Interval::count" => |i| sound(Interval::count(i.count())),
    "ndp-numeric rounding::Interval::new" => |i| {
        let made = Interval::new(i.real());
        require(!made.low().is_nan() && !made.high().is_nan(), || "an end is NaN".to_owned())
    },
    "ndp-numeric rounding::Interval::product_less" => |i| {
        let made = Interval::product_less(i.real(), i.real(), i.real());
        require(!made.low().is_nan() && !made.high().is_nan(), || "an end is NaN".to_owned())
    },
    "ndp-numeric rounding::Interval::exp" => |i| of_interval(i, Interval::exp),
    "ndp-numeric rounding::Interval::expm1" => |i| of_interval(i, Interval::expm1),
    "ndp-numeric rounding::Interval::tanh" => |i| of_interval(i, Interval::tanh),
    "ndp-numeric rounding::Interval::log_add_exp" => |i| {
        let (a, b) = (interval(i), interval(i));
        if a.low() <= a.high() && b.low() <= b.high() { sound(a.log_add_exp(b)) } else { Ok(()) }
    },
    "ndp-numeric rounding::Interval::max" => |i| returned(interval(i).max(interval(i))),
    "ndp-numeric rounding::Interval::min" => |i| returned(interval(i).min(interval(i))),
    "ndp-numeric special::erfcx" => |i| {
        let x = i.real();
        within(!x.is_nan(), special::erfcx(x))
    },
    "ndp-numeric special::log_normal_tail" => |i| {
        let x = i.real();
        within(x.abs() < 1e150, special::log_normal_tail(x))
    },
    "ndp-numeric special::mills_difference" => |i| {
        let (x, width) = (i.positive(), i.positive());
        within((0.0..1e150).contains(&x) && (0.0..1e150).contains(&width), special::mills_difference(x, width))
    },
    "ndp-numeric special::mills_ratio" => |i| {
        let x = i.real();
        within(!x.is_nan(), special::mills_ratio(x))
    },
    "ndp-numeric special::mills_slope" => |i| {
        let x = i.positive();
        within(x >= 0.0, special::mills_slope(x))
    },
    "ndp-numeric special::normal_cdf" => |i| {
        let x = i.real();
        within(!x.is_nan(), special::normal_cdf(x))
    },
    "ndp-numeric special::normal_density" => |i| {
        let x = i.real();
        within(!x.is_nan(), special::normal_density(x))
    },
    "ndp-numeric special::normal_quantile" => |i| {
        let p = i.chance();
        within((0.0..=1.0).contains(&p), special::normal_quantile(p))
    },
    "ndp-numeric special::normal_tail" => |i| {
        let x = i.real();
        within(!x.is_nan(), special::normal_tail(x))
    },
    "ndp-numeric special::split_square" => |i| {
        let x = i.real();
        let (square, rest) = special::split_square(x);
        if x.abs() < 1e150 { sound((square, rest)) } else { returned(square) }
    },
    "ndp-numeric sums::positive_up" => |i| {
        let value = i.positive();
        within(value >= 0.0, sums::positive_up(value))
    },
    "ndp-numeric sums::up" => |i| {
        let value = i.positive();
        require(negative(value) || sums::up(value) >= value, || format!("below {value:e}"))
    },
    "ndp-numeric sums::Total::add" => |i| {
        let terms = i.reals(8);
        let mut total = sums::Total::default();
        terms.iter().for_each(|&term| total.add(term));
        within(all_within(&terms, 0.0), total.value())
    },
    "ndp-linalg cholesky" => |i| answered(linalg::cholesky(symmetric(i).view()).map(|c| c.lower().clone())),
    "ndp-linalg Cholesky::solve" => |i| {
        let cholesky = linalg::cholesky(symmetric(i).view())?;
        answered(cholesky.solve(matrix(i).view()))
    },
    "ndp-linalg gemm" => |i| returned(linalg::gemm(matrix(i).view(), matrix(i).view())?),
    "ndp-linalg add_lower_product" => |i| {
        let mut sum = matrix(i);
        linalg::add_lower_product(&mut sum, matrix(i).view(), matrix(i).view())?;
        returned(sum)
    },
    "ndp-linalg lower_product" => |i| returned(linalg::lower_product(matrix(i).view(), matrix(i).view())?),
    "ndp-linalg invert_lower" => |i| returned(linalg::invert_lower(matrix(i).view())?),
    "ndp-linalg gram_difference" => |i| returned(linalg::gram_difference(matrix(i).view(), matrix(i).view())?),
    "ndp-linalg sym_eigen" => |i| {
        let found = linalg::sym_eigen(symmetric(i).view())?;
        sound(found.values)?;
        sound(found.vectors)
    },
    "ndp-linalg sym_eigenvalues" => |i| answered(linalg::sym_eigenvalues(symmetric(i).view())),
    "ndp-linalg memory::require_dense" => |i| {
        answered(linalg::memory::require_dense("it", i.count() as usize, i.count() as usize))
    },
    "ndp-linalg memory::require_memory" => |i| {
        answered(linalg::memory::require_memory("it", u128::from(i.count()) << i.choice(64)))
    },
};
