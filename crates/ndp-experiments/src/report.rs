//! One page that shows all figures: `report.html`, which needs no other file.
//!
//! Whether claims hold is computed from the numbers that were read back from the CSVs.

mod links;
mod traced;
mod walk;

use crate::output::Record;
use crate::reference::Comparison;
use crate::registry::{PAPERS, Paper};
use crate::run::Done;
use base64::prelude::{BASE64_STANDARD, Engine};
use ndp_report::figure::Scale;
use ndp_report::files::{OutputError, write};
use ndp_report::plot::table::{cell_text, short};
use ndp_report::table::Row;
use ndp_report::verdict::paired::ERROR_RATE;
use ndp_report::verdict::{Outcome, round};
use ndp_report::viewer;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Component, Path};

/// A figure with the result of the comparison with its reference.
pub struct Shown {
    /// The figure.
    pub done: Done,
    /// Whether its numbers agree with the committed ones.
    pub comparison: Comparison,
}

/// Writes `out/report.html`.
///
/// # Errors
/// [`OutputError::Write`].
pub fn write_report(out: &Path, scale: Scale, figures: &[Shown]) -> Result<(), OutputError> {
    write(&out.join("report.html"), page(out, scale, figures).as_bytes())
}

/// The page.
fn page(out: &Path, scale: Scale, figures: &[Shown]) -> String {
    let seconds: f64 = figures.iter().map(|shown| shown.done.record.run.seconds).sum();
    let mut html = String::new();
    // Writing to a string cannot fail.
    let _ = write!(
        html,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>ndp: figures as printed and as they are</title>\n<link rel=\"icon\" href=\"data:,\">\n\
         <style>{STYLE}{}</style>\n</head>\n<body>\n<main>\n<h1>What do the others learn?</h1>\n<p class=\"title\">Four papers and a poster, as printed and as it is.</p>\n{QUESTION}\n{GRADES}\n\
         <p>A claim “holds where it was compared” only by exact values, or by an upper bound below what is claimed, at all \
         places that were compared; elsewhere nothing is decided. It “does not hold” only by exact values, lower bounds or \
         attacks. Runs with seeds decide by paired comparisons with an error rate of {}. \
         All else is “not shown”, with the reason.</p>\n{FINDINGS}\n{}",
        viewer::STYLE,
        round(ERROR_RATE),
        walk::section().unwrap_or_default(),
    );
    contents(&mut html, figures);
    let _ = write!(
        html,
        "<h2 id=\"all\">All claims</h2>\n<p>{} figures at {} scale, computed in {} s by ndp {}.</p>\n",
        figures.len(),
        scale.as_str(),
        round(seconds),
        env!("CARGO_PKG_VERSION"),
    );
    if scale == Scale::Quick {
        html.push_str("<p>Captions name the sizes at paper scale; what is drawn here is smaller.</p>\n");
    }
    summary(&mut html, figures);
    for paper in &PAPERS {
        section(&mut html, out, paper, figures);
    }
    let _ = write!(
        html,
        "</main>\n<script>{SCRIPT}\n{}\n{}</script>\n</body>\n</html>\n",
        viewer::TABLES,
        viewer::SCRIPT
    );
    html
}

/// Every figure by its paper, as links.
fn contents(html: &mut String, figures: &[Shown]) {
    html.push_str("<nav>\n<h2>Contents</h2>\n<ul>\n<li><a href=\"#walk\">Walk through a network</a></li>\n<li><a href=\"#all\">All claims, in a table</a></li>\n");
    for paper in &PAPERS {
        let links: Vec<String> = of_paper(paper, figures)
            .map(|shown| {
                let id = &shown.done.record.id;
                let short = id.rsplit('/').next().unwrap_or(id);
                format!("<a href=\"#{}\">{short}</a>", anchor(id))
            })
            .collect();
        if !links.is_empty() {
            let _ = writeln!(html, "<li>{}: {}</li>", escape(paper.title), links.join(" · "));
        }
    }
    html.push_str("</ul>\n</nav>\n");
}

