"""Noises by their moments."""

import numpy as np
import pytest

from noregret.problems.noise import Noise


@pytest.mark.parametrize(
    ("noise", "deviation"),
    [
        (Noise("gaussian", 0.3), 0.3),
        (Noise("uniform", 0.6), 0.6 / np.sqrt(3)),
        (Noise("student", 5.0), np.sqrt(5 / 3)),
        # scale f (a − 1)/a, variance scale² a/((a − 1)²(a − 2))
        (Noise("pareto", 6.0), 0.8 / np.sqrt(6 * 4)),
    ],
)
def test_rewards_have_their_mean_and_deviation(noise, deviation):
    rewards = noise.draw(np.full(200_000, 0.8), np.random.default_rng(0))
    assert rewards.mean() == pytest.approx(0.8, abs=5 * deviation / np.sqrt(200_000))
    assert rewards.std() == pytest.approx(deviation, rel=0.03)
    assert np.isfinite(noise.xi) == (noise.kind in ("gaussian", "uniform"))


def test_bad_noise_is_refused():
    with pytest.raises(ValueError, match="kind"):
        Noise("cauchy", 1.0)
    with pytest.raises(ValueError, match="parameter"):
        Noise("uniform", 0.0)
    with pytest.raises(ValueError, match="mean"):
        Noise("student", 1.0)
    with pytest.raises(ValueError, match="negative"):
        Noise("pareto", 2.0).draw(np.array([-0.1]), np.random.default_rng(0))
