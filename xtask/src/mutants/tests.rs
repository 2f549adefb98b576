//! Mutants of small sources: one of each kind, with the expected change.

use super::candidates::{self, Mutant};
use super::rewrite::{difference, line_number, rewrite};
use super::{operators, switch};
use std::collections::BTreeSet;

fn found(text: &str) -> Vec<Mutant> {
    candidates::of("crates/ndp-dp/src/a.rs", text).unwrap().mutants
}

/// The body of a function with one mutant of the kind on, its switch resolved by replacing text.
fn mutated(text: &str, kind: &str) -> Vec<String> {
    let of_kind = |it: &Mutant| it.entry.kind == kind;
    found(text)
        .into_iter()
        .filter(of_kind)
        .map(|it| difference(text, &it).lines().last().unwrap_or("").trim().to_owned())
        .collect()
}

#[test]
fn each_kind_changes_what_it_says() {
    for (kind, body, expected) in [
        ("arithmetic", "x + y", &["+ fn f() { x - y }"][..]),
        ("arithmetic", "x -= y;", &["+ fn f() { x += y; }"]),
        ("arithmetic", "-x", &["+ fn f() { x }"]),
        (
            "arm",
            "match x { A => 1, B => 2 }",
            &["+ fn f() { match x { A => 2, B => 2 } }", "+ fn f() { match x { A => 1, B => 1 } }"],
        ),
        ("bits", "x << y", &["+ fn f() { x >> y }"]),
        ("boundary", "x < y", &["+ fn f() { x <= y }"]),
        (
            "constant",
            "g(2.0, 3, true, 0.0)",
            &[
                "+ fn f() { g(1.0, 3, true, 0.0) }",
                "+ fn f() { g(2.0, 4, true, 0.0) }",
                "+ fn f() { g(2.0, 3, false, 0.0) }",
            ],
        ),
        ("dropped", "x + error", &["+ fn f() { x }"]),
        ("dropped", "x.abs()", &["+ fn f() { x }"]),
        ("extreme", "x.max(y)", &["+ fn f() { x.min(y) }", "+ fn f() { x }"]),
        ("extreme", "xs.fold(0.0, f64::max)", &["+ fn f() { xs.fold(0.0, f64::min) }"]),
        ("grade", "Guarantee::from(UpperBound::new(x))", &["+ fn f() { Guarantee::from(Exact::new(x)) }"]),
        ("grade", "Exact::new(x).into()", &["+ fn f() { UpperBound::new(x).into() }"]),
        ("grade", "Grade::Exact", &["+ fn f() { Grade::UpperBound }"]),
        ("halved", "g(self.failure)", &["+ fn f() { g(0.5 * self.failure) }"]),
        ("logic", "x && y", &["+ fn f() { x || y }"]),
        ("logic", "xs.all(g)", &["+ fn f() { xs.any(g) }"]),
        ("negate", "x == y", &["+ fn f() { x != y }"]),
        ("negate", "!x", &["+ fn f() { x }"]),
        ("negate", "if x.is_empty() { y }", &["+ fn f() { if !(x.is_empty()) { y } }"]),
        ("no-check", "check(x)?; y", &["+ fn f() {  y }"]),
        ("no-check", "if x { return Err(y); } z", &["+ fn f() {  z }"]),
        ("no-statement", "x.push(y);", &["+ fn f() {  }"]),
        ("no-statement", "x += y;", &["+ fn f() {  }"]),
        ("range", "&x[a..b]", &["+ fn f() { &x[(a) + 1..b] }", "+ fn f() { &x[a..(b) - 1] }"]),
        ("round", "up(x, error)", &["+ fn f() { down(x, error) }"]),
        ("round", "x.next_up()", &["+ fn f() { x }", "+ fn f() { x.next_down() }"]),
        ("round", "self.upper", &["+ fn f() { self.lower }"]),
        ("skip-last", "xs.iter().sum()", &["+ fn f() { all_but_the_last(xs.iter()).sum() }"]),
        ("skip-last", "for x in xs { g(x); }", &["+ fn f() { for x in all_but_the_last(xs) { g(x); } }"]),
    ] {
        assert_eq!(mutated(&format!("fn f() {{ {body} }}\n"), kind), expected, "{body}");
    }
    let returns = |ty: &str| mutated(&format!("fn f() -> {ty} {{ x }}\n"), "return").len();
    assert_eq!(
        [
            "bool",
            "f64",
            "usize",
            "Option<f64>",
            "Result<bool, Error>",
            "Result<(), Error>",
            "Vec<f64>",
            "Self"
        ]
        .map(returns),
        [2, 1, 1, 1, 2, 1, 1, 0]
    );
    assert_eq!(mutated("fn f() -> bool { x }\n", "return")[0], "+ fn f() -> bool { return true; x }");
}

