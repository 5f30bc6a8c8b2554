"""Every figure and table of the papers is there, and runs."""

import json
from pathlib import Path

import pytest
from data_sets import is_there

from noregret.experiments.experiment import reproduce
from noregret.experiments.registry import experiments, find

#: one experiment per paper, which runs once in the default suite; the slow one runs all of them
ONE_PER_PAPER = ("bkb-fig1", "bbkb-fig1", "heavy-fig1f", "ts-fig4", "pi-fig2")
#: folders of the data that experiments need
DATA = {
    **dict.fromkeys(("bbkb-fig1", "bbkb-fig2"), ("abalone", "cadata")),
    "bbkb-fig5": ("abalone",),
    "bbkb-fig6": ("cadata",),
    **dict.fromkeys(("bbkb-fig3", "bbkb-fig4", "bbkb-fig7"), ("nasbench101",)),
    "heavy-fig1d": ("stocks",),
    **dict.fromkeys(("heavy-fig1e", "heavy-robust"), ("lightsensor",)),
}


def test_every_id_of_the_papers_is_there():
    wanted = {"bkb-fig1", "bkb-scaling"}
    wanted |= {f"bbkb-fig{number}" for number in range(1, 8)}
    wanted |= {*(f"heavy-fig1{part}" for part in "abcdef"), "heavy-robust"}
    wanted |= {f"ts-fig{number}" for number in range(1, 5)}
    wanted |= {"pi-table1", "pi-fig1", "pi-fig2"}
    assert set(experiments()) == wanted


@pytest.mark.parametrize("id_", [id_ for id_, one in experiments().items() if one.repeated])
def test_runs_have_seeds_that_algorithms_share(id_):
    experiment = find(id_)
    groups: dict[str, set[int]] = {}
    for task in experiment.tasks(experiment.settings()):
        if "seed" not in task.arguments:  # a fact of the data, not a run
            continue
        rest = {k: v for k, v in task.arguments.items() if k != "seed"}
        groups.setdefault(json.dumps(rest), set()).add(task.arguments["seed"])
    for seeds in groups.values():
        assert seeds == set(range(len(seeds)))
    assert max(map(len, groups.values())) == experiment.settings()["runs"]


def test_an_unknown_id_is_refused_with_those_there_are():
    with pytest.raises(ValueError, match=r"bkb-fig1.*got 'bkb-fig9'"):
        find("bkb-fig9")


def run_quick(id_: str, out: Path, **options: int) -> None:
    for folder in DATA.get(id_, ()):
        if not is_there(folder):
            pytest.skip(f"NOREGRET_DATA holds no {folder} here")
    files = reproduce(find(id_), out, size="quick", **options)
    assert files.pictures
    for picture in files.pictures:
        assert picture.stat().st_size <= 150_000
    assert json.loads(files.summary.read_text())["measured"]["rows"]


@pytest.mark.parametrize("id_", ONE_PER_PAPER)
def test_one_experiment_of_every_paper_runs(id_, tmp_path):
    run_quick(id_, tmp_path, **({"runs": 1} if find(id_).repeated else {}))


@pytest.mark.slow
@pytest.mark.parametrize("id_", experiments())
def test_every_experiment_runs(id_, tmp_path):
    run_quick(id_, tmp_path)
