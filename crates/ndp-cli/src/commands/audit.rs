//! Attacks on real runs.

use super::prove::Proof;
use crate::args::Audit;
use crate::errors::Failure;
use crate::output::{self, down, finite, number, up};
use crate::patience::Limit;
use crate::question::{Chosen, ChosenProtocol};
use crate::show::{Answer, Part, Sheet, show};
use crate::{input, plain, question};
use ndp_account::Law;
use ndp_account::audit::{self, AuditPlan, audit};
use ndp_dp::NoiseMultiplier;
use ndp_graph::Graph;
use ndp_graph::progress::Silent;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

const HEADER: [&str; 11] = [
    "source",
    "observer",
    "multiplier",
    "grade",
    "allowed_mu",
    "allowed_at",
    "runs",
    "measured_mu",
    "error_rate",
    "false_positives",
    "true_positives",
];

/// What is asked: an attack by one observer on one node's value.
struct Study<'a> {
    asked: &'a Audit,
    graph: Graph,
    protocol: ChosenProtocol,
    source: usize,
    chosen: Chosen,
    noise: NoiseMultiplier,
    proof: Option<Proof>,
}

/// What the attack found.
struct Audited<'a> {
    study: &'a Study<'a>,
    report: audit::Audit,
}

pub(crate) fn run(asked: &Audit, quiet: bool) -> Result<(), Failure> {
    let study = Study::of(asked)?;
    let found = study.answer()?;
    show(&found, &asked.files, asked.knowledge.seed)?;
    if let Some(proof) = &study.proof {
        proof.beside(&study.graph, &study.chosen, &[study.source], quiet)?;
    }
    found.verdict()
}

impl<'a> Study<'a> {
    fn of(asked: &'a Audit) -> Result<Self, Failure> {
        let (graph, matrix) = input::network(&asked.graph, asked.protocol.gossip.weights)?;
        let protocol = question::chosen(&asked.protocol, &matrix, Limit::never())?;
        let source = input::node(&graph, &asked.source)?;
        let chosen = question::observers(&graph, &asked.observers, &asked.knowledge)?;
        if chosen.observers.len() != 1 {
            return Err(Failure::Usage(
                "an audit has one observer: --observer LABEL, --coalition A,B, or --outsider where an outsider sees anything"
                    .into(),
            ));
        }
        let proof = asked.proof.as_deref();
        let proof = proof.map(|into| Proof::of(into, &asked.protocol, &protocol, &chosen, &asked.knowledge));
        let proof = proof.transpose()?;
        let noise = question::noise(asked.noise, 1.0)?;
        Ok(Self { asked, graph, protocol, source, chosen, noise, proof })
    }

    fn answer(&self) -> Result<Audited<'_>, Failure> {
        let plan = AuditPlan { runs: self.asked.runs, error_rate: self.asked.error_rate };
        let rng = &mut ChaCha8Rng::seed_from_u64(self.asked.knowledge.seed);
        let (protocol, observer) = (&self.protocol.protocol, &self.chosen.observers[0]);
        let report = audit(protocol, self.source, observer, self.noise, plan, rng, &Silent)?;
        Ok(Audited { study: self, report })
    }
}

impl Answer for Audited<'_> {
    fn text(&self) -> Vec<Part<'_>> {
        let (study, found) = (self.study, &self.report);
        let asked = study.asked;
        let (allowed, measured) = (&found.allowed, &found.measured_mu);
        let at = found.allowed_at.map_or_else(String::new, |rate| {
            format!(", of tests that take {} of the runs for the other world", number(rate))
        });
        let wrong = format!(", too much with probability {} at most", asked.error_rate);
        let title =
            format!("An attack on {} runs of {} in each of two worlds", asked.runs, study.protocol.name);
        let mut rows = study.protocol.rows();
        rows.extend([
            ("whose data", asked.source.clone()),
            ("what may change", plain::changes(&found.statement)),
            ("weights", asked.protocol.weights_in_words()),
            ("observed by", study.chosen.description.clone()),
        ]);
        for noise in &found.statement.noise {
            let number = output::noise(study.noise.get());
            let of_reports = noise.law == Law::RandomizedResponse;
            rows.push(("noise", if of_reports { number } else { format!("{number} times {}", noise.unit) }));
            rows.push(("which is the", format!("{}, on {}", plain::law(noise.law), noise.on)));
        }
        rows.extend(plain::granted(&found.statement));
        rows.extend([
            ("mu that the account allows", format!("{} [{}]{at}", up(*allowed.value()), allowed.grade())),
            (
                "mu that the attack shows",
                format!("{} [{}]{wrong}", down(*measured.value()), measured.grade()),
            ),
            ("taken for the other world", number(found.false_positives)),
            ("recognized", number(found.true_positives)),
        ]);
        vec![Part::Summary(title, rows)]
    }

    fn sheet(&self) -> Sheet {
        let found = &self.report;
        let (allowed, measured) = (*found.allowed.value(), *found.measured_mu.value());
        let asked = self.study.asked;
        let numbers = [measured, asked.error_rate, found.false_positives, found.true_positives];
        let at = found.allowed_at.map_or_else(String::new, |rate| rate.to_string());
        let (observer, runs) = (self.study.chosen.description.clone(), asked.runs.to_string());
        let grade = found.allowed.grade().to_string();
        let noise = self.study.noise.get().to_string();
        let mut row = vec![asked.source.clone(), observer, noise, grade, allowed.to_string(), at, runs];
        row.extend(numbers.map(|x| x.to_string()));
        Sheet { header: HEADER.to_vec(), rows: vec![row] }
    }

    fn data(&self) -> Result<serde_json::Value, Failure> {
        let (study, found) = (self.study, &self.report);
        let allowed =
            serde_json::json!({ "grade": found.allowed.grade(), "value": finite(*found.allowed.value()) });
        Ok(
            serde_json::json!({ "protocol": study.protocol.name, "parameters": output::parameters(&study.protocol.parameters),
             "source": study.asked.source,
            "observers": study.chosen.description, "multiplier": study.noise.get(), "statement": found.statement, "runs": study.asked.runs,
            "error_rate": study.asked.error_rate, "refuted": found.is_refuted(), "allowed_mu": allowed,
            "allowed_at": found.allowed_at, "measured_mu": found.measured_mu, "false_positives": found.false_positives,
            "true_positives": found.true_positives }),
        )
    }
}

impl Audited<'_> {
    /// Whether the attack agrees with the account.
    fn verdict(&self) -> Result<(), Failure> {
        if self.report.is_refuted() {
            return Err(Failure::NotMet(format!(
                "the attack does better than the account allows; by chance this happens with probability {} at most",
                self.study.asked.error_rate
            )));
        }
        Ok(())
    }
}
