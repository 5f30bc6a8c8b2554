"""Every algorithm by its name passes the suites that the package ships."""

import math
from dataclasses import dataclass, replace

import pytest

import noregret as nr
from noregret.algorithms import algorithms
from noregret.testing import AlgorithmSuite, BoxSuite, SpaceSuite, check, moves
from noregret.testing.suite import run_all

#: algorithms of lists only and of boxes only
LISTS_ONLY = {"robustucb", "regularizedevolution", "plateucb"}
BOXES_ONLY = {"trustregionucb", "asyncts"}


#: algorithms that pick on a space of several types as another one does, with other bounds
SEARCH_AS_OTHERS = {
    *("gpbucb", "bkb", "igpucb", "tgpucb", "hubergpucb", "clippedgpucb", "pigpucb", "asyncts"),
}


def suites(base, others, slow=frozenset()):
    """One test class an algorithm, so that a new algorithm joins by its name."""
    for name, cls in algorithms.items():
        if name in others:
            continue

        def make(self, domain, kernel, cls=cls, **options):
            return cls(domain, kernel, **options)

        title = f"Test{cls.__name__}{base.__name__}"
        marks = {"pytestmark": pytest.mark.slow} if name in slow else {}
        yield title, type(title, (base,), {"make": make, **marks})


SUITES = {
    **dict(suites(AlgorithmSuite, BOXES_ONLY)),
    **dict(suites(BoxSuite, LISTS_ONLY)),
    **dict(suites(SpaceSuite, LISTS_ONLY, slow=SEARCH_AS_OTHERS)),
}
globals().update(SUITES)


@pytest.mark.slow
@pytest.mark.parametrize("suite", SUITES.values(), ids=SUITES)
def test_looks_and_files_change_nothing_in_many_long_runs(suite):
    moves.check_looks(suite(), examples=10, longest=14)


def test_the_suite_wants_to_know_the_algorithm():
    with pytest.raises(TypeError, match="override make"):
        AlgorithmSuite().build()


def test_suites_run_without_pytest():
    check(nr.Uniform)


def test_the_suite_finds_looks_that_change_the_run():
    """A width that grows whenever it is computed, as it is for many looks."""

    class Suite(AlgorithmSuite):
        def make(self, domain, kernel, **options):
            computed = []

            def width(evidence):
                computed.append(evidence.t)
                return 0.1 * len(computed)

            return nr.GPUCB(domain, kernel, **options, width=width)

    with pytest.raises(AssertionError):
        Suite().test_looks_and_files_change_nothing()


def test_the_suite_says_what_an_algorithm_lacks():
    class Undecorated(nr.GPUCB):
        """GP-UCB."""

    class Undocumented(nr.Uniform):
        def parts(self):
            return super().parts()

    Undocumented.parts.__doc__ = ""
    with pytest.raises(AssertionError, match="Undecorated must be a dataclass of its own"):
        check(Undecorated)
    with pytest.raises(AssertionError, match=r"Undocumented\.parts must have a docstring"):
        check(dataclass(frozen=True, kw_only=True, eq=False, repr=False)(Undocumented))


@pytest.mark.parametrize("box", [False, True])
def test_the_suite_finds_a_width_that_is_too_small(box):
    """It is called proved; without the suite, nothing would tell."""

    def narrow(evidence):
        return 1.2 * math.sqrt(evidence.lam)

    @dataclass(frozen=True, kw_only=True, eq=False, repr=False)
    class TooNarrow(nr.GPUCB):
        """GP-UCB with 1.2 deviations."""

        def parts(self):
            """GP-UCB's, with another width."""
            return replace(super().parts(), widths={"theory": narrow}, proved=("theory",))

    suite = (BoxSuite if box else AlgorithmSuite)()
    suite.make = lambda domain, kernel, **options: TooNarrow(domain, kernel, **options)
    with pytest.raises(AssertionError, match="proved names the width 'theory', but"):
        suite.test_proved_bounds_hold()


def test_a_check_that_fails_says_what_it_tested():
    """Outside pytest an assertion has no message of its own."""

    class Broken(AlgorithmSuite):
        def test_a_file_continues_bit_for_bit(self):
            """A loaded run goes on."""
            raise AssertionError

    with pytest.raises(AssertionError) as caught:
        run_all(Broken())
    (note,) = caught.value.__notes__
    assert note == "Broken.test_a_file_continues_bit_for_bit: A loaded run goes on."


@pytest.mark.parametrize("given", ["gpucb", nr.GPUCB([[0.0]], nr.RBF())])
def test_the_suite_takes_classes(given):
    with pytest.raises(TypeError, match="make must be an algorithm's class or build one"):
        check(given)
