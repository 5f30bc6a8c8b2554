"""What does not fit between a model and its data, one check after the other."""

import numpy as np
import pytest

import noregret as nr
from noregret.reporting.checks import check_model, check_study
from noregret.reporting.findings import lengthscales_at_bounds
from noregret.study.evaluating.stopping import StopRule, status_in_words


def kinds(opt):
    return {one.kind for one in check_model(opt).findings}


@pytest.mark.parametrize("direction", ["maximize", "minimize"])
def test_a_best_value_far_from_all_others_is_named(tmp_path, direction):
    """A lost decimal comma makes the best candidate of a plate."""
    rng = np.random.default_rng(0)
    names = [f"c{i}" for i in range(60)]
    X, values = rng.uniform(size=(60, 2)), 50 + 5 * rng.standard_normal(30)
    sign = 1 if direction == "maximize" else -1
    with nr.Study.create(tmp_path / "a.db", X, direction=direction, names=names, seed=0) as study:
        study.tell_history(np.arange(30), values)
        assert "alone" not in {one.kind for one in check_study(study).findings}
        study.tell_history([40], [sign * 5123.0])
        (found,) = [one.text for one in check_study(study).findings if one.kind == "alone"]
        assert found.startswith(f"c40 was measured once, {sign * 5123}; the next best value is ")
        study.tell_history([40], [sign * 5100.0])
        assert "alone" not in {one.kind for one in check_study(study).findings}


def test_a_single_measurement_is_not_trusted_more_than_a_model_that_was_learnt():
    """It has no mean and no median, and may be the mistake."""
    rng = np.random.default_rng(1)
    opt = nr.PlateUCB(nr.Candidates(np.append(rng.uniform(size=40), 0.5)), seed=0)
    opt.tell(range(41), np.append(50 + rng.standard_normal(40), 90.0))
    (found,) = [one.text for one in check_model(opt).findings if one.kind == "contradiction"]
    assert found.startswith("40 was measured once, 90, and the model says ")
    assert found.endswith("]. One of the two is wrong: measure this choice again.")


def test_fingerprints_have_no_constant_columns():
    bits = np.packbits(np.random.default_rng(0).random((40, 64)) < 0.02, axis=1)
    opt = nr.PlateUCB(nr.Candidates(bits), seed=0)
    opt.tell(np.arange(20), np.arange(20.0))
    assert "constant" not in kinds(opt)


def test_columns_are_called_as_in_the_users_file():
    X = np.column_stack([np.linspace(0, 1, 20), np.ones(20)])
    opt = nr.GPUCB(nr.Candidates(X), nr.RBF(0.3), seed=0)
    (found,) = check_model(opt, columns=["logp", "batch"]).findings
    assert "batch is the same" in found.text


def test_outliers_that_are_expected_are_no_news():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(120, 2))
    rewards = np.sin(5 * X[:60, 0]) + 0.1 * rng.standard_normal(60)
    rewards[::15] += 50.0
    told = {}
    for noise in ("auto", "heavy"):
        opt = nr.GPUCB(X, nr.RBF(0.3), noise=noise, norm=3.0, width=2.0, seed=0)
        opt.tell(np.arange(60), rewards)
        told[noise] = kinds(opt)
    assert told["auto"]
    assert not told["heavy"]


def test_a_constant_column_is_named():
    X = np.column_stack([np.linspace(0, 1, 20), np.ones(20)])
    opt = nr.GPUCB(nr.Candidates(X), nr.RBF(0.3), seed=0)
    (found,) = check_model(opt).findings
    assert found.kind == "constant"
    assert "x1 is the same" in found.text


def test_lengthscales_at_a_bound_are_named():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(400, 1))
    opt = nr.GPUCB(nr.Candidates(X), "auto", noise=0.05, norm="auto", width=2.0, seed=0)
    for _ in range(8):
        batch = opt.ask(20)
        opt.tell(batch, rng.standard_normal(len(batch)) + 3 * np.sin(2000 * batch.points[:, 0]))
    assert "bound" in kinds(opt)


