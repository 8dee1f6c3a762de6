"""Decide which items of a poll are new, and which rows of `seen_items` and state they change.

    feed          c b a       newest first, as in most feeds
    seen before     b a
    new           c           sent to `fetches`, oldest first: verdicts depend on earlier pages

An item is known by the first of these rules that applies:

    rule     the item is known if                        unless
    former   a release before 0.3 has stored its hash    the upgrade was `seen_days` ago
    link     its site has shown its link                 other items of the poll have this link
    guid     its feed has shown its guid, and path,      the guids of the feed do not count
             title, date or text are the same, and
             not those of other items of the poll
    text     its feed has shown its title and text       its link or its guid distinguishes it
    loose    its feed has shown the link with another    other items of the poll have these words;
             value in its query, and the same words      or there is too little evidence, see below

The rule `loose` needs evidence, because another item may have the words of a former one, apart from
digits ("Draw 41", "Draw 42"). One of these is enough: the same date; the same guid; title and text
that are equal, and a text of more than 20 words, or the links of most items have changed; a session
in the query, which is a random value in all links; or several items that link to one page.

Guids do not count from the poll at which a guid comes back with another path and another title, or
is shared by several items; nor after two polls at which most known items have another guid.

No rule may lose an item: in doubt it is new. But a page is requested at most once a poll. If all
items of a feed link to one page, the page is requested when one of them is new.

If the same answer is decided again after a crash, the rows that it has written do not count: their
field `first` is the time of the poll. So its new items are new again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from urltree.crawl.decisions.feed.item import FeedItem
from urltree.crawl.decisions.poll.feed_state import NOT_POLLED_SINCE, FeedState
from urltree.crawl.decisions.poll.identity import NO_MARK, Identity, Marks, identify, is_random
from urltree.crawl.decisions.poll.outcome import PolledItem
from urltree.crawl.decisions.poll.seen_items import (
    SeenItemRow,
    item_time,
    renew_row,
    sort_oldest_first,
)
from urltree.crawl.decisions.poll.source_options import SourceKind
from urltree.crawl.decisions.timing import DAY

FIRST_POLL_PAGES = 1_000  # largest number of pages that the first poll of a sitemap takes

_UNSTEADY = 2  # successive polls with changed guids after which the guids do not count
_FEW = 3  # fewer items than this say nothing about all links of a feed

Lookup = Callable[[bytes], SeenItemRow | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemRules:
    """The settings and circumstances of a decision.

    Attributes:
        seen_days: days after which the row of an item expires that no feed lists any more.
        revisits_a_day: largest number of revisits of a feed in a day; 0 if revisits are off.
        first_poll_days: largest age in days of the pages that the first poll of a sitemap takes.
        taken: number of new items in the earlier parts of the same answer.
        is_denied: returns whether a rule forbids a link. Its item is neither new nor stored.
    """

    seen_days: float = 60.0
    revisits_a_day: int = 0
    first_poll_days: float = 2.0
    taken: int = 0
    is_denied: Callable[[str], bool] = lambda _: False


@dataclass(frozen=True, slots=True)
class Decision:
    """What follows from the items of a poll, or of one part of its answer.

    Attributes:
        new: items whose pages are fetched, oldest first, one for each page.
        revisits: known items whose pages are fetched again.
        rows: rows of `seen_items` to write, by the second part of their key.
        state: state of the feed with what the items have shown. The outcome is not applied yet.
        items: all items in the order of the feed, for the rhythm of the feed.
        is_first_poll: whether the items are those of the first poll.
    """

    new: tuple[FeedItem, ...]
    revisits: tuple[FeedItem, ...]
    rows: Mapping[bytes, SeenItemRow]
    state: FeedState
    items: tuple[PolledItem, ...]
    is_first_poll: bool


def needs_former(state: FeedState, now: float) -> bool:
    """Return whether items are needed with the hash that releases before 0.3 gave them."""
    until = state.migrating_until
    return until is not None and (until == NOT_POLLED_SINCE or now < until)


def begin_poll(state: FeedState, at: float, rules: ItemRules) -> FeedState:
    """Return the state with the times that begin at a feed's first poll, or first after an upgrade.

    Args:
        state: state before the poll.
        at: time of the poll, seconds since 1970.
        rules: settings.
    """
    until, latest = state.migrating_until, at + rules.seen_days * DAY
    if until is not None and (until == NOT_POLLED_SINCE or until > latest):
        state = replace(state, migrating_until=latest)
    is_sitemap = state.options.kind is SourceKind.SITEMAP
    if is_sitemap and not state.was_read and state.seen_before is None:
        state = replace(state, seen_before=at - rules.first_poll_days * DAY)
    return state


def decide_items(
    items: Iterable[FeedItem], state: FeedState, lookup: Lookup, at: float, rules: ItemRules
) -> Decision:
    """Decide about the items of a poll, or of one part of its answer.

    Args:
        items: items in the order of the feed.
        state: state before the poll, or as the earlier part has left it.
        lookup: returns the row of `seen_items` with a key of the feed's site, None if there is
            none.
        at: time of the poll (`PollOutcome.at`), seconds since 1970.
        rules: settings.
    """
    state = begin_poll(state, at, rules)
    listed = _listed(items, state, rules)
    entries = _entries(listed, state, lookup, at)
    state = _judge_guids(entries, state)
    for entry in entries:
        entry.is_known = _is_known(entry, state)
    _judge_queries(entries)
    new, sent = _new_pages(entries, state, rules)
    revisits, rows, state = _revisits(entries, state, lookup, at, rules)
    for entry in entries:
        rows |= _rows(entry, state, at, rules.seen_days)
    return Decision(
        new=tuple(sent),
        revisits=tuple(revisits),
        rows=rows,
        state=state,
        items=tuple(
            PolledItem(entry.key, item_time(entry.item), id(entry.item) in new) for entry in entries
        ),
        is_first_poll=not state.was_read,
    )


@dataclass(slots=True)
class _Entry:
    """An item of the poll with everything that decides whether it is known.

    Attributes:
        item: item of the feed.
        identity: keys and marks of the item.
        link, guid, text, loose: rows of earlier polls under the keys of the item.
        is_former: whether a release before 0.3 has stored the item.
        is_link_shared, is_guid_shared: whether other items of the poll have this link or guid.
        is_alone: whether no other item of the poll has this key `loose`.
        is_alone_of_several: whether the poll has enough items for `is_alone` to mean something.
        own: the marks that no other item of the poll has; a mark that shows nothing is `NO_MARK`.
        is_known: whether the item is known.
    """

    item: FeedItem
    identity: Identity
    link: SeenItemRow | None
    guid: SeenItemRow | None
    text: SeenItemRow | None
    loose: SeenItemRow | None
    is_former: bool
    is_link_shared: bool
    is_guid_shared: bool
    is_alone: bool
    is_alone_of_several: bool
    own: Marks
    is_known: bool = False

    @property
    def is_known_by_link(self) -> bool:
        """Whether the site has shown the link, and the link belongs to this item alone."""
        return self.link is not None and not self.is_link_shared

    @property
    def is_dropped(self) -> bool:
        """Whether the page was dropped from the queue, so that the item counts as not seen."""
        return self.link is not None and self.link.is_dropped

    @property
    def key(self) -> bytes:
        """Name of the item in the outcome."""
        identity = self.identity
        return identity.guid or identity.loose if self.is_link_shared else identity.link


def _listed(
    items: Iterable[FeedItem], state: FeedState, rules: ItemRules
) -> list[tuple[FeedItem, Identity]]:
    """Return the items that count, without those that are listed twice."""
    found: dict[tuple[object, ...], tuple[FeedItem, Identity]] = {}
    for item in items:
        if rules.is_denied(item.link) or _is_old(item, state):
            continue
        identity = identify(item, state.site, state.feed)
        found.setdefault(identity.listing, (item, identity))
    return list(found.values())


def _is_old(item: FeedItem, state: FeedState) -> bool:
    """Return whether a page of a sitemap counts as seen because of its date.

    Midnight in UTC means the whole day, because most sitemaps give only a day.
    """
    if state.seen_before is None:
        return False
    time = item_time(item if item.published else replace(item, published=item.updated))
    if time is None:
        return False
    return (time + DAY if time % DAY == 0 else time) <= state.seen_before


def _entries(
    listed: Sequence[tuple[FeedItem, Identity]], state: FeedState, lookup: Lookup, at: float
) -> list[_Entry]:
    """Compare the items with each other, and read their rows."""
    links = Counter(identity.link for _, identity in listed)
    guids = Counter(identity.guid for _, identity in listed)
    alike = Counter(identity.loose for _, identity in listed)
    marks = Counter(mark for _, identity in listed for mark in enumerate(identity.marks))
    are_several = len(listed) >= _FEW
    is_migrating = needs_former(state, at)

    def read(key: bytes | None) -> SeenItemRow | None:
        row = None if key is None else lookup(key)
        return None if row is None or row.first == at else row

    entries = []
    for item, identity in listed:
        is_link_shared = links[identity.link] > 1
        entries.append(
            _Entry(
                item=item,
                identity=identity,
                link=read(identity.link),
                guid=read(identity.guid) if state.guids_count else None,
                text=read(identity.text) if is_link_shared else None,
                loose=read(identity.loose) if is_link_shared or identity.query else None,
                is_former=is_migrating and read(item.former_hash) is not None,
                is_link_shared=is_link_shared,
                is_guid_shared=identity.guid is not None and guids[identity.guid] > 1,
                is_alone=alike[identity.loose] == 1,
                is_alone_of_several=alike[identity.loose] == 1 and are_several,
                own=_own_marks(identity, marks, are_several=are_several),
            )
        )
    return entries


def _own_marks(
    identity: Identity, counts: Mapping[tuple[int, bytes], int], *, are_several: bool
) -> Marks:
    """Return the marks that tell the item from the others of the poll.

    In a list of one or two items every mark is unique, and so shows nothing. Only a path without a
    query belongs to one page even then.
    """
    own = [
        mark if are_several and counts[number, mark] == 1 else NO_MARK
        for number, mark in enumerate(identity.marks)
    ]
    if not identity.query and counts[0, identity.marks[0]] == 1:
        own[0] = identity.marks[0]
    path, title, date, text = own
    return path, title, date, text


def _judge_guids(entries: Sequence[_Entry], state: FeedState) -> FeedState:
    """Return the state with the judgement whether the feed's guids identify its items."""
    if not state.guids_count:
        return state
    if any(entry.is_guid_shared or _is_contradictory(entry) for entry in entries):
        return replace(state, guids_count=False, guids_changed=0)
    known = [
        entry.guid is not None
        for entry in entries
        if entry.identity.guid is not None and (entry.is_known_by_link or entry.text or entry.loose)
    ]
    if not known:
        return state
    changed = state.guids_changed + 1 if 2 * sum(known) < len(known) else 0
    return replace(state, guids_changed=changed, guids_count=changed < _UNSTEADY)


