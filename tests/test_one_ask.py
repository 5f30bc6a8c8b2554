"""The page on the way of one ask tells the truth: asks cross every function that it names."""

import re
import sys
from pathlib import Path

import numpy as np

import noregret as nr

PAGE = Path(__file__).parents[1] / "docs" / "understand" / "one-ask.md"
PACKAGE = Path(nr.__file__).parent


def functions_crossed(call):
    """What a call returns, and the functions of the package that it crosses: files and names."""
    crossed = set()

    def note(frame, event, argument):
        file = Path(frame.f_code.co_filename)
        if event == "call" and PACKAGE in file.parents:
            crossed.add((file.relative_to(PACKAGE).as_posix(), frame.f_code.co_qualname))

    sys.setprofile(note)
    try:
        result = call()
    finally:
        sys.setprofile(None)
    return result, crossed


def test_asks_cross_every_function_that_the_page_names():
    named = re.findall(r"^\| `([\w.]+)` \| `([\w/]+\.py)` \|", PAGE.read_text("utf-8"), re.M)
    assert len(named) > 20
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(500, 2))
    f = np.sin(6 * X[:, 0]) * np.cos(5 * X[:, 1])
    opt = nr.BBKB(nr.Candidates(X), nr.RBF(lengthscale=0.3), noise=0.1, norm=4.0, seed=0)
    crossed = set()
    for _ in range(40):
        batch, functions = functions_crossed(opt.ask)
        opt.tell(batch, f[batch.ids])
        crossed |= functions
    missing = [(file, name) for name, file in named if (file, name) not in crossed]
    assert not missing
