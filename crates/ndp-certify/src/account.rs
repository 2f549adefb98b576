//! From exact rows to a certificate: decisions, then combinations at growing precision, then the enclosure.

mod gossip;

pub use gossip::{basis_of_krylov, of_krylov};

use crate::Error;
use crate::combinations::{Combinations, Lost};
use crate::decisions::{self, Decisions};
use crate::dense;
use crate::enclosure::Enclosure;
use crate::layout::bytes;
use crate::rows::{Input, Layout, Rows};
use crate::{
    fixed::{self, LADDER},
    magnitude::power_of_two,
};
use ndp_numeric::stop::{Stop, Stopped};

/// Limits on the work that a certificate may take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Budget<'a> {
    /// Bytes.
    pub memory: u64,
    /// Bits of a number in fixed point.
    pub bits: u32,
    /// When to end before the answer.
    pub stop: &'a Stop,
}

impl Default for Budget<'_> {
    /// 12 GiB, 4224 bits, as long as it takes.
    fn default() -> Self {
        Budget::until(&NEVER)
    }
}

impl<'a> Budget<'a> {
    /// The default, no longer and no larger than `stop` says.
    #[must_use]
    pub fn until(stop: &'a Stop) -> Self {
        Self { memory: stop.memory().min(12 << 30), bits: 4224, stop }
    }
}

static NEVER: Stop = Stop::never();

/// What is proven about the losses of all nodes outside a coalition.
#[derive(Clone, Debug, PartialEq)]
pub struct Certificate {
    /// Lower ends, one for each node; 0 for nodes that the observer cannot hear of in time.
    pub lower: Vec<f64>,
    /// Upper ends.
    pub upper: Vec<f64>,
    /// Dimension of the space that the observer sees, including the noises it knows.
    pub rank: usize,
    /// Bits of the arithmetic: 0 where none was needed, 53 for floating point.
    pub bits: u32,
    /// An upper bound on the probability, over the primes drawn, that an upper end or the rank is too small.
    pub failure: f64,
    /// The sum of the losses of all inputs accounted for, where it follows from the rank.
    pub total: Option<usize>,
    /// Whether an enclosure was found, however wide.
    pub certified: bool,
}

/// Nearly orthonormal combinations of what is seen, and what their enclosure says.
pub struct Combined {
    /// The combinations, over the coordinates.
    pub vectors: Vec<Vec<f64>>,
    /// What they prove.
    pub enclosure: Enclosure,
    /// Bits of the arithmetic.
    pub bits: u32,
}

/// The certificate of written or traced rows.
pub fn of_rows(rows: &Rows, budget: Budget<'_>) -> Result<Certificate, Error> {
    let layout = rows.layout();
    let (r, n) = (rows.len(), layout.coordinates);
    require("the rows of the view", bytes(r.min(layout.noises), n, 8), budget)?;
    if r == 0 {
        return Ok(assemble(layout, None, 0, 0.0, 0));
    }
    if layout.inputs.is_empty() {
        // No input is accounted for, but the rank of what the observer sees is still wanted.
        let decisions = decisions::of_rows(rows, budget.stop)?;
        return Ok(assemble(layout, None, decisions.rank(), decisions.failure, 0));
    }
    if let Some((_, enclosure)) =
        dense::orthonormal(rows, budget.memory, budget.stop)?.filter(|(_, found)| found.width() <= WIDTH)
    {
        return Ok(assemble(layout, Some(&enclosure), r, 0.0, 53));
    }
    require_room(rows, budget)?;
    let decisions = decisions::of_rows(rows, budget.stop)?;
    refuse_leaks(layout, &decisions)?;
    let rank = decisions.rank();
    if rank == layout.noises && layout.leaks_nothing() {
        // The rows can be inverted: the observer knows each input up to that input's own noise, and no
        // better.
        return Ok(assemble_structural(layout, rank));
    }
    let kept: Vec<usize> = (0..r).filter(|&k| decisions.kept[k]).collect();
    let mut scales = rows.column_scales();
    let found = search(budget, rank as f64 * rank as f64 * n as f64, |limbs| {
        if held(rank, n, limbs) > budget.memory {
            return Attempt::Stop;
        }
        attempt_rows(rows, &kept, &mut scales, limbs, budget.stop)
    })?;
    let (enclosure, bits) = found.map_or((None, 0), |found| (Some(found.enclosure), found.bits));
    if enclosure.is_none() && layout.inputs.iter().any(|input| input.structural.is_none()) {
        return Err(Error::NotCertified { bits: budget.bits });
    }
    let mut certificate = assemble(layout, enclosure.as_ref(), rank, decisions.failure, bits);
    // By convention a member that reveals its input to itself, with no noise or almost none, has loss 1.
    let to_itself = |input: &&Input| {
        decisions.leaks.binary_search(&input.coordinate).is_ok()
            || (layout.members.contains(&input.node) && certificate.upper[input.node] == f64::INFINITY)
    };
    let own: Vec<&Input> = layout.inputs.iter().filter(to_itself).collect();
    for input in own {
        (certificate.lower[input.node], certificate.upper[input.node]) = (1.0, 1.0);
    }
    match layout.inputs.iter().find(|input| certificate.upper[input.node] == f64::INFINITY) {
        Some(input) => Err(Error::LossTooLarge(input.node)),
        None => Ok(certificate),
    }
}

