//! What is cut short, and what is said of it.

use super::*;
use ndp_account::{Observer, Target, least_noise};
use ndp_algos::registry::find;
use ndp_dp::{Delta, Measure};
use ndp_graph::Graph;
use ndp_graph::generators::{cycle_graph, star_graph};
use ndp_numeric::stop::Stop;

/// The least noise towards four observers of a walk, who share so much work, with the notes that go with it
/// and the work that it took.
fn answer(graph: &Graph, threads: usize, work: u64) -> Result<(f64, Vec<String>, u64), Error> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
    pool.install(|| {
        let matrix = GossipMatrix::metropolis(graph);
        let limit = Limit::of_work(Stop::after_work(work));
        let walk = built(find("walk")?, &matrix, &"steps=30".parse()?, limit)?.0.for_every_pair();
        let observers: Vec<Observer> = (0..4).map(Observer::node).collect();
        let accounts = walk.accounts(&observers, || {})?;
        let target = Target::worst(Measure::Approx(Delta::new(1e-5)?), 1.0);
        let least = walk.steady(|| least_noise(&accounts, &target))?;
        Ok((least.noise.get(), notes(&walk), walk.work()))
    })
}

/// With counted work alone the answer is the same on one thread and four, whether it is cut short or not, and
/// says which of the two.
#[test]
fn counted_work_cuts_alike_on_any_number_of_threads() -> Result<(), Error> {
    let cycle = cycle_graph(12)?;
    let (noise, notes, work) = answer(&cycle, 1, u64::MAX - 1)?;
    assert!(notes.is_empty() && work > 0, "{notes:?}");
    for (most, cut) in [(100, true), (work / 50, true), (work / 2, true), (100 * work, false)] {
        let (one, four) = (answer(&cycle, 1, most)?, answer(&cycle, 4, most)?);
        assert_eq!((one.0, &one.1), (four.0, &four.1), "{most} of {work}");
        assert_eq!(one.1.iter().any(|note| note.contains("more work than the default allows")), cut);
        assert!(if cut { one.0 > noise } else { one.0 == noise }, "{} and {noise}", one.0);
    }
    Ok(())
}

/// What a question leaves over goes to the observers whose equal part was not enough: one node of this graph
/// takes far more work than the others.
#[test]
fn one_observer_may_need_more_than_its_part() -> Result<(), Error> {
    let star = star_graph(12)?;
    let (noise, notes, work) = answer(&star, 1, u64::MAX - 1)?;
    assert!(notes.is_empty() && work > 0, "{notes:?}");
    for (most, cut) in [(work / 2, true), (3 * work / 2, false), (2 * work, false)] {
        let (one, four) = (answer(&star, 1, most)?, answer(&star, 4, most)?);
        assert_eq!((one.0, &one.1), (four.0, &four.1), "{most} of {work}");
        // Earlier questions leave finer tables behind, so that the noise may be smaller by little.
        let near = (one.0 / noise - 1.0).abs() < 1e-3;
        assert_eq!((near, one.1.is_empty()), (!cut, !cut), "{most} of {work}: {one:?}, {noise}");
    }
    Ok(())
}

/// The hub of a star needs many times the work of a leaf: it has what the leaves leave over.
#[test]
fn what_is_left_over_goes_to_those_who_need_it() -> Result<(), Error> {
    let matrix = GossipMatrix::metropolis(&star_graph(14)?);
    let looked = |work: u64| -> Result<(u64, Vec<String>), Error> {
        let limit = Limit::of_work(Stop::after_work(work));
        let gossip = built(find("fresh-noise")?, &matrix, &"rounds=6".parse()?, limit)?.0;
        let observers: Vec<Observer> = (0..15).map(Observer::node).collect();
        gossip.accounts(&observers, || {})?;
        Ok((gossip.work(), notes(&gossip)))
    };
    let (work, _) = looked(u64::MAX - 1)?;
    let alone = {
        let limit = Limit::of_work(Stop::after_work(u64::MAX - 1));
        let gossip = built(find("fresh-noise")?, &matrix, &"rounds=6".parse()?, limit)?.0;
        gossip.accounts(&[Observer::node(0)], || {})?;
        gossip.work()
    };
    // More than an equal part.
    assert!(alone > 2 * work / 15, "{alone} of {work}");
    assert_eq!(looked(2 * work)?.1, Vec::<String>::new());
    let (_, said) = looked(work / 2)?;
    assert!(said.iter().any(|note| note.contains("--patience SECONDS")), "{said:?}");
    Ok(())
}
