# Copyright The Sidewarp Authors
# SPDX-License-Identifier: Apache-2.0
"""Memory regions: files of the shared volume that this process maps, and memory of the sidecar."""

from __future__ import annotations

import enum
import math
import mmap
import os
import struct
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Optional, Union

from sidewarp._drive import Blocking, Closable, blocking
from sidewarp.dlpack import Tensor, size_of
from sidewarp.errors import ClosedError, Code, NotFoundError, SidewarpError, ViewsExistError
from sidewarp.v1 import memory_pb2

if TYPE_CHECKING:
    import numpy

    from sidewarp._session import SessionCore

DEFAULT_VOLUME = "/run/sidewarp/shared"
#: Ways to get the file of a shared region. `new`: the file must not exist. `reuse`: an existing file is opened, or
#: taken over with its content from a sidecar that was killed. `replace`: such a file is replaced. `never`: it must
#: exist.
Create = Literal["new", "reuse", "replace", "never"]
CREATE_MODES: dict[str, Any] = {
    "new": memory_pb2.CREATE_MODE_MUST_BE_NEW,
    "reuse": memory_pb2.CREATE_MODE_OPEN_OR_CREATE,
    "replace": memory_pb2.CREATE_MODE_REPLACE,
    "never": memory_pb2.CREATE_MODE_UNSPECIFIED,
}
_STORE_PIECE = 128 << 10


class Access(enum.Flag):
    """Access rights of a region. Combine them with `|`."""

    NONE = 0
    #: Receives, and the results of local Reads, may be placed into the region.
    LOCAL_WRITE = 1
    #: Peers may read, write or invalidate the region, or apply atomic operations to it.
    REMOTE_READ = 2
    REMOTE_WRITE = 4
    REMOTE_INVALIDATE = 8
    REMOTE_ATOMIC = 16

    def numbers(self) -> list[Any]:
        """Returns the numbers of the rights in the contract."""
        return [right.value.bit_length() for right in Access if right.value and right in self]


class RemoteAddress(NamedTuple):
    """A place in the memory of a peer: the STag and the tagged offset that the peer's application advertised."""

    stag: int
    offset: int

    def __add__(self, length: object) -> RemoteAddress:  # type: ignore[override]
        """Returns the address a number of bytes further."""
        if not isinstance(length, int):
            return NotImplemented
        return RemoteAddress(self.stag, self.offset + length)

    def encode(self) -> bytes:
        """Returns 12 bytes for private data, as the clients in Java and JavaScript use them."""
        return struct.pack(">IQ", self.stag, self.offset)

    @classmethod
    def decode(cls, data: bytes) -> RemoteAddress:
        """Reads the first 12 bytes of private data."""
        if len(data) < 12:
            raise ValueError(f"the address of a region has 12 bytes; got {len(data)}. Does the peer send an address?")
        return cls(*struct.unpack_from(">IQ", data))


class Slice(NamedTuple):
    """A part of a region, in bytes: a local element of a work request."""

    region: RegionCore
    offset: int
    length: int

    @property
    def address(self) -> RemoteAddress:
        return self.region.address + self.offset


Local = Union["RegionCore", Slice, Sequence[Union["RegionCore", Slice]]]


def slices(local: Local) -> list[Slice]:
    """Returns the parts of a `local` argument. A region stands for all of its bytes."""
    if isinstance(local, Slice):
        return [local]
    if isinstance(local, RegionCore):
        return [local[:]]
    return [part if isinstance(part, Slice) else part[:] for part in local]


