# Copyright The Sidewarp Authors
# SPDX-License-Identifier: Apache-2.0
"""Rings in shared memory and their socket (docs/rings.md).

Python has no atomic loads and stores and no fences. This module relies on the following facts, and so on x86-64:

* Sequences and words of the header are loaded and stored as one element of a memoryview of 4 or 8 bytes. CPython copies
  such an element with a memcpy of constant size, which is one instruction. All elements are aligned.
* x86-64 keeps the order of stores and the order of loads. The other bytes of an entry are copied before its sequence.
* A load can overtake an earlier store. `fence` prevents this: it takes a lock, which is a locked instruction. If some
  Python had locks without one, wake-ups would come a millisecond late: both sides look once more after 1 ms.
"""

from __future__ import annotations

import collections
import mmap
import platform
import select
import socket
import struct
import threading
import time
from typing import Optional

from sidewarp._drive import in_child
from sidewarp._layout import *  # noqa: F403
from sidewarp.errors import _CODES, Code, Retry, SidewarpError, UnavailableError
from sidewarp.region import map_file

_RECORD = struct.Struct("=IHHQ")
_HEADER = struct.Struct("=IIIIII")
_lock_for_fence = threading.Lock()


def fence() -> None:
    """Keeps earlier stores of this thread before later loads."""
    with _lock_for_fence:
        pass


def why_impossible(api_socket: Optional[str], target: str) -> Optional[str]:
    """Returns why this process cannot use rings, or None."""
    if platform.machine() not in ("x86_64", "AMD64"):
        return f"Python keeps the order of stores only on x86-64, and this is {platform.machine()}"
    if api_socket is None:
        return f"rings need the sidecar's Unix socket, and this client uses {target}"
    return None


class Ring:
    """A mapped ring."""

    def __init__(self, file: str, length: int, kind: int) -> None:
        self._map = map_file(file, 0, length, mmap.PAGESIZE)
        self.bytes = memoryview(self._map)
        self.words = self.bytes.cast("I")
        self.longs = self.bytes.cast("Q")
        magic, version, found, self.data, blocks, size = _HEADER.unpack_from(self.bytes)
        if (magic, version, found, size) != (RING_MAGIC, RING_VERSION, kind, RING_BLOCK_SIZE) or (
            blocks & (blocks - 1) or not 0 < self.data + blocks * size <= len(self.bytes)
        ):
            raise OSError(
                f"{file} is no ring of kind {kind}: magic {magic:#x}, version {version}, kind {found}, {blocks} blocks"
                f" of {size} bytes; use a client of the sidecar's version"
            )
        self.id = self.longs[3]
        self.blocks = blocks
        self.mask = blocks - 1
        #: Number of the next block to write or to read, since the beginning.
        self.next = 0

    def unmap(self) -> None:
        for view in (self.words, self.longs, self.bytes):
            view.release()
        self._map.close()


class WorkRing(Ring):
    """A ring that this process writes, and the work that waits for room in it."""

    def __init__(self, file: str, length: int, kind: int) -> None:
        super().__init__(file, length, kind)
        self._consumed = 0
        self.waiting: collections.deque[tuple[bytes, int]] = collections.deque()
        #: Numbers of requests that were given to `put`, and that were published.
        self.accepted = self.published = 0

    def put(self, image: bytes, id: int) -> int:
        """Publishes a request, or keeps it until there is room. Returns its number."""
        self.accepted += 1
        if self.waiting or not self._publish(image, id):
            self.waiting.append((image, id))
        return self.accepted

    def publish_waiting(self) -> None:
        while self.waiting and self._publish(*self.waiting[0]):
            self.waiting.popleft()

    def _publish(self, image: bytes, id: int) -> bool:
        begin_block, blocks, longs = self.next, len(image) >> 6, self.longs
        if begin_block + blocks - self._consumed > self.blocks:
            self._consumed = longs[RING_CONSUMED_OFFSET >> 3]
            if begin_block + blocks - self._consumed > self.blocks:
                return False
        for i in range(blocks - 1, 0, -1):
            begin = self.data + (((begin_block + i) & self.mask) << 6)
            self.bytes[begin + 8 : begin + 64] = image[i * 64 + 8 : i * 64 + 64]
            longs[begin >> 3] = begin_block + i + 1
        begin = self.data + ((begin_block & self.mask) << 6)
        self.bytes[begin + 16 : begin + 64] = image[16:64]
        longs[(begin >> 3) + 1] = id
        if id == 0:
            self.words[(begin + 60) >> 2] |= WORK_FLAG_UNSIGNALED
        # The sidecar takes the entry from now on.
        longs[begin >> 3] = begin_block + 1
        self.next = begin_block + blocks
        self.published += 1
        return True


