# Copyright The Sidewarp Authors
# SPDX-License-Identifier: Apache-2.0
"""Adds arrays of several processes in a ring (all-reduce). Each process gets the sum.

    all_reduce.py RANK HOST:PORT,HOST:PORT,... [COUNT]

Start one process for each address, with ranks from 0 on. COUNT is the number of float32 values, 1,000,000 by default.
Each process sends only to the next one: a part of the array at a time, by RDMA Write with Immediate.
"""

import asyncio
import collections
import sys
import time

import numpy
import sidewarp
from sidewarp import Access


async def dial(session, address):
    """Connects to the next process, which may start later."""
    deadline = time.monotonic() + 60
    while True:
        try:
            return await session.dial(address)
        except sidewarp.UnavailableError:
            if time.monotonic() > deadline:
                raise
            await asyncio.sleep(0.1)


async def reduce(rank, addresses, count):
    ranks = len(addresses)
    part = -(-count // ranks)
    octets = 4 * part
    # The array has a part for each process. An inbox for each step of the addition follows, so that no step overwrites
    # a part that the process has not added yet.
    async with sidewarp.aio.connect(wait=60) as session:
        region = await session.region((2 * ranks - 1) * octets, access=Access.LOCAL_WRITE | Access.REMOTE_WRITE)
        values = region.array("float32", (ranks, part))
        values[:] = numpy.arange(ranks * part).reshape(ranks, part) % 1000 + rank
        queue = await session.queue()
        previous = await session.create_connection()
        # Each step takes one receive. All are there before the previous process can send.
        arrivals = collections.deque(queue.receive(previous) for _ in range(2 * (ranks - 1)))
        listener = await session.listen(int(addresses[rank].rpartition(":")[2]), private_data=region.address.encode())
        following, _ = await asyncio.gather(
            dial(session, addresses[(rank + 1) % ranks]), listener.accept(connection=previous)
        )

        async def step(sent, place):
            """Writes a part to a place in the array of the next process. Returns the part that has arrived here."""
            local, offset = region[sent * octets : (sent + 1) * octets], place * octets
            await queue.write(following, local, following.remote + offset, immediate=offset)
            # Immediate Data arrives after the Write that it belongs to.
            return region.array("float32", part, (await arrivals.popleft()).immediate)

        begin = time.monotonic()
        # First, each part goes around the ring, and each process adds its values. At the end, this process has the sum
        # of the part behind its own.
        for number in range(ranks - 1):
            arrived = await step((rank - number) % ranks, ranks + number)
            values[(rank - number - 1) % ranks] += arrived
        # Then each sum goes around, into the same place everywhere.
        for number in range(ranks - 1):
            sent = (rank + 1 - number) % ranks
            await step(sent, sent)
        seconds = time.monotonic() - begin
        # Leaves when the peers need nothing from this process any more.
        await following.disconnect()
        await previous.wait_closed()

        expected = ranks * (numpy.arange(ranks * part) % 1000) + ranks * (ranks - 1) // 2
        right = numpy.array_equal(values.ravel(), expected)
        print(f"rank {rank}: {'right' if right else 'WRONG'} sum of {count} values in {seconds * 1000:.1f} ms")


asyncio.run(reduce(int(sys.argv[1]), sys.argv[2].split(","), int(sys.argv[3]) if len(sys.argv) > 3 else 1_000_000))