/// The figures of a paper that are there.
fn of_paper<'a>(paper: &'a Paper, figures: &'a [Shown]) -> impl Iterator<Item = &'a Shown> {
    figures.iter().filter(|shown| paper.figures.iter().any(|entry| entry.id == shown.done.record.id))
}

/// The table at the top, computed from the numbers.
fn summary(html: &mut String, figures: &[Shown]) {
    html.push_str(
        "<div class=\"wide\" tabindex=\"0\"><table>\n<thead><tr><th>figure</th><th>claim</th><th>holds</th>\
         <th>largest ratio of what is compared</th><th>reference</th></tr></thead>\n<tbody>\n",
    );
    for Shown { done, comparison } in figures {
        let record = &done.record;
        let outcomes = &done.outcomes;
        let worst =
            outcomes.iter().filter_map(|o| o.worst.as_ref()).max_by(|a, b| a.ratio.total_cmp(&b.ratio));
        let correlation = outcomes.iter().filter_map(|outcome| outcome.correlation).reduce(f64::min);
        let correlation =
            correlation.map_or("–".to_owned(), |least| format!("rank correlation {}", round(least)));
        let ratio = worst
            .map_or(correlation, |w| format!("{}, {} at {}", w.ratio_in_words(), escape(&w.panel), w.at));
        let _ = writeln!(
            html,
            "<tr><td><a href=\"#{}\">{}</a>{}</td><td>{}</td><td>{}</td><td>{ratio}</td><td>{}</td></tr>",
            anchor(&record.id),
            record.id,
            if record.has_stand_in() { " <span class=\"warn\">stand-in data</span>" } else { "" },
            escape(&record.claim),
            badge(done),
            reference_words(comparison, done),
        );
    }
    html.push_str("</tbody>\n</table></div>\n");
}

/// The verdict on the claim of a figure; if it is neither shown nor refuted, with the reasons.
fn badge(done: &Done) -> String {
    let (verdict, reasons) = (done.verdict(), done.reasons());
    let class = if verdict.fails() {
        "bad"
    } else if verdict.holds() {
        "good"
    } else {
        "none"
    };
    let because = if reasons.is_empty() { String::new() } else { format!(": {}", reasons.join("; ")) };
    format!("<span class=\"{class}\">{}{because}</span>", done.words())
}

fn reference_words(comparison: &Comparison, done: &Done) -> String {
    match comparison {
        Comparison::Absent if done.is_comparable() => "none".into(),
        Comparison::Absent => "not compared (other data or seed)".into(),
        Comparison::Agrees { numbers } => format!("{numbers} numbers agree"),
        Comparison::Differs(found) => format!("<span class=\"bad\">{} numbers differ</span>", found.len()),
    }
}

fn section(html: &mut String, out: &Path, paper: &Paper, figures: &[Shown]) {
    let ours: Vec<&Shown> = of_paper(paper, figures).collect();
    if ours.is_empty() {
        return;
    }
    let _ = writeln!(html, "<section>\n<h2>{}</h2>", escape(paper.title));
    for shown in ours {
        article(html, out, shown);
    }
    html.push_str("</section>\n");
}