class RegionCore(Closable):
    """Memory that is registered with the sidecar. `region[0:4096]` is a part for a work request."""

    def __init__(self, session: SessionCore, description: memory_pb2.Region) -> None:
        self._session = session
        self._closed = False
        self.description = description
        self.id: int = description.id
        self.length: int = description.length

    @property
    def address(self) -> RemoteAddress:
        """Address for peers. It is only of use with a remote right."""
        return RemoteAddress(self.description.stag, self.description.base_tagged_offset)

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, part: slice) -> Slice:
        begin = 0 if part.start is None else part.start
        end = self.length if part.stop is None else part.stop
        if part.step not in (None, 1):
            raise ValueError(f"a part of a region has no step; got {part.step}")
        if not 0 <= begin <= end <= self.length:
            raise IndexError(f"region {self.id} has {self.length} bytes; [{begin}:{end}] is not inside of it")
        return Slice(self, begin, end - begin)

    def __iter__(self) -> Iterator[Any]:
        raise TypeError("a region is no sequence; use region.view() for its bytes")

    def __repr__(self) -> str:
        name = self.description.path or "managed"
        return f"{type(self).__name__}({self.id}, {name}, {self.length} bytes)"

    async def _close(self) -> None:
        """Deregisters the region. Peers cannot use it any more when this returns."""
        if self._closed:
            return
        self._closed = True
        session = self._session
        session._forget(self)
        if session.is_open:
            request = memory_pb2.DeregisterRegionRequest(session=session.id, region=self.id)
            try:
                await session._transport.call(session._transport.memory.DeregisterRegion, request)
            except NotFoundError:
                pass
            except SidewarpError:
                if session.is_open:
                    raise


