//! What is cut short, and what is said of it.

use super::limit::Budget;
use super::*;
use ndp_account::least_noise;
use ndp_algos::registry::find;
use ndp_dp::{Delta, Measure};
use ndp_graph::Graph;
use ndp_graph::generators::{cycle_graph, star_graph};

/// The least noise towards four observers of a walk, who share so much work, with the notes that go with it
/// and the work that it took.
fn answer(graph: &Graph, threads: usize, work: u64) -> Result<(f64, Vec<String>, u64), Error> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
    pool.install(|| {
        let matrix = GossipMatrix::metropolis(graph);
        let limit = Limit::Work(Stop::after_work(work));
        let walk = Patient::of_entry(find("walk")?, &matrix, &"steps=30".parse()?, limit)?.for_every_pair();
        let observers: Vec<Observer> = (0..4).map(Observer::node).collect();
        let accounts = walk.accounts(&observers, || {})?;
        let target = Target::worst(Measure::Approx(Delta::new(1e-5)?), 1.0);
        let least = walk.steady(|| least_noise(&accounts, &target))?;
        Ok((least.noise.get(), walk.notes(), walk.work()))
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

/// Parts of a limit are those of counts: what an earlier question left over goes to the later ones.
#[test]
fn questions_share_counted_work() {
    let mut budget = Budget::new(Limit::Work(Stop::after_work(90)), 3);
    let lefts = [(); 3].map(|()| {
        let stop = budget.next().stop();
        let left = stop.left();
        assert_eq!(stop.spend(10), Ok(()));
        left
    });
    assert_eq!(lefts, [Some(30), Some(40), Some(70)]);
}

/// What the quick ones leave over goes to those who had not enough, and all together stay within the limit.
#[test]
fn questions_that_had_not_enough_are_asked_again() {
    let needs = [1, 500, 1, 1, 1, 1];
    for (most, known) in [(6, 5), (550, 5), (700, 6), (1300, 6), (1500, 6), (1 << 40, 6)] {
        let mut asked = 0;
        let answers = sharing(Limit::Work(Stop::after_work(most)), needs.len(), |at, limit| {
            asked += 1;
            let cut = limit.stop().spend(needs[at]).is_err();
            Ok::<_, Error>((!cut, cut))
        });
        let answers = answers.expect("no error");
        let found = answers.iter().filter(|&&known| known).count();
        assert!(found == known && asked <= 8, "{most}: {answers:?}, {asked}");
    }
    // A limit in time is never asked again.
    let mut asked = 0;
    let answers = sharing(Limit::Seconds(60), 3, |_, _| {
        asked += 1;
        Ok::<_, Error>(((), true))
    });
    assert_eq!((answers.expect("no error").len(), asked), (3, 3));
}

/// What was cut short by time says so, in other words than what was cut short by work.
#[test]
fn reasons_have_words_of_their_own() -> Result<(), Error> {
    let matrix = GossipMatrix::metropolis(&cycle_graph(12)?);
    let waited = |limit| -> Result<String, Error> {
        Ok(Patient::of_entry(find("walk")?, &matrix, &"steps=3".parse()?, limit)?.waited())
    };
    let (none, time, work) =
        (waited(Limit::Seconds(0))?, waited(Limit::Seconds(7))?, waited(Limit::by_work())?);
    assert!(none.contains("--patience 0") && time.contains("7 s") && work.contains("--patience SECONDS"));
    Ok(())
}

/// The hub of a star needs many times the work of a leaf: it has what the leaves leave over.
#[test]
fn what_is_left_over_goes_to_those_who_need_it() -> Result<(), Error> {
    let matrix = GossipMatrix::metropolis(&star_graph(14)?);
    let looked = |work: u64| -> Result<(u64, Vec<String>), Error> {
        let limit = Limit::Work(Stop::after_work(work));
        let gossip = Patient::of_entry(find("fresh-noise")?, &matrix, &"rounds=6".parse()?, limit)?;
        let observers: Vec<Observer> = (0..15).map(Observer::node).collect();
        gossip.accounts(&observers, || {})?;
        Ok((gossip.work(), gossip.notes()))
    };
    let (work, _) = looked(u64::MAX - 1)?;
    let alone = {
        let limit = Limit::Work(Stop::after_work(u64::MAX - 1));
        let gossip = Patient::of_entry(find("fresh-noise")?, &matrix, &"rounds=6".parse()?, limit)?;
        gossip.accounts(&[Observer::node(0)], || {})?;
        gossip.work()
    };
    // More than an equal part.
    assert!(alone > 2 * work / 15, "{alone} of {work}");
    assert_eq!(looked(2 * work)?.1, Vec::<String>::new());
    let (_, notes) = looked(work / 2)?;
    assert!(notes.iter().any(|note| note.contains("--patience SECONDS")), "{notes:?}");
    Ok(())
}
