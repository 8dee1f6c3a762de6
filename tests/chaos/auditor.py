"""An independent account of every input, from nothing but the records of the topics.

    ledger (what Kafka confirmed to producers, what sites have published)
       │
       ▼ raw-html ──▶ clean-text │ duplicates │ dead-letters          lost, invented, wrong
         documents ──▶ changelog of rows                              wrong counts

This module imports neither the job nor Faust nor a module of urltree. It reads the stored forms
itself, as the schemas and `docs/job.md` describe them. `comparison.py` compares texts with the
library.
"""

from __future__ import annotations

import json
import struct
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tests.chaos.records import Record, Topics

OUTPUTS = ("clean-text", "duplicates", "dead-letters")
ROWS = "urltree-extract-rows-changelog"
TOPICS = ("raw-html", "fetches", "documents", *OUTPUTS, ROWS)

CLEAN, DEAD, ANY = "clean", "dead", "any"

_ID = "chaos-input"  # header with the id of an input
_META = "input"  # meta string with the same id
_HEAD = struct.Struct("<BHBqQ")  # a row: version, tokenizer, flags, time, digest
_LENGTH = struct.Struct("<H")
_VERDICT = struct.Struct("<HII")  # depth, support, number of blocks
_COUNT = struct.Struct("<I")
_LEFT_OUT = 64  # flag of a row whose page is a listing
_ID_BYTES = 16
_LONGEST_BRANCH = 64


Place = tuple[str, str]  # domain and id of a document


@dataclass(frozen=True)
class Ledger:
    """Everything that must have an outcome.

    Attributes:
        inputs: what is expected of each input (CLEAN, DEAD, ANY), by its id.
        links: the same of each story of a feed, by the link to its page.
        allowed: reasons for which a good page may be a dead letter, because of a fault that was
            injected, such as `too-large`.
    """

    inputs: Mapping[str, str]
    links: Mapping[str, str]
    allowed: frozenset[str] = frozenset()


@dataclass
class Findings:
    """The result of an audit; every list is empty if all is well, except `repeats`.

    Attributes:
        lost: inputs without an outcome.
        invented: outcomes of nothing that was published.
        wrong: inputs with a wrong outcome, or with outcomes that contradict each other.
        counts: differences between rows, documents and clean texts.
        changed: (id, revision) with different values of one page that stayed in its window.
        changed_after_window: the same for a page that had left its window.
        changed_without_order: the same for a page whose versions came over several partitions.
            The job knows their order only by their document times, which may be equal
            (`urltree/site/revisits.py`), so a replay may replace a later version.
        outcomes: number of pages by outcome.
        repeats: number of output records that repeat an earlier one.
    """

    lost: list[str] = field(default_factory=list)
    invented: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    counts: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    changed_after_window: list[str] = field(default_factory=list)
    changed_without_order: list[str] = field(default_factory=list)
    outcomes: Counter[str] = field(default_factory=Counter)
    repeats: int = 0

    @property
    def complaints(self) -> list[str]:
        """All faults of the job."""
        return [*self.lost, *self.invented, *self.wrong, *self.counts, *self.changed]


class StoredRow(NamedTuple):
    """The parts of a row that an audit needs."""

    origin: str
    branch: tuple[str, ...]
    hashes: tuple[int, ...]
    is_left_out: bool


class Said(NamedTuple):
    """One output record about a page; `reason` is that of a dead letter, else empty."""

    topic: str
    key: bytes
    revision: int
    reason: str
    value: bytes


def audit(ledger: Ledger, topics: Topics) -> Findings:
    """Account for every input, and recount every tree."""
    found = Findings()
    pages = [one for one in topics["raw-html"] if one.header("urltree-origin") is None]
    said = _said(topics)
    _account_for_inputs(ledger, pages, said, found)
    _account_for_links(ledger, pages, topics, said, found)
    _check_outcomes(ledger, pages, said, found)
    published = {one.place for one in (*pages, *topics["fetches"])}
    feeds = {origin for origin in said if origin.startswith("feeds/")}
    found.invented += [
        f"{origin}: nothing was published there"
        for origin in sorted(said.keys() - published - feeds)
    ]
    _check_values(topics, said, found)
    _recount(topics, found)
    return found


