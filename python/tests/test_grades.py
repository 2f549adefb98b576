"""Grades as classes: what converts, what does not, and what survives pickling."""

import copy
import os
import pathlib
import pickle
import subprocess
import sys

import numpy as np
import pytest

import ndp


def test_only_guarantees_convert_and_have_epsilon():
    for grade in (ndp.Exact, ndp.UpperBound):
        number = grade(0.25, "unit loss")
        assert float(number) == 0.25 and np.asarray([number], dtype=float)[0] == 0.25
        assert isinstance(number.epsilon(sigma=2.0, delta=1e-5), grade)
        assert issubclass(grade, ndp.Guarantee) and number < 0.3 and number >= 0.25
        assert f"{number:.1f}" == "0.3"
    for grade in (ndp.Printed, ndp.Estimate):
        number = grade(0.25, "unit loss")
        assert number.value == 0.25
        with pytest.raises(TypeError, match="no guarantee; .value says it anyway"):
            float(number)
        with pytest.raises(TypeError):
            np.asarray([number], dtype=float)
        with pytest.raises(TypeError):
            number < 0.3
        assert not hasattr(number, "epsilon") and not isinstance(number, ndp.Guarantee)


def test_the_grade_belongs_to_the_number():
    assert ndp.Exact(0.3) != ndp.Printed(0.3)
    assert ndp.Exact(0.3) == ndp.Exact(0.3) and hash(ndp.Exact(0.3)) == hash(ndp.Exact(0.3))
    assert ndp.Exact(0.3, "mu") != ndp.Exact(0.3, "epsilon")
    assert [g.name for g in (ndp.Exact, ndp.UpperBound, ndp.Printed, ndp.Estimate)] == [
        "exact",
        "upper-bound",
        "printed",
        "estimate",
    ]
    for abstract in (ndp.Graded, ndp.Guarantee):
        with pytest.raises(TypeError):
            abstract(0.3)


def test_grades_copy_and_pickle():
    for number in (ndp.Exact(0.3, "mu"), ndp.Printed(np.arange(3.0), "unit loss"), ndp.Estimate(float("inf"))):
        for copied in (pickle.loads(pickle.dumps(number)), copy.deepcopy(number)):
            assert type(copied) is type(number) and copied == number and copied.detail == number.detail


def test_the_words_are_those_of_the_crates():
    from ndp import _ndp

    for grade in (ndp.Exact, ndp.UpperBound, ndp.Printed, ndp.Estimate):
        assert _ndp.grade_word(grade.__name__) == grade.name


def test_what_a_number_is_decides_what_it_means():
    # The specification of Muffliato, section 12: a mu of 0.5 has this delta at epsilon 1.
    epsilon = ndp.Exact(0.5, "mu").epsilon(delta=0.006829594983114575)
    assert float(epsilon) == pytest.approx(1.0, rel=1e-12) and epsilon.what == "epsilon"
    with pytest.raises(TypeError, match="needs the noise"):
        ndp.Exact(0.5, "unit loss").epsilon(delta=1e-6)
    with pytest.raises(TypeError, match="no Gaussian parameter"):
        ndp.Exact(0.5, "delta").epsilon(delta=1e-6)


