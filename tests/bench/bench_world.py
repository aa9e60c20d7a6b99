"""What benches in a world of their own share: a database, an engine and daemons, as integration tests have them.

Import it before anything of tests/integration, which it puts on the path.
"""
import contextlib
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "integration"))

import servers  # noqa: E402
import world  # noqa: E402


@contextlib.contextmanager
def bench_world(name, server="mariadb"):
    """A World, thrown away at the end; all that it started ends, however that comes."""
    class Options:
        seed, coordination = 1, "embedded"

    Options.server = server
    passed = False
    try:
        w = world.World(f"bench.{name}", Options)
        try:
            yield w
            passed = True
        finally:
            w.leave(passed)
    finally:
        servers.stop_all()
        world.wipe_shared()


def percentile(values, p):
    return sorted(values)[min(len(values) - 1, int(len(values) * p / 100))]
