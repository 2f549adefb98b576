//! The native half of the Python package `ndp`: conversions between Python and the crates, no mathematics.
//!
//! Python's half (`ndp/*.py`) keeps labels, tables and pictures; this half hands numbers over and grades back.

mod errors;
mod grades;
mod graph;
mod losses;
mod protocol;
mod worker;

#[pyo3::pymodule]
mod _ndp {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::errors::NdpError;
    #[pymodule_export]
    use crate::graph::{Graph, Matrix};
    #[pymodule_export]
    use crate::losses::{
        check, delta_of_units, epsilon_of_mu, epsilon_of_units, grade_word, least_sigma,
        least_sigma_of_means, mu_of_units, rdp_of_units,
    };
    #[pymodule_export]
    use crate::protocol::{Protocol, draw_pairs, draw_rings};

    #[pymodule_init]
    fn init(m: &Bound<'_, PyModule>) -> PyResult<()> {
        m.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
