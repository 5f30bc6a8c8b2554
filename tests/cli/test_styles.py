"""Plates are written as the library is: who opens the one by a double click opens the other."""

import csv
from pathlib import Path

import pytest
from commands import noregret as run

import noregret as nr

NAMES = [f"Prüfling {i}" for i in range(60)]


def library(path, separator, decimal, encoding):
    """60 candidates with an umlaut in a name and numbers with decimals."""
    with open(path, "w", newline="", encoding=encoding) as file:
        writer = csv.writer(file, delimiter=separator)
        writer.writerow(["Prüfling", "Gehalt", "Lösungsmittel"])
        for i, name in enumerate(NAMES):
            content = f"{i / 7:.3f}".replace(".", decimal)
            writer.writerow([name, content, ["Wasser", "Öl"][i % 2]])


def fill_in(path, separator, decimal, encoding):
    """What a spreadsheet saves after values were typed into it."""
    with open(path, newline="", encoding=encoding) as file:
        rows = list(csv.DictReader(file, delimiter=separator))
    for row in rows:
        number = int(row["Prüfling"].split()[1])
        row["value"] = f"{1 + number / 1000:.3f}".replace(".", decimal)
    with open(path, "w", newline="", encoding=encoding) as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter=separator)
        writer.writeheader()
        writer.writerows(rows)


@pytest.mark.parametrize(
    ("separator", "decimal", "encoding"),
    [(";", ",", "cp1252"), (";", ",", "utf-8-sig"), ("\t", ",", "utf-16"), (",", ".", "utf-8")],
)
def test_a_round_trip_in_the_style_of_the_library(
    tmp_path, monkeypatch, separator, decimal, encoding
):
    monkeypatch.chdir(tmp_path)
    library("library.csv", separator, decimal, encoding)
    run("create", "a.db", "--candidates", "library.csv", "--id", "Prüfling", "--seed", 0)
    run("ask", "a.db", "-n", 12, "-o", "plate.csv")
    own = "utf-8" if encoding == "utf-8" else "utf-8-sig"
    text = (tmp_path / "plate.csv").read_bytes()
    assert text.startswith(b"\xef\xbb\xbf") == (own == "utf-8-sig")
    header, first = text.decode(own).splitlines()[:2]
    assert header.split(separator) == ["trial", "Prüfling", "Gehalt", "Lösungsmittel", "value"]
    assert decimal in first.split(separator)[2]

    fill_in("plate.csv", separator, decimal, own)
    run("tell", "a.db", "plate.csv")
    with nr.Study.open("a.db", read_only=True) as study:
        for name, value in study.trials().select("name", "value").iter_rows():
            assert value == pytest.approx(1 + int(name.split()[1]) / 1000)
        trials = study.trials()

    run("export", "a.db", "-o", "trials.csv")
    run("create", "b.db", "--candidates", "library.csv", "--id", "Prüfling", "--seed", 0)
    run("import", "b.db", "trials.csv")
    with nr.Study.open("b.db", read_only=True) as study:
        for column in ("name", "value"):
            assert sorted(study.trials()[column]) == sorted(trials[column])


def test_bad_rows_are_written_in_the_same_style(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    library("library.csv", ";", ",", "cp1252")
    run("create", "a.db", "--candidates", "library.csv", "--id", "Prüfling", "--seed", 0)
    run("ask", "a.db", "-n", 2, "-o", "plate.csv")
    fill_in("plate.csv", ";", ",", "utf-8-sig")
    text = (tmp_path / "plate.csv").read_text(encoding="utf-8-sig").splitlines()
    text[1] = text[1].rsplit(";", 1)[0] + ";viel"
    (tmp_path / "plate.csv").write_text("\n".join(text), encoding="utf-8-sig")
    run("tell", "a.db", "plate.csv", "--skip-bad")
    header, bad = (tmp_path / "plate.bad.csv").read_text(encoding="utf-8-sig").splitlines()
    assert header.split(";")[-2:] == ["value", "problem"]
    assert bad.split(";")[-2] == "viel"


def plate_with(values):
    """A plate of a study whose library has decimal commas, with these texts as values."""
    library("library.csv", ";", ",", "cp1252")
    run("create", "a.db", "--candidates", "library.csv", "--id", "Prüfling", "--seed", 0)
    run("ask", "a.db", "-n", len(values), "-o", "plate.csv")
    header, *rows = Path("plate.csv").read_text(encoding="utf-8-sig").splitlines()
    filled = [row + value for row, value in zip(rows, values, strict=True)]
    Path("plate.csv").write_text("\n".join([header, *filled]), encoding="utf-8")


def test_an_instrument_may_write_points_into_a_file_with_commas(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    plate_with(["0.5", "12.25", "7", "3.1"])
    run("tell", "a.db", "plate.csv")
    with nr.Study.open("a.db", read_only=True) as study:
        assert study.trials()["value"].to_list() == [0.5, 12.25, 7.0, 3.1]


def test_one_wrong_decimal_sign_is_named_and_the_others_are_read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    plate_with(["0,5", "12.25", "<2,5", "3,1"])
    said = run("tell", "a.db", "plate.csv", code=1).stderr
    assert "line 3, column 'value': '12.25' is not a finite number (did you mean 12,25?)" in said
    assert "'<2,5' is not a finite number; it is a limit: write 2,5" in " ".join(said.split())
    assert "line 2" not in said
    assert "line 5" not in said
