//! `ndp-account`, `ndp-program`, `ndp-refute`: views, ledgers, programs as texts and call by call, logs of
//! meters, formulas.

use super::dp::measure;
use super::graphs::{graph, matrix, rng};
use crate::input::{Ending, Input, Stop};
use crate::sound::{Sound, answered, require, returned, sound};
use crate::target::{Target, functions};
use ndarray::Array2;
use ndp_account::{
    Audience, NodeNames, Observer, View, audit, loss, number_of_coalitions, parts as account_parts,
};
use ndp_program::constructors as made;
use ndp_program::meter::{Feed, Limits, Meter, Neighbors, Scale};
use ndp_program::{NodeVerdict, Program, ProgramAccount, Reads, SensitivitySet, Value, Weight};
use ndp_refute::Expression;

fn weight(i: &mut Input<'_>) -> Weight {
    match i.choice(3) {
        0 => Weight::from((i.count() as i64, i.count() as i64)),
        1 => Weight::from(i.positive()),
        _ => Weight::from(i.real()),
    }
}

/// Nodes, most of which are there.
fn places(i: &mut Input<'_>, n: usize) -> Vec<usize> {
    (0..i.choice(4)).map(|_| i.place(n)).collect()
}

/// A value of the program, which may be another program's.
fn value(i: &mut Input<'_>, program: &Program) -> Option<Value> {
    let all: Vec<Value> = program.values().collect();
    all.get(i.place(all.len())).copied()
}

fn values(i: &mut Input<'_>, program: &Program) -> Vec<Value> {
    (0..i.choice(8)).filter_map(|_| value(i, program)).collect()
}

fn set(i: &mut Input<'_>) -> SensitivitySet {
    match i.choice(4) {
        0 => SensitivitySet::UseLevel,
        1 => SensitivitySet::SameDirection,
        2 => SensitivitySet::Signs,
        _ => SensitivitySet::Along(i.reals(4)),
    }
}

/// A loss is a number of at least its lower end, which is not negative.
fn losses(account: &ProgramAccount, nodes: usize, set: &SensitivitySet) -> Ending {
    for source in 0..nodes.min(4) {
        // A node without contributions, or a set of another length, is refused.
        if let Ok(NodeVerdict::Bounded(loss)) = account.verdict(source, set) {
            let (low, high) = (loss.lower, loss.value());
            require(0.0 <= low && low <= high, || format!("ends {low:e} and {high:e} of node {source}"))?;
        }
    }
    Ok(())
}

/// What a small program costs.
fn account(i: &mut Input<'_>, program: &Program) -> Ending {
    let nodes = program.node_count();
    if nodes > 12 || program.values().len() > 200 {
        return Ok(());
    }
    let observer = Observer::coalition(&places(i, nodes));
    let account = program.account(&observer)?;
    losses(&account, nodes, &SensitivitySet::UseLevel)?;
    losses(&account, nodes, &set(i))
}

/// A program that was read is written, and reads back as the same text.
fn text(i: &mut Input<'_>) -> Ending {
    let program = Program::read(i.rest())?;
    let mut written = Vec::new();
    program.write(&mut written)?;
    let again = match Program::read(&written[..]) {
        Ok(again) => again,
        Err(error) => return Err(Stop::Wrong(format!("what is written does not read back: {error}"))),
    };
    let mut twice = Vec::new();
    again.write(&mut twice)?;
    require(written == twice, || "what is written reads back as something else".to_owned())?;
    if program.node_count() <= 6 && program.values().len() <= 60 {
        let account = program.account(&Observer::node(0))?;
        losses(&account, program.node_count(), &SensitivitySet::UseLevel)?;
    }
    Ok(())
}

/// A meter that reads whatever lines; what counts is asked.
fn log(i: &mut Input<'_>) -> Ending {
    let text = i.rest();
    let mut feed = Feed::default();
    let found = feed.lines(text);
    if let Some(meter) = feed.meter() {
        if meter.node_count() <= 12 {
            for observer in 0..meter.observers().len().min(4) {
                let reading = meter.reading(observer)?;
                for node in 0..meter.node_count() {
                    require(reading.upper(node).is_none_or(|x| x >= 0.0), || {
                        "a loss that is none".to_owned()
                    })?;
                }
            }
        }
        sound(feed.remaining(3)?)?;
    }
    let found = found?;
    require(found.bytes <= text.len() as u64, || "more bytes than there are".to_owned())
}