def test_logarithms_of_columns_have_lengthscales_too():
    rng = np.random.default_rng(0)
    X = 10.0 ** rng.uniform(-4, 0, size=(300, 1))
    opt = nr.GPUCB(nr.Candidates(X), "auto", noise=0.05, norm="auto", width=2.0, seed=0)
    for _ in range(8):
        batch = opt.ask(20)
        opt.tell(batch, rng.standard_normal(len(batch)))
    found = lengthscales_at_bounds(opt, ["dose"])
    assert found is not None
    assert "log dose is as short" in found.text


def latencies(**options):
    """An optimiser told of latencies between 10 and 25, with a few far above."""
    rng = np.random.default_rng(0)
    x = rng.uniform(size=(40, 1))
    slow = 10 + 15 * (x[:, 0] - 0.6) ** 2 + 0.1 * rng.standard_normal(40)
    slow[::10] += 40
    opt = nr.TrustRegionUCB(nr.Box([(0, 1)]), seed=0, width=2.0, **options)
    opt.tell(x, -slow)
    return opt


def test_nobody_is_told_to_learn_what_is_learnt_or_to_expect_what_is_expected():
    assert not kinds(latencies(kernel="auto", noise="heavy")) & {"level", "tails", "coverage"}
    assert "tails" in kinds(latencies(kernel="auto", noise="auto"))


def test_outliers_that_were_found_are_named_and_explain_the_rest():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(200, 1))
    opt = nr.PlateUCB(X, seed=0)
    values = np.sin(4 * X[:40, 0]) + 0.1 * rng.standard_normal(40)
    values[[7, 23]] -= 90.0
    opt.tell(np.arange(40), values)
    opt.ask()
    (tails,) = [one.text for one in check_model(opt).findings if one.kind == "tails"]
    assert "were found after 40 measurements" in tails
    assert not kinds(opt) & {"noise", "level", "coverage"}


def test_the_level_is_said_in_the_values_of_the_user():
    opt = nr.GPUCB(nr.Box([(0, 1)]), nr.RBF(0.3), noise=0.1, width=2.0, seed=0)
    x = np.linspace(0, 1, 25)[:, None]
    noise = 0.1 * np.random.default_rng(0).standard_normal(25)
    opt.tell(x, -(50 + np.sin(4 * x[:, 0]) + noise))
    findings = check_model(opt, lambda reward: -reward).findings
    (level,) = [one.text for one in findings if one.kind == "level"]
    assert "(mean 5" in level or "(mean 4" in level


def test_equal_values_are_named_and_are_no_reason_to_stop(tmp_path):
    """A plate of zeros once looked like certainty: no other should be better by more than 0.006."""
    X = np.random.default_rng(0).uniform(size=(200, 2))
    with nr.Study.create(tmp_path / "a.db", X, seed=0) as study:
        study.tell_history(np.arange(24), np.zeros(24))
        (found,) = check_study(study).findings
        assert (found.kind, found.text[:31]) == ("equal", "All 24 values so far are 0, so ")
        rule = StopRule(gap=1.0)
        assert rule.reached(study) is None
        assert "all answers so far are equal" in status_in_words(study, rule)
        study.tell_history([30], [1e-3])
        assert "equal" not in {one.kind for one in check_study(study).findings}


def test_values_over_orders_of_magnitude_are_named(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(200, 2))
    ic50 = 10.0 ** (1 + 4 * X[:, 0])
    for values, expected in ((ic50, True), (np.log10(ic50), False), (ic50 - 50.0, False)):
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}.db"
        with nr.Study.create(path, X, direction="minimize", seed=0) as study:
            study.tell_history(np.arange(60), values[:60])
            kinds_found = {one.kind for one in check_study(study).findings}
            assert ("decades" in kinds_found) == expected
            assert not expected or "tails" not in kinds_found
