//! Examples with labels: read, scaled, split, and dealt out to users.

use super::objective::Objective;
use super::table::{Table, TableOptions};
use ndarray::{Array2, ArrayView2, Axis};
use ndp_account::Error;
use ndp_account::parts::ensure;
use rand::seq::SliceRandom;
use rand::{Rng, RngExt};
use std::io::BufRead;

/// Examples (rows) with features (columns) and one label each, all finite.
///
/// # Examples
/// ```
/// use ndp_algos::sgd::Dataset;
/// let table = "age,visits,bought\n20,3,-1\n50,1,1\n";
/// let data = Dataset::from_csv(table.as_bytes(), "bought")?.standardized()?.with_unit_rows();
/// assert_eq!((data.features().dim(), data.labels()), ((2, 2), &[-1.0, 1.0][..]));
/// # Ok::<(), ndp_account::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Dataset {
    features: Array2<f64>,
    labels: Vec<f64>,
}

impl Dataset {
    /// Takes features, one row per example, and their labels.
    ///
    /// # Errors
    /// [`Error::Shape`] unless there is one label per row and at least one row and column;
    /// [`Error::NotANumber`](crate::Error::NotANumber) naming row and column of a cell that is NaN or
    /// infinite (the label counts as the column after the last feature).
    pub fn new(features: Array2<f64>, labels: Vec<f64>) -> Result<Self, Error> {
        let (rows, columns) = features.dim();
        if rows != labels.len() {
            return Err(Error::Shape { what: "labels", expected: rows, got: labels.len() });
        }
        ensure(rows != 0 && columns != 0, "the number of examples and of features", "be at least 1", 0.0)?;
        for ((row, column), value) in features.indexed_iter() {
            if !value.is_finite() {
                return Err(crate::Error::NotANumber { row, column }.into());
            }
        }
        if let Some(row) = labels.iter().position(|y| !y.is_finite()) {
            return Err(crate::Error::NotANumber { row, column: columns }.into());
        }
        Ok(Self { features: features.as_standard_layout().into_owned(), labels })
    }

    /// Reads a table as [`Table::read`] does: the column named `label` becomes the label, all others features
    /// in their order.
    ///
    /// # Errors
    /// Those of [`Table::read`].
    pub fn from_csv(text: impl BufRead, label: &str) -> Result<Self, Error> {
        Ok(Table::read(text, &TableOptions::new(label))?.data)
    }

    /// Number of examples.
    #[must_use]
    pub(crate) fn len(&self) -> usize {
        self.labels.len()
    }

    /// Number of features.
    #[must_use]
    pub(crate) fn feature_count(&self) -> usize {
        self.features.ncols()
    }

