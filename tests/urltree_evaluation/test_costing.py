"""Tests of the cost: ratios of sums over the same documents; failures are left out and listed."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from tests.urltree_evaluation.streamed import (
    CORPUS,
    PART,
    Counting,
    predicted,
    single,
    stream,
    work,
)
from urltree_evaluation.corpus import CorpusPage
from urltree_evaluation.costs.cost import Cost, CostlyDocument, LeftOut, load_cost
from urltree_evaluation.costs.costing import measure_costs, summarise_costs
from urltree_evaluation.costs.measuring import PARSE, Trial
from urltree_evaluation.workspace import WorkspaceError

SIZES = {("c", "1"): 100, ("c", "2"): 200, ("d", "1"): 400}


def measured(extractor: str, **seconds: list[float]) -> dict[Trial, list[float]]:
    """Return the seconds of an extractor's passes. The key c1 is document "1" of corpus "c"."""
    return {Trial(name[0], name[1], extractor): passes for name, passes in seconds.items()}


PARSES = measured(PARSE.name, c1=[1, 1, 9], c2=[2, 2, 2], d1=[4, 3, 5])


def test_a_ratio_is_of_sums_over_the_documents_of_both() -> None:
    """The ratio is the extractor's seconds divided by those of the bare parse.

    Both are sums over the documents that both could process. The seconds of a document are the
    median of its passes.
    """
    found = summarise_costs(PARSES | measured("x", c1=[7, 2, 3], d1=[8, 8, 8]), SIZES, {}, {"x": 5})
    assert (found.documents, found.bytes, found.seconds) == (3, 700, 7)
    x = found.extractors["x"]
    assert (x.ratio, x.seconds, x.documents, x.bytes) == (11 / 5, 11, 2, 500)
    assert x.quartiles == (2.25, 2.5, 2.75)
    assert x.worst == (CostlyDocument("c", "1", 3), CostlyDocument("d", "1", 2))
    assert x.peak_memory == 5


def test_a_document_that_failed_in_one_pass_counts_in_none() -> None:
    """A document that failed in one pass is left out of the extractor's cost, with the reason.

    An extractor that failed on all documents has no cost.
    """
    left_out = {Trial("c", "1", "x"): "time", Trial("c", "2", "y"): "exception"}
    seconds = PARSES | measured("x", c1=[9], c2=[4]) | measured("y", c2=[1])
    found = summarise_costs(seconds, SIZES, left_out, {"x": None, "y": None}).extractors
    assert list(found) == ["x"]
    assert (found["x"].ratio, found["x"].left_out) == (2, (LeftOut("c", "1", "time"),))


def test_a_document_whose_bare_parse_fails_counts_nowhere() -> None:
    """A document whose bare parse fails is in no extractor's cost, because it has no ratio."""
    seconds = measured(PARSE.name, c1=[1]) | measured("x", c1=[2], c2=[100])
    found = summarise_costs(seconds, SIZES, {Trial("c", "2", PARSE.name): "exception"}, {"x": None})
    assert (found.documents, found.extractors["x"].ratio) == (1, 2)


def busy(seconds: float) -> None:
    """Use CPU time for the given number of seconds."""
    begun = time.process_time()
    while time.process_time() - begun < seconds:
        pass


def fails_on(bad: str) -> None:
    """Fail on pages "1", "2" and "3": by an exception, by ending the process, and by hanging."""
    if bad == "1":
        raise ValueError
    if bad == "2":
        os._exit(0)
    if bad == "3":
        time.sleep(60)


@pytest.mark.slow
def test_extractors_are_measured_side_by_side(tmp_path: Path) -> None:
    """An extractor that fails, ends the process or hangs does not affect the others."""
    workspace = work(tmp_path, 5)
    quick, slow = single("quick", lambda _: busy(0.001)), single("slow", lambda _: busy(0.02))
    extractors = {each.name: each for each in (quick, single("bad", fails_on), slow)}
    found = measure_costs(workspace, extractors, seconds=1)
    assert {name: each.documents for name, each in found.extractors.items()} == {
        "quick": 5,
        "bad": 2,
        "slow": 5,
    }
    assert found.extractors["slow"].ratio > found.extractors["quick"].ratio > 1
    assert sorted((each.id, each.why) for each in found.extractors["bad"].left_out) == [
        ("1", "exception"),
        ("2", "crash"),
        ("3", "time"),
    ]
    assert found == load_cost(tmp_path)