/// The same line by line, as a program tells them.
fn lines(i: &mut Input<'_>) -> Ending {
    let text = String::from_utf8_lossy(i.rest()).into_owned();
    let mut feed = Feed::seen_as(if text.len().is_multiple_of(5) { "coordinator" } else { "own:a" });
    if !text.len().is_multiple_of(3) {
        feed = Feed::default();
    }
    let mut taken = 0;
    for line in text.lines() {
        taken += usize::from(feed.line(line).is_ok());
    }
    if taken == 0 { Err(Stop::Refused) } else { Ok(()) }
}

/// Whatever calls, then what they cost.
fn builder(i: &mut Input<'_>) -> Ending {
    let n = 1 + i.choice(4);
    let mut program = Program::new(n)?;
    for _ in 0..i.choice(16) {
        // A call that is refused changes nothing: the account below shows it.
        let refused = match i.choice(14) {
            0 | 1 => {
                let reads = i.choice(3);
                let reads = match reads {
                    0 => Reads::Nothing,
                    1 => Reads::Seen(None),
                    _ => Reads::Hidden(Some(values(i, &program))),
                };
                program.contribute(i.place(n), reads).is_err()
            }
            2 => program.noise(places(i, n), weight(i)).is_err(),
            3 => program.noise_all(weight(i)).is_err(),
            4 => program.pairwise(i.place(n), i.place(n), weight(i)).is_err(),
            5 => program.zero_sum(&places(i, n), weight(i)).is_err(),
            6 => {
                let group = places(i, n);
                let rows: Vec<Vec<Weight>> =
                    (0..group.len()).map(|_| (0..group.len()).map(|_| weight(i)).collect()).collect();
                program.correlated(&group, &rows).is_err()
            }
            7 => {
                let rows: Vec<Vec<Weight>> =
                    (0..i.choice(3)).map(|t| (0..=t).map(|_| weight(i)).collect()).collect();
                program.noise_over_time(i.place(n), &rows, weight(i)).is_err()
            }
            8 => {
                let all = values(i, &program);
                let terms: Vec<(Weight, Value)> = all.into_iter().map(|value| (weight(i), value)).collect();
                program.combine(terms).is_err()
            }
            9 => value(i, &program).is_some_and(|value| program.send(i.place(n), i.place(n), value).is_err()),
            10 => value(i, &program).is_some_and(|value| program.broadcast(i.place(n), value).is_err()),
            11 => {
                let all = values(i, &program);
                let terms: Vec<(usize, Weight, Value)> =
                    all.into_iter().map(|value| (i.place(n), weight(i), value)).collect();
                program.secure_sum(i.place(n), terms).is_err()
            }
            12 => program.leave(i.place(n)).is_err(),
            _ => program.join(i.place(n)).is_err(),
        };
        returned(refused)?;
    }
    returned(program.uses(i.choice(n)))?;
    account(i, &program)
}

/// The programs of papers, with whatever numbers.
fn constructed(i: &mut Input<'_>) -> Ending {
    let (matrix, graph) = (matrix(i)?, graph(i)?);
    let rounds = i.choice(4);
    let program = match i.choice(8) {
        0 => made::muffliato(&matrix, rounds)?,
        1 => made::decor(&graph, weight(i), weight(i), rounds)?,
        2 => made::gopa(&graph, weight(i), weight(i), &places(i, graph.node_count()))?,
        3 => made::zip_dl(&graph, weight(i), weight(i))?,
        4 => made::secure_neighbor_sums(&matrix, rounds)?,
        5 => {
            let variances: Vec<Weight> = (0..rounds).map(|_| weight(i)).collect();
            made::fresh_noise(&matrix, &variances)?
        }
        6 => made::corn_dsgd_along(&matrix, weight(i), weight(i), rounds)?,
        _ => {
            let nodes = i.size(6);
            let rings: Vec<(usize, usize)> = (0..rounds).map(|_| (i.place(nodes), i.place(nodes))).collect();
            made::randomized_gossip(nodes, &rings)?
        }
    };
    account(i, &program)
}