def test_an_epsilon_is_tied_to_its_delta():
    # Of the mu 0.25 the epsilon is about 0.92 at 1e-5, and four times that at 1e-20 (Gaussian profile, roots to 50 digits).
    epsilon = ndp.Exact(0.25, "mu").epsilon(delta=1e-5)
    assert epsilon.epsilon() is epsilon and epsilon.epsilon(delta=1e-5) is epsilon
    with pytest.raises(ndp.NdpError, match="holds at delta 1e-05 and above: ask the profile"):
        epsilon.epsilon(delta=1e-20)
    later = epsilon.epsilon(delta=1e-3)
    assert later.grade is ndp.UpperBound and later.value == epsilon.value and later.detail["delta"] == 1e-3
    assert later > ndp.Exact(0.25, "mu").epsilon(delta=1e-3)
    with pytest.raises(ndp.NdpError, match="at a delta that is not known"):
        ndp.Exact(0.919, "epsilon").epsilon(delta=1e-5)
    with pytest.raises(ndp.NdpError, match="delta must lie strictly between 0 and 1"):
        epsilon.epsilon(delta=2.0)
    # Without failures, so that it holds at every delta.
    pure = ndp.accountants.RandomizedResponse.with_epsilon(4, 1.0).local_epsilon
    assert pure.epsilon(delta=1e-9).value == pure.value
    # Every epsilon that leaves the library knows its delta.
    p = ndp.gossip(([0, 1, 2], [1, 2, 3]), rounds=3)
    for number in (
        ndp.least_noise(p, worst=(1.0, 1e-5)).loss,
        ndp.check(p, 4.0, worst=(1.0, 1e-5)).loss,
        p.account(0).profile(1, 4.0).epsilon(1e-5),
        p.losses(0)[1].epsilon(4.0, 1e-5),
    ):
        assert number.what == "epsilon" and number.detail["delta"] == 1e-5
        with pytest.raises(ndp.NdpError, match="holds at delta"):
            number.epsilon(delta=1e-12)


def test_noise_is_not_ignored_where_it_means_nothing():
    mu = ndp.Exact(0.5, "mu")
    for call in (
        lambda: mu.mu(sigma=4.0),
        lambda: mu.mu(sensitivity=2.0),
        lambda: mu.epsilon(sigma=4.0, delta=1e-5),
        lambda: mu.epsilon(delta=1e-5).epsilon(sigma=4.0),
    ):
        with pytest.raises(TypeError, match="is that of a noise already"):
            call()
    assert mu.mu() is mu


def test_guarantees_compare_with_numbers_by_value():
    import decimal
    import fractions

    half = ndp.Exact(0.5, "mu")
    for same in (0.5, np.float64(0.5), np.float32(0.5), fractions.Fraction(1, 2), decimal.Decimal("0.5"), half):
        assert half == same and same == half and hash(half) == hash(same)
        assert half <= same and half >= same and not half < same and not half != same
    assert ndp.UpperBound(3, "count") == 3 and half != 0.25 and half != "0.5" and {half: 1}[0.5] == 1
    table = np.array([0.25, 0.5, 0.75])
    assert list(table == half) == list(half == table) == [False, True, False]
    assert list(table <= half) == [True, True, False] and list(half <= table) == [False, True, True]
    pandas = pytest.importorskip("pandas")
    series = pandas.Series(table)
    assert list(series == half) == [False, True, False] and list(series < half) == [True, False, False]
    # What is no guarantee is no number.
    assert ndp.Printed(0.5) != 0.5 and ndp.Estimate(0.5) != 0.5
    for comparison in (lambda: half < ndp.Printed(0.7), lambda: ndp.Printed(0.3) < half, lambda: 0.1 < ndp.Estimate(0.3)):
        with pytest.raises(TypeError):
            comparison()


def test_different_notions_do_not_compare():
    mu, unit = ndp.Exact(0.5, "mu"), ndp.Exact(0.5, "unit loss")
    assert mu != unit and mu != mu.epsilon(delta=1e-5)
    with pytest.raises(TypeError, match="a mu is not compared with a unit loss"):
        mu <= unit
    near, far = mu.epsilon(delta=1e-5), mu.epsilon(delta=1e-6)
    assert near < mu.epsilon(delta=1e-5).value + 1 and ndp.Exact(near.value, "epsilon", {"delta": 1e-6}) != near
    with pytest.raises(TypeError, match="an epsilon at delta 1e-05 is not compared with one at delta 1e-06"):
        near <= far
    # A target is asked for in its own terms.
    p = ndp.gossip(([0], [1]), rounds=1)
    with pytest.raises(TypeError, match="an epsilon is needed, got a mu"):
        ndp.least_noise(p, worst=(mu, 1e-5))
    with pytest.raises(TypeError, match="a mu is needed, got an epsilon"):
        ndp.check(p, 4.0, worst=near)
    with pytest.raises(TypeError, match="a Rényi loss is needed, got a mu"):
        ndp.check(p, 4.0, worst=mu, order=2.0)
    assert ndp.check(p, 4.0, worst=mu)


