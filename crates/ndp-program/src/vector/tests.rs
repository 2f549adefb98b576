use super::*;
use crate::constructors::{fresh_noise, randomized_gossip};
use crate::{MixingMatrix, Program, Reads, SensitivitySet, Weight};
use approx::assert_abs_diff_eq;
use ndarray::{Array2, Axis, array, s};
use ndp_account::{Assumption, Error, LinearProtocol, Observer, OwnNoise};
use ndp_certify::account::{Budget, of_rows};
use ndp_dp::Sigma;
use ndp_graph::generators::{complete_graph, grid_2d_graph};
use ndp_graph::{Graph, Weights};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// A statement of every kind.
struct Said {
    graph: Graph,
    matrix: GossipMatrix,
    lazy: GossipMatrix,
    sequence: GossipSequence,
    rings: Vec<ActiveEdge>,
}

impl Said {
    fn new() -> Result<Self, Error> {
        let graph = grid_2d_graph(3, 4)?;
        let matrix = GossipMatrix::metropolis(&graph);
        let edges: Vec<(usize, usize)> = graph.edges().collect();
        let mut steps: Vec<Step> = edges.iter().map(|&(a, b)| Step::Pair(a, b)).collect();
        steps[3] = Step::Matrix(matrix.lazy(0.25)?);
        steps[5] = Step::Idle;
        let sequence = GossipSequence::new(12, steps)?;
        let rings = edges.iter().map(|&edge| ActiveEdge { wait: 0.3, edge }).collect();
        let lazy = matrix.lazy(0.5)?;
        Ok(Self { graph, matrix, lazy, sequence, rings })
    }

    fn all(&self) -> Vec<VectorProgram<'_>> {
        let new = || VectorProgram::new(12);
        let noisy = |kind| new().noise(1.0).noisy_rounds(&self.matrix, 4, kind, 0.3);
        vec![
            new().noise(1.0).rounds(&self.matrix, 5),
            new().noise(1.0).accelerated_rounds(&self.matrix, 5, 1.4),
            new().noise(1.0).changing(&self.sequence),
            new().noise(2.0).rounds(&self.matrix, 1).noise(0.5).rounds(&self.matrix, 2),
            noisy(MessageNoise::Broadcast),
            noisy(MessageNoise::PerLink),
            new().noise(1.0).rings(&self.rings, 0.5, (0.05, 1.25)),
            // Several parts, one after the other.
            new().noise(1.0).rounds(&self.matrix, 2).changing(&self.sequence).rounds(&self.lazy, 1),
            new().noise(1.0).rounds(&self.matrix, 1).noise(0.0).noise(0.25).rounds(&self.matrix, 3),
            // The ratio of noises is that to the first one, however large it is.
            new().noise(4.0).noisy_rounds(&self.matrix, 3, MessageNoise::Broadcast, 0.3),
            new().noise(0.25).noisy_rounds(&self.matrix, 3, MessageNoise::PerLink, 0.3),
        ]
    }
}

/// The noise of a run in the unit of its columns. In statement 3 and in the last one it is a noise of nodes,
/// with half the deviation of the first noise; in all others it is a noise of messages.
fn units(statement: usize, noise: &Array2<f64>, sigma: Sigma) -> Array2<f64> {
    match statement {
        3 | 8 if noise.iter().any(|z| *z != 0.0) => noise / 0.5,
        3 | 8 => noise.clone(),
        _ => noise * sigma.get(),
    }
}

/// What is received equals the rows of the view times inputs and noises, and only noise moves the mean.
#[test]
fn transcripts_satisfy_their_views() -> Result<(), Error> {
    let said = Said::new()?;
    for (k, program) in said.all().iter().enumerate() {
        let values = Array2::from_shape_fn((12, 3), |(v, k)| (v * v + k) as f64);
        let sigma = Sigma::new(0.7)?;
        for coalition in [vec![5], vec![0, 6]] {
            let view = program.coalition_view(&coalition)?;
            let run = program.run(values.view(), sigma, &mut ChaCha8Rng::seed_from_u64(1))?;
            let held =
                program.observe(values.view(), sigma, &coalition, &mut ChaCha8Rng::seed_from_u64(1))?;
            // The noises in the units of the columns: those that a coalition of all nodes knows, one by one.
            let noises: Vec<Array2<f64>> = std::iter::once(run.noise.clone())
                .chain(run.later_noises.iter().map(|z| units(k, z, sigma)))
                .collect();
            let all: Vec<_> = noises.iter().map(|z| z.view()).collect();
            let noises = ndarray::concatenate(Axis(0), &all).expect("one column per coordinate");
            let predicted = view.inputs().dot(&values) + view.noises().dot(&noises);
            assert_eq!(held.received.dim(), predicted.dim());
            held.received
                .iter()
                .zip(&predicted)
                .for_each(|(a, b)| assert_abs_diff_eq!(*a, *b, epsilon = 1e-10));
            assert_eq!(held.known_noises, noises.select(Axis(0), view.known_noises()));
            if run.later_noises.is_empty() {
                let mean = (&values + &run.noise).sum_axis(Axis(0));
                let sums = run.output.sum_axis(Axis(0));
                mean.iter().zip(&sums).for_each(|(a, b)| assert_abs_diff_eq!(*a, *b, epsilon = 1e-10));
            }
        }
    }
    Ok(())
}

