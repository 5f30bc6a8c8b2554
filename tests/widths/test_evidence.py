"""What a width may depend on."""

import math
from dataclasses import dataclass, replace

import pytest

import noregret as nr


@pytest.mark.filterwarnings("ignore:the rewards contradict:RuntimeWarning")
def test_a_proved_width_of_your_own_stays_what_it_was_before_new_rewards():
    """Rewards that move a mean far are compared with the bounds before, as they were then."""
    read = {}

    def width(e):
        read.setdefault(e.t, set()).add(e.effective_dimension)
        return 0.01 * math.sqrt(e.lam)

    @dataclass(frozen=True, kw_only=True, eq=False, repr=False)
    class Own(nr.GPUCB):
        def parts(self):
            return replace(super().parts(), widths={"theory": width}, proved=("theory",))

    opt = Own([[0.0], [0.5], [1.0]], nr.RBF(0.3), noise=0.1, norm=2.0, lam=0.01, seed=0)
    for reward in (0.0, 0.1, 0.3):
        opt.tell([0], [reward])
        opt.ask()
    assert opt.events[0]["event"] == "refuted"
    assert [len(values) for values in read.values()] == [1] * len(read)
