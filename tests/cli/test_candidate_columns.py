"""Tables that could be misread: the command refuses them, or says what it assumed."""

import pytest
from commands import noregret


@pytest.fixture
def create(tmp_path, monkeypatch):
    """Make a study from a table that is given as text; what the command said."""
    monkeypatch.chdir(tmp_path)

    def run(text, *options, code=0):
        (tmp_path / "library.csv").write_text(text)
        made = noregret("create", "a.db", "--candidates", "library.csv", *options, code=code)
        assert (tmp_path / "a.db").exists() == (code == 0)
        return made.stderr

    return run


REPLICATES = "compound,a,b\n" + "".join(f"c{i // 2},{i // 2},{i % 3}\n" for i in range(300))


def test_replicates_in_a_library_are_refused(create):
    """Half of the rows repeat a name: each compound would be a candidate twice."""
    said = create(REPLICATES, code=1)
    assert "column 'compound': the same name in several rows: 'c0' in line 2, 3;" in said
    assert "keep one row for each, and give measured values to `noregret import`" in said
    assert "name the columns that describe them: --features" in said


def test_a_column_that_is_only_called_so_can_be_left_out(create):
    assert "their row numbers, from 0, are used" in create(REPLICATES, "--features", "a,b")


def test_a_table_without_names_of_columns(create):
    said = create("A,1.5,2\nB,2,3\nC,3,5\nD,3,4\n")
    assert "The first line is taken as the names of the columns: A, 1.5, 2." in said
    assert "If it is a candidate, write names above it." in said
    assert "3 candidates" in said


def test_rows_with_the_same_features(create):
    said = create("compound,a,b\nA,1,2\nB,1,2\nC,1,2\nD,3,4\n")
    assert "2 of 4 rows have the same features as a row before" in said
    assert "first line" not in said


def test_a_table_of_numbers_with_units_only(create):
    said = create("compound,temp\nA,20 °C\nB,25 °C\nC,30 °C\n", code=1)
    assert "no column describes the candidates ('temp' has 3 different texts in 3 rows)." in said
    assert "'temp' has numbers with a unit, such as '20 °C'" in said


def test_a_table_of_names_only(create):
    said = create("compound\nA\nB\nC\n", code=1)
    assert "no column describes the candidates: besides the names there is none." in said


def test_names_of_columns_with_commas(create):
    table = 'compound,"logP, calc",b\nA,1,2\nB,2,2.5\nC,3.5,1\n'
    said = create(table, "--features", "logP, calc", code=1)
    assert "has no column 'logP'" in said
    assert 'a name with a comma stands in quotation marks: "logP, calc"' in said
    said = create(table, "--features", 'b, "logP, calc"')
    assert "described by b, logP, calc;" in said


ROWS = "".join(
    f"{1000 + 7 * i},N{i},{i * 0.7 % 3:.1f},2024-05-{1 + i % 9:02d},"
    f"{('Water', 'water ', 'thf')[i % 3]}\n"
    for i in range(30)
)


def test_a_column_called_name_beside_an_id(create):
    said = create("id,name,a,made,solvent\n" + ROWS)
    assert "Column 'id' has the candidates' names" in said
    assert "Shown, but not used: name, made." in said
    assert "'name' is shown as 'name_'." in said
    plate = noregret("ask", "a.db", "-n", 2).stdout.splitlines()
    assert plate[0] == "trial,id,a,solvent,name_,made,value"
    assert ",N" in plate[1]
    with open("more.csv", "w") as file:
        file.write("id,name,a,solvent\n1,new,1.5,water\n")
    noregret("add", "a.db", "more.csv")
    assert ",new," in noregret("ask", "a.db", "-n", 40).stdout


def test_names_that_differ_by_spaces_at_their_ends(create):
    said = create("compound,a\nA1,1\nA1 ,2\nA2,4\n", code=1)
    assert "the same name in several rows: 'A1' in line 2, 3." in said


@pytest.mark.parametrize("name", ["", " ", "trial", "Failed", "id", "status"])
def test_values_need_a_column_of_their_own(create, name):
    assert "--value-column must be" in create(
        "compound,a\nA,1\nB,2\n", "--value-column", name, code=1
    )
    box = ("create", "b.db", "--param", "x=float(0,1)", "--value-column", name)
    assert "--value-column must be" in noregret(*box, code=1).stderr


def test_a_gap_among_the_names_does_not_make_the_names_a_text_to_show(create):
    """A lookup that failed in a spreadsheet leaves #N/A."""
    table = "compound,a\n" + "".join(f"A{i},{i % 7}\n" for i in range(30)) + "#N/A,3\n"
    for options in ([], ["--id", "compound"]):
        assert "no name ('#N/A') in line 32." in create(table, *options, code=1)
