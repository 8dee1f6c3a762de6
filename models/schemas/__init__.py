"""JSON Schemas of the records, generated from the record types.

The `.json` files beside this module are the output of `generated`, written by `make generate`.
Only `topics.json` is written by hand: it describes a settings file, which has no record type.
"""

from __future__ import annotations

import json

from models.schemas.feeds import FEEDS, FETCHES, POLL_OUTCOMES
from models.schemas.pages import CLEAN_TEXT, DEAD_LETTERS, DOCUMENTS, DUPLICATES, RAW_HTML

_ALL = (RAW_HTML, DOCUMENTS, CLEAN_TEXT, DUPLICATES, DEAD_LETTERS, FEEDS, FETCHES, POLL_OUTCOMES)


def generated() -> dict[str, bytes]:
    """Return the text of each generated schema by the name of its file."""
    return {
        f"{schema['title']}.json": json.dumps(schema, indent=2, ensure_ascii=False).encode() + b"\n"
        for schema in _ALL
    }
