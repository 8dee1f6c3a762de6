"""`python -m agents domain DOMAIN`: show a domain's tree and its most repeated blocks.

The tree is rebuilt from the rows in the changelog of `extract`, so no worker needs to run. Rows
contain only hashes of blocks. The text of a block is taken from the topic documents, if a document
with the block is still there.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import click
import orjson
from aiokafka import AIOKafkaConsumer, TopicPartition
from rich.console import Console
from rich.markup import escape
from rich.tree import Tree

from agents.kafka.client import consumer, full_ranges, partitions, read_records
from agents.kafka.partitions import partition_of
from agents.kafka.tables.table import row_id, row_prefix
from agents.settings.job import Settings, SettingsError, load_settings
from models import document as documents
from models.command import is_command
from urltree.heuristics.registry import heuristic
from urltree.page import PageError
from urltree.site.row import Row, RowError
from urltree.site.site import Site
from urltree.tree.url_tree import Node


@dataclass(frozen=True, slots=True)
class RepeatedBlock:
    """Text block that occurs in more than one document of a domain.

    Attributes:
        hash: Hash of the block's normalised text, 16 hexadecimal digits.
        count: Number of documents of the domain that contain the block.
        text: Text of the block, or None if no record of the topic documents contains it any more.
    """

    hash: str
    count: int
    text: str | None


class DomainView(NamedTuple):
    """Data that the command shows about a domain.

    Attributes:
        domain: Registrable domain.
        documents: Number of documents in the tree.
        waiting: Number of first pages that will be classified a second time.
        root: Root of the tree.
        blocks: Most repeated blocks, the most frequent first.
    """

    domain: str
    documents: int
    waiting: int
    root: Node
    blocks: list[RepeatedBlock]


async def load_domain(settings: Settings, domain: str, blocks: int) -> DomainView:
    """Rebuild a domain's tree from its rows.

    Args:
        settings: Settings of the job, including its eviction.
        domain: Registrable domain.
        blocks: Maximum number of repeated blocks to return.

    Raises:
        SettingsError: A row was written by a release that this one cannot read.
    """
    async with consumer(settings) as client:
        learned = Site(heuristic(settings.heuristic), settings.eviction)
        try:
            rows = await _rows(settings, client, domain)
            learned.rebuild(rows.items())
            waiting = sum(Row.decode(row).waits for row in rows.values())
        except RowError as error:
            raise SettingsError(str(error)) from None
        root = learned.tree.root
        ranked = sorted(root.counts().items(), key=lambda found: (-found[1], found[0]))
        repeated = [found for found in ranked if found[1] > 1][:blocks]
        texts = await _texts(settings, client, domain, {block_hash for block_hash, _ in repeated})
    found = [RepeatedBlock(f"{name:016x}", count, texts.get(name)) for name, count in repeated]
    return DomainView(domain, len(learned.tree), waiting, root, found)


@click.command("domain")
@click.argument("domain")
@click.option(
    "--depth",
    type=click.IntRange(0),
    default=3,
    show_default=True,
    help="Largest depth of the nodes that are shown.",
)
@click.option(
    "--children",
    type=click.IntRange(1),
    default=20,
    show_default=True,
    help="Largest number of children shown for a node.",
)
@click.option(
    "--blocks",
    type=click.IntRange(0),
    default=20,
    show_default=True,
    help="Largest number of repeated blocks to show, the most frequent first.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def domain_command(*, domain: str, depth: int, children: int, blocks: int, as_json: bool) -> None:
    """Show the tree of a DOMAIN and its most repeated blocks.

    Exit code 1: the job has no document of this domain.
    """
    view = asyncio.run(load_domain(load_settings(), domain, blocks))
    if as_json:
        click.echo(orjson.dumps(_as_json(view, depth, children)))
    else:
        _print(view, depth, children)
    raise SystemExit(0 if view.documents else 1)


async def _rows(settings: Settings, client: AIOKafkaConsumer, domain: str) -> dict[bytes, bytes]:
    """Return the current rows of a domain by document id, without deleted ones."""
    prefix = row_prefix(domain)
    rows: dict[bytes, bytes] = {}
    place = await _partition(settings, client, "urltree-extract-rows-changelog", domain)
    async for record in read_records(client, await full_ranges(client, [place])):
        if record.key is not None and record.key.startswith(prefix):
            rows.pop(row_id(record.key), None)
            if record.value is not None:
                rows[row_id(record.key)] = record.value
    return rows


async def _texts(
    settings: Settings, client: AIOKafkaConsumer, domain: str, wanted: set[int]
) -> dict[int, str]:
    """Return the texts of the wanted blocks by hash, if the topic documents still has them."""
    texts: dict[int, str] = {}
    place = await _partition(settings, client, "documents", domain)
    ranges = await full_ranges(client, [place])
    async for record in read_records(client, ranges, also_unread=True):
        if len(texts) == len(wanted):
            continue
        if record.key != domain.encode() or is_command(record.headers):
            continue
        try:
            blocks = documents.decode(record.value).blocks
        except PageError:
            continue
        texts |= {block.hash: block.text for block in blocks if block.hash in wanted}
    return texts


async def _partition(
    settings: Settings, client: AIOKafkaConsumer, topic: str, domain: str
) -> TopicPartition:
    assigned = await partitions(client, settings.topic(topic))
    return assigned[partition_of(domain.encode(), len(assigned))]


def _largest_children(node: Node, children: int) -> Iterable[Node]:
    """Return the children of a node, those with most documents first."""
    ranked = sorted(node.children.values(), key=lambda child: (-child.support, child.name))
    return ranked[:children]


def _as_json(view: DomainView, depth: int, children: int) -> dict[str, Any]:
    def nested(node: Node) -> dict[str, Any]:
        fields: dict[str, Any] = {"name": node.name or view.domain, "support": node.support}
        if node.children:
            fields["children"] = len(node.children)
            if node.depth < depth:
                fields["nodes"] = [nested(child) for child in _largest_children(node, children)]
        return fields

    return {
        "domain": view.domain,
        "documents": view.documents,
        "waiting": view.waiting,
        "tree": nested(view.root),
        "blocks": [asdict(block) for block in view.blocks],
    }


def _print(view: DomainView, depth: int, children: int) -> None:
    def grow(branch: Tree, node: Node) -> None:
        if node.depth == depth:
            return
        for child in _largest_children(node, children):
            more = f" … {len(child.children)} children" if child.depth == depth else ""
            leaf = more if child.children else ""
            grow(branch.add(f"{escape(child.name)} [dim]({child.support})[/]{leaf}"), child)
        if len(node.children) > children:
            branch.add(f"[dim]… {len(node.children) - children} more[/]")

    console = Console(highlight=False)
    tree = Tree(f"[bold]{escape(view.domain)}[/] [dim]({view.root.support})[/]")
    grow(tree, view.root)
    console.print(tree)
    if view.waiting:
        console.print(f"[dim]{view.waiting} first pages will be classified a second time[/]")
    for block in view.blocks:
        share = block.count / max(view.documents, 1)
        gone = "(the text is no longer in the topic documents)"
        text = gone if block.text is None else repr(block.text[:100])
        console.print(f"{block.count:7,} {share:4.0%}  {escape(text)}")
