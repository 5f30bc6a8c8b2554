"""How δ is shared among the cells of a cover (the Proofs page, Theorem 7)."""


def by_depth(delta: float, first: int, dimension: int, depth: int) -> float:
    """δ/(N₁ 2^(di) (i + 1)(i + 2)) for a cell made by i halvings, where N₁ cells are the first.

    There are N₁2^(di) such cells at most, and Σ 1/((i + 1)(i + 2)) = 1: all shares together are at
    most δ, whatever cells a run makes, and however long it is.
    """
    return delta / (first * 2.0 ** (dimension * depth) * (depth + 1) * (depth + 2))


def by_time(delta: float, first: int, exponent: float, t: int) -> float:
    """δ/Ñ_t, Ñ_t = 4(t + 1)^(bd) or the number of first cells.  π-GP-UCB, Lemma 6.

    ``exponent`` is bd. Early in a run 4(t + 1)^(bd) is smaller than the number of first cells,
    which are there without any split.
    """
    return delta / max(4.0 * float((t + 1.0) ** exponent), first)


def by_epoch(delta: float, epoch: int, *, planned: bool) -> float:
    """The share of one horizon, where horizons are doubled as they are passed.

    δ/((j + 1)(j + 2)) for epoch j = 0, 1, … of an unknown horizon. A horizon that was ``planned``
    has all of δ; those after it share another δ, as δ/(j(j + 1)) for j = 1, 2, …
    """
    if planned:
        return delta if epoch == 0 else delta / (epoch * (epoch + 1))
    return delta / ((epoch + 1) * (epoch + 2))
