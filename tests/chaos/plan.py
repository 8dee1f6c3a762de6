"""The plan of a schedule: settings, producers and faults, all from one seed.

The same seed and the same number of seconds give the same plan on every machine. What a machine
cannot do (mount a small disk, compress with a codec whose library is missing) stays in the plan; it
is skipped when the plan is carried out, and the reason is printed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from random import Random

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
WORKERS = {"poll": 1, "fetch": 1, "normalize": 2, "extract": 2}
SESSION = 6.0  # session timeout of workers, in seconds

CALM = 6.0  # seconds without a fault at the start
EASY = {"poll": 1, "fetch": 2, "normalize": 4, "extract": 4}  # how often a stage is chosen
PAGES_A_SECOND = 9
STORIES_A_SECOND = 1.5


class Keys(StrEnum):
    """How a producer chooses key and partition of a page."""

    DOMAIN = "domain"  # right key, partition by murmur2
    CRC32 = "crc32"  # right key, partition by CRC32, as librdkafka does by default
    NULL = "null"  # no key, all partitions in turn
    NULL_ONE = "null, one partition"
    WRONG = "wrong"  # a random word as key
    BYTES = "bytes"  # a random key that is not UTF-8


class Kind(StrEnum):
    """A kind of fault."""

    KILL_WORKER = "kill worker"
    LOSE_WORKER = "kill worker, delete its disk"
    FREEZE_WORKER = "freeze worker"
    RESTART_WORKER = "restart worker"
    ROLL_WORKERS = "restart workers in turn"
    CUT = "cut worker's network"
    DELAY = "delay worker's network"
    HOLD_UP = "drop worker's packets to brokers"
    HOLD_DOWN = "drop brokers' packets to worker"
    FULL_WORKER = "fill worker's disk"
    CLOCK = "set worker's clock off by a day"
    REVOKE = "revoke worker's right to write"
    KILL_BROKER = "kill broker"
    KILL_BROKERS = "kill two brokers"
    FREEZE_BROKER = "freeze broker"
    RESTART_BROKER = "restart broker"
    ROLL_BROKERS = "restart brokers in turn"
    MOVE_LEADERS = "move partition leaders"
    FULL_BROKER = "fill broker's disk"
    SMALL_RECORDS = "lower max.message.bytes"


# Two rows of faults run side by side; the number is how often a kind is chosen.
OF_WORKERS = {
    Kind.KILL_WORKER: 5,
    Kind.LOSE_WORKER: 2,
    Kind.FREEZE_WORKER: 3,
    Kind.RESTART_WORKER: 2,
    Kind.ROLL_WORKERS: 2,
    Kind.CUT: 2,
    Kind.DELAY: 2,
    Kind.HOLD_UP: 2,
    Kind.HOLD_DOWN: 2,
    Kind.FULL_WORKER: 2,
    Kind.CLOCK: 2,
    Kind.REVOKE: 2,
}
OF_BROKERS = {
    Kind.KILL_BROKER: 4,
    Kind.KILL_BROKERS: 1,
    Kind.FREEZE_BROKER: 3,
    Kind.RESTART_BROKER: 2,
    Kind.ROLL_BROKERS: 2,
    Kind.MOVE_LEADERS: 4,
    Kind.FULL_BROKER: 2,
    Kind.SMALL_RECORDS: 1,
}


@dataclass(frozen=True)
class Fault:
    """One fault.

    Attributes:
        at: seconds since the start of the load at which it begins, unless the fault before it in
            its row lasts longer.
        target: name of a worker (`extract-1`), a stage, a topic, or the number of a broker; of two
            brokers that are killed, the number of the one that lives.
        seconds: duration; 0 for a fault that is a moment.
        detail: what else the kind needs, such as the delay or the clock's error in seconds.
    """

    at: float
    kind: Kind
    target: str
    seconds: float
    detail: float = 0.0

    def __str__(self) -> str:
        detail = f" by {self.detail:g}" if self.detail else ""
        return f"{self.at:5.1f} s  {self.kind} {self.target}{detail} for {self.seconds:.1f} s"


@dataclass(frozen=True)
class Profile:
    """One producer of pages.

    Attributes:
        name: start of the names of its sites and of the ids of its inputs.
        real: number of its sites that are real ones, if ../shared/data exists.
        bodies: whether a record's value is the page itself, with the other fields as headers.
    """

    name: str
    codec: str
    keys: Keys
    idempotent: bool
    linger: float
    real: int
    bodies: bool

    def __str__(self) -> str:
        form = "bodies" if self.bodies else "JSON"
        idempotent = "idempotent" if self.idempotent else "not idempotent"
        return f"{self.name}: {self.codec}, keys {self.keys}, {form}, {idempotent}"


@dataclass(frozen=True)
class Plan:
    """The plan of a schedule.

    Attributes:
        seed: seed of all that is random, the pages included.
        seconds: duration of the load.
        revisits: setting `revisits`.
        window: setting `max_documents`; 0 means that no document is removed.
        static: whether workers are static members of their groups (setting `instance_id`).
        proxied: name of the worker that reaches Kafka through the proxies.
        small: names of the workers and brokers whose disks are small.
        previous: whether the brokers start with the previous release of Kafka. Each orderly restart
            then changes the release of a broker.
        workers, brokers: the two rows of faults, each in order of time.
    """

    seed: int
    seconds: float
    revisits: str
    window: int
    static: bool
    proxied: str
    small: tuple[str, ...]
    previous: bool
    profiles: tuple[Profile, ...]
    workers: tuple[Fault, ...]
    brokers: tuple[Fault, ...]

    @property
    def faults(self) -> list[Fault]:
        """All faults in order of time."""
        return sorted((*self.workers, *self.brokers), key=lambda fault: fault.at)

    def describe(self) -> str:
        """Return the plan as text for a person, a line for each part."""
        window = f"{self.window} documents" if self.window else "unlimited"
        members = "static" if self.static else "dynamic"
        release = "the previous" if self.previous else "the present"
        lines = [
            (
                f"seed {self.seed}, {self.seconds:g} s of load; revisits {self.revisits}, window "
                f"{window}, {members} members, {release} Kafka, {self.proxied} behind the proxies"
            ),
            *(f"producer {profile}" for profile in self.profiles),
            *map(str, self.faults),
        ]
        return "\n".join(lines)


def make_plan(seed: int, seconds: float) -> Plan:
    """Return the plan of a seed."""
    random = Random(f"plan {seed} {seconds}")
    proxied = _worker(random)
    small = f"{random.choice(('normalize', 'extract'))}-0", f"broker {random.randint(1, 3)}"
    return Plan(
        seed=seed,
        seconds=seconds,
        revisits=random.choice(("drop", "replace")),
        window=random.choice((0, 0, 60)),
        static=random.random() < 0.5,
        proxied=proxied,
        small=small,
        previous=random.random() < 0.3,
        profiles=tuple(_profiles(random)),
        workers=tuple(_faults(random, seconds, OF_WORKERS, proxied, small)),
        brokers=tuple(_faults(random, seconds, OF_BROKERS, proxied, small)),
    )


def _worker(random: Random) -> str:
    stage = random.choices(list(EASY), list(EASY.values()))[0]
    return f"{stage}-{random.randrange(WORKERS[stage])}"


def _profiles(random: Random) -> Iterator[Profile]:
    """Return a producer for each codec, and as many for the ways to choose keys."""
    keys = list(Keys)
    random.shuffle(keys)
    for number, codec in enumerate(CODECS):
        yield Profile(
            name=f"p{number}",
            codec=codec,
            # half of all pages keep the order of their domain, so that texts can be compared
            keys=Keys.DOMAIN if number % 2 else keys[number],
            idempotent=random.random() < 0.7,
            linger=random.choice((0, 20, 200)),
            real=1 if number in (1, 3) else 0,
            bodies=random.random() < 0.3,
        )


def _faults(
    random: Random, seconds: float, kinds: dict[Kind, int], proxied: str, small: tuple[str, ...]
) -> Iterator[Fault]:
    at = random.uniform(1, CALM)
    while at < seconds - 2:
        kind = random.choices(list(kinds), list(kinds.values()))[0]
        fault = _fault(random, kind, at, proxied, small)
        yield fault
        at += fault.seconds + random.uniform(4, 12)


def _fault(random: Random, kind: Kind, at: float, proxied: str, small: tuple[str, ...]) -> Fault:
    """Return a fault of a kind, with a random target and duration."""
    stage = random.choices(list(EASY), list(EASY.values()))[0]
    worker = f"{stage}-{random.randrange(WORKERS[stage])}"
    broker = str(random.randint(1, 3))
    topic = random.choice(("documents", "clean-text", "dead-letters"))
    day = random.choice((-86_400.0, 86_400.0))
    beyond_session = random.uniform(1.3, 2.2) * SESSION
    soon = random.choice((0.0, random.uniform(0, 10)))
    some = random.uniform(4, 10)
    outage = random.choice((2.0, beyond_session, 20.0))
    worker_disk, broker_disk = small[0], small[1].removeprefix("broker ")
    made: dict[Kind, tuple[str, float, float]] = {
        Kind.KILL_WORKER: (worker, soon, 0.0),
        Kind.LOSE_WORKER: (worker, soon, 0.0),
        Kind.FREEZE_WORKER: (worker, beyond_session, 0.0),
        Kind.RESTART_WORKER: (worker, 0.0, 0.0),
        Kind.ROLL_WORKERS: (stage, 0.0, 0.0),
        Kind.CUT: (proxied, outage, 0.0),
        Kind.DELAY: (proxied, 2 * some, random.choice((0.05, 0.3, 1.5))),
        Kind.HOLD_UP: (proxied, outage, 0.0),
        Kind.HOLD_DOWN: (proxied, outage, 0.0),
        Kind.FULL_WORKER: (worker_disk, some, 0.0),
        Kind.CLOCK: (worker, 20.0, day),
        Kind.REVOKE: (proxied, some, 0.0),
        Kind.KILL_BROKER: (broker, soon, 0.0),
        Kind.KILL_BROKERS: (broker, random.choice((some, 40.0)), 0.0),
        Kind.FREEZE_BROKER: (broker, random.choice((3.0, beyond_session)), 0.0),
        Kind.RESTART_BROKER: (broker, 0.0, 0.0),
        Kind.ROLL_BROKERS: ("all", 0.0, 0.0),
        Kind.MOVE_LEADERS: ("all", 0.0, 0.0),
        Kind.FULL_BROKER: (broker_disk, some, 0.0),
        Kind.SMALL_RECORDS: (topic, some, 8_192),
    }
    return Fault(at, kind, *made[kind])
