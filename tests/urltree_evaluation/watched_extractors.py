"""Run all extractors on pages that invite requests, and print every effect outside the process.

This is a script of its own, because an audit hook cannot be removed before the process ends.
"""

from __future__ import annotations

import os
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

INVITING = """<html lang="{language}"><head><base href="https://site.example/">
<meta http-equiv="refresh" content="0; url=https://elsewhere.example/">
<meta property="og:image" content="https://images.example/1.png">
<link rel="canonical" href="https://canonical.example/"></head>
<body><article><h1>Title</h1><img src="https://images.example/2.png">{text}</article></body></html>
"""
PARAGRAPHS = {
    "en": "<p>A paragraph with enough words in it for every one of the tools to be content.</p>"
    * 9,
    "zh": "<p>这是一个关于网页内容提取的长句子。它有很多字。</p>" * 9,
}
PAGES = {
    language: INVITING.format(language=language, text=PARAGRAPHS[language])
    for language in PARAGRAPHS
}
BROKEN = ["", " ", "<!-- nothing -->", "no tags", "<p>\0</p>", "<p></p>", "</div></div>"]
TEMPORARY = Path(tempfile.gettempdir()).resolve()  # this call precedes the audit hook
REACHED: list[str] = []


def notice(event: str, arguments: tuple[Any, ...]) -> None:
    """As an audit hook, record requests, processes, and writes outside the temporary folder."""
    if event in {"socket.connect", "socket.getaddrinfo", "socket.sendto", "subprocess.Popen"}:
        REACHED.append(f"{event} {arguments[1:]}")
    if (event == "os.mkdir" or _is_write(event, arguments)) and not _is_temporary(arguments[0]):
        REACHED.append(f"{event} {arguments[0]}")


def _is_write(event: str, arguments: tuple[Any, ...]) -> bool:
    """Return whether a file is opened for writing, by `open` or by `os.open`.

    `open` of a file descriptor is ignored, because the call of `os.open` was already recorded.
    """
    if event != "open" or isinstance(arguments[0], int):
        return False
    _, mode, flags = arguments
    return bool(set(mode) & set("wax+")) if mode else bool(flags & (os.O_WRONLY | os.O_RDWR))


def _is_temporary(path: object) -> bool:
    return Path(str(path)).resolve().is_relative_to(TEMPORARY)


def main() -> None:
    """Run all extractors, then print each recorded event on a line."""
    sys.addaudithook(notice)
    from urltree_evaluation import CorpusPage  # noqa: PLC0415 - imports are watched, too
    from urltree_evaluation.extractors import catalogue  # noqa: PLC0415

    found, _ = catalogue.load_extractors()
    for extractor in found.values():
        extract = extractor.make()
        for number, html in enumerate([*PAGES.values(), *BROKEN]):
            url = f"https://site.example/{number}"
            for each in (CorpusPage(url, url, "site.example", html), CorpusPage("", "", "", html)):
                with suppress(Exception):  # extractors may raise for a broken page
                    extract(each)
    print("\n".join(REACHED), end="")  # noqa: T201 - the test reads it


if __name__ == "__main__":
    main()
