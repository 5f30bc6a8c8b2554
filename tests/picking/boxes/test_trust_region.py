"""GP-UCB with a trust region: when the region moves, grows and shrinks."""

import numpy as np
import pytest
from trust_regions import AUTO, cone, known, learnt_run

import noregret as nr


def test_two_asks_of_three_stay_in_the_region():
    opt = known()
    opt.tell([[0.2, 0.2], [0.7, 0.6]], [0.0, 1.0])
    opt.chooser.side = 0.1
    np.testing.assert_allclose(opt.region.bounds, [[0.65, 0.75], [0.55, 0.65]])
    inside = []
    for _ in range(12):
        batch = opt.ask()
        region = opt.region  # asking has judged; nothing told since moves it
        inside.append(np.all((batch.points >= region.lower) & (batch.points <= region.upper)))
        opt.tell(batch, cone(batch.points))
    assert all(inside[0::3] + inside[1::3])
    assert not all(inside[2::3])


def test_region_is_cut_at_the_bounds():
    opt = known()
    assert np.array_equal(opt.region.bounds, opt.domain.bounds)  # nothing is known yet
    opt.tell([[0.0, 0.9]], [1.0])
    np.testing.assert_allclose(opt.region.bounds, [[0, 0.4], [0.5, 1]])


def test_picks_in_the_region_have_half_the_width():
    opt = known()
    X = np.random.default_rng(0).uniform(size=(12, 2))
    opt.tell(X, cone(X))
    mean, std = opt.predict(opt.region.sample(2000, np.random.default_rng(1))[1])
    assert opt.ask().info.upper[0] == pytest.approx((mean + std).max(), rel=1e-2)


def test_a_loaded_run_judges_what_was_on_its_way(tmp_path):
    straight = known()
    straight.tell([[0.5, 0.5]], [1.0])
    for _ in range(10):
        batch = straight.ask()
        straight.tell(batch, cone(batch.points))
    waiting = straight.ask(3)
    assert straight.chooser.waiting
    assert straight.events
    straight.save(tmp_path / "run.npz")
    resumed = nr.load(tmp_path / "run.npz")
    for opt in (straight, resumed):
        opt.tell(waiting, cone(waiting.points))
    for _ in range(10):
        batch, again = straight.ask(), resumed.ask()
        np.testing.assert_array_equal(batch.points, again.points)
        for opt in (straight, resumed):
            opt.tell(batch, cone(batch.points))
    assert straight.events == resumed.events


def test_whole_box_steps_are_those_of_gpucb():
    """From the same data, the bound that a global step finds is the one GPUCB finds."""
    opt, plain = known(), nr.GPUCB(
        nr.Box([(0, 1)] * 2), nr.Matern(0.3), noise=0.05, norm=10.0, width=2.0, seed=3
    )  # fmt: skip
    X = np.random.default_rng(1).uniform(size=(12, 2))
    for each in (opt, plain):
        each.tell(X, cone(X))
    for _ in range(2):
        opt.cancel(opt.ask())  # the local steps
    np.testing.assert_allclose(opt.ask().info.upper, plain.ask().info.upper, rtol=1e-3)


def test_whole_box_steps_look_at_wider_bounds_where_the_kernel_is_learnt():
    box = nr.Box([(0, 1)])
    X = np.array([[0.0], [0.1], [0.2], [0.3], [0.31], [0.32], [0.33]])
    opt = nr.TrustRegionUCB(box, "auto", **AUTO, width=2.0, seed=0)
    opt.tell(X, np.exp(-50.0 * np.square(X[:, 0] - 0.32)))  # a hill, and nothing to its right
    opt.ask()  # in the region
    opt.ask()
    mean, std = opt.predict(np.linspace(0, 1, 2001)[:, None])
    assert opt.ask().info.upper[0] == pytest.approx((mean + 4.0 * std).max(), rel=1e-3)


def test_failures_halve_and_the_smallest_region_starts_anew():
    """Only the first point is good: every step in the region fails."""
    opt = known(noise=0.01)
    opt.tell([[0.5, 0.5]], [5.0])
    sides = []
    while len(sides) < 8:
        batch = opt.ask()
        opt.tell(batch, np.zeros(len(batch)))
        sides = [event["side"] for event in opt.events if event["event"] == "trust region"]
    np.testing.assert_allclose(sides[:6], 0.8 / 2.0 ** np.arange(1, 7))
    assert sides[6] == 0.8  # 0.8/128 is below the smallest side
    assert sides[7] == 0.4


