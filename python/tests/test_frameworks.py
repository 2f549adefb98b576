"""Mods and filters of frameworks: the noise for a whole run, and real messages where the framework is installed."""

import copy
import json
import math
import multiprocessing
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

import ndp
from ndp import _calibrated, _flare, _flower, accountants, frameworks


def test_the_noise_is_that_of_all_rounds():
    for epsilon, delta, rounds, clip in [(3.0, 1e-5, 100, 1.0), (0.1, 1e-9, 1, 1e-3), (8.0, 1e-6, 7, 2.5)]:
        mod = frameworks.flower(epsilon=epsilon, delta=delta, rounds=rounds, clip=clip)
        one = accountants.Gaussian(mod.sigma, sensitivity=2 * clip)
        composed = accountants.gaussian_compose([one.mu] * rounds).epsilon(delta=delta)
        assert float(mod.epsilon) <= epsilon
        # Composing a hundred parameters one by one rounds up a hundred times.
        assert float(composed) <= epsilon * (1 + 1e-12)
        # A thousandth less noise does not keep it.
        less = accountants.Gaussian(mod.sigma * 0.999, sensitivity=2 * clip)
        assert float(accountants.gaussian_compose([less.mu] * rounds).epsilon(delta=delta)) > epsilon
        assert float(composed) == pytest.approx(float(mod.epsilon), rel=1e-9)


@pytest.mark.parametrize("wrong", [{"clip": 0.0}, {"clip": math.nan}, {"rounds": 0}, {"epsilon": -1.0}, {"delta": 2.0}])
def test_wrong_parameters_are_named(wrong):
    with pytest.raises(ndp.NdpError, match=next(iter(wrong))):
        frameworks.flower(**{"epsilon": 1.0, "delta": 1e-5, "rounds": 3, "clip": 1.0, **wrong})


def test_many_rounds_take_no_memory():
    assert frameworks.flower(epsilon=1.0, delta=1e-5, rounds=10**12, clip=1.0).sigma > 1e6


@pytest.fixture
def flwr():
    app = pytest.importorskip("flwr.app")
    # Who runs a client says which task it is; no message can be made without.
    identity = pytest.importorskip("flwr.supercore.task_identity").TaskIdentity
    identity.task_id, identity.run_id, identity.node_id = 1, 1, 1
    return app


def new_context(flwr):
    return flwr.Context(run_id=1, node_id=1, node_config={}, state=flwr.RecordDict(), run_config={})


