"""Input that is odd but normal, input that is wrong; settings, names and what may be replaced."""

import warnings

import numpy as np
import pytest
from reference import problem

import noregret as nr
from noregret.algorithms import algorithms

ALGORITHMS = [
    (nr.GPUCB, {}),
    (nr.GPBUCB, {}),
    (nr.BKB, {}),
    (nr.BBKB, {}),
    (nr.BBKB, {"batch_rule": "local", "width": "practical"}),
    (nr.BBKB, {"min_batch": 2, "dictionary": "resample"}),
]


def survives(opt, reward, rounds=12):
    for i in range(rounds):
        with warnings.catch_warnings():  # rewards of these cases may refute norm=1, and say so
            warnings.simplefilter("ignore", RuntimeWarning)
            batch = opt.ask(20)
        opt.tell(batch, np.array([reward(id_, i) for id_ in batch.ids], dtype=float))
    mean, std = opt.predict()
    assert np.all(np.isfinite(mean))
    assert np.all(np.isfinite(std))
    best = opt.recommend()
    assert np.isfinite([best.mean, best.lower, best.upper, opt.beta]).all()
    assert np.isfinite(best.gap) or not opt.proved  # infinite where norm=1 is refuted
    assert np.isfinite([opt.effective_dimension(), opt.information_gain()]).all()


@pytest.mark.parametrize(("cls", "options"), ALGORITHMS)
@pytest.mark.parametrize(
    "case",
    [
        "one",
        "duplicates",
        "all equal",
        "constant",
        "line",
        "tiny",
        "huge",
        "far",
        "no noise",
        "big",
    ],
)
def test_odd_lists_and_rewards_give_finite_answers(cls, options, case):
    X, f, _ = problem(arms=30)
    kernel = nr.RBF(0.3)
    common = {"noise": 0.1, "seed": 0, **options}
    rewards = {"constant": lambda i, t: 1.0, "big": lambda i, t: 1e6 * f[i]}
    if case == "one":
        X = X[:1]
    elif case == "duplicates":
        X = np.repeat(X[:6], 5, axis=0)
    elif case == "all equal":
        X = np.zeros((30, 2))
    elif case == "line":
        X = X[:, 0]
    elif case == "tiny":
        kernel = nr.RBF(1e-3)
    elif case == "huge":
        kernel = nr.Matern(1e3, nu=2.5)
    elif case == "far":
        X = X + 1e6
    elif case == "no noise":
        common["noise"] = 0.0
    survives(cls(X, kernel, **common), rewards.get(case, lambda i, t: f[i % len(f)]))


@pytest.mark.parametrize("lam", [1e-10, 1e-4, 1e4])
def test_any_lam_gives_finite_answers(lam):
    X, f, _ = problem(arms=60)
    survives(nr.BBKB(X, nr.RBF(0.5), noise=0.01, lam=lam, seed=0), lambda i, t: f[i], rounds=40)


@pytest.mark.parametrize("variance", [1e-8, 1e8])
def test_any_prior_variance_gives_finite_answers(variance):
    X, f, _ = problem(arms=40)
    opt = nr.BBKB(X, nr.RBF(0.5, variance=variance), noise=0.1, seed=0, width=2.0)
    survives(opt, lambda i, t: f[i])


def test_a_linear_kernel_with_a_point_at_the_origin():
    X = np.vstack([np.zeros(3), np.random.default_rng(0).standard_normal((20, 3))])
    opt = nr.BBKB(X, nr.Linear(), noise=0.1, seed=0)
    survives(opt, lambda i, t: X[i, 0])
    assert len(opt.dictionary) <= 3


def test_many_rewards_of_a_million():
    X, _, _ = problem(arms=50)
    opt = nr.BBKB(X, nr.RBF(0.3), noise=0.1, norm=1e8, seed=0)
    opt.tell(np.arange(100_000) % 50, np.full(100_000, 1e6))
    survives(opt, lambda i, t: 1e6, rounds=5)
    mean, std = opt.predict()
    np.testing.assert_allclose(mean, 1e6, rtol=1e-3)
    assert np.all(std < 0.01)


