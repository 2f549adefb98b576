//! Five hundred random compositions of up to five distinct parts, each occurring 1 to 10⁴ times, with `δ`
//! from 1e-12 to 0.1, compared with slow sums.
//!
//! The truth is a sum over outcomes. With a normal part of parameter `μ` among the parts, it is `δ(ε) = E G(ε
//! − L)`, where `G` is the profile of that part at numbers of either sign, and `L` the loss of all the
//! others. Laws of finitely many losses are summed directly. A density is summed at the nodes of a quadrature
//! rule, which is accurate to 1e-12 here, since `G` is smooth.

use super::{gaussian, laplace};
use crate::{Delta, Gdp, LossLaw, Neighbors, RandomizedResponse, gaussian as exact};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// Losses with their probabilities.
type Losses = Vec<(f64, f64)>;

/// A composition, and what its true value is computed from: in each direction the `μ` of the normal part, and
/// the losses of the others.
struct Drawn {
    law: LossLaw,
    mu: f64,
    directions: Vec<Losses>,
    /// The number of different laws with atoms.
    atomic: usize,
    what: String,
}

impl Drawn {
    fn delta(&self, epsilon: f64) -> f64 {
        let normal = |epsilon: f64| -> f64 {
            if self.mu == 0.0 {
                return -epsilon.min(0.0).exp_m1();
            }
            // Accurate to a relative 1e-13, which is enough for a truth that is needed to 1e-8. A faster
            // formula matters, since there are millions of terms.
            let tail = |x: f64| 0.5 * libm::erfc(x * std::f64::consts::FRAC_1_SQRT_2);
            let (middle, half) = (epsilon / self.mu, 0.5 * self.mu);
            if middle - half > 30.0 { 0.0 } else { tail(middle - half) - epsilon.exp() * tail(middle + half) }
        };
        let sum = |losses: &Losses| -> f64 {
            let mut total = ndp_numeric::sums::Total::default();
            losses.iter().for_each(|(loss, chance)| total.add(chance * normal(epsilon - loss)));
            total.value()
        };
        self.directions.iter().map(sum).fold(0.0, f64::max)
    }

    /// Asserts that the two ends enclose the truth and are close to each other.
    fn check(&self, at: f64) {
        let found = self.law.epsilon(Delta::new(at).unwrap());
        let (lower, upper) = (found.lower(), found.upper());
        let what = &self.what;
        let there = self.delta(upper * (1.0 + 1e-11));
        assert!(there <= at * (1.0 + 1e-8), "{what}, {at:e}: {found:?}, true delta {there:e}");
        if lower > 0.0 {
            let there = self.delta(lower * (1.0 - 1e-11));
            assert!(there >= at * (1.0 - 1e-8), "{what}, {at:e}: {found:?}, true delta {there:e}");
        }
        // The atoms of two laws have no common grid, so that the lower law of each is up to a step too low.
        let width = if self.atomic < 2 { 1.0001e-4 } else { 2e-2 };
        assert!(upper - lower <= width, "{what}, {at:e}: {found:?}");
    }
}

/// All sums of two losses, without those whose probability is negligible.
fn all_sums(one: &Losses, other: &Losses) -> Losses {
    let pairs = one.iter().flat_map(|&(a, p)| other.iter().map(move |&(b, q)| (a + b, p * q)));
    pairs.filter(|&(_, chance)| chance > 1e-32).collect()
}

/// Randomized response with two labels: the total loss is `count − 2 wrong` times that of one response.
fn responses(mechanism: RandomizedResponse, count: u64) -> Losses {
    let other = mechanism.gamma() / 2.0;
    let pure = ((1.0 - other) / other).ln();
    (0..=count)
        .map(|wrong| {
            let chance = ndp_numeric::binomial::log_pmf(wrong, count, other).exp();
            (pure * (count as f64 - 2.0 * wrong as f64), chance)
        })
        .filter(|&(_, chance)| chance > 1e-32)
        .collect()
}

