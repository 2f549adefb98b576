"""Exact numbers and sensitivity sets, and what an account of a program answers beside the one question."""

from __future__ import annotations

import math
import operator
from collections.abc import Hashable, Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple, Protocol as _Structural

import numpy as np
from numpy.typing import NDArray

from . import _ndp
from ._account import Account, Who, _Asked
from ._checks import _count, _told
from ._grades import Guarantee
from ._ndp import NdpError
from ._rounded import LowerEnd

#: An exact number: an integer, a `fractions.Fraction`, a `decimal.Decimal`, a text ``"1/3"``, or a float as the fraction that it stores.
Number = Any

#: How a program is accounted for: bytes, bits, hidden reads, directions, the nodes that are asked about, whether messages may be lost.
Options = tuple[int | None, int | None, str, list[tuple[int, list[int | float | str]]], list[int] | None, bool]


def _number(x: Number) -> int | float | str:
    if isinstance(x, Decimal) and x.is_finite():
        x = Fraction(x)
    if isinstance(x, Fraction):
        return f"{x.numerator}/{x.denominator}"
    if isinstance(x, str):
        return x
    if np.iscomplexobj(x):
        raise NdpError(f"a weight is a real number, got {x!r}")
    try:
        whole = operator.index(x)
    except TypeError:
        return float(x)
    return whole if -(2**63) <= whole < 2**63 else f"{whole}/1"


def _table(rows: Iterable[Iterable[Number]]) -> list[list[int | float | str]]:
    return [[_number(x) for x in row] for row in rows]


class Sensitivity(NamedTuple):
    """What neighboring inputs are, when a node contributes several times.

    Parameters
    ----------
    kind : str
        ``"use_level"``: one use changes; ``"same_direction"``: all uses by the same vector of length at most 1; ``"signs"``: each by
        a number of size at most 1; ``"vectors"``: each by a vector of length at most 1 in ``dimension``; ``"along"``: use i by
        ``along[i]`` times one vector of length at most 1.
    along : sequence of float, optional
        For ``"along"``.
    dimension : int, optional
        For ``"vectors"``.
    period, gap, listed : optional
        Which uses can belong to one example: those a period apart, at least a gap apart, or lists of uses.
    bounds : sequence of float, optional
        Use i changes by at most ``bounds[i]`` times what the set allows.
    """

    kind: str = "use_level"
    along: Sequence[float] | None = None
    dimension: int | None = None
    period: int | None = None
    gap: int | None = None
    listed: Sequence[Sequence[int]] | None = None
    bounds: Sequence[float] | None = None

    def _native(self) -> dict[str, Any]:
        said = self._asdict()
        numbers = {name: _count(said[name], name) for name in ("dimension", "period", "gap") if said[name] is not None}
        return {"word": self.kind.replace("-", "_"), **said, **numbers}


def _sensitivity(chosen: str | Sensitivity) -> Sensitivity:
    found = Sensitivity(chosen) if isinstance(chosen, str) else chosen
    if not isinstance(found, Sensitivity) or not isinstance(found.kind, str):
        raise NdpError(f"a sensitivity is a word such as 'use_level', or a Sensitivity of one, got {_told(chosen)}")
    return found


def _fractions(terms: Iterable[tuple[int, str]]) -> dict[int, Fraction]:
    return {value: Fraction(weight) for value, weight in terms}


def _weighted(terms: Mapping[int, Number]) -> list[tuple[int, int | float | str]]:
    return [(value, _number(weight)) for value, weight in terms.items()]


class Verdict(NamedTuple):
    """What is proven about a node under a sensitivity set: a loss, or messages that show a change without noise.

    Losses are in units where sensitivity and noise are 1: ``mu`` is the root of ``loss`` times sensitivity over ``sigma``.
    """

    #: The loss with its grade, an infinite bound where a change may be seen without noise; None where one is.
    loss: Guarantee | None
    #: What is attained at least.
    lower: float
    #: Where the loss is infinite: how much every use changes.
    change: list[float] | None
    #: The messages that show this change and their weights; None where finding them exactly would take too long.
    combination: dict[int, Fraction] | None

    @property
    def noiseless(self) -> bool:
        """Whether some change is seen without noise, so that the loss is infinite."""
        return self.loss is None


class Attack(NamedTuple):
    """A combination of messages that tells a change of a node's uses from none; `Program.check_attack` says what it proves."""

    source: Hashable
    #: How the uses of the node change, one weight for each.
    change: list[Fraction]
    #: Values that the observer sees, and their weights.
    combination: dict[int, Fraction]


class NoiseShift(NamedTuple):
    """A shift of noises that looks like a change of a node's uses; `Program.check_shift` says what it proves."""

    source: Hashable
    #: How the uses of the node change, one weight for each.
    change: list[Fraction]
    #: Noises, and how far each is shifted.
    noises: dict[int, Fraction]


class Designed(NamedTuple):
    """Strengths of noises, and how good they are; made by `Program.design`."""

    #: The program with these strengths.
    program: Any
    #: What multiplies the variances of each group.
    strengths: list[float]
    #: The share of the noises in the mean squared error at sigma 1, and prices.
    cost: float
    #: No strengths within the limit and above the floors cost less than this, in floating point.
    lower_bound: float
    #: The largest ``mu**2``, or the mean, by the accounts of the program.
    loss: Guarantee
    #: What contributions were taken to depend on, by the account that rests on most.
    adaptivity: str
    #: Probability that one of the accounts is too small, at most.
    failure: float
    #: Steps taken.
    steps: int