class SharedRegionCore(RegionCore):
    """A file of the shared volume, which this process maps.

    Views (memoryview, NumPy arrays, tensors) share the memory with the sidecar. Each view keeps the region mapped, so
    `close` raises ViewsExistError while views exist. The end of the session leaves the mapping to the views.
    """

    def __init__(self, session: SessionCore, description: memory_pb2.Region, memory: mmap.mmap) -> None:
        super().__init__(session, description)
        self._memory = memory

    @property
    def path(self) -> str:
        """Path of the file in the shared volume."""
        return str(self.description.path)

    @property
    def file_existed(self) -> bool:
        """True if the file existed before, and so has content."""
        return bool(self.description.file_existed)

    def view(self, offset: int = 0, length: Optional[int] = None) -> memoryview:
        """Returns a view of bytes: of all bytes behind `offset`, or of `length` bytes."""
        if self._memory.closed:
            raise ClosedError(f"region {self.id} ({self.path}) is closed; register it again")
        part = self[offset : self.length if length is None else offset + length]
        return memoryview(self._memory)[part.offset : part.offset + part.length]

    def array(
        self, dtype: Any = "uint8", shape: Union[int, tuple[int, ...], None] = None, offset: int = 0
    ) -> numpy.ndarray[Any, Any]:
        """Returns a NumPy array over the memory.

        `shape` is the extent of each dimension. Without it, the array has one dimension and all elements that fit
        behind `offset` bytes. Needs NumPy.
        """
        import numpy

        size = numpy.dtype(dtype).itemsize
        if shape is None:
            shape = ((self.length - offset) // size,)
        count = math.prod((shape,) if isinstance(shape, int) else shape)
        # The array refers to the view. An array of numpy.ndarray(buffer=...) would not keep the region mapped.
        return numpy.asarray(self.view(offset, count * size)).view(dtype).reshape(shape)

    def tensor(
        self, dtype: str = "uint8", shape: Union[int, tuple[int, ...], None] = None, offset: int = 0
    ) -> Tensor:
        """Returns an object for `from_dlpack` of torch, JAX or NumPy. Parameters as for `array`. Needs no NumPy."""
        if shape is None:
            shape = ((self.length - offset) // size_of(dtype, (1,)),)
        elif isinstance(shape, int):
            shape = (shape,)
        return Tensor(self.view(offset, size_of(dtype, shape)), dtype, shape)

    def __dlpack__(self, **options: Any) -> Any:
        """Exports all bytes, of type uint8."""
        return self.tensor().__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.tensor().__dlpack_device__()

    async def _close(self) -> None:
        """Unmaps and deregisters the region. The sidecar removes a file that it created.

        Raises ViewsExistError while views exist; the region then stays as it is.
        """
        try:
            self._memory.close()
        except BufferError:
            raise ViewsExistError(
                f"region {self.id} ({self.path}) has views, such as a memoryview or an array; delete them and close the"
                " region again, or leave the region to the end of the session"
            ) from None
        await super()._close()


class ManagedRegionCore(RegionCore):
    """Memory of the sidecar alone, for processes that do not mount the shared volume."""

    async def _store(self, data: Union[bytes, bytearray, memoryview], offset: int = 0) -> None:
        """Copies bytes into the region, beginning at `offset`."""
        octets = memoryview(data).cast("B")
        part = self[offset : offset + len(octets)]
        header = memory_pb2.StoreHeader(session=self._session.id, region=self.id, offset=part.offset)
        pieces = [memory_pb2.StoreRequest(header=header)]
        for begin in range(0, len(octets), _STORE_PIECE):
            pieces.append(memory_pb2.StoreRequest(data=bytes(octets[begin : begin + _STORE_PIECE])))
        await self._session._transport.call(self._session._transport.memory.Store, iter(pieces), limit=None)

    async def _load(self, offset: int = 0, length: Optional[int] = None) -> bytes:
        """Returns a copy of bytes of the region: of all bytes behind `offset`, or of `length` bytes."""
        part = self[offset : self.length if length is None else offset + length]
        if part.length == 0:
            return b""
        session = self._session
        request = memory_pb2.LoadRequest(
            session=session.id, region=self.id, offset=part.offset, length=part.length
        )
        pieces = bytearray()
        box = session._stream(session._transport.memory.Load, request, "load")
        while len(pieces) < part.length:
            pieces += (await box.take(None, "data of the region")).data
        return bytes(pieces)


class Region(SharedRegionCore, Blocking):
    __doc__ = SharedRegionCore.__doc__


class ManagedRegion(ManagedRegionCore, Blocking):
    __doc__ = ManagedRegionCore.__doc__
    store = blocking(ManagedRegionCore._store)
    load = blocking(ManagedRegionCore._load)


def find_file(volumes: list[str], path: str, sidecar_volume: str) -> str:
    """Returns the path of a file of the shared volume in this process."""
    for volume in volumes:
        if os.path.exists(file := os.path.join(volume, path)):
            return file
    raise SidewarpError(
        f'the sidecar\'s shared volume is not mounted in this process: there is no file "{path}" in'
        f" {' or in '.join(volumes)}; mount the volume that the sidecar mounts at {sidecar_volume}, and set"
        " SIDEWARP_VOLUME to where",
        Code.FAILED_PRECONDITION,
    )


def map_file(file: str, offset: int, length: int, page: int) -> mmap.mmap:
    """Maps whole pages of a file, up to its end, because the kernel does not unmap a part of a huge page.

    A file that cannot be written is mapped for reading: that is enough for sources of Writes and Sends.
    """
    try:
        descriptor, protection = os.open(file, os.O_RDWR | os.O_CLOEXEC), mmap.PROT_READ | mmap.PROT_WRITE
    except PermissionError:
        descriptor, protection = os.open(file, os.O_RDONLY | os.O_CLOEXEC), mmap.PROT_READ
    try:
        size = os.fstat(descriptor).st_size
        if size - offset < length:
            raise OSError(
                f"{file} has {size} bytes, and the region needs {length} at {offset}; check that this is the volume"
                " that the sidecar mounts"
            )
        octets = min(-(-length // page) * page, size - offset)
        # The sidecar has allocated the pages. Mapping them together is faster than one by one.
        return mmap.mmap(descriptor, octets, mmap.MAP_SHARED | mmap.MAP_POPULATE, protection, offset=offset)
    finally:
        os.close(descriptor)
