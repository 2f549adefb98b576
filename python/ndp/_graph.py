"""Graphs from whatever holds one, with their labels."""

from __future__ import annotations

import numbers
import operator
import os
from collections.abc import Hashable, Iterable, Sequence
from itertools import chain
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _ndp
from ._checks import Parameters, _as_float, _same, _several
from ._ndp import NdpError

#: What may be passed as a graph.
GraphLike = Any


class Graph:
    """A simple undirected graph and the labels of its nodes.

    Every function of this package that takes a graph calls this on it, so there is seldom a reason to call it oneself.

    Parameters
    ----------
    graph : graph-like
        - a ``networkx.Graph``, labels of any kind;
        - a SciPy sparse array or matrix, or a square NumPy array: entry ``(u, v)`` not 0 is an edge;
        - a pair of integer arrays ``(u, v)``: a tuple, or a list of two lists or arrays;
        - an edge list ``[(u, v), ...]`` of tuples of integers, or of names: then nodes are in the order in which they are named first.
          Integers are places, as in arrays: all nodes from 0 to the largest take part, those without an edge, too;
        - an integer array of two columns, one edge a row;
        - the path of an edge list, two labels a line, perhaps gzipped;
        - a ``rustworkx.PyGraph``, its nodes by their indices;
        - a `Graph`.
    weight : str or bool, optional
        Where the graph has weights, whether they are used: the name of the edge attribute (NetworkX), or True. Without it
        weights are ignored, and gossip averages by a rule that looks at degrees alone; a `Graph` keeps those it was made with, and
        False drops them.
    nodes : int, optional
        Number of nodes, for arrays and lists of edges whose last nodes have none.

    Attributes
    ----------
    nodes : sequence
        The labels, in the order of every array that this package returns.

    Raises
    ------
    NdpError
        For a directed graph, a multigraph, loops, repeated edges, weights that are NaN or complex; for two pairs of two nodes, which
        may be two edges or two arrays of ends.

    Examples
    --------
    >>> import ndp
    >>> G = ndp.Graph(([0, 1, 2], [1, 2, 3]))
    >>> G
    Graph(4 nodes, 3 edges)
    >>> list(G.nodes)
    [0, 1, 2, 3]
    """

    __slots__ = ("_index", "_native", "ignored", "nodes", "weights")

    nodes: Sequence[Hashable]
    #: Whether the graph came with weights that are not used.
    ignored: bool
    weights: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]] | None
    _native: _ndp.Graph
    _index: dict[Hashable, int] | None

    def __init__(
        self, graph: GraphLike, weight: str | bool | None = None, nodes: int | None = None
    ) -> None:
        self._index = None
        if isinstance(graph, Graph):
            if nodes is not None and nodes != graph.node_count:
                raise NdpError(f"the graph has {graph.node_count} nodes, not {nodes}")
            if weight and graph.weights is None:
                raise NdpError(f"this ndp.Graph was made without weights: make it with ndp.Graph(..., weight={weight!r})")
            if isinstance(weight, str):
                raise NdpError(f"an ndp.Graph has its weights already: leave out weight={weight!r}")
            self.nodes, self.weights, self._native = graph.nodes, graph.weights, graph._native
            self._index, self.ignored = graph._index, graph.ignored
            if weight is False and self.weights is not None:
                self.weights, self.ignored = None, True
            return
        labels, u, v, w = _edges_of(graph, weight, nodes)
        self.nodes = labels
        self.ignored = w is None and _has_weights(graph)
        self.weights = None if w is None else (u, v, w)
        if isinstance(u, _ndp.Graph):
            self._native = u
        else:
            self._native = _native(labels, u, v)

    @property
    def node_count(self) -> int:
        """Number of nodes."""
        return self._native.node_count()

    @property
    def edge_count(self) -> int:
        """Number of edges."""
        return self._native.edge_count()

    @property
    def edges(self) -> NDArray[np.int64]:
        """Both ends of every edge as positions in `nodes`, one edge a row."""
        return np.stack(self._native.edges(), axis=1)

    def index(self, node: Hashable) -> int:
        """The position of a label in `nodes`.

        Parameters
        ----------
        node : hashable
            The label.

        Returns
        -------
        int

        Raises
        ------
        NdpError
            Where no node has it.
        """
        if isinstance(self.nodes, range):
            try:
                position = operator.index(node)  # type: ignore[arg-type]
            except TypeError:
                position = -1
            if 0 <= position < len(self.nodes) and not isinstance(node, bool):
                return position
            last = len(self.nodes) - 1
            raise NdpError(f"node {node!r} is not one of the graph's nodes, which are 0 to {last}")
        if self._index is None:
            self._index = {label: i for i, label in enumerate(self.nodes)}
        try:
            return self._index[node]
        except (KeyError, TypeError):
            raise NdpError(f"node {node!r} is not one of the graph's {len(self.nodes)} nodes") from None

    def distances(self, node: Hashable) -> NDArray[np.int64]:
        """Hops from a node to every node, -1 where no path leads.

        Parameters
        ----------
        node : hashable
            Where the paths start.

        Returns
        -------
        numpy.ndarray
            In the order of `nodes`.

        Examples
        --------
        >>> import ndp
        >>> ndp.Graph(([0, 1, 2], [1, 2, 3])).distances(1)
        array([1, 0, 1, 2])
        """
        return self._native.distances(self.index(node))

    def matrix(self, weights: str | Any | None = None, laziness: float = 0.0) -> Any:
        """The gossip matrix as a SciPy sparse array.

        Parameters
        ----------
        weights : str or array
            As in `gossip`.
        laziness : float, optional
            Share of the identity.

        Returns
        -------
        scipy.sparse.csr_array
        """
        from scipy.sparse import csr_array

        starts, columns, entries = _matrix(self, weights, laziness).rows()
        return csr_array((entries, columns, starts), shape=(self.node_count, self.node_count))

    def __len__(self) -> int:
        return self.node_count

    def __repr__(self) -> str:
        given = ", weighted" if self.weights is not None else ""
        return f"Graph({self.node_count} nodes, {self.edge_count} edges{given})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Graph):
            return NotImplemented
        same = list(self.nodes) == list(other.nodes) and np.array_equal(self.edges, other.edges)
        if self.weights is None or other.weights is None:
            return same and self.weights is other.weights
        return same and all(np.array_equal(a, b) for a, b in zip(self.weights, other.weights))

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return (_rebuild, (self.nodes, *self._native.edges(), self.weights, self.ignored))


