import sys
import tracemalloc

import pytest

import noregret as nr
from noregret.study.evaluating.command import Command, CommandError


def python(code):
    return f"{sys.executable} -c '{code}' {{a}} {{name}}"


def test_the_last_line_is_the_value():
    command = Command(
        python('import sys; print("hello"); print(2 * float(sys.argv[1]))'), ["a", "name"]
    )
    assert command({"a": 1.25, "name": "x"}) == 2.5


def test_values_stay_one_word_and_are_no_code(tmp_path):
    code = "import sys; assert len(sys.argv) == 3; print(len(sys.argv[2]))"
    command = Command(python(code), ["a", "name"])
    nasty = "$(touch pwned); `touch pwned` {a} 'x' \"y\" && touch pwned"
    assert command({"a": 1, "name": nasty}) == len(nasty)
    assert command.arguments({"a": 0.1, "name": nasty})[-1] == nasty
    assert not (tmp_path / "pwned").exists()


@pytest.mark.parametrize("template", ["run {c}", "run {a.__class__}", "run {0}", "run {}"])
def test_only_known_fields_are_replaced(template):
    with pytest.raises(ValueError, match="there is only a, name"):
        Command(template, ["a", "name"])


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ('import sys; sys.exit("out of ink")', "exit code 1; stderr: out of ink"),
        ("pass", "the last line must be the value, but it printed nothing"),
        ('print("five")', "got 'five'"),
        ('print("nan")', "finite"),
        ("import os; os.kill(os.getpid(), 11)", "ended by signal 11"),
        ("import time; time.sleep(60)", r"killed after 0\.5 s"),
    ],
)
def test_how_a_program_failed_is_said(code, message):
    command = Command(python(code), ["a", "name"], timeout=0.5 if "sleep" in code else None)
    with pytest.raises(CommandError, match=message):
        command({"a": 1, "name": "x"})


def test_the_last_line_says_how_a_program_failed(tmp_path):
    code = 'import sys; print("low", "out of ink", sep=chr(10), file=sys.stderr); sys.exit(3)'
    with pytest.raises(CommandError) as caught:
        Command(python(code), ["a", "name"])({"a": 1, "name": "x"})
    assert str(caught.value).splitlines() == [
        "The end of stderr:",
        "low",
        "out of ink",
        "",
        "exit code 3; stderr: out of ink",
    ]


def test_a_program_may_print_more_than_fits_in_memory():
    code = 'import sys; [print("x" * 999, file=f) for _ in range(40000) for f in FILES]; print(5)'
    code = code.replace("FILES", "(sys.stdout, sys.stderr)")
    command = Command(python(code), ["a", "name"])
    tracemalloc.start()
    try:
        assert command({"a": 1, "name": "x"}) == 5.0
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 4e6


def test_a_study_keeps_what_the_program_said_and_no_traceback(tmp_path):
    with nr.Study.create(tmp_path / "a.db", [[0.0], [1.0]], "uniform", kernel=nr.RBF(1.0)) as study:
        command = Command(python('import sys; sys.exit("out of ink")'), ["a", "name"])
        study.run(lambda x: command({"a": x[0], "name": "x"}), 2, count_failed=True)
        reasons = study.trials()["reason"].to_list()
    assert set(reasons) == {"exit code 1; stderr: out of ink"}


def test_a_program_that_does_not_exist():
    with pytest.raises(ValueError, match="there is no program no-such-program-here"):
        Command("no-such-program-here {a}", ["a"])
    with pytest.raises(CommandError, match="cannot be started"):
        Command("{a}", ["a"])({"a": "no-such-program-here"})
    with pytest.raises(ValueError, match="split"):
        Command("run 'unclosed", [])
    with pytest.raises(ValueError, match="name a program"):
        Command("  ", [])


def test_commands_that_would_fail_in_every_trial_are_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    script = tmp_path / "measure.sh"
    script.write_text("#!/bin/sh\necho 1\n")
    with pytest.raises(ValueError, match="not executable"):
        Command("./measure.sh {a}", ["a"])
    script.chmod(0o755)
    with pytest.raises(ValueError, match=r"did you mean \./measure\.sh"):
        Command("measure.sh {a}", ["a"])
    with pytest.raises(ValueError, match=r"the word '\|', but no shell"):
        Command("./measure.sh {a} | tail -1", ["a"])
    assert Command("sh -c './measure.sh | tail -1'", ["a"])({"a": 1}) == 1.0


@pytest.mark.parametrize("timeout", [0.0, -1.0, float("nan"), float("inf"), 1e7])
def test_a_timeout_that_would_fail_every_trial_is_refused(timeout):
    with pytest.raises(ValueError, match="timeout must"):
        Command("true", [], timeout)
