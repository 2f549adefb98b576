//! A token that walks on a graph: every account is compared with all paths of small walks.

use super::losses::Case;
use crate::draw::numbers::{literal, pick};
use crate::oracle::walks::{self, Path, Rules};
use crate::part::{Outcome, Part, Stratum};
use ndarray::Array2;
use ndp_account::{Observer, Protocol};
use ndp_algos::walk::FinalToken;
use ndp_algos::walk::graph::{EdgeRule, LocalLoss, TokenWalk, WalkOptions, pendant};
use ndp_dp::{NoiseMultiplier, Order};
use ndp_graph::TransitionMatrix;
use ndp_graph::hitting::{Start, Walk};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

pub(crate) struct GraphWalks;

/// Error allowed for the truth, which is a sum of floating-point numbers of one sign.
const ERROR: f64 = 1e-11;

impl Part for GraphWalks {
    fn name(&self) -> &'static str {
        "graph-walks"
    }

    fn what(&self) -> &'static str {
        "token walks on graphs, every option; all paths"
    }

    fn case(&self, number: u64, rng: &mut ChaCha8Rng) -> Outcome {
        // One case in sixteen is a chain with hardly more steps than nodes, and so with few possible paths.
        let chain = number % 16 == 15;
        let n = if chain { rng.random_range(4..=7) } else { rng.random_range(2..=4) };
        let dense = if chain { thin(n, rng) } else { matrix(n, rng) };
        let steps = match n {
            _ if chain => n + rng.random_range(0..3),
            2 | 3 => rng.random_range(1..=8),
            _ => rng.random_range(1..=6),
        };
        let Ok(w) = TransitionMatrix::from_dense(dense.view()) else {
            return Outcome::new(Stratum::new(n, steps));
        };
        let none = usize::MAX;
        let limit = |rng: &mut ChaCha8Rng| if rng.random::<bool>() { rng.random_range(1..=3) } else { none };
        let rules = Rules { cap: limit(rng), rest: pick(rng, &[1, 1, 2, 3]), uses: limit(rng) };
        let u = if chain { 0 } else { rng.random_range(0..n) };
        let mut members: Vec<usize> = (0..n).filter(|&v| v != u).collect();
        while members.len() > 1 && (chain || rng.random::<bool>()) {
            members.remove(if chain { 0 } else { rng.random_range(0..members.len()) });
        }
        let start = start(n, chain, rng);
        let burn_in = pick(rng, &[0, 0, 1, 3]);
        let (alpha, sigma) = (pick(rng, &[1.000_1, 1.5, 2.0, 8.0]), pick(rng, &[0.4, 1.0, 4.0, 100.0]));
        let (Ok(order), Ok(noise)) = (Order::new(alpha), NoiseMultiplier::new(sigma)) else {
            return Outcome::new(Stratum::new(n, steps));
        };
        let drawn =
            Drawn { dense, start, burn_in, steps, rules, u, members, local: LocalLoss { order, noise } };
        let mut outcome = Outcome::new(Stratum::new(n, steps));
        drawn.compare(&w, &mut outcome, rng);
        outcome
    }

    fn short(&self) -> u64 {
        3000
    }
}

/// A walk with all its options.
struct Drawn {
    dense: Array2<f64>,
    start: Vec<f64>,
    burn_in: usize,
    steps: usize,
    rules: Rules,
    u: usize,
    members: Vec<usize>,
    local: LocalLoss,
}

impl Drawn {
    fn walk(&self, w: &TransitionMatrix) -> Result<TokenWalk, ndp_account::Error> {
        TokenWalk::new(w, Start::Law(self.start.clone()), self.steps)?.with_options(self.options())
    }

    fn options(&self) -> WalkOptions {
        let Rules { cap, rest, uses } = self.rules;
        let edges = if uses < usize::MAX { EdgeRule::NoiseOnly(uses) } else { EdgeRule::Unlimited };
        WalkOptions {
            burn_in: self.burn_in,
            cap: Some(cap).filter(|&cap| cap < usize::MAX),
            refractory: rest,
            edges,
            ..WalkOptions::default()
        }
    }

