# Copyright The Sidewarp Authors
# SPDX-License-Identifier: Apache-2.0
"""Work over rings and over the gRPC call, between two packaged sidecars."""

import threading

import pytest
import sidewarp
from conftest import Pair, run_both
from sidecar import PATIENCE
from sidewarp import Status, Work


def test_written_data_is_read_back(pair):
    pair.ours.view()[:4096] = bytes(range(256)) * 16
    written = pair.queue.write(pair.connection, pair.ours[0:4096], pair.remote, flush=True).wait(PATIENCE)
    assert written.length == 4096
    assert pair.theirs.view(0, 4096) == pair.ours.view(0, 4096)

    read = pair.queue.read(pair.connection, pair.ours[8192:12288], pair.remote).wait(PATIENCE)
    assert read.length == 4096
    assert pair.ours.view(8192, 4096) == pair.ours.view(0, 4096)


def test_parts_of_regions_are_gathered(pair):
    other = pair.left.region(4096)
    pair.ours.view()[:4] = b"abcd"
    other.view()[:3] = b"xyz"
    parts = [pair.ours[0:2], other[0:3], pair.ours[2:4]]
    pair.queue.write(pair.connection, parts, pair.remote, flush=True).wait(PATIENCE)
    assert bytes(pair.theirs.view(0, 7)) == b"abxyzcd"


def test_messages_arrive_in_receives(pair):
    received = [pair.peer_queue.receive(pair.accepted, pair.theirs[i * 64 : i * 64 + 64]) for i in range(3)]
    pair.ours.view()[:5] = b"hello"
    pair.queue.send(pair.connection, pair.ours[0:5], solicited=True)
    pair.queue.immediate(pair.connection, 7)
    pair.queue.write(pair.connection, pair.ours[0:5], pair.remote + 4096, immediate=(1 << 64) - 1)

    first, second, third = (pending.wait(PATIENCE) for pending in received)
    assert first.length == 5 and first.solicited and bytes(pair.theirs.view(0, 5)) == b"hello"
    assert second.immediate == 7 and second.length == 0
    assert third.immediate == (1 << 64) - 1 and bytes(pair.theirs.view(4096, 5)) == b"hello"


def test_receives_are_posted_before_the_peer_can_send(pair):
    received = []

    def prepare(connection):
        received.append(pair.peer_queue.receive(connection, pair.theirs[0:64]))

    connection, _ = pair.connect(prepare)
    pair.ours.view()[:5] = b"early"
    pair.queue.send(connection, pair.ours[0:5]).wait(PATIENCE)
    assert received[0].wait(PATIENCE).length == 5


def test_atomic_operations_return_what_they_found(pair):
    add = pair.queue.fetch_add(pair.connection, pair.remote + 64, 5, pair.ours[0:8])
    assert add.wait(PATIENCE).original == 0
    assert pair.queue.fetch_add(pair.connection, pair.remote + 64, -1).wait(PATIENCE).original == 5
    swap = pair.queue.compare_swap(pair.connection, pair.remote + 64, 4, 99)
    assert swap.wait(PATIENCE).original == 4
    assert pair.theirs.array("uint64")[8] == 99


def test_batch_completes_in_the_order_of_posts(pair):
    pair.ours.array("uint8")[:] = 1
    with pair.queue.batch() as batch:
        for i in range(300):
            batch.write(pair.connection, pair.ours[0 : i + 1], pair.remote)
    completions = batch.wait(PATIENCE)
    assert [completion.length for completion in completions] == list(range(1, 301))


def test_more_work_than_there_is_room_for_waits(pair):
    requests = [pair.queue.write(pair.connection, pair.ours[0:8], pair.remote) for _ in range(5000)]
    assert all(request.wait(PATIENCE).status is Status.SUCCESS for request in requests)
    assert pair.queue.outstanding == 0