/// A statement and the same program written value by value have the same losses and the same error.
#[test]
fn programs_written_out_agree() -> Result<(), Error> {
    let said = Said::new()?;
    for program in said.all() {
        let written = program.program()?;
        let account = written.account(&Observer::coalition(&[0, 6]))?;
        let report = program.coalition_loss(&[0, 6])?;
        for u in (0..12).filter(|u| ![0, 6].contains(u)) {
            // Losses of a program are in units of a noise of variance 1, and those of a statement in units of
            // its first noise.
            let unit = program.variances()[0];
            let (low, high) = report.enclosure(u)?;
            let loss = account.loss(u, &SensitivitySet::UseLevel)?;
            let (least, most) = (loss.lower * unit, loss.value() * unit);
            assert!(
                least <= high * (1.0 + 1e-14) && low <= most * (1.0 + 1e-14),
                "{u}: {low} {high} {loss:?}"
            );
        }
        if program.variances() == [1.0] {
            let noise = ndp_dp::NoiseMultiplier::new(0.7)?;
            let (written, said) = (written.error(noise)?, program.error_bound(noise)?);
            assert_abs_diff_eq!(written, said, epsilon = 1e-12);
        }
    }
    Ok(())
}

/// The bound on the error holds for the worst inputs, which are at the ends of their interval, and is not far
/// above it; the bound by the size of the operator (that on any inputs at the same distance from the mean)
/// is further off.
#[test]
fn errors_hold_for_the_worst_inputs() -> Result<(), Error> {
    let noise = ndp_dp::NoiseMultiplier::new(1e-9)?;
    let said = Said::new()?;
    for program in
        said.all().iter().filter(|program| program.variances() == [1.0] && !program.has_noisy_messages())
    {
        let apart = program.operator()? - 1.0 / 12.0;
        let worst = (0..1 << 12).map(|ends: u32| {
            let x = Array2::from_shape_fn((12, 1), |(u, _)| f64::from(ends >> u & 1) - 0.5);
            (apart.dot(&x).mapv(|x| x * x).sum() / 12.0).sqrt()
        });
        let (worst, bound) = (worst.fold(0.0, f64::max), program.error_bound(noise)?);
        let by_size = apart.mapv(|x| x * x).sum().sqrt() / 2.0;
        assert!(worst <= bound * (1.0 + 1e-12), "{worst} {bound}");
        assert!(bound <= 1.6 * worst && bound < by_size, "{worst} {bound} {by_size}");
    }
    Ok(())
}

/// The same for what is overheard on edges: a program that is written value by value finds it by its own
/// engine.
#[test]
fn programs_written_out_agree_on_taps() -> Result<(), Error> {
    let said = Said::new()?;
    let mut leaked = 0;
    for statement in [0, 1, 3, 4, 5, 8, 9, 10] {
        let program = &said.all()[statement];
        for taps in [vec![(0, 1)], vec![(1, 0), (0, 1)], vec![(5, 6), (5, 4), (9, 8)]] {
            let written = program.program()?;
            let account = written.account(&Observer::outsider().tapping(&taps))?;
            let report = program.overheard_loss(&taps)?;
            for u in 0..12 {
                let unit = program.variances()[0];
                let (low, high) = report.enclosure(u)?;
                let loss = account.loss(u, &SensitivitySet::UseLevel)?;
                let (least, most) = (loss.lower * unit, loss.value() * unit);
                assert!(
                    least <= high * (1.0 + 1e-14) && low <= most * (1.0 + 1e-14),
                    "{statement} {taps:?} {u}: {low} {high} {loss:?}"
                );
                leaked += usize::from(low > 0.1);
            }
        }
    }
    assert!(leaked > 20, "{leaked}");
    Ok(())
}

