import re
import shutil
import subprocess
import sys

import matplotlib.image
import numpy as np
import polars as pl
import pytest

import noregret as nr
from noregret.reporting.report import best_so_far, render, write_report

N = 120


def browser():
    names = ("chromium", "chromium-browser", "google-chrome", "chrome")
    return next((found for name in names if (found := shutil.which(name))), None)


@pytest.fixture
def report(tmp_path):
    """The page of a study with a failure, a nasty name and a feature that is text."""
    rng = np.random.default_rng(0)
    a, b = rng.uniform(size=N), rng.uniform(5, 9, size=N)
    water = rng.random(N) < 0.5
    number = {"mean": 0.0, "deviation": 1.0}
    solvents = [{"name": "solvent", "category": name} for name in ("<b>dmso</b>", "water")]
    with nr.Study.create(
        tmp_path / "plates.db",
        np.column_stack([a, b, ~water, water]),
        kernel=nr.RBF(1.0),
        noise=0.1,
        norm=50,
        width="practical",
        seed=0,
        names=["<script>document.title='broken'</script>", *(f"cmp{i:03d}" for i in range(1, N))],
        table=pl.DataFrame({"a": a, "b": b, "solvent": np.where(water, "water", "<b>dmso</b>")}),
        about={"columns": [{"name": "a"} | number, {"name": "b"} | number, *solvents]},
    ) as study:
        study.tell_history([0, 0, 0], [9.0, 9.0, 9.0])
        study.run(lambda x: np.sin(5 * x[0]) - (x[1] - 7) ** 2, 40)
        study.tell(study.ask(1), failed="<b>spilt</b>")
        write_report(study, tmp_path / "report.html")
    return tmp_path / "report.html"


def test_progress_reaches_the_last_answer(tmp_path):
    """The best choice is noted when a batch is asked for; the last answers come after that."""
    with nr.Study.create(tmp_path / "s.db", np.linspace(0, 1, 30), width=2.0, seed=0) as study:
        for _ in range(3):
            trials = study.ask(4)
            study.tell(trials, np.sin(trials.points[:, 0]))
        log = study.operations()
        noted = best_so_far(study, [info for info in log["info"] if info and "best" in info])
        assert noted[-1]["t"] == 12
        assert noted[-1]["mean"] == study.best().mean


def test_report_is_one_page_without_markup_from_names(report):
    page = report.read_text()
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert "http" not in page
    for title in ("Values over time", "Batch sizes", "Inducing points", "Slice along a"):
        assert f'aria-label="{title}' in page
    assert page.count("<figcaption>Slice along ") == 3
    assert "Predicted against measured" in page
    assert "% interval that the model gives without them" in page
    assert "The best choices" in page


def test_outliers_that_are_expected_bend_no_predictions(tmp_path):
    """By least squares most of these choices would lie outside their intervals."""
    rng = np.random.default_rng(0)
    x = rng.uniform(size=60)
    values = np.sin(5 * x) + 0.05 * rng.standard_normal(60)
    values[::12] += 50.0
    for noise in (0.05, "heavy"):
        options = {"kernel": nr.RBF(0.3), "noise": noise, "norm": 3.0, "width": 2.0, "seed": 0}
        with nr.Study.create(tmp_path / f"{noise}.db", nr.Box([(0, 1)]), **options) as study:
            study.tell_history(x[:, None], values)
            page = render(study)
        assert ("Predicted against measured" in page) == (noise != "heavy")
        assert ("Outliers are expected" in page) == (noise == "heavy")
        assert "No warnings" not in page


def test_report_says_how_many_can_still_be_the_best_where_it_is_known(path, monkeypatch):
    monkeypatch.setattr(nr.GPUCB, "alive", property(lambda self: 1204))
    points = np.linspace(0, 1, 2000)
    with nr.Study.create(path, points, "gpucb", kernel=nr.RBF(0.3), seed=0) as study:
        study.run(lambda x: float(x[0]), 3)
        assert "<b>1,204</b>of 2,000 can still be the best" in render(study)


