//! `ndp-report`: numbers and names as texts, tables that are read back; and the files of the command `ndp`.

use super::dp::measure;
use crate::input::{Ending, Input, Stop};
use crate::sound::{require, returned};
use crate::target::{Target, functions};
use ndp_report::figure::Kind;
use ndp_report::{correlation, harmless, page, plot, stamp, table, words};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

/// A folder of this process, which the next run writes over.
fn folder() -> Result<PathBuf, Stop> {
    let folder = env::temp_dir().join(format!("ndp-fuzz-{}", std::process::id()));
    fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// A table that was read is that of a figure, or refused.
fn csv(i: &mut Input<'_>) -> Ending {
    let path = folder()?.join("table.csv");
    fs::write(&path, i.rest())?;
    match table::read(&path) {
        Ok(rows) => returned(rows.len()),
        Err(why) => require(!why.is_empty(), || "an error without a text".to_owned()).and(Err(Stop::Refused)),
    }
}

/// The command `ndp` beside this program with these arguments: it answers or refuses, and never panics.
fn ndp(folder: &Path, arguments: &[&str]) -> Ending {
    let program = env::current_exe()?.with_file_name("ndp");
    let mut command = Command::new(program);
    command.current_dir(folder).args(arguments).env("RUST_BACKTRACE", "0").stdin(Stdio::null());
    let output = command.output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    // 101 is a panic; no code is a signal.
    let code = output.status.code();
    require(matches!(code, Some(0..=4)), || format!("ndp ends with {code:?}: {}", said.replace('\n', " ")))?;
    require(code == Some(0) || !said.is_empty(), || "a refusal without a word".to_owned())?;
    if code == Some(0) { Ok(()) } else { Err(Stop::Refused) }
}

/// A study of the command, beside a graph.
fn study(i: &mut Input<'_>) -> Ending {
    let folder = folder()?;
    fs::write(folder.join("g"), "0 1\n1 2\n2 0\n")?;
    // Outputs that a study names land in the folder only where their names are relative and plain.
    let text: Vec<u8> = i.rest().iter().copied().filter(|byte| !b"/\\".contains(byte)).collect();
    fs::write(folder.join("study.toml"), text)?;
    ndp(&folder, &["run", "study.toml", "--quiet"])
}

/// Limits for pairs.
fn pairs(i: &mut Input<'_>) -> Ending {
    let folder = folder()?;
    fs::write(folder.join("g"), "0 1\n1 2\n2 0\n")?;
    fs::write(folder.join("limits"), i.rest())?;
    ndp(&folder, &["loss", "g", "--noise", "1", "--pairs", "limits", "--all"])
}

/// Values of nodes for a run.
fn values(i: &mut Input<'_>) -> Ending {
    let folder = folder()?;
    fs::write(folder.join("g"), "0 1\n1 2\n2 0\n")?;
    fs::write(folder.join("values"), i.rest())?;
    ndp(&folder, &["simulate", "g", "--noise", "1", "--values", "values"])
}

/// A graph that the command shows.
fn shown(i: &mut Input<'_>) -> Ending {
    let folder = folder()?;
    fs::write(folder.join("any"), i.rest())?;
    ndp(&folder, &["graph", "any", "--skip-columns", "--symmetric"])
}

/// A proof file: it proves something, of no pair only that nothing is lost, or is rejected with a reason.
fn proof(i: &mut Input<'_>) -> Ending {
    match ndp_check::check(i.rest()) {
        Ok(proved) => {
            let something = proved.pairs > 0 || proved.largest.to_string() == "0";
            require(something, || "a loss of no pair".to_owned())
        }
        Err(why) => require(!why.to_string().is_empty(), || "an error without a text".to_owned())
            .and(Err(Stop::Refused)),
    }
}

pub(super) const PARSERS: &[Target] = &[
    Target::parser("proof", &["command ndp-check"], proof),
    Target::parser("figure-csv", &["ndp-report table::read", "ndp-report table::parse"], csv),
    Target::parser("study", &["command ndp run"], study),
    Target::parser("pairs", &["command ndp --pairs"], pairs),
    Target::parser("values", &["command ndp --values"], values),
    Target::parser("graph-file", &["command ndp graph"], shown),
];

fn reads_back(x: f64, text: &str) -> Ending {
    if x.is_nan() {
        return returned(text.len());
    }
    let read: Result<f64, _> = text.parse();
    require(read.is_ok_and(|read| read == x), || format!("{text} for {x:e}"))
}

/// No character that a page could take for its own.
fn plain(text: &str) -> Ending {
    require(!text.contains(['<', '>', '"']), || format!("{text:?} on a page"))
}

pub(super) const ALL: &[Target] = functions! {
    "ndp-report correlation::pearson" => |i| {
        let pairs: Vec<(f64, f64)> = i.reals(6).into_iter().map(|x| (x, i.real())).collect();
        returned(correlation::pearson(&pairs))
    },
    "ndp-report correlation::ranks" => |i| {
        let pairs: Vec<(f64, f64)> = i.reals(6).into_iter().map(|x| (x, i.real())).collect();
        require(correlation::ranks(&pairs).len() <= pairs.len(), || "more ranks than pairs".to_owned())
    },
    "ndp-report harmless::harmless" => |i| {
        let text = i.text();
        let shown = harmless::harmless(&text);
        require(!shown.contains(char::is_control), || format!("{shown:?}"))
    },
    "ndp-report page::escape" => |i| plain(&page::escape(&i.text())),
    "ndp-report table::number" => |i| {
        let x = i.real();
        reads_back(x, &table::number(x))
    },
    "ndp-report table::text" => |i| {
        let row: Vec<String> = (0..3).map(|_| i.text()).collect();
        require(table::text(&["a", "b", "c"], &[row]).starts_with("a,b,c\n"), || "no header".to_owned())
    },
    "ndp-report plot::table::short" => |i| require(!plot::table::short(i.real()).is_empty(), || "no text".to_owned()),
    "ndp-report plot::table::cell_text" => |i| {
        let (low, high) = (i.real(), i.real());
        returned(plot::table::cell_text(i.real(), Some(low), Some(high)))
    },
    "ndp-report stamp::svg" => |i| returned(stamp::svg("<svg></svg>", &i.text())),
    "ndp-report stamp::png" => |i| {
        let (key, text) = (i.text(), i.text());
        returned(stamp::png(i.rest(), &key, &text))
    },
    "ndp-report figure::kind::Kind::from_word" => |i| {
        let word = i.text();
        require(Kind::from_word(&word).is_none_or(|kind| kind.as_str() == word), || word.clone())
    },
    "ndp-report words::capital" => |i| returned(words::capital(&i.text())),
    "ndp-report words::coalitions" => |i| returned(words::coalitions(i.size(99), i.size(99), i.choice(2) == 0)),
    "ndp-report words::down" => |i| returned(words::down(i.real())),
    "ndp-report words::up" => |i| returned(words::up(i.real())),
    "ndp-report words::number" => |i| returned(words::number(i.real())),
    "ndp-report words::guesses" => |i| returned(words::guesses(i.real())),
    "ndp-report words::out_of_time" => |i| returned(words::out_of_time(i.place(9), i.place(9), Some(i.real()))),
    "ndp-report words::out_of_work" => |i| returned(words::out_of_work(i.place(9), i.place(9), Some(i.real()))),
    "ndp-report words::terms::left" => |i| {
        let least = i.real();
        returned(words::left(least, measure(i)?))
    },
    "ndp-report words::terms::of_training" => |i| returned(words::of_training(&i.text(), i.real(), i.real())),
    "ndp-report verdict::outcome::round" => |i| returned(ndp_report::verdict::round(i.real())),
};
