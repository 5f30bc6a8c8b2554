"""Fingerprints of molecules, and molecules on the command line."""

import numpy as np
import pytest

import noregret as nr

MOLECULES = ["CCO", "CCN", "c1ccccc1O", "CC(=O)Oc1ccccc1C(=O)O", "not a molecule", "", "CCCC"]


def test_without_rdkit_the_way_to_get_it_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "rdkit", None)
    with pytest.raises(ValueError, match=r"pip install noregret\[chem\]"):
        nr.chem.fingerprints(["CCO"])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"kind": "maccs"}, "kind must be one of"),
        ({"bits": 100}, "multiple of 8"),
        ({"bits": 0}, "bits must be"),
    ],
)
def test_bad_options_are_refused_by_name(options, words):
    with pytest.raises(ValueError, match=words):
        nr.chem.fingerprints(["CCO"], **options)


def test_one_text_is_no_list_of_molecules():
    with pytest.raises(TypeError, match="must be a list"):
        nr.chem.fingerprints("CCO")


@pytest.mark.parametrize("kind", ["morgan", "atompair"])
def test_fingerprints_are_packed_bits_and_failures_are_listed(kind):
    pytest.importorskip("rdkit", reason="needs RDKit")
    seen = []
    found = nr.chem.fingerprints(
        MOLECULES, kind, bits=1024, progress=lambda done, total: seen.append((done, total))
    )
    assert found.bits.shape == (5, 128)
    assert found.bits.dtype == np.uint8
    assert found.rows.tolist() == [0, 1, 2, 3, 6]
    assert found.failures.keys() == {4, 5}
    assert "'not a molecule'" in found.failures[4]
    assert seen == [(7, 7)]
    alike = nr.Tanimoto()(found.bits, found.bits)
    assert alike[0, 1] > alike[0, 3]
