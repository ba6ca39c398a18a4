# Copyright The Sidewarp Authors
# SPDX-License-Identifier: Apache-2.0
"""Memory of a region as a tensor of the DLPack protocol, without NumPy and without a copy.

    tensor = torch.from_dlpack(region.tensor("bfloat16", (512, 512)))

A consumer of the capsule keeps the region mapped until it deletes its tensor.
"""

from __future__ import annotations

import ctypes
import math
from typing import Any, Optional

_CPU = 1
#: Code and bits of each type (DLDataTypeCode: 0 int, 1 uint, 2 float, 4 bfloat, 5 complex, 6 bool).
_TYPES = {
    **{f"int{bits}": (0, bits) for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": (1, bits) for bits in (8, 16, 32, 64)},
    **{f"float{bits}": (2, bits) for bits in (16, 32, 64)},
    "bfloat16": (4, 16),
    "complex64": (5, 64),
    "complex128": (5, 128),
    "bool": (6, 8),
}


class _DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("type_code", ctypes.c_uint8),
        ("type_bits", ctypes.c_uint8),
        ("type_lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class _DLManagedTensor(ctypes.Structure):
    pass


_Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_DLManagedTensor._fields_ = [("dl_tensor", _DLTensor), ("manager_ctx", ctypes.c_void_p), ("deleter", _Deleter)]

#: The objects of each exported tensor, by the address of its structure.
_exported: dict[int, tuple[Any, ...]] = {}


@_Deleter
def _delete(address: int) -> None:
    _exported.pop(address, None)


@_Deleter
def _delete_unused(capsule: int) -> None:
    """Runs when a capsule ends. A consumer renames the capsule that it takes, and deletes the tensor itself."""
    if _is_valid(capsule, b"dltensor"):
        _exported.pop(_pointer(capsule, b"dltensor"), None)


# The capsule is an address here, because an ending object must not get new references.
_is_valid = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_IsValid", ctypes.pythonapi))
_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)
_new_capsule = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, _Deleter)(
    ("PyCapsule_New", ctypes.pythonapi)
)


def size_of(dtype: str, shape: tuple[int, ...]) -> int:
    """Returns the bytes of a tensor."""
    if dtype not in _TYPES:
        raise ValueError(f'unknown type "{dtype}"; use one of {", ".join(_TYPES)}')
    if any(extent < 0 for extent in shape):
        raise ValueError(f"the shape {shape} has a negative extent")
    return math.prod(shape) * _TYPES[dtype][1] // 8


class Tensor:
    """A tensor over a part of a region, for `from_dlpack` of torch, JAX, NumPy and others."""

    def __init__(self, memory: memoryview, dtype: str, shape: tuple[int, ...]) -> None:
        if memory.readonly:
            raise BufferError("this process maps the region for reading only, and DLPack has no read-only tensors")
        self._memory = memory
        self.dtype = dtype
        self.shape = shape

    def __dlpack_device__(self) -> tuple[int, int]:
        return _CPU, 0

    def __dlpack__(
        self,
        *,
        stream: Optional[int] = None,
        max_version: Optional[tuple[int, int]] = None,
        dl_device: Optional[tuple[int, int]] = None,
        copy: Optional[bool] = None,
    ) -> Any:
        """Returns a capsule of version 0, which every consumer takes. `copy=True` is refused."""
        if copy or dl_device not in (None, (_CPU, 0)):
            raise BufferError("a region can only be exported without a copy, to the processor's memory")
        code, bits = _TYPES[self.dtype]
        dimensions = len(self.shape)
        extents = (ctypes.c_int64 * dimensions)(*self.shape)
        strides = (ctypes.c_int64 * dimensions)(*(math.prod(self.shape[i + 1 :]) for i in range(dimensions)))
        memory = (ctypes.c_char * len(self._memory)).from_buffer(self._memory)
        managed = _DLManagedTensor()
        managed.dl_tensor = _DLTensor(
            ctypes.addressof(memory), _CPU, 0, dimensions, code, bits, 1, extents, strides, 0
        )
        managed.deleter = _delete
        address = ctypes.addressof(managed)
        _exported[address] = (managed, extents, strides, memory)
        return _new_capsule(address, b"dltensor", _delete_unused)
