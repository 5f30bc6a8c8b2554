"""Spaces of typed parameters: dicts, vectors, and points spread over them."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import noregret as nr

SPACE = nr.Space(
    {
        "lr": nr.Float(1e-6, 1, log=True),
        "layers": nr.Int(1, 8),
        "batch": nr.Int(16, 512, log=True),
        "act": nr.Choice(["relu", "gelu"]),
        "bias": nr.Bool(),
    }
)
POINT = {"lr": 1e-3, "layers": 5, "batch": 64, "act": "gelu", "bias": True}

numbers = st.floats(-1e6, 1e6, allow_nan=False)


@st.composite
def floats(draw):
    if draw(st.booleans()):
        low = draw(st.floats(1e-100, 1e50))
        return nr.Float(low, low * draw(st.floats(1.001, 1e49)), log=True)
    low = draw(numbers)
    return nr.Float(low, low + draw(st.floats(1e-3, 1e6)))


@st.composite
def ints(draw):
    log, step = draw(st.booleans()), draw(st.integers(1, 50))
    low = draw(st.integers(1 if log else -(10**9), 10**9))
    return nr.Int(low, low + step * draw(st.integers(1, 10**4)), log=log, step=step)


plain = st.one_of(st.text(max_size=5), st.integers(-5, 5), st.floats(-3, 3), st.none())
choices = st.lists(plain, min_size=2, max_size=6, unique_by=lambda x: x).map(nr.Choice)
parameters = st.one_of(floats(), ints(), choices, st.just(nr.Bool()))


@settings(max_examples=150, deadline=None)
@given(parameters, st.integers(0, 2**32 - 1))
def test_points_are_the_same_as_dicts_and_as_vectors(parameter, seed):
    """Whatever is drawn decodes to a value that encodes to the same number, bit for bit."""
    space = nr.Space({"x": parameter})
    rng = np.random.default_rng(seed)
    drawn = np.concatenate([space.sample(20, rng)[1], space.spread(8, rng), space.corners])
    values = space.decode(drawn)
    again = space.encode(values)
    assert again.tobytes() == drawn.tobytes()
    assert space.decode(again) == values
    assert space.snap(drawn).tobytes() == drawn.tobytes()
    assert space.locate(drawn)[1].tobytes() == drawn.tobytes()
    assert np.all((drawn >= space.lower) & (drawn <= space.upper))


@settings(max_examples=100, deadline=None)
@given(
    st.integers(-11, 0).flatmap(lambda e: st.integers(1, 10**6).map(lambda m: float(f"{m}e{e}"))),
    st.integers(16, 512),
    st.sampled_from(["relu", "gelu"]),
    st.booleans(),
)
def test_what_people_write_comes_back(lr, batch, act, bias):
    point = {"lr": min(max(lr, 1e-6), 1.0), "layers": 3, "batch": batch, "act": act, "bias": bias}
    assert SPACE.decode(SPACE.encode([point])) == [point]


def test_values_are_plain_python_of_the_right_type():
    _, points = SPACE.sample(50, np.random.default_rng(0))
    for point in SPACE.decode(points):
        assert [type(value) for value in point.values()] == [float, int, int, str, bool]
    given_by_numpy = {**POINT, "layers": np.int32(5), "lr": np.float32(1), "bias": np.bool_(True)}
    (back,) = SPACE.decode(SPACE.encode([given_by_numpy]))
    assert back == {**POINT, "lr": 1.0}
    assert SPACE.encode([{**POINT, "layers": 5.0}])[0, 1] == 5.0


def test_equal_distances_are_equal_changes():
    ones = [{**POINT, "lr": lr} for lr in (1e-4, 1e-3, 1e-2)]
    steps = np.diff(SPACE.encode(ones)[:, 0])
    assert steps[0] == pytest.approx(steps[1]) == pytest.approx(math.log(10))
    assert SPACE.categories == (3, 4)
    assert SPACE.count == math.inf
    assert nr.Space({"a": nr.Int(1, 4), "b": nr.Bool()}).count == 8


def test_draws_are_uniform():
    space = nr.Space({"a": nr.Int(0, 8, step=4), "b": nr.Choice(["a", "b", "c", "d"])})
    _, points = space.sample(12_000, np.random.default_rng(0))
    for column, count in ((0, 3), (1, 4)):
        _, often = np.unique(points[:, column], return_counts=True)
        assert len(often) == count
        np.testing.assert_allclose(often / 12_000, 1 / count, atol=0.02)
    _, logs = nr.Space({"n": nr.Int(1, 1000, log=True)}).sample(6000, np.random.default_rng(0))
    values = np.exp(logs[:, 0])
    np.testing.assert_allclose([(values < 10).mean(), (values < 100).mean()], [0.4, 0.7], atol=0.03)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("lr", 2.0),
        ("lr", 1e-7),
        ("lr", "fast"),
        ("lr", math.nan),
        ("lr", True),
        ("layers", 0),
        ("layers", 2.5),
        ("layers", "2"),
        ("batch", 513),
        ("act", "tanh"),
        ("act", 0),
        ("bias", 1),
        ("bias", "yes"),
    ],
)
def test_points_outside_are_refused_by_name(name, value):
    with pytest.raises((ValueError, TypeError), match=f"points.*row 1, {name}"):
        SPACE.locate([POINT, {**POINT, name: value}])


def test_points_with_wrong_names_are_refused():
    with pytest.raises(ValueError, match="'bias' is missing"):
        SPACE.locate({name: value for name, value in POINT.items() if name != "bias"})
    with pytest.raises(ValueError, match="'biass' is none of them"):
        SPACE.locate({**POINT, "biass": True})
    with pytest.raises(ValueError, match=r"row 0, layers is 2\.5"):
        SPACE.locate([[-1.0, 2.5, 3.0, 0.0, 1.0]])
    with pytest.raises(ValueError, match="5 numbers"):
        SPACE.locate([[1.0, 2.0]])


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: nr.Float(1, 0), "low must be at most high"),
        (lambda: nr.Float(0, 1, log=True), "above 0"),
        (lambda: nr.Float(0, math.inf), "high must be finite"),
        (lambda: nr.Float("a", 1), "low must be a number"),
        (lambda: nr.Int(1, 0), "low must be at most high"),
        (lambda: nr.Int(1, 2.5), "high must be a whole number"),
        (lambda: nr.Int(1, 8, step=2), "step must divide"),
        (lambda: nr.Int(0, 8, log=True), "above 0"),
        (lambda: nr.Int(1, 8, log=2), "log must be"),
        (lambda: nr.Int(0, 1 << 60), "at most"),
        (lambda: nr.Choice([]), "at least one"),
        (lambda: nr.Choice(["a", "a"]), "all different"),
        (lambda: nr.Choice([1, True]), "all different"),
        (lambda: nr.Choice("ab"), "list of values"),
        (lambda: nr.Choice([[1], [2]]), "texts, finite numbers"),
        (lambda: nr.Space({}), "parameters"),
        (lambda: nr.Space([("a", nr.Bool())]), "parameters"),
        (lambda: nr.Space({"a": (1, 0)}), "a must lie between"),
        (lambda: nr.Space({"a": (1, 2, 4)}), r"a must be .* write nr\.Choice\(\[1, 2, 4\]\)"),
        (lambda: nr.Space({1: nr.Bool()}), "names"),
        (lambda: nr.Space({"n": nr.Int}), r"n must be .* the class: write nr\.Int\(low, high\)"),
        (lambda: nr.Space({"n": nr.Bool}), r"write nr\.Bool\(\)"),
    ],
)
def test_bad_spaces_are_refused(make, words):
    with pytest.raises((ValueError, TypeError), match=words):
        make()


def test_rows_that_are_no_points_are_not_decoded():
    space = nr.Space({"n": nr.Int(0, 3), "kind": nr.Choice(["x", "y"])})
    assert space.decode([[3, 1]]) == space.decode([3, 1]) == [{"n": 3, "kind": "y"}]
    for row, words in (
        ([3, -1], r"row 0, kind is -1\.0, which is none of its values"),
        ([3, 2], r"row 0, kind is 2\.0"),
        ([9, 0], r"row 0, n is 9\.0"),
        ([1.4, 0], r"row 0, n is 1\.4"),
        ([3, 1, 0], "points must be rows of 2 numbers"),
    ):
        with pytest.raises(ValueError, match=words):
            space.decode([row])


def test_parts_of_a_space():
    space = nr.Space({"x": nr.Float(0, 1), "n": nr.Int(0, 9, step=3), "c": nr.Choice(["a", "b"])})
    part = space.between(np.array([0.2, 1.0, 0.0]), np.array([0.4, 7.0, 0.5]))
    np.testing.assert_allclose(part.corners, [[0.2, 3.0, 0.0], [0.4, 6.0, 0.0]])
    _, points = part.sample(50, np.random.default_rng(0))
    assert set(points[:, 1]) == {3.0, 6.0}
    np.testing.assert_allclose(space.around(*part.corners).upper, [0.4, 6.0, 1.0])
    empty = space.between(np.array([0.0, 1.0, 0.0]), np.array([1.0, 2.0, 1.0]))
    assert empty.lower[1] > empty.upper[1]


def test_a_box_is_a_space_of_numbers():
    box = nr.Box({"a": (0, 1), "b": (-1, 3)})
    space = nr.Space({"a": nr.Float(0, 1), "b": nr.Float(-1, 3)})
    drawn = [one.sample(9, np.random.default_rng(1))[1] for one in (box, space)]
    np.testing.assert_array_equal(*drawn)
    spread = [one.spread(9, np.random.default_rng(1)) for one in (box, space)]
    np.testing.assert_array_equal(*spread)
    np.testing.assert_array_equal(box.centre, [0.5, 1.0])


def test_maximize_calls_f_with_dicts():
    def f(point):
        assert [type(value) for value in point.values()] == [float, int, int, str, bool]
        wrong = abs(math.log10(point["lr"]) + 3) + abs(point["layers"] - 3)
        return -wrong - (point["act"] == "relu")

    result = nr.maximize(f, SPACE, 30, seed=0, progress=False)
    best = result.best.point
    assert best["act"] == "gelu"
    assert set(best) == set(POINT)
    assert result.history.points.shape == (30, 5)
    assert "Hamming" in repr(result.algorithm.assumed.kernel)


def test_a_vectorized_function_gets_dicts():
    def f(points):
        return [point["layers"] for point in points]

    result = nr.maximize(f, SPACE, 12, vectorized=True, batch_size=4, seed=0, progress=False)
    assert result.best.point["layers"] > 4


def test_batches_say_what_f_gets():
    opt = nr.GPUCB(SPACE, "auto", noise="auto", norm="auto", seed=0)
    batch = opt.ask(4)
    assert batch.values == SPACE.decode(batch.points)
    assert batch[1:3].values == batch.values[1:3]
    opt.tell(batch.values[:2], [0.0, 1.0])
    opt.tell(batch[2:], [2.0, 3.0])
    assert opt.pending == 0
    box = nr.Uniform(nr.Box([(0, 1)]), nr.RBF(1.0), seed=0).ask(2)
    np.testing.assert_array_equal(box.values, box.points)
    listed = nr.Uniform(nr.Candidates(["a", "bb"]), lambda a, b: np.ones((len(a), len(b))), seed=0)
    assert set(listed.ask(8).values) == {"a", "bb"}


def test_parameters_with_one_value_are_constants():
    space = nr.Space(
        {
            "rate": nr.Float(0, 1),
            "side": nr.Float(2, 2),
            "decay": nr.Float(0.1, 0.1, log=True),
            "layers": nr.Int(3, 3),
            "act": nr.Choice(["relu"]),
        }
    )
    rest = {"side": 2.0, "decay": 0.1, "layers": 3, "act": "relu"}
    _, drawn = space.sample(4, np.random.default_rng(0))
    spread = space.spread(4, np.random.default_rng(0))
    for point in space.decode(np.concatenate([drawn, spread, space.centre[None]])):
        assert {name: point[name] for name in rest} == rest
    ids, points = space.locate({"rate": 0.5, **rest})
    assert space.labels(ids, points) == [{"rate": 0.5, **rest}]
    with pytest.raises(ValueError, match="side"):
        space.locate({"rate": 0.5, **rest, "side": 2.1})
    assert nr.Space({"layers": nr.Int(3, 3), "act": nr.Choice(["relu"])}).count == 1
    assert len(nr.Box([(0, 1), (2, 2)]).grid(5)) == 5


def test_columns_of_frames_are_found_by_name():
    box = nr.Box({"a": (0, 1), "b": (0, 1)})
    for library in ("polars", "pandas"):
        frames = pytest.importorskip(library)
        # The order of the columns does not matter.
        _, points = box.locate(frames.DataFrame({"b": [0.9, 0.8], "a": [0.1, 0.2]}))
        np.testing.assert_array_equal(points, [[0.1, 0.9], [0.2, 0.8]])
        space = nr.Space({"n": nr.Int(1, 8), "kind": nr.Choice(["x", "y"])})
        _, points = space.locate(frames.DataFrame({"kind": ["y"], "n": [3]}))
        assert space.decode(points) == [{"n": 3, "kind": "y"}]
        with pytest.raises(ValueError, match="'value' is none of them"):
            box.locate(frames.DataFrame({"a": [0.1], "b": [0.2], "value": [1.0]}))


def test_entries_of_a_row_are_found_by_name():
    """The row of a pandas frame was read by position."""
    opt = nr.GPUCB(nr.Box({"a": (0, 1), "b": (0, 1)}), nr.RBF(0.3), noise=0.1, seed=0)
    frame = pd.DataFrame([{"b": 0.9, "a": 0.1}])
    opt.tell(frame.iloc[0], [1.0])
    opt.tell([frame.iloc[0]], [1.0])
    opt.tell(next(frame.itertuples(index=False)), [1.0])
    opt.tell(pd.Series([0.1, 0.9]), [1.0])
    assert opt.history.points.tolist() == [[0.1, 0.9]] * 4
    with pytest.raises(ValueError, match="'c' is none of them"):
        opt.tell(pd.Series({"a": 0.1, "b": 0.9, "c": 1.0}), [1.0])
    with pytest.raises(TypeError, match="all dicts or all rows of numbers"):
        opt.tell([{"a": 0.1, "b": 0.9}, [0.1, 0.9]], [1.0, 2.0])
