"""Run `python -m agents` as a process that dies or stops at one exact delivery.

    runner.py die  TOPIC N …   kill -9 before the N-th delivery to TOPIC
    runner.py after TOPIC N …  kill -9 when the N-th delivery to TOPIC is confirmed
    runner.py lose TOPIC N …   lose the N-th delivery to TOPIC, and kill -9 at the next
    runner.py stop TOPIC N …   SIGSTOP before the N-th delivery to TOPIC
    runner.py upgrade …        use the next version of the tokenizer

TOPIC is the end of a topic's name. This script patches the producer, so the code of the
workers contains nothing for these faults.
"""

from __future__ import annotations

import asyncio
import os
import runpy
import signal
import sys
from typing import Any

import agents.extract
import agents.normalize  # noqa: F401 - all modules with the tokenizer's version
from agents.kafka.transport import Producer


def upgrade() -> None:
    """Increase the version of the tokenizer in every module that has imported it."""
    for module in list(sys.modules.values()):
        version = getattr(module, "TOKENIZER_VERSION", None)
        if version is not None:
            vars(module)["TOKENIZER_VERSION"] = version + 1


def fail_at(action: str, topic: str, number: int) -> None:
    """Patch the producer so that the process fails at the N-th delivery to a topic."""
    deliver = Producer.deliver
    delivered = 0
    is_lost = False

    async def faulty(self: Any, name: str, *arguments: Any, **more: Any) -> Any:
        nonlocal delivered, is_lost
        if is_lost:
            os.kill(os.getpid(), signal.SIGKILL)
        delivered += name.endswith(topic)
        if delivered == number and name.endswith(topic):
            if action == "lose":
                is_lost = True
                return asyncio.get_running_loop().create_future()
            if action == "after":
                future = await deliver(self, name, *arguments, **more)
                future.add_done_callback(lambda _: os.kill(os.getpid(), signal.SIGKILL))
                return future
            os.kill(os.getpid(), signal.SIGKILL if action == "die" else signal.SIGSTOP)
        return await deliver(self, name, *arguments, **more)

    Producer.deliver = faulty  # type: ignore[assignment, method-assign]


def main() -> None:
    """Prepare the fault, then run `python -m agents` with the other arguments."""
    action, *rest = sys.argv[1:]
    if action == "upgrade":
        upgrade()
    else:
        topic, number, *rest = rest
        fail_at(action, topic, int(number))
    sys.argv = ["agents", *rest]
    runpy.run_module("agents", run_name="__main__")


if __name__ == "__main__":
    main()
