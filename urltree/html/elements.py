"""The meaning of tags and attributes for the tokenizer.

A change to any of these tables changes the blocks of ordinary pages, and so stored state: raise
TOKENIZER_VERSION with it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache


def _tags(names: str) -> frozenset[str]:
    return frozenset(names.split())


# Inline tags do not end a block. Every other tag does, custom elements too.
INLINE = _tags(
    "a abbr acronym b basefont bdi bdo big blink cite code data del dfn em font i img ins kbd mark"
    " nobr q rp rt ruby s samp small span strike strong sub sup time tt u var wbr"
)
# The content of these elements is not text. noembed and noframes contain raw markup (ours).
DROPPED = _tags(
    "script style noscript template svg math textarea select iframe object canvas noembed noframes"
)
# These end a block and have no content.
VOID = _tags("area base br col embed frame hr input link meta param source track")
HEADINGS = {f"h{level}": level for level in range(1, 7)}

# Elements of running text. They are parts of a container, not containers themselves.
RUNNING = _tags(
    "p li blockquote pre td th tr tbody table dd dt dl ul ol figcaption figure h1 h2 h3 h4 h5 h6"
)

# Elements around the whole page or its main content: never boilerplate, never one of several
# articles.
WHOLE_PAGE = _tags("html body main")

MAX_TOKENS = 12  # tokens of one element
MAX_TOKEN = 40  # characters; longer tokens are generated, not written by a person

_MAX_ATTRIBUTE = 1_000  # characters that are read of a class or id attribute
_VOLATILE = re.compile(
    r"\d{3}"  # post-1234, 20131027, hexadecimal digests
    r"|(?:attachment|comment|id|image|item|node|page|post|reply|widget)[-_]?\d+$"
    r"|[a-z]\d+[a-z]+\d|\d[a-z]+\d+[a-z]",  # css-1q2w3e, uuids
    re.IGNORECASE,
)
_HIDING = frozenset({"hidden", "aria-hidden", "style"})
_DISPLAY_NONE = re.compile(r"display\s*:\s*none", re.IGNORECASE)


def read_attributes(attributes: Mapping[str, str]) -> tuple[tuple[str, ...], bool]:
    """Return the tokens of an element, and whether its attributes hide it from readers.

    The tokens are its class names, then its id as `#id`. Overlong and volatile tokens are left out.
    A token is volatile if it differs between pages of one template: `post-123`, digests, dates,
    uuids. Style sheets are not read.
    """
    names, identifier = attributes.get("class", ""), attributes.get("id", "")
    tokens = _tokens(names[:_MAX_ATTRIBUTE], identifier[:_MAX_ATTRIBUTE])
    return tokens, not _HIDING.isdisjoint(attributes) and _hides(attributes)


def _hides(attributes: Mapping[str, str]) -> bool:
    return (
        "hidden" in attributes
        or attributes.get("aria-hidden", "").lower() == "true"
        or _DISPLAY_NONE.search(attributes.get("style", "")) is not None
    )


@lru_cache(maxsize=4096)  # the pages of a site repeat their templates
def _tokens(names: str, identifier: str) -> tuple[str, ...]:
    found = dict.fromkeys([*names.split(), *(f"#{name}" for name in identifier.split())])
    kept = [name for name in found if len(name) <= MAX_TOKEN and not _VOLATILE.search(name)]
    return tuple(kept[:MAX_TOKENS])
