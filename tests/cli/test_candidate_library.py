"""Libraries of candidates: what their columns become, and what is said of it."""

import numpy as np
import polars as pl
import pytest
from commands import library, noregret

import noregret as nr


def test_create_says_what_it_does_and_fills_gaps(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = library("library.csv", 50)
    made = noregret(
        *("create", "a.db", "--candidates", "library.csv"),
        *("--features", "a,b,solvent", "--minimize"),
    )
    said = " ".join(made.stderr.split())
    assert "is text: 2 categories" in said
    assert "standardised" in said
    assert "Kernel and noise are learnt" in said
    with nr.Study.open("a.db", read_only=True) as study:
        points = study.domain.points
        assert points.shape == (50, 4)
        assert points[:, :2].mean(axis=0) == pytest.approx([0, 0], abs=1e-12)
        assert points[:, :2].std(axis=0) == pytest.approx([1, 1])
        assert (points[:, 2:].sum(axis=1) == 1).all()
        assert study.table["b"].to_list() == frame["b"].to_list()
        assert study.settings["direction"] == "minimize"
    gaps = frame.with_columns(
        pl.when(pl.col("a") < 0.1).then(None).otherwise(pl.col("a")).alias("a")
    )
    rows = [i for i, a in enumerate(gaps["a"]) if a is None]
    gaps.write_parquet("gaps.parquet")
    said = noregret("create", "b.db", "--candidates", "gaps.parquet").stderr
    assert f"{len(rows)} of 50 rows have gaps ({len(rows)} in 'a')" in " ".join(said.split())
    with nr.Study.open("b.db", read_only=True) as study:
        points = study.domain.points
        assert points[:, 1].nonzero()[0].tolist() == rows
        assert len(set(points[rows, 0])) == 1
        assert study.table["a"].null_count() == len(rows)
    noregret("create", "c.db", "--candidates", "gaps.parquet", "--drop-gaps")
    with nr.Study.open("c.db", read_only=True) as study:
        assert len(study.domain) == 50 - len(rows)
        assert study.names[0] == "cmp000"


def test_features_that_span_decades_keep_their_zero(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    doses = [0.0, *(10.0 ** np.linspace(-5, 0, 49))]
    rows = [f"c{i},{dose:.8g},{20 + i % 7}\n" for i, dose in enumerate(doses)]
    (tmp_path / "lib.csv").write_text("name,dose,heat\n" + "".join(rows))
    said = noregret("create", "a.db", "--candidates", "lib.csv").stderr
    assert "Features that span decades: dose." in " ".join(said.split())
    with nr.Study.open("a.db", read_only=True) as study:
        points = study.domain.points
        assert points[:, 0] == pytest.approx(np.array(doses) / np.std(doses), rel=1e-6)
        assert points[:, 1].mean() == pytest.approx(0.0, abs=1e-12)
        assert study.optimizer.assumed.kernel.columns == [0]
    (tmp_path / "more.csv").write_text("name,dose,heat\nd0,0.5,22\n")
    noregret("add", "a.db", "more.csv")
    with nr.Study.open("a.db", read_only=True) as study:
        assert study.domain.points[50, 0] == pytest.approx(0.5 / np.std(doses), rel=1e-6)
    for option in ("--no-standardize", "--lengthscale=0.5"):
        file = f"{option[2:4]}.db"
        said = noregret("create", file, "--candidates", "lib.csv", option).stderr
        assert "span decades" not in said
    with nr.Study.open("le.db", read_only=True) as study:
        assert study.domain.points.mean(axis=0) == pytest.approx([0, 0], abs=1e-12)


@pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")
def test_numbers_that_are_too_large_are_refused_by_the_name_of_their_column(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pl.DataFrame({"a": [1.0, 2.0, 3.0], "huge": [1e300, 2e300, 9e299]}).write_csv("library.csv")
    refused = noregret("create", "a.db", "--candidates", "library.csv", code=1)
    said = " ".join(refused.stderr.split())
    assert "column 'huge' must lie within ±1e+100: give it in another unit" in said


def test_no_column_is_dropped_in_silence(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [f"cmp{i};{i / 10}".replace(".", ",") + f";x;{i};note{i}\n" for i in range(120)]
    (tmp_path / "lib.csv").write_text("compound;a;plate;n;remark\n" + "".join(rows))
    said = " ".join(noregret("create", "a.db", "--candidates", "lib.csv").stderr.split())
    assert "Columns are separated by semicolons." in said
    assert "Decimal comma: 0,0 is 0.0." in said
    assert "Column 'compound' has the candidates' names" in said
    assert "Columns used: a." in said
    assert "'plate' is the same everywhere" in said
    assert "'n' counts the rows" in said
    assert "'remark' has more than 100 different texts" in said
    assert "Shown, but not used: remark." in said
    plate = noregret("ask", "a.db").stdout.splitlines()
    assert plate[0].lstrip("\ufeff") == "trial;compound;a;remark;value"
    assert "note" in plate[1]


def test_a_column_that_counts_the_rows_is_used_if_there_is_no_other(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lib.csv").write_text("x\n1\n2\n3\n4\n")
    assert "Columns used: x." in noregret("create", "a.db", "--candidates", "lib.csv").stderr


def test_names_that_a_few_rows_share_are_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [f"sample {max(i, 1)},{i % 7},{i % 3}\n" for i in range(30)]
    (tmp_path / "lib.csv").write_text("sample,a,b\n" + "".join(rows))
    said = " ".join(noregret("create", "a.db", "--candidates", "lib.csv", code=1).stderr.split())
    assert "the same name in several rows: 'sample 1' in line 2, 3." in said
    assert "--features" in said
    noregret("create", "a.db", "--candidates", "lib.csv", "--features", "a,b")
    plate = noregret("ask", "a.db").stdout.splitlines()
    assert plate[0] == "trial,id,a,b,sample,value"


def test_hints_about_columns_that_are_not_what_they_seem(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [f"c{i},{i % 7},{0.5 if i < 5 else ''},day {i % 20}\n" for i in range(30)]
    (tmp_path / "lib.csv").write_text("name,a,yield,bought\n" + "".join(rows))
    said = " ".join(noregret("create", "a.db", "--candidates", "lib.csv").stderr.split())
    assert "'yield' is empty in 25 of 30 rows. If it holds values that were measured" in said
    assert "'bought' has 20 different texts in 30 rows" in said


def test_remarks_of_a_few_rows_are_no_categories(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    remarks = [f"checked {i}" if i % 9 == 0 else "" for i in range(400)]
    rows = [f"c{i},{i % 7},{'thf' if i % 2 else ''},{remarks[i]}\n" for i in range(400)]
    (tmp_path / "lib.csv").write_text("name,a,solvent,remark\n" + "".join(rows))
    said = " ".join(noregret("create", "a.db", "--candidates", "lib.csv").stderr.split())
    assert "Columns used: a, solvent." in said
    assert "'remark' has 45 different texts in 45 rows" in said
    assert "Shown, but not used: remark." in said


def test_a_column_of_smiles_is_pointed_out(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [f"c{i},{i % 7},{'C' * (i + 1)}O\n" for i in range(30)]
    (tmp_path / "lib.csv").write_text("name,a,Isomeric SMILES\n" + "".join(rows))
    said = " ".join(noregret("create", "a.db", "--candidates", "lib.csv").stderr.split())
    assert "--smiles 'Isomeric SMILES' compares them by their fingerprints" in said


def test_text_stays_verbatim(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lib.csv").write_text(
        "name,code,flag,x\n007,0010,true,1.10\n1E3,0020,false,1.2\n c ,0030,true,1.30\n"
    )
    noregret("create", "a.db", "--candidates", "lib.csv", "--algorithm", "gpucb", "--seed", 0)
    with nr.Study.open("a.db", read_only=True) as study:
        assert study.names.to_list() == ["007", "1E3", " c "]
        assert study.table.drop("name").rows()[0] == ("0010", "true", "1.10")
    noregret("ask", "a.db", "-n", 3, "-o", "plate.csv")
    plate = (tmp_path / "plate.csv").read_text()
    rows = ("007,0010,true,1.10,", "1E3,0020,false,1.2,", " c ,0030,true,1.30,")
    assert all(line.partition(",")[2] in rows for line in plate.splitlines()[1:])


def test_a_library_whose_names_are_in_a_column_called_id(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lib.csv").write_text("id,a\n2,1\n0,3\n1,5\n")
    noregret("create", "a.db", "--candidates", "lib.csv", "--algorithm", "gpucb")
    (tmp_path / "old.csv").write_text("id,value\n0,7.5\n")
    noregret("import", "a.db", "old.csv")
    with nr.Study.open("a.db", read_only=True) as study:
        assert study.trials().select("id", "name").rows() == [(1, "0")]
        assert study.domain.dimension == 1


def test_a_refused_library_names_line_column_and_spelling(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lib.csv").write_text("name,logP\nx,1.5\ny,2..5\nz,3\n")
    said = noregret("create", "a.db", "--candidates", "lib.csv", code=1).stderr
    assert "lib.csv" in said
    assert "line 3, column 'logP': '2..5' is not a number (did you mean 2.5?)" in said
    result = noregret("create", "a.db", "--candidates", "lib.csv", "--features", "LogP", code=1)
    assert "did you mean 'logP'?" in result.stderr
    (tmp_path / "lib.csv").write_text("name,logP\nx,1.5\ny,low\nz,low\nu,2\nv,1e400\nw,3\n")
    said = noregret("create", "a.db", "--candidates", "lib.csv", code=1).stderr
    assert "line 3, column 'logP': 'low' is not a number; also in line 4" in said
    assert "'1e400' is not a number\n" in said  # nothing better to offer
