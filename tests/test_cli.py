import csv
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from rich.console import Console
from typer.testing import CliRunner

import noregret as nr
from noregret.cli.main import app

runner = CliRunner()


def noregret(*arguments, code=0):
    result = runner.invoke(app, [str(argument) for argument in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == code, result.output
    return result


def library(path, n=120):
    rng = np.random.default_rng(0)
    frame = pl.DataFrame(
        {
            "compound": [f"cmp{i:03d}" for i in range(n)],
            "a": rng.uniform(size=n).round(3),
            "b": rng.uniform(5, 9, size=n).round(3),
            "solvent": rng.choice(["water", "<b>dmso</b>"], size=n),
        }
    )
    frame.write_csv(path)
    return frame


@pytest.fixture
def db(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    library(tmp_path / "library.csv")
    noregret(
        *("create", "plates.db", "--candidates", "library.csv", "--features", "a,b"),
        *("--id", "compound", "--algorithm", "gpucb", "--batch", 6, "--seed", 1),
    )
    return tmp_path / "plates.db"


def value(row):
    return round(np.sin(5 * float(row["a"])) - (float(row["b"]) - 7) ** 2, 6)


def answer(source, target, fill=value, keep=lambda i: True):
    """Fill the value column of what ``ask`` gave."""
    with open(source, newline="") as file:
        rows = list(csv.DictReader(file))
    for i, row in enumerate(rows):
        row["value"] = fill(row) if keep(i) else ""
    rows.reverse()
    with open(target, "w", newline="") as file:
        writer = csv.DictWriter(file, [*rows[0], "note"])
        writer.writeheader()
        writer.writerows(rows)
    return rows


def test_a_laboratory_loop(db):
    told = {}
    for _ in range(3):
        db.with_name("plate.csv").write_text(noregret("ask", db).stdout)
        with db.with_name("plate.csv").open() as file:
            assert file.readline() == "trial,compound,a,b,value\n"
        rows = answer("plate.csv", "first.csv", keep=lambda i: i % 2)
        noregret("tell", db, "first.csv")
        assert f"{3} trials still open" in noregret("tell", db, "first.csv").output
        answer("plate.csv", "all.csv")
        noregret("tell", db, "all.csv")
        told |= {int(row["trial"]): value(row) for row in rows}
    with nr.Study.open(db, read_only=True) as study:
        frame = study.trials()
        assert dict(zip(frame["trial"], frame["value"], strict=True)) == told
        assert study.counts() == {"pending": 0, "told": 18, "failed": 0, "history": 0}
        best = study.best()
    shown = json.loads(noregret("best", db, "--top", "3", "--json").stdout)
    assert shown["best"][0]["id"] == best.id
    assert shown["best"][0]["lower"] == pytest.approx(best.lower)
    assert len(shown["best"]) == 3


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda rows: rows[1].update(value="lots"), "line 3: value 'lots' is not a finite number"),
        (lambda rows: rows[1].update(value="nan"), "line 3: value 'nan'"),
        (lambda rows: rows[2].update(trial="77"), "line 4: there is no trial '77'"),
        (lambda rows: rows[2].update(trial="x"), "line 4: there is no trial 'x'"),
        (lambda rows: rows.append(dict(rows[0])), "line 8: trial 0 comes twice"),
        (lambda rows: rows[0].update(compound="cmp999"), "line 2: trial 0 is cmp"),
        (lambda rows: rows[0].update(failed="broken"), "line 2: trial 0 has both"),
    ],
)
def test_one_wrong_line_refuses_the_file(db, change, message):
    noregret("ask", db, "-o", "plate.csv")
    with open("plate.csv", newline="") as file:
        rows = [dict(row, value=1.0, failed="") for row in csv.DictReader(file)]
    change(rows)
    with open("bad.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    result = noregret("tell", db, "bad.csv", code=1)
    assert message in result.stderr
    assert "nothing of it was told" in result.stderr
    with nr.Study.open(db, read_only=True) as study:
        assert study.counts()["told"] == 0


def test_failures_and_changed_answers_by_csv(db):
    noregret("ask", db, "-n", 2)
    db.with_name("a.csv").write_text("trial,value,failed\n0,1.5,\n1,,spilt\n")
    assert "1 values and 1 failures" in noregret("tell", db, "a.csv").output
    db.with_name("b.csv").write_text("value,trial\n2.5,0\n")
    assert "line 2: trial 0 was told 1.5" in noregret("tell", db, "b.csv", code=1).stderr
    noregret("tell", db, "b.csv", "--overwrite")
    with nr.Study.open(db, read_only=True) as study:
        assert study.trials()["value"].to_list() == [2.5, None]
        assert study.trials()["reason"].to_list() == [None, "spilt"]


def test_import_and_export(db):
    db.with_name("old.csv").write_text("compound,value,who\ncmp003,1.5,x\ncmp003,1.25,y\n")
    noregret("import", db, "old.csv")
    db.with_name("bad.csv").write_text("compound,value\ncmp003,1.5\nnobody,2\n")
    assert (
        "line 3: there is no candidate 'nobody'" in noregret("import", db, "bad.csv", code=1).stderr
    )
    noregret("export", db, "--to", "parquet", "-o", "t.parquet")
    frame = pl.read_parquet("t.parquet")
    assert frame.select("id", "name", "value", "status").rows() == [
        (3, "cmp003", 1.5, "told"),
        (3, "cmp003", 1.25, "told"),
    ]
    assert {"a", "b"} <= set(frame.columns)
    lines = noregret("export", db).stdout.splitlines()
    assert len(lines) == 3
    noregret("export", db, "--salvage", "-o", "saved.csv")
    assert pl.read_csv("saved.csv")["value"].to_list() == [1.5, 1.25]


def test_create_says_what_it_does_and_refuses_gaps(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = library("library.csv", 50)
    made = noregret(
        *("create", "a.db", "--candidates", "library.csv"),
        *("--features", "a,b,solvent", "--minimize"),
    )
    said = " ".join(made.stderr.split())
    assert "one-hot over 2 categories" in said
    assert "standardised" in said
    assert "median distance" in said
    with nr.Study.open("a.db", read_only=True) as study:
        points = study.domain.points
        assert points.shape == (50, 4)
        assert points[:, :2].mean(axis=0) == pytest.approx([0, 0], abs=1e-12)
        assert points[:, :2].std(axis=0) == pytest.approx([1, 1])
        assert (points[:, 2:].sum(axis=1) == 1).all()
        assert study.table["b"].to_list() == frame["b"].to_list()
        assert study.settings["direction"] == "minimize"
    gaps = frame.with_columns(
        pl.when(pl.col("a") < 0.1).then(None).otherwise(pl.col("a")).alias("a")
    )
    rows = [i + 1 for i, a in enumerate(gaps["a"]) if a is None]
    gaps.write_parquet("gaps.parquet")
    result = noregret("create", "b.db", "--candidates", "gaps.parquet", code=1)
    said = " ".join(result.stderr.split())
    assert f"rows {', '.join(map(str, rows))}, counted from 1" in said
    assert "--drop-missing" in said
    assert not (tmp_path / "b.db").exists()
    noregret("create", "b.db", "--candidates", "gaps.parquet", "--drop-missing", "--id", "compound")
    with nr.Study.open("b.db", read_only=True) as study:
        assert len(study.domain) == 50 - len(rows)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--features a,q", "there is no column q"),
        ("--id nobody", "there is no column 'nobody'"),
        ("--id solvent", "share a name"),
        ("--algorithm magic", "bbkb"),
        ("--lengthscale -1", "lengthscale"),
        ("--width wide", "width must be one of"),
    ],
)
def test_create_refuses(tmp_path, monkeypatch, options, message):
    monkeypatch.chdir(tmp_path)
    library("library.csv", 20)
    result = noregret("create", "a.db", "--candidates", "library.csv", *options.split(), code=1)
    assert message in " ".join(result.stderr.split())
    assert not (tmp_path / "a.db").exists()


