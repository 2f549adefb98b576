//! The renewal accountant: what `v` learns about `u` from a token that walks for `T` steps.
//!
//! Fix the path. Between two consecutive visits of `v`, let `u` have contributed `k` times. By
//! amplification by iteration the interval costs, in units of the local loss `c₀`, at most the
//! *mixed-`M`* cost: the `m`-th most recent contribution, `m ≤ M`, at distance `τ_m` from the visit
//! that closes the interval, costs `(2m − 1)/τ_m`, and an older one `1/gap` to the next
//! contribution. The guarantee averages over the path,
//!
//! ```text
//! ε = ln E exp(θ · cost) / (α − 1),      θ = (α − 1) c₀ = α (α − 1) / (2σ²),
//! ```
//!
//! This is the divergence for an adversary who also sees the path, so that it holds for all observers: those
//! who do not know the path, who know the sender, or who know the times. It includes the random number of
//! contributions, needs no condition on `σ`, and holds for every `M`; the minimum over several `M` is
//! reported.
//!
//! # How it is computed
//! With the laws of first visits of `{u, v}` (`uu`, `uv`, `vu`, `vv`, and from the start `su`, `sv`) as
//! power series in time, intervals and contributions are renewals:
//!
//! ```text
//! c(t)   = uu(t) e^{θ/t},                 G = c + c G                  chains of contributions of u
//! D_1(t) = uv(t) e^{θ/t},   D_m(t) = (D_{m−1} uu)(t) e^{θ(2m−1)/t}     t = distance of the m-th most recent
//! S = D_1 + … + D_M + D_M G,   I = vv + S vu                           from the first contribution, from v
//! ```
//!
//! (`uu` and the others are laws of the walk itself; the walk reversed in time, with which the recursion is
//! usually stated, has the same laws with the ends exchanged.) All computations are done with the *excess
//! over the same series at `θ = 0`*, that is with `E exp(θ cost) − 1`, so that small losses keep their
//! relative accuracy. All series are tilted by powers of one `r ≤ 1`, so that large ones do not overflow.
//! Sums, products and quotients are rounded up.
//!
//! # References
//! - Cyffers, Bellet, Upadhyay, *Differentially private decentralized learning with random walks*,
//!   ICML 2024: the protocol. Its Theorem 3 adds up losses of contributions that are observed
//!   together and is false (see `ndp_printed::walk`); this accountant replaces it.

use super::contribution::{gap_loss_of_pair, of_gaps, require_positive};
use super::local::{LocalLoss, MAX_EXPONENT};
use super::series::{Factor, Products, up};
use ndp_account::Error;
use ndp_dp::UpperBound;
use ndp_graph::hitting::PairLaws;
use ndp_numeric::stop::Stop;

/// The depths `M` among which the best is chosen.
const DEPTHS: [usize; 7] = [1, 2, 3, 4, 6, 8, 16];

/// The depths of a quick bound.
const QUICK_DEPTHS: [usize; 2] = [1, 6];

/// Kernels are tilted so that their mass is at most this, and rounding up does not push it beyond 1.
const UNIT_MASS: f64 = 1.0 - 1e-11;

/// The loss from `u` to `v` over a walk, the smallest over several depths `M`. With a cap, `u` contributes at
/// most this many times and only adds noise on its further visits. The loss is then the smallest of the
/// recursion, which charges every visit, of `N ε_gap` and of `N c₀`.
///
/// Meaning and preconditions are those of [`TokenWalk::loss`](super::TokenWalk::loss), with the final token
/// withheld.
///
/// # Errors
/// [`Error::InvalidParameter`] for a cap of 0; [`Error::Stopped`].
///
/// # Complexity
/// `O(M T log T)` by fast Fourier transform.
pub(crate) fn loss(
    laws: &PairLaws,
    local: LocalLoss,
    cap: Option<usize>,
    stop: &Stop,
) -> Result<UpperBound<f64>, Error> {
    let capped = match cap {
        None => f64::INFINITY,
        Some(cap) => {
            require_positive("the cap on contributions", cap)?;
            of_gaps(gap_loss_of_pair(laws, local), local, cap, false).into_value()
        }
    };
    Ok(uncapped(laws, local, stop)?.map(|loss| loss.min(capped)))
}

