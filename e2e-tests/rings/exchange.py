# Copyright The Sidewarp Authors
# SPDX-License-Identifier: Apache-2.0
"""An exchange of two programs by rings. Makes the gRPC calls of one side, and does its work or starts a program for it.

Prints `rings PATH PATH PATH`, `program PID` (with --program), `port N` (server), `exchanging`, `refused ...` and
`done`. When the program ends early, prints `program ended ...`, and keeps the session until standard input has a line.
"""

import argparse
import collections
import os
import struct
import subprocess
import sys

import grpc
from ring import RingError
from sidewarp.v1 import connection_pb2, connection_pb2_grpc, device_pb2, device_pb2_grpc
from sidewarp.v1 import memory_pb2, memory_pb2_grpc, ring_pb2, ring_pb2_grpc, types_pb2
from work import CONNECTIONS, RECEIVES, REGION_LENGTH, Work

# STag and tagged offset of the region, and which connection it is.
PRIVATE_DATA = struct.Struct(">IQB")
# Entries for all receives and all send work that can be outstanding: windows of both connections and a full send ring.
COMPLETIONS = 4 * CONNECTIONS * RECEIVES
SEND_BLOCKS = 16
SECONDS = 60

Setup = collections.namedtuple(
    "Setup", "role socket token completion_ring send_ring receive_ring region_file region connections"
)


class ProgramEnded(Exception):
    pass


class ProgramWork:
    """Does the work of one side in a program. exchange.c describes the protocol on standard input and output."""

    def __init__(self, program, setup, messages):
        rings = [setup.completion_ring, setup.send_ring, setup.receive_ring]
        numbers = [str(number) for number in (setup.region, *setup.connections, messages)]
        command = [program, setup.role, setup.socket, *rings, setup.region_file, *numbers]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        print(f"program {self._process.pid}", flush=True)
        self._say(setup.token.hex())

    def post_receives(self):
        return self._await("posted")

    def run(self, stag, offset):
        self._say(f"connected {stag} {offset}")
        return self._await("done")

    def close(self):
        self._process.stdin.close()
        status = self._process.wait(SECONDS)
        if status != 0:
            raise ProgramEnded(f"program ended with status {status}")

    def _say(self, line):
        try:
            print(line, file=self._process.stdin, flush=True)
        except OSError as e:
            raise ProgramEnded(f"program ended: {e}") from e

    def _await(self, word):
        """Returns the numbers after a word, and prints the lines before that word."""
        for line in self._process.stdout:
            words = line.split()
            if words[0] == word:
                return [int(number) for number in words[1:]]
            print(line, end="", flush=True)
        raise ProgramEnded(f"program ended with status {self._process.wait(SECONDS)}")


