"""Claimed bounds on gossip and walks, tried on all small graphs."""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from numbers import Rational
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import _ndp
from ._checks import _count, _seed, _several
from ._grades import number_of
from ._graph import Graph
from ._ndp import NdpError

#: A claim as a function of graph, rounds, weights, order, observer (a tuple for a coalition) and source, with a whole number or a fraction
#: as its value.
Claim = Callable[[Graph, int, NDArray[Any], Fraction, Any, int], Any]

#: The integer ``k`` of the weight ``1 / k`` from a node of one degree to a neighbor of another.
_DENOMINATORS: dict[str, Callable[[int, int], int]] = {
    "metropolis": lambda here, there: 1 + max(here, there),
    "max_degree": max,
    "lazy": lambda here, there: 2 * (1 + max(here, there)),
    "simple": lambda here, there: here,
}


class Attacked(NamedTuple):
    """What an attack on simulated runs of a counterexample shows; part of a `Counterexample`."""

    #: Runs in each of the two worlds.
    runs: int
    #: The probability that ``shown`` exceeds the truth is at most this.
    error_rate: float
    #: The loss in nats that the attack shows.
    shown: float
    #: Whether that alone is more than was claimed.
    refutes: bool


class Counterexample(NamedTuple):
    """A case in which a claimed bound is exceeded, exactly; part of a `Refutation`."""

    #: Number of nodes, which are 0, 1, ...
    nodes: int
    #: Rounds of gossip.
    rounds: int
    #: Edges, as ``networkx.Graph`` takes them.
    edges: list[tuple[int, int]]
    #: The rule of the weights.
    weights: str
    #: The exposed node.
    source: int
    #: The nodes that look, together.
    observers: tuple[int, ...]
    #: The edge that averages in each round, for pairwise gossip.
    pairs: list[tuple[int, int]]
    #: Order of the Rényi loss.
    order: Fraction
    #: Standard deviation of the noise, in units of the sensitivity.
    sigma: Fraction
    #: The claimed bound is at most this, in nats.
    claimed: Fraction
    #: What `true_loss` is: the true loss, or for walks a lower end for observers who know the path; others may learn less.
    truth: str
    #: The true loss in nats; for a walk its mean over all paths.
    true_loss: Fraction
    #: A script in plain Python, without any package, that computes the true loss again.
    script: str
    #: An attack on simulated runs; None for walks and means, which have none here.
    attack: Attacked | None

    def matrix(self) -> list[list[Fraction]]:
        """The weights, as a matrix."""
        return [list(row) for row in _weights(self.edges, self.nodes, self.weights)]


