"""What is written once for every protocol: noise for a target, comparison, audit, ledger."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from . import _ndp
from ._account import Profile, Who, whom
from ._checks import Progress, _count, _listed, _reporter, _seed, _told
from ._draw import fields_html, plot_comparison
from ._grades import Estimate, Exact, Guarantee, UpperBound, number_of, scales_of, target_of
from ._graph import Graph, GraphLike
from ._losses import _CLASSES, Check, LeastNoise, Target, _frame, check_of, least_noise_of, limits_of, observer_of
from ._ndp import NdpError
from ._protocols import Protocol, audience_of, every_protocol, hearing_little, protocol_of
from ._rounded import UpperEnd, digits_of
from ._rows import Rows, table_html
from ._statement import Statement, names_of, saying_of, statement_of, statement_of_runs, statements_html


_Answer = TypeVar("_Answer")


def _accounts(protocol: Protocol, observers: Iterable[Hashable] | None) -> tuple[list[Who], list[_ndp.Account]]:
    who = protocol._observers(observers)
    return who, protocol._native.accounts(who)


#: The most nodes of which each is looked at where nobody is named.
_MOST_OF_ALL = 500


def _asked(
    protocol: Protocol,
    observers: Iterable[Hashable] | None,
    coalition_size: int | None,
    neighbors: int | None,
    worst: Target,
    mean: Target,
    most: int = _MOST_OF_ALL,
) -> tuple[_ndp.Audience, list[list[int]]]:
    """Whom a question is about, and the members of those who are looked at, where these are all."""
    if coalition_size is not None or neighbors is not None:
        if worst is None:
            told = "pairs= limits what one observer learns" if mean is None else "a mean may be larger towards smaller coalitions"
            raise NdpError(f"{told}: of every coalition of a size ask for the worst")
        found = audience_of(protocol, observers, coalition_size, neighbors)
        return found, found.looked_at() if found.is_listed() else []
    if observers is None and worst is not None and len(protocol.nodes) > most:
        return _ndp.Audience.chosen(len(protocol.nodes), hearing_little(protocol, 1)[0]), []
    who = protocol._observers(observers)
    return _ndp.Audience.named(who), [list(members) for members, *_ in who]


def _at_once(ask: Callable[[], _Answer], tell: Callable[[_Answer], object] | None) -> None:
    """Tells the answer that needs no patience, if somebody wants to hear it and there is one."""
    if tell is None:
        return
    try:
        answer = ask()
    except NdpError:
        return
    tell(answer)


def least_noise(
    protocol: Protocol,
    worst: Target = None,
    *,
    mean: Target = None,
    pairs: Callable[[Hashable, Hashable], Any] | None = None,
    order: float | None = None,
    observers: Iterable[Hashable] | None = None,
    coalition_size: int | None = None,
    neighbors: int | None = None,
    sensitivity: float = 1.0,
    progress: Progress = False,
    patience: float | None = None,
    first: Callable[[LeastNoise], object] | None = None,
) -> LeastNoise:
    """The least noise at which no node loses more than a target allows.

    Parameters
    ----------
    protocol : Protocol
        Any protocol of this package.
    worst : tuple or float, optional
        ``(epsilon, delta)`` for every pair; or a ``mu``; or, with ``order``, a Rényi loss in nats.
    mean : tuple or float, optional
        In place of ``worst``: for the losses of all nodes towards every observer, added up and divided by their number.
    pairs : callable, optional
        In place of ``worst``: a limit for each exposed node and observer, ``inf`` for none.
    order : float, optional
        Order of the Rényi loss.
    observers : iterable of hashable, optional
        Who observes, each alone, lists being coalitions; by default every node. Of more than 500 nodes one is looked at, and a bound
        covers the others, as the statement says: it is exact where that one learns as much as the bound. ``observers=protocol.nodes``
        looks at each.
    coalition_size : int, optional
        In place of it: every coalition of at most so many nodes. Where they are too many to look at each, a bound covers them.
    neighbors : int, optional
        In place of it: every coalition of at most so many neighbors of one and the same node, whichever it is; as ``coalition_size``.
    sensitivity : float, optional
        How far the input of one node may move.
    progress : bool or callable, optional
        As in `Protocol.all_losses`.
    patience : float, optional
        Seconds for what observers learn; 0 asks for what is proven at no cost. What is not known by then is answered by `Protocol.bound`,
        where the protocol has one, and ``notes`` say so. By default work is counted, about ten seconds on two cores, so that the answer is
        the same on every machine; ``math.inf`` takes as long as it takes. Making the protocol comes on top, in `compare` and `plan` also
        reading the graph, finding its spectral gap for the number of rounds, and the errors of the results.
    first : callable, optional
        Called with what is proven at no cost (the answer of ``patience=0``) before the answer is computed that is returned; not called
        where nothing is.

    Returns
    -------
    LeastNoise
        ``sigma``, at which the target was verified, the pair that needs it, and ``notes`` where a bound stands for what observers see.

    Examples
    --------
    >>> import ndp
    >>> found = ndp.least_noise(ndp.fresh_noise(([0, 1, 2], [1, 2, 3]), rounds=3), worst=(1.0, 1e-5))
    >>> round(found.sigma, 3), found.loss
    (3.731, Exact(1, 'epsilon', {'delta': 1e-05}))
    """
    protocol = protocol_of(protocol)
    who = None if observers is None else list(_listed(observers, "observers"))
    _at_once(
        lambda: least_noise(
            protocol, worst, mean=mean, pairs=pairs, order=order, observers=who, coalition_size=coalition_size,
            neighbors=neighbors, sensitivity=sensitivity, patience=0.0,
        ),
        first,
    )  # fmt: skip
    audience, members = _asked(protocol, who, coalition_size, neighbors, worst, mean)
    limits = limits_of(protocol.nodes, members, worst, mean, pairs, order)
    least, said, notes = _ndp.least_noise(
        protocol._native, audience, limits, names_of(protocol.nodes), number_of(sensitivity, "sensitivity"), _reporter(progress), patience
    )
    return least_noise_of(protocol.nodes, least, limits, Statement(*said), notes)


def check(
    protocol: Protocol,
    sigma: float,
    worst: Target = None,
    *,
    mean: Target = None,
    pairs: Callable[[Hashable, Hashable], Any] | None = None,
    order: float | None = None,
    observers: Iterable[Hashable] | None = None,
    coalition_size: int | None = None,
    neighbors: int | None = None,
    sensitivity: float = 1.0,
    progress: Progress = False,
    patience: float | None = None,
    first: Callable[[Check], object] | None = None,
) -> Check:
    """Whether no node loses more than a target allows at a noise.

    Parameters
    ----------
    protocol : Protocol
        Any protocol of this package.
    sigma : float
        Standard deviation of the noise.
    worst, mean, pairs, order, observers, coalition_size, neighbors, sensitivity, progress, patience, first
        As in `least_noise`.

    Returns
    -------
    Check
        True in a condition where the target is met; otherwise ``verdict`` says whether it is violated, or not shown. It is about the
        observers asked about: of others nothing is said. ``notes`` as in `least_noise`.

    Examples
    --------
    >>> import ndp
    >>> p = ndp.gossip(([0, 1, 2], [1, 2, 3]), rounds=3)
    >>> bool(ndp.check(p, 4.0, worst=(1.0, 1e-5))), ndp.check(p, 3.0, worst=(1.0, 1e-5)).verdict
    (True, 'violated')
    """
    protocol = protocol_of(protocol)
    who = None if observers is None else list(_listed(observers, "observers"))
    _at_once(
        lambda: check(
            protocol, sigma, worst, mean=mean, pairs=pairs, order=order, observers=who, coalition_size=coalition_size,
            neighbors=neighbors, sensitivity=sensitivity, patience=0.0,
        ),
        first,
    )  # fmt: skip
    audience, members = _asked(protocol, who, coalition_size, neighbors, worst, mean)
    limits, scales = limits_of(protocol.nodes, members, worst, mean, pairs, order), scales_of(sigma, sensitivity)
    asked = (protocol._native, audience, limits, names_of(protocol.nodes), *scales)
    found, said, notes = _ndp.check_noise(*asked, _reporter(progress), patience)
    return check_of(protocol.nodes, found, limits, Statement(*said), notes)


class Audit(NamedTuple):
    """What an attack on simulated runs found, beside what the protocol's accountant allows."""

    #: The largest ``mu`` that the attack may show if the account holds.
    allowed_mu: Guarantee
    #: The false positive rate for which `allowed_mu` holds alone, as it is no guarantee for other tests; None where the view is
    #: Gaussian, for which it holds for all tests.
    allowed_at: float | None
    #: A lower bound on ``mu`` that holds with the confidence asked for.
    measured_mu: Estimate
    false_positives: float
    true_positives: float
    pair: tuple[Hashable, Hashable]
    #: What the accountant's number is about: what is protected, from whom, under what, by which theorem.
    statement: Statement

    def _repr_html_(self) -> str:
        return fields_html("Audit", {**self._asdict(), "statement": self.statement.paragraph})

    @property
    def refuted(self) -> bool:
        """Whether the runs leak more than the accountant allows."""
        return bool(self.measured_mu.value > float(self.allowed_mu))


