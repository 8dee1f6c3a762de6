"""The operator's proxy, and the targets that are requested without it.

    https target   CONNECT 192.0.2.1:443, then TLS with the name of the host
    http target    GET http://host.example/page

The client resolves the name of the target itself, and refuses private addresses, before it asks
the proxy. For https, the proxy gets the address that was checked, so the promise of `web/guard.py`
holds with any proxy that connects to the address that it is given. For http, a proxy needs the name
and resolves it again. If the name then has another address, only the proxy can refuse it: configure
the proxy so that it does not connect to private addresses.

The proxy itself may have a private address, because the operator has named it. No other host may.
"""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import ip_address, ip_network

import can_ada
from yarl import URL

from urltree.crawl.web.options import Network


def parse_proxy(text: str) -> URL:
    """Return the URL of a proxy.

    Raises:
        ValueError: the text is not the http or https URL of a proxy, or contains a password.
    """
    try:
        parsed = can_ada.parse(text)
    except ValueError:
        raise ValueError("the proxy should be a URL such as http://proxy.example:3128") from None
    if parsed.username or parsed.password:
        raise ValueError(
            "the URL of the proxy should not contain a user name or a password: write them to a "
            "file in credentials_dir, and its name to proxy_credentials"
        )
    is_web = parsed.protocol in ("http:", "https:") and parsed.hostname
    if not is_web or parsed.pathname not in ("", "/") or parsed.search or parsed.hash:
        raise ValueError("the proxy should be a URL such as http://proxy.example:3128")
    return URL(str(parsed.href), encoded=True)


class ProxyExceptions:
    """The targets that are requested without the proxy.

    Args:
        rules: hosts, domains (all hosts below them count, too), and networks such as 10.0.0.0/8.

    Raises:
        ValueError: a rule is none of these.
    """

    def __init__(self, rules: Sequence[str] = ()) -> None:
        self._networks: list[Network] = []
        self._domains: set[str] = set()
        for rule in rules:
            try:
                self._networks.append(ip_network(rule.strip("[]"), strict=False))
            except ValueError:
                self._domains.add(_domain(rule))

    @property
    def has_networks(self) -> bool:
        """Whether a rule is a network."""
        return bool(self._networks)

    def match(self, host: str, address: str) -> bool:
        """Return whether a host is requested without the proxy.

        Args:
            host: host in lower case; an IPv6 address without brackets.
            address: IP address to which the host was resolved.
        """
        labels = host.rstrip(".").split(".")
        if any(".".join(labels[start:]) in self._domains for start in range(len(labels))):
            return True
        if not self._networks:
            return False
        ip = ip_address(address.partition("%")[0])
        return any(ip in network for network in self._networks if network.version == ip.version)


def _domain(rule: str) -> str:
    name = rule.removeprefix("*").removeprefix(".")
    try:
        host: str = can_ada.parse(f"http://{name}/").hostname
    except ValueError:
        host = ""
    if not host or set(name) & set("/:@*?#%"):
        raise ValueError(f"{rule!r} is not a host, a domain or a network")
    return host.rstrip(".")
