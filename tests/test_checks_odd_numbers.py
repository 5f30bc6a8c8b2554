"""What is refused where numbers are wanted: what NumPy would make numbers of, but is none."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse

import noregret as nr

X = np.random.default_rng(0).uniform(size=(20, 2))

ODD = {
    "text": ["1.5", "2"],
    "text among objects": np.array([1.0, "2"], dtype=object),
    "text among numbers": [1.0, "2"],
    "complex": np.array([1 + 2j, 3]),
    "dates": np.array(["2020-01-01", "NaT"], dtype="M8[D]"),
    "times": np.array([1, 2], dtype="m8[s]"),
    "masked": np.ma.array([1.0, 2.0], mask=[False, True]),
    "masked in a list": [1.0, np.ma.masked],
    "sparse": scipy.sparse.csr_matrix([[1.0], [2.0]]),
    "ragged": [[1], [2, 3]],
    "record": np.array([(1.0,), (2.0,)], dtype=[("a", "f8")]),
}


@pytest.fixture
def opt():
    return nr.GPUCB(X, nr.RBF(0.3), seed=0)


@pytest.mark.parametrize("rewards", ODD.values(), ids=ODD)
def test_rewards_that_are_no_numbers_are_refused(opt, rewards):
    with pytest.raises(TypeError, match="rewards must be numbers, got"):
        opt.tell([0, 1], rewards)
    assert opt.t == 0


@pytest.mark.parametrize("ids", ODD.values(), ids=ODD)
def test_ids_that_are_no_numbers_are_refused(opt, ids):
    with pytest.raises(TypeError, match="ids must be"):
        opt.tell(ids, [1.0, 2.0])
    assert opt.t == 0


@pytest.mark.parametrize("kind", ["masked", "masked in a list", "sparse", "complex", "dates"])
def test_candidates_that_are_no_numbers_are_refused(kind):
    with pytest.raises(TypeError, match="candidates must be an n × d array of numbers"):
        nr.Candidates(ODD[kind])


def test_masked_candidates_of_few_digits_are_refused():
    with pytest.raises(TypeError, match="masked"):
        nr.Candidates(np.ma.array(X.astype(np.float32), mask=X > 0.9))
    assert len(nr.Candidates(np.ma.array(X))) == 20  # nothing is masked


def test_points_of_a_box_that_are_no_numbers_are_refused():
    opt = nr.GPUCB(nr.Box({"a": (0, 1)}), nr.RBF(0.3), seed=0)
    for points in ([["0.5"]], np.ma.array([[0.5]], mask=True), scipy.sparse.csr_matrix([[0.5]])):
        with pytest.raises(TypeError, match="points must be rows of 1 numbers, or dicts of a"):
            opt.tell(points, [1.0])
    with pytest.raises(TypeError, match=r"all dicts or all rows of numbers; row 1 is 0\.3"):
        opt.tell([{"a": 0.5}, 0.3], [1.0, 2.0])
    with pytest.raises(TypeError, match=r"all dicts or all rows of numbers; row 0 is 0\.3"):
        opt.tell([0.3, {"a": 0.5}], [1.0, 2.0])
    assert opt.t == 0


def test_numbers_of_any_type_are_told(opt):
    opt.tell([0, 1, 2, 3], [Decimal("0.5"), Fraction(1, 4), np.float32(2), True])
    opt.tell([4, 5], np.ma.array([1.0, 2.0]))
    assert opt.history.rewards.tolist() == [0.5, 0.25, 2, 1, 1, 2]


@pytest.mark.parametrize("huge", [10**400, 10**5000], ids=["400 digits", "5000 digits"])
def test_numbers_too_large_for_floats_are_refused(opt, huge):
    with pytest.raises(ValueError, match=r"rewards must lie within ±1e\+100"):
        opt.tell([0, 1], [huge, 1.0])
    with pytest.raises(ValueError, match="noise must be finite"):
        opt.replace(noise=huge)
    assert opt.t == 0


@pytest.mark.parametrize(
    "value",
    [
        10**400,
        10**5000,
        "1.5",
        1j,
        np.complex128(1),
        np.datetime64("NaT"),
        np.ma.masked,
        np.ma.array(1.0, mask=True),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_f_returns_and_is_no_number_is_a_failed_evaluation(value):
    def f(x):
        return value if x["a"] > 0.5 else x["a"]

    result = nr.maximize(f, {"a": (0, 1)}, 8, seed=0, progress=False)
    assert result.failures > 0
    assert result.history.rewards.max() <= 0.5
    reasons = {trial.short_reason for trial in result.trials if trial.status == "failed"}
    assert all(reason.startswith("f returned no finite number") for reason in reasons)
