//! The report in a real browser: all pictures load, nothing is missing, nothing complains.
//!
//! Where no Chromium is installed the test says so and checks nothing.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test may panic, and says when it is skipped")]

use std::path::Path;
use std::process::Command;

const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// What the page says of itself once it is loaded.
const PROBE: &str = "<script>addEventListener('load', () => { \
    const images = [...document.images]; \
    document.body.dataset.loaded = images.filter(i => i.complete && i.naturalWidth > 0).length; \
    document.body.dataset.images = images.length; \
    document.body.dataset.wide = document.documentElement.scrollWidth > innerWidth; });</script>";

/// The page as the browser sees it in a window this wide, and what it said.
fn open(browser: &str, page: &Path, width: u32, profile: &Path) -> (String, String) {
    let output = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--dump-dom"])
        .arg("--virtual-time-budget=10000")
        .arg(format!("--window-size={width},900"))
        .arg(format!("--user-data-dir={}", profile.display()))
        .arg(format!("file://{}", page.display()))
        .output()
        .unwrap();
    (String::from_utf8_lossy(&output.stdout).into(), String::from_utf8_lossy(&output.stderr).into())
}

#[test]
fn every_picture_loads_and_the_console_is_silent() {
    let found = BROWSERS.into_iter().find(|name| Command::new(name).arg("--version").output().is_ok());
    let Some(browser) = found else {
        println!("skipped: no Chromium here");
        return;
    };
    let folder = std::env::temp_dir().join(format!("ndp-browser-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let run = Command::new(env!("CARGO_BIN_EXE_ndp-experiments"))
        .current_dir(&folder)
        .env_remove("NDP_DATA")
        .args(["muffliato/fig3", "--quick"])
        .output()
        .unwrap();
    assert!(run.status.success());
    let html = std::fs::read_to_string(folder.join("out/report.html")).unwrap();
    let pictures = html.matches("<img ").count();
    assert!(pictures >= 1);
    let probed = folder.join("out/probed.html");
    std::fs::write(&probed, html.replace("</body>", &format!("{PROBE}</body>"))).unwrap();
    for width in [1200, 500] {
        let (dom, said) = open(browser, &probed, width, &folder.join("profile"));
        assert!(dom.contains(&format!("data-loaded=\"{pictures}\"")), "{said}");
        assert!(dom.contains(&format!("data-images=\"{pictures}\"")));
        // Wide tables and pictures scroll within the page; the page itself does not.
        assert!(dom.contains("data-wide=\"false\""), "wider than a window of {width}");
        let complaint = said.lines().find(|line| line.contains("CONSOLE") || line.contains("ERR_"));
        assert_eq!(complaint, None);
    }
    std::fs::remove_dir_all(folder).unwrap();
}
