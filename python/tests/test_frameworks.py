"""Mods of frameworks: the noise for a whole run, and real messages where the framework is installed."""

import math
import pickle

import numpy as np
import pytest

import ndp
from ndp import accountants, frameworks


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


class TestFlower:
    """With messages of Flower itself."""

    @pytest.fixture
    def flwr(self):
        app = pytest.importorskip("flwr.app")
        # Who runs a client says which task it is; no message can be made without.
        identity = pytest.importorskip("flwr.supercore.task_identity").TaskIdentity
        identity.task_id, identity.run_id, identity.node_id = 1, 1, 1
        return app

    def sent(self, flwr, mod, reply, context, kind="train"):
        old = {"w": np.zeros((50, 40), np.float32), "b": np.zeros(40), "steps": np.array([3])}
        arrays = flwr.ArrayRecord({key: flwr.Array(x) for key, x in old.items()})
        message = flwr.Message(flwr.RecordDict({"model": arrays}), dst_node_id=1, message_type=kind)

        def app(message, context):
            return flwr.Message(flwr.RecordDict(reply(flwr)), reply_to=message)

        found = mod(message, context, app).content
        return {key: array.numpy() for key, array in found["model"].items()}, found

    def context(self, flwr):
        return flwr.Context(run_id=1, node_id=1, node_config={}, state=flwr.RecordDict(), run_config={})

    def trained(self, flwr):
        new = {"w": np.full((50, 40), 2.0, np.float32), "b": np.full(40, -3.0), "steps": np.array([77])}
        return {
            "model": flwr.ArrayRecord({key: flwr.Array(x) for key, x in new.items()}),
            "metrics": flwr.MetricRecord({"loss": 0.25, "num-examples": 10}),
            "more": flwr.ConfigRecord({"secret": "x"}),
        }

    def test_updates_are_clipped_and_noised(self, flwr):
        mod = frameworks.flower(epsilon=3.0, delta=1e-5, rounds=100, clip=1.0, public_metrics=["num-examples"], seed=1)
        found, content = self.sent(flwr, mod, self.trained, self.context(flwr))
        numbers = np.concatenate([found["w"].ravel(), found["b"]])
        # 2,040 numbers: their deviation is that of the noise within a few hundredths; the clipped update is small beside it.
        assert numbers.std() == pytest.approx(mod.sigma, rel=0.08)
        assert found["w"].dtype == np.float32 and found["steps"].tolist() == [3]
        assert dict(content["metrics"]) == {"num-examples": 10} and "more" not in content

    def test_without_noise_the_clipped_update_is_left(self, flwr):
        mod = frameworks.flower(epsilon=3.0, delta=1e-5, rounds=1, clip=1.0)
        mod.sigma = 0.0
        found, content = self.sent(flwr, mod, self.trained, self.context(flwr))
        norm = math.sqrt(np.sum(found["w"].astype(float) ** 2) + np.sum(found["b"] ** 2))
        assert norm == pytest.approx(1.0, rel=1e-6) and "metrics" not in content
        assert found["b"][0] / found["w"][0, 0] == pytest.approx(-1.5, rel=1e-6)

    def test_copies_draw_noise_of_their_own(self, flwr):
        """A simulation sends the mod anew, by pickle, for every message: copies of one generator would draw the same noise."""
        mod = frameworks.flower(epsilon=3.0, delta=1e-5, rounds=100, clip=1.0)
        drawn = [self.sent(flwr, pickle.loads(pickle.dumps(mod)), self.trained, self.context(flwr))[0]["b"] for _ in range(3)]
        drawn += [self.sent(flwr, mod, self.trained, self.context(flwr))[0]["b"] for _ in range(2)]
        for i, one in enumerate(drawn):
            for other in drawn[:i]:
                assert abs(np.corrcoef(one, other)[0, 1]) < 0.9

    def test_rounds_are_counted_in_the_state_and_refused_beyond(self, flwr):
        context = self.context(flwr)
        for _ in range(3):
            # Made anew in every round, as simulations do.
            self.sent(flwr, frameworks.flower(epsilon=1.0, delta=1e-5, rounds=3, clip=1.0), self.trained, context)
        with pytest.raises(ndp.NdpError, match="3 rounds"):
            self.sent(flwr, frameworks.flower(epsilon=1.0, delta=1e-5, rounds=3, clip=1.0), self.trained, context)

    def test_what_would_go_without_noise_is_refused(self, flwr):
        mod = frameworks.flower(epsilon=1.0, delta=1e-5, rounds=3, clip=1.0)
        with pytest.raises(ndp.NdpError, match="evaluate"):
            self.sent(flwr, mod, self.trained, self.context(flwr), kind="evaluate")
        two = lambda flwr: {**self.trained(flwr), "other": flwr.ArrayRecord({"x": flwr.Array(np.ones(2))})}  # noqa: E731
        with pytest.raises(ndp.NdpError, match="got 2"):
            self.sent(flwr, mod, two, self.context(flwr))
        renamed = lambda flwr: {"model": flwr.ArrayRecord({"x": flwr.Array(np.ones(2))})}  # noqa: E731
        with pytest.raises(ndp.NdpError, match="names or shapes"):
            self.sent(flwr, mod, renamed, self.context(flwr))
        endless = lambda flwr: {  # noqa: E731
            "model": flwr.ArrayRecord(
                {"w": flwr.Array(np.full((50, 40), np.inf, np.float32)), "b": flwr.Array(np.zeros(40)), "steps": flwr.Array(np.array([1]))}
            )
        }
        with pytest.raises(ndp.NdpError, match="not finite"):
            self.sent(flwr, mod, endless, self.context(flwr))
