"""A spool: the file in which a run with two passes stores documents until it judges them again."""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Iterator
from types import TracebackType
from typing import Any, Self


class Spool:
    """A temporary file of objects in their order; only one of them is in memory at a time."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile(prefix="urltree-")  # noqa: SIM115 - closed on exit

    def put(self, item: Any) -> None:
        """Append an object."""
        pickle.dump(item, self._file, pickle.HIGHEST_PROTOCOL)

    def __iter__(self) -> Iterator[Any]:
        """Iterate over all objects in the order in which they were put."""
        end = self._file.tell()
        self._file.seek(0)
        while self._file.tell() < end:
            yield pickle.load(self._file)  # noqa: S301 - written above, by this process

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._file.close()
