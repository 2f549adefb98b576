//! The special functions against 30-digit values; `reference/special_functions.py` made the table.

use ndp_numeric::{gaussian_profile, incomplete, special};

/// Largest relative error allowed, by function; for logarithms of size below 1, the absolute error.
fn tolerance(name: &str) -> f64 {
    match name {
        "erfcx" | "normal_tail" | "log_normal_tail" => 1e-15,
        _ => 1e-13,
    }
}

#[test]
fn special_functions_match_the_reference_table() {
    let mut worst = std::collections::BTreeMap::new();
    for line in include_str!("reference/special_functions.csv").lines() {
        let fields: Vec<&str> = line.split(',').collect();
        let number = |i: usize| fields[i].parse::<f64>().unwrap();
        let (x, y, z, reference) = (number(1), number(2), number(3), number(4));
        let value = match fields[0] {
            "erfcx" => special::erfcx(x),
            "normal_tail" => special::normal_tail(x),
            "log_normal_tail" => special::log_normal_tail(x),
            "mills_slope" => special::mills_slope(x),
            "mills_difference" => special::mills_difference(x, y),
            "log_theta" => gaussian_profile::log_theta(x, y),
            "one_minus_theta" => gaussian_profile::one_minus_theta(x, y),
            "log_beta_i" => incomplete::log_beta_i(x, y, z),
            other => panic!("no function {other}"),
        };
        // The logarithm of a small value need only be right in absolute terms: its absolute error is the
        // relative error of the value itself.
        let scale = if fields[0].starts_with("log_") { reference.abs().max(1.0) } else { reference.abs() };
        let error = (value - reference).abs() / scale;
        let entry = worst.entry(fields[0]).or_insert((0.0, ""));
        if error > entry.0 || error.is_nan() {
            *entry = (error, line);
        }
    }
    for (name, (error, line)) in worst {
        assert!(error <= tolerance(name), "{name}: relative error {error:e} at {line}");
    }
}
