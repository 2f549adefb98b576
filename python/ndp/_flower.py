"""Flower: a mod for clients that clips, draws noise and counts, and a strategy that checks it and stops."""

from __future__ import annotations

import importlib
import logging
import os
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._calibrated import Calibrated, calibrated
from ._grades import Guarantee
from ._meter import Meter, Refused
from ._ndp import NdpError

_LOG = logging.getLogger("ndp")

#: The name of the record in which a client counts, and tells the server what it ran.
_RECORD = "ndp"
#: A model that may differ by more than this from a mean counts as all updates.
_MOST_ROUNDING = 1e-3


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
        if isinstance(public, str):
            raise NdpError(f"public_metrics must be a list of names, got the text {public!r}: give [{public!r}] for one")
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
        counted = {} if found is None else dict(found)
        used = int(counted.pop("used", 0))
        if found is not None and counted != self._settings:
            raise NdpError(
                f"this client counts {used} updates with {counted}, and would send one with {self._settings}: updates with other noise "
                "are another release, whose losses add; begin a run with a state of its own"
            )
        if used >= self.rounds:
            raise NdpError(f"the noise was calibrated for {self.rounds} rounds, and this client has sent as many updates: it sends no more")
        name, old = _only_record(message, "the message of the server")
        try:
            reply = call_next(message, context)
            why = repr(reply.error) if reply.has_error() else None
        except Exception:
            _LOG.exception("ndp: the client's training failed; the server is told this, and not why")
            why = ""
        if why:
            _LOG.error("ndp: the client's training failed; the server is told this, and not why: %s", why)
        if why is not None:
            # Flower sends the text of an error to the server, and it may say what is in the data. Raised where no error is being
            # handled, so that this one does not bring it along.
            raise NdpError("the client's training failed; its own log says why")
        answered, new = _only_record(reply, "the reply of the client")
        sent = self._noised(_arrays(old), _arrays(new))
        # Before the reply is handed over: Flower takes the state and the reply together.
        context.state[_RECORD] = flwr.ConfigRecord({**self._settings, "used": used + 1})
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
        wrong = [f"{key} of type {new[key].dtype}" for key in old if old[key].dtype.kind == "f" and new[key].dtype.kind not in "fiu"]
        if wrong:
            raise NdpError(f"the arrays of the client's model are not real numbers: {', '.join(wrong)}")
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
    are integers stay as the server sent them. Metrics are dropped but for those named, and of an error in training the server is told
    that there was one: Flower would send its text.

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


