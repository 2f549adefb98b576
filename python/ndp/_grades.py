"""The four grades of a privacy number, as classes."""

from __future__ import annotations

import decimal
import numbers
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from . import _ndp
from ._checks import _as_float
from ._ndp import NdpError
from ._rounded import FROM_BELOW, _rounded_at, digits_of, shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: What goes with a number of a kind, without which it says nothing: an epsilon holds at a delta.
_AT = {"epsilon": "delta", "delta": "epsilon", "log delta": "epsilon", "Rényi loss": "order", "mean Rényi loss": "order"}


class Graded:
    """A number and what it may be used for.

    Only the subclasses of `Guarantee` convert to ``float``; of every other grade, ``value`` says the number.

    Attributes
    ----------
    value : float or int or numpy.ndarray
        The number itself, whatever its grade.
    what : str
        What it is: ``"epsilon"``, ``"delta"``, ``"mu"``, ``"unit loss"``, ``"Rényi loss"``, ...
    detail : dict
        What else came with it: the ``delta`` at which an ``epsilon`` holds, the ``order`` of a Rényi loss, the rule that gave the
        best bound, ...
    name : str
        The grade as a word: ``exact``, ``upper-bound``, ``printed`` or ``estimate``.
    """

    __slots__ = ("detail", "value", "what")
    name: ClassVar[str] = ""

    def __init__(self, value: Any, what: str = "", detail: Mapping[str, Any] | None = None) -> None:
        if type(self) in (Graded, Guarantee):
            raise TypeError("a number is Exact, UpperBound, Printed or Estimate")
        if isinstance(value, Graded):
            raise TypeError(f"{value!r} has its grade already: value is the number alone")
        self.value = value
        self.what = what
        self.detail = dict(detail or {})

    @property
    def grade(self) -> type[Graded]:
        """The class of the number, which is its grade."""
        return type(self)

    @property
    def _at(self) -> tuple[str, Any] | None:
        """At which delta an epsilon holds, and so on, where it is known."""
        key = _AT.get(self.what.partition(",")[0], "")  # "epsilon, add alone" is an epsilon of one direction
        return (key, self.detail[key]) if key in self.detail else None

    def __repr__(self) -> str:
        value = self._digits() if isinstance(self.value, float) else repr(self.value)
        at = self._at
        parts = [value, *([repr(self.what)] if self.what else []), *([repr(dict([at]))] if at else [])]
        return f"{type(self).__name__}({', '.join(parts)})"

    def _digits(self) -> str:
        return f"{self.value:.6g}"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Graded):
            return NotImplemented
        same = self.value == other.value
        same = same if isinstance(same, bool) else bool(getattr(same, "all", lambda: same)())
        return type(self) is type(other) and self.what == other.what and self._agrees(other) and same

    def _agrees(self, other: Graded) -> bool:
        """Whether both hold at the same delta, order or epsilon, and compare the same data sets, as far as they say."""
        pairs = ((self._at, other._at), (self._neighbors, other._neighbors))
        return all(here is None or there is None or here == there for here, there in pairs)

    @property
    def _neighbors(self) -> Any:
        """Which data sets are compared, where it is known."""
        return self.detail.get("neighbors")

    def __hash__(self) -> int:
        try:
            return hash(self.value)
        except TypeError:
            return hash(repr(self.value))

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (self.value, self.what, self.detail))

    # Only to say why. What it is declared to answer is no float, so that type checkers refuse float(printed) as Python does.
    def __float__(self) -> object:
        raise TypeError(f"{self._refusal()}; .value says it anyway")

    # As above: what is declared is no array, so that type checkers refuse np.sqrt(printed) as NumPy does.
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> object:
        raise TypeError(f"{self._refusal()}; .value says it anyway")

    def _repr_html_(self) -> str:
        import html

        return f"<code>{html.escape(repr(self))}</code>"

    def _refusal(self) -> str:
        return f"a number of the grade {self.name!r} is no guarantee"