#[test]
fn every_kind_is_tried_above() {
    let text = "fn f() -> bool { g()?; x += 1; for i in a..b { h(i.next_up().max(delta) << 1, x < y && z, \
                Guarantee::from(Exact::new(x + y))) } match x { A => 1, B => 2 } }\n";
    let kinds: BTreeSet<String> = found(text).into_iter().map(|it| it.entry.kind).collect();
    assert_eq!(
        kinds,
        operators::KINDS.map(|(kind, _)| kind.to_owned()).into_iter().chain(["negate".to_owned()]).collect()
    );
}

#[test]
fn switches_nest_and_keep_lines() {
    let text = "fn f(x: f64) -> f64 {\n    g(x + 1.0,\n      2)\n}\n";
    let all = found(text);
    let (out, regions) = rewrite(text, &all);
    assert_eq!(out.lines().count(), text.lines().count());
    assert_eq!(regions.len(), all.len());
    let id = |kind: &str, change: &str| {
        let is = |it: &&Mutant| it.entry.kind == kind && it.entry.change.starts_with(change);
        format!("::ndp_mutant::on!(0x{:08x})", all.iter().find(is).unwrap().entry.id())
    };
    let (minus, dropped) = (id("arithmetic", "x"), id("dropped", "x"));
    let (first, second) = ((&minus, "x - 1.0"), (&dropped, "x"));
    let order = if minus < dropped { [first, second] } else { [second, first] };
    let expected = format!(
        "fn f(x: f64) -> f64 {{ if {} {{ return 0.0; }}\n    \
         g((if {} {{ ({}) }} else if {} {{ ({}) }} else {{ (x + (if {} {{ (0.5) }} else {{ (1.0) }})) }}),\n      \
         (if {} {{ (3) }} else {{ (2) }}))\n}}\n",
        id("return", ""),
        order[0].0,
        order[0].1,
        order[1].0,
        order[1].1,
        id("constant", "1.0"),
        id("constant", "2"),
    );
    assert_eq!(out, expected);
    for (region, mutant) in
        regions.iter().filter_map(|it| Some((it, all.iter().find(|m| m.entry.id() == it.id)?)))
    {
        assert!(region.whole.start <= region.mutated.start && region.mutated.end <= region.whole.end);
        if let candidates::Shape::Replace { with, .. } = &mutant.shape {
            assert_eq!(&out[region.mutated.clone()], with);
        }
    }
    assert!(syn::parse_file(&out).is_ok());
}

#[test]
fn statements_loops_and_arms_stay_syntax() {
    let text =
        "fn f() -> u64 { check(x)?; for i in 0..n { s += i; } match s { 0 => { a } 1 => b(c), _ => d } }\n";
    let (out, _) = rewrite(text, &found(text));
    assert!(syn::parse_file(&out).is_ok(), "{out}");
    assert!(out.contains("for i in ::ndp_mutant::most(::ndp_mutant::on!("));
    assert!(out.contains(") { check(x)?; }"));
}

#[test]
fn constants_patterns_macros_and_tests_are_left_out() {
    let text = "const X: f64 = 2.0 * 3.0;\nconst fn f() -> u64 { 1 + 2 }\nfn g() { match x { 1 => a, 2..=3 => b } assert!(x < y); }\n\
                impl fmt::Display for A { fn fmt(&self) { 1 + 2 } }\n#[cfg(test)]\nmod tests { fn h() { x < y } }\n\
                #[test]\nfn t() { x < y }\n";
    let all = candidates::of("crates/ndp-dp/src/a.rs", text).unwrap();
    assert!(
        all.mutants.iter().all(|it| it.entry.function == "g" && it.entry.kind == "arm"),
        "{:?}",
        all.mutants
    );
    assert_eq!(
        all.left_out,
        [("const fn", 5), ("constant", 4), ("macro", 1), ("pattern", 2), ("text", 4)].into()
    );
}

#[test]
fn an_entry_is_found_again_after_changes_elsewhere() {
    let text = "impl A { fn f(&self) -> f64 { x + y + (x + y) } }\n";
    let change = format!("// More.\nfn g() {{ x + y }}\n{text}");
    let entries = |text: &str| found(text).into_iter().map(|it| it.entry).collect::<BTreeSet<_>>();
    assert!(entries(text).is_subset(&entries(&change)));
    let one =
        found(&change).into_iter().find(|it| it.entry.kind == "arithmetic" && it.entry.nth == 1).unwrap();
    assert_eq!(line_number(&change, &one), 2);
    assert_eq!(one.entry.crate_name(), "ndp-dp");
    // Different entries have different ids.
    let ids: BTreeSet<u32> = found(&change).iter().map(|it| it.entry.id()).collect();
    assert_eq!(ids.len(), found(&change).len());
}

#[test]
fn the_switch_drops_the_last_item_when_it_is_on() {
    assert_eq!(switch::most(true, [1, 2, 3]).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(switch::most(false, [1, 2, 3]).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!(switch::most(true, 0..0).count(), 0);
    let seen = std::sync::atomic::AtomicBool::new(false);
    assert!(!switch::is_on(7, &seen));
}