class Control:
    """The socket of a completion ring, for wake-ups. It also tells when the sidecar has ended."""

    def __init__(self, path: str) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._forget_fork = in_child(self._socket.close)
        self._poll = select.poll()
        self._poll.register(self._socket, select.POLLIN)
        self._received = bytearray()
        self._send_lock = threading.Lock()
        self._welcome = False
        self.failure: Optional[SidewarpError] = None
        try:
            self._socket.connect(path)
        except OSError as e:
            self.close()
            raise OSError(f"cannot connect to the ring socket {path}: {e}") from e

    def greet(self, token: bytes, seconds: float) -> None:
        """Sends the token, and returns when the sidecar has accepted it."""
        self._send(RECORD_HELLO, 0, token)
        end = time.monotonic() + seconds
        while not self._welcome:
            if self.failure:
                raise self.failure
            if time.monotonic() > end:
                raise UnavailableError(f"the sidecar did not answer on the socket of a ring for {seconds} s")
            self.sleep(0.1)

    def fileno(self) -> int:
        return self._socket.fileno()

    def close(self) -> None:
        self._forget_fork()
        try:
            # Wakes a thread that sleeps on the socket.
            self._socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self._socket.close()

    def wake(self, ring: int) -> None:
        self._send(RECORD_WAKE, ring)

    def _send(self, kind: int, value: int, body: bytes = b"") -> None:
        try:
            with self._send_lock:
                self._socket.sendall(_RECORD.pack(_RECORD.size + len(body), RECORD_VERSION, kind, value) + body)
        except OSError as e:
            self.look()
            self._fail(f"the socket of the queue failed: {e}")

    def sleep(self, seconds: float) -> bool:
        """Sleeps until a record arrives, at most for a time, and reads it. Returns whether one has arrived."""
        arrived = bool(self._poll.poll(max(1.0, seconds * 1000)))
        self.look()
        return arrived

    def look(self) -> None:
        """Reads the records that have arrived, without waiting."""
        if self.failure:
            return
        try:
            received = self._socket.recv(RECORD_MAX_LENGTH, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return
        except OSError:
            received = b""
        if not received:
            self._fail(
                "the sidecar closed the socket of the queue before its work was complete; it has ended",
                Retry.AFTER_RECONNECTING,
            )
        self._received += received
        while len(self._received) >= RECORD_HEADER:
            length, _, kind, value = _RECORD.unpack_from(self._received)
            if not RECORD_HEADER <= length <= RECORD_MAX_LENGTH:
                self._fail(f"the sidecar sent a record of {length} bytes on the socket of the queue")
                return
            if len(self._received) < length:
                return
            text = self._received[RECORD_HEADER:length].decode("utf-8", "replace")
            del self._received[:length]
            self._welcome |= kind == RECORD_WELCOME
            if kind == RECORD_END:
                self._fail(f"the sidecar ended ring {value} of the queue: {text}; open another queue")
            elif kind == RECORD_ERROR:
                code = _CODES.get(value, Code.UNKNOWN)
                self.failure = self.failure or SidewarpError(
                    f"the sidecar closed the socket of the queue: {text}", code
                )

    def _fail(self, text: str, retry: Retry = Retry.LATER) -> None:
        self.failure = self.failure or UnavailableError(text, retry=retry)