class TestFlower:
    """With messages of Flower itself."""

    def sent(self, flwr, mod, reply, context, kind="train"):
        old = {"w": np.zeros((50, 40), np.float32), "b": np.zeros(40), "steps": np.array([3])}
        arrays = flwr.ArrayRecord({key: flwr.Array(x) for key, x in old.items()})
        message = flwr.Message(flwr.RecordDict({"model": arrays}), dst_node_id=1, message_type=kind)

        def app(message, context):
            return flwr.Message(flwr.RecordDict(reply(flwr)), reply_to=message)

        found = mod(message, context, app).content
        return {key: array.numpy() for key, array in found["model"].items()}, found

    def trained(self, flwr):
        new = {"w": np.full((50, 40), 2.0, np.float32), "b": np.full(40, -3.0), "steps": np.array([77])}
        return {
            "model": flwr.ArrayRecord({key: flwr.Array(x) for key, x in new.items()}),
            "metrics": flwr.MetricRecord({"loss": 0.25, "num-examples": 10}),
            "more": flwr.ConfigRecord({"secret": "x"}),
        }

    def test_updates_are_clipped_and_noised(self, flwr):
        mod = frameworks.flower(epsilon=3.0, delta=1e-5, rounds=100, clip=1.0, public_metrics=["num-examples"], seed=1)
        found, content = self.sent(flwr, mod, self.trained, new_context(flwr))
        numbers = np.concatenate([found["w"].ravel(), found["b"]])
        # 2,040 numbers: their deviation is that of the noise within a few hundredths; the clipped update is small beside it.
        assert numbers.std() == pytest.approx(mod.sigma, rel=0.08)
        assert found["w"].dtype == np.float32 and found["steps"].tolist() == [3]
        assert dict(content["metrics"]) == {"num-examples": 10} and "more" not in content
        assert dict(content["ndp"]) == {"rounds": 100, "clip": 1.0, "sigma": mod.sigma, "used": 1}

    def test_without_noise_the_clipped_update_is_left(self, flwr):
        mod = frameworks.flower(epsilon=3.0, delta=1e-5, rounds=1, clip=1.0)
        mod.sigma = 0.0
        found, content = self.sent(flwr, mod, self.trained, new_context(flwr))
        norm = math.sqrt(np.sum(found["w"].astype(float) ** 2) + np.sum(found["b"] ** 2))
        assert norm == pytest.approx(1.0, rel=1e-6) and "metrics" not in content
        assert found["b"][0] / found["w"][0, 0] == pytest.approx(-1.5, rel=1e-6)

    def test_copies_draw_noise_of_their_own(self, flwr):
        """A simulation sends the mod anew, by pickle, for every message: copies of one generator would draw the same noise."""
        mod = frameworks.flower(epsilon=3.0, delta=1e-5, rounds=100, clip=1.0)
        drawn = [self.sent(flwr, pickle.loads(pickle.dumps(mod)), self.trained, new_context(flwr))[0]["b"] for _ in range(3)]
        drawn += [self.sent(flwr, mod, self.trained, new_context(flwr))[0]["b"] for _ in range(2)]
        for i, one in enumerate(drawn):
            for other in drawn[:i]:
                assert abs(np.corrcoef(one, other)[0, 1]) < 0.9

    def test_rounds_are_counted_in_the_state_and_refused_beyond(self, flwr):
        context = new_context(flwr)
        for _ in range(3):
            # Made anew in every round, as simulations do.
            self.sent(flwr, frameworks.flower(epsilon=1.0, delta=1e-5, rounds=3, clip=1.0), self.trained, context)
        with pytest.raises(ndp.NdpError, match="3 rounds"):
            self.sent(flwr, frameworks.flower(epsilon=1.0, delta=1e-5, rounds=3, clip=1.0), self.trained, context)
        # Other noise is another release: what was sent with this one is not in its count.
        with pytest.raises(ndp.NdpError, match="another release"):
            self.sent(flwr, frameworks.flower(epsilon=2.0, delta=1e-5, rounds=9, clip=1.0), self.trained, context)

    def test_what_would_go_without_noise_is_refused(self, flwr):
        mod = frameworks.flower(epsilon=1.0, delta=1e-5, rounds=3, clip=1.0)
        with pytest.raises(ndp.NdpError, match="evaluate"):
            self.sent(flwr, mod, self.trained, new_context(flwr), kind="evaluate")
        two = lambda flwr: {**self.trained(flwr), "other": flwr.ArrayRecord({"x": flwr.Array(np.ones(2))})}  # noqa: E731
        with pytest.raises(ndp.NdpError, match="got 2"):
            self.sent(flwr, mod, two, new_context(flwr))
        renamed = lambda flwr: {"model": flwr.ArrayRecord({"x": flwr.Array(np.ones(2))})}  # noqa: E731
        with pytest.raises(ndp.NdpError, match="names or shapes"):
            self.sent(flwr, mod, renamed, new_context(flwr))
        endless = lambda flwr: {  # noqa: E731
            "model": flwr.ArrayRecord(
                {"w": flwr.Array(np.full((50, 40), np.inf, np.float32)), "b": flwr.Array(np.zeros(40)), "steps": flwr.Array(np.array([1]))}
            )
        }
        with pytest.raises(ndp.NdpError, match="not finite"):
            self.sent(flwr, mod, endless, new_context(flwr))
        complex = lambda flwr: {"model": flwr.ArrayRecord({key: flwr.Array(x * 1j) for key, x in old(flwr).items()})}  # noqa: E731
        old = lambda flwr: {key: array.numpy() for key, array in self.trained(flwr)["model"].items()}  # noqa: E731
        with pytest.raises(ndp.NdpError, match="not real numbers: w of type complex"):
            self.sent(flwr, mod, complex, new_context(flwr))
        with pytest.raises(ndp.NdpError, match="public_metrics must be a list"):
            frameworks.flower(epsilon=1.0, delta=1e-5, rounds=3, clip=1.0, public_metrics="loss")

    def test_an_error_says_nothing_of_the_data(self, flwr, caplog):
        """Flower sends the text of what a client raises to the server."""
        mod = frameworks.flower(epsilon=1.0, delta=1e-5, rounds=3, clip=1.0)
        context = new_context(flwr)
        old = flwr.ArrayRecord({"w": flwr.Array(np.zeros(3))})
        message = flwr.Message(flwr.RecordDict({"model": old}), dst_node_id=1, message_type="train")

        def raises(message, context):
            raise ValueError("label of patient 17 is 8")

        def answers(message, context):
            return flwr.Message(flwr.Error(code=2, reason="label of patient 17 is 8"), reply_to=message)

        for app in (raises, answers):
            caplog.clear()
            with pytest.raises(ndp.NdpError, match="its own log says why") as found:
                mod(message, context, app)
            assert "17" not in str(found.value) and found.value.__cause__ is None and found.value.__context__ is None
            assert "patient 17" in caplog.text
        # Nothing was sent, and nothing counts.
        assert "ndp" not in context.state.config_records


