//! Tests of logs: crashes, damage, and lines written by others.

use super::*;

/// A run on a small ring with single steps and rounds, and its log.
fn logged() -> Result<MeterLog<Vec<u8>>, Error> {
    let mixing = max_degree_plus_one(&cycle_graph(4)?);
    let names = ndp_account::NodeNames::new(["ann", "bob", "cem", "\"eve\""])?;
    let watched = [Observer::node(0), Observer::coalition(&[1, 2]), Observer::outsider().tapping(&[(3, 0)])];
    let limits = Limits::worst(9.0)?.pair(0, 2, 8.5)?;
    let meter = Meter::new(4, watched, SensitivitySet::UseLevel)?.with_limits(limits)?;
    let mut log = MeterLog::begin(meter, names, Vec::new())?;
    log.round(&mixing, (1, 3), ModelReads::Nothing)?;
    let (gone, y) = log.step(|program| -> Result<_, ProgramError> {
        let (x, z) = (program.contribute(3, Reads::Nothing)?, program.noise([3], 2)?);
        let y = program.add(&[x, z])?;
        program.send(3, 0, y)?;
        let sum = program.secure_sum(1, [(3, 1, y), (0, 2, y)])?;
        Ok(([x, z], sum))
    })?;
    log.round(&mixing, (1, 3), ModelReads::Hidden)?;
    log.forget(&gone)?;
    log.begin_epoch()?;
    log.step(|program| -> Result<_, ProgramError> {
        program.broadcast(None, y)?;
        program.leave(2)
    })?;
    Ok(log)
}

fn losses(meter: &Meter) -> Result<Vec<Option<f64>>, Error> {
    let mut all = Vec::new();
    for k in 0..meter.observers().len() {
        let reading = meter.reading(k)?;
        all.extend((0..meter.node_count()).map(|u| reading.upper(u)));
    }
    Ok(all)
}

/// What is read back is the same meter. A crash at any byte leaves a log that can be continued and that
/// contains everything that was sent.
#[test]
fn a_log_survives_a_crash_at_every_byte() -> Result<(), Error> {
    let log = logged()?;
    let (told, program) = (losses(log.meter())?, log.meter().program().clone());
    let text = log.into_inner();
    let mut feed = Feed::default();
    let found = feed.lines(&text)?;
    assert_eq!((found.bytes, found.dropped), (text.len() as u64, None));
    let meter = feed.meter().expect("a first line");
    assert_eq!((losses(meter)?, meter.program()), (told, &program));
    assert_eq!(meter.limits().of(0, 2), Some(8.5));
    for length in 0..text.len() {
        let mut feed = Feed::default();
        let found = feed.lines(&text[..length])?;
        let kept = usize::try_from(found.bytes).expect("a length");
        assert!(kept <= length && text[kept..length].iter().all(|&byte| byte != b'\n'));
        assert_eq!(found.dropped.is_some(), kept < length);
        assert_eq!(text[..kept].iter().filter(|&&byte| byte == b'\n').count() as u64, found.lines);
        if found.lines == 0 {
            assert_refused(MeterLog::resume(feed, Vec::new()), "there is no first line");
            continue;
        }
        // When it is continued, the log is complete again.
        let mut resumed = MeterLog::resume(feed, text[..kept].to_vec())?;
        resumed.step(|program| program.noise([0], 1))?;
        let again = resumed.into_inner();
        let mut feed = Feed::default();
        assert_eq!(feed.lines(&again)?.dropped, None, "{length}");
    }
    Ok(())
}

/// A line that is changed, lost or moved is found, at any position.
#[test]
fn a_changed_log_is_refused() -> Result<(), Error> {
    let text = logged()?.into_inner();
    for at in 0..text.len() {
        let mut changed = text.clone();
        changed[at] ^= 1;
        let mut feed = Feed::default();
        // Only the end of the last line can have been cut off.
        match feed.lines(&changed) {
            Ok(found) => assert!(found.dropped.is_some() && at == text.len() - 1, "{at}: {found:?}"),
            Err(_) => assert!(at < text.len() - 1, "{at}"),
        }
    }
    let lines: Vec<&[u8]> = text.split_inclusive(|&byte| byte == b'\n').collect();
    for left_out in 0..lines.len() - 1 {
        let without: Vec<u8> = lines
            .iter()
            .enumerate()
            .filter(|&(k, _)| k != left_out)
            .flat_map(|(_, line)| line.to_vec())
            .collect();
        assert_refused(Feed::default().lines(&without), "a line is missing or moved");
    }
    Ok(())
}

