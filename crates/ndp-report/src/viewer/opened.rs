//! What the scripts of a page do, seen by running them in Node with as much of a document as they use.
//!
//! If Node is not installed, the tests say so and check nothing.
#![allow(clippy::print_stdout, reason = "a test says what it skips")]

use super::*;
use serde_json::{Value, json};
use std::process::Command;

const STUB: &str = include_str!("stub.js");

/// What a script prints as JSON, after the stub of a document; `None` without Node.
fn run(script: &str) -> Option<Value> {
    let Ok(output) = Command::new("node").args(["-e", &format!("{STUB}{script}")]).output() else {
        println!("no Node here: the scripts were not run");
        return None;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(serde_json::from_slice(&output.stdout).unwrap())
}

/// What the viewer shows for the observer `a`, to whom `b` and `d` have these losses and units and `c` has
/// none; then after the slider moved to less noise, and after a click on `d`.
fn shown(losses: [f64; 2], units: [f64; 2], scale: Scale) -> Option<Value> {
    let row = |[b, d]: [f64; 2]| vec![None, Some(b), None, Some(d)];
    let viewer = Viewer {
        names: ["a", "b", "c", "d"].map(str::to_owned).to_vec(),
        positions: vec![[0.0, 0.0], [1.0, 0.0], [0.5, 1.0], [2.0, 2.0]],
        edges: vec![(0, 1), (1, 2)],
        observers: vec![Seen {
            name: "a".into(),
            members: vec![0],
            losses: row(losses),
            units: Some(row(units)),
        }],
        measure: "mu".into(),
        sigma: 2.0,
        sensitivity: 1.0,
        scale: Some(scale),
    };
    let html = viewer.section().unwrap();
    let json = html.split("json\">").nth(1).and_then(|rest| rest.split("</script>").next()).unwrap();
    let json = json!(json);
    run(&format!(
        "const box = viewerOf({json});\n{SCRIPT}
        const look = () => ({{
          said: box.querySelector('.ndp-said').textContent,
          rows: box.querySelector('tbody').rows.map(row => row.cells.map(cell => cell.textContent).join(' ')),
          fills: box.querySelectorAll('circle').map(circle => circle.attributes.fill),
          hints: box.querySelectorAll('circle').map(circle => circle.textContent),
          legend: box.querySelector('.ndp-legend').children.map(part => [part.attributes.visibility, part.textContent]),
        }});
        const told = [look()];
        const slider = box.querySelectorAll('input').find(input => input.attributes.min === '-50');
        if (slider) {{ slider.value = '-10'; slider.tell('input'); told.push(look()); }}
        box.querySelector('svg').tell('click', box.querySelectorAll('circle')[3]);
        told.push({{ clicked: box.querySelector('.ndp-said').textContent, delta: box.querySelectorAll('output').at(-1)?.textContent }});
        console.log(JSON.stringify(told));"
    ))
}

const SCALES: [fn() -> Scale; 3] =
    [|| Scale::Mu, || Scale::Renyi(2.0), || Scale::Epsilon(Delta::new(1e-5).unwrap())];

/// A node that is seen in the clear is named first and has a color and an entry of its own, at every noise.
#[test]
fn a_loss_without_a_bound_is_the_largest() {
    for scale in SCALES {
        let Some(told) = shown([0.25, f64::INFINITY], [0.25, f64::INFINITY], scale()) else { return };
        let states = told.as_array().unwrap();
        assert_eq!(states.len(), 3, "there is a slider");
        for state in &states[..2] {
            assert_eq!(state["said"], "Nothing here bounds what a learns about d (mu).");
            let rows = state["rows"].as_array().unwrap();
            assert!(rows.len() == 2 && rows[0] == "d inf" && rows[1].as_str().unwrap().starts_with("b "));
            assert_eq!(
                (&state["fills"][3], &state["fills"][1]),
                (&json!("#d62828"), &json!("rgb(253,231,37)"))
            );
            assert_eq!(state["hints"][3], "d: no bound");
            assert_eq!(state["hints"][2], "c: not known");
            assert_eq!(state["legend"][0][0], "visible");
            assert_eq!(state["legend"][1], json!(["visible", "no bound"]));
        }
        assert_eq!(states[2]["clicked"].as_str().unwrap().matches("Nothing here bounds").count(), 1);
    }
}

/// If nothing is bounded, the scale of the colors is not shown, and all such nodes are counted.
#[test]
fn losses_without_any_bound_have_no_scale() {
    let Some(told) = shown([f64::INFINITY; 2], [f64::INFINITY; 2], Scale::Mu) else { return };
    assert_eq!(told.as_array().unwrap().len(), 2, "there is no slider");
    assert_eq!(told[0]["said"], "Nothing here bounds what a learns about b and 1 other node (mu).");
    assert_eq!(told[0]["legend"][0][0], "hidden");
    assert_eq!((&told[0]["fills"][1], &told[0]["fills"][3]), (&json!("#d62828"), &json!("#d62828")));
}

/// Finite losses are said as before, and the entry of those without a bound is not shown.
#[test]
fn finite_losses_are_on_the_scale() {
    for scale in SCALES {
        let Some(told) = shown([0.5, 0.0], [1.0, 0.0], scale()) else { return };
        assert_eq!(told[0]["said"], "a learns most about b: at most 0.50000 (mu).");
        assert_eq!(told[0]["rows"], json!(["b 0.50000", "d 0"]));
        assert_eq!(
            (&told[0]["legend"][0][0], &told[0]["legend"][1][0]),
            (&json!("visible"), &json!("hidden"))
        );
        assert!(told[1]["said"].as_str().unwrap().starts_with("a learns most about b: at most "));
    }
}

/// `inf` is the largest number of a column, whichever way it is sorted.
#[test]
fn tables_sort_infinite_losses_as_the_largest() {
    let found = run(&format!(
        "const table = tableOf(['exposed', 'loss'], [['p', '0'], ['q', 'inf'], ['r', '12.5'], ['s', '2'], ['t', 'inf'], ['u', '']]);
        {TABLES}
        const button = table.tHead.querySelectorAll('button')[1], told = [];
        for (let k = 0; k < 2; k++) {{
          button.tell('click');
          told.push(table.tBodies[0].rows.map(row => row.cells[0].textContent).join(''));
        }}
        console.log(JSON.stringify(told));"
    ));
    let Some(found) = found else { return };
    assert_eq!(found, json!(["psrqtu", "qtrspu"]));
}