@pytest.mark.parametrize(
    ("cls", "options", "name"),
    [
        (nr.BBKB, {"ratio": 0.5}, "ratio"),
        (nr.GPBUCB, {"ratio": 0.99}, "ratio"),
        (nr.BBKB, {"ratio": float("nan")}, "ratio"),
        (nr.BBKB, {"qbar": 0.0}, "qbar"),
        (nr.BBKB, {"qbar": "lots"}, "qbar"),
        (nr.BBKB, {"batch_rule": "product"}, "batch_rule"),
        (nr.GPBUCB, {"batch_rule": "lokal"}, "batch_rule"),
        (nr.BKB, {"epsilon": 1.0}, "epsilon"),
        (nr.BBKB, {"acquisition": "greedy"}, "acquisition"),
        (nr.GPUCB, {"bounds": "loose"}, "bounds"),
        (nr.GPUCB, {"search": "guess"}, "search"),
        (nr.BBKB, {"dictionary": "none"}, "dictionary"),
        (nr.BBKB, {"min_batch": 0}, "min_batch"),
        (nr.BBKB, {"min_batch": 2.5}, "min_batch"),
        (nr.BBKB, {"width": "wide"}, "width .*, a number or a function, got 'wide'"),
        (nr.BBKB, {"width": "srinivas"}, "width"),
        (nr.GPUCB, {"width": -1.0}, "width"),
        (nr.GPUCB, {"width": None}, "width"),
        (nr.GPUCB, {"noise": "loud"}, "noise must be a number or 'auto' or 'heavy', got 'loud'"),
        (nr.GPUCB, {"norm": "large"}, "norm must be a number or 'auto', got 'large'"),
        (nr.GPUCB, {"lam": float("inf")}, "lam"),
    ],
)
def test_bad_options_are_refused_by_name(cls, options, name):
    with pytest.raises((ValueError, TypeError), match=name):
        cls(np.eye(3), nr.RBF(), **options)


def test_only_algorithms_have_names():
    """What they share is no algorithm: each name makes one that users can import."""
    ours = {n: c for n, c in algorithms.items() if c.__module__.startswith("noregret.algorithms")}
    assert all(getattr(nr, cls.__name__, None) is cls for cls in ours.values())
    with pytest.raises(ValueError, match=r"name must be one of .*bbkb.*; got 'gpoptimizer'"):
        nr.make("gpoptimizer", np.eye(2), nr.RBF())


@pytest.mark.parametrize(
    "make",
    [
        lambda: nr.BBKB(np.eye(2), nr.RBF(), qbr=3),
        lambda: nr.make("bbkb", np.eye(2), nr.RBF(), qbr=3),
        lambda: nr.BBKB(np.eye(2), nr.RBF()).replace(qbr=3),
    ],
)
def test_a_misspelt_setting_is_refused_with_the_nearest_one(make):
    with pytest.raises(TypeError, match="BBKB has no setting 'qbr'; did you mean 'qbar'"):
        make()


def test_algorithms_by_name():
    opt = nr.make("bbkb", np.eye(3), nr.RBF(), ratio=3.0, seed=1)
    assert type(opt) is nr.BBKB
    assert opt.ratio == 3.0
    assert type(nr.make("GPUCB", np.eye(3), nr.RBF())) is nr.GPUCB
    with pytest.raises(ValueError, match="bbkb"):
        nr.make("annealing", np.eye(3), nr.RBF())


def test_a_batch_of_another_list_cannot_be_told_to_the_wrong_optimiser():
    one, two = (nr.GPUCB(np.eye(4), nr.RBF(), seed=0) for _ in range(2))
    batch = one.ask()
    two.replace_candidates(np.eye(4)[:2])
    with pytest.raises(ValueError, match="another"):
        two.tell(batch, [1.0])


def test_a_batch_of_another_optimiser_on_the_same_list_counts_for_its_ids():
    one, other = (nr.Uniform(np.arange(20.0)[:, None], nr.RBF(), seed=seed) for seed in (0, 1))
    other.tell([3], [0.0])  # from here on the two have different rows
    batch = one.ask(4)
    other.tell(batch, np.arange(4.0))
    assert other.history.ids.tolist() == [3, *batch.ids.tolist()]


def test_kernel_errors_reach_the_user_and_nothing_is_lost():
    X, f, _ = problem(arms=30)
    broken = {"now": False}

    def kernel(xs, ys):
        if broken["now"]:
            raise RuntimeError("no connection to the kernel service")
        return nr.RBF(0.3)(xs, ys)

    opt = nr.BBKB(X, kernel, noise=0.1, norm=4.0, seed=0)
    calm = nr.BBKB(X, nr.RBF(0.3), noise=0.1, norm=4.0, seed=0)
    for o in (opt, calm):
        for _ in range(3):
            batch = o.ask()
            o.tell(batch, f[batch.ids])
    broken["now"] = True
    with pytest.raises(RuntimeError, match="no connection"):
        opt.ask()
    broken["now"] = False
    assert opt.t == calm.t
    assert opt.beta == calm.beta
    batch = opt.ask()
    opt.tell(batch, f[batch.ids])
    assert np.all(np.isfinite(opt.predict()[0]))


