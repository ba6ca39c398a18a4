# Copyright The Sidewarp Authors
# SPDX-License-Identifier: Apache-2.0
"""Work requests and their completions."""

from __future__ import annotations

import enum
import struct
from typing import TYPE_CHECKING, Any, NamedTuple, Optional, Union

from sidewarp._layout import *  # noqa: F403
from sidewarp.errors import (
    FlushedError,
    InvalidWorkError,
    LocalAccessError,
    RdmaError,
    RemoteAccessWorkError,
    WorkError,
    rdma_of,
)
from sidewarp.region import Local, RegionCore, RemoteAddress, slices
from sidewarp.v1 import transfer_pb2, types_pb2

if TYPE_CHECKING:
    from sidewarp.connection import ConnectionCore
    from sidewarp.shared_receives import SharedReceivesCore


Remote = Union[RemoteAddress, tuple[int, int]]
Receiver = Union["ConnectionCore", "SharedReceivesCore"]
_ALL_BITS = (1 << 64) - 1
_MAX_LENGTH = (1 << 32) - 1
_FIRST = struct.Struct("=16xQBBBxIQQQII")
_OPERANDS = struct.Struct("=8xQQQQ24x")
_ELEMENTS = struct.Struct("=8xQQIIQQII8x")
_COMPLETION = struct.Struct("=8xQQBBBBIQQIBBBBBBH4x")


class Opcode(enum.Enum):
    """Kinds of work, with their numbers in the contract."""

    UNKNOWN = 0
    WRITE = 1
    READ = 2
    SEND = 3
    RECEIVE = 4
    IMMEDIATE = 5
    WRITE_WITH_IMMEDIATE = 6
    FETCH_ADD = 7
    COMPARE_SWAP = 8
    LOCAL_INVALIDATE = 9
    ENABLE = 10
    FLUSH = 11


class Status(enum.Enum):
    """Outcomes of work, with their numbers in the contract."""

    UNKNOWN = 0
    SUCCESS = 1
    FLUSHED = 2
    LOCAL_PROTECTION_ERROR = 3
    REMOTE_ACCESS_ERROR = 4
    REMOTE_OPERATION_ERROR = 5
    LOCAL_LENGTH_ERROR = 6
    REGION_FAULT = 7
    INVALID_REQUEST = 8
    FATAL = 9


_OPCODES = tuple(Opcode)
_STATUSES = tuple(Status)
_ERRORS = {
    Status.FLUSHED: FlushedError,
    Status.LOCAL_PROTECTION_ERROR: LocalAccessError,
    Status.REMOTE_ACCESS_ERROR: RemoteAccessWorkError,
    Status.INVALID_REQUEST: InvalidWorkError,
}


class Completion(NamedTuple):
    """Outcome of a work request."""

    #: Id of the connection. 0 if a receive of shared receives took no message.
    connection: int
    opcode: Opcode
    status: Status
    #: Bytes transferred; for a receive, the length of the message.
    length: int
    #: Receives: True if the sender asked for an event.
    solicited: bool = False
    #: Receives: the local STag that the sender invalidated.
    invalidated_stag: Optional[int] = None
    #: Receives: the Immediate Data that took the receive, as a number.
    immediate: Optional[int] = None
    #: Atomic operations: the earlier number in the peer's memory.
    original: Optional[int] = None
    #: Failures: the protocol error, the text for people, and the numbers of the gRPC status code and of `Retry`.
    error: Optional[RdmaError] = None
    message: str = ""
    code: int = 0
    retry: int = 0

    def failure(self) -> Optional[WorkError]:
        """Returns the exception for a failure, or None for a success."""
        if self.status is Status.SUCCESS:
            return None
        return _ERRORS.get(self.status, WorkError)(self)

    def or_raise(self) -> Completion:
        """Returns this completion if it is a success, and raises its failure otherwise."""
        if failure := self.failure():
            raise failure
        return self


