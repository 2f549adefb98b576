//! Section 7 of the specification: what is refused, on which line, and with which words.

use super::*;
use ndp_graph::generators::path_graph;

/// The problem and the line of a text that is refused.
fn refused(lines: &[&str]) -> (usize, ndp_account::Error) {
    match Program::read(lines.join("\n").as_bytes()) {
        Err(error) => match error.carried() {
            Some(ProgramError::Line { line, problem }) => (*line, (**problem).clone()),
            _ => panic!("{error:?}"),
        },
        Ok(program) => panic!("{program:?}"),
    }
}

const HEAD: &str = r#"{"ndp-program": 1, "nodes": 3}"#;

#[test]
fn the_text_format_names_the_line() {
    let cases: [(&[&str], usize, &str); 27] = [
        (&["{"], 1, "no JSON"),
        (&[r#"{"ndp-program": 2, "nodes": 3}"#], 1, "version 2 of the format is not known"),
        (&[r#"{"ndp-program": 1, "nodes": 0}"#], 1, "at least one node"),
        (&[r#"{"ndp-program": 1, "nodes": 999999999999}"#], 1, "at most"),
        (&[HEAD, "", r#"{"publish": "y"}"#], 3, "the name y is not known"),
        (
            &[HEAD, r#"{"noise": "z", "variance": 1}"#, r#"{"noise": "z", "variance": 1}"#],
            3,
            "the name z is given twice",
        ),
        (&[HEAD, r#"{"noise": "z", "variance": 1, "node": 3}"#], 2, "node 3 is out of range"),
        (&[HEAD, r#"{"noise": "z", "variance": -1}"#], 2, "a variance must be at least 0, got -1"),
        (&[HEAD, r#"{"noise": "z", "variance": "1/0"}"#], 2, "neither an integer nor a ratio"),
        (&[HEAD, r#"{"noise": "z", "variance": 1e999}"#], 2, "no JSON"),
        (&[HEAD, r#"{"noise": "m", "zero-sum": [1], "variance": 1}"#], 2, "at least two nodes, got 1"),
        (&[HEAD, r#"{"noise": "m", "zero-sum": [1, 1], "variance": 1}"#], 2, "node 1 is given twice"),
        (
            &[HEAD, r#"{"noise": "c", "nodes": [0, 1], "covariance": [[1, 2], [2, 1]]}"#],
            2,
            "not positive semidefinite: pivot 1 is -3",
        ),
        (
            &[HEAD, r#"{"noise": "c", "nodes": [0, 1], "covariance": [[1, 2], [0, 1]]}"#],
            2,
            "not symmetric at (1, 0)",
        ),
        (
            &[
                HEAD,
                r#"{"contribute": "x", "node": 0, "reads": "nothing"}"#,
                r#"{"send": "x", "from": 1, "to": 1}"#,
            ],
            3,
            "two different nodes, got 1 twice",
        ),
        (
            &[HEAD, r#"{"contribute": "x", "node": 0, "use": 1, "reads": "nothing"}"#],
            2,
            "use 1 of node 0 is given twice or out of order",
        ),
        (&[HEAD, r#"{"contribute": "x"}"#], 2, "the key \"reads\" is missing"),
        (&[HEAD, r#"{"leave": 1}"#, r#"{"leave": 1}"#], 3, "node 1 is absent: it cannot leave"),
        (
            &[
                HEAD,
                r#"{"noise": "z", "variance": 1}"#,
                r#"{"leave": 1}"#,
                r#"{"send": "z@0", "from": 0, "to": 1}"#,
            ],
            4,
            "node 1 is absent: it cannot receive",
        ),
        (&[HEAD, r#"{"noise": "z", "variance": 1}"#, r#"{"join": 1}"#], 3, "joins after it has taken part"),
        (
            &[
                HEAD,
                r#"{"noise": "z", "variance": 1}"#,
                r#"{"leave": 2}"#,
                r#"{"graph": "g", "family": "path"}"#,
                r#"{"matrix": "W", "of": "g", "weights": "metropolis"}"#,
                r#"{"set": "z", "gossip": "W", "of": "z"}"#,
            ],
            6,
            "node 2 is absent: it cannot take part in gossip",
        ),
        (
            &[
                HEAD,
                r#"{"matrix": "W", "rows": [[1]]}"#,
                r#"{"noise": "z", "variance": 1}"#,
                r#"{"let": "y", "gossip": "W", "of": "z"}"#,
            ],
            4,
            "rows of a gossip matrix: expected 3, got 1",
        ),
        (&[HEAD, r#"{"shuffle": "y"}"#], 2, "shuffle is not linear Gaussian"),
        (&[HEAD, r#"{"repeat": 2}"#, r#"{"publish": "y"}"#], 2, "the repeated block has no end"),
        (
            &[HEAD, r#"{"noise": "b", "band": [1], "steps": 4097, "variance": 1}"#],
            2,
            "at most 4096 steps can be written by a band",
        ),
        (&[HEAD, r#"{"publish": "y[t]"}"#], 2, "[t] stands outside of a repeated block"),
        (
            &[
                HEAD,
                r#"{"noise": "z", "variance": 1}"#,
                r#"{"repeat": 2}"#,
                r#"{"publish": "z@0"}"#,
                r#"{"end": "repeat"}"#,
                r#"{"publish": "y[t]"}"#,
            ],
            6,
            "[t] stands outside of a repeated block",
        ),
    ];
    for (lines, line, words) in cases {
        let (found, problem) = refused(lines);
        assert_eq!(found, line, "{lines:?}: {problem}");
        assert!(problem.to_string().contains(words), "{lines:?}: {problem}");
    }
}

#[test]
fn the_builder_refuses_the_same() -> Result<(), ProgramError> {
    let mut program = Program::new(3)?;
    assert_eq!(Program::new(0), Err(ProgramError::NoNodes));
    assert!(matches!(program.noise([0], f64::NAN), Err(ProgramError::NotFinite { .. })));
    assert!(matches!(program.noise([0], (1, 0)), Err(ProgramError::NotFinite { .. })));
    assert!(matches!(program.noise([0], -0.5), Err(ProgramError::NegativeVariance(_))));
    assert_eq!(program.pairwise(1, 1, 1), Err(ProgramError::SameEnds { what: "a pairwise mask", node: 1 }));
    let z = program.noise([0], 0)?;
    assert!(matches!(program.combine([(f64::INFINITY, z)]), Err(ProgramError::NotFinite { .. })));
    assert!(matches!(program.secure_sum(0, [(1, 1, z)]), Err(ProgramError::SmallGroup { got: 1, .. })));
    assert!(matches!(program.secure_sum(0, [(1, 1, z), (1, 1, z)]), Err(ProgramError::Repeated { .. })));
    for groups in [[vec![0, 1], vec![2, 3]], [vec![1, 2], vec![2, 3]]] {
        let refused = crate::constructors::hierarchical(4, &groups, 1, 1);
        assert!(
            matches!(refused, Err(error) if error.to_string().contains("is given twice in the server and the groups"))
        );
    }
    assert!(matches!(program.gossip(&MixingMatrix::from_dense(&[])?, &[]), Err(ProgramError::Shape { .. })));
    assert!(matches!(program.broadcast_all(&[z]), Err(ProgramError::Shape { expected: 3, got: 1, .. })));
    let absent = Err(ProgramError::NodeOutOfRange { node: 3, nodes: 3 });
    assert_eq!((program.hold(3, z), program.broadcast(3, z)), (absent.clone(), absent));
    let mut other = Program::new(1)?;
    assert_eq!(other.add(&[z]), Err(ProgramError::UnknownValue { value: 0, values: 0 }));
    Ok(())
}

#[test]
fn bad_questions_are_refused() -> Result<(), Box<dyn std::error::Error>> {
    let program = constructors::decor(&path_graph(3)?, 1, 1, 2)?;
    assert_refused(program.account(&Observer::node(3)), "node 3 is out of range");
    assert_refused(program.account(&Observer::coalition(&[1, 1])), "node 1 is given twice in the coalition");
    assert_refused(
        program.account(&Observer::outsider().tapping(&[(1, 1)])),
        "a tapped edge needs two different nodes, got 1 twice",
    );
    assert_refused(
        program.account(&Observer::node(0).without_own_noise()),
        "for observers who know their own noise",
    );
    let account = program.account(&Observer::node(0))?;
    let of = |u: usize, set: SensitivitySet| account.loss(u, &set).map(|_| ());
    assert_eq!(of(0, SensitivitySet::UseLevel), Err(ProgramError::Member(0).into()));
    assert_eq!(
        of(3, SensitivitySet::UseLevel),
        Err(ProgramError::NodeOutOfRange { node: 3, nodes: 3 }.into())
    );
    assert_refused(of(1, SensitivitySet::Along(vec![1.0])), "the number of weights is 1");
    assert_refused(of(1, SensitivitySet::Along(vec![1.0, f64::NAN])), "the weight NaN is not finite");
    assert_refused(of(1, SensitivitySet::Vectors { dimension: 0 }), "the dimension is 0");
    let bounded = |bounds| SensitivitySet::Bounded { bounds, within: Box::new(SensitivitySet::UseLevel) };
    assert_refused(of(1, bounded(vec![-1.0, 1.0])), "the bound -1 is negative or not finite");
    let patterns = |patterns| SensitivitySet::Patterns { patterns, within: Box::new(SensitivitySet::Signs) };
    assert_refused(of(1, patterns(Patterns::Cyclic { period: 0 })), "a period or a gap of 0");
    assert_refused(of(1, patterns(Patterns::Listed(vec![vec![2]]))), "names a use that is not there");
    Ok(())
}

/// Noiselessness is a verdict on a node and a set: here the difference of two uses is seen, but not their
/// sum.
#[test]
fn noiseless_differences_spare_other_sets_and_nodes() -> Result<(), Box<dyn std::error::Error>> {
    let mut program = Program::new(2)?;
    let x = [program.contribute(0, Reads::Nothing)?, program.contribute(0, Reads::Nothing)?];
    let other = program.contribute(1, Reads::Nothing)?;
    let z = program.noise([0], 2)?;
    let noise = program.noise([1], 1)?;
    for x in x {
        let y = program.add(&[x, z])?;
        program.broadcast(0, y)?;
    }
    let y = program.add(&[other, noise])?;
    program.broadcast(1, y)?;
    let account = program.account(&Observer::outsider())?;
    assert_loss(&account, 0, &SensitivitySet::SameDirection, 0.5);
    assert_loss(&account, 1, &SensitivitySet::UseLevel, 1.0);
    assert!(account.failure > 0.0 && account.failure < 1e-15);
    for set in [SensitivitySet::UseLevel, SensitivitySet::Signs, SensitivitySet::Vectors { dimension: 3 }] {
        assert_eq!(
            account.loss(0, &set),
            Err(ndp_account::Error::Certify(ndp_certify::Error::NoiselessView(0)))
        );
        let NodeVerdict::Noiseless { change, combination } = account.verdict(0, &set)? else {
            panic!("{set:?}")
        };
        let attack = Witness {
            source: 0,
            change: change.into_iter().map(Weight::from).collect(),
            terms: combination.expect("a small view"),
        };
        assert_eq!(program.check_attack(&Observer::outsider(), &attack)?, None);
    }
    // Another direction is undecided unless it is asked for.
    let along = SensitivitySet::Along(vec![1.0, 2.0]);
    assert_eq!(account.loss(0, &along), Err(ProgramError::Undecided(0).into()));
    let directions = vec![(0, vec![Weight::from(1), Weight::from(2)])];
    let options = AccountOptions { directions, ..AccountOptions::default() };
    assert_eq!(
        program.account_with(&Observer::outsider(), &options)?.loss(0, &along),
        Err(ndp_account::Error::Certify(ndp_certify::Error::NoiselessView(0)))
    );
    Ok(())
}

/// Two messages that differ by very little, and numbers that are too short to tell them apart. If every use
/// has a noise of its own, the bound from this noise holds; otherwise there is no account.
#[test]
fn what_takes_longer_numbers_is_bounded_or_refused() -> Result<(), Box<dyn std::error::Error>> {
    let options = AccountOptions { precision_limit: 53, ..AccountOptions::default() };
    let observer = Observer::node(1);
    let account = |factor: i64, options: &AccountOptions| {
        let mut program = Program::new(2)?;
        let x = program.contribute(0, Reads::Nothing)?;
        let (z, little) = (program.noise([0], 1)?, program.noise([0], 1)?);
        let first = program.add(&[x, z])?;
        program.send(0, 1, first)?;
        let second = program.combine([
            (Weight::from(factor), x),
            (Weight::from(1), z),
            (Weight::from(1e-40), little),
        ])?;
        program.send(0, 1, second)?;
        program.account_with(&observer, options)
    };
    let set = SensitivitySet::UseLevel;
    let bounded = account(1, &options)?.loss(0, &set)?;
    assert_eq!((bounded.value(), bounded.value.grade()), (1.0, ndp_dp::Grade::UpperBound));
    assert_refused(account(2, &options), "certified");
    // With longer numbers: 1, and 1 + 1e80, as the difference shows the use with hardly any noise.
    let longer = AccountOptions::default();
    assert_loss(&account(1, &longer)?, 0, &set, 1.0);
    assert_loss(&account(2, &longer)?, 0, &set, 1.0 + 1e80);
    Ok(())
}
