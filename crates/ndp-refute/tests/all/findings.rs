//! Every printed bound on a loss that is known to be false is found again from its formula alone, with a
//! counterexample no larger than the known one, and attacks on simulated runs agree.

use ndp_refute::{Counterexample, Expression, FINDINGS, Finding, Outcome, Protocol, Search, attack, refute};

type Checked = Result<(), Box<dyn std::error::Error>>;

fn found(finding: &Finding) -> Result<Counterexample, Box<dyn std::error::Error>> {
    match refute(&Expression::parse(finding.claim)?, &finding.search()?)?.outcome {
        Outcome::Refuted(found) => Ok(found),
        other => Err(format!("finding {}: {other:?}", finding.number).into()),
    }
}

#[test]
fn each_is_found_again_and_no_larger() -> Checked {
    for finding in FINDINGS {
        let found = found(finding)?;
        let size = (found.nodes, found.rounds, found.edges.len());
        assert!(size <= finding.known, "finding {}: {size:?}", finding.number);
    }
    Ok(())
}

/// The numbers count the rows of the document, and the rows begin as they are quoted.
#[test]
fn numbers_are_those_of_the_document() -> Checked {
    let document = include_str!("../../../../docs/findings.md");
    let rows: Vec<&str> = document
        .lines()
        .filter(|line| line.starts_with("| ") && !line.starts_with("| claim |"))
        .map(|line| line.trim_start_matches("| "))
        .collect();
    for finding in FINDINGS {
        let row = rows.get(finding.number - 1).ok_or("too few rows")?;
        assert!(row.starts_with(finding.row), "finding {}: {row}", finding.number);
        assert_eq!(Finding::numbered(finding.number), Some(finding));
    }
    assert_eq!(Finding::numbered(0), None);
    Ok(())
}

/// Where a transcript has an attack, it shows more than was claimed, and no more than is true.
#[test]
fn attacks_on_transcripts_agree() -> Checked {
    let mut refuting = 0;
    for finding in FINDINGS.iter().filter(|finding| !finding.protocol.is_walk()) {
        let found = found(finding)?;
        let Some(done) = attack(&found, 20_000, 1e-3, 5)? else { continue };
        assert!(done.shown <= found.true_loss_decimal, "finding {}: {done:?}", finding.number);
        refuting += usize::from(done.refutes(&found));
    }
    assert!(refuting >= 5, "{refuting}");
    Ok(())
}

/// The scripts print the fraction that the search found, for every protocol.
#[test]
fn scripts_find_the_same_fractions() -> Checked {
    let mut all = Vec::new();
    for number in [1, 7, 8, 11, 34, 50] {
        all.push(found(Finding::numbered(number).ok_or("no such finding")?)?);
    }
    let domain = Some(Expression::parse("hops - 3 / 2")?);
    for protocol in [Protocol::Accelerated(1.25), Protocol::FreshNoise(0.5), Protocol::NoisyMessages(0.5)] {
        let search = Search { protocol, domain: domain.clone(), max_nodes: 4, ..Search::default() };
        let low = refute(&Expression::parse("alpha / 1000")?, &search)?.outcome;
        let Outcome::Refuted(low) = low else { return Err(format!("{protocol:?}: {low:?}").into()) };
        all.push(low);
    }
    for found in all {
        let Ok(output) = std::process::Command::new("python3").args(["-c", &found.python_script()]).output()
        else {
            return Ok(());
        };
        let printed = String::from_utf8(output.stdout)?;
        let wanted = format!("{} {} claimed", found.protocol.truth(), found.true_loss);
        assert!(printed.starts_with(&wanted), "{:?}: {printed} {wanted}", found.protocol);
    }
    Ok(())
}
