"""GP-UCB with a trust region: its design, its fits, its dictionary, and what it finds."""

import numpy as np
import pytest
from trust_regions import AUTO, cone, known, learnt_run

import noregret as nr


def test_fits_use_everything_and_nothing_is_drawn_after_the_design():
    opt = nr.TrustRegionUCB(nr.Box([(0, 1)] * 2), "auto", width=2.0, seed=0, **AUTO)
    rng = np.random.default_rng(0)
    uniform = []
    while opt.t < 40:
        batch = opt.ask()
        uniform += [batch.uniform]
        opt.tell(batch, cone(batch.points) + 0.05 * rng.standard_normal(len(batch)))
    assert uniform == [True] * 6 + [False] * 34
    fits = [event for event in opt.events if event["event"] == "fit"]
    assert [event["t"] for event in fits] == [6, 8, 10, 13, 17, 22, 28, 35]


def funnel(x):
    """A narrow funnel of height 1 in a plain."""
    return float(np.exp(-6.0 * np.sqrt(np.mean(np.square(np.asarray(x) - 0.35)))))


def height_found(algorithm, seed):
    """How high up the funnel a run of 60 evaluations comes, in four dimensions."""
    options = {"algorithm": algorithm, "width": 2.0, "progress": False}
    return funnel(nr.maximize(funnel, nr.Box([(-1, 1)] * 4), 60, seed=seed, **options).best.point)


def test_finds_the_top_of_a_narrow_funnel():
    assert height_found("trustregionucb", 0) > 0.95


@pytest.mark.slow
def test_comes_closer_to_the_top_of_a_narrow_funnel_than_gp_ucb():
    ours, theirs = (
        np.mean([height_found(name, seed) for seed in range(4)])
        for name in ("trustregionucb", "gpucb")
    )
    assert ours > theirs + 0.03


def test_lists_are_refused():
    with pytest.raises(ValueError, match="domain must be a Box"):
        nr.TrustRegionUCB(np.eye(3), nr.RBF())


def test_the_design_is_spread_over_the_box():
    """Whoever asks, one by one or several at once: the same points, one in each eighth."""
    box = nr.Box([(0, 1), (5, 7)])
    one, many = (nr.TrustRegionUCB(box, "auto", width=2.0, seed=4, **AUTO) for _ in range(2))
    singly = np.concatenate([one.ask().points for _ in range(8)])
    np.testing.assert_array_equal(np.concatenate([many.ask(3).points, many.ask(5).points]), singly)
    for axis in ((singly - box.lower) / (box.upper - box.lower)).T:
        assert sorted(np.floor(8 * axis).astype(int)) == list(range(8))


def test_old_data_takes_the_place_of_the_design():
    opt = nr.TrustRegionUCB(nr.Box([(0, 1)] * 2), "auto", width=2.0, seed=0, **AUTO)
    X = np.random.default_rng(0).uniform(size=(20, 2))
    opt.tell(X, cone(X))
    assert not opt.ask().uniform
    assert [event["event"] for event in opt.events] == ["fit"]


def test_many_evaluations_need_few_inducing_points():
    """With a number as width; a proved width keeps every arm."""
    X = np.random.default_rng(0).uniform(size=(700, 2))
    y = cone(X) + 0.3 * np.random.default_rng(1).standard_normal(700)
    for width, fewest, most in ((2.0, 5, 300), ("theory", 600, 700)):
        opt = known(noise=0.3, width=width)
        opt.tell(X, y)
        opt.ask()
        assert fewest <= len(opt.dictionary) <= most
        assert np.abs(opt.recommend().point - 0.7).max() < 0.2


def test_a_horizon_must_be_a_count():
    with pytest.raises(ValueError, match="horizon"):
        known(horizon=0)


def test_the_more_evaluations_the_smaller_the_part_that_is_kept():
    qbar = nr.TrustRegionUCB(nr.Box([(0, 1)] * 2), "auto", width=2.0, **AUTO).parts().qbar
    assert qbar(500) > 1e6  # all of them
    assert qbar(1000) == 1.0
    assert qbar(10**6) == 0.5


def steep(points):
    """Minus a steep bowl: values from −10⁴ to 0."""
    return -np.exp(14.0 * np.sqrt(np.square(points - 0.3).sum(axis=1) / points.shape[1]))


def test_rewards_of_a_steep_function_are_warped_and_answers_are_in_their_units():
    opt, X = learnt_run(steep)
    assert opt.assumed.warp.strength > 0
    opt.ask()
    assert "strength" in opt.events[0]["warp"]
    mean, std = opt.predict(X)
    assert np.all(std >= 0)
    good = steep(X) > np.median(steep(X))
    assert np.corrcoef(np.log(-mean[good]), np.log(-steep(X)[good]))[0, 1] > 0.9
    best = opt.recommend()
    assert best.lower < best.mean < best.upper <= best.lower + best.gap
    assert best.lower <= float(steep(np.asarray(best.point)[None])[0]) <= best.upper
    # Bounds are mapped exactly, so that they lie further from the mean on the bad side.
    worst = opt.top(40)[-1]
    assert worst.mean - worst.lower > worst.upper - worst.mean


def test_warped_runs_go_on_after_loading(tmp_path):
    opt, _ = learnt_run(steep)
    opt.tell(opt.ask(), [-50.0])
    opt.ask()
    opt.save(tmp_path / "run.npz")
    again = nr.load(tmp_path / "run.npz")
    assert again.assumed.warp == opt.assumed.warp
    np.testing.assert_array_equal(again.ask().points, opt.ask().points)


@pytest.mark.parametrize("options", [{"width": "theory"}, {"noise": 0.1}, {"noise": "heavy"}])
def test_rewards_stay_as_they_are_with_a_theorem_a_known_noise_or_a_huber_regression(options):
    opt, _ = learnt_run(steep, **options)
    assert opt.assumed.warp.strength == 0
