//! Attacks on real runs.

use super::prove::Proof;
use super::summary;
use crate::args::Audit;
use crate::errors::Failure;
use crate::output::{csv, down, json, number, up};
use crate::{input, plain, question};
use ndp_account::audit::{AuditPlan, audit};
use ndp_graph::progress::Silent;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

pub(crate) fn run(asked: &Audit, quiet: bool) -> Result<(), Failure> {
    let (graph, matrix) = input::network(&asked.graph, asked.protocol.weights)?;
    let protocol = question::chosen(&asked.protocol, &matrix, None)?;
    let source = input::node(&graph, &asked.source)?;
    let chosen = question::observers(&graph, &asked.observers, &asked.knowledge)?;
    let [observer] = &chosen.observers[..] else {
        return Err(Failure::Usage(
            "an audit has one observer: --observer LABEL, --coalition A,B or --outsider".into(),
        ));
    };
    let proof = asked.proof.as_deref();
    let proof = proof.map(|into| Proof::of(into, &asked.protocol, &protocol, &chosen, &asked.knowledge));
    let proof = proof.transpose()?;
    let (protocol, name) = (protocol.protocol, protocol.name);
    let noise = question::noise(asked.noise, 1.0)?;
    let plan = AuditPlan { runs: asked.runs, error_rate: asked.error_rate };
    let rng = &mut ChaCha8Rng::seed_from_u64(asked.knowledge.seed);
    let found = audit(&protocol, source, observer, noise, plan, rng, &Silent)?;
    let (allowed, grade) = (found.allowed.value().mu(), found.allowed.grade());
    let measured = *found.measured_mu.value();
    if let Some(path) = &asked.files.csv {
        let numbers = [allowed, measured, found.false_positives, found.true_positives];
        let mut row = vec![asked.source.clone(), grade.to_string()];
        row.extend(numbers.map(|x| x.to_string()));
        let header = ["source", "grade", "allowed_mu", "measured_mu", "false_positives", "true_positives"];
        csv(path, asked.knowledge.seed, &header, &[row])?;
    }
    if let Some(path) = &asked.files.json {
        let body = serde_json::json!({ "protocol": name, "source": asked.source, "observers": chosen.description,
            "terms": found.terms, "runs": asked.runs, "error_rate": asked.error_rate, "refuted": found.is_refuted(),
            "allowed_mu": { "grade": grade, "value": allowed }, "measured_mu": found.measured_mu,
            "false_positives": found.false_positives, "true_positives": found.true_positives });
        json(path, asked.knowledge.seed, body)?;
    }
    summary(
        &format!("An attack on {} runs of {} in each of two worlds", asked.runs, name),
        &[
            ("whose data", asked.source.clone()),
            ("what may change", plain::change_of(found.terms.changes).into()),
            ("weights", asked.protocol.weights_in_words()),
            ("observed by", chosen.description.clone()),
            ("noise", format!("{} times {}", number(noise.get()), found.terms.noise.unit)),
            ("which is the", format!("{}, on {}", plain::law(found.terms.noise.law), found.terms.noise.on)),
            ("mu that the account allows", format!("{} [{}]", up(allowed), grade)),
            (
                "mu that the attack shows",
                format!("{} [{}]", down(*found.measured_mu.value()), found.measured_mu.grade()),
            ),
            ("taken for the other world", number(found.false_positives)),
            ("recognised", number(found.true_positives)),
        ],
    )?;
    if let Some(proof) = proof {
        proof.beside(&graph, &chosen, &[source], quiet)?;
    }
    if found.is_refuted() {
        return Err(Failure::NotMet(format!(
            "the attack does better than the account allows; by chance this happens with probability {}",
            asked.error_rate
        )));
    }
    Ok(())
}
