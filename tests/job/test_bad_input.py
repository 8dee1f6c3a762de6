"""Each bad record becomes clean text, or a dead letter with a reason.

A page takes at most 2 s of the workers' CPU time, and both workers together grow by less than
300 MiB above their idle size. The best of three tries counts. CPU time is limited and not wall
time, because a busy machine gives the workers only a part of its time. The tests allow four times
as much CPU time, for slow machines.
"""

from __future__ import annotations

import base64
import itertools
from collections.abc import Callable, Iterator
from random import Random
from typing import Any, NamedTuple

import orjson
import pytest

from tests.conftest import Record
from tests.job.harness import Job
from tests.job.kafka_records import Sent, keyed, partition_of
from tests.job.pages import pages
from tests.job.pipeline import BAD_NAME, Answer, Pipeline

SECONDS = 4 * 2.0
MIB = 300.0
TRIES = 3
TEN_MB = 10_000_000

numbers = itertools.count()

Make = Callable[[], Sent]


class Case(NamedTuple):
    """Bad input and its expected outcome.

    Attributes:
        make: function that returns a new record at each call.
        kind: `clean-text`, or the reason of the dead letter.
        text: string that the clean text or the message of the dead letter must contain.
    """

    make: Make
    kind: str
    text: str = ""


def sent(value: bytes | None, domain: str) -> Sent:
    """Return a record with the domain as its key, in the right partition."""
    return Sent(domain.encode(), value, partition_of(domain.encode()))


def new_domain() -> str:
    """Return a new domain, because text that two pages of a domain share would be boilerplate."""
    return f"bad{next(numbers)}.example"


def fields(**given: Any) -> Make:
    """Return a function that makes records with these JSON fields, without fields that are None."""

    def make() -> Sent:
        domain = new_domain()
        every = {"schema": 1, "url": f"https://{domain}/", **given}
        set_ = {name: field for name, field in every.items() if field is not None}
        return sent(orjson.dumps(set_), domain)

    return make


def encoded(html: bytes, **given: Any) -> Make:
    """Return a function that makes records whose HTML is given as bytes."""
    return fields(html_base64=base64.b64encode(html).decode(), **given)


def literal(value: bytes | None) -> Make:
    """Return a function that makes records with this value, and a new domain instead of DOMAIN."""

    def make() -> Sent:
        domain = new_domain()
        return sent(None if value is None else value.replace(b"DOMAIN", domain.encode()), domain)

    return make


def with_header() -> Sent:
    """Return a good page with a header whose name is not UTF-8."""
    return fields(html="<p>a good page")()._replace(headers=(BAD_NAME,))


def with_key() -> Sent:
    """Return a good page with a key that is not UTF-8."""
    return fields(html="<p>a good page")()._replace(key=b"\xff\xfe\x00")


