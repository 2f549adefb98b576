//! Tests that run the programs of the figures as processes.
//!
//! All tests are in one program, because every further program is linked and started separately.
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a test may panic, and says what it skips")]

mod command_line;
mod grades;
mod real_data;
mod report_in_browser;
mod schemas;
