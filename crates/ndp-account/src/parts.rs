//! The parts from which protocols make their accounts. Only for the crates of this workspace; this interface
//! may change.

pub use crate::accountant::{
    ByMu, Limit, Patient, Replaced, WORK, Why, at_most, between as profile_between, bound_of_releases,
    local_bound, locked, of_outsider, search_of_pair, sharing, was_out,
};
pub use crate::attack::Attack;
pub use crate::audit::clopper_pearson_upper;
pub use crate::error::ensure;
pub use crate::loss::quotient_up;
pub use crate::view::checked_coalition;
