"""The filter for p2pfl: by parts with a node made here, and with real nodes where p2pfl is installed."""

import copy
import itertools
import math
import multiprocessing
import os
import pickle
import types

import networkx as nx
import numpy as np
import pytest

import ndp
from ndp import _p2pfl, accountants, frameworks

LINE = nx.Graph([("a", "b"), ("b", "c")])
SETTINGS = {"epsilon": 3.0, "delta": 1e-5, "rounds": 3, "clip": 1.0}


def nothing():
    pass


class Model:
    def __init__(self, numbers):
        self.parameters, self.additional_info = [np.array(x) for x in numbers], {}
        self.contributors, self.num_samples = [], 0

    def get_parameters(self):
        # As PyTorch does it: views of what training changes.
        return self.parameters

    def set_parameters(self, found):
        for x, y in zip(self.parameters, found):
            assert x.dtype == y.dtype
            x[...] = y

    def set_contribution(self, contributors, samples):
        self.contributors, self.num_samples = contributors, samples


class Learner:
    def __init__(self, address, steps):
        self.address, self.steps = address, steps
        self.model, self.adds, self.during = Model([np.zeros((50, 40), np.float32), np.zeros(40), np.array([3])]), {}, nothing

    def get_model(self):
        return self.model

    def fit(self):
        for x, step in zip(self.model.parameters, self.steps):
            x += np.asarray(step, x.dtype)
        self.model.set_contribution([self.address], 77)
        self.model.additional_info.update(self.adds)
        self.during()
        return self.model

    def evaluate(self):
        return {"accuracy": 0.5, "loss": 2.0}


class Protocol:
    def __init__(self):
        self.sent = []

    def gossip_weights(self, stop, candidates, status, model_of, period=None, create_connection=False):
        for receiver in candidates():
            found = model_of(receiver)
            if found[0] is not None:
                self.sent.append((receiver, found[0]))


class Node:
    def __init__(self, address, steps=(2.0, -3.0, 4)):
        self.addr, self.learner, self._communication_protocol = address, Learner(address, steps), Protocol()
        self.state = types.SimpleNamespace(round=None)

    def send(self, *receivers):
        """As a stage of p2pfl: the model is encoded anew for every receiver."""
        self._communication_protocol.gossip_weights(
            None, lambda: receivers, None, lambda to: ([x.copy() for x in self.learner.get_model().get_parameters()], "add", 0, []),
            create_connection=True,
        )  # fmt: skip
        return self._communication_protocol.sent


def numbers_of(node):
    return np.concatenate([x.ravel().astype(float) for x in node.learner.model.parameters[:2]])


def test_the_noise_is_drawn_once_for_all_receivers():
    private = frameworks.p2pfl(**SETTINGS, seed=1)
    node = private.attach(Node("a"))
    node.learner.fit()
    numbers = numbers_of(node)
    # 2,040 numbers: their deviation is that of the noise within a few hundredths; the clipped update is small beside it.
    assert numbers.std() == pytest.approx(private.sigma, rel=0.08)
    assert node.learner.model.parameters[0].dtype == np.float32 and node.learner.model.parameters[2].tolist() == [3]
    sent = node.send("b", "c", "b")
    assert [to for to, _ in sent] == ["b", "c", "b"]
    for _, found in sent:
        assert np.array_equal(np.concatenate([x.ravel().astype(float) for x in found[:2]]), numbers)
    # The next update starts from the noised model.
    node.learner.fit()
    assert not np.array_equal(numbers_of(node), numbers)


def test_without_noise_the_clipped_update_is_left():
    private = frameworks.p2pfl(**SETTINGS)
    private.sigma = 0.0
    node = private.attach(Node("a"))
    node.learner.fit()
    found = numbers_of(node)
    assert np.linalg.norm(found) == pytest.approx(1.0, rel=1e-6) and found[-1] / found[0] == pytest.approx(-1.5, rel=1e-6)


def test_the_noise_is_that_of_all_rounds():
    private = frameworks.p2pfl(**{**SETTINGS, "rounds": 100})
    one = accountants.Gaussian(private.sigma, sensitivity=2.0)
    assert float(private.epsilon) <= 3.0
    assert float(accountants.gaussian_compose([one.mu] * 100).epsilon(delta=1e-5)) == pytest.approx(3.0, rel=1e-6)
    assert private.spent() == ndp.Exact(0.0, "epsilon", {"delta": 1e-5})


