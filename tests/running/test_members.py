"""Members that cannot be replaced without effect, and a setting that shares a name with one."""

import ast
import pickle
from dataclasses import FrozenInstanceError, InitVar, dataclass
from pathlib import Path

import numpy as np
import pytest

import noregret as nr
from noregret.running.members import beside_property

X = np.linspace(0, 1, 30)[:, None]
KERNEL = nr.RBF(0.2)


class WiderBounds:
    @property
    def beta(self):
        return 9.0


def test_a_member_replaced_by_another_parent_is_refused():
    with pytest.raises(TypeError, match=r"Mine\.beta would have no effect.*parts\(\)"):
        type("Mine", (WiderBounds, nr.GPUCB), {})
    # Behind the optimiser it replaces nothing.
    behind = type("Mine", (nr.GPUCB, WiderBounds), {})(X, KERNEL, width=3.0)
    assert behind.beta == pytest.approx(3.0)


@pytest.mark.parametrize(
    ("cls", "name"),
    [
        (nr.PiGPUCB, "upper"),
        (nr.PiGPUCB, "cover"),
        (nr.ThompsonSampling, "converged"),
        (nr.TGPUCB, "v_in_use"),
        (nr.BKB, "beliefs"),
        (nr.BBKB, "dictionary"),
    ],
)
def test_members_of_an_algorithm_cannot_be_replaced_either(cls, name):
    for member in (lambda self: None, property(lambda self: None), "grow"):
        with pytest.raises(TypeError, match=f"Mine.{name} would have no effect"):
            type("Mine", (cls,), {name: member})


def test_settings_and_plain_values_may_be_replaced():
    @dataclass(frozen=True, kw_only=True, eq=False, repr=False)
    class Mine(nr.ATAGPUCB):
        adaptive = True
        ratio: float = 3.0
        width: str = "practical"

    opt = Mine(X, KERNEL, v=1.0)
    assert (opt.adaptive, opt.ratio, opt.width) == (True, 3.0, "practical")


@pytest.mark.parametrize(
    ("cls", "name", "member"),
    [
        (nr.GPUCB, "width", lambda self, evidence: 9.0),
        (nr.GPUCB, "width", 9.0),
        (nr.GPUCB, "noise", 0.5),
        (nr.GPUCB, "kernel", nr.RBF(0.5)),
        (nr.BBKB, "ratio", 6.0),
        (nr.ThompsonSampling, "batch_size", 3),
    ],
)
@pytest.mark.parametrize("decorated", [False, True])
def test_a_setting_replaced_without_effect_is_refused(cls, name, member, decorated):
    made = type("Mine", (cls,), {name: member})
    if decorated:  # without a type it is no field of this dataclass
        made = dataclass(frozen=True, kw_only=True, eq=False, repr=False)(made)
    with pytest.raises(TypeError, match=rf"Mine\.{name} would have no effect"):
        made(X, KERNEL)


def test_a_constructor_of_your_own_may_pass_on_a_value_of_its_class():
    class Mine(nr.GPUCB):
        width = 9.0

        def __init__(self, domain):
            super().__init__(domain, KERNEL, width=self.width)

    assert Mine(X).beta == pytest.approx(9.0)


def test_a_misspelt_setting_of_a_class_of_your_own_is_refused():
    @dataclass(frozen=True, kw_only=True)
    class Mine(nr.GPUCB):
        epsilon: float = 0.1

    with pytest.raises(TypeError, match="Mine has no setting 'epsilom'; did you mean 'epsilon'"):
        Mine(X, KERNEL, epsilom=0.2)
    assert Mine(X, kernel=KERNEL, epsilon=0.2).settings()["epsilon"] == 0.2


def test_a_setting_without_its_name_is_refused():
    with pytest.raises(TypeError, match=r"takes domain and kernel, and settings by name.* got 0.1"):
        nr.GPUCB(X, KERNEL, 0.1)


def test_a_class_that_is_no_dataclass_of_its_own_has_the_settings_of_its_parent():
    class Mine(nr.Optimizer):
        def parts(self):
            return nr.GPUCB.parts(self)

    opt = Mine(X, KERNEL, noise=0.2, seed=1)
    assert opt.settings() == nr.GPUCB(X, KERNEL, noise=0.2, seed=1).settings()
    assert opt.replace(noise=0.3).noise == 0.3


def test_a_constructor_of_your_own_may_take_other_names():
    class Mine(nr.GPUCB):
        def __init__(self, domain, **options):
            super().__init__(domain, KERNEL, width=options["deviations"])

    assert Mine(X, deviations=3.0).width == 3.0


def test_an_init_var_takes_the_name_of_a_property_only_if_both_can_be_read():
    fields = {"__annotations__": {"beta": InitVar[float]}}
    with pytest.raises(TypeError, match="beta would have no effect"):
        type("Mine", (nr.GPUCB,), {**fields, "beta": 2.0})
    type("Mine", (nr.GPUCB,), {**fields, "beta": beside_property(2.0)})


@pytest.mark.parametrize("cls", [nr.BKB, nr.BBKB])
def test_how_the_dictionary_is_drawn_and_what_it_is_share_a_name(cls, tmp_path):
    """The setting is frozen, saved and replaced as any other; reading gives the points."""
    opt = cls(X, KERNEL, noise=0.1, width=2.0, dictionary="resample", seed=0)
    opt.tell([3, 4, 20], [0.1, 0.2, 0.3])
    opt.save(tmp_path / "run.npz")
    for made in (opt, pickle.loads(pickle.dumps(opt)), nr.load(tmp_path / "run.npz")):
        assert made.settings()["dictionary"] == "resample"
        assert set(made.dictionary) <= {3, 4, 20}
        assert made.parts().dictionary == "resample"
    grown = opt.replace(dictionary="grow")
    assert (grown.settings()["dictionary"], grown.t) == ("grow", 3)
    assert cls(X, KERNEL).settings()["dictionary"] == "grow"
    for name in ("dictionary", "qbar"):
        with pytest.raises(FrozenInstanceError):
            setattr(opt, name, "grow")
    with pytest.raises(ValueError, match="dictionary must be one of 'grow', 'resample'"):
        opt.replace(dictionary="all")


def test_algorithms_use_what_is_public_of_the_optimiser():
    names = {*vars(nr.Optimizer), *nr.Optimizer.__annotations__}
    private = {name for name in names if name.startswith("_") and not name.startswith("__")}
    assert "_run" in private
    for path in (Path(nr.__file__).parent / "algorithms").glob("*.py"):
        nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        assert not private & {node.attr for node in nodes if isinstance(node, ast.Attribute)}, path
