"""Algorithms that learn all they can, for the suites."""


def learning(cls, domain, options, **more):
    """With "auto" settings; numbers of the suite's that should be refused are passed on."""
    usual = {"noise": 0.1, "norm": 2.0}
    given = {k: v for k, v in options.items() if k != "lam" or v <= 0}
    given |= {k: "auto" for k, v in usual.items() if given.get(k) == v}
    return cls(domain, "auto", **given, **more)
