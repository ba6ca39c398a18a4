// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.transfer;

import io.grpc.Attributes;
import io.grpc.Drainable;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerCall;
import io.grpc.Status;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import org.jspecify.annotations.Nullable;

/** gRPC's side of a call: takes the octets and forgets them. */
final class SentMessages extends ServerCall<QueueFrame, CompletionBatch> {

    private static final OutputStream FORGET = OutputStream.nullOutputStream();

    int messages;
    int completions;
    int largest;
    int requested;
    boolean ready = true;
    /** Whether it keeps what it is sent, and so is not ready behind that. */
    boolean holding;

    @Nullable
    Status closed;

    @Override
    public void request(int count) {
        requested += count;
    }

    @Override
    public void sendHeaders(Metadata headers) {}

    @Override
    public void sendMessage(CompletionBatch message) {
        try (InputStream octets = CompletionBatch.MARSHALLER.stream(message)) {
            // As gRPC does.
            largest = Math.max(largest, ((Drainable) octets).drainTo(FORGET));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        messages++;
        completions += message.count();
        ready &= !holding;
    }

    @Override
    public boolean isReady() {
        return ready;
    }

    @Override
    public void close(Status status, Metadata trailers) {
        closed = status;
    }

    @Override
    public boolean isCancelled() {
        return false;
    }

    @Override
    public Attributes getAttributes() {
        return Attributes.EMPTY;
    }

    @Override
    public MethodDescriptor<QueueFrame, CompletionBatch> getMethodDescriptor() {
        throw new UnsupportedOperationException("not asked for");
    }
}
