//! The report of all figures needs no other file; and in a real browser all pictures load, nothing is missing
//! and no error is reported, in wide and narrow windows, in light and dark colours.
//!
//! If no Chromium is installed, the test says so and only reads the page.

use ndp_experiments::registry;
use std::path::Path;
use std::process::Command;

const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// A script that reports the state of the page once it is loaded.
const PROBE: &str = "<script>addEventListener('load', () => { \
    const images = [...document.images]; \
    document.body.dataset.loaded = images.filter(i => i.complete && i.naturalWidth > 0).length; \
    document.body.dataset.images = images.length; \
    document.body.dataset.paper = getComputedStyle(document.body).backgroundColor; \
    const figure = [...document.querySelectorAll('figure')].find(f => f.querySelector('.hints')); \
    figure.querySelector('div').dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowRight'})); \
    const first = figure.querySelector('.hints title').textContent; \
    const told = figure.querySelector('output'), row = told.querySelector('a'); \
    document.body.dataset.keys = told.textContent.startsWith(first); \
    document.body.dataset.row = !!row && /^line \\d+ of /.test(row.textContent) && row.getAttribute('href').endsWith('.csv'); \
    const claims = document.querySelector('table:not(.ndp-rows)'); claims.querySelector('th:nth-child(3) button').click(); \
    const third = [...claims.tBodies[0].rows].map(r => r.cells[2].textContent); \
    document.body.dataset.sorted = third.length > 5 && third.every((t, i) => !i || third[i - 1].localeCompare(t) <= 0); \
    document.body.dataset.wide = document.documentElement.scrollWidth > innerWidth; });</script>";

/// The page as the browser shows it in a window of this width, and the browser's messages. Chromium numbers
/// the dark scheme 0.
fn open(browser: &str, page: &Path, width: u32, scheme: u32, profile: &Path) -> (String, String) {
    let output = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--dump-dom"])
        .arg("--virtual-time-budget=10000")
        .arg(format!("--blink-settings=preferredColorScheme={scheme}"))
        .arg(format!("--window-size={width},900"))
        .arg(format!("--user-data-dir={}", profile.display()))
        .arg(format!("file://{}", page.display()))
        .output()
        .unwrap();
    (String::from_utf8_lossy(&output.stdout).into(), String::from_utf8_lossy(&output.stderr).into())
}

/// The values of an attribute, in the order of the page.
fn attributes<'a>(html: &'a str, name: &str) -> Vec<&'a str> {
    let start = format!(" {name}=\"");
    html.split(&start).skip(1).map(|rest| rest.split('"').next().unwrap()).collect()
}

#[test]
fn every_figure_is_there_and_the_console_is_silent() {
    let folder = std::env::temp_dir().join(format!("ndp-browser-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let run = Command::new(env!("CARGO_BIN_EXE_ndp-experiments"))
        .current_dir(&folder)
        .env_remove("NDP_DATA")
        .arg("--quick")
        .output()
        .unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let out = folder.join("out");
    let html = std::fs::read_to_string(out.join("report.html")).unwrap();
    let pictures = attributes(&html, "src");
    // Small pictures are part of the page, so that their points can be pointed at; large ones are pixels.
    let drawn = html.matches("><div role=\"img\"").count();
    assert!(drawn > 0 && html.matches("class=\"hints\"").count() > 0);
    assert_eq!(pictures.len() + drawn, registry::all().count());
    for picture in pictures.iter() {
        assert!(picture.starts_with("data:image/png;base64,iVBORw0KGgo") && picture.len() > 1000);
    }
    let places = attributes(&html, "id");
    for link in attributes(&html, "href") {
        let there = match link.strip_prefix('#') {
            Some(place) => places.contains(&place),
            None => link.starts_with("data:") || out.join(link).is_file(),
        };
        assert!(there, "{link}");
    }
    for entry in registry::all() {
        assert!(html.contains(&format!("<a href=\"#{}\">{}</a>", entry.id.replace('/', "-"), entry.id)));
    }
    assert!(html.contains("prefers-color-scheme:dark") && html.contains("width=device-width"));

    let found = BROWSERS.into_iter().find(|name| Command::new(name).arg("--version").output().is_ok());
    let Some(browser) = found else {
        println!("no Chromium here: the page was read, not opened");
        return;
    };
    let probed = out.join("probed.html");
    std::fs::write(&probed, html.replace("</body>", &format!("{PROBE}</body>"))).unwrap();
    let count = pictures.len();
    for (width, scheme, paper) in [(1200, 1, "rgb(253, 253, 252)"), (500, 0, "rgb(23, 24, 25)")] {
        let (dom, said) = open(browser, &probed, width, scheme, &folder.join("profile"));
        assert!(dom.contains(&format!("data-loaded=\"{count}\"")), "{said}");
        assert!(dom.contains(&format!("data-images=\"{count}\"")));
        assert!(dom.contains("data-keys=\"true\""), "an arrow key tells the numbers of the first mark");
        assert!(dom.contains("data-row=\"true\""), "a mark leads to its row");
        assert!(dom.contains("data-sorted=\"true\""), "a click on a heading sorts the table");
        assert!(dom.contains(&format!("data-paper=\"{paper}\"")), "{width}: not {paper}");
        // Wide tables and pictures scroll within the page; the page itself does not.
        assert!(dom.contains("data-wide=\"false\""), "wider than a window of {width}");
        let complaint = said.lines().find(|line| line.contains("CONSOLE") || line.contains("ERR_"));
        assert_eq!(complaint, None);
    }
    std::fs::remove_dir_all(folder).unwrap();
}
