//! `cargo xtask bench`: run the benchmarks, then compare them with the goals.

mod report;

use crate::flags::Bench;
use anyhow::Context;
use serde_json::Value;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use xshell::{Shell, cmd};

/// A piece of work, the quantity measured, and the goal for it.
struct Goal {
    work: &'static str,
    measure: Measure,
    goal: f64,
}

/// The quantity that is compared with a goal. Names are those of the benchmarks.
enum Measure {
    /// Median time in seconds, at most the goal.
    Seconds(&'static str),
    /// Peak memory of the process that did the work, in GB, at most the goal.
    Gigabytes(&'static str),
    /// Time of the first divided by the time of the second, at most the goal.
    AtMost(&'static str, &'static str),
    /// Time of the first divided by the time of the second, at least the goal.
    AtLeast(&'static str, &'static str),
}

/// The goals that a benchmark measures, in the order of the crates.
const GOALS: &[Goal] = &[
    Goal {
        work: "log matrix, n = 2048, over the eigensolver alone",
        measure: Measure::AtMost(
            "log_matrix_erdos_renyi_2048/from_matrix",
            "log_matrix_erdos_renyi_2048/eigensolver",
        ),
        goal: 1.15,
    },
    Goal {
        work: "printed sum, all pairs, hypercube 2048, T = 100",
        measure: Measure::Seconds("printed_all_pairs_hypercube_2048_T100/2_threads"),
        goal: 0.35,
    },
    Goal {
        work: "the same, 1 thread over 2 threads",
        measure: Measure::AtLeast(
            "printed_all_pairs_hypercube_2048_T100/1_threads",
            "printed_all_pairs_hypercube_2048_T100/2_threads",
        ),
        goal: 1.7,
    },
    Goal {
        work: "the same, operand bandwidth over a triad in L2, 1 thread",
        measure: Measure::AtLeast(
            "l2_triad/as_many_bytes_as_the_printed_sum",
            "printed_all_pairs_hypercube_2048_T100/1_threads",
        ),
        goal: 0.7,
    },
    Goal {
        work: "exact loss, one observer, hypercube 2048",
        measure: Measure::Seconds("exact_loss_hypercube_2048_T19/one_observer"),
        goal: 0.1,
    },
    Goal {
        work: "exact loss, all observers, hypercube 2048",
        measure: Measure::Seconds("once/exact_losses_hypercube_2048_T19"),
        goal: 10.0,
    },
    Goal {
        work: "exact loss, all observers, Erdős–Rényi 2048, T = 19",
        measure: Measure::Seconds("once/exact_losses_erdos_renyi_2048_T19"),
        goal: 30.0,
    },
    Goal {
        work: "printed column, Erdős–Rényi 10^6, degree 10, T = 50",
        measure: Measure::Seconds("once/printed_column_erdos_renyi_1e6_T50"),
        goal: 6.0,
    },
    Goal {
        work: "exact loss, one observer, grid 10^6, T = 30",
        measure: Measure::Seconds("once/exact_loss_grid_1e6_T30"),
        goal: 0.5,
    },
    Goal {
        work: "exact loss, one observer, Erdős–Rényi 10^6, T = 30",
        measure: Measure::Seconds("once/exact_loss_erdos_renyi_1e6_T30"),
        goal: 60.0,
    },
    Goal {
        work: "peak memory of that",
        measure: Measure::Gigabytes("once/exact_loss_erdos_renyi_1e6_T30"),
        goal: 12.0,
    },
    Goal {
        work: "renewal accountant, n = 2048, T = 10^4, from given laws",
        measure: Measure::Seconds("renewal/all_depths_from_laws/n2048_t10000_alpha2_sigma2"),
        goal: 0.05,
    },
    Goal {
        work: "renewal accountant, n = 2048, T = 10^4, with the laws",
        measure: Measure::Seconds("renewal/all_depths_with_laws/n2048_t10000"),
        goal: 0.15,
    },
    Goal {
        work: "law of a path's cost, hypercube 2048, T = 10^4: first epsilon",
        measure: Measure::Seconds("cost_law/first_epsilon/n2048_t10000_v2047"),
        goal: 5.0,
    },
    Goal {
        work: "the same: any epsilon after that",
        measure: Measure::Seconds("cost_law/any_epsilon/n2048_t10000_v2047"),
        goal: 0.001,
    },
    Goal {
        work: "sampled Gaussian, 1,000 times, both ends, one direction",
        measure: Measure::Seconds("loss_law/sampled_gaussian/1000"),
        goal: 0.1,
    },
    Goal {
        work: "sampled Gaussian, 10^6 times, both ends, one direction",
        measure: Measure::Seconds("loss_law/sampled_gaussian/1000000"),
        goal: 3.0,
    },
    Goal {
        work: "meter, 100 nodes, D-SGD: a round for one observer",
        measure: Measure::Seconds("meter_a_round_100_nodes_one_observer"),
        goal: 0.002,
    },
    Goal {
        work: "the same for all observers",
        measure: Measure::Seconds("meter_a_round_100_nodes_all_observers"),
        goal: 0.2,
    },
    Goal {
        work: "accounting of one walk on 100 nodes (network-dp/fig1b)",
        measure: Measure::Seconds("fig1b_one_walk/as_released/100"),
        goal: 0.01,
    },
    Goal {
        work: "private walk SGD, 20000 steps, 16512x8, 200 evaluations",
        measure: Measure::Seconds("walk_sgd_20000_steps_16512x8_200_evaluations"),
        goal: 0.01,
    },
];

impl Bench {
    #[expect(clippy::print_stdout, reason = "this is the command line")]
    pub(crate) fn run(self, sh: &Shell) -> anyhow::Result<()> {
        let target =
            std::env::var_os("CARGO_TARGET_DIR").map_or(sh.current_dir().join("target"), PathBuf::from);
        let results = target.join("criterion");
        if self.large || self.report {
            sh.set_var("NDP_BENCH_ONCE", results.join("once"));
        }
        let filter = if self.report { Some(self.filter.unwrap_or_else(named)) } else { self.filter };
        cmd!(sh, "cargo bench --package ndp-benches -- {filter...}").run()?;
        println!("\n{}", table(&results)?);
        if self.report {
            report::write(sh, &results)?;
        }
        Ok(())
    }
}

/// A regular expression for the benchmarks of all goals. The names of their folders have `_` for `/`.
fn named() -> String {
    let names = GOALS.iter().flat_map(|goal| match goal.measure {
        Measure::Seconds(name) | Measure::Gigabytes(name) => [Some(name), None],
        Measure::AtMost(a, b) | Measure::AtLeast(a, b) => [Some(a), Some(b)],
    });
    let names: Vec<String> = names.flatten().map(|name| name.replace('_', ".")).collect();
    names.join("|")
}

/// All goals with the newest measurements, including those of earlier runs.
fn table(results: &Path) -> anyhow::Result<String> {
    let mut table = format!("{:<62} {:>10} {:>10} {:>7}\n", "work", "measured", "goal", "ratio");
    for row in rows(results)? {
        let Row { work, measured, goal, ratio, missed } = row;
        writeln!(
            table,
            "{work:<62} {measured:>10} {goal:>10} {ratio:>7}{}",
            if missed { "  missed" } else { "" }
        )?;
    }
    table.push_str("-: not measured yet; `cargo xtask bench --large` measures everything\n");
    Ok(table)
}

/// A goal beside what was measured, in words; a dash where nothing was.
struct Row {
    work: &'static str,
    measured: String,
    goal: String,
    ratio: String,
    missed: bool,
}

fn rows(results: &Path) -> anyhow::Result<Vec<Row>> {
    let row = |Goal { work, measure, goal }: &Goal| {
        let (value, unit, meets): (_, _, fn(f64) -> bool) = match measure {
            Measure::Seconds(name) => (seconds(results, name)?, "s", |ratio| ratio <= 1.0),
            Measure::Gigabytes(name) => {
                (number(results, name, "/peak/gigabytes")?, "GB", |ratio| ratio <= 1.0)
            }
            Measure::AtMost(a, b) => (quotient(results, a, b)?, "", |ratio| ratio <= 1.0),
            Measure::AtLeast(a, b) => (quotient(results, a, b)?, "", |ratio| ratio >= 1.0),
        };
        let ratio = value.map(|value| value / goal);
        let digits = if value.is_some_and(|value| value < 0.01) { 6 } else { 3 };
        anyhow::Ok(Row {
            work,
            measured: value.map_or("-".into(), |value| format!("{value:.digits$} {unit}").trim().into()),
            goal: format!("{goal} {unit}").trim().into(),
            ratio: ratio.map_or("-".into(), |ratio| format!("{ratio:.2}")),
            missed: ratio.is_some_and(|ratio| !meets(ratio)),
        })
    };
    GOALS.iter().map(row).collect()
}

fn quotient(results: &Path, a: &str, b: &str) -> anyhow::Result<Option<f64>> {
    Ok(seconds(results, a)?.zip(seconds(results, b)?).map(|(a, b)| a / b))
}

fn seconds(results: &Path, name: &str) -> anyhow::Result<Option<f64>> {
    Ok(number(results, name, "/median/point_estimate")?.map(|nanoseconds| nanoseconds * 1e-9))
}

/// A number of the newest results of a benchmark, if it ever ran and has that number.
fn number(results: &Path, name: &str, pointer: &str) -> anyhow::Result<Option<f64>> {
    let file = results.join(name).join("new/estimates.json");
    if !file.exists() {
        return Ok(None);
    }
    let text = std::fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
    let json: Value =
        serde_json::from_str(&text).with_context(|| format!("{} is not JSON", file.display()))?;
    Ok(json.pointer(pointer).and_then(Value::as_f64))
}
