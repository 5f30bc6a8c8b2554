"""Experiments: cells that are stored and shared, runs that go on, figures, the results page."""

import json
import os
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy import stats
from typer.testing import CliRunner

import noregret as nr
from noregret.cli.main import app
from noregret.experiments import bkb, figures, page
from noregret.experiments.cells import Cell, Store, compute, labels
from noregret.experiments.experiment import Experiment, Files, reproduce
from noregret.experiments.play import play
from noregret.experiments.registry import experiments, find

#: one experiment per paper for the default suite; all of them are in the slow part
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
DOCS = Path(__file__).parents[1] / "docs"


def squares(seed: int, power: int) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    return pl.DataFrame({"t": [1, 2, 3], "value": rng.random(3) ** power})


def dies() -> pl.DataFrame:
    os._exit(1)


def small() -> Experiment:
    def draw(table, settings):
        figure, (axis,) = figures.panels(1)
        figures.lines(axis, table, "t", "value", "power", [1, 2])
        return {"": figure}

    def measure(table, settings):
        rows = [{"power": p, "mean": table.filter(pl.col("power") == p)["value"].mean()}
                for p in (1, 2)]  # fmt: skip
        return {"rows": rows, "nothing": np.nan, "count": np.int64(len(table))}

    return Experiment(
        id="small",
        paper="none",
        figure="Figure 0",
        title="powers",
        minutes=0.1,
        sizes={"page": {"runs": 4}, "full": {"runs": 9}, "quick": {"runs": 1}},
        cells=lambda settings: [
            Cell(squares, {"seed": seed, "power": power})
            for seed in range(settings["runs"])
            for power in (1, 2)
        ],
        draw=draw,
        measure=measure,
    )


def numbers(path: Path) -> pl.DataFrame:
    """A result without what is measured by the clock."""
    table = pl.read_parquet(path)
    return table.drop(name for name in table.columns if "seconds" in name)


class TestCells:
    def test_an_answer_carries_its_arguments(self):
        frame = Cell(squares, {"seed": 3, "power": 2}).compute()
        assert frame["seed"].to_list() == [3, 3, 3]
        assert frame["power"].to_list() == [2, 2, 2]

    def test_the_key_depends_on_function_and_arguments_only(self):
        one = Cell(squares, {"seed": 3, "power": 2})
        assert one.key == Cell(squares, {"power": 2, "seed": 3}).key
        assert one.key != Cell(squares, {"seed": 4, "power": 2}).key
        assert one.key != Cell(bkb.starvation, {"seed": 3, "power": 2}).key

    def test_equal_cells_are_computed_once(self, tmp_path):
        begun: list[Cell] = []
        cell = Cell(squares, {"seed": 0, "power": 1})
        done = list(compute([cell, cell], Store(tmp_path), 1, begun.append))
        assert len(done) == len(begun) == 1

    @pytest.mark.parametrize("jobs", [1, 2])
    def test_stored_cells_are_not_computed_again(self, tmp_path, jobs):
        cells = [Cell(squares, {"seed": seed, "power": 1}) for seed in range(3)]
        store = Store(tmp_path)
        store.write(cells[1], cells[1].compute())
        begun: list[Cell] = []
        assert len(list(compute(cells, store, jobs, begun.append))) == 3
        assert [cell.arguments["seed"] for cell in begun] == [0, 2]

    def test_an_error_of_a_cell_reaches_the_caller(self, tmp_path):
        wrong = Cell(squares, {"seed": -1, "power": 1})
        for jobs in (1, 2):
            with pytest.raises(ValueError, match="non-negative"):
                list(compute([wrong], Store(tmp_path), jobs, lambda cell: None))
        assert not list(tmp_path.glob("*"))

    def test_a_damaged_answer_is_computed_again(self, tmp_path):
        cell, store = Cell(squares, {"seed": 0, "power": 1}), Store(tmp_path)
        ((_, whole),) = compute([cell], store, 1, lambda cell: None)
        (path,) = tmp_path.iterdir()
        path.write_bytes(path.read_bytes()[:100])
        ((_, again),) = compute([cell], store, 1, lambda cell: None)
        assert again["value"].equals(whole["value"])
        assert store.read(cell) is not None

    def test_a_worker_that_dies_is_reported(self, tmp_path):
        with pytest.raises(ChildProcessError, match="fewer jobs"):
            list(compute([Cell(dies)], Store(tmp_path), 2, lambda cell: None))

    def test_labels_are_what_cells_differ_in(self):
        cells = [Cell(squares, {"seed": s, "power": p, "name": "x"}) for s, p in ((0, 2), (1, 2))]
        assert list(labels(cells).values()) == ["seed 0", "seed 1"]
        assert list(labels(cells[:1]).values()) == ["squares"]


