# Copyright The Sidewarp Authors
# SPDX-License-Identifier: Apache-2.0
"""Sessions and their end: by garbage collection (never), by close, in a child process, with a sidecar that dies."""

import gc
import os
import subprocess
import sys
import threading

import pytest
import sidewarp
from conftest import ALL, Pair, run_both
from sidecar import HERE, PATIENCE, Sidecar
from sidewarp import Retry
from sidewarp.v1.shared_receive_queue_pb2 import ListSharedReceiveQueuesRequest


def test_session_outlives_its_variable(sidecars):
    session = sidecars[0].connect("outlives")
    region = session.region(4096)
    listener = session.listen(0, "127.0.0.1")
    address = f"127.0.0.1:{listener.port}"
    del session, listener
    gc.collect()
    with sidecars[1].connect() as peer:
        dialing = threading.Thread(target=lambda: peer.dial(address))
        dialing.start()
        kept = [made for made in region._session._objects if isinstance(made, sidewarp.Listener)]
        accepted = kept[0].accept(PATIENCE)
        dialing.join(PATIENCE)
        accepted.abort()
        assert region._session.is_open
        region._session.close()


def test_program_ends_without_closing_its_session(sidecars):
    program = f"""
import sys; sys.path.insert(0, {str(HERE.parent / "src")!r})
import sidewarp
session = sidewarp.connect("leaves", api={sidecars[0].api!r}, volume={sidecars[0].volume!r})
region, queue, listener = session.region(4096), session.queue(), session.listen(0, "127.0.0.1")
print("open")
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=PATIENCE)
    assert (ended.returncode, ended.stdout) == (0, "open\n"), ended.stderr


def test_call_in_a_forked_child_raises(sidecars):
    pair = Pair(sidecars, "rings")
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        outcomes = []
        for call in (
            lambda: pair.left.region(4096),
            lambda: pair.queue.read(pair.connection, pair.ours[0:8], pair.remote),
            lambda: pair.connection.flush(),
            lambda: pair.listener.accept(1),
            lambda: pair.left.close(),
        ):
            try:
                call()
                outcomes.append("returned")
            except sidewarp.ForkedError:
                outcomes.append("raised")
            except BaseException as e:
                outcomes.append(repr(e))
        os.write(writing, ",".join(outcomes).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as outcomes:
        assert outcomes.read() == ",".join(["raised"] * 5)
    os.waitpid(child, 0)
    assert pair.queue.read(pair.connection, pair.ours[0:8], pair.remote).wait(PATIENCE).length == 8
    pair.close()


def test_end_of_a_forked_child_leaves_the_session_of_its_parent(sidecars):
    program = f"""
import os, sys; sys.path.insert(0, {str(HERE.parent / "src")!r})
import sidewarp
parent = sidewarp.connect("parent", api={sidecars[0].api!r}, volume={sidecars[0].volume!r})
queue, listener = parent.queue(path="grpc"), parent.listen(0, "127.0.0.1")
if os.fork() == 0:
    try:
        sidewarp.connect("child", api={sidecars[0].api!r})
    except sidewarp.ForkedError:
        sys.exit(7)
_, status = os.wait()
parent.region(4096).close()
assert not listener.is_closed
parent.close()
sys.exit(os.waitstatus_to_exitcode(status))
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=PATIENCE)
    assert ended.returncode == 7, ended.stderr


def test_refused_connection_can_be_tried_again(sidecars):
    with sidecars[0].connect() as session:
        listener = session.listen(0, "127.0.0.1")
        port = listener.port
        listener.close()
        with pytest.raises(sidewarp.UnavailableError) as raised:
            session.dial(f"127.0.0.1:{port}")
        assert raised.value.retry and raised.value.retry is Retry.LATER


def test_rejection_brings_the_private_data_of_the_peer(sidecars):
    with sidecars[0].connect() as session, sidecars[1].connect() as peer:
        listener = peer.listen(0, "127.0.0.1")

        def reject():
            incoming = listener.request(PATIENCE)
            assert incoming.private_data == b"may I?"
            incoming.reject(b"no")

        def dial():
            with pytest.raises(sidewarp.RejectedError) as raised:
                session.dial(f"127.0.0.1:{listener.port}", private_data=b"may I?")
            return raised.value

        error, _ = run_both(dial, reject)
        assert error.private_data == b"no" and error.retry


