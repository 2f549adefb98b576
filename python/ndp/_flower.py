"""Flower: a mod for clients that clips, draws noise and counts, and a strategy that checks it and stops."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from numpy.typing import NDArray

from ._calibrated import Calibrated, calibrated
from ._grades import Guarantee
from ._ndp import NdpError

#: The name of the record in which a client counts, and tells the server what it ran.
_RECORD = "ndp"


class FlowerMod(Calibrated):
    """A mod for Flower clients: clips an update, adds the noise, counts the rounds, and stops when they are used up; made by `flower`.

    Attributes
    ----------
    sigma : float
        Standard deviation of the noise on every number of an update.
    epsilon : Guarantee
        What all rounds together cost, at `delta`: at most what was asked for.
    """

    def __init__(
        self, sigma: float, epsilon: Guarantee, delta: float, rounds: int, clip: float, public: Sequence[str], seed: int | None
    ) -> None:
        super().__init__(sigma, epsilon, delta, rounds, clip, seed)
        self.public_metrics = tuple(public)

    def __call__(self, message: Any, context: Any, call_next: Callable[[Any, Any], Any]) -> Any:
        """What Flower calls."""
        flwr: Any = importlib.import_module("flwr.app")
        kind = str(message.metadata.message_type)
        if kind.split(".")[0] != "train":
            raise NdpError(
                f"a reply to a message of type {kind!r} would be sent without noise: evaluate on the server, "
                "or give the mod to @app.train(mods=[...]) alone and take what evaluation tells for public"
            )
        found = context.state.config_records.get(_RECORD)
        used = 0 if found is None else int(found["rounds"])
        if used >= self.rounds:
            raise NdpError(f"the noise was calibrated for {self.rounds} rounds, and this client has sent as many updates: it sends no more")
        name, old = _only_record(message, "the message of the server")
        reply = call_next(message, context)
        if reply.has_error():
            return reply
        answered, new = _only_record(reply, "the reply of the client")
        sent = self._noised(_arrays(old), _arrays(new))
        # Before the reply is handed over: Flower takes the state and the reply together.
        context.state[_RECORD] = flwr.ConfigRecord({"rounds": used + 1})
        for key in [key for key in reply.content if key != answered]:
            record = reply.content[key]
            shown = [metric for metric in self.public_metrics if isinstance(record, flwr.MetricRecord) and metric in record]
            del reply.content[key]
            if shown:
                reply.content[key] = flwr.MetricRecord({metric: record[metric] for metric in shown})
        reply.content[answered] = flwr.ArrayRecord({key: flwr.Array(x) for key, x in sent.items()})
        # What the server knows anyway, since it asked for every one of them.
        reply.content[_RECORD] = flwr.ConfigRecord({**self._settings, "used": used + 1})
        return reply

    def _noised(self, old: dict[str, NDArray[Any]], new: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        if list(old) != list(new) or any(old[key].shape != new[key].shape for key in old):
            raise NdpError("the arrays of the client's model have other names or shapes than the server's")
        return self._changes(old, new)


def _only_record(message: Any, whose: str) -> tuple[str, Any]:
    records = list(message.content.array_records.items())
    if len(records) != 1:
        raise NdpError(f"{whose} must have one record of arrays, got {len(records)}")
    name, record = records[0]
    return str(name), record


def _arrays(record: Any) -> dict[str, NDArray[Any]]:
    return {key: array.numpy() for key, array in record.items()}


def flower(
    *,
    epsilon: float,
    delta: float,
    rounds: int,
    clip: float,
    public_metrics: Sequence[str] = (),
    seed: int | None = None,
) -> FlowerMod:
    """A mod for Flower clients whose noise keeps ``(epsilon, delta)`` over all rounds of a training.

    Protected are all data of one client, replaced by other data, from whoever sees every update that it sends: the server, too. Each
    update is clipped to ``clip``, so that it moves by up to ``2 * clip``, and gets Gaussian noise of deviation ``sigma``; after
    ``rounds`` updates a client sends no more. Other clients see what the server makes of the updates, and learn no more. Numbers that
    are integers stay as the server sent them. Metrics are dropped but for those named.

    Not protected is who takes part, and in which rounds, and that a client fails. Assumed is that Flower keeps the client's state as
    long as the run; another run about the same data is another release, whose losses add. The noise is that of floats, and the
    guarantee that of real numbers.

    Parameters
    ----------
    epsilon, delta : float
        What is kept over all rounds.
    rounds : int
        How many updates a client may send; counted in the state of its context.
    clip : float
        The largest Euclidean norm of an update, all its arrays together.
    public_metrics : sequence of str
        Metrics of a reply that are sent as they are, because they are public; as ``"num-examples"`` must be where a strategy weights by it.
    seed : int, optional
        For tests alone: whoever knows the seed knows the noise. The system's entropy by default.

    Returns
    -------
    FlowerMod

    Examples
    --------
    >>> from ndp import frameworks
    >>> mod = frameworks.flower(epsilon=3.0, delta=1e-5, rounds=100, clip=1.0)
    >>> print(f"{mod.sigma:.3f}")
    27.812
    >>> float(mod.epsilon) <= 3.0
    True
    """
    whole = calibrated(epsilon, delta, rounds, clip)
    return FlowerMod(whole.sigma, whole.epsilon(delta=delta), delta, rounds, clip, public_metrics, seed)


def flower_strategy(strategy: Any, *, epsilon: float, delta: float, rounds: int, clip: float, evaluate: bool = False) -> Any:
    """A strategy of Flower that takes only replies of clients that ran the mod, and stops when their rounds are used up.

    It wraps any strategy of ``flwr.serverapp.strategy``, and is started as that one. Every reply to training must say that the mod
    ran with the same noise, clip and rounds, and the count of every client must go on: otherwise nothing of the round is aggregated,
    and an `NdpError` names the clients. After ``rounds`` rounds no more messages go out, whatever ``num_rounds`` says; a client that
    has counted more than this server, in a run that was begun before, ends it earlier.

    This protects clients from a server that is set up wrongly, and nobody from a client that lies about what it ran; what a client
    without the mod has sent, the server has seen.

    Parameters
    ----------
    strategy : flwr.serverapp.strategy.Strategy
        Who samples clients and aggregates.
    epsilon, delta, rounds, clip
        As in `flower`, the same as the clients'.
    evaluate : bool, optional
        Whether clients are asked to evaluate. Their replies have no noise: True takes them for public. False by default: evaluate on
        the server (``evaluate_fn``).

    Returns
    -------
    flwr.serverapp.strategy.Strategy
        With ``used``, the rounds so far; ``counts``, how many updates each client says it has sent; ``arrays``, what the last round
        was aggregated to; and ``spent()``, the `Guarantee` on epsilon, at ``delta``, for the client that has sent most.
    """
    mod = flower(epsilon=epsilon, delta=delta, rounds=rounds, clip=clip)
    base: Any = importlib.import_module("flwr.serverapp.strategy").Strategy
    return type("CountedStrategy", (_Counted, base), {})(strategy, mod, evaluate)


class _Counted:
    """Another strategy, whose clients must run the mod, for as many rounds as its noise is for; made by `flower_strategy`."""

    def __init__(self, inner: Any, mod: FlowerMod, evaluate: bool) -> None:
        self.inner, self.mod, self.evaluate = inner, mod, evaluate
        self.used = 0
        self.counts: dict[int, int] = {}
        self.arrays: Any = None
        self._sent = False
        # Where Flower's strategies say what they do.
        self._log: Any = importlib.import_module("logging").getLogger("flwr")

    def configure_train(self, server_round: int, arrays: Any, config: Any, grid: Any) -> Iterable[Any]:
        self._sent = self.used < self.mod.rounds
        if not self._sent:
            self._log.info("ndp: all %s rounds are used up, no training in round %s", self.mod.rounds, server_round)
            return []
        # Counted before anything is sent.
        self.used += 1
        messages: Iterable[Any] = self.inner.configure_train(server_round, arrays, config, grid)
        return messages

    def aggregate_train(self, server_round: int, replies: Iterable[Any]) -> Any:
        if not self._sent:
            return None, None
        answered = list(replies)
        counts: dict[int, int] = {}
        wrong: list[str] = []
        for reply in answered:
            if not reply.has_error():
                client = reply.metadata.src_node_id
                count, why = self._count_of(client, reply.content.config_records.get(_RECORD))
                counts[client] = max(count, counts.get(client, 0))
                wrong += [f"client {client} {why}"] if why else []
        if wrong:
            raise NdpError(f"round {server_round} is not aggregated: {'; '.join(wrong)}")
        for reply in answered:
            if not reply.has_error():
                del reply.content[_RECORD]
        self.counts.update(counts)
        # A run that was begun before: the clients know more than this server.
        self.used = max(self.used, *self.counts.values(), 0)
        aggregated = self.inner.aggregate_train(server_round, answered)
        self.arrays = aggregated[0] if aggregated[0] is not None else self.arrays
        return aggregated

    def _count_of(self, client: int, said: Any) -> tuple[int, str]:
        """What a client says of its count, and what is wrong with it."""
        if said is None or set(said) != {*self.mod._settings, "used"}:
            return 0, "did not run the mod"
        differ = [f"{key} {said[key]!r} in place of {value!r}" for key, value in self.mod._settings.items() if said[key] != value]
        if differ:
            return 0, f"ran the mod with {', '.join(differ)}"
        count, known = said["used"], self.counts.get(client, 0)
        if type(count) is not int or not 1 <= count <= self.mod.rounds:
            return 0, f"counts {count!r} updates of {self.mod.rounds}"
        if count <= known:
            return 0, f"counts {count} updates, of which this server has had {known} before: its state was lost"
        return count, ""

    def configure_evaluate(self, server_round: int, arrays: Any, config: Any, grid: Any) -> Iterable[Any]:
        found: Iterable[Any] = self.inner.configure_evaluate(server_round, arrays, config, grid) if self.evaluate else []
        return found

    def aggregate_evaluate(self, server_round: int, replies: Iterable[Any]) -> Any:
        return self.inner.aggregate_evaluate(server_round, replies) if self.evaluate else None

    def summary(self) -> None:
        self._log.info("ndp: %s of %s rounds are used up, %r over all", self.used, self.mod.rounds, self.mod.epsilon)
        self.inner.summary()

    def start(self, grid: Any, initial_arrays: Any, num_rounds: int = 3, *more: Any, **options: Any) -> Any:
        parent: Any = super()
        return parent.start(grid, initial_arrays, min(num_rounds, self.mod.rounds - self.used), *more, **options)

    def spent(self) -> Guarantee:
        """The epsilon, at the delta of the mod, for the client that has sent most, as the clients count."""
        most = max(self.counts.values(), default=0)
        if not most:
            raise NdpError("no client has sent an update yet")
        return self.mod._spent(most)
