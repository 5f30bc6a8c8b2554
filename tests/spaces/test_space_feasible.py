"""Spaces whose points must satisfy a condition."""

import numpy as np
import pytest

import noregret as nr

PARAMETERS = {"a": nr.Float(0, 1), "n": nr.Int(1, 9), "c": nr.Choice(["u", "v"])}


def small(point):
    return point["a"] * point["n"] < 2 and (point["c"] == "u" or point["n"] > 1)


SPACE = nr.Space(PARAMETERS, feasible=small)


def test_draws_are_uniform_among_feasible_points():
    rng = np.random.default_rng(0)
    _, points = SPACE.sample(4000, rng)
    assert SPACE.allowed(points).all()
    _, every = nr.Space(PARAMETERS).sample(40_000, rng)
    kept = every[SPACE.allowed(every)]
    np.testing.assert_allclose(points.mean(axis=0), kept.mean(axis=0), atol=0.15)
    spread = SPACE.spread(300, rng)
    assert spread.shape == (300, 3)
    assert SPACE.allowed(spread).all()
    assert small(SPACE.decode(SPACE.centre[None])[0])


def test_points_that_are_not_feasible_are_refused():
    wrong = {"a": 0.9, "n": 9, "c": "u"}
    with pytest.raises(ValueError, match="points must be feasible: row 1"):
        SPACE.locate([{"a": 0.1, "n": 9, "c": "u"}, wrong])


def test_a_condition_that_nothing_satisfies_is_refused():
    with pytest.raises(ValueError, match="none of 100,000 points drawn at random"):
        nr.Space(PARAMETERS, feasible=lambda point: False)
    with pytest.raises(ValueError, match="none of the points"):
        nr.Space({"n": nr.Int(1, 9), "b": nr.Bool()}, feasible=lambda point: point["n"] > 9)
    with pytest.raises(ValueError, match=r"feasible raised KeyError.*for \{'a'"):
        nr.Space(PARAMETERS, feasible=lambda point: point["b"] > 1)
    with pytest.raises(TypeError, match="feasible must be a text or a function"):
        nr.Space(PARAMETERS, feasible=3)


def test_one_feasible_point_of_many_is_found():
    space = nr.Space(
        {"n": nr.Int(1, 300), "m": nr.Int(1, 300)},
        feasible=lambda point: point == {"n": 17, "m": 255},
    )
    _, points = space.sample(3, np.random.default_rng(0))
    assert space.decode(points) == [{"n": 17, "m": 255}] * 3


def test_the_condition_is_given_again_to_a_file(tmp_path):
    opt = nr.GPUCB(SPACE, nr.RBF(1.0), seed=0)
    batch = opt.ask(3)
    opt.tell(batch, [0.0, 0.1, 0.2])
    opt.save(tmp_path / "run.npz")
    with pytest.raises(ValueError, match="feasible=f, which no file stores"):
        nr.load(tmp_path / "run.npz")
    with pytest.raises(ValueError, match="must have a condition"):
        nr.load(tmp_path / "run.npz", domain=nr.Space(PARAMETERS))
    with pytest.raises(ValueError, match="domain must be the run's"):
        nr.load(
            tmp_path / "run.npz",
            domain=nr.Space({**PARAMETERS, "a": nr.Float(0, 2)}, feasible=small),
        )
    again = nr.load(tmp_path / "run.npz", domain=nr.Space(PARAMETERS, feasible=small))
    np.testing.assert_array_equal(opt.ask(2).points, again.ask(2).points)


def test_the_condition_is_given_again_to_a_study(tmp_path):
    path = tmp_path / "s.db"
    with nr.Study.create(path, SPACE, "gpucb", kernel=nr.RBF(1.0), seed=0) as study:
        trials = study.ask(3)
        assert all(small(point) for point in trials.values)
        study.tell(trials, [0.0, 0.1, 0.2])
    with pytest.raises(ValueError, match=r"domain must be given, .* feasible=f"):
        nr.Study.open(path)
    with nr.Study.open(path, domain=SPACE) as study:
        assert small(study.best().point)
        assert small(study.ask(1).values[0])


def test_cells_cannot_tell_where_feasible_points_are():
    with pytest.raises(ValueError, match="no feasible="):
        nr.PiGPUCB(SPACE, nr.Matern(1.0))
