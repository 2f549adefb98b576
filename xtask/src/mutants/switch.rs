//! The switches of mutants. Which mutant is on is read once, from the environment.
//!
//! `NDP_MUTANT` is the id of a mutant in hexadecimal digits, or `record`. When recording, no mutant is on,
//! and each mutant that is reached is written once to the file `NDP_MUTANT_REACHED`.

use std::io::Write;
use std::iter::Peekable;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

const UNREAD: u32 = u32::MAX;
const RECORD: u32 = u32::MAX - 1;
const NONE: u32 = u32::MAX - 2;

static ACTIVE: AtomicU32 = AtomicU32::new(UNREAD);

/// Whether the mutant of this number is on.
#[macro_export]
macro_rules! on {
    ($id:expr) => {{
        static SEEN: ::std::sync::atomic::AtomicBool = ::std::sync::atomic::AtomicBool::new(false);
        $crate::is_on($id, &SEEN)
    }};
}

/// Whether the mutant is on. When recording, `seen` remembers that the mutant was written to the file.
#[inline]
pub fn is_on(id: u32, seen: &AtomicBool) -> bool {
    let active = ACTIVE.load(Ordering::Relaxed);
    if active < RECORD { active == id } else { first_or_recorded(id, seen) }
}

#[cold]
fn first_or_recorded(id: u32, seen: &AtomicBool) -> bool {
    let mut active = ACTIVE.load(Ordering::Relaxed);
    if active == UNREAD {
        active = match std::env::var("NDP_MUTANT") {
            Ok(word) if word == "record" => RECORD,
            Ok(word) => u32::from_str_radix(&word, 16).unwrap_or(NONE),
            Err(_) => NONE,
        };
        ACTIVE.store(active, Ordering::Relaxed);
    }
    if active == RECORD
        && !seen.swap(true, Ordering::Relaxed)
        && let Some(path) = std::env::var_os("NDP_MUTANT_REACHED")
    {
        let file = std::fs::OpenOptions::new().append(true).create(true).open(path);
        let _ = file.and_then(|mut file| file.write_all(format!("{id:08x}\n").as_bytes()));
    }
    active == id
}

/// All items, or all but the last one.
pub struct Most<I: Iterator> {
    inner: Peekable<I>,
    on: bool,
}

/// All items, or all but the last one if the mutant is on.
pub fn most<I: IntoIterator>(on: bool, items: I) -> Most<I::IntoIter> {
    Most { inner: items.into_iter().peekable(), on }
}

impl<I: Iterator> Iterator for Most<I> {
    type Item = I::Item;

    fn next(&mut self) -> Option<I::Item> {
        let item = self.inner.next()?;
        if self.on {
            self.inner.peek()?;
        }
        Some(item)
    }
}
