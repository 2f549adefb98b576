//! Contributions that read models, between other steps and with other matrices.

use super::*;

/// A noise that is drawn between two rounds is still there after the second one, whose contributions read
/// hidden models: the filter keeps running when it is used.
#[test]
fn noises_between_rounds_are_kept() -> Result<(), Error> {
    let mixing = max_degree_plus_one(&cycle_graph(5)?);
    let mut meter = Meter::new(5, [Observer::outsider()], SensitivitySet::SameDirection)?;
    meter.round(&mixing, 1, ModelReads::Hidden)?;
    let z = meter.step(|program| program.noise([0], 4))?;
    meter.round(&mixing, 1, ModelReads::Hidden)?;
    meter.step(|program| {
        let x = program.contribute(0, Reads::Nothing)?;
        let sum = program.add(&[x, z])?;
        program.broadcast(0, sum)
    })?;
    // The first sum of each node is shown, and then that of node 0: the losses are 1, and 1/4 more.
    let reading = meter.reading(0)?;
    for (u, expected) in [(0, 1.25), (1, 1.0), (2, 1.0)] {
        assert_near(&reading, u, expected, 1e-9);
    }
    Ok(())
}

/// Node 0 knows the models of nodes 0 and 1, which are copies of its own, but not the last one, which is the
/// mean of two hidden sums. If models are read, both sums are shown, and each has loss 1; their mean alone
/// would have loss 1/2.
#[test]
fn hidden_models_are_counted_by_the_sums_that_they_are_means_of() -> Result<(), Error> {
    let half = || Weight::from((1, 2));
    let rows = [vec![(0, Weight::from(1))], vec![(0, Weight::from(1))], vec![(1, half()), (2, half())]];
    let mixing = MixingMatrix::try_from(&rows[..])?;
    let mut meter = Meter::new(3, [Observer::node(0)], SensitivitySet::SameDirection)?;
    meter.round(&mixing, 1, ModelReads::Nothing)?;
    for u in [1, 2] {
        assert_near(&meter.reading(0)?, u, 0.0, 0.0);
    }
    meter.round(&mixing, 1, ModelReads::Hidden)?;
    for u in [1, 2] {
        let loss = meter.reading(0)?.loss(u)?.clone();
        assert!(loss.value() >= 1.0 && loss.value() < 1.0 + 1e-9, "{loss:?}");
        assert_eq!((loss.lower, loss.value.grade()), (0.0, Grade::UpperBound));
    }
    Ok(())
}

/// Node 1 has seen what it reads itself, so that nothing hidden is read towards it, but node 2 has to be
/// shown it. All numbers together rest on the latter, whichever observer is named first.
#[test]
fn a_meter_rests_on_the_weakest_reads() -> Result<(), Error> {
    for watched in [[1, 2], [2, 1]] {
        let mut meter = Meter::new(3, watched.map(Observer::node), SensitivitySet::UseLevel)?;
        meter.step(|program| {
            let (x, z) = (program.contribute(0, Reads::Nothing)?, program.noise([0], 1)?);
            let y = program.add(&[x, z])?;
            program.send(0, 1, y)?;
            program.contribute(1, Reads::Hidden(Some(vec![y])))
        })?;
        let reads: Vec<_> =
            watched.iter().zip(&meter.filters).map(|(v, filter)| (*v, filter.reads())).collect();
        assert!(reads.contains(&(1, Dependence::Checked)) && reads.contains(&(2, Dependence::Revealed)));
        assert!(meter.rests_on().contains(&RestsOn::Reads(Dependence::Revealed)), "{watched:?}");
    }
    Ok(())
}

