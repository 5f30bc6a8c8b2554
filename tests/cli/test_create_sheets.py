"""Libraries in sheets of spreadsheets."""

import xlsxwriter
from commands import noregret


def test_a_sheet_of_a_spreadsheet(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with xlsxwriter.Workbook("library.xlsx") as book:
        book.add_worksheet("Notes").write(0, 0, "see the next sheet")
        sheet = book.add_worksheet("Data")
        for i, row in enumerate([("compound", "a"), *((f"C{i}", i * i / 7) for i in range(9))]):
            sheet.write_row(i, 0, row)
    create = ("create", "a.db", "--candidates", "library.xlsx")
    said = noregret(*create, code=1).stderr
    assert "This is sheet 'Notes'. Sheet 'Data' has a table: --sheet Data" in said
    assert "9 candidates" in noregret(*create, "--sheet", "Data").stderr
    with xlsxwriter.Workbook("more.xlsx") as book:
        book.add_worksheet("Notes")
        sheet = book.add_worksheet("New")
        sheet.write_row(0, 0, ("compound", "a"))
        sheet.write_row(1, 0, ("N1", 2.5))
    assert "--sheet New" in noregret("add", "a.db", "more.xlsx", code=1).stderr
    assert "1 candidate added" in noregret("add", "a.db", "more.xlsx", "--sheet", "New").stderr
    wrong = noregret("create", "b.db", "--param", "x=float(0,1)", "--sheet", "New", code=1)
    assert "--sheet is for a list of candidates" in wrong.stderr
