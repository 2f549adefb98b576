//! Privacy loss laws: both ends of `ε` and `δ`, composition, trade-off curves.

use crate::errors::Fault;
use crate::grades::{Noise, Number, a_delta, an_epsilon, count_of_32, plain, relation};
use crate::worker::run;
use ndp_dp::loss_law::{Direction, Enclosed, TradeoffPoint};
use ndp_dp::{
    Delta, DiscreteLaplace, Gaussian, Laplace, Neighbors, Order, RandomizedResponse, Sensitivity, Sigma,
};
use numpy::PyArray1;
use pyo3::prelude::*;

/// What a law was made of, for pickling: the mechanism, its numbers, a relation, and how often.
#[derive(Clone, PartialEq, FromPyObject, IntoPyObject)]
#[pyo3(from_item_all)]
struct Part {
    kind: String,
    numbers: Vec<Vec<f64>>,
    neighbors: String,
    count: u64,
}

impl Part {
    fn new(kind: &str, numbers: Vec<Vec<f64>>, neighbors: Neighbors) -> Self {
        Self { kind: kind.into(), numbers, neighbors: neighbors.to_string(), count: 1 }
    }

    fn law(&self) -> Result<ndp_dp::LossLaw, Fault> {
        let neighbors = relation(&self.neighbors)?;
        let row = |k: usize| self.numbers.get(k).map_or(&[][..], Vec::as_slice);
        let law = match (self.kind.as_str(), row(0)) {
            ("gaussian", &[sigma, sensitivity]) => {
                ndp_dp::LossLaw::gaussian(gaussian_of(sigma, sensitivity)?, neighbors)
            }
            ("sampled_gaussian", &[sigma, sensitivity, rate]) => {
                ndp_dp::LossLaw::sampled_gaussian(gaussian_of(sigma, sensitivity)?, rate)?
            }
            ("discrete_gaussian", &[sigma]) => {
                ndp_dp::LossLaw::discrete_gaussian(Sigma::new(sigma)?, neighbors)?
            }
            ("laplace", &[scale, sensitivity]) => {
                ndp_dp::LossLaw::laplace(Laplace::new(Sensitivity::new(sensitivity)?, scale)?, neighbors)
            }
            ("sampled_laplace", &[scale, sensitivity, rate]) => {
                let laplace = Laplace::new(Sensitivity::new(sensitivity)?, scale)?;
                ndp_dp::LossLaw::sampled_laplace(laplace, rate)?
            }
            ("discrete_laplace", &[scale, sensitivity]) => {
                let mechanism = DiscreteLaplace::new(whole(sensitivity)?, scale)?;
                ndp_dp::LossLaw::discrete_laplace(mechanism, neighbors)?
            }
            ("randomized_response", &[labels, gamma]) => {
                ndp_dp::LossLaw::randomized_response(RandomizedResponse::new(whole(labels)?, gamma)?)
            }
            ("finite", p) => ndp_dp::LossLaw::finite(p, row(1), neighbors)?,
            (kind, _) => return Err(Fault::new(format!("no privacy loss law of kind {kind:?}"))),
        };
        Ok(law.times(self.count)?)
    }
}

fn gaussian_of(sigma: f64, sensitivity: f64) -> Result<Gaussian, Fault> {
    Ok(Gaussian { sensitivity: Sensitivity::new(sensitivity)?, sigma: Sigma::new(sigma)? })
}

/// A count that was kept as a float.
fn whole(number: f64) -> Result<u32, Fault> {
    let found = format!("{number}").parse();
    found.map_err(|_| Fault::new(format!("expected a whole number, got {number}")))
}

fn direction_of(word: &str) -> Result<Direction, Fault> {
    match word {
        "remove" => Ok(Direction::Remove),
        "add" => Ok(Direction::Add),
        _ => Err(Fault::new(format!("direction must be \"remove\" or \"add\", got {word:?}"))),
    }
}

/// The law of the privacy loss of one or many releases, enclosed from both sides.
///
/// Made by one of its static methods. ``law * 1000`` is so many releases, ``law + other`` both together, each free to depend on the outputs
/// of the others. Answers are guarantees, with the proven lower end in ``detail["lower"]``.
///
/// Examples
/// --------
/// >>> import ndp
/// >>> training = ndp.LossLaw.sampled_gaussian(sigma=1.0, rate=0.01) * 1000
/// >>> spent = training.epsilon(delta=1e-5)
/// >>> bool(spent < 1.8283 and spent.detail["lower"] > 1.8281)
/// True
/// >>> lower, upper = training.tradeoff([0.01, 0.05])
/// >>> bool((lower <= upper).all())
/// True
#[pyclass(frozen, module = "ndp.accountants", name = "LossLaw")]
#[derive(Clone)]
pub(crate) struct LossLaw {
    inner: ndp_dp::LossLaw,
    parts: Vec<Part>,
    direction: Option<String>,
}