/// [`loss`] without a cap.
///
/// # Errors
/// [`Error::Stopped`].
pub(crate) fn uncapped(laws: &PairLaws, local: LocalLoss, stop: &Stop) -> Result<UpperBound<f64>, Error> {
    let losses = losses(laws, local, &DEPTHS, |_| false, &Products::new(laws.horizon() + 1), stop)?;
    Ok(UpperBound::new(losses.into_iter().fold(f64::INFINITY, f64::min)))
}

/// A quick bound on [`uncapped`], from few depths. Only the first depth is tried if its loss `is_enough`. `(α
/// − 1)` times the bound is at least `ln E e^{θC}`, where `C` is the cost of the path, since the cost at
/// every depth is at least `C`.
///
/// # Errors
/// [`Error::Stopped`].
pub(super) fn quick(
    laws: &PairLaws,
    local: LocalLoss,
    enough: impl Fn(f64) -> bool,
    stop: &Stop,
) -> Result<UpperBound<f64>, Error> {
    let losses = losses(laws, local, &QUICK_DEPTHS, enough, &Products::quick(laws.horizon() + 1), stop)?;
    Ok(UpperBound::new(losses.into_iter().fold(f64::INFINITY, f64::min)))
}

/// As [`loss`], for each of the given depths `M ≥ 1`; every one is an upper bound.
///
/// # Errors
/// [`Error::InvalidParameter`] for no depth or a depth of 0.
#[cfg(test)]
pub(super) fn loss_by_depth(
    laws: &PairLaws,
    local: LocalLoss,
    depths: &[usize],
) -> Result<Vec<(usize, UpperBound<f64>)>, Error> {
    let are_depths = !depths.is_empty() && !depths.contains(&0);
    let condition = "be at least one number, each at least 1";
    ndp_account::parts::ensure(are_depths, "the depths M", condition, depths.len() as f64)?;
    let products = Products::new(laws.horizon() + 1);
    let losses = losses(laws, local, depths, |_| false, &products, &Stop::never())?;
    Ok(depths.iter().zip(losses).map(|(&depth, loss)| (depth, UpperBound::new(loss))).collect())
}

/// The loss at every depth, at most that of a contribution at every step. The depths after the first loss
/// that `is_enough` are not computed and keep the cost of a contribution at every step.
fn losses(
    laws: &PairLaws,
    local: LocalLoss,
    depths: &[usize],
    enough: impl Fn(f64) -> bool,
    products: &Products,
    stop: &Stop,
) -> Result<Vec<f64>, Error> {
    let horizon = laws.horizon() as f64;
    let at_every_step = up(horizon * local.cost(), 1);
    let mut losses = vec![at_every_step; depths.len()];
    let theta = local.exponent();
    if theta > MAX_EXPONENT {
        return Ok(losses);
    }
    let mut tilt = first_tilt(laws, theta);
    // One pass is enough unless the depths differ by orders of magnitude.
    for _ in 0..3 {
        // What all depths share takes about ten products, and each depth takes four.
        stop.spend(products.cost().saturating_mul(16))?;
        let mut largest = f64::NEG_INFINITY;
        let common = Common::new(laws, theta, tilt, products);
        let loss_of = |(own_tilt, log_excess): (f64, f64)| {
            // Rounding: that of a sum of T terms and that of the tilt, whose logarithm is multiplied by T.
            let margin = (horizon * (4.0 + own_tilt.abs()) + 64.0) * f64::EPSILON;
            local.loss_of_log_excess(log_excess + margin)
        };
        let excesses = common.excesses(depths, products, |excess| enough(loss_of(excess)), stop)?;
        for (loss, excess) in losses.iter_mut().zip(excesses) {
            let Some(excess) = excess else { continue };
            largest = largest.max(excess.0);
            *loss = loss.min(loss_of(excess));
        }
        if losses.iter().any(|&loss| loss < at_every_step && enough(loss)) {
            break;
        }
        if (largest - tilt) * horizon <= 12.0 {
            break;
        }
        tilt = largest;
    }
    Ok(losses)
}

