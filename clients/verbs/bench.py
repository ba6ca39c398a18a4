#!/usr/bin/env python3
# Copyright The Sidewarp Authors
# SPDX-License-Identifier: Apache-2.0
"""Measures perftest over the verbs library beside Sidewarp's own ring client, in alternating turns on this machine.

    ./sidewarp build && clients/verbs/bench.py [--rounds N] [--no-guest] [--no-fabric]

Needs Debian's perftest. Both clients use the same two sidecars, and yield the processor while they wait. Bandwidth is
of 64 KiB with 64 messages in flight, once with the program's own memory and once with a file of the shared volume.
Beside them stands what a user has today: fi_pingpong over libfabric's tcp provider (Debian's libfabric-bin), and
perftest over Linux siw with both ends in one virtual machine (e2e-tests/siw), whose processors are emulated. The
result of each is the median of the rounds.

tests/limit.c gives the limits: relays that do only what a sidecar cannot avoid, once with shared memory as the ring
client has, once with the memory of another process as perftest has.
"""

import argparse
import json
import os
import pathlib
import platform
import re
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
ENVIRONMENT = {**os.environ, "SIDEWARP_BUILD": "never"}
SECONDS = 120
BANDWIDTH_SIZE, DEPTH, SIGNALED = 64 << 10, 64, 32
WARMUP = "2s"
MEMORY = 4 << 20


class Sidecar:
    """A packaged sidecar as a process."""

    def __init__(self, name):
        self.directory = tempfile.mkdtemp(prefix=f"sidewarp-{name}-")
        self.volume = tempfile.mkdtemp(prefix=f"sidewarp-{name}-", dir="/dev/shm")
        self.api = f"unix://{self.directory}/api.sock"
        self.log = open(f"{self.directory}/log", "wb")
        settings = {"management.port": "0", "api.socket": f"{self.directory}/api.sock", "shared-volume": self.volume}
        command = [str(ROOT / "sidewarp"), "sidecar", *(f"-Dsidewarp.{key}={settings[key]}" for key in settings)]
        self.process = subprocess.Popen(command, env=ENVIRONMENT, stdout=self.log, stderr=self.log)

    def command(self, *arguments):
        """Returns a command of the CLI that uses this sidecar."""
        where = ["--api", self.api, "--volume", self.volume, "--wait-ready", "60s"]
        return [str(ROOT / "sidewarp"), *arguments, *where]

    def environment(self, library):
        """Returns the environment of a program that uses verbs."""
        return {**os.environ, "LD_PRELOAD": library, "SIDEWARP_API": self.api, "SIDEWARP_VOLUME": self.volume}

    def stop(self):
        self.process.kill()
        self.process.wait()
        self.log.close()
        shutil.rmtree(self.directory)
        shutil.rmtree(self.volume)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def await_listener(port, server):
    """Waits until a process listens on a port of loopback, without connecting to it."""
    end = time.monotonic() + SECONDS
    wanted = f"{port:04X}"
    while time.monotonic() < end and server.poll() is None:
        for table in ("/proc/net/tcp", "/proc/net/tcp6"):
            for line in pathlib.Path(table).read_text().splitlines()[1:]:
                fields = line.split()
                if fields[1].endswith(":" + wanted) and fields[3] == "0A":
                    return
        time.sleep(0.05)
    sys.exit(f"{server.args[0]} does not listen on port {port}")


def pair(server, client, port, server_environment=None, client_environment=None):
    """Runs a server and then its client, and returns what the client prints."""
    output = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    with subprocess.Popen(server, env=server_environment, **output) as listening:
        try:
            await_listener(port, listening)
            done = subprocess.run(client, env=client_environment, timeout=SECONDS, check=False, **output)
            listening.communicate(timeout=SECONDS)
        finally:
            listening.kill()
    if done.returncode != 0:
        sys.exit(f"{' '.join(client)} failed:\n{done.stdout}")
    return done.stdout


