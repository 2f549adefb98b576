//! Compositions with both ends of their `ε`, for `benches/compare/compositions.py`:
//! `parts;delta;lower;upper;seconds`.
//!
//! The rows of the specification first, then random ones up to five parts; as many as the first argument
//! says, 20 without one.
#![allow(clippy::print_stdout, reason = "its output is read by a script")]

use ndp_dp::{Delta, Error, Gaussian, Laplace, LossLaw, Neighbors, Sensitivity, Sigma};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::time::Instant;

#[derive(Clone, Copy)]
enum Part {
    Gaussian(f64),
    Sampled(f64, f64),
    Laplace(f64),
}

impl Part {
    fn law(self) -> Result<LossLaw, Error> {
        let gaussian = |sigma| -> Result<Gaussian, Error> {
            Ok(Gaussian { sensitivity: Sensitivity::new(1.0)?, sigma: Sigma::new(sigma)? })
        };
        match self {
            Self::Gaussian(sigma) => Ok(LossLaw::gaussian(gaussian(sigma)?, Neighbors::AddOrRemove)),
            Self::Sampled(rate, sigma) => LossLaw::sampled_gaussian(gaussian(sigma)?, rate),
            Self::Laplace(scale) => {
                Ok(LossLaw::laplace(Laplace::new(Sensitivity::new(1.0)?, scale)?, Neighbors::AddOrRemove))
            }
        }
    }

    fn name(self) -> String {
        match self {
            Self::Gaussian(sigma) => format!("gaussian {sigma}"),
            Self::Sampled(rate, sigma) => format!("sampled {rate} {sigma}"),
            Self::Laplace(scale) => format!("laplace {scale}"),
        }
    }
}

fn main() -> Result<(), Error> {
    let random = std::env::args().nth(1).and_then(|count| count.parse().ok()).unwrap_or(20);
    let mut all: Vec<(Vec<(Part, u64)>, f64)> = vec![
        (vec![(Part::Sampled(0.01, 1.0), 1000)], 1e-5),
        (vec![(Part::Sampled(0.001, 0.6), 10_000)], 1e-6),
        (vec![(Part::Sampled(0.1, 2.0), 200)], 1e-8),
        (vec![(Part::Sampled(0.487, 0.557), 361)], 1e-5),
        (vec![(Part::Laplace(2.0), 50)], 1e-6),
        (vec![(Part::Sampled(0.01, 1.0), 500), (Part::Laplace(2.0), 10)], 1e-6),
    ];
    let mut rng = ChaCha8Rng::seed_from_u64(30);
    for _ in 0..random {
        let mut log = |low: f64, high: f64| (low.ln() + rng.random::<f64>() * (high / low).ln()).exp();
        let kinds = log(1.0, 5.99) as usize;
        let parts = (0..kinds)
            .map(|_| {
                let times = log(1.0, 10_000.0) as u64;
                let root = (times as f64).sqrt();
                let part = match log(1.0, 3.99) as u32 {
                    1 => Part::Sampled(log(1e-4, 0.3).min(0.5 / root), log(0.7, 4.0)),
                    2 => Part::Gaussian(log(1.0, 10.0) * root),
                    _ => Part::Laplace(log(2.0, 10.0) * root),
                };
                (part, times)
            })
            .collect();
        all.push((parts, log(1e-12, 0.1)));
    }
    for (parts, delta) in all {
        let laws = parts.iter().map(|&(part, times)| part.law()?.times(times));
        let law = LossLaw::compose(&laws.collect::<Result<Vec<_>, _>>()?)?;
        let start = Instant::now();
        let found = law.epsilon(Delta::new(delta)?);
        let seconds = start.elapsed().as_secs_f64();
        let named: Vec<String> =
            parts.iter().map(|(part, times)| format!("{} {times}", part.name())).collect();
        println!("{};{delta:e};{};{};{seconds}", named.join("+"), found.lower(), found.upper());
    }
    Ok(())
}
