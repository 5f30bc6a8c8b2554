"""Algorithms with settings beside their defaults pass the suites that the package ships."""

import pytest

import noregret as nr
from noregret.testing import AlgorithmSuite, BoxSuite

#: what depends on the algorithm and not on these settings, or is part of
#: test_looks_and_files_change_nothing; test_conformance.py has it
SAME_FOR_ALL_SETTINGS = (
    "test_same_seed_same_answers",
    "test_a_file_continues_bit_for_bit",
    "test_an_override_without_effect_is_refused",
    "test_bad_input_is_refused_and_changes_nothing",
    "test_bad_options_are_refused_by_name",
    "test_counts_of_candidates_are_for_lists",
    "test_everything_public_is_documented",
)


def built(cls, **own):
    """A function that builds an algorithm; what a test of the suite asks for goes first."""
    return lambda self, domain, kernel, **options: cls(domain, kernel, **{**own, **options})


def learnt(cls, **own):
    """The same with kernel, noise and norm learnt, instead of the suite's."""

    def make(self, domain, kernel, **options):
        given = {name: value for name, value in options.items() if name != "lam"}
        return cls(domain, "auto", **{**own, **given, "noise": "auto", "norm": "auto"})

    return make


def learnt_early(cls, **own):
    """The same with a design so small that the suite's few rounds get past it."""

    def make(self, domain, kernel, **options):
        optimizer = learnt(cls, **own)(self, domain, kernel, **options)
        optimizer._run.beliefs.learner.design = 3
        return optimizer

    return make


def many_lambdas(self, domain, kernel, **options):
    """Without the suite's usual λ, so that bounds for several λ are intersected."""
    return nr.GPUCB(domain, kernel, **{**options, "lam": None})


LISTS = {
    "GPUCBManyLambdas": many_lambdas,
    "BKBResampled": built(nr.BKB, width="practical", dictionary="resample"),
    "BBKBLocal": built(nr.BBKB, width="practical", batch_rule="local", qbar=0.5),
    "BBKBMinBatch": built(nr.BBKB, min_batch=3),
    "BBKBThompson": built(nr.BBKB, acquisition="thompson"),
    "RegularizedEvolution": built(nr.RegularizedEvolution, population=3, tournament=2),
    "Thompson": built(nr.ThompsonSampling, n_init=3, xi=0.1),
    "ThompsonNystrom": built(nr.ThompsonSampling, n_init=3, features="nystrom"),
    "ThompsonQuadrature": built(nr.ThompsonSampling, n_init=3, xi=0.1, features="qff"),
    "TGPUCBInBatches": built(nr.TGPUCB, features="nystrom", ratio=2.0),
    "ATAGPUCBPractical": built(nr.ATAGPUCB, width="practical"),
    "ATAGPUCBLearning": learnt(nr.ATAGPUCB, ratio=1.5),
    "HuberGPUCBLearning": learnt(nr.HuberGPUCB, ratio=2.0),
    "RobustUCBCatoni": built(nr.RobustUCB, estimator="catoni"),
    "RobustUCBMedianOfMeans": built(nr.RobustUCB, estimator="median-of-means"),
    "IGPUCBLearning": learnt_early(nr.IGPUCB),
    "PiGPUCBPaper": built(nr.PiGPUCB, width="paper", horizon=5, split="gain"),
    "PiGPUCBSparse": built(nr.PiGPUCB, width=1.0, horizon=5, local="sparse"),
    "PiGPUCBLearning": learnt_early(nr.PiGPUCB, horizon=6),
    "PlateUCBLearning": learnt(nr.PlateUCB),
}
BOXES = {
    "BBKBThompson": built(nr.BBKB, acquisition="thompson"),
    "EpsilonGreedy": built(nr.EpsilonGreedy, epsilon=0.3),
    "EpsilonGreedyLearning": learnt(nr.EpsilonGreedy),
    "Thompson": built(nr.ThompsonSampling, n_init=2, xi=0.3),
    "ThompsonFourierBatches": built(nr.ThompsonSampling, n_init=2, batch_size=3, features="rff"),
    "ThompsonQuadrature": built(nr.ThompsonSampling, n_init=2, xi=0.3, features="qff"),
    "ThompsonLearning": learnt(nr.ThompsonSampling, n_init=3, xi=0.3),
    "AsyncTSNystrom": built(nr.AsyncTS, n_init=2, features="nystrom"),
    "TrustRegionUCBLearning": learnt(nr.TrustRegionUCB, width=2.0),
    "TGPUCBLearning": learnt(nr.TGPUCB, features="nystrom", ratio=2.0),
    "ATAGPUCBInBatches": built(nr.ATAGPUCB, v=4.0, ratio=2.0),
    "ATAGPUCBQuadrature": built(nr.ATAGPUCB, v=4.0, features="qff", nodes=12),
    "ATAGPUCBLearning": learnt(nr.ATAGPUCB, ratio=2.0),
    "HuberGPUCBInBatches": built(nr.HuberGPUCB, ratio=2.0),
    "HuberGPUCBLearning": learnt(nr.HuberGPUCB, ratio=1.5, features="nystrom"),
    "ClippedGPUCBWithoutVariance": built(nr.ClippedGPUCB, alpha=0.8),
    "IGPUCBLearning": learnt_early(nr.IGPUCB),
    "PiGPUCBLearning": learnt_early(nr.PiGPUCB, local="sparse", horizon=6),
}


#: what is learnt is learnt by the same code as in the others
SLOW = {
    *("IGPUCBLearningOnAList", "IGPUCBLearningOnABox", "PiGPUCBLearningOnAList"),
    *("ATAGPUCBLearningOnAList", "TGPUCBLearningOnABox", "HuberGPUCBLearningOnABox"),
    "EpsilonGreedyLearningOnABox",
}


def suites(base, variants, where):
    """One test class a variant."""
    left_out = {name: None for name in SAME_FOR_ALL_SETTINGS if hasattr(base, name)}
    for name, make in variants.items():
        marks = {"pytestmark": pytest.mark.slow} if name + where in SLOW else {}
        title = f"Test{name}{where}"
        yield title, type(title, (base,), {"make": make, **left_out, **marks})


globals().update(suites(AlgorithmSuite, LISTS, "OnAList"))
globals().update(suites(BoxSuite, BOXES, "OnABox"))


def test_what_is_left_out_or_slow_exists():
    for name in SAME_FOR_ALL_SETTINGS:
        assert hasattr(AlgorithmSuite, name) or hasattr(BoxSuite, name), name
    assert {f"Test{name}" for name in SLOW} <= set(globals())
