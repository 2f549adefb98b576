use super::*;
use ndp_account::example::Gossip;
use ndp_account::{Among, Assumption, Changes, Dependence, Law, Noise, RestsOn, SensitivitySet};
use ndp_account::{Audience, Check, Covered, Error, Protocol, accounts};
use ndp_dp::{NoiseMultiplier, Verdict};
use ndp_graph::{GossipMatrix, Graph, generators::path_graph, progress::Silent};

fn name(v: usize) -> String {
    format!("n{v}")
}

fn statement(audience: &Audience) -> Result<Statement, Error> {
    let gossip = Gossip::new(GossipMatrix::metropolis(&path_graph(12)?), 2);
    Covered::new(&gossip, audience, accounts(&gossip, audience.looked_at(), &Silent)?).statement()
}

fn node(v: usize) -> Observer {
    Observer::node(v)
}

/// One row for each kind of question: who observes, and the subject of a sentence about them.
#[test]
fn observers_are_shown_as_they_were_asked_about() -> Result<(), Error> {
    let named = |observers: &[Observer]| Audience::named(observers.to_vec());
    let many: Vec<Observer> = (0..10).map(node).collect();
    let crowd = Observer::coalition(&(0..11).collect::<Vec<_>>());
    let rows = [
        (named(&[node(3)]), "n3", "n3"),
        (named(&[node(5), node(3)]), "n3, n5, each alone", "any one of the 2 observers named"),
        (named(&[Observer::coalition(&[4, 1])]), "n1, n4 together", "n1, n4 together"),
        (
            named(&many),
            "n0, n1, n2, n3, n4, n5, n6, n7, 2 others, each alone",
            "any one of the 10 observers named",
        ),
        (
            named(&[crowd]),
            "n0, n1, n2, n3, n4, n5, n6, n7 and 3 others together",
            "n0, n1, n2, n3, n4, n5, n6, n7 and 3 others together",
        ),
        (Audience::every_node(12), "every one of 12 nodes alone", "any one of 12 nodes"),
        (
            Audience::chosen(12, &[0])?,
            "every one of 12 nodes alone: 1 chosen and looked at, the others by a bound that holds whoever observes",
            "any one of 12 nodes",
        ),
        (
            Audience::drawn(12, &[2, 5], 9)?,
            "every one of 12 nodes alone: 2 drawn at random (seed 9) and looked at, the others by a bound that holds whoever observes",
            "any one of 12 nodes",
        ),
    ];
    let coalitions = |size| Audience::coalitions(12, size, &node(0));
    let rows = rows.into_iter().chain([
        (
            coalitions(2)?,
            "every coalition of at most 2 of 12 nodes: each of the 66 of exactly 2 looked at, of which smaller ones are a part",
            "any coalition of at most 2 of 12 nodes",
        ),
        (
            coalitions(3)?.by_bound().ok_or(Error::Cancelled)?,
            "every coalition of at most 3 of 12 nodes: 0 of exactly 3 chosen and looked at, all others by a bound that holds whoever observes",
            "any coalition of at most 3 of 12 nodes",
        ),
    ]);
    for (audience, observed, whom) in rows {
        let found = statement(&audience)?;
        let words = Words::new(&found, &name);
        assert_eq!((words.observed_by().as_str(), words.whom().as_str()), (observed, whom));
        assert!(words.line().contains(observed) && words.paragraph().contains(observed));
        // What observers leave unused stands in the sentence about the most that they learn.
        let less = Statement { own_noise: OwnNoise::Unknown, ..found.clone() };
        let whom = format!("{}, leaving their own noise unused,", whom.trim_end_matches(','));
        assert_eq!(Words::new(&less, &name).whom(), whom);
    }
    Ok(())
}

