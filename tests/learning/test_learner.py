"""Learnt kernels, noise and norms, on lists and boxes."""

import itertools

import numpy as np
import pytest

import noregret as nr

AUTO = {"noise": "auto", "norm": "auto"}


def hill(points):
    """One hill on a slope, far from zero mean and unit scale."""
    return 500.0 + 40.0 * np.exp(-8 * np.square(points - 0.6).sum(axis=1)) + points[:, 0]


def play(opt, steps, noise=1.0, seed=0):
    """Evaluate with noise, batches of at most 5."""
    rng = np.random.default_rng(seed)
    while opt.t < steps:
        batch = opt.ask(min(5, steps - opt.t)) if opt.adaptive else opt.ask()
        opt.tell(batch, hill(batch.points) + noise * rng.standard_normal(len(batch)))
    return opt


def drawn(opt):
    """D_random: positions in the history of the uniform draws."""
    return opt.situation().beliefs.learner.random


@pytest.mark.parametrize(
    ("name", "on_box"),
    [("gpucb", True), ("gpbucb", False), ("bkb", False), ("bbkb", True), ("uniform", True)],
)
def test_everything_learnt(name, on_box):
    box = nr.Box([(0, 1), (0, 1)])
    opt = nr.make(name, box if on_box else box.grid(15), "auto", width=2.0, seed=1, **AUTO)
    play(opt, 60)
    best = opt.recommend()
    fits = [event for event in opt.events if event["event"] == "fit"]
    assert fits[0]["t"] >= 10
    grown = [later["t"] / earlier["t"] for earlier, later in itertools.pairwise(fits)]
    assert min(grown) >= 1.25  # a fit comes when the evaluations have grown by a quarter
    assert 4 <= len(fits) <= 8
    assert hill(best.point[None])[0] > (535 if name == "uniform" else 538)
    assert best.lower <= best.mean <= best.upper
    mean, std = opt.predict(best.point[None] if on_box else [best.id])
    assert mean[0] == pytest.approx(best.mean)
    assert opt.assumed.noise * opt.assumed.unit == pytest.approx(1.0, abs=1.0)


def test_fits_use_uniform_draws_only():
    """D_random: batches say which evaluations were drawn uniformly."""
    opt = nr.HuberGPUCB(nr.Box([(0, 1), (0, 1)]), "auto", width=2.0, seed=3, **AUTO)
    rng = np.random.default_rng(0)
    uniform = []
    opt.tell([[0.5, 0.5]], [500.0])  # old data is no uniform draw
    while opt.t < 80:
        batch = opt.ask()
        if batch.uniform:
            uniform.append(opt.t)
        opt.tell(batch, hill(batch.points) + rng.standard_normal(len(batch)))
    assert drawn(opt) == uniform
    assert uniform[:10] == list(range(1, 11))
    assert 10 + 0.2 * (80 - 10) - 1 <= len(uniform) <= 10 + 0.2 * (80 - 10) + 1
    fits = [event for event in opt.events if event["event"] == "fit"]
    assert [event["t"] for event in fits] == [11, 22, 44]


def test_nothing_is_drawn_uniformly_after_the_design():
    opt = nr.GPUCB(nr.Box([(0, 1), (0, 1)]), "auto", width=2.0, seed=3, **AUTO)
    uniform = []
    while opt.t < 40:
        batch = opt.ask()
        uniform.append(batch.uniform)
        opt.tell(batch, hill(batch.points))
    assert uniform == [True] * 10 + [False] * 30


@pytest.mark.parametrize("name", ["tgpucb", "hubergpucb"])
def test_sequential_rules_give_as_many_as_are_asked_for(name):
    """Also where the share of uniform draws is due."""
    opt = nr.make(name, nr.Box([(0, 1)]), "auto", width=2.0, seed=0, norm="auto")
    for _ in range(12):
        batch = opt.ask(4)
        assert len(batch) == 4
        opt.tell(batch, hill(batch.points))
    assert 10 + 0.2 * 38 - 4 <= len(drawn(opt)) <= 10 + 0.2 * 38 + 4


def test_cancelled_draws_never_enter_the_fit():
    opt = nr.GPUCB(nr.Box([(0, 1)]), "auto", seed=0, **AUTO)
    batch = opt.ask()
    opt.cancel(batch)
    opt.tell(batch, [1.0])
    assert drawn(opt) == []


def test_norm_is_doubled_when_rewards_contradict_the_bounds():
    """A tiny design makes a flat guess; a tower elsewhere contradicts it."""
    grid = np.linspace(0, 1, 50)[:, None]
    opt = nr.BKB(grid, nr.RBF(0.1), noise=0.01, norm="auto", seed=0)
    rng = np.random.default_rng(0)
    while opt.t < 12:
        batch = opt.ask()
        opt.tell(batch, 0.01 * rng.standard_normal(len(batch)))
    before = opt.assumed.norm
    opt.tell([25], [50.0])
    opt.ask()
    doublings = [event for event in opt.events if event["event"] == "norm doubled"]
    assert len(doublings) == 1  # as often as needed, at once
    assert opt.assumed.norm == doublings[0]["norm"] > before
    assert np.log2(opt.assumed.norm / before) % 1 == 0
    opt.ask()
    assert opt.assumed.norm == doublings[0]["norm"]