class Refutation:
    """What a search for a counterexample found, and how far it went; made by `refute`.

    Attributes
    ----------
    claim : str
        The formula, or the name of the function.
    counterexample : Counterexample or None
        The smallest one, by nodes, then rounds, then edges; None where there was none, which proves nothing.
    cases : int
        How many cases (graph, weights, rounds, pair) were compared.
    undecided, without_value, outside : int
        In how many rounding left open what is larger, in how many the claim has no finite value, and how many were left out by ``where``.
    complete_to, thin_to, rounds : int
        All connected graphs of up to so many nodes were looked at, long thin ones up to so many, up to so many rounds.
    ran_out : bool
        Whether the cases that were allowed ran out before the search was over.
    """

    __slots__ = ("_parts", "cases", "claim", "complete_to", "counterexample", "outside", "ran_out", "rounds", "thin_to", "undecided", "without_value")

    def __init__(self, parts: dict[str, Any]) -> None:
        self._parts = parts
        self.claim: str = parts["claim"]
        self.cases: int = parts["cases"] - parts["without_value"]
        self.undecided: int = parts["undecided"]
        self.without_value: int = parts["without_value"]
        self.outside: int = parts["outside"]
        self.complete_to: int = parts["complete_to"]
        self.thin_to: int = parts["thin_to"]
        self.rounds: int = parts["rounds"]
        self.ran_out: bool = parts["out_of_budget"]
        found = parts["found"]
        self.counterexample: Counterexample | None = None
        if found is not None:
            numbers: dict[str, Any] = {"order": Fraction(found["alpha"]), "sigma": Fraction(found["sigma"])}
            numbers["claimed"] = Fraction(found["claimed"])
            places = {name: found[name] for name in ("nodes", "rounds", "edges", "weights", "pairs", "truth", "script")}
            places["observers"], places["source"] = tuple(found["observers"]), found["exposed"]
            attack = None if found["attack"] is None else Attacked(*found["attack"])
            self.counterexample = Counterexample(true_loss=Fraction(found["true_loss"]), attack=attack, **numbers, **places)

    @property
    def refuted(self) -> bool:
        """Whether the claim is false."""
        return self.counterexample is not None

    def _lines(self) -> list[str]:
        found = self.counterexample
        thin = f", long thin ones of up to {self.thin_to}" if self.thin_to else ""
        whole = "complete: no graph size" if self.complete_to < 2 else f"complete: connected graphs of up to {self.complete_to} nodes"
        without = f", {self.without_value} more without a value" if self.without_value else ""
        far = f"{self.cases} cases compared ({self.undecided} left open by rounding){without}"
        far = f"{far}; {whole}{thin}, up to {_several(self.rounds, 'round')}"
        if found is None:
            if self.cases == 0 and not self.ran_out:
                return ["nothing was compared: in no case that was asked for does the claim apply and have a value", far]
            if self.cases == self.undecided and not self.ran_out:
                return ["nothing was decided: rounding leaves open, in all cases that have a value, which is larger or whether they are meant", far]
            decided = "among the cases that could be decided" if self.undecided else "among all cases that were asked for"
            why = "before the cases ran out" if self.ran_out else decided
            return [f"no counterexample {why}, which proves nothing", far]
        where = f"{found.nodes} nodes, {_several(found.rounds, 'round')}, edges {', '.join(f'{a}-{b}' for a, b in found.edges)}"
        pair = f"{found.weights} weights, exposed {found.source}, observed by {' and '.join(map(str, found.observers))}"
        whom = " of observers who know the path" if "path" in found.truth else ""
        lines = [f"the claim is false{whom}", f"{where}, {pair}", f"{found.truth} {found.true_loss}, claimed at most {float(found.claimed)!r}"]
        if found.attack is not None:
            shown = f"an attack on {found.attack.runs} runs in each of two worlds shows a loss of {found.attack.shown:.4g}"
            lines.append(f"{shown} (wrong with probability at most {found.attack.error_rate:g})")
        return [*lines, far]

    def __eq__(self, other: object) -> bool:
        return self._parts == other._parts if isinstance(other, Refutation) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return (Refutation, (self._parts,))

    def __repr__(self) -> str:
        return f"<Refutation of {self.claim}: {'; '.join(self._lines())}>"

    def _repr_html_(self) -> str:
        lines = "".join(f"<li>{html.escape(line)}</li>" for line in self._lines())
        script = f"<pre>{html.escape(self.counterexample.script)}</pre>" if self.counterexample else ""
        return f"<p><code>{html.escape(self.claim)}</code></p><ul>{lines}</ul>{script}"


def refute(
    claim: str | Claim,
    protocol: str = "muffliato",
    *,
    parameter: float = 1.0,
    coalition: int = 1,
    mean: bool = False,
    where: str | None = None,
    nodes: int = 5,
    thin_nodes: int = 0,
    rounds: int = 6,
    weights: str | Iterable[str] = "metropolis",
    order: float = 2.0,
    sigma: float = 1.0,
    cases: int = 10_000_000,
    runs: int = 10_000,
    error_rate: float = 1e-3,
    seed: int = 42,
) -> Refutation:
    """Tries a claimed bound on the Rényi loss of gossip or a walk on all small connected graphs, smallest first, against exact fractions.

    Parameters
    ----------
    claim : str or callable
        A formula, as the command ``ndp refute`` takes it: ``"alpha / (2 * sigma^2) / hops"``. Or a function of the graph (`Graph`), the
        rounds, the weights (an array of `fractions.Fraction`), the order (a fraction), the observer (a tuple where several look) and the
        source; its value is a whole number or a fraction, in nats, or infinite where it claims nothing. Functions take longer.
    protocol : str, optional
        ``"muffliato"`` (noise once, then gossip), ``"accelerated"``, ``"fresh_noise"``, ``"noisy_messages"``, ``"pairs"`` (one edge a round,
        all sequences; for formulas) or ``"walk"`` (a token; the truth is a mean over its paths, which no loss is below).
    parameter : float, optional
        The Chebyshev parameter of accelerated gossip, or the later noise in units of the first.
    coalition : int, optional
        How many nodes look together, at most 6.
    mean : bool, optional
        The claim bounds the mean over all nodes.
    where : str, optional
        Only cases in which this formula is positive.
    nodes, thin_nodes : int, optional
        All connected graphs of 2 to so many nodes, at most 7, and long thin ones (paths, rings, stars, ...) of 8 to so many, at most 64.
    rounds : int, optional
        1 to so many rounds, at most 200.
    weights : str or iterable of str, optional
        Of ``"metropolis"``, ``"max_degree"``, ``"lazy"`` and, for walks, ``"simple"``.
    order, sigma : float, optional
        Order of the loss, and noise in units of the sensitivity.
    cases : int, optional
        After so many cases the search ends.
    runs, error_rate, seed : optional
        Of the attack on simulated runs of the counterexample: runs in each of two worlds, the probability that it shows too much, its seed.

    Returns
    -------
    Refutation

    Raises
    ------
    NdpError
        For a formula that is none, a range that is too large, a function whose value is a float: a float is rounded, and rounding would
        refute true claims.

    Examples
    --------
    >>> import ndp
    >>> theorem = "alpha/(2*sigma^2) * sum(t, 0, T-1, neighbors(w, v, W[t][w,u]^2 / sum(x, 0, n-1, W[t][w,x]^2)))"
    >>> found = ndp.refute(theorem).counterexample
    >>> found.edges, found.rounds, found.true_loss, found.attack.refutes
    ([(0, 1), (0, 2)], 2, Fraction(1, 1), True)
    >>> ndp.refute(lambda graph, rounds, weights, order, observer, source: order / 2, nodes=4).refuted
    False
    """
    rules = [weights] if isinstance(weights, str) else list(weights)
    if not rules:
        raise NdpError("the number of rules of weights must be at least 1, got 0")
    asked: dict[str, Any] = {"protocol": protocol, "parameter": number_of(parameter, "parameter"), "mean": bool(mean), "domain": where, "weights": rules}
    asked |= {"observers": _count(coalition, "coalition"), "max_nodes": _count(nodes, "nodes"), "max_rounds": _count(rounds, "rounds")}
    asked |= {"max_thin_nodes": thin_nodes if thin_nodes == 0 else _count(thin_nodes, "thin_nodes"), "budget": _count(cases, "cases")}
    asked |= {"alpha": number_of(order, "order"), "sigma": number_of(sigma, "sigma"), "error_rate": number_of(error_rate, "error_rate")}
    asked |= {"runs": _count(runs, "runs"), "seed": _seed(seed)}
    if asked["runs"] < 10 or not 0 < asked["error_rate"] < 1:
        raise NdpError(f"an attack must have at least 10 runs and an error rate between 0 and 1, got {runs} and {error_rate}")
    if isinstance(claim, str):
        return Refutation(_ndp.refute(claim, claim, asked))
    if not callable(claim):
        raise NdpError(f"a claim is a formula or a function, got {type(claim).__name__}")
    if protocol == "pairs":
        raise NdpError("a claim about pairwise gossip must be a formula: it has no weights that a function could be given")
    return Refutation(_ndp.refute(_asked(claim, Fraction(number_of(order, "order"))), getattr(claim, "__name__", "a function"), asked))


