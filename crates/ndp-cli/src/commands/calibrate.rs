//! The least noise for a target.

use super::covered;
use super::prove::Proof;
use crate::args::Calibrate;
use crate::errors::{Failure, in_words};
use crate::output::{count, finite, note, number, parameters, up};
use crate::patience;
use crate::question::{Chosen, ChosenProtocol};
use crate::show::{Answer, Part, Sheet, show};
use crate::{input, plain, question};
use ndp_account::{Coverage, Error, LeastNoise, Observer, Pair, Protocol, Statement, Target, least_noise};
use ndp_dp::{Grade, NoiseMultiplier};
use ndp_graph::Graph;
use ndp_report::words;
use serde_json::json;

/// What is asked: of which network and protocol, at which target.
struct Study<'a> {
    asked: &'a Calibrate,
    graph: Graph,
    target: Target,
    chosen: Chosen,
    protocol: ChosenProtocol,
    proof: Option<Proof>,
}

/// What was found.
struct Calibrated<'a> {
    study: &'a Study<'a>,
    least: LeastNoise,
    /// The noise that is enough for the observers who were looked at, if the others need more.
    of_looked_at: Option<NoiseMultiplier>,
    /// The observers whose accounts were computed; a bound or a symmetry covers the others.
    looked_at: Vec<Observer>,
    statement: Statement,
    error: Result<f64, Error>,
    messages: Result<f64, Error>,
}

pub(crate) fn run(asked: &Calibrate, quiet: bool) -> Result<(), Failure> {
    let study = Study::of(asked)?;
    let found = study.answer(quiet)?;
    show(&found, &asked.files, asked.knowledge.seed)?;
    if let Some(proof) = &study.proof {
        proof.beside(&study.graph, &study.chosen, &[], quiet)?;
    }
    found.verdict()
}

impl<'a> Study<'a> {
    fn of(asked: &'a Calibrate) -> Result<Self, Failure> {
        let (graph, matrix) = input::network(&asked.graph, asked.protocol.gossip.weights)?;
        let target = asked.target.required(&graph)?;
        let chosen = question::everybody(&graph, &asked.observers, &asked.knowledge, Some(&target))?;
        let mut protocol = question::chosen(&asked.protocol, &matrix, patience::told(asked.effort.patience))?;
        protocol.protocol = protocol.protocol.where_it_wins(&chosen.audience);
        let proof = asked.proof.as_deref();
        let proof = proof.map(|into| Proof::of(into, &asked.protocol, &protocol, &chosen, &asked.knowledge));
        let proof = proof.transpose()?;
        protocol.protocol = protocol.protocol.for_every_pair().on_values_of(asked.unit.sensitivity);
        Ok(Self { asked, graph, target, chosen, protocol, proof })
    }

    fn answer(&self, quiet: bool) -> Result<Calibrated<'_>, Failure> {
        let (target, unit) = (self.target.clone(), self.asked.unit.sensitivity);
        let protocol = &self.protocol.protocol;
        let meanwhile = patience::meanwhile(protocol, &self.chosen.audience, quiet, move |bounds| {
            let least = least_noise(bounds, &target).ok()?;
            Some(words::noise_is_enough(question::in_unit(least.noise, unit)))
        });
        let covered = covered(protocol, &self.chosen, quiet)?;
        let before = patience::notes(protocol).len();
        let least = protocol.steady(|| super::least_noise(&covered, &self.target))?;
        drop(meanwhile);
        // `covered` has already printed the notes about observers; print only those added since.
        patience::notes(protocol).iter().skip(before).for_each(|text| note(text));
        Ok(Calibrated {
            study: self,
            of_looked_at: covered.of_looked_at(&self.target, &least),
            looked_at: covered.looked_at().iter().map(|account| account.observer().clone()).collect(),
            statement: covered.statement()?,
            error: protocol.error(least.noise).map_err(in_words),
            messages: protocol.message_count(),
            least,
        })
    }
}