def test_only_the_noise():
    """A given kernel stays as it is, in the rewards' own units."""
    rng = np.random.default_rng(1)
    kernel = nr.RBF(0.3)
    opt = nr.BBKB(nr.Box([(0, 1)]), kernel, noise="auto", width=2.0, seed=0)
    while opt.t < 60:
        batch = opt.ask(5)
        values = np.sin(6 * batch.points[:, 0])
        opt.tell(batch, values + 0.3 * rng.standard_normal(len(batch)))
    assert opt.assumed.kernel is kernel
    assert (opt.assumed.shift, opt.assumed.unit) == (0.0, 1.0)
    assert opt.assumed.noise == pytest.approx(0.3, rel=0.5)
    assert opt.assumed.lam == pytest.approx(opt.assumed.noise**2)


@pytest.mark.parametrize("value", [7.0, 0.1])
def test_constant_rewards(value):
    """Also where the mean of equal rewards is off by round-off, as that of twelve times 0.1 is."""
    opt = nr.BBKB(nr.Box([(0, 1)] * 3), "auto", seed=0, **AUTO)
    while opt.t < 25:
        batch = opt.ask(5)
        opt.tell(batch, np.full(len(batch), value))
    assert opt.recommend().mean == pytest.approx(value)
    assert (opt.assumed.shift, opt.assumed.unit) == (value, 1.0)


def test_rewards_whose_squares_vanish():
    opt = nr.GPUCB(np.linspace(0, 1, 9)[:, None], "auto", seed=0, **AUTO)
    for t in range(12):
        batch = opt.ask()
        opt.tell(batch, [1e-200 * t])
    assert np.isfinite(opt.predict()).all()


def test_uniform_draws_of_a_long_batch_come_at_once():
    """As many as make up their share of all that has been asked for, themselves included."""
    options = {"ratio": 2.0, "width": 2.0, "seed": 0, **AUTO}
    opt = nr.HuberGPUCB(np.random.default_rng(0).random((50, 2)), "auto", **options)
    first = opt.ask()
    opt.tell(first, hill(first.points))
    opt.tell(np.arange(50), hill(opt.domain.points))  # 60 in all, 10 of them drawn
    draws = opt.ask()
    assert draws.uniform
    assert len(draws) == 13  # 10 + 12 < 10 + 0.2 (72 − 10) and 10 + 13 ≥ 10 + 0.2 (73 − 10)
    opt.tell(draws, hill(draws.points))
    assert not opt.ask(1).uniform


STRANGE = {
    "offset": lambda X, rng: 1e8 + rng.standard_normal(len(X)),
    "huge": lambda X, rng: 1e90 * rng.standard_t(1, len(X)),
    "clicks": lambda X, rng: (rng.random(len(X)) < 0.1) * 1.0,
}


@pytest.mark.parametrize("rewards", STRANGE.values(), ids=STRANGE)
@pytest.mark.parametrize("domain", [np.repeat(np.eye(2), 4, axis=0), nr.Box([(1e6, 1e6 + 1)])])
@pytest.mark.parametrize("name", ["bbkb", "thompsonsampling"])
def test_strange_rewards_are_learnt_from(name, domain, rewards):
    """Duplicates and one dimension, far-off units, rewards that are mostly equal."""
    opt = nr.make(name, domain, "auto", width="practical", seed=0, **AUTO)
    rng = np.random.default_rng(0)
    while opt.t < 42:
        batch = opt.ask(6)
        opt.tell(batch, rewards(batch.points, rng))
    best = opt.recommend()
    assert np.isfinite([best.mean, best.lower, best.upper, best.gap]).all()
    assert best.lower <= best.mean <= best.upper
    assert any(event["event"] == "fit" for event in opt.events)


def test_objects_need_a_kernel():
    with pytest.raises(ValueError, match="kernel 'auto'"):
        nr.BBKB(["a", "b"], "auto")
    with pytest.raises((TypeError, ValueError), match="noise"):
        nr.BBKB(np.eye(3), nr.RBF(), noise="loud")


def test_noise_and_norm_with_objects_and_a_callable_kernel():
    words = ["a" * n for n in range(1, 9)]

    def kernel(one, two):
        return np.array([[np.exp(-abs(len(x) - len(y)) / 2) for y in two] for x in one])

    rng = np.random.default_rng(0)
    opt = nr.BBKB(words, kernel, noise="auto", norm="auto", width=2.0, seed=0)
    while opt.t < 40:
        batch = opt.ask(4)
        lengths = np.array([len(word) for word in batch.points])
        opt.tell(batch, -np.square(lengths - 6.0) / 10 + 0.1 * rng.standard_normal(len(batch)))
    assert opt.recommend().point == "a" * 6
    assert [event["event"] for event in opt.events].count("fit") >= 2


def test_a_known_noise_of_zero_stays():
    opt = nr.GPUCB(nr.Box([(0, 1)]), "auto", noise=0.0, norm="auto", seed=0)
    for _ in range(12):
        batch = opt.ask()
        opt.tell(batch, np.sin(3 * batch.points[:, 0]))
    assert opt.predict([[0.5]])[0] == pytest.approx(np.sin(1.5), abs=0.05)
    assert opt.assumed.noise == 0.0


def test_values_that_always_agree_are_not_taken_for_noise():
    """A rough function looks like noise. Where repeats agree it is none: the best value counts."""
    rng = np.random.default_rng(1)
    xs, f = rng.uniform(size=(80, 3)), rng.standard_normal(80)
    one, more = (
        nr.BBKB(xs, "auto", noise="auto", norm="auto", width=2.0, seed=0) for _ in range(2)
    )
    for opt, ids in ((one, np.arange(80)), (more, np.append(np.arange(80), np.arange(4)))):
        opt.tell(ids, f[ids])
        opt.ask(1)
    assert one.assumed.noise > 0.3
    assert more.assumed.noise < 0.01
    assert more.recommend().id == f.argmax()