/// What contributions read counts after a filter gave up, too: then the account of the steps answers.
#[test]
fn reads_count_after_a_filter_gave_up() -> Result<(), Error> {
    let dependent = concat!(
        r#"{"ndp-meter": 1, "nodes": 2, "set": "use-level", "observers": "#,
        r#"[{"members": [1], "own_noise": "known", "senders": "known", "tapped": []}]}"#,
        "\n",
        r#"{"noise":"a","shared":[0],"variance":"1/3"}"#,
        "\n",
        r#"{"noise":"b","shared":[0],"variance":"1/7"}"#,
        "\n",
        r#"{"noise":"c","shared":[0],"variance":"1/11"}"#,
        "\n",
        r#"{"let":"u","sum":{"a":"1/3","b":"1/5","c":"1/7"}}"#,
        "\n",
        r#"{"let":"v","sum":{"a":"2/3","b":"1/7","c":"3/7"}}"#,
        "\n",
        r#"{"let":"t","sum":{"u":"1/9","v":"5/11"}}"#,
        "\n",
        r#"{"send":"u","from":0,"to":1}"#,
        "\n",
        r#"{"send":"v","from":0,"to":1}"#,
        "\n",
        r#"{"send":"t","from":0,"to":1}"#,
        "\n",
    );
    for (reads, expected) in [
        (r#""nothing""#, Dependence::Fixed),
        (r#""seen""#, Dependence::Assumed),
        (r#"{"seen": ["t"]}"#, Dependence::Checked),
        (r#"{"hidden": ["a"]}"#, Dependence::Revealed),
    ] {
        let mut feed = Feed::default();
        let steps = format!(
            "{dependent}{{\"contribute\":\"x\",\"node\":0,\"reads\":{reads}}}\n{}\n{}\n{}\n",
            r#"{"noise":"z","shared":[0],"variance":4}"#,
            r#"{"let":"y","sum":{"x":1,"z":1}}"#,
            r#"{"send":"y","from":0,"to":1}"#,
        );
        feed.lines(steps.as_bytes())?;
        let meter = feed.meter().expect("a first line");
        assert_eq!(meter.reading(0)?.source, Source::Batch, "{reads}");
        assert_eq!(meter.reading(0)?.loss(0)?.reads, expected, "{reads}");
        assert!(meter.rests_on().contains(&RestsOn::Reads(expected)), "{reads}: {:?}", meter.rests_on());
    }
    // Without a record the second filter answers.
    let mixing = max_degree_plus_one(&path_graph(3)?);
    let set = SensitivitySet::Vectors { dimension: 2 };
    let mut meter = Meter::new(3, [Observer::node(1)], set)?.without_record()?;
    meter.round(&mixing, 1, ModelReads::Nothing)?;
    meter.filters[0].filter.doubt = Some(super::super::filter::Doubt::Range);
    meter.round(&mixing, 1, ModelReads::Nothing)?;
    assert!(meter.rests_on().contains(&RestsOn::Reads(Dependence::Fixed)));
    meter.round(&mixing, 1, ModelReads::Assumed)?;
    assert!(meter.rests_on().contains(&RestsOn::Reads(Dependence::Assumed)));
    meter.round(&mixing, 1, ModelReads::Hidden)?;
    assert!(meter.rests_on().contains(&RestsOn::Reads(Dependence::RevealedAndAssumed)));
    Ok(())
}

/// A use that moves only the last model is followed as long as it does: nothing is mixed, and what node 1
/// adds is seen in its model when that is shown.
#[test]
fn uses_that_move_the_last_model_are_followed() -> Result<(), Error> {
    let own: Vec<Vec<(usize, Weight)>> = (0..2).map(|u| vec![(u, Weight::from(1))]).collect();
    let mixing = MixingMatrix::try_from(&own[..])?;
    for u in 0..2 {
        let mut meter = Meter::new(2, [Observer::outsider()], SensitivitySet::UseLevel)?;
        meter.round(&mixing, 1, ModelReads::Nothing)?;
        let model = meter.models()[u];
        meter.step(|program| program.broadcast(u, model))?;
        assert_near(&meter.reading(0)?, u, 1.0, 1e-9);
        assert_near(&meter.reading(0)?, 1 - u, 0.0, 0.0);
    }
    Ok(())
}

/// A contribution reads a hidden value and a multiple of it, which is more than a filter can follow, and is
/// forgotten. What it read has cost nothing yet, so that it costs what it must when it is seen, in this epoch
/// or in the next one.
#[test]
fn what_was_only_read_costs_something_when_it_is_seen() -> Result<(), Error> {
    let sets = [SensitivitySet::UseLevel, SensitivitySet::SameDirection, SensitivitySet::Signs];
    for (set, variance, ends) in
        sets.iter().flat_map(|set| [(set, 0, false), (set, 4, false), (set, 4, true), (set, 0, true)])
    {
        let mut meter = Meter::new(3, [Observer::node(0)], set.clone())?;
        let (y, gone) = meter.step(|program| {
            let (x, z) = (program.contribute(1, Reads::Nothing)?, program.noise([1], variance)?);
            let y = program.add(&[x, z])?;
            let third = program.combine([((1, 3), y)])?;
            let reader = program.contribute(2, Reads::Hidden(Some(vec![y, third])))?;
            Ok::<_, Error>((y, [x, z, third, reader]))
        })?;
        meter.forget(&gone)?;
        assert!(meter.filters[0].filter.doubt.is_some(), "the filter follows, and this test says nothing");
        assert_eq!(meter.reading(0)?.loss(1)?.value(), 0.0);
        let shown = if ends { meter.begin_epoch() } else { Ok(()) };
        assert_eq!(shown.is_err(), ends && variance == 0, "{set:?} {variance}: {shown:?}");
        meter.step(|program| program.send(1, 0, y))?;
        let reading = meter.reading(0)?;
        if variance == 0 {
            assert!(reading.loss(1).is_err(), "{set:?} {ends}: {reading:?}");
        } else {
            assert!(reading.loss(1)?.value() >= 0.25, "{set:?} {ends}: {reading:?}");
            assert!(reading.loss(1)?.value() <= 0.5, "{set:?} {ends}: {reading:?}");
        }
    }
    Ok(())
}
