//! Every figure and table of five papers on decentralized privacy, reproduced beside what is true.

#[expect(dead_code, reason = "the figures that fill these types come next")]
mod figure;

fn main() {}
