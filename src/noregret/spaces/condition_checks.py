"""Conditions that say less than they seem to: ``"ratio < 0,5"`` would be true of every point."""

import ast
from collections.abc import Mapping
from typing import Any

from noregret.spaces.choices import Bool, Choice
from noregret.spaces.conditions import Condition
from noregret.spaces.parameters import Parameter

#: how many values of a choice a message names
_NAMED = 20


def check_condition(condition: Condition, parameters: Mapping[str, Parameter]) -> None:
    """Refuse a condition that is no condition, or compares what can never be equal.

    Parameters
    ----------
    condition
        The condition.
    parameters
        The space's parameters by name.
    """
    every = list(ast.walk(condition.parsed))
    lists = [one for node in every if isinstance(node, ast.Compare) for one in _lists(node)]
    for node in every:
        if isinstance(node, ast.Tuple | ast.List) and node not in lists:
            raise ValueError(
                f"feasible must be one condition, got {condition.words(node)!r} in "
                f"{condition.text!r}: a decimal has a point, 0.5, and conditions are joined by and"
            )
    _refuse_no_truth(condition, condition.parsed, parameters)
    if not any(isinstance(node, ast.Name) for node in every):
        raise ValueError(f"feasible must name a parameter, got {condition.text!r}")
    for node in every:
        if isinstance(node, ast.Compare):
            _check_comparison(condition, node, parameters)


def _refuse_no_truth(
    condition: Condition, node: ast.expr, parameters: Mapping[str, Parameter]
) -> None:
    """Refuse ``a * 2``: only a comparison or a yes is true or false."""
    if isinstance(node, ast.BoolOp):
        for one in node.values:
            _refuse_no_truth(condition, one, parameters)
        return
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        _refuse_no_truth(condition, node.operand, parameters)
        return
    values = _values(parameters.get(condition.name_of(node) or ""))
    yes_or_no = values is not None and all(isinstance(one, bool) for one in values)
    if not isinstance(node, ast.Compare) and not yes_or_no:
        raise ValueError(
            "feasible must be made of comparisons, such as x < 3, and of parameters that are yes "
            f"or no; got {condition.words(node)!r} in {condition.text!r}"
        )


def _check_comparison(
    condition: Condition, node: ast.Compare, parameters: Mapping[str, Parameter]
) -> None:
    """Refuse to compare a parameter with what it never is."""
    sides = [node.left, *node.comparators]
    for symbol, left, right in zip(node.ops, sides[:-1], sides[1:], strict=True):
        entries = [right]
        if isinstance(symbol, ast.In | ast.NotIn):
            if not isinstance(right, ast.Tuple | ast.List):
                raise ValueError(
                    f"feasible must have a list after in, such as act in ('a', 'b'), got "
                    f"{condition.words(right)!r} in {condition.text!r}"
                )
            entries = right.elts
        order = isinstance(symbol, ast.Lt | ast.LtE | ast.Gt | ast.GtE)
        for entry in entries:
            for one, other in ((left, entry), (entry, left)):
                name = condition.name_of(one)
                if name is not None and isinstance(other, ast.Constant):
                    _check_value(condition, name, parameters[name], other.value, order)


def _check_value(
    condition: Condition, name: str, parameter: Parameter, value: Any, order: bool
) -> None:
    """Refuse a value that the parameter does not have; ``order``: if < or > compares them."""
    values = _values(parameter)
    if values is None:
        known, what = isinstance(value, int | float), "a number"
    else:
        known = any(one == value for one in values)
        more = ", …" if len(values) > _NAMED else ""
        what = f"one of {', '.join(map(repr, values[:_NAMED]))}{more}"
        if order:  # between numbers, or texts, others make sense
            known = known or any(_comparable(one, value) for one in values)
    if not known:
        raise ValueError(
            f"feasible compares {name!r} with {value!r}, which it never is, in "
            f"{condition.text!r}: {name!r} is {what}"
        )


def _comparable(one: Any, other: Any) -> bool:
    """Whether < says anything of two values: both are texts, or both numbers."""
    return any(isinstance(one, kind) and isinstance(other, kind) for kind in (str, int | float))


def _values(parameter: Parameter | None) -> tuple[Any, ...] | None:
    """The values of a choice; ``None`` of a number."""
    return parameter.values if isinstance(parameter, Choice | Bool) else None


def _lists(node: ast.Compare) -> list[ast.expr]:
    """The right sides of ``in`` and ``not in``."""
    pairs = zip(node.ops, node.comparators, strict=True)
    return [right for symbol, right in pairs if isinstance(symbol, ast.In | ast.NotIn)]
