//! Tests of the public interface.
//!
//! All tests are in one program, because every further program is linked and started separately.

mod random_laws;
mod reference;
mod sequences;
