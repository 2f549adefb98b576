//! Views with a few rows, written out.

use super::losses::{Case, compare};
use crate::draw::numbers::{literal, pick};
use crate::losses;
use crate::oracle::linear::Linear;
use crate::oracle::rational::integers;
use crate::part::{Outcome, Part, Stratum};
use ndarray::Array2;
use ndp_account::View;
use num_bigint::BigInt;
use num_traits::One;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

pub(crate) struct Views;

impl Part for Views {
    fn name(&self) -> &'static str {
        "views"
    }

    fn what(&self) -> &'static str {
        "views of up to 8 rows over 9 noises, troublesome entries; rationals"
    }

    fn case(&self, number: u64, rng: &mut ChaCha8Rng) -> Outcome {
        let small = number.is_multiple_of(2);
        let rows = rng.random_range(1..=if small { 3 } else { 8 });
        let inputs = rng.random_range(2..=if small { 3 } else { 5 });
        let more = rng.random_range(1..=if small { 4 } else { 9 });
        let extreme = number % 5 == 1;
        let draw = |rng: &mut ChaCha8Rng| entry(rng, extreme);
        let style = rng.random_range(0..4);
        let equal = style == 1;
        // Either every input has a noise with an equal column, or the columns of the noises are arbitrary.
        let noises = if equal { inputs } else { more };
        let mut right = Array2::from_shape_simple_fn((rows, noises), || draw(rng));
        if rows > 1 && rng.random_range(0..2) == 0 {
            // Two rows whose noises differ by little, or not at all.
            let (from, to) = (rng.random_range(0..rows), rng.random_range(0..rows));
            let copied = right.row(from).to_owned();
            right.row_mut(to).assign(&copied);
            if rng.random_range(0..3) > 0 {
                let j = rng.random_range(0..noises);
                right[(to, j)] +=
                    if extreme { draw(rng) } else { pick(rng, &[1e-11, 1e-7, 1e-9, 1e-13, 1.0]) };
            }
        }
        let mut left =
            if equal { right.clone() } else { Array2::from_shape_simple_fn((rows, inputs), || draw(rng)) };
        if style == 2 {
            // Inputs that are far larger or far smaller than the noises.
            let scale = pick(rng, &[1e30, 1e-30, 1e-9, 1e9]);
            left.mapv_inplace(|x| x * scale);
        }
        if !left.iter().chain(&right).all(|x| x.is_finite()) {
            return Outcome::new(Stratum::named("not finite", ""));
        }
        let mut coalition = vec![rng.random_range(0..inputs)];
        let other = rng.random_range(0..inputs);
        if inputs > 2 && !coalition.contains(&other) && rng.random_range(0..4) == 0 {
            coalition.push(other);
        }
        coalition.sort_unstable();
        let known: Vec<usize> = match (equal, rng.random_range(0..3)) {
            (_, 0) => Vec::new(),
            (true, _) => coalition.clone(),
            (false, _) => vec![rng.random_range(0..noises)],
        };
        let columns = match inputs + noises {
            0..=5 => "up to 5 columns",
            6..=9 => "6 to 9 columns",
            _ => "10 columns and more",
        };
        let mut outcome = Outcome::new(Stratum::named(
            if extreme { "extreme entries" } else { "ordinary entries" },
            columns,
        ));
        let exact = Linear {
            rows: left
                .rows()
                .into_iter()
                .zip(right.rows())
                .map(|(x, y)| integers(x.iter().chain(y).copied()))
                .collect(),
            noises: (0..noises).filter(|j| !known.contains(j)).map(|j| (inputs + j, BigInt::one())).collect(),
            unit: BigInt::one(),
            inputs: (0..inputs).collect(),
            members: coalition.clone(),
        };
        let code = format!(
            "use ndarray::array;\nuse ndp_algos::{{View, loss::exact_loss}};\n\
             let view = View::new(\n    &{coalition:?},\n    array![{}],\n    array![{}],\n    &{known:?},\n)?;\n\
             let report = exact_loss(&view)?;",
            written(&left),
            written(&right)
        );
        let wide = left.iter().chain(&right).filter(|x| **x != 0.0 && **x != 1.0).count() as u64;
        let case = Case { size: [(rows * (inputs + noises)) as u64, wide, known.len() as u64], code: &code };
        let known_count = known.len();
        match View::new(&coalition, left, right, &known) {
            Ok(view) => {
                let reported = losses::view(&view);
                compare(&mut outcome, &case, &exact, &reported, Some(known_count));
            }
            Err(error) => outcome.check(false, || case.violation("refused", error.to_string(), "")),
        }
        outcome
    }

    fn short(&self) -> u64 {
        20_000
    }
}

fn entry(rng: &mut ChaCha8Rng, extreme: bool) -> f64 {
    if extreme && rng.random_range(0..3) == 0 {
        return pick(rng, &[1e-300, 5e-324, 1e300, -1e-300, 1e150, 1e-150]);
    }
    match rng.random_range(0..8) {
        0..3 => 0.0,
        3..6 => {
            let sign = pick(rng, &[1.0, -1.0]);
            sign * f64::from(rng.random_range(1..=3)) / f64::from(rng.random_range(1..=5))
        }
        6 => 1.0,
        _ => pick(rng, &[1e-11, 1e-7, 0.3, 1.0 / 3.0, 1e-3, 2_f64.powi(61)]),
    }
}

fn written(matrix: &Array2<f64>) -> String {
    let rows = matrix.rows().into_iter().map(|row| {
        let entries: Vec<String> = row.iter().map(|&x| literal(x)).collect();
        format!("[{}]", entries.join(", "))
    });
    rows.collect::<Vec<_>>().join(", ")
}
