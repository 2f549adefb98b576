"""Protocol, weights and rounds for a target."""

from __future__ import annotations

import html
import json
from collections.abc import Callable, Hashable, Iterable
from typing import Any

from . import _ndp
from ._checks import Progress, _listed
from ._graph import Graph, GraphLike
from ._losses import Target, _frame
from ._ndp import NdpError
from ._protocols import Protocol, named, protocol
from ._rounded import digits_of
from ._rows import Rows, table_html
from ._statement import Statement, statements_html
from ._tools import _at_once, compare, notes_column, notes_html, notes_of

_NAMES = ("protocol", "weights", "parameters", "sigma", "error", "messages", "grade")


class Plan(Rows):
    """Protocols that meet a target, smallest error of the mean first; a row for each, as a dictionary. Made by `plan`.

    Attributes
    ----------
    rows : list of dict
        ``protocol``, ``weights``, ``parameters``; ``sigma``, the least noise; ``error``, how far the result is from the mean, a root mean
        square, at most (None where it is not known: such rows come last); ``messages``; ``grade`` and ``failure`` of the guarantee;
        ``source`` and ``observer``, the pair that needs the noise; ``notes``, where a bound stands for what observers really see, as in
        `Comparison`.
    why : list of str
        Why the first is first, what the next protocol costs, and what was not tried.
    searched : int
        How many combinations were tried: other rounds, weights or graphs may do better.
    unanswered : list of dict
        Those without an answer, each with its ``reason``.
    statement : Statement
        What is protected, from whom, by the first row.
    """

    __slots__ = ("_graph", "searched", "statement", "unanswered", "why")

    def __init__(
        self, rows: list[dict[str, Any]], why: list[str], unanswered: list[dict[str, Any]], statement: Statement, graph: Graph
    ) -> None:
        super().__init__(rows)
        self.why = why
        self.unanswered = unanswered
        self.searched = len(rows) + len(unanswered)
        self.statement = statement
        self._graph = graph

    def protocol(self, i: int = 0) -> Protocol:
        """The protocol of a row, ready to be asked.

        Parameters
        ----------
        i : int, optional
            Which row; the first by default.

        Returns
        -------
        Protocol
        """
        row = self.rows[i]
        return protocol(row["protocol"], self._graph, weights=row["weights"], **row["parameters"])

    def to_frame(self) -> Any:
        """A table with a row for each combination: pandas, or polars where pandas is not installed."""
        return _frame({**{name: [row[name] for row in self.rows] for name in _NAMES}, "notes": notes_column(self.rows)})

    def _cells(self) -> list[list[str]]:
        def cell(name: str, x: Any) -> str:
            if name == "parameters":
                return " ".join(f"{key}={value:g}" for key, value in x.items())
            return "-" if x is None else f"{x:.0f}" if name == "messages" else digits_of(x, 5) if isinstance(x, float) else str(x)

        return [[cell(name, row[name]) for name in _NAMES] for row in self.rows]

    def __repr__(self) -> str:
        table = [list(_NAMES), *self._cells()]
        widths = [max(len(row[i]) for row in table) for i in range(len(_NAMES))]
        lines = ["  ".join(x.rjust(width) for x, width in zip(row, widths)) for row in table]
        said = f"the first, {self.rows[0][_NAMES[0]]}: {self.statement.line}" if self.rows else self.statement.line
        return "\n".join([*lines, said, *notes_of(self.rows), "", *self.why])

    def _repr_html_(self) -> str:
        why = "".join(f"<p>{html.escape(sentence)}</p>" for sentence in self.why)
        return f"{table_html(_NAMES, self._cells())}{statements_html([self.statement])}{notes_html(self.rows)}{why}"


