"""What the names of an element say: its tag, and the words in its class and id tokens.

    div.comment-content      a comment: one strong word is enough
    div.entry-meta           a soft word ("meta"), and no name of content
    div.post-body            a name of content: its last word says so

Words are those of the markup in use, in English as most templates are. A name alone decides
nothing about an element that holds the title block or the main element (`marks.py`).
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
# postmetadata, entryfooter: a word for the whole before the word that tells
_WHOLE = re.compile(
    r"^(?:blog|post|entry|article|content|page|site|main|story|wp|the|single)+(?=.)"
)
_CACHED = 65_536


class NameMeaning(NamedTuple):
    """What the names of an element say.

    Attributes:
        kind: of boilerplate, by a strong word or by a soft one without a name of content.
        is_strong: by a strong word.
        is_content: a name of content, and no strong word.
    """

    kind: Kind
    is_strong: bool
    is_content: bool


_NOTHING = NameMeaning(Kind.CONTENT, is_strong=False, is_content=False)


class Names:
    """The words that count.

    Args:
        strong: words of boilerplate, wherever they stand in a token.
        soft: the same, unless the element has a name of content.
        content: words of content, at the end of a token.
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
        """What class and id tokens say together."""
        said = self._elements.get(tokens)
        if said is None:
            if len(self._elements) >= _CACHED:
                self._elements.clear()
            said = self._elements[tokens] = self._together(tokens)
        return said

    def _together(self, tokens: tuple[str, ...]) -> NameMeaning:
        all_said = [self._of_token(token) for token in tokens]
        is_content = any(said.is_content for said in all_said)
        strong = next((said.kind for said in all_said if said.is_strong), None)
        if strong is not None:
            return NameMeaning(strong, is_strong=True, is_content=is_content)
        is_soft = any(said.kind and not said.is_content for said in all_said)
        kind = Kind.NAVIGATION if is_soft and not is_content else Kind.CONTENT
        return NameMeaning(kind, is_strong=False, is_content=is_content)

    def _of_token(self, token: str) -> NameMeaning:
        said = self._tokens.get(token)
        if said is None:
            if len(self._tokens) >= _CACHED:
                self._tokens.clear()
            said = self._tokens[token] = self._read(token)
        return said

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
    """Kind of boilerplate that an element's own tag and names say; ids of headings are anchors."""
    if tag in TAGS:
        return Kind.NAVIGATION
    if not tokens or names is None:
        return Kind.CONTENT
    return names.of(classes(tokens) if tag in HEADINGS else tokens).kind


def classes(tokens: tuple[str, ...]) -> tuple[str, ...]:
    """Names without ids."""
    return tuple([token for token in tokens if token[0] != "#"])
