# Copyright The Sidewarp Authors
# SPDX-License-Identifier: Apache-2.0
"""Prints the constants of layout.py and the example records of docs/rings-vector.txt, in the format of that file."""

import struct

import layout
import ring
from layout import *  # noqa: F403
from ring import Element, encode_record, encode_work

STAG = 0xA1B2C3D4


def record(name, data):
    print("record", name, bytes(data).hex())


def work(name, **fields):
    record(name, encode_work(0, **fields))


def header():
    data = bytearray(RING_DATA_OFFSET)
    fields = {
        RING_MAGIC_OFFSET: RING_MAGIC,
        RING_VERSION_OFFSET: RING_VERSION,
        RING_KIND_OFFSET: RING_KIND_SEND,
        RING_DATA_OFFSET_OFFSET: RING_DATA_OFFSET,
        RING_BLOCKS_OFFSET: 16,
        RING_BLOCK_SIZE_OFFSET: RING_BLOCK_SIZE,
        RING_RING_OFFSET: 0x202,
        RING_COMPLETION_RING_OFFSET: 0x201,
    }
    for offset, value in fields.items():
        struct.pack_into("=I", data, offset, value)
    record("HEADER", data)


def completion(name, fields, text=""):
    """Prints a completion, and checks that decoding returns the encoded values."""
    rest = text.encode()
    pieces = [rest[i : i + COMPLETION_BLOCK_TEXT] for i in range(0, len(rest), COMPLETION_BLOCK_TEXT)]
    error = fields.error or (0, 0, 0, False)
    data = ring.COMPLETION.pack(
        *(fields.id, fields.connection, fields.opcode, 1 + len(pieces), fields.status, fields.tag, fields.flags),
        *(fields.length, fields.result, fields.invalidated_stag, *error, fields.code, fields.retry, len(rest)),
    ) + b"".join(bytes(8) + piece.ljust(COMPLETION_BLOCK_TEXT, b"\0") for piece in pieces)
    data = bytearray(data)
    for i in range(1 + len(pieces)):
        struct.pack_into("=Q", data, i * RING_BLOCK_SIZE, i + 1)
    assert ring.decode_completion(data) == fields._replace(text=text)
    record(name, data)


def main():
    for name, value in vars(layout).items():
        if name.isupper():
            print("constant", name, value)
    header()
    work(
        "WRITE",
        id=0x1122334455667788,
        connection=5,
        opcode=WORK_OPCODE_WRITE,
        tag=7,
        flags=WORK_FLAG_UNSIGNALED,
        remote_stag=STAG,
        remote_offset=0x10000001000,
        elements=[Element(3, 4096, 8192)],
    )
    elements = [Element(3, 0, 16), Element(3, 64, 32), Element(4, 128, 48)]
    work("SEND_SOLICITED", id=2, connection=5, opcode=WORK_OPCODE_SEND, flags=WORK_FLAG_SOLICITED, elements=elements)
    work(
        "COMPARE_SWAP",
        id=3,
        connection=5,
        opcode=WORK_OPCODE_COMPARE_SWAP,
        flags=WORK_FLAG_FENCE,
        remote_stag=STAG,
        remote_offset=0x10000001008,
        elements=[Element(3, 256, 8)],
        operand=0x99,
        operand_mask=ring.ALL_BITS,
        compare=0x77,
        compare_mask=ring.ALL_BITS,
    )
    payload = b"sixty bytes of payload stand in two blocks behind the first."
    work("SEND_INLINE", id=4, connection=5, opcode=WORK_OPCODE_SEND, flags=WORK_FLAG_INLINE, payload=payload)
    elements = [Element(3, 512, 1024)]
    work("RECEIVE_SHARED", id=5, connection=9, opcode=WORK_OPCODE_RECEIVE, flags=WORK_FLAG_SHARED, elements=elements)
    flags = COMPLETION_FLAG_SOLICITED | COMPLETION_FLAG_INVALIDATED
    success = ring.Completion(
        5, 5, WORK_OPCODE_RECEIVE, COMPLETION_STATUS_SUCCESS, 7, flags, 96, 0, STAG, None, 0, 0, ""
    )
    completion("COMPLETION_SUCCESS", success)
    error = (1, 1, 1, True)
    failed = ring.Completion(1, 5, WORK_OPCODE_WRITE, 4, 7, COMPLETION_FLAG_ERROR, 0, 0, 0, error, 9, 3, "")
    completion("COMPLETION_FAILED", failed, "the write ends behind the region of the peer; use a smaller length")
    record("HELLO", encode_record(RECORD_HELLO, 0, bytes(range(0xE0, 0x100))))
    record("WELCOME", encode_record(RECORD_WELCOME, 0x201))
    record("WAKE", encode_record(RECORD_WAKE, 0x202))
    record("END", encode_record(RECORD_END, 0x202, b"destroyed"))
    record("ERROR", encode_record(RECORD_ERROR, 16, b"wrong token"))


if __name__ == "__main__":
    main()
