//! What a linear Gaussian protocol says about itself: its nodes, and what each of them sees.

use crate::forward::forward;
use crate::{Error, LossReport, Terms, View, loss};
use ndarray::{Array2, ArrayView2, Axis};
use ndp_dp::{Guarantee, NoiseMultiplier, Sigma};
use ndp_graph::progress::Stop;
use rand::Rng;
use rand_distr::{Distribution, StandardNormal};
use serde::{Deserialize, Serialize};

/// Whether an observer uses the noise it drew itself.
///
/// # Examples
/// ```
/// use ndp_account::example::Gossip;
/// use ndp_account::{Observer, OwnNoise, Protocol};
/// use ndp_dp::NoiseMultiplier;
/// use ndp_graph::{GossipMatrix, generators::cycle_graph};
/// let gossip = Gossip::new(GossipMatrix::metropolis(&cycle_graph(8)?), 2);
/// let mu = |observer: Observer| gossip.account(&observer)?.profile(2, NoiseMultiplier::new(1.0)?).map(|found| found.mu());
/// let (weaker, real) = (mu(Observer::node(0).without_own_noise())?, mu(Observer::node(0))?);
/// assert!(weaker.map(|mu| mu.value().mu()) <= real.map(|mu| mu.value().mu()));
/// assert_eq!(Observer::node(0).own_noise, OwnNoise::Known);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OwnNoise {
    /// The observer uses it: the only sound assumption about an honest-but-curious node.
    #[default]
    Known,
    /// The observer ignores its own noise: weaker than a real node, for comparison with papers.
    Unknown,
}

/// What a coalition has received and drawn after a run.
///
/// # Examples
/// ```
/// use ndarray::arr2;
/// use ndp_account::LinearProtocol;
/// use ndp_account::example::Gossip;
/// use ndp_dp::Sigma;
/// use ndp_graph::{GossipMatrix, generators::path_graph};
/// use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
/// let gossip = Gossip::new(GossipMatrix::metropolis(&path_graph(2)?), 1);
/// let rng = &mut ChaCha8Rng::seed_from_u64(1);
/// let held = gossip.observe(arr2(&[[1.0], [2.0]]).view(), Sigma::new(1.0)?, &[0], rng)?;
/// assert_eq!((held.received.nrows(), held.known_noises.nrows()), (gossip.coalition_view(&[0])?.inputs().nrows(), 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Observation {
    /// The received values, in the order of the rows of the [`View`]: rows by coordinates.
    pub received: Array2<f64>,
    /// The noises the coalition drew, in ascending order of their columns, and in the unit of the
    /// view's columns: known noises by coordinates.
    pub known_noises: Array2<f64>,
}

