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


def test_a_list_of_words_means_choices(tmp_path):
    def f(p):
        return p["a"] + (p["act"] == "gelu")

    short = {"a": (0, 1), "act": ["relu", "gelu"], "depth": [None, 3]}
    space = nr.Space(
        {"a": nr.Float(0, 1), "act": nr.Choice(["relu", "gelu"]), "depth": nr.Choice([None, 3])}
    )
    assert nr.Space(short).spec() == space.spec()
    result = nr.maximize(f, short, 8, seed=0, progress=False)
    again = nr.maximize(f, space, 8, seed=0, progress=False)
    assert result.to_frame().equals(again.to_frame())
    with nr.Study.create(tmp_path / "a.db", {"act": ["relu", "gelu"]}, seed=0) as study:
        assert study.ask(1).values[0]["act"] in ("relu", "gelu")


def test_lists_of_numbers_are_refused(tmp_path):
    with pytest.raises(TypeError, match=r"^units must be .* got \[16, 32, 64\]; write nr.Choice"):
        nr.Study.create(tmp_path / "b.db", {"a": (0, 1), "units": [16, 32, 64]})
    assert not (tmp_path / "b.db").exists()
    with pytest.raises(ValueError, match="at least one parameter"):
        nr.Study.create(tmp_path / "b.db", {})
