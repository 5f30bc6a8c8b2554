"""Workers of a Dask cluster that die."""

import os
import signal


def kill_the_worker_of(client, candidates, part):
    """End the process that holds a part of a list."""
    ((address, *_),) = client.who_has(candidates.shards.futures[part : part + 1]).values()
    os.kill(client.run(os.getpid)[address], signal.SIGKILL)
