"""JSON Schemas of the records, generated from the record types.

`make generate` writes the output of `generated` to the `.json` files in this directory. Only
`topics.json` is written by hand, because it describes the file `topics.yaml`, which has no record
type.
"""

from __future__ import annotations

import json

from models.schemas.feeds import FEEDS, FETCHES, POLL_OUTCOMES, REQUESTS, RULES, UNCHANGED
from models.schemas.pages import CLEAN_TEXT, DEAD_LETTERS, DOCUMENTS, DUPLICATES, RAW_HTML

_ALL = (
    *(RAW_HTML, DOCUMENTS, CLEAN_TEXT, DUPLICATES, DEAD_LETTERS),
    *(FEEDS, RULES, FETCHES, REQUESTS, POLL_OUTCOMES, UNCHANGED),
)


def generated() -> dict[str, bytes]:
    """Return the content of each generated schema file, by the name of the file."""
    return {
        f"{schema['title']}.json": json.dumps(schema, indent=2, ensure_ascii=False).encode() + b"\n"
        for schema in _ALL
    }
