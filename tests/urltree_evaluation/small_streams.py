"""Streams for the tests of the gate: two sites with 21 pages each, of which 3 pages are scored."""

from __future__ import annotations

from pathlib import Path
from string import ascii_lowercase

import orjson
import zstandard

SITES = ("one.example", "two.example")
PAGES = 21  # number of pages of a stream; the 1st, the 11th and the 21st page are scored


def two_streams(folder: Path) -> Path:
    """Write a stream for each site into the folder, and return the folder."""
    folder.mkdir(exist_ok=True)
    for site in SITES:
        write_stream(folder, site)
    return folder


def write_stream(
    folder: Path,
    site: str,
    menu: str = "Menu",
    stories: str = ascii_lowercase[:PAGES],
    path: str = "{name}",
) -> None:
    """Write a stream whose pages have a menu, a heading and an article.

    Each letter of `stories` is the name of a page.
    """
    lines = [
        orjson.dumps(
            {
                "url": f"https://{site}/{path.format(name=name, number=number)}",
                "title": f"Story {name}",
                "published": f"2020-01-{number:02}T00:00:00Z",
                "html": f"<title>Story</title><ul class=menu><li>{menu}</ul>"
                f"<h1>Story {name}</h1><p>This is told on page {name} of {site}.</p>",
                "gold": f"Story {name}\nThis is told on page {name} of {site}.",
            }
        )
        for number, name in enumerate(stories, start=1)
    ]
    packed = zstandard.compress(b"\n".join(lines) + b"\n")
    (folder / f"{site}.jsonl.zst").write_bytes(packed)