/// The logarithm of the largest `r ≤ 1` at which the generating functions of the chains of contributions and,
/// at depth 1, of the intervals are at most 1.
fn first_tilt(laws: &PairLaws, theta: f64) -> f64 {
    let charged = |law: &[f64]| -> Vec<f64> {
        law.iter().enumerate().map(|(t, &p)| p + charge(0.0, p, theta, 1, t)).collect()
    };
    let (chain, last) = (charged(&laws.u_to_u), charged(&laws.u_to_v));
    let tame = |tilt: f64| {
        let r = tilt.exp();
        let contributions = at(&chain, r);
        let intervals = at(&laws.v_to_v, r) + at(&laws.v_to_u, r) * at(&last, r) / (1.0 - contributions);
        contributions <= UNIT_MASS && intervals <= UNIT_MASS
    };
    if tame(0.0) { 0.0 } else { bisect(-theta - 1.0, 0.0, 1e-3 / laws.horizon() as f64, tame) }
}

/// The generating function `Σ_t series[t] r^t`, by Horner's scheme in eight interleaved parts.
fn at(series: &[f64], r: f64) -> f64 {
    let (chunks, rest) = series.as_chunks::<8>();
    let step = r.powi(8);
    let mut parts = [0.0; 8];
    for (part, x) in parts.iter_mut().zip(rest) {
        *part = *x;
    }
    for chunk in chunks.iter().rev() {
        for (part, x) in parts.iter_mut().zip(chunk) {
            *part = *part * step + x;
        }
    }
    parts.iter().rev().fold(0.0, |sum, x| sum * r + x)
}

/// Halves `[low, high]`, where `low` is tame and `high` is not, down to `width`, and returns the tame end.
fn bisect(mut low: f64, mut high: f64, width: f64, tame: impl Fn(f64) -> bool) -> f64 {
    while high - low > width {
        let middle = low + (high - low) / 2.0;
        if middle <= low || middle >= high {
            break;
        }
        if tame(middle) { low = middle } else { high = middle }
    }
    low
}

/// The factors `e^{tilt · t}`, rounded up.
struct Tilt(Vec<f64>);

impl Tilt {
    fn new(tilt: f64, length: usize) -> Self {
        if tilt == 0.0 {
            return Self(Vec::new());
        }
        let factor = |t: usize| {
            let exponent = tilt * t as f64;
            exponent.exp() * (1.0 + (exponent.abs() + 4.0) * f64::EPSILON)
        };
        Self((0..length).map(factor).collect())
    }

    /// `series[t] · e^{tilt · t}`, rounded up.
    fn apply(&self, series: &[f64]) -> Vec<f64> {
        if self.0.is_empty() {
            return series.to_vec();
        }
        let tilted = |(&x, &factor): (&f64, &f64)| if x == 0.0 { 0.0 } else { up(x * factor, 2) };
        series.iter().zip(&self.0).map(tilted).collect()
    }
}

fn sum(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(x, y)| (x + y) * (1.0 + f64::EPSILON)).collect()
}

/// What all depths share, tilted by `e^{tilt · t}`. Letters are those of the module documentation; `plain` is
/// a series at `θ = 0`, and `more` what the charges add to it.
struct Common<'a> {
    laws: &'a PairLaws,
    theta: f64,
    tilt: f64,
    uu: Factor,
    vu: Factor,
    su: Factor,
    /// `G` and `G − G(θ = 0)`.
    chain: Factor,
    chain_more: Factor,
    /// `D_1` at `θ = 0`, and its excess.
    last: Vec<f64>,
    last_more: Vec<f64>,
    /// At `θ = 0`: the first visit of `v` from `v`, and from the start.
    return_plain: Vec<f64>,
    arrival_plain: Vec<f64>,
}