impl LossLaw {
    fn of(part: Part) -> Result<Self, Fault> {
        Self::of_parts(vec![part], None)
    }

    fn of_parts(parts: Vec<Part>, direction: Option<String>) -> Result<Self, Fault> {
        let laws = parts.iter().map(Part::law).collect::<Result<Vec<_>, Fault>>()?;
        let mut inner = ndp_dp::LossLaw::compose(&laws)?;
        if let Some(word) = &direction {
            inner = inner.only(direction_of(word)?)?;
        }
        Ok(Self { inner, parts, direction })
    }

    fn composed(laws: &[&Self]) -> Result<Self, Fault> {
        let inner: Vec<ndp_dp::LossLaw> = laws.iter().map(|law| law.inner.clone()).collect();
        let inner = ndp_dp::LossLaw::compose(&inner)?;
        let parts = laws.iter().flat_map(|law| law.parts.iter().cloned()).collect();
        let direction = laws.iter().find_map(|law| law.direction.clone());
        Ok(Self { inner, parts, direction })
    }

    /// What an answer is: that of one direction is not compared with an epsilon of both.
    fn what(&self, quantity: &str) -> String {
        self.direction.as_ref().map_or_else(|| quantity.into(), |word| format!("{quantity}, {word} alone"))
    }
}

/// A guarantee with its lower end.
fn enclosed(found: Enclosed, what: &str) -> Number {
    Number::new(found.guarantee(), what).with("lower", found.lower())
}

#[pymethods]
impl LossLaw {
    #[new]
    #[pyo3(signature = (parts, direction=None))]
    fn new(parts: Vec<Part>, direction: Option<String>) -> Result<Self, Fault> {
        Self::of_parts(parts, direction)
    }

    /// Gaussian noise.
    ///
    /// Parameters
    /// ----------
    /// sigma : float
    /// sensitivity : float, optional
    /// neighbors : str, optional
    ///     The relation that the sensitivity was stated for.
    ///
    /// Returns
    /// -------
    /// LossLaw
    #[staticmethod]
    #[pyo3(signature = (sigma, sensitivity=1.0, neighbors=REPLACE))]
    fn gaussian(
        sigma: Noise,
        #[pyo3(from_py_with = plain)] sensitivity: f64,
        neighbors: &str,
    ) -> Result<Self, Fault> {
        Self::of(Part::new("gaussian", vec![vec![sigma.0, sensitivity]], relation(neighbors)?))
    }

    /// Discrete Gaussian noise on an answer with whole values that moves by at most 1.
    ///
    /// Parameters
    /// ----------
    /// sigma : float
    /// neighbors : str, optional
    ///
    /// Returns
    /// -------
    /// LossLaw
    #[staticmethod]
    #[pyo3(signature = (sigma, neighbors=REPLACE))]
    fn discrete_gaussian(sigma: Noise, neighbors: &str) -> Result<Self, Fault> {
        Self::of(Part::new("discrete_gaussian", vec![vec![sigma.0]], relation(neighbors)?))
    }

    /// Laplace noise.
    ///
    /// Parameters
    /// ----------
    /// scale : float
    /// sensitivity : float, optional
    /// neighbors : str, optional
    ///
    /// Returns
    /// -------
    /// LossLaw
    #[staticmethod]
    #[pyo3(signature = (scale, sensitivity=1.0, neighbors=REPLACE))]
    fn laplace(
        #[pyo3(from_py_with = plain)] scale: f64,
        #[pyo3(from_py_with = plain)] sensitivity: f64,
        neighbors: &str,
    ) -> Result<Self, Fault> {
        Self::of(Part::new("laplace", vec![vec![scale, sensitivity]], relation(neighbors)?))
    }

