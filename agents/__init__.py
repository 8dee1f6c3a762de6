"""The job around Kafka: it moves data and decides nothing."""

import os
import signal
import sys

# Linux keeps from process 1 of a container what it does not handle: a pod deleted while Python
# still imports would be waited for and killed (issue 7: 40 s). Workers handle SIGTERM themselves.
if os.getpid() == 1:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