/// A linear Gaussian protocol, as its own nodes see it.
///
/// To add such a protocol, implement the two required methods. Every such protocol is a
/// [`Protocol`](crate::Protocol), with exact losses, [targets](crate::Target), comparisons and audits.
/// Override [`coalition_loss_until`](Self::coalition_loss_until) if the protocol has a better account than
/// its view gives, and [`observe`](Self::observe) if its real runs are to be audited.
///
/// # Examples
/// ```
/// use ndarray::arr2;
/// use ndp_account::{Error, LinearProtocol, View};
/// /// Two nodes, each of whom hears the noisy value of the other.
/// struct Swap;
/// impl LinearProtocol for Swap {
///     fn node_count(&self) -> usize {
///         2
///     }
///
///     fn coalition_view(&self, coalition: &[usize]) -> Result<View, Error> {
///         let heard = arr2(&[[1.0, 0.0], [0.0, 1.0]]);
///         View::new(coalition, heard.clone(), heard, coalition)
///     }
/// }
/// assert!((Swap.coalition_loss(&[1])?.unit(0)?.value().get() - 1.0).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait LinearProtocol: Send + Sync {
    /// Number of nodes.
    fn node_count(&self) -> usize;

    /// Everything the nodes of `coalition` receive or draw in a run, taken together, as data: no
    /// randomness, no privacy notion.
    ///
    /// # Errors
    /// A node out of range or twice, an empty coalition, or a view too large to write down.
    fn coalition_view(&self, coalition: &[usize]) -> Result<View, Error>;

    /// What the nodes of `coalition` together learn about every node.
    ///
    /// # Errors
    /// Those of [`coalition_view`](Self::coalition_view) and of [`exact_loss`](crate::loss::exact_loss).
    fn coalition_loss(&self, coalition: &[usize]) -> Result<LossReport, Error> {
        self.coalition_loss_until(coalition, &Stop::never())
    }

    /// The same, no longer than `stop` says. A protocol with a loss of its own implements this method, and
    /// [`Self::coalition_loss`] follows: where only that one is implemented, calls with a `stop` do not reach
    /// it.
    ///
    /// # Errors
    /// Those of [`Self::coalition_loss`]; [`Error::Stopped`].
    fn coalition_loss_until(&self, coalition: &[usize], stop: &Stop) -> Result<LossReport, Error> {
        stop.check()?;
        loss::exact_loss_until(&self.coalition_view(coalition)?, stop)
    }

    /// What an outsider learns about every node who hears everything that is sent over these edges, each from
    /// its first node to its second, and nothing else. The report has no members.
    ///
    /// # Errors
    /// [`Error::NotOffered`] if the protocol has no account of such an outsider, as by default;
    /// [`ndp_graph::Error::NotAnEdge`].
    fn overheard_loss(&self, tapped: &[(usize, usize)]) -> Result<LossReport, Error> {
        self.overheard_loss_until(tapped, &Stop::never())
    }

    /// The same, no longer than `stop` says; the method to implement, as [`Self::coalition_loss_until`] is.
    ///
    /// # Errors
    /// Those of [`Self::overheard_loss`]; [`Error::Stopped`].
    fn overheard_loss_until(&self, tapped: &[(usize, usize)], stop: &Stop) -> Result<LossReport, Error> {
        let _ = (tapped, stop);
        Err(Error::NotOffered("this protocol has no account of overheard edges: state it as a program"))
    }

    /// Runs on `values` (`n` by `d`) with `sigma` as the unit of noise and returns what `coalition` holds.
    ///
    /// By default the received values are drawn from the view, so an audit tests the account but not the
    /// view. A protocol that can be run overrides this.
    ///
    /// The noise is drawn in floating point, for study only. A real release needs exactly drawn noise
    /// ([`ndp_dp::DiscreteGaussian`]) and its own account.
    ///
    /// # Errors
    /// Those of the protocol's own run, and of an invalid coalition; [`Error::Shape`] for another number of
    /// rows than nodes.
    fn observe(
        &self,
        values: ArrayView2<'_, f64>,
        sigma: Sigma,
        coalition: &[usize],
        rng: &mut dyn Rng,
    ) -> Result<Observation, Error> {
        let view = self.coalition_view(coalition)?;
        let expected = view.inputs().ncols();
        if values.nrows() != expected {
            return Err(Error::Shape { what: "rows of values", expected, got: values.nrows() });
        }
        let shape = (view.noises().ncols(), values.ncols());
        let noises = Array2::from_shape_simple_fn(shape, || {
            let z: f64 = StandardNormal.sample(&mut *rng);
            sigma.get() * z
        });
        let received = view.inputs().dot(&values) + view.noises().dot(&noises);
        Ok(Observation { received, known_noises: noises.select(Axis(0), view.known_noises()) })
    }

    /// The same protocol seen by nodes that use, or ignore, the noise they drew; `None` if the protocol does
    /// not distinguish the two.
    fn seen_with(&self, own_noise: OwnNoise) -> Option<Box<dyn LinearProtocol + '_>> {
        let _ = own_noise;
        None
    }

    /// The variance, in units of the noise, of a Gaussian noise that every node adds to its value before
    /// anything that depends on the value is sent; `None` if there is no such noise. The value must enter
    /// messages only with this noise, and no other node may know the noise.
    ///
    /// Everything that others see is then a function of the noisy value and of quantities independent of it:
    /// see [`Protocol::local_bound`](crate::Protocol::local_bound).
    fn own_variance(&self) -> Option<f64> {
        None
    }

    /// The unit loss of every node towards an outsider, who hears what is published but no message between
    /// nodes. It is exactly 0 if nothing is published.
    ///
    /// # Errors
    /// [`Error::NotOffered`] where the protocol does not say what is public.
    fn outside(&self) -> Result<Guarantee<f64>, Error> {
        Err(Error::NotOffered("the protocol does not say what is public: an outsider's account needs that"))
    }

    /// An upper bound on the unit loss of any node towards any single other node, if it is known without
    /// computing a view and without a [noise of its own](Self::own_variance).
    fn unit_towards_one(&self) -> Option<f64> {
        None
    }

    /// The same protocol, stopped after its first round; every observer hears in it what it hears in that
    /// round of the whole run: see [`Protocol::glimpse`](crate::Protocol::glimpse). `None` if the protocol
    /// does not offer this.
    fn first_round(&self) -> Option<Box<dyn LinearProtocol + '_>> {
        None
    }

    /// As [`Protocol::symmetries`](crate::Protocol::symmetries).
    fn symmetries(&self) -> Vec<Vec<u32>> {
        Vec::new()
    }

    /// An upper bound on the root mean square, over nodes and runs, of the error in a node's final mean that
    /// noise and too few rounds cause. In units of the length `Δ` of the interval that the values come from,
    /// at noise `σ/Δ`.
    ///
    /// # Errors
    /// [`Error::NotOffered`] if no bound is known.
    fn error_bound(&self, noise: NoiseMultiplier) -> Result<f64, Error> {
        self.error_bound_until(noise, &Stop::never())
    }

    /// The same, no longer than `stop` says.
    ///
    /// # Errors
    /// Those of [`Self::error_bound`]; [`Error::Stopped`].
    fn error_bound_until(&self, noise: NoiseMultiplier, stop: &Stop) -> Result<f64, Error> {
        let _ = (noise, stop);
        Err(Error::NotOffered("the error of the result is not known for this protocol"))
    }

    /// Messages sent in a run.
    ///
    /// # Errors
    /// [`Error::NotOffered`] if they are not counted.
    fn message_count(&self) -> Result<f64, Error> {
        Err(Error::NotOffered("messages are not counted for this protocol"))
    }

    /// What its numbers are about: by default, one value of every node.
    fn terms(&self) -> Terms {
        Terms::VALUES
    }

    /// The protocol as a linear Gaussian program, in the text of `docs/formats.md`, so that its losses can be
    /// checked by other means.
    ///
    /// # Errors
    /// [`Error::NotOffered`] if it is no such program, as by default; [`ndp_graph::Error::TooLarge`].
    fn program_text(&self) -> Result<Vec<u8>, Error> {
        Err(Error::NotOffered(NO_PROGRAM))
    }
}

