"""`python -m agents domain DOMAIN`: its tree with supports, and what recurs most.

The tree is made from the rows in the changelog of `extract`: no worker is asked, none need run.
Rows hold hashes, not texts: the texts shown are those of the same blocks in documents that are
still in the topic documents.
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

from agents.kafka.client import consumer, partitions, read, whole
from agents.kafka.partitions import partition_of
from agents.kafka.tables.table import id_of, prefix_of
from agents.settings.job import Settings, SettingsError, load
from models import document as documents
from models.command import is_command
from urltree.heuristics.registry import heuristic
from urltree.page import PageError
from urltree.site.row import Row, RowError
from urltree.site.site import Site
from urltree.tree.url_tree import Node


@dataclass(frozen=True, slots=True)
class Block:
    """A block that recurs.

    Attributes:
        hash: of its normalised text, 16 hexadecimal digits.
        count: documents of the domain that contain it.
        text: None where no document in the topic has it any more.
    """

    hash: str
    count: int
    text: str | None


class View(NamedTuple):
    """What is learned of a domain.

    Attributes:
        waiting: first pages that are to be judged again.
        blocks: those that most documents contain, the most frequent first.
    """

    domain: str
    documents: int
    waiting: int
    root: Node
    blocks: list[Block]


async def look(settings: Settings, domain: str, blocks: int) -> View:
    """Rebuild a domain's tree.

    Args:
        settings: of the job, its eviction included.
        domain: registrable domain.
        blocks: how many of the most repeated ones.

    Raises:
        SettingsError: rows of a release that this one does not know.
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
    found = [Block(f"{name:016x}", count, texts.get(name)) for name, count in repeated]
    return View(domain, len(learned.tree), waiting, root, found)


@click.command("domain")
@click.argument("domain")
@click.option("--depth", type=click.IntRange(0), default=3, help="Of the tree shown; 3.")
@click.option("--children", type=click.IntRange(1), default=20, help="Shown of a node; 20.")
@click.option("--blocks", type=click.IntRange(0), default=20, help="Most repeated ones; 20.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def domain_command(*, domain: str, depth: int, children: int, blocks: int, as_json: bool) -> None:
    """Show the tree of a DOMAIN and its most repeated blocks. Exit 1: nothing is known of it."""
    view = asyncio.run(look(load(), domain, blocks))
    if as_json:
        click.echo(orjson.dumps(_as_json(view, depth, children)))
    else:
        _print(view, depth, children)
    raise SystemExit(0 if view.documents else 1)


async def _rows(settings: Settings, client: AIOKafkaConsumer, domain: str) -> dict[bytes, bytes]:
    """The rows of a domain by document id: the last of each key, tombstones left out."""
    prefix = prefix_of(domain)
    rows: dict[bytes, bytes] = {}
    place = await _partition(settings, client, "urltree-extract-rows-changelog", domain)
    async for record in read(client, await whole(client, [place])):
        if record.key is not None and record.key.startswith(prefix):
            rows.pop(id_of(record.key), None)
            if record.value is not None:
                rows[id_of(record.key)] = record.value
    return rows


async def _texts(
    settings: Settings, client: AIOKafkaConsumer, domain: str, wanted: set[int]
) -> dict[int, str]:
    """The text of blocks, by hash, where a document still has it."""
    texts: dict[int, str] = {}
    place = await _partition(settings, client, "documents", domain)
    async for record in read(client, await whole(client, [place])):
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


def _shown(node: Node, children: int) -> Iterable[Node]:
    """Its children, those with most documents first."""
    ranked = sorted(node.children.values(), key=lambda child: (-child.support, child.name))
    return ranked[:children]


def _as_json(view: View, depth: int, children: int) -> dict[str, Any]:
    def nested(node: Node) -> dict[str, Any]:
        fields: dict[str, Any] = {"name": node.name or view.domain, "support": node.support}
        if node.children:
            fields["children"] = len(node.children)
            if node.depth < depth:
                fields["nodes"] = [nested(child) for child in _shown(node, children)]
        return fields

    return {
        "domain": view.domain,
        "documents": view.documents,
        "waiting": view.waiting,
        "tree": nested(view.root),
        "blocks": [asdict(block) for block in view.blocks],
    }


def _print(view: View, depth: int, children: int) -> None:
    def grow(branch: Tree, node: Node) -> None:
        if node.depth == depth:
            return
        for child in _shown(node, children):
            more = f" … {len(child.children)} below" if child.depth == depth else ""
            leaf = more if child.children else ""
            grow(branch.add(f"{escape(child.name)} [dim]({child.support})[/]{leaf}"), child)
        if len(node.children) > children:
            branch.add(f"[dim]… {len(node.children) - children} more[/]")

    console = Console(highlight=False)
    tree = Tree(f"[bold]{escape(view.domain)}[/] [dim]({view.root.support})[/]")
    grow(tree, view.root)
    console.print(tree)
    if view.waiting:
        console.print(f"[dim]{view.waiting} first pages will be judged again[/]")
    for block in view.blocks:
        share = block.count / max(view.documents, 1)
        text = "text not in documents any more" if block.text is None else repr(block.text[:100])
        console.print(f"{block.count:7,} {share:4.0%}  {escape(text)}")
