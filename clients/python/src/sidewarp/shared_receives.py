# Copyright The Sidewarp Authors
# SPDX-License-Identifier: Apache-2.0
"""Receives that several connections share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sidewarp._drive import Blocking, Closable, blocking
from sidewarp.v1 import shared_receive_queue_pb2

if TYPE_CHECKING:
    from sidewarp._session import SessionCore


class SharedReceivesCore(Closable):
    """Receives that several connections share. Post them with Work.receive or Queue.receive.

    Connections name the object in ConnectionOptions(shared_receive_queue=shared.id). A message takes the oldest
    receive.
    """

    is_shared = True

    def __init__(self, session: SessionCore, description: shared_receive_queue_pb2.SharedReceiveQueue) -> None:
        self._session = session
        self.id: int = description.id
        self.capacity: int = description.capacity

    async def _arm(self, limit: int) -> None:
        """Asks for one event, `shared_receive_queue_limit`, when fewer than `limit` receives are left."""
        transport = self._session._transport
        request = shared_receive_queue_pb2.ModifySharedReceiveQueueRequest(
            session=self._session.id, shared_receive_queue=self.id, limit=limit
        )
        await transport.call(transport.shared_receives.ModifySharedReceiveQueue, request)

    async def _close(self) -> None:
        """Destroys the queue. Fails while connections use it."""
        transport = self._session._transport
        if self._session.is_open:
            request = shared_receive_queue_pb2.DestroySharedReceiveQueueRequest(
                session=self._session.id, shared_receive_queue=self.id
            )
            await transport.call(transport.shared_receives.DestroySharedReceiveQueue, request)
        self._session._forget(self)


class SharedReceives(SharedReceivesCore, Blocking):
    __doc__ = SharedReceivesCore.__doc__
    arm = blocking(SharedReceivesCore._arm)
