"""Tests that every algorithm must pass, as suites. Run them on an algorithm of your own.

In a test module, for pytest:

>>> class TestMine(AlgorithmSuite):
...     def make(self, domain, kernel, **options):
...         return MyAlgorithm(domain, kernel, **options)

or anywhere, without pytest: ``check(MyAlgorithm)``, ``check(MyAlgorithm, box=True)``.

``options`` are those of :class:`~noregret.Optimizer`: ``noise``, ``norm``, ``delta``, ``lam``,
``seed`` and ``width``. :class:`AlgorithmSuite` plays on a list, :class:`BoxSuite` on a box,
:class:`SpaceSuite` on a space of several types. Needs Hypothesis.
"""

from collections.abc import Callable

from noregret.optimizer import Optimizer
from noregret.testing.boxes import BoxSuite
from noregret.testing.lists import AlgorithmSuite
from noregret.testing.spaces import SpaceSuite
from noregret.testing.suite import run_all


def check(make: Callable[..., Optimizer], *, box: bool = False, space: bool = False) -> None:
    """Run every test of a suite; the first one that fails raises its error, with what it tested.

    Parameters
    ----------
    make
        Builds the algorithm: ``make(domain, kernel, **options)``; its class will do.
    box, space
        Whether to play on a box, or on a space of several types; on a list otherwise.
    """
    if not callable(make):
        raise TypeError(f"make must be an algorithm's class or build one when called, got {make!r}")
    suite = SpaceSuite() if space else BoxSuite() if box else AlgorithmSuite()
    suite.make = make  # type: ignore[method-assign]
    run_all(suite)


__all__ = ["AlgorithmSuite", "BoxSuite", "SpaceSuite", "check"]
