"""A study over HTTP, with a real server on this machine."""

import queue
import re
import threading
from urllib.parse import urljoin

import numpy as np
import pytest
from servers import Serving

import noregret as nr


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


@pytest.mark.parametrize("below", ["", "/plates"])
def test_the_page_is_the_report_and_follows_the_study(library, below):
    with Serving(library, below=below) as client:
        empty = client.ok("/")
        client.ok("/api/history", {"ids": [3, 5], "values": [1.0, 2.0]})
        page = client.ok("/")
        (asked,) = re.findall(r'at = "(.*)" \+ location.search', page)
        assert urljoin(f"{client.address}/", asked) == f"{client.address}/api/status"
    assert "There are no answers yet" in empty
    assert "c005" in page
    assert "location.reload" in page


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
