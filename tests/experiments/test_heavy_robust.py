"""Robust UCB beside the others: runs are shared with Figure 1 (e)."""

from noregret.experiments.registry import find


def test_figures_share_their_cells():
    """Appendix E's runs on the sensors are those of Figure 1 (e), where both have them."""
    e = find("heavy-fig1e")
    robust = find("heavy-robust")
    keys = [{cell.key for cell in one.cells(one.settings())} for one in (e, robust)]
    shared = [cell for cell in robust.cells(robust.settings()) if cell.key in keys[0]]
    names = {cell.arguments.get("algorithm") for cell in shared}
    assert names == {"tgp", "nystrom", "huber", None}
    assert len(shared) == 3 * robust.settings()["runs"] + 1
