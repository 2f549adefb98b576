"""Sixteen nodes learn to read digits; the line with `meter` is what differs from the same loop without an account.

    python digits.py [ROUNDS] [PICTURE]

Each node has its own digits of scikit-learn's set, and trains a softmax regression by decentralized gradient descent: a gradient,
clipped for every image and averaged, noise, one exchange with the neighbors. The meter says after every round what the worst informed
node has learned about one image of another node (replaced by another image, in all rounds), and stops a run at its budget.

Gradients are taken at models that nobody else sees, so that what they depend on has to be counted as shown: the meter then says what
local noise costs, on every graph. Protocols that show less, such as sums of neighbors, lose less (`beyond/meter` in the figures).
"""

from __future__ import annotations

import sys

import networkx as nx
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import ndp

NODES, CLIP, STEP, EPSILON, DELTA = 16, 1.0, 1.0, 4.0, 1e-5
GRAPHS = {
    "ring": nx.cycle_graph(NODES),
    "hypercube": nx.convert_node_labels_to_integers(nx.hypercube_graph(4)),
    "Erdős–Rényi": nx.erdos_renyi_graph(NODES, 0.35, seed=3),
}


def gradient(model, images, labels):
    """The mean over the images of the gradient of the logarithmic loss, clipped for each image to `CLIP`."""
    scores = images @ model
    chances = np.exp(scores - scores.max(axis=1, keepdims=True))
    chances /= chances.sum(axis=1, keepdims=True)
    chances[np.arange(len(labels)), labels] -= 1.0
    # The gradient of an image is an outer product: its norm is that of both factors.
    norms = np.linalg.norm(images, axis=1) * np.linalg.norm(chances, axis=1)
    scale = np.minimum(1.0, CLIP / np.maximum(norms, 1e-12))
    return images.T @ (chances * scale[:, None]) / len(labels)


def mixing(graph):
    """The weights of Metropolis."""
    degree = dict(graph.degree)
    weights = np.zeros((NODES, NODES))
    for u, v in graph.edges:
        weights[u, v] = weights[v, u] = 1.0 / (1 + max(degree[u], degree[v]))
    return weights + np.diag(1.0 - weights.sum(axis=1))


def train(graph, rounds, sigma, seed=0):
    """Accuracies and worst losses by round, until the budget stops it."""
    images, labels = load_digits(return_X_y=True)
    images = np.hstack([images / np.linalg.norm(images, axis=1, keepdims=True), np.full((len(images), 1), 0.1)])
    images, test_images, labels, test_labels = train_test_split(images, labels, test_size=397, random_state=0, stratify=labels)
    parts = [(images[v::NODES], labels[v::NODES]) for v in range(NODES)]
    largest = CLIP / min(len(own) for _, own in parts)  # what one image adds to a gradient, at most
    rng = np.random.default_rng(seed)
    weights = mixing(graph)
    models = np.zeros((NODES, images.shape[1], 10))
    meter = ndp.Meter(graph, per="participant", clip=largest, epsilon=EPSILON, delta=DELTA)
    accuracies, losses = [], []
    for _ in range(rounds):
        try:
            meter.round(weights, sigma * largest, reads="model-hidden")  # the one line
        except ndp.Refused:
            break
        for v, (own, digits) in enumerate(parts):
            noise = sigma * largest * rng.standard_normal(models[v].shape)
            models[v] -= STEP * (gradient(models[v], own, digits) + noise)
        models = np.einsum("vw,wij->vij", weights, models)
        accuracies.append(np.mean([(test_images @ model).argmax(axis=1) == test_labels for model in models]))
        losses.append(float(meter.epsilon(delta=DELTA)))
    return accuracies, losses


def picture(found, rounds, sigma, path):
    """What was learned, and how well the models read, by round."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    one = ndp.accountants.Gaussian(sigma, sensitivity=2.0)
    steps = np.arange(1, rounds + 1)
    local = [float(ndp.accountants.gaussian_compose([one.mu] * int(t)).epsilon(delta=DELTA)) for t in steps]
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
    left.plot(steps, local, color="0.75", lw=6, label="local noise, composed")
    for (name, (accuracies, losses)), color in zip(found.items(), ("tab:blue", "tab:orange", "tab:green")):
        left.plot(steps[: len(losses)], losses, color=color, label=f"meter, {name}: {len(losses)} rounds")
        right.plot(steps[: len(losses)], accuracies, color=color, label=name)
    left.axhline(local[0], color="tab:red", ls=":", label="one round, as often stated")
    left.axhline(EPSILON, color="0.2", lw=0.8, label="budget")
    left.set(xlabel="round", ylabel="epsilon, worst pair", ylim=(0, 1.6 * EPSILON), title="What a neighbor has learned about one image")
    right.set(xlabel="round", ylabel="test accuracy, mean of nodes", ylim=(0, 1), title="Digits read right")
    left.legend(frameon=False, fontsize=8, loc="upper left")
    right.legend(frameon=False, fontsize=8, loc="lower right")
    figure.savefig(path, dpi=120)


def main(rounds=200, path="digits.png"):
    """Trains on all graphs, prints a line for each, and draws the picture."""
    sigma = 30.0
    found = {name: train(graph, rounds, sigma) for name, graph in GRAPHS.items()}
    for name, (accuracies, losses) in found.items():
        print(f"{name}: {len(losses)} rounds, accuracy {accuracies[-1]:.2f}, epsilon {ndp.upper(losses[-1], 3)}")
    picture(found, rounds, sigma, path)
    return found


if __name__ == "__main__":
    main(*(kind(text) for kind, text in zip((int, str), sys.argv[1:])))
