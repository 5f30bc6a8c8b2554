"""``noise="heavy"`` on every front door, and heavy tails that ``"auto"`` finds."""

import numpy as np
import pytest

import noregret as nr

GRID = nr.Box([(0.0, 1.0)]).grid(40)
F = np.sin(5 * GRID.points[:, 0])


def spiky(rng, n):
    """Noise of deviation 0.2, and one reward in twenty 50 lower."""
    return 0.2 * rng.standard_normal(n) - 50.0 * (rng.random(n) < 0.05)


def played(opt, rounds, noise, seed=0):
    rng = np.random.default_rng(seed)
    while opt.t < rounds:
        batch = opt.ask()
        opt.tell(batch, F[batch.ids] + noise(rng, len(batch)))
    return opt


@pytest.mark.parametrize("name", ["bbkb", "gpucb", "thompsonsampling", "bkb"])
def test_outliers_leave_the_mean_near_the_bulk(name):
    off = []
    for seed in range(3):
        options = {"noise": "heavy", "norm": 3.0, "width": 2.0, "seed": seed}
        opt = played(nr.make(name, GRID, nr.RBF(0.2), **options), 100, spiky, seed)
        told = np.unique(opt.history.ids)
        counts = np.bincount(opt.history.ids, minlength=40)[told]
        off.append(np.median(np.abs(opt.predict(told)[0] - F[told])[counts >= 4]))
    assert np.median(off) < 0.6  # one spike is 50
    assert not opt.proved
    assert "noise" in opt.learnt


def test_runs_are_saved_and_go_on(tmp_path):
    opt = nr.BBKB(GRID, "auto", noise="heavy", norm="auto", seed=1, width=2.0)
    played(opt, 60, spiky)
    opt.save(tmp_path / "run.npz")
    again = nr.load(tmp_path / "run.npz")
    for _ in range(3):
        one, two = opt.ask(), again.ask()
        np.testing.assert_array_equal(one.ids, two.ids)
        opt.tell(one, F[one.ids])
        again.tell(two, F[two.ids])


def test_the_one_line_way_reports_what_was_measured():
    rng = np.random.default_rng(3)

    def latency(x):
        return float(2.0 + np.sin(5 * x[0]) + 0.1 * rng.lognormal() - spiky(rng, 1)[0])

    result = nr.minimize(latency, GRID, 120, noise="heavy", seed=0, progress=False)
    own = result.history.rewards[result.history.ids == result.best.id]
    assert abs(result.best.mean - np.median(own)) < 1.0


def test_a_study_takes_heavy_noise(tmp_path):
    made = nr.Study.create(tmp_path / "a.db", GRID, kernel=nr.RBF(0.2), noise="heavy", seed=0)
    with made as study:
        study.run(lambda x: float(x[0]), budget=15, workers=1)
        assert study.optimizer.noise == "heavy"


@pytest.mark.parametrize(
    ("noise", "found"),
    [(spiky, True), (lambda rng, n: 0.2 * rng.standard_normal(n), False), (None, False)],
)
def test_auto_finds_heavy_tails_from_repeats(noise, found):
    opt = nr.GPUCB(GRID, nr.RBF(0.2), noise="auto", norm=3.0, seed=0, width=2.0)
    rng = np.random.default_rng(5)
    noise = noise or (lambda rng, n: np.zeros(n))
    played(opt, 10, noise)
    assert not [event for event in opt.events if event["event"] == "heavy tails"]
    ids = np.repeat(np.arange(0, 40, 4), 12)
    opt.tell(ids, F[ids] + noise(rng, len(ids)))
    opt.ask()
    events = [event for event in opt.events if event["event"] == "heavy tails"]
    assert bool(events) == found
    if found:
        assert events[0]["pvalue"] < 0.01
        assert np.abs(opt.predict(ids)[0] - F[ids]).max() < 1.5


@pytest.mark.parametrize("name", ["tgpucb", "atagpucb", "robustucb", "pigpucb"])
def test_algorithms_with_an_estimate_of_their_own_refuse_it(name):
    with pytest.raises(ValueError, match="noise 'heavy' is not for"):
        nr.make(name, GRID, nr.RBF(0.2), noise="heavy")