MEASURE = """
import math, sys
a, b = float(sys.argv[1]), float(sys.argv[2])
print("warming up")
print(math.sin(5 * a) - (b - 7) ** 2)
"""


def test_run_a_program(db):
    db.with_name("measure.py").write_text(MEASURE)
    program = f"{sys.executable} -I -S measure.py {{a}} {{b}}"
    result = noregret("run", db, "--command", program, "--budget", 12, "--workers", 2, "--json")
    assert json.loads(result.stdout)["counts"]["told"] == 12
    with nr.Study.open(db, read_only=True) as study:
        table = study.table
        for id_, told in study.trials().select("id", "value").iter_rows():
            assert told == pytest.approx(value(table.row(id_, named=True)), abs=1e-6)
    result = noregret("run", db, "--command", "measure {q}", "--budget", 20, code=1)
    assert "asks for {q}" in result.stderr
    failing = f"{sys.executable} -I -S -c 'import sys; sys.exit(7)'"
    result = noregret("run", db, "--command", failing, "--budget", 20, "--max-failures", 2, code=5)
    assert "exit code 7" in " ".join(result.stderr.split())
    status = json.loads(noregret("status", db, "--json").stdout)
    assert status["counts"]["failed"] == 3
    assert status["best"]["lower"] <= status["best"]["mean"] <= status["best"]["upper"]
    assert "gpucb" in noregret("status", db).stdout


def test_the_live_display(db, monkeypatch):
    screen = Console(file=io.StringIO(), force_terminal=True, width=100)
    monkeypatch.setattr("noregret.cli.running.console", screen)
    db.with_name("measure.py").write_text(MEASURE)
    program = f"{sys.executable} -I -S measure.py {{a}} {{b}}"
    noregret("run", db, "--command", program, "--budget", 4, "--known-best", 1.0)
    shown = screen.file.getvalue()
    for words in ("4 of 4", "trials/s", "last batch", "inducing points", "best so far", "gap"):
        assert words in shown
    assert "regret" in shown