    /// The walk as source code.
    fn code(&self) -> String {
        let n = self.dense.nrows();
        let list = |values: &mut dyn Iterator<Item = f64>| values.map(literal).collect::<Vec<_>>().join(", ");
        let entries = list(&mut self.dense.iter().copied());
        let start = list(&mut self.start.iter().copied());
        let WalkOptions { burn_in, cap, refractory, edges, .. } = self.options();
        format!(
            "use ndp_algos::walk::FinalToken;\nuse ndp_algos::walk::graph::{{EdgeRule, LocalLoss, TokenWalk, WalkOptions, pendant}};\n\
             use ndp_dp::{{NoiseMultiplier, Order}};\nuse ndp_graph::TransitionMatrix;\n\
             use ndp_graph::hitting::{{Start, Walk}};\n\
             let rows = ndarray::Array2::from_shape_vec(({n}, {n}), vec![{entries}])?;\n\
             let w = TransitionMatrix::from_dense(rows.view())?;\n\
             let start = Start::Law(vec![{start}]);\n\
             let edges = EdgeRule::{edges:?};\n\
             let options = WalkOptions {{ burn_in: {burn_in}, cap: {cap:?}, refractory: {refractory}, edges, ..WalkOptions::default() }};\n\
             let walk = TokenWalk::new(&w, start.clone(), {})?.with_options(options)?;\n\
             let local = LocalLoss {{ order: Order::new({:?})?, noise: NoiseMultiplier::new({:?})? }};",
            self.steps,
            self.local.order.get(),
            self.local.noise.get(),
        )
    }

    fn compare(&self, w: &TransitionMatrix, outcome: &mut Outcome, rng: &mut ChaCha8Rng) {
        let (n, u, members) = (self.dense.nrows(), self.u, &self.members);
        let code = self.code();
        let case = Case { size: [n as u64, self.steps as u64, members.len() as u64], code: &code };
        let walk = match self.walk(w) {
            Ok(walk) => walk,
            Err(e) => {
                outcome.check(false, || case.violation("refused", e.to_string(), ""));
                return;
            }
        };
        let mut law = self.start.clone();
        for _ in 0..self.burn_in {
            law = (0..n).map(|x| (0..n).map(|v| law[v] * self.dense[(v, x)]).sum()).collect();
        }
        let paths = walks::paths(&self.dense, &law, self.steps, self.rules);
        // Constant gradients, steps that overwrite the token, and cases in between.
        let slopes = [vec![1.0; n], vec![0.0; n], (0..n).map(|_| rng.random::<f64>()).collect()];
        let v = members[0];
        let says =
            |outcome: &mut Outcome, found: Result<f64, ndp_account::Error>, call: String, truth: f64| {
                match found {
                    Ok(found) => outcome.check(truth <= found * (1.0 + ERROR) + f64::MIN_POSITIVE, || {
                        let what = format!("{call} = {found:e}, true {truth:e}");
                        let assertion = format!("assert!(*{call}?.value() >= {:?});", truth * (1.0 - ERROR));
                        case.violation("upper bound below the truth", what, &assertion)
                    }),
                    Err(e) => outcome.check(false, || {
                        case.violation("refused", format!("{call}: {e}"), &format!("{call}?;"))
                    }),
                }
            };
        for slopes in &slopes {
            let mean = |observers: &[usize], published: bool| self.mean(&paths, observers, slopes, published);
            let found = walk.loss(u, &[v], self.local).map(|loss| loss.into_value());
            says(outcome, found, format!("walk.loss({u}, &[{v}], local)"), mean(&[v], false));
            for final_token in [FinalToken::Withheld, FinalToken::Published] {
                let truth = mean(members, final_token == FinalToken::Published);
                let mut ask = |horizon: Option<usize>| {
                    let other = WalkOptions { final_token, horizon, ..self.options() };
                    let found = walk.clone().with_options(other).and_then(|w| w.loss(u, members, self.local));
                    let call = format!(
                        "walk.clone().with_options(WalkOptions {{ final_token: FinalToken::{final_token:?}, \
                         horizon: {horizon:?}, ..options }})?.loss({u}, &{members:?}, local)"
                    );
                    says(outcome, found.map(|loss| loss.into_value()), call, truth);
                };
                ask(None);
                if self.rules.cap < usize::MAX && self.rules.uses == usize::MAX {
                    [1, 3, 30].into_iter().for_each(|horizon| ask(Some(horizon)));
                }
            }
        }
        self.laws(&walk, &paths, outcome, &case, rng);
        self.only_neighbor(w, outcome, &case);
    }

