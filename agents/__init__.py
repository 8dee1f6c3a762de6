"""The Kafka job: Faust workers and operator commands. They move data; `urltree` decides."""

import os
import signal
import sys

# Linux does not deliver a signal to process 1 of a container unless the process handles it.
# Without this handler, a pod that is deleted while Python still imports ignores SIGTERM until it is
# killed (40 s were measured). Workers install a handler of their own later.
if os.getpid() == 1:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
