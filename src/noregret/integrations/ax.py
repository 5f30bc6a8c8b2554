"""An Ax generation node with our optimiser behind it, for search spaces and for pools.

    from ax.generation_strategy.generation_strategy import GenerationStrategy
    from noregret.integrations.ax import NoRegretNode

    client.set_generation_strategy(GenerationStrategy(name="noregret", nodes=[NoRegretNode()]))

Needs Ax 1.0 or newer: ``pip install "noregret[ax]"``.
"""

import math
from typing import Any

try:
    from ax.core.parameter import ChoiceParameter, FixedParameter, ParameterType, RangeParameter
    from ax.generation_strategy.external_generation_node import ExternalGenerationNode
except ImportError as error:
    raise ImportError('noregret.integrations.ax needs Ax: pip install "noregret[ax]"') from error

from noregret.algorithms import BBKB, TrustRegionUCB
from noregret.integrations.shared.settings import checked_settings
from noregret.integrations.shared.table_rows import TableRows
from noregret.integrations.shared.tool_trials import TrialRewards
from noregret.optimizer import Optimizer
from noregret.spaces import Box, Choice, Float, Int, Space
from noregret.spaces.parameters import Parameter


class NoRegretNode(ExternalGenerationNode):  # type: ignore[misc]
    """Chooses the next arms of an Ax experiment with one objective.

    Without a pool, the experiment's search space is searched: ranges, choices, fixed parameters,
    and its linear constraints. With a pool, arms are rows of it, each evaluated once unless
    ``repeats`` says otherwise. Nothing is proved: kernel, noise and norm are learnt.

    Parameters
    ----------
    pool
        A pandas or polars frame whose columns are the experiment's parameters, or ``None``.
    seed
        Makes runs repeatable.
    name
        Name of the node, as Ax shows it.
    **options
        Settings of the algorithm: :class:`~noregret.BBKB` on a pool, else
        :class:`~noregret.TrustRegionUCB`.
    """

    def __init__(
        self, pool: Any = None, *, seed: int | None = None, name: str = "NoRegret", **options: Any
    ) -> None:
        # An arm may be evaluated again on purpose.
        super().__init__(name, should_deduplicate=False)
        self._pool = pool
        if pool is None:
            self._settings = checked_settings(TrustRegionUCB, seed, options, Box([(0.0, 1.0)]))
        else:
            self._settings = checked_settings(BBKB, seed, {"repeats": 1, **options}, [[0.0], [1.0]])
        self._opt: Optimizer | None = None
        self._told: set[tuple[int, str]] = set()
        self._pending: list[dict[str, Any]] = []
        self._running: list[dict[str, Any]] = []
        self._rewards = TrialRewards()

    def update_generator_state(self, experiment: Any, data: Any) -> None:
        """Tell the optimiser which trials have ended since it was last asked."""
        name, sign = _objective(experiment)
        if self._opt is None:
            self._opt = self._start(experiment)
        # Ax does not call a trial pending any more once it has some data.
        going_on = [one for one in experiment.trials.values() if not one.status.is_terminal]
        self._running = [dict(arm.parameters) for trial in going_on for arm in trial.arms]
        for row in data.df[data.df["metric_name"] == name].itertuples():
            key = int(row.trial_index), str(row.arm_name)
            status = experiment.trials[key[0]].status
            ended = status.is_completed or status.is_early_stopped
            if key in self._told or not ended or not math.isfinite(row.mean):
                continue
            self._told.add(key)
            reward = sign * float(row.mean)
            kept = self._rewards
            reward = kept.completed(reward) if status.is_completed else kept.stopped(reward)
            parameters = dict(experiment.arms_by_name[key[1]].parameters)
            point = self._point(parameters)
            if point is None:
                continue
            asked = parameters in self._pending
            if asked:
                self._pending.remove(parameters)
            self._opt.tell([point], [reward], unasked=not asked)

    def get_next_candidate(self, pending_parameters: list[dict[str, Any]]) -> dict[str, Any]:
        """The parameters of the next arm."""
        assert self._opt is not None
        self._settle([dict(each) for each in pending_parameters])
        batch = self._opt.ask(1)
        if not len(batch):
            raise ValueError("every row of the pool has been evaluated")
        found = {**self._fixed, **batch.values[0]}
        self._pending.append(found)
        return found

    def _settle(self, pending: list[dict[str, Any]]) -> None:
        """Count as pending what Ax says is pending, and what is running; nothing else."""
        assert self._opt is not None
        left = list(pending)
        for own in list(self._pending):
            if own in left:
                left.remove(own)
            elif own not in self._running:  # failed
                self._pending.remove(own)
                self._opt.fail([self._point(own)])
        for other in left:
            if (point := self._point(other)) is not None:
                self._opt.expect([point])
                self._pending.append(other)

    def _start(self, experiment: Any) -> Optimizer:
        if experiment.search_space.is_hierarchical:
            raise ValueError(
                "experiment must have no parameters that depend on others: noregret gives every "
                "arm a value of each parameter"
            )
        parameters = experiment.search_space.parameters
        fixed = {n: p.value for n, p in parameters.items() if isinstance(p, FixedParameter)}
        self._fixed: dict[str, Any] = fixed
        varied = {name: one for name, one in parameters.items() if name not in fixed}
        if self._pool is not None:
            self._rows = TableRows("pool", self._pool)
            if self._rows.columns.keys() != varied.keys():
                raise ValueError(
                    f"pool must have the experiment's parameters {sorted(varied)} as columns, got "
                    f"{sorted(self._rows.columns)}"
                )
            return BBKB(self._rows.domain, **self._settings)
        constraints = experiment.search_space.parameter_constraints
        space = Space(
            {name: _parameter(one) for name, one in varied.items()},
            feasible=(lambda point: all(c.check(point) for c in constraints))
            if constraints
            else None,
        )
        return TrustRegionUCB(space, **self._settings)

    def _point(self, parameters: dict[str, Any]) -> Any:
        """These parameters as the optimiser has them; ``None`` if they are outside its domain."""
        own = {name: value for name, value in parameters.items() if name not in self._fixed}
        if self._pool is not None:
            return self._rows.find(own)
        assert self._opt is not None
        try:
            self._opt.domain.locate([own])
        except (ValueError, TypeError):  # an arm outside the search space
            return None
        return own


def _objective(experiment: Any) -> tuple[str, float]:
    """The name of the metric that is optimised, and its sign: 1 if more is better, else −1."""
    config = experiment.optimization_config
    if config is None or len(config.objective.metric_names) != 1:
        raise ValueError("experiment must have one objective: noregret optimises one number")
    if config.outcome_constraints:
        raise ValueError(
            f"experiment must have no outcome constraints, got {config.outcome_constraints}: add a "
            "penalty to the objective instead"
        )
    return config.objective.metric_names[0], -1.0 if config.objective.minimize else 1.0


def _parameter(given: Any) -> Parameter:
    """The parameter of our space for a parameter of Ax."""
    if isinstance(given, ChoiceParameter):
        return Choice(list(given.values))
    if isinstance(given, RangeParameter):
        if given.parameter_type == ParameterType.INT:
            return Int(int(given.lower), int(given.upper), log=given.log_scale)
        return Float(float(given.lower), float(given.upper), log=given.log_scale)
    raise ValueError(f"{given!r} is not supported: use ranges, choices and fixed parameters")