def _rebuild(nodes: Sequence[Hashable], u: Any, v: Any, weights: Any, ignored: bool) -> Graph:
    graph = Graph.__new__(Graph)
    graph.nodes, graph.weights, graph.ignored, graph._index = nodes, weights, ignored, None
    graph._native = _ndp.Graph(len(nodes), u, v)
    return graph


def _has_weights(graph: GraphLike) -> bool:
    """Whether a NetworkX graph has an edge with a weight; one edge is looked at."""
    rows = getattr(graph, "_adj", None)
    if not isinstance(rows, dict):
        return False
    first = next((data for row in rows.values() for data in row.values()), None)
    return isinstance(first, dict) and "weight" in first


def _native(labels: Sequence[Hashable], u: NDArray[np.int64], v: NDArray[np.int64]) -> _ndp.Graph:
    if len(u) != len(v):
        raise NdpError(f"the edges need two ends each, got {len(u)} and {len(v)} of them")
    loops = np.flatnonzero(u == v)
    if len(loops) and 0 <= u[loops[0]] < len(labels):
        label = labels[int(u[loops[0]])]
        raise NdpError(f"node {label!r} has an edge to itself: remove such edges first")
    return _ndp.Graph(len(labels), u, v)


def _edges_of(graph: GraphLike, weight: str | bool | None, nodes: int | None) -> tuple[Any, Any, Any, Any]:
    """Labels, both ends of every edge, and their weights where they are asked for."""
    found = _of_edges(graph, weight, nodes)
    if found is not None:
        return found
    if nodes is not None:
        raise NdpError("nodes= goes with arrays and lists of edges: other graphs say how many nodes they have")
    if isinstance(graph, (str, os.PathLike)):
        return _of_file(graph, weight)
    module = type(graph).__module__.partition(".")[0]
    if hasattr(graph, "is_directed") and hasattr(graph, "adjacency") and hasattr(graph, "is_multigraph"):
        return _of_networkx(graph, weight)
    if module == "rustworkx" or (hasattr(graph, "edge_list") and hasattr(graph, "node_indices")):
        return _of_rustworkx(graph, weight)
    if hasattr(graph, "tocoo"):
        return _of_adjacency(graph.tocoo(), weight)
    if isinstance(graph, np.ndarray) and graph.ndim == 2:
        return _of_dense(graph, weight)
    raise NdpError(
        f"a graph is a networkx.Graph, a SciPy sparse array, a pair of integer arrays, a list of edges, the path of an edge list or a "
        f"rustworkx.PyGraph, got {type(graph).__module__}.{type(graph).__qualname__}"
    )


