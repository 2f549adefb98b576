//! What several runs cost together: by the names of the nodes, for the same observers in every run.

use ndp_account::{Error, NodeNames, Observer, PairLedgers, Protocol, Target, named};
use ndp_algos::gossip::SynchronousGossip;
use ndp_algos::registry::{self, Parameters};
use ndp_dp::{Adaptivity, Delta, Measure, NoiseMultiplier, Verdict};
use ndp_graph::{GossipMatrix, generators};

fn approx(delta: f64) -> Result<Measure, Error> {
    Ok(Measure::Approx(Delta::new(delta)?))
}

/// Two runs of different protocols over the same data: squares of mu add up, pair by pair.
#[test]
fn ledgers_add_up_by_pair() -> Result<(), Error> {
    let matrix = GossipMatrix::metropolis(&generators::cycle_graph(6)?);
    let gossip = registry::find("muffliato")?.build(&matrix, &"rounds=2".parse()?)?;
    let ring = registry::find("ring-sum")?.build(&matrix, &Parameters::default())?;
    let noise = NoiseMultiplier::new(3.0)?;
    let observer = Observer::node(0);
    let (first, second) = ([gossip.account(&observer)?], [ring.account(&observer)?]);
    let mut ledgers = PairLedgers::with_limits(NodeNames::numbered(6), Target::worst(approx(1e-5)?, 3.0))?;
    ledgers.record("gossip", &first, noise, Adaptivity::Fixed)?;
    ledgers.record("ring", &second, noise, Adaptivity::Fixed)?;
    for u in 1..6 {
        let mu = |account: &dyn ndp_account::Account| -> Result<f64, Error> {
            Ok(account.profile(u, noise)?.mu().unwrap().value().mu())
        };
        let together = ledgers.pair(u, &observer).unwrap().spent()?.mu().unwrap().value().mu();
        assert!((together - mu(first[0].as_ref())?.hypot(mu(second[0].as_ref())?)).abs() < 1e-12);
    }
    assert_eq!(ledgers.verdict()?, Verdict::Met);
    assert!(ledgers.pair(0, &observer).is_none());
    let hidden = ledgers.record("hidden", &first, noise, Adaptivity::OnHidden);
    assert_eq!(hidden, Err(ndp_dp::Error::HiddenAdaptivity.into()));
    assert_eq!(ledgers.pairs().map(|(_, _, ledger)| ledger.entries().len()).max(), Some(2));
    Ok(())
}

/// The path y-h-x and the path h-x-y: the same three nodes in another order. At noise 2 a neighbor of the
/// observer loses mu = 1/2, so that y, a neighbor of h in the first run and nobody's of h in the second, has
/// lost 1/2 towards h, and x, which both show, more.
#[test]
fn ledgers_add_up_by_name_whatever_the_order() -> Result<(), Error> {
    let path = SynchronousGossip::new(GossipMatrix::metropolis(&generators::path_graph(3)?), 1);
    let noise = NoiseMultiplier::new(2.0)?;
    let first_names = NodeNames::new(["y", "h", "x"])?;
    let account = |v, names: &NodeNames| named(path.account(&Observer::node(v))?, names.clone());
    let first = [account(1, &first_names)?];
    let second = [account(0, &NodeNames::new(["h", "x", "y"])?)?];
    let mut ledgers = PairLedgers::new(first_names);
    ledgers.record("first", &first, noise, Adaptivity::Fixed)?;
    ledgers.record("second", &second, noise, Adaptivity::Fixed)?;
    let spent = |ledgers: &PairLedgers, name: &str| -> Result<f64, Error> {
        let (u, v) = (ledgers.names().position(name).unwrap(), ledgers.names().position("h").unwrap());
        Ok(ledgers.pair(u, &Observer::node(v)).unwrap().spent()?.mu().unwrap().value().mu())
    };
    assert_eq!(spent(&ledgers, "y")?, 0.5);
    assert!((spent(&ledgers, "x")? - 0.5f64.sqrt()).abs() < 1e-15);
    // In the second order x would be where y is now: added by position, y had lost both.
    let mut other_way = PairLedgers::new(NodeNames::new(["x", "y", "h"])?);
    other_way.record("second", &second, noise, Adaptivity::Fixed)?;
    other_way.record("first", &first, noise, Adaptivity::Fixed)?;
    for name in ["x", "y"] {
        assert_eq!(spent(&ledgers, name)?, spent(&other_way, name)?);
    }
    // Other names, no names and another size are refused, and leave no trace.
    let four = SynchronousGossip::new(GossipMatrix::metropolis(&generators::path_graph(4)?), 1);
    let larger = named(four.account(&Observer::node(1))?, NodeNames::new(["y", "h", "x", "z"])?)?;
    for (account, differs) in [
        (account(1, &NodeNames::new(["y", "h", "z"])?)?, "no node \"x\", and the ledger has no node \"z\""),
        (larger, "4 and 3: the ledger has no node \"z\""),
        (path.account(&Observer::node(1))?, "no node \"y\", and the ledger has no node \"0\""),
    ] {
        let accounts = [account];
        let refused = ledgers.record("other", &accounts, noise, Adaptivity::Fixed);
        assert!(matches!(refused, Err(Error::OtherNodes { .. })));
        assert!(refused.unwrap_err().to_string().contains(differs));
        assert!(matches!(ledgers.fits(&accounts, noise, Adaptivity::Fixed), Err(Error::OtherNodes { .. })));
    }
    assert_eq!(spent(&ledgers, "y")?, 0.5);
    Ok(())
}

/// A run that one observer is not written down for would be missing in what it is said to have learned.
#[test]
fn every_run_is_written_down_for_the_same_observers() -> Result<(), Error> {
    let path = SynchronousGossip::new(GossipMatrix::metropolis(&generators::path_graph(4)?), 2);
    let account = |observer: &Observer| path.account(observer);
    let (zero, three) = (Observer::node(0), Observer::node(3));
    let noise = NoiseMultiplier::new(2.0)?;
    let mut ledgers = PairLedgers::new(NodeNames::numbered(4));
    ledgers.record(
        "both",
        &[account(&three)?, account(&zero)?, account(&zero)?],
        noise,
        Adaptivity::Fixed,
    )?;
    let weaker = zero.clone().without_own_noise();
    for observers in [vec![&zero], vec![&zero, &three, &weaker], vec![&weaker, &three]] {
        let accounts: Vec<_> =
            observers.iter().map(|observer| account(observer)).collect::<Result<_, _>>()?;
        let refused = ledgers.record("fewer", &accounts, noise, Adaptivity::Fixed);
        assert!(matches!(refused, Err(Error::OtherObservers { .. })), "{refused:?}");
    }
    let nobody = ledgers.record("nobody", &[], noise, Adaptivity::Fixed);
    assert!(matches!(nobody, Err(Error::InvalidParameter { name: "the number of observers", .. })));
    // Twice the same observer is one; the order is none.
    ledgers.record("again", &[account(&zero)?, account(&three)?], noise, Adaptivity::Fixed)?;
    assert_eq!(ledgers.pairs().count(), 6);
    assert!(ledgers.pairs().all(|(_, _, ledger)| ledger.entries().len() == 2));
    // Taps are part of who looks.
    let tapped = zero.clone().tapping(&[(1, 2)]);
    assert!(ledgers.pair(1, &tapped).is_none() && ledgers.pair(1, &weaker).is_none());
    assert!(ledgers.pair(1, &zero).is_some());
    Ok(())
}
