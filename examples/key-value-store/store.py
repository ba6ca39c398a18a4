# Copyright The Sidewarp Authors
# SPDX-License-Identifier: Apache-2.0
"""A key-value store. Clients look up values in the memory of the server, by RDMA Read.

    store.py serve PORT
    store.py get HOST:PORT KEY [COUNT]

Version 0 means that there is no such key.

The program of the server takes no part in a look-up. It changes the key "clock" all the time, so `get` meets torn reads
there, and repeats them. All programs go on after the death of their own sidecar or of the other one.
"""

import os
import struct
import sys
import threading
import time
import zlib

import sidewarp
from sidewarp import Access

SLOTS, SLOT = 64, 16 << 10
# A slot begins with the version, the lengths of key and value, and a checksum of these three, the key and the value.
# The version of a free slot is 0.
FIELDS, CHECKSUM = struct.Struct(">QII"), struct.Struct(">I")
BODY = FIELDS.size + CHECKSUM.size


def decode(slot):
    """Returns version, key and value of a slot, or None for a slot that was read while the server changed it."""
    version, key, value = FIELDS.unpack_from(slot)
    body = slot[BODY : BODY + key + value]
    intact = CHECKSUM.unpack_from(slot, FIELDS.size)[0] == zlib.crc32(body, zlib.crc32(slot[: FIELDS.size]))
    return (version, body[:key], body[key:]) if intact or version == 0 else None


def look_up(load, key):
    """Returns the place of a key in the table, its version, and its value. The version of a free place is 0.

    `load(place)` returns what `decode` returns. The server loads from its own memory, and a client from the server's.
    """
    for probe in range(SLOTS):
        place = (zlib.crc32(key) + probe) % SLOTS * SLOT
        version, found, value = load(place)
        if version == 0 or found == key:
            return place, version, value
    raise ValueError("the table is full")


def put(table, key, value_of, pause=0.0):
    """Stores the value `value_of(version)`."""
    place, version, _ = look_up(lambda at: decode(bytes(table[at : at + SLOT])), key)
    value = value_of(version + 1)
    fields, body = FIELDS.pack(version + 1, len(key), len(value)), key + value
    table[place + BODY : place + BODY + len(body)] = body
    time.sleep(pause)
    table[place : place + BODY] = fields + CHECKSUM.pack(zlib.crc32(body, zlib.crc32(fields)))


def tick(table, listener):
    while not listener.is_closed:
        # A real server does not pause between body and checksum. The pause makes torn reads frequent enough to see.
        put(table, b"clock", lambda version: b"%d " % version * 1000, pause=0.001)
        time.sleep(0.004)


def serve(session, port):
    region = session.region(SLOTS * SLOT, "table", access=Access.REMOTE_READ)
    table = region.view()
    if not region.file_existed:
        put(table, b"greeting", lambda version: b"hello, memory")
    # The STag is another one after the death of this sidecar. Clients learn it when they connect again.
    with session.listen(port, private_data=region.address.encode()) as listener:
        clock = threading.Thread(target=tick, args=(table, listener))
        clock.start()
        kept = ", and the table is still there" if region.file_existed else ""
        print(f"listening at port {listener.port}{kept}", flush=True)
        try:
            for _ in listener:
                print("a client has connected", flush=True)
        finally:
            listener.close()
            clock.join()


class Client:
    def __init__(self, address, key, count):
        self.address, self.key, self.count = address, key.encode(), count
        # These numbers outlive failures.
        self.found = self.torn = self.latest = 0

    def get(self, session):
        copy = session.region(SLOT, f"copy-{os.getpid()}")

        def load(place):
            while True:
                connection.read(copy, connection.remote + place)
                if entry := decode(bytes(copy.view())):
                    return entry
                self.torn += 1

        with session.dial(self.address) as connection:
            while self.found < self.count:
                _, version, value = look_up(load, self.key)
                # All words of the clock are its version. A torn read would break this rule.
                if version < self.latest or (self.key == b"clock" and set(value.split()) != {b"%d" % version}):
                    raise ValueError(f"version {version} after {self.latest} has the value {value[:20]}")
                self.found, self.latest = self.found + 1, version
                if self.found % 100 == 0 or self.found == self.count:
                    print(f"version {version}: {value[:20].decode()} ({self.torn} torn reads)", flush=True)


if sys.argv[1] == "serve":
    sidewarp.supervise(lambda session: serve(session, int(sys.argv[2])))
else:
    sidewarp.supervise(Client(sys.argv[2], sys.argv[3], int(sys.argv[4]) if len(sys.argv) > 4 else 1).get)