impl<'a> Common<'a> {
    fn new(laws: &'a PairLaws, theta: f64, tilt: f64, products: &Products) -> Self {
        let factors = Tilt::new(tilt, laws.horizon() + 1);
        let law = |law: &[f64]| -> Vec<f64> {
            let raised: Vec<f64> =
                law.iter().enumerate().map(|(t, p)| p * (1.0 + laws.relative_error[t])).collect();
            factors.apply(&raised)
        };
        let uu = products.factor(law(&laws.u_to_u));
        let vu = products.factor(law(&laws.v_to_u));
        let su = products.factor(law(&laws.start_to_u));
        let last = law(&laws.u_to_v);

        let of_uu = products.solver(&uu);
        let chain_plain = products.solve_with(uu.values(), &of_uu);
        let step_more: Vec<f64> =
            uu.values().iter().enumerate().map(|(t, &p)| charge(0.0, p, theta, 1, t)).collect();
        let step = products.factor(sum(uu.values(), &step_more));
        let chain = products.solve(step.values(), &step);
        let chain = products.factor(chain);
        // G − G° = Δc + Δc G + c° (G − G°).
        let step_more = products.factor(step_more);
        let source = sum(step_more.values(), &products.product(&step_more, &chain));
        let chain_more = products.solve_with(&source, &of_uu);
        let chain_more = products.factor(chain_more);

        // First visits of v alone: S° = uv + uv G°, from v and from the start.
        let last_plain = products.factor(last.clone());
        let passage = sum(&last, &products.product(&last_plain, &products.factor(chain_plain)));
        let passage = products.factor(passage);
        let return_plain = sum(&law(&laws.v_to_v), &products.product(&passage, &vu));
        let arrival_plain = sum(&law(&laws.start_to_v), &products.product(&passage, &su));
        let last_more = last.iter().enumerate().map(|(t, &p)| charge(0.0, p, theta, 1, t)).collect();
        Self {
            laws,
            theta,
            tilt,
            uu,
            vu,
            su,
            chain,
            chain_more,
            last,
            last_more,
            return_plain,
            arrival_plain,
        }
    }

    /// For each depth the tilt that suits it and the logarithm of `E exp(θ cost) − 1`. `None` if numbers
    /// overflow, and for depths after the first that is enough.
    fn excesses(
        &self,
        depths: &[usize],
        products: &Products,
        enough: impl Fn((f64, f64)) -> bool,
        stop: &Stop,
    ) -> Result<Vec<Option<(f64, f64)>>, Error> {
        let mut excesses = vec![None; depths.len()];
        let mut plain = products.factor(self.last.clone());
        let mut more = products.factor(self.last_more.clone());
        let mut more_so_far = self.last_more.clone();
        // There are no more contributions than steps, so that all depths beyond T are the same.
        let horizon = self.laws.horizon();
        for depth in 1..=depths.iter().copied().max().unwrap_or(0).min(horizon) {
            stop.spend(products.cost().saturating_mul(4))?;
            if depth > 1 {
                let head = ndp_numeric::casts::floor((self.theta * (2 * depth - 1) as f64 / 2.0).ceil());
                let moved = products.sum_of_products(&[(&more, &self.uu)], head);
                let plain_moved = products.sum_of_products(&[(&plain, &self.uu)], head);
                let charged: Vec<f64> = moved
                    .iter()
                    .zip(&plain_moved)
                    .enumerate()
                    .map(|(t, (&more, &plain))| charge(more, plain, self.theta, depth, t))
                    .collect();
                more_so_far = sum(&more_so_far, &charged);
                (plain, more) = (products.factor(plain_moved), products.factor(charged));
            }
            for (excess, _) in excesses.iter_mut().zip(depths).filter(|(_, d)| (**d).min(horizon) == depth) {
                let older = products.sum_of_products(&[(&more, &self.chain), (&plain, &self.chain_more)], 0);
                *excess = self.excess(sum(&more_so_far, &older), products);
                if excess.is_some_and(&enough) {
                    return Ok(excesses);
                }
            }
        }
        Ok(excesses)
    }

