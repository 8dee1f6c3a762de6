"""The extraction: the result for one page. It has all fields of the topic clean-text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from urltree.address.url_key import UrlKey
from urltree.document import Document, FoundMetadata, kept_text
from urltree.enrich.metadata import detect_language
from urltree.heuristics.boilerplate import Kind
from urltree.heuristics.protocol import Verdict
from urltree.output.markdown import markdown as as_markdown
from urltree.page import ContentFrom, Page, PageError, Reason

# Names of the kinds of boilerplate. Content and kinds of later releases have no name here.
_LABELS = {kind.value: kind.label for kind in Kind if kind}

Status = Literal["ok", "duplicate", "error"]
Blocks = Literal["none", "content", "all"]


@dataclass(frozen=True, slots=True)
class ExtractedBlock:
    """One block of an extraction.

    Attributes:
        position: index of the block among all blocks of the page.
        text: text of the block.
        tag: tag of the element that contains the block.
        heading: level of the heading, 1 to 6; 0 outside headings.
        verdict: verdict of the heuristic, `content` or `boilerplate`.
        count: number of documents at or below `Extraction.node` that contain the block; None if
            counts are not stored.
        reason: kind of boilerplate; None for content, and if the heuristic has no kinds.
    """

    position: int
    text: str
    tag: str
    heading: int
    verdict: Literal["content", "boilerplate"]
    count: int | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction:
    """The result for one page.

    Attributes:
        status: `ok`, `duplicate` or `error`.
        url: request URL as given.
        origin: topic/partition/offset of the page's first copy; in the library `library/0/NUMBER`,
            unless the page gives its own origin.
        meta: the user's own strings, returned unchanged.
        response_url: URL after redirects; None if it equals `url`.
        id: document id, 32 hexadecimal digits.
        revision: 0 for the first extraction of a page, 1 if the page was judged again.
        domain: registrable domain.
        url_key: URL after normalisation and query rules.
        title, description, published, fetched_at: fields of the input record.
        page_kind: `article`, `listing` or `unknown`; None if the heuristic has no kinds of pages.
        text: texts of the kept blocks, joined by newlines; None unless the status is `ok`.
        markdown: kept blocks as Markdown; None if the option is off.
        blocks: kept blocks, or all blocks; None if the option is off.
        node: node of the URL tree whose counts were used, in the form domain/segment/….
        support: number of documents at or below that node at the time of the verdict; 0 if
            `content_from` is `feed`.
        heuristic: name of the heuristic; `none` if `content_from` is `feed`.
        versions: versions of tokenizer, URL key and heuristic.
        language, author, canonical: values that the HTML of the page declares.
        content_from: `feed` if the text is the full text of the page in a feed, of which every
            block is kept; None otherwise.
        metadata: metadata that was found in the page; None if the option is off.
        duplicate_of: for a duplicate, origin of the page that was seen first, or of the later
            version that superseded this page.
        duplicate_step: for a duplicate, step that revealed it, or `superseded`.
        error: for an error, its reason code.
        message: for an error, its explanation for a person.
    """

    status: Status
    url: str | None
    origin: str
    meta: Mapping[str, str]
    response_url: str | None = None
    id: str | None = None
    revision: int = 0
    domain: str | None = None
    url_key: str | None = None
    title: str | None = None
    description: str | None = None
    published: str | None = None
    fetched_at: str | None = None
    page_kind: str | None = None
    text: str | None = None
    markdown: str | None = None
    blocks: tuple[ExtractedBlock, ...] | None = None
    node: str | None = None
    support: int | None = None
    heuristic: str | None = None
    versions: Mapping[str, int] | None = None
    language: str | None = None
    author: str | None = None
    canonical: str | None = None
    content_from: ContentFrom | None = None
    metadata: FoundMetadata | None = None
    duplicate_of: str | None = None
    duplicate_step: str | None = None
    error: Reason | None = None
    message: str | None = None


def clean_text(
    document: Document, verdict: Verdict, blocks: Blocks = "none", *, markdown: bool = False
) -> Extraction:
    """Return the extraction of a judged document. For a replay it has the same bytes."""
    text = kept_text(document, verdict.boilerplate)
    return Extraction(
        status="ok",
        url=document.url,
        origin=document.origin,
        meta=document.meta,
        response_url=document.response_url,
        id=document.id,
        revision=verdict.revision,
        domain=document.domain,
        url_key=document.url_key,
        title=document.title,
        description=document.description,
        published=document.published,
        fetched_at=document.fetched_at,
        page_kind=None if verdict.page_kind is None else verdict.page_kind.label,
        text=text,
        markdown=as_markdown(document, verdict.boilerplate) if markdown else None,
        blocks=None if blocks == "none" else _extracted(document, verdict, blocks),
        node="/".join((document.domain, *document.branch[: verdict.depth])),
        support=verdict.support,
        heuristic=verdict.heuristic,
        versions={
            "tokenizer": document.tokenizer,
            "key": document.key_version,
            "heuristic": verdict.version,
        },
        language=document.language,
        author=document.author,
        canonical=document.canonical,
        content_from=None if document.content_from == "page" else document.content_from,
        metadata=_with_language(document.metadata, text),
    )


def failure(page: Page | None, origin: str, error: PageError) -> Extraction:
    """Return the extraction of a page that had an error; `page` is None if it is malformed."""
    return Extraction(
        status="error",
        url=page.url if page else None,
        origin=origin,
        meta=page.meta if page else {},
        error=error.reason,
        message=error.message,
    )


def duplicate(page: Page, origin: str, key: UrlKey, of: str, step: str) -> Extraction:
    """Return the extraction of a page that was seen before.

    Args:
        page: the page.
        origin: origin of the page.
        key: URL key of the page and of the page that was seen first.
        of: origin of the page that was seen first, or of the later version.
        step: step that revealed the duplicate, or `superseded`.
    """
    return Extraction(
        status="duplicate",
        url=page.url,
        origin=origin,
        meta=page.meta,
        response_url=page.response_url,
        id=key.id,
        domain=key.domain,
        url_key=key.key,
        duplicate_of=of,
        duplicate_step=step,
    )


def superseded(document: Document, by: str) -> Extraction:
    """Return the extraction of a version of a page that a later version has replaced.

    Args:
        document: the earlier version.
        by: origin of the later version.
    """
    return Extraction(
        status="duplicate",
        url=document.url,
        origin=document.origin,
        meta=document.meta,
        response_url=document.response_url,
        id=document.id,
        domain=document.domain,
        url_key=document.url_key,
        duplicate_of=by,
        duplicate_step="superseded",
    )


def _with_language(found: FoundMetadata | None, text: str) -> FoundMetadata | None:
    return None if found is None else replace(found, language=detect_language(text))


def _extracted(document: Document, verdict: Verdict, blocks: Blocks) -> tuple[ExtractedBlock, ...]:
    return tuple(
        ExtractedBlock(
            position,
            block.text,
            document.elements[block.element].tag,
            block.heading,
            "boilerplate" if verdict.boilerplate[position] else "content",
            verdict.counts[position] if verdict.counts else None,
            _reason(verdict, position),
        )
        for position, block in enumerate(document.blocks)
        if blocks == "all" or not verdict.boilerplate[position]
    )


def _reason(verdict: Verdict, position: int) -> str | None:
    """Return the kind of boilerplate of a block, such as `link list`; None for content."""
    kind = verdict.kinds[position] if verdict.kinds else Kind.CONTENT
    return _LABELS.get(kind)
