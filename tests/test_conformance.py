"""Every algorithm passes the suite that the package ships."""

import pytest

import noregret as nr
from noregret.testing import AlgorithmSuite


class TestGPUCB(AlgorithmSuite):
    def make(self, domain, kernel, **options):
        return nr.GPUCB(domain, kernel, **options)


class TestGPBUCB(AlgorithmSuite):
    def make(self, domain, kernel, **options):
        return nr.GPBUCB(domain, kernel, **options)


class TestBKB(AlgorithmSuite):
    def make(self, domain, kernel, **options):
        return nr.BKB(domain, kernel, **options)


class TestBKBResampling(AlgorithmSuite):
    def make(self, domain, kernel, **options):
        return nr.BKB(domain, kernel, dictionary="resample", width="practical", **options)


class TestBBKB(AlgorithmSuite):
    def make(self, domain, kernel, **options):
        return nr.BBKB(domain, kernel, **options)


class TestBBKBLocal(AlgorithmSuite):
    def make(self, domain, kernel, **options):
        return nr.BBKB(domain, kernel, batch_rule="local", width="practical", qbar=0.5, **options)


class TestBBKBMinBatch(AlgorithmSuite):
    def make(self, domain, kernel, **options):
        return nr.BBKB(domain, kernel, min_batch=3, width=2.0, **options)


class TestUniform(AlgorithmSuite):
    def make(self, domain, kernel, **options):
        return nr.Uniform(domain, kernel, **options)


def test_the_suite_wants_to_know_the_algorithm():
    with pytest.raises(TypeError, match="override make"):
        AlgorithmSuite().build()