class TestReproduce:
    def test_writes_picture_table_and_summary(self, tmp_path):
        files = reproduce(small(), tmp_path)
        assert [path.name for path in files.pictures] == ["small.png"]
        assert files.pictures[0].read_bytes().startswith(b"\x89PNG")
        assert len(pl.read_parquet(files.table)) == 4 * 2 * 3
        summary = json.loads(files.summary.read_text())
        assert summary["settings"] == {"runs": 4}
        assert summary["paper_settings"] == {"runs": 9}
        assert summary["seeds"] == [0, 1, 2, 3]
        assert summary["measured"]["count"] == 24
        assert summary["measured"]["nothing"] is None
        assert summary["versions"]["noregret"]

    def test_an_interrupted_run_goes_on_to_the_same_numbers(self, tmp_path):
        whole = reproduce(small(), tmp_path / "whole")
        left = 3

        def interrupt(cell: Cell) -> None:
            nonlocal left
            left -= 1
            if not left:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            reproduce(small(), tmp_path / "parts", finished=interrupt)
        assert len(list((tmp_path / "parts" / "cells").glob("*/*.parquet"))) == 3
        begun: list[Cell] = []
        resumed = reproduce(small(), tmp_path / "parts", started=begun.append)
        assert len(begun) == 8 - 3
        assert numbers(resumed.table).equals(numbers(whole.table))

    def test_interrupting_workers_loses_nothing_that_is_done(self, tmp_path):
        def interrupt(cell: Cell) -> None:
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            reproduce(small(), tmp_path / "parts", jobs=2, finished=interrupt)
        resumed = reproduce(small(), tmp_path / "parts", jobs=2)
        whole = reproduce(small(), tmp_path / "whole")
        assert numbers(resumed.table).equals(numbers(whole.table))

    def test_more_runs_use_the_runs_there_are(self, tmp_path):
        reproduce(small(), tmp_path, runs=2)
        begun: list[Cell] = []
        reproduce(small(), tmp_path, runs=3, started=begun.append)
        assert {cell.arguments["seed"] for cell in begun} == {2}

    def test_fresh_computes_all_again(self, tmp_path):
        reproduce(small(), tmp_path)
        begun: list[Cell] = []
        reproduce(small(), tmp_path, fresh=True, started=begun.append)
        assert len(begun) == 8

    @pytest.mark.parametrize("wrong", [{"runs": 0}, {"jobs": 0}, {"size": "huge"}])
    def test_wrong_settings_are_refused_by_name(self, tmp_path, wrong):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            reproduce(small(), tmp_path, **wrong)
        assert not list(tmp_path.iterdir())

    def test_a_folder_that_cannot_be_written_is_refused_before_anything_runs(self, tmp_path):
        (tmp_path / "file").write_text("")
        begun: list[Cell] = []
        with pytest.raises(ValueError, match="out must be a folder"):
            reproduce(small(), tmp_path / "file", started=begun.append)
        assert not begun

    def test_without_matplotlib_nothing_runs(self, tmp_path, monkeypatch):
        monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
        begun: list[Cell] = []
        with pytest.raises(ValueError, match="Matplotlib"):
            reproduce(small(), tmp_path, started=begun.append)
        assert not begun


