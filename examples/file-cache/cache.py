# Copyright The Sidewarp Authors
# SPDX-License-Identifier: Apache-2.0
"""A file cache. The server keeps files in regions, and clients read blocks of them by RDMA Read.

    cache.py serve PORT DIRECTORY
    cache.py get HOST:PORT NAME FILE

The server loads a file when a client asks for it the first time, and keeps it until the end.
"""

import collections
import itertools
import pathlib
import struct
import sys

import sidewarp
from sidewarp import Access

BLOCK, BLOCKS_UNDER_WAY = 256 << 10, 8
LENGTH = struct.Struct(">Q")


def serve(port, directory):
    cache = {}

    def load(session, name):
        """Returns the private data for a client: address and length of a file."""
        path = (directory / name).resolve()
        # Files of ConfigMaps are links in their volume. No link that leads out of the directory is served.
        if "/" in name or not path.is_relative_to(directory) or not path.is_file():
            raise FileNotFoundError(path)
        if name not in cache:
            length = path.stat().st_size
            # A region has at least one byte.
            region = session.region(max(1, length), access=Access.REMOTE_READ)
            with path.open("rb") as file:
                file.readinto(region.view(0, length))
            cache[name] = region, length
            print("loaded", name, flush=True)
        region, length = cache[name]
        return region.address.encode() + LENGTH.pack(length)

    with sidewarp.connect(wait=60) as session, session.listen(port) as listener:
        print("listening at port", listener.port, flush=True)
        while True:
            # The private data of the client is the name of the file. The answer of the server needs no message either.
            incoming = listener.request()
            try:
                try:
                    incoming.accept(private_data=load(session, incoming.private_data.decode(errors="replace")))
                except (OSError, ValueError):
                    incoming.reject(b"there is no such file")
            except sidewarp.SidewarpError as e:
                # The client has left, or the shared volume is full. The request lapses.
                print("cannot serve:", e, flush=True)


def get(address, name, target):
    with sidewarp.connect(wait=60) as session, session.queue() as queue, open(target, "wb") as file:
        window = session.region(BLOCKS_UNDER_WAY * BLOCK)
        with session.dial(address, private_data=name.encode()) as connection:
            (length,) = LENGTH.unpack_from(connection.private_data, 12)

            def read(begin):
                slot = begin % len(window)
                part = window[slot : slot + min(BLOCK, length - begin)]
                return part, queue.read(connection, part, connection.remote + begin)

            # Several Reads are under way, so that the network does not wait for this program.
            begins = iter(range(0, length, BLOCK))
            reads = collections.deque(read(begin) for begin in itertools.islice(begins, BLOCKS_UNDER_WAY))
            while reads:
                part, pending = reads.popleft()
                pending.wait()
                file.write(window.view(part.offset, part.length))
                if (begin := next(begins, None)) is not None:
                    reads.append(read(begin))
        print(f"{name}: {length} bytes", flush=True)


if sys.argv[1] == "serve":
    serve(int(sys.argv[2]), pathlib.Path(sys.argv[3]).resolve())
else:
    try:
        get(*sys.argv[2:5])
    except sidewarp.RejectedError as e:
        sys.exit(f"rejected: {e.private_data.decode()}")
