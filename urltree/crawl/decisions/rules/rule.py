"""One rule: what it does, to which addresses or pages, and since when.

    deny host HOST            no request to this host
    deny domain DOMAIN        no request to this domain and its subdomains
    deny path HOST/PATTERN    no request for matching paths of this host
    deny path *.DOMAIN/PATTERN                 … of this domain and its subdomains
    remove feed SITE URL      waiting pages of this feed that it named before it was removed
    purge host HOST           waiting pages with addresses of this host, up to the command
    purge domain DOMAIN       … of this domain and its subdomains
    purge feed URL            … named by this feed
    purge all -               … every waiting page

The scheme and the port of an address do not matter: a rule for a host covers all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import can_ada

from urltree.crawl.decisions.rules.path_pattern import split_pattern

MAX_TARGET = 16_384
"""Largest number of characters of a target: twice the limit of an address."""


class Action(StrEnum):
    """What a rule does."""

    DENY = "deny"  # forbids requests until the rule is removed
    REMOVE = "remove"  # removes the waiting pages of a feed that is not followed any more
    PURGE = "purge"  # removes the pages that waited when the command was given


class Scope(StrEnum):
    """What the target of a rule is."""

    HOST = "host"
    DOMAIN = "domain"
    PATH = "path"
    FEED = "feed"
    ALL = "all"


_SCOPES = {
    Action.DENY: (Scope.HOST, Scope.DOMAIN, Scope.PATH),
    Action.REMOVE: (Scope.FEED,),
    Action.PURGE: (Scope.HOST, Scope.DOMAIN, Scope.FEED, Scope.ALL),
}
EVERYTHING = "-"
"""Target of a rule with the scope `all`."""


@dataclass(frozen=True, slots=True, order=True)
class RuleKey:
    """The identity of a rule; a later rule with the same key replaces it.

    Attributes:
        action: what the rule does.
        scope: what the target is.
        target: a host, a domain, a pattern, or a feed.
    """

    action: Action
    scope: Scope
    target: str

    def __str__(self) -> str:
        return f"{self.action} {self.scope} {self.target}"

    @classmethod
    def parse(cls, text: str) -> RuleKey:
        """Read a key from the form that `str()` returns; hosts are read in any spelling.

        Raises:
            ValueError: the text is not the key of a rule.
        """
        action, _, rest = text.partition(" ")
        scope, _, target = rest.partition(" ")
        return make_key(Action(action), Scope(scope), target)


@dataclass(frozen=True, slots=True)
class Extent:
    """The records of a topic that were there when a command was given.

    Attributes:
        topic: Kafka's id of the topic; None if it is unknown. Offsets of a topic that was deleted
            and created anew do not count.
        before: for each partition, the offset after its last record.
    """

    topic: str | None
    before: tuple[int, ...]

    def contains(self, topic: str | None, partition: int, offset: int) -> bool:
        """Return whether a record of a topic with this id was there."""
        return (
            topic == self.topic and partition < len(self.before) and offset < self.before[partition]
        )


@dataclass(frozen=True, slots=True)
class CrawlRule:
    """A rule.

    Attributes:
        key: identity of the rule.
        set_at: time of the command, in seconds since 1970.
        note: note of the operator, such as the name of the owner who complained.
        fetches: records of `fetches` that a removal or a purge covers.
        feeds: id of the topic `feeds`, and the offset before which the additions of the feed lie
            whose pages are removed. Only a removal has it.
    """

    key: RuleKey
    set_at: float | None = None
    note: str | None = None
    fetches: Extent | None = None
    feeds: tuple[str | None, int] | None = None


def make_key(action: Action, scope: Scope, target: str) -> RuleKey:
    """Return the key of a rule, with its target in normal form.

    Raises:
        ValueError: the action has no such scope, or the target is not valid for it.
    """
    if scope not in _SCOPES[action]:
        raise ValueError(f"a rule cannot {action} with the scope {scope}")
    if len(target) > MAX_TARGET:
        raise ValueError(f"the target has {len(target)} characters, more than {MAX_TARGET}")
    return RuleKey(action, scope, _normal_target(action, scope, target))


def _normal_target(action: Action, scope: Scope, target: str) -> str:
    match scope:
        case Scope.HOST:
            return normal_host(target)
        case Scope.DOMAIN:
            return _normal_domain(target)
        case Scope.PATH:
            host, pattern = split_pattern(target)
            if host.startswith("*."):
                return f"*.{_normal_domain(host[2:])}{pattern}"
            return normal_host(host) + pattern
        case Scope.FEED:
            words = 2 if action is Action.REMOVE else 1
            if len(target.split(" ")) != words or not all(target.split(" ")):
                raise ValueError(f"{target!r} should be {'SITE URL' if words == 2 else 'a URL'}")
            return target
        case Scope.ALL:
            if target != EVERYTHING:
                raise ValueError(f"the target of `all` should be {EVERYTHING}, is {target!r}")
            return target


def normal_host(text: str) -> str:
    """Return a host in the form in which addresses are compared: lower case, punycode, no dot.

    Raises:
        ValueError: the text is not a host name or an IP address.
    """
    try:
        parsed = can_ada.parse(f"http://{text}/")
    except ValueError:
        raise ValueError(f"{text!r} is not a host name") from None
    host: str = parsed.hostname.removesuffix(".")
    is_plain = text and not set(text) & set("/?#@\\* ") and ":" not in text.rpartition("]")[2]
    if not is_plain or not host or ".." in host or host.startswith("."):
        raise ValueError(f"{text!r} is not a host name")
    return host


def _normal_domain(text: str) -> str:
    domain = normal_host(text.removeprefix("*."))
    if domain.startswith("[") or domain.rpartition(".")[2].isdigit():
        raise ValueError(f"{text!r} is an IP address: make a rule for the host instead")
    if "." not in domain:
        raise ValueError(f"{text!r} is a whole top-level domain")
    return domain