@pytest.mark.parametrize(("epsilon", "rounds", "clip"), [(0.1, 1, 1.0), (1.0, 7, 0.3), (3.0, 8, 1.0), (8.0, 30, 2.5), (20.0, 400, 1e-3)])
def test_a_meter_with_the_same_budget_allows_all_rounds_and_no_more(epsilon, rounds, clip):
    mod = frameworks.flower(epsilon=epsilon, delta=1e-5, rounds=rounds, clip=clip)
    meter = ndp.Meter([("server", "ann")], per="participant", clip=clip, epsilon=epsilon, delta=1e-5, observers=["server"])
    for _ in range(rounds):
        x, z = meter.contribute("ann", "nothing"), meter.noise("ann", sigma=mod.sigma)
        y = meter.combine({x: 1, z: 1})
        meter.forget(x, z)
        meter.send("ann", "server", y)
        meter.forget(y)
    assert float(meter.epsilon(delta=1e-5)) == pytest.approx(float(mod.epsilon), rel=1e-8)
    x, z = meter.contribute("ann", "nothing"), meter.noise("ann", sigma=mod.sigma)
    with pytest.raises(ndp.Refused):
        meter.send("ann", "server", meter.combine({x: 1, z: 1}))


def local_grid(flwr, client_app, nodes, apart=()):
    """A grid whose clients are apps in this process: real messages, a real strategy, no network."""
    identity = pytest.importorskip("flwr.supercore.task_identity").TaskIdentity
    serverapp = pytest.importorskip("flwr.serverapp")

    class LocalGrid(serverapp.Grid):
        def __init__(self):
            self.contexts = {node: new_context(flwr) for node in nodes}
            self.sent = []

        set_run = run = create_message = push_messages = pull_messages = None

        def get_node_ids(self):
            return list(nodes)

        def send_and_receive(self, messages, *, timeout=None):
            replies = []
            for message in messages:
                node = message.metadata.dst_node_id
                self.sent.append((message.metadata.message_type, node))
                identity.node_id = node
                app = dict(apart).get(node, client_app)
                try:
                    replies.append(app(message, self.contexts[node]))
                except ndp.NdpError as refused:
                    replies.append(flwr.Message(flwr.Error(code=1, reason=str(refused)), reply_to=message))
                identity.node_id = 1
            return replies

    return LocalGrid()


