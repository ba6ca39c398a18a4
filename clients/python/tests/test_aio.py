# Copyright The Sidewarp Authors
# SPDX-License-Identifier: Apache-2.0
"""The client for asyncio, over rings and over the gRPC call."""

import asyncio
import functools

import pytest
import sidewarp
from conftest import ALL
from sidecar import PATIENCE, Sidecar
from sidewarp import Work, aio


def asynchronous(test):
    """Runs a coroutine test in an event loop of its own."""

    @functools.wraps(test)
    def run(*args, **kwargs):
        asyncio.run(asyncio.wait_for(test(*args, **kwargs), PATIENCE))

    return run


def connect(sidecar):
    return aio.connect("test-aio", api=sidecar.api, volume=sidecar.volume)


class Sides:
    """A connection between two sessions, a region on each side, and a queue on each side."""

    async def open(self, sidecars, path):
        self.left, self.right = await connect(sidecars[0]), await connect(sidecars[1])
        self.ours = await self.left.region(1 << 20, access=ALL)
        self.theirs = await self.right.region(1 << 20, access=ALL)
        self.listener = await self.right.listen(0, "127.0.0.1", private_data=self.theirs.address.encode())
        self.queue = await self.left.queue(path=path)
        self.peer_queue = await self.right.queue(path=path)
        dial = self.left.dial(f"127.0.0.1:{self.listener.port}")
        self.connection, self.accepted = await asyncio.gather(dial, self.listener.accept())
        self.remote = self.connection.remote
        return self

    async def close(self):
        await self.left.close()
        await self.right.close()


paths = pytest.mark.parametrize("path", ["rings", "grpc"])


@paths
@asynchronous
async def test_work_is_awaited(sidecars, path):
    sides = await Sides().open(sidecars, path)
    assert sides.queue.path == path
    sides.ours.view()[:5] = b"hello"
    await sides.queue.write(sides.connection, sides.ours[0:5], sides.remote, flush=True)
    assert bytes(sides.theirs.view(0, 5)) == b"hello"
    read = await sides.queue.read(sides.connection, sides.ours[64:69], sides.remote)
    assert read.length == 5 and bytes(sides.ours.view(64, 5)) == b"hello"
    receive = sides.peer_queue.receive(sides.accepted, sides.theirs[128:192])
    await sides.peer_queue.flush(sides.accepted)
    await sides.queue.send(sides.connection, sides.ours[0:5])
    assert (await receive).length == 5
    assert (await sides.queue.fetch_add(sides.connection, sides.remote + 256, 3)).original == 0
    assert (await sides.connection.fetch_add(sides.remote + 256, 3)).original == 3
    await sides.connection.flush()
    await sides.close()


@paths
@asynchronous
async def test_batches_and_more_work_than_there_is_room_for(sidecars, path):
    sides = await Sides().open(sidecars, path)
    with sides.queue.batch() as batch:
        for i in range(3000):
            batch.write(sides.connection, sides.ours[0 : i % 64 + 1], sides.remote)
    completions = await batch
    assert [completion.length for completion in completions] == [i % 64 + 1 for i in range(3000)]
    for i in range(100):
        sides.queue.post_unsignaled(Work.write(sides.connection, sides.ours[0:8], sides.remote))
    await sides.queue.drain()
    await sides.close()


@paths
@asynchronous
async def test_tasks_share_a_queue(sidecars, path):
    sides = await Sides().open(sidecars, path)

    async def add(times):
        for _ in range(times):
            await sides.queue.fetch_add(sides.connection, sides.remote, 1)

    await asyncio.gather(*(add(50) for _ in range(8)))
    await sides.connection.flush()
    assert sides.theirs.array("uint64")[0] == 400
    await sides.close()


@paths
@asynchronous
async def test_sleeping_queue_wakes_for_a_message(sidecars, path):
    sides = await Sides().open(sidecars, path)
    await sides.queue.write(sides.connection, sides.ours[0:8], sides.remote)
    for _ in range(3):
        receive = sides.queue.receive(sides.connection, sides.ours[0:8])
        done, _ = await asyncio.wait([asyncio.ensure_future(wait_for(receive))], timeout=0.1)
        assert not done
        await sides.peer_queue.send(sides.accepted, sides.theirs[0:8])
        assert (await receive).length == 8
    await sides.close()


