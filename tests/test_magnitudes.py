"""Numbers of any size are worked with, or refused by name: no NaN, no infinity, no other error."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import noregret as nr
from noregret.study.plain_json import dumps

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


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_json_has_numbers_only(value):
    assert dumps({"a": [value, 1.5], "b": (value,)}) == '{"a": [null, 1.5], "b": [null]}'