def perftest_figure(test, output):
    """Returns Gbit/s of the average, or the typical latency in microseconds, from the line of figures."""
    line = next(line.split() for line in reversed(output.splitlines()) if re.match(r" \d+ +\d+ ", line))
    # Bandwidth: bytes, iterations, peak, average. Latency: bytes, iterations, min, max, typical.
    return float(line[3] if test.endswith("bw") else line[4])


def perftest(test, iterations):
    command = [f"ib_{test}", "-R", "-F", "-n", str(iterations)]
    if test.endswith("bw"):
        return [*command, "-s", str(BANDWIDTH_SIZE), "-t", str(DEPTH), "-Q", str(SIGNALED), "--report_gbits"]
    return [*command, "-s", "8"]


class Verbs:
    """perftest with the verbs library at both sidecars."""

    def __init__(self, active, passive, library):
        self.active, self.passive, self.library = active, passive, library

    def measure(self, test, iterations, in_volume=False):
        port = free_port()
        commands = []
        for side in (self.passive, self.active):
            command = [*perftest(test, iterations), "-p", str(port)]
            if in_volume:
                memory = pathlib.Path(side.volume, "memory")
                memory.write_bytes(bytes(MEMORY))
                command.append(f"--mmap={memory}")
            commands.append(command)
        commands[1].append("127.0.0.1")
        environments = [side.environment(self.library) for side in (self.passive, self.active)]
        return perftest_figure(test, pair(*commands, port, *environments))


class Rings:
    """`sidewarp perf` over rings at both sidecars."""

    def __init__(self, active, passive):
        self.active = active
        command = passive.command("perf", "--listen", "127.0.0.1:0", "--queue", "rings", "--wait", "yield")
        self.server = subprocess.Popen(command, env=ENVIRONMENT, stdout=subprocess.PIPE, text=True)
        line = next(line for line in self.server.stdout if "listening on" in line)
        self.address = line.split("listening on")[1].split()[0]

    def measure(self, test):
        operation, kind = test.split("_")
        arguments = ["perf", operation, self.address, "--json", "--queue", "rings", "--wait", "yield"]
        arguments += ["--time", "3s", "--warmup", WARMUP]
        if kind == "lat":
            arguments += ["--latency", "--size", "8"]
        else:
            arguments += ["--size", str(BANDWIDTH_SIZE), "--depth", str(DEPTH), "--signal", str(SIGNALED)]
        done = subprocess.run(
            self.active.command(*arguments), env=ENVIRONMENT, capture_output=True, text=True, check=True, timeout=SECONDS
        )
        result = json.loads(done.stdout)
        return result["latency_microseconds"]["p50"] if kind == "lat" else result["gigabits_per_second"]

    def stop(self):
        self.server.terminate()
        self.server.wait()


def limits(directory, rounds):
    """Prints what the memory of another process costs at least, with the sidecars gone."""
    program = f"{directory}/limit"
    source = ROOT / "clients/verbs/tests/limit.c"
    subprocess.run(["gcc", "-std=gnu11", "-O2", "-msse4.2", "-o", program, str(source)], check=True)
    for test, unit in (("read", "us"), ("stream", "Gbit/s")):
        figures = {"process": [], "mapped": []}
        for _ in range(rounds):
            for kind, values in figures.items():
                done = subprocess.run([program, kind, test], capture_output=True, text=True, check=True, timeout=SECONDS)
                values.append(float(done.stdout))
        ours, base = (statistics.median(figures[kind]) for kind in ("process", "mapped"))
        print(f"{'limit of ' + test + ' ' + unit:<22}{ours:>9.1f}{base:>9.1f}  {ours / base:.2f}", flush=True)


