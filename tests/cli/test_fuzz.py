"""Whatever is typed: done, or refused in words; never a traceback, and nothing half done."""

import random

import numpy as np
import pytest
from typer.testing import CliRunner

import noregret as nr
from noregret.cli.main import app

WORDS = [
    *("", " ", "0", "-1", "1", "3", "1e3", "nan", "inf", "-inf", "1e400", "9" * 25, "x", "[/b]"),
    *("plates.db", "library.csv", "plate.csv", "broken.csv", "empty", "folder", "no/such", "-"),
    *("a,b", "compound", "rbf", "auto", "bbkb", "gpucb", "uniform", "{a}", "echo 1", "false"),
    *("\x1b[31m", "é\n", "a" * 3000, "=cmd|x", "007", "--", "../plates.db", "new.db", "0.5"),
]
OPTIONS = {
    "create": [
        *("--features", "--id", "--algorithm", "--batch", "--minimize", "--kernel", "--noise"),
        *("--lengthscale", "--scale", "--prior-mean", "--norm", "--delta", "--width", "--timeout"),
        *("--seed", "--drop-missing"),
    ],
    "ask": ["-n", "-o", "--wait", "-n", "-n"],
    "tell": ["--overwrite", "--skip-bad", "--wait", "--value-column", "--id-column"],
    "import": ["--only-new", "--again", "--skip-bad", "--wait", "--value-column", "--id-column"],
    "status": [],
    "best": ["--top", "--top"],
    "export": ["--to", "-o", "--salvage"],
    "report": ["-o"],
    "run": [
        *("--workers", "--batch", "--timeout", "--max-failures", "--known-best", "--wait"),
        "--max-failures-per-candidate",
    ],
    "retry": ["--all", "--wait", "cmp001", "cmp002"],
    "check": [],
    "add": ["--wait"],
}
TABLES = [
    b"trial,value\n0,1.5\n1,nan\n",
    b"trial,value\n" + b"9" * 30 + b",1\n",
    b"trial;value\n0;1,5\n",
    b"compound,value\ncmp001,2.5\n",
    b'a,b\n"unclosed',
    b"\xff\xfe\x00\x01",
    b"PK\x03\x04 no archive",
    b"PAR1 no table",
    b"value\n\n\n",
    b"trial,value\n0," + b"1" * 400 + b"\n",
    b"trial,trial,value\n0,1,2\n",
]


def state_of(path):
    with nr.Study.open(path, read_only=True) as study:
        return len(study.operations()), study.counts(), study.trials().to_dicts()


def line(rng):
    """A command line: often nearly right."""
    command = rng.choice(list(OPTIONS))
    study = "new.db" if command == "create" else "plates.db"
    words = [command, study if rng.random() < 0.85 else rng.choice(WORDS)]
    if command in ("tell", "import", "add"):
        words.append(rng.choice(["plate.csv", "broken.csv"] * 20 + WORDS))
    if command == "create":
        words += ["--candidates", rng.choice(["library.csv"] * 90 + WORDS)]
    if command == "run":
        words += ["--command", rng.choice(["echo 1", "false", "echo {a}"] * 20 + WORDS)]
        words += ["--budget", rng.choice(["1", "2", *WORDS[:12]])]
    for _ in range(rng.choice([0, 0, 1, 1, 2, 3])):
        words.append(rng.choice([*OPTIONS[command], "--json", "--nonsense"]))
        if rng.random() < 0.8:
            words.append(rng.choice(WORDS))
    return words


def fuzz(folder, db, rng, n):
    done = 0
    for _ in range(n):
        (folder / "broken.csv").write_bytes(rng.choice(TABLES))
        words = line(rng)
        (folder / "new.db").unlink(missing_ok=True)
        before = state_of(db)
        result = CliRunner().invoke(app, words)
        error = result.exception
        assert error is None or isinstance(error, SystemExit), (words, error)
        assert result.exit_code in range(8), words
        # Data may hold the traceback with which an evaluation failed.
        assert "Traceback" not in result.stderr, words
        done += result.exit_code == 0
        if result.exit_code in (1, 2) and words[0] != "run":
            assert state_of(db) == before, words
    return done


@pytest.fixture
def folder(db):
    (db.parent / "folder").mkdir()
    (db.parent / "empty").touch()
    assert (
        CliRunner().invoke(app, ["ask", "plates.db", "-n", "3", "-o", "plate.csv"]).exit_code == 0
    )
    return db.parent


@pytest.mark.filterwarnings("ignore")
def test_odd_command_lines_are_done_or_refused(folder, db):
    assert fuzz(folder, db, random.Random(1), 40)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_thousand_command_lines(folder, db):
    assert fuzz(folder, db, random.Random(2), 1000) > 50


VALUES = [
    *(None, True, 0, 1, -1, 3, 2**63, 10**30, 0.5, float("nan"), float("inf"), 1e308, "", "x"),
    *(
        "\ud800",
        "a" * 20_000,
        b"x",
        [],
        [0],
        [0, 0],
        [1.5],
        [None],
        ["x"],
        {},
        {"a": 1},
        (),
        object,
    ),
    *(np.nan, np.int64(2), np.float32(1.5), np.zeros((2, 2)), np.array(["x"]), np.arange(3), 1j),
]


def calls(study, rng):
    """One call of a study's methods with arguments of any kind."""
    pick = rng.choice
    return pick(
        [
            lambda: study.ask(pick(VALUES)),
            lambda: study.tell(pick(VALUES), pick(VALUES)),
            lambda: study.tell(pick(VALUES), failed=pick(VALUES)),
            lambda: study.tell(study.pending()[:1], pick(VALUES)),
            lambda: study.tell_history(pick(VALUES), pick(VALUES)),
            lambda: study.get(pick(VALUES)),
            lambda: study.top(pick(VALUES)),
            lambda: study.reassign(pick(VALUES)),
            lambda: study.optimizer.predict(pick(VALUES)),
            lambda: study.optimizer.counts(pick(VALUES)),
            lambda: study.run(pick([len, None, 3]), pick(VALUES), max_failures=pick([0, 1])),
        ]
    )


def fuzz_calls(path, rng, n):
    X = np.random.default_rng(0).uniform(size=(20, 2))
    study = nr.Study.create(path, X, kernel=nr.RBF(0.3), noise=0.1, width="practical", seed=0)
    study.ask(2)
    refused = 0
    for _ in range(n):
        before = len(study.operations()), study.counts()
        try:
            calls(study, rng)()
        except (ValueError, TypeError):
            refused += 1
            now = len(study.operations()), study.counts()
            assert now[1]["told"] == before[1]["told"] or now[1]["failed"] > before[1]["failed"]
        if study.counts()["pending"] > 50:
            study.tell(study.pending(), failed="too many")
    assert study.optimizer.t == study.counts()["told"]
    study.close()
    nr.Study.open(path).close()
    return refused


@pytest.mark.filterwarnings("ignore")
def test_calls_with_odd_values_are_done_or_refused(tmp_path):
    assert fuzz_calls(tmp_path / "a.db", random.Random(1), 60)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_thousand_calls(tmp_path):
    assert fuzz_calls(tmp_path / "a.db", random.Random(2), 1000)
