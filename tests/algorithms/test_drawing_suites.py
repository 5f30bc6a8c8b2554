"""The suites, for algorithms that do not pick by the largest bound of the whole space."""

import noregret as nr
from noregret.testing import AlgorithmSuite, BoxSuite


def learnt(options):
    """The suite's usual noise, norm and λ left to be learnt; what a test gives on purpose stays."""
    usual = {"noise": (0.1, "auto"), "norm": (2.0, "auto"), "lam": (0.1, None)}
    return options | {
        name: instead for name, (value, instead) in usual.items() if options[name] == value
    }


class TestUniform(AlgorithmSuite):
    def make(self, domain, kernel, **options):
        return nr.Uniform(domain, kernel, **options)


class TestUniformOnABox(BoxSuite):
    def make(self, domain, kernel, **options):
        return nr.Uniform(domain, kernel, **options)


class TestEpsilonGreedy(AlgorithmSuite):
    def make(self, domain, kernel, **options):
        return nr.EpsilonGreedy(domain, kernel, **options)


class TestEpsilonGreedyOnABox(BoxSuite):
    def make(self, domain, kernel, **options):
        return nr.EpsilonGreedy(domain, kernel, epsilon=0.3, **options)


class TestEpsilonGreedyLearning(BoxSuite):
    def make(self, domain, kernel, **options):
        return nr.EpsilonGreedy(domain, "auto", **learnt(options))


class TestRegularizedEvolution(AlgorithmSuite):
    def make(self, domain, kernel, **options):
        return nr.RegularizedEvolution(domain, kernel, population=3, tournament=2, **options)


class TestThompsonOnABox(BoxSuite):
    def make(self, domain, kernel, **options):
        return nr.ThompsonSampling(domain, kernel, n_init=2, xi=0.3, **options)


class TestThompsonFourierBatches(BoxSuite):
    def make(self, domain, kernel, **options):
        return nr.ThompsonSampling(
            domain, kernel, n_init=2, batch_size=3, features="rff", **options
        )


class TestThompsonJointlyOnAList(AlgorithmSuite):
    def make(self, domain, kernel, **options):
        return nr.ThompsonSampling(domain, kernel, n_init=3, xi=0.1, **options)


class TestThompsonNystromOnAList(AlgorithmSuite):
    def make(self, domain, kernel, **options):
        return nr.ThompsonSampling(domain, kernel, n_init=3, features="nystrom", **options)


class TestThompsonQuadratureOnABox(BoxSuite):
    def make(self, domain, kernel, **options):
        return nr.ThompsonSampling(domain, kernel, n_init=2, xi=0.3, features="qff", **options)


class TestThompsonQuadratureOnAList(AlgorithmSuite):
    def make(self, domain, kernel, **options):
        return nr.ThompsonSampling(domain, kernel, n_init=3, xi=0.1, features="qff", **options)


class TestThompsonLearning(BoxSuite):
    def make(self, domain, kernel, **options):
        return nr.ThompsonSampling(domain, "auto", n_init=3, xi=0.3, **learnt(options))


class TestAsyncTS(BoxSuite):
    def make(self, domain, kernel, **options):
        return nr.AsyncTS(domain, kernel, n_init=2, features="nystrom", **options)


class TestTrustRegionUCB(BoxSuite):
    def make(self, domain, kernel, **options):
        return nr.TrustRegionUCB(domain, kernel, **options)


class TestTrustRegionUCBLearning(BoxSuite):
    def make(self, domain, kernel, **options):
        return nr.TrustRegionUCB(domain, "auto", **{"width": 2.0, **learnt(options)})


class TestBBKBThompson(AlgorithmSuite):
    def make(self, domain, kernel, **options):
        return nr.BBKB(domain, kernel, acquisition="thompson", **options)


class TestBBKBThompsonOnABox(BoxSuite):
    def make(self, domain, kernel, **options):
        return nr.BBKB(domain, kernel, acquisition="thompson", **options)
