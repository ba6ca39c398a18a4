// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.error;

import com.google.protobuf.Any;
import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.StatusProto;
import io.sidewarp.engine.memory.RegionException;
import io.sidewarp.engine.verbs.ConnectionFailedException;
import io.sidewarp.engine.verbs.PeerRejectedException;
import io.sidewarp.engine.verbs.ProtocolError;
import io.sidewarp.engine.verbs.StreamError;
import io.sidewarp.v1.ConnectionRejected;
import io.sidewarp.v1.ErrorAdvice;
import io.sidewarp.v1.RdmaError;
import io.sidewarp.v1.Retry;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;

/** Creates the statuses of failed calls. Every message says what to change. */
public final class ApiError {

    /**
     * Maximum number of characters of a message. A status travels in headers, which callers limit to 8 KiB. There a
     * character takes up to nine bytes, and four more if the status has a detail.
     */
    private static final int MAX_MESSAGE = 500;
    /** Number of characters that a shortened message keeps of its end, which holds the remedy. */
    private static final int KEPT_END = 150;

    private static final String CUT = " [...] ";

    private ApiError() {}

    /** Returns the status for an impossible value of a request field. */
    public static StatusRuntimeException invalid(String field, Object value, String allowed) {
        return of(Status.Code.INVALID_ARGUMENT, field + " is " + value + "; allowed: " + allowed);
    }

    public static StatusRuntimeException invalid(String message) {
        return of(Status.Code.INVALID_ARGUMENT, message);
    }

    /** Returns the status for an object that the session does not have. */
    public static StatusRuntimeException notFound(String field, long id, String remedy) {
        return of(
                Status.Code.NOT_FOUND,
                field + " " + Long.toUnsignedString(id) + " is not known in this session; " + remedy);
    }

    /**
     * Returns the status for a quota that is used up, or was never large enough.
     *
     * @param amount requested amount
     */
    public static StatusRuntimeException exhausted(String what, long amount, long limit, String setting) {
        if (amount > limit) {
            return beyondLimit(what + ": the limit is " + limit + " (setting " + setting + "), and " + amount
                    + " are wanted; ask for less, or raise the setting");
        }
        return of(
                Status.Code.RESOURCE_EXHAUSTED,
                what + ": the limit is " + limit + " (setting " + setting + "); release some, or raise the setting");
    }

    /** Returns the status for a request that exceeds a limit by itself. Such a request cannot succeed later either. */
    public static StatusRuntimeException beyondLimit(String message) {
        return of(Status.Code.RESOURCE_EXHAUSTED, message, Retry.RETRY_NEVER, null);
    }

    public static StatusRuntimeException state(String message) {
        return of(Status.Code.FAILED_PRECONDITION, message);
    }

    /** Returns the status for a new call while the sidecar is stopping. */
    public static StatusRuntimeException draining() {
        return of(
                Status.Code.UNAVAILABLE,
                "the sidecar is stopping and takes no new work; connect again after its restart");
    }

    /** Returns the status for a call whose session ended during the call. */
    public static StatusRuntimeException sessionEnded() {
        return of(Status.Code.CANCELLED, "the session ended");
    }

    public static StatusRuntimeException of(Status.Code code, String message) {
        return of(code, message, null);
    }

    /** Returns a status with a typed detail and the default advice of its code. */
    public static StatusRuntimeException of(Status.Code code, String message, @Nullable Message detail) {
        return of(code, message, ErrorTable.retry(code), detail);
    }

    /** Returns a status with a typed detail and the given advice. */
    public static StatusRuntimeException of(Status.Code code, String message, Retry retry, @Nullable Message detail) {
        com.google.rpc.Status.Builder status =
                com.google.rpc.Status.newBuilder().setCode(code.value()).setMessage(shortened(message));
        if (detail != null) {
            status.addDetails(Any.pack(detail));
        }
        status.addDetails(Any.pack(ErrorAdvice.newBuilder().setRetry(retry).build()));
        return StatusProto.toStatusRuntimeException(status.build());
    }

