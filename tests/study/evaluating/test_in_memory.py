"""Ask and tell without a file, beside a study with one."""

import os
import signal

import numpy as np
import pytest

import noregret as nr
from noregret.study.evaluating.in_memory import MemoryStudy, uninterrupted

X = np.random.default_rng(0).random((40, 2))
OPTIONS = {"kernel": nr.RBF(0.5), "noise": 0.1, "width": 2.0, "seed": 0}


def test_the_same_as_a_study(tmp_path):
    memory = MemoryStudy(nr.GPUCB(X, **OPTIONS), "minimize")
    with nr.Study.create(tmp_path / "a.db", X, "gpucb", direction="minimize", **OPTIONS) as study:
        for one in (memory, study):
            one.tell_history([3, 4], [0.5, 0.6])
            for step in range(6):
                trials = one.ask(2, origin="run")
                one.tell(trials.numbers[:1], [float(step)])
                one.tell(trials.numbers[1:], failed="no luck")
            one.ask(3, origin="run")
        assert memory.counts() == study.counts()
        assert memory.pending("run") == study.pending("run")
        assert memory.best() == study.best()
        ours, theirs = memory.rows(), study.rows()
    for one, other in zip(ours, theirs, strict=True):
        assert (one.number, one.id, one.status, one.value, one.reason, one.origin) == (
            (other.number, other.id, other.status, other.value, other.reason, other.origin)
        )


def test_closing_leaves_nothing_pending():
    memory = MemoryStudy(nr.GPUCB(X, **OPTIONS), "maximize")
    memory.ask(3)
    memory.close()
    assert memory.optimizer.pending == 0
    assert [trial.status for trial in memory.rows()] == ["pending"] * 3


def test_an_interrupt_waits_for_the_end_of_a_block(request):
    # A program that a shell starts in the background ignores Ctrl-C.
    given = signal.signal(signal.SIGINT, signal.default_int_handler)
    request.addfinalizer(lambda: signal.signal(signal.SIGINT, given))
    done = []

    def block():
        with uninterrupted():
            os.kill(os.getpid(), signal.SIGINT)
            done.append(True)

    with pytest.raises(KeyboardInterrupt):
        block()
    assert done
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
