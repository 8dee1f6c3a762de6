"""Plans are functions of their seeds, and the auditor reads addresses by itself."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.chaos.auditor import branch_of
from tests.chaos.plan import Kind, make_plan
from tests.chaos.test_schedules import LONG, QUICK, SECONDS


def test_the_quick_schedule_has_faults_of_workers_and_brokers() -> None:
    """The seed of `make test` gives a kill of a worker and a kill of a broker."""
    plan = make_plan(QUICK, SECONDS)
    assert Kind.KILL_WORKER in {fault.kind for fault in plan.workers}
    assert Kind.KILL_BROKER in {fault.kind for fault in plan.brokers}


@pytest.mark.parametrize("seed", range(20))
def test_a_seed_gives_the_same_plan_again(seed: int) -> None:
    """A plan is a function of its seed, and no two seeds give the same plan."""
    assert make_plan(seed, LONG) == make_plan(seed, LONG)
    assert make_plan(seed, LONG) != replace(make_plan(seed + 1, LONG), seed=seed)


def test_plans_use_every_kind_of_fault() -> None:
    """A hundred plans together contain every kind of fault."""
    kinds = {fault.kind for seed in range(100) for fault in make_plan(seed, LONG).faults}
    assert kinds == set(Kind)


def test_branches_are_read_from_addresses() -> None:
    """The auditor's own reading of an address gives host, path and query."""
    assert branch_of("a.example", "https://www.a.example/b/c.html?d=1") == ("b", "c.html", "?d=1")
    assert branch_of("a.example", "https://blog.a.example/") == ("blog.a.example",)