def test_listener_yields_connections_until_it_is_closed(sidecars):
    with sidecars[0].connect() as session, sidecars[1].connect() as peer:
        listener = peer.listen(0, "127.0.0.1", private_data=b"welcome")
        accepted = []

        def serve():
            for connection in listener:
                accepted.append(connection)

        serving = threading.Thread(target=serve)
        serving.start()
        for _ in range(3):
            assert session.dial(f"127.0.0.1:{listener.port}").private_data == b"welcome"
        listener.close()
        serving.join(PATIENCE)
        assert len(accepted) == 3


def test_close_of_a_connection_is_told_to_the_peer(sidecars):
    pair = Pair(sidecars, "rings")
    with pair.connection:
        pair.queue.write(pair.connection, pair.ours[0:8], pair.remote)
    pair.accepted.wait_closed(PATIENCE)
    assert pair.accepted.error is None
    pair.close()


def test_close_raises_when_data_may_be_lost(sidecars):
    pair = Pair(sidecars, "rings")
    pair.queue.write(pair.connection, pair.ours[0:8], (0xDEADBE00, 0)).wait(PATIENCE)
    with pytest.raises(sidewarp.RemoteAccessError, match="may not have arrived"):
        pair.connection.close()
    pair.close()


def test_failure_of_a_body_aborts_the_connection(sidecars):
    pair = Pair(sidecars, "rings")
    with pytest.raises(ZeroDivisionError):
        with pair.connection:
            1 / 0
    pair.accepted.wait_closed(PATIENCE)
    pair.close()


def test_errors_of_the_address_say_what_to_do():
    with pytest.raises(sidewarp.UnavailableError, match="the socket does not exist.*SIDEWARP_API"):
        sidewarp.connect(api="unix:///nowhere/api.sock", timeout=5)
    with pytest.raises(ValueError, match="cannot use"):
        sidewarp.connect(api="nonsense")
    with pytest.raises(TimeoutError):
        sidewarp.connect(api="unix:///nowhere/api.sock", wait=0.2)


def test_unset_volume_is_explained(sidecars, tmp_path):
    with sidewarp.connect(api=sidecars[0].api, volume=str(tmp_path)) as session:
        with pytest.raises(sidewarp.SidewarpError, match="SIDEWARP_VOLUME"):
            session.region(4096)
        assert not session.regions()
        assert session.queue().path == "grpc"
        with pytest.raises(sidewarp.SidewarpError, match="SIDEWARP_VOLUME"):
            session.queue(path="rings")


def test_misspelt_options_are_refused():
    with pytest.raises(ValueError, match="sendqueue"):
        sidewarp.ConnectionOptions(sendqueue=3)


@pytest.fixture
def mortal():
    sidecar = Sidecar("mortal")
    yield sidecar
    sidecar.stop()


@pytest.mark.parametrize("path", ["rings", "grpc"])
def test_death_of_the_sidecar_fails_everything_under_way(mortal, sidecars, path):
    pair = Pair([mortal, sidecars[1]], path)
    receive = pair.queue.receive(pair.connection, pair.ours[0:8])
    mortal.kill()
    with pytest.raises(sidewarp.UnavailableError):
        receive.wait(PATIENCE)
    with pytest.raises(sidewarp.SessionLostError):
        pair.connection.wait_closed(PATIENCE)
    with pytest.raises(sidewarp.SessionLostError) as raised:
        pair.left.region(4096)
    assert raised.value.retry is Retry.AFTER_RECONNECTING
    pair.left.close()
    pair.right.close()


def test_lost_session_raises_when_data_may_be_lost(mortal, sidecars):
    pair = Pair([mortal, sidecars[1]], "rings")
    pair.queue.write(pair.connection, pair.ours[0:8], pair.remote).wait(PATIENCE)
    mortal.kill()
    with pytest.raises(sidewarp.SessionLostError):
        pair.connection.wait_closed(PATIENCE)
    with pytest.raises(sidewarp.UnconfirmedError):
        pair.left.close()
    pair.right.close()