def test_requests_are_yielded_as_they_complete(pair):
    receive = pair.queue.receive(pair.connection, pair.ours[0:8])
    writes = [pair.queue.write(pair.connection, pair.ours[0:8], pair.remote) for _ in range(3)]
    completed = []
    for pending in sidewarp.as_completed([receive, *writes], PATIENCE):
        completed.append(pending)
        if len(completed) == 3:
            pair.peer_queue.send(pair.accepted, pair.theirs[0:8]).wait(PATIENCE)
    assert completed == [*writes, receive]


def test_unsignaled_work_is_complete_after_drain(pair):
    pair.ours.array("uint8")[:] = 3
    for i in range(1000):
        pair.queue.post_unsignaled(Work.write(pair.connection, pair.ours[0:8], pair.remote + i * 8))
    pair.queue.drain().wait(PATIENCE)
    pair.connection.flush()
    assert (pair.theirs.array("uint8")[:8000] == 3).all()
    assert not pair.queue.failures


def test_post_all_completes_with_the_last_request(pair):
    pair.ours.array("uint8")[:] = 5
    # More than a ring has room for, so that posting waits for room.
    works = [Work.write(pair.connection, pair.ours[0:8], pair.remote + i % 1000 * 8) for i in range(5000)]
    pair.queue.post_all(works).wait(PATIENCE)
    pair.connection.flush()
    assert (pair.theirs.array("uint8")[:8000] == 5).all()
    assert pair.queue.outstanding == 0
    with pytest.raises(ValueError, match="at least one"):
        pair.queue.post_all([])
    with pytest.raises(ValueError, match="send work of one connection"):
        pair.queue.post_all([works[0], Work.receive(pair.connection, pair.ours[0:8])])


def test_failure_of_unsignaled_work_is_raised_by_drain(pair):
    closed = pair.left.region(4096)
    work = Work.write(pair.connection, closed[0:8], pair.remote)
    closed.close()
    pair.queue.post_unsignaled(work)
    with pytest.raises(sidewarp.WorkError) as raised:
        pair.queue.drain().wait(PATIENCE)
    assert raised.value.completion.status in (Status.LOCAL_PROTECTION_ERROR, Status.INVALID_REQUEST)


