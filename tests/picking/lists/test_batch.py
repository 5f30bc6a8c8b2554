"""Lists that sleep: pick for pick the same as looking at every candidate."""

import numpy as np
import pytest
from dense import DenseRun
from reference import exact_posterior, problem

import noregret as nr
from noregret.models.followed import Followed
from noregret.picking.lists import awake, dozing, following

KERNEL = nr.Matern(0.3, nu=2.5)
ROOT = 2**0.5

#: algorithm, its settings, what ends its batches, whether picks count outside the dictionary's span
CASES = {
    "gpucb": (nr.GPUCB, {}, None, False),
    "bkb": (nr.BKB, {"qbar": 0.5}, None, False),
    "bkb resample": (nr.BKB, {"qbar": 1.0, "dictionary": "resample"}, None, False),
    "gpbucb product": (nr.GPBUCB, {}, "product", False),
    "gpbucb global": (nr.GPBUCB, {"batch_rule": "global"}, "global", False),
    "gpbucb local": (nr.GPBUCB, {"batch_rule": "local"}, None, False),
    "bbkb": (nr.BBKB, {"qbar": 0.5}, "global", True),
    "bbkb resample": (nr.BBKB, {"qbar": 1.0, "dictionary": "resample"}, "global", True),
    "bbkb local": (nr.BBKB, {"qbar": 1.0, "batch_rule": "local"}, None, False),
}


def beside(case, X, kernel=KERNEL, **options):
    """An optimiser with a dense run beside it."""
    cls, own, rule, frozen = CASES[case]
    options = {"noise": 0.1, "norm": 4.0, "seed": 1, **own, **options}
    opt = cls(X, kernel, **options)
    proved = opt.width == "theory" and opt.adaptive
    return DenseRun(opt, rule, frozen=frozen, inflation=ROOT if proved else 1.0)


def play(dense, f, rounds=15, seed=0):
    """Old data, then up to three batches in flight, some cut short and some filled up."""
    rng = np.random.default_rng(seed)

    def rewards(ids):
        return f[ids] + 0.1 * rng.standard_normal(len(ids))

    # Uniform draws inside a plate cannot be told from picks.
    fills = "auto" not in (dense.opt.kernel, dense.opt.noise, dense.opt.norm)
    flights, old = [], rng.integers(len(f), size=3)
    dense.tell(old, rewards(old))
    for i in range(rounds):
        fill = i % 5 == 4 and fills
        flights.append(dense.ask(30 if i % 7 == 6 else 7 if i % 3 else 1, fill=fill))
        if len(flights) > 2:
            batch = flights.pop(0)
            dense.tell(batch, rewards(batch.ids))
        if i % 8 == 7:
            dense.tell(old, rewards(old))
    return dense


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"lam": 0.05},
        {"width": 2.0},
        {"width": 2.0, "bounds": "intersected"},
        {"bounds": "current"},
    ],
    ids=str,
)
def test_every_pick_has_the_largest_bound_of_the_list(case, options):
    X, f, _ = problem(3, arms=150)
    dense = play(beside(case, X, **options), f)
    assert dense.clear > 8  # picks that no tie leaves open


@pytest.mark.parametrize("case", ["gpucb", "bbkb", "gpbucb product"])
@pytest.mark.parametrize("options", [{}, {"repeats": 1}, {"repeats": 1, "aim": 3}], ids=str)
def test_leverages_of_long_lists_are_computed_only_on_top(case, options, monkeypatch):
    monkeypatch.setattr(following, "_SAVED", 0)  # every list counts as long
    computed = []
    make_exact = Followed.make_exact

    def counted(self, root, rows=None):
        computed.append(len(self) if rows is None else len(rows))
        make_exact(self, root, rows)

    monkeypatch.setattr(Followed, "make_exact", counted)
    X, f, _ = problem(3, arms=800)
    dense = play(beside(case, X, width=2.0, **options), f)
    assert dense.clear > 8
    assert 0 < np.mean(computed) < 0.7 * len(X)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize(("width", "repeats"), [("theory", 1), (2.0, 2)])
def test_candidates_that_may_not_be_repeated_are_passed_over(case, width, repeats):
    X, f, _ = problem(3, arms=150)
    dense = play(beside(case, X, width=width, repeats=repeats), f)
    assert dense.clear > 8


