"""Runs whose settings are right, or wrong in a known way."""

import numpy as np

import noregret as nr

LENGTHSCALE, NOISE = 0.3, 0.1


def drawn(seed, n=300):
    """Points in the unit square, and a function on them drawn from the GP itself."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 2))
    gram = nr.RBF(LENGTHSCALE)(X, X) + 1e-9 * np.eye(n)
    return X, np.linalg.cholesky(gram) @ rng.standard_normal(n), rng


def run(
    seed, *, lengthscale=LENGTHSCALE, noise=NOISE, outliers=0.0, repeats=1, rounds=8, auto=False
):
    """GP-UCB over such a list, 10 questions at a time, each answered so often."""
    X, f, rng = drawn(seed)
    if auto:
        given = {"kernel": "auto", "noise": "auto", "norm": "auto"}
    else:
        given = {"kernel": nr.RBF(lengthscale), "noise": noise}
    opt = nr.GPUCB(nr.Candidates(X), **given, width=2.0, seed=seed)
    for _ in range(rounds):
        ids = np.repeat(opt.ask(10).ids, repeats)
        y = f[ids] + NOISE * rng.standard_normal(len(ids))
        y += np.where(
            rng.random(len(ids)) < outliers, 20 * NOISE * rng.standard_normal(len(ids)), 0
        )
        opt.tell(ids, y)
    return opt


def plates(seed, *, outliers=0.0, constant=False):
    """What `noregret create` makes of such a list: everything learnt, each candidate once."""
    X, f, rng = drawn(seed)
    if constant:
        X = np.column_stack([X, np.ones(len(X))])
    opt = nr.PlateUCB(nr.Candidates(X), repeats=1, seed=seed)
    for _ in range(4):
        batch = opt.ask(24, fill=True)
        strange = np.where(rng.random(24) < outliers, 20 * NOISE, 0) * rng.standard_normal(24)
        opt.tell(batch, f[batch.ids] + NOISE * rng.standard_normal(24) + strange)
    return opt


#: what is planted, and the findings that name it; a smooth function far from 0 looks like a longer
#: lengthscale with another level
PLANTED = {
    "lengthscale 4 times too long": (
        {"lengthscale": 4 * LENGTHSCALE},
        {"lengthscale", "noise", "level"},
    ),
    "lengthscale 4 times too short": ({"lengthscale": LENGTHSCALE / 4}, {"lengthscale"}),
    "noise 4 times too small": ({"noise": NOISE / 4}, {"noise"}),
    "noise 4 times too large": ({"noise": 4 * NOISE}, {"noise"}),
    "5 % outliers": ({"outliers": 0.05}, {"tails"}),
}
GOOD = {
    "once": {},
    "three repeats": {"repeats": 3},
    "long": {"rounds": 25},
    "learnt": {"auto": True},
}
