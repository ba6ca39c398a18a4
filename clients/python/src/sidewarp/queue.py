# Copyright The Sidewarp Authors
# SPDX-License-Identifier: Apache-2.0
"""Work queues: many work requests under way at a time, over rings in shared memory or over a gRPC call."""

from __future__ import annotations

import collections
import functools
import logging
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Concatenate, Literal, Optional, ParamSpec, TypeVar, Union

from sidewarp._drive import Loop, OfProcess
from sidewarp.errors import ClosedError, DeadlineError, SidewarpError, WorkError
from sidewarp.work import Completion, Opcode, Status, Work

if TYPE_CHECKING:
    from sidewarp._session import SessionCore
    from sidewarp.connection import ConnectionCore

#: Paths of a queue: rings where they are possible and the gRPC call elsewhere, or one of them.
Path = Literal["any", "rings", "grpc"]
#: Ways to wait for completions in rings. `adaptive` polls for 50 microseconds and then sleeps. `yield` polls, and
#: offers the processor to others. `spin` polls without a pause. `sleep` sleeps at once.
Wait = Literal["adaptive", "yield", "spin", "sleep"]
_LOG = logging.getLogger("sidewarp")
P = ParamSpec("P")
B = TypeVar("B", bound="Batch")


class Pending:
    """A work request under way. `wait()` for it in the blocking API; `await` it with asyncio."""

    __slots__ = ("_queue", "work", "_ticket", "_outcome", "_callbacks", "context")

    def __init__(self, queue: Queue, work: Work, context: Any) -> None:
        self._queue = queue
        self.work = work
        self.context = context
        self._ticket = 0
        self._outcome: Union[Completion, SidewarpError, None] = None
        self._callbacks: Optional[list[Callable[[Pending], Any]]] = None

    def done(self) -> bool:
        return self._outcome is not None

    def wait(self, timeout: Optional[float] = None) -> Completion:
        """Waits for the completion, at most `timeout` seconds.

        Raises WorkError if the work failed, and DeadlineError after the time-out. The work goes on then.
        """
        if self._outcome is None:
            self._queue._wait_for(self.done, timeout)
        return self.result()

    def result(self) -> Completion:
        """Returns the completion of work that is done, or raises WorkError if the work failed."""
        outcome = self._outcome
        if isinstance(outcome, Completion):
            return outcome if outcome.status is Status.SUCCESS else outcome.or_raise()
        if outcome is None:
            raise RuntimeError("the work is not done yet; use wait() or await")
        raise outcome.with_traceback(None)

    def exception(self) -> Optional[SidewarpError]:
        """Returns the failure of work that is done, or None for a success."""
        try:
            self.result()
        except SidewarpError as e:
            return e
        return None

    def add_done_callback(self, callback: Callable[[Pending], Any]) -> None:
        """Calls `callback(pending)` when the work is done; at once if it is done already.

        With asyncio the event loop calls it, and else the thread that waits or the queue's own. It must not block.
        """
        with self._queue._lock:
            if self._outcome is None:
                self._callbacks = [*(self._callbacks or ()), callback]
                return
        callback(self)

    def __await__(self) -> Generator[Any, Any, Completion]:
        if self._outcome is None:
            loop = self._queue._loop
            if loop is None:
                raise RuntimeError("a queue of the blocking API cannot be awaited: use wait(), or sidewarp.aio")
            future = loop.create_future()
            self.add_done_callback(lambda _: None if future.done() else future.set_result(None))
            yield from future
        return self.result()

    def _finish(self, outcome: Union[Completion, SidewarpError]) -> None:
        with self._queue._lock:
            self._outcome = outcome
            callbacks, self._callbacks = self._callbacks, None
        for callback in callbacks or ():
            try:
                callback(self)
            except Exception:
                _LOG.exception("a callback of %s failed", self.work.opcode.name)


def _posting(make: Callable[P, Work]) -> Callable[Concatenate[_Poster, P], Pending]:
    """Makes a method that posts the work that `make` returns."""

    @functools.wraps(make)
    def post(self: _Poster, /, *args: P.args, **kwargs: P.kwargs) -> Pending:
        return self.post(make(*args, **kwargs))

    return post


