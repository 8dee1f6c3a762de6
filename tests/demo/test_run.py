"""The process `python -m demo` ends in order, names faults, and leaves no process behind."""

from __future__ import annotations

import asyncio
import io
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from rich.console import Console

from agents.settings.job import SettingsError
from demo.__main__ import unaccounted
from demo.feed_run import run_sample
from demo.kafka import answers
from demo.sites import make_sample
from demo.view import Plain
from demo.workers import ROOT
from tests.agents import limits
from tests.agents.limits import GUARD
from tests.job.harness import wait_until
from urltree.crawl.decisions.poll.identity import link_key
from urltree.site.deduplication import Step

pytestmark = pytest.mark.usefixtures("own_kafka")

PATIENCE = 4 * GUARD  # seconds for a run, which usually takes 20

PAGES = (
    "".join(
        f'{{"url": "https://a.example/{n}", "html": "<p>Same everywhere<p>Only number {word}"}}\n'
        for n, word in enumerate(("one", "two", "three", "four", "five", "six"))
    )
    + '{"url": "https://a.example/0?utm_source=x", "html": "<p>again"}\n'
    + '{"url": "https://a.example/7", "html": ""}\n'
    + '{"html": "<p>no address"}\n'
    + '{"url": 7, "html": "<p>malformed"}\n'
    + "no JSON\n"
)


