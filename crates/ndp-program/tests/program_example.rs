//! The example states one protocol twice.

#[path = "../examples/own_program.rs"]
#[allow(dead_code, reason = "its main is not called")]
mod own_program;

use ndp_program::{Program, SensitivitySet};

#[test]
fn a_program_in_rust_and_in_text_has_the_same_losses() -> Result<(), ndp_account::Error> {
    let rust = own_program::in_rust()?.pairwise_losses(&SensitivitySet::UseLevel)?;
    let text = Program::read(own_program::AS_TEXT.as_bytes())?.pairwise_losses(&SensitivitySet::UseLevel)?;
    assert_eq!(rust.grade(), ndp_dp::Grade::Exact);
    for u in 0..8 {
        for v in 0..8 {
            let (a, b) = (rust.value().get(u, v), text.value().get(u, v));
            assert!((a - b).abs() < 1e-9, "{u} {v}: {a} {b}");
            // A ring looks the same from every node.
            assert!((a - rust.value().get(0, (8 + v - u) % 8)).abs() < 1e-9);
        }
    }
    // Two rounds reach two hops; what is near is known best.
    let near = rust.value().get(0, 1);
    assert!(near > rust.value().get(0, 2) && rust.value().get(0, 2) > 0.0);
    assert_eq!(rust.value().get(0, 3), 0.0);
    // Fifteen lines each.
    let source = include_str!("../examples/own_program.rs");
    let body = source.split("pub(crate) fn in_rust").nth(1).and_then(|rest| rest.split("\n}").next());
    assert!(body.is_some_and(|body| body.lines().count() <= 18));
    assert!(own_program::AS_TEXT.trim().lines().count() <= 15);
    Ok(())
}
