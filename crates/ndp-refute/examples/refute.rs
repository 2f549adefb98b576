//! Tries a claim on all small graphs:
//! `cargo run --release --example refute -- "alpha / (2 * sigma^2 * hops)"`.
//! A second argument is the largest number of nodes, a third that of rounds.
#![allow(clippy::print_stdout, reason = "an example prints")]

use ndp_refute::{Expression, Outcome, Search, refute};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let claim = Expression::parse(words.first().map_or("alpha / (2 * sigma^2 * hops)", String::as_str))?;
    let mut search = Search::default();
    if let Some(nodes) = words.get(1) {
        search.max_nodes = nodes.parse()?;
    }
    if let Some(rounds) = words.get(2) {
        search.max_rounds = rounds.parse()?;
    }
    let report = refute(&claim, &search)?;
    match &report.outcome {
        Outcome::Refuted(found) => {
            println!("false: {found:#?}\n\n{}\n{}", found.rust_test(), found.python_script());
        }
        outcome => println!("{outcome:?}"),
    }
    println!(
        "{} cases compared, {} within rounding, {} without a value; all connected graphs to {} nodes, up to {} rounds",
        report.cases, report.undecided, report.without_value, report.complete_to, report.rounds
    );
    Ok(())
}
