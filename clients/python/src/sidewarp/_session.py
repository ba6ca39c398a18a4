# Copyright The Sidewarp Authors
# SPDX-License-Identifier: Apache-2.0
"""Sessions for the blocking API and for asyncio."""

from __future__ import annotations

import logging
import os
import sys
import threading
import uuid
from collections.abc import Callable, Sequence
from typing import Any, Optional

from sidewarp import _grpc_queue, _ring_queue
from sidewarp._drive import Closable, Loop, Mailbox, Promise, run
from sidewarp._transport import DEFAULT_API, Transport
from sidewarp.connection import ConnectionCore, ConnectionOptions, unconfirmed
from sidewarp.errors import (
    ClosedError,
    Code,
    DeadlineError,
    NotFoundError,
    Retry,
    SessionLostError,
    SidewarpError,
)
from sidewarp.listener import ListenerCore
from sidewarp.queue import Path, Queue, Wait
from sidewarp.region import (
    CREATE_MODES,
    DEFAULT_VOLUME,
    Access,
    Create,
    ManagedRegionCore,
    SharedRegionCore,
    find_file,
    map_file,
)
from sidewarp.shared_receives import SharedReceivesCore
from sidewarp.v1 import connection_pb2, device_pb2, memory_pb2, shared_receive_queue_pb2

_LOG = logging.getLogger("sidewarp")
_GRACE_SECONDS = 10
_EARLY_EVENTS = 256
_CLOSED = device_pb2.CONNECTION_STATE_CLOSED
#: Open sessions. Garbage collection does not end a session that the program does not refer to any more.
_open_sessions: set[SessionCore] = set()


