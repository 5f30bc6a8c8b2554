"""Files: what is stored, what must be given again, what is refused."""

import json
import zipfile
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from reference import problem, run
from sklearn.gaussian_process import kernels as sk

import noregret as nr
from noregret.parts import Parts
from noregret.picking.by_bounds import LooksByBounds
from noregret.picking.ucb import ucb
from noregret.widths.evidence import theory


def played(kernel=None, domain=None, seed=0, steps=40, **options):
    X, f, rng = problem(arms=50)
    opt = nr.BBKB(
        X if domain is None else domain,
        kernel or nr.RBF(0.3),
        **{"noise": 0.1, "norm": 5.0, "seed": seed, **options},
    )
    return run(opt, f, 0.1, rng, steps), f


def same_future(one, two, f, steps=30):
    rngs = np.random.default_rng(5), np.random.default_rng(5)
    for opt, rng in zip((one, two), rngs, strict=True):
        run(opt, f, 0.1, rng, opt.t + steps)
    np.testing.assert_array_equal(one.history.ids, two.history.ids)
    for a, b in zip(one.predict(), two.predict(), strict=True):
        np.testing.assert_array_equal(a, b)
    best, again = one.recommend(), two.recommend()
    assert (best.id, best.mean, best.lower, best.upper, best.gap) == (
        again.id,
        again.mean,
        again.lower,
        again.upper,
        again.gap,
    )


@pytest.mark.parametrize(
    "kernel",
    [
        nr.RBF([0.3, 0.5]),
        nr.Matern(0.3, nu=0.9) + 0.1 * nr.Linear(),
        sk.RBF(0.4) * sk.RationalQuadratic(),
    ],
    ids=repr,
)
def test_kernels_are_stored(kernel, tmp_path):
    opt, f = played(kernel)
    opt.save(tmp_path / "run.npz")
    same_future(opt, nr.load(tmp_path / "run.npz"), f)


def test_a_long_run_continues_bit_for_bit(tmp_path):
    """Long enough for many growths of every buffer, on several blocks of rows."""
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(5000, 3))
    f = np.sin(5 * X).sum(axis=1)
    opt = nr.BBKB(X, nr.RBF(0.2), noise=0.1, lam=0.1, width="practical", norm=9.0, seed=1)
    run(opt, f, 0.1, rng, 150)
    opt.save(tmp_path / "run.npz")
    same_future(opt, nr.load(tmp_path / "run.npz"), f, 150)


def test_saving_does_not_change_the_run(tmp_path):
    saved, f = played()
    plain, _ = played()
    saved.save(tmp_path / "a.npz")
    same_future(saved, plain, f)


@pytest.mark.parametrize(
    "settings",
    [
        {"seed": np.int64(3)},
        {"noise": np.float32(0.1), "norm": Fraction(9, 2), "delta": np.float16(0.1)},
        {"lam": np.longdouble(0.1), "width": np.float32(2), "qbar": np.float32(3)},
        {"repeats": np.int64(2), "aim": np.uint8(2), "min_batch": np.int32(2)},
    ],
    ids=str,
)
def test_numbers_of_other_types_are_stored(settings, tmp_path):
    opt = nr.BBKB(problem(arms=50)[0], nr.RBF(0.3), **{"seed": 0, **settings})
    opt.tell(opt.ask(1), [1.0])
    opt.save(tmp_path / "run.npz")
    read = nr.load(tmp_path / "run.npz")
    for name, value in settings.items():
        kept = getattr(read, name)
        assert type(kept) in (int, float)
        assert kept == getattr(opt, name) == pytest.approx(float(value), rel=1e-12)
    np.testing.assert_array_equal(opt.ask(3).ids, read.ask(3).ids)