SPECS = [".0f", ".3f", ".1e", ".6g", ".3", ">14.2f", "+.2e", ",.1f", ".1%", ".17f", ".20g", "08.3f"]


@pytest.mark.parametrize("value", [0.92634, 0.1, 1 / 3, 3.4491, 12345.678, 1e-9, 5e-324, 1e300, 0.0, 2.0, -3000.25])
def test_guarantees_are_formatted_upwards(value):
    """Against exact fractions: never below the number, and the least of so many digits that is not."""
    from decimal import Decimal
    from fractions import Fraction

    def read(text):
        text = text.strip().replace(",", "")
        return Fraction(text[:-1]) / 100 if text.endswith("%") else Fraction(text)

    number, left = ndp.UpperBound(value, "mu"), ndp.UpperBound(value, "what is left")
    assert f"{number}" == repr(number) and read(repr(number).split("(")[1].split(",")[0]) >= Fraction(value)
    for spec in SPECS:
        text, below, nearest = f"{number:{spec}}", f"{left:{spec}}", f"{value:{spec}}"
        digits, kind = int(spec.split(".")[1].rstrip("feg%")), spec[-1]
        place = {"f": 0, "%": -2}.get(kind, Decimal(value).adjusted() + (kind != "e")) - digits
        assert read(below) <= Fraction(value) <= read(text)
        assert read(text) - read(below) <= Fraction(10) ** place
        # Python multiplies by 100 and rounds before it writes a percentage.
        if kind != "%":
            assert read(nearest) in (read(text), read(below)) and len(text) >= int("14" if ">" in spec else "8" if "08" in spec else "1")


def test_what_is_guaranteed_from_below_is_shown_rounded_down():
    error = ndp.accountants.gaussian_trade_off(0.5, 0.3)
    assert f"{error:.3f}" <= repr(error.value) and float(f"{error:.3f}") <= error.value
    assert float(repr(error).split("(")[1].split(",")[0]) <= error.value
    left = ndp.UpperBound(0.9267678, "what is left")
    assert f"{left:.3f}" == "0.926" and repr(left) == "UpperBound(0.926767, 'what is left')"
    largest = ndp.accountants.gaussian_mu(1.0, delta=1e-6)
    assert isinstance(largest, float) and f"{largest:.3f}" == "0.236" and round(largest, 3) == 0.236  # 0.23669...


def test_arrays_of_guarantees_are_shown_upwards():
    p = ndp.gossip(([0, 1, 2, 3], [1, 2, 3, 0]), rounds=2)
    losses = p.losses(0)
    epsilon = losses.epsilon(sigma=4.0, delta=1e-5)
    plain = np.asarray(epsilon)
    assert type(plain) is np.ndarray and epsilon.grade is losses.grade is ndp.Exact
    # Whatever is shown, read back, is not below.
    for text in (str(epsilon), repr(epsilon).removeprefix("array(").rstrip(")")):
        shown = np.array(text.strip("[]").replace(",", " ").split(), float)
        assert (shown >= plain).all() and shown == pytest.approx(plain, rel=1e-7)
    with np.printoptions(precision=3):
        assert "0.927" in str(epsilon) and "0.926" not in str(epsilon)
    assert list(np.round(epsilon, 3)) == list(epsilon.round(3)) and (epsilon.round(3) >= plain).all()
    assert f"{epsilon[1]:.3f}" == "0.927" and round(epsilon[1], 3) == 0.927 and epsilon[1] == plain[1]
    assert [f"{x:.3f}" for x in epsilon][1] == "0.927" and f"{epsilon.max():.3f}" == f"{max(epsilon):.3f}"
    assert f"{epsilon[1:].max():.2f}" == "0.93" and epsilon[1:].grade is ndp.Exact
    assert ndp.upper(plain, 3) == pytest.approx([float(f"{x:.3g}") for x in epsilon], abs=0) and ndp.upper(0.92634, 2) == 0.93
    # Lower ends go down, and what is computed from ends is an ordinary array.
    low = losses.enclosure[0]
    assert all(float(f"{x:.3f}") <= y for x, y in zip(low, np.asarray(low))) and (low.round(3) <= np.asarray(low)).all()
    assert type(epsilon - low) is type(np.sqrt(epsilon)) is np.ndarray
    for copied in (pickle.loads(pickle.dumps(epsilon)), copy.deepcopy(epsilon)):
        assert np.array_equal(copied, epsilon) and copied.grade is ndp.Exact and repr(copied) == repr(epsilon)
    table = p.all_losses().epsilon(4.0, 1e-5)
    assert f"{table[1, 0]:.3f}" == "0.927" and (table.round(2) >= np.asarray(table)).all()
    assert f"{p.account(0).epsilon(4.0, 1e-5)[1]:.3f}" == "0.927" and p.account(0).mu(4.0).grade is ndp.Exact
    # Noise is rounded up, too: less of it would not do.
    found = ndp.least_noise(p, worst=(1.0, 1e-5))
    assert float(f"{found.sigma:.2f}") >= found.sigma and isinstance(found.sigma, float)
    with pytest.raises(ndp.NdpError, match="digits must be at least 1"):
        ndp.upper(plain, 0)


