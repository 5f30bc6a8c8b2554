"""The README's example runs as printed, and the examples run."""

import re
import runpy
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_the_example_runs_as_printed(capsys):
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    example, one_line, *_ = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    variables: dict[str, object] = {}
    exec(example, variables)
    best, f = variables["best"], variables["f"]
    assert f[best.id] > f.max() - 0.05
    printed = re.findall(r"```text\n(.*?)```", text, flags=re.DOTALL)[0]
    numbers = re.compile(r"[\d.,]+")
    assert numbers.sub("#", capsys.readouterr().out) == numbers.sub("#", printed)
    exec(one_line, variables)
    best = variables["result"].best.point
    assert abs(best["a"] - 0.3) < 0.2
    assert abs(best["b"]) < 0.2


def test_the_first_page_of_the_site_has_the_same_examples():
    readme, start = ROOT / "README.md", ROOT / "docs" / "index.md"
    blocks = [
        re.findall(r"```(?:python|text)\n.*?```", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        for page in (readme, start)
    ]
    assert blocks[0] == blocks[1]


def test_the_demo_ends_with_a_recommendation_and_a_picture(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    demo = runpy.run_path(str(ROOT / "examples" / "demo.py"))
    main = demo["main"]
    main.__globals__.update(CANDIDATES=500, BUDGET=300)
    main()
    printed = capsys.readouterr().out
    for word in ("recommended", "regret", "ms each", "demo.png"):
        assert word in printed
    assert (tmp_path / "demo.png").stat().st_size > 10_000


def test_an_interrupted_demo_says_what_is_known(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    main = runpy.run_path(str(ROOT / "examples" / "demo.py"))["main"]
    nr = main.__globals__["nr"]
    plain = nr.BBKB.ask

    def impatient(self, n=None):
        if self.t > 50:
            raise KeyboardInterrupt
        return plain(self, n)

    monkeypatch.setattr(nr.BBKB, "ask", impatient)
    main.__globals__.update(CANDIDATES=500, BUDGET=300)
    main()
    assert "Stopped after" in capsys.readouterr().out
