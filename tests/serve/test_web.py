"""Requests over HTTP that are refused, tokens, and the command that serves."""

import re
import signal
import subprocess
import sys

import numpy as np
import pytest
from servers import Client, Serving

import noregret as nr
from noregret.serve import serve
from noregret.study import LockedError


@pytest.mark.parametrize(
    ("path_", "body", "code", "words"),
    [
        ("/api/tell", {"trials": [0]}, 400, "values"),
        ("/api/tell", {"trials": [99], "values": [1.0]}, 400, "99"),
        ("/api/tell", {"trials": 0, "values": 1.0}, 400, "trials must be a list"),
        ("/api/tell", {"values": [1.0]}, 400, "trials must be given"),
        ("/api/history", {"ids": [0], "values": ["x"]}, 400, "values"),
        ("/api/ask", {"n": 0}, 400, "n must be"),
        ("/api/ask", {"n": "8"}, 400, "n must be"),
        ("/api/ask", {"number": 8}, 400, "'number' is not a field"),
        ("/api/ask", {"adaptive": 1}, 400, "adaptive must be true or false"),
        ("/api/ask", [1], 400, "JSON object"),
        ("/api/ask", b"{", 400, "must be JSON"),
        ("/api/ask", b'{"n": NaN}', 400, "NaN"),
        ("/api/ask", b"[" * 100_000, 400, "must be JSON"),
        ("/api/ask", b" " * (1 << 24) + b"{}", 413, "bytes at most"),
        ("/api/history", {"values": [1.0]}, 400, "one of ids, names and points"),
        ("/api/best", None, 400, "no answers yet"),
        ("/api/best?top=x", None, 400, "top must be a whole number"),
        ("/api/trials?status=open", None, 400, "status must be"),
        ("/api/tell", None, 405, "there is GET /, GET /api/status"),
        ("/nothing", None, 404, "GET /nothing is unknown"),
    ],
)
def test_wrong_requests_are_refused_and_change_nothing(library, path_, body, code, words):
    with Serving(library) as client:
        found, answer = client.request(path_, body)
    assert found == code
    assert words in (answer["error"] if isinstance(answer, dict) else answer)
    assert not len(library.trials())


def test_requests_from_other_sites_are_refused(library):
    with Serving(library) as client:
        code, _ = client.request("/api/ask", b"{}", **{"Content-Type": "text/plain"})
        assert code == 415
        code, answer = client.request("/api/status", Host="attacker.example")
        assert code == 400
        assert "host" in answer.lower()


def test_a_token_is_asked_for(library):
    with Serving(library, token="seed-and-soil") as client:
        assert client.ok("/api/status")["counts"]["told"] == 0
        assert client.request("/?token=seed-and-soil")[0] == 200
        client.token = "wrong"
        code, answer = client.request("/api/ask", {"n": 1})
        assert code == 401
        assert "token" in answer["error"]
        code, words = client.request("/")
        assert code == 401
        assert "?token=TOKEN" in words
    assert not len(library.trials())


def test_addresses_that_others_can_reach_need_a_token(library):
    with pytest.raises(ValueError, match="token must be given"):
        serve(library, host="0.0.0.0")
    with pytest.raises(ValueError, match="port must be"):
        serve(library, port=70_000)


def test_the_command_serves_until_it_is_interrupted(tmp_path):
    path = tmp_path / "a.db"
    nr.Study.create(path, np.random.default_rng(0).uniform(size=(30, 2)), seed=0).close()
    command = [sys.executable, "-m", "noregret", "serve", str(path), "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        address = re.search(r"http://\S+", process.stderr.readline())[0]
        client = Client(address)
        client.ok("/api/ask", {"n": 3})
        client.ok("/api/tell", {"trials": [0, 1], "values": [0.1, 0.2]})
        try:
            with pytest.raises(LockedError, match=f"process {process.pid}"):
                nr.Study.open(path)
        finally:
            process.send_signal(signal.SIGINT)
        said = process.stderr.read()
        assert process.wait() == 0
    assert "The server has ended" in said
    with nr.Study.open(path) as study:
        assert study.counts() == {"pending": 1, "told": 2, "failed": 0, "history": 0}
