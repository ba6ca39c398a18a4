# Copyright The Sidewarp Authors
# SPDX-License-Identifier: Apache-2.0
"""RDMA between pods: the Python client of the Sidewarp sidecar.

    with sidewarp.connect() as session:
        region = session.region(4096)
        connection = session.dial("peer.example:7471")
        region.view()[:5] = b"hello"
        connection.write(region[0:5], connection.remote)
        connection.flush()

sidewarp.aio has the same for asyncio. clients/python/README.md begins with tasks.
"""

from sidewarp import aio
from sidewarp.connection import Connection, ConnectionOptions, MpaOptions
from sidewarp.errors import (
    AlreadyExistsError,
    ClosedError,
    DeadlineError,
    FlushedError,
    ForkedError,
    InvalidWorkError,
    LimitError,
    LocalAccessError,
    NotFoundError,
    RdmaError,
    RejectedError,
    RemoteAccessError,
    Retry,
    SessionLostError,
    SidewarpError,
    UnavailableError,
    UnconfirmedError,
    ViewsExistError,
    WorkError,
)
from sidewarp.listener import Incoming, Listener
from sidewarp.queue import Batch, Pending, Queue, as_completed
from sidewarp.region import Access, ManagedRegion, Region, RemoteAddress, Slice
from sidewarp.session import Session, connect
from sidewarp.shared_receives import SharedReceives
from sidewarp.supervise import SupervisedSession, supervise
from sidewarp.work import Completion, Opcode, Status, Work

__all__ = [
    "Access",
    "AlreadyExistsError",
    "Batch",
    "ClosedError",
    "Completion",
    "Connection",
    "ConnectionOptions",
    "DeadlineError",
    "FlushedError",
    "ForkedError",
    "Incoming",
    "InvalidWorkError",
    "LimitError",
    "Listener",
    "LocalAccessError",
    "ManagedRegion",
    "MpaOptions",
    "NotFoundError",
    "Opcode",
    "Pending",
    "Queue",
    "RdmaError",
    "Region",
    "RejectedError",
    "RemoteAccessError",
    "RemoteAddress",
    "Retry",
    "Session",
    "SessionLostError",
    "SharedReceives",
    "SidewarpError",
    "Slice",
    "Status",
    "SupervisedSession",
    "UnavailableError",
    "UnconfirmedError",
    "ViewsExistError",
    "Work",
    "WorkError",
    "aio",
    "as_completed",
    "connect",
    "supervise",
]