/// Nodes and weights of the Gauss–Legendre rule on `[0, 1]`, by Newton's method.
fn rule(points: u32) -> Vec<(f64, f64)> {
    let n = f64::from(points);
    (0..points)
        .map(|k| {
            let mut x = (std::f64::consts::PI * (f64::from(k) + 0.75) / (n + 0.5)).cos();
            let mut slope = 1.0;
            for _ in 0..60 {
                let (mut before, mut here) = (1.0, x);
                for j in 2..=points {
                    let j = f64::from(j);
                    (before, here) = (here, ((2.0 * j - 1.0) * x * here - (j - 1.0) * before) / j);
                }
                slope = n * (x * here - before) / (x * x - 1.0);
                x -= here / slope;
            }
            (0.5 * (1.0 + x), 1.0 / ((1.0 - x * x) * slope * slope))
        })
        .collect()
}

/// Laplace noise: half of the outputs have the largest loss, some the smallest, and outputs between the two
/// answers have losses in between.
fn laplace_losses(scale: f64, mu: f64) -> Losses {
    let pure = 1.0 / scale;
    let mut losses = vec![(pure, 0.5), (-pure, 0.5 * (-pure).exp())];
    let pieces = (2.0 * pure / mu).ceil();
    let rule = rule(24);
    for piece in 0..pieces as u32 {
        for &(x, weight) in &rule {
            let y = (f64::from(piece) + x) / pieces;
            losses.push((pure * (1.0 - 2.0 * y), weight / pieces * 0.5 * pure * (-y * pure).exp()));
        }
    }
    losses
}

/// A sampled normal release under either data set, by the trapezoidal rule, which is accurate to all digits
/// for such integrands.
fn sampled_losses(rate: f64, sigma: f64) -> [Losses; 2] {
    let mu = 1.0 / sigma;
    let density = |x: f64| (-0.5 * x * x).exp() / (2.0 * std::f64::consts::PI).sqrt();
    let step = 0.02;
    let points = || (0..=1600).map(move |k| -13.0 + step * f64::from(k));
    let loss = move |x: f64| (rate * (mu * x - 0.5 * mu * mu).exp_m1()).ln_1p();
    let under = |x: f64| (1.0 - rate) * density(x) + rate * density(x - mu);
    [
        points().map(|x| (loss(x), step * under(x))).filter(|p| p.1 > 1e-32).collect(),
        points().map(|x| (-loss(x), step * density(x))).filter(|p| p.1 > 1e-32).collect(),
    ]
}

fn log_uniform(rng: &mut ChaCha8Rng, low: f64, high: f64) -> f64 {
    (low.ln() + rng.random::<f64>() * (high.ln() - low.ln())).exp()
}

fn count(rng: &mut ChaCha8Rng, most: f64) -> u64 {
    log_uniform(rng, 1.0, most + 0.999) as u64
}

/// Normal releases that are given by their profile only, so that they are composed on a grid.
fn normal(rng: &mut ChaCha8Rng) -> Drawn {
    let parts: Vec<(f64, u64)> =
        (0..rng.random_range(1..=5)).map(|_| (log_uniform(rng, 3e-3, 1.0), count(rng, 1e4))).collect();
    // The total μ is at most 5: beyond an epsilon of 100 the declared errors of 10⁴ profiles would make
    // answers up to 3e-4 wide.
    let square: f64 = parts.iter().map(|(mu, count)| mu * mu * *count as f64).sum();
    let shrink = (5.0 / square.sqrt()).min(1.0);
    let laws: Vec<LossLaw> = parts
        .iter()
        .map(|&(mu, count)| {
            let mu = mu * shrink;
            let profile = move |epsilon: f64| exact::delta(epsilon, mu).unwrap().into_value();
            let law = LossLaw::of_delta(profile, profile, 1e-12, Neighbors::ReplaceOne).unwrap();
            law.times(count).unwrap()
        })
        .collect();
    Drawn {
        law: LossLaw::compose(&laws).unwrap(),
        mu: square.sqrt() * shrink,
        directions: vec![vec![(0.0, 1.0)]],
        atomic: 0,
        what: format!("normal {parts:?}, by {shrink}"),
    }
}