/// The constructors that state the same protocols.
#[test]
fn programs_of_constructors_are_these() -> Result<(), Error> {
    let said = Said::new()?;
    let weights = [Weight::from(2), Weight::from(0.5)];
    let fresh = VectorProgram::new(12).noise(2.0).rounds(&said.matrix, 1).noise(0.5).rounds(&said.matrix, 1);
    assert_eq!(fresh.program()?, fresh_noise(&said.matrix, &weights)?);
    let edges: Vec<(usize, usize)> = said.graph.edges().collect();
    let sequence = GossipSequence::given_activations(&said.graph, &edges)?;
    let pairs = VectorProgram::new(12).noise(1.0).changing(&sequence);
    assert_eq!(pairs.program()?, randomized_gossip(12, &edges)?);
    // Step by step, as one would write it by hand.
    let mut program = Program::new(12)?;
    let mixing = MixingMatrix::from(&said.matrix);
    let (x, z) = (program.contribute_all(Reads::Nothing)?, program.noise_all(1)?);
    let mut y = program.add_all(&x, &z)?;
    for _ in 0..4 {
        program.send_to_neighbors(said.matrix.graph(), &y)?;
        y = program.gossip(&mixing, &y)?;
    }
    program.result(y.into_iter().enumerate())?;
    assert_eq!(VectorProgram::new(12).noise(1.0).rounds(&said.matrix, 4).program()?, program);
    Ok(())
}

/// On both sides of every border of the table; the two engines enclose the same numbers where both apply.
#[test]
fn engines_are_chosen_by_structure() -> Result<(), Error> {
    let said = Said::new()?;
    let (matrix, other) = (&said.matrix, said.matrix.lazy(0.5)?);
    let new = || VectorProgram::new(12);
    for (program, engine) in [
        (new().noise(1.0).rounds(matrix, 3), Engine::Powers),
        (new().noise(0.25).rounds(matrix, 3), Engine::Powers),
        (new().noise(1.0).rounds(matrix, 0), Engine::Powers),
        (new().noise(1.0).rounds(matrix, 1 << 62), Engine::Powers),
        (new().noise(1.0).accelerated_rounds(matrix, 3, 1.5), Engine::Powers),
        // The same protocol, stated in two parts, or with noise of variance 0.
        (new().noise(1.0).rounds(matrix, 1).rounds(matrix, 2), Engine::Powers),
        (new().noise(1.0).rounds(matrix, 1).noise(0.0).rounds(matrix, 2), Engine::Powers),
        (new().noise(1.0).rounds(matrix, 1).noise(1e-300).rounds(matrix, 2), Engine::Rows),
        (new().noise(1.0).rounds(matrix, 1).rounds(&other, 2), Engine::Rows),
        (new().noise(1.0).noisy_rounds(matrix, 3, MessageNoise::Broadcast, 0.1), Engine::Rows),
        (new().noise(1.0).changing(&said.sequence), Engine::Rows),
        (new().noise(1.0).rings(&said.rings, 0.0, (0.1, 1.0)), Engine::Rows),
    ] {
        assert_eq!(program.engine().0, engine, "{program:?}");
        assert!(!program.engine().1.is_empty());
    }
    let program = new().noise(1.0).rounds(matrix, 4);
    let report = program.coalition_loss(&[1, 7])?;
    let certificate = of_rows(&program.exact_rows(&[1, 7], &[1, 7], false)?, Budget::default())?;
    for u in [0, 2, 5, 11] {
        let (low, high) = report.enclosure(u)?;
        assert!(certificate.lower[u] <= high && low <= certificate.upper[u], "{u}");
        assert!(certificate.upper[u] - certificate.lower[u] <= 1e-9, "{u}");
    }
    Ok(())
}

/// The description of the noise says where it is.
#[test]
fn terms_say_where_the_noise_is() -> Result<(), Error> {
    let said = Said::new()?;
    let on = |k: usize| LinearProtocol::terms(&said.all()[k]).noise.on;
    assert_eq!([on(0), on(1), on(2), on(6), on(7)], ["every value, once"; 5]);
    assert!(on(3).contains("in later ones") && on(3) == on(8));
    assert!(on(4).contains("to all neighbors") && on(5).contains("anew for each neighbor"));
    let meetings =
        |k: usize| LinearProtocol::terms(&said.all()[k]).trusts.contains(&Some(Assumption::TheseMeetings));
    assert!(meetings(6) && meetings(7) && !meetings(0) && !meetings(4));
    // An accelerated round is not one row for each power.
    assert!(matches!(said.all()[1].exact_rows(&[0], &[0], false), Err(Error::NotOffered(_))));
    Ok(())
}

