"""Numbers of any size are worked with, or refused by name: no NaN, no infinity, no other error."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import noregret as nr
from noregret._json import dumps

sizes = st.sampled_from([1e-300, 1e-150, 1e-99, 1e-12, 1.0, 1e12, 1e99, 1e150, 1e300, 1.7e308])
cases = st.fixed_dictionaries(
    {
        "algorithm": st.sampled_from(["bbkb", "gpucb", "bkb", "thompsonsampling", "tgpucb"]),
        "coordinates": st.sampled_from([1e-300, 1e-12, 1.0, 1e12, 1e99, 1e300]),
        "rewards": sizes,
        "lam": st.none() | sizes,
        "noise": sizes,
        "fits": st.booleans(),
        "same": st.sampled_from(["no two", "pairs", "all"]),
        "constant": st.booleans(),
        "seed": st.integers(0, 99),
    }
)

#: what an error says that names the argument
REFUSALS = ("must lie within", "must be at least", "kernel must return finite numbers")


def check(algorithm, coordinates, rewards, lam, noise, fits, same, constant, seed):
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(10, 2)) * coordinates
    if same == "pairs":
        X[5:] = X[:5]
    elif same == "all":
        X[:] = X[0]
    try:
        kernel = nr.RBF(coordinates if fits else 1.0)
        opt = nr.make(algorithm, X, kernel, noise=noise, lam=lam, seed=seed)
        for _ in range(3):
            ids = opt.ask(3).ids
            y = np.ones(len(ids)) if constant else rng.uniform(-1, 1, len(ids))
            opt.tell(ids, y * rewards)
    except ValueError as error:
        refused = [word for word in REFUSALS if word in str(error)]
        if not refused:
            raise
        return
    mean, std = opt.predict()
    best = opt.recommend()
    found = [*mean, *std, best.mean, best.lower, best.upper, opt.beta]
    assert np.isfinite(found).all(), found
    assert np.isfinite(best.gap) or not opt.proved  # infinite where the assumptions are refuted
    assert (std >= 0).all()


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(case=cases)
def test_every_size_is_worked_with_or_refused(case):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # assumptions refuted
        check(**case)


@pytest.mark.slow
@settings(max_examples=1000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(case=cases)
def test_every_size_in_a_thousand_cases(case):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        check(**case)


learnt = st.fixed_dictionaries(
    {
        "algorithm": st.sampled_from(["plateucb", "bbkb", "gpucb", "thompsonsampling"]),
        "box": st.booleans(),
        "coordinates": st.sampled_from([1e-300, 1e-99, 1e-12, 1.0, 1e12, 1e99, 1e300]),
        "away": st.sampled_from([0.0, 1.0, 1e6]),
        "rewards": sizes.filter(lambda size: size <= 1e300),
        "shift": st.sampled_from([0.0, 1.0, 1e6]),
        "noise": st.sampled_from(["auto", 0.0, 0.1]),
        "same": st.sampled_from(["no two", "pairs", "a column", "all"]),
        "constant": st.booleans(),
        "seed": st.integers(0, 99),
    }
)


def check_learnt(algorithm, box, coordinates, away, rewards, shift, noise, same, constant, seed):
    """Kernel, noise and norm are learnt: means are finite, and no larger than the rewards are."""
    rng = np.random.default_rng(seed)
    X = (rng.uniform(size=(30, 2)) + away) * coordinates
    if same == "pairs":
        X[15:] = X[:15]
    elif same == "a column":
        X[:, 1] = X[0, 1]
    elif same == "all":
        X[:] = X[0]
    largest = 0.0
    try:
        box = box and algorithm != "plateucb"
        domain = nr.Box([(away * coordinates, (away + 1.0) * coordinates)] * 2) if box else X
        opt = nr.make(algorithm, domain, "auto", noise=noise, width=2.0, seed=seed)
        for n in (12, 4):
            batch = opt.ask(n, fill=True)
            y = np.ones(n) if constant else rng.uniform(-1, 1, n)
            y = (y + shift) * rewards
            largest = max(largest, np.abs(y).max())
            opt.tell(batch, y)
    except ValueError as error:
        refused = [word for word in REFUSALS if word in str(error)]
        if not refused:
            raise
        return
    mean, std = opt.predict(opt.history.points) if box else opt.predict()
    best = opt.recommend()
    assert np.isfinite([*mean, *std, best.mean, best.lower, best.upper, best.gap]).all()
    assert (std >= 0).all()
    # Between points that a model without noise runs through, a mean swings beyond their values.
    assert np.abs(mean).max() <= 10.0 * largest


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(case=learnt)
def test_every_size_is_learnt_from_or_refused(case):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "the rewards contradict", RuntimeWarning)
        check_learnt(**case)


@pytest.mark.slow
@settings(max_examples=500, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(case=learnt)
def test_every_size_is_learnt_from_in_many_cases(case):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "the rewards contradict", RuntimeWarning)
        check_learnt(**case)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_json_has_numbers_only(value):
    assert dumps({"a": [value, 1.5], "b": (value,)}) == '{"a": [null, 1.5], "b": [null]}'