def test_successes_in_a_row_double():
    opt = known(noise=0.01)
    opt.tell([[0.5, 0.5]], [0.0])
    opt.chooser.side = 0.1
    best, turn = 0.0, 0
    while not opt.events:
        batch = opt.ask()
        best, turn = best + 1.0, turn + 1
        # What is found in the region is better every time, what is found elsewhere is poor.
        opt.tell(batch, [best if turn % 3 else -1.0])
        assert opt.t < 20
    assert opt.events[0]["side"] == pytest.approx(0.2)


def test_late_and_cancelled_picks_are_judged_once():
    opt = known()
    opt.tell([[0.5, 0.5]], [1.0])
    local = opt.ask(3)
    assert opt.chooser.waiting == 3
    opt.cancel(local[:1])
    opt.tell(local[1:2], [0.0])
    opt.ask()
    assert opt.chooser.failures == 1
    assert opt.chooser.waiting == 2  # the third is still on its way, and a new one
    opt.tell(local[2:], [0.0])
    opt.ask()
    assert opt.chooser.failures == 2


def test_without_answers_there_is_no_region():
    """Asking on while nothing has been told: whole-box steps, which count neither way."""
    opt = known()
    batches = [opt.ask() for _ in range(3)]
    assert not opt.chooser.waiting
    for batch in batches:
        opt.tell(batch, cone(batch.points))
    opt.ask()
    assert opt.chooser.successes == opt.chooser.failures == 0


def test_a_region_too_narrow_for_floating_point_is_the_whole_side():
    box = nr.Box([(1e16, 1e16 + 8), (0, 1)])
    opt = nr.TrustRegionUCB(box, nr.Matern([4.0, 0.3]), norm=2.0, seed=0)
    opt.chooser.side = 1 / 100
    opt.tell([[1e16 + 4, 0.5]], [1.0])
    region = opt.region
    assert (region.lower[0], region.upper[0]) == (1e16, 1e16 + 8)
    np.testing.assert_allclose([region.lower[1], region.upper[1]], [0.495, 0.505])
    assert len(opt.ask()) == 1


def test_a_best_reward_that_stands_out_is_measured_again():
    rng = np.random.default_rng(0)

    def smooth(points):
        return -np.square(points - 0.3).sum(axis=1) + 1e-4 * rng.standard_normal(len(points))

    opt, _ = learnt_run(smooth)
    batch = opt.ask()
    opt.tell(batch, smooth(batch.points))
    wrong = np.array([[0.8, 0.8]])
    opt.tell(wrong, [2.0])
    batch = opt.ask()
    np.testing.assert_array_equal(batch.points, wrong)
    opt.tell(batch, smooth(wrong))
    following = opt.ask()
    assert not np.array_equal(following.points, wrong)
    assert np.square(np.asarray(opt.recommend().point) - 0.3).sum() < 0.05
    assert [event["event"] for event in opt.events].count("evaluated again") == 1


def test_a_plate_holds_the_point_that_is_measured_again_once():
    opt, _ = learnt_run(lambda points: -np.square(points - 0.3).sum(axis=1))
    opt.tell(opt.ask(), [0.0])
    wrong = np.array([[0.8, 0.8]])
    opt.tell(wrong, [2.0])
    batch = opt.ask(3)
    assert len(batch) == 3
    assert np.all(batch.points == wrong, axis=1).tolist() == [True, False, False]
    assert not np.any(np.all(opt.ask(2).points == wrong, axis=1))  # it is pending


def test_without_noise_points_of_a_space_are_evaluated_once_while_others_are_left():
    """The region has room for a few points; without noise its best one would come every time."""
    space = nr.Space({"a": nr.Int(0, 3), "b": nr.Choice([*"uvwx"]), "c": nr.Choice([*"xyz"])})
    values = np.random.default_rng(0).standard_normal(48)
    opt = nr.TrustRegionUCB(space, "auto", width=2.0, seed=0, **AUTO)
    for _ in range(60):
        batch = opt.ask()
        opt.tell(batch, values[(batch.points @ [12, 3, 1]).astype(int)])
    points = opt.history.points
    assert len(np.unique(points[:54], axis=0)) == 48
    assert len(points) == 60


def test_without_noise_a_batch_holds_no_point_twice():
    space = nr.Space({"a": nr.Choice([*"uvwx"]), "b": nr.Choice([*"xyz"])})
    opt = nr.TrustRegionUCB(space, "auto", width=2.0, seed=0, **AUTO)
    told = np.array([[0, 0], [1, 0], [2, 1], [3, 2], [0, 1], [1, 2]])
    opt.tell(np.tile(told, (2, 1)), np.tile(np.arange(6.0), 2))
    batch = opt.ask(6)
    assert len(np.unique(np.concatenate([told, batch.points]), axis=0)) == 12