/// The words say how many observers stand for all that are alike, and are neither weaker nor stronger.
#[test]
fn symmetries_are_shown() -> Result<(), Error> {
    let gossip = Gossip::new(GossipMatrix::metropolis(&path_graph(6)?), 2);
    let audience = Audience::chosen(6, &[0])?;
    let covered = Covered::of(&gossip, &audience, |observers| accounts(&gossip, observers, &Silent))?;
    let mut found = covered.statement()?;
    let words = Words::new(&found, &name);
    assert_eq!(
        (words.observed_by().as_str(), words.whom().as_str()),
        (
            "every one of 6 nodes alone: 3 looked at, the others by symmetries of the protocol, each checked exactly",
            "any one of 6 nodes"
        )
    );
    assert!(words.paragraph().contains("ndp_account::Protocol::symmetries"));
    assert_eq!(unknown(&found.coverage), None);
    found.coverage = Coverage::Coalitions {
        size: 2,
        among: Among::Everybody,
        nodes: 6,
        looked_at: 9,
        rest: Rest::Symmetric,
    };
    let words = Words::new(&found, &name);
    assert!(
        words.observed_by().starts_with("every coalition of at most 2 of 6 nodes: 9 of exactly 2 looked at")
    );
    assert_eq!(words.whom(), "any coalition of at most 2 of 6 nodes");
    assert_eq!((unknown(&found.coverage), grade(Grade::Exact, &found.coverage)), (None, "exact".to_owned()));
    Ok(())
}

/// In every form, words about a sample say what is not known about the others.
#[test]
fn a_sample_says_what_it_leaves_open() -> Result<(), Error> {
    let mut found = statement(&Audience::drawn(12, &[2, 5], 9)?)?;
    found.coverage = Coverage::Sample { looked_at: 2, nodes: 12, seed: Some(9) };
    let words = Words::new(&found, &name);
    assert!(words.line().contains("nothing is shown about what the others learn"));
    assert!(words.paragraph().contains("Nothing is shown about what the other 10 nodes learn."));
    assert_eq!(words.whom(), "any one of the 2 nodes that were looked at, of 12,");
    let kept = Check { verdict: Verdict::NotShown, tightest: None, exceeding: 0, violating: 0 };
    assert!(not_met(&kept, "pairs", &found.coverage).contains("what the others learn is not known"));
    // What is counted are those looked at, and proven is not the same as not shown to keep it.
    let counted = |violating, exceeding| {
        let check = Check { verdict: Verdict::Violated, tightest: None, exceeding, violating };
        not_met(&check, "pairs", &Coverage::Symmetric { looked_at: 2, nodes: 12 })
    };
    let of = "with 2 of 12 observers looked at";
    assert_eq!(counted(1, 1), format!("violated by one of the pairs {of}"));
    assert_eq!(counted(3, 3), format!("violated by 3 of the pairs {of}"));
    assert_eq!(counted(1, 3), format!("violated by one of the pairs, and 2 more not shown to keep it {of}"));
    // The same holds for coalitions that were not looked at.
    found.coverage = Coverage::Coalitions {
        size: 2,
        among: Among::Everybody,
        nodes: 12,
        looked_at: 1,
        rest: Rest::Unknown,
    };
    let words = Words::new(&found, &name);
    assert!(words.line().contains("nothing is shown about what the others learn"));
    assert!(words.paragraph().contains("Nothing is shown about what the other coalitions learn."));
    assert_eq!(words.whom(), "any one of the 1 coalitions of 2 of 12 nodes that were looked at");
    assert!(not_met(&kept, "pairs", &found.coverage).contains("what the others learn is not known"));
    // Groups bound what each node learns alone. The words are not about groups, and say "exact" only of those
    // who were looked at.
    found.coverage = Coverage::Grouped { looked_at: 1, groups: 8, nodes: 12 };
    assert_eq!(Words::new(&found, &name).whom(), "any one of 12 nodes");
    assert!(
        coverage(&found.coverage)
            .starts_with("every one of 12 nodes alone: 1 chosen and looked at, the others bounded by")
    );
    assert_eq!(grade(Grade::Exact, &found.coverage), "exact for those looked at, upper-bound for the others");
    assert!(
        not_met(&kept, "pairs", &found.coverage)
            .contains("the bound for the others, by 8 groups of them, exceeds it")
    );
    // A loss of an observer without an account is never called exact.
    let bound = Coverage::Coalitions {
        size: 2,
        among: Among::Everybody,
        nodes: 12,
        looked_at: 0,
        rest: Rest::Bounded,
    };
    assert_eq!(grade(Grade::Exact, &bound), "upper-bound");
    Ok(())
}