def _demo(*arguments: str, tmp: Path, **environment: str) -> subprocess.Popen[str]:
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("URLTREE_", "KAFKA_"))}
    tmp.mkdir(exist_ok=True)
    return subprocess.Popen(
        [sys.executable, "-m", "demo", *arguments],
        cwd=ROOT,
        env={**inherited, **limits.environment(), "TMPDIR": str(tmp), **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_each_page_of_an_input_is_accounted_for(tmp_path: Path, kafka: str, prefix: str) -> None:
    """Each page of an input file has an outcome, and a line that is not a page is named."""
    (tmp_path / "pages.jsonl").write_text(PAGES)
    tmp = tmp_path / "tmp"
    run = _demo(str(tmp_path / "pages.jsonl"), tmp=tmp, KAFKA_BROKERS=kafka, URLTREE_PREFIX=prefix)
    out, err = run.communicate(timeout=PATIENCE)
    assert run.returncode == 0, out + err
    assert re.search(r"^ +10 origins$", out, re.MULTILINE)
    assert re.search(r"^ +6 clean text$", out, re.MULTILINE)
    assert re.search(r"^ +1 duplicates: rule 1$", out, re.MULTILINE)
    assert "3 dead letters: empty 1, malformed 1, no-url 1" in out
    assert "0 missing" in out
    assert "1 not published" in out
    assert "line 11 of" in out
    assert list(tmp.iterdir()) == []


def test_a_missing_input_is_named(tmp_path: Path, kafka: str, prefix: str) -> None:
    """If the input file does not exist, the exit code is 1 and the message is one sentence."""
    run = _demo("no-such.jsonl", tmp=tmp_path / "tmp", KAFKA_BROKERS=kafka, URLTREE_PREFIX=prefix)
    _, err = run.communicate(timeout=PATIENCE)
    assert run.returncode == 1
    assert err.startswith("no-such.jsonl: ")
    assert "Traceback" not in err


def test_a_worker_that_ends_is_shown_with_its_log(tmp_path: Path, kafka: str, prefix: str) -> None:
    """If a worker ends, the demo shows the last lines of the worker's log."""
    run = _demo(
        __file__,
        tmp=tmp_path / "tmp",
        KAFKA_BROKERS=kafka,
        URLTREE_PREFIX=prefix,
        URLTREE_RULES="/no/such/rules.yaml",
    )
    _, err = run.communicate(timeout=PATIENCE)
    assert run.returncode == 1
    assert "the worker of normalize ended with exit code" in err
    assert "/no/such/rules.yaml" in err
    assert "The logs are in" in err


def test_every_item_of_the_sites_feeds_is_accounted_for(
    tmp_path: Path, kafka: str, prefix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each item of the feeds becomes clean text, a duplicate or a dead letter, and none is lost.

    A second run on the same Kafka is refused, because all items are already known there.
    """
    for name, value in limits.environment().items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("KAFKA_BROKERS", kafka)
    monkeypatch.setenv("URLTREE_PREFIX", prefix)
    small = make_sample(articles=10)
    said = io.StringIO()
    summary = asyncio.run(run_sample(small, tmp_path, Plain(Console(file=said))))
    assert summary.lost == ()
    assert summary.harvest
    assert summary.harvest.feeds == 5
    assert summary.harvest.failing == {}
    # An article that is listed again with the same link is known, if an earlier poll has found it.
    links = {link_key(item.url) for item in small.items}
    assert len(links) <= summary.harvest.items <= len(small.items)
    refused = {"empty": 5, "http-status": 5, "not-html": 5, "robots": 5}
    assert summary.harvest.dead_letters == refused
    assert not unaccounted(summary)
    assert summary.accounts.duplicates.keys() <= set(Step) - {Step.SUPERSEDED}
    assert summary.domains == 5
    assert "polls" in said.getvalue()
    with pytest.raises(SettingsError, match="URLTREE_PREFIX"):
        asyncio.run(run_sample(small, tmp_path, Plain(Console(file=said))))


def test_real_feeds_need_a_contact(tmp_path: Path) -> None:
    """Without a contact, `--feeds` fails with one sentence, before any process is started."""
    (tmp_path / "feeds.txt").write_text("https://a.example/feed")
    run = _demo("--feeds", str(tmp_path / "feeds.txt"), tmp=tmp_path / "tmp")
    out, err = run.communicate(timeout=PATIENCE)
    assert run.returncode == 1
    assert out == ""
    assert err.startswith(
        "--feeds needs a contact, so that owners of sites can reach you: make run"
    )
    assert list((tmp_path / "tmp").iterdir()) == []


def test_feeds_are_followed_for_a_while(tmp_path: Path, kafka: str, prefix: str) -> None:
    """A run on real feeds ends after the given seconds, and names each invalid address."""
    (tmp_path / "feeds.txt").write_text("https://a.invalid/feed\nhttps://[bad\n")
    run = _demo(
        *("--feeds", str(tmp_path / "feeds.txt")),
        *("--contact", "mailto:test@example.org", "--seconds", "1"),
        tmp=tmp_path / "tmp",
        KAFKA_BROKERS=kafka,
        URLTREE_PREFIX=prefix,
    )
    out, err = run.communicate(timeout=PATIENCE)
    assert run.returncode == 0, out + err
    assert "Following 1 feeds" in out
    assert "1 not followed" in out
    assert "https://[bad" in out
    assert list((tmp_path / "tmp").iterdir()) == []


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGKILL])
def test_nothing_is_left_running(tmp_path: Path, signum: signal.Signals) -> None:
    """If the demo ends by Ctrl-C or by kill -9, its broker and its workers end, too."""
    run = _demo(tmp=tmp_path / "tmp")
    assert run.stdout
    brokers = run.stdout.readline().split()[-1]
    wait_until(lambda: answers(brokers), "the broker to answer")
    while not run.stdout.readline().startswith("polls"):
        assert run.poll() is None
    children = psutil.Process(run.pid).children(recursive=True)
    assert len(children) >= 2 * 5  # the broker and four workers, each with a watching process
    run.send_signal(signum)
    run.communicate(timeout=PATIENCE)
    assert run.returncode == (130 if signum == signal.SIGINT else -signal.SIGKILL)
    wait_until(lambda: not any(map(_runs, children)), "all children to go")
    assert not answers(brokers)


def _runs(process: psutil.Process) -> bool:
    """Return whether a process runs. A zombie, which has ended, does not run."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
