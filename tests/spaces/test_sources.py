"""Lists in files and lazy sequences: read where they are looked at, and found again."""

import copy
import pickle
import tracemalloc

import numpy as np
import polars as pl
import pytest
from reference import run

import noregret as nr
from noregret.spaces import sources

LENGTH = 500


@pytest.fixture
def table():
    """A frame of numbers: a short integer, float32 and a column of words."""
    rng = np.random.default_rng(0)
    return pl.DataFrame(
        {
            "depth": rng.integers(0, 9, LENGTH).astype(np.int16),
            "rate": rng.random(LENGTH, dtype=np.float32),
            "name": [f"n{i}" for i in range(LENGTH)],
        }
    )


def numbers(frame):
    return frame.select("depth", "rate").to_numpy().astype(np.float64)


class Slices:
    """A length and slices, nothing else; counts the rows that were read."""

    def __init__(self, rows):
        self._rows, self.read = rows, 0

    def __len__(self):
        return len(self._rows)

    def __getitem__(self, rows):
        if not isinstance(rows, slice):
            raise TypeError("slices only")
        found = self._rows[rows]
        self.read += len(found)
        return found


class Rising(Slices):
    """Takes ids as well, in rising order, as HDF5 does."""

    def __getitem__(self, rows):
        if not isinstance(rows, slice):
            assert (np.diff(rows) > 0).all()
        found = self._rows[rows]
        self.read += len(found)
        return found


def test_an_npy_file_is_mapped_as_it_is(tmp_path):
    X = np.random.default_rng(0).random((LENGTH, 3), dtype=np.float32)
    np.save(tmp_path / "x.npy", X)
    candidates = nr.Candidates.open(tmp_path / "x.npy")
    assert isinstance(candidates.points, np.memmap)
    assert candidates.points.dtype == np.float32
    np.testing.assert_array_equal(candidates.at(np.array([7, 3])), X[[7, 3]].astype(np.float64))
    np.testing.assert_array_equal(candidates.corners, [X.min(axis=0), X.max(axis=0)])


@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
def test_tables_are_read_in_pieces(tmp_path, monkeypatch, table, suffix):
    monkeypatch.setattr(sources, "PIECE", 64)
    path = tmp_path / f"library{suffix}"
    table.write_parquet(path) if suffix == ".parquet" else table.write_csv(path)
    candidates = nr.Candidates.open(path, columns=["depth", "rate"], folder=str(tmp_path))
    assert candidates.names == ("depth", "rate")
    assert candidates.points.dtype == (np.float32 if suffix == ".parquet" else np.float64)
    np.testing.assert_allclose(candidates.points, numbers(table), rtol=1e-6)
    np.testing.assert_array_equal(candidates.corners, bounding(candidates.points))


def bounding(points):
    return [points.min(axis=0), points.max(axis=0)]


def test_whole_numbers_that_float32_cannot_hold_are_kept(tmp_path):
    pl.DataFrame({"a": [2**24 + 1, 3]}).write_parquet(tmp_path / "a.parquet")
    assert nr.Candidates.open(tmp_path / "a.parquet").points.tolist() == [[2.0**24 + 1], [3.0]]


def test_a_csv_column_may_start_with_whole_numbers(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a\n" + "1\n" * 300 + "0.5\n")
    assert nr.Candidates.open(path).points[-1, 0] == 0.5


def test_the_copy_of_a_table_is_removed(tmp_path, table):
    table.write_parquet(tmp_path / "a.parquet")
    folder = tmp_path / "copies"
    folder.mkdir()
    first = nr.Candidates.open(tmp_path / "a.parquet", columns=["rate"], folder=str(folder))
    second = nr.Candidates.open(tmp_path / "a.parquet", columns=["rate"], folder=str(folder))
    assert len(list(folder.iterdir())) == 2
    first.close()
    first.close()
    assert len(list(folder.iterdir())) == 1
    del second
    assert not list(folder.iterdir())


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a,b\n" + "".join(f"1,x{i}\n" for i in range(101)), "these have more: b"),
        ("a,b\n1,2\n3,\n", r"nan in row 1, column 1 \(b\)"),
        ("a,b\n1,2\n3,4\ninf,1\n", "line 4, column 'a': 'inf' is not a number"),
        ("a\n" + "1\n" * 300 + "word\n", "table of numbers"),
    ],
)
def test_tables_that_are_no_numbers_are_refused(tmp_path, text, words):
    (tmp_path / "a.csv").write_text(text)
    folder = tmp_path / "copies"
    folder.mkdir()
    with pytest.raises((ValueError, TypeError), match=words):
        nr.Candidates.open(tmp_path / "a.csv", folder=str(folder))
    assert not list(folder.iterdir())


