// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.end;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.util.Locale;
import java.util.Objects;

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
 * @param identity directory with the certificate of both ends, for TLS below MPA; empty for no TLS
 */
public record TransferPlan(
        Operation operation,
        Mode mode,
        int size,
        int depth,
        int signal,
        int connections,
        int idle,
        boolean crc,
        boolean markers,
        Waiting waiting,
        @JsonInclude(JsonInclude.Include.NON_EMPTY) String identity) {

    /** Operation that moves the payload. */
    public enum Operation {
        /** RDMA Write. */
        WRITE,

        /** RDMA Read: the end that asks is the one that receives. */
        READ,

        /** Send, or what other programs do. */
        SEND;

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** Order of messages. */
    public enum Mode {
        /** As many messages as possible, with a given number in flight. */
        STREAM,

        /** One message there and one back; for Reads, one at a time. */
        PING_PONG
    }

    public TransferPlan {
        if (size < 1 || depth < 1 || signal < 1 || connections < 1 || idle < 0) {
            throw new IllegalArgumentException("size, depth, signal and connections are at least 1");
        }
        if (depth % signal != 0) {
            throw new IllegalArgumentException("depth " + depth + " is no multiple of signal " + signal);
        }
        // JSON without TLS has no directory.
        identity = Objects.requireNonNullElse(identity, "");
    }

    /**
     * Returns a plan for a stream over one connection with CRC and without Markers. It waits in the engine's own way
     * and requests each completion.
     */
    public static TransferPlan stream(Operation operation, int size, int depth) {
        return new TransferPlan(operation, Mode.STREAM, size, depth, 1, 1, 0, true, false, Waiting.ADAPTIVE, "");
    }

    /** Returns a plan for one message at a time over one connection with CRC. */
    public static TransferPlan pingPong(Operation operation, int size, Waiting waiting) {
        return new TransferPlan(operation, Mode.PING_PONG, size, 1, 1, 1, 0, true, false, waiting, "");
    }

    public TransferPlan withSignal(int messages) {
        return new TransferPlan(
                operation, mode, size, depth, messages, connections, idle, crc, markers, waiting, identity);
    }

    public TransferPlan withConnections(int count) {
        return new TransferPlan(operation, mode, size, depth, signal, count, idle, crc, markers, waiting, identity);
    }

    public TransferPlan withIdle(int count) {
        return new TransferPlan(
                operation, mode, size, depth, signal, connections, count, crc, markers, waiting, identity);
    }

    public TransferPlan withCrc(boolean wanted) {
        return new TransferPlan(
                operation, mode, size, depth, signal, connections, idle, wanted, markers, waiting, identity);
    }

    public TransferPlan withMarkers(boolean wanted) {
        return new TransferPlan(
                operation, mode, size, depth, signal, connections, idle, crc, wanted, waiting, identity);
    }

    public TransferPlan withWaiting(Waiting other) {
        return new TransferPlan(operation, mode, size, depth, signal, connections, idle, crc, markers, other, identity);
    }

    /** Returns a plan with TLS, both ends of which use the certificate in a directory. */
    public TransferPlan withTls(String directory) {
        return new TransferPlan(
                operation, mode, size, depth, signal, connections, idle, crc, markers, waiting, directory);
    }

    /** Returns whether the connections of the plan have TLS. */
    public boolean hasTls() {
        return !identity.isEmpty();
    }
}