def test_after_the_last_round_nothing_is_trained_into_the_model():
    private = frameworks.p2pfl(**SETTINGS)
    node = private.attach(Node("a"))
    for used in (1, 2, 3):
        node.learner.fit()
        composed = accountants.Gaussian(private.sigma, sensitivity=2.0 * math.sqrt(used)).epsilon(delta=1e-5)
        assert float(private.spent()) == pytest.approx(float(composed), rel=1e-9)
    numbers = numbers_of(node)
    with pytest.raises(ndp.NdpError, match="3 rounds"):
        node.learner.fit()
    assert np.array_equal(numbers_of(node), numbers)
    # What was released may be sent again.
    assert len(node.send("b")) == 1


def test_copies_draw_their_own_noise():
    private = frameworks.p2pfl(**SETTINGS)
    found = []
    for made in (private, pickle.loads(pickle.dumps(private)), copy.deepcopy(private)):
        assert (made.sigma, made.rounds, made.epsilon) == (private.sigma, private.rounds, private.epsilon)
        node = made.attach(Node("a"))
        node.learner.fit()
        found.append(numbers_of(node))
    assert all(abs(np.corrcoef(found[i], found[i - 1])[0, 1]) < 0.2 for i in range(3))
    with pytest.raises(TypeError, match="count"):
        pickle.dumps(node.learner)


def forked_fit(results, node):
    try:
        node.learner.fit()
        results.put(numbers_of(node))
    except ndp.NdpError as refused:
        results.put(str(refused))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
def test_forked_processes_draw_their_own_noise_and_count_together(tmp_path):
    context = multiprocessing.get_context("fork")
    for folder, private in ((False, frameworks.p2pfl(**SETTINGS)), (True, frameworks.p2pfl(**SETTINGS, folder=tmp_path))):
        node, results = private.attach(Node("a")), context.SimpleQueue()
        children = [context.Process(target=forked_fit, args=(results, node)) for _ in range(2)]
        for child in children:
            child.start()
        found = [results.get() for _ in children]
        for child in children:
            child.join()
        if not folder:
            assert all("forked" in said for said in found)
            continue
        assert abs(np.corrcoef(*found)[0, 1]) < 0.2
        node.learner.fit()
        with pytest.raises(ndp.NdpError, match="3 rounds"):
            node.learner.fit()


def test_the_count_survives_a_restart(tmp_path):
    for address in ("10.0.0.1:5000", "10.0.0.1:6000", "10.0.0.1:7000"):
        frameworks.p2pfl(**SETTINGS, folder=tmp_path).attach(Node(address), name="hospital ../1").learner.fit()
    with pytest.raises(ndp.NdpError, match="3 rounds"):
        frameworks.p2pfl(**SETTINGS, folder=tmp_path).attach(Node("x"), name="hospital ../1").learner.fit()
    assert len(os.listdir(tmp_path)) == 1
    frameworks.p2pfl(**SETTINGS, folder=tmp_path).attach(Node("x")).learner.fit()
    with pytest.raises(ndp.NdpError, match="other settings"):
        frameworks.p2pfl(**{**SETTINGS, "epsilon": 4.0}, folder=tmp_path).attach(Node("x")).learner.fit()


def test_what_is_computed_beside_the_model_is_not_sent():
    node = frameworks.p2pfl(**SETTINGS).attach(Node("a"))
    assert node.learner.evaluate() == {}
    node.learner.fit()
    assert (node.learner.model.contributors, node.learner.model.num_samples) == (["a"], 1)
    node = frameworks.p2pfl(**SETTINGS, public=["accuracy", "num_samples", "mu"]).attach(Node("a"))
    node.learner.adds = {"mu": 0.1, "empty": None}
    assert node.learner.evaluate() == {"accuracy": 0.5}
    node.learner.fit()
    assert (node.learner.model.num_samples, node.learner.model.additional_info) == (77, {"mu": 0.1})


def test_a_failed_training_leaves_the_old_model():
    """Also where callbacks add what would be sent without noise, and where numbers are not finite."""

    def fail():
        raise RuntimeError("out of memory")

    for change, error, match in [
        (lambda learner: setattr(learner, "during", fail), RuntimeError, "out of memory"),
        (lambda learner: learner.adds.update(delta_c_i=[1.0]), ndp.NdpError, "delta_c_i"),
        (lambda learner: setattr(learner, "steps", (np.nan, 1.0, 0)), ndp.NdpError, "not finite"),
    ]:
        private = frameworks.p2pfl(**SETTINGS)
        node = private.attach(Node("a"))
        change(node.learner)
        with pytest.raises(error, match=match):
            node.learner.fit()
        assert not numbers_of(node).any() and node.learner.model.additional_info == {}
        assert float(private.spent()) == 0.0
        assert len(node.send("b")) == 1


