# Copyright The Sidewarp Authors
# SPDX-License-Identifier: Apache-2.0
"""A queue over rings in shared memory, for threads and for an asyncio event loop."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Optional

from sidewarp._layout import *  # noqa: F403
from sidewarp._rings import Control, Ring, WorkRing, fence, why_impossible
from sidewarp.errors import Code, SidewarpError
from sidewarp.queue import Pending, Queue, Wait
from sidewarp.v1 import ring_pb2
from sidewarp.work import Completion, Work, decode_completion

if TYPE_CHECKING:
    from sidewarp._session import SessionCore

_BATCH = 64
_SPIN_SECONDS = 50e-6
_LOOK_SECONDS = 1e-3
_LONGEST_SLEEP = 0.5


class RingQueue(Queue):
    """A queue over rings. One thread at a time takes completions, for all threads that wait."""

    path = "rings"

    def __init__(
        self, session: SessionCore, rings: tuple[Ring, WorkRing, WorkRing], control: Control, wait: Wait
    ) -> None:
        super().__init__(session)
        self._completions, self._sends, self._receives = rings
        self._control = control
        self._strategy = wait
        #: Guards leadership: one thread takes completions, and the others wait until it tells of progress.
        self._progress = threading.Condition()
        self._leading = False
        self._followers = 0
        self._looked = 0.0
        self._turns = _Turns(self, self._loop) if self._loop is not None else None

    def _post(self, work: Work, pending: Optional[Pending], wake: bool) -> None:
        ring = self._receives if work.is_receive else self._sends
        image = work.image or work.to_image()
        id = 0
        with self._lock:
            self._check_usable()
            if pending is not None:
                self._last_id = id = self._last_id + 1
                self._outstanding[id] = pending
            self._count(work, pending)
            number = ring.put(image, id)
            full = number > ring.published
        if self._turns:
            self._turns.begin()
        if full:
            self._await_room(ring, number)
        elif wake:
            self._wake_consumer(ring)

    def _post_silently(self, works: Sequence[Work]) -> None:
        if not works:
            return
        ring = self._sends
        with self._lock:
            self._check_usable()
            # Work that carries data counts as the latest, so that a later answer has to confirm all.
            carrier = next((work for work in works if work.carries_data), works[0])
            self._count(carrier, None, len(works))
            for work in works:
                ring.put(work.image or work.to_image(), 0)
            number = ring.accepted
            full = number > ring.published
        if full:
            self._await_room(ring, number)

    def _await_room(self, ring: WorkRing, number: int) -> None:
        """Wakes the sidecar. In the blocking API, returns when the request with this number is published."""
        self._wake_consumer(ring)
        if self._loop is None:
            self._wait(lambda: ring.published >= number, None)
            if ring.published < number and self._end:
                raise self._end.with_traceback(None)

    def _wake(self) -> None:
        for ring in (self._sends, self._receives):
            self._wake_consumer(ring)

    def _wake_consumer(self, ring: WorkRing) -> None:
        fence()
        try:
            if not ring.words[RING_CONSUMER_WAITS_OFFSET >> 2]:
                return
            # Two threads may both send a WAKE record, which does no harm.
            ring.words[RING_CONSUMER_WAITS_OFFSET >> 2] = RING_WAITS_NOT
        except ValueError:
            # Another thread has closed the queue.
            return
        self._control.wake(ring.id)

    def _ready(self) -> bool:
        ring = self._completions
        return ring.longs[(ring.data + ((ring.next & ring.mask) << 6)) >> 3] == ring.next + 1

    def _take(self) -> int:
        """Takes completions, and publishes work that waited for room. Returns the number of completions."""
        ring, number = self._completions, self._completions.next
        longs, octets = ring.longs, ring.bytes
        taken: list[tuple[int, Completion]] = []
        while len(taken) < _BATCH:
            begin = ring.data + ((number & ring.mask) << 6)
            if longs[begin >> 3] != number + 1:
                break
            blocks = octets[begin + COMPLETION_BLOCKS_OFFSET]
            id, completion = decode_completion(octets, begin)
            if blocks != 1:
                if not 1 < blocks <= COMPLETION_MAX_BLOCKS:
                    self._finish(SidewarpError("the completion ring is damaged; open another queue", Code.INTERNAL))
                    return 0
                completion = completion._replace(message=self._text(number, blocks))
            number += blocks
            taken.append((id, completion))
        if taken:
            ring.next = number
            longs[RING_CONSUMED_OFFSET >> 3] = number
            fence()
            if ring.words[RING_PRODUCER_WAITS_OFFSET >> 2]:
                ring.words[RING_PRODUCER_WAITS_OFFSET >> 2] = RING_WAITS_NOT
                self._control.wake(ring.id)
            for id, completion in taken:
                self._complete(id, completion)
            if self._end is not None:
                return len(taken)
        for work in (self._sends, self._receives):
            if work.waiting:
                with self._lock:
                    work.publish_waiting()
                self._wake_consumer(work)
        return len(taken)

    def _text(self, number: int, blocks: int) -> str:
        ring = self._completions
        text = bytearray()
        for i in range(1, blocks):
            begin = ring.data + (((number + i) & ring.mask) << 6)
            text += ring.bytes[begin + 8 : begin + 64]
        return text.rstrip(b"\0").decode("utf-8", "replace")

    def _wait(self, ready: Callable[[], bool], deadline: Optional[float]) -> None:
        while not ready() and self._end is None:
            with self._progress:
                lead = not self._leading
                if lead:
                    self._leading = True
                else:
                    self._followers += 1
                    left = _LONGEST_SLEEP if deadline is None else deadline - time.monotonic()
                    if left > 0 and not ready():
                        self._progress.wait(min(left, _LONGEST_SLEEP))
                    self._followers -= 1
            if lead:
                try:
                    self._lead(ready, deadline)
                finally:
                    with self._progress:
                        self._leading = False
                        self._progress.notify_all()
                        if self._end is not None:
                            self._unmap()
            if deadline is not None and time.monotonic() >= deadline:
                return

    def _lead(self, ready: Callable[[], bool], deadline: Optional[float]) -> None:
        """Takes completions until `ready()` is true, the deadline is over, or the queue has ended."""
        begin = 0.0
        while self._end is None:
            if self._take():
                begin = 0.0
                if self._followers:
                    with self._progress:
                        self._progress.notify_all()
            if ready() or self._end is not None:
                return
            now = time.monotonic()
            begin = begin or now
            if deadline is not None and now >= deadline:
                return
            if self._strategy == "sleep" or (self._strategy == "adaptive" and now - begin >= _SPIN_SECONDS):
                self._sleep(_LONGEST_SLEEP if deadline is None else min(_LONGEST_SLEEP, deadline - now))
            elif self._strategy == "yield":
                os.sched_yield()
            if now - self._looked >= _LOOK_SECONDS:
                self._looked = now
                self._look()

    def _look(self) -> None:
        """Ends the queue if the sidecar has ended it. Completions in the ring come first."""
        self._control.look()
        if self._control.failure:
            while self._take():
                pass
            self._finish(self._control.failure)

    def _arm(self) -> bool:
        """Asks the sidecar for a wake-up. Returns False if there is something to do already."""
        self._completions.words[RING_CONSUMER_WAITS_OFFSET >> 2] = RING_WAITS_FOR_ANY
        rings = [ring for ring in (self._sends, self._receives) if ring.waiting]
        for ring in rings:
            ring.words[RING_PRODUCER_WAITS_OFFSET >> 2] = 1
        fence()
        with self._lock:
            for ring in rings:
                ring.publish_waiting()
        for ring in rings:
            self._wake_consumer(ring)
        if self._ready() or any(not ring.waiting for ring in rings):
            self._disarm()
            return False
        return True

    def _disarm(self) -> None:
        self._completions.words[RING_CONSUMER_WAITS_OFFSET >> 2] = RING_WAITS_NOT

    def _sleep(self, seconds: float) -> None:
        if self._arm():
            # The first sleep is short, because no fence of Python is promised.
            if not self._control.sleep(_LOOK_SECONDS) and not self._ready() and seconds > _LOOK_SECONDS:
                self._control.sleep(seconds - _LOOK_SECONDS)
            self._disarm()
        if self._control.failure:
            self._look()

    def _release(self) -> None:
        if self._turns:
            self._turns.end()
        self._control.close()
        with self._progress:
            if not self._leading:
                self._unmap()
            self._progress.notify_all()

    def _unmap(self) -> None:
        for ring in (self._completions, self._sends, self._receives):
            ring.unmap()


class _Turns:
    """Takes completions of a queue in an asyncio event loop."""

    def __init__(self, queue: RingQueue, loop: asyncio.AbstractEventLoop) -> None:
        self._queue = queue
        self._loop = loop
        self._begin = 0.0
        #: The next turn, if one is due. While the queue sleeps there may be none.
        self._next: Optional[asyncio.Handle] = None
        self._sleeps = False
        self._ended = False
        loop.add_reader(queue._control.fileno(), self._on_record)

    def begin(self) -> None:
        """Begins to look for completions, because work was posted."""
        if self._sleeps:
            self._wake_up()
        elif self._next is None and not self._ended:
            self._begin = time.monotonic()
            self._next = self._loop.call_soon(self._turn)

    def end(self) -> None:
        if not self._ended:
            self._ended = True
            if self._next:
                self._next.cancel()
            if not self._loop.is_closed():
                self._loop.remove_reader(self._queue._control.fileno())

    def _on_record(self) -> None:
        self._queue._look()
        if not self._ended:
            self._wake_up()

    def _wake_up(self) -> None:
        if self._next:
            self._next.cancel()
        self._next, self._sleeps = None, False
        self._queue._disarm()
        self.begin()

    def _turn(self) -> None:
        queue, now = self._queue, time.monotonic()
        self._next = None
        if queue._take():
            self._begin = now
        if self._ended or not queue._outstanding and not (queue._sends.waiting or queue._receives.waiting):
            return
        if self._sleeps:
            # This look covers a missing fence. From now on only a record, or a post, ends the sleep.
            if queue._ready():
                self._wake_up()
        elif queue._strategy != "sleep" and now - self._begin < _SPIN_SECONDS or not queue._arm():
            self._next = self._loop.call_soon(self._turn)
        else:
            self._sleeps = True
            self._next = self._loop.call_later(_LOOK_SECONDS, self._turn)


async def open_rings(session: SessionCore, outstanding: int, wait: Wait) -> RingQueue:
    """Opens a queue over rings. Raises FAILED_PRECONDITION or UNIMPLEMENTED where rings are impossible."""
    transport = session._transport
    if reason := why_impossible(transport.socket, transport.target):
        raise SidewarpError(f"{reason}; open the queue with path='any'", Code.FAILED_PRECONDITION)
    service = transport.rings
    if session.limits.max_queue_outstanding:
        outstanding = min(outstanding, session.limits.max_queue_outstanding)

    def destroy(created: Any) -> None:
        transport.forget(
            service.DestroyRing, ring_pb2.DestroyRingRequest(session=session.id, ring=created.completion_ring.id)
        )

    request = ring_pb2.CreateCompletionRingRequest(session=session.id, entries=outstanding)
    created = await transport.create(service.CreateCompletionRing, request, destroy)
    completion_ring = created.completion_ring
    rings: list[Any] = []
    control = None
    try:
        path = await session._find_file(completion_ring.file.path)
        rings.append(Ring(path, completion_ring.file.length, RING_KIND_COMPLETION))
        kind: Any
        for kind in (RING_KIND_SEND, RING_KIND_RECEIVE):
            work = ring_pb2.CreateWorkRingRequest(session=session.id, kind=kind, completion_ring=completion_ring.id)
            # The work ring ends with its completion ring.
            file = (await transport.create(service.CreateWorkRing, work, lambda _: None)).work_ring.file
            rings.append(WorkRing(await session._find_file(file.path), file.length, kind))
        control = Control(os.path.join(os.path.dirname(transport.socket or ""), completion_ring.socket))
        if transport.loop is None:
            control.greet(completion_ring.token, transport.timeout)
        else:
            await transport.loop.run_in_executor(None, control.greet, completion_ring.token, transport.timeout)
        return RingQueue(session, (rings[0], rings[1], rings[2]), control, wait)
    except BaseException as e:
        if control:
            control.close()
        for ring in rings:
            ring.unmap()
        destroy(created)
        if isinstance(e, OSError):
            raise SidewarpError(
                f"this process cannot use the files of a ring: {e}; mount the volume that the sidecar mounts, and run"
                " under a user or group of its clients",
                Code.FAILED_PRECONDITION,
            ) from e
        raise