    /// Discrete Laplace noise on an answer with whole values.
    ///
    /// Parameters
    /// ----------
    /// scale : float
    /// sensitivity : int, optional
    /// neighbors : str, optional
    ///
    /// Returns
    /// -------
    /// LossLaw
    #[staticmethod]
    #[pyo3(signature = (scale, sensitivity=1, neighbors=REPLACE))]
    fn discrete_laplace(
        #[pyo3(from_py_with = plain)] scale: f64,
        #[pyo3(from_py_with = count_of_32)] sensitivity: u32,
        neighbors: &str,
    ) -> Result<Self, Fault> {
        let numbers = vec![vec![scale, f64::from(sensitivity)]];
        Self::of(Part::new("discrete_laplace", numbers, relation(neighbors)?))
    }

    /// Randomized response: one person's label is another.
    ///
    /// Parameters
    /// ----------
    /// labels : int
    /// gamma : float
    ///     Probability of a random answer.
    ///
    /// Returns
    /// -------
    /// LossLaw
    #[staticmethod]
    fn randomized_response(
        #[pyo3(from_py_with = count_of_32)] labels: u32,
        #[pyo3(from_py_with = plain)] gamma: f64,
    ) -> Result<Self, Fault> {
        let numbers = vec![vec![f64::from(labels), gamma]];
        Self::of(Part::new("randomized_response", numbers, Neighbors::ReplaceOne))
    }

    /// Gaussian noise on a sample in which each record takes part with a probability, when one record may be added or removed.
    ///
    /// Parameters
    /// ----------
    /// sigma, rate : float
    /// sensitivity : float, optional
    ///
    /// Returns
    /// -------
    /// LossLaw
    #[staticmethod]
    #[pyo3(signature = (sigma, rate, sensitivity=1.0))]
    fn sampled_gaussian(
        sigma: Noise,
        #[pyo3(from_py_with = plain)] rate: f64,
        #[pyo3(from_py_with = plain)] sensitivity: f64,
    ) -> Result<Self, Fault> {
        let numbers = vec![vec![sigma.0, sensitivity, rate]];
        Self::of(Part::new("sampled_gaussian", numbers, Neighbors::AddOrRemove))
    }

    /// Laplace noise on a sample in which each record takes part with a probability, when one record may be added or removed.
    ///
    /// Parameters
    /// ----------
    /// scale, rate : float
    /// sensitivity : float, optional
    ///
    /// Returns
    /// -------
    /// LossLaw
    #[staticmethod]
    #[pyo3(signature = (scale, rate, sensitivity=1.0))]
    fn sampled_laplace(
        #[pyo3(from_py_with = plain)] scale: f64,
        #[pyo3(from_py_with = plain)] rate: f64,
        #[pyo3(from_py_with = plain)] sensitivity: f64,
    ) -> Result<Self, Fault> {
        let numbers = vec![vec![scale, sensitivity, rate]];
        Self::of(Part::new("sampled_laplace", numbers, Neighbors::AddOrRemove))
    }

    /// A pair of laws on finitely many outcomes.
    ///
    /// Parameters
    /// ----------
    /// p, q : sequence of float
    ///     Probabilities of the outcomes on two neighboring data sets.
    /// neighbors : str, optional
    ///
    /// Returns
    /// -------
    /// LossLaw
    #[staticmethod]
    #[pyo3(signature = (p, q, neighbors=REPLACE))]
    fn finite(p: Vec<f64>, q: Vec<f64>, neighbors: &str) -> Result<Self, Fault> {
        Self::of(Part::new("finite", vec![p, q], relation(neighbors)?))
    }

    /// All of these together, each free to depend on the outputs of the others.
    ///
    /// Parameters
    /// ----------
    /// laws : sequence of LossLaw
    ///
    /// Returns
    /// -------
    /// LossLaw
    #[staticmethod]
    fn compose(laws: Vec<PyRef<'_, Self>>) -> Result<Self, Fault> {
        Self::composed(&laws.iter().map(|law| &**law).collect::<Vec<_>>())
    }

    fn __add__(&self, other: &Self) -> Result<Self, Fault> {
        Self::composed(&[self, other])
    }

    fn __mul__(&self, count: u64) -> Result<Self, Fault> {
        let mut made = Self { inner: self.inner.clone().times(count)?, ..self.clone() };
        for part in &mut made.parts {
            part.count = part.count.saturating_mul(count);
        }
        Ok(made)
    }

    fn __rmul__(&self, count: u64) -> Result<Self, Fault> {
        self.__mul__(count)
    }

    /// One direction alone: a guarantee for that order of two data sets only.
    ///
    /// Parameters
    /// ----------
    /// direction : str
    ///     "remove": the law is under the data with the record; "add": under those without.
    ///
    /// Returns
    /// -------
    /// LossLaw
    fn only(&self, direction: &str) -> Result<Self, Fault> {
        let inner = self.inner.clone().only(direction_of(direction)?)?;
        Ok(Self { inner, direction: Some(direction.into()), parts: self.parts.clone() })
    }