def test_threads_share_a_queue(pair):
    failures = []

    def work(slot):
        try:
            for i in range(200):
                part = pair.ours[slot * 8 : slot * 8 + 8]
                pair.queue.fetch_add(pair.connection, pair.remote, 1, part).wait(PATIENCE)
        except Exception as e:
            failures.append(e)

    threads = [threading.Thread(target=work, args=(slot,)) for slot in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert not failures
    assert pair.theirs.array("uint64")[0] == 800


def test_thread_waits_while_another_one_waits_for_a_message(pair):
    receive = pair.queue.receive(pair.connection, pair.ours[0:8])
    waiting = threading.Thread(target=receive.wait, args=(PATIENCE,))
    waiting.start()
    for _ in range(20):
        pair.queue.read(pair.connection, pair.ours[64:72], pair.remote).wait(PATIENCE)
    assert not receive.done()
    pair.peer_queue.send(pair.accepted, pair.theirs[0:8]).wait(PATIENCE)
    waiting.join(PATIENCE)
    assert receive.done()


def test_wait_ends_after_its_time(pair):
    receive = pair.queue.receive(pair.connection, pair.ours[0:8])
    with pytest.raises(TimeoutError):
        receive.wait(0.05)
    assert not receive.done()


def test_poll_takes_completions_for_callbacks(pair):
    done = []
    pending = pair.queue.read(pair.connection, pair.ours[0:8], pair.remote)
    pending.add_done_callback(done.append)
    while not done:
        pair.queue.poll(PATIENCE)
    assert done == [pending]


def test_unknown_stag_is_a_remote_access_error(pair):
    with pytest.raises(sidewarp.RemoteAccessError) as raised:
        pair.queue.read(pair.connection, pair.ours[0:8], (0xDEADBE00, 0)).wait(PATIENCE)
    assert raised.value.completion.status is Status.REMOTE_ACCESS_ERROR
    assert raised.value.rdma.remote
    pair.connection.wait_closed(PATIENCE)
    assert pair.connection.error.remote
    with pytest.raises(sidewarp.FlushedError) as later:
        pair.queue.read(pair.connection, pair.ours[0:8], pair.remote).wait(PATIENCE)
    assert later.value.retry is sidewarp.Retry.AFTER_RECONNECTING


def test_closed_queue_fails_its_work(pair):
    receive = pair.queue.receive(pair.connection, pair.ours[0:8])
    pair.queue.close()
    with pytest.raises(sidewarp.ClosedError):
        receive.wait(PATIENCE)
    with pytest.raises(sidewarp.ClosedError):
        pair.queue.read(pair.connection, pair.ours[0:8], pair.remote)


def test_shared_receives_serve_connections(pair):
    shared = pair.right.shared_receives(16)
    receives = [pair.peer_queue.receive(shared, pair.theirs[i * 8 : i * 8 + 8]) for i in range(2)]
    options = sidewarp.ConnectionOptions(shared_receive_queue=shared.id)
    dial = lambda: pair.left.dial(f"127.0.0.1:{pair.listener.port}")  # noqa: E731
    connections = [run_both(dial, lambda: pair.listener.accept(PATIENCE, options=options)) for _ in range(2)]
    for ours, theirs in connections:
        pair.queue.send(ours, pair.ours[0:8]).wait(PATIENCE)
    senders = {pending.wait(PATIENCE).connection for pending in receives}
    assert senders == {theirs.id for _, theirs in connections}


@pytest.mark.parametrize("wait", ["spin", "yield", "sleep"])
def test_waits_of_each_kind_take_completions(sidecars, wait):
    pair = Pair(sidecars, "rings", wait=wait)
    try:
        for _ in range(50):
            pair.queue.read(pair.connection, pair.ours[0:8], pair.remote).wait(PATIENCE)
    finally:
        pair.close()


def test_operations_of_connections_need_no_queue(sidecars):
    pair = Pair(sidecars, "any")
    try:
        connection = pair.connection
        pair.ours.view()[:8] = b"12345678"
        assert connection.write(pair.ours[0:8], pair.remote).length == 8
        connection.flush()
        assert bytes(pair.theirs.view(0, 8)) == b"12345678"
        assert connection.read(pair.ours[8:16], pair.remote).length == 8
        assert connection.fetch_add(pair.remote + 64, 3).original == 0
        assert connection.compare_swap(pair.remote + 64, 3, 4).original == 3
        received = threading.Thread(target=pair.accepted.receive, args=(pair.theirs[128:136],))
        received.start()
        while received.is_alive():
            # Each message finds a receive that was posted before, whenever the thread posts its own.
            pair.peer_queue.receive(pair.accepted, pair.theirs[256:264])
            pair.accepted.flush()
            connection.send(pair.ours[0:8])
        connection.flush()
        assert connection.info().counters.sends_sent >= 1
        with pytest.raises(sidewarp.RemoteAccessError):
            connection.read(pair.ours[8:16], (0xDEADBE00, 0))
    finally:
        pair.close()


def test_managed_regions_are_stored_and_loaded(sidecars):
    pair = Pair(sidecars, "grpc")
    try:
        managed = pair.left.managed_region(300_000)
        managed.store(b"x" * 200_000, 50)
        pair.connection.write(managed[0:250_000], pair.remote)
        pair.connection.flush()
        assert bytes(pair.theirs.view(50, 200_000)) == b"x" * 200_000
        assert managed.load(49, 3) == b"\0xx"
        assert managed.load() == bytes(50) + b"x" * 200_000 + bytes(99_950)
    finally:
        pair.close()
