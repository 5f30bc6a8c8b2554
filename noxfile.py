"""``nox``: the tests under every Python version that the package promises to run on."""

import nox

nox.options.default_venv_backend = "venv"
VERSIONS = ["3.11", "3.12", "3.13"]


@nox.session(python=VERSIONS)
def tests(session: nox.Session) -> None:
    """The default tests; ``nox -s tests-3.13 -- tests/kernels`` runs some of them."""
    session.install("-e", ".[dev]")
    session.run("python", "-m", "pytest", *session.posargs)
