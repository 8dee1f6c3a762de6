"""One hop of the request for a source: a feed, a sitemap, or a section page.

    request ──▶ redirect ──▶ the owner of its host
            └─▶ 200 ──▶ same body? ──▶ parser ──▶ items ──▶ answer
                304, 410, trouble ──────────────────────▶ answer

`urltree.crawl.decisions.poll.transition` decides how the outcome changes the state of the source.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Mapping
from dataclasses import replace

import xxhash

from agents.fetching.host_client import Ask, HostClient
from agents.fetching.jobs import SmallJob
from agents.fetching.parsers import Parsers
from agents.settings.feeds import FeedSettings
from models.crawl.host_request import HostRequest
from urltree.crawl.decisions.caching import max_age, retry_after
from urltree.crawl.decisions.feed.item import FeedItem
from urltree.crawl.decisions.poll.answer import PollAnswer
from urltree.crawl.decisions.poll.outcome import PollOutcome, PollResult
from urltree.crawl.decisions.poll.source_options import SourceKind
from urltree.crawl.decisions.response import Response, Trouble, WebError
from urltree.crawl.decisions.source import sitemap_body
from urltree.crawl.decisions.source.reading import Reading
from urltree.crawl.web.redirects import redirect_target

_ACCEPT_PAGE = {"Accept": "text/html,application/xhtml+xml;q=0.9,*/*;q=0.1"}
_ACCEPT = {
    "Accept": "application/atom+xml, application/rss+xml, application/feed+json, "
    "application/xml;q=0.9, text/xml;q=0.9, application/json;q=0.8, */*;q=0.5"
}
PART_BYTES = 512 * 1024  # size of the items above which an answer is sent in several parts


class SourceRequester:
    """Requester of sources.

    Args:
        client: sender of requests.
        parsers: processes that parse bodies.
        settings: limits of requests and sources.
    """

    def __init__(self, client: HostClient, parsers: Parsers, settings: FeedSettings) -> None:
        self._client = client
        self._parsers = parsers
        self._settings = settings

    async def request(self, job: SmallJob) -> str | list[PollAnswer]:
        """Send the next request for a source.

        Returns:
            The address to which it was redirected, or the parts of the answer. A failed request has
            an answer, too.
        """
        began = self._client.now()
        accept = _ACCEPT_PAGE if job.request.kind is SourceKind.SECTION else _ACCEPT
        headers = {**accept, **conditional_headers(job.request)}
        ask = Ask(
            headers=headers,
            max_bytes=self._max_bytes(job.request.kind),
            cut=True,
            wants=_wants_body,
            credentials=job.request.credentials,
            credentials_for=job.request.feed,
            is_source=True,
        )
        result = await self._client.get(job, ask)
        at = self._client.now()
        if isinstance(result, WebError):
            # The duration counts like a latency: the host's pause depends on it.
            return [failure(job.request, at, result, seconds=max(0.0, at - began))]
        seconds = max(job.request.seconds, result.seconds)
        try:
            if result.is_redirect:
                return self._redirect(job, result, seconds)
            return await self._read(replace(job.request, seconds=seconds), result, at)
        except WebError as error:
            return [failure(job.request, at, error, response=result, seconds=seconds)]

    def _redirect(self, job: SmallJob, response: Response, seconds: float) -> str:
        request, to = job.request, redirect_target(response)
        visited = (request.url, *request.redirects)
        if not job.may_follow(to):
            raise WebError(Trouble.REDIRECT, f"redirect loop: back to {to[:200]}")
        if len(visited) > self._settings.max_redirects:
            raise WebError(
                Trouble.REDIRECT,
                f"the request was redirected more than {self._settings.max_redirects} times",
            )
        was_permanent = request.permanent_to == request.target or not request.redirects
        is_permanent = was_permanent and response.is_permanent
        job.request = replace(
            request, seconds=seconds, permanent_to=to if is_permanent else request.permanent_to
        )
        return to

    async def _read(self, request: HostRequest, response: Response, at: float) -> list[PollAnswer]:
        outcome = replace(
            outcome_of(request, at, PollResult.UNCHANGED),
            status=response.status,
            moved_to=request.permanent_to,
            seconds=request.seconds,
        )
        if response.status == 410:
            message = "the response has status 410: gone"
            gone = replace(outcome, trouble=Trouble.STATUS, message=message)
            return [PollAnswer(outcome=replace(gone, result=PollResult.GONE))]
        if response.status == 304 and conditional_headers(request):
            return [PollAnswer(outcome=outcome)]
        if response.status != 200:
            unexpected = ", although the request was unconditional"
            raise WebError(
                Trouble.STATUS,
                f"the response has status {response.status}"
                f"{unexpected if response.status == 304 else ''}",
            )
        age, no_cache = max_age(response.headers)
        outcome = replace(
            outcome,
            etag=response.headers.get("etag"),
            last_modified=response.headers.get("last-modified"),
            body_hash=xxhash.xxh3_128_hexdigest(response.body),
            max_age=age,
            no_cache=no_cache,
        )
        if outcome.body_hash == request.body_hash and not request.is_read_again:
            return [PollAnswer(outcome=outcome)]
        how = Reading(
            kind=request.kind,
            max_items=self._settings.max_feed_items,
            with_former=request.with_former,
            with_content=request.with_content,
            first_at=at if request.is_first else None,
            first_days=self._settings.first_poll_days,
            taken_after=request.taken_after,
            is_cut=response.is_cut,
        )
        content_type = response.headers.get("content-type")
        found = await self._parsers.parse(response.body, content_type, response.url, how)
        outcome = replace(
            outcome,
            result=PollResult.ITEMS,
            title=found.title,
            ttl=found.ttl,
            skip_hours=found.skip_hours,
            skip_days=found.skip_days,
            unread=found.unread,
            unlinked=found.unlinked,
            is_cut=found.is_cut,
        )
        answer = PollAnswer(
            outcome=outcome,
            items=found.items,
            children=found.children,
            known=b64encode(found.known.packed).decode() if len(found.known) else None,
            is_undated=found.is_undated,
        )
        return list(in_parts(answer))

    def _max_bytes(self, kind: SourceKind) -> int:
        if kind is SourceKind.SITEMAP:
            return sitemap_body.MAX_BYTES
        return self._settings.max_feed_bytes


def conditional_headers(request: HostRequest) -> dict[str, str]:
    """Return the headers that make the request conditional; none if it has no validators."""
    named = {"If-None-Match": request.etag, "If-Modified-Since": request.last_modified}
    return {name: value for name, value in named.items() if value is not None}


def outcome_of(request: HostRequest, at: float, result: PollResult) -> PollOutcome:
    """Return the outcome of a request without anything that the response says."""
    return PollOutcome(
        site=request.site or "",
        feed=request.feed or "",
        sequence=request.sequence,
        at=at,
        result=result,
    )


def failure(
    request: HostRequest,
    at: float,
    error: WebError | Exception,
    *,
    response: Response | None = None,
    seconds: float = 0.0,
) -> PollAnswer:
    """Return the answer to a request that failed.

    Args:
        request: the request.
        at: time of the failure, seconds since 1970.
        error: the error; another error than a `WebError` is one of our code.
        response: the response that cannot be used; None without a response.
        seconds: duration of the request.
    """
    is_web = isinstance(error, WebError)
    outcome = replace(
        outcome_of(request, at, PollResult.FAILED),
        status=None if response is None else response.status,
        trouble=error.trouble if isinstance(error, WebError) else None,
        message=(str(error) if is_web else f"internal: {error!r}")[:500],
        retry_after=None if response is None else retry_after(response.headers, at),
        seconds=seconds,
    )
    return PollAnswer(outcome=outcome)


def in_parts(answer: PollAnswer) -> Iterator[PollAnswer]:
    """Yield the parts of an answer, each with at least one item and about `PART_BYTES` bytes."""
    part, items, size = 0, list[FeedItem](), 0
    for item in answer.items:
        bytes_ = _size(item)
        if items and size + bytes_ > PART_BYTES:
            own = tuple(items)
            yield replace(answer, items=own, children=(), known=None, part=part, is_last=False)
            part, items, size = part + 1, [], 0
        items.append(item)
        size += bytes_
    yield replace(answer, items=tuple(items), part=part)


def _size(item: FeedItem) -> int:
    texts = (item.link, item.title, item.description, item.content, item.guid)
    return 100 + sum(len(text.encode(errors="replace")) for text in texts if text)


def _wants_body(status: int, _headers: Mapping[str, str]) -> bool:
    """Return whether to read the body: for status 200, whatever its Content-Type.

    Feeds are also sent as text/html and text/plain.
    """
    return status == 200
