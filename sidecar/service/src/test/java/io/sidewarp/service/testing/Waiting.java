// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.testing;

import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.StatusProto;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Waits for results, and extracts the causes of failures. */
public final class Waiting {

    private static final long SECONDS = 20;

    private Waiting() {}

    public static <T> T join(CompletableFuture<T> future) {
        try {
            return future.get(SECONDS, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof RuntimeException cause) {
                throw cause;
            }
            throw new IllegalStateException(e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        } catch (TimeoutException e) {
            throw new AssertionError("not complete in time", e);
        }
    }

    /** The status that the call fails with. */
    public static Status status(Runnable call) {
        return failure(call).getStatus();
    }

    public static StatusRuntimeException failure(Runnable call) {
        try {
            call.run();
        } catch (StatusRuntimeException e) {
            return e;
        }
        throw new AssertionError("the call succeeded");
    }

    /** The typed detail of a status. */
    public static <T extends com.google.protobuf.Message> T detail(StatusRuntimeException failure, Class<T> type) {
        try {
            return StatusProto.fromThrowable(failure).getDetails(0).unpack(type);
        } catch (com.google.protobuf.InvalidProtocolBufferException e) {
            throw new IllegalStateException(e);
        }
    }
}