def plan(
    graph: GraphLike,
    worst: Target = None,
    *,
    mean: Target = None,
    pairs: Callable[[Hashable, Hashable], Any] | None = None,
    order: float | None = None,
    protocols: Iterable[str] | None = None,
    any_topology: bool = False,
    observers: Iterable[Hashable] | None = None,
    coalition_size: int | None = None,
    neighbors: int | None = None,
    sensitivity: float = 1.0,
    progress: Progress = False,
    patience: float | None = None,
    first: Callable[[Plan], object] | None = None,
) -> Plan:
    """Protocols, weights and rounds that meet a target on a graph, smallest error of the mean first, as the command ``ndp plan``.

    Parameters
    ----------
    graph : graph-like
        See `Graph`.
    worst, mean, pairs, order, sensitivity
        As in `least_noise`.
    protocols : iterable of str, optional
        Names of `ndp.protocols` to choose from; every protocol that finds a mean by default.
    any_topology : bool, optional
        Whether protocols are tried that bring connections of their own, whatever the edges.
    observers : iterable of hashable, optional
        Who observes, each alone, lists being coalitions; by default every node.
    coalition_size, neighbors : int, optional
        As in `least_noise`.
    progress : bool or callable, optional
        True for a line on standard error, or a function of the number of combinations done and of all.
    patience : float, optional
        As in `least_noise`, for all combinations together; reading the graph, its spectral gap, making the protocols and the errors of
        their results are on top of it.
    first : callable, optional
        As in `least_noise`.

    Returns
    -------
    Plan

    Raises
    ------
    NdpError
        Where no combination meets the target, with the reasons.

    Examples
    --------
    >>> import ndp
    >>> ring = ([0, 1, 2, 3, 4], [1, 2, 3, 4, 0])
    >>> found = ndp.plan(ring, worst=(1.0, 1e-5), protocols=["muffliato", "decor"], observers=[0])
    >>> found[0]["protocol"], round(found[0]["sigma"], 3)
    ('decor', 2.936)
    >>> found.why[0].partition(" Next")[0]
    'decor is first because its error is at most 1.31269, the smallest bound found.'
    """
    network = Graph(graph)
    who = None if observers is None else list(_listed(observers, "observers"))
    asked = None if protocols is None else list(protocols)
    _at_once(
        lambda: plan(
            network, worst, mean=mean, pairs=pairs, order=order, protocols=asked, any_topology=any_topology, observers=who,
            coalition_size=coalition_size, neighbors=neighbors, sensitivity=sensitivity, patience=0.0,
        ),
        first,
    )  # fmt: skip
    only = [str(name).replace("_", "-") for name in asked or []]
    tried, elsewhere = _ndp.combinations(network._native, only, bool(any_topology))
    candidates: list[dict[str, Any]] = [{"protocol": name, "weights": weights, "parameters": given} for name, weights, given in tried]
    # Nothing is made before its turn, and nothing is kept: many rounds on many nodes take much memory.
    made = {str(i): named(one["protocol"], network, one["parameters"], weights=one["weights"]) for i, one in enumerate(candidates)}
    table = compare(
        made, worst, mean=mean, pairs=pairs, order=order, observers=who, coalition_size=coalition_size, neighbors=neighbors,
        sensitivity=sensitivity, progress=progress, patience=patience,
    )  # fmt: skip
    rows = [(row, {**one, **{key: row.get(key) for key in _KEPT}}) for one, row in zip(candidates, table)]
    found = [(row["statement"], one) for row, one in rows if one["sigma"] is not None]
    unanswered = [{**one, "reason": row.get("reason")} for one, row in zip(candidates, table) if row.get("sigma") is None]
    if not found:
        reasons = "; ".join(dict.fromkeys(f"{row['protocol']}: {row['reason']}" for row in unanswered))
        more = "" if any_topology or only else "; any_topology=True tries those that bring their own connections"
        raise NdpError(f"no protocol meets the target on this graph: {reasons}{more}")
    best, why = _ndp.plan_order(
        [(one["protocol"], one["parameters"], one["error"], one["messages"], json.dumps(said.data["coverage"])) for said, one in found], elsewhere
    )
    return Plan([found[i][1] for i in best], why, unanswered, found[best[0]][0], network)


_KEPT = ("sigma", "error", "messages", "grade", "failure", "source", "observer", "notes")
