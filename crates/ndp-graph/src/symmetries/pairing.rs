//! A joint colouring of two copies of a graph, refined until it pairs the nodes of one copy with those of the
//! other.

use crate::Graph;
use ndp_numeric::casts::id;

/// The number of operations that are left.
pub(super) struct Work(u64);

impl Work {
    pub(super) fn new(most: u64) -> Self {
        Self(most)
    }

    pub(super) fn is_done(&self) -> bool {
        self.0 == 0
    }

    /// Whether this many operations are left; if not, sets the rest to 0.
    fn takes(&mut self, operations: usize) -> bool {
        self.0 = self.0.saturating_sub(operations as u64);
        !self.is_done()
    }
}

/// A partition of the nodes of two copies into cells; node `v` of the second copy is called `n + v`. Two
/// nodes share a cell as long as nothing distinguishes them. Each cell has equally many nodes of both copies.
#[derive(Clone)]
pub(super) struct Pairing {
    nodes: usize,
    /// The nodes, ordered so that those of a cell are consecutive.
    order: Vec<u32>,
    /// The position of each node in `order`.
    place: Vec<u32>,
    /// The position at which the cell of each node starts.
    cell: Vec<u32>,
    /// The number of nodes in the cell that starts at this position.
    size: Vec<u32>,
    /// The cells that may still split others.
    waiting: Vec<u32>,
    waits: Vec<bool>,
    /// For every node, its number of neighbors in the current cell.
    count: Vec<u32>,
    /// All cells before this position have one node of each copy.
    paired: usize,
}

impl Pairing {
    /// The partition that refinement alone gives; `None` if that takes too many operations.
    pub(super) fn of_alike(graph: &Graph, work: &mut Work) -> Option<Self> {
        let n = graph.node_count();
        if n > u32::MAX as usize / 2 {
            return None;
        }
        let all: Vec<u32> = (0..id(n)).chain(id(n)..2 * id(n)).collect();
        let mut size = vec![0; 2 * n];
        size[0] = 2 * id(n);
        let mut waits = vec![false; 2 * n];
        waits[0] = true;
        let mut pairing = Self {
            nodes: n,
            place: all.clone(),
            order: all,
            cell: vec![0; 2 * n],
            size,
            waiting: vec![0],
            waits,
            count: vec![0; 2 * n],
            paired: 0,
        };
        pairing.refine(graph, work).then_some(pairing)
    }

    /// The nodes of the first copy in each cell that has several of them, ascending.
    pub(super) fn classes(&self) -> Vec<Vec<u32>> {
        let mut classes = Vec::new();
        let mut at = 0;
        while at < self.order.len() {
            let end = at + self.size[at] as usize;
            let mut class: Vec<u32> =
                self.order[at..end].iter().copied().filter(|&v| (v as usize) < self.nodes).collect();
            class.sort_unstable();
            if class.len() > 1 {
                classes.push(class);
            }
            at = end;
        }
        classes
    }

    /// The partition that refinement gives once node `v` is fixed; `None` if that takes too many operations.
    pub(super) fn fixing(&self, graph: &Graph, v: u32, work: &mut Work) -> Option<Self> {
        let mut fixed = self.clone();
        let fits = work.takes(self.order.len())
            && fixed.set_apart(v, id(self.nodes) + v)
            && fixed.refine(graph, work);
        fits.then_some(fixed)
    }

    /// A bijection that maps `u` to `v` and agrees with the colours; `None` if an arbitrary choice on the way
    /// was wrong, or if there is none. The caller must check the edges.
    pub(super) fn sending(mut self, graph: &Graph, u: u32, v: u32, work: &mut Work) -> Option<Vec<u32>> {
        // Copying this partition costs operations, too.
        if !work.takes(self.order.len()) {
            return None;
        }
        let n = id(self.nodes);
        if !(self.set_apart(u, n + v) && self.refine(graph, work)) {
            return None;
        }
        while self.paired < self.order.len() {
            let size = self.size[self.paired] as usize;
            if size == 2 {
                self.paired += 2;
                continue;
            }
            let cell = &self.order[self.paired..self.paired + size];
            let u = cell.iter().copied().filter(|&w| w < n).min()?;
            // Prefer to map a node to itself, so that the permutation moves few nodes.
            let others = cell.iter().copied().filter(|&w| w >= n);
            let v = others.min_by_key(|&w| (w != n + u, w))?;
            if !(work.takes(size) && self.set_apart(u, v) && self.refine(graph, work)) {
                return None;
            }
        }
        let mut sent = vec![0; self.nodes];
        for pair in self.order.chunks(2) {
            let (u, v) = (pair[0].min(pair[1]), pair[0].max(pair[1]));
            if u >= n || v < n {
                return None;
            }
            sent[u as usize] = v - n;
        }
        Some(sent)
    }

