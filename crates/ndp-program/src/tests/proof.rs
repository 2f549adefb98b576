use super::*;
use crate::constructors::{Dsgd, ModelReads, decor, dsgd, muffliato};
use ndp_graph::GossipMatrix;
use ndp_graph::generators::{cycle_graph, karate_club_graph, path_graph, star_graph};

fn ends(line: &str) -> (BigRational, BigRational) {
    let line: Json = serde_json::from_str(line).unwrap();
    let of = |key: &str| line[key].as_str().unwrap().parse::<BigRational>().unwrap();
    (of("lower"), of("upper"))
}

fn of(program: &Program, set: SensitivitySet, observer: usize, source: usize) -> (BigRational, BigRational) {
    let mut proof = ProofWriter::new(program, set).unwrap();
    ends(&proof.of(&Observer::node(observer), &[source]).unwrap()[0])
}

fn ratio(a: i64, b: i64) -> BigRational {
    BigRational::new(a.into(), b.into())
}

/// Reference values of the specification of programs, section 9.
#[test]
fn both_ends_are_the_reference_values() {
    let metropolis = |graph| GossipMatrix::metropolis(&graph);
    let star = muffliato(&metropolis(star_graph(4).unwrap()), 3).unwrap();
    assert_eq!(of(&star, SensitivitySet::UseLevel, 1, 2), (ratio(1, 3), ratio(1, 3)));
    let ring = decor(&cycle_graph(5).unwrap(), 1, 1, 1).unwrap();
    assert_eq!(of(&ring, SensitivitySet::UseLevel, 0, 3), (ratio(10, 21), ratio(10, 21)));
    let fixed = |steps| Dsgd { reads: ModelReads::Nothing, ..Dsgd::from(steps) };
    let path = dsgd(&metropolis(path_graph(3).unwrap()), fixed(3)).unwrap();
    assert_eq!(of(&path, SensitivitySet::SameDirection, 2, 0), (ratio(9, 26), ratio(9, 26)));
    assert_eq!(of(&path, SensitivitySet::UseLevel, 2, 0), (ratio(7, 52), ratio(7, 52)));
    // Signs of ring 5, observer 0 about its neighbor; absolute values sum to 5247/1370.
    let ring = dsgd(&metropolis(cycle_graph(5).unwrap()), fixed(4)).unwrap();
    let (low, high) = of(&ring, SensitivitySet::Signs, 0, 1);
    assert_eq!(low, ratio(5157, 1370));
    // The semidefinite bound: 3.7642857.
    assert!(ratio(37_642_857, 10_000_000) <= high && high < ratio(37_643, 10_000), "{high}");
}

/// Whatever is proved encloses what the account says, for every pair of a real network.
#[test]
fn proofs_meet_the_account() {
    let program = muffliato(&GossipMatrix::metropolis(&karate_club_graph().unwrap()), 8).unwrap();
    let account = program.account(&Observer::node(11)).unwrap();
    for u in [5, 16, 33] {
        let (low, high) = of(&program, SensitivitySet::UseLevel, 11, u);
        assert_eq!(low, high);
        let loss = account.loss(u, &SensitivitySet::UseLevel).unwrap();
        let exact = Weight::of(high).to_f64();
        assert!(loss.lower <= exact && exact <= loss.value(), "{exact}");
    }
}

#[test]
fn what_no_proof_shows_is_refused() {
    let path = path_graph(3).unwrap();
    let program = dsgd(&GossipMatrix::metropolis(&path), 2).unwrap();
    let patterns = SensitivitySet::Patterns {
        patterns: crate::Patterns::Cyclic { period: 2 },
        within: Box::new(SensitivitySet::UseLevel),
    };
    assert!(matches!(ProofWriter::new(&program, patterns), Err(error)
        if matches!(error.carried::<ProgramError>(), Some(ProgramError::Witness(_)))));
    // A message without noise.
    let mut clean = Program::new(2).unwrap();
    let x = clean.contribute(0, Reads::Nothing).unwrap();
    clean.send(0, 1, x).unwrap();
    let mut proof = ProofWriter::new(&clean, SensitivitySet::UseLevel).unwrap();
    assert!(matches!(
        proof.of(&Observer::node(1), &[0]),
        Err(Error::Certify(ndp_certify::Error::NoiselessView(0)))
    ));
}

/// A matrix whose best diagonal is known: all entries 1, for which `D = 2 I` covers two uses.
#[test]
fn diagonals_cover() {
    let ones = |k: usize| vec![vec![ratio(1, 1); k]; k];
    assert!(is_covered(&ones(2), &[ratio(2, 1), ratio(2, 1)]));
    assert!(!is_covered(&ones(2), &[ratio(2, 1), ratio(19, 10)]));
    assert!(!is_covered(&ones(2), &[ratio(1, 1), ratio(5, 1)]));
    // I - J/3 for three uses: signs give 8/3, vectors 3, absolute values 4.
    let gram: Vec<Vec<BigRational>> =
        (0..3).map(|i| (0..3).map(|j| if i == j { ratio(2, 3) } else { ratio(-1, 3) }).collect()).collect();
    let diagonal = covering(&gram).unwrap();
    let sum: BigRational = diagonal.iter().sum();
    assert!(is_covered(&gram, &diagonal) && ratio(3, 1) <= sum && sum < ratio(3, 1) + ratio(1, 1_000_000));
}