    /**
     * Returns the status for an error that ended a connection, or for the loss of a connection.
     *
     * @param error null if the connection was lost without a protocol error
     */
    public static StatusRuntimeException ended(@Nullable StreamError error, String message) {
        if (error == null || error.isConnectionLost()) {
            return of(Status.Code.UNAVAILABLE, message, Retry.RETRY_AFTER_RECONNECTING, null);
        }
        ErrorTable.Outcome outcome = ErrorTable.of(error.layer(), error.type(), error.code());
        return of(outcome.code(), message, outcome.retry(), rdma(error));
    }

    /**
     * Returns the status for work on a connection that has ended.
     *
     * @param error null if the connection was closed without an error
     */
    public static StatusRuntimeException closed(@Nullable StreamError error, String message) {
        return error == null
                ? of(Status.Code.FAILED_PRECONDITION, message, Retry.RETRY_AFTER_RECONNECTING, null)
                : ended(error, message);
    }

    /** Returns the same status with the advice to reconnect, for work that may succeed on a new connection. */
    public static StatusRuntimeException afterReconnecting(StatusRuntimeException ended) {
        return of(
                ended.getStatus().getCode(),
                String.valueOf(ended.getStatus().getDescription()),
                Retry.RETRY_AFTER_RECONNECTING,
                rdma(ended).orElse(null));
    }

    /** Returns the protocol error in the details of a status. */
    public static Optional<RdmaError> rdma(StatusRuntimeException status) {
        return detail(status, RdmaError.class);
    }

    /** Returns the peer's answer in the details of a status. */
    public static Optional<ConnectionRejected> rejection(StatusRuntimeException status) {
        return detail(status, ConnectionRejected.class);
    }

    /** Returns the advice in the details of a status, or else the default advice of its code. */
    public static Retry retry(StatusRuntimeException status) {
        return detail(status, ErrorAdvice.class)
                .map(ErrorAdvice::getRetry)
                .orElseGet(() -> ErrorTable.retry(status.getStatus().getCode()));
    }

    private static <M extends Message> Optional<M> detail(StatusRuntimeException status, Class<M> type) {
        com.google.rpc.Status details = StatusProto.fromThrowable(status);
        try {
            for (Any detail : details == null ? List.<Any>of() : details.getDetailsList()) {
                if (detail.is(type)) {
                    return Optional.of(detail.unpack(type));
                }
            }
        } catch (InvalidProtocolBufferException e) {
            throw new IllegalStateException("a status was made with a malformed detail", e);
        }
        return Optional.empty();
    }

    /** Returns the trailers of a call that is closed with a status: the default advice of its code. */
    public static Metadata trailers(Status status) {
        Metadata trailers = status.isOk()
                ? null
                : of(status.getCode(), String.valueOf(status.getDescription())).getTrailers();
        return trailers == null ? new Metadata() : trailers;
    }

    /** Returns the same status with another message. */
    public static StatusRuntimeException withMessage(StatusRuntimeException status, String message) {
        com.google.rpc.Status same = StatusProto.fromThrowable(status);
        return StatusProto.toStatusRuntimeException(
                (same == null ? com.google.rpc.Status.newBuilder() : same.toBuilder())
                        .setMessage(shortened(message))
                        .build());
    }

    /** Converts a protocol error to the form of the API. */
    public static RdmaError rdma(StreamError error) {
        return RdmaError.newBuilder()
                .setLayer(error.layer())
                .setType(error.type())
                .setCode(error.code())
                .setName(error.name())
                .setRemote(error.remote())
                .build();
    }

