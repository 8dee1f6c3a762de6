"""A small disk is full when it says so, and has room again afterwards."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from tests.chaos.disks import SmallDisk


def test_a_disk_is_full_until_it_is_freed(tmp_path: Path) -> None:
    """A write fails with "no space" on a full disk, and succeeds when it was freed."""
    disk = SmallDisk(tmp_path / "disk", 2)
    if disk.problem:
        pytest.skip(disk.problem)
    file = disk.directory / "file"
    try:
        disk.fill()
        with pytest.raises(OSError, match="No space") as refused:
            file.write_bytes(b"text")
        assert refused.value.errno == errno.ENOSPC
        disk.free()
        file.write_bytes(b"text")
    finally:
        disk.close()
    assert not file.exists()
