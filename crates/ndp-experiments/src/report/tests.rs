use super::*;
use crate::output::{Run, write_figure};
use crate::registry::{self, Entry, Tolerance};
use crate::seed::Seed;
use ndp_dp::Grade;
use ndp_report::figure::{Check, Figure, Panel, Provenance, Series};
use ndp_report::table;

/// The first registered figure, with made-up content that contains everything the page can show.
fn shown(out: &Path) -> Shown {
    let id = registry::all().next().unwrap().id;
    let entry = Entry {
        id,
        what: "test",
        needs: &[],
        minutes: 1.0,
        tolerance: Tolerance::DETERMINISTIC,
        findings: &[],
        test: None,
        measures: false,
        figure: |_, _, _| Ok(Figure::new("unused")),
    };
    let table_panel = Panel::table("accuracies <b>", "graph")
        .row_name(0.0, "complete & co")
        .with(Series::new("printed", Grade::Printed).points([(0.0, 0.25), (1.0, 0.5)]))
        .with(Series::new("exact", Grade::Exact).ranged(0.0, 1.0, 0.9, 1.1));
    let source = Provenance { name: "houses".into(), real: false, sha256: "00".into() };
    let figure = Figure::new("A <title>")
        .by(Grade::Printed, "ndp_printed::f", "Muffliato")
        .by(Grade::Exact, "ndp_algos::g", "Certified losses")
        .claim("Printed & true.")
        .finding("Not so.")
        .parameter("alpha", 2.0)
        .check(Check::covers("printed", "exact"))
        .computed_from(&source)
        .panel(table_panel);
    let run = Run { seconds: 1.5, threads: 2, ..Run::default() };
    let record = write_figure(out, &entry, figure, Scale::Quick, Seed::DEFAULT, run).unwrap();
    let rows = table::read(&out.join(format!("{id}.csv"))).unwrap();
    Shown { done: Done::new(record, rows, false).unwrap(), comparison: Comparison::Absent }
}

#[test]
fn the_page_is_complete_in_itself_and_computes_the_verdict() {
    let out = crate::testing::folder("report");
    let figures = [shown(&out)];
    write_report(&out, Scale::Quick, &figures).unwrap();
    let html = std::fs::read_to_string(out.join("report.html")).unwrap();
    let wanted = [
        "<span class=\"bad\">does not hold</span>",
        "<td>4 (1 to 0.25), accuracies &lt;b&gt; [stand-in] at x = 0</td>",
        "fails at 1 of 1 places",
        "complete &amp; co",
        "1.00 ± 0.10",
        "stand-in houses",
        "<figure data-files=\"network-dp/fig1a.csv\"><div role=\"img\" aria-label=\"A &lt;title&gt; (stand-in data)\"><svg viewBox",
        "A &lt;title&gt; (stand-in data)",
        "<dt>alpha</dt><dd>2.0</dd>",
        "theorems: Certified losses (<code>docs/theory.md#certified-losses</code>), Muffliato (",
        "findings: F6 (<code>docs/findings-summary.md</code>), F7 (",
        "<dt>by</dt><dd>exact: ndp_algos::g (Certified losses)<br>printed: ndp_printed::f (Muffliato)</dd>",
    ];
    for text in wanted {
        assert!(html.contains(text), "{text}");
    }
    // The page loads nothing: its only addresses are those of the figure's own files.
    assert!(!html.contains("http"));
    for link in html.split("href=\"").skip(1).map(|rest| rest.split('"').next().unwrap()) {
        let own = link.starts_with('#') || link.starts_with("data:") || out.join(link).is_file();
        assert!(own, "{link}");
    }
}