    /// The direction, None for both.
    #[getter]
    fn direction(&self) -> Option<String> {
        self.direction.clone()
    }

    /// Which data sets are neighbors.
    #[getter]
    fn neighbors(&self) -> String {
        self.inner.neighbors().to_string()
    }

    /// The smallest epsilon at a delta, in nats; its proven lower end is ``detail["lower"]``.
    ///
    /// Parameters
    /// ----------
    /// delta : float
    ///
    /// Returns
    /// -------
    /// Guarantee
    fn epsilon(&self, py: Python<'_>, #[pyo3(from_py_with = a_delta)] delta: f64) -> Result<Number, Fault> {
        let (law, what) = (self.inner.clone(), self.what("epsilon"));
        run(py, move || {
            let found = enclosed(law.epsilon(Delta::new(delta)?), &what).with("delta", delta);
            Ok(found.between(Some(law.neighbors())))
        })
    }

    /// The delta at an epsilon; its proven lower end is ``detail["lower"]``.
    ///
    /// Parameters
    /// ----------
    /// epsilon : float
    ///
    /// Returns
    /// -------
    /// Guarantee
    fn delta(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = an_epsilon)] epsilon: f64,
    ) -> Result<Number, Fault> {
        let (law, what) = (self.inner.clone(), self.what("delta"));
        run(py, move || {
            let found = enclosed(law.delta(epsilon)?, &what).with("epsilon", epsilon);
            Ok(found.between(Some(law.neighbors())))
        })
    }

    /// The epsilon at delta 0; infinite where a loss is not bounded.
    ///
    /// Returns
    /// -------
    /// Guarantee
    fn pure_epsilon(&self) -> Number {
        let found = enclosed(self.inner.pure_epsilon(), &self.what("epsilon")).with("delta", 0.0);
        found.between(Some(self.inner.neighbors()))
    }

    /// Rényi loss in nats at an order above 1; infinite where some part has no bound.
    ///
    /// Parameters
    /// ----------
    /// order : float
    ///
    /// Returns
    /// -------
    /// UpperBound
    fn rdp(&self, py: Python<'_>, #[pyo3(from_py_with = plain)] order: f64) -> Result<Number, Fault> {
        let (law, what) = (self.inner.clone(), self.what("Rényi loss"));
        run(py, move || {
            let found = law.rdp(Order::new(order)?).unwrap_or(ndp_dp::UpperBound::new(f64::INFINITY));
            Ok(Number::new(found, what).with("order", order).between(Some(law.neighbors())))
        })
    }

    /// The trade-off curve: the least error of the second kind of any test, by its level.
    ///
    /// For a law with both directions the lower end holds for either order of the two data sets, and the
    /// upper end for one of the two orders. The ends may then differ by more than the computation's width.
    ///
    /// Parameters
    /// ----------
    /// levels : sequence of float
    ///     Between 0 and 1.
    ///
    /// Returns
    /// -------
    /// tuple of numpy.ndarray
    ///     The lower end, which is the guarantee, and the upper one.
    fn tradeoff<'py>(
        &self,
        py: Python<'py>,
        levels: Vec<f64>,
    ) -> Result<(Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>), Fault> {
        let law = self.inner.clone();
        let points: Vec<TradeoffPoint> = run(py, move || {
            let curve = law.tradeoff();
            levels.iter().map(|&level| Ok(curve.at(level)?)).collect::<Result<_, Fault>>()
        })?;
        let ends = |end: fn(&TradeoffPoint) -> f64| PyArray1::from_vec(py, points.iter().map(end).collect());
        Ok((ends(|point| point.lower), ends(|point| point.upper)))
    }

    fn __getnewargs__(&self) -> (Vec<Part>, Option<String>) {
        (self.parts.clone(), self.direction.clone())
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.parts == other.parts && self.direction == other.direction
    }

    fn __repr__(&self) -> String {
        let parts: Vec<String> = self
            .parts
            .iter()
            .map(|part| format!("{} x {} {:?}", part.count, part.kind, part.numbers))
            .collect();
        let only = self.direction.as_ref().map_or_else(String::new, |way| format!(".only({way:?})"));
        format!("LossLaw({}){only}", parts.join(" + "))
    }
}

/// The words of [`Neighbors::ReplaceOne`].
const REPLACE: &str = "data of one node replaced";
