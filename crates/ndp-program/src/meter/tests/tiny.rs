//! Losses of moves whose squares underflow.

use super::*;
use num_rational::BigRational;

fn exact(x: f64) -> BigRational {
    BigRational::from_float(x).expect("finite")
}

/// A value that is divided by 1024 this many times; each value is forgotten once it has been divided.
fn divided(meter: &mut Meter, mut value: Value, times: u32) -> Result<Value, Error> {
    for _ in 0..times {
        let next = meter.step(|program| program.combine([((1, 1024), value)]))?;
        meter.forget(&[value])?;
        value = next;
    }
    Ok(value)
}

/// A use of node 0 that moves the message by `ν`, about 1e-162, with a variance of about 1e-186, has loss
/// `ν²` over this variance, about 1e-138, though `ν²` underflows. The use of node 2 beside it, 1e59 times as
/// large, has the roundings that are allowed for, so that nothing else covers the loss.
#[test]
fn squares_that_are_no_floats_are_charged() -> Result<(), Error> {
    for k in 0..30 {
        let (weight, variance) = (10f64.powf(-57.0 - 0.1 * f64::from(k)), 1e-60);
        let mut meter = Meter::new(3, [Observer::node(1)], SensitivitySet::SameDirection)?;
        let (moved, z) = meter.step(|program| {
            let (near, far) =
                (program.contribute(0, Reads::Nothing)?, program.contribute(2, Reads::Nothing)?);
            let moved = program.combine([(Weight::from(weight), near), (Weight::from(1), far)])?;
            Ok::<_, ProgramError>((moved, program.noise([0], variance)?))
        })?;
        let (moved, z) = (divided(&mut meter, moved, 34)?, divided(&mut meter, z, 21)?);
        meter.step(|program| {
            let sum = program.add(&[moved, z])?;
            program.send(0, 1, sum)
        })?;
        let reading = meter.reading(0)?;
        assert!(matches!(reading.source, Source::Running { .. }));
        let loss = reading.loss(0)?;
        let share = exact(1.0 / 1024.0);
        let moved = exact(weight) * share.pow(34);
        let expected = &moved * &moved / (exact(variance) * share.pow(42));
        assert!(exact(loss.lower) <= expected && expected <= exact(loss.value()), "{weight}: {loss:?}");
    }
    Ok(())
}