fn article(html: &mut String, out: &Path, Shown { done, comparison }: &Shown) {
    let record = &done.record;
    let _ = writeln!(
        html,
        "<article id=\"{}\">\n<h3>{} <span class=\"title\">{}</span></h3>",
        anchor(&record.id),
        record.id,
        escape(&record.title)
    );
    let _ = writeln!(html, "<p>{}.</p>", escape(&ndp_report::words::capital(&record.what)));
    if record.has_stand_in() {
        html.push_str(
            "<p class=\"warn\">Computed on a generated stand-in: the data set was not found.</p>\n",
        );
    }
    picture(html, out, record);
    for panel in record.panels.iter().filter_map(|panel| panel.get("table").map(|title| (panel, title))) {
        table(html, panel.0, panel.1.as_str().unwrap_or_default(), &done.rows);
    }
    if !record.claim.is_empty() {
        let _ = writeln!(
            html,
            "<p><b>Claim.</b> {} <b>Does it hold?</b> {}</p>",
            escape(&record.claim),
            badge(done)
        );
    }
    html.push_str("<ul>\n");
    for sentence in done.outcomes.iter().map(Outcome::sentence).chain(record.findings.iter().cloned()) {
        let _ = writeln!(html, "<li>{}</li>", escape(&sentence));
    }
    html.push_str("</ul>\n");
    html.push_str(&links::paragraph(out, record, &done.rows));
    let files: Vec<String> = record
        .files
        .iter()
        .cloned()
        .chain([format!("{}.json", record.id)])
        .map(|file| format!("<a href=\"{file}\">{}</a>", file.rsplit('/').next().unwrap_or(&file)))
        .collect();
    let sources: Vec<String> = record
        .provenance
        .iter()
        .map(|p| {
            format!(
                "{} {}, SHA-256 <code>{}</code>",
                if p.real { "real" } else { "stand-in" },
                escape(&p.name),
                p.sha256
            )
        })
        .collect();
    let _ = writeln!(
        html,
        "<details>\n<summary>Parameters, data, files</summary>\n<dl>\n{}{}\
         <dt>seed</dt><dd>{}</dd>\n<dt>time</dt><dd>{} s on {} threads{}</dd>\n<dt>data</dt><dd>{}</dd>\n\
         <dt>reference</dt><dd>{}</dd>\n<dt>by</dt><dd>{}</dd>\n<dt>function</dt><dd>{}</dd>\n<dt>files</dt><dd>{}</dd>\n\
         </dl>\n</details>\n</article>",
        definitions(record.parameters.iter()),
        definitions(record.notes.iter().chain(&record.run.measurements)),
        record.seed,
        round(record.run.seconds),
        record.run.threads,
        if done.kept { " (kept from an earlier run)" } else { "" },
        if sources.is_empty() { "none needed".into() } else { sources.join("<br>") },
        reference_words(comparison, done),
        theorems(&done.rows),
        module(out, &record.id),
        files.join(" · "),
    );
}

/// The picture within the page: vector graphics, whose points show their numbers, unless they are too large.
fn picture(html: &mut String, out: &Path, record: &Record) {
    let read = |ending: &str| std::fs::read(out.join(format!("{}.{ending}", record.id))).unwrap_or_default();
    let (title, svg) = (escape(&record.title), String::from_utf8(read("svg")).unwrap_or_default());
    let png = if svg.len() <= MAX_SVG { Vec::new() } else { read("png") };
    // In Base64, three bytes take four letters.
    let _ = if png.is_empty() || 3 * svg.len() <= 4 * png.len() {
        // The SVG namespace is known within a page.
        let svg = svg.replacen(" xmlns=\"http://www.w3.org/2000/svg\"", "", 1);
        let hint = if svg.contains("class=\"hints\"") { HINT } else { "" };
        let traced = traced::Traced::new(out, record);
        let (svg, files) = (traced.mark(&svg), traced.files.join(" "));
        writeln!(
            html,
            "<figure data-files=\"{files}\"><div role=\"img\" aria-label=\"{title}\">{svg}</div>{hint}</figure>"
        )
    } else {
        let bytes = BASE64_STANDARD.encode(&png);
        writeln!(html, "<figure><img alt=\"{title}\" src=\"data:image/png;base64,{bytes}\"></figure>")
    };
}

/// A panel that is a table, as text.
fn table(html: &mut String, panel: &serde_json::Value, title: &str, rows: &[Row]) {
    let rows: Vec<&Row> = rows.iter().filter(|row| row.panel == title).collect();
    let mut columns: Vec<(&str, &str)> = Vec::new();
    let mut lines: Vec<f64> = Vec::new();
    for row in &rows {
        if !columns.contains(&(&row.series, &row.grade)) {
            columns.push((&row.series, &row.grade));
        }
        if !lines.contains(&row.x) {
            lines.push(row.x);
        }
    }
    let names = panel["names"].as_array().cloned().unwrap_or_default();
    let name = |x: f64| {
        let found = names.iter().find(|pair| pair[0].as_f64() == Some(x)).and_then(|pair| pair[1].as_str());
        found.map_or_else(|| short(x), escape)
    };
    let _ = write!(
        html,
        "<h4>{}</h4>\n<div class=\"wide\" tabindex=\"0\"><table>\n<thead><tr><th>{}</th>",
        escape(title),
        escape(panel["rows"].as_str().unwrap_or_default())
    );
    for (series, grade) in &columns {
        let _ = write!(html, "<th>{}<br><small>{grade}</small></th>", escape(series));
    }
    html.push_str("</tr></thead>\n<tbody>\n");
    for x in lines {
        let _ = write!(html, "<tr><td>{}</td>", name(x));
        for (series, _) in &columns {
            let cell = rows.iter().find(|row| row.x == x && row.series == *series);
            let text = cell.map_or_else(String::new, |row| cell_text(row.y, row.low, row.high));
            let _ = write!(html, "<td>{text}</td>");
        }
        html.push_str("</tr>\n");
    }
    html.push_str("</tbody>\n</table></div>\n");
}