class TestFlowerStrategy:
    """With Flower's own strategies, their loop and client apps."""

    SETTINGS = {"epsilon": 5.0, "delta": 1e-5, "rounds": 4, "clip": 1.0}

    def client(self, flwr, **changed):
        """A client app with the mod, as a user writes one; without it for ``mod=False``."""
        from flwr.clientapp import ClientApp

        given = dict(changed)
        mods = [frameworks.flower(**{**self.SETTINGS, **given}, public_metrics=["num-examples"], seed=1)] if given.pop("mod", True) else []
        app = ClientApp()

        @app.train(mods=mods)
        def train(message, context):
            w = message.content["arrays"]["w"].numpy()
            content = {"arrays": flwr.ArrayRecord({"w": flwr.Array(w + 1.0)}), "metrics": flwr.MetricRecord({"num-examples": 3, "loss": 0.5})}
            return flwr.Message(flwr.RecordDict(content), reply_to=message)

        @app.evaluate()
        def evaluate(message, context):
            return flwr.Message(flwr.RecordDict({"metrics": flwr.MetricRecord({"num-examples": 3, "loss": 0.5})}), reply_to=message)

        return app

    def wrapped(self, **changed):
        from flwr.serverapp.strategy import FedAvg

        return frameworks.flower_strategy(FedAvg(min_train_nodes=3, min_available_nodes=3, min_evaluate_nodes=3), **{**self.SETTINGS, **changed})

    def start(self, flwr, strategy, grid, rounds, **options):
        arrays = flwr.ArrayRecord({"w": flwr.Array(np.zeros(50))})
        return strategy.start(grid=grid, initial_arrays=arrays, num_rounds=rounds, **options)

    def test_it_trains_for_as_many_rounds_as_the_noise_is_for(self, flwr):
        grid, strategy = local_grid(flwr, self.client(flwr), [7, 8, 9]), self.wrapped()
        evaluated = []
        result = self.start(flwr, strategy, grid, 10, evaluate_fn=lambda round, arrays: evaluated.append(round))
        # No rounds without training, either.
        assert evaluated == [0, 1, 2, 3, 4]
        assert sorted(grid.sent) == sorted(("train", node) for _ in range(4) for node in (7, 8, 9))
        assert strategy.used == 4 and strategy.counts == {7: 4, 8: 4, 9: 4}
        assert np.array_equal(result.arrays["w"].numpy(), strategy.arrays["w"].numpy()) and result.arrays["w"].numpy().std() > 1.0
        assert strategy.spent() == strategy.mod.epsilon and float(strategy.spent()) <= 5.0
        # Started again, it trains no more.
        count = len(grid.sent)
        self.start(flwr, strategy, grid, 3)
        assert len(grid.sent) == count

    def test_what_was_spent_so_far(self, flwr):
        grid, strategy = local_grid(flwr, self.client(flwr), [7, 8, 9]), self.wrapped()
        assert strategy.spent() == ndp.Exact(0.0, "epsilon", {"delta": 1e-5})
        self.start(flwr, strategy, grid, 2)
        one = accountants.Gaussian(strategy.mod.sigma, sensitivity=2.0)
        composed = accountants.gaussian_compose([one.mu] * 2).epsilon(delta=1e-5)
        assert float(strategy.spent()) == pytest.approx(float(composed), rel=1e-9)
        assert float(strategy.spent()) < float(strategy.mod.epsilon)
        self.start(flwr, strategy, grid, 5)
        assert strategy.used == 4 and len(grid.sent) == 12

    @pytest.mark.parametrize(
        ("changed", "match"),
        [
            ({"mod": False}, "client 8 did not run the mod"),
            ({"clip": 2.0}, "client 8 ran the mod with clip 2.0 in place of 1.0"),
            ({"rounds": 5}, "client 8 ran the mod with rounds 5 in place of 4"),
            ({"epsilon": 6.0}, "client 8 ran the mod with sigma"),
        ],
    )
    def test_a_client_without_the_mod_stops_the_round(self, flwr, changed, match):
        grid = local_grid(flwr, self.client(flwr), [7, 8, 9], apart={8: self.client(flwr, **changed)})
        strategy = self.wrapped()
        with pytest.raises(ndp.NdpError, match=match):
            self.start(flwr, strategy, grid, 3)
        # What the others sent counts, and what the one sent has no guarantee.
        assert strategy.arrays is None and strategy.counts == {7: 1, 9: 1}
        with pytest.raises(ndp.NdpError, match=match):
            strategy.spent()

    def test_a_client_that_forgot_its_count_is_found(self, flwr):
        grid, strategy = local_grid(flwr, self.client(flwr), [7, 8, 9]), self.wrapped()
        self.start(flwr, strategy, grid, 2)
        kept = strategy.arrays
        grid.contexts[9] = new_context(flwr)
        with pytest.raises(ndp.NdpError, match="client 9 counts 1 updates, of which this server has had 2 before"):
            self.start(flwr, strategy, grid, 2)
        assert strategy.arrays is kept

    def test_clients_that_know_more_end_it(self, flwr):
        grid = local_grid(flwr, self.client(flwr), [7, 8, 9])
        self.start(flwr, self.wrapped(), grid, 3)
        fresh = self.wrapped()
        self.start(flwr, fresh, grid, 4)
        assert fresh.used == 4 and fresh.counts == {7: 4, 8: 4, 9: 4} and len(grid.sent) == 12

    def test_who_refuses_is_left_out(self, flwr):
        """A client whose rounds are used up answers with an error, which is passed on."""
        grid, strategy = local_grid(flwr, self.client(flwr), [7, 8, 9]), self.wrapped()
        grid.contexts[9].state["ndp"] = flwr.ConfigRecord({**strategy.mod._settings, "used": 4})
        self.start(flwr, strategy, grid, 1)
        assert strategy.counts == {7: 1, 8: 1} and strategy.arrays is not None

    def test_a_meter_says_what_everybody_has_learned(self, flwr, tmp_path):
        grid, strategy = local_grid(flwr, self.client(flwr), [7, 8, 9]), self.wrapped(meter=tmp_path / "run.log")
        assert strategy.meter is None
        self.start(flwr, strategy, grid, 2)
        # Two clients' noises hide the update of a third in a mean of three: half of what the server learns.
        for rounds in (2, 4):
            server, client = strategy.meter.losses("server"), strategy.meter.losses("8")
            assert set(server) == {"7", "8", "9"} and strategy.meter.nodes == ["server", "7", "8", "9"]
            assert float(server["7"].epsilon(delta=1e-5)) == pytest.approx(float(strategy.spent()), rel=1e-8)
            mu = math.sqrt(rounds) * 2.0 / strategy.mod.sigma
            assert float(server["7"]) == pytest.approx(mu, rel=1e-9)
            assert float(client["7"]) == pytest.approx(mu / math.sqrt(2), rel=1e-6)
            self.start(flwr, strategy, grid, 10)
        assert strategy.used == 4 and float(strategy.meter.epsilon(delta=1e-5)) <= 5.0
        again = ndp.Meter.resume(tmp_path / "run.log")
        assert float(again.losses("8")["7"]) == float(client["7"])

    def test_a_model_that_is_no_mean_counts_as_all_updates(self, flwr):
        from flwr.serverapp.strategy import FedMedian

        grid = local_grid(flwr, self.client(flwr), [7, 8, 9])
        inner = FedMedian(min_train_nodes=3, min_available_nodes=3, min_evaluate_nodes=3)
        strategy = frameworks.flower_strategy(inner, **self.SETTINGS, meter=True)
        self.start(flwr, strategy, grid, 3)
        server, client = strategy.meter.losses("server"), strategy.meter.losses("8")
        assert float(client["7"]) == pytest.approx(float(server["7"]), rel=1e-9) and float(client["7"]) > 0

    def test_a_strategy_of_its_own_counts_as_all_updates(self, flwr):
        """It may keep updates, and send one in a later round, when the meter would have forgotten it."""
        from flwr.serverapp.strategy import FedAvg

        class Late(FedAvg):
            kept = None

            def aggregate_train(self, server_round, replies):
                replies = list(replies)
                first = {reply.metadata.src_node_id: reply.content["arrays"] for reply in replies if not reply.has_error()}
                arrays, metrics = super().aggregate_train(server_round, replies)
                if self.kept is None:
                    self.kept = first[7]
                    return arrays, metrics
                return self.kept, metrics

        grid = local_grid(flwr, self.client(flwr), [7, 8, 9])
        strategy = frameworks.flower_strategy(Late(min_train_nodes=3, min_available_nodes=3, min_evaluate_nodes=3), **self.SETTINGS, meter=True)
        self.start(flwr, strategy, grid, 2)
        server, client = strategy.meter.losses("server"), strategy.meter.losses("8")
        assert float(client["7"]) == pytest.approx(float(server["7"]), rel=1e-9)

    def test_who_comes_later_is_refused_by_a_meter(self, flwr):
        nodes = [7, 8, 9]
        grid, strategy = local_grid(flwr, self.client(flwr), nodes), self.wrapped(meter=True)
        self.start(flwr, strategy, grid, 1)
        nodes.append(10)
        grid.contexts[10] = new_context(flwr)
        with pytest.raises(ndp.NdpError, match="clients .10. came after the meter began"):
            self.start(flwr, strategy, grid, 1)

    def test_evaluation_is_asked_for_where_it_is_public(self, flwr):
        grid = local_grid(flwr, self.client(flwr), [7, 8, 9])
        result = self.start(flwr, self.wrapped(evaluate=True), grid, 1)
        assert [kind for kind, _ in grid.sent] == ["train"] * 3 + ["evaluate"] * 3
        assert result.evaluate_metrics_clientapp[1]["loss"] == 0.5


