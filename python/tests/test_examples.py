"""The examples run, and say what is true."""

import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"


def test_digits_stop_at_the_budget(tmp_path, capsys):
    pytest.importorskip("sklearn")
    pytest.importorskip("matplotlib")
    digits = runpy.run_path(str(EXAMPLES / "digits.py"))
    graph = digits["GRAPHS"]["ring"]
    accuracies, losses = digits["train"](graph, rounds=40, sigma=12.0)
    # 40 rounds would cost 5.1: the run ends before, and one more round would have exceeded the budget.
    assert 10 < len(losses) == len(accuracies) < 40
    assert losses == sorted(losses) and losses[-1] <= digits["EPSILON"]
    per_round = digits["ndp"].accountants.Gaussian(12.0, sensitivity=2.0).mu
    after = [digits["ndp"].accountants.gaussian_compose([per_round] * t).epsilon(delta=digits["DELTA"]) for t in (len(losses), len(losses) + 1)]
    assert losses[-1] == pytest.approx(float(after[0]), rel=1e-6) and float(after[1]) > digits["EPSILON"]
    assert accuracies[-1] > 0.2
    found = digits["main"](rounds=2, path=str(tmp_path / "digits.png"))
    assert len(found) == 3 and (tmp_path / "digits.png").stat().st_size > 10_000
    assert capsys.readouterr().out.count("2 rounds") == 3