def _asked(claim: Claim, order: Fraction) -> Callable[..., tuple[float, float] | None]:
    """A claim as the search asks it: two floats around its value, or None where it has none."""
    kept: dict[Any, tuple[Graph, NDArray[Any]]] = {}

    def ask(
        rounds: int, edges: list[tuple[int, int]], nodes: int, rule: str, source: int, observers: list[int]
    ) -> tuple[float, float] | None:
        key = (tuple(edges), nodes, rule)
        if key not in kept:
            if len(kept) > 4096:
                kept.clear()
            matrix = np.array(_weights(edges, nodes, rule), object)
            matrix.flags.writeable = False
            kept[key] = Graph(([a for a, _ in edges], [b for _, b in edges])), matrix
        graph, matrix = kept[key]
        observer = observers[0] if len(observers) == 1 else tuple(observers)
        value = claim(graph, rounds, matrix, order, observer, source)
        if isinstance(value, (float, np.floating)) and not math.isfinite(value):
            if value == math.inf:
                return None
            raise NdpError(f"a claim must be a whole number, a fraction or infinite, got {value}")
        if isinstance(value, bool) or not isinstance(value, Rational):
            raise NdpError(
                f"a claim must be a whole number or a fraction, got {value!r}: a float is rounded; weights and order are given as fractions, "
                "and a formula as text may have roots and logarithms"
            )
        # What is rational in NumPy has integers of its own.
        return _around(Fraction(int(value.numerator), int(value.denominator)))

    return ask


def _around(exact: Fraction) -> tuple[float, float]:
    """Two floats around a fraction."""
    try:
        near = float(exact)
    except OverflowError:
        return (1.7976931348623157e308, math.inf) if exact > 0 else (-math.inf, -1.7976931348623157e308)
    low = near if Fraction(near) <= exact else math.nextafter(near, -math.inf)
    high = near if Fraction(near) >= exact else math.nextafter(near, math.inf)
    return low, high


def _weights(edges: Iterable[tuple[int, int]], nodes: int, rule: str) -> list[list[Fraction]]:
    """The weights of a rule, as a matrix."""
    pairs = list(edges)
    degree = [sum(a in pair for pair in pairs) for a in range(nodes)]
    matrix = [[Fraction(0)] * nodes for _ in range(nodes)]
    for a, b in pairs:
        matrix[a][b] = Fraction(1, _DENOMINATORS[rule](degree[a], degree[b]))
        matrix[b][a] = Fraction(1, _DENOMINATORS[rule](degree[b], degree[a]))
    for a in range(nodes):
        matrix[a][a] = 1 - sum(matrix[a], Fraction(0))
    return matrix