_AMBIGUOUS = (
    "two pairs of two nodes may be two edges or two arrays of ends: give edges as a list of tuples, or both ends as NumPy arrays"
)


def _of_edges(graph: GraphLike, weight: str | bool | None, nodes: int | None) -> tuple[Any, Any, Any, Any] | None:
    """A pair of arrays of ends, a list of edges, or an array of two columns."""
    if isinstance(graph, np.ndarray) and graph.ndim == 2 and graph.shape[1] == 2:
        if graph.shape[0] != 2 or nodes is not None:
            return _of_ends(graph[:, 0], graph[:, 1], weight, nodes)
        if not (graph == graph.T).all():
            raise NdpError(_AMBIGUOUS)
        return None
    if not isinstance(graph, (tuple, list)) or not graph:
        return None
    listed = isinstance(graph, list) and all(type(edge) is tuple for edge in graph)
    if listed or (len(graph) != 2 and all(type(edge) in (list, tuple) for edge in graph)):
        longer = next((edge for edge in graph if len(edge) != 2), None)
        if longer is not None:
            raise NdpError(f"an edge is a pair of nodes, got {longer!r}")
        texts = [isinstance(end, str) for edge in graph for end in edge]
        if all(texts):
            return _of_names(graph, weight, nodes)
        if any(texts):
            raise NdpError("the ends of edges are all integers or all texts, got both: make them texts, [(str(u), str(v)), ...]")
        return _of_ends([u for u, _ in graph], [v for _, v in graph], weight, nodes)
    if len(graph) != 2 or np.isscalar(graph[0]) or isinstance(graph[0], (str, os.PathLike)):
        return None
    if all(type(ends) in (list, tuple) and len(ends) == 2 for ends in graph) and type(graph[0]) is type(graph):
        raise NdpError(_AMBIGUOUS)
    return _of_ends(graph[0], graph[1], weight, nodes)


def _refuse_directed(kind: str, remedy: str) -> NdpError:
    return NdpError(f"the graph must be undirected, got {kind}: {remedy}")


def _of_networkx(graph: Any, weight: str | bool | None) -> tuple[Any, Any, Any, Any]:
    if graph.is_directed():
        raise _refuse_directed(type(graph).__name__, "G.to_undirected() forgets the directions")
    if graph.is_multigraph():
        raise NdpError(
            f"the graph must be simple, got {type(graph).__name__}: networkx.Graph(G) merges parallel edges"
        )
    labels = list(graph)
    adjacency = graph._adj if type(getattr(graph, "_adj", None)) is dict else dict(graph.adjacency())
    if labels == list(range(len(labels))) and all(type(label) is int for label in labels):
        labels_out: Sequence[Hashable] = range(len(labels))
        ends: Iterable[int] = chain.from_iterable(adjacency.values())
    else:
        labels_out = labels
        index = {label: i for i, label in enumerate(labels)}
        ends = map(index.__getitem__, chain.from_iterable(adjacency.values()))
    v = np.fromiter(ends, np.int64)
    degrees = np.fromiter(map(len, adjacency.values()), np.int64, len(labels))
    u = np.repeat(np.arange(len(labels)), degrees)
    once = u <= v
    w = None
    if weight is not None and weight is not False:
        key = "weight" if weight is True else weight
        missing = object()
        entries = [data.get(key, missing) for row in adjacency.values() for data in row.values()]
        if any(entry is missing for entry in entries):
            i = next(i for i, entry in enumerate(entries) if entry is missing)
            raise NdpError(f"edge ({labels[u[i]]!r}, {labels[v[i]]!r}) has no attribute {key!r}")
        w = _weights(entries)[once]
    return labels_out, u[once], v[once], w