class TestPlay:
    def test_regret_of_a_run_is_that_of_its_history(self):
        rng = np.random.default_rng(0)
        f, errors = rng.random(30), rng.standard_normal(40)
        X = rng.random((30, 2))
        opt = nr.BBKB(X, nr.RBF(0.5), noise=0.1, seed=0)
        frame = play(opt, 40, lambda batch: f[batch.ids],
                     lambda value, t: value + errors[t : t + len(value)], f.max(),
                     marks=np.array([1, 17, 40]))  # fmt: skip
        history = opt.history
        assert len(history) == 40
        assert np.allclose(history.rewards, f[history.ids] + errors)
        regret = [np.sum(f.max() - f[history.ids[:t]]) for t in (1, 17, 40)]
        assert frame["regret"].to_numpy() == pytest.approx(regret)
        simple = [f.max() - f[history.ids[:t]].max() for t in (1, 17, 40)]
        assert frame["simple"].to_numpy() == pytest.approx(simple)
        assert opt.pending == 0
        assert frame["seconds"].is_sorted()

    def test_batches_have_at_most_the_size_asked_for(self):
        opt = nr.Uniform(np.arange(5.0)[:, None], nr.RBF(1.0), seed=0)
        frame = play(opt, 10, lambda batch: batch.points[:, 0], lambda value, t: value, 4.0,
                     at_most=4, marks=np.arange(1, 11))  # fmt: skip
        assert frame["batch"].to_list() == [4] * 8 + [2] * 2
        assert frame["batches"].to_list() == [1] * 4 + [2] * 4 + [3] * 2


class TestFigures:
    def test_the_interval_is_students(self):
        values = np.random.default_rng(0).random(7)
        mean, half = figures.interval(values)
        low, high = stats.t.interval(0.95, 6, loc=values.mean(), scale=stats.sem(values))
        assert (mean - half, mean + half) == pytest.approx((low, high))
        mean, half = figures.interval([3.0])
        assert mean == 3.0
        assert np.isnan(half)  # one run says nothing of the spread

    def test_bands_are_over_runs_at_each_x(self):
        frame = pl.DataFrame({"t": [2, 1, 2, 1], "y": [5.0, 1.0, 7.0, 3.0]})
        at, mean, half = figures.over_runs(frame, "t", "y")
        assert at.tolist() == [1.0, 2.0]
        assert mean.tolist() == [2.0, 6.0]
        assert half == pytest.approx(figures.interval([1.0, 3.0])[1])

    def test_looks_differ_in_more_than_colour(self):
        looks = figures.looks([str(i) for i in range(8)])
        assert len({str(look["linestyle"]) for look in looks.values()}) == 8
        assert len({look["marker"] for look in looks.values()}) == 8


class TestRegistry:
    def test_every_id_of_the_papers_is_there(self):
        wanted = {"bkb-fig1", "bkb-scaling"}
        wanted |= {f"bbkb-fig{number}" for number in range(1, 8)}
        wanted |= {*(f"heavy-fig1{part}" for part in "abcdef"), "heavy-robust"}
        wanted |= {f"ts-fig{number}" for number in range(1, 5)}
        wanted |= {"pi-table1", "pi-fig1", "pi-fig2"}
        assert set(experiments()) == wanted

    @pytest.mark.parametrize("id_", [id_ for id_, one in experiments().items() if one.repeated])
    def test_runs_have_seeds_that_algorithms_share(self, id_):
        experiment = find(id_)
        groups: dict[str, set[int]] = {}
        for cell in experiment.cells(experiment.settings()):
            if "seed" not in cell.arguments:  # a fact of the data, not a run
                continue
            rest = {k: v for k, v in cell.arguments.items() if k != "seed"}
            groups.setdefault(json.dumps(rest), set()).add(cell.arguments["seed"])
        for seeds in groups.values():
            assert seeds == set(range(len(seeds)))
        assert max(map(len, groups.values())) == experiment.settings()["runs"]

    def test_an_unknown_id_is_refused_with_those_there_are(self):
        with pytest.raises(ValueError, match=r"bkb-fig1.*got 'bkb-fig9'"):
            find("bkb-fig9")


