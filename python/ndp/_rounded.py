"""Numbers shown so that they promise no more than is proven: upper bounds rounded up, lower bounds rounded down.

Rounding is exact: a float is a fraction of two integers, and `decimal` rounds that fraction.
"""

from __future__ import annotations

import decimal
import math
import re
from typing import Any, ClassVar

import numpy as np

#: A format specification: how the text is laid out, how many digits it has, of which kind.
_SPEC = re.compile(
    r"(?P<first>(?:.?[<>=^])?[ +-]?z?)#?(?P<width>0?\d*)(?P<group>[,_]?)(?P<last>(?:\.(?P<digits>\d+))?(?P<kind>[a-zA-Z%]?))", re.DOTALL
)
#: Digits that survive the way to a float and back.
_FLOAT_DIGITS = 15


def _nearby(x: decimal.Decimal, digits: int, up: bool) -> decimal.Decimal:
    """``x`` in so many significant digits, rounded in one direction."""
    rounding = decimal.ROUND_CEILING if up else decimal.ROUND_FLOOR
    context = decimal.Context(digits, rounding, decimal.MIN_EMIN, decimal.MAX_EMAX)
    return context.plus(x)


def _at(x: decimal.Decimal, last: int, up: bool) -> tuple[decimal.Decimal, int]:
    """``x`` rounded in one direction at the place of ``10**last``, and its digits down to this place."""
    digits = x.adjusted() - last + 1
    if digits >= 1:
        return _nearby(x, digits, up), digits
    # Smaller than a unit of the place.
    return decimal.Decimal((int(x < 0), (1,), last)) if (x > 0) == up else decimal.Decimal(0), 1


def shown(x: Any, spec: str, up: bool = True) -> str:
    """``format(x, spec)``, but not below ``x``; not above it where ``up`` is False.

    Without digits and kind the text is the shortest that reads back as ``x``, as always.
    """
    match = _SPEC.fullmatch(spec)
    kind = match["kind"] if match else ""
    if match is None or not math.isfinite(x) or kind in ("b", "c", "d", "o", "x", "X", "s"):
        return format(x, spec)
    if not kind and match["digits"] is None:
        return format(x, spec)
    precision = 6 if match["digits"] is None else int(match["digits"])
    exact = decimal.Decimal(x if isinstance(x, int) else float(x))
    if not exact:
        return format(float(x), spec)
    if kind in ("f", "F", "%"):
        near, digits = _at(exact, -precision - 2 * (kind == "%"), up)
    else:
        digits = precision + 1 if kind in ("e", "E") else max(precision, 1)
        near = _nearby(exact, digits, up)
    plain = kind != "%" and digits <= _FLOAT_DIGITS and 1e-290 < abs(near) < 1e300
    if plain or not near:
        return format(float(near), spec)
    # Decimals know neither `#` nor groups by `_`.
    text = format(near, match["first"] + match["width"] + match["group"].replace("_", ",") + match["last"])
    return text.replace(",", "_") if match["group"] == "_" else text


def digits_of(x: float, digits: int = 6, up: bool = True) -> str:
    """A number in so many significant digits that is not below ``x``, or not above it."""
    return shown(float(x), f".{digits}g", up)


#: What is guaranteed from below: the error of an attacker, what a budget leaves, how often something may be released.
FROM_BELOW = ("type II error", "what is left", "largest count")


def upper(numbers: Any, digits: int = 6) -> Any:
    """Numbers rounded up to a number of significant digits: to be shown, none below what it was.

    A guarantee from below, such as what a budget leaves, is rounded down.

    Parameters
    ----------
    numbers : float, guarantee or array_like
        Upper bounds: an ``epsilon``, the column of a table, ...
    digits : int, optional
        Significant digits, at least 1.

    Returns
    -------
    float or numpy.ndarray

    Examples
    --------
    >>> import ndp
    >>> ndp.upper(0.92634, 3)
    0.927
    >>> r = ndp.gossip(([0, 1, 2], [1, 2, 3]), rounds=2).losses(observer=0)
    >>> ndp.upper(r.epsilon(sigma=4.0, delta=1e-5), 2)
    array([0.93, 0.93, 0.93, 0.  ])
    """
    return _rounded(numbers, digits, getattr(numbers, "what", "") not in FROM_BELOW)


def _rounded(numbers: Any, digits: int, up: bool) -> Any:
    if digits < 1:
        from ._ndp import NdpError

        raise NdpError(f"digits must be at least 1, got {digits}")

    def one(x: float) -> float:
        return float(_nearby(decimal.Decimal(x), digits, up)) if x and math.isfinite(x) else x

    if np.ndim(numbers) == 0:
        return one(float(numbers))
    table = np.array(numbers, np.float64)
    return np.fromiter((one(float(x)) for x in table.ravel()), np.float64, table.size).reshape(table.shape)


def _rounded_at(x: float, decimals: int, up: bool) -> float:
    return float(_at(decimal.Decimal(x), -decimals, up)[0]) if x and math.isfinite(x) else x


