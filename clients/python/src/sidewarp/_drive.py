# Copyright The Sidewarp Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs the coroutines of the client, with and without asyncio.

Each operation is written once, as a coroutine that awaits promises. The blocking API runs the coroutine with `run`,
which waits for each promise in the calling thread. In the asyncio API, the application's event loop runs it.
"""

from __future__ import annotations

import asyncio
import collections
import concurrent.futures
import functools
import os
import threading
from collections.abc import Callable, Coroutine, Generator
from types import TracebackType
from typing import Any, Generic, Optional, ParamSpec, TypeVar

from sidewarp.errors import DeadlineError, ForkedError, SidewarpError

P = ParamSpec("P")
T = TypeVar("T")
C = TypeVar("C", bound="Closable")
Loop = Optional[asyncio.AbstractEventLoop]


class Promise(Generic[T]):
    """A value that another thread provides once. Cancelling an asyncio task that waits ends only the wait."""

    def __init__(self, loop: Loop, limit: Optional[float] = None, what: str = "an answer of the sidecar") -> None:
        self._loop = loop
        self._limit = limit
        self._what = what
        self.future: concurrent.futures.Future[T] = concurrent.futures.Future()

    def set(self, value: T) -> bool:
        """Sets the value. Returns False if nobody can get it any more."""
        if self.future.done() or not self.future.set_running_or_notify_cancel():
            return False
        self.future.set_result(value)
        return True

    def fail(self, error: BaseException) -> None:
        if not self.future.done() and self.future.set_running_or_notify_cancel():
            self.future.set_exception(error)

    def wait(self) -> T:
        """Blocks until the value is there, for the blocking API."""
        try:
            return self.future.result(self._limit)
        except concurrent.futures.TimeoutError as e:
            if isinstance(e, DeadlineError):
                raise
            raise DeadlineError(f"waited {self._limit} s for {self._what}") from None

    def __await__(self) -> Generator[Any, Any, T]:
        if self._loop is None:
            return (yield self)
        try:
            return (yield from asyncio.wait_for(asyncio.wrap_future(self.future), self._limit).__await__())
        except asyncio.TimeoutError as e:
            if isinstance(e, DeadlineError):
                raise
            raise DeadlineError(f"waited {self._limit} s for {self._what}") from None


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    """Runs a coroutine in the calling thread until it returns."""
    try:
        promise = coroutine.send(None)
        while True:
            try:
                value = promise.wait()
            except BaseException as e:
                promise = coroutine.throw(e)
            else:
                promise = coroutine.send(value)
    except StopIteration as stop:
        result: T = stop.value
        return result


def blocking(coroutine: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, T]:
    """Makes a method that blocks from a coroutine method."""

    @functools.wraps(coroutine)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        return run(coroutine(*args, **kwargs))

    return call


def blocking_as(kind: type[T], coroutine: Callable[P, Coroutine[Any, Any, Any]]) -> Callable[P, T]:
    """Does the same as `blocking`, and tells type checkers the type of the result."""
    return blocking(coroutine)


class Closable:
    """An object that is closed explicitly. Garbage collection does not close it."""

    async def _close(self) -> None:
        raise NotImplementedError

    async def _leave(self, failed: bool) -> None:
        """Ends a `with` statement. After a failure of its body, that failure says more than one of the end."""
        try:
            await self._close()
        except (SidewarpError, BufferError):
            if not failed:
                raise


class Blocking(Closable):
    """`close` and `with` of the blocking API."""

    def close(self) -> None:
        """Closes the object; see the description of its class."""
        run(self._close())

    def __enter__(self: C) -> C:
        return self

    def __exit__(
        self, kind: Optional[type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        run(self._leave(kind is not None))


class Async(Closable):
    """`close` and `async with` of the asyncio API."""

    async def close(self) -> None:
        """Closes the object; see the description of its class."""
        await self._close()

    async def __aenter__(self: C) -> C:
        return self

    async def __aexit__(
        self, kind: Optional[type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        await self._leave(kind is not None)


class Opening(Generic[T]):
    """The result of a coroutine: `await` it, or use it with `async with`."""

    def __init__(self, coroutine: Coroutine[Any, Any, T]) -> None:
        self._coroutine: Coroutine[Any, Any, Any] = coroutine
        self._opened: Any = None

    def __await__(self) -> Generator[Any, Any, T]:
        return self._coroutine.__await__()

    async def __aenter__(self) -> T:
        self._opened = await self._coroutine
        entered: T = await self._opened.__aenter__()
        return entered

    async def __aexit__(
        self, kind: Optional[type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        await self._opened.__aexit__(kind, error, trace)


def opening(coroutine: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, Opening[T]]:
    """Makes a method whose result can be awaited, or entered with `async with`."""

    @functools.wraps(coroutine)
    def call(*args: P.args, **kwargs: P.kwargs) -> Opening[T]:
        return Opening(coroutine(*args, **kwargs))

    return call


def opening_as(kind: type[T], coroutine: Callable[P, Coroutine[Any, Any, Any]]) -> Callable[P, Opening[T]]:
    """Does the same as `opening`, and tells type checkers the type of the result."""
    return opening(coroutine)


class Mailbox(Generic[T]):
    """Passes items from a thread that reads a stream to the application, in order."""

    def __init__(self, loop: Loop) -> None:
        self._loop = loop
        self._lock = threading.Lock()
        self._items: collections.deque[T] = collections.deque()
        self._waiters: collections.deque[Promise[T]] = collections.deque()
        self._end: Optional[BaseException] = None

    def put(self, item: T) -> None:
        with self._lock:
            while self._waiters:
                if self._waiters.popleft().set(item):
                    return
            self._items.append(item)

    def end(self, error: BaseException) -> None:
        """Fails all waits behind the items that are there. Does nothing if the box has ended already."""
        with self._lock:
            if self._end is None:
                self._end = error
                while self._waiters:
                    self._waiters.popleft().fail(error)

    @property
    def ended(self) -> bool:
        return self._end is not None

    async def take(self, timeout: Optional[float], what: str) -> T:
        """Takes the next item. Raises DeadlineError after `timeout` seconds, or the reason of the end."""
        promise: Promise[T] = Promise(self._loop, timeout, what)
        with self._lock:
            if self._items:
                return self._items.popleft()
            if self._end is not None:
                raise self._end
            self._waiters.append(promise)
        try:
            return await promise
        except BaseException:
            if not promise.future.cancel() and promise.future.exception() is None:
                # The item came when the wait had ended already.
                with self._lock:
                    self._items.appendleft(promise.future.result())
            raise


class _Forks:
    """Recognises objects of a parent process."""

    #: Number of forks that lead to this process.
    generation = 0
    #: True if this process, or one that it was forked from, has used gRPC.
    used_grpc = False
    #: Functions that run in a child process, for example to close its copy of a socket.
    in_child: set[Callable[[], None]] = set()


def _after_fork_in_child() -> None:
    _Forks.generation += 1
    for action in list(_Forks.in_child):
        action()
    _Forks.in_child.clear()


os.register_at_fork(after_in_child=_after_fork_in_child)


def begin_grpc() -> None:
    """Raises ForkedError in a child of a process that has used gRPC, because gRPC does not work there."""
    if _Forks.used_grpc and _Forks.generation:
        raise _forked()
    _Forks.used_grpc = True


def _forked() -> ForkedError:
    return ForkedError(
        f"process {os.getpid()} was forked from a process with a Sidewarp session, and gRPC does not work in such a"
        " child. Fork before the first sidewarp.connect(), or start the child with multiprocessing's method 'spawn'."
    )


class OfProcess:
    """An object that only the process that made it can use."""

    def __init__(self) -> None:
        self._generation = _Forks.generation

    def _check_process(self) -> None:
        """Raises ForkedError in a child process."""
        if self._generation != _Forks.generation:
            raise _forked()


def in_child(action: Callable[[], None]) -> Callable[[], None]:
    """Runs an action in each child process that is forked. Returns a function that ends this."""
    _Forks.in_child.add(action)
    return lambda: _Forks.in_child.discard(action)
