"""Frames as candidates, and rows that come after the list."""

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noregret as nr
from noregret.spaces.encoding import Encoder, Feature, encoder_of
from noregret.spaces.frames import as_frame, encode_like, encoder_for, frame_of, longer
from noregret.spaces.other_lists import first_of

FRAME = pl.DataFrame(
    {"t": [1, 2, 3], "wet": [True, False, True], "s": ["thf", "dmf", None], "x": [0.5, 1.5, 2.5]}
)
FEW = pl.DataFrame({"t": [1.0, 2.0], "s": ["thf", "dmf"]})
SETTINGS = {"kernel": nr.RBF(1.0), "noise": 0.1, "norm": 3.0, "seed": 0}


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([Decimal("1.5"), Decimal(2)], pl.Float64),
        ([Decimal("1.5"), None], pl.Float64),
        (np.array([1, 2], dtype=object), pl.Int64),
        (np.array([True, False], dtype=object), pl.Boolean),
        (np.array([1 << 70, 1], dtype=object), pl.Float64),
        (pd.array([1, 2], dtype="Int64"), pl.Int64),
        (pd.array([1, None], dtype="Int64"), pl.Float64),
        (pd.array(["a", None], dtype="string"), pl.String),
        (pd.Categorical(["a", "b"]), pl.String),
    ],
)
def test_columns_of_pandas_keep_their_meaning(values, kind):
    assert as_frame(pd.DataFrame({"a": values}))["a"].dtype == kind


def test_functions_get_numbers_of_decimals():
    candidates = nr.Candidates(pd.DataFrame({"d": [Decimal("1.5"), Decimal("2.5")]}))
    assert candidates.labels(np.array([0]), candidates.points[:1]) == [{"d": 1.5}]


def test_missing_values_of_pandas():
    frame = pd.DataFrame({"s": ["a", None]}).convert_dtypes()
    assert nr.Candidates(frame).names == ("s = a", "s = (gap)")
    with pytest.raises(ValueError, match=r"nan in row 1, column 0 \(n\)"):
        nr.Candidates(pd.DataFrame({"n": [1, None]}).convert_dtypes())


@given(st.permutations(range(3)), st.permutations(FRAME.columns))
def test_rows_in_any_order_have_the_points_of_the_list(rows, columns):
    encoder = encoder_for(FRAME)
    points = encode_like("points", FRAME[rows].select(columns), encoder)
    np.testing.assert_array_equal(points, encoder.encode(FRAME)[rows])


def test_an_encoder_decodes_and_is_stored():
    encoder = encoder_for(FRAME)
    assert encoder.decode(encoder.encode(FRAME)) == FRAME.rows(named=True)
    assert encoder_of(encoder.spec()) == encoder
    unclear = np.array([[1.0, 0.5, 1.0, 1.0, 0.0, 2.0]])
    assert encoder.decode(unclear) == [{"t": 1.0, "wet": None, "s": None, "x": 2.0}]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"t": None}, r"columns of the list, t, wet, s, x; missing: t"),
        ({"y": [1, 2, 3]}, "not in the list: y"),
        ({"s": ["thf", "water", "dmf"]}, r"column 's', dmf, thf, \(gap\); got water"),
        ({"wet": [True, None, True]}, "gaps where the list has none: row 1, column 'wet'"),
        ({"wet": ["yes", "no", "maybe"]}, "yes or no in column 'wet', got 'maybe' in row 2"),
        ({"x": [1.0, float("nan"), 2.0]}, "gaps where the list has none: row 1, column 'x' is nan"),
        ({"x": [1.0, float("inf"), 2.0]}, "finite numbers in column 'x', got inf in row 1"),
        ({"x": ["1", "2", "hot"]}, "finite numbers in column 'x', got 'hot' in row 2"),
    ],
)
def test_rows_that_the_coordinates_cannot_say_are_refused(change, words):
    frame = FRAME.drop([name for name, cells in change.items() if cells is None])
    frame = frame.with_columns(pl.Series(k, v) for k, v in change.items() if v is not None)
    with pytest.raises(ValueError, match=words):
        encode_like("candidates", frame, encoder_for(FRAME))


def test_spaces_at_the_ends_of_later_words_do_not_count():
    encoder = encoder_for(FEW)
    later = pl.DataFrame({"t": [1.0, 2.0], "s": [" thf", "dmf "]})
    np.testing.assert_array_equal(encode_like("points", later, encoder), encoder.encode(FEW))
    old = Encoder((Feature("s", "category", categories=("thf", "thf ")),))  # of an older version
    words = pl.DataFrame({"s": ["thf", "thf ", " thf"]})
    assert encode_like("points", words, old).tolist() == [[1, 0], [0, 1], [1, 0]]


def test_numbers_have_the_same_coordinates_with_percent_signs_and_without():
    signs = encoder_for(pl.DataFrame({"x": ["12%", "15%"]}))
    assert signs.features[0].percent
    assert signs == encoder_for(pl.DataFrame({"x": [12.0, 15.0]}))