def test_settings_and_events_are_stored(tmp_path):
    settings = {"width": "practical", "ratio": 3.0, "batch_rule": "local", "qbar": 4.0}
    opt, f = played(dictionary="resample", **settings)
    opt.replace_candidates(opt.domain.points[::-1].copy())
    opt.save(tmp_path / "run.npz")
    again = nr.load(tmp_path / "run.npz")
    assert again.settings() == opt.settings()
    assert again.settings()["dictionary"] == "resample"
    assert again.events == opt.events != []


def test_what_is_learnt_is_stored(tmp_path):
    opt, f = played("auto", noise="auto", norm="auto", steps=60)
    opt.save(tmp_path / "run.npz")
    again = nr.load(tmp_path / "run.npz")
    assert (again.noise, again.norm, again.kernel) == ("auto", "auto", "auto")
    assert repr(again.assumed) == repr(opt.assumed)
    same_future(opt, again, f)


def test_logarithms_of_columns_are_stored(tmp_path):
    X = 10.0 ** np.random.default_rng(0).uniform(-4, 0, size=(50, 2))
    opt, f = played("auto", X, noise="auto", norm="auto", steps=60)
    assert opt.assumed.kernel.columns == [0, 1]
    opt.save(tmp_path / "run.npz")
    again = nr.load(tmp_path / "run.npz")
    assert repr(again.assumed) == repr(opt.assumed)
    same_future(opt, again, f)


def test_a_width_that_is_a_function_must_be_given_again(tmp_path):
    def width(evidence):
        return 1.0 + 0.01 * evidence.t

    opt, f = played(width=width)
    opt.save(tmp_path / "run.npz")
    with pytest.raises(ValueError, match="width is a function"):
        nr.load(tmp_path / "run.npz")
    same_future(opt, nr.load(tmp_path / "run.npz", width=width), f)


def test_a_file_says_itself_what_its_settings_are(tmp_path):
    """Another setting would show at ``opt.noise``, and what is remembered would rest on the old."""
    opt, f = played(seed=3)
    opt.save(tmp_path / "run.npz")
    others = ("noise", 0.5), ("width", 2.0), ("seed", 4), ("kernel", nr.RBF(0.5))
    for name, value in (*others, ("kernel", "auto"), ("kernel", lambda xs, ys: xs @ ys.T)):
        with pytest.raises(ValueError, match=rf"^{name} .*opt\.replace\({name}="):
            nr.load(tmp_path / "run.npz", **{name: value})
    same_future(opt, nr.load(tmp_path / "run.npz", kernel=opt.kernel), f)


class Counting(LooksByBounds):
    """Picks by bounds, and counts the batches."""

    batches = 0

    def choose(self, now, limit):
        self.batches += 1
        return self.by_bounds.choose(now, limit)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Counter(nr.Optimizer):
    """GP-UCB with a chooser of its own."""

    def parts(self):
        return Parts(chooser=Counting(ucb(self.domain, self.search)), widths={"theory": theory})


def test_parts_from_outside_the_package_are_stored(tmp_path):
    X, f, rng = problem(arms=50)
    opt = run(Counter(X, nr.RBF(0.3), noise=0.1, norm=5.0, seed=0), f, 0.1, rng, 20)
    opt.save(tmp_path / "run.npz")
    again = nr.load(tmp_path / "run.npz", algorithm=Counter)
    assert again.chooser.batches == opt.chooser.batches > 10
    same_future(opt, again, f)
    with pytest.raises(ValueError, match="algorithm=Yours"):
        nr.load(tmp_path / "run.npz")
    # A file can name only classes that the algorithm is made of.
    with pytest.raises(ValueError, match="no part of a run"):
        nr.load(tmp_path / "run.npz", algorithm=nr.GPUCB)


def test_a_fresh_start_from_a_file(tmp_path):
    opt, f = played()
    opt.save(tmp_path / "run.npz")
    fresh = nr.load(tmp_path / "run.npz", fresh=True)
    assert (fresh.t, fresh.pending) == (0, 0)
    assert fresh.settings() == opt.settings()


