# Copyright The Sidewarp Authors
# SPDX-License-Identifier: Apache-2.0
"""Programs of the README, as they are written."""

import os
import re
import socket
import subprocess
import sys

from sidecar import HERE, PATIENCE

PROGRAMS = re.findall(r"```python\n(.*?)```", (HERE.parent / "README.md").read_text(), re.DOTALL)


def start(program, sidecar, port):
    program = program.replace("7471", str(port)).replace("peer.example", "127.0.0.1")
    environment = {
        **os.environ,
        "PYTHONPATH": str(HERE.parent / "src"),
        "SIDEWARP_API": sidecar.api,
        "SIDEWARP_VOLUME": sidecar.volume,
    }
    return subprocess.Popen(
        [sys.executable, "-c", program], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


def test_array_moves_between_the_first_two_programs(sidecars):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    server = start(PROGRAMS[0], sidecars[1], port)
    try:
        for _ in range(50):
            client = start(PROGRAMS[1], sidecars[0], port)
            output, _ = client.communicate(timeout=PATIENCE)
            if "connection refused" not in output.lower():
                break
        assert client.returncode == 0, output
        output, _ = server.communicate(timeout=PATIENCE)
        assert server.returncode == 0 and "1.5 1.5" in output, output
    finally:
        server.kill()
        server.wait()
