"""A table of rows to choose from, for tests of the Optuna samplers."""

import numpy as np
import polars as pl


def table(n=300, seed=0):
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "a": rng.uniform(size=n),
            "k": rng.integers(1, 6, size=n),
            "kind": rng.choice(["red", "green"], size=n),
        }
    )


def value_of(row):
    return (row["a"] - 0.6) ** 2 + 0.1 * abs(row["k"] - 3) + 0.2 * (row["kind"] == "red")