/// `x² = g W x¹ + (1 - g) x⁰` after `x¹ = W x⁰`, on the triangle with one heavy node.
#[test]
fn the_first_accelerated_step_is_plain() -> Result<(), Error> {
    let matrix = GossipMatrix::new(&complete_graph(3)?, Weights::MaxDegree)?;
    let program = VectorProgram::new(3).noise(1.0).accelerated_rounds(&matrix, 2, 1.5);
    let values = array![[8.0], [0.0], [0.0]];
    let run = program.run(values.view(), Sigma::new(1e-300)?, &mut ChaCha8Rng::seed_from_u64(0))?;
    let close =
        |a: &Array2<f64>, b: Array2<f64>| a.iter().zip(&b).for_each(|(a, b)| assert_abs_diff_eq!(*a, *b));
    close(&run.messages[1], array![[0.0], [4.0], [4.0]]);
    close(&run.output, array![[1.5 * 4.0 - 4.0], [3.0], [3.0]]);
    Ok(())
}

/// The first draws for a seed. If they change, every seeded run changes.
#[test]
fn draws_are_pinned() -> Result<(), Error> {
    let said = Said::new()?;
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let run = said.all()[0].run(Array2::zeros((12, 1)).view(), Sigma::new(1.0)?, &mut rng)?;
    assert_eq!(run.noise[(0, 0)], -0.775_371_933_217_797_1);
    Ok(())
}

#[test]
fn bad_values_are_refused() -> Result<(), Error> {
    let said = Said::new()?;
    let program = &said.all()[0];
    let sigma = Sigma::new(1.0)?;
    let mut rng = ChaCha8Rng::seed_from_u64(0);
    let mut run = |values: Array2<f64>| program.run(values.view(), sigma, &mut rng);
    assert!(matches!(run(Array2::zeros((11, 1))), Err(Error::Shape { .. })));
    assert!(matches!(run(Array2::zeros((12, 0))), Err(Error::Shape { .. })));
    assert!(matches!(run(Array2::from_elem((12, 1), f64::NAN)), Err(Error::InvalidParameter { .. })));
    assert!(matches!(program.coalition_view(&[12]), Err(Error::NodeOutOfRange { .. })));
    Ok(())
}

/// Statements without an account are refused with a reason, and computations that go through all rounds
/// refuse too many of them.
#[test]
fn what_is_not_covered_is_refused() -> Result<(), Error> {
    let said = Said::new()?;
    let noise = ndp_dp::NoiseMultiplier::new(1.0)?;
    let long = VectorProgram::new(12).noise(1.0).rounds(&said.matrix, 1 << 40);
    assert!(
        matches!(long.operator(), Err(Error::InvalidParameter { value, .. }) if value == (1u64 << 40) as f64)
    );
    assert!(matches!(long.coalition_view(&[0]), Err(Error::Certify(_))));
    let both = |kind| VectorProgram::new(12).noise(1.0).noisy_rounds(&said.matrix, 2, kind, 0.1);
    // Each of these would have an account that says too little: values leave without noise, or states differ
    // from those of a run.
    let (new, matrix, other) =
        (|| VectorProgram::new(12), &said.matrix, GossipMatrix::metropolis(&complete_graph(3)?));
    let (first, beside) = ("the first part of a protocol on vectors", "momentum beside other parts");
    let variance = "the first noise variance";
    for (refused, why) in [
        (both(MessageNoise::PerLink).noise(0.5), beside),
        (both(MessageNoise::Broadcast).rounds(matrix, 2), beside),
        (new().rounds(matrix, 2), first),
        (new().rounds(matrix, 1).noise(1.0).rounds(matrix, 1), first),
        (new(), first),
        (new().noise(0.0).rounds(matrix, 2), variance),
        (new().noise(1.0).noise(-1.0).rounds(matrix, 2), "every noise variance"),
        (new().noise(f64::NAN), variance),
        (new().noise(1.0).rounds(matrix, 1).rings(&said.rings, 0.0, (0.1, 1.0)), beside),
        (new().noise(1.0).rings(&said.rings, 0.0, (f64::INFINITY, 1.0)), "the mixing rate"),
        (new().noise(1.0).rings(&[ActiveEdge { wait: 0.0, edge: (3, 12) }], 0.0, (0.1, 1.0)), "node 12"),
        (
            new().noise(1.0).rings(&[ActiveEdge { wait: 0.0, edge: (3, 3) }], 0.0, (0.1, 1.0)),
            "the end of an edge",
        ),
        (new().noise(1.0).accelerated_rounds(matrix, 2, 0.0), "the Chebyshev parameter"),
        (new().noise(1.0).accelerated_rounds(matrix, 2, 1.5).accelerated_rounds(matrix, 2, 1.5), beside),
        (new().noise(1.0).noisy_rounds(matrix, 2, MessageNoise::PerLink, -0.1), "the ratio of message noise"),
        (new().noise(1.0).rounds(&other, 2), "nodes of a gossip matrix"),
    ] {
        let values = Array2::ones((12, 1));
        for found in [
            refused.run(values.view(), Sigma::new(1.0)?, &mut ChaCha8Rng::seed_from_u64(0)).map(|_| ()),
            refused.coalition_loss(&[0]).map(|_| ()),
            refused.coalition_view(&[0]).map(|_| ()),
            refused.error_bound(noise).map(|_| ()),
            refused.program().map(|_| ()),
        ] {
            let found = found.unwrap_err().to_string();
            assert!(found.contains(why), "{refused:?}: {found}");
        }
        assert_eq!(refused.own_variance(), None);
    }
    let overheard = both(MessageNoise::Overheard);
    assert!(matches!(overheard.coalition_loss(&[0]), Err(Error::NotOffered(_))));
    assert!(overheard.overheard_loss(&[(0, 1)]).is_ok());
    // For changing connections nothing is known of a tapped edge.
    let changing = &said.all()[2];
    assert!(matches!(changing.overheard_loss(&[(0, 1)]), Err(Error::NotOffered(_))));
    crate::tests::assert_refused(said.all()[0].overheard_loss(&[(0, 7)]), "0-7 is no edge of the graph");
    // Too long to be followed; refused at once.
    let long = new().noise(1.0).rounds(matrix, 1 << 62);
    assert!(matches!(long.overheard_loss(&[(0, 1)]), Err(Error::NotOffered(_))));
    Ok(())
}