def _is_contradictory(entry: _Entry) -> bool:
    """Return whether the guid comes back with another path and another title."""
    before, now = _marks(entry.guid), entry.identity.marks
    return before is not None and before[0] != now[0] and before[1] != now[1]


def _marks(row: SeenItemRow | None) -> Marks | None:
    return None if row is None else row.marks


def _is_known(entry: _Entry, state: FeedState) -> bool:
    """Return whether an item is known by one of the rules, except another value in its query."""
    if entry.is_dropped:
        return False
    if entry.is_former or entry.is_known_by_link:
        return True
    has_guid = state.guids_count and entry.identity.guid is not None
    if has_guid and entry.guid is not None and _is_same(entry, entry.guid.marks):
        return True
    if not entry.is_link_shared:
        return False
    return (not has_guid and entry.text is not None) or _has_same_date(entry)


def _is_same(entry: _Entry, before: Marks | None) -> bool:
    """Return whether an item with the guid of a former item is this item.

    One of its marks must be the same, and tell it from the other items of the poll.
    """
    if before is None:
        return False
    if any(now == then != NO_MARK for now, then in zip(entry.own, before, strict=True)):
        return True
    is_alike = entry.loose is not None and entry.is_alone_of_several
    return is_alike and before[0] == entry.identity.marks[0]