/// Lines without checksums, as another program writes them: the same steps, and the point of view.
#[test]
fn plain_lines_are_steps() -> Result<(), Error> {
    let text = concat!(
        "{\"ndp-meter\": 1, \"nodes\": 3, \"set\": \"same-direction\", \"limit\": 0.5, \"observers\": ",
        "[{\"members\": [2], \"own_noise\": \"known\", \"senders\": \"known\", \"tapped\": []}]}\n",
        "# three nodes in a row\n",
        "{\"graph\": \"g\", \"family\": \"path\"}\n",
        "{\"matrix\": \"W\", \"of\": \"g\", \"weights\": \"metropolis\"}\n",
        "{\"round\": \"W\", \"variance\": 4, \"reads\": \"nothing\"}\n",
        "{\"round\": \"W\", \"variance\": 4, \"reads\": \"nothing\"}\n",
    );
    let mut feed = Feed::default();
    for line in text.lines() {
        feed.line(line)?;
    }
    let meter = feed.meter().expect("a first line");
    assert!(feed.is_plain());
    // 19/10 of the loss with unit noise, for the neighbor.
    assert_near(&meter.reading(0)?, 1, 19.0 / 40.0, 1e-9);
    assert!(meter.rests_on().contains(&ndp_account::RestsOn::ToldOfAll));
    let error =
        feed.line("{\"round\": \"W\", \"variance\": 4, \"reads\": \"nothing\"}").expect_err("a limit");
    assert!(Refusal::of(&error).is_some_and(|refusal| refusal.node == 1));
    assert_refused(
        feed.line("{\"round\": \"V\", \"variance\": 4, \"reads\": \"nothing\"}"),
        "the name V is not known",
    );
    assert_refused(MeterLog::resume(feed, Vec::new()), "lines without checksums cannot be gone on with");
    let other = PointOfView::OwnMessages { node: 0 };
    let meter = Meter::every_node(3, SensitivitySet::UseLevel)?;
    assert_eq!(meter.seen_by(other).err(), Some(ProgramError::OtherView(0)));
    // All other nodes together, and not only some of them.
    for (members, seen) in [(&[1][..], false), (&[2][..], false), (&[1, 2][..], true)] {
        let meter = Meter::new(3, [Observer::coalition(members)], SensitivitySet::UseLevel)?;
        let refused = meter.seen_by(PointOfView::OwnMessages { node: 0 }).err();
        assert_eq!(refused, (!seen).then_some(ProgramError::OtherView(0)), "{members:?}");
    }
    Ok(())
}