async def wait_for(pending):
    return await pending


@asynchronous
async def test_listener_is_iterated(sidecars):
    async with connect(sidecars[0]) as session, connect(sidecars[1]) as peer:
        listener = await peer.listen(0, "127.0.0.1")
        accepted = []

        async def serve():
            async for connection in listener:
                accepted.append(connection)

        serving = asyncio.ensure_future(serve())
        for _ in range(3):
            async with session.dial(f"127.0.0.1:{listener.port}") as connection:
                assert connection.id
        await listener.close()
        await serving
        assert len(accepted) == 3


@asynchronous
async def test_cancelled_accept_loses_no_connection(sidecars):
    async with connect(sidecars[0]) as session, connect(sidecars[1]) as peer:
        listener = await peer.listen(0, "127.0.0.1")
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(asyncio.ensure_future(wait_for(listener.accept())), 0.05)
        with pytest.raises(sidewarp.DeadlineError):
            await listener.accept(0.05)
        await asyncio.gather(session.dial(f"127.0.0.1:{listener.port}"), listener.accept())


@asynchronous
async def test_cancelled_creation_leaves_nothing(sidecars):
    async with connect(sidecars[0]) as session:
        await session.device()
        creating = asyncio.ensure_future(wait_for(session.region(4096)))
        await asyncio.sleep(0)
        creating.cancel()
        with pytest.raises(asyncio.CancelledError):
            await creating
        while await session.regions():
            await asyncio.sleep(0.01)
        await (await session.region(4096)).close()


@asynchronous
async def test_errors_have_types(sidecars):
    sides = await Sides().open(sidecars, "rings")
    with pytest.raises(sidewarp.RemoteAccessError):
        await sides.queue.read(sides.connection, sides.ours[0:8], (0xDEADBE00, 0))
    await sides.connection.wait_closed()
    with pytest.raises(sidewarp.UnavailableError) as raised:
        await sides.left.dial("127.0.0.1:1")
    assert raised.value.retry
    with pytest.raises(RuntimeError, match="await"):
        sides.queue.receive(sides.connection).wait(1)
    await sides.close()


@asynchronous
async def test_managed_regions_are_stored_and_loaded(sidecars):
    async with connect(sidecars[0]) as session:
        managed = await session.managed_region(1000)
        await managed.store(b"abc", 10)
        assert await managed.load(9, 4) == b"\0abc"


@asynchronous
async def test_view_keeps_a_region_open(sidecars):
    async with connect(sidecars[0]) as session:
        with pytest.raises(sidewarp.ViewsExistError):
            async with session.region(4096) as region:
                view = region.view()
        view.release()
        await region.close()


def test_supervised_work_goes_on_after_the_death_of_its_sidecar(sidecars):
    mortal = Sidecar("mortal-aio")
    attempts = []

    async def work(session):
        region = await session.region(4096, path="content")
        attempts.append(region.file_existed)
        if len(attempts) == 1:
            region.view()[:4] = b"kept"
            queue = await session.queue()
            async with connect(sidecars[1]) as peer:
                listener = await peer.listen(0, "127.0.0.1")
                dial = session.dial(f"127.0.0.1:{listener.port}")
                connection, _ = await asyncio.gather(dial, listener.accept())
                receive = queue.receive(connection, region[0:8])
                await asyncio.get_running_loop().run_in_executor(None, mortal.kill)
                restarting = asyncio.get_running_loop().run_in_executor(None, mortal.start)
                try:
                    await receive
                finally:
                    await restarting
        return bytes(region.view(0, 4))

    supervised = aio.supervise(work, api=mortal.api, volume=mortal.volume, on_failure=lambda error, pause: None)
    try:
        assert asyncio.run(asyncio.wait_for(supervised, PATIENCE)) == b"kept"
        assert attempts == [False, True]
    finally:
        mortal.stop()
