"""A run of the job on pages of files, with an account of every page at the end.

Kafka ──▶ topics ──▶ workers ready ──▶ pages published ──▶ all have an outcome ──▶ audit
                                         └──────── shown live ────────┘
"""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

from agents.commands.audit.command import account
from demo.follow import following
from demo.job import TURN, kafka, working
from demo.outputs import TOPICS, Outputs
from demo.progress import DemoSummary
from demo.publish import Publisher, read_pages
from demo.view import RunView
from demo.workers import PAGE_STAGES


async def run_pages(inputs: tuple[str, ...], directory: Path, view: RunView) -> DemoSummary:
    """Publish the pages of files and folders, follow them until each has an outcome, and audit.

    Raises:
        KafkaError, SettingsError, WorkerError, InputError: the message says what the user can do.
    """
    async with (
        kafka(directory, view) as settings,
        working(settings, directory, view, PAGE_STAGES) as job,
    ):
        outputs = Outputs(settings)
        publisher = Publisher(settings, outputs.expect)
        async with following(settings, TOPICS, outputs.take), asyncio.TaskGroup() as group:
            started = time.monotonic()
            publishing = group.create_task(publisher.publish(read_pages(inputs)))
            await job.watch(
                outputs.update,
                is_coming=lambda: not publishing.done(),
                is_over=lambda progress: progress.accounts.missing == 0,
            )
            seconds = time.monotonic() - started
        return DemoSummary(
            accounts=await account(settings, wait=TURN),
            domains=len(outputs.progress.domains),
            seconds=seconds,
            refused=tuple(publisher.refused),
        )
