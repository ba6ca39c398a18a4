# Copyright The Sidewarp Authors
# SPDX-License-Identifier: Apache-2.0
"""One side of an exchange over two connections whose work shares three rings. Does the work of exchange.c in Python."""

import mmap
import struct

from layout import *  # noqa: F403
from ring import ALL_BITS, Control, Element, Ring, RingError

CONNECTIONS = 2
RECEIVES = 32
WINDOW = 16
BATCH = 32
SLOTS = 256
MESSAGE = 64
BULK = 65536
SMALL = WORK_MAX_INLINE
# Offsets in the region: sent and received messages, target of the peer's Writes, source of Writes, sink of Reads.
OUT, IN, TARGET, SOURCE, COPY, COUNTER, FOUND = 0, 0x10000, 0x20000, 0x40000, 0x60000, 0x80000, 0x80008
REGION_LENGTH = 0x100000
FAREWELL = 0x6661726577656C6C


def message(from_client, c, number):
    """Returns message `number` of connection `c`, as the client or the server sends it."""
    return struct.pack("=8Q", *(from_client << 56 | c << 48 | number << 8 | i for i in range(MESSAGE // 8)))


class Work:
    """Does the work of one side in this process. ProgramWork in exchange.py has the same methods."""

    def __init__(self, setup, messages):
        self._is_client = setup.role == "client"
        self._region = setup.region
        self._connections = setup.connections
        self._messages = messages
        with open(setup.region_file, "r+b") as file:
            self._memory = mmap.mmap(file.fileno(), REGION_LENGTH)
        self._completions = Ring(setup.completion_ring, RING_KIND_COMPLETION)
        self._sends = Ring(setup.send_ring, RING_KIND_SEND)
        self._receives = Ring(setup.receive_ring, RING_KIND_RECEIVE)
        self._control = Control(setup.socket, setup.token)
        # Numbers of posted work, sent and received messages, signaled work and its completions.
        self._posted, self._sent, self._received = [0, 0], [0, 0], [0, 0]
        self._signaled = self._completed = 0
        self._farewell = False

    def post_receives(self):
        """Posts receives, and returns their number for each connection."""
        for slot in range(RECEIVES):
            for c in range(CONNECTIONS):
                self._post_receive(c, slot)
        self._receives.wake(self._control)
        return list(self._posted)

    def run(self, stag, offset):
        """Works with the peer's region, and returns the number of posted work requests for each connection."""
        print("exchanging", flush=True)
        self._exchange_messages()
        if self._is_client:
            self._use_remote_memory(stag, offset)
        self._be_refused()
        while self._completed < self._signaled or not (self._is_client or self._farewell):
            self._take(None, asleep=True)
        self._expect(self._completed == self._signaled, "Unsignaled work has a completion")
        if not self._is_client:
            here = self._memory[TARGET : TARGET + BULK] == self._pattern()
            counter = struct.unpack_from("=Q", self._memory, COUNTER)[0]
            self._expect(here and counter == FAREWELL, "The peer's data is not here")
        return list(self._posted)

    def close(self):
        self._control.close()
        for ring in (self._completions, self._sends, self._receives):
            ring.close()

    def _expect(self, condition, what, completion=None):
        if not condition:
            raise RingError(f"{what}; the completion: {completion}")

    def _part(self, offset, length):
        return Element(self._region, offset, length)

    def _post(self, ring, c, **work):
        """Posts to connection `c`.

        Waits for free blocks without taking completions: the completion ring has room for all work that can be
        outstanding. Releases taken completions first, because the sidecar may wait for their blocks.
        """
        while not ring.post(connection=self._connections[c], tag=c, **work):
            self._completions.release(self._control)
            ring.wake(self._control)
            ring.wait_free(self._control, WORK_MAX_BLOCKS)
        self._posted[c] += 1
        if ring is self._sends and not work.get("flags", 0) & WORK_FLAG_UNSIGNALED:
            self._signaled += 1

    def _post_receive(self, c, slot):
        part = self._part(IN + (c * SLOTS + slot) * MESSAGE, MESSAGE)
        self._post(self._receives, c, id=slot, opcode=WORK_OPCODE_RECEIVE, elements=[part])

    def _send_message(self, c):
        """Sends the next message: from one element, from three, or in the entry. One of eight has a completion."""
        number = self._sent[c]
        self._sent[c] += 1
        offset = OUT + (c * SLOTS + number % SLOTS) * MESSAGE
        text = message(self._is_client, c, number)
        # The slot can be written again, because the peer has answered its previous message.
        self._memory[offset : offset + MESSAGE] = text
        flags = WORK_FLAG_SOLICITED if number % 8 == 7 else WORK_FLAG_UNSIGNALED
        elements, payload = [], b""
        if number % 3 == 0:
            elements = [self._part(offset, 16), self._part(offset + 16, 16), self._part(offset + 32, 32)]
        elif number % 3 == 1:
            elements = [self._part(offset, MESSAGE)]
        else:
            flags |= WORK_FLAG_INLINE
            payload = text
        self._post(self._sends, c, id=number, opcode=WORK_OPCODE_SEND, flags=flags, elements=elements, payload=payload)

    def _handle_receive(self, completion):
        c = completion.tag
        self._expect(
            c < CONNECTIONS and completion.connection == self._connections[c],
            "A receive has the wrong connection or tag",
            completion,
        )
        solicited = bool(completion.flags & COMPLETION_FLAG_SOLICITED)
        if completion.flags & COMPLETION_FLAG_IMMEDIATE:
            self._expect(completion.result == FAREWELL and solicited, "The immediate data is wrong", completion)
            self._farewell = True
            return
        number = self._received[c]
        begin = IN + (c * SLOTS + completion.id) * MESSAGE
        found = self._memory[begin : begin + MESSAGE]
        good = completion.length == MESSAGE and found == message(not self._is_client, c, number)
        self._expect(good, "A message is wrong", completion)
        self._expect(solicited == (number % 8 == 7), "A message has the wrong solicited event", completion)
        self._received[c] += 1
        self._post_receive(c, completion.id)
        if not self._is_client:
            self._send_message(c)

    def _take(self, id, asleep):
        """Waits, spinning or asleep, then takes some completions. Returns the completion of send work `id`, if any."""
        self._receives.wake(self._control)
        self._sends.wake(self._control)
        if asleep:
            self._completions.wait(self._control)
        else:
            self._completions.spin(self._control)
        # A batch has a limit, so that blocks are released while completions keep arriving.
        for _ in range(BATCH):
            completion = self._completions.take()
            if completion is None:
                break
            if completion.opcode == WORK_OPCODE_RECEIVE:
                self._expect(completion.status == COMPLETION_STATUS_SUCCESS, "A receive failed", completion)
                self._handle_receive(completion)
                continue
            self._completed += 1
            if completion.id == id:
                self._completions.release(self._control)
                return completion
            self._expect(completion.status == COMPLETION_STATUS_SUCCESS, "Work failed", completion)
        self._completions.release(self._control)
        return None

    def _perform(self, c, **work):
        """Posts send work and waits for its completion."""
        id = 1_000_000_000 + self._posted[c]
        self._post(self._sends, c, id=id, **work)
        while not (completion := self._take(id, asleep=self._posted[c] % 2)):
            pass
        return completion

    def _perform_well(self, c, **work):
        completion = self._perform(c, **work)
        self._expect(completion.status == COMPLETION_STATUS_SUCCESS, "Work failed", completion)
        return completion

    def _exchange_messages(self):
        while min(self._received) < self._messages:
            for c in range(CONNECTIONS if self._is_client else 0):
                while self._sent[c] < self._messages and self._sent[c] - self._received[c] < WINDOW:
                    self._send_message(c)
            self._take(None, asleep=self._received[0] >= self._messages // 2)

    def _pattern(self):
        return bytes((i * 31 + (i >> 8)) & 0xFF for i in range(BULK))

    def _use_remote_memory(self, stag, offset):
        """Writes to the peer, reads back, and does atomic operations. The final Write with Immediate ends its loop."""
        pattern = self._pattern()
        small = bytes(255 - i for i in range(SMALL))
        self._memory[SOURCE : SOURCE + BULK] = pattern
        pieces = [self._part(SOURCE + begin, min(13000, BULK - begin)) for begin in range(0, BULK, 13000)]
        write = {"opcode": WORK_OPCODE_WRITE, "id": 1, "remote_stag": stag}
        target = offset + TARGET
        self._post(self._sends, 0, elements=pieces, remote_offset=target, flags=WORK_FLAG_UNSIGNALED, **write)
        flags = WORK_FLAG_UNSIGNALED | WORK_FLAG_INLINE
        self._post(self._sends, 0, payload=small, remote_offset=target + BULK, flags=flags, **write)
        copy = self._part(COPY, BULK + SMALL)
        read = self._perform_well(0, opcode=WORK_OPCODE_READ, remote_stag=stag, remote_offset=target, elements=[copy])
        same = self._memory[COPY : COPY + BULK + SMALL] == pattern + small
        self._expect(same and read.length == BULK + SMALL, "What was read back is not what was written", read)

        counter = {"remote_stag": stag, "remote_offset": offset + COUNTER}
        found = self._part(FOUND, 8)
        added = self._perform_well(1, opcode=WORK_OPCODE_FETCH_ADD, elements=[found], operand=5, **counter)
        self._expect(
            added.flags & COMPLETION_FLAG_ORIGINAL and added.result == 0, "Fetch Add found another number", added
        )
        swapped = self._perform_well(
            1,
            opcode=WORK_OPCODE_COMPARE_SWAP,
            flags=WORK_FLAG_FENCE,
            operand=FAREWELL,
            operand_mask=ALL_BITS,
            compare=5,
            compare_mask=ALL_BITS,
            **counter,
        )
        self._expect(
            swapped.flags & COMPLETION_FLAG_ORIGINAL and swapped.result == 5,
            "Compare Swap found another number",
            swapped,
        )
        self._perform_well(0, opcode=WORK_OPCODE_FLUSH)
        self._perform_well(
            1,
            opcode=WORK_OPCODE_WRITE_WITH_IMMEDIATE,
            flags=WORK_FLAG_SOLICITED,
            remote_stag=stag,
            remote_offset=target,
            elements=[self._part(SOURCE, BULK)],
            operand=FAREWELL,
        )

    def _be_refused(self):
        """Posts an invalid work request: no flag has this bit. The connection stays usable."""
        refused = self._perform(0, opcode=WORK_OPCODE_SEND, flags=1 << 30)
        expected = refused.status == 8 and refused.text  # COMPLETION_STATUS_INVALID_REQUEST
        self._expect(expected, "A wrong work request was not refused with a text", refused)
        print(f"refused code {refused.code}, retry {refused.retry}: {refused.text}", flush=True)
