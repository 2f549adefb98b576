//! Losses that are 0 because nothing was seen.

use super::*;

/// If no message of a node has reached an observer, the upper end is exactly 0, for every set, by whole
/// rounds and step by step. It is above 0 exactly from the round in which a message does.
#[test]
fn what_was_not_seen_is_zero_and_nothing_else() -> Result<(), Error> {
    let graph = path_graph(5)?;
    let mixing = MixingMatrix::from(&GossipMatrix::metropolis(&graph));
    let vectors = SensitivitySet::Vectors { dimension: 9 };
    for set in [SensitivitySet::SameDirection, SensitivitySet::UseLevel, SensitivitySet::Signs, vectors] {
        for reads in [ModelReads::Nothing, ModelReads::Hidden] {
            let mut meter = Meter::every_node(5, set.clone())?;
            let mut slim = meter.clone().without_record()?;
            for round in 0..=5 {
                if round > 0 {
                    meter.round(&mixing, (1, 3), reads)?;
                    slim.round(&mixing, (1, 3), reads)?;
                }
                for (meter, v, u) in [(&meter, 0_usize, 4), (&slim, 0, 4), (&meter, 4, 1), (&slim, 4, 1)] {
                    let reached = round >= v.abs_diff(u) && round > 0;
                    // Models that are read are shown from the second round on.
                    if reads == ModelReads::Hidden && round >= 2 && !reached {
                        continue;
                    }
                    let reading = meter.reading(v)?;
                    let loss = reading.loss(u)?;
                    let said = format!("{set:?}, {reads:?}, round {round}, {u} by {v}: {loss:?}");
                    assert_eq!(loss.value() > 0.0, reached, "{said}");
                    assert!(reached || (loss.value().to_bits() == 0 && loss.lower == 0.0), "{said}");
                }
            }
        }
    }
    // Of two messages, the one to node 2 reveals node 0, and the other one, with a noise of its own, does
    // not.
    let mut meter = Meter::every_node(3, SensitivitySet::Vectors { dimension: 2 })?;
    meter.step(|program| {
        for (u, v) in [(0, 2), (1, 2), (2, 0)] {
            let (x, z) = (program.contribute(u, Reads::Nothing)?, program.noise([u], 4)?);
            let sum = program.add(&[x, z])?;
            program.send(u, v, sum)?;
        }
        Ok::<(), ProgramError>(())
    })?;
    let upper = |v: usize, u: usize| Ok::<_, Error>(meter.reading(v)?.loss(u)?.value());
    assert_eq!((upper(0, 1)?.to_bits(), upper(1, 0)?.to_bits(), upper(1, 2)?.to_bits()), (0, 0, 0));
    assert!(upper(2, 0)? >= 0.25 && upper(2, 1)? >= 0.25 && upper(0, 2)? >= 0.25);
    Ok(())
}