class Guarantee(Graded):
    """A number that may be reported as a guarantee: `Exact` or `UpperBound`.

    It compares with numbers by value, and with guarantees of the same kind. Shown with any number of digits it is rounded up (what is
    guaranteed from below, down), so that what is shown holds.

    Examples
    --------
    >>> import ndp
    >>> loss = ndp.Exact(0.92634, "mu")
    >>> f"{loss:.3f}", loss == 0.92634, loss < 1.0
    ('0.927', True, True)
    """

    __slots__ = ()

    def __float__(self) -> float:
        return float(self.value)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        import numpy as np

        if copy is False:
            raise ValueError("a guarantee becomes an array by a copy of its value")
        return np.array(self.value, dtype)

    def round(self, decimals: int = 0, out: Any = None) -> float:
        """The value with so many decimals, rounded so that it holds."""
        if out is not None:
            raise ValueError("a guarantee is rounded to a number of its own")
        return _rounded_at(float(self.value), int(decimals), self.what not in FROM_BELOW)

    def __round__(self, digits: int | None = None) -> float:
        return self.round(digits or 0)

    def _digits(self) -> str:
        return digits_of(self.value, up=self.what not in FROM_BELOW)

    def __format__(self, spec: str) -> str:
        return shown(self.value, spec, self.what not in FROM_BELOW) if spec else repr(self)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, (numbers.Real, decimal.Decimal)):
            return bool(self.value == other)
        return super().__eq__(other)

    __hash__ = Graded.__hash__

    def _beside(self, other: Any) -> Any:
        """The value of what this is compared with; NotImplemented where it is no number."""
        if isinstance(other, (numbers.Real, decimal.Decimal)):
            return other
        if not isinstance(other, Graded):
            return NotImplemented
        float(other)  # type: ignore[arg-type]  # refused for what is no guarantee
        if self.what and other.what and self.what != other.what:
            raise TypeError(f"{_named(self.what)} is not compared with {_named(other.what)}")
        here, there = self._neighbors, other._neighbors
        if here is not None and there is not None and here != there:
            raise TypeError(f"{_named(self.what)} for {here!r} is not compared with one for {there!r}")
        if not self._agrees(other):
            assert self._at is not None and other._at is not None
            key, here, there = *self._at, other._at[1]
            raise TypeError(f"{_named(self.what)} at {key} {here!r} is not compared with one at {key} {there!r}")
        return other.value

    def __lt__(self, other: Any) -> bool:
        beside = self._beside(other)
        return NotImplemented if beside is NotImplemented else bool(self.value < beside)

    def __le__(self, other: Any) -> bool:
        beside = self._beside(other)
        return NotImplemented if beside is NotImplemented else bool(self.value <= beside)

    def __gt__(self, other: Any) -> bool:
        beside = self._beside(other)
        return NotImplemented if beside is NotImplemented else bool(self.value > beside)

    def __ge__(self, other: Any) -> bool:
        beside = self._beside(other)
        return NotImplemented if beside is NotImplemented else bool(self.value >= beside)

    def mu(self, sigma: float | None = None, sensitivity: float | None = None) -> Guarantee:
        """The Gaussian parameter ``mu`` that this number means.

        Parameters
        ----------
        sigma : float, optional
            Standard deviation of the noise, needed where the number is a unit loss.
        sensitivity : float, optional
            How far the input of one node may move, for a unit loss; 1 by default.

        Returns
        -------
        Guarantee
            Of the same grade; an `UpperBound` where rounding is seen in the ninth digit, or the result is beyond all floats.

        Raises
        ------
        TypeError
            For a number of another kind; for noise beside a ``mu``, which is that of a noise already.

        Examples
        --------
        >>> import ndp
        >>> ndp.Exact(0.25, "unit loss").mu(sigma=2.0)
        Exact(0.25, 'mu')
        """
        import numpy as np

        if self.what == "mu":
            self._without_noise(sigma, sensitivity)
            return self
        if self.what != "unit loss":
            raise TypeError(f"a number that is {self.what or 'of no kind'!r} has no Gaussian parameter")
        if sigma is None:
            raise TypeError("the mu of a unit loss needs the noise: mu(sigma)")
        units, scale = np.array([float(self)]), 1.0 if sensitivity is None else number_of(sensitivity, "sensitivity")
        found, exact = _ndp.mu_of_units(units, number_of(sigma, "sigma"), scale)
        return (type(self) if exact else UpperBound)(float(found[0]), "mu")

    def _without_noise(self, sigma: float | None, sensitivity: float | None) -> None:
        if sigma is not None or sensitivity is not None:
            raise TypeError(f"{_named(self.what)} is that of a noise already: give sigma and sensitivity to a unit loss")

    def epsilon(
        self, sigma: float | None = None, delta: float | None = None, sensitivity: float | None = None
    ) -> Guarantee:
        """The ``epsilon`` at ``delta`` that this number means.

        Parameters
        ----------
        sigma : float, optional
            Standard deviation of the noise, needed where the number is a unit loss.
        delta : float, optional
            Failure probability, needed unless the number is an epsilon already. An epsilon holds at its own delta: at a larger one it
            is an `UpperBound`, at a smaller one there is no answer.
        sensitivity : float, optional
            How far the input of one node may move, for a unit loss; 1 by default.

        Returns
        -------
        Guarantee
            In nats; of the same grade, but an `UpperBound` where it is asked for at a larger delta than its own, where rounding is seen
            in the ninth digit, or where the result is beyond all floats.

        Raises
        ------
        NdpError
            For an epsilon at a smaller delta than its own, or at any where its own is not known.
        TypeError
            For a number of another kind; for noise beside a number that is that of a noise already.

        Examples
        --------
        >>> import ndp
        >>> ndp.Exact(1.0, "unit loss").epsilon(sigma=2.0, delta=1e-6)
        Exact(2.25409, 'epsilon', {'delta': 1e-06})
        """
        if self.what == "epsilon":
            self._without_noise(sigma, sensitivity)
            return self if delta is None else self._epsilon_at(number_of(delta, "delta"))
        if delta is None:
            raise TypeError("an epsilon goes with a delta: epsilon(delta=1e-5)")
        mu, at = self.mu(sigma, sensitivity), number_of(delta, "delta")
        epsilon, exact = _ndp.epsilon_of_mu(float(mu), at)
        return (type(mu) if exact else UpperBound)(epsilon, "epsilon", {**mu.detail, "delta": at})

    def _epsilon_at(self, delta: float) -> Guarantee:
        own = self.detail.get("delta")
        if own == delta:
            return self
        _ndp.epsilon_of_mu(0.0, delta)  # what is no delta is refused in the same words everywhere
        if own is None or delta < own:
            holds = "at a delta that is not known" if own is None else f"at delta {own!r} and above"
            raise NdpError(f"this epsilon holds {holds}: ask the profile, the losses or the mu it came from for delta {delta!r}")
        return UpperBound(self.value, "epsilon", {**self.detail, "delta": delta})


