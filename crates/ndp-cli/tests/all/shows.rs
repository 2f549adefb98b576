//! `ndp show`: what Python saved, as recorded.

use super::common::{self, run};
use std::io::Write;
use std::path::PathBuf;

fn folder(name: &str) -> PathBuf {
    common::folder(&format!("shows-{name}"))
}

/// A file as `ndp.save` writes it.
fn file(what: &str) -> String {
    let mut sum = flate2::Crc::new();
    sum.update(what.as_bytes());
    format!("{{\"ndp-saved\":1,\"ndp\":\"0.1.0\",\"crc\":\"{:08x}\",\"what\":{what}}}\n", sum.sum())
}

/// What node `c` learns on the path a, b, c: one unit loss with many digits, and one that is infinite.
const LOSSES: &str = "{\"kind\":\"losses\",\"asked\":{\"nodes\":[\"a\",\"b\",\"c\"],\"graph\":null,\"protocol\":\"gossip, 2 rounds\",\
     \"observers\":[[2]],\"statement\":{}},\"unit\":[[0.1234567890123456,\"inf\",1.0]],\"lower\":[[0.12345678901234558,1.0,0.0]],\
     \"grades\":[\"exact\"],\"ranks\":[2],\"bits\":[53],\"failures\":[0.0],\"means\":[{\"grade\":\"exact\",\"value\":0.5}],\
     \"paragraph\":\"The sentences beside it.\",\"by\":[\"a theorem\"]}";

const COMPARISON: &str = "{\"kind\":\"comparison\",\"asked\":{\"nodes\":{\"range\":4},\"observers\":[[0],[1]],\"limits\":[[1.0]],\
     \"mean\":false,\"order\":null,\"delta\":1e-05,\"sensitivity\":1.0},\"rows\":[{\"protocol\":\"once\",\"sigma\":3.7306317,\
     \"source\":1,\"observer\":0,\"error\":1.86,\"messages\":18,\"grade\":\"exact\",\"failure\":0.0,\"statement\":\"Of once.\"},\
     {\"protocol\":\"other\",\"reason\":\"not on this graph\"}]}";

const LEDGER: &str = "{\"kind\":\"ledger\",\"limit\":{\"tuple\":[2.5,1e-05]},\"order\":null,\"odometer\":null,\"protocols\":[{\"class\":\
     \"Gossip\",\"words\":\"gossip, 3 rounds\",\"graph\":{\"range\":4},\"parameters\":{}}],\"runs\":[{\"protocol\":0,\"name\":\"first\",\
     \"observers\":[0,1],\"sigma\":2.0,\"sensitivity\":1.0,\"adaptivity\":\"fixed\"}]}";

/// Each kind of record is shown with the numbers of the file, and with the sentence that it is a record.
#[test]
fn each_kind_is_shown_as_recorded() {
    let folder = folder("kinds");
    let shows = |what: &str| {
        std::fs::write(folder.join("x.json"), file(what)).unwrap();
        let (code, out, err) = run(&folder, "show x.json");
        assert_eq!((code, err.as_str()), (0, ""), "{out}");
        assert!(out.contains("nothing was computed anew"), "{out}");
        out
    };
    let out = shows(LOSSES);
    for words in ["0.1234567890123456", "0.12345678901234558", "inf", "The sentences beside it.", "a theorem"]
    {
        assert!(out.contains(words), "{words}\n{out}");
    }
    // The pairs with the largest losses come first; the observer itself is no pair.
    let rows: Vec<&str> = out.lines().rev().take(2).collect();
    assert!(rows[1].starts_with('b') && rows[0].starts_with('a') && rows[0].contains(" c "), "{out}");
    let out = shows(COMPARISON);
    for words in [
        "3.7306317",
        "1 by 0",
        "18",
        "not on this graph",
        "once: Of once.",
        "1.0, as epsilon at delta 0.00001",
    ] {
        assert!(out.contains(words), "{words}\n{out}");
    }
    let out = shows(LEDGER);
    for words in ["first", "gossip, 3 rounds", "fixed", "(2.5, 0.00001)", "is not in the file"] {
        assert!(out.contains(words), "{words}\n{out}");
    }
}

/// Files that `ndp show` writes have all rows and say that they are a record.
#[test]
fn files_have_all_rows() {
    let folder = folder("files");
    std::fs::write(folder.join("x.json"), file(LOSSES)).unwrap();
    let (code, out, _) = run(&folder, "show x.json --worst 1 --csv x.csv --json y.json");
    assert!(code == 0 && out.contains("1 of 2 rows"), "{out}");
    let csv = std::fs::read_to_string(folder.join("x.csv")).unwrap();
    let expected = "exposed,observer,lower end,unit loss,recorded grade\nb,c,1.0,inf,exact\na,c,0.12345678901234558,0.1234567890123456,exact\n";
    assert_eq!(csv, expected);
    let json: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(folder.join("y.json")).unwrap()).unwrap();
    assert_eq!(json["result"]["recorded"], serde_json::from_str::<serde_json::Value>(LOSSES).unwrap());
    assert!(json["result"]["is"].as_str().unwrap().contains("record"));
    // The file that is shown must not also be the output.
    let (code, _, err) = run(&folder, "show x.json --json x.json");
    assert!(code == 2 && err.contains("x.json"), "{err}");
}

/// Refused: other files, other versions, damaged files, and files that unpack to more than the limit.
#[test]
fn what_is_no_record_is_refused() {
    let folder = folder("refused");
    let mut bomb = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let zeros = vec![b' '; 1 << 20];
    for _ in 0..=256 {
        bomb.write_all(&zeros).unwrap();
    }
    let bomb = bomb.finish().unwrap();
    assert!(bomb.len() < 4 << 20);
    let whole = file(LOSSES);
    let cases: [(&str, Vec<u8>, &str); 8] = [
        (
            "meter",
            b"{\"ndp-meter\": 1, \"nodes\": 3, \"set\": \"signs\"}\n".to_vec(),
            "ndp meter x.json shows it",
        ),
        ("version", whole.replace("\"ndp-saved\":1", "\"ndp-saved\":2").into_bytes(), "version 2"),
        ("kind", file("{\"kind\":\"graph\"}").into_bytes(), "kind must be losses"),
        ("damage", whole.replace("0.5", "0.4").into_bytes(), "checksum"),
        ("cut", whole.as_bytes()[..whole.len() / 2].to_vec(), "EOF"),
        ("bomb", bomb, "larger than 256 MB"),
        ("text", b"a b\n".to_vec(), "expected value"),
        ("empty", Vec::new(), "EOF"),
    ];
    for (name, bytes, words) in cases {
        std::fs::write(folder.join("x.json"), bytes).unwrap();
        let (code, out, err) = run(&folder, "show x.json");
        assert!(code == 1 && err.contains(words) && out.is_empty(), "{name}: {code}\n{out}{err}");
    }
    assert_eq!(run(&folder, "show missing.json").0, 3);
    // A file that is packed and small is read.
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packed.write_all(whole.as_bytes()).unwrap();
    std::fs::write(folder.join("x.json.gz"), packed.finish().unwrap()).unwrap();
    assert_eq!(run(&folder, "show x.json.gz").0, 0);
}
