"""Leave out the waiting pages of a dump that were removed or purged before the dump was made.

Removals and purges name offsets of the topics from which the dump was made. On other topics they
would cover other pages. So they are applied here, and only deny rules are written. For the
same reason the waiting pages lose the offset of their feed's addition: 0 lies before every removal
on the other topics, because an addition precedes it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from agents.commands.state.file import DumpRecord
from agents.rules.topic import KnownRules
from models.crawl import fetch
from models.headers.names import ORIGIN, header
from models.origin import Origin
from urltree.crawl.decisions.rules.rule import Action, CrawlRule
from urltree.crawl.decisions.rules.rules import Rules, TopicIds, WaitingPage
from urltree.page import PageError


def without_removed(prefix: str, records: Iterable[DumpRecord]) -> Iterator[DumpRecord]:
    """Yield the records of a dump, without removals, purges, and waiting pages that they cover.

    A dump contains its rules before its waiting pages.

    Args:
        prefix: Prefix of the job from which the dump was made.
        records: Records of the dump.
    """
    known, rules = KnownRules(), Rules()
    for record in records:
        if record.topic == "rules":
            if _is_kept(known, record):
                yield record
        elif record.topic == "fetches":
            if not len(rules) and any(known):
                rules = _index(known)
            kept = _placed_anew(record, prefix, rules)
            if kept is not None:
                yield kept
        else:
            yield record


def _is_kept(known: KnownRules, record: DumpRecord) -> bool:
    """Note a rule; return whether it is written."""
    try:
        key = known.apply(record.partition, record.key, record.value)
    except PageError:
        return True  # the workers count it, as before
    return key is None or key.action is Action.DENY


def _index(known: Iterable[CrawlRule]) -> Rules:
    """Return the removals and purges that counted for the topics of the dump.

    The dump does not contain the ids of these topics. Rules of former topics have other ids than
    the newest rule.
    """
    found = sorted(
        (rule for rule in known if rule.key.action is not Action.DENY),
        key=lambda rule: rule.set_at or 0.0,
    )
    rules = Rules()
    for rule in found:
        rules.put(rule)
    fetches = [rule.fetches.topic for rule in found if rule.fetches is not None]
    feeds = [rule.feeds[0] for rule in found if rule.feeds is not None]
    rules.ids = TopicIds(fetches[-1] if fetches else None, feeds[-1] if feeds else None)
    return rules


def _placed_anew(record: DumpRecord, prefix: str, rules: Rules) -> DumpRecord | None:
    """Return a waiting page as it is written, or None if it was removed."""
    try:
        wanted = fetch.decode(record.value)
    except PageError:
        return record
    place = record.partition, record.offset
    named = header(record.headers, ORIGIN)
    if named is not None:
        try:
            topic, *first = Origin.parse(named)
        except ValueError:
            pass
        else:
            place = (first[0], first[1]) if topic == f"{prefix}fetches" else place
    page = WaitingPage(place, wanted.feed, wanted.site, wanted.feed_offset)
    if any(rules.verdict(url, page) is not None for url in (wanted.url, *wanted.redirects)):
        return None
    if not wanted.feed_offset:
        return record
    return record._replace(value=fetch.encode(replace(wanted, feed_offset=0)))
