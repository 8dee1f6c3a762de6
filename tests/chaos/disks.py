"""Small disks, which a schedule fills and empties again (tmpfs)."""

from __future__ import annotations

import os
import subprocess
from contextlib import suppress
from pathlib import Path

_FILLER = "filler"
_BLOCK = 1024 * 1024


class SmallDisk:
    """A tmpfs of its own at a directory, or nothing where none can be mounted.

    Attributes:
        problem: why it could not be mounted, else None.
    """

    def __init__(self, directory: Path, megabytes: int) -> None:
        self.directory = directory
        self.problem: str | None = None
        directory.mkdir(parents=True)
        command = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(directory)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                self.problem = f"no tmpfs can be mounted here: {done.stderr.strip()}"
        except OSError as error:
            self.problem = f"no tmpfs can be mounted here: {error}"

    def fill(self) -> None:
        """Use up all that is free."""
        with (self.directory / _FILLER).open("wb", buffering=0) as file, suppress(OSError):
            while True:
                file.write(b"\0" * _BLOCK)

    def free(self) -> None:
        """Give back what `fill` has used."""
        (self.directory / _FILLER).unlink(missing_ok=True)

    def close(self) -> None:
        """Remove the disk, even if a process still uses it."""
        if self.problem is None and os.path.ismount(self.directory):
            subprocess.run(["umount", "-l", str(self.directory)], check=False)