/// Why there is no text of a program.
pub(crate) const NO_PROGRAM: &str = "proofs are for protocols that are written as programs, and this one is not with these parameters (D-SGD is, \
     with fixed=1)";

/// A pointer to a protocol is a protocol.
macro_rules! delegate {
    ($($pointer:ty),*) => {$(
        impl<P: LinearProtocol + ?Sized> LinearProtocol for $pointer {
            forward! { (**self) =>
                fn node_count(&self) -> usize;
                fn terms(&self) -> Terms;
                fn coalition_view(&self, coalition: &[usize]) -> Result<View, Error>;
                fn coalition_loss_until(&self, coalition: &[usize], stop: &Stop) -> Result<LossReport, Error>;
                fn overheard_loss_until(
                    &self,
                    tapped: &[(usize, usize)],
                    stop: &Stop,
                ) -> Result<LossReport, Error>;
                fn observe(
                    &self,
                    values: ArrayView2<'_, f64>,
                    sigma: Sigma,
                    coalition: &[usize],
                    rng: &mut dyn Rng,
                ) -> Result<Observation, Error>;
                fn seen_with(&self, own_noise: OwnNoise) -> Option<Box<dyn LinearProtocol + '_>>;
                fn own_variance(&self) -> Option<f64>;
                fn outside(&self) -> Result<Guarantee<f64>, Error>;
                fn unit_towards_one(&self) -> Option<f64>;
                fn first_round(&self) -> Option<Box<dyn LinearProtocol + '_>>;
                fn symmetries(&self) -> Vec<Vec<u32>>;
                fn error_bound_until(&self, noise: NoiseMultiplier, stop: &Stop) -> Result<f64, Error>;
                fn message_count(&self) -> Result<f64, Error>;
                fn program_text(&self) -> Result<Vec<u8>, Error>;
            }
        }
    )*};
}

delegate!(&P, Box<P>);