/// Which rows are new, without their losses.
pub fn ranks(rows: &Rows, budget: Budget<'_>) -> Result<Decisions, Error> {
    let size = rows.len().min(rows.layout().noises);
    require("the rows of the view", bytes(size, rows.layout().coordinates, 8), budget)?;
    decisions::of_rows(rows, budget.stop)
}

/// Nearly orthonormal combinations of rows, with what they prove.
pub fn basis_of_rows(rows: &Rows, budget: Budget<'_>) -> Result<(f64, Combined), Error> {
    let layout = rows.layout();
    require("the rows of the view", bytes(rows.len().min(layout.noises), layout.coordinates, 8), budget)?;
    let decisions = decisions::of_rows(rows, budget.stop)?;
    let kept: Vec<usize> = (0..rows.len()).filter(|&k| decisions.kept[k]).collect();
    let rank = kept.len() as f64;
    let mut scales = rows.column_scales();
    let found = search(budget, rank * rank * layout.coordinates as f64, |limbs| {
        attempt_rows(rows, &kept, &mut scales, limbs, budget.stop)
    })?;
    Ok((decisions.failure, found.ok_or(Error::NotCertified { bits: budget.bits })?))
}

/// Where a question limits the memory, rows whose combinations would not fit are refused before the work of
/// deciding which of them are new: what remained would be a bound that is known without them.
pub(super) fn require_room(rows: &Rows, budget: Budget<'_>) -> Result<(), Error> {
    if budget.stop.memory() == u64::MAX {
        return Ok(());
    }
    let (layout, least) = (rows.layout(), LADDER[0]);
    require(
        "combinations of the rows",
        held(rows.len().min(layout.noises), layout.coordinates, least),
        budget,
    )
}

/// Bytes of so many combinations with this many limbs, and in floats.
pub(super) fn held(rank: usize, coordinates: usize, limbs: usize) -> u64 {
    bytes(rank, coordinates, 8 * (limbs as u64 + 1))
}

/// The two numbers around a quotient that was rounded once; 1 is exact.
fn enclose(unit: f64) -> (f64, f64) {
    if unit == 1.0 { (1.0, 1.0) } else { (unit * (1.0 - f64::EPSILON), unit * (1.0 + f64::EPSILON)) }
}

pub(super) fn attempt_rows(
    rows: &Rows,
    kept: &[usize],
    scales: &mut [i64],
    limbs: usize,
    stop: &Stop,
) -> Attempt {
    // Inputs without noise may be much longer than their rows: they are scaled down until they fit the
    // format.
    for _ in 0..MAX_SCALINGS {
        match combine_rows(rows, kept, scales, limbs, stop) {
            Err((Lost::Stopped(stopped), _)) => return Attempt::Stopped(stopped),
            Err((Lost::Range { coordinate, bits }, _)) => scales[coordinate] += bits + 8,
            Err((Lost::Digits(growth), progress)) => return Attempt::Lost { growth, progress },
            Ok(found) => {
                let mut layout = rows.layout().clone();
                let noises = layout.noises;
                for input in layout.inputs.iter_mut().filter(|input| input.coordinate >= noises) {
                    input.scale = 2 * scales[input.coordinate];
                }
                return enclose_combinations(found, &layout);
            }
        }
    }
    Attempt::Stop
}

