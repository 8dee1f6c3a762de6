"""Leave out the waiting pages of a dump that were forgotten before the dump was made."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from agents.commands.state.file import DumpRecord
from agents.forgetting import changelog
from agents.kafka.tables.table import row_key, row_prefix
from agents.settings.job import Settings
from agents.settings.schemes import Schemes
from models import raw_html
from models.command import Marker, is_command
from models.headers.names import ORIGIN, header
from models.origin import Origin
from urltree.page import PageError


def without_forgotten(
    settings: Settings, prefix: str, records: Iterable[DumpRecord]
) -> Iterator[DumpRecord]:
    """Yield the records of a dump, without markers and without waiting pages that they cover.

    A dump contains its markers before its waiting pages. A page can wait although a later command
    was carried out: the dump was made while the workers had not committed the command yet, or the
    page has a wrong key and waits in another partition.

    Args:
        settings: Settings of the job.
        prefix: Prefix of the job from which the dump was made.
        records: Records of the dump.
    """
    markers: dict[bytes, Marker] = {}
    schemes = Schemes(settings)
    for record in records:
        if record.topic in (changelog("normalize"), changelog("extract")):
            if record.topic == changelog("normalize") and record.key and record.value:
                markers[record.key] = Marker.decode(record.value)
        elif not (
            markers and record.topic == "raw-html" and _is_covered(record, prefix, schemes, markers)
        ):
            yield record


def _is_covered(
    record: DumpRecord, prefix: str, schemes: Schemes, markers: dict[bytes, Marker]
) -> bool:
    if is_command(record.headers):
        return False
    topic = f"{prefix}raw-html"
    place = Origin(topic, record.partition, record.offset)
    origin = header(record.headers, ORIGIN) or str(place)
    try:
        keys = schemes.keys(raw_html.decode(record.value, record.headers))
    except PageError:
        names = [row_prefix((record.key or b"").decode(errors="replace"))]
    else:
        names = [row_prefix(keys[0].domain)]
        names += [row_key(key.domain, bytes.fromhex(key.id)) for key in keys]
    return any(
        markers[name].covers(topic, origin, record.offset) for name in names if name in markers
    )
