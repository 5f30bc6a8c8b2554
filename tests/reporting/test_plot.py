"""Pictures of runs, posteriors and covers."""

import subprocess
import sys

import matplotlib as mpl
import numpy as np
import polars as pl
import pytest
from matplotlib.figure import Figure

import noregret as nr
from noregret.reporting.slices import importances

mpl.use("Agg")

KERNEL = nr.Matern(0.3, nu=1.5)


def played(domain, **options):
    opt = nr.PiGPUCB(domain, KERNEL, noise=0.1, norm=5.0, horizon=50, seed=0, **options)
    rng = np.random.default_rng(0)
    for _ in range(25):
        batch = opt.ask()
        opt.tell(batch, np.sin(6 * batch.points[:, 0]) + 0.1 * rng.standard_normal(1))
    return opt


@pytest.mark.parametrize("on", ["list", "box"])
def test_line_shows_edges_bound_mean_and_evaluations(on):
    box = nr.Box({"dose": (0.0, 2.0)})
    opt = played(box.grid(40) if on == "list" else box)
    (ax,) = nr.plot.cover(opt).axes
    edges = {cell.lower[0] for cell in opt.cover} | {cell.upper[0] for cell in opt.cover}
    assert len(ax.lines) == len(edges) + 2
    upper = next(line for line in ax.lines if line.get_label() == "upper bound")
    where = np.arange(40) if on == "list" else np.asarray(upper.get_xdata())[:, None]
    assert np.array_equal(upper.get_ydata(), opt.upper(where))
    assert len(ax.collections[0].get_offsets()) == 25
    assert ax.get_xlabel() == "dose"


@pytest.mark.parametrize("on", ["list", "box"])
def test_plane_shows_cells_bound_and_evaluations(on):
    box = nr.Box([(0.0, 1.0), (-1.0, 1.0)])
    opt = played(box.grid(12) if on == "list" else box)
    figure = Figure()
    ax = figure.subplots()
    assert nr.plot.cover(opt, ax) is figure
    assert len(ax.patches) == len(opt.cover)
    corners = {(*patch.get_xy(), patch.get_width()) for patch in ax.patches}
    assert corners == {(*cell.lower, cell.upper[0] - cell.lower[0]) for cell in opt.cover}
    bound, told = ax.collections
    assert len(told.get_offsets()) == 25
    if on == "list":
        assert np.array_equal(bound.get_array(), opt.upper())
    figure.canvas.draw()


def test_what_cannot_be_drawn_is_refused():
    with pytest.raises(ValueError, match="one or two dimensions"):
        nr.plot.cover(nr.PiGPUCB(np.random.default_rng(0).random((9, 3)), KERNEL))
    with pytest.raises(TypeError, match="PiGPUCB"):
        nr.plot.cover(nr.IGPUCB(np.arange(3.0), KERNEL))


# -- results ---------------------------------------------------------------------------------

SPACE = {"rate": nr.Float(1e-4, 1, log=True), "layers": nr.Int(1, 4), "kind": nr.Choice(["a", "b"])}


def loss(x):
    if x["layers"] == 4:
        raise MemoryError
    return (np.log10(x["rate"]) + 2) ** 2 + 0.1 * (x["kind"] == "a")


@pytest.fixture(scope="module")
def result():
    return nr.minimize(loss, SPACE, 30, seed=0, progress=False, optimum=0.0)


@pytest.fixture(autouse=True)
def _closed_figures():
    yield
    from matplotlib import pyplot

    pyplot.close("all")


def test_convergence_of_a_study_is_that_of_its_result(tmp_path):
    path = tmp_path / "a.db"
    result = nr.minimize(loss, SPACE, 8, seed=0, progress=False, storage=path)
    with nr.Study.open(path) as study:
        ax = nr.plot.convergence(study)
    lines = [
        next(line for line in one.lines if line.get_label() == "best value so far")
        for one in (ax, nr.plot.convergence(result))
    ]
    np.testing.assert_array_equal(lines[0].get_ydata(), lines[1].get_ydata())


def test_convergence_shows_values_best_failures_and_the_recommendation(result):
    ax = nr.plot.convergence(result, optimum=0.0)
    best = next(line for line in ax.lines if line.get_label() == "best value so far")
    told = result.to_frame()["value"].fill_null(np.inf).to_numpy()
    assert best.get_ydata()[-1] == told.min()
    assert np.all(np.diff(best.get_ydata()[1:]) <= 0)
    words = [text.get_text() for text in ax.get_legend().get_texts()]
    assert f"{result.failures} failed" in words
    ax.figure.canvas.draw()


