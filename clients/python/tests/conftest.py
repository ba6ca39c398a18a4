# Copyright The Sidewarp Authors
# SPDX-License-Identifier: Apache-2.0
"""Two packaged sidecars, and connections between them."""

import concurrent.futures
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import pytest  # noqa: E402
from sidecar import PATIENCE, Sidecar, sidewarp  # noqa: E402

ALL = (
    sidewarp.Access.LOCAL_WRITE
    | sidewarp.Access.REMOTE_READ
    | sidewarp.Access.REMOTE_WRITE
    | sidewarp.Access.REMOTE_ATOMIC
)


@pytest.fixture(scope="session")
def sidecars():
    started = []
    try:
        for name in ("left", "right"):
            started.append(Sidecar(name))
        yield started
    finally:
        for sidecar in started:
            sidecar.stop()


class Pair:
    """A connection between two sessions, a region on each side, and a queue on each side."""

    def __init__(self, sidecars, path, **options):
        self.left, self.right = (sidecar.connect() for sidecar in sidecars)
        self.ours = self.left.region(1 << 20, access=ALL)
        self.theirs = self.right.region(1 << 20, access=ALL)
        self.listener = self.right.listen(0, "127.0.0.1", private_data=self.theirs.address.encode())
        self.queue = self.left.queue(path=path, **options)
        self.peer_queue = self.right.queue(path=path, **options)
        self.connection, self.accepted = self.connect()
        self.remote = self.connection.remote

    def connect(self, prepare=lambda accepted: None):
        """Connects, and accepts with a connection that `prepare` may post receives to."""
        accepting = self.right.create_connection()
        prepare(accepting)
        return run_both(
            lambda: self.left.dial(f"127.0.0.1:{self.listener.port}"),
            lambda: self.listener.accept(PATIENCE, connection=accepting),
        )

    def close(self):
        self.left.close()
        self.right.close()


def run_both(first, second):
    """Runs two functions at the same time, and returns their results."""
    with concurrent.futures.ThreadPoolExecutor() as executor:
        other = executor.submit(second)
        result = first()
        return result, other.result(PATIENCE)


@pytest.fixture(params=["rings", "grpc"])
def pair(request, sidecars):
    made = Pair(sidecars, request.param)
    yield made
    made.close()