def updates_of(dtype, clients, size):
    rng = np.random.default_rng(5)
    return {client: {"w": rng.normal(size=size).astype(dtype)} for client in range(clients)}


@pytest.mark.parametrize(("dtype", "clients"), [(np.float32, 3), (np.float32, 900), (np.float64, 130)])
def test_a_mean_is_recognized(dtype, clients):
    updates, weights = updates_of(dtype, clients, 40), {client: 1 + client % 3 for client in range(clients)}
    total = np.zeros(40, dtype)
    for client, weight in weights.items():
        total += updates[client]["w"] * dtype(weight / sum(weights.values()))
    assert _flower._is_mean({"w": total}, updates, weights)
    assert not _flower._is_mean({"w": total}, updates, dict.fromkeys(weights, 1))
    moved = total.copy()
    moved[3] += 1e-2 * np.abs(total).max()
    assert not _flower._is_mean({"w": moved}, updates, weights)


def test_what_rounding_would_hide_is_no_mean():
    """In half precision the update of a single client may be near the mean of many; whole numbers may be anything."""
    updates = updates_of(np.float16, 130, 1)
    alike = dict.fromkeys(updates, 1)
    mean = np.mean([update["w"].astype(float) for update in updates.values()], axis=0).astype(np.float16)
    assert not _flower._is_mean({"w": mean}, updates, alike)
    updates = updates_of(np.float32, 3, 4)
    assert not _flower._is_mean({"w": np.round(1000 * updates[1]["w"]).astype(np.int64)}, updates, dict.fromkeys(updates, 1))
    same = {client: {"steps": np.array([7])} for client in range(3)}
    assert _flower._is_mean({"steps": np.array([7])}, same, dict.fromkeys(same, 1))


