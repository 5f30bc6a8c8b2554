import numpy as np
import polars as pl
import pytest

import noregret as nr


@pytest.fixture
def library(path):
    """A study over 60 named candidates."""
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(60, 2))
    table = pl.DataFrame({"a": X[:, 0], "b": X[:, 1]})
    names = [f"c{i:03}" for i in range(60)]
    with nr.Study.create(path, X, names=names, table=table, seed=0) as study:
        yield study
