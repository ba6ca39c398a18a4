# Copyright The Sidewarp Authors
# SPDX-License-Identifier: Apache-2.0
"""The client for asyncio. Methods have the parameters of the blocking API; await them.

    async with sidewarp.aio.connect() as session:
        region = await session.region(4096)
        queue = await session.queue()
        async with session.dial("peer.example:7471") as connection:
            await queue.write(connection, region[0:5], connection.remote)

All objects of a session belong to the event loop in which it was opened.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, Optional, TypeVar

from sidewarp._drive import Async, opening, opening_as
from sidewarp._session import SessionCore
from sidewarp.connection import ConnectionCore
from sidewarp.listener import IncomingCore, ListenerCore
from sidewarp.region import Access, ManagedRegionCore, SharedRegionCore
from sidewarp.shared_receives import SharedReceivesCore
from sidewarp.supervise import OnFailure, keep_region, log_failure, repeat

T = TypeVar("T")


class Connection(ConnectionCore, Async):
    __doc__ = ConnectionCore.__doc__
    perform = ConnectionCore._perform
    write = ConnectionCore._write
    read = ConnectionCore._read
    send = ConnectionCore._send
    receive = ConnectionCore._receive
    immediate = ConnectionCore._immediate
    fetch_add = ConnectionCore._fetch_add
    compare_swap = ConnectionCore._compare_swap
    flush = ConnectionCore._flush
    wait_closed = ConnectionCore._wait_closed
    info = ConnectionCore._info
    disconnect = ConnectionCore._disconnect
    abort = ConnectionCore._abort


class Region(SharedRegionCore, Async):
    __doc__ = SharedRegionCore.__doc__


class ManagedRegion(ManagedRegionCore, Async):
    __doc__ = ManagedRegionCore.__doc__
    store = ManagedRegionCore._store
    load = ManagedRegionCore._load


class SharedReceives(SharedReceivesCore, Async):
    __doc__ = SharedReceivesCore.__doc__
    arm = SharedReceivesCore._arm


class Incoming(IncomingCore):
    __doc__ = IncomingCore.__doc__
    accept = opening_as(Connection, IncomingCore._accept)
    reject = IncomingCore._reject


class Listener(ListenerCore, Async):
    __doc__ = ListenerCore.__doc__
    _incoming_type = Incoming
    request = opening_as(Incoming, ListenerCore._request)
    accept = opening_as(Connection, ListenerCore._accept)

    async def __aiter__(self) -> AsyncIterator[Connection]:
        while (connection := await self._next()) is not None:
            yield connection


class Session(SessionCore, Async):
    __doc__ = SessionCore.__doc__
    _connection_type = Connection
    _region_type = Region
    _managed_type = ManagedRegion
    _listener_type = Listener
    _shared_receives_type = SharedReceives
    region = opening_as(Region, SessionCore._region)
    managed_region = opening_as(ManagedRegion, SessionCore._managed_region)
    create_connection = opening_as(Connection, SessionCore._create_connection)
    dial = opening_as(Connection, SessionCore._dial)
    listen = opening_as(Listener, SessionCore._listen)
    queue = opening(SessionCore._queue)
    shared_receives = opening_as(SharedReceives, SessionCore._shared_receives)
    allocate_protection_domain = SessionCore._allocate_protection_domain
    device = SessionCore._get_device
    connections = SessionCore._connections
    regions = SessionCore._regions


class SupervisedSession(Session):
    """The session of supervised work; see sidewarp.SupervisedSession."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._kept: dict[tuple[str, int, Access], SharedRegionCore] = {}

    async def _keep_region(self, length: int, path: str, *, access: Access = Access.LOCAL_WRITE) -> Region:
        """Returns the region of an earlier attempt, or registers it; see sidewarp.SupervisedSession.region."""
        region: Region = await keep_region(self, length, path, access)
        return region

    region = opening(_keep_region)  # type: ignore


async def _connect(
    name: str = "",
    *,
    api: Optional[str] = None,
    volume: Optional[str] = None,
    wait: float = 0.0,
    timeout: float = 30.0,
) -> Session:
    """Opens a session at the sidecar, for the running event loop. Parameters as for sidewarp.connect."""
    session = Session(name, api, volume, timeout, asyncio.get_running_loop())
    await session._open(wait)
    return session


connect = opening(_connect)


async def supervise(
    work: Callable[[SupervisedSession], Awaitable[T]],
    name: str = "",
    *,
    api: Optional[str] = None,
    volume: Optional[str] = None,
    timeout: float = 30.0,
    on_failure: OnFailure = log_failure,
) -> T:
    """Awaits `work(session)` until it returns, and returns its result; see sidewarp.supervise."""
    loop = asyncio.get_running_loop()
    result: T = await repeat(lambda: SupervisedSession(name, api, volume, timeout, loop), work, on_failure, loop)
    return result
