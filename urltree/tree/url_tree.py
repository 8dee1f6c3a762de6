"""The URL tree of a domain: how often each block occurs at each node (paper, section 4).

After four documents of example.org, support in brackets:

    example.org [4]                     root: every document of the domain
    ├── news [3]
    │   ├── 2013 [2]
    │   │   ├── a.html [1]
    │   │   └── b.html [1]              the branch of b.html: root, news, 2013, b.html
    │   └── c.html [1]
    └── about [1]

Each node knows its support n, the number of documents at or below it, and for each block hash the
number c(hash) of those documents that contain it. A document adds 1 to each *distinct* hash.

Most nodes are leaves with one document, and a list of hashes needs less memory than a counter. So a
node keeps the hashes of its documents while they are few, and counts them from the first document
above SMALL on.

    [1] documents: (h1 h2 h3)                   [9] counts: h1 9, h2 8, h3 1, …
    [2] documents: (h1 h2 h3) (h1 h4)
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterator, Sequence

SMALL = 8  # with at most this many documents, a node keeps their hashes and counts on request

# Estimated bytes per entry; used to bound the memory of trees. Fitted to the 22 streams with
# tracemalloc, plus a tenth, because resident memory is larger.
_NODE_BYTES = 280
_DOCUMENT_BYTES = 210
_COUNT_BYTES = 54
_NUMBER_BYTES = 32  # added for a hash at the root: its int object, which most other nodes share


class Node:
    """A node of the tree; its name is one part of the URL key.

    Attributes:
        name: the segment, host or query of this node; empty at the root.
        parent: None at the root.
        depth: 0 at the root.
        support: number of documents at or below this node, n in the paper.
        children: the nodes below, by name.
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
        """Return c(hash) for each hash at or below this node, 0 for others; do not change it."""
        return self._count() if self._counts is None else self._counts

    def add(self, hashes: array[int], numbers: Sequence[int]) -> int:
        """Count one document, and return the growth of the node in bytes.

        Args:
            hashes: the document's distinct hashes.
            numbers: the same hashes as int objects. The nodes of a branch share them, which saves
                15% of the tree's memory on the streams.
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
        """Remove one document, the exact inverse of `add`; return the shrinkage in bytes."""
        self.support -= 1
        if self._counts is None:
            # by identity: two documents may have equal hashes
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
        root: the node of the domain.
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
        """Return the leaf of a document that is in the tree; classification begins there."""
        return self._documents[document_id][0]

    def insert(self, document_id: bytes, branch: Sequence[str], hashes: array[int]) -> Node:
        """Insert a document below the root, and return its leaf.

        Args:
            document_id: of a document that is not in the tree.
            branch: names of the nodes below the root; empty for the root itself.
            hashes: the *distinct* block hashes of the document, unsigned 64 bits.
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
        """Remove a document, the exact inverse of `insert`; remove nodes without documents too."""
        leaf, hashes = self._documents.pop(document_id)
        shrunk = 0
        for node in leaf.rootward():
            shrunk += node.discount(hashes)
            if node.support == 0 and node.parent is not None:
                del node.parent.children[node.name]
                self.memory -= _NODE_BYTES
        self.memory -= shrunk + _DOCUMENT_BYTES + 8 * len(hashes)
