"""The codecs of compressed batches. Each of them unpacks as a stream, in bounded memory.

aiokafka unpacks a batch as a whole: a gzip batch of 1 MB took 3 GB of memory (measured).
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Iterator
from importlib import import_module
from io import BytesIO
from typing import Any

from agents.kafka.batches.snappy import DamagedError, unpack_snappy
from agents.settings.job import SettingsError

_LIBRARIES = {"snappy": "cramjam", "lz4": "lz4", "zstd": "zstandard"}

CHUNK = 256 * 1024  # bytes that are unpacked at a time

# zstd's own limit, which Kafka's clients have, too: levels up to 22 need a window of 128 MiB.
_WINDOW = 128 * 1024 * 1024

_DAMAGES = (OSError, EOFError, RuntimeError, ValueError, zlib.error)  # of gzip and lz4


def check_libraries() -> None:
    """Check that batches of every codec can be read.

    Raises:
        SettingsError: The library of a codec is not installed.
    """
    for codec, library in _LIBRARIES.items():
        try:
            import_module(library)
        except ImportError:
            raise SettingsError(
                f"the library {library} is missing, so records that a producer compressed with "
                f"{codec} cannot be read; install it with `pip install {library}`, or install all "
                "libraries of the job with the extra `kafka`"
            ) from None


def unpack(codec: int, data: bytes) -> Iterator[bytes]:
    """Yield the unpacked bytes of a batch in chunks.

    Args:
        codec: Number of the codec, as the attributes of the batch contain it.
        data: Compressed records of the batch.

    Raises:
        DamagedError: The data is damaged, or nobody knows the codec.
    """
    unpacker = _UNPACKERS.get(codec)
    if unpacker is None:
        raise DamagedError(f"the batch has the unknown codec {codec}")
    yield from unpacker(data)


def _gzip(data: bytes) -> Iterator[bytes]:
    return _chunks(gzip.GzipFile(fileobj=BytesIO(data)), _DAMAGES)


def _lz4(data: bytes) -> Iterator[bytes]:
    import lz4.frame  # noqa: PLC0415 - `check_libraries` reports a missing library

    return _chunks(lz4.frame.LZ4FrameFile(BytesIO(data)), _DAMAGES)


def _zstd(data: bytes) -> Iterator[bytes]:
    import zstandard  # noqa: PLC0415

    unpacker = zstandard.ZstdDecompressor(max_window_size=_WINDOW)
    stream = unpacker.stream_reader(data, read_across_frames=True)
    return _chunks(stream, (zstandard.ZstdError,))


def _chunks(stream: Any, damages: tuple[type[Exception], ...]) -> Iterator[bytes]:
    try:
        while chunk := stream.read(CHUNK):
            yield chunk
    except damages as error:
        raise DamagedError(f"the compressed data is damaged: {error}") from error


_UNPACKERS: dict[int, Callable[[bytes], Iterator[bytes]]] = {
    1: _gzip,
    2: unpack_snappy,
    3: _lz4,
    4: _zstd,
}
