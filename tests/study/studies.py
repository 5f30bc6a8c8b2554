"""A small problem and its studies, for the tests."""

import numpy as np

import noregret as nr

X = np.random.default_rng(0).uniform(size=(60, 2))


def f(x):
    return float(np.sin(5 * x[0]) + np.cos(3 * x[1]))


def new(path, **options):
    settings = {"kernel": nr.RBF(0.3), "noise": 0.1, "width": "practical", "seed": 3} | options
    return nr.Study.create(path, X, **settings)


def evaluate(study, trials):
    study.tell(trials, [f(x) for x in trials.points])


def assert_answers(study, budget):
    """There are so many answers, and each is that of f."""
    told = study.trials().filter(status="told")
    assert len(told) == budget
    assert told["value"].to_list() == [f(X[i]) for i in told["id"]]
