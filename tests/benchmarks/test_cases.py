"""The table of the BBKB paper's cases, on a small one."""

import pytest


@pytest.fixture
def cases(benchmark_module):
    return benchmark_module("cases")


@pytest.fixture
def case(cases):
    return cases.Case("small", *cases.synthetic(200, 2), 2.0, 60, beside=60, plain_seeds=2)


def test_every_way_and_the_plain_code_stand_in_one_table(cases, case, capsys):
    cases.show(case, most=2)
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("| ")][1:]
    assert [line.split("|")[1].split("(")[0].strip() for line in lines] == [
        *cases.WAYS,
        'plain, width="practical"',
    ]


def test_regret_is_that_of_what_was_asked(cases, case):
    """An algorithm that asks for the worst candidate only."""
    worst = int(case.f.argmin())
    _, regret, batches = cases.play(
        case, 60, 0, lambda ids, y: None, lambda n: [worst] * min(n, 10), lambda ids, y: None
    )
    assert batches == 5
    assert regret == pytest.approx(50 / 60 / (1 - case.f.mean()))


def test_the_plain_code_and_ours_find_the_same_good_choices(cases, case):
    found = [cases.plain(case, 60, 0), cases.ours(case, 60, 0, width="practical")]
    assert all(one.regret < 0.6 for one in found)
    assert abs(found[0].regret - found[1].regret) < 0.2