def test_a_longer_frame_keeps_its_types_where_it_can():
    encoder = encoder_for(FRAME)
    more = frame_of([{"x": "7.5", "s": "dmf", "t": 4.0, "wet": "yes"}])
    made = longer(FRAME, more, encoder)
    assert made.schema == FRAME.schema
    assert made.rows()[-1] == (4, True, "dmf", 7.5)
    broken = frame_of([{"x": 1, "s": "dmf", "t": 4.5, "wet": False}])
    assert longer(FRAME, broken, encoder)["t"].to_list() == [1, 2, 3, 4.5]


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pl.LazyFrame])
def test_added_frames_are_matched_by_name(kind, tmp_path):
    """Columns were matched by position, and the words of a second frame were encoded anew."""
    opt = nr.GPUCB(FEW, **SETTINGS)
    opt.tell([0], [1.0])
    opt.save(tmp_path / "run.npz")
    for one in (opt, nr.load(tmp_path / "run.npz")):
        with pytest.raises(ValueError, match="dmf, thf; got water"):
            one.add_candidates(kind({"t": [4.0], "s": ["water"]}))
        with pytest.raises(ValueError, match="missing: s"):
            one.add_candidates(kind({"t": [4.0]}))
        assert len(one.domain) == 2
        one.add_candidates(kind({"s": ["dmf", "dmf"], "t": [4.0, 1.0]}))
        assert one.domain.points.tolist()[2:] == [[4, 1, 0], [1, 1, 0]]
        assert one.ask(3).values[0] in [{"t": t, "s": s} for t in (1, 2, 4) for s in ("thf", "dmf")]
        assert one.domain.names == ("t", "s = dmf", "s = thf")
        assert first_of(one.domain, 3).frame.rows()[-1] == (4.0, "dmf")


def test_rows_of_numbers_are_added_in_the_coordinates_of_the_list():
    opt = nr.GPUCB(FEW, **SETTINGS)
    opt.add_candidates(np.array([[6.0, 1.0, 0.0]]))
    opt.add_candidates([{"s": "thf", "t": 7.0}])
    assert opt.domain.frame.rows()[2:] == [(6.0, "dmf"), (7.0, "thf")]


def test_another_list_keeps_the_columns_and_words(tmp_path):
    opt = nr.GPUCB(FEW, **SETTINGS)
    opt.tell([0], [1.0])
    with pytest.raises(ValueError, match="got water"):
        opt.replace_candidates(nr.Candidates(pl.DataFrame({"t": [4.0, 5.0], "s": ["water", "x"]})))
    before = opt.predict([0])
    opt.replace_candidates(pl.DataFrame({"s": ["thf", "thf"], "t": [9.0, 1.0]}))
    assert opt.predict([1]) == before
    assert opt.ask(1).values[0]["s"] == "thf"
    pl.DataFrame({"t": [4.0, 5.0], "s": ["water", "x"]}).write_csv(tmp_path / "other.csv")
    with pytest.raises(ValueError, match="not in memory must have the columns and words"):
        opt.replace_candidates(nr.Candidates.open(tmp_path / "other.csv"))
    FEW.write_csv(tmp_path / "same.csv")
    opt.replace_candidates(nr.Candidates.open(tmp_path / "same.csv"))
    assert opt.ask(1).values[0] in FEW.rows(named=True)


def test_words_cannot_join_a_list_without_columns():
    opt = nr.GPUCB([[1.0, 0.0, 1.0]], **SETTINGS)
    with pytest.raises(ValueError, match="without names of columns; got words in t, s"):
        opt.add_candidates(FEW)
    opt.add_candidates(pl.DataFrame({"a": [1.0], "b": [2.0], "c": [3.0]}))
    assert opt.domain.points.tolist() == [[1, 0, 1], [1, 2, 3]]


def test_predictions_at_frames_are_matched_by_name(tmp_path):
    FEW.write_csv(tmp_path / "list.csv")
    for domain in (FEW, nr.Candidates.open(tmp_path / "list.csv")):
        opt = nr.GPUCB(domain, **SETTINGS)
        opt.tell([0], [1.0])
        at = opt.predict([0])
        for row in (
            FEW[:1].select("s", "t"),
            pd.DataFrame({"s": ["thf"], "t": [1]}),
            pd.Series({"s": "thf", "t": 1.0}),
            {"s": "thf", "t": 1.0},
            [{"s": "thf", "t": 1.0}],
            [1.0, 0.0, 1.0],
        ):
            assert opt.predict_points(row) == at
        with pytest.raises(ValueError, match="points must have the columns of the list"):
            opt.predict_points({"t": 1.0})


def test_rows_of_a_frame_as_objects():
    def kernel(xs, ys):
        return np.array([[float(x["smiles"] == y["smiles"]) for y in ys] for x in xs])

    for kind in (pd.DataFrame, pl.DataFrame):
        candidates = nr.Candidates(kind({"smiles": ["C", "CC"], "n": [1, 2]}), objects=True)
        assert list(candidates) == [{"smiles": "C", "n": 1}, {"smiles": "CC", "n": 2}]
        opt = nr.GPUCB(candidates, kernel, noise=0.1, norm=1.0, seed=0)
        opt.tell([0], [1.0])
        opt.add_candidates(kind({"smiles": ["CCC"], "n": [3]}))
        assert opt.predict_points(kind({"smiles": ["C"], "n": [7]})) == opt.predict([0])
        assert opt.ask(1).values[0]["n"] in (1, 2, 3)
