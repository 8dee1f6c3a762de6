"""What tags and attributes mean to the tokenizer: the pinned tables of issue 3, section 1.

A change to any table changes the blocks of ordinary pages: raise TOKENIZER_VERSION with it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache


def _tags(names: str) -> frozenset[str]:
    return frozenset(names.split())


# Text runs on through these. Every other tag delimits a block, custom elements too.
INLINE = _tags(
    "a abbr acronym b basefont bdi bdo big blink cite code data del dfn em font i img ins kbd mark"
    " nobr q rp rt ruby s samp small span strike strong sub sup time tt u var wbr"
)
# Not text, whatever stands inside. noembed and noframes (ours): their content is raw markup.
DROPPED = _tags(
    "script style noscript template svg math textarea select iframe object canvas noembed noframes"
)
# Delimit where they stand and hold nothing.
VOID = _tags("area base br col embed frame hr input link meta param source track")
HEADINGS = {f"h{level}": level for level in range(1, 7)}

# What stands in a container, rather than being one (issue 6).
RUNNING = _tags(
    "p li blockquote pre td th tr tbody table dd dt dl ul ol figcaption figure h1 h2 h3 h4 h5 h6"
)

# What holds the whole page, or its main content: never boilerplate, never one article of several.
WHOLE_PAGE = _tags("html body main")

MAX_TOKENS = 12  # of one element
MAX_TOKEN = 40  # characters; longer ones are generated, never written by a person

_MAX_ATTRIBUTE = 1_000  # characters of class or id that are read
_VOLATILE = re.compile(
    r"\d{3}"  # post-1234, 20131027, hexadecimal digests
    r"|(?:attachment|comment|id|image|item|node|page|post|reply|widget)[-_]?\d+$"
    r"|[a-z]\d+[a-z]+\d|\d[a-z]+\d+[a-z]",  # css-1q2w3e, uuids
    re.IGNORECASE,
)
_HIDING = frozenset({"hidden", "aria-hidden", "style"})
_DISPLAY_NONE = re.compile(r"display\s*:\s*none", re.IGNORECASE)


def read_attributes(attributes: Mapping[str, str]) -> tuple[tuple[str, ...], bool]:
    """The tokens of an element, and whether it says of itself that no reader sees it.

    Tokens are those of its class, then its id as `#id`, without volatile and overlong ones.
    Volatile is what differs between pages of one template: `post-123`, digests, dates, uuids.
    Style sheets are not read.
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
