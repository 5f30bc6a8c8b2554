"""Charts as parts of a page."""

from noregret.reporting.svg import Chart, rows_chart, shortened

LONG = "calculated partition coefficient between octanol and water at 25 °C, neutral form"


def test_long_names_are_shortened_in_the_middle():
    short = shortened(LONG)
    assert len(short) == 44
    assert short == "calculated partition c…r at 25 °C, neutral form"[:22] + "…" + LONG[-21:]
    assert shortened("MW\n[g/mol]") == "MW [g/mol]"
    assert shortened("a" * 44) == "a" * 44


def test_a_shortened_name_has_all_of_it_as_a_tooltip():
    for drawn in (
        Chart("t", LONG).line([0, 1], [0, 1]).render(),
        rows_chart("t", "x", [LONG], [1.0]),
        rows_chart("t", LONG, ["a"], [1.0]),
    ):
        assert f">{shortened(LONG)}<title>{LONG}</title></text>" in drawn
    assert "<title>" not in Chart("t", "short").line([0, 1], [0, 1]).render()
