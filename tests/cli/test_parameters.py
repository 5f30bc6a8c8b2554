"""Studies of parameters on the command line, from create to report."""

import csv
import json
import math
import sys

import numpy as np
import pytest
from commands import noregret

import noregret as nr

PARAMS = ("lr=float(1e-6,1,log)", "layers=int(1,8)", "act=choice(relu,gelu)", "bias=bool")
MEASURE = """
import math, sys
lr, layers, act, bias = float(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4]
assert act in ("relu", "gelu") and bias in ("True", "False")
print(-(math.log10(lr) + 3) ** 2 - abs(layers - 5) - (act == "relu"))
"""


def params(*texts):
    return [word for text in texts for word in ("--param", text)]


def test_a_study_of_parameters_from_create_to_report(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "measure.py").write_text(MEASURE)
    said = noregret("create", "s.db", *params(*PARAMS), "--seed", 1).stderr
    assert "4 parameters; trustregionucb to maximize" in " ".join(said.split())
    assert "- lr: float(1e-06,1,log)\n- layers: int(1,8)\n- act: choice(relu,gelu)\n" in said
    noregret("ask", "s.db", "-n", 4, "-o", "plate.csv")
    with open("plate.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["trial", "lr", "layers", "act", "bias", "value"]
    for row in rows:
        row["value"] = -abs(int(row["layers"]) - 5)
    with open("plate.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    noregret("tell", "s.db", "plate.csv")
    program = f"{sys.executable} -I -S measure.py {{lr}} {{layers}} {{act}} {{bias}}"
    noregret("run", "s.db", "--command", program, "--budget", 14)
    best = json.loads(noregret("best", "s.db", "--json").stdout)["best"][0]
    assert type(best["layers"]) is int
    assert type(best["bias"]) is bool
    assert 1e-6 <= best["lr"] <= 1
    assert "act=" in noregret("best", "s.db").stderr
    noregret("export", "s.db", "-o", "trials.csv")
    with open("trials.csv", newline="") as file:
        trials = list(csv.DictReader(file))
    assert {row["act"] for row in trials} == {"relu", "gelu"}
    assert [row["status"] for row in trials] == ["told"] * 14
    noregret("report", "s.db", "-o", "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Slice along lr" in page
    with nr.Study.open("s.db") as study:
        assert study.best().point.keys() == {"lr", "layers", "act", "bias"}
        assert study.domain.parameters[1] == nr.Int(1, 8)


def test_a_space_in_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "space.toml").write_text('[lr]\ntype = "float"\nlow = 0\nhigh = 1\n')
    made = noregret("create", "s.db", "--space", "space.toml", "--minimize", "--json")
    about = json.loads(made.stdout)
    assert about["parameters"] == {"lr": {"type": "float", "low": 0.0, "high": 1.0, "log": False}}
    assert about["direction"] == "minimize"


def test_a_condition_on_the_command_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    condition = "layers * units <= 64"
    said = noregret(
        "create", "s.db", *params("layers=int(1,8)", "units=int(8,64)"), "--feasible", condition
    ).stderr
    assert f"where {condition}" in " ".join(said.split())
    with nr.Study.open("s.db") as study:
        assert all(one["layers"] * one["units"] <= 64 for one in study.ask(5).values)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "one of --candidates, --space and --param"),
        ([*params("a=bool"), "--feasible", "b"], "feasible must name parameters, a; got 'b'"),
        (["--space", "a.toml", *params("a=bool")], "one of --candidates, --space and --param"),
        (params("a=real(0,1)"), "a: a parameter must be written like"),
        ([*params("a=bool"), "--features", "a"], "--features is for a list"),
        ([*params("a=bool"), "--bits", 64], "--bits is for a list"),
        ([*params("a=bool"), "--drop-gaps"], "--drop-gaps is for a list"),
        ([*params("a=bool"), "--noise", "much"], "--noise must be a number, heavy or auto"),
        ([*params("a=int(1,3)"), "--lengthscale", "-1"], "--lengthscale must be above 0"),
        ([*params("a=bool"), "--kernel", "auto", "--scale", "2"], "--kernel auto learns"),
        (params("value=bool"), "a name that the files of ask and tell use"),
        (["--space", "none.toml"], "there is no file"),
    ],
)
def test_wrong_parameters_are_refused(tmp_path, monkeypatch, arguments, words):
    monkeypatch.chdir(tmp_path)
    said = noregret("create", "s.db", *arguments, code=1).stderr
    assert words in " ".join(said.split())
    assert not (tmp_path / "s.db").exists()