def test_what_cannot_be_opened_is_refused(tmp_path, table):
    table.write_parquet(tmp_path / "a.parquet")
    np.save(tmp_path / "words.npy", np.array(["a"]))
    np.save(tmp_path / "x.npy", np.ones((2, 2)))
    with pytest.raises(ValueError, match="columns must be some of depth, rate, name; got none"):
        nr.Candidates.open(tmp_path / "a.parquet", columns=[])
    table.clear().write_parquet(tmp_path / "empty.parquet")
    with pytest.raises(ValueError, match=r"empty\.parquet has no rows"):
        nr.Candidates.open(tmp_path / "empty.parquet", columns=["rate"])
    with pytest.raises(ValueError, match="got width"):
        nr.Candidates.open(tmp_path / "a.parquet", columns=["width"])
    with pytest.raises(ValueError, match="floating-point"):
        nr.Candidates.open(tmp_path / "words.npy")
    with pytest.raises(ValueError, match="no column names"):
        nr.Candidates.open(tmp_path / "x.npy", columns=["a"])
    (tmp_path / "a.doc").write_text("1")
    with pytest.raises(ValueError, match=r"\.csv, .*\.parquet"):
        nr.Candidates.open(tmp_path / "a.doc")
    with pytest.raises(FileNotFoundError, match="there is no file"):
        nr.Candidates.open(tmp_path / "b.npy")
    with pytest.raises(TypeError, match="source must be a path"):
        nr.Candidates.open(5)


@pytest.mark.parametrize("kind", [Slices, Rising])
def test_lazy_sequences_are_read_where_they_are_looked_at(kind):
    X = np.random.default_rng(0).random((LENGTH, 3), dtype=np.float32)
    source = kind(X)
    candidates = nr.Candidates(source)
    before = source.read
    assert before <= 3
    points = candidates.points
    assert points.shape == (LENGTH, 3)
    assert points.dtype == np.float32
    np.testing.assert_array_equal(points[5], X[5])
    np.testing.assert_array_equal(points[-1], X[-1])
    np.testing.assert_array_equal(points[10:13], X[10:13])
    np.testing.assert_array_equal(points[10:20:4], X[10:20:4])
    np.testing.assert_array_equal(points[np.array([9, 2, 3, 9])], X[[9, 2, 3, 9]])
    assert points[np.array([], dtype=int)].shape == (0, 3)
    assert source.read - before == 1 + 1 + 3 + 3 + 3
    np.testing.assert_array_equal(candidates.corners, bounding(X))
    with pytest.raises(TypeError, match="an id, a slice or ids"):
        points[:, 0]
    with pytest.raises(IndexError):
        points[LENGTH]


def test_lazy_sequences_of_something_else_are_refused():
    with pytest.raises(TypeError, match="rows of numbers for a slice"):
        nr.Candidates(Slices(np.array(["a", "b"])))
    with pytest.raises(ValueError, match="empty"):
        nr.Candidates(Slices(np.empty((0, 2))))


