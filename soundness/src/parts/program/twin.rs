//! A program of the library, the same program in dense rows over all primitives, and the truth from those
//! rows.

use ndp_account::{Error, Observer};
use ndp_program::{Program, Reads, Value, Weight};
use num_rational::BigRational;
use num_traits::{One, Zero};
use std::collections::BTreeSet;

pub(super) type Row = Vec<BigRational>;

/// A column of the rows: a use of a node's data, or a noise.
pub(super) enum Primitive {
    Use(usize),
    Noise,
}

/// A seen value: when it was seen, and by whom.
pub(super) struct Sight {
    pub(super) value: usize,
    pub(super) moment: usize,
    /// Nodes that see it; `None` if all nodes and outsiders see it.
    pub(super) by: Option<Vec<usize>>,
    pub(super) edge: Option<(usize, usize)>,
}

/// A program of the library and the same program in dense rows.
pub(super) struct Twin {
    pub(super) program: Program,
    pub(super) nodes: usize,
    pub(super) values: Vec<Value>,
    pub(super) forms: Vec<Row>,
    pub(super) primitives: Vec<Primitive>,
    /// Entries of the covariance of the noises, by primitives.
    pub(super) covariance: Vec<(usize, usize, BigRational)>,
    pub(super) sights: Vec<Sight>,
    /// Owner, primitive, moment and list of the contributions that read a value.
    pub(super) readers: Vec<(usize, usize, usize, Vec<usize>)>,
    pub(super) moment: usize,
}

impl Twin {
    pub(super) fn new(nodes: usize) -> Result<Self, Error> {
        Ok(Self {
            program: Program::new(nodes)?,
            nodes,
            values: Vec::new(),
            forms: Vec::new(),
            primitives: Vec::new(),
            covariance: Vec::new(),
            sights: Vec::new(),
            readers: Vec::new(),
            moment: 0,
        })
    }

    pub(super) fn push(&mut self, value: Value, form: Row) -> usize {
        self.values.push(value);
        self.forms.push(form);
        self.values.len() - 1
    }

    pub(super) fn unit(&mut self, primitive: Primitive) -> (usize, Row) {
        let at = self.primitives.len();
        self.primitives.push(primitive);
        let mut form = vec![BigRational::zero(); at + 1];
        form[at] = BigRational::one();
        (at, form)
    }

    pub(super) fn see(&mut self, value: usize, by: Option<Vec<usize>>, edge: Option<(usize, usize)>) {
        self.moment += 1;
        self.sights.push(Sight { value, moment: self.moment, by, edge });
    }

    pub(super) fn contribute(&mut self, node: usize, reads: Option<Vec<usize>>) -> Result<(), Error> {
        self.moment += 1;
        let list = reads.as_ref().map(|list| list.iter().map(|&k| self.values[k]).collect::<Vec<Value>>());
        let value =
            self.program.contribute(node, list.map_or(Reads::Nothing, |list| Reads::Seen(Some(list))))?;
        let (at, form) = self.unit(Primitive::Use(node));
        if let Some(list) = reads {
            self.readers.push((node, at, self.moment, list));
        }
        self.push(value, form);
        Ok(())
    }

    pub(super) fn noise(
        &mut self,
        holders: &[usize],
        variance: Weight,
        exact: BigRational,
    ) -> Result<(), Error> {
        let value = self.program.noise(holders, variance)?;
        let (at, form) = self.unit(Primitive::Noise);
        self.covariance.push((at, at, exact));
        let value = self.push(value, form);
        if !holders.is_empty() {
            self.see(value, Some(holders.to_vec()), None);
        }
        Ok(())
    }

