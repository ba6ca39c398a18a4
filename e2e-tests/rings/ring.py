# Copyright The Sidewarp Authors
# SPDX-License-Identifier: Apache-2.0
"""Queues in shared memory, as docs/rings.md describes them.

    post:     Ring.post() for each work request, then Ring.wake() once
    complete: Ring.take() until it returns None, at most some dozen times, then Ring.release() once
    wait:     Ring.spin() or Ring.wait() for completions, Ring.wait_free() for free blocks

Python has no atomic stores and no fences. This module relies on three facts instead:

* Words of the header and sequences are stored and loaded as one element of a memoryview of 4 or 8 bytes. CPython copies
  an aligned element with one instruction, and all elements are aligned. `struct.pack_into` may copy byte by byte.
  This module uses `struct.pack_into` only for bytes that the other side reads after a later store of a sequence.
* x86-64 keeps the order of stores and the order of loads. On other processors, fence() makes a system call that enters
  the scheduler. The scheduler has a full memory barrier.
* On x86-64 a load can still overtake an earlier store. Therefore the sidecar checks a ring again 1 ms after it began to
  sleep. wait() does the same: its first sleep takes at most 1 ms.
"""

import collections
import mmap
import os
import platform
import select
import socket
import struct
import time

from layout import *  # noqa: F403, the constants of docs/rings-vector.txt

Element = collections.namedtuple("Element", "region offset length")
Completion = collections.namedtuple(
    "Completion",
    "id connection opcode status tag flags length result invalidated_stag error code retry text",
)

ALL_BITS = (1 << 64) - 1  # as operand_mask and compare_mask
_KEEPS_ORDER = platform.machine() in ("x86_64", "AMD64")
_FIRST = struct.Struct("=QQQBBBBIQQQII")  # the first block of a work request
_OPERANDS = struct.Struct("=8xQQQQ")
_ELEMENT = struct.Struct("=QQII")
COMPLETION = struct.Struct("=8xQQBBBBIQQIBBBBBBH4x")
_RECORD = struct.Struct("=IHHQ")
_HAVE_OPERANDS = (WORK_OPCODE_WRITE_WITH_IMMEDIATE, WORK_OPCODE_FETCH_ADD, WORK_OPCODE_COMPARE_SWAP)
_NAME_REGION = (WORK_OPCODE_LOCAL_INVALIDATE, WORK_OPCODE_ENABLE)


class RingError(Exception):
    """Error of a ring. The message says what failed, and what to do."""


def fence():
    """Keeps earlier stores and loads of this thread before later ones. Does nothing on x86-64, which needs no fence."""
    if not _KEEPS_ORDER:
        os.sched_yield()


def encode_work(
    first,
    opcode,
    id,
    connection,
    elements=(),
    tag=0,
    flags=0,
    remote_stag=0,
    remote_offset=0,
    payload=b"",
    operand=0,
    operand_mask=0,
    compare=0,
    compare_mask=0,
):
    """Returns the bytes of a work request. `first` is the number of its first block."""
    if len(elements) > WORK_MAX_ELEMENTS:
        raise RingError(
            f"A work request has {len(elements)} elements; at most {WORK_MAX_ELEMENTS} fit. Post several requests."
        )
    if flags & WORK_FLAG_INLINE and (elements or len(payload) > WORK_MAX_INLINE):
        raise RingError(
            f"An inline work request has {len(payload)} bytes and {len(elements)} elements; at most {WORK_MAX_INLINE}"
            " bytes and no element fit. Use a region."
        )
    further = []
    if opcode in _HAVE_OPERANDS:
        further.append(_OPERANDS.pack(operand, operand_mask, compare, compare_mask))
    for i in range(1, len(elements), 2):
        further.append(bytes(8) + b"".join(_ELEMENT.pack(*element, 0) for element in elements[i : i + 2]))
    for i in range(0, len(payload), WORK_BLOCK_PAYLOAD):
        further.append(bytes(8) + payload[i : i + WORK_BLOCK_PAYLOAD])
    region, offset, length = elements[0] if elements else (0, 0, len(payload))
    count = 0 if opcode in _NAME_REGION else len(elements)
    entry = bytearray((1 + len(further)) * RING_BLOCK_SIZE)
    _FIRST.pack_into(
        entry,
        0,
        first + 1,
        id,
        connection,
        opcode,
        1 + len(further),
        count,
        tag,
        remote_stag,
        remote_offset,
        region,
        offset,
        length,
        flags,
    )
    for i, block in enumerate(further, 1):
        begin = i * RING_BLOCK_SIZE
        entry[begin : begin + len(block)] = block
        struct.pack_into("=Q", entry, begin, first + i + 1)
    return entry


