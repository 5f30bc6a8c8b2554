"""Maximisers of drawn functions: their law, when they agree, and with which features."""

import numpy as np
from thompson_runs import run

import noregret as nr


def test_quadrature_of_a_replaced_list_is_the_same_when_loaded(tmp_path):
    """The features cover what has been seen of a wider list before."""
    opt = nr.ThompsonSampling(
        np.linspace(0, 3, 40)[:, None], nr.RBF(0.5), features="qff", n_init=5, seed=0
    )
    opt.tell([0, 13, 39], [0.0, 0.8, 0.1])
    opt.replace_candidates(np.linspace(0, 1, 50)[:, None])
    opt.save(tmp_path / "run.npz")
    again = nr.load(tmp_path / "run.npz")
    np.testing.assert_array_equal(again.maximizer_samples(50), opt.maximizer_samples(50))


def test_features_are_made_again_and_not_stored(tmp_path):
    """A loaded run draws the same functions, from a file without them."""
    box = nr.Box([(0, 1)] * 3)
    opt = nr.ThompsonSampling(box, nr.Matern(0.5), n_init=2, xi=0.0, seed=0)
    run(opt, lambda X: X[:, 0], 0.1, 5, 0)
    opt.save(tmp_path / "run.npz")
    with np.load(tmp_path / "run.npz") as archive:
        largest = max(archive[name].nbytes for name in archive.files if name != "header")
    assert largest < 8 * 500 * 3  # what the frequencies of random Fourier features take
    again = nr.load(tmp_path / "run.npz")
    np.testing.assert_array_equal(again.ask(3).points, opt.ask(3).points)


def test_a_look_before_a_fit_leaves_the_features_as_they_are():
    """Features of a kernel that was fitted for a look are not those of the kernel fitted later."""
    options = {"noise": "auto", "norm": "auto", "n_init": 4, "xi": 1.0, "seed": 0}
    one, two = (nr.ThompsonSampling(nr.Box([(0, 1)]), "auto", **options) for _ in range(2))
    for opt in (one, two):
        run(opt, lambda X: np.sin(6 * X[:, 0]), 0.0, 7, 0)
        late = opt.ask(3)
        opt.tell(late[:1], [0.3])  # the eighth: a fit is due
        if opt is two:
            opt.maximizer_samples(3)
        opt.tell(late[1:], [-2.0, 3.0])
    np.testing.assert_array_equal(one.maximizer_samples(9), two.maximizer_samples(9))
