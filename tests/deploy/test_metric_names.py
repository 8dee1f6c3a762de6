"""Every series in the alerting rules and the dashboard exists."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.agents.test_worker import wait_for, worker
from tests.conftest import Record
from tests.deploy.promql import ALERTS, PANELS, RULES, names, of_dashboard, of_rules

STAGES = ("poll", "fetch", "normalize", "extract")
NOWHERE = "127.0.0.1:9"  # no Kafka is here; workers wait for it and serve metrics
SUFFIXES = {"counter": ("_total",), "histogram": ("_bucket", "_count", "_sum")}
OTHERS = {
    "ALERTS": "Prometheus itself",
    "kube_pod_container_resource_limits": "kube-state-metrics",
    "kube_pod_container_status_restarts_total": "kube-state-metrics",
    "kubelet_volume_stats_available_bytes": "kubelet",
    "kubelet_volume_stats_capacity_bytes": "kubelet",
}
RECORDED = {rule["record"] for rule in RULES if "record" in rule}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Yield the text of `/metrics` of a worker, by stage. Each worker is a separate process."""
    contact = "https://example.org/crawler"
    with ExitStack() as workers:
        addresses = {
            stage: workers.enter_context(
                worker(stage, tmp_path_factory.mktemp(stage), brokers=NOWHERE, contact=contact)
            )[1]
            for stage in STAGES
        }
        yield {stage: wait_for(f"{url}/metrics", 200) for stage, url in addresses.items()}


@pytest.mark.slow
@pytest.mark.parametrize("queries", [of_rules, of_dashboard])
def test_every_series_is_a_workers_or_known_to_be_anothers(
    queries: Callable[[], list[str]], served: dict[str, str]
) -> None:
    """Each series in a query is a metric of the workers or in a list of other sources.

    An alert on a metric that was renamed would never fire.
    """
    assert names(queries()) - _series(served) - RECORDED - set(OTHERS) == set()


def test_everything_that_workers_count_is_shown(served: dict[str, str], record: Record) -> None:
    """Each metric of the workers is in a panel of the dashboard."""
    ours = {series for series in _series(served) if series.startswith("urltree_")}
    shown = names(of_dashboard())
    families = {_family(series) for series in ours}
    assert families - {_family(series) for series in shown} == set()
    asked = shown | names(of_rules())
    record(
        f"{len(ALERTS)} alerts and {len(PANELS)} panels name {len(asked)} series: "
        f"{len(asked & _series(served))} in /metrics of 4 workers, {len(RECORDED)} recorded, "
        f"{len(asked & set(OTHERS))} of Kubernetes and Prometheus; "
        f"all {len(families)} metrics of ours are shown"
    )


@pytest.mark.slow
def test_no_exception_is_kept_that_nobody_needs() -> None:
    """Each series in the list of other sources is in a query of a rule or a panel."""
    assert set(OTHERS) <= names(of_rules()) | names(of_dashboard())


def _series(served: dict[str, str]) -> set[str]:
    """Return the names of all series, with the suffixes of counters and histograms."""
    return {
        family.name + suffix
        for text in served.values()
        for family in text_string_to_metric_families(text)
        for suffix in SUFFIXES.get(family.type, ("",))
    }


def _family(series: str) -> str:
    for suffix in ("_bucket", "_count", "_sum", "_total"):
        series = series.removesuffix(suffix)
    return series
