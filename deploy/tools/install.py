"""Install the tools that check the chart and its images, each pinned in `tools.toml`, into a cache.

`python deploy/tools/install.py helm kubeconform` builds what is missing and says how long it took;
without names it lists what there is. A Go tool is built in a module of its own, which takes over
the `replace` lines of the tool's `go.mod` as `go install` would not: helm-unittest needs its fork
of a parser, and Kubernetes names folders of its repository (`./staging/src/…`) that the module
lacks but that are published as modules, too. Go compares every download with sum.golang.org.

Everything is made beside its place and renamed into it, so that an interrupted run leaves nothing
half made. What cannot be installed is said in one sentence and is no error: the tests that need it
skip themselves.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

PINS = Path(__file__).with_name("tools.toml")


class NotInstalledError(Exception):
    """A tool is not there; the message is one sentence that says what to do."""


@dataclass(frozen=True)
class Tool:
    """One table of `tools.toml`; which of the sources is named says how it is installed.

    Attributes:
        name: the table's name, and the executable's.
        version: as its registry writes it; Debian's is whichever the machine's sources offer.
        minutes: what it takes on two cores with nothing cached.
        module: Go module; its `package` is built, or its `files` (globs) are copied.
        staging: version of the modules that `module` replaces by folders of its repository.
        ldflags: what Go's linker is told besides leaving symbols out.
        python: a package of PyPI with a command of that name.
        debian: a package of Debian that holds `file`.
    """

    name: str
    version: str = "debian"
    minutes: float = 0.5
    module: str = ""
    package: str = ""
    files: Sequence[str] = ()
    staging: str = ""
    ldflags: str = ""
    python: str = ""
    debian: str = ""
    file: str = ""

    @property
    def place(self) -> Path:
        """Where it is, or would be, in the cache: an executable, or a folder of files."""
        folder = "files" if self.files else "bin"
        return cache_directory() / folder / f"{self.name}-{self.version}"


def cache_directory() -> Path:
    """URLTREE_TOOLS, else `urltree/tools` below the user's cache."""
    if named := os.environ.get("URLTREE_TOOLS"):
        return Path(named)
    caches = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(caches) / "urltree" / "tools"


def pinned() -> Mapping[str, Tool]:
    """All tools of `tools.toml`, by name."""
    return {name: Tool(name, **keys) for name, keys in tomllib.loads(PINS.read_text()).items()}


def find(name: str) -> Path:
    """The executable, or folder, of a tool: in the cache, or Debian's on the machine itself.

    Raises:
        NotInstalledError: it is in neither.
    """
    tool = pinned()[name]
    if tool.place.exists():
        return tool.place
    if tool.debian and (found := shutil.which(name)):
        return Path(found)
    raise NotInstalledError(f"{name} is not installed: python deploy/tools/install.py {name}")


def install(name: str) -> Path:
    """What `find` finds, after an installation if there was nothing.

    Raises:
        NotInstalledError: what installs it is missing, or fails.
    """
    try:
        return find(name)
    except NotInstalledError:
        tool = pinned()[name]
    print(f"{name} {tool.version} … (about {tool.minutes:g} min, once)", flush=True)
    started = time.monotonic()
    tool.place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache_directory(), prefix="making-") as scratch:
        if tool.python:
            made = _install_python(tool, Path(scratch))
        elif tool.debian:
            made = _unpack_debian(tool, Path(scratch))
        elif tool.files:
            made = _copy_files(tool, Path(scratch))
        else:
            made = _build_go(tool, Path(scratch))
        made.replace(tool.place)
    print(f"{name} {tool.version}: {time.monotonic() - started:.0f} s", flush=True)
    return tool.place


def _build_go(tool: Tool, scratch: Path) -> Path:
    """Build one executable, in a module that requires the tool and nothing else."""
    (scratch / "go.mod").write_text(_own_module(tool))
    ldflags = f"-s -w {tool.ldflags}"
    package = f"{tool.module}/{tool.package}"
    _run(tool, "go", "build", "-mod=mod", "-ldflags", ldflags, "-o", "made", package, cwd=scratch)
    return scratch / "made"


