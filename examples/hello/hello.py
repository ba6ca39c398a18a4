# Copyright The Sidewarp Authors
# SPDX-License-Identifier: Apache-2.0
"""Writes a text into the memory of another process, and reads it back from there.

    hello.py serve PORT
    hello.py greet HOST:PORT [TEXT]

The text has at most 4095 bytes.
"""

import sys

import sidewarp
from sidewarp import Access

SIZE = 4096


def serve(port):
    with sidewarp.connect(wait=60) as session:
        inbox = session.region(SIZE, access=Access.REMOTE_WRITE | Access.REMOTE_READ)
        # Each peer that connects gets the address of the region as private data. It needs no other message.
        with session.listen(port, private_data=inbox.address.encode()) as listener:
            print("listening at port", listener.port, flush=True)
            connection = listener.accept()
            # This program takes no part in the transfer. It only waits until the peer has finished.
            connection.wait_closed()
        text = bytes(inbox.view()).partition(b"\0")[0]
        print("received:", text.decode(), flush=True)


def greet(address, text):
    with sidewarp.connect(wait=60) as session:
        region = session.region(2 * SIZE)
        octets = text.encode()
        region.view()[: len(octets)] = octets
        with session.dial(address) as connection:
            connection.write(region[: len(octets)], connection.remote)
            # A Write is complete when its memory may be changed again. After the flush, the peer has the text.
            connection.flush()
            connection.read(region[SIZE : SIZE + len(octets)], connection.remote)
        print("read back:", bytes(region.view(SIZE, len(octets))).decode(), flush=True)


if sys.argv[1] == "serve":
    serve(int(sys.argv[2]))
else:
    greet(sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else "hello, memory")
