"""Numbers in files of answers as instruments and spreadsheets write them."""

from commands import noregret

import noregret as nr


def trials(db):
    with nr.Study.open(db, read_only=True) as study:
        return study.trials().drop("asked", "given", "done").rows()


def test_values_with_commas_between_digits_are_said_to_be_thousands(db):
    db.with_name("old.csv").write_text('compound,value\ncmp003,"1,234"\ncmp004,"2,500"\n')
    assert "Commas group digits: 1,234 is 1234." in noregret("import", db, "old.csv").stderr
    with nr.Study.open(db, read_only=True) as study:
        assert study.trials()["value"].to_list() == [1234.0, 2500.0]


def test_values_with_points_between_digits_are_said_to_be_thousands(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lib.csv").write_text("name;a\nx;0,5\ny;1,5\nz;2,5\n")
    noregret("create", "a.db", "--candidates", "lib.csv")
    (tmp_path / "old.csv").write_text("name;a;value\nx;0,5;1.234\ny;1,5;2.500\n")
    assert "Points group digits: 1.234 is 1234." in noregret("import", "a.db", "old.csv").stderr
    with nr.Study.open("a.db", read_only=True) as study:
        assert study.trials()["value"].to_list() == [1234.0, 2500.0]


def test_values_of_which_some_have_a_percent_sign_are_refused(db):
    db.with_name("old.csv").write_text("compound,value\ncmp003,50 %\ncmp004,0.5\n")
    said = noregret("import", db, "old.csv", code=1).stderr
    assert "1 of 2 numbers have a percent sign" in said
    assert "(those with it: line 2)" in said
    db.with_name("old.csv").write_text("compound,value\ncmp003,5%\ncmp004,0.5\ncmp005,7%\n")
    assert "(those without it: line 3)" in noregret("import", db, "old.csv", code=1).stderr
    assert trials(db) == []
    db.with_name("old.csv").write_text("compound,value\ncmp003,50 %\ncmp004,0.5%\n")
    noregret("import", db, "old.csv")
    assert [row[3] for row in trials(db)] == [50.0, 0.5]


def test_a_file_without_the_column_of_values_is_told_which_option_names_it(db):
    db.with_name("old.csv").write_text("compound,Yield [%]\ncmp003,50\n")
    said = " ".join(noregret("import", db, "old.csv", code=1).stderr.split())
    assert "--value-column names the values" in said


def test_a_word_among_the_values_is_told_where_it_belongs(db):
    db.with_name("old.csv").write_text("compound,value\ncmp003,spilt\ncmp004,0.5\n")
    said = noregret("import", db, "old.csv", code=1).stderr
    assert "a reason why there is none belongs in a column 'failed'" in said