def audit(
    protocol: Protocol,
    pair: tuple[Hashable, Hashable],
    *,
    sigma: float = 1.0,
    sensitivity: float = 1.0,
    runs: int = 100_000,
    error_rate: float = 1e-3,
    seed: int = 0,
    progress: Progress = False,
) -> Audit:
    """Attacks simulated runs: how well does an observer tell two inputs of a node apart?

    Parameters
    ----------
    protocol : Protocol
        Any protocol of this package that can be run.
    pair : tuple
        The exposed node and the observer; in place of the observer, a list of colluders.
    sigma, sensitivity : float, optional
        The noise, and the distance of the two inputs.
    runs : int, optional
        Runs that are counted, with each input.
    error_rate : float, optional
        Probability that the measured lower bound exceeds the truth.
    seed : int, optional
        The same seed gives the same audit.
    progress : bool or callable, optional
        True for a line on standard error, or a function of the number of parts done and of all.

    Returns
    -------
    Audit
        ``measured_mu`` never exceeds a true guarantee but with probability ``error_rate``.

    Examples
    --------
    >>> import ndp
    >>> found = ndp.audit(ndp.gossip(([0, 1], [1, 2]), rounds=2), pair=(0, 2), runs=20_000)
    >>> found.allowed_mu, bool(0.85 < found.measured_mu.value < 1.0), found.refuted
    (Exact(1, 'mu'), True, False)
    """
    protocol, (source, observer) = protocol_of(protocol), pair
    who = protocol._who(None, observer) if isinstance(observer, list) else protocol._who(observer)
    u, count = protocol._index(source), _count(runs, "runs")
    allowed, grade, allowed_at, measured, false, true = protocol._native.audit(
        who, u, number_of(sensitivity, "sensitivity"), number_of(sigma, "sigma"), count, number_of(error_rate, "error_rate"), _seed(seed), _reporter(progress, "parts")
    )
    at = "" if allowed_at is None else f", shown with {allowed_at:.4g} false positives"
    allowed_mu = _CLASSES[grade](allowed, f"mu{at}")
    said = statement_of(protocol._native.accounts([who]), protocol.nodes)
    return Audit(allowed_mu, allowed_at, Estimate(measured, "mu"), false, true, pair, said)