def test_an_interrupted_run_goes_on(db):
    """Ctrl-C while programs run: they are killed, and the same call finishes the job."""
    db.with_name("slow.py").write_text(
        "import os, pathlib, time\npathlib.Path(f'started-{os.getpid()}').touch()\ntime.sleep(60)\n"
    )
    command = [sys.executable, "-m", "noregret", "run", str(db), "--budget", "5", "--workers", "2"]
    with subprocess.Popen(
        [*command, "--command", f"{sys.executable} -I -S slow.py"],
        stderr=subprocess.PIPE,
        cwd=db.parent,
        env=os.environ | {"PYTHONPATH": str(Path(nr.__file__).parents[1])},
        # Background jobs of a shell ignore the signal, and so would their children.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as process:
        deadline = time.monotonic() + 60
        while len(list(db.parent.glob("started-*"))) < 2:
            assert process.poll() is None, process.stderr.read()
            assert time.monotonic() < deadline
        locked = noregret("ask", db, code=3)
        assert str(process.pid) in locked.stderr
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"the same command goes on" in errors
    for started in db.parent.glob("started-*"):
        with pytest.raises(ProcessLookupError):
            os.kill(int(started.name.split("-")[1]), 0)
    db.with_name("measure.py").write_text(MEASURE)
    program = f"{sys.executable} -I -S measure.py {{a}} {{b}}"
    noregret("run", db, "--command", program, "--budget", 5)
    with nr.Study.open(db, read_only=True) as study:
        assert study.counts()["told"] == 5
        assert study.counts()["pending"] == 0


def test_adaptive_batches_end_early_unless_filled(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    library("library.csv")
    noregret(*["create", "a.db", "--candidates", "library.csv", "--id", "compound", "--seed", "0"])
    result = noregret("ask", "a.db", "-n", 8)
    assert len(result.stdout.splitlines()) == 2
    assert "--fill" in result.stderr
    assert len(noregret("ask", "a.db", "-n", 8, "--fill").stdout.splitlines()) == 9


@pytest.mark.parametrize(
    "name", ["create", "ask", "tell", "import", "run", "status", "best", "export", "report"]
)
def test_every_command_has_help_with_an_example(name):
    output = " ".join(noregret(name, "--help").stdout.split())
    assert f"Example: noregret {name}" in output
    assert "--json" in output


def test_exit_codes_and_json_errors(db):
    assert runner.invoke(app, ["ask"]).exit_code == 2
    result = noregret("status", "none.db", "--json", code=1)
    assert "no study" in json.loads(result.stderr)["error"]
    db.with_name("broken.db").write_bytes(b"not a database at all" * 500)
    assert "--salvage" in " ".join(noregret("status", "broken.db", code=4).stderr.split())
    assert "no answers yet" in noregret("best", db, code=1).stderr


# -- the report ------------------------------------------------------------------------------


def browser():
    names = ("chromium", "chromium-browser", "google-chrome", "chrome")
    return next((found for name in names if (found := shutil.which(name))), None)


@pytest.fixture
def report(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = library("library.csv")
    nasty = "<script>document.title='broken'</script>"
    names = [nasty, *frame["compound"][1:]]
    frame.with_columns(pl.Series("compound", names)).write_csv("library.csv")
    noregret(
        *["create", "plates.db", "--candidates", "library.csv", "--features", "a,b,solvent"],
        *["--id", "compound", "--seed", "0"],
    )
    with nr.Study.open("plates.db") as study:
        study.tell_history([0, 0, 0], [9.0, 9.0, 9.0])
        table = study.table
        study.run(lambda id_: value(table.row(id_, named=True)), 40, argument=lambda id_, x: id_)
        study.tell(study.ask(1), failed="<b>spilt</b>")
    noregret("report", "plates.db", "-o", "report.html")
    return tmp_path / "report.html"


def test_report_is_one_page_without_markup_from_names(report):
    page = report.read_text()
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert "http://" not in page.split("base64,")[0]
    for title in ("Values over time", "Batch sizes", "Dictionary growth", "Slice along a"):
        assert f'alt="{title}"' in page


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
    assert shown.count("<img") >= 7
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
    import matplotlib.image

    pixels = matplotlib.image.imread(shot)[..., :3]
    blue = np.array([0x1F, 0x5F, 0xA8]) / 255
    painted = np.abs(pixels - blue).max(axis=2) < 0.05
    # The plots' lines are there: in both columns, at several heights.
    assert painted[:, :600].any(axis=1).sum() > 50
    assert painted[:, 600:].any(axis=1).sum() > 50


def test_report_of_an_empty_study_and_of_objects(tmp_path):
    from noregret.reporting.report import render

    words = ["cat", "cart", "dog"]

    def kernel(xs, ys):
        return np.array([[len(set(x) & set(y)) / 5 + (x == y) for y in ys] for x in xs])

    with nr.Study.create(tmp_path / "w.db", words, "gpucb", kernel=kernel, seed=0) as study:
        assert "no answers yet" in render(study)
        study.run(lambda word: float(len(word)), 5)
        assert "no features to move" in render(study)
