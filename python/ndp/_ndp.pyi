"""The native half of the package: conversions between Python and the crates."""

from collections.abc import Callable, Sequence
from typing import Any, TypedDict, final

import numpy as np
from numpy.typing import NDArray

__version__: str

class NdpError(ValueError):
    """The library refused its input; the message names the condition and the value that failed it."""

class _Reports(TypedDict):
    unit: NDArray[np.float64]
    lower: NDArray[np.float64]
    coalitions: list[list[int]]
    grades: list[str]
    ranks: list[int]
    bits: list[int]
    failures: list[float]
    means: list[float]
    mean_grades: list[str]

class _Run(TypedDict):
    output: NDArray[np.float64]
    noise: NDArray[np.float64]
    messages: list[NDArray[np.float64]]

@final
class Graph:
    def __new__(cls, n: int, u: NDArray[np.int64], v: NDArray[np.int64]) -> Graph: ...
    @staticmethod
    def parse(text: bytes, skip_self_loops: bool, skip_extra: bool) -> Graph: ...
    def labels(self) -> list[str] | None: ...
    def node_count(self) -> int: ...
    def edge_count(self) -> int: ...
    def edges(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]: ...
    def distances(self, source: int) -> NDArray[np.int64]: ...
    def is_connected(self) -> bool: ...

@final
class Matrix:
    @staticmethod
    def named(graph: Graph, weights: str, laziness: float) -> Matrix: ...
    @staticmethod
    def from_edges(
        graph: Graph, u: NDArray[np.int64], v: NDArray[np.int64], w: NDArray[np.float64], laziness: float
    ) -> Matrix: ...
    @staticmethod
    def from_dense(graph: Graph, matrix: NDArray[np.float64], laziness: float) -> Matrix: ...
    def rows(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]: ...
    def gap(self) -> float: ...

@final
class Protocol:
    @staticmethod
    def gossip(matrix: Matrix, rounds: int, chebyshev: float | None, own_noise_known: bool) -> Protocol: ...
    @staticmethod
    def pairs(graph: Graph, pairs: Sequence[tuple[int, int]], own_noise_known: bool) -> Protocol: ...
    @staticmethod
    def matrices(matrices: Sequence[Matrix], own_noise_known: bool) -> Protocol: ...
    @staticmethod
    def one_peer(dimension: int, own_noise_known: bool) -> Protocol: ...
    @staticmethod
    def accelerated(
        graph: Graph,
        rings: Sequence[tuple[float, int, int]],
        rest: float,
        momentum: tuple[float, float],
        own_noise_known: bool,
    ) -> Protocol: ...
    @staticmethod
    def noisy(matrix: Matrix, rounds: int, ratio: float, kind: str, own_noise_known: bool) -> Protocol: ...
    @staticmethod
    def fresh(matrix: Matrix, variances: Sequence[float], own_noise_known: bool) -> Protocol: ...
    @staticmethod
    def ring_sum(nodes: int, rounds: int, distributed: bool, last: str) -> Protocol: ...
    @staticmethod
    def sum_on_path(
        nodes: int, holders: Sequence[int], published: bool, visits: int | None, edge_uses: int | None
    ) -> Protocol: ...
    @staticmethod
    def averaging(
        nodes: int, holders: Sequence[int], contributes: Sequence[bool], step: float | None, last: str
    ) -> Protocol: ...
    def node_count(self) -> int: ...
    def losses(
        self, coalitions: Sequence[Sequence[int]], progress: Callable[[int, int], Any] | None = None
    ) -> _Reports: ...
    def simulate(self, values: NDArray[np.float64], sigma: float, seed: int) -> _Run: ...
    def error(self, values: NDArray[np.float64], sigma: float) -> Any: ...
    def audit(
        self,
        coalition: Sequence[int],
        source: int,
        sensitivity: float,
        sigma: float,
        runs: int,
        error_rate: float,
        seed: int,
    ) -> tuple[float, float, float, float]: ...

def draw_pairs(
    graph: Graph,
    steps: int,
    seed: int,
    matrix: Matrix | None = None,
    probabilities: Sequence[tuple[int, int, float]] | None = None,
) -> list[tuple[int, int]]: ...
def draw_rings(
    graph: Graph, time: float, seed: int, mixing: float | None, push: float | None
) -> tuple[list[tuple[float, int, int]], float, float]: ...
def mu_of_units(units: NDArray[np.float64], sigma: float, sensitivity: float) -> NDArray[np.float64]: ...
def epsilon_of_units(
    units: NDArray[np.float64], sigma: float, delta: float, sensitivity: float
) -> NDArray[np.float64]: ...
def delta_of_units(
    units: NDArray[np.float64], sigma: float, epsilon: float, sensitivity: float
) -> NDArray[np.float64]: ...
def rdp_of_units(
    units: NDArray[np.float64], sigma: float, order: float, sensitivity: float
) -> NDArray[np.float64]: ...
def epsilon_of_mu(mu: float, delta: float) -> float: ...
def least_sigma(
    unit: NDArray[np.float64],
    lower: NDArray[np.float64],
    coalitions: Sequence[Sequence[int]],
    exact: Sequence[bool],
    allowed: NDArray[np.float64],
    order: float | None,
    delta: float | None,
    sensitivity: float,
) -> tuple[float, int, int, float, str]: ...
def check(
    unit: NDArray[np.float64],
    lower: NDArray[np.float64],
    coalitions: Sequence[Sequence[int]],
    exact: Sequence[bool],
    allowed: NDArray[np.float64],
    order: float | None,
    delta: float | None,
    sensitivity: float,
    sigma: float,
) -> tuple[str, int, tuple[int, int, float, str] | None]: ...
def least_sigma_of_means(
    unit: NDArray[np.float64],
    lower: NDArray[np.float64],
    coalitions: Sequence[Sequence[int]],
    exact: Sequence[bool],
    target: float,
    order: float,
    sensitivity: float,
) -> float: ...
def grade_word(name: str) -> str | None: ...
