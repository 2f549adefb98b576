//! From numbers to what people look at: figures as plain data go in; tables, pictures and verdicts come out.
//!
//! A [`figure::Figure`] holds panels of graded series, matrices and drawings. [`table`] writes it as tidy CSV
//! and reads it back, [`plot`] draws it as SVG and PNG, [`verdict`] decides from the numbers and their grades
//! whether what is claimed holds. [`words`] turns statements into sentences: no sentence about privacy is
//! made elsewhere. [`files`] writes whole files or none, [`harmless`] shows names from files, [`page`] writes
//! pages in plain words, [`viewer`] lets them be walked through, [`stamp`] records in a picture what made it.
//!
//! The bytes written depend on the figure alone.

#![cfg_attr(
    not(test),
    deny(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss)
)]

pub mod correlation;
mod digits;
pub mod figure;
pub mod files;
pub mod harmless;
pub mod layout;
pub mod page;
#[cfg(feature = "pictures")]
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "pixels, ticks and digits from reals: such casts saturate"
)]
pub mod plot;
pub mod stamp;
pub mod table;
pub mod verdict;
pub mod viewer;
pub mod words;

#[cfg(test)]
mod testing;