def decode_completion(blocks):
    """Returns the completion that these bytes encode."""
    (
        id,
        connection,
        opcode,
        count,
        status,
        tag,
        flags,
        length,
        result,
        stag,
        layer,
        kind,
        error,
        remote,
        code,
        retry,
        text_length,
    ) = COMPLETION.unpack_from(blocks)
    text = b"".join(bytes(blocks[i * RING_BLOCK_SIZE + 8 : (i + 1) * RING_BLOCK_SIZE]) for i in range(1, count))[
        :text_length
    ].decode("utf-8", "replace")
    rdma_error = (layer, kind, error, bool(remote)) if flags & COMPLETION_FLAG_ERROR else None
    return Completion(id, connection, opcode, status, tag, flags, length, result, stag, rdma_error, code, retry, text)


def encode_record(type, value, body=b""):
    return _RECORD.pack(_RECORD.size + len(body), RECORD_VERSION, type, value) + body


class Ring:
    """A mapped ring. Only one thread may use it."""

    def __init__(self, path, kind):
        with open(path, "r+b") as file:
            self._map = mmap.mmap(file.fileno(), 0)
        self._bytes = memoryview(self._map)
        words = self._bytes[: len(self._bytes) // 8 * 8]
        self._words = words.cast("I")
        self._longs = words.cast("Q")
        magic, version, found, data, blocks, size = struct.unpack_from("=IIIIII", self._bytes)
        if (magic, version, size) != (RING_MAGIC, RING_VERSION, RING_BLOCK_SIZE):
            raise RingError(
                f"Ring {path} has magic {magic:#x}, version {version}, blocks of {size} bytes; expected"
                f" {RING_MAGIC:#x}, {RING_VERSION}, {RING_BLOCK_SIZE}. Use the ring.py of the sidecar's version."
            )
        if found != kind:
            raise RingError(f"Ring {path} is of kind {found}; expected {kind}. Give the file of the other ring.")
        if blocks == 0 or blocks & (blocks - 1) or data + blocks * size > len(self._bytes):
            raise RingError(f"Ring {path} has {len(self._bytes)} bytes and {blocks} blocks. Create it again.")
        self.id = self._longs[RING_RING_OFFSET // 8]
        self._data = data
        self._blocks = blocks
        self._next = 0  # number of the next block to write or to read
        self._released = 0

    def close(self):
        for view in (self._words, self._longs, self._bytes):
            view.release()
        self._map.close()

    def _sequence(self, number):
        """Returns the index in _longs of a block's sequence."""
        return (self._data + number % self._blocks * RING_BLOCK_SIZE) // 8

    def _block(self, number):
        begin = self._data + number % self._blocks * RING_BLOCK_SIZE
        return self._bytes[begin : begin + RING_BLOCK_SIZE]

    def free(self):
        """Returns the number of free blocks of a work ring."""
        consumed = self._longs[RING_CONSUMED_OFFSET // 8]
        fence()  # acquire: the consumer has finished its copy before this thread writes the blocks again
        return self._blocks - (self._next - consumed)

    def post(self, **work):
        """Publishes a work request with the parameters of encode_work(). Returns False if too few blocks are free."""
        entry = encode_work(self._next, **work)
        count = len(entry) // RING_BLOCK_SIZE
        if self.free() < count:
            return False
        for i in range(count - 1, -1, -1):
            begin = 0 if i else 8
            self._block(self._next + i)[begin:] = entry[i * RING_BLOCK_SIZE + begin : (i + 1) * RING_BLOCK_SIZE]
        fence()  # release: a consumer that sees the sequence of the first block sees all blocks
        self._longs[self._sequence(self._next)] = self._next + 1
        self._next += count
        return True

    def ready(self):
        """Returns whether a completion can be taken."""
        return self._longs[self._sequence(self._next)] == self._next + 1

    def take(self):
        """Copies and returns the next completion, or None. release() returns its blocks to the sidecar."""
        if not self.ready():
            return None
        fence()  # acquire
        count = self._block(self._next)[COMPLETION_BLOCKS_OFFSET]
        if count == 0:
            raise RingError("A completion has 0 blocks: the completion ring is damaged. Open a new session.")
        completion = decode_completion(b"".join(self._block(self._next + i) for i in range(count)))
        self._next += count
        return completion

    def release(self, control):
        """Returns the blocks of taken completions to the sidecar. Call it once after a batch of take()."""
        if self._released == self._next:
            return
        self._released = self._next
        fence()  # release: this thread has finished its copies
        self._longs[RING_CONSUMED_OFFSET // 8] = self._next
        self._signal(control, RING_PRODUCER_WAITS_OFFSET)

    def wake(self, control):
        """Wakes the sidecar if it sleeps. Call it once after a batch of post()."""
        self._signal(control, RING_CONSUMER_WAITS_OFFSET)

    def _signal(self, control, offset):
        fence()
        # No atomic swap is needed. If the sidecar sets the word again between the load and the store, the WAKE record
        # still wakes the sidecar.
        if self._words[offset // 4]:
            self._words[offset // 4] = 0
            control.send(encode_record(RECORD_WAKE, self.id))

    def _wait(self, control, offset, mode, is_ready, seconds):
        deadline = None if seconds is None else time.monotonic() + seconds
        patience = None
        while not is_ready():
            left = None if deadline is None else deadline - time.monotonic()
            if left is not None and left <= 0:
                break
            if not self._words[offset // 4]:
                self._words[offset // 4] = mode
                # Python has no full fence, so the next sleep is short. After 1 ms the sidecar sees the store.
                patience = 0.001
            if not is_ready():
                control.sleep(min((limit for limit in (patience, left) if limit is not None), default=None))
                patience = None
        self._words[offset // 4] = RING_WAITS_NOT
        return is_ready()

    def wait(self, control, mode=RING_WAITS_FOR_ANY, seconds=None):
        """Sleeps until there is a completion, at most for `seconds`. Returns whether there is one."""
        return self._wait(control, RING_CONSUMER_WAITS_OFFSET, mode, self.ready, seconds)

    def wait_free(self, control, blocks, seconds=None):
        """Sleeps until a work ring has at least `blocks` free blocks. Returns whether it has."""
        return self._wait(control, RING_PRODUCER_WAITS_OFFSET, 1, lambda: self.free() >= blocks, seconds)

    def spin(self, control):
        """Polls until there is a completion. Reads the socket every millisecond, because the sidecar may have ended."""
        look = time.monotonic() + 0.001
        while not self.ready():
            if time.monotonic() >= look:
                control.look()
                look = time.monotonic() + 0.001


class Control:
    """The socket of a completion ring. The work rings of that completion ring use it, too."""

    def __init__(self, path, token):
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self._socket.connect(path)
        except OSError as e:
            raise RingError(f"Cannot connect to the ring socket {path}: {e}. Is the sidecar running?") from e
        self._poll = select.poll()
        self._poll.register(self._socket, select.POLLIN)
        self._received = bytearray()
        self._welcome = False
        self.send(encode_record(RECORD_HELLO, 0, token))
        end = time.monotonic() + 10
        while not self._welcome:
            if time.monotonic() > end:
                raise RingError(f"The sidecar did not answer on the ring socket {path} for 10 s. Read its log.")
            self.sleep(1)

    def close(self):
        self._socket.close()

    def send(self, record):
        try:
            self._socket.sendall(record)
        except OSError as e:
            raise RingError(
                f"Cannot write to the sidecar's ring socket: {e}. The sidecar has ended; open a new session."
            ) from e

    def sleep(self, seconds):
        """Sleeps until a record arrives, at most for `seconds`."""
        self._poll.poll(None if seconds is None else seconds * 1000)
        self.look()

    def look(self):
        """Reads the records that have arrived, without waiting. Fails if the sidecar or a ring has ended."""
        try:
            received = self._socket.recv(RECORD_MAX_LENGTH, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return
        except OSError:
            received = b""
        if not received:
            raise RingError("The sidecar closed the ring socket: it has ended, or was killed. Open a new session.")
        self._received += received
        while len(self._received) >= RECORD_HEADER:
            length, version, type, value = _RECORD.unpack_from(self._received)
            if version != RECORD_VERSION or not RECORD_HEADER <= length <= RECORD_MAX_LENGTH:
                raise RingError(
                    f"A record of the ring socket has version {version} and {length} bytes; expected"
                    f" {RECORD_VERSION} and {RECORD_HEADER} to {RECORD_MAX_LENGTH}. Use the ring.py of its version."
                )
            if len(self._received) < length:
                break
            text = self._received[RECORD_HEADER:length].decode("utf-8", "replace")
            del self._received[:length]
            if type == RECORD_END:
                raise RingError(f"Ring {value} ended: {text}. Create another one.")
            if type == RECORD_ERROR:
                raise RingError(f"The sidecar closes the ring socket with gRPC status {value}: {text}.")
            self._welcome |= type == RECORD_WELCOME
