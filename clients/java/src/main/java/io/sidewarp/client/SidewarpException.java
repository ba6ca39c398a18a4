// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import io.grpc.Status;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Failure of a call to the sidecar. The message names the cause and, if there is one, the remedy. */
public class SidewarpException extends RuntimeException {

    private static final long serialVersionUID = 1;

    private final Status.Code code;
    private final String message;
    private final Retry retry;
    private final transient @Nullable RdmaErrorInfo rdmaError;

    /** Makes a failure with the default advice of its code. */
    public SidewarpException(
            Status.Code code, String message, @Nullable RdmaErrorInfo rdmaError, @Nullable Throwable cause) {
        this(code, message, retry(code), rdmaError, cause);
    }

    SidewarpException(
            Status.Code code,
            String message,
            Retry retry,
            @Nullable RdmaErrorInfo rdmaError,
            @Nullable Throwable cause) {
        super(message, cause);
        this.code = code;
        this.message = message;
        this.retry = retry;
        this.rdmaError = rdmaError;
    }

    SidewarpException(Status.Code code, String message) {
        this(code, message, null, null);
    }

    @Override
    public String getMessage() {
        return message;
    }

    /** Returns the gRPC status code. */
    public Status.Code code() {
        return code;
    }

    /** Returns when the same request may succeed. */
    public Retry retry() {
        return retry;
    }

    /** Returns the advice for a failure of this side, for which no sidecar has given advice. */
    private static Retry retry(Status.Code code) {
        return switch (code) {
            case RESOURCE_EXHAUSTED, UNAVAILABLE, DEADLINE_EXCEEDED, ABORTED, CANCELLED -> Retry.LATER;
            case UNAUTHENTICATED -> Retry.AFTER_RECONNECTING;
            default -> Retry.NEVER;
        };
    }

    /** Returns the protocol error that was the cause: layer, type, code, name, and the side that found it. */
    public Optional<RdmaErrorInfo> rdmaError() {
        return Optional.ofNullable(rdmaError);
    }

    /** Returns the same failure with the stack of the calling thread; this exception is its cause. */
    SidewarpException again() {
        return new SidewarpException(code, message, retry, rdmaError, this);
    }
}
