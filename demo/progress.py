"""The data that a view shows during a run and at its end."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field

from agents.commands.audit.fetches import FetchAccounts
from agents.commands.audit.ledger import Accounts


@dataclass(frozen=True, slots=True)
class News:
    """A new clean text to be shown."""

    domain: str
    title: str
    text: str
    url: str


@dataclass(frozen=True, slots=True)
class Harvest:
    """Counts of polls, items and pages so far.

    Attributes:
        feeds: number of feeds that were polled at least once.
        polls: number of all polls.
        items: number of new items; for each of them a page is requested.
        pages: number of requests whose page was published to raw-html.
        waiting: number of requests without an outcome.
        dead_letters: number of requests that became dead letters, by reason.
        failing: reasons why the last poll of a feed failed, by feed.
    """

    feeds: int = 0
    polls: int = 0
    items: int = 0
    pages: int = 0
    waiting: int = 0
    dead_letters: Mapping[str, int] = field(default_factory=dict)
    failing: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class RunProgress:
    """The progress of a run.

    Attributes:
        accounts: outcomes of the pages in raw-html.
        rate: number of pages per second whose outcome became known in the last ten seconds.
        domains: number of clean texts by domain.
        news: newest clean text of each of the last three domains, the newest last.
        harvest: counts of the feeds; None if pages come from files.
    """

    accounts: Accounts = field(default_factory=Accounts)
    rate: float = 0.0
    domains: dict[str, int] = field(default_factory=dict)
    news: deque[News] = field(default_factory=lambda: deque(maxlen=3))
    harvest: Harvest | None = None

    @property
    def settled(self) -> int:
        """Number of pages whose outcome is known."""
        return self.accounts.origins - self.accounts.missing

    @property
    def mark(self) -> int:
        """Number that rises with each step of a page, but not with a poll without new items."""
        harvest = self.harvest or Harvest()
        return self.settled + harvest.items + (harvest.items - harvest.waiting)


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoSummary:
    """The result of a run.

    Attributes:
        accounts: outcomes of all pages in raw-html, counted by the job's audit.
        fetches: outcomes of all requests for pages, counted by the audit of fetches; None if pages
            come from files.
        domains: number of domains that have a clean text.
        seconds: time from the first published page or item to the last outcome.
        refused: pages or feeds that the run could not publish, each with the reason.
        harvest: counts of the feeds; None if pages come from files.
        lost: items that no poll has found and requests without an outcome; only in a run of the
            sample.
    """

    accounts: Accounts
    fetches: FetchAccounts | None = None
    domains: int
    seconds: float
    refused: tuple[str, ...] = ()
    harvest: Harvest | None = None
    lost: tuple[str, ...] = ()