class Side:
    """The gRPC calls of one side."""

    def __init__(self, arguments):
        self._arguments = arguments
        channel = grpc.insecure_channel(f"unix:{arguments.api}")
        self._devices = device_pb2_grpc.DeviceServiceStub(channel)
        self._memory = memory_pb2_grpc.MemoryServiceStub(channel)
        self._connections = connection_pb2_grpc.ConnectionServiceStub(channel)
        self._rings = ring_pb2_grpc.RingServiceStub(channel)
        # The session ends with this call.
        self._events = self._devices.OpenSession(device_pb2.OpenSessionRequest(name=f"rings-{arguments.role}"))
        self._session = next(self._events).opened.session

    def _path(self, in_volume):
        return os.path.join(self._arguments.volume, in_volume)

    def set_up(self):
        """Registers a region, creates connections and rings, and returns the values that the work needs."""
        session = self._session
        access = [
            types_pb2.ACCESS_LOCAL_WRITE,
            types_pb2.ACCESS_REMOTE_READ,
            types_pb2.ACCESS_REMOTE_WRITE,
            types_pb2.ACCESS_REMOTE_ATOMIC,
        ]
        file = memory_pb2.SharedBacking(
            path=f"exchange-{self._arguments.role}",
            length=REGION_LENGTH,
            create_mode=memory_pb2.CREATE_MODE_MUST_BE_NEW,
        )
        request = memory_pb2.RegisterRegionRequest(session=session, access=access, shared=file)
        self._region = self._memory.RegisterRegion(request, timeout=SECONDS).region
        self._ids = []
        options = connection_pb2.ConnectionOptions(send_queue=32, receive_queue=2 * RECEIVES)
        for _ in range(CONNECTIONS):
            request = connection_pb2.CreateConnectionRequest(session=session, options=options)
            self._ids.append(self._connections.CreateConnection(request, timeout=SECONDS).connection.id)
        request = ring_pb2.CreateCompletionRingRequest(session=session, entries=COMPLETIONS)
        completion_ring = self._rings.CreateCompletionRing(request, timeout=SECONDS).completion_ring
        send_ring = self._create_work_ring(ring_pb2.WORK_RING_KIND_SEND, SEND_BLOCKS, completion_ring)
        receive_ring = self._create_work_ring(ring_pb2.WORK_RING_KIND_RECEIVE, CONNECTIONS * RECEIVES, completion_ring)
        print("rings", *(ring.file.path for ring in (completion_ring, send_ring, receive_ring)), flush=True)
        return Setup(
            role=self._arguments.role,
            socket=os.path.join(os.path.dirname(self._arguments.api), completion_ring.socket),
            token=completion_ring.token,
            completion_ring=self._path(completion_ring.file.path),
            send_ring=self._path(send_ring.file.path),
            receive_ring=self._path(receive_ring.file.path),
            region_file=self._path(self._region.path),
            region=self._region.id,
            connections=self._ids,
        )

    def _create_work_ring(self, kind, blocks, completion_ring):
        request = ring_pb2.CreateWorkRingRequest(
            session=self._session, kind=kind, blocks=blocks, completion_ring=completion_ring.id
        )
        return self._rings.CreateWorkRing(request, timeout=SECONDS).work_ring

    def _private_data(self, c):
        return PRIVATE_DATA.pack(self._region.stag, self._region.base_tagged_offset, c)

    def connect(self, posted):
        """Connects after the receives are posted, and returns the peer's STag and tagged offset."""
        for c, id in enumerate(self._ids):
            request = connection_pb2.ConnectRequest(
                session=self._session,
                address=self._arguments.address,
                port=self._arguments.port,
                connection=id,
                after_posts=posted[c],
                private_data=self._private_data(c),
            )
            answer = self._connections.Connect(request, timeout=SECONDS).connection
        return PRIVATE_DATA.unpack(answer.private_data)[:2]

    def accept(self, posted):
        """Accepts the peer's connections after the receives are posted. Returns the peer's STag and tagged offset."""
        request = connection_pb2.ListenRequest(session=self._session, address=self._arguments.address)
        listen = self._connections.Listen(request)
        print(f"port {next(listen).listening.port}", flush=True)
        self._watches = []
        for _ in range(CONNECTIONS):
            incoming = next(listen).request
            stag, offset, c = PRIVATE_DATA.unpack(incoming.private_data)
            request = connection_pb2.AcceptRequest(
                session=self._session,
                request=incoming.id,
                connection=self._ids[c],
                after_posts=posted[c],
                private_data=self._private_data(c),
            )
            self._connections.Accept(request, timeout=SECONDS)
            request = connection_pb2.WatchConnectionRequest(session=self._session, connection=self._ids[c])
            self._watches.append(self._connections.WatchConnection(request))
        listen.cancel()
        return stag, offset

    def disconnect(self, posted):
        """Closes the connections after all posted work. The server waits until the client closes them."""
        if self._arguments.role == "server":
            for watch in self._watches:
                open_states = (device_pb2.CONNECTION_STATE_ESTABLISHED, device_pb2.CONNECTION_STATE_WAITING_FOR_PEER)
                next((response for response in watch if response.change.state not in open_states), None)
            return
        for c, id in enumerate(self._ids):
            request = connection_pb2.DisconnectRequest(session=self._session, connection=id, after_posts=posted[c])
            self._connections.Disconnect(request, timeout=SECONDS)

    def close(self):
        self._devices.CloseSession(device_pb2.CloseSessionRequest(session=self._session), timeout=SECONDS)


def parse():
    parser = argparse.ArgumentParser(description="exchanges messages and memory with a peer by rings")
    parser.add_argument("role", choices=["client", "server"])
    parser.add_argument("--api", required=True, help="the Unix socket of the sidecar's API")
    parser.add_argument("--volume", required=True, help="the directory where the shared volume is mounted")
    parser.add_argument("--address", default="127.0.0.1", help="address of the server (default 127.0.0.1)")
    parser.add_argument("--port", type=int, help="the port that the server printed (client only)")
    parser.add_argument("--messages", type=int, default=1000, help="messages per connection and direction (1000)")
    parser.add_argument(
        "--program", help="a program that does the work, such as exchange; by default, this process does the work"
    )
    return parser.parse_args()


def main():
    arguments = parse()
    side = Side(arguments)
    setup = side.set_up()
    if arguments.program:
        work = ProgramWork(arguments.program, setup, arguments.messages)
    else:
        work = Work(setup, arguments.messages)
    try:
        posted = work.post_receives()
        peer = side.accept(posted) if arguments.role == "server" else side.connect(posted)
        posted = work.run(*peer)
        side.disconnect(posted)
        work.close()
    except ProgramEnded as e:
        print(f"{e}; the session is kept until standard input has a line", flush=True)
        sys.stdin.readline()
        return 1
    side.close()
    print("done", flush=True)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except grpc.RpcError as e:
        sys.exit(f"exchange.py: a call failed with {e.code().name}: {e.details()}")
    except RingError as e:
        sys.exit(f"exchange.py: {e}")
