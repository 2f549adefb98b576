//! The share of its limit that each pair uses.

use super::Account;
use super::target::{Allowed, Pair, Target};
use crate::Error;
use ndp_dp::{ApproxDp, Exact, Grade, Guarantee, Measure, NoiseMultiplier, Profile, UpperBound, Verdict};
use ndp_numeric::rounding::Interval;
use rayon::prelude::*;
use std::collections::BTreeMap;

/// What accounts with the same losses have in common: the account that they mirror, or their class and the
/// number of members, on which depends how many nodes are outside.
type Key = (Option<usize>, Option<((usize, usize), usize)>);

/// For each set of accounts with the same losses: the index of one of them, and their number.
pub(super) fn representatives(accounts: &[Box<dyn Account + '_>]) -> Vec<(usize, usize)> {
    let mut classes: BTreeMap<Key, usize> = BTreeMap::new();
    let mut kept: Vec<(usize, usize)> = Vec::new();
    for (at, account) in accounts.iter().enumerate() {
        // Accounts of a class have the same profile for every node. Mirrored accounts have the same losses,
        // but about other nodes.
        let class = account.class().map(|class| (class, account.observer().members().len()));
        let key = if class.is_some() { (None, class) } else { (account.mirror_of(), None) };
        let known = (key != (None, None)).then(|| *classes.entry(key).or_insert(kept.len()));
        match known {
            Some(same) if same < kept.len() => kept[same].1 += 1,
            _ => kept.push((at, 1)),
        }
    }
    kept
}

/// The account and exposed node of the one pair that stands for all pairs, with its limit. `None` unless all
/// accounts are of one class and one positive and finite limit holds for all pairs.
pub(super) fn only_pair(
    accounts: &[Box<dyn Account + '_>],
    target: &Target,
) -> Result<Option<(usize, usize, f64)>, Error> {
    let class = accounts.first().and_then(|account| account.class());
    let alike = class.is_some() && accounts.iter().all(|account| account.class() == class);
    if !alike || !matches!(target.allowed, Allowed::Worst(_)) {
        return Ok(None);
    }
    let outside =
        |account: &dyn Account| (0..account.node_count()).find(|&u| !account.observer().contains(u));
    let found = accounts.iter().enumerate().find_map(|(at, account)| Some((at, outside(account.as_ref())?)));
    let Some((at, source)) = found else { return Ok(None) };
    let allowed = target.of_pair(source, accounts[at].observer())?;
    Ok((0.0 < allowed && allowed < f64::INFINITY).then_some((at, source, allowed)))
}

/// `(1/n) Σ_{u outside} loss(u)`, rounded up; exact if every loss is.
pub(super) fn mean(
    account: &dyn Account,
    noise: NoiseMultiplier,
    measure: Measure,
) -> Result<Guarantee<f64>, Error> {
    let n = account.node_count();
    let mut sum = Interval::new(0.0);
    let mut exact = true;
    if let (Some(report), Measure::Renyi(order)) = (account.unit_losses(), measure) {
        // α/(2 σ²) times the mean of the unit losses, which is known more precisely than the single losses.
        let noise = Interval::new(noise.get());
        let local = Interval::new(order.get()) / Interval::new(2.0) / noise / noise;
        return Ok(report.mean().map(|mean| (local * Interval::new(mean)).high()));
    }
    let outside = (0..n).filter(|&u| !account.observer().contains(u));
    if let (Some(_), Some(u)) = (account.class(), outside.clone().next()) {
        let (outside, all) = (Interval::count(outside.count() as u64), Interval::count(n as u64));
        let one = account.profile(u, noise)?.loss(measure)?;
        return Ok(one.map(|one| (Interval::new(one) * outside / all).high()));
    }
    for u in outside {
        let loss = account.profile(u, noise)?.loss(measure)?;
        exact &= loss.grade() == Grade::Exact;
        sum = sum + Interval::new(loss.into_value());
    }
    let mean = (sum / Interval::count(n as u64)).high();
    Ok(if exact { Exact::new(mean).into() } else { UpperBound::new(mean).into() })
}

/// A proven lower end of [`mean`]: losses whose own lower end is not next to their upper one count as 0.
pub(super) fn mean_from_below(
    account: &dyn Account,
    noise: NoiseMultiplier,
    measure: Measure,
) -> Result<f64, Error> {
    let n = account.node_count();
    let outside = (0..n).filter(|&u| !account.observer().contains(u));
    let alike = account.class().is_some();
    let mut sum = Interval::new(0.0);
    for u in outside.clone().take(if alike { 1 } else { n }) {
        let profile = account.profile(u, noise)?;
        let near = profile.loss(measure)?.into_value() * (1.0 - NEAR);
        if near > 0.0 && profile.check(measure, near)? == Verdict::Violated {
            sum = sum + Interval::new(near);
        }
    }
    if alike {
        sum = sum * Interval::count(outside.count() as u64);
    }
    Ok((sum / Interval::count(n as u64)).low())
}

/// How far, as a share, a lower end may be from an upper one.
const NEAR: f64 = 1e-6;

/// The share of its limit that a pair uses.
pub(super) struct Used {
    pub(super) account: usize,
    pub(super) source: usize,
    pub(super) allowed: f64,
    /// At most 1 if the limit is kept: the share of `μ` for Gaussian profiles, of the loss for others.
    pub(super) share: f64,
    /// Whether this is the share of the loss itself; otherwise a quick bound says that it is no larger.
    pub(super) is_of_loss: bool,
    pub(super) verdict: Verdict,
    /// The number of pairs for which it stands.
    pub(super) pairs: usize,
}

impl Used {
    pub(super) fn pair(
        &self,
        accounts: &[Box<dyn Account + '_>],
        noise: NoiseMultiplier,
        measure: Measure,
    ) -> Result<Pair, Error> {
        let account = &accounts[self.account];
        let loss = account.profile(self.source, noise)?.loss(measure)?;
        let observer = account.observer().clone();
        Ok(Pair { source: self.source, observer, loss, allowed: self.allowed })
    }
}

/// The shares of all pairs that have a limit and a loss. If `decided`, quick bounds above the limit are
/// replaced by exact losses, so that the verdicts are final.
pub(super) fn shares_used(
    accounts: &[Box<dyn Account + '_>],
    noise: NoiseMultiplier,
    target: &Target,
    decided: bool,
) -> Result<Vec<Used>, Error> {
    let worst = matches!(target.allowed, Allowed::Worst(_));
    let kept =
        if worst { representatives(accounts) } else { (0..accounts.len()).map(|at| (at, 1)).collect() };
    let of_account = |&(at, alike): &(usize, usize)| -> Result<Vec<Used>, Error> {
        let account = &accounts[at];
        let observer = account.observer();
        let outside: Vec<usize> = (0..account.node_count()).filter(|&u| !observer.contains(u)).collect();
        let count = if account.class().is_some() && worst { 1.min(outside.len()) } else { outside.len() };
        // One pair stands for all nodes of the class, and one observer for all observers of the class.
        let pairs = alike * if count < outside.len() { outside.len() } else { 1 };
        // Few different limits occur, and inverting a Gaussian profile takes time, so the last result is
        // kept.
        let mut last = (f64::NAN, f64::NAN);
        let mut limits = Vec::with_capacity(count);
        for &u in &outside[..count] {
            let allowed = target.of_pair(u, observer)?;
            if allowed == f64::INFINITY {
                continue;
            }
            if allowed != last.0 {
                last = (allowed, target.measure.largest_mu(allowed)?.mu());
            }
            limits.push((u, last));
        }
        let of_pair = |&(source, limit): &(usize, (f64, f64))| -> Result<Option<Used>, Error> {
            let profile = account.profile(source, noise)?;
            let Share { share, verdict, is_of_loss } = share(&profile, target.measure, limit, decided)?;
            let allowed = limit.0;
            let used = Used { account: at, source, allowed, share, is_of_loss, verdict, pairs };
            Ok((share != 0.0).then_some(used))
        };
        // Gaussian profiles take hardly any time, so threads would not pay.
        let used: Vec<Option<Used>> = if account.unit_losses().is_some() {
            limits.iter().map(of_pair).collect::<Result<_, _>>()?
        } else {
            limits.par_iter().map(of_pair).collect::<Result<_, _>>()?
        };
        Ok(used.into_iter().flatten().collect())
    };
    let all = of_each(accounts, &kept, of_account)?;
    Ok(all.into_iter().flatten().collect())
}

/// Which of these accounts are answered for by a bound.
pub(super) fn by_bound(
    accounts: &[Box<dyn Account + '_>],
    which: impl IntoIterator<Item = usize>,
) -> Vec<bool> {
    which.into_iter().map(|at| accounts[at].is_by_bound()).collect()
}

/// The answers of `ask` for these accounts, which work beside one another. Those for which a bound began to
/// answer meanwhile are asked again: then it answers for all their pairs.
pub(super) fn of_each<T: Send>(
    accounts: &[Box<dyn Account + '_>],
    kept: &[(usize, usize)],
    ask: impl Fn(&(usize, usize)) -> Result<T, Error> + Sync,
) -> Result<Vec<T>, Error> {
    let by_bound = || by_bound(accounts, kept.iter().map(|&(at, _)| at));
    let before = by_bound();
    let mut answers = kept.par_iter().map(&ask).collect::<Result<Vec<T>, Error>>()?;
    for (at, (was, is)) in before.into_iter().zip(by_bound()).enumerate() {
        if was != is {
            answers[at] = ask(&kept[at])?;
        }
    }
    Ok(answers)
}

/// The share of its limit that a profile uses.
#[derive(Debug, PartialEq)]
struct Share {
    share: f64,
    verdict: Verdict,
    /// As in [`Used`].
    is_of_loss: bool,
}

impl Share {
    const fn of_bound(share: f64, verdict: Verdict) -> Self {
        Self { share, verdict, is_of_loss: false }
    }

    fn of_loss(loss: f64, allowed: f64) -> Self {
        let share = if loss == 0.0 { 0.0 } else { loss / allowed };
        let verdict = if loss <= allowed { Verdict::Met } else { Verdict::NotShown };
        Self { share, verdict, is_of_loss: true }
    }
}

/// The share of the limit (a loss, and the `μ` with this loss) that a profile uses, and whether it keeps the
/// limit.
fn share(
    profile: &Profile,
    measure: Measure,
    (allowed, largest): (f64, f64),
    decided: bool,
) -> Result<Share, Error> {
    if let Some(mu) = profile.mu().map(|mu| mu.value().mu()) {
        // If `mu` is well below the limit, the loss itself need not be computed.
        let (share, verdict) = match mu {
            0.0 => (0.0, Verdict::Met),
            _ if mu <= largest * (1.0 - 1e-9) => (mu / largest, Verdict::Met),
            _ => (mu / largest, profile.check(measure, allowed)?),
        };
        return Ok(Share { share, verdict, is_of_loss: true });
    }
    if let (Measure::Approx(delta), true) = (measure, 0.0 < allowed)
        && let Some(epsilon) = profile.quick_epsilon(delta, allowed)
    {
        // Any upper bound within the limit shows that the limit is kept.
        let share = epsilon / allowed;
        if epsilon == 0.0 {
            return Ok(Share::of_bound(0.0, Verdict::Met));
        }
        if share <= 1.0 || !decided {
            let verdict = if share <= 1.0 { Verdict::Met } else { Verdict::NotShown };
            return Ok(Share::of_bound(share.max(f64::MIN_POSITIVE), verdict));
        }
        // If the loss is well within the limit, its exact share is not needed.
        if profile.keeps(ApproxDp::new(WELL_WITHIN * allowed, delta.get())?) {
            return Ok(Share::of_bound(WELL_WITHIN, Verdict::Met));
        }
    }
    Ok(Share::of_loss(profile.loss(measure)?.into_value(), allowed))
}

/// The pair whose loss is the largest share of its limit, to a relative [`EQUAL`]. Quick bounds only say that
/// some pairs use less: the losses of the others are asked for, that of `first` before all.
pub(super) fn tightest_by_loss<'a>(
    uses: &'a mut [Used],
    accounts: &[Box<dyn Account + '_>],
    noise: NoiseMultiplier,
    measure: Measure,
    first: Option<(usize, usize)>,
) -> Result<Option<&'a Used>, Error> {
    let settle = |used: &mut Used| -> Result<(), Error> {
        let loss = accounts[used.account].profile(used.source, noise)?.loss(measure)?.into_value();
        let Share { share, verdict, is_of_loss } = Share::of_loss(loss, used.allowed);
        (used.share, used.verdict, used.is_of_loss) = (share, verdict, is_of_loss);
        Ok(())
    };
    let is_first = |used: &&mut Used| first == Some((used.account, used.source)) && !used.is_of_loss;
    uses.iter_mut().find(is_first).map_or(Ok(()), settle)?;
    let (known, mut bounded): (Vec<_>, Vec<_>) = uses.iter_mut().partition(|used| used.is_of_loss);
    let mut most = known.iter().fold(0.0, |most: f64, used| most.max(used.share));
    bounded.sort_by(|a, b| b.share.total_cmp(&a.share));
    for some in bounded.chunks_mut(TOGETHER) {
        if some[0].share <= most * (1.0 + EQUAL) {
            break;
        }
        some.par_iter_mut().try_for_each(|used| settle(used))?;
        most = some.iter().fold(most, |most, used| most.max(used.share));
    }
    Ok(tightest(uses.iter().filter(|used| used.is_of_loss)))
}

/// Shares are called equal if they differ by no more than this.
const EQUAL: f64 = 1e-9;
/// The number of losses that are asked for beside one another.
const TOGETHER: usize = 8;
/// Below this share of the limit, the loss need not be computed.
const WELL_WITHIN: f64 = 0.98;

/// The pair with the largest share, the first of equals; pairs that fail their limit come before those that
/// keep it.
pub(super) fn tightest<'a>(uses: impl IntoIterator<Item = &'a Used>) -> Option<&'a Used> {
    let key = |used: &Used| (used.verdict != Verdict::Met, used.share);
    uses.into_iter().fold(None, |most: Option<&Used>, used| match most {
        Some(before) if key(used).partial_cmp(&key(before)).is_some_and(std::cmp::Ordering::is_le) => {
            Some(before)
        }
        _ => Some(used),
    })
}

#[cfg(test)]
mod tests {
    use crate::{Account, Error, Observer, Target, Terms, check, least_noise};
    use ndp_dp::{ApproxDp, Curve, Delta, Guarantee, Measure, NoiseMultiplier, Profile, UpperBound, Verdict};
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// All pairs lose `cost/σ²` less `free`, or nothing, and all accounts are of one class. It records the
    /// noises that it is asked about.
    struct Costs<'a> {
        observer: Observer,
        cost: f64,
        free: f64,
        class: Option<(usize, usize)>,
        asked: &'a Mutex<Vec<f64>>,
    }

    impl Account for Costs<'_> {
        fn observer(&self) -> &Observer {
            &self.observer
        }

        fn node_count(&self) -> usize {
            3
        }

        fn terms(&self) -> Terms {
            Terms::VALUES
        }

        fn class(&self) -> Option<(usize, usize)> {
            self.class
        }

        fn profile(&self, _: usize, noise: NoiseMultiplier) -> Result<Profile, Error> {
            self.asked.lock().map_err(|_| Error::Cancelled)?.push(noise.get());
            let epsilon = (self.cost / noise.get().powi(2) - self.free).max(0.0);
            let curve = move |delta: Delta| Ok(UpperBound::new(ApproxDp::new(epsilon, delta.get())?).into());
            Ok(Profile::of_curve(curve, "an observer"))
        }
    }

    /// Nodes 1 and 2 lose 1, until the third question is asked: from then on a bound says 10 of both.
    struct Cut(Observer, AtomicUsize);

    impl Account for Cut {
        fn observer(&self) -> &Observer {
            &self.0
        }

        fn node_count(&self) -> usize {
            3
        }

        fn terms(&self) -> Terms {
            Terms::VALUES
        }

        fn is_by_bound(&self) -> bool {
            self.1.load(Ordering::Relaxed) >= 3
        }

        fn profile(&self, _: usize, _: NoiseMultiplier) -> Result<Profile, Error> {
            self.1.fetch_add(1, Ordering::Relaxed);
            let epsilon = if self.is_by_bound() { 10.0 } else { 1.0 };
            let curve = move |delta: Delta| Ok(UpperBound::new(ApproxDp::new(epsilon, delta.get())?).into());
            Ok(Profile::of_curve(curve, "an observer"))
        }
    }

    /// If the bound begins to answer in the middle of a round, no answer of this round from before counts.
    #[test]
    fn a_round_is_by_the_bound_or_not() -> Result<(), Error> {
        let noise = NoiseMultiplier::new(1.0)?;
        let target = Target::worst(Measure::Approx(Delta::new(1e-5)?), 5.0);
        for asked in 0..4 {
            let accounts: [Box<dyn Account>; 1] = [Box::new(Cut(Observer::node(0), AtomicUsize::new(asked)))];
            let shares: Vec<f64> =
                super::shares_used(&accounts, noise, &target, true)?.iter().map(|used| used.share).collect();
            let share = if asked == 0 { 0.2 } else { 2.0 };
            assert_eq!(shares, [share; 2], "{asked} asked before");
        }
        Ok(())
    }

    /// If one pair stands for all, its noise is searched directly and equals the noise found by looking at
    /// all pairs. A pair without a loss is refused either way.
    #[test]
    fn one_pair_for_all_is_asked_at_its_own_noise_alone() -> Result<(), Error> {
        let target = Target::worst(Measure::Approx(Delta::new(1e-5)?), 0.5);
        let asked = Mutex::new(Vec::new());
        let accounts = |cost: f64, class| -> Vec<Box<dyn Account + '_>> {
            let one =
                |v| Box::new(Costs { observer: Observer::node(v), cost, free: 0.0, class, asked: &asked });
            (0..3).map(|v| one(v) as Box<dyn Account>).collect()
        };
        let take = || asked.lock().map(|mut asked| std::mem::take(&mut *asked)).map_err(|_| Error::Cancelled);
        for cost in [3.0, 700.0] {
            let single = least_noise(&accounts(cost, Some((1, 0))), &target)?;
            let few = take()?.len();
            let each = least_noise(&accounts(cost, None), &target)?;
            let many = take()?.len();
            assert_eq!(single, each);
            assert!(3 * few < 2 * many, "{few} {many}");
            assert_eq!(check(&accounts(cost, Some((1, 0))), single.noise, &target)?.verdict, Verdict::Met);
            take()?;
        }
        for class in [Some((1, 0)), None] {
            let nothing = least_noise(&accounts(0.0, class), &target);
            assert_eq!(nothing, Err(Error::NoNoiseNeeded));
        }
        Ok(())
    }

    /// Accounts of one class have different numbers of nodes outside: none outside a coalition of everybody,
    /// which says nothing of the others, and each has a mean of its own.
    #[test]
    fn a_coalition_does_not_stand_for_a_single_node() -> Result<(), Error> {
        let asked = Mutex::new(Vec::new());
        let measure = Measure::Approx(Delta::new(1e-5)?);
        let one = NoiseMultiplier::new(1.0)?;
        let of = |members: &[usize]| -> Box<dyn Account + '_> {
            let observer = Observer::coalition(members);
            Box::new(Costs { observer, cost: 6.0, free: 0.0, class: Some((1, 0)), asked: &asked })
        };
        for several in [[of(&[0, 1, 2]), of(&[2])], [of(&[2]), of(&[0, 1, 2])]] {
            let found = check(&several, one, &Target::worst(measure, 5.0))?;
            assert_eq!((found.verdict, found.exceeding), (Verdict::NotShown, 2));
            let least = least_noise(&several, &Target::worst(measure, 1.5))?;
            assert!((least.noise.get() - 2.0).abs() < 1e-9, "{}", least.noise.get());
        }
        // Node 2 is lost to by 2 of 3 nodes, which is a mean of 4, and the coalition by one.
        for several in [[of(&[0, 1]), of(&[2])], [of(&[2]), of(&[0, 1])]] {
            assert_eq!(check(&several, one, &Target::mean(measure, 3.0))?.exceeding, 1);
            let least = least_noise(&several, &Target::mean(measure, 1.0))?;
            assert!((least.noise.get() - 2.0).abs() < 1e-6, "{}", least.noise.get());
            assert_eq!(check(&several, one, &Target::worst(measure, 5.0))?.exceeding, 3);
        }
        Ok(())
    }

    /// At a noise at which `δ` alone covers everything, the noise has the grade of these losses.
    #[test]
    fn a_noise_without_a_loss_has_a_grade() -> Result<(), Error> {
        let asked = Mutex::new(Vec::new());
        for class in [Some((1, 0)), None] {
            let costs = Costs { observer: Observer::node(0), cost: 1.0, free: 1.0, class, asked: &asked };
            let least =
                least_noise(&[Box::new(costs)], &Target::worst(Measure::Approx(Delta::new(1e-5)?), 1e-300))?;
            assert_eq!(least.grade, Some(ndp_dp::Grade::UpperBound));
        }
        Ok(())
    }

    /// A loss that is 0 at the noises that are looked at first has a least noise all the same.
    #[test]
    fn a_loss_that_ends_at_some_noise_is_found() -> Result<(), Error> {
        let asked = Mutex::new(Vec::new());
        let measure = Measure::Approx(Delta::new(1e-5)?);
        for class in [Some((1, 0)), None] {
            for least in [1e-3, 1e-13, 1e-100, 1e-149] {
                let cost = least * least;
                let costs = Costs { observer: Observer::node(0), cost, free: 1.0, class, asked: &asked };
                let accounts: [Box<dyn Account + '_>; 1] = [Box::new(costs)];
                for target in [Target::worst(measure, 1e-9), Target::mean(measure, 1e-9)] {
                    let found = least_noise(&accounts, &target)?.noise.get();
                    assert!((found / least - 1.0).abs() < 1e-6, "{found} {least}");
                }
            }
        }
        Ok(())
    }

    /// A loss with a quick bound above it.
    struct Quick {
        exact: f64,
        quick: f64,
    }

    impl Curve for Quick {
        fn epsilon(&self, delta: Delta) -> Result<Guarantee<ApproxDp>, ndp_dp::Error> {
            Ok(UpperBound::new(ApproxDp::new(self.exact, delta.get())?).into())
        }

        fn quick_epsilon(&self, _: Delta, _: f64) -> Option<f64> {
            Some(self.quick)
        }

        fn keeps(&self, limit: ApproxDp) -> bool {
            self.exact <= limit.epsilon()
        }
    }

    /// A limit of 1 is kept by a quick bound, by a loss well within it, or by the loss itself; a quick bound
    /// above the limit shows nothing.
    #[test]
    fn what_keeps_a_limit_is_told_by_the_quickest() -> Result<(), Error> {
        let measure = Measure::Approx(Delta::new(1e-5)?);
        let of = |exact: f64, quick: f64, decided: bool| {
            let profile = Profile::of_curve(Quick { exact, quick }, "an observer");
            let found = super::share(&profile, measure, (1.0, 1.0), decided)?;
            Ok::<_, Error>((found.share, found.verdict, found.is_of_loss))
        };
        assert_eq!(of(0.5, 0.7, true)?, (0.7, Verdict::Met, false));
        assert_eq!(of(0.5, 1.5, false)?, (1.5, Verdict::NotShown, false));
        assert_eq!(of(0.5, 1.5, true)?, (0.98, Verdict::Met, false));
        assert_eq!(of(0.99, 1.5, true)?, (0.99, Verdict::Met, true));
        assert_eq!(of(1.25, 1.5, true)?, (1.25, Verdict::NotShown, true));
        assert_eq!(of(0.0, 0.0, true)?, (0.0, Verdict::Met, false));
        Ok(())
    }

    /// Node 0 loses `cost/σ²` to node 1, and node 1 the other cost to node 0. Quick bounds say `quick/σ²` of
    /// both.
    struct Bounded {
        observer: Observer,
        costs: [f64; 2],
        quick: f64,
    }

    impl Account for Bounded {
        fn observer(&self) -> &Observer {
            &self.observer
        }

        fn node_count(&self) -> usize {
            2
        }

        fn terms(&self) -> Terms {
            Terms::VALUES
        }

        fn profile(&self, u: usize, noise: NoiseMultiplier) -> Result<Profile, Error> {
            let square = noise.get().powi(2);
            let (exact, quick) = (self.costs[u] / square, self.quick / square);
            Ok(Profile::of_curve(Quick { exact, quick }, "the other node"))
        }
    }

    /// The pair that is named is the one with the largest loss, with this loss, also where quick bounds keep
    /// the limit and say the same of all pairs (the first of them was named), or where a quick bound is below
    /// the loss that the account itself says (the limit was then missed).
    #[test]
    fn the_tightest_pair_has_the_largest_loss() -> Result<(), Error> {
        let target = Target::worst(Measure::Approx(Delta::new(1e-5)?), 1.0);
        for (costs, quick) in [([4.0, 3.9], 4.0), ([3.9, 4.0], 4.0), ([4.0, 3.9], 3.999), ([3.9, 4.0], 5.0)] {
            let one = |v| Bounded { observer: Observer::node(v), costs, quick };
            let accounts: [Box<dyn Account>; 2] = [Box::new(one(0)), Box::new(one(1))];
            let least = least_noise(&accounts, &target)?;
            let pair = least.tightest.ok_or(Error::Cancelled)?;
            let most = usize::from(costs[1] > costs[0]);
            assert_eq!((pair.source, pair.observer), (most, Observer::node(1 - most)), "{costs:?} {quick}");
            let loss = pair.loss.into_value();
            assert!((1.0 - 1e-8..=1.0).contains(&loss), "{costs:?} {quick}: {loss}");
            assert!((least.noise.get() - 2.0).abs() < 1e-8, "{costs:?} {quick}: {}", least.noise.get());
            assert_eq!(loss, costs[most] / least.noise.get().powi(2));
        }
        Ok(())
    }
}