def test_supervised_work_goes_on_after_the_death_of_its_sidecar(mortal, sidecars):
    with sidecars[1].connect() as peer:
        target = peer.region(4096, access=ALL)
        listener = peer.listen(0, "127.0.0.1", private_data=target.address.encode())
        serving = threading.Thread(target=lambda: list(listener))
        serving.start()
        views, failures, restarted = [], [], []

        def work(session):
            region = session.region(4096, path="outbox")
            array = region.array("uint64")
            views.append(array)
            queue = session.queue()
            with session.dial(f"127.0.0.1:{listener.port}") as connection:
                while True:
                    array[0] += 1
                    queue.write(connection, region[0:8], connection.remote, flush=True).wait(PATIENCE)
                    if array[0] == 100 and not restarted:
                        mortal.kill()
                        restarted.append(threading.Thread(target=mortal.start))
                        restarted[0].start()
                    if array[0] == 200:
                        return region.file_existed

        existed = sidewarp.supervise(
            work, api=mortal.api, volume=mortal.volume, on_failure=lambda error, pause: failures.append(error)
        )
        restarted[0].join(PATIENCE)
        assert existed and failures and [error for error in failures if not error.retry] == []
        # The view of the first attempt is of the same file. An attempt may begin before the loss of the session is known.
        assert len(views) >= 2 and views[0][0] == views[-1][0] == 200
        assert target.array("uint64")[0] == 200
        listener.close()
        serving.join(PATIENCE)


def test_supervised_work_goes_on_after_the_death_of_its_peer(mortal, sidecars):
    ports, stopped = [], threading.Event()

    def serve(session):
        region = session.region(4096, path="inbox", access=ALL)
        with session.listen(ports[0] if ports else 0, "127.0.0.1", private_data=region.address.encode()) as listener:
            ports.append(listener.port)
            while not stopped.is_set():
                try:
                    listener.accept(0.2)
                except sidewarp.DeadlineError:
                    pass

    server = threading.Thread(
        target=sidewarp.supervise,
        args=(serve,),
        kwargs={"api": mortal.api, "volume": mortal.volume, "on_failure": lambda error, pause: None},
    )
    server.start()
    sessions, killed = [], []

    def work(session):
        sessions.append(session)
        region = session.region(4096, path="outbox")
        with session.dial(f"127.0.0.1:{ports[0]}") as connection:
            connection.write(region[0:8], connection.remote)
            connection.flush()
            if not killed:
                killed.append(True)
                mortal.kill()
                mortal.start()
                connection.flush()

    try:
        while not ports:
            stopped.wait(0.05)
        sidewarp.supervise(work, api=sidecars[0].api, volume=sidecars[0].volume, on_failure=lambda error, pause: None)
        # The sidecar of this side lives, and so its session goes on.
        assert len(sessions) > 1 and len(set(sessions)) == 1
    finally:
        stopped.set()
        server.join(PATIENCE)


def test_supervised_work_gets_no_region_that_it_has_closed(sidecars):
    def work(session):
        first = session.region(4096, "closed")
        assert session.region(4096, "closed") is first
        first.close()
        second = session.region(4096, "closed")
        second.view()[0] = 1
        return first.id, second.id

    first, second = sidewarp.supervise(work, api=sidecars[0].api, volume=sidecars[0].volume)
    assert first != second


def test_supervised_work_finds_no_shared_receives_of_earlier_attempts(sidecars):
    found, sessions = [], []

    def work(session):
        sessions.append(session)
        request = ListSharedReceiveQueuesRequest(session=session.id)
        listed = session._transport.shared_receives.ListSharedReceiveQueues(request, timeout=PATIENCE)
        found.append(len(listed.shared_receive_queues))
        shared = session.shared_receives(4)
        session.create_connection(sidewarp.ConnectionOptions(shared_receive_queue=shared.id))
        if len(found) < 3:
            session.dial("127.0.0.1:1")

    sidewarp.supervise(
        work,
        api=sidecars[0].api,
        volume=sidecars[0].volume,
        on_failure=lambda error, pause: None,
    )
    assert found == [0, 0, 0] and len(set(sessions)) == 1


def test_supervision_ends_with_other_errors():
    with pytest.raises(ZeroDivisionError):
        sidewarp.supervise(lambda session: None, api="unix:///nowhere/api.sock", on_failure=lambda *_: 1 / 0)
