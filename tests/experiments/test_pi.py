"""π-GP-UCB's experiments: a run's columns against a second loop, smoothing against convolution."""

import numpy as np
import polars as pl
import pytest

import noregret as nr
from noregret.experiments import pi
from noregret.experiments.registry import find
from noregret.problems.classics import SCALED


@pytest.mark.parametrize("algorithm", ["pigpucb", "igpucb"])
def test_a_run_is_the_papers_loop(algorithm):
    """The same run by hand, with settings written out: L = 1, exact norm, δ = 1/10, α = 1."""
    frame = pi.synthetic(seed=3, algorithm=algorithm, dimension=2, side=6, horizon=50)
    rng = np.random.default_rng([2020, 2, 3])
    centres, heights = rng.random((60, 2)), rng.uniform(-1, 1, 60)
    noise = rng.uniform(-1, 1, 50)
    kernel, grid = nr.Matern(0.2, nu=1.5), nr.Box([(0, 1), (0, 1)]).grid(6)
    f = kernel(grid.points, centres) @ heights
    norm = np.sqrt(heights @ kernel(centres, centres) @ heights)
    options = {"horizon": 50} if algorithm == "pigpucb" else {}
    opt = nr.make(algorithm, grid, kernel, noise=1.0, norm=norm, delta=0.1, lam=1.0, seed=3,
                  width="paper", bounds="current", **options)  # fmt: skip
    regret = 0.0
    for t in range(50):
        batch = opt.ask()
        regret += f.max() - f[batch.ids[0]]
        opt.tell(batch, f[batch.ids] + noise[t])
    last = frame.row(-1, named=True)
    assert last["t"] == 50
    assert last["regret"] == pytest.approx(regret)
    assert last["relative"] == pytest.approx(regret / (50 * (f.max() - f.mean())))


def test_algorithms_of_a_run_share_function_and_noise(monkeypatch):
    made = []

    def recorded(*arguments, **options):
        made.append(nr.make(*arguments, **options))
        return made[-1]

    monkeypatch.setattr(pi, "make", recorded)
    for algorithm, seed in (("pigpucb", 0), ("igpucb", 0), ("igpucb", 1)):
        pi.classic(seed, algorithm, "Branin", side=5, horizon=8)
    f = SCALED["Branin"].on_grid(5).values()
    one, two, other = (opt.history.rewards - f[opt.history.ids] for opt in made)
    assert one == pytest.approx(two)
    assert one != pytest.approx(other)


def test_classics_are_given_norm_one_and_the_noises_half_range(monkeypatch):
    given = {}

    def spy(name, domain, kernel, **options):
        given.update(options)
        return nr.make(name, domain, kernel, **options)

    monkeypatch.setattr(pi, "make", spy)
    pi.classic(0, "igpucb", "Rosenbrock", side=5, horizon=3)
    assert (given["norm"], given["noise"], given["lam"], given["delta"]) == (1.0, 0.1, 1.0, 0.1)


@pytest.mark.parametrize("horizon", [1, 7, 250, 10_000])
def test_marks_end_at_the_horizon_and_are_few(horizon):
    marks = pi._marks(horizon)
    assert marks[-1] == horizon
    assert np.all(np.diff(marks, prepend=0) > 0)
    assert len(marks) == min(horizon, 100)


def test_the_top_hat_is_a_moving_average():
    """Rows every 100 steps: the mean of the 200 steps around a row."""
    steps = np.random.default_rng(0).random(1000)
    t = np.arange(100, 1001, 100)
    smooth = pi.per_step(t.astype(float), np.cumsum(steps)[t - 1])
    moving = np.convolve(steps, np.full(200, 1 / 200), "valid")  # starts at steps 0, 1, …
    assert smooth[:-1] == pytest.approx(moving[:801:100])
    assert smooth[-1] == pytest.approx(steps[-100:].mean())


def test_the_table_compares_runs_that_both_algorithms_have():
    settings = {"horizon": 4, "dimensions": [1], "runs": 2, "igpucb_3d_runs": 1}
    table = pl.DataFrame(
        {
            "dimension": 1,
            "algorithm": ["pigpucb", "pigpucb", "pigpucb", "igpucb", "igpucb", "igpucb"],
            "seed": [0, 1, 2, 0, 1, 1],
            "t": [4, 4, 4, 4, 4, 2],
            "regret": [1.0, 5.0, 9.0, 2.0, 4.0, 9.0],
            "relative": [0.1, 0.5, 0.9, 0.2, 0.4, 9.0],
            "seconds": [1.0, 1.0, 9.0, 3.0, 5.0, 9.0],
        }
    )
    measured = pi._measure_table(table, settings)
    expected = {"pairs": 2, "won": 1, "regret": 1.0, "seconds": 4.0}
    assert measured["paired"]["d1"] == pytest.approx(expected)
    assert [row["runs"] for row in measured["rows"]] == [3, 2]


def test_figure_one_is_made_of_the_tables_runs():
    table, figure = find("pi-table1"), find("pi-fig1")
    plane = {c.key for c in table.tasks(table.settings()) if c.arguments["dimension"] == 2}
    assert {task.key for task in figure.tasks(figure.settings())} == plane


def test_the_dear_runs_are_fewer_and_never_more_than_the_runs():
    table = find("pi-table1")
    for runs, expected in ((12, 3), (2, 2)):
        dear = [
            task
            for task in table.tasks(table.settings(runs=runs))
            if (task.arguments["algorithm"], task.arguments["dimension"]) == ("igpucb", 3)
        ]
        assert len(dear) == expected


def test_all_four_problems_are_played():
    experiment = find("pi-fig2")
    tasks = experiment.tasks(experiment.settings("quick"))
    assert {task.arguments["problem"] for task in tasks} == set(SCALED)