/// Changing a question changes its words: no two different statements are shown alike.
#[test]
fn statements_that_differ_are_shown_differently() -> Result<(), Error> {
    let plain = statement(&Audience::named(vec![node(1), node(4)]))?;
    let mut others = vec![
        statement(&Audience::named(vec![node(1)]))?,
        statement(&Audience::named(vec![node(1), node(5)]))?,
        statement(&Audience::named(vec![Observer::coalition(&[1, 4])]))?,
        statement(&Audience::named(vec![node(1).without_own_noise(), node(4).without_own_noise()]))?,
        statement(&Audience::every_node(12))?,
        statement(&Audience::chosen(12, &[1])?)?,
        plain.and(&plain)?,
    ];
    let change = |alter: &dyn Fn(&mut Statement)| {
        let mut other = plain.clone();
        alter(&mut other);
        other
    };
    others.extend([
        change(&|s| s.senders = Senders::Hidden),
        change(&|s| s.changes = [Changes::OneUse].into()),
        change(&|s| s.changes = [Changes::Declared].into()),
        change(&|s| s.neighbors = ndp_dp::Neighbors::AddOrRemove),
        change(&|s| s.assumes = [Assumption::Fixed].into()),
        change(&|s| s.assumes = [Assumption::ReadsSeen].into()),
        change(&|s| s.assumes = [Assumption::ReadsDeclared].into()),
        change(&|s| s.assumes = [Assumption::ReadsDeclaredOrSeen].into()),
        change(&|s| s.rests_on = [RestsOn::Set(SensitivitySet::Signs)].into()),
        change(&|s| s.rests_on = [RestsOn::Set(SensitivitySet::SameDirection)].into()),
        change(&|s| s.rests_on = [RestsOn::Reads(Dependence::Assumed)].into()),
        change(&|s| s.rests_on = [RestsOn::Reads(Dependence::Checked)].into()),
        change(&|s| s.rests_on = [RestsOn::Reads(Dependence::Revealed)].into()),
        change(&|s| s.rests_on = [RestsOn::Reads(Dependence::RevealedAndAssumed)].into()),
        change(&|s| s.rests_on = [RestsOn::Holdings].into()),
        change(&|s| s.rests_on = [RestsOn::Schedule].into()),
        change(&|s| s.noise = [Noise::of(Law::Laplace, "every value")].into()),
        change(&|s| s.coverage = Coverage::Sample { looked_at: 2, nodes: 12, seed: Some(0) }),
    ]);
    others.push(plain);
    let mut shown: Vec<String> = others.iter().map(|found| Words::new(found, &name).paragraph()).collect();
    let count = shown.len();
    shown.sort();
    shown.dedup();
    assert_eq!(shown.len(), count, "two statements read alike");
    // The same nodes under other names are shown differently, too.
    let permuted = |v: usize| format!("n{}", 11 - v);
    let words = others.last().map(|found| Words::new(found, &permuted).observed_by());
    assert_eq!(words.as_deref(), Some("n10, n7, each alone"));
    Ok(())
}

/// Random questions and random changes of them. Questions that differ in who looks, at whom, or what
/// observers know have different statements in every form; a repeated question has the same statement.
#[test]
fn no_other_question_keeps_its_words() -> Result<(), Error> {
    // The smallest network without symmetries: where nodes are alike, who is chosen makes no difference.
    let graph = Graph::from_edges(6, [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (1, 3)])?;
    let gossip = Gossip::new(GossipMatrix::metropolis(&graph), 2);
    let asked = |audience: &Audience| -> Result<[String; 3], Error> {
        let covered = Covered::of(&gossip, audience, |observers| accounts(&gossip, observers, &Silent))?;
        let found = covered.statement()?;
        let data = serde_json::to_string(&found).map_err(|_| Error::Cancelled)?;
        let words = Words::new(&found, &name);
        Ok([data, words.paragraph(), words.line()])
    };
    // All small questions: sets of nodes as a coalition, each alone, chosen or drawn; sizes; edges; with and
    // without own noise.
    let mut questions: Vec<Audience> =
        vec![Audience::every_node(6), Audience::named(vec![Observer::outsider()])];
    for size in 2..6 {
        let all = Audience::coalitions(6, size, &node(0))?;
        questions.extend([all.by_bound().ok_or(Error::Cancelled)?, all]);
    }
    for set in 1..63_u32 {
        let nodes: Vec<usize> = (0..6).filter(|v| set >> v & 1 == 1).collect();
        questions.push(Audience::named(nodes.iter().map(|&v| node(v)).collect()));
        questions.push(Audience::named(vec![
            Observer::outsider()
                .tapping(&nodes.iter().filter(|&&v| v < 5).map(|&v| (v, v + 1)).collect::<Vec<_>>()),
        ]));
        if nodes.len() > 1 {
            questions.push(Audience::named(vec![Observer::coalition(&nodes)]));
        }
    }
    for size in 1..6 {
        // Which nodes a sample drew follows from its seed and size.
        let drawn: Vec<usize> = (0..size).collect();
        questions.push(Audience::chosen(6, &drawn)?);
        questions.extend((0..3).map(|seed| Audience::drawn(6, &drawn, seed)).collect::<Result<Vec<_>, _>>()?);
    }
    let weaker: Vec<Audience> =
        questions.iter().map(|asked| asked.clone().map(Observer::without_own_noise)).collect();
    questions.extend(weaker);
    // The example has no account of edges; what it refuses has no words.
    let answered: Vec<(Audience, [String; 3])> = questions
        .into_iter()
        .filter_map(|audience| Some((audience.clone(), asked(&audience).ok()?)))
        .collect();
    assert!(answered.len() > 200, "{}", answered.len());
    for (at, (audience, said)) in answered.iter().enumerate() {
        assert_eq!(&asked(audience)?, said);
        for (other, theirs) in &answered[at + 1..] {
            let same = said.iter().zip(theirs).any(|(a, b)| a == b);
            assert_eq!(same, audience == other, "{audience:?} and {other:?}: {said:?} {theirs:?}");
        }
    }
    Ok(())
}