def flower_strategy(
    strategy: Any,
    *,
    epsilon: float,
    delta: float,
    rounds: int,
    clip: float,
    evaluate: bool = False,
    meter: bool | str | os.PathLike[str] = False,
) -> Any:
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
    meter : bool or path, optional
        Whether an `ndp.Meter` says what the server and every client have learned about every client so far; a path is that of its log,
        which ``ndp meter --watch`` shows while the training runs. Every model, the last one, too, counts as told to everybody: as the
        weighted mean of the updates where the strategy aggregates as ``FedAvg`` does, which keeps nothing from round to round, and it
        is that mean up to rounding in single precision or better; otherwise as all of them. As the noise, this is about real numbers:
        what the last digits of a rounded mean tell is not counted. All clients must be there when the training begins.

    Returns
    -------
    flwr.serverapp.strategy.Strategy
        With ``used``, the rounds so far; ``counts``, how many updates each client says it has sent; ``arrays``, what the last round
        was aggregated to; ``spent()``, the `Guarantee` on epsilon, at ``delta``, for the client that has sent most in this run, as the
        clients count, which is refused once a client has sent what was not noised like that: other runs about the same data add to it
        (`ndp.Ledger`); and ``meter``, whose nodes are ``"server"`` and the
        clients' numbers as texts, from the first round on.
    """
    mod = flower(epsilon=epsilon, delta=delta, rounds=rounds, clip=clip)
    base: Any = importlib.import_module("flwr.serverapp.strategy").Strategy
    metered = None if meter is False else _Metered(mod, epsilon, None if meter is True else meter)
    return type("CountedStrategy", (_Counted, base), {})(strategy, mod, evaluate, metered)


class _Counted:
    """Another strategy, whose clients must run the mod, for as many rounds as its noise is for; made by `flower_strategy`."""

    def __init__(self, inner: Any, mod: FlowerMod, evaluate: bool, metered: _Metered | None) -> None:
        self.inner, self.mod, self.evaluate, self._metered = inner, mod, evaluate, metered
        self.used = 0
        self.counts: dict[int, int] = {}
        # What clients sent without the mod, or with other settings: of that nothing is guaranteed.
        self._wrong: list[str] = []
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
        if self._metered is None:
            return messages
        asked = list(messages)
        try:
            self._metered.asked(grid.get_node_ids(), asked, arrays)
        except Refused as refused:
            self._sent = False
            self._log.info("ndp: no training in round %s: %s", server_round, refused)
            return []
        return asked

    @property
    def meter(self) -> Meter | None:
        """What everybody has learned so far; None without a meter, and before the first round."""
        return None if self._metered is None else self._metered.meter

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
                if why:
                    wrong.append(f"client {client} {why}")
                else:
                    counts[client] = max(count, counts.get(client, 0))
        self.counts.update(counts)
        if wrong:
            self._wrong += wrong
            raise NdpError(f"round {server_round} is not aggregated: {'; '.join(wrong)}")
        for reply in answered:
            if not reply.has_error():
                del reply.content[_RECORD]
        # A run that was begun before: the clients know more than this server.
        self.used = max(self.used, *self.counts.values(), 0)
        if self._metered is not None:
            self._metered.heard([reply for reply in answered if not reply.has_error()], self.inner)
        aggregated = self.inner.aggregate_train(server_round, answered)
        self.arrays = aggregated[0] if aggregated[0] is not None else self.arrays
        if self._metered is not None:
            self._metered.aggregated(aggregated[0])
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
        if self._wrong:
            raise NdpError(f"what was sent is not known to be noised: {'; '.join(self._wrong)}")
        return self.mod._spent(max(self.counts.values(), default=0))


class _Metered:
    """The meter of a server: who sends what, each time before it is sent."""

    def __init__(self, mod: FlowerMod, budget: float, log: str | os.PathLike[str] | None) -> None:
        self.mod, self.budget, self.log = mod, budget, log
        self.meter: Meter | None = None
        # What the meter calls the updates of this round by client, those of which no model was made, and what the last model tells.
        self._updates: dict[int, int] = {}
        self._left: list[int] = []
        self._replies: dict[int, dict[str, NDArray[Any]]] = {}
        self._shares: list[dict[int, int]] = []
        self._told: list[int] = []

    def asked(self, clients: Iterable[int], messages: Sequence[Any], arrays: Any) -> None:
        """Counts an update of each client that is sent the model."""
        if self.meter is None:
            mod = self.mod
            self.meter = Meter(
                [("server", str(client)) for client in sorted(clients)],
                per="participant", clip=mod.clip, epsilon=self.budget, delta=mod.delta,
            )  # fmt: skip
            if self.log is not None:
                self.meter.log(self.log)
        meter, asked = self.meter, [message.metadata.dst_node_id for message in messages]
        missing = [client for client in asked if str(client) not in meter._places]
        if missing:
            raise NdpError(f"clients {missing} came after the meter began: have the strategy wait for all (min_available_nodes)")
        model = _arrays(arrays)
        for message in messages:
            sent = _arrays(_only_record(message, "the message of the server")[1])
            if list(sent) != list(model) or not all(np.array_equal(sent[key], model[key]) for key in model):
                raise NdpError("the strategy sends another model than it aggregated: the meter does not know what it tells")
        self._updates = {}
        for client in asked:
            x = meter.contribute(str(client), "seen", self._told) if self._told else meter.contribute(str(client), "nothing")
            z = meter.noise(str(client), sigma=self.mod.sigma)
            self._updates[client] = meter.combine({x: 1, z: 1})
            meter.forget(x, z)
            meter.send(str(client), "server", self._updates[client])

    def heard(self, replies: Sequence[Any], strategy: Any) -> None:
        """Keeps the updates before they are aggregated: some strategies take the arrays out of the replies."""
        self._replies = {reply.metadata.src_node_id: _arrays(_only_record(reply, "the reply of the client")[1]) for reply in replies}
        self._shares = list(_shares(replies, strategy)) if _is_average(strategy) else []

    def aggregated(self, arrays: Any) -> None:
        """Counts the model, which everybody is told: as the mean of the updates, if it is one; otherwise as all of them."""
        meter = self.meter
        assert meter is not None
        values = list(self._updates.values())
        if arrays is None:
            # The next model may be made of these updates, too.
            self._left += values
            return
        model = _arrays(arrays)
        means = (weights for weights in self._shares if not self._left and _is_mean(model, self._replies, weights))
        weights = next(means, None)
        if weights is None:
            told = [*self._left, *values]
        else:
            total = sum(weights.values())
            told = [meter.combine({self._updates[client]: Fraction(weight, total) for client, weight in weights.items()})]
        for value in told:
            meter.broadcast("server", value)
        done = [value for value in (*values, *self._left, *self._told) if value not in told]
        if done:
            meter.forget(*done)
        self._left, self._told, self._replies = [], told, {}


def _shares(replies: Sequence[Any], strategy: Any) -> Iterable[dict[int, int]]:
    """By what a strategy may have weighted: a metric that is a whole number, or nothing."""
    key = getattr(strategy, "weighted_by_key", "num-examples")
    said = {reply.metadata.src_node_id: [r[key] for r in reply.content.metric_records.values() if key in r] for reply in replies}
    if all(len(found) == 1 and type(found[0]) is int and found[0] >= 0 for found in said.values()) and any(map(sum, said.values())):
        yield {client: found[0] for client, found in said.items()}
    yield dict.fromkeys(said, 1)


def _is_average(strategy: Any) -> bool:
    """Whether a strategy aggregates as FedAvg does: from the updates of the round alone, whichever they are."""
    average: Any = importlib.import_module("flwr.serverapp.strategy").FedAvg
    return isinstance(strategy, average) and type(strategy).aggregate_train is average.aggregate_train


def _is_mean(found: dict[str, NDArray[Any]], updates: dict[int, dict[str, NDArray[Any]]], weights: dict[int, int]) -> bool:
    """Whether the arrays are the weighted mean of those of the clients, up to rounding that is small beside it."""
    total = sum(weights.values())
    for key, x in found.items():
        sent = {client: updates[client][key] for client in weights}
        if x.dtype.kind != "f":
            if not all(np.array_equal(x, own) for own in sent.values()):
                return False
            continue
        # The sums and products of a mean in this type, twice over. In half precision that could hide one update among many.
        relative = 2 * (len(sent) + 2) * float(np.finfo(x.dtype).eps)
        parts = [np.asarray(sent[client], np.float64) * (weight / total) for client, weight in weights.items()]
        size = sum((np.abs(part) for part in parts), np.zeros(x.shape))
        if relative > _MOST_ROUNDING or not (np.abs(x - sum(parts, np.zeros(x.shape))) <= relative * size).all():
            return False
    return True
