"""Robust UCB beside the others: runs are shared with Figure 1 (e)."""

from noregret.experiments.registry import find


def test_figures_share_their_tasks():
    """Appendix E's runs on the sensors are those of Figure 1 (e), where both have them."""
    e = find("heavy-fig1e")
    robust = find("heavy-robust")
    keys = [{task.key for task in one.tasks(one.settings())} for one in (e, robust)]
    shared = [task for task in robust.tasks(robust.settings()) if task.key in keys[0]]
    names = {task.arguments.get("algorithm") for task in shared}
    assert names == {"tgp", "nystrom", "huber", "clipped", None}
    assert len(shared) == 4 * robust.settings()["runs"] + 2