def test_nothing_is_sent_of_a_model_in_training():
    node = frameworks.p2pfl(**SETTINGS).attach(Node("a"))
    node.learner.during = lambda: node.send("b")
    with pytest.raises(ndp.NdpError, match="not sent"):
        node.learner.fit()
    assert not node._communication_protocol.sent
    # Nor where the old model cannot be put back.
    node = frameworks.p2pfl(**SETTINGS).attach(Node("a"))

    def broken(found):
        raise RuntimeError("no room")

    node.learner.model.set_parameters = broken
    with pytest.raises(RuntimeError):
        node.learner.fit()
    with pytest.raises(ndp.NdpError, match="not sent"):
        node.send("b")
    # Nor of a learner that took the place of the one with the filter.
    node = frameworks.p2pfl(**SETTINGS).attach(Node("a"))
    node.learner = Learner("a", (1.0, 1.0, 0))
    with pytest.raises(ndp.NdpError, match="not sent"):
        node.send("b")


def test_what_cannot_be_attached_is_refused():
    private, node = frameworks.p2pfl(**SETTINGS), Node("a")
    private.attach(node)
    for wrong, match in [(node, "already"), (object(), "version 0.4.4")]:
        with pytest.raises(ndp.NdpError, match=match):
            private.attach(wrong)
    late = Node("b")
    late.state.round = 0
    with pytest.raises(ndp.NdpError, match="learning"):
        private.attach(late)
    for wrong, match in [({"clip": 0.0}, "clip"), ({"rounds": 0}, "rounds"), ({"epsilon": -1.0}, "epsilon")]:
        with pytest.raises(ndp.NdpError, match=match):
            frameworks.p2pfl(**{**SETTINGS, **wrong})
    for options, match in [({"clip": 2.0}, "norm 2.0"), ({"clip": 1.0, "neighbors": "zero"}, "replace")]:
        with pytest.raises(ndp.NdpError, match=match):
            frameworks.p2pfl(**SETTINGS, meter=ndp.Meter(["a", "b"] and 2, per="participant", **options))


class TestMeter:
    """What a meter hears, against accounts by hand: each update that was seen once is a Gaussian mechanism."""

    def made(self, rounds=3, **options):
        meter = ndp.Meter(LINE, per="participant", clip=1.0, **options)
        private = frameworks.p2pfl(**{**SETTINGS, "rounds": rounds}, meter=meter)
        return meter, private, [private.attach(Node(name)) for name in "abc"]

    def mu(self, private, updates):
        return 2.0 / private.sigma * math.sqrt(updates)

    def test_a_message_counts_for_its_receiver_and_once(self):
        meter, private, (a, b, c) = self.made()
        a.learner.fit()
        assert all(float(mu) == 0.0 for mu in meter.losses("b").values())
        a.send("b", "b")
        a.send("b")
        assert float(meter.losses("b")["a"]) == pytest.approx(self.mu(private, 1), rel=1e-9)
        assert float(meter.losses("c")["a"]) == 0.0
        # What b makes of it and sends on, it shows, too.
        b.send("c")
        assert float(meter.losses("c")["a"]) == pytest.approx(self.mu(private, 1), rel=1e-9)

    def test_an_update_that_reads_an_update_shows_it(self):
        meter, private, (a, b, c) = self.made()
        a.learner.fit()
        a.send("b")
        b.learner.fit()
        b.send("c")
        assert float(meter.losses("c")["a"]) >= self.mu(private, 1) * (1 - 1e-9)
        for _ in range(2):
            a.learner.fit()
            a.send("b", "c")
        assert float(meter.losses("c")["a"]) == pytest.approx(self.mu(private, 3), rel=1e-9)
        # All rounds together cost what the filter says.
        assert float(meter.epsilon(delta=1e-5)) == pytest.approx(float(private.epsilon), rel=1e-6)

    def test_a_limit_stops_a_message_before_it_is_sent(self):
        probe = frameworks.p2pfl(**SETTINGS)
        meter, private, (a, b, c) = self.made(limits=1.5 * (2.0 / probe.sigma) ** 2)
        a.learner.fit()
        a.send("b")
        a.learner.fit()
        before = len(a._communication_protocol.sent)
        with pytest.raises(ndp.Refused):
            a.send("b")
        assert len(a._communication_protocol.sent) == before

    def test_every_node_is_heard(self):
        meter = ndp.Meter(LINE, per="participant", clip=1.0)
        private = frameworks.p2pfl(**SETTINGS, meter=meter)
        a = private.attach(Node("a"))
        a.learner.fit()
        with pytest.raises(ndp.NdpError, match=r"\['b', 'c'\].*no filter"):
            a.send("b")
        with pytest.raises(ndp.NdpError, match="not one of"):
            private.attach(Node("z"))
        with pytest.raises(TypeError, match="meter"):
            pickle.dumps(private)

    def test_one_node_counts_for_itself(self):
        meter = ndp.Meter(LINE, per="participant", clip=1.0, observers=[["b", "c"]], view=("own_messages", "a"))
        private = frameworks.p2pfl(**SETTINGS, meter=meter)
        a = private.attach(Node("a"))
        for _ in range(2):
            a.learner.fit()
            a.send("b", "c")
        assert float(meter.losses(("b", "c"))["a"]) == pytest.approx(self.mu(private, 2), rel=1e-9)


