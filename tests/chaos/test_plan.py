"""Plans are functions of their seeds, and the auditor reads addresses by itself."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import pytest

from tests.chaos.auditor import branch_of
from tests.chaos.inputs import CLEAN, DEAD, inputs_of
from tests.chaos.plan import Kind, make_plan
from tests.chaos.test_schedules import LONG, QUICK, SECONDS
from tests.child_process import ROOT, environment


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


@pytest.mark.parametrize("number", range(5))
def test_a_seed_gives_the_same_inputs_again(number: int) -> None:
    """The inputs of a producer are a function of the plan, and each has an id of its own."""
    plan = make_plan(QUICK, LONG)
    inputs = inputs_of(plan, plan.profiles[number], 60)
    assert inputs == inputs_of(plan, plan.profiles[number], 60)
    assert len({one.id for one in inputs}) == 60
    assert {CLEAN, DEAD} <= {one.expect for one in inputs}


@pytest.mark.slow
def test_the_auditor_shares_no_code_with_the_job() -> None:
    """Importing the auditor and its reader imports neither the job nor Faust nor `urltree`."""
    code = "import sys, tests.chaos.auditor, tests.chaos.records; print(*sys.modules)"
    ran = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env=environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    tops = {name.partition(".")[0] for name in ran.stdout.split()}
    assert tops & {"agents", "models", "urltree", "faust", "mode", "aiokafka"} == set()