def test_a_gap_is_proved_for_parameters_with_a_given_kernel(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    model = ["--kernel", "rbf", "--lengthscale", 0.5, "--noise", 0.1, "--norm", 4]
    given = [*params("x=float(0,2)", "rate=float(1e-3,1,log)"), *model, "--width", "theory"]
    said = " ".join(noregret("create", "s.db", *given, "--seed", 1).stderr.split())
    assert "2 parameters; bbkb to maximize; rbf, noise 0.1; seed 1." in said
    assert "learnt" not in said
    with nr.Study.open("s.db") as study:
        kernel = study.optimizer.kernel
        assert kernel.lengthscale == pytest.approx([1.0, 0.5 * math.log(1e3)])
        study.run(lambda at: -((at["x"] - 1) ** 2), 120)
        gap = study.optimizer.recommend().gap
        assert study.optimizer.proved
        assert gap < 2.0 * 4.0  # less than the norm alone says
    best = json.loads(noregret("best", "s.db", "--json").stdout)
    assert best["gap"] == pytest.approx(gap)


@pytest.mark.parametrize(
    ("texts", "options", "kernel"),
    [
        (["a=float(0,4)", "c=choice(x,y)"], ["--lengthscale", 0.5], nr.RBF(2.0)),
        (["a=float(0,4)", "c=choice(x,y)"], ["--kernel", "matern52"], nr.Matern(0.8)),
        (["a=float(0,4)", "c=choice(x,y)"], ["--scale", 3], nr.RBF(0.8, variance=9.0)),
    ],
)
def test_a_kernel_of_numbers_and_choices(tmp_path, monkeypatch, texts, options, kernel):
    monkeypatch.chdir(tmp_path)
    noregret("create", "s.db", *params(*texts), *options)
    with nr.Study.open("s.db") as study:
        made = study.optimizer.kernel
    X = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]])
    expected = kernel(X[:, :1], X[:, :1]) * np.exp(-1.0 * (X[:, 1:] != X[:, 1]))
    np.testing.assert_allclose(made(X, X), expected)


def test_the_noise_of_parameters_is_a_number(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    said = noregret("create", "s.db", *params("a=float(0,1)"), "--noise", 0.25).stderr
    assert "The kernel is learnt" in said
    with nr.Study.open("s.db") as study:
        assert study.optimizer.noise == 0.25
        assert study.optimizer.kernel == "auto"


def test_a_list_in_the_place_of_the_study_is_answered_by_the_right_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my library.csv").write_text("a,b\n1,2\n3,4\n")
    said = noregret("create", "my library.csv", code=1).stderr
    assert "noregret create 'my library.db' --candidates 'my library.csv'" in " ".join(said.split())


def test_old_measurements_are_imported_by_their_values(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    noregret("create", "s.db", *params(*PARAMS), "--seed", 1)
    (tmp_path / "old.csv").write_text(
        "lr,layers,act,bias,value\n0.001,3,gelu,true,1.5\n1e-2,4.0,relu,no,0.5\n"
    )
    noregret("import", "s.db", "old.csv")
    with nr.Study.open("s.db") as study:
        rows = study.trials().select("lr", "layers", "act", "bias", "value").rows()
    assert rows == [(0.001, 3, "gelu", True, 1.5), (0.01, 4, "relu", False, 0.5)]
    (tmp_path / "old.csv").write_text("lr,layers,act,bias,value\n0.001,9,selu,true,1.5\n")
    said = " ".join(noregret("import", "s.db", "old.csv", code=1).stderr.split())
    assert "column 'layers': value must be a whole number in [1, 8]" in said
