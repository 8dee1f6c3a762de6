"""A spool: what was learned of all pages, on disk until it is judged."""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Iterator
from types import TracebackType
from typing import Any, Self


class Spool:
    """Objects in a temporary file, in order; memory holds one at a time."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile(prefix="urltree-")  # noqa: SIM115 - closed on exit

    def put(self, item: Any) -> None:
        """Add an item at the end."""
        pickle.dump(item, self._file, pickle.HIGHEST_PROTOCOL)

    def __iter__(self) -> Iterator[Any]:
        """All items from the first on."""
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
