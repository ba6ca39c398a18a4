# Copyright The Sidewarp Authors
# SPDX-License-Identifier: Apache-2.0
"""Regions: views, arrays, DLPack, and what keeps a region mapped."""

import gc
import os

import numpy
import pytest
import sidewarp


@pytest.fixture
def session(sidecars):
    with sidecars[0].connect() as opened:
        yield opened


def test_array_shares_the_memory_of_the_file(sidecars, session):
    with session.region(1 << 16, path="shared-array") as region:
        array = region.array("float32", (128, 128))
        array[:] = numpy.arange(128 * 128).reshape(128, 128)
        with open(os.path.join(sidecars[0].volume, "shared-array"), "rb") as file:
            assert numpy.frombuffer(file.read(), "float32").reshape(128, 128).tolist() == array.tolist()
        assert region.array("int16", offset=8).shape == ((1 << 15) - 4,)
        del array


def test_region_with_views_is_not_closed(session):
    region = session.region(4096)
    array = region.array("uint8")
    with pytest.raises(sidewarp.ViewsExistError, match="views"):
        region.close()
    array[0] = 7
    assert region.view()[0] == 7 and len(session.regions()) == 1
    del array
    region.close()
    assert not session.regions()
    with pytest.raises(sidewarp.ClosedError):
        region.view()


def test_view_keeps_the_memory_when_everything_else_is_gone(sidecars):
    session = sidecars[0].connect()
    array = session.region(1 << 20).array("uint64")
    array[:] = 42
    session.close()
    del session
    gc.collect()
    assert (array == 42).all()


def test_failure_of_a_body_is_not_replaced_by_that_of_its_views(session):
    with pytest.raises(ZeroDivisionError):
        with session.region(4096) as region:
            view = region.view()
            1 / 0
    assert len(view) == 4096


def test_numpy_takes_a_tensor_without_a_copy(session):
    region = session.region(4096)
    # Older releases of NumPy make such an array read-only.
    array = numpy.from_dlpack(region.tensor("float32", (4, 8), offset=64))
    region.array("float32", offset=64)[31] = 1.5
    assert array.shape == (4, 8) and array[3, 7] == 1.5
    with pytest.raises(sidewarp.ViewsExistError):
        region.close()
    del array
    region.close()


def test_region_itself_is_a_tensor_of_bytes(session):
    region = session.region(4096)
    array = numpy.from_dlpack(region)
    region.view()[:] = b"\x09" * 4096
    assert array.dtype == numpy.uint8 and (array == 9).all()


def test_capsule_that_nobody_takes_releases_the_region(session):
    region = session.region(4096)
    capsule = region.tensor("int64").__dlpack__()
    with pytest.raises(sidewarp.ViewsExistError):
        region.close()
    del capsule
    region.close()


def test_tensor_of_unknown_type_or_size_is_refused(session):
    region = session.region(4096)
    with pytest.raises(ValueError, match="float13"):
        region.tensor("float13", (1,))
    with pytest.raises(IndexError, match="4096 bytes"):
        region.tensor("float32", (1025,))
    with pytest.raises(BufferError, match="without a copy"):
        region.__dlpack__(copy=True)


def test_part_outside_of_a_region_is_refused(session):
    region = session.region(4096)
    with pytest.raises(IndexError, match=r"4096 bytes; \[4000:5000\]"):
        region[4000:5000]
    with pytest.raises(IndexError):
        region[-5:]
    assert region[4096:].length == 0


def test_address_is_encoded_as_other_clients_do(session):
    region = session.region(4096, access=sidewarp.Access.REMOTE_READ)
    data = region.address.encode()
    assert len(data) == 12 and sidewarp.RemoteAddress.decode(data + b"more") == region.address
    assert region[16:32].address == (region.address.stag, region.address.offset + 16)


def test_file_is_created_as_asked(session):
    region = session.region(4096, path="created")
    assert not region.file_existed
    with pytest.raises(sidewarp.AlreadyExistsError, match="created") as raised:
        session.region(4096, path="created")
    assert not raised.value.retry
    region.close()
    with pytest.raises(sidewarp.NotFoundError):
        session.region(4096, path="created", create="never")


def test_access_rights_are_those_of_the_contract(session):
    access = sidewarp.Access.REMOTE_READ | sidewarp.Access.REMOTE_ATOMIC
    region = session.region(4096, access=access)
    assert list(region.description.access) == [2, 5]


def test_torch_takes_a_tensor_without_a_copy(session):
    torch = pytest.importorskip("torch")
    region = session.region(4096)
    tensor = torch.from_dlpack(region.tensor("bfloat16", (8, 16)))
    tensor.fill_(2.0)
    assert region.array("uint16", (128,)).tolist() == [0x4000] * 128
    with pytest.raises(sidewarp.ViewsExistError):
        region.close()
    del tensor
    region.close()


def test_jax_takes_a_tensor_without_a_copy(session):
    jax = pytest.importorskip("jax")
    region = session.region(4096)
    array = jax.dlpack.from_dlpack(region.tensor("float32", (16,)))
    assert array.unsafe_buffer_pointer() == region.array("float32").ctypes.data