/// Limits that are fixed after the first line was read count from the first message on.
#[test]
fn limits_may_take_the_place_of_those_of_the_log() -> Result<(), Error> {
    let lines = [
        r#"{"contribute": "x", "node": 0, "reads": "nothing"}"#,
        r#"{"noise": "z", "shared": [0], "variance": 4}"#,
        r#"{"let": "y", "sum": {"x": 1, "z": 1}}"#,
        r#"{"send": "y", "from": 0, "to": 1}"#,
    ];
    for (limit, fits) in [(0.2, false), (0.3, true)] {
        let mut feed = Feed::default();
        let early = feed.limit(Limits::worst(limit)?);
        assert_eq!(early, Err(ProgramError::Log("there is no first line".to_owned()).into()));
        feed.line(r#"{"ndp-meter": 1, "nodes": 2, "set": "use-level", "limit": 9}"#)?;
        feed.limit(Limits::worst(limit)?)?;
        lines[..3].iter().try_for_each(|line| feed.line(line).map(|_| ()))?;
        let sent = feed.line(lines[3]).map(|_| ());
        let refusal = sent.as_ref().err().and_then(Refusal::of).map(|refusal| refusal.limit);
        assert_eq!((sent.is_ok(), refusal), (fits, (!fits).then_some(limit)));
    }
    Ok(())
}

/// If the log cannot be written, nothing more is done.
#[test]
fn a_full_disk_stops_the_meter() -> Result<(), Error> {
    struct Full(usize);
    impl Durable for Full {
        fn append(&mut self, _: &str) -> std::io::Result<()> {
            self.0 -= 1;
            if self.0 == 0 { Err(std::io::Error::other("no space")) } else { Ok(()) }
        }
    }
    let meter = Meter::every_node(2, SensitivitySet::UseLevel)?;
    let mut log = MeterLog::begin(meter, ndp_account::NodeNames::numbered(2), Full(3))?;
    let x = log.step(|program| program.contribute(0, Reads::Nothing))?;
    let refused = log.step(|program| program.send(0, 1, x)).expect_err("no space").to_string();
    assert!(refused.contains("no space"), "{refused}");
    assert_refused(log.step(|program| program.noise([0], 1)), "a line could not be written before");
    Ok(())
}

/// A meter without record also writes and reads its rounds.
#[test]
fn rounds_without_a_record_are_logged() -> Result<(), Error> {
    let mixing = max_degree_plus_one(&cycle_graph(4)?);
    let meter = Meter::every_node(4, SensitivitySet::SameDirection)?.without_record()?;
    let mut log = MeterLog::begin(meter, ndp_account::NodeNames::numbered(4), Vec::new())?;
    for _ in 0..3 {
        log.round(&mixing, 2, ModelReads::Nothing)?;
    }
    let told = losses(log.meter())?;
    let mut feed = Feed::default();
    assert_eq!(feed.lines(&log.into_inner())?.lines, 5);
    assert_eq!(losses(feed.meter().expect("a first line"))?, told);
    Ok(())
}

/// Whoever continues a log finds the unit of its variances there. A log without a unit says so, and a wrong
/// unit is refused.
#[test]
fn a_log_keeps_how_far_contributions_move() -> Result<(), Error> {
    let scale = Scale::new(0.1, Neighbors::Replace)?;
    let meter = Meter::every_node(2, SensitivitySet::UseLevel)?.in_units_of(scale)?;
    let mut log = MeterLog::begin(meter, ndp_account::NodeNames::numbered(2), Vec::new())?;
    log.step(|program| program.contribute(0, Reads::Nothing))?;
    assert_refused(log.meter().clone().in_units_of(scale), "fixed before the first step");
    let text = log.into_inner();
    let mut feed = Feed::default();
    feed.lines(&text)?;
    let resumed = MeterLog::resume(feed, Vec::new())?;
    assert_eq!(resumed.meter().scale(), Some(scale));
    assert_eq!(
        scale.change(),
        num_rational::BigRational::from_float(0.1).unwrap()
            * num_rational::BigRational::from_integer(2.into())
    );
    assert!(
        resumed
            .meter()
            .rests_on()
            .iter()
            .any(|what| { matches!(what, ndp_account::RestsOn::Norm { most, .. } if most.get() == 0.1) })
    );
    let frame = |more: &str| format!("{{\"ndp-meter\":1,\"nodes\":2,\"set\":\"use-level\"{more}}}");
    let mut plain = Feed::default();
    plain.line(&frame(""))?;
    assert_eq!(plain.meter().and_then(Meter::scale), None);
    for (wrong, words) in [
        (r#"{"clip":0.0,"neighbors":"zero"}"#, "must be positive, got 0"),
        (r#"{"clip":-1.0,"neighbors":"zero"}"#, "must be positive, got -1"),
        (r#"{"clip":1.0}"#, "missing field `neighbors`"),
        (r#"{"clip":1.0,"neighbors":"both"}"#, "unknown variant `both`, expected `replace` or `zero`"),
        (r#"{"clip":1.0,"neighbors":"zero","more":1}"#, "unknown field `more`"),
        ("1.0", "expected an object with `clip` and `neighbors`"),
    ] {
        assert_refused(Feed::default().line(&frame(&format!(",\"scale\":{wrong}"))), words);
    }
    Ok(())
}

/// A first line of a few bytes must not take gigabytes.
#[test]
fn a_first_line_that_names_too_many_nodes_is_refused() {
    for nodes in [100_000u64, 4_294_967_296, 24_294_967_296, 9_007_199_254_740_993] {
        let line =
            format!("{{\"ndp-meter\":1,\"nodes\":{nodes},\"set\":\"use-level\",\"view\":\"coordinator\"}}");
        assert_refused(Feed::default().line(&line), "learn about every node would take");
        // The coalition of all other nodes is one observer.
        let own = Feed::seen_as("own:0").line(&line);
        if nodes > 100_000 {
            assert_refused(own, "learn about every node would take");
        }
    }
    assert_refused(Meter::every_node(100_000, SensitivitySet::UseLevel), "learn about every node would take");
}

/// The last line of a log without checksums counts, whether or not it ends: nobody promised that nothing was
/// sent for it. Half a line is an error.
#[test]
fn a_plain_line_counts_without_its_end() -> Result<(), Error> {
    let text = concat!(
        "{\"ndp-meter\": 1, \"nodes\": 2, \"set\": \"use-level\"}\n",
        "{\"contribute\": \"x\", \"node\": 0, \"reads\": \"nothing\"}\n",
        "{\"noise\": \"z\", \"shared\": [0], \"variance\": 4}\n",
        "{\"let\": \"y\", \"sum\": {\"x\": 1, \"z\": 1}}\n",
        "{\"send\": \"y\", \"from\": 0, \"to\": 1}",
    );
    let mut feed = Feed::default();
    let found = feed.lines(text.as_bytes())?;
    assert_eq!((found.lines, found.bytes, found.dropped), (5, text.len() as u64, None));
    assert_near(&feed.meter().expect("a first line").reading(1)?, 0, 0.25, 1e-12);
    let half = Feed::default().lines(&text.as_bytes()[..text.len() - 3]);
    assert_refused(half, "line 5");
    // Cut within a character.
    let name = text.replace("\"y\"", "\"é\"");
    let cut = name.len() - "\", \"from\": 0, \"to\": 1}".len() - 1;
    assert_refused(Feed::default().lines(&name.as_bytes()[..cut]), "line 5");
    // As a part of a run, too.
    let part = text.replace("1, \"nodes\"", "2, \"tells\": [0, 1], \"nodes\"");
    let merged = Merged::parts(&[part.as_bytes()])?;
    let loss = merged.readings()[1].upper(0).expect("a pair");
    assert!((0.25..0.25 + 1e-12).contains(&loss), "{loss}");
    // A first line alone: of a plain log it counts, of one with checksums it does not.
    assert_eq!(Feed::default().lines(text.lines().next().unwrap_or_default().as_bytes())?.lines, 1);
    assert_eq!(Feed::default().lines(b"{\"n\":0,\"crc\"")?.lines, 0);
    Ok(())
}