/// A view that is given as numbers, and its losses.
fn view(i: &mut Input<'_>) -> Ending {
    let (rows, nodes, noises) = (i.choice(4), 1 + i.choice(4), i.choice(4));
    let inputs = Array2::from_shape_simple_fn((rows, nodes), || i.real());
    let sources = Array2::from_shape_simple_fn((rows, noises), || i.real());
    let view = View::new(&places(i, nodes), inputs, sources, &places(i, noises))?;
    let report = loss::exact_loss(&view)?;
    for source in 0..nodes {
        if let Ok((low, high)) = report.enclosure(source) {
            require(0.0 <= low && low <= high, || format!("ends {low:e} and {high:e}"))?;
        }
    }
    Ok(())
}

impl Sound for Limits {
    fn sound(&self) -> Ending {
        sound(self.of(0, 0))
    }
}

pub(super) const PARSERS: &[Target] = &[
    Target::parser("program", &["ndp-program format::read::Program::read"], text),
    Target::parser(
        "meter-log",
        &["ndp-program meter::feed::Feed::lines", "ndp-program meter::feed::Feed::remaining"],
        log,
    ),
    Target::parser(
        "meter-log",
        &["ndp-program meter::feed::Feed::line", "ndp-program meter::feed::Feed::seen_as"],
        lines,
    ),
    Target::parser("formula", &["ndp-refute expression::Expression::parse"], |i| {
        let text = String::from_utf8_lossy(i.rest()).into_owned();
        let read = Expression::parse(&text)?;
        require(read.text() == text, || "another text".to_owned())
    }),
];

pub(super) const CALLS: &[Target] = &[
    Target::function(
        &[
            "ndp-program build::Program::contribute",
            "ndp-program noises::Program::correlated",
            "ndp-program build::Program::new",
            "ndp-program build::Program::noise",
            "ndp-program build::Program::noise_all",
            "ndp-program noises::Program::noise_over_time",
            "ndp-program build::Program::pairwise",
            "ndp-program noises::Program::zero_sum",
            "ndp-program build::Program::uses",
            "ndp-program steps::Program::combine",
            "ndp-program steps::Program::broadcast",
            "ndp-program steps::Program::join",
            "ndp-program steps::Program::leave",
            "ndp-program steps::Program::secure_sum",
            "ndp-program steps::Program::send",
            "ndp-program account::ProgramAccount::verdict",
        ],
        builder,
    )
    .holding(256),
    Target::function(
        &[
            "ndp-program constructors::muffliato::muffliato",
            "ndp-program constructors::decor::decor",
            "ndp-program constructors::gopa::gopa",
            "ndp-program constructors::zip_dl::zip_dl",
            "ndp-program constructors::secure_neighbor_sums::secure_neighbor_sums",
            "ndp-program constructors::fresh_noise::fresh_noise",
            "ndp-program constructors::corn_dsgd::corn_dsgd_along",
            "ndp-program constructors::randomized_gossip::randomized_gossip",
        ],
        constructed,
    )
    .holding(256),
    Target::function(&["ndp-account view::View::new", "ndp-account loss::LossReport::enclosure"], view)
        .holding(256),
];