    /// The excess of the walk from `S − S°`, the excess of the chains of contributions before a visit of `v`.
    fn excess(&self, passage_more: Vec<f64>, products: &Products) -> Option<(f64, f64)> {
        let passage_more = products.factor(passage_more);
        let interval_more = products.product(&passage_more, &self.vu);
        let interval = sum(&self.return_plain, &interval_more);
        let arrival_more = products.product(&passage_more, &self.su);
        let arrival = sum(&self.arrival_plain, &arrival_more);

        let shift = unit_tilt(&interval, -self.tilt)?;
        let tilt = self.tilt + shift;
        let r = tilt.exp();
        // b(j) = E_v exp(θ cost within j steps) − 1 = Σ_{L ≤ j} (I − I°)(L) + (I b)(j).
        let factors = Tilt::new(shift, self.laws.horizon() + 1);
        let mut cumulated = factors.apply(&interval_more);
        for j in 1..cumulated.len() {
            cumulated[j] = up(cumulated[j] + r * cumulated[j - 1], 3);
        }
        let kernel = products.factor(factors.apply(&interval));
        let b = products.solve(&cumulated, &kernel);
        let arrivals = factors.apply(&arrival).iter().zip(b.iter().rev()).map(|(i, b)| i * b).sum::<f64>();
        let excess = arrivals + at_end(&factors.apply(&arrival_more), r);
        let log_excess = excess.ln() - tilt * self.laws.horizon() as f64;
        (log_excess < f64::INFINITY).then_some((tilt, log_excess))
    }
}

/// `Σ_L series[L] r^{T − L}`.
fn at_end(series: &[f64], r: f64) -> f64 {
    series.iter().fold(0.0, |sum, x| sum * r + x)
}

/// The largest `x ≤ most` for which `Σ_t series[t] e^{xt}` is at most 1; nothing if numbers overflow.
fn unit_tilt(series: &[f64], most: f64) -> Option<f64> {
    let tame = |x: f64| at(series, x.exp()) <= UNIT_MASS;
    if tame(most) {
        return Some(most);
    }
    let mut low = most.min(0.0);
    let mut step = 1.0 / series.len() as f64;
    while !tame(low) {
        low -= step;
        step *= 2.0;
        if step > 1e6 {
            return None;
        }
    }
    Some(bisect(low, most, 1e-3 / series.len() as f64, tame))
}

/// `more · e^x + plain · (e^x − 1)` for the charge `x = θ (2m − 1)/t`, rounded up; 0 at `t = 0`.
fn charge(more: f64, plain: f64, theta: f64, m: usize, t: usize) -> f64 {
    if t == 0 || more + plain == 0.0 {
        return 0.0;
    }
    let x = theta * (2 * m - 1) as f64 / t as f64;
    let (charged, size) = if x < 600.0 {
        let surcharge = x.exp_m1();
        (more + (more + plain) * surcharge, x)
    } else {
        // The two factors are combined as logarithms, since one may overflow when the product does not.
        let log = (more + plain).ln();
        ((log + x).exp(), x + log.abs())
    };
    charged * (1.0 + (size + 6.0) * f64::EPSILON) + f64::MIN_POSITIVE
}

#[cfg(test)]
mod tests {
    use super::super::oracle::{
        expectation, local, mixed_cost, odometer, plain_recursion, reference_rows, small_walks,
    };
    use super::*;
    use approx::assert_relative_eq;
    use ndp_graph::generators::{cycle_graph, grid_2d_graph, hypercube_graph, path_graph, star_graph};
    use ndp_graph::hitting::{Start, Walk};
    use ndp_graph::{GossipMatrix, Graph};

    /// Section 6 of the specification: T = 10, α = 2, σ = 2, M = 1; uniform start, start at node 0.
    #[test]
    fn the_reference_table() {
        let expected = [
            (0.104_009_897_901_580_4, 0.256_149_277_295_053_3),
            (0.291_783_452_899_633_4, 0.541_293_363_530_122_3),
            (0.470_098_264_223_433_3, 0.404_120_816_836_36),
            (0.251_691_310_824_169_2, 0.370_459_852_212_809_7),
            (0.039_190_464_938_099_88, 0.084_011_899_357_180_23),
        ];
        for ((_, w, u, v), (uniform, at_0)) in reference_rows().into_iter().zip(expected) {
            for (start, expected) in [(Start::Uniform, uniform), (Start::Node(0), at_0)] {
                let laws = Walk::from(&w).pair_laws(u, v, &start, 10).unwrap();
                let [(_, loss)] = loss_by_depth(&laws, local(2.0, 2.0), &[1]).unwrap()[..] else { panic!() };
                assert_relative_eq!(*loss.value(), expected, max_relative = 1e-12);
            }
        }
    }