def ids(pages: Iterable[Record]) -> dict[str, list[Record]]:
    """Return the records of each input, by its id; a producer may have sent an input twice."""
    found: dict[str, list[Record]] = defaultdict(list)
    for page in pages:
        if (id_ := page.header(_ID)) is not None:
            found[id_].append(page)
    return found


def link_of(page: Record) -> str | None:
    """Return the address that a fetched page, or a request for one, was asked for."""
    try:
        return page.header("url") or json.loads(page.value or b"null")["url"]
    except (ValueError, TypeError, KeyError):
        return None


def _said(topics: Topics) -> dict[str, list[Said]]:
    """Return all output records by the origin of their page."""
    said: dict[str, list[Said]] = defaultdict(list)
    for topic in OUTPUTS:
        for one in topics[topic]:
            key, value = one.key or b"", one.value or b""
            origin, revision = key.decode(errors="replace"), 0
            if topic == "clean-text":
                text = json.loads(value)
                origin, revision = text["origin"], text["revision"]
            reason = one.header("urltree-reason") or ""
            said[origin].append(Said(topic, key, revision, reason, value))
    return said


def _account_for_inputs(
    ledger: Ledger, pages: list[Record], said: Mapping[str, list[Said]], found: Findings
) -> None:
    """Look for each input of a producer in raw-html and in the outputs."""
    records = ids(pages)
    for id_ in ledger.inputs:
        if id_ not in records:
            found.lost.append(f"{id_}: confirmed to the producer, but not in raw-html")
        found.lost += [
            f"{id_}: {record.place} has no outcome"
            for record in records.get(id_, ())
            if record.place not in said
        ]


def _account_for_links(
    ledger: Ledger,
    pages: list[Record],
    topics: Topics,
    said: Mapping[str, list[Said]],
    found: Findings,
) -> None:
    """Look for each story of a feed in raw-html or among the refused requests."""
    fetched: dict[str, list[Record]] = defaultdict(list)
    for page in pages:
        if page.header(_ID) is None:
            fetched[link_of(page) or ""].append(page)
    refused = {
        link_of(one._replace(headers=()))
        for one in topics["dead-letters"]
        if one.header("urltree-topic") == "fetches"
    }
    for link in fetched.keys() - ledger.links.keys():
        found.invented.append(f"{link}: in raw-html, but nobody asked for it")
    for link, expect in ledger.links.items():
        found.lost += [
            f"{link}: {page.place} has no outcome"
            for page in fetched.get(link, ())
            if page.place not in said
        ]
        if link not in fetched and link not in refused:
            found.lost.append(f"{link}: neither fetched nor refused")
        elif link not in fetched and expect == CLEAN:
            found.wrong.append(f"{link}: refused, but the site has the page")
    found.outcomes["fetch requests refused"] = len(refused)


def _check_outcomes(
    ledger: Ledger, pages: list[Record], said: Mapping[str, list[Said]], found: Findings
) -> None:
    for page in pages:
        id_ = page.header(_ID)
        if id_ is not None and id_ not in ledger.inputs:
            found.invented.append(f"{id_}: in raw-html, but no producer sent it")
        expect = CLEAN if id_ is None else ledger.inputs.get(id_, ANY)
        outcomes = said.get(page.place, [])
        kinds = {one.topic for one in outcomes}
        for kind in kinds:
            found.outcomes[kind] += 1
        name = f"{id_ or link_of(page)} ({page.place})"
        found.wrong += [f"{name}: {why}" for why in _faults(page, expect, outcomes, ledger)]


