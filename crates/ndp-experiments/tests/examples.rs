//! The examples, run and checked.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[allow(dead_code, reason = "its main function")]
#[path = "../examples/own_protocol.rs"]
mod own_protocol;

/// Between a trusted center and noisy values in public, and the example stays short.
#[test]
fn a_protocol_of_one_s_own_is_compared_with_five_baselines() {
    let errors = own_protocol::compare(0.1).unwrap();
    let error = |name: &str| errors.iter().find(|(other, _)| *other == name).unwrap().1;
    assert_eq!(errors.len(), 6);
    assert!((error("local") - 10f64.sqrt() / 4.0).abs() < 1e-12);
    assert!((error("central") - 10f64.sqrt() / 16.0).abs() < 1e-12);
    // The mean of one-peer losses is 4/16 of the local loss, so it needs half the noise.
    assert!((error("one-peer") - error("local") / 2.0).abs() < 1e-9);
    assert!(
        error("central") < error("masked mean") && error("masked mean") < error("one-peer"),
        "{errors:?}"
    );
    assert!(include_str!("../examples/own_protocol.rs").lines().count() <= 60);
}
