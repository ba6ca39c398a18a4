#!/usr/bin/python3
# Copyright The Sidewarp Authors
# SPDX-License-Identifier: Apache-2.0
"""Measures this client beside the Java client, in alternating turns, over rings and two sidecars of this machine.

    ./sidewarp build && clients/python/bench.py [--rounds N] [--seconds S]

The Java client is `./sidewarp perf`. Both clients write streams of 64 KiB and of 1 MiB with 64 messages in flight and
one completion for each 32, and read 8 bytes at a time, yielding. Messages use 4 MiB of memory in turn. The result of
each is the median of the rounds.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "tests"))
from sidecar import ENVIRONMENT, PATIENCE, ROOT, Sidecar, sidewarp  # noqa: E402
from sidewarp import Work  # noqa: E402

DEPTH = 64
SIGNALED = 32
PLANS = [("write", 64 << 10), ("write", 1 << 20), ("read", 8)]
WARMUP = 3.0
# As in `sidewarp perf`. With more memory, the caches of the processor would make the difference.
MEMORY = 4 << 20


class Java:
    """`sidewarp perf` at both sidecars."""

    def __init__(self, active, passive):
        self.active = active
        command = ["perf", "--listen", "127.0.0.1:0", "--queue", "rings", "--wait", "adaptive"]
        self.server = self._start(passive, command)
        line = next(line for line in self.server.stdout if "listening on" in line)
        self.address = line.split("listening on")[1].split()[0]

    def _start(self, sidecar, command):
        command = [str(ROOT / "sidewarp"), *command, "--api", sidecar.api, "--volume", sidecar.volume]
        return subprocess.Popen(command, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=sys.stderr, text=True)

    def measure(self, operation, size, seconds):
        command = ["perf", operation, self.address, "--json", "--queue", "rings", "--size", str(size)]
        command += ["--time", f"{seconds}s", "--warmup", f"{WARMUP}s"]
        if operation == "read":
            command += ["--latency", "--wait", "yield"]
        else:
            command += ["--depth", str(DEPTH), "--signal", str(SIGNALED), "--wait", "adaptive"]
        output, _ = self._start(self.active, command).communicate()
        return json.loads(output)

    def close(self):
        self.server.terminate()
        self.server.wait()


class Python:
    """This client at both sidecars. The peer has a region, and does nothing."""

    def __init__(self, active, passive):
        self.peer, self.session = passive.connect("bench-peer"), active.connect("bench")
        access = sidewarp.Access.REMOTE_READ | sidewarp.Access.REMOTE_WRITE
        target = self.peer.region(MEMORY, access=access)
        listener = self.peer.listen(0, "127.0.0.1", private_data=target.address.encode())
        accepting = threading.Thread(target=listener.accept, args=(PATIENCE,))
        accepting.start()
        self.connection = self.session.dial(f"127.0.0.1:{listener.port}")
        accepting.join()
        self.region = self.session.region(MEMORY)

    def measure(self, operation, size, seconds):
        wait = "yield" if operation == "read" else "adaptive"
        with self.session.queue(2 * DEPTH, path="rings", wait=wait) as queue:
            run = self._read if operation == "read" else self._stream
            run(queue, size, WARMUP)
            return run(queue, size, seconds)

    def _read(self, queue, size, seconds):
        """Returns the time of each Read in microseconds, as a median."""
        work = Work.read(self.connection, self.region[0:size], self.connection.remote)
        times, clock = [], time.perf_counter_ns
        end = clock() + int(seconds * 1e9)
        while (begin := clock()) < end:
            queue.post(work).wait()
            times.append(clock() - begin)
        return statistics.median(times) / 1e3

    def _stream(self, queue, size, seconds):
        """Returns the rate in Gbit/s."""
        remote, connection = self.connection.remote, self.connection
        slots = [message % (MEMORY // size) * size for message in range(DEPTH)]
        works = [Work.write(connection, self.region[slot : slot + size], remote + slot) for slot in slots]
        clock = time.perf_counter
        begin, messages, previous = clock(), 0, None
        while clock() - begin < seconds:
            for half in range(0, DEPTH, SIGNALED):
                signaled = queue.post_all(works[half : half + SIGNALED])
                if previous:
                    previous.wait()
                previous = signaled
                messages += SIGNALED
        queue.drain().wait()
        return messages * size * 8 / 1e9 / (clock() - begin)

    def close(self):
        self.session.close()
        self.peer.close()


def figure(operation, result):
    """Returns the figure of a result of `perf --json`."""
    return result["latency_microseconds"]["p50"] if operation == "read" else result["gigabits_per_second"]


def main():
    parser = argparse.ArgumentParser(description="measures the Python client beside the Java client")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=3)
    arguments = parser.parse_args()
    sidecars = [Sidecar("active"), Sidecar("passive")]
    try:
        java, python = Java(*sidecars), Python(*sidecars)
        for operation, size in PLANS:
            figures = {"java": [], "python": []}
            for _ in range(arguments.rounds):
                figures["java"].append(figure(operation, java.measure(operation, size, arguments.seconds)))
                figures["python"].append(python.measure(operation, size, arguments.seconds))
            ours, theirs = statistics.median(figures["python"]), statistics.median(figures["java"])
            unit = "us p50" if operation == "read" else "Gbit/s"
            row = f"Java {theirs:6.1f}  Python {ours:6.1f} {unit}  ratio {ours / theirs:.2f}"
            print(f"{operation} {size:>7}  {row}", flush=True)
        java.close()
        python.close()
    finally:
        for sidecar in sidecars:
            sidecar.stop()


if __name__ == "__main__":
    main()
