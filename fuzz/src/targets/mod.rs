//! All targets, by crate.

mod algos;
mod dp;
mod graph;
mod graphs;
mod laws;
mod ledgers;
mod numeric;
mod programs;
mod report;

use crate::target::Target;

/// Every target, by the order of the crates.
pub(crate) fn all() -> Vec<&'static Target> {
    [
        numeric::ALL,
        graph::PARSERS,
        graphs::PARSERS,
        graphs::ALL,
        dp::ALL,
        laws::ALL,
        ledgers::ALL,
        programs::PARSERS,
        programs::CALLS,
        programs::ALL,
        algos::PARSERS,
        algos::NAMED,
        algos::ALL,
        report::PARSERS,
        report::ALL,
    ]
    .into_iter()
    .flatten()
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_unique_and_every_parser_has_a_corpus() {
        let all = all();
        let names: BTreeSet<&str> = all.iter().map(|target| target.name()).collect();
        assert_eq!(names.len(), all.len());
        for target in all {
            let texts = target.corpus.map(crate::corpus::read);
            assert!(texts.is_none_or(|texts| !texts.is_empty()), "{} has no corpus", target.name());
        }
    }
}
