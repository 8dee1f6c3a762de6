"""What a view shows of a run, and what is said of it at the end."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field

from agents.commands.audit.fetches import FetchAccounts
from agents.commands.audit.ledger import Accounts


@dataclass(frozen=True, slots=True)
class News:
    """The newest clean text that is worth a look."""

    domain: str
    title: str
    text: str
    url: str


@dataclass(frozen=True, slots=True)
class Harvest:
    """What the feeds have brought so far.

    Attributes:
        feeds: that were polled at least once.
        polls: of them, in all.
        items: new ones, each of them a page to be fetched.
        pages: of them, published to raw-html.
        waiting: of them, neither published nor given up.
        dead_letters: of them, given up, by reason.
        failing: feeds whose last poll failed, and why.
    """

    feeds: int = 0
    polls: int = 0
    items: int = 0
    pages: int = 0
    waiting: int = 0
    dead_letters: Mapping[str, int] = field(default_factory=dict)
    failing: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Progress:
    """How far a run is.

    Attributes:
        accounts: of the pages in raw-html.
        rate: of those whose outcome is known, a second, over the last seconds.
        news: the newest of the last few domains, newest last.
        harvest: where pages come through feeds.
    """

    accounts: Accounts = field(default_factory=Accounts)
    rate: float = 0.0
    domains: dict[str, int] = field(default_factory=dict)
    news: deque[News] = field(default_factory=lambda: deque(maxlen=3))
    harvest: Harvest | None = None

    @property
    def settled(self) -> int:
        """Origins whose outcome is known."""
        return self.accounts.origins - self.accounts.missing

    @property
    def mark(self) -> int:
        """Rises whenever a page comes closer to its end; polls that find nothing do not count."""
        harvest = self.harvest or Harvest()
        return self.settled + harvest.items + (harvest.items - harvest.waiting)


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """How a run ended.

    Attributes:
        accounts: by the audit of the job, of all that lies in raw-html.
        fetches: likewise of all that feeds have named; None for pages of the user's own.
        domains: of clean texts.
        seconds: from the first page or item published to the last one settled.
        refused: pages or feeds that were not published, with what is wrong.
        harvest: where pages came through feeds.
        lost: what the sample's feeds named and did not become a page, and where it was lost.
    """

    accounts: Accounts
    fetches: FetchAccounts | None = None
    domains: int
    seconds: float
    refused: tuple[str, ...] = ()
    harvest: Harvest | None = None
    lost: tuple[str, ...] = ()
