"""A study over HTTP, with a real server on this machine."""

import json
import queue
import re
import signal
import socket
import subprocess
import sys
import threading
import urllib.error
import urllib.request

import numpy as np
import polars as pl
import pytest
import uvicorn

import noregret as nr
from noregret.serve import application, serve
from noregret.study import LockedError


class Client:
    """A program that speaks to a server."""

    def __init__(self, address, token=None):
        self.address, self.token = address, token

    def request(self, path, body=None, **headers):
        """The status code and the answer, as JSON where it is JSON."""
        if self.token is not None:
            headers["Authorization"] = f"Bearer {self.token}"
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
        if body is not None:
            headers.setdefault("Content-Type", "application/json")
        made = urllib.request.Request(self.address + path, data=body, headers=headers)
        try:
            with urllib.request.urlopen(made) as answer:
                code, kind, text = answer.status, answer.headers["content-type"], answer.read()
        except urllib.error.HTTPError as error:
            with error:
                code, kind, text = error.code, error.headers["content-type"], error.read()
        return code, json.loads(text) if kind == "application/json" else text.decode()

    def ok(self, path, body=None):
        code, answer = self.request(path, body)
        assert code == 200, answer
        return answer


class Serving:
    """A server in a thread, until the block ends."""

    def __init__(self, study, token=None):
        self.study, self.token = study, token

    def __enter__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        app = application(self.study, token=self.token)
        config = uvicorn.Config(app, lifespan="off", ws="none", log_level="error")
        self.server = uvicorn.Server(config)
        self.thread = threading.Thread(target=self.server.run, args=([self.listener],))
        self.thread.start()
        return Client(f"http://127.0.0.1:{self.listener.getsockname()[1]}", self.token)

    def __exit__(self, *exception):
        self.server.should_exit = True
        self.thread.join()
        self.listener.close()


@pytest.fixture
def library(path):
    """A study over 60 named candidates."""
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(60, 2))
    table = pl.DataFrame({"a": X[:, 0], "b": X[:, 1]})
    names = [f"c{i:03}" for i in range(60)]
    with nr.Study.create(path, X, names=names, table=table, seed=0) as study:
        yield study


def test_programs_ask_tell_and_look(library):
    with Serving(library) as client:
        plate = client.ok("/api/ask", {"n": 12})["trials"]
        assert [row["trial"] for row in plate] == list(range(12))
        values = [row["point"]["a"] + row["point"]["b"] for row in plate]
        told = client.ok("/api/tell", {"trials": list(range(10)), "values": values[:10]})
        assert told["counts"]["told"] == 10
        client.ok("/api/tell", {"trials": [10, 11], "failed": "the pump was stuck"})
        status = client.ok("/api/status")
        best = client.ok("/api/best?top=3")
        pending = client.ok("/api/trials?status=failed")
    assert (status["counts"]["failed"], status["candidates"]) == (2, 60)
    assert len(best["best"]) == 3
    assert best["best"][0]["name"] == library.name_of(library.best().id, None)
    assert [row["reason"] for row in pending["trials"]] == ["the pump was stuck"] * 2
    assert library.counts()["told"] == 10


def test_the_same_answers_as_in_python(library, tmp_path):
    with nr.Study.create(tmp_path / "b.db", library.domain, seed=0) as other, Serving(library) as c:
        for _ in range(3):
            asked = other.ask(8)
            rows = c.ok("/api/ask", {"n": 8})["trials"]
            assert [row["id"] for row in rows] == asked.ids.tolist()
            values = np.sin(5 * asked.points[:, 0])
            other.tell(asked, values)
            c.ok("/api/tell", {"trials": list(asked), "values": values.tolist()})


def test_history_by_name_and_by_id(library):
    with Serving(library) as client:
        client.ok("/api/history", {"names": ["c007", "c003"], "values": [1.0, 2.0]})
        client.ok("/api/history", {"ids": [7], "values": [1.5]})
        assert client.ok("/api/best")["gap"] is None  # nothing has been learnt yet
        code, answer = client.request("/api/history", {"names": ["c999"], "values": [1.0]})
    assert library.trials()["id"].to_list() == [7, 3, 7]
    assert code == 400
    assert "c999" in answer["error"]


def test_a_space_of_typed_parameters(path):
    act = nr.Choice(["relu", "tanh"])
    space = {"lr": nr.Float(1e-4, 1, log=True), "layers": nr.Int(1, 4), "act": act}
    with nr.Study.create(path, nr.Space(space), seed=0) as study, Serving(study) as client:
        (row,) = client.ok("/api/ask", {"n": 1})["trials"]
        assert set(row["point"]) == {"lr", "layers", "act"}
        assert isinstance(row["point"]["layers"], int)
        client.ok("/api/tell", {"trials": [0], "values": [0.5]})
        point = {"lr": 0.1, "layers": 2, "act": "tanh"}
        told = client.ok("/api/history", {"points": [point], "values": [0.7]})
        assert told["counts"]["told"] == 2


def test_the_page_is_the_report_and_follows_the_study(library):
    with Serving(library) as client:
        empty = client.ok("/")
        client.ok("/api/history", {"ids": [3, 5], "values": [1.0, 2.0]})
        page = client.ok("/")
    assert "There are no answers yet" in empty
    assert "c005" in page
    assert "location.reload" in page


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
        assert client.request("/")[0] == 401
    assert not len(library.trials())


def test_addresses_that_others_can_reach_need_a_token(library):
    with pytest.raises(ValueError, match="token must be given"):
        serve(library, host="0.0.0.0")
    with pytest.raises(ValueError, match="port must be"):
        serve(library, port=70_000)


def test_many_clients_at_once_get_different_trials(library):
    found = queue.Queue()

    def work():
        for _ in range(5):
            (row,) = client.ok("/api/ask", {"n": 1})["trials"]
            client.ok("/api/tell", {"trials": [row["trial"]], "values": [row["point"]["a"]]})
            found.put(row["trial"])

    with Serving(library) as client:
        workers = [threading.Thread(target=work) for _ in range(4)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    assert sorted(found.queue) == list(range(20))
    assert library.counts()["told"] == 20


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