def test_strings_are_stored(tmp_path):
    words = [f"{a}{b}" for a in "abcd" for b in "abcd"]

    def similarity(xs, ys):
        return np.array([[(x[0] == y[0]) + (x[1] == y[1]) + 0.1 for y in ys] for x in xs], float)

    opt = nr.BBKB(words, similarity, norm=5.0, seed=0)
    run(opt, np.arange(16) / 16, 0.1, np.random.default_rng(0), 20)
    opt.save(tmp_path / "run.npz")
    with pytest.raises(ValueError, match="kernel=k"):
        nr.load(tmp_path / "run.npz")
    same_future(opt, nr.load(tmp_path / "run.npz", kernel=similarity), np.arange(16) / 16)


def test_objects_must_be_given_again(tmp_path):
    sets = [frozenset({i, i + 1}) for i in range(10)]

    def overlap(xs, ys):
        return np.array([[len(x & y) + 0.5 * (x == y) for y in ys] for x in xs], float)

    opt = nr.GPUCB(sets, overlap, norm=5.0, seed=0)
    run(opt, np.arange(10) / 10, 0.1, np.random.default_rng(0), 8)
    opt.save(tmp_path / "run.npz")
    with pytest.raises(ValueError, match="domain=list"):
        nr.load(tmp_path / "run.npz", kernel=overlap)
    with pytest.raises(ValueError, match="10 candidates"):
        nr.load(tmp_path / "run.npz", kernel=overlap, domain=sets[:3])
    again = nr.load(tmp_path / "run.npz", kernel=overlap, domain=sets)
    same_future(opt, again, np.arange(10) / 10, 5)
    opt.replace_candidates(sets[:5])
    with pytest.raises(ValueError, match="replaced list"):
        opt.save(tmp_path / "run.npz")


@pytest.mark.parametrize("candidates", [True, False])
def test_another_list_is_refused(candidates, tmp_path):
    opt, f = played()
    opt.save(tmp_path / "run.npz", candidates=candidates)
    with pytest.raises(ValueError, match="the run's list, in the same order"):
        nr.load(tmp_path / "run.npz", domain=opt.domain.points[::-1])
    same_future(opt, nr.load(tmp_path / "run.npz", domain=opt.domain.points), f)


def test_another_box_is_refused(tmp_path):
    nr.GPUCB(nr.Box([(0, 1)] * 2), nr.RBF(0.3), seed=0).save(tmp_path / "run.npz")
    with pytest.raises(ValueError, match="domain must be the run's Box"):
        nr.load(tmp_path / "run.npz", domain=nr.Box([(0, 2)] * 2))
    assert nr.load(tmp_path / "run.npz", domain=nr.Box([(0, 1)] * 2)).domain.dimension == 2


@pytest.mark.filterwarnings("ignore:the rewards contradict")  # f is not that of the new list
def test_a_replaced_list_is_stored(tmp_path):
    opt, f = played()
    opt.replace_candidates(np.random.default_rng(7).uniform(size=(50, 2)))
    run(opt, f, 0.1, np.random.default_rng(1), opt.t + 10)
    opt.save(tmp_path / "run.npz")
    same_future(opt, nr.load(tmp_path / "run.npz"), f)


def test_precomputed_kernels_and_frames_are_stored(tmp_path):
    import pandas as pd

    X, f, rng = problem(arms=30)
    opt = nr.GPUCB(range(30), nr.Precomputed(nr.RBF(0.5)(X, X)), norm=5.0, seed=0)
    run(opt, f, 0.1, rng, 10)
    opt.save(tmp_path / "run.npz")
    same_future(opt, nr.load(tmp_path / "run.npz"), f, 10)
    framed = nr.GPUCB(pd.DataFrame(X, columns=["a", "b"]), nr.RBF(0.5), seed=0)
    framed.save(tmp_path / "framed.npz")
    assert nr.load(tmp_path / "framed.npz").domain.names == ("a", "b")


