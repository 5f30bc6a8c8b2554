"""Domains in files: as JSON and arrays, and back."""

import json

import numpy as np
import polars as pl
import pytest

import noregret as nr
from noregret.spaces.files import domain_spec, keeps, load_domain, same_domain

FRAME = pl.DataFrame({"mass": [1.0, 2.0, 4.0], "kind": ["x", "y", "x"]})
DOMAINS = {
    "box": nr.Box([(0, 1), (5, 7)]),
    "named box": nr.Box({"a": (0, 1), "b": (2, 3)}),
    "space": nr.Space(
        {"rate": nr.Float(1e-4, 1, log=True), "layers": nr.Int(1, 9, step=2),
         "kind": nr.Choice(["a", 3, None]), "bias": nr.Bool()},
        feasible="layers * rate < 5",
    ),
    "list": nr.Candidates(np.random.default_rng(0).random((5, 2))),
    "bits": nr.Candidates(np.eye(4, dtype=np.uint8)),
    "frame": nr.Candidates(FRAME),
    "words": nr.Candidates(["ab", "c", ""], objects=True),
}  # fmt: skip


@pytest.mark.parametrize("domain", DOMAINS.values(), ids=DOMAINS)
def test_a_domain_comes_back_from_json_and_arrays(domain):
    arrays = {}
    spec = json.loads(json.dumps(domain_spec(domain, arrays, True)))
    again = load_domain(spec, arrays, None)
    assert keeps(domain)
    assert same_domain(domain, again)
    assert repr(again) == repr(domain)
    assert again.names == domain.names
    others = [one for one in DOMAINS.values() if one is not domain]
    assert not any(same_domain(domain, one) for one in others)


def test_what_a_file_cannot_hold_is_given_again():
    numbers = DOMAINS["list"]
    spec = domain_spec(numbers, {}, False)
    with pytest.raises(ValueError, match="pass them again"):
        load_domain(spec, {}, None)
    assert load_domain(spec, {}, numbers.points) is not None
    with pytest.raises(ValueError, match="list of 5 candidates, got 3"):
        load_domain(spec, {}, numbers.points[:3])
    objects = nr.Candidates([{1}, {2}], objects=True)
    assert not keeps(objects)
    space = nr.Space({"n": nr.Int(1, 9)}, feasible=lambda point: point["n"] != 3)
    assert not keeps(space)
    spec = domain_spec(space, {}, True)
    assert load_domain(spec, {}, space) is space
    for given in (None, nr.Space({"n": nr.Int(1, 9)}), nr.Space({"n": nr.Int(1, 8)})):
        with pytest.raises(ValueError, match=r"domain must|pass the space again"):
            load_domain(spec, {}, given)
