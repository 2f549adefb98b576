"""Many questions in one call: graphs, rounds and noises."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any

import numpy as np

from ._checks import Progress, _listed, _reporter, _rounds
from ._grades import Exact, Guarantee, UpperBound, number_of
from ._graph import GraphLike
from ._losses import Noises, _frame, noises_of
from ._ndp import NdpError
from ._protocols import Protocol, gossip
from ._rows import Rows, table_html
from ._statement import Statement, statement_of, statements_html

_NAMES = ("graph", "rounds", "sigma", "delta", "epsilon", "grade", "node", "observer", "observers", "nodes")


class Sweep(Rows):
    """A row, as a dictionary, for each graph, number of rounds and noise; made by `sweep`.

    ``epsilon`` is the largest loss, a guarantee of the grade beside it, for the ``observers`` that were looked at, each alone, out of
    ``nodes`` nodes; ``node`` and ``observer`` say where it is, ``statement`` what is protected, from whom, under what.
    """

    __slots__ = ()

    @property
    def statements(self) -> list[Statement]:
        """What is said beside the rows, each once."""
        return list(dict.fromkeys(row["statement"] for row in self.rows))

    def _cells(self) -> list[list[str]]:
        def cell(x: Any) -> str:
            # The loss holds at this noise and delta: a noise that is shown rounded down would promise too much.
            return f"{x:.5g}" if isinstance(x, Guarantee) else str(x)

        return [[cell(row[name]) for name in _NAMES] for row in self.rows]

    def to_frame(self) -> Any:
        """A table with a row for each question: pandas, or polars where pandas is not installed."""
        columns = {name: [row[name] for row in self.rows] for name in _NAMES}
        columns["epsilon"] = [float(x) for x in columns["epsilon"]]
        return _frame(columns)

    def __repr__(self) -> str:
        table = [list(_NAMES), *self._cells()]
        widths = [max(11, *map(len, column)) for column in zip(*table)]
        rows = ["  ".join(f"{x:>{width}}" for x, width in zip(row, widths)) for row in table]
        return "\n".join([*rows, *dict.fromkeys(said.line for said in self.statements)])

    def _repr_html_(self) -> str:
        return f"{table_html(_NAMES, self._cells())}{statements_html(self.statements)}"


def sweep(
    graphs: GraphLike | Mapping[str, GraphLike],
    rounds: int | Iterable[int],
    sigma: Noises,
    *,
    delta: float = 1e-5,
    protocol: Callable[[Any, int], Protocol] = gossip,
    observers: Iterable[Hashable] | None = None,
    sensitivity: float = 1.0,
    progress: Progress = False,
) -> Sweep:
    """The largest loss for each graph, number of rounds and noise.

    Parameters
    ----------
    graphs : graph-like or mapping
        A graph, or graphs by name.
    rounds : int or iterable of int
        Numbers of rounds.
    sigma : float or array_like
        Standard deviations of the noise.
    delta : float, optional
        Failure probability at which the ``epsilon`` holds.
    protocol : callable, optional
        A function of a graph and a number of rounds that makes the protocol; `gossip` by default.
    observers : iterable of hashable, optional
        Who observes, each alone, lists being coalitions; by default every node of each graph.
    sensitivity : float, optional
        How far the input of one node may move.
    progress : bool or callable, optional
        True for a line on standard error, or a function of the number of protocols done and of all.

    Returns
    -------
    Sweep

    Examples
    --------
    >>> import ndp
    >>> path = ([0, 1, 2], [1, 2, 3])
    >>> [(row["rounds"], row["sigma"], row["epsilon"]) for row in ndp.sweep(path, rounds=[1, 2], sigma=[4.0])]
    [(1, 4.0, Exact(0.926342, 'epsilon', {'delta': 1e-05})), (2, 4.0, Exact(0.926342, 'epsilon', {'delta': 1e-05}))]
    """
    named: Mapping[str, Any] = graphs if isinstance(graphs, Mapping) else {"graph": graphs}
    counts = [_rounds(count) for count in (list(rounds) if isinstance(rounds, Iterable) else [rounds])]
    noises = [float(noise) for noise in noises_of(sigma).ravel()]
    chosen = None if observers is None else list(_listed(observers, "observers"))
    if not (named and counts and noises):
        raise NdpError("a sweep needs at least one graph, one number of rounds and one noise")
    tell = _reporter(progress, "protocols")
    rows: list[dict[str, Any]] = []
    for i, (name, graph) in enumerate(named.items()):
        for j, count in enumerate(counts):
            if tell is not None:
                tell(i * len(counts) + j, len(named) * len(counts))
            made = protocol(graph, count)
            who = made._observers(chosen)
            accounts = made._native.accounts(who)
            said = statement_of(accounts, made.nodes)
            for noise in noises:
                worst = _worst(made, who, accounts, noise, number_of(sensitivity, "sensitivity"), number_of(delta, "delta"))
                rows.append({"graph": name, "rounds": count, **worst, "statement": said})
    if tell is not None:
        tell(len(named) * len(counts), len(named) * len(counts))
    return Sweep(rows)


def _worst(made: Protocol, who: Any, accounts: Any, noise: float, scale: float, delta: float) -> dict[str, Any]:
    most, kind = -1.0, "Exact"
    at: tuple[Hashable, Any] | None = None
    for (members, *_), account in zip(who, accounts, strict=True):
        losses, grade = account.table(noise, scale, delta=delta)
        kind = kind if grade == "Exact" else "UpperBound"
        outside = np.delete(np.arange(len(losses)), members)
        if len(outside) and losses[outside].max() > most:
            u = int(outside[np.argmax(losses[outside])])
            labels = tuple(made.nodes[v] for v in members)
            most, at = float(losses[u]), (made.nodes[u], labels[0] if len(labels) == 1 else labels)
    if at is None:
        raise NdpError("there is nobody outside the observers about whom anything could be learned")
    grade_of = Exact if kind == "Exact" else UpperBound
    return {
        "sigma": noise, "delta": delta, "epsilon": grade_of(most, "epsilon", {"delta": delta}), "grade": grade_of.name,
        "node": at[0], "observer": at[1], "observers": len(who), "nodes": len(made.nodes),
    }  # fmt: skip