def notes_of(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """Each note of the rows once, after the protocols that it is about."""
    protocols: dict[str, dict[str, None]] = {}
    for row in rows:
        for note in row.get("notes") or ():
            protocols.setdefault(note, {})[str(row["protocol"])] = None
    return [f"{', '.join(names)}: {note}" for note, names in protocols.items()]


def notes_html(rows: Iterable[Mapping[str, Any]]) -> str:
    """The same, below a table."""
    import html

    return "".join(f"<p>{html.escape(note)}</p>" for note in notes_of(rows))


def notes_column(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """The notes of each row as one text, empty where it has none."""
    return ["; ".join(row.get("notes") or ()) for row in rows]


class Comparison(Rows):
    """Protocols side by side at the same guarantee; a row for each, as a dictionary.

    ``sigma`` is the least noise, ``error`` the root mean square error of the result at that noise (at most), ``messages`` those of
    a run; where there is no number, ``reason`` says why. ``statement`` of a row says what its noise keeps, from whom, under what, and
    ``notes`` where a bound stands for what observers really see: a grade of ``exact`` beside them means that no less noise is enough,
    because of one observer at least.

    Attributes
    ----------
    statement : Statement or None
        What holds for every row: of all that their statements take for granted, everything. None where rows are about different
        neighboring data sets, or where none has a number.
    """

    __slots__ = ("asked", "statement")

    def __init__(self, rows: list[dict[str, Any]], asked: dict[str, Any] | None = None, statement: Statement | None = None) -> None:
        super().__init__(rows)
        self.statement = statement
        #: What all rows answer: nodes, places of the observers, limits and their terms, sensitivity; None where it is not known.
        self.asked = asked

    def to_frame(self) -> Any:
        """A table with a row for each protocol: pandas, or polars where pandas is not installed."""
        names = ("protocol", "sigma", "error", "messages", "grade", "reason")
        return _frame({**{name: [row.get(name) for row in self.rows] for name in names}, "notes": notes_column(self.rows)})

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """The error of every protocol at the same guarantee, with matplotlib.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw.
        **options
            Passed to ``ax.barh``.

        Returns
        -------
        matplotlib.axes.Axes
        """
        return plot_comparison(self.rows, ax, options)

    def __repr__(self) -> str:
        lines = [f"{'protocol':<24} {'sigma':>11} {'error':>11} {'messages':>11}  grade"]
        for row in self.rows:
            numbers = [f"{digits_of(row[k], 5):>11}" if row.get(k) is not None else f"{'-':>11}" for k in ("sigma", "error", "messages")]
            tail = row.get("reason") or row.get("grade") or ""
            lines.append(f"{row['protocol']:<24} {' '.join(numbers)}  {tail}")
        if self.statement is not None:
            lines.append(self.statement.line)
        return "\n".join([*lines, *notes_of(self.rows)])

    def _repr_html_(self) -> str:
        names = ("protocol", "sigma", "error", "messages", "grade", "reason")

        def cell(x: Any) -> str:
            return "" if x is None else digits_of(x, 5) if isinstance(x, float) else str(x)

        table = table_html(names, ([cell(row.get(name)) for name in names] for row in self.rows))
        said = [row.get("statement") for row in self.rows] if self.statement is None else [self.statement]
        return f"{table}{statements_html(said)}{notes_html(self.rows)}"


def compare(
    protocols: GraphLike | Mapping[str, Protocol],
    worst: Target = None,
    *,
    mean: Target = None,
    pairs: Callable[[Hashable, Hashable], Any] | None = None,
    order: float | None = None,
    observers: Iterable[Hashable] | None = None,
    coalition_size: int | None = None,
    neighbors: int | None = None,
    sensitivity: float = 1.0,
    progress: Progress = False,
    patience: float | None = None,
    first: Callable[[Comparison], object] | None = None,
) -> Comparison:
    """Protocols side by side at the same guarantee: the noise each needs, the error it leaves, the messages it sends.

    Parameters
    ----------
    protocols : mapping or graph-like
        Protocols by name, all on the same nodes; or a graph, on which every protocol of this package is compared.
    worst, mean, pairs, order, observers, coalition_size, neighbors, sensitivity
        As in `least_noise`; neighbors are those of the graph of the first protocol, and by default every node is looked at.
    progress : bool or callable, optional
        True for a line on standard error, or a function of the number of protocols done and of all.
    patience : float, optional
        As in `least_noise`, for all protocols together; reading the graph, making the protocols, and the errors of their results are
        on top of it.
    first : callable, optional
        As in `least_noise`.

    Returns
    -------
    Comparison
        A protocol without an answer keeps its row, with the reason.

    Examples
    --------
    >>> import ndp
    >>> G = ndp.Graph(([0, 1, 2], [1, 2, 3]))
    >>> table = ndp.compare({"once": ndp.gossip(G, 3), "fresh": ndp.fresh_noise(G, 3)}, worst=(1.0, 1e-5))
    >>> [(row["protocol"], row["grade"]) for row in table]
    [('once', 'exact'), ('fresh', 'exact')]
    """
    if not isinstance(protocols, Mapping):
        protocols = every_protocol(protocols)
    # A text says why there is no such protocol.
    named = {name: one if isinstance(one, str) else protocol_of(one) for name, one in protocols.items()}
    who = None if observers is None else list(_listed(observers, "observers"))
    _at_once(
        lambda: compare(
            named, worst, mean=mean, pairs=pairs, order=order, observers=who, coalition_size=coalition_size, neighbors=neighbors,
            sensitivity=sensitivity, patience=0.0,
        ),
        first,
    )  # fmt: skip
    one = next((protocol for protocol in named.values() if not isinstance(protocol, str)), None)
    if one is None:
        raise NdpError("the number of protocols must be at least 1, got 0")
    labels = list(one.nodes)
    for name, protocol in named.items():
        if not isinstance(protocol, str) and list(protocol.nodes) != labels:
            raise NdpError(f"the protocols need the same nodes in the same order: those of {name!r} differ")
    audience, members = _asked(one, who, coalition_size, neighbors, worst, mean, most=len(labels))
    limits = limits_of(labels, members, worst, mean, pairs, order)
    # Each is made when its turn comes, so that they are not all in memory together.
    asked = [(name, protocol if isinstance(protocol, str) else protocol._made()) for name, protocol in named.items()]
    rows: list[dict[str, Any]] = []
    tell = _reporter(progress, "protocols")
    found, of_all = _ndp.compare(asked, audience, limits, names_of(labels), number_of(sensitivity, "sensitivity"), tell, patience)
    for row in found:
        if row.get("statement") is not None:
            row["statement"] = Statement(*row["statement"])
        if not row.get("notes"):
            row.pop("notes", None)
        pair = row.pop("pair", None)
        if pair is not None:
            row["source"], row["observer"] = labels[pair[0]], observer_of(labels, pair[1])
        if row.get("grade") is not None:
            row["grade"] = _CLASSES[row["grade"]].name
        for name in ("sigma", "error", "messages", "grade"):
            row.setdefault(name, None)
        for name in ("sigma", "error", "failure"):
            if row.get(name) is not None:
                row[name] = UpperEnd(row[name])
        rows.append(row)
    table, for_means, at_order, at_delta = limits
    terms = {"limits": table.tolist(), "mean": for_means, "order": at_order, "delta": at_delta, "sensitivity": number_of(sensitivity, "sensitivity")}
    said = None if of_all is None else Statement(*of_all)
    # What a bound covers has no list of observers, by which others could ask the same.
    return Comparison(rows, {"nodes": labels, "observers": members, **terms} if members else None, said)


class Ledger:
    """What several runs over the same data have cost every pair together, and what is left of a limit.

    Nodes are told apart by their labels: protocols that have the same nodes in another order are added up by label, and a run over
    other nodes is refused. Every run is recorded for the observers of the first, so that no answer leaves out a run.

    Parameters
    ----------
    limit : tuple or float, optional
        ``(epsilon, delta)`` for all runs together; or a ``mu``; or, with ``order``, a Rényi loss in nats. Fixed before the first run.
    order : float, optional
        Order of the Rényi loss.
    odometer : tuple, optional
        In place of a limit, ``(rho, delta)``, fixed before the first run: `spent` is then a guarantee at this ``delta`` whenever one
        stops, also because of what was seen. ``rho`` is best near the sum of the squares of ``mu`` at which one expects to stop.

    Examples
    --------
    >>> import ndp
    >>> p = ndp.gossip(([0, 1, 2], [1, 2, 3]), rounds=3)
    >>> ledger = ndp.Ledger(limit=(2.5, 1e-5))
    >>> ledger.fits(p, sigma=2.0)
    True
    >>> ledger.record(p, sigma=2.0)
    >>> ledger.fits(p, sigma=2.0), ledger.verdict
    (False, 'met')
    >>> ledger.spent(1, observer=0).mu
    Exact(0.5, 'mu')
    """

    __slots__ = ("_asked", "_labels", "_native", "_places", "_records", "_said")

    def __init__(
        self, limit: Target = None, order: float | None = None, odometer: tuple[float, float] | None = None
    ) -> None:
        self._asked = (limit, order, odometer)
        self._records: list[tuple[Any, ...]] = []
        # What the accounts of each run say of themselves.
        self._said: list[_ndp.Saying] = []
        self._labels: Sequence[Hashable] = ()
        self._places: dict[Hashable, int] = {}
        asked = None if order is None else number_of(order, "order")
        if odometer is not None:
            if limit is not None or order is not None:
                raise NdpError("give a limit or an odometer, not both")
            try:
                rho, delta = odometer
            except (TypeError, ValueError):
                raise NdpError(f"an odometer is (rho, delta), got {_told(odometer)}") from None
            # A list could be changed later.
            self._asked = (limit, order, (rho, delta))
            self._native = _ndp.Ledger(None, None, number_of(delta, "delta"), number_of(rho, "rho"))
        elif limit is None:
            self._native = _ndp.Ledger()
        elif isinstance(limit, tuple):
            epsilon, delta = target_of(limit)
            self._native = _ndp.Ledger(epsilon, asked, delta)
        else:
            self._native = _ndp.Ledger(number_of(limit, "mu" if asked is None else "Rényi loss", asked), asked, None)

    @property
    def limit(self) -> Target:
        """The limit, fixed before the first run."""
        return self._asked[0]

    @property
    def order(self) -> float | None:
        """The order of the limit."""
        return self._asked[1]

    @property
    def odometer(self) -> tuple[float, float] | None:
        """The odometer, fixed before the first run."""
        return self._asked[2]

    def record(
        self,
        protocol: Protocol,
        sigma: float,
        *,
        name: str | None = None,
        observers: Iterable[Hashable] | None = None,
        sensitivity: float = 1.0,
        adaptivity: str = "fixed",
    ) -> None:
        """Writes down a run that took place, also one that breaks the limit.

        Parameters
        ----------
        protocol : Protocol
            What was run.
        sigma : float
            Standard deviation of its noise.
        name : str, optional
            What it is called.
        observers : iterable of hashable, optional
            As in `least_noise`; the same in every run.
        sensitivity : float, optional
            How far the input of one node may move.
        adaptivity : str, optional
            On what the run may have depended: ``"fixed"`` before the first run, that it takes place included; or ``"on_seen"``, what
            every one of the observers saw. ``"on_hidden"`` is refused: no sum covers it.
        """
        scales = scales_of(sigma, sensitivity)
        places = self._where(protocol)
        who, accounts = _accounts(protocol, observers)
        self._write(protocol, name or protocol.words, who, accounts, scales, adaptivity, places)

    def _where(self, protocol: Protocol) -> list[int] | None:
        """Where the nodes of a protocol are among those of the first run; None where they are the same in the same order."""
        nodes = protocol_of(protocol).nodes
        if not self._records or nodes is self._labels or nodes == self._labels:
            return None
        unknown = next((label for label in nodes if label not in self._places), None)
        if len(nodes) != len(self._labels) or unknown is not None:
            here = set(nodes)
            missing = next((label for label in self._labels if label not in here), None)
            sizes = f"the run and the ledger are about different nodes, {len(nodes)} and {len(self._labels)}"
            lacks = [] if missing is None else [f"the run has no node {missing!r}"]
            lacks += [] if unknown is None else [f"the ledger has no node {unknown!r}"]
            raise NdpError(f"{sizes}: {', and '.join(lacks)}")
        return [self._places[label] for label in nodes]

    def _write(
        self,
        protocol: Protocol,
        name: str,
        who: list[Who],
        accounts: list[_ndp.Account],
        scales: tuple[float, float],
        adaptivity: str,
        places: list[int] | None,
    ) -> None:
        self._native.record(name, accounts, *scales, adaptivity, places)
        if not self._records:
            self._labels = protocol.nodes
            self._places = {label: i for i, label in enumerate(self._labels)}
        # Steps that are added to a program later are no part of the run.
        self._records.append((protocol._kept(), name, who, scales, adaptivity))
        self._said.append(saying_of(accounts, places))

    def fits(
        self,
        protocol: Protocol,
        sigma: float,
        *,
        observers: Iterable[Hashable] | None = None,
        sensitivity: float = 1.0,
        adaptivity: str = "fixed",
    ) -> bool:
        """Whether a run stays within the limit for every pair, asked before the run.

        Runs that were chosen by what was seen keep the limit where this was asked before each, and no run made that did not fit.

        Parameters
        ----------
        protocol, sigma, observers, sensitivity, adaptivity
            As in `record`.

        Returns
        -------
        bool
        """
        scales = scales_of(sigma, sensitivity)
        places = self._where(protocol)
        _, accounts = _accounts(protocol, observers)
        return self._native.fits(accounts, *scales, adaptivity, places)

    @property
    def verdict(self) -> str:
        """Whether all pairs stay within the limit: ``"met"``, ``"not shown"`` or ``"violated"``."""
        return self._native.verdict()

    @property
    def statement(self) -> Statement | None:
        """What is protected, from whom, under what, and by which theorems, of all runs together; None before the first run."""
        if not self._said:
            return None
        return statement_of_runs(self._said, self._labels, chosen_by_seen=self._by_seen(len(self._said)))

    def _by_seen(self, runs: int) -> bool:
        """Whether so many of the first runs were chosen, or may be ended, by what was seen."""
        return self.odometer is not None or any(record[-1] != "fixed" for record in self._records[:runs])

    @property
    def failure(self) -> float:
        """Probability that any of the accounts is too small, over randomness of their own, all runs and observers together; at most."""
        return self._native.failure()

    def _pair(self, node: Hashable, observer: Hashable) -> tuple[int, list[int]]:
        if not self._records:
            raise NdpError("no run was recorded")
        protocol = self._records[0][0]
        members = observer if isinstance(observer, list) else [observer]
        return protocol._index(node), sorted(protocol._index(v) for v in members)

    def spent(self, node: Hashable, observer: Hashable) -> Profile:
        """What an observer has been able to tell about a node, over all runs.

        Of runs fixed in advance their composition. Of runs chosen by what was seen the limit, as long as it is kept, or what the
        odometer says; without either there is no guarantee, and an error: who stops when the outputs say most has learned more than
        the sum says.

        Parameters
        ----------
        node : hashable
            The exposed node.
        observer : hashable
            The observer, or a list of colluders.

        Returns
        -------
        Profile
        """
        place, members = self._pair(node, observer)
        native = self._native.spent(place, members, whom((members, True, False, []), self._labels))
        # Runs that are recorded later are none of its.
        return Profile(native, (_spent, (self, node, observer, len(self._records))), node)

    def remaining(self, node: Hashable, observer: Hashable) -> UpperBound:
        """What is left of the limit for a pair, in its terms, for a run chosen in advance.

        A run that costs as much at most fits where the limit is one of ``mu``, or of a Rényi loss at an order; of an
        ``(epsilon, delta)`` this is said of a Gaussian run alone: `fits` asks about any.

        Parameters
        ----------
        node, observer
            As in `spent`.

        Returns
        -------
        UpperBound
        """
        return self._native.remaining(*self._pair(node, observer))

    def pairs(self) -> list[tuple[Hashable, list[Hashable]]]:
        """The pairs that have something recorded: the exposed node, and the members of the observer."""
        labels = self._records[0][0].nodes if self._records else []
        return [(labels[u], [labels[v] for v in members]) for u, members in self._native.pairs()]

    def to_frame(self, delta: float) -> Any:
        """A table of all pairs: what was spent, as an ``epsilon`` at ``delta``; pandas, or polars where pandas is not installed.

        Parameters
        ----------
        delta : float
            Failure probability.
        """
        rows = []
        for node, members in self.pairs():
            observers: Any = members
            spent = self.spent(node, observers).epsilon(delta)
            observer = members[0] if len(members) == 1 else tuple(members)
            rows.append({"node": node, "observer": observer, "epsilon": float(spent), "grade": spent.grade.name})
        return _frame({name: [row[name] for row in rows] for name in ("node", "observer", "epsilon", "grade")})

    @property
    def runs(self) -> list[str]:
        """The names of the runs so far."""
        return [name for _, name, *_ in self._records]

    def __reduce__(self) -> tuple[Any, ...]:
        return (_ledger, (self.limit, self.order, self.odometer, self._records))

    def __repr__(self) -> str:
        budget = f"limit {self.limit!r}" if self.odometer is None else f"odometer {self.odometer!r}"
        said = self.statement
        return f"<Ledger of {len(self._records)} runs, {budget}{'' if said is None else f'; {said.line}'}>"

    def _repr_html_(self) -> str:
        import html

        fields = {"runs": self.runs, "limit": self.limit, "odometer": self.odometer}
        rows = "".join(f"<tr><th>{name}</th><td>{html.escape(repr(x))}</td></tr>" for name, x in fields.items())
        return f"<table><tbody>{rows}</tbody></table>{statements_html([self.statement])}"


def _ledger(
    limit: Target, order: float | None, odometer: tuple[float, float] | None, records: list[tuple[Any, ...]]
) -> Ledger:
    ledger = Ledger(limit, order, odometer)
    for protocol, name, who, scales, adaptivity in records:
        accounts = protocol._native.accounts(who)
        ledger._write(protocol, name, who, accounts, scales, adaptivity, ledger._where(protocol))
    return ledger


def _spent(ledger: Ledger, node: Hashable, observer: Hashable, runs: int) -> Profile:
    first = ledger if runs == len(ledger._records) else _ledger(ledger.limit, ledger.order, ledger.odometer, ledger._records[:runs])
    return first.spent(node, observer)
