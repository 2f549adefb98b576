//! The chores of the workspace: `cargo xtask reproduce`, `test`, `bench`, `ci`, `tidy`, `bless`.

fn main() {}
