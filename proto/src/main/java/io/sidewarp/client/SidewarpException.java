// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import io.grpc.Status;
import io.sidewarp.v1.RdmaError;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A call to the sidecar failed. The message names the cause and, where there is one, the remedy. */
public class SidewarpException extends RuntimeException {

    private static final long serialVersionUID = 1;

    private final Status.Code code;
    private final String message;
    private final transient @Nullable RdmaError rdmaError;

    public SidewarpException(
            Status.Code code, String message, @Nullable RdmaError rdmaError, @Nullable Throwable cause) {
        super(message, cause);
        this.code = code;
        this.message = message;
        this.rdmaError = rdmaError;
    }

    SidewarpException(Status.Code code, String message) {
        this(code, message, null, null);
    }

    @Override
    public String getMessage() {
        return message;
    }

    /** The gRPC status code. */
    public Status.Code code() {
        return code;
    }

    /** The protocol error that was the cause: layer, type, code, name, and which side found it. */
    public Optional<RdmaError> rdmaError() {
        return Optional.ofNullable(rdmaError);
    }

    /** The same failure for another thread, whose stack it tells; this one is its cause. */
    SidewarpException again() {
        return new SidewarpException(code, message, rdmaError, this);
    }
}