class TestFlare:
    """With shareables and contexts of NVIDIA FLARE itself."""

    SETTINGS = {"epsilon": 3.0, "delta": 1e-5, "rounds": 3, "clip": 1.0}

    @pytest.fixture
    def nvflare(self):
        return pytest.importorskip("nvflare.apis.dxo")

    def context(self, name="site-1"):
        from nvflare.apis.fl_context import FLContext

        context = FLContext()
        context.set_prop("__identity_name__", name, private=False, sticky=True)
        return context

    def result(self, dxos, kind="WEIGHT_DIFF", **more):
        data = {"w": np.full((50, 40), 2.0, np.float32), "b": np.full(40, -3.0), "steps": np.array([77])}
        return dxos.DXO(kind, {**data, **more}, {"NUM_STEPS_CURRENT_ROUND": 10, "secret": 1}).to_shareable()

    def made(self, folder, **changed):
        return frameworks.flare(**{**self.SETTINGS, **changed}, folder=str(folder))

    def test_updates_are_clipped_and_noised(self, nvflare, tmp_path):
        made = self.made(tmp_path, public_meta=["NUM_STEPS_CURRENT_ROUND"], seed=1)
        given = self.result(nvflare)
        given["more"], found = "x", None
        given.set_header("more", "x")
        found = made.process(given, self.context())
        dxo = nvflare.from_shareable(found)
        numbers = np.concatenate([dxo.data["w"].ravel(), dxo.data["b"]])
        assert numbers.std() == pytest.approx(made.sigma, rel=0.08)
        assert dxo.data["w"].dtype == np.float32 and dxo.data["steps"].tolist() == [0]
        assert dxo.meta == {"NUM_STEPS_CURRENT_ROUND": 10} and "more" not in found and found.get_header("more") is None

    def test_every_update_has_noise_of_its_own(self, nvflare, tmp_path):
        made = self.made(tmp_path)
        drawn = [nvflare.from_shareable(copy.deepcopy(made).process(self.result(nvflare), self.context())).data["b"] for _ in range(3)]
        assert all(abs(np.corrcoef(drawn[i], drawn[i - 1])[0, 1]) < 0.9 for i in range(3))

    def test_without_noise_the_clipped_update_is_left(self, nvflare, tmp_path):
        made = self.made(tmp_path)
        made.sigma = 0.0
        dxo = nvflare.from_shareable(made.process(self.result(nvflare), self.context()))
        norm = math.sqrt(np.sum(dxo.data["w"].astype(float) ** 2) + np.sum(dxo.data["b"] ** 2))
        assert norm == pytest.approx(1.0, rel=1e-6) and dxo.data["b"][0] / dxo.data["w"][0, 0] == pytest.approx(-1.5, rel=1e-6)

    def test_the_noise_is_that_of_all_rounds(self, nvflare, tmp_path):
        made = self.made(tmp_path)
        one = accountants.Gaussian(made.sigma, sensitivity=2.0)
        assert float(made.kept) <= 3.0
        assert float(accountants.gaussian_compose([one.mu] * 3).epsilon(delta=1e-5)) == pytest.approx(3.0, rel=1e-6)

    def test_the_count_survives_a_restart(self, nvflare, tmp_path):
        for _ in range(3):
            # Made anew each time, as by a process that starts.
            self.made(tmp_path).process(self.result(nvflare), self.context())
        for again in (self.made(tmp_path), self.made(tmp_path)):
            with pytest.raises(ndp.NdpError, match="3 rounds"):
                again.process(self.result(nvflare), self.context())
        # Another site counts for itself.
        again.process(self.result(nvflare), self.context("site-2"))
        assert sorted(os.listdir(tmp_path / "site-1")) == ["1", "2", "3", "settings.json"]

    def test_what_would_go_without_noise_is_blocked(self, nvflare, tmp_path):
        from nvflare.apis.shareable import Shareable, make_reply

        made, context = self.made(tmp_path), self.context()
        for kind in ("WEIGHTS", "METRICS", "COLLECTION", "ANALYTIC"):
            given = nvflare.DXO(kind, {}).to_shareable() if kind == "COLLECTION" else self.result(nvflare, kind)
            with pytest.raises(ndp.NdpError, match=f"{kind}.* is blocked"):
                made.process(given, context)
        with pytest.raises(ndp.NdpError, match="blocked"):
            made.process(Shareable({"w": 3.0}), context)
        for wrong, match in [({"w": np.full(3, np.inf)}, "not finite"), ({"t": np.array(["x"])}, "type"), ({"z": np.ones(2, complex)}, "type")]:
            with pytest.raises(ndp.NdpError, match=match):
                made.process(self.result(nvflare, **wrong), context)
        with pytest.raises(ndp.NdpError, match="name"):
            made.process(self.result(nvflare), self.context("../x"))
        with pytest.raises(ndp.NdpError, match="return code"):
            self.made(tmp_path).process(make_reply("label of patient 17 is 8"), context)
        failed = make_reply("EXECUTION_EXCEPTION")
        failed["secret"] = 1
        passed = made.process(failed, context)
        assert passed.get_return_code() == "EXECUTION_EXCEPTION" and "secret" not in passed
        # None of them was counted.
        assert not (tmp_path / "site-1").exists()

    def test_another_calibration_needs_another_folder(self, nvflare, tmp_path):
        self.made(tmp_path).process(self.result(nvflare), self.context())
        for changed in ({"rounds": 9}, {"epsilon": 4.0}, {"clip": 2.0}):
            with pytest.raises(ndp.NdpError, match="other settings"):
                self.made(tmp_path, **changed).process(self.result(nvflare), self.context())
        (tmp_path / "site-1" / "settings.json").write_text("{")
        with pytest.raises(ndp.NdpError, match="other settings"):
            self.made(tmp_path).process(self.result(nvflare), self.context())
        os.unlink(tmp_path / "site-1" / "settings.json")
        with pytest.raises(ndp.NdpError, match="settings.json is gone"):
            self.made(tmp_path).process(self.result(nvflare), self.context())

    def test_configurations_name_the_class(self, nvflare, tmp_path):
        """As NVIDIA FLARE makes a filter of a configuration, and writes one."""
        from nvflare.fuel.utils.class_utils import instantiate_class

        made = instantiate_class("ndp.frameworks.FlareFilter", {**self.SETTINGS, "folder": str(tmp_path), "public_meta": ["a"]})
        assert isinstance(made, frameworks.FlareFilter) and made.public_meta == ["a"]
        from nvflare.job_config.fed_job_config import FedJobConfig

        written = FedJobConfig("x", 1)
        if hasattr(written, "set_app_packages"):  # from 2.7 on; without it the job carries a copy of the package
            written.set_app_packages(["ndp"])
        (told,) = written._get_filters([made], str(tmp_path / "custom"))
        # "*", which is the default, would filter no task at all.
        for tasks in ({}, *({"tasks": wrong} for wrong in (["*"], ["train*"], "train", [], None, [1], [""]))):
            with pytest.raises(ndp.NdpError, match="name them"):
                made.add_to_fed_job(None, None, filter_type="TASK_RESULT", **tasks)
        with pytest.raises(ndp.NdpError, match="must be TASK_RESULT"):
            made.add_to_fed_job(None, None, filter_type="TASK_DATA", tasks=["train"])
        assert told == {"path": "ndp.frameworks.FlareFilter", "args": {**self.SETTINGS, "folder": str(tmp_path), "public_meta": ["a"]}}
        assert not hasattr(written, "set_app_packages") or not (tmp_path / "custom").exists()

    def test_a_count_in_a_folder_of_the_job_is_refused(self, nvflare):
        """Jobs run in folders that are wiped with them."""
        with pytest.raises(ndp.NdpError, match="absolute path, got 'count'"):
            self.made("count")

    def test_the_receiver_is_no_place_for_it(self, nvflare, tmp_path):
        """In the simulator a site's ``privacy.json`` is read by the server alone."""
        context = self.context("server")
        context.set_prop("__filter_dir__", "in", private=True, sticky=False)
        with pytest.raises(ndp.NdpError, match="where results are received"):
            self.made(tmp_path).process(self.result(nvflare), context)
        context.set_prop("__filter_dir__", "out", private=True, sticky=False)
        assert self.made(tmp_path).process(self.result(nvflare), context).get_return_code() == "OK"


