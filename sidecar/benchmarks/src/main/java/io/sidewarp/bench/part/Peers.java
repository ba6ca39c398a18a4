// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.part;

import io.sidewarp.bench.end.Waiting;
import io.sidewarp.bench.process.IperfKind;
import io.sidewarp.bench.result.Subject;

/** Subjects that are measured beside Sidewarp. */
public final class Peers {

    private Peers() {}

    /** Returns the subject for one stream of iperf3. */
    public static Subject iperf(IperfKind kind) {
        String operation = kind.congestionControl().isEmpty() ? "stream" : "stream " + kind.congestionControl();
        return Subject.peer("iperf3", operation, kind.length(), Waiting.SLEEP.toString());
    }

    /**
     * Returns the subject for a bare TCP connection of the JDK: one stream, one call to the socket for each message.
     */
    public static Subject nioStream(int size) {
        return Subject.peer("nio", "stream", size, Waiting.SLEEP.toString());
    }

    /** Returns the subject for round trips over bare TCP. */
    public static Subject nioEcho(int size, Waiting waiting) {
        return Subject.peer("nio", "echo", size, waiting.toString());
    }

    /** Returns the subject for a streaming call of grpc-java. */
    public static Subject grpcStream(int size) {
        return Subject.peer("grpc-java", "stream", size, Waiting.SLEEP.toString());
    }

    /** Returns the subject for round trips in a streaming call of grpc-java. */
    public static Subject grpcEcho(int size) {
        return Subject.peer("grpc-java", "echo", size, Waiting.SLEEP.toString());
    }

    /** Returns the subject for round trips of a cache line between the processors of the ends. */
    public static Subject line() {
        return Subject.peer("cache line", "echo", Long.BYTES, Waiting.SPIN.toString());
    }

    /** Returns the subject for copies of {@code size} bytes each from one buffer to another. */
    public static Subject copy(int size) {
        return Subject.peer("memcpy", "copy", size, Waiting.SPIN.toString());
    }
}