    /// Compares the law of the cost from both sides, and the account's `δ` and `ε`, with all paths;
    /// contributions do not depend on the token.
    fn laws(
        &self,
        walk: &TokenWalk,
        paths: &[Path],
        outcome: &mut Outcome,
        case: &Case<'_>,
        rng: &mut ChaCha8Rng,
    ) {
        let (u, members, noise) = (self.u, &self.members, self.local.noise);
        let final_token = pick(rng, &[FinalToken::Withheld, FinalToken::Published]);
        let epsilon = pick(rng, &[0.0, 0.05, 0.3, 1.0, 3.0]);
        let published = final_token == FinalToken::Published;
        let truth = |epsilon: f64| walks::mean_delta(paths, (epsilon, noise.get()), u, members, published);
        // The rounding error of differences of tails.
        let rounding = |epsilon: f64| 1e-14 * (1.0 + epsilon.exp());
        let options = WalkOptions { final_token, ..self.options() };
        let found = walk.clone().with_options(options).and_then(|walk| {
            let law = walk.cost_law(u, members)?;
            let delta = law.delta(noise, epsilon)?;
            let (low, high) = (delta.lower(), delta.upper());
            let small = ndp_dp::Delta::new(pick(rng, &[1e-2, 1e-4, 1e-6, 1e-9]))?;
            let by_law = law.epsilon(noise, small)?;
            let profile = walk.account(&Observer::coalition(members))?.profile(u, noise)?;
            let said = [profile.delta(epsilon)?.value().delta(), profile.epsilon(small)?.value().epsilon()];
            Ok((low, high, [by_law.lower(), by_law.upper()], small.get(), said))
        });
        let (low, high, [least, most], small, [said_delta, said_epsilon]) = match found {
            Ok(found) => found,
            // The law is not offered if a node contributes too often.
            Err(ndp_account::Error::NotOffered(_)) => return,
            Err(e) => {
                let call = format!("walk.cost_law({u}, &{members:?})");
                outcome
                    .check(false, || case.violation("refused", format!("{call}: {e}"), &format!("{call}?;")));
                return;
            }
        };
        let mut says = |holds: bool, what: String| {
            outcome.check(holds, || {
                let what =
                    format!("{what}, {final_token:?}, towards {members:?} about {u}, noise {}", noise.get());
                let assertion = format!("let law = walk.cost_law({u}, &{members:?})?;");
                case.violation("law of the cost on the wrong side", what, &assertion)
            });
        };
        let (true_delta, error) = (truth(epsilon), rounding(epsilon));
        says(true_delta <= high + error, format!("delta({epsilon}) <= {high:e}, true {true_delta:e}"));
        says(low <= true_delta + error, format!("delta({epsilon}) >= {low:e}, true {true_delta:e}"));
        says(
            true_delta <= said_delta + error,
            format!("account delta({epsilon}) = {said_delta:e}, true {true_delta:e}"),
        );
        for (name, at) in [("law", most), ("account", said_epsilon)] {
            let there = if at < 30.0 { truth(at) } else { 0.0 };
            let holds = there <= small + if at < 30.0 { rounding(at) } else { 0.0 };
            says(holds, format!("{name} epsilon({small:e}) = {at}, true delta there {there:e}"));
        }
        if 0.0 < least && least < 30.0 {
            let there = truth(least);
            let holds = there * (1.0 + 1e-9) + rounding(least) >= small;
            says(holds, format!("epsilon({small:e}) >= {least}, true delta there {there:e}"));
        }
    }

