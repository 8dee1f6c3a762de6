"""Two stages on a real Kafka turn raw-html into clean text, duplicates and dead letters."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest

from agents.kafka.partitions import partition_of
from agents.settings.job import Settings
from models import clean_text, document, duplicate, raw_html
from models.dead_letter import DeadLetter
from models.headers.names import ORIGIN, REKEYED
from tests.agents.records import PARTITIONS, Publish, ReadAll, Sent
from tests.agents.workers import work
from urltree.page import Page

pytestmark = pytest.mark.kafka


@pytest.fixture
def settings(settings: Settings, tmp_path: Path) -> Settings:
    """Return settings of workers with their own data directory."""
    return settings.model_copy(update={"data_dir": tmp_path, "commit_seconds": 0.3})


def page(path: str = "a", **fields: Any) -> bytes:
    """Return the record value of a page of example.org; only its first line is unique."""
    html = f"<html><body><p>This is {path} and nothing else.</p><p>Imprint and contact</p>"
    return raw_html.encode(Page(**{"url": f"https://example.org/{path}", "html": html} | fields))


def raw(value: bytes | None, key: bytes | None = b"example.org", **fields: Any) -> Sent:
    """Return a record of the topic raw-html."""
    return Sent("raw-html", key, value, **fields)


def test_pages_become_clean_text_without_what_their_site_repeats(
    job: Settings, publish: Publish, read_all: ReadAll
) -> None:
    """Each page becomes one clean text in the partition of its domain.

    Blocks that the site repeats are removed.
    """
    origins = publish(*(raw(page(f"page-{letter}")) for letter in "abcdefgh"))
    work(job)
    records = read_all("clean-text")
    texts = [clean_text.decode(record.value) for record in records]
    assert sorted(text["origin"] for text in texts) == sorted(origins)
    assert {record.partition for record in records} == {partition_of(b"example.org", PARTITIONS)}
    assert [record.key.decode() for record in records] == [text["id"] for text in texts]
    assert texts[-1]["text"] == "This is page-h and nothing else."
    assert texts[0]["text"].endswith("Imprint and contact")


def test_the_same_page_again_is_a_duplicate_of_the_first(
    job: Settings, publish: Publish, read_all: ReadAll
) -> None:
    """A second copy of a page is reported as a duplicate of the first, with its own origin."""
    first, second = publish(raw(page()), raw(page()))
    work(job)
    (found,) = read_all("duplicates")
    assert found.key.decode() == second
    assert duplicate.decode(found.value).first_origin == first
    assert len(read_all("clean-text")) == 1


AT_FAULT = [
    (None, "malformed"),
    (b"", "malformed"),
    (b"\xff\x00 no JSON", "malformed"),
    (b'{"schema": 1, "html": "<p>text"}', "no-url"),
    (page(url="http://"), "bad-url"),
    (page(html=" \n"), "empty"),
    (page(status=404), "http-status"),
    (page(content_type="application/pdf"), "not-html"),
]


def test_a_page_at_fault_is_a_dead_letter_with_its_bytes_and_its_reason(
    job: Settings, publish: Publish, read_all: ReadAll
) -> None:
    """An invalid page becomes a dead letter with the unchanged record and a reason.

    The page after each invalid one is processed.
    """
    headers, key = [("mine", b"\xff"), ("none", None)], b"\xfe key"
    origins = publish(
        *(
            record
            for number, (value, _) in enumerate(AT_FAULT)
            for record in (raw(value, key, headers=headers, partition=2), raw(page(f"{number}")))
        )
    )
    work(job)
    letters = [DeadLetter.from_record(r.key, r.value, r.headers) for r in read_all("dead-letters")]
    found = {one.origin: (one.stage, one.reason, one.original) for one in letters}
    assert found == {
        origin: ("normalize", reason, (key, value, tuple(headers)))
        for origin, (value, reason) in zip(origins[::2], AT_FAULT, strict=True)
    }
    assert len(letters) == len(AT_FAULT)
    texts = [clean_text.decode(record.value)["origin"] for record in read_all("clean-text")]
    assert sorted(texts) == sorted(origins[1::2])


def test_a_record_under_another_key_or_partition_is_put_under_its_domain(
    job: Settings, publish: Publish, read_all: ReadAll
) -> None:
    """A record with another key or partition is sent again with its domain as the key.

    Librdkafka assigns keys to partitions by CRC32, and many clients send no keys.
    """
    right = partition_of(b"example.org", PARTITIONS)
    misplaced = (right + 1) % PARTITIONS
    places: dict[bytes | None, int] = {None: misplaced}
    for key in (b"example.org", b"other.org", b"\xff\xfe", b""):
        places[key] = crc32(key) % PARTITIONS
    if places[b"example.org"] == right:
        places[b"example.org"] = misplaced
    origins = publish(
        *(
            raw(page(f"{number}"), key, partition=placed)
            for number, (key, placed) in enumerate(places.items())
        )
    )
    work(job)
    records = read_all("clean-text")
    assert sorted(clean_text.decode(r.value)["origin"] for r in records) == sorted(origins)
    assert {record.partition for record in records} == {right}
    keys: dict[bytes | None, list[bytes | None]] = defaultdict(list)
    for record in read_all("raw-html"):
        keys[dict(record.headers).get(ORIGIN)].append(record.key)
    assert {origin: keys[origin.encode()] for origin in origins} == {
        origin: [b"example.org"] for origin in origins
    }


def test_a_re_keyed_record_that_is_misplaced_still_is_a_dead_letter(
    job: Settings, publish: Publish, read_all: ReadAll
) -> None:
    """A re-keyed record in a wrong partition becomes a dead letter, and is not re-keyed again."""
    headers = [(ORIGIN, b"raw-html/0/7"), (REKEYED, b"1")]
    publish(raw(page(), b"other.org", headers=headers))
    work(job)
    (record,) = read_all("dead-letters")
    letter = DeadLetter.from_record(record.key, record.value, record.headers)
    assert (letter.origin, letter.reason) == ("raw-html/0/7", "misplaced")


def test_a_replayed_dead_letter_keeps_its_first_origin(
    job: Settings, publish: Publish, read_all: ReadAll
) -> None:
    """The replay of a corrected dead letter gives clean text with the origin of the first record.

    It is not a duplicate, because a dead letter is not stored in the table `seen`.
    """
    (origin,) = publish(raw(page(status=503)))
    work(job)
    publish(raw(page(), headers=[(ORIGIN, origin.encode())]))
    work(job)
    (record,) = read_all("clean-text")
    assert clean_text.decode(record.value)["origin"] == origin
    assert not read_all("duplicates")


def test_a_document_at_fault_is_a_dead_letter_of_extract(
    job: Settings, publish: Publish, read_all: ReadAll
) -> None:
    """A document that is null, invalid or misplaced becomes a dead letter of `extract`."""
    publish(raw(page()))
    work(job)
    (good,) = read_all("documents")
    assert document.decode(good.value).domain == "example.org"
    publish(
        Sent("documents", b"example.org", None),
        Sent("documents", b"example.org", b"{}"),
        Sent("documents", b"example.org", good.value, partition=(good.partition + 1) % PARTITIONS),
        Sent("documents", None, good.value, partition=good.partition),
    )
    work(job)
    letters = [DeadLetter.from_record(r.key, r.value, r.headers) for r in read_all("dead-letters")]
    assert {letter.stage for letter in letters} == {"extract"}
    assert sorted(letter.reason for letter in letters) == [*["malformed"] * 2, *["misplaced"] * 2]


def test_what_is_larger_than_a_record_may_be_is_a_dead_letter_and_teaches_nothing(
    job: Settings, publish: Publish, read_all: ReadAll
) -> None:
    """A page whose document is too large becomes a dead letter, and no row is stored for it."""
    small = job.model_copy(update={"max_record_bytes": 20_000, "max_page_bytes": 1_000_000})
    text = "".join(f"<p>{'word ' * 50}{n}</p>" for n in range(100))
    (origin,) = publish(raw(page(html=text)))
    work(small)
    (record,) = read_all("dead-letters")
    letter = DeadLetter.from_record(record.key, record.value, record.headers)
    assert (letter.origin, letter.reason) == (origin, "too-large")
    assert not read_all("urltree-normalize-seen-changelog")


def test_clean_text_that_is_too_large_as_markdown_is_a_dead_letter_and_teaches_nothing(
    job: Settings, publish: Publish, read_all: ReadAll
) -> None:
    """A page whose clean text is too large becomes a dead letter, and no row is stored for it.

    Here the document is small, but Markdown indents each line of code in eight nested lists.
    """
    small = job.model_copy(update={"max_record_bytes": 20_000, "markdown": True})
    (origin, _) = publish(
        raw(page(html="<ol><li>" * 8 + "<pre>" + "a\n" * 2000)), raw(page("small"))
    )
    work(small)
    (record,) = read_all("dead-letters")
    letter = DeadLetter.from_record(record.key, record.value, record.headers)
    assert (letter.origin, letter.reason, letter.stage) == (origin, "too-large", "extract")
    (text,) = read_all("clean-text")
    assert clean_text.decode(text.value)["markdown"].startswith("This is small")
    assert len(read_all("urltree-extract-rows-changelog")) == 1


def test_a_restart_goes_on_where_the_last_commit_was(
    job: Settings, publish: Publish, read_all: ReadAll
) -> None:
    """After an orderly stop, the next worker continues at the last commit with the same tables."""
    publish(*(raw(page(f"page-{letter}")) for letter in "abcde"))
    work(job)
    publish(raw(page("page-f")), raw(page("page-a")))
    work(job)
    texts = [clean_text.decode(record.value) for record in read_all("clean-text")]
    assert len(texts) == 6
    assert texts[-1]["text"] == "This is page-f and nothing else."
    assert len(read_all("duplicates")) == 1
