"""The line that a run shows while it goes on."""

import numpy as np
import pytest
from functions import bowl

import noregret as nr


def test_progress_is_one_line_on_standard_error(capsys):
    nr.maximize(lambda x: -bowl(x), nr.Box([(0, 1)]), 3, seed=0)
    out, err = capsys.readouterr()
    assert out == ""
    assert "3/3 evaluations" in err
    assert err.count("\n") == 1


def test_progress_counts_what_can_still_be_the_best_where_that_is_proved(capsys):
    X = np.linspace(0, 1, 30)[:, None]
    given = {"kernel": nr.RBF(0.5), "noise": 0.01, "norm": 3.0}
    nr.maximize(lambda x: -bowl(x), X, 5, seed=0, **given)
    assert "can still be the best" in capsys.readouterr().err


@pytest.mark.parametrize(("way", "pick"), [(nr.maximize, max), (nr.minimize, min)])
def test_progress_shows_the_best_value_so_far(capsys, way, pick):
    seen = []

    def f(x):
        seen.append(float(3.0 - x[0]))
        return seen[-1]

    result = way(f, nr.Box([(0, 1)]), 4, seed=0)
    assert (
        capsys.readouterr().err.rstrip().endswith(f"4/4 evaluations, best value {pick(seen):.6g}")
    )
    way(f, None, 3, algorithm=result.algorithm)
    assert (
        capsys.readouterr().err.rstrip().endswith(f"3/3 evaluations, best value {pick(seen):.6g}")
    )