def _faults(page: Record, expect: str, outcomes: list[Said], ledger: Ledger) -> Iterator[str]:
    """Yield what is wrong with the outcomes of one page."""
    kinds = {one.topic for one in outcomes}
    reasons = {one.reason for one in outcomes if one.topic == "dead-letters"}
    if expect == DEAD and kinds - {"dead-letters"}:
        yield f"should be a dead letter, is in {', '.join(sorted(kinds))}"
    if expect == CLEAN and reasons - ledger.allowed:
        yield f"nothing is wrong with the page, but it is a dead letter: {', '.join(reasons)}"
    if "internal" in reasons:
        yield "processing failed (internal)"
    if len(kinds) > 1 and not _was_replaced(page, outcomes) and not reasons & ledger.allowed:
        yield f"has several outcomes: {', '.join(sorted(kinds))}"
    id_ = page.header(_ID)
    for one in outcomes:
        if one.topic == "clean-text":
            text = json.loads(one.value)
            if id_ is not None and (text.get("meta") or {}).get(_META) != id_:
                yield f"its clean text belongs to {text.get('meta')}"
            if one.key.decode() != text["id"]:
                yield f"its clean text has the key {one.key!r} and the id {text['id']}"
    if len({one.key for one in outcomes if one.topic == "clean-text"}) > 1:
        yield "has clean texts with different ids"


def _was_replaced(page: Record, outcomes: list[Said]) -> bool:
    """Return whether each duplicate names a later page.

    A page that is older than the horizon of `seen` leaves it, so a later copy counts as new. If the
    old page is read again after that, it becomes a duplicate of its copy.
    """
    firsts = [
        json.loads(one.value)["first_origin"] for one in outcomes if one.topic == "duplicates"
    ]
    return bool(firsts) and all(_order(first) > _order(page.place) for first in firsts)


def _order(place: str) -> tuple[int, ...]:
    return tuple(map(int, place.split("/")[1:]))[::-1]


def _check_values(topics: Topics, said: Mapping[str, list[Said]], found: Findings) -> None:
    """Compare the values of each page under one (id, revision)."""
    gone = {one.key for one in topics[ROWS] if one.value is None}
    sources: dict[bytes, set[str]] = defaultdict(set)  # partitions of the versions of an id
    for origin, outcomes in said.items():
        for one in outcomes:
            if one.topic == "clean-text":
                sources[one.key].add(origin.rpartition("/")[0])
    for origin, outcomes in said.items():
        places = Counter((one.topic, one.key, one.revision) for one in outcomes)
        found.repeats += places.total() - len(places)
        values = {one for one in outcomes if one.topic == "clean-text"}
        for (_, key, revision), count in Counter(one[:3] for one in values).items():
            if count > 1:
                text = json.loads(next(one.value for one in values if one.key == key))
                row = text["domain"].encode() + b"\0" + bytes.fromhex(text["id"])
                line = f"{origin}: {count} values of {key.decode()}, revision {revision}"
                if row in gone:
                    found.changed_after_window.append(line)
                elif len(sources[key]) > 1:
                    found.changed_without_order.append(line)
                else:
                    found.changed.append(line)


def _recount(topics: Topics, found: Findings) -> None:
    """Recount the trees from rows, from documents and from clean texts, and compare."""
    now, learned = _rows(topics)
    made = _documents(topics)
    values = [json.loads(one.value or b"null") for one in topics["clean-text"]]
    texts = {(text["domain"], text["id"]) for text in values}
    _compare_sets(made.keys(), learned, texts, topics, found)
    found.counts += [
        f"{domain}: its state is in partitions {sorted(partitions)}"
        for domain, partitions in _homes(topics).items()
        if len(partitions) > 1
    ]
    from_rows: Counter[tuple[str, ...]] = Counter()
    from_documents: Counter[tuple[str, ...]] = Counter()
    for place, row in now.items():
        document = made.get(place, {}).get(row.origin)
        if document is None:
            found.counts.append(f"{place}: its row names {row.origin}, which made no document")
            continue
        if set(row.hashes) != set(document["blocks"]["hash"]):
            found.counts.append(f"{place}: its row has other block hashes than its document")
        from_rows.update(_nodes(place[0], row.branch))
        from_documents.update(_nodes(place[0], branch_of(place[0], document["url_key"])))
    found.counts += [
        f"{'/'.join(node)}: {from_rows[node]} rows, {from_documents[node]} documents"
        for node in from_rows.keys() | from_documents.keys()
        if from_rows[node] != from_documents[node]
    ]


