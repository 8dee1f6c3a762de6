"""Base class of the stages normalize and extract.

Both stages have a table of documents and carry out the operator's command `forget`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

from faust.types.tuples import Message

from agents.kafka.delivery import Work
from agents.kafka.tables.table import ConfirmedTable
from agents.stage import Stage
from models.command import Forget, is_command


class DocumentStage(Stage):
    """A stage that processes pages or documents, and the operator's command `forget`."""

    async def process(self, message: Message, origin: str, work: Work) -> None:
        """Process a page, a document or an operator's command.

        Raises:
            PageError: the record is invalid; it becomes a dead letter.
        """
        if is_command(message.headers):
            forget = Forget.decode(message.value)
            self.check_place(forget.domain, message)
            await self.obey(forget, message.partition, origin, work)
            self.drop(message.partition, forget.domain)
        else:
            await self.take(message, origin, work)

    @abstractmethod
    async def obey(self, forget: Forget, partition: int, origin: str, work: Work) -> None:
        """Delete the rows of a page or a domain; send the command onwards, or answer it."""

    @abstractmethod
    async def take(self, message: Message, origin: str, work: Work) -> None:
        """Process a page or a document.

        Raises:
            PageError: the page or document is invalid; its record becomes a dead letter.
        """

    async def delete(
        self, table: ConfirmedTable, partition: int, keys: Sequence[bytes], work: Work
    ) -> None:
        """Delete rows as part of the work on a record."""
        for key in keys:
            work.wait_for(await table.delete(partition, key))
        self.metrics.evicted.inc(len(keys))
