"""Programs end with the run that started them."""

import os
import signal
import subprocess
import sys
import time

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "killpg"), reason="needs process groups")

PROGRAM = """
import os, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-I", "-S", "-c", "import time; time.sleep(600)"])
with open(sys.argv[1] + ".new", "w") as file:
    file.write(f"{os.getpid()} {child.pid}")
os.rename(sys.argv[1] + ".new", sys.argv[1])
time.sleep(600)
"""

RUN = """
import signal, sys
from noregret.study.evaluating.command import Command
# Background jobs of a shell ignore Ctrl-C, and so would this one.
signal.signal(signal.SIGINT, signal.default_int_handler)
Command(sys.argv[1], [])({})
"""


def exists(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def wait_for(condition):
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="needs /proc")
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_killed_run_takes_its_programs_along(tmp_path, how):
    program, noted = tmp_path / "program.py", tmp_path / "pids"
    program.write_text(PROGRAM)
    words = f"{sys.executable} -I -S {program} {noted}"
    run = subprocess.Popen([sys.executable, "-c", RUN, words])
    wait_for(noted.exists)
    pids = [int(pid) for pid in noted.read_text().split()]
    assert all(exists(pid) for pid in pids)
    run.send_signal(how)
    run.wait()
    wait_for(lambda: not any(exists(pid) for pid in pids))