class _Poster:
    """Methods that post work. They have the parameters of the methods of Work with the same names."""

    def post(self, work: Work, context: Any = None) -> Pending:
        """Posts prepared work. `Pending.context` is for the application.

        Without room, the blocking API waits for completions. With asyncio, the work waits in the queue for its turn.
        """
        raise NotImplementedError

    write = _posting(Work.write)
    read = _posting(Work.read)
    send = _posting(Work.send)
    receive = _posting(Work.receive)
    immediate = _posting(Work.immediate)
    fetch_add = _posting(Work.fetch_add)
    compare_swap = _posting(Work.compare_swap)
    flush = _posting(Work.flush)
    invalidate = _posting(Work.invalidate)
    enable = _posting(Work.enable)


class Queue(OfProcess, _Poster):
    """A queue of work for all connections of a session, for both APIs. Thread-safe in the blocking API.

    Work of one connection begins in the order of its posts. Close the queue at the end: work that is not complete then
    is carried out nevertheless, and its Pending fails with ClosedError.
    """

    #: Path that the queue uses: "rings" or "grpc".
    path: str
    _loop: Loop

    def __init__(self, session: SessionCore) -> None:
        super().__init__()
        self._session = session
        self._loop = session._transport.loop
        self._lock: Any = threading.RLock()
        self._outstanding: dict[int, Pending] = {}
        self._last_id = 0
        #: Connections whose latest work is unsignaled.
        self._silent: dict[int, ConnectionCore] = {}
        self._end: Optional[SidewarpError] = None
        #: Failures of unsignaled work. The latest 64 are kept.
        self.failures: collections.deque[WorkError] = collections.deque(maxlen=64)

    def post(self, work: Work, context: Any = None) -> Pending:
        pending = Pending(self, work, context)
        self._post(work, pending, True)
        return pending

    def post_unsignaled(self, work: Work) -> None:
        """Posts work that has no completion when it succeeds.

        A later completion of the same connection's send work, and `drain`, tell that the work is complete. Its memory
        is in use until then. `failures` has the failures.
        """
        if work.is_receive:
            raise ValueError("a receive cannot be unsignaled; use post")
        self._post(work, None, True)

    def post_all(self, works: Sequence[Work], context: Any = None) -> Pending:
        """Posts work of one connection in order, and returns the last request. The others are unsignaled.

        The last request completes when all are complete. This is the fastest way to stream, because
        Python's own time for each request is the shortest. Raises ValueError for receives, or for work of several connections.
        """
        if not works or any(work.is_receive or work.receiver is not works[0].receiver for work in works):
            raise ValueError("post_all takes send work of one connection, at least one request; use post for other work")
        self._post_silently(works[:-1])
        return self.post(works[-1], context)

    def batch(self) -> Batch:
        """Returns a batch, which posts several requests and wakes the sidecar once.

        with queue.batch() as batch:
            batch.write(...)
            batch.write(...)
        batch.wait()  # or: await batch
        """
        return Batch(self)

    @property
    def outstanding(self) -> int:
        """Number of signaled requests that are not complete."""
        return len(self._outstanding)

    def poll(self, timeout: float = 0.0) -> int:
        """Takes completions, and waits for the first one at most `timeout` seconds. Blocking API only.

        Callbacks run meanwhile. Returns the number of requests that were completed.
        """
        before = self._last_id - len(self._outstanding)
        try:
            self._wait_for(lambda: self._last_id - len(self._outstanding) != before, timeout)
        except DeadlineError:
            pass
        return self._last_id - len(self._outstanding) - before

    def drain(self) -> Batch:
        """Returns a batch of all work under way except receives: `queue.drain().wait()`, or `await queue.drain()`.

        The batch raises the first failure, also of unsignaled work.
        """
        with self._lock:
            silent, self._silent = list(self._silent.values()), {}
            batch = Batch(self, raises_unsignaled=True)
            batch.pending = [pending for pending in self._outstanding.values() if not pending.work.is_receive]
        for connection in silent:
            # The completion of an empty Write confirms the unsignaled work before it.
            batch.post(Work(connection, Opcode.WRITE))
        return batch

    def close(self) -> None:
        """Ends the queue. Work that was posted is carried out."""
        self._finish(ClosedError("the queue is closed; open another one with session.queue()"))

    def __enter__(self) -> Queue:
        return self

    def __exit__(
        self, kind: Optional[type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self.close()

    async def __aenter__(self) -> Queue:
        return self

    async def __aexit__(self, *failure: Any) -> None:
        self.close()

    def _check_usable(self) -> None:
        self._check_process()
        if self._end is not None:
            raise self._end.with_traceback(None)

    def _count(self, work: Work, pending: Optional[Pending], number: int = 1) -> None:
        """Counts work that is posted now: `number` requests like this one. Needs the lock."""
        if work.receiver.is_shared:
            return
        connection: Any = work.receiver
        ticket = connection._count(work.carries_data, number)
        if pending is not None:
            pending._ticket = ticket
        if not work.is_receive:
            if pending is None:
                self._silent[connection.id] = connection
            elif self._silent:
                self._silent.pop(connection.id, None)

    def _complete(self, id: int, completion: Completion) -> None:
        """Takes the completion of a request; `id` is 0 for unsignaled work."""
        pending = self._outstanding.pop(id, None)
        if pending is None:
            if failure := completion.failure():
                self.failures.append(failure)
            return
        work = pending.work
        if work.is_answered and completion.status is Status.SUCCESS:
            connection: Any = work.receiver
            connection._confirmed = max(connection._confirmed, pending._ticket)
        pending._finish(completion)

    def _finish(self, reason: SidewarpError) -> bool:
        """Ends the queue for a reason, once. Returns False if it has ended already."""
        with self._lock:
            if self._end is not None:
                return False
            self._end = reason
            pending, self._outstanding = list(self._outstanding.values()), {}
        self._session._forget(self)
        self._release()
        for request in pending:
            request._finish(reason)
        return True

    def _post(self, work: Work, pending: Optional[Pending], wake: bool) -> None:
        """Posts work. Without `wake`, the sidecar may sleep until `_wake` is called."""
        raise NotImplementedError

    def _post_silently(self, works: Sequence[Work]) -> None:
        """Posts unsignaled work of one connection. The sidecar may sleep until more is posted."""
        for work in works:
            self._post(work, None, False)

    def _wake(self) -> None:
        """Lets the sidecar see all that was posted."""
        raise NotImplementedError

    def _wait(self, ready: Callable[[], bool], deadline: Optional[float]) -> None:
        """Takes completions until `ready()` is true, the deadline is over, or the queue has ended."""
        raise NotImplementedError

    def _release(self) -> None:
        """Releases all resources of the ended queue."""
        raise NotImplementedError

    def _wait_for(self, ready: Callable[[], bool], timeout: Optional[float]) -> None:
        self._check_process()
        if self._loop is not None:
            raise RuntimeError("a queue of sidewarp.aio does not block: use await")
        deadline = None if timeout is None else time.monotonic() + timeout
        self._wait(ready, deadline)
        if not ready():
            if self._end is not None:
                raise self._end.with_traceback(None)
            raise DeadlineError(f"the queue had no completion for {timeout} s")


class Batch(_Poster):
    """Work that is posted together; see Queue.batch."""

    def __init__(self, queue: Queue, raises_unsignaled: bool = False) -> None:
        self._queue = queue
        self._raises_unsignaled = raises_unsignaled
        self.pending: list[Pending] = []

    def post(self, work: Work, context: Any = None) -> Pending:
        pending = Pending(self._queue, work, context)
        self._queue._post(work, pending, False)
        self.pending.append(pending)
        return pending

    def __enter__(self: B) -> B:
        return self

    def __exit__(
        self, kind: Optional[type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self._queue._wake()

    def wait(self, timeout: Optional[float] = None) -> list[Completion]:
        """Waits for all completions, and returns them in the order of posting. Raises the first failure."""
        work = self.pending
        self._queue._wake()
        # The last completion usually comes last, so that few requests are looked at in vain.
        self._queue._wait_for(lambda: all(pending.done() for pending in reversed(work)), timeout)
        return self._results()

    def __await__(self) -> Generator[Any, Any, list[Completion]]:
        self._queue._wake()
        for pending in self.pending:
            try:
                yield from pending.__await__()
            except SidewarpError:
                # All work is awaited before the first failure is raised.
                pass
        return self._results()

    def _results(self) -> list[Completion]:
        if self._raises_unsignaled and self._queue.failures:
            raise self._queue.failures.popleft()
        return [pending.result() for pending in self.pending]


def as_completed(work: Iterable[Pending], timeout: Optional[float] = None) -> Iterator[Pending]:
    """Yields requests of one queue of the blocking API as they complete, whatever their outcome.

    Raises DeadlineError if none completes for `timeout` seconds.
    """
    done: collections.deque[Pending] = collections.deque()
    requests = list(work)
    for pending in requests:
        pending.add_done_callback(done.append)
    for _ in requests:
        if not done:
            requests[0]._queue._wait_for(lambda: bool(done), timeout)
        yield done.popleft()