class TestCounts:
    """The count of updates by itself, without a framework."""

    SETTINGS = {"rounds": 40, "clip": 1.0, "sigma": 2.0}

    def test_many_processes_take_every_number_once(self, tmp_path):
        folder = str(tmp_path / "counts")
        with multiprocessing.get_context("spawn").Pool(4) as pool:
            pool.map(abs, range(4))
            for again in range(5):
                found = pool.starmap(numbers_of, [(f"{folder}{again}", self.SETTINGS, 15)] * 4, chunksize=1)
                assert sorted(number for numbers in found for number in numbers) == list(range(1, 41))

    def test_of_two_calibrations_at_once_one_is_refused(self, tmp_path, monkeypatch):
        """Another process with other noise comes between: its settings stay, and nothing is sent with these."""
        from ndp import _flare

        folder, write = tmp_path / "counts", _flare.write_whole

        def late(path, text):
            write(folder / "settings.json", json.dumps({"ndp-count": 1, **self.SETTINGS, "sigma": 1.0}).encode())
            write(path, text)

        monkeypatch.setattr(_flare, "write_whole", late)
        with pytest.raises(ndp.NdpError, match="other settings"):
            _flare.Count(str(folder), self.SETTINGS).take()
        assert os.listdir(folder) == ["settings.json"]

    @pytest.mark.skipif(os.name == "nt", reason="Windows syncs no folders")
    def test_a_number_is_on_disk_before_it_is_given(self, tmp_path, monkeypatch):
        from ndp._flare import Count

        synced, sync, folder = [], os.fsync, tmp_path / "counts"
        monkeypatch.setattr(os, "fsync", lambda handle: (synced.append((os.fstat(handle).st_ino, len(os.listdir(folder)))), sync(handle)))
        assert Count(str(folder), self.SETTINGS).take() == 1
        # The folder with its settings and the first number, and the folder that holds it.
        assert synced[-2:] == [(os.stat(folder).st_ino, 2), (os.stat(tmp_path).st_ino, 2)]

    def test_a_killed_process_leaves_no_number_to_be_sent_twice(self, tmp_path):
        """What was handed out before a kill is never handed out again."""
        folder = str(tmp_path / "counts")
        code = (
            "import sys; from ndp._flare import Count; c = Count(sys.argv[1], dict(rounds=10**6, clip=1.0, sigma=2.0))\n"
            "while True: print(c.take(), flush=True)"
        )
        seen = []
        for lines in (1, 7, 12):
            child = subprocess.Popen([sys.executable, "-c", code, folder], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            seen += [int(child.stdout.readline()) for _ in range(lines)]
            child.kill()
            seen += [int(line) for line in child.stdout.read().split()]
            child.wait()
            child.stdout.close()
        settings = {**self.SETTINGS, "rounds": 10**6}
        rest = numbers_of(folder, settings, 5)
        assert len(seen) >= 20 and len(rest) == 5 and len(set(seen + rest)) == len(seen) + 5 and min(rest) > max(seen)
        with open(os.path.join(folder, "settings.json")) as file:
            assert json.load(file) == {"ndp-count": 1, **settings}


def numbers_of(folder, settings, most):
    from ndp._flare import Count

    count, found = Count(folder, settings), []
    try:
        for _ in range(most):
            found.append(count.take())
    except ndp.NdpError:
        pass
    return found


@pytest.mark.parametrize("rounds", [2.5, np.float64(3.2), 3.0, "3", None])
def test_a_part_of_a_round_is_refused(rounds, tmp_path):
    """A count that runs up to 2.5 lets 3 updates through."""
    settings = {"epsilon": 3.0, "delta": 1e-5, "rounds": rounds, "clip": 1.0}
    for make in (
        lambda: frameworks.flower(**settings),
        lambda: frameworks.flower_strategy(None, **settings),
        lambda: frameworks.p2pfl(**settings),
        lambda: _flare._Filter(folder=str(tmp_path), **settings),
        lambda: _flare.Count(str(tmp_path), {"rounds": rounds, "clip": 1.0, "sigma": 4.0}),
        lambda: _calibrated.Calibrated(4.0, ndp.Exact(3.0, "epsilon"), 1e-5, rounds, 1.0, None),
    ):
        with pytest.raises(ndp.NdpError, match="rounds must be a whole number, got .*" + str(rounds)):
            make()


def test_rounds_of_numpy_are_whole_numbers(tmp_path):
    mod = frameworks.flower(epsilon=3.0, delta=1e-5, rounds=np.int64(3), clip=1.0)
    assert type(mod.rounds) is int and mod.sigma == frameworks.flower(epsilon=3.0, delta=1e-5, rounds=3, clip=1.0).sigma
    count = _flare.Count(str(tmp_path / "site"), {**mod._settings, "rounds": np.int64(2)})
    assert [count.take(), count.take()] == [1, 2]
    with pytest.raises(ndp.NdpError, match="calibrated for 2 rounds"):
        count.take()


def test_a_needed_noise_is_shown_rounded_up():
    mod = frameworks.flower(rounds=2, epsilon=3, delta=1e-5, clip=1)
    assert 3.933192 < mod.sigma < 3.933193
    assert "clip 1, sigma 3.9332, " in repr(mod) and f"{mod.sigma:.5f}" == "3.93320"
    assert isinstance(mod.sigma, float) and f"{frameworks.p2pfl(rounds=2, epsilon=3, delta=1e-5).sigma:.5f}" == "3.93320"


@pytest.mark.parametrize("wrong", [math.nan, math.inf])
@pytest.mark.parametrize("order", [1, -1])
def test_an_update_that_is_not_finite_is_not_sent(wrong, order):
    """In whichever array of the update it is: the largest entry of all may leave out what is no number."""
    parts = {"a": np.ones(2), "b": np.array([wrong])}
    with pytest.raises(ndp.NdpError, match="not finite"):
        _calibrated.noised(dict(list(parts.items())[::order]), 1.0, 1.0, None)
