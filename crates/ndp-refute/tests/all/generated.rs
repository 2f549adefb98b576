//! The tests that the refuter hands out, word for word: they compile and pass.

use ndp_refute::{Error, Expression, Finding, Outcome, refute};

macro_rules! handed_out {
    ($($module:ident: $number:literal,)*) => {
        $(#[rustfmt::skip] mod $module;)*

        #[test]
        fn the_tests_are_those_of_today() -> Result<(), Error> {
            $(assert_eq!(written($number)?, include_str!(concat!("generated/", stringify!($module), ".rs")));)*
            Ok(())
        }
    };
}

handed_out! {
    each: 1,
    mean: 8,
    pairs: 11,
    walk: 34,
}

/// The test of a finding.
fn written(number: usize) -> Result<String, Error> {
    let finding = Finding::numbered(number).expect("the finding exists");
    match refute(&Expression::parse(finding.claim)?, &finding.search()?)?.outcome {
        Outcome::Refuted(found) => Ok(found.rust_test()),
        other => panic!("finding {number}: {other:?}"),
    }
}