def test_nothing_is_pickled(tmp_path):
    opt, _ = played()
    opt.save(tmp_path / "run.npz")
    with zipfile.ZipFile(tmp_path / "run.npz") as archive:
        for name in archive.namelist():
            assert b"|O" not in archive.read(name)[:128]


def test_a_failed_save_leaves_the_old_file(tmp_path, monkeypatch):
    opt, f = played()
    path = tmp_path / "run.npz"
    opt.save(path)
    before = path.read_bytes()
    monkeypatch.setattr(np, "savez", lambda *a, **k: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        opt.save(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(FileNotFoundError, match=r"folder that exists, got 'nowhere/run\.npz'"):
        opt.save("nowhere/run.npz")


def test_a_table_is_no_run_and_nobody_is_told_to_load_it_unsafely(tmp_path):
    (tmp_path / "library.csv").write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match="no archive of arrays") as refused:
        nr.load(tmp_path / "library.csv")
    assert "pickle" not in str(refused.value)


def test_damaged_and_foreign_files_are_refused(tmp_path):
    opt, _ = played()
    path = tmp_path / "run.npz"
    opt.save(path)
    whole = path.read_bytes()
    bad = {
        "cut": whole[: len(whole) // 2],
        "empty": b"",
        "text": b"not a run at all",
        "flipped": whole[:2000] + bytes([whole[2000] ^ 255]) + whole[2001:],
    }
    for name, content in bad.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(ValueError, match=name):
            nr.load(tmp_path / name)
    np.savez(tmp_path / "other.npz", a=np.ones(3))
    with pytest.raises(ValueError, match="other"):
        nr.load(tmp_path / "other.npz")
    np.save(tmp_path / "single.npy", np.ones(3))
    with pytest.raises(ValueError, match="single"):
        nr.load(tmp_path / "single.npy")
    with pytest.raises(FileNotFoundError):
        nr.load(tmp_path / "missing.npz")


def _rewrite(path, change):
    with np.load(path) as archive:
        arrays = dict(archive)
    header = json.loads(arrays["header"].tobytes())
    change(header, arrays)
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    np.savez(path, **arrays)


@pytest.mark.parametrize(
    "change",
    [
        lambda header, arrays: header.update(format=99),
        lambda header, arrays: header.update(algorithm="simulated annealing"),
        lambda header, arrays: header["kernel"].update({"class": "os.system"}),
        lambda header, arrays: header.pop("run"),
        lambda header, arrays: arrays.pop(max(set(arrays) - {"header", "candidates"})),
        lambda header, arrays: header["settings"].update(delta=7),
        lambda header, arrays: header["run"].update({"class": "os:system"}),
        lambda header, arrays: header["run"].update({"class": "noregret.running.state:importlib"}),
        lambda header, arrays: header["run"]["of"].pop("rng"),
    ],
)
def test_files_that_do_not_add_up_are_refused(change, tmp_path):
    opt, _ = played()
    opt.save(tmp_path / "run.npz")
    _rewrite(tmp_path / "run.npz", change)
    with pytest.raises(ValueError, match=r"."):
        nr.load(tmp_path / "run.npz")


@pytest.mark.parametrize("name", ["", ".", "..", "runs", "runs/"])
def test_a_folder_is_no_file(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs").mkdir()
    opt, _ = played(steps=1)
    with pytest.raises(IsADirectoryError, match="path must name a file, got the folder"):
        opt.save(name)
    assert [*tmp_path.rglob("*")] == [tmp_path / "runs"]


@pytest.mark.parametrize("path", [None, 5, [1]])
def test_what_is_no_path_is_refused(path):
    opt, _ = played(steps=1)
    for call in (lambda: nr.load(path), lambda: opt.save(path)):
        with pytest.raises(TypeError, match="path must be a path or a binary file object, got"):
            call()