/// The functions and theorems by which the numbers of each grade hold.
fn theorems(rows: &[Row]) -> String {
    let named = rows.iter().filter(|row| !row.by.is_empty());
    let all: BTreeSet<(&str, &str)> = named.map(|row| (row.grade.as_str(), row.by.as_str())).collect();
    let lines: Vec<String> =
        all.iter().map(|(grade, by)| format!("{}: {}", escape(grade), escape(by))).collect();
    if lines.is_empty() { "no privacy numbers".into() } else { lines.join("<br>") }
}

fn definitions<'a>(pairs: impl Iterator<Item = (&'a String, &'a serde_json::Value)>) -> String {
    pairs
        .map(|(name, value)| {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            format!("<dt>{}</dt><dd>{}</dd>\n", escape(name), escape(&text))
        })
        .collect()
}

fn anchor(id: &str) -> String {
    id.replace('/', "-")
}

/// The module that computes a figure. It is a link to the module's page if `cargo doc` has made one, relative
/// to the root of the repository with `out` below it.
fn module(out: &Path, id: &str) -> String {
    let path = format!("ndp_experiments::figures::{}", id.replace('-', "_").replace('/', "::"));
    let page = format!("target/doc/{}/index.html", path.replace("::", "/"));
    let below = out.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    if below && Path::new(&page).is_file() {
        let up = "../".repeat(out.components().filter(|part| matches!(part, Component::Normal(_))).count());
        return format!("<a href=\"{up}{page}\"><code>{path}</code></a>");
    }
    format!("<code>{path}</code> (its page is made by <code>cargo doc</code>)")
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Larger vector graphics are embedded as pixels: thousands of nodes and edges make a page slow and large.
const MAX_SVG: usize = 200_000;

/// The text below a picture whose points show their numbers.
const HINT: &str = "<figcaption><output aria-live=\"polite\">Point at a mark for its numbers, click for its row in the table; or go from mark to mark with the arrow keys.</output></figcaption>";

/// What the page is about, for somebody who has never heard of it.
const QUESTION: &str = "<p>People who do not want to hand over their data can still compute together: each talks to a few \
others, adds some noise, and passes on what it has. Nobody is trusted with everything, so the question is about pairs: \
<em>what does one participant learn about another?</em></p>\n\
<figure class=\"small\"><svg viewBox=\"0 0 460 150\" role=\"img\" aria-label=\"Six participants in a ring; the observer v asks what \
it learns about u, three steps away\"><g fill=\"none\" stroke=\"#999\" stroke-width=\"1.5\"><path d=\"M80 75L150 30L250 30L320 75L250 \
120L150 120Z\"/></g><g fill=\"#fff\" stroke=\"#305ba6\" stroke-width=\"2\"><circle cx=\"150\" cy=\"30\" r=\"10\"/><circle cx=\"250\" \
cy=\"30\" r=\"10\"/><circle cx=\"250\" cy=\"120\" r=\"10\"/><circle cx=\"150\" cy=\"120\" r=\"10\"/></g><circle cx=\"80\" cy=\"75\" r=\"14\" \
fill=\"#305ba6\"/><circle cx=\"320\" cy=\"75\" r=\"14\" fill=\"#b02318\"/><g font-family=\"sans-serif\" font-size=\"13\" \
text-anchor=\"middle\" fill=\"#222\"><text x=\"80\" y=\"80\" fill=\"#fff\">u</text><text x=\"320\" y=\"80\" fill=\"#fff\">v</text><text \
x=\"40\" y=\"110\">its data</text><text x=\"392\" y=\"70\">an observer:</text><text x=\"392\" y=\"88\">what it heard</text></g></svg>\
<figcaption>The answer is a number, the loss of <i>u</i> towards <i>v</i>: 0 if <i>v</i> learns nothing; 1, a local loss, is \
what hearing <i>u</i>'s noisy value once tells. It can be more than 1. Some figures show the epsilon or mu that follows from it.</figcaption></figure>";

/// The four grades, with the strokes of the pictures.
const GRADES: &str = "<h2>Four grades</h2>\n<p>Every number about privacy has a grade. Only the first two are guarantees.</p>\n\
<dl class=\"grades\"><dt><svg viewBox=\"0 0 46 10\"><path d=\"M0 5H46\" stroke=\"#305ba6\" stroke-width=\"2.5\"/></svg> exact</dt><dd>equals \
the loss of what the observer sees</dd><dt><svg viewBox=\"0 0 46 10\"><path d=\"M0 5H46\" stroke=\"#005a50\" stroke-width=\"2.5\" \
stroke-dasharray=\"9 4\"/></svg> upper bound</dt><dd>proved: the loss is no larger</dd><dt><svg viewBox=\"0 0 46 10\"><path d=\"M0 5H46\" \
stroke=\"#b02318\" stroke-width=\"2.5\" stroke-dasharray=\"2.5 3\"/></svg> printed</dt><dd>what a paper says, true or not</dd><dt><svg \
viewBox=\"0 0 46 10\"><path d=\"M0 5H46\" stroke=\"#6f3fa0\" stroke-width=\"2.5\" stroke-dasharray=\"9 3 2 3\"/></svg> estimate</dt>\
<dd>simulated or approximated; guarantees nothing</dd></dl>";

/// The findings that a reader should know first; their numbers are those of `docs/findings-summary.md`.
const FINDINGS: &str = "<h2>Three findings</h2>\n<ol>\n\
<li>In gossip with noise at the start, what messages reveal does not simply add up: on a path of three nodes the printed loss \
is 1/3, the true one 1 (finding F1; see also <a href=\"#muffliato-fig1a\">muffliato/fig1a</a>, \
<a href=\"#beyond-exact-view\">beyond/exact-view</a>).</li>\n\
<li>In random walks several contributions that are seen together cost up to the square of their number: on a star the printed \
loss is 0.0139, the true one at least 0.356 (F8; see also <a href=\"#random-walk-fig1\">random-walk/fig1</a>).</li>\n\
<li>At the same loss of the worst pair, masks that cancel between neighbors and are designed for the graph err less than \
rounds of gossip with noise, on three graphs; all neighbors of a node together take its masks away \
(<a href=\"#beyond-protocols\">beyond/protocols</a>, <a href=\"#beyond-correlated\">beyond/correlated</a>).</li>\n</ol>\n\
<p>All findings, with small counterexamples and the tests that show them, are in <code>docs/findings.md</code>.</p>";

/// Shows below a picture the numbers of the mark that is pointed at, and after a click the row that has them.
/// The page says everything without it, too.
const SCRIPT: &str = "\
for(const f of document.querySelectorAll('figure')){const o=f.querySelector('output');if(!o)continue;let kept=o.textContent;\
const text=c=>c.querySelector('title').textContent,files=(f.dataset.files||'').split(' ');\
const keep=c=>{kept=o.textContent=text(c)+(text(c).startsWith('node ')?' · the observer is the marked node; no other one was computed here':'');if(!c.dataset.row)return;const [i,line]=c.dataset.row.split(':'),a=document.createElement('a');\
a.href=files[i];a.textContent=`line ${line} of ${files[i].split('/').pop()}`;o.append(' · ',a)};\
let held=null;f.addEventListener('mouseover',e=>{const c=e.target.closest('.hints circle');if(c)o.textContent=text(c);\
else if(!e.target.closest('output'))held?keep(held):o.textContent=kept});\
f.addEventListener('click',e=>{const c=e.target.closest('.hints circle');if(c)keep(held=c)});\
const marks=[...f.querySelectorAll('.hints circle')],view=f.querySelector('div');let at=-1;view.tabIndex=0;\
view.addEventListener('keydown',e=>{const step={ArrowRight:1,ArrowLeft:-1}[e.key];if(!step||!marks.length)return;\
e.preventDefault();marks[at]?.classList.remove('at');at=(at+step+marks.length)%marks.length;marks[at].classList.add('at');\
keep(held=marks[at])})}\
";

const STYLE: &str = "\
:root{color-scheme:light dark;--ink:#1c1c1c;--paper:#fdfdfc;--line:#d9d9d6;--soft:#666;--good:#17703a;--bad:#b3261e;\
--warn:#8a5a00;--link:#0b5fa5}\
@media(prefers-color-scheme:dark){:root{--ink:#e8e6e3;--paper:#171819;--line:#3a3c3e;--soft:#a3a3a0;--good:#6fcf97;\
--bad:#ff8a80;--warn:#ffc46b;--link:#7fbcf0}}\
*{box-sizing:border-box}body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,sans-serif}\
main{max-width:70rem;margin:0 auto;padding:1rem}h1{line-height:1.2}h2{margin-top:3rem;border-bottom:1px solid var(--line)}\
h3{margin-bottom:.3rem}.title{font-weight:normal;color:var(--soft)}a{color:var(--link)}\
.wide{overflow-x:auto}table{border-collapse:collapse;font-size:.9rem}th,td{text-align:left;vertical-align:top;\
padding:.35rem .7rem;border-bottom:1px solid var(--line)}th small{color:var(--soft);font-weight:normal}\
figure{margin:.7rem 0;overflow-x:auto;background:#fff;border:1px solid var(--line);border-radius:6px;padding:.4rem;text-align:center}\
figure img,figure div>svg{max-width:100%;min-width:min(40rem,100vw + 14rem);height:auto}figure.small{max-width:32rem}\
figcaption{color:#555;font-size:.85rem;text-align:left}figcaption output{font-variant-numeric:tabular-nums}.hints circle{cursor:pointer}\
.hints circle:hover,.hints circle.at{stroke:#d62828;stroke-width:2}:focus-visible{outline:3px solid var(--link);outline-offset:2px}\
.grades svg{width:2.9rem;height:.6rem;background:#fff}\
input[type=search]{font:inherit;padding:.25rem .5rem;margin-bottom:.5rem;width:min(24rem,100%)}th[aria-sort=ascending] button::after{content:\" ↑\"}\
th[aria-sort=descending] button::after{content:\" ↓\"}th button{font:inherit;font-weight:bold;\
background:none;border:0;padding:0;color:inherit;cursor:pointer;text-align:left}\
@media print{:root{--ink:#000;--paper:#fff;--line:#999;--soft:#444;--good:#17703a;--bad:#b3261e;--warn:#8a5a00;--link:#000}\
body{font-size:10.5pt}th button{display:contents}caption,thead{break-after:avoid}li,p{orphans:3;widows:3}\
figure div>svg,figure img{max-height:21cm;width:auto}details{display:none}\
input,figcaption output,nav{display:none}figure,tr,h3{break-inside:avoid}h2,h3,h4{break-after:avoid}main{max-width:none}\
.wide,figure{overflow:visible}figure div>svg,figure img{min-width:0}td:nth-child(2){min-width:0!important}}\
.links{font-size:.9rem;color:var(--soft)}td:nth-child(2){min-width:9rem}article{margin:1.5rem 0 2.5rem}\
.good{color:var(--good);font-weight:bold}.bad{color:var(--bad);font-weight:bold}.none{color:var(--soft)}\
.warn{color:var(--warn);font-weight:bold}summary{cursor:pointer}dl{display:grid;\
grid-template-columns:minmax(6rem,max-content) 1fr;gap:.15rem 1rem;font-size:.9rem}dt{color:var(--soft)}\
dd,code{overflow-wrap:anywhere}dd{margin:0}code{font-size:.85em}";

#[cfg(test)]
mod tests;
