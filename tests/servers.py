"""A server of a study in a thread of the test, and a client that speaks to it."""

import json
import socket
import threading
import urllib.error
import urllib.request

import uvicorn
from starlette.applications import Starlette
from starlette.routing import Mount

from noregret.serve import application


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
    """A server in a thread, until the block ends; ``below`` is the path of the application."""

    def __init__(self, study, token=None, below=""):
        self.study, self.token, self.below = study, token, below

    def __enter__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        app = Starlette(routes=[Mount(self.below, application(self.study, token=self.token))])
        config = uvicorn.Config(app, lifespan="off", ws="none", log_level="error")
        self.server = uvicorn.Server(config)
        self.thread = threading.Thread(target=self.server.run, args=([self.listener],))
        self.thread.start()
        address = f"http://127.0.0.1:{self.listener.getsockname()[1]}{self.below}"
        return Client(address, self.token)

    def __exit__(self, *exception):
        self.server.should_exit = True
        self.thread.join()
        self.listener.close()
