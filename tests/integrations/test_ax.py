"""An Ax generation node: search spaces, constraints, pools."""

import numpy as np
import pytest

pytest.importorskip("ax")
pl = pytest.importorskip("polars")

from ax.api.client import Client  # noqa: E402
from ax.api.configs import ChoiceParameterConfig, RangeParameterConfig  # noqa: E402
from ax.generation_strategy.generation_strategy import GenerationStrategy  # noqa: E402

from noregret.integrations.ax import NoRegretNode  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")


def client(node, parameters, objective="-loss", constraints=()):
    made = Client()
    made.configure_experiment(parameters=parameters, parameter_constraints=list(constraints))
    made.configure_optimization(objective=objective)
    made.set_generation_strategy(GenerationStrategy(name="noregret", nodes=[node]))
    return made


def run(made, f, trials, name="loss"):
    asked = []
    while len(asked) < trials:
        for index, parameters in made.get_next_trials(
            max_trials=min(4, trials - len(asked))
        ).items():
            asked.append(parameters)
            made.complete_trial(trial_index=index, raw_data={name: f(parameters)})
    return asked


RANGES = [
    RangeParameterConfig(name="x", bounds=(0.0, 1.0), parameter_type="float"),
    RangeParameterConfig(name="n", bounds=(1, 64), parameter_type="int", scaling="log"),
    ChoiceParameterConfig(name="c", values=["a", "b"], parameter_type="str", is_ordered=False),
]


def test_a_search_space_is_optimised():
    made = client(NoRegretNode(seed=0), RANGES)

    def f(p):
        return (p["x"] - 0.4) ** 2 + (np.log2(p["n"]) - 3) ** 2 / 9 + (p["c"] == "b")

    asked = run(made, f, 32)
    assert min(f(p) for p in asked) < 0.1
    assert all(isinstance(p["n"], int) for p in asked)


def test_linear_constraints_are_kept():
    ranges = [
        RangeParameterConfig(name=name, bounds=(0.0, 1.0), parameter_type="float") for name in "xy"
    ]
    made = client(NoRegretNode(seed=0), ranges, "gain", ["x + y <= 1.0"])
    asked = run(made, lambda p: p["x"] + p["y"], 16, "gain")
    assert max(p["x"] + p["y"] for p in asked) <= 1.0 + 1e-9


def test_rows_of_a_pool_are_asked_for_once():
    rng = np.random.default_rng(0)
    pool = pl.DataFrame({"x": rng.uniform(size=60), "c": rng.choice(["a", "b"], size=60)})
    made = client(NoRegretNode(pool, seed=0), [RANGES[0], RANGES[2]])
    asked = run(made, lambda p: (p["x"] - 0.4) ** 2 + (p["c"] == "b"), 20)
    rows = set(pool.iter_rows())
    assert len({(p["x"], p["c"]) for p in asked} & rows) == 20


@pytest.mark.parametrize("pooled", [False, True])
def test_several_trials_run_at_a_time_and_end_in_any_order(pooled):
    rng = np.random.default_rng(0)
    pool = pl.DataFrame({"x": rng.uniform(size=60), "c": rng.choice(["a", "b"], size=60)})
    node = NoRegretNode(pool if pooled else None, seed=0)
    made = client(node, [RANGES[0], RANGES[2]])
    running, asked = {}, []
    for _ in range(8):
        more = made.get_next_trials(max_trials=4 - len(running))
        assert node._opt.pending == len(running) + len(more) == 4
        asked += more.values()
        running |= more
        for index in rng.choice(sorted(running), size=rng.integers(1, 4), replace=False):
            p = running.pop(int(index))
            loss = (p["x"] - 0.4) ** 2 + (p["c"] == "b")
            made.complete_trial(trial_index=int(index), raw_data={"loss": loss})
    assert len({tuple(p.items()) for p in asked}) == len(asked)
    made.get_next_trials(max_trials=1)  # the node is told when it is asked
    assert node._opt.t == len(asked) - len(running)


def test_a_region_where_trials_fail_is_left():
    """The best values would lie beyond 0.5, where every trial fails."""
    made = client(NoRegretNode(seed=0), RANGES[:1])
    asked = []
    for _ in range(20):
        for index, p in made.get_next_trials(max_trials=1).items():
            asked.append(p["x"])
            if p["x"] > 0.5:
                made.mark_trial_failed(trial_index=index)
            else:
                made.complete_trial(trial_index=index, raw_data={"loss": -p["x"]})
    assert len(set(asked)) > 10
    assert sum(x <= 0.5 for x in asked) >= 6


def test_an_unknown_setting_is_refused():
    with pytest.raises(TypeError, match="TrustRegionUCB has no setting 'widht'"):
        NoRegretNode(widht=2.0)
    with pytest.raises(TypeError, match="BBKB has no setting 'horizon'"):
        NoRegretNode({"x": [0.0, 1.0]}, horizon=10)


def test_two_objectives_are_refused():
    made = client(NoRegretNode(seed=0), RANGES[:1], "-loss, -cost")
    with pytest.raises(ValueError, match="one objective"):
        made.get_next_trials(max_trials=1)


def test_outcome_constraints_are_refused():
    made = Client()
    made.configure_experiment(parameters=RANGES[:1])
    made.configure_optimization(objective="-loss", outcome_constraints=["cost <= 0.5"])
    made.set_generation_strategy(GenerationStrategy(name="n", nodes=[NoRegretNode()]))
    with pytest.raises(ValueError, match=r"no outcome constraints, got .*cost.* add a penalty"):
        made.get_next_trials(max_trials=1)


def test_parameters_that_depend_on_others_are_refused():
    kind = ChoiceParameterConfig(
        name="kind",
        values=["a", "b"],
        parameter_type="str",
        is_ordered=False,
        dependent_parameters={"a": ["x"]},
    )
    made = client(NoRegretNode(seed=0), [kind, RANGES[0]])
    with pytest.raises(ValueError, match="no parameters that depend on others"):
        made.get_next_trials(max_trials=1)


def test_a_trial_counts_by_its_last_data_once_it_has_ended():
    node = NoRegretNode(seed=0)
    made = client(node, RANGES[:1])

    def told(trials):
        made.get_next_trials(max_trials=1)  # the node is told when it is asked
        assert node._opt.pending == 1 + len(trials)  # those without an end, and this one
        return (-node._opt.history.rewards).tolist()

    first, second = made.get_next_trials(max_trials=2)
    made.attach_data(trial_index=first, raw_data={"loss": 9.0}, progression=1)
    assert told([first, second]) == []
    made.complete_trial(trial_index=first, raw_data={"loss": 0.5}, progression=2)
    made.attach_data(trial_index=second, raw_data={"loss": 0.1}, progression=1)
    made.mark_trial_early_stopped(trial_index=second)
    # What was stopped early is never better than the median.
    assert told(["asked above"]) == [0.5, 0.5]
