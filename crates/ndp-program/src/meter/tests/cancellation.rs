//! Noises that cancel.

use super::*;

/// If much cancels, the rounding shows in the enclosures: they contain the truth, `1 / v`, and are wide.
#[test]
fn cancellation_widens_the_ends() -> Result<(), Error> {
    let mut wide = 0;
    for k in 1..200_i64 {
        let mut meter = Meter::new(2, [Observer::node(1)], SensitivitySet::SameDirection)?;
        meter.step(|program| {
            let (x, z, w) = (
                program.contribute(0, Reads::Nothing)?,
                program.noise([0], 1)?,
                program.noise([0], (1, 1_000_000 + k))?,
            );
            let large = program.combine([(Weight::from((10 * k, 3)), z)])?;
            let sum = program.add(&[large, x, w])?;
            let difference = program.combine([(1, sum), (-1, large)])?;
            program.send(0, 1, difference)
        })?;
        let reading = meter.reading(0)?;
        if reading.source == Source::Batch {
            continue;
        }
        let (loss, truth) = (reading.loss(0)?, (1_000_000 + k) as f64);
        assert!(loss.lower <= truth && truth <= loss.value(), "{k}: {loss:?}");
        wide += usize::from(loss.value() - loss.lower > 1.0);
    }
    assert!(wide > 10, "{wide}");
    Ok(())
}

/// A noise minus a copy of itself is 0, although rounding leaves something: what is sent with it is sent
/// without noise. When rounding had left a negative variance, that of the copy was taken as 0, and the sum
/// counted as noisy.
#[test]
fn copies_of_what_is_nearly_known_cancel() -> Result<(), Error> {
    for k in 1..200_i64 {
        let set = SensitivitySet::SameDirection;
        let mut meter = Meter::new(2, [Observer::node(1)], set)?;
        meter.step(|program| {
            let (x, z) = (program.contribute(0, Reads::Nothing)?, program.noise([0], (100_000_000 * k, 7))?);
            let seen = program.combine([((k + 3, 10), z)])?;
            program.send(0, 1, seen)?;
            let copy = program.combine([(-1, z)])?;
            let sum = program.add(&[x, z, copy])?;
            program.send(0, 1, sum)
        })?;
        let verdict = meter.reading(0)?.verdict(0)?.cloned();
        assert!(matches!(verdict, Some(NodeVerdict::Noiseless { .. })), "{k}: {verdict:?}");
    }
    Ok(())
}
