"""The URL tree of a domain: how many documents of each node contain a block (paper, section 4).

The tree of example.org with four documents; the support of each node is in brackets:

    example.org [4]                     root: every document of the domain
    ├── news [3]
    │   ├── 2013 [2]
    │   │   ├── a.html [1]
    │   │   └── b.html [1]              branch of b.html: root, news, 2013, b.html
    │   └── c.html [1]
    └── about [1]

The support n of a node is the number of documents at or below it. For each block hash, c(hash) is
the number of these documents that contain a block with this hash. A document adds 1 to c(hash) for
each of its *distinct* hashes.

Most nodes are leaves with one document, and a list of hashes needs less memory than a counter. So a
node with at most SMALL documents stores the list of hashes of each document. A node with more
documents stores a counter.

    support 1: lists (h1 h2 h3)                 support 9: counter h1 9, h2 8, h3 1, …
    support 2: lists (h1 h2 h3) (h1 h4)
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterator, Sequence

SMALL = 8  # largest number of documents with which a node stores lists of hashes

# Estimated bytes per entry, with which the memory of trees is bounded. They were fitted with
# tracemalloc to the 22 streams of the benchmark, and raised by a tenth, because resident memory is
# larger than the memory that tracemalloc counts.
_NODE_BYTES = 280
_DOCUMENT_BYTES = 210
_COUNT_BYTES = 54
_NUMBER_BYTES = 32  # int object of a hash, counted at the root only, because nodes share it


class Node:
    """A node of the tree; its name is one part of a URL key.

    Attributes:
        name: segment, host, query or fragment; empty for the root.
        parent: parent of this node; None for the root.
        depth: number of nodes above this node; 0 for the root.
        support: number of documents at or below this node, n in the paper.
        children: nodes directly below this node, by name.
    """

    __slots__ = ("_counts", "_documents", "children", "depth", "name", "parent", "support")

    def __init__(self, name: str, parent: Node | None) -> None:
        self.name = name
        self.parent = parent
        self.depth: int = 0 if parent is None else parent.depth + 1
        self.support = 0
        self.children: dict[str, Node] = {}
        self._documents: list[array[int]] = []
        self._counts: Counter[int] | None = None

    def rootward(self) -> Iterator[Node]:
        """Yield this node, its parent, and so on up to the root."""
        node: Node | None = self
        while node is not None:
            yield node
            node = node.parent

    def counts(self) -> Counter[int]:
        """Return c(hash) for each hash at or below this node.

        The caller must not change the returned counter.
        """
        return self._count() if self._counts is None else self._counts

    def add(self, hashes: array[int], numbers: Sequence[int]) -> int:
        """Add one document, and return the number of bytes by which the node grows.

        Args:
            hashes: distinct hashes of the document.
            numbers: the same hashes as int objects. All nodes of a branch get the same objects,
                which saves 15% of the tree's memory on the streams of the benchmark.
        """
        self.support += 1
        if self._counts is None:
            self._documents.append(hashes)
            if self.support <= SMALL:
                return 0
            self._counts, self._documents = self._count(), []
            return self._bytes(len(self._counts))
        before = len(self._counts)
        self._counts.update(numbers)
        return self._bytes(len(self._counts) - before)

    def discount(self, hashes: array[int]) -> int:
        """Remove one document, and return the number of bytes by which the node shrinks.

        This is the exact inverse of `add`.
        """
        self.support -= 1
        if self._counts is None:
            # `is`, because two documents may have equal hashes
            at = next(i for i, kept in enumerate(self._documents) if kept is hashes)
            del self._documents[at]
            return 0
        before = len(self._counts)
        for block_hash in hashes:
            left = self._counts[block_hash] - 1
            if left:
                self._counts[block_hash] = left
            else:
                del self._counts[block_hash]
        return self._bytes(before - len(self._counts))

    def _bytes(self, entries: int) -> int:
        return entries * (_COUNT_BYTES + (_NUMBER_BYTES if self.parent is None else 0))

    def _count(self) -> Counter[int]:
        counts: Counter[int] = Counter()
        for hashes in self._documents:
            counts.update(hashes)
        return counts


class UrlTree:
    """The tree of one domain and the documents in it.

    Attributes:
        root: node of the domain.
        memory: estimated size of the tree in bytes.
    """

    __slots__ = ("_documents", "memory", "root")

    def __init__(self) -> None:
        self.root = Node("", None)
        self.memory = _NODE_BYTES
        self._documents: dict[bytes, tuple[Node, array[int]]] = {}

    def __len__(self) -> int:
        return len(self._documents)

    def __contains__(self, document_id: bytes) -> bool:
        return document_id in self._documents

    def leaf(self, document_id: bytes) -> Node:
        """Return the leaf of a document in the tree; a heuristic begins to judge there."""
        return self._documents[document_id][0]

    def insert(self, document_id: bytes, branch: Sequence[str], hashes: array[int]) -> Node:
        """Insert a document below the root, and return its leaf.

        Args:
            document_id: id of a document that is not in the tree.
            branch: names of the document's nodes below the root; empty if the root is its leaf.
            hashes: *distinct* block hashes of the document, unsigned integers of 64 bits.
        """
        node, numbers = self.root, hashes.tolist()
        grown = node.add(hashes, numbers)
        for name in branch:
            child = node.children.get(name)
            if child is None:
                child = node.children[name] = Node(name, node)
                self.memory += _NODE_BYTES
            node = child
            grown += node.add(hashes, numbers)
        self._documents[document_id] = (node, hashes)
        self.memory += grown + _DOCUMENT_BYTES + 8 * len(hashes)
        return node

    def remove(self, document_id: bytes) -> None:
        """Remove a document, and each node that has no document then.

        This is the exact inverse of `insert`.
        """
        leaf, hashes = self._documents.pop(document_id)
        shrunk = 0
        for node in leaf.rootward():
            shrunk += node.discount(hashes)
            if node.support == 0 and node.parent is not None:
                del node.parent.children[node.name]
                self.memory -= _NODE_BYTES
        self.memory -= shrunk + _DOCUMENT_BYTES + 8 * len(hashes)
