"""Files as people have them: the same table in every habit."""

import sys

import polars as pl
import pytest

import noregret as nr
from noregret.spaces.tables import Table

ROWS = [("cmp1", 1.5, "thf"), ("cmp2", 2.25, "dmf"), ("cmp3", -3.0, "thf")]


def text(separator=",", decimal=".", end="\n", blank=""):
    lines = ["name" + separator + "a" + separator + "solvent"]
    for name, a, solvent in ROWS:
        lines += [separator.join([name, str(a).replace(".", decimal), solvent])]
        lines += [blank] if blank else []
    return end.join(lines) + end


@pytest.mark.parametrize(
    ("content", "encoding", "suffix"),
    [
        (text(), "utf-8", ".csv"),
        (text(), "utf-8-sig", ".csv"),
        (text(end="\r\n"), "utf-16", ".csv"),
        (text(), "utf-16-le", ".csv"),
        (text(), "utf-16-be", ".csv"),
        (text(";", ","), "cp1252", ".csv"),
        (text("\t"), "utf-8", ".tsv"),
        (text("\t", ","), "utf-16", ".txt"),
        (text("|"), "utf-8", ".txt"),
        (text(blank=",,"), "utf-8", ".csv"),
        (text(blank=" "), "utf-8", ".csv"),
        ("\n\n" + text(), "utf-8", ".csv"),
    ],
)
def test_the_same_table_in_every_habit(tmp_path, content, encoding, suffix):
    path = tmp_path / f"a{suffix}"
    path.write_bytes(content.encode(encoding))
    table = Table(path)
    assert table.columns == ["name", "a", "solvent"]
    frame = table.read().frame
    assert frame["name"].to_list() == ["cmp1", "cmp2", "cmp3"]
    candidates = nr.Candidates.open(path, columns=["a", "solvent"])
    assert candidates.names == ("a", "solvent = dmf", "solvent = thf")
    assert candidates.points.tolist() == [[1.5, 0, 1], [2.25, 1, 0], [-3, 0, 1]]


@pytest.mark.parametrize("title", ["Library of 2026\n", "Library of 2026,,\n,,\n\n"])
def test_a_title_above_the_table_is_passed_over(tmp_path, title):
    path = tmp_path / "a.csv"
    path.write_text(title + text())
    table = Table(path)
    assert table.columns == ["name", "a", "solvent"]
    assert table.read().frame["name"].to_list() == ["cmp1", "cmp2", "cmp3"]
    (note,) = table.notes
    assert note.startswith("Line 1 ('Library of 2026') is a title")


@pytest.mark.parametrize("content", [",a\nx,thf\ny,dmf\n", "a\n1\n2\n", "a,\n1,\n2,\n"])
def test_a_lone_name_of_a_column_is_no_title(tmp_path, content):
    path = tmp_path / "a.csv"
    path.write_text(content)
    table = Table(path)
    assert "a" in table.columns
    assert len(table.read().frame) == 2


def test_numbers_in_place_of_names_are_pointed_out(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("cmp1,1.5\ncmp2,2.5\n")
    assert "include the number 1.5. If that line is a candidate" in Table(path).notes[0]


def test_spreadsheets(tmp_path):
    path = tmp_path / "a.xlsx"
    frame = pl.DataFrame(ROWS, schema=["name", "a", "solvent"], orient="row")
    frame.write_excel(path)
    table = Table(path)
    assert table.columns == ["name", "a", "solvent"]
    assert table.read().lines.tolist() == [2, 3, 4]
    assert nr.Candidates.open(path, columns=["a"]).points.tolist() == [[1.5], [2.25], [-3]]
    path.write_bytes(b"no spreadsheet")
    with pytest.raises(ValueError, match="cannot be read as a spreadsheet"):
        Table(path)


def test_spreadsheets_without_the_package(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "fastexcel", None)
    (tmp_path / "a.xlsx").write_bytes(b"")
    with pytest.raises(ValueError, match=r"pip install 'noregret\[excel\]'"):
        Table(tmp_path / "a.xlsx")


def test_text_in_spreadsheets_stays_verbatim(tmp_path):
    pl.DataFrame({"name": ["007", "1.10", "true"], "a": [1, 2, 3]}).write_excel(tmp_path / "a.xlsx")
    assert Table(tmp_path / "a.xlsx").read().frame["name"].to_list() == ["007", "1.10", "true"]


def test_lines_are_those_of_the_file(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('a,b\n1,"x\ny"\n\n2,z\n')
    piece = Table(path).read()
    assert piece.lines.tolist() == [2, 5]
    assert piece.frame["b"].to_list() == ["x\ny", "z"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "is empty"),
        ("a,a\n1,2\n", "two columns are called 'a'"),
        ("a,b\n1,2\n1,2,5\n", r"line 3: 3 cells, but 2 columns have names.*decimal comma"),
        ("a,b\n1," + "x" * 200_000 + "\n", "line 2, column 2: more than 131,072 characters"),
        ("x" * 200_000 + ",b\n", "line 1, column 1: more than 131,072 characters"),
        # an open mark would take in the rows up to the next one, or to the end
        ('a,b\n1,2\n"3,2\n4,5\n', "line 3: a cell begins with a quotation mark"),
        ('a,b\n1,2\n"3,2\n4,5\n"6,7\n', "line 3: a cell begins with a quotation mark"),
        ('a,b\n1,2\n"3,2\n' + "4,5\n" * 50_000, "line 3, column 1: .* quotation mark"),
    ],
)
def test_files_that_are_refused(tmp_path, content, words):
    path = tmp_path / "a.csv"
    path.write_text(content)
    with pytest.raises(ValueError, match=words):
        Table(path).read()


def test_columns_without_a_name(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(",a,,\n0,1,,\n1,2,,\n")
    table = Table(path)
    assert table.columns == ["column_1", "a"]
    assert "called column_1" in table.notes[0]


def test_points_that_group_digits_are_pointed_out(tmp_path):
    """Beside decimal commas a point groups digits, but may also be a mistake."""
    (tmp_path / "a.csv").write_text("name;a;b\nx;1.234;2,5\ny;3,75;3,5\n")
    table = Table(tmp_path / "a.csv")
    assert table.notes[-2:] == ["Decimal comma: 2,5 is 2.5.", "Points group digits: 1.234 is 1234."]


def test_commas_that_group_digits(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('a,b\n"1,234",x\n"2,500",y\n')
    assert nr.Candidates.open(path, columns=["a"]).points.tolist() == [[1234.0], [2500.0]]
    path.write_text("a;b\n1,234;x\n2,500;y\n")
    assert nr.Candidates.open(path, columns=["a"]).points.tolist() == [[1.234], [2.5]]


def test_pieces_are_read_as_one_table(tmp_path, monkeypatch):
    monkeypatch.setattr("noregret.spaces.tables.PIECE", 7)
    path = tmp_path / "a.csv"
    path.write_text("n,word\n" + "".join(f"{i},{'ab'[i % 2]}\n" for i in range(50)))
    points = nr.Candidates.open(path).points
    assert points[:, 0].tolist() == list(range(50))
    assert points[:, 1].tolist() == [1 - i % 2 for i in range(50)]