class _End(np.float64):
    """A float that is one end of what is proven, and is shown rounded outwards."""

    __slots__ = ()
    up: ClassVar[bool] = True

    def __format__(self, spec: str) -> str:
        return shown(float(self), spec, self.up) if spec else repr(self)

    def __repr__(self) -> str:
        return repr(float(self))

    __str__ = __repr__

    def __round__(self, digits: Any = None) -> Any:
        rounded = _rounded_at(float(self), int(digits or 0), self.up)
        return int(rounded) if digits is None else rounded

    def round(self, decimals: Any = 0, out: Any = None) -> Any:
        """The number with so many decimals, rounded outwards."""
        rounded = np.float64(_rounded_at(float(self), int(decimals), self.up))
        if out is None:
            return rounded
        out[...] = rounded
        return out

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (float(self),))


class UpperEnd(_End):
    """A float that is an upper bound."""

    __slots__ = ()


class LowerEnd(_End):
    """A float that is a lower bound."""

    __slots__ = ()
    up = False


class _Ends(np.ndarray[Any, np.dtype[np.float64]]):
    """An array of ends of what is proven, shown rounded outwards; what is computed from it is an ordinary array.

    Nobody writes into an array that has a grade; a `copy` has none and may be written.

    Attributes
    ----------
    grade : type or None
        `Exact` or `UpperBound`, for all entries.
    """

    up: ClassVar[bool] = True
    _of_one: ClassVar[type[_End]] = UpperEnd
    grade: Any

    def __array_finalize__(self, whole: Any) -> None:
        # Nobody knows what becomes of a new array: only entries that are taken out keep their grade.
        self.grade = None

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: Any = None, **options: Any) -> Any:
        if method == "at" and isinstance(inputs[0], _Ends) and not inputs[0].flags.writeable:
            # NumPy itself writes into it.
            raise ValueError("assignment destination is read-only: an array with a grade is not written into; copy it")
        if out is not None:
            options["out"] = tuple(map(_plain, out))
        return getattr(ufunc, method)(*map(_plain, inputs), **options)

    def __array_function__(self, function: Any, types: Any, arguments: Any, options: Any) -> Any:
        if function is np.array2string and arguments and isinstance(arguments[0], _Ends):
            named = {**dict(zip(("max_line_width", "precision"), arguments[1:3])), **options}
            printed = arguments[0]._printed(named.get("precision"))
            if len(arguments) > 3:
                raise TypeError("say more than the precision of a text by name")
            return np.array2string(printed, **{**named, "precision": 17})
        return _plain(super().__array_function__(function, types, arguments, options))

    def astype(self, *args: Any, **options: Any) -> Any:
        """The entries as numbers of another type: an ordinary array."""
        return _plain(self).astype(*args, **options)

    def dot(self, *args: Any, **options: Any) -> Any:
        """Sums of products: an ordinary array."""
        return _plain(self).dot(*args, **options)

    def _graded(self, grade: Any) -> Any:
        """The array with a grade, which it keeps as long as it lives."""
        self.grade = grade
        self.flags.writeable = self.flags.writeable and grade is None
        return self

    def __deepcopy__(self, memo: Any) -> Any:
        return self.copy()._graded(self.grade)

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        plain = np.asarray(array)
        return plain[()] if return_scalar or plain.ndim == 0 else plain

    def __getitem__(self, key: Any) -> Any:
        found = super().__getitem__(key)
        if np.ndim(found) == 0:
            return self._of_one(found)
        return found._graded(self.grade)

    def _kept(self, found: Any) -> Any:
        return self._of_one(found) if np.ndim(found) == 0 else np.asarray(found).view(type(self))

    def max(self, *args: Any, **options: Any) -> Any:
        """The largest entry, still an end of what is proven."""
        return self._kept(np.asarray(self).max(*args, **options))

    def min(self, *args: Any, **options: Any) -> Any:
        """The smallest entry, still an end of what is proven."""
        return self._kept(np.asarray(self).min(*args, **options))

    def round(self, decimals: Any = 0, out: Any = None) -> Any:
        """The entries with so many decimals, rounded outwards: an ordinary array."""
        plain = np.asarray(self)
        entries = [_rounded_at(float(x), int(decimals), self.up) for x in plain.ravel()]
        found = np.array(entries, np.float64).reshape(plain.shape)
        if out is None:
            return found
        out[...] = found
        return out

    def __repr__(self) -> str:
        return np.array_repr(self._printed(), precision=17)

    def __str__(self) -> str:
        return np.array_str(self._printed(), precision=17)

    def _printed(self, precision: Any = None) -> Any:
        """So many digits, or as many as NumPy shows, in an array that NumPy prints to the last of them."""
        digits = max(int(precision or np.get_printoptions()["precision"] or 8), 1)
        return _rounded(self, digits, self.up)

    def __reduce__(self) -> Any:
        reduced: Any = super().__reduce__()
        rebuild, arguments, state = reduced
        return rebuild, arguments, (state, self.grade)

    def __setstate__(self, state: Any) -> None:
        super().__setstate__(state[0])
        self._graded(state[1])


def _plain(found: Any) -> Any:
    """An ordinary array with the same entries, in place of an array of ends."""
    return np.asarray(found) if isinstance(found, _Ends) else found


class UpperEnds(_Ends):
    """An array of upper bounds."""


class LowerEnds(_Ends):
    """An array of lower bounds."""

    up = False
    _of_one = LowerEnd


def upper_ends(entries: Any, grade: Any = None) -> Any:
    """The same entries as upper bounds of a grade."""
    return np.asarray(entries).view(UpperEnds)._graded(grade)


def lower_ends(entries: Any) -> Any:
    """The same entries as lower bounds."""
    return np.asarray(entries).view(LowerEnds)
