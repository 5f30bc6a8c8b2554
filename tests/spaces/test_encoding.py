import numpy as np
import polars as pl

from noregret.spaces.encoding import make_encoder, medians
from noregret.spaces.survey import survey
from noregret.spaces.tables import Piece


def look(values, pieces=1):
    frame = pl.DataFrame({"x": values})
    cut = np.array_split(np.arange(len(frame)), pieces)
    parts = [Piece(frame[rows.tolist()], rows) for rows in cut]
    return parts, survey(parts, ["x"])["x"]


def test_gaps_get_the_median_and_a_flag():
    parts, column = look(["1", "NA", "3", "8"])
    fills = medians(parts, [column])
    assert fills == {"x": 3.0}
    encoder = make_encoder([column], fills, standardize=False)
    assert encoder.names == ("x", "x (gap)")
    assert encoder.encode(parts[0].frame).tolist() == [[1, 0], [3, 1], [3, 0], [8, 0]]
    parts, column = look(["a", None, "b"])
    encoder = make_encoder([column], {}, standardize=True)
    assert encoder.names == ("x = a", "x = b", "x = (gap)")
    assert encoder.encode(parts[0].frame).sum(axis=1).tolist() == [1, 1, 1]


def test_words_with_spaces_at_their_ends_are_the_same_category():
    parts, column = look(["water", "water ", "thf"])
    encoder = make_encoder([column], {}, standardize=True)
    assert encoder.names == ("x = thf", "x = water")
    assert encoder.encode(parts[0].frame).tolist() == [[0, 1], [0, 1], [1, 0]]


def test_an_encoder_knows_which_numbers_had_percent_signs():
    for values, percent in ((["1%", "2 %"], True), (["1", "2"], False)):
        (feature,) = make_encoder([look(values)[1]], {}, standardize=True).features
        assert feature.percent is percent