    /// Noises of a group with a covariance; each noise is known to its node.
    pub(super) fn group(
        &mut self,
        group: &[usize],
        values: Vec<Value>,
        entry: impl Fn(usize, usize) -> BigRational,
    ) {
        let first = self.primitives.len();
        for (i, (&node, value)) in group.iter().zip(values).enumerate() {
            let (at, form) = self.unit(Primitive::Noise);
            for j in 0..i {
                self.covariance.push((at, first + j, entry(i, j)));
                self.covariance.push((first + j, at, entry(i, j)));
            }
            self.covariance.push((at, at, entry(i, i)));
            let value = self.push(value, form);
            self.see(value, Some(vec![node]), None);
        }
    }

    pub(super) fn combine(&mut self, terms: &[(Weight, BigRational, usize)]) -> Result<usize, Error> {
        let value = self.program.combine(terms.iter().map(|(w, _, k)| (w.clone(), self.values[*k])))?;
        let form = self.sum(terms.iter().map(|(_, x, k)| (x, *k)));
        Ok(self.push(value, form))
    }

    pub(super) fn sum<'a>(&self, terms: impl Iterator<Item = (&'a BigRational, usize)>) -> Row {
        let mut form = vec![BigRational::zero(); self.primitives.len()];
        for (x, k) in terms {
            form.iter_mut().zip(&self.forms[k]).for_each(|(to, y)| *to += x * y);
        }
        form
    }

    pub(super) fn text(&self) -> String {
        let mut text = Vec::new();
        self.program
            .write(&mut text)
            .map_or_else(|e| e.to_string(), |()| String::from_utf8_lossy(&text).into_owned())
    }
}

/// The truth about the uses of a node's data.
pub(super) struct Truth {
    /// Changes that are seen without noise: linear forms over the uses, one per row.
    pub(super) leaks: Vec<Row>,
    /// The Gram matrix `G`, valid for changes that are not seen without noise.
    pub(super) gram: Vec<Row>,
}

impl Truth {
    pub(super) fn leaking(&self, change: &[BigRational]) -> bool {
        let product = |leak: &Row| leak.iter().zip(change).map(|(x, y)| x * y).sum::<BigRational>();
        self.leaks.iter().any(|leak| !product(leak).is_zero())
    }

    pub(super) fn along(&self, change: &[BigRational]) -> BigRational {
        let mut sum = BigRational::zero();
        for (x, row) in change.iter().zip(&self.gram) {
            for (y, g) in change.iter().zip(row) {
                sum += x * y * g;
            }
        }
        sum
    }
}

/// The rows that the observer sees before the moment `until`.
pub(super) fn seen(twin: &Twin, observer: &Observer, until: usize) -> Vec<Row> {
    let width = twin.primitives.len();
    let sees = |sight: &&Sight| {
        let member = sight.by.as_ref().is_none_or(|by| by.iter().any(|u| observer.contains(*u)));
        let tapped = sight.edge.is_some_and(|edge| observer.tapped.contains(&edge));
        sight.moment < until && (member || tapped)
    };
    let padded = |sight: &Sight| {
        let mut row = twin.forms[sight.value].clone();
        row.resize(width, BigRational::zero());
        row
    };
    twin.sights.iter().filter(sees).map(padded).collect()
}

pub(super) fn truth(twin: &Twin, observer: &Observer, u: usize) -> Truth {
    truth_before(twin, observer, u, usize::MAX)
}

