"""What an observer can tell about a node: accounts and profiles."""

from __future__ import annotations

import math
import os
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, Literal, Protocol as _Structural

import numpy as np
from numpy.typing import NDArray

from . import _ndp
from ._draw import fields_html
from ._grades import Exact, Guarantee, UpperBound, number_of, scales_of
from ._losses import Noises, over_noises
from ._ndp import NdpError
from ._prove import Origin, prove
from ._rounded import UpperEnd, upper_ends
from ._statement import Statement, saying_of, statement_of, statement_of_runs

#: Who observes: members, whether they use their own noise, whether senders are hidden, which edges they overhear.
Who = tuple[list[int], bool, bool, list[tuple[int, int]]]


class Profile:
    """What an observer can tell about one node: a guarantee, in whatever terms it is asked for.

    Made by `Account.profile`, `Ledger.spent` and `Profile.compose`.
    """

    __slots__ = ("_native", "_recipe", "node")

    def __init__(self, native: _ndp.Profile, recipe: tuple[Any, ...], node: Hashable = None) -> None:
        self._native = native
        self._recipe = recipe
        #: The label of the exposed node.
        self.node = node

    @property
    def mu(self) -> Guarantee | None:
        """The Gaussian parameter, or None where the profile is not Gaussian."""
        return self._native.mu()

    def rdp(self, order: float) -> Guarantee:
        """Rényi loss in nats.

        Parameters
        ----------
        order : float
            Above 1.

        Returns
        -------
        Guarantee
        """
        return self._native.rdp(number_of(order, "order"))

    def epsilon(self, delta: float) -> Guarantee:
        """The ``epsilon`` at ``delta``, in nats.

        Parameters
        ----------
        delta : float
            Failure probability.

        Returns
        -------
        Guarantee
        """
        return self._native.epsilon(number_of(delta, "delta"))

    def delta(self, epsilon: float) -> Guarantee:
        """The ``delta`` at ``epsilon``.

        Parameters
        ----------
        epsilon : float
            In nats.

        Returns
        -------
        Guarantee
        """
        return self._native.delta(number_of(epsilon, "epsilon"))

    @property
    def against(self) -> str:
        """Against whom the guarantee holds."""
        return self._native.against()

    @property
    def neighbors(self) -> str:
        """Which data sets are neighbors; which data of a node may differ is said by `statement`."""
        return self._native.neighbors()

    @property
    def statement(self) -> Statement | None:
        """What is protected, from whom, under what, and by which theorem; None where parts were seen by different observers."""
        try:
            said, labels, only, by_seen = _said(self)
            return statement_of_runs(said, labels, only, chosen_by_seen=by_seen)
        except NdpError:
            return None

    @staticmethod
    def compose(parts: Iterable[Profile]) -> Profile:
        """The profile of several releases about the same data, with independent noises, chosen in advance.

        Parameters
        ----------
        parts : iterable of Profile
            What each costs; all of them about the same node.

        Returns
        -------
        Profile

        Raises
        ------
        NdpError
            For profiles of different nodes, or of different neighboring relations.

        Examples
        --------
        >>> import ndp
        >>> account = ndp.gossip(([0], [1]), rounds=1).account(observer=0)
        >>> ndp.Profile.compose([account.profile(1, sigma=2.5), account.profile(1, sigma=10 / 3)]).mu
        Exact(0.500001, 'mu')
        """
        kept = list(parts)
        if not kept:
            raise NdpError("there is nothing to compose: give at least one profile")
        node = kept[0].node
        other = next((part.node for part in kept if part.node != node), node)
        if other != node:
            raise NdpError(f"the profiles need to be about the same node, got {node!r} and {other!r}")
        return Profile(_ndp.compose_profiles([part._native for part in kept]), (Profile.compose, (kept,)), node)

    def to_dp_event(self) -> Any:
        """The profile as an event of ``dp_accounting``, where it is Gaussian."""
        from ._events import gaussian

        if self.mu is None:
            raise NdpError("only a Gaussian profile is an event of dp_accounting")
        return gaussian(float(self.mu))

    def __reduce__(self) -> tuple[Any, ...]:
        return self._recipe

    def __repr__(self) -> str:
        # How much of a node's data may differ is in the statement.
        return f"<Profile {self._native.words().removesuffix(' (data of one node replaced)')}>"

    def _repr_html_(self) -> str:
        said = self.statement
        return fields_html("Profile", {"node": self.node, "profile": self}) + ("" if said is None else said._repr_html_())


def whom(who: Who, nodes: Sequence[Hashable]) -> str:
    """Who observes, by labels: those that are texts are quoted."""
    members, uses_own_noise, senders_hidden, tapped = who
    names = [repr(nodes[v]) if isinstance(nodes[v], str) else str(nodes[v]) for v in members]
    listed = ", ".join(names[:8]) + (f" and {len(names) - 8} others" if len(names) > 8 else "")
    words = "an outsider" if not names else f"node {listed}" if len(names) == 1 else f"nodes {listed} together"
    words += "" if uses_own_noise else ", not using own noise"
    words += ", not knowing senders" if senders_hidden else ""
    return words + (f", overhearing {len(tapped)} edges" if tapped else "")


def _said(profile: Profile) -> tuple[list[_ndp.Saying], Sequence[Hashable], Sequence[int] | None, bool]:
    """What is said of a profile: for each run, the labels, which observer it is about, and whether runs were chosen by what was seen."""
    _, given = profile._recipe
    if isinstance(given[0], Account):
        return [saying_of([given[0]._native])], given[0].nodes, None, False
    if isinstance(given[0], list):
        parts = [_said(part) for part in given[0]]
        if any(only is not None or list(labels) != list(parts[0][1]) for _, labels, only, _ in parts):
            raise NdpError("the parts of this profile are statements about ledgers, or other nodes")
        return [said for runs, *_ in parts for said in runs], parts[0][1], None, False
    ledger, node, observer, runs = given
    labels: Sequence[Hashable] = ledger._labels
    return ledger._said[:runs], labels, ledger._pair(node, observer)[1], ledger._by_seen(runs)