    /// For constant gradients of a walk without limits, the loss towards the only neighbor of a node must be
    /// exact.
    fn only_neighbor(&self, w: &TransitionMatrix, outcome: &mut Outcome, case: &Case<'_>) {
        let (n, u) = (self.dense.nrows(), self.u);
        let start = Start::Law(self.start.clone());
        let Ok(loss) = pendant::loss(&Walk::from(w), u, &start, self.steps, self.local) else { return };
        let found = loss.into_value();
        let neighbor = (0..n).find(|&x| x != u && self.dense[(u, x)] + self.dense[(x, u)] > 0.0);
        let Some(v) = neighbor else { return };
        let free = Rules { cap: usize::MAX, rest: 1, uses: usize::MAX };
        let paths = walks::paths(&self.dense, &self.start, self.steps, free);
        let truth = self.mean(&paths, &[v], &vec![1.0; n], false);
        let close = (found - truth).abs() <= 1e-9 * truth + f64::MIN_POSITIVE;
        outcome.check(close, || {
            let call = format!("pendant::loss(&Walk::from(&w), {u}, &start, {}, local)", self.steps);
            let assertion = format!(
                "assert!((*{call}?.value() - {truth:?}).abs() <= 1e-9 * {truth:?} + f64::MIN_POSITIVE);"
            );
            case.violation("exact is not", format!("{call} = {found:e}, true {truth:e}"), &assertion)
        });
    }

    fn mean(&self, paths: &[Path], observers: &[usize], slopes: &[f64], published: bool) -> f64 {
        let excess = self.local.order.get() - 1.0;
        walks::log_mean(paths, excess * self.local.cost(), self.u, observers, slopes, published) / excess
    }
}

/// Where the walk starts: at a node, at a uniform node, or by an arbitrary law.
fn start(n: usize, chain: bool, rng: &mut ChaCha8Rng) -> Vec<f64> {
    let mut law = match rng.random_range(0..3) {
        _ if chain => (0..n).map(|v| f64::from(u8::from(v == 0))).collect(),
        0 => vec![1.0; n],
        1 => {
            let node = rng.random_range(0..n);
            (0..n).map(|v| f64::from(u8::from(v == node))).collect()
        }
        _ => (0..n).map(|_| rng.random::<f64>()).collect::<Vec<f64>>(),
    };
    let sum: f64 = law.iter().sum();
    law.iter_mut().for_each(|p| *p /= sum);
    law
}

/// A chain whose nodes keep the token, pass it on, or send it back.
fn thin(n: usize, rng: &mut ChaCha8Rng) -> Array2<f64> {
    let one_way = rng.random::<bool>();
    let mut w = Array2::zeros((n, n));
    for v in 0..n {
        w[(v, v)] = pick(rng, &[0.0, 0.5]);
        if v + 1 < n {
            w[(v, v + 1)] = pick(rng, &[0.1, 0.5, 1.0]);
        } else {
            w[(v, if one_way { 0 } else { v - 1 })] = 1.0;
        }
        if v > 0 && !one_way {
            w[(v, v - 1)] = 0.5;
        }
    }
    normalised(w)
}

/// A doubly stochastic, symmetric, one-way or arbitrary matrix; half of the time lazy.
fn matrix(n: usize, rng: &mut ChaCha8Rng) -> Array2<f64> {
    let mut w = Array2::zeros((n, n));
    match rng.random_range(0..4) {
        // Mixtures of permutations.
        0 | 1 => {
            let symmetric = rng.random::<bool>();
            for _ in 0..3 {
                let mut order: Vec<usize> = (0..n).collect();
                (1..n).for_each(|i| order.swap(i, rng.random_range(0..=i)));
                let p = 1.0 + rng.random::<f64>();
                for (v, &x) in order.iter().enumerate() {
                    w[(v, x)] += p;
                    if symmetric {
                        w[(x, v)] += p;
                    }
                }
            }
        }
        2 => {
            (0..n).for_each(|v| w[(v, (v + 1) % n)] = 1.0);
            if rng.random::<bool>() {
                w[(rng.random_range(0..n), rng.random_range(0..n))] += rng.random::<f64>();
            }
        }
        _ => w.iter_mut().for_each(|x| *x = if rng.random::<f64>() < 0.6 { rng.random() } else { 0.0 }),
    }
    let laziness = if rng.random::<bool>() { rng.random::<f64>() } else { 0.0 };
    for v in 0..n {
        w[(v, v)] += laziness * w.row(v).sum();
        if w.row(v).sum() == 0.0 {
            w[(v, (v + 1) % n)] = 1.0;
        }
    }
    normalised(w)
}

fn normalised(mut w: Array2<f64>) -> Array2<f64> {
    for mut row in w.rows_mut() {
        let sum = row.sum();
        row.mapv_inplace(|x| x / sum);
    }
    w
}
