//! Laws of charges that were divided between the points around them.

use super::super::system::{Rounding, System};
use super::*;

/// A few cells that preserve means enclose the references, never less tightly than rounding does.
#[test]
fn spread_charges_enclose_the_reference_values() -> Result<(), Error> {
    let mut tighter = false;
    for row in reference_rows().iter().filter(|row| row.4.is_none()) {
        let [u, v] = row.1;
        let (walk, sigma) = (walk_of(row), row.5);
        let law = walk.cost_law_in_cells(u, &[v], None, (256, Ends::Both), &Stop::never())?;
        let (tables, _) = law.settled(Question::Epsilon { sigma }, 1e-5)?;
        assert!(!tables.spread.is_empty());
        let ends = |epsilon: f64| {
            let at = |law: Sided<'_>| law.delta(epsilon, sigma, 0.0);
            (at(tables.below(epsilon, sigma)), at(tables.above(epsilon, sigma)))
        };
        let (low, high) = ends(row.6[3]);
        assert!(low <= 1e-5 * (1.0 + 1e-9) && 1e-5 * (1.0 - 1e-9) <= high, "{low} {high}");
        let (low, high) = ends(0.5);
        assert!(low <= row.6[2] && row.6[2] <= high, "{low} {high}");
        let by_rounding = tables.upper.delta(row.6[3], sigma, 0.0) - tables.lower.delta(row.6[3], sigma, 0.0);
        let (low, high) = ends(row.6[3]);
        assert!(high - low <= by_rounding * (1.0 + 1e-9), "{low} {high} {by_rounding}");
        tighter |= high - low < 0.5 * by_rounding;
    }
    assert!(tighter);
    Ok(())
}

/// Both ends of spread laws are close to each other, and every cost is at least 0.
#[test]
fn spread_laws_are_enclosed_closely() -> Result<(), Error> {
    let mut spread = 0;
    for row in &reference_rows()[..4] {
        let [u, v] = row.1;
        let (level, _) = on_exact_grid(&walk_of(row), u, &[v], 60);
        assert_eq!((level.lower[0], level.upper[0]), (1.0, 1.0));
        let tables = walk_of(row).cost_law(u, &[v])?.tables_for(row.5, row.6[3])?;
        for level in
            tables.spread.iter().map(|spread| &spread.level).chain(tables.coarse.iter().map(AsRef::as_ref))
        {
            assert_eq!((level.lower[0], level.upper[0]), (1.0, 1.0));
        }
        for level in tables.spread.iter().map(|spread| &spread.level) {
            spread += 1;
            let gaps = level.upper.iter().zip(&level.lower).map(|(upper, lower)| upper - lower);
            let (widest, least) = gaps.fold((0.0, 1.0), |(a, b), gap| (f64::max(a, gap), f64::min(b, gap)));
            assert!(least >= 0.0 && widest <= 0.01 * level.upper[1], "{least} {widest}");
        }
    }
    assert!(spread >= 4);
    Ok(())
}

/// A charge between two points of the grid that comes at the end of a path that nobody saw: what spreading it
/// adds to the variance is part of the bound.
#[test]
fn the_spread_of_an_unseen_end_is_bounded() -> Result<(), Error> {
    let w = TransitionMatrix::simple_random_walk(&path_graph(4)?)?;
    let options = WalkOptions { final_token: FinalToken::Published, ..WalkOptions::default() };
    let walk = TokenWalk::new(&w, Start::Uniform, 2)?.with_options(options)?;
    let grid = Grid { numerator: 1, denominator: 7 };
    let system = System::new(&intervals(&walk, 0, &[3])[0], grid, Rounding::Spread, 0.0);
    // The charge 1/2 lies in the middle of 3/7 and 4/7; node 0 is the only one that may contribute.
    let at = |cell| system.unseen.iter().filter(|(at, _)| *at == cell).map(|(_, mass)| mass).sum::<f64>();
    let (below, above): (f64, f64) = (at(3), at(4));
    assert_relative_eq!(below, above, max_relative = 1e-12);
    assert!(below > 0.1);
    assert!(system.variance >= 0.25 * (below + above), "{}", system.variance);
    Ok(())
}
