"""Several algorithms over seeds."""

from functools import partial

import numpy as np
import pytest

import noregret as nr
from noregret.problems.classics import SCALED

BRANIN = SCALED["Branin"].on_grid(12)
BBKB = partial(nr.BBKB, kernel=nr.Matern(0.3), noise=0.1, width=2.0)


def test_a_row_per_algorithm_seed_and_mark():
    frame = nr.compare({"ours": BBKB, "draws": "uniform"}, BRANIN, 30, seeds=3, progress=False)
    assert frame["algorithm"].unique(maintain_order=True).to_list() == ["ours", "draws"]
    assert frame.group_by("algorithm", "seed").len()["len"].to_list() == [30] * 6
    assert frame.filter(algorithm="ours", seed=2)["t"].to_list() == list(range(1, 31))
    assert (frame["simple"] >= 0).all()
    last = frame.filter(t=30).group_by("algorithm").mean()
    regret = dict(last.select("algorithm", "regret").iter_rows())
    assert regret["ours"] < regret["draws"]


def test_problems_of_their_own_for_each_seed_and_chosen_marks():
    def problem(seed):
        return SCALED["Branin"].on_grid(5 + seed)

    frame = nr.compare(
        {"draws": "uniform"}, problem, 12, seeds=[1, 4], marks=[12, 6], progress=False
    )
    assert frame["seed"].to_list() == [1, 1, 4, 4]
    assert frame["t"].to_list() == [6, 12] * 2


@pytest.mark.slow
def test_processes_give_the_same_as_one_after_the_other():
    call = {"algorithms": {"ours": BBKB}, "problem": BRANIN, "evaluations": 20, "seeds": 3}
    one = nr.compare(**call, progress=False)
    two = nr.compare(**call, progress=False, workers=2)
    assert one.drop("seconds").equals(two.drop("seconds"))


def test_an_interrupt_returns_what_is_done():
    made = []

    def maker(domain, seed):
        made.append(seed)
        if len(made) == 3:
            raise KeyboardInterrupt
        return BBKB(domain, seed=seed)

    with pytest.warns(RuntimeWarning, match="interrupted: 2 of 5 runs"):
        frame = nr.compare({"ours": maker}, BRANIN, 5, seeds=5, progress=False)
    assert np.unique(frame["seed"]).tolist() == [0, 1]


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"algorithms": {"a": "magic"}}, ValueError, "algorithms: 'a' must be"),
        ({"algorithms": ["gpucb"]}, TypeError, "algorithms must be a dict"),
        ({"algorithms": {"a": nr.GPUCB}}, TypeError, "'a' cannot .* functools.partial: .*'kernel'"),
        ({"algorithms": {"a": lambda X, seed: 3}}, TypeError, r"'a' must make an .*, it made 3"),
        ({"problem": 3}, TypeError, "problem must be"),
        ({"problem": float}, TypeError, r"problem must be a Problem or .*; it made 0\.0"),
        ({"evaluations": 0}, ValueError, "evaluations must be at least 1"),
        ({"seeds": 0}, ValueError, "seeds must be at least 1"),
        ({"marks": [99]}, ValueError, "marks must lie between 1 and 5"),
        ({"workers": 0}, ValueError, "workers must be at least 1"),
    ],
)
def test_bad_input_is_named(change, error, message):
    call = {"algorithms": {"a": BBKB}, "problem": BRANIN, "evaluations": 5, "progress": False}
    with pytest.raises(error, match=message):
        nr.compare(**call | change)