/// The truth of what is seen before `until`.
pub(super) fn truth_before(twin: &Twin, observer: &Observer, u: usize, until: usize) -> Truth {
    let rows = seen(twin, observer, until);
    let uses: Vec<usize> = (0..twin.primitives.len())
        .filter(|&k| matches!(twin.primitives[k], Primitive::Use(node) if node == u))
        .collect();
    let (r, k) = (rows.len(), uses.len());
    // [S | B], brought to echelon form.
    let mut matrix: Vec<Row> = Vec::with_capacity(r);
    for row in &rows {
        let mut weighted = vec![BigRational::zero(); twin.primitives.len()];
        for (i, j, x) in &twin.covariance {
            weighted[*j] += &row[*i] * x;
        }
        let products =
            rows.iter().map(|other| weighted.iter().zip(other).map(|(x, y)| x * y).sum::<BigRational>());
        let mut line: Row = products.collect();
        line.extend(uses.iter().map(|&at| row[at].clone()));
        matrix.push(line);
    }
    let shifts: Vec<Row> = rows.iter().map(|row| uses.iter().map(|&at| row[at].clone()).collect()).collect();
    let pivots = reduce(&mut matrix, r);
    let leaks = matrix[pivots.len()..]
        .iter()
        .map(|row| row[r..].to_vec())
        .filter(|leak| leak.iter().any(|x| !x.is_zero()));
    let leaks = leaks.collect();
    let mut gram = vec![vec![BigRational::zero(); k]; k];
    for (row, &column) in matrix.iter().zip(&pivots) {
        for (i, line) in gram.iter_mut().enumerate() {
            for (j, to) in line.iter_mut().enumerate() {
                *to += &shifts[column][i] * &row[r + j];
            }
        }
    }
    Truth { leaks, gram }
}

/// Brings the first `columns` columns to reduced echelon form; returns the pivots.
pub(super) fn reduce(matrix: &mut [Row], columns: usize) -> Vec<usize> {
    let mut pivots = Vec::new();
    for column in 0..columns {
        let next = pivots.len();
        let Some(found) = (next..matrix.len()).find(|&i| !matrix[i][column].is_zero()) else { continue };
        matrix.swap(next, found);
        let inverse = matrix[next][column].recip();
        matrix[next].iter_mut().for_each(|x| *x *= &inverse);
        let pivot = matrix[next].clone();
        for (i, row) in matrix.iter_mut().enumerate() {
            if i != next && !row[column].is_zero() {
                let factor = row[column].clone();
                row.iter_mut().zip(&pivot).for_each(|(x, y)| *x -= &factor * y);
            }
        }
        pivots.push(column);
    }
    pivots
}

/// Whether some contribution reads a value that the observer had not seen: one of a member, one that the
/// observer sees something of, or an earlier one that such a contribution reads and may carry on.
pub(super) fn unseen(twin: &Twin, observer: &Observer) -> bool {
    let all = seen(twin, observer, usize::MAX);
    let mut carried: BTreeSet<usize> = BTreeSet::new();
    // A contribution carries on only earlier ones, so that all that carry it on come before it here.
    twin.readers.iter().rev().any(|(owner, own, moment, list)| {
        let shown = all.iter().any(|row| !row[*own].is_zero());
        if !observer.contains(*owner) && !shown && !carried.contains(own) {
            return false;
        }
        let unknown = |k: &usize| match twin.primitives[*k] {
            Primitive::Use(node) => !observer.contains(node) && (node != *owner || *k >= *own),
            Primitive::Noise => false,
        };
        let columns: Vec<usize> = (0..twin.primitives.len()).filter(unknown).collect();
        // Replace noises by their covariances, so that a combination of variance 0 counts as zero.
        let cut = |row: &Row| -> Row {
            let entry = |k: usize| row.get(k).cloned().unwrap_or_else(BigRational::zero);
            let mut weighted = vec![BigRational::zero(); twin.primitives.len()];
            for (i, j, x) in &twin.covariance {
                weighted[*j] += entry(*i) * x;
            }
            columns.iter().map(|&k| entry(k)).chain(weighted).collect()
        };
        let width = columns.len() + twin.primitives.len();
        let mut rows: Vec<Row> = seen(twin, observer, *moment).iter().map(cut).collect();
        let before = reduce(&mut rows, width).len();
        for form in list.iter().map(|&k| &twin.forms[k]) {
            rows.push(cut(form));
            let of_owner = |k: &usize| matches!(twin.primitives[*k], Primitive::Use(u) if u == *owner);
            carried.extend((0..form.len()).filter(|&k| !form[k].is_zero()).filter(of_owner));
        }
        reduce(&mut rows, width).len() > before
    })
}