type Rounded = (Vec<Vec<f64>>, Vec<f64>);

fn combine_rows(
    rows: &Rows,
    kept: &[usize],
    scales: &[i64],
    limbs: usize,
    stop: &Stop,
) -> Result<Rounded, (Lost, f64)> {
    let layout = rows.layout();
    let mut found = Combinations::new(limbs, layout.coordinates, layout.noises, &layout.variances);
    for (done, &k) in kept.iter().enumerate() {
        let cost = rows.cost(k).saturating_mul(limbs as u64).saturating_add(found.cost(0));
        stop.spend(cost).map_err(|stopped| (Lost::Stopped(stopped), 0.0))?;
        let (row, gamma) = rows.packed(k, scales, limbs);
        let progress = (done + 1) as f64 / kept.len() as f64;
        found.absorb(row, gamma, 0).map_err(|lost| (lost, progress))?;
    }
    Ok(found.into_rounded())
}

fn enclose_combinations((vectors, errors): Rounded, layout: &Layout) -> Attempt {
    match Enclosure::new(&vectors, &errors, layout) {
        Some(enclosure) => Attempt::Found(vectors, enclosure),
        None => {
            let lost = errors.iter().fold(0.0, |m: f64, &e| m.max(e));
            Attempt::Skewed { error: lost }
        }
    }
}

/// The outcome of an attempt at some precision.
pub(super) enum Attempt {
    /// Combinations with an enclosure.
    Found(Vec<Vec<f64>>, Enclosure),
    /// Digits ran out: by then the error had grown by this many bits, and this share of the rows was done.
    Lost { growth: f64, progress: f64 },
    /// All rows were processed, but the Gram matrix is too far from the identity.
    Skewed { error: f64 },
    /// No higher precision would help, or none is allowed.
    Stop,
    /// The work ended on the way.
    Stopped(Stopped),
}

/// Tries precisions from low to high, guided by what the error recurrence said at the last one, until the
/// enclosure is tight or the budget ends. Returns the best enclosure that was found.
pub(super) fn search(
    budget: Budget<'_>,
    work: f64,
    mut attempt: impl FnMut(usize) -> Attempt,
) -> Result<Option<Combined>, Stopped> {
    let mut best: Option<Combined> = None;
    let mut at = 0;
    while let Some(&limbs) = LADDER.get(at) {
        let bits = fixed::bits(limbs);
        if bits > budget.bits || work * limbs as f64 > MAX_WORK {
            break;
        }
        let places = fixed::places(limbs) as f64;
        // The number of bits that would have sufficed, plus a tenth.
        let needed = match attempt(limbs) {
            Attempt::Found(vectors, enclosure) => {
                let error = enclosure.error;
                let better = best.as_ref().is_none_or(|best| enclosure.width() < best.enclosure.width());
                let tight = enclosure.width() <= WIDTH;
                if better {
                    best = Some(Combined { vectors, enclosure, bits });
                }
                if tight && error <= PRECISE || error <= power_of_two(-60) {
                    break;
                }
                places + (error / PRECISE).log2().max(0.0) + 2.0
            }
            Attempt::Lost { growth, progress } => (growth / progress.max(0.02)).max(places) + 48.0,
            Attempt::Skewed { error } => places + (error / PRECISE).log2().max(16.0),
            Attempt::Stop => break,
            Attempt::Stopped(stopped) => return Err(stopped),
        };
        // A forecast from a few rows may be far off, so one step takes at most four times as many bits.
        let next = (at + 1..LADDER.len()).find(|&k| fixed::places(LADDER[k]) as f64 >= needed);
        at = next.unwrap_or(LADDER.len()).min(at + 4).max(at + 1);
    }
    Ok(best)
}

/// Returns an error if an input outside the coalition leaks; inputs of members were left out before.
fn refuse_leaks(layout: &Layout, decisions: &Decisions) -> Result<(), Error> {
    let leaks = |input: &&Input| {
        decisions.leaks.binary_search(&input.coordinate).is_ok() && !layout.members.contains(&input.node)
    };
    match layout.inputs.iter().find(leaks) {
        Some(input) => Err(Error::NoiselessView(input.node)),
        None => Ok(()),
    }
}

