"""Requests and answers: JSON in and out, tokens, errors as status codes."""

import hmac
import json
from collections.abc import Callable, Sequence
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from noregret._json import dumps
from noregret.serve.api import Api, Given
from noregret.study import DamagedError, FullError

#: how many bytes a request may have
_LARGEST = 1 << 24

#: reloads the page when the study has changed; the address is relative, as other servers may have
#: this application below a path of theirs
_RELOAD = """<script>
const at = "api/status" + location.search;
let seen = null;
setInterval(async () => {
  const found = await (await fetch(at)).json();
  const now = JSON.stringify([found.changes, found.counts]);
  if (seen !== null && seen !== now) location.reload();
  seen = now;
}, 5000);
</script>"""


class _RefusedError(Exception):
    """A request that is not carried out, with its status code."""

    def __init__(self, code: int, words: str) -> None:
        super().__init__(words)
        self.code = code


def application(api: Api, token: str | None, hosts: Sequence[str]) -> Starlette:
    """The paths of ``api``; requests to other hosts and without the token are refused."""
    routes = [Route("/", _page(api, token), methods=["GET"])]
    for name, look in api.looks().items():
        routes.append(Route(f"/api/{name}", _answering(look, _query, token), methods=["GET"]))
    for name, change in api.changes().items():
        routes.append(Route(f"/api/{name}", _answering(change, _body, token), methods=["POST"]))
    known = [
        f"{'/'.join(sorted(one.methods - {'HEAD'}))} {one.path}" for one in routes if one.methods
    ]

    async def refuse(request: Request, error: Exception) -> Response:
        """What there is, for requests that lead nowhere."""
        code = getattr(error, "status_code", 404)
        words = f"{request.method} {request.url.path} is unknown; there is {', '.join(known)}"
        return _json_response({"error": words}, code)

    guard = Middleware(TrustedHostMiddleware, allowed_hosts=list(hosts), www_redirect=False)
    return Starlette(
        routes=routes, middleware=[guard], exception_handlers={404: refuse, 405: refuse}
    )


def _answering(
    work: Callable[[Given], Any], read: Callable[[Request], Any], token: str | None
) -> Callable[[Request], Any]:
    """A handler that reads a request, works on it in a thread, and answers by JSON."""

    async def answer(request: Request) -> Response:
        try:
            _check_token(request, token)
            return _json_response(await run_in_threadpool(work, await read(request)))
        except Exception as error:
            return _json_response({"error": _words(error)}, _code(error))

    return answer


def _page(api: Api, token: str | None) -> Callable[[Request], Any]:
    async def answer(request: Request) -> Response:
        try:
            _check_token(request, token)
            page = await run_in_threadpool(api.page)
        except Exception as error:
            return Response(_words(error), _code(error), media_type="text/plain")
        return HTMLResponse(page.replace("</body>", f"{_RELOAD}\n</body>"))

    return answer


async def _query(request: Request) -> Given:
    """The fields after the question mark, without the token."""
    return {key: value for key, value in request.query_params.items() if key != "token"}


async def _body(request: Request) -> Given:
    """The JSON object of a request; an empty body counts as an empty object."""
    # From other sites, browsers send this type only if allowed, so other pages cannot post here.
    kind = request.headers.get("content-type", "").split(";")[0].strip()
    if kind != "application/json":
        raise _RefusedError(415, "the request must have Content-Type: application/json")
    data = bytearray()
    async for chunk in request.stream():
        data += chunk
        if len(data) > _LARGEST:
            raise _RefusedError(413, f"a request may have {_LARGEST:,} bytes at most")
    try:
        given = json.loads(bytes(data) or b"{}", parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise _RefusedError(400, f"the request must be JSON: {error}") from error
    if not isinstance(given, dict):
        raise _RefusedError(400, "the request must be a JSON object")
    return given


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a number")


def _check_token(request: Request, token: str | None) -> None:
    if token is None:
        return
    given = request.headers.get("authorization", "").removeprefix("Bearer ")
    given = given or request.query_params.get("token", "")
    if not hmac.compare_digest(given.encode(), token.encode()):
        raise _RefusedError(
            401,
            "the request must carry the token, as Authorization: Bearer TOKEN, or in a browser as "
            "?token=TOKEN behind the address",
        )


def _code(error: Exception) -> int:
    if isinstance(error, _RefusedError):
        return error.code
    if isinstance(error, FullError):
        return 507
    if isinstance(error, (ValueError, TypeError)) and not isinstance(error, DamagedError):
        return 400
    return 500


def _words(error: Exception) -> str:
    return str(error) or type(error).__name__


def _json_response(value: Any, code: int = 200) -> Response:
    return Response(dumps(value), code, media_type="application/json")
