//! The charges of an observer of gossip, round by round, and the noise for a target.

use super::*;

const DESCENT: MuffliatoSgd =
    MuffliatoSgd { rounds: 3, step_size: 0.7, batch: None, domain: Domain::Unbounded, update: Update::Sound };

/// One-peer hypercube: `T` times `2^-j`; server: `T/(n - 1)`; ring: the shift accountant; released recursion:
/// the local loss.
#[test]
fn gossip_is_charged_by_what_happens() -> Result<(), Error> {
    let constants = logistic();
    let matrix = GossipMatrix::metropolis(&generators::cycle_graph(8)?);
    let observer = |sgd: &MuffliatoSgd, mixing: Mixing| GossipObserver::new(sgd, &[mixing], &constants, 8, 5);
    let peers = observer(&DESCENT, Mixing::OnePeerHypercube)?;
    for (source, unit) in [0.25, 0.25, 0.25, 0.25, 1.0, 0.0, 0.5, 0.5].into_iter().enumerate() {
        match peers.loss(source) {
            Ok(loss) => assert_eq!(loss.into_value().get(), 3.0 * unit),
            Err(error) => assert_eq!((source, error), (5, Error::SourceIsObserver(5))),
        }
    }
    // Three levels of the hypercube, each with a total unit loss of 1, where the unit is α s²/(2σ²) = 4.
    let mean = peers.mean(Sigma::new(1.0)?, Order::new(2.0)?)?.into_value();
    assert!((mean - 4.0 * 3.0 * 3.0 / 8.0).abs() < 1e-12 && mean >= 4.5);
    assert!((observer(&DESCENT, Mixing::Server)?.loss(0)?.into_value().get() - 3.0 / 7.0).abs() < 1e-12);
    // A count of 2^32 rounds once overflowed to a loss of 0.
    for rounds in [1usize << 32, (1 << 32) + 1] {
        let long = MuffliatoSgd { rounds, ..DESCENT };
        assert_eq!(observer(&long, Mixing::OnePeerHypercube)?.loss(4)?.into_value().get(), rounds as f64);
        let server = observer(&long, Mixing::Server)?.loss(0)?.into_value().get();
        assert!(server >= rounds as f64 / 7.0 && server <= rounds as f64 / 7.0 * (1.0 + 1e-14));
    }

    let accelerated = Mixing::Accelerated { matrix: matrix.clone(), steps: 2, parameter: 1.3 };
    let shifted = observer(&DESCENT, accelerated.clone())?;
    let gossip = SynchronousGossip::new(matrix.clone(), 2).accelerated(1.3)?;
    let round = Round::of_gossip(&gossip, 5)?;
    let bound = shift_loss(&[&round; 3], 1, &[constants.contraction(0.7); 8])?;
    assert_eq!(shifted.loss(1)?, bound);
    assert!(shifted.loss(1)?.into_value().get() < 3.0 && shifted.loss(4)?.into_value().get() == 3.0);

    // The one-peer hypercube written as steps: nothing is carried over, and the accountants agree.
    let written = observer(&DESCENT, Mixing::Sequence(GossipSequence::one_peer_hypercube(3)?))?;
    for source in [0, 1, 2, 3, 4, 6, 7] {
        let (a, b) = (written.loss(source)?.into_value().get(), peers.loss(source)?.into_value().get());
        assert!((a - b).abs() < 1e-12, "{a} is not {b}");
    }

    // Clipping whole gradients moves the other nodes' models apart: it is never cheaper per unit, but the
    // unit may be smaller.
    let clipped = MuffliatoSgd { update: Update::NodeClipped { clip: 0.25 }, ..DESCENT };
    assert!(
        observer(&clipped, accelerated)?.loss(1)?.into_value().get() >= shifted.loss(1)?.into_value().get()
    );
    let released = MuffliatoSgd { update: Update::AsReleased { clip: 1.0 }, ..DESCENT };
    for (sgd, mixing) in [
        (released, Mixing::OnePeerHypercube),
        (DESCENT, Mixing::AsReleased { matrix, steps: 2, parameter: 1.3 }),
    ] {
        assert_eq!(observer(&sgd, mixing)?.loss(1)?.into_value().get(), 3.0);
    }
    Ok(())
}

/// The least noise of gossip, put back into its account. A pair with local loss, without clipping, is exactly
/// local DP over the rounds.
#[test]
fn noise_of_gossip_meets_its_targets() -> Result<(), Error> {
    let (delta, order, constants) = (Delta::new(1e-5)?, Order::new(2.0)?, logistic());
    // A leaf hears only two combinations of the other nodes in any number of rounds. That the third
    // combination is not one of them is decided modulo primes.
    let star = GossipMatrix::metropolis(&generators::star_graph(7)?);
    let drawn = [Mixing::Plain { matrix: star, steps: 6 }];
    let drawn = GossipObserver::new(&DESCENT, &drawn, &constants, 8, 5)?.failure();
    assert!(0.0 < drawn && drawn < 1e-20, "{drawn}");
    let matrix = GossipMatrix::metropolis(&generators::cycle_graph(8)?);
    for mixing in [Mixing::OnePeerHypercube, Mixing::Plain { matrix, steps: 2 }] {
        let observer = GossipObserver::new(&DESCENT, std::slice::from_ref(&mixing), &constants, 8, 5)?;
        // Consensus and gossip on a cycle have formulas. Other rounds of gossip are certified modulo primes,
        // with a small probability of failure.
        assert_eq!(observer.failure(), 0.0);
        let training = Training::Gossip { sgd: DESCENT, mixings: vec![mixing] };
        let training = PrivateTraining::new(8, constants, training)?;
        let accounts = [training.account(&Observer::node(5))?];
        for source in [0, 4] {
            let target = Target::listed(Measure::Approx(delta), [((source, 5), 1.0)]);
            let noise = least_noise(&accounts, &target)?.noise;
            let spent = accounts[0].profile(source, noise)?.epsilon(delta)?.value().epsilon();
            assert!(spent <= 1.0 && spent > 0.999_999, "{spent}");
        }
        let whole = Gdp::new(3f64.sqrt() / 3.0)?.epsilon(delta).into_value();
        assert!((epsilon_of(&training, (4, 5), 6.0, delta)? / whole - 1.0).abs() < 1e-12);
        let noise = least_noise(&accounts, &Target::mean(Measure::Renyi(order), 0.5))?.noise;
        let sigma = noise.sigma(Sensitivity::new(constants.sensitivity)?)?;
        let mean = observer.mean(sigma, order)?.into_value();
        assert!(mean <= 0.5 * (1.0 + 1e-9) && mean > 0.499_999, "{mean}");
    }
    let wrong = |mixings: &[Mixing], observer| {
        GossipObserver::new(&DESCENT, mixings, &constants, 6, observer).map(|_| ())
    };
    let hypercube = wrong(&[Mixing::OnePeerHypercube], 0);
    assert!(matches!(hypercube, Err(Error::InvalidParameter { name: "the number of nodes", .. })));
    let two = wrong(&[Mixing::Server, Mixing::Server], 0);
    assert_eq!(two, Err(Error::Shape { what: "mixings of rounds", expected: 3, got: 2 }));
    assert_eq!(wrong(&[Mixing::Server], 6), Err(Error::NodeOutOfRange { node: 6, nodes: 6 }));
    Ok(())
}
