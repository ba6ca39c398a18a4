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

from sidewarp._drive import Async, opening
from sidewarp.connection import ConnectionCore
from sidewarp.listener import IncomingCore, ListenerCore
from sidewarp.region import Access, ManagedRegionCore, SharedRegionCore
from sidewarp.session import SessionCore, SharedReceivesCore
from sidewarp.supervise import OnFailure, keep_region, log_failure, repeat

T = TypeVar("T")


class Connection(ConnectionCore, Async):
    __doc__ = ConnectionCore.__doc__
    perform = ConnectionCore._perform
    write = ConnectionCore._write
    read = ConnectionCore._read
    send = ConnectionCore._send
    receive = ConnectionCore._receive
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


class Incoming(IncomingCore[Connection]):
    __doc__ = IncomingCore.__doc__
    accept = opening(IncomingCore[Connection]._accept)
    reject = IncomingCore._reject


_Listener = ListenerCore[Connection, Incoming]


class Listener(_Listener, Async):
    __doc__ = ListenerCore.__doc__
    _incoming_type = Incoming
    request = _Listener._request
    accept = opening(_Listener._accept)

    async def __aiter__(self) -> AsyncIterator[Connection]:
        while (connection := await self._next()) is not None:
            yield connection


_Core = SessionCore[Connection, Region, ManagedRegion, Listener, SharedReceives]


class Session(_Core, Async):
    __doc__ = SessionCore.__doc__
    _connection_type = Connection
    _region_type = Region
    _managed_type = ManagedRegion
    _listener_type = Listener
    _shared_receives_type = SharedReceives
    region = opening(_Core._region)
    managed_region = opening(_Core._managed_region)
    create_connection = opening(_Core._create_connection)
    dial = opening(_Core._dial)
    listen = opening(_Core._listen)
    queue = opening(_Core._queue)
    shared_receives = opening(_Core._shared_receives)
    allocate_protection_domain = _Core._allocate_protection_domain
    device = _Core._get_device
    connections = _Core._connections
    regions = _Core._regions


class SupervisedSession(Session):
    """The session of supervised work; see sidewarp.SupervisedSession."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._kept: dict[tuple[str, int, Access], SharedRegionCore] = {}

    async def _keep_region(self, length: int, path: str, *, access: Access = Access.LOCAL_WRITE) -> Region:
        """Returns the region of an earlier attempt, or registers it; see sidewarp.SupervisedSession.region."""
        region: Region = await keep_region(self, length, path, access)
        return region

    region = opening(_keep_region)  # type: ignore[assignment]


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
