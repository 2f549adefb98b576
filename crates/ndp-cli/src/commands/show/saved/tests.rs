use super::*;

fn file(what: &str) -> String {
    let mut sum = flate2::Crc::new();
    sum.update(what.as_bytes());
    format!("{{\"ndp-saved\":1,\"ndp\":\"0.1.0\",\"crc\":\"{:08x}\",\"what\":{what}}}\n", sum.sum())
}

/// What `ndp.save` writes of `ndp.gossip(([0, 1], [1, 2]), rounds=2).losses(observer=2)`, shortened.
const LOSSES: &str = "{\"kind\":\"losses\",\"asked\":{\"nodes\":[\"a, \\\"b\",{\"tuple\":[\"d\",4]},5.5],\"graph\":null,\
     \"protocol\":\"gossip\",\"observers\":[[2]],\"statement\":{}},\"unit\":[[0.25,1e-300,0.0]],\"lower\":[[0.25,0.0,0.0]],\
     \"grades\":[\"upper-bound\"],\"ranks\":[2],\"bits\":[53],\"failures\":[0.0],\"means\":[{\"grade\":\"exact\",\"value\":0.5}],\
     \"paragraph\":\"said\",\"by\":[\"a theorem\"]}";

#[test]
fn losses_are_read_as_they_are_written() {
    let saved = read(file(LOSSES).as_bytes()).unwrap();
    let What::Losses(losses) = &saved.what else { panic!("{saved:?}") };
    let pairs = losses.pairs();
    let shown: Vec<_> = pairs.iter().map(|p| (p.exposed.as_str(), p.unit.to_string())).collect();
    assert_eq!(shown, [("a, \"b", "0.25".to_owned()), ("(d, 4)", "1e-300".to_owned())]);
    assert!(pairs.iter().all(|pair| pair.observer == "5.5" && pair.grade == Grade::UpperBound));
    // White space between JSON values changes nothing; inside texts it is kept.
    let apart = file(LOSSES).replace("\":", "\": \n");
    assert_eq!(read(apart.as_bytes()).unwrap(), saved);
}

/// A file that is cut, or changed within its record, is refused. A change elsewhere causes no panic.
#[test]
fn damage_is_refused() {
    let whole = file(LOSSES);
    let start = whole.find("{\"kind\"").unwrap();
    for at in 0..whole.len() - 2 {
        let cut = read(&whole.as_bytes()[..at]);
        assert!(matches!(cut, Err(Refused::Malformed(_))), "{at} {cut:?}");
        let mut bytes = whole.clone().into_bytes();
        for bit in [1, 4, 32, 128] {
            bytes[at] ^= bit;
            let found = read(&bytes);
            // A changed bit may go unnoticed only outside the record.
            let refused = matches!(found, Err(Refused::Checksum | Refused::Malformed(_)));
            assert!(at < start || at >= whole.len() - 2 || refused, "{at} {bit} {found:?}");
            bytes[at] ^= bit;
        }
    }
}

#[test]
fn what_contradicts_itself_is_refused() {
    for (old, new, why) in [
        ("[[2]]", "[[3]]", "below 3"),
        ("[[2]]", "[[2],[1]]", "2 rows"),
        ("[[0.25,0.0,0.0]]", "[[0.5,0.0,0.0]]", "between ends"),
        ("[[0.25,0.0,0.0]]", "[[0.25,0.0]]", "3 losses"),
        ("[[0.25,0.0,0.0]]", "[[0.25,0.0,\"NaN\"]]", "a number must be one"),
        ("[[0.25,0.0,0.0]]", "[[0.25,0.0,1e999]]", "out of range"),
        ("upper-bound", "proven", "unknown variant"),
        ("\"by\"", "\"more\":1,\"by\"", "unknown field"),
        ("\"by\":[", "\"by\":[],\"by\":[", "duplicate field"),
        ("\"losses\"", "\"graph\"", "kind must be"),
        ("\"losses\"", "7", "kind must be"),
    ] {
        let what = LOSSES.replacen(old, new, 1);
        assert_ne!(what, LOSSES);
        let refused = read(file(&what).as_bytes()).unwrap_err().to_string();
        assert!(refused.contains(why), "{refused}");
    }
    // Sizes that no memory holds, and deeply nested lists, are refused.
    let many = LOSSES.replacen("[\"a, \\\"b\",{\"tuple\":[\"d\",4]},5.5]", "{\"range\":1000000000000000}", 1);
    assert!(read(file(&many).as_bytes()).unwrap_err().to_string().contains("1000000000000000 losses"));
    let deep = LOSSES.replacen("null", &("[".repeat(1 << 20) + &"]".repeat(1 << 20)), 1);
    assert!(read(file(&deep).as_bytes()).unwrap_err().to_string().contains("recursion limit"));
}

#[test]
fn other_files_are_told_apart() {
    for (text, refused) in [
        ("{\"ndp-meter\": 1, \"nodes\": 3, \"set\": \"signs\"}\n{}", Refused::Meter),
        ("{\"ndp-saved\": 2, \"more\": 0}", Refused::Version("2".into())),
        ("{\"ndp-saved\": \"1\"}", Refused::Version("\"1\"".into())),
        ("{}", malformed("it has no key \"ndp-saved\"".into())),
    ] {
        assert_eq!(read(text.as_bytes()).unwrap_err(), refused);
    }
    let changed = file(LOSSES).replace("0.25", "0.24");
    assert_eq!(read(changed.as_bytes()).unwrap_err(), Refused::Checksum);
    assert!(matches!(read(b"\xff").unwrap_err(), Refused::Malformed(_)));
}