def _nodes(domain: str, branch: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Return all nodes of a branch, each of which counts the document."""
    return [(domain, *branch[:depth]) for depth in range(len(branch) + 1)]


def _place_of(key: bytes) -> Place:
    """Return domain and id of a row's key: domain, NUL, id."""
    return key[: -_ID_BYTES - 1].decode(), key[-_ID_BYTES:].hex()


def _rows(topics: Topics) -> tuple[dict[Place, StoredRow], set[Place]]:
    """Return the rows of the changelog as they are now, and the places of all rows ever."""
    now: dict[Place, StoredRow] = {}
    ever: set[Place] = set()
    for one in topics[ROWS]:
        if one.key is None:
            continue
        place = _place_of(one.key)
        if one.value is None:
            now.pop(place, None)
        else:
            now[place] = read_row(one.value)
            ever.add(place)
    return now, ever


def _documents(topics: Topics) -> dict[Place, dict[str, dict[str, Any]]]:
    """Return all documents by place and origin."""
    made: dict[Place, dict[str, dict[str, Any]]] = defaultdict(dict)
    for one in topics["documents"]:
        if one.value is not None and one.header("urltree-command") is None:
            document = json.loads(one.value)
            made[document["domain"], document["id"]][document["origin"]] = document
    return made


def _homes(topics: Topics) -> dict[str, set[int]]:
    """Return the partitions in which each domain has documents or rows."""
    homes: dict[str, set[int]] = defaultdict(set)
    for one in topics["documents"]:
        if one.key is not None:
            homes[one.key.decode()].add(one.partition)
    for one in topics[ROWS]:
        if one.key is not None:
            homes[_place_of(one.key)[0]].add(one.partition)
    return homes


def _compare_sets(
    made: AbstractSet[Place],
    learned: AbstractSet[Place],
    texts: set[Place],
    topics: Topics,
    found: Findings,
) -> None:
    """Compare the documents that were made, learned and published."""
    refused = set()
    for one in topics["dead-letters"]:
        if one.header("urltree-topic") == "documents" and one.value is not None:
            document = json.loads(one.value)
            refused.add((document["domain"], document["id"]))
    found.counts += [
        f"{each}: a document without a row" for each in sorted(made - learned - refused)
    ]
    found.counts += [f"{each}: a row without a document" for each in sorted(learned - made)]
    found.counts += [f"{each}: a row without a text" for each in sorted(learned - texts - refused)]
    found.counts += [f"{each}: a text without a row" for each in sorted(texts - learned)]


def read_row(stored: bytes) -> StoredRow:
    """Read the parts of a row, version 1."""
    version, _, flags, _, _ = _HEAD.unpack_from(stored)
    if version != 1:
        raise ValueError(f"a row has version {version}, but the audit knows only version 1")
    origin, at = _string(stored, _HEAD.size)
    branch, at = _string(stored, at)
    _, at = _string(stored, at)  # name of the heuristic
    _, _, blocks = _VERDICT.unpack_from(stored, at + _LENGTH.size)
    at += _LENGTH.size + _VERDICT.size + (blocks + 7) // 8
    (distinct,) = _COUNT.unpack_from(stored, at)
    hashes = struct.unpack_from(f"<{distinct}Q", stored, at + _COUNT.size)
    names = tuple(branch.split("\0")) if branch else ()
    return StoredRow(origin, names, hashes, bool(flags & _LEFT_OUT))


def _string(stored: bytes, at: int) -> tuple[str, int]:
    (length,) = _LENGTH.unpack_from(stored, at)
    end = at + _LENGTH.size + length
    return stored[at + _LENGTH.size : end].decode(), end


def branch_of(domain: str, url_key: str) -> tuple[str, ...]:
    """Return the nodes of a URL below the root: its host, path segments and query."""
    rest = url_key.removeprefix("https://")
    rest, hash_, fragment = rest.partition("#")
    rest, mark, query = rest.partition("?")
    host, *path = rest.split("/")
    nodes = [] if host in {domain, f"www.{domain}"} else [host]
    nodes += [name for name in path if name]
    nodes += [part for part in (mark + query, hash_ + fragment) if part]
    if len(nodes) > _LONGEST_BRANCH:
        nodes = [*nodes[: _LONGEST_BRANCH - 1], "/".join(nodes[_LONGEST_BRANCH - 1 :])]
    return tuple(nodes)
