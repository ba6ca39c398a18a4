// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.part;

import io.sidewarp.bench.end.Waiting;
import io.sidewarp.bench.process.IperfKind;
import io.sidewarp.bench.result.Subject;

/** Who is measured beside Sidewarp. */
public final class Peers {

    private Peers() {}

    /** One stream of iperf3. */
    public static Subject iperf(IperfKind kind) {
        String operation = kind.congestionControl().isEmpty() ? "stream" : "stream " + kind.congestionControl();
        return Subject.peer("iperf3", operation, kind.length(), Waiting.SLEEP.toString());
    }

    /** A bare TCP connection of the JDK: one stream, one call to the socket a message. */
    public static Subject nioStream(int size) {
        return Subject.peer("nio", "stream", size, Waiting.SLEEP.toString());
    }

    /** Messages there and back over bare TCP. */
    public static Subject nioEcho(int size, Waiting waiting) {
        return Subject.peer("nio", "echo", size, waiting.toString());
    }

    /** A streaming call of grpc-java. */
    public static Subject grpcStream(int size) {
        return Subject.peer("grpc-java", "stream", size, Waiting.SLEEP.toString());
    }

    /** Messages there and back in a streaming call of grpc-java. */
    public static Subject grpcEcho(int size) {
        return Subject.peer("grpc-java", "echo", size, Waiting.SLEEP.toString());
    }

    /** A cache line there and back, between the processors of the ends. */
    public static Subject line() {
        return Subject.peer("cache line", "echo", Long.BYTES, Waiting.SPIN.toString());
    }

    /** Copies from one buffer to another of so many octets each. */
    public static Subject copy(int size) {
        return Subject.peer("memcpy", "copy", size, Waiting.SPIN.toString());
    }
}
