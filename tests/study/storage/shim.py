"""Faults at the level of system calls: a small library that is loaded before the C library.

It counts the calls that change files and, when armed, kills the process before the k-th one or
makes it fail.
"""

import os
import shutil
import subprocess
import sys

import pytest

SOURCE = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/types.h>
#include <unistd.h>

static long left = -1;
static int fault = 0;

void arm(long calls, int error) { left = calls; fault = error; }

static int due(void) {
    if (left < 0 || --left > 0) return 0;
    left = -1;
    if (fault) { errno = fault; return 1; }
    kill(getpid(), SIGKILL);
    pause();
    return 0;
}

#define WRAP(result, name, signature, call) \
    result name signature { \
        static result (*real) signature; \
        if (!real) real = dlsym(RTLD_NEXT, #name); \
        if (due()) return -1; \
        return real call; \
    }

WRAP(ssize_t, write, (int f, const void *b, size_t n), (f, b, n))
WRAP(ssize_t, pwrite, (int f, const void *b, size_t n, off_t o), (f, b, n, o))
WRAP(ssize_t, pwrite64, (int f, const void *b, size_t n, off64_t o), (f, b, n, o))
WRAP(int, fsync, (int f), (f))
WRAP(int, fdatasync, (int f), (f))
WRAP(int, ftruncate, (int f, off_t n), (f, n))
WRAP(int, ftruncate64, (int f, off64_t n), (f, n))
WRAP(int, unlink, (const char *p), (p))
WRAP(int, rename, (const char *a, const char *b), (a, b))
"""


def run_with_shim(folder, script, *arguments):
    """Run a Python script with the library loaded; what it printed."""
    if sys.platform != "linux" or shutil.which("gcc") is None:
        pytest.skip("needs gcc and Linux")
    source, library = folder / "shim.c", folder / "shim.so"
    source.write_text(SOURCE)
    compile_ = ["gcc", "-shared", "-fPIC", "-o", str(library), str(source), "-ldl"]
    subprocess.run(compile_, check=True)
    done = subprocess.run(
        [sys.executable, str(script), *map(str, arguments)],
        env=os.environ | {"LD_PRELOAD": str(library)},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