class Work:
    """A work request: prepare it once, and post it any number of times.

    The class methods make the kinds of work. `local` is a region, a part such as `region[0:4096]`, or a sequence of
    them. `remote` is a RemoteAddress, or a pair of STag and tagged offset. `fence` waits until earlier Reads and atomic
    operations of the connection are complete. `flush` delays the completion until the peer has placed the data.
    """

    __slots__ = (
        *("receiver", "opcode", "flags", "remote", "local", "operands", "image"),
        *("is_receive", "carries_data", "is_answered"),
    )

    def __init__(
        self,
        receiver: Receiver,
        opcode: Opcode,
        local: Optional[Local] = None,
        remote: Optional[Remote] = None,
        flags: int = 0,
        operands: tuple[int, int, int, int] = (0, 0, 0, 0),
    ) -> None:
        self.receiver = receiver
        self.opcode = opcode
        self.local = slices(local) if local is not None else []
        self.remote = remote
        self.flags = flags
        self.operands = operands
        self.image = b""
        self.is_receive = opcode is Opcode.RECEIVE
        kind = opcode.name
        #: True if the peer gets data, and must confirm it; True if a success is an answer of the peer.
        self.carries_data = kind.startswith(("WRITE", "SEND", "IMMEDIATE"))
        self.is_answered = kind in ("READ", "FETCH_ADD", "COMPARE_SWAP", "FLUSH") or bool(flags & WORK_FLAG_WITH_FLUSH)
        if len(self.local) > WORK_MAX_ELEMENTS:
            raise ValueError(
                f"the work has {len(self.local)} local parts; at most {WORK_MAX_ELEMENTS} are possible. Split the work."
            )
        if (length := sum(part.length for part in self.local)) > _MAX_LENGTH:
            raise ValueError(f"the work has {length} bytes; at most {_MAX_LENGTH} are possible. Split the work.")

    @classmethod
    def write(
        cls,
        connection: ConnectionCore,
        local: Local,
        remote: Remote,
        *,
        immediate: Optional[int] = None,
        solicited: bool = False,
        flush: bool = False,
        fence: bool = False,
    ) -> Work:
        """RDMA Write to the peer's memory. `immediate` is a number that takes one receive of the peer afterwards."""
        flags = _flags(solicited=solicited, flush=flush, fence=fence)
        if immediate is None:
            return cls(connection, Opcode.WRITE, local, remote, flags)
        return cls(connection, Opcode.WRITE_WITH_IMMEDIATE, local, remote, flags, (_word(immediate), 0, 0, 0))

    @classmethod
    def read(cls, connection: ConnectionCore, local: Local, remote: Remote, *, fence: bool = False) -> Work:
        """RDMA Read from the peer's memory into one local part."""
        return cls(connection, Opcode.READ, local, remote, _flags(fence=fence))

    @classmethod
    def send(
        cls,
        connection: ConnectionCore,
        local: Local,
        *,
        solicited: bool = False,
        invalidate: Optional[int] = None,
        flush: bool = False,
        fence: bool = False,
    ) -> Work:
        """Sends a message, which takes one receive of the peer. `invalidate` is an STag of the peer to invalidate."""
        flags = _flags(solicited=solicited, flush=flush, fence=fence)
        if invalidate is None:
            return cls(connection, Opcode.SEND, local, None, flags)
        return cls(connection, Opcode.SEND, local, (invalidate, 0), flags | WORK_FLAG_INVALIDATE)

    @classmethod
    def receive(cls, receiver: Receiver, local: Local = ()) -> Work:
        """Receives one message, for a connection or for shared receives."""
        return cls(receiver, Opcode.RECEIVE, local, None, WORK_FLAG_SHARED if receiver.is_shared else 0)

    @classmethod
    def immediate(
        cls, connection: ConnectionCore, data: int, *, solicited: bool = False, flush: bool = False, fence: bool = False
    ) -> Work:
        """Sends a number of 64 bits in the completion of one receive of the peer."""
        flags = _flags(solicited=solicited, flush=flush, fence=fence)
        return cls(connection, Opcode.IMMEDIATE, None, None, flags, (_word(data), 0, 0, 0))

    @classmethod
    def fetch_add(
        cls, connection: ConnectionCore, remote: Remote, add: int, local: Local = (), *, fence: bool = False
    ) -> Work:
        """Adds to 64 bits of the peer's memory. `Completion.original` is the earlier number.

        `remote` is aligned to 8 bytes. The 8 bytes of `local`, if given, get the earlier number too.
        """
        return cls(connection, Opcode.FETCH_ADD, local, remote, _flags(fence=fence), (_word(add), 0, 0, 0))

    @classmethod
    def compare_swap(
        cls,
        connection: ConnectionCore,
        remote: Remote,
        compare: int,
        swap: int,
        local: Local = (),
        *,
        fence: bool = False,
    ) -> Work:
        """Replaces 64 bits of the peer's memory by `swap` if they equal `compare`. Otherwise as `fetch_add`."""
        operands = (_word(swap), _ALL_BITS, _word(compare), _ALL_BITS)
        return cls(connection, Opcode.COMPARE_SWAP, local, remote, _flags(fence=fence), operands)

    @classmethod
    def flush(cls, connection: ConnectionCore) -> Work:
        """Completes when the peer has placed the data of all earlier work."""
        return cls(connection, Opcode.FLUSH)

    @classmethod
    def invalidate(cls, connection: ConnectionCore, region: RegionCore) -> Work:
        """Takes the STag of a region out of use. The region must be limited to this connection."""
        return cls(connection, Opcode.LOCAL_INVALIDATE, region)

    @classmethod
    def enable(cls, connection: ConnectionCore, region: RegionCore, key: int) -> Work:
        """Gives a region an STag with new low 8 bits, without registering it again."""
        if not 0 <= key <= 255:
            raise ValueError(f"the key {key} is not between 0 and 255")
        return cls(connection, Opcode.ENABLE, region, None, 0, (key, 0, 0, 0))

    def to_image(self) -> bytes:
        """Returns the blocks of the request for a ring, without sequences and id."""
        if self.image:
            return self.image
        number = self.opcode.value
        blocks = []
        elements = [(part.region.id, part.offset, part.length) for part in self.local]
        if number in (WORK_OPCODE_WRITE_WITH_IMMEDIATE, WORK_OPCODE_FETCH_ADD, WORK_OPCODE_COMPARE_SWAP):
            blocks.append(_OPERANDS.pack(*self.operands))
        for i in range(1, len(elements), 2):
            pair = [*elements[i : i + 2], (0, 0, 0)]
            blocks.append(_ELEMENTS.pack(*pair[0], 0, *pair[1], 0))
        count, first = len(elements), elements[0] if elements else (0, 0, 0)
        stag, offset = self.remote or (0, 0)
        if number in (WORK_OPCODE_LOCAL_INVALIDATE, WORK_OPCODE_ENABLE):
            count, first = 0, (first[0], 0, self.operands[0])
        elif self.opcode is Opcode.IMMEDIATE:
            offset = self.operands[0]
        entry = _FIRST.pack(self.receiver.id, number, 1 + len(blocks), count, stag, offset, *first, self.flags)
        self.image = entry + b"".join(blocks)
        return self.image

    def to_proto(self, id: int = 0) -> transfer_pb2.WorkRequest:
        """Returns the request for the gRPC API."""
        local = [
            types_pb2.Sge(region=part.region.id, offset=part.offset, length=part.length) for part in self.local
        ]
        stag, offset = self.remote or (0, 0)
        remote = {"stag": stag, "tagged_offset": offset} if self.remote else None
        solicited = bool(self.flags & WORK_FLAG_SOLICITED)
        operand, _, compare, _ = self.operands
        work: dict[str, Any]
        if self.opcode is Opcode.WRITE:
            work = {"write": {"local": local, "remote": remote}}
        elif self.opcode is Opcode.WRITE_WITH_IMMEDIATE:
            work = {"write": {"local": local, "remote": remote, "immediate": operand, "solicited": solicited}}
        elif self.opcode is Opcode.READ:
            work = {"read": {"local": local, "remote": remote}}
        elif self.opcode is Opcode.SEND:
            invalidate = stag if self.flags & WORK_FLAG_INVALIDATE else None
            work = {"send": {"local": local, "solicited": solicited, "invalidate_stag": invalidate}}
        elif self.opcode is Opcode.RECEIVE:
            work = {"receive": {"local": local}}
        elif self.opcode is Opcode.IMMEDIATE:
            work = {"immediate": {"data": operand, "solicited": solicited}}
        elif self.opcode is Opcode.FETCH_ADD:
            work = {"fetch_add": {"local": local, "remote": remote, "add": operand}}
        elif self.opcode is Opcode.COMPARE_SWAP:
            work = {"compare_swap": {"local": local, "remote": remote, "compare": compare, "swap": operand}}
        elif self.opcode is Opcode.LOCAL_INVALIDATE:
            work = {"local_invalidate": {"region": self.local[0].region.id}}
        elif self.opcode is Opcode.ENABLE:
            work = {"enable": {"region": self.local[0].region.id, "key": operand}}
        else:
            work = {"flush": {}}
        work["shared_receive_queue" if self.flags & WORK_FLAG_SHARED else "connection"] = self.receiver.id
        fence, flush = bool(self.flags & WORK_FLAG_FENCE), bool(self.flags & WORK_FLAG_WITH_FLUSH)
        return transfer_pb2.WorkRequest(id=id, fence=fence, with_flush=flush, **work)


