// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.end;

/**
 * Plan of one measurement. Ends without RDMA use those settings that apply to them.
 *
 * @param operation operation that moves the payload
 * @param mode order of messages
 * @param size bytes of a message, 1 to 2^31 - 1
 * @param depth messages in flight on a connection
 * @param signal messages per requested completion; divides the depth
 * @param connections number of connections at the same time
 * @param idle number of further connections, which do nothing
 * @param crc whether both ends want CRC32c in FPDUs (RFC 5044 section 4.4)
 * @param markers whether both ends want Markers (RFC 5044 section 4.3)
 * @param waiting how both ends wait
 */
public record TransferPlan(
        BenchOperation operation,
        Mode mode,
        int size,
        int depth,
        int signal,
        int connections,
        int idle,
        boolean crc,
        boolean markers,
        Waiting waiting) {

    public TransferPlan {
        if (size < 1 || depth < 1 || signal < 1 || connections < 1 || idle < 0) {
            throw new IllegalArgumentException("size, depth, signal and connections are at least 1");
        }
        if (depth % signal != 0) {
            throw new IllegalArgumentException("depth " + depth + " is no multiple of signal " + signal);
        }
    }

    /**
     * Returns a plan for a stream over one connection with CRC and without Markers. It waits in the engine's own way
     * and requests each completion.
     */
    public static TransferPlan stream(BenchOperation operation, int size, int depth) {
        return new TransferPlan(operation, Mode.STREAM, size, depth, 1, 1, 0, true, false, Waiting.ADAPTIVE);
    }

    /** Returns a plan for one message at a time over one connection with CRC. */
    public static TransferPlan pingPong(BenchOperation operation, int size, Waiting waiting) {
        return new TransferPlan(operation, Mode.PING_PONG, size, 1, 1, 1, 0, true, false, waiting);
    }

    public TransferPlan withSignal(int messages) {
        return new TransferPlan(operation, mode, size, depth, messages, connections, idle, crc, markers, waiting);
    }

    public TransferPlan withConnections(int count) {
        return new TransferPlan(operation, mode, size, depth, signal, count, idle, crc, markers, waiting);
    }

    public TransferPlan withIdle(int count) {
        return new TransferPlan(operation, mode, size, depth, signal, connections, count, crc, markers, waiting);
    }

    public TransferPlan withCrc(boolean wanted) {
        return new TransferPlan(operation, mode, size, depth, signal, connections, idle, wanted, markers, waiting);
    }

    public TransferPlan withMarkers(boolean wanted) {
        return new TransferPlan(operation, mode, size, depth, signal, connections, idle, crc, wanted, waiting);
    }

    public TransferPlan withWaiting(Waiting other) {
        return new TransferPlan(operation, mode, size, depth, signal, connections, idle, crc, markers, other);
    }
}
