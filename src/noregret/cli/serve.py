"""``noregret serve``: a study over HTTP."""

import os
import secrets
from typing import Annotated

import typer

from noregret.cli.app import StudyPath, Wait, command, say


@command("serve", "noregret serve plates.db --port 8000")
def serve(
    study: StudyPath,
    host: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS", help="The address to listen on; 0.0.0.0 lets other machines in."
        ),
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(metavar="N", help="The port; 0 takes a free one.")] = 8000,
    wait: Wait = 0.0,
) -> None:
    """Serve a study over HTTP: programs ask and tell, people look at a page.

    The study belongs to the server until Ctrl-C: other commands can read it, not write. Requests
    must carry the token in the environment variable NOREGRET_TOKEN. Without that variable, requests
    from this machine need none; for --host with other machines a token is drawn and shown.
    """
    try:
        from noregret.serve import is_local
        from noregret.serve import serve as answer
    except ImportError as error:
        raise ValueError(str(error)) from error
    from noregret.study import Study

    token = os.environ.get("NOREGRET_TOKEN") or None
    if token is None and not is_local(host):
        token = secrets.token_urlsafe(24)
        say(f"Requests must carry this token: {token}")
    with Study.open(study, wait=wait) as opened:
        answer(
            opened,
            host=host,
            port=port,
            token=token,
            ready=lambda address: say(f"{study} is at {address} (Ctrl-C ends)."),
        )
    say("The server has ended; all answers are stored.")
