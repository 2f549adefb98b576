//! The parts from which protocols make their accounts. Only for the crates of this workspace; this interface
//! may change.

pub use crate::accountant::{ByMu, at_most, bound_of_releases, local_bound, of_outsider, search_of_pair};
pub use crate::attack::Attack;
pub use crate::audit::clopper_pearson_upper;
pub use crate::error::ensure;
pub use crate::loss::quotient_up;
pub use crate::ordered::each_in_order;
pub use crate::view::checked_coalition;