def _own_module(tool: Tool) -> str:
    """A go.mod with the tool's own `replace` lines, which Go heeds in the main module alone."""
    upstream = json.loads(_run(tool, "go", "mod", "edit", "-json", _download(tool)["GoMod"]))
    lines = ["module build", f"go {upstream['Go']}", f"require {tool.module} {tool.version}"]
    for replaced in upstream["Replace"] or ():
        old, new = replaced["Old"], replaced["New"]
        if new["Path"].startswith("./"):
            new = {"Path": old["Path"], "Version": tool.staging}
        lines.append(f"replace {_with_version(old)} => {_with_version(new)}")
    return "\n".join(lines)


def _with_version(module: Mapping[str, str]) -> str:
    return f"{module['Path']} {module.get('Version', '')}"


def _copy_files(tool: Tool, scratch: Path) -> Path:
    """Copy what the globs name out of Go's module cache, flat."""
    made = scratch / "made"
    made.mkdir()
    module = Path(_download(tool)["Dir"])
    for file in [file for pattern in tool.files for file in module.glob(pattern)]:
        shutil.copyfile(file, made / file.name)
    return made


def _download(tool: Tool) -> dict[str, str]:
    """What `go mod download` says of the module: paths of its go.mod and its folder."""
    coordinate = f"{tool.module}@{tool.version}"
    answer: dict[str, str] = json.loads(_run(tool, "go", "mod", "download", "-json", coordinate))
    return answer


def _install_python(tool: Tool, scratch: Path) -> Path:
    """Let uv install the package into an environment of the cache; its command is linked to.

    The environment is made in place, for its scripts name their interpreter by its path; the link
    comes last.
    """
    home = cache_directory() / "python" / f"{tool.name}-{tool.version}"
    uv = str(Path(sys.executable).with_name("uv"))
    command = uv if Path(uv).exists() else "uv"
    _run(tool, command, "venv", "--quiet", "--clear", "--python", sys.executable, str(home))
    requirement = f"{tool.python}=={tool.version}"
    _run(tool, command, "pip", "install", "--quiet", "--python", str(home), requirement)
    made = scratch / "made"
    made.symlink_to(home / "bin" / tool.name)
    return made


def _unpack_debian(tool: Tool, scratch: Path) -> Path:
    """Take one executable out of a Debian package, which leaves the machine as it is."""
    _run(tool, "apt-get", "download", "--quiet", tool.debian, cwd=scratch)
    (package,) = scratch.glob("*.deb")
    _run(tool, "dpkg-deb", "--extract", str(package), "unpacked", cwd=scratch)
    return scratch / "unpacked" / tool.file


def _run(tool: Tool, *command: str, cwd: Path | None = None) -> str:
    """The standard output of a command.

    Raises:
        NotInstalledError: there is no such command, or it fails.
    """
    environment = {
        **os.environ,
        "CGO_ENABLED": "0",
        "GOFLAGS": "-buildvcs=false",
        "GOWORK": "off",
    }
    try:
        done = subprocess.run(  # noqa: S603 - the commands of this file
            command, cwd=cwd, env=environment, capture_output=True, text=True, check=True
        )
    except FileNotFoundError:
        raise NotInstalledError(
            f"{tool.name} cannot be installed: there is no {command[0]} here."
        ) from None
    except subprocess.CalledProcessError as error:
        said = (error.stderr.strip() or error.stdout.strip() or "nothing said").splitlines()[-1]
        raise NotInstalledError(
            f"{tool.name} cannot be installed: {command[0]} {command[1]}: {said}"
        ) from None
    return done.stdout


def main(names: Sequence[str]) -> None:
    """Install the named tools, or list all of them with their places."""
    for name in names:
        try:
            install(name)
        except NotInstalledError as error:
            print(f"{error} The tests that need it are skipped.", flush=True)
    for name in () if names else pinned():
        try:
            print(f"{name}: {find(name)}")
        except NotInstalledError as error:
            print(error)


if __name__ == "__main__":
    main(sys.argv[1:])
