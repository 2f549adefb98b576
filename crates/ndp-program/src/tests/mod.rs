//! Tests of programs.

mod assumptions;
mod cancelling;
mod claims;
mod contradictions;
mod deep;
mod designs;
mod errors;
mod format;
mod hostile;
mod large;
mod powers;
mod properties;
mod reductions;
mod reference;
mod rounds;
mod sets;
mod witnesses;

use super::*;
use ndp_account::Observer;

/// Checks that the loss and its lower end agree with a ratio of integers.
#[track_caller]
fn assert_loss(account: &ProgramAccount, source: usize, set: &SensitivitySet, expected: f64) {
    let loss = account.loss(source, set).expect("a loss");
    let room = 1e-9 * expected.max(1.0);
    assert!(
        loss.value() >= expected * (1.0 - 1e-15) && loss.value() - expected <= room,
        "node {source}: {} instead of {expected}",
        loss.value()
    );
    assert!(loss.lower <= expected * (1.0 + 1e-15) + 1e-15 && expected - loss.lower <= room, "{loss:?}");
    assert_eq!(loss.value.grade(), ndp_dp::Grade::Exact);
}

/// Checks that the loss and its lower end agree with fifteen printed digits.
#[track_caller]
fn assert_digits(account: &ProgramAccount, source: usize, set: &SensitivitySet, printed: f64) {
    let loss = account.loss(source, set).expect("a loss");
    let half_a_digit = 1e-14 * printed;
    let inside = loss.lower <= printed + half_a_digit && printed - half_a_digit <= loss.value();
    assert!(inside && loss.value() - loss.lower < 1e-10, "node {source}: {loss:?} instead of {printed}");
    assert_eq!(loss.value.grade(), ndp_dp::Grade::Exact);
}

/// Checks that the error contains these words.
#[track_caller]
pub(crate) fn assert_refused<T, E: std::fmt::Display>(result: Result<T, E>, words: &str) {
    let Err(error) = result else { panic!("this is refused: {words}") };
    let said = error.to_string();
    assert!(said.contains(words), "{words}: {said}");
}

/// The account by the engine of a statement, whatever the sizes.
fn by_statement(
    program: &Program,
    observer: &Observer,
    options: &AccountOptions,
) -> Result<ProgramAccount, Box<dyn std::error::Error>> {
    let mut question = question::Question::new(program, observer, options)?;
    let found = match crate::rounds::by_powers(&mut question)? {
        Some(found) => found,
        None => crate::rounds::by_rows(&question)?.ok_or("no statement")?,
    };
    Ok(ProgramAccount::new(question, found))
}