class SessionCore(Closable):
    """A session at a sidecar, with regions, connections, listeners and queues.

    It stays open until it is closed, whatever happens to this object. `close` disconnects all connections gracefully,
    and raises an error if earlier data may not have arrived. Views of regions stay valid memory of this process.
    """

    # Types of the objects, which the blocking API and the asyncio API choose. Methods that make objects return Any
    # here, and the precise type there.
    _connection_type: type[ConnectionCore]
    _region_type: type[SharedRegionCore]
    _managed_type: type[ManagedRegionCore]
    _listener_type: type[ListenerCore]
    _shared_receives_type: type[SharedReceivesCore]

    def __init__(self, name: str, api: Optional[str], volume: Optional[str], timeout: float, loop: Loop) -> None:
        self.name = name or os.path.basename(sys.argv[0]) or "python"
        self._volume = volume or os.environ.get("SIDEWARP_VOLUME")
        self._transport = Transport(api or os.environ.get("SIDEWARP_API") or DEFAULT_API, timeout, loop)
        self._opened: Promise[device_pb2.SessionOpened] = Promise(loop, timeout, "an open session")
        self._call: Any = None
        self._lock = threading.Lock()
        self._device: Optional[device_pb2.DeviceInfo] = None
        self._objects: set[Any] = set()
        self._known: dict[int, ConnectionCore] = {}
        self._early: dict[int, device_pb2.ConnectionStateChange] = {}
        self._listeners: list[Callable[[device_pb2.OpenSessionResponse], Any]] = []
        self._end: Optional[SidewarpError] = None
        self.is_closed = False
        #: Token of the session for calls of the contract. Keep it secret.
        self.id = ""
        self.limits = device_pb2.Limits()

    async def _open(self, wait: float) -> None:
        """Opens the session. Tries again for `wait` seconds while no sidecar serves."""
        self._call = self._transport.devices.OpenSession(
            device_pb2.OpenSessionRequest(name=self.name[:64]), wait_for_ready=wait > 0
        )
        self._transport.read(self._call, self._on_response, self._on_end, "session")
        if wait > 0:
            self._opened._limit = wait
        try:
            opened = await self._opened
        except BaseException:
            self._call.cancel()
            self._transport.close()
            raise
        self.id = opened.session
        self.limits = opened.limits
        _open_sessions.add(self)

    @property
    def is_open(self) -> bool:
        """False if the session was closed or lost."""
        return self._end is None

    def __repr__(self) -> str:
        return f"Session({self.name!r} at {self._transport.target}, {'open' if self.is_open else 'ended'})"

    def on_event(self, listener: Callable[[device_pb2.OpenSessionResponse], Any]) -> None:
        """Calls `listener` with each event of the session.

        A thread of the session calls it, or the event loop with asyncio. It must not block.
        """
        self._listeners.append(listener)

    async def _region(
        self,
        length: int,
        path: Optional[str] = None,
        *,
        access: Access = Access.LOCAL_WRITE,
        create: Create = "new",
        offset: int = 0,
        connection: Optional[ConnectionCore] = None,
        peer_identity: str = "",
        protection_domain: int = 0,
    ) -> Any:
        """Registers a file of the shared volume, and maps it.

        `length` is in bytes. `path` names the file in the volume; without it the name is random. `create` tells how the
        file comes to be. `offset` is the begin of the region in the file. Only `connection`, and peers with the SPIFFE
        ID `peer_identity`, may use the region. The sidecar removes its file when the region or the session ends.
        """
        path = path or f"python-{uuid.uuid4().hex}"
        device = await self._get_device()
        backing = memory_pb2.SharedBacking(path=path, offset=offset, length=length, create_mode=CREATE_MODES[create])
        description = await self._register(access, connection, peer_identity, protection_domain, shared=backing)
        try:
            file = await self._find_file(path)
            region = self._region_type(self, description, map_file(file, offset, description.length, device.page_size))
        except BaseException as e:
            self._deregister_unused(description)
            if isinstance(e, OSError):
                raise SidewarpError(
                    f'the sidecar registered "{path}", but this process cannot map it: {e}; run as a member of the'
                    " file's group, in a pod by fsGroup or supplementalGroups",
                    Code.FAILED_PRECONDITION,
                ) from e
            raise
        self._objects.add(region)
        return region

    async def _managed_region(
        self, length: int, *, access: Access = Access.LOCAL_WRITE, peer_identity: str = "", protection_domain: int = 0
    ) -> Any:
        """Registers memory of the sidecar alone, of `length` bytes. `store` and `load` give access to it.

        `peer_identity` is the SPIFFE ID that a peer must have to use the region.
        """
        backing = memory_pb2.ManagedBacking(length=length)
        description = await self._register(access, None, peer_identity, protection_domain, managed=backing)
        region = self._managed_type(self, description)
        self._objects.add(region)
        return region

    async def _register(
        self,
        access: Access,
        connection: Optional[ConnectionCore],
        peer_identity: str,
        protection_domain: int,
        **backing: Any,
    ) -> memory_pb2.Region:
        self._check_open()
        request = memory_pb2.RegisterRegionRequest(
            session=self.id,
            protection_domain=protection_domain,
            access=access.numbers(),
            connection=connection.id if connection else 0,
            peer_identity=peer_identity,
            **backing,
        )
        response = await self._transport.create(
            self._transport.memory.RegisterRegion,
            request,
            lambda late: self._deregister_unused(late.region),
        )
        return response.region

    def _deregister_unused(self, description: memory_pb2.Region) -> None:
        request = memory_pb2.DeregisterRegionRequest(session=self.id, region=description.id, keep_content=True)
        self._transport.forget(self._transport.memory.DeregisterRegion, request)

    async def _create_connection(self, options: Optional[ConnectionOptions] = None) -> Any:
        """Creates a connection that one later `dial` or `accept` uses, so that receives can be posted before."""
        self._check_open()
        request = connection_pb2.CreateConnectionRequest(session=self.id, options=options)
        method = self._transport.connections.CreateConnection
        return self._adopt((await self._transport.create(method, request, self._abort_unused)).connection)

    async def _dial(
        self,
        address: str,
        *,
        private_data: bytes = b"",
        options: Optional[ConnectionOptions] = None,
        allowed_peers: Sequence[str] = (),
        connection: Optional[ConnectionCore] = None,
    ) -> Any:
        """Connects to `host:port`, and returns when the peer has accepted.

        Raises RejectedError if the peer's application rejects. `options` are those of the contract, such as
        ConnectionOptions(ord=4, timeout={"seconds": 5}). `allowed_peers` are patterns of SPIFFE IDs of the peer, and
        need TLS. `connection` is one that was created before with its options.
        """
        host, colon, port = address.rpartition(":")
        if not colon or not host or not port.isdigit():
            raise ValueError(f'"{address}" is no address; write host:port, or [address]:port for IPv6')
        request = connection_pb2.ConnectRequest(
            session=self.id,
            address=host.removeprefix("[").removesuffix("]"),
            port=int(port),
            options=options,
            private_data=private_data,
            allowed_peers=allowed_peers,
            connection=connection.id if connection else 0,
            after_posts=connection._posted if connection else 0,
        )
        return await self._set_up(self._transport.connections.Connect, request, connection)

    async def _set_up(self, method: Any, request: Any, connection: Optional[ConnectionCore]) -> Any:
        """Makes a Connect or Accept call."""
        self._check_open()
        description = (await self._transport.create(method, request, self._abort_unused, limit=None)).connection
        if connection is None:
            return self._adopt(description)
        connection._establish(description)
        return connection

    def _abort_unused(self, response: Any) -> None:
        request = connection_pb2.DisconnectRequest(session=self.id, connection=response.connection.id, abort=True)
        self._transport.forget(self._transport.connections.Disconnect, request)

    async def _listen(
        self,
        port: int = 0,
        address: str = "",
        *,
        private_data: bytes = b"",
        backlog: int = 0,
        options: Optional[ConnectionOptions] = None,
        accept_options: Optional[ConnectionOptions] = None,
        allowed_peers: Sequence[str] = (),
    ) -> Any:
        """Listens at a port; 0 is any free port, which `port` of the listener tells.

        `private_data` and `accept_options` are given to each peer and each connection that is accepted without others.
        `options` are requirements for a peer's start-up, and defaults for accepted connections. `allowed_peers` are
        patterns of the SPIFFE IDs of peers that may connect, and need TLS.
        """
        self._check_open()
        listener = self._listener_type(self, private_data, accept_options)
        request = connection_pb2.ListenRequest(
            session=self.id, address=address, port=port, backlog=backlog, options=options, allowed_peers=allowed_peers
        )
        if options:
            request.llp = options.llp
        await listener._open(request)
        self._objects.add(listener)
        return listener

    async def _queue(self, outstanding: int = 0, *, path: Path = "any", wait: Wait = "adaptive") -> Queue:
        """Opens a work queue.

        `outstanding` is the number of requests that are under way at a time; 0 is the sidecar's default. `path` chooses
        between rings in shared memory and the gRPC call. `wait` tells how to wait for completions in rings.
        """
        self._check_open()
        queue: Queue
        if path == "grpc":
            queue = await _grpc_queue.open_grpc(self, outstanding)
        else:
            try:
                queue = await _ring_queue.open_rings(self, outstanding, wait)
            except SidewarpError as e:
                possible = (Code.UNIMPLEMENTED, Code.FAILED_PRECONDITION, Code.RESOURCE_EXHAUSTED)
                if path == "rings" or e.code not in possible:
                    raise
                full = e.code is Code.RESOURCE_EXHAUSTED
                _LOG.log(logging.WARNING if full else logging.DEBUG, "a queue uses gRPC instead of rings: %s", e)
                queue = await _grpc_queue.open_grpc(self, outstanding)
        self._objects.add(queue)
        return queue

    async def _shared_receives(self, capacity: int = 0, protection_domain: int = 0) -> Any:
        """Creates receives that connections share. `capacity` is their number; 0 is the sidecar's default."""
        self._check_open()
        service = self._transport.shared_receives
        request = shared_receive_queue_pb2.CreateSharedReceiveQueueRequest(
            session=self.id, capacity=capacity, protection_domain=protection_domain
        )

        def undo(late: Any) -> None:
            unused = shared_receive_queue_pb2.DestroySharedReceiveQueueRequest(
                session=self.id, shared_receive_queue=late.shared_receive_queue.id
            )
            self._transport.forget(service.DestroySharedReceiveQueue, unused)

        created = await self._transport.create(service.CreateSharedReceiveQueue, request, undo)
        shared = self._shared_receives_type(self, created.shared_receive_queue)
        self._objects.add(shared)
        return shared

    async def _allocate_protection_domain(self) -> int:
        """Allocates a protection domain, and returns its id. It ends with the session."""
        self._check_open()
        request = memory_pb2.AllocateProtectionDomainRequest(session=self.id)
        method = self._transport.memory.AllocateProtectionDomain
        return int((await self._transport.create(method, request, lambda late: None)).protection_domain)

    async def _get_device(self) -> device_pb2.DeviceInfo:
        """Returns the device of the sidecar: provider, version, capabilities and limits."""
        if self._device is None:
            request = device_pb2.GetDeviceRequest()
            self._device = (await self._transport.call(self._transport.devices.GetDevice, request)).device
        return self._device

    async def _connections(self) -> list[connection_pb2.Connection]:
        """Lists the connections of the session."""
        self._check_open()
        request = connection_pb2.ListConnectionsRequest(session=self.id)
        return list((await self._transport.call(self._transport.connections.ListConnections, request)).connections)

    async def _regions(self) -> list[memory_pb2.Region]:
        """Lists the regions of the session."""
        self._check_open()
        request = memory_pb2.ListRegionsRequest(session=self.id)
        return list((await self._transport.call(self._transport.memory.ListRegions, request)).regions)

    async def _close(self) -> None:
        await self._close_within(_GRACE_SECONDS)

    async def _leave(self, failed: bool) -> None:
        try:
            await self._close_within(0 if failed else _GRACE_SECONDS)
        except SidewarpError:
            if not failed:
                raise

    async def _close_within(self, grace: int) -> None:
        self._transport._check_process()
        if self.is_closed:
            return
        self.is_closed = True
        loss: Optional[SidewarpError] = None
        if self._end is not None:
            if any(connection._may_lose_data() for connection in self._known.values()):
                loss = unconfirmed(f'session "{self.name}"', self._end)
        else:
            loss = await self._close_at_sidecar(grace)
        self._finish(ClosedError(f'session "{self.name}" is closed; open another one with sidewarp.connect()'))
        self._call.cancel()
        self._transport.close()
        if loss:
            raise loss

    async def _close_at_sidecar(self, grace: int) -> Optional[SidewarpError]:
        """Lets the sidecar close the connections. Returns the reason why earlier data may not have arrived, or None."""
        loss: Optional[SidewarpError] = None
        # CloseSession could overtake the work of queues, and so their connections are disconnected before.
        known = list(self._known.values()) if grace else []
        queued = [connection for connection in known if connection._posted and not connection._told]
        for end in [connection._start_disconnect(abort=False, limit=grace) for connection in queued]:
            try:
                await end
            except (NotFoundError, DeadlineError):
                # CloseSession aborts the connection, and reports data that is not confirmed.
                pass
            except SidewarpError as e:
                loss = loss or e
        request = device_pb2.CloseSessionRequest(session=self.id, grace={"seconds": grace})
        try:
            await self._transport.call(
                self._transport.devices.CloseSession, request, limit=self._transport.timeout + grace
            )
        except SidewarpError as e:
            if grace and self._end is None:
                loss = loss or e
        return loss

    def _check_open(self) -> None:
        self._transport._check_process()
        if self._end is not None:
            raise self._end.with_traceback(None)

    def _forget(self, made: Any) -> None:
        self._objects.discard(made)

    async def _find_file(self, path: str) -> str:
        own = (await self._get_device()).shared_volume
        volumes = [self._volume] if self._volume else [DEFAULT_VOLUME] + ([own] if own else [])
        return find_file(volumes, path, own)

    def _stream(self, method: Any, request: Any, name: str) -> Mailbox[Any]:
        """Starts a call whose responses go to a mailbox."""
        self._check_open()
        box: Mailbox[Any] = Mailbox(self._transport.loop)
        done = SidewarpError(f"the sidecar ended the {name} call too early")
        self._transport.read(method(request), box.put, lambda failure: box.end(failure or done), name)
        return box

    def _adopt(self, description: connection_pb2.Connection) -> Any:
        connection = self._connection_type(self, description)
        with self._lock:
            self._known[connection.id] = connection
            early = self._early.pop(connection.id, None)
        if early:
            self._on_connection(early)
        return connection

    def _on_response(self, response: device_pb2.OpenSessionResponse) -> None:
        if response.HasField("opened"):
            self._opened.set(response.opened)
        else:
            self._transport.deliver(self._on_event, response)

    def _on_event(self, response: device_pb2.OpenSessionResponse) -> None:
        if response.HasField("connection"):
            self._on_connection(response.connection)
        elif response.HasField("events_lost"):
            self._find_closed()
        for listener in self._listeners:
            try:
                listener(response)
            except Exception:
                _LOG.exception('a listener of session "%s" failed', self.name)

    def _on_connection(self, event: device_pb2.ConnectionStateChange) -> None:
        with self._lock:
            connection = self._known.get(event.connection)
            if connection is None:
                self._early[event.connection] = event
                if len(self._early) > _EARLY_EVENTS:
                    del self._early[next(iter(self._early))]
                return
            if event.state == device_pb2.CONNECTION_STATE_CLOSED:
                del self._known[connection.id]
        connection._on_event(event)

    def _find_closed(self) -> None:
        """Finds connections that closed while events were lost. Their last events may be among these."""

        async def find() -> None:
            known = list(self._known)
            listed = {description.id for description in await self._connections()}
            for id in known:
                if id not in listed:
                    message = "closed; the event with the reason was lost"
                    error = device_pb2.ConnectionStateChange(connection=id, state=_CLOSED, message=message)
                    error.error.SetInParent()
                    self._on_connection(error)

        if self._transport.loop is None:
            threading.Thread(target=lambda: run(find()), daemon=True, name="sidewarp-find-closed").start()
        else:
            self._finding = self._transport.loop.create_task(find())

    def _on_end(self, failure: Optional[SidewarpError]) -> None:
        reason = str(failure) if failure else "the sidecar ended the session"
        self._opened.fail(failure or SidewarpError(reason, Code.UNAVAILABLE))
        if not self.is_closed:
            lost = SessionLostError(
                f'session "{self.name}" was lost, and with it its regions, connections and listeners: {reason};'
                " work under way may be done or not; connect again, and take files over with create='reuse'",
                retry=Retry.AFTER_RECONNECTING,
            )
            self._transport.deliver(self._finish, lost)

    def _finish(self, reason: SidewarpError) -> None:
        """Ends all objects of the session."""
        with self._lock:
            if self._end is not None and not isinstance(reason, ClosedError):
                return
            self._end = reason
        _open_sessions.discard(self)
        for connection in list(self._known.values()):
            connection._end.end(reason)
        if isinstance(reason, ClosedError):
            # Queues and listeners of a lost session find its end themselves, behind the completions that arrived.
            for made in list(self._objects):
                if isinstance(made, ListenerCore):
                    made._box.end(reason)
                elif isinstance(made, Queue):
                    made._finish(reason)
            self._objects.clear()
