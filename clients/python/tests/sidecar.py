# Copyright The Sidewarp Authors
# SPDX-License-Identifier: Apache-2.0
"""Packaged sidecars as processes, for tests and measurements. `./sidewarp build` packages the sidecar."""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
PATIENCE = 60
sys.path.insert(0, str(HERE.parent / "src"))

import sidewarp  # noqa: E402

ENVIRONMENT = {**os.environ, "SIDEWARP_BUILD": "never"}


class Sidecar:
    """A packaged sidecar. It can be killed and started again on the same socket and volume."""

    def __init__(self, name, prefix=(), settings=None):
        self.directory = tempfile.mkdtemp(prefix=f"sidewarp-{name}-")
        self.volume = tempfile.mkdtemp(prefix=f"sidewarp-{name}-", dir="/dev/shm")
        self.api = f"unix://{self.directory}/api.sock"
        self.prefix = prefix
        self.settings = settings or {}
        self.log = open(f"{self.directory}/log", "ab")
        self.start()

    def start(self):
        command = [
            *self.prefix,
            str(ROOT / "sidewarp"),
            "sidecar",
            "-Dsidewarp.management.port=0",
            f"-Dsidewarp.api.socket={self.directory}/api.sock",
            f"-Dsidewarp.shared-volume={self.volume}",
            *(f"-D{name}={value}" for name, value in self.settings.items()),
        ]
        self.process = subprocess.Popen(command, env=ENVIRONMENT, stdout=self.log, stderr=self.log)
        try:
            self.connect("test-start").close()
        except Exception as e:
            log = pathlib.Path(self.log.name).read_text()
            self.stop()
            raise AssertionError(f"the sidecar did not start ({e}):\n{log}") from None

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
