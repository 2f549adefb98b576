"""The four grades of a privacy number, as classes."""

from __future__ import annotations

import decimal
from collections.abc import Mapping
from typing import Any, ClassVar

from . import _ndp


def _up(x: float, digits: int = 6) -> str:
    """A number in so many digits that is not below ``x``: what is guaranteed must not look smaller than it is."""
    above = decimal.Context(prec=digits, rounding=decimal.ROUND_CEILING).create_decimal_from_float(float(x))
    return f"{float(above):.{digits}g}"


class Graded:
    """A number and what it may be used for.

    Only the subclasses of `Guarantee` convert to ``float``; of every other grade, ``value`` says the number.

    Attributes
    ----------
    value : float or int or numpy.ndarray
        The number itself, whatever its grade.
    what : str
        What it is: ``"epsilon"``, ``"delta"``, ``"mu"``, ``"unit loss"``, ...
    detail : dict
        What else came with it: the rule that gave the best bound, the ``delta`` that goes with an ``epsilon``, ...
    name : str
        The grade as a word: ``exact``, ``upper-bound``, ``printed`` or ``estimate``.
    """

    __slots__ = ("detail", "value", "what")
    name: ClassVar[str] = ""

    def __init__(self, value: Any, what: str = "", detail: Mapping[str, Any] | None = None) -> None:
        if type(self) in (Graded, Guarantee):
            raise TypeError("a number is Exact, UpperBound, Printed or Estimate")
        self.value = value
        self.what = what
        self.detail = dict(detail or {})

    @property
    def grade(self) -> type[Graded]:
        """The class of the number, which is its grade."""
        return type(self)

    def __repr__(self) -> str:
        digits = _up if isinstance(self, Guarantee) else "{:.6g}".format
        value = digits(self.value) if isinstance(self.value, float) else repr(self.value)
        return f"{type(self).__name__}({value}{f', {self.what!r}' if self.what else ''})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Graded):
            return NotImplemented
        same = self.value == other.value
        same = same if isinstance(same, bool) else bool(getattr(same, "all", lambda: same)())
        return type(self) is type(other) and self.what == other.what and same

    def __hash__(self) -> int:
        return hash((type(self), self.what, repr(self.value)))

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (self.value, self.what, self.detail))

    def __float__(self) -> float:
        raise TypeError(f"{self._refusal()}; .value says it anyway")

    def _refusal(self) -> str:
        return f"a number of the grade {self.name!r} is no guarantee"


class Guarantee(Graded):
    """A number that may be reported as a guarantee: `Exact` or `UpperBound`."""

    __slots__ = ()

    def __float__(self) -> float:
        return float(self.value)

    def __format__(self, spec: str) -> str:
        return format(self.value, spec) if spec else repr(self)

    def __lt__(self, other: Any) -> bool:
        return bool(float(self) < float(other))

    def __le__(self, other: Any) -> bool:
        return bool(float(self) <= float(other))

    def __gt__(self, other: Any) -> bool:
        return bool(float(self) > float(other))

    def __ge__(self, other: Any) -> bool:
        return bool(float(self) >= float(other))

    def mu(self, sigma: float | None = None, sensitivity: float = 1.0) -> Guarantee:
        """The Gaussian parameter ``mu`` that this number means.

        Parameters
        ----------
        sigma : float, optional
            Standard deviation of the noise, needed where the number is a unit loss.
        sensitivity : float, optional
            How far the input of one node may move.

        Returns
        -------
        Guarantee
            Of the same grade.

        Examples
        --------
        >>> import ndp
        >>> ndp.Exact(0.25, "unit loss").mu(sigma=2.0)
        Exact(0.25, 'mu')
        """
        import numpy as np

        if self.what == "mu":
            return self
        if self.what != "unit loss":
            raise TypeError(f"a number that is {self.what or 'of no kind'!r} has no Gaussian parameter")
        if sigma is None:
            raise TypeError("the mu of a unit loss needs the noise: mu(sigma)")
        units = np.array([float(self)])
        return type(self)(float(_ndp.mu_of_units(units, float(sigma), float(sensitivity))[0]), "mu")

    def epsilon(
        self, sigma: float | None = None, delta: float | None = None, sensitivity: float = 1.0
    ) -> Guarantee:
        """The ``epsilon`` at ``delta`` that this number means.

        Parameters
        ----------
        sigma : float, optional
            Standard deviation of the noise, needed where the number is a unit loss.
        delta : float, optional
            Failure probability, needed unless the number is an epsilon already.
        sensitivity : float, optional
            How far the input of one node may move.

        Returns
        -------
        Guarantee
            Of the same grade, in nats.

        Examples
        --------
        >>> import ndp
        >>> ndp.Exact(1.0, "unit loss").epsilon(sigma=2.0, delta=1e-6)
        Exact(2.25409, 'epsilon')
        """
        if self.what == "epsilon":
            return self
        if delta is None:
            raise TypeError("an epsilon goes with a delta: epsilon(delta=1e-5)")
        mu = float(self.mu(sigma, sensitivity))
        return type(self)(_ndp.epsilon_of_mu(mu, float(delta)), "epsilon", {"delta": float(delta)})


class Exact(Guarantee):
    """Equals the divergence of the stated view: a guarantee.

    Examples
    --------
    >>> import ndp
    >>> float(ndp.Exact(0.25, "unit loss"))
    0.25
    """

    __slots__ = ()
    name = "exact"


class UpperBound(Guarantee):
    """A proven upper bound, its preconditions checked: a guarantee."""

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