def run_quick(id_: str, out: Path) -> None:
    for folder in DATA.get(id_, ()):
        if not Path(os.environ.get("NOREGRET_DATA", "nowhere"), folder).exists():
            pytest.skip(f"NOREGRET_DATA holds no {folder} here")
    files = reproduce(find(id_), out, size="quick")
    assert files.pictures
    for picture in files.pictures:
        assert picture.stat().st_size <= 150_000
    assert json.loads(files.summary.read_text())["measured"]["rows"]


@pytest.mark.parametrize("id_", ONE_PER_PAPER)
def test_quick(id_, tmp_path):
    run_quick(id_, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("id_", sorted(set(experiments()) - set(ONE_PER_PAPER)))
def test_every_experiment_quick(id_, tmp_path):
    run_quick(id_, tmp_path)


class TestCommandLine:
    def run(self, *arguments: str):
        return CliRunner().invoke(app, ["reproduce", *arguments])

    def test_list_names_every_experiment(self):
        answer = self.run("--list")
        assert answer.exit_code == 0
        assert all(id_ in answer.stdout for id_ in experiments())

    def test_list_for_scripts(self):
        listed = json.loads(self.run("--list", "--json").stdout)
        assert [one["id"] for one in listed] == list(experiments())

    def test_runs_and_names_the_files(self, tmp_path):
        answer = self.run("bkb-fig1", "--quick", "--runs", "2", "--jobs", "1", "--out",
                          str(tmp_path), "--json")  # fmt: skip
        assert answer.exit_code == 0
        written = [Path(name) for name in json.loads(answer.stdout)["bkb-fig1"]]
        assert {path.suffix for path in written} == {".png", ".parquet", ".json"}
        assert all(path.exists() for path in written)

    @pytest.mark.parametrize(
        ("arguments", "says"),
        [
            (["nothing"], "ID must be one of"),
            ([], "--list"),
            (["bkb-fig1", "--quick", "--full"], "exclude"),
            (["ts-fig1", "--runs", "2"], "no runs"),
        ],
    )
    def test_wrong_use_is_refused(self, arguments, says):
        answer = self.run(*arguments)
        assert answer.exit_code == 1
        assert says in answer.stderr

    def test_all_takes_runs_where_there_are_any(self, tmp_path, monkeypatch):
        given = {}

        def run(experiment, out, *, runs, **others):
            given[experiment.id] = runs
            return Files(out, out, ())

        monkeypatch.setattr("noregret.cli.reproduce.run_experiment", run)
        assert self.run("--all", "--runs", "2", "--out", str(tmp_path)).exit_code == 0
        assert given == {id_: 2 if one.repeated else None for id_, one in experiments().items()}


class TestPage:
    def test_the_page_is_what_the_summaries_say(self):
        assert (DOCS / "results.md").read_text() == page.render(DOCS / "results")

    def test_pictures_are_small(self):
        for picture in (DOCS / "results").glob("*.png"):
            assert picture.stat().st_size <= 150_000

    def test_a_number_that_is_not_there_is_reported_with_its_file(self, tmp_path):
        (tmp_path / "x.json").write_text('{"measured": {"a": null}}')
        for wrong in ("{measured[b]}", "{measured[a]:.2f}", "{settings[runs]}"):
            (tmp_path / "x.md").write_text(wrong)
            with pytest.raises(ValueError, match=r"x\.md names a number"):
                page._read(tmp_path, "x")

    def test_only_results_with_the_settings_of_the_page_are_taken(self, tmp_path):
        (tmp_path / "docs").mkdir()
        reproduce(find("bkb-fig1"), tmp_path, size="quick")
        assert page.collect(tmp_path, tmp_path / "docs") == []
        assert not list((tmp_path / "docs").iterdir())
