"""Invalid values fail `helm template` with a message that says how to fix them."""

from __future__ import annotations

import json

import pytest

from deploy.tools.chart import render
from tests.conftest import Record
from tests.deploy.conftest import FindTool

pytestmark = pytest.mark.deploy

LOGIN = "kafka.security=SASL_SSL"
TOKENS = f"{LOGIN},kafka.sasl.mechanism=OAUTHBEARER"
SCALED = "stages.normalize.autoscaling.enabled=true"
POLL = "stages.poll.enabled=true,settings.contact=me@example.org"
FETCH = "stages.fetch.enabled=true,settings.contact=me@example.org"
RESET = "reset.stage=extract"

# a value for --set, and a part of the message
BY_THE_CHART = [
    ("kafka.brokers=null", "kafka.brokers is empty: set it to at least one broker"),
    (LOGIN, "set kafka.sasl.username"),
    (f"{LOGIN},kafka.sasl.username=me", "set kafka.sasl.password.secret to the name of the Secret"),
    (TOKENS, "set kafka.sasl.oauth.tokenUrl, .clientId and .clientSecret.secret"),
    ("kafka.sasl.username=me", "kafka.sasl is set, but kafka.security is PLAINTEXT"),
    ("kafka.tls.ca.secret=ca", "kafka.tls is set, but kafka.security is PLAINTEXT"),
    (f"image.tag=a,image.digest=sha256:{'0' * 64}", "leave image.tag empty"),
    ("stages.normalize.enabled=false,stages.extract.enabled=false", "no stage is enabled"),
    (
        "stages.extract.replicas=7",
        "topics have 6 partitions, and a worker without a partition has no work",
    ),
    (f"{SCALED},stages.normalize.autoscaling.maxReplicas=7", "set it to at most 6"),
    (
        f"{SCALED},stages.normalize.autoscaling.minReplicas=7",
        "minReplicas is 7, which is above maxReplicas",
    ),
    (
        "stages.poll.enabled=true",
        "stages.poll sends requests to other people's sites: set settings.contact",
    ),
    (f"{FETCH},stages.fetch.autoscaling.enabled=true", "set monitoring.prometheusUrl"),
    (f"{POLL},stages.poll.autoscaling.enabled=true", "remove it, and set stages.poll.replicas"),
    (
        "stages.extract.autoscaling.overdueHosts=9",
        "has no value overdueHosts: remove it, and set lag",
    ),
    ("stages.extract.resources.limits.memory=512Mi", "12 partitions of tables need 676Mi"),
    ("stages.extract.settings.trees_bytes=4294967296", "raise the limit, or run more replicas"),
    ("topics.manage=strimzi", "set topics.strimzi.cluster to the name of your Kafka resource"),
    (
        "users.manage=strimzi,topics.manage=none",
        "set users.strimzi.cluster to the name of your Kafka resource",
    ),
    ("users.manage=strimzi,topics.manage=none", "set kafka.security to SASL_SSL"),
    ("users.manage=strimzi", "set topics.manage to strimzi or none"),
    ("users.producers[0].name=crawler", "set users.manage to strimzi"),
    ("topics.file=topics: [{name: a}]", "topics.file declares no partitions"),
    (f"{RESET}", 'set reset.confirm to "extract of urltree"'),
    (
        f"{RESET},reset.confirm=extract of urltree",
        "this is an install, and there is no state to delete",
    ),
    (f"{RESET},stages.extract.enabled=false", "stages.extract is not enabled: enable the stage"),
    ("reset.confirm=extract of urltree", "reset.confirm is set, but reset.stage is empty"),
    ("headerKey.enabled=false,headerKey.secret=keys", "no header would be signed"),
    (
        "headerKey.formerKey=before",
        "set headerKey.secret to the name of your Secret with both keys",
    ),
    ("pods.extraEnv[0].name=URLTREE_BROKERS", "set it in settings or stages"),
    ("monitoring.podMonitor.enabled=true,monitoring.serviceMonitor.enabled=true", "choose one"),
]
BY_THE_SCHEMA = [
    ("replicas=3", "additional properties 'replicas' not allowed"),
    ("stages.extract.replica=3", "additional properties 'replica' not allowed"),
    ("settings.brokers=kafka:9092", "additional properties 'brokers' not allowed"),
    ("settings.sasl_password=secret", "additional properties 'sasl_password' not allowed"),
    ("settings.header_key=secret", "additional properties 'header_key' not allowed"),
    ("settings.in_flight=many", "at '/settings/in_flight': got string, want integer"),
    ("settings.revisits=yes", "value must be one of 'drop', 'replace'"),
    ("kafka.sasl.password=secret", "at '/kafka/sasl/password': got string, want object"),
    ("kafka.security=TLS", "value must be one of 'PLAINTEXT'"),
    ("kafka.brokers={kafka}", "at '/kafka/brokers/0': 'kafka' does not match pattern"),
    ("image.digest=latest", "at '/image/digest': 'latest' does not match pattern"),
    ("podDisruptionBudget.minAvailable=1", "additional properties 'minAvailable' not allowed"),
]


@pytest.mark.parametrize(
    ("values", "sentence"),
    BY_THE_CHART + BY_THE_SCHEMA,
    ids=[values for values, _ in BY_THE_CHART + BY_THE_SCHEMA],
)
def test_an_invalid_value_fails_with_a_fix(values: str, sentence: str, tool: FindTool) -> None:
    """With an invalid value nothing is rendered, and stderr explains how to fix the value."""
    done = render(tool("helm"), "minimal", *_set(values))
    assert done.returncode != 0
    assert done.stdout == ""
    assert sentence in done.stderr


def test_all_problems_are_in_one_message(tool: FindTool, record: Record) -> None:
    """One message lists all problems, so that the user can fix them together."""
    done = render(tool("helm"), "minimal", *_set("kafka.brokers=null,stages.extract.replicas=7"))
    assert done.stderr.count("\n  - ") == 2
    record(
        f"{len(BY_THE_CHART)} invalid values refused with a fix by the chart, "
        f"{len(BY_THE_SCHEMA)} by the schema"
    )


def _set(values: str) -> list[str]:
    if values.startswith("topics.file="):
        name, text = values.split("=", 1)
        return ["--set-json", f"{name}={json.dumps(text)}"]
    return ["--set", values]
