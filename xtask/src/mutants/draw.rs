//! Draws mutants for a list. The random number of each depends only on the seed and on what the mutant
//! changes, so changes elsewhere in the sources do not change the draw.

use super::candidates::{self, Entry, Mutant};
use super::{build, list, operators};
use crate::flags::Mutants;
use anyhow::ensure;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use xshell::Shell;

/// Fills a list up to the requested number; entries that the sources still have stay in it.
#[expect(clippy::print_stdout, reason = "this is the command line")]
pub(super) fn propose(options: &Mutants, crate_name: &str, sh: &Shell) -> anyhow::Result<()> {
    let root = crate::root();
    let name = options.into.as_deref().unwrap_or("sampled");
    ensure!(list::LISTS.contains(&name), "the lists are {}", list::LISTS.join(" and "));
    let (count, seed) = (options.count.unwrap_or(100), options.seed.unwrap_or(42));
    let mut left_out: BTreeMap<&str, usize> = BTreeMap::new();
    let mut all = Vec::new();
    let folder = format!("crates/{crate_name}/src/");
    for file in list::files_of(&root, crate_name)? {
        if within(options.within.as_deref(), file.strip_prefix(&folder).unwrap_or(&file)) {
            let found = candidates::of(&file, &fs::read_to_string(root.join(&file))?)?;
            all.extend(found.mutants);
            for (reason, number) in found.left_out {
                *left_out.entry(reason).or_default() += number;
            }
        }
    }
    println!("{} candidates of {crate_name}; left out: {left_out:?}", all.len());
    all.sort_by(|a, b| key(&a.entry, seed).total_cmp(&key(&b.entry, seed)));
    let before = list::read(name)?;
    let elsewhere: BTreeSet<Entry> = list::LISTS
        .iter()
        .filter(|it| **it != name)
        .map(|it| list::read(it))
        .collect::<Result<Vec<_>, _>>()?
        .concat()
        .into_iter()
        .collect();
    all.retain(|it| !elsewhere.contains(&it.entry));
    let old: BTreeSet<&Entry> = before.iter().filter(|it| it.crate_name() == crate_name).collect();
    // Take the mutants that are in the list already, then new ones in the order of their random numbers.
    let (mut chosen, drawn): (Vec<Mutant>, Vec<Mutant>) =
        all.into_iter().partition(|it| old.contains(&it.entry));
    let mut drawn = drawn.into_iter();
    let mut dropped = 0;
    loop {
        let missing = count.saturating_sub(chosen.len());
        let more: Vec<Mutant> = drawn.by_ref().take(missing + missing / 3).collect();
        if missing == 0 || more.is_empty() {
            break;
        }
        chosen.extend(more);
        dropped += build::compiling(sh, &mut chosen)?.len();
    }
    chosen.truncate(count.max(old.len()));
    println!("{} are in the list {name}; {dropped} drawn ones do not compile", chosen.len());
    let others = before.iter().filter(|it| it.crate_name() != crate_name).cloned();
    list::write(name, &others.chain(chosen.into_iter().map(|it| it.entry)).collect())
}

/// Whether a draw may take mutants of a file. `asked` lists beginnings of paths, as in `a,b/,!c`; those after
/// `!` are excluded.
fn within(asked: Option<&str>, file: &str) -> bool {
    let Some(asked) = asked else { return true };
    let (without, with): (Vec<&str>, Vec<&str>) = asked.split(',').partition(|it| it.starts_with('!'));
    let begins = |it: &&str| file.starts_with(it.trim_start_matches('!'));
    (with.is_empty() || with.iter().any(begins)) && !without.iter().any(begins)
}

/// The sort key of a mutant: an exponential variable whose rate is the weight of its kind. The mutants with
/// the smallest keys are a weighted sample without replacement.
fn key(entry: &Entry, seed: u64) -> f64 {
    let mut x = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ u64::from(entry.id());
    for factor in [0xbf58_476d_1ce4_e5b9, 0x94d0_49bb_1331_11eb] {
        x = (x ^ (x >> 30)).wrapping_mul(factor);
    }
    let uniform = ((x >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
    let weight = operators::KINDS.iter().find(|(kind, _)| *kind == entry.kind).map_or(1.0, |it| it.1);
    -uniform.ln() / weight
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_draw_is_from_the_files_that_are_asked_for() {
        assert!(within(None, "a.rs"));
        assert!(within(Some("a,b/"), "b/c.rs") && !within(Some("a,b/"), "c.rs"));
        assert!(within(Some("!a"), "b.rs") && !within(Some("!a"), "a.rs"));
    }
}
