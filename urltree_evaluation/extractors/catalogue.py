"""Load all available extractors with their versions, and explain why others are not available."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from importlib import import_module, metadata
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType

import xxhash

import urltree
from urltree.html import blocks, elements, encoding, parser, tokenizer
from urltree_evaluation.extractors import html_events, html_text
from urltree_evaluation.extractors.registry import RegisteredExtractor, registered

_PACKAGE = __name__.rpartition(".")[0]
# modules that several extractors use
_SHARED = (html_events, html_text, tokenizer, blocks, elements, parser, encoding)
_DISTRIBUTIONS = {  # packages whose name on PyPI differs from the name to import
    "magic_html": "magic-html",
    "newspaper": "newspaper4k",
    "readability": "readability-lxml",
}


class PluginError(Exception):
    """A plugin cannot be used; the message names its file."""


def load_extractors(
    plugins: Sequence[Path] = (),
) -> tuple[dict[str, RegisteredExtractor], dict[str, str]]:
    """Return all extractors by name, and the reason why each other module cannot be loaded.

    Args:
        plugins: Python files that register extractors; see registry.py.

    Raises:
        PluginError: a plugin raises an exception, registers nothing, uses a name that exists
            already, or names a package that is not installed.
    """
    known, absent = _built_in()
    found = dict(known)
    for file in plugins:
        new = _from_plugin(file)
        taken = sorted(found.keys() & new.keys())
        if taken:
            raise PluginError(
                f"{file}: another extractor already has the name {', '.join(taken)}: choose another"
            )
        found |= new
    return found, dict(absent)


def extractor_version(extractor: RegisteredExtractor) -> str:
    """Return the version of the extractor's package and a hash of our code, as VERSION+HASH.

    The hash covers the module that calls the package, and our modules that several extractors use.
    For our own extractors, the hash covers the whole package `urltree`. Equal versions produce
    equal text.
    """
    code = xxhash.xxh3_64(_source(_file(sys.modules[extractor.module])))
    code.update(_hash_algorithm() if extractor.package == "urltree" else _hash_shared())
    digest = code.hexdigest()[:8]
    return f"{metadata.version(extractor.package)}+{digest}" if extractor.package else digest


@cache
def _hash_shared() -> bytes:
    """Hash the code of our tokenizer and the version of the parser."""
    return _hash([*map(_file, _SHARED)], "lxml")


@cache
def _hash_algorithm() -> bytes:
    """Hash every file of the package `urltree`, because any of them may change the text."""
    return _hash([_file(urltree)], "lxml", "publicsuffixlist") + _hash_shared()


def _hash(files: Iterable[Path], *packages: str) -> bytes:
    said = xxhash.xxh3_128(" ".join(map(metadata.version, packages)).encode())
    for file in sorted(files):
        said.update(_source(file))
    return said.digest()


def _file(module: ModuleType) -> Path:
    return Path(str(module.__file__))


def _source(file: Path) -> bytes:
    """Read the source of a module; for a package, read all files below it, data files included."""
    if file.name != "__init__.py":
        return file.read_bytes()
    files = (each for each in file.parent.rglob("*.*") if "__pycache__" not in each.parts)
    return b"".join(each.read_bytes() for each in sorted(files))


@cache
def _built_in() -> tuple[dict[str, RegisteredExtractor], dict[str, str]]:
    absent = {}
    for module in iter_modules([str(Path(__file__).parent)]):
        try:
            import_module(f"{_PACKAGE}.{module.name}")
        except Exception as error:  # noqa: BLE001 - a broken tool is treated like a missing one
            absent[module.name.rstrip("_").replace("_", "-")] = _explain(error)
    return dict(sorted(registered.items())), absent


def _explain(error: Exception) -> str:
    if not isinstance(error, ImportError):
        return f"broken: {type(error).__name__}: {error}"
    if not isinstance(error, ModuleNotFoundError) or error.name is None:
        return str(error)
    package = error.name.partition(".")[0]
    return f"not installed: pip install {_DISTRIBUTIONS.get(package, package)}"


def _from_plugin(file: Path) -> dict[str, RegisteredExtractor]:
    """Run a plugin and return its extractors; the global registry is left unchanged."""
    name = f"plugin_{file.stem}_{xxhash.xxh3_64_hexdigest(bytes(file.resolve()))[:8]}"
    spec = spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise PluginError(f"{file}: not a Python file: its name must end in .py")
    before = set(registered)
    module = sys.modules[name] = module_from_spec(spec)
    try:
        with warnings.catch_warnings():
            # Python hides deprecation warnings by default; the author of the plugin should see them
            warnings.filterwarnings("default", category=DeprecationWarning, module=re.escape(name))
            spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise PluginError(f"{file}: {type(error).__name__}: {error}") from error
    finally:
        new = {key: registered.pop(key) for key in sorted(registered.keys() - before)}
    if not new:
        raise PluginError(
            f"{file}: registers no extractor: use urltree_evaluation.single_page or stream"
        )
    for package in sorted({each.package for each in new.values() if each.package}):
        if not any(metadata.distributions(name=package)):
            raise PluginError(f"{file}: the package {package} is not installed")
    # The version is computed from the plugin's file, even for a function of another module.
    return {key: replace(each, module=name) for key, each in new.items()}