class ProgramRun:
    """A run of a program on real values: ``run[value]`` is what that value was.

    Made by `Program.run`.
    """

    __slots__ = ("flat", "values")

    def __init__(self, values: NDArray[np.float64], flat: bool = False) -> None:
        #: All values by coordinates, in order of time.
        self.values = values
        self.flat = flat

    def __getitem__(self, value: int) -> Any:
        if not 0 <= operator.index(value) < len(self.values):
            raise NdpError(f"value {value} is not one of the {len(self.values)} of this run")
        row = self.values[value]
        return float(row[0]) if self.flat else row

    def __len__(self) -> int:
        return len(self.values)

    def __reduce__(self) -> tuple[Any, ...]:
        return (ProgramRun, (self.values, self.flat))

    def __repr__(self) -> str:
        return f"<ProgramRun of {len(self.values)} values>"


class _Stated(_Asked, _Structural):
    """A program, as its account sees it."""

    _program: _ndp.Program

    def _chosen(self) -> Sensitivity: ...

    def _options(self) -> Options: ...


class ProgramAccount(Account):
    """What one observer sees of a program; made by `Program.account`.

    Beside what every account answers it has verdicts under any sensitivity set, Gram matrices, and proofs that a third party can
    check.
    """

    __slots__ = ("_own",)

    def __init__(self, protocol: _Stated, who: Who) -> None:
        super().__init__(protocol, who)
        self._own: _ndp.ProgramAccount | None = None

    @property
    def _stated(self) -> _Stated:
        """The program as it was when it was asked."""
        stated: _Stated = self._kept
        return stated

    def _facts(self) -> _ndp.ProgramAccount:
        if self._own is None:
            self._own = _ndp.program_account(self._stated._program, self._who, self._stated._options())
        return self._own

    def __reduce__(self) -> tuple[Any, ...]:
        return (ProgramAccount, (self._kept, self._who))

    def verdict(self, node: Hashable, sensitivity: str | Sensitivity | None = None) -> Verdict:
        """What is proven about a node under a sensitivity set.

        Parameters
        ----------
        node : hashable
            The exposed node.
        sensitivity : str or Sensitivity, optional
            What neighboring inputs are; the program's by default.

        Returns
        -------
        Verdict

        Examples
        --------
        >>> import ndp
        >>> p = ndp.Program(2)
        >>> x = p.contribute(0, "nothing")
        >>> p.send(0, 1, p.combine({x: 3}))
        >>> found = p.account(observer=1).verdict(0)
        >>> found.noiseless, found.change, found.combination
        (True, [1.0], {1: Fraction(1, 1)})
        """
        chosen = self._stated._chosen() if sensitivity is None else _sensitivity(sensitivity)
        bounded, noiseless = self._facts().verdict(self.protocol._index(node), chosen._native())
        if bounded is not None:
            return Verdict(bounded[0], LowerEnd(bounded[1]), None, None)
        assert noiseless is not None
        change, terms = noiseless
        return Verdict(None, math.inf, change, None if terms is None else _fractions(terms))

    def gram(self, node: Hashable) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The Gram matrix of a node's uses: changes ``d`` of the uses are told apart with ``mu**2 = d @ gram @ d`` at noise 1.

        Parameters
        ----------
        node : hashable
            The exposed node.

        Returns
        -------
        tuple of numpy.ndarray
            The entries, and how far the truth may be from each.

        Examples
        --------
        >>> import ndp
        >>> p = ndp.programs.dsgd(([0, 1], [1, 2]), steps=3, sensitivity="same_direction")
        >>> gram, error = p.account(observer=2).gram(0)
        >>> round(float(gram.sum()), 6) == round(9 / 26, 6), bool(error.max() < 1e-9)
        (True, True)
        """
        return self._facts().gram(self.protocol._index(node))

    @property
    def rank(self) -> int:
        """Number of independent rows over what the observer does not know."""
        return self._facts().facts()[0]

    @property
    def bits(self) -> int:
        """Bits of the arithmetic: 53 is ``float``, more is fixed point, 0 says that none was needed."""
        return self._facts().facts()[1]

    @property
    def adaptivity(self) -> str:
        """What contributions were taken to depend on: ``"fixed"``, ``"checked"``, ``"assumed"``, ``"revealed"`` or ``"revealed and assumed"``."""
        return self._facts().facts()[3]

    def witnesses(self, node: Hashable, change: Iterable[Number] | None = None) -> tuple[Attack, NoiseShift]:
        """An attack on a change of a node's uses, and a shift of noises that looks like it: the loss lies between what they prove.

        Parameters
        ----------
        node : hashable
            The exposed node.
        change : iterable of numbers, optional
            How much each use changes; every use by 1 by default.

        Returns
        -------
        tuple
            Up to 160 messages both prove the same number, beyond perhaps numbers a little apart. Both are empty where nothing is learned.

        Raises
        ------
        NdpError
            Where the change is seen without noise, where the account shows the observer values that it does not have,
            and where exact numbers would be too long.

        Examples
        --------
        >>> import ndp
        >>> p = ndp.programs.decor(([0, 1, 2, 3, 4], [1, 2, 3, 4, 0]))
        >>> attack, shift = p.account(coalition=[]).witnesses(0)
        >>> p.check_attack(attack, coalition=[]), p.check_shift(shift, coalition=[])
        (Fraction(5, 11), Fraction(5, 11))
        """
        u = self.protocol._index(node)
        weights = [1] * self._stated._program.uses(u) if change is None else [_number(x) for x in change]
        found = self._facts().witnesses(u, weights)
        exact = [Fraction(x) for x in weights]
        return Attack(node, exact, _fractions(found[0])), NoiseShift(node, exact, _fractions(found[1]))
