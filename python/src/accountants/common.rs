//! What every mechanism of Python has: its Rényi curve, its `ε` at a `δ`, its `δ` at an `ε`, pickling, equality.

use crate::errors::Fault;
use crate::grades::Number;
use ndp_dp::conversion::{best_delta, best_epsilon};
use ndp_dp::{Delta, Mechanism, Neighbors, Order};

/// A mechanism of Python: its Rényi curve, and for which data sets it holds.
pub(super) trait Release {
    fn curve(&self) -> &dyn Mechanism;

    /// The neighboring relation; `None` where it is the one that the sensitivity was stated for.
    fn relation(&self) -> Option<Neighbors>;
}

/// The words of a relation.
pub(super) fn words(relation: Option<Neighbors>) -> Option<String> {
    relation.map(|relation| relation.to_string())
}

/// `ε` at `δ` by the best order of a Rényi curve.
pub(super) fn epsilon_of(mechanism: &dyn Mechanism, delta: f64) -> Result<Number, Fault> {
    let best = best_epsilon(|order| mechanism.rdp(order).into(), Delta::new(delta)?);
    let order = best.value().order.map_or(f64::INFINITY, Order::get);
    let epsilon = best.map(|best| best.approx_dp.epsilon());
    Ok(Number::epsilon(epsilon, delta).with("order", order))
}

/// `δ` at `ε` by the best order of a Rényi curve.
pub(super) fn delta_of(mechanism: &dyn Mechanism, epsilon: f64) -> Result<Number, Fault> {
    let best = best_delta(|order| mechanism.rdp(order).into(), epsilon)?;
    let order = best.value().order.map_or(f64::INFINITY, Order::get);
    Ok(Number::delta(best.map(|best| best.approx_dp.delta()), epsilon).with("order", order))
}

pub(super) fn rdp_of(mechanism: &dyn Mechanism, order: f64) -> Result<Number, Fault> {
    Ok(Number::new(mechanism.rdp(Order::new(order)?), "Rényi loss").with("order", order))
}

macro_rules! mechanism {
    (
        $(#[$doc:meta])*
        $name:ident($inner:ty), $text:literal,
        ($($(#$kind:tt)? $arg:ident: $ty:ty $(= $default:tt)?),*) => $new:expr,
        neighbors: $neighbors:expr,
        epsilon: |$e:ident, $delta:ident| $epsilon_body:expr,
        delta: |$d:ident, $epsilon:ident| $delta_body:expr,
        $({ $($more:tt)* })?
    ) => {
        $(#[$doc])*
        #[pyclass(frozen, module = "ndp.accountants", name = $text)]
        #[derive(Clone)]
        pub(crate) struct $name {
            pub(super) inner: $inner,
            $($arg: $ty,)*
        }

        impl crate::accountants::common::Release for $name {
            fn curve(&self) -> &dyn ndp_dp::Mechanism {
                &self.inner
            }

            fn relation(&self) -> Option<ndp_dp::Neighbors> {
                $neighbors
            }
        }

        #[pymethods]
        impl $name {
            #[new]
            #[pyo3(signature = ($($arg $(= $default)?),*))]
            fn new($($(#$kind)? $arg: $ty),*) -> Result<Self, Fault> {
                Ok(Self { inner: $new, $($arg),* })
            }

            $(
                #[getter]
                fn $arg(&self) -> $ty {
                    self.$arg.clone()
                }
            )*

            /// Which data sets are neighbors; None where they are those that the sensitivity was stated for.
            #[getter]
            fn neighbors(&self) -> Option<String> {
                crate::accountants::common::words($neighbors)
            }

            /// Rényi loss in nats at an order above 1.
            ///
            /// Parameters
            /// ----------
            /// order : float
            ///
            /// Returns
            /// -------
            /// Guarantee
            fn rdp(&self, py: Python<'_>, #[pyo3(from_py_with = plain)] order: f64) -> Result<Number, Fault> {
                let (inner, relation) = (self.inner.clone(), crate::accountants::common::Release::relation(self));
                run(py, move || Ok(rdp_of(&inner, order)?.between(relation)))
            }

            /// The epsilon at delta 0, in nats; infinite where none is known.
            ///
            /// Returns
            /// -------
            /// Guarantee
            fn pure_epsilon(&self) -> Number {
                let epsilon = ndp_dp::Mechanism::pure_epsilon(&self.inner);
                Number::epsilon(epsilon, 0.0).between(crate::accountants::common::Release::relation(self))
            }

            /// The smallest known epsilon at a delta, in nats.
            ///
            /// Parameters
            /// ----------
            /// delta : float
            ///
            /// Returns
            /// -------
            /// Guarantee
            fn epsilon(&self, py: Python<'_>, #[pyo3(from_py_with = a_delta)] delta: f64) -> Result<Number, Fault> {
                let $e = self.inner.clone();
                let ($delta, relation) = (delta, crate::accountants::common::Release::relation(self));
                let body = move || -> Result<Number, Fault> { $epsilon_body };
                run(py, move || Ok::<_, Fault>(body()?.between(relation)))
            }

            /// The smallest known delta at an epsilon.
            ///
            /// Parameters
            /// ----------
            /// epsilon : float
            ///     In nats.
            ///
            /// Returns
            /// -------
            /// Guarantee
            fn delta(&self, py: Python<'_>, #[pyo3(from_py_with = an_epsilon)] epsilon: f64) -> Result<Number, Fault> {
                let $d = self.inner.clone();
                let ($epsilon, relation) = (epsilon, crate::accountants::common::Release::relation(self));
                let body = move || -> Result<Number, Fault> { $delta_body };
                run(py, move || Ok::<_, Fault>(body()?.between(relation)))
            }

            fn __getnewargs__(&self) -> ($($ty,)*) {
                ($(self.$arg.clone(),)*)
            }

            fn __eq__(&self, other: &Self) -> bool {
                true $(&& self.$arg == other.$arg)*
            }

            fn __repr__(&self) -> String {
                let parts: Vec<String> = vec![$(format!("{}={:?}", stringify!($arg), self.$arg)),*];
                format!("{}({})", $text, parts.join(", "))
            }

            $($($more)*)?
        }
    };
}

pub(super) use mechanism;
