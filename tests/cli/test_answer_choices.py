"""A row that names a trial must be about the choice of that trial."""

import csv

import pytest
from commands import noregret

import noregret as nr
from noregret.cli.answer_choices import half_of_last_digit

PARAMS = (
    "temp=float(20,100)",
    "eq=int(1,5)",
    "solvent=choice(THF,DMF)",
    "dry=bool",
    "m=choice(0.5,2)",
)


@pytest.fixture
def plates(tmp_path, monkeypatch):
    """Two studies of the same parameters with different seeds; the filled plates, rows as dicts."""
    monkeypatch.chdir(tmp_path)
    found = []
    for name, seed in (("A", 1), ("B", 2)):
        given = [word for text in PARAMS for word in ("--param", text)]
        noregret("create", f"{name}.db", *given, "--seed", seed)
        noregret("ask", f"{name}.db", "-n", 4, "-o", f"{name}.csv")
        with open(f"{name}.csv", newline="") as file:
            found.append([dict(row, value=i) for i, row in enumerate(csv.DictReader(file))])
    return found


def write(path, rows, separator=","):
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter=separator)
        writer.writeheader()
        writer.writerows(rows)


def told(path="B.db"):
    with nr.Study.open(path, read_only=True) as study:
        return study.counts()["told"]


def test_the_plate_of_another_study_is_refused(plates):
    write("A.csv", plates[0])
    refused = " ".join(noregret("tell", "B.db", "A.csv", code=1).stderr.split())
    assert f"line 2, column 'temp': trial 0 has {plates[1][0]['temp']}, not" in refused
    assert "is this a file of another study?" in refused
    assert told() == 0
    noregret("tell", "A.db", "A.csv")
    assert told("A.db") == 4


@pytest.mark.parametrize("column", ["temp", "eq", "solvent", "dry", "m"])
def test_each_parameter_is_compared(plates, column):
    rows = plates[1]
    others = {"temp": "19.5", "eq": str(int(rows[2]["eq"]) % 5 + 1)}
    words = {"solvent": "THF DMF", "dry": "True False", "m": "0.5 2"}
    for name, both in words.items():
        others[name] = next(word for word in both.split() if word != rows[2][name])
    rows[2][column] = others[column]
    write("B.csv", rows)
    refused = noregret("tell", "B.db", "B.csv", code=1).stderr
    assert f"line 4, column {column!r}: trial 2 has" in refused
    assert told() == 0


def test_numbers_are_compared_as_far_as_they_are_printed(plates):
    """As a spreadsheet in another language writes it, which also loses a column and a cell."""
    rows = plates[1]
    for row in rows:
        row["temp"] = f"{float(row['temp']):.1f}".replace(".", ",")
        row["m"] = row["m"].replace(".", ",")
        row["dry"] = row["dry"].upper()
        del row["eq"]
    rows[1]["solvent"] = ""
    write("B.csv", rows, ";")
    noregret("tell", "B.db", "B.csv")
    assert told() == 4


def test_half_of_the_last_digit():
    cases = {"4.3": 0.05, "43": 0.5, "2e3": 500.0, "1.25E-02": 5e-5, "1,234.5": 0.05, "50 %": 0.5}
    for text, half in cases.items():
        assert half_of_last_digit(text, ".") == pytest.approx(half), text
    assert half_of_last_digit("1.234,56", ",") == pytest.approx(0.005)