    /** Returns the status for any failure of a stage of a call. */
    public static StatusRuntimeException from(Throwable failure) {
        Throwable cause = failure;
        while ((cause instanceof CompletionException || cause instanceof ExecutionException)
                && cause.getCause() != null) {
            cause = cause.getCause();
        }
        return switch (cause) {
            case StatusRuntimeException status -> status;
            case PeerRejectedException rejected ->
                of(Status.Code.ABORTED, "the peer rejected the connection: " + text(rejected), detail(rejected));
            case ConnectionFailedException failed -> {
                StatusRuntimeException status = failed(failed);
                // The cause stays here: no call transmits it.
                yield status.getStatus().withCause(failed).asRuntimeException(status.getTrailers());
            }
            case RegionException region -> of(code(region.reason()), text(region));
            case CancellationException cancelled -> of(Status.Code.CANCELLED, "the call was cancelled");
            case IllegalArgumentException illegal -> of(Status.Code.INVALID_ARGUMENT, text(illegal));
            case IllegalStateException illegal -> of(Status.Code.FAILED_PRECONDITION, text(illegal));
            default -> of(Status.Code.INTERNAL, "internal error of the sidecar: " + cause + "; its log says more");
        };
    }

    private static StatusRuntimeException failed(ConnectionFailedException failed) {
        String message = failed.kind() == ConnectionFailedException.Kind.LIMIT
                ? text(failed) + " by sidewarp.sctp.associations"
                : text(failed);
        ProtocolError error = failed.error().orElse(null);
        if (error == null) {
            return of(code(failed.kind()), message);
        }
        ErrorTable.Outcome outcome = ErrorTable.of(error.layer(), error.type(), error.code());
        return of(outcome.code(), message, outcome.retry(), rdma(error));
    }

    private static ConnectionRejected detail(PeerRejectedException rejected) {
        ConnectionRejected.Builder detail =
                ConnectionRejected.newBuilder().setPrivateData(ByteString.copyFrom(rejected.privateData()));
        rejected.peerDepths().ird().ifPresent(detail::setPeerIrd);
        rejected.peerDepths().ord().ifPresent(detail::setPeerOrd);
        return detail.build();
    }

    /** Converts a protocol error that this side found to the form of the API. */
    private static RdmaError rdma(ProtocolError error) {
        return RdmaError.newBuilder()
                .setLayer(error.layer())
                .setType(error.type())
                .setCode(error.code())
                .setName(error.description())
                .build();
    }

    private static Status.Code code(ConnectionFailedException.Kind kind) {
        return switch (kind) {
            case REFUSED, UNREACHABLE, NO_ANSWER, PROTOCOL -> Status.Code.UNAVAILABLE;
            case TIMEOUT -> Status.Code.DEADLINE_EXCEEDED;
            case SECURITY -> Status.Code.PERMISSION_DENIED;
            case LAPSED -> Status.Code.NOT_FOUND;
            case INVALID_PARAMETERS -> Status.Code.INVALID_ARGUMENT;
            case ABORTED -> Status.Code.CANCELLED;
            case LIMIT -> Status.Code.RESOURCE_EXHAUSTED;
            case INTERNAL -> Status.Code.INTERNAL;
        };
    }

    private static Status.Code code(RegionException.Reason reason) {
        return switch (reason) {
            case INVALID_PATH, NOT_A_FILE, NOT_PROCESS_MEMORY -> Status.Code.INVALID_ARGUMENT;
            case NOT_FOUND -> Status.Code.NOT_FOUND;
            case ALREADY_EXISTS -> Status.Code.ALREADY_EXISTS;
            case OUT_OF_BOUNDS -> Status.Code.OUT_OF_RANGE;
            case NO_SPACE, LIMIT -> Status.Code.RESOURCE_EXHAUSTED;
            case NO_PERMISSION -> Status.Code.PERMISSION_DENIED;
            case UNSUPPORTED -> Status.Code.UNIMPLEMENTED;
            case IO -> Status.Code.UNAVAILABLE;
        };
    }

    private static String text(Throwable failure) {
        String message = failure.getMessage();
        return message == null ? failure.toString() : message;
    }

    /** Limits the length of a message, because messages repeat text from callers. */
    private static String shortened(String message) {
        return message.length() <= MAX_MESSAGE
                ? message
                : message.substring(0, MAX_MESSAGE - KEPT_END - CUT.length())
                        + CUT
                        + message.substring(message.length() - KEPT_END);
    }
}
