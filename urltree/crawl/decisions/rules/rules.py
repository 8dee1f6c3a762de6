"""All rules of the job, indexed so that an address is looked up in a few microseconds.

    address ─▶ host ─▶ host, its parent domains: denied? ─▶ patterns of these: denied?
    page    ─▶ feed, origin: removed? purged?

A host and each of its parent domains cost one look-up in a dictionary. Patterns are compared one by
one, but only those of this host and its parent domains.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import can_ada

from urltree.crawl.decisions.rules.path_pattern import PathPattern, octets
from urltree.crawl.decisions.rules.rule import Action, CrawlRule, RuleKey, Scope
from urltree.page import Reason

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")

MAX_RULES = 100_000
"""Largest number of rules; a rule takes about 1 KB of memory in each worker."""


class WaitingPage(NamedTuple):
    """What removals and purges compare about a page that waits in `fetches`.

    Attributes:
        place: partition and offset of the page's first copy in the present topic `fetches`; None if
            it is unknown.
        feed: address with which its feed was added.
        site: site of its feed; None in records of earlier releases.
        feed_offset: offset of the record of `feeds` that added the feed; None as before.
    """

    place: tuple[int, int] | None = None
    feed: str | None = None
    site: str | None = None
    feed_offset: int | None = None


NO_PAGE = WaitingPage()


class TopicIds(NamedTuple):
    """Kafka's ids of the topics to which the offsets in rules belong; None if unknown."""

    fetches: str | None = None
    feeds: str | None = None


@dataclass(frozen=True, slots=True)
class Denied:
    """A rule forbids the request.

    Attributes:
        rule: identity of the rule.
    """

    rule: RuleKey

    reason = Reason.DENIED
    counts_as_seen = False

    @property
    def message(self) -> str:
        """Text of the dead letter."""
        return f"the rule `{self.rule}` forbids this request"


@dataclass(frozen=True, slots=True)
class Removed:
    """The page was removed from the queue.

    Attributes:
        rule: identity of the rule.
    """

    rule: RuleKey

    reason = Reason.REMOVED

    @property
    def counts_as_seen(self) -> bool:
        """Whether the item stays known, so that a later poll of its feed does not send it again.

        A purge clears the queue once: its pages do not come back while feeds still name them. The
        pages of a removed feed do, if the feed is added again or another feed names them.
        """
        return self.rule.action is Action.PURGE

    @property
    def message(self) -> str:
        """Text of the dead letter."""
        if self.rule.action is Action.PURGE:
            return f"the operator removed the page from the queue (`{self.rule}`)"
        return f"the operator removed the feed of the page (`{self.rule}`)"


