"""Lists in parts on a Dask cluster: their points, and workers that die."""

import gc
import sys

import numpy as np
import polars as pl
import pytest
from clusters import kill_the_worker_of

import noregret as nr
from noregret.spaces import shards
from noregret.spaces.shards import Keeper

X = np.random.default_rng(0).random((500, 3), dtype=np.float32)


class Counter:
    """Something to keep beside the points of a part."""

    def __init__(self, candidates, start):
        self.total = start + len(candidates)

    def add(self, n):
        self.total += n
        return self.total


def test_a_list_in_parts_is_the_list(dask_client):
    loaded = []
    one = nr.Candidates(X)
    many = nr.Candidates.on(
        dask_client, X, parts=3, progress=lambda done, of: loaded.append((done, of))
    )
    assert loaded == [(1, 3), (2, 3), (3, 3)]
    assert len(many) == len(one)
    assert many.dimension == 3
    assert many.points.shape == X.shape
    assert many.points.dtype == np.float32
    ids = np.array([499, 0, 170, 166, 167, 0])
    np.testing.assert_array_equal(many.at(ids), one.at(ids))
    np.testing.assert_array_equal(many.points[160:170], X[160:170])
    np.testing.assert_array_equal(many.points[-1], X[-1])
    np.testing.assert_array_equal(many.corners, one.corners)
    for seed in (0, 1):
        rngs = np.random.default_rng(seed), np.random.default_rng(seed)
        for a, b in zip(one.sample(5, rngs[0]), many.sample(5, rngs[1]), strict=True):
            np.testing.assert_array_equal(a, b)
        np.testing.assert_array_equal(one.spread(9, rngs[0]), many.spread(9, rngs[1]))
    with pytest.raises(ValueError, match=r"0\.\.499"):
        many.locate([500])
    many.close()
    with pytest.raises(ValueError, match="closed"):
        many.at(ids)


def test_files_are_parts(dask_client, tmp_path):
    np.save(tmp_path / "a.npy", X[:100])
    np.save(tmp_path / "b.npy", X[100:].astype(np.float64))
    many = nr.Candidates.on(dask_client, [tmp_path / "a.npy", str(tmp_path / "b.npy")])
    np.testing.assert_array_equal(many.points[:], X.astype(np.float64))
    frame = pl.DataFrame(X, schema=["u", "v", "w"])
    frame[:100].write_parquet(tmp_path / "a.parquet")
    frame[100:].write_parquet(tmp_path / "b.parquet")
    tables = [tmp_path / "a.parquet", tmp_path / "b.parquet"]
    many = nr.Candidates.on(dask_client, tables, columns=["w", "u"], folder=str(tmp_path))
    assert many.names == ("w", "u")
    np.testing.assert_array_equal(many.points[:], X[:, [2, 0]])


def test_what_cannot_be_put_on_a_cluster_is_refused(dask_client, tmp_path):
    np.save(tmp_path / "a.npy", X)
    np.save(tmp_path / "b.npy", X[:, :2])
    with pytest.raises(ValueError, match="same columns: part 0 has 3, part 1 has 2"):
        nr.Candidates.on(dask_client, [tmp_path / "a.npy", tmp_path / "b.npy"])
    with pytest.raises(FileNotFoundError, match=r"c\.npy"):
        nr.Candidates.on(dask_client, [tmp_path / "a.npy", tmp_path / "c.npy"])
    with pytest.raises(ValueError, match="one file for a part"):
        nr.Candidates.on(dask_client, [tmp_path / "a.npy"], parts=2)
    with pytest.raises(ValueError, match="at most the 500 candidates"):
        nr.Candidates.on(dask_client, X, parts=501)
    with pytest.raises(TypeError, match="array of numbers"):
        nr.Candidates.on(dask_client, [{1}, {2}])
    with pytest.raises(TypeError, match=r"distributed\.Client"):
        nr.Candidates.on("scheduler:8786", X)


def test_without_dask_the_way_to_install_it_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ImportError, match=r"noregret\[dask\]"):
        nr.Candidates.on(None, X)


def test_numbers_that_are_not_finite_are_named_by_their_row_in_the_list(dask_client, tmp_path):
    bad = X.copy()
    bad[300, 2] = np.inf
    np.save(tmp_path / "a.npy", bad[:200])
    np.save(tmp_path / "b.npy", bad[200:])
    many = nr.Candidates.on(dask_client, [tmp_path / "a.npy", tmp_path / "b.npy"])
    with pytest.raises(ValueError, match="inf in row 300, column 2"):
        many.at(np.array([10, 300]))


def test_slow_loading_is_shown(dask_client, capsys, monkeypatch):
    nr.Candidates.on(dask_client, X, parts=2)
    assert not capsys.readouterr().err
    monkeypatch.setattr(shards, "_SLOW", -1.0)
    nr.Candidates.on(dask_client, X, parts=2)
    assert capsys.readouterr().err == "\r1 of 2 parts loaded\r2 of 2 parts loaded\n"


@pytest.mark.parametrize("from_files", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_a_part_is_loaded_again_when_its_worker_dies(dask_client, tmp_path, from_files):
    if from_files:
        np.save(tmp_path / "a.npy", X[:200])
        np.save(tmp_path / "b.npy", X[200:])
        many = nr.Candidates.on(dask_client, [tmp_path / "a.npy", tmp_path / "b.npy"])
    else:
        many = nr.Candidates.on(dask_client, X, parts=2)
    kept = Keeper(many.shards, Counter, (0,), [(1,), (2,)])
    assert kept.ask_all("add", 10) == [lengths(many)[0] + 11, lengths(many)[1] + 12]
    kill_the_worker_of(dask_client, many, 1)
    np.testing.assert_array_equal(many.points[:], X)
    assert kept.pop_lost() == []
    first, second = kept.ask_all("add", 1)
    assert second == lengths(many)[1] + 1  # from the start again
    assert kept.pop_lost()[-1] == 1
    kept.send({1: ("add", 5)})
    assert kept.ask({1: ("add", 1)}) == {1: second + 6}
    assert kept.pop_lost() == []


def lengths(candidates):
    return np.diff(candidates.shards.offsets).tolist()


def test_what_nobody_needs_is_forgotten(dask_client):
    many = nr.Candidates.on(dask_client, X, parts=1)
    kept = Keeper(many.shards, Counter, (0,))
    old = kept.key
    del kept
    gc.collect()  # an exception on the way, as on a busy machine, can leave a reference for a while
    Keeper(many.shards, Counter, (0,))
    assert many.shards.gather({0: ("ask", old, "add", 1)}) == {0: shards.NOT_KEPT}