/// The certificate from an enclosure, or from the structural bounds alone. `rank` is that of the rows.
fn assemble(
    layout: &Layout,
    enclosure: Option<&Enclosure>,
    rank: usize,
    failure: f64,
    bits: u32,
) -> Certificate {
    let (mut lower, mut upper) = (vec![0.0; layout.nodes], vec![0.0; layout.nodes]);
    if rank > 0 {
        for (k, input) in layout.inputs.iter().enumerate() {
            (lower[input.node], upper[input.node]) = match enclosure {
                Some(enclosure) => (enclosure.lower[k], enclosure.upper[k]),
                None => (0.0, input.structural.unwrap_or(f64::INFINITY)),
            };
        }
    }
    Certificate {
        lower,
        upper,
        rank: rank + layout.known,
        bits,
        failure,
        total: layout.adds_up.then_some(rank),
        certified: rank == 0 || enclosure.is_some(),
    }
}

/// Every input is known up to its own noise.
fn assemble_structural(layout: &Layout, rank: usize) -> Certificate {
    let mut certificate = assemble(layout, None, rank, 0.0, 0);
    for input in &layout.inputs {
        certificate.lower[input.node] = certificate.upper[input.node];
    }
    certificate.certified = true;
    certificate
}

pub(super) fn require(what: &'static str, bytes: u64, budget: Budget<'_>) -> Result<(), Error> {
    if bytes > budget.memory {
        return Err(Error::TooLarge { what, bytes, limit: budget.memory });
    }
    Ok(())
}