def test_slices_have_the_scale_of_each_parameter(result):
    axes = nr.plot.slices(result)
    by_name = {ax.get_xlabel(): ax for ax in axes}
    assert set(by_name) == set(SPACE)
    assert by_name["rate"].get_xscale() == "log"
    assert by_name["layers"].lines[0].get_xdata().tolist() == [1, 2, 3, 4]
    assert [t.get_text() for t in by_name["kind"].get_xticklabels()] == ["a", "b"]
    mean = by_name["rate"].lines[0]
    found = result.best.mean
    nearest = np.argmin(np.abs(np.log(mean.get_xdata() / result.best.point["rate"])))
    assert mean.get_ydata()[nearest] == pytest.approx(found, abs=0.1)  # values, not rewards
    axes[0].figure.canvas.draw()


def test_slices_of_chosen_features_on_given_axes(result):
    ax = Figure().subplots()
    assert nr.plot.slices(result, features=["layers"], ax=ax) == [ax]
    assert ax.get_xlabel() == "layers"
    with pytest.raises(ValueError, match=r"features must be one of 'rate'.* got 'depth'"):
        nr.plot.slices(result, features=["depth"])


def test_importance_shows_the_shares(result):
    found = importances(result)
    assert set(found["feature"]) == set(SPACE)
    assert found["share"].is_sorted(descending=True)
    ax = nr.plot.importance(result)
    assert [bar.get_width() for bar in ax.patches] == found["share"].to_list()


def test_importance_of_a_sum_is_the_share_of_each_variance():
    opt = nr.GPUCB(nr.Box([(0, 1)] * 3), nr.RBF(0.8), noise=0.01, width=2.0, seed=0)
    X = np.random.default_rng(0).random((80, 3))
    opt.tell(X, 2 * X[:, 0] + X[:, 1])
    shares = dict(importances(opt).iter_rows())
    assert shares["x0"] == pytest.approx(0.8, abs=0.08)
    assert shares["x1"] == pytest.approx(0.2, abs=0.05)
    assert shares["x2"] == pytest.approx(0.0, abs=0.02)


def test_regret_of_frames_results_and_arrays(result):
    frame = pl.DataFrame(
        {
            "algorithm": ["A"] * 4 + ["B"] * 4,
            "seed": [0, 0, 1, 1] * 2,
            "t": [1, 5] * 4,
            "simple": [4.0, 2.0, 8.0, 4.0, 1.0, 0.0, 1.0, 0.0],
        }
    )
    ax = nr.plot.regret(frame)
    assert [line.get_label() for line in ax.lines] == ["A (2 runs)", "B (2 runs)"]
    assert ax.lines[0].get_xydata().tolist() == [[1, 6.0], [5, 3.0]]
    assert ax.get_yscale() == "symlog"
    ax = nr.plot.regret({"ours": [result, result]})
    expected = np.minimum.accumulate(result.regret)
    np.testing.assert_allclose(ax.lines[0].get_ydata(), expected)
    for runs in (result, [result]):
        line = nr.plot.regret(runs).lines[0]
        assert line.get_label() == "TrustRegionUCB (1 run)"
        np.testing.assert_allclose(line.get_ydata(), expected)
    ax = nr.plot.regret({"ours": np.ones((3, 7))}, kind="regret")
    assert len(ax.lines[0].get_xdata()) == 7


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda r: nr.plot.convergence(3), TypeError, "result must be"),
        (lambda r: nr.plot.slices(3), TypeError, "a study, a result or an optimiser"),
        (lambda r: nr.plot.regret({}), TypeError, "runs must be"),
        (lambda r: nr.plot.regret(pl.DataFrame({"t": [1]})), ValueError, "the column 'algorithm'"),
        (lambda r: nr.plot.regret({"a": [[1.0], [1.0, 0.5]]}), ValueError, "same number of eval"),
        (lambda r: nr.plot.regret({"a": [1.0]}, band=2), ValueError, "band must lie"),
        (lambda r: nr.plot.regret({"a": [1.0]}, kind="x"), ValueError, "kind must be one of"),
    ],
)
def test_what_cannot_be_plotted_says_so(result, call, error, message):
    with pytest.raises(error, match=message):
        call(result)


def test_importing_the_package_does_not_import_matplotlib():
    code = "import noregret, sys; print('matplotlib' in sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "False"