impl Answer for Calibrated<'_> {
    fn text(&self) -> Vec<Part<'_>> {
        let (study, statement, least) = (self.study, &self.statement, &self.least);
        let unit = self.unit();
        let scaled = |x: &Result<f64, Error>, shown: &dyn Fn(f64) -> String| {
            x.as_ref().map_or_else(|error| error.to_string(), |&x| shown(x))
        };
        let noise = plain::noise_in_units(&up(self.noise()), &up(least.noise.get()), statement);
        let mut rows = study.protocol.rows();
        rows.extend([
            ("weights", study.asked.protocol.weights_in_words()),
            ("what may change", plain::changes(statement)),
            ("observed by", plain::observed_by(statement, &study.graph)),
            ("target", words::target(&study.target)),
            ("least noise", noise),
            ("which is the", plain::noise_is(statement)),
        ]);
        if let Some(less) = self.of_looked_at {
            let shown = up(question::in_unit(less, unit));
            rows.push(("for those looked at alone", words::less_for_those(&shown)));
        }
        rows.extend(plain::granted(statement));
        rows.extend([
            ("error of the result, at most", scaled(&self.error, &|error| up(error * unit))),
            ("messages", scaled(&self.messages, &count)),
        ]);
        if let Some(pair) = &least.tightest {
            let (u, observer) = (input::label(&study.graph, pair.source), self.observer(pair));
            let (loss, allowed) = (up(*pair.loss.value()), number(pair.allowed));
            let (grade, by) = (pair.loss.grade(), self.by(pair));
            rows.push((
                "tightest pair",
                format!("what {observer} learns about {u}: {loss} of {allowed} [{grade}{by}]"),
            ));
        } else if let Some(grade) = least.grade {
            rows.push(("grade of the largest mean", grade.to_string()));
        }
        rows.push(("computed by", words::by(statement)));
        rows.push(("the account fails", question::probability(statement.failure)));
        vec![Part::Summary("The least noise".into(), rows)]
    }

    fn sheet(&self) -> Sheet {
        let grade = self.least.grade.map_or_else(String::new, |grade| grade.to_string());
        let coverage = self.statement.coverage.in_short();
        let law = plain::law_of_noise(&self.statement);
        let told = |x: Option<f64>| x.map_or_else(String::new, |x| x.to_string());
        let (error, messages) = (told(self.error_in_unit()), told(self.messages.as_ref().ok().copied()));
        Sheet {
            header: vec!["protocol", "noise", "grade", "observers", "law", "error", "messages", "target"],
            rows: vec![vec![
                self.study.protocol.name.clone(),
                self.noise().to_string(),
                grade,
                coverage,
                law,
                error,
                messages,
                words::target(&self.study.target),
            ]],
        }
    }

    fn data(&self) -> Result<serde_json::Value, Failure> {
        let (study, graph) = (self.study, &self.study.graph);
        let tightest = self.least.tightest.as_ref().map(|pair| {
            json!({ "source": input::label(graph, pair.source), "observer": self.observer(pair),
                "loss": pair.loss, "allowed": finite(pair.allowed) })
        });
        Ok(json!({ "protocol": study.protocol.name, "parameters": parameters(&study.protocol.parameters),
             "noise": self.noise(), "multiplier": self.least.noise.get(),
            "statement": self.statement, "target": words::target(&study.target),
            "observers": plain::observed_by(&self.statement, graph),
            "error": self.error_in_unit(), "messages": self.messages.as_ref().ok(),
            "grade": self.least.grade, "multiplier_of_looked_at": self.of_looked_at.map(NoiseMultiplier::get), "tightest": tightest }))
    }
}

impl Calibrated<'_> {
    fn unit(&self) -> f64 {
        self.study.asked.unit.sensitivity
    }

    /// An upper bound on the error of the result, in the unit of the values.
    fn error_in_unit(&self) -> Option<f64> {
        let unit = self.unit();
        self.error.as_ref().ok().map(|error| if unit == 1.0 { *error } else { (error * unit).next_up() })
    }

    /// The least noise in the unit of the values.
    fn noise(&self) -> f64 {
        question::in_unit(self.least.noise, self.unit())
    }

    /// The observer of a pair by name.
    fn observer(&self, pair: &Pair) -> String {
        match pair.observer.members() {
            [] => "the outsider".into(),
            _ => plain::name(&self.study.graph, &pair.observer),
        }
    }

    /// If the pair's observer was not looked at, says whether groups or a bound give its loss; otherwise
    /// empty.
    fn by(&self, pair: &Pair) -> &'static str {
        match self.statement.coverage {
            _ if self.looked_at.contains(&pair.observer) || pair.loss.grade() == Grade::Exact => "",
            Coverage::Grouped { .. } => ", by the groups for those not looked at",
            _ => ", by the bound for those not looked at",
        }
    }

    /// Fails if the noise is not shown to meet the target for every observer the question is about.
    fn verdict(&self) -> Result<(), Failure> {
        if self.statement.coverage.is_whole() {
            return Ok(());
        }
        Err(Failure::NotMet(format!(
            "the target is not shown at this noise: {}",
            words::shown_for(&self.statement.coverage)
        )))
    }
}