def _has_same_date(entry: _Entry) -> bool:
    """Return whether an item has the date and the words of a known item."""
    before = _marks(entry.loose)
    has_words = entry.is_alone and entry.identity.marks[1] != NO_MARK
    return before is not None and has_words and before[2] == entry.own[2] != NO_MARK


def _judge_queries(entries: Sequence[_Entry]) -> None:
    """Mark the items as known of which only the query of the link has changed.

    A session in the query changes all links of a feed. If only a few links have changed, an item
    without date and with a short text may be another item with the same title.
    """
    changed = [
        entry
        for entry in entries
        if not entry.is_known and not entry.is_dropped and entry.loose is not None
    ]
    steady = sum(bool(entry.identity.query) and entry.is_known_by_link for entry in entries)
    are_most = len(changed) >= _FEW and len(changed) > steady
    has_session = _has_session(entries)
    for entry in changed:
        if not entry.is_alone or entry.identity.marks[1] == NO_MARK:
            continue
        before, now = _marks(entry.loose), entry.identity.marks
        is_equal = before is not None and (before[1], before[3]) == (now[1], now[3])
        entry.is_known = (
            _has_same_date(entry)
            or (is_equal and (are_most or entry.identity.is_long))
            or (are_most and (has_session or entry.is_link_shared))
        )


