"""Text of strangers, made fit to be shown: pages and tools may hold any character at all.

Escaping of `<`, `&` and quotes is jinja2's and matplotlib's work. What they let through and what
neither HTML nor SVG may hold, or what turns the text around it, is replaced here.
"""

from __future__ import annotations

import re

# C0 and C1 but tab and newline, lone surrogates, U+FFFE and U+FFFF: not characters of XML 1.0 or
# parse errors of HTML (XML 1.0, section 2.2; HTML, section 13.1.4)
_FORBIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
# "Trojan source": these order the characters after them (Unicode TR 9, section 2)
_BIDI = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def sanitize(text: str) -> str:
    """The text with forbidden characters as U+FFFD, and bidi controls as their visible numbers."""
    return _BIDI.sub(lambda found: f"[U+{ord(found[0]):04X}]", _FORBIDDEN.sub("\ufffd", text))


def anchor(*names: str) -> str:
    """An id for HTML, the same for the same names; distinct names may not meet.

    Letters of ASCII, digits and "-" stay; any other character becomes its number between dots.
    """
    known = re.compile(r"[^A-Za-z0-9-]")
    return "_".join(known.sub(lambda found: f".{ord(found[0]):x}.", name) for name in names)
