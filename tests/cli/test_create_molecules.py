"""`noregret create --smiles`."""

import numpy as np
import pytest
from commands import noregret

import noregret as nr
from noregret import chem


def molecules(folder):
    (folder / "lib.csv").write_text("name,smiles\na,CCO\nb,CCN\nc,oops\nd,CCCC\ne,CCCCO\nf,CCOC\n")


def test_a_study_of_molecules_goes_from_create_to_best(tmp_path, monkeypatch):
    pytest.importorskip("rdkit", reason="needs RDKit")
    monkeypatch.chdir(tmp_path)
    molecules(tmp_path)
    said = noregret(
        *("create", "a.db", "--candidates", "lib.csv", "--smiles", "smiles", "--seed", 0),
        *("--fingerprint", "atompair", "--bits", 256),
    ).stderr
    words = " ".join(said.split())
    assert "line 4 is left out: 'oops' is no SMILES" in words
    assert "atompair, 256 bits, of 5 molecules" in words
    with nr.Study.open("a.db") as study:
        assert study.domain.points.dtype == np.uint8
        assert study.names.to_list() == ["a", "b", "d", "e", "f"]
        trials = study.ask(3)
        study.tell(trials, [1.0, 2.0, 3.0])
        assert study.table["smiles"][int(study.best().id)]


def test_wrong_columns_and_options_are_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    molecules(tmp_path)
    start = ("create", "a.db", "--candidates", "lib.csv", "--smiles")
    assert "no column 'smile'" in noregret(*start, "smile", code=1).stderr
    said = noregret(*start, "smiles", "--features", "name", code=1).stderr
    assert "leave out --features" in " ".join(said.split())
    assert chem.KINDS == ("morgan", "atompair")
