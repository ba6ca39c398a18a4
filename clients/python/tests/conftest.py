# Copyright The Sidewarp Authors
# SPDX-License-Identifier: Apache-2.0
"""Two packaged sidecars as processes, and a client of each. `./sidewarp build` packages the sidecar."""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

import pytest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path.insert(0, str(HERE.parent / "src"))

import sidewarp  # noqa: E402

PATIENCE = 60
ALL = (
    sidewarp.Access.LOCAL_WRITE
    | sidewarp.Access.REMOTE_READ
    | sidewarp.Access.REMOTE_WRITE
    | sidewarp.Access.REMOTE_ATOMIC
)


class Sidecar:
    """A packaged sidecar. It can be killed and started again on the same socket and volume."""

    def __init__(self, name):
        self.directory = tempfile.mkdtemp(prefix=f"sidewarp-{name}-")
        self.volume = tempfile.mkdtemp(prefix=f"sidewarp-{name}-", dir="/dev/shm")
        self.api = f"unix://{self.directory}/api.sock"
        self.log = open(f"{self.directory}/log", "ab")
        self.start()

    def start(self):
        command = [
            str(ROOT / "sidewarp"),
            "sidecar",
            "-Dsidewarp.management.port=0",
            f"-Dsidewarp.api.socket={self.directory}/api.sock",
            f"-Dsidewarp.shared-volume={self.volume}",
        ]
        environment = {**os.environ, "SIDEWARP_BUILD": "never"}
        self.process = subprocess.Popen(command, env=environment, stdout=self.log, stderr=self.log)
        try:
            self.connect("test-start").close()
        except Exception:
            self.stop()
            raise AssertionError(f"the sidecar did not start:\n{pathlib.Path(self.log.name).read_text()}") from None

    def connect(self, name="test", **options):
        return sidewarp.connect(name, api=self.api, volume=self.volume, wait=PATIENCE, **options)

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self):
        self.kill()
        self.log.close()
        shutil.rmtree(self.directory)
        shutil.rmtree(self.volume)


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
    """A connection between two sessions, a region on each side, and a queue on the left side."""

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
    import concurrent.futures

    with concurrent.futures.ThreadPoolExecutor() as executor:
        other = executor.submit(second)
        result = first()
        return result, other.result(PATIENCE)


@pytest.fixture(params=["rings", "grpc"])
def pair(request, sidecars):
    made = Pair(sidecars, request.param)
    yield made
    made.close()
