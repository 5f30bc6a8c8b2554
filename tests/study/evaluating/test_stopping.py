"""When one-line runs end: gaps, patience, convergence, time, callbacks, Ctrl-C."""

import threading
from dataclasses import replace

import numpy as np
import pytest
from functions import bowl, fails_right_of

import noregret as nr
from noregret.picking.thompson import Thompson, paths
from noregret.picking.ucb import ucb


def test_stops_at_tol():
    options = {"kernel": nr.RBF(0.5), "noise": 0.01, "norm": 1.0, "width": 2.0}
    result = nr.minimize(bowl, nr.Box([(0, 1)]), 100, seed=0, progress=False, tol=0.05, **options)
    assert result.stopped == "tol"
    assert not result.certified  # bounds of two deviations, on a box
    assert result.algorithm.t < 100
    assert result.best.gap <= 0.05


def test_a_gap_on_a_list_is_certified_where_everything_is_given():
    X = np.linspace(0, 1, 40)[:, None]
    options = {"kernel": nr.RBF(0.5), "noise": 0.01, "norm": 3.0, "algorithm": "gpucb"}
    result = nr.minimize(bowl, X, 300, seed=0, progress=False, tol=0.1, **options)
    assert result.stopped == "tol"
    assert result.certified
    certificate = result.algorithm.certify(tol=0.1)
    assert certificate.certified
    assert certificate.largest_norm >= 3.0 or certificate.gap > 0.1


def test_learnt_settings_certify_nothing_and_are_tested_by_fresh_draws():
    result = nr.minimize(bowl, nr.Box([(0, 1)]), 120, seed=0, progress=False, tol=0.5, width=2.0)
    assert not result.certified
    assert result.stopped in ("tol (learnt settings)", "budget")
    if result.stopped != "budget":
        assert result.algorithm.t >= 10 + 30  # the design, and the draws that test the fit


def test_callback_sees_every_evaluation_and_stops_the_run():
    seen = []

    def callback(progress):
        seen.append(progress)
        return progress.done == 9

    f = fails_right_of(0.8)
    result = nr.minimize(f, nr.Box([(0, 1)]), 50, seed=0, progress=False, callback=callback)
    assert result.stopped == "callback"
    assert [progress.trial for progress in seen] == list(range(9))
    frame = result.to_frame()
    assert [one.point[0] for one in seen] == frame["x0"].to_list()
    assert [one.reason is None for one in seen] == (frame["status"] == "told").to_list()
    assert seen[-1].best == frame["value"].min()


def test_patience_ends_a_run_that_finds_nothing_better():
    result = nr.minimize(bowl, nr.Box([(0, 1), (0, 1)]), 200, seed=0, progress=False, patience=12)
    assert result.stopped == "patience"
    assert 12 < result.evaluations < 100
    assert bowl(result.best.point) < 0.01
    flat = nr.minimize(
        lambda x: 1.0, np.arange(9.0)[:, None], 99, seed=0, progress=False, patience=5
    )
    assert flat.stopped == "patience"


@pytest.mark.parametrize(
    "domain",
    [pytest.param(nr.Box([(0, 200)]), marks=pytest.mark.slow), np.linspace(0, 200, 80)[:, None]],
)
def test_thompson_sampling_stops_where_it_has_converged(domain):
    """In units of the space: the box is 200 wide, and draws lie within a few hundredths of it."""
    result = nr.minimize(
        lambda x: bowl(x / 200.0),
        domain,
        300,
        algorithm="thompsonsampling",
        kernel=nr.RBF(80.0),
        noise=0.01,
        n_init=8,
        stop="converged",
        seed=0,
        progress=False,
    )
    assert result.stopped == "converged"
    assert 8 <= result.evaluations < 150
    assert bowl(result.best.point / 200.0) < 0.01
    assert result.algorithm.converged()


def test_a_look_at_the_spread_every_twentieth_answer():
    """Draws of two equal peaks never gather, and the run goes on to its budget."""
    looks = []

    class Counting(Thompson):
        def spread(self, now):
            looks.append(now.observations.t)
            return super().spread(now)

    class Counted(nr.ThompsonSampling):
        def parts(self):
            where = (self.domain, self.search)
            how = (self.features, self.xi, self.n_init, self.seed)
            return replace(super().parts(), chooser=Counting(ucb(*where), paths(*where), *how))

    X = np.linspace(0, 1, 40)[:, None]
    opt = Counted(X, nr.RBF(0.1), noise=0.1, n_init=5, seed=0)
    result = nr.maximize(
        lambda x: abs(x[0] - 0.5), X, 80, algorithm=opt, stop="converged", progress=False
    )
    assert result.stopped == "budget"
    assert looks[:3] == [1, 2, 3]
    assert np.all(np.diff(looks) >= np.maximum(1, 0.05 * np.array(looks[:-1]) - 1))
    assert len(looks) < 60


def test_converged_means_thompson_sampling_where_nobody_names_an_algorithm():
    X = np.linspace(0, 1, 30)[:, None]
    result = nr.minimize(bowl, X, 12, stop="converged", seed=0, progress=False)
    assert isinstance(result.algorithm, nr.ThompsonSampling)


def test_timeout_is_for_the_whole_run():
    result = nr.minimize(bowl, nr.Box([(0, 1)]), 10_000, seed=0, progress=False, timeout=0.05)
    assert result.stopped == "timeout"
    assert 0 < result.evaluations < 10_000


def test_at_the_timeout_workers_are_not_waited_for():
    release = threading.Event()

    def hangs(x):
        assert release.wait(60)
        return bowl(x)

    result = nr.minimize(
        hangs, nr.Box([(0, 1)]), 10, seed=0, workers=2, timeout=0.05, progress=False
    )
    assert result.stopped == "timeout"
    assert result.evaluations == 0
    release.set()


def test_interrupts_return_what_is_known():
    calls = []

    def f(x):
        calls.append(x)
        if len(calls) == 15:
            raise KeyboardInterrupt
        return -bowl(x)

    result = nr.maximize(f, nr.Box([(0, 1)]), 50, seed=0, progress=False)
    assert result.stopped == "interrupted"
    assert len(result.history) == 14
    assert result.algorithm.pending == 0
    more = nr.maximize(f, None, 5, algorithm=result.algorithm, progress=False)
    assert len(more.history) == 19
