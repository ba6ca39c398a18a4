# Copyright The Sidewarp Authors
# SPDX-License-Identifier: Apache-2.0
"""The gRPC channel to a sidecar: its address, unary calls and streams."""

from __future__ import annotations

import ctypes
import logging
import os
import threading
from collections.abc import Callable, Iterator
from typing import Any, Optional

import grpc

from sidewarp import errors
from sidewarp._drive import Loop, OfProcess, Promise, begin_grpc, in_child
from sidewarp.v1 import connection_pb2_grpc, device_pb2_grpc, memory_pb2_grpc
from sidewarp.v1 import ring_pb2_grpc, shared_receive_queue_pb2_grpc, transfer_pb2_grpc

DEFAULT_API = "unix:///run/sidewarp/api.sock"
_LOG = logging.getLogger("sidewarp")
_OPTIONS = (
    ("grpc.max_receive_message_length", 64 << 20),
    # Work must not be carried out twice.
    ("grpc.enable_retries", 0),
    ("grpc.enable_http_proxy", 0),
    # A new channel connects at once, although an earlier channel could not connect.
    ("grpc.use_local_subchannel_pool", 1),
)


def socket_path(target: str) -> Optional[str]:
    """Returns the path of a target such as `unix:///run/sidewarp/api.sock`, or None for host and port."""
    if not target.startswith("unix:"):
        host, colon, port = target.rpartition(":")
        if not (colon and host and port.isdigit()) or "/" in target:
            raise ValueError(
                f'cannot use "{target}" as a sidecar\'s address; write unix:///run/sidewarp/api.sock or localhost:7470'
            )
        return None
    path = target.removeprefix("unix:")
    path = path[2:] if path.startswith("//") else path
    if not path:
        raise ValueError(f'the address "{target}" has no path; write unix:///run/sidewarp/api.sock')
    return os.path.abspath(path)


class Transport(OfProcess):
    """A channel and its stubs."""

    def __init__(self, target: str, timeout: float, loop: Loop) -> None:
        super().__init__()
        begin_grpc()
        self.target = target
        self.socket = socket_path(target)
        self.timeout = timeout
        self.loop = loop
        self._channel = grpc.insecure_channel(target, options=_OPTIONS)
        self.devices = device_pb2_grpc.DeviceServiceStub(self._channel)
        self.memory = memory_pb2_grpc.MemoryServiceStub(self._channel)
        self.connections = connection_pb2_grpc.ConnectionServiceStub(self._channel)
        self.transfer = transfer_pb2_grpc.TransferServiceStub(self._channel)
        self.rings = ring_pb2_grpc.RingServiceStub(self._channel)
        self.shared_receives = shared_receive_queue_pb2_grpc.SharedReceiveQueueServiceStub(self._channel)
        # gRPC cancels a call whose object is collected as garbage, so this set keeps the running calls.
        self._running: set[Any] = set()
        self._forget_fork = in_child(self._keep_forever)

    def call(self, method: Any, request: Any, limit: Optional[float] = -1) -> Promise[Any]:
        """Starts a unary call, which fails after `limit` seconds. None is for calls that wait for a peer."""
        self._check_process()
        if limit == -1:
            limit = self.timeout
        promise: Promise[Any] = Promise(self.loop)
        rpc = method.future(request, timeout=limit)
        self._running.add(rpc)

        def done(_: Any) -> None:
            self._running.discard(rpc)
            failure = rpc.exception()
            if failure is None:
                promise.set(rpc.result())
            else:
                promise.fail(errors.from_rpc(rpc, self.target))

        rpc.add_done_callback(done)
        return promise

    async def create(
        self, method: Any, request: Any, undo: Callable[[Any], None], limit: Optional[float] = -1
    ) -> Any:
        """Makes a call that creates an object, and waits at most `limit` seconds; None if it waits for a peer.

        Such a call must not be cancelled, because only its answer names the object. If the caller stops waiting, the
        call goes on, and `undo` gets the answer.
        """
        promise = self.call(method, request, limit=None)
        try:
            return await _shielded(promise, self.timeout if limit == -1 else limit)
        except BaseException:
            promise.future.add_done_callback(lambda future: None if future.exception() else undo(future.result()))
            raise

    def forget(self, method: Any, request: Any) -> None:
        """Starts a call whose outcome matters to nobody, such as the release of an unused object."""

        def done(future: Any) -> None:
            if failure := future.exception():
                _LOG.debug("the release of an unused object failed: %s", failure)

        self.call(method, request).future.add_done_callback(done)

    def read(
        self,
        stream: Iterator[Any],
        on_message: Callable[[Any], None],
        on_end: Callable[[Optional[errors.SidewarpError]], None],
        name: str,
    ) -> None:
        """Reads a stream in a thread. The thread keeps the call, which garbage collection would cancel."""
        self._running.add(stream)

        def loop() -> None:
            failure: Optional[errors.SidewarpError] = None
            try:
                for message in stream:
                    on_message(message)
            except grpc.RpcError as e:
                failure = errors.from_rpc(e, self.target)
            self._running.discard(stream)
            on_end(failure)

        threading.Thread(target=loop, name=f"sidewarp-{name}", daemon=True).start()

    def deliver(self, action: Callable[..., Any], *arguments: Any) -> None:
        """Runs an action for the application: in its event loop, or else in this thread."""
        if self.loop is None:
            action(*arguments)
            return
        try:
            self.loop.call_soon_threadsafe(action, *arguments)
        except RuntimeError:
            # The event loop is closed, and nobody waits any more.
            pass

    def _keep_forever(self) -> None:
        """Keeps the objects of gRPC in a child process. Their end would end the calls of the parent process."""
        for kept in (self._channel, *self._running):
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(kept))

    def close(self) -> None:
        self._forget_fork()
        self._channel.close()


def _shielded(promise: Promise[Any], limit: Optional[float]) -> Promise[Any]:
    """Returns a promise with a limit, whose cancellation does not cancel the given one."""
    shield: Promise[Any] = Promise(promise._loop, limit)

    def done(future: Any) -> None:
        failure = future.exception()
        if failure is None:
            shield.set(future.result())
        else:
            shield.fail(failure)

    promise.future.add_done_callback(done)
    return shield
