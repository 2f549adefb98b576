//! Views of a few rows, written out.

use crate::adapter::losses;
use crate::draw::numbers::{literal, pick};
use crate::oracle::rational::Quotient;
use crate::part::{Outcome, Part, Stratum, Violation};
use ndarray::Array2;
use ndp_algos::View;
use rand_chacha::ChaCha8Rng;
use std::cmp::Ordering;

pub(crate) struct Views;

impl Part for Views {
    fn name(&self) -> &'static str {
        "views"
    }

    fn what(&self) -> &'static str {
        "one message over one noise; the quotient of the squares in integers"
    }

    fn case(&self, _number: u64, rng: &mut ChaCha8Rng) -> Outcome {
        let mut outcome = Outcome::new(Stratum::new(2, 1));
        let numbers = [1.0, 0.3, 1.0 / 3.0, 1e-7, 3.0];
        let (input, noise) = (pick(rng, &numbers), pick(rng, &numbers));
        let row = |x: f64, y: f64| Array2::from_shape_fn((1, 2), |(_, i)| if i == 0 { x } else { y });
        let view = View::new(&[1], row(input, 0.0), row(noise, 0.0), &[]).expect("finite entries");
        let truth = Quotient::from_f64(input).squared_over(&Quotient::from_f64(noise));
        match losses::view(&view) {
            Ok(reported) => {
                outcome.check(truth.compare(reported.upper[0]) != Ordering::Greater, || Violation {
                    kind: "below the truth",
                    size: [2, 1, 0],
                    what: format!("reported {} about node 0, true {}", reported.upper[0], truth.to_f64()),
                    test: format!(
                        "let view = View::new(&[1], array![[{}, 0.0]], array![[{}, 0.0]], &[])?;",
                        literal(input),
                        literal(noise)
                    ),
                })
            }
            Err(error) => outcome.violations.push(Violation {
                kind: "refused",
                size: [2, 1, 0],
                what: error.to_string(),
                test: String::new(),
            }),
        }
        outcome
    }

    fn short(&self) -> u64 {
        1000
    }
}