/// Up to three kinds of randomized response with two labels, with or without normal noise.
fn answers(rng: &mut ChaCha8Rng) -> Drawn {
    let kinds = rng.random_range(1..=3_usize);
    let (mut laws, mut losses, mut what) = (Vec::new(), vec![(0.0, 1.0)], String::new());
    for kind in 0..kinds {
        let count = count(rng, [1e4, 60.0, 8.0][kind]);
        let local = log_uniform(rng, 1e-3, 3.0).min(30.0 / (count as f64).sqrt());
        let mechanism = RandomizedResponse::with_epsilon(2, local).unwrap();
        laws.push(LossLaw::randomized_response(mechanism).times(count).unwrap());
        losses = all_sums(&losses, &responses(mechanism, count));
        what += &format!("{count} responses of {local}; ");
    }
    let mut square = 0.0;
    for _ in 0..rng.random_range(0..=2) {
        let (sigma, count) = (log_uniform(rng, 1.0, 100.0), count(rng, 1e3));
        let sigma = sigma.max(0.2 * (count as f64).sqrt());
        square += count as f64 / (sigma * sigma);
        laws.push(LossLaw::gaussian(gaussian(sigma), Neighbors::ReplaceOne).times(count).unwrap());
        what += &format!("{count} normal of sigma {sigma}; ");
    }
    let law = LossLaw::compose(&laws).unwrap();
    Drawn { law, mu: square.sqrt(), directions: vec![losses], atomic: kinds, what }
}

/// Laplace noise of up to two scales, and normal noise.
fn laplaces(rng: &mut ChaCha8Rng) -> Drawn {
    let (sigma, normals) = (log_uniform(rng, 0.5, 20.0), count(rng, 1e3));
    let sigma = sigma.clamp(0.2 * (normals as f64).sqrt(), 2.5 * (normals as f64).sqrt());
    let mu = Gdp::new((normals as f64).sqrt() / sigma).unwrap().mu();
    let mut laws = vec![LossLaw::gaussian(gaussian(sigma), Neighbors::ReplaceOne).times(normals).unwrap()];
    let (mut losses, mut what) = (vec![(0.0, 1.0)], format!("{normals} normal of sigma {sigma}; "));
    let kinds = rng.random_range(1..=2_usize);
    for _ in 0..kinds {
        let scale = log_uniform(rng, 0.7, 20.0);
        let times = if kinds == 1 { rng.random_range(1..=2) } else { 1 };
        laws.push(LossLaw::laplace(laplace(scale), Neighbors::ReplaceOne).times(times).unwrap());
        for _ in 0..times {
            losses = all_sums(&losses, &laplace_losses(scale, mu));
        }
        what += &format!("{times} Laplace of {scale}; ");
    }
    let law = LossLaw::compose(&laws).unwrap();
    Drawn { law, mu, directions: vec![losses], atomic: kinds, what }
}

/// A sampled release together with normal ones, in both directions.
fn samples(rng: &mut ChaCha8Rng) -> Drawn {
    let (sigma, normals) = (log_uniform(rng, 0.5, 20.0), count(rng, 1e4));
    let sigma = sigma.clamp(0.2 * (normals as f64).sqrt(), 2.5 * (normals as f64).sqrt());
    let (rate, of_sample) = (log_uniform(rng, 1e-3, 0.9), log_uniform(rng, 0.5, 4.0));
    let laws = [
        LossLaw::gaussian(gaussian(sigma), Neighbors::AddOrRemove).times(normals).unwrap(),
        LossLaw::sampled_gaussian(gaussian(of_sample), rate).unwrap(),
    ];
    Drawn {
        law: LossLaw::compose(&laws).unwrap(),
        mu: (normals as f64).sqrt() / sigma,
        directions: sampled_losses(rate, of_sample).into(),
        atomic: 0,
        what: format!("{normals} normal of sigma {sigma}, one of {of_sample} sampled at {rate}"),
    }
}

fn many(seed: u64, cases: u32, draw: impl Fn(&mut ChaCha8Rng) -> Drawn) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    for _ in 0..cases {
        let drawn = draw(&mut rng);
        drawn.check(log_uniform(&mut rng, 1e-12, 0.1));
    }
}

#[test]
fn normal_releases_nobody_called_normal() {
    many(40, 20, normal);
}

#[test]
fn randomized_answers_of_several_kinds() {
    many(41, 60, answers);
}

#[test]
fn laplace_and_normal_noise() {
    many(42, 360, laplaces);
}

#[test]
fn sampled_and_normal_releases_in_both_directions() {
    many(43, 60, samples);
}
