"""Spreadsheets: which sheet, which row, and what cells look like there."""

import datetime

import pytest
import xlsxwriter

from noregret.spaces.tables import Table, naming_sheets

ROWS = [["name", "a", "pure"], ["x", 1.5e-12, 0.1], ["y", 1 / 3, 0.5123], ["z", 0.1 + 0.2, 1.0]]


def book(path, sheets, column=0, row=0):
    """A spreadsheet with these sheets; a column called pure is shown as percents."""
    made = xlsxwriter.Workbook(path)
    percent, day = (made.add_format({"num_format": one}) for one in ("0.0%", "dd.mm.yyyy"))
    for name, rows in sheets.items():
        sheet = made.add_worksheet(name)
        for i, cells in enumerate(rows):
            for j, cell in enumerate(cells):
                at = (row + i, column + j)
                if isinstance(cell, datetime.date):
                    sheet.write_datetime(*at, cell, day)
                elif isinstance(cell, float) and rows[0][j] == "pure":
                    sheet.write_number(*at, cell, percent)
                else:
                    sheet.write(*at, cell)
    made.close()
    return path


def test_numbers_have_all_digits_and_percents_their_sign(tmp_path):
    frame = Table(book(tmp_path / "a.xlsx", {"s": ROWS})).read().frame
    assert frame["a"].to_list() == ["1.5e-12", "0.333333333333333", "0.3"]
    assert frame["pure"].to_list() == ["10%", "51.23%", "100%"]


def test_rows_are_those_of_the_sheet(tmp_path):
    table = Table(book(tmp_path / "a.xlsx", {"s": ROWS}, column=2, row=3))
    assert table.columns == ["name", "a", "pure"]
    rows = table.read()
    assert rows.lines.tolist() == [5, 6, 7]
    assert rows.frame["pure"].to_list() == ["10%", "51.23%", "100%"]


def test_text_with_decimal_commas_beside_numbers(tmp_path):
    rows = [["name", "a", "b", "c"], ["x", "1,5", 1.5, "1,5E-06"], ["y", "2,25", 2.5, "1,234E-05"]]
    table = Table(book(tmp_path / "a.xlsx", {"s": rows}))
    frame = table.read().frame
    assert frame["a"].to_list() == ["1.5", "2.25"]
    assert frame["b"].to_list() == ["1.5", "2.5"]
    assert frame["c"].to_list() == ["1.5E-06", "1.234E-05"]
    assert "Column 'a' has decimal commas: 1,5 is 1.5." in table.notes
    assert table.decimal == "."


def test_days_have_no_time(tmp_path):
    rows = [
        ["name", "made"],
        ["x", datetime.datetime(2024, 5, 1)],
        ["y", datetime.datetime(2024, 5, 2, 8)],
    ]
    frame = Table(book(tmp_path / "a.xlsx", {"s": rows})).read().frame
    assert frame["made"].to_list() == ["2024-05-01", "2024-05-02 08:00:00"]


def test_a_sheet_by_its_name(tmp_path):
    path = book(tmp_path / "a.xlsx", {"Notes": [["see below"]], "Data 1": ROWS, "More": ROWS})
    assert Table(path, sheet="Data 1").columns == ["name", "a", "pure"]
    assert not Table(path, sheet="Data 1").notes
    with pytest.raises(ValueError, match="no sheet 'Data1'; did you mean 'Data 1'"):
        Table(path, sheet="Data1")
    (tmp_path / "a.csv").write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match="no spreadsheet, so that it has no sheet 'x'"):
        Table(tmp_path / "a.csv", sheet="x")


def refuse(table):
    raise ValueError(f"no sheet of {table.path} is good enough")


@pytest.mark.parametrize(
    ("sheets", "words"),
    [
        ({"Notes": [["see"]], "Data 1": ROWS}, "Sheet 'Data 1' has a table: --sheet 'Data 1'"),
        ({"Notes": [], "Data": ROWS}, "is empty\nThis is sheet 'Notes'. Sheet 'Data' has a table"),
        ({"Notes": [], "A": ROWS, "B": ROWS}, "there is also 'A', 'B' \\(--sheet\\)"),
        ({"A": ROWS, "B": ROWS}, "This is sheet 'A'; there is also 'B' \\(--sheet\\)"),
    ],
)
def test_a_refusal_names_the_other_sheets(tmp_path, sheets, words):
    path = book(tmp_path / "a.xlsx", sheets)
    with pytest.raises(ValueError, match=words), naming_sheets(path, None):
        refuse(Table(path))
