"""Make a study in a process that dies before its k-th change of a file, for many k.

Run with the library of shim.py: python create_and_die.py FOLDER
"""

import ctypes
import os
import signal
import sys
from pathlib import Path

import numpy as np

import noregret as nr

X = np.random.default_rng(0).uniform(size=(20, 2))
arm = ctypes.CDLL(None).arm


def create(path):
    nr.Study.create(path, X, kernel=nr.RBF(0.3), noise=0.1, width="practical", seed=0).close()


def main(folder):
    k, deaths, whole = 0, 0, 0
    while True:
        k += 1 + k // 12
        path = folder / f"{k}.db"
        pid = os.fork()
        if pid == 0:
            arm(k, 0)
            create(path)
            os._exit(0)
        status = os.waitpid(pid, 0)[1]
        if status == 0:
            break
        assert os.WTERMSIG(status) == signal.SIGKILL, status
        deaths += 1
        if path.exists():
            whole += 1
        else:
            create(path)
        with nr.Study.open(path) as study:
            assert len(study.ask(1)) == 1
        left = sorted(p.name for p in folder.glob(f"{k}.db*"))
        assert left == [path.name], left
    print(deaths, whole)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