SNIPPET = """import ndp

printed = ndp.printed.network_contributions(1000.0, 1000.0, 1e-6)
bound = ndp.accountants.Gaussian(2.0).epsilon(1e-5)
print(float(bound), bound < 1.0, float(printed.value))
float(printed)
printed < 0.3
printed.epsilon(delta=1e-5)
ndp.Program(2).contribute(0)
"""


def test_a_type_checker_refuses_what_python_refuses(tmp_path):
    """What raises, or would promise too much, does not pass ``mypy --strict``."""
    pytest.importorskip("mypy")
    (tmp_path / "snippet.py").write_text(SNIPPET)
    here = pathlib.Path(ndp.__file__).parents[1]
    # mypy finds installed packages by itself, and refuses a path to them.
    path = {} if here.name in ("site-packages", "dist-packages") else {"MYPYPATH": str(here)}
    command = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "--cache-dir", str(tmp_path), "snippet.py"]
    said = subprocess.run(command, cwd=tmp_path, env={**os.environ, **path}, capture_output=True, text=True).stdout
    errors = [line.split(":")[1] + line.rpartition(" ")[2] for line in said.splitlines() if ": error: " in line]
    assert errors == ["6[arg-type]", "7[operator]", "8[attr-defined]", "9[call-arg]"], said


def test_numpy_rounds_outward_too():
    r = ndp.gossip(([0, 1, 2], [1, 2, 3]), rounds=2).losses(observer=0)
    e = r.epsilon(4.0, 1e-5)
    # 0.92634...
    assert e[1].round(3) == np.round(e[1], 3) == e.round(3)[1] == 0.927
    assert np.round(ndp.Exact(0.92634, "mu"), 3) == ndp.Exact(0.92634, "mu").round(3) == round(ndp.Exact(0.92634, "mu"), 3) == 0.927
    assert np.array2string(e[1:2], precision=3) == np.array2string(e[1:2], None, 3) == "[0.927]"
    low = r.enclosure[0][1]
    assert low.round(3) <= low


@pytest.mark.parametrize("spec", ["_.17f", "#.1%", "#.20g", "_%", "#.3g", ",.20f", ">#40.25f"])
def test_every_format_of_floats_is_one_of_guarantees(spec):
    for x in (1e-300, 0.92634, 1234567.890625):
        text = format(ndp.Exact(x, "delta"), spec)
        plain = text.replace("_", "").replace(",", "").strip()
        value = float(plain[:-1]) / 100 if plain.endswith("%") else float(plain)
        assert value >= x * (1 - 1e-15), (spec, text)


def test_nothing_has_no_profile():
    with pytest.raises(ndp.NdpError, match="at least one"):
        ndp.Profile.compose([])
