# Copyright The Sidewarp Authors
# SPDX-License-Identifier: Apache-2.0
"""Sessions: everything that a program has at its sidecar."""

from __future__ import annotations

from typing import Optional

from sidewarp._drive import Blocking, blocking, blocking_as, run
from sidewarp._session import SessionCore
from sidewarp.connection import Connection
from sidewarp.listener import Listener
from sidewarp.region import ManagedRegion, Region
from sidewarp.shared_receives import SharedReceives


class Session(SessionCore, Blocking):
    __doc__ = SessionCore.__doc__
    _connection_type = Connection
    _region_type = Region
    _managed_type = ManagedRegion
    _listener_type = Listener
    _shared_receives_type = SharedReceives
    region = blocking_as(Region, SessionCore._region)
    managed_region = blocking_as(ManagedRegion, SessionCore._managed_region)
    create_connection = blocking_as(Connection, SessionCore._create_connection)
    dial = blocking_as(Connection, SessionCore._dial)
    listen = blocking_as(Listener, SessionCore._listen)
    queue = blocking(SessionCore._queue)
    shared_receives = blocking_as(SharedReceives, SessionCore._shared_receives)
    allocate_protection_domain = blocking(SessionCore._allocate_protection_domain)
    device = blocking(SessionCore._get_device)
    connections = blocking(SessionCore._connections)
    regions = blocking(SessionCore._regions)


def connect(
    name: str = "",
    *,
    api: Optional[str] = None,
    volume: Optional[str] = None,
    wait: float = 0.0,
    timeout: float = 30.0,
) -> Session:
    """Opens a session at the sidecar.

    `name` is for listings and logs; the default is the name of the program. `api` is the address of the sidecar:
    `unix:///path` or `host:port`; the default is SIDEWARP_API, or unix:///run/sidewarp/api.sock. `volume` is the
    directory where the shared volume is mounted; the default is SIDEWARP_VOLUME, or /run/sidewarp/shared. `wait` is the
    time in seconds to wait for a sidecar that is still starting. `timeout` limits calls that do not wait for a peer.

    Raises UnavailableError if no sidecar answers.
    """
    session = Session(name, api, volume, timeout, None)
    run(session._open(wait))
    return session
