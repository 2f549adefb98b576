//! The examples, run and checked.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[allow(dead_code, reason = "its main function")]
#[path = "../../examples/own_protocol.rs"]
mod own_protocol;

/// Masks hide a value behind noise that cancels: less noise than published values need, more than a trusted
/// center; and the example stays short.
#[test]
fn a_protocol_of_one_s_own_is_compared_with_all_others() {
    let table = own_protocol::compared().unwrap();
    let noise = |name: &str| {
        let row = table.rows.iter().find(|row| row.name == name).unwrap();
        row.least.as_ref().unwrap().noise.get()
    };
    assert!(table.rows.len() > 20);
    // What is public is, up to the masks, the sum: with 7 honest nodes a little more than 1/7 of a local
    // loss.
    let ratio = noise("masked mean") / noise("local");
    assert!(ratio > (1.0f64 / 7.0).sqrt() && ratio < 0.4, "{ratio}");
    assert!(include_str!("../../examples/own_protocol.rs").lines().count() <= 37);
}
