"""Compare the job's outcomes with those of the library, where the order of a domain was kept.

Verdicts depend on the order of a domain's pages. The order is known if all pages of a domain came
over one partition of raw-html. The library then gets the same records in the order of their
offsets.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from models import clean_text, raw_html
from tests.chaos.auditor import ROWS
from tests.chaos.records import Record, Topics
from tests.job.kafka_records import domain_of
from urltree.extractor import Extractor
from urltree.output.extraction import Extraction
from urltree.page import PageError

Outcome = tuple[Any, ...]


@dataclass
class Comparison:
    """The result of a comparison.

    Attributes:
        domains: number of domains that were compared.
        pages: number of pages that were compared.
        differing: pages whose outcomes differ.
        unordered: number of domains whose pages came over several partitions.
        left: domains that a fault of the schedule or the window excludes.
        superseded: pages that the job calls duplicates of a later version. It does so with
            `revisits: replace` if a page is read again after its later version was stored; the
            library reads no page again.
    """

    domains: int = 0
    pages: int = 0
    differing: list[str] = field(default_factory=list)
    unordered: int = 0
    left: list[str] = field(default_factory=list)
    superseded: list[str] = field(default_factory=list)


def compare(topics: Topics, options: Mapping[str, Any]) -> Comparison:
    """Compare the outcomes of all domains whose order was kept.

    Args:
        topics: records of the topics.
        options: options of the library that equal the settings of the job.
    """
    result = Comparison()
    ours = of_job(topics)
    excluded, refused = _judged_again(topics), _too_large(topics)
    for domain, pages in _by_domain(topics).items():
        if len({page.partition for page in pages}) > 1:
            result.unordered += 1
        elif domain in excluded or any(page.place in refused for page in pages):
            result.left.append(domain)
        else:
            result.domains += 1
            result.pages += len(pages)
            theirs = of_library(pages, options)
            for origin, outcome in theirs.items():
                our = ours.get(origin)
                if our == outcome:
                    continue
                line = f"{origin}: {_difference(our, outcome)}"
                is_superseded = options["revisits"] == "replace" and _names_later(origin, our)
                (result.superseded if is_superseded else result.differing).append(line)
    return result


def _names_later(origin: str, outcome: Outcome | None) -> bool:
    """Return whether a page is a duplicate of a page with a later offset."""
    if outcome is None or outcome[0] != "duplicate":
        return False
    (place, _, offset), (other, _, later) = origin.rpartition("/"), outcome[3].rpartition("/")
    return bool(place == other and int(later) > int(offset))


def of_job(topics: Topics) -> dict[str, Outcome]:
    """Return the job's last outcome of each page, by its origin."""
    found: dict[str, Outcome] = {}
    for one in topics["duplicates"]:
        value = json.loads(one.value or b"{}")
        outcome = ("duplicate", value["id"], value["step"], value["first_origin"])
        found[(one.key or b"").decode()] = outcome
    for one in topics["dead-letters"]:
        reason, message = one.header("urltree-reason"), one.header("urltree-message")
        found[(one.key or b"").decode(errors="replace")] = ("error", reason, message)
    for one in topics["clean-text"]:
        value = json.loads(one.value or b"{}")
        before = found.get(value["origin"])
        # a replay may publish the first text again after its revision
        if before is None or before[0] != "ok" or before[1]["revision"] <= value["revision"]:
            found[value["origin"]] = ("ok", value)
    return found


def of_library(pages: list[Record], options: Mapping[str, Any]) -> dict[str, Outcome]:
    """Return the library's last outcome of each page of one domain, by its origin."""
    found: dict[str, Outcome] = {}
    with Extractor(revise=True, **options) as extractor:
        for page in pages:
            try:
                source = raw_html.decode(page.value, page.headers)
            except PageError as error:
                found[page.place] = ("error", str(error.reason), error.message)
                continue
            learned = extractor.learn(source, page.place)
            for one in (extractor.extraction(learned), *extractor.revisions()):
                found[one.origin] = _outcome(one)
    return found


def _outcome(found: Extraction) -> Outcome:
    if found.status == "ok":
        return ("ok", json.loads(clean_text.encode(found)))
    if found.status == "duplicate":
        return ("duplicate", found.id, found.duplicate_step, found.duplicate_of)
    return ("error", found.error, found.message)


def _by_domain(topics: Topics) -> dict[str, list[Record]]:
    """Return the readable pages of each domain in the order of their offsets."""
    found: dict[str, list[Record]] = defaultdict(list)
    for one in topics["raw-html"]:
        if one.header("urltree-origin") is None and one.header("urltree-command") is None:
            try:
                page = raw_html.decode(one.value, one.headers)
            except PageError:
                continue
            found[domain_of(page).decode()].append(one)
    found.pop("nowhere", None)
    return found


def _judged_again(topics: Topics) -> set[str]:
    """Return the domains in which a page was judged again after it had left its window."""
    gone = {one.key for one in topics[ROWS] if one.value is None}
    said: set[tuple[str, int]] = set()
    found = set()
    for one in topics["clean-text"]:
        value = json.loads(one.value or b"{}")
        place = value["origin"], value["revision"]
        row = value["domain"].encode() + b"\0" + bytes.fromhex(value["id"])
        if place in said and row in gone:
            found.add(value["domain"])
        said.add(place)
    return found


def _too_large(topics: Topics) -> set[str]:
    """Return the origins of pages that a limit refused.

    The limits max_page_bytes and max.message.bytes are no options of the library.
    """
    return {
        (one.key or b"").decode()
        for one in topics["dead-letters"]
        if one.header("urltree-reason") == "too-large"
    }


def _difference(ours: Outcome | None, theirs: Outcome) -> str:
    if ours is None:
        return f"no outcome, the library has {theirs[0]}"
    if ours[0] == theirs[0] == "ok":
        names = sorted(n for n in ours[1] | theirs[1] if ours[1].get(n) != theirs[1].get(n))
        named = {n: (str(ours[1].get(n))[:60], str(theirs[1].get(n))[:60]) for n in names}
        return f"clean texts differ in {named}"
    return f"{str(ours)[:200]}, the library has {str(theirs)[:200]}"