    /// The features, one row per example.
    #[must_use]
    pub fn features(&self) -> ArrayView2<'_, f64> {
        self.features.view()
    }

    /// The features of one example.
    ///
    /// # Panics
    /// When the row is out of range.
    #[must_use]
    pub(crate) fn row(&self, row: usize) -> &[f64] {
        let width = self.features.ncols();
        let all = self.features.as_slice().expect("features are stored in standard layout");
        &all[row * width..][..width]
    }

    /// The labels.
    #[must_use]
    pub fn labels(&self) -> &[f64] {
        &self.labels
    }

    /// Checks that every label is `-1` or `+1`, and that both occur.
    ///
    /// # Errors
    /// [`Error::InvalidLabel`](crate::Error::InvalidLabel) naming the row,
    /// [`Error::OneClass`](crate::Error::OneClass).
    pub(crate) fn require_binary(&self) -> Result<(), Error> {
        if let Some(row) = self.labels.iter().position(|&y| y != 1.0 && y != -1.0) {
            return Err(crate::Error::InvalidLabel { row, label: self.labels[row] }.into());
        }
        if self.labels.iter().all(|&y| y == self.labels[0]) {
            return Err(crate::Error::OneClass(self.labels[0]).into());
        }
        Ok(())
    }

    /// Largest norm of a row, and largest size of a label.
    #[must_use]
    pub(crate) fn bounds(&self) -> (f64, f64) {
        let norm = (0..self.len()).map(|i| dot(self.row(i), self.row(i)).sqrt()).fold(0.0, f64::max);
        (norm, self.labels.iter().fold(0.0, |m, y| y.abs().max(m)))
    }

    /// Every feature shifted to mean 0 and scaled to variance 1 (dividing by the number of rows).
    ///
    /// # Errors
    /// [`Error::ConstantColumn`](crate::Error::ConstantColumn) naming a column without spread.
    pub fn standardized(&self) -> Result<Self, Error> {
        let mut features = self.features.clone();
        let rows = self.len() as f64;
        for (column, mut values) in features.axis_iter_mut(Axis(1)).enumerate() {
            let mean = values.sum() / rows;
            values -= mean;
            let spread = (values.iter().map(|x| x * x).sum::<f64>() / rows).sqrt();
            // Rounding leaves a spread of order 1e-16 |mean| in a column of equal numbers.
            if spread <= 1e-14 * mean.abs() {
                return Err(crate::Error::ConstantColumn(column).into());
            }
            values /= spread;
        }
        Ok(Self { features, labels: self.labels.clone() })
    }

    /// Every row scaled to norm 1; rows of zeros stay.
    #[must_use]
    pub fn with_unit_rows(&self) -> Self {
        let mut features = self.features.clone();
        for mut row in features.rows_mut() {
            let norm = row.iter().map(|x| x * x).sum::<f64>().sqrt();
            if norm > 0.0 {
                row /= norm;
            }
        }
        Self { features, labels: self.labels.clone() }
    }

    /// The given rows, in the given order.
    ///
    /// # Errors
    /// [`Error::Shape`] when a row does not exist or none is given.
    pub(crate) fn select(&self, rows: &[usize]) -> Result<Self, Error> {
        if let Some(&got) = rows.iter().find(|&&row| row >= self.len()) {
            return Err(Error::Shape { what: "row", expected: self.len(), got });
        }
        Self::new(self.features.select(Axis(0), rows), rows.iter().map(|&row| self.labels[row]).collect())
    }

    /// A random split into training and test examples with the same share of every label in
    /// both, each part in random order; `test_count` examples are for testing.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless both parts get at least one example.
    pub fn stratified_split(&self, test_count: usize, rng: &mut impl Rng) -> Result<(Self, Self), Error> {
        ensure(
            test_count != 0 && test_count < self.len(),
            "the number of test examples",
            "leave examples on both sides of the split",
            test_count as f64,
        )?;
        let mut order: Vec<usize> = (0..self.len()).collect();
        order.shuffle(rng);
        order.sort_by(|&a, &b| self.labels[a].total_cmp(&self.labels[b]));
        // The classes are walked through one after the other, and every stretch gives its share, to the
        // nearest row.
        let share = |k: usize| (2 * k * test_count + self.len()) / (2 * self.len());
        let is_test = |k: usize| share(k + 1) > share(k);
        let (mut train, mut test) = (Vec::new(), Vec::new());
        for (k, row) in order.into_iter().enumerate() {
            if is_test(k) { test.push(row) } else { train.push(row) }
        }
        train.shuffle(rng);
        test.shuffle(rng);
        Ok((self.select(&train)?, self.select(&test)?))
    }
}

/// How examples are dealt out to users.
///
/// # Examples
/// ```
/// use ndarray::Array2;
/// use ndp_algos::sgd::{Dataset, Deal, Users};
/// use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
/// let data = Dataset::new(Array2::ones((10, 2)), vec![1.0; 10])?;
/// let rng = &mut ChaCha8Rng::seed_from_u64(1);
/// // All examples are alike here, however they are dealt.
/// assert_eq!(Users::deal(&data, 5, Deal::Mixed(0.5), rng)?, Users::deal(&data, 5, Deal::InOrder, rng)?);
/// # Ok::<(), ndp_account::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Deal {
    /// As they come: the first examples to the first user. Nothing is drawn.
    InOrder,
    /// At random: all users alike.
    Random,
    /// By label: sorted by label and cut, so that almost every user has one class only.
    ByLabel,
    /// In between: every example keeps its place in the sorted order with this probability and
    /// is dealt at random otherwise; `0` is [`Deal::Random`], `1` is [`Deal::ByLabel`].
    Mixed(f64),
}