    /// Section 6: ring of 6, from 0 to 3, T = 20, M = 1, 2, 4. The last uniform value of the specification,
    /// .2452745497515854, is off by 4e-10: an independent program with plain loops gives the one below, and
    /// agrees with the specification on the other eight.
    #[test]
    fn the_reference_depths() {
        let w = GossipMatrix::metropolis(&cycle_graph(6).unwrap());
        let rows = [
            (Start::Uniform, [0.270_968_906_691_207, 0.246_799_314_142_089_1, 0.245_274_550_173_985_3]),
            (Start::Node(0), [0.451_942_275_347_924, 0.416_677_619_752_297_4, 0.413_084_087_704_737_1]),
            (Start::Node(3), [0.164_327_820_857_434_9, 0.147_818_542_882_231, 0.147_573_619_450_592_2]),
        ];
        for (start, expected) in rows {
            let laws = Walk::from(&w).pair_laws(0, 3, &start, 20).unwrap();
            let losses = loss_by_depth(&laws, local(2.0, 2.0), &[1, 2, 4]).unwrap();
            for ((_, loss), expected) in losses.iter().zip(expected) {
                assert_relative_eq!(*loss.value(), expected, max_relative = 1e-12);
            }
            assert!(uncapped(&laws, local(2.0, 2.0), &Stop::never()).unwrap().value() <= losses[2].1.value());
        }
    }

    /// Section 0: hypercube 2^11, T = 1150, α = 2, σ = 2, M = 6, distances 1, 2, 6 and 11. Each value is
    /// below the published .0292, .00391, .000684, .000580.
    #[test]
    fn the_reference_hypercube() {
        let w = GossipMatrix::metropolis(&hypercube_graph(11).unwrap());
        let rows = [(1, 0.0193, 5e-5), (3, 0.00238, 5e-6), (63, 0.000_344, 5e-7), (2047, 0.000_281, 5e-7)];
        for (v, expected, tolerance) in rows {
            let laws = Walk::from(&w).pair_laws(0, v, &Start::Uniform, 1150).unwrap();
            let [(_, loss)] = loss_by_depth(&laws, local(2.0, 2.0), &[6]).unwrap()[..] else { panic!() };
            assert!((loss.value() - expected).abs() <= tolerance, "{loss:?} at {v}");
        }
    }

    /// The recursion is the expectation over all paths, for every depth, start and kind of matrix. It is at
    /// least that of the taut string and that of constant gradients.
    #[test]
    fn the_recursion_is_the_sum_over_all_paths() {
        let theta = local(2.0, 1.2).exponent();
        for (case, w) in small_walks().iter().enumerate() {
            let n = w.node_count();
            let dense = w.to_dense().unwrap();
            let steps = if n == 3 { 8 } else { 6 };
            let uneven = if n == 3 { vec![0.5, 0.2, 0.3] } else { vec![0.1, 0.0, 0.6, 0.3] };
            for (u, v) in [(0, 1), (1, 0), (n - 1, 0), (0, n - 1)] {
                for start in [Start::Node(u), Start::Node(v), Start::Uniform, Start::Law(uneven.clone())] {
                    let law = start.law(n).unwrap();
                    let laws = Walk::from(w).pair_laws(u, v, &start, steps).unwrap();
                    let losses = loss_by_depth(&laws, local(2.0, 1.2), &[1, 2, 3, 4, 50]).unwrap();
                    let mean = |cost: &dyn Fn(&[usize]) -> f64| {
                        expectation(&dense, &law, steps, &|path| (theta * cost(path)).exp_m1()).ln_1p()
                    };
                    let taut = mean(&|path| *odometer(path, u, &[v]).cost().value());
                    let constant = mean(&|path| *odometer(path, u, &[v]).constant_gradient_cost().value());
                    assert!(constant <= taut * (1.0 + 1e-12));
                    for (depth, loss) in losses {
                        let at_every_step = steps as f64 * local(2.0, 1.2).cost();
                        let expected = mean(&|path| mixed_cost(path, u, &[v], depth)).min(at_every_step);
                        assert!(
                            (loss.value() - expected).abs() <= 1e-12 * expected,
                            "case {case}, {u} to {v}, depth {depth}: {loss:?} is not {expected}"
                        );
                        assert!(*loss.value() >= taut * (1.0 - 1e-13));
                    }
                }
            }
        }
    }