/// An enclosure of at most this width counts as exact: absolute up to a loss of 1, relative above it.
pub const WIDTH: f64 = 1e-9;
/// If the combinations err by no more than this, the errors hardly add to the width of the enclosure.
const PRECISE: f64 = 1e-12;
/// Products of limbs that one attempt may take: some minutes.
const MAX_WORK: f64 = 4e11;
/// The largest number of times that inputs are scaled down.
const MAX_SCALINGS: usize = 500;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::krylov::Krylov;
    use crate::rows::Given;
    use ndarray::{Array2, array};
    use ndp_graph::{GossipMatrix, generators};

    fn given(rows: &Array2<f64>) -> Rows {
        Rows::Given(Given::new(rows.view(), rows.view(), &[], &[]))
    }

    /// Two rows over two noises, both new: the observer knows every input up to its own noise.
    #[test]
    fn small_views_need_no_primes_and_little_memory() -> Result<(), Error> {
        let rows = array![[1.0, 0.5, 0.0], [0.25, 1.0, 1.0]];
        let found = of_rows(&given(&rows), Budget::default())?;
        assert_eq!((found.bits, found.failure, found.rank), (53, 0.0, 2));
        // Six coordinates of two rows take 96 bytes, 288 with two limbs beside, and 384 in matrix form.
        let small = of_rows(&given(&rows), Budget { memory: 300, ..Budget::default() })?;
        assert!(small.bits > 53 && (small.upper[0] - found.upper[0]).abs() < 1e-9);
        // Without room for the limbs the noise of its own bounds every loss.
        let bound = of_rows(&given(&rows), Budget { memory: 100, ..Budget::default() })?;
        assert!(!bound.certified && bound.upper[0] >= found.upper[0]);
        let less = of_rows(&given(&rows), Budget { memory: 95, ..Budget::default() });
        assert_eq!(less, Err(Error::TooLarge { what: "the rows of the view", bytes: 96, limit: 95 }));
        // Of ten rows over one noise only one can be new, and memory for one suffices.
        let many = Array2::from_elem((10, 1), 1.0);
        let found = ranks(&given(&many), Budget { memory: 16, ..Budget::default() })?;
        assert_eq!(found.rank(), 1);
        let less = ranks(&given(&many), Budget { memory: 15, ..Budget::default() });
        assert_eq!(less, Err(Error::TooLarge { what: "the rows of the view", bytes: 16, limit: 15 }));
        Ok(())
    }

    /// Rows that leave no room for their combinations are refused at once where the question has a limit, and
    /// have a bound where the library is called without one.
    #[test]
    fn what_cannot_end_in_losses_is_refused_before_the_work() -> Result<(), Error> {
        let rows = given(&array![[1.0, 0.5, 0.0], [0.25, 1.0, 1.0]]);
        let (never, limited) = (Stop::never(), Stop::never().holding(100));
        let bound = of_rows(&rows, Budget { memory: 100, stop: &never, ..Budget::default() })?;
        assert!(!bound.certified);
        // Six coordinates of two rows, two limbs and a float each.
        let refused = Error::TooLarge { what: "combinations of the rows", bytes: 288, limit: 100 };
        assert_eq!(of_rows(&rows, Budget::until(&limited)), Err(refused.clone()));
        assert_eq!(crate::gram::of_rows(&rows, Budget::until(&limited)).err(), Some(refused));
        assert!(of_rows(&rows, Budget::until(&Stop::never().holding(288)))?.certified);
        Ok(())
    }

    /// The numbers of limbs that the search tries if every attempt ends like this one.
    fn tried(mut attempt: impl FnMut() -> Attempt) -> Vec<usize> {
        let mut tried = Vec::new();
        search(Budget::default(), 1.0, |limbs| {
            tried.push(limbs);
            attempt()
        })
        .expect("nobody stops it");
        tried
    }

    /// The search takes the next precision with as many digits as the last attempt asked for, at most four
    /// steps further. A number with `L` limbs has `64 L - 8` places.
    #[test]
    fn precision_grows_as_the_errors_ask() {
        let (steps, far) = (vec![2, 3, 4, 6, 8, 12, 16, 32, 66], vec![2, 8, 66]);
        let wide = |error: f64| Enclosure { lower: vec![0.0], upper: vec![1.0], spread: 0.5, error };
        // 2^40 errors of 2^-40 ask for 80 more places: 120 and 200, then 248 and 328, and so on.
        let eighty = vec![2, 4, 6, 8, 12, 16, 32, 66];
        let large = PRECISE * 2f64.powi(80);
        assert_eq!(tried(|| Attempt::Skewed { error: large }), eighty);
        assert_eq!(tried(|| Attempt::Found(Vec::new(), wide(large))), eighty);
        assert_eq!(tried(|| Attempt::Skewed { error: 0.0 }), steps);
        assert_eq!(tried(|| Attempt::Found(Vec::new(), wide(1e-13))), steps);
        assert_eq!(tried(|| Attempt::Lost { growth: 1e9, progress: 1.0 }), far);
        assert_eq!(tried(|| Attempt::Stop), [2]);
    }

    /// 1/10 is no float, so its ends lie on both sides of it.
    #[test]
    fn quotients_are_enclosed() {
        for k in [3.0, 5.0, 7.0, 10.0, 11.0, 49.0] {
            let (low, high) = enclose(1.0 / k);
            assert!(low.mul_add(k, -1.0) <= 0.0 && high.mul_add(k, -1.0) >= 0.0 && high - low < 1e-15);
        }
        assert_eq!(enclose(1.0), (1.0, 1.0));
    }

    /// A skewed attempt reports the largest error, wherever it occurs.
    #[test]
    fn skewed_attempts_tell_their_largest_error() {
        let layout = Layout::of_equal_columns(2, &[0, 1]);
        for errors in [[1e-3, 1e-9], [1e-9, 1e-3]] {
            let same = vec![vec![1.0, 0.0]; 2];
            let found = enclose_combinations((same, errors.to_vec()), &layout);
            assert!(matches!(found, Attempt::Skewed { error } if error == 1e-3));
        }
    }

    /// A star with five leaves, seen from one of them. The observer knows its own value and hears that of the
    /// hub; of the four other leaves it learns only their sum.
    #[test]
    fn leaves_of_a_star_hide_behind_their_sum() -> Result<(), Box<dyn std::error::Error>> {
        let graph = generators::star_graph(5)?;
        let view = Krylov::new(&GossipMatrix::metropolis(&graph), &[1], &[0], &[1], 4);
        let found = of_krylov(&view, &graph, Budget::default())?;
        assert_eq!((found.rank, found.bits, found.total), (3, 0, Some(2)));
        for leaf in 2..6 {
            assert!(found.lower[leaf] <= 0.25 && 0.25 <= found.upper[leaf]);
            assert!(found.upper[leaf] - found.lower[leaf] < 1e-15);
        }
        assert_eq!((found.lower[0], found.upper[0]), (1.0, 1.0));
        let (_, basis) = basis_of_krylov(&view, &graph, Budget::default())?;
        assert_eq!((basis.vectors.len(), basis.bits), (3, 53));
        Ok(())
    }
}