/// A data set dealt out to users, the same number of examples to each.
///
/// # Examples
/// ```
/// use ndarray::Array2;
/// use ndp_algos::sgd::{Dataset, Deal, Users};
/// use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
/// let data = Dataset::new(Array2::ones((10, 2)), vec![1.0; 10])?;
/// let rng = &mut ChaCha8Rng::seed_from_u64(1);
/// // Ten examples for four users: two each, and two are left out. Eleven users are too many.
/// assert!(Users::deal(&data, 4, Deal::Random, rng).is_ok());
/// assert!(Users::deal(&data, 11, Deal::Random, rng).is_err());
/// # Ok::<(), ndp_account::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Users {
    data: Dataset,
    per_user: usize,
}

impl Users {
    /// Deals `data` to `users` users; examples that do not fill a round are left out.
    ///
    /// # Errors
    /// [`Error::TooFewRows`](crate::Error::TooFewRows) when there are fewer examples than users,
    /// [`Error::InvalidParameter`] for no users or a mixing probability outside `[0, 1]`.
    pub fn deal(data: &Dataset, users: usize, deal: Deal, rng: &mut impl Rng) -> Result<Self, Error> {
        ensure(users != 0, "the number of users", "be at least 1", 0.0)?;
        if data.len() < users {
            return Err(crate::Error::TooFewRows { rows: data.len(), users }.into());
        }
        let per_user = data.len() / users;
        let sorted_share = match deal {
            Deal::InOrder => {
                let rows: Vec<usize> = (0..per_user * users).collect();
                return Ok(Self { data: data.select(&rows)?, per_user });
            }
            Deal::Random => 0.0,
            Deal::ByLabel => 1.0,
            Deal::Mixed(share) if (0.0..=1.0).contains(&share) => share,
            Deal::Mixed(share) => {
                return Err(Error::InvalidParameter {
                    name: "the mixing probability",
                    condition: "lie in [0, 1]",
                    value: share,
                });
            }
        };
        let mut order: Vec<usize> = (0..data.len()).collect();
        order.shuffle(rng);
        order.truncate(per_user * users);
        order.sort_by(|&a, &b| data.labels[a].total_cmp(&data.labels[b]));
        let free: Vec<usize> = (0..order.len()).filter(|_| !rng.random_bool(sorted_share)).collect();
        let mut moved: Vec<usize> = free.iter().map(|&place| order[place]).collect();
        moved.shuffle(rng);
        for (place, row) in free.into_iter().zip(moved) {
            order[place] = row;
        }
        Ok(Self { data: data.select(&order)?, per_user })
    }

    /// Number of users.
    #[must_use]
    pub(crate) fn count(&self) -> usize {
        self.data.len() / self.per_user
    }

    /// Number of examples of every user.
    #[must_use]
    pub(crate) fn per_user(&self) -> usize {
        self.per_user
    }

    /// All examples, those of user `u` at rows `u * per_user()..(u + 1) * per_user()`.
    #[must_use]
    pub(crate) fn data(&self) -> &Dataset {
        &self.data
    }

    /// Adds the gradients at `model` of all examples of user `u`, `weight` times each, to `gradient`.
    pub(crate) fn add_gradients(
        &self,
        objective: &impl Objective,
        u: usize,
        model: &[f64],
        weight: f64,
        gradient: &mut [f64],
    ) {
        for row in self.rows(u) {
            objective.add_gradient(model, self.data.row(row), self.data.labels()[row], weight, gradient);
        }
    }

    /// The rows of user `u`.
    #[must_use]
    pub(crate) fn rows(&self, u: usize) -> std::ops::Range<usize> {
        u * self.per_user..(u + 1) * self.per_user
    }
}

