"""A study over HTTP: programs in any language ask and tell, people look at a page.

Needs Starlette and uvicorn: ``pip install "noregret[serve]"``.
"""

import contextlib
import ipaddress
import socket
from collections.abc import Callable

try:
    import uvicorn
    from starlette.applications import Starlette
except ImportError as error:
    raise ImportError(
        'noregret.serve needs Starlette and uvicorn: pip install "noregret[serve]"'
    ) from error

from noregret import _checks
from noregret.serve.api import Api
from noregret.serve.web import application as _application
from noregret.study import Study

__all__ = ["application", "is_local", "serve"]

#: host names that requests without a token may use
_LOCAL = ("localhost", "127.0.0.1", "[::1]")


def application(study: Study, *, token: str | None = None) -> Starlette:
    """A study as an ASGI application, to be mounted in a server of your own.

    Parameters
    ----------
    study
        Open for writing. Its file belongs to this process as long as the study is open.
    token
        What every request must carry as ``Authorization: Bearer TOKEN`` (a browser: ``?token=``).
        Without a token only requests to ``localhost`` are answered.
    """
    return _application(Api(study), token, ("*",) if token else _LOCAL)


def serve(
    study: Study,
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    token: str | None = None,
    ready: Callable[[str], None] | None = None,
) -> None:
    """Answer requests until the program is interrupted.

    Parameters
    ----------
    study
        Open for writing.
    host, port
        The address to listen on; port 0 takes a free one. An address that other machines can reach
        needs a ``token``.
    token
        See :func:`application`.
    ready
        Called with the address, such as ``"http://127.0.0.1:8000"``, once it can be reached.
    """
    if not token and not is_local(host):
        raise ValueError(f"token must be given if other machines can reach the host: {host!r}")
    with _listening(host, _port(port)) as listener:
        address = listener.getsockname()
        shown = f"[{address[0]}]" if ":" in address[0] else address[0]
        config = uvicorn.Config(
            application(study, token=token), lifespan="off", ws="none", log_level="warning"
        )
        if ready is not None:
            ready(f"http://{shown}:{address[1]}")
        # The server finishes its requests first, then raises the interrupt again.
        with contextlib.suppress(KeyboardInterrupt):
            uvicorn.Server(config).run(sockets=[listener])


def is_local(host: str) -> bool:
    """Whether only programs on this machine can reach a host."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _port(port: int) -> int:
    checked = int(_checks.not_negative("port", port))
    if checked > 65_535 or checked != port:
        raise ValueError(f"port must be a whole number from 0 to 65535, got {port}")
    return checked


def _listening(host: str, port: int) -> socket.socket:
    """A socket that takes connections from now on."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        return socket.create_server(found[0][4][:2], family=found[0][0])
    except OSError as error:
        raise OSError(f"cannot listen on {host}, port {port}: {error.strerror}") from error
