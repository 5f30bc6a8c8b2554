"""Maximisers of drawn functions on a list that sleeps: those of a pass over the whole list."""

import numpy as np
import pytest
from scipy.stats import chi2_contingency

import noregret as nr
from noregret.picking.lists import drawn_tops, maxima


def whole_list(self, now, n, values, room, *, keep=True):
    """What :meth:`DrawnTops.of` gives, from a pass over the list."""
    return maxima.tops_of_list(self.space, n, values, room)


@pytest.fixture
def looked(monkeypatch):
    """How many candidates each set of draws has looked at."""
    counts = []
    asleep = drawn_tops.tops_of_draws

    def counted(sleepers, bounds, points, n, values, room, *, keep):
        counts.append(0)

        def noted(where):
            counts[-1] += len(where)
            return values(where)

        return asleep(sleepers, bounds, points, n, noted, room, keep=keep)

    monkeypatch.setattr(drawn_tops, "tops_of_draws", counted)
    return counts


def problem(arms=3000):
    X = np.random.default_rng(0).uniform(size=(arms, 2))
    return X, np.sin(6 * X[:, 0]) * np.cos(5 * X[:, 1])


def picks(make, f, asks=12, between=lambda opt: opt):
    opt, rng, found = make(), np.random.default_rng(1), []
    for _ in range(asks):
        batch = opt.ask()
        found.append(batch.ids)
        opt.tell(batch, f[batch.ids] + 0.1 * rng.standard_normal(len(batch)))
        opt = between(opt)
    return np.concatenate(found)


@pytest.mark.parametrize(
    "options", [{}, {"repeats": 1}, {"features": "qff"}, {"kernel": "auto", "noise": "auto"}]
)
def test_picks_are_those_of_a_pass_over_the_list(looked, monkeypatch, options):
    X, f = problem()
    monkeypatch.setattr(maxima, "_FIRST", 32)
    settings = {"kernel": nr.RBF(0.3), "noise": 0.1, "n_init": 40, "batch_size": 8} | options

    def make():
        return nr.ThompsonSampling(X, seed=0, **settings)

    asleep = picks(make, f)
    assert min(looked) < 0.7 * len(X)
    monkeypatch.setattr(drawn_tops.DrawnTops, "of", whole_list)
    np.testing.assert_array_equal(asleep, picks(make, f))


def test_looks_and_files_change_nothing(looked, tmp_path):
    X, f = problem()

    def make():
        return nr.ThompsonSampling(
            X, nr.RBF(0.3), noise=0.1, width="theory", norm=4.0, n_init=40, batch_size=8, seed=0
        )

    def looked_at_and_loaded(opt):
        opt.maximizer_samples(20)
        if opt.t % 32:
            return opt
        opt.recommend()
        opt.save(tmp_path / "run.npz")
        return nr.load(tmp_path / "run.npz")

    np.testing.assert_array_equal(picks(make, f), picks(make, f, between=looked_at_and_loaded))


def test_lists_may_grow_and_be_replaced(looked, monkeypatch):
    X, f = problem()

    def make():
        return nr.ThompsonSampling(
            X[:2000], nr.RBF(0.3), noise=0.1, n_init=40, batch_size=8, seed=0
        )

    def other_list(opt):
        if opt.t == 64:
            opt.add_candidates(X[2000:])
        if opt.t == 80:
            opt.replace_candidates(X[::-1])
        return opt

    asleep = picks(make, f, between=other_list)
    monkeypatch.setattr(drawn_tops.DrawnTops, "of", whole_list)
    np.testing.assert_array_equal(asleep, picks(make, f, between=other_list))
    assert asleep.max() >= 2000


@pytest.mark.parametrize("way", ["independent", "nystrom"])
def test_the_law_of_picks_is_that_of_a_pass_over_the_list(looked, monkeypatch, way):
    """Values that are drawn for each candidate on its own are drawn in another order."""
    X, f = problem(arms=40)
    told = np.arange(0, 40, 2).repeat(3)
    rng = np.random.default_rng(1)

    def drawn():
        if way == "nystrom":
            opt = nr.ThompsonSampling(
                X, nr.RBF(0.3), noise=0.5, features="nystrom", n_init=1, xi=0.0, seed=3
            )
        else:
            options = {"acquisition": "thompson", "ratio": 1e9, "qbar": 0.5}
            opt = nr.BBKB(X, nr.RBF(0.3), noise=0.5, width=2.0, seed=3, **options)
        opt.tell(told, f[told] + 0.5 * rng.standard_normal(len(told)))
        return np.bincount(opt.ask(1500).ids, minlength=40)

    state = rng.bit_generator.state
    monkeypatch.setattr(maxima, "_FIRST", 4)
    asleep = drawn()
    monkeypatch.setattr(drawn_tops.DrawnTops, "of", whole_list)
    rng.bit_generator.state = state
    counts = np.stack([asleep, drawn()])
    often = counts.sum(axis=0) >= 20
    assert often.sum() >= 3
    table = np.column_stack([counts[:, often], counts[:, ~often].sum(axis=1) + 1])
    assert chi2_contingency(table).pvalue > 1e-3
