"""What Python adds to the time of the crates: the same losses from Python and from Rust, in turn.

Run: pip install ./python networkx && cargo build --release -p ndp-benches --example gossip_losses && python benches/compare/overhead.py
Python's times start with a NetworkX graph, so that its conversion counts; Rust's start with a list of edges. Best of several rounds,
which take turns, so that a load on the machine is a load on both.
"""

import pathlib
import subprocess
import tempfile
import time

import networkx as nx

import ndp

RUST = pathlib.Path(__file__).parents[2] / "target/release/examples/gossip_losses"


def seconds(work, times):
    found = []
    for _ in range(times):
        start = time.perf_counter()
        work()
        found.append(time.perf_counter() - start)
    return min(found)


def beside(name, graph, rounds, observer, times, turns):
    graph = nx.convert_node_labels_to_integers(graph)
    # In the order in which both number the nodes: of first appearance.
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write("".join(f"{u} {v}\n" for u, v in graph.edges))
        file.flush()
        ours, theirs = [], []
        for _ in range(turns):
            command = [RUST, file.name, str(rounds), "all" if observer is None else str(observer), str(times)]
            theirs.append(float(subprocess.check_output(command)))
            if observer is None:
                ours.append(seconds(lambda: ndp.gossip(graph, rounds).all_losses(), times))
            else:
                ours.append(seconds(lambda: ndp.gossip(graph, rounds).losses(observer), times))
    python, rust = min(ours), min(theirs)
    print(f"{name:<44} Rust {1e3 * rust:8.1f} ms, Python {1e3 * python:8.1f} ms, ratio {python / rust:.2f}, beyond {1e3 * (python - rust):.1f} ms")


if __name__ == "__main__":
    beside("hypercube, 2048 nodes, one observer, T = 19", nx.hypercube_graph(11), 19, 0, 5, 7)
    beside("4-regular, 300 nodes, all observers, T = 20", nx.random_regular_graph(4, 300, seed=1), 20, None, 1, 5)
    beside("degree 10, 300 nodes, all observers, T = 20", nx.fast_gnp_random_graph(300, 10 / 300, seed=300), 20, None, 1, 3)
