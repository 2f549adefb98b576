//! A page in plain words that needs no other file and no network: sentences, tables and pictures. Its scripts
//! only sort and filter tables and show the viewer of a network; without them the page still says everything.

use crate::harmless::harmless;
use crate::viewer::{self, Viewer};
use ndp_account::Coverage;
use ndp_dp::Verdict;
use std::fmt::Write;

/// A page that is written from top to bottom.
///
/// # Examples
/// ```
/// use ndp_report::page::{Page, Tone};
/// let page = Page::new("Who learns what")
///     .verdict(Tone::Plain, "Nothing was asked.")
///     .text("Loss < 1 for everybody.")
///     .finish();
/// assert!(page.starts_with("<!DOCTYPE html>") && page.contains("Loss &lt; 1"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    body: String,
    title: String,
    /// The number of seconds after which a browser reloads the page.
    again: Option<u32>,
    /// Whether the page contains a viewer.
    walked: bool,
}

/// How good a verdict is.
///
/// Only [`Tone::of`] can make the good one: if the observers who were looked at keep a limit, that says
/// nothing good about the others.
///
/// # Examples
/// ```
/// use ndp_account::Coverage;
/// use ndp_dp::Verdict;
/// use ndp_report::page::{Page, Tone};
/// assert!(Page::new("Check").verdict(Tone::Bad, "The limit is exceeded.").finish().contains("bad"));
/// let (all, some) = (Coverage::All { nodes: 9 }, Coverage::Sample { looked_at: 2, nodes: 9, seed: None });
/// assert_eq!(Tone::of(Verdict::Met, &some), Tone::Bad);
/// assert!(Page::new("Check").verdict(Tone::of(Verdict::Met, &all), "It is kept.").finish().contains("good"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// What was asked for holds for all observers that the question is about.
    Good(Whole),
    /// It does not hold, or was not shown to hold.
    Bad,
    /// There is nothing to decide.
    Plain,
}

/// A proof that every observer of the question is covered; only [`Tone::of`] makes one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Whole(());

impl Tone {
    /// Good if a limit is met and `coverage` includes every observer that the question is about; bad
    /// otherwise.
    #[must_use]
    pub fn of(verdict: Verdict, coverage: &Coverage) -> Self {
        match coverage.verdict(verdict) {
            Verdict::Met if coverage.is_whole() => Self::Good(Whole(())),
            _ => Self::Bad,
        }
    }
}

impl Page {
    /// An empty page.
    #[must_use]
    pub fn new(title: &str) -> Self {
        Self {
            body: format!("<h1>{}</h1>\n", escape(title)),
            title: title.into(),
            again: None,
            walked: false,
        }
    }

    /// The same page, which a browser reloads after this many seconds; for a page that is rewritten while it
    /// is open.
    ///
    /// # Examples
    /// ```
    /// use ndp_report::page::Page;
    /// let page = Page::new("So far").refreshed_after(2).finish();
    /// assert!(page.contains("<meta http-equiv=\"refresh\" content=\"2\">"));
    /// ```
    #[must_use]
    pub fn refreshed_after(self, seconds: u32) -> Self {
        Self { again: Some(seconds), ..self }
    }

    /// The sentence that matters most, in a frame.
    #[must_use]
    pub fn verdict(self, tone: Tone, sentence: &str) -> Self {
        let class = match tone {
            Tone::Good(_) => "good",
            Tone::Bad => "bad",
            Tone::Plain => "plain",
        };
        self.raw(&format!("<p class=\"verdict {class}\">{}</p>\n", escape(sentence)))
    }

    /// A heading.
    #[must_use]
    pub fn section(self, title: &str) -> Self {
        self.raw(&format!("<h2>{}</h2>\n", escape(title)))
    }

    /// A paragraph.
    #[must_use]
    pub fn text(self, sentences: &str) -> Self {
        self.raw(&format!("<p>{}</p>\n", escape(sentences)))
    }

    /// A list of sentences; an empty list writes nothing.
    #[must_use]
    pub fn list<S: AsRef<str>>(self, items: &[S]) -> Self {
        if items.is_empty() {
            return self;
        }
        let items: String =
            items.iter().map(|item| format!("<li>{}</li>\n", escape(item.as_ref()))).collect();
        self.raw(&format!("<ul>\n{items}</ul>\n"))
    }

    /// A table with a header, or without one if all its names are empty; the first column holds names.
    #[must_use]
    pub fn table<S: AsRef<str>>(self, caption: &str, header: &[&str], rows: &[Vec<S>]) -> Self {
        let mut html =
            format!("<div class=\"wide\" tabindex=\"0\"><table><caption>{}</caption>\n", escape(caption));
        if header.iter().any(|name| !name.is_empty()) {
            html.push_str("<thead><tr>");
            for name in header {
                let _ = write!(html, "<th scope=\"col\">{}</th>", escape(name));
            }
            html.push_str("</tr></thead>\n");
        }
        html.push_str("<tbody>\n");
        for row in rows {
            html.push_str("<tr>");
            for (i, cell) in row.iter().enumerate() {
                let cell = escape(cell.as_ref());
                let _ = if i == 0 {
                    write!(html, "<th scope=\"row\">{cell}</th>")
                } else {
                    write!(html, "<td>{cell}</td>")
                };
            }
            html.push_str("</tr>\n");
        }
        html.push_str("</tbody></table></div>\n");
        self.raw(&html)
    }