/// `a·b` in four independent sums, since in a single sum every addition would have to wait for the one
/// before.
#[inline]
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let (a4, a_rest) = a.as_chunks::<4>();
    let (b4, b_rest) = b.as_chunks::<4>();
    let mut sums = [0.0; 4];
    for (x, y) in a4.iter().zip(b4) {
        for k in 0..4 {
            sums[k] += x[k] * y[k];
        }
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(x, y)| x * y).sum();
    (sums[0] + sums[2]) + (sums[1] + sums[3]) + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    /// Whole numbers, of every length around the four sums.
    #[test]
    fn products_are_sums_of_products() {
        for length in 0..14_i32 {
            let a: Vec<f64> = (0..length).map(|k| f64::from(3 * k - 7)).collect();
            let b: Vec<f64> = (0..length).map(|k| f64::from(k * k - 5)).collect();
            let exact: i32 = (0..length).map(|k| (3 * k - 7) * (k * k - 5)).sum();
            assert_eq!(dot(&a, &b), f64::from(exact), "{length}");
        }
    }

    fn toy() -> Result<Dataset, Error> {
        let rows = 100;
        let features = Array2::from_shape_fn((rows, 2), |(i, j)| (i * (j + 1)) as f64);
        Dataset::new(features, (0..rows).map(|i| if i < 30 { 1.0 } else { -1.0 }).collect())
    }

    #[test]
    fn standardizing_gives_mean_zero_variance_one_and_names_constant_columns() -> Result<(), Error> {
        let scaled = toy()?.standardized()?;
        for column in scaled.features().axis_iter(Axis(1)) {
            assert!(column.sum().abs() < 1e-10);
            assert!((column.iter().map(|x| x * x).sum::<f64>() - 100.0).abs() < 1e-10);
        }
        assert!((scaled.with_unit_rows().bounds().0 - 1.0).abs() < 1e-12);
        let constant = Dataset::new(array![[1.0, 0.1], [2.0, 0.1], [3.0, 0.1]], vec![1.0, 1.0, -1.0])?;
        assert_eq!(constant.standardized(), Err(crate::Error::ConstantColumn(1).into()));
        Ok(())
    }

    #[test]
    fn labels_are_checked() -> Result<(), Error> {
        toy()?.require_binary()?;
        let bad = Dataset::new(array![[1.0], [2.0]], vec![1.0, 0.0])?;
        assert_eq!(bad.require_binary(), Err(crate::Error::InvalidLabel { row: 1, label: 0.0 }.into()));
        let one = Dataset::new(array![[1.0], [2.0]], vec![1.0, 1.0])?;
        assert_eq!(one.require_binary(), Err(crate::Error::OneClass(1.0).into()));
        Ok(())
    }

    #[test]
    fn a_split_is_a_partition_with_equal_shares() -> Result<(), Error> {
        let data = toy()?;
        let (train, test) = data.stratified_split(20, &mut ChaCha8Rng::seed_from_u64(1))?;
        assert_eq!((train.len(), test.len()), (80, 20));
        assert_eq!(test.labels().iter().filter(|&&y| y > 0.0).count(), 6);
        let mut rows: Vec<i64> =
            (0..80).map(|i| train.row(i)[0] as i64).chain((0..20).map(|i| test.row(i)[0] as i64)).collect();
        rows.sort_unstable();
        assert_eq!(rows, (0..100).collect::<Vec<_>>());
        let all = data.stratified_split(100, &mut ChaCha8Rng::seed_from_u64(1));
        assert!(matches!(all, Err(Error::InvalidParameter { name: "the number of test examples", .. })));
        Ok(())
    }

    /// The mean over users of |mean label - overall mean|: 0 for users with the same labels, about .42 for
    /// one class each.
    fn heterogeneity(deal: Deal) -> Result<f64, Error> {
        let users = Users::deal(&toy()?, 10, deal, &mut ChaCha8Rng::seed_from_u64(7))?;
        let mean = |u: usize| users.rows(u).map(|i| users.data().labels()[i]).sum::<f64>() / 10.0;
        Ok((0..10).map(|u| (mean(u) + 0.4).abs()).sum::<f64>() / 10.0)
    }

    #[test]
    fn the_knob_goes_from_alike_to_one_class_each() -> Result<(), Error> {
        let levels = [Deal::Random, Deal::Mixed(0.0), Deal::Mixed(0.5), Deal::Mixed(1.0), Deal::ByLabel];
        let [random, zero, half, one, sorted] = {
            let mut out = [0.0; 5];
            for (slot, deal) in out.iter_mut().zip(levels) {
                *slot = heterogeneity(deal)?;
            }
            out
        };
        assert_eq!((random, one), (zero, sorted));
        assert!(random < half && half < sorted, "{random} {half} {sorted}");
        assert!((sorted - 0.84).abs() < 1e-12);
        assert!(matches!(heterogeneity(Deal::Mixed(f64::NAN)), Err(Error::InvalidParameter { .. })));
        assert_eq!(
            Users::deal(&toy()?, 101, Deal::Random, &mut ChaCha8Rng::seed_from_u64(7)).map(|_| ()),
            Err(crate::Error::TooFewRows { rows: 100, users: 101 }.into())
        );
        Ok(())
    }
}
