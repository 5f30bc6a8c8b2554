"""A stand-in for algorithms that records what it is told."""

import numpy as np
import pytest

import noregret as nr
from noregret.experiments import heavy, heavy_data


class Record:
    """Stands in for an algorithm: plays the same arms every time and keeps what it is told."""

    def __init__(self, arms):
        self.arms, self.t, self.told = arms, 0, []

    def ask(self, n=None):
        self.t += 1
        arm = np.random.default_rng(self.t).integers(self.arms, size=1)
        return nr.Batch(arm, np.zeros((1, 1)), [])

    def tell(self, batch, rewards):
        self.told.append((int(batch.ids[0]), float(rewards[0])))


@pytest.fixture
def record(monkeypatch):
    """Tasks play :class:`Record`; returns the calls of ``make`` and the players."""
    made = []

    def make(name, domain, kernel, **options):
        player = Record(len(domain))
        made.append((name, kernel, options, player))
        return player

    monkeypatch.setattr(heavy, "make", make)
    monkeypatch.setattr(heavy_data, "make", make)
    return made
