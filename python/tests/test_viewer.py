"""The network that a notebook shows beside the losses of all pairs."""

from __future__ import annotations

import json

import networkx as nx
import numpy as np

import ndp


def _data(html: str) -> dict:
    return json.loads(html.split('application/json">')[1].split("</script>")[0])


def test_all_observers_are_there_with_upper_ends() -> None:
    losses = ndp.gossip(nx.karate_club_graph(), rounds=4).all_losses()
    html = losses._repr_html_()
    data = _data(html)
    assert len(data["observers"]) == 34 and data["measure"] == "mu" and "http" not in html
    for k, one in enumerate(data["observers"]):
        (v,) = one["members"]
        assert data["losses"][k][v] is None and data["scaling"]["units"][k][v] is None
        others = [u for u in range(34) if u != v]
        units = np.array([data["scaling"]["units"][k][u] for u in others])
        exact = losses.unit[others, v]
        assert (units >= exact).all() and (units <= exact * (1 + 2e-6)).all()
        assert all(float(data["losses"][k][u]) ** 2 >= losses.unit[u, v] for u in others)


def test_names_cannot_end_the_script_and_large_graphs_have_none() -> None:
    html = ndp.gossip(nx.Graph([("a</script><b>", "c"), ("c", "d")]), rounds=2).all_losses()._repr_html_()
    assert "a</script>" not in html and _data(html)["names"][0] == "a</script><b>"
    from ndp._ndp import viewer_html

    names = [str(v) for v in range(2001)]
    edges = [(v, v + 1) for v in range(2000)]
    assert viewer_html(names, edges, [[0]], [[0.0] * 2001]) is None