def test_replace_keeps_what_is_pending_and_refuses_a_replaced_list():
    X, f, _ = problem(arms=30)
    opt = nr.BBKB(X, nr.RBF(0.3), norm=4.0, seed=0)
    opt.tell([1, 2], f[[1, 2]])
    opt.expect([5, 5, 7])
    made = opt.replace(norm=8.0, width="practical")
    assert (made.norm, made.width, made.pending, made.t) == (8.0, "practical", 3, 2)
    np.testing.assert_array_equal(made.counts([1, 2, 5]), [1, 1, 0])
    made.cancel([5, 5, 7])
    opt.replace_candidates(X[:10])
    with pytest.raises(ValueError, match="replaced"):
        opt.replace(norm=8.0)


def test_the_signature_shows_every_setting():
    import inspect

    for cls in algorithms.values():
        parameters = inspect.signature(cls).parameters
        assert list(parameters)[:2] == ["domain", "kernel"]
        rest = list(parameters.values())[2:]
        assert all(p.kind is p.KEYWORD_ONLY and p.default is not p.empty for p in rest)
        assert {"noise", "norm", "delta", "lam", "seed", "width", "bounds"} <= set(parameters)


@pytest.mark.parametrize("domain", [nr.Box([(0, 1)]), np.zeros((5, 1))], ids=["box", "list"])
def test_more_points_than_memory_holds_are_refused_before_anything_is_asked(domain):
    opt = nr.GPUCB(domain, "auto", seed=0)
    with pytest.raises(ValueError, match="n must be at most 1,000,000, got 1,000,000,000"):
        opt.ask(10**9)
    assert not opt.pending


@pytest.mark.parametrize("points", [[[0.2, 0.4], [0.9, 0.1]], ((0.2, 0.4), (0.9, 0.1))])
def test_points_beside_the_list_are_predicted_from_lists_of_numbers(points):
    opt = nr.GPUCB(nr.Box([(0, 1)] * 2).grid(4), nr.RBF(0.3), seed=0)
    opt.tell([0, 5], [1.0, -1.0])
    expected = opt.predict_points(np.array(points))
    for ours, theirs in zip(opt.predict_points(points), expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    mean, _ = opt.predict_points(opt.domain.points[5])  # one row
    assert mean == pytest.approx(opt.predict([5])[0])


@pytest.mark.parametrize(
    ("points", "words"),
    [
        ([[0.1, 0.2, 0.3]], r"rows of 2 numbers, got shape \(1, 3\)"),
        ([["a", "b"]], "rows of 2 numbers"),
        ([[np.nan, 0.0]], "points must be finite, got nan in row 0, column 0"),
    ],
)
@pytest.mark.parametrize("listed", [True, False])
def test_points_of_another_kind_are_refused(points, words, listed):
    box = nr.Box([(0, 1)] * 2)
    opt = nr.GPUCB(box.grid(4) if listed else box, nr.RBF(0.3), seed=0)
    with pytest.raises((TypeError, ValueError), match=words):
        opt.predict_points(points)


def test_a_space_predicts_dicts_and_a_list_of_bits_takes_bytes_only():
    space = nr.Space({"rate": nr.Float(1e-3, 1, log=True), "kind": nr.Choice(["x", "y"])})
    opt = nr.GPUCB(space, nr.Matern(1.0), seed=0)
    where = [{"rate": 0.1, "kind": "y"}]
    opt.tell(where, [2.0])
    assert opt.predict_points(where)[0] == pytest.approx(opt.predict(where)[0])
    bits = nr.GPUCB(nr.Candidates(np.eye(4, dtype=np.uint8)), nr.Tanimoto(), seed=0)
    bits.tell([0], [1.0])
    assert bits.predict_points([[1, 0, 0, 0]])[0] == pytest.approx(bits.predict([0])[0])
    with pytest.raises(ValueError, match="whole numbers from 0 to 255"):
        bits.predict_points([[0.5, 0, 0, 0]])
