"""The meaning of an element's names: its tag, and the words in its class and id tokens.

    div.comment-content      a comment: one strong word ("comment") is enough
    div.entry-meta           boilerplate: a soft word ("meta"), and no token that means content
    div.post-body            content: the last word of the token ("body") means content

The words are those that templates use, mostly English. A name alone never decides about an element
that contains the title block or the main element (`marks.py`).
"""

from __future__ import annotations

import re
from typing import NamedTuple

from urltree.heuristics.boilerplate import Kind
from urltree.html.elements import HEADINGS


def _words(words: str) -> frozenset[str]:
    return frozenset(words.split())


_COMMENTS = _words(
    "comment comments commentlist commentform comentarios commentaires kommentare respond"
    " disqus reply replies trackback trackbacks pingback pingbacks pings"
)
STRONG = _COMMENTS | _words(
    "footer foot colophon nav navi navigation navbar menu menus submenu breadcrumb"
    " breadcrumbs pagination pager paginator sidebar sidebars related relatedposts jp"
    " share sharing sharer sharedaddy shares addtoany addthis social socials widget"
    " widgets newsletter subscribe subscription subscribebox cookie cookies gdpr consent"
    " advert advertisement advertisements ads adsense advertising sponsor sponsored"
    " sponsors popup modal overlay lightbox blogroll toolbar topbar login signin signup"
    " register search searchform skip copyright banner masthead recommend recommended"
    " recommendation recommendations outbrain taboola trending popular mostread promo"
    " promos promotion teaser teasers rating ratings vote votes paywall backlinks"
    " permalink noprint printonly rss feed toc"
)
SOFT = _words(
    "meta metadata byline author authors authorbox bio vcard info tag tags taglist"
    " category categories cat date dateline time timestamp published updated posted"
    " header prev next previous archive archives links recent more tools tool actions"
    " action button buttons btn utility aside label labels controls control bar credit"
    " credits edit print email counter views"
)
CONTENT = _words(
    "content article post entry story body text main maincontent articlebody postbody"
    " entrycontent postcontent blogpost hentry prose markdown"
)
TAGS = _words("nav footer form button fieldset label dialog menu address summary")

_BOUNDARY = re.compile(r"[^a-z0-9]+")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
# A prefix to remove: in `postmetadata`, only `metadata` has a meaning, and `post` means the page.
_WHOLE = re.compile(
    r"^(?:blog|post|entry|article|content|page|site|main|story|wp|the|single)+(?=.)"
)
_CACHED = 65_536


class NameMeaning(NamedTuple):
    """The meaning of the names of an element.

    Attributes:
        kind: kind of boilerplate that a strong word means, or a soft word if no token means
            content; else `Kind.CONTENT`.
        is_strong: whether there is a strong word.
        is_content: whether a token means content: its last word does, and it has no strong word.
    """

    kind: Kind
    is_strong: bool
    is_content: bool


_NOTHING = NameMeaning(Kind.CONTENT, is_strong=False, is_content=False)


class Names:
    """The words that have a meaning in class and id tokens.

    Args:
        strong: words that always mean boilerplate, anywhere in a token.
        soft: words that mean boilerplate if no token of the element means content.
        content: words that mean content at the end of a token.
    """

    def __init__(
        self,
        strong: frozenset[str] = STRONG,
        soft: frozenset[str] = SOFT,
        content: frozenset[str] = CONTENT,
    ) -> None:
        self._strong, self._soft, self._content = strong, soft, content
        self._tokens: dict[str, NameMeaning] = {}
        self._elements: dict[tuple[str, ...], NameMeaning] = {}

    def of(self, tokens: tuple[str, ...]) -> NameMeaning:
        """Return the common meaning of all class and id tokens of one element."""
        meaning = self._elements.get(tokens)
        if meaning is None:
            if len(self._elements) >= _CACHED:
                self._elements.clear()
            meaning = self._elements[tokens] = self._together(tokens)
        return meaning

    def _together(self, tokens: tuple[str, ...]) -> NameMeaning:
        meanings = [self._of_token(token) for token in tokens]
        is_content = any(meaning.is_content for meaning in meanings)
        strong = next((meaning.kind for meaning in meanings if meaning.is_strong), None)
        if strong is not None:
            return NameMeaning(strong, is_strong=True, is_content=is_content)
        is_soft = any(meaning.kind and not meaning.is_content for meaning in meanings)
        kind = Kind.NAVIGATION if is_soft and not is_content else Kind.CONTENT
        return NameMeaning(kind, is_strong=False, is_content=is_content)

    def _of_token(self, token: str) -> NameMeaning:
        meaning = self._tokens.get(token)
        if meaning is None:
            if len(self._tokens) >= _CACHED:
                self._tokens.clear()
            meaning = self._tokens[token] = self._read(token)
        return meaning

    def _read(self, token: str) -> NameMeaning:
        words = [word for word in _BOUNDARY.split(_CAMEL.sub("-", token).lower()) if word]
        if not words:
            return _NOTHING
        either = {*words, *(_WHOLE.sub("", word) for word in words)}
        is_content = words[-1] in self._content
        if strong := either & self._strong:
            kind = Kind.COMMENTS if strong & _COMMENTS else Kind.NAVIGATION
            return NameMeaning(kind, is_strong=True, is_content=False)
        kind = Kind.NAVIGATION if either & self._soft else Kind.CONTENT
        return NameMeaning(kind, is_strong=False, is_content=is_content)


def kind_of_element(tag: str, tokens: tuple[str, ...], names: Names | None) -> Kind:
    """Return the kind of boilerplate that the tag and the names of an element mean.

    The id of a heading is ignored, because it is an anchor.
    """
    if tag in TAGS:
        return Kind.NAVIGATION
    if not tokens or names is None:
        return Kind.CONTENT
    return names.of(classes(tokens) if tag in HEADINGS else tokens).kind


def classes(tokens: tuple[str, ...]) -> tuple[str, ...]:
    """Return the tokens without ids."""
    return tuple([token for token in tokens if token[0] != "#"])
