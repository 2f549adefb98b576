//! `ndp-experiments <figure|all> [--quick]`: computes figures and writes them to a folder.

mod bless;
mod flags;
mod reproduce;

fn main() -> anyhow::Result<()> {
    match flags::NdpExperiments::from_env_or_exit().subcommand {
        flags::NdpExperimentsCmd::Reproduce(command) => command.run(),
        flags::NdpExperimentsCmd::Bless(command) => command.run(),
    }
}

#[expect(clippy::print_stdout, reason = "this is the command line")]
fn print_line(line: &str) {
    println!("{line}");
}