def test_report_in_a_browser(report):
    program = browser()
    if program is None:
        pytest.skip("no Chromium or Chrome is installed")
    shown = subprocess.run(
        [program, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom", report.as_uri()],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    ).stdout
    assert "<title>plates.db</title>" in shown
    assert shown.count("<svg") >= 7
    shot = report.with_suffix(".png")
    subprocess.run(
        [
            *(program, "--headless", "--no-sandbox", "--disable-gpu", "--window-size=1200,3000"),
            *(f"--screenshot={shot}", report.as_uri()),
        ],
        capture_output=True,
        timeout=120,
        check=True,
    )
    pixels = matplotlib.image.imread(shot)[..., :3]
    blue = np.array([0x1F, 0x5F, 0xA8]) / 255
    painted = np.abs(pixels - blue).max(axis=2) < 0.05
    # The plots' lines are there: in both columns, at several heights.
    assert painted[:, :600].any(axis=1).sum() > 50
    assert painted[:, 600:].any(axis=1).sum() > 50


def test_names_stand_in_place_of_numbers(report):
    page = report.read_text()
    best = page[page.index("The best choices") : page.index("Does the model fit?")]
    assert "<th>name</th><th>model</th><th>interval</th><th>times</th>" in best
    assert "<th>id</th>" not in page


def test_no_matplotlib_is_needed():
    program = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "import noregret as nr, noregret.reporting.report as report, tempfile, pathlib\n"
        "path = pathlib.Path(tempfile.mkdtemp())\n"
        "study = nr.Study.create(path / 'a.db', [[0.0], [1.0]], 'gpucb', kernel=nr.RBF(1.0))\n"
        "study.tell_history([0, 1], [1.0, 2.0])\n"
        "report.write_report(study, path / 'a.html')\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


def test_report_of_an_empty_study_and_of_objects(tmp_path):

    words = ["cat", "cart", "dog"]

    def kernel(xs, ys):
        return np.array([[len(set(x) & set(y)) / 5 + (x == y) for y in ys] for x in xs])

    with nr.Study.create(
        tmp_path / "w.db", words, "gpucb", kernel=kernel, norm=20, seed=0
    ) as study:
        assert "no answers yet" in render(study)
        study.run(lambda word: float(len(word)), 5)
        assert "no features to move" in render(study)


def test_report_of_molecules(tmp_path):
    """A byte of packed bits is no feature: there is nothing to move along it."""
    bits = np.packbits(np.random.default_rng(0).random((40, 64)) < 0.3, axis=1)
    with nr.Study.create(tmp_path / "m.db", bits, "plateucb", batch=8, seed=0) as study:
        for _ in range(2):
            trials = study.ask()
            study.tell(trials, bits[trials.ids].sum(axis=1).astype(float))
        assert "packed bits (fingerprints); there are no features to move" in render(study)
        with pytest.raises(ValueError, match="packed bits"):
            nr.plot.importance(study)


def test_a_slice_along_a_logarithmic_parameter_has_its_scale(path):
    with nr.Study.create(path, {"lr": nr.Float(1e-6, 1, log=True)}, seed=0) as study:
        study.run(lambda x: -((np.log10(x["lr"]) + 3) ** 2), 8)
        page = render(study)
    chart = page[page.index("<figcaption>Slice along lr") :]
    assert all(f">{power}</text>" in chart for power in ("1e-06", "0.0001", "0.01", "1"))


def test_the_mean_that_was_learnt_stands_in_place_of_the_one_at_the_start(path):
    with nr.Study.create(path, np.linspace(0, 1, 40), "plateucb", seed=0) as study:
        assert "prior mean" in render(study)
        study.tell_history(range(30), np.linspace(-70, -50, 30))
        page = render(study)
    assert re.search(r"<td>the kernel describes</td><td>\(value \+ [56]", page)
    assert "prior mean" not in page


@pytest.mark.parametrize(("count", "words"), [(3, ""), (12, "The last 10 of 12.")])
def test_failures_are_counted_where_some_are_left_out(path, count, words):
    with nr.Study.create(path, np.arange(20.0), "gpucb", kernel=nr.RBF(1.0), seed=0) as study:
        study.tell(study.ask(count), failed="out of ink")
        page = render(study)
    assert page.count("out of ink") == min(count, 10)
    assert ("The last" in page.partition("<h2>Failures")[2].partition("<table")[0]) == bool(words)
    assert words in page


def test_a_batch_is_as_wide_as_it_is_high(path):
    """Each size stands over the trials of its own batch, not over those of the next one."""
    with nr.Study.create(path, np.arange(20.0), "gpucb", kernel=nr.RBF(1.0), norm=50) as study:
        for size in (2, 6, 1):
            trials = study.ask(size)
            study.tell(trials, np.sin(trials.ids))
        page = render(study)
    (line,) = re.findall(r'Batch sizes</figcaption>.*?<polyline points="([^"]*)"', page)
    x, y = np.array([pair.split(",") for pair in line.split()], dtype=float).T
    trial = (x - x[0]) / (x[-1] - x[0]) * 9
    np.testing.assert_allclose(trial, [0, 2, 2, 8, 8, 9, 9], atol=0.01)
    np.testing.assert_array_equal(y[[0, 2, 4, 4]], y[[1, 3, 5, 6]])
    assert y[2] < y[0] < y[4]
