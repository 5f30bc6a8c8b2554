"""Files that add candidates are read by the rules of `create`, and refused in the same words."""

import polars as pl
import pytest
from commands import noregret

import noregret as nr

LIBRARY = "compound,logp,weight,rings,solvent,pure\n" + "".join(
    f"C{i:02d},{round(i * 0.37 % 4 - 1, 2)},{round(150 + i * 17.3 % 300, 1)},{i % 5},"
    f"{('thf', 'dmf')[i % 2]},{10 + i % 7}%\n"
    for i in range(40)
)
HEADER = "compound,logp,weight,rings,solvent,pure\n"


@pytest.fixture
def add(tmp_path, monkeypatch):
    """Add rows that are given as text; what the command said, and the study's table after it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "library.csv").write_text(LIBRARY)
    noregret("create", "a.db", "--candidates", "library.csv", "--seed", 0)

    def run(text, code=0, file="more.csv"):
        (tmp_path / file).write_text(text)
        said = noregret("add", "a.db", file, code=code).stderr
        with nr.Study.open("a.db") as study:
            assert (study.size > 40) == (code == 0)
            return said, study.table, study.domain.points

    return run


def test_decimal_commas(add):
    said, table, points = add("compound;logp;weight;rings;solvent;pure\nN3;1,5;300,5;2;thf;12%\n")
    assert "1 candidate added" in said
    assert "Decimal comma: 1,5 is 1.5." in said
    assert table.row(40, named=True) == {
        "name": "N3", "logp": 1.5, "weight": 300.5, "rings": 2, "solvent": "thf", "pure": "12%"
    }  # fmt: skip
    with nr.Study.open("a.db") as study:
        logp = study.settings["about"]["columns"][0]
    assert points[40, 0] == pytest.approx((1.5 - logp["mean"]) / logp["deviation"])


def test_a_fraction_where_all_were_whole(add):
    _, table, _ = add(HEADER + "N1,1.5,300.5,2.5,thf,12%\n")
    assert table["rings"].to_list()[-2:] == [4.0, 2.5]
    plate = noregret("ask", "a.db", "-n", 41).stdout
    assert "N1,1.5,300.5,2.5,thf,12%" in plate


def test_commas_that_group_digits(add):
    said, table, _ = add(HEADER + 'N1,1.5,"1,234",2,thf,12%\n')
    assert "Commas group digits: 1,234 is 1234." in said
    assert table["weight"][40] == 1234.0


def test_cells_that_are_no_numbers(add):
    said, _, _ = add(HEADER + "N1,1.5,300 mg,2,thf,12%\nN2,1.5,300,x,thf,12%\n", code=1)
    assert "more.csv was refused:" in said
    assert "line 2, column 'weight': '300 mg' is not a number (did you mean 300?)" in said
    assert "line 3, column 'rings': 'x' is not a number" in said


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("N1,15%,300,2,thf,12%", "column 'logp': its numbers have a percent sign, and those of"),
        ("N1,1.5,300,2,thf,0.15", "column 'pure': its numbers are at most 1 and have no percent"),
        ("N1,1.5,300,2,thf,1%\nN2,1.5,300,2,thf,1", "1 of 2 numbers have a percent sign"),
        (",1.5,300,2,thf,12%", "column 'compound': no name in line 2"),
        ("N1,,300,2,thf,12%\nN2,NA,300,2,thf,12%", "line 2, 3, column 'logp': a gap"),
    ],
)
def test_what_create_would_not_take(add, row, words):
    assert words in add(HEADER + row + "\n", code=1)[0]


def test_numbers_without_the_percent_sign_of_the_study(add):
    said, table, _ = add(HEADER + "N1,1.5,300,2,thf,12.5\n")
    assert "51.2 is taken as 51.2%" in said
    assert table["pure"][40] == "12.5"


def test_words_that_the_study_does_not_know(add):
    said, _, points = add(HEADER + "N1,1.5,300,2,THF,12%\nN2,1.5,300,2,thf ,12%\n")
    assert "'solvent' has words that the study does not know: THF; did you mean 'thf'?" in said
    assert points[40].tolist() != points[41].tolist()


def test_a_column_of_yes_and_no(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"C{i},{i * 0.7 % 3:.1f},{('yes', 'no')[i % 2]}\n" for i in range(30))
    (tmp_path / "library.csv").write_text("compound,a,ring\n" + rows)
    noregret("create", "a.db", "--candidates", "library.csv", "--seed", 0)
    (tmp_path / "more.csv").write_text("compound,a,ring\nN1,1,no\nN2,1,some\n")
    said = noregret("add", "a.db", "more.csv", code=1).stderr
    assert "line 3, column 'ring': 'some' is neither yes nor no" in said


def test_files_with_another_decimal_sign_than_the_library(tmp_path, monkeypatch):
    """What is shown of new candidates has the decimal sign of the others."""
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"C{i};{i * 7 % 30},5{i % 2}\n" for i in range(30))
    (tmp_path / "library.csv").write_text("compound;a\n" + rows)
    noregret("create", "a.db", "--candidates", "library.csv", "--seed", 0)
    (tmp_path / "more.csv").write_text("compound,a\nN1,1.25\nN2,7\n")
    noregret("add", "a.db", "more.csv")
    pl.DataFrame({"compound": ["N3"], "a": [2.75]}).write_parquet("more.parquet")
    noregret("add", "a.db", "more.parquet")
    with nr.Study.open("a.db") as study:
        assert study.table["a"].to_list()[-4:] == ["23,51", "1,25", "7", "2,75"]
