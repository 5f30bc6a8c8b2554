"""Mends the reference pages of the site: links of docstrings, signatures of algorithms.

References such as :class:`~noregret.BBKB` become links. Algorithms take ``domain`` and ``kernel``
by position too, which the tool that reads the source for MkDocs does not see.
"""

import html as text
import re
from typing import Any

from mkdocs.utils import get_relative_url

_ROLE = re.compile(r":(?:class|func|meth|mod|attr|data|exc):<code>([^<]+)</code>")
_STAR = r'(\n    <span class="o">\*</span><span class="p">,</span>)'
_BY_POSITION = r'((?:\n    <span class="n">(?:domain|kernel)</span>[^\n]*){2})'


def on_page_content(html: str, page: Any, **_: Any) -> str:
    """MkDocs calls this for every page, once its text is HTML."""
    proofs = get_relative_url("understand/proofs/", page.url)
    html = html.replace("the Proofs page", f'<a href="{proofs}">the Proofs page</a>')
    html = re.sub(_STAR + _BY_POSITION, r"\2\1", html)
    return _ROLE.sub(_as_link, html)


def _as_link(role: re.Match[str]) -> str:
    """A link to a name of the package; other names are shown as code.

    ``~a.b.C`` is shown as ``C``, ``words <a.b.C>`` as ``words``, as in Sphinx.
    """
    words, _, target = text.unescape(role[1]).partition(" <")
    target = target.rstrip(">") or words.removeprefix("~")
    shown = words.rpartition(".")[2] if words.startswith("~") else words
    code = f"<code>{text.escape(shown.removeprefix('noregret.'))}</code>"
    if not target.startswith("noregret."):
        return code
    # Optional: a name without a place in the reference stays code, without a warning.
    return f'<autoref identifier="{target}" optional>{code}</autoref>'