/// A coalition hears all that its members hear, also from one another: where their noise is not used, what
/// one sends another is news. So it learns no less than each of them.
#[test]
fn coalitions_without_their_noise_learn_no_less_than_members() -> Result<(), Error> {
    let said = Said::new()?;
    for (k, program) in said.all().into_iter().enumerate() {
        let program = program.observed_with(OwnNoise::Unknown);
        for coalition in [[0, 1], [1, 5], [5, 6]] {
            let together = program.coalition_loss(&coalition)?;
            for v in coalition {
                let alone = program.coalition_loss(&[v])?;
                for u in (0..12).filter(|u| !coalition.contains(u)) {
                    let (low, high) = (alone.enclosure(u)?.0, together.enclosure(u)?.1);
                    assert!(low <= high * (1.0 + 1e-9), "{k}, {coalition:?} about {u}: {high} below {low}");
                }
            }
        }
    }
    // Node 1 hears the start of 2 and 3, node 2 that of 1, and with what 2 and 3 say then node 1 knows that
    // of 0.
    let paw = Graph::from_edges(4, [(0, 3), (1, 2), (1, 3), (2, 3)])?;
    let matrix = GossipMatrix::metropolis(&paw);
    let program = VectorProgram::new(4).noise(1.0).rounds(&matrix, 2).observed_with(OwnNoise::Unknown);
    for coalition in [&[1][..], &[1, 2]] {
        let (low, high) = program.coalition_loss(coalition)?.enclosure(0)?;
        assert!((1.0 - 1e-9..=1.0).contains(&low) && high >= 1.0, "{coalition:?}: {low} to {high}");
    }
    Ok(())
}

/// A matrix is multiplied with 32 columns at a time in another loop than with other numbers of them: the same
/// bits.
#[test]
fn few_columns_have_the_bits_of_single_ones() -> Result<(), Error> {
    let matrix = GossipMatrix::new(&grid_2d_graph(5, 9)?, Weights::SumDegree)?;
    let x = Array2::from_shape_fn((45, 70), |(i, j)| ((i * 70 + j) as f64).sin());
    for columns in [31, 32, 33, 70] {
        let part = x.slice(s![.., ..columns]).to_owned();
        let together = run::apply(matrix.csr(), part.view());
        for j in 0..columns {
            let alone = run::apply(matrix.csr(), part.slice(s![.., j..=j]));
            assert_eq!(together.column(j), alone.column(0), "{columns} {j}");
        }
    }
    Ok(())
}
