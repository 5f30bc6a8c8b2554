"""The algorithms for heavy-tailed rewards pass the suites with settings beside the defaults."""

import numpy as np
import pytest
from learners import learning

import noregret as nr
from noregret.testing import AlgorithmSuite, BoxSuite


class TestTGPUCB(AlgorithmSuite):
    def make(self, domain, kernel, **options):
        return nr.TGPUCB(domain, kernel, v=4.0, **options)


class TestTGPUCBInBatches(AlgorithmSuite):
    def make(self, domain, kernel, **options):
        return nr.TGPUCB(domain, kernel, features="nystrom", ratio=2.0, **options)


class TestATAGPUCB(AlgorithmSuite):
    def make(self, domain, kernel, **options):
        return nr.ATAGPUCB(domain, kernel, **{"width": "practical", **options})


class TestRobustUCBCatoni(AlgorithmSuite):
    def make(self, domain, kernel, **options):
        return nr.RobustUCB(domain, kernel, estimator="catoni", **options)


class TestRobustUCBMedianOfMeans(AlgorithmSuite):
    def make(self, domain, kernel, **options):
        return nr.RobustUCB(domain, kernel, estimator="median-of-means", **options)


class TestTGPUCBInABox(BoxSuite):
    def make(self, domain, kernel, **options):
        return nr.TGPUCB(domain, kernel, v=4.0, **options)


class TestATAGPUCBInABox(BoxSuite):
    def make(self, domain, kernel, **options):
        return nr.ATAGPUCB(domain, kernel, v=4.0, ratio=2.0, **options)


class TestATAGPUCBQuadratureInABox(BoxSuite):
    def make(self, domain, kernel, **options):
        return nr.ATAGPUCB(domain, kernel, v=4.0, features="qff", nodes=12, **options)


class TestHuberGPUCBInABox(BoxSuite):
    def make(self, domain, kernel, **options):
        return nr.HuberGPUCB(domain, kernel, ratio=2.0, **options)


class TestClippedGPUCBInABox(BoxSuite):
    def make(self, domain, kernel, **options):
        return nr.ClippedGPUCB(domain, kernel, **{"alpha": 0.8, **options})


class TestTGPUCBLearningInABox(BoxSuite):
    def make(self, domain, kernel, **options):
        return learning(nr.TGPUCB, domain, options, features="nystrom", ratio=2.0)


class TestATAGPUCBLearning(AlgorithmSuite):
    def make(self, domain, kernel, **options):
        return learning(nr.ATAGPUCB, domain, options, ratio=1.5)


class TestATAGPUCBLearningInABox(BoxSuite):
    def make(self, domain, kernel, **options):
        return learning(nr.ATAGPUCB, domain, options, ratio=2.0)


class TestHuberGPUCBLearning(AlgorithmSuite):
    def make(self, domain, kernel, **options):
        return learning(nr.HuberGPUCB, domain, options, ratio=2.0)


class TestHuberGPUCBLearningInABox(BoxSuite):
    def make(self, domain, kernel, **options):
        return learning(nr.HuberGPUCB, domain, options, ratio=1.5, features="nystrom")


def test_boxes_have_limits_of_their_own():
    box = nr.Box([(0, 1)])
    with pytest.raises(ValueError, match="RBF"):
        nr.ATAGPUCB(box, nr.Matern(), features="qff")
    with pytest.raises(ValueError, match="lengthscale"):
        nr.ATAGPUCB(box, "auto", features="qff")
    with pytest.raises(TypeError, match="box"):
        nr.RobustUCB(box, nr.RBF())


@pytest.mark.parametrize(
    ("algorithm", "options"),
    [
        (nr.TGPUCB, {"v": 4.0}),
        (nr.ATAGPUCB, {"v": 4.0, "width": 2.0}),
        (nr.HuberGPUCB, {}),
        (nr.ClippedGPUCB, {}),
    ],
)
def test_boxes_are_searched_as_asked_for(algorithm, options):
    """DIRECT and many starts find upper bounds of the same height, at points of their own."""
    box = nr.Box([(0, 1)] * 2)
    uppers = []
    for search in ("gradients", "direct"):
        opt = algorithm(box, nr.RBF(0.4), norm=2.0, search=search, seed=0, **options)
        assert opt.chooser.search.method == search
        points = box.sample(12, np.random.default_rng(0))[1]
        opt.tell(points, np.sin(5 * points.sum(axis=1)))
        (point,) = opt.ask().points
        mean, deviation = opt.predict([point], pending=False)
        uppers.append(float(mean[0] + opt.beta * deviation[0]))
    assert uppers[1] == pytest.approx(uppers[0], rel=0.02)
    with pytest.raises(ValueError, match="search"):
        algorithm(nr.Box([(0, 1)] * 4), nr.RBF(0.4), norm=2.0, search="direct", **options)
