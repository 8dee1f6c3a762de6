"""The errors of RocksDB: a damaged disk heals itself, a disk that refuses needs a person.

A disk is only a cache of changelogs. If its files are damaged, the partition is wiped and restored.
If the disk is full, read-only or forbidden, wiping would not help: the worker ends with a sentence.
rocksdict raises `Exception` with RocksDB's text, so the text decides. Measured with rocksdict 0.3:

    flipped, cut, empty or missing SST, MANIFEST, CURRENT   "Corruption: …", or "No such file …"
    the same in the write-ahead log                         no error: the disk ends at an earlier
                                                            record, and so does its stored offset
    the same in OPTIONS, IDENTITY                           no error, and no harm
"""

from __future__ import annotations

# RocksDB's texts of the errors that do not come from damaged files: those of errno.
_REFUSALS = (
    "No space left on device",
    "Disk quota exceeded",
    "Read-only file system",
    "Permission denied",
    "Operation not permitted",
    "Input/output error",
    "Too many open files",
    "Cannot allocate memory",
)
# RocksDB's texts if another process, or an earlier owner in this process, has the database open.
_LOCKED = ("lock hold by current process", "While lock file")


class StoreError(Exception):
    """RocksDB failed. No page is at fault; the worker ends, and recovers after a restart."""


class DamageError(StoreError):
    """Files of RocksDB are damaged. The next start wipes the partition and restores it."""


class DiskError(StoreError):
    """The disk is full, read-only, forbidden or broken. A person must act; nothing is wiped."""


def is_refused(error: Exception) -> bool:
    """Return whether the disk refused to read or write."""
    return isinstance(error, OSError) or any(text in str(error) for text in _REFUSALS)


def is_locked(error: Exception) -> bool:
    """Return whether somebody else has the database open."""
    return any(text in str(error) for text in _LOCKED)


def is_damage(error: Exception) -> bool:
    """Return whether files of the database are damaged or missing."""
    text = str(error)
    is_found = text.startswith("Corruption") or "No such file or directory" in text
    return type(error) is Exception and is_found and not is_refused(error)
