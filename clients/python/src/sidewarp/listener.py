# Copyright The Sidewarp Authors
# SPDX-License-Identifier: Apache-2.0
"""Listeners, and the connection requests that they bring."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Optional

from sidewarp._drive import Blocking, Closable, Mailbox, blocking, blocking_as, run
from sidewarp.connection import Connection, ConnectionCore, ConnectionOptions
from sidewarp.errors import ClosedError, SidewarpError, UnavailableError
from sidewarp.v1 import connection_pb2

if TYPE_CHECKING:
    from sidewarp._session import SessionCore


class IncomingCore:
    """A connection request. Accept or reject it before the set-up time of the listener is over."""

    def __init__(self, listener: ListenerCore, request: connection_pb2.ConnectionRequest) -> None:
        self._listener = listener
        #: Request of the contract: address of the peer, its read depths, and the room for private data.
        self.request = request
        self.id: int = request.id

    @property
    def private_data(self) -> bytes:
        return bytes(self.request.private_data)

    @property
    def peer_identity(self) -> str:
        """SPIFFE ID of the peer, which TLS has verified; empty without TLS."""
        return self.request.peer_identity

    async def _accept(
        self,
        *,
        private_data: Optional[bytes] = None,
        options: Optional[ConnectionOptions] = None,
        connection: Optional[ConnectionCore] = None,
    ) -> Any:
        """Accepts the request.

        `private_data` and `options` are those of the listener by default. `connection` is one that was created before,
        for example to post receives that the peer's first message needs; it has its options already.
        """
        listener, session = self._listener, self._listener._session
        request = connection_pb2.AcceptRequest(
            session=session.id,
            request=self.id,
            options=None if connection else options or listener._accept_options,
            private_data=listener._private_data if private_data is None else private_data,
            connection=connection.id if connection else 0,
            after_posts=connection._posted if connection else 0,
        )
        return await session._set_up(session._transport.connections.Accept, request, connection)

    async def _reject(self, private_data: bytes = b"") -> None:
        """Rejects the request. The peer gets RejectedError with the private data."""
        session = self._listener._session
        request = connection_pb2.RejectRequest(session=session.id, request=self.id, private_data=private_data)
        await session._transport.call(session._transport.connections.Reject, request)


class ListenerCore(Closable):
    """Listens for connections until it is closed, whatever happens to this object.

    Iterating accepts all requests, and yields the connections.
    """

    _incoming_type: type[IncomingCore]

    def __init__(
        self, session: SessionCore, private_data: bytes, accept_options: Optional[ConnectionOptions]
    ) -> None:
        self._session = session
        self._private_data = private_data
        self._accept_options = accept_options
        self._call: Any = None
        self._box: Mailbox[connection_pb2.ListenResponse] = Mailbox(session._transport.loop)
        self.address = ""
        self.port = 0
        #: UDP port for peers where SCTP is encapsulated in UDP; otherwise 0.
        self.udp_port = 0

    async def _open(self, request: connection_pb2.ListenRequest) -> None:
        transport = self._session._transport
        transport._check_process()
        self._call = transport.connections.Listen(request)
        transport.read(self._call, self._box.put, self._on_end, "listener")
        try:
            listening = (await self._box.take(transport.timeout, "the listener")).listening
        except BaseException:
            self._call.cancel()
            raise
        self.address, self.port, self.udp_port = listening.address, listening.port, listening.udp_port

    def _on_end(self, failure: Optional[SidewarpError]) -> None:
        self._box.end(failure or UnavailableError("the sidecar ended the listener"))

    @property
    def is_closed(self) -> bool:
        return self._box.ended

    async def _request(self, timeout: Optional[float] = None) -> Any:
        """Returns the next connection request, to accept or reject it. Waits at most `timeout` seconds."""
        self._session._transport._check_process()
        while True:
            response = await self._box.take(timeout, "a connection")
            if response.HasField("request"):
                return self._incoming_type(self, response.request)

    async def _accept(
        self,
        timeout: Optional[float] = None,
        *,
        private_data: Optional[bytes] = None,
        options: Optional[ConnectionOptions] = None,
        connection: Optional[ConnectionCore] = None,
    ) -> Any:
        """Accepts the next request. Waits at most `timeout` seconds; other parameters are those of Incoming.accept."""
        incoming = await self._request(timeout)
        return await incoming._accept(private_data=private_data, options=options, connection=connection)

    async def _next(self) -> Any:
        """Accepts the next request that can be accepted. Returns None when the listener is closed."""
        while True:
            try:
                incoming = await self._request()
            except ClosedError:
                return None
            try:
                return await incoming._accept()
            except SidewarpError:
                # The peer has left, or its request lapsed.
                if self.is_closed or not self._session.is_open:
                    raise

    async def _close(self) -> None:
        """Ends listening. Connections stay open. Requests that wait are refused."""
        self._session._transport._check_process()
        self._session._forget(self)
        self._box.end(ClosedError("the listener is closed; open another one with session.listen()"))
        self._call.cancel()


class Incoming(IncomingCore):
    __doc__ = IncomingCore.__doc__
    accept = blocking_as(Connection, IncomingCore._accept)
    reject = blocking(IncomingCore._reject)


class Listener(ListenerCore, Blocking):
    __doc__ = ListenerCore.__doc__
    _incoming_type = Incoming
    request = blocking_as(Incoming, ListenerCore._request)
    accept = blocking_as(Connection, ListenerCore._accept)

    def __iter__(self) -> Iterator[Connection]:
        while (connection := run(self._next())) is not None:
            yield connection
