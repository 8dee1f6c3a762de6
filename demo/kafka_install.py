"""Download Apache Kafka from Maven Central and prepare it, without Java or Docker.

`jgo` downloads the jars, but accepts half a file after an interrupted download. So the checksum of
each jar is compared before the installation counts as complete. The jars are fetched
one by one and not as a jgo environment, because jgo would need a JDK only to sort the jars.

A training run then makes two things that speed up each later start: an archive of loaded classes
(AppCDS: 1.8 s instead of 2.5 s) and a formatted data directory (another 1.7 s).
"""

from __future__ import annotations

import fcntl
import hashlib
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from demo.broker import KafkaBroker, broker_properties
from demo.kafka_files import (
    JARS,
    VERSION,
    Installation,
    KafkaError,
    cache_directory,
    checksums,
    jar_name,
    listed_jars,
)

ATTEMPTS = 3  # largest number of attempts to download all jars
PARALLEL = 8  # number of downloads at the same time


def install(cache: Path | None = None, version: str = VERSION, listed: Path = JARS) -> Installation:
    """Return the installation of Kafka; the first call downloads, verifies and prepares it.

    Args:
        cache: directory for downloads.
        version: release of Kafka.
        listed: file that lists the jars of the release.

    Raises:
        KafkaError: the jars cannot be downloaded, or do not have their checksums.
    """
    directory = (cache or cache_directory()).resolve() / f"kafka-{version}"
    installation = Installation(directory, listed)
    if installation.is_complete():
        return installation
    directory.mkdir(parents=True, exist_ok=True)
    with _lock(directory / "lock"):
        if not installation.is_complete():
            _report(f"Downloading Apache Kafka {version} (55 MB, only once) …")
            _fetch(installation)
            _report("Preparing Kafka for quick starts …")
            _train(installation)
            installation.checked.write_bytes(listed.read_bytes())
    return installation


def wrong_jars(jars: Path, listed: Path = JARS) -> list[str]:
    """List missing, unexpected and damaged jars of a folder; the list is empty if all are right."""
    expected = checksums(listed)
    found = {jar.name: jar for jar in jars.glob("*.jar")}
    wrong = [f"{name} is missing" for name in expected if name not in found]
    wrong += [f"{name} is unexpected" for name in found if name not in expected]
    for name, jar in found.items():
        if name in expected and hashlib.sha256(jar.read_bytes()).hexdigest() != expected[name]:
            wrong.append(f"{name} has another checksum")
    return wrong


def _fetch(installation: Installation) -> None:
    directory, listed = installation.directory, installation.listed
    jars, download = directory / "jars", directory / "download"
    problem = ""
    for _ in range(ATTEMPTS):
        try:
            _download(download, jars, listed)
            wrong = wrong_jars(jars, listed)
        except Exception as error:  # noqa: BLE001 - jgo passes on any error of its libraries
            wrong = [f"{type(error).__name__}: {error}"]
        shutil.rmtree(download, ignore_errors=True)
        if not wrong:
            return
        problem = "; ".join(wrong[:3])
    raise KafkaError(
        f"Apache {directory.name} cannot be downloaded after {ATTEMPTS} attempts: {problem}. "
        "Check the network, or set KAFKA_BROKERS to the address of a running Kafka."
    )


def _download(scratch: Path, jars: Path, listed: Path) -> None:
    """Download into an empty scratch folder, so that a retry does not find half a file."""
    from jgo.maven import MavenContext  # noqa: PLC0415 - not needed once Kafka is installed

    for folder in (scratch, jars):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
    context = MavenContext(repo_cache=scratch, timeout=60)

    def fetch(coordinate: str) -> None:
        group, artifact, version = coordinate.split(":")
        component = context.project(group, artifact).at_version(version)
        shutil.copy(component.artifact().resolve(), jars / jar_name(coordinate))

    with ThreadPoolExecutor(PARALLEL) as threads:
        list(threads.map(fetch, [coordinate for _, coordinate in listed_jars(listed)]))


def _train(installation: Installation) -> None:
    """Format a data directory, and make the archive of Java classes for a faster start."""
    formatted, config = installation.formatted, installation.directory / "format.properties"
    shutil.rmtree(formatted, ignore_errors=True)
    config.write_text(broker_properties(formatted, {"PLAINTEXT": 9092}, 9093))
    installation.format(config)
    classes = installation.directory / "classes.list"
    with KafkaBroker(installation, options=(f"-XX:DumpLoadedClassList={classes}",)):
        pass
    # an error is harmless: without the archive a start takes two seconds longer
    dump = (
        "-Xshare:dump",
        f"-XX:SharedClassListFile={classes}",
        f"-XX:SharedArchiveFile={installation.archive}",
    )
    subprocess.run(installation.java(*dump), capture_output=True, check=False)


@contextmanager
def _lock(path: Path) -> Iterator[None]:
    """Let one process at a time install; the lock ends with the process."""
    with path.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _report(message: str) -> None:
    print(message, file=sys.stderr, flush=True)  # noqa: T201 - explains why the user has to wait


if __name__ == "__main__":
    try:
        install()
    except KafkaError as error:
        sys.exit(str(error))