/// The best guess is rounded against the protocol: between two normal laws mu apart it is right with
/// probability `Phi(mu/2)`.
#[test]
fn odds_are_rounded_up() -> Result<(), Error> {
    let gossip = Gossip::new(GossipMatrix::metropolis(&path_graph(3)?), 2);
    let account = gossip.account(&node(0))?;
    // mu = 1 and 0.02 for its neighbor: Phi(0.5) = 0.69146, Phi(0.01) = 0.50399.
    for (noise, cases) in [(1.0, "at most 69.2 %"), (50.0, "at most 50.4 %")] {
        for pairs in [vec![1], vec![1, 2], vec![2, 1]] {
            let pairs = pairs.into_iter().map(|u| (account.as_ref(), u));
            let odds = right_guesses(pairs, NoiseMultiplier::new(noise)?).map(guesses);
            assert!(odds.is_some_and(|odds| odds.contains(cases)), "{cases}");
        }
    }
    assert_eq!(right_guesses([], NoiseMultiplier::new(1.0)?), None);
    Ok(())
}

/// A loss is never shown below its value, a remainder never above its value, and neither is off by more than
/// one unit of the last digit.
#[test]
fn numbers_are_rounded_outward() {
    let mut x = 1.234_567_891e-9;
    while x < 1e9 {
        for x in [x, x * (1.0 + f64::EPSILON), 1.0 - x.min(0.5)] {
            let parsed = |text: String| text.parse::<f64>().unwrap_or(f64::NAN);
            let (high, low) = (parsed(up(x)), parsed(down(x)));
            assert!(low <= x && x <= high, "{low} {x} {high}");
            assert!(high - low <= (1.1e-5_f64).max(1.1e-4 * x).min(2e-2 * x), "{low} {x} {high}");
        }
        x *= 1.7;
    }
}

/// The picture and the sentence give the same number, and neither is below the truth.
#[test]
fn the_page_shows_what_one_could_conclude() {
    let page = page::conclusions(crate::page::Page::new("x"), 0.691_462_5).finish();
    assert_eq!(page.matches("69.2 %").count(), 4, "{page}");
    assert!(page.contains("width=\"207.4\"") && !page.contains("69.1 %"), "{page}");
}

/// What is assumed, and what it rests on, stands in every form: each of several.
#[test]
fn all_that_is_assumed_is_said() -> Result<(), Error> {
    let mut found = statement(&Audience::every_node(12))?;
    found.assumes = [Assumption::Fixed, Assumption::ReadsSeen].into();
    found.rests_on = [RestsOn::Set(SensitivitySet::Signs), RestsOn::Holdings].into();
    let words = Words::new(&found, &name);
    let (line, paragraph) = (words.line(), words.paragraph());
    for assumption in [Assumption::Fixed, Assumption::ReadsSeen] {
        let said = assumed(assumption);
        assert!(line.contains(said) && paragraph.contains(said), "{said}");
    }
    for support in [RestsOn::Set(SensitivitySet::Signs), RestsOn::Holdings] {
        let said = rests_on(&support);
        assert!(line.contains(&said) && paragraph.contains(&said), "{said}");
    }
    assert_eq!(line.matches("; assumed: ").count(), 4);
    Ok(())
}
