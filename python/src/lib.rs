//! The native half of the Python package `ndp`: conversions between Python and the crates, no mathematics.
//!
//! Python's half (`ndp/*.py`) keeps labels, tables and pictures; this half hands numbers over and grades back.

#![allow(
    clippy::too_many_arguments,
    clippy::type_complexity,
    reason = "functions of Python have keyword arguments, and tuples for results"
)]

mod account;
mod accountants;
mod audience;
mod compare;
mod declaration;
mod design;
mod draws;
mod errors;
mod grades;
mod graph;
mod graph_walk;
mod kind;
mod losses;
mod meter;
mod plan;
mod pool;
mod printed;
mod program;
mod program_account;
mod proof;
mod protocol;
mod question;
mod refute;
mod statement;
mod training;
mod viewer;
mod worker;

#[pyo3::pymodule]
mod _ndp {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::account::{Account, Ledger, Profile, compose_profiles};
    #[pymodule_export]
    use crate::accountants::accountant::{Accountant, accountant};
    #[pymodule_export]
    use crate::accountants::amplification::{
        central_epsilon, central_sigma, contributions, gaussian_contraction, hidden_graph, hockey_stick,
        iterated_mu, kernel_contraction, local_sigma, mixture_loss, shuffle, shuffle_delta, subsample,
        subsample_poisson,
    };
    #[pymodule_export]
    use crate::accountants::amplified::{
        CappedWalk, FederatedRun, PoissonGaussian, SampledGaussian, WalkDescent,
    };
    #[pymodule_export]
    use crate::accountants::calibration::{largest_count, smallest_epsilon, smallest_sigma};
    #[pymodule_export]
    use crate::accountants::functions::{
        classic_sigma, compose, compose_advanced, compose_naive, compose_optimal_delta, gaussian_compose,
        gaussian_delta, gaussian_epsilon, gaussian_log_delta, gaussian_mu, gaussian_trade_off, rdp_to_delta,
        rdp_to_epsilon,
    };
    #[pymodule_export]
    use crate::accountants::loss_law::LossLaw;
    #[pymodule_export]
    use crate::accountants::mechanisms::{
        DiscreteLaplace, Gaussian, Laplace, RandomizedResponse, ZcdpRelease,
    };
    #[pymodule_export]
    use crate::compare::compare;
    #[pymodule_export]
    use crate::design::design_noises;
    #[pymodule_export]
    use crate::draws::{draw_pairs, draw_rings, protocols};
    #[pymodule_export]
    use crate::errors::NdpError;
    #[pymodule_export]
    use crate::graph::{Graph, Matrix};
    #[pymodule_export]
    use crate::graph_walk::GraphWalk;
    #[pymodule_export]
    use crate::losses::{
        check, delta_of_units, epsilon_of_mu, epsilon_of_units, grade_word, least_sigma, mu_of_units,
        rdp_of_units,
    };
    #[pymodule_export]
    use crate::meter::{Meter, Mixing, OverBudget};
    #[pymodule_export]
    use crate::plan::{combinations, plan_order};
    #[pymodule_export]
    use crate::program::Program;
    #[pymodule_export]
    use crate::program_account::{
        ProgramAccount, RunSoFar, check_attack, check_shift, lower_inverse, lower_toeplitz, program_account,
        run_program,
    };
    #[pymodule_export]
    use crate::proof::prove;
    #[pymodule_export]
    use crate::protocol::Protocol;
    #[pymodule_export]
    use crate::refute::refute;

    #[pymodule_export]
    use crate::audience::{Audience, check_noise, least_noise};
    #[pymodule_export]
    use crate::printed::{
        corollary3_towards, gossip_noise, muffliato_corollary4, muffliato_theorem4, network_contributions,
        network_lemma1, network_theorem3, network_theorem4, network_theorem6, theorem1_all,
        theorem12_towards, walk_matrix, walk_noise, walk_row,
    };
    #[pymodule_export]
    use crate::statement::{Saying, saying, statement, statement_of_runs};
    #[pymodule_export]
    use crate::training::TrainingObserver;
    #[pymodule_export]
    use crate::viewer::viewer_html;

    #[pymodule_init]
    fn init(m: &Bound<'_, PyModule>) -> PyResult<()> {
        crate::pool::settle();
        m.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