pub(super) const ALL: &[Target] = functions! {
    "ndp-account accountant::audience::number_of_coalitions" => |i| {
        sound(number_of_coalitions(i.count() as usize, i.count() as usize))
    },
    "ndp-account accountant::audience::Audience::chosen" => |i| returned(Audience::chosen(i.size(9), &places(i, 9))?),
    "ndp-account accountant::audience::Audience::drawn" => |i| {
        returned(Audience::drawn(i.size(9), &places(i, 9), i.count())?)
    },
    "ndp-account accountant::audience::Audience::coalitions" => |i| {
        let (nodes, size) = (i.size(9), i.size(9));
        returned(Audience::coalitions(nodes, size, &Observer::coalition(&places(i, 9)))?)
    },
    "ndp-account accountant::names::NodeNames::new" => |i| {
        let names: Vec<String> = (0..i.choice(5)).map(|_| i.text()).collect();
        let made = NodeNames::new(names.clone())?;
        require(names.iter().enumerate().all(|(v, name)| made.position(name) == Some(v)), || "a name is lost".to_owned())
    },
    "ndp-account accountant::names::NodeNames::position" => |i| {
        let found = NodeNames::numbered(i.size(9)).position(&i.text());
        require(found.is_none_or(|v| v < 1 << 63), || "no node".to_owned())
    },
    "ndp-account accountant::observer::Observer::checked" => |i| {
        returned(Observer::coalition(&places(i, 7)).checked(i.size(7))?.len())
    },
    "ndp-account accountant::observer::Observer::checked_source" => |i| {
        answered(Observer::coalition(&places(i, 7)).checked_source(i.place(7), i.size(7)))
    },
    "ndp-account accountant::observer::Observer::single" => |i| {
        answered(Observer::coalition(&places(i, 7)).single(i.size(7)))
    },
    "ndp-account audit::clopper_pearson_upper" => |i| {
        let found = audit::clopper_pearson_upper(i.count() as usize, i.count() as usize, i.chance())?;
        require((0.0..=1.0).contains(&found), || format!("a probability of {found}"))
    },
    "ndp-account loss::quotient_up" => |i| {
        let (a, b) = (i.positive(), i.positive());
        let found = account_parts::quotient_up(a, b);
        if a >= 0.0 && b > 0.0 && a.is_finite() && b.is_finite() { sound(found) } else { returned(found) }
    },
    "ndp-account view::checked_coalition" => |i| {
        returned(account_parts::checked_coalition(&places(i, 7), i.size(7))?)
    },
    "ndp-account accountant::target::Target::worst" => |i| {
        returned(ndp_account::Target::worst(measure(i)?, i.real()))
    },
    "ndp-program meter::budget::Limits::approx" => |i| answered(Limits::approx(i.positive(), i.delta()?)),
    "ndp-program meter::budget::Limits::worst" => |i| answered(Limits::worst(i.real())),
    "ndp-program meter::budget::Limits::pair" => |i| {
        answered(Limits::worst(i.positive())?.pair(i.place(5), i.place(5), i.real()))
    },
    "ndp-program meter::scale::Scale::new" => |i| {
        let scale = Scale::new(i.real(), i.pick(&[Neighbors::Zero, Neighbors::Replace]))?;
        sound(scale.clip())
    },
    "ndp-program meter::Meter::every_node" => |i| {
        let meter = Meter::every_node(i.size(5), set(i))?;
        returned(meter.reading(i.place(5))?)
    },
    "ndp-program vector::schedule::NoiseSchedule::new" => |i| {
        let schedule = ndp_program::parts::NoiseSchedule::new(i.reals(6))?;
        sound(schedule.first())?;
        returned(schedule.scaled_to(i.sigma()?)?)
    },
    "ndp-program vector::error::error_weights" => |i| {
        answered(ndp_program::parts::error_weights(&matrix(i)?, i.choice(30)))
    },
    "ndp-program vector::error::require_operator" => |i| {
        answered(ndp_program::parts::require_operator(i.count() as usize))
    },
    "ndp-program vector::error::require_rounds" => |i| {
        answered(ndp_program::parts::require_rounds(i.count() as usize, i.count() as usize))
    },
    "ndp-program weight::inverse_of_lower" => |i| {
        let rows: Vec<Vec<Weight>> = (0..i.choice(4)).map(|t| (0..=t).map(|_| weight(i)).collect()).collect();
        returned(ndp_program::inverse_of_lower(&rows)?)
    },
    "ndp-program weight::toeplitz" => |i| {
        let band: Vec<Weight> = (0..i.choice(4)).map(|_| weight(i)).collect();
        returned(ndp_program::toeplitz(i.choice(9), &band))
    },
    "ndp-program simulate::Program::run" => |i| {
        let program = made::muffliato(&matrix(i)?, i.choice(3))?;
        let (noise, x) = (i.noise()?, i.real());
        returned(program.run(i.choice(3), noise, |_, _, _| Ok(vec![x; 2]), &mut rng())?)
    },
    "ndp-refute graphs::connected_graphs" => |i| {
        let nodes = i.size(5);
        returned(ndp_refute::connected_graphs(nodes)?)
    },
    "ndp-refute graphs::thin_graphs" => |i| returned(ndp_refute::thin_graphs(i.size(20))?),
    "ndp-refute setting::Setting::new" => |i| {
        let graph = graph(i)?;
        let rule = i.pick(&[ndp_refute::WeightRule::Metropolis, ndp_refute::WeightRule::MaxDegree, ndp_refute::WeightRule::Lazy]);
        returned(ndp_refute::Setting::new(&graph, rule, ndp_refute::Protocol::Muffliato, i.choice(5))?)
    },
};
