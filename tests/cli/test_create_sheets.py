"""Libraries in sheets of spreadsheets."""

import xlsxwriter
from commands import noregret

import noregret as nr


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


def test_answers_in_sheets(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"C{i},{i * i / 7}\n" for i in range(9))
    (tmp_path / "library.csv").write_text("compound,a\n" + rows)
    noregret("create", "a.db", "--candidates", "library.csv", "--seed", 0)
    noregret("ask", "a.db", "-n", 3, "-o", "plate.csv")
    asked = [line.split(",") for line in (tmp_path / "plate.csv").read_text().splitlines()[1:]]
    with xlsxwriter.Workbook("reader.xlsx") as book:
        book.add_worksheet("Protocol").write_row(0, 0, ("gain", 7))
        sheet = book.add_worksheet("Results")
        sheet.write_row(0, 0, ("trial", "compound", "value"))
        for i, (trial, compound, *_) in enumerate(asked, 1):
            sheet.write_row(i, 0, (int(trial), compound, i / 4))
        old = book.add_worksheet("Old")
        old.write_row(0, 0, ("compound", "value"))
        left = next(f"C{i}" for i in range(9) if f"C{i}" not in [row[1] for row in asked])
        old.write_row(1, 0, (left, 1e-12))
    said = noregret("tell", "a.db", "reader.xlsx", code=1).stderr
    assert "This is sheet 'Protocol'; there is also 'Results', 'Old' (--sheet)." in said
    told = ("tell", "a.db", "reader.xlsx", "--sheet", "Results")
    assert "3 values" in noregret(*told).stderr
    assert "3 rows had been told before" in noregret(*told).stderr
    imported = ("import", "a.db", "reader.xlsx", "--sheet", "Old")
    assert "1 measurement imported" in noregret(*imported).stderr
    assert "nothing changed" in noregret(*imported).stderr
    with nr.Study.open("a.db") as study:
        assert study.trials()["value"].to_list() == [0.25, 0.5, 0.75, 1e-12]