    /// Fourier transforms, tilts and margins give the same as plain loops, over five orders of magnitude of
    /// θ.
    #[test]
    fn the_fast_recursion_is_just_above_the_plain_one() {
        let barbell = Graph::from_edges(
            9,
            [(0, 1), (0, 2), (1, 2), (2, 3), (3, 4), (4, 5), (5, 6), (6, 7), (6, 8), (7, 8)],
        );
        let graphs = [
            (path_graph(12).unwrap(), 0, 11),
            (star_graph(6).unwrap(), 3, 0),
            (grid_2d_graph(6, 5).unwrap(), 7, 8),
            (hypercube_graph(6).unwrap(), 0, 37),
            (barbell.unwrap(), 0, 8),
        ];
        let depths = [1, 2, 4, 7];
        for (case, (graph, u, v)) in graphs.iter().enumerate() {
            let w = GossipMatrix::metropolis(graph);
            let walk = Walk::from(&w);
            for start in [Start::Uniform, Start::Node(*u), Start::Node(*v)] {
                let horizon = 400;
                let laws = walk.pair_laws(*u, *v, &start, horizon).unwrap();
                for sigma in [0.6, 1.0, 3.0, 10.0, 300.0] {
                    let local = local(2.0, sigma);
                    let theta = local.exponent();
                    for (depth, loss) in loss_by_depth(&laws, local, &depths).unwrap() {
                        let plain = plain_recursion(&walk, [*u, *v], &start, horizon, theta, depth);
                        let slack = 1e-13 * horizon as f64;
                        let ceiling = horizon as f64 * local.cost();
                        // If the plain numbers overflow, those of the accountant do not.
                        let (low, high) = if plain.is_finite() {
                            (plain.ln() - slack, plain.ln() * (1.0 + 1e-7) + slack)
                        } else {
                            (f64::MAX.ln(), ceiling + slack)
                        };
                        let (low, high) = (low.min(ceiling), high.min(ceiling + slack));
                        assert!(
                            low <= *loss.value() && *loss.value() <= high,
                            "case {case}, {start:?}, sigma {sigma}, depth {depth}: {loss:?} is not {}",
                            plain.ln()
                        );
                    }
                }
            }
        }
    }

    /// Of every length modulo 8.
    #[test]
    fn generating_functions_are_polynomials() {
        for length in 0..20_i32 {
            let series: Vec<f64> = (0..length).map(|t| f64::from(t * t % 11 + 1)).collect();
            for r in [0.0, 0.5, 1.0, 2.0] {
                let slow: f64 = series.iter().zip(0..).map(|(x, t)| x * f64::powi(r, t)).sum();
                assert_relative_eq!(at(&series, r), slow, max_relative = 1e-14);
            }
        }
    }

    /// Charges whose exponents `θ (2m − 1)/t` are rounded down by nearly half a unit, which their
    /// exponentials multiply; mpmath at 60 digits.
    #[test]
    fn large_charges_are_rounded_up() {
        for (theta, m, t, plain, truth) in [
            (238.9, 4, 4, 1.0, 3.695_434_608_096_071e181),
            (188.1, 2, 2, 1.0, 3.437_067_561_287_444e122),
            (552.9, 2, 7, 1.0, 8.112_964_776_166_653e102),
            (202.9, 4, 3, 1.0, 4.068_967_450_304_78e205),
            (1991.0, 1, 3, 1e-250, 1.685_664_561_189_021e38),
            (73.51, 5, 1, 1e-250, 2.112_935_706_772_667e37),
            (333.4, 6, 6, 1e-250, 2_852_750_709_132_499.4),
            (188.9, 4, 2, 1e-250, 1.360_807_550_568_610_5e37),
        ] {
            let found = charge(0.0, plain, theta, m, t);
            let above = found / truth - 1.0;
            assert!(0.0 < above && above < 1e-12, "{theta}, {m}, {t}: {above:e}");
        }
        assert_eq!((charge(0.0, 1.0, 3.0, 1, 0), charge(0.0, 0.0, 3.0, 1, 2)), (0.0, 0.0));
    }
}