    /// Puts a node of each copy into a cell of their own; false if the two are not in one cell.
    fn set_apart(&mut self, u: u32, v: u32) -> bool {
        let start = self.cell[u as usize];
        if start != self.cell[v as usize] {
            return false;
        }
        let size = self.size[start as usize];
        if size == 2 {
            return true;
        }
        self.exchange(u, start + size - 2);
        self.exchange(v, start + size - 1);
        let (new, left) = (start + size - 2, size - 2);
        self.size[start as usize] = left;
        self.size[new as usize] = 2;
        self.cell[u as usize] = new;
        self.cell[v as usize] = new;
        self.wait(new);
        true
    }

    fn exchange(&mut self, v: u32, to: u32) {
        let (from, other) = (self.place[v as usize], self.order[to as usize]);
        self.order.swap(from as usize, to as usize);
        self.place[v as usize] = to;
        self.place[other as usize] = from;
    }

    fn wait(&mut self, cell: u32) {
        if !std::mem::replace(&mut self.waits[cell as usize], true) {
            self.waiting.push(cell);
        }
    }

    /// Splits cells by the numbers of neighbors that their nodes have in each other cell, until all nodes of
    /// a cell have equal numbers. False if the copies disagree, or no operations are left.
    fn refine(&mut self, graph: &Graph, work: &mut Work) -> bool {
        let n = self.nodes;
        let around = |v: u32| {
            let (of, first) = if (v as usize) < n { (v as usize, 0) } else { (v as usize - n, id(n)) };
            graph.neighbors(of).iter().map(move |&w| w + first)
        };
        let (mut touched, mut open) = (Vec::new(), Vec::new());
        while let Some(splitter) = self.waiting.pop() {
            self.waits[splitter as usize] = false;
            let end = splitter + self.size[splitter as usize];
            touched.clear();
            for at in splitter..end {
                for w in around(self.order[at as usize]) {
                    if self.count[w as usize] == 0 {
                        touched.push(w);
                    }
                    self.count[w as usize] += 1;
                }
            }
            let mut fits = work.takes(16 + 8 * touched.len() + (end - splitter) as usize);
            // A node whose cell is itself and one of the other copy only needs the same count as that one.
            open.clear();
            for &w in &touched {
                let cell = self.cell[w as usize] as usize;
                if self.size[cell] > 2 {
                    open.push(w);
                } else {
                    let [u, v] = [cell, cell + 1].map(|at| self.count[self.order[at] as usize]);
                    fits = fits && u == v;
                }
            }
            open.sort_unstable_by_key(|&w| (self.cell[w as usize], self.count[w as usize]));
            let mut left = &open[..];
            while let Some(&first) = left.first() {
                let cell = self.cell[first as usize];
                let same = left.iter().take_while(|&&w| self.cell[w as usize] == cell).count();
                let (of_cell, others) = left.split_at(same);
                fits = fits && self.split(cell, of_cell);
                left = others;
            }
            touched.iter().for_each(|&w| self.count[w as usize] = 0);
            if !fits {
                return false;
            }
        }
        true
    }

    /// Splits a cell by the counts of the nodes in `touched`, which are in ascending order of counts; its
    /// other nodes have a count of 0. False if a part has more nodes of one copy than of the other.
    fn split(&mut self, cell: u32, touched: &[u32]) -> bool {
        let counts = |v: &u32| self.count[*v as usize];
        let size = self.size[cell as usize] as usize;
        let parts: Vec<usize> = touched.chunk_by(|a, b| counts(a) == counts(b)).map(<[u32]>::len).collect();
        let balanced = |part: &[u32]| {
            let of_first = part.iter().filter(|&&v| (v as usize) < self.nodes).count();
            2 * of_first == part.len()
        };
        let mut first = 0;
        for &length in &parts {
            if !balanced(&touched[first..first + length]) {
                return false;
            }
            first += length;
        }
        if parts.len() == 1 && touched.len() == size {
            return true;
        }
        // One part need not be used for splitting others: the other parts and the whole cell determine it.
        let alone = size - touched.len();
        let largest = parts.iter().copied().fold(alone, usize::max);
        let mut spared = !self.waits[cell as usize];
        let mut starts = Vec::with_capacity(parts.len() + 1);
        // First the nodes with a count of 0, if there are any, then the others in order of their counts.
        let mut end = cell as usize + size;
        let mut last = touched.len();
        for &length in parts.iter().rev() {
            let start = end - length;
            for (&v, to) in touched[last - length..last].iter().zip(start..end) {
                self.exchange(v, id(to));
            }
            for &v in &touched[last - length..last] {
                self.cell[v as usize] = id(start);
            }
            self.size[start] = id(length);
            starts.push((id(start), length));
            (end, last) = (start, last - length);
        }
        if 0 < alone {
            self.size[cell as usize] = id(alone);
            starts.push((cell, alone));
        }
        for (start, length) in starts {
            if length == largest && std::mem::take(&mut spared) {
                continue;
            }
            self.wait(start);
        }
        true
    }
}