NOISE = Random(9).randbytes(20_000)
ARTICLE = "<p>{} an article about this and that, which goes on for a line or two.</p>"
LARGE = "<html><body>" + "".join(ARTICLE.format(n) for n in range(TEN_MB // len(ARTICLE)))
CASES = {
    "empty": Case(fields(html=""), "empty"),
    "white space": Case(fields(html=" \n\t " * 100), "empty"),
    "random bytes": Case(encoded(NOISE), "not-html"),
    "truncated html": Case(fields(html="<html><body><p>begun <a hre"), "clean-text", "begun"),
    "truncated in a tag": Case(fields(html="<p>begun</p><div class='x"), "clean-text", "begun"),
    "UTF-16 without BOM": Case(
        encoded("<html><body><p>Größe über alles</p>".encode("utf-16-le")),
        "clean-text",
        "Größe über alles",
    ),
    "wrong charset": Case(
        encoded("<p>Größe".encode("latin-1"), content_type="text/html; charset=utf-8"),
        "clean-text",
        "Gr",
    ),
    "unknown charset": Case(
        encoded("<p>Größe".encode(), content_type="text/html; charset=none-such"),
        "clean-text",
        "Größe",
    ),
    "10 MB page": Case(fields(html=LARGE), "clean-text", "an article"),
    "one 10 MB text node": Case(fields(html="<p>" + "word " * (TEN_MB // 5)), "clean-text", "word"),
    "50,000 nested tags": Case(
        fields(html="<div>" * 50_000 + "deep" + "</div>" * 50_000), "clean-text", "deep"
    ),
    "50,000 unclosed tags": Case(fields(html="<p><b>x" * 50_000), "clean-text", "x"),
    "&#x1F;": Case(fields(html="<p>a&#x1F;b &#0; &#xD800; &#x110000;"), "clean-text", "a"),
    "NULs": Case(fields(html="<p>a\0b</p>\0<p>c\0"), "clean-text", "c"),
    "lone surrogates": Case(
        literal(rb'{"url":"https://DOMAIN/","html":"<p>a \ud800 b","title":"\udfff"}'),
        "clean-text",
        "a \ufffd b",
    ),
    "no URL": Case(fields(html="<p>x", url=None), "no-url"),
    "URL that is none": Case(fields(html="<p>x", url="not a url"), "bad-url"),
    "URL of another scheme": Case(fields(html="<p>x", url="javascript:alert(1)"), "bad-url"),
    "JSON that is none": Case(literal(b'{"url": "https://DOMAIN/'), "malformed", "JSON"),
    "JSON that is no object": Case(literal(b'["https://DOMAIN/"]'), "malformed", "object"),
    "JSON nested 100,000 deep": Case(literal(b"[" * 100_000), "malformed", "JSON"),
    "not even text": Case(literal(NOISE), "malformed", "JSON"),
    "missing fields": Case(fields(), "malformed", "html"),
    "both html and html_base64": Case(fields(html="<p>", html_base64="eA=="), "malformed", "html"),
    "base64 that is none": Case(fields(html_base64="%"), "malformed", "html_base64"),
    "fields of another type": Case(fields(html=7), "malformed", "html"),
    "a date in year 9999": Case(
        fields(html="<p>late", published="9999-12-31T23:59:59.999999Z"), "clean-text", "late"
    ),
    "a date in year 1": Case(
        fields(html="<p>early", published="0001-01-01T00:00:00+14:00"), "clean-text", "early"
    ),
    "a date that is none": Case(fields(html="<p>x", published="soon"), "malformed", "published"),
    "PDF": Case(encoded(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n" + NOISE), "not-html"),
    "PDF by its type": Case(fields(html="<p>x", content_type="application/pdf"), "not-html"),
    "an error page": Case(fields(html="<p>x", status=404), "http-status", "404"),
    "a record above the size limit": Case(fields(html="<p>" + "x" * 15_000_000), "too-large"),
    "null value": Case(literal(None), "malformed", "null"),
    "a header name that is not UTF-8": Case(with_header, "clean-text", "a good page"),
    "a key that is not UTF-8": Case(with_key, "clean-text", "a good page"),
}


@pytest.fixture(scope="module")
def pipeline(kafka: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pipeline]:
    """Yield the client of a job whose workers are warm and idle."""
    prefix = f"bad{next(numbers)}-{Random().randrange(10**9)}-"
    with Job(kafka, prefix, tmp_path_factory.mktemp("bad")) as job:
        workers = [job.worker(stage).start() for stage in ("normalize", "extract")]
        pipeline = Pipeline(job, workers)
        for page in pages(40):
            pipeline.ask(keyed(page))
        yield pipeline
        assert [worker.exit_code() for worker in workers] == [None, None]
        pipeline.close()


@pytest.mark.parametrize("name", CASES)
def test_bad_input_has_an_outcome(pipeline: Pipeline, record: Record, name: str) -> None:
    """Each bad record has the expected outcome, within the limits of CPU time and memory."""
    case = CASES[name]
    answers = [pipeline.ask(case.make())]
    while len(answers) < TRIES and not _is_cheap(answers[-1]):
        answers.append(pipeline.ask(case.make()))
    best = min(answers, key=lambda answer: answer.cpu)
    record(
        f"bad input: {name}: {best.kind}, {best.seconds:.2f} s ({best.cpu:.2f} s of the workers' "
        f"CPU), +{best.mib:.0f} MiB"
    )
    for answer in answers:
        assert (answer.kind, case.text in answer.text) == (case.kind, True), answer.text[:300]
    assert best.cpu < SECONDS
    assert best.mib < MIB


def _is_cheap(answer: Answer) -> bool:
    return answer.cpu < SECONDS and answer.mib < MIB
