import io
import json
import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from commands import MEASURE, PROGRAM, noregret, value
from rich.console import Console

import noregret as nr


def test_run_a_program(db):
    db.with_name("measure.py").write_text(MEASURE)
    result = noregret("run", db, "--command", PROGRAM, "--budget", 12, "--workers", 2, "--json")
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
    assert status["last_failure"].endswith("exit code 7")
    assert status["best"]["lower"] <= status["best"]["mean"] <= status["best"]["upper"]
    assert "gpucb" in noregret("status", db).stdout


def test_candidates_that_fail_are_set_aside_and_brought_back(db):
    """Listed with their reasons by status; retry brings them back by name, or all of them."""
    failing = f"{sys.executable} -I -S -c 'import sys; sys.exit(\"{{name}} is [broken]\")'"
    options = ("--max-failures", 4, "--max-failures-per-candidate", 1)
    noregret("run", db, "--command", failing, "--budget", 20, *options, code=5)
    aside = json.loads(noregret("status", db, "--json").stdout)["set_aside"]
    assert len(aside) == 5
    name = aside[0]["name"]
    assert f"{name} is [broken]" in aside[0]["reason"]
    assert aside[0]["failures"] == 1
    shown = noregret("status", db).stdout
    assert f"{name} (failed once:" in shown
    assert f"{name} is [broken]" in shown
    noregret("retry", db, "nobody", code=1)
    noregret("retry", db, code=1)
    noregret("retry", db, name, "--all", code=1)
    assert json.loads(noregret("retry", db, name, name, "--json").stdout) == {"retried": [name]}
    assert len(json.loads(noregret("status", db, "--json").stdout)["set_aside"]) == 4
    assert "Failures of 1 candidate no longer count" in noregret("retry", db, name).stderr
    assert "Failures of 4 candidates no longer count" in noregret("retry", db, "--all").stderr
    assert "No candidate is set aside" in noregret("retry", db, "--all").stderr


def test_a_run_ends_once_thompson_sampling_has_converged(db, tmp_path):
    X = np.linspace(0, 1, 30)[:, None]
    path = tmp_path / "t.db"
    options = {"kernel": nr.RBF(0.6), "noise": 0.02, "n_init": 10, "seed": 0}
    with nr.Study.create(path, X, "thompsonsampling", **options) as study:
        study.run(lambda x: -float((x[0] - 0.4) ** 2), 200, stop="converged")
    result = noregret("run", path, "--command", "true", "--budget", 300, "--stop", "converged")
    assert "stopped by converged" in result.stderr
    result = noregret("run", db, "--command", "true", "--budget", 9, "--stop", "converged", code=1)
    assert "no such rule" in " ".join(result.stderr.split())


def test_the_live_display(db, monkeypatch):
    screen = Console(file=io.StringIO(), force_terminal=True, width=100)
    monkeypatch.setattr("noregret.cli.run.console", screen)
    db.with_name("measure.py").write_text(MEASURE)
    options = ("--budget", 4, "--batch", 1, "--known-best", 1.0)
    noregret("run", db, "--command", PROGRAM, *options)
    shown = " ".join(screen.file.getvalue().split())
    for words in ("4 of 4", "trials/s", "batch 1 trial d", "inducing points", "best so far", "gap"):
        assert words in shown
    assert "regret" in shown


def test_an_interrupted_run_goes_on(db):
    """Ctrl-C while programs run: they are killed, and the same call finishes the job."""
    os.mkfifo("started")
    db.with_name("slow.py").write_text(
        "import os, time\nfile = open('started', 'w')\nprint(os.getpid(), file=file, flush=True)\n"
        "time.sleep(60)\n"
    )
    started = os.open("started", os.O_RDWR)
    command = [sys.executable, "-m", "noregret", "run", str(db), "--budget", "5", "--workers", "2"]
    with subprocess.Popen(
        [*command, "--command", f"{sys.executable} -I -S slow.py"],
        stderr=subprocess.PIPE,
        cwd=db.parent,
        env=os.environ | {"PYTHONPATH": str(Path(nr.__file__).parents[1])},
        # Background jobs of a shell ignore the signal, and so would their children.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as process:
        said = b""
        while said.count(b"\n") < 2:
            assert select.select([started], [], [], 60)[0], "no program was started"
            said += os.read(started, 100)
        os.close(started)
        locked = noregret("ask", db, code=3)
        assert str(process.pid) in locked.stderr
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"run the command again to go on" in errors
    for program in said.split():
        with pytest.raises(ProcessLookupError):
            os.kill(int(program), 0)
    db.with_name("measure.py").write_text(MEASURE)
    noregret("run", db, "--command", PROGRAM, "--budget", 5)
    with nr.Study.open(db, read_only=True) as study:
        assert study.counts()["told"] == 5
        assert study.counts()["pending"] == 0


def test_coordinates_of_a_box_are_the_fields_of_a_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    box = nr.Box({"a": (0, 1), "b": (5, 9)})
    nr.Study.create("box.db", box, "gpucb", kernel=nr.RBF([0.5, 2.0]), norm=20, seed=0).close()
    (tmp_path / "measure.py").write_text(MEASURE)
    noregret("run", "box.db", "--command", PROGRAM, "--budget", 3)
    with nr.Study.open("box.db", read_only=True) as study:
        for row in study.trials().iter_rows(named=True):
            assert row["value"] == pytest.approx(value(row), abs=1e-6)
