"""The image has pinned versions and few rights, and processes a page."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from demo.ports import free_port
from deploy.tools.chart import RELEASE, ROOT
from tests.conftest import Record
from tests.deploy.chart import pods
from tests.deploy.container import DATA, OWNER, Container, Running
from tests.deploy.image import DOCKERFILE, LABELS, Image, built, missing
from tests.job.harness import Job, wait_until

EXTRAS = ("crawl", "kafka", "metadata", "single-page")  # `kafka` includes the extra `crawl`
LOCKS = ("requirements.txt", "build-requirements.txt")
STAGES = ("normalize", "extract")


def versions(file: Path) -> dict[str, str]:
    """Return the versions that a requirements file pins, by package."""
    return dict(re.findall(r"^([a-z0-9-]+)==([^\s;]+)", file.read_text(), re.MULTILINE))


@pytest.mark.parametrize("lock", LOCKS)
def test_the_image_has_the_versions_that_tests_use(lock: str) -> None:
    """The image is built from the versions that constraints.txt pins."""
    locked = versions(DOCKERFILE.with_name(lock))
    assert locked.items() <= versions(ROOT / "constraints.txt").items()


def test_the_lock_has_every_direct_dependency() -> None:
    """The lock has each dependency of the package and of the extras in the image."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = [project["optional-dependencies"][extra] for extra in EXTRAS]
    wanted = [line for lines in (project["dependencies"], *extras) for line in lines]
    names = {re.split(r"[^\w-]", line.replace("_", "-"), maxsplit=1)[0] for line in wanted}
    assert len(names) > len(EXTRAS)
    assert names - {"urltree"} <= versions(DOCKERFILE.with_name("requirements.txt")).keys()


@pytest.mark.parametrize("lock", LOCKS)
def test_every_line_of_a_lock_has_a_hash_and_no_index(lock: str) -> None:
    """Each package has a hash, so any mirror can serve it but cannot change it."""
    text = DOCKERFILE.with_name(lock).read_text()
    pins = re.findall(r"^[a-z].*\n(?:    .*\n)*", text, re.MULTILINE)
    assert len(pins) == len(versions(DOCKERFILE.with_name(lock)))
    assert [pin for pin in pins if "--hash=sha256:" not in pin] == []
    assert "://" not in text


def test_both_stages_stand_on_one_base_with_a_digest() -> None:
    """Both build stages use one base image, with a digest, because a tag can change.

    The build argument BASE can name another base image.
    """
    lines = DOCKERFILE.read_text().splitlines()
    (base,) = [line for line in lines if line.startswith("ARG BASE=")]
    assert re.fullmatch(r"ARG BASE=\S+:3\.12-slim-bookworm@sha256:[0-9a-f]{64}", base)
    assert [line.split()[1] for line in lines if line.startswith("FROM")] == ["${BASE}"] * 2


