# Copyright The Sidewarp Authors
# SPDX-License-Identifier: Apache-2.0
"""Connections, and operations of one call each."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, Concatenate, Optional, ParamSpec

from sidewarp._drive import Blocking, Closable, Mailbox, blocking
from sidewarp.errors import (
    Code,
    DeadlineError,
    NotFoundError,
    RdmaError,
    Retry,
    SidewarpError,
    UnconfirmedError,
    rdma_of,
)
from sidewarp.region import RemoteAddress
from sidewarp.v1 import connection_pb2, device_pb2, transfer_pb2
from sidewarp.work import Completion, Work, completion_of

if TYPE_CHECKING:
    from sidewarp._session import SessionCore

ConnectionOptions = connection_pb2.ConnectionOptions
MpaOptions = connection_pb2.MpaOptions
P = ParamSpec("P")


def _performing(
    make: Callable[Concatenate[Any, P], Work]
) -> Callable[Concatenate[ConnectionCore, P], Coroutine[Any, Any, Completion]]:
    """Makes a method that carries out the work that `make` returns for the connection."""

    @functools.wraps(make)
    async def perform(self: ConnectionCore, /, *args: P.args, **kwargs: P.kwargs) -> Completion:
        return await self._perform(make(self, *args, **kwargs))

    return perform


class ConnectionCore(Closable):
    """A connection. It stays open until it is closed, whatever happens to this object.

    The methods that transfer data have the parameters of Work's methods without the connection. Each makes one call and
    returns the completion. A Write or a Send is complete when its memory can be changed again; see `flush`.

    `close` carries out all posted work first. It raises an error if earlier data may not have arrived. After a failure
    in the body of a `with` statement, the connection is aborted instead.
    """

    is_shared = False

    def __init__(self, session: SessionCore, description: connection_pb2.Connection) -> None:
        self._session = session
        #: Description of the contract: addresses, read depths and others, as they were when the connection was set up.
        self.description = description
        self.id: int = description.id
        self.state: int = description.state
        #: Protocol error that ended the connection, if there is one, and the text for people.
        self.error: Optional[RdmaError] = None
        self.reason = ""
        self._failed = self._told = False
        # Number of requests on queues. Number of all requests; of the last one with data; of the last confirmed one.
        self._posted = self._tickets = self._data = self._confirmed = 0
        self._count_lock = threading.Lock()
        self._end: Mailbox[None] = Mailbox(session._transport.loop)

    @property
    def private_data(self) -> bytes:
        """Private data of the peer. RemoteAddress.decode reads the address of a region from it."""
        return bytes(self.description.private_data)

    @property
    def peer_identity(self) -> str:
        """SPIFFE ID of the peer, which TLS has verified; empty without TLS."""
        return self.description.peer_identity

    @property
    def remote(self) -> RemoteAddress:
        """Address of a region that the peer sent as private data."""
        return RemoteAddress.decode(self.private_data)

    @property
    def is_closed(self) -> bool:
        return self.state == device_pb2.CONNECTION_STATE_CLOSED or not self._session.is_open

    def __repr__(self) -> str:
        state = device_pb2.ConnectionState.Name(self.state).removeprefix("CONNECTION_STATE_")
        return f"Connection({self.id}, {self.description.remote_address}:{self.description.remote_port}, {state})"

    async def _perform(self, work: Work) -> Completion:
        """Carries out one work request in a call of its own. Raises the failure of the work."""
        if work.receiver is not self:
            raise ValueError(f"the work is not for connection {self.id}")
        session = self._session
        session._check_open()
        ticket = self._count(work.carries_data)
        request = transfer_pb2.PerformRequest(session=session.id, work=work.to_proto())
        response = await session._transport.call(session._transport.transfer.Perform, request, limit=None)
        if work.is_answered:
            self._confirmed = max(self._confirmed, ticket)
        return completion_of(response.completion).or_raise()

    def _count(self, carries_data: bool, queued: int = 0) -> int:
        """Counts a request, and returns its number."""
        with self._count_lock:
            self._posted += queued
            self._tickets += 1
            if carries_data:
                self._data = self._tickets
            return self._tickets

    _write = _performing(Work.write)
    _read = _performing(Work.read)
    _send = _performing(Work.send)
    _receive = _performing(Work.receive)
    _immediate = _performing(Work.immediate)
    _fetch_add = _performing(Work.fetch_add)
    _compare_swap = _performing(Work.compare_swap)

    async def _flush(self) -> None:
        """Returns when the peer has placed all earlier data, also of queues. Otherwise raises the peer's error."""
        session = self._session
        session._check_open()
        ticket = self._count(False)
        request = transfer_pb2.FlushRequest(session=session.id, connection=self.id, after_posts=self._posted)
        await session._transport.call(session._transport.transfer.Flush, request, limit=None)
        self._confirmed = max(self._confirmed, ticket)

    async def _wait_closed(self, timeout: Optional[float] = None) -> None:
        """Waits until the connection is closed. `error` and `reason` then tell why.

        Raises SessionLostError if the session ends first, and DeadlineError after the time-out.
        """
        if not self.state == device_pb2.CONNECTION_STATE_CLOSED:
            await self._end.take(timeout, f"the end of connection {self.id}")
            self._end.put(None)

    async def _info(self) -> connection_pb2.Connection:
        """Returns the present description, with counters."""
        for description in await self._session._connections():
            if description.id == self.id:
                return description
        raise NotFoundError(f"connection {self.id} is closed and gone")

    async def _disconnect(self) -> None:
        """Carries out all posted work, and closes. Waits for the peer without a limit. Raises if data may be lost."""
        try:
            await self._start_disconnect(abort=False, limit=None)
        except SidewarpError as e:
            # After FAILED_PRECONDITION the connection is still open.
            self._told = e.code is not Code.FAILED_PRECONDITION
            raise

    async def _abort(self) -> None:
        """Closes at once. Outstanding work fails."""
        try:
            await self._start_disconnect(abort=True, limit=self._session._transport.timeout)
        except SidewarpError:
            if not self.is_closed and self._session.is_open:
                raise

    async def _close(self) -> None:
        session = self._session
        ended_well = self.state == device_pb2.CONNECTION_STATE_CLOSED and not self._failed
        if self._told or ended_well or session.is_closed:
            return
        may_lose_data = self._may_lose_data()
        self._told = True
        try:
            session._check_open()
            await self._start_disconnect(abort=False, limit=session._transport.timeout)
        except SidewarpError as e:
            if session.is_open and not isinstance(e, (NotFoundError, DeadlineError)):
                if e.code is not Code.FAILED_PRECONDITION:
                    raise
            if session.is_open:
                await self._abort()
            if may_lose_data:
                raise unconfirmed(f"connection {self.id}", e) from e

    async def _leave(self, failed: bool) -> None:
        await (self._abort() if failed else self._close())

    def _may_lose_data(self) -> bool:
        """Returns whether earlier data is not confirmed, and the application was not told."""
        return self._data > self._confirmed and not self._told

    def _start_disconnect(self, abort: bool, limit: Optional[float]) -> Any:
        session = self._session
        request = connection_pb2.DisconnectRequest(
            session=session.id, connection=self.id, abort=abort, after_posts=0 if abort else self._posted
        )
        return session._transport.call(session._transport.connections.Disconnect, request, limit)

    def _establish(self, description: connection_pb2.Connection) -> None:
        """Takes the answer of Connect or Accept for a connection that was created before."""
        self.description = description
        if self.state in (device_pb2.CONNECTION_STATE_IDLE, device_pb2.CONNECTION_STATE_CONNECTING):
            self.state = description.state

    def _on_event(self, event: device_pb2.ConnectionStateChange) -> None:
        self.state = event.state
        self.reason = event.message
        if event.HasField("error"):
            self.error = rdma_of(event.error)
        self._failed |= event.HasField("error") or event.state == device_pb2.CONNECTION_STATE_TERMINATED
        if event.state == device_pb2.CONNECTION_STATE_CLOSED:
            self._end.put(None)


def unconfirmed(what: str, cause: SidewarpError) -> UnconfirmedError:
    return UnconfirmedError(
        f"earlier Writes and Sends of {what} may not have arrived: {cause}; a flush that succeeds tells what has"
        " arrived",
        Code.UNAVAILABLE,
        Retry.AFTER_RECONNECTING,
        cause.rdma,
    )


class Connection(ConnectionCore, Blocking):
    __doc__ = ConnectionCore.__doc__
    perform = blocking(ConnectionCore._perform)
    write = blocking(ConnectionCore._write)
    read = blocking(ConnectionCore._read)
    send = blocking(ConnectionCore._send)
    receive = blocking(ConnectionCore._receive)
    immediate = blocking(ConnectionCore._immediate)
    fetch_add = blocking(ConnectionCore._fetch_add)
    compare_swap = blocking(ConnectionCore._compare_swap)
    flush = blocking(ConnectionCore._flush)
    wait_closed = blocking(ConnectionCore._wait_closed)
    info = blocking(ConnectionCore._info)
    disconnect = blocking(ConnectionCore._disconnect)
    abort = blocking(ConnectionCore._abort)
