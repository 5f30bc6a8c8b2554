"""Known conditions on points, written as text: ``"layers * units < 1000"``.

A condition is made of the parameters' names (in braces where a name has spaces or is no plain word:
``{flow rate} < 3``), numbers, texts in quotes, ``True``, ``False`` and
``None``, brackets, ``+ - * / // %`` and ``**``, comparisons (also ``in`` and ``not in``), ``and``,
``or``, ``not``, and ``abs``, ``min`` and ``max``. Nothing else can be said: a condition from a file
computes a truth value and does nothing else. :mod:`noregret.spaces.condition_checks` refuses
conditions that say less than they seem to.
"""

import ast
import keyword
import operator
import re
from collections.abc import Callable, Mapping
from typing import Any

#: a part of a condition: its value at a point
Term = Callable[[Mapping[str, Any]], Any]

_ARITHMETIC: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    # Of floats: whole numbers could have any number of digits.
    ast.Pow: lambda x, y: float(x) ** float(y),
}
_SIGNS: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
}
_COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.In: lambda x, y: x in y,
    ast.NotIn: lambda x, y: x not in y,
}
_FUNCTIONS: dict[str, Callable[..., Any]] = {"abs": abs, "min": min, "max": max}
_LANGUAGE = "names of parameters, numbers, texts in quotes, + - * / // % **, comparisons, in, and, "
_LANGUAGE += "or, not, abs, min and max"
#: a text in quotes, or a name in braces
_QUOTED_OR_BRACED = re.compile(r"""'[^']*'|"[^"]*"|\{([^{}'"]*)\}""")
#: characters of a condition
_LONGEST = 10_000


class Condition:
    """A condition that points must satisfy, written as text.

    Parameters
    ----------
    text
        Such as ``"layers * units < 1000 and act != 'gelu'"``.
    names
        The parameters' names; others are refused.
    """

    def __init__(self, text: str, names: tuple[str, ...]) -> None:
        if len(text) > _LONGEST:
            raise ValueError(f"feasible must have at most {_LONGEST:,} characters")
        self.text = text
        self._names = names
        #: names in braces, by the plain words that stand for them in the parsed text
        self._braced: dict[str, str] = {}
        try:
            plain = _QUOTED_OR_BRACED.sub(self._plain_word, text.strip())
            self.parsed = ast.parse(plain, mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise ValueError(
                f"feasible must be a condition on a point, got {text!r}{self._about_braces()}"
            ) from error
        self._test = self._term(self.parsed)

    def __call__(self, point: Mapping[str, Any]) -> bool:
        """Whether a point (a dict) satisfies it."""
        return bool(self._test(point))

    def __reduce__(self) -> tuple[type["Condition"], tuple[str, tuple[str, ...]]]:
        return Condition, (self.text, self._names)

    def __repr__(self) -> str:
        return repr(self.text)

    def _plain_word(self, found: re.Match[str]) -> str:
        """A plain word in place of a name in braces; texts in quotes stay."""
        if found[1] is None:
            return found[0]
        word = f"_braced_{len(self._braced)}_"
        self._braced[word] = found[1].strip()
        return word

    def _about_braces(self) -> str:
        """How names are written that are no plain words, if there are any."""
        odd = [one for one in self._names if not one.isidentifier() or keyword.iskeyword(one)]
        return f"; write {odd[0]!r} in braces: {{{odd[0]}}}" if odd else ""

    def name_of(self, node: ast.expr) -> str | None:
        """The parameter that a part of the text is; ``None`` if it is none."""
        return self._braced.get(node.id, node.id) if isinstance(node, ast.Name) else None

    def words(self, node: ast.AST) -> str:
        """A part of the text as it is written."""
        found = ast.unparse(node)
        for word, name in self._braced.items():
            found = found.replace(word, f"{{{name}}}")
        return found

    def _term(self, node: ast.expr) -> Term:
        """A part of the text as a function of the point; what is not allowed is refused."""
        if isinstance(node, ast.Constant) and isinstance(node.value, str | int | float | None):
            value = node.value
            return lambda point: value
        if isinstance(node, ast.Name):
            return self._name(self._braced.get(node.id, node.id))
        if isinstance(node, ast.BinOp) and type(node.op) in _ARITHMETIC:
            return _of_numbers(_ARITHMETIC[type(node.op)], self._terms(node.left, node.right))
        if isinstance(node, ast.UnaryOp) and type(node.op) in _SIGNS:
            return _of_numbers(_SIGNS[type(node.op)], self._terms(node.operand))
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            (denied,) = self._terms(node.operand)
            return lambda point: not denied(point)
        if isinstance(node, ast.BoolOp):
            return _in_turn(self._terms(*node.values), every=isinstance(node.op, ast.And))
        if isinstance(node, ast.Compare):
            return self._comparison(node)
        if isinstance(node, ast.Tuple | ast.List):
            entries = self._terms(*node.elts)
            return lambda point: [entry(point) for entry in entries]
        if isinstance(node, ast.Call) and _is_known(node):
            return _of_numbers(_FUNCTIONS[ast.unparse(node.func)], self._terms(*node.args))
        raise ValueError(
            f"feasible must be made of {_LANGUAGE}; got {self.words(node)!r} in {self.text!r}"
        )

    def _terms(self, *nodes: ast.expr) -> list[Term]:
        return [self._term(node) for node in nodes]

    def _name(self, name: str) -> Term:
        if name not in self._names:
            known = ", ".join(self._names)
            raise ValueError(
                f"feasible must name parameters, {known}; got {name!r}{self._about_braces()}"
            )
        return lambda point: point[name]

    def _comparison(self, node: ast.Compare) -> Term:
        """A chain such as ``0 < a <= b``."""
        for symbol in node.ops:
            if type(symbol) not in _COMPARISONS:
                raise ValueError(f"feasible must compare by <, ==, in, …; got {self.text!r}")
        terms = self._terms(node.left, *node.comparators)
        compare = [_COMPARISONS[type(symbol)] for symbol in node.ops]

        def holds(point: Mapping[str, Any]) -> bool:
            values = [term(point) for term in terms]
            return all(
                one(left, right)
                for one, left, right in zip(compare, values[:-1], values[1:], strict=True)
            )

        return holds


def _is_known(call: ast.Call) -> bool:
    """Whether this is a call of a known function, of some terms."""
    named = isinstance(call.func, ast.Name) and call.func.id in _FUNCTIONS
    return named and bool(call.args) and not call.keywords


def _in_turn(terms: list[Term], *, every: bool) -> Term:
    """``and`` (every) or ``or`` as Python has them: the first value that decides."""

    def value(point: Mapping[str, Any]) -> Any:
        for term in terms[:-1]:
            found = term(point)
            if bool(found) is not every:
                return found
        return terms[-1](point)

    return value


def _of_numbers(function: Callable[..., Any], terms: list[Term]) -> Term:
    """A function of terms that must be numbers."""

    def value(point: Mapping[str, Any]) -> Any:
        numbers = [term(point) for term in terms]
        for number in numbers:
            if not isinstance(number, int | float):
                raise TypeError(f"only numbers can be computed with, got {number!r}")
        return function(*numbers)

    return value