def _flags(solicited: bool = False, flush: bool = False, fence: bool = False) -> int:
    return (
        (WORK_FLAG_SOLICITED if solicited else 0)
        | (WORK_FLAG_WITH_FLUSH if flush else 0)
        | (WORK_FLAG_FENCE if fence else 0)
    )


def _word(number: int) -> int:
    """Returns a number of 64 bits without sign; negative numbers are taken as two's complement."""
    if not -(1 << 63) <= number <= _ALL_BITS:
        raise ValueError(f"{number} does not fit into 64 bits")
    return number & _ALL_BITS


def completion_of(response: transfer_pb2.WorkCompletion) -> Completion:
    """Returns the completion of a message of the gRPC API."""

    def optional(field: str) -> Optional[int]:
        return getattr(response, field) if response.HasField(field) else None

    return Completion(
        response.connection,
        _OPCODES[response.opcode] if response.opcode < len(_OPCODES) else Opcode.UNKNOWN,
        _STATUSES[response.status] if response.status < len(_STATUSES) else Status.UNKNOWN,
        response.length,
        response.solicited,
        optional("invalidated_stag"),
        optional("immediate"),
        optional("original"),
        rdma_of(response.error) if response.HasField("error") else None,
        response.message,
        response.code,
        response.retry,
    )


def decode_completion(ring: memoryview, begin: int) -> tuple[int, Completion]:
    """Decodes the first block of a completion in a ring. Returns the id of the work, and a completion without text."""
    fields = _COMPLETION.unpack_from(ring, begin)
    id, connection, opcode, _, status, _, flags, length, result, stag, *error, code, retry, _ = fields
    kind = _OPCODES[opcode] if opcode < len(_OPCODES) else Opcode.UNKNOWN
    outcome = _STATUSES[status] if status < len(_STATUSES) else Status.UNKNOWN
    if not flags and outcome is Status.SUCCESS:
        return id, Completion(connection, kind, outcome, length)
    layer, type, number, remote = error
    return id, Completion(
        connection,
        kind,
        outcome,
        length,
        bool(flags & COMPLETION_FLAG_SOLICITED),
        stag if flags & COMPLETION_FLAG_INVALIDATED else None,
        result if flags & COMPLETION_FLAG_IMMEDIATE else None,
        result if flags & COMPLETION_FLAG_ORIGINAL else None,
        RdmaError(layer, type, number, "", bool(remote)) if flags & COMPLETION_FLAG_ERROR else None,
        "",
        code,
        retry,
    )
