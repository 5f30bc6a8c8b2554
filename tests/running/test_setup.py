"""Widths of your own, and when bounds are intersected."""

import numpy as np
import pytest
from reference import problem

import noregret as nr
from noregret.kernels import WithLogs


@pytest.mark.parametrize("cls", [nr.GPUCB, nr.BKB, nr.GPBUCB, nr.BBKB])
def test_a_width_of_your_own_changes_the_picks(cls):
    X, f, _ = problem(arms=80)

    def played(width):
        opt = cls(X, nr.RBF(0.3), noise=0.1, lam=0.05, width=width, seed=0)
        opt.tell(np.arange(0, 80, 4), f[::4])
        for _ in range(5):
            batch = opt.ask(1)
            opt.tell(batch, f[batch.ids])
        return opt

    greedy, curious, number = (played(w) for w in (lambda e: 0.0, lambda e: 9.0, 9.0))
    assert curious.beta == pytest.approx(9.0)
    assert greedy.history.ids.tolist() != curious.history.ids.tolist()
    assert number.history.ids.tolist() == curious.history.ids.tolist()


def test_a_width_that_fails_loses_nothing():
    opt = nr.GPUCB(np.eye(3), nr.RBF(), width=lambda e: 1 / (e.t - 2), seed=0)
    opt.tell([0, 1], [0.0, 1.0])
    with pytest.raises(ZeroDivisionError):
        opt.ask()
    opt.tell([2], [0.0])
    assert opt.pending == 0
    assert len(opt.ask()) == 1


def test_bounds_are_intersected_where_the_width_is_proved():
    """With a number one unlucky dip would lock the best choice out."""
    X, f, _ = problem(arms=30)

    def alive(**options):
        opt = nr.GPUCB(X, nr.RBF(0.3), norm=4.0, seed=0, **options)
        opt.tell([0, 1], f[:2])
        opt.ask()
        return opt.alive

    assert alive() is not None
    assert alive(width="paper") is not None
    assert alive(width=2.0, bounds="intersected") is not None
    for options in ({"width": 2.0}, {"width": "practical"}, {"bounds": "current"}):
        assert alive(**options) is None


@pytest.mark.parametrize("cls", [nr.GPBUCB, nr.BBKB])
@pytest.mark.parametrize("width", [2.0, lambda e: 2.0, "practical"])
def test_inside_a_batch_widths_that_are_not_proved_are_taken_as_they_are(cls, width):
    X, f, _ = problem(arms=40)
    options = {"noise": 0.1, "lam": 1.0, "ratio": 4.0, "bounds": "current", "seed": 0}
    opt, other = (cls(X, nr.RBF(0.3), width=width, **options) for _ in range(2))
    for one in (opt, other):
        one.tell(np.arange(0, 40, 2), f[::2])
    batch = opt.ask()
    assert len(batch) > 3
    for id_, upper in zip(batch.ids, batch.info.upper, strict=True):
        mean, std = other.predict([id_])
        # BBKB's picks shrink variances inside the dictionary's span only.
        assert upper == pytest.approx((mean + opt.beta * std)[0], rel=2e-3)
        other.expect([id_])
    proved = cls(X, nr.RBF(0.3), width="theory", **options).parts().inflation
    assert proved["theory"] == 2.0
    assert proved["paper"] == 4.0


def test_lambda_is_given_or_follows_from_the_noise():
    """λ = ξ², at least 1e-8 of the largest k(x, x), and first of the grid of the proved width."""
    for noise, scale, lam in ((0.5, 1.0, 0.25), (0.0, 4.0, 4e-8), (0.5, 4.0, 0.25)):
        opt = nr.GPUCB(np.eye(3), nr.RBF(variance=scale), noise=noise, norm=2.0)
        assert opt.assumed.lam == pytest.approx(lam)
        assert len(opt.assumed.lams) > 1
        assert len(opt.replace(width=2.0).assumed.lams) == 1
    assert opt.replace(lam=0.7).assumed.lams == (0.7,)


def test_columns_of_zeros_and_ones_start_from_their_own_kernel():
    bits = np.random.default_rng(0).integers(0, 2, size=(30, 80))
    learns = {"noise": "auto", "norm": "auto", "width": 2.0}
    opt = nr.BBKB(bits, "auto", **learns)
    assert isinstance(opt.assumed.kernel, nr.Tanimoto)
    assert opt.events[0]["event"] == "kernel"
    assert not isinstance(nr.BBKB(bits[:, :8], "auto", **learns).assumed.kernel, nr.Tanimoto)


def doses(n=200):
    """A dose over five decades, with controls, and a temperature."""
    rng = np.random.default_rng(0)
    dose = 10.0 ** rng.uniform(-5, 0, n) * (np.arange(n) % 20 > 0)
    return np.column_stack([dose, rng.uniform(20, 40, n)])


def test_a_learnt_kernel_sees_the_logarithms_of_columns_that_span_decades():
    X, learns = doses(), {"noise": "auto", "norm": "auto", "width": 2.0}
    opt = nr.BBKB(X, "auto", **learns)
    kernel = opt.assumed.kernel
    assert isinstance(kernel, WithLogs)
    assert kernel.columns == [0]
    assert kernel.floors == [pytest.approx(0.5 * X[X[:, 0] > 0, 0].min())]
    span = np.ptp(kernel.of(X), axis=0)
    assert np.divide(kernel.kernel.lengthscale, span) == pytest.approx(0.2 * np.sqrt(3))
    assert opt.events[0]["event"] == "kernel"
    assert opt.events[0]["why"] == "columns that span decades (counted from 0): 0"
    assert isinstance(nr.BBKB(X[:, 1:], "auto", **learns).assumed.kernel, nr.Matern)
    assert isinstance(nr.BBKB(X - 1.0, "auto", **learns).assumed.kernel, nr.Matern)
    given = nr.BBKB(X, nr.Matern([0.3, 5.0]), **learns)
    assert given.assumed.kernel is given.kernel
    box = nr.Box([(1e-6, 1.0), (20, 40)])
    assert isinstance(nr.TrustRegionUCB(box, "auto", **learns).assumed.kernel, nr.Matern)


def test_a_function_of_a_logarithm_is_found_as_fast_as_on_logarithms():
    X = doses()
    logs = np.column_stack([np.log10(np.maximum(X[:, 0], 5e-6)), X[:, 1]])
    f = np.exp(-np.square(logs[:, 0] + 3)) + 0.01 * X[:, 1]
    reached = []
    for points in (X, logs):
        opt = nr.BBKB(points, "auto", noise="auto", norm="auto", width=2.0, seed=0)
        while opt.t < 30:
            batch = opt.ask()
            opt.tell(batch, f[batch.ids])
        reached.append(f.max() - f[opt.recommend().id])
    assert reached == pytest.approx([0.0, 0.0], abs=0.02)


def test_candidates_outside_the_decades_can_be_added():
    X = doses()
    opt = nr.BBKB(X, "auto", noise="auto", norm="auto", width=2.0, seed=0)
    while opt.t < 15:
        batch = opt.ask()
        opt.tell(batch, np.log(batch.points[:, 0] + 1e-3))
    opt.add_candidates([[1e-9, 30.0], [-1.0, 25.0], [100.0, 30.0]])
    mean, deviation = opt.predict([200, 201, 202])
    assert np.isfinite(mean).all()
    assert (deviation > 0).all()
    opt.tell(opt.ask(), [1.0])
    assert opt.assumed.kernel.floors == [pytest.approx(0.5 * X[X[:, 0] > 0, 0].min())]
