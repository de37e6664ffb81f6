"""The HTML file around a payload: a strict content policy, the program and the styles it allows, and the data.

The page is the same program for every report; only the payload differs. It is data to the browser and never runs:
names from the recorded program are inside of it.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Any, Final

from rlprof._version import __version__
from rlprof.model.clean import clean_text

#: The longest text of the recorded program that the page shows.
LONGEST: Final = 2000
#: How a page of ours begins, so that no other file is taken for one.
OPENING: Final = (
    '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="generator" content="rlprof '
)

#: Characters that could end the data block, or a line of a program, are written as escapes.
_ESCAPES: Final = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"}

_PAGE: Final = """{opening}{version}">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<link rel="icon" href="data:,">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<div id="page"><main class="waiting"><h1>{title}</h1><p>{summary}</p></main></div>
<noscript><p class="waiting">The charts and tables of this page are drawn by a script that is part of the file. Without
scripts, <code>rlprof report RECORDING --text -</code> shows the same figures.</p></noscript>
<script type="application/json" id="payload">{payload}</script>
<script>{script}</script>
</body>
</html>
"""


def document(payload: Mapping[str, Any], title: str, summary: str) -> str:
    """One self-contained file. `title` and `summary` are what is there before anything is drawn."""
    script, style = asset("report.js"), asset("report.css")
    return _PAGE.format(
        opening=OPENING,
        version=html.escape(__version__),
        policy=html.escape(content_policy(script, style)),
        title=html.escape(clean_text(title, 300)),
        summary=html.escape(clean_text(summary, LONGEST)),
        style=style,
        payload=embedded(payload),
        script=script,
    )


def content_policy(script: str, style: str) -> str:
    """Nothing is loaded, sent or framed; only this script and these styles count."""
    return (
        f"default-src 'none'; script-src '{_fingerprint(script)}'; style-src '{_fingerprint(style)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def embedded(payload: Mapping[str, Any]) -> str:
    """JSON that no reader of HTML can take for anything else."""
    text = json.dumps(harmless(payload), ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.translate(_ESCAPES)


def harmless(value: Any) -> Any:
    """Every text in it on one line, with what could steer a reader shown instead of obeyed."""
    if isinstance(value, str):
        return clean_text(value, LONGEST)
    if isinstance(value, Mapping):
        return {clean_text(str(key), LONGEST): harmless(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [harmless(item) for item in value]
    return value


def asset(name: str) -> str:
    """A file that was built from web/ and is part of the package."""
    return files("rlprof.render.page").joinpath("assets").joinpath(name).read_text(encoding="utf-8")


def _fingerprint(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"