@pytest.mark.parametrize("case", ["gpucb", "bbkb", "gpbucb product"])
@pytest.mark.parametrize("options", [{}, {"width": 2.0}, {"width": 2.0, "repeats": 2}], ids=str)
def test_looking_for_the_best_few(case, options):
    X, f, _ = problem(3, arms=150)
    dense = play(beside(case, X, aim=4, **options), f, rounds=20)
    assert dense.clear > 8
    assert dense.led  # picks of the best few, where they are less certain


def test_the_whole_list_is_measured_and_no_more():
    X, f, _ = problem(3, arms=70)
    dense = beside("bbkb", X, width=2.0, repeats=1)
    seen = []
    while not dense.opt.exhausted:
        batch = dense.ask(30, fill=True)
        seen += batch.ids.tolist()
        dense.tell(batch, f[batch.ids])
    assert sorted(seen) == list(range(70))


@pytest.mark.parametrize("case", ["gpucb", "bbkb"])
@pytest.mark.parametrize("width", ["theory", 2.0])
@pytest.mark.parametrize("arms", [1, 2, 63, 64, 65])
def test_short_lists(case, width, arms):
    X, f, _ = problem(3, arms=arms)
    assert play(beside(case, X, width=width), f).checked > 12


@pytest.mark.parametrize("case", ["gpucb", "bkb", "bbkb"])
@pytest.mark.parametrize("width", ["theory", 2.0])
def test_a_longer_list_is_looked_at_in_pieces(case, width):
    X, f, _ = problem(4, arms=5000)
    dense = play(beside(case, X, width=width), f, rounds=5)
    assert dense.clear > 5


@pytest.mark.parametrize("case", ["gpucb", "bbkb", "gpbucb product", "bbkb local"])
@pytest.mark.parametrize("width", ["theory", 2.0])
def test_candidates_doze_where_memory_is_short(case, width, monkeypatch):
    counts = {"add": 0, "wake": 0}

    class Counted(dozing.Dozing):
        def add(self, *what):
            counts["add"] += 1
            super().add(*what)

        def wake(self, count):
            counts["wake"] += 1
            return super().wake(count)

    monkeypatch.setattr(awake, "_AWAKE", 500)
    monkeypatch.setattr(awake, "Dozing", Counted)
    X, f, _ = problem(4, arms=2000)
    dense = play(beside(case, X, width=width), f, rounds=8)
    assert dense.clear > 4
    assert bool(counts["add"]) == (case != "bbkb local")
    assert counts["wake"] or case != "gpucb"


@pytest.mark.parametrize("case", ["gpucb", "bkb resample", "gpbucb product", "bbkb"])
@pytest.mark.parametrize("width", ["theory", 2.0])
def test_equal_candidates_are_picked_as_in_the_dense_run(case, width):
    X, f, _ = problem(3, arms=30)
    dense = play(beside(case, np.repeat(X, 4, axis=0), width=width), np.repeat(f, 4))
    assert dense.checked > 12
    assert dense.clear < dense.checked  # ties there were


@pytest.mark.parametrize("case", ["gpucb", "bkb", "bbkb", "gpbucb global"])
@pytest.mark.parametrize(
    "learnt",
    [
        {"kernel": "auto", "noise": "auto", "norm": "auto"},
        {"noise": "auto", "norm": 60.0},
        {"norm": "auto", "bounds": "intersected"},
    ],
    ids=str,
)
def test_picks_with_learnt_settings_have_the_largest_bound(case, learnt):
    X, f, _ = problem(5, arms=100)
    dense = play(beside(case, X, **learnt), 3.0 + 5.0 * f, rounds=20)
    assert "fit" in {event["event"] for event in dense.opt.events}
    assert dense.clear > 5


def with_rewards(batch, f):
    return batch, f[batch.ids]


def test_a_dictionary_that_is_drawn_afresh():
    """The weights of the past say nothing of another dictionary: candidates wake up."""
    X, f, rng = problem(arms=400)
    dense = beside("bbkb", X, nr.RBF(0.1), lam=0.3, width=2.0, qbar=1.0)
    for part in np.split(rng.permutation(400)[:300], 10):
        dense.tell(part, f[part])
        dense.tell(*with_rewards(dense.ask(2), f))
    for _ in range(10):
        dense.tell(*with_rewards(dense.ask(5), f))
    assert "compact" in {event["event"] for event in dense.opt.events}
    assert dense.clear > 15


def test_ties_go_to_the_smaller_id():
    X = np.repeat(np.arange(6.0), 3)[:, None]
    for width in (1.0, "theory"):
        opt = nr.GPUCB(X, nr.RBF(0.01), lam=0.1, width=width, norm=3.0, seed=0)
        opt.tell([0], [-1.0])
        assert opt.ask(5).ids.tolist() == [3, 6, 9, 12, 15]