def _of_rustworkx(graph: Any, weight: str | bool | None) -> tuple[Any, Any, Any, Any]:
    if "Di" in type(graph).__name__:
        raise _refuse_directed(type(graph).__name__, "G.to_undirected() forgets the directions")
    if graph.has_parallel_edges():
        raise NdpError("the graph must be simple, got parallel edges: build it with multigraph=False")
    indices = list(graph.node_indices())
    labels: Sequence[Hashable] = range(len(indices)) if indices == list(range(len(indices))) else indices
    position = {label: i for i, label in enumerate(indices)}
    edges = np.array([(position[a], position[b]) for a, b in graph.edge_list()], np.int64).reshape(-1, 2)
    w = _weights(list(graph.edges())) if weight else None
    return labels, edges[:, 0], edges[:, 1], w


def _of_adjacency(coo: Any, weight: str | bool | None) -> tuple[Any, Any, Any, Any]:
    rows, columns = coo.shape
    if rows != columns:
        raise NdpError(f"an adjacency matrix must be square, got {rows} by {columns}")
    u, v, entries = np.asarray(coo.row, np.int64), np.asarray(coo.col, np.int64), _weights(coo.data)
    kept = entries != 0
    u, v, entries = u[kept], v[kept], entries[kept]
    order = np.lexsort((np.maximum(u, v), np.minimum(u, v)))
    u, v, entries = u[order], v[order], entries[order]
    forward, backward, loop = u < v, u > v, u == v
    if loop.any() and not weight:
        raise NdpError(f"node {int(u[loop][0])} has an edge to itself: remove the diagonal first")
    same = forward.sum() == backward.sum()
    if not (same and (u[forward] == v[backward]).all() and (v[forward] == u[backward]).all()):
        raise _refuse_directed("a matrix that is not symmetric", "A + A.T forgets the directions")
    if not np.array_equal(entries[forward], entries[backward]) and weight:
        raise NdpError("the weights of an undirected graph must be symmetric, got a matrix that is not")
    return range(rows), u[forward], v[forward], entries[forward] if weight else None


def _of_dense(matrix: NDArray[Any], weight: str | bool | None) -> tuple[Any, Any, Any, Any]:
    u, v = np.nonzero(matrix)
    coo = SimpleNamespace(shape=matrix.shape, row=u, col=v, data=matrix[u, v])
    return _of_adjacency(coo, weight)


def _of_names(edges: Sequence[tuple[str, str]], weight: str | bool | None, nodes: int | None) -> tuple[Any, Any, Any, Any]:
    """Edges between names, the nodes in the order in which they are named first."""
    if nodes is not None:
        raise NdpError("nodes= goes with edges between integers: a networkx.Graph has nodes with names and without edges")
    places = {name: i for i, name in enumerate(dict.fromkeys(chain.from_iterable(edges)))}
    return list(places), *_of_ends([places[u] for u, _ in edges], [places[v] for _, v in edges], weight, None)[1:]


def _of_ends(u: Any, v: Any, weight: str | bool | None, nodes: int | None) -> tuple[Any, Any, Any, Any]:
    if weight:
        raise NdpError("arrays of edges have no weights: give a sparse array, or weights= of the protocol")
    ends = []
    for end in (u, v):
        array = np.asarray(end)
        if array.dtype.kind in "ufO" and any(isinstance(x, numbers.Integral) and int(x) >= 2**63 for x in end):
            raise NdpError("numbers of nodes from 2^63 on are names: write them as texts, [(str(u), str(v)), ...]")
        if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
            remedy = "; edges between names are a list of tuples, [('a', 'b'), ('b', 'c')]" if array.dtype.kind in "UO" else ""
            raise NdpError(f"the ends of edges are arrays of integers, got {array.ndim}-d {array.dtype}{remedy}")
        ends.append(array.astype(np.int64))
    u, v = ends
    most = 1 + max((int(end.max()) for end in ends if end.size), default=-1)
    count = most if nodes is None else operator.index(nodes)
    if count < 0:
        raise NdpError(f"the number of nodes must be nonnegative, got {count}")
    return range(count), u, v, None