def _has_session(entries: Sequence[_Entry]) -> bool:
    """Return whether a parameter with a random value is the same in all links that have a query."""
    queries = [set(entry.identity.query) for entry in entries if entry.identity.query]
    if len(queries) < _FEW:
        return False
    return any(is_random(value) for _, value in set.intersection(*queries))


def _new_pages(
    entries: Sequence[_Entry], state: FeedState, rules: ItemRules
) -> tuple[set[int], list[FeedItem]]:
    """Return the identities of the new items that are taken, and the items to send.

    Several items of one page are taken together, and the first of them in the feed is sent.
    """
    unknown = sort_oldest_first([entry.item for entry in entries if not entry.is_known])
    if not state.was_read:
        if state.options.is_only_new:
            unknown = []
        room = state.options.first_poll_max
        if room is None and state.options.kind is SourceKind.SITEMAP:
            room = FIRST_POLL_PAGES
        if room is not None:
            room = max(0, room - rules.taken)
            unknown = unknown[max(0, len(unknown) - room) :]
    new = {id(item) for item in unknown}
    pages: dict[bytes, int] = {}
    for entry in entries:
        if id(entry.item) in new:
            pages.setdefault(entry.identity.link, id(entry.item))
    sent = set(pages.values())
    return new, [item for item in unknown if id(item) in sent]


def _revisits(
    entries: Sequence[_Entry], state: FeedState, lookup: Lookup, at: float, rules: ItemRules
) -> tuple[list[FeedItem], dict[bytes, SeenItemRow], FeedState]:
    """Return known items that have really changed, the rows for revisits, and the new state."""
    rows: dict[bytes, SeenItemRow] = {}
    if rules.revisits_a_day <= 0 or state.options.kind is SourceKind.SECTION:
        return [], rows, state  # the text of a link is no title; it differs from place to place
    found = [(entry, _revisit_marks(entry), lookup(entry.identity.revisit)) for entry in entries]
    steady = [
        marks[2] == row.marks[2]
        for _, marks, row in found
        if row is not None and row.marks is not None and NO_MARK not in {marks[2], row.marks[2]}
    ]
    counts = 2 * sum(steady) > len(steady)
    is_counted = state.updated_counts and counts
    if steady:
        state = replace(state, updated_counts=counts)
    today = int(at // DAY)
    spent = state.revisits if state.revisit_day == today else 0
    revisits = []
    for entry, marks, row in found:
        before = None if row is None else row.marks
        if row is None or before is None or not entry.is_known or entry.is_link_shared:
            rows[entry.identity.revisit] = SeenItemRow(at, at, marks)
            continue
        has_words = before[:2] != marks[:2]
        if has_words or (is_counted and before[2] != marks[2] != NO_MARK):
            if spent >= rules.revisits_a_day:
                continue
            spent += 1
            revisits.append(entry.item)
            rows[entry.identity.revisit] = SeenItemRow(row.first, at, marks)
        elif (after := renew_row(row, at, rules.seen_days, marks)) is not None:
            rows[entry.identity.revisit] = after
    return revisits, rows, replace(state, revisit_day=today, revisits=spent)


def _revisit_marks(entry: _Entry) -> Marks:
    return (*entry.identity.words, entry.identity.updated, NO_MARK)


def _rows(entry: _Entry, state: FeedState, at: float, days: float) -> dict[bytes, SeenItemRow]:
    """Return the rows to write for an item.

    A known item gets no row under a key that changes at every poll, or the table would grow at
    every poll: neither a link nor a text if its guid or the words of its text have shown it.
    """
    identity, marks = entry.identity, entry.identity.marks
    is_shown = entry.is_known and not entry.is_former  # by another key than the missing one
    counts = state.guids_count and not entry.is_guid_shared
    needs_loose = entry.is_link_shared or bool(identity.query)
    keys: list[tuple[bytes | None, SeenItemRow | None, Marks | None, bool]] = [
        (identity.link, entry.link, None, not is_shown or entry.is_link_shared),
        (identity.guid, entry.guid, marks, counts),
        (identity.text, entry.text, None, entry.is_link_shared and not is_shown),
        (identity.loose, entry.loose, marks, needs_loose and not is_shown),
    ]
    rows = {}
    for key, row, own, is_wanted in keys:
        if key is None or (key == identity.guid and not counts):
            continue
        if row is None or row.is_dropped or (own is not None and not entry.is_known):
            after = SeenItemRow(at, at, own) if is_wanted else None
        else:
            after = renew_row(row, at, days, own)
        if after is not None:
            rows[key] = after
    return rows
