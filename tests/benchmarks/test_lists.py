"""One line on lists, beside random choice."""

import pytest


def test_scores_are_0_for_the_best_and_1_for_the_median(benchmark_module):
    lists = benchmark_module("lists")
    library = next(lists.libraries(0))
    by_value = library.f.argsort()
    assert library.score(int(by_value[-1])) == 0
    assert library.score(int(by_value[len(by_value) // 2])) == pytest.approx(1, abs=0.01)


def test_many_columns_and_few_evaluations_are_better_than_random_choice(benchmark_module):
    """A design that takes up the whole run would be random choice."""
    lists = benchmark_module("lists")
    library = next(one for one in lists.libraries(0) if one.name == "slope, 20 columns")
    scores = [lists.ours(library, 60, seed)[0] for seed in range(3)]
    assert sum(scores) < 0.7 * sum(lists.at_random(library, 60, seed) for seed in range(3))
