import pytest

import noregret as nr


def test_optimisers_and_studies_take_dicts(tmp_path):
    opt = nr.GPUCB({"a": (0, 1), "b": (-1, 1)}, nr.RBF(0.3), noise=0.1, norm=1.0, seed=0)
    assert opt.domain.names == ("a", "b")
    assert isinstance(opt.domain, nr.Box)
    with nr.Study.create(tmp_path / "a.db", {"a": (0, 1), "n": nr.Int(1, 4)}, seed=0) as study:
        (point,) = study.ask(1).values
    assert 0 <= point["a"] <= 1
    assert point["n"] in (1, 2, 3, 4)
    with pytest.raises(TypeError, match=r"choices are written nr.Choice\(\['x', 'y'\]\)"):
        nr.Study.create(tmp_path / "b.db", {"kind": ["x", "y"]})
