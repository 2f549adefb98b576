"""Grades as classes: what converts, what does not, and what survives pickling."""

import copy
import pickle

import numpy as np
import pytest

import ndp


def test_only_guarantees_convert_and_have_epsilon():
    for grade in (ndp.Exact, ndp.UpperBound):
        number = grade(0.25, "unit loss")
        assert float(number) == 0.25 and np.asarray([number], dtype=float)[0] == 0.25
        assert isinstance(number.epsilon(sigma=2.0, delta=1e-5), grade)
        assert issubclass(grade, ndp.Guarantee) and number < 0.3 and number >= 0.25
        assert f"{number:.1f}" == "0.2"
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
