"""Schedules of faults on three brokers, and an auditor that notices when something is wrong.

`make test` runs one short schedule; `make test-all` runs five more. `make chaos` runs any number.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.chaos.auditor import OUTPUTS, ROWS, Ledger, audit, read_row
from tests.chaos.comparison import compare
from tests.chaos.plan import make_plan
from tests.chaos.records import Record, Topics
from tests.chaos.schedule import Result, Run, options_of
from tests.conftest import Record as Report

QUICK = 1440  # seed whose plan for 15 s kills a worker and a broker
SECONDS = 15.0
SEEDS = range(1, 6)
LONG = 120.0

pytestmark = [pytest.mark.kafka, pytest.mark.slow]


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> Result:
    """Run the quick schedule once, and return its result with all records."""
    return Run(make_plan(QUICK, SECONDS), tmp_path_factory.mktemp("quick"), print).run()


def test_nothing_is_lost_in_a_short_schedule(quick: Result, record: Report) -> None:
    """The whole job on three brokers loses nothing while a worker and a broker are killed."""
    record(f"chaos: {quick.line()}")
    assert quick.complaints == []
    assert quick.unfinished == ""
    assert quick.comparison.pages > 50
    assert quick.proxied > 0
    assert quick.refused == []


@pytest.mark.thorough
@pytest.mark.parametrize("seed", SEEDS)
def test_nothing_is_lost_in_a_schedule(seed: int, tmp_path: Path, record: Report) -> None:
    """Two minutes of faults by seed: nothing is lost, counts are right, texts are the library's."""
    result = Run(make_plan(seed, LONG), tmp_path, print).run()
    record(f"chaos: {result.line()}")
    assert result.complaints == []


# The auditor must be able to fail: each of these changes to the records makes it complain.


@pytest.mark.parametrize("topic", OUTPUTS)
def test_a_dropped_output_is_lost(quick: Result, topic: str) -> None:
    """An input whose only outcome is missing is reported as lost."""
    dropped = _said_once(quick, topic)[0]
    records = [one for one in quick.topics[topic] if one is not dropped]
    assert len(audit(quick.ledger, {**quick.topics, topic: records}).lost) == 1


def test_an_input_that_never_arrived_is_lost(quick: Result) -> None:
    """An input that Kafka confirmed, but that is not in raw-html, is reported as lost."""
    ledger = quick.ledger
    more = Ledger({**ledger.inputs, "p9-1": "clean"}, {**ledger.links, "http://x.example/": "any"})
    assert len(audit(more, quick.topics).lost) == 2


def test_an_unknown_input_is_invented(quick: Result) -> None:
    """A page that no producer sent is reported."""
    inputs = dict(quick.ledger.inputs)
    del inputs["p1-0"]
    assert len(audit(replace(quick.ledger, inputs=inputs), quick.topics).invented) == 1


def test_a_text_of_another_page_is_wrong(quick: Result) -> None:
    """A clean text that belongs to another input is reported."""
    topics = _with_text(quick, lambda text: {**text, "meta": {"input": "p0-999999"}})
    assert audit(quick.ledger, topics).wrong


def test_a_changed_text_differs_from_the_library(quick: Result) -> None:
    """One changed word in one text is found by the comparison with the library."""
    topics = _with_text(quick, lambda text: {**text, "text": f"{text['text']} more"})
    assert len(compare(topics, options_of(quick.plan)).differing) == 1


def test_two_values_of_one_page_are_reported(quick: Result) -> None:
    """A second, different value under one (id, revision) is reported."""
    topics = dict(quick.topics)
    one = _comparable(quick)
    text = json.loads(one.value or b"")
    other = json.dumps({**text, "text": "another text"}).encode()
    topics["clean-text"] = [*topics["clean-text"], one._replace(value=other, offset=10**6)]
    assert audit(quick.ledger, topics).changed


def test_a_document_that_is_counted_twice_is_a_wrong_count(quick: Result) -> None:
    """A row of a document that was never made is reported."""
    topics = dict(quick.topics)
    row = next(one for one in topics[ROWS] if one.value is not None)
    key = (row.key or b"")[:-16] + bytes(16)
    topics[ROWS] = [*topics[ROWS], row._replace(key=key, offset=10**6)]
    assert audit(quick.ledger, topics).counts


def test_a_row_on_another_branch_is_a_wrong_count(quick: Result) -> None:
    """A row whose document is counted at another node is reported with both counts."""
    topics = dict(quick.topics)
    rows = [one for one in topics[ROWS] if one.value is not None]
    row = next(one for one in reversed(rows) if len(read_row(one.value or b"").branch) > 1)
    stored = row.value or b""
    branch = "\0".join(read_row(stored).branch).encode()
    moved = branch[:-1] + bytes([branch[-1] ^ 1])
    changed = row._replace(value=stored.replace(branch, moved, 1), offset=10**6)
    topics[ROWS] = [*topics[ROWS], changed]
    assert any("rows" in line for line in audit(quick.ledger, topics).counts)


def test_a_missing_row_is_a_wrong_count(quick: Result) -> None:
    """A document that was never learned is reported."""
    topics = dict(quick.topics)
    key = next(one.key for one in topics[ROWS])
    topics[ROWS] = [one for one in topics[ROWS] if one.key != key]
    assert audit(quick.ledger, topics).counts


def _said_once(result: Result, topic: str) -> list[Record]:
    """Return the records of a topic whose pages have exactly one outcome."""
    pages = {one.place for one in result.topics["raw-html"]}
    origins = [(origin_of(one), one) for name in OUTPUTS for one in result.topics[name]]
    times: dict[str, int] = {}
    for origin, _ in origins:
        times[origin] = times.get(origin, 0) + 1
    return [
        one
        for origin, one in origins
        if one.topic == topic and times[origin] == 1 and origin in pages
    ]


def origin_of(one: Record) -> str:
    """Return the origin of the page of an output record."""
    if one.topic == "clean-text":
        return str(json.loads(one.value or b"")["origin"])
    return (one.key or b"").decode()


def _comparable(result: Result) -> Record:
    """Return a clean text of a producer whose order is kept, and that was said once."""
    return next(
        one
        for one in _said_once(result, "clean-text")
        if json.loads(one.value or b"")["domain"].startswith("p1-site")
    )


def _with_text(result: Result, change: Callable[[dict[str, object]], dict[str, object]]) -> Topics:
    one = _comparable(result)
    changed = one._replace(value=json.dumps(change(json.loads(one.value or b""))).encode())
    texts = [changed if each is one else each for each in result.topics["clean-text"]]
    return {**result.topics, "clean-text": texts}
