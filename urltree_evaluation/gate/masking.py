"""Mask a site: rename or remove everything that a heuristic could have been tuned to.

    <title>Rust 1.0 | Blog</title>               <title></title>
    <div class="nav post-12" id="top">           <div class="ztq post-12" id="hkw">
    <a href="https://blog.site.org/a">text</a>   <a href="https://kqzt.g1x….example/a">text</a>

Text and structure are unchanged. Names that were equal on two pages of the site are still equal. A
heuristic that was not tuned to names therefore gives the same result. Nothing is random: a new name
depends only on the site and on the old name.
"""

from __future__ import annotations

import re
from functools import lru_cache
from hashlib import sha256
from string import ascii_lowercase

from urltree.html.elements import read_attributes

# As in the HTML standard, a quote starts a value only after "=". Scripts and comments match as a
# whole, because text that looks like a tag is no tag inside them. No group is possessive, because
# Python 3.11.2 would try only the first alternative of such a group (CPython bug gh-106052). Each
# group can match a text in only one way.
_QUOTED = r"""(?:"[^"]*+"|'[^']*+')"""
_MARKUP = re.compile(
    r"<(?:!--(?:-?>|.*?-->)"
    r"|(?P<script>script|style)\b[^>]*+>.*?</(?P=script)\s*+>"
    r"|(?P<title>title\b[^>]*+>)[^<]*+(?:<(?!/title)[^<]*+)*(?=</title)"
    rf"""|(?P<tag>[a-z])(?:[^>=]++|=\s*+(?:{_QUOTED}|(?!{_QUOTED})))*>)""",
    re.IGNORECASE | re.DOTALL,
)
_VALUE = rf"""(?:{_QUOTED}|[^\s"'>]++)"""
_NAMES = re.compile(rf"""(?<=[\s"'/])((?:class|id)\s*+=\s*+)({_VALUE})""", re.IGNORECASE)
_TOKEN = re.compile(r"""[^\s"']+""")
_LETTERS = re.compile(r"&#?\w+;|[A-Za-z]+")  # character references are unchanged
_TITLE_META = re.compile(
    r"""<meta\b[^>]*?\s(?:property|name|itemprop)\s*=\s*["']?(?:\w+[:.])?(?:title|headline)\b""",
    re.IGNORECASE,
)
_CONTENT = re.compile(rf"""(?<=[\s"'/])(content\s*+=\s*+){_VALUE}""", re.IGNORECASE)
_HEADLINE = re.compile(r'("(?:headline|alternativeHeadline)"\s*:\s*)"[^"\\]*+(?:\\.[^"\\]*+)*"')


class Masking:
    """The masking of one site: it replaces host names, class names and ids in all pages alike.

    Args:
        domain: registrable domain of the site.

    Attributes:
        masked_domain: the new domain, below the reserved `example` (RFC 2606).
    """

    def __init__(self, domain: str) -> None:
        def digest(text: str) -> str:
            return sha256(f"{domain} {text}".encode()).hexdigest()

        self._domain = domain
        self.masked_domain = f"site-{digest('')[:12]}.example"
        cycle = sorted(ascii_lowercase, key=digest)
        follower = dict(zip(cycle, cycle[1:] + cycle[:1], strict=True))
        capitals = {letter.upper(): other.upper() for letter, other in follower.items()}
        self._letters = str.maketrans(follower | capitals)
        self._host = re.compile(
            r"(?:(?<![%\w.-])|(?<=%2f)|(?<=%40))((?:[\w-]++\.)*?)"
            rf"{re.escape(domain)}(?![\w-]|\.\w)",
            re.IGNORECASE,
        )
        self._tag = lru_cache(maxsize=16_384)(
            self._masked_tag
        )  # a cache, because pages repeat their templates

    def token(self, token: str) -> str:
        """Return another class name or id of the same shape.

        Each letter is replaced by the next letter in a shuffled cycle of the alphabet, so different
        names stay different. Capitals stay capitals; digits and hyphens are unchanged. Names that
        the tokenizer drops as volatile are unchanged, because no heuristic sees them, and no other
        name becomes volatile.
        """
        if _is_volatile(token):
            return token
        other = self._rename(token)
        while _is_volatile(other):  # terminates: after 26 steps the cycle returns to the token
            other = self._rename(other)
        return other

    def url(self, text: str) -> str:
        """Rename the hosts of the site in a URL, or in any text that contains URLs.

        The label `www` is unchanged. It is not a part of a branch in the URL tree, so a new name
        for it would change the tree.
        """
        if (
            self._domain not in text.lower()
        ):  # most tags have no host, and this test is faster than the regular expression
            return text
        return self._host.sub(lambda match: self._labels(match[1]) + self.masked_domain, text)

    def html(self, html: str) -> str:
        """Return the page without titles, and with other host names, class names and ids."""
        return _MARKUP.sub(self._markup, html)

    def _markup(self, match: re.Match[str]) -> str:
        if match["tag"]:
            return self._tag(match[0])
        if match["script"]:
            return _HEADLINE.sub(r'\1""', self.url(match[0]))
        return "<" + match["title"] if match["title"] else match[0]

    def _masked_tag(self, tag: str) -> str:
        if "=" not in tag:
            return tag
        if _TITLE_META.match(tag):
            tag = _CONTENT.sub(r'\1""', tag)
        return _NAMES.sub(self._names, self.url(tag))

    def _names(self, attribute: re.Match[str]) -> str:
        return attribute[1] + _TOKEN.sub(lambda found: self.token(found[0]), attribute[2])

    def _labels(self, labels: str) -> str:
        names = labels.lower().split(".")
        return ".".join([name if name == "www" else self._rename(name) for name in names])

    def _rename(self, name: str) -> str:
        return _LETTERS.sub(
            lambda found: found[0] if found[0][0] == "&" else found[0].translate(self._letters),
            name,
        )


def _is_volatile(token: str) -> bool:
    return not read_attributes({"class": token})[0]