    /// A picture as SVG, with a sentence that says what it shows.
    #[must_use]
    pub fn picture(self, svg: &str, caption: &str) -> Self {
        // An XML declaration is not allowed within a page.
        let svg = svg.find("<svg").map_or(svg, |at| &svg[at..]);
        let caption = escape(caption);
        self.raw(&format!(
            "<figure><div role=\"img\" aria-label=\"{caption}\">{svg}</div><figcaption>{caption}</figcaption></figure>\n"
        ))
    }

    /// A network with a choice of observers, see [`Viewer`]. If the graph is too large for a viewer, the page
    /// stays as it is.
    #[must_use]
    pub fn viewer(self, viewer: &Viewer) -> Self {
        match viewer.section() {
            Some(html) => Self { walked: true, ..self.raw(&html) },
            None => self,
        }
    }

    /// Text as a machine prints it, such as a command.
    #[must_use]
    pub fn code(self, text: &str) -> Self {
        self.raw(&format!("<pre>{}</pre>\n", escape(text)))
    }

    /// The whole page.
    #[must_use]
    pub fn finish(&self) -> String {
        let again = self.again.map_or_else(String::new, |seconds| {
            format!("<meta http-equiv=\"refresh\" content=\"{seconds}\">\n")
        });
        let walk = if self.walked { viewer::SCRIPT } else { "" };
        format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n{again}<title>{}</title>\n\
             <link rel=\"icon\" href=\"data:,\">\n<style>{STYLE}{}</style>\n</head>\n<body>\n<main>\n{}</main>\n\
             <script>\n{}{walk}</script>\n</body>\n</html>\n",
            escape(&self.title),
            viewer::STYLE,
            self.body,
            viewer::TABLES,
        )
    }

    fn raw(mut self, html: &str) -> Self {
        self.body.push_str(html);
        self
    }
}

/// The text with those characters escaped that have a meaning in HTML or control a terminal; line ends stay.
#[must_use]
pub fn escape(text: &str) -> String {
    let text = text.split('\n').map(harmless).collect::<Vec<_>>().join("\n");
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

const STYLE: &str = "body{font:16px/1.55 Georgia,serif;color:#222;background:#fff;margin:0}\
main{max-width:46rem;margin:2rem auto;padding:0 1rem;overflow-wrap:break-word}h1{font-size:1.6rem;line-height:1.25}\
h2{font-size:1.15rem;margin:2rem 0 .4rem;border-bottom:1px solid #ccc}\
.verdict{padding:.8rem 1rem;border-left:.4rem solid #888;background:#f4f4f4;font-size:1.05rem}\
.verdict.good{border-color:#2a7a3b}.verdict.bad{border-color:#b3261e}\
.wide{overflow-x:auto}table{border-collapse:collapse;margin:1rem 0;font-size:.92rem}caption{text-align:left;font-style:italic}\
th,td{padding:.2rem .7rem;border-bottom:1px solid #ddd;text-align:right;font-weight:normal}\
th:first-child,thead th{text-align:left}td{font-variant-numeric:tabular-nums}thead th{border-bottom:2px solid #888}\
figure{margin:1.2rem 0}figure svg{max-width:100%;height:auto}figcaption{font-size:.9rem;color:#555}\
pre{background:#f4f4f4;padding:.6rem .8rem;overflow-x:auto;font-size:.85rem;white-space:pre-wrap;overflow-wrap:anywhere}\
@media (max-width:30rem){main{margin:1rem auto}th,td{padding:.2rem .35rem}h1{font-size:1.35rem}}\
@media (prefers-color-scheme:dark){body{color:#ddd;background:#16181b}h2{border-color:#444}.verdict,pre{background:#24272b}\
th,td{border-color:#3a3d42}figcaption{color:#aaa}figure svg{background:#fff}\
input,select{color-scheme:dark}}\
@media print{body{color:#000;background:#fff}main{max-width:none;margin:0}.verdict,pre{background:none;border:1px solid #888}\
h2,caption,thead{break-after:avoid}figure,tr,.verdict{break-inside:avoid}.wide{overflow:visible}\
th button{display:contents}figure svg{max-height:20cm;width:auto}}";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_complete_and_nothing_in_it_is_markup_by_accident() {
        let page = Page::new("a <b>")
            .verdict(Tone::Bad, "x & y")
            .section("s")
            .text("<script>")
            .list(&["one", "two"])
            .list::<&str>(&[])
            .table("t", &["name", "n"], &[vec!["a\"b", "1"]])
            .picture("<?xml version=\"1.0\"?><svg></svg>", "what")
            .code("ndp loss <file>")
            .finish();
        assert!(page.starts_with("<!DOCTYPE html>") && page.contains("<title>a &lt;b&gt;</title>"));
        assert!(
            page.contains("&lt;script&gt;")
                && page.matches("<script").count() == 1
                && !page.contains("<?xml")
        );
        assert!(page.contains("a&quot;b") && page.matches("<li>").count() == 2);
        // The page loads nothing; dark screens, small screens and paper have rules of their own.
        assert!(!page.contains("http") && !page.contains("src=") && !page.contains("ndp-viewer\""));
        for medium in ["prefers-color-scheme:dark", "max-width:30rem", "@media print"] {
            assert!(page.contains(medium), "{medium}");
        }
    }
}