def test_an_optimiser_on_a_file_is_that_on_the_array(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.random((3000, 2), dtype=np.float32)
    f = np.sin(6 * X[:, 0]) + X[:, 1]
    np.save(tmp_path / "x.npy", X)
    pl.DataFrame(X).write_parquet(tmp_path / "x.parquet")
    runs = []
    for domain in (
        X,
        np.load(tmp_path / "x.npy", mmap_mode="r"),
        nr.Candidates.open(tmp_path / "x.parquet"),
        Slices(X),
    ):
        opt = nr.BBKB(domain, nr.RBF(0.3), noise=0.1, norm=5.0, width=2.0, seed=0)
        runs.append(run(opt, f, 0.1, np.random.default_rng(1), 60))
    first = runs[0]
    for other in runs[1:]:
        np.testing.assert_array_equal(other.history.ids, first.history.ids)
        np.testing.assert_array_equal(other.predict(), first.predict())
        assert other.recommend().gap == first.recommend().gap


def test_making_an_optimiser_reads_some_points_only():
    source = Slices(np.random.default_rng(0).random((50_000, 4), dtype=np.float32))
    opt = nr.BBKB(source, 2.0 * nr.RBF(0.5) + nr.Matern(0.5) * nr.RBF(1.0), noise=0.1, seed=0)
    opt.tell([0, 1], [0.0, 1.0])
    opt.ask(1)
    assert source.read < 5_000


def test_no_copy_of_a_mapped_list_is_made(tmp_path):
    """A few numbers a candidate are kept, not its point."""
    X = np.random.default_rng(0).random((20_000, 64), dtype=np.float32)
    np.save(tmp_path / "x.npy", X)
    tracemalloc.start()
    opt = nr.BBKB(nr.Candidates.open(tmp_path / "x.npy"), nr.RBF(0.1), noise=0.1, seed=0)
    opt.tell([0, 1], [0.0, 1.0])
    opt.ask(1)
    opt.save(tmp_path / "run.npz")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < X.nbytes / 2
    assert (tmp_path / "run.npz").stat().st_size < X.nbytes / 8


def test_numbers_that_are_not_finite_are_refused_where_they_are_looked_at(tmp_path):
    X = np.random.default_rng(0).random((LENGTH, 2))
    X[7, 1] = np.nan
    np.save(tmp_path / "x.npy", X)
    for candidates in (nr.Candidates.open(tmp_path / "x.npy"), nr.Candidates(Slices(X))):
        assert candidates.at(np.array([6])).shape == (1, 2)
        with pytest.raises(ValueError, match="nan in row 7, column 1"):
            candidates.at(np.array([3, 7]))
        with pytest.raises(ValueError, match="nan in row 7, column 1"):
            _ = candidates.corners


def saved_run(path, domain):
    opt = nr.GPUCB(domain, nr.RBF(0.3), noise=0.1, norm=5.0, seed=0)
    run(opt, np.zeros(len(domain)), 0.1, np.random.default_rng(1), 5)
    opt.save(path)
    return opt


def test_a_run_on_a_file_finds_it_again(tmp_path, table):
    X = np.random.default_rng(0).random((LENGTH, 2))
    np.save(tmp_path / "x.npy", X)
    X.tofile(tmp_path / "x.raw")
    table.write_parquet(tmp_path / "x.parquet")
    for domain in (
        nr.Candidates.open(tmp_path / "x.npy"),
        nr.Candidates(np.memmap(tmp_path / "x.raw", dtype=float, mode="r", shape=(LENGTH, 2))),
        nr.Candidates.open(tmp_path / "x.parquet", columns=["depth", "rate"]),
    ):
        opt = saved_run(tmp_path / "run.npz", domain)
        again = nr.load(tmp_path / "run.npz")
        assert again.domain.names == domain.names
        np.testing.assert_array_equal(again.domain.points, domain.points)
        np.testing.assert_array_equal(again.ask().ids, opt.ask().ids)


def test_parts_of_a_mapped_file_are_stored_themselves(tmp_path):
    """The place of a slice in its file is not known."""
    X = np.random.default_rng(0).random((LENGTH, 2))
    np.save(tmp_path / "x.npy", X)
    for part in (slice(100, 300), slice(None, None, -1)):
        saved_run(
            tmp_path / "run.npz", nr.Candidates(np.load(tmp_path / "x.npy", mmap_mode="r")[part])
        )
        np.testing.assert_array_equal(nr.load(tmp_path / "run.npz").domain.points, X[part])


def test_a_file_that_is_gone_or_has_changed_is_named(tmp_path):
    X = np.random.default_rng(0).random((LENGTH, 2))
    np.save(tmp_path / "x.npy", X)
    saved_run(tmp_path / "run.npz", nr.Candidates.open(tmp_path / "x.npy"))
    np.save(tmp_path / "x.npy", X[:-1])
    with pytest.raises(ValueError, match=r"x\.npy has changed"):
        nr.load(tmp_path / "run.npz")
    (tmp_path / "x.npy").unlink()
    with pytest.raises(FileNotFoundError, match=r"x\.npy, which is gone.*domain=list"):
        nr.load(tmp_path / "run.npz")
    assert nr.load(tmp_path / "run.npz", domain=X).t == 5


def test_a_lazy_list_must_be_given_again(tmp_path):
    X = np.random.default_rng(0).random((LENGTH, 2))
    opt = saved_run(tmp_path / "run.npz", nr.Candidates(Slices(X)))
    with pytest.raises(ValueError, match="domain=list"):
        nr.load(tmp_path / "run.npz")
    again = nr.load(tmp_path / "run.npz", domain=Slices(X))
    np.testing.assert_array_equal(again.ask().ids, opt.ask().ids)


def test_lists_in_files_are_sent_as_their_place(tmp_path):
    X = np.random.default_rng(0).random((LENGTH, 200))
    np.save(tmp_path / "x.npy", X)
    candidates = nr.Candidates.open(tmp_path / "x.npy")
    sent = pickle.dumps(candidates)
    assert len(sent) < 1000
    np.testing.assert_array_equal(pickle.loads(sent).points, X)
    assert copy.deepcopy(candidates) is candidates
    in_memory = pickle.loads(pickle.dumps(nr.Candidates(X)))
    np.testing.assert_array_equal(in_memory.points, X)


@pytest.mark.parametrize(
    ("array", "words"),
    [
        (np.arange(6).reshape(3, 2), r"got int64 .* np.save\(path, X.astype\(np.float32\)\)$"),
        (np.arange(3.0), r"shape \(3,\): save it with .*\.reshape\(-1, 1\)\)$"),
        (np.array([["a", "b"]]), r"of shape \(1, 2\)$"),
        (np.array([[1, "b"]], dtype=object), "a.npy must hold an array of numbers: "),
    ],
)
def test_arrays_that_cannot_be_mapped_are_refused_with_how_to_save_them(tmp_path, array, words):
    np.save(tmp_path / "a.npy", array)
    with pytest.raises(ValueError, match=words):
        nr.Candidates.open(tmp_path / "a.npy")


def test_other_files_are_refused(tmp_path):
    np.savez(tmp_path / "a.npz", X=np.eye(3))
    with pytest.raises(ValueError, match=r"a.npz may hold several arrays: .* \(.npy\)"):
        nr.Candidates.open(tmp_path / "a.npz")
    pl.DataFrame({"a": range(200), "name": [f"c{i}" for i in range(200)]}).write_parquet(
        tmp_path / "a.parquet"
    )
    with pytest.raises(TypeError, match=r"these have more: name. .* columns=\[...\]"):
        nr.Candidates.open(tmp_path / "a.parquet")
