//! Compares the bounds for walk SGD on the complete graph with the sum over all paths, and with the printed
//! lemma.

use crate::Error;
use crate::iteration::{Geometric, LastIterate, UncappedWalk, absorption_cost};
use approx::assert_relative_eq;

/// `ln E exp(θ cost)` over all paths of three users, where user 0 is exposed and user 1 observes. The cost of
/// every segment between two looks is the least cost of absorption.
fn optimal_log_mgf(steps: u32, theta: f64, published: bool) -> Result<f64, Error> {
    let mut total = 0.0;
    for path in 0..3u32.pow(steps) {
        let (mut cost, mut pending) = (0.0, Vec::new());
        let mut look = |pending: &mut Vec<u64>, time: u64| -> Result<(), Error> {
            if !pending.is_empty() {
                cost += absorption_cost(pending, time)?.into_value();
                pending.clear();
            }
            Ok(())
        };
        for step in 1..=steps {
            match path / 3u32.pow(step - 1) % 3 {
                0 => pending.push(u64::from(step)),
                1 => look(&mut pending, u64::from(step))?,
                _ => {}
            }
        }
        if published {
            look(&mut pending, u64::from(steps) + 1)?;
        }
        total += (theta * cost).exp();
    }
    Ok((total / 3f64.powi(steps as i32)).ln())
}

/// Three users, 6 steps, `θ = 1/2`. If every contribution is charged, the moment is 0.78460; if only those of
/// observed segments are, 0.60735; with the optimal absorption, 0.59789. With publication of the final token
/// they are 1.02204, 1.02204 and 0.99946.
#[test]
fn the_recursions_are_close_to_the_optimum_over_all_paths() -> Result<(), Error> {
    for (token, recursion, observed, optimal) in [
        (LastIterate::Withheld, 0.784_60, 0.607_35, 0.597_89),
        (LastIterate::Published, 1.022_04, 1.022_04, 0.999_46),
    ] {
        let run = UncappedWalk::new(6, 3, 1, token)?;
        assert_relative_eq!(run.total_log_mgf(0.5, u64::MAX)?.into_value(), recursion, max_relative = 1e-5);
        assert_relative_eq!(run.observed_log_mgf(0.5, u64::MAX)?.into_value(), observed, max_relative = 1e-5);
        let least = optimal_log_mgf(6, 0.5, token == LastIterate::Published)?;
        assert_relative_eq!(least, optimal, max_relative = 1e-5);
    }
    Ok(())
}

/// Compares the theorem with `φ` and the `2 θ ln n / n` per contribution of Lemma 1, at `θ = 1`.
#[test]
fn the_replacement_of_lemma_1_has_nearly_its_size() -> Result<(), Error> {
    for (users, expected) in [(10u64, 1.0009), (100, 1.042), (2000, 1.047)] {
        let n = users as f64;
        let ratio = Geometric::until_seen(users, 1)?.log_phi(1.0)?.into_value() / (2.0 * n.ln() / n);
        assert_relative_eq!(ratio, expected, max_relative = 5e-4);
    }
    Ok(())
}