def test_the_builder_gets_every_package_of_the_wheel() -> None:
    """Each package is copied before the wheel is built, and .dockerignore does not exclude it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]
    packages = project["targets"]["wheel"]["packages"]
    copied, built, _ = DOCKERFILE.read_text().partition("uv build")
    assert built
    assert [f"COPY {name} ./{name}\n" in copied for name in packages] == [True] * len(packages)
    assert {f"!{name}" for name in packages} <= {*(ROOT / ".dockerignore").read_text().splitlines()}


def test_hadolint_finds_nothing_in_the_dockerfile() -> None:
    """With all rules enabled, hadolint finds nothing in the Dockerfile."""
    hadolint = Path(sys.executable).with_name("hadolint")
    ran = subprocess.run([hadolint, DOCKERFILE], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (0, "")


@pytest.mark.parametrize("stage", STAGES)
def test_the_chart_runs_what_the_image_has(stage: str) -> None:
    """Command, user, port and writable directories of chart and image are the same."""
    text = DOCKERFILE.read_text()
    pod = pods("minimal")[f"StatefulSet/{RELEASE}-{stage}"]
    (container,) = pod["containers"]
    assert f"ENTRYPOINT {json.dumps(container['command'])}" in text
    user = pod["securityContext"]
    assert f"USER {user['runAsUser']}:{user['runAsGroup']}" in text
    assert [f"EXPOSE {port['containerPort']}" in text for port in container["ports"]] == [True]
    writable = {m["mountPath"] for m in container["volumeMounts"] if not m.get("readOnly")}
    assert writable == {DATA, "/tmp"}  # noqa: S108 - the container's own
    assert f"URLTREE_DATA_DIR={DATA} " in text


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Image]:
    """Yield the image, which is built once for this file, in 3 minutes on two busy cores."""
    if reason := missing():
        pytest.skip(reason)
    with built(tmp_path_factory.mktemp("image") / "build") as made:
        yield made


@pytest.mark.deploy
def test_the_image_says_who_runs_what(image: Image, record: Record) -> None:
    """The image has a user, a command, a port and labels.

    It declares no volume, because a volume would hide a missing mount.
    """
    config = image.config
    assert config["User"] == f"{OWNER}:{OWNER}"
    assert config["Entrypoint"] == ["python", "-m", "agents"]
    assert config["WorkingDir"] == "/app"
    assert config["ExposedPorts"] == {"8080/tcp": {}}
    assert "Volumes" not in config
    labels = {f"org.opencontainers.image.{name.lower()}": value for name, value in LABELS.items()}
    assert labels.items() <= config["Labels"].items()
    record(f"the image has {image.size / 1e6:,.0f} MB on a debootstrap base")


@pytest.mark.deploy
def test_the_image_has_nothing_that_builds_or_installs(image: Image) -> None:
    """The image has no pip, uv, compiler, Python.h or setuid file, and only the job in /app."""
    tools = {"pip", "pip3", "uv", "uvx", "cc", "gcc", "make", "hatchling", "Python.h"}
    files = [file for file in image.root.rglob("*") if file.is_file()]
    assert len(files) > len(tools)
    assert [str(file) for file in files if file.name in tools] == []
    assert [str(file) for file in files if file.lstat().st_mode & 0o6000] == []
    assert list(image.root.rglob("ensurepip")) == []
    assert {file.name for file in (image.root / "app").iterdir()} == {
        "agents",
        "models",
        "topics.yaml",
    }


@pytest.mark.deploy
def test_only_data_and_tmp_can_be_written(image: Image, tmp_path: Path) -> None:
    """The data directory and /tmp are writable; any other write fails with EROFS (30)."""
    container = Container(image, tmp_path / "data", {})
    ran = container.program("python", "-c", _TRIES_TO_WRITE)
    assert ran.stderr == ""
    assert ran.stdout.splitlines() == [
        f"{DATA}: written",
        "/tmp: written",  # noqa: S108 - the container's own
        "others: 30",
        f"ids: {OWNER}",
    ]


_TRIES_TO_WRITE = f"""
import os
def tried(directory):
    try:
        open(os.path.join(directory, "new"), "x").close()
    except OSError as error:
        return error.errno
    return "written"
own = ({DATA!r}, "/tmp")
for directory in own:
    print(directory + ":", tried(directory))
found = [path for path, _, _ in os.walk("/") if not path.startswith((*own, "/proc"))]
print("others:", *{{tried(path) for path in found}})
print("ids:", *{{*os.getresuid(), *os.getresgid(), *os.getgroups()}})
"""


@pytest.fixture
def job(kafka: str, prefix: str, tmp_path: Path) -> Job:
    """Return a job with a unique prefix. The image creates its topics."""
    return Job(kafka, prefix, tmp_path)


@pytest.fixture
def workers(image: Image, job: Job) -> Iterator[dict[str, Running]]:
    """Yield a worker of normalize and extract from the image, after it has created the topics."""
    started = {}
    try:
        made = Container(image, job.directory / "topics", job.environment).run("topics", "apply")
        assert made.returncode == 0, made.stderr
        for stage in STAGES:
            at = {**job.environment, "URLTREE_WEB_PORT": str(free_port())}
            container = Container(image, job.directory / stage, at)
            started[stage] = container.start(job.directory / f"{stage}.log", "worker", stage)
        yield started
    finally:
        for worker in started.values():
            worker.kill()


@pytest.mark.deploy
@pytest.mark.kafka
def test_a_page_goes_through_the_image(
    image: Image, workers: dict[str, Running], job: Job, record: Record
) -> None:
    """A page passes both stages in containers of the image, which have no privileges.

    The containers end on SIGTERM with exit code 0.
    """
    trip = Container(image, job.directory / "trip", job.environment).run("round-trip")
    assert trip.returncode == 0, f"{trip.stdout}{trip.stderr}{log(workers)()}"
    for worker in workers.values():
        status = worker.status()
        assert status["Uid"].split() == status["Gid"].split() == [str(OWNER)] * 4
        assert (status["NoNewPrivs"], status["Groups"]) == ("1", "")
        assert {int(status[name], 16) for name in ("CapEff", "CapPrm", "CapBnd")} == {0}
        worker.ask_to_end()
    wait_until(lambda: all(w.poll() is not None for w in workers.values()), "the end", log(workers))
    assert {stage: worker.poll() for stage, worker in workers.items()} == dict.fromkeys(STAGES, 0)
    record(f"as uid 10001 with a read-only root: {trip.stdout.strip()}")


def log(workers: dict[str, Running]) -> Callable[[], str]:
    """Return a function that returns the logs of the workers, for a test that fails."""
    return lambda: "\n".join(worker.log() for worker in workers.values())