@pytest.mark.parametrize("width", ["theory", 2.0])
def test_few_candidates_of_a_long_list_are_looked_at(width):
    """That is what sleeping is for. Every look computes the kernel of the candidate."""
    X, f, rng = problem(arms=20_000)
    rows = []

    def kernel(xs, ys):
        rows.append(max(len(xs), len(ys)))
        return nr.RBF(0.5)(xs, ys)

    opt = nr.BBKB(X, kernel, noise=0.1, norm=4.0, width=width, seed=0)
    for i in range(60):
        batch = opt.ask(20)
        opt.tell(batch, f[batch.ids] + 0.1 * rng.standard_normal(len(batch)))
        if i == 29:
            rows.clear()
    assert sum(rows) < 0.15 * 30 * len(X)


@pytest.mark.parametrize("width", ["theory", 2.0])
def test_a_kernel_that_fails_now_and_then_changes_no_rule(width):
    calls = {"left": 10**9}

    def kernel(xs, ys):
        calls["left"] -= 1
        if calls["left"] < 0:
            raise ConnectionError
        return KERNEL(xs, ys)

    X, f, rng = problem(3, arms=100)
    dense = beside("bkb", X, kernel, width=width)
    failed = 0
    for i in range(40):
        dense.tell([i], [f[i]])
        calls["left"] = i % 6
        try:
            dense.opt.cancel(dense.opt.ask(1))
        except ConnectionError:
            failed += 1
        calls["left"] = 10**9
        if dense.intersected:
            continue  # what a batch that nobody saw has brought up to date is not known
        dense.tell(*with_rewards(dense.ask(1), f))
    assert failed > 10
    mean, _ = exact_posterior(KERNEL, X, dense.opt.history.ids, dense.opt.history.rewards, 0.01)
    assert np.abs(dense.opt.predict()[0] - mean).max() < 0.2


def test_files_of_long_lists_hold_no_features(tmp_path, monkeypatch):
    X, f, rng = problem(4, arms=3000)

    def played(saved):
        monkeypatch.setattr(following, "_SAVED", saved)
        opt = nr.BBKB(X, nr.RBF(0.3), noise=0.1, width=2.0, seed=0)
        rewards = np.random.default_rng(0)
        for _ in range(12):
            batch = opt.ask(5)
            opt.tell(batch, f[batch.ids] + 0.1 * rewards.standard_normal(len(batch)))
        opt.save(tmp_path / "run.npz")
        again = nr.load(tmp_path / "run.npz")
        for _ in range(6):
            one, two = opt.ask(5), again.ask(5)
            np.testing.assert_array_equal(one.ids, two.ids)
            y = f[one.ids] + 0.1 * rewards.standard_normal(len(one))
            opt.tell(one, y)
            again.tell(two, y)
        return (tmp_path / "run.npz").stat().st_size

    assert played(100) < 0.6 * played(1 << 30)


def test_candidates_are_followed_through_several_updates(monkeypatch):
    X, f, rng = problem(4, arms=300)
    opt = nr.BKB(X, nr.RBF(0.3), noise=0.1, width=2.0, seed=0)
    opt.tell(opt.ask(5), f[:5])
    opt.ask()
    added, computed = [], []
    append, all_of = Followed.append, Followed.all_of
    monkeypatch.setattr(
        Followed, "append", lambda self, *what: (added.append(1), append(self, *what))
    )
    monkeypatch.setattr(Followed, "all_of", lambda *what: (computed.append(1), all_of(*what))[1])
    for i in range(6):  # the model is updated, and nobody picks
        opt.tell([i], [f[i]])
        opt._run.take_in(opt._setup.rules)
    opt.ask()
    assert len(added) <= 1  # what is new
    assert not computed  # not all of them again


def test_of_equal_bounds_the_largest_mean_is_picked():
    X = np.linspace(0.0, 1.0, 40)[:, None]
    opt = nr.GPUCB(X, nr.RBF(0.2), noise=0.3, norm=1.0, lam=0.1, delta=0.1, seed=0)
    opt.tell([30, 3], [0.7, -0.5])
    mean, std = opt.predict()
    bound = np.minimum(1.0, mean + opt.beta * std)  # the prior bound is F√k(x, x) = 1
    ties = np.flatnonzero(bound == bound.max())
    assert len(ties) > 5
    assert opt.ask().ids.tolist() == [ties[np.argmax(mean[ties])]]