def fabric():
    """Returns (half a round trip of 8 bytes in microseconds, Gbit/s of 64 KiB) of fi_pingpong over TCP."""
    figures = []
    for size, iterations in ((8, 20000), (BANDWIDTH_SIZE, 5000)):
        port = free_port()
        command = ["fi_pingpong", "-p", "tcp;ofi_rxm", "-e", "rdm", "-I", str(iterations), "-S", str(size)]
        output = pair([*command, "-B", str(port)], [*command, "-P", str(port), "127.0.0.1"], port)
        line = output.splitlines()[-1].split()
        # bytes, sent, acknowledged, total, time, MB/sec, usec/xfer, Mxfers/sec
        figures.append((float(line[-2]), float(line[-3]) * 8 / 1000))
    return figures[0][0], figures[1][1]


class Guest:
    """The virtual machine with siw. Both ends of perftest run in it."""

    def __init__(self):
        self.port = free_port()
        command = [str(ROOT / "e2e-tests/siw/run"), f"{self.port}:9"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if not any("siw guest is ready" in line for line in self.process.stdout):
            sys.exit("the virtual machine with siw did not start; see e2e-tests/siw, or use --no-guest")

    def measure(self, test, iterations):
        command = " ".join(perftest(test, iterations))
        script = (
            f"timeout 100 {command} >/dev/null 2>&1 & sleep 3; timeout 100 {command} 10.0.2.15 2>&1; wait; exit\n"
        )
        with socket.create_connection(("127.0.0.1", self.port), SECONDS) as shell:
            shell.sendall(script.encode())
            return perftest_figure(test, shell.makefile().read())

    def stop(self):
        self.process.kill()
        self.process.wait()


def measure(arguments, library):
    active, passive = Sidecar("active"), Sidecar("passive")
    rings = None
    try:
        rings, verbs = Rings(active, passive), Verbs(active, passive, library)
        print(f"{'test':<22}{'verbs':>9}{'rings':>9}  ratio")
        for test, iterations in (("read_lat", 20000), ("send_lat", 20000), ("write_lat", 5000), ("write_bw", 50000)):
            figures = {"rings": [], "verbs": [], "volume": []}
            for _ in range(arguments.rounds):
                figures["rings"].append(rings.measure(test))
                figures["verbs"].append(verbs.measure(test, iterations))
                if test.endswith("bw"):
                    figures["volume"].append(verbs.measure(test, iterations, True))
            base = statistics.median(figures["rings"])
            unit = "us" if test.endswith("lat") else "Gbit/s"
            for name, values in (("", figures["verbs"]), (", volume", figures["volume"])):
                if values:
                    ours = statistics.median(values)
                    print(f"{test + name + ' ' + unit:<22}{ours:>9.1f}{base:>9.1f}  {ours / base:.2f}", flush=True)
    finally:
        if rings:
            rings.stop()
        active.stop()
        passive.stop()


def main():
    parser = argparse.ArgumentParser(description="measures perftest over the verbs library beside the ring client")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--no-guest", action="store_true", help="leave out siw in a virtual machine")
    parser.add_argument("--no-fabric", action="store_true", help="leave out libfabric over TCP")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="sidewarp-verbs-") as built:
        subprocess.run([str(ROOT / "clients/verbs/build"), built], check=True)
        measure(arguments, f"{built}/libsidewarp-verbs.so")
        if platform.machine() == "x86_64":  # limit.c uses an instruction of this processor
            limits(built, arguments.rounds)
    if not arguments.no_fabric:
        latency, rate = fabric()
        print(f"fi_pingpong over tcp: 8 bytes {latency:.1f} us, 64 KiB {rate:.1f} Gbit/s each way")
    if not arguments.no_guest:
        guest = Guest()
        try:
            for test, iterations in (("read_lat", 1000), ("send_lat", 1000), ("write_lat", 1000), ("write_bw", 2000)):
                print(f"siw in a virtual machine: {test} {guest.measure(test, iterations):.1f}", flush=True)
        finally:
            guest.stop()


if __name__ == "__main__":
    main()
