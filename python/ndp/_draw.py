"""Pictures and HTML, with matplotlib where it is there."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np

from ._graph import Graph, GraphLike
from ._rounded import digits_of
from ._rounded import shown as rounded


#: The most nodes whose labels are written beside a picture.
_MOST_LABELS = 40


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError("pictures need matplotlib") from None
    return plt.subplots(layout="constrained")[1]


def plot_losses(losses: Any, ax: Any, options: dict[str, Any]) -> Any:
    ax = _axes(ax)
    outside = np.setdiff1d(np.arange(len(losses)), losses.coalitions[0])
    if isinstance(losses.graph, Graph):
        hops = np.array([losses.graph.distances(v) for v in losses.coalition])
        far = np.where(hops < 0, np.iinfo(np.int64).max, hops).min(axis=0)
        x = np.where(far == np.iinfo(np.int64).max, -1, far)[outside]
        ax.set_xlabel("hops from the observer")
    else:
        x = outside
        ax.set_xlabel("node")
    ax.scatter(x, np.asarray(losses.unit)[outside], **options)
    ax.set_ylabel(f"unit loss ({losses.grade.name})")
    ax.set_ylim(bottom=0.0)
    ax.set_title(losses.protocol, fontsize="small")
    return ax


def plot_pairs(losses: Any, ax: Any, sigma: float | None, delta: float, options: dict[str, Any]) -> Any:
    ax = _axes(ax)
    values = np.asarray(losses.unit if sigma is None else losses.epsilon(sigma, delta))
    shown = np.ma.array(values, mask=False)
    for i, members in enumerate(losses.coalitions):
        shown[members, i] = np.ma.masked
    image = ax.imshow(shown, **{"origin": "upper", "aspect": "auto", "vmin": 0.0, **options})
    # Less noise than was used would not keep what is shown.
    what = "unit loss" if sigma is None else f"epsilon at delta = {float(delta)!r}, sigma = {rounded(sigma, '.6g')}"
    ax.figure.colorbar(image, ax=ax, label=f"{what} ({losses.grade.name})")
    observers = [", ".join(str(losses.nodes[v]) for v in members) for members in losses.coalitions]
    if len(observers) <= _MOST_LABELS:
        long = max(map(len, observers)) > 3 or len(observers) > 15
        ax.set_xticks(range(len(observers)), map(_short, observers), rotation=90 if long else 0, fontsize="small" if long else None)
    if len(losses.nodes) <= _MOST_LABELS:
        small = "small" if len(losses.nodes) > 15 else None
        ax.set_yticks(range(len(losses.nodes)), [_short(str(label)) for label in losses.nodes], fontsize=small)
    ax.set_xlabel("observer")
    ax.set_ylabel("exposed node")
    ax.set_title(losses.protocol, fontsize="small")
    return ax


def _short(name: str) -> str:
    return name if len(name) <= 12 else f"{name[:11]}…"


def draw(graph: GraphLike, losses: Any, ax: Any = None, pos: Any = None, labels: bool | None = None, **options: Any) -> Any:
    """Draws a graph, its nodes coloured by what they lose to the observer.

    Parameters
    ----------
    graph : graph-like
        The graph of the protocol.
    losses : Losses
        What an observer learns.
    ax : matplotlib.axes.Axes, optional
        Where to draw.
    pos : mapping, optional
        A place for each label; NetworkX's spring layout by default.
    labels : bool, optional
        Whether labels are written beside the nodes; by default those of at most 40 nodes.
    **options
        Passed to ``ax.scatter``.

    Returns
    -------
    matplotlib.axes.Axes
    """
    network = Graph(graph)
    nodes: list[Hashable] = list(network.nodes)
    if list(losses.nodes) != nodes:
        from ._ndp import NdpError

        raise NdpError("the losses are those of another graph: their nodes differ")
    ax = _axes(ax)
    if pos is None:
        import networkx

        drawn = networkx.Graph()
        drawn.add_nodes_from(nodes)
        drawn.add_edges_from((nodes[u], nodes[v]) for u, v in network.edges)
        pos = networkx.spring_layout(drawn, seed=1)
    places = np.array([pos[node] for node in nodes], float)
    for u, v in network.edges:
        ax.plot(*places[[u, v]].T, color="0.8", linewidth=0.7, zorder=1)
    members = losses.coalitions[0]
    outside = np.setdiff1d(np.arange(len(nodes)), members)
    shown = ax.scatter(*places[outside].T, c=np.asarray(losses.unit)[outside], zorder=2, **{"vmin": 0.0, "vmax": 1.0, **options})
    ax.scatter(*places[members].T, marker="*", color="black", s=120, zorder=3)
    if len(nodes) <= _MOST_LABELS if labels is None else labels:
        for place, node in zip(places, nodes, strict=True):
            ax.annotate(str(node), place, xytext=(4, 4), textcoords="offset points", fontsize="x-small")
    ax.figure.colorbar(shown, ax=ax, label=f"unit loss ({losses.grade.name})")
    ax.set_axis_off()
    return ax


def losses_html(losses: Any, most: int = 20) -> str:
    """A table of the largest losses."""
    import html

    outside = np.setdiff1d(np.arange(len(losses)), losses.coalitions[0])
    order = outside[np.argsort(-losses.unit[outside], kind="stable")]
    rows = "".join(
        f"<tr><td>{html.escape(repr(losses.nodes[u]))}</td><td>{losses.unit[u]:.6g}</td>"
        f"<td>{digits_of(losses.lower[0, u], up=False)}</td></tr>"
        for u in order[:most]
    )
    more = f"<p>and {len(order) - most} more</p>" if len(order) > most else ""
    who = ", ".join(html.escape(repr(v)) for v in losses.coalition)
    failure = f", failure probability {losses.failure:.2g}" if losses.failure else ""
    return (
        f"<div><p><b>What {who} learns</b> ({html.escape(losses.protocol)}; {losses.grade.name}{failure})</p>"
        f"<table><thead><tr><th>node</th><th>unit loss</th><th>at least</th></tr></thead><tbody>{rows}</tbody></table>"
        f"{more}{losses.statement._repr_html_()}</div>"
    )


def pairs_html(losses: Any) -> str:
    """A summary for each observer: the largest and the mean loss."""
    import html

    rows = []
    for i, v in enumerate(losses.observers[:20]):
        one = losses._of_column(i)
        rows.append(
            f"<tr><td>{html.escape(repr(v))}</td><td>{one.max:.6g}</td><td>{one.mean:.6g}</td></tr>"
        )
    more = f"<p>and {len(losses.observers) - 20} more</p>" if len(losses.observers) > 20 else ""
    return (
        f"<div><p><b>What each observer learns</b> ({html.escape(losses.protocol)}; {losses.grade.name})</p>"
        "<table><thead><tr><th>observer</th><th>largest unit loss</th><th>mean unit loss</th></tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table>{more}{losses.statement._repr_html_()}</div>"
        f"{_network_html(losses)}"
    )


def _network_html(losses: Any) -> str:
    """The network, in which a click chooses the observer and a slider the noise: where the graph has at most 2,000 nodes."""
    from ._ndp import viewer_html

    if not isinstance(losses.graph, Graph):
        return ""
    names = [str(node) for node in losses.graph.nodes]
    edges = [(int(u), int(v)) for u, v in losses.graph.edges]
    return viewer_html(names, edges, losses.coalitions, np.asarray(losses.unit).T.tolist()) or ""


def fields_html(title: str, fields: Mapping[str, Any]) -> str:
    """A table of names and what they are."""
    import html

    rows = "".join(f"<tr><th>{html.escape(name)}</th><td>{html.escape(repr(x))}</td></tr>" for name, x in fields.items())
    return f"<div><p><b>{html.escape(title)}</b></p><table><tbody>{rows}</tbody></table></div>"


def plot_comparison(rows: list[dict[str, Any]], ax: Any, options: dict[str, Any]) -> Any:
    ax = _axes(ax)
    known = [row for row in rows if row.get("error") is not None]
    known.sort(key=lambda row: -row["error"])
    ax.barh([f"{row['protocol']} ({row['grade']})" for row in known], [row["error"] for row in known], **options)
    ax.set_xscale("log")
    ax.set_xlabel("root mean square error at the same guarantee")
    return ax