def test_a_stream_extractor_begins_anew_with_each_pass(tmp_path: Path) -> None:
    """Each pass makes a new stream extractor.

    It gets the documents of streams in order, and no documents of corpora of single pages.
    """
    log = tmp_path / "log"

    class Noted(Counting):
        def __call__(self, page: CorpusPage) -> str:
            text = super().__call__(page)
            with log.open("a") as out:
                out.write(f"{text}\n")
            return text

    measure_costs(
        work(tmp_path / "a", 30), {"noted": stream("noted", Noted)}, of_stream=3, passes=2
    )
    assert log.read_text().splitlines() == ["0", "0 10", "0 10 20"] * 2
    pages = work(tmp_path / "b", 3, kind="pages")
    assert measure_costs(pages, {"noted": stream("noted", Noted)}).extractors == {}


def test_what_was_measured_is_not_measured_again(tmp_path: Path) -> None:
    """The cost is measured again only if documents, passes or extractors have changed.

    Here the second run has the same document and measures nothing. The third run has two documents
    and measures both.
    """
    calls = tmp_path / "calls"

    def note(_html: str) -> None:
        with calls.open("a") as out:
            out.write("x")

    workspace = work(tmp_path, 5)
    before = measure_costs(workspace, {"note": single("note", note)}, of_stream=1, passes=1)
    assert measure_costs(workspace, {"note": single("note", note)}, of_stream=1, passes=1) == before
    assert calls.read_text() == "x"
    measure_costs(workspace, {"note": single("note", note)}, of_stream=2, passes=1)
    assert calls.read_text() == "xxx"


def test_peak_memory_is_of_an_extraction_that_came_later_too(tmp_path: Path) -> None:
    """A later extraction adds peak memory to the cost, and CPU times are kept."""
    workspace, same = work(tmp_path, 2), single("same", str)
    before = measure_costs(workspace, {"same": same}, passes=1).extractors["same"]
    assert before.peak_memory is None
    predicted(workspace, same)
    after = measure_costs(workspace, {"same": same}, passes=1).extractors["same"]
    assert after.peak_memory is not None
    assert (after.seconds, after.ratio) == (before.seconds, before.ratio)


def test_a_corpus_that_cannot_be_read_is_no_cost(tmp_path: Path) -> None:
    """A corpus that cannot be read is an error with a message, and not a cost of 0."""
    workspace = work(tmp_path)
    workspace.pages_file(CORPUS, PART).write_bytes(b"no zstd")
    with pytest.raises(
        WorkspaceError, match="cannot measure cost: the process fails before it calls an extractor"
    ):
        measure_costs(workspace, {"same": single("same", str)})


def test_peak_memory_and_what_is_deadly_are_known_from_extraction(tmp_path: Path) -> None:
    """Peak memory is the sum of the increases by the pages of a part.

    Documents that killed a process in the extraction are not measured.
    """
    tried = tmp_path / "tried"

    def grow(html: str) -> None:
        if html == "1":
            with tried.open("a") as out:
                out.write("1")
            os._exit(1)
        bytearray(b"x") * (int(html) * 20 << 20)

    growing = single("growing", grow)
    workspace = work(tmp_path, 4)
    predicted(workspace, growing, seconds=30)
    found = measure_costs(workspace, {"growing": growing}).extractors["growing"]
    assert found.peak_memory == pytest.approx(60 << 20, rel=0.2)
    assert found.left_out == (LeftOut(CORPUS, "1", "crash"),)
    assert tried.read_text() == "1"


def test_where_nothing_was_measured_there_is_no_cost(tmp_path: Path) -> None:
    """If no cost was measured, `load_cost` returns None."""
    nothing: Cost | None = load_cost(tmp_path)
    assert nothing is None
