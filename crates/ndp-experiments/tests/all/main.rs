//! The programs of the figures as processes.
//!
//! All in one program: each program more is linked and started for itself.
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a test may panic, and says what it skips")]

mod command_line;
mod grades;
mod real_data;
mod report_in_browser;
mod schemas;
