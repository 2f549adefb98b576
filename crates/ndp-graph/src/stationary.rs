//! Where a walk spends its time: irreducibility, period, stationary law.

use crate::error::ensure;
use crate::{Csr, Error, TransitionMatrix};
use ndp_linalg::memory::require_dense;

impl TransitionMatrix {
    /// Number of strongly connected classes of the positive entries: 1 if the walk is irreducible.
    ///
    /// # Complexity
    /// `O(n + nnz)`.
    pub(crate) fn class_count(&self) -> usize {
        // Kosaraju's algorithm: a forward search records when each node is left, then backward searches start
        // from the last to be left.
        let n = self.node_count();
        let mut order = Vec::with_capacity(n);
        let mut next: Vec<Option<usize>> = vec![None; n];
        let mut stack = Vec::new();
        for root in 0..n {
            if next[root].is_some() {
                continue;
            }
            next[root] = Some(0);
            stack.push(root);
            while let Some(&u) = stack.last() {
                let (columns, weights) = self.csr().row(u);
                let k = next[u].unwrap_or(0);
                if k == columns.len() {
                    order.push(u);
                    stack.pop();
                    continue;
                }
                next[u] = Some(k + 1);
                let v = columns[k] as usize;
                if weights[k] > 0.0 && next[v].is_none() {
                    next[v] = Some(0);
                    stack.push(v);
                }
            }
        }
        let backward = self.csr().transpose();
        let mut reached = vec![false; n];
        let mut classes = 0;
        for &root in order.iter().rev() {
            if !reached[root] {
                classes += 1;
                search(&backward, root, &mut reached);
            }
        }
        classes
    }

    /// The period of an irreducible walk: the greatest common divisor of the lengths of all closed
    /// walks. It is 1 for an aperiodic walk.
    ///
    /// # Errors
    /// [`Error::Reducible`].
    pub(crate) fn period(&self) -> Result<usize, Error> {
        self.require_irreducible()?;
        // With `level(u)` the level of `u` in a search from node 0, the period divides level(u) + 1 -
        // level(v) for every arrow u → v, and is the greatest common divisor of these numbers.
        let n = self.node_count();
        let mut level = vec![usize::MAX; n];
        level[0] = 0;
        let mut queue = std::collections::VecDeque::from([0]);
        let mut period = 0;
        while let Some(u) = queue.pop_front() {
            let (columns, weights) = self.csr().row(u);
            for (&v, _) in columns.iter().zip(weights).filter(|&(_, &w)| w > 0.0) {
                let v = v as usize;
                if level[v] == usize::MAX {
                    level[v] = level[u] + 1;
                    queue.push_back(v);
                }
                period = gcd(period, (level[u] + 1).abs_diff(level[v]));
            }
        }
        Ok(period)
    }

    /// The stationary law `π = π W` of an irreducible walk: one entry per node, summing to 1.
    ///
    /// By detailed balance when the walk is reversible (within `1e-12`); else uniform when as much flows into
    /// every node as out of it (within `1e-12` of the flow, which may hide the rarest moves of a walk that is
    /// not reversible); else by elimination without subtraction, which is accurate entry by entry.
    ///
    /// # Errors
    /// [`Error::Reducible`] when it is not unique; [`Error::InvalidParameter`] beyond 4096 nodes for
    /// a walk that is neither doubly stochastic nor reversible.
    ///
    /// # Complexity
    /// `O(n + nnz)`, or `O(n³)` by elimination.
    ///
    /// # References
    /// - Grassmann, Taksar, Heyman, *Regenerative analysis and steady state distributions for Markov
    ///   chains*, Operations Research 33, 1985 (elimination without subtraction).
    pub fn stationary_distribution(&self) -> Result<Vec<f64>, Error> {
        self.require_irreducible()?;
        if let Some(law) = reversible_law(self.csr()) {
            return Ok(law);
        }
        // Entries of the diagonal are left out, which hide rare moves.
        let n = self.node_count();
        let (mut into, mut out) = (vec![0.0_f64; n], vec![0.0_f64; n]);
        for (u, out) in out.iter_mut().enumerate() {
            let (columns, weights) = self.csr().row(u);
            for (&v, w) in columns.iter().zip(weights).filter(|&(&v, _)| v as usize != u) {
                into[v as usize] += w;
                *out += w;
            }
        }
        if into.iter().zip(&out).all(|(into, out)| (into - out).abs() <= 1e-12 * out) {
            return Ok(vec![1.0 / n as f64; n]);
        }
        law_by_elimination(self)
    }

    fn require_irreducible(&self) -> Result<(), Error> {
        match self.class_count() {
            1 => Ok(()),
            classes => Err(Error::Reducible { classes }),
        }
    }
}

/// Marks what can be reached from `root` by positive entries.
fn search(matrix: &Csr, root: usize, reached: &mut [bool]) {
    reached[root] = true;
    let mut stack = vec![root];
    while let Some(u) = stack.pop() {
        let (columns, weights) = matrix.row(u);
        for (&v, _) in columns.iter().zip(weights).filter(|&(_, &w)| w > 0.0) {
            if !reached[v as usize] {
                reached[v as usize] = true;
                stack.push(v as usize);
            }
        }
    }
}

/// The law with `π_u W_uv = π_v W_vu` for all pairs, if there is one.
fn reversible_law(matrix: &Csr) -> Option<Vec<f64>> {
    let n = matrix.node_count();
    let mut law = vec![0.0; n];
    law[0] = 1.0;
    let mut stack = vec![0];
    while let Some(u) = stack.pop() {
        let (columns, weights) = matrix.row(u);
        for (&v, &forward) in columns.iter().zip(weights).filter(|&(_, &w)| w > 0.0) {
            let v = v as usize;
            let backward = matrix.get(v, u);
            if backward <= 0.0 {
                return None;
            }
            if law[v] == 0.0 {
                law[v] = law[u] * forward / backward;
                // The number left the range of floats: leave this walk to elimination.
                if !(law[v].is_finite() && law[v] > 0.0) {
                    return None;
                }
                stack.push(v);
            } else {
                let (there, back) = (law[u] * forward, law[v] * backward);
                if (there - back).abs() > 1e-12 * there.max(back) {
                    return None;
                }
            }
        }
    }
    let total: f64 = law.iter().sum();
    let law: Vec<f64> = law.into_iter().map(|x| x / total).collect();
    law.iter().all(|x| x.is_finite() && *x > 0.0).then_some(law)
}

/// State reduction: removes the last node, redirecting its visits, until one is left.
fn law_by_elimination(walk: &TransitionMatrix) -> Result<Vec<f64>, Error> {
    let n = walk.node_count();
    let name = "the number of nodes of a walk neither doubly stochastic nor reversible";
    ensure(n <= 4096, name, "be at most 4096", n as f64)?;
    require_dense("the transition matrix", n, n)?;
    let mut w = walk.to_dense()?;
    for last in (1..n).rev() {
        let leaving: f64 = (0..last).map(|v| w[(last, v)]).sum();
        for u in 0..last {
            let through = w[(u, last)] / leaving;
            w[(u, last)] = through;
            if through > 0.0 {
                for v in 0..last {
                    w[(u, v)] += through * w[(last, v)];
                }
            }
        }
    }
    let mut law = vec![1.0; n];
    for v in 1..n {
        law[v] = (0..v).map(|u| law[u] * w[(u, v)]).sum();
    }
    let total: f64 = law.iter().sum();
    Ok(law.into_iter().map(|x| x / total).collect())
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}
