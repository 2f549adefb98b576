//! `ndp-account`: ledgers of pairs, limits on them, names of nodes.

use super::dp::measure;
use super::graphs::matrix;
use crate::input::{Ending, Input, Stop};
use crate::sound::{require, sound};
use crate::target::{Target, functions};
use ndp_account::example::Gossip;
use ndp_account::{NodeNames, Observer, PairLedgers, Protocol, Target as Limits, named};
use ndp_dp::{Adaptivity, Odometer, Verdict};

/// Limits, mostly about nodes that are there.
fn limits(i: &mut Input<'_>, nodes: usize) -> Result<Limits, Stop> {
    let measure = measure(i)?;
    Ok(match i.choice(3) {
        0 => Limits::worst(measure, i.positive()),
        1 => Limits::mean(measure, i.positive()),
        _ => {
            let count = i.choice(4);
            Limits::listed(measure, (0..count).map(|_| ((i.place(nodes), i.place(nodes)), i.positive())))
        }
    })
}

/// Names of nodes, the same for the same choice: another order, other names, or more of them.
fn names(i: &mut Input<'_>, nodes: usize) -> Result<NodeNames, Stop> {
    let texts = |count: usize| (0..count).map(|node| format!("n{node}")).collect::<Vec<_>>();
    Ok(match i.choice(12) {
        0 => NodeNames::new((0..nodes).map(|_| i.text()).collect::<Vec<_>>().iter().map(String::as_str))?,
        1 => NodeNames::new(texts(nodes).iter().rev().map(String::as_str))?,
        2 => NodeNames::new(texts(nodes + 1).iter().map(String::as_str))?,
        3 => NodeNames::numbered(nodes),
        _ => NodeNames::new(texts(nodes).iter().map(String::as_str))?,
    })
}

fn adaptivity(i: &mut Input<'_>) -> Adaptivity {
    i.pick(&[Adaptivity::Fixed, Adaptivity::Fixed, Adaptivity::OnSeen])
}

/// Runs that are asked about and recorded: what is spent never falls, what fits leaves all limits met, and
/// what is refused changes nothing.
fn runs(i: &mut Input<'_>, mut ledgers: PairLedgers, gossip: &Gossip, names: &NodeNames) -> Ending {
    let nodes = ledgers.names().count();
    let ask = measure(i)?;
    for _ in 0..1 + i.choice(3) {
        let own_names = if i.choice(8) == 0 { self::names(i, nodes)? } else { names.clone() };
        let observer = Observer::node(i.place(nodes));
        let (noise, how) = (i.noise()?, adaptivity(i));
        let account = gossip.account(&observer)?;
        // Without names nodes are numbers.
        let accounts = [if i.choice(8) == 0 { account } else { named(account, own_names)? }];
        let spent = |ledgers: &PairLedgers| -> Result<Vec<f64>, Stop> {
            let of_pair = |(_, _, ledger): (usize, &Observer, &ndp_dp::Ledger)| {
                Ok(ledger
                    .spent()
                    .and_then(|spent| spent.loss(ask))
                    .map_or(f64::NAN, |loss| loss.into_value()))
            };
            ledgers.pairs().map(of_pair).collect()
        };
        let before = spent(&ledgers)?;
        let fits = ledgers.fits(&accounts, noise, how);
        match ledgers.record(&i.text(), &accounts, noise, how) {
            Ok(()) => {}
            Err(_) => {
                let same = spent(&ledgers)?.iter().zip(&before).all(|(a, b)| a.to_bits() == b.to_bits());
                require(same, || "a run that was refused changed a ledger".to_owned())?;
                continue;
            }
        }
        let after = spent(&ledgers)?;
        // Where a measure has no answer, there is nothing to compare.
        let falls = |(now, then): (&f64, &f64)| *now < *then * (1.0 - 1e-9);
        let fallen = before.len() == after.len() && after.iter().zip(&before).any(falls);
        require(!fallen, || format!("spent fell from {before:?} to {after:?}"))?;
        if let (Ok(true), Ok(verdict)) = (fits, ledgers.verdict()) {
            require(verdict == Verdict::Met, || format!("a run that fits leaves {verdict:?}"))?;
        }
        sound(ledgers.failure())?;
        for (_, _, ledger) in ledgers.pairs() {
            if let Ok(left) = ledger.remaining() {
                require(left.into_value() >= 0.0, || "what remains is negative".to_owned())?;
            }
        }
        if let Ok(mean) = ledgers.mean(&observer, ask) {
            require(mean.into_value() >= 0.0, || "a mean that is none".to_owned())?;
        }
    }
    Ok(())
}

fn gossip(i: &mut Input<'_>) -> Result<(Gossip, NodeNames), Stop> {
    let matrix = matrix(i)?;
    let nodes = matrix.node_count();
    if nodes > 6 {
        return Err(Stop::Refused);
    }
    let names = names(i, nodes)?;
    Ok((Gossip::new(matrix, i.choice(4)), names))
}

pub(super) const ALL: &[Target] = functions! {
    "ndp-account accountant::ledger::PairLedgers::new" => |i| {
        let (gossip, names) = gossip(i)?;
        runs(i, PairLedgers::new(names.clone()), &gossip, &names)
    },
    "ndp-account accountant::ledger::PairLedgers::with_limits" => |i| {
        let (gossip, names) = gossip(i)?;
        let limits = limits(i, names.count())?;
        runs(i, PairLedgers::with_limits(names.clone(), limits)?, &gossip, &names)
    },
    "ndp-account accountant::ledger::PairLedgers::with_odometer" => |i| {
        let (gossip, names) = gossip(i)?;
        let odometer = Odometer::new(i.positive(), i.delta()?)?;
        runs(i, PairLedgers::with_odometer(names.clone(), odometer), &gossip, &names)
    },
};