def test_the_view_of_a_meter_comes_back_with_its_log(tmp_path):
    for view, observers in ((("own_messages", 0), [[1, 2]]), (("public_schedule", 1), None), ("coordinator", None)):
        path = tmp_path / f"{view[0]}.log"
        meter = ndp.Meter([(0, 1), (1, 2)], per="use", clip=1.0, view=view, observers=observers)
        meter.log(path)
        assert meter.view == ndp.Meter.resume(path).view == (view if isinstance(view, str) else view[0])


class TestRealNodes:
    """Nodes of p2pfl itself, in one process; they train numbers with NumPy."""

    ROUNDS = 2

    @pytest.fixture
    def p2pfl(self):
        pytest.importorskip("p2pfl", reason="p2pfl is not installed")
        from p2pfl.settings import Settings

        Settings.general.DISABLE_RAY = True
        Settings.heartbeat.PERIOD, Settings.heartbeat.TIMEOUT, Settings.heartbeat.WAIT_CONVERGENCE = 0.2, 3.0, 0.5
        Settings.gossip.PERIOD, Settings.gossip.MODELS_PERIOD = 0.1, 0.2
        Settings.training.VOTE_TIMEOUT, Settings.training.AGGREGATION_TIMEOUT = 60, 60
        return Settings

    def nodes(self, metrics):
        from p2pfl.communication.protocols.protobuff.memory import MemoryCommunicationProtocol
        from p2pfl.learning.frameworks.learner import Learner as Base
        from p2pfl.learning.frameworks.p2pfl_model import P2PFLModel
        from p2pfl.node import Node as RealNode

        class Numbers(P2PFLModel):
            def get_parameters(self):
                return self.model

            def set_parameters(self, found):
                if isinstance(found, bytes):
                    found, info = self.decode_parameters(found)
                    self.additional_info.update(info)
                self.model = [np.array(x) for x in found]

            def get_framework(self):
                return "numpy"

        class Trains(Base):
            def fit(self):
                self.get_model().model = [x + 1.0 for x in self.get_model().model]
                self.get_model().set_contribution([self.addr], 50)
                return self.get_model()

            def interrupt_fit(self):
                pass

            def evaluate(self):
                return dict(metrics)

            def get_framework(self):
                return "numpy"

        data = types.SimpleNamespace(dataset_name="none", batch_size=1)
        return [
            RealNode(Numbers([np.zeros(2000)]), data, learner=Trains(), protocol=MemoryCommunicationProtocol(), addr=f"node-{i}")
            for i in range(3)
        ]

    def learn(self, nodes):
        import time

        for node in nodes:
            node.start()
        try:
            for node in nodes[1:]:
                node.connect(nodes[0].addr)
            time.sleep(1.5)
            nodes[0].set_start_learning(rounds=self.ROUNDS, epochs=1)
            until = time.monotonic() + 240
            time.sleep(1.0)
            while time.monotonic() < until and any(node.state.round is not None for node in nodes):
                time.sleep(0.2)
            assert all(node.state.round is None for node in nodes)
        finally:
            for node in nodes:
                node.stop()

    def test_a_training_of_three_nodes(self, p2pfl, monkeypatch):
        from p2pfl.learning.frameworks.p2pfl_model import P2PFLModel

        # What training leaves in a model, noise included, by the round and the node; and every model that is sent.
        trained, noised = {}, _p2pfl._Attached._noised
        monkeypatch.setattr(_p2pfl._Attached, "_noised", lambda self, old, new: trained.setdefault((self.node.state.round, self.address), (old, noised(self, old, new)))[1])
        encoded, plain = [], P2PFLModel.encode_parameters
        monkeypatch.setattr(P2PFLModel, "encode_parameters", lambda self, params=None: encoded.append([np.array(x) for x in self.get_parameters()]) or plain(self, params))
        nodes = self.nodes({"accuracy": 0.5})
        addresses = [node.addr for node in nodes]
        meter = ndp.Meter(nx.complete_graph(addresses), per="participant", clip=1.0)
        private = frameworks.p2pfl(epsilon=3.0, delta=1e-5, rounds=self.ROUNDS, meter=meter)
        for node in nodes:
            private.attach(node)
        self.learn(nodes)
        assert private.spent() == private.epsilon
        ends = [node.learner.get_model().get_parameters()[0] for node in nodes]
        # Every update has a noise of its own, of the deviation that is stated.
        noises = [new[0] - old[0] for old, new in trained.values()]
        assert all(noise.std() == pytest.approx(private.sigma, rel=0.1) for noise in noises)
        assert all(abs(np.corrcoef(a, b)[0, 1]) < 0.15 for a, b in itertools.combinations(noises, 2))
        # What was sent is the first model, or the mean of what several nodes have trained in one round: nothing that has no noise. Which
        # models a mean has is p2pfl's business: a model that is late is left out.
        means = {(): np.zeros(2000)}
        for k in range(self.ROUNDS):
            of_round = [(k, address) for address in addresses if (k, address) in trained]
            for size in range(1, len(of_round) + 1):
                means.update({chosen: np.mean([trained[one][1][0] for one in chosen], axis=0) for chosen in itertools.combinations(of_round, size)})
        made_of = [next((chosen for chosen, mean in means.items() if np.allclose(model[0], mean, rtol=1e-9, atol=1e-9)), None) for model in encoded]
        assert None not in made_of and any(made_of)
        # The same model was encoded for several receivers.
        assert len(encoded) > 6
        assert len({model[0].tobytes() for model in encoded}) < len(encoded)
        # A pair has lost what a number of updates cost: at least of those that the observer's last model is made of.
        counts = []
        last = [next(chosen for chosen, mean in means.items() if np.allclose(end, mean, rtol=1e-9, atol=1e-9)) for end in ends]
        costs = [0.0, *(float(accountants.Gaussian(private.sigma, sensitivity=2.0 * math.sqrt(k)).mu) for k in range(1, self.ROUNDS + 1))]
        for v, chosen in zip(addresses, last):
            for u, mu in meter.losses(v).items():
                counted = [k for k, cost in enumerate(costs) if float(mu) == pytest.approx(cost, rel=1e-9, abs=1e-12)]
                until = next((k for k, address in chosen if address == u), -1)
                known = sum(address == u and k <= until for k, address in trained)
                assert counted and known <= counted[0] <= sum(address == u for _, address in trained)
                counts.append(counted[0])
        spent = accountants.Gaussian(private.sigma, sensitivity=2.0 * math.sqrt(max(counts))).epsilon(delta=1e-5)
        assert max(counts) > 0 and float(meter.epsilon(delta=1e-5)) == pytest.approx(float(spent), rel=1e-9)
        assert float(meter.epsilon(delta=1e-5)) <= float(private.epsilon) * (1 + 1e-9)
        # A third round has no noise left: nobody trains.
        before = [x.copy() for x in ends]
        with pytest.raises(ndp.NdpError, match="2 rounds"):
            nodes[0].learner.fit()
        assert np.array_equal(nodes[0].learner.get_model().get_parameters()[0], before[0])

    def test_its_own_noise_is_drawn_for_every_message(self, p2pfl):
        """Version 0.4.4: two encodings of one model differ, and their mean has half the variance."""
        pytest.importorskip("opendp", reason="p2pfl[dp] is not installed")
        from p2pfl.learning.compression.manager import CompressionManager

        numbers = [np.zeros(4000)]
        drawn = [CompressionManager.reverse(CompressionManager.apply(numbers, {}, {"dp": {}}))[0][0] for _ in range(2)]
        stated = math.sqrt(2 * math.log(1.25 / 1e-5)) / 3.0
        assert drawn[0].std() == pytest.approx(stated, rel=0.06) and drawn[1].std() == pytest.approx(stated, rel=0.06)
        assert (drawn[0] + drawn[1]).std() / 2 == pytest.approx(stated / math.sqrt(2), rel=0.06)