def _named(what: str) -> str:
    return f"{'an' if what[:1] in 'aeio' else 'a'} {what}"


def number_of(x: Any, what: str, at: float | None = None) -> float:
    """A number that a caller gives for a ``what``, ``at`` a delta, an order or an epsilon: a guarantee of anything else is refused."""
    if isinstance(x, Graded):
        if x.what and x.what != what:
            raise TypeError(f"{_named(what)} is needed, got {_named(x.what)}")
        key = _AT.get(what, "")
        own = x.detail.get(key)
        if at is not None and own is not None and own != at:
            raise TypeError(f"{_named(what)} at {key} {float(at)!r} is needed, got one at {key} {own!r}")
        return float(x)  # type: ignore[arg-type]  # refused for what is no guarantee
    return _as_float(x, what)


def scales_of(sigma: Any, sensitivity: Any) -> tuple[float, float]:
    """The noise and the sensitivity that a caller gives."""
    return number_of(sigma, "sigma"), number_of(sensitivity, "sensitivity")


def target_of(pair: tuple[Any, ...]) -> tuple[float, float]:
    """The numbers of a target ``(epsilon, delta)``: guarantees that hold elsewhere are refused."""
    if len(pair) != 2:
        raise NdpError(f"a target is (epsilon, delta), got {len(pair)} numbers")
    delta = number_of(pair[1], "delta")
    epsilon = number_of(pair[0], "epsilon", delta)
    return epsilon, number_of(pair[1], "delta", epsilon)


class Exact(Guarantee):
    """Equals the divergence of the stated view: a guarantee, as the library makes them; whoever makes one by hand answers for it.

    Examples
    --------
    >>> import ndp
    >>> float(ndp.Exact(0.25, "unit loss"))
    0.25
    """

    __slots__ = ()
    name = "exact"


class UpperBound(Guarantee):
    """A proven upper bound, its preconditions checked: a guarantee.

    Of what is guaranteed from below, a ``"type II error"``, ``"what is left"`` or a ``"largest count"``, it is a lower bound: the bound on the safe side.
    """

    __slots__ = ()
    name = "upper-bound"


class Printed(Graded):
    """A paper's formula, kept to reproduce its figure, perhaps false: no guarantee.

    Examples
    --------
    >>> import ndp
    >>> printed = ndp.Printed(0.3, "unit loss")
    >>> printed.value
    0.3
    >>> float(printed)
    Traceback (most recent call last):
    TypeError: a printed formula is no guarantee; .value says it anyway
    """

    __slots__ = ()
    name = "printed"

    def _refusal(self) -> str:
        return "a printed formula is no guarantee"


class Estimate(Graded):
    """A simulation average, a heuristic or an asymptotic statement: no guarantee."""

    __slots__ = ()
    name = "estimate"

    def _refusal(self) -> str:
        return "an estimate is no guarantee"
