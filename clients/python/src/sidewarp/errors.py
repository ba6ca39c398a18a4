# Copyright The Sidewarp Authors
# SPDX-License-Identifier: Apache-2.0
"""Exceptions of the client. Each message says what failed and what to do; `retry` says when to try again.

docs/errors.md lists the errors of the sidecar with their status codes and `retry`.
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, NamedTuple, Optional

import grpc

from sidewarp import _status_pb2
from sidewarp.v1 import connection_pb2, types_pb2

if TYPE_CHECKING:
    from sidewarp.work import Completion

Code = grpc.StatusCode
_CODES = {code.value[0]: code for code in Code}


class Retry(enum.Enum):
    """Time at which the same request may succeed. False only for `NEVER`."""

    NEVER = 1
    AFTER_RECONNECTING = 2
    LATER = 3

    def __bool__(self) -> bool:
        return self is not Retry.NEVER


_RETRY_BY_CODE = {
    Code.RESOURCE_EXHAUSTED: Retry.LATER,
    Code.UNAVAILABLE: Retry.LATER,
    Code.DEADLINE_EXCEEDED: Retry.LATER,
    Code.ABORTED: Retry.LATER,
    Code.CANCELLED: Retry.LATER,
    Code.UNAUTHENTICATED: Retry.AFTER_RECONNECTING,
}


class RdmaError(NamedTuple):
    """Error of the protocol stack, as a Terminate message carries it (RFC 5040 section 4.8)."""

    layer: int
    type: int
    code: int
    name: str
    remote: bool

    def __str__(self) -> str:
        side = "reported by the peer" if self.remote else "found here"
        name = f" {self.name}" if self.name else ""
        return f"{self.layer:#x}/{self.type:#x}/{self.code:#04x}{name}, {side}"

    @property
    def is_access_error(self) -> bool:
        """True if a peer refused access to its memory: wrong STag, bounds or rights."""
        return self.remote and self.layer in (0, 1) and self.type == 1


class SidewarpError(Exception):
    """Base of all errors of a sidecar or a peer.

    `code` is the gRPC status code, `retry` the time to try again, and `rdma` the protocol error if there is one.
    """

    _code = Code.UNKNOWN

    def __init__(
        self,
        message: str,
        code: Optional[grpc.StatusCode] = None,
        retry: Optional[Retry] = None,
        rdma: Optional[RdmaError] = None,
    ) -> None:
        super().__init__(message)
        self.code = code or self._code
        self.retry = retry if retry is not None else _RETRY_BY_CODE.get(self.code, Retry.NEVER)
        self.rdma = rdma


class RemoteAccessError(SidewarpError):
    """The peer refused access to its memory: wrong STag, bounds or rights."""


class RejectedError(SidewarpError):
    """The peer's application rejected a connection.

    `private_data` is its answer. `peer_ird` and `peer_ord` are None if the peer did not announce them.
    """

    private_data: bytes = b""
    peer_ird: Optional[int] = None
    peer_ord: Optional[int] = None


class UnavailableError(SidewarpError):
    """The sidecar or the peer cannot be reached, or a connection was lost."""

    _code = Code.UNAVAILABLE


class DeadlineError(SidewarpError, TimeoutError):
    """The time limit expired. The request may have been carried out."""

    _code = Code.DEADLINE_EXCEEDED


class LimitError(SidewarpError):
    """A limit is reached. The message names the setting."""


class NotFoundError(SidewarpError, LookupError):
    """The session has no such object, or a file does not exist."""

    _code = Code.NOT_FOUND


class AlreadyExistsError(SidewarpError):
    """A file of the shared volume is in use."""


class SessionLostError(SidewarpError):
    """The session ended, for example because the sidecar was killed. Its objects are gone; connect again."""

    _code = Code.UNAVAILABLE


class UnconfirmedError(SidewarpError):
    """Earlier Writes and Sends may not have arrived. A flush that succeeds tells what has arrived."""


class ClosedError(SidewarpError):
    """The application closed the object that it now uses."""

    _code = Code.FAILED_PRECONDITION


class ForkedError(RuntimeError):
    """The process was forked after a session had been opened. Fork before, or start the child with `spawn`."""


class ViewsExistError(BufferError):
    """A region cannot be closed, because views of its memory exist."""


class WorkError(SidewarpError):
    """A work request failed. `completion` describes the failure."""

    def __init__(self, completion: Completion) -> None:
        text = completion.message or "the sidecar gave no reason"
        rdma = f" [{completion.error}]" if completion.error else ""
        super().__init__(
            f"{completion.opcode.name} on connection {completion.connection} failed with {completion.status.name}:"
            f" {text}{rdma}",
            _CODES.get(completion.code, Code.UNKNOWN),
            retry_of(completion.retry),
            completion.error,
        )
        self.completion = completion


class RemoteAccessWorkError(WorkError, RemoteAccessError):
    """The peer refused access to its memory for a work request."""


class FlushedError(WorkError):
    """The connection ended before the work was carried out."""


class LocalAccessError(WorkError):
    """A local region does not permit the access, or the part is outside of the region."""


class InvalidWorkError(WorkError):
    """The sidecar refused the work request. The message names the reason."""


def retry_of(number: int) -> Optional[Retry]:
    """Returns the `Retry` of a number of the contract, or None."""
    return Retry(number) if 1 <= number <= 3 else None


def rdma_of(error: types_pb2.RdmaError) -> RdmaError:
    return RdmaError(error.layer, error.type, error.code, error.name, error.remote)


_TYPE_BY_CODE: dict[grpc.StatusCode, type[SidewarpError]] = {
    Code.UNAVAILABLE: UnavailableError,
    Code.DEADLINE_EXCEEDED: DeadlineError,
    Code.RESOURCE_EXHAUSTED: LimitError,
    Code.NOT_FOUND: NotFoundError,
    Code.ALREADY_EXISTS: AlreadyExistsError,
}


def from_rpc(failure: grpc.RpcError, target: str) -> SidewarpError:
    """Returns the exception for a gRPC status and its details."""
    code, text = failure.code(), failure.details() or "the sidecar gave no reason"
    if code is Code.CANCELLED:
        # The sidecar ended the call. This side does not look at the status of calls that it cancels.
        code, text = Code.UNAVAILABLE, f"the sidecar at {target} ended the call: {text}"
    elif code is Code.UNAVAILABLE:
        text = _explain(text, target)
    details = {}
    for key, value in failure.trailing_metadata() or ():
        if key == "grpc-status-details-bin":
            for detail in _status_pb2.Status.FromString(value).details:
                details[detail.type_url.rpartition("/")[2]] = detail.value
    retry = rdma = None
    if advice := details.get("sidewarp.v1.ErrorAdvice"):
        retry = retry_of(types_pb2.ErrorAdvice.FromString(advice).retry)
    if error := details.get("sidewarp.v1.RdmaError"):
        rdma = rdma_of(types_pb2.RdmaError.FromString(error))
    message = f"{text} ({code.name})" + (f" [{rdma}]" if rdma else "")
    answer = details.get("sidewarp.v1.ConnectionRejected")
    if answer is not None:
        rejected = connection_pb2.ConnectionRejected.FromString(answer)
        error = RejectedError(message, code, retry, rdma)
        error.private_data = rejected.private_data
        error.peer_ird = rejected.peer_ird if rejected.HasField("peer_ird") else None
        error.peer_ord = rejected.peer_ord if rejected.HasField("peer_ord") else None
        return error
    if rdma and rdma.is_access_error:
        return RemoteAccessError(message, code, retry, rdma)
    return _TYPE_BY_CODE.get(code, SidewarpError)(message, code, retry, rdma)


def _explain(text: str, target: str) -> str:
    """Explains a failure of the connection to the sidecar, as gRPC words it. Other texts come from the sidecar."""
    lower = text.lower()
    head = f"no sidecar answers at {target}"
    if "no such file" in lower:
        return (
            f"{head}: the socket does not exist; start the sidecar, mount the volume that holds its socket, or set"
            " SIDEWARP_API to where it listens"
        )
    if "permission denied" in lower and "failed to connect" in lower:
        return f"{head}: permission denied; run as the sidecar's user or in its group (the socket has mode 0660)"
    if "connection refused" in lower and "failed to connect" in lower:
        return f"{head}: connection refused; the sidecar is stopped or still starting (sidewarp.connect has `wait`)"
    if "socket closed" in lower or "connection reset" in lower or "broken pipe" in lower:
        return f"the sidecar at {target} closed the connection; it has stopped or crashed"
    if "failed to connect" in lower:
        return f"{head}: {text}; check the address, which SIDEWARP_API sets"
    return text
