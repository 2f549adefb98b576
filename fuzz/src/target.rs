//! What is called: a parser with its corpus, or a function of numbers.

use crate::input::{Ending, Input};

/// Something that is called with whatever fits its types.
pub(crate) struct Target {
    /// The items of the public interface that it covers, as `docs/surface` lists them: crate and path; the
    /// first is its name.
    pub(crate) items: &'static [&'static str],
    /// The folder of its corpus below `corpus`, for a parser; a function of numbers has none.
    pub(crate) corpus: Option<&'static str>,
    /// The most bytes that a run may hold.
    pub(crate) memory: usize,
    /// One run.
    pub(crate) run: fn(&mut Input<'_>) -> Ending,
}

impl Target {
    pub(crate) fn name(&self) -> &'static str {
        self.items.first().copied().unwrap_or_default()
    }

    /// A function of numbers, which holds at most 256 MiB.
    pub(crate) const fn function(item: &'static [&'static str], run: fn(&mut Input<'_>) -> Ending) -> Self {
        Self { items: item, corpus: None, memory: 256 << 20, run }
    }

    /// A parser, which holds at most 256 MiB.
    pub(crate) const fn parser(
        corpus: &'static str,
        items: &'static [&'static str],
        run: fn(&mut Input<'_>) -> Ending,
    ) -> Self {
        Self { items, corpus: Some(corpus), memory: 256 << 20, run }
    }

    /// The same with another limit in MiB.
    pub(crate) const fn holding(mut self, mebibytes: usize) -> Self {
        self.memory = mebibytes << 20;
        self
    }
}

/// A table of functions: each item of the interface and how it is called.
macro_rules! functions {
    ($($item:literal => $run:expr),* $(,)?) => {
        &[$($crate::target::Target::function(&[$item], $run)),*]
    };
}
pub(crate) use functions;
