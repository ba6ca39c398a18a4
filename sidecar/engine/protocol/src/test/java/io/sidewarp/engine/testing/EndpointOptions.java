// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.testing;

import io.sidewarp.engine.rdmap.CompletionSink;
import io.sidewarp.engine.rdmap.SharedReceives;
import org.jspecify.annotations.Nullable;

/**
 * Options of a test for its {@link Endpoint}.
 *
 * @param memory memory whose regions the stream may use, null for memory of its own
 * @param shortSegments maximum number of short segments of an inbound message
 * @param extensions true if the stream has the messages of RFC 7306
 * @param sink receiver of completions, null for the endpoint's own recording sink
 * @param sharedReceives receives that messages consume, null for the stream's own receive queue
 */
public record EndpointOptions(
        @Nullable TestMemory memory,
        long queuePair,
        int queueDepth,
        int ird,
        int ord,
        int shortSegments,
        boolean extensions,
        @Nullable CompletionSink sink,
        @Nullable SharedReceives sharedReceives) {

    /**
     * Memory of its own, queue pair 1, 128 requests per queue, 4 reads in each direction, 4096 short segments, RFC 7306.
     */
    public static EndpointOptions defaults() {
        return new EndpointOptions(null, 1, 128, 4, 4, 4096, true, null, null);
    }

    public EndpointOptions memory(TestMemory newMemory) {
        return new EndpointOptions(
                newMemory, queuePair, queueDepth, ird, ord, shortSegments, extensions, sink, sharedReceives);
    }

    public EndpointOptions queuePair(long number) {
        return new EndpointOptions(
                memory, number, queueDepth, ird, ord, shortSegments, extensions, sink, sharedReceives);
    }

    public EndpointOptions queueDepth(int requests) {
        return new EndpointOptions(
                memory, queuePair, requests, ird, ord, shortSegments, extensions, sink, sharedReceives);
    }

    public EndpointOptions reads(int newIrd, int newOrd) {
        return new EndpointOptions(
                memory, queuePair, queueDepth, newIrd, newOrd, shortSegments, extensions, sink, sharedReceives);
    }

    public EndpointOptions shortSegments(int segments) {
        return new EndpointOptions(memory, queuePair, queueDepth, ird, ord, segments, extensions, sink, sharedReceives);
    }

    public EndpointOptions extensions(boolean on) {
        return new EndpointOptions(memory, queuePair, queueDepth, ird, ord, shortSegments, on, sink, sharedReceives);
    }

    public EndpointOptions sink(CompletionSink newSink) {
        return new EndpointOptions(
                memory, queuePair, queueDepth, ird, ord, shortSegments, extensions, newSink, sharedReceives);
    }

    public EndpointOptions sharedReceives(SharedReceives newReceives) {
        return new EndpointOptions(
                memory, queuePair, queueDepth, ird, ord, shortSegments, extensions, sink, newReceives);
    }
}
