# Copyright The Sidewarp Authors
# SPDX-License-Identifier: Apache-2.0
"""Work that goes on after the death of a sidecar or of a peer."""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Callable
from typing import Any, Optional, TypeVar

from sidewarp._drive import Loop, blocking, run
from sidewarp._session import SessionCore
from sidewarp.errors import SidewarpError
from sidewarp.region import Access, Region, SharedRegionCore
from sidewarp.session import Session
from sidewarp.shared_receives import SharedReceivesCore

T = TypeVar("T")
#: First and longest pause between attempts, in seconds. A sidecar keeps the files of a killed one for 30 s.
FIRST_PAUSE = 0.1
LONGEST_PAUSE = 5.0
OnFailure = Callable[[SidewarpError, float], Any]
_LOG = logging.getLogger("sidewarp")


def log_failure(failure: SidewarpError, pause: float) -> None:
    _LOG.warning("next attempt in %.1f s: %s", pause, failure)


class SupervisedSession(Session):
    """The session of supervised work. It keeps its regions while it lives, and takes them over when it is new."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._kept: dict[tuple[str, int, Access], SharedRegionCore] = {}

    async def _keep_region(self, length: int, path: str, *, access: Access = Access.LOCAL_WRITE) -> Region:
        """Returns the region of an earlier attempt, or registers it.

        The content of the file survives the death of the sidecar; `file_existed` tells whether there is content. The
        STag is another one in a new session, so peers have to learn it again.
        """
        return await keep_region(self, length, path, access)

    region = blocking(_keep_region)  # type: ignore


async def keep_region(session: Any, length: int, path: str, access: Access) -> Any:
    """Returns the kept region of a supervised session, or registers it."""
    key = (path, length, access)
    region = session._kept.get(key)
    if region is None or region._closed:
        region = session._kept[key] = await session._region(length, path, access=access, create="reuse")
    return region


def supervise(
    work: Callable[[SupervisedSession], T],
    name: str = "",
    *,
    api: Optional[str] = None,
    volume: Optional[str] = None,
    timeout: float = 30.0,
    on_failure: OnFailure = log_failure,
) -> T:
    """Calls `work(session)` until it returns, and returns its result.

    When work raises a SidewarpError, it is called again after a pause: with the same session if that lives, and with a
    new one otherwise. So it begins with its set-up: regions with a path, listeners, connections and queues. Those of
    the attempt before are closed, except regions. Nothing is repeated by itself: outstanding work of the attempt before
    may be done or not.

    Pauses double from 0.1 s to 5 s, and the real ones are a random part of at least half. `on_failure(error, pause)` is
    called before each pause; what it raises ends the supervision. So does any other exception of work.
    """

    def make() -> SupervisedSession:
        return SupervisedSession(name, api, volume, timeout, None)

    async def call(session: SupervisedSession) -> T:
        return work(session)

    return run(repeat(make, call, on_failure, None))


async def repeat(
    make: Callable[[], Any], work: Callable[[Any], Any], on_failure: OnFailure, loop: Loop
) -> Any:
    """Carries out supervised work."""
    session: Any = None
    failures = 0
    while True:
        begin = time.monotonic()
        try:
            if session is None:
                session = make()
                await session._open(0)
            result = await work(session)
            break
        except SidewarpError as e:
            failure = e
        except BaseException:
            if session is not None:
                await session._leave(True)
            raise
        if session.is_open and session.id:
            await _reset(session)
        else:
            if session.id:
                await session._leave(True)
            session = None
        failures = 1 if time.monotonic() - begin >= LONGEST_PAUSE else failures + 1
        pause = pause_after(failures)
        try:
            on_failure(failure, pause)
            await _sleep(pause, loop)
        except BaseException:
            if session is not None:
                await session._leave(True)
            raise
    await session._close()
    return result


def pause_after(failures: int) -> float:
    """Returns a random pause in seconds after a number of failures in a row."""
    longest = min(FIRST_PAUSE * 2 ** min(failures - 1, 10), LONGEST_PAUSE)
    return random.uniform(longest / 2, longest)


async def _reset(session: SessionCore) -> None:
    """Closes all objects of a session except its regions."""
    objects = list(session._objects)
    for made in objects:
        if not isinstance(made, (SharedRegionCore, SharedReceivesCore)):
            result = made._close() if hasattr(made, "_close") else made.close()
            if result is not None:
                await _quietly(result)
    for connection in list(session._known.values()):
        await _quietly(connection._abort())
    # Shared receives cannot be destroyed while connections use them.
    for made in objects:
        if isinstance(made, SharedReceivesCore):
            await _quietly(made._close())


async def _quietly(ending: Any) -> None:
    try:
        await ending
    except SidewarpError as e:
        _LOG.debug("an object of the attempt before could not be closed: %s", e)


async def _sleep(seconds: float, loop: Loop) -> None:
    if loop is None:
        time.sleep(seconds)
    else:
        await asyncio.sleep(seconds)