class Rules:
    """The rules that are in force.

    Attributes:
        ids: ids of the present topics; removals and purges of former topics do not count.
    """

    def __init__(self) -> None:
        self.ids = TopicIds()
        self._rules: dict[RuleKey, CrawlRule] = {}
        self._denied: dict[str, RuleKey] = {}  # by host, or by domain with a leading dot
        self._patterns: dict[str, dict[RuleKey, PathPattern]] = {}  # by the same
        self._purged: dict[str, CrawlRule] = {}  # by the same
        self._purged_feeds: dict[str, CrawlRule] = {}
        self._purged_all: CrawlRule | None = None
        self._removed: dict[str, dict[str, CrawlRule]] = {}  # by feed, then by site

    def __len__(self) -> int:
        return len(self._rules)

    def __iter__(self) -> Iterator[CrawlRule]:
        return iter(self._rules.values())

    def put(self, rule: CrawlRule) -> None:
        """Add a rule, or replace the rule with the same key."""
        self.delete(rule.key)
        self._rules[rule.key] = rule
        key = rule.key
        place, pattern = _place(key)
        match key.action, key.scope:
            case Action.DENY, Scope.PATH:
                self._patterns.setdefault(place, {})[key] = PathPattern(pattern)
            case Action.DENY, _:
                self._denied[place] = key
            case Action.PURGE, Scope.ALL:
                self._purged_all = rule
            case Action.PURGE, Scope.FEED:
                self._purged_feeds[key.target] = rule
            case Action.PURGE, _:
                self._purged[place] = rule
            case _:
                site, url = key.target.split(" ")
                self._removed.setdefault(url, {})[site] = rule

    def delete(self, key: RuleKey) -> None:
        """Delete the rule with a key, if there is one."""
        if self._rules.pop(key, None) is None:
            return
        place, _ = _place(key)
        match key.action, key.scope:
            case Action.DENY, Scope.PATH:
                _drop(self._patterns, place, key)
            case Action.DENY, _:
                del self._denied[place]
            case Action.PURGE, Scope.ALL:
                self._purged_all = None
            case Action.PURGE, Scope.FEED:
                del self._purged_feeds[key.target]
            case Action.PURGE, _:
                del self._purged[place]
            case _:
                site, url = key.target.split(" ")
                _drop(self._removed, url, site)

    def verdict(self, url: str, page: WaitingPage = NO_PAGE) -> Denied | Removed | None:
        """Decide whether an address may be requested.

        Args:
            url: address that is requested next: of a page, a feed, a robots.txt, or a redirect.
            page: the page for which it is requested; by default none.

        Returns:
            None if no rule forbids the request. An address that cannot be parsed is not forbidden;
            it cannot be requested either.
        """
        if not self._rules:
            return None
        try:
            parsed = can_ada.parse(url)
        except (ValueError, UnicodeError):
            return self._purged_by([], page) or self._of_feed(page)
        places = _places(parsed.hostname)
        return (
            self._denied_by(places, parsed) or self._purged_by(places, page) or self._of_feed(page)
        )

    def _denied_by(self, places: list[str], parsed: can_ada.URL) -> Denied | None:
        for place in places:
            rule = self._denied.get(place)
            if rule is not None:
                return Denied(rule)
        if self._patterns:
            path: bytes | None = None
            for place in places:
                for key, pattern in self._patterns.get(place, {}).items():
                    if path is None:
                        path = octets(parsed.pathname, parsed.search)
                    if pattern.matches(path):
                        return Denied(key)
        return None

    def _purged_by(self, places: list[str], page: WaitingPage) -> Removed | None:
        if page.place is None:
            return None
        found = [self._purged_all, *map(self._purged.get, places)]
        for rule in found:
            if rule is not None and self._covers(rule, page):
                return Removed(rule.key)
        return None

    def _of_feed(self, page: WaitingPage) -> Removed | None:
        if page.feed is None:
            return None
        purge = self._purged_feeds.get(page.feed)
        if purge is not None and self._covers(purge, page):
            return Removed(purge.key)
        for site, rule in self._removed.get(page.feed, {}).items():
            if page.site in (None, site) and self._is_of_removed(rule, page):
                return Removed(rule.key)
        return None

    def _is_of_removed(self, rule: CrawlRule, page: WaitingPage) -> bool:
        """Return whether a page was named by an addition of the feed before its removal."""
        if page.feed_offset is None:
            return self._covers(rule, page)
        if rule.feeds is None:
            return False
        topic, before = rule.feeds
        return topic == self.ids.feeds and page.feed_offset < before

    def _covers(self, rule: CrawlRule, page: WaitingPage) -> bool:
        if rule.fetches is None or page.place is None:
            return False
        return rule.fetches.contains(self.ids.fetches, *page.place)


def _place(key: RuleKey) -> tuple[str, str]:
    """Return the place of a rule's target in the index, and its pattern."""
    if key.scope is Scope.DOMAIN:
        return f".{key.target}", ""
    if key.scope is not Scope.PATH:
        return key.target, ""
    host, slash, path = key.target.partition("/")
    return host.removeprefix("*"), slash + path


def _places(hostname: str) -> list[str]:
    """Return a host, and itself and its parent domains with a leading dot."""
    host = hostname.removesuffix(".")
    found = [host]
    place = f".{host}"
    while place:
        found.append(place)
        dot = place.find(".", 1)
        place = place[dot:] if dot > 0 else ""
    return found


def _drop(groups: dict[str, dict[_Key, _Value]], name: str, key: _Key) -> None:
    del groups[name][key]
    if not groups[name]:
        del groups[name]
