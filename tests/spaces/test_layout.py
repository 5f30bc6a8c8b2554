"""Where a table begins, and what separates its cells."""

import pytest

from noregret.spaces.layout import find_header, find_separator
from noregret.spaces.tables import Table

PREAMBLE = "Instrument;Tecan\nDate;01.05.2024\n\n"
TABLE = "Compound;logP;MW;solvent\nA1;1,5;300,2;thf\nA2;2,5;310,7;dmf\nA3;0,5;290,1;thf\n"


@pytest.mark.parametrize(
    ("above", "note"),
    [
        ("", ""),
        ("Library of 2024-05-01, version 2, final\n", "Line 1 ('Library of 2024-05-01, version 2"),
        ("Library, 2\nof May, 2024\n", "Lines 1 to 2 ('Library, 2', …) stand above the table"),
        ("a, b, c\nd, e, f\n", "the names of the columns are in line 3."),
        ("Library, exported 2024-05-01;;;\n", "Line 1 ('Library, exported 2024-05-01') is a title"),
        (PREAMBLE, "Lines 1 to 2 ('Instrument', …) stand above the table and are passed over: the"),
        ("Instrument;Tecan;a;b\n\n", "Line 1 ('Instrument') is a title: the names"),
    ],
)
def test_the_table_is_found_below_what_stands_above_it(tmp_path, above, note):
    path = tmp_path / "a.csv"
    path.write_text(above + TABLE)
    table = Table(path)
    assert table.columns == ["Compound", "logP", "MW", "solvent"]
    assert table.decimal == ","
    assert table.read().frame["MW"].to_list() == ["300,2", "310,7", "290,1"]
    assert any(note in one for one in table.notes)


def test_settings_above_a_table_of_as_many_columns(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("Instrument,Tecan\nDate,01.05.2024\n\nname,a\nx,1.5\ny,2\n")
    table = Table(path)
    assert table.columns == ["name", "a"]
    assert table.read().lines.tolist() == [5, 6]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (
            "Instrument;Tecan\nDate;today\na;b;c\nx;y;z\nu;v;w\n",
            "line 1 has 2 cells, and most lines have 3. If lines 1 to 2 stand above the table, "
            "delete them; if line 1 has the names of the columns, give every column a name",
        ),
        (
            "Instrument;Tecan\nx;1;2\ny;3;4\n",
            "If the names of the columns stand further down than in line 1, delete what is above",
        ),
    ],
)
def test_an_unclear_beginning_is_refused(tmp_path, content, words):
    path = tmp_path / "a.csv"
    path.write_text(content)
    with pytest.raises(ValueError, match=words):
        Table(path).read()


@pytest.mark.parametrize(
    ("content", "columns"),
    [
        ("a,b,tags\n" + "1,2,x;y\n" * 30, ["a", "b", "tags"]),
        ("a,b,c\n" + "1,2,3;4\n" * 30, ["a", "b", "c"]),
        ("a;b;c\n" + "x;1,5;2,5\n" * 30, ["a", "b", "c"]),
        ("a,b,c\n1,2,3\n\nx,y,z\n4,5,6\n", ["a", "b", "c"]),
        ("name,a,remark\nx,1,\ny,2,\nz,3,new\n", ["name", "a", "remark"]),
        ("name,a\nx,n.d.\n\ny,n.d.\nz,3\n", ["name", "a"]),
    ],
)
def test_tables_that_begin_in_the_first_line(tmp_path, content, columns):
    path = tmp_path / "a.csv"
    path.write_text(content)
    assert Table(path).columns == columns


def test_the_separator_is_what_most_lines_agree_on():
    assert find_separator([]) == ","
    assert find_separator(["a", "b"]) == ","
    assert find_separator(["a;b", "1;2"]) == ";"
    assert find_separator(["x, y, z", "a|b", "1|2", "3|4"]) == "|"


def test_the_header_is_the_first_row_of_a_plain_table():
    assert find_header([(1, ["a", "b"]), (2, ["1", "2"])], "line") == (0, "")
    place, note = find_header([(1, ["t", ""]), (2, ["", ""]), (4, ["a", "b"])], "row")
    assert (place, note) == (2, "Row 1 ('t') is a title: the names of the columns are in row 4.")
