# Copyright The Sidewarp Authors
# SPDX-License-Identifier: Apache-2.0
"""A queue over the Queue call, for processes that cannot use rings."""

from __future__ import annotations

import collections
import queue as queues
import threading
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Optional

from sidewarp._drive import Promise
from sidewarp.errors import SidewarpError, UnavailableError
from sidewarp.queue import Pending, Queue
from sidewarp.v1 import transfer_pb2
from sidewarp.work import Work, completion_of

if TYPE_CHECKING:
    from sidewarp._session import SessionCore

#: Requests in one message. A request with 16 parts has about 600 bytes, and a message at most 256 KiB.
_MESSAGE = 256


class GrpcQueue(Queue):
    """A queue over the Queue call. A thread reads the completions.

    All work is sent signaled. So each completion returns the credit of its own work only.
    """

    path = "grpc"

    def __init__(self, session: SessionCore, outstanding: int) -> None:
        super().__init__(session)
        self._arrived = threading.Condition(self._lock)
        self._credits = 0
        #: Receives under way. They leave the last credit to send work.
        self._receives: set[int] = set()
        #: Unsignaled work under way.
        self._unsignaled: set[int] = set()
        self._waiting: collections.deque[tuple[Work, int]] = collections.deque()
        self._posts: queues.SimpleQueue[Optional[transfer_pb2.WorkRequest]] = queues.SimpleQueue()
        self.opened: Promise[int] = Promise(self._loop, session._transport.timeout, "an open queue")
        self._call = session._transport.transfer.Queue(self._requests(outstanding))
        session._transport.read(self._call, self._on_response, self._on_end, "queue")

    def _requests(self, outstanding: int) -> Iterator[transfer_pb2.QueueRequest]:
        yield transfer_pb2.QueueRequest(
            open=transfer_pb2.QueueOpen(session=self._session.id, outstanding=outstanding)
        )
        while (request := self._posts.get()) is not None:
            work = [request]
            while len(work) < _MESSAGE and not self._posts.empty():
                if (request := self._posts.get()) is None:
                    yield transfer_pb2.QueueRequest(post=transfer_pb2.QueuePost(work=work))
                    return
                work.append(request)
            yield transfer_pb2.QueueRequest(post=transfer_pb2.QueuePost(work=work))

    def _post(self, work: Work, pending: Optional[Pending], wake: bool) -> None:
        with self._lock:
            self._check_usable()
            self._last_id = id = self._last_id + 1
            if pending is None:
                self._unsignaled.add(id)
            else:
                self._outstanding[id] = pending
            self._count(work, pending)
            self._waiting.append((work, id))
            self._send_waiting()
            if self._loop is None and self._waiting:
                self._wait(lambda: not any(waiting == id for _, waiting in self._waiting), None)
                self._check_usable()

    def _send_waiting(self) -> None:
        """Sends the work for which there are credits. Needs the lock."""
        while self._waiting:
            work, id = self._waiting[0]
            taken = len(self._outstanding) + len(self._unsignaled) - len(self._waiting)
            if taken >= self._credits or (work.is_receive and len(self._receives) >= self._credits - 1):
                return
            self._waiting.popleft()
            if work.is_receive:
                self._receives.add(id)
            self._posts.put(work.to_proto(id))

    def _wake(self) -> None:
        pass

    def _wait(self, ready: Callable[[], bool], deadline: Optional[float]) -> None:
        with self._arrived:
            while not ready() and self._end is None:
                left = None if deadline is None else deadline - time.monotonic()
                if left is not None and left <= 0:
                    return
                self._arrived.wait(left)

    def _on_response(self, response: transfer_pb2.QueueResponse) -> None:
        if response.HasField("opened"):
            with self._lock:
                self._credits = response.opened.credits
            self.opened.set(response.opened.credits)
        else:
            self._session._transport.deliver(self._deliver, response)

    def _deliver(self, response: transfer_pb2.QueueResponse) -> None:
        for completion in response.completions.completions:
            with self._lock:
                self._receives.discard(completion.id)
                self._unsignaled.discard(completion.id)
            self._complete(completion.id, completion_of(completion))
        with self._arrived:
            self._send_waiting()
            self._arrived.notify_all()

    def _on_end(self, failure: Optional[SidewarpError]) -> None:
        reason = failure or UnavailableError("the sidecar ended the queue before its work was complete")
        self.opened.fail(reason)
        self._session._transport.deliver(self._finish, reason)

    def _release(self) -> None:
        # Ends the requests, so that the sidecar carries out the posted work and then ends the call.
        self._posts.put(None)
        with self._arrived:
            self._arrived.notify_all()


async def open_grpc(session: SessionCore, outstanding: int) -> GrpcQueue:
    session._transport._check_process()
    queue = GrpcQueue(session, outstanding)
    try:
        await queue.opened
    except BaseException:
        queue.close()
        raise
    return queue
