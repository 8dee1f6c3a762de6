"""Sanitize untrusted text for HTML and SVG: pages and tools may contain any character.

jinja2 and matplotlib escape `<`, `&` and quotes. This module replaces other characters: those that
HTML and SVG forbid, and those that change the direction of the text around them.
"""

from __future__ import annotations

import re

# C0 and C1 controls except tab and newline, lone surrogates, U+FFFE and U+FFFF. They are invalid in
# XML 1.0 (section 2.2) or parse errors in HTML (section 13.1.4).
_FORBIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
# Controls that reorder the characters after them, as in "Trojan source" (Unicode TR 9, section 2)
_BIDI = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def sanitize(text: str) -> str:
    """Replace forbidden characters by U+FFFD, and direction controls by their code points."""
    return _BIDI.sub(lambda found: f"[U+{ord(found[0]):04X}]", _FORBIDDEN.sub("\ufffd", text))


def anchor(*names: str) -> str:
    """Return an id for HTML; different names give different ids.

    ASCII letters, digits and "-" are kept. Any other character becomes its code point between dots.
    """
    known = re.compile(r"[^A-Za-z0-9-]")
    return "_".join(known.sub(lambda found: f".{ord(found[0]):x}.", name) for name in names)
