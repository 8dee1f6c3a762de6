"""The paper's algorithm, written a second time with Counters and without code of the product.

It follows sections 4, 5.4 and 6 of Sluban & Grčar. Where these sections leave something open, it
uses our own definitions.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

Branch = tuple[str, ...]


class Page(NamedTuple):
    """A page that is no duplicate: time, id, names of its branch below the root, block hashes."""

    time: int
    id: str
    branch: Branch
    blocks: list[int]


def select(nodes: list[Branch], n: Counter[Branch], enough: Callable[[int], bool]) -> Branch:
    """Return the deepest node with enough support on the branch, else the root (section 4)."""
    return next((node for node in nodes if enough(n[node])), ())


def verdicts(
    pages: Iterable[Page], most: float, age: float, keep: float
) -> Iterator[dict[str, list[bool]]]:
    """Return, for each page and heuristic, whether each block is boilerplate."""
    n: Counter[Branch] = Counter()  # support of each node
    c: defaultdict[Branch, Counter[int]] = defaultdict(Counter)  # documents with each block
    window: list[Page] = []
    for page in pages:
        nodes = [page.branch[:depth] for depth in range(len(page.branch), -1, -1)]
        n.update(nodes)
        for node in nodes:
            c[node].update(set(page.blocks))
        selected = {  # section 5.4
            "strict": (select(nodes, n, lambda support: support >= 5), 1),
            "strict-support-100": (select(nodes, n, lambda support: support > 100), 1),
            "strict-at-domain": ((), 1),
            "relaxed-at-domain-500": ((), 2 if n[()] > 500 else 1),
        }
        yield {
            name: [c[node][block] > c_max for block in page.blocks]
            for name, (node, c_max) in selected.items()
        }
        window = sorted([*window, page])  # section 6
        while len(window) > keep and (len(window) > most or window[0].time < window[-5].time - age):
            old = window.pop(0)
            for node in (old.branch[:depth] for depth in range(len(old.branch) + 1)):
                n[node] -= 1
                c[node].subtract(set(old.blocks))