def _profile(account: Account, node: Hashable, sigma: float, sensitivity: float) -> Profile:
    return account.profile(node, sigma, sensitivity)


def _made(protocol: _ndp.Protocol, who: Who, within: float | Literal["bound"] | None) -> _ndp.Account:
    if within is None or within == math.inf:
        return protocol.accounts([who])[0]
    return protocol.bound(who) if within == "bound" else protocol.account_within(who, within)


class _Asked(_Structural):
    """A protocol, as an account sees it."""

    words: str

    @property
    def nodes(self) -> Sequence[Hashable]: ...

    @property
    def _native(self) -> _ndp.Protocol: ...

    def _index(self, node: Hashable) -> int: ...

    def _kept(self) -> _Asked: ...


class Account:
    """What one observer sees of a protocol, ready to be asked about nodes and noises; made by `Protocol.account`."""

    __slots__ = ("_kept", "_native", "_origin", "_who", "_within", "protocol")

    def __init__(self, protocol: _Asked, who: Who, within: float | Literal["bound"] | None = None) -> None:
        self.protocol = protocol
        self._who = who
        # The seconds of each question, or that the bound alone is asked for: a pickle has the same.
        self._within = within
        self._native = _made(protocol._native, who, within)
        # Steps may be added to a program; all answers are about the one that was asked.
        self._kept: Any = protocol._kept()
        self._origin = Origin(self._kept)

    @property
    def nodes(self) -> Sequence[Hashable]:
        """The labels of the nodes, in the order of all arrays."""
        return self.protocol.nodes

    @property
    def failure(self) -> float:
        """Probability that the account is too small, over randomness of its own; at most."""
        return UpperEnd(self._native.failure())

    @property
    def notes(self) -> list[str]:
        """Where a bound stands for what the observer really sees, and why; empty where it does not.

        With ``patience`` a later question may be answered by the bound, too: it is said from then on.

        Examples
        --------
        >>> import ndp
        >>> ndp.gossip(([0, 1], [1, 2]), rounds=9).account(observer=0).notes
        []
        """
        return self._native.notes()

    @property
    def statement(self) -> Statement:
        """What is protected, from whom, under what, and by which theorem."""
        return statement_of([self._native], self.nodes)

    def profile(self, node: Hashable, sigma: float, sensitivity: float = 1.0) -> Profile:
        """What the observer can tell about a node at a noise.

        Parameters
        ----------
        node : hashable
            The exposed node.
        sigma : float
            Standard deviation of the noise; for reports by randomized response, one over their epsilon.
        sensitivity : float, optional
            How far the input of one node may move.

        Returns
        -------
        Profile
        """
        scales = scales_of(sigma, sensitivity)
        native = self._native.profile(self.protocol._index(node), *scales, whom(self._who, self.nodes))
        return Profile(native, (_profile, (self, node, *scales)), node)

    def mu(self, sigma: Noises, sensitivity: float = 1.0) -> NDArray[np.float64]:
        """Gaussian parameters of all nodes, rounded up; infinite for the observers themselves. The array has their ``grade``."""
        return self._table(sigma, sensitivity)

    def rdp(self, sigma: Noises, order: float, sensitivity: float = 1.0) -> NDArray[np.float64]:
        """Rényi losses of all nodes in nats, as in `mu`."""
        return self._table(sigma, sensitivity, order=number_of(order, "order"))

    def epsilon(self, sigma: Noises, delta: float, sensitivity: float = 1.0) -> NDArray[np.float64]:
        """The ``epsilon`` at ``delta`` of all nodes, as in `mu`."""
        return self._table(sigma, sensitivity, delta=number_of(delta, "delta"))

    def _table(self, sigma: Noises, sensitivity: float, **terms: float) -> NDArray[np.float64]:
        grades: set[str] = set()

        def one(noise: float) -> NDArray[np.float64]:
            losses, grade = self._native.table(noise, number_of(sensitivity, "sensitivity"), **terms)
            grades.add(grade)
            return losses

        values = over_noises(sigma, one)
        found: NDArray[np.float64] = upper_ends(values, Exact if grades == {"Exact"} else UpperBound)
        return found

    def prove(self, path: str | os.PathLike[str] | None = None, *, sources: Iterable[Hashable] | None = None) -> str:
        """A file that proves the losses to a stranger, as `Losses.prove`: for outsiders and those who tap edges, too.

        Parameters
        ----------
        path, sources
            As in `Losses.prove`.

        Returns
        -------
        str
            The text of the file; with a path its last line.

        Examples
        --------
        >>> import ndp
        >>> decor = ndp.programs.decor(([0, 1, 2, 3, 4], [1, 2, 3, 4, 0]))
        >>> decor.account(coalition=[]).prove().splitlines()[-1]
        '{"covers":"these-pairs","end":"proof","largest":"5/11","pairs":5}'
        """
        return prove(self._origin, [self._who], path, sources)

    def __reduce__(self) -> tuple[Any, ...]:
        return (Account, (self._kept, self._who, self._within))

    def _repr_html_(self) -> str:
        return self.statement._repr_html_()

    def __repr__(self) -> str:
        return f"<Account of {whom(self._who, self.nodes)}: {self.protocol.words}>"
