# Copyright The Sidewarp Authors
# SPDX-License-Identifier: Apache-2.0
"""Records of rings against docs/rings-vector.txt, and the assumption about stores that rings rely on."""

import mmap
import multiprocessing
import struct
import types

import pytest
import sidewarp
from sidecar import ROOT
from sidewarp import _layout, _rings, work
from sidewarp.region import RegionCore
from sidewarp.work import Work

STAG = 0xA1B2C3D4


def vector():
    constants, records = {}, {}
    for line in (ROOT / "docs/rings-vector.txt").read_text().splitlines():
        if line.startswith("constant "):
            _, name, value = line.split()
            constants[name] = int(value)
        elif line.startswith("record "):
            _, name, value = line.split()
            records[name] = bytes.fromhex(value)
    return constants, records


CONSTANTS, RECORDS = vector()


def region(id):
    description = types.SimpleNamespace(id=id, length=1 << 20, stag=0, base_tagged_offset=0)
    return RegionCore(None, description)


def receiver(id, shared=False):
    return types.SimpleNamespace(id=id, is_shared=shared)


def entry(request, id, unsignaled=False):
    """Returns the entry that a ring of 16 blocks gets."""
    ring = object.__new__(_rings.WorkRing)
    memory = memoryview(bytearray(512 + 16 * 64))
    ring.bytes, ring.words, ring.longs = memory, memory.cast("I"), memory.cast("Q")
    ring.data, ring.blocks, ring.mask, ring.next, ring._consumed, ring.published = 512, 16, 15, 0, 0, 0
    image = request.to_image()
    assert ring._publish(image, id)
    if unsignaled:
        ring.words[(512 + 60) // 4] |= _layout.WORK_FLAG_UNSIGNALED
    return bytes(memory[512 : 512 + len(image)])


def masked(record, *fields):
    """Sets bytes to zero that this client uses in another way than the example does."""
    data = bytearray(record)
    for begin, end in fields:
        data[begin:end] = bytes(end - begin)
    return bytes(data)


TAG = (27, 28)


def test_constants_are_those_of_the_document():
    ours = {name: value for name, value in vars(_layout).items() if name.isupper()}
    assert ours.items() <= CONSTANTS.items()


def test_write_is_encoded_as_in_the_document():
    request = Work.write(receiver(5), region(3)[4096 : 4096 + 8192], (STAG, 0x10000001000))
    assert entry(request, 0x1122334455667788, unsignaled=True) == masked(RECORDS["WRITE"], TAG)


def test_send_of_three_parts_is_encoded_as_in_the_document():
    local = [region(3)[0:16], region(3)[64:96], region(4)[128:176]]
    assert entry(Work.send(receiver(5), local, solicited=True), 2) == RECORDS["SEND_SOLICITED"]


def test_compare_swap_is_encoded_as_in_the_document():
    request = Work.compare_swap(receiver(5), (STAG, 0x10000001008), 0x77, 0x99, region(3)[256:264], fence=True)
    assert entry(request, 3) == RECORDS["COMPARE_SWAP"]


def test_receive_of_shared_receives_is_encoded_as_in_the_document():
    assert entry(Work.receive(receiver(9, shared=True), region(3)[512:1536]), 5) == RECORDS["RECEIVE_SHARED"]


def test_completions_are_decoded_as_in_the_document():
    id, success = work.decode_completion(memoryview(RECORDS["COMPLETION_SUCCESS"]), 0)
    assert (id, success.connection, success.opcode, success.length) == (5, 5, sidewarp.Opcode.RECEIVE, 96)
    assert success.solicited and success.invalidated_stag == STAG and success.failure() is None

    id, failed = work.decode_completion(memoryview(RECORDS["COMPLETION_FAILED"]), 0)
    failure = failed.failure()
    assert isinstance(failure, sidewarp.RemoteAccessError) and isinstance(failure, sidewarp.WorkError)
    assert failure.rdma[:3] == (1, 1, 1) and failure.rdma.remote
    assert failure.code.name == "FAILED_PRECONDITION" and failure.retry is sidewarp.Retry.LATER


def test_records_of_the_socket_are_encoded_as_in_the_document():
    sent = []
    control = object.__new__(_rings.Control)
    control._socket = types.SimpleNamespace(sendall=sent.append)
    control._send_lock = __import__("threading").Lock()
    control.wake(0x202)
    control._send(_layout.RECORD_HELLO, 0, bytes(range(0xE0, 0x100)))
    assert sent == [RECORDS["WAKE"], RECORDS["HELLO"]]


def test_end_of_a_ring_is_decoded_as_in_the_document():
    control = object.__new__(_rings.Control)
    control._received, control._welcome, control.failure = bytearray(), False, None
    pieces = [RECORDS["WELCOME"], RECORDS["END"][:10], RECORDS["END"][10:]]
    control._socket = types.SimpleNamespace(recv=lambda *_: pieces.pop(0))
    for _ in range(3):
        control.look()
    assert control._welcome
    assert "ring 514" in str(control.failure) and "destroyed" in str(control.failure)


def test_rings_are_refused_where_stores_have_no_order(monkeypatch):
    monkeypatch.setattr(_rings.platform, "machine", lambda: "aarch64")
    assert "aarch64" in _rings.why_impossible("/run/api.sock", "unix:/run/api.sock")


def write_patterns(memory, ended):
    longs = memoryview(memory).cast("Q")
    while not ended.is_set():
        for _ in range(1000):
            longs[1] = 0
            longs[1] = (1 << 64) - 1


@pytest.mark.skipif(_rings.platform.machine() != "x86_64", reason="rings are used on x86-64 only")
def test_eight_aligned_bytes_are_stored_at_once():
    memory = mmap.mmap(-1, mmap.PAGESIZE)
    context = multiprocessing.get_context("fork")
    ended = context.Event()
    writer = context.Process(target=write_patterns, args=(memory, ended))
    writer.start()
    try:
        longs = memoryview(memory).cast("Q")
        seen = set()
        for _ in range(300_000):
            seen.add(longs[1])
        assert seen <= {0, (1 << 64) - 1}
    finally:
        ended.set()
        writer.join()


def test_header_of_another_version_is_refused(tmp_path):
    header = bytearray(RECORDS["HEADER"] + bytes(16 * 64))
    struct.pack_into("=I", header, 4, 2)
    (tmp_path / "ring").write_bytes(header)
    with pytest.raises(OSError, match="version 2"):
        _rings.Ring(str(tmp_path / "ring"), len(header), _layout.RING_KIND_SEND)