def _of_file(path: str | os.PathLike[str], weight: str | bool | None) -> tuple[Any, Any, Any, Any]:
    if weight:
        raise NdpError("edge lists have no weights here: read the file with networkx.read_weighted_edgelist")
    with open(path, "rb") as file:
        text = file.read()
    if text[:2] == b"\x1f\x8b":
        import gzip

        text = gzip.decompress(text)
    native = _ndp.Graph.parse(text, False, False)
    return native.labels() or range(native.node_count()), native, None, None


def _weights(entries: Any) -> NDArray[np.float64]:
    weights = real(entries, "weights")
    if weights.size and not np.isfinite(weights).all():
        bad = weights[~np.isfinite(weights)][0]
        raise NdpError(f"weights must be finite, got {bad}")
    return weights


def real(entries: Any, what: str) -> NDArray[np.float64]:
    """An array of floats: imaginary parts are not dropped, but refused."""
    try:
        given = np.asarray(entries)
        # An array of objects may hold complex numbers, too.
        if np.iscomplexobj(given) or (given.dtype == object and any(np.iscomplexobj(x) for x in given.ravel())):
            raise NdpError(f"{what} must be real, got complex numbers")
        return np.asarray(given, np.float64)
    except (OverflowError, TypeError, ValueError) as refused:
        if isinstance(refused, NdpError):
            raise
        raise NdpError(f"{what} must be numbers that floats can hold") from None


def _in_order(weights: Any, nodes: Sequence[Hashable]) -> Any:
    """A matrix with its rows and columns in the order of the nodes; those of a data frame have names, which are those of the nodes."""
    if isinstance(weights, np.ma.MaskedArray):
        raise NdpError("a masked matrix does not say what its masked weights are: fill them")
    if not (hasattr(weights, "index") and hasattr(weights, "columns")):
        return weights.toarray() if hasattr(weights, "toarray") else weights
    rows, columns = list(weights.index), list(weights.columns)
    for labels, what in ((rows, "rows"), (columns, "columns")):
        if labels != list(range(len(nodes))) and (len(labels) != len(nodes) or set(labels) != set(nodes)):
            raise NdpError(f"the {what} of the weights are named {labels!r}, and the nodes {list(nodes)!r}")
    by_name = [[labels.index(v) for v in nodes] if set(labels) == set(nodes) else list(range(len(nodes))) for labels in (rows, columns)]
    return np.asarray(weights)[np.ix_(*by_name)]


def _matrix(graph: Graph, weights: str | Any | None, laziness: float) -> _ndp.Matrix:
    """The gossip matrix on a graph: by the graph's own weights, by a rule, or given."""
    laziness = _as_float(laziness, "laziness")
    if weights is None and graph.weights is not None:
        return _ndp.Matrix.from_edges(graph._native, *graph.weights, laziness)
    if weights is None or isinstance(weights, str):
        return _ndp.Matrix.named(graph._native, weights or "metropolis", laziness)
    dense = np.ascontiguousarray(real(_in_order(weights, graph.nodes), "the entries of a gossip matrix"))
    if dense.ndim != 2:
        raise NdpError(f"a gossip matrix has two dimensions, got {dense.ndim}")
    return _ndp.Matrix.from_dense(graph._native, dense, laziness)


class OnNodes(Parameters):
    """Something on the nodes of a graph: equal to what was made with the same, and pickled without what it has computed."""

    graph: Graph | Sequence[Hashable]
    words: str
    _cache: Any

    @property
    def nodes(self) -> Sequence[Hashable]:
        """The labels of the nodes, in the order of all arrays."""
        return self.graph.nodes if isinstance(self.graph, Graph) else self.graph

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_cache": None}

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return bool(self.graph == other.graph) and _same(self._parameters, other._parameters)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<{self.words} on {_several(len(self.nodes), 'node')}>"
