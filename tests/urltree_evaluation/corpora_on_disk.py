"""Functions that write corpora to disk, for the tests of `urltree evaluate convert`."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest
import zstandard

from urltree_evaluation.corpus import Corpus
from urltree_evaluation.workspace import Workspace

SHARED = Path(__file__).parents[3] / "shared" / "data"
shared_only = pytest.mark.skipif(not SHARED.exists(), reason=f"no data at {SHARED.name}")


def page(name: str, day: int | None = None, host: str = "site.example", **more: Any) -> Any:
    """Return a record of a page with gold; `day` is a day in May 2013, or None for no date."""
    published = f"2013-05-{day:02}T00:00:00Z" if day else None
    url = f"https://{host}/{name}"
    return {"id": name, "url": url, "html": name, "gold": name, "published": published} | more


def put(file: Path, *records: dict[str, Any]) -> Path:
    """Write records as JSON Lines, compressed if the file name ends in .gz or .zst."""
    pack: dict[str, Callable[[bytes], bytes]] = {".gz": gzip.compress, ".zst": zstandard.compress}
    file.parent.mkdir(parents=True, exist_ok=True)
    lines = b"".join(orjson.dumps(record) + b"\n" for record in records)
    file.write_bytes(pack.get(file.suffix, bytes)(lines))
    return file


def order(workspace: Workspace, corpus: Corpus) -> dict[str, str]:
    """Return the ids of the pages of each part, in the order of the pages, joined by spaces."""
    parts = {part: workspace.pages(corpus.name, part) for part in corpus.parts}
    return {part: " ".join(page.id for page in pages) for part, pages in parts.items()}
